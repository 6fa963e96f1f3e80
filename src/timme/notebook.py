"""The interactive page in a notebook: the same as the report, as a widget (extra ``jupyter``)."""

from __future__ import annotations

from typing import Any

from timme._html import in_two_lines
from timme.analysis import Analysis, require_analysis
from timme.output.report import MISSING, STYLE, WIDGET, page_part
from timme.output.scene import scene_json
from timme.workflow import scene_of


def view(analysis: Analysis, *, height: int = 760) -> Any:
    """Show an analysis in a notebook: dilution plot, structure and tables, linked.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    height : int, optional
        Height of the page in pixels.

    Returns
    -------
    anywidget.AnyWidget
        A widget that Jupyter shows.
    """
    require_analysis(analysis, "view")
    script, style = page_part(WIDGET), page_part(STYLE)
    if script is None or style is None:
        raise FileNotFoundError(MISSING)
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise ImportError(
            "a page in a notebook needs anywidget: pip install 'pytimme[jupyter]'"
        ) from None

    told = in_two_lines("View", [("of", repr(analysis).strip("<>"))])

    class View(anywidget.AnyWidget):
        _esm = script
        _css = style
        scene = traitlets.Unicode().tag(sync=True)
        height = traitlets.Unicode().tag(sync=True)

        def __repr__(self) -> str:
            return told

    return View(scene=scene_json(scene_of(analysis)), height=f"{int(height)}px")
