"""Invariants of trajectories: which frames are read, from what, and what is refused."""

from __future__ import annotations

import pickle
import struct
from functools import partial
from pathlib import Path
from typing import Any

import MDAnalysis as mda
import numpy as np
import pytest
from MDAnalysisTests import datafiles

from tests import fuzz
from tests.golden.built_files import N_FRAMES, gro_text, places, write_files
from tests.io.builders import written
from timme.io import read

PLACES = places()
AKMA = 0.04888821  # ps, the unit of time of CHARMM


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("made")
    write_files(made)
    return made


def dcd(
    folder: Path, *, delta: float, every: int, title: str = "", fixed: tuple[int, ...] = ()
) -> Path:
    """A DCD file as CHARMM writes it; fixed atoms are in its first frame only."""
    count, free = PLACES.shape[1], np.delete(np.arange(PLACES.shape[1]), fixed)

    def record(data: bytes) -> bytes:
        return struct.pack("<i", len(data)) + data + struct.pack("<i", len(data))

    control = [N_FRAMES, every, every, N_FRAMES * every, 0, 0, 0, 0, len(fixed)]
    head = b"CORD" + struct.pack("<9if10i", *control, delta, *[0] * 9, 24)
    data = record(head) + record(struct.pack("<i", 1) + title.encode().ljust(80))
    data += record(struct.pack("<i", count))
    data += record((free + 1).astype("<i4").tobytes()) if fixed else b""
    for number, frame in enumerate(PLACES):
        kept = frame[free] if number and fixed else frame
        data += b"".join(record(axis.astype("<f4").tobytes()) for axis in kept.T)
    return written(folder, data, "a.dcd")


# ---- DCD -----------------------------------------------------------------------------------------


def test_fixed_atoms_of_a_dcd_stay_where_they_were(folder: Path, tmp_path: Path) -> None:
    expected = PLACES.copy()
    expected[:, [2, 5]] = PLACES[0, [2, 5]]
    path = dcd(tmp_path, delta=0.04, every=1, fixed=(2, 5))
    for kept in (slice(None), slice(3, None)):
        found = read(folder / "topology.pdb", path, start=kept.start).coordinates()
        np.testing.assert_array_equal(found, expected[kept].astype(np.float32))


def test_times_of_a_dcd_are_steps_in_the_unit_of_charmm(folder: Path, tmp_path: Path) -> None:
    path = dcd(tmp_path, delta=0.002 / AKMA, every=500)
    assert read(folder / "topology.pdb", path).times == pytest.approx([1, 2, 3, 4, 5])
    assert read(folder / "topology.pdb", path, start="2ps", stop="4ps").n_snapshots == 3


@pytest.mark.parametrize(
    ("delta", "every", "title"),
    [(1.0, 1, "VMD"), (0.0, 1, ""), (2.0, 500, ""), (0.005, 100, "LAMMPS"), (0.04, 0, "")],
)
def test_a_placeholder_for_times_of_a_dcd_is_no_time(
    folder: Path, tmp_path: Path, delta: float, every: int, title: str
) -> None:
    path = dcd(tmp_path, delta=delta, every=every, title=title)
    with pytest.raises(ValueError, match="carry no times"):
        read(folder / "topology.pdb", path, start="2ps")


# ---- damage --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cut.xtc", "cut.dcd", "cut.gro", "cut.xyz", "cut.dump"])
def test_whole_frames_of_a_file_that_is_cut_are_read_on_request(folder: Path, name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name}: frame 5: .*allow_truncated=True"):
        read(folder / "topology.pdb", folder / name)
    found = read(folder / "topology.pdb", folder / name, allow_truncated=True)
    assert found.n_snapshots == N_FRAMES - 1
    assert any(name in note and "4 whole frames" in note for note in found.notes)


@pytest.mark.parametrize("name", ["wrapped.xtc", "wrapped.dcd", "images.gsd", "plain.xyz"])
def test_a_file_that_changes_while_it_is_read_is_refused(
    folder: Path, tmp_path: Path, name: str
) -> None:
    path = written(tmp_path, (folder / name).read_bytes(), name)
    ensemble = read(*([folder / "topology.pdb", path] if "wrapped" in name else [path]))
    path.write_bytes(path.read_bytes() + b"more")
    with pytest.raises(ValueError, match=rf"{name}: the file was changed"):
        ensemble.coordinates()


def test_a_header_cannot_take_memory_that_the_file_does_not_need(tmp_path: Path) -> None:
    import gsd.fl

    path = tmp_path / "a.gsd"
    with gsd.fl.open(str(path), "w", "made", "hoomd", (1, 4)) as file:
        file.write_chunk("particles/N", np.array([2_000_000_000], np.uint32))
        file.end_frame()
    told = fuzz.in_child(partial(fuzz.read_here, path, None, matrix=False))
    assert "announces 2,000,000,000 particles or bonds" in told


def test_h5md_files_hold_the_frames_that_they_announce_in_any_unit(tmp_path: Path) -> None:
    import h5py

    for count, expected in ((2, "read 2"), (10**9, "cannot hold")):
        with h5py.File(path := tmp_path / f"{count}.h5md", "w") as file:
            group = file.create_group("particles/all/position")
            made = group.create_dataset("value", (count, 3, 3), "f4", chunks=True)
            made[:2], made.attrs["unit"] = 1.5, "um"
            file.create_group("h5md")
        assert expected in fuzz.in_child(partial(fuzz.read_here, path, None, matrix=False))


