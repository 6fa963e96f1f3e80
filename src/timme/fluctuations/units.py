"""Lay frames out in short units side by side, so that loops over parts of them are fast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from timme._arrays import Coordinates, Ints
from timme.system.blocks import Block
from timme.system.ensemble import Ensemble

_LONGEST = 16  # frames of a unit
_LANES = 16  # units that vector units take at a time
_HELD_BYTES = 32_000_000  # of frames that are laid out together, or those of one block


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Consecutive frames, each unit within one part."""

    xyz: Coordinates  # (sites, dimensions, frames of a unit, units); short ones repeat their first
    owners: Ints  # (units,), the part that each belongs to
    lengths: Coordinates  # (units,), frames that are laid out; 0 of those that fill up a row
    masses: Coordinates  # (units,), frames for which they stand


@dataclass(frozen=True, slots=True, eq=False)
class _Unit:
    frames: Coordinates  # (frames, sites, dimensions)
    owner: int
    mass: int


def lay_out(
    ensemble: Ensemble,
    parts: Sequence[range],
    *,
    longest: int = _LONGEST,
    most: int | None = None,
) -> Iterator[Units]:
    """Lay all frames out in units, as many at a time as fit into the cache of a large machine.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    parts : sequence of range
        Snapshots of each part, in their order.
    longest : int, optional
        Frames of a unit, at most; parts are cut into units of about the same length.
    most : int, optional
        Frames of each unit that are laid out, spread evenly over it; all by default.

    Yields
    ------
    Units
        In their order. None is in two blocks.
    """
    held, size = list[_Unit](), 0
    for block in ensemble.blocks():
        found = list(_cut(block, parts, longest, most))
        added = sum(unit.frames.nbytes for unit in found)
        if held and size + added > _HELD_BYTES:
            yield _side_by_side(held)
            held, size = [], 0
        held, size = held + found, size + added
    if held:
        yield _side_by_side(held)


def _cut(block: Block, parts: Sequence[range], longest: int, most: int | None) -> Iterator[_Unit]:
    """Cut a block where parts begin and end, and where units grow too long."""
    end = block.start + len(block.weights)
    for number, part in enumerate(parts):
        start, stop = max(part.start, block.start), min(part.stop, end)
        if start >= stop:
            continue
        for frames in np.array_split(np.arange(start, stop), -(-(stop - start) // longest)):
            taken = len(frames) if most is None else min(most, len(frames))
            spread = np.linspace(0, len(frames) - 1, taken).round().astype(np.int64)
            yield _Unit(block.coordinates[frames[spread] - block.start], number, len(frames))


def _side_by_side(units: list[_Unit]) -> Units:
    lengths = np.array([len(unit.frames) for unit in units])
    n_units = -(-len(units) // _LANES) * _LANES
    index = np.zeros((lengths.max(), n_units), np.int64)  # of frames, one unit after another
    begins = np.cumsum(lengths) - lengths
    inside = np.arange(len(index))[:, None] < lengths
    index[:, : len(units)] = begins + inside * np.arange(len(index))[:, None]
    frames = np.concatenate([unit.frames for unit in units])
    xyz = np.ascontiguousarray(frames[index.ravel()].transpose(1, 2, 0))
    empty = np.zeros(n_units - len(units), np.int64)
    return Units(
        xyz.reshape(*xyz.shape[:2], *index.shape),
        np.append([unit.owner for unit in units], empty),
        np.append(lengths, empty).astype(xyz.dtype),
        np.append([unit.mass for unit in units], empty).astype(xyz.dtype),
    )
