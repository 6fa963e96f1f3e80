"""Draw the stripes of a dilution plot, however many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timme._arrays import Strings
from timme.order import Stripes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# More stripes than this become an image within a vector file, or it would be slow to open.
_MOST_VECTOR_STRIPES = 20_000


def draw_stripes(axes: Axes, shown: Stripes, colours: Strings) -> None:
    """Draw stripes as one path per family: no seams between them, and small vector files.

    Parameters
    ----------
    axes : Axes
        Where to draw; limits stay as they are.
    shown : Stripes
        What to draw. Those without end reach beyond all others.
    colours : ndarray of str, shape (sites,)
        Colour of each family.
    """
    from matplotlib.collections import PathCollection
    from matplotlib.path import Path

    ends = np.concatenate([shown.low, shown.high, [0.0]])
    ends = ends[np.isfinite(ends)]
    beyond = np.ptp(ends) + 1.0
    low, high = np.clip([shown.low, shown.high], ends.min() - beyond, ends.max() + beyond)
    left, right = shown.start.astype(np.float64), shown.stop.astype(np.float64)
    corners = np.array([[left, left, right, right, left], [low, high, high, low, low]]).T
    ranked = np.argsort(shown.family, kind="stable")
    families, first = np.unique(shown.family[ranked], return_index=True)
    codes = np.array([Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY])
    paths = [
        Path(rectangles.reshape(-1, 2), np.tile(codes, len(rectangles)))
        for rectangles in np.split(corners[ranked], first[1:])
        if len(rectangles)
    ]
    collection = PathCollection(paths, facecolors=list(colours[families]), edgecolors="none")
    collection.set_rasterized(len(shown.start) > _MOST_VECTOR_STRIPES)
    axes.add_collection(collection, autolim=False)
