"""Make the pictures of the interactive page and of the server.

python -m docs.make_screenshots 1bnr.pdb 1a2p.pdb KINASE.psf KINASE.dcd, from the top folder of a
checkout, where Chromium is installed and the page is built.
"""

import io
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image

import timme
from tests.page.browser import Page, browsing, chromium
from tests.web.conftest import until
from tests.web.served import Served
from timme.analysis import Analysis
from timme.workflow import report
from timme.workflow.demo import analyse_demo

IMAGES = Path(__file__).parent / "images"
LAPTOP, PHONE = (1440, 900), (390, 844)


def picture(
    page: Page,
    url: str,
    name: str,
    *,
    size: tuple[int, int],
    theme: str = "light",
    tab: str = "Curves",
) -> None:
    """Open a report and save what is seen, drawn twice as fine and brought to its size."""
    page.prefer(theme)
    page.resize(*size, phone=size == PHONE, sharp=2)
    page.open(url)
    page.evaluate("timme.page.select(timme.page.state().clusters[0].members[0])")
    page.evaluate(
        "[...document.querySelectorAll('[role=tab]')]"
        f".find(each => each.textContent === '{tab}').click()"
    )
    page.hover(2, 2)
    time.sleep(2)  # the cartoon comes a little later
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    if size == LAPTOP:
        shot = shot.resize(size, Image.Resampling.LANCZOS)
    _store(shot, f"page-{name}")


def served_pictures(page: Page, server: Served, barnase: str, crystal: str) -> None:
    """Let a server analyse two structures and compare them, and take pictures of its pages."""
    first = _done(server, barnase)
    second = _done(server, crystal, recipe="rigidity", rigidity='{"chain": "A"}')
    asked = {"one": first, "other": second, "title": "Barnase in solution and in the crystal"}
    third = server.client.post("/api/comparisons", json=asked).json()["id"]
    until(lambda: server.state(third) == "done")
    page.prefer("light")
    page.resize(*LAPTOP, sharp=2)
    page.open(server.address, ready="document.body?.dataset.ready")
    _save(page, "server-start")
    for name, job, ready in (
        ("server-result", first, "window.timme?.page"),
        ("server-comparison", third, "document.body?.dataset.state === 'done'"),
    ):
        page.open(f"{server.base}/results/{job}", ready=ready)
        page.evaluate("document.activeElement.blur()")
        _save(page, name)


def _done(server: Served, path: str, **parts: str) -> str:
    with Path(path).open("rb") as file:
        files = {"topology": (Path(path).name, file)}
        name = server.client.post("/api/jobs", files=files, data=parts).json()["id"]
    until(lambda: server.state(name) == "done")
    return str(name)


def _save(page: Page, name: str) -> None:
    """Save what is seen, drawn twice as fine and brought to the width of a text."""
    time.sleep(2)  # the cartoon comes a little later
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    shot = shot.resize((800, 500), Image.Resampling.LANCZOS)
    _store(shot, name)


def _store(shot: Image.Image, name: str) -> None:
    """Save a picture in 256 colours, a third of the space: half the commonest, half that differ."""
    counted = sorted(shot.getcolors(shot.width * shot.height), reverse=True)
    common = [level for _, colour in counted[:128] for level in colour]
    rare = shot.quantize(128, Image.Quantize.MAXCOVERAGE).getpalette()
    palette = Image.new("P", (1, 1))
    palette.putpalette((common + rare)[: 3 * 256])
    few = shot.quantize(palette=palette, dither=Image.Dither.NONE)
    few.save(IMAGES / f"{name}.png", optimize=True)


def main(barnase: str, crystal: str, kinase: list[str]) -> None:
    """Analyse the systems and take their pictures."""
    systems: dict[str, Analysis] = {
        "barnase": timme.analyse(barnase),
        **{name: analyse_demo(name) for name in ("chain", "water", "spheres")},
        "kinase": timme.analyse(kinase[0], kinase[1:]),
    }
    program = chromium()
    if program is None:
        sys.exit("needs Chromium (Debian: apt install chromium)")
    with tempfile.TemporaryDirectory() as folder, browsing(program) as page:
        for name, analysis in systems.items():
            url = report(analysis, Path(folder) / f"{name}.html").as_uri()
            tab = "Motion" if name == "kinase" else "Curves"
            picture(page, url, name, size=LAPTOP, tab=tab)
            picture(page, url, f"{name}-phone", size=PHONE, tab=tab)
            if name == "barnase":
                picture(page, url, f"{name}-dark", size=LAPTOP, theme="dark")
        server = Served(Path(folder) / "data")
        try:
            served_pictures(page, server, barnase, crystal)
        finally:
            server.stop()


if __name__ == "__main__":
    if len(sys.argv) != 5:
        needed = "1bnr.pdb 1a2p.pdb KINASE.psf KINASE.dcd"
        sys.exit(f"usage: python -m docs.make_screenshots {needed}")
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
