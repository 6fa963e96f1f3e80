"""Pictures of two results side by side: both dilutions, and agreement over both cutoffs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from timme._arrays import Bools, Floats, Ints
from timme.compare import Comparison, overlap
from timme.hierarchy.tree import Hierarchy
from timme.output import plots
from timme.output.axes import (
    COLUMN,
    Places,
    cutoff_limits,
    draw_cutoff_axis,
    figure_of,
    new_axes,
    tick_size,
)
from timme.output.colours import WIDE
from timme.output.common import NAMES, Names
from timme.output.matched_colours import matched_colours
from timme.statistics import Curves, curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TRIVIAL = "#dcdcdc"
_PIXELS = 500  # along each side of the heatmap: about what a column in print resolves


def dilutions(
    compared: Comparison,
    *,
    places: Places | None = None,
    lengths: tuple[float | None, float | None] = (None, None),
    names: Names = NAMES,
    palette: Sequence[str] = WIDE,
) -> Figure:
    """Draw both dilution plots side by side, matched clusters in the same colour.

    Parameters
    ----------
    compared : Comparison
        Two hierarchies of the same sites.
    places : Places, optional
        Natural order of the sites, for both; by the site labels of the first by default.
    lengths : tuple of float or None, optional
        The length a of each, of a second axis σ / a.
    names : tuple of str, optional
        What the two are called.
    palette : sequence of str, optional
        Colours of families 1, 2, ….

    Returns
    -------
    Figure
        Two axes, the first on the left. Dashed lines are at the cutoffs at which colours match.
    """
    left = new_axes(2 * COLUMN, 2.8)
    right = _axes_beside(left)
    along = places or _by_first(compared.first)
    matched = matched_colours(compared, palette=palette)
    sides = (
        (left, compared.first, compared.clusters.first.cutoff, None),
        (right, compared.second, compared.clusters.second.cutoff, matched),
    )
    for number, (axes, hierarchy, cutoff, colours) in enumerate(sides):
        plots.dilution(
            hierarchy,
            places=along,
            min_size=compared.clusters.min_size,
            cutoff=cutoff if np.isfinite(cutoff) else None,
            length=lengths[number],
            palette=palette,
            colours=colours,
            ax=axes,
        )
        axes.set_title(_plain(names[number]), fontsize=8, loc="left")
    return figure_of(left)


def heatmap(
    compared: Comparison,
    *,
    lengths: tuple[float | None, float | None] = (None, None),
    names: Names = NAMES,
    asked: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the adjusted Rand index over both cutoffs, and mark the best pair by a +.

    The best pair is looked for in the dashed frame: see :func:`timme.compare.compare`.

    Parameters
    ----------
    compared : Comparison
        Two hierarchies of the same sites.
    lengths : tuple of float or None, optional
        The length a of each, of a second axis σ / a.
    names : tuple of str, optional
        What the two are called.
    asked : tuple of float, optional
        Another pair of cutoffs, to be marked by a ×.
    ax : Axes, optional
        Where to draw; axes in a new figure by default.

    Returns
    -------
    Axes
        The cutoff of the first runs to the right, that of the second upwards. Values below 0, less
        agreement than by chance, are drawn as 0; grey are pairs of cutoffs at which both are one
        cluster, or both single sites.
    """
    axes = new_axes(1.25 * COLUMN, 3.1) if ax is None else ax
    best = compared.best_cutoffs
    hierarchies = compared.first, compared.second
    counted = [curves(hierarchy, sizes=()) for hierarchy in hierarchies]
    limits = [
        _limits(source, marked)
        for source, *marked in zip(counted, best, asked or best, strict=True)
    ]
    rows = _sample(compared.first_cutoffs, limits[0])
    columns = _sample(compared.second_cutoffs, limits[1])
    axes.set_facecolor(_TRIVIAL)
    image = axes.imshow(
        np.ma.masked_array(compared.rand, _trivial(compared))[rows][:, columns].T,
        cmap="viridis",
        vmin=0,
        vmax=1,
        extent=(*limits[0], *limits[1]),
        origin="lower",
        aspect="auto",
        interpolation="nearest",
    )
    draw_cutoff_axis(axes, "x", counted[0], limits=limits[0], length=lengths[0])
    draw_cutoff_axis(axes, "y", counted[1], limits=limits[1], length=lengths[1])
    axes.set(
        xlabel=f"{_plain(names[0])}: {axes.get_xlabel()}",
        ylabel=f"{_plain(names[1])}: {axes.get_ylabel()}",
    )
    _frame(axes, compared)
    if np.isfinite(best).all():
        _mark(axes, best, compared.rand[compared.best], "+")
    if asked is not None:
        cuts = (of.cut(cutoff) for of, cutoff in zip(hierarchies, asked, strict=True))
        _mark(axes, asked, overlap(*cuts).rand, "x", beside=best)
    bar = axes.figure.colorbar(image, ax=axes, fraction=0.05, pad=0.03)
    bar.set_label("Adjusted Rand index", size=axes.xaxis.label.get_fontsize())
    bar.ax.tick_params(labelsize=tick_size(axes), width=0.6, length=2.5)
    bar.outline.set_linewidth(0.6)
    return axes


