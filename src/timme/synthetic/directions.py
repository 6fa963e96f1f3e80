"""Draw directions in space."""

from __future__ import annotations

import numpy as np

from timme._arrays import Floats


def directions(shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Draw unit vectors spread evenly over the sphere.

    Parameters
    ----------
    shape : tuple of int
        How many, along each axis.
    rng : Generator
        Where chance comes from.

    Returns
    -------
    ndarray, shape (*shape, 3)
        Vectors of length 1.
    """
    vectors = rng.normal(size=(*shape, 3))
    unit: Floats = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return unit
