"""Checks: the only judge of what a file claims of its unit, its elements and its boxes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from timme._arrays import Bools, Coordinates, Floats, Ints
from timme.ensemble import Boxes, Ensemble
from timme.ensemble.atoms import HYDROGENS, angstroms, is_element, unit_label
from timme.ensemble.frames import Numbers, OpenSpace, Placed, Step
from timme.ensemble.space import box_matrices, pairs_within
from timme.io.files import STRUCTURES, kind

_DUMMY = 1.5  # in the unit of the file: programs write boxes of 1 where there is none
_SHORTEST = 3.0  # Å, of any box of atoms; none holds more than one in each Å³
_NEAREST, _NEAR_PART = 0.7, 0.03  # Å between heavy atoms, and how many of them are nearer
_CLASH, _CLASH_PART, _FEW = 0.5, 0.05, 10  # the same of models that lie upon one another
_MOST_BONDS, _CROWDED = 6, 0.25  # of an atom, and how many of the bonded ones have more
_GHOSTS = frozenset(("X", "M", "MW", "EP", "LP", "DU"))  # sites beside atoms
_IN_NM = frozenset((".gro", ".xtc", ".trr"))  # always, and read in Å
_WITHOUT_UNIT = frozenset((".gsd", ".lammpstrj", ".data", ".lmp", ".xyz"))


@dataclass(frozen=True, slots=True, eq=False)
class Space(Step):
    """Refuse frames in another space than the first, and frames that were never filled."""

    periodic: Bools | None  # (dimensions,), as in the first frame; None where boxes are known
    strict: bool  # whether another box is refused, or counts as none
    filled: bool  # whether no frame may have half of its sites at exactly 0
    prefix: str  # of messages

    def __call__(self, coordinates: Coordinates, boxes: Floats | None, numbers: Numbers) -> Placed:
        """Return the coordinates, and boxes reduced to their shortest vectors."""
        if self.filled and (coordinates[..., 0] == 0).any():
            for row in np.flatnonzero(_are_empty(coordinates)).tolist():
                fault = f"frame {numbers[row] + 1:,}: half of its sites are at exactly 0"
                raise ValueError(f"{self.prefix}{fault}: leave it out (start=, stop=)")
        if boxes is None or self.periodic is None:
            return coordinates, boxes
        reduced = dict[bytes, Floats]()
        for row, box in enumerate(boxes):
            if box.tobytes() not in reduced:
                reduced[box.tobytes()] = self._reduced(box, numbers[row])
        found = np.array([reduced[box.tobytes()] for box in boxes])
        return coordinates, found if self.periodic.any() else None

    def _reduced(self, box: Floats, number: int) -> Floats:
        found, fault = true_box(box), ""
        try:
            if (found.any(axis=1) == self.periodic).all():
                reduced: Floats = box_matrices(found[None], 1, len(found))[0]
                return reduced
            fault = f"its box {_shown(found)} is not periodic in the directions of the first one"
        except ValueError as error:
            fault = str(error)
        if self.strict:
            fault = f"{self.prefix}frame {number + 1:,}: {fault}"
            raise ValueError(f"{fault}: give the true box (box=), none (box=False), or stop before")
        return np.zeros_like(found)


def true_box(box: Floats) -> Floats:
    """Return a box, or zeros for what programs write where there is none."""
    sizes = np.where(np.isfinite(box), np.abs(box), 0.0).max(axis=1)
    known = np.isfinite(np.diag(box)).all() and sizes.max() > _DUMMY
    return box if known else np.zeros_like(box)


def judge(
    draft: Ensemble, *, unit: str | None = None, box: Floats | None = None, opens: bool = False
) -> Ensemble:
    """Return an ensemble whose unit, elements and boxes are facts; notes tell what was decided.

    Parameters
    ----------
    draft : Ensemble
        All sites, with the boxes of the source.
    unit : str, optional
        The user's name of the unit.
    box : ndarray, shape (snapshots, dimensions, dimensions), optional
        The user's boxes.
    opens : bool, optional
        Whether boxes only make molecules whole, so that none is refused.
    """
    ensemble = _with_elements(_with_unit(draft, unit))
    frames, notes, prefix = ensemble.frames, list(ensemble.notes), ensemble.prefix
    points, boxes = frames.read(0, 1)
    # Sites of a line or a lattice meet at 0.
    filled = points.shape[2] > 1 and bool(np.nan_to_num(points % 1.0).any())
    space = Space(None, not opens, filled and not _are_empty(points)[0], prefix)
    if box is not None:
        frames, boxes = replace(frames, boxes=box), box[:1]
    elif boxes is not None:
        found = true_box(boxes[0])
        if boxes.any() and not found.any():
            notes.append(f"{prefix}its box {_shown(boxes[0])} counts as none")
        space = replace(space, periodic=np.any(found, axis=1))
        boxes = space(points, boxes, frames.numbers[:1])[1]
    if boxes is not None and _is_too_small(ensemble, points[0], boxes):
        fault = f"{prefix}a box {_shown(boxes[0])} cannot hold these atoms"
        if box is not None:
            raise ValueError(f"{fault}: give the true one in the unit of the coordinates (box=)")
        notes.append(f"{fault} and counts as none: give the true box (box=) if there is one")
        frames = frames.then(OpenSpace())
    return replace(ensemble, frames=frames.then(space), notes=tuple(notes))


def refuse_clashes(ensemble: Ensemble) -> None:
    """Refuse models of which many heavy atoms lie upon others, as of several piled into one."""
    heavy, length = _heavy(ensemble), angstrom_of(ensemble)
    if length is None or not (ensemble.atoms.elements != "").any():
        return
    for number in range(ensemble.n_snapshots if ensemble.independent else 1):
        points = ensemble.frames.read(number, number + 1)[0][0][heavy]
        seen = np.isfinite(points).all(axis=1)
        tree = cKDTree(points[seen], balanced_tree=False)  # built in half the time
        reach = tree.query(points[seen], k=2, distance_upper_bound=_CLASH / length)
        near = np.flatnonzero(np.isfinite(np.asarray(reach[0])[:, 1]))
        if len(near) > max(_FEW, _CLASH_PART * len(heavy)):
            atom = ensemble.atoms.label(int(heavy[seen][near[0]]))
            raise ValueError(
                f"{ensemble.prefix}{len(near):,} of {len(heavy):,} heavy atoms are within {_CLASH} "
                f"Å of another in snapshot {number + 1}, such as {atom}: state the unit "
                "(unit='nm'), or separate models that overlap"
            )


def angstrom_of(ensemble: Ensemble) -> float | None:
    """Return the length of the unit of atoms in Å, None for what are no atoms."""
    known = (ensemble.atoms.elements != "").any() or ensemble.unit
    return angstroms(ensemble.unit) if known and ensemble.n_dimensions == 3 else None


def _with_unit(draft: Ensemble, unit: str | None) -> Ensemble:
    """Return a draft with the user's name of the unit, where the format leaves that open."""
    label, kinds = unit_label(unit or draft.unit), {kind(Path(path)) for path in draft.sources}
    stated = kinds & _IN_NM or (".h5md" in kinds and draft.unit)
    if stated and label != unit_label(draft.unit):
        raise ValueError(f"{draft.prefix}its format is in {draft.unit}: leave out unit={unit!r}")
    return replace(draft, unit=label)


