"""Boxes as the compiled loops want them, and vectors through their walls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timme._arrays import Floats
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


def _straight_inverses(matrices: Floats) -> Floats:
    """Invert diagonal matrices; a direction of length 0 stays 0."""
    inverses = np.zeros(matrices.shape)
    np.divide(1.0, matrices, where=matrices > 0, out=inverses)
    return inverses
