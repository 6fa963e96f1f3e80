"""Rigid clusters, hinges, stress and floppy modes of a network of bodies and bars."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from timme._arrays import Bools, Floats, Ints, frozen
from timme._kernels.pebble import PEBBLES, blocks, play
from timme._text import Described
from timme.ensemble import Atoms
from timme.ensemble.residues import residue_index
from timme.hierarchy import Hierarchy, Quantity, grow
from timme.hierarchy.partition import rank_labels
from timme.rigidity.networks import Network, checked_energy

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
    nodes, freedom = _nodes(game.clusters, ends, bars)
    hinged = nodes[ends[:, 0]] != nodes[ends[:, 1]]
    regions, freedoms = _regions(nodes[ends], hinged, game.independent, freedom)
    pieces = grow(network.n_bodies, ends, np.zeros(len(ends))).cut(0.0)

    def spread(values: Ints | Bools, fill: int) -> Ints:
        """Return values of the added bonds in the order of the network, others filled in."""
        every = np.full(len(network.bonds), fill)
        every[game.order] = values
        return frozen(every)

    return Decomposition(
        clusters=frozen(rank_labels(game.clusters[game.anchors])),
        independent=spread(game.independent, -1),
        redundant=spread(bars - game.independent, 0),
        hinges=frozen(spread(hinged, 0) > 0),
        stress=spread(rank_labels(game.stress), -1),
        regions=spread(regions, -1),
        freedoms=frozen(freedoms),
        n_objects=int(np.count_nonzero(pieces.sizes > 1)),
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
    dangling = np.column_stack([np.arange(network.n_bodies), game.anchors])
    heights = np.full(len(game.joins) + len(dangling), np.nan)
    heights[: len(game.joins)] = network.energies[game.order[game.joins[:, 2]]]
    return grow(
        network.n_bodies,
        np.concatenate([game.joins[:, :2], dangling]),
        np.where(np.isnan(heights), base_energy(network), heights),
        quantity=ENERGY,
    )


def base_energy(network: Network) -> float:
    """Return the energy at which a hierarchy joins what is rigid without any hydrogen bond.

    It is -10 kcal/mol, or less if a bond is as strong as that: below all bonds.
    """
    return min(DEEPEST, math.ceil(np.nanmin(network.energies, initial=0.0)) - 1.0)


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
    names = np.char.replace(atoms.names, "*", "'")
    chosen = network.of_kind("covalent", "locked")
    chosen &= np.isin(names, _BACKBONE)[network.bonds].all(axis=1)
    one, other = residues[network.bonds[chosen]].T
    inside = one == other
    n_residues = residues.max(initial=-1) + 1
    counts = np.bincount(one[inside], minlength=n_residues)
    total = np.bincount(one[inside], found.flexibility[chosen][inside], n_residues)
    return np.where(counts > 0, total / np.maximum(counts, 1), np.nan)


class _Game(NamedTuple):
    """A game that was played; bonds in the order in which they were added."""

    order: Ints  # (added,), bonds of the network
    anchors: Ints  # (bodies,), the neighbour of a dangling body, others themselves
    independent: Ints  # (added,)
    stress: Ints  # (added,), some bond of the same region, -1 for none
    clusters: Ints  # (bodies,), some body of the same cluster
    joins: Ints  # (joins, 3), two bodies whose clusters become one, and the added bond


def _play(network: Network, cutoff: float) -> _Game:
    always = np.isnan(network.energies)
    heights = np.where(always, -math.inf, network.energies)
    added = np.flatnonzero(heights <= cutoff)
    order = added[np.argsort(heights[added], kind="stable")]
    # A body dangles that is firmly bonded to one other by bonds that are always there.
    degrees = np.bincount(network.bonds.ravel(), minlength=network.n_bodies)
    only, held = _only_neighbours(network.bonds[always], network.bars[always], degrees)
    dangling = (only >= 0) & (held >= _SPINNING)
    anchors = np.where(dangling, only, np.arange(len(only)))
    ends, bars = network.bonds[order], network.bars[order]
    independent, stress, clusters, joins = play(ends, bars, _entries(len(only), ends), dangling)
    stress[np.bincount(stress)[stress] == 1] = -1
    return _Game(order, anchors, independent, stress, clusters, joins)


def _only_neighbours(ends: Ints, bars: Ints, degrees: Ints) -> tuple[Ints, Ints]:
    """Return the neighbour of each body that has one only, else -1, and all bars of each body.

    Of two bodies that have but each other, the one of higher degree stays, or else the first: it
    has -1 as well.
    """
    n_bodies = len(degrees)
    bodies = np.arange(n_bodies)
    both = np.concatenate([ends, ends[:, ::-1]])
    lowest, only = np.full(n_bodies, n_bodies), np.full(n_bodies, -1)
    np.minimum.at(lowest, both[:, 0], both[:, 1])
    np.maximum.at(only, both[:, 0], both[:, 1])
    only[lowest != only] = -1
    stays = (degrees > degrees[only]) | ((degrees == degrees[only]) & (bodies < only))
    only[(only >= 0) & (only[only] == bodies) & stays] = -1
    return only, np.bincount(both[:, 0], np.tile(bars, 2), n_bodies).astype(np.int64)


def _nodes(clusters: Ints, ends: Ints, bars: Ints) -> tuple[Ints, Ints]:
    """Return the rigid node of each body, by one of its bodies, and the freedom of each node.

    A body with one neighbour and fewer than six bars has one degree of freedom that moves no atom.
    If it only turns about its bond, it belongs to the node of its neighbour.
    """
    degrees = np.bincount(ends.ravel(), minlength=len(clusters))
    only, held = _only_neighbours(ends, bars, degrees)
    nodes = np.where((only >= 0) & (held == _SPINNING), clusters[only], clusters)
    return nodes, np.where((only >= 0) & (held < _SPINNING), PEBBLES - 1, PEBBLES)


def _entries(n_nodes: int, ends: Ints) -> tuple[Ints, Ints, Ints]:
    """Return where the bonds of each node start, and for each its other end and its number."""
    both = np.concatenate([ends, ends[:, ::-1]])
    ranked = np.argsort(both[:, 0], kind="stable")
    starts = np.searchsorted(both[ranked, 0], np.arange(n_nodes + 1))
    return starts, both[ranked, 1], ranked % max(1, len(ends))


def _regions(ends: Ints, hinged: Bools, independent: Ints, freedom: Ints) -> tuple[Ints, Ints]:
    """Return regions of hinges that turn together, and the degrees of freedom of each.

    Hinges are edges between rigid nodes: those on no common cycle turn independently of one
    another.
    """
    edges = ends[hinged]
    block = rank_labels(blocks(*_entries(len(freedom), edges)))
    touched = np.unique(np.column_stack([np.tile(block, 2), edges.T.ravel()]), axis=0)
    freedoms = np.bincount(touched[:, 0], freedom[touched[:, 1]]) - PEBBLES
    freedoms -= np.bincount(block, independent[hinged])
    regions = np.full(len(ends), -1)
    regions[hinged] = block
    return regions, freedoms.astype(np.int64)


def _shares(amounts: Floats | Ints, groups: Ints) -> Floats:
    """Of each member of a group, an equal share of the amount of its group."""
    return (amounts / np.bincount(groups, minlength=len(amounts)))[groups]
