"""What chance would do, beside what was found: a grey band of independent walkers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timme._arrays import Floats, Ints
from timme.analysis import Analysis, Chance
from timme.output import plots
from timme.output.axes import tick_size
from timme.output.declared import PartFigure, PartOutput
from timme.output.look import Look
from timme.output.tables import csv_text, with_unit
from timme.statistics import curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def chance_csv(part: Chance, analysis: Analysis) -> str:
    """List what independent walkers would show, one cutoff per row.

    Parameters
    ----------
    part : Chance
        The band.
    analysis : Analysis
        What was analysed.

    Returns
    -------
    str
        CSV: the cutoff, P(r ≥ R) that 5 % and 95 % of draws stay below, and the median and largest
        of their largest clusters.
    """
    band = part.band
    rows = [
        [f"{cutoff:.6g}", f"{low:.4g}", f"{high:.4g}", f"{middle:g}", int(most)]
        for cutoff, low, high, middle, most in zip(
            *(band.cutoffs, band.low, band.high),
            *(_median(band.largest.T), band.largest.max(axis=0)),
            strict=True,
        )
    ]
    head = [with_unit("cutoff", analysis.hierarchy.unit), "fraction low", "fraction high"]
    return csv_text([*head, "largest median", "largest"], rows)


def _median(rows: Ints) -> Floats:
    found: Floats = np.median(rows, axis=1)
    return found


def _draw(part: Chance, analysis: Analysis, look: Look) -> Axes:
    """P(r ≥ R) with the band of walkers that have nothing in common but their steps."""
    counted = curves(analysis.shown_hierarchy, large=look.large)
    axes = plots.fraction(counted, cutoff=look.cutoff)
    band = part.band
    axes.fill_between(
        band.cutoffs,
        band.low,
        band.high,
        step="post",
        color="#cccccc",
        linewidth=1.5,  # where walkers form no large cluster at all, the band is a line at 0
        label="by chance",
    )
    axes.legend(loc="best", frameon=False, fontsize=tick_size(axes))
    return axes


CHANCE = PartOutput(
    Chance,
    figures=(
        PartFigure(
            "chance",
            _draw,
            "walkers by chance were not asked for, or are for particles alone (chance=True)",
            caption="the fraction in large clusters, beside that of independent walkers",
            first=False,
        ),
    ),
    files={"chance.csv": "what independent walkers with the same steps would show"},
    tables=lambda part, analysis, _: {"chance.csv": chance_csv(part, analysis)},
)
