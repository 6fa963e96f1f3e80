"""The user's own groups and pairs, from small text files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import numpy as np

from timme._arrays import Ints
from timme.settings import OBJECTS, PAIRS

ORDERS = ("auto", "label", "sequence")  # of sites along the axis of the dilution


def read_groups(path: str, select: Callable[[str], Ints]) -> tuple[list[Ints], list[str]]:
    """Read groups of sites, one ``name = selection`` a line.

    Parameters
    ----------
    path : str
        Text file; empty lines and lines that start with # do not count.
    select : callable
        Turns a selection into sites.

    Returns
    -------
    sets : list of ndarray of int
        Sites of each group.
    names : list of str
        Its name.
    """
    sets, names = [], []
    for place, line in _lines(path, "objects", OBJECTS):
        name, equals, text = line.partition("=")
        if not equals or not name.strip() or not text.strip():
            raise ValueError(f"{place}: expected 'name = selection', got {line!r}")
        try:
            sets.append(select(text.strip()))
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from error
        names.append(name.strip())
    if len(sets) < 2:
        raise ValueError(f"{path}: at least 2 groups are needed, got {len(sets)}")
    return sets, names


def read_pairs(path: str, n_objects: int) -> Ints:
    """Read pairs of objects, two numbers from 1 a line.

    Parameters
    ----------
    path : str
        Text file, numbers separated by blanks, commas or semicolons.
    n_objects : int
        Number of objects.

    Returns
    -------
    ndarray, shape (pairs, 2)
        Numbered from 0.
    """
    pairs = []
    for place, line in _lines(path, "pairs", PAIRS):
        fields = line.replace(",", " ").replace(";", " ").split()
        try:
            first, second = (int(field) for field in fields)
        except ValueError:
            raise ValueError(f"{place}: expected two whole numbers, got {line!r}") from None
        if not (1 <= first <= n_objects and 1 <= second <= n_objects):
            raise ValueError(f"{place}: objects are 1 to {n_objects}, got {line!r}")
        if first == second:
            raise ValueError(f"{place}: an object cannot be compared with itself, got {line!r}")
        pairs.append((first - 1, second - 1))
    if not pairs:
        raise ValueError(f"{path}: no pairs, expected lines of two object numbers")
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def read_order(path: str, shown: Ints) -> list[int]:
    """Read the shown objects in the order wanted, numbers from 1.

    Parameters
    ----------
    path : str
        Text file, numbers separated by blanks, commas, semicolons or line ends.
    shown : ndarray of int
        The objects that are shown, of which each must be there once.

    Returns
    -------
    list of int
        Numbered from 0.
    """
    order: list[int] = []
    for place, line in _lines(path, "order", ORDERS):
        try:
            order += [int(field) - 1 for field in line.replace(",", " ").replace(";", " ").split()]
        except ValueError:
            raise ValueError(f"{place}: expected whole numbers, got {line!r}") from None
    if sorted(order) != sorted(shown.tolist()):
        raise ValueError(
            f"{path}: an order names each of the {len(shown)} shown objects once, by its number in "
            f"sites.csv, from {shown.min() + 1} to {shown.max() + 1}; got {len(order)} numbers"
        )
    return order


def _lines(path: str, name: str, known: Collection[str]) -> Iterator[tuple[str, str]]:
    if not Path(path).is_file():
        raise ValueError(f"{name}= is one of {', '.join(known)}, or a file; got {path!r}")
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a text file in UTF-8") from None
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield f"{path}, line {number}", line.strip()
