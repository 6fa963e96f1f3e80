"""In how many snapshots points are in contact: blocks of frames searched by any engine."""

from __future__ import annotations

from contextlib import closing, nullcontext

from timme.engine.checkpoint import Checkpoint
from timme.engine.moments import Progress
from timme.engine.reduction import key_of
from timme.engine.threads import Engine, engine_of
from timme.system.ensemble import Block, Ensemble
from timme.system.neighbours import Contacts, Counted, Search
from timme.system.space import Boxes


def count_contacts(
    centres: Ensemble,
    radius: float,
    *,
    most: int | None,
    workers: int | Engine | None,
    progress: Progress | None,
    checkpoint: Checkpoint | None,
) -> Counted:
    """Count, for each pair, the snapshots in which it is in contact.

    Parameters
    ----------
    centres : Ensemble
        Points.
    radius : float
        In the units of the coordinates.
    most : int or None
        Pairs that may be found before it is given up for lack of memory.
    workers : int, Engine or None
        Number of threads, all cores if None; or another engine.
    progress : callable or None
        Called with snapshots done and their number.
    checkpoint : Checkpoint or None
        Where counts are saved at intervals, and from which the search goes on.

    Returns
    -------
    Counted
        Pairs that are in contact in any snapshot.
    """
    search, contacts, first = Search(radius), Contacts(), 0
    key = "" if checkpoint is None else key_of(centres, [radius], checkpoint=checkpoint)
    kept = None if checkpoint is None else checkpoint.recall("contacts", key=key)
    if kept is not None:
        contacts, first = Contacts(Counted(kept["keys"], kept["counts"])), int(kept["done"])
    starts = range(first, centres.n_snapshots, centres.block_length)
    results = engine_of(workers).blocks(_searched, search, centres, starts)
    with closing(results), nullcontext() if checkpoint is None else checkpoint.under_way():
        for start, parts in zip(starts, results, strict=True):
            for found in parts:
                contacts.add(found)
                search.give_back(found)
                _refuse_too_many(len(contacts), most, centres)
            done = min(start + centres.block_length, centres.n_snapshots)
            if checkpoint is not None:
                so_far = contacts.counted
                checkpoint.keep(
                    "contacts", key=key, done=done, keys=so_far.keys, counts=so_far.counts
                )
                checkpoint.tick()
            if progress is not None:
                progress(done, centres.n_snapshots)
    return contacts.counted


def _searched(search: Search, block: Block) -> Counted:
    boxes = Boxes.of(block.boxes, *block.coordinates.shape[::2])
    return search.counted(block.coordinates, boxes)


def _refuse_too_many(n_pairs: int, most: int | None, centres: Ensemble) -> None:
    if most is not None and n_pairs > most:
        raise ValueError(
            f"{centres.prefix}more than {most:,} pairs are in contact, for which memory does not "
            "last: choose a smaller radius (radius=), select fewer sites (select=), or "
            "allow more memory (memory=)"
        )
