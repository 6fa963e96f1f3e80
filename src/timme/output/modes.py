"""Principal components in tables and figures, and the covariance in the order of bodies."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from timme.analysis import Analysis, Modes
from timme.output.axes import COLUMN, new_axes, tick_size
from timme.output.colours import body_colours
from timme.output.declared import PartFigure, PartOutput
from timme.output.look import Look
from timme.output.tables import csv_text, with_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

_FILES = {
    "modes.csv": "principal components: variance, and the share of each rigid body in them",
    "projections.csv": "every snapshot along the principal components",
    "porcupine.csv": "direction of every site in the largest component",
}
_NO_MODES = "principal components are those of timme motion"
_TOO_MANY = "the covariance is drawn by timme motion, of 1,000 sites at most"


def modes_csv(part: Modes, analysis: Analysis) -> str:
    """List components with what bodies have of them.

    Parameters
    ----------
    part : Modes
        Components.
    analysis : Analysis
        What was analysed.

    Returns
    -------
    str
        CSV, one component per row; those of internal distances in the last columns.
    """
    unit = f"{analysis.system.unit}²" if analysis.system.unit else ""
    found = part.components
    header = [
        *("mode", with_unit("variance", unit), "cumulated"),
        *(f"of body {body + 1}" for body in range(part.overlap.shape[1])),
        *(with_unit("variance of distances", unit), "cumulated of distances"),
    ]
    apart = np.cumsum(part.distances) / max(part.distance_total, np.finfo(float).tiny)
    rows = []
    for mode, (variance, share) in enumerate(
        zip(found.variances.tolist(), found.cumulated.tolist(), strict=True)
    ):
        beside = [part.distances[mode], apart[mode]] if mode < len(apart) else []
        numbers = [variance, share, *part.overlap[mode].tolist(), *beside]
        told = [float(f"{value:.6g}") for value in numbers]
        rows.append([mode + 1, *told, *([""] * (2 - len(beside)))])
    return csv_text(header, rows)


def projections_csv(part: Modes, analysis: Analysis) -> str:
    """List every snapshot along the components.

    Parameters
    ----------
    part : Modes
        Components.
    analysis : Analysis
        What was analysed.

    Returns
    -------
    str
        CSV, one snapshot per row.
    """
    found = part.components
    count = found.projections.shape[1]
    header = [
        "snapshot",
        *(with_unit(f"mode {mode + 1}", analysis.system.unit) for mode in range(count)),
    ]
    rows = [
        [int(frame) + 1, *(float(f"{value:.6g}") for value in row)]
        for frame, row in zip(found.frames.tolist(), found.projections.tolist(), strict=True)
    ]
    return csv_text(header, rows)


def porcupine_csv(part: Modes, analysis: Analysis) -> str:
    """List where the largest component takes each site.

    Parameters
    ----------
    part : Modes
        Components.
    analysis : Analysis
        What was analysed.

    Returns
    -------
    str
        CSV: mean place, and the way at one standard deviation.
    """
    system, found = analysis.system, part.components
    ways = found.modes[0] * np.sqrt(found.variances[0])
    along = "xyz"[: system.n_dimensions]
    columns = (*along, *(f"d{axis}" for axis in along))
    header = ["name", *(with_unit(name, system.unit) for name in columns)]
    rows = [
        [name, *(float(f"{value:.6g}") for value in (*place, *way))]
        for name, place, way in zip(
            system.names[system.shown].tolist(), found.mean.tolist(), ways.tolist(), strict=True
        )
    ]
    return csv_text(header, rows)


def _tables(part: Modes, analysis: Analysis, look: Look) -> dict[str, str]:
    del look
    texts = (
        modes_csv(part, analysis),
        projections_csv(part, analysis),
        porcupine_csv(part, analysis),
    )
    return dict(zip(_FILES, texts, strict=True))


def _modes(part: Modes, analysis: Analysis, look: Look) -> Axes:
    """Variance of each component, in the colours of the bodies whose rigid motion it is."""
    del analysis, look
    axes = new_axes(COLUMN, 2.2)
    shares = 100 * np.diff(part.components.cumulated, prepend=0.0)
    number = np.arange(1, len(shares) + 1)
    colours = body_colours(part.overlap.shape[1])
    low = np.zeros(len(shares))
    for body in range(part.overlap.shape[1]):
        high = shares * part.overlap[:, body]
        axes.bar(number, high, bottom=low, color=colours[body], label=f"body {body + 1}")
        low = low + high
    axes.bar(number, shares - low, bottom=low, color=colours[-1], label="within bodies")
    axes.plot(
        number, 100 * part.components.cumulated, color="black", linewidth=0.9, marker="o",
        markersize=2.5, label="cumulated",
    )  # fmt: skip
    axes.set(xlabel="Component", ylabel="Variance (%)", ylim=(0, 103), xticks=number)
    axes.legend(
        loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=tick_size(axes),
        handlelength=1.2, borderaxespad=0.3,
    )  # fmt: skip
    return axes


def _projections(part: Modes, analysis: Analysis, look: Look) -> Axes:
    """Snapshots along the two largest components, coloured by their order."""
    del look
    axes = new_axes(COLUMN, 2.6)
    along = part.components.projections
    other = along[:, 1] if along.shape[1] > 1 else np.zeros(len(along))
    dots = axes.scatter(along[:, 0], other, c=part.components.frames + 1, s=6, cmap="viridis")
    _scale(axes, dots, "Snapshot")
    unit = analysis.system.unit
    axes.set(xlabel=with_unit("Component 1", unit), ylabel=with_unit("Component 2", unit))
    return axes


def _covariance(part: Modes, analysis: Analysis, look: Look) -> Axes:
    """Correlation of displacements, body after body; sites of none come last."""
    del analysis, look
    if part.covariance is None:
        raise ValueError(_TOO_MANY)
    blocks = part.covariance
    axes = new_axes(COLUMN, 2.9)
    image = axes.imshow(
        blocks.correlation, cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest", origin="lower"
    )
    _scale(axes, image, "Correlation of displacements")
    edges = [*blocks.bounds.tolist(), len(blocks.order)]
    words = [*(f"body {number}" for number in range(1, len(blocks.bounds))), "none"]
    for edge in edges[1:-1]:
        axes.axhline(edge - 0.5, color="black", linewidth=0.5)
        axes.axvline(edge - 0.5, color="black", linewidth=0.5)
    named = [
        (0.5 * (low + high - 1), word)
        for (low, high), word in zip(pairwise(edges), words, strict=True)
        if high - low > 0.05 * len(blocks.order)  # names of thinner ones would overlap
    ]
    places, told = [place for place, _ in named], [word for _, word in named]
    axes.set_xticks(places, told)
    axes.set_yticks(places, told, rotation=90, va="center")
    axes.tick_params(length=0)
    return axes


def _scale(axes: Axes, drawn: ScalarMappable, label: str) -> None:
    """Say beside the axes what colours mean."""
    bar = axes.figure.colorbar(drawn, ax=axes)
    bar.ax.tick_params(labelsize=tick_size(axes), width=0.6, length=2.5)
    bar.set_label(label, fontsize=tick_size(axes))


def _has_covariance(analysis: Analysis) -> bool:
    part = analysis.part(Modes)
    return part is not None and part.covariance is not None


MODES = PartOutput(
    Modes,
    figures=(
        PartFigure(
            "modes",
            _modes,
            _NO_MODES,
            caption="variance of principal components, and which bodies move in them",
            first=False,
        ),
        PartFigure(
            "projections",
            _projections,
            _NO_MODES,
            caption="snapshots along the two largest principal components",
            first=False,
        ),
        PartFigure(
            "covariance",
            _covariance,
            _TOO_MANY,
            caption="correlation of displacements, body after body",
            first=False,
            suits=_has_covariance,
        ),
    ),
    files=_FILES,
    tables=_tables,
)
