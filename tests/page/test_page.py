"""The page in a real browser: what is seen follows from the hierarchy, whatever one does."""

from __future__ import annotations

import base64
import csv
import io
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from tests.page.browser import Page
from tests.page.conftest import Open
from tests.page.systems import energies, ensemble, forest, hinge, swarm
from timme.analysis import Analysis, Input, Provenance
from timme.output.colours import SAFE, WIDE, colouring
from timme.output.tables import clusters_csv
from timme.workflow import analyse

STATE = "timme.page.state()"


def assert_follows(page: Page, analysis: Analysis, **look: object) -> None:
    """Clusters and colours of the page are those of the library at its cutoff."""
    state = page.evaluate(STATE)
    found = colouring(analysis, state["cutoff"], min_size=state["minSize"], **look)  # type: ignore[arg-type]
    partition = analysis.shown_hierarchy.cut(state["cutoff"])
    members = [partition.members(label).tolist() for label in range(len(found.sizes))]
    assert [cluster["members"] for cluster in state["clusters"]] == members
    assert [cluster["colour"] for cluster in state["clusters"]] == found.colours.tolist()
    if analysis.system.coordinates.shape[1]:
        colours = page.evaluate("timme.page.atomColours()")
        assert colours == found.object_colours[analysis.system.site_objects].tolist()


SCENE = "JSON.parse(document.getElementById('timme-scene').textContent)"


def stripes_box(page: Page) -> tuple[float, float, float, float]:
    """Left, top, width and height of the stripes, without the axes around them."""
    x, y, width, height = page.box(".plot.dilution")
    scaled = page.evaluate(f"{SCENE}.length") not in {None, 1}
    told = page.evaluate(f"{SCENE}.confidence?.clusters.some(({{look}}) => look !== 'plain')")
    return x + 62, y + 8, width - 62 - (62 if scaled else 26), height - (70 if told else 50)


# ---- a report from a file ------------------------------------------------------------------------


def test_a_report_opens_from_its_file_and_asks_for_nothing_else(show: Open) -> None:
    page = show(ensemble())
    assert len(page.requests) == 1
    assert page.requests[0].startswith("file://")
    assert page.errors == []


def test_colours_of_atoms_are_those_of_the_clusters_at_every_level(show: Open) -> None:
    analysis = ensemble()
    page = show(analysis)
    assert_follows(page, analysis)
    page.press("Home")
    assert page.evaluate(STATE)["level"] == 0
    levels = analysis.shown_hierarchy.levels
    for level, cutoff in enumerate(levels.tolist(), start=1):
        page.press("ArrowUp")
        state = page.evaluate(STATE)
        assert (state["level"], state["cutoff"]) == (level, cutoff)
        assert_follows(page, analysis)
    page.press("ArrowUp")
    assert page.evaluate(STATE)["level"] == len(levels)
    page.press("ArrowDown")
    assert page.evaluate(STATE)["cutoff"] == levels[-2]


@pytest.mark.thorough
def test_a_protein_is_coloured_as_its_clusters(show: Open, nmr_file: Path) -> None:
    analysis = analyse(nmr_file)
    page = show(analysis)
    page.press("Home")
    for _ in range(8):
        page.press("PageUp")
        assert_follows(page, analysis)
    assert page.errors == []
    assert len(page.requests) == 1


def test_dragging_the_line_moves_the_cutoff_and_everything_follows(show: Open) -> None:
    analysis = ensemble()
    page = show(analysis)
    low, high = page.evaluate(f"{SCENE}.limits")
    _, top, _, tall = stripes_box(page)
    grip_x, grip_y, *_ = page.box(".plot.dilution .handle")
    for part in (0.3, 0.7, 0.52):
        target = top + part * tall
        page.drag((grip_x, grip_y), (grip_x, target))
        _, grip_y, *_ = page.box(".plot.dilution .handle")
        cutoff = page.evaluate(STATE)["cutoff"]
        assert cutoff == pytest.approx(high - part * (high - low), abs=(high - low) / tall)
        assert grip_y == pytest.approx(target, abs=1)
        assert_follows(page, analysis)
        said = page.evaluate("document.querySelector('.handle').getAttribute('aria-valuetext')")
        assert f"σc = {float(f'{cutoff:.4g}'):g} Å" in said
        summary = page.evaluate("document.querySelector('.summary').textContent")
        sizes = analysis.shown_hierarchy.cut(cutoff).sizes
        assert f"the largest has {sizes[0]}." in summary or sizes[0] < 3


def test_smallest_size_and_colours_can_be_chosen(show: Open) -> None:
    analysis = ensemble()
    page = show(analysis)
    page.evaluate("timme.page.setMinSize(1)")
    assert_follows(page, analysis, palette=WIDE)
    page.evaluate("timme.page.setPalette('safe')")
    assert_follows(page, analysis, palette=SAFE)


