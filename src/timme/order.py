"""Lay sites along an axis: where each cluster is a stripe, and which family's colour it carries.

**Families.** At every splitting the larger part inherits its parent's family (its colour), and each
other part founds a new one. The larger part is the first in leaf order, so the clusters of one
family all start at the same site label: a hierarchy of n sites has n families, one for each label.
Families are numbered by the size of the largest cluster ever alive in them (ties: lower label
first); family 0 is that of the largest tree.

**The core.** Inheritance alone does not keep the largest cluster in family 0: a part that was the
larger one at its splitting may crumble later, and leave a cluster of another family as the
largest. Yet the core is to be dark blue at every level. So over the levels at which the core is of
another family, that family and family 0 are swapped: the core takes 0, and the cluster that
inherited 0 takes the core's. At every level families stay different for different clusters, only
two of them are touched, and where inheritance already gives 0 to the core nothing changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints, frozen, highest_between
from timme._html import Described
from timme.hierarchy.tree import Hierarchy, grow


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Stripes(Described):
    """Rectangles that show every cluster along an axis of sites, from its birth to its death."""

    start: Ints  # (stripes,), first place on the axis
    stop: Ints  # (stripes,), place after the last
    low: Floats  # (stripes,), cutoff from which it holds; -inf for single sites
    high: Floats  # (stripes,), cutoff at which it no longer holds; inf for roots
    family: Ints  # (stripes,), 0 is the core
    order: Ints  # (sites,), the site at each place of the axis


def stripes(
    hierarchy: Hierarchy, *, order: npt.ArrayLike | None = None, min_size: int = 1
) -> Stripes:
    """Lay out the clusters of all cutoffs along an axis.

    In the order of site labels every cluster is one stripe. In any other order a cluster may lie
    in several runs; runs that stay the same from one level to the next are one stripe.

    Parameters
    ----------
    hierarchy : Hierarchy
        Clusters within clusters.
    order : array_like, shape (sites,), optional
        The site at each place of the axis; by site label by default.
    min_size : int, optional
        Clusters of fewer sites are left out.

    Returns
    -------
    Stripes
        At any cutoff, the places of each cluster of at least `min_size` sites are covered once.

    Examples
    --------
    >>> from timme import link
    >>> shown = stripes(link([[0, 1, 9], [1, 0, 5], [9, 5, 0]]), min_size=2)
    >>> np.column_stack([shown.start, shown.stop, shown.low, shown.high, shown.family])
    array([[ 0.,  2.,  1.,  5.,  0.],
           [ 0.,  3.,  5., inf,  0.]])
    """
    tree = _Tree.of(hierarchy)
    axis = hierarchy.order if order is None else _checked_order(order, hierarchy.n_sites)
    start, stop, birth, death = _runs(tree, axis)
    place = tree.position[axis[start]]  # the site label of the first site of each run
    first = np.maximum(birth, _large_from(hierarchy, tree, min_size)[place])
    run, low, high, base = _by_family(tree, place, first, death)
    piece, low, high = _cut_at_swaps(tree, base, low, high)
    run, family = run[piece], _swapped(tree, base[piece], low)
    ranked = np.lexsort((start[run], low))
    run, low, high = run[ranked], low[ranked], high[ranked]
    return Stripes(
        start=frozen(start[run]),
        stop=frozen(stop[run]),
        low=frozen(tree.cutoffs[low]),
        high=frozen(tree.cutoffs[high]),
        family=frozen(family[ranked]),
        order=frozen(axis),
    )


def families_at(hierarchy: Hierarchy, cutoff: float) -> Ints:
    """Return the family of every cluster at a cutoff: the same as its stripe has there.

    Parameters
    ----------
    hierarchy : Hierarchy
        Clusters within clusters.
    cutoff : float
        In the units of the heights.

    Returns
    -------
    ndarray of int, shape (clusters,)
        Family of each label of ``hierarchy.cut(cutoff)``; that of label 0, the core, is 0.

    Examples
    --------
    >>> from timme import link
    >>> families_at(link([[0, 1, 9], [1, 0, 5], [9, 5, 0]]), 2)
    array([0, 2])
    """
    tree = _Tree.of(hierarchy)
    labels = hierarchy.cut(cutoff).labels
    start = np.full(labels.max() + 1, hierarchy.n_sites)
    np.minimum.at(start, labels, tree.position)
    level = np.full(len(start), np.searchsorted(tree.cutoffs[1:-1], cutoff, side="right"))
    return frozen(_swapped(tree, start, level))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Families(Described):
    """What it takes to number the family of any cluster at any cutoff.

    A cluster is known by the site label it starts at. At the level below which k levels lie, one
    that starts at ``core[k]`` is of family 0, one that starts at 0 is of family
    ``number[core[k]]``, and any other is of family ``number[start]``.
    """

    number: Ints  # (sites,), by site label
    core: Ints  # (levels + 1,), site label at which the largest cluster starts


def families(hierarchy: Hierarchy) -> Families:
    """Tabulate the families of a hierarchy, for programs that follow the cutoff by themselves.

    Parameters
    ----------
    hierarchy : Hierarchy
        Clusters within clusters.

    Returns
    -------
    Families
        Numbers that agree with :func:`families_at` at every cutoff.

    Examples
    --------
    >>> from timme import link
    >>> families(link([[0, 1, 9], [1, 0, 5], [9, 5, 0]])).core
    array([0, 0, 0])
    """
    tree = _Tree.of(hierarchy)
    return Families(number=frozen(tree.number), core=frozen(tree.core))


@dataclass(frozen=True, slots=True, eq=False)
class _Tree:
    """A hierarchy with its families; levels are counted from 0, below the first.

    Within this module a family is known by the site label it starts at; `number` turns it into
    the family that others see.
    """

    cutoffs: Floats  # (levels + 2,), -inf and inf at the ends
    position: Ints  # (sites,), site label of each site
    gaps: Ints  # (sites - 1,), level of the gap after each site label
    birth: Ints  # (nodes,)
    end: Ints  # (sites,), level at which each family becomes part of another
    heir: Ints  # (sites,), the family it then becomes part of
    number: Ints  # (sites,)
    core: Ints  # (levels + 1,), family of the largest cluster at each level

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> _Tree:
        levels, n_sites = hierarchy.levels, hierarchy.n_sites
        cutoffs = np.concatenate([[-np.inf], levels, [np.inf]])
        birth = np.searchsorted(levels, hierarchy.births, side="right")
        top = np.empty(n_sites, dtype=np.int64)  # of each family, its largest cluster
        top[hierarchy.starts] = np.arange(len(hierarchy.parents))  # parents come after their parts
        number = np.empty(n_sites, dtype=np.int64)
        number[np.lexsort((np.arange(n_sites), -hierarchy.sizes[top]))] = np.arange(n_sites)
        above = hierarchy.parents[top]
        return cls(
            cutoffs=cutoffs,
            position=np.argsort(hierarchy.order),
            gaps=np.searchsorted(cutoffs, hierarchy.gaps),
            birth=birth,
            end=np.append(birth, len(levels) + 1)[above],
            heir=np.append(hierarchy.starts, -1)[above],
            number=number,
            core=hierarchy.starts[_cores(hierarchy, birth)],
        )


def _cores(hierarchy: Hierarchy, birth: Ints) -> Ints:
    """Return the node that is the largest cluster at each level; ties: the lowest site."""
    n_sites = hierarchy.n_sites
    lowest = hierarchy.lowest
    # A cluster only ever dies into a larger one, so the largest alive is the largest so far.
    rank = hierarchy.sizes * (n_sites + 1) + (n_sites - lowest)
    best = np.maximum.accumulate(rank)
    leads = np.maximum.accumulate(np.where(rank == best, np.arange(len(rank)), 0))
    last = np.searchsorted(birth, np.arange(birth[-1] + 1), side="right") - 1
    return leads[last]


def _checked_order(order: npt.ArrayLike, n_sites: int) -> Ints:
    axis = np.array(order, dtype=np.int64)
    if axis.shape != (n_sites,) or (np.sort(axis) != np.arange(n_sites)).any():
        raise ValueError(
            f"an order must name each of the {n_sites} sites once, got {axis.size} entries: "
            "restrict the hierarchy to the sites you want to show"
        )
    return axis


def _runs(tree: _Tree, axis: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Find all runs of the axis: start, stop, and the levels between which each exists.

    Neighbours on the axis are in one cluster from the level of the highest gap between them on, so
    the runs are the clusters of a chain with these levels.
    """
    n_sites = len(axis)
    position = tree.position[axis]
    level = highest_between(tree.gaps, *np.sort([position[:-1], position[1:]], axis=0))
    chain = np.column_stack([np.arange(n_sites - 1), np.arange(1, n_sites)])
    joining = np.where(level < len(tree.cutoffs) - 1, level, np.inf)
    runs = grow(n_sites, chain, joining)
    birth = np.concatenate([np.zeros(n_sites, dtype=np.int64), runs.heights.astype(np.int64)])
    death = np.append(birth, len(tree.cutoffs) - 1)[runs.parents]
    return runs.lowest, runs.lowest + runs.sizes, birth, death


