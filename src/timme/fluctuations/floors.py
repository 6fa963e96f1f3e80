"""The least that σ² of a pair can be in any of many draws, from one pass that keeps little of it.

Snapshots are cut into units, each within one part. A draw that counts the parts c times has at
least the variance within units, and of a unit of m snapshots within which Σ (r − r̄)² is w, at least
that of some of its snapshots:

    σ² ≥ Σ c w / Σ c m.

Which units a draw leaves out is not known before it is looked at, but how much of them is: of any
units with H snapshots together, a draw counts no fewer than its most neglected H. Call the least
share of a draw that they are, over all draws, ρ(H). With a ladder of steps 0 = θ₀ < θ₁ < …, and Hᵢ
the snapshots of units with w ≥ θᵢ m,

    σ² ≥ Σᵢ (θᵢ − θᵢ₋₁) ρ(Hᵢ)    for every draw,

as w is at least m times the highest step below it. Only the Hᵢ of a pair are kept. Of objects of
several sites, the mean (or the largest) of such bounds over cross pairs is a bound, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from timme._arrays import Floats, Ints
from timme._kernels import parts as kernel
from timme.engine.metrics import known_metric
from timme.engine.moments import Metric, Moments
from timme.engine.reduction import Kept, moments_by_part
from timme.engine.run import DEFAULT, Run
from timme.engine.threads import Threads
from timme.fluctuations.crossing import Crossing, Singles
from timme.fluctuations.sums import is_plain, run_all
from timme.fluctuations.units import Units, lay_out
from timme.objects import Objects
from timme.system.ensemble import Ensemble

_LADDER = np.array(
    [0.0625, 0.125, 0.25, 0.5, 1.0, 2.0], np.float32
)  # steps, in a pair's mean over units
_LONGEST, _MOST = 32, 8  # snapshots of a unit, and of these the ones that are looked at
_ROUNDING = 4.0  # of r, in units of the last place
_TILE = 4096  # pairs that a thread takes at a time
_PIECE = 4_000_000  # pairs of sites for which something is held


def floors(
    objects: Objects,
    index: Ints,
    parts: Sequence[range],
    times: Ints,
    *,
    metric: Metric | None = None,
    run: Run = DEFAULT,
) -> Floats:
    """Find the least that σ² of pairs of objects can be in any draw.

    Parameters
    ----------
    objects : Objects
        What is compared.
    index : ndarray of int, shape (pairs, 2)
        Who with whom, the lower first.
    parts : sequence of range
        Runs of consecutive snapshots, in their order.
    times : ndarray of int, shape (draws, parts)
        How often each part counts in each draw.
    metric : str or callable, optional
        As for :func:`timme.measure`.
    run : Run, optional
        How it is carried out.

    Returns
    -------
    ndarray, shape (pairs,)
        No more than σ² in any draw.
    """
    ensemble = objects.ensemble
    metric = known_metric(metric, ensemble)
    shares = least_shares(ensemble, parts, times)
    per_pair = 1.0 if objects.are_points else (len(objects.members) / len(objects)) ** 2
    n_pieces = max(1, round(len(index) * per_pair / _PIECE))
    found = [
        _floors_of(Crossing.of(objects, piece), parts, shares, metric, run)
        for piece in np.array_split(index, n_pieces)
    ]
    return np.concatenate(found)


def least_shares(ensemble: Ensemble, parts: Sequence[range], times: Ints) -> tuple[float, Floats]:
    """Tell which share of every draw some of the snapshots are at least, whichever these are.

    Parameters
    ----------
    ensemble : Ensemble
        Whose weights count.
    parts : sequence of range
        Snapshots of each part.
    times : ndarray of int, shape (draws, parts)
        How often each part counts in each draw.

    Returns
    -------
    float
        Weight by which entries of the table rise.
    ndarray, shape (entries,)
        The least share of no snapshots, of that weight, of twice that, and so on, up to all. It
        never falls, so that of what is in between it is no less than of the entry below.
    """
    weights = ensemble.weights
    masses = np.array(
        [len(part) if weights is None else weights[part.start : part.stop].sum() for part in parts],
        np.float64,
    )
    held = np.linspace(0.0, masses.sum(), 4 * len(parts) + 1)
    least = np.full(len(held), np.inf)
    for counts in times:
        ranked = np.argsort(counts, kind="stable")  # the most neglected first
        seen = np.concatenate([[0.0], np.cumsum(masses[ranked])])
        drawn = np.concatenate([[0.0], np.cumsum((masses * counts)[ranked])])
        least = np.minimum(least, np.interp(held, seen, drawn) / drawn[-1])
    return float(held[1]), least


def _floors_of(
    crossing: Crossing,
    parts: Sequence[range],
    shares: tuple[float, Floats],
    metric: Metric | None,
    run: Run,
) -> Floats:
    """Least σ² of some pairs of objects, by that of their cross pairs."""
    ensemble, pairs = crossing.ensemble, crossing.site_pairs
    gather = _gather_plainly if is_plain(ensemble, metric) else partial(_gather, metric=metric)
    base, heavy = gather(ensemble, pairs, parts, run=run)
    rises = np.diff(_LADDER, prepend=np.float32(0.0))
    return crossing.reduce_squares(kernel.least_squares(base, heavy, rises, *shares))


def _gather_plainly(
    ensemble: Ensemble, pairs: Ints, parts: Sequence[range], *, run: Run
) -> tuple[Singles, Singles]:
    """Mean motion within units, and snapshots in which it is above each step, in open space."""
    base = np.zeros(len(pairs), np.float32)
    heavy = np.zeros((len(pairs), len(_LADDER)), np.float32)
    tiles = [slice(k, k + _TILE) for k in range(0, len(pairs), _TILE)]
    threads = Threads(run.engine.threads_here)

    def add(units: Units, tile: slice) -> None:
        rounding = _ROUNDING * float(np.finfo(units.xyz.dtype).eps)
        known = np.maximum(units.lengths, 1), units.masses, _LADDER, rounding
        kernel.add_masses(units.xyz, np.array(pairs[tile]), *known, base[tile], heavy[tile])

    for units in lay_out(ensemble, parts, longest=_LONGEST, most=_MOST):
        run_all(threads.map(add, units, tiles))
    return base, heavy


def _gather(
    ensemble: Ensemble, pairs: Ints, parts: Sequence[range], *, metric: Metric | None, run: Run
) -> tuple[Singles, Singles]:
    """The same in boxes, with gaps and weights, by any metric: units are parts as a whole."""
    base = np.zeros(len(pairs), np.float32)
    heavy = np.zeros((len(pairs), len(_LADDER)), np.float32)

    def add(_: int, found: Moments) -> Kept:
        inside = np.where(found.weight > 0, found.m2 / np.maximum(found.weight, 1e-30), 0.0)
        base[:] = np.where(base > 0, base, inside)
        heavy[:] += np.where(inside[:, None] >= _LADDER * base[:, None], found.weight[:, None], 0)
        return ()

    moments_by_part(ensemble, pairs, parts, add, metric=metric, run=Run(run.engine))
    return base, heavy
