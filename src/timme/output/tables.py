"""Tables and trees: results as text that spreadsheets, pandas and SciPy read."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from timme._arrays import Ints
from timme._files import write_atomically
from timme.analysis import Analysis, Judged
from timme.confidence import ClusterRecord
from timme.hierarchy.joining import heights_to_core
from timme.hierarchy.tree import Hierarchy
from timme.output.colours import WIDE, colouring, labels_of_objects
from timme.settings.values import LARGE, MIN_SIZE
from timme.statistics import Curves, curves

FILES = {  # what each lists
    "clusters.csv": "clusters at each suggested cutoff",
    "sites.csv": "every object with its cluster at each suggested cutoff",
    "levels.csv": "all curves at every level",
    **dict.fromkeys(("hierarchy.json", "hierarchy.nwk"), "the whole tree"),
    **dict.fromkeys(("linkage.npy", "linkage.csv"), "the tree as SciPy's linkage matrix"),
}
SURE = ("support", "separation", "excess", "trusted", "kind", "hangs on")
_NUMBERED = re.compile(r"(-?\d+)[A-Za-z]?")


def write_tables(
    analysis: Analysis,
    folder: str | Path,
    cutoffs: Sequence[float],
    *,
    min_size: int = MIN_SIZE,
    large: int = LARGE,
    palette: Sequence[str] = WIDE,
) -> tuple[Path, ...]:
    """Write all tables of an analysis.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    folder : str or Path
        An existing folder.
    cutoffs : sequence of float
        Where to list the clusters, in the units of the heights.
    min_size : int, optional
        Clusters of fewer shown objects are not listed.
    large : int, optional
        The R of the fraction in clusters of R or more.
    palette : sequence of str, optional
        Colours of families 1, 2, ….

    Returns
    -------
    tuple of Path
        The files: ``clusters.csv``, ``sites.csv``, ``levels.csv``, ``hierarchy.json``,
        ``hierarchy.nwk``, ``linkage.csv`` and ``linkage.npy``.
    """
    counted = curves(analysis.shown_hierarchy, large=large)
    linkage = analysis.hierarchy.to_linkage()
    binary = io.BytesIO()
    np.save(binary, linkage, allow_pickle=False)
    contents: dict[str, str | bytes] = {
        "clusters.csv": clusters_csv(analysis, cutoffs, min_size=min_size, palette=palette),
        "sites.csv": sites_csv(analysis, cutoffs),
        "levels.csv": levels_csv(counted, length=analysis.length),
        "hierarchy.json": hierarchy_json(analysis),
        "hierarchy.nwk": analysis.hierarchy.to_newick(analysis.system.names.tolist()),
        "linkage.csv": csv_text(
            ["first", "second", with_unit("height", analysis.hierarchy.unit), "objects"],
            ([int(a), int(b), height, int(size)] for a, b, height, size in linkage),
        ),
        "linkage.npy": binary.getvalue(),
    }
    return tuple(write_atomically(Path(folder) / name, text) for name, text in contents.items())


def clusters_csv(
    analysis: Analysis,
    cutoffs: Sequence[float],
    *,
    min_size: int = MIN_SIZE,
    palette: Sequence[str] = WIDE,
) -> str:
    """List the coloured clusters at each cutoff, one per row.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    cutoffs : sequence of float
        In the units of the heights.
    min_size : int, optional
        Clusters of fewer shown objects are not listed.
    palette : sequence of str, optional
        Colours of families 1, 2, ….

    Returns
    -------
    str
        CSV. Cluster 1 is the core; size counts shown objects, objects all of them; formed and
        joined are the cutoffs between which the cluster is as it is; members are runs of shown
        objects. Of clusters that were judged, support, separation Q and whether they are trusted.
    """
    shown = analysis.shown_hierarchy
    names = short_names(analysis)
    rows: list[list[object]] = []
    for cutoff in cutoffs:
        found = colouring(analysis, cutoff, min_size=min_size, palette=palette)
        labels, (formed, joined) = shown.cut(cutoff).labels, _lives(shown, cutoff)
        objects = np.bincount(found.labels[found.labels >= 0], minlength=len(found.sizes))
        judged = analysis.part(Judged)
        records = None if judged is None else judged.record_at(shown, cutoff)
        for label, (size, colour) in enumerate(zip(found.sizes, found.colours, strict=True)):
            members = runs_text(np.flatnonzero(labels == label), names)
            life = (formed[label], joined[label])
            row = [cutoff, label + 1, int(size), int(objects[label]), colour, *life, members]
            rows.append(row if records is None else [*row, *sure_columns(records[label])])
    unit = shown.unit
    header = [with_unit("cutoff", unit), "cluster", "size", "objects", "colour"]
    header += [with_unit("formed", unit), with_unit("joined", unit), "members"]
    return csv_text([*header, *SURE] if analysis.part(Judged) else header, rows)


def sure_columns(record: ClusterRecord | None) -> list[object]:
    """Return what is told of how sure a cluster is.

    Parameters
    ----------
    record : ClusterRecord or None
        None for a cluster that is too small to be judged.

    Returns
    -------
    list
        Support, separation, excess motion, whether it is trusted, what it is, and whether it hangs
        on one site or pair; empty where nothing is known.
    """
    if record is None:
        return [""] * len(SURE)
    moving = record.separation
    return [
        _rounded(record.support),
        _rounded(None if moving is None else moving.ratio),
        _rounded(None if moving is None else moving.excess),
        "yes" if record.trusted else "no",
        record.kind,
        "" if record.bridge is None else "one pair" if len(record.bridge.sites) > 1 else "one site",
    ]


def _rounded(value: float | None) -> object:
    return "" if value is None or np.isnan(value) else float(f"{value:.3g}")


def sites_csv(analysis: Analysis, cutoffs: Sequence[float]) -> str:
    """List all objects with their cluster at each cutoff, one per row.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    cutoffs : sequence of float
        In the units of the heights.

    Returns
    -------
    str
        CSV. The site label is the place of a shown object in the dilution plot by site label, and
        joins core the cutoff at which it joins the core: how mobile it is.
        Clusters of any size are numbered from 1, the core; 0 has no shown object in it.
    """
    sites, site = analysis.system.sites, analysis.system.object_sites
    site_labels = np.full(len(analysis.system.names), "", dtype=np.dtype("<U20"))
    ranked = analysis.system.shown[analysis.shown_hierarchy.order]
    site_labels[ranked] = np.arange(1, len(ranked) + 1).astype(str)
    columns: dict[str, Iterable[object]] = {
        "object": range(1, len(analysis.system.names) + 1),
        "name": analysis.system.names,
        "chain": sites.chains[site],
        "residue": sites.resnames[site],
        "number": np.char.add(sites.resids[site].astype(str), sites.icodes[site]),
        "site label": site_labels,
    }
    mobility = np.full(len(analysis.system.names), "", dtype=object)
    mobility[analysis.system.shown] = heights_to_core(analysis.shown_hierarchy).tolist()
    columns[with_unit("joins core", analysis.hierarchy.unit)] = mobility.tolist()
    for cutoff in cutoffs:
        name = f"cluster at {cutoff:g} {analysis.hierarchy.unit}".rstrip()
        columns[name] = labels_of_objects(analysis, cutoff) + 1
    return csv_text(list(columns), zip(*columns.values(), strict=True))


def levels_csv(counted: Curves, *, length: float | None = None) -> str:
    """List every curve at every level.

    Parameters
    ----------
    counted : Curves
        Curves at all levels.
    length : float, optional
        The length a of a column of cutoffs divided by it.

    Returns
    -------
    str
        CSV, one level per row; the first, -inf, is below all levels.
    """
    columns = {with_unit("cutoff", counted.quantity.unit): counted.cutoffs.tolist()}
    if length is not None:
        columns["cutoff / a"] = (counted.cutoffs / length).tolist()
    columns |= {
        "clusters": counted.n_clusters.tolist(),
        "largest": counted.largest.tolist(),
        "mean size": counted.mean_size.tolist(),
    }
    for size, values in zip(counted.sizes, counted.size_fractions, strict=True):
        columns[f"P(r = {size})"] = values.tolist()
    columns[f"P(r >= {counted.large})"] = counted.large_fraction.tolist()
    columns["largest fraction"] = counted.largest_fraction.tolist()
    return csv_text(list(columns), zip(*columns.values(), strict=True))


def hierarchy_json(analysis: Analysis) -> str:
    """Return the hierarchy of all objects as JSON.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.

    Returns
    -------
    str
        Nodes are the objects, from 0, followed by the merges. ``parents`` has one entry per node,
        -1 for a root; ``heights`` one per merge; ``order`` lists the objects in leaf order;
        ``shown`` those that are drawn and counted.
    """
    hierarchy = analysis.hierarchy
    content: dict[str, object] = {
        "format": "timme-hierarchy",
        "version": 1,
        "quantity": hierarchy.quantity.symbol,
        "unit": hierarchy.unit,
        "names": analysis.system.names.tolist(),
        "parents": hierarchy.parents.tolist(),
        "heights": hierarchy.heights.tolist(),
        "order": hierarchy.order.tolist(),
        "shown": analysis.system.shown.tolist(),
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n"


def _lives(hierarchy: Hierarchy, cutoff: float) -> tuple[list[float], list[float]]:
    """Return the cutoffs between which each cluster at a cutoff is as it is, by label."""
    births, deaths = hierarchy.births, hierarchy.deaths
    never = np.isinf(deaths)  # roots, also where the cutoff is infinite
    alive = np.flatnonzero((births <= cutoff) & ((deaths > cutoff) | never))
    labels = hierarchy.cut(cutoff).labels[hierarchy.order[hierarchy.starts[alive]]]
    ranked = alive[np.argsort(labels)]
    return births[ranked].tolist(), deaths[ranked].tolist()


def short_names(analysis: Analysis) -> list[tuple[str, str]]:
    """Return what each shown object is called in a list.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.

    Returns
    -------
    list of (str, str)
        Its chain, and its number or name.
    """
    sites, site = analysis.system.sites, analysis.system.object_sites[analysis.system.shown]
    numbers = np.char.add(sites.resids[site].astype(str), sites.icodes[site]).tolist()
    chains = sites.chains[site].tolist()
    named = list(zip(chains, numbers, strict=True))
    own = analysis.recipe.kind == "groups"
    if own or len(set(named)) < len(named):  # several objects to a residue
        return [("", name) for name in analysis.system.names[analysis.system.shown].tolist()]
    return named


def runs_text(members: Ints, names: list[tuple[str, str]]) -> str:
    """Write members as runs of neighbours: ``A 5-32 40, B 7-9``.

    A run goes on with the next number, or with the same and another letter. Names that are no
    numbers follow one another as they stand.

    Parameters
    ----------
    members : ndarray of int
        Shown objects in ascending order.
    names : list of (str, str)
        As made by :func:`short_names`.

    Returns
    -------
    str
        Chains, and the first and last of each run.
    """
    text = ""
    last = object()
    listed = members.tolist()
    breaks = [
        place
        for place, (one, other) in enumerate(pairwise(listed), start=1)
        if other != one + 1 or not _follows(names[one], names[other])
    ]
    for run in np.split(members, breaks):
        (name, first), (_, stop) = names[run[0]], names[run[-1]]
        if name != last:
            text += f"{', ' if text else ''}{name}"
        text += f" {first}" if len(run) == 1 else f" {first}-{stop}"
        last = name
    return text.strip()


def _follows(one: tuple[str, str], other: tuple[str, str]) -> bool:
    numbers = [_NUMBERED.fullmatch(name) for _, name in (one, other)]
    if one[0] != other[0] or None in numbers:
        return one[0] == other[0]
    before, after = (int(found[1]) for found in numbers if found)
    return after - before in {0, 1}


def with_unit(name: str, unit: str) -> str:
    """Head a column with its unit, where it has one.

    Parameters
    ----------
    name, unit : str
        What is in the column, and its unit.

    Returns
    -------
    str
        Such as ``cutoff (Å)``.
    """
    return f"{name} ({unit})" if unit else name


def csv_text(header: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Write a table as text.

    Parameters
    ----------
    header : sequence of str
        Names of the columns.
    rows : iterable of iterables
        What is in them.

    Returns
    -------
    str
        CSV.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()
