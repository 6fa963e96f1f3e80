"""LAMMPS data files: what the columns of their atoms are, which depends on the style of atoms."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

from timme.readers.files import LAMMPS_DATA, kind, open_binary

# Columns of the atoms, as MDAnalysis calls those that it uses; more of them may follow.
_COLUMNS = {
    "atomic": "id type x y z",
    "charge": "id type charge x y z",
    "molecular": "id resid type x y z",
    "full": "id resid type charge x y z",
    "sphere": "id type diameter density x y z",
    "line": "id resid type flag density x y z",
}
_SAME = {
    "angle": "molecular",
    "body": "sphere",
    "bond": "molecular",
    "bpm/sphere": "line",
    "dipole": "charge",
    "dpd": "charge",
    "ellipsoid": "sphere",
    "hybrid": "atomic",
    "spin": "atomic",
    "tri": "line",
}
_LIKELY = ("full", "molecular", "charge", "atomic", "sphere")  # where the file names no style
_FLAGS = 3  # columns that count images, which may follow


def parser_options(path: Path) -> dict[str, str]:
    """Say what MDAnalysis needs to know to parse a file.

    Parameters
    ----------
    path : Path
        The file, of any kind.

    Returns
    -------
    dict of str to str
        The columns of the atoms of a LAMMPS data file; nothing for others.
    """
    return {"atom_style": atom_columns(path)} if kind(path) in LAMMPS_DATA else {}


def atom_columns(path: Path) -> str:
    """Find what the columns of the atoms of a LAMMPS data file are.

    Parameters
    ----------
    path : Path
        The file, maybe compressed.

    Returns
    -------
    str
        Names of the columns, as MDAnalysis wants them.

    Raises
    ------
    ValueError
        If it names no style of atoms that is known, and their columns do not tell it.
    """
    with open_binary(path) as stream:
        lines = io.TextIOWrapper(stream, encoding="latin-1")
        style, rows = _atoms(lines)
    named = _COLUMNS.get(_SAME.get(style, style), "")
    if named and rows and len(rows[0]) >= len(named.split()):
        return named
    for columns in map(_COLUMNS.__getitem__, _LIKELY):
        if rows and _fits(columns.split(), rows):
            return columns
    raise ValueError(
        "the columns of its atoms are not known: name their style, as in 'Atoms # charge'"
    )


def _atoms(lines: Iterator[str]) -> tuple[str, list[list[str]]]:
    """Return the style that the title of the atoms names, and the columns of their rows."""
    style, rows, within = "", list[list[str]](), False
    for line in lines:
        text, _, remark = line.partition("#")
        words = text.split()
        if not words:
            continue
        if words[0] == "Atoms":
            within, style = True, " ".join(remark.split()[:1])
        elif words[0][0].isalpha() and within:
            break
        elif within:
            rows.append(words)
    return style, rows


def _fits(columns: list[str], rows: list[list[str]]) -> bool:
    """Tell whether rows can be of these columns: as many, whole numbers where these are needed."""
    width = len(rows[0])
    if width not in {len(columns), len(columns) + _FLAGS}:
        return False
    whole = [place for place, name in enumerate(columns) if name in {"id", "resid", "type"}]
    sort, flags = columns.index("type"), range(len(columns), width)
    return all(
        len(row) == width
        and all(row[place].isdigit() for place in whole)
        and row[sort] != "0"  # which is a charge
        and all(row[place].lstrip("+-").isdigit() for place in flags)
        for row in rows
    )
