"""Draw the stripes of a dilution plot, however many there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from timme._arrays import Floats, Ints, Strings
from timme.confidence import Confidence
from timme.hierarchy.tree import Hierarchy
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


_MOST_VEILED = 5_000  # sites; more are a picture of another kind
VEILS = {  # of clusters that are not trusted: transparency of white, and hatching
    "hatched": (0.35, "//////"),
    "faded": (0.72, ""),
}
LEGEND = {
    "solid": "trusted",
    "hatched": "found again, less sure",
    "faded": "not found again",
}


@dataclass(frozen=True, slots=True, eq=False)
class Veils:
    """Rectangles that dim the clusters that are not to be believed."""

    start: Ints  # (rectangles,), first place on the axis
    stop: Ints
    low: Floats  # (rectangles,), cutoffs
    high: Floats
    look: Strings  # (rectangles,), "hatched" or "faded"


def veil(shown: Stripes, hierarchy: Hierarchy, found: Confidence) -> Veils:
    """Lay out what dims the stripes of clusters that are not trusted.

    Parameters
    ----------
    shown : Stripes
        Of the shown sites.
    hierarchy : Hierarchy
        As these see it.
    found : Confidence
        How sure its clusters are.

    Returns
    -------
    Veils
        Each within one stripe; none of clusters that were not judged.
    """
    rows = list[tuple[int, int, float, float, str]]()
    looks = [record.look for record in found.records]
    if hierarchy.n_sites <= _MOST_VEILED and set(looks) & set(VEILS):
        lives = {
            int(site): _lives_of(int(site), hierarchy, found.tree.owners)
            for site in np.unique(shown.order[shown.start])
        }
        columns = (shown.start, shown.stop, shown.low, shown.high)
        for start, stop, low, high in zip(*(each.tolist() for each in columns), strict=True):
            for cluster, born, dead in lives[int(shown.order[start])]:
                begin, end = max(low, born), min(high, dead)
                if looks[cluster] in VEILS and begin < end:
                    rows.append((start, stop, begin, end, looks[cluster]))
    listed = list(zip(*rows, strict=True)) or [(), (), (), (), ()]
    return Veils(
        start=np.array(listed[0], np.int64),
        stop=np.array(listed[1], np.int64),
        low=np.array(listed[2], np.float64),
        high=np.array(listed[3], np.float64),
        look=np.array(listed[4], dtype=np.str_),
    )


def draw_veils(axes: Axes, veils: Veils, least: int) -> None:
    """Dim what is not to be believed, and say in a legend what dimmed means.

    Parameters
    ----------
    axes : Axes
        Where stripes are drawn; limits stay as they are.
    veils : Veils
        What to draw.
    least : int
        Sites of the smallest cluster that is judged: what is solid below may be chance.
    """
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch

    handles = [Patch(facecolor="#555555", label=LEGEND["solid"])]
    for look, (alpha, hatch) in VEILS.items():
        own = veils.look == look
        left, right = veils.start[own], veils.stop[own]
        low, high = veils.low[own], veils.high[own]
        corners = np.array([[left, left, right, right], [low, high, high, low]]).transpose(2, 1, 0)
        veiled = PolyCollection(list(corners), facecolors=(1, 1, 1, alpha), edgecolors="none")
        veiled.set_zorder(1.5)
        axes.add_collection(veiled, autolim=False)
        if hatch:
            hatched = PolyCollection(
                list(corners), facecolors="none", edgecolors="white", hatch=hatch, linewidths=0
            )
            hatched.set_zorder(1.6)
            axes.add_collection(hatched, autolim=False)
        shade = "#aaaaaa" if hatch else "#dddddd"
        handles.append(
            Patch(facecolor=shade, edgecolor="white", hatch=hatch, linewidth=0, label=LEGEND[look])
        )
    axes.legend(
        handles=handles,
        title=f"fewer than {least}, and the whole: not judged",
        title_fontsize=5.5,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.2),
        ncols=3,
        fontsize=5.5,
        frameon=False,
        handlelength=1.4,
        columnspacing=1.0,
    )


def _lives_of(site: int, tree: Hierarchy, owners: Ints) -> list[tuple[int, float, float]]:
    """The judged clusters that a site belongs to, and the cutoffs between which it does."""
    births, deaths = tree.births, tree.deaths
    found = list[tuple[int, float, float]]()
    node = site
    while node >= 0:
        own = int(owners[node])
        if own >= 0 and found and found[-1][0] == own:
            found[-1] = (own, found[-1][1], float(deaths[node]))
        elif own >= 0:
            found.append((own, float(births[node]), float(deaths[node])))
        node = int(tree.parents[node])
    return found
