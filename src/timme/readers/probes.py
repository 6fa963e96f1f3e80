"""Probes: what a few frames of a file tell of all, before the others are read."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from timme._arrays import Floats, Ints
from timme.readers.dlpoly import DLPOLY
from timme.readers.dumps import DUMPS
from timme.readers.files import RawFrame, kind
from timme.readers.trajectory_files import TrajectoryFile
from timme.system.boxes import fault_of
from timme.system.holes import may_lie_there
from timme.system.placeholders import remark_on_box

# Formats that are laid out in bytes; in others, particles may start all at the origin.
_BINARY = frozenset((".xtc", ".trr", ".dcd", ".nc", ".ncdf", ".h5md"))
# Formats that say in which directions space is open.
_SAYING_OPEN = frozenset((".xyz", ".gsd", ".h5md")) | DUMPS | DLPOLY


class Probe(NamedTuple):
    """What one frame of a file tells of all."""

    box: Floats | None  # (3, 3), None for one that no frame can have
    unit: str
    resting: Ints | None  # atoms that may lie at the origin
    remark: str  # what was decided on the box

    @classmethod
    def of(cls, frame: RawFrame, file: TrajectoryFile) -> Probe:
        """Look at a frame.

        Parameters
        ----------
        frame : RawFrame
            As it was read.
        file : TrajectoryFile
            That of which it is.

        Returns
        -------
        Probe
            What it tells.
        """
        suffix, remark = kind(Path(file.path)), frame.remark
        if suffix not in _SAYING_OPEN:
            remark = remark or remark_on_box(frame.box, frame.positions)
        return cls(
            None if fault_of(frame.box) else frame.box,
            file.unit,
            may_lie_there(frame.positions) if suffix in _BINARY else None,
            f"{file.path}: {remark}" if remark else "",
        )
