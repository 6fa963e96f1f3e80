"""One colour for every cluster, the same in plots, scripts and tables.

Colour follows descent (:mod:`timme.order`): a cluster keeps its colour while the cutoff moves, and
dark blue is the line of the core at the top.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from timme._arrays import Bools, Ints, Strings, frozen
from timme._html import Described
from timme.analysis import Analysis, Judged
from timme.hierarchy.tree import Hierarchy
from timme.order import choose_colours, families_at
from timme.settings.values import MIN_SIZE

CORE = "#00008b"
REST = "#bdbdbd"  # sites of clusters that are too small to be coloured

# Colours of families 1, 2, …, far from one another, from the core, from grey and from white. There
# are fewer than the 31 that VMD has room for beside core and rest.
WIDE = (
    *("#d62728", "#f2a900", "#2ca02c", "#8e44ad", "#17a2b8", "#f078e1", "#a5874b", "#0f69e1"),
    *("#ff7878", "#a5c300", "#961e4b", "#00d2e6", "#695a1e", "#9696ff", "#5ac396", "#b46987"),
    *("#006987", "#4bf087", "#ffb4f0", "#006900", "#6978b4", "#5a4b87", "#2d8769", "#0096ff"),
)

# Fewer colours that readers with any form of colour blindness tell apart (Okabe & Ito, Tol).
SAFE = (
    *("#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#d55e00"),
    *("#f0e442", "#882255", "#44aa99", "#999933", "#aa4499"),
)

PALETTES = {"wide": WIDE, "safe": SAFE}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Colouring(Described):
    """The coloured clusters at one cutoff, counted in shown objects; all else is the rest."""

    cutoff: float  # in the units of the heights
    min_size: int  # shown objects a cluster needs to be coloured
    labels: Ints  # (objects,), 0 is the largest, -1 the rest
    colours: Strings  # (clusters,), as #rrggbb
    sizes: Ints  # (clusters,), in shown objects

    @property
    def object_colours(self) -> Strings:
        """Colour of every object, grey for the rest."""
        return np.append(self.colours, REST)[self.labels]


def family_colours(hierarchy: Hierarchy, *, palette: Sequence[str] = WIDE) -> Strings:
    """Return the colour of each family: dark blue for 0, the palette for the others.

    Parameters
    ----------
    hierarchy : Hierarchy
        Clusters within clusters.
    palette : sequence of str, optional
        Colours of families 1, 2, … as #rrggbb: `WIDE`, `SAFE` or your own.

    Returns
    -------
    ndarray of str, shape (sites,)
        Colours as #rrggbb, by family as numbered by :mod:`timme.order`. Where there are more
        families than colours these repeat, and neighbours differ.

    Examples
    --------
    >>> from timme import link
    >>> family_colours(link([[0, 1, 9], [1, 0, 5], [9, 5, 0]]))
    array(['#00008b', '#d62728', '#f2a900'], dtype='<U7')
    """
    return paint(choose_colours(hierarchy, len(palette)), palette)


def paint(chosen: Ints, palette: Sequence[str]) -> Strings:
    """Turn chosen colours into those of a palette.

    Parameters
    ----------
    chosen : ndarray of int
        0 for dark blue, k for the k-th of the palette, as :func:`timme.order.choose_colours` does.
    palette : sequence of str
        Colours as #rrggbb.

    Returns
    -------
    ndarray of str
        Colours as #rrggbb, in the shape of `chosen`.
    """
    return frozen(np.array([CORE, *palette])[chosen])


def body_colours(n_bodies: int) -> Strings:
    """Return a colour for each body: dark blue for the largest, and grey, last, for none.

    Parameters
    ----------
    n_bodies : int
        How many there are.

    Returns
    -------
    ndarray of str, shape (bodies + 1,)
        As #rrggbb; what is at −1 is that of sites of no body.
    """
    others = [WIDE[number % len(WIDE)] for number in range(n_bodies - 1)]
    return np.array([CORE, *others, REST])


def colouring(
    analysis: Analysis,
    cutoff: float,
    *,
    min_size: int = MIN_SIZE,
    palette: Sequence[str] = WIDE,
    trusted: bool = False,
) -> Colouring:
    """Find the clusters to colour at a cutoff.

    Colours, labels and sizes are those of the shown objects. An object that is not shown takes part
    in the cluster of the shown ones it moves with: at a cutoff, a cluster of all objects holds
    exactly one cluster of shown objects, or none.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    cutoff : float
        In the units of the heights.
    min_size : int, optional
        Clusters of fewer shown objects belong to the grey rest.
    palette : sequence of str, optional
        Colours of families 1, 2, ….
    trusted : bool, optional
        Whether clusters that are not trusted belong to the grey rest, too.

    Returns
    -------
    Colouring
        Label of every object and colour of every label.
    """
    shown = analysis.shown_hierarchy
    partition = shown.cut(cutoff)
    chosen = np.flatnonzero(partition.sizes >= min_size)
    if trusted:
        chosen = chosen[trusted_at(analysis, cutoff)[chosen]]
    number = np.full(len(partition.sizes) + 1, -1)  # the last is what -1, no cluster, becomes
    number[chosen] = np.arange(len(chosen))
    colours = family_colours(shown, palette=palette)
    return Colouring(
        cutoff=float(cutoff),
        min_size=min_size,
        labels=frozen(number[labels_of_objects(analysis, cutoff)]),
        colours=frozen(colours[families_at(shown, cutoff)[chosen]]),
        sizes=frozen(partition.sizes[chosen]),
    )


def only_trusted(analysis: Analysis) -> bool:
    """Tell whether structures and scripts are to show trusted clusters alone.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.

    Returns
    -------
    bool
        As the settings of a run say; False for other recipes.
    """
    return bool(getattr(analysis.recipe.settings, "trusted", False))


def trusted_at(analysis: Analysis, cutoff: float) -> Bools:
    """Tell which clusters at a cutoff are trusted.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    cutoff : float
        In the units of the heights.

    Returns
    -------
    ndarray of bool, shape (clusters,)
        By label of the cut; those that were not judged are not trusted.
    """
    judged = analysis.part(Judged)
    if judged is None:
        raise ValueError(
            "trusted=True needs to know how sure clusters are, which this result does not say: "
            "leave it out"
        )
    records = judged.record_at(analysis.shown_hierarchy, cutoff)
    return np.array([record is not None and record.trusted for record in records], bool)


def labels_of_objects(analysis: Analysis, cutoff: float) -> Ints:
    """Return, for all objects, the label of their cluster among the shown objects.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    cutoff : float
        In the units of the heights.

    Returns
    -------
    ndarray of int, shape (objects,)
        0 is the largest cluster of shown objects; -1 where no shown object is in the cluster.
    """
    everywhere = analysis.hierarchy.cut(cutoff).labels
    of_cluster = np.full(everywhere.max() + 1, -1)
    of_cluster[everywhere[analysis.system.shown]] = analysis.shown_hierarchy.cut(cutoff).labels
    return frozen(of_cluster[everywhere])
