"""Which objects are compared: all pairs, those in contact, neighbours, or the user's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial import cKDTree

from timme._arrays import Coordinates, Floats, Ints, frozen, index_pairs, numbers, whole
from timme._kernels.boxes import OPEN
from timme._text import Described, counted
from timme.contacts import find_contacts
from timme.engine.checkpoint import Checkpoint, Progress, Run
from timme.engine.moments import EARTH, known_metric
from timme.engine.reduction import moments
from timme.ensemble import Boxes, Ensemble
from timme.ensemble.bonds import with_missing_atoms, within_bonds
from timme.ensemble.frames import Step
from timme.ensemble.space import pairs_within
from timme.objects import Objects, require_flat, require_objects

if TYPE_CHECKING:
    from distributed import Client

_SQUARE, _SMALL = 96, 12  # objects on each side of the squares in which all pairs are walked
_MOST_ON_AVERAGE = 10_000  # objects of which all pairs are listed
_NONE: Ints = np.empty((0, 2), np.int64)

# Pairs of a square, small square by small square.
_ROW, _COLUMN, _ONE, _OTHER = np.indices((8, 8, _SMALL, _SMALL)).reshape(4, -1)
_ONE, _OTHER = _SMALL * _ROW + _ONE, _SMALL * _COLUMN + _OTHER


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pairs(Described):
    """Pairs of objects, each once, lower first.

    Attributes
    ----------
    n_objects : int
        Number of objects.
    index : ndarray of int, shape (pairs, 2), or None
        The pairs, sorted; None stands for all pairs but those left out.
    left_out : ndarray of int, shape (left out, 2)
        Pairs that are left out of all.
    description : str
        Which pairs these are, in words.
    """

    n_objects: int
    index: Ints | None
    left_out: Ints
    description: str

    def __len__(self) -> int:
        """Count the pairs."""
        if self.index is not None:
            return len(self.index)
        return self.n_objects * (self.n_objects - 1) // 2 - len(self.left_out)

    def chunks(self, size: int) -> Iterator[Ints]:
        """Yield the pairs piece by piece.

        Parameters
        ----------
        size : int
            Largest number of pairs in a piece.

        Yields
        ------
        ndarray of int, shape (pairs, 2)
            Some of the pairs; there is at least one piece, which may be empty.
        """
        whole(size, 1, "chunk=")
        if self.index is not None:
            for start in range(0, max(1, len(self.index)), size):
                yield self.index[start : start + size]
            return
        edges = np.append(np.arange(0, self.n_objects, _SQUARE), self.n_objects)
        before = edges * (2 * self.n_objects - edges - 1) // 2  # pairs of objects before each edge
        band = 0
        while band + 1 < len(edges):
            stop = max(band + 1, int(np.searchsorted(before, before[band] + size, "right")) - 1)
            listed = np.empty((before[stop] - before[band], 2), np.int64)
            self._fill(int(edges[band]), int(edges[stop]), listed)
            listed, band = without(listed, self.left_out, self.n_objects), stop
            yield from replace(self, index=listed).chunks(size)

    def facts(self) -> dict[str, object]:
        """Return the numbers of objects and pairs, and which pairs these are."""
        return {"objects": self.n_objects, "pairs": len(self), "which": self.description}

    def _fill(self, first: int, stop: int, listed: Ints) -> None:
        """List all pairs of consecutive objects with later ones, square by square.

        The frames of a square of objects stay in the cache while all of their pairs are measured,
        and those of a small square within it stay in the first cache.
        """
        end, n_objects = 0, self.n_objects
        for corner in range(first, stop, _SQUARE):
            for other in range(corner, n_objects, _SQUARE):
                one, another = corner + _ONE, other + _OTHER
                if other == corner or other + _SQUARE > n_objects:
                    there = (one < another) & (another < n_objects)
                    one, another = one[there], another[there]
                listed[end : end + len(one)].T[:] = one, another
                end += len(one)


def all(objects: Objects, *, min_bonds: int = 0) -> Pairs:  # noqa: A001 (the paper's word)
    """Return all pairs, even of objects far apart, without making a list.

    Parameters
    ----------
    objects : Objects
        What is compared.
    min_bonds : int, optional
        Pairs fewer bonds apart are left out.

    Returns
    -------
    Pairs
        All pairs of objects.

    Examples
    --------
    >>> from timme.objects import points
    >>> len(all(points(Ensemble.from_array(np.zeros((2, 5, 3))))))
    10
    """
    require_objects(objects, "pairs.all")
    return _far_apart(objects, None, "all pairs", min_bonds, tell=True)


def within(  # noqa: PLR0913, what is in contact, and how the search is carried out
    objects: Objects,
    radius: float,
    *,
    at_least: int = 1,
    min_bonds: int = 0,
    metric: str | None = None,
    most: int | None = None,
    workers: int | None = None,
    client: Client | str | None = None,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Pairs:
    """Return the pairs in contact: centres no farther apart than a radius in some snapshots.

    Parameters
    ----------
    objects : Objects
        What is compared.
    radius : float
        In the units of the coordinates, or of the metric; at most half the width of a box.
    at_least : int, optional
        Number of snapshots in which they are in contact.
    min_bonds : int, optional
        Pairs fewer bonds apart are left out.
    metric : {"euclidean", "haversine"}, optional
        With ``haversine``, coordinates are latitude and longitude in degrees, and the radius is a
        distance along the surface of the Earth in km.
    most : int, optional
        Number of contacts beyond which the search is refused.
    workers : int, optional
        Number of threads, all cores by default.
    client : distributed.Client or str, optional
        Dask cluster that does the work, or the address of its scheduler.
    progress : callable, optional
        Called with the number of snapshots searched and of all.
    checkpoint : Checkpoint, optional
        File in which contacts are saved at intervals, and from which the search continues.

    Returns
    -------
    Pairs
        Pairs of objects in contact.

    Examples
    --------
    >>> from timme.objects import points
    >>> objects = points(Ensemble.from_array([[[0.0], [1.0], [5.0]], [[0.0], [4.0], [5.0]]]))
    >>> within(objects, 1.0).index.tolist()
    [[0, 1], [1, 2]]
    """
    require_objects(objects, "pairs.within")
    reach = float(numbers(radius, "a contact radius"))
    if not 0 < reach < np.inf:
        raise ValueError(f"a contact radius must be above 0 and finite, got {radius}")
    whole(at_least, 1, "at_least=", objects.ensemble.n_snapshots)
    centres = _centres(objects, metric)
    if metric == "haversine":
        reach = 2 * EARTH * float(np.sin(min(radius / (2 * EARTH), np.pi / 2)))  # the chord
    run = Run.of(workers, client, progress, checkpoint)
    index = find_contacts(centres, reach, at_least=at_least, most=most, run=run)
    distance, times = f"{radius:g} {centres.unit}".strip(), counted(at_least, "snapshot")
    text = f"in contact within {distance} in at least {times}"
    return _far_apart(objects, index, text, min_bonds)


def sequence(objects: Objects, *, reach: int = 1, min_bonds: int = 0) -> Pairs:
    """Return pairs of objects that follow one another in the same chain.

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

    Examples
    --------
    >>> from timme.objects import points
    >>> line = points(Ensemble.from_array([[[0.0], [1.0], [2.0], [9.0]]]))
    >>> sequence(line, reach=2).n_objects, len(sequence(line))
    (4, 3)
    """
    require_objects(objects, "pairs.sequence")
    n_objects, reach = len(objects), whole(reach, 1, "reach=")
    chains = objects.ensemble.atoms.chains[objects.ensemble.site_atoms[objects.anchors]]
    first = np.repeat(np.arange(n_objects), reach)
    second = first + np.tile(np.arange(1, reach + 1), n_objects)
    index = np.column_stack([first, second])[second < n_objects]
    index = index[chains[index[:, 0]] == chains[index[:, 1]]]
    return _far_apart(objects, index, f"up to {reach} apart in the sequence", min_bonds)


def nearest(
    objects: Objects,
    count: int,
    *,
    by: Literal["first", "mean"] = "first",
    min_bonds: int = 0,
    metric: str | None = None,
) -> Pairs:
    """Return pairs of each object with its nearest ones.

    Parameters
    ----------
    objects : Objects
        What is compared.
    count : int
        Number of nearest partners of each object; of equal distances, the lower index is used.
    by : {"first", "mean"}, optional
        Distance of the centres in the first snapshot, or its mean over all snapshots, which needs
        no superposition.
    min_bonds : int, optional
        Pairs fewer bonds apart are left out before partners are counted.
    metric : {"euclidean", "haversine"}, optional
        As for :func:`within`.

    Returns
    -------
    Pairs
        Pairs of which at least one is among the nearest of the other.

    Examples
    --------
    >>> from timme.objects import points
    >>> line = points(Ensemble.from_array([[[0.0], [1.0], [2.0], [9.0]]]))
    >>> nearest(line, 1).index.tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    require_objects(objects, "pairs.nearest")
    whole(count, 1, "the number of nearest partners", len(objects) - 1)
    if by not in {"first", "mean"}:
        raise ValueError(f"by= takes 'first' or 'mean', got {by!r}")
    left_out, centres = _fewer_bonds_apart(objects, min_bonds), _centres(objects, metric)
    if by == "mean":
        candidates, distances = _mean_distances(objects.centres(), left_out, metric)
    else:
        candidates, distances = _first_distances(centres, count, left_out)
    ranked = np.lexsort((candidates[:, 1], distances, candidates[:, 0]))
    owners = candidates[ranked, 0]
    rank = np.arange(len(owners)) - np.searchsorted(owners, owners)
    text = f"the {count} nearest {'in the first snapshot' if by == 'first' else 'on average'}"
    return _far_apart(objects, candidates[ranked[rank < count]], text, min_bonds)


