"""The constraint network of one structure: atoms as bodies, bars for what holds them together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from timme._arrays import Bools, Floats, Ints, Strings, frozen
from timme._html import Described
from timme.rigidity.checks import (
    checked_cutoff,
    refuse_without_bonds,
    refuse_without_hydrogens,
    remarks,
)
from timme.rigidity.chemistry import Chemistry, chemistry
from timme.rigidity.energies import far_apart, hydrogen_bonds
from timme.rigidity.structure import Structure, structure
from timme.settings import TETHERS
from timme.settings.schema import check_choice
from timme.system.elements import covalent_radii
from timme.system.ensemble import Ensemble
from timme.system.neighbours import pairs_within
from timme.system.residues import is_water, residue_index

COVALENT, LOCKED, DISULFIDE = "covalent", "locked", "disulfide"
HYDROGEN_BOND, SALT_BRIDGE, TETHER = "hydrogen bond", "salt bridge", "tether"
BARS = {COVALENT: 5, LOCKED: 6, DISULFIDE: 5, HYDROGEN_BOND: 5, SALT_BRIDGE: 5, TETHER: 2}

_RADII = {"C": 1.7, "S": 1.8}  # Å
_TETHER_GAP = 0.5  # Å beyond the sum of radii
_COORDINATION_GAP = 0.4  # Å beyond the sum of covalent radii, as for covalent bonds
_LABILE = frozenset("Li Na K Rb Cs Fr".split())  # their shells change within nanoseconds
_LIGANDS = ("N", "O", "S", "Se")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Network(Described):
    """Bodies and the bars between them: what a pebble game is played on."""

    n_bodies: int
    bonds: Ints  # (bonds, 2) bodies, in any order; two bodies may be bonded more than once
    bars: Ints  # (bonds,), 1 to 6
    kinds: Strings  # (bonds,): one of BARS
    energies: Floats  # (bonds,), kcal/mol; NaN for those that are always there
    notes: tuple[str, ...] = ()  # what was chosen and the user should know

    def __post_init__(self) -> None:
        """Refuse what no pebble game can be played on."""
        count = len(self.bonds)
        if self.bonds.shape != (count, 2) or any(
            len(column) != count for column in (self.bars, self.kinds, self.energies)
        ):
            raise ValueError(
                f"a network needs two bodies, bars, a kind and an energy for each of {count} bonds"
            )
        if count and not (self.bonds.min() >= 0 and self.bonds.max() < self.n_bodies):
            raise ValueError(
                f"bonds join bodies from 0 to {self.n_bodies - 1}, "
                f"got {self.bonds.min()} to {self.bonds.max()}"
            )
        if (self.bonds[:, 0] == self.bonds[:, 1]).any():
            raise ValueError("a bond joins two bodies, got one from a body to itself")
        if count and not (self.bars.min() >= 1 and self.bars.max() <= 6):
            raise ValueError(f"a bond has 1 to 6 bars, got {self.bars.min()} to {self.bars.max()}")

    def of_kind(self, *kinds: str) -> Bools:
        """Tell which bonds are of some kinds.

        Parameters
        ----------
        *kinds : str
            Kinds of bonds, such as ``"tether"``.

        Returns
        -------
        ndarray of bool, shape (bonds,)
            True for these.
        """
        return np.isin(self.kinds, kinds)


def network(
    ensemble: Ensemble,
    model: int = 0,
    *,
    cutoff: float = 0.0,
    waters: bool = False,
    tethers: Literal["shortest", "all", "none"] = "shortest",
) -> Network:
    """Build the constraint network of one snapshot.

    Every site is a body. Covalent bonds are 5 bars, those that cannot turn 6; hydrogen bonds and
    salt bridges are 5 bars between hydrogen and acceptor, with their energy; hydrophobic tethers
    are 2 bars. Metal ions are bound to the nitrogens, oxygens and sulphurs around them as by
    covalent bonds; alkali metals and other ions are bound to nothing.

    Parameters
    ----------
    ensemble : Ensemble
        Atoms with their elements and bonds, hydrogens included.
    model : int, optional
        Which snapshot, from 0.
    cutoff : float, optional
        Hydrogen bonds and salt bridges of higher energy, in kcal/mol, are left out of the network;
        by default all that attract are in it, and a cutoff is chosen later.
    waters : bool, optional
        Whether waters make hydrogen bonds and coordinate metals. By default they are bodies bound
        to nothing.
    tethers : {"shortest", "all", "none"}, optional
        Tethers join carbons or sulphurs bound to carbon, sulphur and hydrogen only, in different
        residues, more than three bonds apart and closer than their radii and 0.5 Å: the shortest of
        each atom to each residue, all, or none.

    Returns
    -------
    Network
        Covalent bonds in the order of the atoms, then hydrogen bonds from the strongest on, then
        tethers; ``notes`` say what is doubtful.

    Examples
    --------
    >>> import numpy as np
    >>> from timme.system.atoms import Atoms
    >>> ethane = Atoms.unnamed(2, bonds=[(0, 1)])
    >>> places = np.array([[[0.0, 0.0, 0.0], [1.54, 0.0, 0.0]]])
    >>> network(Ensemble.from_array(places, atoms=ethane)).bars
    array([5])
    """
    check_choice("tethers", tethers, TETHERS)
    weakest = checked_cutoff(cutoff)
    snapshot = structure(ensemble, model)
    refuse_without_bonds(snapshot, ensemble.prefix)
    refuse_without_hydrogens(snapshot, ensemble.prefix)
    known = chemistry(snapshot)
    water = is_water(snapshot.atoms)
    allowed = np.full(len(water), fill_value=True) if waters else ~water
    metals = coordination(snapshot, allowed)
    found = hydrogen_bonds(snapshot, known, allowed=allowed, cutoff=weakest)
    tied = (
        np.empty((0, 2), np.int64)
        if tethers == "none"
        else find_tethers(snapshot, known, every=tethers == "all")
    )
    always = _covalent_kinds(snapshot, known)
    kinds = [
        always,
        np.full(len(metals), COVALENT),
        np.where(found.salt_bridges, SALT_BRIDGE, HYDROGEN_BOND),
        np.full(len(tied), TETHER),
    ]
    pairs = np.column_stack([found.hydrogens, found.acceptors])
    energies = np.full(sum(map(len, kinds)), np.nan)
    energies[len(always) + len(metals) :][: len(found)] = found.energies
    names = np.concatenate(kinds)
    return Network(
        n_bodies=len(snapshot.atoms),
        bonds=frozen(np.concatenate([snapshot.atoms.bonds, metals, pairs, tied])),
        bars=frozen(np.select([names == kind for kind in BARS], list(BARS.values()))),
        kinds=frozen(names),
        energies=frozen(energies),
        notes=remarks(snapshot, metals, waters=waters),
    )


def coordination(structure: Structure, allowed: Bools) -> Ints:
    """Find the bonds of metal ions to nitrogens, oxygens and sulphurs.

    Parameters
    ----------
    structure : Structure
        One snapshot.
    allowed : ndarray of bool, shape (atoms,)
        Atoms that may take part.

    Returns
    -------
    ndarray, shape (bonds, 2)
        Metal and ligand no farther apart than the sum of covalent radii and 0.4 Å. Alkali metals
        have none, since what surrounds them changes within nanoseconds.
    """
    elements = structure.atoms.elements
    metals = np.flatnonzero(_is_metal(elements) & allowed)
    ligands = np.flatnonzero(np.isin(elements, _LIGANDS) & allowed)
    if not len(metals) or not len(ligands):
        return np.empty((0, 2), np.int64)
    radii = covalent_radii(elements, metals=True)
    reach = float(radii[metals].max() + radii[ligands].max() + _COORDINATION_GAP)
    near = _cross_pairs(structure, metals, ligands, reach)
    limits = radii[near].sum(axis=1) + _COORDINATION_GAP
    bound = near[structure.distances(near[:, 0], near[:, 1]) <= limits]
    given = {tuple(pair) for pair in structure.atoms.bonds.tolist()}
    new = [tuple(sorted(pair)) not in given for pair in bound.tolist()]
    chosen: Ints = bound[np.array(new, dtype=np.bool_)]
    return chosen


def find_tethers(structure: Structure, chemistry: Chemistry, *, every: bool = False) -> Ints:
    """Find hydrophobic tethers.

    Parameters
    ----------
    structure : Structure
        One snapshot.
    chemistry : Chemistry
        Of its atoms.
    every : bool, optional
        Keep all of them, not only the shortest of each atom to each residue.

    Returns
    -------
    ndarray, shape (tethers, 2)
        Atoms, lower index first, sorted.
    """
    atoms = structure.atoms
    greasy = np.isin(atoms.elements, tuple(_RADII))
    foreign = ~(greasy | chemistry.hydrogens)
    others = np.bincount(chemistry.sources[foreign[chemistry.targets]], minlength=len(atoms))
    degrees = np.bincount(chemistry.sources, minlength=len(atoms))
    chosen = np.flatnonzero(greasy & (others == 0) & (degrees > 0))
    radii = np.where(atoms.elements == "S", _RADII["S"], _RADII["C"])
    reach = 2 * max(_RADII.values()) + _TETHER_GAP
    boxes = structure.boxes.select(chosen)
    pairs = chosen[pairs_within(structure.coordinates[chosen], reach, boxes)]
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    lengths = structure.distances(pairs[:, 0], pairs[:, 1])
    residues = residue_index(atoms)[pairs]
    tied = lengths < radii[pairs].sum(axis=1) + _TETHER_GAP
    tied &= residues[:, 0] != residues[:, 1]
    tied[tied] = far_apart(structure, *pairs[tied].T)
    kept: Ints = pairs[tied]
    return kept if every else kept[_shortest(kept, lengths[tied], residues[tied])]


def _shortest(pairs: Ints, lengths: Floats, residues: Ints) -> Bools:
    """Tell which pairs are the shortest of one of their atoms to the residue of the other."""
    kept = np.zeros(len(pairs), dtype=np.bool_)
    for one, other in ((0, 1), (1, 0)):
        order = np.lexsort((pairs[:, other], lengths, residues[:, other], pairs[:, one]))
        groups = np.column_stack([pairs[:, one], residues[:, other]])[order]
        starts = np.concatenate([[True], (np.diff(groups, axis=0) != 0).any(axis=1)])
        kept[order[starts[: len(order)]]] = True
    return kept


def _covalent_kinds(structure: Structure, chemistry: Chemistry) -> Strings:
    sulphur = np.isin(structure.atoms.elements, ("S", "Se"))[structure.atoms.bonds].all(axis=1)
    return np.select([chemistry.locked, sulphur], [LOCKED, DISULFIDE], COVALENT)


def _cross_pairs(structure: Structure, first: Ints, second: Ints, reach: float) -> Ints:
    both = np.concatenate([first, second])
    pairs = pairs_within(structure.coordinates[both], reach, structure.boxes.select(both))
    mixed = pairs[(pairs[:, 0] < len(first)) & (pairs[:, 1] >= len(first))]
    found = both[mixed]
    return found[np.lexsort((found[:, 1], found[:, 0]))]


def _is_metal(elements: Strings) -> Bools:
    from gemmi import Element

    symbols = [str(symbol) for symbol in np.unique(elements)]
    metals = [one for one in symbols if one and one not in _LABILE and Element(one).is_metal]
    return np.isin(elements, metals)
