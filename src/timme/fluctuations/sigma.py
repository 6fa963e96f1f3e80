"""σ of pairs of objects, as measured or as given."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from timme._arrays import Floats, Ints
from timme._html import Described

_LARGEST_MATRIX = 20_000  # objects; 3.2 GB

NoiseVariance = Callable[[Ints], Floats]
"""Tells what errors of positions add to σ² of pairs of points, over very many snapshots."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Fluctuations(Described):
    """σ of pairs of objects."""

    n_objects: int
    pairs: Ints  # (pairs, 2), lower first
    sigma: Floats  # (pairs,)
    common: Ints  # (pairs,), snapshots in which both are seen
    unit: str = ""

    def _facts(self) -> Iterable[tuple[str, object]]:
        finite = self.sigma[np.isfinite(self.sigma)]
        unit = f" {self.unit}" if self.unit else ""
        spread = f"{finite.min():.6g} to {finite.max():.6g}{unit}" if len(finite) else "none"
        return (("objects", self.n_objects), ("pairs", len(self.sigma)), ("σ", spread))

    def matrix(self) -> Floats:
        """Return σ as a symmetric matrix.

        Returns
        -------
        ndarray, shape (objects, objects)
            0 on the diagonal, NaN where a pair was not measured.
        """
        if self.n_objects > _LARGEST_MATRIX:
            raise ValueError(
                f"a matrix of {self.n_objects} × {self.n_objects} would not fit into memory: "
                "use .pairs and .sigma"
            )
        full = np.full((self.n_objects, self.n_objects), np.nan)
        np.fill_diagonal(full, 0.0)
        first, second = self.pairs.T
        full[first, second] = full[second, first] = self.sigma
        return full
