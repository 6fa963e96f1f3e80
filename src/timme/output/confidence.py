"""How sure a result is, as a table and for the page."""

from __future__ import annotations

import json
from dataclasses import replace
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np

from timme.analysis import Analysis, Judged
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


def confidence_json(part: Judged, analysis: Analysis) -> str:
    """Tell how sure each cluster is, for programs.

    Parameters
    ----------
    part : Judged
        How sure each is.
    analysis : Analysis
        What was analysed.

    Returns
    -------
    str
        JSON: sampling, levels, and one record per judged cluster; null where nothing is known.
        Members are shown objects, counted from 0; what a cluster hangs on, all objects.
    """
    found, names = part.confidence, short_names(analysis)
    sampling = found.sampling
    told = {
        "unit": analysis.hierarchy.unit,
        "sampling": {
            "snapshots": sampling.n_snapshots,
            "effective": _known(sampling.n_effective),
            "replicas": list(sampling.replicas),
            "colour": sampling.colour,
            "words": sampling.words,
        },
        "levels": [
            {"cutoff": level.cutoff, "silhouette": level.silhouette, "sizes": list(level.sizes)}
            for level in found.silhouettes.levels
        ],
        "convergence": None if found.convergence is None else found.convergence.words,
        "clusters": [_as_json(record, analysis, names) for record in found.records],
    }
    return json.dumps(told, ensure_ascii=False) + "\n"


def _as_json(
    record: ClusterRecord, analysis: Analysis, names: list[tuple[str, str]]
) -> dict[str, Any]:
    moving, bridge = record.separation, record.bridge
    return {
        "cluster": record.cluster + 1,
        "part_of": record.parent + 1 or None,
        "members": record.sites.tolist(),
        "formed": _known(record.birth),
        "formed_between": record.birth_interval,
        "joined": _known(record.death),
        "joined_between": record.death_interval,
        "support": record.support,
        "separation": None if moving is None else _known(moving.ratio),
        "excess": None if moving is None else _known(moving.excess),
        "excess_low": None if moving is None else _known(moving.excess_low),
        "trusted": record.trusted,
        "kind": record.kind,
        "hangs_on": None if bridge is None else list(bridge.sites),
        "parts_without": None if bridge is None else list(bridge.sizes),
        "words": sentence(record, analysis, names),
    }


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def convergence_csv(part: Judged) -> str:
    """List what parts of the trajectory say, one length per row.

    Parameters
    ----------
    part : Judged
        How sure a result is.

    Returns
    -------
    str
        CSV: the share of the trajectory, from which end, σ over that of all, and how much of each
        trusted cluster is found; of replicas, without which.
    """
    found = part.confidence.convergence
    if found is None:
        return ""
    clusters = [f"cluster {record.cluster + 1}" for record in part.confidence.records]
    clusters = [
        name
        for name, record in zip(clusters, part.confidence.records, strict=True)
        if record.trusted
    ]
    rows = [
        [f"{share:.4g}", end, f"{ratio:.4g}", *(f"{value:.4g}" for value in overlaps)]
        for end, ratios, rows in (
            ("beginning", found.forward, found.forward_overlaps),
            ("end", found.backward, found.backward_overlaps),
        )
        for share, ratio, overlaps in zip(found.fractions, ratios, rows, strict=True)
    ]
    for replica, overlaps in enumerate(found.left_out, start=1):
        rows.append(["", f"without replica {replica}", "", *(f"{v:.4g}" for v in overlaps)])
    return csv_text(["share", "from", "σ over that of all", *clusters], rows)


def _convergence(part: Judged, analysis: Analysis, look: Look) -> Axes:
    """σ and trusted clusters against the length of the trajectory."""
    del look
    found = part.confidence.convergence
    assert found is not None  # noqa: S101, as `suits` asks
    return plots.convergence(found, symbol=analysis.hierarchy.quantity.symbol)


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
    name = analysis.system.shown_name
    several = f"{name}s" if name.isascii() and name.islower() else name  # sites, residues; but Cα
    return record.sentence(members, analysis.hierarchy.unit, several)


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
    chosen = order[matrices.one_of_each_pixel(len(order))]
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


def _converges(analysis: Analysis) -> bool:
    part = analysis.part(Judged)
    return part is not None and part.confidence.convergence is not None


def _tables(part: Judged, analysis: Analysis) -> dict[str, str]:
    made = {
        "confidence.csv": confidence_csv(part, analysis),
        "confidence.json": confidence_json(part, analysis),
        "convergence.csv": convergence_csv(part),
    }
    return {name: text for name, text in made.items() if text}


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
        PartFigure(
            "convergence",
            _convergence,
            "how sure it is was not asked for, or cannot be told (confidence=True)",
            caption="what parts of the trajectory say",
            first=False,
            suits=_converges,
        ),
    ),
    files={
        "confidence.csv": "how sure each cluster is, and why",
        "confidence.json": "the same for programs",
        "convergence.csv": "what parts of the trajectory say",
    },
    tables=lambda part, analysis, _: _tables(part, analysis),
    panels={"confidence": _panel},
)
