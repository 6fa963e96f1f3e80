"""Lay out rigid bodies for three-dimensional views: who is in which, and their axes as arrows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from timme._arrays import Floats, Ints
from timme.analysis import Analysis, Moved
from timme.motion import Hinge
from timme.output.colours import Colouring, body_colours
from timme.output.structures import file_coordinates
from timme.system.residues import residue_index

_POINT = 0.12  # of the length of an arrow
_BESIDE = 4.0  # Å from the outermost atom to a label


@dataclass(frozen=True, slots=True, eq=False)
class Arrow:
    """The axis of a body, as it is drawn."""

    name: str
    start: Floats  # (3,)
    end: Floats  # (3,)
    colour: str
    width: float  # of the cone about it at its end; 0 for none
    arc: Floats | None = None  # (points, 3), way of the body about the axis
    label: str = ""  # how far it turns, and how surely
    spot: Floats | None = None  # (3,), of the label, outside of the structure

    @property
    def tip(self) -> Floats:
        """Where the shaft ends and the point begins."""
        return self.end - _POINT * (self.end - self.start)

    @property
    def middle(self) -> Floats:
        """Half way, where the axis goes through what turns about it."""
        return 0.5 * (self.start + self.end)


def body_colouring(part: Moved, analysis: Analysis) -> Colouring:
    """Colour objects by their bodies.

    Parameters
    ----------
    part : Moved
        Bodies among the shown objects.
    analysis : Analysis
        What was analysed.

    Returns
    -------
    Colouring
        Objects that are not shown take the body of the shown one of their residue.
    """
    system, labels = analysis.system, part.found.bodies.labels
    residue = _residues(analysis)
    known = dict(zip(residue[system.shown].tolist(), labels.tolist(), strict=True))
    of_objects = np.array([known.get(each, -1) for each in residue.tolist()])
    of_objects[system.shown] = labels
    return Colouring(
        cutoff=part.found.bodies.cutoff,
        min_size=1,
        labels=of_objects,
        colours=body_colours(part.found.bodies.n_bodies)[:-1],
        sizes=part.found.bodies.sizes,
    )


def body_arrows(part: Moved, analysis: Analysis) -> tuple[Arrow, ...]:
    """Lay out the axes of bodies as arrows, as long as the structure is wide.

    Parameters
    ----------
    part : Moved
        Bodies.
    analysis : Analysis
        What was analysed.

    Returns
    -------
    tuple of Arrow
        In the coordinates of the structure file.
    """
    scale = 10.0 if analysis.system.unit == "nm" else 1.0
    places = file_coordinates(analysis)
    reach = 0.4 * float(np.ptp(places, axis=0).max())
    colours = body_colours(part.found.bodies.n_bodies)
    arrows = []
    for body, each in zip(part.found.moving, part.found.hinges, strict=True):
        if np.isfinite(each.axis).all() and np.isfinite(each.point).all():
            middle, along = scale * each.point, reach * each.axis
            cone = each.axis_cone if np.isfinite(each.axis_cone) else 0.0
            width = reach * float(np.tan(np.radians(min(cone, 60.0))))
            name = f"axis_{body + 1}"
            arc = _arc(each, scale * _middle(part, analysis, body), scale)
            ends, label = (middle - along, middle + along), _label(each)
            spot = _outside(arc[len(arc) // 2], places)
            arrows.append(Arrow(name, *ends, str(colours[body]), width, arc, label, spot))
    return tuple(arrows)


def _middle(part: Moved, analysis: Analysis, body: int) -> Floats:
    """Middle of a body in the first snapshot."""
    system = analysis.system
    places = system.coordinates[system.object_sites[system.shown]]
    middle: Floats = np.zeros(3)
    middle[: places.shape[1]] = np.nanmean(places[part.found.bodies.members(body)], axis=0)
    return middle


def _arc(motion: Hinge, middle: Floats, scale: float) -> Floats:
    """Way of a body's middle from its least angle to its largest, from where it is shown."""
    steps = np.linspace(motion.angles.min(), motion.angles.max(), 13) - motion.angles[0]
    turns = Rotation.from_rotvec(np.radians(steps)[:, None] * motion.axis)
    point = scale * motion.point
    moved: Floats = turns.apply(middle - point) + point
    return moved


def _outside(place: Floats, places: Floats) -> Floats:
    """Go from a place away from the middle of a structure, until it is behind."""
    middle = places.mean(axis=0)
    away = place - middle
    away = away / max(float(np.linalg.norm(away)), np.finfo(float).tiny)
    beyond = float(((places - middle) @ away).max()) + _BESIDE
    found: Floats = place + max(0.0, beyond - float((place - middle) @ away)) * away
    return found


def _label(motion: Hinge) -> str:
    error = motion.range_error
    sure = f" ± {error:.{0 if error >= 1 else 1}f}°" if np.isfinite(error) else ""
    return f"{motion.range:.0f}°{sure}"


def _residues(analysis: Analysis) -> Ints:
    """Residue of each object, as its site tells."""
    return residue_index(analysis.system.sites)[analysis.system.object_sites]
