"""Which distances of sites make up those of objects, and how their moments become one σ.

Objects that are compared by one point each need one distance. Others need the distances of all
their cross pairs of sites, none of them twice, however many pairs of objects share it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from timme._arrays import Floats, Ints
from timme._kernels import moments as kernel
from timme.engine.checkpoint import digest
from timme.engine.moments import Moments
from timme.objects import Objects
from timme.system.ensemble import Ensemble


@dataclass(frozen=True, slots=True, eq=False)
class Crossing:
    """Pairs of objects, and the pairs of sites that they consist of."""

    objects: Objects
    index: Ints  # (pairs, 2), of objects
    ensemble: Ensemble  # of the points whose distances count
    site_pairs: Ints  # (site pairs, 2), of points
    _needed: sparse.csr_array | None  # the same as a matrix; None where pairs are those of points

    @classmethod
    def of(cls, objects: Objects, index: Ints) -> Crossing:
        """Find the pairs of sites that pairs of objects consist of.

        Parameters
        ----------
        objects : Objects
            What is compared.
        index : ndarray, shape (pairs, 2)
            Pairs of objects.

        Returns
        -------
        Crossing
            With all that is to be measured.
        """
        if objects.are_points:
            return cls(objects, index, objects.centres(), index, None)
        needed = _cross_pairs(objects, index)
        site_pairs = np.column_stack(needed.nonzero()).astype(np.int64)
        return cls(objects, index, objects.ensemble, site_pairs, needed)

    @property
    def key(self) -> str:
        """A text by which the way from sites to objects is known again."""
        made = self.objects
        return digest(self.index, made.members, made.offsets, made.rigid, made.reduction)

    def variance(self, found: Moments) -> Floats:
        """Reduce σ² of site pairs to that of object pairs.

        Parameters
        ----------
        found : Moments
            Of the site pairs.

        Returns
        -------
        ndarray, shape (pairs,)
            σ², NaN where some cross pair was never seen.
        """
        if self._needed is None:
            return found.variance
        return self._reduce(
            self._unless_rigid(found.variance), largest=self.objects.reduction == "max"
        )

    def mean(self, found: Moments) -> Floats:
        """Average the mean distances of cross pairs; those that are rigid by definition count 0.

        Parameters
        ----------
        found : Moments
            Of the site pairs.

        Returns
        -------
        ndarray, shape (pairs,)
            Mean distance, 0 where nothing was seen.
        """
        if self._needed is None:
            return found.mean
        return self._reduce(self._unless_rigid(found.mean.copy()), largest=False)

    def common(self, found: Moments, n_snapshots: int) -> Ints:
        """Count the snapshots in which both objects are seen as a whole.

        Parameters
        ----------
        found : Moments
            Of the site pairs.
        n_snapshots : int
            Snapshots that count, of those that were summed.

        Returns
        -------
        ndarray, shape (pairs,)
            The least of all cross pairs.
        """
        if self._needed is None:
            return found.count
        return self._least(found.count.astype(np.float64), n_snapshots).astype(np.int64)

    def weight(self, found: Moments, total: float) -> Floats:
        """Add up the weights of the snapshots in which both objects are seen as a whole.

        Parameters
        ----------
        found : Moments
            Of the site pairs.
        total : float
            Weight of all snapshots that were summed.

        Returns
        -------
        ndarray, shape (pairs,)
            The least of all cross pairs.
        """
        return found.weight if self._needed is None else self._least(found.weight, total)

    def reach(self, found: Moments) -> Floats:
        """Tell how near to half the box objects come.

        Parameters
        ----------
        found : Moments
            Of the site pairs.

        Returns
        -------
        ndarray, shape (pairs,)
            The most of all cross pairs.
        """
        return found.reach if self._needed is None else self._reduce(found.reach, largest=True)

    def _least(self, values: Floats, most: float) -> Floats:
        return most - self._reduce(most - values, largest=True)

    def _unless_rigid(self, values: Floats) -> Floats:
        """Put 0 in place of what belongs to pairs of sites that count as rigid."""
        rigid, n_sites = self.objects.rigid, self.objects.ensemble.n_sites
        if len(rigid):
            keys = self.site_pairs[:, 0] * n_sites + self.site_pairs[:, 1]
            values[np.isin(keys, rigid[:, 0] * n_sites + rigid[:, 1])] = 0.0
        return values

    def _reduce(self, values: Floats, *, largest: bool) -> Floats:
        assert self._needed is not None  # noqa: S101, points need no reduction
        reduced: Floats = kernel.reduce_pairs(
            self.index,
            self.objects.offsets,
            self.objects.members,
            self._needed.indptr,
            self._needed.indices,
            values,
            largest,
        )
        return reduced


def count_site_pairs(objects: Objects, index: Ints) -> int:
    """Count the pairs of sites whose distances make up those of pairs of objects.

    Parameters
    ----------
    objects : Objects
        What is compared.
    index : ndarray, shape (pairs, 2)
        Pairs of objects.

    Returns
    -------
    int
        Distances to be measured in each snapshot; none is there twice.
    """
    return int(_cross_pairs(objects, index).nnz)


def _cross_pairs(objects: Objects, index: Ints) -> sparse.csr_array:
    """Pairs of sites, lower first, that pairs of objects consist of; none is there twice."""
    membership = objects.membership()
    compared = sparse.csr_array(
        (np.ones(len(index), bool), index.T), shape=(len(objects), len(objects))
    )
    crossing = membership.T @ compared @ membership
    upper = sparse.csr_array(sparse.triu(crossing + crossing.T, 1))
    upper.sort_indices()
    return upper
