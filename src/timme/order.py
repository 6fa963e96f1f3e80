"""Lay sites along an axis: where each cluster is a stripe, and which family's colour it carries.

**Families.** Colour follows descent. At every splitting the larger part inherits its parent's
family, and each other part founds a new one. The larger part is the first in leaf order, so the
clusters of one family all start at the same site label: a hierarchy of n sites has n families, one
for each label. Families are numbered by the size of the largest cluster ever alive in them (ties:
lower label first), so that those which are large enough to be drawn come first, whatever that
takes. Family 0 is that of the largest tree: the line of the core at the top, which is dark blue.
Further down another cluster may be larger than the heir of that line, and keeps its own colour:
to hand dark blue to the largest cluster of each level makes near-equal clusters swap colours in
thin stripes, and puts dark blue on any single pair at the bottom.

**Colours.** There are fewer colours than families. In the order of their numbers, families take the
colour that the fewest of their neighbours have, of these the one that the fewest families have, and
of these the first. So the first families have all colours in turn, and colours that repeat are kept
apart. Neighbours are families that are side by side at some cutoff, in the order of site labels or
in that of sites. In the order of labels a family has few neighbours that chose before it: those on
its left double in size from one to the next, and on its right is one. So 24 colours are enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints, frozen, highest_between
from timme._html import Described
from timme.hierarchy.tree import Hierarchy, grow

# Neighbours of so many families, the largest, are told apart; smaller ones have no room to be seen.
_MOST_APART = 5_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Stripes(Described):
    """Rectangles that show every cluster along an axis of sites, from its birth to its death."""

    start: Ints  # (stripes,), first place on the axis
    stop: Ints  # (stripes,), place after the last
    low: Floats  # (stripes,), cutoff from which it holds; -inf for single sites
    high: Floats  # (stripes,), cutoff at which it no longer holds; inf for roots
    family: Ints  # (stripes,), 0 is the line of the core at the top
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
    run, low, high, family = _by_family(tree, place, first, death)
    ranked = np.lexsort((start[run], low))
    run, low, high = run[ranked], low[ranked], high[ranked]
    return Stripes(
        start=frozen(start[run]),
        stop=frozen(stop[run]),
        low=frozen(tree.cutoffs[low]),
        high=frozen(tree.cutoffs[high]),
        family=frozen(tree.number[family[ranked]]),
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
        Family of each label of ``hierarchy.cut(cutoff)``.

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
    return frozen(tree.number[start])


def families(hierarchy: Hierarchy) -> Ints:
    """Number the families of a hierarchy, for programs that follow the cutoff by themselves.

    Parameters
    ----------
    hierarchy : Hierarchy
        Clusters within clusters.

    Returns
    -------
    ndarray of int, shape (sites,)
        Family of the clusters that start at each site label, at any cutoff.

    Examples
    --------
    >>> from timme import link
    >>> families(link([[0, 1, 9], [1, 0, 5], [9, 5, 0]]))
    array([0, 1, 2])
    """
    return frozen(_Tree.of(hierarchy).number)


def largest_of_families(hierarchy: Hierarchy) -> Ints:
    """Find the largest cluster that is ever alive in each family.

    Parameters
    ----------
    hierarchy : Hierarchy
        Clusters within clusters.

    Returns
    -------
    ndarray of int, shape (sites,)
        Node of the hierarchy, by family.

    Examples
    --------
    >>> from timme import link
    >>> largest_of_families(link([[0, 1, 9], [1, 0, 5], [9, 5, 0]]))
    array([4, 1, 2])
    """
    largest = np.empty(hierarchy.n_sites, dtype=np.int64)
    largest[_Tree.of(hierarchy).number] = _tops(hierarchy)
    return frozen(largest)


def choose_colours(
    hierarchy: Hierarchy,
    n_colours: int,
    *,
    given: npt.ArrayLike | None = None,
    avoided: npt.ArrayLike = (),
    spared: npt.ArrayLike = (),
) -> Ints:
    """Choose one of a few colours for every family, so that neighbours differ.

    Parameters
    ----------
    hierarchy : Hierarchy
        Clusters within clusters.
    n_colours : int
        Colours beside that of family 0.
    given : array_like of int, shape (sites,), optional
        Colour that each family has already, -1 where one is to be chosen; 0 for family 0, and no
        other, by default.
    avoided : array_like of int, optional
        Colours to be chosen only where there is no other.
    spared : array_like of int, optional
        Colours to be chosen only where every other is avoided or a neighbour's.

    Returns
    -------
    ndarray of int, shape (sites,)
        Colour of each family, from 1 to `n_colours`; 0 is that of the core at the top.

    Examples
    --------
    >>> from timme import link
    >>> choose_colours(link([[0, 1, 9], [1, 0, 5], [9, 5, 0]]), 24)
    array([0, 1, 2])
    """
    n_sites = hierarchy.n_sites
    colour = np.full(n_sites, -1)
    if given is None:
        colour[0] = 0
    else:
        colour[:] = given
    waiting = np.flatnonzero(colour < 0)
    crowd = waiting[waiting >= _MOST_APART]
    colour[crowd] = (crowd - 1) % n_colours + 1
    used = np.bincount(colour[:_MOST_APART] + 1, minlength=n_colours + 2)[2:]
    every = np.arange(1, n_colours + 1)
    last, late = np.isin(every, avoided), np.isin(every, spared)
    begin, beside = _neighbours(_Tree.of(hierarchy), hierarchy.order)
    for family in waiting[waiting < _MOST_APART].tolist():
        around = colour[beside[begin[family] : begin[family + 1]]]
        alike = np.bincount(around[around > 0], minlength=n_colours + 1)[1:]
        chosen = int(np.lexsort((used, late, alike, last))[0])
        used[chosen] += 1
        colour[family] = chosen + 1
    return frozen(colour)


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

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> _Tree:
        levels, n_sites = hierarchy.levels, hierarchy.n_sites
        cutoffs = np.concatenate([[-np.inf], levels, [np.inf]])
        birth = np.searchsorted(levels, hierarchy.births, side="right")
        top = _tops(hierarchy)
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
        )


def _tops(hierarchy: Hierarchy) -> Ints:
    """Return, by site label, the largest cluster of the family that starts there."""
    top = np.empty(hierarchy.n_sites, dtype=np.int64)
    top[hierarchy.starts] = np.arange(len(hierarchy.parents))  # parents come after their parts
    return top


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


def _neighbours(tree: _Tree, order: Ints) -> tuple[Ints, Ints]:
    """Find the families that are side by side, by site label or by site, at any cutoff.

    The neighbours of family k, by number, are from ``begin[k]`` to ``begin[k + 1]`` in the second
    array.
    """
    n_sites = len(order)
    pairs = np.concatenate([_side_by_side(tree, axis) for axis in (order, np.arange(n_sites))])
    both = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
    return np.searchsorted(both[:, 0], np.arange(min(n_sites, _MOST_APART) + 1)), both[:, 1]


def _side_by_side(tree: _Tree, axis: Ints) -> Ints:
    """Follow the families of neighbours on an axis upwards until they are one: (pairs, 2)."""
    one, other = tree.position[axis[:-1]], tree.position[axis[1:]]
    found = [np.empty((0, 2), dtype=np.int64)]
    while len(one):
        pair = tree.number[np.column_stack([one, other])]
        found.append(pair[(pair < _MOST_APART).all(axis=1)])
        ends = tree.end[one], tree.end[other]
        next_one = np.where(ends[0] <= ends[1], tree.heir[one], one)
        next_other = np.where(ends[1] <= ends[0], tree.heir[other], other)
        apart = next_one != next_other  # beyond the top all are the same
        one, other = next_one[apart], next_other[apart]
    return np.concatenate(found)
