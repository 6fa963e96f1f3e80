"""Chemistry of one structure: bonds that cannot turn, donors and acceptors, and charges.

Amino acids and nucleotides are known by their names, all else by its geometry. What matters is
which carbons are planar (sp2); nitrogens, oxygens and charges follow from the bonds. Hydrogens on
carbon may be missing, hydrogens on nitrogen and oxygen may not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timme._arrays import Bools, Floats, Ints, Strings
from timme._html import Described
from timme.rigidity.structure import Structure
from timme.system.atoms import Atoms
from timme.system.elements import HYDROGENS
from timme.system.residues import NUCLEIC, PROTEIN, is_protein

# Planar carbons of side chains; those of other amino acids have none.
_SIDE_CHAINS = {
    "ARG": "CZ",
    "ASN": "CG",
    "ASP": "CG",
    "GLN": "CD",
    "GLU": "CD",
    "HIS": "CG CD2 CE1",
    "PHE": "CG CD1 CD2 CE1 CE2 CZ",
    "TRP": "CG CD1 CD2 CE2 CE3 CZ2 CZ3 CH2",
    "PTR": "CG CD1 CD2 CE1 CE2 CZ",
    "TYR": "CG CD1 CD2 CE1 CE2 CZ",
}
_SAME_AS = {
    **dict.fromkeys("HID HIE HIP HSD HSE HSP HISD HISE HISH HISA HISB HIS1 HIS2".split(), "HIS"),
    **dict.fromkeys("ASH ASPH".split(), "ASP"),
    **dict.fromkeys("GLH GLUH".split(), "GLU"),
    **dict.fromkeys("CYX CYM CYS2 CYSH CYS1".split(), "CYS"),
    **dict.fromkeys("LYN LYSH LSN".split(), "LYS"),
    "TYM": "TYR",
    "ARGN": "ARG",
    "ASX": "ASN",
    "GLX": "GLN",
    "QLN": "GLN",
}
# Atoms of side chains that always bear hydrogens, unless something else is bound there.
_DONORS = {
    "ARG": "NE NH1 NH2",
    "ASN": "ND2",
    "GLN": "NE2",
    "LYS": "NZ",
    "SER": "OG",
    "THR": "OG1",
    "TRP": "NE1",
    "TYR": "OH",
}
_UNKNOWN_SIDE_CHAINS = frozenset("UNK PYL PGLU".split())
_METHYL_CAPS = frozenset("NME NMA".split())  # their carbon called C is no carbonyl
_BACKBONE = ("N", "CA", "C", "O", "OXT")
_BASE_CARBONS = ("C2", "C4", "C5", "C6", "C8")
_UNUSUAL_BASES = frozenset("N H2U YYG".split())

# Bonds shorter than this are double in part (Å): between lengths of single and conjugated bonds.
_SHORT = {("C", "C"): 1.44, ("C", "N"): 1.39, ("C", "O"): 1.31, ("C", "S"): 1.70, ("N", "N"): 1.36}
# Triple product of unit vectors to three neighbours: 0 in a plane, 0.77 in a tetrahedron.
_FLAT = 0.4
_FLAT_TORSION = np.deg2rad(30.0)
_NITRILE = 1.25  # Å: C≡N has 1.16, a single bond beside a ring 1.34
_ESTER = 1.40  # Å: between carbonyl and oxygen 1.34, a single bond has 1.43


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chemistry(Described):
    """What hydrogen bonds and locked bonds need to know of every atom."""

    planar: Bools  # (atoms,), sp2
    hydrogens: Bools  # (atoms,)
    acceptors: Bools  # (atoms,)
    positive: Bools  # (atoms,), donors of salt bridges
    negative: Bools  # (atoms,), acceptors of salt bridges
    locked: Bools  # (bonds,), bonds that cannot turn
    sources: Ints  # (2 bonds,), every bond from both ends, sorted
    targets: Ints  # (2 bonds,)

    @property
    def offsets(self) -> Ints:
        """Where the neighbours of each atom start in ``targets``, and where the last end."""
        return np.searchsorted(self.sources, np.arange(len(self.planar) + 1))


def chemistry(structure: Structure) -> Chemistry:
    """Find planar atoms, locked bonds, acceptors and charges.

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
    sulphonate and nitrate. Protonation is what the hydrogens say.

    Parameters
    ----------
    structure : Structure
        One snapshot.

    Returns
    -------
    Chemistry
        Per atom and per bond.
    """
    graph = _Graph(structure)
    planar = _planar(graph, structure)
    return Chemistry(
        planar=planar,
        hydrogens=graph.hydrogens,
        acceptors=_acceptors(graph, planar),
        positive=_positive(graph, planar),
        negative=_negative(graph),
        locked=_locked(graph, planar, structure),
        sources=graph.sources,
        targets=graph.targets,
    )


def parent_residue(resname: str) -> str:
    """Name the residue of which a protonation state or the end of a chain is a form.

    Parameters
    ----------
    resname : str
        Name in large letters, maybe one that force fields use.

    Returns
    -------
    str
        The usual name.

    Examples
    --------
    >>> parent_residue("HIE"), parent_residue("NALA"), parent_residue("ATP")
    ('HIS', 'ALA', 'ATP')
    """
    plain = _SAME_AS.get(resname, resname)
    if len(plain) == 4 and plain[0] in "NC" and plain[1:] in PROTEIN:
        return _SAME_AS.get(plain[1:], plain[1:])
    return plain


def without_hydrogens(structure: Structure) -> Bools:
    """Find nitrogens and oxygens whose hydrogens are missing, those of the backbone left aside.

    Side chains of amino acids are known by their names. Elsewhere it is a nitrogen with one single
    bond, or two that are not planar, and an oxygen with one single bond to carbon.

    Parameters
    ----------
    structure : Structure
        One snapshot.

    Returns
    -------
    ndarray of bool, shape (atoms,)
        True where a hydrogen is missing.
    """
    graph = _Graph(structure)
    return _bare_by_name(graph) | _bare_by_geometry(graph, structure)


class _Graph:
    """Covalent neighbours, counted by what they are."""

    def __init__(self, structure: Structure) -> None:
        atoms = structure.atoms
        self.atoms, self.bonds, self.count = atoms, atoms.bonds, len(atoms)
        ends = np.concatenate([atoms.bonds, atoms.bonds[:, ::-1]])
        order = np.lexsort((ends[:, 1], ends[:, 0]))
        self.sources, self.targets = ends[order, 0], ends[order, 1]
        self.degrees = np.bincount(self.sources, minlength=self.count)
        self.offsets = np.concatenate([[0], np.cumsum(self.degrees)])
        self.hydrogens = self.is_element(*HYDROGENS)
        self.heavy_degrees = self.neighbours_that(~self.hydrogens)
        # An oxygen with one neighbour: carbonyl, or a part of carboxylate and the like.
        self.free_oxygens = self.is_element("O") & (self.degrees == 1)

    def is_element(self, *symbols: str) -> Bools:
        found: Bools = np.isin(self.atoms.elements, symbols)
        return found

    def neighbours_that(self, are: Bools) -> Ints:
        """Count the neighbours of every atom that are so."""
        counts: Ints = np.bincount(self.sources[are[self.targets]], minlength=self.count)
        return counts


# ---- planar atoms and locked bonds ---------------------------------------------------------------


def _planar(graph: _Graph, structure: Structure) -> Bools:
    carbons, nitrogens = graph.is_element("C"), graph.is_element("N")
    by_name, known = _by_name(graph.atoms)
    planar = carbons & np.where(known, by_name, _by_geometry(graph, structure))
    beside = graph.neighbours_that(planar) > 0
    planar |= nitrogens & ((graph.degrees == 2) | ((graph.degrees <= 3) & beside))
    beside = graph.neighbours_that(planar) > 0
    return planar | (graph.is_element("O") & (graph.degrees <= 2) & beside)


def _by_name(atoms: Atoms) -> tuple[Bools, Bools]:
    """Tell which carbons are planar by their names, and of which atoms the names tell it."""
    joined = np.char.add(np.char.add(np.char.upper(atoms.resnames), " "), atoms.names)
    distinct, inverse = np.unique(joined, return_inverse=True)
    known = np.array([_is_known(str(pair).partition(" ")[0]) for pair in distinct], dtype=np.bool_)
    flat = np.array([_is_flat(*str(pair).split(" ", 1)) for pair in distinct], dtype=np.bool_)
    if not len(distinct):
        return flat, known
    # Modified amino acids have the backbone of all.
    backbone = is_protein(atoms) & np.isin(atoms.names, _BACKBONE)
    caps = np.isin(np.char.upper(atoms.resnames), tuple(_METHYL_CAPS))
    return flat[inverse] | (backbone & (atoms.names == "C") & ~caps), known[inverse] | backbone


def _is_known(resname: str) -> bool:
    parent = parent_residue(resname)
    if parent in NUCLEIC:
        return parent not in _UNUSUAL_BASES
    return parent in PROTEIN and parent not in _UNKNOWN_SIDE_CHAINS


def _is_flat(resname: str, name: str) -> bool:
    parent = parent_residue(resname)
    if parent in NUCLEIC:
        return name in _BASE_CARBONS
    return name in _SIDE_CHAINS.get(parent, "").split()


def _by_geometry(graph: _Graph, structure: Structure) -> Bools:
    """Find planar atoms: three neighbours in a plane, or a bond as short as a double one."""
    flat = np.zeros(graph.count, dtype=np.bool_)
    three = np.flatnonzero(graph.degrees == 3)
    starts = graph.offsets[three]
    arms = [_units(structure.vectors(three, graph.targets[starts + arm])) for arm in range(3)]
    volume = np.einsum("ij,ij->i", arms[0], np.cross(arms[1], arms[2]))
    flat[three] = np.abs(volume) < _FLAT
    short = np.zeros(graph.count, dtype=np.bool_)
    short[graph.bonds[_short(graph, structure)].ravel()] = True
    return flat | (short & (graph.degrees < 3))


def _short(graph: _Graph, structure: Structure) -> Bools:
    """Tell which bonds are too short for single ones."""
    elements: Strings = np.sort(graph.atoms.elements[graph.bonds], axis=1)
    lengths = structure.distances(graph.bonds[:, 0], graph.bonds[:, 1])
    short = np.zeros(len(lengths), dtype=np.bool_)
    for pair, limit in _SHORT.items():
        short |= (elements == pair).all(axis=1) & (lengths < limit)
    return short


def _locked(graph: _Graph, planar: Bools, structure: Structure) -> Bools:
    inner = planar & (graph.degrees >= 2) & graph.is_element("C", "N")
    locked: Bools = np.all(inner[graph.bonds], axis=1)
    known = _by_name(graph.atoms)[1][graph.bonds].all(axis=1)
    doubtful = np.flatnonzero(locked & ~known)
    turned = _twists(graph, structure, graph.bonds[doubtful])
    locked[doubtful] = _short(graph, structure)[doubtful] & (turned < _FLAT_TORSION)
    locked[_esters(graph, planar, structure)] = True
    return locked


def _esters(graph: _Graph, planar: Bools, structure: Structure) -> Ints:
    """Find flat bonds between carbonyl and an oxygen that bears another carbon."""
    carbons = graph.is_element("C")
    carbonyl = carbons & planar & (graph.neighbours_that(graph.free_oxygens) > 0)
    bridge = graph.is_element("O") & (graph.degrees == 2) & (graph.neighbours_that(carbons) == 2)
    one, other = graph.bonds.T
    pairs = np.flatnonzero((carbonyl[one] & bridge[other]) | (carbonyl[other] & bridge[one]))
    near = structure.distances(one[pairs], other[pairs]) <= _ESTER
    flat = _twists(graph, structure, graph.bonds[pairs]) < _FLAT_TORSION
    esters: Ints = pairs[near & flat]
    return esters


def _twists(graph: _Graph, structure: Structure, bonds: Ints) -> Floats:
    """Angles between the planes at both ends of bonds, up to a right one."""
    one, other = (_normals(graph, structure, bonds[:, end]) for end in range(2))
    turned: Floats = np.arccos(np.clip(np.abs(np.einsum("ij,ij->i", one, other)), 0.0, 1.0))
    return turned


def _normals(graph: _Graph, structure: Structure, centres: Ints) -> Floats:
    """Unit normals of the planes through atoms and the first two of their neighbours."""
    starts = graph.offsets[centres]
    one, other = (structure.vectors(centres, graph.targets[starts + arm]) for arm in range(2))
    return _units(np.cross(one, other))


def _units(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)


# ---- donors, acceptors, charges ------------------------------------------------------------------


def _acceptors(graph: _Graph, planar: Bools) -> Bools:
    # Without its hydrogen or after a gap, the nitrogen of a peptide seems to have a lone pair.
    amides = is_protein(graph.atoms) & (graph.atoms.names == "N")
    # Three neighbours leave a lone pair to an amine; in a plane it is part of the double bonds.
    pairs = (graph.degrees >= 1) & np.where(planar, graph.degrees <= 2, graph.degrees <= 3)
    nitrogens = graph.is_element("N") & pairs & ~amides & ~_bare_by_name(graph)
    oxygens = graph.is_element("O") & (graph.degrees <= 2) & (graph.degrees >= 1)
    bare = graph.degrees == graph.heavy_degrees
    sulphurs = graph.is_element("S", "Se") & bare & np.isin(graph.degrees, (1, 2))
    acceptors: Bools = oxygens | nitrogens | sulphurs
    return acceptors


def _bare_by_name(graph: _Graph) -> Bools:
    """Find atoms of side chains that have no hydrogen though nothing else is bound there."""
    atoms = graph.atoms
    named = np.zeros(graph.count, dtype=np.bool_)
    for resname in np.unique(atoms.resnames).tolist():
        donors = _DONORS.get(parent_residue(resname.upper()), "").split()
        if resname.upper() not in {"TYM", "ARGN"}:  # tyrosinate and arginine that gave one away
            named |= (atoms.resnames == resname) & np.isin(atoms.names, donors)
    usual = np.where(np.isin(atoms.names, ("NE", "NE1")), 2, 1)
    bare: Bools = named & (graph.degrees == graph.heavy_degrees) & (graph.degrees == usual)
    return bare


def _bare_by_geometry(graph: _Graph, structure: Structure) -> Bools:
    """Find the like in other molecules; a short bond is a double one, as in carbonyl or nitrile."""
    strange = ~is_protein(graph.atoms) & (graph.degrees == graph.heavy_degrees)
    planar = _planar(graph, structure)
    near = np.full(graph.count, np.inf)
    lengths = structure.distances(graph.sources, graph.targets)
    np.minimum.at(near, graph.sources, lengths)
    only = (graph.degrees == 1) & (graph.neighbours_that(graph.is_element("C")) == 1)
    amines = graph.is_element("N") & (only | ((graph.degrees == 2) & _bent(graph, planar)))
    hydroxyls = graph.is_element("O") & only & (near > _SHORT["C", "O"])
    bare: Bools = strange & ((amines & (near > _NITRILE)) | hydroxyls)
    return bare


def _bent(graph: _Graph, planar: Bools) -> Bools:
    """Tell which atoms have no planar carbon beside them: they have no part in double bonds."""
    bent: Bools = graph.neighbours_that(planar & graph.is_element("C")) == 0
    return bent


def _positive(graph: _Graph, planar: Bools) -> Bools:
    nitrogens = graph.is_element("N")
    charged: Bools = nitrogens & (graph.degrees == 4)
    # Carbon between nitrogens none of which has a lone pair: the charge is shared by all of them.
    full = nitrogens & planar & (graph.degrees == 3)
    shared = graph.is_element("C") & planar & (graph.neighbours_that(full) >= 2)
    shared &= graph.neighbours_that(full) == graph.neighbours_that(nitrogens)
    shared &= graph.neighbours_that(graph.free_oxygens | graph.is_element("S")) == 0
    charged |= full & (graph.neighbours_that(shared) > 0)
    charged &= graph.neighbours_that(graph.hydrogens) > 0
    return charged


def _negative(graph: _Graph) -> Bools:
    free = graph.neighbours_that(graph.free_oxygens)
    centres = graph.is_element("C") & (free == 2)
    centres |= graph.is_element("P") & (free >= 1)
    centres |= graph.is_element("S", "N") & (free >= 3)
    charged: Bools = graph.free_oxygens & (graph.neighbours_that(centres) > 0)
    return charged
