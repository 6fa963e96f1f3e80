"""Figures: the finding, the dilution plot, curves of the paper, angles, modes and matrices."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from timme import theory
from timme._arrays import Floats, Ints, Strings
from timme.analysis.result import Analysis, Comparison
from timme.analysis.tables import min_size, verdict
from timme.confidence.assessment import Confidence
from timme.hierarchy.curves import Curves
from timme.hierarchy.stripes import lay_out_stripes
from timme.hierarchy.tree import Hierarchy
from timme.output import style
from timme.output.style import Places

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CORE, THEORY = style.SAFE[0], "#d55e00"
_MOST_VECTORS = 20_000  # stripes; more become an image within a vector file
_MOST_NAMES = 15  # groups in a legend
_MOST_SHADED = 5_000  # sites whose clusters are shaded by their support
_MOST_PIXELS = 500  # along each side of a matrix: about what a column in print resolves
_UNKNOWN = "#dcdcdc"
_SHADES = {  # transparency of white over a cluster, and its hatching
    "well supported": (0.0, None),
    "tentative": (0.3, "//////"),
    "not established": (0.65, None),
}


def finding(analysis: Analysis) -> Figure:
    """Draw the groups of the finding above the dilution plot, with the finding as the caption.

    Parameters
    ----------
    analysis : Analysis
        What was found.

    Returns
    -------
    Figure
        For a talk.
    """
    places, in_space = style.places_of(analysis), not analysis.system.sequential
    in_space &= analysis.system.coordinates.shape[1] > 1
    height, ratios = (1.55, (1.1, 1)) if in_space else (1.15, (0.08, 1))
    figure = style.new_figure(height * style.HEIGHT, 1.2 * style.WIDTH)
    upper, lower = figure.subplots(2, 1, height_ratios=ratios)
    whole = re.sub(r"(?<=\b\w) (?=\d)|(?<=\d) (?=\w+\))", "\xa0", analysis.finding.sentence)
    caption = textwrap.fill(whole, 72, break_on_hyphens=False)
    figure.suptitle(caption, x=0.01, ha="left", size=10, weight="bold", parse_math=False)
    if in_space:
        _draw_in_space(upper, analysis)
    else:
        _draw_along(upper, analysis, places)
    dilution(analysis, lower)
    return figure


def _draw_along(axes: Axes, analysis: Analysis, places: Places) -> None:
    """Draw the group of each shown object along the axis of the dilution plot."""
    from matplotlib.colors import to_rgba_array

    labels = analysis.finding.labels[places.order]
    colours = to_rgba_array(style.group_colours(analysis)[labels])
    axes.imshow([colours], aspect="auto", extent=(0, len(labels), 0, 1), interpolation="nearest")
    axes.set(xticks=[], yticks=[])
    _name_groups(axes, analysis, labels, "above", columns=4)


def _draw_in_space(axes: Axes, analysis: Analysis) -> None:
    """Draw the groups in space: the two widest directions of the first snapshot."""
    system, labels = analysis.system, analysis.finding.labels
    points = np.asarray(system.coordinates[system.object_sites[system.shown]], np.float64)
    widest = np.sort(np.argsort(-np.nanstd(points, axis=0), kind="stable")[:2])
    size = float(np.clip(8_000 / max(len(points), 1), 2, 40))
    order = np.argsort(labels, kind="stable")
    colours = style.group_colours(analysis)[labels[order]]
    across, up = points[order][:, widest].T
    axes.scatter(across, up, s=size, c=colours, linewidths=0)
    axes.set_aspect("equal")
    x, y = ("xyz"[axis] if axis < 3 else f"axis {axis + 1}" for axis in widest)
    axes.set(xlabel=style.with_unit(x, system.unit), ylabel=style.with_unit(y, system.unit))
    _name_groups(axes, analysis, labels, "beside", columns=1)


def _name_groups(axes: Axes, analysis: Analysis, labels: Ints, where: str, *, columns: int) -> None:
    from matplotlib.patches import Patch

    colours, name = style.group_colours(analysis), style.group_word(analysis)
    rest, *sizes = np.bincount(labels + 1, minlength=1).tolist()
    shown = enumerate(sizes[:_MOST_NAMES])
    handles = [Patch(color=colours[k], label=f"{name} {k + 1} ({size})") for k, size in shown]
    if handles and rest:
        handles.append(Patch(color=style.REST, label=f"none ({rest})"))
    if handles:
        style.draw_legend(axes, where, handles=handles, ncols=min(columns, len(handles)))


def dilution(analysis: Analysis, ax: Axes | None = None) -> Axes:
    """Draw the dilution plot: which site is in which cluster, at every cutoff.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    ax : Axes, optional
        Where to draw; axes in a new figure by default.

    Returns
    -------
    Axes
        Cutoffs grow upwards; the stripes are its first collection.
    """
    axes, places = style.new_axes(ax), style.places_of(analysis)
    tree, least = analysis.hierarchy, min_size(analysis)
    colours = style.family_colours(analysis)
    _draw_stripes(axes, tree, places.order, least, colours)
    if analysis.confidence is not None and tree.n_sites <= _MOST_SHADED:
        _shade(axes, analysis, analysis.confidence, np.argsort(places.order))
    style.draw_places(axes, places)
    style.draw_cutoffs(axes, "y", analysis)
    return axes


def dilutions(comparison: Comparison) -> Figure:
    """Draw both dilution plots of a comparison, clusters that match in one colour."""
    figure = style.new_figure(1.9 * style.HEIGHT)
    each = zip(figure.subplots(2, 1), comparison.sides, comparison.names, strict=True)
    for axes, side, name in each:
        dilution(side, axes)
        axes.set_title(name, size="medium", parse_math=False)
    return figure


def _draw_stripes(axes: Axes, tree: Hierarchy, order: Ints, least: int, colours: Strings) -> None:
    """Draw one path for each family: no seams between its stripes, and small vector files."""
    from matplotlib.collections import PathCollection
    from matplotlib.path import Path

    shown = lay_out_stripes(tree, order=order, min_size=least)
    beyond = 10 * np.abs(tree.levels).max(initial=1.0)
    low, high = np.clip([shown.low, shown.high], -beyond, beyond)
    left, right = shown.start.astype(np.float64), shown.stop.astype(np.float64)
    corners = np.array([[left, left, right, right], [low, high, high, low]]).T
    ranked = np.argsort(shown.family, kind="stable")
    family, first = np.unique(shown.family[ranked], return_index=True)
    stripes = np.split(corners[ranked], first[1:])
    paths = [Path.make_compound_path_from_polys(each) for each in stripes if len(each)]
    drawn = PathCollection(paths, facecolors=list(colours[family]), edgecolors="none")
    drawn.set_rasterized(len(shown.start) > _MOST_VECTORS)
    axes.add_collection(drawn, autolim=False)


def _shade(axes: Axes, analysis: Analysis, confidence: Confidence, place: Ints) -> None:
    """Whiten the clusters that are not well supported, and say so in a legend."""
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch

    tree = confidence.tree
    low = np.full(tree.hierarchy.n_sites, np.inf)  # from where the cluster of a site is drawn
    for node in np.flatnonzero(tree.hierarchy.sizes >= tree.min_size)[::-1].tolist():
        low[tree.hierarchy.members(node)] = tree.hierarchy.births[node]
    rows: dict[str, list[Floats]] = {sure: [] for sure in _SHADES}
    for cluster, record in reversed([*enumerate(confidence.records)]):  # parts before the whole
        sites = tree.members(cluster)
        left, bottom = place[sites], low[sites]
        low[sites] = top = np.full(len(sites), tree.deaths[cluster])
        if not np.isnan(record.support):  # a whole tree, or not resampled
            corners = np.array([[left, left, left + 1, left + 1], [bottom, top, top, bottom]])
            rows[verdict(analysis, cluster)].append(corners.transpose(2, 1, 0))
    handles = []
    for sure, (alpha, hatch) in _SHADES.items():
        if not rows[sure]:
            continue
        if alpha:
            look: dict[str, Any] = {
                "facecolors": (1, 1, 1, alpha),
                "edgecolors": "white",
                "linewidths": 0,
            }
            white = PolyCollection([*np.concatenate(rows[sure])], hatch=hatch, zorder=1.5, **look)
            axes.add_collection(white, autolim=False)
        grey = str(1 - 0.67 * (1 - alpha))
        handles.append(Patch(facecolor=grey, edgecolor="white", hatch=hatch, label=sure))
    if handles:
        style.draw_legend(axes, "below", handles=handles, ncols=3)


def fraction(analysis: Analysis, ax: Axes | None = None) -> Axes:
    """Draw the fraction of sites in large clusters, beside theory or independent walkers."""
    axes, counted = style.new_axes(ax), style.count(analysis)
    axes.set(ylim=(-0.02, 1.02), ylabel=rf"Fraction in clusters of $\geq$ {counted.large}")
    chance = None if analysis.confidence is None else analysis.confidence.chance
    if chance is not None:
        band = chance.cutoffs, chance.low, chance.high
        axes.fill_between(
            *band, step="post", color="#cccccc", linewidth=1.5, label="independent walkers"
        )
    _draw_curve(axes, counted, counted.large_fraction, color=CORE, label="measured")
    _draw_theory(axes, analysis, lambda p: theory.tail_fraction(p, large=counted.large))
    if len(axes.get_legend_handles_labels()[0]) > 1:
        style.draw_legend(axes, "lower right")
    style.draw_cutoffs(axes, "x", analysis)
    return axes


def sizes(analysis: Analysis, ax: Axes | None = None) -> Axes:
    """Draw the fraction of sites in clusters of each small size."""
    axes, counted = style.new_axes(ax), style.count(analysis)
    shades = style.ramp(len(counted.sizes), 0.1, 0.92)
    for size, row, shade in zip(counted.sizes, counted.size_fractions, shades, strict=True):
        _draw_curve(axes, counted, row, color=shade, label=f"$r$ = {size}")
    small = np.array(counted.sizes)[:, None]
    _draw_theory(axes, analysis, lambda p: theory.size_fraction(small, p))
    axes.set(ylim=(-0.02, 1.02), ylabel="Fraction of sites $P(r)$")
    style.draw_legend(axes, "beside")
    style.draw_cutoffs(axes, "x", analysis)
    return axes


def _draw_curve(axes: Axes, counted: Curves, values: Floats, **look: Any) -> None:
    """Draw a staircase, from the start of the axis to beyond the last step."""
    low, high = style.cutoff_limits(counted)
    steps = np.maximum(counted.cutoffs, min(low, 0.0))
    x, y = np.append(steps, max(10 * high, steps[-1])), np.append(values, values[-1])
    axes.plot(x, y, drawstyle="steps-post", linewidth=1.4, **look)


def _draw_theory(axes: Axes, analysis: Analysis, curve: Any) -> None:
    """Draw what the freely-jointed chain gives, for two snapshots of one."""
    if not analysis.made.theory or analysis.system.n_snapshots != 2:
        return
    length = analysis.made.length or 1.0
    grid = np.linspace(0.0, style.cutoff_limits(style.count(analysis))[1], 500)[1:]
    rows = np.atleast_2d(curve(theory.join_probability(grid, link_length=length)))
    for number, row in enumerate(rows):
        label = None if number else "theory"
        axes.plot(grid, row, color=THEORY, linewidth=0.9, linestyle=(0, (3, 2)), label=label)


def mobility(analysis: Analysis, ax: Axes | None = None) -> Axes:
    """Draw the cutoff at which each site joins the core; grey for those that never do."""
    axes, places = style.new_axes(ax, 0.75 * style.HEIGHT), style.places_of(analysis)
    heights = analysis.hierarchy.core_heights()[places.order]
    quantity, known = analysis.hierarchy.quantity, np.isfinite(heights)
    low, top = style.cutoff_limits(style.count(analysis))
    colour = str(style.family_colours(analysis)[0])
    axes.stairs(np.where(known, low, top), baseline=low, fill=True, color=style.REST)
    axes.stairs(np.where(known, heights, low), baseline=low, fill=True, color=colour)
    style.draw_places(axes, places)
    words = style.with_unit(f"Joins the core at {quantity.cutoff}", quantity.unit)
    axes.set(ylim=(low, top), ylabel=words)
    return axes


def angles(analysis: Analysis, ax: Axes | None = None) -> Axes:
    """Draw the angle of each body in every snapshot."""
    axes, motion = style.new_axes(ax, 0.75 * style.HEIGHT), style.need(analysis.motion)
    colours = style.group_colours(analysis)
    for body, against, each in zip(motion.moving, motion.relative_to, motion.hinges, strict=True):
        look: dict[str, Any] = {"color": colours[body], "linewidth": 1.2, "markersize": 3}
        name = f"body {body + 1}, against {against + 1}"
        mark = "o" if len(each.frames) < 30 else ""
        axes.plot(each.frames + 1, each.angles, marker=mark, label=name, **look)
    axes.set(xlabel="Snapshot", ylabel="Angle from the mean (°)")
    style.draw_legend(axes, "beside")
    return axes


def modes(analysis: Analysis, ax: Axes | None = None) -> Axes:
    """Draw the share of the variance in each principal component, and their sum."""
    axes, found = style.new_axes(ax, 0.75 * style.HEIGHT), style.need(analysis.modes)
    sums = 100 * found.cumulated[:20]
    number = np.arange(1, len(sums) + 1)
    axes.bar(number, np.diff(sums, prepend=0.0), color=CORE, label="each")
    axes.plot(number, sums, "o-", color=style.SAFE[1], markersize=3, linewidth=1.2, label="sum")
    axes.set(ylim=(0, 103), xlabel="Principal component", ylabel="Share of the variance (%)")
    style.draw_legend(axes, "center right")
    return axes


# ---- matrices of pairs --------------------------------------------------------------------------


def sigma(analysis: Analysis, ax: Axes | None = None) -> Axes:
    """Draw σ of all measured pairs; grey where a pair was not measured."""
    from matplotlib.colors import PowerNorm

    places, unit = style.places_of(analysis), analysis.hierarchy.unit
    values = bin_sigma(analysis, _MOST_PIXELS)
    finite = values[np.isfinite(values)]
    top = float(np.percentile(finite, 98)) if len(finite) else 1.0
    label = style.with_unit(analysis.hierarchy.quantity.symbol, unit)
    norm = PowerNorm(0.5, vmin=float(min(finite.min(initial=0.0), 0.0)), vmax=top or 1.0)
    return _draw_matrix(style.new_axes(ax), values, places, label, norm=norm, extend="max")


def joining(analysis: Analysis, ax: Axes | None = None) -> Axes:
    """Draw the cutoff at which two sites join one cluster; grey where they never do."""
    tree, places = analysis.hierarchy, style.places_of(analysis)
    first = np.unique(_pixels(len(places.order)), return_index=True)[1]  # a site for each pixel
    sites = places.order[first]
    pairs = np.repeat(sites, len(sites)), np.tile(sites, len(sites))
    heights = tree.heights_between(*pairs).reshape(len(sites), -1)
    label = style.with_unit(f"Join at {tree.quantity.cutoff}", tree.unit)
    return _draw_matrix(style.new_axes(ax), heights, places, label)


def covariance(analysis: Analysis, ax: Axes | None = None) -> Axes:
    """Draw the correlation of displacements, by the principal components."""
    places, modes = style.places_of(analysis), style.need(analysis.modes)
    ways = modes.modes[:, places.order] * np.sqrt(modes.variances)[:, None, None]
    shared = np.einsum("kid,kjd->ij", ways, ways)
    size = np.sqrt(np.maximum(np.diag(shared), np.finfo(float).tiny))
    values = shared / size[:, None] / size
    label = "Correlation of displacements"
    return _draw_matrix(style.new_axes(ax), values, places, label, cmap="RdBu_r", vmin=-1, vmax=1)


def agreement(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Draw the adjusted Rand index of two results at every pair of cutoffs."""
    found, axes = comparison.agreement, style.new_axes(ax)
    edges, labels = [], []
    for cutoffs, side, name in zip(found.cutoffs, comparison.sides, comparison.names, strict=True):
        start, stop = min(0.0, cutoffs[1:].min(initial=0.0)), cutoffs[-1]
        edges.append([start, *cutoffs[1:], stop + (stop - start) / 20])
        quantity = side.hierarchy.quantity
        labels.append(style.with_unit(f"{quantity.cutoff_name} of {name}", quantity.unit))
    mesh = axes.pcolormesh(*edges, found.rand.T, vmin=0, vmax=1, rasterized=True)
    axes.plot(*found.best_cutoffs, "P", color="black", markeredgecolor="white", markersize=9)
    axes.set(xlabel=labels[0], ylabel=labels[1])
    axes.figure.colorbar(mesh, ax=axes, label="Adjusted Rand index")
    return axes