def test_hovering_a_stripe_lights_up_its_atoms_and_the_other_way_round(show: Open) -> None:
    analysis = ensemble()
    page = show(analysis)
    shown, state = analysis.shown_hierarchy, page.evaluate(STATE)
    before = page.evaluate("timme.page.atomColours()")
    member = state["clusters"][0]["members"][0]
    x, y, width, _ = stripes_box(page)
    place = x + width * (member + 0.5) / shown.n_sites
    line = page.box(".plot.dilution .handle")[1]
    page.hover(place, line - 1)
    state = page.evaluate(STATE)
    assert member in state["highlighted"]
    after = page.evaluate("timme.page.atomColours()")
    whole = analysis.hierarchy.cut(state["cutoff"]).labels
    lit = whole[analysis.system.site_objects] == whole[analysis.system.shown[member]]
    kept = [now == was for now, was in zip(after, before, strict=True)]
    assert kept == lit.tolist()
    page.hover(x - 40, y)
    assert page.evaluate(STATE)["highlighted"] is None
    assert page.evaluate("timme.page.atomColours()") == before

    page.evaluate("timme.page.setStyle('sticks')")
    left, top, *_ = page.box(".stage")
    found = []
    for site in np.flatnonzero(lit).tolist():
        px, py = page.evaluate(f"timme.page.atomPosition({site})")
        page.hover(left + px, top + py)
        found.append(page.evaluate(STATE)["highlighted"])
    seen = [tuple(members) for members in found if members]
    assert tuple(state["clusters"][0]["members"]) in seen


def test_a_click_tells_what_a_cluster_is(show: Open) -> None:
    analysis = ensemble()
    page = show(analysis)
    cutoff = page.evaluate(STATE)["cutoff"]
    page.evaluate("document.querySelectorAll('tbody tr')[1].click()")
    state = page.evaluate(STATE)
    assert state["selected"] == 1
    text = page.evaluate("document.querySelector('.detail').textContent")
    partition = analysis.shown_hierarchy.cut(cutoff)
    members = partition.members(1)
    hierarchy = analysis.shown_hierarchy
    node = next(
        node
        for node in range(len(hierarchy.parents))
        if hierarchy.births[node] <= cutoff < hierarchy.deaths[node]
        and hierarchy.sizes[node] == len(members)
        and hierarchy.lowest[node] == members[0]
    )
    assert "Cluster 2" in text
    assert f"{len(members)} Cα" in text
    assert f"forms at {float(f'{hierarchy.births[node]:.4g}'):g} Å" in text
    sites = analysis.system.object_sites[analysis.system.shown[members]]
    first, last = analysis.system.sites.resids[sites[[0, -1]]]
    chain = analysis.system.sites.chains[sites[0]]
    assert page.evaluate("timme.page.pymol()") == f"(chain {chain} and resi {first}-{last})"
    page.press("z", "z")
    page.press("Escape")
    assert page.evaluate(STATE)["selected"] == -1
    assert page.errors == []


def test_a_click_on_a_stripe_selects_it_where_it_is(show: Open) -> None:
    analysis = hinge()
    page = show(analysis)
    state = page.evaluate(STATE)
    order = analysis.shown_hierarchy.order.tolist()
    member = state["clusters"][1]["members"][0]
    place = member if analysis.system.sequential else order.index(member)
    x, _, width, _ = stripes_box(page)
    spot = x + width * (place + 0.5) / len(order)
    page.click(spot, page.box(".plot.dilution .handle")[1] - 2)
    state = page.evaluate(STATE)
    assert member in state["clusters"][state["selected"]]["members"]


# ---- snapshots -----------------------------------------------------------------------------------


def positions(page: Page, sites: list[int]) -> np.ndarray:
    return np.array(page.evaluate(f"{sites}.map(site => timme.page.atomPosition(site))"))


def test_snapshots_are_stepped_and_the_core_stays_in_place_on_request(show: Open) -> None:
    analysis = hinge()
    page = show(analysis)
    core = np.flatnonzero(analysis.hierarchy.cut(0.04).labels == 0)
    sites = np.flatnonzero(np.isin(analysis.system.site_objects, core)).tolist()
    first = positions(page, sites)
    page.press("ArrowRight")
    page.press("ArrowRight")
    assert page.evaluate(STATE)["frame"] == 2
    moved = np.abs(positions(page, sites) - first).max()
    page.evaluate("document.querySelector('.film input[type=checkbox]').click()")
    page.settle()
    assert page.evaluate(STATE)["fixed"]
    left = np.abs(positions(page, sites) - first).max()
    # Bodies are stiff but for their jitter, which is small beside how far they swing.
    assert left < 0.1 * moved
    page.press("ArrowLeft")
    assert page.evaluate(STATE)["frame"] == 1


