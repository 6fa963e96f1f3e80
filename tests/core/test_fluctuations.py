"""Parity of σ with the slow reference, and invariants of its measurement."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

from tests import naive
from timme import objects, pairs
from timme._arrays import Bools, Floats
from timme.ensemble import Atoms, Ensemble
from timme.fluctuations import (
    Fluctuations,
    TooFewSnapshotsError,
    chunk_for,
    from_matrix,
    longest_overlap,
    measure,
)
from timme.objects import Objects

EPS = np.finfo(np.float64).eps
NEAR_HALF_BOX = "ignore:.*half the periodic box:UserWarning"
SEEDS = st.integers(0, 2**32 - 1)


def points_of(array: Floats, **options: Any) -> Objects:
    return objects.points(Ensemble.from_array(array, **options))


def measured(made: Objects, **options: Any) -> Fluctuations:
    return measure(made, pairs.all(made), **options)


def by_pair(found: Fluctuations) -> dict[tuple[int, int], float]:
    return dict(zip(map(tuple, found.pairs.tolist()), found.sigma.tolist(), strict=True))


def close(expected: Any, scale: float = 100.0) -> Any:
    """Distances of order ``scale`` are rounded to ``EPS`` of it, and σ is a mean of differences."""
    return pytest.approx(expected, rel=1e-12, abs=20 * EPS * scale, nan_ok=True)


def snapshots(seed: int, *, gaps: float = 0.0, dimensions: int = 3) -> Floats:
    rng = np.random.default_rng(seed)
    array = rng.normal(size=(int(rng.integers(2, 8)), int(rng.integers(2, 8)), dimensions))
    array[rng.random(array.shape[:2]) < gaps] = np.nan
    return array


# ---- parity with the reference -------------------------------------------------------------------


@given(SEEDS, st.sampled_from(["rms", "max"]), st.integers(1, 4), st.booleans())
def test_bodies_agree_with_the_reference(
    seed: int, reduction: Any, n_dimensions: int, chunked: bool
) -> None:
    array = snapshots(seed, dimensions=n_dimensions)
    n_sites = array.shape[1]
    bonds = np.random.default_rng(seed).integers(0, n_sites, (n_sites, 2))
    atoms = Atoms.unnamed(n_sites, bonds=bonds[bonds[:, 0] != bonds[:, 1]])
    made = objects.bodies(Ensemble.from_array(array, atoms=atoms), reduction=reduction)
    found = by_pair(measured(made, chunk=3 if chunked else 100))
    assert set(found) == set(itertools.combinations(range(n_sites), 2))
    for (a, b), sigma in found.items():
        members = made.sites(a).tolist(), made.sites(b).tolist()
        assert sigma == close(naive.object_sigma(array, *members, reduction=reduction))


@pytest.mark.filterwarnings(NEAR_HALF_BOX)
@given(SEEDS, st.sampled_from(["rms", "max"]), st.booleans())
def test_groups_with_weights_in_boxes_agree_with_the_reference(
    seed: int, reduction: Any, tilted: bool
) -> None:
    array, rng = 3 * snapshots(seed), np.random.default_rng(seed)
    boxes = rng.uniform(1, 6, (len(array), 1, 3)) * np.eye(3)
    boxes[:, 1, 0] = tilted * rng.uniform(-1.5, 1.5) * boxes[:, 0, 0]
    weights = rng.uniform(0.1, 2, len(array))
    n_sites = array.shape[1]
    sets = [rng.permutation(n_sites)[: rng.integers(1, n_sites + 1)].tolist() for _ in range(3)]
    ensemble = Ensemble.from_array(array, boxes=boxes, weights=weights)
    found = measured(objects.groups(ensemble, sets, reduction=reduction))
    options: Any = {"reduction": reduction, "weights": weights, "boxes": boxes}
    for (a, b), sigma in by_pair(found).items():
        assert sigma == close(naive.object_sigma(array, sets[a], sets[b], **options))


@given(SEEDS, st.integers(2, 4), st.sampled_from(["rms", "max"]), st.sampled_from([1, 2]))
def test_only_pairs_that_share_enough_snapshots_are_measured(
    seed: int, overlap: int, reduction: Any, size: int
) -> None:
    array = snapshots(seed, gaps=0.3)
    assume(overlap <= len(array))
    n_sites = array.shape[1]
    sets = [[(k + step) % n_sites for step in range(size)] for k in range(n_sites)]
    made = objects.groups(Ensemble.from_array(array, gaps=True), sets, reduction=reduction)
    expected, shared = {}, {}
    for a, b in itertools.combinations(range(n_sites), 2):
        crossing = [(i, j) for i in sets[a] for j in sets[b] if i != j]
        common = min((naive.pair_sigma(array, i, j)[1] for i, j in crossing), default=len(array))
        if common >= overlap:
            expected[a, b] = naive.object_sigma(array, sets[a], sets[b], reduction=reduction)
            shared[a, b] = common
    if not expected:
        with pytest.raises(ValueError, match=r"^none of \d+ pairs of groups share the"):
            measured(made, min_overlap=overlap)
        return
    found = measured(made, min_overlap=overlap)
    assert by_pair(found) == close(expected)
    assert dict(zip(by_pair(found), found.common.tolist(), strict=True)) == shared


@given(SEEDS)
def test_links_at_a_joint_are_compared_by_their_far_ends(seed: int) -> None:
    array = snapshots(seed)
    bonds = [(k + 1, k) if k % 2 else (k, k + 1) for k in range(array.shape[1] - 1)]  # joint k + 1
    assume(len(bonds) > 1)
    for reduction, share in (("max", 1.0), ("rms", 0.5)):
        rods = objects.links(Ensemble.from_array(array), bonds, reduction=reduction)  # type: ignore[arg-type]
        found = by_pair(measure(rods, pairs.sharing(rods)))
        expected = {
            (k, k + 1): share * naive.pair_sigma(array, k, k + 2)[0] for k in range(len(bonds) - 1)
        }
        assert found == close(expected)


# ---- invariants ----------------------------------------------------------------------------------


@given(SEEDS)
def test_moving_a_whole_snapshot_changes_nothing(seed: int) -> None:
    array, rng = snapshots(seed), np.random.default_rng(seed)
    turns, _ = np.linalg.qr(rng.normal(size=(len(array), 3, 3)))
    moved = array @ turns + rng.normal(scale=10, size=(len(array), 1, 3))
    before, after = (measured(points_of(places)).sigma for places in (array, moved))
    assert after.tolist() == close(before.tolist(), scale=150)


@given(SEEDS, st.sampled_from([1e-6, 2.0**20, 1e6]))
def test_order_of_snapshots_and_scale_do_not_matter(seed: int, factor: float) -> None:
    array = snapshots(seed)
    other = factor * np.random.default_rng(seed).permutation(array)
    found = measured(points_of(other)).sigma / factor
    assert found.tolist() == close(measured(points_of(array)).sigma.tolist(), scale=10)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("n_frames", "n_sites", "n_dimensions"),
    [(2, 2, 3), (17, 64, 1), (64, 99, 3), (98, 140, 3), (300, 99, 3)],
)
def test_sigma_of_a_pair_does_not_depend_on_others_or_on_workers(
    kind: Any, n_frames: int, n_sites: int, n_dimensions: int
) -> None:
    rng = np.random.default_rng(0)
    array = rng.normal(size=(n_frames, n_sites, n_dimensions))
    array[:, ::2] = 100 * array[0, ::2] + array[:, ::2]  # some too still for single precision
    points = points_of(array.astype(kind))
    bodies = objects.groups(points.ensemble, [[k, (k + 1) % n_sites] for k in range(n_sites)])
    for made in (points, bodies):
        chosen = pairs.all(made)
        everything = by_pair(measure(made, chosen, workers=1))
        assert by_pair(measure(made, chosen, workers=3)) == everything
        assert by_pair(measure(made, chosen, chunk=70)) == everything
        some = rng.permutation(np.array(list(everything)))[: rng.integers(1, 50)]
        listed = by_pair(measure(made, pairs.given(made, some)))
        assert listed == {pair: everything[pair] for pair in listed}


def test_a_rigid_body_does_not_fluctuate() -> None:
    rng = np.random.default_rng(1)
    turns, _ = np.linalg.qr(rng.normal(size=(200, 3, 3)))
    array = rng.normal(size=(6, 3)) @ turns + rng.normal(scale=100, size=(200, 1, 3))
    assert measured(points_of(array)).sigma.max() < 100 * 10 * EPS


def test_metrics_have_units_and_centres_on_a_sphere_are_refused() -> None:
    places = np.random.default_rng(0).uniform(-80, 80, (5, 4, 2))
    tracks = points_of(places, unit="°")
    assert measured(tracks, metric="haversine").unit == "km"
    found = measured(tracks, metric=lambda a, b: np.abs(a - b).sum(axis=-1))
    expected = np.std([pdist(each, "cityblock") for each in places], axis=0)
    assert squareform(found.matrix()) == pytest.approx(expected, rel=1e-12)
    grouped = objects.groups(tracks.ensemble, [[0, 1], [2, 3]], reduction="centre")
    with pytest.raises(ValueError, match="centres of groups on a sphere are not means"):
        measured(grouped, metric="haversine")


# ---- results, refusals and warnings --------------------------------------------------------------


def test_the_matrix_is_symmetric_and_nan_where_nothing_was_measured() -> None:
    made = points_of(np.random.default_rng(0).normal(size=(4, 3, 2)))
    found = measure(made, pairs.given(made, [(2, 0)]))
    matrix = found.matrix()
    assert matrix[0, 2] == matrix[2, 0] == found.sigma[0]
    assert np.isnan(matrix[[0, 1, 1, 2], [1, 0, 2, 1]]).all()
    assert np.diag(matrix).tolist() == [0, 0, 0]
    for array in (found.pairs, found.sigma, found.common):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_what_does_not_fit_into_memory_is_refused() -> None:
    made = points_of(np.zeros((2, 30_000, 1), np.float32))
    with pytest.raises(ValueError, match=r"449,985,000 pairs are too many.* timme\.cluster"):
        measured(made)
    assert chunk_for(made, 8000) == 200


def test_what_cannot_be_measured_is_refused() -> None:
    three, four = (points_of(np.zeros((2, n, 1))) for n in (3, 4))
    with pytest.raises(TooFewSnapshotsError, match=r"at least 2 snapshots .* got 1"):
        measured(points_of(np.zeros((1, 3, 2))))
    with pytest.raises(ValueError, match="among 4 objects, but there are 3"):
        measure(three, pairs.all(four))
    with pytest.raises(TypeError, match="needs Objects, got Ensemble"):
        measure(three.ensemble, pairs.all(three))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="second argument, needs Pairs"):
        measure(three, [[0, 1]])  # type: ignore[arg-type]
    for overlap in (-1, 0, 1, 3, "most"):
        with pytest.raises(ValueError, match=f"from 2 to 2, got {overlap!r}"):
            measured(three, min_overlap=overlap)
    with pytest.raises(ValueError, match="chunk= must be a whole number of at least 1"):
        measured(three, chunk=0)


@pytest.mark.parametrize("scale", [1e160, 1e200])
@pytest.mark.parametrize("gaps", [True, False])
def test_coordinates_whose_squares_are_not_numbers_are_refused(scale: float, *, gaps: bool) -> None:
    array = scale * np.random.default_rng(0).normal(size=(300, 4, 2))
    with pytest.raises(ValueError, match="too large to be squared: give them in a larger unit"):
        measured(points_of(array, gaps=gaps))


def apart(distance: float, axis: int = 0) -> Floats:
    """Two points that are about ``distance`` apart along an axis."""
    array = np.zeros((4, 2, 3))
    array[:, 1, axis] = distance + np.array([0, 0.01, 0.02, 0.03])
    return array


@pytest.mark.parametrize("box", [np.eye(3) * 10, np.array([[10.0, 0, 0], [3, 10, 0], [0, 0, 10]])])
@pytest.mark.parametrize("sets", [[[0], [1]], [[0], [0, 1]]])
def test_pairs_near_half_the_box_are_warned_of(box: Floats, sets: list[list[int]]) -> None:
    made = objects.groups(Ensemble.from_array(apart(4.9), boxes=box), sets)
    with pytest.warns(UserWarning, match="1 of 1 pairs come near or beyond half the periodic box"):
        assert measured(made).n_near_half_box == 1


@pytest.mark.parametrize(
    ("distance", "axis", "box"),
    [(4.0, 0, [10.0] * 3), (4.9, 0, None), (4.9, 1, [10.0, 0, 10]), (4.6, 0, [10.5, 10.5, 1e3])],
    ids=["well within", "no box", "along an open direction", "just within"],
)
def test_other_pairs_are_not_warned_of(distance: float, axis: int, box: list[float] | None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        measured(points_of(apart(distance, axis), boxes=box))


# ---- overlap -------------------------------------------------------------------------------------


def crowd(n_people: int = 12, stay: int = 10, every: int = 5) -> Objects:
    """People who come one after another and stay for a while: each meets about two others."""
    n_snapshots = every * (n_people - 1) + stay
    walks = np.random.default_rng(0).normal(size=(n_snapshots, n_people, 2)).cumsum(axis=0)
    for person in range(n_people):
        walks[: every * person, person] = np.nan
        walks[every * person + stay :, person] = np.nan
    return points_of(walks, gaps=True)


@given(arrays(bool, st.tuples(st.integers(2, 12), st.integers(2, 9))))
def test_half_of_the_objects_keep_a_partner_and_no_longer_overlap_does_that(seen: Bools) -> None:
    made = points_of(np.where(seen, 0.0, np.nan)[:, :, None], gaps=True)
    together = seen.T.astype(int) @ seen.astype(int)
    np.fill_diagonal(together, 0)
    shared, found = together.max(axis=1), longest_overlap(made)
    assert 2 * np.count_nonzero(shared >= found) >= len(shared)
    assert 2 * np.count_nonzero(shared > found) < len(shared)


def test_auto_measures_a_crowd_in_which_few_coexist() -> None:
    people = crowd()
    needed = r"none of 66 pairs of points share the 33 of 65 .* lower min_overlap="
    with pytest.raises(ValueError, match=needed):
        measured(people)
    found = measured(people, min_overlap="auto")
    assert found.pairs.tolist() == [[person, person + 1] for person in range(11)]
    assert found.common.tolist() == [5] * 11
    with pytest.raises(ValueError, match="pass longer tracks"):
        measured(crowd(every=10), min_overlap="auto")


# ---- given matrices ------------------------------------------------------------------------------

GIVEN = squareform([0.3, 0.1, 0.2])
KNOWN = {(0, 1): 0.3, (0, 2): 0.1, (1, 2): 0.2}


def test_unknown_entries_are_pairs_that_were_not_measured() -> None:
    known = {pair: sigma for pair, sigma in KNOWN.items() if pair != (0, 2)}
    unknown = GIVEN.copy()
    unknown[[0, 2], [2, 0]] = np.nan
    dense = from_matrix(GIVEN, unit="Å")
    assert (by_pair(dense), dense.unit, dense.common.tolist()) == (KNOWN, "Å", [0, 0, 0])
    assert dense.matrix().tolist() == GIVEN.tolist()
    hidden = np.ma.masked_array(GIVEN, mask=np.isnan(unknown))
    stored = sparse.coo_array(np.nan_to_num(unknown))
    for given_matrix in (
        unknown,
        unknown.tolist(),
        np.where(np.isnan(unknown), np.inf, unknown),
        hidden,
        stored,
    ):
        assert by_pair(from_matrix(given_matrix)) == known


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ([[0.0, 1.0], [2.0, 0.0]], "symmetric, got mirrored entries that differ by 1"),
        ([[0.0, np.nan], [2.0, 0.0]], "differ by inf"),
        ([[0.0, -1.0], [-1.0, 0.0]], "not be negative, got -1"),
        ([[0.0, -np.inf], [-np.inf, 0.0]], "not be negative, got -inf"),
        ([[0.0, 1.0]], "must be square"),
        ([1.0, 2.0], r"1, 3, 6, 10"),
        ([], "must be square"),
        ([["a"]], "real numbers"),
    ],
)
def test_what_is_not_a_matrix_of_sigma_is_refused(values: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        from_matrix(values)
