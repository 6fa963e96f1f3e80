"""Covalent bonds: guessed from distances where a file does not give them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from timme._arrays import Bools, Coordinates, Floats, Ints
from timme.system.atoms import Atoms, sorted_bonds
from timme.system.boxes import box_matrices
from timme.system.elements import HYDROGENS, covalent_radii
from timme.system.neighbours import pairs_within
from timme.system.placeholders import is_too_small
from timme.system.residues import is_ion, is_nucleic, is_protein, is_water, residue_index
from timme.system.space import Boxes

_TOLERANCE = (
    0.4  # Å beyond the sum of radii: thermal stretching, and room before the second neighbours
)
_CLASH = 0.4  # Å: nearer than this is a misplaced atom, not a bond
_OTHER_RESIDUE = 0.3  # Å by which a hydrogen prefers the atoms of its own residue


def guess_bonds(
    atoms: Atoms, coordinates: Coordinates, *, box: Floats | None = None, angstrom: float = 1.0
) -> Ints:
    """Guess covalent bonds from distances and covalent radii.

    A hydrogen is bound once, to its nearest heavy atom; waters are bound within themselves; metals,
    noble gases, ions and atoms of unknown element have no bonds, nor have two Cα or two P of a
    backbone. Atoms too far apart are not bound, whatever their names, so that no bond is invented
    across a gap in a chain.

    Parameters
    ----------
    atoms : Atoms
        Names and elements; its own bonds are not looked at.
    coordinates : ndarray, shape (atoms, 3)
        Positions in one snapshot.
    box : ndarray, shape (3, 3), optional
        Box vectors as rows, for molecules that reach across the border.
    angstrom : float, optional
        Length of the unit of the coordinates in Å.

    Returns
    -------
    ndarray, shape (bonds, 2)
        Bonded atoms, lower index first, sorted.

    Examples
    --------
    >>> ethane = Atoms.unnamed(2)
    >>> ethane = replace(ethane, elements=np.array(["C", "C"]))
    >>> guess_bonds(ethane, np.array([[0.0, 0.0, 0.0], [1.54, 0.0, 0.0]]))
    array([[0, 1]])
    """
    radii = np.where(is_ion(atoms), 0.0, covalent_radii(atoms.elements))
    bondable = np.flatnonzero((radii > 0) & np.isfinite(coordinates).all(axis=1))
    if len(bondable) < 2:
        return sorted_bonds(())
    reach = 2 * float(radii.max()) + _TOLERANCE
    places = np.asarray(coordinates, dtype=np.float64) * angstrom
    positions = places[bondable]
    boxes = Boxes.of(_usable_box(box, len(places), angstrom), 1, 3)
    pairs = pairs_within(positions, reach, boxes)
    vectors = positions[pairs[:, 0]] - positions[pairs[:, 1]]
    distances = np.linalg.norm(boxes.shorten(vectors[None])[0], axis=1)
    first, second = bondable[pairs[:, 0]], bondable[pairs[:, 1]]
    bonded = (distances < radii[first] + radii[second] + _TOLERANCE) & (distances > _CLASH)
    residues = residue_index(atoms)
    same = residues[first] == residues[second]
    waters = is_water(atoms)
    bonded &= same | ~(waters[first] | waters[second])
    bonded &= same | ~_are_traced(atoms, first, second)
    first, second, distances, same = first[bonded], second[bonded], distances[bonded], same[bonded]
    light = np.isin(atoms.elements, HYDROGENS)
    heavy = ~light[first] & ~light[second]
    hydrogens = _nearest_heavy(light, first, second, distances + _OTHER_RESIDUE * ~same)
    return sorted_bonds(np.concatenate([np.column_stack([first[heavy], second[heavy]]), hydrogens]))


def with_bonds(atoms: Atoms, *bonds: npt.ArrayLike) -> Atoms:
    """Give atoms other bonds.

    Parameters
    ----------
    atoms : Atoms
        The atoms.
    *bonds : array_like, shape (bonds, 2)
        Sets of bonds, all of which are taken.

    Returns
    -------
    Atoms
        The same names with the new bonds.
    """
    arrays = [np.asarray(pairs, dtype=np.int64).reshape(-1, 2) for pairs in bonds]
    joined = np.concatenate(arrays) if arrays else np.empty((0, 2), dtype=np.int64)
    if len(joined) and (joined.min() < 0 or joined.max() >= len(atoms)):
        raise ValueError(
            f"bonds need indices from 0 to {len(atoms) - 1}, "
            f"got {int(joined.min())} to {int(joined.max())}"
        )
    return replace(atoms, bonds=sorted_bonds(joined[joined[:, 0] != joined[:, 1]]))


def _usable_box(box: Floats | None, n_atoms: int, angstrom: float) -> Floats | None:
    """Take a box of one snapshot in Å, reduced; None where there is none, or no room in it."""
    if box is None or not np.any(box):
        return None
    matrices = box_matrices(angstrom * np.asarray(box), 1, 3)
    return None if is_too_small(matrices[0], n_atoms) else matrices


def _are_traced(atoms: Atoms, first: Ints, second: Ints) -> Bools:
    """Find pairs of Cα or of P, which no two residues join, however near a wall brings them."""
    alike = atoms.names[first] == atoms.names[second]
    backbone = is_protein(atoms) & (atoms.names == "CA") | is_nucleic(atoms) & (atoms.names == "P")
    return np.asarray(alike & backbone[first] & backbone[second], dtype=np.bool_)


def _nearest_heavy(light: Bools, first: Ints, second: Ints, distances: Floats) -> Ints:
    """Bind every hydrogen to the nearest of its heavy neighbours."""
    mixed = light[first] != light[second]
    first, second, distances = first[mixed], second[mixed], distances[mixed]
    hydrogen = np.where(light[first], first, second)
    heavy = np.where(light[first], second, first)
    order = np.lexsort((heavy, distances, hydrogen))
    _, nearest = np.unique(hydrogen[order], return_index=True)
    return np.column_stack([hydrogen[order][nearest], heavy[order][nearest]])
