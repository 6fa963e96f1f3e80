import math
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import timme
from tests import naive
from tests.strategies import seeds, tilted_boxes
from timme.system.atoms import Atoms, sorted_bonds
from timme.system.boxes import box_matrices
from timme.system.checks import checked_weights
from timme.system.ensemble import Ensemble
from timme.system.space import Boxes

SNAPSHOTS = np.random.default_rng(0).normal(size=(5, 4, 3))


def with_entry(value: float) -> Any:
    array = SNAPSHOTS.copy()
    array[3, 2, 1] = value
    return array


# Coordinates


@pytest.mark.parametrize("n_snapshots", [1, 7, 8, 127, 128, 129, 256, 300])
def test_blocks_cover_every_snapshot_once_and_in_order(n_snapshots: int) -> None:
    array = np.arange(2.0 * n_snapshots).reshape(n_snapshots, 2, 1)
    ensemble = Ensemble.from_array(array, weights=np.arange(1.0, n_snapshots + 1))
    blocks = list(ensemble.blocks())
    assert np.concatenate([block.coordinates for block in blocks]).tolist() == array.tolist()
    weights = np.concatenate([block.weights for block in blocks])
    assert weights / weights[0] == pytest.approx(np.arange(1, n_snapshots + 1))
    assert [block.start for block in blocks] == list(range(0, n_snapshots, ensemble.block_length))


def test_single_and_double_precision_are_kept_and_the_rest_becomes_double() -> None:
    kinds: list[tuple[Any, Any]] = [
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.float16, np.float64),
        (np.int8, np.float64),
        (np.uint64, np.float64),
        (np.dtype(">f4"), np.float64),
    ]
    for given_as, kept in kinds:
        array = np.arange(8).reshape(2, 2, 2).astype(given_as)
        block = Ensemble.from_array(array).block(0)
        assert block.coordinates.dtype == kept
        assert block.coordinates.tolist() == array.tolist()


def test_coordinates_are_read_only_and_the_argument_stays_writable() -> None:
    array = SNAPSHOTS.copy()
    ensemble = Ensemble.from_array(array)
    with pytest.raises(ValueError, match="read-only"):
        ensemble.block(0).coordinates[0, 0, 0] = 1.0
    assert array.flags.writeable


