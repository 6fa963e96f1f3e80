"""XYZ files: frames parsed from their lines, with what the titles of extended ones say."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from timme._arrays import Floats, Ints
from timme.readers.files import BYTE_ORDER_MARK, RawFrame, one_line, open_binary
from timme.readers.identity import in_order, sorted_ids
from timme.readers.layouts import CELL_NOTE
from timme.readers.numerals import load_numbers, plain_number
from timme.system.boxes import box_or_none, vectors_of_cell

# Entries of the title of an extended XYZ frame, as Lattice="5 0 0 0 5 0 0 0 5", pbc=[T, T, T] or
# pbc={{T T T}}; some programs write them as JSON, "Lattice": [[5, 0, 0], [0, 5, 0], [0, 0, 5]].
_LISTS = r"""\[\s*\[[^]]*\](?:\s*,?\s*\[[^]]*\])*\s*\]|\[[^]]*\]|\{{[^}}]*\}}"""
_ENTRY = r"""(?:(?:^|\s){0}\s*=|"{0}"\s*:)\s*(?:"([^"]*)"|'([^']*)'|(""" + _LISTS + r"""|\S+))"""
# Names of the columns that are looked for, the first that is there; underscores do not count.
_POSITIONS = ("pos", "position", "positions")
_IDS = ("id", "ids", "atomid", "atomids", "particleid", "particleids", "particleidentifier")
_LABELS = ("index", "indices", "serial", "tag", "tags")  # which may be ids, if all are others
_NAMES = ("species", "element", "symbol", "name", "type")
_IMAGES = ("periodicimage", "periodicimages", "image", "images", "imageflag", "imageflags")
_EACH_IMAGE = ("ix", "iy", "iz")
_WHOLE = (*_IDS, *_IMAGES, *_EACH_IMAGE)  # numbers, if they are what they are called

# A box as i-PI writes it: # CELL(abcABC): 35 35 35 90 90 90 Step: 0 positions{angstrom}
_CELL = re.compile(
    r"#\s*CELL\s*[(\[{](?P<form>\w+)[)\]}]\s*:?(?P<numbers>(?:\s+[-+.\deE]+)+)", re.IGNORECASE
)
_IPI_UNITS = re.compile(r"\b(cell|positions)\{(\w+)\}", re.IGNORECASE)
# What else may be meant for a box: its name and three numbers, or nothing but numbers.
_NUMBER = r"""[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?(?![\w.])"""
_THREE = rf"""{_NUMBER}(?:["'\s,;\[\](){{}}]+{_NUMBER}){{2}}"""
_UNKNOWN_BOX = re.compile(
    rf"""(?:cell|box|crystal|dimensions?)[^\w.+-]*{_THREE}"""
    rf"""|\ba\s*=\s*{_NUMBER}[\s,;]*b\s*=\s*{_NUMBER}[\s,;]*c\s*=\s*{_NUMBER}"""
    rf"""|^{_THREE}(?:\s+{_THREE})*$""",
    re.IGNORECASE,
)
_BRACKETS = "[](){} \t"
_BETWEEN = re.compile(r"[\s,;\[\](){}]+")  # numbers of a box


class _Columns(NamedTuple):
    """Where the properties of an atom stand in its row."""

    positions: tuple[int, ...]  # 2 or 3
    ids: int | None
    labels: int | None
    names: int | None
    images: tuple[int, ...]  # as many as positions, or none


def xyz_count(line: bytes) -> int:
    """Read the number of atoms with which a frame begins.

    Parameters
    ----------
    line : bytes
        Its first line, which some editors begin with a mark.

    Returns
    -------
    int
        Atoms.
    """
    return int(line.removeprefix(BYTE_ORDER_MARK))


