"""Means over displacements within a lag, and their errors from blocks of snapshots.

Displacements that begin within a lag of one another share steps. Blocks are therefore at least as
long as the lag, and none goes on from one run into the next: runs are independent.
Neighbouring blocks share steps still, and their scatter tells too small an error. How much too
small is known where steps are independent: products of two displacements that begin k apart are
then correlated by (1 − k/lag)², and the scatter is put right by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from timme._arrays import Floats, Ints

FEWEST = 6  # blocks that tell an error: those of fewer are too small too often
_BLOCKS = 10  # of all runs, or more, where they are long enough


@dataclass(frozen=True, slots=True, eq=False)
class Displacements:
    """Snapshots between which displacements are taken, in blocks."""

    begins: Ints  # (displacements,), snapshots
    ends: Ints  # (displacements,), a lag later in the same run
    blocks: Ints  # (displacements,), block of each
    shared: Floats  # (blocks, blocks), covariance of sums over blocks if steps are independent

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.shared)


def displacements(runs: Sequence[Ints], lag: int) -> Displacements:
    """List displacements within a lag, in blocks that are independent as far as may be.

    Parameters
    ----------
    runs : sequence of ndarray
        Snapshots of each run, in their order.
    lag : int
        In snapshots, below the length of the longest run.

    Returns
    -------
    Displacements
        None from one run to another. A run with fewer of them than the lag is one block.
    """
    long = [own for own in runs if len(own) > lag]
    counts = [len(own) - lag for own in long]
    wanted = [-(-_BLOCKS * count // sum(counts)) for count in counts]  # rounded up
    numbers = [max(1, min(most, n // lag)) for most, n in zip(wanted, counts, strict=True)]
    cuts = [
        np.linspace(0, count, number + 1).astype(int)
        for count, number in zip(counts, numbers, strict=True)
    ]
    sizes = np.concatenate([np.diff(cut) for cut in cuts])
    shared = np.zeros((len(sizes), len(sizes)))
    first = 0
    for cut in cuts:
        inside = slice(first, first + len(cut) - 1)
        shared[inside, inside] = _shared(cut, lag)
        first = inside.stop
    return Displacements(
        begins=np.concatenate([own[:-lag] for own in long]),
        ends=np.concatenate([own[lag:] for own in long]),
        blocks=np.repeat(np.arange(len(sizes)), sizes),
        shared=shared,
    )


def _shared(cut: Ints, lag: int) -> Floats:
    """Covariance of sums over neighbouring blocks, of products of displacements."""
    apart = np.arange(cut[-1])
    correlation = np.clip(1 - apart / lag, 0, None) ** 2
    # Of all pairs of the first 0, 1, 2, … displacements; those of two blocks are differences.
    squares = np.concatenate([[0.0], np.cumsum(2 * np.cumsum(correlation) - 1)])
    of_span = squares[np.abs(cut[:, None] - cut)]
    covariance: Floats = of_span[1:, :-1] + of_span[:-1, 1:] - of_span[:-1, :-1] - of_span[1:, 1:]
    return covariance / 2


def mean(sums: Floats, counts: Floats) -> Floats:
    """Divide sums over blocks by their counts.

    Parameters
    ----------
    sums, counts : ndarray, shape (blocks, bins)
        Of every block.

    Returns
    -------
    ndarray, shape (bins,)
        NaN where nothing was counted.
    """
    with np.errstate(invalid="ignore"):
        found: Floats = sums.sum(axis=0) / counts.sum(axis=0)
    return found


def standard_error(sums: Floats, counts: Floats, shared: Floats) -> Floats:
    """Tell the error of a ratio of sums by the scatter of its blocks.

    Parameters
    ----------
    sums, counts : ndarray, shape (blocks, bins)
        Of every block.
    shared : ndarray, shape (blocks, blocks)
        Covariance of blocks if steps are independent.

    Returns
    -------
    ndarray, shape (bins,)
        NaN where too few blocks count, as when nearly all that is seen is seen in one.
    """
    squares = (counts**2).sum(axis=0)
    n_blocks = counts.sum(axis=0) ** 2 / np.where(squares > 0, squares, 1)
    found = np.full(counts.shape[1], np.nan)
    for bin_ in np.flatnonzero(np.round(n_blocks) >= FEWEST):
        met = counts[:, bin_] > 0
        count, own = counts[met, bin_], shared[np.ix_(met, met)]
        away = sums[met, bin_] - sums[met, bin_].sum() / count.sum() * count
        # What is left of blocks once their mean is taken off, against what the mean scatters by.
        left = np.eye(len(count)) - count[:, None] / count.sum()
        wide = own.sum() / np.trace(left @ own @ left.T)
        found[bin_] = np.sqrt((away**2).sum() * wide) / count.sum()
    return found
