"""Say how surely a slope is known where what is left over moves slowly.

An axis is tilted by turns across it, the more so the further the body is turned: the tilt is the
slope of these turns against the angle, and its place is that of shifts. What moves slowly stays
with the angle for long, and few such stays are seen. Blocks that are drawn anew tell it badly then:
as long as the noise remembers they are too few, and the slope itself has followed the noise, so
that what is left seems to forget sooner than it does. So noise is taken to be slow, white, or both,
and how slow it is and how much of it is white is what makes the series likeliest, mean and slope
taken off (restricted maximum likelihood, Patterson and Thompson 1971): that is not misled by what
they have followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from timme._arrays import Bools, Floats
from timme._kernels import slow_noise as kernel
from timme.series import correlation_time, count_drawn, draw_runs

CONE = 1.73  # √ln 20: standard deviations within which two series are in 95 of 100 cases
_FEWEST = 8  # snapshots from which noise can be told to be slow
_HALF = 25  # snapshots of a half, and more, that may contradict the other
_CHANCE = 4.6  # ln 100: squares of two series, over their variance, are above it once in 100 cases
_DOUBT = 0.2  # odds of white noise above which it is taken to be white
_TIMES = 20  # guesses of the correlation time, from half a snapshot to ten times all
_WHITE = (0.0, 0.25, 0.5, 0.75, 0.9)  # guesses of the white share of the variance
_STILL = 1e-20  # of the squares of angles: what is below it is rounding


def slope_errors(
    angles: Floats, across: Floats, *, weights: Floats, runs: Sequence[int]
) -> tuple[float, float, bool]:
    """Tell the error of the slope of series against angles, with noise that may be slow.

    Parameters
    ----------
    angles : ndarray, shape (snapshots,)
        About the axis.
    across : ndarray, shape (snapshots, series)
        What moves across it.
    weights : ndarray, shape (snapshots,)
        How much each snapshot counted in the slope.
    runs : sequence of int
        Snapshots of each independent run.

    Returns
    -------
    error : float
        Standard deviation of the slope, over all series: of the likeliest noise, or of white noise
        where slow noise is not four times as likely, as much of each being expected; more where
        noise is slow and halves of 50 snapshots or more contradict each other. 0 of fewer than 8.
    cone : float
        Within which the slopes of two series are in 95 of 100 cases, all guesses weighed by how
        likely they are.
    contradiction : bool
        Whether halves contradict each other.
    """
    begins = np.zeros(len(angles), np.bool_)
    begins[np.cumsum(runs) - runs] = True
    whole, *halves = (
        _Slope.of(angles[part], across[part], weights[part], begins[part])
        for part in (slice(None), slice(len(angles) // 2), slice(len(angles) // 2, None))
    )
    long = whole.slow and len(angles) >= 2 * _HALF
    more = _contradiction(whole, *halves) if long else 1.0
    return more * whole.error, more * whole.cone, more > 1.0


def draw_blocks(series: Floats, runs: Sequence[int], *, seed: int) -> Floats:
    """Draw snapshots anew, 200 times, in blocks as long as series remember.

    Parameters
    ----------
    series : ndarray, shape (snapshots, series)
        What is to be known from the snapshots.
    runs : sequence of int
        Snapshots of each independent run; where each has one, blocks have one.
    seed : int
        Of the random numbers.

    Returns
    -------
    ndarray, shape (draws, snapshots)
        How often each snapshot is drawn. A draw of one snapshot alone, as one in nine is of three,
        has no axis and is left out.
    """
    n_snapshots, length = len(series), 1
    if len(runs) < n_snapshots:
        time = correlation_time(series.T, replicas=runs)
        length = int(np.clip(np.ceil(2 * time), 1, max(1, n_snapshots // 3)))
    drawn = draw_runs(runs, length, n_draws=200, seed=seed, wrap=False)
    counts = count_drawn(drawn, n_snapshots)
    several: Floats = counts[(counts > 0).sum(axis=1) > 1].astype(np.float64)
    return several


@dataclass(frozen=True, slots=True, eq=False)
class _Slope:
    """A slope of each series, and how surely it is known."""

    slopes: Floats  # (series,)
    error: float
    cone: float
    slow: bool  # whether noise is taken to be slow

    @classmethod
    def of(cls, angles: Floats, across: Floats, weights: Floats, begins: Bools) -> _Slope:
        middle = angles - weights @ angles / weights.sum()
        size = float(weights @ middle**2)
        if len(angles) < _FEWEST or size == 0:
            return cls(np.zeros(across.shape[1]), 0.0, 0.0, slow=False)
        lever = weights * middle / size
        moving = across[:, (across**2).sum(axis=0) > _STILL * size]
        if not moving.shape[1]:
            return cls(lever @ across, 0.0, 0.0, slow=False)
        begins = begins | (np.arange(len(begins)) == 0)
        likelihoods, variances = _guesses(middle, moving, lever, begins)
        odds = np.exp(likelihoods - likelihoods.max())
        odds[0] *= len(odds) - 1  # white noise is as likely beforehand as all slow noise together
        odds /= odds.sum()
        slow = bool(odds[0] < _DOUBT)
        likeliest = variances[likelihoods.argmax()] if slow else variances[0]
        return cls(lever @ across, float(np.sqrt(likeliest)), _cone(odds, variances), slow=slow)


def _contradiction(whole: _Slope, first: _Slope, second: _Slope) -> float:
    """Times their errors by which two halves differ, where chance does so once in 100; or 1.

    Slopes of a path that bends are no sample of anything: what they differ by is all that is known.
    The slope of all is then known no worse than the mean of both would be, by half of that.
    """
    told = (first.cone**2 + second.cone**2) / CONE**2
    apart = float(((first.slopes - second.slopes) ** 2).sum())
    if told == 0 or whole.error == 0 or apart <= _CHANCE * told:
        return 1.0
    return max(1.0, min(float(np.sqrt(apart / told)), float(np.sqrt(apart)) / 2 / whole.error))


def _guesses(angles: Floats, across: Floats, lever: Floats, begins: Bools) -> tuple[Floats, Floats]:
    """Logarithms of likelihoods, and variances of the slope, by guess; white noise is the first."""
    n_snapshots, n_series = across.shape
    times = np.geomspace(0.5, 10.0 * n_snapshots, _TIMES)
    kept = np.append(0.0, np.repeat(np.exp(-1 / times), len(_WHITE)))
    white = np.append(1.0, np.tile(_WHITE, len(times)))
    series = np.column_stack([np.ones(n_snapshots), angles / np.sqrt(angles @ angles), across])
    products = np.empty((len(kept), 2 + n_series, 2 + n_series))
    logarithms, tilts = np.empty(len(kept)), np.empty(len(kept))
    kernel.whiten(series, lever, begins, kept, white, products, logarithms, tilts)
    known, shared = products[:, :2, :2], products[:, :2, 2:]
    followed = np.einsum("gis,gis->gs", shared, np.linalg.solve(known, shared))
    left = np.einsum("gss->gs", products[:, 2:, 2:]) - followed
    freedom = n_snapshots - 2
    squares = np.maximum(left, np.finfo(float).tiny) / freedom
    spent = n_series * (logarithms + np.log(np.linalg.det(known)))
    likelihoods: Floats = -0.5 * (freedom * np.log(squares).sum(axis=1) + spent)
    return likelihoods, squares.sum(axis=1) * tilts


def _cone(odds: Floats, variances: Floats) -> float:
    """Beyond which 5 of 100 slopes of two series are, each guess with its own bell curve."""
    low, high = 0.0, float(20 * variances.max())
    for _ in range(60):
        middle = (low + high) / 2
        beyond = float(odds @ np.exp(-middle / variances))
        low, high = (middle, high) if beyond > 0.05 else (low, middle)
    return float(np.sqrt(high))
