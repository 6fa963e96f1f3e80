"""Figures that are saved, and the matrix: what they show is what is on the page."""

from __future__ import annotations

import base64
import io
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from matplotlib.image import imread

from tests.page.browser import Page
from tests.page.conftest import Open
from tests.page.systems import ensemble, swarm
from tests.page.test_page import stripes_box
from timme._arrays import Floats
from timme.output.colours import CORE, WIDE

SVG = "{http://www.w3.org/2000/svg}"


def png_of(page: Page, figure: str = "") -> Floats:
    """Pixels of a saved picture, (rows, columns, red green blue), from 0 to 1."""
    data = page.evaluate(
        f"timme.page.png('{figure}').then(blob => new Promise(done => {{"
        "const reader = new FileReader(); reader.onload = () => done(reader.result);"
        "reader.readAsDataURL(blob)}))"
    )
    return np.asarray(imread(io.BytesIO(base64.b64decode(data.partition(",")[2]))))[..., :3]


def svg_of(page: Page, figure: str = "") -> ET.Element:
    return ET.fromstring(page.evaluate(f"timme.page.svg('{figure}')"))


@pytest.mark.parametrize("figure", ["fraction", "sizes"])
@pytest.mark.parametrize("cutoff", [-9, 9])
def test_the_line_of_a_cutoff_beyond_a_curve_is_drawn_at_its_border(
    look: Open, figure: str, cutoff: float
) -> None:
    page = look(ensemble())
    page.evaluate(f"timme.page.setCutoff({cutoff})")
    root = svg_of(page, figure)
    line = next(
        part for part in root.iter(f"{SVG}polyline") if part.get("stroke-dasharray") == "6 3"
    )
    x = {float(point.partition(",")[0]) for point in str(line.get("points")).split()}
    frame = next(part for part in root.iter(f"{SVG}rect") if part.get("fill") == "none")
    left, width = float(str(frame.get("x"))), float(str(frame.get("width")))
    border = left + width if cutoff > 0 else left
    assert len(x) == 1
    assert x.pop() == pytest.approx(border, abs=1)  # frames are drawn half a pixel inside


def test_stripes_of_a_picture_have_no_seams(look: Open) -> None:
    page = look(ensemble())
    page.press("End")
    left, top, width, height = stripes_box(page)
    x, y, *_ = page.box(".plot.dilution")
    sharp = 2  # pixels of a picture for one of the screen
    place = [round(sharp * value) for value in (top - y, left - x, height, width)]
    tall = slice(place[0] + place[2] // 10, place[0] + place[2] - 4)  # below the line of the cutoff
    wide = slice(place[1] + 4, place[1] + place[3] - 4)  # within the frame
    inside = np.round(255 * png_of(page, "dilution")[tall, wide]).astype(int)
    found = {f"#{colour:06x}" for colour in np.unique(inside @ [1 << 16, 1 << 8, 1]).tolist()}
    paper = page.evaluate(
        "getComputedStyle(document.querySelector('.timme')).getPropertyValue('--paper').trim()"
    )
    assert CORE in found
    assert found <= {CORE, *WIDE, paper}


def test_a_picture_of_the_page_has_headings_and_the_clusters(look: Open) -> None:
    page = look(ensemble())
    words = [part.text for part in svg_of(page).iter(f"{SVG}text")]
    for heading in ("h1", ".heading p", ".curve h3", ".curve:last-child h3"):
        assert page.evaluate(f"document.querySelector('{heading}').textContent") in words
    for row in (0, 1):
        text = page.evaluate(
            f"document.querySelectorAll('tbody tr')[{row}].querySelector('.members').textContent"
        )
        assert text in words
    assert page.evaluate("document.querySelector('.summary').textContent") in " ".join(
        word for word in words if word
    )


def test_no_quarter_of_a_picture_of_the_page_is_empty(look: Open) -> None:
    pixels = png_of(look(ensemble()))
    rows, columns = (size // 2 for size in pixels.shape[:2])
    for quarter in (
        pixels[:rows, :columns],
        pixels[:rows, columns:],
        pixels[rows:, :columns],
        pixels[rows:, columns:],
    ):
        assert (quarter.std(axis=(0, 1)) > 0.01).any()


# ---- the matrix ----------------------------------------------------------------------------------

TAB = "[...document.querySelectorAll('[role=tab]')].find(t => t.textContent === 'σ matrix').click()"
HINT = "document.querySelector('.matrix .hint').textContent"


def said_at(page: Page, row: float, column: float) -> str:
    """Hover the matrix at a part of its height and width, and return what is said."""
    left, top, width, height = page.box(".matrix .area")
    side = max(10, min(width - 118, height - 18))
    x = max(12, (width - side - 90) / 2)
    page.hover(left + x + column * side, top + 12 + row * side)
    return str(page.evaluate(HINT))


def test_a_pixel_of_several_pairs_says_that_it_is_their_mean(show: Open) -> None:
    analysis = swarm(2_500)
    page = show(analysis)
    page.evaluate(TAB)
    page.settle()
    assert "mean of about" in page.evaluate(HINT)
    order = analysis.shown_hierarchy.order
    said = {said_at(page, 0.3, part) for part in np.linspace(0.3, 0.31, 12)}
    measured = [text for text in said if "σ =" in text]
    assert measured
    for text in measured:
        assert "mean σ =" in text
    first = said_at(page, 0.3 + 1e-4, 0.7)
    row = int((0.3 + 1e-4) * 1000)
    places = [place for place in range(2_500) if place * 1000 // 2_500 == row]
    names = [str(order[place] + 1) for place in (places[0], places[-1])]
    assert first.startswith(f"{names[0]} to {names[1]} and")


def test_the_matrix_follows_the_order_of_the_axis(show: Open) -> None:
    analysis = ensemble()
    page = show(analysis)
    page.evaluate(TAB)
    page.settle()
    assert "residue number (Cα)" in page.evaluate(HINT)
    count = analysis.shown_hierarchy.n_sites
    names = page.evaluate("JSON.parse(document.getElementById('timme-scene').textContent)")
    called = names["tree"]["names"]
    assert said_at(page, 0.5 / count, 0.5 / count).startswith(f"A {called[0]} and A {called[0]}:")
    page.evaluate(
        "(select => { select.value = 'label'; select.dispatchEvent(new Event('change')); })"
        "([...document.querySelectorAll('.controls select')].at(-1))"
    )
    page.hover(5, 5)
    assert "site label" in page.evaluate(HINT)
    order = analysis.shown_hierarchy.order
    assert analysis.fluctuations is not None
    known = {
        frozenset(pair): sigma
        for pair, sigma in zip(
            analysis.fluctuations.pairs.tolist(), analysis.fluctuations.sigma.tolist(), strict=True
        )
    }
    for i, j in ((0, 1), (2, 5), (4, 3)):
        text = said_at(page, (i + 0.5) / count, (j + 0.5) / count)
        one, other = called[order[i]], called[order[j]]
        assert text.startswith(f"A {one} and A {other}:")
        sigma = known.get(frozenset(analysis.system.shown[order[[i, j]]].tolist()))
        said = "not measured" if sigma is None else f"σ = {float(f'{sigma:.4g}'):g} Å"
        assert text.endswith(said)
