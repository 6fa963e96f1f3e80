"""How results look: colours of groups and clusters, and what figures share.

Group 0 is dark blue, what belongs to no group is grey; figures, structures, viewers and the page
have the same colours. Clusters at a cutoff are coloured by their family
(:mod:`timme.hierarchy.stripes`): a family that matches a group has its colour.
"""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from timme._arrays import Ints, Strings, frozen
from timme.analysis.result import Analysis
from timme.analysis.tables import min_size
from timme.hierarchy.curves import Curves, count_clusters
from timme.hierarchy.stripes import families, families_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REST = "#bdbdbd"  # what belongs to no group

# Okabe & Ito and Tol: readers with any form of colour blindness tell these from one another and
# from grey (CIE76 distances of at least 13 in simulations by Machado et al., 2009).
SAFE = (
    *("#00008b", "#e69f00", "#56b4e9", "#882255", "#009e73", "#f0e442"),
    *("#d55e00", "#cc79a7", "#117733", "#999933", "#aa4499"),
)

# More colours, for readers who see all of them; fewer than the 31 that VMD has room for.
WIDE = (
    *("#00008b", "#d62728", "#f2a900", "#2ca02c", "#8e44ad", "#17a2b8", "#f078e1", "#a5874b"),
    *("#0f69e1", "#ff7878", "#a5c300", "#961e4b", "#00d2e6", "#695a1e", "#9696ff", "#5ac396"),
    *("#b46987", "#006987", "#4bf087", "#ffb4f0", "#006900", "#6978b4", "#5a4b87", "#2d8769"),
)

PALETTES = {"safe": SAFE, "wide": WIDE}
SAME = 0.5  # Jaccard index above which a cluster and a group share a colour

Part = TypeVar("Part")

WIDTH, HEIGHT = 5.2, 3.4  # inches
_DPI = 200


def palette_of(analysis: Analysis) -> str:
    """Return the name of the palette in the settings, by default that of the safe one."""
    return str(getattr(analysis.made.settings, "palette", "safe"))


def group_colours(analysis: Analysis, palette_name: str | None = None) -> Strings:
    """Return the colour of each group and body as #rrggbb and, last, grey: -1 is for no group."""
    n_groups = max(count_groups(analysis), len(analysis.bodies))
    palette = PALETTES[palette_name or palette_of(analysis)]
    return np.array([*(palette[group % len(palette)] for group in range(n_groups)), REST])


def count_groups(analysis: Analysis) -> int:
    """Return the number of groups of the finding."""
    return int(analysis.finding.labels.max(initial=-1)) + 1


def group_word(analysis: Analysis) -> str:
    """Return what the groups of the finding are: body, group, network or cluster."""
    words = dict.fromkeys(("none", "core", "agreement"), "cluster")
    words |= {"groups": "group", "network": "network"}
    return words.get(analysis.finding.kind, "body")


def family_colours(analysis: Analysis, palette_name: str | None = None) -> Strings:
    """Return the colour of each family of clusters (families,) as #rrggbb.

    The family of the cluster that shares most sites with a group, if this is more than half of
    those in either, has the colour of that group; others take the rest of the palette in turn.
    """
    tree, labels = analysis.hierarchy, analysis.finding.labels
    palette = PALETTES[palette_name or palette_of(analysis)]
    number, n_groups = families(tree), count_groups(analysis)
    chosen = np.full(tree.n_sites, -1)
    for group in range(n_groups):
        members = np.asarray(labels == group)
        shared = tree.sum_over_nodes(members)
        jaccard = shared / np.maximum(tree.sizes + np.count_nonzero(members) - shared, 1)
        family = number[tree.starts[jaccard.argmax()]]
        if jaccard.max(initial=0.0) > SAME and chosen[family] < 0:
            chosen[family] = group % len(palette)
    waiting, every = chosen < 0, np.arange(len(palette))
    free = every[n_groups:] if n_groups < len(palette) // 2 else every
    chosen[waiting] = free[np.arange(waiting.sum()) % len(free)]
    return frozen(np.array(palette)[chosen])


def cluster_colours(analysis: Analysis, cutoff: float) -> Strings:
    """Return the colour of each label of ``analysis.hierarchy.cut(cutoff)`` as #rrggbb."""
    return frozen(family_colours(analysis)[families_at(analysis.hierarchy, cutoff)])


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """The shown objects along an axis: by number as residues are, or else in leaf order."""

    order: Ints  # (places,), shown object at each
    numbers: Ints  # (places,), written at each
    chains: Strings  # (places,)
    label: str


def places_of(analysis: Analysis) -> Places:
    """Return the order of the shown objects along an axis."""
    system, shown = analysis.system, analysis.system.shown
    if not system.sequential:
        blank = np.full(len(shown), "")
        numbers = np.arange(1, len(shown) + 1)
        name = f"{system.shown_name.capitalize()}s, in the order of the hierarchy"
        return Places(analysis.hierarchy.order, numbers, blank, name)
    atoms = analysis.shown_atoms
    label = system.shown_name[:1].upper() + system.shown_name[1:]
    if (atoms.resnames != "").all() and label != "Residue":
        label = f"Residue ({system.shown_name})"
    return Places(np.arange(len(shown)), atoms.resids, atoms.chains, label)


