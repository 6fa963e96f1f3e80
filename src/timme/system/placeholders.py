"""Boxes that programs write where there is none: they cannot hold what is in them."""

from __future__ import annotations

import numpy as np

from timme._arrays import Coordinates, Floats
from timme.system.neighbours import have_partners
from timme.system.space import Boxes

_SHORTEST = 3.0  # Å: no box of atoms is narrower
_DENSEST = 1.0  # atoms per Å³; diamond has 0.18
_OVERLAPPING = 0.03  # of all atoms; files have a few that are misplaced


def is_placeholder(box: Floats, points: Coordinates, nearest: float = 0.7) -> bool:
    """Tell whether a box of atoms is one that programs write where there is none.

    A box counts only if it can hold what is in it: it is no narrower than 3 Å, has room for all
    atoms, and they do not overlap with their own images.

    Parameters
    ----------
    box : ndarray, shape (3, 3)
        Box vectors as rows, in Å, zeros in open directions.
    points : ndarray, shape (atoms, 3)
        Positions in one snapshot, in Å.
    nearest : float, optional
        Distance in Å below which two of them overlap: hydrogen molecules have 0.74.

    Returns
    -------
    bool
        False for boxes that can be true ones.

    Examples
    --------
    >>> atoms = np.array([[0.0, 0.0, 0.0], [1.5, 0.0, 0.0], [3.0, 0.0, 0.0]])
    >>> is_placeholder(np.eye(3), atoms), is_placeholder(20.0 * np.eye(3), atoms)
    (True, False)
    """
    lengths = np.linalg.norm(box, axis=1)
    if not box.any():
        return False
    if lengths[lengths > 0].min() < _SHORTEST:
        return True
    if len(points) > _DENSEST * abs(np.linalg.det(box)) > 0:
        return True
    alone, boxed = (
        have_partners(points, nearest, Boxes.of(matrices, 1, 3)) for matrices in (None, box[None])
    )
    return int(np.count_nonzero(boxed & ~alone)) > max(2, _OVERLAPPING * len(points))
