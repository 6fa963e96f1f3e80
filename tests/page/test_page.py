"""The page in Chromium: what it shows is what the library says, at every cutoff and size."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.analysis.systems import analysis_of
from timme.analysis.comparison import compare
from timme.analysis.finding import find
from timme.analysis.result import Analysis, Comparison
from timme.ensemble import Ensemble
from timme.output import style
from timme.output.page import report_html
from timme.synthetic import bodies

_STATE = """(() => {
  const {state, view} = timme.page;
  return {
    cutoff: state.cutoff,
    members: state.cut.clusters.map((cluster) => [...state.hierarchy.members(cluster)]),
    sites: view ? view.drawnColours() : [],
  };
})()"""
_SIZES = """[...document.querySelectorAll(".clusters tbody tr")].map((row) =>
  row.children[1].textContent)"""

Open = Callable[..., Any]


def wait(page: Any, expression: str) -> None:
    """Wait until an expression is true: the policy of the page forbids that of playwright."""
    for _ in range(600):
        if page.evaluate(f"Boolean({expression})"):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never true: {expression}")


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Function that opens the report of a result from its file, in a window of a size."""
    pages = []

    def open_report(
        result: Analysis | Comparison, *, size: tuple[int, int] = (1400, 900), **more: Any
    ) -> Any:
        path = tmp_path / "report.html"
        path.write_text(report_html(result), encoding="utf-8")
        width, height = size
        page = browser.new_page(viewport={"width": width, "height": height}, **more)
        page.requests, page.problems = [], []
        page.on("request", lambda request: page.requests.append(request.url))
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.on("console", lambda told: told.type == "error" and page.problems.append(told.text))
        page.goto(path.as_uri())
        wait(page, "window.timme?.page")
        pages.append(page)
        return page

    yield open_report
    for page in pages:
        assert page.problems == []
        page.close()


@pytest.fixture(scope="module")
def molecule() -> Analysis:
    """Two bodies that turn by 60° against each other."""
    made = analysis_of(bodies((60, 40), spans=[60.0]).ensemble, title="hinge")
    return replace(made, finding=find(made))


@pytest.fixture(scope="module")
def particles() -> Analysis:
    """Particles of which 20 drift together; some are missing in some snapshots."""
    rng = np.random.default_rng(3)
    steps = 0.3 * rng.standard_normal((30, 50, 3))
    steps[:, :20] = steps[:, :1] + 0.02 * rng.standard_normal((30, 20, 3))
    places = 10 * rng.random((50, 3)) + np.cumsum(steps, axis=0)
    places[5:9, 30] = np.nan
    made = analysis_of(Ensemble.from_array(places, gaps=True), title="tracks", molecule=False)
    return replace(made, finding=find(made))


def assert_follows(page: Any, analysis: Analysis) -> None:
    """Clusters, colours and members of the page are those of the library at its cutoff."""
    state = page.evaluate(_STATE)
    cut = analysis.hierarchy.cut(state["cutoff"])
    large = np.flatnonzero(cut.sizes >= 10).tolist()
    assert state["members"] == [cut.members(label).tolist() for label in large]
    painted = style.cluster_colours(analysis, state["cutoff"])
    whole = analysis.atom_hierarchy.cut(state["cutoff"]).labels
    of_whole = {whole[analysis.system.shown[cut.members(k)[0]]]: painted[k] for k in large}
    objects = analysis.system.site_objects
    assert state["sites"] == [of_whole.get(whole[each], style.REST) for each in objects]
    sizes = json.dumps([str(cut.sizes[k]) for k in large], separators=(",", ":"))
    wait(page, f"JSON.stringify({_SIZES}) === {sizes!r}")  # a table is written with the next frame


@pytest.fixture(params=["molecule", "particles"])
def analysis(request: pytest.FixtureRequest) -> Any:
    """Either of both."""
    return request.getfixturevalue(request.param)


def test_clusters_and_colours_are_those_of_the_library_at_every_cutoff(
    show: Open, analysis: Analysis
) -> None:
    page = show(analysis)
    page.evaluate("timme.page.state.setColouring('clusters')")
    levels = analysis.hierarchy.levels
    page.evaluate("timme.page.state.setCutoff(timme.page.state.below)")
    assert_follows(page, analysis)
    for k in np.unique(np.linspace(0, len(levels) - 1, 12).astype(int)).tolist():
        page.evaluate("cutoff => timme.page.state.setCutoff(cutoff)", levels[k])
        assert_follows(page, analysis)
    page.keyboard.press("ArrowDown")
    assert page.evaluate(_STATE)["cutoff"] == levels[-2]
    assert_follows(page, analysis)


