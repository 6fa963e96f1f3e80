"""Series in time: how many independent values they hold, and draws of runs of blocks.

The variance of a mean over n snapshots is that over n / τ independent values, where
τ = 1 + 2 Σ ρ(k) sums the autocorrelation over all lags. The sum ends where two neighbouring lags
add up to less than 0 (initial positive sequence, Geyer 1992), because noise follows. Replicas are
independent: no product and no run crosses from one into the next.

With few independent values that end comes too early by chance. The lag at which half of a motion
is forgotten is known better: an exponential ρ(k) = aᵏ has 1 + 2 Σ ρ = (1 + a) / (1 − a) in all, of
which the sum up to any lag m (by trapezoids) is the share 1 − ρ(m). So the sum up to the first lag
with ρ ≤ ½, divided by 1 − ρ there, is what an exponential would reach, and the larger of both
estimates counts. This is right within a factor of two for exponentials and too long by a quarter
to two thirds for motions that forget more suddenly, which errs on the safe side.

Independent errors of variance v contribute v (δ − 1/n) to the mean product of two deviations from
the mean of n values, with δ = 1 for a snapshot with itself and 0 otherwise. This is subtracted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import fft

from timme._arrays import Floats, Ints

Lengths = Sequence[int] | None


def autocorrelation(
    series: Floats, *, replicas: Lengths = None, errors: Floats | None = None
) -> tuple[Floats, Floats, float]:
    """Return the autocorrelation averaged over series, each of which counts the same.

    As in the variance of a mean, sums of products are divided by the number of all values of a
    series, not by the smaller number of products at that lag.

    Parameters
    ----------
    series : ndarray, shape (series, snapshots) or (snapshots,)
        Values in their order; NaN where none was seen. Constant series do not count.
    replicas : sequence of int, optional
        Number of snapshots of each independent run; one run by default.
    errors : ndarray, shape (series,), optional
        Variance of the independent errors of the values. A series then counts by the share of its
        variance that is left.

    Returns
    -------
    correlation : ndarray, shape (lags,)
        1 at lag 0, for as many lags as the longest run has snapshots; 1, 0, 0, … if all series
        are constant, or vary by no more than their errors may.
    products : ndarray, shape (lags,)
        Mean number of products at each lag.
    longest : float
        The longest possible τ.

    Examples
    --------
    >>> autocorrelation(np.array([0.0, 0.0, 1.0, 1.0]))[0]
    array([ 1.  ,  0.25, -0.5 , -0.25])
    """
    values = np.atleast_2d(series)
    n_series, n_snapshots = values.shape
    lengths = [n_snapshots] if replicas is None else replicas
    total, products, subtracted = np.zeros(max(lengths)), np.zeros(max(lengths)), 0.0
    for row, error in zip(values, np.zeros(n_series) if errors is None else errors, strict=True):
        seen = ~np.isnan(row)
        n_seen = max(1, np.count_nonzero(seen))
        pairs = _lagged_products(seen * 1.0, lengths)
        products += pairs / n_series
        deviation = np.where(seen, row - row[seen].sum() / n_seen, 0.0)
        variance = deviation @ deviation / n_seen
        # Rounding of the mean of equal values is no motion.
        if variance > (1e-12 * np.abs(row[seen]).max(initial=0.0)) ** 2:
            total += (_lagged_products(deviation, lengths) + error / n_seen * pairs) / variance
            subtracted += n_seen * error / variance
    total[0] -= subtracted
    # The variance of n errors is known to √(2/n) of itself.
    if total[0] <= subtracted * np.sqrt(2 / n_snapshots):
        total = np.append(1.0, np.zeros(len(total) - 1))
    # Runs in which nothing changes hold one value each, so τ is at most Σ l² / n.
    return total / total[0], products, sum(length**2 for length in lengths) / n_snapshots


def correlation_time(
    series: Floats,
    *,
    replicas: Lengths = None,
    errors: Floats | None = None,
    corrected: bool = False,
) -> float:
    """Return the number of snapshots after which values are as good as independent.

    Deviations are from the mean of the series itself, which follows slow motions. Of the variance,
    the share τ / n that the mean takes along is missing from every product, so τ is too short: by
    a third if a motion was seen five times.

    Parameters
    ----------
    series, replicas, errors
        As for :func:`autocorrelation`.
    corrected : bool, optional
        Whether to add what the mean takes along, and to make τ at least that of an exponential
        that forgets half of the motion as soon.

    Returns
    -------
    float
        τ = 1 + 2 Σ ρ(k) in snapshots, at least 1; about 2 t for ρ(k) = exp(−k/t).
    """
    correlation, products, longest = autocorrelation(series, replicas=replicas, errors=errors)
    time = _summed(correlation, exponential=corrected)
    if not corrected or time <= 1.0:
        return time
    share = min(0.5, time / products[0])
    correlation = (1 - share) * correlation + share * products / products[0]
    return min(_summed(correlation, exponential=True), longest)


def effective_size(
    series: Floats,
    *,
    replicas: Lengths = None,
    weights: Floats | None = None,
    errors: Floats | None = None,
    corrected: bool = False,
) -> float:
    """Return the number of independent values that series hold.

    Parameters
    ----------
    series, replicas
        As for :func:`autocorrelation`.
    weights : ndarray, shape (snapshots,), optional
        Weights of the snapshots, which count as (Σ w)² / Σ w² of them.
    errors
        As for :func:`autocorrelation`.
    corrected : bool, optional
        As for :func:`correlation_time`.

    Returns
    -------
    float
        From 1 to the number of snapshots that were seen, on average over the series.

    Examples
    --------
    >>> values = np.random.default_rng(0).normal(size=(100, 500))
    >>> round(effective_size(values), -1), round(effective_size(values.repeat(10, axis=1)), -1)
    (500.0, 500.0)
    """
    time = correlation_time(series, replicas=replicas, errors=errors, corrected=corrected)
    n_seen = np.count_nonzero(~np.isnan(series)) / len(np.atleast_2d(series))
    if weights is not None:
        n_seen *= weights.sum() ** 2 / (weights @ weights) / len(weights)
    return max(1.0, float(n_seen) / time)


def draw_runs(
    n_blocks: Sequence[int], length: int, *, n_draws: int, seed: int = 0, wrap: bool = True
) -> Ints:
    """Return draws of runs of consecutive blocks, with replacement.

    Parameters
    ----------
    n_blocks : sequence of int
        Number of blocks of each replica: no run crosses from one into the next.
    length : int
        Blocks of a run; a replica with fewer is drawn as a whole.
    n_draws : int
        Number of draws.
    seed : int, optional
        Seed of the random numbers.
    wrap : bool, optional
        Whether the first block of a replica follows its last, which makes all blocks equally
        likely. Without, a run holds neighbours only, and blocks at the ends are less likely.

    Returns
    -------
    ndarray of int, shape (draws, blocks)
        Number of each block drawn; the last run of a draw is cut off.

    Examples
    --------
    >>> draw_runs([6], 3, n_draws=2)
    array([[5, 0, 1, 3, 4, 5],
           [0, 1, 2, 0, 1, 2]])
    """
    counts = np.asarray(n_blocks)
    size = np.repeat(counts, counts)  # of the replica of each block
    first = np.repeat(np.cumsum(counts) - counts, counts)
    n_total = len(size)
    start = np.random.default_rng(seed).integers(0, n_total, (n_draws, n_total))
    run_lengths = np.minimum(length, size[start])
    ends = np.cumsum(run_lengths, axis=1)
    places = np.arange(n_total)
    begun = np.array([np.searchsorted(row, places, side="right") for row in ends])
    block, end, many = (np.take_along_axis(each, begun, 1) for each in (start, ends, run_lengths))
    place = block - first[block]
    if not wrap:
        place %= size[block] - many + 1
    drawn: Ints = first[block] + (place + places - (end - many)) % size[block]
    return drawn


def count_drawn(drawn: Ints, n_blocks: int) -> Ints:
    """Return how often each block was drawn.

    Parameters
    ----------
    drawn : ndarray of int, shape (draws, blocks drawn)
        As returned by :func:`draw_runs`.
    n_blocks : int
        Number of blocks.

    Returns
    -------
    ndarray of int, shape (draws, blocks)
        Counts, 0 for blocks that were not drawn.
    """
    places = drawn + n_blocks * np.arange(len(drawn))[:, None]
    return np.bincount(places.ravel(), minlength=n_blocks * len(drawn)).reshape(-1, n_blocks)


def _lagged_products(values: Floats, lengths: Sequence[int]) -> Floats:
    """Sums of products of values at each lag, within each run."""
    total = np.zeros(max(lengths))
    for run in np.split(values, np.cumsum(lengths)[:-1]):
        size = fft.next_fast_len(2 * len(run), real=True)  # padded, so that ends do not meet
        total[: len(run)] += fft.irfft(np.abs(fft.rfft(run, size)) ** 2, size)[: len(run)]
    return total


def _summed(correlation: Floats, *, exponential: bool) -> float:
    """1 + 2 Σ ρ(k) up to where two neighbouring lags add up to 0 or less, at least 1.

    With `exponential`, at least the sum for an exponential that falls to half as soon.
    """
    couples = correlation[: len(correlation) // 2 * 2].reshape(-1, 2).sum(axis=1)
    initial = couples[: np.append(couples <= 0, True).argmax()]
    time = max(1.0, 2.0 * float(initial.sum()) - 1.0)
    forgotten = np.flatnonzero(correlation <= 0.5)
    if not exponential or not len(forgotten):
        return time
    half = correlation[: forgotten[0] + 1]
    return max(time, float((2.0 * half.sum() - 1.0 - half[-1]) / (1.0 - half[-1])))
