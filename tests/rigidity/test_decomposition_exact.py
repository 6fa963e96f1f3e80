"""Networks with many redundant bars beside exact linear algebra, as regions of stress merge."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import searching, seeds
from timme._arrays import Ints
from timme.rigidity.decomposition import decompose, dilute
from timme.rigidity.network import Network

PRIME = 2**31 - 1  # products of two residues fit into 64 bits
Bond = tuple[int, int]
Sets = set[frozenset[int]]


@dataclass(frozen=True)
class Expected:
    """What the rank of a generic rigidity matrix says."""

    independent: list[int]  # bars of each bond, added in their order
    regions: Sets  # bonds of each region of stress
    clusters: Sets  # bodies of each rigid cluster


def expected(n_bodies: int, bonds: Sequence[Bond], bars: Sequence[int]) -> Expected:
    """Eliminate bars in their order; see whether one more between two bodies would matter."""
    owners = np.repeat(np.arange(len(bonds)), bars)
    pairs = list(itertools.combinations(range(n_bodies), 2))
    rng = np.random.default_rng(0)
    all_bars = [*(bonds[owner] for owner in owners.tolist()), *pairs]
    matrix = np.column_stack([bar(n_bodies, pair, rng) for pair in all_bars])
    pivots = eliminate(matrix, len(owners))
    rank = len(pivots)
    # A bar that is no pivot is a sum of pivots: they and it are a circuit.
    circuits = [
        owners[[other, *np.take(pivots, np.flatnonzero(matrix[:rank, other]))]]
        for other in sorted(set(range(len(owners))) - set(pivots))
    ]
    rigid = [pair for k, pair in enumerate(pairs) if not matrix[rank:, len(owners) + k].any()]
    return Expected(
        independent=np.bincount(owners[pivots], minlength=len(bonds)).tolist(),
        regions=united(circuits),
        clusters=united([*([body] for body in range(n_bodies)), *rigid]),
    )


def bar(n_bodies: int, ends: Bond, rng: np.random.Generator) -> Ints:
    """Return a bar along a random line as residues, six (a screw motion) for each body."""
    p, q = rng.integers(PRIME, size=(2, 3))
    moment = np.roll(p, -1) * np.roll(q, 1) % PRIME - np.roll(p, 1) * np.roll(q, -1) % PRIME
    line = np.concatenate([q - p, moment])
    motions = np.zeros((n_bodies, 6), np.int64)
    motions[ends[0]] = line % PRIME
    motions[ends[1]] = -line % PRIME
    return motions.ravel()


def eliminate(matrix: Ints, n_columns: int) -> list[int]:
    """Bring the first columns to reduced echelon form, in place; return the pivots."""
    pivots: list[int] = []
    for place in range(n_columns):
        row = len(pivots)
        nonzero = np.flatnonzero(matrix[row:, place])
        if not len(nonzero):
            continue
        matrix[[row, row + nonzero[0]]] = matrix[[row + nonzero[0], row]]
        matrix[row] = matrix[row] * pow(int(matrix[row, place]), -1, PRIME) % PRIME
        others = np.flatnonzero(matrix[:, place])
        others = others[others != row]
        matrix[others] = (matrix[others] - matrix[others, place, None] * matrix[row]) % PRIME
        pivots.append(place)
    return pivots


def united(groups: Iterable[Iterable[int]]) -> Sets:
    """Unite groups that have a member in common."""
    found: Sets = set()
    for group in groups:
        touching = {one for one in found if one & set(group)}
        found = (found - touching) | {frozenset(group).union(*touching)}
    return {frozenset(map(int, one)) for one in found}


def sets(labels: Ints) -> Sets:
    """Places of equal labels, -1 left out."""
    return {frozenset(np.flatnonzero(labels == one).tolist()) for one in set(labels) - {-1}}


def network(
    n_bodies: int, bonds: Sequence[Bond], bars: Sequence[int], energies: Sequence[float]
) -> Network:
    """Bodies and bars without names."""
    kinds = np.full(len(bonds), "covalent")
    return Network(n_bodies, np.array(bonds), np.array(bars), kinds, np.array(energies))


def check(n_bodies: int, bonds: Sequence[Bond], bars: Sequence[int]) -> None:
    found = decompose(network(n_bodies, bonds, bars, [math.nan] * len(bonds)))
    wanted = expected(n_bodies, bonds, bars)
    assert found.independent.tolist() == wanted.independent
    assert sets(found.stress) == wanted.regions
    assert sets(found.clusters) == wanted.clusters


@dataclass(frozen=True)
class Rings:
    """Rings with more bonds inside, of which some share a body, and bonds between any bodies.

    No body has a single neighbour.
    """

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


@given(rings(), seeds)
@searching(100)
def test_bars_regions_and_clusters_are_exact_in_any_order(chosen: Rings, seed: int) -> None:
    every = chosen.inside + chosen.between
    shuffled = [every[k] for k in np.random.default_rng(seed).permutation(len(every))]
    bonds, bars = zip(*shuffled, strict=True)
    check(chosen.n_bodies, bonds, bars)


@given(rings(), st.data())
@searching(30)
def test_every_step_at_which_stressed_regions_merge_is_exact(
    chosen: Rings, data: st.DataObject
) -> None:
    bonds, bars = zip(*chosen.inside, *chosen.between, strict=True)
    steps = [float(data.draw(st.integers(-4, -1))) for _ in chosen.between]
    whole = network(chosen.n_bodies, bonds, bars, [math.nan] * len(chosen.inside) + steps)
    hierarchy = dilute(whole)
    for cutoff in (-5.0, -4.0, -3.0, -2.0, -1.0):
        there = np.flatnonzero(~(whole.energies > cutoff))
        wanted = expected(chosen.n_bodies, [bonds[k] for k in there], [bars[k] for k in there])
        found = decompose(whole, cutoff)
        assert sets(found.clusters) == sets(hierarchy.cut(cutoff).labels) == wanted.clusters
        assert sets(found.stress[there]) == wanted.regions
        assert found.independent[there].sum() == sum(wanted.independent)


@pytest.mark.parametrize("most", [3, 4, 5, 6])  # 1 to this many bars: from floppy to over-braced
def test_a_lattice_is_exact(most: int) -> None:
    rng = np.random.default_rng(most)
    places = list(itertools.product(range(3), range(3), range(4)))
    bonds = [
        (a, b)
        for a, b in itertools.combinations(range(len(places)), 2)
        if sum(abs(x - y) for x, y in zip(places[a], places[b], strict=True)) == 1
    ]
    bonds = [bonds[k] for k in rng.permutation(len(bonds))]
    check(len(places), bonds, rng.integers(1, most + 1, size=len(bonds)).tolist())
