"""Text tables: rows of fields between separators, under a line of names or without one."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from pathlib import Path

from timme.readers.files import read_bytes
from timme.readers.numerals import plain_number

MISSING = frozenset(("", "nan", "na", "n/a", "#n/a", "null", "none", "-"))
_SIGNS = (";", "\t", ",")  # a comma last, as it may be a decimal sign where others separate
_LOOKED_AT = 20  # rows by which the separator is known
_BEGINNING = 400  # bytes by which an encoding is known
# Marks at the start of a text; that of four bytes begins like one of two.
_MARKS = {
    b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16",
}  # fmt: skip
# Which of four bytes are zero in ordinary letters.
_ZEROS = {
    (False, True, True, True): "utf-32-le", (True, True, True, False): "utf-32-be",
    (False, True, False, True): "utf-16-le", (True, False, True, False): "utf-16-be",
}  # fmt: skip
_QUOTES = "\"'"


@dataclass(frozen=True, slots=True)
class TextTable:
    """Lines of a table."""

    source: str  # what it is called in messages
    rows: list[str]  # without blank lines and comments; the first may hold names
    separator: str | None  # None stands for blanks
    remark: str = ""  # the last comment before the first row, where programs write the names
    n_comments: int = 0  # lines after the first row that were left out
    n_titles: int = 0  # lines before the names that were left out
    unfinished: bool = False  # whether the last line has no end

    def fields(self, line: str) -> list[str]:
        """Take a line apart.

        Parameters
        ----------
        line : str
            A row of the table, or a comment like one.

        Returns
        -------
        list of str
            Its fields, without blanks and double quotes around them.
        """
        if self.separator is None and '"' not in line:
            found = line.split()
        elif self.separator is None:
            stream = io.StringIO(line.strip().replace("\t", " "))
            found = next(csv.reader(stream, delimiter=" ", skipinitialspace=True))
        elif '"' not in line:
            found = line.split(self.separator)
        else:
            stream = io.StringIO(line)
            found = next(csv.reader(stream, delimiter=self.separator, skipinitialspace=True))
        return [field.strip() for field in found]

    def names(self, line: str) -> list[str]:
        """Take a line of names apart.

        Parameters
        ----------
        line : str
            A header, or a comment like one.

        Returns
        -------
        list of str
            Names, without any quotes around them.
        """
        return [field.strip(_QUOTES).strip() for field in self.fields(line)]

    def below(self, count: int) -> TextTable:
        """Leave out the first lines, which are titles and tell nothing of the separator.

        Parameters
        ----------
        count : int
            How many.

        Returns
        -------
        TextTable
            The others, with the separator that they have.
        """
        rows = self.rows[count:]
        return replace(
            self, rows=rows, separator=_find_separator(rows[:_LOOKED_AT]), n_titles=count
        )

    def without_first(self, count: int) -> TextTable:
        """Leave out the first rows, which hold names.

        Parameters
        ----------
        count : int
            How many.

        Returns
        -------
        TextTable
            The others.
        """
        return replace(self, rows=self.rows[count:])


def read_text_table(path: Path) -> TextTable:
    """Read the lines of a table.

    Parameters
    ----------
    path : Path
        File with columns separated by commas, tabs, semicolons or blanks.

    Returns
    -------
    TextTable
        Its rows; blank lines and those that begin with # are left out. Where all rows below the
        names begin so, # is part of the names of particles.
    """
    rows, comments, remark = list[str](), list[str](), ""
    text = _decode(read_bytes(path))
    for line in text.split("\n"):
        if line.lstrip().startswith("#"):
            remark = remark if rows else line.lstrip().lstrip("#")
            comments += [line] * bool(rows)
        elif line.strip():
            rows.append(line)
    if len(rows) == 1 and _are_like(rows[0], comments):
        rows, comments = rows + comments, []
    if not rows:
        raise ValueError(f"{path}: the table has no rows: rows of tracked particles are needed")
    separator = _find_separator(rows[:_LOOKED_AT])
    return TextTable(
        str(path), rows, separator, remark, len(comments), unfinished=not text.endswith("\n")
    )


def is_number(field: str) -> bool:
    """Tell whether a field holds a number, with a decimal point or a decimal comma.

    Parameters
    ----------
    field : str
        What stands between two separators.

    Returns
    -------
    bool
        True for what can be a coordinate or the number of a frame, NaN among them.

    Examples
    --------
    >>> is_number("1,5"), is_number("x"), is_number("")
    (True, False, False)
    """
    try:
        float(plain_number(field).replace(",", "."))
    except ValueError:
        return False
    return True


def refuse_uneven(table: TextTable, width: int) -> None:
    """Refuse rows in which fields cannot be told to stand under their names.

    Parameters
    ----------
    table : TextTable
        Rows without names.
    width : int
        Number of fields that a row has. A field that is missing moves the others, so that all must
        be there; more separators at the end of a row move none.
    """
    for number, line in enumerate(table.rows, start=1):
        found = len(table.fields(line)) if '"' in line else len(line.split(table.separator))
        uneven = found != width
        if found > width and table.separator is not None:
            uneven = any(table.fields(line)[width:])
        if uneven:
            raise ValueError(
                f"{table.source}: row {number}: {width} columns are needed, "
                f"got {len(table.fields(line))}: repair or remove it"
            )


def _find_separator(rows: list[str]) -> str | None:
    """Find the sign that stands equally often in all rows, or most often in the first."""
    for sign in _SIGNS:
        counts = {_count(line, sign) for line in rows}
        if len(counts) == 1 and counts != {0}:
            return sign
    first = {sign: _count(rows[0], sign) for sign in _SIGNS}
    best = max(first, key=lambda sign: first[sign])
    return best if first[best] else None


def _are_like(names: str, lines: list[str]) -> bool:
    """Tell whether lines have as many fields as there are names."""
    table = TextTable("", [names], _find_separator([names, *lines[:_LOOKED_AT]]))
    width = len(table.fields(names))
    return width > 1 and all(len(table.fields(line)) == width for line in lines)


def _count(line: str, sign: str) -> int:
    if '"' not in line:
        return line.count(sign)
    return len(next(csv.reader(io.StringIO(line), delimiter=sign, skipinitialspace=True))) - 1


def _decode(data: bytes) -> str:
    for marks, encoding in _MARKS.items():
        if data.startswith(marks):
            return data.decode(encoding, "replace").replace("\r", "\n")
    every = [data[place:_BEGINNING:4] for place in range(4)]
    zeros = tuple(2 * letters.count(0) > len(letters) for letters in every)
    if zeros in _ZEROS:  # some write it without a mark
        return data.decode(_ZEROS[zeros], "replace").replace("\r", "\n")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")
