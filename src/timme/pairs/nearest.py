"""The nearest partners of each object, in one snapshot or on average."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from timme._arrays import Coordinates, Floats, Ints
from timme._kernels.space import TILTED, half_width
from timme.engine.reduction import moments
from timme.pairs.lists import without
from timme.system.ensemble import Ensemble
from timme.system.neighbours import pairs_within
from timme.system.space import Boxes

_MOST_ON_AVERAGE = 10_000  # objects of which all pairs are listed


def nearest_in_first(centres: Ensemble, count: int, left_out: Ints) -> Ints:
    """Find the partners that are nearest in the first snapshot.

    Parameters
    ----------
    centres : Ensemble
        One point for each object.
    count : int
        Number of nearest partners of each.
    left_out : ndarray, shape (left out, 2)
        Pairs that are no partners, lower first.

    Returns
    -------
    ndarray, shape (pairs, 2)
        An object and one of its partners; equal distances go to the lower index.
    """
    points, box = centres.snapshot(0)
    if np.isnan(points).any():
        raise ValueError(
            "nearest in the first snapshot needs every site seen there: "
            "take the nearest on average (by='mean'), or those in contact"
        )
    n_points, n_dimensions = points.shape
    boxes = Boxes.of(None if box is None else box[None], 1, n_dimensions, centres.images)
    most = np.bincount(left_out.ravel(), minlength=n_points).max(initial=0)
    candidates = _candidates(points, boxes, min(n_points, count + 1 + int(most)))
    candidates = without(candidates, np.concatenate([left_out, left_out[:, ::-1]]), n_points)
    vectors = boxes.between(points[None], *candidates.T)[0]
    return _lowest_of_each(candidates, (vectors**2).sum(axis=1), count)


def _candidates(points: Coordinates, boxes: Boxes, count: int) -> Ints:
    """Pairs (point, other) that hold the nearest ``count`` of each point, and all as near."""
    if boxes.kind == TILTED:
        return _tilted_candidates(points, boxes, count)
    n_points = len(points)
    places, tree = tree_in_box(points, boxes)
    farthest = np.asarray(tree.query(places, k=[count])[0])[:, 0]
    near = tree.query_ball_point(places, farthest * (1 + 1e-9))
    owner = np.repeat(np.arange(n_points), [len(others) for others in near])
    pairs = np.column_stack([owner, np.concatenate([np.array(others) for others in near])])
    different: Ints = pairs[pairs[:, 0] != pairs[:, 1]]
    return different


def tree_in_box(points: Coordinates, boxes: Boxes) -> tuple[Coordinates, cKDTree]:
    """Sort points into a tree that knows of the first of boxes, which must not be tilted.

    Parameters
    ----------
    points : ndarray, shape (points, dimensions)
        Positions, all of them seen.
    boxes : Boxes
        Periodic boxes.

    Returns
    -------
    places : ndarray, shape (points, dimensions)
        The same within the box, as the tree needs them.
    tree : cKDTree
        Their tree.
    """
    lengths = np.diag(boxes.matrices[0])
    if not lengths.any():
        return points, cKDTree(points)
    places = np.where(lengths > 0, points % np.where(lengths > 0, lengths, 1.0), points)
    places = np.where((lengths > 0) & (places >= lengths), 0.0, places)  # -1e-17 % 10 is 10
    return places, cKDTree(places, boxsize=lengths)


def _tilted_candidates(points: Coordinates, boxes: Boxes, count: int) -> Ints:
    """As above: contacts within a radius that suits nearly all, and all others of the few left."""
    n_points, n_dimensions = points.shape
    radius = (_occupied(points, boxes) * count / n_points) ** (1.0 / n_dimensions)
    while True:
        pairs = pairs_within(points, radius, boxes)
        lacking = np.flatnonzero(np.bincount(pairs.ravel(), minlength=n_points) < count - 1)
        if len(lacking) <= max(50, n_points // 50):
            break
        radius *= 1.3
    others = np.tile(np.arange(n_points), len(lacking))
    owners = np.repeat(lacking, n_points)
    alone = np.column_stack([owners, others])[owners != others]
    both = np.concatenate([pairs, pairs[:, ::-1], alone])
    return np.unique(both, axis=0)


def _occupied(points: Coordinates, boxes: Boxes) -> float:
    """Volume of that part of a tilted box in which points are; open directions have no end."""
    inverse = boxes.inverses[0]
    fewest = half_width(inverse) * np.linalg.norm(inverse, axis=0)
    parts = np.clip(np.ptp(points @ inverse, axis=0), fewest, 1.0)
    return float(abs(np.linalg.det(boxes.matrices[0])) * parts.prod())


def nearest_on_average(
    centres: Ensemble, count: int, left_out: Ints, *, metric: str | None = None
) -> Ints:
    """Find the partners whose mean distance over all snapshots is least.

    Parameters
    ----------
    centres : Ensemble
        One point for each object.
    count : int
        Number of nearest partners of each.
    left_out : ndarray, shape (left out, 2)
        Pairs that are no partners, lower first.
    metric : str, optional
        By which distances are measured.

    Returns
    -------
    ndarray, shape (pairs, 2)
        An object and one of its partners; equal distances go to the lower index.
    """
    if centres.n_sites > _MOST_ON_AVERAGE:
        raise ValueError(
            f"nearest on average compares all pairs, too many for {centres.n_sites} objects: "
            "take those in contact, or those nearest in the first snapshot (by='first')"
        )
    index = np.column_stack(np.triu_indices(centres.n_sites, 1)).astype(np.int64)
    index = without(index, left_out, centres.n_sites)
    measured = moments(centres, index, metric=metric)
    seen = measured.count > 0
    both = np.concatenate([index[seen], index[seen][:, ::-1]])
    return _lowest_of_each(both, np.tile(measured.mean[seen], 2), count)


def _lowest_of_each(candidates: Ints, distances: Floats, count: int) -> Ints:
    """For each object keep its lowest candidates; equal ones by the partner's index."""
    ranked = np.lexsort((candidates[:, 1], distances, candidates[:, 0]))
    own = candidates[ranked, 0]
    place = np.arange(len(own)) - np.searchsorted(own, own)
    lowest: Ints = candidates[ranked][place < count]
    return lowest
