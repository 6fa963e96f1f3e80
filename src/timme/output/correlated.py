"""Two-point correlation in a table and a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timme.analysis import Analysis, Correlated
from timme.output.axes import COLUMN, new_axes, tick_size
from timme.output.colours import CORE, WIDE
from timme.output.declared import PartFigure, PartOutput
from timme.output.look import Look
from timme.output.tables import csv_text, with_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FILES = {"two-point.csv": "correlated displacements of pairs against distance and lag"}


def two_point_csv(part: Correlated, analysis: Analysis) -> str:
    """List correlated displacements.

    Parameters
    ----------
    part : Correlated
        Two-point correlation.
    analysis : Analysis
        What was analysed.

    Returns
    -------
    str
        CSV, one lag and distance per row; empty where there are no pairs, or no error is told.
    """
    unit, found = analysis.system.unit, part.found
    square = f"{unit}²" if unit else ""
    named = ("D_rr", "D_rr error", "D_perp", "D_perp error", "MSD", "MSD error")
    header = ["lag", with_unit("distance", unit), "pairs"]
    header += [with_unit(name, square) for name in named]
    rows = []
    for row, lag in enumerate(found.lags.tolist()):
        for bin_, distance in enumerate(found.distances.tolist()):
            numbers = [
                *(found.along[row, bin_], found.along_error[row, bin_]),
                *(found.across[row, bin_], found.across_error[row, bin_]),
                *(found.msd[row], found.msd_error[row]),
            ]
            told = [float(f"{value:.6g}") if np.isfinite(value) else "" for value in numbers]
            place = float(f"{distance:.6g}") if np.isfinite(distance) else ""
            rows.append([lag, place, int(found.counts[row, bin_]), *told])
    return csv_text(header, rows)


def _two_point(part: Correlated, analysis: Analysis, look: Look) -> Axes:
    """D_rr and D_⊥ of the unit of lag, with errors, against distance; hollow without an error."""
    del look
    found = part.found
    axes = new_axes(COLUMN, 2.4)
    for row, lag in enumerate(found.lags.tolist()):
        colour = CORE if row == 0 else WIDE[(row - 1) % len(WIDE)]
        shown = (
            (found.along, found.along_error, "o", "-", "D$_{rr}$"),
            (found.across, found.across_error, "s", (0, (3, 2)), "D$_⊥$"),
        )
        for values, errors, marker, line, name in shown:
            axes.errorbar(
                found.distances, values[row] / lag, errors[row] / lag, color=colour, marker=marker,
                markersize=2.5, linewidth=0.9, linestyle=line, elinewidth=0.6,
                label=f"{name}, lag {lag}",
            )  # fmt: skip
            bare = np.isnan(errors[row])
            axes.plot(
                found.distances[bare], values[row, bare] / lag, color=colour, marker=marker,
                markersize=2.5, markerfacecolor="white", linestyle="none", zorder=4,
            )  # fmt: skip
    axes.axhline(0, color="black", linewidth=0.5)
    unit = analysis.system.unit
    square = f"{unit}²" if unit else ""
    axes.set(xlabel=with_unit("Distance", unit), ylabel=with_unit("Correlation / lag", square))
    axes.legend(
        loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=tick_size(axes),
        handlelength=1.8, borderaxespad=0.3,
    )  # fmt: skip
    return axes


def _tables(part: Correlated, analysis: Analysis, look: Look) -> dict[str, str]:
    del look
    return {"two-point.csv": two_point_csv(part, analysis)}


CORRELATED = PartOutput(
    Correlated,
    figures=(
        PartFigure(
            "two-point",
            _two_point,
            "pairs of particles are correlated where distances are asked for",
            caption="correlated displacements of pairs against their distance; "
            "hollow: too few blocks of snapshots for an error",
        ),
    ),
    files=_FILES,
    tables=_tables,
)
