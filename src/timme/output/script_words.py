"""Words that scripts for several viewers share: colours and places as numbers."""

from __future__ import annotations

from collections.abc import Iterable

from timme._arrays import Floats


def rgb(colour: str) -> tuple[float, ...]:
    """Take a colour apart.

    Parameters
    ----------
    colour : str
        As #rrggbb.

    Returns
    -------
    tuple of float
        Red, green and blue from 0 to 1.
    """
    return tuple(int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))


def row(numbers: Iterable[float], between: str = ", ") -> str:
    """Write a place or a colour as numbers with something between them.

    Parameters
    ----------
    numbers : iterable of float
        Coordinates, or shares of red, green and blue.
    between : str, optional
        What stands between two numbers.

    Returns
    -------
    str
        With three digits.
    """
    return between.join(f"{number:.3f}" for number in numbers)


def tcl(point: Floats) -> str:
    """Write a place as a list of Tcl.

    Parameters
    ----------
    point : ndarray, shape (3,)
        The place.

    Returns
    -------
    str
        In braces.
    """
    return "{" + row(point, " ") + "}"
