"""Less of a trajectory is compared with all of it; windows track who joins and leaves."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import timme
from tests import naive
from timme.confidence import assess
from timme.confidence.findings import Convergence
from timme.confidence.windows import cut_windows, sigma_by_time, slide
from timme.synthetic import FAMILIES
from timme.system.ensemble import Ensemble


def test_all_of_a_trajectory_agrees_with_itself_and_replicas_are_left_out() -> None:
    made = FAMILIES["hinge 15° + tail"](64, 3)
    points = timme.objects.points(made.ensemble)
    sigma = timme.measure(points, timme.pairs.within(points, 7.5))
    found = assess(points, sigma, timme.link(sigma), replicas=[32, 32])
    told = found.convergence
    assert told is not None
    assert told.fractions[-1] == 1.0
    assert told.forward[-1] == told.backward[-1] == pytest.approx(1.0)
    assert (told.forward_overlaps[-1] == 1.0).all()
    assert told.left_out.shape == (2, len(found.trusted))
    assert told.words.startswith("σ of the first half is ")
    half = np.asarray(made.ensemble.coordinates(), np.float64)[:32]
    expected = [naive.pair_sigma(half, a, b)[0] for a, b in sigma.pairs]
    place = int(np.argmin(np.abs(told.fractions - 0.5)))
    assert told.forward[place] == pytest.approx(np.median(expected / sigma.sigma), rel=1e-4)


@pytest.mark.parametrize(
    ("least", "words"),
    [
        (0.76, "every trusted cluster is found in both, by 0.76 at least"),
        (0.74, "not every trusted cluster is found in both, one by 0.74 only"),
    ],
)
def test_what_a_half_does_not_show_is_not_said_to_be_found(least: float, words: str) -> None:
    halves, all_of_it = np.array([0.5, 1.0]), np.ones((2, 2))
    backward = np.array([[1.0, least], [1.0, 1.0]])
    found = Convergence(halves, np.ones(2), np.ones(2), all_of_it, backward, np.empty((0, 2)))
    assert found.words.endswith(f"; {words}")


def test_pairs_that_a_part_has_never_seen_are_left_out_of_its_median() -> None:
    rng = np.random.default_rng(0)
    array = rng.normal(size=(40, 12, 3))
    array[:20, :4] = np.nan  # four are seen in the second half alone
    points = timme.objects.points(Ensemble.from_array(array, gaps=True))
    sigma = timme.measure(points, timme.pairs.all(points), min_overlap=10)
    told = assess(points, sigma, timme.link(sigma), min_size=3).convergence
    assert told is not None
    assert np.isfinite(told.forward[told.fractions >= 0.5]).all()  # less is too little of a pair
    assert told.forward[-1] == pytest.approx(1.0)


def test_one_snapshot_is_no_part_of_which_anything_is_told() -> None:
    """σ of one snapshot was told as 0; ten of them are parts of one each."""
    points = timme.objects.points(Ensemble.from_array(np.random.default_rng(0).random((10, 8, 3))))
    sigma = timme.measure(points, timme.pairs.all(points))
    told = assess(points, sigma, timme.link(sigma)).convergence
    assert told is not None
    assert told.fractions[0] * 10 >= 2
    assert (told.forward > 0).all()
    assert (told.backward > 0).all()


def test_of_two_snapshots_nothing_converges() -> None:
    points = timme.objects.points(Ensemble.from_array(np.random.default_rng(0).random((2, 5, 3))))
    sigma = timme.measure(points, timme.pairs.all(points))
    assert assess(points, sigma, timme.link(sigma)).convergence is None


def test_a_cluster_that_falls_apart_leaves_one_track_and_begins_another() -> None:
    rng = np.random.default_rng(0)
    places = rng.uniform(0, 5, (24, 3)) + 0.01 * rng.normal(size=(80, 24, 3))
    places[40:, 12:, 0] += np.cumsum(rng.normal(size=(40, 1)), axis=0)  # half goes its own way
    points = timme.objects.points(Ensemble.from_array(places))
    index = next(timme.pairs.all(points).chunks(1000))
    found = slide(points, index, 7, cutoff=0.05)
    assert len(found.windows) == 7
    assert found.windows[0] == range(20)
    assert found.sizes()[0].tolist() == [24, 0]
    assert found.sizes()[-1].tolist() == [12, 12]
    assert found.n_tracks == 2
    with pytest.raises(ValueError, match="choose fewer windows"):
        slide(points, index, 60, cutoff=0.05)


@pytest.mark.parametrize("linkage", ["single", "braced", "average"])
def test_windows_are_joined_as_all_snapshots_are(linkage: Any) -> None:
    """A window is a film by itself, cut by the linkage of all snapshots."""
    made = timme.synthetic.hinged(2, 12, 60, seed=1).ensemble
    points = timme.objects.points(made)
    index = next(timme.pairs.all(points).chunks(1000))
    array = np.asarray(made.coordinates(), np.float64)
    film = timme.objects.points(Ensemble.from_array(array[:40]))
    tree = timme.link(timme.measure(film, timme.pairs.all(film)), linkage=linkage)
    cutoff = float(np.mean(tree.heights[-2:]))  # where two are left
    found = slide(points, index, 2, cutoff=cutoff, min_size=1, linkage=linkage)
    assert found.windows[0] == range(40)
    assert found.tracks[0].tolist() == tree.cut(cutoff).labels.tolist()


def test_sigma_over_a_time_is_the_mean_over_windows() -> None:
    walks = np.cumsum(np.random.default_rng(0).normal(size=(60, 3, 2)), axis=0)
    points = timme.objects.points(Ensemble.from_array(walks))
    index = np.array([[0, 1], [0, 2]])
    found = sigma_by_time(points, index, [5, 60])
    for place, (a, b) in enumerate(index):
        squares = [naive.pair_sigma(walks[k : k + 5], a, b)[0] ** 2 for k in range(0, 60, 5)]
        assert found[0, place] == pytest.approx(np.sqrt(np.mean(squares)), rel=1e-5)
        assert found[1, place] == pytest.approx(naive.pair_sigma(walks, a, b)[0], rel=1e-5)
    assert (found[1] > found[0]).all()  # walkers go further in a longer time


def test_no_window_leads_from_one_run_into_the_next() -> None:
    # Each run is stiff, and the second begins elsewhere: only a window over both sees that.
    rng = np.random.default_rng(1)
    still = rng.uniform(0, 5, (24, 3))
    places = still + 0.01 * rng.normal(size=(80, 24, 3))
    places[50:, 12:, 0] += 30.0
    runs = np.repeat([0, 1], [50, 30])
    points = timme.objects.points(replace(Ensemble.from_array(places), runs=runs))
    index = next(timme.pairs.all(points).chunks(1000))
    found = slide(points, index, 6, cutoff=0.05)
    assert [len(window) for window in found.windows] == [20] * 6
    assert all(window.stop <= 50 or window.start >= 50 for window in found.windows)
    assert (found.sizes() == 24).all()
    joined = slide(points, index, 6, cutoff=0.05, replicas=[80])
    assert joined.sizes().max(axis=1).tolist() == [24, 24, 24, 12, 12, 24]
    (over,) = sigma_by_time(points, index, [20])
    for place, (a, b) in enumerate(index[:40]):
        squares = [naive.pair_sigma(places[k : k + 20], a, b)[0] ** 2 for k in (0, 20, 50)]
        assert over[place] == pytest.approx(np.sqrt(np.mean(squares)), rel=1e-4)
    with pytest.raises(ValueError, match="2 to 50 snapshots, as many as the longest run has"):
        sigma_by_time(points, index, [60])


@given(st.lists(st.integers(4, 60), min_size=1, max_size=5), st.integers(2, 12))
def test_windows_are_as_many_as_asked_for_and_cover_every_run(
    runs: list[int], n_windows: int
) -> None:
    try:
        bounds = cut_windows(n_windows, runs)
    except ValueError as refused:
        assert "choose" in str(refused)  # noqa: PT017, whatever is not refused is looked at
        return
    assert sum(len(ends) - 2 for ends in bounds) == n_windows
    assert [ends[-1] - ends[0] for ends in bounds] == runs
    assert all(b - a >= 2 for ends in bounds for a, b in pairwise(ends))
    by_length = [n for _, n in sorted(zip(runs, map(len, bounds), strict=True))]
    assert all(a <= b + 1 for a, b in pairwise(by_length))
