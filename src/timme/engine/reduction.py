"""The one reduction: moments of pair distances, summed over blocks of frames in a fixed order."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from timme._arrays import Ints
from timme.engine.checkpoint import digest
from timme.engine.moments import Metric, Moments
from timme.engine.run import DEFAULT, Run
from timme.system.ensemble import Ensemble

if TYPE_CHECKING:
    import numpy.typing as npt


def moments(
    ensemble: Ensemble, pairs: Ints, *, metric: Metric | None = None, run: Run = DEFAULT
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
    run : Run, optional
        How it is carried out.

    Returns
    -------
    Moments
        Of each pair.
    """

    def key() -> str:
        return key_of(ensemble, pairs, code_of(metric), run=run)

    loop = run.loop("moments", key, total=ensemble.n_snapshots)
    running = Moments.empty(len(pairs)) if loop.kept is None else Moments.of_state(loop.kept)
    starts = range(loop.done, ensemble.n_snapshots, ensemble.block_length)
    merges = run.engine.merges(ensemble, pairs, metric, starts)
    with closing(merges), loop:
        for start, merge in zip(starts, merges, strict=True):
            merge(running)
            done = min(start + ensemble.block_length, ensemble.n_snapshots)
            loop.advance(done, lambda: running.state)
    loop.forget()
    return running


def key_of(ensemble: Ensemble, *choices: npt.ArrayLike, run: Run = DEFAULT) -> str:
    """Return a fingerprint by which results over the blocks of an ensemble are known again.

    Snapshots count by what their frames say tells them from others: numbers in memory, or files.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    *choices : array_like
        All else on which the result depends.
    run : Run, optional
        Of which the result is kept; if its checkpoint says by itself whose it is, files need not
        be looked at.

    Returns
    -------
    str
        Text without meaning.
    """
    first, _ = ensemble.snapshot(0)
    weights = "equal" if ensemble.weights is None else ensemble.weights
    snapshots = () if run.identified else (*ensemble.frames.marks(), weights)
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
