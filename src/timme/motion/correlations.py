"""Correlate the displacements of pairs of tracked particles (two-point microrheology).

D_rr(r, τ) is the mean of (Δ·r̂)(Δ'·r̂) over pairs at a distance r, with Δ and Δ' their displacements
within the lag τ, and D_⊥ that of what is across r̂, by direction. In an incompressible fluid of
three dimensions D_rr = kTτ/(2πηr) and D_⊥ is half of it; films decay as ln r. Pairs of one snapshot
are not independent, so that errors come from blocks of snapshots (:mod:`timme.motion.lagged`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from timme._arrays import Bools, Floats, Ints, frozen, numbers
from timme._html import Described
from timme.motion.lagged import FEWEST, Displacements, displacements, mean, standard_error
from timme.system.ensemble import Ensemble
from timme.system.neighbours import pairs_within
from timme.system.space import Boxes


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TwoPoint(Described):
    """Correlated displacements against distance and lag."""

    lags: Ints  # (lags,), in snapshots
    edges: Floats  # (bins + 1,), distances between which pairs are counted
    distances: Floats  # (bins,), mean distance of the pairs of each bin; NaN where there are none
    along: Floats  # (lags, bins), D_rr, in the square of the unit of the coordinates
    along_error: Floats  # (lags, bins), standard error; NaN where too few blocks tell it
    across: Floats  # (lags, bins), D_⊥
    across_error: Floats
    counts: Ints  # (lags, bins), pairs and snapshots that count
    msd: Floats  # (lags,), mean square displacement of a particle
    msd_error: Floats
    n_dimensions: int
    notes: tuple[str, ...]

    def two_point_msd(self, radius: float) -> Floats:
        """Mean square displacement that the motion of others tells, in three dimensions.

        Parameters
        ----------
        radius : float
            Of a particle.

        Returns
        -------
        ndarray, shape (lags, bins)
            (2 r/a) D_rr: that of a tracer that does not change the fluid around it. It is the same
            at all distances where the fluid is alike everywhere.
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
    """Correlate displacements of pairs against their distance.

    Parameters
    ----------
    ensemble : Ensemble
        Tracked particles in 2 or 3 dimensions, open or periodic, with or without gaps. In a box a
        particle goes to the nearest image of where it was seen last. Nothing moves from one run to
        another. A displacement counts as much as the snapshot in which it begins weighs, as paths
        are averaged over where they begin; none begins or ends in one of weight 0.
    edges : array_like, shape (bins + 1,)
        Distances, ascending, between which pairs are counted.
    lags : sequence of int, optional
        In snapshots, below the length of the longest run.
    drift : bool, optional
        Whether the mean displacement of all particles is taken off first. That makes independent
        particles seem to move against one another, by the mean square displacement in one direction
        divided by their number.

    Returns
    -------
    TwoPoint
        Both particles of a pair are seen at the beginning and at the end of a lag. Errors come from
        blocks at least as long as the lag; where there are fewer than 6 of them, as with lags above
        a seventh of the only run, errors are NaN and a note says so.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> walks = rng.uniform(0, 9, (1, 30, 3)) + rng.normal(size=(200, 30, 3)).cumsum(axis=0) / 10
    >>> found = two_point(Ensemble.from_array(walks), [0.0, 20.0])
    >>> bool(abs(found.along[0, 0]) < 4 * found.along_error[0, 0])
    True
    """
    bounds = _checked_edges(edges)
    runs = _runs(ensemble)
    _refuse_bad(ensemble, runs, lags)
    positions = np.asarray(ensemble.coordinates(), dtype=np.float64)
    boxes = _boxes(ensemble)
    tracks = _without_jumps(positions, boxes, runs)
    moves = [displacements(runs, int(lag)) for lag in lags]
    shares = np.ones(len(positions)) if ensemble.weights is None else ensemble.weights
    tracks[shares == 0] = np.nan  # which were followed through them, but are not seen in them
    sums = [_sums(positions, tracks, boxes, bounds, move, shares, drift=drift) for move in moves]

    def told(name: str, counts: str) -> tuple[Floats, Floats]:
        means = [mean(each[name], each[counts]) for each in sums]
        errors = [
            standard_error(each[name], each[counts], move.shared)
            for each, move in zip(sums, moves, strict=True)
        ]
        return np.array(means), np.array(errors)

    (along, along_error), (across, across_error) = told("rr", "count"), told("pp", "count")
    msd, msd_error = told("square", "seen")
    distances = np.array([mean(each["r"], each["count"]) for each in sums])
    with np.errstate(invalid="ignore"):
        counted = np.array([each["count"].sum(axis=0) for each in sums])
        n_pairs = np.array([each["pairs"].sum(axis=0) for each in sums])
        mean_distance = np.where(
            counted.sum(axis=0) > 0, np.nansum(distances * counted, axis=0), np.nan
        )
        mean_distance = mean_distance / counted.sum(axis=0)
    return TwoPoint(
        lags=frozen(np.asarray(lags, np.int64)),
        edges=frozen(bounds),
        distances=frozen(mean_distance),
        along=frozen(along),
        along_error=frozen(along_error),
        across=frozen(across),
        across_error=frozen(across_error),
        counts=frozen(n_pairs.astype(np.int64)),
        msd=frozen(msd[:, 0]),
        msd_error=frozen(msd_error[:, 0]),
        n_dimensions=ensemble.n_dimensions,
        notes=(
            *_notes(drift=drift),
            *_missing(lags, np.isnan(msd_error[:, 0]), (counted > 0) & np.isnan(along_error)),
        ),
    )


