import itertools
import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests import naive
from tests.strategies import (
    bond_graphs,
    boxed_snapshots,
    gapped_snapshots,
    moved_snapshots,
    seeds,
    snapshots,
)
from timme import objects, pairs
from timme._arrays import Floats
from timme.engine.run import Run
from timme.fluctuations import Fluctuations, measure
from timme.fluctuations.dense import (
    measure_below,
    measure_every,
    measure_list,
    prepare_at_once,
)
from timme.fluctuations.overlap import default_overlap
from timme.fluctuations.parts import measure_parts
from timme.hierarchy import cluster
from timme.objects import Objects
from timme.settings.values import Reduction
from timme.system.atoms import Atoms
from timme.system.ensemble import Ensemble

EPS = np.finfo(np.float64).eps
NEAR_HALF_BOX = "ignore:.*half the periodic box:UserWarning"

Bonds = list[tuple[int, int]]
CrossReduction = Literal["rms", "max"]


def points_of(array: Floats, **options: Any) -> Objects:
    return objects.points(Ensemble.from_array(array, **options))


def measured(made: Objects, **options: Any) -> Fluctuations:
    return measure(made, pairs.all(made), **options)


def close(expected: Any, scale: float = 100.0) -> Any:
    return pytest.approx(expected, rel=1e-12, abs=20 * EPS * scale, nan_ok=True)


# Parity with the reference


@given(bond_graphs(max_sites=7), seeds, st.sampled_from(["rms", "max"]), st.integers(1, 4))
def test_bodies_agree_with_the_reference(
    graph: tuple[int, Bonds], seed: int, reduction: CrossReduction, n_dimensions: int
) -> None:
    n_sites, bonds = graph
    array = np.random.default_rng(seed).normal(size=(3, n_sites, n_dimensions))
    ensemble = Ensemble.from_array(array, atoms=Atoms.unnamed(n_sites, bonds=bonds))
    made = objects.bodies(ensemble, reduction=reduction)
    found = measured(made)
    for (a, b), sigma in zip(found.pairs, found.sigma, strict=True):
        members = made.sites(a).tolist(), made.sites(b).tolist()
        assert sigma == close(naive.object_sigma(array, *members, reduction=reduction))
    assert len(found.sigma) == n_sites * (n_sites - 1) // 2


@pytest.mark.filterwarnings(NEAR_HALF_BOX)
@given(boxed_snapshots(), seeds, st.sampled_from(["rms", "max"]))
def test_groups_with_weights_in_boxes_agree_with_the_reference(
    boxed: tuple[Floats, Floats], seed: int, reduction: CrossReduction
) -> None:
    array, boxes = boxed
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.1, 2, len(array))
    n_sites = array.shape[1]
    sets = [rng.permutation(n_sites)[: rng.integers(1, n_sites + 1)].tolist() for _ in range(3)]
    ensemble = Ensemble.from_array(array, boxes=boxes, weights=weights)
    found = measured(objects.groups(ensemble, sets, reduction=reduction))
    expected = [
        naive.object_sigma(
            array, sets[a], sets[b], reduction=reduction, weights=weights, boxes=boxes
        )
        for a, b in itertools.combinations(range(3), 2)
    ]
    assert found.sigma.tolist() == close(expected)


def refuse_none_measured(made: objects.Objects, min_overlap: int) -> None:
    with pytest.raises(
        ValueError, match=r"^none of \d+ pairs of .* share the \d+ of \d+ snapshots"
    ):
        measured(made, min_overlap=min_overlap)


@given(gapped_snapshots(), st.integers(2, 5), st.sampled_from(["rms", "max"]))
def test_groups_with_gaps_agree_with_the_reference(
    array: Floats, min_overlap: int, reduction: CrossReduction
) -> None:
    assume(min_overlap <= len(array))
    n_sites = array.shape[1]
    sets = [[k, (k + 1) % n_sites] for k in range(n_sites)]
    ensemble = Ensemble.from_array(array, gaps=True)
    made = objects.groups(ensemble, sets, reduction=reduction)
    expected = {}
    for a, b in itertools.combinations(range(n_sites), 2):
        crossing = [(i, j) for i in sets[a] for j in sets[b] if i != j]
        common = min((naive.pair_sigma(array, i, j)[1] for i, j in crossing), default=len(array))
        if common >= min_overlap:
            expected[a, b] = naive.object_sigma(array, sets[a], sets[b], reduction=reduction)
    if not expected:
        refuse_none_measured(made, min_overlap)
        return
    found = measured(made, min_overlap=min_overlap)
    assert [tuple(pair) for pair in found.pairs.tolist()] == list(expected)
    assert found.sigma.tolist() == close(list(expected.values()))


