"""Rigid clusters, hinges, stress and floppy modes of a network of bodies and bars."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from timme._arrays import Bools, Floats, Ints, frozen
from timme._html import Described
from timme._kernels import pebble as kernel
from timme._kernels.blocks import blocks
from timme.hierarchy.labels import rank_labels
from timme.hierarchy.quantity import Quantity
from timme.hierarchy.tree import Hierarchy, grow
from timme.rigidity.checks import checked_cutoff
from timme.rigidity.network import Network

ENERGY = Quantity("E", unit="kcal/mol", words="energy of hydrogen bonds", clusters="rigid clusters")
DEEPEST = -10.0  # kcal/mol, the well of a salt bridge: no bond is stronger


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decomposition(Described):
    """What a pebble game finds in a network.

    Bodies are atoms, of which each is in one cluster: an end of a chain, such as a hydrogen, in
    that of its neighbour, whatever else holds it. All other bodies of a cluster are rigid with one
    another, and with no other.
    """

    clusters: Ints  # (bodies,), rigid cluster of each, 0 the largest, ties to the lowest body
    independent: Ints  # (bonds,), independent bars of each bond, -1 where it is not there
    redundant: Ints  # (bonds,), the other bars
    hinges: Bools  # (bonds,), whether the ends of a bond can turn against one another
    stress: Ints  # (bonds,), region of stress, 0 that of most bonds, -1 where there is none
    regions: Ints  # (bonds,), region of coupled hinges, 0 that of most, -1 where it is no hinge
    freedoms: Ints  # (regions,), internal degrees of freedom of each
    n_objects: int  # connected pieces of at least two bodies

    @property
    def floppy_modes(self) -> int:
        """Number of internal degrees of freedom."""
        return int(self.freedoms.sum())

    @property
    def flexibility(self) -> Floats:
        """Flexibility index of each bond: above 0 for hinges, below 0 under stress.

        For hinges, the degrees of freedom of their region over its hinges; for stressed bonds,
        redundant bars of their region over its bonds, negative; 0 for all others, and NaN for bonds
        that are not there (Jacobs, Rader, Kuhn and Thorpe, 2001).
        """
        index = np.where(self.independent < 0, math.nan, 0.0)
        stressed = self.stress >= 0
        redundant = np.bincount(self.stress[stressed], self.redundant[stressed])
        index[stressed] = -_shares(redundant, self.stress[stressed])
        index[self.hinges] = _shares(self.freedoms, self.regions[self.hinges])
        return index


def decompose(network: Network, cutoff: float = math.inf) -> Decomposition:
    """Play the pebble game with all bonds up to an energy.

    Parameters
    ----------
    network : Network
        Bodies and bars.
    cutoff : float, optional
        Weakest energy of a hydrogen bond, in kcal/mol.

    Returns
    -------
    Decomposition
        Clusters, hinges and stress.

    Examples
    --------
    >>> ring = np.array([(k, (k + 1) % 7) for k in range(7)])
    >>> kinds, energies = np.full(7, "covalent"), np.full(7, np.nan)
    >>> decompose(Network(7, ring, np.full(7, 5), kinds, energies)).floppy_modes
    1
    """
    if not network.n_bodies:
        raise ValueError("a pebble game needs at least 1 body, got a network of none")
    game = _play(network, checked_cutoff(cutoff))
    ends = network.bonds[game.order]
    hinged = game.clusters[ends[:, 0]] != game.clusters[ends[:, 1]]
    regions, freedoms = _regions(game, ends, hinged)
    return Decomposition(
        clusters=frozen(rank_labels(game.with_ends())),
        independent=game.spread(game.independent, -1),
        redundant=game.spread(network.bars[game.order] - game.independent, 0),
        hinges=frozen(game.spread(hinged.astype(np.int64), 0) > 0),
        stress=game.spread(rank_labels(game.stress), -1),
        regions=game.spread(regions, -1),
        freedoms=frozen(freedoms),
        n_objects=_count_objects(network.n_bodies, ends),
    )


def dilute(network: Network) -> Hierarchy:
    """Add hydrogen bonds from the strongest to the weakest; see rigid clusters join.

    Clusters of a hierarchy never part. A cut is what :func:`decompose` finds, but for one case: a
    body with a single neighbour is rigid with it, as it turns about itself unseen, and comes to
    turn when it gets a second neighbour. If all its bonds have energies, or those that are always
    there have fewer than five bars, the hierarchy keeps it with the first neighbour and so joins
    what the second holds; of a molecule of two atoms, both stay with the one that gets another
    neighbour first. In the network of a structure every other atom has its covalent bonds.

    Parameters
    ----------
    network : Network
        Bodies and bars.

    Returns
    -------
    Hierarchy
        Heights are the energies of bonds, in kcal/mol; what is rigid without any hydrogen bond
        joins at -10, or below the strongest bond if that is as strong.
    """
    return _play(network, math.inf).hierarchy(network)


def base_energy(network: Network) -> float:
    """Return the energy at which a hierarchy joins what is rigid without any hydrogen bond.

    Parameters
    ----------
    network : Network
        Bodies and bars.

    Returns
    -------
    float
        -10 kcal/mol, or less if a bond is as strong as that: it is below all bonds.
    """
    known = network.energies[~np.isnan(network.energies)]
    strongest = float(known.min(initial=0.0))
    return DEEPEST if strongest > DEEPEST else math.ceil(strongest) - 1.0


@dataclass(frozen=True, slots=True, eq=False)
class _Game:
    """A game that was played; bonds in the order in which they were added."""

    order: Ints  # (added,), bonds of the network
    n_first: int  # that are there from the beginning
    anchors: Ints  # (bodies,), the only neighbour of an end of a chain, -1 for others
    anchored: Bools  # (bodies,), whether a body hangs on its anchor in a hierarchy
    independent: Ints  # (added,)
    stress: Ints  # (added,), some bond of the same region, -1 for none
    clusters: Ints  # (bodies,), some body of the same cluster
    pebbles: Ints  # (bodies,), degrees of freedom of each body
    joins: Ints  # (joins, 3), two bodies, and the number of bonds when their clusters join
    n_bonds: int  # of the network

    def hierarchy(self, network: Network) -> Hierarchy:
        energies = network.energies[self.order]
        base = base_energy(network)
        heights = np.where(self.joins[:, 2] > self.n_first, energies[self.joins[:, 2] - 1], base)
        ends = np.flatnonzero(self.anchored)
        return grow(
            network.n_bodies,
            np.concatenate([self.joins[:, :2], np.column_stack([ends, self.anchors[ends]])]),
            np.concatenate([heights, np.full(len(ends), base)]),
            quantity=ENERGY,
        )

    def with_ends(self) -> Ints:
        """Some body of the same cluster, for ends of chains that of their neighbour."""
        ends = (self.anchors >= 0) & (self.anchors[self.anchors] != np.arange(len(self.anchors)))
        named: Ints = np.where(ends, self.clusters[self.anchors], self.clusters)
        return named

    def spread(self, values: Ints, fill: int) -> Ints:
        """Values of the bonds that were added, in the order of the network, others filled in."""
        every = np.full(self.n_bonds, fill)
        every[self.order] = values
        return frozen(every)


def _play(network: Network, cutoff: float) -> _Game:
    always = np.isnan(network.energies)
    added = np.flatnonzero(always | (network.energies <= cutoff))
    order = added[
        np.argsort(np.where(always[added], -np.inf, network.energies[added]), kind="stable")
    ]
    n_first = int(always.sum())
    ends = network.bonds[order]
    anchors = _anchors(network.n_bodies, ends[:n_first], network.bars[order[:n_first]])
    anchored = _anchored(anchors, ends[n_first:])
    independent, stress = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    clusters, pebbles = np.empty(network.n_bodies, np.int64), np.empty(network.n_bodies, np.int64)
    joins = np.empty((network.n_bodies, 3), np.int64)
    n_joins = kernel.play(
        ends,
        network.bars[order],
        _entries(network.n_bodies, ends),
        n_first,
        anchored,
        independent,
        stress,
        clusters,
        pebbles,
        joins,
    )
    return _Game(
        order=order,
        n_first=n_first,
        anchors=anchors,
        anchored=anchored,
        independent=independent,
        stress=stress,
        clusters=clusters,
        pebbles=pebbles,
        joins=joins[:n_joins],
        n_bonds=len(network.bonds),
    )


def _anchors(n_bodies: int, ends: Ints, bars: Ints) -> Ints:
    """The only neighbour of each body that is firmly bonded to it alone, -1 for all others."""
    both = np.concatenate([ends, ends[:, ::-1]])
    lowest, highest = np.full(n_bodies, n_bodies), np.full(n_bodies, -1)
    np.minimum.at(lowest, both[:, 0], both[:, 1])
    np.maximum.at(highest, both[:, 0], both[:, 1])
    most = np.zeros(n_bodies, np.int64)
    np.maximum.at(most, both[:, 0], np.tile(bars, 2))
    return np.where((lowest == highest) & (most >= 5), highest, -1)


def _anchored(anchors: Ints, later: Ints) -> Bools:
    """Which bodies hang on their anchors; ``later`` are the ends of bonds that are added then.

    Of two bodies that have but one another, the one that gets another neighbour first does not
    hang on the other, or else the lower.
    """
    bodies = np.arange(len(anchors))
    added = np.full(len(anchors), len(later))  # which bond is the first to another neighbour
    for one, other in ((0, 1), (1, 0)):
        new = np.flatnonzero(anchors[later[:, one]] != later[:, other])
        np.minimum.at(added, later[new, one], new)
    first = (added < added[anchors]) | ((added == added[anchors]) & (bodies < anchors))
    hangs: Bools = (anchors >= 0) & ~((anchors[anchors] == bodies) & first)
    return hangs


def _entries(n_nodes: int, ends: Ints) -> tuple[Ints, Ints, Ints]:
    """Where the bonds of each node begin, and for each its other end and its number."""
    both = np.concatenate([ends, ends[:, ::-1]])
    ranked = np.argsort(both[:, 0], kind="stable")
    begin = np.searchsorted(both[ranked, 0], np.arange(n_nodes + 1))
    return begin, both[ranked, 1], ranked % max(1, len(ends))


def _regions(game: _Game, ends: Ints, hinged: Bools) -> tuple[Ints, Ints]:
    """Regions of hinges that turn together, and the degrees of freedom of each.

    Rigid clusters are nodes, and hinges edges between them: those on no common cycle turn
    independently of one another.
    """
    _, nodes = np.unique(game.clusters, return_inverse=True)
    n_nodes = int(nodes.max()) + 1
    edges = nodes[ends[hinged]]
    block = np.empty(len(edges), np.int64)
    blocks(n_nodes, edges, _entries(n_nodes, edges), block)
    block = rank_labels(block)
    n_blocks = int(block.max(initial=-1)) + 1
    freedom = np.bincount(nodes, game.pebbles) - np.bincount(
        nodes[ends[~hinged, 0]], game.independent[~hinged], minlength=n_nodes
    )
    in_block = np.unique(np.column_stack([np.tile(block, 2), edges.T.ravel()]), axis=0)
    freedoms = np.bincount(in_block[:, 0], freedom[in_block[:, 1]], minlength=n_blocks)
    freedoms -= np.bincount(block, game.independent[hinged], minlength=n_blocks) + 6
    regions = np.full(len(ends), -1)
    regions[hinged] = block
    return regions, freedoms.astype(np.int64)


def _shares(amounts: Floats | Ints, groups: Ints) -> Floats:
    """Of each member of a group, an equal share of the amount of its group."""
    return (amounts / np.bincount(groups, minlength=len(amounts)))[groups]


def _count_objects(n_bodies: int, ends: Ints) -> int:
    links = sparse.coo_array((np.ones(len(ends)), ends.T), shape=(n_bodies, n_bodies))
    _, piece = csgraph.connected_components(links, directed=False)
    return int((np.bincount(piece) > 1).sum())
