"""Plots of pairs as a matrix: σ, and how often two sites are in one rigid cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timme._arrays import Floats, Ints
from timme.fluctuations.sigma import Fluctuations
from timme.hierarchy import SIGMA
from timme.hierarchy.quantity import Quantity
from timme.output.axes import COLUMN, Places, draw_places, new_axes, set_symbol, tick_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize

# A matrix has at most so many pixels along each side: about what a column in print resolves.
_MOST_PIXELS = 500
_NOT_MEASURED = "#dcdcdc"


def sigma_matrix(
    fluctuations: Fluctuations,
    *,
    order: Ints | None = None,
    places: Places | None = None,
    quantity: Quantity = SIGMA,
    lowest: float = 0.0,
    ax: Axes | None = None,
) -> Axes:
    """Draw σ of all measured pairs as a matrix; grey where a pair was not measured.

    Parameters
    ----------
    fluctuations : Fluctuations
        σ of pairs of objects.
    order : ndarray of int, optional
        The objects along both axes; all of them as they are numbered by default.
    places : Places, optional
        What to write along the axes: the natural order of the same objects.
    quantity : Quantity, optional
        What the pairs were measured for, where it is not σ.
    lowest : float, optional
        Where the scale of colours begins.
    ax : Axes, optional
        Where to draw; axes in a new figure by default.

    Returns
    -------
    Axes
        The axes drawn on. Where there are more objects than pixels, a pixel is the mean of the
        pairs it covers.
    """
    from matplotlib.colors import PowerNorm

    # Low enough that the height limits a square: where the width does, one pass cuts its label off.
    axes = new_axes(COLUMN, 2.6) if ax is None else ax
    along = np.arange(fluctuations.n_objects) if order is None else order
    mean = binned_means(fluctuations, along)
    finite = mean[np.isfinite(mean)]
    top = float(np.percentile(finite, 98)) if len(finite) else 1.0
    norm = PowerNorm(0.5, vmin=lowest, vmax=top or 1.0)  # σ of small and large motions side by side
    unit = f" ({fluctuations.unit})" if fluctuations.unit else ""
    label = f"{set_symbol(quantity.symbol)}{unit}"
    _draw_matrix(axes, mean, places, len(along), norm=norm, label=label, extend="max")
    return axes


def together(
    apart: Fluctuations,
    *,
    order: Ints | None = None,
    places: Places | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the fraction of snapshots in which two sites are in one rigid cluster.

    Parameters
    ----------
    apart : Fluctuations
        Fraction of snapshots in which pairs are apart.
    order, places, ax
        As for :func:`sigma_matrix`.

    Returns
    -------
    Axes
        The axes drawn on; pixels as for :func:`sigma_matrix`.
    """
    from matplotlib.colors import Normalize

    axes = new_axes(1.1 * COLUMN, 2.9) if ax is None else ax
    along = np.arange(apart.n_objects) if order is None else order
    mean = 1.0 - binned_means(apart, along)
    alone = np.diag(np.isnan(np.diag(mean)))  # a site is always together with itself
    mean[alone] = 1.0
    norm = Normalize(0.0, 1.0)
    label = "Fraction of snapshots together"
    _draw_matrix(axes, mean, places, len(along), norm=norm, label=label)
    return axes


def binned_means(fluctuations: Fluctuations, along: Ints, *, most: int = _MOST_PIXELS) -> Floats:
    """Average σ over the pairs in each pixel of a matrix.

    Parameters
    ----------
    fluctuations : Fluctuations
        σ of pairs of objects.
    along : ndarray of int
        The objects along both axes.
    most : int, optional
        Pixels along each side, at most.

    Returns
    -------
    ndarray, shape (pixels, pixels)
        Means; NaN where no pair was measured.
    """
    pixels = _pixels(len(along), most)
    size = int(pixels[-1]) + 1 if len(pixels) else 0
    place = np.full(fluctuations.n_objects, -1)
    place[along] = pixels
    ends = place[fluctuations.pairs]
    kept = (ends >= 0).all(axis=1) & np.isfinite(fluctuations.sigma)
    rows, columns = np.concatenate([ends[kept], ends[kept][:, ::-1]]).T
    values = np.tile(fluctuations.sigma[kept], 2)
    flat = rows * size + columns
    counts = np.bincount(flat, minlength=size * size)
    sums = np.bincount(flat, values, size * size)
    mean = np.full(size * size, np.nan)
    np.divide(sums, counts, out=mean, where=counts > 0)
    return mean.reshape(size, size)


def one_of_each_pixel(n_sites: int) -> Ints:
    """Choose one site of each pixel of a matrix, so that none is empty and no more is computed.

    Parameters
    ----------
    n_sites : int
        Along the axis.

    Returns
    -------
    ndarray of int, shape (pixels,)
        Places along the axis, ascending; all of them where there is a pixel for each.
    """
    firsts: Ints = np.unique(_pixels(n_sites, _MOST_PIXELS), return_index=True)[1]
    return firsts


def _pixels(n_sites: int, most: int) -> Ints:
    """Return the pixel along a side in which each place is drawn."""
    return np.arange(n_sites) * min(n_sites, most) // max(n_sites, 1)


def _draw_matrix(
    axes: Axes,
    values: Floats,
    places: Places | None,
    n_sites: int,
    *,
    norm: Normalize,
    label: str,
    extend: str = "neither",
) -> None:
    """Draw a matrix of pairs with its scale of colours; grey where there is no number."""
    axes.set_facecolor(_NOT_MEASURED)
    image = axes.imshow(
        np.ma.masked_invalid(values),
        cmap="viridis",
        extent=(0, n_sites, n_sites, 0),
        interpolation="nearest",
        norm=norm,
    )
    draw_places(axes, places, n_sites)
    axes.set_yticks(axes.get_xticks(), [tick.get_text() for tick in axes.get_xticklabels()])
    axes.set(ylabel=axes.get_xlabel(), ylim=(n_sites, 0))
    beside = axes.inset_axes((1.04, 0.0, 0.06, 1.0))
    bar = axes.figure.colorbar(image, cax=beside, extend=extend)
    bar.set_label(label, size=axes.xaxis.label.get_fontsize())
    bar.ax.tick_params(labelsize=tick_size(axes), width=0.6, length=2.5)
    bar.outline.set_linewidth(0.6)