@given(seeds, st.integers(2, 5), st.integers(3, 8))
def test_links_at_a_joint_are_compared_by_their_far_ends(
    seed: int, n_snapshots: int, n_sites: int
) -> None:
    array = np.random.default_rng(seed).normal(size=(n_snapshots, n_sites, 3))
    bonds = [(k + 1, k) if k % 2 else (k, k + 1) for k in range(n_sites - 1)]
    ensemble = Ensemble.from_array(array)
    expected = [naive.link_sigma(array, bonds[k], bonds[k + 1]) for k in range(len(bonds) - 1)]
    made: dict[Reduction, Floats] = {}
    for reduction in ("max", "rms"):
        rods = objects.links(ensemble, bonds, reduction=reduction)
        made[reduction] = measure(rods, pairs.sharing(rods)).sigma
    assert made["max"].tolist() == close(expected)
    assert made["rms"].tolist() == close([sigma / 2 for sigma in expected])


@given(gapped_snapshots(), st.integers(2, 4))
def test_pairs_that_share_too_few_snapshots_are_left_out(array: Floats, min_overlap: int) -> None:
    assume(min_overlap <= len(array))
    made = points_of(array, gaps=True)
    expected = {}
    for pair in itertools.combinations(range(array.shape[1]), 2):
        sigma, common = naive.pair_sigma(array, *pair)
        if common >= min_overlap:
            expected[pair] = sigma, common
    if not expected:
        refuse_none_measured(made, min_overlap)
        return
    found = measured(made, min_overlap=min_overlap)
    assert [tuple(pair) for pair in found.pairs.tolist()] == list(expected)
    assert found.sigma.tolist() == close([sigma for sigma, _ in expected.values()])
    assert found.common.tolist() == [common for _, common in expected.values()]


@pytest.mark.parametrize(
    ("n_snapshots", "gaps", "overlap"), [(2, True, 2), (5, True, 3), (5, False, 5)]
)
def test_by_default_half_of_gapped_snapshots_must_be_shared(
    n_snapshots: int, gaps: bool, overlap: int
) -> None:
    assert default_overlap(n_snapshots, gaps=gaps) == overlap


def test_a_snapshot_of_no_weight_is_as_one_that_is_not_there() -> None:
    array = np.random.default_rng(0).normal(size=(5, 4, 3))
    weights = [1.0, 2.0, 0.0, 1.0, 0.5]
    seen = [0, 1, 3, 4]
    groups = [[0, 1], [2, 3]]
    found = measured(points_of(array, weights=weights))
    without = measured(points_of(array[seen], weights=np.array(weights)[seen]))
    assert found.pairs.tolist() == without.pairs.tolist()
    assert found.sigma.tolist() == close(without.sigma.tolist())
    grouped = measured(objects.groups(Ensemble.from_array(array, weights=weights), groups))
    assert len(grouped.sigma) == 1


@given(snapshots())
def test_two_snapshots_give_half_of_the_change(array: Floats) -> None:
    found = measured(points_of(array[:2]))
    for (i, j), sigma in zip(found.pairs.tolist(), found.sigma, strict=True):
        first, second = naive.pair_distances(array[:2], i, j)[0]
        assert sigma == close(abs(first - second) / 2)


def test_centres_are_compared_as_points() -> None:
    array = np.random.default_rng(0).normal(size=(5, 6, 3))
    sets = [[0, 1], [2, 3], [4, 5]]
    centres = np.stack([array[:, members].mean(axis=1) for members in sets], axis=1)
    found = measured(objects.groups(Ensemble.from_array(array), sets, reduction="centre"))
    assert found.sigma.tolist() == close(measured(points_of(centres)).sigma.tolist())


# Invariants


