"""Chemistry of one structure: bonds that cannot turn, donors and acceptors, and charges.

Amino acids and nucleotides are known by their names, all else by its geometry. What matters is
which carbons are planar (sp2); nitrogens, oxygens and charges follow from the bonds. Hydrogens on
carbon may be missing, hydrogens on nitrogen and oxygen may not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from timme._arrays import Bools, Floats, Ints, Strings
from timme._text import Described
from timme.ensemble import Atoms, Boxes, Ensemble, Images
from timme.ensemble.atoms import HYDROGENS, angstroms
from timme.ensemble.bonds import adjacency, within_bonds
from timme.ensemble.residues import NUCLEIC, PROTEIN, is_named, is_protein
from timme.ensemble.space import pairs_within

NEAR_BONDS = 3  # atoms that are farther apart in the graph of bonds may bind without one

# Planar carbons of side chains; those of other amino acids have none.
_SIDE_CHAINS = {
    "ARG": "CZ",
    **dict.fromkeys(("ASN", "ASP"), "CG"),
    **dict.fromkeys(("GLN", "GLU"), "CD"),
    "HIS": "CG CD2 CE1",
    "TRP": "CG CD1 CD2 CE2 CE3 CZ2 CZ3 CH2",
    **dict.fromkeys(("PHE", "TYR", "PTR"), "CG CD1 CD2 CE1 CE2 CZ"),
}
# The usual name of a residue, and those of its forms.
_FORMS = (
    "HIS HID HIE HIP HSD HSE HSP HISD HISE HISH HISA HISB HIS1 HIS2, CYS CYX CYM CYS2 CYSH CYS1, "
    "LYS LYN LYSH LSN, ASP ASH ASPH, GLU GLH GLUH, ASN ASX, GLN GLX QLN, TYR TYM, ARG ARGN"
)
_USUAL = {form: forms.split()[0] for forms in _FORMS.split(",") for form in forms.split()}
DONATING = ("ARG", "ASN", "GLN", "LYS", "TRP")  # whose nitrogens bear hydrogens
_UNKNOWN = frozenset("UNK PYL PGLU N H2U YYG".split())  # side chains and bases of any shape
_BACKBONE = ("N", "CA", "C", "O", "OXT")
_BASE_CARBONS = ("C2", "C4", "C5", "C6", "C8")

# Bonds shorter than this are double in part (Å): between lengths of single and conjugated bonds.
_SHORT = {("C", "C"): 1.44, ("C", "N"): 1.39, ("C", "O"): 1.31, ("C", "S"): 1.70, ("N", "N"): 1.36}
_ESTER = 1.40  # Å: between carbonyl and oxygen 1.34, a single bond has 1.43
# Triple product of unit vectors to three neighbours: 0 in a plane, 0.77 in a tetrahedron.
_FLAT = 0.4
_FLAT_TORSION = np.deg2rad(30.0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Structure(Described):
    """One snapshot in space: atoms, their bonds and places."""

    atoms: Atoms  # the sites, with the bonds between them
    coordinates: Floats  # (atoms, 3), Å
    boxes: Boxes

    @classmethod
    def of(cls, ensemble: Ensemble, model: int = 0) -> Self:
        """Return one snapshot of an ensemble in Å, counted from 0."""
        prefix, length = ensemble.prefix, angstroms(ensemble.unit)
        if ensemble.n_dimensions != 3 or length is None:
            raise ValueError(
                f"{prefix}rigidity needs atoms in space, got {ensemble.n_dimensions} dimensions in "
                f"the unit {ensemble.unit!r}: give the unit where it is wrong (unit='Å')"
            )
        coordinates, box = ensemble.snapshot(model)
        unseen = ~np.isfinite(coordinates).all(axis=1)
        if unseen.any():
            label = ensemble.site_label(int(unseen.argmax()))
            raise ValueError(f"{prefix}atom {label} is not seen: leave out incomplete snapshots")
        images = None if ensemble.images is None else Images(ensemble.images.molecules)
        boxes = Boxes.of(None if box is None else length * box[None], 1, 3, images)
        return cls(ensemble.sites, length * coordinates.astype(np.float64), boxes)

    def vectors(self, start: Ints, end: Ints) -> Floats:
        """Return the shortest vectors (pairs, 3) between pairs of atoms, in Å."""
        return np.asarray(self.boxes.between(self.coordinates[None], start, end)[0])

    def distances(self, start: Ints, end: Ints) -> Floats:
        """Return the shortest distances (pairs,) between pairs of atoms, in Å."""
        return np.asarray(np.linalg.norm(self.vectors(start, end), axis=1))

    def pairs(self, atoms: Ints, reach: float) -> Ints:
        """Return the pairs (pairs, 2) of some atoms, ascending, that are near; sorted."""
        boxes = self.boxes.select(atoms)
        return atoms[pairs_within(self.coordinates[atoms], reach, boxes)]

    def cross_pairs(self, first: Ints, second: Ints, reach: float) -> Ints:
        """Return the pairs (pairs, 2) of one of some atoms and one of others that are near."""
        both = np.concatenate([first, second])
        pairs = pairs_within(self.coordinates[both], reach, self.boxes.select(both))
        found = both[pairs[(pairs[:, 0] < len(first)) & (pairs[:, 1] >= len(first))]]
        return found[np.lexsort((found[:, 1], found[:, 0]))]


class Chemistry:
    """What hydrogen bonds and locked bonds of a structure depend on.

    Planar carbons are taken from tables for amino acids and nucleotides and from geometry for all
    else. A nitrogen is planar with two neighbours or beside a planar carbon, an oxygen beside a
    planar atom, as in phenol. A bond is locked if carbons or nitrogens at both ends are planar and
    have other neighbours: peptide and amide bonds, guanidinium, rings; unknown molecules need a
    short and flat bond too. Of bonds to oxygen, those of esters and carbamates are locked, between
    carbonyl and the oxygen that bears another carbon, if short and flat.

    Acceptors are oxygens; nitrogens with a lone pair, never the peptide's nor others that only seem
    to have one as their hydrogens are missing; sulphur between two heavy atoms, and thiolate.
    Positive are ammonium and the nitrogens of guanidinium, amidinium and imidazolium (both
    nitrogens with hydrogen); negative are the free oxygens of carboxylate, phosphate, sulphate,
    sulphonate and nitrate. Protonation is that of the hydrogens.

    Attributes
    ----------
    hydrogens, has_hydrogen : ndarray of bool, shape (atoms,)
        Which atoms are hydrogens, and to which one is bound.
    planar, acceptors : ndarray of bool, shape (atoms,)
        Which are sp2, and which accept hydrogen bonds.
    positive, negative : ndarray of bool, shape (atoms,)
        Donors and acceptors of salt bridges.
    locked : ndarray of bool, shape (bonds,)
        Covalent bonds that cannot turn.
    sources, targets : ndarray of int, shape (2 bonds,)
        Every bond from both ends, sorted.
    degrees : ndarray of int, shape (atoms,)
        Number of neighbours of each atom.
    """

    def __init__(self, structure: Structure) -> None:
        self.structure, self.atoms = structure, structure.atoms
        self.bonds, n_atoms = self.atoms.bonds, len(self.atoms)
        self.parents = parent_residues(self.atoms.resnames)
        self.protein = is_protein(self.atoms)
        self._graph = adjacency(self.bonds, n_atoms)
        self.sources, self.targets = (ends.astype(np.int64) for ends in self._graph.nonzero())
        self.degrees = np.diff(self._graph.indptr)
        self._near = within_bonds(self.bonds, n_atoms, NEAR_BONDS)
        self._near.sort_indices()  # so that entries are looked up by bisection
        self.hydrogens = self.is_element(*HYDROGENS)
        self.has_hydrogen = self.beside(self.hydrogens) > 0
        # An oxygen with one neighbour: carbonyl, or a part of carboxylate and the like.
        self.free_oxygens = self.is_element("O") & (self.degrees == 1)
        self.planar = self._planar()
        self.locked = self._locked()
        self.acceptors = self._acceptors()
        self.positive, self.negative = self._positive(), self._negative()

    def is_element(self, *symbols: str) -> Bools:
        """Return which atoms are of some elements."""
        return np.isin(self.atoms.elements, symbols)

    def beside(self, chosen: Bools) -> Ints:
        """Count the neighbours of every atom that are among those chosen."""
        return np.bincount(self.sources[chosen[self.targets]], minlength=len(self.atoms))

    def far_apart(self, first: Ints, second: Ints) -> Bools:
        """Return which pairs of atoms are more than three bonds apart, or not connected at all."""
        if not len(first):  # SciPy returns a matrix for no entries
            return np.zeros(0, np.bool_)
        return ~np.asarray(self._near[first, second])

    def neighbours(self, atoms: Ints) -> tuple[Ints, Ints]:
        """Return the neighbours of some atoms, and to which place in the list each belongs."""
        rows, neighbours = self._graph[atoms].nonzero()
        return rows.astype(np.int64), neighbours.astype(np.int64)

    def _planar(self) -> Bools:
        flat, known = self._by_name()
        planar = self.is_element("C") & np.where(known, flat, self._by_geometry())
        degrees = self.degrees
        planar |= self.is_element("N") & (
            (degrees == 2) | ((degrees <= 3) & (self.beside(planar) > 0))
        )
        return planar | (self.is_element("O") & (degrees <= 2) & (self.beside(planar) > 0))

    def _by_name(self) -> tuple[Bools, Bools]:
        """Return which carbons are planar by their names, and for which atoms names decide."""
        names = self.atoms.names
        # Modified amino acids have the backbone of all; a methyl cap has a carbon called C.
        backbone = self.protein & np.isin(names, _BACKBONE)
        flat = backbone & (names == "C") & (self.degrees <= 3)
        nucleic = is_named(self.parents, NUCLEIC - _UNKNOWN)
        flat |= nucleic & np.isin(names, _BASE_CARBONS)
        for parent, carbons in _SIDE_CHAINS.items():
            flat |= (self.parents == parent) & np.isin(names, carbons.split())
        return flat, nucleic | backbone | is_named(self.parents, PROTEIN - _UNKNOWN)

    def _by_geometry(self) -> Bools:
        """Return atoms with three neighbours in a plane, or a bond as short as a double one."""
        flat, short = np.zeros((2, len(self.atoms)), np.bool_)
        three = np.flatnonzero(self.degrees == 3)
        arms = [_unit(self._arm(three, number)) for number in range(3)]
        flat[three] = np.abs(np.einsum("ij,ij->i", arms[0], np.cross(arms[1], arms[2]))) < _FLAT
        short[self.bonds[self._short()].ravel()] = True
        return flat | (short & (self.degrees < 3))

    def _short(self) -> Bools:
        """Return which bonds are too short for single ones."""
        elements = np.sort(self.atoms.elements[self.bonds], axis=1).tolist()
        limits = [_SHORT.get((one, other), 0.0) for one, other in elements]
        return np.asarray(self.structure.distances(*self.bonds.T) < limits)

    def _locked(self) -> Bools:
        flat, known = self._is_flat(), self._by_name()[1][self.bonds].all(axis=1)
        inner = self.planar & (self.degrees >= 2) & self.is_element("C", "N")
        locked = inner[self.bonds].all(axis=1) & (known | (self._short() & flat))
        # Esters and the like: flat bonds between carbonyl and an oxygen that bears another carbon.
        carbons = self.is_element("C")
        carbonyl = carbons & self.planar & (self.beside(self.free_oxygens) > 0)
        bridge = self.is_element("O") & (self.degrees == 2) & (self.beside(carbons) == 2)
        esters = (carbonyl[self.bonds] & bridge[self.bonds[:, ::-1]]).any(axis=1)
        esters &= self.structure.distances(*self.bonds.T) <= _ESTER
        return np.asarray(locked | (esters & flat))

    def _is_flat(self) -> Bools:
        """Return whether the planes at both ends of each bond are turned by less than 30°."""
        inner = np.flatnonzero((self.degrees[self.bonds] >= 2).all(axis=1))
        normals = [
            _unit(np.cross(self._arm(ends, 0), self._arm(ends, 1))) for ends in self.bonds[inner].T
        ]
        turned = np.arccos(np.clip(np.abs(np.einsum("ij,ij->i", *normals)), 0.0, 1.0))
        flat = np.zeros(len(self.bonds), np.bool_)
        flat[inner] = turned < _FLAT_TORSION
        return flat

    def _arm(self, centres: Ints, number: int) -> Floats:
        """Vectors from atoms to one of their neighbours."""
        return self.structure.vectors(centres, self.targets[self._graph.indptr[centres] + number])

    def _acceptors(self) -> Bools:
        degrees = self.degrees
        # Without its hydrogen or after a gap, the nitrogen of a peptide seems to have a lone pair,
        # and so do those of side chains that are known to bear hydrogens.
        seeming = self.protein & (self.atoms.names == "N")
        seeming |= np.isin(self.parents, DONATING) & (self.planar | ~self.has_hydrogen)
        # Three neighbours leave a lone pair to an amine; in a plane it is part of the double bonds.
        nitrogens = self.is_element("N") & (degrees <= np.where(self.planar, 2, 3)) & ~seeming
        oxygens = self.is_element("O") & (degrees <= 2)
        sulphurs = self.is_element("S", "Se") & ~self.has_hydrogen & (degrees <= 2)
        return np.asarray((degrees >= 1) & (oxygens | nitrogens | sulphurs))

    def _positive(self) -> Bools:
        nitrogens = self.is_element("N")
        # Carbon between nitrogens none of which has a lone pair: all of them share the charge.
        full = nitrogens & self.planar & (self.degrees == 3)
        shared = self.is_element("C") & self.planar & (self.beside(full) >= 2)
        shared &= self.beside(full) == self.beside(nitrogens)
        shared &= self.beside(self.free_oxygens | self.is_element("S")) == 0
        charged = (nitrogens & (self.degrees == 4)) | (full & (self.beside(shared) > 0))
        return np.asarray(charged & self.has_hydrogen)

    def _negative(self) -> Bools:
        free = self.beside(self.free_oxygens)
        centres = self.is_element("C") & (free == 2)
        centres |= self.is_element("P") & (free >= 1)
        centres |= self.is_element("S", "N") & (free >= 3)
        return np.asarray(self.free_oxygens & (self.beside(centres) > 0))


def parent_residues(resnames: Strings) -> Strings:
    """Return the usual names of residues, whatever their protonation or place in a chain.

    Examples
    --------
    >>> parent_residues(np.array(["HIE", "NALA", "ATP"])).tolist()
    ['HIS', 'ALA', 'ATP']
    """
    distinct, inverse = np.unique(np.char.upper(resnames), return_inverse=True)
    ends = [name[1:] if name[:1] in "NC" and name[1:] in PROTEIN else name for name in distinct]
    return np.array([_USUAL.get(str(name), str(name)) for name in ends])[inverse]


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)
