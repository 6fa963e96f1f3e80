"""The hierarchy of co-moving clusters, from rigid pieces to the whole, and its cuts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints, frozen, indices
from timme._errors import require
from timme._html import Described
from timme._kernels import linkage
from timme.hierarchy.forest import canonical_tree, spanning_forest
from timme.hierarchy.labels import rank_labels
from timme.hierarchy.quantity import SIGMA, Quantity, as_quantity

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Partition(Described):
    """Sites, each in exactly one cluster."""

    labels: Ints  # (sites,), 0 is the largest cluster, ties go to the one with the lowest site
    cutoff: float  # in the units of the heights

    @property
    def sizes(self) -> Ints:
        """Number of sites in each cluster, largest first."""
        return np.bincount(self.labels)

    @property
    def n_clusters(self) -> int:
        """Number of clusters, single sites included."""
        return int(self.labels.max()) + 1

    def __len__(self) -> int:
        """Count the clusters, single sites included."""
        return self.n_clusters

    def __iter__(self) -> Iterator[Ints]:
        """Walk through the clusters, largest first, each an array of its sites, ascending."""
        ranked = np.argsort(self.labels, kind="stable")
        yield from np.split(ranked, np.cumsum(self.sizes)[:-1])

    def to_dataframe(self, names: Sequence[str] | None = None) -> DataFrame:
        """Return a table with one row for each site, as pandas has it.

        Parameters
        ----------
        names : sequence of str, optional
            Of the sites, such as ``objects.names``.

        Returns
        -------
        pandas.DataFrame
            Columns ``site``, ``name`` if there are names, ``cluster`` and ``size`` of that cluster.
        """
        if names is not None and len(names) != len(self.labels):
            raise ValueError(
                f"names need one for each of {len(self.labels)} sites, got {len(names)}"
            )
        try:
            from pandas import DataFrame
        except ImportError:
            raise ImportError(
                "a table needs pandas: pip install 'pytimme[tables]', or use .labels"
            ) from None
        columns: dict[str, Any] = {"site": np.arange(len(self.labels))}
        if names is not None:
            columns["name"] = list(names)
        return DataFrame(columns | {"cluster": self.labels, "size": self.sizes[self.labels]})

    def members(self, cluster: int) -> Ints:
        """Return the sites of one cluster.

        Parameters
        ----------
        cluster : int
            Label of the cluster.

        Returns
        -------
        ndarray of int
            Its sites in ascending order.
        """
        return np.flatnonzero(self.labels == cluster)

    def _facts(self) -> Iterable[tuple[str, object]]:
        largest = ", ".join(str(size) for size in self.sizes[:10])
        return (
            ("cutoff", f"{self.cutoff:.6g}"),
            ("sites", len(self.labels)),
            ("clusters", self.n_clusters),
            ("sizes", f"{largest}, …" if self.n_clusters > 10 else largest),
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hierarchy(Described):
    """A forest of clusters within clusters, each with the height (cutoff) at which it forms.

    Nodes are the sites, 0 … n_sites - 1, followed by the merges, sorted by height and then by
    their lowest site. In leaf order, the sites of a node are one run: ``starts[node]`` and
    ``sizes[node]`` give it. The larger part of every cluster comes first in that order.
    """

    parents: Ints  # (nodes,), -1 for a root
    heights: Floats  # (merges,), ascending
    quantity: Quantity = SIGMA  # what the heights are
    sizes: Ints = field(init=False)  # (nodes,)
    lowest: Ints = field(init=False)  # (nodes,), lowest site of each
    starts: Ints = field(init=False)  # (nodes,)
    order: Ints = field(init=False)  # (sites,), sites in leaf order

    def __post_init__(self) -> None:
        """Check the tree; derive sizes and leaf order."""
        _refuse_bad_tree(self.parents, self.heights)
        parents = np.array(self.parents)  # loops are compiled for arrays that may be written
        sizes, lowest = linkage.sizes_and_lowest(self.n_sites, parents)
        ranked = np.lexsort((lowest, -sizes))
        starts = linkage.leaf_starts(parents, sizes, ranked)
        for name, array in (
            ("parents", self.parents),
            ("heights", self.heights),
            ("sizes", sizes),
            ("lowest", lowest),
            ("starts", starts),
            ("order", np.argsort(starts[: self.n_sites])),
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
        """Distinct heights, ascending: the cutoffs at which anything changes."""
        return np.unique(self.heights)

    @property
    def gaps(self) -> Floats:
        """Height that separates each site from the next in leaf order; inf between trees.

        Two sites are in one cluster at a cutoff if no gap between them is above it.
        """
        gaps = np.full(self.n_sites, np.inf)  # of each position, the gap before it
        first_born = np.append(self.starts, -1)[self.parents] == self.starts
        inner = ~first_born & (self.parents >= 0)
        gaps[self.starts[inner]] = self.deaths[inner]
        return gaps[1:]

    def cut(self, cutoff: float) -> Partition:
        """Return the clusters at a cutoff: all pairs with σ ≤ cutoff joined.

        Parameters
        ----------
        cutoff : float
            In the units of the heights.

        Returns
        -------
        Partition
            One label per site.
        """
        _require_cutoff(cutoff)
        apart = self.gaps > min(cutoff, np.finfo(np.float64).max)  # trees are apart at any cutoff
        runs = np.concatenate([[0], np.cumsum(apart)])
        labels = np.empty(self.n_sites, dtype=np.int64)
        labels[self.order] = runs
        return Partition(frozen(rank_labels(labels)), float(cutoff))

    def core(self, cutoff: float) -> Ints:
        """Return the sites of the largest cluster at a cutoff.

        Parameters
        ----------
        cutoff : float
            In the units of the heights.

        Returns
        -------
        ndarray of int
            Sites of the core, ascending.
        """
        return self.cut(cutoff).members(0)

    def restrict(self, sites: npt.ArrayLike) -> Hierarchy:
        """Return the hierarchy as seen by some of the sites: clusters counted in these alone.

        Parameters
        ----------
        sites : array_like of int
            Sites to keep, each once; they are numbered anew in this order.

        Returns
        -------
        Hierarchy
            A hierarchy of ``len(sites)`` sites with the same heights between them.
        """
        chosen = indices(sites, self.n_sites, "shown sites")
        if chosen.size == 0:
            raise ValueError("at least 1 site must be shown, got none")
        position = np.argsort(self.order)[chosen]
        walk = np.argsort(position)
        stops = position[walk]
        heights = np.empty(0)
        if len(walk) > 1:
            heights = np.maximum.reduceat(self.gaps[: stops[-1]], stops[:-1])
        edges = np.column_stack([walk[:-1], walk[1:]])
        return grow(len(chosen), edges, heights, quantity=self.quantity)

    def to_linkage(self) -> Floats:
        """Return the hierarchy as a linkage matrix of SciPy.

        Clusters that form from several parts at once become merges of equal height; separate
        trees are joined at infinite height.

        Returns
        -------
        ndarray, shape (sites - 1, 4)
            As made by :func:`scipy.cluster.hierarchy.linkage`.
        """
        rows: list[tuple[float, float, float, float]] = []
        name = np.arange(len(self.parents))  # of each node, its number in the linkage

        def join(parts: Ints, height: float) -> int:
            joined, size = int(name[parts[0]]), int(self.sizes[parts[0]])
            for part in parts[1:]:
                size += int(self.sizes[part])
                other = int(name[part])
                rows.append((min(joined, other), max(joined, other), height, size))
                joined = self.n_sites + len(rows) - 1
            return joined

        *merges, roots = self._parts()
        for merge, parts in enumerate(merges):
            name[self.n_sites + merge] = join(parts, float(self.heights[merge]))
        join(roots, np.inf)
        return np.array(rows, dtype=np.float64).reshape(-1, 4)

    def to_newick(self, names: Sequence[str] | None = None) -> str:
        """Return the hierarchy in Newick form, with heights as branch lengths.

        Parameters
        ----------
        names : sequence of str, optional
            Name of each site; numbers from 1 by default.

        Returns
        -------
        str
            One tree per line, each ended by a semicolon. Sites stand at height 0.
        """
        labels = [str(site + 1) for site in range(self.n_sites)] if names is None else list(names)
        if len(labels) != self.n_sites:
            raise ValueError(f"names need one for each of {self.n_sites} sites, got {len(labels)}")
        quoted = ["'" + label.replace("'", "''") + "'" for label in labels]
        height = np.concatenate([np.zeros(self.n_sites), self.heights])
        length = np.append(height, np.nan)[self.parents] - height
        branch = ["" if np.isnan(x) else f":{x:.9g}" for x in length]
        *merges, roots = self._parts()
        text: list[str] = []
        for root in roots:
            waiting: list[str | int] = [int(root)]  # texts to be written and nodes to be opened
            while waiting:
                item = waiting.pop()
                if isinstance(item, str):
                    text.append(item)
                elif item < self.n_sites:
                    text += (quoted[item], branch[item])
                else:
                    text.append("(")
                    waiting.append(f"){branch[item]}")
                    for part in merges[item - self.n_sites][:0:-1]:
                        waiting += (int(part), ",")
                    waiting.append(int(merges[item - self.n_sites][0]))
            text.append(";\n")
        return "".join(text)

    def _facts(self) -> Iterable[tuple[str, object]]:
        levels = self.levels
        spread = f"{levels[0]:.6g} to {levels[-1]:.6g} {self.unit}" if len(levels) else "none"
        return (
            ("sites", self.n_sites),
            ("trees", int(np.count_nonzero(self.parents < 0))),
            ("levels", len(levels)),
            (self.quantity.symbol, spread),
        )

    def _parts(self) -> list[Ints]:
        """List the parts of each merge in leaf order; the last list holds the roots."""
        n_nodes = len(self.parents)
        above = np.where(self.parents < 0, n_nodes, self.parents)
        ranked = np.lexsort((self.starts, above))
        bounds = np.searchsorted(above[ranked], np.arange(self.n_sites + 1, n_nodes + 1))
        return np.split(ranked, bounds)


def require_hierarchy(given: Any, step: str) -> None:
    """Refuse what is no hierarchy, and say how it is made.

    Parameters
    ----------
    given : Any
        What the user passed.
    step : str
        Which step needs a hierarchy.
    """
    remedies = {
        "Fluctuations": "pass timme.link(fluctuations)",
        "Analysis": "pass its .hierarchy, or its .shown_hierarchy",
        "Partition": "pass the hierarchy that was cut",
        "other": "pass what timme.link or timme.cluster makes",
    }
    require(given, Hierarchy, step, remedies)


def _require_cutoff(given: Any) -> None:
    if np.ndim(given) > 0:
        raise TypeError(
            f"a cutoff is one number, got {len(given)}: cut at one after another, "
            "[hierarchy.cut(cutoff) for cutoff in cutoffs]"
        )
    if not isinstance(given, Real | np.ndarray):
        raise TypeError(f"a cutoff is a number, got {given!r}: pass it as 0.5")
    if math.isnan(float(given)):
        raise ValueError("a cutoff must be a number, got nan")


def _refuse_bad_tree(parents: Ints, heights: Floats) -> None:
    """Refuse what is no tree, before a compiled loop runs over it."""
    if parents.ndim != 1 or heights.ndim != 1 or parents.dtype.kind != "i":
        raise ValueError("a hierarchy needs a parent for each node and a height for each merge")
    nodes, n_sites = np.arange(len(parents)), len(parents) - len(heights)
    inner = parents >= 0
    above = parents[inner]
    if (
        n_sites < 1
        or (parents < -1).any()
        or (above >= len(parents)).any()
        or (above < n_sites).any()
        or (above <= nodes[inner]).any()
        or (np.bincount(above, minlength=len(parents))[n_sites:] < 2).any()
    ):
        raise ValueError("parents of a hierarchy must be merges, each of 2 parts or more before it")
    if not (np.isfinite(heights).all() and (np.diff(heights) >= 0).all()):
        raise ValueError("heights of a hierarchy must be finite and ascend")


def grow(
    n_sites: int, edges: Ints, heights: Floats, *, unit: str = "", quantity: str | Quantity = SIGMA
) -> Hierarchy:
    """Grow a hierarchy from edges.

    Parameters
    ----------
    n_sites : int
        Number of sites.
    edges : ndarray, shape (edges, 2)
        Pairs of sites.
    heights : ndarray, shape (edges,)
        Height of each; edges of infinite height join nothing.
    unit : str, optional
        Of the heights; that of the quantity by default.
    quantity : str or Quantity, optional
        What the heights are, or its symbol.

    Returns
    -------
    Hierarchy
        One tree for each piece that edges connect.
    """
    forest = spanning_forest(n_sites, edges, heights)
    return from_forest(n_sites, *forest, unit=unit, quantity=quantity)


def from_forest(
    n_sites: int, edges: Ints, heights: Floats, *, unit: str = "", quantity: str | Quantity = SIGMA
) -> Hierarchy:
    """Make the hierarchy of a spanning forest.

    Parameters
    ----------
    n_sites : int
        Number of sites.
    edges, heights : ndarray
        As :func:`spanning_forest` returns them.
    unit : str, optional
        Of the heights; that of the quantity by default.
    quantity : str or Quantity, optional
        What the heights are, or its symbol.

    Returns
    -------
    Hierarchy
        One tree for each tree of the forest.
    """
    parents, heights = canonical_tree(n_sites, edges, heights)
    return Hierarchy(parents, heights, as_quantity(quantity, unit))
