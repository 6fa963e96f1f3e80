"""Restart files of Amber: one snapshot of the atoms of a topology, with its box.

As texts, they are a title, the number of atoms and maybe a time, numbers of twelve columns, six of
them a line, for coordinates and maybe for velocities, and maybe a line for the box. Where they are
NetCDF, coordinates, lengths and angles are variables.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from timme._arrays import Floats
from timme.readers.files import RawFrame, read_bytes
from timme.system.boxes import box_or_none, remark_on_cell, vectors_of_cell

_WIDTH = 12  # columns of a number
_NETCDF, _HDF5 = b"CDF", b"\x89HDF"
_SHARP, _BLUNT = 30.0, 150.0  # degrees, between which angles of boxes are


class RestartFile:
    """One snapshot of Amber.

    Parameters
    ----------
    path : Path
        The file.
    """

    n_frames = 1

    def __init__(self, path: Path) -> None:
        with path.open("rb") as stream:
            start = stream.read(4)
        if start.startswith(_HDF5):
            raise ValueError("it is NetCDF of the fourth version")
        self._frame = _read_netcdf(path) if start.startswith(_NETCDF) else _read_text(path)
        self.n_atoms = len(self._frame.positions)

    def read(self, frame: int) -> RawFrame:  # noqa: ARG002, there is but one
        """Return the snapshot.

        Parameters
        ----------
        frame : int
            The first.

        Returns
        -------
        RawFrame
            Positions, box and time.
        """
        return self._frame


def _read_text(path: Path) -> RawFrame:
    lines = read_bytes(path).decode("latin-1").split("\n")
    head = lines[1].split() if len(lines) > 1 else []
    if not head or not head[0].isdigit() or int(head[0]) < 1:
        raise ValueError("its second line is no number of atoms")
    count = int(head[0])
    rows = -(-count // 2)  # lines, two atoms in each
    rest = [line for line in lines[2 + rows :] if line.strip()]
    places = _numbers(lines[2 : 2 + rows])
    if len(places) != 3 * count:
        raise ValueError(f"{count} atoms need {3 * count} coordinates, and it has {len(places)}")
    if len(rest) not in {0, 1, rows, rows + 1}:
        raise ValueError(f"{len(rest)} lines after the coordinates are neither velocities nor box")
    last = _numbers(rest[-1:]) if len(rest) in {1, rows + 1} else np.zeros(0)
    if count <= 2 and len(rest) == 1 and not _is_cell(last):  # one line of velocities
        last = np.zeros(0)
    time = float(head[1]) if len(head) > 1 else None
    box, remark = _box(last)
    return RawFrame(places.reshape(-1, 3), box, time=time, remark=remark)


def _read_netcdf(path: Path) -> RawFrame:
    from scipy.io import netcdf_file

    with netcdf_file(path, mmap=False) as file:
        found = {name: np.array(value[()], np.float64) for name, value in file.variables.items()
                 if name in {"coordinates", "cell_lengths", "cell_angles", "time"}}  # fmt: skip
    places = found.get("coordinates", np.zeros(0))
    if places.ndim != 2 or places.shape[1:] != (3,):
        raise ValueError("it has no coordinates of one snapshot, atoms × 3")
    cell = [found.get(name, np.zeros(0)) for name in ("cell_lengths", "cell_angles")]
    time = found.get("time")
    box, remark = _box(np.concatenate(cell))
    stated = None if time is None else float(time.ravel()[0])
    return RawFrame(places, box, time=stated, remark=remark)


def _numbers(lines: list[str]) -> Floats:
    texts = [line[k : k + _WIDTH] for line in lines for k in range(0, len(line.rstrip()), _WIDTH)]
    return np.array([float(text) for text in texts])


def _is_cell(numbers: Floats) -> bool:
    return len(numbers) in {3, 6} and bool(
        (numbers[:3] > 0).all() and (numbers[3:] > _SHARP).all() and (numbers[3:] < _BLUNT).all()
    )


def _box(numbers: Floats) -> tuple[Floats | None, str]:
    """Make box vectors of lengths, and of angles where they are given, and say what was decided."""
    if len(numbers) not in {3, 6}:
        return None, ""
    lengths, angles = numbers[:3], numbers[3:] if len(numbers) > 3 else np.full(3, 90.0)
    return box_or_none(vectors_of_cell(lengths, angles)), remark_on_cell(lengths, angles)
