"""Series in time: how many independent values they hold, and the drawing of blocks of them.

Snapshots of a trajectory follow one another, and what moves slowly has hardly changed from one to
the next. The variance of a mean over n of them is that over n / τ independent values, where
τ = 1 + 2 Σ ρ(k) sums the autocorrelation over all lags. Its tail is noise that adds up to anything,
so the sum ends where two neighbouring lags add up to less than nothing (the initial positive
sequence of Geyer, 1992). Replicas are independent of one another: no product and no block crosses
from one into the next.

Of a motion that was seen a few times only, that end comes by chance, and mostly too soon: what was
2 is told as 8 or more in a fifth of all trajectories. How soon half of a motion is forgotten is
known better than when all of it is. An exponential with ρ(k) = aᵏ has 1 + 2 Σ ρ = (1 + a) / (1 − a)
in all, and 1 − ρ(m) of it up to any lag m, the sum taken by trapezia. So what is found up to the
lag of half, over 1 − ρ there, is what an exponential would add up to; and the larger of both is
told. Where fast motions lie over slow ones it is the first; of what forgets more suddenly than an
exponential it is the second, which is longer by a quarter (critically damped) or by two thirds (an
oscillation of a period or two): caution, where a motion goes on without a break.

Errors of measurement that are independent from snapshot to snapshot make values forget sooner than
what is measured does. Once the mean of n of them is taken off, their product in two snapshots is
v (δ − 1/n) on average, with their variance v, and δ = 1 for a snapshot with itself, else 0. That is
known, and taken off: what is left is the correlation of what moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import fft

from timme._arrays import Bools, Floats, Ints, numbers

_AT_A_TIME = 4_000_000  # values that are transformed at a time


def autocorrelation(
    series: npt.ArrayLike,
    *,
    replicas: Sequence[int] | None = None,
    errors: npt.ArrayLike | None = None,
) -> Floats:
    """Correlate series with themselves, and average over all of them.

    Each series counts the same, whatever its amplitude. As in the variance of a mean, sums of
    products are divided by all values of a series, not by the fewer that are so far apart.

    Parameters
    ----------
    series : array_like, shape (series, snapshots) or (snapshots,)
        Values in their order; NaN where none was seen. Series that never change say nothing.
    replicas : sequence of int, optional
        Snapshots of each independent run, in their order; one run by default.
    errors : array_like, shape (series,), optional
        Variance of the errors with which the values of each series were found, independent from
        snapshot to snapshot. A series then counts by the share of its variance that is left.

    Returns
    -------
    ndarray, shape (lags,)
        1 at lag 0; as many lags as the longest run has snapshots. Only the 1, followed by zeros,
        if no series changes, or all together by no more than errors may.

    Examples
    --------
    >>> autocorrelation([0.0, 0.0, 1.0, 1.0])
    array([ 1.  ,  0.25, -0.5 , -0.25])
    """
    values = _rows(series)
    lengths = _lengths(replicas, values.shape[1])
    variances = np.zeros(len(values)) if errors is None else np.asarray(errors, np.float64)
    total, taken = np.zeros(max(lengths)), 0.0
    for rows in _blocks(*values.shape):
        standard, seen, share = _standardise(values[rows], variances[rows])
        total += _lagged_products(standard, lengths)
        if share.any():
            n_seen = np.count_nonzero(seen, axis=1)
            total += _lagged_products(seen * np.sqrt(share / n_seen)[:, None], lengths)
            taken += float(share @ n_seen)
    total[0] -= taken
    # The variance of n errors is known to √(2/n) of itself: what is less is no motion.
    if total[0] <= taken * np.sqrt(2 / values.shape[1]):
        return np.append(1.0, np.zeros(len(total) - 1))
    found: Floats = total / total[0]
    return found


def correlation_time(
    series: npt.ArrayLike,
    *,
    replicas: Sequence[int] | None = None,
    errors: npt.ArrayLike | None = None,
    corrected: bool = False,
) -> float:
    """Tell how many snapshots apart values are as good as independent.

    Deviations are from the mean of the series itself, which has followed what moves slowly. What it
    took along, τ / n of the variance, is missing from every product, and τ comes out too short: by
    a third where a motion was seen five times. The sum of correlations ends too soon as well, by
    chance, and is too short again.

    Parameters
    ----------
    series, replicas, errors
        As for :func:`autocorrelation`.
    corrected : bool, optional
        Whether what the mean took along is given back, with τ as it is found without, and τ is no
        shorter than that of an exponential which forgets half of the motion as soon.

    Returns
    -------
    float
        τ = 1 + 2 Σ ρ(k) in snapshots, at least 1: for ρ(k) = exp(−k/t) about 2 t.
    """
    values = _rows(series)
    correlation = autocorrelation(values, replicas=replicas, errors=errors)
    if not corrected:
        return _sum_initial(correlation)
    time = _sum_longer(correlation)
    if time <= 1.0:  # what is independent, or never changes, has nothing to lose
        return time
    lengths = _lengths(replicas, values.shape[1])
    seen = (~np.isnan(values)).astype(np.float64)
    products = _lagged_products(seen if (seen == 0).any() else seen[:1], lengths)
    taken = min(0.5, time * len(seen) / max(float(seen.sum()), 1.0))
    given_back = taken / (1 - taken) * products / max(float(products[0]), 1.0)
    time = _sum_longer((correlation + given_back) / (1 + given_back[0]))
    # Runs within which nothing changes hold a value each: Σ l² / n is as long as τ can be.
    longest = sum(length**2 for length in lengths) / sum(lengths)
    return min(time, longest)


def _sum_initial(correlation: Floats) -> float:
    """1 + 2 Σ ρ(k) up to where two neighbouring lags add up to nothing, at least 1."""
    couples = correlation[: len(correlation) // 2 * 2].reshape(-1, 2).sum(axis=1)
    ended = np.flatnonzero(couples <= 0)
    initial = couples[: ended[0]] if len(ended) else couples
    return max(1.0, 2.0 * float(initial.sum()) - 1.0)


def _sum_longer(correlation: Floats) -> float:
    """1 + 2 Σ ρ(k) as found, or of an exponential that forgets half as soon, if that is more."""
    (forgotten,) = np.nonzero(correlation <= 0.5)
    found = _sum_initial(correlation)
    if not len(forgotten):
        return found
    half = correlation[: forgotten[0] + 1]
    last = float(half[-1])
    return max(found, (2.0 * float(half.sum()) - 1.0 - last) / (1.0 - last))


def effective_size(
    series: npt.ArrayLike,
    *,
    replicas: Sequence[int] | None = None,
    weights: npt.ArrayLike | None = None,
    errors: npt.ArrayLike | None = None,
    corrected: bool = False,
) -> float:
    """Count the independent values that series hold.

    Parameters
    ----------
    series, replicas
        As for :func:`autocorrelation`.
    weights : array_like, shape (snapshots,), optional
        How much each snapshot counts; (Σ w)² / Σ w² snapshots then count in place of all.
    errors : array_like, shape (series,), optional
        As for :func:`autocorrelation`.
    corrected : bool, optional
        As for :func:`correlation_time`.

    Returns
    -------
    float
        From 1 to the number of snapshots, on average over series that were not always seen.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> independent = rng.normal(size=(100, 500))
    >>> round(effective_size(independent), -1), round(effective_size(independent.repeat(10, 1)), -1)
    (500.0, 500.0)
    """
    values = _rows(series)
    n_seen = float(np.mean(np.count_nonzero(~np.isnan(values), axis=1)))
    if weights is not None:
        n_seen *= _kish(np.asarray(weights, np.float64)) / values.shape[1]
    time = correlation_time(values, replicas=replicas, errors=errors, corrected=corrected)
    # Products of what was not seen are missing from τ as they are from the variance of the mean.
    return max(1.0, n_seen / time)


def draw_runs(
    n_blocks: int | Sequence[int], length: int, *, n_draws: int, seed: int = 0, wrap: bool = True
) -> Ints:
    """Draw runs of consecutive blocks, with replacement, until there are as many as at first.

    Each block is as likely as any other: after the last of a replica comes its first. What is
    estimated from such draws must not depend on which block follows which.

    Parameters
    ----------
    n_blocks : int or sequence of int
        Blocks of the whole, or of each replica: no run crosses from one into the next.
    length : int
        Blocks of a run; a replica that has fewer is drawn as a whole.
    n_draws : int
        How often everything is drawn anew.
    seed : int, optional
        Of the random numbers.
    wrap : bool, optional
        Whether the first of a replica comes after its last. Where a run must hold neighbours only,
        as both ends of a transition are far apart, none is drawn across; blocks at the ends are
        then less likely.

    Returns
    -------
    ndarray of int, shape (draws, blocks)
        Number of each block drawn; the last run of a draw is cut off where all are there.

    Examples
    --------
    >>> draw_runs(6, 3, n_draws=2)
    array([[5, 0, 1, 3, 4, 5],
           [0, 1, 2, 0, 1, 2]])
    """
    counts = np.atleast_1d(np.asarray(n_blocks, np.int64))
    if counts.ndim != 1 or counts.min(initial=1) < 1 or length < 1:
        raise ValueError(
            "blocks are drawn in runs of at least 1 from replicas of at least 1 block, got runs of "
            f"{length} from {counts.tolist()}"
        )
    replica = np.repeat(np.arange(len(counts)), counts)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    rng = np.random.default_rng(seed)
    start = rng.integers(0, len(replica), (n_draws, len(replica)))  # more than enough
    return _runs_from(start, length, counts[replica], first, wrap=wrap)


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Parts of the snapshots, in the order in which draws were made of them."""

    replicas: Sequence[int]  # parts of each replica, none of whose runs leads into another
    length: int  # parts of a run, or all of a replica that has fewer
    drawn: Ints  # (draws, parts), numbers of parts

    @property
    def window(self) -> int:
        """Parts of a window: no more than any run has."""
        return min(self.length, *self.replicas)


