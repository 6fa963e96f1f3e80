"""Tell of a result how sure it is, where that can be told, and else why not, in one line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from timme import memory
from timme.analysis import QUANTILES, Chance, Judged, Part, Seen, Timed
from timme.confidence import assess
from timme.confidence.null import null_band
from timme.confidence.windows import check_times, cut_windows, sigma_by_time, slide
from timme.engine.moments import Metric
from timme.engine.run import Run
from timme.fluctuations.sigma import Fluctuations, NoiseVariance
from timme.hierarchy.linkages import Linkage
from timme.hierarchy.tree import Hierarchy
from timme.objects import Objects
from timme.settings import Settings
from timme.workflow.budget import allowed

_CHANCE = 20_000_000  # distances in all, up to which walkers by chance are drawn unasked
_WALK = 20  # and snapshots from which on
_WALKING = 6 * 8  # bytes for each coordinate, while they walk
_TIMED_PAIRS = 20_000  # at random, whose σ is measured over shorter times
_LARGEST_MATRIX = 3_000  # sites of a ready-made matrix whose levels are looked at
_NAMES = {
    "braced": "braced linkage, which is not the paper's: two count as a pair once they share 4 "
    "partners within the cutoff",
    "average": "average linkage, which is not the paper's: clusters join by the mean of σ² over "
    "all pairs between them",
}


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of how sure a result is: its part, if there is one, and notes."""

    parts: tuple[Part, ...] = ()
    notes: tuple[str, ...] = ()


def judge(  # noqa: PLR0913, what was made so far, and how it is judged
    compared: Objects,
    sigma: Fluctuations,
    seen: Seen,
    chosen: Settings,
    *,
    n_pairs: int,
    n_summed: int,
    metric: Metric | None,
    noise: NoiseVariance | None = None,
    run: Run,
) -> Told:
    """Tell how sure a hierarchy of snapshots is.

    Parameters
    ----------
    compared : Objects
        What was compared.
    sigma : Fluctuations
        What was measured, or what was kept of it.
    seen : Seen
        The hierarchy, and what is shown of it.
    chosen : Settings
        What the user chose.
    n_pairs : int
        Pairs on which the hierarchy stands.
    n_summed : int
        Pairs by which clusters can be judged in the memory that there is; 0 for none.
    metric : str, callable or None
        As for :func:`timme.measure`.
    noise : callable, optional
        What errors of positions add to σ² of pairs, if it was taken off.
    run : Run
        How it is carried out.

    Returns
    -------
    Told
        The part, and notes.
    """
    notes = _linkage_notes(chosen)
    _refuse_windows(chosen, runs_of(compared, chosen))
    if chosen.confidence is False:
        return Told((), notes)
    if not n_summed:
        why = "how sure clusters are is not told: there is too little memory for it (memory=)"
        return Told((), (*notes, why))
    if len(sigma.sigma) < n_pairs:  # of which those that are drawn were kept
        told = (
            f"how sure clusters are is told by {len(sigma.sigma):,} of {n_pairs:,} pairs, those by "
            "which they are joined and those that pictures need: in resampled trajectories, others "
            "might join them a little sooner"
        )
        notes = (*notes, told)
    found = assess(
        compared,
        sigma,
        seen.restricted,
        shown=seen.shown,
        replicas=runs_of(compared, chosen),
        linkage=linkage_of(chosen),
        most_pairs=n_summed,
        metric=metric,
        noise=noise,
        run=run,
    )
    return Told((Judged(found),), (*notes, *found.notes))


def follow(  # noqa: PLR0913, as above
    compared: Objects,
    sigma: Fluctuations,
    seen: Seen,
    chosen: Settings,
    told: Told,
    *,
    n_pairs: int,
    metric: Metric | None,
    noise: NoiseVariance | None = None,
    run: Run,
) -> Told:
    """Tell how clusters and σ change in time, where that is asked for.

    Parameters
    ----------
    compared, sigma, seen, chosen
        As for :func:`judge`.
    told : Told
        How sure the hierarchy is, with the level at which windows are cut if none was chosen.
    n_pairs, metric, noise, run
        As for :func:`judge`.

    Returns
    -------
    Told
        The same and, if asked for, one part more.
    """
    if chosen.windows is None and chosen.lags is None:
        return told
    if len(sigma.sigma) < n_pairs:
        why = f"windows and times are left out: σ of {n_pairs:,} pairs was not kept"
        return Told(told.parts, (*told.notes, why))
    cutoff, notes = _cutoff_of(chosen, told), told.notes
    windows = lags = quantiles = None
    if chosen.windows is not None and cutoff is None:
        notes = (*notes, "windows are left out: no level is known at which to cut (cutoff=)")
    elif chosen.windows is not None and cutoff is not None:
        windows = slide(
            *(compared, sigma.pairs, chosen.windows),
            cutoff=cutoff,
            shown=seen.shown,
            replicas=runs_of(compared, chosen),
            linkage=linkage_of(chosen),
            metric=metric,
            noise=noise,
            run=run,
        )
    if chosen.lags is not None:
        lags = np.unique(np.asarray(chosen.lags, np.int64))
        some = np.random.default_rng(0).permutation(len(sigma.pairs))[:_TIMED_PAIRS]
        found = sigma_by_time(
            *(compared, sigma.pairs[np.sort(some)], lags.tolist()),
            replicas=runs_of(compared, chosen),
            metric=metric,
            noise=noise,
        )
        quantiles = np.quantile(found, QUANTILES, axis=1).T
    part = Timed(windows, lags, quantiles, sigma.unit)
    return Told((*told.parts, part), notes)


