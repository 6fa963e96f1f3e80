"""Files and objects of other programs: extended XYZ, H5MD, molecules of LAMMPS, ASE, freud."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import timme
from timme._arrays import Floats
from timme.readers import read
from timme.system.ensemble import Ensemble

pytestmark = pytest.mark.filterwarnings("ignore:.*half the periodic box")

BOX = np.array([[10.0, 0.0, 0.0], [3.0, 11.0, 0.0], [1.0, 2.0, 12.0]])


def walks(n_snapshots: int = 6, n_sites: int = 8, dimensions: int = 3) -> Floats:
    steps = np.random.default_rng(0).normal(scale=0.3, size=(n_snapshots, n_sites, dimensions))
    return 5.0 + np.random.default_rng(1).normal(scale=3.0, size=steps.shape[1:]) + steps


def positions_of(ensemble: Ensemble) -> Floats:
    return np.asarray(ensemble.frames.read(0, ensemble.n_snapshots)[0], dtype=np.float64)


def boxes_of(ensemble: Ensemble) -> Floats | None:
    return ensemble.frames.read(0, ensemble.n_snapshots)[1]


def sigma_of(ensemble: Ensemble) -> Floats:
    points = timme.objects.points(ensemble)
    return timme.measure(points, timme.pairs.all(points)).sigma


# ---- extended XYZ ------------------------------------------------------------------------------


def extended(path: Path, positions: Floats) -> Path:
    lattice = " ".join(map(str, BOX.ravel()))
    title = f'Lattice="{lattice}" Properties=id:I:1:species:S:1:pos:R:3 pbc="T T T"'
    lines = list[str]()
    for frame in positions:
        lines += [str(len(frame)), title]
        lines += [f"{k} O {x:.6f} {y:.6f} {z:.6f}" for k, (x, y, z) in enumerate(frame, start=1)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("name", ["a.extxyz", "a.xyz"])
def test_extended_xyz_is_read_by_either_name(tmp_path: Path, name: str) -> None:
    ensemble = read(extended(tmp_path / name, walks()), bonds="none")
    np.testing.assert_allclose(positions_of(ensemble), walks(), atol=1e-5)
    assert boxes_of(ensemble) is not None
    assert ensemble.atoms.names.tolist() == ["O"] * 8
    assert ensemble.unit == ""


def test_extended_xyz_may_be_packed_and_follow_a_topology(tmp_path: Path) -> None:
    import gzip

    plain = extended(tmp_path / "a.extxyz", walks())
    packed = tmp_path / "b.extxyz.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert read(packed, bonds="none").n_snapshots == 6
    first = extended(tmp_path / "first.extxyz", walks()[:1])
    assert read(first, packed, bonds="none").n_snapshots == 6


# ---- H5MD --------------------------------------------------------------------------------------


def h5md(
    path: Path, positions: Floats, *, unit: str = "nm", edges: Any = None, **more: Any
) -> Path:
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file.create_group("h5md").attrs["version"] = (1, 1)
        group = file.create_group("particles/all")
        box = group.create_group("box")
        box.attrs["dimension"] = positions.shape[2]
        box.attrs["boundary"] = more.get("boundary", ["periodic"] * positions.shape[2])
        if edges is not None and np.ndim(edges) < 3 and "steps" not in more:
            box["edges"] = edges
        elif edges is not None:
            box["edges/value"], box["edges/step"] = edges, more.get("steps", range(len(edges)))
        group["position/value"], group["position/step"] = positions, range(len(positions))
        if unit:
            group["position/value"].attrs["unit"] = unit
        if "unit_of_box" in more:
            stands = box["edges/value"] if "edges/value" in box else box["edges"]
            stands.attrs["unit"] = more["unit_of_box"]
        for name in {"id", "image"} & more.keys():
            group[f"{name}/value"] = more[name]
            group[f"{name}/step"] = more.get(f"{name}_steps", range(len(positions)))
        if "marks" in more:  # of what there is at each step, by its name
            _mark(group, more["marks"])
    return path


def _mark(group: Any, marks: dict[str, Any]) -> None:
    """Write steps or times: each, or (that between all, that of the first)."""
    for name in ("position", "box/edges", "image", "id"):
        if name in group and hasattr(group[name], "keys") and "step" in group[name]:
            del group[name]["step"]
    for place, given in marks.items():
        fixed = isinstance(given, tuple)
        group[place] = given[0] if fixed else given
        if fixed:
            group[place].attrs["offset"] = given[1]


def test_h5md_needs_no_topology_and_is_converted(tmp_path: Path) -> None:
    ensemble = read(h5md(tmp_path / "a.h5md", walks() / 10, edges=BOX / 10), bonds="none")
    np.testing.assert_allclose(positions_of(ensemble), walks(), rtol=1e-6)
    assert ensemble.unit == "Å"
    expected = timme.read(walks(), box=np.array([BOX] * 6))
    np.testing.assert_allclose(sigma_of(ensemble), sigma_of(expected), rtol=1e-4)


@pytest.mark.parametrize(("unit", "told"), [("", ""), ("sigma", "sigma"), ("Angstrom", "Å")])
def test_h5md_claims_no_unit_that_it_does_not_state(tmp_path: Path, unit: str, told: str) -> None:
    ensemble = read(h5md(tmp_path / "a.h5md", walks(), unit=unit))
    assert ensemble.unit == told
    np.testing.assert_allclose(positions_of(ensemble), walks(), rtol=1e-6)
    assert boxes_of(ensemble) is None


def test_h5md_boxes_may_be_lengths_change_and_be_open(tmp_path: Path) -> None:
    lengths = np.linspace([10, 11, 12], [11, 12, 13], 6)
    changing = read(
        h5md(tmp_path / "a.h5md", walks(), unit="A", edges=lengths, steps=range(6)), bonds="none"
    )
    found = boxes_of(changing)
    assert found is not None
    np.testing.assert_allclose(found, [np.diag(each) for each in lengths])
    film = h5md(
        tmp_path / "b.h5md", walks(), edges=[10, 11, 12], boundary=["periodic", "periodic", "none"]
    )
    found = boxes_of(read(film, bonds="none"))
    assert found is not None
    np.testing.assert_allclose(found[0], np.diag([100, 110, 0]))


ORDERS = {
    "steps": {"position/step": np.arange(6) * 10, "box/edges/step": np.arange(6)[::-1] * 10},
    "regular steps": {"position/step": (10, 50), "box/edges/step": np.arange(10, -2, -1)[:6] * 10},
    "times": {"position/time": np.arange(6) * 0.1, "box/edges/time": [0.5, 0.4, 0.3, 0.2, 0.1, 0]},
    "regular times": {
        "position/time": (0.1, 0.0),
        "box/edges/time": np.cumsum([0.0] + [0.1] * 5)[::-1],
    },
}


@pytest.mark.parametrize("kind", ORDERS)
def test_h5md_boxes_are_those_of_the_same_steps_or_times(tmp_path: Path, kind: str) -> None:
    lengths = np.linspace([10, 11, 12], [11, 12, 13], 6)
    path = h5md(tmp_path / "a.h5md", walks(), unit="A", edges=lengths, steps=[], marks=ORDERS[kind])
    found = boxes_of(read(path, bonds="none"))
    assert found is not None
    np.testing.assert_allclose(found, [np.diag(each) for each in lengths[::-1]])


@pytest.mark.parametrize(
    "marks",
    [
        {"position/step": np.arange(6) * 10, "box/edges/step": np.arange(6) * 5},
        {"position/step": (10, 0), "box/edges/step": (5, 0)},
        {"position/step": (10, 0), "box/edges/step": (10, 10)},
        {"position/time": (1.0, 0.0), "box/edges/time": np.arange(6) + 0.5},
        {"position/step": np.arange(6), "box/edges/step": [0, 1, 2, 3, 4, 4]},
    ],
)
def test_h5md_steps_without_a_box_are_refused(tmp_path: Path, marks: dict[str, Any]) -> None:
    lengths = np.linspace([10, 11, 12], [11, 12, 13], 6)
    path = h5md(tmp_path / "a.h5md", walks(), unit="A", edges=lengths, steps=[], marks=marks)
    told = r"it has (no|more than one) box/edges of|has no box, and other frames have a true box"
    with pytest.raises(ValueError, match=rf"a\.h5md: .*({told})"):
        read(path, bonds="none").coordinates()


def test_h5md_boxes_that_are_written_now_and_then_count_for_their_own_frames(
    tmp_path: Path,
) -> None:
    lengths = np.linspace([10, 11, 12], [11, 12, 13], 3)
    path = h5md(tmp_path / "a.h5md", walks(), unit="A", edges=lengths, steps=[0, 2, 4])
    with pytest.raises(ValueError, match=r"frame 2 has no box, and other frames .*\(start=, stop="):
        read(path, bonds="none").coordinates()
    found = boxes_of(read(path, bonds="none", step=2))
    assert found is not None
    np.testing.assert_allclose(found, [np.diag(each) for each in lengths])
    given = read(path, bonds="none", box=[10, 11, 12])
    np.testing.assert_allclose(positions_of(given), walks(), rtol=1e-6)


def test_an_h5md_box_that_never_changes_counts_for_all_frames(tmp_path: Path) -> None:
    lengths = np.array([[10.0, 11, 12]] * 2)
    path = h5md(tmp_path / "a.h5md", walks(), unit="A", edges=lengths, steps=[1, 4])
    ensemble = read(path, bonds="none")
    found = boxes_of(ensemble)
    assert found is not None
    np.testing.assert_allclose(found, [np.diag([10.0, 11, 12])] * 6)
    assert any("written for 2 of 6 frames, never changes" in note for note in ensemble.notes)


def test_h5md_images_and_ids_are_those_of_the_same_steps(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    images, numbers = rng.integers(-2, 3, (6, walks().shape[1], 3)), np.arange(walks().shape[1])
    ids = np.array([rng.permutation(numbers) for _ in range(6)])
    places = np.array([place[order] for place, order in zip(walks(), ids, strict=True)])
    path = h5md(
        tmp_path / "a.h5md", places, unit="A", edges=[10.0] * 3,
        image=images[::-1], image_steps=range(5, -1, -1), id=ids[::-1], id_steps=range(5, -1, -1),
    )  # fmt: skip
    ensemble = read(path, box=False, bonds="none")
    moved = np.array(
        [each[np.argsort(order)] for each, order in zip(images * 10.0, ids, strict=True)]
    )
    np.testing.assert_allclose(positions_of(ensemble), walks() + moved, rtol=1e-6)
    later = h5md(
        tmp_path / "b.h5md", places, edges=[10.0] * 3, image=images, image_steps=range(1, 7)
    )
    with pytest.raises(ValueError, match="it has no image of step 0"):
        read(later, box=False, bonds="none")


@pytest.mark.parametrize("changing", [False, True])
def test_h5md_boxes_are_in_the_unit_that_they_state(tmp_path: Path, changing: bool) -> None:
    steps = {"steps": range(6)} if changing else {}
    edges = np.full((6, 3), 6.0) if changing else np.full(3, 6.0)
    path = h5md(
        tmp_path / "a.h5md", walks(), unit="Angstrom", edges=edges, unit_of_box="nm", **steps
    )
    found = boxes_of(read(path, bonds="none"))
    assert found is not None
    np.testing.assert_allclose(found[0], np.diag([60.0, 60.0, 60.0]))
    odd = h5md(tmp_path / "b.h5md", walks(), unit="nm", edges=[6.0] * 3, unit_of_box="sigma")
    with pytest.raises(ValueError, match="its box is in sigma, and its positions are in nm"):
        read(odd)


def test_h5md_with_a_damaged_box_is_not_in_open_space(tmp_path: Path) -> None:
    path = h5md(tmp_path / "a.h5md", walks(), edges=BOX)
    import h5py

    with h5py.File(path, "r") as file:
        place = h5py.h5o.get_info(file["particles/all/box"].id).addr
    data = bytearray(path.read_bytes())
    data[place : place + 8] = bytes(range(200, 208))  # the header of that group
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"a\.h5md: not an H5MD file that can be read"):
        read(path)


def test_h5md_in_a_plane_lies_at_zero(tmp_path: Path) -> None:
    ensemble = read(h5md(tmp_path / "a.h5md", walks(dimensions=2), unit="", edges=[20, 20]))
    assert (positions_of(ensemble)[:, :, 2] == 0).all()
    found = boxes_of(ensemble)
    assert found is not None
    np.testing.assert_allclose(found[0], np.diag([20, 20, 0]))


def test_h5md_particles_that_are_shuffled_are_matched_by_id(tmp_path: Path) -> None:
    order = np.array([np.random.default_rng(k).permutation(8) for k in range(6)])
    shuffled = np.take_along_axis(walks(), order[:, :, None], axis=1)
    ensemble = read(h5md(tmp_path / "a.h5md", shuffled, unit="A", id=order + 1))
    np.testing.assert_allclose(positions_of(ensemble), walks(), rtol=1e-6)


def test_h5md_images_put_particles_where_they_went_through_the_walls(tmp_path: Path) -> None:
    images = np.zeros((6, 8, 3), np.int64)
    images[3:, 2, 0] = 1
    path = h5md(tmp_path / "a.h5md", walks(), unit="", edges=[50, 50, 50], image=images)
    frames: Any = read(path).frames
    found = frames.unfold().read(0, 6)[0]
    np.testing.assert_allclose(found, walks() + 50.0 * images, rtol=1e-6)


def test_h5md_follows_a_topology_as_before(tmp_path: Path) -> None:
    topology = extended(tmp_path / "a.extxyz", walks()[:1])
    ensemble = read(topology, h5md(tmp_path / "a.h5md", walks() / 10), bonds="none")
    assert ensemble.atoms.names.tolist() == ["O"] * 8
    assert ensemble.unit == "Å"


def test_an_hdf5_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5md", "w") as file:
        file["coordinates"] = walks()
    with pytest.raises(ValueError, match=r"not an H5MD file that can be read .*no group h5md"):
        read(tmp_path / "a.h5md")
    shutil.copy(tmp_path / "a.h5md", tmp_path / "b.h5md")
    with h5py.File(tmp_path / "b.h5md", "a") as file:
        file.create_group("h5md")
    with pytest.raises(ValueError, match="one group of particles with positions is needed"):
        read(tmp_path / "b.h5md")


def test_of_several_groups_of_particles_that_of_all_is_read(tmp_path: Path) -> None:
    path = h5md(tmp_path / "a.h5md", walks() / 10)
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "a") as file:
        file["particles/ions/position/value"] = np.zeros((6, 2, 3))
    np.testing.assert_allclose(positions_of(read(path, bonds="none")), walks(), atol=1e-12)
    with h5py.File(path, "a") as file:
        file.move("particles/all", "particles/protein")
    with pytest.raises(
        ValueError, match=r"a\.h5md: 2 groups of particles, ions, protein, .*as one"
    ):
        read(path)


# ---- molecules of LAMMPS -----------------------------------------------------------------------


def dump(path: Path, positions: Floats, molecules: list[int]) -> Path:
    lines = list[str]()
    for number, frame in enumerate(positions):
        lines += ["ITEM: TIMESTEP", str(number), "ITEM: NUMBER OF ATOMS", str(len(frame))]
        lines += ["ITEM: BOX BOUNDS ff ff ff", *["-50 50"] * 3, "ITEM: ATOMS id mol type x y z"]
        rows = [
            f"{k + 1} {molecules[k]} 1 {x:.6f} {y:.6f} {z:.6f}" for k, (x, y, z) in enumerate(frame)
        ]
        lines += rows[::-1] if number % 2 else rows
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_column_mol_of_a_dump_makes_molecules_without_bonds(tmp_path: Path) -> None:
    path = dump(tmp_path / "a.dump", walks(), [1, 2, 1, 2, 7, 7, 0, 0])
    ensemble = read(path)
    assert any(note.endswith("molecules are those of its column mol") for note in ensemble.notes)
    made = timme.objects.molecules(ensemble)
    members = np.split(made.members, made.offsets[1:-1])
    assert [group.tolist() for group in members] == [[0, 2], [1, 3], [4, 5], [6], [7]]
    few = timme.objects.molecules(ensemble.select([3, 4, 5]))
    assert [group.tolist() for group in np.split(few.members, few.offsets[1:-1])] == [[0], [1, 2]]
    analysed = timme.analyse(path, objects="molecules", pairs="all")
    assert analysed.hierarchy.n_sites == 5


def test_molecules_of_a_data_file_need_no_bonds(tmp_path: Path) -> None:
    rows = [f"{k} {(k + 1) // 2} 1 0.0 {k}.0 0.0 0.0" for k in range(1, 9)]
    bounds = [f"-50 50 {axis}lo {axis}hi" for axis in "xyz"]
    parts = ["made", "", "8 atoms", "1 atom types", "", *bounds, "", "Masses", "", "1 1.0", ""]
    data = tmp_path / "a.data"
    data.write_text("\n".join([*parts, "Atoms # full", "", *rows, ""]))
    trajectory = dump(tmp_path / "a.lammpstrj", walks(), [1] * 8)
    made = timme.objects.molecules(read(data, trajectory))
    assert np.diff(made.offsets).tolist() == [2, 2, 2, 2]


def test_a_dump_without_that_column_says_what_molecules_need(tmp_path: Path) -> None:
    path = dump(tmp_path / "a.dump", walks(), [1] * 8)
    path.write_text(path.read_text().replace(" mol ", " q "))
    with pytest.raises(ValueError, match="molecules need covalent bonds"):
        timme.objects.molecules(read(path))


# ---- ASE and freud -----------------------------------------------------------------------------


def ase_like(positions: Floats, pbc: Any = True, symbols: str = "O") -> Any:
    """What ASE's Atoms has, of what is used of it."""
    return SimpleNamespace(
        get_positions=lambda: positions,
        get_chemical_symbols=lambda: [symbols] * len(positions),
        cell=BOX,
        pbc=np.broadcast_to(np.asarray(pbc), 3),
    )


