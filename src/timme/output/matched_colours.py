"""Colours of two results: those of the second are the colours of what they match in the first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from timme._arrays import Bools, Ints, Strings, frozen
from timme.compare import Comparison
from timme.compare.clusters import match_one_to_one
from timme.hierarchy.tree import Hierarchy
from timme.order import choose_colours, families_at, largest_of_families
from timme.output.colours import WIDE, family_colours, paint

_SAME_LINE = 0.5  # Jaccard of the largest clusters of two lines of descent


def matched_colours(compared: Comparison, *, palette: Sequence[str] = WIDE) -> Strings:
    """Give families of the second hierarchy the colours of the clusters of the first they match.

    Matched where both are cut, colours follow descent in both from there, up and down. Families
    that have no part in this are matched by the largest cluster that is ever alive in each, if the
    two share more than half of the sites that are in either.

    Parameters
    ----------
    compared : Comparison
        Two hierarchies, with their clusters matched at one pair of cutoffs.
    palette : sequence of str, optional
        Colours of families 1, 2, ….

    Returns
    -------
    ndarray of str, shape (sites,)
        Colour of each family of the second. Those without a partner take colours that no coloured
        cluster of the first has where it is cut, as long as there are any; and that no family of
        the first has at any cutoff, as long as there are any which no neighbour has.
    """
    one, other, partners = (
        compared.clusters.first,
        compared.clusters.second,
        compared.clusters.partners,
    )
    of_first = choose_colours(compared.first, len(palette))
    held = of_first[families_at(compared.first, one.cutoff)]
    own = families_at(compared.second, other.cutoff)
    matched = partners >= 0
    given = np.full(compared.n_sites, -1)
    given[own[matched]] = held[partners[matched]]
    in_use = held[one.sizes >= compared.clusters.min_size]
    # A colour in use where the first is cut belongs to the partner of what has it there.
    free = ~np.isin(of_first, in_use), given < 0
    lines = _match_lines(compared, *free)
    given[lines >= 0] = of_first[lines[lines >= 0]]
    drawn = compared.first.sizes[largest_of_families(compared.first)] >= compared.clusters.min_size
    chosen = choose_colours(
        compared.second, len(palette), given=given, avoided=in_use, spared=of_first[drawn]
    )
    return paint(chosen, palette)


def cluster_colours(
    compared: Comparison, *, palette: Sequence[str] = WIDE
) -> tuple[Strings, Strings]:
    """Return the colours of the clusters of both, by label: partners have the same.

    Parameters
    ----------
    compared : Comparison
        Two hierarchies, with their clusters matched at one pair of cutoffs.
    palette : sequence of str, optional
        Colours of families 1, 2, ….

    Returns
    -------
    first : ndarray of str, shape (coloured clusters of the first,)
        As #rrggbb; clusters too small to be coloured are left out.
    second : ndarray of str, shape (coloured clusters of the second,)
        Likewise.
    """
    one, other = compared.clusters.first, compared.clusters.second
    least = compared.clusters.min_size
    held = families_at(compared.first, one.cutoff)[one.sizes >= least]
    own = families_at(compared.second, other.cutoff)[other.sizes >= least]
    return (
        frozen(family_colours(compared.first, palette=palette)[held]),
        frozen(matched_colours(compared, palette=palette)[own]),
    )


def _match_lines(compared: Comparison, first: Bools, second: Bools) -> Ints:
    """Match some families of both by their largest clusters: of the second's each, or -1."""
    members = [
        _members_of_families(hierarchy, chosen, compared.clusters.min_size)
        for hierarchy, chosen in ((compared.first, first), (compared.second, second))
    ]
    shared = (members[0] @ members[1].T).tocoo()
    rows, columns = shared.coords
    sizes = [np.asarray(each.sum(axis=1)) for each in members]
    jaccard = shared.data / (sizes[0][rows] + sizes[1][columns] - shared.data)
    ranked = np.lexsort((columns, rows, -jaccard))
    ranked = ranked[jaccard[ranked] > _SAME_LINE]
    return match_one_to_one(rows[ranked], columns[ranked], compared.n_sites)


def _members_of_families(hierarchy: Hierarchy, chosen: Bools, min_size: int) -> sparse.csr_array:
    """Return which sites are in the largest cluster of each family: (families, sites).

    A site is in few of them, as whoever changes family gets into a cluster twice as large.
    """
    largest = largest_of_families(hierarchy)
    sizes = np.where(chosen, hierarchy.sizes[largest], 0)
    sizes[sizes < min_size] = 0
    ends = np.cumsum(sizes)
    labels = np.arange(ends[-1]) + np.repeat(hierarchy.starts[largest] + sizes - ends, sizes)
    offsets = np.append(0, ends)
    shape = hierarchy.n_sites, hierarchy.n_sites
    ones = np.ones(len(labels), np.int64)
    return sparse.csr_array((ones, hierarchy.order[labels], offsets), shape=shape)
