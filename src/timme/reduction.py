"""The one reduction: moments of pair distances, summed over blocks of frames in a fixed order."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields
from typing import TYPE_CHECKING

from timme._arrays import Ints
from timme.checkpoint import Checkpoint, digest
from timme.engine import Engine, engine_of
from timme.ensemble import Ensemble
from timme.moments import Metric, Moments, Progress

if TYPE_CHECKING:
    import numpy.typing as npt


def moments(
    ensemble: Ensemble,
    pairs: Ints,
    *,
    metric: Metric | None = None,
    workers: int | Engine | None = None,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Moments:
    """Sum the distances of pairs of sites over all snapshots.

    Blocks of frames are merged one after another; within a block, workers share the pairs. The
    result is the same to the last bit for any number of workers.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    pairs : ndarray, shape (pairs, 2)
        Pairs of sites.
    metric : callable, optional
        Distance of two arrays of points; Euclidean, by the shortest image, if not given.
    workers : int or Engine, optional
        Number of threads, all cores by default; or another engine.
    progress : callable, optional
        Called with snapshots done and their number.
    checkpoint : Checkpoint, optional
        Where sums are saved at intervals, and from which they go on.

    Returns
    -------
    Moments
        Of each pair.
    """
    saved = _Saved(checkpoint, ensemble, pairs)
    running, first = saved.recalled()
    starts = range(first, ensemble.n_snapshots, ensemble.block_length)
    merges = engine_of(workers).merges(ensemble, pairs, metric, starts)
    with saved.under_way():
        for start, merge in zip(starts, merges, strict=True):
            merge(running)
            done = min(start + ensemble.block_length, ensemble.n_snapshots)
            saved.keep(running, done)
            if progress is not None:
                progress(done, ensemble.n_snapshots)
    saved.forget()
    return running


def key_of(ensemble: Ensemble, *choices: npt.ArrayLike) -> str:
    """Return a fingerprint by which results over the blocks of an ensemble are known again.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    *choices : array_like
        All else on which the result depends.

    Returns
    -------
    str
        Text without meaning.
    """
    first, _ = ensemble.snapshot(0)
    return digest(ensemble.frames.shape, [ensemble.block_length], first, *choices)


class _Saved:
    """The sums of one reduction in a checkpoint; does nothing where there is none."""

    _NAME = "moments"

    def __init__(self, checkpoint: Checkpoint | None, ensemble: Ensemble, pairs: Ints) -> None:
        self._checkpoint = checkpoint
        self._n_pairs = len(pairs)
        if checkpoint is not None:
            self._key = key_of(ensemble, pairs)

    def recalled(self) -> tuple[Moments, int]:
        """Return the sums so far, and the snapshot from which to go on."""
        if self._checkpoint is not None:
            kept = self._checkpoint.recall(self._NAME, key=self._key)
            if kept is not None:
                sums = (kept[field.name] for field in fields(Moments))
                return Moments(*sums), int(kept["done"])
        return Moments.empty(self._n_pairs), 0

    def under_way(self) -> AbstractContextManager[None]:
        return nullcontext() if self._checkpoint is None else self._checkpoint.under_way()

    def keep(self, running: Moments, done: int) -> None:
        if self._checkpoint is not None:
            sums = {field.name: getattr(running, field.name) for field in fields(Moments)}
            self._checkpoint.keep(self._NAME, key=self._key, done=done, **sums)
            self._checkpoint.tick()

    def forget(self) -> None:
        if self._checkpoint is not None:
            self._checkpoint.forget(self._NAME)
