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
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from timme_next._arrays import Floats, Ints
from timme_next._kernels import pruning as kernel
from timme_next._kernels.boxes import OPEN, TILTED
from timme_next.contacts import superpose
from timme_next.engine.checkpoint import DEFAULT, Checkpoint, Loop, Progress, Run
from timme_next.engine.metrics import Metric, known_metric, unit_of_distances
from timme_next.engine.reduction import fingerprint
from timme_next.ensemble import Block, Boxes, Ensemble
from timme_next.fluctuations import (
    Fluctuations,
    Overlap,
    check_pairs,
    choose_overlap,
    chunk_for,
    keep_sharing,
    measure_listed,
    refuse_unmeasured,
    warn_near_half_box,
)
from timme_next.hierarchy.quantity import sigma_by
from timme_next.hierarchy.tree import Hierarchy, from_forest, spanning_forest
from timme_next.objects import Objects
from timme_next.pairs import Pairs, without

if TYPE_CHECKING:
    from distributed import Client

Singles = npt.NDArray[np.float32]

_CHUNK_BYTES = 400_000_000  # of what is held of the pairs that are measured at a time
_FEWEST = 512  # objects below which all pairs are measured right away
_NEAREST, _RANDOM = 6, 2  # candidates of each object
_MOST_PASSED = 100  # pairs left out that are passed over on the way to the nearest
_MOST_FRAMES = 0.5  # of a pair until it is pruned, on average: more do not pay
_SAMPLE = 256  # pairs by which it is judged
_MOST_FOUND, _FEWEST_SEEN = 0.5, 0.05  # pairs that survive, of at least so many: more do not pay
_HELD_BYTES, _LEAST_FRAMES = 400_000_000, 32  # in which pairs are pruned
_SITES = 128  # laid out at a time, whose frames stay in the cache
_SUPERPOSED = 100  # sites by which frames are superposed, about
_APART = [0, 7, 3, 5, 1, 6, 2, 4]  # stretches, those first that are far from one another
_FAINT = 1e-6  # weight of a stretch, of the largest, that adds next to nothing
_SQUARES = 2.0**-50  # rounding of a mean square, of the largest, by each frame in the sum
_MARGIN = 1 + 2e-3  # above the rounding of σ²: see the kernel
_UNIT = 2.0**-24  # by which a step in single precision rounds, at most
_LEAST = float(np.finfo(np.float32).tiny)


class _CannotPruneError(Exception):
    """Why all pairs are measured to the end."""


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """What every band of sites needs to find the pairs that may matter; see the kernel."""

    places: tuple[Singles, ...]
    frames: tuple[Singles, ...]
    roots: Singles  # (sites - 1,)


