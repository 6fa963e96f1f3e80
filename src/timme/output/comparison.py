"""Two results side by side: colours that match, agreement over both cutoffs, tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from timme._arrays import Bools, Floats, Ints, Strings, frozen
from timme.analysis import Analysis
from timme.compare import Common, Comparison, common_sites, overlap
from timme.compare.clusters import match_one_to_one
from timme.hierarchy.tree import Hierarchy
from timme.order import choose_colours, families_at, largest_of_families
from timme.output import plots
from timme.output.axes import (
    COLUMN,
    Places,
    cutoff_limits,
    draw_cutoff_axis,
    figure_of,
    new_axes,
    tick_size,
)
from timme.output.colours import WIDE, family_colours, paint
from timme.output.tables import csv_text, runs_text, short_names
from timme.statistics import Curves, curves
from timme.system.atoms import Atoms

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Names = tuple[str, str]  # what the two results are called in pictures

NAMES: Names = ("first", "second")
_TRIVIAL = "#dcdcdc"
_SAME_LINE = 0.5  # Jaccard of the largest clusters of two lines of descent
_PIXELS = 500  # along each side of the heatmap: about what a column in print resolves


def on_common_sites(
    first: Analysis, second: Analysis, *, chains: Mapping[str, str] | None = None
) -> tuple[Analysis, Analysis, Common]:
    """Narrow two analyses to the shown objects that both have.

    Parameters
    ----------
    first, second : Analysis
        What was analysed.
    chains : mapping of str to str, optional
        Chains of the first and what they are called in the second.

    Returns
    -------
    first, second : Analysis
        The same, showing common objects only, in the order of the first.
    common : Common
        Which of the shown objects these are, and how they were found.
    """
    common = common_sites(_shown_atoms(first), _shown_atoms(second), chains=chains)
    return (
        _showing(first, common.first),
        _showing(second, common.second),
        common,
    )


def matched_colours(compared: Comparison, *, palette: Sequence[str] = WIDE) -> Strings:
    """Give families of the second hierarchy the colours of the clusters of the first they match.

    Matched where both are cut, colours follow descent in both from there, up and down. Families
    that have no part in this are matched by the largest cluster that is ever alive in each, if the
    two share more than half of the sites that are in either.

    Parameters
    ----------
    compared : Comparison
        Two hierarchies, with their clusters matched at one pair of cutoffs.
    palette : sequence of str, optional
        Colours of families 1, 2, ….

    Returns
    -------
    ndarray of str, shape (sites,)
        Colour of each family of the second. Those without a partner take colours that no coloured
        cluster of the first has where it is cut, as long as there are any; and that no family of
        the first has at any cutoff, as long as there are any which no neighbour has.
    """
    one, other, partners = (
        compared.clusters.first,
        compared.clusters.second,
        compared.clusters.partners,
    )
    of_first = choose_colours(compared.first, len(palette))
    held = of_first[families_at(compared.first, one.cutoff)]
    own = families_at(compared.second, other.cutoff)
    matched = partners >= 0
    given = np.full(compared.n_sites, -1)
    given[own[matched]] = held[partners[matched]]
    in_use = held[one.sizes >= compared.clusters.min_size]
    # A colour in use where the first is cut belongs to the partner of what has it there.
    free = ~np.isin(of_first, in_use), given < 0
    lines = _match_lines(compared, *free)
    given[lines >= 0] = of_first[lines[lines >= 0]]
    drawn = compared.first.sizes[largest_of_families(compared.first)] >= compared.clusters.min_size
    chosen = choose_colours(
        compared.second, len(palette), given=given, avoided=in_use, spared=of_first[drawn]
    )
    return paint(chosen, palette)


def cluster_colours(
    compared: Comparison, *, palette: Sequence[str] = WIDE
) -> tuple[Strings, Strings]:
    """Return the colours of the clusters of both, by label: partners have the same.

    Parameters
    ----------
    compared : Comparison
        Two hierarchies, with their clusters matched at one pair of cutoffs.
    palette : sequence of str, optional
        Colours of families 1, 2, ….

    Returns
    -------
    first : ndarray of str, shape (coloured clusters of the first,)
        As #rrggbb; clusters too small to be coloured are left out.
    second : ndarray of str, shape (coloured clusters of the second,)
        Likewise.
    """
    one, other = compared.clusters.first, compared.clusters.second
    least = compared.clusters.min_size
    held = families_at(compared.first, one.cutoff)[one.sizes >= least]
    own = families_at(compared.second, other.cutoff)[other.sizes >= least]
    return (
        frozen(family_colours(compared.first, palette=palette)[held]),
        frozen(matched_colours(compared, palette=palette)[own]),
    )


def dilutions(
    compared: Comparison,
    *,
    places: Places | None = None,
    lengths: tuple[float | None, float | None] = (None, None),
    names: Names = NAMES,
    palette: Sequence[str] = WIDE,
) -> Figure:
    """Draw both dilution plots side by side, matched clusters in the same colour.

    Parameters
    ----------
    compared : Comparison
        Two hierarchies of the same sites.
    places : Places, optional
        Natural order of the sites, for both; by the site labels of the first by default.
    lengths : tuple of float or None, optional
        The length a of each, of a second axis σ / a.
    names : tuple of str, optional
        What the two are called.
    palette : sequence of str, optional
        Colours of families 1, 2, ….

    Returns
    -------
    Figure
        Two axes, the first on the left. Dashed lines are at the cutoffs at which colours match.
    """
    left = new_axes(2 * COLUMN, 2.8)
    right = _axes_beside(left)
    along = places or _by_first(compared.first)
    matched = matched_colours(compared, palette=palette)
    sides = (
        (left, compared.first, compared.clusters.first.cutoff, None),
        (right, compared.second, compared.clusters.second.cutoff, matched),
    )
    for number, (axes, hierarchy, cutoff, colours) in enumerate(sides):
        plots.dilution(
            hierarchy,
            places=along,
            min_size=compared.clusters.min_size,
            cutoff=cutoff if np.isfinite(cutoff) else None,
            length=lengths[number],
            palette=palette,
            colours=colours,
            ax=axes,
        )
        axes.set_title(_plain(names[number]), fontsize=8, loc="left")
    return figure_of(left)


def heatmap(
    compared: Comparison,
    *,
    lengths: tuple[float | None, float | None] = (None, None),
    names: Names = NAMES,
    asked: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the adjusted Rand index over both cutoffs, and mark the best pair by a +.

    Parameters
    ----------
    compared : Comparison
        Two hierarchies of the same sites.
    lengths : tuple of float or None, optional
        The length a of each, of a second axis σ / a.
    names : tuple of str, optional
        What the two are called.
    asked : tuple of float, optional
        Another pair of cutoffs, to be marked by a ×.
    ax : Axes, optional
        Where to draw; axes in a new figure by default.

    Returns
    -------
    Axes
        The cutoff of the first runs to the right, that of the second upwards. Values below 0, less
        agreement than by chance, are drawn as 0; grey are pairs of cutoffs at which both are one
        cluster, or both single sites.
    """
    axes = new_axes(1.25 * COLUMN, 3.1) if ax is None else ax
    best = compared.best_cutoffs
    hierarchies = compared.first, compared.second
    counted = [curves(hierarchy, sizes=()) for hierarchy in hierarchies]
    limits = [
        _limits(source, marked)
        for source, *marked in zip(counted, best, asked or best, strict=True)
    ]
    rows = _sample(compared.first_cutoffs, limits[0])
    columns = _sample(compared.second_cutoffs, limits[1])
    axes.set_facecolor(_TRIVIAL)
    image = axes.imshow(
        np.ma.masked_array(compared.rand, _trivial(compared))[rows][:, columns].T,
        cmap="viridis",
        vmin=0,
        vmax=1,
        extent=(*limits[0], *limits[1]),
        origin="lower",
        aspect="auto",
        interpolation="nearest",
    )
    draw_cutoff_axis(axes, "x", counted[0], limits=limits[0], length=lengths[0])
    draw_cutoff_axis(axes, "y", counted[1], limits=limits[1], length=lengths[1])
    axes.set(
        xlabel=f"{_plain(names[0])}: {axes.get_xlabel()}",
        ylabel=f"{_plain(names[1])}: {axes.get_ylabel()}",
    )
    if np.isfinite(best).all():
        _mark(axes, best, compared.rand[compared.best], "+")
    if asked is not None:
        cuts = (of.cut(cutoff) for of, cutoff in zip(hierarchies, asked, strict=True))
        _mark(axes, asked, overlap(*cuts).rand, "x")
    bar = axes.figure.colorbar(image, ax=axes, fraction=0.05, pad=0.03)
    bar.set_label("Adjusted Rand index", size=axes.xaxis.label.get_fontsize())
    bar.ax.tick_params(labelsize=tick_size(axes), width=0.6, length=2.5)
    bar.outline.set_linewidth(0.6)
    return axes


