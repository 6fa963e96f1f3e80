"""Coordinates as kernels want them."""

import numpy as np

from timme._arrays import Floats


def laid_out(snapshots: Floats) -> Floats:
    """Return (sites, dimensions, frames) of single precision."""
    return np.ascontiguousarray(snapshots.transpose(1, 2, 0), np.float32)
