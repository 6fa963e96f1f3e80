"""Orders: which of the atoms of a topology those of a trajectory with ids are.

Ids are the better word where the topology has the same numbers. Where it has others, its atoms may
stand in the order of ids, or in that of the first frame, from which it may have been written. Which
of these it is, its coordinates tell, if they are those of a snapshot near the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from timme._arrays import Bools, Coordinates, Ints
from timme.readers.files import RawFrame
from timme.readers.identity import in_order
from timme.readers.trajectory_files import TrajectoryFile, describe_file, open_file
from timme.readers.universes import quiet
from timme.system.space import Boxes

_NEAR = 0.2  # times the distance of all other orders: that of one that the coordinates tell


def order_by_topology(
    files: Sequence[TrajectoryFile], serials: Ints | None, topology: str
) -> tuple[list[TrajectoryFile], str]:
    """Bring atoms with ids into the order of those of a topology that is known to have no ids.

    Parameters
    ----------
    files : sequence of TrajectoryFile
        Those with ids have the same.
    serials : ndarray of int, shape (atoms,), or None
        Numbers of the atoms in the topology, which may be their ids; None where it has none.
    topology : str
        Its file.

    Returns
    -------
    files : list of TrajectoryFile
        With their ids in the order of the topology.
    note : str
        What was chosen where ids do not tell it, "" if nothing is in doubt.
    """
    first = next((file for file in files if file.ids is not None), None)
    if first is None or first.ids is None:
        return list(files), ""
    frame = _raw_frame(first)
    if frame is None or frame.ids is None:  # a frame that cannot be read is told when it is needed
        return list(files), ""
    known = serials is not None and np.array_equal(np.sort(serials), first.ids)
    by_ids = serials if serials is not None and known else first.ids
    orders = _distinct([by_ids, first.ids, frame.ids])
    told = _order_of_places(orders, frame, topology)
    wanted = orders[told or 0]
    ordered = [file if file.ids is None else replace(file, ids=wanted) for file in files]
    return ordered, _note(orders, told, topology, first.path, known=known)


def _note(orders: list[Ints], told: int | None, topology: str, path: str, *, known: bool) -> str:
    if len(orders) == 1 or told == 0 or (known and told is None):
        return ""
    if told is None:
        return (
            f"{topology}: its atoms are taken in the order of the ids of {path}, which are not its "
            "numbers: check that it is the right one, as the first frame has another"
        )
    in_file = told == len(orders) - 1  # which comes last
    sort = "of the first frame" if in_file else "of the ids"
    return f"{topology}: its atoms are in the order {sort} of {path}, as their coordinates tell"


def _distinct(orders: list[Ints]) -> list[Ints]:
    found = list[Ints]()
    for order in orders:
        if not any(np.array_equal(order, other) for other in found):
            found.append(order)
    return found


def _order_of_places(orders: list[Ints], frame: RawFrame, topology: str) -> int | None:
    """Find the order in which atoms are where the topology has them, None if none stands out."""
    if len(orders) == 1:
        return None
    places = _places_of(topology, len(frame.positions))
    if places is None or places.shape != frame.positions.shape:
        return None
    moved = (np.array(orders) != orders[0]).any(axis=0)  # only these tell one from another
    ways = [_distance(places, in_order(frame, ids, None), moved) for ids in orders]
    best = int(np.argmin(ways))
    others = [way for number, way in enumerate(ways) if number != best]
    return best if ways[best] < _NEAR * min(others) else None


def _distance(places: Coordinates, frame: RawFrame, moved: Bools) -> float:
    """Measure how far atoms are from where they are in a frame, through walls, without its shift.

    Dumps count from the corner of their box, and others do not.
    """
    here = np.asarray(frame.positions, np.float64)
    both = np.concatenate([places + (here[0] - places[0]), here])[None]
    numbers = np.arange(len(here))
    box = None if frame.box is None else frame.box[None]
    ways = Boxes.of(box, 1, 3).between(both, numbers, numbers + len(here))[0]
    ways = ways - np.median(ways, axis=0)
    return float(np.sqrt(np.mean(ways[moved] ** 2)))


def _places_of(topology: str, n_atoms: int) -> Coordinates | None:
    """Read the coordinates of a topology, None where it has none that can be read."""
    try:
        file, _ = describe_file(Path(topology), n_atoms, allow_truncated=True)
    except (ValueError, OSError, ImportError):
        return None
    found = _raw_frame(file)
    return None if found is None else in_order(found, file.ids, None).positions


def _raw_frame(file: TrajectoryFile) -> RawFrame | None:
    """Read the first frame as it stands in the file."""
    try:
        with quiet():
            return open_file(file)(0)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001, readers raise what they stumble over
        return None
