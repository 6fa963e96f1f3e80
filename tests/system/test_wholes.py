"""Molecules are made whole along their bonds, wherever the walls are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.strategies import boxes, seeds
from timme._arrays import Coordinates, Floats, Ints
from timme.system.boxes import box_matrices
from timme.system.held_frames import ArrayFrames
from timme.system.space import Boxes
from timme.system.wholes import Trees, WholeFrames, cut_free, endless


def wrap(places: Floats, matrices: Floats) -> Floats:
    """Put all points into the box, as simulation programs write them."""
    fractions = places @ np.linalg.inv(matrices)
    wrapped: Floats = (fractions - np.floor(fractions)) @ matrices
    return wrapped


def chains(n_snapshots: int = 4, lengths: tuple[int, ...] = (7, 1, 5)) -> tuple[Floats, Ints]:
    """Chains of short links that reach far, and their bonds."""
    rng = np.random.default_rng(3)
    places, bonds, first = list[Floats](), list[tuple[int, int]](), 0
    for length in lengths:
        links = rng.normal(size=(n_snapshots, length, 3))
        links /= np.linalg.norm(links, axis=2, keepdims=True)
        places.append(np.cumsum(links, axis=1) + rng.uniform(0, 4, (n_snapshots, 1, 3)))
        bonds += [(k, k + 1) for k in range(first, first + length - 1)]
        first += length
    return np.concatenate(places, axis=1), np.array(bonds)


def whole_frames(places: Coordinates, matrices: Floats, bonds: Ints) -> WholeFrames:
    trees = Trees.of(bonds, places.shape[1])
    return WholeFrames(ArrayFrames(places, matrices), trees, np.arange(places.shape[1]))


@given(st.data(), seeds)
def test_any_tree_in_any_box_agrees_with_the_reference(data: st.DataObject, seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrices = box_matrices(data.draw(boxes(2, 3)), 2, 3)
    places = rng.normal(scale=4, size=(2, 8, 3))
    bonds = np.array([(int(rng.integers(k)), k) for k in range(1, 8) if rng.random() < 0.8])
    found, _ = whole_frames(places, matrices, bonds.reshape(-1, 2)).read(0, 2)
    for frame in range(2):
        expected = naive.whole(places[frame], bonds.reshape(-1, 2), matrices[frame])
        np.testing.assert_allclose(found[frame], expected, atol=1e-12)


@pytest.mark.parametrize("box", [[4.0, 5.0, 4.5], [4.0, 5.0, 4.5, 70.0, 80.0, 100.0]])
def test_wrapped_chains_get_back_their_shape_in_every_snapshot(box: list[float]) -> None:
    places, bonds = chains()
    matrices = box_matrices(box, len(places), 3)
    found, kept = whole_frames(wrap(places, matrices), matrices, bonds).read(0, len(places))
    assert kept is not None
    for first, last in ((0, 7), (8, 13)):
        links = np.diff(found[:, first:last], axis=1)
        np.testing.assert_allclose(links, np.diff(places[:, first:last], axis=1), atol=1e-12)


def test_what_is_whole_keeps_its_bits() -> None:
    places, bonds = chains()
    matrices = box_matrices([100.0, 100.0, 100.0], len(places), 3)
    single = places.astype(np.float32)
    found, _ = whole_frames(single, matrices, bonds).read(0, len(places))
    assert found.dtype == np.float32
    assert np.array_equal(found, single)


def test_open_space_and_open_directions_are_left_alone() -> None:
    places, bonds = chains()
    open_frames = WholeFrames(ArrayFrames(places), Trees.of(bonds, 13), np.arange(13))
    assert np.array_equal(open_frames.read(0, 4)[0], places)
    film = box_matrices([4.0, 4.0, 0.0], 4, 3)
    flat = places.copy()
    flat[..., :2] %= 4.0
    found, _ = whole_frames(flat, film, bonds).read(0, 4)
    assert np.array_equal(found[..., 2], places[..., 2])
    links = np.diff(found[:, :7], axis=1)
    np.testing.assert_allclose(links, np.diff(places[:, :7], axis=1), atol=1e-12)


def test_a_selection_is_whole_through_atoms_that_it_leaves_out() -> None:
    places, bonds = chains()
    matrices = box_matrices([4.0, 5.0, 4.5], len(places), 3)
    frames = whole_frames(wrap(places, matrices), matrices, bonds)
    ends = frames.select(np.array([6, 0, 12]))
    assert ends.frames.shape[1] == 7 + 1  # one site alone needs no others
    found, _ = ends.read(1, 3)
    span = found[:, 0] - found[:, 1]
    np.testing.assert_allclose(span, (places[:, 6] - places[:, 0])[1:3], atol=1e-12)
    again, _ = frames.select(np.array([6, 0, 5, 12])).select(np.array([0, 1])).read(1, 3)
    np.testing.assert_allclose(again[:, 0] - again[:, 1], span, atol=1e-12)


def test_atoms_that_are_not_seen_stay_so_and_others_where_they_are() -> None:
    places, bonds = chains()
    matrices = box_matrices([100.0, 100.0, 100.0], len(places), 3)
    places[1, 3] = np.nan
    found, _ = whole_frames(places, matrices, bonds).read(0, len(places))
    np.testing.assert_array_equal(found, places)


def test_a_molecule_longer_than_its_box_is_whole_around_atoms_that_are_not_seen() -> None:
    places = np.arange(20)[:, None] * np.array([1.5, 0.2, 0.1]) + np.zeros((3, 1, 3))
    places[1, [7, 8]] = np.nan
    bonds = np.column_stack([np.arange(19), np.arange(1, 20)])
    matrices = box_matrices([10.0, 11.0, 12.0], 3, 3)
    found, _ = whole_frames(places % [10.0, 11.0, 12.0], matrices, bonds).read(0, 3)
    np.testing.assert_allclose(found, places, atol=1e-9)


def test_what_is_bound_to_its_own_image_is_found_and_cut_free() -> None:
    count = 10
    ring = np.zeros((count + 2, 3))
    ring[:count, 0] = np.arange(count)
    ring[count:, 1] = 3.0, 4.0
    bonds = np.array([*((k, (k + 1) % count) for k in range(count)), (count, count + 1)])
    trees = Trees.of(np.sort(bonds, axis=1), count + 2)
    boxes = Boxes.of(box_matrices([float(count), 9.0, 9.0], 1, 3), 1, 3)
    found = endless(ring, boxes, trees, bonds)
    assert found.tolist() == [True] * count + [False] * 2
    free = cut_free(trees, found)
    assert (free.parents[:count] == -1).all()
    assert len(set(free.molecules[:count].tolist())) == count
    assert free.molecules[count] == free.molecules[count + 1]


def test_molecules_are_numbered_by_their_first_atoms() -> None:
    trees = Trees.of(np.array([[1, 4], [2, 3]]), 5)
    assert trees.molecules.tolist() == [0, 1, 2, 2, 1]
    assert Trees.of(np.empty((0, 2), np.int64), 3).molecules.tolist() == [0, 1, 2]
