"""Tables of two results side by side: which cluster is which, and agreement over both cutoffs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from timme.analysis import Analysis
from timme.compare import Comparison
from timme.output.colours import WIDE
from timme.output.common import NAMES, Names
from timme.output.matched_colours import cluster_colours
from timme.output.tables import csv_text, runs_text, short_names


def matched_csv(
    first: Analysis,
    compared: Comparison,
    *,
    names: Names = NAMES,
    palette: Sequence[str] = WIDE,
) -> str:
    """List the coloured clusters of both with their partners, one per row.

    Parameters
    ----------
    first : Analysis
        The first result, narrowed to the common sites, which are named as it names them.
    compared : Comparison
        Two hierarchies, with their clusters matched at one pair of cutoffs.
    names : tuple of str, optional
        What the two are called.
    palette : sequence of str, optional
        Colours of families 1, 2, ….

    Returns
    -------
    str
        CSV. The partner has the highest Jaccard of all clusters of the other result; matched is the
        one-to-one partner, whose colour is the same. Members are runs of common sites.
    """
    found, called = compared.clusters, short_names(first)
    inverse = np.full(found.first.n_clusters, -1)
    matched = found.partners >= 0
    inverse[found.partners[matched]] = np.flatnonzero(matched)
    colours = cluster_colours(compared, palette=palette)
    rows: list[list[object]] = []
    for side, (partition, other, best, one_to_one) in enumerate(
        (
            (found.first, found.second, found.first_best, inverse),
            (found.second, found.first, found.second_best, found.partners),
        )
    ):
        for label, colour in enumerate(colours[side].tolist()):
            pair, own = best[label], one_to_one[label]
            partner = int(found.pairs[pair, 1 - side])
            rows.append(
                [
                    names[side],
                    label + 1,
                    int(partition.sizes[label]),
                    colour,
                    partner + 1,
                    int(other.sizes[partner]),
                    int(found.shared[pair]),
                    float(found.jaccard[pair]),
                    int(own) + 1 if own >= 0 else "",
                    runs_text(partition.members(label), called),
                ]
            )
    header = "result,cluster,size,colour,partner,partner size,shared,jaccard,matched,members"
    return csv_text(header.split(","), rows)


def agreement_csv(compared: Comparison, *, names: Names = NAMES) -> str:
    """List the adjusted Rand index at every pair of cutoffs.

    Parameters
    ----------
    compared : Comparison
        Two hierarchies of the same sites.
    names : tuple of str, optional
        What the two are called.

    Returns
    -------
    str
        CSV, a matrix: cutoffs of the first down, those of the second across.
    """
    corner = f"{names[0]} down and {names[1]} across"
    columns = zip(compared.first_cutoffs.tolist(), compared.rand.round(6).tolist(), strict=True)
    header = [corner, *map(str, compared.second_cutoffs.tolist())]
    return csv_text(header, ([cutoff, *row] for cutoff, row in columns))


def best_cutoffs_csv(compared: Comparison, *, names: Names = NAMES) -> str:
    """List, for every cutoff of each result, the cutoff of the other that agrees most.

    Parameters
    ----------
    compared : Comparison
        Two hierarchies of the same sites.
    names : tuple of str, optional
        What the two are called.

    Returns
    -------
    str
        CSV. Of equally good cutoffs of the other, the lowest; variation is that of information.
    """
    rows: list[list[object]] = []
    first, second = compared.first_cutoffs, compared.second_cutoffs
    for name, cutoffs, others, rand, variation in (
        (names[0], first, second, compared.rand, compared.variation),
        (names[1], second, first, compared.rand.T, compared.variation.T),
    ):
        best = rand.argmax(axis=1)
        every = np.arange(len(cutoffs))
        columns = cutoffs, others[best], rand[every, best], variation[every, best]
        rows += ([name, *row] for row in np.column_stack(columns).tolist())
    return csv_text(["result", "cutoff", "best cutoff", "adjusted Rand", "variation (nats)"], rows)
