"""Numerals: numbers as programs write them, those of Fortran in double precision included."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from timme._arrays import Floats

_EXPONENT = re.compile(r"(?<=[0-9.])[dD](?=[-+]?[0-9])")  # as in 1.5D+00


def plain_number(text: str) -> str:
    """Write a number of Fortran as all others do.

    Parameters
    ----------
    text : str
        One number, or a line of them.

    Returns
    -------
    str
        With an e before its exponent.

    Examples
    --------
    >>> plain_number("1.5D+00"), plain_number("CD2 1.0d-3")
    ('1.5e+00', 'CD2 1.0e-3')
    """
    return _EXPONENT.sub("e", text)


def load_numbers(
    lines: Sequence[str], columns: Sequence[int], separator: str | None = None
) -> Floats:
    """Read columns of numbers.

    Parameters
    ----------
    lines : sequence of str
        Rows.
    columns : sequence of int
        Which columns.
    separator : str, optional
        What stands between them, blanks by default.

    Returns
    -------
    ndarray, shape (rows, columns)
        Their numbers.
    """
    try:
        return _load(lines, columns, separator)
    except ValueError:
        if not any(_EXPONENT.search(line) for line in lines):
            raise
    return _load([plain_number(line) for line in lines], columns, separator)


def _load(lines: Sequence[str], columns: Sequence[int], separator: str | None) -> Floats:
    found: Floats = np.loadtxt(lines, delimiter=separator, usecols=columns, ndmin=2, comments=None)
    return found
