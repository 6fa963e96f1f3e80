"""In how many snapshots points are in contact: windows of frames searched by any engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from timme._arrays import Ints
from timme._kernels import neighbours as kernel
from timme.engine.checkpoint import Arrays, take
from timme.engine.reduction import key_of
from timme.engine.run import Run
from timme.pairs.paths import Found, Meeting, cut_windows, find_meetings, sort_pairs
from timme.system.ensemble import Ensemble

# To search a window takes as long as to follow its pairs through a hundred frames: a million points
# take twice as long in three blocks as in one. Where all snapshots are in memory anyway, more of
# them are searched at a time than are added up; what is laid out for that is no more than what the
# budget of a run counts for a block.
_LONG = 32  # snapshots
_LONG_BYTES = 256_000_000


def find_contacts(
    centres: Ensemble, radius: float, *, at_least: int, most: int | None, run: Run
) -> Ints:
    """Find the pairs that are in contact in enough snapshots.

    Parameters
    ----------
    centres : Ensemble
        Points.
    radius : float
        In the units of the coordinates.
    at_least : int
        Number of snapshots.
    most : int or None
        Pairs that may be found before it is given up for lack of memory.
    run : Run
        How it is carried out.

    Returns
    -------
    ndarray, shape (pairs,)
        Pairs as lower × points + higher, sorted.
    """
    n_snapshots, meeting = centres.n_snapshots, Meeting(radius, at_least)
    centres = _in_long_blocks(centres)

    def key() -> str:
        return key_of(centres, [radius], [at_least], run=run)

    def stop_of(start: int) -> int:
        return min(start + centres.block_length, n_snapshots)

    # It lasts, since the pairs that are found are measured next.
    with run.loop("contacts", key, total=n_snapshots, lasting=True) as loop:
        recalled = loop.restore(lambda kept: _recall(kept, centres, at_least))
        contacts = recalled or _Contacts(at_least, [])
        starts = list(loop.left(range(0, n_snapshots, centres.block_length), stop_of))
        ends = {stop_of(start) for start in starts}
        windows = run.engine.tiles(cut_windows, find_meetings, meeting, centres, starts)
        with closing(windows), loop.under_way():
            for stop, results in windows:
                contacts.add(*sort_pairs(_gather(results, most, centres), centres.n_sites))
                if most is not None and contacts.bound > most:
                    _refuse_too_many(len(contacts.whole()[0]), most, centres)
                if stop in ends:
                    loop.advance(stop, contacts.state)
    keys, counts = contacts.whole()
    return keys if at_least == 1 else keys[counts >= at_least]


def _in_long_blocks(centres: Ensemble) -> Ensemble:
    """The same points, more snapshots in a block where there are few because points are many."""
    if not centres.frames.in_memory:
        return centres
    affordable = _LONG_BYTES // max(1, centres.snapshot(0)[0].nbytes)
    return replace(centres, least_block=max(centres.least_block, min(_LONG, affordable)))


@dataclass(slots=True, eq=False)
class _Contacts:
    """In how many snapshots each pair of points is in contact, added up.

    Pairs that keep changing would make one list long, and every snapshot would be merged into all
    of it. So there are several lists, each more than twice as long as the next.
    """

    at_least: int  # snapshots; more of them are not counted
    lists: list[tuple[Ints, Ints]]  # pairs, as lower × points + higher, sorted; and their counts

    @property
    def bound(self) -> int:
        """No fewer than there are pairs: those of several lists count for each."""
        return sum(len(keys) for keys, _ in self.lists)

    def state(self) -> dict[str, Ints]:
        keys, counts = self.whole()
        return {"keys": keys, "counts": counts}

    def add(self, keys: Ints, counts: Ints) -> None:
        """Add what was found in other snapshots."""
        self.lists.append((keys, counts))
        while len(self.lists) > 1 and 2 * len(self.lists[-1][0]) >= len(self.lists[-2][0]):
            self._merge_last()

    def whole(self) -> tuple[Ints, Ints]:
        """Merge all lists into one."""
        while len(self.lists) > 1:
            self._merge_last()
        return self.lists[0] if self.lists else (np.empty(0, np.int64), np.empty(0, np.int64))

    def _merge_last(self) -> None:
        keys, counts = self.lists.pop()
        into, into_counts = self.lists.pop()
        n_all = len(into) + kernel.count_new(into, keys)
        all_keys, all_counts = np.empty(n_all, np.int64), np.empty(n_all, np.int64)
        kernel.merge_counts(into, into_counts, keys, counts, all_keys, all_counts)
        self.lists.append((all_keys, np.minimum(all_counts, self.at_least)))


def _gather(results: Iterable[list[Found]], most: int | None, centres: Ensemble) -> Iterator[Found]:
    """Hand on the pairs of one tile of a window after another, unless there are too many."""
    total = 0
    for parts in results:
        total += sum(map(len, parts))
        _refuse_too_many(total, most, centres)
        yield from parts


def _recall(kept: Arrays, centres: Ensemble, at_least: int) -> _Contacts:
    """Contacts in the snapshots that were searched."""
    keys = take(kept, "keys", np.int64, (None,), below=centres.n_sites**2)
    counts = take(kept, "counts", np.int64, keys.shape, below=at_least + 1)
    if not (keys[1:] > keys[:-1]).all():
        raise ValueError("keys are not sorted")
    return _Contacts(at_least, [(keys, counts)])


def _refuse_too_many(n_pairs: int, most: int | None, centres: Ensemble) -> None:
    if most is not None and n_pairs > most:
        raise ValueError(
            f"{centres.prefix}more than {most:,} pairs are in contact, for which memory does not "
            "last: choose a smaller radius (radius=), select fewer sites (select=), or "
            "allow more memory (memory=)"
        )
