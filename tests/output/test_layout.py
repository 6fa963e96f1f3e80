"""Room around plots: nothing is cut off, nothing overlaps, and nothing is given away."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from matplotlib.transforms import Bbox
from PIL import Image

from timme.output.axes import figure_of, new_axes
from timme.output.layout import is_single
from timme.output.printing import print_both

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DPI = 200
PAD = 3 * DPI / 72  # pixels that are left around everything


def plain() -> Axes:
    axes = new_axes()
    axes.plot([0.0, 1e4], [0.0, 123_456.0])
    axes.set(xlabel="sites", ylabel="heights")
    return axes


def with_legend_beside() -> Axes:
    axes = plain()
    axes.lines[0].set_label("a long word about a line")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return axes


def with_legend_far_below() -> Axes:
    axes = plain()
    axes.lines[0].set_label("below")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25))
    return axes


def with_scaled_axes() -> Axes:
    axes = plain()
    scale = (lambda x: x / 3, lambda x: 3 * x)
    axes.secondary_xaxis("top", functions=scale).set_xlabel("above")
    axes.secondary_yaxis("right", functions=scale).set_ylabel("beside")
    return axes


def with_colours_beside() -> Axes:
    axes = new_axes(3.4, 2.6)
    image = axes.imshow(np.arange(64.0).reshape(8, 8))
    axes.set(xlabel="sites", ylabel="sites")
    beside = axes.inset_axes((1.04, 0.0, 0.06, 1.0))
    axes.figure.colorbar(image, cax=beside, label="heights")
    return axes


KINDS = [
    plain,
    with_legend_beside,
    with_legend_far_below,
    with_scaled_axes,
    with_colours_beside,
]


def drawn(axes: Axes) -> np.ndarray:
    """Where a page is not white, from the top."""
    page = print_both(figure_of(axes), DPI)["png"]()
    return np.asarray(Image.open(io.BytesIO(page)).convert("L")) < 255


@pytest.mark.parametrize("make", KINDS)
def test_nothing_is_cut_off_and_no_room_is_given_away(make: Callable[[], Axes]) -> None:
    axes = make()
    inked = drawn(axes)
    assert is_single(figure_of(axes))
    height, width = inked.shape
    rows, columns = np.flatnonzero(inked.any(axis=1)), np.flatnonzero(inked.any(axis=0))
    margins = np.array([columns[0], width - 1 - columns[-1], rows[0], height - 1 - rows[-1]])
    assert (margins > 0).all()
    spare = [margins[:2], margins[2:]]
    if axes.get_aspect() == "auto":  # else one direction has room to spare
        # Digits have no descenders, and boxes of texts are as high as if they had.
        assert max(map(max, spare)) < PAD + 6 * DPI / 72
    else:
        assert min(map(max, spare)) < PAD + 6 * DPI / 72


@pytest.mark.parametrize("make", KINDS)
def test_titles_of_axes_touch_neither_numbers_nor_the_plot(make: Callable[[], Axes]) -> None:
    axes = make()
    figure = figure_of(axes)
    figure.draw_without_rendering()
    for each in (axes, *axes.child_axes):
        for axis in (each.xaxis, each.yaxis):
            if not axis.label.get_text():
                continue
            title = axis.label.get_window_extent()
            low, high = sorted(axis.get_view_interval())
            numbers = [
                tick.label1.get_window_extent() if tick.label1.get_visible()
                else tick.label2.get_window_extent()
                for tick in axis.get_major_ticks()
                if low <= tick.get_loc() <= high
            ]  # fmt: skip
            assert not any(title.overlaps(box) for box in (*numbers, axes.bbox))
            nearest = Bbox.union(numbers)
            apart = max(
                nearest.x0 - title.x1, title.x0 - nearest.x1, nearest.y0 - title.y1,
                title.y0 - nearest.y1,
            )  # fmt: skip
            # Titles above stand on their baseline, and what hangs from it comes nearer.
            assert 1.5 < apart < axis.labelpad * figure.dpi / 72 + 1.5


def test_a_plot_is_where_the_layout_of_matplotlib_puts_it() -> None:
    ours, theirs = with_scaled_axes(), with_scaled_axes()
    figure_of(theirs).set_layout_engine("constrained")
    for axes in (ours, theirs):
        drawn(axes)
    assert ours.get_position().extents == pytest.approx(theirs.get_position().extents, abs=0.01)


@pytest.mark.parametrize("more", ["title", "subplot", "heading"])
def test_figures_with_more_than_a_plot_are_laid_out_as_matplotlib_does(more: str) -> None:
    axes = plain()
    figure = figure_of(axes)
    if more == "title":
        axes.set_title("a title")
    elif more == "heading":
        figure.suptitle("a heading")
    else:
        axes.set_subplotspec(figure.add_gridspec(1, 2)[0])
        figure.add_subplot(1, 2, 2).set_ylabel("beside")
    assert not is_single(figure)
    inked = drawn(axes)
    assert not inked[0].any()
    assert not inked[-1].any()


def test_a_figure_without_room_is_drawn_all_the_same() -> None:
    axes = new_axes(0.3, 0.3)
    axes.set(xlabel="sites", ylabel="heights")
    assert drawn(axes).any()
