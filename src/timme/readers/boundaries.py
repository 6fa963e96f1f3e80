"""Boundaries: directions in which a file says that space is open, which MDAnalysis passes over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from timme._arrays import Bools, Floats
from timme.readers.dumps import dump_header
from timme.readers.files import open_binary
from timme.system.boxes import box_of, box_or_none

_SLAB = 6  # of DL_POLY, which has no walls along z
_OTHER_CELLS = {4: "a truncated octahedron", 5: "a rhombic dodecahedron", 7: "a hexagonal prism"}


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
        return _directions_of_dlpoly(path)
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


def _directions_of_dlpoly(path: Path) -> Bools:
    with open_binary(path) as stream:
        stream.readline()
        boundary = int(stream.readline().split()[1])
    if boundary in _OTHER_CELLS:
        raise ValueError(
            f"{path}: its cell is {_OTHER_CELLS[boundary]} (imcon {boundary}), which is not read: "
            "write the vectors between its images in place of its cell, and imcon 3"
        )
    return np.array([boundary != 0] * 2 + [boundary not in {0, _SLAB}])
