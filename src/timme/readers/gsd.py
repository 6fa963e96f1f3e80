"""GSD files of HOOMD-blue, whose boxes and images are read as they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from timme.readers.files import RawFrame

# What is not written has its value of the first frame, or these.
_DEFAULTS: dict[str, npt.ArrayLike] = {
    "configuration/box": (1.0, 1.0, 1.0, 0.0, 0.0, 0.0),
    "configuration/dimensions": (3,),
    "particles/types": ((ord("A"), 0),),
}
_MOST = 10_000_000  # particles whose places may be left out as all are 0


class GsdFile:
    """A GSD file, read frame by frame.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path) -> None:
        import gsd.fl

        self._file: Any = gsd.fl.open(str(path), "r")
        if self._file.schema != "hoomd":
            raise ValueError(f"its schema is {self._file.schema!r}, and not hoomd")
        self.n_frames = int(self._file.nframes)
        if not self.n_frames:
            raise ValueError("it holds no frame")
        self.n_atoms = self._count(0)
        if self.n_atoms < 1:
            raise ValueError("it holds no particles")
        # In any frame: one in which all are as in the first, or 0, holds none.
        self.has_images = bool(self._file.find_matching_chunk_names("particles/image"))

    def read(self, frame: int) -> RawFrame:
        """Read one frame.

        Parameters
        ----------
        frame : int
            Which one.

        Returns
        -------
        RawFrame
            Positions, box vectors as rows (zeros where motion is in a plane) and images.
        """
        n_atoms = self._count(frame)
        if n_atoms != self.n_atoms:
            raise ValueError(f"it has {n_atoms} particles, and the first frame {self.n_atoms}")
        positions = self._vectors(frame, "particles/position", np.float32)
        images = self._vectors(frame, "particles/image", np.int32) if self.has_images else None
        return RawFrame(positions, self.box(frame), images)

    def box(self, frame: int) -> npt.NDArray[np.float64] | None:
        """Read the box of one frame, whose tilts other readers take for angles.

        Parameters
        ----------
        frame : int
            Which one.

        Returns
        -------
        ndarray, shape (3, 3), or None
            Box vectors as rows, zeros where motion is in a plane; None where there is no box.
        """
        lengths = np.array(self._chunk(frame, "configuration/box"), np.float64)
        if lengths.shape != (6,):
            raise ValueError(f"its box has {lengths.size} numbers, and 6 are needed")
        x, y, z, xy, xz, yz = lengths
        box = np.array([[x, 0.0, 0.0], [xy * y, y, 0.0], [xz * z, yz * z, z]])
        if int(self._chunk(frame, "configuration/dimensions")[0]) == 2:
            box[2] = 0.0
        return box if box.any() else None

    def types(self) -> npt.NDArray[np.str_]:
        """Read what kinds of particles there are in the first frame.

        Returns
        -------
        ndarray of str, shape (atoms,)
            By which particles of other files are told to be others.
        """
        letters = np.array(self._chunk(0, "particles/types"), np.int8)
        names = np.array([bytes(row).rstrip(b"\0").decode("utf-8", "replace") for row in letters])
        kinds = self._chunk(0, "particles/typeid", np.zeros(self.n_atoms, np.int64))
        if kinds.shape != (self.n_atoms,) or kinds.max() >= len(names):
            raise ValueError("it does not say of all particles of which type they are")
        found: npt.NDArray[np.str_] = names[kinds.astype(np.int64)]
        return found

    def _count(self, frame: int) -> int:
        return int(self._chunk(frame, "particles/N", (0,))[0])

    def _vectors(self, frame: int, name: str, kind: npt.DTypeLike) -> Any:
        """Read a vector of each particle, zeros where none is written."""
        found = self._chunk(frame, name, ())
        if found.shape == (self.n_atoms, 3):
            return found
        if found.size or self.n_atoms > _MOST:
            raise ValueError(f"it has no {name} of {self.n_atoms} particles")
        return np.zeros((self.n_atoms, 3), kind)

    def _chunk(self, frame: int, name: str, otherwise: npt.ArrayLike | None = None) -> Any:
        for place in (frame, 0):
            if self._file.chunk_exists(place, name):
                try:
                    return np.atleast_1d(self._file.read_chunk(place, name))
                except MemoryError:
                    raise ValueError(f"it announces more {name} than memory holds") from None
        return np.asarray(_DEFAULTS[name] if otherwise is None else otherwise)
