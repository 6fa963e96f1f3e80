"""Boxes as the compiled loops want them, which images are seen, and vectors through walls."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from timme._arrays import Coordinates, Floats, Ints
from timme._kernels import space
from timme.system.images import Images


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """Periodic boxes of some frames, with their inverses and kind."""

    matrices: Floats  # (frames, dimensions, dimensions), rows are box vectors
    inverses: Floats  # (frames, dimensions, dimensions)
    kind: int  # OPEN, STRAIGHT or TILTED
    molecules: Ints  # (sites,), between whose sites there are no images; none where all are single
    origin: Floats  # (sites, dimensions), where images are chosen once for all; or none
    origin_box: Floats  # (2, dimensions, dimensions), the box there and its inverse

    @classmethod
    def of(
        cls,
        matrices: Floats | None,
        n_frames: int,
        n_dimensions: int,
        images: Images | None = None,
    ) -> Boxes:
        """Prepare boxes for the loops.

        Parameters
        ----------
        matrices : ndarray, shape (frames, dimensions, dimensions), or None
            Box vectors as rows, None for open space.
        n_frames, n_dimensions : int
            Shape where there are none.
        images : Images, optional
            Which images sites see, the nearest by default.

        Returns
        -------
        Boxes
            A direction of length 0 in a straight box has inverse 0: it is open.
        """
        seen = _seen(images, n_dimensions)
        shape = (n_frames, n_dimensions, n_dimensions)
        if matrices is None or not matrices.any() or (images is not None and images.alone):
            return cls(np.zeros(shape), np.zeros(shape), space.OPEN, *seen)
        inverses, kind = inverted(matrices)
        if images is not None and images.box is not None:  # one loop goes through both
            kind = max(kind, inverted(images.box[None])[1])
        return cls(np.array(matrices), inverses, kind, *seen)

    def select(self, sites: Ints) -> Boxes:
        """Keep some of the sites.

        Parameters
        ----------
        sites : ndarray of int
            Indices of the sites to keep.

        Returns
        -------
        Boxes
            The same boxes, with the images that these sites see.
        """
        molecules = self.molecules[sites] if len(self.molecules) else self.molecules
        origin = self.origin[sites] if len(self.origin) else self.origin
        return replace(self, molecules=molecules, origin=origin)

    def between(self, coordinates: Coordinates, one: Ints, other: Ints) -> Floats:
        """Return the vectors from sites to the images of others that they see.

        Parameters
        ----------
        coordinates : ndarray, shape (frames, sites, dimensions)
            Positions.
        one, other : ndarray of int, shape (vectors,)
            From which sites to which.

        Returns
        -------
        ndarray, shape (frames, vectors, dimensions)
            As distances are measured.
        """
        vectors = np.subtract(coordinates[:, other], coordinates[:, one], dtype=np.float64)
        if self.kind == space.OPEN:
            return vectors
        if len(self.origin):
            apart = (self.origin[other] - self.origin[one])[None]
            around = replace(self, matrices=self.origin_box[:1], inverses=self.origin_box[1:])
            steps = np.rint((around.shorten(apart) - apart)[0] @ self.origin_box[1])
            followed: Floats = vectors + np.einsum("vi,fij->fvj", steps, self.matrices)
            return followed
        if not len(self.molecules):
            return self.shorten(vectors)
        inside = self.molecules[one] == self.molecules[other]
        return np.where(inside[:, None], vectors, self.shorten(vectors))

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


def _seen(images: Images | None, n_dimensions: int) -> tuple[Ints, Floats, Floats]:
    """Lay out which images are seen as the loops want it."""
    molecules = np.empty(0, np.int64)
    origin, around = np.empty((0, n_dimensions)), np.zeros((2, n_dimensions, n_dimensions))
    if images is not None and not images.single:
        molecules = np.array(images.molecules)
    if images is not None and images.origin is not None and images.box is not None:
        origin = np.array(images.origin)
        around = np.concatenate([images.box[None], inverted(images.box[None])[0]])
    return molecules, origin, around


def inverted(matrices: Floats) -> tuple[Floats, int]:
    """Invert boxes, and tell of what kind they are.

    Parameters
    ----------
    matrices : ndarray, shape (frames, dimensions, dimensions)
        Box vectors as rows.

    Returns
    -------
    inverses : ndarray, shape (frames, dimensions, dimensions)
        A direction of length 0 has inverse 0.
    kind : int
        STRAIGHT if all are, TILTED otherwise.
    """
    diagonal = np.einsum("fii->fi", matrices)
    straight = np.count_nonzero(matrices, axis=(1, 2)) == np.count_nonzero(diagonal, axis=1)
    if straight.all():
        return _straight_inverses(matrices), space.STRAIGHT
    inverses = np.zeros(matrices.shape)
    closed = ~straight & (np.abs(matrices).max(axis=2) > 0).all(axis=1)
    inverses[closed] = np.linalg.inv(matrices[closed])
    inverses[~straight & ~closed] = np.linalg.pinv(matrices[~straight & ~closed])
    inverses[straight] = _straight_inverses(matrices[straight])
    return inverses, space.TILTED


def _straight_inverses(matrices: Floats) -> Floats:
    """Invert diagonal matrices; a direction of length 0 stays 0."""
    inverses = np.zeros(matrices.shape)
    np.divide(1.0, matrices, where=matrices > 0, out=inverses)
    return inverses
