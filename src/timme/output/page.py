"""The report: the interactive page with its scene, as one file that needs no network."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
from importlib.resources import files

from timme.analysis.result import Analysis
from timme.output.scene import scene

MISSING = (
    "the interactive page is not part of this installation, because npm could not be reached when "
    "it was built: install again with access to npm (from a checkout: make page)"
)


def page_part(name: str) -> str:
    """Return the text of one file of the built page."""
    part = files("timme").joinpath("page", name)
    if not part.is_file():
        raise FileNotFoundError(MISSING)
    return part.read_text(encoding="utf-8")


def is_built() -> bool:
    """Return whether the page was built when the package was installed."""
    return files("timme").joinpath("page", "report.html").is_file()


def scene_json(analysis: Analysis) -> str:
    """Return the scene of a result as JSON."""
    return json.dumps(scene(analysis), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def report_html(analysis: Analysis) -> str:
    """Return the page of a result as one file.

    Parameters
    ----------
    analysis : Analysis
        With its finding.

    Returns
    -------
    str
        HTML. Its policy lets the script and the style in it run, and nothing be fetched.
    """
    names = ("page.js", "loader.js", "page.css")
    script, loader, style = (page_part(name) for name in names)
    scripts = f"script-src {_hash(script)} {_hash(loader)}"
    policy = f"default-src 'none'; {scripts}; style-src {_hash(style)}; img-src data: blob:"
    parts = {
        "POLICY": f"{policy}; base-uri 'none'; form-action 'none'",
        "TITLE": html.escape(analysis.made.title or "TIMME"),
        "STYLE": style,
        "SCENE": _pack(scene_json(analysis)),
        "SCRIPT": _pack(script),
        "LOADER": loader,
    }
    return re.sub(r"%([A-Z]+)%", lambda found: parts[found[1]], page_part("report.html"))


def _pack(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode("ascii")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
