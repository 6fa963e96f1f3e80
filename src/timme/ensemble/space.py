"""Space: periodic boxes, shortest vectors through them, and pairs of points that are near."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from timme._arrays import Coordinates, Floats, Ints, frozen, numbers
from timme._kernels import boxes as kernel

# Length of vectors across open directions of a tilted box, in the longest of the others. No
# distance reaches half of it, and a vector that is never added rounds nothing.
_FAR = 1e12
_SHARPEST, _BLUNTEST = 20.0, 160.0  # degrees; crystals and simulations have 30 to 150
_FLAT = "a tilted box needs vectors that span space, got a flat one"
_FLATTEST = 1e-12  # volume between the directions of box vectors
_ROUNDS = 1000  # of reduction, after which a box counts as flat; true ones take a few
_SLACK = 1e-9  # of distances, which a search through images may round


@dataclass(frozen=True, slots=True, eq=False)
class Images:
    """Which periodic image of one site another one sees.

    Sites of one molecule see one another as they are, and other sites by their nearest images.
    With an origin, the images that are nearest there are seen in all snapshots.
    """

    molecules: Ints  # (sites,)
    origin: Floats | None = None  # (sites, dimensions), centres of their molecules
    box: Floats | None = None  # (dimensions, dimensions), around the origin

    @property
    def alone(self) -> bool:
        """Whether there is one molecule, which needs no images at all."""
        return bool((self.molecules == self.molecules[:1]).all())

    def select(self, sites: Ints) -> Images:
        """Return the images that some of the sites see."""
        origin = None if self.origin is None else self.origin[sites]
        return replace(self, molecules=self.molecules[sites], origin=origin)

    def of_groups(self, members: Ints, offsets: Ints) -> Images:
        """Return the images that groups see: each of one molecule, or a molecule by itself.

        ``members`` lists the sites of all groups in a row, ``offsets`` where each group begins.
        """
        first = members[offsets[:-1]]
        others = self.molecules[members] != np.repeat(self.molecules[first], np.diff(offsets))
        mixed = np.logical_or.reduceat(others, offsets[:-1])
        own = self.molecules.max(initial=0) + 1 + np.arange(len(first))
        groups = self.select(first)
        return replace(groups, molecules=np.where(mixed, own, groups.molecules))


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """Periodic boxes of some frames as kernels take them, and which images sites see in them."""

    matrices: Floats  # (frames, dimensions, dimensions), rows are box vectors
    inverses: Floats  # (frames, dimensions, dimensions), 0 along open directions
    kind: int  # OPEN, STRAIGHT or TILTED
    molecules: Ints  # (sites,), within which there are no images; empty where all are single
    origin: Floats  # (sites, dimensions), where images are chosen once for all; or empty
    origin_box: Floats  # (2, dimensions, dimensions), the box there and its inverse

    @classmethod
    def of(
        cls, matrices: Floats | None, n_frames: int, n_dimensions: int, images: Images | None = None
    ) -> Boxes:
        """Return boxes with their inverses and kind; those of `box_matrices`, None for open space.

        ``n_frames`` and ``n_dimensions`` tell the shape where there are none, ``images`` which
        images sites see (the nearest by default).
        """
        seen = _seen(images, n_dimensions)
        shape = (n_frames, n_dimensions, n_dimensions)
        if matrices is None or not matrices.any() or (images is not None and images.alone):
            return cls(np.zeros(shape), np.zeros(shape), kernel.OPEN, *seen)
        inverses, kind = invert(matrices)
        if images is not None and images.box is not None:  # one loop goes through both
            kind = max(kind, invert(images.box[None])[1])
        return cls(np.array(matrices), inverses, kind, *seen)

    def select(self, sites: Ints) -> Boxes:
        """Return the same boxes, with the images that some of the sites see."""
        molecules = self.molecules[sites] if len(self.molecules) else self.molecules
        origin = self.origin[sites] if len(self.origin) else self.origin
        return replace(self, molecules=molecules, origin=origin)

    def between(self, coordinates: Coordinates, one: Ints, other: Ints) -> Floats:
        """Return the vectors (frames, vectors, dimensions) from sites to others as they see them.

        ``coordinates`` are (frames, sites, dimensions), ``one`` and ``other`` (vectors,).
        """
        vectors = np.subtract(coordinates[:, other], coordinates[:, one], dtype=np.float64)
        if self.kind == kernel.OPEN:
            return vectors
        if len(self.origin):
            steps = self.steps_between(one, other)
            seen: Floats = vectors + np.einsum("vi,fij->fvj", steps, self.matrices)
            return seen
        if not len(self.molecules):
            return self.shorten(vectors)
        inside = self.molecules[one] == self.molecules[other]
        return np.where(inside[:, None], vectors, self.shorten(vectors))

    def steps_between(self, one: Ints, other: Ints) -> Floats:
        """Return how many box vectors (vectors, dimensions) lead to the image seen from an origin.

        It is the one that is nearest there.
        """
        apart = (self.origin[other] - self.origin[one])[None]
        around = replace(self, matrices=self.origin_box[:1], inverses=self.origin_box[1:])
        steps: Floats = np.rint((around.shorten(apart) - apart)[0] @ self.origin_box[1])
        return steps

    def shorten(self, vectors: Floats) -> Floats:
        """Return the shortest periodic images of vectors (frames, vectors, dimensions)."""
        shortened = np.array(vectors, dtype=np.float64)
        if self.kind != kernel.OPEN:
            kernel.shortest_images(shortened, self.matrices, self.inverses, self.kind)
        return shortened


def box_matrices(given: npt.ArrayLike, n_snapshots: int, n_dimensions: int) -> Floats:
    """Return one matrix of box vectors for each snapshot, whatever way a box is given in.

    Parameters
    ----------
    given : array_like
        One length for all directions, lengths (dimensions,), row vectors (dimensions, dimensions),
        in space also three lengths and three angles in degrees (6,), from 20 to 160; or one of
        these but the first for each snapshot. Directions of length 0 are open.
    n_snapshots, n_dimensions : int
        Shape of the ensemble.

    Returns
    -------
    ndarray, shape (snapshots, dimensions, dimensions)
        Box vectors as rows, the shortest that span the same lattice (Minkowski-reduced). A tilted
        box that is open in some directions gets vectors across these, longer than any distance.

    Examples
    --------
    >>> box_matrices([2.0, 3.0], n_snapshots=1, n_dimensions=2)
    array([[[2., 0.],
            [0., 3.]]])
    """
    boxes = numbers(given, "boxes")
    if not np.isfinite(boxes).all():
        raise ValueError("box lengths must be finite")
    if boxes.shape in {(), (1,)}:
        boxes = np.full(n_dimensions, boxes)
    square = boxes.shape == (n_dimensions, n_dimensions)
    if square and n_snapshots == n_dimensions and not _is_diagonal(boxes):
        shape = (n_snapshots, n_dimensions, n_dimensions)
        raise ValueError(f"a box is one matrix, or lengths of each snapshot: pass shape {shape}")
    if n_dimensions == 3 and boxes.shape in {(6,), (n_snapshots, 6)}:
        boxes = np.array([cell_vectors(cell) for cell in np.atleast_2d(boxes)])
    elif boxes.shape in {(n_dimensions,), (n_snapshots, n_dimensions)} and not square:
        _refuse_negative(boxes)
        boxes = boxes[..., None] * np.eye(n_dimensions)
    each = boxes.shape[:-2] in {(), (1,), (n_snapshots,)}
    if not each or boxes.shape[-2:] != (n_dimensions, n_dimensions):
        needed = f"{n_dimensions} lengths or a {n_dimensions} × {n_dimensions} matrix"
        got = f"once or for each of {n_snapshots} snapshots, got shape {np.shape(given)}"
        raise ValueError(f"a box needs {needed}, {got}")
    full = np.broadcast_to(boxes, (n_snapshots, n_dimensions, n_dimensions))
    distinct, inverse = np.unique(full.reshape(n_snapshots, -1), axis=0, return_inverse=True)
    reduced = np.array([reduce_box(row.reshape(full.shape[1:])) for row in distinct])
    return frozen(reduced[inverse.ravel()])


def cell_vectors(cell: npt.ArrayLike) -> Floats:
    """Return box vectors (3, 3) of three lengths and the angles between b and c, a and c, a and b.

    Lengths of 0 are open directions, and the angles with them do not count.

    Examples
    --------
    >>> cell_vectors([4.0, 5.0, 0.0, 77.0, 77.0, 90.0])
    array([[4., 0., 0.],
           [0., 5., 0.],
           [0., 0., 0.]])
    """
    values = numbers(cell, "lengths and angles of a box")
    lengths, is_open = values[:3], values[:3] == 0
    _refuse_negative(lengths)
    angles = np.where(is_open[[1, 0, 0]] | is_open[[2, 2, 1]], 90.0, values[3:])
    alpha, beta, gamma = np.radians(angles)
    cosines = np.cos([alpha, beta, gamma])
    volume = 1 + 2 * cosines.prod() - (cosines**2).sum()  # squared, of a box of lengths 1
    if volume < _FLATTEST or angles.min() < _SHARPEST or angles.max() > _BLUNTEST:
        needed = f"angles of a box are in degrees, from {_SHARPEST:g} to {_BLUNTEST:g}"
        raise ValueError(f"{needed}, and span space, got {angles.tolist()}: pass row vectors")
    y = (np.cos(alpha) - np.cos(beta) * np.cos(gamma)) / np.sin(gamma)
    last = [np.cos(beta), y, np.sqrt(1 - np.cos(beta) ** 2 - y**2)]
    directions = [[1.0, 0.0, 0.0], [np.cos(gamma), np.sin(gamma), 0.0], last]
    matrix = lengths[:, None] * np.array(directions)
    matrix[np.abs(matrix) < 1e-12 * np.abs(matrix).max()] = 0.0  # cos 90° is not quite 0
    return matrix


def reduce_box(matrix: Floats) -> Floats:
    """Return the shortest vectors that span the lattice of a box (Minkowski reduction).

    Open directions of a straight box stay 0; in a tilted one they get very long vectors.
    """
    if _is_diagonal(matrix):
        return np.abs(matrix)  # a vector and its opposite span the same lattice
    vectors = _close(matrix)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if abs(np.linalg.det(vectors / lengths)) < _FLATTEST:
        raise ValueError(_FLAT)
    others = [(-1, 0, 1)] * (len(vectors) - 1)
    steps = np.array(np.meshgrid(*others)).reshape(len(others), -1).T
    for _ in range(_ROUNDS):
        vectors, changed = _subtract_shorter(vectors), False
        for row in np.argsort(-np.linalg.norm(vectors, axis=1), kind="stable"):
            candidates = vectors[row] + steps @ np.delete(vectors, row, axis=0)
            lengths = np.linalg.norm(candidates, axis=1)
            if lengths.min() < np.linalg.norm(vectors[row]) * (1 - 1e-12):
                vectors[row] = candidates[lengths.argmin()]
                changed = True
        if not changed:
            return vectors
    raise ValueError(_FLAT)


def invert(matrices: Floats) -> tuple[Floats, int]:
    """Return the inverses of boxes, 0 along open directions, and their kind."""
    diagonal = np.einsum("fii->fi", matrices)
    straight = np.count_nonzero(matrices, axis=(1, 2)) == np.count_nonzero(diagonal, axis=1)
    inverses = np.zeros(matrices.shape)
    np.divide(1.0, matrices, where=(matrices > 0) & straight[:, None, None], out=inverses)
    if straight.all():
        return inverses, kernel.STRAIGHT
    closed = ~straight & (np.abs(matrices).max(axis=2) > 0).all(axis=1)
    inverses[closed] = np.linalg.inv(matrices[closed])
    inverses[~straight & ~closed] = np.linalg.pinv(matrices[~straight & ~closed])
    return inverses, kernel.TILTED


def pairs_within(points: Coordinates, radius: float, boxes: Boxes) -> Ints:
    """Return the pairs of points that see one another no farther apart than a radius.

    Parameters
    ----------
    points : ndarray, shape (points, dimensions)
        Positions in one frame; points that are not seen (NaN) have no partners.
    radius : float
        In the units of the positions.
    boxes : Boxes
        Box of this frame.

    Returns
    -------
    ndarray of int, shape (pairs, 2)
        Lower first, sorted.

    Examples
    --------
    >>> line = np.array([[0.5], [3.0], [9.5]])
    >>> pairs_within(line, 1.5, Boxes.of(box_matrices(10.0, 1, 1), 1, 1))
    array([[0, 2]])
    """
    seen = np.flatnonzero(np.isfinite(points).all(axis=1))
    if len(seen) < 2:
        return np.empty((0, 2), np.int64)
    pairs = seen[_candidates(points[seen], radius * (1 + _SLACK), boxes)]
    apart = np.linalg.norm(boxes.between(points[None], *pairs.T)[0], axis=1)
    return np.asarray(pairs[apart <= radius])


def _candidates(points: Coordinates, reach: float, boxes: Boxes) -> Ints:
    """Return the pairs (lower first, sorted) of which some images are near."""
    places, box, inverse = np.asarray(points, np.float64), boxes.matrices[0], boxes.inverses[0]
    reaches = reach * np.linalg.norm(inverse, axis=0)  # in boxes; 0 along open directions
    fractions = places @ inverse
    fractions -= fractions.min(axis=0)  # so that nothing moves along very long vectors
    places = places - np.floor(fractions) @ box
    fractions -= np.floor(fractions)
    most = np.ceil(reaches + _SLACK).astype(np.int64)
    most[fractions.max(axis=0) + reaches < 1] = 0  # nothing is near through this border
    if not most.any():
        pairs = cKDTree(places, balanced_tree=False).query_pairs(reach, output_type="ndarray")
        return pairs[np.lexsort(pairs.T[::-1])].astype(np.int64)
    owners, images = list[Ints](), list[Floats]()
    for step in product(*(range(-count, count + 1) for count in most)):
        outside = np.abs(fractions + step - 0.5) - 0.5
        near = np.flatnonzero((outside < reaches + _SLACK).all(axis=1))
        owners.append(near)
        images.append(places[near] + np.array(step) @ box)
    tree = cKDTree(np.concatenate(images))
    found = cKDTree(places).sparse_distance_matrix(tree, reach, output_type="ndarray")
    first, second = found["i"].astype(np.int64), np.concatenate(owners)[found["j"]]
    keys = np.sort((first * len(places) + second)[first < second])
    keys = keys[np.diff(keys, prepend=-1) > 0]  # np.unique takes ten times as long
    return np.column_stack(np.divmod(keys, len(places)))


def _seen(images: Images | None, n_dimensions: int) -> tuple[Ints, Floats, Floats]:
    """Return which images are seen as kernels take it: molecules, origin, box of the origin."""
    molecules = np.empty(0, np.int64)
    origin, around = np.empty((0, n_dimensions)), np.zeros((2, n_dimensions, n_dimensions))
    if images is None:
        return molecules, origin, around
    if images.origin is not None or len(np.unique(images.molecules)) < len(images.molecules):
        molecules = np.array(images.molecules)
    if images.origin is not None and images.box is not None:
        origin = np.array(images.origin)
        around = np.concatenate([images.box[None], invert(images.box[None])[0]])
    return molecules, origin, around


def _refuse_negative(lengths: Floats) -> None:
    if (lengths < 0).any():
        raise ValueError("box lengths must be 0 or more, not negative")


def _is_diagonal(matrix: Floats) -> bool:
    return bool((matrix == np.diag(np.diag(matrix))).all())


def _close(matrix: Floats) -> Floats:
    """Return vectors of which those of open directions are very long, and across all others."""
    full = matrix.copy()
    is_open = ~matrix.any(axis=1)
    if is_open.any():
        directions = np.linalg.svd(matrix)[2]  # the last of which are across all vectors
        full[is_open] = _FAR * np.abs(matrix).max() * directions[len(matrix) - is_open.sum() :]
    return full


def _subtract_shorter(matrix: Floats) -> Floats:
    """Return box vectors, shortest first, less whole multiples of shorter ones."""
    vectors = matrix[np.argsort(np.linalg.norm(matrix, axis=1), kind="stable")]
    for row in range(1, len(vectors)):
        for other in range(row - 1, -1, -1):
            along = vectors[row] @ vectors[other] / (vectors[other] @ vectors[other])
            vectors[row] -= np.rint(along) * vectors[other]
    return vectors
