"""Rigid clusters, hinges, stress and floppy modes of a network of bodies and bars."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from timme_next._arrays import Bools, Floats, Ints, frozen
from timme_next._kernels.graphs import blocks
from timme_next._kernels.pebble import PEBBLES, play
from timme_next._text import Described
from timme_next.ensemble import Atoms
from timme_next.ensemble.residues import residue_index
from timme_next.hierarchy import Hierarchy, Quantity, grow
from timme_next.hierarchy.partition import rank_labels
from timme_next.rigidity.networks import Network, checked_energy

ENERGY = Quantity("E", unit="kcal/mol", words="energy of hydrogen bonds", clusters="rigid clusters")
DEEPEST = -10.0  # kcal/mol, the well of a salt bridge: no bond is stronger

_SPINNING = 5  # bars that let a body turn about one bond
_BACKBONE = ("N", "CA", "C", "P", "O5'", "C5'", "C4'", "C3'", "O3'")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decomposition(Described):
    """Rigid clusters of a network, its hinges and where it is stressed.

    Each body is in one cluster. A body at the end of a chain, such as a hydrogen, is in that of its
    neighbour, whatever else holds it. All other bodies of a cluster are rigid with one another, and
    with no other.

    Attributes
    ----------
    clusters : ndarray of int, shape (bodies,)
        Rigid cluster of each body, 0 the largest, ties to the lowest body.
    independent, redundant : ndarray of int, shape (bonds,)
        Independent bars of each bond, -1 where it is above the cutoff, and its other bars.
    hinges : ndarray of bool, shape (bonds,)
        Whether the ends of a bond can turn against one another.
    stress : ndarray of int, shape (bonds,)
        Region of stress, 0 that of most bonds, -1 where there is none.
    regions : ndarray of int, shape (bonds,)
        Region of coupled hinges, 0 that of most, -1 where a bond is no hinge.
    freedoms : ndarray of int, shape (regions,)
        Internal degrees of freedom of each region of hinges.
    n_objects : int
        Number of connected pieces of at least two bodies.
    """

    clusters: Ints
    independent: Ints
    redundant: Ints
    hinges: Bools
    stress: Ints
    regions: Ints
    freedoms: Ints
    n_objects: int

    @property
    def floppy_modes(self) -> int:
        """Number of internal degrees of freedom."""
        return int(self.freedoms.sum())

    @property
    def flexibility(self) -> Floats:
        """Flexibility index (bonds,): above 0 for hinges, below 0 under stress.

        For hinges, the degrees of freedom of their region over its hinges; for stressed bonds,
        redundant bars of their region over its bonds, negative; 0 for all others, and NaN for bonds
        above the cutoff (Jacobs, Rader, Kuhn and Thorpe, 2001).
        """
        index = np.where(self.independent < 0, math.nan, 0.0)
        stressed = self.stress >= 0
        redundant = np.bincount(self.stress[stressed], self.redundant[stressed])
        index[stressed] = -_shares(redundant, self.stress[stressed])
        index[self.hinges] = _shares(self.freedoms, self.regions[self.hinges])
        return index


def decompose(network: Network, cutoff: float = math.inf) -> Decomposition:
    """Return the rigid clusters of a network with all bonds up to an energy.

    Parameters
    ----------
    network : Network
        Bodies and bars.
    cutoff : float, optional
        Highest energy of a hydrogen bond that counts, in kcal/mol.

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
    game = _play(network, checked_energy(cutoff))
    ends, bars = network.bonds[game.order], network.bars[game.order]
    nodes, spins = _spinning(game.clusters, ends, bars)
    hinged = nodes[ends[:, 0]] != nodes[ends[:, 1]]
    regions, freedoms = _regions(game, ends, hinged, nodes=nodes, spins=spins)
    dangling = game.anchors >= 0
    clusters = np.where(dangling, game.clusters[game.anchors], game.clusters)
    return Decomposition(
        clusters=frozen(rank_labels(clusters)),
        independent=game.spread(game.independent, -1),
        redundant=game.spread(bars - game.independent, 0),
        hinges=frozen(game.spread(hinged.astype(np.int64), 0) > 0),
        stress=game.spread(rank_labels(game.stress), -1),
        regions=game.spread(regions, -1),
        freedoms=frozen(freedoms),
        n_objects=_count_objects(network.n_bodies, ends),
    )


