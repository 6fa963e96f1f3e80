"""Species: whether names of particles, in files that state no unit, are those of elements.

Particles of models are called A, B and C, and B and C are elements too. Where a file knows neither
chemistry nor lengths, names are believed only if all of them are elements and if the particles lie
as atoms do: at distances of bonds, each with no more neighbours than its element can bind.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from timme._arrays import Strings
from timme.readers.bonds import guess_bonds
from timme.readers.files import UNITLESS, kind
from timme.readers.scale import judge_scale
from timme.system.elements import element_masses, guess_elements, is_element
from timme.system.ensemble import Ensemble
from timme.system.placeholders import is_placeholder

# The most neighbours at the distance of a bond in crystals and cages too; others bind up to 6.
_MOST_BONDS = {"C": 4, "N": 4, "O": 3, "F": 2, "Cl": 4, "Br": 4, "I": 6}
_CROWDED = 0.25  # of the bonded atoms: a few are crowded in any snapshot of a reaction
_GHOSTS = frozenset(("X", "Xx", "M", "Mw", "Ep", "Lp", "Du", "Vs"))  # sites beside the atoms


def without_false_elements(ensemble: Ensemble) -> Ensemble:
    """Take particles for what they are where their names only look like those of elements.

    Parameters
    ----------
    ensemble : Ensemble
        All sites, with the unit that the file or the user states.

    Returns
    -------
    Ensemble
        The same, or with sites that have no elements, and a note.
    """
    source = Path(ensemble.sources[0] if ensemble.sources else "")
    elements = ensemble.atoms.elements
    if kind(source) not in UNITLESS or not (elements != "").any():
        return ensemble
    if not _are_elements(elements):
        return _named_as_in_residues(ensemble) or _without_elements(ensemble)
    if ensemble.unit or _are_bound_as_atoms(ensemble, strict=kind(source) != ".xyz"):
        return ensemble
    note = (
        f"{source}: {_listed(elements)} are taken for particles and not for atoms, as the file "
        "states no unit and they do not lie as atoms do: state the unit (unit=) if they are"
    )
    return _without_elements(replace(ensemble, notes=(*ensemble.notes, note)))


def _without_elements(ensemble: Ensemble) -> Ensemble:
    atoms = replace(ensemble.atoms, elements=np.full(len(ensemble.atoms), ""))
    return replace(ensemble, atoms=atoms)


def _are_elements(elements: Strings) -> bool:
    found = {str(symbol) for symbol in np.unique(elements)} - _GHOSTS
    return all(is_element(symbol) for symbol in found)


def _named_as_in_residues(ensemble: Ensemble) -> Ensemble | None:
    """Take names such as CA, CB and HN for those of atoms in molecules, None if they are others."""
    elements = guess_elements(ensemble.atoms.names, ensemble.atoms.resnames)
    if not ((elements == "C").any() and (elements == "H").any() and (elements != "").all()):
        return None
    atoms = replace(ensemble.atoms, elements=elements, masses=element_masses(elements))
    named = replace(ensemble, atoms=atoms)
    return named if _are_bound_as_atoms(named, strict=True) else None


def _are_bound_as_atoms(ensemble: Ensemble, *, strict: bool) -> bool:
    """Tell whether bonds, guessed from distances, are those that elements can have.

    An XYZ file names atoms and is in Å by custom, so that it may hold Cα or a noble gas only; where
    that is not so, more than half of the atoms must have a bond.
    """
    atoms, (coordinates, box) = ensemble.atoms, ensemble.snapshot()
    if coordinates.shape[1] != 3:
        return False
    scale = judge_scale(ensemble)
    if scale.piled and not strict:  # atoms of several models, which is refused later
        return True
    angstrom = scale.angstrom or 1.0
    places = angstrom * np.asarray(coordinates, dtype=np.float64)
    if box is not None and is_placeholder(angstrom * box, places, atoms.elements):
        box = None
    bonds = guess_bonds(atoms, coordinates, box=box, angstrom=angstrom)
    degrees = np.bincount(bonds.ravel(), minlength=len(atoms))
    most = np.select([atoms.elements == one for one in _MOST_BONDS], [*_MOST_BONDS.values()], 6)
    bonded, crowded = np.count_nonzero(degrees), np.count_nonzero(degrees > most)
    enough = 2 * bonded > len(atoms) or not (strict or angstrom > 1.0)
    return bool(crowded <= _CROWDED * bonded and enough)


def _listed(elements: Strings) -> str:
    names = [str(symbol) for symbol in np.unique(elements) if symbol]
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
