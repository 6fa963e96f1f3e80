"""Texts that stand for several values, as they are typed on the command line."""

from __future__ import annotations

import math
import re
from pathlib import Path

_PICOSECONDS = {"fs": 1e-3, "ps": 1.0, "ns": 1e3, "us": 1e6, "µs": 1e6, "ms": 1e9, "s": 1e12}


def parse_frame_or_time(text: str) -> int | str:
    """Understand which frame is meant.

    Parameters
    ----------
    text : str
        A whole number, or a time.

    Returns
    -------
    int or str
        The number, or the time as it was written.

    Examples
    --------
    >>> parse_frame_or_time("100"), parse_frame_or_time(" 10ns ")
    (100, '10ns')
    """
    try:
        return int(text)
    except ValueError:
        picoseconds(text)
        return text.strip()


def picoseconds(text: str) -> float:
    """Read a time.

    Parameters
    ----------
    text : str
        A number and its unit: fs, ps, ns, us (or µs), ms or s.

    Returns
    -------
    float
        The time in ps.

    Examples
    --------
    >>> picoseconds("10ns"), picoseconds("2.5 fs")
    (10000.0, 0.0025)
    """
    found = re.fullmatch(r"([-+.0-9eE]*[.0-9])\s*([a-zµμ]+)", text.strip())
    unit = _PICOSECONDS.get(found[2].replace("μ", "µ")) if found else None
    if found is None or unit is None:
        raise ValueError(f"not a time: {text!r}")
    time = float(found[1]) * unit
    if not math.isfinite(time):
        raise ValueError(f"not a time: {text!r}")
    return time


def parse_numbers(text: str) -> list[float]:
    """Take numbers apart.

    Parameters
    ----------
    text : str
        Numbers with commas between them.

    Returns
    -------
    list of float
        In their order.

    Examples
    --------
    >>> parse_numbers("20,20,30.5")
    [20.0, 20.0, 30.5]
    """
    return [float(part) for part in text.split(",")]


def parse_errors(text: str) -> tuple[float, ...]:
    """Take errors along axes apart.

    Parameters
    ----------
    text : str
        One for all, or one for each with commas between them.

    Returns
    -------
    tuple of float
        In their order.

    Examples
    --------
    >>> parse_errors("0.03,0.03,0.06")
    (0.03, 0.03, 0.06)
    """
    return tuple(parse_numbers(text))


def parse_counts(text: str) -> list[int]:
    """Take whole numbers apart.

    Parameters
    ----------
    text : str
        Numbers with commas between them.

    Returns
    -------
    list of int
        In their order.

    Examples
    --------
    >>> parse_counts("500,500,250")
    [500, 500, 250]
    """
    return [int(part) for part in text.split(",")]


def parse_names(text: str) -> list[str]:
    """Take names apart.

    Parameters
    ----------
    text : str
        Names with commas between them.

    Returns
    -------
    list of str
        In their order, as they were written.

    Examples
    --------
    >>> parse_names("frame,particle,x,y")
    ['frame', 'particle', 'x', 'y']
    """
    return text.split(",")


def parse_chains(text: str) -> dict[str, str]:
    """Take names of chains apart that stand for others.

    Parameters
    ----------
    text : str
        Such as ``A=B,C=D``.

    Returns
    -------
    dict of str
        What each chain is called elsewhere.

    Examples
    --------
    >>> parse_chains("A=B, C=D")
    {'A': 'B', 'C': 'D'}
    """
    pairs = [[name.strip() for name in part.split("=")] for part in text.split(",")]
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"chains= takes chains such as A=B,C=D, got {text!r}")
    if len({pair[0] for pair in pairs}) < len(pairs):
        raise ValueError(f"chains= takes each chain once, such as A=B,C=D, got {text!r}")
    return dict(pairs)


def parse_two_numbers(text: str) -> list[float]:
    """Take two numbers apart.

    Parameters
    ----------
    text : str
        Such as ``-0.5,0.06``.

    Returns
    -------
    list of float
        Two of them.
    """
    first, second = parse_numbers(text)
    return [first, second]


def read_weights(path: str) -> list[float]:
    """Read weights from a text file.

    Parameters
    ----------
    path : str
        A file in which blanks or line ends separate them.

    Returns
    -------
    list of float
        One for each snapshot.
    """
    try:
        return [float(word) for word in Path(path).read_text(encoding="utf-8-sig").split()]
    except ValueError:  # of text that is none as well
        raise ValueError(f"{path}: expected one number per snapshot") from None
