"""In how many snapshots points are in contact: blocks of frames searched by any engine."""

from __future__ import annotations

from contextlib import closing

import numpy as np

from timme._arrays import Ints
from timme.engine.checkpoint import Arrays, take
from timme.engine.reduction import key_of
from timme.engine.run import Run
from timme.system.ensemble import Block, Ensemble
from timme.system.neighbours import Contacts, Counted, Search
from timme.system.space import Boxes


def count_contacts(centres: Ensemble, radius: float, *, most: int | None, run: Run) -> Counted:
    """Count, for each pair, the snapshots in which it is in contact.

    Parameters
    ----------
    centres : Ensemble
        Points.
    radius : float
        In the units of the coordinates.
    most : int or None
        Pairs that may be found before it is given up for lack of memory.
    run : Run
        How it is carried out.

    Returns
    -------
    Counted
        Pairs that are in contact in any snapshot.
    """
    n_snapshots = centres.n_snapshots

    def key() -> str:
        return key_of(centres, [radius], run=run)

    def stop_of(start: int) -> int:
        return min(start + centres.block_length, n_snapshots)

    def state() -> dict[str, Ints]:
        so_far = contacts.counted
        return {"keys": so_far.keys, "counts": so_far.counts}

    # It lasts, since the pairs that are found are measured next.
    with run.loop("contacts", key, total=n_snapshots, lasting=True) as loop:
        contacts = Contacts(loop.restore(lambda kept: _recall(kept, centres)))
        search = Search(radius)
        starts = list(loop.left(range(0, n_snapshots, centres.block_length), stop_of))
        results = run.engine.blocks(_search, search, centres, starts)
        with closing(results), loop.under_way():
            for start, parts in zip(starts, results, strict=True):
                for found in parts:
                    contacts.add(found)
                    search.give_back(found)
                    _refuse_too_many(len(contacts), most, centres)
                loop.advance(stop_of(start), state)
    return contacts.counted


def _recall(kept: Arrays, centres: Ensemble) -> Counted:
    """Contacts in the snapshots that were searched."""
    keys = take(kept, "keys", np.int64, (None,), below=centres.n_sites**2)
    counts = take(kept, "counts", np.int64, keys.shape, below=centres.n_snapshots + 1)
    if not (keys[1:] > keys[:-1]).all():
        raise ValueError("keys are not sorted")
    return Counted(keys, counts)


def _search(search: Search, block: Block) -> Counted:
    n_frames, _, n_dimensions = block.coordinates.shape
    boxes = Boxes.of(block.boxes, n_frames, n_dimensions, block.images)
    return search.counted(block.coordinates, boxes)


def _refuse_too_many(n_pairs: int, most: int | None, centres: Ensemble) -> None:
    if most is not None and n_pairs > most:
        raise ValueError(
            f"{centres.prefix}more than {most:,} pairs are in contact, for which memory does not "
            "last: choose a smaller radius (radius=), select fewer sites (select=), or "
            "allow more memory (memory=)"
        )