def test_a_report_needs_no_network_and_runs_no_script_of_a_title(
    show: Open, molecule: Analysis
) -> None:
    hostile = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
    found = replace(molecule.finding, sentence=hostile)
    made = replace(molecule.made, title=hostile)
    page = show(replace(molecule, finding=found, made=made))
    assert [url.split(":")[0] for url in page.requests if not url.startswith("blob:")] == ["file"]
    assert page.locator("h1").inner_text() == hostile
    assert page.title() == hostile
    assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize("size", [(1400, 900), (390, 844)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_finding_comes_first_and_nothing_overlaps(
    show: Open, molecule: Analysis, size: tuple[int, int], scheme: str
) -> None:
    page = show(molecule, size=size, color_scheme=scheme)
    found = molecule.finding
    assert found is not None
    text = page.locator(".timme").inner_text()
    places = [text.index(each) for each in (found.sentence, found.sure, found.facts[0].value)]
    assert places == sorted(places)
    boxes = page.evaluate(
        "[...document.querySelectorAll('header, .card')].map((element) => {"
        " const {left, top, right, bottom} = element.getBoundingClientRect();"
        " return [left, top, right, bottom]; })"
    )
    for k, (left, top, right, bottom) in enumerate(boxes):
        assert 0 <= left < right <= size[0]
        for other in boxes[:k]:
            assert left >= other[2] or other[0] >= right or top >= other[3] or other[1] >= bottom
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert page.locator(".timme").get_attribute("data-theme") == scheme


@pytest.mark.parametrize("palette", ["safe", "wide"])
def test_structure_strip_and_table_share_the_colours_of_the_finding(
    show: Open, molecule: Analysis, palette: str
) -> None:
    page = show(molecule)
    if palette != "safe":  # which is shown at first
        page.get_by_label("Palette").select_option(label=palette)
    expected = style.group_colours(molecule, palette)[molecule.finding.labels].tolist()
    assert page.evaluate(_STATE)["sites"] == expected
    for element in ('section[aria-label^="Table"] .swatch', ".strip rect"):
        painted = page.evaluate(
            f"[...document.querySelectorAll('{element}')].map((each) =>"
            " each.getAttribute('fill') ?? each.style.getPropertyValue('--colour'))"
        )
        assert painted == list(dict.fromkeys(expected))  # each body is one stretch
    assert [a["label"] for a in page.evaluate("timme.page.state.scene.motion.axes")] == ["60°"]


def test_a_comparison_shows_both_dilution_plots_in_the_same_colours(
    show: Open, molecule: Analysis
) -> None:
    page = show(compare(molecule, molecule))
    strips = page.evaluate(
        "[...document.querySelectorAll('.strip')].map((strip) =>"
        " [...strip.children].map((rect) => rect.getAttribute('fill')).join())"
    )
    assert len(strips) == 2
    assert strips[0] == strips[1]
    names = page.locator(".pair h2").all_inner_texts()
    assert names == ["hinge-1", "hinge-2"]
    assert [name in page.locator("h1").inner_text() for name in names] == [True, True]


def test_the_structure_is_drawn_at_once(show: Open, analysis: Analysis) -> None:
    page = show(analysis)
    drawn = page.evaluate(
        "timme.page.view.image().then((blob) => createImageBitmap(blob)).then((image) => {"
        " const canvas = new OffscreenCanvas(image.width, image.height);"
        " const context = canvas.getContext('2d'); context.drawImage(image, 0, 0);"
        " const {data} = context.getImageData(0, 0, image.width, image.height);"
        " let coloured = 0; for (let k = 0; k < data.length; k += 4)"
        "  if (data[k + 3] && Math.max(data[k], data[k + 1], data[k + 2])"
        "      - Math.min(data[k], data[k + 1], data[k + 2]) > 40) coloured++;"
        " return coloured / (image.width * image.height); })"
    )
    assert 0.01 < drawn < 0.6


def test_a_particle_that_is_not_seen_is_not_drawn(show: Open, particles: Analysis) -> None:
    page = show(particles)
    lost = "timme.page.state.setFrame({frame}), timme.page.view.radii[30]"
    assert page.evaluate(lost.format(frame=4)) > 0
    assert page.evaluate(lost.format(frame=6)) == 0


def test_the_keyboard_moves_plays_and_explains(show: Open, molecule: Analysis) -> None:
    page = show(molecule)
    page.keyboard.press("?")
    assert page.locator("dialog").is_visible()
    page.keyboard.press("Escape")
    wait(page, "!document.activeElement.closest('dialog')")
    page.evaluate("timme.page.state.select(0)")
    page.keyboard.press("Escape")
    assert page.evaluate("timme.page.state.anchor") == -1
    frame = page.evaluate("timme.page.state.frame")
    page.keyboard.press(" ")
    wait(page, f"timme.page.state.frame !== {frame}")
    page.keyboard.press(" ")
    titles = [tab.inner_text() for tab in page.locator("[role=tab]").all()]
    assert titles == [
        *("Clusters at σc", "Curves", "Matrix", "Motion", "Sampling", "About this result")
    ]
    page.locator("[role=tab]").first.focus()
    for title in titles[1:]:
        page.keyboard.press("ArrowRight")
        assert page.locator("[role=tab][aria-selected=true]").inner_text() == title
        assert page.locator("[role=tabpanel]:not([hidden])").count() == 1


def test_a_drag_of_the_cutoff_follows_the_pointer(show: Open, molecule: Analysis) -> None:
    page = show(molecule)
    box = page.locator(".handle").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 40, steps=4)
    page.mouse.up()
    higher = page.evaluate("timme.page.state.cutoff")
    assert higher > page.evaluate("timme.page.state.scene.finding.cutoff")
    rows = page.evaluate("timme.page.csv()").splitlines()[1:]
    assert {float(row.split(",")[0]) for row in rows} == {higher}


@pytest.mark.usefixtures("browser")  # which needs the page as well
def test_a_notebook_shows_the_same_scene(molecule: Analysis) -> None:
    pytest.importorskip("anywidget")
    from timme.notebook import show

    shown = show(molecule, height=500)
    assert (shown.height, json.loads(shown.scene)["title"]) == ("500px", "hinge")
    with pytest.raises(TypeError, match="show needs Analysis, got str"):
        show("result.npz")  # type: ignore[arg-type]
