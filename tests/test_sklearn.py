"""The estimator is one of scikit-learn, and finds what the steps find."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import timme
from tests import naive

pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'pytimme[sklearn]'")

from sklearn.utils.estimator_checks import (
    check_estimator,
    estimator_checks_generator,
)

from timme.sklearn import EXPECTED_FAILED_CHECKS, CoMovingClustering

PLANTED = timme.synthetic.planted()
SNAPSHOTS = PLANTED.ensemble.coordinates()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(estimator, check, id=getattr(check, "func", check).__name__)
        for estimator, check in estimator_checks_generator(CoMovingClustering(), legacy=True)
        if "array_api" not in str(check)  # a setting of scipy, asked for before it is imported
    ],
)
def test_the_checks_of_scikit_learn_pass(estimator: Any, check: Any) -> None:
    name = getattr(check, "func", check).__name__
    if name in EXPECTED_FAILED_CHECKS:
        with pytest.raises(AssertionError):  # or it applies, and is not to be listed
            check(estimator)
    else:
        check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.EstimatorCheckFailedWarning")
def test_what_fails_is_expected_by_who_runs_all_checks() -> None:
    made = check_estimator(
        CoMovingClustering(), expected_failed_checks=EXPECTED_FAILED_CHECKS, on_skip=None
    )
    assert {each["status"] for each in made} <= {"passed", "skipped", "xfail"}
    failed = {each["check_name"] for each in made if each["status"] == "xfail"}
    assert failed == set(EXPECTED_FAILED_CHECKS)


TEXTS: dict[str, Any] = {
    "texts": SNAPSHOTS.astype(str),
    "bytes": SNAPSHOTS.astype("S20"),
    "lists": SNAPSHOTS.astype(str).tolist(),
    "objects": SNAPSHOTS.astype(str).astype(object),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_numbers_that_are_written_out_are_refused(kind: str) -> None:
    with pytest.raises(ValueError, match=r"must be numbers, got texts: .*X\.astype\(float\)"):
        CoMovingClustering(cutoff=0.2).fit(TEXTS[kind])
    found = CoMovingClustering(cutoff=0.2).fit_predict(SNAPSHOTS.astype(object))
    np.testing.assert_array_equal(found, CoMovingClustering(cutoff=0.2).fit_predict(SNAPSHOTS))


def test_labels_are_as_the_check_that_does_not_apply_wants_them() -> None:
    found = CoMovingClustering(cutoff=0.2, min_size=2).fit(SNAPSHOTS.tolist())
    assert found.labels_.shape == SNAPSHOTS.shape[1:2]
    assert found.labels_.dtype == np.int64
    assert np.unique(found.labels_).tolist() == list(range(found.n_clusters_))
    again = CoMovingClustering(cutoff=0.2, min_size=2, n_jobs=1).fit_predict(SNAPSHOTS)
    np.testing.assert_array_equal(again, found.labels_)


def test_planted_clusters_are_found() -> None:
    labels = CoMovingClustering(cutoff=0.2).fit_predict(SNAPSHOTS)
    finest = PLANTED.labels[-1]
    assert len({*zip(labels.tolist(), finest.tolist(), strict=True)}) == len({*finest.tolist()})


def test_rows_of_sites_are_the_same_as_snapshots() -> None:
    rows = SNAPSHOTS.transpose(1, 0, 2).reshape(SNAPSHOTS.shape[1], -1)
    found = CoMovingClustering(cutoff=0.2).fit(SNAPSHOTS)
    same = CoMovingClustering(cutoff=0.2, n_dimensions=3).fit(rows)
    np.testing.assert_array_equal(found.labels_, same.labels_)
    with pytest.raises(ValueError, match=r"4 numbers for each snapshot \(n_dimensions=\)"):
        CoMovingClustering(n_dimensions=4).fit(rows[:, :10])


def test_the_result_goes_on_to_figures_and_pages() -> None:
    found = CoMovingClustering(radius=3.0, metric="cityblock").fit(SNAPSHOTS)
    objects = timme.objects.points(PLANTED.ensemble)
    near = timme.pairs.within(objects, 3.0)
    expected = timme.link(timme.measure(objects, near, metric="cityblock"))
    np.testing.assert_array_equal(found.hierarchy_.heights, expected.heights)
    assert found.analysis_.hierarchy is found.hierarchy_
    assert found.analysis_.recipe.settings.cutoff == found.cutoff_
    assert found.cutoff_ == timme.statistics.suggest(expected)[0].cutoff


@pytest.mark.parametrize("n_jobs", [-1, -2, -100])
def test_threads_may_be_counted_from_all_cores(n_jobs: int) -> None:
    found = CoMovingClustering(cutoff=0.2, n_jobs=n_jobs).fit_predict(SNAPSHOTS)
    np.testing.assert_array_equal(found, CoMovingClustering(cutoff=0.2).fit_predict(SNAPSHOTS))


@pytest.mark.parametrize(
    ("options", "snapshots", "said"),
    [
        ({"n_jobs": 0}, SNAPSHOTS, "at least 1 worker is needed, got 0"),
        ({"n_dimensions": 0}, SNAPSHOTS[..., 0].T, "n_dimensions= must be a whole number, 1 or mo"),
        ({"min_size": -3}, SNAPSHOTS, "min_size= must be a whole number, 1 or more, got -3"),
        ({"min_size": "a"}, SNAPSHOTS, "min_size= must be a whole number, 1 or more, got 'a'"),
        ({}, SNAPSHOTS[None], r"\(snapshots, sites, dimensions\), or a row .* got 4 dimensions"),
    ],
    ids=["no thread", "no dimension", "negative size", "size in letters", "4 dimensions"],
)
def test_what_means_nothing_is_refused_in_words(
    options: dict[str, Any], snapshots: Any, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        CoMovingClustering(**options).fit(snapshots)


def test_a_radius_of_euclidean_distances_is_told_beside_another_metric() -> None:
    told = "in contact within 3 in at least 1 snapshot"
    for metric, more in (("cityblock", " by Euclidean distances"), ("euclidean", "")):
        found = CoMovingClustering(radius=3.0, metric=metric).fit(SNAPSHOTS).analysis_
        assert found.recipe.compared == told + more
    made = timme.analyse(SNAPSHOTS, radius=3.0, metric="cityblock")
    assert made.recipe.compared == f"{told} by Euclidean distances, by the metric cityblock"


def test_small_clusters_are_labelled_as_noise() -> None:
    found = CoMovingClustering(cutoff=0.0, min_size=2).fit(SNAPSHOTS)
    assert (found.labels_ == -1).all()
    assert found.n_clusters_ == 0


def test_without_scikit_learn_it_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "timme.sklearn", raising=False)
    monkeypatch.delattr(timme, "sklearn", raising=False)
    for name in ("sklearn", "sklearn.base"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"pytimme\[sklearn\]"):
        _ = timme.sklearn


def test_the_error_of_positions_is_taken_off_as_by_the_recipe() -> None:
    rng = np.random.default_rng(0)
    still = rng.uniform(0, 20, (12, 2)) + rng.normal(size=(400, 12, 2)) * 0.05
    pairs = np.column_stack(np.triu_indices(12, 1))
    measured = np.median([naive.pair_sigma(still, a, b)[0] for a, b in pairs])
    assert measured == pytest.approx(np.sqrt(2) * 0.05, rel=0.05)
    found = CoMovingClustering(cutoff=0.01, noise=0.05).fit(still)
    assert np.median(found.hierarchy_.heights) < 0.25 * measured
    recipe = timme.analyse(still, pairs="all", noise=0.05, confidence=False)
    assert np.array_equal(found.hierarchy_.heights, recipe.hierarchy.heights)
    with pytest.raises(ValueError, match="one error, or one for each of 2 axes, got 3"):
        CoMovingClustering(noise=[0.1, 0.1, 0.1]).fit(still)
