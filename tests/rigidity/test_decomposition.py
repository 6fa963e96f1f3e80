"""References for clusters, hinges, stress and modes: counts by hand, and exact linear algebra."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rigidity.exact import (
    Bond,
    Ints,
    anchors,
    expected,
    neighbours,
    network,
    pairs_of,
    sets,
    united,
)
from timme.rigidity.decomposition import base_energy, decompose, dilute
from timme.rigidity.networks import Network


def ring(n_bodies: int) -> list[Bond]:
    return [(k, (k + 1) % n_bodies) for k in range(n_bodies)]


# ---- counts by hand ------------------------------------------------------------------------------


@pytest.mark.parametrize("n_bodies", range(3, 13))
def test_a_ring_of_hinges_has_a_mode_for_each_body_beyond_six(n_bodies: int) -> None:
    found = decompose(network(n_bodies, ring(n_bodies)))
    assert found.floppy_modes == max(n_bodies - 6, 0)
    assert found.redundant.sum() == max(6 - n_bodies, 0)
    assert (found.stress >= 0).all() == (n_bodies < 6)
    assert len(sets(found.clusters)) == (1 if n_bodies <= 6 else n_bodies)
    assert found.hinges.all() == (n_bodies > 6)
    index = (n_bodies - 6) / n_bodies  # modes, or redundant bars, over bonds
    assert found.flexibility == pytest.approx([index] * n_bodies)


def test_rings_that_share_a_body_move_independently_and_those_that_share_a_bond_do_not() -> None:
    at_a_body = [*ring(7), *[(a + 7 if a else 0, b + 7 if b else 0) for a, b in ring(8)]]
    found = decompose(network(15, at_a_body))
    assert found.freedoms.tolist() == [2, 1]  # of 8 hinges, and of 7
    assert np.bincount(found.regions).tolist() == [8, 7]
    at_a_bond = [(a + 5 if a > 1 else a, b + 5 if b > 1 else b) for a, b in ring(7)[1:]]
    found = decompose(network(12, [*ring(7), *at_a_bond]))
    assert found.freedoms.tolist() == [6 * 11 - 5 * 13]
    assert set(found.regions.tolist()) == {0}


def test_two_bananas_are_hinged_at_their_tips() -> None:
    # Two rigid bodies that share two points turn about the line through them: five bars, not six.
    banana = [(0, 1), (1, 2), (2, 0)]
    other = [(a + 3, b + 3) for a, b in banana]
    found = decompose(network(6, [*banana, *other, (0, 3)], [6] * 6 + [5]))
    assert found.floppy_modes == 1
    assert sets(found.clusters) == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}
    assert found.hinges.tolist() == [False] * 6 + [True]
    locked = decompose(network(6, [*banana, *other, (0, 3), (1, 4)], [6] * 6 + [5, 1]))
    assert locked.floppy_modes == 0
    assert len(sets(locked.clusters)) == 1


def test_an_acceptor_holds_a_hydrogen_but_not_its_donor() -> None:
    # The hydrogen 3 counts with its donor 2, though the acceptor 4 holds it by locked bonds.
    triangles = [(0, 1), (1, 2), (2, 0), (4, 5), (5, 6), (6, 4)]
    held = network(7, [*triangles, (2, 3), (3, 4)], [6] * 6 + [5, 6], [math.nan] * 7 + [-1.0])
    found = decompose(held)
    assert sets(found.clusters) == {frozenset({0, 1, 2, 3}), frozenset({4, 5, 6})}
    assert found.hinges.tolist() == [False] * 6 + [True, False]
    assert found.floppy_modes == 1


@pytest.mark.parametrize("energy", [-9.5, -10.0, -10.5, -11.0])
def test_what_is_rigid_without_bonds_joins_below_a_bond_of_any_energy(energy: float) -> None:
    bonds = [(0, 1), (1, 2), (0, 2), (2, 3), (1, 3)]
    chosen = network(4, bonds, 6, [math.nan] * 3 + [energy] * 2)
    hierarchy = dilute(chosen)
    assert base_energy(chosen) == (-10.0 if energy == -9.5 else math.ceil(energy) - 1)
    without = {frozenset({0, 1, 2}), frozenset({3})}
    assert sets(hierarchy.cut(base_energy(chosen)).labels) == without
    assert hierarchy.cut(energy).n_clusters == 1


@pytest.mark.parametrize(
    ("bonds", "bars", "message"),
    [
        ([], [], "a network needs at least 1 body"),
        ([(0, 2)], [5], "bodies of bonds range from 0 to 1, got 0 to 2"),
        ([(1, 1)], [5], "from a body to itself"),
        ([(0, 1)], [7], "a bond has 1 to 6 bars"),
    ],
)
def test_an_impossible_network_is_refused(bonds: list[Bond], bars: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decompose(network(2 if bonds else 0, bonds, bars))
    with pytest.raises(ValueError, match="an energy is one number in kcal/mol, such as"):
        decompose(network(2, [(0, 1)]), math.nan)


# ---- molecules beside the rank of their rigidity matrix ------------------------------------------


def molecules(seed: int) -> Network:
    """Random molecules as networks have them, with hydrogen bonds and tethers.

    Pieces have at least two atoms; only bonds between atoms with other neighbours are locked, and
    only these bear tethers. Energies have ties.
    """
    rng = np.random.default_rng(seed)
    n_atoms, covalent, first = int(rng.integers(3, 15)), list[Bond](), 0
    for atom in range(1, n_atoms):
        if atom > first + 1 and atom < n_atoms - 1 and rng.random() < 0.1:
            first = atom  # another molecule
        else:
            covalent.append((int(rng.integers(max(first, atom - 3), atom)), atom))
    for _ in range(rng.integers(0, 3)):
        one, other = np.sort(rng.choice(n_atoms, 2, replace=False)).tolist()
        if (one, other) not in covalent:
            covalent.append((one, other))
    inner = [a for a in range(n_atoms) if len(neighbours(covalent, a)) > 1]
    bars = [6 if {*b} <= {*inner} and rng.random() < 0.3 else 5 for b in covalent]
    energies = [math.nan] * len(bars)
    for _ in range(rng.integers(0, n_atoms)):
        one, other = rng.choice(n_atoms, 2, replace=False).tolist()
        covalent.append((one, other))
        bars.append(5)
        energies.append(float(rng.integers(-8, 0)))
    for one, other in itertools.combinations(inner, 2):
        if rng.random() < 0.05:
            covalent.append((one, other))
            bars.append(2)
            energies.append(math.nan)
    return network(n_atoms, covalent, bars, energies)


def test_modes_and_rigid_pairs_of_600_molecular_networks_are_those_of_the_rank() -> None:
    mismatches = list[int]()
    for seed in range(600):
        whole = molecules(seed)
        hierarchy, ends = dilute(whole), anchors(whole)
        cutoff = (-10.0, -6.0, -3.0, 0.0)[seed % 4]
        there = np.flatnonzero(~(whole.energies > cutoff))
        bonds = [pairs_of(whole)[k] for k in there]
        wanted = expected(whole.n_bodies, bonds, whole.bars[there].tolist())
        label = {body: min(cluster) for cluster in wanted.clusters for body in cluster}
        named = np.array([label[ends.get(body, body)] for body in range(whole.n_bodies)])
        found = decompose(whole, cutoff)
        modes = 6 * whole.n_bodies - wanted.rank - n_unseen(whole.n_bodies, bonds, there, whole)
        same = found.floppy_modes == modes and found.independent.sum() == wanted.rank - (
            len(whole.bonds) - len(there)  # -1 for each bond above the cutoff
        )
        same &= sets(found.clusters) == sets(hierarchy.cut(cutoff).labels) == sets(named)
        same &= sets(found.stress[there]) == wanted.regions
        if not same:
            mismatches.append(seed)
    assert mismatches == []


def n_unseen(n_bodies: int, bonds: list[Bond], there: Ints, whole: Network) -> int:
    """Six of each piece as a whole, and the turn of each atom about its only bond."""
    pieces = united([*([body] for body in range(n_bodies)), *bonds])
    turning = set[Bond]()
    for body in range(n_bodies):
        around = neighbours(bonds, body)
        held = sum(int(whole.bars[k]) for k in there if body in whole.bonds[k])
        if len(around) == 1 and held == 5:
            (other,) = around
            turning.add((min(body, other), max(body, other)))
    return 6 * len(pieces) + len(turning)


# ---- any networks without ends of chains ---------------------------------------------------------


@dataclass(frozen=True)
class Rings:
    """Rings with more bonds inside, of which some share a body, and bonds between any bodies."""

    n_bodies: int
    inside: list[tuple[Bond, int]]  # and bars
    between: list[tuple[Bond, int]]


@st.composite
def rings(draw: st.DrawFn) -> Rings:
    inside: list[tuple[Bond, int]] = []
    bars = st.integers(1, 6)
    n_bodies = 0
    for _ in range(draw(st.integers(1, 4))):
        size = draw(st.integers(3, 7))
        shares = n_bodies > 0 and draw(st.booleans())  # its first body with the ring before
        first = n_bodies - shares
        bodies = range(first, first + size)
        n_bodies = first + size
        closed = [(body, body + 1) for body in bodies[:-1]] + [(bodies[0], bodies[-1])]
        chords = list(itertools.combinations(bodies, 2))
        chosen = draw(st.lists(st.sampled_from(chords), max_size=2 * size))
        inside += [(bond, draw(st.integers(4, 6))) for bond in closed]
        inside += [(bond, draw(bars)) for bond in chosen]
    bodies_of = st.tuples(st.integers(0, n_bodies - 1), st.integers(0, n_bodies - 1))
    between = draw(st.lists(bodies_of.filter(lambda pair: pair[0] != pair[1]), max_size=10))
    return Rings(n_bodies, inside, [(bond, draw(bars)) for bond in between])


@given(rings(), st.data())
@settings(max_examples=8)
def test_every_step_at_which_stressed_regions_merge_is_exact(
    chosen: Rings, data: st.DataObject
) -> None:
    bonds, bars = zip(*chosen.inside, *chosen.between, strict=True)
    steps = [float(data.draw(st.integers(-4, -1))) for _ in chosen.between]
    whole = network(chosen.n_bodies, bonds, bars, [math.nan] * len(chosen.inside) + steps)
    hierarchy = dilute(whole)
    for cutoff in (-5.0, -3.0, -1.0):
        there = np.flatnonzero(~(whole.energies > cutoff))
        wanted = expected(chosen.n_bodies, [bonds[k] for k in there], [bars[k] for k in there])
        found = decompose(whole, cutoff)
        assert sets(found.clusters) == sets(hierarchy.cut(cutoff).labels) == wanted.clusters
        assert sets(found.stress[there]) == wanted.regions
        assert found.independent[there].sum() == wanted.rank


@pytest.mark.parametrize("most", [3, 6])  # 1 to this many bars: from floppy to over-braced
def test_a_lattice_is_exact(most: int) -> None:
    rng = np.random.default_rng(most)
    places = list(itertools.product(range(3), range(3), range(3)))
    bonds = [
        (a, b)
        for a, b in itertools.combinations(range(len(places)), 2)
        if sum(abs(x - y) for x, y in zip(places[a], places[b], strict=True)) == 1
    ]
    bonds = [bonds[k] for k in rng.permutation(len(bonds))]
    bars = rng.integers(1, most + 1, size=len(bonds)).tolist()
    found, wanted = decompose(network(len(places), bonds, bars)), expected(len(places), bonds, bars)
    assert found.independent.tolist() == wanted.independent
    assert sets(found.stress) == wanted.regions
    assert sets(found.clusters) == wanted.clusters
