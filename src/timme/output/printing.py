"""Print a figure as pixels and as vectors at once: laid out once, every stroke drawn on both.

Measuring texts, placing ticks and making room for them takes most of the time of saving a figure,
and is the same for both files. Strokes come in pixels; vectors get them scaled to points. Letters
are outlines in both.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rcParams
from matplotlib.backend_bases import FigureCanvasBase, RendererBase
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.transforms import Affine2D, Transform, TransformedBbox, TransformedPath

from timme.output.layout import Room, is_single
from timme.output.lettering import Lettering

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.path import Path


_POINTS = 72  # of an inch, the unit of vectors
_FONTS = ("font.", "mathtext.", "text.")  # settings of matplotlib on which outlines depend
_INCH = 0.0254  # metres
_LEVEL = 3  # of compression: beyond it, plots take twice as long to be a fifth smaller


def print_both(figure: Figure, dpi: int) -> dict[str, Callable[[], bytes]]:
    """Draw a figure once; its files are made when they are asked for, by any thread.

    Parameters
    ----------
    figure : Figure
        What to print.
    dpi : int
        Pixels of an inch.

    Returns
    -------
    dict of callable
        What returns the bytes of its files, by their suffixes svg and png; no dates, nor anything
        else that differs from run to run but what matplotlib's ``svg.hashsalt`` decides.
    """
    file = io.StringIO()
    own = figure.dpi
    figure.dpi = dpi
    try:
        both = _Canvas(figure, file).renderer
        _lay_out_shapes(figure)
        figure.draw(both)
        both.vectors.finalize()
    finally:
        figure.dpi = own
        FigureCanvasAgg(figure)
    pixels = np.asarray(both.pixels.buffer_rgba())
    return {"svg": file.getvalue().encode, "png": partial(_pack, pixels, dpi)}


def _pack(pixels: Any, dpi: int) -> bytes:
    """Make a PNG file of pixels, which leaves the interpreter to others for most of the time.

    Libraries first try for each row which differences of its pixels are smallest, which is meant
    for photographs, takes three times as long as all the rest, and makes plots no smaller.
    """
    height, width, _ = pixels.shape
    n_channels = 3 if pixels[..., 3].min() == 255 else 4  # unless something shines through
    rows = np.zeros((height, 1 + width * n_channels), np.uint8)  # each begins with 0: as it is
    for channel in range(n_channels):
        rows[:, 1 + channel :: n_channels] = pixels[..., channel]
    kind = {3: 2, 4: 6}[n_channels]  # with or without transparency
    per_metre = round(dpi / _INCH)
    chunks = (
        (b"IHDR", struct.pack(">2I5B", width, height, 8, kind, 0, 0, 0)),
        (b"pHYs", struct.pack(">2IB", per_metre, per_metre, 1)),
        (b"IDAT", zlib.compress(rows.tobytes(), _LEVEL)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def _lay_out_shapes(figure: Figure) -> None:
    """Lay a figure out beforehand if its axes have a shape of their own.

    What room such axes leave to others is known only once they have been placed.
    """
    engine = figure.get_layout_engine()
    if engine is None or (isinstance(engine, Room) and is_single(figure)):
        return
    if any(axes.get_aspect() != "auto" for axes in figure.axes):
        engine.execute(figure)


class _Canvas(FigureCanvasBase):
    """Whom a figure asks for its renderer while it is laid out."""

    def __init__(self, figure: Figure, file: io.StringIO) -> None:
        super().__init__(figure)
        width, height = figure.get_size_inches()
        dpi, dates = figure.dpi, {"Date": None}
        size = _POINTS * width, _POINTS * height
        pixels = _make(RendererAgg, dpi * width, dpi * height, dpi)
        vectors = _make(RendererSVG, *size, file, image_dpi=dpi, metadata=dates)
        letters = _letters()
        vectors._text2path = letters  # noqa: SLF001, which lays texts out
        self.renderer = _Both(pixels, vectors, letters)

    def get_renderer(self) -> _Both:
        """Return where layouts measure texts."""
        return self.renderer


def _letters() -> Lettering:
    """Return what lays texts out, for all figures as long as nobody chooses other fonts."""
    # By name: to ask for all values would choose a window system, and import what opens windows.
    chosen = (f"{name} {rcParams[name]}" for name in rcParams if name.startswith(_FONTS))
    return _letters_in(tuple(chosen))


@lru_cache(maxsize=1)
def _letters_in(_fonts: tuple[str, ...]) -> Lettering:
    return Lettering()


def _make(renderer: Any, *given: Any, **named: Any) -> Any:
    """Make one of matplotlib's renderers, which are not typed."""
    return renderer(*given, **named)


