"""Motions as named arrays, and back: columns of numbers and words, series one after another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from timme._arrays import Ints, frozen
from timme.hierarchy.tree import Hierarchy
from timme.motion import (
    Agreement,
    Bodies,
    Explained,
    Hinge,
    Level,
    Motions,
    Screw,
    SplitMotion,
)
from timme.motion.domains import REST

_NUMBERS = (
    *("index", "pitch", "axis_error", "axis_cone", "point_error", "angle_error", "rest", "move"),
)
_VECTORS = ("axis", "point", "spread")
_WORDS = ("kind", "verdict")
_SERIES = ("angles", "shifts", "frames")
_SCREW_NUMBERS = ("angle", "shift", "distance", "noise", "move_noise")
_SCREW_VECTORS = ("axis", "point", "move")


def motions_to_arrays(motions: Motions) -> dict[str, Any]:
    """Return bodies, the table of their numbers, motions by body and shares of the variance.

    Parameters
    ----------
    motions : Motions
        What was found.

    Returns
    -------
    dict
        Arrays by name.
    """
    bodies = motions.bodies
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
        "sharpness": np.array([each.sharpness for each in bodies.levels]),
        "reference": motions.reference,
        "moving": np.array(motions.moving, dtype=np.int64),
        "fluctuation": motions.fluctuation,
    }
    arrays |= _prefixed("hinge", _of_hinges(motions.hinges))
    arrays |= _prefixed("known", _of_screws(motions.known))
    named = {each.name: getattr(motions.explained, each.name) for each in fields(Explained)}
    return arrays | _prefixed("explained", named)


def motions_from_arrays(arrays: Mapping[str, Any]) -> Motions:
    """Make motions of what was stored.

    Parameters
    ----------
    arrays : mapping
        As :func:`motions_to_arrays` returns them.

    Returns
    -------
    Motions
        The same.
    """
    shares = _under("explained", arrays)
    return Motions(
        bodies=_bodies(arrays),
        reference=int(arrays["reference"]),
        moving=tuple(arrays["moving"].tolist()),
        hinges=_hinges(_under("hinge", arrays)),
        explained=Explained(**{each.name: _plain(shares[each.name]) for each in fields(Explained)}),
        fluctuation=arrays["fluctuation"],
        known=tuple(_screws(_under("known", arrays))),
    )


def splits_to_arrays(splits: Sequence[SplitMotion]) -> dict[str, Any]:
    """Return how the sides of splits move.

    Parameters
    ----------
    splits : sequence of SplitMotion
        What was found.

    Returns
    -------
    dict
        Arrays by name.
    """
    arrays = _prefixed("split.hinge", _of_hinges([each.motion for each in splits]))
    arrays["split.height"] = np.array([each.height for each in splits], dtype=np.float64)
    for side in ("reference", "body"):
        members = [getattr(each, side) for each in splits]
        arrays[f"split.{side}"] = _joined(members).astype(np.int64)
        arrays[f"split.{side}_length"] = np.array([len(each) for each in members], np.int64)
    return arrays


def splits_from_arrays(arrays: Mapping[str, Any]) -> tuple[SplitMotion, ...]:
    """Make the motions of splits of what was stored.

    Parameters
    ----------
    arrays : mapping
        As :func:`splits_to_arrays` returns them.

    Returns
    -------
    tuple of SplitMotion
        The same.
    """
    sides = (
        _apart(arrays[f"split.{side}"], arrays[f"split.{side}_length"])
        for side in ("reference", "body")
    )
    motions = _hinges(_under("split.hinge", arrays))
    rows = zip(arrays["split.height"].tolist(), *sides, motions, strict=True)
    return tuple(
        SplitMotion(height, frozen(larger), frozen(smaller), motion)
        for height, larger, smaller, motion in rows
    )


def _prefixed(prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{prefix}.{name}": value for name, value in values.items()}


def _under(prefix: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
    start = f"{prefix}."
    return {name[len(start) :]: arrays[name] for name in arrays if name.startswith(start)}


def _joined(series: Sequence[Any]) -> Any:
    return np.concatenate(series) if series else np.empty(0)


def _apart(joined: Any, lengths: Ints) -> list[Any]:
    return np.split(joined, np.cumsum(lengths)[:-1]) if len(lengths) else []


def _agreement(bodies: Bodies) -> Any:
    if bodies.agreement is None:
        return np.empty(0)
    return np.array([*bodies.agreement.counts, bodies.agreement.rand])


def _bodies(arrays: Mapping[str, Any]) -> Bodies:
    agreed = arrays["agreement"].tolist()
    quantity = replace(REST, unit=str(arrays["unit"]))
    # Results written before sharpness was told have none.
    sharp = arrays.get("sharpness", np.full(len(arrays["levels"]), np.nan)).tolist()
    levels = zip(arrays["levels"].tolist(), sharp, arrays["level_labels"], strict=True)
    return Bodies(
        labels=arrays["labels"],
        hierarchy=Hierarchy(arrays["parents"], arrays["heights"], quantity),
        cutoff=float(arrays["cutoff"]),
        levels=tuple(
            Level(int(n), gap, apart, sharp, rest, labels)
            for (n, gap, apart, rest), sharp, labels in levels
        ),
        chosen=int(arrays["chosen"]),
        n_effective=float(arrays["n_effective"]),
        n_snapshots=int(arrays["n_snapshots"]),
        agreement=Agreement((int(agreed[0]), int(agreed[1])), agreed[2]) if agreed else None,
    )


def _of_hinges(hinges: Sequence[Hinge]) -> dict[str, Any]:
    """A row for each; series stand one after another, and so do the screws between states."""
    columns = _columns(hinges, _NUMBERS, _VECTORS, _WORDS)
    for name in _SERIES:
        columns[name] = _joined([getattr(each, name) for each in hinges])
    columns["length"] = np.array([len(each.frames) for each in hinges], dtype=np.int64)
    columns["two_states"] = np.array([each.states is not None for each in hinges], dtype=np.bool_)
    states = _of_screws([each.states for each in hinges if each.states is not None])
    return columns | _prefixed("states", states)


def _hinges(columns: Mapping[str, Any]) -> tuple[Hinge, ...]:
    lengths: Ints = columns["length"]
    series = {name: _apart(columns[name], lengths) for name in _SERIES}
    states = _screws(_under("states", columns))
    found = []
    for row, values in enumerate(_rows(columns, len(lengths), _NUMBERS, _VECTORS)):
        values |= {name: frozen(series[name][row]) for name in _SERIES}
        values["frames"] = frozen(values["frames"].astype(np.int64))
        values["states"] = next(states) if columns["two_states"][row] else None
        found.append(Hinge(**values))
    return tuple(found)


def _of_screws(screws: Sequence[Screw]) -> dict[str, Any]:
    return _columns(screws, _SCREW_NUMBERS, _SCREW_VECTORS, _WORDS)


def _screws(columns: Mapping[str, Any]) -> Iterator[Screw]:
    rows = _rows(columns, len(columns["kind"]), _SCREW_NUMBERS, _SCREW_VECTORS)
    return (Screw(**values) for values in rows)


def _columns(
    rows: Sequence[Any], numbers: Sequence[str], vectors: Sequence[str], words: Sequence[str]
) -> dict[str, Any]:
    columns: dict[str, Any] = {
        name: np.array([getattr(each, name) for each in rows], dtype=np.float64).reshape(
            (len(rows), 3) if name in vectors else len(rows)
        )
        for name in (*numbers, *vectors)
    }
    said = {name: np.array([getattr(each, name) for each in rows], dtype=np.str_) for name in words}
    return columns | said


def _rows(
    columns: Mapping[str, Any], count: int, numbers: Sequence[str], vectors: Sequence[str]
) -> Iterator[dict[str, Any]]:
    for row in range(count):
        values: dict[str, Any] = {name: float(columns[name][row]) for name in numbers}
        values |= {name: columns[name][row] for name in vectors}
        yield values | {name: str(columns[name][row]) for name in _WORDS}


def _plain(value: Any) -> Any:
    return np.asarray(value).item() if np.ndim(value) == 0 else value
