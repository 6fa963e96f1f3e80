"""Who is compared with whom: all pairs, those in contact, neighbours, or the user's own."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial import cKDTree

from timme._arrays import Coordinates, Floats, Ints, frozen
from timme._kernels.space import TILTED
from timme.contacts import count_contacts
from timme.engine.checkpoint import Checkpoint
from timme.engine.moments import Progress
from timme.engine.reduction import moments
from timme.engine.threads import Engine
from timme.objects import Objects
from timme.system.ensemble import Ensemble
from timme.system.neighbours import pairs_within
from timme.system.space import Boxes
from timme.system.topology import within_bonds

_SQUARE = 64  # objects on each side of the squares in which all pairs are walked
_MOST_ON_AVERAGE = 10_000  # objects of which all pairs are listed


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of objects, each once, lower first, sorted; all pairs are symbolic."""

    n_objects: int
    index: Ints | None  # (pairs, 2); None for all pairs but those left out
    left_out: Ints  # (left out, 2), of all pairs
    description: str

    def __len__(self) -> int:
        """Count the pairs."""
        if self.index is not None:
            return len(self.index)
        return self.n_objects * (self.n_objects - 1) // 2 - len(self.left_out)

    def chunks(self, size: int) -> Iterator[Ints]:
        """Walk through the pairs in pieces.

        Parameters
        ----------
        size : int
            Pairs in a piece, about.

        Yields
        ------
        ndarray, shape (pairs, 2)
            Some of the pairs, each in one piece only.
        """
        if self.index is not None:
            for start in range(0, max(1, len(self.index)), size):
                yield self.index[start : start + size]
            return
        # Squares of objects, whose frames stay in the cache while all of their pairs are measured.
        waiting = list[Ints]()
        for first in range(0, self.n_objects, _SQUARE):
            waiting.append(without(self._band(first), self.left_out, self.n_objects))
            if sum(map(len, waiting)) > size:
                listed = np.concatenate(waiting)
                last = (len(listed) - 1) // size * size
                yield from (listed[start : start + size] for start in range(0, last, size))
                waiting = [listed[last:]]
        yield np.concatenate(waiting)

    def _band(self, first: int) -> Ints:
        """All pairs of some consecutive objects with later ones, square by square."""
        square = np.indices((_SQUARE, _SQUARE)).reshape(2, -1).T
        own = square[square[:, 0] < square[:, 1]] + first
        corners = np.arange(first + _SQUARE, self.n_objects, _SQUARE)
        beside = square + np.column_stack([np.full_like(corners, first), corners])[:, None]
        band = np.concatenate([own, beside.reshape(-1, 2)])
        whole = (self.n_objects - first) % _SQUARE == 0
        return band if whole else band[band[:, 1] < self.n_objects]


def all(objects: Objects, *, min_bonds: int = 0) -> Pairs:  # noqa: A001 (the paper's word)
    """Compare every object with every other, also those far apart.

    Parameters
    ----------
    objects : Objects
        What is compared.
    min_bonds : int, optional
        Pairs fewer bonds apart are left out.

    Returns
    -------
    Pairs
        Symbolic: no list is made.
    """
    near = _too_near(objects, min_bonds)
    return Pairs(len(objects), None, near, _described("all pairs", min_bonds))


