"""Measure and link in one step: exact single linkage over all pairs without all the work.

The sum of squared deviations over some frames never exceeds that over all. So a pair can be given
up as soon as its sum over a few frames passes the bound at which it could still matter: link a
cheap graph of candidates first; in its leaf order, two sites are joined at the highest gap between
them, and only a pair with a lower σ can change the hierarchy. What is not given up is measured in
the ordinary way, so that the answer equals that of all pairs bit for bit.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints
from timme._kernels import allpairs as kernel
from timme._kernels.space import OPEN, STRAIGHT
from timme.engine.checkpoint import Checkpoint, digest
from timme.engine.moments import Metric, Progress
from timme.engine.run import Engine, Run
from timme.engine.threads import Threads
from timme.fluctuations import Fluctuations
from timme.fluctuations.measuring import measure_in_chunks, require_snapshots, warn_near_half_box
from timme.hierarchy.forest import spanning_forest
from timme.hierarchy.tree import Hierarchy, from_forest
from timme.objects import Objects
from timme.pairs import Pairs, given
from timme.pairs.lists import lower_first, without
from timme.pairs.nearest import tree_in_box
from timme.system.ensemble import Ensemble
from timme.system.space import Boxes

CHUNK = 4_000_000  # pairs of sites whose σ are held at a time
_FEWEST = 512  # objects below which all pairs are measured right away
_NEAREST, _RANDOM = 6, 4
CANDIDATES = _NEAREST + _RANDOM  # of each object
SEARCH_BYTES = 400_000_000  # coordinates in which pairs are given up
LEAST_FRAMES = 32  # of them, however many sites there are
_MOST_FOUND = 0.5  # of the pairs looked at, above which it takes less to measure all
_FEWEST_LOOKED_AT = 0.05  # of the pairs, before it is judged whether it pays
_GROUP_FRAMES = 64  # of groups, whose sums have no stages
_BAND_SITES = 8 * kernel.LANES  # of groups in a band: as many squared sums are held by each thread
_SMALL = 1e-12  # coordinates whose squares would be lost in single precision
_FAINT = 1e-25  # weights, of the largest, that would
_MARGIN = 1 + 1e-4  # far above the rounding of σ, far below any difference that counts


def cluster(  # noqa: PLR0913, as for measure
    objects: Objects,
    pairs: Pairs,
    *,
    chunk: int | None = None,
    min_overlap: int | None = None,
    metric: Metric | None = None,
    workers: int | Engine | None = None,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Hierarchy:
    """Measure and link in one step; for all pairs, the matrix of σ is never held.

    Parameters
    ----------
    objects, pairs
        As for :func:`timme.measure`.
    chunk : int, optional
        Pairs whose σ are held at a time, about.
    min_overlap, metric, workers, progress, checkpoint
        As for :func:`timme.measure`.

    Returns
    -------
    Hierarchy
        The same as ``link(measure(objects, pairs))``.

    Examples
    --------
    >>> import timme
    >>> objects = timme.objects.points(timme.synthetic.planted().ensemble)
    >>> timme.cluster(objects, timme.pairs.all(objects)).cut(0.2).sizes
    array([10, 10, 10, 10, 10, 10, 10, 10, 10])
    """
    require_snapshots(objects.ensemble)
    run = Run.of(workers=workers, progress=progress, checkpoint=checkpoint)
    unwatched = Run(run.engine)
    forest = _Forest(
        objects, chunk=chunk or _default_chunk(objects), min_overlap=min_overlap, metric=metric
    )
    if pairs.index is None and len(objects) >= _FEWEST:
        try:
            _refuse_what_cannot_be_pruned(objects, metric)
            candidates = _candidates(objects, pairs.left_out, run)
            forest.add(given(objects, candidates), unwatched)
            done = np.concatenate([pairs.left_out, candidates])
            found = _fold_survivors(objects, forest, done, run)
        except _CannotBePrunedError as reason:
            forest.clear()
            warnings.warn(
                f"all {len(pairs):,} pairs are measured to the end, which takes long, "
                f"since {reason}",
                stacklevel=2,
            )
        else:
            pairs = found
            run = replace(run, progress=None)  # the rest is quick
    forest.add(pairs, run)
    warn_near_half_box(forest.n_near, forest.n_measured)
    return forest.hierarchy()


class _CannotBePrunedError(Exception):
    """Why all pairs are measured to the end."""


class _Forest:
    """The lowest edges found so far that hold every cluster together."""

    def __init__(self, objects: Objects, *, chunk: int, **options: Any) -> None:
        self.chunk = chunk
        self._objects = objects
        self._options = options
        self.clear()

    def clear(self) -> None:
        self._edges, self._heights = np.empty((0, 2), np.int64), np.empty(0)
        self.n_near = self.n_measured = 0  # pairs near half the box, of those that were measured

    @property
    def state(self) -> dict[str, Any]:
        """All that there is to save."""
        counts = [self.n_near, self.n_measured]
        return {"edges": self._edges, "heights": self._heights, "counts": counts}

    def restore(self, kept: Mapping[str, Any]) -> None:
        """Go on from what was saved."""
        self._edges, self._heights = kept["edges"], kept["heights"]
        self.n_near, self.n_measured = kept["counts"].tolist()

    def add(self, pairs: Pairs, run: Run) -> None:
        """Measure pairs piece by piece; of each piece, only those that join clusters stay."""
        for part in measure_in_chunks(
            self._objects,
            pairs,
            run=run,
            so_far=self._edges_so_far,
            near=self._count_near,
            chunk=self.chunk,
            **self._options,
        ):
            self._edges, self._heights = spanning_forest(
                len(self._objects),
                np.concatenate([self._edges, part.pairs]),
                np.concatenate([self._heights, part.sigma]),
            )

    def _count_near(self, n_near: int, n_pairs: int) -> None:
        self.n_near += n_near
        self.n_measured += n_pairs

    def _edges_so_far(self) -> Fluctuations:
        common = np.zeros(len(self._edges), np.int64)  # nobody asks for it
        return Fluctuations(len(self._objects), self._edges, self._heights, common)

    def hierarchy(self) -> Hierarchy:
        unit = self._objects.ensemble.unit
        return from_forest(len(self._objects), self._edges, self._heights, unit=unit)


def _refuse_what_cannot_be_pruned(objects: Objects, metric: Metric | None) -> None:
    if metric is not None:
        raise _CannotBePrunedError("the distance is the user's own")
    if len(objects.rigid):
        raise _CannotBePrunedError("some pairs of sites count as rigid")
    if objects.ensemble.gaps:
        raise _CannotBePrunedError("some sites are not seen in every snapshot")
    _, box = objects.ensemble.snapshot(0)
    _refuse_tilted(None if box is None else box[None], 1, objects.ensemble.n_dimensions)


def _refuse_tilted(boxes: Floats | None, n_frames: int, n_dimensions: int) -> None:
    if Boxes.of(boxes, n_frames, n_dimensions).kind not in {OPEN, STRAIGHT}:
        raise _CannotBePrunedError("the box is tilted")


def _default_chunk(objects: Objects) -> int:
    """Return how many pairs of objects consist of not too many pairs of sites."""
    per_object = 1.0 if objects.are_points else len(objects.members) / len(objects)
    return max(1, int(CHUNK / per_object**2))


def _candidates(objects: Objects, left_out: Ints, run: Run) -> Ints:
    """Pairs that are likely to be low, and enough others to hold all together."""
    points, box = objects.centres().snapshot(0)
    n_points, n_dimensions = points.shape
    boxes = Boxes.of(None if box is None else box[None], 1, n_dimensions)
    places, tree = tree_in_box(points, boxes)
    threads = (run.engine.count or -1) if isinstance(run.engine, Threads) else -1
    near = np.asarray(tree.query(places, k=_NEAREST + 1, workers=threads)[1])[:, 1:]
    far = np.random.default_rng(0).integers(0, n_points, (n_points, _RANDOM))
    others = np.concatenate([near, far], axis=1)
    index = np.column_stack([np.repeat(np.arange(n_points), others.shape[1]), others.ravel()])
    # A tree of fewer points names one that is not there.
    index = index[(index[:, 0] != index[:, 1]) & (index[:, 1] < n_points)]
    return without(lower_first(index), left_out, n_points)


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """What every band of objects needs to find the pairs that may matter."""

    tiles: npt.NDArray[np.float32]  # (tiles, frames, dimensions, lanes)
    lengths: npt.NDArray[np.float32]  # (frames, dimensions), of the box; 0 where it is open
    weights: npt.NDArray[np.float32]  # (frames,)
    bounds: npt.NDArray[np.float32]  # (objects - 1,), on sums of squared deviations
    slacks: npt.NDArray[np.float32]  # (tiles, lanes), share of a site in the error of a distance
    starts: Ints  # (bands + 1,), first object of each band, in leaf order
    groups: _Groups | None  # None for points, which are the sites of the tiles in leaf order

    @property
    def n_bands(self) -> int:
        return len(self.starts) - 1


@dataclass(frozen=True, slots=True, eq=False)
class _Groups:
    """Groups in leaf order, a band of them to some tiles of sites."""

    starts: Ints  # (bands + 1,), first group of each band
    begin: Ints  # (bands + 1,), first tile of each band
    offsets: Ints  # (groups + 1,)
    members: Ints  # members of each group, numbered within the tiles of its band
    largest: bool  # reduced to the largest of cross pairs, not to their mean


def _fold_survivors(objects: Objects, forest: _Forest, done: Ints, run: Run) -> Pairs:
    """Find pairs that may change the hierarchy of the candidates, and measure all but the last.

    ``done`` are pairs that need not be looked at. Whenever a chunk of others is found, it is
    measured and what joins clusters is kept, so that no more of them are held at a time.
    """
    tree = forest.hierarchy()
    if objects.are_points:
        search = _prepared(objects.centres(), tree, tree.order, None)
    else:
        search = _prepared(objects.ensemble, tree, *_in_bands(objects, tree.order))
    n_objects = len(tree.order)
    n_pairs = n_objects * (n_objects - 1) // 2
    loop = run.loop("bands", lambda: digest(tree.parents, tree.heights), total=n_pairs)
    first, n_found, found = 0, 0, [np.empty((0, 2), np.int64)]
    if loop.kept is not None:
        first, n_found = int(loop.kept["band"]), int(loop.kept["n_found"])
        found = [loop.kept["found"]]
        forest.restore(loop.kept)

    def listed() -> Pairs:
        index = lower_first(tree.order[np.concatenate(found)])
        return given(objects, without(index, done, len(objects)))

    def state() -> dict[str, Any]:
        found[:] = [np.concatenate(found)]
        return forest.state | {"band": band, "n_found": n_found, "found": found[0]}

    results = run.engine.map(_band_survivors, search, range(first, search.n_bands))
    with closing(results), loop:
        for band, pairs in enumerate(results, start=first + 1):
            found.append(pairs)
            n_found += len(pairs)
            if sum(map(len, found)) >= forest.chunk:
                forest.add(listed(), Run(run.engine))
                found = [pairs[:0]]
            passed = int(search.starts[band])
            # Later bands have fewer partners.
            looked_at = passed * (2 * n_objects - passed - 1) // 2
            if looked_at > _FEWEST_LOOKED_AT * n_pairs and n_found > _MOST_FOUND * looked_at:
                raise _CannotBePrunedError("more than half of those looked at may matter")
            loop.advance(looked_at, state)
    return listed()


def _band_survivors(search: _Search, band: int) -> Ints:
    tiles = search.tiles
    totals = np.cumsum(search.weights, dtype=np.float32)
    groups = search.groups
    room = 1 << 14
    while True:
        found = np.empty((room, 2), np.int64)
        if groups is None:
            total = kernel.survivors(
                tiles,
                search.lengths,
                search.weights,
                totals,
                search.bounds,
                search.slacks,
                search.starts[-1],
                band,
                found,
            )
        else:
            total = kernel.group_survivors(
                tiles,
                search.starts,
                groups.begin,
                search.lengths,
                search.weights,
                search.bounds,
                search.slacks,
                groups.offsets,
                groups.members,
                groups.largest,
                band,
                found,
            )
        if total <= room:
            return found[:total].copy()
        room = total


def _in_bands(objects: Objects, order: Ints) -> tuple[Ints, _Groups]:
    """Lay the sites of groups out in tiles, those of a band of groups together, each site once."""
    sizes = np.diff(objects.offsets)[order]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    members, sites, starts, begin = [], [], [0], [0]
    steps = range(0, len(order), kernel.LANES)
    waiting = [(start, min(start + kernel.LANES, len(order))) for start in reversed(steps)]
    while waiting:
        start, stop = waiting.pop()
        band = [objects.sites(k) for k in order[start:stop].tolist()]
        unique, local = np.unique(np.concatenate(band), return_inverse=True)
        if len(unique) > _BAND_SITES and stop - start > 1:
            middle = (start + stop) // 2
            waiting += [(middle, stop), (start, middle)]
            continue
        n_tiles = -(-len(unique) // kernel.LANES)
        members.append(local)
        sites.append(np.pad(unique, (0, n_tiles * kernel.LANES - len(unique)), mode="edge"))
        starts.append(stop)
        begin.append(begin[-1] + n_tiles)
    largest = objects.reduction == "max"
    bands = np.array(starts), np.array(begin)
    return np.concatenate(sites), _Groups(*bands, offsets, np.concatenate(members), largest)


def _prepared(ensemble: Ensemble, tree: Hierarchy, sites: Ints, groups: _Groups | None) -> _Search:
    """Lay out the frames in which pairs are given up: sites side by side, spread frames first."""
    n_frames, _, n_dimensions = ensemble.frames.shape
    n_tiles = -(-len(sites) // kernel.LANES)
    n_lanes = n_tiles * kernel.LANES
    affordable = SEARCH_BYTES // (4 * n_lanes * n_dimensions)
    held = min(kernel.MOST_FRAMES, max(LEAST_FRAMES, affordable))
    chosen = _spread(n_frames)[: held if groups is None else min(held, _GROUP_FRAMES)]
    place = np.full(n_frames, -1)
    place[chosen] = np.arange(len(chosen))
    tiles = np.empty((n_tiles, len(chosen), n_dimensions, kernel.LANES), np.float32)
    lengths = np.zeros((len(chosen), n_dimensions), np.float32)
    weights = np.empty(len(chosen))
    padded = np.pad(sites, (0, n_lanes - len(sites)), mode="edge")
    largest, total = np.zeros((n_tiles, kernel.LANES)), 0.0
    for block in ensemble.blocks():
        total += float(block.weights.sum())
        _refuse_tilted(block.boxes, len(block.weights), n_dimensions)
        for frame in np.flatnonzero(place[block.start : block.start + len(block.weights)] >= 0):
            rank = place[block.start + frame]
            sides = np.zeros(n_dimensions)
            if block.boxes is not None:
                sides = np.diag(block.boxes[frame]).copy()
            lengths[rank] = sides
            weights[rank] = block.weights[frame]
            points = np.array(block.coordinates[frame])
            kernel.lay_out(points, padded, sides, rank, tiles, largest)
    if 0.0 < largest.max() < _SMALL:
        raise _CannotBePrunedError("coordinates are too small for single precision")
    heaviest = weights.max() or 1.0
    weights = np.where(weights < _FAINT * heaviest, 0.0, weights / heaviest)
    with np.errstate(over="ignore"):
        bounds = (tree.gaps**2 * (total / heaviest) * _MARGIN).astype(np.float32)
    bounds = np.where(tree.gaps > 0, np.maximum(bounds, np.finfo(np.float32).tiny), np.float32(0.0))
    # Each coordinate is rounded, each difference and square root again: a few units of 2⁻²⁴; and
    # squares of less than the square root of the smallest number are lost.
    slacks = np.sqrt(n_dimensions) * (4e-7 * largest + np.sqrt(np.finfo(np.float32).tiny))
    starts = np.minimum(np.arange(n_tiles + 1) * kernel.LANES, len(sites))
    return _Search(
        tiles,
        lengths,
        weights.astype(np.float32),
        bounds,
        slacks.astype(np.float32),
        starts if groups is None else groups.starts,
        groups,
    )


def _spread(n_frames: int) -> Ints:
    """Order frames so that the first few are far apart, and sums over them grow quickly."""
    bits = max(1, int(n_frames - 1).bit_length())
    numbers = np.arange(1 << bits)
    mirrored = np.zeros_like(numbers)
    for bit in range(bits):
        mirrored |= ((numbers >> bit) & 1) << (bits - 1 - bit)
    spread: Ints = mirrored[mirrored < n_frames]
    return spread
