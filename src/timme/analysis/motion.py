"""The part of a result that tells of rigid bodies and how they move.

What its fields mean. Sites are the shown objects, in their order; lengths are in the unit of the
system; places and directions are in the frame of the reference body as it is in the first snapshot
(that of the file, if the first snapshot is the one that is shown).

``found.bodies``
    ``labels`` (body of each site, 0 the largest, -1 for none), ``levels`` (for one body and more:
    ``n_bodies``, ``gap`` G, ``separation`` Q, ``sharpness`` S, ``rest`` and ``labels``), ``chosen``
    (place of the level that was taken), ``next_best`` (another level, or None), ``agreement`` of
    alternate blocks (``counts`` and ``rand``, None of fewer than 4 snapshots), ``n_effective``,
    ``n_snapshots``.
``found.reference``, ``found.moving``
    Number of the body that is held still, and those of the others.
``found.hinges``
    One for each of ``moving``. ``kind`` is one of rigid, translation, hinge, screw, ball, diffuse
    and undefined; ``axis`` (unit vector) and ``point`` (on it, near the interface) are NaN where
    the kind has none; ``angles`` (degrees from the mean) and ``shifts`` belong to the snapshots
    ``frames`` (counted from 0), in which both bodies are whole; ``axis_error`` (one standard
    deviation) and ``axis_cone`` (95 of 100 draws; NaN of two snapshots) are degrees about the axis,
    ``point_error`` is how far it is off across it (of a ball joint, in all directions),
    ``angle_error`` is that of one angle; ``range`` (with ``range_error``) and ``rms`` are of the
    angles; ``states`` is the screw from the lower to the upper of two states, or None; ``verdict``
    what to be careful about.
``found.known``
    Screws of a known transition, one for each of ``moving``, whose axes the angles are measured
    about; empty where each hinge has an axis of its own.
``found.explained``
    Shares of the variance, a row for each of ``levels``, with ``freedom`` to draw them against.
``found.fluctuation``
    Root mean square distance of each site from its mean place, the reference held still.
``splits``
    How the smaller side of each split of the condensed tree of the result moves against the larger:
    ``height``, sites ``reference`` and ``body``, ``motion`` (as in ``hinges``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from timme.analysis.motion_arrays import (
    motions_from_arrays,
    motions_to_arrays,
    splits_from_arrays,
    splits_to_arrays,
)
from timme.analysis.protocol import Arrays, PlainPart, Rows
from timme.analysis.system import System
from timme.hierarchy.tree import Hierarchy
from timme.motion import Bodies, Hinge, Motions, SplitMotion
from timme.motion.counting import ENOUGH, JITTER, SHARP, SOFT


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Moved(PlainPart):
    """Rigid bodies among the shown objects, and how they move."""

    found: Motions  # of the shown objects, in their order
    members: tuple[str, ...]  # of each body, in words: "A 1-29 68-115"
    alone: str  # sites of no body, in words
    next_members: tuple[str, ...]  # of each body of the next best level
    splits: tuple[SplitMotion, ...] = ()  # of the condensed tree, the highest first
    name: ClassVar[str] = "motion"

    def to_arrays(self) -> Arrays:
        """Return what is stored, by name.

        Returns
        -------
        dict
            Bodies and the table of their numbers, motions by body, shares of the variance.
        """
        words = {
            "members": np.array(self.members, dtype=np.str_),
            "alone": self.alone,
            "next_members": np.array(self.next_members, dtype=np.str_),
        }
        return motions_to_arrays(self.found) | splits_to_arrays(self.splits) | words

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], system: System, hierarchy: Hierarchy) -> Self:
        """Make the part of what was stored.

        Parameters
        ----------
        arrays, system, hierarchy
            As for :meth:`Part.from_arrays`.

        Returns
        -------
        Moved
            The same.
        """
        del system, hierarchy
        return cls(
            motions_from_arrays(arrays),
            tuple(arrays["members"].tolist()),
            str(arrays["alone"]),
            tuple(arrays["next_members"].tolist()),
            splits_from_arrays(arrays),
        )

    def facts(self) -> Rows:
        """Describe it in rows of the summary, whatever the cutoff.

        Returns
        -------
        list of (str, str)
            Bodies as runs of residues, and how each moves against the one held still.
        """
        bodies = self.found.bodies
        rows = [("bodies", bodies_text(bodies))]
        if bodies.n_bodies > 1:
            rows += [
                ("", f"{number}: {text}" + self._motion(number - 1))
                for number, text in enumerate(self.members, start=1)
            ]
        if self.alone:
            rows.append(("", f"in no body: {self.alone}"))
        return [*rows, *(("", text) for text in self._next_best())]

    def _motion(self, body: int) -> str:
        if body not in self.found.moving:
            return " (held still)"
        place = self.found.moving.index(body)
        told = hinge_text(self.found.hinges[place], self.found.bodies.hierarchy.unit)
        if self.found.known:
            known, share = self.found.known[place], self.found.hinges[place].index
            told += (
                f"; about the axis of the known transition, {known.angle:.1f}° there, which has "
                f"{100 * share:.0f} % of all turning"
            )
        return f"; {told}"

    def _next_best(self) -> list[str]:
        """Say what the next best number of bodies would be."""
        level = self.found.bodies.next_best
        if level is None:
            return []
        parts = " | ".join(self.next_members)
        soft = "soft parts" if level.gap >= SOFT else "no parts of their own"
        if level.gap >= ENOUGH and level.bends:
            soft = "parts of one that bends evenly"
            soft += f", S {level.sharpness:.2g} where {SHARP:g} is asked for"
        less = ", moving less than they jitter" if level.separation < JITTER else ""
        times = f"{level.gap:.2g} × as much as parts inside them do, {ENOUGH:g} × is asked for"
        return [f"next best, {level.n_bodies}: {soft} ({parts}), {times}{less}"]


def bodies_text(bodies: Bodies) -> str:
    """Say how many bodies there are, and how surely.

    Parameters
    ----------
    bodies : Bodies
        What was found.

    Returns
    -------
    str
        In a line.
    """
    learned = f"from {bodies.n_snapshots} snapshots"
    if bodies.agreement is not None:
        one, other = bodies.agreement.counts
        rand = bodies.agreement.rand
        learned += f"; alternate blocks of them: {one} and {other}, agreeing by {rand:.2f}"
    if bodies.n_bodies == 1:
        return f"one rigid body, {learned}"
    level = bodies.levels[bodies.chosen]
    unit = bodies.hierarchy.unit
    moves = f"they move {level.gap:.3g} × as much as parts inside them do"
    return (
        f"{bodies.n_bodies} rigid bodies with a rest of {level.rest:.2f} {unit}".rstrip()
        + f"; {moves}; {learned}"
    )


def hinge_text(found: Hinge, unit: str = "") -> str:
    """Say how a body moves, in a few words.

    Parameters
    ----------
    found : Hinge
        Its motion.
    unit : str, optional
        Of lengths.

    Returns
    -------
    str
        Kind, angle and axis, or the centre of rotation in a plane, with their errors, and what to
        be careful about.
    """

    def long(length: float) -> str:
        return f"{length:.2g} {unit}".rstrip()

    careful = f" ({found.verdict})" if found.verdict else ""
    if found.kind == "undefined":
        return f"how it moves is not to be told: {found.verdict}"
    if found.kind in {"rigid", "translation"}:
        told = {"rigid": "still", "translation": f"shifted by {long(np.ptp(found.shifts))}"}
        return told[found.kind] + careful
    if found.states is not None:
        careful = f", in two states {found.states.angle:.1f}° apart{careful}"
    if found.in_a_plane:
        x, y, _ = found.point
        return (
            f"{found.kind}, {found.range:.1f}° about the point ({x:.4g}, {y:.4g}) "
            f"± {long(found.point_error)}{careful}"
        )
    sure = f" ± {found.axis_error:.1f}°" if np.isfinite(found.axis_cone) else ""
    axis = ", ".join(f"{part:.2f}" for part in found.axis)
    rise = (
        f", {long(found.pitch * np.radians(found.range))} along it" if found.kind == "screw" else ""
    )
    return f"{found.kind}, {found.range:.1f}° about ({axis}){sure}{rise}{careful}"
