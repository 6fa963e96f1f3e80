"""Texts that stand for several values, as they are typed on the command line."""

from __future__ import annotations

from pathlib import Path


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
