"""Correlation of displacements of pairs of tracked particles (two-point microrheology).

D_rr(r, τ) is the mean of (Δ·r̂)(Δ'·r̂) over pairs at a distance r, with Δ and Δ' their displacements
within the lag τ, and D_⊥ the mean of what is across r̂, per direction. In an incompressible fluid in
three dimensions D_rr = kTτ/(2πηr) and D_⊥ is half of it; films decay as ln r.

Errors come from blocks of displacements within a run, since pairs of one snapshot are not
independent. Neighbouring blocks share steps; they are two lags long at least, so that this makes
errors too small by 6 % at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from timme_next._arrays import Floats, Ints, frozen, numbers
from timme_next._text import Described
from timme_next.ensemble import Boxes, Ensemble
from timme_next.ensemble.space import pairs_within
from timme_next.motion.superposition import require_dimensions

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
    n_dimensions: int
    notes: tuple[str, ...]

    def two_point_msd(self, radius: float) -> Floats:
        """Return (2 r/a) D_rr (lags, bins), the mean square displacement told by other particles.

        Parameters
        ----------
        radius : float
            Radius a of a particle.
        """
        if self.n_dimensions != 3:
            raise ValueError(
                "a two-point mean square displacement needs 3 dimensions, got "
                f"{self.n_dimensions}: films decay as the logarithm of the distance"
            )
        found: Floats = 2 * self.distances / radius * self.along
        return found


def two_point(
    ensemble: Ensemble,
    edges: npt.ArrayLike,
    *,
    lags: Sequence[int] = (1,),
    drift: bool = False,
) -> TwoPoint:
    """Return how displacements of pairs are correlated at each distance.

    Parameters
    ----------
    ensemble : Ensemble
        Tracked particles in 2 or 3 dimensions, in open space or a box, with or without gaps. A
        displacement has the weight of the snapshot in which it begins; none begins or ends in one
        of weight 0, or leads from one run to another.
    edges : array_like, shape (bins + 1,)
        Ascending distances between which pairs are counted.
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
    positions = np.asarray(ensemble.coordinates(), np.float64)
    unwrapped = np.array(ensemble.unwrapped().coordinates(), np.float64)
    weights = np.ones(len(positions)) if ensemble.weights is None else ensemble.weights
    unwrapped[weights == 0] = np.nan
    matrices = [matrix for block in ensemble.blocks() if (matrix := block.boxes) is not None]
    boxes = Boxes.of(np.concatenate(matrices) if matrices else None, *positions.shape[::2])
    tracks = _Tracks(positions, unwrapped, boxes, bounds, weights, drift)
    sums = [tracks.sums(*_displacements(runs, int(lag))) for lag in lags]
    means = np.array([_ratio(*each[:2]) for each in sums])  # (lags, 3, bins + 1)
    errors = np.array([_error(*each[:2]) for each in sums])
    counts = np.array([each[1][:, 1:].sum(axis=0) for each in sums])
    with np.errstate(invalid="ignore"):
        distances = np.nansum(means[:, 2, 1:] * counts, axis=0) / counts.sum(axis=0)
    notes = ("the mean displacement was subtracted: independent particles move apart",)
    return TwoPoint(
        lags=frozen(np.asarray(lags, np.int64)),
        edges=frozen(bounds),
        distances=frozen(distances),
        along=frozen(means[:, 0, 1:]),
        along_error=frozen(errors[:, 0, 1:]),
        across=frozen(means[:, 1, 1:]),
        across_error=frozen(errors[:, 1, 1:]),
        counts=frozen(np.array([each[2] for each in sums])),
        msd=frozen(means[:, 0, 0]),
        msd_error=frozen(errors[:, 0, 0]),
        n_dimensions=ensemble.n_dimensions,
        notes=notes if drift else (),
    )


