"""Sums over the frames of a pair hold the digits that their argument promises."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests._kernels.layout import laid_out
from tests.strategies import seeds
from timme._arrays import Floats
from timme._kernels import compiled, sums
from timme._kernels.lanes import numbers_of

UNIT = 2.0**-24  # by which single precision rounds


@compiled
def sum_first_pair(xyz: Any, raw: Any) -> None:
    width = xyz.shape[2]
    sums.sum_when_still(numbers_of(xyz), width, 0, 3 * width, numbers_of(raw))


def summed_when_still(xyz: Floats) -> list[float]:
    """Return the first distance of two sites, both sums, and that of how far their vector moved."""
    raw = np.empty(8, np.float32)
    sum_first_pair(xyz, raw)
    numbers: list[float] = raw[:4].tolist()
    return numbers


@given(seeds, st.sampled_from([2, 5, 64, 98]), st.floats(0.5, 6), st.sampled_from([0.0, 1e3]))
def test_a_pair_that_hardly_moves_is_known_to_what_its_argument_says(
    seed: int, n_places: int, stiff: float, far: float
) -> None:
    """The error of σ is below u(r + 17 D): r their distance, D how far their vector strays."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(-9, 9, (1, 2, 3)) + far + 10.0**-stiff * rng.normal(size=(n_places, 2, 3))
    xyz = laid_out(places[rng.integers(0, n_places, 98)])
    between = xyz[0].astype(np.longdouble) - xyz[1]
    distances = np.sqrt((between**2).sum(axis=0))
    apart = np.sqrt(((between - between[:, :1]) ** 2).sum(axis=0).mean())
    _, first, second, moved = summed_when_still(xyz)
    sigma = np.sqrt(max(second - first**2 / 98, 0.0) / 98)
    allowed = UNIT * (distances.max() + 17 * apart) + 1e-5 * distances.std()  # and that of sums
    assert abs(sigma - distances.std()) < allowed
    # Vectors of this and of the first frame are rounded, by u of their length at most.
    rounding = 2 * UNIT * distances.max()
    assert abs(moved / 98 - apart**2) < (2 * apart + rounding) * rounding + 1e-5 * apart**2


def test_digits_that_a_distance_has_not_are_kept() -> None:
    """Two sites 900 apart that come nearer by 1e-3 in every other frame, in numbers of 1e-4."""
    snapshots = np.zeros((64, 2, 3))
    snapshots[:, 1] = [[600.0, -600.0, 300.0]]
    snapshots[::2, 0] = [2**-10, 0.0, 0.0]
    between = np.diff(snapshots.astype(np.longdouble), axis=1)[:, 0]
    exact = float(np.sqrt((between**2).sum(axis=1)).std())
    _, first, second, _ = summed_when_still(laid_out(snapshots))
    assert np.sqrt(second / 64 - (first / 64) ** 2) == pytest.approx(exact, rel=1e-5)
    distances = np.linalg.norm(np.diff(snapshots.astype(np.float32), axis=1)[:, 0], axis=1)
    assert float(distances.std()) != pytest.approx(exact, rel=1e-3)  # as single precision has it
