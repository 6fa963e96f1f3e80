"""How many snapshots two objects must share, and what is said where none do."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import timme
from tests.strategies import searching
from timme._arrays import Bools, Floats
from timme.engine.run import Run
from timme.fluctuations.overlap import (
    choose_overlap,
    keep_sharing,
    kept_by_half,
    seen_objects,
    shared_with_another,
)
from timme.hierarchy.clustering import cluster_and_count
from timme.workflow.remarks import without_short_tracks


def crowd(n_people: int = 12, stay: int = 10, every: int = 5) -> Floats:
    """People who come one after another and stay for a while: each meets two others or so."""
    n_snapshots = every * (n_people - 1) + stay
    walks = np.random.default_rng(0).normal(size=(n_snapshots, n_people, 2)).cumsum(axis=0)
    for person in range(n_people):
        walks[: every * person, person] = np.nan
        walks[every * person + stay :, person] = np.nan
    return walks


def points(snapshots: Floats) -> timme.objects.Objects:
    return timme.objects.points(timme.read(snapshots, gaps=True))


@given(arrays(bool, st.tuples(st.integers(1, 12), st.integers(2, 9))))
def test_what_is_shared_most_is_that_of_all_pairs(seen: Bools) -> None:
    n_objects = seen.shape[1]
    common = [
        max(
            int((seen[:, one] & seen[:, other]).sum()) for other in range(n_objects) if other != one
        )
        for one in range(n_objects)
    ]
    assert shared_with_another(seen).tolist() == common


@given(arrays(bool, st.tuples(st.integers(2, 12), st.integers(2, 9))))
def test_half_of_the_objects_are_kept_and_no_larger_overlap_keeps_them(seen: Bools) -> None:
    found, shared = kept_by_half(seen), shared_with_another(seen)
    if found > 2:
        assert 2 * np.count_nonzero(shared >= found) >= len(shared)
    assert 2 * np.count_nonzero(shared > found) < len(shared)


def test_auto_never_asks_for_more_than_is_usual() -> None:
    walks = np.random.default_rng(0).normal(size=(10, 5, 2))
    walks[0, 0] = np.nan
    assert choose_overlap(points(walks), "auto") == choose_overlap(points(walks), None) == 5


def test_no_measured_pair_is_an_error_that_says_what_would_keep_how_many() -> None:
    people = points(crowd())
    with pytest.raises(
        ValueError,
        match=r"^none of 66 pairs of points share the 33 of 65 snapshots that they need: "
        r"min_overlap=5 would keep 11 pairs of 12 of 12; min_overlap='auto' chooses",
    ):
        timme.measure(people, timme.pairs.all(people))
    with pytest.raises(ValueError, match="min_overlap=5 would keep 11 pairs"):
        timme.cluster(people, timme.pairs.all(people))


def test_auto_measures_a_crowd_in_which_few_coexist() -> None:
    people = points(crowd())
    found = timme.measure(people, timme.pairs.all(people), min_overlap="auto")
    assert found.pairs.tolist() == [[person, person + 1] for person in range(11)]
    assert found.common.tolist() == [5] * 11
    same = timme.cluster(people, timme.pairs.all(people), min_overlap="auto")
    np.testing.assert_array_equal(same.heights, timme.link(found).heights)


def test_those_who_never_meet_are_told_so() -> None:
    people = points(crowd(every=10))
    with pytest.raises(ValueError, match="no two are seen together in 2 snapshots"):
        timme.measure(people, timme.pairs.all(people))


def test_any_other_word_is_refused() -> None:
    people = points(crowd())
    with pytest.raises(ValueError, match="a number of snapshots or auto, got 'most'"):
        timme.measure(people, timme.pairs.all(people), min_overlap="most")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="min_overlap= takes a whole number or auto, got 'most'"):
        timme.Settings(min_overlap="most")  # type: ignore[arg-type]


def test_the_recipe_says_which_overlap_would_keep_how_many() -> None:
    with pytest.raises(
        ValueError,
        match=r"^0 of 12 sites are seen in at least 33 of 65 snapshots, which two must share: "
        r"min_overlap=5 would keep 12 of 12; min_overlap='auto' chooses what keeps half of all$",
    ):
        timme.analyse(crowd(), gaps=True)


def test_the_headline_counts_the_measured_pairs_and_those_left_out() -> None:
    made = timme.analyse(crowd(), gaps=True, min_overlap="auto")
    assert made.recipe.n_pairs == 11
    rows = dict(timme.analysis.summary(made))
    assert rows["pairs"].startswith("11 ")
    assert rows["pairs"].endswith("55 of 66 left out, which share fewer than 5 snapshots")
    assert any("two sites must share 5 of 65 snapshots" in note for note in made.notes)
    assert made.recipe.options["min_overlap"] == 5


def test_nothing_is_left_out_of_the_headline_without_gaps() -> None:
    made = timme.analyse(np.random.default_rng(0).normal(size=(10, 5, 2)))
    assert made.recipe.n_pairs == 10
    assert "left out" not in dict(timme.analysis.summary(made))["pairs"]


def test_pairs_that_are_never_held_are_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    from timme.workflow import kept_pairs

    monkeypatch.setattr(kept_pairs, "KEPT_PAIRS", 10)
    made = timme.analyse(crowd(), gaps=True, min_overlap="auto")
    assert made.recipe.n_pairs == 11


def test_all_pairs_that_meet_are_kept_where_they_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("timme.workflow.kept_pairs.KEPT_PAIRS", 20)  # of 66
    made = timme.analyse(crowd(), gaps=True, min_overlap="auto")
    assert made.fluctuations is not None
    assert made.recipe.n_pairs == len(made.fluctuations.sigma) == 11
    assert "55 of 66 left out" in made.recipe.compared
    assert not any("too much to keep" in note for note in made.notes)


def measure_pair_by_pair(made: timme.objects.Objects, pairs: timme.pairs.Pairs) -> dict[Any, Any]:
    """Take σ of a list of all pairs, of which none is left out before its distances are taken."""
    (index,) = pairs.chunks(len(made) ** 2)
    found = timme.measure(made, timme.pairs.given(made, index), min_overlap=2)
    numbers = zip(found.sigma.tolist(), found.common.tolist(), strict=True)
    return dict(zip(map(tuple, found.pairs.tolist()), numbers, strict=True))


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.sampled_from(["all", "far"]))
@searching(40)
def test_leaving_out_early_who_shares_too_little_changes_no_bit(
    seed: int, overlap: int, choice: str
) -> None:
    rng = np.random.default_rng(seed)
    walks = rng.normal(size=(30, 150, 2)).cumsum(axis=0)
    begin, stay = rng.integers(0, 30, 150), rng.integers(0, 9, 150)
    moment = np.arange(30)[:, None]
    walks[(moment < begin) | (moment >= begin + stay)] = np.nan
    made = points(walks)
    pairs = timme.pairs.all(made)
    if choice == "far":
        pairs = replace(pairs, left_out=np.column_stack([np.arange(149), np.arange(1, 150)]))
    known = measure_pair_by_pair(made, pairs)
    expected = {pair: found for pair, found in known.items() if found[1] >= overlap}
    assume(expected)
    kept = keep_sharing(made, pairs, overlap)
    assert kept.index is not None
    walked = [pair for pair in map(tuple, next(pairs.chunks(150**2)).tolist()) if pair in expected]
    assert list(map(tuple, kept.index.tolist())) == walked
    found = timme.measure(made, pairs, min_overlap=overlap)
    numbers = zip(found.sigma.tolist(), found.common.tolist(), strict=True)
    assert dict(zip(map(tuple, found.pairs.tolist()), numbers, strict=True)) == expected


def test_nobody_is_left_out_early_where_most_share_enough() -> None:
    walks = np.random.default_rng(0).normal(size=(10, 6, 2))
    walks[0, 0] = np.nan
    made = points(walks)
    pairs = timme.pairs.all(made)
    assert keep_sharing(made, pairs, 5) is pairs
    assert keep_sharing(made, timme.pairs.given(made, [[0, 1]]), 10).index is not None


def test_of_a_large_crowd_only_pairs_that_meet_are_measured() -> None:
    people = points(crowd(n_people=600))
    steps = list[int]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no word about all pairs, which are not measured
        hierarchy, _, n_measured = cluster_and_count(
            people,
            timme.pairs.all(people),
            min_overlap=5,
            run=Run.of(progress=lambda _, whole: steps.append(whole)),
        )
    assert n_measured == 599
    assert set(steps) == {599}
    assert len(hierarchy.cut(1e9).sizes) == 1


@pytest.mark.parametrize("n_sites", [2_500, 4_000])
def test_what_an_overlap_would_keep_is_counted_over_all(n_sites: int) -> None:
    walks = crowd(n_people=12)
    everyone = np.concatenate([walks, np.full((65, n_sites - 12, 2), np.nan)], axis=1)
    everyone[:3, 12:] = everyone[3, 12:2_201] = 0.0  # many who are seen for a moment
    with pytest.raises(
        ValueError,
        match=f"=4 would keep 2,201 of {n_sites:,}, min_overlap=3 would keep {n_sites:,} of",
    ):
        without_short_tracks(timme.read(everyone, gaps=True), None)


def test_counts_from_some_of_the_sites_are_called_estimates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("timme.fluctuations.overlap._MOST_WORK", 0)
    everyone = np.full((40, 3_000, 1), np.nan)
    everyone[:4] = 0.0
    with pytest.raises(ValueError, match="min_overlap=4 would keep about 3,000 of 3,000"):
        without_short_tracks(timme.read(everyone, gaps=True), None)


def test_centres_of_groups_are_seen_where_all_of_their_sites_are() -> None:
    walks = crowd()
    ensemble = timme.read(walks, gaps=True)
    made = timme.objects.groups(ensemble, [[0, 1], [1, 2], [5]], reduction="centre")
    seen = np.isfinite(walks[:, :, 0])
    whole = np.column_stack([seen[:, group].all(axis=1) for group in ([0, 1], [1, 2], [5])])
    np.testing.assert_array_equal(seen_objects(made), whole)
