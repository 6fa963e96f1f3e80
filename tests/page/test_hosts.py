"""The same page on a server, with nothing inline, and as a module in a notebook."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.page.browser import Page
from tests.page.systems import hinge
from timme.output.report import SCRIPT, STYLE, WIDGET, linked_html, page_part
from timme.output.scene import scene_json
from timme.workflow import scene_of

NOTEBOOK = """<!doctype html><title>notebook</title>
<link rel="stylesheet" href="page/page.css"><div id="cell"></div>
<script type="module">
import widget from "./page/widget.js";
const scene = await (await fetch("scene.json")).text();
const get = name => name === "scene" ? scene : "600px";
window.render = el => widget.render({ model: { get }, el });
render(document.getElementById("cell"));
window.done = true;
</script>"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def address(tmp_path: Path, browser: Page) -> Iterator[str]:
    """A server on this machine with the page and a scene."""
    browser.requests.clear()
    browser.errors.clear()
    browser.resize(1200, 800)
    (tmp_path / "page").mkdir()
    for name in (SCRIPT, STYLE, WIDGET):
        (tmp_path / "page" / name).write_text(page_part(name) or "", encoding="utf-8")
    (tmp_path / "scene.json").write_text(scene_json(scene_of(hinge())), encoding="utf-8")
    (tmp_path / "index.html").write_text(linked_html("hinge"), encoding="utf-8")
    (tmp_path / "notebook.html").write_text(NOTEBOOK, encoding="utf-8")
    (tmp_path / "favicon.ico").write_bytes(b"")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_server_needs_no_inline_script(browser: Page, address: str) -> None:
    browser.open(f"{address}/index.html")
    assert [c["size"] for c in browser.evaluate("timme.page.state().clusters")] == [30, 30, 30]
    assert browser.errors == []
    assert all(url.startswith((address, "blob:", "data:")) for url in browser.requests)


def test_a_notebook_renders_the_same_page_within_its_cell(browser: Page, address: str) -> None:
    browser.open(f"{address}/notebook.html", ready="window.done")
    assert browser.box("#cell")[3] == 600
    assert "30" in browser.evaluate("document.querySelector('.summary').textContent")
    assert browser.evaluate("document.querySelectorAll('tbody tr').length") == 3
    assert browser.errors == []


@pytest.mark.thorough
def test_cells_that_are_gone_give_back_their_graphics(browser: Page, address: str) -> None:
    browser.open(f"{address}/notebook.html", ready="window.done")
    browser.evaluate(
        """(async () => {
            const again = document.createElement("div");
            document.body.append(again);
            for (let k = 0; k < 20; k++) {
                const dispose = render(again);
                await new Promise(done => requestAnimationFrame(done));
                if (k < 19) dispose();
                if (k < 19 && again.childElementCount) throw new Error("the page is still there");
            }
        })()"""
    )
    lost = browser.evaluate(
        "[...document.querySelectorAll('.stage canvas')].map(canvas =>"
        "(canvas.getContext('webgl2') ?? canvas.getContext('webgl')).isContextLost())"
    )
    assert lost == [False, False]  # of the first cell, and of the one that was run again
    browser.prefer("dark")
    browser.prefer("light")
    browser.settle()
    assert browser.errors == []


def test_a_page_that_is_gone_hears_no_keys(browser: Page, address: str) -> None:
    browser.open(f"{address}/index.html")
    browser.press("ArrowRight")
    browser.press(" ", " ")
    browser.evaluate("timme.page.dispose()")
    before = browser.evaluate("timme.page.state()")
    browser.press("ArrowUp")
    browser.evaluate("new Promise(done => setTimeout(done, 400))")  # some frames of a film
    assert browser.evaluate("timme.page.state()") == before
    assert browser.evaluate("document.querySelectorAll('canvas').length") == 0
    assert browser.errors == []