def read_xyz(stream: BinaryIO, offset: int) -> RawFrame:
    """Read one frame of an XYZ file; the title of an extended one gives box and columns.

    Parameters
    ----------
    stream : BinaryIO
        The file.
    offset : int
        Where the frame starts.

    Returns
    -------
    RawFrame
        Positions and box vectors, with zeros in open directions, and images, ids and names of the
        atoms where the file has them.
    """
    stream.seek(offset)
    count, title = xyz_count(stream.readline()), stream.readline().decode("latin-1")
    lines = [line.decode("latin-1") for line in islice(stream, count)]
    columns = _columns(title)
    axes = len(columns.positions)
    positions = np.zeros((count, 3))
    found = load_numbers(lines, columns.positions)
    if len(found) != count:
        raise ValueError("coordinates are missing")
    positions[:, :axes] = found
    box = _xyz_box(title)
    box[axes:] = 0.0
    names = None if columns.names is None else np.array(_words(lines, columns.names))
    return RawFrame(
        positions,
        box_or_none(box),
        _images(lines, columns.images),
        ids=_ids(lines, columns),
        names=names,
    )


def counts_images(title: bytes) -> bool:
    """Tell whether a frame of an XYZ file says how often atoms went through the walls.

    Parameters
    ----------
    title : bytes
        Its second line.

    Returns
    -------
    bool
        True if it has a column for every direction.
    """
    try:
        return bool(_columns(title.decode("latin-1")).images)
    except ValueError:  # which is told when the frame is read
        return False


def note_on_title(title: bytes) -> str:
    """Say of a frame of an XYZ file that its title may tell a box, in words that nobody agreed on.

    Parameters
    ----------
    title : bytes
        Its second line.

    Returns
    -------
    str
        Empty where the title tells none, or one that is read.
    """
    text = title.decode("latin-1").strip()
    if _CELL.search(text) or _xyz_entry(text, "lattice"):
        return ""
    found = _UNKNOWN_BOX.search(text)
    if found is None:
        return ""
    return f"a title has {one_line(found[0].strip())!r}, which is {CELL_NOTE}give it (box=)"


def plain_xyz(path: Path) -> str:
    """Write the first frame of an XYZ file as programs read it that know no extended ones.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    str
        Number of atoms, an empty title, and for each atom, in the order of ids, its name and zeros.
    """
    found = _first_frame(path)
    names = ["X"] * len(found.positions) if found.names is None else found.names.tolist()
    return "\n".join([str(len(names)), "", *(f"{name} 0 0 0" for name in names), ""])


def xyz_ids(path: Path) -> Ints | None:
    """Read the ids of the atoms of an XYZ file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    ndarray of int, shape (atoms,), or None
        Sorted; None where the file gives none.
    """
    return _first_frame(path).ids


def _first_frame(path: Path) -> RawFrame:
    """Read the first frame, its atoms in the order of their ids."""
    with open_binary(path) as stream:
        first = stream.readline()
        if not first.removeprefix(BYTE_ORDER_MARK).strip().isdigit():
            raise ValueError(
                f"{path}: an XYZ file begins with the number of its atoms, got {first[:20]!r}: "
                "write it again"
            )
        try:
            found = read_xyz(stream, 0)
            ids = None if found.ids is None else sorted_ids(found.ids)
            return in_order(found, ids, None)
        except (ValueError, IndexError) as error:
            raise ValueError(
                f"{path}: frame 1 cannot be read ({one_line(error)}): write it again"
            ) from None


def _xyz_entry(title: str, name: str) -> str:
    found = re.search(_ENTRY.format(name), title, re.IGNORECASE)
    return "" if found is None else next(filter(None, found.groups()), "")


