"""Measure and link in one step: exact single linkage over all pairs without all the work.

A cheap graph of candidates is linked first: near neighbours, which are likely to be low, and a few
random partners that hold all together. Every pair that could still lower this hierarchy is then
looked for (see `pruning`), and what is found is measured in the ordinary way, chunk by chunk. Of
each chunk only the edges stay that join clusters, so that neither all pairs nor their σ are ever
held, and the answer equals that of all pairs bit for bit.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from timme._arrays import Coordinates, Floats, Ints
from timme._kernels import linkage
from timme.engine.checkpoint import Arrays, Checkpoint, digest, take
from timme.engine.metrics import known_metric, unit_of_distances
from timme.engine.moments import Metric, PreparedBlock
from timme.engine.protocol import Engine
from timme.engine.run import DEFAULT, Run
from timme.engine.threads import Threads
from timme.fluctuations.dense import (
    is_every_pair,
    measure_below,
    measure_every,
    measure_list,
    prepare_at_once,
)
from timme.fluctuations.measuring import (
    key_of_objects,
    measure_in_chunks,
    require_objects_and_pairs,
    require_snapshots,
    warn_near_half_box,
)
from timme.fluctuations.overlap import (
    Overlap,
    choose_overlap,
    keep_sharing,
    refuse_unmeasured,
)
from timme.fluctuations.sigma import Fluctuations
from timme.hierarchy.forest import spanning_forest
from timme.hierarchy.pruning import (
    CannotBePrunedError,
    find_survivors,
    lay_out,
    refuse_what_cannot_be_pruned,
)
from timme.hierarchy.quantity import sigma_by
from timme.hierarchy.tree import Hierarchy, from_forest
from timme.objects import Objects
from timme.pairs.choices import given
from timme.pairs.lists import Pairs, lower_first, without
from timme.pairs.nearest import tree_in_box
from timme.system.frames import Progress
from timme.system.space import Boxes

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

Edges = tuple[Ints, Floats]
"""Pairs of objects, and σ of each."""

CHUNK = 4_000_000  # pairs of sites whose σ are held at a time
_FEWEST = 512  # objects below which all pairs are measured right away
_NEAREST, _RANDOM = 6, 2
CANDIDATES = _NEAREST + _RANDOM  # of each object
_MOST_FOUND = 0.5  # of the pairs looked at, above which it takes less to measure all
_MOST_PASSED = 100  # left out that are passed over on the way to the nearest
_FEWEST_LOOKED_AT = 0.05  # of the pairs, before it is judged whether it pays
_SAMPLE = 256  # pairs by which it is judged beforehand
_MOST_FRAMES = 0.5  # of a pair's, on average, until it is given up, above which it does not pay


def cluster(  # noqa: PLR0913, as for measure
    objects: Objects,
    pairs: Pairs,
    *,
    chunk: int | None = None,
    min_overlap: Overlap = None,
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
    return cluster_and_count(
        objects,
        pairs,
        chunk=chunk,
        min_overlap=min_overlap,
        metric=metric,
        run=Run.of(workers=workers, progress=progress, checkpoint=checkpoint),
    )[0]


def cluster_and_count(
    objects: Objects,
    pairs: Pairs,
    *,
    chunk: int | None = None,
    min_overlap: Overlap = None,
    metric: Metric | None = None,
    run: Run = DEFAULT,
) -> tuple[Hierarchy, Ints, int]:
    """Measure and link in one step; tell what joins clusters, and count the pairs compared.

    Parameters
    ----------
    objects, pairs, chunk, min_overlap, metric
        As for :func:`cluster`.
    run : Run, optional
        How it is carried out.

    Returns
    -------
    Hierarchy
        That of :func:`cluster`.
    ndarray of int, shape (joins, 2)
        Pairs by which its clusters are joined, the lower first.
    int
        Pairs on which it stands: all, but for those that share too few snapshots.
    """
    require_objects_and_pairs(objects, pairs, "cluster")
    require_snapshots(objects.ensemble)
    metric = known_metric(metric, objects.ensemble)
    size = _default_chunk(objects) if chunk is None else chunk
    overlap = choose_overlap(objects, min_overlap)
    forest = _Forest(objects, metric, chunk=size, min_overlap=overlap)
    sharing = keep_sharing(objects, pairs, overlap)
    if sharing.index is None and len(objects) >= _FEWEST:
        try:
            refuse_what_cannot_be_pruned(objects, metric)
            if not _add_what_matters(forest, objects, pairs, run):
                forest.add_all(pairs, run)
        except CannotBePrunedError as reason:
            forest.clear()
            warnings.warn(
                f"all {len(pairs):,} pairs are measured to the end, which takes long, "
                f"since {reason}",
                stacklevel=2,
            )
            forest.add(pairs, run)
    else:
        forest.add(sharing, run)
    if not forest.n_measured:
        refuse_unmeasured(objects, pairs, overlap)
    warn_near_half_box(forest.n_near, forest.n_measured)
    # Without gaps, pairs that were never measured to the end count too: they change nothing.
    n_compared = forest.n_measured if objects.ensemble.gaps else len(pairs)
    return forest.hierarchy(), forest.edges, n_compared


class _Forest:
    """The lowest edges found so far that hold every cluster together."""

    def __init__(
        self, objects: Objects, metric: Metric | None, *, chunk: int, **options: Any
    ) -> None:
        self.chunk = chunk
        self._objects = objects
        self._metric = metric
        self._options = options
        self.clear()

        self.prepared: PreparedBlock | None = None  # for σ that is made at once

    def prepare(self, run: Run) -> None:
        """Lay out what is measured several times, where that is of use."""
        self.prepared = prepare_at_once(self._objects, self._metric, run)

    def clear(self) -> None:
        self._edges, self._heights = np.empty((0, 2), np.int64), np.empty(0)
        self.n_near = self.n_measured = 0  # pairs near half the box, of those that were measured

    @property
    def edges(self) -> Ints:
        """Pairs that join clusters, the lower first."""
        return np.sort(self._edges, axis=1)

    @property
    def state(self) -> dict[str, Any]:
        """All that there is to save."""
        counts = [self.n_near, self.n_measured]
        return {"edges": self._edges, "heights": self._heights, "counts": counts}

    def restore(self, kept: Arrays) -> tuple[int, list[Ints]]:
        """Go on from what was saved; return how many pairs may matter, and those not yet added."""
        n_objects = len(self._objects)
        self._edges = take(kept, "edges", np.int64, (None, 2), below=n_objects)
        self._heights = take(kept, "heights", np.float64, self._edges.shape[:1])
        self.n_near, self.n_measured = take(kept, "counts", np.int64, (2,)).tolist()
        found = take(kept, "found", np.int64, (None, 2), below=n_objects)
        return int(take(kept, "n_found", np.int64)), [found]

    def add(self, pairs: Pairs, run: Run, *, every: int | None = None) -> Edges:
        """Measure pairs piece by piece; of each piece, only those that join clusters stay.

        One of so many is returned with its σ, none by default.
        """
        sample = [(np.empty((0, 2), np.int64), np.empty(0))]
        for part in self._measure(pairs, run):
            self._join([(part.pairs, part.sigma)])
            if every is not None:
                sample.append((part.pairs[::every], part.sigma[::every]))
        edges, heights = zip(*sample, strict=True)
        return np.concatenate(edges), np.concatenate(heights)

    def add_all(self, pairs: Pairs, run: Run) -> None:
        """Measure all pairs to the end.

        Where σ is made at once, most of it is forgotten at once as well: that of pairs whose
        objects are joined no higher by what was added before.
        """
        if self.prepared is None or not is_every_pair(pairs):
            self.clear()
            self.add(pairs, run)
            return
        self.n_measured = len(pairs)
        waiting = list[Edges]()
        for found in measure_below(self._objects, self.prepared, *self.line(), run):
            waiting.append(found)
            if sum(len(heights) for _, heights in waiting) >= self.chunk:
                self._join(waiting)
                waiting = []
        self._join(waiting)

    def line(self) -> tuple[Ints, Floats]:
        """Objects in leaf order, and the heights at which neighbours are joined."""
        order, gaps = linkage.leaf_line(len(self._objects), self._edges, self._heights)
        return order, gaps

    def _measure(self, pairs: Pairs, run: Run) -> Iterator[Fluctuations]:
        """Measure pairs piece by piece, in the shortest way that there is."""
        if self.prepared is not None and self.chunk > 0 and run.checkpoint is None:
            self.n_measured += len(pairs)
            if is_every_pair(pairs):
                yield from measure_every(self._objects, self.prepared, run, self.chunk)
            else:
                for piece in pairs.chunks(self.chunk):
                    yield measure_list(self._objects, self.prepared, piece, run)
            return
        yield from measure_in_chunks(
            self._objects,
            pairs,
            run=run,
            so_far=self._edges_so_far,
            near=self._count_near,
            chunk=self.chunk,
            metric=self._metric,
            **self._options,
        )

    def _join(self, more: list[Edges]) -> None:
        """Keep what joins clusters, of what was kept and of more."""
        edges, heights = zip((self._edges, self._heights), *more, strict=True)
        self._edges, self._heights = spanning_forest(
            len(self._objects), np.concatenate(edges), np.concatenate(heights)
        )

    def _count_near(self, n_near: int, n_pairs: int) -> None:
        self.n_near += n_near
        self.n_measured += n_pairs

    def _edges_so_far(self) -> Fluctuations:
        common = np.zeros(len(self._edges), np.int64)  # nobody asks for it
        return Fluctuations(len(self._objects), self._edges, self._heights, common)

    def hierarchy(self) -> Hierarchy:
        unit = unit_of_distances(self._metric, self._objects.ensemble.unit)
        quantity = sigma_by(self._metric)
        edges, heights = self._edges, self._heights
        return from_forest(len(self._objects), edges, heights, unit=unit, quantity=quantity)


def _default_chunk(objects: Objects) -> int:
    """Return how many pairs of objects consist of not too many pairs of sites."""
    per_object = 1.0 if objects.are_points else len(objects.members) / len(objects)
    return max(1, int(CHUNK / per_object**2))


def _candidates(objects: Objects, left_out: Ints, run: Run) -> Ints:
    """Pairs that are likely to be low, and enough others to hold all together."""
    centres = objects.centres()
    points, box = centres.snapshot(0)
    n_points, n_dimensions = points.shape
    boxes = Boxes.of(None if box is None else box[None], 1, n_dimensions, centres.images)
    places, tree = tree_in_box(points, boxes)
    near = _nearest(places, tree, left_out, run.engine.threads_here)
    far = np.random.default_rng(0).integers(0, n_points, (n_points, _RANDOM))
    index = np.concatenate([near, _each_with(far)])
    return without(lower_first(index), left_out, n_points)


def _each_with(others: Ints) -> Ints:
    """Pairs of each point with all in its row of others."""
    index = np.empty((*others.shape, 2), np.int64)
    index[..., 0], index[..., 1] = np.arange(len(others))[:, None], others
    return index.reshape(-1, 2)


def _nearest(places: Coordinates, tree: cKDTree, left_out: Ints, threads: int) -> Ints:
    """The nearest partners of each point of those that are not left out.

    Bonded neighbours, which often are, stand nearest of all, and bounds without any other near
    partner would be too high to give up a pair.
    """
    n_points = len(places)
    most = int(np.bincount(left_out.ravel(), minlength=1).max()) if len(left_out) else 0
    count = min(n_points, 1 + _NEAREST + min(most, _MOST_PASSED))
    index: Ints = _each_with(np.asarray(tree.query(places, k=count, workers=threads)[1]))
    index = index[(index[:, 0] != index[:, 1]) & (index[:, 1] < n_points)]
    if not most:
        return index
    barred = np.concatenate([left_out, left_out[:, ::-1]])
    index = without(index, barred, n_points)
    begin = np.searchsorted(index[:, 0], np.arange(n_points))
    rank = np.arange(len(index)) - begin[index[:, 0]]
    return index[rank < _NEAREST]


def _add_what_matters(forest: _Forest, objects: Objects, pairs: Pairs, run: Run) -> bool:
    """Measure candidates, and then the pairs that may change their hierarchy, if that pays.

    Whenever a chunk of these is found, it is measured and what joins clusters is kept, so that no
    more of them are held at a time.
    """
    unwatched = Run(run.engine)
    forest.prepare(unwatched)
    candidates = given(objects, _candidates(objects, pairs.left_out, run))
    every = max(1, len(candidates) // (8 * _SAMPLE))
    sample = forest.add(candidates, unwatched, every=every)
    measured = np.concatenate([pairs.left_out, *candidates.chunks(len(candidates))])
    order, gaps = forest.line()
    if objects.are_points and _share_of_frames(order, gaps, *sample) > _MOST_FRAMES:
        return False
    threads = Threads(run.engine.threads_here)
    search = lay_out(objects, order, gaps, prepared=forest.prepared, threads=threads)
    n_objects = len(order)
    n_pairs = n_objects * (n_objects - 1) // 2

    def looked_at(band: int) -> int:
        passed = int(search.starts[band + 1])
        return passed * (2 * n_objects - passed - 1) // 2  # later bands have fewer partners

    def key() -> str:
        return key_of_objects(objects, pairs, [digest(order, gaps)], run)

    def listed() -> Pairs:
        index = lower_first(order[np.concatenate(found)])
        return given(objects, without(index, measured, len(objects)))

    def state() -> dict[str, Any]:
        found[:] = [np.concatenate(found)]
        return forest.state | {"n_found": n_found, "found": found[0]}

    with run.loop("bands", key, total=n_pairs) as loop:
        recalled = loop.restore(forest.restore)
        n_found, found = recalled or (0, [np.empty((0, 2), np.int64)])
        bands = list(loop.left(range(search.n_bands), looked_at))
        results = run.engine.map(find_survivors, search, bands)
        with closing(results), loop.under_way():
            for band, survivors in zip(bands, results, strict=True):
                found.append(survivors)
                n_found += len(survivors)
                if sum(map(len, found)) >= forest.chunk:
                    forest.add(listed(), unwatched)
                    found = [survivors[:0]]
                _refuse_too_many(n_found, looked_at(band), n_pairs)
                loop.advance(looked_at(band), state)
        forest.add(listed(), replace(run, progress=None))  # the rest is quick
    return True


def _share_of_frames(order: Ints, gaps: Floats, pairs: Ints, sigma: Floats) -> float:
    """Judge what share of its frames a pair is looked at in before it is given up, on average.

    Squared deviations add up with the frames, so that those of a pair pass its bound, σ² of the
    highest gap between its objects, after about the share that this is of its own. Of candidates,
    those are like most pairs that stand far apart in leaf order.
    """
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    ends = places[pairs]
    far = np.flatnonzero(np.abs(ends[:, 0] - ends[:, 1]) > len(order) // 8)
    far = far[:: max(1, len(far) // _SAMPLE)]
    bounds = np.empty(len(far))
    linkage.highest_between(gaps, ends[far], bounds)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(bounds < sigma[far], (bounds / sigma[far]) ** 2, 1.0)
    return float(shares.mean()) if len(far) else 0.0


def _refuse_too_many(n_found: int, looked_at: int, n_pairs: int) -> None:
    if looked_at > _FEWEST_LOOKED_AT * n_pairs and n_found > _MOST_FOUND * looked_at:
        raise CannotBePrunedError("more than half of those looked at may matter")
