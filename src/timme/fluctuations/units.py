"""Lay frames out in short units side by side, so that loops over parts of them are fast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from timme._arrays import Coordinates, Ints
from timme.system.ensemble import Ensemble

_LONGEST = 16  # frames of a unit
_LANES = 16  # units that vector units take at a time
_SITES = 64  # that are laid out at a time
_TILE = 8192  # pairs that a thread takes at a time
_TOGETHER = 32_000_000  # bytes of frames that are laid out together, or those of one block
MOST_HELD = 64_000_000  # bytes of frames that stay laid out from one pass to the next


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Consecutive frames, each unit within one part."""

    xyz: Coordinates  # (sites, dimensions, frames of a unit, units); short ones repeat their first
    owners: Ints  # (units,), the part that each belongs to
    lengths: Coordinates  # (units,), frames; 0 of those that fill up a row


@dataclass(frozen=True, slots=True, eq=False)
class _Unit:
    frames: Coordinates  # (frames, sites, dimensions)
    owner: int


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """All frames in units, to be gone through again and again."""

    ensemble: Ensemble
    parts: Sequence[range]
    held: Units | None  # None where they are too many, and laid out anew each time

    def __iter__(self) -> Iterator[Units]:
        """Go through all units, in their order."""
        return lay_out(self.ensemble, self.parts) if self.held is None else iter((self.held,))


def tile_pairs(n_pairs: int) -> list[slice]:
    """Cut a list of pairs into the tiles that a thread takes at a time.

    Parameters
    ----------
    n_pairs : int
        Length of the list.

    Returns
    -------
    list of slice
        In their order.
    """
    return [slice(k, min(k + _TILE, n_pairs)) for k in range(0, n_pairs, _TILE)]


def hold(ensemble: Ensemble, parts: Sequence[range]) -> Layout:
    """Lay frames out once for many passes, if they are few enough to be held.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    parts : sequence of range
        Snapshots of each part, in their order.

    Returns
    -------
    Layout
        The same units in every pass, from memory or from where the snapshots are.
    """
    itemsize = ensemble.snapshot(0)[0].dtype.itemsize
    small = itemsize * np.prod(ensemble.frames.shape, dtype=np.float64) <= MOST_HELD
    if not small:
        return Layout(ensemble, parts, None)
    frames = np.concatenate([block.coordinates for block in ensemble.blocks()])
    return Layout(ensemble, parts, _side_by_side(list(_cut(frames, 0, parts))))


def thin(layout: Layout, n_frames: int) -> Layout:
    """Keep few frames of each part, spread over it.

    Parameters
    ----------
    layout : Layout
        All frames.
    n_frames : int
        Frames of each part that are kept, at most.

    Returns
    -------
    Layout
        The same parts of another ensemble, or the same where none has more.
    """
    if max(map(len, layout.parts)) <= n_frames:
        return layout
    kept = [_spread(part, n_frames) for part in layout.parts]
    ends = np.cumsum([0, *map(len, kept)]).tolist()
    parts = [range(*bounds) for bounds in pairwise(ends)]
    return hold(layout.ensemble[np.concatenate(kept)], parts)


def _spread(part: range, n_frames: int) -> Ints:
    """So many frames of a part, each in the middle of an equal share of it."""
    if len(part) <= n_frames:
        return np.array(part)
    shares = np.linspace(part.start, part.stop, n_frames + 1)
    middles: Ints = ((shares[:-1] + shares[1:]) / 2).astype(np.int64)
    return middles


def lay_out(ensemble: Ensemble, parts: Sequence[range]) -> Iterator[Units]:
    """Lay all frames out in units, as many at a time as fit into the cache of a large machine.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    parts : sequence of range
        Snapshots of each part, in their order; they are cut into units of about the same length.

    Yields
    ------
    Units
        In their order. None is in two blocks, where they are not all held.
    """
    held, size = list[_Unit](), 0
    length, per_frame = ensemble.block_length, ensemble.snapshot(0)[0].nbytes
    for start in range(0, ensemble.n_snapshots, length):
        added = per_frame * min(length, ensemble.n_snapshots - start)
        if held and size + added > _TOGETHER:
            # A block is given back before its units are used, and these before the next is read.
            laid, held, size = _side_by_side(held), [], 0
            yield laid
            del laid
        held += _cut(ensemble.block(start).coordinates, start, parts)
        size += added
    if held:
        yield _side_by_side(held)


def _cut(block: Coordinates, begin: int, parts: Sequence[range]) -> Iterator[_Unit]:
    """Cut frames from one on where parts begin and end, and where units grow too long."""
    end = begin + len(block)
    for number, part in enumerate(parts):
        start, stop = max(part.start, begin), min(part.stop, end)
        if start >= stop:
            continue
        for frames in np.array_split(np.arange(start, stop), -(-(stop - start) // _LONGEST)):
            yield _Unit(block[frames[0] - begin : frames[-1] + 1 - begin], number)


def _side_by_side(units: list[_Unit]) -> Units:
    lengths = np.array([len(unit.frames) for unit in units])
    n_units = -(-len(units) // _LANES) * _LANES
    index = np.zeros((lengths.max(), n_units), np.int64)  # of frames, one unit after another
    begins = np.cumsum(lengths) - lengths
    inside = np.arange(len(index))[:, None] < lengths
    index[:, : len(units)] = begins + inside * np.arange(len(index))[:, None]
    n_sites, n_dimensions = units[0].frames.shape[1:]
    xyz = np.empty((n_sites, n_dimensions, index.size), units[0].frames.dtype)
    for site in range(0, n_sites, _SITES):  # few at a time, whose frames stay in the cache
        here = slice(site, site + _SITES)
        frames = np.concatenate([unit.frames[:, here] for unit in units])
        xyz[here] = frames[index.ravel()].transpose(1, 2, 0)
    empty = np.zeros(n_units - len(units), np.int64)
    return Units(
        xyz.reshape(*xyz.shape[:2], *index.shape),
        np.append([unit.owner for unit in units], empty),
        np.append(lengths, empty).astype(xyz.dtype),
    )