@given(moved_snapshots())
def test_moving_a_whole_snapshot_changes_nothing(moved: tuple[Floats, Floats]) -> None:
    before, after = (measured(points_of(array)).sigma for array in moved)
    # coordinates of order 30 are rounded, and σ is a difference of distances
    assert after.tolist() == pytest.approx(before.tolist(), rel=1e-12, abs=100 * 30 * EPS)


@given(snapshots(), seeds)
def test_the_order_of_snapshots_does_not_matter(array: Floats, seed: int) -> None:
    shuffled = np.random.default_rng(seed).permutation(array)
    assert measured(points_of(shuffled)).sigma.tolist() == close(
        measured(points_of(array)).sigma.tolist(), scale=10
    )


@given(snapshots(), seeds)
def test_renaming_sites_renames_the_result(array: Floats, seed: int) -> None:
    names = np.random.default_rng(seed).permutation(array.shape[1])
    renamed = measured(points_of(array[:, names])).matrix()
    assert renamed.tolist() == measured(points_of(array)).matrix()[np.ix_(names, names)].tolist()


@given(snapshots(), st.sampled_from([1e-6, 0.5, 2.0**20, 1e6]))
def test_scaling_coordinates_scales_sigma(array: Floats, factor: float) -> None:
    found = measured(points_of(factor * array)).sigma / factor
    assert found.tolist() == close(measured(points_of(array)).sigma.tolist(), scale=10)


@pytest.mark.parametrize(
    ("scale", "complaint"),
    [
        (1e160, r"σ of 6 pairs, objects 1 and 2 first, .* larger unit"),
        (1e200, "coordinates reach .*larger unit"),
        (1e-155, "squares are rounded to nothing.*smaller unit"),
        (1e-200, "squares are rounded to nothing.*smaller unit"),
    ],
)
def test_coordinates_whose_squares_cannot_be_held_are_refused(scale: float, complaint: str) -> None:
    array = scale * np.random.default_rng(0).normal(size=(300, 4, 2))
    made = points_of(array)
    for step in (measure, cluster):
        with pytest.raises(ValueError, match=complaint):
            step(made, pairs.all(made))
    with pytest.raises(ValueError, match=complaint):
        measured(points_of(array, gaps=True))


@pytest.mark.parametrize("scale", [1e21, 1e-22])
@pytest.mark.parametrize("gaps", [True, False])
def test_squares_beyond_single_precision_are_summed_in_double(scale: float, gaps: bool) -> None:
    array: Any = (scale * np.random.default_rng(0).normal(size=(300, 4, 2))).astype(np.float32)
    found = measured(points_of(array, gaps=gaps)).sigma
    plain = measured(points_of(array.astype(np.float64))).sigma
    assert found.tolist() == close(plain.tolist(), 0)


def test_sites_that_never_move_are_not_too_small() -> None:
    still: Any = np.zeros((300, 3, 2), np.float32)
    assert measured(points_of(still)).sigma.tolist() == [0.0] * 3


def test_a_rigid_body_does_not_fluctuate() -> None:
    rng = np.random.default_rng(1)
    turns, _ = np.linalg.qr(rng.normal(size=(200, 3, 3)))
    array = rng.normal(size=(6, 3)) @ turns + rng.normal(scale=100, size=(200, 1, 3))
    assert measured(points_of(array)).sigma.max() < 100 * 10 * EPS


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_any_number_of_threads_gives_the_same_bits(workers: int) -> None:
    array = np.random.default_rng(2).normal(size=(150, 200, 3)).astype(np.float32)
    sets = [[k, (k + 1) % 200] for k in range(200)]
    made = objects.groups(Ensemble.from_array(array), sets)
    assert measured(made, workers=workers).sigma.tobytes() == measured(made).sigma.tobytes()


# The matrix


def test_the_matrix_is_symmetric_and_says_what_was_not_measured() -> None:
    made = points_of(np.random.default_rng(0).normal(size=(4, 3, 2)))
    found = measure(made, pairs.given(made, [(2, 0)]))
    matrix = found.matrix()
    assert matrix[0, 2] == matrix[2, 0] == found.sigma[0]
    assert np.isnan(matrix[[0, 1, 1, 2], [1, 0, 2, 1]]).all()
    assert np.diag(matrix).tolist() == [0, 0, 0]


