"""Boundaries: boxes and open directions as files have them, which MDAnalysis passes over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from timme._arrays import Bools, Floats
from timme.readers.dlpoly import periodic_of_dlpoly, read_cell
from timme.readers.dumps import dump_header
from timme.readers.files import open_binary
from timme.readers.gsd import GsdFile
from timme.system.boxes import box_of, box_or_none, remark_on_cell
from timme.system.placeholders import plane_box, remark_on_box

_DLPOLY = frozenset(("HISTORY", "CONFIG"))
_SAYING_OPEN = frozenset(("GSD", "H5MD", "LAMMPSDUMP", "XYZ")) | _DLPOLY  # in which directions
_UNITLESS = frozenset(("DATA", "GSD", "LAMMPSDUMP", "XYZ"))  # formats that state no unit of length


def periodic_directions(path: Path, format_: str) -> Bools:
    """Tell in which directions the space of a file repeats.

    Parameters
    ----------
    path : Path
        The file.
    format_ : str
        As MDAnalysis names it.

    Returns
    -------
    ndarray of bool, shape (3,)
        As its first frame says, for LAMMPS dumps and files of DL_POLY; all for other formats, whose
        boxes tell it.

    Raises
    ------
    ValueError
        For cells that are no parallelepipeds.
    """
    if format_ == "LAMMPSDUMP":
        with open_binary(path) as stream:
            header = dump_header(stream)
        return np.ones(3, dtype=np.bool_) if header is None else header.periodic
    if format_ in {"HISTORY", "CONFIG"}:
        return periodic_of_dlpoly(path)
    return np.ones(3, dtype=np.bool_)


def directions_of_reader(reader: Any) -> Bools:
    """Tell in which directions the space of an MDAnalysis trajectory repeats.

    Parameters
    ----------
    reader : MDAnalysis reader
        Of one file or several.

    Returns
    -------
    ndarray of bool, shape (3,)
        What all its files say.
    """
    found = [
        periodic_directions(Path(str(each.filename)), str(each.format))
        for each in getattr(reader, "readers", None) or (reader,)
        if Path(str(getattr(each, "filename", ""))).is_file()
    ]
    if any((each != found[0]).any() for each in found):
        raise ValueError(
            "the files of the Universe are periodic in different directions: read them one by one"
        )
    return found[0] if found else np.ones(3, dtype=np.bool_)


def box_within(step: Any, periodic: Bools) -> Floats | None:
    """Take the box of an MDAnalysis time step, without lengths in open directions.

    Parameters
    ----------
    step : Timestep
        One frame.
    periodic : ndarray of bool, shape (3,)
        Directions in which space repeats.

    Returns
    -------
    ndarray, shape (3, 3), or None
        Box vectors as rows, None where space is open.
    """
    box = box_of(step)
    return box if box is None or periodic.all() else box_or_none(box * periodic[:, None])


def remark_on_step(reader: Any, step: Any, box: Floats | None) -> str:
    """Say what was decided on the box of an MDAnalysis time step.

    Parameters
    ----------
    reader : MDAnalysis reader
        Of one file or several.
    step : Timestep
        One of its frames.
    box : ndarray, shape (3, 3), or None
        Box vectors that were made of it.

    Returns
    -------
    str
        A clause on its source, "" where nothing is in doubt.
    """
    if formats_of(reader) & _SAYING_OPEN:
        return ""
    given = np.zeros(6) if step.dimensions is None else np.asarray(step.dimensions, np.float64)
    return remark_on_cell(given[:3], given[3:]) or remark_on_box(box, step.positions)


def formats_of(reader: Any) -> set[str]:
    """List the formats of the files of a trajectory, as MDAnalysis names them.

    Parameters
    ----------
    reader : MDAnalysis reader
        Of one file or several.

    Returns
    -------
    set of str
        Such as ``XTC``.
    """
    found = set[str]()
    for each in getattr(reader, "readers", None) or (reader,):
        named = getattr(each, "format", "")
        found.update({named} if isinstance(named, str) else set(named))
    return found


def unit_of_reader(reader: Any) -> str:
    """Tell in which unit the lengths of an MDAnalysis trajectory are.

    Parameters
    ----------
    reader : object
        Of one file or several.

    Returns
    -------
    str
        ``Å``, into which the library converts them, or "" where the format states no unit.
    """
    return "" if formats_of(reader) & _UNITLESS else "Å"


def box_finder(reader: Any) -> Callable[[Any], Floats | None]:
    """Choose how the box of a time step is found.

    MDAnalysis takes the tilts of a GSD box for angles, and turns the cells of DL_POLY without what
    is in them, so that these are read from the file itself.

    Parameters
    ----------
    reader : MDAnalysis reader
        Of one file or several.

    Returns
    -------
    callable
        Returns the box vectors of a time step as rows, or None.
    """
    formats, periodic = formats_of(reader), directions_of_reader(reader)
    if formats <= _DLPOLY and _is_as_written(reader):
        offsets = getattr(reader, "_offsets", [0])
        return lambda step: read_cell(Path(reader.filename), offsets[step.frame])
    if "GSD" not in formats:
        unit = unit_of_reader(reader)
        return lambda step: plane_box(box_within(step, periodic), step.positions, unit)
    if not _is_as_written(reader):
        raise ValueError(
            "the boxes of a GSD file are not those of its Universe, and this one is changed on the "
            "way or made of several files: give the files themselves to timme.read"
        )
    file = GsdFile(Path(reader.filename))
    return lambda step: file.box(step.frame)


def _is_as_written(reader: Any) -> bool:
    """Tell whether a reader gives the frames of one file as they are."""
    return not reader.transformations and not hasattr(reader, "readers")
