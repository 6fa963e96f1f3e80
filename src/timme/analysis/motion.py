"""The part of a result that tells of rigid bodies and how they move."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np

from timme._arrays import Ints, frozen
from timme._html import Described
from timme.analysis.system import System
from timme.hierarchy.tree import Hierarchy
from timme.motion import Agreement, Bodies, Explained, Hinge, Level, Motions
from timme.motion.counting import ENOUGH, JITTER, SOFT
from timme.motion.domains import REST

_NUMBERS = (
    *("index", "pitch", "axis_error", "axis_cone", "point_error", "angle_error", "rest", "move"),
)
_VECTORS = ("axis", "point", "spread")
_WORDS = ("kind", "verdict")
_SERIES = ("angles", "shifts", "frames")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Moved(Described):
    """Rigid bodies among the shown objects, and how they move."""

    found: Motions  # of the shown objects, in their order
    members: tuple[str, ...]  # of each body, in words: "A 1-29 68-115"
    alone: str  # sites of no body, in words
    next_members: tuple[str, ...]  # of each body of the next best level
    name: ClassVar[str] = "motion"

    def to_arrays(self) -> dict[str, Any]:
        """Return what is stored, by name.

        Returns
        -------
        dict
            Bodies and the table of their numbers, motions by body, shares of the variance.
        """
        bodies, motions = self.found.bodies, self.found
        arrays: dict[str, Any] = {
            "labels": bodies.labels,
            "parents": bodies.hierarchy.parents,
            "heights": bodies.hierarchy.heights,
            "unit": bodies.hierarchy.unit,
            "cutoff": bodies.cutoff,
            "chosen": bodies.chosen,
            "n_effective": bodies.n_effective,
            "n_snapshots": bodies.n_snapshots,
            "agreement": _agreement(bodies),
            "level_labels": np.array([level.labels for level in bodies.levels]),
            "levels": np.array(
                [(each.n_bodies, each.gap, each.separation, each.rest) for each in bodies.levels]
            ),
            "reference": motions.reference,
            "moving": np.array(motions.moving, dtype=np.int64),
            "fluctuation": motions.fluctuation,
            "members": np.array(self.members, dtype=np.str_),
            "alone": self.alone,
            "next_members": np.array(self.next_members, dtype=np.str_),
        }
        arrays |= {f"hinge.{name}": value for name, value in _of_hinges(motions.hinges).items()}
        named = (each.name for each in fields(Explained))
        return arrays | {f"explained.{name}": getattr(motions.explained, name) for name in named}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], system: System, hierarchy: Hierarchy) -> Self:
        """Make the part of what was stored.

        Parameters
        ----------
        arrays : mapping
            As :meth:`to_arrays` returns them.
        system : System
            What was analysed.
        hierarchy : Hierarchy
            Of all objects.

        Returns
        -------
        Moved
            Without the screws between states, which are not stored.
        """
        del system, hierarchy
        motions = Motions(
            bodies=_bodies(arrays),
            reference=int(arrays["reference"]),
            moving=tuple(arrays["moving"].tolist()),
            hinges=_hinges(arrays),
            explained=Explained(
                **{
                    each.name: _plain(arrays[f"explained.{each.name}"])
                    for each in fields(Explained)
                }
            ),
            fluctuation=arrays["fluctuation"],
        )
        return cls(
            motions,
            tuple(arrays["members"].tolist()),
            str(arrays["alone"]),
            tuple(arrays["next_members"].tolist()),
        )

    def facts(self) -> list[tuple[str, str]]:
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

    def findings(
        self, hierarchy: Hierarchy, cutoff: float | None, *, min_size: int
    ) -> list[tuple[str, str]]:
        """Describe in rows of the summary what it says at a cutoff.

        Parameters
        ----------
        hierarchy, cutoff, min_size
            As for :meth:`Part.findings`.

        Returns
        -------
        list of (str, str)
            None: bodies are the same at all cutoffs of σ.
        """
        del hierarchy, cutoff, min_size
        return []

    def _motion(self, body: int) -> str:
        if body not in self.found.moving:
            return " (held still)"
        return f"; {hinge_text(self.found.hinges[self.found.moving.index(body)])}"

    def _next_best(self) -> list[str]:
        """Say what the next best number of bodies would be."""
        level = self.found.bodies.next_best
        if level is None:
            return []
        parts = " | ".join(self.next_members)
        soft = "soft parts" if level.gap >= SOFT else "no parts of their own"
        less = ", moving less than they jitter" if level.separation < JITTER else ""
        times = f"{level.gap:.2g} × as much as parts inside them do, {ENOUGH:g} × is asked for"
        return [f"next best, {level.n_bodies}: {soft} ({parts}), {times} (provisional){less}"]


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


def hinge_text(found: Hinge) -> str:
    """Say how a body moves, in a few words.

    Parameters
    ----------
    found : Hinge
        Its motion.

    Returns
    -------
    str
        Kind, angle and axis with their errors, and what to be careful about.
    """
    careful = f" ({found.verdict})" if found.verdict else ""
    if found.kind == "undefined":
        return f"how it moves is not to be told: {found.verdict}"
    if found.kind in {"rigid", "translation"}:
        told = {"rigid": "still", "translation": f"shifted by {np.ptp(found.shifts):.2g}"}
        return told[found.kind] + careful
    sure = f" ± {found.axis_error:.1f}°" if len(found.angles) > 2 else ""
    axis = ", ".join(f"{part:.2f}" for part in found.axis)
    rise = (
        f", {found.pitch * np.radians(found.range):.2g} along it" if found.kind == "screw" else ""
    )
    return f"{found.kind}, {found.range:.1f}° about ({axis}){sure}{rise}{careful}"


def _agreement(bodies: Bodies) -> Any:
    if bodies.agreement is None:
        return np.empty(0)
    return np.array([*bodies.agreement.counts, bodies.agreement.rand])


def _bodies(arrays: Mapping[str, Any]) -> Bodies:
    agreed = arrays["agreement"].tolist()
    quantity = REST if not str(arrays["unit"]) else _with_unit(str(arrays["unit"]))
    levels = zip(arrays["levels"].tolist(), arrays["level_labels"], strict=True)
    return Bodies(
        labels=arrays["labels"],
        hierarchy=Hierarchy(arrays["parents"], arrays["heights"], quantity),
        cutoff=float(arrays["cutoff"]),
        levels=tuple(
            Level(int(n), gap, apart, rest, labels) for (n, gap, apart, rest), labels in levels
        ),
        chosen=int(arrays["chosen"]),
        n_effective=float(arrays["n_effective"]),
        n_snapshots=int(arrays["n_snapshots"]),
        agreement=Agreement((int(agreed[0]), int(agreed[1])), agreed[2]) if agreed else None,
    )


def _with_unit(unit: str) -> Any:
    from dataclasses import replace

    return replace(REST, unit=unit)


def _of_hinges(hinges: tuple[Hinge, ...]) -> dict[str, Any]:
    """Columns of numbers and words, a row for each; series stand one after another."""
    columns: dict[str, Any] = {
        name: np.array([getattr(each, name) for each in hinges], dtype=np.float64).reshape(
            (len(hinges), 3) if name in _VECTORS else len(hinges)
        )
        for name in (*_NUMBERS, *_VECTORS)
    }
    columns |= {
        name: np.array([getattr(each, name) for each in hinges], dtype=np.str_) for name in _WORDS
    }
    for name in _SERIES:
        series = [getattr(each, name) for each in hinges]
        columns[name] = np.concatenate(series) if series else np.empty(0)
    columns["length"] = np.array([len(each.frames) for each in hinges], dtype=np.int64)
    return columns


def _hinges(arrays: Mapping[str, Any]) -> tuple[Hinge, ...]:
    lengths: Ints = arrays["hinge.length"]
    bounds = np.cumsum(lengths)[:-1]
    series = {name: np.split(arrays[f"hinge.{name}"], bounds) for name in _SERIES}
    found = []
    for row in range(len(lengths)):
        values: dict[str, Any] = {name: float(arrays[f"hinge.{name}"][row]) for name in _NUMBERS}
        values |= {name: arrays[f"hinge.{name}"][row] for name in _VECTORS}
        values |= {name: str(arrays[f"hinge.{name}"][row]) for name in _WORDS}
        values |= {name: frozen(series[name][row]) for name in _SERIES}
        values["frames"] = frozen(values["frames"].astype(np.int64))
        found.append(Hinge(states=None, **values))
    return tuple(found)


def _plain(value: Any) -> Any:
    return np.asarray(value).item() if np.ndim(value) == 0 else value
