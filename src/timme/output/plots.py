"""The paper's plots, as functions that draw on axes and return them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from timme._arrays import Floats, Strings
from timme.confidence import Confidence
from timme.confidence.findings import Convergence
from timme.hierarchy.quantity import SIGMA, Quantity
from timme.hierarchy.tree import Hierarchy
from timme.order import stripes
from timme.output.axes import (
    COLUMN,
    Places,
    cutoff_limits,
    draw_cutoff_axis,
    draw_legend,
    draw_places,
    new_axes,
    set_symbol,
    stairs,
    tick_size,
)
from timme.output.colours import CORE, WIDE, family_colours
from timme.output.dilution import draw_stripes, draw_veils, veil
from timme.settings.values import MIN_SIZE
from timme.statistics import Curves, curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Theory = Callable[[Floats], Floats]

# A matrix of σ has at most so many pixels along each side: about what a column in print resolves.
_MOST_PIXELS = 500
_NOT_MEASURED = "#dcdcdc"
THEORY = "#d55e00"  # of a curve that is expected


def dilution(  # noqa: PLR0913, what is drawn, and how
    hierarchy: Hierarchy,
    *,
    places: Places | None = None,
    min_size: int = MIN_SIZE,
    cutoff: float | None = None,
    length: float | None = None,
    palette: Sequence[str] = WIDE,
    colours: Strings | None = None,
    sure: Confidence | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the dilution plot: which sites are in which cluster, at every cutoff.

    Parameters
    ----------
    hierarchy : Hierarchy
        Clusters within clusters, of the shown sites.
    places : Places, optional
        Natural order of the sites, such as that of residues; by site label by default.
    min_size : int, optional
        Clusters of fewer sites are left white.
    cutoff : float, optional
        Where to draw a dashed line.
    length : float, optional
        The length a of a second axis, σ / a.
    palette : sequence of str, optional
        Colours of families 1, 2, …; dark blue is the line of the core at the top.
    colours : ndarray of str, shape (sites,), optional
        Colour of each family, such as that of its partner in another hierarchy; of the palette by
        default.
    sure : Confidence, optional
        How sure clusters are: those that are trusted are drawn solid, others hatched or faded.
    ax : Axes, optional
        Where to draw; axes in a new figure by default.

    Returns
    -------
    Axes
        Cutoffs grow upwards; the stripes are its first collection.
    """
    axes = new_axes(COLUMN, 2.8) if ax is None else ax
    counted = curves(hierarchy, sizes=())
    limits = cutoff_limits(counted, cutoff)
    order = None if places is None else places.order
    shown = stripes(hierarchy, order=order, min_size=min_size)
    draw_stripes(
        axes, shown, family_colours(hierarchy, palette=palette) if colours is None else colours
    )
    if sure is not None and any(record.support is not None for record in sure.records):
        draw_veils(axes, veil(shown, hierarchy, sure), sure.tree.min_size)
    if cutoff is not None:
        _draw_cutoff(axes.axhline, cutoff, path_effects=_halo())
    draw_places(axes, places, hierarchy.n_sites)
    draw_cutoff_axis(axes, "y", counted, limits=limits, length=length)
    return axes


