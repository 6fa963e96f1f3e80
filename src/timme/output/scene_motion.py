"""Rigid bodies and their motions for the page: who is in which, axes, angles, shares of variance.

What is said is what the summary of a run says, line by line.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from timme._arrays import Floats
from timme.analysis import Analysis, Moved, evenly_chosen
from timme.motion import Explained, Hinge
from timme.motion.counting import ENOUGH, SHARP
from timme.output.colours import body_colours
from timme.output.declared import PartOutput
from timme.output.packing import pack

_MOST_ANGLES = 2_000  # of a body that are drawn


def _panel(part: Moved, analysis: Analysis) -> dict[str, Any]:
    """Gather what the page shows of bodies; places are those of the snapshots."""
    found, bodies = part.found, part.found.bodies
    words, *lines = (text for _, text in part.facts())
    told = bodies.n_bodies if bodies.n_bodies > 1 else 0  # lines, one for each body of several
    moving = zip(found.moving, found.hinges, strict=True)
    return {
        "words": words,
        "bodies": lines[:told],
        "more": lines[told:],
        "unit": analysis.system.unit,
        "labels": pack(bodies.labels, "i4"),
        "colours": body_colours(bodies.n_bodies).tolist(),
        "reference": found.reference,
        "hinges": [_hinge(body, each) for body, each in moving],
        "levels": [
            [
                level.n_bodies,
                *map(_known, (level.gap, level.separation, level.sharpness, level.rest)),
            ]
            for level in bodies.levels
        ],
        "chosen": bodies.chosen,
        "enough": ENOUGH,
        "sharp": SHARP,
        "explained": _shares(found.explained),
    }


def _hinge(body: int, found: Hinge) -> dict[str, Any]:
    """Say how a body moves: its axis where it has one, every angle or some spread over all."""
    drawn = evenly_chosen(len(found.angles), min(len(found.angles), _MOST_ANGLES))
    turns = [float(end) for end in (found.angles.min(), found.angles.max())] if len(drawn) else None
    return {
        "body": body,
        "kind": found.kind,
        "axis": _vector(found.axis),
        "point": _vector(found.point),
        "cone": _known(found.axis_cone),
        "turns": turns,
        "error": _known(found.range_error),
        "pitch": _known(found.pitch),
        "frames": pack(found.frames[drawn], "i4"),
        "angles": pack(found.angles[drawn], "f4"),
    }


def _shares(found: Explained) -> dict[str, Any]:
    """Give columns by the names of the fields, one value for each number of bodies."""
    columns = {each.name: getattr(found, each.name) for each in fields(Explained)}
    return {
        name: [_known(value) for value in column.tolist()]
        for name, column in columns.items()
        if isinstance(column, np.ndarray)
    }


def _vector(values: Floats) -> list[float] | None:
    return values.tolist() if np.isfinite(values).all() else None


def _known(value: float) -> float | None:
    """Return a number, or None for what JSON has no word for."""
    return float(value) if np.isfinite(value) else None


SHOWN = PartOutput(Moved, panels={"motion": _panel})
