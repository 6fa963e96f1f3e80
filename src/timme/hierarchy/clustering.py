"""Measure and link in one step: exact single linkage over all pairs without all the work.

A cheap graph of candidates is linked first: near neighbours, which are likely to be low, and a few
random partners that hold all together. Every pair that could still lower this hierarchy is then
looked for (see `pruning`), and what is found is measured in the ordinary way, chunk by chunk. Of
each chunk only the edges stay that join clusters, so that neither all pairs nor their σ are ever
held, and the answer equals that of all pairs bit for bit.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from timme._arrays import Ints
from timme.engine.checkpoint import Checkpoint, digest
from timme.engine.moments import Metric, Progress
from timme.engine.run import DEFAULT, Engine, Run
from timme.engine.threads import Threads
from timme.fluctuations.measuring import measure_in_chunks, require_snapshots, warn_near_half_box
from timme.fluctuations.overlap import Overlap, choose_overlap, refuse_unmeasured
from timme.fluctuations.sigma import Fluctuations
from timme.hierarchy.forest import spanning_forest
from timme.hierarchy.pruning import (
    CannotBePrunedError,
    find_survivors,
    lay_out,
    refuse_what_cannot_be_pruned,
)
from timme.hierarchy.tree import Hierarchy, from_forest
from timme.objects import Objects
from timme.pairs.choices import given
from timme.pairs.lists import Pairs, lower_first, without
from timme.pairs.nearest import tree_in_box
from timme.system.space import Boxes

CHUNK = 4_000_000  # pairs of sites whose σ are held at a time
_FEWEST = 512  # objects below which all pairs are measured right away
_NEAREST, _RANDOM = 6, 4
CANDIDATES = _NEAREST + _RANDOM  # of each object
_MOST_FOUND = 0.5  # of the pairs looked at, above which it takes less to measure all
_FEWEST_LOOKED_AT = 0.05  # of the pairs, before it is judged whether it pays


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
) -> tuple[Hierarchy, int]:
    """Measure and link in one step, and count the pairs that share enough snapshots.

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
    int
        Pairs on which it stands: all, but for those that share too few snapshots.
    """
    require_snapshots(objects.ensemble)
    unwatched = Run(run.engine)
    overlap = choose_overlap(objects, min_overlap)
    forest = _Forest(
        objects, chunk=chunk or _default_chunk(objects), min_overlap=overlap, metric=metric
    )
    n_pairs = len(pairs)
    if pairs.index is None and len(objects) >= _FEWEST:
        try:
            refuse_what_cannot_be_pruned(objects, metric)
            candidates = _candidates(objects, pairs.left_out, run)
            forest.add(given(objects, candidates), unwatched)
            done = np.concatenate([pairs.left_out, candidates])
            found = _fold_survivors(objects, forest, done, run)
        except CannotBePrunedError as reason:
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
    if not forest.n_measured:
        refuse_unmeasured(objects, pairs, overlap)
    warn_near_half_box(forest.n_near, forest.n_measured)
    # Without gaps, pairs that were never measured to the end count too: they change nothing.
    return forest.hierarchy(), forest.n_measured if objects.ensemble.gaps else n_pairs


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


def _fold_survivors(objects: Objects, forest: _Forest, done: Ints, run: Run) -> Pairs:
    """Find pairs that may change the hierarchy of the candidates, and measure all but the last.

    ``done`` are pairs that need not be looked at. Whenever a chunk of others is found, it is
    measured and what joins clusters is kept, so that no more of them are held at a time.
    """
    tree = forest.hierarchy()
    search = lay_out(objects, tree)
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

    results = run.engine.map(find_survivors, search, range(first, search.n_bands))
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
                raise CannotBePrunedError("more than half of those looked at may matter")
            loop.advance(looked_at, state)
    return listed()
