"""The interactive page of a result as one file, and its scene: what it shows, as plain data.

Arrays are texts: their type, a colon, and the base64 of their little-endian bytes. Words that
repeat are ``{"values": [...], "codes": array}``. The page cuts the hierarchy as
:meth:`timme.Hierarchy.cut` does, and decides nothing else.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import math
import re
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from timme import theory
from timme._arrays import Ints
from timme.analysis import tables
from timme.analysis.phrases import length, samples, sigma
from timme.analysis.result import Analysis, Comparison
from timme.ensemble.atoms import unit_label
from timme.ensemble.residues import is_nucleic, is_protein
from timme.hierarchy.condensed import condense
from timme.hierarchy.curves import count_clusters, suggest
from timme.hierarchy.stripes import families
from timme.output import plots, space, style
from timme.output.summary import sampling

FORMAT = 6
_EXACT = {"gaps", "levels"}  # which the page compares with cutoffs
_MOST_BINS = 400  # of a matrix
_LOOKS = {"well supported": "solid", "tentative": "hatched", "not established": "faded"}
MISSING = (
    "the interactive page is not part of this installation, because npm could not be reached when "
    "it was built: install again with access to npm (from a checkout: make page)"
)

Scene = dict[str, Any]


def page_part(name: str) -> str:
    """Return the text of one file of the built page."""
    part = files("timme").joinpath("page", name)
    if not part.is_file():
        raise FileNotFoundError(MISSING)
    return part.read_text(encoding="utf-8")


def is_built() -> bool:
    """Return whether the page was built when the package was installed."""
    return files("timme").joinpath("page", "report.html").is_file()


def scene_json(result: Analysis | Comparison) -> str:
    """Return the scene of a result as JSON."""
    return json.dumps(scene(result), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def report_html(result: Analysis | Comparison) -> str:
    """Return the page of a result as one file.

    Parameters
    ----------
    result : Analysis or Comparison
        With its finding.

    Returns
    -------
    str
        HTML. Its policy lets the script and the style in it run, and nothing be fetched.
    """
    names = ("page.js", "loader.js", "page.css")
    script, loader, style = (page_part(name) for name in names)
    scripts = f"script-src {_hash(script)} {_hash(loader)}"
    policy = f"default-src 'none'; {scripts}; style-src {_hash(style)}; img-src data: blob:"
    parts = {
        "POLICY": f"{policy}; base-uri 'none'; form-action 'none'",
        "TITLE": html.escape(result.made.title or "TIMME"),
        "STYLE": style,
        "SCENE": _shrink(scene_json(result)),
        "SCRIPT": _shrink(script),
        "LOADER": loader,
    }
    return re.sub(r"%([A-Z]+)%", lambda found: parts[found[1]], page_part("report.html"))


def _shrink(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode("ascii")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


# ---- the scene -----------------------------------------------------------------------------------


def scene(result: Analysis | Comparison) -> Scene:
    """Return what the page shows of a result.

    Parameters
    ----------
    result : Analysis or Comparison
        With its finding.

    Returns
    -------
    dict
        Plain data that JSON can hold.
    """
    if isinstance(result, Analysis):
        return _scene(result)
    first, second = (_scene(side) for side in result.sides)
    other = first | {"side": result.names[0], "space": None}
    return second | {"side": result.names[1], "other": other}


def _scene(analysis: Analysis) -> Scene:
    """Return what the page shows of a result that is not a comparison."""
    tree, whole, made = analysis.hierarchy, analysis.atom_hierarchy, analysis.made
    quantity = tree.quantity
    large, cutoff = tables.min_size(analysis), analysis.finding.cutoff
    suggested = suggest(tree, large=large, min_size=max(2, large))
    if cutoff is None:
        cutoff = suggested[-1][0] if suggested else float(np.median(np.append(tree.levels, 0.0)))
    shown = np.full(whole.n_sites, -1)
    shown[analysis.system.shown] = np.arange(tree.n_sites)
    limits = style.cutoff_limits(style.count(analysis), cutoff)
    levels = {"order": tree.order, "gaps": tree.gaps, "levels": tree.levels}
    found: Scene = plain(
        {
            "format": FORMAT,
            "title": made.title,
            "colours": _colours(analysis),
            "quantity": {"cutoff": quantity.cutoff, "unit": unit_label(quantity.unit)},
            "length": {"value": made.length, "name": made.length_name} if made.length else None,
            "finding": _finding(analysis, cutoff),
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
            "motion": space.motion(analysis),
            "sampling": {"facts": sampling(analysis)},
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


def _finding(analysis: Analysis, cutoff: float) -> Scene:
    """Words of a finding, and the cutoff at which the page opens."""
    found = analysis.finding
    words = {"sentence": found.sentence, "badge": found.sure, "size": _size(analysis)}
    return words | {"facts": found.facts, "notes": found.notes, "cutoff": cutoff}


def _size(analysis: Analysis) -> str:
    size, known = analysis.size, analysis.confidence
    if analysis.made.recipe == "compare":
        return f"{size[0]} in both results"
    if known is not None and math.isfinite(known.sampling.n_effective):
        size.append(samples(known.sampling.n_effective))
    return " · ".join(size)


# ---- the finding in pictures ---------------------------------------------------------------------


def _colours(analysis: Analysis) -> Scene:
    chosen = style.palette_of(analysis)
    return {
        "core": style.SAFE[0],
        "rest": style.REST,
        "palettes": [
            {
                "name": name,
                "groups": style.group_colours(analysis, name)[:-1].tolist(),
                "families": style.family_colours(analysis, name),
            }
            for name in sorted(style.PALETTES, key=lambda name: name != chosen)
        ],
        "heights": style.ramp(64, 0.0, 1.0),
        "sizes": style.ramp(5, 0.2, 0.92),
        "theory": "#888888",
    }


def _groups(analysis: Analysis) -> Scene | None:
    """Groups of the finding, as the first picture and its table show them."""
    labels = analysis.finding.labels
    n_groups = style.count_groups(analysis)
    if n_groups == 0:
        return None
    what, rows = style.group_word(analysis), []
    are_bodies = what == "body" and n_groups == len(analysis.bodies)
    for group in range(n_groups):
        members = np.flatnonzero(labels == group)
        fit, moves = _body(analysis, group) if are_bodies else _inside(analysis, members)
        names = tables.runs(analysis.shown_atoms, members)
        rows.append({"members": names, "size": str(len(members)), "fit": fit, "moves": moves})
    return {"what": what, "labels": labels, "rows": rows}


def _body(analysis: Analysis, number: int) -> tuple[str, ...]:
    """Fit of a body, and how far it turns."""
    body, unit = analysis.bodies[number], analysis.system.unit
    moves = "" if body.motion is None else f"{body.angle:.0f}° against body {body.relative_to}"
    return "" if math.isnan(body.fit) else length(body.fit, unit), moves


def _inside(analysis: Analysis, members: Ints) -> tuple[str, ...]:
    """Median σ inside a group and to its siblings, where it is a cluster with a verdict."""
    for record in analysis.clusters:
        if record.separation is not None and np.array_equal(record.sites, members):
            both = (record.separation.inside, record.separation.across)
            return tuple(f"±{sigma(each, analysis.hierarchy.unit)}" for each in both)
    return "", ""


def _scales(analysis: Analysis, suggested: list[tuple[float, str]]) -> list[Scene]:
    whole = analysis.finding.cutoff
    scales = [] if whole is None else [{"label": "whole finding", "cutoff": whole}]
    for cutoff, reason in reversed(suggested):
        label = "widest plateau" if reason.startswith("widest") else "paper's inflection"
        scales.append({"label": label, "cutoff": cutoff})
    return scales


# ---- sites and clusters --------------------------------------------------------------------------


def _sites(analysis: Analysis) -> Scene:
    names = ("elements", "resnames", "resids", "icodes", "chains")
    columns = {name: getattr(analysis.system.sites, name) for name in names}
    return {"objects": analysis.system.site_objects} | columns


def _shown(analysis: Analysis) -> Scene:
    system, atoms, places = analysis.system, analysis.shown_atoms, style.places_of(analysis)
    numbers = np.char.add(atoms.resids.astype(np.str_), atoms.icodes)
    numbers = atoms.names if tables.have_own_names(atoms) else numbers
    named = len({*zip(atoms.chains.tolist(), numbers.tolist(), strict=True)}) == len(numbers)
    polymer = is_protein(atoms) | is_nucleic(atoms)
    one_segment = len(set(atoms.chains.tolist())) == 1 and len(str(atoms.chains[0])) > 1
    return {
        "word": "residues" if polymer.any() else f"{system.shown_name}s",
        "label": places.label,
        "minSize": tables.min_size(analysis),
        "names": (numbers if named else system.names[system.shown]).tolist(),
        "chains": atoms.chains if named and not one_segment else np.full(len(numbers), ""),
        "sites": system.object_sites[system.shown],
        "order": places.order,
        "numbers": places.numbers,
    }


def _clusters(analysis: Analysis) -> list[Scene]:
    """Clusters of the condensed tree: each is a run of leaf order between two cutoffs."""
    tree, large = analysis.hierarchy, max(2, tables.min_size(analysis))
    condensed = condense(tree, min_size=large)
    rows = []
    for place, (node, record) in enumerate(zip(condensed.nodes, analysis.clusters, strict=True)):
        sure, apart = tables.verdict(analysis, place), record.separation
        known = apart is not None and sure and apart.inside > 0
        own = (condensed.owners == place) & (tree.sizes >= large)
        row = {
            "start": int(tree.starts[node]),
            "stop": int(tree.starts[node] + tree.sizes[node]),
            "forms": float(tree.births[own].min()),
            "joins": float(tree.deaths[node]),
            "support": f"{100 * record.support:.0f} %" if sure else "",
            "separation": f"{apart.across / apart.inside:.1f}×" if apart and known else "",
            "look": _LOOKS.get(sure, "plain"),
            "verdict": f"{sure.capitalize()}." if sure else "",
        }
        rows.append(row)
    return rows


def _curves(analysis: Analysis, limits: tuple[float, float]) -> Scene:
    tree, large = analysis.hierarchy, tables.min_size(analysis)
    curves = count_clusters(tree, large=large, cutoffs=tree.levels)
    drawn: Scene = {"theory": None, "chance": None}
    if analysis.made.theory and analysis.system.n_snapshots == 2:
        grid = np.linspace(*limits, 200)
        joined = theory.join_probability(grid, link_length=analysis.made.length or 1.0)
        drawn["theory"] = {"cutoffs": grid, "fraction": theory.tail_fraction(joined, large=large)}
    if analysis.confidence and (chance := analysis.confidence.chance):
        high = np.quantile(chance.largest, 0.95, axis=0)
        drawn["chance"] = {"cutoffs": chance.cutoffs, "largest": high}
    return drawn | {
        "large": large,
        "fraction": curves.large_fraction,
        "sizes": curves.sizes,
        "sizeFractions": list(curves.size_fractions),
        "largest": curves.largest,
    }


def _matrix(analysis: Analysis) -> Scene | None:
    """σ of pairs of shown objects in the order of the axis; of many objects, means of bins.

    Few pairs have a σ far above all others: steps are those of a root.
    """
    if analysis.fluctuations is None:
        return None
    sigma = plots.bin_sigma(analysis, _MOST_BINS)
    upper = sigma[np.triu_indices(len(sigma), 1)]
    known = np.isfinite(upper)
    if not known.any():
        return None
    low, top = float(upper[known].min(initial=0.0)), float(upper[known].max())
    values = np.full(len(upper), 255, dtype=np.uint8)
    values[known] = np.rint(254 * np.sqrt((upper[known] - low) / (top - low or 1.0)))
    name = f"{analysis.hierarchy.quantity.symbol} of pairs"
    return {"name": name, "size": len(sigma), "low": low, "top": top, "values": values}


# ---- origin -----------------------------------------------------------------------------------


def _about(analysis: Analysis) -> Scene:
    made = analysis.made
    inputs = [("input", f"{each.name} (SHA-256 {each.sha256})") for each in made.sources]
    rows = [("version", made.version), ("command", made.command), *inputs]
    rows += [("objects", made.objects), ("pairs", made.pairs)]
    return {"rows": [row for row in rows if row[1]], "notes": analysis.notes}
