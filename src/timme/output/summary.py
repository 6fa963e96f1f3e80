"""The answer on the console, and ``summary.txt``: the answer with all that led to it."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from timme._text import counted
from timme.analysis import tables
from timme.analysis.phrases import Fact, length
from timme.analysis.result import Analysis
from timme.hierarchy.curves import suggest

_WIDTH = 100
_ROWS, _CELL = 40, 44  # of a table in the summary; characters of a cell


def answer(result: Any, folder: str | None = None) -> str:
    """Return what the console shows: the finding, and where the rest of it is.

    Parameters
    ----------
    result : Analysis or Comparison
        With its finding.
    folder : str, optional
        Where its files are.

    Returns
    -------
    str
        At most 12 lines of at most 100 characters, but for long paths.
    """
    text: str = result.finding.text(_WIDTH)
    if folder is None:
        return text
    whole = isinstance(result, Analysis)
    one = result if whole else result.first
    more = _table_of(result) if whole else "matched.csv"
    kind, n_dimensions = one.made.kind, one.system.coordinates.shape[1]
    viewer = "; PyMOL: view.pml" * (kind == "molecule" and n_dimensions == 3)
    viewer += "; OVITO: sites.extxyz" * (whole and kind == "particles" and n_dimensions > 0)
    return f"{text}\nOpen {folder}/report.html  (more: summary.txt, {more}{viewer})"


def _table_of(analysis: Analysis) -> str:
    """Name of the table that says most."""
    if analysis.rigidity is not None:
        return "constraints.csv"
    if analysis.made.recipe == "motion":
        moves = analysis.motion is not None and bool(analysis.motion.hinges)
        return "bodies.csv" + ", angles.csv" * moves
    if len(analysis.bodies) > 1:
        return "bodies.csv"
    return "sites.csv" if analysis.made.kind == "molecule" else "clusters.csv"


def summary(result: Any, files: Iterable[tuple[str, str]] = ()) -> str:
    """Return the text of ``summary.txt``: the answer, then all that led to it.

    Parameters
    ----------
    result : Analysis or Comparison
        With its finding.
    files : iterable of (str, str), optional
        Name and content of each file beside it.

    Returns
    -------
    str
        Sections with headings; those without content are left out.
    """
    made = result.made
    settings = made.settings.model_dump(mode="json")
    chosen = [f"{name} = {settings.get(name)}" for name in made.given]
    sections: dict[str, Sequence[str]] = {"": answer(result).splitlines()}
    sections["Input"] = [source.path or source.name for source in made.sources]
    if isinstance(result, Analysis):
        n_pairs = "" if made.n_pairs is None else f" ({made.n_pairs:,} pairs)"
        compared = [f"{made.objects}: {made.pairs}{n_pairs}"] if made.objects else []
        sections["Choices"] = [*compared, *chosen]
        sections["Bodies"] = _aligned(tables.bodies(result)) if result.bodies else []
        sections["Clusters"] = _aligned(tables.clusters(result))
        sections["Levels worth a look"] = _levels(result)
        sections["Sampling"] = [f"{label:<20} {value}" for label, value in sampling(result)]
    else:
        sections["Choices"] = chosen
        for change in ("lost", "gained"):
            sections[f"Hydrogen bonds {change}"] = getattr(result.difference, change, ())
    notes = [textwrap.fill(note, _WIDTH - 2, subsequent_indent="  ") for note in result.notes]
    sections["Every note"] = "\n".join(notes).splitlines()
    sections["Files"] = [f"{name:<20} {about}" for name, about in files]
    sections["Command, version, checksums"] = [
        *filter(None, [made.command, made.version and f"TIMME {made.version}"]),
        *(f"{source.sha256}  {source.name}" for source in made.sources if source.sha256),
    ]
    written = [
        "\n".join([title, *(f"  {line}" for line in lines)]) if title else "\n".join(lines)
        for title, lines in sections.items()
        if lines
    ]
    return "\n\n".join(written) + "\n"


def _aligned(table: tables.Table) -> list[str]:
    """Rows of a table in columns of equal width, long cells cut."""
    cells = [
        [textwrap.shorten(cell, _CELL, placeholder=" …") for cell in row] for row in table.cells()
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells[: _ROWS + 1]
    ]
    return lines + [f"… {len(cells) - 1 - _ROWS} more"] * (len(cells) - 1 > _ROWS)


def _levels(analysis: Analysis) -> list[str]:
    tree, confidence = analysis.hierarchy, analysis.confidence
    size = tables.min_size(analysis)
    found = [
        f"{tree.quantity.cutoff} = {length(level.cutoff, tree.unit)}: clusters of "
        f"{', '.join(map(str, level.sizes[:8]))} (silhouette {level.silhouette:.2f})"
        for level in (() if confidence is None else confidence.silhouettes.levels)
    ]
    for cutoff, reason in suggest(tree, large=size, min_size=max(2, size)):
        found.append(f"{tree.quantity.cutoff} = {length(cutoff, tree.unit)}: {reason}")
    return found


def sampling(analysis: Analysis) -> list[Fact]:
    """Return what is known of the snapshots as a sample of the motion."""
    known = None if analysis.confidence is None else analysis.confidence.sampling
    if known is None or not known.n_snapshots:
        return []
    found = [Fact("snapshots", f"{known.n_snapshots:,} in {counted(len(known.replicas), 'run')}")]
    if known.independent:
        found.append(Fact("order", "none in time"))
    if math.isfinite(known.n_effective):
        count = f"about {known.n_effective:.2g} of the slowest motion"
        found.append(Fact("independent samples", f"{count}; 30 are enough for exact cutoffs"))
    return found
