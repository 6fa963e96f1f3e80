"""One colour for each group of the finding, the same in figures, structures, viewers and pages.

Group 0 is dark blue, what belongs to no group is grey. Clusters at a cutoff are coloured by their
family (:mod:`timme.hierarchy.stripes`): a family that matches a group has its colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from timme._arrays import Ints, Strings, frozen
from timme.hierarchy.stripes import families, families_at
from timme.hierarchy.tree import Hierarchy

if TYPE_CHECKING:
    from timme.analysis.result import Analysis

REST = "#bdbdbd"  # what belongs to no group

# Okabe & Ito and Tol: readers with any form of colour blindness tell these from one another and
# from grey (CIE76 distances of at least 13 in simulations by Machado et al., 2009).
SAFE = (
    *("#00008b", "#e69f00", "#56b4e9", "#882255", "#009e73", "#f0e442"),
    *("#d55e00", "#cc79a7", "#117733", "#999933", "#aa4499"),
)

# More colours, for readers who see all of them; fewer than the 31 that VMD has room for.
WIDE = (
    *("#00008b", "#d62728", "#f2a900", "#2ca02c", "#8e44ad", "#17a2b8", "#f078e1", "#a5874b"),
    *("#0f69e1", "#ff7878", "#a5c300", "#961e4b", "#00d2e6", "#695a1e", "#9696ff", "#5ac396"),
    *("#b46987", "#006987", "#4bf087", "#ffb4f0", "#006900", "#6978b4", "#5a4b87", "#2d8769"),
)

PALETTES = {"safe": SAFE, "wide": WIDE}
SAME = 0.5  # Jaccard index above which a cluster and a group share a colour


def palette_of(analysis: Analysis) -> tuple[str, ...]:
    """Return the palette that the settings name, the safe one by default."""
    return PALETTES.get(str(getattr(analysis.made.settings, "palette", "")), SAFE)


def group_colours(n_groups: int, palette: Sequence[str] = SAFE) -> Strings:
    """Return a colour for each group as #rrggbb and, last, grey: entry -1 is for no group."""
    return np.array([*(palette[group % len(palette)] for group in range(n_groups)), REST])


def finding_colours(analysis: Analysis) -> Strings:
    """Return the colour of each shown object: that of its group in the finding, or grey."""
    labels = finding_labels(analysis)
    return group_colours(int(labels.max(initial=-1)) + 1, palette_of(analysis))[labels]


def finding_labels(analysis: Analysis) -> Ints:
    """Return the group of each shown object, -1 for none."""
    if analysis.finding is None:
        return np.full(len(analysis.system.shown), -1)
    return analysis.finding.labels


def family_colours(
    hierarchy: Hierarchy, groups: Ints | None = None, palette: Sequence[str] = SAFE
) -> Strings:
    """Return the colour of each family, in the order of families.

    Parameters
    ----------
    hierarchy : Hierarchy
        Clusters within clusters.
    groups : ndarray of int, shape (sites,), optional
        Group of each site, -1 for none: the family of the cluster that shares most sites with a
        group, if this is more than half of those in either, has the colour of that group.
    palette : sequence of str, optional
        Colours of groups 0, 1, ….

    Returns
    -------
    ndarray of str, shape (sites,)
        As #rrggbb; families without a group take the other colours in turn.

    Examples
    --------
    >>> from timme.hierarchy import grow
    >>> hierarchy = grow(3, np.array([[0, 1], [1, 2]]), np.array([1.0, 5.0]))
    >>> family_colours(hierarchy, np.array([-1, -1, 0]))
    array(['#e69f00', '#56b4e9', '#00008b'], dtype='<U7')
    """
    chosen = np.full(hierarchy.n_sites, -1)
    number = families(hierarchy)
    n_groups = 0 if groups is None else int(groups.max(initial=-1)) + 1
    for group in range(n_groups):
        members = np.asarray(groups == group)
        shared = hierarchy.sum_over_nodes(members)
        jaccard = shared / np.maximum(hierarchy.sizes + np.count_nonzero(members) - shared, 1)
        family = number[hierarchy.starts[jaccard.argmax()]]
        if jaccard.max(initial=0.0) > SAME and chosen[family] < 0:
            chosen[family] = group % len(palette)
    waiting, every = chosen < 0, np.arange(len(palette))
    free = every[n_groups:] if n_groups < len(palette) // 2 else every
    chosen[waiting] = free[np.arange(waiting.sum()) % len(free)]
    return frozen(np.array(palette)[chosen])


def cluster_colours(analysis: Analysis, cutoff: float) -> Strings:
    """Return the colour of each label of ``analysis.hierarchy.cut(cutoff)`` as #rrggbb."""
    colours = family_colours(analysis.hierarchy, finding_labels(analysis), palette_of(analysis))
    return frozen(colours[families_at(analysis.hierarchy, cutoff)])
