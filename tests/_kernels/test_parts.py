"""Loops over sums of parts do what a line of numpy does."""

from __future__ import annotations

import numpy as np
import pytest

from timme._kernels import parts


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (5, 2), (7, 33), (3, 100)])
@pytest.mark.parametrize("infinite", [False, True])
def test_extremes_of_rows_are_found(shape: tuple[int, int], infinite: bool) -> None:
    rows = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    if infinite:  # where a pair is not seen often enough
        rows[::2] = np.inf
        rows[1::2, 0] = np.inf
    lowest, highest = np.empty(shape[0]), np.empty(shape[0])
    parts.extremes(rows, lowest, highest)
    assert lowest.tolist() == rows.min(axis=1).tolist()
    assert highest.tolist() == rows.max(axis=1).tolist()
