"""Figures drawn once, as pixels and as vectors, are those that matplotlib draws twice."""

from __future__ import annotations

import base64
import io
import re
import subprocess
import sys
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.textpath import TextToPath
from PIL import Image

from tests.patience import LONGEST
from timme.output.axes import figure_of, new_axes
from timme.output.printing import print_both

DPI = 300


UNWRITTEN: dict[Any, str] = dict.fromkeys(
    ("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"), "none"
)


def drawing(*, rasterised: bool = False, legend: bool = True) -> Figure:
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
    if legend:
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
        return {kind: make() for kind, make in print_both(figure, DPI).items()}


def numbers(svg: bytes) -> list[float]:
    """Coordinates of all paths, in their order."""
    found = re.findall(r'<path[^>]* d="([^"]*)"', svg.decode())
    return [float(number) for path in found for number in re.findall(r"-?\d+\.?\d*", path)]


@pytest.mark.parametrize("rasterised", [False, True])
def test_pixels_are_those_that_matplotlib_saves(rasterised: bool) -> None:
    # But for letters, which theirs are moved to whole pixels, and for what is made to fit them.
    with mpl.rc_context(UNWRITTEN):
        figure = drawing(rasterised=rasterised, legend=False)
        assert pixels(printed(figure)["png"]) == pixels(saved(figure, "png"))


@pytest.mark.parametrize(
    "text", ["0.02", "Residue number (Cα)", r"$\sigma_\mathrm{c}\,/\,a$ = $10^{2}$"]
)
@pytest.mark.parametrize("angle", [0, 90, 30])
def test_letters_lie_where_matplotlib_puts_them(text: str, angle: int) -> None:
    # Strokes and widths of theirs are rounded to whole pixels; ours are where they were measured.
    # So what is dark in one is dark in the other or near it, and there is as much of it.
    figure = Figure(figsize=(3.4, 2.5))
    FigureCanvasAgg(figure)
    figure.text(0.3, 0.4, text, rotation=angle, fontsize=8, color="#204080")
    ours, theirs = (
        np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)
        for png in (printed(figure)["png"], saved(figure, "png"))
    )
    for one, other in ((ours, theirs), (theirs, ours)):
        assert ((one < 128).any(axis=2) <= near(other < 250, 2 + len(text) // 2)).all()
    assert (255 - ours).sum() == pytest.approx((255 - theirs).sum(), rel=0.1)
    assert ours.min(axis=(0, 1)).tolist() == [0x20, 0x40, 0x80]


def near(dark: Any, reach: int) -> Any:
    """Mark what is dark, and so many pixels around it."""
    marked: Any = dark.any(axis=2)
    for axis in (0, 1):
        marked = np.max([np.roll(marked, k, axis) for k in range(-reach, reach + 1)], axis=0)
    return marked


def test_a_page_through_which_something_shines_stays_so() -> None:
    figure = drawing()
    figure.patch.set_alpha(0.5)
    image = Image.open(io.BytesIO(printed(figure)["png"]))
    assert image.mode == "RGBA"
    assert image.getpixel((2, 2)) == pytest.approx((255, 255, 255, 128), abs=1)


def test_texts_are_laid_out_once_for_all_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out = list[str]()
    lay_out = TextToPath.get_glyphs_with_font

    def counted(self: TextToPath, font: Any, s: str, *given: Any, **named: Any) -> Any:
        laid_out.append(s)
        return lay_out(self, font, s, *given, **named)

    monkeypatch.setattr(TextToPath, "get_glyphs_with_font", counted)
    for _ in range(2):
        figure = Figure(figsize=(2, 2))
        figure.text(0.5, 0.5, "never written before")
        figure.text(0.5, 0.6, "never written before")
        assert printed(figure)["svg"].count(b"<use") == 2 * len("never written before")
    assert laid_out == ["never written before"]


def test_other_fonts_are_taken_once_they_are_chosen() -> None:
    figure = Figure(figsize=(2, 1))
    figure.text(0.1, 0.5, r"sites $\sigma$")
    before = printed(figure)["png"]
    with mpl.rc_context({"font.sans-serif": ["DejaVu Serif"]}):
        assert printed(figure)["png"] != before
    assert printed(figure)["png"] == before


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
    page = np.asarray(
        Image.open(io.BytesIO(print_both(figure_of(axes), 100)["png"]())).convert("L")
    )
    edges = np.concatenate([page[0], page[-1], page[:, 0], page[:, -1]])
    assert (edges == 255).all()


def test_printing_leaves_a_figure_as_it_was() -> None:
    figure = figure_of(new_axes())
    before = figure.dpi, figure.get_layout_engine()
    first = pixels(saved(figure, "png"))
    printed(figure)
    assert (figure.dpi, figure.get_layout_engine()) == before
    assert pixels(saved(figure, "png")) == first


_PRINT = """
import sys
from timme.output.axes import figure_of, new_axes
from timme.output.printing import print_both
print_both(figure_of(new_axes()), 50)["png"]()
print("matplotlib.pyplot" in sys.modules)
"""


def test_printing_imports_nothing_that_opens_windows() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PRINT], capture_output=True, text=True, check=True, timeout=LONGEST
    )
    assert done.stdout == "False\n"
