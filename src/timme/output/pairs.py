"""Pairs of objects as figures, a table and the matrix of the page: σ, and how often together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from timme.analysis import Analysis, Apart, Measured
from timme.fluctuations.sigma import Fluctuations
from timme.output import matrices
from timme.output.axes import places_of
from timme.output.declared import PartFigure, PartOutput
from timme.output.look import Look
from timme.output.packing import pack
from timme.output.tables import csv_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_PIXELS = 1_000  # along a side of the matrix of the page
_OFTEN = "how often two sites are rigid together"
_DIGITS = 12  # of a fraction, so that what is left of 1 is a short number again


def together_csv(part: Apart, analysis: Analysis) -> str:
    """List the fraction of snapshots in which two objects are in one rigid cluster.

    Parameters
    ----------
    part : Apart
        Fraction of snapshots in which pairs are apart.
    analysis : Analysis
        What was analysed.

    Returns
    -------
    str
        CSV, a matrix with names in the first row and column.
    """
    apart = part.pairs
    matrix = np.eye(apart.n_objects)
    fractions = np.round(1.0 - part.fractions, _DIGITS)
    matrix[apart.pairs[:, 0], apart.pairs[:, 1]] = fractions
    matrix[apart.pairs[:, 1], apart.pairs[:, 0]] = fractions
    names = analysis.system.names.tolist()
    rows = ([name, *row] for name, row in zip(names, matrix.tolist(), strict=True))
    return csv_text(["", *names], rows)


def _sigma_matrix(part: Measured, analysis: Analysis, look: Look) -> Axes:
    quantity = analysis.hierarchy.quantity
    return _draw(matrices.sigma_matrix, part.pairs, analysis, look, quantity=quantity)


def _together(part: Apart, analysis: Analysis, look: Look) -> Axes:
    return _draw(matrices.together, part.pairs, analysis, look)


def _draw(
    plot: Callable[..., Axes],
    pairs: Fluctuations,
    analysis: Analysis,
    look: Look,
    **options: Any,
) -> Axes:
    places = places_of(analysis, look.order)
    order = analysis.shown_hierarchy.order if places is None else places.order
    return plot(pairs, order=analysis.system.shown[order], places=places, **options)


def _matrix(part: Measured | Apart, analysis: Analysis) -> dict[str, Any]:
    """Give heights of pairs in the order of the axis: the upper triangle, NaN for unmeasured."""
    places = places_of(analysis)
    order = analysis.shown_hierarchy.order if places is None else places.order
    means = matrices.binned_means(part.pairs, analysis.system.shown[order], most=_MOST_PIXELS)
    finite = means[np.isfinite(means)]
    return {
        "size": len(means),
        "top": float(np.percentile(finite, 98)) if len(finite) else 1.0,
        "values": pack(means[np.triu_indices(len(means))], "f4"),
    }


MEASURED = PartOutput(
    Measured,
    figures=(
        PartFigure(
            "sigma-matrix",
            _sigma_matrix,
            "σ of pairs was not kept (too many pairs), or its heights are no σ",
            caption="σ of the pairs, or what else they were linked by",
            first=False,
        ),
    ),
    panels={"matrix": _matrix},
)
APART = PartOutput(
    Apart,
    figures=(
        PartFigure(
            "together",
            _together,
            "only rigid clusters of an ensemble have one (timme.rigid(ensemble=))",
            caption=_OFTEN,
        ),
    ),
    files={"together.csv": _OFTEN},
    tables=lambda part, analysis, _: {"together.csv": together_csv(part, analysis)},
    panels={"apart": _matrix},
)