def matched_csv(
    first: Analysis,
    compared: Comparison,
    *,
    names: Names = NAMES,
    palette: Sequence[str] = WIDE,
) -> str:
    """List the coloured clusters of both with their partners, one per row.

    Parameters
    ----------
    first : Analysis
        The first result, narrowed to the common sites, which are named as it names them.
    compared : Comparison
        Two hierarchies, with their clusters matched at one pair of cutoffs.
    names : tuple of str, optional
        What the two are called.
    palette : sequence of str, optional
        Colours of families 1, 2, ….

    Returns
    -------
    str
        CSV. The partner has the highest Jaccard of all clusters of the other result; matched is the
        one-to-one partner, whose colour is the same. Members are runs of common sites.
    """
    found, called = compared.clusters, short_names(first)
    inverse = np.full(found.first.n_clusters, -1)
    matched = found.partners >= 0
    inverse[found.partners[matched]] = np.flatnonzero(matched)
    colours = cluster_colours(compared, palette=palette)
    rows: list[list[object]] = []
    for side, (partition, other, best, one_to_one) in enumerate(
        (
            (found.first, found.second, found.first_best, inverse),
            (found.second, found.first, found.second_best, found.partners),
        )
    ):
        for label, colour in enumerate(colours[side].tolist()):
            pair, own = best[label], one_to_one[label]
            partner = int(found.pairs[pair, 1 - side])
            rows.append(
                [
                    names[side],
                    label + 1,
                    int(partition.sizes[label]),
                    colour,
                    partner + 1,
                    int(other.sizes[partner]),
                    int(found.shared[pair]),
                    float(found.jaccard[pair]),
                    int(own) + 1 if own >= 0 else "",
                    runs_text(partition.members(label), called),
                ]
            )
    header = "result,cluster,size,colour,partner,partner size,shared,jaccard,matched,members"
    return csv_text(header.split(","), rows)


