"""Energies of hydrogen bonds and salt bridges, and the search for them.

The function is that of Dahiyat, Gordon and Mayo (Protein Science 6, 1333, 1997) as Jacobs, Rader,
Kuhn and Thorpe used it (Proteins 44, 150, 2001).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timme._arrays import Bools, Floats, Ints, frozen
from timme._html import Described
from timme.rigidity.chemistry import Chemistry
from timme.rigidity.structure import Structure
from timme.system.neighbours import pairs_within
from timme.system.topology import within_bonds

HYDROGEN_ACCEPTOR = 4.0  # Å, at most
DONOR_ACCEPTOR = 5.0  # Å, at most
SMALLEST_ANGLE = 100.0  # degrees at the hydrogen, at least
NEAR_BONDS = 3  # bonds between donor and acceptor, more are needed

_TETRAHEDRAL = np.deg2rad(109.5)
_DONORS = ("N", "O", "S")
_TOUCHING = 0.1  # Å: atoms that are nearer repel one another as at this distance


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HydrogenBonds(Described):
    """Hydrogen bonds and salt bridges of one structure."""

    donors: Ints  # (bonds,)
    hydrogens: Ints  # (bonds,)
    acceptors: Ints  # (bonds,)
    energies: Floats  # (bonds,), kcal/mol
    salt_bridges: Bools  # (bonds,)

    def __len__(self) -> int:
        """Count the bonds."""
        return len(self.donors)

    def take(self, which: Ints | Bools) -> HydrogenBonds:
        """Keep some of the bonds.

        Parameters
        ----------
        which : ndarray
            Indices or truth values.

        Returns
        -------
        HydrogenBonds
            Those bonds alone, in the order asked for.
        """
        return HydrogenBonds(
            frozen(self.donors[which]),
            frozen(self.hydrogens[which]),
            frozen(self.acceptors[which]),
            frozen(self.energies[which]),
            frozen(self.salt_bridges[which]),
        )


def hydrogen_bond_energies(
    distances: Floats,
    angles: tuple[Floats, Floats, Floats],
    *,
    planar_donors: Bools,
    planar_acceptors: Bools,
) -> Floats:
    """Return the energies of hydrogen bonds from their geometry.

    Parameters
    ----------
    distances : ndarray, shape (bonds,)
        From donor to acceptor in Å.
    angles : tuple of three ndarray, shape (bonds,)
        θ at the hydrogen, φ at the acceptor between hydrogen and base, and γ between the normals of
        the planes of donor and acceptor, in radians. Normals have no sign: of γ and its supplement
        the larger counts. γ is used between planar donors and acceptors only.
    planar_donors, planar_acceptors : ndarray of bool, shape (bonds,)
        Which are sp2; the others are sp3.

    Returns
    -------
    ndarray, shape (bonds,)
        In kcal/mol, above 0 where donor and acceptor repel one another. Where φ plays a part, a
        planar acceptor binds only what comes from its free side (φ > 90°); else the energy is 0.

    Examples
    --------
    >>> straight = (np.array([np.pi]), np.array([np.pi]), np.array([np.pi]))
    >>> yes = np.array([True])
    >>> hydrogen_bond_energies(
    ...     np.array([2.8]), straight, planar_donors=yes, planar_acceptors=yes
    ... )
    array([-8.])
    """
    theta, phi, gamma = angles
    fall = np.cos(theta) ** 2 * np.exp(-((np.pi - theta) ** 6))
    wider = np.maximum(phi, np.maximum(gamma, np.pi - gamma))
    from_free_side = phi > np.pi / 2
    factor = np.select(
        [planar_donors & planar_acceptors, planar_donors, planar_acceptors],
        [from_free_side * np.cos(wider) ** 2, fall, from_free_side * np.cos(phi) ** 2],
        np.cos(phi - _TETRAHEDRAL) ** 2,
    )
    return np.asarray(8.0 * _twelve_ten(2.8 / distances) * fall * factor)


def salt_bridge_energies(distances: Floats) -> Floats:
    """Return the energies of salt bridges, which have no direction.

    Parameters
    ----------
    distances : ndarray, shape (bonds,)
        From donor to acceptor in Å.

    Returns
    -------
    ndarray, shape (bonds,)
        In kcal/mol.

    Examples
    --------
    >>> salt_bridge_energies(np.array([2.825]))
    array([-10.])
    """
    return 10.0 * _twelve_ten(3.2 / (distances + 0.375))


def hydrogen_bonds(
    structure: Structure, chemistry: Chemistry, *, allowed: Bools, cutoff: float = 0.0
) -> HydrogenBonds:
    """Find the hydrogen bonds and salt bridges of a structure.

    Candidates have at most 4.0 Å between hydrogen and acceptor and 5.0 Å between donor and
    acceptor, 100° or more at the hydrogen, and more than three bonds between donor and acceptor. Of
    several hydrogens of one donor that meet one acceptor the one with the strongest bond counts,
    the nearest among equals.

    Parameters
    ----------
    structure : Structure
        One snapshot.
    chemistry : Chemistry
        Of its atoms.
    allowed : ndarray of bool, shape (atoms,)
        Atoms that may take part.
    cutoff : float, optional
        Bonds of higher energy are left out.

    Returns
    -------
    HydrogenBonds
        The strongest first.
    """
    donors, hydrogens, acceptors = _candidates(structure, chemistry, allowed)
    found = candidate_bonds(structure, chemistry, donors, hydrogens, acceptors)
    # A factor of 0 says that there is no bond, at any energy.
    found = found.take((found.energies <= cutoff) & (found.energies != 0.0))
    lengths = structure.distances(found.hydrogens, found.acceptors)
    order = np.lexsort((found.hydrogens, lengths, found.energies))
    found = found.take(order)
    pairs = found.donors * len(structure.atoms) + found.acceptors
    _, first = np.unique(pairs, return_index=True)
    return found.take(np.sort(first))


def candidate_bonds(
    structure: Structure, chemistry: Chemistry, donors: Ints, hydrogens: Ints, acceptors: Ints
) -> HydrogenBonds:
    """Give given hydrogen bonds their energies.

    φ is measured to each heavy neighbour of the acceptor, in water to each hydrogen, and the
    weakest energy counts. Planes of donors hold the hydrogen and one heavy neighbour, and the
    largest γ counts. Planes of acceptors hold the neighbour for φ and another neighbour of the
    acceptor or else of this neighbour, the lightest that is no hydrogen.

    Parameters
    ----------
    structure : Structure
        One snapshot.
    chemistry : Chemistry
        Of its atoms.
    donors, hydrogens, acceptors : ndarray, shape (bonds,)
        Indices of atoms.

    Returns
    -------
    HydrogenBonds
        In the same order.
    """
    salt = chemistry.positive[donors] & chemistry.negative[acceptors]
    to_donor = structure.vectors(hydrogens, donors)
    to_acceptor = structure.vectors(hydrogens, acceptors)
    distances = np.linalg.norm(to_acceptor - to_donor, axis=1)
    distances = np.maximum(distances, _TOUCHING)
    bonds, bases, others = _acceptor_planes(structure, chemistry, acceptors)
    to_base = structure.vectors(acceptors[bonds], bases)
    normals = np.cross(to_base, structure.vectors(acceptors[bonds], others))
    energies = hydrogen_bond_energies(
        distances[bonds],
        (
            _angles(to_donor, to_acceptor)[bonds],
            _angles(-to_acceptor[bonds], to_base),
            _largest_gamma(_donor_planes(structure, chemistry, donors, hydrogens), bonds, normals),
        ),
        planar_donors=chemistry.planar[donors[bonds]],
        planar_acceptors=chemistry.planar[acceptors[bonds]],
    )
    weakest = np.full(len(donors), -np.inf)
    np.maximum.at(weakest, bonds, energies)
    weakest[np.isinf(weakest)] = 0.0  # an acceptor without neighbours
    energies = np.where(salt, salt_bridge_energies(distances), weakest)
    return HydrogenBonds(donors, hydrogens, acceptors, frozen(energies), frozen(salt))


def far_apart(structure: Structure, first: Ints, second: Ints) -> Bools:
    """Tell which pairs of atoms are more than three covalent bonds apart.

    Parameters
    ----------
    structure : Structure
        One snapshot.
    first, second : ndarray, shape (pairs,)
        Indices of atoms.

    Returns
    -------
    ndarray of bool, shape (pairs,)
        True also for atoms of different molecules.
    """
    count = len(structure.atoms)
    near = within_bonds(structure.atoms.bonds, count, NEAR_BONDS).tocoo()
    keys = near.row.astype(np.int64) * count + near.col
    return ~np.isin(first * count + second, keys)


def _twelve_ten(ratios: Floats) -> Floats:
    return np.asarray(5.0 * ratios**12 - 6.0 * ratios**10)


def _candidates(
    structure: Structure, chemistry: Chemistry, allowed: Bools
) -> tuple[Ints, Ints, Ints]:
    """List donors, hydrogens and acceptors that are near and straight enough."""
    polar = np.isin(structure.atoms.elements, _DONORS)
    gives = chemistry.hydrogens[chemistry.sources] & polar[chemistry.targets]
    gives &= allowed[chemistry.sources] & allowed[chemistry.targets]
    hydrogens, donors = chemistry.sources[gives], chemistry.targets[gives]
    acceptors = np.flatnonzero(chemistry.acceptors & allowed)
    both = np.concatenate([hydrogens, acceptors])
    boxes = structure.boxes.select(both)
    pairs = pairs_within(structure.coordinates[both], HYDROGEN_ACCEPTOR, boxes)
    mixed = pairs[(pairs[:, 0] < len(hydrogens)) & (pairs[:, 1] >= len(hydrogens))]
    acceptors = acceptors[mixed[:, 1] - len(hydrogens)]
    donors, hydrogens = donors[mixed[:, 0]], hydrogens[mixed[:, 0]]
    to_donor = structure.vectors(hydrogens, donors)
    to_acceptor = structure.vectors(hydrogens, acceptors)
    good = np.linalg.norm(to_acceptor - to_donor, axis=1) <= DONOR_ACCEPTOR
    good &= _angles(to_donor, to_acceptor) >= np.deg2rad(SMALLEST_ANGLE)
    good &= far_apart(structure, donors, acceptors)
    return donors[good], hydrogens[good], acceptors[good]


def _acceptor_planes(
    structure: Structure, chemistry: Chemistry, acceptors: Ints
) -> tuple[Ints, Ints, Ints]:
    """List for each bond the neighbours of its acceptor, and an atom to span a plane with each.

    The third atom is the acceptor itself, and the plane none, where there is no other. Of several
    it is the lightest, and of equal ones, such as the two sides of a ring, the first by its name:
    a file may have its atoms in any order.
    """
    heavy = ~chemistry.hydrogens
    bonds, bases = _neighbours(chemistry, acceptors)
    bare = np.bincount(bonds[heavy[bases]], minlength=len(acceptors)) == 0
    chosen = heavy[bases] | bare[bonds]
    bonds, bases = bonds[chosen], bases[chosen]
    ends = acceptors[bonds]
    beside = _neighbours(chemistry, ends)
    beyond = _neighbours(chemistry, bases)
    rows, atoms = (np.concatenate(parts) for parts in zip(beside, beyond, strict=True))
    farther = np.repeat([0, 1], [len(beside[0]), len(beyond[0])])
    usable = heavy[atoms] & (atoms != ends[rows]) & (atoms != bases[rows])
    rows, atoms, farther = rows[usable], atoms[usable], farther[usable]
    table = structure.atoms
    order = np.lexsort((atoms, table.names[atoms], table.masses[atoms], farther, rows))
    rows, first = np.unique(rows[order], return_index=True)
    others = ends.copy()
    others[rows] = atoms[order][first]
    return bonds, bases, others


def _donor_planes(
    structure: Structure, chemistry: Chemistry, donors: Ints, hydrogens: Ints
) -> tuple[Ints, Floats]:
    """List the normals of the planes through donor, hydrogen and each heavy neighbour."""
    bonds, others = _neighbours(chemistry, donors)
    heavy = ~chemistry.hydrogens[others]
    bonds, others = bonds[heavy], others[heavy]
    to_hydrogen = structure.vectors(donors[bonds], hydrogens[bonds])
    return bonds, np.cross(to_hydrogen, structure.vectors(donors[bonds], others))


def _largest_gamma(planes: tuple[Ints, Floats], bonds: Ints, normals: Floats) -> Floats:
    """Return for each row the largest angle between its normal and those of its donor."""
    donor_bonds, donor_normals = planes  # sorted by bond
    starts = np.searchsorted(donor_bonds, bonds)
    counts = np.searchsorted(donor_bonds, bonds, side="right") - starts
    rows, places = _ragged(starts, counts)
    angles = _angles(donor_normals[places], normals[rows])
    largest = np.full(len(bonds), np.pi / 2)
    np.maximum.at(largest, rows, np.maximum(angles, np.pi - angles))
    return largest


def _neighbours(chemistry: Chemistry, atoms: Ints) -> tuple[Ints, Ints]:
    """List the neighbours of some atoms, and to which place in the list each belongs."""
    offsets = chemistry.offsets
    rows, places = _ragged(offsets[atoms], offsets[atoms + 1] - offsets[atoms])
    return rows, chemistry.targets[places]


def _ragged(starts: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Count on from each start, and number the rows."""
    rows = np.repeat(np.arange(len(starts)), counts)
    before = np.cumsum(counts) - counts
    return rows, np.arange(len(rows)) - before[rows] + starts[rows]


def _angles(first: Floats, second: Floats) -> Floats:
    """Angles between vectors, 90° where one has no length."""
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    products = np.einsum("ij,ij->i", first, second)
    cosines: Floats = products / np.where(lengths > 0, lengths, 1.0)
    return np.arccos(np.clip(cosines, -1.0, 1.0))
