"""What all plots share: a figure for one column, the axis of cutoffs, the axis of places."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints, Strings, indices
from timme.analysis import Analysis
from timme.statistics import Curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Order = str | Sequence[int]  # auto, label, sequence, or the objects themselves

_TICK_SIZE = 7
COLUMN = 3.4  # width of a journal's column, in inches
_STEPS = np.array([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000])


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """How shown objects lie along an axis in a natural order, such as that of residues."""

    order: Ints  # (sites,), site of the shown hierarchy at each place
    numbers: Ints  # (sites,), number written at each place
    chains: Strings  # (sites,), name of the chain at each place
    label: str

    @property
    def boundaries(self) -> Ints:
        """Places at which a chain starts, and the end of the last."""
        changes = np.flatnonzero(self.chains[1:] != self.chains[:-1]) + 1
        return np.concatenate([[0], changes, [len(self.chains)]])


def places_of(analysis: Analysis, order: Order = "auto") -> Places | None:
    """Return the order of the shown objects along an axis.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    order : {"auto", "label", "sequence"} or sequence of int, optional
        By site label; by sequence, as residues are; the better of these for the system; or shown
        objects in the user's own order.

    Returns
    -------
    Places or None
        None for the order of site labels.
    """
    if isinstance(order, str):
        if order not in {"auto", "label", "sequence"}:
            raise ValueError(f"an order is auto, label or sequence, got {order!r}")
        if order == "label" or (order == "auto" and not analysis.system.sequential):
            return None
        along = np.arange(len(analysis.system.shown))
    else:
        along = _own_order(analysis, order)
    sites = analysis.system.object_sites[analysis.system.shown[along]]
    residues = analysis.system.sites.resnames[sites] != ""
    name = f"Residue number ({analysis.system.shown_name})"
    return Places(
        order=along,
        numbers=analysis.system.sites.resids[sites],
        chains=analysis.system.sites.chains[sites],
        label=name if residues.all() else f"{analysis.system.shown_name.capitalize()} number",
    )


def _own_order(analysis: Analysis, order: Sequence[int]) -> Ints:
    shown = analysis.system.shown
    position = np.full(analysis.hierarchy.n_sites, -1)
    position[shown] = np.arange(len(shown))
    chosen = indices(order, analysis.hierarchy.n_sites, "objects of the order")
    along: Ints = position[chosen]
    if (along < 0).any() or len(along) != len(shown):
        raise ValueError(
            f"an order of the axis needs each of the {len(shown)} shown objects once, "
            f"got {len(chosen)} objects, {int((along < 0).sum())} of them not shown"
        )
    return along


def new_axes(width: float = COLUMN, height: float = 2.5) -> Axes:
    """Make axes in a figure of their own, without touching pyplot.

    Parameters
    ----------
    width, height : float, optional
        Size of the figure in inches.

    Returns
    -------
    Axes
        Empty axes with type that is legible in a column of a journal.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from timme.output.layout import Room

    figure = Figure(figsize=(width, height), layout=Room())
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for spine in axes.spines.values():
        spine.set_linewidth(0.6)
    axes.tick_params(labelsize=_TICK_SIZE, width=0.6, length=2.5)
    axes.xaxis.label.set_fontsize(8)
    axes.yaxis.label.set_fontsize(8)
    return axes


