"""Measuring and linking in one step: single linkage over all pairs that never holds all of them.

A graph of candidates is measured and linked first: near neighbours, whose σ is probably low, and a
few random partners that hold all together. Then every pair that could still lower this hierarchy is
looked for (the kernel tells why none is missed) and measured in the ordinary way. Where pairs
cannot be pruned, all are measured chunk by chunk. Of each chunk only the edges stay that join
clusters.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from timme import fluctuations
from timme._arrays import Coordinates, Floats, Ints
from timme._kernels import pruning as kernel
from timme._kernels.boxes import OPEN, TILTED
from timme.contacts import superpose
from timme.engine.checkpoint import DEFAULT, Checkpoint, Progress, Run
from timme.engine.moments import Metric, known_metric, unit_of_distances
from timme.engine.reduction import apart, fingerprint, together
from timme.engine.workers import Engine, Threads, latest
from timme.ensemble import Block, Boxes, Ensemble
from timme.ensemble.frames import Source
from timme.hierarchy.tree import SIGMA, Hierarchy, from_forest, spanning_forest
from timme.objects import Objects
from timme.pairs import Pairs, sorted_pairs, without

if TYPE_CHECKING:
    from distributed import Client

Singles = npt.NDArray[np.float32]
Places = tuple[Coordinates, Floats, Floats, Floats]
"""Places of sites (sites, dimensions, PLACES), sides of the box, weights, and swings of sites."""

_CHUNK_BYTES = 400_000_000  # of what is held of the pairs that are measured at a time
_FEWEST = 512  # objects below which all pairs are measured right away
_NEAREST, _RANDOM = 6, 2  # candidates of each object
_MOST_PASSED = 100  # pairs left out that are passed over on the way to the nearest
_MOST_FRAMES, _SAMPLE = 0.5, 256  # frames until a pair is pruned, pairs that estimate it
_TASKS = 16  # of each worker, into which bands are put together
_LISTED = 500_000  # pairs that may matter, of which σ is held at a time
_HELD_BYTES = 100_000_000  # of the frames in which pairs are pruned
_RUN = 256  # sites that a thread lays out at a time
_SUPERPOSED = 100  # sites by which frames are superposed
_APART = [0, 7, 3, 5, 1, 6, 2, 4]  # stretches, those first that are far from one another
_FAINT = 1e-6  # weight of a stretch, of the largest, that adds next to nothing
_SQUARES = 2.0**-50  # rounding of a mean square, of the largest, by each frame in the sum
_GOLDEN = 0.6180339887498949  # by whose multiples, modulo 1, numbers of frames are ordered
_MARGIN = 1 + 2e-3  # above the rounding of σ²: see the kernel
_UNIT = 2.0**-24  # by which a step in single precision rounds, at most
_LEAST = float(np.finfo(np.float32).tiny)


class _CannotPruneError(Exception):
    """Why all pairs are measured to the end."""


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """What every band of sites needs to find the pairs that may matter, as the kernel takes it."""

    places: tuple[Singles, ...]
    frames: tuple[Singles, ...]
    roots: Singles  # (sites - 1,)


@dataclass(slots=True, eq=False)
class Forest:
    """The lowest edges found so far that hold every cluster together."""

    objects: Objects
    overlap: int
    metric: Metric | None
    edges: Ints = field(default_factory=lambda: np.empty((0, 2), np.int64))  # lower object first
    heights: Floats = field(default_factory=lambda: np.empty(0))
    n_compared: int = 0  # pairs that share enough snapshots
    n_near: int = 0  # of these, pairs that come near half the box

    def add(self, index: Ints, run: Run) -> fluctuations.Fluctuations:
        """Measure listed pairs (pairs, 2), and keep those that join clusters."""
        found = fluctuations.measure_listed(self.objects, index, self.overlap, self.metric, run)
        edges, heights = spanning_forest(len(self.objects), found.pairs, found.sigma)
        edges, heights = np.concatenate([self.edges, edges]), np.append(self.heights, heights)
        self.edges, self.heights = spanning_forest(len(self.objects), edges, heights)
        self.n_compared += len(found.sigma)
        self.n_near += found.n_near_half_box
        return found

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return all that it takes to go on."""
        counts = np.array([self.n_compared, self.n_near])
        return {"edges": self.edges, "heights": self.heights, "counts": counts}

    def restore(self, kept: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on where a loop was interrupted."""
        if kept:
            self.edges, self.heights = kept["edges"], kept["heights"]
            self.n_compared, self.n_near = kept["counts"].tolist()

    def hierarchy(self) -> Hierarchy:
        """Return the clusters that the edges hold together."""
        unit = unit_of_distances(self.metric, self.objects.ensemble.unit)
        quantity = replace(SIGMA, unit=unit)
        return from_forest(len(self.objects), self.edges, self.heights, quantity=quantity)


def cluster(  # noqa: PLR0913, as for measure
    objects: Objects,
    pairs: Pairs,
    *,
    chunk: int | None = None,
    min_overlap: fluctuations.Overlap = None,
    metric: Metric | None = None,
    workers: int | None = None,
    client: Client | str | None = None,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Hierarchy:
    """Measure and link in one step; σ of all pairs is never held.

    Parameters
    ----------
    objects, pairs, chunk, min_overlap, metric, workers, client, progress, checkpoint
        As for :func:`timme.measure`.

    Returns
    -------
    Hierarchy
        The same as ``link(measure(objects, pairs))``.

    Examples
    --------
    >>> from timme import objects, pairs, synthetic
    >>> points = objects.points(synthetic.planted().ensemble)
    >>> cluster(points, pairs.all(points)).cut(0.2).sizes
    array([10, 10, 10, 10, 10, 10, 10, 10, 10])
    """
    run = Run.of(workers, client, progress, checkpoint)
    options: Any = {"chunk": chunk, "min_overlap": min_overlap, "metric": metric}
    return find_forest(objects, pairs, run=run, **options).hierarchy()


def find_forest(
    objects: Objects,
    pairs: Pairs,
    *,
    chunk: int | None = None,
    min_overlap: fluctuations.Overlap = None,
    metric: Metric | None = None,
    run: Run = DEFAULT,
) -> Forest:
    """Return the pairs that join clusters, with their σ, and how many were compared.

    Parameters
    ----------
    objects, pairs, chunk, min_overlap, metric
        As for :func:`timme.measure`.
    run : Run, optional
        How it is carried out.

    Returns
    -------
    Forest
        Of single linkage.
    """
    fluctuations.check_pairs(objects, pairs, "cluster")
    overlap = fluctuations.choose_overlap(objects, min_overlap)
    known = known_metric(metric, objects.ensemble)
    size = fluctuations.chunk_for(objects, _CHUNK_BYTES) if chunk is None else chunk
    forest, pruned = Forest(objects, overlap, known), False
    if pairs.index is None and len(objects) >= _FEWEST and objects.are_points:
        try:
            pruned = _add_what_matters(forest, pairs, size, run)
        except _CannotPruneError as reason:
            text = f"all {len(pairs):,} pairs are measured, which takes long, since {reason}"
            warnings.warn(text, stacklevel=3)
    if not pruned:
        forest = Forest(objects, overlap, known)
        _add_all(forest, fluctuations.keep_sharing(objects, pairs, overlap), size, run)
        if len(pairs) > 0 and forest.n_compared == 0:
            fluctuations.refuse_unmeasured(objects, pairs, overlap)
    fluctuations.warn_near_half_box(forest.n_near, forest.n_compared)
    if pruned:
        forest.n_compared = len(pairs)  # those that were not measured change nothing
    return forest


def _add_all(forest: Forest, pairs: Pairs, chunk: int, run: Run) -> None:
    """Measure all pairs, chunk by chunk."""
    key = forest.objects, forest.overlap, forest.metric, pairs
    with run.loop("chunks", lambda: fingerprint(*key), len(pairs)) as loop:
        forest.restore(loop.kept)
        done = 0
        for index in pairs.chunks(chunk):
            before, done = done, done + len(index)
            if done > loop.done:
                forest.add(index, run.within(before, len(index), len(pairs)))
                loop.advance(done, forest.state)


def _add_what_matters(forest: Forest, pairs: Pairs, chunk: int, run: Run) -> bool:
    """Measure candidates, and then the pairs that may change their hierarchy, if that pays."""
    if forest.metric is not None:
        raise _CannotPruneError("the distance is not Euclidean")
    if forest.objects.ensemble.gaps:
        raise _CannotPruneError("some sites are not seen in every snapshot")
    centres, n_objects, quiet = forest.objects.centres(), len(forest.objects), Run(run.engine)
    _usable_boxes(centres, centres.block(0))
    candidates = _candidates(centres.snapshot(0)[0], pairs.left_out, run.engine.threads_here)
    candidates = without(candidates, pairs.left_out, n_objects)
    measured = forest.add(candidates, quiet)
    tree = forest.hierarchy()
    if _share_of_frames(tree, measured) > _MOST_FRAMES:
        return False
    del measured
    n_bands, none = -(-n_objects // kernel.LANES), np.empty((0, 2), np.int32)
    passed = np.minimum((np.arange(n_bands) + 1) * kernel.LANES, n_objects)
    seen = passed * (2 * n_objects - passed - 1) // 2  # pairs; later bands have fewer partners

    def add_found() -> None:
        listed = np.concatenate(found)
        found[:] = [none]
        for part in np.array_split(listed, len(listed) // _LISTED + 1):
            index = without(sorted_pairs(tree.order[part], n_objects), candidates, n_objects)
            forest.add(without(index, pairs.left_out, n_objects), quiet)

    def state() -> dict[str, npt.NDArray[Any]]:
        return forest.state() | {"found": np.concatenate(found)}

    key = forest.objects, pairs, tree.order, tree.gaps
    with run.loop("bands", lambda: fingerprint(*key), int(seen[-1])) as loop:
        forest.restore(loop.kept)
        found = [loop.kept.get("found", none)]
        left = np.flatnonzero(seen > loop.done)
        runs = np.array_split(left, max(1, min(len(left), _TASKS * run.engine.count)))
        with closing(_find_in_bands(centres, tree, run.engine, runs)) as results:
            for bands, survivors in zip(runs, results, strict=True):
                found.append(survivors)
                if sum(map(len, found)) >= chunk:
                    add_found()
                loop.advance(int(seen[bands].max(initial=loop.done)), state)
        del results  # there is room for the block that is measured
        add_found()
    return True


def _candidates(points: Coordinates, left_out: Ints, threads: int) -> Ints:
    """Pairs of near neighbours, whose σ is probably low, and random ones that hold all together.

    Bonded neighbours, which often are left out, are nearest of all; without any other near partner,
    bounds would be too high to prune a pair.
    """
    n_points, most = len(points), int(np.bincount(left_out.ravel(), minlength=1).max())
    count = min(n_points, 1 + _NEAREST + min(most, _MOST_PASSED))
    near = np.asarray(cKDTree(points).query(points, k=count, workers=threads)[1])
    far = np.random.default_rng(0).integers(0, n_points, (n_points, _RANDOM))
    index = np.empty((n_points, count + _RANDOM, 2), np.int64)
    index[..., 0], index[..., 1] = np.arange(n_points)[:, None], np.column_stack([near, far])
    return sorted_pairs(index.reshape(-1, 2), n_points)


def _share_of_frames(tree: Hierarchy, measured: fluctuations.Fluctuations) -> float:
    """Judge what share of its frames a pair is compared in until it is pruned, on average.

    Squared deviations add up with the frames, so those of a pair pass its bound, σ² of the highest
    gap between its sites, after about the share that this is of its own. Of the candidates, those
    far apart in leaf order are like most pairs.
    """
    places = np.argsort(tree.order)[measured.pairs]
    far = np.flatnonzero(np.abs(places[:, 0] - places[:, 1]) > len(tree.order) // 8)
    far = far[:: max(1, len(far) // _SAMPLE)]
    bounds, sigma = tree.heights_between(*measured.pairs[far].T), measured.sigma[far]
    shares = np.ones(len(far))
    np.divide(bounds, sigma, out=shares, where=bounds < sigma)
    return float(np.mean(shares**2)) if len(far) else 0.0


def _usable_boxes(centres: Ensemble, block: Block) -> Boxes:
    """Boxes of a block, if they are such that pairs can be pruned in them."""
    boxes = Boxes.of(block.boxes, len(block.weights), centres.n_dimensions, centres.images)
    if boxes.kind == TILTED:
        raise _CannotPruneError("the box is tilted")
    if boxes.kind != OPEN and (len(boxes.molecules) or len(boxes.origin)):
        raise _CannotPruneError("molecules are whole in the box")
    return boxes


def _lay_out(source: Source, bare: Ensemble, tree: Hierarchy, threads: Threads) -> _Search:
    """Lay out places and frames of sites in leaf order.

    Places are means over stretches of superposed frames, or in a box, the first of the frames.
    """
    centres = together(source, bare)
    n_frames, n_sites, n_dimensions = centres.frames.shape
    weights = np.ones(n_frames) if centres.weights is None else centres.weights
    # By the golden section, so that the first few frames of any number are spread over all.
    chosen = np.argsort(np.arange(n_frames) * _GOLDEN % 1)
    affordable = _HELD_BYTES // (4 * n_sites * n_dimensions * kernel.AT_ONCE)
    chosen = chosen[: min(kernel.MOST_FRAMES, max(1, affordable) * kernel.AT_ONCE)]
    width = len(chosen) + -len(chosen) % kernel.AT_ONCE  # frames without weight fill it up
    held, held_weights = np.zeros((n_sites, n_dimensions, width), np.float32), np.zeros(width)
    held_weights[: len(chosen)] = weights[chosen]
    places, held_sides = np.full(n_frames, -1), np.ones((n_dimensions, width))
    places[chosen] = np.arange(len(chosen))
    stretches = np.arange(n_frames) * kernel.PLACES // n_frames
    sums = np.zeros((n_sites, n_dimensions, kernel.PLACES))
    squares, largest = np.zeros((n_sites, kernel.PLACES)), np.zeros(n_sites)
    runs = [(tree.order, k, min(k + _RUN, n_sites)) for k in range(0, n_sites, _RUN)]
    some, reference, scale = np.random.default_rng(0).integers(0, n_sites, _SUPERPOSED), None, 1.0
    for block in centres.blocks():
        sides = np.einsum("fdd->fd", _usable_boxes(centres, block).matrices)
        sample = block.coordinates[:, some].astype(np.float64)
        shifts, turns = superpose(sample, reference)
        if reference is None:
            reference, extent = sample[0], max(np.abs(sample[0] - shifts[0]).max(), sides.max())
            scale = math.ldexp(1.0, min(-math.frexp(extent)[1], 1000))
        inside = slice(block.start, block.start + len(sides))
        here = np.flatnonzero(places[inside] >= 0)
        held_sides[:, places[inside][here]] = sides[here].T * scale
        by_frame = np.where(sides > 0, 0.0, shifts), sides, turns
        axes = tuple(np.ascontiguousarray(np.moveaxis(each, 0, -1)) for each in by_frame)
        bounds = np.searchsorted(stretches[inside], np.arange(kernel.PLACES + 1))
        frames = weights[inside], bounds, here, places[inside][here]
        given = block.coordinates, scale, axes, frames, held, sums, squares, largest
        for _ in threads.map(lambda given, run: kernel.lay_out(run, *given), given, runs):
            pass
    closed = held_sides[:, : len(chosen)] > 0
    if not closed[closed.any(axis=1)].all():
        raise _CannotPruneError("the box is open in some snapshots")
    largest = np.sqrt(largest)
    if closed.any():
        first = slice(kernel.PLACES)
        tiled = held[..., first], held_sides[:, first].T, held_weights[first], np.zeros(n_sites)
    else:
        totals = np.bincount(stretches, weights, kernel.PLACES).astype(np.float64)
        tiled = _means(sums, squares, totals, 3 * n_frames * _SQUARES * largest**2)
    errors = (9 + n_dimensions) * _UNIT * largest + math.sqrt(n_dimensions * _LEAST)
    with np.errstate(over="ignore"):
        (roots,) = _singles(tree.gaps * scale * math.sqrt(weights.sum() * _MARGIN))
    roots = np.where(tree.gaps > 0, np.maximum(roots, np.float32(_LEAST)), np.float32(0.0))
    laid_out = _singles(held, held_sides, held_weights, errors)
    return _Search(_in_tiles(tiled, errors), laid_out, roots)


def _means(sums: Floats, squares: Floats, weights: Floats, rounding: Floats) -> Places:
    """Mean places in stretches, sides of no box, weights of the stretches, and swings of sites.

    For a stretch without weight that of another stands. ``rounding`` is that of mean squares.
    """
    counts = weights > _FAINT * weights.max()
    source = np.where(counts, np.arange(kernel.PLACES), counts.argmax())[_APART]
    means = sums[..., source] / weights[source]
    spread = squares[:, source] / weights[source] - (means**2).sum(axis=1)
    swings = (spread.max(axis=1) + rounding) / 2 * (1 + 1e-5)
    sides = np.zeros((kernel.PLACES, means.shape[1]))
    return means, sides, np.where(counts, weights, 0.0)[_APART], swings


def _in_tiles(laid_out: Places, errors: Floats) -> tuple[Singles, ...]:
    """Put sites side by side, the last of them again where a tile is not full."""
    places, sides, weights, swings = laid_out
    n_tiles = -(-len(places) // kernel.LANES)
    sites = np.minimum(np.arange(n_tiles * kernel.LANES), len(places) - 1).reshape(n_tiles, -1)
    tiles = places[sites].transpose(0, 3, 2, 1)
    return _singles(tiles, sides, weights, swings[sites], errors[sites])


def _singles(*arrays: npt.NDArray[Any]) -> tuple[Singles, ...]:
    return tuple(np.ascontiguousarray(array, dtype=np.float32) for array in arrays)


def _find_in_bands(
    centres: Ensemble, tree: Hierarchy, engine: Engine, runs: list[Ints]
) -> Generator[npt.NDArray[np.int32]]:
    """Find the pairs that may matter in runs of bands; workers of a cluster lay them out.

    They have the snapshots already, or read them faster than all that is laid out can be sent.
    """
    given = *apart(centres), tree
    if isinstance(engine, Threads):
        return engine.map(_find_survivors, _lay_out(*given, engine), runs)
    return engine.map(_find_in_worker, given, runs)


def _find_in_worker(
    shared: tuple[Source, Ensemble, Hierarchy], bands: Ints
) -> npt.NDArray[np.int32]:
    return _find_survivors(latest(_lay_out, *shared, Threads(1)), bands)


def _find_survivors(search: _Search, bands: Ints) -> npt.NDArray[np.int32]:
    """Pairs of places in leaf order, of some bands with these and later ones, that may matter."""
    found, n_tiles = [np.empty((0, 2), np.int32)], len(search.places[0])
    room = np.empty((4 * kernel.LANES**2, 2), np.int32)
    for band in bands.tolist():
        tile, running = band, np.zeros(kernel.LANES, np.float32)
        while tile < n_tiles:
            shared = search.places, search.frames, search.roots
            count, tile = kernel.survivors(*shared, band, tile, running, room)
            found.append(room[:count].copy())
    return np.concatenate(found)
