"""The recipe of an analysis: snapshots, or a ready-made matrix, become an Analysis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from timme.analysis import choices
from timme.analysis.finding import find
from timme.analysis.measurement import Task, choose_pairs, measure_and_link
from timme.analysis.result import Analysis, Made, Source, System, announce, title_of
from timme.analysis.settings import Settings
from timme.confidence.assessment import assess, levels_of_matrix
from timme.engine.checkpoint import Checkpoint, OtherRunError, Progress, Run
from timme.engine.moments import Metric
from timme.engine.workers import connect
from timme.ensemble import Atoms, Ensemble
from timme.ensemble.residues import is_nucleic, is_protein
from timme.fluctuations import Fluctuations, from_matrix
from timme.hierarchy.linking import link
from timme.hierarchy.tree import SIGMA, Quantity, as_quantity
from timme.io import Matrix, holds_matrix, is_labelled, read_matrix
from timme.motion.hinges import describe_motion
from timme.objects import Objects

_OF_MATRICES = frozenset(  # settings that count for a matrix
    "unit linkage confidence cutoff length min_size palette order full workers memory seed".split()
)
_LARGEST = 3_000  # sites of a matrix that is kept, and whose levels are looked for
_FEWEST, _MOST = 20, 5_000  # sites in which bodies are looked for
_WALKS, _WALKED = 10, 50_000_000  # snapshots, and distances, for which walkers are drawn unasked


def analyse(  # noqa: PLR0913, what is analysed, and how it is carried out
    source: Any,
    *others: Any,
    objects: Any = None,
    pairs: Any = None,
    metric: Metric | None = None,
    settings: Settings | None = None,
    workers: int | None = None,
    client: Any = None,
    progress: Progress | None = None,
    checkpoint: str | Path | Checkpoint | None = None,
    **options: Any,
) -> Analysis:
    """Find which parts of a system move together.

    Parameters
    ----------
    source : path, array, DataFrame, Universe, Ensemble, …
        Anything that :func:`timme.read` takes, or an Ensemble; or σ of pairs: a file with a
        matrix, a square matrix, or Fluctuations.
    *others : path
        Trajectories of a topology, or more structures.
    objects : str, mapping or sequence, optional
        What is compared: a name such as ``"residues"``, a file, or what
        :func:`timme.objects.groups` takes.
    pairs : str, Pairs or array_like, optional
        Which objects are compared: a rule such as ``"contact:8"``, a file, Pairs, or pairs of
        numbers of objects, counted from 0.
    metric : str or callable, optional
        Distance of two points, as for :func:`timme.measure`.
    settings : Settings, optional
        All settings at once.
    workers : int, optional
        Number of threads, all cores by default.
    client : distributed.Client or str, optional
        Dask cluster that measures, or the address of its scheduler.
    progress : callable, optional
        Called with the work done and the whole work; its method ``begin``, if it has one, with
        the name of each phase.
    checkpoint : path, optional
        File in which the work is saved at intervals; an interrupted run continues from it.
    **options
        Fields of :class:`timme.analysis.Settings`, as values or as texts of the command line.

    Returns
    -------
    Analysis
        The finding, with the results that led to it.

    Examples
    --------
    >>> import timme
    >>> found = timme.analyse(timme.synthetic.planted().ensemble, cutoff=0.2)
    >>> found.hierarchy.n_sites
    90
    """
    own = {"objects": objects, "pairs": pairs}
    texts = {name: str(each) for name, each in own.items() if isinstance(each, str | Path)}
    own = {name: each for name, each in own.items() if name not in texts and each is not None}
    chosen = choices.settings_of(Settings, settings, options | texts)
    with ExitStack() as stack:
        notes = stack.enter_context(choices.noted_warnings())
        if is_matrix(source):
            extra = {"metric": metric, "trajectories": others or None}
            unused = [*own, *(name for name, each in extra.items() if each is not None)]
            found = _of_matrix(source, chosen, unused)
        else:
            ensemble = choices.read_snapshots(source, others, chosen, progress)
            if isinstance(checkpoint, str | Path):
                checkpoint = stack.enter_context(Checkpoint(checkpoint, resume=True))
            if checkpoint is not None:
                notes += _take_up(checkpoint, ensemble, chosen)
            how: dict[str, Any] = {"workers": workers or chosen.workers, "progress": progress}
            how |= {"client": connect(client) if isinstance(client, str) else client}
            found = _of_snapshots(ensemble, chosen, own, metric, {**how, "checkpoint": checkpoint})
    return finish(found, notes)


def finish(analysis: Analysis, notes: Iterable[str] = ()) -> Analysis:
    """Return an analysis with its finding, and every note once."""
    every = [*analysis.notes, *notes]
    tree, n_pieces = analysis.atom_hierarchy, np.count_nonzero(analysis.atom_hierarchy.parents < 0)
    if n_pieces > 1 and analysis.fluctuations is not None:
        objects = f"{tree.n_sites:,} {analysis.made.objects}"
        every.append(f"the pairs connect {objects} into {n_pieces:,} pieces")
    analysis = replace(analysis, notes=tuple(dict.fromkeys(every)))
    return replace(analysis, finding=find(analysis))


def _of_snapshots(
    ensemble: Ensemble, settings: Settings, own: dict[str, Any], metric: Any, how: dict[str, Any]
) -> Analysis:
    """Return the analysis of snapshots, without its finding."""
    given_, progress, used = settings.model_fields_set, how["progress"], ""
    if settings.min_overlap is not None and not ensemble.gaps:
        raise ValueError("min_overlap= is for tracks with gaps, got none: leave it out")
    if ensemble.gaps:
        ensemble, settings, used = choices.without_short_tracks(ensemble, settings)
    kind_ = choices.kind_of(ensemble)
    objects = choices.choose_objects(ensemble, kind_, settings, own.get("objects"))
    if len(objects) < 2:
        words = f"at least 2 {objects.kind} are needed, got {len(objects)}"
        raise ValueError(f"{ensemble.prefix}{words}: select more sites, or choose other objects")
    shown = choices.choose_shown(objects, settings.shown)
    task = Task(objects, kind_, settings, metric, how)
    announce(progress, "choosing pairs")
    pairs, settled = choose_pairs(task, own.get("pairs"))
    announce(progress, "measuring σ")
    sigma, tree, n_pairs, noise = measure_and_link(task, pairs)
    if settings.objects == "auto" or "objects" in own:
        settled["objects"] = objects.kind
    words = pairs.description
    if n_pairs < len(pairs):
        few = f"{len(pairs) - n_pairs:,} of {len(pairs):,} left out"
        words += f"; {few}, which share fewer than {settings.min_overlap} snapshots"
    if metric is not None:
        words += f", by the metric {getattr(metric, '__name__', metric)}"
    settings = settings.model_copy(update=settled)
    made = _made(objects, kind_, settings, given_, pairs=words, n_pairs=n_pairs, used=used)
    notes = tuple(_notes(ensemble, settings))
    found = Analysis(System.of(objects, *shown), tree, made, notes, fluctuations=sigma)
    chance = n_pairs == len(sigma.pairs) and _draws_walkers(task, n_pairs)
    if settings.confidence is not False:
        announce(progress, "resampling")
        known: dict[str, Any] = {"min_size": max(2, settings.min_size), "seed": settings.seed}
        known |= {"linkage": settings.linkage, "metric": metric, "noise": noise}
        known |= {"shown": shown.objects, "run": Run.of(**how), "chance": chance}
        confidence = assess(objects, sigma, tree, **known)
        found = replace(found, confidence=confidence)
    announce(progress, "finding rigid bodies")
    return _with_bodies(found, ensemble, settings)


def _take_up(checkpoint: Checkpoint, ensemble: Ensemble, settings: Settings) -> list[str]:
    """Go on from a checkpoint of the same run, or begin anew; return a note on either."""
    files = ", ".join(f"{each.name} {each.sha256}" for each in map(Source.of, ensemble.sources))
    same = settings.model_copy(update={"workers": None})  # results are the same for any
    identity = {"version": version("pytimme"), "input": files, "settings": repr(same)}
    try:
        checkpoint.identify(identity)
    except OtherRunError:
        checkpoint.path.unlink(missing_ok=True)
        checkpoint.identify(identity)
        return [f"{checkpoint.path} was of another run, and this one began anew"]
    return ["this run went on from one that was interrupted"] if checkpoint.resumed else []


def _draws_walkers(task: Task, n_pairs: int) -> bool:
    """Return whether clusters are compared with those of independent walkers."""
    objects, ensemble, given = task.objects, task.objects.ensemble, task.settings.chance
    possible = task.kind == "particles" and objects.are_points and not ensemble.independent
    if given and not possible:
        raise ValueError("chance= is for particles: leave it out")
    if given is not None:
        return given
    small = n_pairs * ensemble.n_snapshots <= _WALKED and ensemble.n_snapshots >= _WALKS
    return possible and small and task.metric is None


def _with_bodies(analysis: Analysis, ensemble: Ensemble, settings: Settings) -> Analysis:
    """Add the rigid bodies of the shown residues of a biopolymer."""
    system, atoms = analysis.system, analysis.shown_atoms
    sites = system.object_sites[system.shown]
    suits = len(sites) in range(_FEWEST, _MOST + 1) and len(np.unique(sites)) == len(sites)
    polymer = suits and (is_protein(atoms) | is_nucleic(atoms)).mean() > 0.5
    if not (polymer and system.sequential and ensemble.n_dimensions == 3):
        return analysis
    try:
        motion = describe_motion(choices.in_memory(ensemble.select(sites)), seed=settings.seed)
    except ValueError as error:
        return replace(analysis, notes=(*analysis.notes, f"no rigid bodies were found: {error}"))
    return replace(analysis, motion=motion)


def _made(
    objects: Objects, kind_: choices.Kind, settings: Settings, given: Iterable[str], **known: Any
) -> Made:
    """Return how a result of objects was made."""
    length, name = choices.choose_length(objects, kind_, settings.length)
    kind = "molecule" if kind_ in ("biopolymer", "molecule") else "particles"
    words = {"kind": kind, "objects": objects.kind, "length_name": name}
    settled = settings.model_copy(update={"length": length, "reduction": objects.reduction})
    return Made.of(objects.ensemble.sources, settled, given, length=length, **words, **known)


def notes_of(ensemble: Ensemble) -> Iterator[str]:
    """Yield what snapshots do not tell."""
    yield from ensemble.notes
    if ensemble.rounding:
        least = f"{ensemble.rounding / math.sqrt(6):.2g} {ensemble.unit}".rstrip()
        yield f"coordinates have steps of {ensemble.rounding:g}: σ below {least} is rounding"
    if ensemble.independent:
        yield "models are not a thermal sample: σ shows where they agree as well as what moves"


def _notes(ensemble: Ensemble, settings: Settings) -> Iterator[str]:
    """Yield what σ of these snapshots does not tell."""
    yield from notes_of(ensemble)
    if ensemble.gaps and settings.min_overlap is not None:
        shared = f"at least {settings.min_overlap}"
        yield f"σ is that of the snapshots in which both are seen, {shared} for each pair"
    if settings.linkage != "single":
        yield f"{settings.linkage} linkage is not that of the paper, which is single linkage"


def is_matrix(source: Any) -> bool:
    """Return whether a source is σ of pairs rather than snapshots."""
    if isinstance(source, str | Path):
        return holds_matrix(Path(source))
    held = isinstance(source, Fluctuations | Matrix) or hasattr(source, "tocsr")
    return held or is_labelled(source) or (isinstance(source, np.ndarray) and source.ndim <= 2)


def _of_matrix(source: Any, settings: Settings, unused: list[str]) -> Analysis:
    """Return the analysis of a matrix, without its finding; refuse what counts for snapshots."""
    unused += sorted(settings.model_fields_set - _OF_MATRICES)
    if unused:
        names = ", ".join(f"{name}=" for name in unused)
        raise ValueError(f"a matrix is linked as it is: leave out {names}")
    paths = (str(source),) if isinstance(source, str | Path) else ()
    sigma, quantity = read_matrix(source) if paths else source, SIGMA
    if isinstance(sigma, Matrix):
        if sigma.symbol:
            quantity = Quantity(sigma.symbol, sigma.unit, words=sigma.words)
        sigma = sigma.values
    sigma = sigma if isinstance(sigma, Fluctuations) else from_matrix(sigma)
    quantity = as_quantity(quantity, settings.unit or "")
    sigma = replace(sigma, unit=quantity.unit or sigma.unit)
    tree = link(sigma, quantity=quantity, linkage=settings.linkage)
    words = {"kind": "matrix", "objects": "sites", "pairs": "all pairs"}
    words["title"] = title_of(paths) if paths else "matrix"
    words["length_name"] = "a" if settings.length else ""
    numbers: Any = {"n_pairs": len(sigma.sigma), "length": settings.length}
    made = Made.of(paths, settings, settings.model_fields_set, **words, **numbers)
    system = System.without_places(Atoms.unnamed(tree.n_sites), unit=sigma.unit)
    found = Analysis(system, tree, made)
    if tree.n_sites > _LARGEST:
        note = f"a matrix of more than {_LARGEST:,} sites is neither kept nor drawn"
        return replace(found, notes=(note,))
    levels = None
    if settings.confidence is not False:
        levels = levels_of_matrix(sigma.matrix(), tree, min_size=max(2, settings.min_size))
    return replace(found, fluctuations=sigma, confidence=levels)
