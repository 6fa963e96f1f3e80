"""Boxes that programs write where there is none: they cannot hold what is in them."""

from __future__ import annotations

import numpy as np

from timme._arrays import Coordinates, Floats
from timme.system.neighbours import have_partners
from timme.system.space import Boxes
from timme.system.units import unit_in_angstrom

_SHORTEST = 3.0  # Å: no box of atoms is narrower
_DENSEST = 1.0  # atoms per Å³; diamond has 0.18
_OVERLAPPING = 0.03  # of all atoms; files have a few that are misplaced


def can_be_box(box: Floats | None, unit: str) -> bool:
    """Tell whether a frame has a box, and none that is too narrow for any atom.

    Parameters
    ----------
    box : ndarray, shape (3, 3), or None
        Box vectors as rows, None where the frame has none.
    unit : str
        Their unit, "" where nobody knows it and any length will do.

    Returns
    -------
    bool
        False for none, and for what programs write where they mean none.

    Examples
    --------
    >>> can_be_box(np.eye(3), "Å"), can_be_box(np.eye(3), ""), can_be_box(None, "Å")
    (False, True, False)
    """
    if box is None or not box.any():
        return False
    angstrom = unit_in_angstrom(unit) if unit else None
    lengths = np.linalg.norm(box, axis=1)
    return angstrom is None or bool(angstrom * lengths[lengths > 0].min() >= _SHORTEST)


def refuse_other_space(box: Floats | None, unit: str, *, walled: bool, name: str) -> None:
    """Refuse a frame that has no box where others have one, or the other way round.

    Parameters
    ----------
    box : ndarray, shape (3, 3), or None
        Box vectors of the frame as rows.
    unit : str
        Their unit, as for :func:`can_be_box`.
    walled : bool
        Whether other frames have a box.
    name : str
        The file and the frame, for the message.

    Raises
    ------
    ValueError
        If this frame has not what the others have.
    """
    if can_be_box(box, unit) == walled:
        return
    found = "no box"
    if box is not None and box.any():
        lengths = " × ".join(f"{length:.4g}" for length in np.linalg.norm(box, axis=1))
        found = f"a box of {lengths} {unit}".rstrip()
    others = "a true box" if walled else "none"
    raise ValueError(
        f"{name} has {found}, and other frames have {others}: give the true box of all (box=), use "
        "none (box=False), or leave such frames out (start=, stop=, step=)"
    )


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
