"""Reference: molecules are whole along their bonds, wherever the faces of the box are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from tests import naive
from tests.ensemble.builders import BOXES, Floats, Ints, atoms_of, joined, wrapped
from tests.strategies import seeds
from timme.ensemble import Atoms, Boxes, Ensemble
from timme.ensemble.bonds import with_bonds
from timme.ensemble.molecules import Trees, Whole, find_complexes, with_whole_molecules
from timme.ensemble.space import box_matrices


def chains(lengths: tuple[int, ...] = (7, 1, 5), n_snapshots: int = 4) -> tuple[Floats, Ints]:
    """Chains of links of length 1 that reach far, and their bonds."""
    rng = np.random.default_rng(3)
    n_atoms = sum(lengths)
    links = rng.normal(size=(n_snapshots, n_atoms, 3))
    places = np.cumsum(links / np.linalg.norm(links, axis=2, keepdims=True), axis=1)
    molecules = np.repeat(np.arange(len(lengths)), lengths)
    bonds = np.array([(k, k + 1) for k in range(n_atoms - 1) if molecules[k] == molecules[k + 1]])
    return places, bonds


def in_box(places: Floats, bonds: Ints, box: object = 4.0, *, together: bool = False) -> Ensemble:
    """Put atoms into a box one by one, and make molecules whole again."""
    matrices = box_matrices(np.asarray(box), len(places), 3)
    atoms = Atoms.unnamed(places.shape[1], bonds=bonds)
    cut = wrapped(places, matrices[0])
    ensemble = Ensemble.from_array(cut, boxes=matrices, atoms=atoms)
    return with_whole_molecules(ensemble, together=together)


@pytest.mark.parametrize("box", BOXES.values(), ids=BOXES)
@given(seeds)
def test_any_tree_in_any_box_agrees_with_the_reference(box: list[list[float]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrices = box_matrices(np.array([box]), 1, 3)
    places = rng.normal(scale=9, size=(1, 8, 3))
    bonds = [(int(rng.integers(k)), k) for k in range(1, 8) if rng.random() < 0.8]
    trees = Trees.of(np.array(bonds, np.int64).reshape(-1, 2), 8)
    found, _ = Whole(trees, np.arange(8))(places, matrices, [0])
    # The far vectors of open directions would be too many cells away for brute force.
    expected = naive.whole(places[0], bonds, np.array(box))
    np.testing.assert_allclose(found[0], expected, atol=1e-12)
    assert not np.shares_memory(found, places)


def test_wrapped_chains_get_back_their_shape_in_every_snapshot() -> None:
    places, bonds = chains()
    for box in (4.0, [4.0, 5.0, 4.5, 70.0, 80.0, 100.0]):
        found = in_box(places, bonds, box).coordinates()
        for own in (slice(0, 7), slice(8, 13)):
            links = np.diff(found[:, own], axis=1)
            np.testing.assert_allclose(links, np.diff(places[:, own], axis=1), atol=1e-12)


def test_whole_molecules_keep_their_bits() -> None:
    places, bonds = chains()
    single = places.astype(np.float32)
    for matrices in (box_matrices(100.0, 4, 3), None):
        found, _ = Whole(Trees.of(bonds, 13), np.arange(13))(single, matrices, range(4))
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, single)


def test_a_selection_is_whole_along_atoms_that_it_leaves_out() -> None:
    places, bonds = chains()
    whole = in_box(places, bonds)
    some = whole.select([6, 0, 12])
    assert some.frames.sites is not None
    assert len(some.frames.sites) == 7 + 1  # a site alone needs no others
    found, expected = some[1:].coordinates(), whole.coordinates()[1:, [6, 0, 12]]
    np.testing.assert_array_equal(found[:, :2], expected[:, :2])
    np.testing.assert_allclose((found - expected)[:, 2] % 4.0, 0.0)  # and may be in another image
    assert some.images is not None
    assert some.images.molecules.tolist() == [0, 0, 2]
    again = whole.select([6, 0, 5, 12]).select([0, 1])
    np.testing.assert_array_equal(again.coordinates(), whole.coordinates()[:, [6, 0]])
    together = in_box(places, bonds, together=True)
    alone = together.select([5]).coordinates()
    np.testing.assert_array_equal(alone, together.coordinates()[:, [5]])


def test_hidden_atoms_are_bridged() -> None:
    places = np.arange(20)[:, None] * np.array([1.5, 0.2, 0.1]) + np.zeros((3, 1, 3))
    places[1, [7, 8]] = np.nan
    places[2, 0] = np.nan
    trees = Trees.of(np.column_stack([np.arange(19), np.arange(1, 20)]), 20)
    matrices = box_matrices([10.0, 11.0, 12.0], 3, 3)
    found, _ = Whole(trees, np.arange(20))(wrapped(places, matrices[0]), matrices, range(3))
    vectors = np.diff(found, axis=1), np.diff(places, axis=1)
    np.testing.assert_allclose(*vectors, atol=1e-9)  # NaN in the same places


def test_a_polymer_bound_to_its_own_image_stays_as_it_is() -> None:
    count = 10
    places = np.zeros((1, count + 2, 3))
    places[0, :count, 0] = np.arange(count)
    places[0, count:, 1] = 3.0, 4.0
    bonds = np.array([*((k, (k + 1) % count) for k in range(count)), (count, count + 1)])
    boxes = box_matrices([10.0, 9.0, 9.0], 1, 3)
    atoms = Atoms.unnamed(count + 2, bonds=bonds)
    whole = with_whole_molecules(Ensemble.from_array(places, boxes=boxes, atoms=atoms))
    assert "10 atoms are bound to their own images" in whole.notes[0]
    assert whole.images is not None
    assert len(np.unique(whole.images.molecules)) == count + 1
    np.testing.assert_array_equal(whole.coordinates(), places)


# ---- complexes -----------------------------------------------------------------------------------

ROD = [("ALA", ("N", "CA", "C", "O"))] * 3
COMPLEX = joined(
    atoms_of(*ROD), atoms_of(*ROD, chain="B"), atoms_of(*ROD, chain="C"),
    atoms_of(("LIG", ("C1", "C2", "C3")), chain="L"), atoms_of(*[("HOH", ("O",))] * 3, chain="W"),
)  # fmt: skip
OWNERS = np.repeat(np.arange(7), [12, 12, 12, 3, 1, 1, 1])
REST = np.zeros((42, 3))
REST[:39, 0] = 1.4 * np.concatenate([*[np.arange(12)] * 3, np.arange(3)])
REST[:39, 1] = np.repeat([4.0, 8.0, 24.0, 0.0], [12, 12, 12, 3])  # two rods touch, and a ligand
REST[39:] = [[3.0, 2.0, 0.0], [6.0, 2.0, 0.0], [20.0, 30.0, 30.0]]


@pytest.mark.parametrize("box", [[40.0, 41.0, 42.0], [40.0, 41.0, 42.0, 80.0, 75.0, 100.0]])
def test_chains_and_ligands_that_touch_are_beside_one_another(box: list[float]) -> None:
    matrices = box_matrices(np.array([box]), 1, 3)
    drift = np.linspace(0, 1, 12)[:, None, None] * [9.0, 45.0, 30.0]
    true = REST + drift
    cut = true.copy()
    for owner in range(7):  # each molecule is put into the box by itself
        own = owner == OWNERS
        centres = true[:, own].mean(axis=1)
        cut[:, own] += (wrapped(centres, matrices[0]) - centres)[:, None]
    atoms = with_bonds(COMPLEX, [(k, k + 1) for k in range(38) if OWNERS[k] == OWNERS[k + 1]])
    ensemble = Ensemble.from_array(cut, boxes=np.tile(matrices, (12, 1, 1)), atoms=atoms, unit="Å")
    found = with_whole_molecules(ensemble).coordinates()
    for other in (12, 36):
        apart = found[:, other] - found[:, 0], true[:, other] - true[:, 0]
        np.testing.assert_allclose(*apart, atol=1e-9)
    assert not np.allclose(found[:, 24] - found[:, 0], true[:, 24] - true[:, 0])
    alone = with_whole_molecules(ensemble, complexes=False).coordinates()
    np.testing.assert_allclose(alone, cut)


def test_a_complex_is_joined_once_through_at_its_nearest_atoms() -> None:
    boxes = Boxes.of(None, 1, 3)
    links = find_complexes(COMPLEX, REST, boxes, OWNERS, 4.5)
    assert sorted(map(tuple, OWNERS[links].tolist())) == [(0, 1), (0, 3)]
    np.testing.assert_allclose(np.linalg.norm(np.diff(REST[links], axis=1)[:, 0], axis=1), 4.0)
    assert not len(find_complexes(COMPLEX, REST, boxes, OWNERS, 3.9))
    many = joined(atoms_of(*ROD), atoms_of(*[("LIP", ("C1",))] * 11))
    owners = np.concatenate([np.zeros(12, np.int64), np.arange(1, 12)])
    assert not len(find_complexes(many, np.zeros((23, 3)), boxes, owners, 4.5))


# ---- molecules by numbers ------------------------------------------------------------------------


def test_numbered_molecules_are_joined_in_the_order_of_the_file() -> None:
    """The last number stands for no molecule, as its atoms are half a box apart."""
    places = np.zeros((1, 8, 3))
    places[0, :, 0] = [0.5, 5.0, 9.5, 5.5, 1.0, 8.0, 0.5, 5.0]
    ensemble = Ensemble.from_array(places, boxes=10.0)
    whole = with_whole_molecules(replace(ensemble, molecules=np.array([7, 2, 7, 2, 0, 0, 9, 9])))
    expected = [0.5, 5.0, -0.5, 5.5, 1.0, 8.0, 0.5, 5.0]
    np.testing.assert_allclose(whole.coordinates()[0, :, 0], expected)
    assert whole.images is not None
    assert len(np.unique(whole.images.molecules)) == 6
    assert "1 numbered molecules reach too far" in whole.notes[0]
