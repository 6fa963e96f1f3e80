"""Make room around a plot in one look: every text is measured once, and drawn where it was found.

The layout of matplotlib that makes room measures all texts twice, each time for their axis, for the
title of that axis and for every side of the frame, and again as they are drawn: most of the time of
saving a figure. How far texts reach beyond a plot hardly depends on how large the plot is. So they
are measured where they happen to be, titles of axes are bound to what was measured, and the plot
takes what is left; only where its new size calls for other ticks is all measured again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.spines import Spine
from matplotlib.transforms import Bbox, ScaledTranslation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_POINTS = 72  # of an inch
_PAD = 3.0  # points around everything
_LOOKS = 3  # at most, should ticks come and go
_SIDES = {"left": ("x0", -1), "bottom": ("y0", -1), "right": ("x1", 1), "top": ("y1", 1)}


class Room(ConstrainedLayoutEngine):
    """Makes room around a single plot; around others as matplotlib does."""

    _adjust_compatible = True  # matplotlib asks engines for it

    def execute(self, fig: Any) -> None:
        """Place the plot of a figure, and the titles of its axes.

        Parameters
        ----------
        fig : Figure
            What is about to be drawn.
        """
        if not is_single(fig):
            super().execute(fig)
            return
        (axes,) = fig.axes
        for _ in range(_LOOKS):
            measured = _place(fig, axes)
            if measured == _ticks(axes) and _fits(fig, axes):
                return


def is_single(figure: Figure) -> bool:
    """Tell whether a figure is one plot, with what stands beside it, and no heading.

    Parameters
    ----------
    figure : Figure
        Such as :func:`timme.output.axes.new_axes` makes.

    Returns
    -------
    bool
        Whether it can be laid out in one look.
    """
    if len(figure.axes) != 1 or figure.get_suptitle() or figure.legends or figure.texts:
        return False
    (axes,) = figure.axes
    headings = (axes.get_title(loc) for loc in ("left", "center", "right"))
    return axes.get_subplotspec() is not None and not any(headings)


def _place(figure: Figure, axes: Axes) -> list[list[float]]:
    """Place a plot so that all of it is within its figure; return the ticks that were measured."""
    outer = Bbox.union(list(_measure(axes, _renderer_of(figure))))
    measured = _ticks(axes)
    box, page, pad = axes.bbox, figure.bbox, _PAD * figure.dpi / _POINTS
    edges = {
        "left": (box.x0 - outer.x0 + pad) / page.width,
        "bottom": (box.y0 - outer.y0 + pad) / page.height,
        "right": 1 - (outer.x1 - box.x1 + pad) / page.width,
        "top": 1 - (outer.y1 - box.y1 + pad) / page.height,
    }
    if edges["left"] < edges["right"] and edges["bottom"] < edges["top"]:  # there is room at all
        figure.subplots_adjust(**edges)
        axes.apply_aspect()
    return measured


def _measure(axes: Any, renderer: Any) -> Iterator[Bbox]:
    """Say where everything is that belongs to axes, and bind the titles to the numbers."""
    locate = axes.get_axes_locator()
    axes.apply_aspect(locate(axes, renderer) if locate else None)
    yield axes.bbox.frozen()
    if axes.axison:
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_visible():
                yield from _measure_axis(axis, axes.bbox, renderer)
    for child in axes.child_axes:
        if child.get_visible():
            yield from _measure(child, renderer)
    yield from _measure_beside(axes, renderer)


def _measure_beside(axes: Any, renderer: Any) -> Iterator[Bbox]:
    """Say where legends and other texts are that the frame does not cut off."""
    for artist in axes.get_default_bbox_extra_artists():
        if not isinstance(artist, Spine) and artist not in axes.child_axes:
            box = artist.get_tightbbox(renderer)
            if box is not None and box.width > 0 and box.height > 0:
                yield box


def _fits(figure: Figure, axes: Axes) -> bool:
    """Tell whether what is placed by the size of a plot is still within the figure."""
    page = figure.bbox
    return all(
        page.x0 <= box.x0 and page.y0 <= box.y0 and box.x1 <= page.x1 and box.y1 <= page.y1
        for box in _measure_beside(axes, _renderer_of(figure))
    )


def _measure_axis(axis: Any, plot: Any, renderer: Any) -> Iterator[Bbox]:
    """Say where the numbers of an axis are, and how far its title is from the plot."""
    edge, outwards = _SIDES[axis.get_label_position()]
    along = axis.label.get_position()[edge in {"x0", "x1"}]
    axis.set_label_coords(along, along)  # else matplotlib places it, and measures all to do so
    shown = axis.label.get_visible()
    axis.label.set_visible(False)
    numbers = axis.get_tightbbox(renderer)
    axis.label.set_visible(shown)
    points = _POINTS / axis.figure.dpi
    reach = axis.get_tick_padding()
    if numbers is not None:
        yield numbers
        reach = max(reach, points * outwards * (getattr(numbers, edge) - getattr(plot, edge)))
    _bind(axis, along, outwards * (reach + axis.labelpad) / _POINTS)
    if shown and axis.label.get_text():
        title, ends = axis.label.get_window_extent(renderer), plot.frozen()
        for side in ("x0", "x1") if edge in {"x0", "x1"} else ("y0", "y1"):
            setattr(ends, side, getattr(title, side))  # along its axis it may be too long
        yield ends


def _bind(axis: Any, along: float, inches: float) -> None:
    """Keep a title at a distance from its side of the plot, wherever that comes to lie."""
    edge, outwards = _SIDES[axis.get_label_position()]
    side, upright = float(outwards > 0), edge in {"x0", "x1"}
    place, shift = ((side, along), (inches, 0.0)) if upright else ((along, side), (0.0, inches))
    moved = ScaledTranslation(*shift, axis.figure.dpi_scale_trans)
    axis.set_label_coords(*place, transform=axis.axes.transAxes + moved)


def _ticks(axes: Axes) -> list[list[float]]:
    """List the ticks of a plot and of the axes beside it, which depend on its size."""
    both = (axis for each in (axes, *axes.child_axes) for axis in (each.xaxis, each.yaxis))
    return [list(axis.get_majorticklocs()) for axis in both]


def _renderer_of(figure: Any) -> Any:
    """Return what measures texts, as matplotlib's own layouts ask for it."""
    return figure._get_renderer()  # noqa: SLF001
