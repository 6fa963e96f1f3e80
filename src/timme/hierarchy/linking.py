"""Join pairs in order of σ, or of any other height, into a hierarchy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from timme.fluctuations.matrix import from_matrix
from timme.fluctuations.sigma import Fluctuations
from timme.hierarchy.quantity import SIGMA, Quantity
from timme.hierarchy.tree import Hierarchy, grow
from timme.readers.matrices import read_matrix

if TYPE_CHECKING:
    import numpy.typing as npt
    from scipy import sparse


def link(
    sigma: Fluctuations | str | Path | npt.ArrayLike | sparse.csr_array,
    *,
    unit: str = "",
    quantity: str | Quantity = SIGMA,
) -> Hierarchy:
    """Join pairs in increasing σ into a hierarchy of clusters (single linkage).

    Equal σ join in one step, so the result never depends on the order of pairs.

    Parameters
    ----------
    sigma : Fluctuations, array_like, sparse array or path
        Measured σ of pairs, or any ready-made matrix of the same meaning, or its file (``.npy``,
        MatrixMarket, predicted aligned errors of AlphaFold): square, symmetric and not negative.
        Entries that are NaN or infinite, and those a sparse matrix does not hold, are pairs that
        are not compared.
    unit : str, optional
        Unit of a ready-made matrix; a Fluctuations brings its own.
    quantity : str or Quantity, optional
        What the heights are, for axes, tables and pages: the symbol alone, or all that is known.

    Returns
    -------
    Hierarchy
        One tree for each connected piece of the pairs.

    Examples
    --------
    >>> hierarchy = link([[0.0, 0.1, 0.5], [0.1, 0.0, 0.4], [0.5, 0.4, 0.0]])
    >>> hierarchy.levels
    array([0.1, 0.4])
    >>> hierarchy.cut(0.2).labels
    array([0, 0, 1])
    """
    found: Fluctuations
    if isinstance(sigma, Fluctuations):
        found = sigma
    elif isinstance(sigma, str | Path):
        found = from_matrix(read_matrix(sigma), unit=unit)
    else:
        found = from_matrix(sigma, unit=unit)
    return grow(found.n_objects, found.pairs, found.sigma, unit=found.unit, quantity=quantity)
