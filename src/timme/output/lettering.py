"""Texts of figures as outlines: laid out once, for pixels and vectors and for all figures.

Figures of one result share most of their texts: numbers, names of axes, formulas. matplotlib lays a
text out for every figure, once for pixels and once for vectors, and makes its pixels letter by
letter, which took a third of the time of drawing. An outline is laid out once, and filled where it
is needed.
"""

from __future__ import annotations

from typing import Any

from matplotlib.path import Path
from matplotlib.textpath import TextToPath
from matplotlib.transforms import Affine2D

_POINTS = 72  # of an inch
_MOST = 4096  # texts that are kept, so that a server that draws for months does not grow


class Lettering(TextToPath):
    """Keeps what texts look like."""

    def __init__(self) -> None:
        super().__init__()
        self._glyphs = dict[Any, Any]()
        self._outlines = dict[Any, Path]()
        self._sizes = dict[Any, Any]()

    def get_glyphs_with_font(
        self,
        font: Any,
        s: str,
        glyph_map: Any = None,
        return_new_glyphs_only: Any = None,
        **named: Any,
    ) -> Any:
        """Find the letters of a text, as vectors ask for them.

        Parameters
        ----------
        font, s, glyph_map, return_new_glyphs_only, **named
            As matplotlib has them.

        Returns
        -------
        tuple
            Places of the letters, outlines of those that are not in the map if these are asked
            for, and rectangles.
        """
        key = font, s, repr(sorted(named.items()))
        if key not in self._glyphs:
            _keep(self._glyphs, key, super().get_glyphs_with_font(font, s, **named))
        places, outlines, boxes = self._glyphs[key]
        if not return_new_glyphs_only:
            return places, {**(glyph_map or {}), **outlines}, boxes
        known = glyph_map or {}
        return places, {name: each for name, each in outlines.items() if name not in known}, boxes

    def outline(self, s: str, prop: Any, ismath: Any) -> Path:
        """Return the outline of a text, at the size of outlines.

        Parameters
        ----------
        s : str
            What is written.
        prop : FontProperties
            In which letters.
        ismath : bool or "TeX"
            Whether it is a formula.

        Returns
        -------
        Path
            From the left end of its base line.
        """
        key = s, prop, ismath
        if key not in self._outlines:
            vertices, codes = self.get_text_path(prop, s, ismath=ismath)
            _keep(self._outlines, (s, prop.copy(), ismath), Path(vertices, codes))
        return self._outlines[key]

    def place(self, prop: Any, dpi: float, angle: float, at: tuple[float, float]) -> Affine2D:
        """Return what takes an outline to its place on a page.

        Parameters
        ----------
        prop : FontProperties
            Its letters, of which the size matters.
        dpi : float
            Pixels of an inch.
        angle : float
            In degrees, anticlockwise.
        at : tuple of float
            Where its left end goes, in pixels from the lower left corner.

        Returns
        -------
        Affine2D
            From outlines to pixels.
        """
        size = prop.get_size_in_points() / self.FONT_SCALE * dpi / _POINTS
        return Affine2D().scale(size).rotate_deg(angle).translate(*at)

    def measure(self, s: str, prop: Any, ismath: Any, dpi: float) -> tuple[float, float, float]:
        """Measure a text.

        Parameters
        ----------
        s, prop, ismath
            As for :meth:`outline`.
        dpi : float
            Pixels of an inch.

        Returns
        -------
        tuple of float
            Width, height, and how much of that is below the base line, in pixels.
        """
        key = s, prop, ismath
        if key not in self._sizes:
            size = self.get_text_width_height_descent(s, prop, ismath)
            _keep(self._sizes, (s, prop.copy(), ismath), size)
        width, height, descent = self._sizes[key]
        return width * dpi / _POINTS, height * dpi / _POINTS, descent * dpi / _POINTS


def _keep(kept: dict[Any, Any], key: Any, value: Any) -> None:
    """Keep a value, and forget all others once they are many."""
    if len(kept) >= _MOST:
        kept.clear()
    kept[key] = value
