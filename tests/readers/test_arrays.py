"""Arrays, and objects of other libraries."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import MakeUniverse
from tests.liquids import Water
from tests.readers.builders import waters, write_pdb
from timme._arrays import Coordinates
from timme.readers import read
from timme.system.ensemble import Ensemble


def coordinates(ensemble: Ensemble) -> Coordinates:
    return ensemble.frames.read(0, ensemble.n_snapshots)[0]


@pytest.mark.parametrize("dimensions", [1, 2, 3, 10])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_arrays_of_any_dimension(dimensions: int, dtype: Any) -> None:
    array = np.arange(4 * 5 * dimensions).reshape(4, 5, dimensions).astype(dtype)
    ensemble = read(array, start=1, step=2)
    np.testing.assert_array_equal(coordinates(ensemble), array[1::2])


def test_lists_of_numbers_are_arrays() -> None:
    assert read([[[0.0], [1.0]], [[0.0], [2.0]]]).frames.shape == (2, 2, 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_npy_files_are_read_when_they_are_needed(tmp_path: Path, dtype: Any) -> None:
    path = tmp_path / "a.npy"
    array = np.arange(120).reshape(8, 5, 3).astype(dtype)
    np.save(path, array)
    ensemble = read(path, start=1, step=2, box=[9.0, 9.0, 9.0])
    np.testing.assert_array_equal(coordinates(ensemble), array[1::2])
    chosen = ensemble.select([4, 0, 2, 1, 3]).select([3, 0])
    found, box = chosen.snapshot(2)
    np.testing.assert_array_equal(found, array[5, [1, 4]])
    assert np.array_equal(np.asarray(box), np.diag([9.0, 9.0, 9.0]))
    assert found.dtype == (np.float64 if dtype is np.int64 else dtype)
    assert type(found) is np.ndarray  # not a map of the file, which would grow
    assert ensemble.sources == (str(path),)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([[[0.0, 1.0]], [[0.0, 1.0], [2.0, 3.0]]], "ragged"),
        (np.arange(7.0), r"of shape \(7,\); .* pairs of n sites are n\(n - 1\)/2 numbers"),
        (np.ones((3, 4, 4)) - np.eye(4), r"look like distances, .* distances\.std\(axis=0\)"),
        (np.zeros((2, 2, 2), dtype=complex), "real numbers, got an array of complex128"),
        (np.array([[["a"]]], dtype=object), "real numbers, got an array of object"),
        (np.zeros((3, 2)), "shape .*, got 2 dimensions"),
        (np.zeros((0, 5, 3)), "must not be empty"),
    ],
)
def test_arrays_that_are_no_snapshots_are_refused(source: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(source)


def test_npy_files_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"a\.npy: not an array of numbers"):
        read(path)
    path.write_bytes(b"hello")
    with pytest.raises(ValueError, match=r"a\.npy: not an array of numbers"):
        read(path)


def test_weights_go_with_the_kept_or_with_all_snapshots() -> None:
    array = np.zeros((6, 2, 3))
    for weights in (np.arange(6.0), np.arange(0.0, 6.0, 2.0)):
        found = read(array, step=2, weights=weights).weights
        assert found is not None
        assert (found / found.max()).tolist() == [0.0, 0.5, 1.0]
    with pytest.raises(ValueError, match="one number for each of 3 snapshots, got shape"):
        read(array, step=2, weights=[1.0, 2.0])


def test_weights_are_those_of_the_snapshots_that_are_kept() -> None:
    found = read(np.zeros((7, 2, 3)), start=1, step=2, weights=np.arange(7.0) ** 2).weights
    assert found is not None
    assert found.tolist() == [1 / 25, 9 / 25, 1.0]  # those of 1, 3 and 5


def test_nan_may_be_a_gap() -> None:
    array = np.zeros((2, 3, 2))
    array[1, 1] = np.nan
    assert read(array, gaps=True).gaps
    with pytest.raises(ValueError, match="must be finite"):
        list(read(array).blocks())


def test_boxes_of_arrays_are_sliced_with_them() -> None:
    boxes = np.arange(1.0, 13.0).reshape(6, 2)
    ensemble = read(np.zeros((6, 2, 2)), step=2, box=boxes[::2])
    np.testing.assert_array_equal(ensemble.frames.read(1, 2)[1], [np.diag(boxes[2])])


def test_bonds_may_be_given() -> None:
    assert read(np.zeros((2, 3, 2)), bonds=[(1, 0), (1, 2)]).atoms.bonds.tolist() == [
        [0, 1],
        [1, 2],
    ]
    with pytest.raises(ValueError, match="bonds need indices from 0 to 2, got 0 to 3"):
        read(np.zeros((2, 3, 2)), bonds=[(0, 3)])
    with pytest.raises(ValueError, match="bonds are 'auto'"):
        read(np.zeros((2, 3, 2)), bonds="some")


def test_trajectories_need_a_topology_file() -> None:
    with pytest.raises(ValueError, match="trajectories need a topology file, got ndarray"):
        read(np.zeros((2, 3, 2)), "a.xtc")


def test_a_universe_is_read_where_it_stands(make_universe: MakeUniverse) -> None:
    positions = np.random.default_rng(1).normal(size=(5, 4, 3)).astype(np.float32)
    universe = make_universe(positions, names=["CA", "CB", "CA", "CB"], resnames=["ALA"] * 4)
    universe.trajectory[3]
    ensemble = read(universe, start=1)
    np.testing.assert_array_equal(coordinates(ensemble), positions[1:])
    assert universe.trajectory.frame == 3
    assert ensemble.unit == "Å"
    assert ensemble.atoms.elements.tolist() == ["C"] * 4


def test_an_atom_group_is_a_selection(make_universe: MakeUniverse) -> None:
    positions = np.random.default_rng(1).normal(size=(3, 4, 3)).astype(np.float32)
    universe = make_universe(positions, names=["CA", "CB", "CA", "CB"], resnames=["ALA"] * 4)
    group = universe.select_atoms("name CB")
    ensemble = read(group)
    np.testing.assert_array_equal(coordinates(ensemble), positions[:, [1, 3]])
    assert ensemble.site_atoms.tolist() == [1, 3]
    assert read(group, select="resid 4").site_atoms.tolist() == [3]
    assert read(group, select=[1]).site_atoms.tolist() == [3]
    with pytest.raises(ValueError, match="at least 1"):
        read(group, select="name CA")


def test_universe_frames_travel_to_other_processes(make_universe: MakeUniverse) -> None:
    positions = np.random.default_rng(1).normal(size=(3, 4, 3)).astype(np.float32)
    frames = read(make_universe(positions)).frames
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(frames)).read(0, 3)[0], positions)


def test_a_universe_of_files_keeps_its_box(water: Water, tmp_path: Path) -> None:
    mda = pytest.importorskip("MDAnalysis")  # which leaves a file of its own beside a trajectory
    files = [shutil.copy(path, tmp_path) for path in (water.topology, water.trajectory)]
    ours, theirs = read(*files, stop=5), read(mda.Universe(*files), stop=5)
    np.testing.assert_allclose(coordinates(ours), coordinates(theirs), atol=1e-5)
    box, other = ours.snapshot(4)[1], theirs.snapshot(4)[1]
    assert box is not None
    assert other is not None
    np.testing.assert_allclose(box, other, atol=1e-5)
    np.testing.assert_array_equal(ours.atoms.bonds, theirs.atoms.bonds)


def test_links_of_a_pdb_file_are_not_all_bonds_of_a_universe(tmp_path: Path) -> None:
    mda = pytest.importorskip("MDAnalysis")
    path = write_pdb(tmp_path / "a.pdb", [waters(4)], extra=["CONECT    1    2"])
    assert len(read(mda.Universe(str(path))).atoms.bonds) == 8


def test_bonds_of_a_universe_in_memory_are_kept(make_universe: MakeUniverse) -> None:
    positions = np.zeros((2, 3, 3)) + np.array([[0.0, 0, 0], [1.5, 0, 0], [3.0, 0, 0]])
    universe = make_universe(positions, names=["C", "C", "C"])
    universe.add_TopologyAttr("bonds", [(0, 2)])
    assert read(universe).atoms.bonds.tolist() == [[0, 2]]
    assert read(universe, bonds="guess").atoms.bonds.tolist() == [[0, 1], [1, 2]]


def test_an_mdtraj_trajectory_is_in_nm(tmp_path: Path) -> None:
    mdtraj = pytest.importorskip("mdtraj")
    path = write_pdb(tmp_path / "a.pdb", [waters(4), waters(4)])
    trajectory = mdtraj.load(str(path))
    trajectory.unitcell_vectors = np.tile(2.0 * np.eye(3), (2, 1, 1))
    ensemble = read(trajectory, select="name O")
    assert ensemble.unit == "nm"
    np.testing.assert_allclose(coordinates(ensemble)[0, 0], [0.1, 0.1, 0.1], atol=1e-6)
    np.testing.assert_array_equal(ensemble.snapshot()[1], 2.0 * np.eye(3))
    np.testing.assert_array_equal(ensemble.atoms.bonds, read(path).atoms.bonds)


@pytest.mark.parametrize(
    ("length", "said"), [(0.0, "no box"), (0.1, "a box of 0.1 × 0.1 × 0.1 nm")]
)
def test_a_frame_of_mdtraj_in_another_space_is_refused(
    tmp_path: Path, length: float, said: str
) -> None:
    mdtraj = pytest.importorskip("mdtraj")
    trajectory = mdtraj.load(str(write_pdb(tmp_path / "a.pdb", [waters(4)] * 12)))
    lengths = np.full((12, 3), 3.0, np.float32)
    lengths[7] = length
    trajectory.unitcell_lengths, trajectory.unitcell_angles = lengths, np.full((12, 3), 90.0)
    with pytest.raises(ValueError, match=f"frame 8 has {said}, and other frames have a true box"):
        read(trajectory)
    assert read(trajectory, stop=7).n_snapshots == 7


def test_boxes_of_an_mdtraj_trajectory_are_those_of_the_snapshots_that_are_kept(
    tmp_path: Path,
) -> None:
    mdtraj = pytest.importorskip("mdtraj")
    trajectory = mdtraj.load(str(write_pdb(tmp_path / "a.pdb", [waters(4)] * 6)))
    sides = np.arange(2.0, 8.0)
    trajectory.unitcell_vectors = sides[:, None, None] * np.eye(3)
    found = read(trajectory, start=1, step=2).frames.read(0, 3)[1]
    assert found is not None
    assert found[:, 0, 0].tolist() == [3.0, 5.0, 7.0]


def test_transformations_of_a_universe_are_seen_and_its_frame_stays(
    make_universe: MakeUniverse,
) -> None:
    from MDAnalysis.transformations import translate

    universe = make_universe(np.arange(36.0).reshape(4, 3, 3))
    universe.trajectory.add_transformations(translate([100.0, 0.0, 0.0]))
    _ = universe.trajectory[2]
    ensemble = read(universe)
    np.testing.assert_allclose(coordinates(ensemble)[1, :, 0], [109.0, 112.0, 115.0])
    assert universe.trajectory.frame == 2


def test_faces_of_a_cube_are_no_distances() -> None:
    faces = np.ones((3, 3)) - np.eye(3)
    assert read(np.stack([faces, faces + 0.1])).n_sites == 3
