"""Boxes that programs write where there is none: they cannot hold what is in them.

A box that is much too small shows by itself: it is narrower than any atom, or has no room for all
of them, or many lie upon the images of others. One that is a little too small makes a few false
neighbours only, where the molecule reaches into its own images. What tells these from true ones is
how far apart they are. Neighbours through the walls of a true box, whether bonded or in a liquid,
are as far from one another as neighbours anywhere else. Where one thing lies upon another by
chance, any distance comes as often as there is space for it, and so those that no two atoms have.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from timme._arrays import Bools, Coordinates, Floats, Ints, Strings
from timme.system.boxes import fault_of, periodic_directions
from timme.system.elements import HYDROGENS
from timme.system.neighbours import have_partners, pairs_within
from timme.system.space import Boxes
from timme.system.units import unit_in_angstrom

_SHORTEST = 3.0  # Å: no box of atoms is narrower
_SLIM = 0.1  # of the other lengths: a third one that is shorter stands for a plane
_DENSEST = 1.0  # atoms per Å³; diamond has 0.18
_NEAREST = 0.7  # Å: no two atoms are nearer; molecules of hydrogen have 0.74
_OVERLAPPING = 0.03  # of all atoms; files have a few that are misplaced
_NEAR = 1.5  # times the usual distance of nearest atoms, within which neighbours are compared
_FARTHEST = 6.0  # Å, so that sparse sites are not compared with all others
_BINS = 20  # of their distances
_DOUBT = 20.0  # neighbours in open space that it takes to tell what is usual
_SURE, _CLEAR = 9.0, 0.5  # how much likelier chance must be, as logarithms, in all and for each
_BONDED = 2.4  # Å: atoms that are nearer are bound, if they are of one molecule
_USUAL_BONDS, _STRETCH = (0.01, 0.99), 0.1  # of their lengths, and Å beyond
_SPAN = 3.0  # lengths of the box; of particles that a program put into it, the first are within one
_BEYOND = 1.05  # of the box; what is bound through its walls in all directions may reach a bit out

_OPEN = Boxes.of(None, 1, 3)
Walls = tuple[bool, ...]  # directions in which a frame is periodic; none of open space


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
    shortest = lengths[lengths > 0].min(initial=np.inf)
    return bool(lengths.any()) and (angstrom is None or bool(angstrom * shortest >= _SHORTEST))


def walls_of(box: Floats | None, unit: str) -> Walls:
    """Tell in which directions a frame is periodic.

    Parameters
    ----------
    box, unit
        As for :func:`can_be_box`.

    Returns
    -------
    tuple of bool
        Of each direction; of none for frames without a box, or with what cannot be one.

    Examples
    --------
    >>> walls_of(np.diag([20.0, 30.0, 0.0]), "Å"), walls_of(np.eye(3), "Å")
    ((True, True, False), ())
    """
    if box is None or not can_be_box(box, unit):
        return ()
    return tuple(periodic_directions(box).tolist())


def max_walls(found: Iterable[Walls]) -> Walls:
    """Choose the space of the frames that are periodic in most directions.

    Parameters
    ----------
    found : iterable of tuple of bool
        As :func:`walls_of` tells them, of some frames.

    Returns
    -------
    tuple of bool
        The first of those.
    """
    return max(found, key=sum, default=())


def plane_box(box: Floats | None, points: Coordinates, unit: str) -> Floats | None:
    """Open a box across the plane in which all sites are.

    Programs that simulate in a plane write a third length all the same, often 1, which would make
    a placeholder of the box.

    Parameters
    ----------
    box : ndarray, shape (3, 3), or None
        Box vectors of a frame as rows.
    points : ndarray, shape (sites, 3)
        Positions in that frame.
    unit : str
        As for :func:`can_be_box`.

    Returns
    -------
    ndarray, shape (3, 3), or None
        The same, with zeros for a third vector that goes straight across the plane, and is too
        short for atoms or, where no unit is known, far shorter than the others.

    Examples
    --------
    >>> plane_box(np.diag([20.0, 30.0, 1.0]), np.zeros((4, 3)), "Å").diagonal().tolist()
    [20.0, 30.0, 0.0]
    """
    if box is None or not box[2, 2] or box[:2, 2].any() or box[2, :2].any():
        return box
    angstrom = unit_in_angstrom(unit) if unit else None
    limit = _SHORTEST if angstrom is not None else _SLIM * np.linalg.norm(box[:2], axis=1).min()
    short = (angstrom or 1.0) * abs(box[2, 2]) < limit  # which no NaN is
    if not short or (points[:, 2] != points[0, 2]).any():
        return box
    opened = box * np.array([[1.0], [1.0], [0.0]])
    return opened if can_be_box(opened, unit) else box


def remark_on_box(box: Floats | None, points: Coordinates) -> str:
    """Say what was decided on a box that does not say in which directions it is open.

    Parameters
    ----------
    box : ndarray, shape (3, 3), or None
        Box vectors of a frame as rows.
    points : ndarray, shape (sites, 3)
        Positions in that frame.

    Returns
    -------
    str
        A clause on the file, "" where nothing is in doubt: a plane needs no wall across it.

    Examples
    --------
    >>> points = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> remark_on_box(np.diag([100.0, 100.0, 0.0]), points)
    'its box has no length along z, and space is open there: give another (box=) if it is not'
    >>> remark_on_box(np.diag([100.0, 100.0, 0.0]), points * [1, 1, 0])
    ''
    """
    if box is None or not box.any():
        return ""
    if _is_unstated(box):
        return "its box has no finite numbers, and counts as none: give the true one (box=)"
    if fault_of(box):
        return ""
    is_open = ~periodic_directions(box)
    if not is_open.any() or not np.ptp(points[:, is_open], axis=0).any():
        return ""
    axes = _axes(tuple(is_open.tolist()))
    return (
        f"its box has no length along {axes}, and space is open there: give another (box=) if it "
        "is not"
    )


def _is_unstated(box: Floats) -> bool:
    return not np.isfinite(box[box != 0]).any()


def judge_box(box: Floats | None, unit: str, *, walls: Walls | None, name: str) -> Floats | None:
    """Take the box of a frame, or refuse it.

    Parameters
    ----------
    box, unit
        As for :func:`refuse_other_space`.
    walls : tuple of bool or None
        In which directions other frames are periodic; None where those of the files do not count.
    name : str
        The file and the frame, for the message.

    Returns
    -------
    ndarray, shape (3, 3), or None
        The same box, None if it has no finite numbers; where it does not count, none that no
        molecule is made whole through.
    """
    if box is not None and _is_unstated(box):
        box = None
    if walls is None:
        return None if fault_of(box) or not can_be_box(box, unit) else box
    refuse_other_space(box, unit, walls=walls, name=name)
    return box


def refuse_other_space(box: Floats | None, unit: str, *, walls: Walls, name: str) -> None:
    """Refuse a frame that has no box where others have one, or another kind of it, or a false one.

    Parameters
    ----------
    box : ndarray, shape (3, 3), or None
        Box vectors of the frame as rows.
    unit : str
        Their unit, as for :func:`can_be_box`.
    walls : tuple of bool
        In which directions other frames are periodic, as :func:`walls_of` tells it.
    name : str
        The file and the frame, for the message.

    Raises
    ------
    ValueError
        If this frame has not what the others have, or what no frame can have.
    """
    remedy = (
        "give the true box of all (box=), use none (box=False), or leave such frames out (start=, "
        "stop=, step=)"
    )
    fault = fault_of(box)
    if fault:
        raise ValueError(f"{name} has a box that {fault}: {remedy}")
    own = walls_of(box, unit)
    if own == walls:
        return
    if own and walls:
        raise ValueError(
            f"{name} is periodic along {_axes(own)}, and other frames along {_axes(walls)}: "
            f"{remedy}"
        )
    found = "no box"
    if box is not None and box.any():
        lengths = " × ".join(f"{length:.4g}" for length in np.linalg.norm(box, axis=1))
        found = f"a box of {lengths} {unit}".rstrip()
    others = "a true box" if walls else "none"
    raise ValueError(f"{name} has {found}, and other frames have {others}: {remedy}")


def refuse_other_spaces(boxes: Floats, unit: str, *, numbers: Sequence[int], name: str) -> None:
    """Refuse snapshots in memory that have no box where others have one.

    Parameters
    ----------
    boxes : ndarray, shape (snapshots, dimensions, dimensions)
        Box vectors of each as rows.
    unit : str
        Their unit, as for :func:`can_be_box`.
    numbers : sequence of int
        Which they are of the source, from 0 on.
    name : str
        Where they come from, for the message.
    """
    walls = max_walls(walls_of(box, unit) for box in boxes)
    for box, number in zip(boxes, numbers, strict=True):
        refuse_other_space(box, unit, walls=walls, name=f"{name}: frame {number + 1}")


def _axes(walls: Walls) -> str:
    return ", ".join(axis for axis, periodic in zip("xyz", walls, strict=False) if periodic)


def is_too_small(box: Floats, n_atoms: int) -> bool:
    """Tell whether a box has no room for its atoms, wherever these are.

    Parameters
    ----------
    box : ndarray, shape (3, 3)
        Box vectors as rows, in Å, zeros in open directions.
    n_atoms : int
        Number of atoms.

    Returns
    -------
    bool
        True for what is narrower than 3 Å, or fuller than any crystal.
    """
    lengths = np.linalg.norm(box, axis=1)
    narrow = bool(lengths[lengths > 0].min(initial=np.inf) < _SHORTEST)
    return narrow or n_atoms > _DENSEST * abs(np.linalg.det(box)) > 0


def is_placeholder(box: Floats, points: Coordinates, elements: Strings | None = None) -> bool:
    """Tell whether a box of atoms is one that programs write where there is none.

    A box counts only if it can hold what is in it: it is no narrower than 3 Å, has room for all
    atoms, these do not overlap with images of others, and neighbours through its walls are as far
    apart as neighbours are elsewhere.

    Parameters
    ----------
    box : ndarray, shape (3, 3)
        Box vectors as rows, in Å, zeros in open directions.
    points : ndarray, shape (atoms, 3)
        Positions in one snapshot, in Å.
    elements : ndarray of str, shape (atoms,), optional
        Their elements, "" where they are not known.

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
    if not box.any():
        return False
    if is_too_small(box, len(points)):
        return True
    solid, boxes = _solid(points, elements), Boxes.of(box[None], 1, 3)
    alone, boxed = (have_partners(solid, _NEAREST, walls) for walls in (_OPEN, boxes))
    if np.count_nonzero(boxed & ~alone) > max(2, _OVERLAPPING * len(solid)):
        return True
    return len(solid) > 1 and _reach_beyond(solid, boxes) and _meet_by_chance(solid, boxes)


