"""Figures of motion: bodies, their angles, principal components and correlation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from timme._arrays import Strings
from timme.analysis.result import Analysis
from timme.motion.motions import Motions
from timme.motion.variance import Components
from timme.output.axes import (
    HEIGHT,
    draw_legend,
    draw_places,
    new_axes,
    places_of,
    with_unit,
)
from timme.output.colours import group_colours, palette_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _motion(analysis: Analysis) -> Motions:
    if analysis.motion is None:
        raise ValueError("this result has no rigid bodies: they are found in molecules")
    return analysis.motion


def _modes(analysis: Analysis) -> Components:
    if analysis.modes is None:
        raise ValueError("this result has no principal components: use timme motion")
    return analysis.modes


def _colours(analysis: Analysis) -> Strings:
    return group_colours(_motion(analysis).bodies.n_bodies, palette_of(analysis))


def bodies(analysis: Analysis, ax: Axes | None = None) -> Axes:
    """Draw the fluctuation of each site with the reference held still, coloured by body."""
    axes, places, motion = new_axes(ax, 0.75 * HEIGHT), places_of(analysis), _motion(analysis)
    moved, labels = motion.fluctuation[places.order], motion.bodies.labels[places.order]
    colours, edges = _colours(analysis), np.arange(len(moved) + 1)
    for body in (*range(motion.bodies.n_bodies), -1):
        here = labels == body
        if here.any():
            name = "no body" if body < 0 else f"body {body + 1}"
            height = np.where(here, moved, 0.0)
            axes.stairs(height, edges, fill=True, color=str(colours[body]), label=name)
    draw_places(axes, places)
    words = f"RMSF, body {motion.reference + 1} held still"
    axes.set(ylim=(0, None), ylabel=with_unit(words, analysis.system.unit))
    draw_legend(axes, "beside")
    return axes


def angles(analysis: Analysis, ax: Axes | None = None) -> Axes:
    """Draw the angle of each body in every snapshot."""
    axes, motion, colours = new_axes(ax, 0.75 * HEIGHT), _motion(analysis), _colours(analysis)
    for body, against, each in zip(motion.moving, motion.relative_to, motion.hinges, strict=True):
        name = f"body {body + 1}, against {against + 1}"
        mark = "o" if len(each.frames) < 30 else ""
        axes.plot(
            each.frames + 1, each.angles, marker=mark, markersize=3, linewidth=1.2,
            color=str(colours[body]), label=name,
        )  # fmt: skip
    axes.set(xlabel="Snapshot", ylabel="Angle from the mean (°)")
    draw_legend(axes, "beside")
    return axes


def variance(analysis: Analysis, ax: Axes | None = None) -> Axes:
    """Draw the share of the motion that each number of rigid bodies explains."""
    axes, found = new_axes(ax, 0.85 * HEIGHT), _motion(analysis).explained
    for values, style, colour, name in (
        (found.finite, "o-", "#00008b", "rigid bodies"),
        (found.held_out, "o--", "#00008b", "rigid bodies, held-out snapshots"),
        (found.components, "s-", "#e69f00", "as many components"),
        (found.components_held_out, "s--", "#e69f00", "components, held-out snapshots"),
    ):
        if np.isfinite(values).any():
            axes.plot(found.n_bodies, 100 * values, style, color=colour, markersize=4, label=name)
    chosen = _motion(analysis).bodies.n_bodies
    axes.axvline(chosen, color="black", linewidth=0.9, linestyle=(0, (4, 2)))
    axes.set(xticks=found.n_bodies, ylim=(0, 103), xlabel="Rigid bodies")
    axes.set_ylabel("Share of the motion (%)")
    draw_legend(axes, "lower right")
    return axes


def modes(analysis: Analysis, ax: Axes | None = None) -> Axes:
    """Draw the share of the variance in each principal component, and their sum."""
    axes, found = new_axes(ax, 0.75 * HEIGHT), _modes(analysis)
    sums = 100 * found.cumulated[:20]
    number = np.arange(1, len(sums) + 1)
    axes.bar(number, np.diff(sums, prepend=0.0), color="#00008b", label="each")
    axes.plot(number, sums, "o-", color="#e69f00", markersize=3, linewidth=1.2, label="sum")
    axes.set(ylim=(0, 103), xlabel="Principal component", ylabel="Share of the variance (%)")
    draw_legend(axes, "center right")
    return axes


def two_point(analysis: Analysis, ax: Axes | None = None) -> Axes:
    """Draw correlated displacements against distance; hollow where there is no error."""
    found, axes, palette = analysis.correlation, new_axes(ax), palette_of(analysis)
    if found is None:
        raise ValueError("this result has no two-point correlation: use timme two-point")
    for row, lag in enumerate(found.lags.tolist()):
        look: dict[str, Any] = {"color": palette[row % len(palette)], "markersize": 3}
        for values, errors, style, name in (
            (found.along, found.along_error, "o-", "$D_{rr}$"),
            (found.across, found.across_error, "s--", r"$D_\perp$"),
        ):
            label = f"{name}, lag {lag}"
            shown = values[row] / lag, errors[row] / lag
            axes.errorbar(found.distances, *shown, fmt=style, elinewidth=0.7, label=label, **look)
            bare = np.isnan(errors[row])
            axes.plot(found.distances[bare], shown[0][bare], style[0], mfc="white", **look)
    axes.axhline(0, color="black", linewidth=0.6)
    unit = analysis.system.unit
    axes.set_xlabel(with_unit("Distance", unit))
    axes.set_ylabel(with_unit("Correlation / lag", f"{unit}²" if unit else ""))
    draw_legend(axes, "beside")
    return axes
