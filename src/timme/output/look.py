"""How figures are drawn, as a result says by itself or as somebody asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from timme.analysis import Analysis
from timme.output.axes import Order
from timme.output.colours import PALETTES, WIDE
from timme.settings.values import LARGE, MIN_SIZE


@dataclass(frozen=True, slots=True)
class Look:
    """How figures are drawn."""

    cutoff: float | None = None  # of the dashed line, in the units of the heights
    min_size: int = MIN_SIZE  # clusters of fewer shown objects are left white
    large: int = LARGE  # the R of the fraction in clusters of R or more
    palette: Sequence[str] = WIDE
    order: Order = "auto"  # along the axis of the dilution and of the σ matrix


def look_of(analysis: Analysis, order: Order = "auto") -> Look:
    """Return how the figures of an analysis are drawn.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    order : {"auto", "label", "sequence"} or sequence of int, optional
        Order of the shown objects along the axis.

    Returns
    -------
    Look
        At the first of the suggested cutoffs, if there is one.
    """
    chosen, found = analysis.recipe.settings, analysis.suggest()
    return Look(
        cutoff=found[0].cutoff if found else None,
        min_size=chosen.min_size,
        large=chosen.large,
        palette=PALETTES[chosen.palette],
        order=order,
    )
