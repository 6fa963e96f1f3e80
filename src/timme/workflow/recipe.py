"""Settings → Analysis: the one recipe behind the command line and the library call."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from timme.analysis import Analysis, Measured, Recipe, Seen, System
from timme.confidence.noise import take_off
from timme.engine.checkpoint import Checkpoint
from timme.engine.metrics import HAVERSINE, known_metric
from timme.engine.moments import Metric
from timme.engine.protocol import Engine
from timme.engine.run import Run
from timme.fluctuations.matrix import from_matrix
from timme.fluctuations.measuring import measure, require_snapshots
from timme.fluctuations.sigma import Fluctuations, NoiseVariance
from timme.hierarchy.clustering import cluster_and_count
from timme.hierarchy.linking import link, quantity_of
from timme.hierarchy.quantity import as_quantity, sigma_by
from timme.hierarchy.tree import Hierarchy, Partition
from timme.objects import Objects
from timme.pairs.lists import Pairs
from timme.readers import GivenMatrix, read, read_given
from timme.readers.libraries import box_of_library
from timme.readers.replicas import as_one_run
from timme.settings import DISPLAY, READING, Settings
from timme.settings.schema import change
from timme.system.ensemble import Ensemble
from timme.system.frames import Progress
from timme.system.residues import default_sites
from timme.system.topology import atoms_of_sites
from timme.workflow.budget import Plan, Tell, plan
from timme.workflow.defaults import (
    Shown,
    choose_compared,
    choose_length,
    choose_shown,
    kind_of,
    select,
)
from timme.workflow.gathering import complete, system_of
from timme.workflow.identity import fingerprints, identity
from timme.workflow.judging import by_chance, follow, judge, judge_matrix, linkage_of, refuse_unkept
from timme.workflow.kept_pairs import are_kept, keep_drawn, list_sharing, measure_drawn, note_on
from timme.workflow.motion import with_motion
from timme.workflow.noise import choose_noise, note_on_noise
from timme.workflow.own import Own, is_matrix, name_sites
from timme.workflow.remarks import (
    describe_compared,
    note_warnings,
    notes_on,
    remarks_on,
    without_short_tracks,
)

_KEYWORDS = ("trajectories", "metric", "settings", "progress", "checkpoint", "workers", "client")

# What is no source of the recipe, and what to do with it.
_REMEDIES = {
    "Analysis": "it is analysed already, and can be written, viewed, saved and compared",
    "Hierarchy": "gather it with its objects, timme.gather(objects, hierarchy=hierarchy)",
    "NoneType": "pass a file, an array, or what timme.read takes besides",
    "Pairs": "pass them with their objects, timme.analyse(objects, pairs=pairs)",
    "Partition": "pass what it was found in, and its cutoff as cutoff=",
    "Settings": "pass them by their name, timme.analyse(source, settings=settings)",
}


def analyse(  # noqa: PLR0913, what is analysed, and how the run is watched
    source: Any,
    trajectories: Any = (),
    *,
    metric: Metric | None = None,
    settings: Settings | None = None,
    command: str = "",
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
    tell: Tell | None = None,
    workers: int | str | None = None,
    client: Any = None,
    **options: Any,
) -> Analysis:
    """Find the hierarchy of co-moving clusters of an ensemble by the default recipe.

    Parameters
    ----------
    source : path, array, DataFrame, Universe, Ensemble, Objects, …
        Anything that :func:`timme.read` takes, an Ensemble, or Objects that were made of one; or
        σ of pairs: a file with a matrix, a square matrix in memory, the upper triangle of one as
        SciPy's ``pdist`` gives it, a square DataFrame with the same labels both ways, or
        Fluctuations.
    trajectories : path or sequence of paths, optional
        Trajectories that belong to the topology `source`.
    metric : str or callable, optional
        How far apart two points are, as for :func:`timme.measure`.
    settings : Settings, optional
        All choices at once.
    command : str, optional
        Command line to be kept with the result.
    progress : callable, optional
        Called with the work done and the whole work.
    checkpoint : Checkpoint, optional
        Where the work is saved at intervals, and from which it goes on.
    tell : callable, optional
        Called with lines about the run, such as the memory it needs.
    workers : int or str, optional
        Number of threads, all cores by default.
    client : distributed.Client, optional
        A dask cluster that measures in place of threads; the result is the same.
    **options
        Fields of :class:`Settings` that differ from it, as values or as the texts of the command
        line, whose names for them (``begin``, ``end``) are known as well. Besides names and files,
        ``objects=`` takes groups of the analysed sites, as
        :func:`timme.objects.groups` does: labels, a dict of names and selections, or sets of
        sites; and ``pairs=`` takes Pairs, or an array of two objects a row, counted from 0.

    Returns
    -------
    Analysis
        The result, ready for :func:`timme.write`.

    Examples
    --------
    >>> import timme
    >>> analysis = timme.analyse(timme.synthetic.chain(50))
    >>> analysis.hierarchy.n_sites
    50
    """
    _refuse_other_steps(source)
    own, options = Own.of(source, metric, options)
    if "box" in options:  # so that the recipe can be kept
        options["box"] = box_of_library(options["box"])
    chosen: Settings = change(settings or Settings(), "analyse", *_KEYWORDS, **options)
    paths: tuple[str, ...] = ()
    with note_warnings() as noted:
        if _is_matrix_file(source) or is_matrix(source):
            if isinstance(source, str | Path):
                paths = (str(source),)
            inputs = fingerprints(paths)
            made = _analyse_matrix(source, _as_list(trajectories), chosen, own)
        else:
            ensemble = read_source(source, trajectories, chosen, progress)
            paths = ensemble.sources
            inputs = fingerprints(paths)
            run = Run.of(
                workers=choose_engine(workers, client), progress=progress, checkpoint=checkpoint
            )
            with run.identify(lambda: identity(ensemble, inputs, chosen) | own.identity()):
                made = with_motion(
                    _analyse_ensemble(ensemble, chosen, run, tell, own=own), ensemble
                )
    made = complete(made, command=command, inputs=inputs, notes=noted, paths=paths)
    return replace(made, notes=(*made.notes, *remarks_on(made)))


def _refuse_other_steps(source: Any) -> None:
    """Refuse what comes after snapshots and σ, and say what to pass."""
    if source is None or isinstance(source, Analysis | Hierarchy | Pairs | Partition | Settings):
        got = type(source).__name__
        raise TypeError(
            f"timme.analyse needs snapshots, Objects or σ of pairs, got {got}: {_REMEDIES[got]}"
        )


def read_source(
    source: Any, trajectories: Any, chosen: Settings, progress: Progress | None
) -> Ensemble:
    """Read what is analysed, or take what was read.

    There is no run yet but the one who watches it: what its checkpoint belongs to is known by what
    is read here.

    Parameters
    ----------
    source, trajectories
        As for :func:`analyse`.
    chosen : Settings
        What of it is wanted.
    progress : callable or None
        Called with the work done and the whole work.

    Returns
    -------
    Ensemble
        The selected sites.
    """
    if isinstance(source, Ensemble | Objects):
        fixed = {*READING} if isinstance(source, Ensemble) else {*READING, "select"}
        unused = sorted(chosen.differing() & fixed)
        if unused or _as_list(trajectories):
            what = ", ".join(unused or ["trajectories"])
            told = "Objects are analysed as they were made"
            if isinstance(source, Ensemble):
                told = "an Ensemble is analysed as it was read"
            raise ValueError(f"{told}: leave out {what}")
        given = source.ensemble if isinstance(source, Objects) else _select(source, chosen)
        return given if chosen.replicas is None else as_one_run(given)
    options = {name: getattr(chosen, name) for name in READING}
    narrow = partial(_select, chosen=chosen)
    found = read(source, trajectories, select=narrow, progress=progress, **options)
    return found if chosen.replicas is None else as_one_run(found)


def _select(ensemble: Ensemble, chosen: Settings) -> Ensemble:
    if chosen.select is not None:
        return ensemble.select(select(ensemble, chosen.select))
    sites, note = default_sites(atoms_of_sites(ensemble))
    if len(sites) == ensemble.n_sites:
        return ensemble
    return replace(ensemble.select(sites), notes=(*ensemble.notes, note))


def _analyse_ensemble(
    ensemble: Ensemble, chosen: Settings, run: Run, tell: Tell | None, *, own: Own
) -> Analysis:
    require_snapshots(ensemble)
    chosen.refuse_unused("snapshots {} gaps", "with" if ensemble.gaps else "without")
    if ensemble.gaps and not isinstance(own.objects, Objects):
        ensemble, overlap = without_short_tracks(ensemble, chosen.min_overlap)
        chosen = replace(chosen, min_overlap=overlap)
    kind = kind_of(ensemble)
    compared, partners, chosen = choose_compared(
        ensemble, kind, chosen, own=own, tell=tell, run=run
    )
    shown = choose_shown(compared, chosen.show)
    listed = list_sharing(compared, partners, chosen.min_overlap)
    planned = _plan(compared, listed, chosen, tell, shown=shown, metric=own.metric)
    errors = choose_noise(compared, listed, chosen, kind=kind, metric=own.metric)
    noise = None if errors is None else errors.variance
    seen, sigma, n_pairs, n_clipped = _measure_and_link(
        compared, listed, chosen, run, planned, shown=shown, metric=own.metric, noise=noise
    )
    length, length_name = choose_length(compared, kind, chosen)
    told = judge(
        *(compared, sigma, seen, chosen),
        n_pairs=n_pairs,
        n_summed=planned.n_summed,
        metric=own.metric,
        noise=noise,
        run=run,
    )
    told = follow(
        *(compared, sigma, seen, chosen, told),
        n_pairs=n_pairs,
        metric=own.metric,
        noise=noise,
        run=run,
    )
    if own.metric is None:
        told = by_chance(compared, sigma, chosen, told, kind=kind, noise=noise)
    return Analysis(
        system=system_of(compared, shown),
        hierarchy=seen.hierarchy,
        recipe=Recipe(
            kind=compared.kind,
            n_pairs=n_pairs,
            compared=describe_compared(
                _describe(partners, own, chosen, ensemble), partners, n_pairs, chosen
            ),
            settings=replace(chosen, length=length),
            length_name=length_name,
        ),
        notes=(
            *ensemble.notes,
            *notes_on(ensemble, compared, partners, sigma, n_pairs, chosen),
            *(() if errors is None else (note_on_noise(errors, sigma, n_clipped, chosen),)),
            *told.notes,
        ),
        parts=(Measured(sigma), *told.parts),
        seen=seen,
    )


def _describe(partners: Pairs, own: Own, chosen: Settings, ensemble: Ensemble) -> str:
    """Say who was compared with whom, and how if not as usual."""
    if own.metric is None:
        return partners.description
    other = known_metric(own.metric, ensemble) not in {None, HAVERSINE}
    judged = " by Euclidean distances" if other and chosen.pairs in {"contact", "nearest"} else ""
    return f"{partners.description}{judged}, by the metric {own.metric_name}"


def _analyse_matrix(source: Any, trajectories: list[Any], chosen: Settings, own: Own) -> Analysis:
    unused = sorted({*own.names} | (chosen.differing() - {"unit", *DISPLAY}))
    name = f"{source}: " if isinstance(source, str | Path) else ""
    if trajectories or unused:
        what = ", ".join(["trajectories"] * bool(trajectories) + unused)
        raise ValueError(f"{name}a matrix of σ is linked as it is: leave out {what}")
    given = read_given(source) if name else GivenMatrix(source)
    quantity = as_quantity(quantity_of(given), chosen.unit or "")
    if isinstance(source, Fluctuations):
        sigma = replace(source, unit=quantity.unit or source.unit)
    else:
        try:
            sigma = from_matrix(given.values, unit=quantity.unit)
        except ValueError as error:
            raise ValueError(f"{name}{error}") from None
    hierarchy = link(sigma, quantity=quantity, linkage=linkage_of(chosen))
    drawn = keep_drawn(sigma)
    told = judge_matrix(sigma, hierarchy, chosen)
    return Analysis(
        system=System.unplaced(name_sites(source, hierarchy.n_sites), unit=sigma.unit),
        hierarchy=hierarchy,
        recipe=Recipe(
            kind="sites",
            settings=chosen,
            length_name="a" if chosen.length else "",
        ),
        parts=(Measured(drawn), *told.parts),
        notes=(
            *(() if drawn is sigma else (note_on(len(sigma.sigma), drawn, quantity.symbol),)),
            *told.notes,
        ),
    )


def _plan(
    compared: Objects,
    partners: Pairs,
    chosen: Settings,
    tell: Tell | None,
    *,
    shown: Shown,
    metric: Metric | None,
) -> Plan:
    """Plan the memory of the run, and say it."""
    planned = plan(
        compared,
        partners,
        keep=are_kept(partners),
        limit=chosen.memory,
        n_shown=len(shown.objects),
        euclidean=known_metric(metric, compared.ensemble) is None,
        judged=chosen.confidence is not False,
    )
    if tell is not None:
        for line in planned.lines():
            tell(line)
    return planned


def _measure_and_link(  # noqa: PLR0913, as for measure, and what is taken off
    compared: Objects,
    partners: Pairs,
    chosen: Settings,
    run: Run,
    planned: Plan,
    *,
    shown: Shown,
    metric: Metric | None,
    noise: NoiseVariance | None,
) -> tuple[Seen, Fluctuations, int, int]:
    """Measure and link; σ is that of all pairs, or of those that pictures need; count the pairs.

    Errors of positions are taken off before pairs are linked; those that have nothing left are
    counted as well.
    """
    metric = known_metric(metric, compared.ensemble)
    overlap = chosen.min_overlap
    if are_kept(partners):
        sigma = measure(
            compared,
            partners,
            chunk=planned.chunk,
            min_overlap=overlap,
            metric=metric,
            **run.options,
        )
        n_clipped = 0
        if noise is not None:
            sigma, n_clipped = take_off(sigma, noise)
        hierarchy = link(sigma, quantity=sigma_by(metric), linkage=linkage_of(chosen))
        return Seen(hierarchy, shown.objects), sigma, len(sigma.sigma), n_clipped
    refuse_unkept(chosen, len(partners))
    hierarchy, joining, n_pairs = cluster_and_count(
        compared, partners, chunk=planned.chunk, min_overlap=overlap, metric=metric, run=run
    )
    seen = Seen(hierarchy, shown.objects)
    axis = shown.objects if shown.sequential else shown.objects[seen.restricted.order]
    drawn = measure_drawn(
        compared, partners, axis, joining, min_overlap=overlap, metric=metric, run=run
    )
    return seen, drawn, n_pairs, 0


def choose_engine(workers: int | str | None, client: Any) -> int | str | Engine | None:
    """Take a cluster where there is one, threads elsewhere.

    Parameters
    ----------
    workers : int, str or None
        Number of threads, all cores if None.
    client : distributed.Client or None
        A dask cluster.

    Returns
    -------
    int, str, Engine or None
        As for :func:`timme.measure`.
    """
    if client is None:
        return workers
    from timme.engine.dask import Cluster

    return Cluster(client)


def _is_matrix_file(source: Any) -> bool:
    """Tell a file with a ready-made matrix of σ from one with snapshots."""
    if not isinstance(source, str | Path):
        return False
    name = str(source).lower().removesuffix(".gz")
    if name.endswith(".npy") and Path(source).is_file():
        try:
            return bool(np.load(source, mmap_mode="r", allow_pickle=False).ndim == 2)
        except (ValueError, EOFError, OSError):
            return False  # the reader says what is wrong
    return name.endswith((".json", ".mtx"))


def _as_list(trajectories: Any) -> list[Any]:
    return [trajectories] if isinstance(trajectories, str | Path) else list(trajectories)