def sharing(objects: Objects) -> Pairs:
    """Return pairs of objects that have a site in common, such as links at a joint.

    Parameters
    ----------
    objects : Objects
        What is compared.

    Returns
    -------
    Pairs
        Pairs with a common member.

    Examples
    --------
    >>> from timme import objects, synthetic
    >>> sharing(objects.links(synthetic.chain(3, 2))).index.tolist()
    [[0, 1], [1, 2]]
    """
    require_objects(objects, "pairs.sharing")
    shared = sparse.triu(objects.membership() @ objects.membership().T, 1)
    return _far_apart(objects, np.column_stack(shared.nonzero()), "with a site in common", 0)


def given(objects: Objects, index: npt.ArrayLike, *, min_bonds: int = 0) -> Pairs:
    """Return the user's own pairs, each once.

    Parameters
    ----------
    objects : Objects
        What is compared.
    index : array_like of int, shape (pairs, 2)
        Pairs of objects, numbered from 0, in any order.
    min_bonds : int, optional
        Pairs fewer bonds apart are left out.

    Returns
    -------
    Pairs
        These pairs, lower first and sorted, without those of an object with itself.

    Examples
    --------
    >>> from timme.objects import points
    >>> line = points(Ensemble.from_array([[[0.0], [1.0], [2.0], [9.0]]]))
    >>> given(line, [(2, 0), (0, 2)]).index.tolist()
    [[0, 2]]
    """
    require_objects(objects, "pairs.given")
    array = index_pairs(index, len(objects), "pairs of objects")
    return _far_apart(objects, array, "listed by the user", min_bonds, tell=True)


