"""How sure a result is, as a table and for the page."""

from __future__ import annotations

from dataclasses import replace
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np

from timme.analysis import Analysis, Judged, evenly_chosen
from timme.confidence import ClusterRecord
from timme.fluctuations.sigma import Fluctuations
from timme.hierarchy.condensed import CondensedTree
from timme.hierarchy.joining import heights_between, heights_to_core
from timme.output import matrices, plots
from timme.output.axes import places_of
from timme.output.declared import PartFigure, PartOutput
from timme.output.dilution import LEGEND, VEILS
from timme.output.look import Look
from timme.output.tables import SURE, csv_text, runs_text, short_names, sure_columns, with_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_SITES = 500  # along a side of a matrix
_LETTERS = 100  # of the members in a sentence of the page, which lists them beside it


def confidence_csv(part: Judged, analysis: Analysis) -> str:
    """List every cluster that was judged, one per row.

    Parameters
    ----------
    part : Judged
        How sure each is.
    analysis : Analysis
        What was analysed.

    Returns
    -------
    str
        CSV. Cutoffs at which a cluster is complete and at which it joins its sibling, each with the
        bounds between which it lies 9 times of 10; a sentence, and the members.
    """
    unit, names = analysis.hierarchy.unit, short_names(analysis)
    bounds = [
        with_unit(text, unit)
        for text in ("formed", "formed low", "formed high", "joined", "joined low", "joined high")
    ]
    rows = []
    for record in part.confidence.records:
        members = runs_text(record.sites, names)
        cutoffs = (
            *(record.birth, *(record.birth_interval or ("", ""))),
            *(record.death, *(record.death_interval or ("", ""))),
        )
        first: list[object] = [record.cluster + 1, record.parent + 1 or "", record.size]
        said = sentence(record, analysis, names)
        rows.append([*first, *cutoffs, *sure_columns(record), said, members])
    head = ["cluster", "part of", "size"]
    return csv_text([*head, *bounds, *SURE, "in words", "members"], rows)


def sentence(
    record: ClusterRecord,
    analysis: Analysis,
    names: list[tuple[str, str]],
    *,
    letters: int | None = None,
) -> str:
    """Say how sure a cluster is.

    Parameters
    ----------
    record : ClusterRecord
        What is known of it.
    analysis : Analysis
        What was analysed.
    names : list of (str, str)
        Of shown objects, as :func:`timme.output.tables.short_names` makes them.
    letters : int, optional
        How long the list of members may be; as long as it is by default.

    Returns
    -------
    str
        One sentence without its full stop.
    """
    members = runs_text(record.sites, names)
    if letters is not None:
        members = shorten(members, letters, placeholder=" …")
    return record.sentence(members, analysis.hierarchy.unit, analysis.system.shown_name)


def _panel(part: Judged, analysis: Analysis) -> dict[str, Any]:
    """What the page shows: the banner, and of every judged cluster its node, look and sentence."""
    found, names = part.confidence, short_names(analysis)
    n_effective = found.sampling.n_effective
    return {
        "words": found.sampling.words,
        "colour": found.sampling.colour,
        "effective": None if np.isnan(n_effective) else float(n_effective),
        "levels": found.silhouettes.words,
        "standsOut": bool(found.silhouettes.standing_out),
        "least": found.tree.min_size,
        "columns": list(SURE),
        "looks": {
            look: {"words": words, "veil": VEILS[look][0] if look in VEILS else 0.0}
            for look, words in LEGEND.items()
        },
        "runs": _runs(found.tree),
        "clusters": [
            {
                "node": int(found.tree.nodes[record.cluster]),
                "support": record.support,
                "look": record.look,
                "trusted": record.trusted,
                "kind": record.kind,
                "words": sentence(record, analysis, names, letters=_LETTERS),
                "cells": [str(cell) for cell in sure_columns(record)],
                "birth": record.birth,
                "death": None if np.isinf(record.death) else record.death,
                "formed": record.birth_interval,
                "joined": record.death_interval,
            }
            for record in found.records
        ],
    }


def _runs(tree: CondensedTree) -> list[list[int]]:
    """First place in leaf order, place after the last, and record of every node that has one."""
    owners, whole = tree.owners, tree.hierarchy
    judged = np.flatnonzero(owners >= 0)
    starts = whole.starts[judged]
    runs: list[list[int]] = np.column_stack(
        [starts, starts + whole.sizes[judged], owners[judged]]
    ).tolist()
    return runs


def _joining(part: Judged, analysis: Analysis, look: Look) -> Axes:
    """The cutoff at which any two shown sites join: what the matrix of σ leaves to be guessed."""
    del part
    tree, places = analysis.shown_hierarchy, places_of(analysis, look.order)
    order = tree.order if places is None else places.order
    chosen = order[evenly_chosen(len(order), min(len(order), _MOST_SITES))]
    one, other = np.triu_indices(len(chosen), 1)
    heights = heights_between(tree, np.column_stack([chosen[one], chosen[other]]))
    index = np.column_stack([chosen[one], chosen[other]])
    common = np.zeros(len(index), np.int64)  # nobody asks for it
    pairs = Fluctuations(tree.n_sites, index, heights, common, tree.unit)
    symbol = replace(tree.quantity, symbol=f"{tree.quantity.symbol}c")
    lowest = float(tree.heights[0]) if len(tree.heights) else 0.0
    return matrices.sigma_matrix(pairs, order=order, places=places, quantity=symbol, lowest=lowest)


def _mobility(part: Judged, analysis: Analysis, look: Look) -> Axes:
    """The cutoff at which each shown site joins the core."""
    del part
    tree, places = analysis.shown_hierarchy, places_of(analysis, look.order)
    order = tree.order if places is None else places.order
    return plots.mobility(heights_to_core(tree)[order], places=places, quantity=tree.quantity)


_WITHOUT = "how sure it is was not asked for (confidence=True)"
JUDGED = PartOutput(
    Judged,
    figures=(
        PartFigure(
            "joining", _joining, _WITHOUT, caption="the cutoff at which two sites join", first=False
        ),
        PartFigure(
            "mobility",
            _mobility,
            _WITHOUT,
            caption="the cutoff at which each site joins the core",
            first=False,
        ),
    ),
    files={"confidence.csv": "how sure each cluster is, and why"},
    tables=lambda part, analysis, _: {"confidence.csv": confidence_csv(part, analysis)},
    panels={"confidence": _panel},
)
