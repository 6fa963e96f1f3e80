"""H5MD files, of which names, units and boxes are taken as they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from timme._arrays import Coordinates, Floats, Ints
from timme.readers.files import RawFrame
from timme.settings.texts import picoseconds
from timme.system.units import unit_in_angstrom

_ROUNDING = 1e-6  # of the shortest time between two values


class SeveralGroupsError(ValueError):
    """A file of several groups of particles, of which none is that of all."""


class H5mdFile:
    """An H5MD file, read frame by frame.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path) -> None:
        import h5py

        self._file: Any = h5py.File(path, "r")
        if "h5md" not in self._file:
            raise ValueError("it has no group h5md: of MDTraj's files, pass what mdtraj.load gives")
        self._group = self._particles()
        self._position = self._group["position"]
        values = self._position["value"]
        self.n_frames, self.n_atoms, self._n_dimensions = map(int, values.shape)
        if not self.n_frames or self._n_dimensions not in {2, 3}:
            raise ValueError(f"its positions have the shape {values.shape}")
        stated = _unit_of(values)
        scale = _in_angstrom(stated)
        # A unit that is not known, such as that of a model, is passed on as it is.
        self._scale, self.unit = (1.0, stated) if scale is None else (scale, "Å")
        self._stated = stated
        self._places = dict[str, Ints]()  # of the values of elements, for each frame
        self._remark = ""  # on its boxes
        self.has_images = "image" in self._group
        self._ids = self._ids_of(0)

    @property
    def numbers(self) -> Ints | None:
        """Ids of the particles, in the order in which they are read; None where there are none."""
        order = self._order(0)
        return self._ids if self._ids is None or order is None else self._ids[order]

    def read(self, frame: int) -> RawFrame:
        """Read one frame.

        Parameters
        ----------
        frame : int
            Which one.

        Returns
        -------
        RawFrame
            Positions and box vectors in Å where the file states a unit of length, and images;
            particles that have numbers stand in the order of these.
        """
        found = np.zeros((self.n_atoms, 3))
        found[:, : self._n_dimensions] = self._position["value"][frame]
        images: Ints | None = None
        if self.has_images:
            images = np.zeros((self.n_atoms, 3), np.int64)
            images[:, : self._n_dimensions] = self._element("image", frame)
        order = self._order(frame)
        if order is not None:
            found, images = found[order], None if images is None else images[order]
        positions: Coordinates = found * self._scale
        if self._position["value"].dtype == np.float32:
            positions = positions.astype(np.float32)
        names = self._kinds(frame) if order is None else None
        box, remark = self._box(frame), self._remark
        return RawFrame(positions, box, images, self.time(frame), names=names, remark=remark)

    def time(self, frame: int) -> float | None:
        """Find the time of a frame, where the file says in which unit it is.

        Parameters
        ----------
        frame : int
            Which one.

        Returns
        -------
        float or None
            In ps.
        """
        times = self._position.get("time")
        if times is None:
            return None
        unit = _text(times.attrs.get("unit", ""))
        if not times.shape:  # the time between frames, and that of the first
            time = float(times.attrs.get("offset", 0.0)) + frame * float(times[()])
        else:
            time = float(times[frame])
        try:
            return time * picoseconds(f"1{unit}")
        except ValueError:
            return None

    def _particles(self) -> Any:
        groups = {
            name: group
            for name, group in self._file.get("particles", {}).items()
            if "position" in group and "value" in group["position"]
        }
        for name in ("trajectory", "all", *(groups if len(groups) == 1 else ())):
            if name in groups:
                return groups[name]
        if groups:
            raise SeveralGroupsError(f"{len(groups)} groups of particles, {', '.join(groups)}")
        raise ValueError("one group of particles with positions is needed, got none")

    def _element(self, name: str, frame: int) -> Any:
        """Read what is there once, or for each frame."""
        element = self._group[name]
        if not hasattr(element, "keys"):
            return element[()]
        if name not in self._places:
            found = _match(element, self._position, name)
            missing = np.flatnonzero(found < 0)
            if len(missing):
                raise ValueError(_lacks(self._position, name, int(missing[0])))
            self._places[name] = found
        return element["value"][self._places[name][frame]]

    def _edges(self, frame: int) -> Any:
        """Read the edges of the box, None where a file that writes them now and then has none.

        Nobody knows what a box was between two that differ; but all are one where none differs.
        """
        name, element = "box/edges", self._group["box/edges"]
        if not hasattr(element, "keys"):
            return element[()]
        if name not in self._places:
            found, values = _match(element, self._position, name), element["value"][()]
            missing = np.flatnonzero(found < 0)
            if len(missing) and len(values) and (values == values[0]).all():
                n_frames, n_known = len(found), len(found) - len(missing)
                self._remark = (
                    f"its box is written for {n_known} of {n_frames} frames, never changes, and "
                    "is taken for all of them"
                )
                found = np.zeros(n_frames, np.int64)
            elif len(missing) and missing[0] == 0:  # which tells of all others that they have one
                raise ValueError(_lacks(self._position, name, 0))
            self._places[name] = found
        place = int(self._places[name][frame])
        return None if place < 0 else element["value"][place]

    def _ids_of(self, frame: int) -> Ints | None:
        if "id" not in self._group:
            return None
        return np.asarray(self._element("id", frame)).ravel().astype(np.int64)

    def _order(self, frame: int) -> Ints | None:
        """Bring particles that move in the file from frame to frame back into one order."""
        if self._ids is None or not hasattr(self._group["id"], "keys"):
            return None
        ids = self._ids_of(frame)
        assert ids is not None  # noqa: S101, as they are there in the first frame
        if len(np.unique(ids)) < len(ids) or (np.sort(ids) != np.sort(self._ids)).any():
            raise ValueError("its particles are not those of the first frame")
        return np.argsort(ids, kind="stable")

    def _kinds(self, frame: int) -> npt.NDArray[Any] | None:
        """Read the species of particles where they are written for each frame."""
        if not hasattr(self._group.get("species"), "keys"):
            return None
        return np.ravel(self._element("species", frame))

    def _box(self, frame: int) -> Floats | None:
        if "box" not in self._group:
            return None
        group, count = self._group["box"], self._n_dimensions  # an error where it is damaged
        if "edges" not in group:
            return None
        stated = self._edges(frame)
        if stated is None:
            return None
        edges = np.asarray(stated, dtype=np.float64)
        given = np.diag(edges) if edges.ndim == 1 else edges
        if given.shape != (count, count):
            raise ValueError(f"its box has edges of shape {edges.shape}")
        boundary = np.ravel(group.attrs.get("boundary", ["periodic"] * count))
        periodic = [_text(kind).lower() == "periodic" for kind in boundary]
        box = np.zeros((3, 3))
        scale = self._scale_of(group["edges"])
        box[:count, :count] = given * np.array(periodic)[:, None] * scale
        return box if box.any() else None

    def _scale_of(self, edges: Any) -> float:
        """Tell by what edges are multiplied, which may be in another unit than positions are."""
        stated = _unit_of(edges["value"]) if hasattr(edges, "keys") else ""
        stated = stated or _unit_of(edges)
        if stated in {"", self._stated}:
            return self._scale
        scale = _in_angstrom(stated)
        if scale is None or _in_angstrom(self._stated) is None:
            raise ValueError(
                f"its box is in {stated}, and its positions are in {self._stated or 'no unit'}"
            )
        return scale