def _by_first(hierarchy: Hierarchy) -> Places:
    """Return the order of site labels as one that another hierarchy may be drawn in."""
    n_sites = hierarchy.n_sites
    numbers = np.arange(1, n_sites + 1)
    return Places(hierarchy.order, numbers, np.full(n_sites, ""), "Site label in the first")


def _axes_beside(axes: Axes) -> Axes:
    """Make room for axes of the same kind on the right."""
    figure = figure_of(axes)
    grid = figure.add_gridspec(1, 2)
    axes.set_subplotspec(grid[0])
    beside = figure.add_subplot(grid[1])
    for name, spine in beside.spines.items():
        spine.set_linewidth(axes.spines[name].get_linewidth())
    beside.tick_params(**axes.xaxis.get_tick_params())
    beside.xaxis.label.set_fontsize(axes.xaxis.label.get_fontsize())
    beside.yaxis.label.set_fontsize(axes.yaxis.label.get_fontsize())
    return beside


def _plain(name: str) -> str:
    """Write a name so that nothing in it is taken for a formula."""
    return name.replace("$", r"\$")


def _limits(counted: Curves, marked: Sequence[float]) -> tuple[float, float]:
    """Choose a range of cutoffs that holds all that are marked, with room for the marks."""
    inside = [cutoff for cutoff in marked if np.isfinite(cutoff)]
    low, high = cutoff_limits(counted, max(inside, default=None))
    if inside and min(inside) < low:
        low = min(inside) - 0.05 * (high - min(inside))
    return low, high


def _sample(cutoffs: Floats, limits: tuple[float, float]) -> Ints:
    """Return the cutoff that holds in the middle of each pixel."""
    middles = np.linspace(*limits, 2 * _PIXELS + 1)[1::2]
    return np.maximum(0, np.searchsorted(cutoffs, middles, side="right") - 1)


def _trivial(compared: Comparison) -> Bools:
    """Find the pairs of cutoffs at which both are single sites, or both one cluster."""
    first = curves(compared.first, cutoffs=compared.first_cutoffs).n_clusters
    second = curves(compared.second, cutoffs=compared.second_cutoffs).n_clusters
    both: Bools = (first[:, None] == second) & np.isin(second, [1, compared.n_sites])
    return both


def _frame(axes: Axes, compared: Comparison) -> None:
    """Draw the frame within which the best pair is looked for, as far as it is seen."""
    from matplotlib.patches import Rectangle

    (left, right), (low, high) = (
        (max(start, limits[0]), min(end, limits[1]))
        for (start, end), limits in zip(
            compared.looked_for, (axes.get_xlim(), axes.get_ylim()), strict=True
        )
    )
    axes.add_patch(
        Rectangle(
            (left, low),
            right - left,
            high - low,
            fill=False,
            edgecolor="white",
            linewidth=0.8,
            linestyle=(0, (4, 3)),
        )
    )


def _mark(
    axes: Axes,
    place: tuple[float, float],
    rand: float,
    marker: str,
    *,
    beside: tuple[float, float] | None = None,
) -> None:
    """Mark a pair of cutoffs, its index written towards the middle, or away from a mark near by."""
    from matplotlib.patheffects import withStroke

    outline = [withStroke(linewidth=2, foreground="black")]
    axes.plot(*place, marker=marker, color="white", markersize=9, path_effects=outline)
    below = place[1] > sum(axes.get_ylim()) / 2
    if beside is not None and _near(axes, place, beside):
        below = place[1] < beside[1]
    axes.annotate(
        f"{rand:.2f}",
        place,
        xytext=(0, -7 if below else 7),
        textcoords="offset points",
        ha="center",
        va="top" if below else "bottom",
        color="white",
        fontsize=tick_size(axes),
        path_effects=[withStroke(linewidth=1.5, foreground="black")],
    )


def _near(axes: Axes, one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether two marks are so close that what is written at one would cover the other."""
    spans = np.ptp(axes.get_xlim()), np.ptp(axes.get_ylim())
    return bool((np.abs(np.subtract(one, other)) < 0.25 * np.array(spans)).all())