def need(part: Part | None) -> Part:
    """Return a part of a result; files of results without it are not listed."""
    if part is None:
        raise ValueError("this result lacks what this file shows")
    return part


def new_figure(height: float = HEIGHT, width: float = WIDTH) -> Figure:
    """Return an empty figure that belongs to no window."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def new_axes(ax: Axes | None = None, height: float = HEIGHT) -> Axes:
    """Return the axes that were given, or axes in a figure of their own."""
    return new_figure(height).add_subplot() if ax is None else ax


def ramp(count: int, low: float, high: float) -> list[str]:
    """Return colours between two places of the colour map of matrices."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colormaps["viridis"](value)) for value in np.linspace(low, high, count)]


def image(made: Any, kind: str) -> bytes:
    """Return a figure, or that of axes, as PNG, SVG or PDF; the same bytes each time."""
    import matplotlib as mpl

    buffer, dates = io.BytesIO(), {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with mpl.rc_context({"svg.hashsalt": "timme"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # of a name, which no font here has
        figure = made.get_figure(root=True)
        figure.savefig(buffer, format=kind, dpi=_DPI, metadata=dates.get(kind))
    return buffer.getvalue()


_BESIDE: dict[str, Any] = {
    "beside": {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)},
    "above": {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0)},
    "below": {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "borderaxespad": 4.5},
}


def draw_legend(axes: Axes, where: str, **options: Any) -> None:
    """Draw a legend beside, above or below the axes, where it covers nothing, or in a corner."""
    axes.legend(**_BESIDE.get(where, {"loc": where}), frameon=False, fontsize="small", **options)


def count(analysis: Analysis) -> Curves:
    """Count clusters at all cutoffs, with the least size of the settings."""
    return count_clusters(analysis.hierarchy, large=min_size(analysis))


def cutoff_limits(counted: Curves, cutoff: float | None = None) -> tuple[float, float]:
    """Return the range of cutoffs worth drawing.

    It ends a quarter beyond the level at which the largest cluster has 95 % of its final size: a
    few loose ends, such as the termini of a protein, would press all else into a corner.
    """
    finite = np.isfinite(counted.cutoffs)
    levels, largest = counted.cutoffs[finite], counted.largest[finite]
    if not len(levels):
        return 0.0, 1.0
    settled = levels[np.argmax(largest >= 0.95 * largest[-1])]
    margin = 0.05 * np.ptp(levels)
    low = levels[0] - margin
    if levels[0] >= 0:
        low = 0.0 if levels[0] < 0.6 * settled else max(0.0, low)
    high = min(levels[-1] + margin, settled + 0.25 * (settled - low))
    if cutoff is not None:
        high = max(high, cutoff + 0.1 * (cutoff - low))
    return float(low), float(high if high > low else low + 1)


def draw_cutoffs(axes: Axes, which: Literal["x", "y"], analysis: Analysis) -> None:
    """Label an axis of cutoffs, and draw that of the finding."""
    quantity, cutoff = analysis.hierarchy.quantity, analysis.finding.cutoff
    limits = cutoff_limits(count(analysis), cutoff)
    label = with_unit(quantity.cutoff_name, quantity.unit)
    axes.set(**{f"{which}lim": limits, f"{which}label": label})
    if cutoff is not None and limits[0] <= cutoff <= limits[1]:
        line = axes.axhline if which == "y" else axes.axvline
        line(cutoff, color="white", linewidth=2.2, alpha=0.6)
        line(cutoff, color="black", linewidth=0.9, linestyle=(0, (4, 2)))


def with_unit(words: str, unit: str) -> str:
    """Return the label of an axis: words, and a unit in brackets if there is one."""
    return (f"{words} ({unit})" if unit else words).replace("$", r"\$")


def draw_places(axes: Axes, places: Places) -> None:
    """Label the horizontal axis, on which place k reaches from k to k + 1, and its chains."""
    from matplotlib.ticker import MaxNLocator

    n_places, numbers, chains = len(places.order), places.numbers, places.chains
    axes.set(xlim=(0, n_places), xlabel=places.label)
    other_chain = chains[1:] != chains[:-1]
    new = np.append(True, (np.diff(numbers) != 0) | other_chain)
    few = MaxNLocator(8, integer=True, steps=[1, 2, 5, 10]).tick_values(0, int(new.sum()))
    step = int(few[1] - few[0])
    ticks = np.flatnonzero((numbers % step == 0) & new)
    axes.set_xticks(ticks + 0.5, [str(number) for number in numbers[ticks]])
    if not other_chain.any():
        return
    over: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "ha": "center"}
    for start, stop in pairwise([0, *(np.flatnonzero(other_chain) + 1).tolist(), n_places]):
        axes.axvline(start, color="black", linewidth=0.7)
        if stop - start >= 0.03 * n_places:
            name = str(chains[start])
            axes.text((start + stop) / 2, 1.01, name, size="small", parse_math=False, **over)