def test_the_film_plays_and_stops(show: Open) -> None:
    page = show(hinge())
    page.press(" ", " ")
    page.wait(f"{STATE}.frame > 1")
    page.press(" ", " ")
    here = page.evaluate(STATE)["frame"]
    page.evaluate("new Promise(done => setTimeout(done, 400))")
    assert page.evaluate(STATE)["frame"] == here
    page.press(" ", " ")
    page.press("ArrowRight")
    here = page.evaluate(STATE)["frame"]
    page.evaluate("new Promise(done => setTimeout(done, 400))")
    assert page.evaluate(STATE)["frame"] == here


# ---- files ---------------------------------------------------------------------------------------


def test_the_csv_is_that_of_the_folder(look: Open) -> None:
    analysis = ensemble()
    page = look(analysis)
    page.press("ArrowUp")
    cutoff = page.evaluate(STATE)["cutoff"]
    mine = list(csv.reader(io.StringIO(page.evaluate("timme.page.csv()"))))
    theirs = list(csv.reader(io.StringIO(clusters_csv(analysis, [cutoff]))))
    assert mine == theirs
    assert len(mine) > 1


FIGURES = ["view", "dilution", "fraction", "sizes", "matrix", "sequence", "clusters"]


@pytest.mark.parametrize("figure", FIGURES)
def test_every_figure_is_saved_as_svg_and_png(look: Open, figure: str) -> None:
    page = look(ensemble())
    root = ET.fromstring(page.evaluate(f"timme.page.svg('{figure}')"))
    assert root.tag.endswith("svg")
    assert len(list(root.iter())) > 2
    data = page.evaluate(
        f"timme.page.png('{figure}').then(blob => new Promise(done => {{"
        "const reader = new FileReader(); reader.onload = () => done(reader.result);"
        "reader.readAsDataURL(blob)}))"
    )
    png = base64.b64decode(data.partition(",")[2])
    assert png.startswith(b"\x89PNG")
    assert len(png) > 2_000


def test_the_svg_of_the_dilution_has_the_colours_of_its_stripes(look: Open) -> None:
    analysis = ensemble()
    page = look(analysis)
    text = page.evaluate("timme.page.svg('dilution')")
    for colour in colouring(analysis, page.evaluate(STATE)["cutoff"]).colours.tolist():
        assert f'fill="{colour}"' in text


def test_what_is_exported_downloads_without_an_error(show: Open) -> None:
    page = show(ensemble())
    page.call("Page.setDownloadBehavior", behavior="deny")
    page.evaluate("document.querySelectorAll('.menu .items button').forEach(b => b.click())")
    page.wait("document.querySelector('.live').textContent.includes('saved')")
    assert page.errors == []
    assert all(url.startswith(("file:", "blob:", "data:")) for url in page.requests)


def test_escape_closes_the_menu_before_it_deselects(show: Open) -> None:
    page = show(ensemble())
    page.evaluate("document.querySelector('tbody tr').click()")
    page.evaluate("document.querySelector('.menu').open = true")
    page.press("Escape")
    assert not page.evaluate("document.querySelector('.menu').open")
    assert page.evaluate(STATE)["selected"] == 0
    page.press("Escape")
    assert page.evaluate(STATE)["selected"] == -1


def test_only_what_was_copied_is_said_to_be(show: Open) -> None:
    page = show(ensemble())
    page.evaluate("document.querySelector('tbody tr').click()")
    said = "document.querySelector('.live').textContent"
    for works, words in (("false", "does not let"), ("true", "selection copied")):
        page.evaluate(
            "Object.defineProperty(navigator, 'clipboard', {configurable: true, value: undefined});"
            f"document.execCommand = () => {works}"
        )
        page.evaluate("document.querySelector('.detail .copy').click()")
        page.wait(f"{said}.includes('{words}')")


# ---- systems of all kinds ------------------------------------------------------------------------


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_particles_without_bonds_are_shown(show: Open, dimensions: int) -> None:
    analysis = swarm(200, dimensions)
    page = show(analysis)
    for _ in range(3):
        page.press("PageUp")
        assert_follows(page, analysis)
    page.evaluate("timme.page.setStyle('spheres')")
    page.press("ArrowRight")
    assert page.evaluate(STATE)["frame"] == 1
    assert page.errors == []


