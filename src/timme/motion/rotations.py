"""Find the nearest rotations of many matrices of 3 × 3 at once, and how hard bodies are to turn."""

from __future__ import annotations

import numpy as np

from timme._arrays import Bools, Floats
from timme._kernels import rotations as kernel


def nearest_rotations(matrices: Floats) -> Floats:
    """Find the rotation R nearest to each matrix, the one with the largest trace of Rᵀ H.

    Where several are as near, as for a line, one of them is given: ask
    :func:`timme.motion.fits.fit` where a verdict is needed.

    Parameters
    ----------
    matrices : ndarray, shape (..., 3, 3)
        Any matrices.

    Returns
    -------
    ndarray, shape (..., 3, 3)
        Rotations.

    Examples
    --------
    >>> nearest_rotations(np.diag([3.0, 2.0, 1.0]))
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    flat = matrices.reshape(-1, 3, 3)
    found, known = clear_rotations(flat)
    if not known.all():
        found[~known] = _by_svd(flat[~known])
    return found.reshape(matrices.shape)


def clear_rotations(matrices: Floats) -> tuple[Floats, Bools]:
    """Find the nearest rotations of matrices whose determinant is clearly positive.

    Parameters
    ----------
    matrices : ndarray, shape (matrices, 3, 3)
        Any matrices.

    Returns
    -------
    rotations : ndarray, shape (matrices, 3, 3)
        To be used where they are known.
    known : ndarray of bool, shape (matrices,)
        Which these are: others are left to singular values.
    """
    flat = np.ascontiguousarray(matrices, dtype=np.float64).reshape(-1, 9)
    found, known = np.empty_like(flat), np.empty(len(flat), np.bool_)
    kernel.to_rotations(flat, found, known)
    return found.reshape(-1, 3, 3), known


def inertia(places: Floats, weights: Floats) -> Floats:
    """Sum w (|x|² 1 − x xᵀ) over the sites of a body.

    Parameters
    ----------
    places : ndarray, shape (sites, 3)
        About their middle.
    weights : ndarray, shape (sites,)
        How much each counts.

    Returns
    -------
    ndarray, shape (3, 3)
        In the square of the unit of the coordinates.
    """
    known = np.isfinite(places).all(axis=1)
    sites, share = places[known], weights[known]
    second = (sites * share[:, None]).T @ sites
    found: Floats = np.trace(second) * np.eye(3) - second
    return found


def _by_svd(matrices: Floats) -> Floats:
    left, _, right = np.linalg.svd(matrices)
    left[:, :, -1] *= np.sign(np.linalg.det(left) * np.linalg.det(right))[:, None]
    found: Floats = left @ right
    return found
