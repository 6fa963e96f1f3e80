"""Figures of pairs as matrices: σ, joining, correlation and agreement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from timme._arrays import Floats, Ints
from timme.analysis.result import Analysis
from timme.output import style
from timme.output.style import Places

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_PIXELS = 500  # along each side: about what a column in print resolves
_UNKNOWN = "#dcdcdc"


def sigma(analysis: Analysis, ax: Axes | None = None) -> Axes:
    """Draw σ of all measured pairs; grey where a pair was not measured."""
    from matplotlib.colors import PowerNorm

    places, unit = style.places_of(analysis), analysis.hierarchy.unit
    values = bin_sigma(analysis, _MOST_PIXELS)
    finite = values[np.isfinite(values)]
    top = float(np.percentile(finite, 98)) if len(finite) else 1.0
    label = style.with_unit(analysis.hierarchy.quantity.symbol, unit)
    norm = PowerNorm(0.5, vmin=float(min(finite.min(initial=0.0), 0.0)), vmax=top or 1.0)
    return _draw(style.new_axes(ax), values, places, label, norm=norm, extend="max")


def joining(analysis: Analysis, ax: Axes | None = None) -> Axes:
    """Draw the cutoff at which two sites join one cluster; grey where they never do."""
    tree, places = analysis.hierarchy, style.places_of(analysis)
    first = np.unique(_pixels(len(places.order)), return_index=True)[1]  # a site for each pixel
    sites = places.order[first]
    pairs = np.repeat(sites, len(sites)), np.tile(sites, len(sites))
    heights = tree.heights_between(*pairs).reshape(len(sites), -1)
    label = style.with_unit(f"Join at {tree.quantity.cutoff}", tree.unit)
    return _draw(style.new_axes(ax), heights, places, label)


def covariance(analysis: Analysis, ax: Axes | None = None) -> Axes:
    """Draw the correlation of displacements, by the principal components."""
    places, modes = style.places_of(analysis), style.need(analysis.modes)
    ways = modes.modes[:, places.order] * np.sqrt(modes.variances)[:, None, None]
    shared = np.einsum("kid,kjd->ij", ways, ways)
    size = np.sqrt(np.maximum(np.diag(shared), np.finfo(float).tiny))
    values = shared / size[:, None] / size
    label = "Correlation of displacements"
    return _draw(style.new_axes(ax), values, places, label, cmap="RdBu_r", vmin=-1, vmax=1)


def agreement(comparison: Any, ax: Axes | None = None) -> Axes:
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


def _draw(
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