@pytest.mark.parametrize(
    ("coordinates", "message"),
    [
        ([[[0.0], [1.0]], [[0.0]]], "ragged"),
        (SNAPSHOTS.astype(complex), "real numbers, got an array of complex128"),
        (SNAPSHOTS.astype(object), "real numbers, got an array of object"),
        (SNAPSHOTS.astype(str), "real numbers"),
        (SNAPSHOTS > 0, "real numbers, got an array of bool"),
        (SNAPSHOTS.astype("datetime64[s]"), "real numbers"),
        (SNAPSHOTS[0], r"\(snapshots, sites, dimensions\), got 2 dimensions of shape \(4, 3\)"),
        (SNAPSHOTS[0, 0], r"got 1 dimension of shape \(3,\)"),
        (3.0, r"got 0 dimensions of shape \(\)"),
        (SNAPSHOTS[None], r"got 4 dimensions of shape \(1, 5, 4, 3\)"),
        (SNAPSHOTS[:0], r"must not be empty, got shape \(0, 4, 3\)"),
        (SNAPSHOTS[:, :0], r"must not be empty, got shape \(5, 0, 3\)"),
        (SNAPSHOTS[:, :, :0], r"must not be empty, got shape \(5, 4, 0\)"),
    ],
)
def test_arrays_that_are_no_snapshots_are_refused(coordinates: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Ensemble.from_array(coordinates)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_coordinate_that_is_no_number_names_its_snapshot_and_site(value: float) -> None:
    with pytest.raises(ValueError, match=r"atom 3 \(site 3\) of snapshot 4 is .*(nan|inf)"):
        list(Ensemble.from_array(with_entry(value)).blocks())


def test_the_snapshot_of_a_bad_coordinate_is_counted_over_all_blocks() -> None:
    array = np.zeros((300, 2, 1))
    array[290, 1] = math.nan
    with pytest.raises(ValueError, match=r"site 2\) of snapshot 291 "):
        list(Ensemble.from_array(array).blocks())


def test_gaps_may_be_nan_but_not_infinite() -> None:
    block = Ensemble.from_array(with_entry(math.nan), gaps=True).block(0)
    assert np.isnan(block.coordinates).sum() == 1
    with pytest.raises(ValueError, match="infinite"):
        Ensemble.from_array(with_entry(math.inf), gaps=True)
    said_later = replace(Ensemble.from_array(with_entry(math.inf)), gaps=True)
    for read in (said_later.coordinates, lambda: said_later.snapshot(3)):
        with pytest.raises(ValueError, match=r"must be finite.*inf.*write NaN for a gap"):
            read()


def test_masked_coordinates_are_never_used() -> None:
    masked = np.ma.masked_array(SNAPSHOTS.copy())
    masked[3, 2] = np.ma.masked
    with pytest.raises(ValueError, match=r"mask|finite"):
        list(Ensemble.from_array(masked).blocks())
    block = Ensemble.from_array(masked, gaps=True).block(0)
    assert np.isnan(np.asarray(block.coordinates)[3, 2]).all()


def test_atoms_need_to_be_as_many_as_sites() -> None:
    with pytest.raises(ValueError, match="4"):
        Ensemble.from_array(SNAPSHOTS, atoms=Atoms.unnamed(3))


# Selections


def test_a_selection_keeps_the_box_of_every_snapshot() -> None:
    boxes = np.arange(1.0, 16.0).reshape(5, 3)
    chosen = Ensemble.from_array(SNAPSHOTS, boxes=boxes).select([3, 1])
    found = chosen.block(0).boxes
    assert found is not None
    assert np.einsum("fii->fi", found).tolist() == boxes.tolist()


def test_a_selection_keeps_coordinates_in_the_order_wanted_and_all_bonds() -> None:
    ensemble = Ensemble.from_array(SNAPSHOTS, atoms=Atoms.unnamed(4, bonds=[(0, 1), (2, 3)]))
    chosen = ensemble.select([3, 1])
    assert chosen.block(0).coordinates.tolist() == SNAPSHOTS[:, [3, 1]].tolist()
    assert chosen.site_atoms.tolist() == [3, 1]
    assert chosen.select([1]).site_atoms.tolist() == [1]
    assert chosen.atoms.bonds.tolist() == [[0, 1], [2, 3]]
    assert chosen.site_label(0) == "4"


def test_an_empty_selection_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 of the 4 sites, got none"):
        Ensemble.from_array(SNAPSHOTS).select([])


@pytest.mark.parametrize("sites", [[4], [-1], [0.5], np.array([True, False]), [1, 1]], ids=str)
def test_selections_that_are_no_sites_are_refused(sites: Any) -> None:
    with pytest.raises(ValueError, match="site"):
        Ensemble.from_array(SNAPSHOTS).select(sites)


def test_a_selection_may_be_given_as_truth_values() -> None:
    chosen = Ensemble.from_array(SNAPSHOTS).select(np.array([False, True, False, True]))
    assert chosen.site_atoms.tolist() == [1, 3]


# Boxes


def test_every_way_to_give_a_box_means_the_same() -> None:
    lengths = np.array([2.0, 3.0, 4.0])
    expected = np.broadcast_to(np.diag(lengths), (5, 3, 3)).tolist()
    for given_as in (lengths, np.tile(lengths, (5, 1)), np.diag(lengths), np.array(expected)):
        assert box_matrices(given_as, 5, 3).tolist() == expected


def test_lengths_for_as_many_snapshots_as_dimensions_are_never_taken_for_a_matrix() -> None:
    lengths = np.array([[10.0, 10, 10], [10.1, 10, 10], [10, 10.2, 10.1]])
    try:
        matrices = box_matrices(lengths, 3, 3)
    except ValueError as error:
        assert "matri" in str(error)  # noqa: PT017 (an error is one of two good answers)
    else:
        assert matrices.tolist() == [np.diag(row).tolist() for row in lengths]


@given(st.data(), st.integers(2, 3), seeds)
def test_reduced_boxes_span_the_same_lattice(
    data: st.DataObject, n_dimensions: int, seed: int
) -> None:
    tilted = data.draw(tilted_boxes(2, n_dimensions))
    reduced = box_matrices(tilted, 2, n_dimensions)
    change = reduced @ np.linalg.inv(tilted)
    assert change == pytest.approx(np.rint(change), abs=1e-9)
    assert np.abs(np.linalg.det(change)) == pytest.approx(1)
    assert np.linalg.norm(reduced, axis=2).sum() <= np.linalg.norm(tilted, axis=2).sum() + 1e-9
    point = np.random.default_rng(seed).normal(scale=5, size=n_dimensions)
    origin = np.zeros(n_dimensions)
    assert naive.distance(origin, point, reduced[0]) == pytest.approx(
        naive.distance(origin, point, tilted[0])
    )


def test_a_very_skewed_box_is_reduced_at_once() -> None:
    start = time.process_time()
    reduced = box_matrices([[1.0, 0.0], [3e5, 1.0]], 1, 2)
    assert time.process_time() - start < 10
    assert np.abs(reduced[0]).tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("box", "message"),
    [
        ([1.0, 2.0], r"3 lengths or a 3 × 3 matrix.* got shape \(2,\)"),
        (np.ones((4, 3)), r"got shape \(4, 3\)"),
        (np.ones((4, 3, 3)), r"got shape \(4, 3, 3\)"),
        ([1.0, -2.0, 3.0], "not negative"),
        (np.full((5, 3), -2.0), "not negative"),
        ([1.0, math.nan, 3.0], "finite"),
        ([1.0, math.inf, 3.0], "finite"),
        ([[1.0, 0, 0], [1.0, 0, 0], [0, 1.0, 1.0]], "flat"),
    ],
)
def test_boxes_that_are_none_are_refused(box: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Ensemble.from_array(SNAPSHOTS, boxes=box)


@pytest.mark.parametrize(
    "box",
    [
        [[4.0, 0, 0], [1.5, 5.0, 0], [0, 0, 0]],  # a tilted film
        [[4.0, 0, 0], [0, 0, 0], [1.0, 0, 5.0]],
        [[3.0, 3.0, 0], [0, 0, 0], [0, 0, 0]],  # a tilted tube
        [[4.0, 0, 0], [0, -5.0, 0], [0, 0, 6.0]],  # left-handed
        [[-3.0, 3, 3], [3, -3, 3], [3, 3, -3]],  # body-centred
        [[0, 4.0, 0], [5.0, 0, 0], [0, 0, 6.0]],  # in another order
        5.0,
    ],
    ids=str,
)
def test_boxes_of_all_kinds_have_the_nearest_images(box: Any) -> None:
    rng = np.random.default_rng(2)
    one, other = rng.uniform(-15, 15, (2, 60, 3))
    matrix = np.diag([5.0] * 3) if box == 5.0 else np.array(box)
    boxes = Boxes.of(box_matrices(box, 1, 3), 1, 3)
    found = np.linalg.norm(boxes.shorten((one - other)[None])[0], axis=1)
    expected = [
        np.linalg.norm(naive.nearest_image(a, b, matrix) - a)
        for a, b in zip(one, other, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


# Weights, bonds


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 1.0], r"each of 5 snapshots, got shape \(2,\)"),
        (np.ones((5, 1)), r"got shape \(5, 1\)"),
        ([1.0, 1, 1, 1, -1], "not negative"),
        ([1.0, 1, 1, 1, math.nan], "finite"),
        ([1.0, 1, 1, 1, math.inf], "finite"),
        ([0.0, 0, 0, 0, 1], "at least 2 snapshots"),
    ],
)
def test_weights_that_weigh_nothing_are_refused(weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Ensemble.from_array(SNAPSHOTS, weights=weights)


def test_weights_are_read_only() -> None:
    assert not checked_weights([1, 2], 2).flags.writeable


def test_bonds_have_one_form() -> None:
    bonds = [(3, 1), (0, 2), (1, 3)]
    assert sorted_bonds(bonds).tolist() == [[0, 2], [1, 3]]
    assert sorted_bonds([]).shape == (0, 2)
    assert bonds == [(3, 1), (0, 2), (1, 3)]


def test_lengths_and_angles_make_the_box_vectors() -> None:
    straight = box_matrices([4.0, 5.0, 6.0, 90.0, 90.0, 90.0], 2, 3)
    np.testing.assert_array_equal(straight[0], np.diag([4.0, 5.0, 6.0]))
    tilted = box_matrices([4.0, 5.0, 6.0, 80.0, 75.0, 70.0], 1, 3)[0]
    assert np.linalg.norm(tilted, axis=1) == pytest.approx([4.0, 5.0, 6.0])
    a, b, c = tilted
    for one, other, degrees in ((b, c, 80.0), (a, c, 75.0), (a, b, 70.0)):
        cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
        assert np.degrees(np.arccos(cosine)) == pytest.approx(degrees)
    with pytest.raises(ValueError, match="span space"):
        box_matrices([4.0, 5.0, 6.0, 30.0, 90.0, 130.0], 1, 3)


# ---- some of the snapshots, some of the sites ----------------------------------------------------


def some(weights: Any = None, **options: Any) -> Ensemble:
    places = np.random.default_rng(4).normal(size=(12, 5, 3))
    return Ensemble.from_array(places, weights=weights, **options)


@pytest.mark.parametrize(
    "chosen", [slice(3, 9), slice(None, None, 4), slice(-3, None), [0, 4, 5], np.arange(12) > 7]
)
def test_snapshots_are_sliced_with_their_weights_and_boxes(chosen: Any) -> None:
    weights = np.arange(1.0, 13.0)
    boxes = np.linspace(10.0, 20.0, 12)[:, None] * np.ones(3)
    whole = some(weights, boxes=boxes)
    part = whole[chosen]
    assert len(part) == part.n_snapshots == len(np.arange(12)[chosen])
    np.testing.assert_array_equal(part.coordinates(), whole.coordinates()[chosen])
    assert part.weights is not None
    np.testing.assert_allclose(part.weights, weights[chosen] / weights[chosen].max(), rtol=1e-15)
    first = int(np.arange(12)[chosen][0])
    np.testing.assert_array_equal(part.snapshot()[1], whole.snapshot(first)[1])


def test_a_slice_is_what_reading_it_gives() -> None:
    whole, read = some()[2:10:3], timme.read(some().coordinates(), start=2, stop=10, step=3)
    np.testing.assert_array_equal(whole.coordinates(), read.coordinates())


def test_a_slice_of_followed_sites_is_followed_from_the_first_snapshot_of_all() -> None:
    walk = np.cumsum(np.full((40, 4, 3), 0.7), axis=0) + np.arange(4)[:, None]
    whole = timme.read(walk % 10.0, box=[10.0, 10.0, 10.0], unwrap=True)
    part = whole[25:]
    np.testing.assert_array_equal(part.coordinates(), whole.coordinates()[25:])
    assert part.images is whole.images
    points = timme.objects.points(part)
    assert timme.measure(points, timme.pairs.all(points)).sigma.max() < 1e-6


def test_what_is_no_run_of_snapshots_is_refused() -> None:
    with pytest.raises(TypeError, match=r"got 3: use ensemble\[3:4\], or ensemble.snapshot\(3\)"):
        some()[3]
    for wrong in (slice(None, None, -1), slice(5, 5), [4, 2]):
        with pytest.raises(ValueError, match="at least 1 of 12 snapshots is kept, and in their"):
            some()[wrong]
    with pytest.raises(ValueError, match="snapshots go from 0 to 11, got 12 to 12"):
        some()[[12]]
    with pytest.raises(TypeError, match="not iterable"):
        iter(some())
    with pytest.raises(TypeError, match="it is read already; slice its snapshots"):
        timme.read(some())


def test_sites_are_selected_by_text_among_those_that_are_left() -> None:
    blank = Atoms.unnamed(5)
    named = replace(blank, names=np.array(["N", "CA", "C", "N", "CA"]))
    whole = some(atoms=replace(named, resids=np.array([1, 1, 1, 2, 2])))
    assert whole.select("name CA").site_atoms.tolist() == [1, 4]
    fewer = whole.select([4, 3, 0])
    assert fewer.select("name CA or resid 1").site_atoms.tolist() == [4, 0]
    assert fewer.find_sites("name N").tolist() == [1, 2]
    with pytest.raises(ValueError, match="the selection 'name CB' matches none of the 5 atoms"):
        whole.select("name CB")


def test_atoms_taken_out_keep_the_bonds_between_them() -> None:
    taken = Atoms.unnamed(5, bonds=[(0, 1), (1, 2), (2, 3), (3, 4)]).take(np.array([3, 2, 0]))
    assert taken.resids.tolist() == [4, 3, 1]
    assert taken.bonds.tolist() == [[0, 1]]


def test_a_snapshot_may_be_counted_from_the_last() -> None:
    ensemble = Ensemble.from_array(np.arange(24.0).reshape(4, 2, 3))
    np.testing.assert_array_equal(ensemble.snapshot(-1)[0], ensemble.snapshot(3)[0])
    for index in (4, -5, 99):
        with pytest.raises(ValueError, match=f"snapshots go from 0 to 3, .* got {index}"):
            ensemble.snapshot(index)


@pytest.mark.parametrize(("index", "advised"), [(0, "0:1"), (2, "2:3"), (-1, "3:4"), (-4, "0:1")])
def test_one_snapshot_is_asked_for_in_ways_that_work(index: int, advised: str) -> None:
    ensemble = Ensemble.from_array(np.arange(24.0).reshape(4, 2, 3))
    said = rf"use ensemble\[{advised}\], or ensemble.snapshot\({index}\)"
    with pytest.raises(TypeError, match=said):
        ensemble[index]
    with pytest.raises(ValueError, match=r"snapshots go from 0 to 3, .* got 9"):
        ensemble[9]
