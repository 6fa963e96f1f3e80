"""The scene of the interactive page (format 6): all that it shows, as plain data.

Arrays are texts: their type, a colon, and the base64 of their little-endian bytes. Words that
repeat are ``{"values": [...], "codes": array}``. The page cuts the hierarchy as
:meth:`timme.Hierarchy.cut` does, and decides nothing else.
"""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from timme import theory
from timme._arrays import Ints
from timme.analysis import tables
from timme.analysis.finding import Finding
from timme.analysis.result import Analysis, Body
from timme.ensemble.atoms import unit_label
from timme.ensemble.residues import is_nucleic, is_protein
from timme.hierarchy.condensed import condense
from timme.hierarchy.curves import count_clusters, suggest
from timme.hierarchy.stripes import families
from timme.output import axes, colours, space

FORMAT = 6
_EXACT = {"gaps", "levels"}  # which the page compares with cutoffs
_MOST_BINS = 400  # of a matrix
_MOST_ANGLES = 2_000  # of a body
_LOOKS = {"well supported": "solid", "tentative": "hatched", "not established": "faded"}

Scene = dict[str, Any]


def scene(analysis: Analysis) -> Scene:
    """Return what the page shows of a result.

    Parameters
    ----------
    analysis : Analysis
        With its finding.

    Returns
    -------
    dict
        Plain data that JSON can hold.
    """
    tree, whole, made = analysis.hierarchy, analysis.atom_hierarchy, analysis.made
    large = tables.min_size(analysis)
    suggested = suggest(tree, large=large, min_size=max(2, large))
    cutoff = suggested[-1][0] if suggested else float(np.median(np.append(tree.levels, 0.0)))
    if analysis.finding is not None and analysis.finding.cutoff is not None:
        cutoff = analysis.finding.cutoff
    shown = np.full(whole.n_sites, -1)
    shown[analysis.system.shown] = np.arange(tree.n_sites)
    length = {"value": made.length, "name": made.length_name} if made.length else None
    limits = axes.cutoff_limits(axes.count(analysis), cutoff)
    levels = {"order": tree.order, "gaps": tree.gaps, "levels": tree.levels}
    found: Scene = plain(
        {
            "format": FORMAT,
            "title": made.title,
            "colours": _colours(analysis),
            "quantity": _quantity(analysis),
            "length": length,
            "finding": told(analysis.finding, _size(analysis), cutoff),
            "groups": _groups(analysis),
            "sites": _sites(analysis),
            "shown": _shown(analysis),
            "tree": levels | {"family": families(tree)},
            "whole": {"order": whole.order, "gaps": whole.gaps, "shown": shown},
            "scales": _scales(analysis, suggested),
            "limits": limits,
            "clusters": _clusters(analysis),
            "curves": _curves(analysis, limits),
            "mobility": tree.core_heights(),
            "matrix": _matrix(analysis),
            "motion": _motion(analysis),
            "sampling": _sampling(analysis),
            "about": _about(analysis),
            "space": space.space(analysis) if analysis.system.coordinates.shape[1] else None,
        }
    )
    return found


