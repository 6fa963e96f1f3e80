"""σ of shown objects is that of their distances, whether it was measured before or when asked."""

from __future__ import annotations

import numpy as np
import pytest

import timme
from timme.confidence import shown as module
from timme.confidence.shown import measure_shown
from timme.system.ensemble import Ensemble


@pytest.mark.parametrize("most", [1200, 5])
@pytest.mark.parametrize("gaps", [False, True])
def test_sigma_of_shown_objects_is_that_of_their_distances(
    most: int, gaps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_SHOWN", most)
    rng = np.random.default_rng(3)
    array = rng.normal(size=(20, 30, 3)) * 4
    if gaps:
        array[rng.random((20, 30)) < 0.2] = np.nan
        array[:10, 7], array[10:, 4] = np.nan, np.nan  # two that are never seen together
    points = timme.objects.points(Ensemble.from_array(array, gaps=gaps))
    sites = np.array([22, 3, 7, 4, 18, 29, 0, 11])  # in any order
    found = measure_shown(points, sites)
    assert len(found.chosen) == min(most, len(sites))
    index = np.array([(j, i) if (i + j) % 2 else (i, j) for j in range(8) for i in range(j)])
    one, other = sites[index].T
    r = np.linalg.norm(array[:, one] - array[:, other], axis=2)
    expected = np.full(len(index), np.nan)
    often = np.count_nonzero(np.isfinite(r), axis=0) >= 2
    expected[often] = np.nanstd(r[:, often], axis=0)
    assert np.isnan(expected).any() == gaps
    np.testing.assert_allclose(found.of(index), expected, rtol=1e-9)


def test_groups_are_measured_as_they_were_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_SHOWN", 3)
    array = np.random.default_rng(4).normal(size=(12, 15, 3)) * 4
    groups = timme.objects.groups(
        Ensemble.from_array(array), [range(k, k + 3) for k in range(0, 15, 3)]
    )
    sigma = timme.measure(groups, timme.pairs.all(groups))
    found = measure_shown(groups, np.arange(5))
    np.testing.assert_allclose(found.of(sigma.pairs), sigma.sigma, rtol=1e-12)
