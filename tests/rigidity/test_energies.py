"""References for energies of hydrogen bonds: a slow one, and another program's list."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rigidity.structures import (
    WATER,
    joined,
    listed,
    molecule,
    moved,
    needs_lists,
    structure,
)
from timme.ensemble import Ensemble
from timme.rigidity.chemistry import Chemistry, Structure
from timme.rigidity.energies import (
    HydrogenBonds,
    bond_energies,
    hydrogen_bond_energies,
    hydrogen_bonds,
    salt_bridge_energies,
)

# How many bonds of each class the other program lists.
CLASSES = {
    "HB Dsp2 Asp2": 125,
    "HB Dsp2 Asp3": 11,
    "HB Dsp3 Asp2": 32,
    "HB Dsp3 Asp3": 7,
    "SB no energy": 18,
}

# ---- a slow reference: one bond at a time, plain mathematics -------------------------------------


def naive_factor(theta: float, phi: float, gamma: float, donor: int, acceptor: int) -> float:
    """F of the energy; donor and acceptor are 2 for sp2 and 3 for sp3, angles in radians."""
    fall = math.cos(theta) ** 2 * math.exp(-((math.pi - theta) ** 6))
    if donor == 3 and acceptor == 3:
        return fall * math.cos(phi - math.radians(109.5)) ** 2
    if donor == 2 and acceptor == 3:
        return fall * fall
    if phi <= math.pi / 2:
        return 0.0
    if donor == 3:
        return fall * math.cos(phi) ** 2
    return fall * math.cos(max(phi, gamma, math.pi - gamma)) ** 2


def naive_energy(distance: float, factor: float) -> float:
    x = 2.8 / distance
    return 8 * (5 * x**12 - 6 * x**10) * factor


def naive_salt_bridge(distance: float) -> float:
    x = 3.2 / (distance + 0.375)
    return 10 * (5 * x**12 - 6 * x**10)


# ---- the function --------------------------------------------------------------------------------

angles = st.floats(0.0, math.pi)
kinds = st.sampled_from([2, 3])


@given(st.floats(1.0, 6.0), angles, angles, angles, kinds, kinds)
@settings(max_examples=50)
def test_energies_are_those_of_the_published_function(
    distance: float, theta: float, phi: float, gamma: float, donor: int, acceptor: int
) -> None:
    found = hydrogen_bond_energies(
        np.array([distance]),
        (np.array([theta]), np.array([phi]), np.array([gamma])),
        (np.array([donor == 2]), np.array([acceptor == 2])),
    )
    wanted = naive_energy(distance, naive_factor(theta, phi, gamma, donor, acceptor))
    assert found[0] == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    bridge = salt_bridge_energies(np.array([distance]))
    assert bridge[0] == pytest.approx(naive_salt_bridge(distance), rel=1e-9)


def test_the_wells_are_8_and_10_deep_at_2_8_and_2_825() -> None:
    distances = np.linspace(2.0, 5.0, 30001)
    straight = np.full_like(distances, np.pi)
    yes = np.ones(len(distances), dtype=np.bool_)
    bonds = hydrogen_bond_energies(distances, (straight, straight, straight), (yes, yes))
    bridges = salt_bridge_energies(distances)
    assert distances[bonds.argmin()] == pytest.approx(2.8, abs=1e-4)
    assert bonds.min() == pytest.approx(-8.0)
    assert distances[bridges.argmin()] == pytest.approx(2.825, abs=1e-4)
    assert bridges.min() == pytest.approx(-10.0)


# ---- another program's list ----------------------------------------------------------------------


@needs_lists
@pytest.mark.parametrize("name", CLASSES)
def test_energies_of_1bck_agree_with_the_listed_ones(name: str) -> None:
    """To the 5 decimals of the list, all but one bond.

    The one: that program takes every histidine for charged, and so the bond of His 92, which has a
    hydrogen at Nδ1 only, for a salt bridge.
    """
    snapshot = Structure.of(structure("1bck"))
    known = Chemistry(snapshot)
    bonds = bond_energies(snapshot, known, *listed().bonds.T)
    chosen = listed().classes == name
    off = np.abs(bonds.energies - listed().energies)[chosen]
    assert len(off) == CLASSES[name]
    if name.startswith("HB"):
        assert off.max() < 1e-4
        donor, acceptor = (int(word[-1]) for word in name.split()[1:])
        assert set(np.where(known.planar[bonds.donors[chosen]], 2, 3)) == {donor}
        assert set(np.where(known.planar[bonds.acceptors[chosen]], 2, 3)) == {acceptor}
    else:
        (odd,) = bonds.donors[chosen][off > 1e-4]
        assert structure("1bck").site_label(int(odd)) == "HIS 92/ND1"
        assert not known.positive[odd]
    assert bonds.salt_bridges[chosen].sum() == (0 if name.startswith("HB") else 17)


# ---- the search ----------------------------------------------------------------------------------


def found_bonds(ensemble: Ensemble, cutoff: float = 0.0) -> HydrogenBonds:
    snapshot = Structure.of(ensemble)
    everyone = np.ones(len(snapshot.atoms), dtype=np.bool_)
    return hydrogen_bonds(snapshot, Chemistry(snapshot), allowed=everyone, cutoff=cutoff)


def waters(seed: int, count: int, side: float, *, periodic: bool) -> Ensemble:
    """Waters at random places and turned at random, none of them kept apart."""
    rng = np.random.default_rng(seed)
    one = molecule(WATER, "O-H1 O-H2", resname="HOH")
    parts = []
    for _ in range(count):
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        turned = Ensemble.from_array(one.snapshot()[0][None] @ turn, atoms=one.atoms, unit="Å")
        parts.append(moved(turned, rng.uniform(0, side, 3)))
    whole = joined(*parts)
    boxes = [side] * 3 if periodic else None
    places = whole.snapshot()[0][None]
    return Ensemble.from_array(places, atoms=whole.atoms, unit="Å", boxes=boxes)


@given(st.integers(0, 10_000), st.booleans())
@settings(max_examples=12)
def test_turning_or_moving_a_structure_changes_no_energy(seed: int, periodic: bool) -> None:
    """In a box, molecules are moved through its walls; in open space they are turned as well."""
    rng = np.random.default_rng(seed)
    before = waters(seed, 25, 10.5, periodic=periodic)
    places = before.snapshot()[0] + rng.uniform(-5, 5, 3)
    if periodic:  # wider than twice the longest bond: one image of each acceptor is in reach
        places %= 10.5
    else:
        places = places @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    boxes = [10.5] * 3 if periodic else None
    after = Ensemble.from_array(places[None], atoms=before.atoms, unit="Å", boxes=boxes)
    wanted, found = (found_bonds(one) for one in (before, after))
    # Angles near 180° keep half of the digits of their cosine.
    np.testing.assert_allclose(found.energies, wanted.energies, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(found.acceptors, wanted.acceptors)


def test_water_as_an_acceptor_has_its_hydrogens_for_bases() -> None:
    """The weakest energy of both counts; all in one plane, with φ of 100° and 155.5°."""
    donor = molecule({"O": (-2.8, 0, 0), "C": (-3.3, 1.3, 0), "H": (-1.84, 0, 0)}, "O-C O-H")
    arms = {
        name: (np.cos(a), np.sin(a), 0.0)
        for name, a in zip(("H1", "H2"), np.radians([80.0, -24.5]), strict=True)
    }
    water = molecule({"O": (0.0, 0.0, 0.0), **arms}, "O-H1 O-H2", resname="HOH")
    found = found_bonds(joined(donor, water))
    wanted = naive_energy(2.8, naive_factor(np.pi, math.radians(155.5), 0.0, 3, 3))
    assert found.energies[found.donors == 0] == pytest.approx(wanted, rel=1e-9)