def ase_atoms(positions: Floats, pbc: Any = True, symbols: str = "O") -> Any:
    ase = pytest.importorskip("ase", reason="ASE is not installed")
    return ase.Atoms([symbols] * len(positions), positions=positions, cell=BOX, pbc=pbc)


@pytest.mark.parametrize("make", [ase_like, ase_atoms])
def test_atoms_of_ase_are_snapshots(make: Any) -> None:
    ensemble = read([make(frame) for frame in walks()], bonds="none")
    np.testing.assert_array_equal(positions_of(ensemble), walks())
    expected = timme.read(walks(), box=np.array([BOX] * 6))
    np.testing.assert_allclose(sigma_of(ensemble), sigma_of(expected), rtol=1e-12)
    assert ensemble.unit == "Å"
    assert ensemble.atoms.elements.tolist() == ["O"] * 8
    assert ensemble.atoms.masses[0] == pytest.approx(15.999, abs=1e-3)


@pytest.mark.parametrize("make", [ase_like, ase_atoms])
def test_one_atoms_of_ase_is_one_snapshot_and_open_where_it_says_so(make: Any) -> None:
    ensemble = read(make(walks()[0], False), bonds="none")
    assert (ensemble.n_snapshots, boxes_of(ensemble)) == (1, None)
    film = boxes_of(read([make(walks()[0], [True, True, False])], bonds="none"))
    assert film is not None


