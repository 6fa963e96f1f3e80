"""What can be compared, from a path: a result, or a plain table of clusters."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from timme import store
from timme._arrays import frozen
from timme.analysis import Analysis, Recipe, System
from timme.hierarchy.quantity import Quantity
from timme.hierarchy.tree import grow
from timme.readers.files import read_bytes
from timme.system.atoms import Atoms

LEVEL = 0.0  # at which the clusters of a table are there
_TABLE = "table of clusters"  # what was read, in place of what was compared

_NUMBER = re.compile(r"(-?\d+)([A-Za-z]?)")


def load_result(path: str | Path) -> Analysis:
    """Load a result from its folder, its file, or a table of clusters.

    Parameters
    ----------
    path : path
        Folder of a run, a ``.npz`` file, or a table (``.csv``, ``.tsv``, ``.txt``).

    Returns
    -------
    Analysis
        What was analysed.
    """
    source = Path(path)
    if source.suffix.lower() in {".csv", ".tsv", ".txt"}:
        return read_partition(source)
    return store.load(source)


def is_table(analysis: Analysis) -> bool:
    """Tell whether a result was read from a table of clusters.

    Parameters
    ----------
    analysis : Analysis
        What was loaded.

    Returns
    -------
    bool
        True if it has one level, :data:`LEVEL`, and nothing was computed.
    """
    return analysis.recipe.kind == _TABLE


def read_partition(path: str | Path) -> Analysis:
    """Read a table of clusters, one site a row.

    Parameters
    ----------
    path : path
        A table with the columns ``number`` (of the residue) and ``cluster``, and if they are there
        ``chain``, ``residue`` and ``name`` (of the atom), as in the ``sites.csv`` of a run. Of
        several columns of clusters the first is taken, with a note. Rows with cluster 0, or none,
        are in no cluster and left out.

    Returns
    -------
    Analysis
        A hierarchy of one level, without coordinates.
    """
    source = Path(path)
    text = read_bytes(source).decode("utf-8-sig", errors="replace")
    delimiter = max(",;\t", key=text.split("\n", 1)[0].count)
    table = csv.DictReader(io.StringIO(text), delimiter=delimiter)
    columns = {str(name).strip().lower(): str(name) for name in table.fieldnames or ()}
    known = [name for name in columns if name.startswith("cluster")]
    if not known or "number" not in columns:
        raise ValueError(
            f"{source}: a table of clusters has the columns number and cluster, "
            f"got {', '.join(columns) or 'none'}: give such a table, or the folder of a run"
        )
    cluster = known[0]
    found = list[tuple[str, str, str, int, str, str]]()  # cluster, chain, residue, number, …
    for row in _told_of(source, table):
        value = {name: (row[column] or "").strip() for name, column in columns.items()}
        if value[cluster] in {"", "0"}:
            continue
        number = _NUMBER.fullmatch(value["number"])
        if number is None:
            raise ValueError(
                f"{source}: line {table.line_num}: expected a residue number such as 52 or 52A, "
                f"got {value['number']!r}"
            )
        chain, residue = value.get("chain", ""), value.get("residue", "")
        name = value.get("name", "").rpartition("/")[2]
        found.append((value[cluster], chain, residue, int(number[1]), number[2], name))
    if not found:
        raise ValueError(f"{source}: no site is in a cluster: check the column {cluster!r}")
    at = cluster.partition(" at ")[2]
    made = _analysis(source, found, columns[cluster].strip()[-len(at) :] if at else "")
    note = (
        f"{source}: of {len(known)} columns of clusters, {columns[cluster].strip()!r} was taken: "
        "to compare another, remove those before it"
    )
    return replace(made, notes=(*made.notes, note)) if len(known) > 1 else made


def _told_of(source: Path, table: csv.DictReader[str]) -> Iterator[dict[str, str]]:
    """Rows of a table; what cannot be read is told with the file and the line."""
    try:
        yield from table
    except csv.Error as error:
        raise ValueError(f"{source}: line {table.reader.line_num}: {error}") from None


def _analysis(
    source: Path, found: list[tuple[str, str, str, int, str, str]], cutoff: str
) -> Analysis:
    """Make one level of clusters; the cutoff at which they were cut is text of the table."""
    labels, chains, residues, numbers, codes, names = (
        np.array(column) for column in zip(*found, strict=True)
    )
    count = len(labels)
    nothing = Atoms.unnamed(count)
    atoms = Atoms(
        names=frozen(names),
        elements=nothing.elements,
        resnames=frozen(residues),
        resids=frozen(numbers),
        icodes=frozen(codes),
        chains=frozen(chains),
        masses=nothing.masses,
        bonds=nothing.bonds,
    )
    ranked = np.argsort(labels, kind="stable")
    inside = labels[ranked[1:]] == labels[ranked[:-1]]
    edges = np.column_stack([ranked[:-1], ranked[1:]])[inside]
    return Analysis(
        system=System.unplaced(atoms),
        hierarchy=grow(count, edges, np.full(len(edges), LEVEL), quantity=Quantity("level")),
        recipe=Recipe(kind=_TABLE, cut_at=cutoff),
        notes=(f"{source}: clusters of {count:,} sites at one level",),
    )
