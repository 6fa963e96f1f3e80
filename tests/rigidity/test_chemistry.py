"""References for locked bonds, planar atoms, acceptors and charges: textbooks, and another list."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from tests.rigidity.structures import (
    chain,
    listed,
    molecule,
    needs_lists,
    pairs_of,
    ring,
    structure,
)
from timme.ensemble import Ensemble
from timme.rigidity.chemistry import Chemistry, Structure

RINGS = {"PHE", "TYR", "TRP", "HIS"}
AMIDES = {("ASN", "CG", "ND2"), ("GLN", "CD", "NE2")}


def known(ensemble: Ensemble) -> Chemistry:
    return Chemistry(Structure.of(ensemble))


def names(ensemble: Ensemble, chosen: npt.NDArray[np.bool_]) -> set[str]:
    return set(ensemble.atoms.names[chosen].tolist())


def locked(ensemble: Ensemble) -> set[frozenset[str]]:
    bonds = ensemble.atoms.bonds[known(ensemble).locked]
    return {frozenset(ensemble.atoms.names[bond].tolist()) for bond in bonds}


# ---- another program's lists ---------------------------------------------------------------------


@needs_lists
def test_locked_bonds_of_1bck_are_the_listed_ones_and_partial_double_bonds() -> None:
    """That program locks 164 peptide bonds and 18 of guanidinium, and we 144 more.

    These are 132 bonds of aromatic rings, which are rigid with or without a lock, and the 12 amides
    of asparagine and glutamine, which are as much double as a peptide.
    """
    atoms = structure("1bck").atoms
    assert pairs_of(atoms.bonds) == listed().covalent
    mine = pairs_of(atoms.bonds[known(structure("1bck")).locked])
    assert listed().locked <= mine
    more = mine - listed().locked
    kinds = [(str(atoms.resnames[a]), *sorted(atoms.names[[a, b]].tolist())) for a, b in more]
    amides = [kind for kind in kinds if kind in AMIDES]
    rings = [kind for kind in kinds if kind[0] in RINGS]
    assert (len(more), len(amides), len(rings)) == (144, 12, 132)


# ---- limits of geometry, which decide in molecules that no table knows ---------------------------

EDGE = 1e-6  # Å and degrees, far above rounding


def two_planes(one: str, other: str, length: float, turned: float = 0.0) -> Ensemble:
    """Two flat centres with two carbons or hydrogens each, the second plane turned (degrees)."""
    turn = np.deg2rad(turned)
    across = np.array([0.0, np.cos(turn), np.sin(turn)])
    side, beyond = 0.95, np.array([length + 0.55, 0.0, 0.0])
    atoms: dict[str, Sequence[float]] = {
        f"{one}1": (0.0, 0.0, 0.0),
        "H1": (-0.55, side, 0.0),
        "H2": (-0.55, -side, 0.0),
        f"{other}2": (length, 0.0, 0.0),
        "H3": (beyond + side * across).tolist(),
        "H4": (beyond - side * across).tolist(),
    }
    return molecule(atoms, f"{one}1-H1 {one}1-H2 {one}1-{other}2 {other}2-H3 {other}2-H4")


@pytest.mark.parametrize(("other", "limit"), [("C", 1.44), ("N", 1.39)])
@pytest.mark.parametrize("beyond", [-EDGE, EDGE])
def test_a_flat_bond_of_an_unknown_molecule_is_locked_if_it_is_short(
    other: str, limit: float, beyond: float
) -> None:
    assert len(locked(two_planes("C", other, limit + beyond))) == (beyond < 0)


@pytest.mark.parametrize(("turned", "is_locked"), [(30 - EDGE, True), (30 + EDGE, False)])
def test_a_short_bond_turned_by_more_than_30_degrees_is_not_locked(
    turned: float, is_locked: bool
) -> None:
    assert len(locked(two_planes("C", "C", 1.34, turned))) == is_locked


# ---- amino acids and nucleotides, by their names -------------------------------------------------


def side_chain(resname: str, atoms: str, bonds: str) -> Ensemble:
    """Part of a residue with all atoms on a line: names must tell, not geometry."""
    places = {name: (1.2 * number, 0.0, 0.0) for number, name in enumerate(atoms.split())}
    return molecule(places, bonds, resname=resname)


GUANIDINE = "CD-NE NE-CZ CZ-NH1 CZ-NH2 NH1-H1 NH1-H2 NH2-H3 NH2-H4"
IMIDAZOLE = "CB-CG CG-ND1 ND1-HD1 ND1-CE1 CE1-NE2 NE2-CD2 CD2-CG"


ARGININE = "CD NE CZ NH1 H1 H2 NH2 H3 H4"
HISTIDINE = "CB CG ND1 HD1 CE1 NE2 CD2"
AMIDE = "CB-CG CG-OD1 CG-ND2"


@pytest.mark.parametrize(
    ("role", "resname", "atoms", "bonds", "expected"),
    [
        ("positive", "LYS", "CE NZ H1 H2 H3", "CE-NZ NZ-H1 NZ-H2 NZ-H3", "NZ"),
        ("positive", "LYN", "CE NZ H1 H2", "CE-NZ NZ-H1 NZ-H2", ""),
        ("positive", "ARG", f"{ARGININE} HE", f"{GUANIDINE} NE-HE", "NE NH1 NH2"),
        ("positive", "ARG", ARGININE, GUANIDINE, ""),
        ("positive", "HIP", f"{HISTIDINE} HE2", f"{IMIDAZOLE} NE2-HE2", "ND1 NE2"),
        ("positive", "HIS", HISTIDINE, IMIDAZOLE, ""),
        ("positive", "ASN", "CB CG OD1 ND2 H1 H2", f"{AMIDE} ND2-H1 ND2-H2", ""),
        ("negative", "ASP", "CB CG OD1 OD2", "CB-CG CG-OD1 CG-OD2", "OD1 OD2"),
        ("negative", "ASH", "CB CG OD1 OD2 HD2", "CB-CG CG-OD1 CG-OD2 OD2-HD2", ""),
        ("negative", "A", "P OP1 OP2 O5' C5'", "P-OP1 P-OP2 P-O5' O5'-C5'", "OP1 OP2"),
        ("negative", "SO4", "S O1 O2 O3 O4", "S-O1 S-O2 S-O3 S-O4", "O1 O2 O3 O4"),
        ("negative", "NO3", "N O1 O2 O3", "N-O1 N-O2 N-O3", "O1 O2 O3"),
        ("negative", "DMS", "S O C1 C2", "S-O S-C1 S-C2", ""),
        # lone pairs accept, but not where a hydrogen is missing
        ("acceptors", "HID", HISTIDINE, IMIDAZOLE, "NE2"),
        ("acceptors", "ALA", "C2 N CA C O", "C2-N N-CA CA-C C-O", "O"),
        ("acceptors", "MET", "CG SD CE", "CG-SD SD-CE", "SD"),
        ("acceptors", "CYS", "CB SG HG", "CB-SG SG-HG", ""),
        ("acceptors", "ASN", "CB CG OD1 ND2", AMIDE, "OD1"),
        ("acceptors", "ARG", "CD NE CZ NH1 NH2", "CD-NE NE-CZ CZ-NH1 CZ-NH2", ""),
        ("acceptors", "LYS", "CE NZ", "CE-NZ", ""),
        ("acceptors", "LYN", "CE NZ H1 H2", "CE-NZ NZ-H1 NZ-H2", "NZ"),
        ("acceptors", "TRP", "CD1 NE1 CE2", "CD1-NE1 NE1-CE2", ""),
    ],
)
def test_charges_and_acceptors_follow_names_and_hydrogens(
    role: str, resname: str, atoms: str, bonds: str, expected: str
) -> None:
    residue = side_chain(resname, atoms, bonds)
    assert names(residue, getattr(known(residue), role)) == set(expected.split())


def test_cytosine_accepts_and_locks_as_in_a_base_pair() -> None:
    bonds = "N1-C2 C2-O2 C2-N3 N3-C4 C4-N4 N4-H1 N4-H2 C4-C5 C5-C6 C6-N1 N1-C1'"
    base = side_chain("DC", "N1 C2 O2 N3 C4 N4 H1 H2 C5 C6 C1'", bonds)
    assert names(base, known(base).acceptors) == {"O2", "N3"}
    inside = "N1-C2 C2-N3 N3-C4 C4-N4 C4-C5 C5-C6 C6-N1"
    assert locked(base) == {frozenset(bond.split("-")) for bond in inside.split()}


# ---- unknown molecules, by their geometry --------------------------------------------------------


def test_benzene_is_locked_and_cyclohexane_is_not() -> None:
    names = "C1 C2 C3 C4 C5 C6".split()
    bonds = chain([*names, "C1"])
    flat = molecule(dict(zip(names, ring(6, 1.39), strict=True)), bonds)
    chair = ring(6, 1.53) * [0.95, 0.95, 1.0] + [[0, 0, 0.25 * (-1) ** n] for n in range(6)]
    bent = molecule(dict(zip(names, chair, strict=True)), bonds)
    assert len(locked(flat)) == 6
    assert len(locked(bent)) == 0


@pytest.mark.parametrize(("turn", "length", "n_locked"), [(0.7, 1.49, 12), (0.0, 1.40, 13)])
def test_two_rings_turn_unless_the_bond_between_them_is_short_and_flat(
    turn: float, length: float, n_locked: int
) -> None:
    names = [f"C{number}" for number in range(1, 13)]
    one, other = ring(6, 1.39), -ring(6, 1.39, turn=turn)
    other[:, 0] += 2 * 1.39 + length
    places = dict(zip(names, [*one, *other], strict=True))
    rings = molecule(places, f"{chain(names[:6])} C6-C1 {chain(names[6:])} C12-C7 C1-C7")
    assert len(locked(rings)) == n_locked


FORMAMIDE = {
    "C": (0.0, 0.0, 0.0),
    "O": (1.23, 0.0, 0.0),
    "N": (-0.67, 1.15, 0.0),
    "H": (-0.54, -0.94, 0.0),
    "H1": (-1.68, 1.15, 0.0),
    "H2": (-0.16, 2.02, 0.0),
}


def test_an_amide_of_an_unknown_molecule_is_locked_and_planar_unless_it_is_twisted() -> None:
    amide = molecule(FORMAMIDE, "C-O C-N C-H N-H1 N-H2")
    found = known(amide)
    assert locked(amide) == {frozenset("CN")}
    assert names(amide, found.planar) == {"C", "N", "O"}
    assert names(amide, found.acceptors) == {"O"}
    assert not found.positive.any()
    turned = {**FORMAMIDE, "H1": (-1.0, 1.6, 0.8), "H2": (-1.0, 1.6, -0.8)}
    assert locked(molecule(turned, "C-O C-N C-H N-H1 N-H2")) == set()


@pytest.mark.parametrize(
    ("length", "methyl", "is_locked"),
    [
        (1.40 - EDGE, (0.7, 1.25, 0.0), True),
        (1.40 + EDGE, (0.7, 1.25, 0.0), False),
        (1.34, (0.7, 0.4, 1.35), False),  # twisted
    ],
)
def test_an_ester_is_locked_if_it_is_short_and_flat(
    length: float, methyl: Sequence[float], is_locked: bool
) -> None:
    ends = {"O2": (length, 0, 0), "C3": (length + methyl[0], *methyl[1:])}
    atoms = {"C1": (0, 0, 0), "O1": (-0.6, 1.05, 0), "C2": (-0.75, -1.3, 0), **ends}
    found = locked(molecule(atoms, "C1-O1 C1-C2 C1-O2 O2-C3"))
    assert (frozenset(("C1", "O2")) in found) == is_locked