def without(index: Ints, left_out: Ints, n_objects: int) -> Ints:
    """Return a list of pairs without some of them, in the same order."""
    if len(left_out) == 0:
        return index
    keys, barred = index @ (n_objects, 1), np.sort(left_out @ (n_objects, 1))
    places = np.minimum(np.searchsorted(barred, keys), len(barred) - 1)
    kept: Ints = index[barred[places] != keys]
    return kept


def sorted_pairs(index: Ints, n_objects: int) -> Ints:
    """Return pairs lower first and sorted, each once, without those of an object with itself."""
    one, other = index.T
    keys = np.minimum(one, other) * n_objects + np.maximum(one, other)
    if (one < other).all() and (keys[1:] > keys[:-1]).all():  # as contacts are
        return index
    keys = np.sort(keys[one != other])  # np.unique takes longer
    keys = keys[np.diff(keys, prepend=-1) > 0]
    return np.column_stack(np.divmod(keys, n_objects))


class OnSphere(Step):
    """Puts latitude and longitude, in degrees, onto the surface of the Earth in space, in km.

    The order of distances is kept: the longer a path along the surface, the longer its chord.
    """

    __slots__ = ()

    def __call__(
        self,
        coordinates: Coordinates,
        boxes: Floats | None,  # noqa: ARG002, the surface has none
        numbers: Sequence[int],  # noqa: ARG002, every snapshot is treated alike
    ) -> tuple[Coordinates, None]:
        """Return places in three dimensions."""
        latitude, longitude = np.moveaxis(np.radians(coordinates.astype(np.float64)), 2, 0)
        if (np.abs(coordinates[..., 0]) > 90).any():
            raise ValueError("latitudes come first, from -90 to 90 degrees: swap the columns")
        across = np.cos(latitude)
        axes = across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)
        return EARTH * np.stack(axes, axis=2), None

    def shape(self, n_sites: int, n_dimensions: int) -> tuple[int, int]:  # noqa: ARG002
        """Return the numbers of sites and dimensions."""
        return n_sites, 3


def _centres(objects: Objects, metric: str | None) -> Ensemble:
    """Centres of objects, in space where they are near on the Earth; refuse other metrics."""
    known, centres = known_metric(metric, objects.ensemble), objects.centres()
    if known not in {None, "haversine"}:
        raise ValueError(
            "nearness is Euclidean or on the Earth (metric='haversine'), got "
            f"{metric!r}: leave the metric to timme.measure, or list pairs by timme.pairs.given"
        )
    require_flat(objects, known)
    if known is None:
        return centres
    return replace(centres, frames=centres.frames.then(OnSphere()), unit="km", images=None)


