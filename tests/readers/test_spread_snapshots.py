"""Particles followed through walls where snapshots lie ever farther apart in time."""

from __future__ import annotations

import numpy as np
import pytest

import timme
from tests.readers.test_unwrapping import SIDE, sigma_of, table_of, true_sigma

DOUBLED = np.r_[0, 2 ** np.arange(17)]  # times of snapshots, each as late again


@pytest.mark.parametrize("seed", range(3))
def test_particles_in_cages_are_followed_however_far_snapshots_are_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = rng.uniform(0, SIDE, (1, 40, 3)) + rng.normal(0, 0.01 * SIDE, (len(DOUBLED), 40, 3))
    ensemble = timme.read(table_of(places, DOUBLED), box=SIDE, unwrap=True)
    np.testing.assert_allclose(sigma_of(ensemble), true_sigma(places), rtol=1e-6)


@pytest.mark.parametrize("boxes", [0.6, 0.7, 0.88, 1.38, 2.8])
def test_one_that_drifts_among_still_ones_is_refused_as_snapshots_lie_farther_apart(
    boxes: float,
) -> None:
    """In the last step, it goes by more than half a box."""
    rng = np.random.default_rng(6)
    places = rng.uniform(0, SIDE, (1, 30, 3)) + rng.normal(0, 5e-4 * SIDE, (len(DOUBLED), 30, 3))
    far = boxes * SIDE * DOUBLED / (DOUBLED[-1] - DOUBLED[-2])
    places[:, 0] += far[:, None] * np.array([1.0, 0.3, 0.0])
    with pytest.raises(ValueError, match="nobody can tell through which wall"):
        timme.read(table_of(places, DOUBLED), box=SIDE, unwrap=True)