def _displacements(runs: Sequence[Ints], lag: int) -> tuple[Ints, Ints, Ints]:
    """Snapshots in which displacements begin and end, and the block of each."""
    long = [own for own in runs if len(own) > lag]
    total = sum(len(own) - lag for own in long)
    blocks, n_blocks = list[Ints](), 0
    for count in (len(own) - lag for own in long):
        wanted = -(-_BLOCKS * count // total)  # rounded up
        own = np.arange(count) * max(1, min(wanted, count // (_LONG * lag))) // count
        blocks.append(own + n_blocks)
        n_blocks += int(own[-1]) + 1
    begins, ends = (
        np.concatenate([own[part] for own in long])
        for part in (slice(None, -lag), slice(lag, None))
    )
    return begins, ends, np.concatenate(blocks)


@dataclass(frozen=True, slots=True, eq=False)
class _Tracks:
    """Tracks of particles, and how displacements are counted."""

    positions: Floats  # (snapshots, sites, dimensions), in the box
    unwrapped: Floats
    boxes: Boxes
    edges: Floats
    weights: Floats  # (snapshots,)
    drift: bool

    def sums(self, begins: Ints, ends: Ints, blocks: Ints) -> tuple[Floats, Floats, Ints]:
        """Sums (blocks, 3, bins + 1) of D_rr, D_⊥ and r, weights and numbers of pairs.

        The first bin is of particles, with their squared displacements.
        """
        n_blocks, n_bins = int(blocks[-1]) + 1, len(self.edges) - 1
        found = np.zeros((n_blocks, 3, n_bins + 1))
        counts, n_pairs = np.zeros((n_blocks, n_bins + 1)), np.zeros(n_bins, np.int64)
        for start, end, block in zip(begins, ends, blocks, strict=True):
            moved = self.unwrapped[end] - self.unwrapped[start]
            seen = np.flatnonzero(np.isfinite(moved[:, 0]))
            moved = moved[seen] - (moved[seen].mean(axis=0) if self.drift and len(seen) else 0.0)
            frame = slice(start, start + 1)
            around = replace(
                self.boxes,
                matrices=self.boxes.matrices[frame],
                inverses=self.boxes.inverses[frame],
            )
            places = self.positions[start, seen]
            pairs = pairs_within(places, float(self.edges[-1]), around)
            vectors = around.between(places[None], *pairs.T)[0]
            apart = np.linalg.norm(vectors, axis=1)
            bins = np.searchsorted(self.edges, apart, side="right")
            good = (bins > 0) & (bins <= n_bins) & (apart > 0)
            unit, bins, apart = vectors[good] / apart[good, None], bins[good], apart[good]
            one, other = moved[pairs[good, 0]], moved[pairs[good, 1]]
            along = (one * unit).sum(axis=1) * (other * unit).sum(axis=1)
            across = ((one * other).sum(axis=1) - along) / (places.shape[1] - 1)
            weight, count = self.weights[start], np.bincount(bins, minlength=n_bins + 1)
            n_pairs += count[1:]
            count[0] = len(seen)
            counts[block] += weight * count
            found[block, 0, 0] += weight * (moved**2).sum()
            for place, values in enumerate((along, across, apart)):
                found[block, place] += weight * np.bincount(bins, values, n_bins + 1)
        return found, counts, n_pairs


def _ratio(sums: Floats, counts: Floats) -> Floats:
    """Means (3, bins + 1) over all blocks; NaN where nothing counts."""
    with np.errstate(invalid="ignore"):
        return np.asarray(sums.sum(axis=0) / counts.sum(axis=0))


def _error(sums: Floats, counts: Floats) -> Floats:
    """Standard errors (3, bins + 1) of these means; NaN where too few blocks count."""
    away = sums - _ratio(sums, counts) * counts[:, None]
    squares = (counts**2).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        n_blocks = counts.sum(axis=0) ** 2 / squares
        wide = 1 / (1 - 1 / n_blocks)  # the mean was subtracted
        found = np.sqrt((away**2).sum(axis=0) * wide) / counts.sum(axis=0)
    return np.where(np.round(n_blocks) >= _FEWEST, found, np.nan)


def _checked_edges(edges: npt.ArrayLike) -> Floats:
    bounds = numbers(edges, "edges of bins")
    if bounds.ndim != 1 or len(bounds) < 2 or (np.diff(bounds) <= 0).any() or bounds[0] < 0:
        raise ValueError(
            f"edges need 2 or more ascending distances, got {np.round(bounds, 3).tolist()}"
        )
    return bounds


def _runs(ensemble: Ensemble, lags: Sequence[int]) -> list[Ints]:
    """Snapshots of each run, where lags and dimensions are as they must be."""
    require_dimensions(ensemble, "two-point correlations")
    number = np.zeros(ensemble.n_snapshots) if ensemble.runs is None else ensemble.runs
    runs = [np.flatnonzero(number == run) for run in np.unique(number)]
    longest = max(len(own) for own in runs)
    if not len(lags) or not all(1 <= lag < longest for lag in lags):
        within = " within the longest run" if len(runs) > 1 else ""
        raise ValueError(f"lags range from 1 to {longest - 1} snapshots{within}, got {list(lags)}")
    return runs
