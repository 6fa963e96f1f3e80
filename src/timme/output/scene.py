"""An Analysis → the scene of the interactive page: everything it shows, as plain data.

A scene is one dictionary that JSON can hold. Numbers that come in thousands are packed: a string
that starts with the type, ``f8`` (double), ``f4`` (single) or ``i4`` (whole), a colon, and the
base64 of the little-endian numbers. So infinities, for what never joins, need no words of their
own. Words that repeat are ``{"values": [...], "codes": packed}``.

The page cuts the hierarchy by itself, in the way of :meth:`timme.Hierarchy.cut`: objects in leaf
order are in one cluster if no gap between them is above the cutoff. ``tree`` holds the shown
objects, with the numbers of their families; ``whole`` all objects, and which of them are shown.
The page knows no colours: it takes them from ``palettes``, as ``colours`` says for each family: 0
is that of the core, k the k-th of the palette.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints
from timme.analysis import Analysis, evenly_chosen
from timme.hierarchy.quantity import Quantity
from timme.order import choose_colours, families
from timme.output.axes import cutoff_limits, places_of
from timme.output.colours import CORE, PALETTES, REST, SAFE, WIDE
from timme.output.declared import collect
from timme.output.figures import expected_fraction, expected_sizes
from timme.output.packing import pack, pack_words
from timme.output.picture import MOST_STICKS, STICKS_PER_SITE, has_backbone, spacing
from timme.output.plots import THEORY, ramp
from timme.output.registry import panels_of_parts
from timme.output.tables import short_names
from timme.settings.values import LARGE, MIN_SIZE
from timme.statistics import Curves, Suggestion, curves
from timme.system.space import Boxes

FORMAT = 5
_STICKS_OUT = 0.1  # of a box, by which sites may be out of it where it is drawn as in the file

Scene = dict[str, Any]

_THEORY_POINTS = 200


def scene(
    analysis: Analysis,
    suggestions: Sequence[Suggestion] = (),
    *,
    min_size: int = MIN_SIZE,
    large: int = LARGE,
    palette: Literal["wide", "safe"] = "wide",
    title: str = "",
) -> Scene:
    """Gather what the page shows of an analysis.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    suggestions : sequence of Suggestion, optional
        Cutoffs worth looking at; the page opens at the first.
    min_size : int, optional
        Clusters of fewer shown objects are grey when the page opens.
    large : int, optional
        The R of the fraction in clusters of R or more.
    palette : {"wide", "safe"}, optional
        Colours with which the page opens.
    title : str, optional
        Heading; the names of the input files by default.

    Returns
    -------
    dict
        Plain data, as the module describes.
    """
    hierarchy = analysis.shown_hierarchy
    counted = curves(hierarchy, large=large)
    cutoff = suggestions[0].cutoff if suggestions else None
    limits = cutoff_limits(counted, cutoff)
    own = {
        "format": FORMAT,
        "title": title or _title(analysis),
        "quantity": _quantity(hierarchy.quantity),
        "length": analysis.length,
        "lengthName": analysis.recipe.length_name,
        "shownName": analysis.system.shown_name,
        "minSize": min_size,
        "large": large,
        "palette": palette,
        "palettes": _palettes(len(counted.sizes)),
        "suggestions": [{"cutoff": s.cutoff, "reason": s.reason} for s in suggestions],
        "limits": list(limits),
        "tree": _tree(analysis),
        "colours": {
            name: pack(choose_colours(hierarchy, len(PALETTES[name])), "i4") for name in PALETTES
        },
        "whole": _whole(analysis),
        "axis": _axis(analysis),
        "sites": _sites(analysis),
        "space": _space(analysis),
        "curves": _curves(analysis, counted, limits),
        "about": _about(analysis),
    }
    return collect((*own.items(), *panels_of_parts(analysis).items()))


def scene_json(made: Scene) -> str:
    """Write a scene as JSON that may stand within HTML.

    Parameters
    ----------
    made : dict
        As :func:`scene` returns it.

    Returns
    -------
    str
        JSON without ``<``, so that no name can end the element it stands in.
    """
    text = json.dumps(made, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _quantity(quantity: Quantity) -> Scene:
    """Say what heights are."""
    return {
        "symbol": quantity.symbol,
        "unit": quantity.unit,
        "words": quantity.words,
        "cutoff": quantity.cutoff,
        "cutoffName": quantity.cutoff_name,
        "clusters": quantity.clusters,
        "isLength": quantity.is_length,
    }


def _palettes(n_sizes: int) -> Scene:
    return {
        "core": CORE,
        "rest": REST,
        "wide": list(WIDE),
        "safe": list(SAFE),
        "sizes": ramp(n_sizes, 0.2, 0.92),
        "heights": ramp(64),
        "theory": THEORY,
    }


def _tree(analysis: Analysis) -> Scene:
    """Describe the hierarchy of the shown objects, numbered from 0 in their own order."""
    hierarchy = analysis.shown_hierarchy
    names = short_names(analysis)
    return {
        "order": pack(hierarchy.order, "i4"),
        "gaps": pack(hierarchy.gaps, "f8"),
        "levels": pack(hierarchy.levels, "f8"),
        "family": pack(families(hierarchy), "i4"),
        "chains": pack_words(np.array([chain for chain, _ in names])),
        "names": [name for _, name in names],
        "sites": pack(analysis.system.object_sites[analysis.system.shown], "i4"),
    }


def _whole(analysis: Analysis) -> Scene:
    """Describe the hierarchy of all objects: ``shown`` is the shown object each one is, or -1."""
    shown = np.full(analysis.hierarchy.n_sites, -1)
    shown[analysis.system.shown] = np.arange(len(analysis.system.shown))
    return {
        "order": pack(analysis.hierarchy.order, "i4"),
        "gaps": pack(analysis.hierarchy.gaps, "f8"),
        "shown": pack(shown, "i4"),
    }


def _axis(analysis: Analysis) -> Scene | None:
    """Describe the natural order of the shown objects, such as that of residues."""
    places = places_of(analysis)
    if places is None:
        return None
    return {
        "order": pack(places.order, "i4"),
        "numbers": pack(places.numbers, "i4"),
        "chains": pack_words(places.chains),
        "label": places.label,
        "letters": _letters(analysis, places.order),
    }


def _letters(analysis: Analysis, order: Ints) -> str | None:
    """Write a polymer as one letter for each residue; None for anything else."""
    import gemmi

    sites = analysis.system.object_sites[analysis.system.shown[order]]
    residues = [
        gemmi.find_tabulated_residue(name) for name in analysis.system.sites.resnames[sites]
    ]
    polymer = [found.is_amino_acid() or found.is_nucleic_acid() for found in residues]
    if not any(polymer) or sum(polymer) < len(polymer) / 2:
        return None
    return "".join(found.one_letter_code.strip().upper() or "X" for found in residues)


def _sites(analysis: Analysis) -> Scene:
    atoms = analysis.system.sites
    return {
        "objects": pack(analysis.system.site_objects, "i4"),
        "names": pack_words(atoms.names),
        "elements": pack_words(atoms.elements),
        "resnames": pack_words(atoms.resnames),
        "resids": pack(atoms.resids, "i4"),
        "icodes": pack_words(atoms.icodes),
        "chains": pack_words(atoms.chains),
    }


def _space(analysis: Analysis) -> Scene | None:
    """Describe where sites are, in how many dimensions, and what joins them; None for a matrix."""
    dimensions = analysis.system.coordinates.shape[1]
    if dimensions == 0:
        return None
    frames, absent, centre = _frames(analysis)
    first = frames[0].astype(np.float64)
    seen = np.isfinite(first).all(axis=1)
    contacts, heights = _contacts(analysis)
    molecular = bool((analysis.system.sites.elements != "").any())
    box = None
    if analysis.system.box is not None:
        box = np.zeros((3, 3))
        known = analysis.system.box[:3, :3] * _scale(analysis)
        box[: known.shape[0], : known.shape[1]] = known
    return {
        "dimensions": dimensions,
        "molecular": molecular,
        "cartoon": bool(len(analysis.system.sites.bonds)) and has_backbone(analysis),
        "spacing": spacing(first[seen]),
        "bonds": pack(_bonds(analysis), "i4"),
        "contacts": pack(contacts, "i4"),
        "contactHeights": pack(heights, "f8"),
        "box": None if box is None else box.tolist(),
        "origin": (-centre if box is None else _corner(box, first[seen], -centre)).tolist(),
        "scale": _scale(analysis),
        "centre": centre.tolist(),
        "snapshots": (evenly_chosen(max(1, analysis.system.n_snapshots), len(frames)) + 1).tolist(),
        "nSnapshots": analysis.system.n_snapshots,
        "frames": pack(frames, "f4"),
        "absent": pack(np.flatnonzero(absent), "i4"),
    }


def _corner(box: Floats, points: Floats, usual: Floats) -> Floats:
    """Return where the vectors of a box start: as in the file, or so that the box is around all.

    Some programs put the middle of the box at the origin, not a corner; and molecules that are
    whole may stick out of it. Points are measured from their centre.
    """
    along = box.any(axis=1)
    parts = ((points - usual) @ np.linalg.pinv(box))[:, along]
    inside = (parts > -_STICKS_OUT).all() and (parts < 1 + _STICKS_OUT).all()
    corner: Floats = usual if inside else -box.sum(axis=0) / 2
    return corner


def _frames(analysis: Analysis) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_], Floats]:
    """Return (frames, sites, 3), who is not seen, and the centre from which places are measured.

    A site that is not seen stands where it was last, and is hidden by the page. The centre, that
    of the first frame, leaves single precision to what differs between sites, however far from the
    origin all of them are.
    """
    reference = _in_space(analysis.system.coordinates, analysis)
    seen = np.isfinite(reference).all(axis=1)
    centre = reference[seen].mean(axis=0) if seen.any() else np.zeros(3)
    taken = (
        analysis.system.coordinates[None] if analysis.system.film is None else analysis.system.film
    )
    frames = np.empty((*taken.shape[:2], 3), dtype=np.float32)
    absent = np.empty(taken.shape[:2], dtype=np.bool_)
    last = reference - centre
    for frame, unseen, given in zip(frames, absent, taken, strict=True):
        here = _in_space(given, analysis) - centre
        unseen[:] = np.isnan(here).any(axis=1)
        last = np.where(unseen[:, None], last, here)
        frame[:] = last
    return frames, absent, centre


def _in_space(coordinates: npt.ArrayLike, analysis: Analysis) -> Floats:
    """Return points in three dimensions: 0 in those they lack, the first three of more."""
    given = np.asarray(coordinates, dtype=np.float64)[:, :3] * _scale(analysis)
    return np.pad(given, ((0, 0), (0, 3 - given.shape[1])))


def _scale(analysis: Analysis) -> float:
    """Å in the unit of the coordinates, where that is one of molecules."""
    return 10.0 if analysis.system.unit == "nm" else 1.0


def _bonds(analysis: Analysis) -> Ints:
    """Return the bonds to draw: covalent ones, or along a chain of which one atom each is known."""
    atoms = analysis.system.sites
    if len(atoms.bonds) or len(atoms) < 2 or not set(atoms.names.tolist()) <= {"CA", "P", "C4'"}:
        return atoms.bonds
    neighbours = np.column_stack([np.arange(len(atoms) - 1), np.arange(1, len(atoms))])
    same = (atoms.chains[:-1] == atoms.chains[1:]) & (np.abs(np.diff(atoms.resids)) <= 1)
    along: Ints = neighbours[same & (atoms.names[:-1] != "")]
    return along


def _contacts(analysis: Analysis) -> tuple[Ints, Floats]:
    """Return near pairs of sites, and the cutoff from which a stick may join each.

    They are near through the walls of the box as well: the page draws what does not cross it.
    """
    measured = analysis.fluctuations
    if measured is None or len(analysis.system.sites.bonds):
        return np.empty((0, 2), np.int64), np.empty(0)
    ends = analysis.system.object_sites[measured.pairs]
    steps = analysis.system.coordinates[ends[:, 0]] - analysis.system.coordinates[ends[:, 1]]
    boxes = Boxes.of(
        None if analysis.system.box is None else analysis.system.box[None], 1, steps.shape[1]
    )
    apart = np.linalg.norm(boxes.shorten(steps[None])[0], axis=1)
    usable = np.flatnonzero(np.isfinite(apart) & np.isfinite(measured.sigma))
    most = min(STICKS_PER_SITE * len(analysis.system.sites), MOST_STICKS)
    chosen = np.sort(usable[np.argsort(apart[usable], kind="stable")[:most]])
    return ends[chosen], measured.sigma[chosen]


def _curves(analysis: Analysis, counted: Curves, limits: tuple[float, float]) -> Scene:
    grid = np.linspace(*limits, _THEORY_POINTS)
    fraction, sizes = expected_fraction(analysis, counted.large), expected_sizes(analysis)
    expected = None
    if fraction is not None and sizes is not None:
        expected = {
            "cutoffs": pack(grid, "f8"),
            "large": pack(fraction(grid), "f4"),
            "sizes": [pack(row, "f4") for row in sizes(grid)],
        }
    return {  # at and above each level; before the first, below all levels
        "large": pack(counted.large_fraction, "f4"),
        "sizes": list(counted.sizes),
        "sizeFractions": [pack(row, "f4") for row in counted.size_fractions],
        "largest": pack(counted.largest, "i4"),
        "mean": pack(counted.mean_size, "f4"),
        "number": pack(counted.n_clusters, "i4"),
        "theory": expected,
    }


def _about(analysis: Analysis) -> Scene:
    """Say how the result was made."""
    provenance = analysis.recipe.provenance
    options = analysis.recipe.options | {"n_sites": len(analysis.system.sites)}
    return {
        "version": provenance.version,
        "command": provenance.command,
        "inputs": [asdict(entry) for entry in provenance.inputs],
        "options": {name: _text(value) for name, value in options.items()},
        "notes": list(analysis.notes),
    }


def _text(value: object) -> str:
    if not isinstance(value, tuple):
        return str(value)
    if len(value) > 12:
        return f"{len(value)} values, from {value[0]} to {value[-1]}"
    return str(list(value))


def _title(analysis: Analysis) -> str:
    known, clusters = analysis.recipe.provenance, analysis.hierarchy.quantity.clusters
    return known.title or known.input_names or known.command or clusters.capitalize()
