"""Save plots as files: the same bytes for the same result, as vectors and as pixels."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from timme import theory
from timme._arrays import Floats
from timme._files import write_atomically
from timme.analysis import FREELY_JOINTED, Analysis, Judged
from timme.output import plots, registry
from timme.output.axes import figure_of, places_of
from timme.output.declared import OwnFigure, PartFigure, collect
from timme.output.look import Look
from timme.statistics import Curves, curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("svg", "png")
_DPI = 300

# Names inside an SVG are drawn from a setting of the whole process, which one thread at a time may
# change for the length of a save.
_saving = threading.Lock()


def save_figure(figure: Figure, path: str | Path) -> Path:
    """Save a figure in the format of its file's suffix.

    Parameters
    ----------
    figure : Figure
        What to save.
    path : str or Path
        Where to; whatever is there is replaced.

    Returns
    -------
    Path
        The file written, without a date or anything else that differs from run to run.
    """
    import matplotlib as mpl

    target = Path(path)
    kind = target.suffix.lower().lstrip(".")
    if kind in FORMATS:
        return write_atomically(target, _print(figure)[kind]())
    dates = {"pdf": {"CreationDate": None}}
    buffer = io.BytesIO()
    with _saving, mpl.rc_context({"svg.hashsalt": "timme"}):
        figure.savefig(buffer, format=kind, dpi=_DPI, metadata=dates.get(kind))
    return write_atomically(target, buffer.getvalue())


def save_both(figure: Figure, stem: str | Path) -> tuple[Path, ...]:
    """Save a figure as vectors and as pixels, drawn once.

    Parameters
    ----------
    figure : Figure
        What to save.
    stem : str or Path
        Path of the files without a suffix; whatever is there is replaced.

    Returns
    -------
    tuple of Path
        The files written, one for each of :data:`FORMATS`.
    """
    printed = _print(figure)
    return tuple(write_atomically(Path(f"{stem}.{kind}"), printed[kind]()) for kind in FORMATS)


def _print(figure: Figure) -> dict[str, Callable[[], bytes]]:
    """What makes the files of a figure, by format; drawn once, so that all are of one layout."""
    import matplotlib as mpl

    from timme.output.printing import print_both

    with _saving, mpl.rc_context({"svg.hashsalt": "timme"}):
        return print_both(figure, _DPI)


def save_figures(analysis: Analysis, folder: str | Path, look: Look) -> tuple[Path, ...]:
    """Save all plots of an analysis, as SVG and as PNG.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    folder : str or Path
        An existing folder.
    look : Look
        How they are drawn.

    Returns
    -------
    tuple of Path
        The files, for those figures of which the analysis has data.
    """
    with ThreadPoolExecutor(1) as beside:  # packs pixels while the next figure is drawn
        made = {
            Path(folder) / f"{name}.{kind}": beside.submit(make)
            for name in figures_of(analysis)
            for kind, make in _print(draw(analysis, name, look)).items()
        }
    return tuple(write_atomically(path, content.result()) for path, content in made.items())


def known_figures() -> dict[str, OwnFigure | PartFigure[Any]]:
    """List the figures that a result may have.

    Returns
    -------
    dict
        Figures of every result and those of parts, by name.
    """
    return collect((*_OWN.items(), *registry.known_figures().items()))


def figures_of(analysis: Analysis) -> tuple[str, ...]:
    """Name the plots of which an analysis has data.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.

    Returns
    -------
    tuple of str
        Some of :func:`known_figures`.
    """
    return (*_OWN, *registry.figures_of_parts(analysis))


def draw(analysis: Analysis, name: str, look: Look) -> Figure:
    """Draw one plot of an analysis.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    name : str
        One of :func:`known_figures`.
    look : Look
        How it is drawn.

    Returns
    -------
    Figure
        Of its own, ready to be saved or changed.
    """
    known = known_figures()
    if name not in known:
        raise ValueError(f"a figure is one of {', '.join(known)}, got {name!r}")
    if name in _OWN:
        return figure_of(_OWN[name].draw(analysis, look))
    there = registry.figures_of_parts(analysis)
    if name not in there:
        reason = registry.known_figures()[name].reason
        raise ValueError(f"there is no {name} of this result: {reason}")
    figure, part = there[name]
    return figure_of(figure.draw(part, analysis, look))


def _dilution(analysis: Analysis, look: Look) -> Axes:
    judged = analysis.part(Judged)
    return plots.dilution(
        analysis.shown_hierarchy,
        places=places_of(analysis, look.order),
        min_size=look.min_size,
        cutoff=look.cutoff,
        length=analysis.length,
        palette=look.palette,
        sure=None if judged is None else judged.confidence,
    )


def _fraction(analysis: Analysis, look: Look) -> Axes:
    expected = expected_fraction(analysis, look.large)
    return plots.fraction(
        _count(analysis, look), theory=expected, cutoff=look.cutoff, length=analysis.length
    )


def _size_distribution(analysis: Analysis, look: Look) -> Axes:
    expected = expected_sizes(analysis)
    return plots.size_distribution(
        _count(analysis, look), theory=expected, cutoff=look.cutoff, length=analysis.length
    )


def _cluster_sizes(analysis: Analysis, look: Look) -> Axes:
    expected = _expected_mean(analysis)
    return plots.cluster_sizes(
        _count(analysis, look), theory=expected, cutoff=look.cutoff, length=analysis.length
    )


def _count(analysis: Analysis, look: Look) -> Curves:
    return curves(analysis.shown_hierarchy, large=look.large)


_OWN = {  # figures of every result
    figure.name: figure
    for figure in (
        OwnFigure("dilution", _dilution, "clusters at every cutoff"),
        OwnFigure("fraction", _fraction, "fraction of sites in large clusters"),
        OwnFigure(
            "size-distribution", _size_distribution, "fraction of sites in clusters of 1 to 5"
        ),
        OwnFigure(
            "cluster-sizes",
            _cluster_sizes,
            "largest cluster, mean size and number of clusters",
            first=False,
        ),
    )
}


def expected_fraction(analysis: Analysis, large: int) -> plots.Theory | None:
    """Return P(r ≥ R) of the freely-jointed chain, where that is what was analysed.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    large : int
        R.

    Returns
    -------
    callable or None
        Fraction at an array of cutoffs.
    """
    if not _is_chain(analysis):
        return None
    return lambda cutoffs: theory.tail_fraction(_joined(analysis, cutoffs), large=large)


def _expected_mean(analysis: Analysis) -> plots.Theory | None:
    """⟨r⟩ of an endless chain: of a finite one, only below its length."""
    if not _is_chain(analysis):
        return None
    most = analysis.shown_hierarchy.n_sites
    return lambda cutoffs: np.minimum(theory.mean_size(_joined(analysis, cutoffs)), most)


def expected_sizes(analysis: Analysis) -> plots.Theory | None:
    """Return P(r) of the freely-jointed chain for r = 1 … 5, where that is what was analysed.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.

    Returns
    -------
    callable or None
        Fractions (sizes, cutoffs) at an array of cutoffs.
    """
    if not _is_chain(analysis):
        return None
    sizes = np.arange(1, 6)[:, None]
    return lambda cutoffs: theory.size_fraction(sizes, _joined(analysis, cutoffs))


def _is_chain(analysis: Analysis) -> bool:
    known = analysis.recipe.theory == FREELY_JOINTED
    return known and analysis.system.n_snapshots == 2


def _joined(analysis: Analysis, cutoffs: Floats) -> Floats:
    return theory.join_probability(cutoffs, link_length=analysis.length or 1.0)