def _sums(
    positions: Floats,
    tracks: Floats,
    boxes: Boxes,
    edges: Floats,
    move: Displacements,
    shares: Floats,
    *,
    drift: bool,
) -> dict[str, Floats]:
    """Sums over pairs by blocks of snapshots and bins of distance, as their beginnings weigh."""
    n_blocks, n_bins = move.n_blocks, len(edges) - 1
    found = {name: np.zeros((n_blocks, n_bins)) for name in ("rr", "pp", "r", "count", "pairs")}
    found |= {name: np.zeros((n_blocks, 1)) for name in ("square", "seen")}
    for start, end, block in zip(move.begins, move.ends, move.blocks, strict=True):
        seen = np.flatnonzero(np.isfinite(tracks[[start, end]]).all(axis=(0, 2)))
        moved = tracks[end, seen] - tracks[start, seen]
        if drift and len(seen):
            moved = moved - moved.mean(axis=0)
        found["square"][block] += shares[start] * (moved**2).sum()
        found["seen"][block] += shares[start] * len(seen)
        if len(seen) < 2:
            continue
        places = positions[start, seen]
        pairs = pairs_within(places, float(edges[-1]), boxes, start)
        values = _pair_values(places, moved, pairs, boxes, start, edges)
        found["pairs"][block] += values["count"]
        for name, each in values.items():
            found[name][block] += shares[start] * each
    return found


def _pair_values(
    places: Floats, moved: Floats, pairs: Ints, boxes: Boxes, frame: int, edges: Floats
) -> dict[str, Floats]:
    """Sums over the pairs of one snapshot, by bins of distance."""
    vectors = places[pairs[:, 1]] - places[pairs[:, 0]]
    if boxes.matrices.size:
        vectors = _one_frame(boxes, frame).shorten(vectors[None])[0]
    apart = np.linalg.norm(vectors, axis=1)
    bins = np.searchsorted(edges, apart, side="right") - 1
    good = (bins >= 0) & (bins < len(edges) - 1) & (apart > 0)
    vectors, apart, bins, pairs = vectors[good], apart[good], bins[good], pairs[good]
    unit = vectors / apart[:, None]
    one, other = moved[pairs[:, 0]], moved[pairs[:, 1]]
    along = (one * unit).sum(axis=1) * (other * unit).sum(axis=1)
    across = ((one * other).sum(axis=1) - along) / (places.shape[1] - 1)
    n_bins = len(edges) - 1
    values = {"rr": along, "pp": across, "r": apart, "count": np.ones(len(apart))}
    return {
        name: np.bincount(bins, each, n_bins).astype(np.float64) for name, each in values.items()
    }


