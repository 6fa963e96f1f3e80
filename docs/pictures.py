"""Make the pictures that are kept with the pages: python docs/pictures.py."""

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import timme

IMAGES = Path(__file__).parent / "images"
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
READY = "window.timme?.page && !document.querySelector('[aria-busy=true]')"


def main() -> None:
    """Draw adenylate kinase: its finding, and its page in a browser."""
    kinase = timme.load(sys.argv[1]) if sys.argv[1:] else timme.analyse(timme.data.kinase())
    timme.export(kinase, IMAGES / "kinase.png", "finding")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        (report,) = timme.export(kinase, folder, "report")
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto(report.as_uri())
        page.wait_for_timeout(15_000)  # software rendering of the first frame
        page.screenshot(path=IMAGES / "page.png")
        browser.close()


if __name__ == "__main__":
    main()
