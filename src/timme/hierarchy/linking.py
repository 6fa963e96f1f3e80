"""Join pairs in order of σ, or of any other height, into a hierarchy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from timme.fluctuations.matrix import from_matrix
from timme.fluctuations.sigma import Fluctuations
from timme.hierarchy.linkages import Linkage, grow_by
from timme.hierarchy.quantity import SIGMA, Quantity
from timme.hierarchy.tree import Hierarchy
from timme.objects import Objects
from timme.pairs.lists import Pairs
from timme.readers.matrices import GivenMatrix, read_given
from timme.system.ensemble import Ensemble

if TYPE_CHECKING:
    import numpy.typing as npt
    from scipy import sparse


# By the names of their types, as the last of the steps comes after this one.
_LINKED = {
    "Hierarchy": "it is linked already",
    "NoneType": "pass timme.measure(objects, pairs)",
    "Analysis": "it is linked already, as analysis.hierarchy; σ is in analysis.fluctuations",
}


def link(
    sigma: Fluctuations | str | Path | npt.ArrayLike | sparse.csr_array,
    *,
    unit: str = "",
    quantity: str | Quantity | None = None,
    linkage: Linkage = "single",
) -> Hierarchy:
    """Join pairs in increasing σ into a hierarchy of clusters (single linkage).

    Equal σ join in one step, so the result never depends on the order of pairs.

    Parameters
    ----------
    sigma : Fluctuations, array_like, sparse array or path
        Measured σ of pairs, or any ready-made matrix of the same meaning, or its file (``.npy``,
        MatrixMarket, predicted aligned errors of AlphaFold): square, symmetric and not negative, or
        the upper triangle of one, row by row, as SciPy's ``pdist`` gives it. Entries that are NaN
        or infinite, masked ones, and those a sparse matrix does not hold, are pairs that are not
        compared.
    unit : str, optional
        Unit of a ready-made matrix; a Fluctuations brings its own.
    quantity : str or Quantity, optional
        What the heights are, for axes, tables and pages: the symbol alone, or all that is known. By
        default what a file tells of itself, such as predicted aligned errors, and else σ.
    linkage : {"single", "braced", "average"}, optional
        Single linkage is the paper's. Braced: two count as a pair once they share 4 partners as
        well. Average: clusters join by the mean of σ² over all pairs between them.

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
    got = type(sigma).__name__
    if got in _LINKED or isinstance(sigma, Ensemble | Objects | Pairs):
        remedy = _LINKED.get(got, "pass timme.measure(objects, pairs)")
        raise TypeError(f"timme.link needs Fluctuations or a matrix, got {got}: {remedy}")
    given = read_given(sigma) if isinstance(sigma, str | Path) else GivenMatrix(sigma)
    found = sigma if isinstance(sigma, Fluctuations) else from_matrix(given.values, unit=unit)
    chosen = quantity_of(given) if quantity is None else quantity
    return grow_by(
        linkage, found.n_objects, found.pairs, found.sigma, unit=found.unit, quantity=chosen
    )


def quantity_of(given: GivenMatrix) -> Quantity:
    """Say what the heights of a ready-made matrix are.

    Parameters
    ----------
    given : GivenMatrix
        As its file tells.

    Returns
    -------
    Quantity
        σ where nothing is known.
    """
    if not given.symbol:
        return SIGMA
    return Quantity(given.symbol, unit=given.unit, words=given.words, is_length=True)