@dataclass(slots=True, eq=False)
class Forest:
    """The lowest edges found so far that hold every cluster together."""

    objects: Objects
    chunk: int  # pairs that are measured at a time
    overlap: int
    metric: Metric | None
    edges: Ints = field(default_factory=lambda: np.empty((0, 2), np.int64))  # lower object first
    heights: Floats = field(default_factory=lambda: np.empty(0))
    n_compared: int = 0  # pairs that share enough snapshots
    n_near: int = 0  # of these, pairs that come near half the box

    def add(self, pairs: Pairs, run: Run) -> Fluctuations:
        """Measure a list of pairs, and keep those that join clusters."""
        (index,) = pairs.chunks(max(1, len(pairs)))
        found = measure_listed(self.objects, index, self.overlap, self.metric, run)
        edges = np.concatenate([self.edges, found.pairs])
        heights = np.concatenate([self.heights, found.sigma])
        self.edges, self.heights = spanning_forest(len(self.objects), edges, heights)
        self.n_compared += len(found.sigma)
        self.n_near += found.n_near_half_box
        return found

    def add_all(self, pairs: Pairs, run: Run) -> None:
        """Measure all pairs chunk by chunk."""
        inner = run if len(pairs) <= self.chunk else replace(run, progress=None)
        with run.loop("chunks", lambda: self.key(pairs), len(pairs)) as loop:
            self.restore(loop)
            done = 0
            for index in pairs.chunks(self.chunk):
                done += len(index)
                if done > loop.done:
                    self.add(replace(pairs, index=index, left_out=index[:0]), inner)
                    loop.advance(done, self.state)

    def key(self, *choices: object) -> str:
        """Return a text that differs for other objects, options and choices."""
        return fingerprint(self.objects, self.overlap, self.metric, *choices)

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return all that it takes to go on."""
        counts = np.array([self.n_compared, self.n_near])
        return {"edges": self.edges, "heights": self.heights, "counts": counts}

    def restore(self, loop: Loop) -> None:
        """Go on where a loop was interrupted."""
        if loop.kept:
            self.edges, self.heights = loop.kept["edges"], loop.kept["heights"]
            self.n_compared, self.n_near = loop.kept["counts"].tolist()

    def hierarchy(self) -> Hierarchy:
        """Return the clusters that the edges hold together."""
        unit = unit_of_distances(self.metric, self.objects.ensemble.unit)
        quantity = sigma_by(self.metric, unit)
        return from_forest(len(self.objects), self.edges, self.heights, quantity=quantity)


def cluster(  # noqa: PLR0913, as for measure
    objects: Objects,
    pairs: Pairs,
    *,
    chunk: int | None = None,
    min_overlap: Overlap = None,
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
    >>> from timme_next import objects, pairs, synthetic
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
    min_overlap: Overlap = None,
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
    check_pairs(objects, pairs, "cluster")
    overlap, known = choose_overlap(objects, min_overlap), known_metric(metric, objects.ensemble)
    size = chunk_for(objects, _CHUNK_BYTES) if chunk is None else chunk
    forest = Forest(objects, size, overlap, known)
    few = pairs.index is not None or len(objects) < _FEWEST or not objects.are_points
    try:
        pruned = not few and _add_what_matters(forest, pairs, run)
    except _CannotPruneError as reason:
        text = f"all {len(pairs):,} pairs are measured to the end, which takes long, since {reason}"
        warnings.warn(text, stacklevel=3)
        pruned = False
    if not pruned:
        forest = Forest(objects, size, overlap, known)
        forest.add_all(keep_sharing(objects, pairs, overlap), run)
        if len(pairs) > 0 and forest.n_compared == 0:
            refuse_unmeasured(objects, pairs, overlap)
    warn_near_half_box(forest.n_near, forest.n_compared)
    if pruned:
        forest.n_compared = len(pairs)  # those that were not measured change nothing
    return forest


def _add_what_matters(forest: Forest, pairs: Pairs, run: Run) -> bool:
    """Measure candidates, and then the pairs that may change their hierarchy, if that pays."""
    ensemble, n_objects = forest.objects.ensemble, len(forest.objects)
    if forest.metric is not None:
        raise _CannotPruneError("the distance is not Euclidean")
    if ensemble.gaps:
        raise _CannotPruneError("some sites are not seen in every snapshot")
    centres, quiet = forest.objects.centres(), Run(run.engine)
    _usable_boxes(centres, centres.block(0))
    candidates = _candidates(centres.snapshot(0)[0], pairs.left_out, run.engine.threads_here)
    measured = forest.add(pairs.keep(candidates), quiet)
    tree = forest.hierarchy()
    if _share_of_frames(tree, measured) > _MOST_FRAMES:
        return False
    search = _lay_out(centres, tree)
    n_bands, n_found, found = len(search.places[0]), 0, [candidates[:0]]

    def seen(band: int) -> int:
        passed = min((band + 1) * kernel.LANES, n_objects)
        return passed * (2 * n_objects - passed - 1) // 2  # later bands have fewer partners

    def add_found() -> None:
        index = np.sort(tree.order[np.concatenate(found)], axis=1)
        forest.add(pairs.keep(without(index, candidates, n_objects)), quiet)
        found[:] = [candidates[:0]]

    def state() -> dict[str, npt.NDArray[Any]]:
        found[:] = [np.concatenate(found)]
        return forest.state() | {"found": found[0], "n_found": np.array(n_found)}

    with run.loop("bands", lambda: forest.key(pairs, tree.order, tree.gaps), seen(n_bands)) as loop:
        forest.restore(loop)
        if loop.kept:
            found, n_found = [loop.kept["found"]], int(loop.kept["n_found"])
        bands = [band for band in range(n_bands) if seen(band) > loop.done]
        with closing(run.engine.map(_find_survivors, search, bands)) as results:
            for band, survivors in zip(bands, results, strict=True):
                found.append(survivors)
                n_found += len(survivors)
                if sum(map(len, found)) >= forest.chunk:
                    add_found()
                if n_found > _MOST_FOUND * seen(band) and seen(band) > _FEWEST_SEEN * seen(n_bands):
                    raise _CannotPruneError("more than half of those looked at may matter")
                loop.advance(seen(band), state)
        add_found()
    return True


def _candidates(points: npt.NDArray[Any], left_out: Ints, threads: int) -> Ints:
    """Pairs that are probably low, lower first and sorted, and others that hold all together.

    Bonded neighbours, which often are left out, are nearest of all; without any other near partner,
    bounds would be too high to prune a pair.
    """
    n_points = len(points)
    most = int(np.bincount(left_out.ravel(), minlength=1).max())
    count = min(n_points, 1 + _NEAREST + min(most, _MOST_PASSED))
    near = np.asarray(cKDTree(points).query(points, k=count, workers=threads)[1])
    index = np.column_stack([np.repeat(np.arange(n_points), count), near.ravel()])
    index = index[index[:, 0] != index[:, 1]]
    index = without(index, np.concatenate([left_out, left_out[:, ::-1]]), n_points)
    rank = np.arange(len(index)) - np.searchsorted(index[:, 0], index[:, 0])
    far = np.random.default_rng(0).integers(0, n_points, n_points * _RANDOM)
    far = np.column_stack([np.repeat(np.arange(n_points), _RANDOM), far])
    index = np.sort(np.concatenate([index[rank < _NEAREST], far]), axis=1)
    keys = np.unique(index[index[:, 0] < index[:, 1]] @ (n_points, 1))
    return np.column_stack(np.divmod(keys, n_points))


def _share_of_frames(tree: Hierarchy, measured: Fluctuations) -> float:
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


def _find_survivors(search: _Search, band: int) -> Ints:
    """Pairs of places in leaf order, of one band with itself and later ones, that may matter."""
    found, tile, n_tiles = list[Ints](), band, len(search.places[0])
    room = np.empty((4 * kernel.LANES**2, 2), np.int64)
    running = np.zeros(kernel.LANES, np.float32)
    while tile < n_tiles:
        count, tile = kernel.survivors(
            search.places, search.frames, search.roots, band, tile, running, room
        )
        found.append(room[:count].copy())
    return np.concatenate(found)


def _lay_out(centres: Ensemble, tree: Hierarchy) -> _Search:
    """Lay out places and frames of sites in leaf order, as the kernel needs them.

    Places are means over stretches of superposed frames, or in a box, the first of the frames.
    """
    n_frames, n_sites, n_dimensions = centres.frames.shape
    weights = np.ones(n_frames) if centres.weights is None else centres.weights
    affordable = max(_LEAST_FRAMES, _HELD_BYTES // (4 * n_sites * n_dimensions))
    chosen = _spread(n_frames)[: min(kernel.MOST_FRAMES, affordable)]
    width = len(chosen) + -len(chosen) % kernel.AT_ONCE  # frames without weight fill it up
    stretches = np.arange(n_frames) * kernel.PLACES // n_frames
    laid_out = _LaidOut(
        order=tree.order,
        chosen=chosen,
        members=weights[:, None] * (stretches[:, None] == np.arange(kernel.PLACES)),
        held=np.zeros((n_sites, n_dimensions, width), np.float32),
        sides=np.ones((n_dimensions, width)),
        sums=np.zeros((n_sites, n_dimensions * kernel.PLACES)),
        squares=np.zeros((n_sites, kernel.PLACES)),
        largest=np.zeros(n_sites),
    )
    for block in centres.blocks():
        laid_out.add(block, _usable_boxes(centres, block).matrices)
    held_weights = np.pad(weights[chosen], (0, width - len(chosen)))
    errors = (9 + n_dimensions) * _UNIT * laid_out.largest + math.sqrt(n_dimensions * _LEAST)
    n_tiles = -(-n_sites // kernel.LANES)
    tiled = np.minimum(np.arange(n_tiles * kernel.LANES), n_sites - 1).reshape(n_tiles, -1)
    places, *others, swings = laid_out.places(held_weights)
    tiles = places[tiled].transpose(0, 3, 2, 1), *others, swings[tiled], errors[tiled]
    frames = laid_out.held, laid_out.sides, held_weights, errors
    with np.errstate(over="ignore"):
        (roots,) = _singles(tree.gaps * laid_out.scale * math.sqrt(weights.sum() * _MARGIN))
    roots = np.where(tree.gaps > 0, np.maximum(roots, np.float32(_LEAST)), np.float32(0.0))
    return _Search(_singles(*tiles), _singles(*frames), roots)


@dataclass(slots=True, eq=False, kw_only=True)
class _LaidOut:
    """Sites in leaf order, while their frames are laid out block by block."""

    order: Ints  # (sites,)
    chosen: Ints  # (held,), frames that are held
    members: Floats  # (frames, PLACES), weights of frames in stretches
    held: Singles  # (sites, dimensions, held)
    sides: Floats  # (dimensions, held), of the box, 0 where it is open
    sums: Floats  # (sites, dimensions × PLACES), of superposed coordinates over stretches
    squares: Floats  # (sites, PLACES), of these
    largest: Floats  # (sites,), distance from the middle
    reference: Floats | None = None  # on which frames are superposed
    scale: float = 1.0  # by which lengths are multiplied

    def add(self, block: Block, boxes: Floats) -> None:
        """Lay out a block."""
        n_frames, n_sites, n_dimensions = block.coordinates.shape
        some = np.random.default_rng(0).integers(0, n_sites, _SUPERPOSED)
        sample = block.coordinates[:, some].astype(np.float64)
        shifts, turns = superpose(sample, self.reference)
        lengths = np.einsum("fdd->df", boxes)
        if self.reference is None:
            extent = max(float(np.abs(sample[0] - shifts[0]).max()), float(lengths.max()))
            self.reference, self.scale = sample[0], math.ldexp(1, min(-math.frexp(extent)[1], 1000))
        shifts = np.where(lengths > 0, 0.0, shifts.T)
        members = self.members[block.start : block.start + n_frames]
        turned = np.einsum("fda,fk->dfak", turns, members).reshape(n_dimensions * n_frames, -1)
        held = np.flatnonzero((self.chosen >= block.start) & (self.chosen < block.start + n_frames))
        frames = self.chosen[held] - block.start
        self.sides[:, held] = lengths[:, frames] * self.scale
        for start in range(0, n_sites, _SITES):
            part = slice(start, start + _SITES)
            xyz = block.coordinates[:, self.order[part]].transpose(1, 2, 0) - shifts
            if lengths.any():
                xyz -= lengths * np.floor(xyz / np.where(lengths > 0, lengths, np.inf))
            xyz = np.ascontiguousarray(xyz) * self.scale
            squared = np.einsum("sdf,sdf->sf", xyz, xyz)
            self.largest[part] = np.maximum(self.largest[part], np.sqrt(squared.max(axis=1)))
            self.held[part][..., held] = xyz[..., frames]
            self.sums[part] += xyz.reshape(len(xyz), -1) @ turned
            self.squares[part] += squared @ members

    def places(self, held_weights: Floats) -> tuple[npt.NDArray[Any], ...]:
        """Places of sites (sites, dimensions, PLACES), sides of the box, weights, and swings."""
        closed = self.sides[:, : len(self.chosen)] > 0
        if closed.any():
            if not closed[closed.any(axis=1)].all():
                raise _CannotPruneError("the box is open in some snapshots")
            first = slice(kernel.PLACES)
            swings = np.zeros(len(self.order))
            return self.held[..., first], self.sides[:, first].T, held_weights[first], swings
        weights = self.members.sum(axis=0)
        counts = weights > _FAINT * weights.max()
        source = np.where(counts, np.arange(kernel.PLACES), counts.argmax())[_APART]
        means = self.sums.reshape(*self.held.shape[:2], -1)[..., source] / weights[source]
        squares = self.squares[:, source] / weights[source] - (means**2).sum(axis=1)
        rounding = len(self.members) * _SQUARES * 3 * self.largest**2
        swings = (squares.max(axis=1) + rounding) / 2 * (1 + 1e-5)
        sides = np.zeros((kernel.PLACES, means.shape[1]))
        return means, sides, np.where(counts, weights, 0.0)[_APART], swings


def _spread(n_frames: int) -> Ints:
    """Order frames by the mirrored bits of their numbers: 0, the middle, the quarters and so on."""
    bits = max(1, int(n_frames - 1).bit_length())
    numbers = np.arange(1 << bits)
    mirrored = np.zeros_like(numbers)
    for bit in range(bits):
        mirrored |= ((numbers >> bit) & 1) << (bits - 1 - bit)
    return mirrored[mirrored < n_frames]


def _singles(*arrays: npt.NDArray[Any]) -> tuple[Singles, ...]:
    return tuple(np.ascontiguousarray(array, dtype=np.float32) for array in arrays)