def figure_of(axes: Axes) -> Figure:
    """Return the figure that axes are in.

    Parameters
    ----------
    axes : Axes
        Such as :func:`new_axes` makes.

    Returns
    -------
    Figure
        Ready to be saved or changed.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None  # noqa: S101 (axes are made in one)
    return figure


def tick_size(axes: Axes) -> float:
    """Return the size of the numbers along an axis, whether or not there are any.

    Parameters
    ----------
    axes : Axes
        Where.

    Returns
    -------
    float
        In points.
    """
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties

    size = axes.xaxis.get_tick_params().get("labelsize", rcParams["xtick.labelsize"])
    return float(FontProperties(size=size).get_size_in_points())


def draw_legend(axes: Axes) -> None:
    """Put the legend beside the axes, where it covers nothing.

    Parameters
    ----------
    axes : Axes
        On which all is drawn that it names.
    """
    axes.legend(
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        frameon=False,
        fontsize=tick_size(axes),
        handlelength=1.5,
        borderaxespad=0.3,
    )


def cutoff_limits(counted: Curves, cutoff: float | None = None) -> tuple[float, float]:
    """Choose the range of cutoffs worth drawing.

    The range ends a quarter beyond the level at which the largest cluster has 95 % of its final
    size: a few loose ends, such as the termini of a protein, join so late that they would press
    everything else into a corner. It starts at 0 unless nothing joins over more than half of it.

    Parameters
    ----------
    counted : Curves
        Curves at all levels.
    cutoff : float, optional
        A cutoff that must be within the range.

    Returns
    -------
    low : float
        Where an axis starts.
    high : float
        Where it ends.
    """
    finite = np.isfinite(counted.cutoffs)
    levels = counted.cutoffs[finite]
    if not len(levels):
        return 0.0, 1.0
    largest = counted.largest[finite]
    settled = levels[np.argmax(largest >= 0.95 * largest[-1])]
    margin = 0.05 * np.ptp(levels)
    low = levels[0] - margin
    if levels[0] >= 0:
        low = 0.0 if levels[0] < 0.6 * settled else max(0.0, levels[0] - (settled - levels[0]) / 4)
    high = min(levels[-1] + margin, settled + 0.25 * (settled - low))
    if cutoff is not None:
        high = max(high, cutoff + 0.1 * (cutoff - low))
    return float(low), float(high if high > low else low + 1)


def stairs(counted: Curves, values: Floats, high: float) -> tuple[Floats, Floats]:
    """Return the corners of a curve, for a line drawn in steps.

    Parameters
    ----------
    counted : Curves
        Where the steps are.
    values : ndarray, shape (cutoffs,)
        One of the curves.
    high : float
        Where the line is to end at least.

    Returns
    -------
    x : ndarray, shape (cutoffs + 1,)
        Cutoffs; the first is 0, or below the first level where levels are negative.
    y : ndarray, shape (cutoffs + 1,)
        Values.
    """
    x = counted.cutoffs.copy()
    if len(x) and x[0] == -np.inf:
        x[0] = cutoff_limits(counted)[0]
    end = max(high, x[-1]) if len(x) else high
    return np.append(x, end), np.append(values, values[-1:])


def draw_cutoff_axis(
    axes: Axes,
    which: Literal["x", "y"],
    source: Curves,
    *,
    limits: tuple[float, float],
    length: float | None,
) -> None:
    """Label the cutoff axis, and the opposite one with cutoffs divided by a length.

    Parameters
    ----------
    axes : Axes
        Where to draw.
    which : {"x", "y"}
        Along which axis the cutoff runs.
    source : Curves
        What its cutoffs are is written.
    limits : tuple of float
        Range of the axis.
    length : float or None
        The length a of σ / a; no opposite axis without it.
    """
    quantity = source.quantity
    unit = f" ({quantity.unit})" if quantity.unit else ""
    label = f"{set_symbol(quantity.cutoff_name)}{unit}"
    axes.set(**{f"{which}lim": limits, f"{which}label": label})
    if length is None or not quantity.is_length:
        return
    scaled = set_symbol(quantity.cutoff, r"\,/\,a")
    if length == 1 and not quantity.unit:  # both axes would be the same
        axes.set(**{f"{which}label": scaled})
    else:
        _draw_scaled_axis(axes, which, length, f"{scaled}   ($a$ = {length:g} {quantity.unit})")


def set_symbol(symbol: str, over: str = "") -> str:
    r"""Set a symbol as a formula, where it is a letter or a letter with an index.

    Parameters
    ----------
    symbol : str
        Such as σ, σc or "E cutoff", which is set as the words it is.
    over : str, optional
        What follows within the formula.

    Returns
    -------
    str
        In the words of matplotlib.

    Examples
    --------
    >>> print(set_symbol("σc"))
    $\sigma_\mathrm{c}$
    >>> print(set_symbol("E cutoff"))
    E cutoff
    """
    if len(symbol) > 2:
        words = symbol.replace("$", r"\$")
        return f"{words}${over}$" if over else words
    letter, index = symbol[0].replace("σ", r"\sigma"), symbol[1:]
    subscript = rf"_\mathrm{{{index}}}" if index else ""
    return f"${letter}{subscript}{over}$"


def draw_places(axes: Axes, places: Places | None, n_sites: int) -> None:
    """Write site labels, or residue numbers and chains, along the horizontal axis.

    Parameters
    ----------
    axes : Axes
        Where to draw; place k reaches from k to k + 1.
    places : Places or None
        Natural order of the sites; site labels without it.
    n_sites : int
        Number of places.
    """
    axes.set_xlim(0, n_sites)
    if places is None:
        step = _step(n_sites)
        numbers = np.arange(step, n_sites + 1, step)
        axes.set_xticks(numbers - 0.5, [str(number) for number in numbers])
        axes.set_xlabel("Site label")
        return
    new = (places.numbers[1:] != places.numbers[:-1]) | (places.chains[1:] != places.chains[:-1])
    ticks = _ticks(places, _step(1 + int(new.sum())))  # several sites may have one number
    axes.set_xticks(ticks + 0.5, [str(number) for number in places.numbers[ticks]])
    axes.set_xlabel(places.label)
    bounds = places.boundaries
    if len(bounds) == 2:
        return
    size = tick_size(axes)
    for start, stop in itertools.pairwise(bounds):
        if start:
            axes.axvline(start, color="black", linewidth=0.6)
        if stop - start >= 0.03 * n_sites:
            middle = ((start + stop) / 2, 1.0)
            axes.annotate(
                str(places.chains[start]),
                middle,
                xytext=(0, 2),
                xycoords=axes.get_xaxis_transform(),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=size,
            )


def _draw_scaled_axis(axes: Axes, which: Literal["x", "y"], length: float, label: str) -> None:
    from matplotlib.ticker import MaxNLocator

    def divide(cutoff: npt.ArrayLike) -> npt.ArrayLike:
        return np.asarray(cutoff) / length

    def multiply(scaled: npt.ArrayLike) -> npt.ArrayLike:
        return np.asarray(scaled) * length

    if which == "x":
        opposite = axes.secondary_xaxis("top", functions=(divide, multiply))
        # Divided, round cutoffs have more digits, and there is no more room for them.
        opposite.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    else:
        opposite = axes.secondary_yaxis("right", functions=(divide, multiply))
    own = axes.xaxis if which == "x" else axes.yaxis
    opposite.tick_params(labelsize=tick_size(axes), width=0.6, length=2.5)
    write = opposite.set_xlabel if which == "x" else opposite.set_ylabel
    write(label, fontsize=own.label.get_fontsize())
    for spine in opposite.spines.values():
        spine.set_linewidth(axes.spines["left"].get_linewidth())


def _step(n_sites: int) -> int:
    """Choose a round step that makes at most eight ticks."""
    enough = _STEPS[n_sites <= 8 * _STEPS]
    return int(enough[0]) if len(enough) else 10 ** int(np.ceil(np.log10(n_sites / 8)))


def _ticks(places: Places, step: int) -> Ints:
    """Choose the places with a round number; of equal numbers side by side, the first."""
    numbers, chains = places.numbers, places.chains
    repeated = (numbers[1:] == numbers[:-1]) & (chains[1:] == chains[:-1])
    return np.flatnonzero((numbers % step == 0) & ~np.append(False, repeated))
