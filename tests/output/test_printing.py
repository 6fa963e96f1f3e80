"""Figures drawn once, as pixels and as vectors, are those that matplotlib draws twice."""

from __future__ import annotations

import base64
import io
import re

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.path import Path
from PIL import Image

from timme.output.axes import figure_of, new_axes
from timme.output.printing import print_both

DPI = 300


def drawing(*, rasterised: bool = False) -> Figure:
    """Draw something of every kind that our figures have, placed by hand."""
    figure = Figure(figsize=(3.4, 2.5))
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.2, 0.2, 0.6, 0.7))
    axes.plot([0, 1, 2], [0, 2, 1], "--", marker="o", linewidth=1.5, label=r"$\sigma_\mathrm{c}$")
    axes.bar([0, 1], [0.5, 1.5], hatch="//", edgecolor="white")
    square = Path([(0.2, 0.2), (3.0, 0.2), (3.0, 0.9), (0.2, 0.2)])
    stripes = PathCollection([square], facecolors=["red"])
    stripes.set_rasterized(rasterised)
    axes.add_collection(stripes, autolim=False)
    image = axes.imshow(np.arange(4.0).reshape(2, 2), extent=(1, 2, 1, 2), aspect="auto")
    figure.colorbar(image, cax=figure.add_axes((0.85, 0.2, 0.03, 0.7)))
    axes.set(xlim=(-0.5, 2.5), ylim=(0, 2.5), xlabel="sites")
    axes.legend()
    return figure


def saved(figure: Figure, kind: str) -> bytes:
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "timme"}):
        figure.savefig(
            buffer, format=kind, dpi=DPI, metadata={"Date": None} if kind == "svg" else None
        )
    return buffer.getvalue()


def printed(figure: Figure) -> dict[str, bytes]:
    with mpl.rc_context({"svg.hashsalt": "timme"}):
        return print_both(figure, DPI)


def numbers(svg: bytes) -> list[float]:
    """Coordinates of all paths, in their order."""
    found = re.findall(r'<path[^>]* d="([^"]*)"', svg.decode())
    return [float(number) for path in found for number in re.findall(r"-?\d+\.?\d*", path)]


@pytest.mark.parametrize("rasterised", [False, True])
def test_pixels_are_those_that_matplotlib_saves(rasterised: bool) -> None:
    figure = drawing(rasterised=rasterised)
    assert pixels(printed(figure)["png"]) == pixels(saved(figure, "png"))


def pixels(png: bytes) -> bytes:
    """Unpack pixels, and how many of them are an inch."""
    image = Image.open(io.BytesIO(png))
    return repr((image.size, image.info["dpi"])).encode() + image.convert("RGBA").tobytes()


def test_vectors_are_those_that_matplotlib_saves_within_a_tenth_of_a_point() -> None:
    figure = drawing()
    ours, theirs = printed(figure)["svg"], saved(figure, "svg")
    assert numbers(ours) == pytest.approx(numbers(theirs), abs=0.1)
    style = rb"style=\"[^\"]*\""
    assert re.findall(style, ours) == re.findall(style, theirs)
    assert ours.count(b"<use") == theirs.count(b"<use")


def test_what_is_rasterised_is_one_more_image_and_no_path_among_vectors() -> None:
    plain, layered = (printed(drawing(rasterised=each))["svg"] for each in (False, True))
    assert layered.count(b"<image") == plain.count(b"<image") + 1
    assert layered.count(b"fill: #ff0000") == plain.count(b"fill: #ff0000") - 1


def test_rasterised_images_lie_where_matplotlib_puts_them() -> None:
    figure = drawing(rasterised=True)
    places = re.compile(r'<image[^>]* x="([^"]*)" y="([^"]*)" width="([^"]*)" height="([^"]*)"')
    ours, theirs = (
        np.array(places.findall(svg.decode()), dtype=float)
        for svg in (printed(figure)["svg"], saved(figure, "svg"))
    )
    # Theirs may keep a pixel of margin, 0.24 points.
    assert ours == pytest.approx(theirs, abs=0.5)
    assert images(printed(figure)["svg"]) == pytest.approx(images(saved(figure, "svg")), abs=0.01)


def images(svg: bytes) -> list[float]:
    """Share of red in every image, and how much more of it is in the upper half."""
    coded = re.findall(r'base64,\s*([^"]*)"', svg.decode())
    shares = list[float]()
    for code in coded:
        image = np.asarray(Image.open(io.BytesIO(base64.b64decode(code))).convert("RGBA"))
        red = (image[..., 0] > 200) & (image[..., 1] < 50) & (image[..., 3] > 200)
        half = len(red) // 2
        shares += [red.mean(), red[:half].mean() - red[half:].mean()]
    return shares


def test_labels_of_square_axes_beside_a_colour_bar_are_not_cut_off() -> None:
    axes = new_axes(3.4, 2.9)
    image = axes.imshow(np.arange(110.0 * 110).reshape(110, 110))
    axes.set(xlabel="Residue number", ylabel="Residue number")
    figure_of(axes).colorbar(image, label="height")
    page = np.asarray(Image.open(io.BytesIO(print_both(figure_of(axes), 100)["png"])).convert("L"))
    edges = np.concatenate([page[0], page[-1], page[:, 0], page[:, -1]])
    assert (edges == 255).all()


def test_printing_leaves_a_figure_as_it_was() -> None:
    figure = figure_of(new_axes())
    before = figure.dpi, figure.get_layout_engine()
    printed(figure)
    assert (figure.dpi, figure.get_layout_engine()) == before
    assert pixels(saved(figure, "png")) == pixels(printed(figure)["png"])
