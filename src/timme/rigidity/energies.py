"""Energies of hydrogen bonds and salt bridges, and the search for them.

The function is that of Dahiyat, Gordon and Mayo (Protein Science 6, 1333, 1997) as Jacobs, Rader,
Kuhn and Thorpe used it (Proteins 44, 150, 2001).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from timme._arrays import Bools, Floats, Ints
from timme.rigidity.chemistry import Chemistry, Structure

HYDROGEN_ACCEPTOR = 4.0  # Å, at most
DONOR_ACCEPTOR = 5.0  # Å, at most
SMALLEST_ANGLE = np.deg2rad(100.0)  # at the hydrogen, at least

_TETRAHEDRAL = np.deg2rad(109.5)
_TOUCHING = 0.1  # Å: atoms that are nearer repel one another as at this distance


class HydrogenBonds(NamedTuple):
    """Hydrogen bonds and salt bridges of one structure, one array (bonds,) for each column."""

    donors: Ints
    hydrogens: Ints
    acceptors: Ints
    energies: Floats  # kcal/mol
    salt_bridges: Bools

    def take(self, which: Ints | Bools) -> HydrogenBonds:
        """Return some of the bonds."""
        return HydrogenBonds._make(column[which] for column in self)


def hydrogen_bond_energies(
    distances: Floats, angles: tuple[Floats, Floats, Floats], planar: tuple[Bools, Bools]
) -> Floats:
    """Return the energies (bonds,) of hydrogen bonds from their geometry, in kcal/mol.

    Parameters
    ----------
    distances : ndarray, shape (bonds,)
        From donor to acceptor in Å.
    angles : tuple of three ndarray, shape (bonds,)
        θ at the hydrogen, φ at the acceptor between hydrogen and base, and γ between the normals of
        the planes of donor and acceptor, in radians. Normals have no sign: of γ and its supplement
        the larger counts. γ is used between planar donors and acceptors only.
    planar : tuple of two ndarray of bool, shape (bonds,)
        Which donors are sp2, and which acceptors; the others are sp3.

    Returns
    -------
    ndarray, shape (bonds,)
        Above 0 where donor and acceptor repel one another. Where φ plays a part, a planar acceptor
        binds only what comes from its free side (φ > 90°); else the energy is 0.

    Examples
    --------
    >>> straight = (np.array([np.pi]), np.array([np.pi]), np.array([np.pi]))
    >>> yes = np.array([True])
    >>> hydrogen_bond_energies(np.array([2.8]), straight, (yes, yes))
    array([-8.])
    """
    (theta, phi, gamma), (donors, acceptors) = angles, planar
    fall = np.cos(theta) ** 2 * np.exp(-((np.pi - theta) ** 6))
    wider = np.maximum(phi, np.maximum(gamma, np.pi - gamma))
    from_free_side = phi > np.pi / 2
    factor = np.select(
        [donors & acceptors, donors, acceptors],
        [from_free_side * np.cos(wider) ** 2, fall, from_free_side * np.cos(phi) ** 2],
        np.cos(phi - _TETRAHEDRAL) ** 2,
    )
    return np.asarray(8.0 * _twelve_ten(2.8 / distances) * fall * factor)


def salt_bridge_energies(distances: Floats) -> Floats:
    """Return the energies (bonds,) of salt bridges, which have no direction, in kcal/mol.

    Examples
    --------
    >>> salt_bridge_energies(np.array([2.825]))
    array([-10.])
    """
    return 10.0 * _twelve_ten(3.2 / (distances + 0.375))


def hydrogen_bonds(
    structure: Structure, chemistry: Chemistry, *, allowed: Bools, cutoff: float = 0.0
) -> HydrogenBonds:
    """Return the hydrogen bonds and salt bridges of a structure, the strongest first.

    Donor and acceptor are more than three bonds apart. Of several hydrogens of one donor that meet
    one acceptor the one with the strongest bond counts, the nearest among equals. ``allowed`` atoms
    may take part; bonds above the cutoff are left out.
    """
    found = possible_bonds(structure, chemistry, allowed=allowed)
    # An energy of 0 means that there is no bond, whatever the cutoff.
    found = found.take((found.energies <= cutoff) & (found.energies != 0.0))
    lengths = structure.distances(found.hydrogens, found.acceptors)
    found = found.take(np.lexsort((found.hydrogens, lengths, found.energies)))
    keys = found.donors * len(allowed) + found.acceptors
    return found.take(np.sort(np.unique(keys, return_index=True)[1]))


def possible_bonds(structure: Structure, chemistry: Chemistry, *, allowed: Bools) -> HydrogenBonds:
    """Return each hydrogen with each acceptor near it, the donor more than three bonds apart."""
    hydrogens, donors = donor_hydrogens(chemistry)
    donor_of = np.zeros(len(allowed), np.int64)
    donor_of[hydrogens] = donors
    givers = hydrogens[allowed[hydrogens] & allowed[donors]]
    takers = np.flatnonzero(chemistry.acceptors & allowed)
    pairs = structure.cross_pairs(givers, takers, HYDROGEN_ACCEPTOR)
    pairs = pairs[chemistry.far_apart(donor_of[pairs[:, 0]], pairs[:, 1])]
    return bond_energies(structure, chemistry, donor_of[pairs[:, 0]], *pairs.T)


def donor_hydrogens(chemistry: Chemistry) -> tuple[Ints, Ints]:
    """Return the hydrogens on nitrogen, oxygen and sulphur, and these donors."""
    gives = chemistry.hydrogens[chemistry.sources]
    gives &= chemistry.is_element("N", "O", "S")[chemistry.targets]
    return chemistry.sources[gives], chemistry.targets[gives]


def bond_energies(
    structure: Structure, chemistry: Chemistry, donors: Ints, hydrogens: Ints, acceptors: Ints
) -> HydrogenBonds:
    """Return given hydrogen bonds (bonds,) with their energies, 0 for those out of reach.

    In reach are 4.0 Å between hydrogen and acceptor and 5.0 Å between donor and acceptor, with 100°
    or more at the hydrogen. φ is measured to each heavy neighbour of the acceptor, in water to each
    hydrogen, and the weakest energy counts. Planes of donors hold the hydrogen and one heavy
    neighbour, and the largest γ counts. Planes of acceptors hold the neighbour for φ and another
    neighbour of the acceptor or else of this neighbour, the lightest that is no hydrogen.
    """
    salt = chemistry.positive[donors] & chemistry.negative[acceptors]
    to_donor = structure.vectors(hydrogens, donors)
    to_acceptor = structure.vectors(hydrogens, acceptors)
    distances = np.maximum(np.linalg.norm(to_acceptor - to_donor, axis=1), _TOUCHING)
    theta = _angles(to_donor, to_acceptor)
    bonds, bases, others = _acceptor_planes(chemistry, acceptors)
    to_base = structure.vectors(acceptors[bonds], bases)
    normals = np.cross(to_base, structure.vectors(acceptors[bonds], others))
    gamma = _largest_gamma(structure, chemistry, donors[bonds], -to_donor[bonds], normals)
    angles = theta[bonds], _angles(-to_acceptor[bonds], to_base), gamma
    planar = chemistry.planar[donors[bonds]], chemistry.planar[acceptors[bonds]]
    energies = hydrogen_bond_energies(distances[bonds], angles, planar)
    weakest = np.full(len(donors), -np.inf)
    np.maximum.at(weakest, bonds, energies)
    weakest[np.isinf(weakest)] = 0.0  # an acceptor without neighbours
    energies = np.where(salt, salt_bridge_energies(distances), weakest)
    near = np.linalg.norm(to_acceptor, axis=1) <= HYDROGEN_ACCEPTOR
    near &= (distances <= DONOR_ACCEPTOR) & (theta >= SMALLEST_ANGLE)
    energies = np.where(near, energies, 0.0)
    return HydrogenBonds(donors, hydrogens, acceptors, energies, salt)


def _twelve_ten(ratios: Floats) -> Floats:
    return np.asarray(5.0 * ratios**12 - 6.0 * ratios**10)


def _acceptor_planes(chemistry: Chemistry, acceptors: Ints) -> tuple[Ints, Ints, Ints]:
    """List for each bond the neighbours of its acceptor, and an atom to span a plane with each.

    The third atom is the acceptor itself, and the plane none, where there is no other. Of several
    it is the lightest, and of equal ones, such as the two sides of a ring, the first by its name:
    a file may have its atoms in any order.
    """
    heavy = ~chemistry.hydrogens
    bonds, bases = chemistry.neighbours(acceptors)
    alone = np.bincount(bonds[heavy[bases]], minlength=len(acceptors)) == 0
    chosen = heavy[bases] | alone[bonds]
    bonds, bases = bonds[chosen], bases[chosen]
    ends = acceptors[bonds]
    beside, beyond = chemistry.neighbours(ends), chemistry.neighbours(bases)
    rows, atoms = (np.concatenate(parts) for parts in zip(beside, beyond, strict=True))
    farther = np.repeat([0, 1], [len(beside[0]), len(beyond[0])])
    usable = heavy[atoms] & (atoms != ends[rows]) & (atoms != bases[rows])
    rows, atoms, farther = rows[usable], atoms[usable], farther[usable]
    table = chemistry.atoms
    order = np.lexsort((atoms, table.names[atoms], table.masses[atoms], farther, rows))
    rows, first = np.unique(rows[order], return_index=True)
    others = ends.copy()
    others[rows] = atoms[order][first]
    return bonds, bases, others


def _largest_gamma(
    structure: Structure, chemistry: Chemistry, donors: Ints, to_hydrogen: Floats, normals: Floats
) -> Floats:
    """Return the largest angle between each normal and the planes of its donor.

    These hold donor, hydrogen and one heavy neighbour.
    """
    rows, others = chemistry.neighbours(donors)
    heavy = ~chemistry.hydrogens[others]
    rows, others = rows[heavy], others[heavy]
    to_other = structure.vectors(donors[rows], others)
    angles = _angles(np.cross(to_hydrogen[rows], to_other), normals[rows])
    largest = np.full(len(donors), np.pi / 2)
    np.maximum.at(largest, rows, np.maximum(angles, np.pi - angles))
    return largest


def _angles(first: Floats, second: Floats) -> Floats:
    """Return angles between vectors, 90° where one has no length."""
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    products = np.einsum("ij,ij->i", first, second)
    cosines = products / np.where(lengths > 0, lengths, 1.0)
    return np.asarray(np.arccos(np.clip(cosines, -1.0, 1.0)))
