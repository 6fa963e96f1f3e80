"""Pairs of sites that make up pairs of objects, and how their values become those of objects.

Objects that are compared by one point each need one distance for each pair. Others need the
distances of all their cross pairs of sites, each only once however many pairs of objects share it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from timme._arrays import Floats, Ints
from timme._kernels import reductions as kernel
from timme.engine.workers import Threads
from timme.ensemble.ensemble import Ensemble
from timme.objects import Objects

Real = TypeVar("Real", np.float32, np.float64)

_FIRSTS = 64  # first objects whose pairs a thread reduces at a time


@dataclass(frozen=True, slots=True, eq=False)
class SitePairs:
    """Pairs of objects, and the pairs of sites whose distances are measured for them."""

    objects: Objects
    index: Ints  # (pairs, 2), of objects
    ensemble: Ensemble  # whose sites are paired: that of the objects, or of their centres
    site_pairs: Ints  # (site pairs, 2), lower first
    rows: tuple[Ints, Ints, Ints] | None  # begins, partners, site pairs of sites; None for points

    @classmethod
    def of(cls, objects: Objects, index: Ints) -> SitePairs:
        """Find the pairs of sites that pairs of objects (pairs, 2) consist of."""
        if objects.are_points:
            return cls(objects, index, objects.centres(), index, None)
        # Members of partners of objects that hold a site: a product of sparse matrices.
        membership, (first, second) = objects.membership(), index.T
        ones = np.ones(len(index), np.bool_)
        partners = sparse.coo_array((ones, (first, second)), shape=(len(objects),) * 2).tocsr()
        cross = membership.T @ (partners @ membership)
        upper = sparse.triu(cross + cross.T, 1, format="csr")
        upper.sum_duplicates()  # sorts
        site_pairs = np.column_stack(upper.nonzero()).astype(np.int64)
        upper.data = np.arange(1, len(site_pairs) + 1)
        both = upper + upper.T
        rows = (both.indptr.astype(np.int64), both.indices.astype(np.int64), both.data - 1)
        return cls(objects, index, objects.ensemble, site_pairs, rows)

    def variance(self, squares: Floats, *, threads: int = 1) -> Floats:
        """Return σ² of pairs of objects; ``squares`` of site pairs are changed in place.

        A site that both objects share counts 0, and so does a pair of sites that is rigid by
        definition. NaN of any cross pair makes the result NaN.
        """
        self.clear_rigid(squares)
        return self.reduce(squares, largest=self.objects.reduction == "max", threads=threads)

    def common(self, counts: Ints, n_snapshots: int) -> Ints:
        """Return the least of the cross pairs: snapshots in which all members are seen."""
        unseen = (n_snapshots - counts).astype(np.float64)
        return n_snapshots - self.reduce(unseen, largest=True).astype(np.int64)

    def clear_rigid(self, values: npt.NDArray[Real]) -> None:
        """Set values of site pairs to 0 where their σ is 0 by definition."""
        rigid = self.objects.rigid
        if self.rows is not None and len(rigid) > 0:
            factors = np.array([self.objects.ensemble.n_sites, 1])
            values[np.isin(self.site_pairs @ factors, rigid @ factors)] = 0.0

    def reduce(
        self, values: npt.NDArray[Real], *, largest: bool = False, threads: int = 1
    ) -> npt.NDArray[Real]:
        """Return the mean or largest of the cross pairs, column by column."""
        if self.rows is None:
            return values
        objects, columns = self.objects, values if values.ndim == 2 else values[:, None]
        reduced = np.empty((len(self.index), columns.shape[1]), columns.dtype)
        first, second = np.ascontiguousarray(self.index.T)
        places = np.argsort(first, kind="stable")
        begins = np.searchsorted(first[places], np.arange(len(objects) + 1))

        pairs, held = (second, begins, places), (objects.offsets, objects.members)

        def fill(_: None, first: int) -> None:
            firsts = first, min(first + _FIRSTS, len(objects))
            kernel.reduce(firsts, pairs, held, self.rows, columns, largest, reduced)

        for _ in Threads(threads).map(fill, None, range(0, len(objects), _FIRSTS)):
            pass
        return reduced if values.ndim == 2 else reduced[:, 0]
