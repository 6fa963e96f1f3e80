"""One snapshot in space, of which bonds, angles and constraints are found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timme._arrays import Floats, Ints
from timme._html import Described
from timme.system.atoms import Atoms
from timme.system.ensemble import Ensemble
from timme.system.images import Images
from timme.system.space import Boxes
from timme.system.topology import atoms_of_sites
from timme.system.units import unit_in_angstrom


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Structure(Described):
    """One snapshot in space: atoms, their bonds and places."""

    atoms: Atoms  # the sites that are analysed, with the bonds between them
    coordinates: Floats  # (atoms, 3), Å
    boxes: Boxes

    def vectors(self, start: Ints, end: Ints) -> Floats:
        """Return the shortest vectors between pairs of atoms.

        Parameters
        ----------
        start, end : ndarray, shape (pairs,)
            Indices of atoms.

        Returns
        -------
        ndarray, shape (pairs, 3)
            From start to end, to the nearest image of another molecule, in Å.
        """
        shortest: Floats = self.boxes.between(self.coordinates[None], start, end)[0]
        return shortest

    def distances(self, start: Ints, end: Ints) -> Floats:
        """Return the shortest distances between pairs of atoms.

        Parameters
        ----------
        start, end : ndarray, shape (pairs,)
            Indices of atoms.

        Returns
        -------
        ndarray, shape (pairs,)
            In Å.
        """
        lengths: Floats = np.linalg.norm(self.vectors(start, end), axis=1)
        return lengths


def structure(ensemble: Ensemble, model: int = 0) -> Structure:
    """Take one snapshot of an ensemble as a structure in Å.

    Parameters
    ----------
    ensemble : Ensemble
        Atoms with their elements and bonds.
    model : int, optional
        Which snapshot, from 0.

    Returns
    -------
    Structure
        Its sites, and the bonds between these.

    Examples
    --------
    >>> import numpy as np
    >>> pair = Ensemble.from_array(np.zeros((1, 2, 3)), atoms=Atoms.unnamed(2, bonds=[(0, 1)]))
    >>> structure(pair).atoms.bonds
    array([[0, 1]])
    """
    if not 0 <= model < ensemble.n_snapshots:
        raise ValueError(
            f"{ensemble.prefix}model {model} is not there: "
            f"there are {ensemble.n_snapshots}, counted from 0"
        )
    angstrom = unit_in_angstrom(ensemble.unit)
    if ensemble.n_dimensions != 3:
        raise ValueError(
            f"{ensemble.prefix}a structure of atoms in space is needed, got "
            f"{ensemble.n_dimensions} dimensions: give a file of atoms, such as PDB or mmCIF"
        )
    if angstrom is None:
        raise ValueError(
            f"{ensemble.prefix}a structure of atoms in space is needed, got coordinates in "
            f"{ensemble.unit!r}: give a file of atoms, or the unit where that is wrong (unit='Å')"
        )
    coordinates, box = ensemble.snapshot(model)
    unseen = np.flatnonzero(~np.isfinite(coordinates).all(axis=1))
    if len(unseen):
        raise ValueError(
            f"{ensemble.prefix}atom {ensemble.site_label(int(unseen[0]))} is not seen in snapshot "
            f"{model + 1}: leave out the atoms or snapshots that are not complete"
        )
    images = None if ensemble.images is None else Images(ensemble.images.molecules)
    boxes = Boxes.of(None if box is None else angstrom * box[None], 1, 3, images)
    return Structure(atoms_of_sites(ensemble), angstrom * coordinates.astype(np.float64), boxes)
