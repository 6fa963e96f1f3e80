"""All kinds of parts that are drawn, listed and shown: what a new one needs is its place here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from timme.analysis import Analysis, Part
from timme.output import (
    chance,
    confidence,
    correlated,
    modes,
    motion,
    pairs,
    rigidity,
    scene_motion,
    timed,
)
from timme.output.declared import PartFigure, PartOutput, collect
from timme.output.look import Look

OUTPUTS: tuple[PartOutput[Any], ...] = (
    scene_motion.SHOWN,
    pairs.MEASURED,
    pairs.APART,
    rigidity.CONSTRAINTS,
    confidence.JUDGED,
    timed.TIMED,
    chance.CHANCE,
    motion.MOVED,
    modes.MODES,
    correlated.CORRELATED,
)


def known_figures() -> dict[str, PartFigure[Any]]:
    """List the figures that parts may have.

    Returns
    -------
    dict of PartFigure
        By name.
    """
    return collect((figure.name, figure) for output in OUTPUTS for figure in output.figures)


def known_tables() -> dict[str, str]:
    """List the tables that parts may have.

    Returns
    -------
    dict of str
        What each lists, by the name of its file.
    """
    return collect(table for output in OUTPUTS for table in output.files.items())


def known_panels() -> tuple[str, ...]:
    """List the entries of the scene that parts may have.

    Returns
    -------
    tuple of str
        Their names.
    """
    return tuple(collect(panel for output in OUTPUTS for panel in output.panels.items()))


def figures_of_parts(analysis: Analysis) -> dict[str, tuple[PartFigure[Any], Part]]:
    """Find the figures that the parts of an analysis have.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.

    Returns
    -------
    dict
        By name: the figure, and the part of which it is drawn.
    """
    return {
        figure.name: (figure, part)
        for output, part in _there(analysis)
        for figure in output.figures
        if figure.suits(analysis)
    }


def tables_of_parts(analysis: Analysis, look: Look) -> dict[str, str]:
    """Write the tables of the parts of an analysis.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    look : Look
        The cutoff of the pictures.

    Returns
    -------
    dict
        Text of each file by its name, which is one of :func:`known_tables`.
    """
    made: dict[str, str] = {}
    for output, part in _there(analysis):
        made |= output.tables(part, analysis, look)
    return made


def panels_of_parts(analysis: Analysis) -> dict[str, Any]:
    """Gather what the page shows of the parts of an analysis.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.

    Returns
    -------
    dict
        Entries of the scene; None for those of parts that the analysis has not.
    """
    made: dict[str, Any] = dict.fromkeys(known_panels())
    for output, part in _there(analysis):
        made |= {name: show(part, analysis) for name, show in output.panels.items()}
    return made


def _there(analysis: Analysis) -> Iterator[tuple[PartOutput[Any], Part]]:
    for output in OUTPUTS:
        part = analysis.part(output.kind)
        if part is not None:
            yield output, part