def count_drawn(drawn: Ints, n_blocks: int) -> Ints:
    """Count how often each block was drawn.

    Parameters
    ----------
    drawn : ndarray of int, shape (draws, blocks drawn)
        As :func:`draw_runs` gives it.
    n_blocks : int
        Blocks that there are.

    Returns
    -------
    ndarray of int, shape (draws, blocks)
        0 where a block was not drawn.
    """
    places = drawn + n_blocks * np.arange(len(drawn))[:, None]
    return np.bincount(places.ravel(), minlength=n_blocks * len(drawn)).reshape(-1, n_blocks)


def _runs_from(start: Ints, length: int, size: Ints, first: Ints, *, wrap: bool) -> Ints:
    """Follow runs from where they start, (draws, blocks), until all blocks of a draw are there.

    Of each block, the size of its replica and the first block of that are given.
    """
    n_draws, n_blocks = start.shape
    lengths = np.minimum(length, size[start])
    ends = np.cumsum(lengths, axis=1)
    # A run that ends beyond all blocks is the last of its draw; marks say where the next begins.
    marks = np.zeros((n_draws, n_blocks + 1), np.int64)
    np.add.at(marks, (np.arange(n_draws)[:, None], np.minimum(ends, n_blocks)), 1)
    run = np.cumsum(marks, axis=1)[:, :n_blocks]  # of each block drawn
    block, end, many = (np.take_along_axis(each, run, 1) for each in (start, ends, lengths))
    step = np.arange(n_blocks) - (end - many)
    begin, there = first[block], size[block]
    place = block - begin if wrap else (block - begin) % (there - many + 1)
    drawn: Ints = begin + (place + step) % there
    return drawn


