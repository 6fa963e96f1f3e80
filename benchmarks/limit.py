"""The fastest that this machine sums distances: all data in the first cache, on all cores."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import njit

from timme.engine.workers import Threads

POINTS, LANES, ROUNDS = 64, 512, 1_000


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"})
def _bare_loop(points, lanes, rounds):
    """Three subtractions, a square root and two sums."""
    x, y, z = lanes[0], lanes[1], lanes[2]
    first = second = x[0] - x[0]  # 0 in the precision of the data
    for _ in range(rounds):
        for i in range(len(points)):
            own_x, own_y, own_z = points[i, 0], points[i, 1], points[i, 2]
            for k in range(len(x)):
                dx = x[k] - own_x
                dy = y[k] - own_y
                dz = z[k] - own_z
                distance = np.sqrt(dx * dx + dy * dy + dz * dz)
                first += distance
                second += distance * distance
    return first + second


def run_limit(kind: type[np.floating[Any]] = np.float32) -> int:
    """Run the bare loop on all cores; return the number of distances."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(POINTS, 3)).astype(kind)
    lanes = rng.normal(size=(3, LANES)).astype(kind)
    count = Threads().threads_here
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(lambda _: _bare_loop(points, lanes, ROUNDS), range(4 * count)))
    return 4 * count * ROUNDS * POINTS * LANES
