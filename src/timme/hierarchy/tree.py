"""Clusters within clusters: the hierarchy that sorted edges make, its cuts, and its quantity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints, frozen, indices
from timme._kernels import linkage
from timme._text import Described
from timme.hierarchy.partition import Partition, rank_labels

_FEW = 4  # edges for each site that are sorted before the others are looked at
_SAMPLE = 1 << 16  # heights from which the height of these is estimated


@dataclass(frozen=True, slots=True, repr=False)
class Quantity(Described):
    """The quantity that the heights of a hierarchy measure.

    Low heights always join first. A quantity that is high for neighbours, such as the fraction of
    snapshots in which two sites touch, must change sign before it is linked.

    Examples
    --------
    >>> energy = Quantity("E", "kcal/mol")
    >>> energy.cutoff_name, energy.cutoff_text(-1.0)
    ('E cutoff', 'E = -1 kcal/mol')
    """

    symbol: str  # as on an axis: σ, E
    unit: str = ""
    cutoff: str = ""  # symbol of a cutoff, σc; the symbol of the height by default

    def __post_init__(self) -> None:
        """Let the symbol stand for that of a cutoff."""
        if not self.symbol:
            raise ValueError("a quantity needs a symbol for its axis, such as 'σ', got ''")
        object.__setattr__(self, "cutoff", self.cutoff or self.symbol)

    @property
    def cutoff_name(self) -> str:
        """Name of an axis of cutoffs: ``σc``, or ``E cutoff`` where there is no such symbol."""
        return f"{self.symbol} cutoff" if self.cutoff == self.symbol else self.cutoff

    def cutoff_text(self, cutoff: float) -> str:
        """Return a cutoff with its symbol and unit.

        Parameters
        ----------
        cutoff : float
            In the unit of the heights.

        Returns
        -------
        str
            Such as "σc = 0.0252 Å".
        """
        return f"{self.cutoff} = {cutoff:.4g} {self.unit}".rstrip()


SIGMA = Quantity("σ", cutoff="σc")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hierarchy(Described):
    """A forest of clusters within clusters, each with the height (cutoff) at which it forms.

    Nodes are the sites, 0 … n_sites - 1, followed by the merges, sorted by height and then by
    their lowest site. In leaf order the sites of a node are consecutive, from ``starts[node]`` on,
    ``sizes[node]`` of them, and the larger part of every cluster comes first. Two sites are in one
    cluster at a cutoff if none of the gaps between them in leaf order is above it.

    Examples
    --------
    >>> hierarchy = grow(3, np.array([[0, 1], [1, 2]]), np.array([0.1, 0.4]))
    >>> hierarchy.levels, hierarchy.cut(0.2).labels
    (array([0.1, 0.4]), array([0, 0, 1]))
    """

    parents: Ints  # (nodes,), -1 for a root
    heights: Floats  # (merges,), ascending
    quantity: Quantity = SIGMA  # what the heights are
    sizes: Ints = field(init=False)  # (nodes,)
    lowest: Ints = field(init=False)  # (nodes,), lowest site
    starts: Ints = field(init=False)  # (nodes,), place of the first site in leaf order
    order: Ints = field(init=False)  # (sites,), sites in leaf order
    gaps: Floats = field(init=False)  # (sites - 1,), height that joins neighbours in leaf order

    def __post_init__(self) -> None:
        """Check the tree; derive sizes and leaf order."""
        _require_tree(self.parents, self.heights)
        # Kernels are compiled for whole numbers of one size, in arrays that can be written.
        parents = np.array(self.parents, dtype=np.int64)
        sizes, lowest = linkage.sizes_and_lowest(self.n_sites, parents)
        starts = linkage.leaf_starts(parents, sizes, np.lexsort((lowest, -sizes)))
        later = np.append(starts, -1)[parents] != starts  # parts that do not start their cluster
        later &= parents >= 0
        gaps = np.full(self.n_sites, np.inf)  # before each site
        gaps[starts[later]] = self.heights[parents[later] - self.n_sites]
        for name, array in (
            ("parents", parents),
            ("heights", self.heights),
            ("sizes", sizes),
            ("lowest", lowest),
            ("starts", starts),
            ("order", np.argsort(starts[: self.n_sites])),
            ("gaps", gaps[1:]),
        ):
            object.__setattr__(self, name, frozen(array))

    @property
    def n_sites(self) -> int:
        """Number of sites."""
        return len(self.parents) - len(self.heights)

    @property
    def unit(self) -> str:
        """Unit of the heights."""
        return self.quantity.unit

    @property
    def births(self) -> Floats:
        """Height at which each node forms; -inf for single sites."""
        return np.concatenate([np.full(self.n_sites, -np.inf), self.heights])

    @property
    def deaths(self) -> Floats:
        """Height at which each node becomes part of a larger one; inf for roots."""
        return np.append(self.births, np.inf)[self.parents]

    @property
    def levels(self) -> Floats:
        """Distinct heights in ascending order: the cutoffs at which anything changes."""
        return np.unique(self.heights)

    def members(self, node: int) -> Ints:
        """Return the sites of a node.

        Parameters
        ----------
        node : int
            A site or a merge.

        Returns
        -------
        ndarray of int
            Its sites in ascending order.
        """
        start = self.starts[node]
        return np.sort(self.order[start : start + self.sizes[node]])

    def sum_over_nodes(self, values: npt.ArrayLike) -> npt.NDArray[np.number]:
        """Sum values of sites over the sites of each node.

        Parameters
        ----------
        values : array_like, shape (..., sites)
            Such as the masks of other clusters.

        Returns
        -------
        ndarray, shape (..., nodes)
            In whole numbers if the values are whole numbers or truth values.
        """
        total = np.cumsum(np.asarray(values)[..., self.order], axis=-1)
        total = np.concatenate([np.zeros_like(total[..., :1]), total], axis=-1)
        return np.asarray(total[..., self.starts + self.sizes] - total[..., self.starts])

    def cut(self, cutoff: float) -> Partition:
        """Return the clusters at a cutoff: all pairs with σ ≤ cutoff are joined.

        Parameters
        ----------
        cutoff : float
            In the unit of the heights.

        Returns
        -------
        Partition
            One label for each site.
        """
        if np.ndim(cutoff) or math.isnan(cutoff):
            raise ValueError(f"cut needs one number as a cutoff, got {cutoff!r}")
        apart = self.gaps > min(cutoff, np.finfo(np.float64).max)  # trees are never joined
        labels = np.empty(self.n_sites, dtype=np.int64)
        labels[self.order] = np.append(0, np.cumsum(apart))
        return Partition(frozen(rank_labels(labels)), float(cutoff))

    def heights_between(self, first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
        """Return the height at which the two sites of each pair become one cluster.

        Parameters
        ----------
        first, second : array_like of int, shape (pairs,)
            Sites.

        Returns
        -------
        ndarray, shape (pairs,)
            inf for sites of different trees, -inf for a site with itself.
        """
        places = self.starts[np.array([first, second])]
        return highest_between(self.gaps, places.min(axis=0), places.max(axis=0))

    def core_heights(self) -> Floats:
        """Return the height at which each site joins the line of the core: its mobility.

        The line is that of the largest cluster at the top, from which the smaller parts come off
        down to a single site; this one has the height of its first partner.

        Returns
        -------
        ndarray, shape (sites,)
            NaN for sites of other trees.
        """
        highest = np.maximum.accumulate(self.gaps)
        found = np.empty(self.n_sites)
        found[self.order] = np.append(highest[:1], highest) if len(highest) else np.nan
        return np.where(np.isinf(found), np.nan, found)

    def restrict(self, sites: npt.ArrayLike) -> Hierarchy:
        """Return the hierarchy as seen by some of the sites, in which clusters are counted.

        Parameters
        ----------
        sites : array_like of int
            Distinct sites, numbered anew in this order, or one truth value for each site.

        Returns
        -------
        Hierarchy
            A hierarchy of ``len(sites)`` sites with the same heights between them.
        """
        chosen = indices(sites, self.n_sites, "shown sites")
        if len(chosen) == 0:
            raise ValueError("restrict needs at least 1 site, got none")
        walk = np.argsort(self.starts[chosen])
        heights = self.heights_between(chosen[walk[:-1]], chosen[walk[1:]])
        forest = spanning_forest(len(chosen), np.column_stack([walk[:-1], walk[1:]]), heights)
        return from_forest(len(chosen), *forest, quantity=self.quantity)

    def to_linkage(self) -> Floats:
        """Return a linkage matrix as made by :func:`scipy.cluster.hierarchy.linkage`.

        A cluster of more than two parts becomes merges of equal height; separate trees are joined
        at infinite height.

        Returns
        -------
        ndarray, shape (sites - 1, 4)
            Two parts, height and size of each merge.
        """
        ranked = np.argsort(self.gaps, kind="stable")
        heights = self.gaps[ranked]
        edges = np.column_stack([self.order[ranked], self.order[ranked + 1]])
        parents = linkage.merge_tree(self.n_sites, edges, heights)[0]
        sizes = linkage.sizes_and_lowest(self.n_sites, parents)[0]
        parts = np.argsort(parents[:-1], kind="stable").reshape(-1, 2)
        return np.column_stack([parts, heights, sizes[self.n_sites :]])

    def to_newick(self, names: Sequence[str] | None = None) -> str:
        """Return the hierarchy in Newick form; sites stand at height 0.

        Parameters
        ----------
        names : sequence of str, optional
            Name of each site; numbers from 1 by default.

        Returns
        -------
        str
            One tree in each line, with differences of heights as branch lengths.
        """
        n_sites = self.n_sites
        written = [str(site + 1) for site in range(n_sites)] if names is None else list(names)
        if len(written) != n_sites:
            raise ValueError(f"names need one for each of {n_sites} sites, got {len(written)}")
        height = np.concatenate([np.zeros(n_sites), self.heights])
        lengths = np.append(height, np.nan)[self.parents] - height
        branches = ["" if np.isnan(length) else f":{length:.9g}" for length in lengths]
        quoted = ["'" + name.replace("'", "''") + "'" for name in written]
        opening = np.bincount(self.starts[n_sites:], minlength=n_sites)
        text = [
            "(" * count + quoted[site] + branches[site]
            for count, site in zip(opening, self.order, strict=True)
        ]
        last = self.starts + self.sizes - 1
        for merge in range(n_sites, len(self.parents)):
            text[last[merge]] += ")" + branches[merge]
        ends = np.append(np.isinf(self.gaps), True)
        return "".join(part + (";\n" if end else ",") for part, end in zip(text, ends, strict=True))

    def facts(self) -> dict[str, object]:
        """Return the main properties, by name."""
        highest = f"{self.heights.max(initial=0.0):.6g} {self.unit}".rstrip()
        return {"sites": self.n_sites, "levels": len(self.levels), "highest": highest}


def as_quantity(given: str | Quantity, unit: str = "") -> Quantity:
    """Return a quantity from its symbol alone, or with a unit of its own.

    Parameters
    ----------
    given : str or Quantity
        A symbol or a whole quantity.
    unit : str, optional
        Unit of the heights; that of the quantity by default.

    Returns
    -------
    Quantity
        :data:`SIGMA` for "σ"; any other symbol stands for itself.

    Examples
    --------
    >>> as_quantity("PAE", "Å").cutoff_name
    'PAE cutoff'
    >>> as_quantity("σ", "nm").cutoff_text(0.02)
    'σc = 0.02 nm'
    """
    if isinstance(given, str):
        given = SIGMA if given == SIGMA.symbol else Quantity(given)
    return replace(given, unit=unit) if unit else given


def _require_tree(parents: Ints, heights: Floats) -> None:
    """Refuse what is no tree, over which compiled loops would run without end or out of bounds."""
    n_sites, above = len(parents) - len(heights), parents[parents >= 0]
    if parents.ndim != 1 or heights.ndim != 1 or parents.dtype.kind != "i":
        raise ValueError("a hierarchy needs a parent for each node and a height for each merge")
    later = above > np.maximum(np.flatnonzero(parents >= 0), n_sites - 1)
    n_parts = np.bincount(above, minlength=len(parents))
    merges = np.arange(len(parents)) >= n_sites
    good = later.all() and np.array_equal(n_parts >= 2, merges) and (parents >= -1).all()
    if n_sites < 1 or not good:
        raise ValueError("parents must be later merges, each of at least 2 parts, or -1")
    if not (np.isfinite(heights).all() and (np.diff(heights) >= 0).all()):
        raise ValueError("heights of a hierarchy must be finite and ascending")


def grow(
    n_sites: int, edges: Ints, heights: Floats, *, quantity: str | Quantity = SIGMA, unit: str = ""
) -> Hierarchy:
    """Grow a hierarchy from edges in any order.

    Parameters
    ----------
    n_sites : int
        Number of sites.
    edges : ndarray of int, shape (edges, 2)
        Pairs of sites.
    heights : ndarray, shape (edges,)
        Height of each edge; edges of infinite or undefined height join nothing.
    quantity : str or Quantity, optional
        What the heights are, or its symbol.
    unit : str, optional
        Unit of the heights; that of the quantity by default.

    Returns
    -------
    Hierarchy
        One tree for each piece that is connected by edges.

    Examples
    --------
    >>> grow(3, np.array([[0, 2], [1, 2]]), np.array([1.0, 1.0])).parents
    array([ 3,  3,  3, -1])
    """
    if len(edges) and (edges.min() < 0 or edges.max() >= n_sites):
        raise ValueError(
            f"edges need sites from 0 to {n_sites - 1}, got {edges.min()} to {edges.max()}"
        )
    forest = spanning_forest(n_sites, edges, heights)
    return from_forest(n_sites, *forest, quantity=as_quantity(quantity, unit))


def spanning_forest(n_sites: int, edges: Ints, heights: Floats) -> tuple[Ints, Floats]:
    """Return the lowest edges that hold every cluster together, sorted by height.

    Sorting all edges would take longest. The lowest few are sorted and joined; of the others, only
    those between different clusters stay, and so on with twice as many. Edges are not checked.

    Parameters
    ----------
    n_sites : int
        Number of sites.
    edges : ndarray of int, shape (edges, 2)
        Pairs of sites.
    heights : ndarray, shape (edges,)
        Height of each edge; edges of infinite or undefined height join nothing.

    Returns
    -------
    edges : ndarray of int, shape (joins, 2)
        At most ``n_sites - 1`` edges.
    heights : ndarray, shape (joins,)
        Their heights, ascending; equal ones in the order in which they were given.
    """
    edges = frozen(np.ascontiguousarray(edges, np.int64))
    heights = frozen(np.ascontiguousarray(heights, np.float64))
    leaders, few, limit = np.arange(n_sites), _FEW * n_sites, -np.inf
    kept = [(np.empty((0, 2), np.int64), np.empty(0))]
    n_missing, highest = n_sites - 1, np.finfo(np.float64).max
    while n_missing > 0 and limit < highest:
        below, limit = limit, _height_of_lowest(heights, few) if len(heights) > 2 * few else highest
        low = linkage.edges_between(edges, heights, below, limit, leaders)
        low = low[np.argsort(heights[low], kind="stable")]
        joining = np.empty(n_missing, np.int64)
        joined = low[joining[: linkage.join(edges[low], leaders, joining)]]
        kept.append((edges[joined], heights[joined]))
        n_missing -= len(joined)
        rest = linkage.edges_between(edges, heights, limit, highest, leaders)
        edges, heights, few = frozen(edges[rest]), frozen(heights[rest]), 2 * few
    all_edges, all_heights = zip(*kept, strict=True)
    return np.concatenate(all_edges), np.concatenate(all_heights)


def _height_of_lowest(heights: Floats, count: int) -> float:
    """Height below which about so many of many heights lie, estimated from a sample."""
    sample = heights[:: -(-len(heights) // _SAMPLE)]
    place = count * len(sample) // len(heights)
    limit = float(np.partition(sample, place)[place])
    return limit if math.isfinite(limit) else float(np.finfo(np.float64).max)


def from_forest(
    n_sites: int, edges: Ints, heights: Floats, *, quantity: Quantity = SIGMA
) -> Hierarchy:
    """Return the hierarchy of a spanning forest, which does not depend on the order of ties.

    Merges of equal height that touch become one; merges are sorted by height, then by lowest site.

    Parameters
    ----------
    n_sites : int
        Number of sites.
    edges, heights : ndarray
        As returned by :func:`spanning_forest`.
    quantity : Quantity, optional
        What the heights are.

    Returns
    -------
    Hierarchy
        One tree for each tree of the forest.
    """
    parents, lowest, last = linkage.merge_tree(n_sites, edges, heights)
    merges = np.arange(n_sites, len(parents))
    merges = merges[last[merges] == merges]
    merges = merges[np.lexsort((lowest[merges], heights[merges - n_sites]))]
    nodes = np.concatenate([np.arange(n_sites), merges])
    number = np.full(len(parents) + 1, -1)  # the last entry is that of -1, no parent
    number[nodes] = np.arange(len(nodes))
    above = np.where(parents[nodes] >= 0, last[parents[nodes]], -1)
    return Hierarchy(number[above], heights[merges - n_sites], quantity)


def highest_between(
    values: npt.NDArray[np.float64] | Ints, low: Ints, high: Ints
) -> npt.NDArray[np.float64]:
    """Highest of the values from each low place up to each high one, excluded; -inf of none."""
    # Maxima over spans of 1, 2, 4, … values: any range is covered by two spans of one length.
    span = np.frexp(high - low)[1] - 1
    highest = np.full(len(low), -np.inf)
    maxima = values
    for power in range(int(span.max(initial=-1)) + 1):
        here = span == power
        highest[here] = np.maximum(maxima[low[here]], maxima[high[here] - 2**power])
        maxima = np.maximum(maxima[: -(2**power)], maxima[2**power :])
    return highest