def _runs(ensemble: Ensemble) -> list[Ints]:
    """Snapshots of each run."""
    if ensemble.runs is None:
        return [np.arange(ensemble.n_snapshots)]
    return [np.flatnonzero(ensemble.runs == run) for run in np.unique(ensemble.runs)]


def _without_jumps(positions: Floats, boxes: Boxes, runs: Sequence[Ints]) -> Floats:
    """Tracks that go on through walls: each step of a run is to the nearest image."""
    tracks = positions.copy()
    if not boxes.matrices.size:
        return tracks
    for own in runs:
        last_seen, last_track = positions[own[0]].copy(), positions[own[0]].copy()
        for frame in own[1:].tolist():
            step = _one_frame(boxes, frame).shorten((positions[frame] - last_seen)[None])[0]
            new = np.isnan(last_seen)
            tracks[frame] = np.where(new, positions[frame], last_track + step)
            seen = np.isfinite(positions[frame])
            last_seen = np.where(seen, positions[frame], last_seen)
            last_track = np.where(seen, tracks[frame], last_track)
    return tracks


def _boxes(ensemble: Ensemble) -> Boxes:
    found = [block.boxes for block in ensemble.blocks()]
    if any(each is None for each in found):
        return Boxes.of(None, ensemble.n_snapshots, ensemble.n_dimensions)
    matrices = np.concatenate([each for each in found if each is not None])
    return Boxes.of(matrices, ensemble.n_snapshots, ensemble.n_dimensions)


def _one_frame(boxes: Boxes, frame: int) -> Boxes:
    return replace(
        boxes,
        matrices=boxes.matrices[frame : frame + 1],
        inverses=boxes.inverses[frame : frame + 1],
    )


def _checked_edges(edges: npt.ArrayLike) -> Floats:
    bounds = numbers(edges, "edges of bins")
    if bounds.ndim != 1 or len(bounds) < 2 or (np.diff(bounds) <= 0).any() or bounds[0] < 0:
        raise ValueError(
            f"edges of bins are 2 or more distances that ascend, got {np.round(bounds, 3).tolist()}"
        )
    return bounds


def _refuse_bad(ensemble: Ensemble, runs: Sequence[Ints], lags: Sequence[int]) -> None:
    if ensemble.n_dimensions not in {2, 3}:
        raise ValueError(
            f"displacements are correlated in 2 or 3 dimensions, got {ensemble.n_dimensions}"
        )
    longest = max(len(own) for own in runs)
    bad = [lag for lag in lags if not 1 <= lag < longest]
    if bad or not len(lags):
        within = " within the longest run" if len(runs) > 1 else ""
        raise ValueError(f"lags go from 1 to {longest - 1} snapshots{within}, got {list(lags)}")


def _notes(*, drift: bool) -> tuple[str, ...]:
    if not drift:
        return ()
    told = "the mean displacement of all particles was taken off: independent ones seem to part"
    return (told,)


def _missing(lags: Sequence[int], of_lags: Bools, of_bins: Bools) -> tuple[str, ...]:
    """Tell where there are no errors."""
    found = []
    if of_lags.any():
        named = ", ".join(str(lag) for lag, none in zip(lags, of_lags, strict=True) if none)
        found.append(
            f"no errors at lag {named}: fewer than {FEWEST} blocks of snapshots are as long, "
            "and shorter ones would tell too small an error"
        )
    sparse = int(of_bins[~of_lags].any(axis=0).sum())
    if sparse:
        found.append(
            f"no errors at {sparse} of {of_bins.shape[1]} distances: "
            f"nearly all of their pairs are seen in fewer than {FEWEST} blocks of snapshots"
        )
    return tuple(found)