def fraction(
    counted: Curves,
    *,
    theory: Theory | None = None,
    cutoff: float | None = None,
    length: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the fraction of sites in large clusters against the cutoff.

    Parameters
    ----------
    counted : Curves
        Curves at all levels.
    theory : callable, optional
        Fraction expected at an array of cutoffs, drawn dashed.
    cutoff : float, optional
        Where to draw a dashed line.
    length : float, optional
        The length a of a second axis, σ / a.
    ax : Axes, optional
        Where to draw; axes in a new figure by default.

    Returns
    -------
    Axes
        The axes drawn on.
    """
    axes = new_axes() if ax is None else ax
    limits = cutoff_limits(counted, cutoff)
    axes.plot(
        *stairs(counted, counted.large_fraction, limits[1]),
        drawstyle="steps-post",
        color=CORE,
        linewidth=1.2,
        label="measured",
    )
    if theory is not None:
        _draw_theory(axes, theory, limits, THEORY)
        size = tick_size(axes)
        axes.legend(loc="upper left", frameon=False, fontsize=size)  # the curve starts at 0 there
    if cutoff is not None:
        _draw_cutoff(axes.axvline, cutoff)
    axes.set(ylim=(-0.02, 1.02), ylabel=rf"Fraction in clusters $r \geq {counted.large}$")
    draw_cutoff_axis(axes, "x", counted, limits=limits, length=length)
    return axes


def size_distribution(
    counted: Curves,
    *,
    theory: Theory | None = None,
    cutoff: float | None = None,
    length: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the fraction of sites in clusters of each small size against the cutoff.

    Parameters
    ----------
    counted : Curves
        Curves at all levels.
    theory : callable, optional
        Fractions (sizes, cutoffs) expected at an array of cutoffs, drawn dashed.
    cutoff, length, ax
        As for :func:`fraction`.

    Returns
    -------
    Axes
        The axes drawn on.
    """
    axes = new_axes() if ax is None else ax
    limits = cutoff_limits(counted, cutoff)
    for size, values, colour in zip(
        counted.sizes, counted.size_fractions, ramp(len(counted.sizes), 0.2, 0.92), strict=True
    ):
        axes.plot(
            *stairs(counted, values, limits[1]),
            drawstyle="steps-post",
            color=colour,
            linewidth=1.2,
            label=f"$r$ = {size}",
        )
    if theory is not None:
        _draw_theory(axes, theory, limits, "black")
    if cutoff is not None:
        _draw_cutoff(axes.axvline, cutoff)
    axes.set(ylim=(-0.02, 1.02), ylabel="Fraction of sites $P(r)$")
    draw_cutoff_axis(axes, "x", counted, limits=limits, length=length)
    draw_legend(axes)
    return axes


def cluster_sizes(
    counted: Curves,
    *,
    theory: Theory | None = None,
    cutoff: float | None = None,
    length: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the largest cluster, the mean size and the number of clusters against the cutoff.

    Parameters
    ----------
    counted : Curves
        Curves at all levels.
    theory : callable, optional
        Mean size expected at an array of cutoffs, drawn dashed.
    cutoff, length, ax
        As for :func:`fraction`.

    Returns
    -------
    Axes
        The axes drawn on, with a logarithmic vertical axis.
    """
    axes = new_axes() if ax is None else ax
    limits = cutoff_limits(counted, cutoff)
    drawn = (
        ("largest", counted.largest.astype(np.float64), CORE, "-"),
        (r"mean $\langle r \rangle$", counted.mean_size, "#d55e00", "-"),
        ("number", counted.n_clusters.astype(np.float64), "#666666", (0, (4, 1))),
    )
    for label, values, colour, style in drawn:
        axes.plot(
            *stairs(counted, values, limits[1]),
            drawstyle="steps-post",
            color=colour,
            linestyle=style,
            linewidth=1.2,
            label=label,
        )
    if theory is not None:
        _draw_theory(axes, theory, limits, "black")
    if cutoff is not None:
        _draw_cutoff(axes.axvline, cutoff)
    axes.set_yscale("log")
    axes.set(ylim=(0.8, 1.25 * counted.n_sites), ylabel="Sites, or clusters")
    draw_cutoff_axis(axes, "x", counted, limits=limits, length=length)
    draw_legend(axes)
    return axes


def flexibility(index: Floats, *, places: Places | None = None, ax: Axes | None = None) -> Axes:
    """Draw the flexibility index of residues: above 0 they turn, below 0 they are under stress.

    Parameters
    ----------
    index : ndarray, shape (sites,)
        Index of each shown site, NaN for none.
    places : Places, optional
        Natural order of the sites; as they are numbered by default.
    ax : Axes, optional
        Where to draw; axes in a new figure by default.

    Returns
    -------
    Axes
        The axes drawn on.
    """
    axes = new_axes(COLUMN, 2.2) if ax is None else ax
    values = np.nan_to_num(index if places is None else index[places.order])
    edges = np.arange(len(values) + 1)
    for part, colour, label in (
        (np.maximum(values, 0.0), "#d55e00", "flexible"),
        (np.minimum(values, 0.0), CORE, "stressed"),
    ):
        axes.stairs(part, edges, fill=True, color=colour, label=label)
    axes.axhline(0.0, color="black", linewidth=0.6)
    draw_places(axes, places, len(values))
    axes.set_ylabel("Flexibility index")
    draw_legend(axes)
    return axes


def mobility(
    heights: Floats,
    *,
    places: Places | None = None,
    quantity: Quantity = SIGMA,
    ax: Axes | None = None,
) -> Axes:
    """Draw the cutoff at which each site joins the core: how mobile it is.

    Parameters
    ----------
    heights : ndarray, shape (sites,)
        Of the sites in the order of the axis; inf for those that never join.
    places : Places, optional
        What to write along the axis.
    quantity : Quantity, optional
        What the heights are.
    ax : Axes, optional
        Where to draw; axes in a new figure by default.

    Returns
    -------
    Axes
        The axes drawn on; sites that never join reach the top, in grey. One site in a hundred may
        be cut off there, where it would press all others into a corner.
    """
    axes = new_axes(COLUMN, 2.2) if ax is None else ax
    finite = np.isfinite(heights)
    top = _mobility_top(heights[finite])
    edges = np.arange(len(heights) + 1)
    if not finite.all():
        axes.stairs(np.where(finite, 0.0, top), edges, fill=True, color=_NOT_MEASURED)
    axes.stairs(np.where(finite, heights, 0.0), edges, fill=True, color=CORE)
    draw_places(axes, places, len(heights))
    unit = f" ({quantity.unit})" if quantity.unit else ""
    axes.set(ylim=(0.0, top), ylabel=f"Joins the core at {set_symbol(quantity.symbol)}{unit}")
    return axes


def convergence(found: Convergence, *, symbol: str = "σ", ax: Axes | None = None) -> Axes:
    """Draw what parts of a trajectory say beside what all of it says.

    Parameters
    ----------
    found : Convergence
        σ and trusted clusters against the length.
    symbol : str, optional
        Of what is measured.
    ax : Axes, optional
        Where to draw; axes in a new figure by default.

    Returns
    -------
    Axes
        The axes drawn on: σ over that of all snapshots, and how much of the trusted cluster that
        is found least is found; full lines from the beginning on, dashed ones from the end on.
    """
    axes = new_axes(COLUMN, 2.2) if ax is None else ax
    share = 100 * found.fractions
    ends = (
        ("beginning", "-", found.forward, found.forward_overlaps),
        ("end", "--", found.backward, found.backward_overlaps),
    )
    for end, style, ratios, overlaps in ends:
        line: dict[str, Any] = {"linestyle": style, "linewidth": 1.0}
        label = f"{set_symbol(symbol)}, from the {end}"
        axes.plot(share, ratios, color="#777777", label=label, **line)
        if overlaps.shape[1]:
            label = f"worst cluster, from the {end}"
            axes.plot(share, overlaps.min(axis=1), color=CORE, label=label, **line)
    axes.axhline(1.0, color="black", linewidth=0.5)
    top = 1.05 * float(np.nanmax([1.0, *found.forward, *found.backward]))
    axes.set(xlim=(0, 100), ylim=(0, top), xlabel="Share of the trajectory (%)")
    axes.set_ylabel("Beside all of it")
    axes.legend(fontsize=5.5, frameon=False, loc="lower right")
    return axes


def _mobility_top(heights: Floats) -> float:
    """Where the axis ends: at the highest, or not far above most where few are twice as high."""
    highest = float(heights.max(initial=0.0)) or 1.0  # where nothing moves
    usual = float(np.quantile(heights, 0.99)) if len(heights) else 0.0
    return 1.25 * usual if 0 < 2 * usual < highest else 1.05 * highest


def _draw_cutoff(line: Callable[..., Any], cutoff: float, **look: Any) -> None:
    line(cutoff, color="black", linewidth=0.8, linestyle=(0, (4, 2)), **look)


def _halo() -> Any:
    """Return what makes a line seen on dark stripes too; it would cut a gap into a curve.

    Stripes shine through it: thin ones would look cut in two.
    """
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2, foreground="white", alpha=0.5)]


def _draw_theory(axes: Axes, theory: Theory, limits: tuple[float, float], colour: str) -> None:
    grid = np.linspace(*limits, 500)
    for number, values in enumerate(np.atleast_2d(theory(grid))):
        axes.plot(
            grid,
            values,
            color=colour,
            linewidth=0.8,
            linestyle=(0, (3, 2)),
            label=None if number else "theory",
        )


def ramp(count: int, low: float = 0.0, high: float = 1.0) -> list[str]:
    """Return colours that grow lighter in order, and that colour-blind readers can follow.

    Parameters
    ----------
    count : int
        How many.
    low, high : float, optional
        Which part of the whole ramp they span.

    Returns
    -------
    list of str
        Colours as #rrggbb.
    """
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colormaps["viridis"](value)) for value in np.linspace(low, high, count)]
