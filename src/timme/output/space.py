"""What moves on the page: frames, superpositions, axes of bodies, and sticks."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from timme._arrays import Bools, Floats, Ints
from timme.analysis.molecules import movement
from timme.analysis.result import Analysis, Body
from timme.motion.fits import fit
from timme.motion.hinges import Hinge
from timme.output import structures
from timme.output.structures import in_space

MISSING = -32768  # in frames, of a site that is not seen
_MOST_STEPS = 32_000  # from the centre to the farthest site
_MOST_ANGLES = 2_000  # of a body
_REACH = 0.4  # half the length of an axis in units of the width

Part = dict[str, Any]


def space(analysis: Analysis) -> Part:
    """Return where the sites are in some snapshots, and the bonds between them."""
    system = analysis.system
    first = in_space(system.coordinates, analysis)
    frames = in_space(system.coordinates[None] if system.film is None else system.film, analysis)
    seen: Bools = np.asarray(np.isfinite(first).all(axis=1))
    molecular = bool((system.sites.elements != "").any())
    centre = first[seen].mean(axis=0) if seen.any() else np.zeros(3)
    spacing = _spacing(first[seen])
    finest = 0.01 if molecular else spacing / 500
    reach = float(np.nanmax(np.abs(frames - centre), initial=0.0))
    step = max(finest, reach / _MOST_STEPS)
    steps = np.rint((frames - centre) / step)
    steps[np.isnan(steps).any(axis=2)] = MISSING
    numbers = np.arange(len(frames)) if system.film_frames is None else system.film_frames
    return {
        "dimensions": system.coordinates.shape[1],
        "molecular": molecular,
        "cif": structures.cif(analysis) if structures.has_backbone(analysis) else None,
        "cifSites": structures.seen(analysis),
        "spacing": spacing,
        "bonds": _bonds(analysis),
        "box": None if system.box is None else in_space(system.box, analysis).tolist(),
        "centre": centre.tolist(),
        "step": step,
        "frames": steps.astype(np.int16),
        "opens": int(np.isfinite(frames).all(axis=2).sum(axis=1).argmax()),
        "fits": _fits(analysis, first, frames),
        "view": _view(first[seen]) if molecular and seen.sum() > 3 else None,
        "snapshots": (numbers + 1).tolist(),
    }


def motion(analysis: Analysis) -> Part | None:
    """Return the axes of moving bodies, their angles and what is known of both."""
    moving = [(k, body, body.motion) for k, body in enumerate(analysis.bodies) if body.motion]
    if not moving:
        return None
    angles = []
    for k, _, hinge in moving:
        some = slice(None, None, 1 + len(hinge.angles) // _MOST_ANGLES)
        angles.append({"body": k, "frames": hinge.frames[some] + 1, "values": hinge.angles[some]})
    facts = [movement(body, hinge, analysis.system.unit) for _, body, hinge in moving]
    arrows = [_axis(analysis, k, body, hinge) for k, body, hinge in moving]
    return {"axes": [arrow for arrow in arrows if arrow], "angles": angles, "facts": facts}


def _axis(analysis: Analysis, number: int, body: Body, hinge: Hinge) -> Part | None:
    """Return the arrow along the axis of a body.

    A small turn with a large shift has an axis far away from everything: it is not drawn.
    """
    if len(hinge.axis) != 3 or not np.isfinite(hinge.axis).all() or not len(hinge.angles):
        return None
    places, point = (in_space(x, analysis) for x in (analysis.system.coordinates, hinge.point))
    own = analysis.system.object_sites[analysis.system.shown[body.sites]]
    centre = np.nanmean(places[own], axis=0)
    foot = point + hinge.axis * ((centre - point) @ hinge.axis)
    width = float((np.nanmax(places, axis=0) - np.nanmin(places, axis=0)).max())
    if np.linalg.norm(centre - foot) > width:
        return None
    return {
        "body": number,
        "from": (foot - _REACH * width * hinge.axis).tolist(),
        "to": (foot + _REACH * width * hinge.axis).tolist(),
        "cone": hinge.axis_cone if hinge.axis_cone > 0 else None,
        "label": f"{hinge.range:.0f}°",
    }


def _spacing(points: Floats) -> float:
    """Median distance to the nearest neighbour, 1 where all coincide."""
    if len(points) < 2:
        return 1.0
    return float(np.median(np.asarray(cKDTree(points).query(points, k=2)[0])[:, 1])) or 1.0


def _view(points: Floats) -> Any:
    """Rotation whose rows point right, up and to the reader: the widest sides are seen."""
    right, up = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2][:2]
    return np.concatenate([right, up, np.cross(right, up)]).tolist()


def _fits(analysis: Analysis, first: Floats, frames: Floats) -> Floats | None:
    """Rotations and shifts that lay frames onto body 1, or the core, of the first snapshot."""
    labels, system = analysis.finding.labels, analysis.system
    still = labels == (analysis.motion.reference if analysis.motion else 0)
    if analysis.made.kind != "molecule" or len(frames) < 2 or still.sum() < 4:
        return None
    body = system.object_sites[system.shown[still]]
    poses = fit(first[body], frames[:, body])
    turns = poses.rotations.swapaxes(1, 2)
    shifts = -np.einsum("fij,fj->fi", turns, poses.centres)
    return np.hstack([turns.reshape(-1, 9), shifts]) if poses.unique.all() else None


def _bonds(analysis: Analysis) -> Ints:
    """Covalent bonds, or those along a chain of which one atom of each residue is known."""
    atoms = analysis.system.sites
    if len(atoms.bonds) or not set(atoms.names.tolist()) <= {"CA", "P", "C4'"}:
        return atoms.bonds
    pairs = np.column_stack([np.arange(len(atoms) - 1), np.arange(1, len(atoms))])
    same = (atoms.chains[:-1] == atoms.chains[1:]) & (np.abs(np.diff(atoms.resids)) <= 1)
    along: Ints = pairs[same]
    return along
