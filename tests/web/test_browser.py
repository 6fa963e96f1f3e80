"""The page in a real browser: upload, progress, result, cancel, restart; evil names as text."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.cli.ensembles import wandering, write_tracks
from tests.patience import LONGEST
from tests.web.conftest import until
from tests.web.served import Served
from timme.web import parts
from timme.web.form import form

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --use-gl=angle --use-angle=swiftshader "
    "--enable-unsafe-swiftshader"
)
SIZES = {"desk": {"width": 1440, "height": 900}, "phone": {"width": 390, "height": 844}}

expect.set_options(timeout=1000 * LONGEST)

pytestmark = pytest.mark.skipif(
    CHROMIUM is None and os.environ.get("TIMME_REQUIRE_BROWSER") != "1",
    reason="needs Chromium (Debian: apt install chromium)",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert CHROMIUM is not None, "TIMME_REQUIRE_BROWSER=1, but there is no Chromium"
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Served]]:
    """The server; tests that start it again put the new one in place of the old."""
    running = [Served(tmp_path_factory.mktemp("browser") / "data")]
    yield running
    running[0].stop()


OpenPage = Callable[..., Page]


@pytest.fixture(scope="module")
def built() -> None:
    """The scripts of the pages; skip with the reason, or fail where they must be tested."""
    if not parts.missing():
        return
    problem = "needs the built page (python viewer/build.py)"
    if os.environ.get("TIMME_REQUIRE_BROWSER") == "1":
        pytest.fail(problem)
    pytest.skip(problem)


@pytest.fixture
def open_page(browser: Browser, served: list[Served], built: None) -> Iterator[OpenPage]:  # noqa: ARG001
    """Function that opens the page as its user does; whatever the browser complains of fails."""
    complaints: list[str] = []
    contexts = []

    def noted(url: str) -> None:
        if not url.startswith((f"{served[0].base}/", "blob:", "data:")):
            complaints.append(f"left this computer: {url}")

    def open_it(**options: Any) -> Page:
        context = browser.new_context(**({"viewport": SIZES["desk"]} | options))
        context.set_default_timeout(1000 * LONGEST)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console", lambda said: complaints.append(said.text) if said.type == "error" else None
        )
        page.on("request", lambda request: noted(request.url))
        page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        page.goto(served[0].address)
        page.wait_for_selector("body[data-ready]")
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tracks(tmp_path_factory.mktemp("tracks") / "tracks.csv", wandering(12, 8))


@pytest.fixture(scope="module")
def done(served: list[Served], table: Path) -> str:
    """The id of a result of the table."""
    sent = served[0].client.post("/api/jobs", files={"topology": (table.name, table.read_bytes())})
    name = str(sent.json()["id"])
    until(lambda: served[0].state(name) == "done")
    return name


@pytest.fixture(scope="module")
def long_file(tmp_path_factory: pytest.TempPathFactory, long_run: bytes) -> Path:
    path = tmp_path_factory.mktemp("long") / "long.npy"
    path.write_bytes(long_run)
    return path


def submitted(page: Page, *files: Path) -> None:
    page.set_input_files("#files", [str(path) for path in files])
    page.get_by_role("button", name="Analyse").click()
    page.wait_for_url("**/results/*")


def begun_long(page: Page, path: Path) -> None:
    page.get_by_label("Pairs", exact=True).select_option("all")
    page.get_by_text("More choices").click()
    page.get_by_label("NaN means: not seen").check()
    submitted(page, path)


def expect_state(page: Page, state: str) -> None:
    expect(page.locator("#state")).to_have_text(state)


@pytest.mark.thorough
def test_a_table_is_uploaded_and_its_result_is_found_again_after_a_restart(
    open_page: OpenPage, served: list[Served], table: Path, tmp_path: Path
) -> None:
    page = open_page()
    assert "token" not in page.url
    submitted(page, table)
    expect_state(page, "done")
    expect(page.get_by_role("progressbar")).to_be_hidden()
    expect(page.locator("#summary")).to_contain_text("12")
    page.get_by_text("Figures", exact=True).click()
    picture = page.get_by_role("img", name="Clusters at every cutoff")
    picture.scroll_into_view_if_needed()
    until(lambda: picture.evaluate("image => image.complete && image.naturalWidth > 0"))
    with page.expect_download() as download:
        page.get_by_role("link", name="clusters.csv").click()
    download.value.save_as(tmp_path / "clusters.csv")
    assert (tmp_path / "clusters.csv").read_text().startswith("cutoff")
    result = page.url
    page.close()

    served[0].stop()
    served[0] = Served(served[0].folder)
    again = open_page()
    row = again.get_by_role("listitem").filter(has_text="tracks.csv")
    expect(row).to_contain_text("done")
    row.get_by_role("link", name="tracks.csv").click()
    expect_state(again, "done")
    assert again.url.rsplit("/", 1)[1] == result.rsplit("/", 1)[1]


# ---- the interactive page ----------------------------------------------------------------------

STATE = "window.timme.page.state()"
DRAWN = """canvas => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (let k = 0; k < data.length; k += 4) if (data[k + 3]) seen.add(data.slice(k, k + 3).join());
    return seen.size;
}"""


def shown_page(page: Page) -> None:
    """Wait for the interactive page of a result."""
    expect_state(page, "done")
    until(lambda: page.evaluate("window.timme?.page !== undefined"))


def test_the_result_of_an_ensemble_is_the_interactive_page(
    open_page: OpenPage, tmp_path: Path, peptide: bytes
) -> None:
    file = tmp_path / "<b>peptide.pdb"
    file.write_bytes(peptide)
    page = open_page()
    submitted(page, file)
    shown_page(page)
    plot = page.locator(".timme .plot canvas").first
    expect(plot).to_be_visible()
    until(lambda: plot.evaluate(DRAWN) > 2)  # more than ink and paper
    # The two stiff halves of the peptide are the largest clusters somewhere.
    before = page.evaluate(STATE)
    colours = page.evaluate("window.timme.page.atomColours()")
    page.keyboard.press("Home")
    assert page.evaluate(STATE)["clusters"] == []
    page.keyboard.press("ArrowUp")
    after = page.evaluate(STATE)
    assert after["level"] == 1
    assert after["cutoff"] < before["cutoff"]
    assert page.evaluate("window.timme.page.atomColours()") != colours
    page.keyboard.press("End")
    assert [cluster["size"] for cluster in page.evaluate(STATE)["clusters"]] == [24]
    expect(page.locator("#title")).to_have_text(file.name)
    expect(page.locator("#made")).to_contain_text("timme run")
    page.get_by_role("tab", name="Provenance").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("SHA-256")
    assert page.locator("main b").count() == 0
    expect(page.locator("#drawn")).not_to_have_attribute("open", "")


def test_keys_beside_the_interactive_page_are_those_of_the_browser(
    open_page: OpenPage, served: list[Served], done: str
) -> None:
    page = open_page()
    page.goto(f"{served[0].base}/results/{done}")
    shown_page(page)
    before = page.evaluate(STATE)["cutoff"]
    page.get_by_role("link", name="clusters.csv").focus()
    page.keyboard.press("ArrowUp")
    assert page.evaluate(STATE)["cutoff"] == before


@pytest.mark.parametrize("size", SIZES)
def test_the_style_of_the_server_does_not_reach_the_interactive_page(
    open_page: OpenPage, served: list[Served], done: str, size: str
) -> None:
    page = open_page(viewport=SIZES[size])
    page.goto(f"{served[0].base}/results/{done}")
    shown_page(page)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    button = page.locator(".timme .bar button")
    height = 28 if size == "desk" else 36  # as its own style says
    assert button.evaluate("node => node.offsetHeight") == height
    bottom, top = (
        page.evaluate(f"document.querySelector('{place}').getBoundingClientRect().{edge}")
        for place, edge in ((".timme", "bottom"), ("#found", "top"))
    )
    assert bottom <= top  # nothing overlaps


@pytest.mark.thorough
def test_one_structure_gives_rigid_clusters_and_the_page_says_so(
    open_page: OpenPage, tmp_path: Path, structure: bytes
) -> None:
    (tmp_path / "helix.pdb").write_bytes(structure)
    page = open_page()
    submitted(page, tmp_path / "helix.pdb")
    shown_page(page)
    expect(page.locator("#given")).to_contain_text("Rigid clusters of one structure")
    expect(page.locator("#notes")).to_contain_text("one snapshot has no fluctuations")
    expect(page.locator("#made")).to_contain_text("timme rigidity helix.pdb")
    expect(page.locator(".timme .plots")).to_contain_text("kcal/mol")


@pytest.mark.thorough
def test_rigid_clusters_can_be_chosen_with_their_own_settings(
    open_page: OpenPage, tmp_path: Path, structure: bytes
) -> None:
    (tmp_path / "helix.pdb").write_bytes(structure)
    page = open_page()
    expect(page.get_by_label("Chains", exact=True)).to_be_hidden()
    page.get_by_label("Selection").fill("ca")  # of what is then not chosen
    page.get_by_label("What", exact=True).select_option("rigidity")
    expect(page.get_by_label("Selection")).to_be_hidden()
    page.get_by_label("Chains", exact=True).fill("A")
    page.get_by_label("Hydrophobic tethers").select_option("none")
    submitted(page, tmp_path / "helix.pdb")
    expect_state(page, "done")
    expect(page.locator("#made")).to_contain_text("helix.pdb --chain A --tethers none")


@pytest.mark.thorough
def test_two_results_are_compared_side_by_side(
    open_page: OpenPage, tmp_path: Path, peptide: bytes
) -> None:
    titles = ["<script>alert(1)</script>", "<img src=x onerror=alert(2)>"]
    (tmp_path / "peptide.pdb").write_bytes(peptide)
    page = open_page()
    start = "/".join(page.url.split("/")[:3])
    for title in titles:
        page.goto(start)
        page.wait_for_selector("body[data-ready]")
        page.get_by_text("More choices").click()
        page.get_by_label("Title").fill(title)
        submitted(page, tmp_path / "peptide.pdb")
        expect_state(page, "done")
    page.goto(start)
    for title in titles:
        page.get_by_label(f"Compare {title}").check()
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url("**/results/*")
    expect_state(page, "done")
    expect(page.locator("#title")).to_have_text(" / ".join(titles))
    for name in ("Both dilutions", "Adjusted Rand index"):
        picture = page.get_by_role("img", name=name)
        picture.scroll_into_view_if_needed()
        expect(picture).not_to_have_js_property("naturalWidth", 0)
    matched, best = (page.get_by_role("table").nth(number) for number in range(2))
    expect(matched.locator("tbody tr").first).to_contain_text(titles[0])
    assert "−∞" not in best.locator("tbody tr").first.inner_text()
    page.set_viewport_size({"width": 1440, "height": 900})
    for scroller in page.locator("#compared .scroll").all():
        assert scroller.evaluate("box => box.scrollWidth <= box.clientWidth"), "clipped"
    # The same peptide twice: all clusters are the same, at the same cutoff.
    expect(page.locator("#summary")).to_contain_text("adjusted Rand index 1.000")
    with page.expect_download() as download:
        page.get_by_role("link", name="matched.csv").click()
    assert download.value.suggested_filename == "matched.csv"
    page.get_by_role("link", name=titles[1], exact=True).click()
    expect(page.locator("#title")).to_have_text(titles[1])


# ---- under way ---------------------------------------------------------------------------------


@pytest.mark.thorough
def test_progress_has_a_time_left_and_a_job_is_cancelled_and_removed(
    open_page: OpenPage, long_file: Path
) -> None:
    page = open_page()
    begun_long(page, long_file)
    expect(page.locator("#stage")).to_have_text("Measuring")
    expect(page.get_by_role("progressbar")).to_be_visible()
    expect(page.locator("#left")).to_have_text(re.compile(r"^\d+ %, about .* left$"))
    expect(page.locator("#live")).to_contain_text("Measuring")  # for those who listen
    page.get_by_role("button", name="Cancel").click()
    expect_state(page, "cancelled")
    expect(page.get_by_role("button", name="Start again")).to_be_visible()
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("button", name="Remove for good?").click()
    page.wait_for_url(re.compile(r"/$"))
    expect(page.get_by_role("link", name="long.npy")).to_have_count(0)


def test_several_files_go_topology_first(open_page: OpenPage, tmp_path: Path) -> None:
    for name in ("b.xtc", "a10.xtc", "a9.xtc", "top.psf"):
        (tmp_path / name).write_text("not read here")
    page = open_page()
    page.set_input_files("#files", [str(path) for path in tmp_path.iterdir()])
    names = page.locator("#chosen .file")
    expect(names).to_have_text(["top.psf", "a9.xtc", "a10.xtc", "b.xtc"])
    page.get_by_role("button", name="Remove top.psf").click()
    page.get_by_role("button", name="Put b.xtc first").click()
    expect(names).to_have_text(["b.xtc", "a9.xtc", "a10.xtc"])


def test_a_dropped_file_is_taken(open_page: OpenPage) -> None:
    page = open_page()
    page.evaluate("""() => {
        const moved = new DataTransfer();
        moved.items.add(new File(["frame,particle,x,y\\n"], "dropped.csv"));
        const drop = new DragEvent("drop", { dataTransfer: moved, bubbles: true });
        document.getElementById("drop").dispatchEvent(drop);
    }""")
    expect(page.locator("#chosen .file")).to_have_text(["dropped.csv"])
    expect(page.get_by_role("button", name="Analyse")).to_be_enabled()


def test_what_cannot_be_read_is_said_before_it_is_sent(open_page: OpenPage, tmp_path: Path) -> None:
    (tmp_path / "notes.docx").write_text("x")
    page = open_page()
    page.set_input_files("#files", str(tmp_path / "notes.docx"))
    expect(page.get_by_role("alert")).to_contain_text("notes.docx")
    expect(page.get_by_role("button", name="Analyse")).to_be_disabled()


def test_markup_in_names_titles_and_selections_is_text(
    open_page: OpenPage, tmp_path: Path, peptide: bytes
) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    file = tmp_path / "<img src=x onerror=alert(3)>.pdb"
    file.write_bytes(peptide)
    page = open_page()
    page.get_by_label("Selection").fill(evil)
    page.get_by_text("More choices").click()
    page.get_by_label("Title").fill(evil)
    submitted(page, file)
    expect_state(page, "failed")
    expect(page.locator("#title")).to_have_text(evil)
    expect(page.locator("#given")).to_contain_text(file.name)
    expect(page.get_by_role("alert")).to_contain_text(evil)
    assert page.locator("main img").count() == 0
    page.goto("/".join(page.url.split("/")[:3]))
    expect(page.get_by_role("link", name=evil)).to_be_visible()


@pytest.mark.thorough
def test_markup_in_residues_is_text(open_page: OpenPage, tmp_path: Path) -> None:
    """The names of residues come back in the message of a selection that matches none."""
    rows = [
        f"HETATM{k:5d}  C   <i> A{k:4d}    {8 * k:8.3f}{m:8.3f}{0:8.3f}  1.00  0.00           C"
        for m in range(2)
        for k in range(1, 4)
    ]
    models = ["MODEL        1", *rows[:3], "ENDMDL", "MODEL        2", *rows[3:], "ENDMDL", "END"]
    file = tmp_path / "residues.pdb"
    file.write_text("\n".join(models) + "\n")
    page = open_page()
    page.get_by_label("Selection").fill("resname NONE")
    submitted(page, file)
    expect_state(page, "failed")
    expect(page.get_by_role("alert")).to_contain_text("<i>")
    assert page.locator("main i").count() == 0


def test_without_the_token_the_page_says_where_it_is(
    browser: Browser, served: list[Served]
) -> None:
    page = browser.new_page()
    page.goto(served[0].base)
    expect(page.get_by_role("heading")).to_have_text("This server needs its token")
    page.close()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_cut_off_and_all_can_be_read(
    open_page: OpenPage, size: str, scheme: str
) -> None:
    page = open_page(viewport=SIZES[size], color_scheme=scheme)
    page.get_by_text("More choices").click()
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
    # WCAG 2.2 asks for 4.5:1 between text and what is behind it.
    for place in ("h1", ".quiet", "legend", "#limits", ".drop strong"):
        text, ground = (
            luminance(page.locator(place).first.evaluate(f"node => {of}"))
            for of in ("getComputedStyle(node).color", GROUND)
        )
        assert (max(text, ground) + 0.05) / (min(text, ground) + 0.05) >= 4.5, place


GROUND = """(() => {
    for (let at = node; at; at = at.parentElement) {
        const colour = getComputedStyle(at).backgroundColor;
        if (colour !== "rgba(0, 0, 0, 0)") return colour;
    }
})()"""


def luminance(colour: str) -> float:
    """Relative luminance of a colour, by the definition of WCAG."""
    parts = np.array([int(part) for part in re.findall(r"\d+", colour)[:3]]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_the_form_can_be_used_by_keyboard_and_every_field_has_a_name(open_page: OpenPage) -> None:
    page = open_page()
    reached = []
    for _ in range(6):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
    assert reached == [  # first the name
        *("", "files", "recipe"),
        *("run-select", "run-radius", "run-objects"),
    ]
    unnamed = page.evaluate(
        "[...document.querySelectorAll('input, select')]"
        ".filter(it => !it.labels.length && !it.ariaLabel).length"
    )
    assert unnamed == 0


def test_every_setting_has_its_input(open_page: OpenPage) -> None:
    page = open_page()
    for part in form():
        for field in part.fields:
            found = page.locator(f"#{part.recipe}-{field.name}")
            assert found.get_attribute("name") == field.name
            if field.kind in {"whole", "number"}:
                least = None if field.least is None else f"{field.least:g}"
                assert found.get_attribute("min") == least
                assert found.get_attribute("placeholder") == field.usual
    page.get_by_text("More choices").click()
    page.get_by_label("Grey below").first.fill("0")
    page.set_input_files("#files", {"name": "a.csv", "mimeType": "text/csv", "buffer": b"x"})
    page.get_by_role("button", name="Analyse").click()
    assert (
        page.evaluate("document.activeElement.id") == "run-min_size"
    )  # where the browser says why
    assert page.evaluate("location.pathname") == "/"


@pytest.mark.thorough
@pytest.mark.usefixtures("built")
def test_the_page_says_when_the_server_is_gone(browser: Browser, tmp_path: Path) -> None:
    server = Served(tmp_path / "data")
    page = browser.new_page()
    page.goto(server.address)
    page.wait_for_selector("body[data-ready]")
    server.stop()
    expect(page.get_by_text("The server does not answer")).to_be_visible()
    page.close()