def _first_distances(centres: Ensemble, count: int, left_out: Ints) -> tuple[Ints, Floats]:
    """Pairs (point, partner) that hold the nearest in the first snapshot, and how far these are."""
    points, box = centres.snapshot(0)
    if np.isnan(points).any():
        raise ValueError("the first snapshot lacks some sites: take the nearest by='mean'")
    n_points, n_dimensions = points.shape
    boxes = Boxes.of(None if box is None else box[None], 1, n_dimensions, centres.images)
    most = np.bincount(left_out.ravel(), minlength=n_points).max()
    candidates = _candidates(points, boxes, min(n_points, count + 1 + int(most)))
    candidates = without(candidates, np.concatenate([left_out, left_out[:, ::-1]]), n_points)
    return candidates, np.linalg.norm(boxes.between(points[None], *candidates.T)[0], axis=1)


def _candidates(points: Coordinates, boxes: Boxes, count: int) -> Ints:
    """Pairs (point, other) that hold the nearest ``count`` of each, itself one, and all as near."""
    places = points
    if len(boxes.molecules) == 0:  # which would be torn apart
        places = points - np.floor(points @ boxes.inverses[0]) @ boxes.matrices[0]
    tree, n_points = cKDTree(places), len(points)
    far = np.asarray(tree.query(places, k=[count])[0])[:, 0]
    if boxes.kind == OPEN:
        near = tree.query_ball_point(places, far * (1 + 1e-9))
        owners = np.repeat(np.arange(n_points), [len(others) for others in near])
        pairs = np.column_stack([owners, np.concatenate(near).astype(np.int64)])
    else:  # images may be nearer, never farther
        pairs = pairs_within(points, far.max() * (1 + 1e-9), boxes)
        pairs = np.concatenate([pairs, pairs[:, ::-1]])
    different: Ints = pairs[pairs[:, 0] != pairs[:, 1]]
    return different


def _mean_distances(centres: Ensemble, left_out: Ints, metric: str | None) -> tuple[Ints, Floats]:
    """All pairs (point, partner), and their mean distances."""
    n_points = centres.n_sites
    if n_points > _MOST_ON_AVERAGE:
        raise ValueError(f"too many objects ({n_points:,}) for all pairs: take nearest by='first'")
    index = without(np.column_stack(np.triu_indices(n_points, 1)), left_out, n_points)
    found = moments(centres, index, metric)
    seen = np.flatnonzero(found.common > 0)
    return np.concatenate([index[seen], index[seen][:, ::-1]]), np.tile(found.mean[seen], 2)


def _far_apart(
    objects: Objects, index: Ints | None, text: str, min_bonds: int, *, tell: bool = False
) -> Pairs:
    """Leave out pairs, of all or of a list, too near along bonds; describe the others.

    How many are left out is in the description if it is to ``tell``.
    """
    left_out = _fewer_bonds_apart(objects, min_bonds)
    found = Pairs(len(objects), None, left_out, text)
    if index is not None:
        listed = sorted_pairs(index, len(objects))
        kept = without(listed, left_out, len(objects))
        found, left_out = Pairs(len(objects), frozen(kept), _NONE, text), listed[len(kept) :]
    if min_bonds > 0:
        text += f", at least {min_bonds} bonds apart"
    if tell and len(left_out) > 0:
        n_near = len(left_out)
        text += f"; {n_near:,} of {n_near + len(found):,} left out, which are fewer"
    return replace(found, description=text)


def _fewer_bonds_apart(objects: Objects, min_bonds: int) -> Ints:
    """Pairs of objects fewer bonds apart, counted in the whole covalent graph.

    Objects centred on an atom count from it, others from their nearest members. Bonds through atoms
    that are missing along a trace count as well.
    """
    whole(min_bonds, 0, "min_bonds=")
    ensemble = objects.ensemble
    bonds, n_all = with_missing_atoms(ensemble.atoms.bonds, ensemble.traces, len(ensemble.atoms))
    if min_bonds == 0 or len(bonds) == 0:
        return _NONE
    near = within_bonds(bonds, n_all, min_bonds - 1)
    near = near[ensemble.site_atoms][:, ensemble.site_atoms]
    if objects.centred_on_sites:
        between = near[objects.anchors][:, objects.anchors]
    else:
        between = objects.membership() @ near @ objects.membership().T
    return np.column_stack(sparse.triu(between, 1).nonzero()).astype(np.int64)
