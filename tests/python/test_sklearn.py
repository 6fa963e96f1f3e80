"""Parity: the estimator is one of scikit-learn, and finds what the library finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import timme

pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'pytimme[sklearn]'")

from sklearn.utils.estimator_checks import check_estimator

from timme.analysis.recipe import analyse
from timme.sklearn import EXPECTED_FAILED_CHECKS, CoMovingClustering

PLANTED = timme.synthetic.planted()
SNAPSHOTS = PLANTED.ensemble.coordinates()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.EstimatorCheckFailedWarning")
def test_checks_of_scikit_learn_pass() -> None:
    made = check_estimator(
        CoMovingClustering(),
        expected_failed_checks=EXPECTED_FAILED_CHECKS,
        on_skip=None,
        on_fail=None,
    )
    failed = {each["check_name"]: each["exception"] for each in made if each["status"] == "failed"}
    assert not failed
    expected = {each["check_name"] for each in made if each["status"] == "xfail"}
    assert expected == set(EXPECTED_FAILED_CHECKS)


def test_planted_clusters_are_found() -> None:
    labels = CoMovingClustering(cutoff=0.2).fit_predict(SNAPSHOTS)
    finest = PLANTED.labels[-1]
    assert len({*zip(labels.tolist(), finest.tolist(), strict=True)}) == len({*finest.tolist()})


def test_first_cutoff_and_hierarchy_are_those_of_the_recipe() -> None:
    found = CoMovingClustering(radius=3.0, metric="cityblock").fit(SNAPSHOTS)
    expected = analyse(SNAPSHOTS, pairs="contact:3", metric="cityblock")
    np.testing.assert_array_equal(found.hierarchy_.heights, expected.hierarchy.heights)
    assert found.cutoff_ == expected.finding.cutoff


def test_rows_of_sites_are_the_same_as_snapshots() -> None:
    rows = SNAPSHOTS.transpose(1, 0, 2).reshape(SNAPSHOTS.shape[1], -1)
    found = CoMovingClustering(cutoff=0.2).fit(SNAPSHOTS)
    same = CoMovingClustering(cutoff=0.2, n_dimensions=3, n_jobs=-1).fit(rows)
    np.testing.assert_array_equal(found.labels_, same.labels_)


def test_sites_of_small_clusters_are_noise() -> None:
    found = CoMovingClustering(cutoff=0.0, min_size=2).fit(SNAPSHOTS)
    assert (found.labels_ == -1).all()
    assert found.n_clusters_ == 0


@pytest.mark.parametrize(
    ("options", "snapshots", "message"),
    [
        ({"n_jobs": 0}, SNAPSHOTS, "n_jobs == 0"),
        ({"n_dimensions": 0}, SNAPSHOTS, "n_dimensions= must be a whole number, 1 or more"),
        ({"n_dimensions": 4}, SNAPSHOTS[:, :10, 0], r"4 numbers for each snapshot"),
        ({"min_size": "a"}, SNAPSHOTS, "min_size= must be a whole number, 1 or more, got 'a'"),
        ({}, np.stack([SNAPSHOTS] * 2), r"dimensions|shape"),
    ],
)
def test_unusable_values_are_refused(options: dict[str, Any], snapshots: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CoMovingClustering(**options).fit(snapshots)