def _rows(series: npt.ArrayLike) -> Floats:
    values = np.atleast_2d(numbers(series, "series"))
    if values.ndim != 2 or values.size == 0:
        raise ValueError(
            f"series need a row of values each, (series, snapshots), got shape {values.shape}"
        )
    return values


def _lengths(replicas: Sequence[int] | None, n_snapshots: int) -> list[int]:
    lengths = [n_snapshots] if replicas is None else [int(length) for length in replicas]
    if sum(lengths) != n_snapshots or min(lengths) < 1:
        raise ValueError(
            f"replicas must have {n_snapshots} snapshots together, at least 1 each, got {lengths}"
        )
    return lengths


def _blocks(n_series: int, n_snapshots: int) -> list[slice]:
    """Cut many series into some that can be transformed at a time."""
    rows = max(1, _AT_A_TIME // n_snapshots)
    return [slice(row, row + rows) for row in range(0, n_series, rows)]


def _standardise(values: Floats, errors: Floats) -> tuple[Floats, Bools, Floats]:
    """Series with mean 0 and variance 1, 0 where none was seen; those that never change are out.

    Also returns where they were seen, and the share of errors in their variance.
    """
    seen = ~np.isnan(values)
    n_seen = np.maximum(np.count_nonzero(seen, axis=1, keepdims=True), 1)
    mean = np.where(seen, values, 0.0).sum(axis=1, keepdims=True) / n_seen
    deviation = np.where(seen, values - mean, 0.0)
    spread = np.sqrt((deviation**2).sum(axis=1, keepdims=True) / n_seen)
    # What is left of rounding when the mean is taken from equal values is no motion.
    moving = spread[:, 0] > 1e-12 * np.abs(np.where(seen, values, 0.0)).max(axis=1)
    standard: Floats = deviation[moving] / spread[moving]
    return standard, seen[moving], errors[moving] / spread[moving, 0] ** 2


def _lagged_products(standard: Floats, lengths: Sequence[int]) -> Floats:
    """Sums of products of values so many snapshots apart, over all series, run by run."""
    total = np.zeros(max(lengths))
    begin = 0
    for length in lengths:
        run = standard[:, begin : begin + length]
        size = fft.next_fast_len(2 * length, real=True)  # twice as long: ends do not meet
        power = np.abs(fft.rfft(run, size, axis=1)) ** 2
        total[:length] += fft.irfft(power.sum(axis=0), size)[:length]
        begin += length
    return total


def _kish(weights: Floats) -> float:
    return float(weights.sum() ** 2 / (weights**2).sum())