def within(  # noqa: PLR0913, what is in contact, and how the search is carried out
    objects: Objects,
    radius: float,
    *,
    at_least: int = 1,
    min_bonds: int = 0,
    most: int | None = None,
    workers: int | Engine | None = None,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Pairs:
    """Compare objects in contact: centres no farther apart than a radius in some snapshots.

    Parameters
    ----------
    objects : Objects
        What is compared.
    radius : float
        In the units of the coordinates.
    at_least : int, optional
        Number of snapshots in which they must be in contact.
    min_bonds : int, optional
        Pairs fewer bonds apart are left out.
    most : int, optional
        Pairs that may be found before it is given up for lack of memory.
    workers : int or Engine, optional
        Number of threads, all cores by default; or another engine.
    progress : callable, optional
        Called with snapshots done and their number.
    checkpoint : Checkpoint, optional
        Where contacts are saved at intervals, and from which the search goes on.

    Returns
    -------
    Pairs
        The pairs in contact.
    """
    if not (np.isfinite(radius) and radius > 0):
        raise ValueError(f"a contact radius must be above 0, got {radius}")
    if not 1 <= operator.index(at_least) <= objects.ensemble.n_snapshots:
        raise ValueError(
            f"contacts are needed in 1 to {objects.ensemble.n_snapshots} snapshots, got {at_least}"
        )
    centres = objects.centres()
    found = count_contacts(
        centres, radius, most=most, workers=workers, progress=progress, checkpoint=checkpoint
    )
    unit = f" {centres.unit}" if centres.unit else ""
    times_text = "1 snapshot" if at_least == 1 else f"{at_least} snapshots"
    text = f"in contact within {radius:g}{unit} in at least {times_text}"
    return _keyed(objects, found.keys[found.counts >= at_least], text, min_bonds)


def sequence(objects: Objects, *, reach: int = 1, min_bonds: int = 0) -> Pairs:
    """Compare objects that follow one another in the same chain.

    Parameters
    ----------
    objects : Objects
        What is compared, in the order of the sequence.
    reach : int, optional
        Largest distance along the sequence.
    min_bonds : int, optional
        Pairs fewer bonds apart are left out.

    Returns
    -------
    Pairs
        Neighbours in the sequence.
    """
    if reach < 1:
        raise ValueError(f"sequence neighbours are at least 1 apart, got {reach}")
    n_objects = len(objects)
    chains = objects.ensemble.atoms.chains[objects.ensemble.site_atoms[objects.anchors]]
    first = np.repeat(np.arange(n_objects), reach)
    second = first + np.tile(np.arange(1, reach + 1), n_objects)
    index = np.column_stack([first, second])[second < n_objects]
    index = index[chains[index[:, 0]] == chains[index[:, 1]]]
    return _listed(objects, index, f"up to {reach} apart in the sequence", min_bonds)


def nearest(
    objects: Objects, count: int, *, by: Literal["first", "mean"] = "first", min_bonds: int = 0
) -> Pairs:
    """Compare every object with its nearest ones.

    Parameters
    ----------
    objects : Objects
        What is compared.
    count : int
        Number of nearest partners of each object; equal distances go to the lower index.
    by : {"first", "mean"}, optional
        Distance of the centres in the first snapshot, or its mean over all snapshots (which needs
        no superposition).
    min_bonds : int, optional
        Pairs fewer bonds apart are left out before partners are counted.

    Returns
    -------
    Pairs
        Pairs of which at least one is among the nearest of the other.
    """
    if not 1 <= count < len(objects):
        raise ValueError(f"nearest partners are 1 to {len(objects) - 1}, got {count}")
    if by not in {"first", "mean"}:
        raise ValueError(f"nearest are judged by 'first' or 'mean', got {by!r}")
    near = _too_near(objects, min_bonds)
    find = _nearest_in_first if by == "first" else _nearest_on_average
    index = find(objects.centres(), count, near)
    text = f"the {count} nearest {'in the first snapshot' if by == 'first' else 'on average'}"
    return _listed(objects, index, text, min_bonds)


def sharing(objects: Objects) -> Pairs:
    """Compare objects that have a site in common, such as links at a joint.

    Parameters
    ----------
    objects : Objects
        What is compared.

    Returns
    -------
    Pairs
        Pairs with a common member.
    """
    membership = objects.membership()
    common = sparse.triu(membership @ membership.T, 1)
    return _listed(objects, np.column_stack(common.nonzero()), "with a site in common", 0)


def given(objects: Objects, index: npt.ArrayLike, *, min_bonds: int = 0) -> Pairs:
    """Compare the user's own pairs.

    Parameters
    ----------
    objects : Objects
        What is compared.
    index : array_like, shape (pairs, 2)
        Pairs of objects, numbered from 0, in any order.
    min_bonds : int, optional
        Pairs fewer bonds apart are left out.

    Returns
    -------
    Pairs
        The same, each once.
    """
    array = np.asarray(index)
    if array.size == 0:
        array = np.empty((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(
            f"pairs need two whole numbers each, got {array.dtype} of shape {array.shape}"
        )
    if array.size and (array.min() < 0 or array.max() >= len(objects)):
        raise ValueError(
            f"pairs must name objects 0 to {len(objects) - 1}, got {array.min()} to {array.max()}"
        )
    return _listed(objects, array.astype(np.int64), "listed by the user", min_bonds)


def without(index: Ints, left_out: Ints, n_objects: int) -> Ints:
    """Remove some pairs from a list.

    Parameters
    ----------
    index : ndarray, shape (pairs, 2)
        Pairs of objects.
    left_out : ndarray, shape (left out, 2)
        Pairs to remove, in the same orientation.
    n_objects : int
        Number of objects.

    Returns
    -------
    ndarray, shape (pairs, 2)
        The others, in the same order.
    """
    if len(left_out) == 0:
        return index
    keys = index[:, 0] * n_objects + index[:, 1]
    barred = np.sort(left_out[:, 0] * n_objects + left_out[:, 1])
    there = np.minimum(np.searchsorted(barred, keys), len(barred) - 1)
    kept: Ints = index[barred[there] != keys]
    return kept


def lower_first(index: Ints) -> Ints:
    """Name the lower of the two objects of each pair first.

    Parameters
    ----------
    index : ndarray, shape (pairs, 2)
        Pairs of objects.

    Returns
    -------
    ndarray, shape (pairs, 2)
        The same pairs.
    """
    one, other = index.T
    ordered = np.empty((len(index), 2), np.int64)
    np.minimum(one, other, out=ordered[:, 0])
    np.maximum(one, other, out=ordered[:, 1])
    return ordered


def _listed(objects: Objects, index: Ints, description: str, min_bonds: int) -> Pairs:
    index = lower_first(index)
    index = index[index[:, 0] != index[:, 1]]
    keys = np.sort(index[:, 0] * len(objects) + index[:, 1])
    return _keyed(objects, keys[np.diff(keys, prepend=-1) > 0], description, min_bonds)


def _keyed(objects: Objects, keys: Ints, description: str, min_bonds: int) -> Pairs:
    """Pairs from their keys, lower × objects + higher, sorted."""
    index = np.empty((len(keys), 2), np.int64)
    np.divmod(keys, len(objects), out=(index[:, 0], index[:, 1]))
    near = _too_near(objects, min_bonds)
    index = without(index, near, len(objects))
    return Pairs(len(objects), frozen(index), near[:0], _described(description, min_bonds))


def _described(text: str, min_bonds: int) -> str:
    return f"{text}, at least {min_bonds} bonds apart" if min_bonds > 0 else text


def _too_near(objects: Objects, min_bonds: int) -> Ints:
    """Pairs of objects fewer bonds apart, counted in the whole covalent graph.

    Objects centred on an atom are counted from it, others from their nearest members.
    """
    if min_bonds < 0:
        raise ValueError(f"bonds apart must not be negative, got {min_bonds}")
    ensemble = objects.ensemble
    if min_bonds == 0 or len(ensemble.atoms.bonds) == 0:
        return np.empty((0, 2), np.int64)
    near = within_bonds(ensemble.atoms.bonds, len(ensemble.atoms), min_bonds - 1)
    if objects.centred_on_sites:
        atoms = ensemble.site_atoms[objects.anchors]
        between = near[atoms][:, atoms]
    else:
        # Columns of the membership are sites; those of the bond graph are atoms.
        belongs = objects.membership()
        between = belongs @ near[ensemble.site_atoms][:, ensemble.site_atoms] @ belongs.T
    return np.column_stack(sparse.triu(between, 1).nonzero()).astype(np.int64)


def _nearest_in_first(centres: Ensemble, count: int, left_out: Ints) -> Ints:
    points, box = centres.snapshot(0)
    if np.isnan(points).any():
        raise ValueError(
            "nearest in the first snapshot needs every site seen there: use by='mean', or contacts"
        )
    n_points, n_dimensions = points.shape
    boxes = Boxes.of(None if box is None else box[None], 1, n_dimensions)
    most = np.bincount(left_out.ravel(), minlength=n_points).max(initial=0)
    candidates = _candidates(points, boxes, min(n_points, count + 1 + int(most)))
    candidates = without(candidates, np.concatenate([left_out, left_out[:, ::-1]]), n_points)
    vectors = boxes.shorten((points[candidates[:, 0]] - points[candidates[:, 1]])[None])[0]
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
    volume = abs(np.linalg.det(boxes.matrices[0]))
    radius = (volume * count / n_points) ** (1.0 / n_dimensions)
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


def _nearest_on_average(centres: Ensemble, count: int, left_out: Ints) -> Ints:
    if centres.n_sites > _MOST_ON_AVERAGE:
        raise ValueError(
            f"nearest on average compares all pairs, too many for {centres.n_sites} objects: "
            "use by='first', or contacts"
        )
    index = np.column_stack(np.triu_indices(centres.n_sites, 1)).astype(np.int64)
    index = without(index, left_out, centres.n_sites)
    measured = moments(centres, index)
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
