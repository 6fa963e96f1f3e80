"""What is known about the boxes of files and of users: one matrix of row vectors per snapshot.

Sources write boxes in many ways: lengths, lengths and angles, matrices, tilted or not, and zeros
where they mean that there is none. All that is known about this is here; what a box must hold to be
believed is in ``placeholders``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from timme._arrays import Bools, Floats, Ints, frozen, numbers

# Length of vectors across open directions, in the longest of the others. No distance may reach half
# of it: points that far apart are so many boxes away that double precision does not tell where in a
# box they are. A vector that is never added may be as long, as nothing is rounded by its length.
_FAR = 1e12
# Degrees between which angles of a box are believed. Cells of crystals and of simulations have 30
# to 150; radians and tilt factors are below 4.
_SHARPEST, _BLUNTEST = 20.0, 160.0
_FLAT = "a tilted box needs vectors that span space, got a flat one"
_FLATTEST = 1e-12  # volume between the directions of vectors
_DEFAULT = 1.0  # the longest that programs write where they mean no length at all
_ROUNDS = 1000  # after which a box counts as flat; true ones take a few


def box_matrices(boxes: npt.ArrayLike, snapshots: int, dimensions: int) -> Floats:
    """Bring any way of giving a box into one matrix of row vectors per snapshot.

    Parameters
    ----------
    boxes : array_like
        One length for all directions, lengths (dimensions,), a matrix (dimensions, dimensions), in
        space also three lengths and three angles in degrees (6,), from 20 to 160, or one of these
        but the first per snapshot. Directions of length 0 are open. In the plane, matrices of space
        whose third direction is open will do as well.
    snapshots, dimensions : int
        Shape of the ensemble.

    Returns
    -------
    ndarray, shape (snapshots, dimensions, dimensions)
        Box vectors as rows, the shortest set that spans the same lattice. A tilted box that is
        open in some directions gets vectors across these that no distance ever needs.

    Examples
    --------
    >>> box_matrices([2.0, 3.0], snapshots=1, dimensions=2)
    array([[[2., 0.],
            [0., 3.]]])
    """
    given = numbers(boxes, "boxes")
    if not np.isfinite(given).all():
        raise ValueError("box lengths must be finite: check the box of the file")
    if given.shape in {(), (1,)}:
        given = np.full(dimensions, given)
    if dimensions == 2 and given.ndim == 3 and given.shape[1:] == (3, 3) and _is_flat(given):
        given = given[:, :2, :2]
    if dimensions == 3 and given.shape in {(6,), (snapshots, 6)}:
        _refuse_negative(given[..., :3])
        given = _from_angles(_with_angles(np.atleast_2d(given)))
    square = given.shape == (dimensions, dimensions)
    if square and snapshots == dimensions and not _is_diagonal(given):
        raise ValueError(
            f"a box of shape {given.shape} for {snapshots} snapshots may mean lengths of each or "
            f"one matrix: pass shape {(snapshots, dimensions, dimensions)}"
        )
    lengths = given.shape in {(dimensions,), (snapshots, dimensions)} and not square
    if lengths:
        _refuse_negative(given)
    matrices = given[..., None] * np.eye(dimensions) if lengths else given
    each = matrices.shape[:-2] in {(), (1,), (snapshots,)}
    if not each or matrices.shape[-2:] != (dimensions, dimensions):
        raise ValueError(
            f"a box needs {dimensions} lengths or a {dimensions} × {dimensions} matrix, once or "
            f"for each of {snapshots} snapshots, got shape {given.shape}"
        )
    full = np.broadcast_to(matrices, (snapshots, dimensions, dimensions)).copy()
    for index, matrix in enumerate(full):
        # A vector and its opposite span the same lattice.
        full[index] = np.abs(matrix) if _is_diagonal(matrix) else _reduce(_close(matrix))
    return frozen(full)


def box_of(step: Any) -> Floats | None:
    """Take the box of an MDAnalysis time step.

    Parameters
    ----------
    step : Timestep
        One frame.

    Returns
    -------
    ndarray, shape (3, 3), or None
        Box vectors as rows, None where space is open.
    """
    if step.dimensions is None or not np.any(step.dimensions[:3]):
        return None
    # Not its vectors, which the library sets to zero where one length is.
    given = np.asarray(step.dimensions, dtype=np.float64)
    return vectors_of_cell(given[:3], given[3:])


def vectors_of_cell(lengths: Floats, angles: Floats) -> Floats:
    """Make box vectors of the lengths and angles of a file.

    Parameters
    ----------
    lengths : ndarray, shape (3,)
        Those of a, b and c, 0 in open directions.
    angles : ndarray, shape (3,)
        Degrees between b and c, a and c, a and b; those with an open direction do not count. Three
        zeros are angles that nobody wrote, and stand for right ones.

    Returns
    -------
    ndarray, shape (3, 3)
        Box vectors as rows. Where no vectors have these lengths and angles, NaN beside the lengths,
        see :func:`fault_of`; but lengths of 1 and less mean none, and no angles are asked for.

    Examples
    --------
    >>> vectors_of_cell(np.array([4.0, 5.0, 0.0]), np.array([0.0, 0.0, 90.0]))
    array([[4., 0., 0.],
           [0., 5., 0.],
           [0., 0., 0.]])
    """
    written = angles if angles.any() else np.full(3, 90.0)
    given = _straight_where_open(np.concatenate([lengths, written])[None])
    if np.isfinite(lengths).all() and (lengths >= 0).all():
        try:
            return np.asarray(_from_angles(given)[0])
        except ValueError:
            if lengths.max() <= _DEFAULT:
                return np.diag(lengths)
    return np.where(np.eye(3, dtype=np.bool_), lengths, np.nan)


def remark_on_cell(lengths: Floats, angles: Floats) -> str:
    """Say what was decided on the lengths and angles of a file.

    Parameters
    ----------
    lengths, angles : ndarray, shape (3,)
        As for :func:`vectors_of_cell`.

    Returns
    -------
    str
        A clause on the file, "" where its cell means what it says.

    Examples
    --------
    >>> remark_on_cell(np.full(3, 40.0), np.zeros(3))
    'the angles of its box are 0, and are taken for right ones'
    >>> remark_on_cell(np.ones(3), np.zeros(3))
    ''
    """
    if angles.any() or not (lengths > _DEFAULT).any():
        return ""
    return "the angles of its box are 0, and are taken for right ones"


def fault_of(box: Floats | None) -> str:
    """Say what is wrong with the box of a frame.

    Parameters
    ----------
    box : ndarray, shape (dimensions, dimensions), or None
        Box vectors as rows, None where there is none.

    Returns
    -------
    str
        What follows "a box that"; "" where nothing is wrong.

    Examples
    --------
    >>> fault_of(np.diag([4.0, 5.0, 0.0])), fault_of(np.full((3, 3), np.nan))
    ('', 'has lengths or angles that no box has')
    """
    if box is None or not box.any():
        return ""
    if not np.isfinite(box).all():
        return "has lengths or angles that no box has"
    if not _is_diagonal(box) and _is_singular(_close(box)):
        return "is flat, as its vectors do not span space"
    return ""


def periodic_directions(box: Floats) -> Bools:
    """Tell along which axes a box is periodic.

    Parameters
    ----------
    box : ndarray, shape (dimensions, dimensions)
        Box vectors as rows, as a file has them or as :func:`box_matrices` returns them.

    Returns
    -------
    ndarray of bool, shape (dimensions,)
        False for those that are open, or nearest to what is: rows come in any order.

    Examples
    --------
    >>> tilted = np.array([[4.0, 0.0, 0.0], [1.0, 5.0, 0.0], [0.0, 0.0, 0.0]])
    >>> for box in (tilted, box_matrices(tilted, 1, 3)[0], tilted[[2, 0, 1]]):
    ...     periodic_directions(box).tolist()
    [True, True, False]
    [True, True, False]
    [True, True, False]
    """
    lengths = np.linalg.norm(box, axis=1)
    shortest = lengths[lengths > 0].min(initial=np.inf)
    far = np.inf if _is_diagonal(box) else 0.5 * _FAR * shortest  # vectors across open ones
    vectors = box[(lengths > 0) & (lengths < far)]
    axes = np.ones(len(box), dtype=np.bool_)
    if len(vectors) < len(box):
        # How much of every axis lies within what the vectors span.
        within = np.linalg.norm(np.linalg.qr(vectors.T)[0], axis=1)
        axes[np.argsort(within, kind="stable")[: len(box) - len(vectors)]] = False
    return axes


def box_or_none(box: Floats) -> Floats | None:
    """Take a box of zeros as what files mean by it: none.

    Parameters
    ----------
    box : ndarray, shape (dimensions, dimensions)
        Box vectors as rows.

    Returns
    -------
    ndarray, shape (dimensions, dimensions), or None
        The same, None where space is open.
    """
    return box if box.any() else None


def boxes_of_frames(found: Sequence[Floats | None]) -> Floats:
    """Bring the boxes of single frames together.

    Parameters
    ----------
    found : sequence of ndarray, shape (3, 3), or None
        Box vectors of each frame as rows, None where that frame has none.

    Returns
    -------
    ndarray, shape (frames, 3, 3)
        As :func:`box_matrices` returns them, zeros for frames without a box.
    """
    boxes = np.zeros((len(found), 3, 3))
    for row, box in enumerate(found):
        if box is not None:
            boxes[row] = box
    return box_matrices(boxes, len(found), 3)


def _refuse_negative(lengths: Floats) -> None:
    if (lengths < 0).any():
        raise ValueError("box lengths must be 0 or more, not negative: check the box of the file")


def _is_flat(matrices: Floats) -> bool:
    return not (matrices[:, 2].any() or matrices[:, :, 2].any())


def _is_diagonal(matrix: Floats) -> bool:
    return bool((matrix == np.diag(np.diag(matrix))).all())


def _is_singular(matrix: Floats) -> bool:
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return bool(abs(np.linalg.det(matrix / lengths)) < _FLATTEST)


def _close(matrix: Floats) -> Floats:
    """Put long vectors across all others where a tilted box is open."""
    is_open = ~matrix.any(axis=1)
    if not is_open.any():
        return matrix
    full = matrix.copy()
    directions = np.linalg.svd(matrix)[2]  # the last of which are across all vectors
    full[is_open] = _FAR * np.abs(matrix).max() * directions[len(matrix) - is_open.sum() :]
    return full


def _reduce(matrix: Floats) -> Floats:
    """Shorten box vectors until none gets shorter by adding another (Minkowski reduction)."""
    if _is_singular(matrix):
        raise ValueError(_FLAT)
    vectors = matrix
    for _ in range(_ROUNDS):
        vectors, changed = _shorten(vectors), False
        for row in np.argsort(-np.linalg.norm(vectors, axis=1), kind="stable"):
            others = vectors[[other for other in range(len(vectors)) if other != row]]
            candidates = vectors[row] + _shifts(len(others)) @ others
            lengths = np.linalg.norm(candidates, axis=1)
            if lengths.min() < np.linalg.norm(vectors[row]) * (1 - 1e-12):
                vectors[row] = candidates[lengths.argmin()]
                changed = True
        if not changed:
            return vectors
    raise ValueError(_FLAT)


@cache
def _shifts(count: int) -> Ints:
    """Return how often each of some vectors is added to another: once, not at all, taken off."""
    return np.array(np.meshgrid(*[(-1, 0, 1)] * count)).reshape(count, -1).T


def _straight_where_open(given: Floats) -> Floats:
    """Take angles with an open direction for straight ones, whatever is written there."""
    is_open = given[:, :3] == 0
    with_open = np.stack([is_open[:, [1, 2]], is_open[:, [0, 2]], is_open[:, [0, 1]]]).any(axis=2).T
    return np.concatenate([given[:, :3], np.where(with_open, 90.0, given[:, 3:])], axis=1)


def _with_angles(given: Floats) -> Floats:
    """Refuse what stands in the place of angles and is something else."""
    cells = _straight_where_open(given)
    wrong = ((cells[:, 3:] < _SHARPEST) | (cells[:, 3:] > _BLUNTEST)).any(axis=1)
    if wrong.any():
        raise ValueError(
            "the last three of six numbers are angles in degrees, from "
            f"{_SHARPEST:g} to {_BLUNTEST:g}, got {_listed(given[wrong][0, 3:])}: if these are "
            f"tilts xy, xz, yz (HOOMD, GSD, freud), pass {_without_tilts(given[wrong][0])}; turn "
            "radians into degrees"
        )
    return cells


def _without_tilts(given: Floats) -> str:
    """Write three lengths and three tilts as what is taken: lengths and angles, or vectors."""
    xy, xz, yz = given[3:]
    slants = np.array([[1.0, 0.0, 0.0], [xy, 1.0, 0.0], [xz, yz, 1.0]])
    stretch = np.linalg.norm(slants, axis=1)
    a, b, c = slants / stretch[:, None]
    angles = np.degrees(np.arccos([b @ c, a @ c, a @ b]))
    if angles.min() < _SHARPEST or angles.max() > _BLUNTEST:
        return "row vectors [[Lx, 0, 0], [xy*Ly, Ly, 0], [xz*Lz, yz*Lz, Lz]]"
    return _listed(np.concatenate([given[:3] * stretch, angles]))


def _listed(numbers: Floats) -> str:
    return ", ".join(f"{number:.8g}" for number in numbers)


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


def _shorten(matrix: Floats) -> Floats:
    """Take whole multiples of shorter vectors off the longer ones."""
    vectors = matrix[np.argsort(np.linalg.norm(matrix, axis=1), kind="stable")]
    for row in range(1, len(vectors)):
        for other in range(row - 1, -1, -1):
            along = vectors[row] @ vectors[other] / (vectors[other] @ vectors[other])
            vectors[row] -= np.rint(along) * vectors[other]
    return vectors