def plain(value: Any, name: str = "") -> Any:
    """Return data in which arrays are texts, and unknown numbers None.

    Examples
    --------
    >>> plain({"order": np.array([1, -1]), "cutoff": float("nan")})
    {'order': 'i4:AQAAAP////8=', 'cutoff': None}
    """
    if isinstance(value, dict):
        return {key: plain(each, key) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return _pack(value, exact=name in _EXACT) if isinstance(value, np.ndarray) else value


def _pack(values: npt.NDArray[Any], *, exact: bool) -> Any:
    if values.dtype.kind in "UT":
        words, codes = np.unique(values, return_inverse=True)
        return {"values": words.tolist(), "codes": _pack(codes, exact=False)}
    kind = f"{values.dtype.kind}{values.dtype.itemsize}"
    kind = {"i8": "i4", "f8": "f8" if exact else "f4"}.get(kind, kind)
    raw = np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()
    return f"{kind}:{base64.b64encode(raw).decode('ascii')}"


def told(found: Finding | None, size: str, cutoff: float) -> Scene:
    """Return the words of a finding, and the cutoff at which the page opens."""
    if found is None:
        nothing = {"kind": "none", "sentence": "", "badge": "", "facts": [], "notes": []}
        return nothing | {"size": size, "cutoff": cutoff}
    words = {"kind": found.kind, "sentence": found.sentence, "badge": found.sure}
    return words | {"size": size, "facts": found.facts, "notes": found.notes, "cutoff": cutoff}


def _size(analysis: Analysis) -> str:
    system, known = analysis.system, analysis.confidence
    name = system.shown_name if system.shown_name == "Cα" else f"{system.shown_name}s"
    size = [f"{len(system.shown):,} {name}"]
    if system.n_snapshots:
        size.append(f"{system.n_snapshots:,} snapshot{'s' * (system.n_snapshots > 1)}")
    if known is not None and math.isfinite(known.sampling.n_effective):
        size.append(f"about {known.sampling.n_effective:.0f} independent samples")
    return " · ".join(size)


def _quantity(analysis: Analysis) -> Scene:
    quantity = analysis.hierarchy.quantity
    names = {"symbol": quantity.symbol, "cutoff": quantity.cutoff, "words": quantity.words}
    return names | {"unit": unit_label(quantity.unit), "isLength": quantity.is_length}


# ---- the finding in pictures ---------------------------------------------------------------------


def _colours(analysis: Analysis) -> Scene:
    palette, labels = colours.palette_of(analysis), colours.finding_labels(analysis)
    return {
        "core": palette[0],
        "rest": colours.REST,
        "palette": palette,
        "families": colours.family_colours(analysis.hierarchy, labels, palette),
        "heights": _ramp(64, 0.0, 1.0),
        "sizes": _ramp(5, 0.2, 0.92),
        "theory": "#888888",
    }


def _ramp(count: int, low: float, high: float) -> list[str]:
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colormaps["viridis"](value)) for value in np.linspace(low, high, count)]


def _groups(analysis: Analysis) -> Scene | None:
    """Groups of the finding, as the first picture and its table show them."""
    labels, found = colours.finding_labels(analysis), analysis.finding
    n_groups, bodies = int(labels.max(initial=-1)) + 1, analysis.bodies
    if found is None or n_groups == 0:
        return None
    paint = colours.group_colours(n_groups, colours.palette_of(analysis)).tolist()
    rows = []
    for group in range(n_groups):
        members = np.flatnonzero(labels == group)
        are_bodies = n_groups == len(bodies)
        fit, moves = _body(bodies[group]) if are_bodies else _inside(analysis, members)
        names = tables.runs(analysis.shown_atoms, members)
        row = {"colour": paint[group], "members": names, "size": str(len(members))}
        rows.append(row | {"fit": fit, "moves": moves})
    kind = found.kind if found.kind in {"groups", "network", "core"} else "bodies"
    return {"what": kind, "labels": labels, "rows": rows}


def _body(body: Body, unit: str = "Å") -> tuple[str, str]:
    moves = "" if body.motion is None else f"{body.angle:.0f}° against body {body.relative_to}"
    return "" if math.isnan(body.fit) else f"{body.fit:.2f} {unit}", moves


def _inside(analysis: Analysis, members: Ints) -> tuple[str, str]:
    """Median σ inside a group and to its siblings, where it is a cluster that was judged."""
    unit = unit_label(analysis.hierarchy.unit)
    for record in analysis.clusters:
        if record.separation is not None and np.array_equal(record.sites, members):
            both = record.separation.inside, record.separation.across
            inside, across = (f"±{value:.2g} {unit}".strip() for value in both)
            return inside, across
    return "", ""


