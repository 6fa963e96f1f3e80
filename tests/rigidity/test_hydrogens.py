"""References for added hydrogens: golden places, brute force over turns, and textbook acidity."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.rigidity.structures import (
    Floats,
    hydroxyl,
    ion,
    joined,
    molecule,
    structure,
    without_hydrogens,
)
from timme.ensemble import Ensemble
from timme.rigidity import add_hydrogens, network
from timme.rigidity.chemistry import Chemistry, Structure
from timme.rigidity.energies import hydrogen_bonds
from timme.rigidity.hydrogens import turn_hydrogens

pytest.importorskip("hydride", reason="hydride is not installed")

IDEAL = {  # of the chemical component dictionary, in Å
    "CYS": {"N": (1.585, 0.483, -0.081), "CA": (0.141, 0.450, 0.186), "C": (-0.095, 0.006, 1.606),
            "O": (0.685, -0.742, 2.143), "CB": (-0.533, -0.530, -0.774),
            "SG": (-0.247, 0.004, -2.484)},
    "HIS": {"N": (-0.040, -1.210, 0.053), "CA": (1.172, -1.709, 0.652), "C": (1.083, -3.207, 0.905),
            "O": (0.040, -3.770, 1.222), "CB": (1.484, -0.975, 1.962), "CG": (2.940, -1.060, 2.353),
            "ND1": (3.380, -2.075, 3.129), "CD2": (3.960, -0.251, 2.046),
            "CE1": (4.693, -1.908, 3.317), "NE2": (5.058, -0.801, 2.662)},
    "ASP": {"N": (-0.317, 1.688, 0.066), "CA": (-0.470, 0.286, -0.344),
            "C": (-1.868, -0.180, -0.029), "O": (-2.534, 0.415, 0.786),
            "CB": (0.539, -0.580, 0.413), "CG": (1.938, -0.195, 0.004),
            "OD1": (2.109, 0.681, -0.810), "OD2": (2.992, -0.826, 0.543)},
    "LYS": {"N": (1.422, 1.796, 0.198), "CA": (1.394, 0.355, 0.484), "C": (2.657, -0.284, -0.032),
            "O": (3.316, 0.275, -0.876), "CB": (0.184, -0.278, -0.206),
            "CG": (-1.102, 0.282, 0.407), "CD": (-2.313, -0.351, -0.283),
            "CE": (-3.598, 0.208, 0.329), "NZ": (-4.761, -0.400, -0.332)},
}  # fmt: skip
BONDS = {
    "CYS": "N-CA CA-C C-O CA-CB CB-SG",
    "HIS": "N-CA CA-C C-O CA-CB CB-CG CG-ND1 CG-CD2 ND1-CE1 CD2-NE2 CE1-NE2",
    "ASP": "N-CA CA-C C-O CA-CB CB-CG CG-OD1 CG-OD2",
    "LYS": "N-CA CA-C C-O CA-CB CB-CG CG-CD CD-CE CE-NZ",
}


def residue(name: str) -> Ensemble:
    return molecule(IDEAL[name], BONDS[name], resname=name)


def hydrogens_on(ensemble: Ensemble, *names: str) -> list[int]:
    """How many hydrogens the atoms of these names bear in the first residue that has them."""
    atoms = ensemble.atoms
    light = atoms.elements == "H"
    counts = Counter(
        int(end) for bond in atoms.bonds for end in bond if light[bond].any() and not light[end]
    )
    return [counts[int(np.flatnonzero(atoms.names == name)[0])] for name in names]


# ---- placing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["1a2p-a", "4ake-a"])
def test_hydrogens_that_cannot_turn_are_where_the_golden_structure_has_them(name: str) -> None:
    wanted = structure(name)
    found = add_hydrogens(without_hydrogens(wanted))
    for column in ("names", "elements", "resnames", "resids", "bonds", "masses"):
        np.testing.assert_array_equal(getattr(found.atoms, column), getattr(wanted.atoms, column))
    heavy, bonds = wanted.atoms.elements != "H", wanted.atoms.bonds
    degrees = np.bincount(bonds[heavy[bonds].all(axis=1)].ravel(), minlength=len(heavy))
    light = bonds[~heavy[bonds].all(axis=1)]  # the hydrogen comes after its owner
    fixed = light[degrees[light[:, 0]] > 1, 1]
    apart = np.linalg.norm(found.snapshot()[0] - wanted.snapshot()[0], axis=1)
    assert apart[heavy].max() == 0.0
    assert apart[fixed].max() < 1e-5  # hydride computes in single precision
    assert len(fixed) > 500


def test_own_hydrogen_bonds_come_back_after_stripping() -> None:
    """All 45 of the first model of 1bnr below -1 kcal/mol, at -0.5 at least."""
    own = structure("1bnr")
    again = add_hydrogens(without_hydrogens(own))
    wanted, found = heavy_pairs(own, -1.0), heavy_pairs(again, -0.5)
    assert len(wanted) == 45
    assert wanted <= found


def heavy_pairs(ensemble: Ensemble, cutoff: float) -> set[tuple[str, str]]:
    atoms, held = ensemble.atoms, network(ensemble, cutoff=cutoff)
    parent = {}
    for one, other in atoms.bonds.tolist():
        parent[one], parent[other] = other, one
    bonds = held.bonds[held.of_kind("hydrogen bond", "salt bridge")].tolist()
    return {(atoms.label(parent[hydrogen]), atoms.label(acceptor)) for hydrogen, acceptor in bonds}


@pytest.mark.parametrize(
    ("name", "ph", "atom", "count"),
    [
        # pK of the side chains of free amino acids: 3.7, 6.0 and 10.7
        ("ASP", 7.0, "OD2", 0),
        ("ASP", 3.0, "OD2", 1),
        ("HIS", 7.0, "ND1", 0),
        ("HIS", 5.0, "ND1", 1),
        ("LYS", 7.0, "NZ", 3),
        ("LYS", 12.0, "NZ", 2),
    ],
)
def test_acids_and_bases_follow_the_ph(name: str, ph: float, atom: str, count: int) -> None:
    made = add_hydrogens(residue(name), ph=ph)
    assert hydrogens_on(made, atom) == [count]
    assert f"for pH {ph:g}" in made.notes[0]


def test_what_binds_a_metal_bears_no_hydrogen_there() -> None:
    def beside(name: str, atom: str, neighbour: str) -> Ensemble:
        """A zinc ion 2.1 Å from one atom, on the side away from its neighbour."""
        one = residue(name)
        place, from_there = (np.array(IDEAL[name][each]) for each in (atom, neighbour))
        away = (place - from_there) / np.linalg.norm(place - from_there)
        return joined(one, ion("Zn", (place + 2.1 * away).tolist()))

    assert hydrogens_on(add_hydrogens(residue("CYS")), "SG") == [1]
    assert hydrogens_on(add_hydrogens(beside("CYS", "SG", "CB")), "SG") == [0]
    assert hydrogens_on(add_hydrogens(residue("HIS")), "ND1", "NE2") == [0, 1]
    tele, pros = beside("HIS", "NE2", "CG"), beside("HIS", "ND1", "CD2")
    assert hydrogens_on(add_hydrogens(tele), "ND1", "NE2") == [1, 0]
    assert hydrogens_on(add_hydrogens(pros), "ND1", "NE2") == [0, 1]


def test_waters_ions_and_unknown_molecules_get_none() -> None:
    water = molecule({"O": (9.0, 0.0, 0.0)}, "", resname="HOH")
    strange = molecule({"C9": (0.0, 9.0, 0.0), "N9": (1.4, 9.0, 0.0)}, "C9-N9", resname="CYS")
    made = add_hydrogens(joined(residue("CYS"), water, ion("Zn", (0.0, 0.0, 30.0)), strange))
    resids = made.atoms.resids[made.atoms.elements == "H"]
    assert set(resids.tolist()) == {1}
    assert [note for note in made.notes if "A/CYS 4" in note and "dictionary" in note]


# ---- turning -------------------------------------------------------------------------------------


def cost(places: Floats, known: Chemistry) -> float:
    """Strongest bond of each hydroxyl of methanol, and 10 for each two atoms that touch.

    Carbon, oxygen and hydrogen of each are a residue of their own.
    """
    snapshot = replace(known.structure, coordinates=places)
    found = hydrogen_bonds(snapshot, known, allowed=np.ones(len(places), np.bool_))
    total = sum(min(found.energies[found.donors == oxygen], default=0.0)
                for oxygen in range(0, len(places), 3))  # fmt: skip
    for one, other in itertools.permutations(range(0, len(places), 3), 2):
        oxygen, carbon, hydrogen = (math.dist(places[one + 2], each) for each in
                                    places[other : other + 3])  # fmt: skip
        total += 10 * ((carbon < 2.1) + (oxygen < 1.4) + (hydrogen < 1.8) / 2)
    return float(total)


def turned(places: Floats, degrees: Sequence[float]) -> Floats:
    """The hydroxyls, each with its hydrogen turned about its bond."""
    found = places.copy()
    for oxygen, angle in zip(range(0, len(places), 3), degrees, strict=True):
        axis = places[oxygen] - places[oxygen + 1]
        turn = Rotation.from_rotvec(math.radians(angle) * axis / np.linalg.norm(axis))
        found[oxygen + 2] = places[oxygen] + turn.apply(places[oxygen + 2] - places[oxygen])
    return found


def competitors(gap: float, seed: int, count: int = 2) -> Ensemble:
    """Hydroxyls in a row that face one another: of each two, only one can give its hydrogen."""
    rng = np.random.default_rng(seed)
    parts = []
    for number in range(count):
        about = rng.uniform(0, 2 * math.pi)
        x, y = math.cos(about), math.sin(about)
        spin = np.array([[(-1.0) ** number, 0, 0], [0, x, y], [0, -y, x]])
        places = hydroxyl().snapshot()[0] @ spin + [gap * number, 0.0, 0.0]
        parts.append(Ensemble.from_array(places[None], atoms=hydroxyl().atoms, unit="Å"))
    return joined(*parts)


@pytest.mark.parametrize(
    ("gap", "seed", "count", "step"),
    [
        *((gap, seed, 2, 10) for gap in (2.7, 3.0) for seed in (0, 1)),
        (2.8, 3, 3, 40),
        (2.8, 5, 4, 60),
    ],
)
def test_hydroxyls_that_compete_get_the_best_of_all_turns(
    gap: float, seed: int, count: int, step: int
) -> None:
    """More than two are tried in coarser steps, than which the fine ones cannot be worse."""
    known = Chemistry(Structure.of(competitors(gap, seed, count)))
    start = known.structure.coordinates
    every = itertools.product(range(0, 360, step), repeat=count)
    best = min(cost(turned(start, degrees), known) for degrees in every)
    found = cost(turn_hydrogens(known.structure).coordinates, known)
    assert found <= best + 1e-6
    assert step > 10 or found == pytest.approx(best, abs=1e-6)
    assert best < -1.0
    assert cost(start, known) > best + 1.0


def test_turning_keeps_lengths_and_angles_and_moves_nothing_else() -> None:
    before = structure("1a2p-a")
    after = turn_hydrogens(Structure.of(before)).coordinates
    places, atoms = before.snapshot()[0], before.atoms
    moving = np.flatnonzero(np.linalg.norm(after - places, axis=1) > 1e-9)
    assert len(moving) > 20
    polar = {(one, other) for one, other in atoms.bonds.tolist() if {one, other} & set(moving)}
    for one, other in polar:
        assert set(atoms.elements[[one, other]]) <= {"H", "N", "O", "S"}
        lengths = [np.linalg.norm(each[one] - each[other]) for each in (places, after)]
        assert lengths[0] == pytest.approx(lengths[1], abs=1e-9)
    turned_so = Ensemble.from_array(after[None], atoms=atoms, unit="Å")
    held = [network(before), network(turned_so)]
    assert np.nansum(held[1].energies) < np.nansum(held[0].energies)