def is_outgrown(box: Floats, points: Coordinates) -> bool:
    """Tell whether a box is the 1 × 1 × 1 that programs write by default, and particles mind none.

    Of what are no atoms nobody knows how long a box must be. But a simulation starts within its
    box, also where its program does not put particles back that leave it later.

    Parameters
    ----------
    box : ndarray, shape (dimensions, dimensions)
        Box vectors as rows, zeros in open directions.
    points : ndarray, shape (sites, dimensions)
        Positions in the first frame of the source, as it has them.

    Returns
    -------
    bool
        True if they span more than three boxes in a direction in which it is periodic.

    Examples
    --------
    >>> line = np.outer(np.arange(5.0), [1.0, 0.0, 0.0])
    >>> [is_outgrown(length * np.eye(3), line) for length in (1, 2)]
    [True, False]
    """
    periodic = box.any(axis=1)
    seen = points[np.isfinite(points).all(axis=1)]
    if not periodic.any() or not len(seen) or not np.array_equal(box, np.diag(periodic * 1.0)):
        return False
    return bool((np.ptp(seen[:, periodic], axis=0) > _SPAN).any())


def _solid(points: Coordinates, elements: Strings | None) -> Floats:
    """Choose points that are as far from one another as atoms are: heavy ones, if there are any.

    Hydrogens and sites that are no atoms may lie nearer to atoms than these to one another.
    """
    places = np.asarray(points, np.float64)
    seen = np.isfinite(places).all(axis=1)
    if elements is not None:
        heavy = seen & ~np.isin(elements, (*HYDROGENS, ""))
        seen = heavy if heavy.any() else seen
    return places[seen]


