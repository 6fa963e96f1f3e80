"""The one reduction: moments of pair distances, summed over blocks of frames in a fixed order."""

from __future__ import annotations

from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import fields
from typing import TYPE_CHECKING

from timme._arrays import Ints
from timme.engine.checkpoint import Checkpoint, digest
from timme.engine.moments import Metric, Moments, Progress
from timme.engine.threads import Engine, engine_of
from timme.system.ensemble import Ensemble

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
    saved = _Saved(checkpoint, ensemble, pairs, metric)
    running, first = saved.recalled()
    starts = range(first, ensemble.n_snapshots, ensemble.block_length)
    merges = engine_of(workers).merges(ensemble, pairs, metric, starts)
    with closing(merges), saved.under_way():
        for start, merge in zip(starts, merges, strict=True):
            merge(running)
            done = min(start + ensemble.block_length, ensemble.n_snapshots)
            saved.keep(running, done)
            if progress is not None:
                progress(done, ensemble.n_snapshots)
    saved.forget()
    return running


def key_of(
    ensemble: Ensemble, *choices: npt.ArrayLike, checkpoint: Checkpoint | None = None
) -> str:
    """Return a fingerprint by which results over the blocks of an ensemble are known again.

    Snapshots count by what their frames say tells them from others: numbers in memory, or files.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    *choices : array_like
        All else on which the result depends.
    checkpoint : Checkpoint, optional
        Where the result is kept; if it says by itself whose it is, files need not be looked at.

    Returns
    -------
    str
        Text without meaning.
    """
    first, _ = ensemble.snapshot(0)
    known = checkpoint is not None and checkpoint.identified
    weights = "equal" if ensemble.weights is None else ensemble.weights
    snapshots = () if known else (*ensemble.frames.marks(), weights)
    return digest(ensemble.frames.shape, [ensemble.block_length], first, *snapshots, *choices)


def code_of(metric: Metric | None) -> str:
    """Return a text by which a distance is known again.

    Parameters
    ----------
    metric : callable or None
        Distance, Euclidean if None.

    Returns
    -------
    str
        Its name and code; what it takes from elsewhere is not in it.
    """
    code = getattr(metric, "__code__", None)
    if metric is None or code is None:
        return repr(metric)
    return repr((metric.__qualname__, code.co_code, code.co_consts, code.co_names))


class _Saved:
    """The sums of one reduction in a checkpoint; does nothing where there is none."""

    _NAME = "moments"

    def __init__(
        self,
        checkpoint: Checkpoint | None,
        ensemble: Ensemble,
        pairs: Ints,
        metric: Metric | None,
    ) -> None:
        self._checkpoint = checkpoint
        self._n_pairs = len(pairs)
        if checkpoint is not None:
            self._key = key_of(ensemble, pairs, code_of(metric), checkpoint=checkpoint)

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
