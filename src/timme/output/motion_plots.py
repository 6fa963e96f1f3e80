"""Figures of motion: bodies, their angles and principal components."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timme.analysis.result import Analysis
from timme.output import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def bodies(analysis: Analysis, ax: Axes | None = None) -> Axes:
    """Draw the fluctuation of each site with the reference held still, coloured by body."""
    axes, places = style.new_axes(ax, 0.75 * style.HEIGHT), style.places_of(analysis)
    motion = style.need(analysis.motion)
    moved, labels = motion.fluctuation[places.order], motion.bodies.labels[places.order]
    colours, edges = style.group_colours(analysis), np.arange(len(moved) + 1)
    for body in (*range(motion.bodies.n_bodies), -1):
        here = labels == body
        if here.any():
            name = "no body" if body < 0 else f"body {body + 1}"
            height = np.where(here, moved, 0.0)
            axes.stairs(height, edges, fill=True, color=str(colours[body]), label=name)
    style.draw_places(axes, places)
    words = f"RMSF, body {motion.reference + 1} held still"
    axes.set(ylim=(0, None), ylabel=style.with_unit(words, analysis.system.unit))
    style.draw_legend(axes, "beside")
    return axes


def angles(analysis: Analysis, ax: Axes | None = None) -> Axes:
    """Draw the angle of each body in every snapshot."""
    axes, motion = style.new_axes(ax, 0.75 * style.HEIGHT), style.need(analysis.motion)
    colours = style.group_colours(analysis)
    for body, against, each in zip(motion.moving, motion.relative_to, motion.hinges, strict=True):
        name = f"body {body + 1}, against {against + 1}"
        mark = "o" if len(each.frames) < 30 else ""
        axes.plot(
            each.frames + 1, each.angles, marker=mark, markersize=3, linewidth=1.2,
            color=str(colours[body]), label=name,
        )  # fmt: skip
    axes.set(xlabel="Snapshot", ylabel="Angle from the mean (°)")
    style.draw_legend(axes, "beside")
    return axes


def modes(analysis: Analysis, ax: Axes | None = None) -> Axes:
    """Draw the share of the variance in each principal component, and their sum."""
    axes, found = style.new_axes(ax, 0.75 * style.HEIGHT), style.need(analysis.modes)
    sums = 100 * found.cumulated[:20]
    number = np.arange(1, len(sums) + 1)
    axes.bar(number, np.diff(sums, prepend=0.0), color="#00008b", label="each")
    axes.plot(number, sums, "o-", color="#e69f00", markersize=3, linewidth=1.2, label="sum")
    axes.set(ylim=(0, 103), xlabel="Principal component", ylabel="Share of the variance (%)")
    style.draw_legend(axes, "center right")
    return axes
