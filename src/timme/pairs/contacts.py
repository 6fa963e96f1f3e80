"""In how many snapshots points are in contact: windows of frames searched by any engine."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from timme._arrays import Ints
from timme._kernels import neighbours as kernel
from timme.engine.checkpoint import Arrays, take
from timme.engine.reduction import key_of
from timme.engine.run import Run
from timme.pairs.paths import Found, Meeting, cut_windows, find_meetings, sort_pairs
from timme.system.ensemble import Ensemble


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

    def key() -> str:
        return key_of(centres, [radius], [at_least], run=run)

    def stop_of(start: int) -> int:
        return min(start + centres.block_length, n_snapshots)

    # It lasts, since the pairs that are found are measured next.
    with run.loop("contacts", key, total=n_snapshots, lasting=True) as loop:
        contacts = loop.restore(lambda kept: _recall(kept, centres, at_least)) or _Contacts.none()
        starts = list(loop.left(range(0, n_snapshots, centres.block_length), stop_of))
        ends = {stop_of(start) for start in starts}
        windows = run.engine.tiles(cut_windows, find_meetings, meeting, centres, starts)
        with closing(windows), loop.under_way():
            for stop, results in windows:
                contacts.add(*_gather(results, most, centres), at_least)
                _refuse_too_many(len(contacts.keys), most, centres)
                if stop in ends:
                    loop.advance(stop, contacts.state)
    return contacts.keys[contacts.counts >= at_least]


@dataclass(slots=True, eq=False)
class _Contacts:
    """In how many snapshots each pair of points is in contact, added up."""

    keys: Ints  # (pairs,), lower × points + higher, sorted
    counts: Ints  # (pairs,), snapshots in which each is in contact; no more than are needed

    @classmethod
    def none(cls) -> _Contacts:
        return cls(np.empty(0, np.int64), np.empty(0, np.int64))

    def state(self) -> dict[str, Ints]:
        return {"keys": self.keys, "counts": self.counts}

    def add(self, keys: Ints, counts: Ints, at_least: int) -> None:
        """Add what was found in other snapshots."""
        if len(self.keys) == 0:
            self.keys, self.counts = keys, counts
            return
        n_all = len(self.keys) + kernel.count_new(self.keys, keys)
        all_keys, all_counts = np.empty(n_all, np.int64), np.empty(n_all, np.int64)
        kernel.merge_counts(self.keys, self.counts, keys, counts, all_keys, all_counts)
        self.keys, self.counts = all_keys, np.minimum(all_counts, at_least)


def _gather(results: Iterable[Found], most: int | None, centres: Ensemble) -> tuple[Ints, Ints]:
    """Bring the pairs of all tiles of a window into their order."""
    parts = list[Found]()
    for found in results:
        parts.append(found)
        _refuse_too_many(sum(map(len, parts)), most, centres)
    first, second, counts = sort_pairs(parts, centres.n_sites).T
    return first.astype(np.int64) * centres.n_sites + second, counts.astype(np.int64)


def _recall(kept: Arrays, centres: Ensemble, at_least: int) -> _Contacts:
    """Contacts in the snapshots that were searched."""
    keys = take(kept, "keys", np.int64, (None,), below=centres.n_sites**2)
    counts = take(kept, "counts", np.int64, keys.shape, below=at_least + 1)
    if not (keys[1:] > keys[:-1]).all():
        raise ValueError("keys are not sorted")
    return _Contacts(keys, counts)


def _refuse_too_many(n_pairs: int, most: int | None, centres: Ensemble) -> None:
    if most is not None and n_pairs > most:
        raise ValueError(
            f"{centres.prefix}more than {most:,} pairs are in contact, for which memory does not "
            "last: choose a smaller radius (radius=), select fewer sites (select=), or "
            "allow more memory (memory=)"
        )