def _on_both(name: str) -> Callable[..., None]:
    """Make the method of that name, whose arguments that are transforms lead to pixels."""

    def draw(self: _Both, gc: Any, *given: Any, **named: Any) -> None:
        getattr(self.pixels, name)(gc, *given, **named)
        if self.layer is not None:
            getattr(self.layer, name)(gc, *given, **named)
            return
        scaled = (each + self.to_points if isinstance(each, Transform) else each for each in given)
        getattr(self.vectors, name)(self.in_points(gc), *scaled, **named)

    return draw


class _Both(RendererBase):
    """Draws on pixels and as vectors, in which a layer of pixels stands for what is rasterised."""

    def __init__(self, pixels: Any, vectors: Any, letters: Lettering) -> None:
        super().__init__()
        self.pixels = pixels
        self.vectors = vectors
        self.letters = letters
        self.layer: Any = None
        self.dpi = pixels.dpi
        self.scale = _POINTS / pixels.dpi
        self.to_points = Affine2D().scale(self.scale)

    draw_path = _on_both("draw_path")
    draw_markers = _on_both("draw_markers")
    draw_path_collection = _on_both("draw_path_collection")
    draw_quad_mesh = _on_both("draw_quad_mesh")

    def draw_image(self, gc: Any, x: float, y: float, *given: Any, **named: Any) -> None:
        """Draw an image, whose pixels are those of the page."""
        self.pixels.draw_image(gc, x, y, *given, **named)
        if self.layer is not None:
            self.layer.draw_image(gc, x, y, *given, **named)
            return
        corner = self.scale * x, self.scale * y
        self.vectors.draw_image(self.in_points(gc), *corner, *given, **named)

    def draw_text(  # noqa: PLR0913, PLR0917, as matplotlib asks
        self,
        gc: Any,
        x: float,
        y: float,
        s: str,
        prop: Any,
        angle: float,
        ismath: Any = None,
        mtext: Any = None,
    ) -> None:
        """Draw a text, the size of which is in points for both; `y` is counted from the top."""
        place = self.letters.place(prop, self.dpi, angle, (x, self.pixels.height - y))
        self.fill(gc, self.letters.outline(s, prop, ismath), place)
        corner = self.scale * x, self.scale * y
        self.vectors.draw_text(self.in_points(gc), *corner, s, prop, angle, ismath, mtext)

    def fill(self, gc: Any, outline: Path, place: Affine2D) -> None:
        """Fill an outline on pixels with the colour of a stroke."""
        if len(np.asarray(outline.vertices)) == 0:
            return
        filled = self.pixels.new_gc()
        filled.copy_properties(gc)
        filled.set_linewidth(0.0)
        filled.set_snap(False)  # letters of straight lines would be moved to whole pixels
        self.pixels.draw_path(filled, outline, place, gc.get_rgb())

    def in_points(self, gc: Any) -> Any:
        """Scale where a stroke is cut off; its width and dashes are in points for both."""
        scaled = self.vectors.new_gc()
        scaled.copy_properties(gc)
        rectangle = gc.get_clip_rectangle()
        if rectangle is not None:
            scaled.set_clip_rectangle(TransformedBbox(rectangle, self.to_points))
        path, transform = gc.get_clip_path()
        if path is not None:
            scaled.set_clip_path(TransformedPath(path, transform + self.to_points))
        return scaled

    def start_rasterizing(self) -> None:
        """Draw on a layer instead of vectors."""
        self.layer = _make(RendererAgg, self.pixels.width, self.pixels.height, self.dpi)

    def stop_rasterizing(self) -> None:
        """Put what was drawn on the layer among the vectors, as an image."""
        image = np.asarray(self.layer.buffer_rgba())[::-1]  # from the lowest row up
        self.layer = None
        rows, columns = (np.flatnonzero(image[..., 3].any(axis=axis)) for axis in (1, 0))
        if len(rows):
            left, low = columns[0], rows[0]
            drawn = image[low : rows[-1] + 1, left : columns[-1] + 1]
            corner = self.scale * left, self.scale * low
            self.vectors.draw_image(self.vectors.new_gc(), *corner, drawn)

    def get_text_width_height_descent(self, s: str, prop: Any, ismath: Any) -> Any:
        """Measure a text, which is the same for both."""
        return self.letters.measure(s, prop, ismath, self.dpi)

    def points_to_pixels(self, points: Any) -> Any:
        """Convert lengths."""
        return self.pixels.points_to_pixels(points)

    def get_canvas_width_height(self) -> Any:
        """Return the size of the page in pixels."""
        return self.pixels.get_canvas_width_height()

    def option_image_nocomposite(self) -> bool:
        """Tell that images are drawn one by one."""
        return True

    def open_group(self, *given: Any, **named: Any) -> None:
        """Begin a group, which vectors alone have."""
        self.vectors.open_group(*given, **named)

    def close_group(self, s: str) -> None:
        """End a group."""
        self.vectors.close_group(s)