def by_chance(
    compared: Objects,
    sigma: Fluctuations,
    chosen: Settings,
    told: Told,
    *,
    kind: str,
    noise: NoiseVariance | None = None,
) -> Told:
    """Tell what independent walkers would do, where particles are compared and it is cheap.

    Parameters
    ----------
    compared, sigma, chosen
        As for :func:`judge`.
    told : Told
        How sure the hierarchy is.
    kind : str
        What was compared, as :func:`timme.workflow.defaults.kind_of` tells.
    noise : callable, optional
        As for :func:`judge`.

    Returns
    -------
    Told
        The same and, if there is one, the band of chance.
    """
    ensemble = compared.ensemble
    walkers = kind == "particles" and compared.are_points
    if chosen.chance and not walkers:
        raise ValueError("chance=True is for particles: leave it out where molecules are compared")
    n_distances = len(sigma.pairs) * ensemble.n_snapshots
    held = memory.usage() + _WALKING * math.prod(ensemble.frames.shape)
    small = n_distances <= _CHANCE and held <= allowed(chosen.memory)
    open_space = ensemble.snapshot(0)[1] is None and not (ensemble.gaps or ensemble.independent)
    long = ensemble.n_snapshots >= _WALK
    cheap = walkers and small and long and open_space and chosen.confidence is not False
    if chosen.chance is False or not (chosen.chance or cheap):
        return told
    if chosen.chance and not open_space:
        raise ValueError(
            "chance=True needs tracks in open space that are seen in every snapshot: leave it out, "
            "or give box=False and select what is seen throughout"
        )
    if held > allowed(chosen.memory):
        raise ValueError(
            f"chance=True needs about {memory.shown(held)} of memory, and there is less: leave it "
            "out, or take fewer snapshots (step=)"
        )
    band = null_band(
        *(compared.centres(), sigma.pairs),
        large=chosen.large,
        linkage=linkage_of(chosen),
        noise=noise,
    )
    return Told((*told.parts, Chance(band)), told.notes)


def _cutoff_of(chosen: Settings, told: Told) -> float | None:
    """The cutoff that was chosen, or else that of the first picture."""
    if chosen.cutoff is not None:
        return chosen.cutoff
    for part in told.parts:
        if isinstance(part, Judged) and part.suggestions():
            return part.suggestions()[0].cutoff
    return None


def _refuse_windows(chosen: Settings, runs: Sequence[int]) -> None:
    """Refuse windows and times for which there are too few snapshots, before any are measured."""
    if chosen.windows is not None:
        cut_windows(chosen.windows, runs)
    if chosen.lags is not None:
        check_times(chosen.lags, runs)


def runs_of(compared: Objects, chosen: Settings) -> Sequence[int]:
    """Count the snapshots of each independent run, as the user says or as they were read.

    Parameters
    ----------
    compared : Objects
        What is compared.
    chosen : Settings
        What the user chose.

    Returns
    -------
    sequence of int
        In their order.
    """
    ensemble = compared.ensemble
    runs = chosen.runs_of(ensemble.n_snapshots)
    if runs is None:
        return ensemble.replicas
    if sum(runs) != ensemble.n_snapshots or min(runs) < 1:
        raise ValueError(
            f"replicas must have {ensemble.n_snapshots} snapshots together, at least 1 each, got "
            f"{list(runs)}"
        )
    return runs


def judge_matrix(sigma: Fluctuations, hierarchy: Hierarchy, chosen: Settings) -> Told:
    """Look for levels of a ready-made matrix; how sure its numbers are, it does not say.

    Parameters
    ----------
    sigma : Fluctuations
        Of all pairs that it has.
    hierarchy : Hierarchy
        What they were linked to.
    chosen : Settings
        What the user chose.

    Returns
    -------
    Told
        The part, and notes.
    """
    notes = _linkage_notes(chosen)
    if chosen.confidence is False or sigma.n_objects > _LARGEST_MATRIX:
        return Told((), notes)
    from timme.confidence import levels_of_matrix

    return Told((Judged(levels_of_matrix(sigma.matrix(), hierarchy)),), notes)


def linkage_of(chosen: Settings) -> Linkage:
    """Return how pairs are joined.

    Parameters
    ----------
    chosen : Settings
        What the user chose.

    Returns
    -------
    str
        The name of a linkage.
    """
    return cast("Linkage", chosen.linkage)


def refuse_unkept(chosen: Settings, n_pairs: int) -> None:
    """Refuse a linkage that needs all pairs at once, where they are too many to be kept.

    Parameters
    ----------
    chosen : Settings
        What the user chose.
    n_pairs : int
        Pairs that are compared.
    """
    if chosen.linkage == "single":
        return
    remedy = "compare those in contact, or the nearest"
    if chosen.linkage == "average":
        remedy = "choose fewer sites, or linkage='braced', which takes those in contact"
    raise ValueError(
        f"linkage={chosen.linkage!r} needs σ of all pairs at once, and {n_pairs:,} are too many: "
        f"{remedy}"
    )


def _linkage_notes(chosen: Settings) -> tuple[str, ...]:
    if chosen.linkage == "single":
        return ()
    return (f"joined by {_NAMES[chosen.linkage]}",)