def _reach_beyond(points: Floats, boxes: Boxes) -> bool:
    """Tell whether points, as the file gives them, reach farther than the box does."""
    return bool((np.ptp(points @ boxes.inverses[0], axis=0) > 1.0).any())


def _meet_by_chance(points: Floats, boxes: Boxes) -> bool:
    """Tell whether neighbours through walls are at distances of chance, not at usual ones."""
    reach = min(_NEAR * _usual_distance(points), _FARTHEST)
    pairs = pairs_within(points, reach, boxes)
    vectors = points[pairs[:, 0]] - points[pairs[:, 1]]
    plain = np.linalg.norm(vectors, axis=1)
    nearest = np.linalg.norm(boxes.shorten(vectors[None])[0], axis=1)
    through = nearest < plain - 1e-4
    parts = np.linspace(0.0, 1.0, _BINS + 1)
    chance: Floats = np.diff(parts**3)
    inside, outside = (np.histogram(nearest[k] / reach, parts)[0] for k in (~through, through))
    usual = (inside + _DOUBT * chance) / (inside.sum() + _DOUBT)
    likelier = float(outside @ np.log(chance / usual))
    if likelier > max(_SURE, _CLEAR * float(outside.sum())):
        return True
    # A small molecule has few neighbours; but within one, each through a wall is a bond or none.
    bonded = ~through & (plain <= reach)
    if reach > _BONDED or not bonded.any():
        return False
    long = _long_molecules(points, pairs[bonded], boxes)
    within = through & (long[pairs[:, 0]] >= 0) & (long[pairs[:, 0]] == long[pairs[:, 1]])
    least, most = np.quantile(plain[bonded], _USUAL_BONDS) + np.array([-_STRETCH, _STRETCH])
    return bool(((nearest < least) | (nearest > most))[within].any())


def _long_molecules(points: Floats, bonds: Ints, boxes: Boxes) -> Ints:
    """Number the molecules in open space that are longer than the box; -1 for others."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(bonds)), bonds.T), shape=(len(points), len(points)))
    _, molecules = connected_components(graph, directed=False)
    order = np.argsort(molecules, kind="stable")
    starts = np.flatnonzero(np.diff(molecules[order], prepend=-1))
    fractions = (points @ boxes.inverses[0])[order]
    extents = np.maximum.reduceat(fractions, starts) - np.minimum.reduceat(fractions, starts)
    long: Bools = np.asarray((extents > _BEYOND).any(axis=1))
    return np.where(long[molecules], molecules, -1)


def _usual_distance(points: Floats) -> float:
    """Median distance to the nearest point in open space."""
    from scipy.spatial import cKDTree

    distances = np.asarray(cKDTree(points).query(points, k=2)[0])
    return float(np.median(distances[:, 1])) or _FARTHEST
