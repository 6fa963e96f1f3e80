"""Correlation of displacements of pairs of tracked particles (two-point microrheology).

D_rr(r, τ) is the mean of (Δ·r̂)(Δ'·r̂) over pairs at a distance r, with Δ and Δ' their displacements
within the lag τ, and D_⊥ the mean of what is across r̂, per direction. In an incompressible fluid in
three dimensions D_rr = kTτ/(2πηr) and D_⊥ is half of it; films decay as ln r.

Errors come from blocks of displacements, since pairs of one snapshot are not independent. Blocks
are at least as long as the lag and stay within a run. Neighbouring blocks still share steps, so
their scatter is too small; it is corrected by what it would be if steps were independent: products
of two displacements that begin k apart are then correlated by (1 − k/lag)².
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.linalg import block_diag

from timme_next._arrays import Floats, Ints, frozen, numbers
from timme_next._text import Described
from timme_next.ensemble import Boxes, Ensemble
from timme_next.ensemble.space import pairs_within
from timme_next.motion.superposition import require_dimensions

_FEWEST = 6  # blocks that give an error: with fewer it is often too small
_BLOCKS = 10  # of all runs, or more, where they are long enough


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
        Over pairs that are seen at both ends of a lag; errors are NaN, with a note, where there are
        fewer than 6 blocks.

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
    moves = [_Moves.of(runs, int(lag)) for lag in lags]
    sums = [
        _sums((positions, unwrapped), boxes, bounds, each, weights, drift=drift) for each in moves
    ]

    def mean(name: str, counts: str) -> tuple[Floats, Floats]:
        with np.errstate(invalid="ignore"):
            values = [each[name].sum(axis=0) / each[counts].sum(axis=0) for each in sums]
        pairs = zip(sums, moves, strict=True)
        errors = [_error(each[name], each[counts], move.shared) for each, move in pairs]
        return frozen(np.array(values)), frozen(np.array(errors))

    msd, msd_error = mean("square", "seen")
    r, weight, n_pairs = (
        np.array([each[name].sum(axis=0) for each in sums]) for name in ("r", "count", "pairs")
    )
    with np.errstate(invalid="ignore"):
        distances = r.sum(axis=0) / weight.sum(axis=0)
    found = TwoPoint(
        frozen(np.asarray(lags, np.int64)), frozen(bounds), frozen(distances),
        *mean("rr", "count"), *mean("pp", "count"), frozen(n_pairs.astype(np.int64)),
        msd[:, 0], msd_error[:, 0], ensemble.n_dimensions, (),
    )  # fmt: skip
    return replace(found, notes=_notes(found, drift=drift))


@dataclass(frozen=True, slots=True, eq=False)
class _Moves:
    """Displacements within a lag, in blocks that are independent as far as may be."""

    begins: Ints  # (displacements,), snapshots
    ends: Ints  # (displacements,), a lag later in the same run
    blocks: Ints  # (displacements,)
    shared: Floats  # (blocks, blocks), covariance of sums over blocks if steps are independent

    @classmethod
    def of(cls, runs: Sequence[Ints], lag: int) -> _Moves:
        long = [own for own in runs if len(own) > lag]
        counts = [len(own) - lag for own in long]
        wanted = [-(-_BLOCKS * count // sum(counts)) for count in counts]  # rounded up
        cuts = [
            np.linspace(0, count, max(1, min(most, count // lag)) + 1).astype(int)
            for most, count in zip(wanted, counts, strict=True)
        ]
        sizes = np.concatenate([np.diff(cut) for cut in cuts])
        shared = block_diag(*(_shared(cut, lag) for cut in cuts))
        begins, ends = (
            np.concatenate([own[part] for own in long])
            for part in (slice(None, -lag), slice(lag, None))
        )
        return cls(begins, ends, np.repeat(np.arange(len(sizes)), sizes), shared)


def _shared(cut: Ints, lag: int) -> Floats:
    """Covariance of sums over neighbouring blocks, of products of displacements."""
    correlation = np.clip(1 - np.arange(cut[-1]) / lag, 0, None) ** 2
    # Of all pairs of the first 0, 1, 2, … displacements; those of two blocks are differences.
    squares = np.concatenate([[0.0], np.cumsum(2 * np.cumsum(correlation) - 1)])
    spans = squares[np.abs(cut[:, None] - cut)]
    covariance: Floats = spans[1:, :-1] + spans[:-1, 1:] - spans[:-1, :-1] - spans[1:, 1:]
    return covariance / 2


def _sums(
    tracks: tuple[Floats, Floats],
    boxes: Boxes,
    edges: Floats,
    moves: _Moves,
    weights: Floats,
    *,
    drift: bool,
) -> dict[str, Floats]:
    """Sums (blocks, bins) over pairs; tracks are positions in the box, and unwrapped."""
    positions, unwrapped = tracks
    n_blocks, n_bins = len(moves.shared), len(edges) - 1
    found = {name: np.zeros((n_blocks, n_bins)) for name in ("rr", "pp", "r", "count", "pairs")}
    found |= {name: np.zeros((n_blocks, 1)) for name in ("square", "seen")}
    for start, end, block in zip(moves.begins, moves.ends, moves.blocks, strict=True):
        seen = np.flatnonzero(np.isfinite(unwrapped[[start, end]]).all(axis=(0, 2)))
        moved = unwrapped[end, seen] - unwrapped[start, seen]
        if drift and len(seen):
            moved = moved - moved.mean(axis=0)
        found["square"][block] += weights[start] * (moved**2).sum()
        found["seen"][block] += weights[start] * len(seen)
        frame = slice(start, start + 1)
        around = replace(boxes, matrices=boxes.matrices[frame], inverses=boxes.inverses[frame])
        places = positions[start, seen]
        pairs = pairs_within(places, float(edges[-1]), around)
        vectors = around.between(places[None], *pairs.T)[0]
        apart = np.linalg.norm(vectors, axis=1)
        bins = np.searchsorted(edges, apart, side="right") - 1
        good = (bins >= 0) & (bins < n_bins) & (apart > 0)
        unit, bins, apart = vectors[good] / apart[good, None], bins[good], apart[good]
        one, other = moved[pairs[good, 0]], moved[pairs[good, 1]]
        along = (one * unit).sum(axis=1) * (other * unit).sum(axis=1)
        across = ((one * other).sum(axis=1) - along) / (places.shape[1] - 1)
        counted = np.bincount(bins, minlength=n_bins)
        found["pairs"][block] += counted
        found["count"][block] += weights[start] * counted
        for name, values in (("rr", along), ("pp", across), ("r", apart)):
            found[name][block] += weights[start] * np.bincount(bins, values, n_bins)
    return found


def _error(sums: Floats, counts: Floats, shared: Floats) -> Floats:
    """Standard error (bins,) of a ratio of sums over blocks; NaN where too few blocks count."""
    squares = (counts**2).sum(axis=0)
    n_blocks = counts.sum(axis=0) ** 2 / np.where(squares > 0, squares, 1)
    found = np.full(counts.shape[1], np.nan)
    for place in np.flatnonzero(np.round(n_blocks) >= _FEWEST):
        met = counts[:, place] > 0
        count, own = counts[met, place], shared[np.ix_(met, met)]
        away = sums[met, place] - sums[met, place].sum() / count.sum() * count
        # Variance of the mean over what is left in blocks once their mean is subtracted.
        left = np.eye(len(count)) - count[:, None] / count.sum()
        wide = own.sum() / np.trace(left @ own @ left.T)
        found[place] = np.sqrt((away**2).sum() * wide) / count.sum()
    return found


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


def _notes(found: TwoPoint, *, drift: bool) -> tuple[str, ...]:
    """What to know of the drift, and where there are no errors."""
    notes = ["the mean displacement was subtracted: independent particles move apart"] * drift
    lost, sparse = np.isnan(found.msd_error), (found.counts > 0) & np.isnan(found.along_error)
    if lost.any():
        named = ", ".join(map(str, found.lags[lost]))
        notes.append(f"no errors at lag {named}: fewer than {_FEWEST} blocks are as long")
    n_sparse = int(sparse[~lost].any(axis=0).sum())
    if n_sparse:
        notes.append(
            f"no errors at {n_sparse} of {sparse.shape[1]} distances: nearly all of their pairs "
            f"are seen in fewer than {_FEWEST} blocks"
        )
    return tuple(notes)
