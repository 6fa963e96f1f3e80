"""The fastest that a machine can sum distances: everything in the first cache, in all cores."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import njit

from timme.engine.threads import available_cores

_POINTS, _LANES, _ROUNDS = 64, 512, 2_000


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"})
def _bare_loop(points, lanes, rounds):
    """Three subtractions, a square root and two sums."""
    x, y, z = lanes[0], lanes[1], lanes[2]
    first = second = x[0] - x[0]  # 0, single or not
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
    """Run the bare loop in all cores, in some precision; return how many distances it took."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(_POINTS, 3)).astype(kind)
    lanes = rng.normal(size=(3, _LANES)).astype(kind)
    tasks = 4 * available_cores()
    with ThreadPoolExecutor(available_cores()) as pool:
        list(pool.map(lambda _: _bare_loop(points, lanes, _ROUNDS), range(tasks)))
    return tasks * _ROUNDS * _POINTS * _LANES