def _match(element: Any, position: Any, name: str) -> Ints:
    """Find for each frame which value of an element is of its step or, without steps, of its time.

    Elements may be written at other steps than positions are, be they as many or not: -1 stands for
    frames without a value.
    """
    count, n_frames = len(element["value"]), len(position["value"])
    for mark in ("step", "time"):
        own, others = _marks(position, mark), _marks(element, mark)
        if own is None or others is None:
            continue
        if np.array_equal(own, others):
            break
        between = np.diff(np.unique(others))
        slack = _ROUNDING * between.min() if len(between) else 0.0
        order = np.argsort(others, kind="stable")
        # Times are sums of steps in some files, and products in others.
        found = np.searchsorted(others[order], own - slack)
        there = others[order[np.minimum(found, count - 1)]]
        if len(np.unique(others)) < count:
            raise ValueError(f"it has more than one {name} of the same {mark}")
        same = np.abs(there - own) <= slack
        return np.where(same, order[np.minimum(found, count - 1)], -1)
    if count != n_frames:
        raise ValueError(
            f"it has {count} values of {name} for {n_frames} frames, and no steps that tell which "
            "is of which"
        )
    return np.arange(n_frames)


def _lacks(position: Any, name: str, frame: int) -> str:
    """Say that an element has no value for a frame."""
    for mark in ("step", "time"):
        own = _marks(position, mark)
        if own is not None:
            return f"it has no {name} of {mark} {own[frame]:g}, at which it has positions"
    return f"it has no {name} of frame {frame + 1}"


def _marks(element: Any, name: str) -> Floats | None:
    """Read the steps or times of an element: each, or that between all and that of the first."""
    marks = element.get(name)
    if marks is None:
        return None
    count = len(element["value"])
    if marks.shape:
        found: Floats = np.ravel(marks[()]).astype(np.float64)
        if len(found) != count:
            raise ValueError(f"it has {len(found)} {name}s of {count} values")
        return found
    offset, between = float(marks.attrs.get("offset", 0)), float(marks[()])
    return offset + between * np.arange(count, dtype=np.float64)


def _unit_of(element: Any) -> str:
    return _text(element.attrs.get("unit", ""))


def _in_angstrom(stated: str) -> float | None:
    """Length of a unit as H5MD writes it, None where none is stated or it is not known."""
    if not stated:
        return None
    return 1e10 if stated == "m" else unit_in_angstrom(stated)


def _text(value: Any) -> str:
    return (value.decode() if isinstance(value, bytes) else str(value)).strip()