def _large_from(hierarchy: Hierarchy, tree: _Tree, min_size: int) -> Ints:
    """Return, by site label, the level from which a site's cluster is large enough."""
    n_nodes = len(hierarchy.parents)
    up: Ints = np.append(
        np.where(hierarchy.sizes >= min_size, np.arange(n_nodes), hierarchy.parents), -1
    )
    while (up[up] != up).any():
        up = up[up]
    level = np.append(tree.birth, len(tree.cutoffs) - 1)
    return level[up[hierarchy.order]]


def _by_family(tree: _Tree, place: Ints, low: Ints, high: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Cut runs wherever their cluster becomes part of another family.

    Whoever changes family gets into a cluster at least twice as large, so that this takes few
    rounds whatever the number of levels.
    """
    run, family = np.arange(len(place)), place
    found = []
    while len(run):
        until = np.minimum(tree.end[family], high[run])
        lives = until > low[run]
        found.append(np.stack([run, low[run], until, family])[:, lives])
        low = low.copy()
        low[run] = np.maximum(low[run], until)
        goes_on = tree.end[family] < high[run]
        run, family = run[goes_on], tree.heir[family[goes_on]]
    run, low, until, family = np.concatenate(found, axis=1)
    return run, low, until, family


def _cut_at_swaps(tree: _Tree, family: Ints, low: Ints, high: Ints) -> tuple[Ints, Ints, Ints]:
    """Cut stripes where their family starts or ceases to be swapped with family 0."""
    n_levels = len(tree.cutoffs)
    changes = np.flatnonzero(np.diff(tree.core)) + 1
    touched = [tree.core[changes], tree.core[changes - 1], np.zeros_like(changes)]
    key = np.unique(np.concatenate([which * n_levels + changes for which in touched]))
    first = np.searchsorted(key, family * n_levels + low, side="right")
    cuts = np.searchsorted(key, family * n_levels + high, side="left") - first
    piece = np.repeat(np.arange(len(family)), cuts + 1)
    begins = np.cumsum(cuts + 1) - (cuts + 1)
    rank = np.arange(len(piece)) - begins[piece]
    between = np.append(key, 0)[first[piece] + np.maximum(rank - 1, 0)] % n_levels
    new_low = np.where(rank == 0, low[piece], between)
    new_high = np.append(new_low[1:], 0)
    new_high[begins + cuts] = high
    return piece, new_low, new_high


def _swapped(tree: _Tree, family: Ints, level: Ints) -> Ints:
    """Number the families at their levels, that of the core and family 0 swapped."""
    core = tree.core[level]
    held = np.where(family == core, 0, np.where(family == 0, core, family))
    return tree.number[held]
