"""Rigid bodies and their motions for the page: members, axes, angles and shares of variance."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from timme.analysis import Analysis, Moved, evenly_chosen
from timme.analysis.motion import bodies_text, hinge_text
from timme.motion import Explained, Hinge
from timme.motion.counting import ENOUGH
from timme.output.arrows import Arrow, body_arrows, body_colouring
from timme.output.declared import PartOutput
from timme.output.motion import body_colours
from timme.output.packing import pack

_MOST_ANGLES = 2_000  # of a body that are drawn


def _panel(part: Moved, analysis: Analysis) -> dict[str, Any]:
    """What the page shows of bodies; places are those of the structure files, in Å."""
    found, bodies = part.found, part.found.bodies
    arrows = {each.name: each for each in body_arrows(part, analysis)}
    moving = zip(found.moving, found.hinges, strict=True)
    return {
        "words": bodies_text(bodies),
        "next": part.next_best(),
        "unit": analysis.system.unit,
        "objects": pack(body_colouring(part, analysis).labels, "i4"),
        "colours": body_colours(bodies.n_bodies).tolist(),
        "members": list(part.members),
        "alone": part.alone,
        "reference": found.reference,
        "hinges": [_hinge(body, each, arrows.get(f"axis_{body + 1}")) for body, each in moving],
        "levels": [
            [level.n_bodies, *map(_known, (level.gap, level.separation, level.rest))]
            for level in bodies.levels
        ],
        "chosen": bodies.chosen,
        "enough": ENOUGH,
        "explained": _shares(found.explained),
    }


def _hinge(body: int, found: Hinge, arrow: Arrow | None) -> dict[str, Any]:
    """How a body moves; its axis where it has one, and every angle or some spread over all."""
    drawn = evenly_chosen(len(found.angles), min(len(found.angles), _MOST_ANGLES))
    turns = [float(end) for end in (found.angles.min(), found.angles.max())] if len(drawn) else None
    return {
        "body": body,
        "kind": found.kind,
        "words": hinge_text(found),
        "axis": None if arrow is None else _axis(arrow, found),
        "turns": turns,
        "error": _known(found.angle_error) if len(found.angles) > 2 else None,
        "pitch": _known(found.pitch),
        "frames": pack(found.frames[drawn], "i4"),
        "angles": pack(found.angles[drawn], "f4"),
    }


def _axis(arrow: Arrow, found: Hinge) -> dict[str, Any]:
    """An arrow, the radius of the cone about it at its end, and the angle of that cone."""
    return {
        "start": arrow.start.tolist(),
        "end": arrow.end.tolist(),
        "width": arrow.width,
        "cone": _known(found.axis_cone),
    }


def _shares(found: Explained) -> dict[str, Any]:
    """Columns by the names of the fields, one value for each number of bodies."""
    columns = {each.name: getattr(found, each.name) for each in fields(Explained)}
    return {
        name: [_known(value) for value in column.tolist()]
        for name, column in columns.items()
        if isinstance(column, np.ndarray)
    }


def _known(value: float) -> float | None:
    """Return a number, or None for what JSON has no word for."""
    return float(value) if np.isfinite(value) else None


SHOWN = PartOutput(Moved, panels={"motion": _panel})
