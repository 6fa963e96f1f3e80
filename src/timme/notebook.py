"""The interactive page in a notebook, as a widget (extra ``jupyter``)."""

from __future__ import annotations

from typing import Any

from timme._text import require
from timme.analysis.result import Analysis, Comparison
from timme.output.page import page_part, scene_json


def show(analysis: Analysis | Comparison, *, height: int = 760) -> Any:
    """Show the page of a result in a notebook.

    Parameters
    ----------
    analysis : Analysis or Comparison
        What to show.
    height : int, optional
        Height of the page in pixels.

    Returns
    -------
    anywidget.AnyWidget
        A widget that Jupyter shows.
    """
    if not isinstance(analysis, Comparison):
        require(analysis, Analysis, "show", "run timme.analyse first")
    script, style = page_part("widget.js"), page_part("page.css")
    try:
        import anywidget
        from traitlets import Unicode
    except ImportError:
        raise ImportError(
            "a page in a notebook needs anywidget: pip install 'pytimme[jupyter]'"
        ) from None

    class Page(anywidget.AnyWidget):
        _esm, _css = script, style
        scene, height = Unicode().tag(sync=True), Unicode().tag(sync=True)

    return Page(scene=scene_json(analysis), height=f"{int(height)}px")