def test_trajectories_of_ase_are_snapshots(tmp_path: Path) -> None:
    """Open ones, and those that give each snapshot once."""
    io = pytest.importorskip("ase.io", reason="ASE is not installed")
    frames = [ase_atoms(frame) for frame in walks()]
    stored, text = str(tmp_path / "a.traj"), str(tmp_path / "a.extxyz")
    io.write(stored, frames)
    io.write(text, frames)
    with io.Trajectory(stored) as opened:
        for source in (opened, iter(frames), io.iread(text)):
            ensemble = read(source, bonds="none")
            np.testing.assert_allclose(positions_of(ensemble), walks(), atol=1e-7)
            assert ensemble.unit == "Å"
            assert boxes_of(ensemble) is not None
        assert timme.analyse(opened, pairs="all", bonds="none").hierarchy.n_sites == 8
    with pytest.raises(ValueError, match="columns= is for tables"):
        read(iter(frames), columns="1,2,3")


OTHER_SPACES: list[tuple[dict[str, Any], str]] = [
    ({"pbc": np.zeros(3, np.bool_)}, "has no box, and other frames have a true box"),
    ({"cell": np.eye(3)}, "has a box of 1 × 1 × 1 Å, and other frames have a true box"),
    (
        {"pbc": np.array([True, True, False])},
        "is periodic along x, y, and other frames along x, y, z",
    ),
]