def agreement_csv(compared: Comparison, *, names: Names = NAMES) -> str:
    """List the adjusted Rand index at every pair of cutoffs.

    Parameters
    ----------
    compared : Comparison
        Two hierarchies of the same sites.
    names : tuple of str, optional
        What the two are called.

    Returns
    -------
    str
        CSV, a matrix: cutoffs of the first down, those of the second across.
    """
    corner = f"{names[0]} down and {names[1]} across"
    columns = zip(compared.first_cutoffs.tolist(), compared.rand.round(6).tolist(), strict=True)
    header = [corner, *map(str, compared.second_cutoffs.tolist())]
    return csv_text(header, ([cutoff, *row] for cutoff, row in columns))


def best_cutoffs_csv(compared: Comparison, *, names: Names = NAMES) -> str:
    """List, for every cutoff of each result, the cutoff of the other that agrees most.

    Parameters
    ----------
    compared : Comparison
        Two hierarchies of the same sites.
    names : tuple of str, optional
        What the two are called.

    Returns
    -------
    str
        CSV. Of equally good cutoffs of the other, the lowest; variation is that of information.
    """
    rows: list[list[object]] = []
    first, second = compared.first_cutoffs, compared.second_cutoffs
    for name, cutoffs, others, rand, variation in (
        (names[0], first, second, compared.rand, compared.variation),
        (names[1], second, first, compared.rand.T, compared.variation.T),
    ):
        best = rand.argmax(axis=1)
        every = np.arange(len(cutoffs))
        columns = cutoffs, others[best], rand[every, best], variation[every, best]
        rows += ([name, *row] for row in np.column_stack(columns).tolist())
    return csv_text(["result", "cutoff", "best cutoff", "adjusted Rand", "variation (nats)"], rows)


def _shown_atoms(analysis: Analysis) -> Atoms:
    """Return the names of the sites that stand for the shown objects."""
    atoms, sites = analysis.system.sites, analysis.system.object_sites[analysis.system.shown]
    named = {field.name: getattr(atoms, field.name) for field in fields(Atoms)}
    bonds = named.pop("bonds")[:0]
    return Atoms(**{name: column[sites] for name, column in named.items()}, bonds=bonds)


def _showing(analysis: Analysis, chosen: Ints) -> Analysis:
    """Return an analysis that shows some of its shown objects only."""
    system = analysis.system
    return replace(analysis, system=replace(system, shown=frozen(system.shown[chosen])))


