"""Invariant: an ensemble holds what it was given, chooses parts of it, and refuses bad input."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import gapped_snapshots, snapshots
from timme.ensemble import Atoms, Ensemble

PLACES = np.random.default_rng(0).normal(size=(6, 4, 3))


@given(gapped_snapshots(), st.sampled_from([np.float32, np.float64]))
def test_coordinates_keep_their_bits_and_gaps(array: np.ndarray[Any, Any], kind: Any) -> None:
    given_array = array.astype(kind)
    found = Ensemble.from_array(given_array, gaps=True).coordinates()
    assert found.dtype == kind
    np.testing.assert_array_equal(found, given_array)


@given(snapshots(), st.data())
def test_chosen_snapshots_and_sites_are_those_of_the_array(
    array: np.ndarray[Any, Any], data: st.DataObject
) -> None:
    n_snapshots, n_sites, _ = array.shape
    sites = data.draw(st.permutations(range(n_sites)))[: data.draw(st.integers(1, n_sites))]
    start = data.draw(st.integers(0, n_snapshots - 1))
    found = Ensemble.from_array(array)[start::2].select(sites)
    np.testing.assert_array_equal(found.coordinates(), array[start::2][:, sites])
    np.testing.assert_array_equal(found.snapshot(-1)[0], array[start::2][-1, sites])
    assert found.site_atoms.tolist() == sites
    assert len(found) == found.n_snapshots == len(array[start::2])


def test_whole_numbers_and_masked_arrays_become_double() -> None:
    assert Ensemble.from_array([[[1, 2]]]).coordinates().dtype == np.float64
    masked = np.ma.masked_array(PLACES, np.zeros(PLACES.shape, bool))
    masked[2, 1, 0] = np.ma.masked
    assert np.isnan(Ensemble.from_array(masked, gaps=True).coordinates()[2, 1, 0])
    with pytest.raises(ValueError, match="read-only"):
        Ensemble.from_array(PLACES).coordinates()[0] = 0.0


@pytest.mark.parametrize(
    ("array", "options", "message"),
    [
        (np.zeros((0, 4, 3)), {}, "at least 1 of each"),
        (np.zeros((4, 3)), {}, r"of shape \(4, 3\): add the missing axis"),
        ([[[1.0, 2.0]], [[1.0, 2.0], [3.0, 4.0]]], {}, "inhomogeneous"),
        (np.array([[["a"]]]), {}, "real numbers"),
        (PLACES, {"atoms": Atoms.unnamed(3)}, "4 sites need 4 atoms.*got 3"),
        (PLACES, {"atoms": Atoms.unnamed(4, bonds=[(0, 4)])}, "bonds between these"),
        (PLACES, {"weights": [1.0] * 5}, "one number for each of 6 snapshots"),
        (PLACES, {"weights": [1.0, -1.0, 1.0, 1.0, 1.0, 1.0]}, "not negative"),
        (PLACES, {"weights": [0.0] * 5 + [1.0]}, "above zero for at least 2"),
        (PLACES, {"weights": [np.nan] * 6}, "finite"),
        (PLACES, {"boxes": [1.0, 2.0]}, "3 lengths or a 3 × 3 matrix"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    array: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        Ensemble.from_array(array, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("value", "gaps"), [(np.nan, False), (np.inf, False), (np.inf, True)])
def test_what_is_not_finite_is_refused_by_snapshot_and_site(value: float, *, gaps: bool) -> None:
    array = PLACES.copy()
    array[4, 1, 2] = value
    ensemble = Ensemble.from_array(array, gaps=gaps)
    with pytest.raises(ValueError, match=r"site 2\) of snapshot 5.*gaps=True"):
        ensemble.coordinates()
    assert ensemble[:4].coordinates().shape == (4, 4, 3)


def test_positions_too_many_boxes_away_are_refused() -> None:
    array = PLACES.astype(np.float32)
    array[2, 3, 0] = 1e6  # of which single precision knows 0.06
    with pytest.raises(ValueError, match=r"site 4\) of snapshot 3.*too many boxes away"):
        Ensemble.from_array(array, boxes=10.0).coordinates()
    assert Ensemble.from_array(array.astype(np.float64), boxes=10.0).coordinates().size


def test_blocks_are_of_one_length_and_hold_every_snapshot_once() -> None:
    array = np.random.default_rng(1).normal(size=(600, 3, 2)).astype(np.float32)
    weights = np.arange(1.0, 601.0)
    blocks = list(Ensemble.from_array(array, boxes=50.0, weights=weights).blocks())
    assert [len(block.weights) for block in blocks] == [256, 256, 88]
    assert [block.start for block in blocks] == [0, 256, 512]
    np.testing.assert_array_equal(np.concatenate([b.coordinates for b in blocks]), array)
    np.testing.assert_allclose(np.concatenate([b.weights for b in blocks]), weights / 600)
    assert all(block.single and not block.complete for block in blocks)


def test_single_precision_is_for_many_snapshots_only() -> None:
    array = np.ones((70, 2, 3), np.float32)
    ensemble = Ensemble.from_array(array)
    assert ensemble.block(0).single
    assert ensemble.block(0).complete
    assert not ensemble[:63].block(0).single
    assert not Ensemble.from_array(array.astype(float)).block(0).single


def test_weights_and_runs_go_with_their_snapshots() -> None:
    ensemble = Ensemble.from_array(PLACES, weights=[1, 2, 0, 4, 5, 6])
    ensemble = replace(ensemble, runs=np.array([0, 0, 0, 1, 1, 1]))
    some = ensemble[[1, 2, 3]]
    assert some.weights is not None
    assert some.weights.tolist() == [0.5, 0.0, 1.0]
    assert some.replicas == (2, 1)
    assert some.n_counting == 2
    assert ensemble[np.arange(6) > 2].replicas == (3,)


@pytest.mark.parametrize(
    "bad", [slice(4, 2), slice(None, None, -1), [3, 1], [], [6], [0, 0], [0.5], 3]
)
def test_bad_choices_of_snapshots_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="snapshots"):
        Ensemble.from_array(PLACES)[bad]
    with pytest.raises(ValueError, match="range from -6 to 5"):
        Ensemble.from_array(PLACES).snapshot(6)


@pytest.mark.parametrize("bad", [[4], [-1], [1, 1], [], [0.5], [[0, 1]], np.zeros(4, bool)])
def test_bad_choices_of_sites_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="sites"):
        Ensemble.from_array(PLACES).select(bad)