def _scales(analysis: Analysis, suggested: list[tuple[float, str]]) -> list[Scene]:
    found = analysis.finding
    scales = [] if found is None or found.cutoff is None else [("whole finding", found.cutoff)]
    for cutoff, reason in reversed(suggested):
        plateau = reason.startswith("widest")
        scales.append(("widest plateau" if plateau else "paper's inflection", cutoff))
    return [{"label": label, "cutoff": cutoff} for label, cutoff in scales]


# ---- sites and clusters --------------------------------------------------------------------------


def _sites(analysis: Analysis) -> Scene:
    names = ("names", "elements", "resnames", "resids", "icodes", "chains")
    columns = {name: getattr(analysis.system.sites, name) for name in names}
    return {"objects": analysis.system.site_objects} | columns


def _shown(analysis: Analysis) -> Scene:
    system, atoms, places = analysis.system, analysis.shown_atoms, axes.places_of(analysis)
    numbers = np.char.add(atoms.resids.astype(np.str_), atoms.icodes)
    named = len({*zip(atoms.chains.tolist(), numbers.tolist(), strict=True)}) == len(numbers)
    polymer = is_protein(atoms) | is_nucleic(atoms)
    return {
        "word": "residues" if polymer.any() else f"{system.shown_name}s",
        "label": places.label,
        "minSize": tables.min_size(analysis),
        "names": (numbers if named else system.names[system.shown]).tolist(),
        "chains": atoms.chains if named else np.full(len(numbers), ""),
        "sites": system.object_sites[system.shown],
        "order": places.order,
        "numbers": places.numbers,
        "letters": _letters(atoms.resnames[places.order]) if polymer.mean() > 0.5 else None,
    }


def _letters(names: npt.NDArray[np.str_]) -> str:
    """Write residues as one letter each."""
    from gemmi import find_tabulated_residue

    found = [find_tabulated_residue(name).one_letter_code for name in names.tolist()]
    return "".join(letter.strip().upper() or "X" for letter in found)


def _clusters(analysis: Analysis) -> list[Scene]:
    """Clusters of the condensed tree: each is a run of leaf order between two cutoffs."""
    tree, large = analysis.hierarchy, max(2, tables.min_size(analysis))
    condensed = condense(tree, min_size=large)
    rows = []
    for place, (node, record) in enumerate(zip(condensed.nodes, analysis.clusters, strict=True)):
        judged, separation = not math.isnan(record.support), record.separation
        own = (condensed.owners == place) & (tree.sizes >= large)
        start = int(tree.starts[node])
        run = {"start": start, "stop": start + int(tree.sizes[node])}
        forms, joins = float(tree.births[own].min()), float(tree.deaths[node])
        words = {
            "members": tables.runs(analysis.shown_atoms, record.sites),
            "support": f"{100 * record.support:.0f} %" if judged else "",
            "separation": f"{separation.ratio:.1f}×" if judged and separation else "",
            "look": _LOOKS[record.sure] if judged else "plain",
            "verdict": f"{record.sure.capitalize()}." if judged else "",
        }
        rows.append(run | {"forms": forms, "joins": joins} | words)
    return rows


def _curves(analysis: Analysis, limits: tuple[float, float]) -> Scene:
    tree, large = analysis.hierarchy, tables.min_size(analysis)
    counted = count_clusters(tree, large=large, cutoffs=tree.levels)
    chance = analysis.confidence and analysis.confidence.chance
    drawn: Scene = {"theory": None, "chance": None}
    if analysis.made.theory and analysis.system.n_snapshots == 2:
        grid = np.linspace(*limits, 200)
        joined = theory.join_probability(grid, link_length=analysis.made.length or 1.0)
        drawn["theory"] = {"cutoffs": grid, "fraction": theory.tail_fraction(joined, large=large)}
    if chance:
        high = np.quantile(chance.largest, 0.95, axis=0)
        drawn["chance"] = {"cutoffs": chance.cutoffs, "largest": high}
    return drawn | {
        "large": large,
        "fraction": counted.large_fraction,
        "sizes": counted.sizes,
        "sizeFractions": list(counted.size_fractions),
        "largest": counted.largest,
        "mean": counted.mean_size,
        "number": counted.n_clusters,
    }