@pytest.mark.parametrize(("changes", "said"), OTHER_SPACES, ids=["open", "placeholder", "film"])
@pytest.mark.parametrize("tilt", [0.0, 1.0])
def test_a_snapshot_of_ase_in_another_space_is_refused(
    changes: dict[str, Any], said: str, tilt: float
) -> None:
    frames = [ase_like(frame) for frame in walks()]
    for frame in frames:
        frame.cell = np.diag([9.0, 10.0, 11.0]) + tilt * np.eye(3, k=-1)
    frames[3] = SimpleNamespace(**{**vars(frames[3]), **changes})
    with pytest.raises(ValueError, match=f"ASE Atoms: frame 4 {said}: give the true box"):
        read(frames, bonds="none")
    for options in ({"stop": 3}, {"start": 4}, {"box": False}, {"box": [9.0, 10.0, 11.0]}):
        assert read(frames, bonds="none", **options).n_snapshots >= 2


def test_a_placeholder_of_ase_folds_no_molecule_where_no_box_is_wanted() -> None:
    places = np.outer(np.arange(8), [1.4, 0.0, 0.0])
    frames = [ase_like(places, symbols="C") for _ in range(30)]
    for number, frame in enumerate(frames):
        frame.cell = (1.0 if number == 7 else 20.0) * np.eye(3)
    np.testing.assert_allclose(positions_of(read(frames, box=False)), [places] * 30, atol=1e-9)