def _xyz_box(title: str) -> Floats:
    """Box vectors as rows, zero in open directions."""
    cell = _CELL.search(title)
    if cell is not None:
        return _cell_of_ipi(title, cell["form"].lower(), cell["numbers"].split())
    stated = _xyz_entry(title, "lattice")
    words = _BETWEEN.split(stated.strip(_BRACKETS)) if stated else []
    if not words:
        return np.zeros((3, 3))
    try:
        box = np.array([plain_number(word) for word in words], dtype=np.float64).reshape(3, 3)
    except ValueError:
        raise ValueError(f"its Lattice needs 9 numbers, got {stated!r}") from None
    flags = re.findall(r"[^][{}, ]+", _xyz_entry(title, "pbc"))
    if len(flags) == 1 and len(flags[0]) == 3:  # as TTF
        flags = list(flags[0])
    periodic = [flag[0].upper() in "T1" for flag in flags]
    if len(periodic) not in {0, 3}:
        raise ValueError(f"its pbc needs T or F three times, got {len(periodic)} of them")
    if periodic:
        box[~np.array(periodic)] = 0.0
    return box


def _cell_of_ipi(title: str, form: str, words: list[str]) -> Floats:
    """Box vectors from what i-PI writes: lengths and angles, or vectors as columns."""
    units = {what.lower(): unit.lower() for what, unit in _IPI_UNITS.findall(title)}
    if units.get("cell") != units.get("positions"):
        raise ValueError("its cell is not in the unit of its positions: write both in the same")
    numbers = np.array(words, dtype=np.float64)
    if form == "abcabc" and len(numbers) == 6:
        return vectors_of_cell(numbers[:3], numbers[3:])
    if form in {"h", "genh"} and len(numbers) == 9:
        return numbers.reshape(3, 3).T
    raise ValueError(f"its CELL needs 6 numbers as abcABC, or 9 as H, got {len(numbers)} as {form}")


def _columns(title: str) -> _Columns:
    """Find the columns of an atom, as in Properties=species:S:1:pos:R:3."""
    described = _xyz_entry(title, "properties")
    if not described:
        return _Columns((1, 2, 3), None, None, 0, ())
    words = described.lower().split(":")
    places, column = dict[str, range](), 0
    for named, form, count in zip(words[::3], words[1::3], words[2::3], strict=False):
        if not count.isdigit():
            raise ValueError(f"its Properties need name:type:count for each, got {described}")
        name = named.replace("_", "")
        if name in _IDS and form == "r":
            name = _LABELS[0]
        if name not in _WHOLE or form == "i":
            places.setdefault(name, range(column, column + int(count)))
        column += int(count)
    positions, ids, labels, names, images = (
        next((places[name] for name in wanted if name in places), range(0))
        for wanted in (_POSITIONS, _IDS, _LABELS, _NAMES, _IMAGES)
    )
    if len(positions) not in {2, 3}:
        raise ValueError(f"its Properties need positions, such as pos:R:3, got {described}")
    single = tuple(places[name][0] for name in _EACH_IMAGE[: len(positions)] if name in places)
    counted = tuple(images)[: len(positions)] or single
    ids_at, labels_at, names_at = (each[0] if each else None for each in (ids, labels, names))
    images_at = counted if len(counted) == len(positions) else ()
    return _Columns(tuple(positions), ids_at, labels_at, names_at, images_at)


def _ids(lines: list[str], columns: _Columns) -> Ints | None:
    """Read ids; labels are ids if they tell all atoms apart, as tags rarely do."""
    column = columns.labels if columns.ids is None else columns.ids
    if column is None:
        return None
    if columns.ids is not None:
        return np.array([int(word) for word in _words(lines, column)], dtype=np.int64)
    found = load_numbers(lines, (column,))[:, 0]
    apart = len(np.unique(found)) == len(found) and bool((found == np.rint(found)).all())
    return found.astype(np.int64) if apart else None


def _images(lines: list[str], columns: tuple[int, ...]) -> Ints | None:
    if not columns:
        return None
    images = np.zeros((len(lines), 3), np.int64)
    images[:, : len(columns)] = load_numbers(lines, columns)
    return images


def _words(lines: list[str], column: int) -> list[str]:
    return [line.split(maxsplit=column + 1)[column] for line in lines]
