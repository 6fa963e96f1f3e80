"""What linear algebra says of bodies and bars: the rank of a generic rigidity matrix.

Bars lie along random lines, and numbers are residues of a large prime, so that ranks are exact.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from timme.rigidity.networks import Network

PRIME = 2**31 - 1  # products of two residues fit into 64 bits

Ints = npt.NDArray[np.int64]
Bond = tuple[int, int]
Sets = set[frozenset[int]]


@dataclass(frozen=True)
class Expected:
    """What the rank of a generic rigidity matrix says."""

    independent: list[int]  # bars of each bond, added in their order
    regions: Sets  # bonds of each region of stress
    clusters: Sets  # bodies that are rigid with one another

    @property
    def rank(self) -> int:
        return sum(self.independent)


def expected(n_bodies: int, bonds: Sequence[Bond], bars: Sequence[int]) -> Expected:
    """Eliminate bars in their order; see whether one more between two bodies would matter."""
    owners = np.repeat(np.arange(len(bonds)), bars)
    pairs = list(itertools.combinations(range(n_bodies), 2))
    rng = np.random.default_rng(0)
    all_bars = [*(bonds[owner] for owner in owners.tolist()), *pairs]
    matrix = _matrix(n_bodies, np.array(all_bars, np.int64).reshape(-1, 2), rng)
    pivots = _eliminate(matrix, len(owners))
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


def _matrix(n_bodies: int, bars: Ints, rng: np.random.Generator) -> Ints:
    """Bars along random lines as columns, six residues (a screw motion) for each body."""
    p, q = rng.integers(PRIME, size=(2, len(bars), 3))
    moments = np.roll(p, -1, 1) * np.roll(q, 1, 1) % PRIME - np.roll(p, 1, 1) * np.roll(q, -1, 1)
    lines = np.concatenate([q - p, moments], axis=1) % PRIME
    motions = np.zeros((len(bars), n_bodies, 6), np.int64)
    number = np.arange(len(bars))
    motions[number, bars[:, 0]] = lines
    motions[number, bars[:, 1]] = -lines % PRIME
    return np.ascontiguousarray(motions.reshape(len(bars), -1).T)


def _eliminate(matrix: Ints, n_columns: int) -> list[int]:
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
    n_bodies: int,
    bonds: Sequence[Bond],
    bars: int | Sequence[int] = 5,
    energies: Sequence[float] | None = None,
) -> Network:
    """Bodies and bars without names."""
    given_bars = [bars] * len(bonds) if isinstance(bars, int) else list(bars)
    return Network(
        n_bodies=n_bodies,
        bonds=np.array(bonds, np.int64).reshape(-1, 2),
        bars=np.array(given_bars, np.int64),
        kinds=np.full(len(bonds), "covalent"),
        energies=np.full(len(bonds), math.nan) if energies is None else np.array(energies),
    )


def neighbours(bonds: Iterable[Bond], body: int) -> set[int]:
    return {a + b - body for a, b in bonds if body in (a, b)}


def anchors(chosen: Network) -> dict[int, int]:
    """Bodies at the ends of chains, such as hydrogens, and the neighbour with which each counts.

    They have one neighbour by bonds that are always there. Of a molecule of two atoms it is the one
    with fewer bonds of any kind, or else the second.
    """
    every, first = pairs_of(chosen), np.isnan(chosen.energies).tolist()
    always = [bond for bond, is_there in zip(every, first, strict=True) if is_there]
    found = dict[int, int]()
    for body in range(chosen.n_bodies):
        around = neighbours(always, body)
        if len(around) != 1:
            continue
        (other,) = around
        degrees = [sum(one in bond for bond in every) for one in (body, other)]
        is_second = degrees[0] < degrees[1] or (degrees[0] == degrees[1] and body > other)
        if len(neighbours(always, other)) > 1 or is_second:
            found[body] = other
    return found


def pairs_of(chosen: Network) -> list[Bond]:
    return [(int(a), int(b)) for a, b in chosen.bonds]