def test_atoms_of_ase_that_differ_are_refused() -> None:
    frames = [ase_like(walks()[0]), ase_like(walks()[1], symbols="N")]
    with pytest.raises(ValueError, match="ASE Atoms: snapshot 2 has not the 8 elements"):
        read(frames)
    with pytest.raises(ValueError, match="columns= is for tables"):
        read(frames[:1], columns="1,2,3")


def freud_like(**more: Any) -> Any:
    """What freud's and HOOMD's Box have, of what is used of them."""
    given = {"Lx": 10.0, "Ly": 11.0, "Lz": 12.0, "xy": 0.3, "xz": 0.1, "yz": 0.2, "is2D": False}
    return SimpleNamespace(**(given | more))


def freud_box(**more: Any) -> Any:
    freud = pytest.importorskip("freud", reason="freud is not installed")
    given = {"Lx": 10.0, "Ly": 11.0, "Lz": 12.0, "xy": 0.3, "xz": 0.1, "yz": 0.2}
    return freud.box.Box(**(given | more))


@pytest.mark.parametrize("make", [freud_like, freud_box])
def test_boxes_of_freud_are_taken(make: Any) -> None:
    vectors = np.array([[10.0, 0, 0], [3.3, 11.0, 0], [1.2, 2.4, 12.0]])
    expected = sigma_of(read(walks(), box=np.array([vectors] * 6)))
    np.testing.assert_allclose(sigma_of(read(walks(), box=make())), expected, rtol=1e-6)
    np.testing.assert_allclose(sigma_of(read(walks(), box=[make()] * 6)), expected, rtol=1e-6)


