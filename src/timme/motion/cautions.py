"""Say where the orientation of a body is found, but hardly, or not at all for its noise."""

from __future__ import annotations

import numpy as np

from timme._arrays import Floats
from timme.motion.fits import Shape, inertia

LOST = "noise turns it by 20° and more"
_UNSURE = 0.1  # rad, and above: a turn about the length of a body that noise makes
# Noise of turns, in rad, above which they are as good as random: those of a thin rod about its
# length, of which formulas for small noise tell too little.
_RANDOM = 0.35
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

    The mean of a few snapshots of a line is no line: noise is not averaged away, and each snapshot
    is turned until its noise lies on that of the others. Of n sites and T snapshots, noise ε alone
    gives up to 2 ε² (√n + √T)² / T for the moment about the length, as far as singular values of
    random matrices reach (Marchenko and Pastur 1967): what has no more may be a line. To the moment
    of anything wider it adds 2 ε² n / T, which is taken off.
    """
    if shape.places.shape[1] != 3 or not shape.noise > 0:
        return 0.0
    moments = np.linalg.eigvalsh(inertia(shape.places, shape.weights))
    if moments[1] <= _LONG * moments[0]:
        return 0.0
    n_sites = shape.weights[np.isfinite(shape.places).all(axis=1)].sum()
    unit = 2 * shape.noise**2 / shape.n_fitted
    if moments[0] <= unit * (np.sqrt(n_sites) + np.sqrt(shape.n_fitted)) ** 2:
        return float("inf")
    return float(shape.noise / np.sqrt(moments[0] - unit * n_sites))