def test_results_are_read_only() -> None:
    found = measured(points_of(np.random.default_rng(0).normal(size=(4, 3, 2))))
    for array in (found.pairs, found.sigma, found.common):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_what_does_not_fit_into_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = points_of(np.zeros((2, 30_000, 1), np.float32))
    with pytest.raises(ValueError, match=r"449,985,000 pairs are too many.* timme\.cluster"):
        measured(made)
    monkeypatch.setattr("timme.fluctuations.sigma._LARGEST_MATRIX", 2)
    small = points_of(np.zeros((2, 3, 1)))
    with pytest.raises(ValueError, match="3 × 3 would not fit"):
        measured(small).matrix()


# Edges


def test_no_pairs_have_no_sigma() -> None:
    made = points_of(np.random.default_rng(0).normal(size=(4, 3, 2)))
    nobody = measure(made, pairs.within(made, 1e-9))
    assert nobody.pairs.shape == (0, 2)
    assert nobody.sigma.shape == nobody.common.shape == (0,)
    grouped = objects.groups(made.ensemble, [[0, 1], [2]])
    assert measure(grouped, pairs.within(grouped, 1e-9)).sigma.shape == (0,)
    alone = points_of(np.zeros((4, 1, 2)))
    assert measured(alone).sigma.shape == (0,)


@pytest.mark.parametrize("n_snapshots", [1])
def test_one_snapshot_is_refused(n_snapshots: int) -> None:
    with pytest.raises(ValueError, match="at least 2 snapshots, got 1"):
        measured(points_of(np.zeros((n_snapshots, 3, 2))))


@pytest.mark.parametrize("overlap", [-1, 0, 1, 5])
def test_an_overlap_that_cannot_be_is_refused(overlap: int) -> None:
    with pytest.raises(ValueError, match=f"from 2 to 4 snapshots, got {overlap}"):
        measured(points_of(np.zeros((4, 3, 2))), min_overlap=overlap)


def test_pairs_of_other_objects_are_refused() -> None:
    three, four = (points_of(np.zeros((2, n, 1))) for n in (3, 4))
    with pytest.raises(ValueError, match="among 4 objects, but there are 3"):
        measure(three, pairs.all(four))


def test_arguments_are_left_alone() -> None:
    array = np.random.default_rng(0).normal(size=(4, 3, 2))
    weights, box = np.array([1.0, 2, 3, 4]), np.array([[9.0, 0], [4.0, 9.0]])
    copies = array.copy(), weights.copy(), box.copy()
    measured(points_of(array, weights=weights, boxes=box))
    for after, before in zip((array, weights, box), copies, strict=True):
        assert after.tobytes() == before.tobytes()


def apart(distance: float, axis: int = 0) -> Floats:
    """Two points at about a distance along an axis."""
    array = np.zeros((4, 2, 3))
    array[:, 1, axis] = distance + np.array([0, 0.01, 0.02, 0.03])
    return array


@pytest.mark.parametrize("box", [np.eye(3) * 10, np.array([[10.0, 0, 0], [3, 10, 0], [0, 0, 10]])])
def test_a_warning_says_that_pairs_come_near_half_the_box(box: Floats) -> None:
    with pytest.warns(UserWarning, match="1 of 1 pairs come near or beyond half the periodic box"):
        measured(points_of(apart(4.9), boxes=box))


def test_groups_near_half_the_box_warn_as_well() -> None:
    made = objects.groups(Ensemble.from_array(apart(4.9), boxes=[10.0] * 3), [[0], [0, 1]])
    with pytest.warns(UserWarning, match="half the periodic box"):
        measured(made)


@pytest.mark.parametrize(
    ("distance", "axis", "box"),
    [
        (4.0, 0, [10.0, 10, 10]),
        (4.9, 0, None),
        (4.9, 1, [10.0, 0, 10]),
        (4.9, 0, [10.5, 10.5, 1e3]),
    ],
    ids=["well within", "no box", "along an open direction", "just within"],
)
def test_no_warning_comes_without_need(distance: float, axis: int, box: list[float] | None) -> None:
    if box == [10.5, 10.5, 1e3]:
        distance = 4.6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        measured(points_of(apart(distance, axis), boxes=box))