def _match_lines(compared: Comparison, first: Bools, second: Bools) -> Ints:
    """Match some families of both by their largest clusters: of the second's each, or -1."""
    members = [
        _members_of_families(hierarchy, chosen, compared.clusters.min_size)
        for hierarchy, chosen in ((compared.first, first), (compared.second, second))
    ]
    shared = (members[0] @ members[1].T).tocoo()
    rows, columns = shared.coords
    sizes = [np.asarray(each.sum(axis=1)) for each in members]
    jaccard = shared.data / (sizes[0][rows] + sizes[1][columns] - shared.data)
    ranked = np.lexsort((columns, rows, -jaccard))
    ranked = ranked[jaccard[ranked] > _SAME_LINE]
    return match_one_to_one(rows[ranked], columns[ranked], compared.n_sites)


def _members_of_families(hierarchy: Hierarchy, chosen: Bools, min_size: int) -> sparse.csr_array:
    """Return which sites are in the largest cluster of each family: (families, sites).

    A site is in few of them, as whoever changes family gets into a cluster twice as large.
    """
    largest = largest_of_families(hierarchy)
    sizes = np.where(chosen, hierarchy.sizes[largest], 0)
    sizes[sizes < min_size] = 0
    ends = np.cumsum(sizes)
    labels = np.arange(ends[-1]) + np.repeat(hierarchy.starts[largest] + sizes - ends, sizes)
    offsets = np.append(0, ends)
    shape = hierarchy.n_sites, hierarchy.n_sites
    ones = np.ones(len(labels), np.int64)
    return sparse.csr_array((ones, hierarchy.order[labels], offsets), shape=shape)


def _by_first(hierarchy: Hierarchy) -> Places:
    """Return the order of site labels as one that another hierarchy may be drawn in."""
    n_sites = hierarchy.n_sites
    numbers = np.arange(1, n_sites + 1)
    return Places(hierarchy.order, numbers, np.full(n_sites, ""), "Site label in the first")


def _axes_beside(axes: Axes) -> Axes:
    """Make room for axes of the same kind on the right."""
    figure = figure_of(axes)
    grid = figure.add_gridspec(1, 2)
    axes.set_subplotspec(grid[0])
    beside = figure.add_subplot(grid[1])
    for name, spine in beside.spines.items():
        spine.set_linewidth(axes.spines[name].get_linewidth())
    beside.tick_params(**axes.xaxis.get_tick_params())
    beside.xaxis.label.set_fontsize(axes.xaxis.label.get_fontsize())
    beside.yaxis.label.set_fontsize(axes.yaxis.label.get_fontsize())
    return beside


def _plain(name: str) -> str:
    """Write a name so that nothing in it is taken for a formula."""
    return name.replace("$", r"\$")


def _limits(counted: Curves, marked: Sequence[float]) -> tuple[float, float]:
    """Choose a range of cutoffs that holds all that are marked, with room for the marks."""
    inside = [cutoff for cutoff in marked if np.isfinite(cutoff)]
    low, high = cutoff_limits(counted, max(inside, default=None))
    if inside and min(inside) < low:
        low = min(inside) - 0.05 * (high - min(inside))
    return low, high


def _sample(cutoffs: Floats, limits: tuple[float, float]) -> Ints:
    """Return the cutoff that holds in the middle of each pixel."""
    middles = np.linspace(*limits, 2 * _PIXELS + 1)[1::2]
    return np.maximum(0, np.searchsorted(cutoffs, middles, side="right") - 1)


def _trivial(compared: Comparison) -> Bools:
    """Find the pairs of cutoffs at which both are single sites, or both one cluster."""
    first = curves(compared.first, cutoffs=compared.first_cutoffs).n_clusters
    second = curves(compared.second, cutoffs=compared.second_cutoffs).n_clusters
    both: Bools = (first[:, None] == second) & np.isin(second, [1, compared.n_sites])
    return both


def _mark(axes: Axes, best: tuple[float, float], rand: float, marker: str) -> None:
    from matplotlib.patheffects import withStroke

    outline = [withStroke(linewidth=2, foreground="black")]
    axes.plot(*best, marker=marker, color="white", markersize=9, path_effects=outline)
    below = best[1] > sum(axes.get_ylim()) / 2
    left = best[0] > sum(axes.get_xlim()) / 2
    axes.annotate(
        f"{rand:.2f}",
        best,
        xytext=(-6 if left else 6, -6 if below else 6),
        textcoords="offset points",
        ha="right" if left else "left",
        va="top" if below else "bottom",
        color="white",
        fontsize=tick_size(axes),
        path_effects=[withStroke(linewidth=1.5, foreground="black")],
    )