def test_a_plane_is_seen_from_above_with_x_to_the_right(show: Open) -> None:
    analysis = swarm(100, 2)
    page = show(analysis)
    seen = positions(page, list(range(100)))
    x, y = analysis.system.coordinates.T
    assert np.corrcoef(seen[:, 0], x)[0, 1] == pytest.approx(1, abs=1e-6)
    assert np.corrcoef(seen[:, 1], y)[0, 1] == pytest.approx(-1, abs=1e-6)


def test_energies_are_named_and_negative(show: Open) -> None:
    analysis = energies()
    page = show(analysis)
    summary = page.evaluate("document.querySelector('.summary').textContent")
    assert "E cutoff" in summary
    assert "kcal/mol" in summary
    assert "σ" not in summary
    page.press("Home")
    assert page.evaluate(STATE)["level"] == 0
    page.press("ArrowUp")
    assert page.evaluate(STATE)["cutoff"] == analysis.hierarchy.levels[0]
    assert_follows(page, analysis)


def test_trees_that_never_join_stay_apart(show: Open) -> None:
    analysis = forest()
    page = show(analysis)
    page.press("End")
    assert_follows(page, analysis)
    page.evaluate("timme.page.setCutoff(1e9)")
    assert_follows(page, analysis)
    assert [cluster["size"] for cluster in page.evaluate(STATE)["clusters"]] == [3, 3]


def test_a_matrix_has_no_view_but_all_else(show: Open) -> None:
    analysis = swarm(50, coordinates=np.empty((50, 0)), film=None, n_snapshots=0)
    page = show(analysis)
    assert page.evaluate("document.querySelector('.stage')") is None
    page.press("ArrowUp")
    assert_follows(page, analysis)
    assert page.errors == []


def test_names_are_text(show: Open) -> None:
    evil = "<img src=x onerror='window.hurt = 1'>"
    analysis = swarm(
        20,
        names=np.array([f"{evil}{k}" for k in range(20)]),
        provenance=Provenance(inputs=(Input(evil, evil),), command=evil, version=evil),
        notes=(evil,),
        shown_name=evil,
        min_size=1,
        kind="groups",
    )
    page = show(analysis)
    page.evaluate("document.querySelector('tbody tr').click()")
    page.evaluate("[...document.querySelectorAll('[role=tab]')].forEach(tab => tab.click())")
    page.settle()
    assert page.evaluate("document.querySelectorAll('img').length") == 0
    assert page.evaluate("window.hurt") is None
    assert page.evaluate("document.querySelector('h1').textContent") == evil


# ---- for everybody -------------------------------------------------------------------------------


def test_pictures_have_words_that_state_the_facts(look: Open) -> None:
    analysis = ensemble()
    page = look(analysis)
    words = page.evaluate(
        "[...document.querySelectorAll('canvas[role=img]')].map(c => c.getAttribute('aria-label'))"
    )
    sizes = analysis.shown_hierarchy.cut(0.1).sizes
    large = sizes[sizes >= 3]
    fact = f"{len(large)} clusters of at least 3 Cα hold {large.sum()} of {sizes.sum()}"
    assert sum(fact in text for text in words) >= 2
    assert all(words)
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, select, input')].filter(e => "
        "!(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label')"
        "?.textContent.trim())).length"
    )
    assert unnamed == 0


def test_a_laptop_shows_the_main_things_at_once_and_a_phone_in_a_column(show: Open) -> None:
    analysis = ensemble()
    page = show(analysis)
    tall = "document.documentElement.scrollHeight - innerHeight"
    wide = "document.documentElement.scrollWidth - innerWidth"
    assert page.evaluate(tall) <= 0
    page = show(analysis, size=(390, 844), phone=True)
    assert page.evaluate(wide) <= 0
    tops = [page.box(place)[1] for place in (".view", ".plots", ".list", ".more")]
    assert tops == sorted(tops)
    for place in (".view", ".plots", ".list", ".more"):
        left, _, width, _ = page.box(place)
        assert left >= 0
        assert left + width <= 390


def test_the_theme_follows_the_system_and_the_button(show: Open, browser: Page) -> None:
    page = show(ensemble())
    theme = "document.querySelector('.timme').dataset.theme"
    assert page.evaluate(theme) == "light"
    browser.prefer("dark")
    page.wait(f"{theme} === 'dark'")
    page.evaluate("document.querySelector('button.theme').click()")
    assert page.evaluate(theme) == "light"


def test_provenance_is_shown(look: Open) -> None:
    analysis = ensemble()
    page = look(analysis)
    text = page.evaluate("document.querySelector('.about').textContent")
    inputs = analysis.recipe.provenance.inputs
    assert inputs[0].name in text
    assert inputs[0].sha256 in text
    assert "timme run models.pdb" in text
    assert all(note in text for note in analysis.notes)
