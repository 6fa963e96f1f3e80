"""Save plots as files: the same bytes for the same result, as vectors and as pixels."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from timme import theory
from timme._arrays import Floats
from timme._files import write_atomically
from timme.analysis import Analysis
from timme.output import matrices, plots
from timme.output.axes import Order, figure_of, places_of
from timme.output.colours import WIDE
from timme.rigidity import decompose
from timme.rigidity.flexibility import residue_flexibility
from timme.statistics import curves
from timme.system.residues import residue_index

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("svg", "png")
_DPI = 300

FIGURES = (
    *("dilution", "fraction", "size-distribution", "cluster-sizes"),
    *("sigma-matrix", "together", "flexibility"),
)


@dataclass(frozen=True, slots=True)
class Look:
    """How figures are drawn."""

    cutoff: float | None = None  # of the dashed line, in the units of the heights
    min_size: int = 3  # clusters of fewer shown objects are left white
    large: int = 10  # the R of the fraction in clusters of R or more
    palette: Sequence[str] = WIDE
    order: Order = "auto"  # along the axis of the dilution and of the σ matrix


_REASONS = {
    "sigma-matrix": "σ of pairs was not kept (too many pairs), or its heights are no σ",
    "together": "only rigid clusters of an ensemble have one (timme.rigid(ensemble=))",
    "flexibility": "only rigid clusters of one protein or nucleic acid have one (timme.rigid())",
}

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
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    buffer = io.BytesIO()
    with _saving, mpl.rc_context({"svg.hashsalt": "timme"}):
        figure.savefig(buffer, format=kind, dpi=_DPI, metadata=dates.get(kind))
    return write_atomically(target, buffer.getvalue())


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
        The files, for those of `FIGURES` of which the analysis has data.
    """
    written = []
    for name in figures_of(analysis):
        figure = draw(analysis, name, look)
        written += [save_figure(figure, Path(folder) / f"{name}.{kind}") for kind in FORMATS]
    return tuple(written)


def figures_of(analysis: Analysis) -> tuple[str, ...]:
    """Name the plots of which an analysis has data.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.

    Returns
    -------
    tuple of str
        Some of `FIGURES`.
    """
    kept, sigma = analysis.fluctuations is not None, analysis.hierarchy.quantity.is_length
    there = {
        "sigma-matrix": kept and sigma,
        "together": kept and not sigma,
        "flexibility": analysis.network is not None and analysis.sequential,
    }
    return tuple(name for name in FIGURES if there.get(name, True))


def draw(analysis: Analysis, name: str, look: Look) -> Figure:
    """Draw one plot of an analysis.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    name : str
        One of `FIGURES`.
    look : Look
        How it is drawn.

    Returns
    -------
    Figure
        Of its own, ready to be saved or changed.
    """
    if name not in FIGURES:
        raise ValueError(f"a figure is one of {', '.join(FIGURES)}, got {name!r}")
    if name not in figures_of(analysis):
        raise ValueError(f"there is no {name} of this result: {_REASONS[name]}")
    hierarchy, length, cutoff = analysis.shown_hierarchy, analysis.length, look.cutoff
    counted = curves(hierarchy, large=look.large)
    if name == "dilution":
        places = places_of(analysis, look.order)
        axes = plots.dilution(
            hierarchy,
            places=places,
            min_size=look.min_size,
            cutoff=cutoff,
            length=length,
            palette=look.palette,
        )
    elif name == "fraction":
        expected = expected_fraction(analysis, look.large)
        axes = plots.fraction(counted, theory=expected, cutoff=cutoff, length=length)
    elif name == "size-distribution":
        axes = plots.size_distribution(counted, theory=expected_sizes(analysis), length=length)
    elif name == "cluster-sizes":
        expected = _expected_mean(analysis)
        axes = plots.cluster_sizes(counted, theory=expected, cutoff=cutoff, length=length)
    elif name == "flexibility":
        axes = _flexibility(analysis, look)
    else:
        quantity = analysis.hierarchy.quantity
        measured = partial(matrices.sigma_matrix, quantity=quantity)
        axes = _matrix(analysis, look, matrices.together if name == "together" else measured)
    return figure_of(axes)


def _matrix(analysis: Analysis, look: Look, plot: Callable[..., Axes]) -> Axes:
    places = places_of(analysis, look.order)
    order = analysis.shown_hierarchy.order if places is None else places.order
    return plot(analysis.fluctuations, order=analysis.shown[order], places=places)


def _flexibility(analysis: Analysis, look: Look) -> Axes:
    assert analysis.network is not None  # noqa: S101 (it was looked for a moment ago)
    cutoff = 0.0 if look.cutoff is None else look.cutoff
    index = decompose(analysis.network, cutoff).flexibility
    of_residue = residue_flexibility(index, analysis.network, analysis.sites)
    site = analysis.object_sites[analysis.shown]
    shown = of_residue[residue_index(analysis.sites)[site]]
    return plots.flexibility(shown, places=places_of(analysis, look.order))


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
    return analysis.settings.get("theory") == "freely-jointed chain" and analysis.n_snapshots == 2


def _joined(analysis: Analysis, cutoffs: Floats) -> Floats:
    return theory.join_probability(cutoffs, link_length=analysis.length or 1.0)
