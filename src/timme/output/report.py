"""A scene → pages that show it: one file with everything in it, or a page that fetches its parts.

The page itself is built from ``viewer/`` into ``timme/page`` when the package is installed. Where
that could not be done there is no page, and everything else works.
"""

from __future__ import annotations

import base64
import hashlib
import html
from importlib.resources import files
from pathlib import Path

from timme._files import write_atomically
from timme.output.scene import Scene, scene_json

SCRIPT, STYLE, WIDGET = "page.js", "page.css", "widget.js"

MISSING = (
    "the interactive page is not part of this installation, for npm could not be reached when it "
    "was made: install again with access to npm (from a checkout: pip install --force-reinstall .)"
)

_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
"""


def page_part(name: str) -> str | None:
    """Read one file of the built page.

    Parameters
    ----------
    name : str
        `SCRIPT`, `STYLE`, `WIDGET`, or a script of the server's own pages.

    Returns
    -------
    str or None
        None where the page was not built.
    """
    part = files("timme").joinpath("page", name)
    return part.read_text(encoding="utf-8") if part.is_file() else None


def report_html(scene: Scene) -> str:
    """Write a scene as one page that needs nothing else, not even a network.

    Parameters
    ----------
    scene : dict
        As made by :func:`timme.output.scene.scene`.

    Returns
    -------
    str
        HTML. Its policy lets the script and the style run that are in it, and nothing be fetched.
    """
    script, style = page_part(SCRIPT), page_part(STYLE)
    if script is None or style is None:
        raise FileNotFoundError(MISSING)
    for mark in ("</script", "<script", "<!--"):  # which an element of script must not hold
        script = script.replace(mark, f"\\x3c{mark[1:]}")
    policy = _policy(
        script=_hash(script), style=_hash(style), image="data: blob:", connect="'none'"
    )
    return (
        _HEAD.format(policy=policy, title=html.escape(str(scene["title"])))
        + f"<style>{style}</style>\n</head>\n<body>\n"
        + '<div id="timme">Loading …</div>\n'
        + f'<script type="application/json" id="timme-scene">{scene_json(scene)}</script>\n'
        + f"<script>{script}</script>\n</body>\n</html>\n"
    )


def linked_html(title: str, *, parts: str = "page", scene: str = "scene.json") -> str:
    """Write a page that fetches script, style and scene from beside itself, for a server.

    Parameters
    ----------
    title : str
        Heading of the window.
    parts : str, optional
        Address of the folder with `SCRIPT` and `STYLE`.
    scene : str, optional
        Address of the scene.

    Returns
    -------
    str
        HTML without any script or style of its own. Its policy allows what comes from the server.
    """
    policy = _policy(script="'self'", style="'self'", image="data: blob:", connect="'self'")
    address = html.escape(parts)
    return (
        _HEAD.format(policy=policy, title=html.escape(title))
        + f'<link rel="stylesheet" href="{address}/{STYLE}">\n</head>\n<body>\n'
        + f'<div id="timme" data-scene="{html.escape(scene)}">Loading …</div>\n'
        + f'<script src="{address}/{SCRIPT}"></script>\n</body>\n</html>\n'
    )


def write_report(scene: Scene, path: str | Path) -> Path:
    """Write the report of a scene.

    Parameters
    ----------
    scene : dict
        As made by :func:`timme.output.scene.scene`.
    path : path
        File to write; whatever is there is replaced.

    Returns
    -------
    Path
        The file.
    """
    return write_atomically(Path(path), report_html(scene))


def _policy(*, script: str, style: str, image: str, connect: str) -> str:
    return (
        f"default-src 'none'; script-src {script}; style-src {style}; img-src {image}; "
        f"connect-src {connect}; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"