def _matrix(analysis: Analysis) -> Scene | None:
    """σ of pairs of shown objects in the order of the axis; of many objects, means of bins."""
    measured, system = analysis.fluctuations, analysis.system
    if measured is None:
        return None
    order = axes.places_of(analysis).order
    size = min(len(order), _MOST_BINS)
    bins = np.full(len(system.names), -1)
    bins[system.shown[order]] = np.arange(len(order)) * size // len(order)
    ends = np.sort(bins[measured.pairs], axis=1)
    known = (ends[:, 0] >= 0) & (ends[:, 0] < ends[:, 1]) & np.isfinite(measured.sigma)
    if not known.any():
        return None
    cells, place = np.unique(ends[known] @ [size, 1], return_inverse=True)
    means = np.bincount(place, measured.sigma[known]) / np.bincount(place)
    values, top = np.full(size * size, 255, dtype=np.uint8), float(means.max()) or 1.0
    values[cells] = np.rint(254 * means / top)
    upper = values.reshape(size, size)[np.triu_indices(size, 1)]
    name = f"{analysis.hierarchy.quantity.symbol} of pairs"
    return {"name": name, "size": size, "top": top, "values": upper}


# ---- motion, sampling, origin --------------------------------------------------------------------


def _motion(analysis: Analysis) -> Scene | None:
    moving = [(k, body, body.motion) for k, body in enumerate(analysis.bodies) if body.motion]
    if not moving:
        return None
    angles, facts, unit = [], [], unit_label(analysis.system.unit)
    for k, body, hinge in moving:
        count = len(hinge.angles)
        some = np.unique(np.linspace(0, max(count - 1, 0), min(count, _MOST_ANGLES)).astype(int))
        drawn = {"frames": hinge.frames[some] + 1, "values": hinge.angles[some]}
        angles.append({"body": k} | drawn)
        turns = f"{hinge.range:.0f}° range, {hinge.rms:.0f}° rms against body {body.relative_to}"
        known = f"; axis known to ±{hinge.axis_cone:.0f}°" if hinge.axis_cone > 0 else ""
        text = f"{turns}; slides {tables.slide(hinge):.1f} {unit}{known}"
        facts.append([f"body {body.name}", text if count else hinge.kind])
    arrows = [space.axis(analysis, k, body, hinge) for k, body, hinge in moving]
    return {"axes": [arrow for arrow in arrows if arrow], "angles": angles, "facts": facts}


def _sampling(analysis: Analysis) -> Scene:
    known = analysis.confidence
    facts = [["snapshots", f"{analysis.system.n_snapshots:,}"]]
    if known is not None and len(known.sampling.replicas) > 1:
        facts.append(["runs", ", ".join(f"{n:,} snapshots" for n in known.sampling.replicas)])
    if known is not None and math.isfinite(known.sampling.n_effective):
        count = f"about {known.sampling.n_effective:.2g} of the slowest motion"
        facts.append(["independent samples", f"{count}; 30 are enough for exact cutoffs"])
    return {"facts": facts}


def _about(analysis: Analysis) -> Scene:
    made, fields = analysis.made, type(analysis.made.settings).model_fields
    inputs = [("input", f"{each.name} (SHA-256 {each.sha256})") for each in made.sources]
    rows = [("version", made.version), ("command", made.command), *inputs]
    rows += [("objects", made.objects), ("pairs", made.pairs)]
    options = [
        (fields[name].description or name, str(getattr(made.settings, name)))
        for name in made.given
        if name in fields
    ]
    return {"rows": [row for row in rows if row[1]], "notes": analysis.notes, "options": options}
