"""Two hierarchies of one quantity at equal cutoffs: what holds more strongly in which."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timme._arrays import Floats, Ints, frozen
from timme._text import Described
from timme.hierarchy.partition import rand_index
from timme.hierarchy.tree import Hierarchy

_CUTOFFS = 100


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Difference(Described):
    """Two hierarchies of one quantity and unit at equal cutoffs."""

    cutoffs: Floats  # (cutoffs,)
    largest: Ints  # (2, cutoffs), sites in the largest cluster of each
    rand: Floats  # (cutoffs,), adjusted Rand index at equal cutoffs
    delta: Floats  # (sites,), height at which a site joins the core, second less first
    error: Floats | None  # (sites,), standard error of delta, if both spreads are known
    gained: tuple[str, ...]  # bonds of the second that the first has not
    lost: tuple[str, ...]  # bonds of the first that the second has not


def difference(
    first: Hierarchy,
    second: Hierarchy,
    *,
    spreads: tuple[Floats, Floats] | None = None,
    bonds: tuple[set[str], set[str]] = (set(), set()),
) -> Difference | None:
    """Compare two hierarchies of one quantity at equal cutoffs.

    Parameters
    ----------
    first, second : Hierarchy
        Of the same sites.
    spreads : tuple of ndarray, shape (sites,), optional
        Standard deviation of the core heights of each, from models, runs or perturbed copies.
    bonds : tuple of set of str, optional
        Names of the hydrogen bonds of each.

    Returns
    -------
    Difference or None
        None for different quantities, whose cutoffs cannot be equal.
    """
    one, other = first.quantity, second.quantity
    if (one.symbol, one.unit) != (other.symbol, other.unit):
        return None
    levels = np.unique(np.concatenate([first.levels, second.levels]))
    if len(levels) > _CUTOFFS:
        levels = levels[np.linspace(0, len(levels) - 1, _CUTOFFS).round().astype(np.int64)]
    cuts = [(first.cut(cutoff), second.cut(cutoff)) for cutoff in levels]
    return Difference(
        cutoffs=frozen(levels),
        largest=frozen(np.array([[part.sizes[0] for part in pair] for pair in cuts]).T),
        rand=frozen(np.array([rand_index(a.labels, b.labels) for a, b in cuts])),
        delta=frozen(second.core_heights() - first.core_heights()),
        error=None if spreads is None else frozen(np.hypot(*spreads)),
        gained=tuple(sorted(bonds[1] - bonds[0])),
        lost=tuple(sorted(bonds[0] - bonds[1])),
    )
