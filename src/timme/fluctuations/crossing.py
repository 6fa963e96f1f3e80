"""Which distances of sites make up those of objects, and how their moments become one σ.

Objects that are compared by one point each need one distance. Others need the distances of all
their cross pairs of sites, none of them twice, however many pairs of objects share it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from timme._arrays import Bools, Floats, Ints, frozen
from timme._kernels import crossing as kernel
from timme._kernels import parts as kernel_of_parts
from timme.engine.checkpoint import digest
from timme.engine.moments import Moments
from timme.engine.run import DEFAULT, Run
from timme.engine.threads import Threads
from timme.objects import Objects
from timme.system.ensemble import Ensemble

Singles = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Crossing:
    """Pairs of objects, and the pairs of sites that they consist of."""

    objects: Objects
    index: Ints  # (pairs, 2), of objects
    ensemble: Ensemble  # of the points whose distances count
    site_pairs: Ints  # (site pairs, 2), of points
    _begins: Ints | None  # (sites + 1,), where those of each lower site begin; None for points

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
        begins, site_pairs = _cross_pairs(objects, index)
        return cls(objects, index, objects.ensemble, site_pairs, begins)

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
        return self.reduce_squares(found.variance)

    def reduce_squares(self, squares: Floats) -> Floats:
        """Reduce σ² of site pairs, or bounds of it, to that of object pairs.

        Parameters
        ----------
        squares : ndarray, shape (site pairs,)
            Of each; those of rigid pairs are put to 0 in place.

        Returns
        -------
        ndarray, shape (pairs,)
            Their mean, or the largest.
        """
        if self._begins is None:
            return squares
        return self._reduce(self._unless_rigid(squares), largest=self.objects.reduction == "max")

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
        if self._begins is None:
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
        if self._begins is None:
            return found.count
        if not self.ensemble.gaps:
            return np.full(len(self.index), n_snapshots)
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
        return found.weight if self._begins is None else self._least(found.weight, total)

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
        if self._begins is None:
            return found.reach
        if not found.reach.any():  # in open space
            return np.zeros(len(self.index))
        return self._reduce(found.reach, largest=True)

    def rigid_site_pairs(self) -> Bools:
        """Tell which pairs of sites count as rigid by definition.

        Returns
        -------
        ndarray of bool, shape (site pairs,)
            True where σ is 0, whatever is measured.
        """
        rigid, n_sites = self.objects.rigid, self.objects.ensemble.n_sites
        keys = self.site_pairs[:, 0] * n_sites + self.site_pairs[:, 1]
        return np.isin(keys, rigid[:, 0] * n_sites + rigid[:, 1])

    def reduce_rows(
        self, rows: Singles, index: Ints, *, largest: bool, run: Run = DEFAULT
    ) -> Singles:
        """Reduce many values of each site pair at a time to those of object pairs.

        Parameters
        ----------
        rows : ndarray of float32, shape (site pairs, values)
            Such as σ² of each of many parts.
        index : ndarray of int, shape (pairs, 2)
            Some of the pairs of objects.
        largest : bool
            Whether the largest of all cross pairs counts, or their mean.
        run : Run, optional
            Whose threads share the pairs.

        Returns
        -------
        ndarray of float32, shape (pairs, values)
            A row for each pair of objects.
        """
        begins, site_pairs = self._begins, self.site_pairs
        if begins is None:
            raise ValueError("points are compared as they are, and need no reduction")
        made, reduced = self.objects, np.empty((len(index), rows.shape[1]), np.float32)
        members, offsets = np.array(made.members), np.array(made.offsets)

        def reduce(_: None, tile: slice) -> None:
            some = np.array(index[tile])
            kernel_of_parts.reduce_rows(
                some, offsets, members, begins, site_pairs, rows, largest, reduced[tile]
            )

        tiles = [slice(k, k + 4096) for k in range(0, len(index), 4096)]
        for _ in Threads(run.engine.threads_here).map(reduce, None, tiles):
            pass
        return reduced

    def _least(self, values: Floats, most: float) -> Floats:
        return most - self._reduce(most - values, largest=True)

    def _unless_rigid(self, values: Floats) -> Floats:
        """Put 0 in place of what belongs to pairs of sites that count as rigid."""
        if len(self.objects.rigid):
            values[self.rigid_site_pairs()] = 0.0
        return values

    def _reduce(self, values: Floats, *, largest: bool) -> Floats:
        assert self._begins is not None  # noqa: S101, points need no reduction
        reduced: Floats = kernel.reduce_pairs(
            frozen(self.index),
            self.objects.offsets,
            self.objects.members,
            self._begins,
            self.site_pairs,
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
    return len(_cross_pairs(objects, index)[1])


def _cross_pairs(objects: Objects, index: Ints) -> tuple[Ints, Ints]:
    """Where the pairs of each lower site begin, and pairs of sites, each once."""
    begins, pairs = kernel.cross_pairs(
        frozen(index), objects.offsets, objects.members, objects.ensemble.n_sites
    )
    return begins, pairs
