"""Correlation of displacements of pairs of tracked particles (two-point microrheology).

D_rr(r, τ) is the mean of (Δ·r̂)(Δ'·r̂) over pairs at a distance r, with Δ and Δ' their displacements
within the lag τ, and D_⊥ the mean of what is across r̂, per direction. In an incompressible fluid in
three dimensions D_rr = kTτ/(2πηr), D_⊥ is half of it, and (2r/a) D_rr the mean square displacement
of a particle of radius a as seen by the others; films decay as ln r.

Errors come from blocks of displacements within a run, since pairs of one snapshot are not
independent. Neighbouring blocks share steps; they are two lags long at least, so that this makes
errors too small by 6 % at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints, frozen, numbers
from timme._text import Described
from timme.ensemble import Block, Boxes, Ensemble
from timme.ensemble.space import pairs_within
from timme.motion.fits import require_dimensions

_FEWEST = 6  # blocks that give an error: with fewer it is often too small
_BLOCKS = 10  # of all runs, or more, where they are long enough
_LONG = 2  # lags of a block


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TwoPoint(Described):
    """Correlated displacements by distance and lag."""

    lags: Ints  # (lags,), in snapshots
    edges: Floats  # (bins + 1,), distances between which pairs are counted
    distances: Floats  # (bins,), mean distance of the pairs; NaN where there are none
    along: Floats  # (lags, bins), D_rr, in the square of the unit of the coordinates
    along_error: Floats  # (lags, bins), standard error; NaN where there are too few blocks
    across: Floats  # (lags, bins), D_⊥
    across_error: Floats
    counts: Ints  # (lags, bins), pairs and snapshots that count
    msd: Floats  # (lags,), mean square displacement of a particle
    msd_error: Floats


def two_point(
    ensemble: Ensemble, edges: npt.ArrayLike, *, lags: Sequence[int] = (1,), drift: bool = False
) -> TwoPoint:
    """Return how displacements of pairs are correlated at each distance.

    Parameters
    ----------
    ensemble : Ensemble
        Tracked particles in 2 or 3 dimensions, in open space or a box, with or without gaps. A
        displacement has the weight of the snapshot in which it begins; none begins or ends in one
        of weight 0, or leads from one run to another.
    edges : array_like, shape (bins + 1,)
        Edges of the distance bins, ascending.
    lags : sequence of int, optional
        In snapshots, below the length of the longest run.
    drift : bool, optional
        Whether the mean displacement of all particles is subtracted. Independent particles then
        seem to move apart.

    Returns
    -------
    TwoPoint
        Over pairs that are seen at both ends of a lag; errors are NaN where there are fewer than 6
        blocks, so lags of more than a thirteenth of the snapshots have none.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> walks = rng.uniform(0, 9, (1, 30, 3)) + rng.normal(size=(200, 30, 3)).cumsum(axis=0) / 10
    >>> found = two_point(Ensemble.from_array(walks), [0.0, 20.0])
    >>> bool(abs(found.along[0, 0]) < 4 * found.along_error[0, 0])
    True
    """
    bounds, runs = _checked_edges(edges), _runs(ensemble, lags)
    unwrapped = np.array(ensemble.unwrapped().coordinates(), np.float64)
    weights = np.ones(len(unwrapped)) if ensemble.weights is None else ensemble.weights
    unwrapped[weights == 0] = np.nan
    spans = [_displacements(runs, int(lag)) for lag in lags]
    ends = np.full((len(lags), len(unwrapped)), -1)
    for row, (begins, after, _) in zip(ends, spans, strict=True):
        row[begins] = after
    blocks = [_sums(block, unwrapped, ends, bounds, drift=drift) for block in ensemble.blocks()]
    sums = np.concatenate(blocks, axis=1)
    counts = sums[:, :, 3, 1:].sum(axis=1)
    sums *= weights[:, None, None]
    # (lags, 3, bins + 1), each a mean and its error
    found = [_ratio(own, *span[::2]) for own, span in zip(sums, spans, strict=True)]
    means, errors = map(frozen, np.stack(found, axis=1))
    total = sums.sum(axis=(0, 1))
    with np.errstate(invalid="ignore"):
        distances = total[2, 1:] / total[3, 1:]
    bins = frozen(np.asarray(lags, np.int64)), frozen(bounds), frozen(distances)
    along, across = ((means[:, k, 1:], errors[:, k, 1:]) for k in (0, 1))
    msd, n_pairs = (means[:, 0, 0], errors[:, 0, 0]), frozen(counts.astype(np.int64))
    return TwoPoint(*bins, *along, *across, n_pairs, *msd)


def _displacements(runs: Sequence[Ints], lag: int) -> tuple[Ints, Ints, Ints]:
    """Snapshots in which displacements begin and end, and the block of each."""
    long = [own for own in runs if len(own) > lag]
    total = sum(len(own) - lag for own in long)
    blocks, n_blocks = list[Ints](), 0
    for count in (len(own) - lag for own in long):
        share = -(-_BLOCKS * count // total)  # rounded up
        own = np.arange(count) * max(1, min(share, count // (_LONG * lag))) // count
        blocks.append(own + n_blocks)
        n_blocks += int(own[-1]) + 1
    begins = np.concatenate([own[:-lag] for own in long])
    return begins, np.concatenate([own[lag:] for own in long]), np.concatenate(blocks)


def _sums(block: Block, unwrapped: Floats, ends: Ints, edges: Floats, *, drift: bool) -> Floats:
    """Sums (lags, snapshots, 4, bins + 1) of D_rr, D_⊥, r and 1 over pairs of each snapshot.

    The first bin is of particles, with their squared displacements.
    """
    n_snapshots, _, n_dimensions = block.coordinates.shape
    found = np.zeros((len(ends), n_snapshots, 4, len(edges)))
    for place, points in enumerate(block.coordinates.astype(np.float64)):
        seen = np.flatnonzero(np.isfinite(points[:, 0]))
        box = None if block.boxes is None else block.boxes[place : place + 1]
        around = Boxes.of(box, 1, n_dimensions)
        pairs = seen[pairs_within(points[seen], float(edges[-1]), around)]
        vectors = around.between(points[None], *pairs.T)[0]
        apart = np.linalg.norm(vectors, axis=1)
        bins = np.searchsorted(edges, apart, side="right")
        inside = (bins > 0) & (bins < len(edges)) & (apart > 0)
        pairs, bins, apart, vectors = (x[inside] for x in (pairs, bins, apart, vectors))
        unit = vectors / apart[:, None]
        start = block.start + place
        for lag in np.flatnonzero(ends[:, start] >= 0):
            moved, sums = unwrapped[ends[lag, start]] - unwrapped[start], found[lag, place]
            n_seen = np.isfinite(moved[:, 0]).sum()
            moved -= np.nansum(moved, axis=0) / max(n_seen, 1) if drift else 0.0
            one, other = moved[pairs.T]
            along = (one * unit).sum(axis=1) * (other * unit).sum(axis=1)
            across = ((one * other).sum(axis=1) - along) / (n_dimensions - 1)
            both = np.isfinite(along)
            for row, values in zip(sums, (along, across, apart, 1.0 * both), strict=True):
                row[:] = np.bincount(bins[both], values[both], len(edges))
            sums[::3, 0] = np.nansum(moved**2), n_seen
    return found


def _ratio(sums: Floats, begins: Ints, blocks: Ints) -> Floats:
    """Means (3, bins + 1) and their standard errors; NaN where nothing, or too little, counts."""
    by_block = np.zeros((blocks[-1] + 1, *sums.shape[1:]))
    np.add.at(by_block, blocks, sums[begins])
    values, counts = by_block[:, :3], by_block[:, 3]
    total = counts.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = values.sum(axis=0) / total
        away = values - means * counts[:, None]
        n_blocks = total**2 / (counts**2).sum(axis=0)
        wide = 1 / (1 - 1 / n_blocks)  # the mean was subtracted
        errors = np.sqrt((away**2).sum(axis=0) * wide) / total
    return np.array([means, np.where(np.round(n_blocks) >= _FEWEST, errors, np.nan)])


def _checked_edges(edges: npt.ArrayLike) -> Floats:
    bounds = numbers(edges, "edges of bins")
    if bounds.ndim != 1 or len(bounds) < 2 or (np.diff(bounds) <= 0).any() or bounds[0] < 0:
        raise ValueError(f"edges need 2 or more ascending distances, got {bounds.tolist()}")
    return bounds


def _runs(ensemble: Ensemble, lags: Sequence[int]) -> list[Ints]:
    """Snapshots of each run, where lags and dimensions are as they must be."""
    require_dimensions(ensemble)
    number = np.zeros(ensemble.n_snapshots) if ensemble.runs is None else ensemble.runs
    runs = [np.flatnonzero(number == run) for run in np.unique(number)]
    longest = max(len(own) for own in runs)
    if not len(lags) or not all(1 <= lag < longest for lag in lags):
        words = f"lags need 1 snapshot or more, and less than the longest run, which has {longest}"
        raise ValueError(f"{words}, got {list(lags)}")
    return runs