def test_all_pairs_but_those_left_out_are_measured() -> None:
    n_sites = 60
    bonds = [(k, k + 1) for k in range(n_sites - 1)]
    array = np.random.default_rng(5).normal(size=(4, n_sites, 3))
    made = objects.points(Ensemble.from_array(array, atoms=Atoms.unnamed(n_sites, bonds=bonds)))
    found = measure(made, pairs.all(made, min_bonds=4))
    apart = naive.bond_separation(n_sites, bonds)
    expected = [(i, j) for i in range(n_sites) for j in range(i + 1, n_sites) if apart[i, j] >= 4]
    assert sorted(map(tuple, found.pairs.tolist())) == expected


@pytest.mark.parametrize("chunk", [0, -1, -7])
@pytest.mark.parametrize("listed", [True, False], ids=["a list", "all pairs"])
def test_fewer_than_one_pair_at_a_time_is_refused(chunk: int, *, listed: bool) -> None:
    made = points_of(np.random.default_rng(0).normal(size=(4, 6, 3)))
    chosen = pairs.given(made, [[0, 1], [2, 3]]) if listed else pairs.all(made)
    calls: list[Callable[[], object]] = [
        lambda: measure(made, chosen, chunk=chunk),
        lambda: cluster(made, chosen, chunk=chunk),
        lambda: measure_parts(made, chosen, [range(4)], chunk=chunk),
        lambda: measure_parts(made, chosen, [range(4)], unions=[[0]], chunk=chunk),
    ]
    for call in calls:
        with pytest.raises(
            ValueError, match=f"at least 1 pair is measured at a time, got.*{chunk}"
        ):
            call()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("n_frames", "n_sites", "n_dimensions"),
    [(2, 2, 3), (5, 63, 3), (7, 64, 1), (3, 129, 2), (256, 150, 3), (98, 140, 3), (9, 66, 50)],
)
def test_all_pairs_at_once_are_those_of_sums_to_the_last_bit(
    n_frames: int, n_sites: int, n_dimensions: int, kind: Any
) -> None:
    rng = np.random.default_rng(0)
    array = rng.normal(size=(n_frames, n_sites, n_dimensions))
    array[:, ::2] = 100 * array[0, ::2] + array[:, ::2]  # some too still for single precision
    made = points_of(array.astype(kind))
    told = list[tuple[int, int]]()
    at_once = measured(made, progress=lambda *done: told.append(done))
    by_sums = measured(made, chunk=n_sites**2)
    for workers in (1, 3):
        assert measured(made, workers=workers).sigma.tobytes() == at_once.sigma.tobytes()
    assert at_once.sigma.tobytes() == by_sums.sigma.tobytes()
    assert np.array_equal(at_once.pairs, by_sums.pairs)
    assert np.array_equal(at_once.common, by_sums.common)
    assert told[-1] == (len(at_once.sigma), len(at_once.sigma))
    prepared = prepare_at_once(made, None, Run())
    assert prepared is not None
    pieces = measure_every(made, prepared, Run(), 1000)
    assert b"".join(piece.sigma.tobytes() for piece in pieces) == by_sums.sigma.tobytes()
    listed = rng.permutation(len(by_sums.sigma))
    found = measure_list(made, prepared, by_sums.pairs[listed], Run())
    assert found.sigma.tobytes() == by_sums.sigma[listed].tobytes()
    order, gaps = rng.permutation(n_sites), rng.choice(by_sums.sigma, n_sites - 1)
    kept = {
        tuple(sorted(pair)): float(sigma)
        for index, sigmas in measure_below(made, prepared, order, gaps, Run())
        for pair, sigma in zip(index.tolist(), sigmas, strict=True)
    }
    place = np.argsort(order)
    low, high = np.sort(place[by_sums.pairs], axis=1).T
    below = [s < gaps[a:b].max() for a, b, s in zip(low, high, by_sums.sigma, strict=True)]
    expected = zip(by_sums.pairs[below].tolist(), by_sums.sigma[below].tolist(), strict=True)
    assert kept == {tuple(pair): sigma for pair, sigma in expected}
