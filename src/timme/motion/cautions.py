"""Say where the orientation of a body is found, but hardly."""

from __future__ import annotations

import numpy as np

from timme.motion.fits import Shape, inertia

_UNSURE = 0.1  # rad, and above: a turn about the length of a body that noise makes
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
    if _is_nearly_a_line(shape):
        words.append(f"{name} is nearly a line: turns about its length are hardly seen")
    size = np.sqrt(np.nanmean((shape.places**2).sum(axis=1)))
    if shape.rest > _LOOSE * size:
        words.append(f"{name} is hardly rigid: its rest is more than a quarter of its size")
    return tuple(words)


def _is_nearly_a_line(shape: Shape) -> bool:
    """Whether noise hides turns about the length of a body, and about that alone."""
    if shape.places.shape[1] != 3 or not shape.noise > 0:
        return False
    moments = np.linalg.eigvalsh(inertia(shape.places, shape.weights))
    # The mean of a few snapshots is wider than the body: noise has not been averaged away.
    known = shape.weights[np.isfinite(shape.places).all(axis=1)]
    across = moments[0] - 2 * known.sum() * shape.noise**2 / shape.n_fitted
    return bool(shape.noise**2 > _UNSURE**2 * across and moments[1] > _LONG * moments[0])
