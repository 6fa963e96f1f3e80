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
from tests.web.conftest import LONGEST, until
from tests.web.served import Served

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
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


@pytest.fixture
def open_page(browser: Browser, served: list[Served]) -> Iterator[OpenPage]:
    """Function that opens the page as its user does; whatever the browser complains of fails."""
    complaints: list[str] = []
    contexts = []

    def open_it(**options: Any) -> Page:
        context = browser.new_context(**({"viewport": SIZES["desk"]} | options))
        context.set_default_timeout(1000 * LONGEST)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console", lambda said: complaints.append(said.text) if said.type == "error" else None
        )
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
def long_file(tmp_path_factory: pytest.TempPathFactory, long_run: bytes) -> Path:
    path = tmp_path_factory.mktemp("long") / "long.npy"
    path.write_bytes(long_run)
    return path


def submitted(page: Page, *files: Path) -> None:
    page.set_input_files("#files", [str(path) for path in files])
    page.get_by_role("button", name="Analyse").click()
    page.wait_for_url("**/results/*")


def begun_long(page: Page, path: Path) -> None:
    page.select_option("#pairs", "all")
    page.get_by_text("More choices").click()
    page.get_by_label("NaN means: not seen").check()
    submitted(page, path)


def expect_state(page: Page, state: str) -> None:
    expect(page.locator("#state")).to_have_text(state)


def test_a_table_is_uploaded_and_its_result_is_found_again_after_a_restart(
    open_page: OpenPage, served: list[Served], table: Path, tmp_path: Path
) -> None:
    page = open_page()
    assert "token" not in page.url
    submitted(page, table)
    expect_state(page, "done")
    expect(page.get_by_role("progressbar")).to_be_hidden()
    expect(page.locator("#summary")).to_contain_text("12")
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
    assert reached == ["", "files", "select", "radius", "objects", "pairs"]  # the first is the name
    unnamed = page.evaluate(
        "[...document.querySelectorAll('input, select')].filter(it => !it.labels.length).length"
    )
    assert unnamed == 0


def test_the_page_says_when_the_server_is_gone(browser: Browser, tmp_path: Path) -> None:
    server = Served(tmp_path / "data")
    page = browser.new_page()
    page.goto(server.address)
    page.wait_for_selector("body[data-ready]")
    server.stop()
    expect(page.get_by_text("The server does not answer")).to_be_visible()
    page.close()
