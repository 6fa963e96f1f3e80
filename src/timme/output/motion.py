"""Rigid bodies and their motions in tables and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timme.analysis import Analysis, Moved
from timme.motion import Hinge
from timme.output.axes import COLUMN, draw_legend, draw_places, new_axes, places_of, tick_size
from timme.output.colours import CORE, body_colours
from timme.output.declared import PartFigure, PartOutput
from timme.output.look import Look
from timme.output.tables import csv_text, runs_text, short_names, with_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FILES = {
    "bodies.csv": "rigid body of every shown object, and how far it moves",
    "motions.csv": "how each body moves: kind, angle, axis, place and their errors",
    "angles.csv": "angle of each body in every snapshot",
    "splits.csv": "how the smaller side of each split of the hierarchy moves against the larger",
    "bodies-by-number.csv": "gap, separation, rest and explained variance by number of bodies",
}
_NO_BODIES = "rigid bodies are looked for among residues in 3 dimensions"


def bodies_csv(part: Moved, analysis: Analysis) -> str:
    """List the body of every shown object.

    Parameters
    ----------
    part : Moved
        Rigid bodies.
    analysis : Analysis
        What was analysed.

    Returns
    -------
    str
        CSV; body 0 stands for none.
    """
    system, motions = analysis.system, part.found
    names = system.names[system.shown].tolist()
    rows = zip(
        names, (motions.bodies.labels + 1).tolist(), motions.fluctuation.tolist(), strict=True
    )
    return csv_text(["name", "body", with_unit("rmsf", system.unit)], rows)


def motions_csv(part: Moved, analysis: Analysis) -> str:
    """List how bodies move.

    Parameters
    ----------
    part : Moved
        Rigid bodies.
    analysis : Analysis
        What was analysed.

    Returns
    -------
    str
        CSV, one body per row; empty where there is no telling. One body alone has a row that
        says so.
    """
    found = part.found
    header = ["body", "against", *_motion_header(analysis.system.unit)]
    rows: list[list[object]] = [
        [body + 1, found.reference + 1, *_motion_row(each)]
        for body, each in zip(found.moving, found.hinges, strict=True)
    ]
    if not rows:
        words = "one rigid body, which moves against no other"
        alone = {"body": found.reference + 1, "kind": "rigid", "careful": words}
        rows = [[alone.get(name, "") for name in header]]
    return csv_text(header, rows)


def splits_csv(part: Moved, analysis: Analysis) -> str:
    """List how the sides of the splits of the shown hierarchy move.

    Parameters
    ----------
    part : Moved
        Rigid bodies.
    analysis : Analysis
        What was analysed.

    Returns
    -------
    str
        CSV, one split per row, the highest first.
    """
    names = short_names(analysis)
    rows = [
        [
            float(f"{each.height:.6g}"),
            runs_text(each.body, names),
            runs_text(each.reference, names),
            *_motion_row(each.motion),
        ]
        for each in part.splits
    ]
    header = [with_unit("height", analysis.system.unit), "smaller side", "against"]
    return csv_text([*header, *_motion_header(analysis.system.unit)], rows)


def _motion_header(unit: str) -> list[str]:
    return [
        *("kind", "range (°)", "rms (°)", "angle error (°)"),
        *("axis x", "axis y", "axis z", "axis error (°)", "cone of 95 % (°)"),
        *(with_unit(f"point {axis}", unit) for axis in "xyz"),
        *(with_unit(name, unit) for name in ("point error", "pitch per rad", "rest")),
        *("hinge index", "between states (°)", "snapshots", "careful"),
    ]


def _motion_row(each: Hinge) -> list[object]:
    between = float("nan") if each.states is None else each.states.angle
    numbers = [
        *(each.range, each.rms, each.angle_error, *each.axis),
        *(each.axis_error, each.axis_cone, *each.point),
        *(each.point_error, each.pitch, each.rest, each.index, between),
    ]
    told = [float(f"{value:.6g}") if np.isfinite(value) else "" for value in numbers]
    return [each.kind, *told, len(each.frames), each.verdict]


def angles_csv(part: Moved) -> str:
    """List the angle of each body in every snapshot.

    Parameters
    ----------
    part : Moved
        Rigid bodies.

    Returns
    -------
    str
        CSV, one snapshot per row; empty where a body is not whole.
    """
    frames = sorted({int(frame) for each in part.found.hinges for frame in each.frames})
    place = {frame: row for row, frame in enumerate(frames)}
    columns = []
    for each in part.found.hinges:
        column: list[object] = [""] * len(frames)
        for frame, angle in zip(each.frames.tolist(), each.angles.tolist(), strict=True):
            column[place[frame]] = float(f"{angle:.6g}")
        columns.append(column)
    header = ["snapshot", *(f"body {body + 1} (°)" for body in part.found.moving)]
    return csv_text(header, zip([frame + 1 for frame in frames], *columns, strict=True))


def numbers_csv(part: Moved, analysis: Analysis) -> str:
    """List what each number of bodies would account for.

    Parameters
    ----------
    part : Moved
        Rigid bodies.
    analysis : Analysis
        What was analysed.

    Returns
    -------
    str
        CSV, one number per row.
    """
    shares = part.found.explained
    header = [
        *("bodies", "gap G", "separation Q", "sharpness S"),
        with_unit("rest", analysis.system.unit),
        *("degrees of freedom", "explained", "explained linearly", "explained, held out"),
        *("by components", "by components, held out"),
    ]
    rows = []
    for row, level in enumerate(part.found.bodies.levels):
        numbers = [
            *(level.gap, level.separation, level.sharpness, level.rest),
            *(shares.freedom[row], shares.finite[row]),
            *(shares.linear[row], shares.held_out[row], shares.components[row]),
            shares.components_held_out[row],
        ]
        told = [float(f"{value:.6g}") if np.isfinite(value) else "" for value in numbers]
        rows.append([level.n_bodies, *told])
    return csv_text(header, rows)


def _tables(part: Moved, analysis: Analysis, look: Look) -> dict[str, str]:
    del look
    texts = (
        bodies_csv(part, analysis),
        motions_csv(part, analysis),
        angles_csv(part),
        splits_csv(part, analysis),
        numbers_csv(part, analysis),
    )
    made = dict(zip(_FILES, texts, strict=True))
    if not part.found.hinges:
        del made["angles.csv"]  # one body turns against none
    return made


def _bodies(part: Moved, analysis: Analysis, look: Look) -> Axes:
    """Fluctuation along the chain, in the colours of the bodies."""
    places = places_of(analysis, look.order)
    order = np.arange(len(part.found.fluctuation)) if places is None else places.order
    moved, labels = part.found.fluctuation[order], part.found.bodies.labels[order]
    colours = body_colours(part.found.bodies.n_bodies)
    axes = new_axes(COLUMN, 2.2)
    edges = np.arange(len(moved) + 1)
    for body in (*range(part.found.bodies.n_bodies), -1):
        here = labels == body
        if here.any():
            name = "no body" if body < 0 else f"body {body + 1}"
            heights = np.where(here, moved, np.nan)
            axes.stairs(np.nan_to_num(heights), edges, fill=True, color=colours[body], label=name)
    draw_places(axes, places, len(moved))
    axes.set_ylim(0, None)
    words = f"RMSF, body {part.found.reference + 1} still"
    axes.set_ylabel(with_unit(words, analysis.system.unit))
    draw_legend(axes)
    return axes


def _angles(part: Moved, analysis: Analysis, look: Look) -> Axes:
    """Angle of each body in every snapshot, and how often each was seen."""
    del analysis, look
    colours = body_colours(part.found.bodies.n_bodies)
    axes = new_axes(COLUMN, 2.2)
    beside = axes.inset_axes((1.02, 0.0, 0.18, 1.0), sharey=axes)
    for body, each in zip(part.found.moving, part.found.hinges, strict=True):
        if not len(each.angles):
            continue
        name = f"body {body + 1}, {each.kind}"
        few = len(each.angles) <= 30
        axes.plot(
            each.frames + 1, each.angles, color=colours[body], linewidth=0.9, label=name,
            marker="o" if few else "", markersize=2,
        )  # fmt: skip
        beside.hist(
            each.angles, bins=20, orientation="horizontal", color=colours[body],
            histtype="step", linewidth=0.9,
        )  # fmt: skip
    beside.tick_params(labelleft=False, labelsize=tick_size(axes), width=0.6, length=2.5)
    beside.set_xticks([])
    for spine in beside.spines.values():
        spine.set_linewidth(0.6)
    axes.set(xlabel="Snapshot", ylabel="Angle from the mean (°)")
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False,
                fontsize=tick_size(axes), handlelength=1.5, borderaxespad=0.2)  # fmt: skip
    return axes


def _variance(part: Moved, analysis: Analysis, look: Look) -> Axes:
    """Share of the variance that bodies and as many components account for."""
    del analysis, look
    shares = part.found.explained
    axes = new_axes(COLUMN, 2.4)
    curves = (
        (shares.finite, CORE, "-", "o", "rigid bodies"),
        (shares.held_out, CORE, (0, (3, 2)), "o", "held out"),
        (shares.components, "#d55e00", "-", "s", "components"),
        (shares.components_held_out, "#d55e00", (0, (3, 2)), "s", "held out"),
    )
    for values, colour, line, marker, name in curves:
        if np.isfinite(values).any():
            axes.plot(
                shares.freedom, 100 * values, color=colour, linestyle=line, linewidth=0.9,
                marker=marker, markersize=2.5, label=name,
            )  # fmt: skip
    for count, freedom, share in zip(
        shares.n_bodies, shares.freedom, 100 * shares.finite, strict=True
    ):
        axes.annotate(
            str(count), (freedom, share), xytext=(0, -9), textcoords="offset points",
            ha="center", fontsize=tick_size(axes), color=CORE,
        )  # fmt: skip
    axes.set(xlabel="Degrees of freedom", ylabel="Variance explained (%)", ylim=(-9, 103))
    draw_legend(axes)
    return axes


def _has_several(analysis: Analysis) -> bool:
    part = analysis.part(Moved)
    return part is not None and part.found.bodies.n_bodies > 1


def _moves(analysis: Analysis) -> bool:
    part = analysis.part(Moved)
    return part is not None and part.found.explained.variance > 0


MOVED = PartOutput(
    Moved,
    figures=(
        PartFigure(
            "bodies", _bodies, _NO_BODIES, caption="rigid bodies, and how far their sites move"
        ),
        PartFigure(
            "angles",
            _angles,
            "only several rigid bodies turn against one another",
            caption="angle of each body in every snapshot",
            suits=_has_several,
        ),
        PartFigure(
            "variance",
            _variance,
            "rigid bodies account for a share of the variance only where something moves",
            caption="variance that rigid bodies and principal components account for",
            first=False,
            suits=_moves,
        ),
    ),
    files=_FILES,
    tables=_tables,
)