def bin_sigma(analysis: Analysis, most: int) -> Floats:
    """Return σ of the shown objects along their axis (pixels, pixels), NaN where unknown.

    Of more than `most` objects, each pixel is the mean over the pairs in it.
    """
    measured, system = style.need(analysis.fluctuations), analysis.system
    order = style.places_of(analysis).order
    pixels = _pixels(len(order), most)
    size, place = int(pixels[-1]) + 1, np.full(measured.n_objects, -1)
    place[system.shown[order]] = pixels
    ends = place[measured.pairs]
    known = (ends >= 0).all(axis=1) & np.isfinite(measured.sigma)
    cells, cell = np.unique(np.sort(ends[known], axis=1) @ [size, 1], return_inverse=True)
    rows, columns = np.divmod(cells, size)
    found = np.full((size, size), np.nan)
    means = np.bincount(cell, measured.sigma[known]) / np.bincount(cell)
    found[rows, columns] = found[columns, rows] = means
    return found


def _pixels(n_places: int, most: int = _MOST_PIXELS) -> Ints:
    """Return the pixel along a side in which each place is drawn."""
    return np.arange(n_places) * min(n_places, most) // max(n_places, 1)


def _draw_matrix(
    axes: Axes, values: Floats, places: Places, label: str, *, extend: str = "neither", **look: Any
) -> Axes:
    """Draw a matrix along the places, with its scale of colours."""
    n_places = len(places.order)
    axes.set_facecolor(_UNKNOWN)
    image = axes.imshow(
        np.ma.masked_invalid(values),
        extent=(0, n_places, n_places, 0),
        interpolation="nearest",
        **{"cmap": "viridis", **look},
    )
    style.draw_places(axes, places)
    axes.set_yticks(axes.get_xticks(), [tick.get_text() for tick in axes.get_xticklabels()])
    axes.set(ylabel=axes.get_xlabel(), ylim=(n_places, 0))
    axes.figure.colorbar(image, ax=axes, extend=extend, label=label)
    return axes