def dilute(network: Network) -> Hierarchy:
    """Return how rigid clusters join as hydrogen bonds are added from the strongest on.

    A cut of the hierarchy at an energy has the clusters that :func:`decompose` finds.

    Parameters
    ----------
    network : Network
        Bodies and bars.

    Returns
    -------
    Hierarchy
        Heights are the energies of bonds, in kcal/mol; what is rigid without any hydrogen bond
        joins at :func:`base_energy`.

    Examples
    --------
    >>> ends, kinds = np.array([[0, 1], [1, 2], [0, 2]]), np.full(3, "hydrogen bond")
    >>> dilute(Network(3, ends, np.full(3, 5), kinds, np.array([-3.0, -1.0, -2.0]))).levels
    array([-1.])
    """
    game = _play(network, math.inf)
    bonds = game.order[game.joins[:, 2]]
    base, dangling = base_energy(network), np.flatnonzero(game.anchors >= 0)
    heights = np.where(np.isnan(network.energies[bonds]), base, network.energies[bonds])
    return grow(
        network.n_bodies,
        np.concatenate([game.joins[:, :2], np.column_stack([dangling, game.anchors[dangling]])]),
        np.concatenate([heights, np.full(len(dangling), base)]),
        quantity=ENERGY,
    )


def base_energy(network: Network) -> float:
    """Return the energy at which a hierarchy joins what is rigid without any hydrogen bond.

    It is -10 kcal/mol, or less if a bond is as strong as that: below all bonds.
    """
    known = network.energies[~np.isnan(network.energies)]
    strongest = float(known.min(initial=0.0))
    return DEEPEST if strongest > DEEPEST else math.ceil(strongest) - 1.0


def residue_flexibility(found: Decomposition, network: Network, atoms: Atoms) -> Floats:
    """Return the mean flexibility index of the backbone of each residue.

    Parameters
    ----------
    found : Decomposition
        Of the network.
    network : Network
        Bodies and bars.
    atoms : Atoms
        Names of the bodies.

    Returns
    -------
    ndarray, shape (residues,)
        In the order in which residues appear; NaN for those without a backbone. It is the mean over
        N–Cα and Cα–C of amino acids, and over the bonds from P to O3' of nucleotides.
    """
    residues = residue_index(atoms)
    ends, along = (
        residues[network.bonds],
        np.isin(np.char.replace(atoms.names, "*", "'"), _BACKBONE),
    )
    chosen = network.of_kind("covalent", "locked") & along[network.bonds].all(axis=1)
    chosen &= ends[:, 0] == ends[:, 1]
    count = np.bincount(ends[chosen, 0], minlength=residues.max(initial=-1) + 1)
    total = np.bincount(ends[chosen, 0], found.flexibility[chosen], minlength=len(count))
    mean: Floats = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
    return mean


@dataclass(frozen=True, slots=True, eq=False)
class _Game:
    """A game that was played; bonds in the order in which they were added."""

    order: Ints  # (added,), bonds of the network
    anchors: Ints  # (bodies,), the neighbour of a dangling body, -1 for others
    independent: Ints  # (added,)
    stress: Ints  # (added,), some bond of the same region, -1 for none
    clusters: Ints  # (bodies,), some body of the same cluster
    joins: Ints  # (joins, 3), two bodies whose clusters become one, and the added bond
    n_bonds: int  # of the network

    def spread(self, values: Ints, fill: int) -> Ints:
        """Return values of the added bonds in the order of the network, others filled in."""
        every = np.full(self.n_bonds, fill)
        every[self.order] = values
        return frozen(every)


def _play(network: Network, cutoff: float) -> _Game:
    n_bodies = network.n_bodies
    if not n_bodies:
        raise ValueError("a pebble game needs at least 1 body, got a network of none")
    heights = np.where(np.isnan(network.energies), -math.inf, network.energies)
    added = np.flatnonzero(np.isnan(network.energies) | (heights <= cutoff))
    order = added[np.argsort(heights[added], kind="stable")]
    ends, anchors = network.bonds[order], _anchors(network)
    independent, stress = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    clusters, joins = np.empty(n_bodies, np.int64), np.empty((n_bodies, 3), np.int64)
    bonds = _entries(n_bodies, ends)
    bars = network.bars[order]
    n_joins = play(ends, bars, bonds, anchors >= 0, independent, stress, clusters, joins)
    found = joins[:n_joins]
    return _Game(order, anchors, independent, stress, clusters, found, len(network.bonds))