def test_no_entry_of_a_gsd_index_can_take_memory(folder: Path, tmp_path: Path) -> None:
    data = (folder / "images.gsd").read_bytes()
    entry = struct.unpack_from("<Q", data, 8)[0] + 5 * 32  # its frame, how many rows it has, …
    changed = data[: entry + 8] + struct.pack("<Q", 2**30) + data[entry + 16 :]
    path = written(tmp_path, changed, "a.gsd")
    told = fuzz.in_child(partial(fuzz.read_here, path, None, matrix=False))
    assert "its index is damaged" in told


def test_xyz_frames_behind_a_structure_are_in_its_unit(folder: Path) -> None:
    assert read(folder / "topology.pdb", folder / "plain.xyz").unit == "Å"


def test_columns_of_gro_files_count_characters(tmp_path: Path) -> None:
    text = gro_text(PLACES[:1])
    changed = text.replace("H1", "HÄ", 1)
    whole = read(written(tmp_path, text, "a.gro"), bonds="none").coordinates()
    found = read(written(tmp_path, changed, "b.gro"), bonds="none")
    np.testing.assert_array_equal(found.coordinates(), whole)
    assert found.atoms.names[1] == "HÄ"
    with pytest.raises(ValueError, match=r"c\.gro: not a topology") as caught:
        read(written(tmp_path, changed.encode("latin-1"), "c.gro"))
    assert "\n" not in str(caught.value)


def test_ids_of_h5md_order_the_particles_of_every_frame(folder: Path, tmp_path: Path) -> None:
    import h5py

    whole = read(folder / "images.h5md").coordinates()
    path = written(tmp_path, (folder / "images.h5md").read_bytes(), "a.h5md")
    rng = np.random.default_rng(0)
    orders = np.array([rng.permutation(12) for _ in range(N_FRAMES)])
    with h5py.File(path, "r+") as file:
        group = file["particles/all"]
        for name in ("position/value", "image/value"):
            group[name][...] = np.take_along_axis(group[name][:], orders[..., None], axis=1)
        group["id/value"] = orders
    np.testing.assert_array_equal(read(path).coordinates(), whole)


def test_a_tilted_gsd_box_that_mdanalysis_would_distort_is_refused(tmp_path: Path) -> None:
    """With transformations, frames can only be had from MDAnalysis."""
    import gsd.hoomd
    from MDAnalysis.transformations import translate

    with gsd.hoomd.open(str(tmp_path / "a.gsd"), "w") as file:
        made = gsd.hoomd.Frame()
        made.configuration.box, made.particles.N = [20, 20, 20, 0.5, 0, 0], 12
        made.particles.position = PLACES[0]
        file.append(made)
    universe = mda.Universe(str(tmp_path / "a.gsd"))
    assert read(universe).n_sites == 12
    universe.trajectory.add_transformations(translate([1.0, 0, 0]))
    with pytest.raises(ValueError, match=r"a\.gsd: .*give the true box"):
        read(universe)


def test_reading_writes_nothing_beside_the_file(folder: Path, tmp_path: Path) -> None:
    for name in ("plain.xtc", "plain.trr", "plain.dcd", "plain.nc"):
        path = written(tmp_path, (folder / name).read_bytes(), name)
        read(folder / "topology.pdb", path).coordinates()
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(
        ["plain.xtc", "plain.trr", "plain.dcd", "plain.nc"]
    )


# ---- choice of snapshots -------------------------------------------------------------------------


def test_times_that_start_again_are_replicas_and_exact_repeats_count_once(tmp_path: Path) -> None:
    path = written(tmp_path, gro_text(PLACES[[0, 1, 2, 0, 3, 4]], times=[0, 10, 20] * 2), "a.gro")
    assert read(path).replicas == (3, 3)
    assert read(path, start="10ps").replicas == (2, 2)
    times = [0.0, 10, 20, 20, 30, 40]
    path = written(tmp_path, gro_text(PLACES[[0, 1, 2, 2, 3, 4]], times=times), "b.gro")
    found = read(path)
    assert (found.replicas, found.n_source) == ((5,), 6)
    assert any("1 snapshot repeat" in note for note in found.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step": 0}, "at least 1"),
        ({"start": 9}, "keep none"),
        ({"start": "3 parsec"}, "a time such as 10ns, got '3 parsec'"),
        ({"start": "1us"}, "keep none"),
        ({"step": "15ps"}, "no multiple"),
        ({"start": True}, "a whole number"),
        ({"columns": "1,2,3"}, "for other sources"),
    ],
)
def test_a_choice_that_cannot_be_is_refused(
    folder: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        read(folder / "plain.gro", **options)
    assert "\n" not in str(caught.value)


# ---- Universes -----------------------------------------------------------------------------------


def test_a_universe_keeps_its_frame_and_a_group_its_order() -> None:
    universe = mda.Universe(datafiles.PSF, datafiles.DCD)
    _ = universe.trajectory[7]
    group = universe.atoms[[30, 4, 12]]
    found = read(group, stop=3)
    assert universe.trajectory.frame == 7
    assert found.site_atoms.tolist() == [30, 4, 12]
    for number in range(3):
        _ = universe.trajectory[number]
        np.testing.assert_array_equal(found.snapshot(number)[0], group.positions)


def test_files_can_be_read_by_another_process_and_a_universe_cannot(folder: Path) -> None:
    ensemble = read(folder / "topology.pdb", folder / "plain.xtc")
    copied = pickle.loads(pickle.dumps(ensemble.frames))
    np.testing.assert_array_equal(copied.read(0, 5)[0], ensemble.coordinates())
    assert ensemble.frames.source.on_disk
    assert not read(mda.Universe(datafiles.PSF, datafiles.DCD)).frames.source.on_disk