def _with_elements(draft: Ensemble) -> Ensemble:
    """Return atoms or particles, where a file without a unit names both by one letter."""
    (source, *others), atoms = [kind(Path(path)) for path in draft.sources] or [""], draft.atoms
    in_angstrom = source == ".xyz" or (source in STRUCTURES and {*others} == {".xyz"})
    unit = draft.unit or ("Å" if in_angstrom else "")
    names = {name.capitalize() for name in {*atoms.names.tolist()} if name.upper() not in _GHOSTS}
    is_named = (atoms.elements != "").any()
    if is_named and source in _WITHOUT_UNIT and not (unit and all(map(is_element, names))):
        return replace(draft, atoms=atoms.with_elements(np.full(len(atoms), "")))
    return replace(draft, unit=unit)


def refuse_crowded(ensemble: Ensemble, bonds: Ints) -> None:
    """Refuse guessed bonds if many atoms have more than any element takes, as particles have."""
    degrees = np.bincount(bonds.ravel())
    if np.sum(degrees > _MOST_BONDS) > _CROWDED * np.count_nonzero(degrees):
        raise ValueError(
            f"{ensemble.prefix}many atoms would have more than {_MOST_BONDS} bonds, so these may "
            "be particles: state the unit (unit=), or leave out bonds (bonds='none')"
        )


def _are_empty(coordinates: Coordinates) -> Bools:
    """Return in which frames half of the sites, and at least 2, are at exactly 0."""
    empty: Bools = (coordinates == 0).all(axis=2).sum(axis=1) >= max(2, 0.5 * coordinates.shape[1])
    return empty


def _heavy(ensemble: Ensemble) -> Ints:
    """Return the atoms that are no hydrogens; all of unnamed ones."""
    light = np.isin(ensemble.atoms.elements, (*HYDROGENS, ""))
    return np.flatnonzero(~light | light.all())


def _is_too_small(ensemble: Ensemble, points: Coordinates, boxes: Floats) -> bool:
    """Return whether a box is too narrow or too full for atoms, or lets them overlap."""
    length, lengths = angstrom_of(ensemble), np.linalg.norm(boxes[0], axis=1)
    if length is None:
        return False
    narrow = lengths[lengths > 0].min() * length < _SHORTEST
    if narrow or 0 < abs(np.linalg.det(boxes[0])) * length**3 < ensemble.n_sites:
        return True
    heavy, around = points[_heavy(ensemble)], (Boxes.of(boxes, 1, 3), Boxes.of(None, 1, 3))
    near, alone = (np.unique(pairs_within(heavy, _NEAREST / length, each)) for each in around)
    return len(np.setdiff1d(near, alone)) > max(2, _NEAR_PART * len(heavy))


def _shown(box: Floats) -> str:
    return "of " + " × ".join(f"{length:.4g}" for length in np.linalg.norm(box, axis=1))
