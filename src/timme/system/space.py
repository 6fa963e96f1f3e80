"""Boxes as the compiled loops want them, and vectors through their walls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, frozen, numbers
from timme._kernels import space


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """Periodic boxes of some frames, with their inverses and kind."""

    matrices: Floats  # (frames, dimensions, dimensions), rows are box vectors
    inverses: Floats  # (frames, dimensions, dimensions)
    kind: int  # OPEN, STRAIGHT or TILTED

    @classmethod
    def of(cls, matrices: Floats | None, n_frames: int, n_dimensions: int) -> Boxes:
        """Prepare boxes for the loops.

        Parameters
        ----------
        matrices : ndarray, shape (frames, dimensions, dimensions), or None
            Box vectors as rows, None for open space.
        n_frames, n_dimensions : int
            Shape where there are none.

        Returns
        -------
        Boxes
            A direction of length 0 in a straight box has inverse 0: it is open.
        """
        shape = (n_frames, n_dimensions, n_dimensions)
        if matrices is None or not matrices.any():
            return cls(np.zeros(shape), np.zeros(shape), space.OPEN)
        diagonal = np.einsum("fii->fi", matrices)
        if np.count_nonzero(matrices) == np.count_nonzero(diagonal):
            inverses = _straight_inverses(matrices)
            return cls(np.array(matrices), inverses, space.STRAIGHT)
        straight = np.count_nonzero(matrices, axis=(1, 2)) == np.count_nonzero(diagonal, axis=1)
        inverses = np.zeros(shape)
        inverses[~straight] = np.linalg.inv(matrices[~straight])
        inverses[straight] = _straight_inverses(matrices[straight])
        return cls(np.array(matrices), inverses, space.TILTED)

    def shorten(self, vectors: Floats) -> Floats:
        """Return the shortest periodic images of vectors.

        Parameters
        ----------
        vectors : ndarray, shape (frames, vectors, dimensions)
            Vectors of each frame.

        Returns
        -------
        ndarray, shape (frames, vectors, dimensions)
            Their shortest images.
        """
        shortened = np.array(vectors, dtype=np.float64)
        if self.kind != space.OPEN:
            space.all_to_shortest_images(shortened, self.matrices, self.inverses, self.kind)
        return shortened


def box_matrices(boxes: npt.ArrayLike, snapshots: int, dimensions: int) -> Floats:
    """Bring any way of giving a box into one matrix of row vectors per snapshot.

    Parameters
    ----------
    boxes : array_like
        Lengths (dimensions,), a matrix (dimensions, dimensions), in space also three lengths and
        three angles in degrees (6,), or one of these per snapshot.
    snapshots, dimensions : int
        Shape of the ensemble.

    Returns
    -------
    ndarray, shape (snapshots, dimensions, dimensions)
        Box vectors as rows, the shortest set that spans the same lattice.

    Examples
    --------
    >>> box_matrices([2.0, 3.0], snapshots=1, dimensions=2)
    array([[[2., 0.],
            [0., 3.]]])
    """
    given = numbers(boxes, "boxes")
    if not np.isfinite(given).all():
        raise ValueError("box lengths must be finite: check the box of the file")
    if dimensions == 3 and given.shape in {(6,), (snapshots, 6)}:
        given = _from_angles(given)
    square = given.shape == (dimensions, dimensions)
    if square and snapshots == dimensions and not _is_diagonal(given):
        raise ValueError(
            f"a box of shape {given.shape} for {snapshots} snapshots may mean lengths of each or "
            f"one matrix: pass shape {(snapshots, dimensions, dimensions)}"
        )
    lengths = given.shape in {(dimensions,), (snapshots, dimensions)} and not square
    matrices = given[..., None] * np.eye(dimensions) if lengths else given
    if matrices.shape not in {(dimensions, dimensions), (snapshots, dimensions, dimensions)}:
        raise ValueError(
            f"a box needs {dimensions} lengths or a {dimensions} × {dimensions} matrix, once or "
            f"for each of {snapshots} snapshots, got shape {given.shape}"
        )
    full = np.broadcast_to(matrices, (snapshots, dimensions, dimensions)).copy()
    if (np.einsum("fii->fi", full) < 0).any():
        raise ValueError("box lengths must be 0 or more, not negative: check the box of the file")
    for index in np.flatnonzero([not _is_diagonal(matrix) for matrix in full]):
        full[index] = _reduced(full[index])
    return frozen(full)


def _is_diagonal(matrix: Floats) -> bool:
    return bool((matrix == np.diag(np.diag(matrix))).all())


def _reduced(matrix: Floats) -> Floats:
    """Shorten box vectors until none gets shorter by adding another (Minkowski reduction)."""
    if abs(np.linalg.det(matrix)) < 1e-12 * np.abs(matrix).max() ** len(matrix):
        raise ValueError("a tilted box needs vectors that span space, got a flat one")
    vectors = _shortened(matrix)
    changed = True
    while changed:
        changed = False
        for row in np.argsort(-np.linalg.norm(vectors, axis=1), kind="stable"):
            others = np.delete(vectors, row, axis=0)
            shifts = np.array(np.meshgrid(*[(-1, 0, 1)] * len(others))).reshape(len(others), -1).T
            candidates = vectors[row] + shifts @ others
            lengths = np.linalg.norm(candidates, axis=1)
            if lengths.min() < np.linalg.norm(vectors[row]) * (1 - 1e-12):
                vectors[row] = candidates[lengths.argmin()]
                changed = True
    return vectors


def _from_angles(given: Floats) -> Floats:
    """Box vectors from a, b, c and the angles between b and c, a and c, a and b."""
    a, b, c = np.moveaxis(given, -1, 0)[:3]
    alpha, beta, gamma = np.radians(np.moveaxis(given, -1, 0)[3:])
    x = np.cos(beta)
    y = (np.cos(alpha) - np.cos(beta) * np.cos(gamma)) / np.sin(gamma)
    height = 1 - x**2 - y**2
    if not (np.sin(gamma) > 0).all() or not (height > 0).all():
        raise ValueError("the angles of a box must span space: check the box of the file")
    matrix = np.zeros((*given.shape[:-1], 3, 3))
    matrix[..., 0, 0] = a
    matrix[..., 1, 0], matrix[..., 1, 1] = b * np.cos(gamma), b * np.sin(gamma)
    matrix[..., 2, 0], matrix[..., 2, 1], matrix[..., 2, 2] = c * x, c * y, c * np.sqrt(height)
    matrix[np.abs(matrix) < 1e-12 * np.abs(matrix).max()] = 0.0  # cos 90° is not quite 0
    return matrix


def _shortened(matrix: Floats) -> Floats:
    """Take whole multiples of shorter vectors off the longer ones."""
    vectors = matrix[np.argsort(np.linalg.norm(matrix, axis=1), kind="stable")]
    for row in range(1, len(vectors)):
        for other in range(row - 1, -1, -1):
            along = vectors[row] @ vectors[other] / (vectors[other] @ vectors[other])
            vectors[row] -= np.rint(along) * vectors[other]
    return vectors


def _straight_inverses(matrices: Floats) -> Floats:
    """Invert diagonal matrices; a direction of length 0 stays 0."""
    inverses = np.zeros(matrices.shape)
    np.divide(1.0, matrices, where=matrices > 0, out=inverses)
    return inverses
