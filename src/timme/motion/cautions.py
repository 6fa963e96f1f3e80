"""Say where the orientation of a body is found, but hardly, or not at all for its noise."""

from __future__ import annotations

import numpy as np

from timme._arrays import Floats
from timme.motion.fits import Shape
from timme.motion.rotations import inertia

LOST = "noise turns it by 20° and more"
_UNSURE = 0.1  # rad, and above: a turn about the length of a body that noise makes
# Noise of turns, in rad, above which they are as good as random: those of a thin rod about its
# length, of which formulas for small noise tell too little.
_RANDOM = 0.35
# Probability below which it is no chance that what lies across a body is alike in all snapshots.
_CHANCE = 1e-4
_LONG = 10.0  # times as hard to turn about other axes, and more: nearly a line
_LOOSE = 0.25  # of the size of a body, and above: its rest


def cautions(shape: Shape, name: str) -> tuple[str, ...]:
    """Say what to be careful about in the orientations of a body.

    Parameters
    ----------
    shape : Shape
        Its mean shape, and its rest.
    name : str
        What to call it.

    Returns
    -------
    tuple of str
        In words; none of a body that is rigid and wide.
    """
    words = []
    if _lengthwise_noise(shape) > _UNSURE:
        words.append(f"{name} is nearly a line: turns about its length are hardly seen")
    size = np.sqrt(np.nanmean((shape.places**2).sum(axis=1)))
    if shape.rest > _LOOSE * size:
        words.append(f"{name} is hardly rigid: its rest is more than a quarter of its size")
    return tuple(words)


def is_lost(turning: Floats, *shapes: Shape) -> bool:
    """Tell whether noise turns bodies so much that angles are as good as random.

    Parameters
    ----------
    turning : ndarray, shape (3, 3)
        Covariance of the rotation vector that noise makes, in rad².
    *shapes : Shape
        The bodies that are turned against each other.

    Returns
    -------
    bool
        By the formula for small noise, or about the length of either.
    """
    told = float(np.sqrt(np.linalg.eigvalsh(turning)[-1]))
    return max(told, *map(_lengthwise_noise, shapes)) > _RANDOM


def _lengthwise_noise(shape: Shape) -> float:
    """Noise of turns of a body about its length, in rad: infinite of a line, 0 if it is not long.

    The mean of a few snapshots of a line is no line: each is turned until its noise lies on that of
    the others. So what lies across the length is asked whether it is the same in all snapshots, by
    more than across a line. Where it is not found in some, it is in others by chance. To the moment
    of the mean, noise ε adds 2 ε² n / T.
    """
    if shape.places.shape[1] != 3 or not shape.noise > 0:
        return 0.0
    moments, directions = np.linalg.eigh(inertia(shape.places, shape.weights))
    if moments[1] <= _LONG * moments[0]:
        return 0.0
    known = shape.weights[np.isfinite(shape.places).all(axis=1)]
    n_free = float(known.sum() ** 2 / (known**2).sum()) - 2  # two say where the line is
    sides = directions[:, 1:]
    mean, about = float(moments[0]), float(np.trace(sides.T @ shape.scatter @ sides))
    alike = _coherence(mean, about, shape.n_fitted)
    if shape.n_lost or alike <= _of_a_line(n_free, shape.n_fitted):
        return float("inf")
    unit = 2 * shape.noise**2 / shape.n_fitted
    return float(shape.noise / np.sqrt(max(mean - unit * known.sum(), unit)))


def _coherence(mean: float, about: float, n_snapshots: int) -> float:
    """r² of one snapshot with the mean of the others, of squares of the mean and about it."""
    others = n_snapshots - 1
    shared = max(0.0, mean - about / others)
    return shared**2 / ((mean + about) * (mean + about / others**2))


def _of_a_line(n_free: float, n_snapshots: int) -> float:
    """Coherence up to which the noise across a line comes, each snapshot turned to fit the others.

    Across a line are n complex numbers of noise. Two snapshots of them have more than r² with a
    probability of (1 − r²)ⁿ⁻¹, however they are turned. More of them have less: their mean has at
    most (√n + √T)² / T of the n squares of one, as far as singular values of random matrices reach
    (Marchenko and Pastur 1967).
    """
    if n_free <= 1:
        return 1.0
    by_chance = -float(np.expm1(np.log(_CHANCE) / (n_free - 1)))
    reach = (np.sqrt(n_free) + np.sqrt(n_snapshots)) ** 2 / n_snapshots
    if reach >= n_free:
        return by_chance
    return min(by_chance, _coherence(reach, n_free - reach, n_snapshots))