@pytest.mark.parametrize("make", [freud_like, freud_box])
def test_flat_boxes_of_freud_are_taken(make: Any) -> None:
    flat = make(Lz=0.0, xz=0.0, yz=0.0, is2D=True)
    for dimensions in (2, 3):
        expected = np.zeros((dimensions, dimensions))
        expected[:2, :2] = [[10.0, 0], [3.3, 11.0]]
        tracks = walks(dimensions=dimensions)
        found = sigma_of(read(tracks, box=flat))
        known = sigma_of(read(tracks, box=np.array([expected] * 6)))
        np.testing.assert_allclose(found, known, rtol=1e-6)


@pytest.mark.parametrize("make", [freud_like, freud_box])
def test_a_result_with_such_a_box_can_be_kept(make: Any, tmp_path: Path) -> None:
    made = timme.analyse(walks(), box=make(), pairs="all")
    timme.save(made, tmp_path / "a.npz")
    kept = np.array(timme.load(tmp_path / "a.npz").recipe.options["box"])
    np.testing.assert_allclose(kept, [[[10.0, 0, 0], [3.3, 11.0, 0], [1.2, 2.4, 12.0]]])


@pytest.mark.parametrize("tilt", [0.0, 3.0])
def test_atoms_of_ase_that_are_open_in_another_direction_are_refused(tilt: float) -> None:
    """As many directions are periodic, but others; tilted cells are brought into another order."""
    cell = np.array([[20.0, 0.0, 0.0], [0.0, 14.0, tilt], [0.0, 0.0, 17.0]])
    frames = [ase_like(frame) for frame in walks()[:3]]
    for frame, flags in zip(frames, ([0, 1, 1], [1, 1, 0], [0, 1, 1]), strict=True):
        frame.cell, frame.pbc = cell, np.array(flags)
    with pytest.raises(ValueError, match="is periodic along x, y, and other frames along y, z"):
        read(frames, bonds="none")
    frames[1].cell, frames[1].pbc = np.diag(cell.diagonal()), frames[0].pbc
    assert read(frames, bonds="none").n_snapshots == 3


def test_h5_is_a_name_of_h5md_too(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    long, short = (h5md(tmp_path / name, walks(), edges=[6.0] * 3) for name in ("a.h5md", "a.h5"))
    np.testing.assert_array_equal(read(short).coordinates(), read(long).coordinates())
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file["coordinates"] = walks()
    with pytest.raises(ValueError, match=r"b\.h5: .*no group h5md.*mdtraj\.load"):
        read(tmp_path / "b.h5")


def test_a_unit_that_h5md_states_takes_no_other_name(tmp_path: Path) -> None:
    stated, bare = (h5md(tmp_path / f"in-{unit}.h5md", walks(), unit=unit) for unit in ("nm", ""))
    with pytest.raises(ValueError, match=r"in-nm\.h5md: .* read as Å, .*unit='nm'.*: leave it out"):
        read(stated, unit="nm")
    assert read(bare, unit="nm").unit == "nm"