def _anchors(network: Network) -> Ints:
    """Return the only neighbour of each body that is firmly bonded to it alone, else -1.

    Bonds that are always there count. In a molecule of two atoms, only the one with fewer bonds in
    the whole network dangles, or else the second.
    """
    always = np.isnan(network.energies)
    only, held = _only_neighbours(network.n_bodies, network.bonds[always], network.bars[always])
    only[held < _SPINNING] = -1
    bodies = np.arange(network.n_bodies)
    degrees = np.bincount(network.bonds.ravel(), minlength=network.n_bodies)
    first = (degrees > degrees[only]) | ((degrees == degrees[only]) & (bodies < only))
    two = (only >= 0) & (only[only] == bodies)
    only[two & first] = -1
    return only


def _only_neighbours(n_bodies: int, ends: Ints, bars: Ints) -> tuple[Ints, Ints]:
    """Return the neighbour of each body that has one only, else -1, and all bars of each body."""
    both = np.concatenate([ends, ends[:, ::-1]])
    lowest, highest = np.full(n_bodies, n_bodies), np.full(n_bodies, -1)
    np.minimum.at(lowest, both[:, 0], both[:, 1])
    np.maximum.at(highest, both[:, 0], both[:, 1])
    held = np.zeros(n_bodies, np.int64)
    np.add.at(held, both[:, 0], np.tile(bars, 2))
    return np.where(lowest == highest, highest, -1), held


def _spinning(clusters: Ints, ends: Ints, bars: Ints) -> tuple[Ints, Bools]:
    """Join bodies that turn about a single bond to their neighbour, and mark bodies that spin.

    A body with one neighbour and fewer than six bars has one degree of freedom that nobody sees.
    """
    bodies = np.arange(len(clusters))
    only, held = _only_neighbours(len(clusters), ends, bars)
    alone = (only >= 0) & (held < PEBBLES)
    firm = alone & (held == _SPINNING)
    firm &= ~(firm[only] & (only[only] == bodies) & (bodies < only))  # of two, the second spins
    return np.where(firm, clusters[only], clusters), firm | (alone & (held < _SPINNING))


def _entries(n_nodes: int, ends: Ints) -> tuple[Ints, Ints, Ints]:
    """Return where the bonds of each node start, and for each its other end and its number."""
    both = np.concatenate([ends, ends[:, ::-1]])
    ranked = np.argsort(both[:, 0], kind="stable")
    starts = np.searchsorted(both[ranked, 0], np.arange(n_nodes + 1))
    return starts, both[ranked, 1], ranked % max(1, len(ends))


def _regions(
    game: _Game, ends: Ints, hinged: Bools, *, nodes: Ints, spins: Bools
) -> tuple[Ints, Ints]:
    """Return regions of hinges that turn together, and the degrees of freedom of each.

    Rigid clusters are nodes, and hinges edges between them: those on no common cycle turn
    independently of one another.
    """
    _, numbers = np.unique(nodes, return_inverse=True)
    n_nodes = int(numbers.max()) + 1
    edges = numbers[ends[hinged]]
    block = np.empty(len(edges), np.int64)
    n_blocks = blocks(*_entries(n_nodes, edges), block)
    block = rank_labels(block)
    rigid = numbers[ends[~hinged, 0]]
    freedom = np.bincount(numbers, PEBBLES - spins) - np.bincount(
        rigid, game.independent[~hinged], minlength=n_nodes
    )
    touched = np.unique(np.column_stack([np.tile(block, 2), edges.T.ravel()]), axis=0)
    freedoms = np.bincount(touched[:, 0], freedom[touched[:, 1]], minlength=n_blocks)
    freedoms -= np.bincount(block, game.independent[hinged], minlength=n_blocks) + PEBBLES
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
