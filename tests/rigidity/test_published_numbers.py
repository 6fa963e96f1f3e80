"""The numbers of the method, as published and never read from the source: one test on either side.

Bars and degrees of freedom: Jacobs, Rader, Kuhn and Thorpe, Proteins 44, 150 (2001), with the
bodies and bars of Hespenheide, Jacobs and Thorpe, J. Phys.: Condens. Matter 16, S5055 (2004).
Energies: Dahiyat, Gordon and Mayo, Protein Science 6, 1333 (1997). Tethers: Rader, Hespenheide,
Kuhn and Thorpe, PNAS 99, 3540 (2002). Covalent radii: Cordero et al., Dalton Trans. 2832 (2008).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.rigidity.structures import METHANE, joined, molecule, moved, ring
from timme._arrays import Floats
from timme.rigidity.chemistry import chemistry
from timme.rigidity.decomposition import decompose
from timme.rigidity.energies import HydrogenBonds, hydrogen_bonds
from timme.rigidity.network import Network, network
from timme.rigidity.structure import structure
from timme.system.ensemble import Ensemble

EDGE = 1e-6  # Å and degrees, far above rounding

SULPHANE = {"S": (0.0, 0.0, 0.0), "H1": (0.0, 0.97, 0.93), "H2": (0.0, -0.97, 0.93)}
AMMONIUM = {
    "N": (0.0, 0.0, 0.0),
    "H1": (1.0, 0.0, 0.0),
    "H2": (-0.33, 0.94, 0.0),
    "H3": (-0.33, -0.47, 0.82),
    "H4": (-0.33, -0.47, -0.82),
}
FORMATE = {"O1": (2.8, 0.0, 0.0), "C": (3.4, 1.1, 0.0), "O2": (4.6, 1.1, 0.0)}
DISULPHIDE = {
    "C1": (0.0, 0.0, 0.0),
    "S1": (1.8, 0.0, 0.0),
    "S2": (2.5, 1.9, 0.0),
    "C2": (4.3, 1.9, 0.0),
    "H": (-1.0, 0.0, 0.0),
}


def methane() -> Ensemble:
    return molecule(METHANE, "C-H1 C-H2 C-H3 C-H4")


def sulphane() -> Ensemble:
    return molecule(SULPHANE, "S-H1 S-H2")


def benzene() -> Ensemble:
    names = "C1 C2 C3 C4 C5 C6".split()
    bonds = "C1-C2 C2-C3 C3-C4 C4-C5 C5-C6 C6-C1"
    return molecule(dict(zip(names, ring(6, 1.39), strict=True)), bonds)


def meeting(
    *, donor_hydrogen: float = 1.0, hydrogen_acceptor: float = 1.9, angle: float = 180.0
) -> Ensemble:
    """A hydroxyl that meets an oxygen: lengths in Å, the angle at the hydrogen in degrees."""
    theta = np.deg2rad(angle)
    hydrogen = np.array([donor_hydrogen, 0.0, 0.0])
    way = np.array([-np.cos(theta), np.sin(theta), 0.0])
    acceptor = hydrogen + hydrogen_acceptor * way
    base = acceptor + 1.43 * turned(-way, 109.5)
    donor = {"O": [0.0, 0.0, 0.0], "C": [-0.5, -1.3, 0.0], "H": hydrogen.tolist()}
    other = {"O": acceptor.tolist(), "C": base.tolist()}
    return joined(molecule(donor, "O-C O-H"), molecule(other, "O-C"))


def turned(vector: Floats, degrees: float) -> Floats:
    """The vector, turned in the plane of x and y."""
    x, y = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    return np.array([x * vector[0] - y * vector[1], y * vector[0] + x * vector[1], 0.0])


def found_bonds(ensemble: Ensemble) -> HydrogenBonds:
    snapshot = structure(ensemble)
    everyone = np.ones(len(snapshot.atoms), dtype=np.bool_)
    return hydrogen_bonds(snapshot, chemistry(snapshot), allowed=everyone)


def chain(names: list[str]) -> str:
    """Bonds from each atom to the next."""
    return " ".join(f"{a}-{b}" for a, b in pairwise(names))


def count(found: Network, kind: str) -> int:
    return int(np.count_nonzero(found.of_kind(kind)))


# ---- bars and degrees of freedom -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "bars", "example"),
    [
        ("covalent", 5, methane()),
        ("locked", 6, benzene()),
        ("disulfide", 5, molecule(DISULPHIDE, "C1-S1 S1-S2 S2-C2 C1-H")),
        ("hydrogen bond", 5, meeting()),
        (
            "salt bridge",
            5,
            joined(molecule(AMMONIUM, "N-H1 N-H2 N-H3 N-H4"), molecule(FORMATE, "C-O1 C-O2")),
        ),
        ("tether", 2, joined(methane(), moved(methane(), (3.6, 0.0, 0.0)))),
    ],
)
def test_every_kind_of_bond_has_its_published_bars(kind: str, bars: int, example: Ensemble) -> None:
    found = network(example)
    assert set(found.bars[found.of_kind(kind)].tolist()) == {bars}


@pytest.mark.parametrize(("n_atoms", "modes"), [(2, 0), (3, 0), (4, 1), (5, 2), (10, 7)])
def test_a_chain_turns_about_its_inner_bonds(n_atoms: int, modes: int) -> None:
    """Six freedoms an atom, five at both ends, five bars a bond, six of the whole: n - 3."""
    names = [f"C{number}" for number in range(n_atoms)]
    places = {name: (1.25 * k, 0.45 * (-1) ** k, 0.0) for k, name in enumerate(names)}
    assert decompose(network(molecule(places, chain(names)))).floppy_modes == modes


@pytest.mark.parametrize(("n_atoms", "modes"), [(5, 0), (6, 0), (7, 1), (8, 2), (12, 6)])
def test_a_ring_is_rigid_up_to_six_atoms(n_atoms: int, modes: int) -> None:
    """Each closed ring of n hinges has n - 6 modes: 6 n - 5 n - 6."""
    names = [f"C{number}" for number in range(n_atoms)]
    places = dict(zip(names, ring(n_atoms, 1.54), strict=True))
    closed = molecule(places, f"{chain(names)} {names[-1]}-{names[0]}")
    found = network(closed, tethers="none")
    assert set(found.kinds.tolist()) == {"covalent"}
    assert decompose(found).floppy_modes == modes


def test_a_tether_takes_two_of_the_six_modes_of_two_bodies() -> None:
    apart, tied = (joined(methane(), moved(methane(), (x, 0.0, 0.0))) for x in (9.0, 3.6))
    assert decompose(network(apart)).n_objects == 2
    assert decompose(network(tied)).floppy_modes == 6 - 2


def test_an_end_of_a_chain_has_five_freedoms() -> None:
    """Two bars to a rigid body leave it three ways to move: about one axis it turns unseen."""
    bonds = np.array([(0, 1), (0, 2), (1, 2), (2, 3)])
    bars, kinds = np.array([6, 6, 6, 2]), np.full(4, "covalent")
    assert decompose(Network(4, bonds, bars, kinds, np.full(4, np.nan))).floppy_modes == 5 - 2


# ---- hydrogen bonds ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("donor_hydrogen", "hydrogen_acceptor", "bound"),
    [
        (1.0, 4.0, True),  # both lengths are at their limits, 4 Å and 5 Å
        (0.96, 4.0 - EDGE, True),
        (0.96, 4.0 + EDGE, False),
        (1.04, 3.96 - EDGE, True),
        (1.04, 3.96 + EDGE, False),
    ],
)
def test_hydrogen_and_acceptor_are_within_4_and_donor_and_acceptor_within_5(
    donor_hydrogen: float, hydrogen_acceptor: float, bound: bool
) -> None:
    pair = meeting(donor_hydrogen=donor_hydrogen, hydrogen_acceptor=hydrogen_acceptor)
    assert len(found_bonds(pair)) == int(bound)


@pytest.mark.parametrize(
    ("angle", "bound"), [(100.0 + EDGE, True), (100.0, True), (100.0 - EDGE, False)]
)
def test_the_angle_at_the_hydrogen_is_100_degrees_or_more(angle: float, bound: bool) -> None:
    assert len(found_bonds(meeting(hydrogen_acceptor=2.6, angle=angle))) == int(bound)


@pytest.mark.parametrize(("n_between", "bound"), [(1, False), (2, False), (3, True), (4, True)])
def test_donor_and_acceptor_are_more_than_three_bonds_apart(n_between: int, bound: bool) -> None:
    """As many carbons between as there are bonds less one; where these lie matters little."""
    carbons = {f"C{number}": (0.9 * number, 2.5 + number, 3.0) for number in range(n_between)}
    carbons[f"C{n_between - 1}"] = (3.4, 1.35, 0.0)
    atoms = {"O1": (0.0, 0.0, 0.0), **carbons, "O2": (2.9, 0.0, 0.0), "H": (1.0, 0.0, 0.0)}
    bonds = chain(["O1", *carbons, "O2"])
    assert len(found_bonds(molecule(atoms, f"{bonds} O1-H"))) == int(bound)


@pytest.mark.parametrize(
    ("length", "energy"),
    [
        # 8 [5 x¹² - 6 x¹⁰] with x = 2.8 / length, straight and with the best angle at the acceptor
        (2.8, -8.0),
        (2.8 / 0.9, -8 * (6 * 0.3486784401 - 5 * 0.282429536481)),
        (2.8 / 1.05, -8 * (6 * 1.05**10 - 5 * 1.05**12)),
    ],
)
def test_a_straight_hydrogen_bond_has_its_published_energy(length: float, energy: float) -> None:
    (found,) = found_bonds(meeting(hydrogen_acceptor=length - 1.0)).energies
    assert found == pytest.approx(energy, rel=1e-9)


@pytest.mark.parametrize(
    ("length", "energy"),
    [
        # 10 [5 x¹² - 6 x¹⁰] with x = 3.2 / (length + 0.375)
        (2.825, -10.0),
        (3.2 / 0.9 - 0.375, -10 * (6 * 0.3486784401 - 5 * 0.282429536481)),
    ],
)
def test_a_salt_bridge_has_its_published_energy(length: float, energy: float) -> None:
    formate = moved(molecule(FORMATE, "C-O1 C-O2"), (length - 2.8, 0.0, 0.0))
    found = found_bonds(joined(molecule(AMMONIUM, "N-H1 N-H2 N-H3 N-H4"), formate))
    assert found.salt_bridges[0]
    assert found.energies[0] == pytest.approx(energy, rel=1e-9)


# ---- tethers and metals --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "limit"),
    [
        (methane(), methane(), 1.7 + 1.7 + 0.5),
        (methane(), sulphane(), 1.7 + 1.8 + 0.5),
        (sulphane(), sulphane(), 1.8 + 1.8 + 0.5),
    ],
)
def test_tethers_end_half_an_angstrom_beyond_the_radii(
    one: Ensemble, other: Ensemble, limit: float
) -> None:
    for gap, tied in ((limit - EDGE, 1), (limit + EDGE, 0)):
        assert count(network(joined(one, moved(other, (gap, 0.0, 0.0)))), "tether") == tied


@pytest.mark.parametrize(("n_atoms", "tied"), [(4, 0), (5, 1), (6, 1)])
def test_tethered_atoms_are_more_than_three_bonds_apart(n_atoms: int, tied: int) -> None:
    """A chain far wider than bonds are, whose ends meet, the first in a residue of its own."""
    names = [f"C{number}" for number in range(n_atoms)]
    places = ring(n_atoms, 10.0)
    places[-1] = places[0] + [0.0, 0.0, 3.5]
    curled = molecule(dict(zip(names, places, strict=True)), chain(names))
    resids = np.where(np.arange(n_atoms) == 0, 1, 2)
    assert count(
        network(replace(curled, atoms=replace(curled.atoms, resids=resids))), "tether"
    ) == (tied)


@pytest.mark.parametrize(
    ("metal", "limit"),
    [("Zn", 1.22 + 1.05 + 0.4), ("Fe", 1.32 + 1.05 + 0.4), ("Mg", 1.41 + 1.05 + 0.4)],
)
def test_metals_hold_sulphur_within_the_covalent_radii_and_0_4(metal: str, limit: float) -> None:
    ion = molecule({metal: (0.0, 0.0, 0.0)}, "", resname=metal.upper())
    ion = replace(ion, atoms=replace(ion.atoms, elements=np.array([metal])))
    for gap, bound in ((limit - 0.001, 1), (limit + 0.001, 0)):
        found = network(joined(ion, moved(sulphane(), (gap, 0.0, 0.0))))
        assert np.count_nonzero(found.bonds == 0) == bound
