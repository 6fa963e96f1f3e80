"""Binary trajectories as programs leave them: damaged, compressed, without times, continued."""

from __future__ import annotations

import gc
import gzip
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import timme
from tests.readers.builders import trajectory_positions, waters, write_pdb, write_trajectory
from timme._arrays import Coordinates, Floats
from timme.readers import read
from timme.readers.dcd import DcdFile
from timme.readers.integrity import layout
from timme.readers.layouts import DamageError
from timme.readers.xdr import open_xdr

N_ATOMS = 12


@pytest.fixture
def topology(tmp_path: Path) -> Path:
    return write_pdb(tmp_path / "top.pdb", [waters(4)])


def write_dcd(
    path: Path,
    places: Coordinates,
    *,
    delta: float = 0.04,
    every: int = 100,
    first: int = 0,
    title: str = "made",
    cell: Floats | None = None,
) -> Path:
    from MDAnalysis.lib.formats.libdcd import DCDFile

    with DCDFile(str(path), "w") as file:
        file.write_header(title, places.shape[1], first, max(every, 1), delta, cell is not None)
        for frame in places:
            file.write(frame, np.zeros(6) if cell is None else cell)
    data = bytearray(path.read_bytes())
    data[16:20] = struct.pack("<i", every)
    path.write_bytes(data)
    return path


def write_xtc(path: Path, places: Coordinates, times: Any = None) -> Path:
    from MDAnalysis.lib.formats.libmdaxdr import XTCFile

    with XTCFile(str(path), "w") as file:
        for step, frame in enumerate(places):
            time = float(step if times is None else times[step])
            file.write(frame / 10, np.eye(3, dtype=np.float32) * 3, step, time, 1000)
    return path


# ---- times ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("delta", "every", "title"),
    [
        (1.0, 1, "Created by DCD plugin"),  # VMD and mdtraj
        (1.0, 1, "Created by ProDy"),
        (0.0, 1, "chemfiles"),
        (2.0, 500, "made"),  # fs in place of the unit of CHARMM
        (0.005, 100, "REMARKS Written by LAMMPS"),  # any unit
        (0.04, 0, "made"),
    ],
)
def test_a_dcd_with_a_placeholder_for_its_times_has_none(
    tmp_path: Path, topology: Path, delta: float, every: int, title: str
) -> None:
    places = trajectory_positions(6, N_ATOMS)
    path = write_dcd(tmp_path / "a.dcd", places, delta=delta, every=every, title=title)
    choices: list[dict[str, Any]] = [{"start": "2ps"}, {"stop": "2ps"}, {"step": "2ps"}]
    for choice in choices:
        with pytest.raises(ValueError, match=r"carry no times: choose .*by number.*placeholder"):
            read(topology, path, **choice)
    ensemble = read(topology, path, step=2)
    np.testing.assert_array_equal(ensemble.frames.read(0, 3)[0], places[::2])


def test_times_of_a_dcd_are_its_steps_in_the_unit_of_charmm(tmp_path: Path, topology: Path) -> None:
    step = 0.002 / 0.04888821  # of 2 fs, as NAMD writes it
    places = trajectory_positions(6, N_ATOMS)
    path = write_dcd(tmp_path / "a.dcd", places, delta=step, every=500, first=500)
    assert [DcdFile(path).time(frame) for frame in range(3)] == pytest.approx([1.0, 2.0, 3.0])
    found = read(topology, path, start="3ps", stop="5ps").frames.read(0, 3)[0]
    np.testing.assert_array_equal(found, places[2:5])


def test_a_universe_of_a_dcd_with_placeholder_times_has_none(tmp_path: Path) -> None:
    import MDAnalysis as mda

    top = write_pdb(tmp_path / "top.pdb", [waters(4)])
    path = write_dcd(tmp_path / "a.dcd", trajectory_positions(6, N_ATOMS), delta=1.0, every=1)
    with pytest.raises(ValueError, match="carry no times"):
        read(mda.Universe(str(top), str(path)), start="0.1ps")
    assert read(mda.Universe(str(top), str(path), dt=2.0), start="4ps").n_snapshots == 4


# ---- as others read them -------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["dcd", "nc", "xtc", "trr"])
@pytest.mark.parametrize("box", [None, (30.0, 31.0, 32.0, 80.0, 75.0, 70.0)])
def test_frames_are_those_that_mdanalysis_reads(
    tmp_path: Path, topology: Path, suffix: str, box: Any
) -> None:
    import MDAnalysis as mda

    path = write_trajectory(tmp_path / f"a.{suffix}", trajectory_positions(5, N_ATOMS), box=box)
    universe = mda.Universe(str(topology), str(path), format="NCDF" if suffix == "nc" else None)
    ensemble = read(topology, path, bonds="none")
    places, boxes = ensemble.frames.read(0, 5)
    for frame, step in enumerate(universe.trajectory):
        np.testing.assert_allclose(places[frame], step.positions, atol=1e-5)
        assert ensemble.frames.time(frame) == pytest.approx(step.time)
        if boxes is not None and box is not None:
            volume = abs(np.linalg.det(boxes[frame]))
            assert volume == pytest.approx(float(step.volume), rel=1e-5)
    assert (box is None) == (boxes is None or not boxes.any())


def test_fixed_atoms_of_a_dcd_stay_where_they_were(tmp_path: Path, topology: Path) -> None:
    places = trajectory_positions(4, N_ATOMS)
    places[:, [2, 5]] = places[0, [2, 5]]
    whole = write_dcd(tmp_path / "whole.dcd", places).read_bytes()
    free = np.delete(np.arange(N_ATOMS), [2, 5])
    header = bytearray(whole[: len(whole) - 4 * 3 * (8 + 4 * N_ATOMS)])
    header[40:44] = struct.pack("<i", 2)
    length = struct.pack("<i", 4 * len(free))
    data = bytes(header) + length + (free + 1).astype("<i4").tobytes() + length
    for number, frame in enumerate(places):
        kept = frame[free] if number else frame
        mark = struct.pack("<i", 4 * len(kept))
        for axis in range(3):
            data += mark + kept[:, axis].astype("<f4").tobytes() + mark
    path = tmp_path / "a.dcd"
    path.write_bytes(data)
    np.testing.assert_array_equal(read(topology, path).frames.read(0, 4)[0], places)


# ---- boxes that no frame can have ----------------------------------------------------------------


@pytest.mark.parametrize("length", [np.nan, np.inf])
def test_a_box_that_is_not_finite_is_named_with_its_frame_and_what_to_do(
    tmp_path: Path, topology: Path, length: float
) -> None:
    places = trajectory_positions(3, N_ATOMS)
    cell = np.array([length, 90.0, 30.0, 90.0, 90.0, 30.0])
    path = write_dcd(tmp_path / "a.dcd", places, cell=cell)
    with pytest.raises(ValueError, match=r"a\.dcd: frame 1 has a box that .*\(box=False\)"):
        read(topology, path)
    for box in (False, 40.0):
        np.testing.assert_array_equal(
            read(topology, path, box=box, bonds="none").frames.read(0, 3)[0], places
        )


def test_a_flat_box_is_named_with_its_frame_and_what_to_do(tmp_path: Path, topology: Path) -> None:
    from MDAnalysis.lib.formats.libmdaxdr import XTCFile

    flat = np.array([[3, 0, 0], [3, 0, 0.0], [0, 0, 3]], np.float32)
    with XTCFile(str(tmp_path / "a.xtc"), "w") as file:
        for step, frame in enumerate(trajectory_positions(3, N_ATOMS)):
            file.write(frame / 10, flat, step, float(step), 1000)
    with pytest.raises(ValueError, match=r"a\.xtc: frame 1 has a box that is flat.*\(box=\)"):
        read(topology, tmp_path / "a.xtc")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_place_that_is_not_finite_is_named_with_its_snapshot(
    tmp_path: Path, topology: Path, value: float
) -> None:
    places = trajectory_positions(3, N_ATOMS)
    places[1, 4, 0] = value
    box = (30.0, 30.0, 30.0, 90.0, 90.0, 90.0)
    path = write_trajectory(tmp_path / "a.dcd", places, box=box)
    objects = timme.objects.points(read(topology, path, bonds="none"))
    with pytest.raises(
        ValueError, match=r"a\.dcd: coordinates must be finite, .* of snapshot 2 is"
    ):
        timme.measure(objects, timme.pairs.all(objects))


def test_boxes_in_a_text_of_amber_are_read_in_their_columns_or_refused(
    tmp_path: Path, topology: Path
) -> None:
    places, path = trajectory_positions(3, N_ATOMS), tmp_path / "a.mdcrd"
    for box in ("  30.000  31.000  32.000", "  30.000   31.000   32.000", "30.0 31.0 32.0"):
        lines = ["made"]
        for frame in places:
            words = [f"{number:8.3f}" for number in frame.ravel()]
            lines += ["".join(words[k : k + 10]) for k in range(0, len(words), 10)]
            lines.append(box)
        path.write_text("\n".join(lines) + "\n")
        if box.count(".000") == 3:  # as Amber writes it, and as mdtraj does
            found, boxes = read(topology, path, bonds="none").frames.read(0, 3)
            np.testing.assert_allclose(found, places, atol=2e-3)
            assert boxes is not None
            np.testing.assert_allclose(boxes, np.tile(np.diag([30.0, 31, 32]), (3, 1, 1)))
        else:
            with pytest.raises(ValueError, match=r"a\.mdcrd: .*: (write it as|copy or write)"):
                read(topology, path, bonds="none").frames.read(0, 3)


# ---- damage --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_atoms", [1, 9, 10, 11, 300])
@pytest.mark.parametrize(
    ("spread", "precision"),
    [
        *((spread, 10.0) for spread in (0.05, 2.0, 3e3, 5e5)),
        *((spread, 1000.0) for spread in (1e-4, 0.05, 2.0, 40.0, 3e3, 5e5)),
        *((spread, 1e6) for spread in (1e-4, 0.05, 2.0, 40.0)),
    ],
)
def test_xtc_frames_are_unpacked_to_the_bits_of_the_library(
    n_atoms: int, spread: float, precision: float, tmp_path: Path
) -> None:
    """Molecules of three atoms, in boxes of less than a step up to ranges of more than 24 bits."""
    from MDAnalysis.lib.formats.libmdaxdr import XTCFile

    rng = np.random.default_rng(n_atoms)
    middles = rng.uniform(-spread, spread, (6, -(-n_atoms // 3), 1, 3))
    sizes = 0.1 * min(1.0, spread) * 4.0 ** rng.uniform(-6, 1, (6, 1, 1, 1))
    places = (middles + sizes * rng.normal(size=(6, middles.shape[1], 3, 3))).reshape(6, -1, 3)
    path = tmp_path / "a.xtc"
    box = rng.uniform(1.0, 9.0, (3, 3)).astype(np.float32)
    with XTCFile(str(path), "w") as file:
        for step, frame in enumerate(places[:, :n_atoms].astype(np.float32)):
            file.write(frame, box, step, 0.5 * step, precision)
    found = layout(path, ".xtc")
    assert found is not None
    read_frame = open_xdr(path, found.offsets)
    with XTCFile(str(path)) as file:
        for number, frame in enumerate(file):
            ours = read_frame(number)
            np.testing.assert_array_equal(ours.positions, frame.x * np.float32(10))
            np.testing.assert_array_equal(ours.box, frame.box.astype(np.float64) * 10)
            assert ours.positions.dtype == np.float32
            assert ours.time == frame.time


@given(seed=st.integers(0, 2**32 - 1))
def test_changed_bits_of_an_xtc_frame_are_read_or_refused(seed: int) -> None:
    """Nothing is read or written beyond a frame, and what is read lies within its limits."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = write_xtc(Path(folder) / "a.xtc", trajectory_positions(2, 60))
        data = np.frombuffer(path.read_bytes(), np.uint8).copy()
        place = int(rng.integers(92, len(data) // 2))
        data[place] ^= np.uint8(1 << rng.integers(8))
        path.write_bytes(data.tobytes())
        found = layout(path, ".xtc")
        assert found is not None
        try:
            frame = open_xdr(path, found.offsets)(0)
        except DamageError:
            return
        assert np.isfinite(frame.positions).all()


def test_an_xtc_frame_between_impossible_limits_is_refused(tmp_path: Path, topology: Path) -> None:
    path = write_xtc(tmp_path / "a.xtc", trajectory_positions(4, N_ATOMS))
    found = layout(path, ".xtc")
    assert found is not None
    data = bytearray(path.read_bytes())
    place = int(found.offsets[2]) + 60
    data[place : place + 4] = struct.pack(">i", 2**30)
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"a\.xtc: frame 3 .*impossible limits.*allow_truncated"):
        read(topology, path)
    assert read(topology, path, allow_truncated=True).n_snapshots == 2


def test_an_xtc_frame_that_does_not_reach_its_limits_is_refused(
    tmp_path: Path, topology: Path
) -> None:
    """The most along x that is announced is 3 steps of the grid more than any atom has."""
    path = write_xtc(tmp_path / "a.xtc", trajectory_positions(4, N_ATOMS))
    found = layout(path, ".xtc")
    assert found is not None
    data = bytearray(path.read_bytes())
    place = int(found.offsets[2]) + 72
    (most,) = struct.unpack(">i", data[place : place + 4])
    data[place : place + 4] = struct.pack(">i", most + 3)
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"a\.xtc: frame 3.* not within its limits"):
        read(topology, path, bonds="none").frames.read(0, 4)


DAMAGED = """
import sys, warnings
import numpy as np
import timme
warnings.simplefilter("ignore")
top, size, seed, *paths = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:]
for path in paths:
    print("next", path, flush=True)
    whole = open(path, "rb").read()
    timme.read(top, path, bonds="none").frames.read(0, 4)
    rng = np.random.default_rng(seed)
    for _ in range(size):
        data = bytearray(whole)
        for place in rng.integers(0, len(data), rng.integers(1, 4)):
            data[place] ^= 1 << rng.integers(8)
        if rng.random() < 0.2:
            data = data[: rng.integers(1, len(data))]
        open(path, "wb").write(data)
        try:
            ensemble = timme.read(top, path, bonds="none", allow_truncated=bool(rng.random() < 0.3))
            ensemble.frames.read(0, ensemble.n_snapshots)
        except ValueError as error:
            words = str(error)
            assert path in words or top in words, words
            assert "\\n" not in words, words
print("survived")
"""


def test_a_damaged_file_is_read_or_refused_in_one_line(tmp_path: Path) -> None:
    """In a process of its own, which a library that believes a damaged frame would take down."""
    n_atoms = 60
    top = write_pdb(tmp_path / "top.pdb", [waters(n_atoms // 3)])
    places = trajectory_positions(4, n_atoms)
    box = (60.0, 60.0, 60.0, 90.0, 90.0, 90.0)
    files = [
        write_trajectory(tmp_path / f"a.{suffix}", places, box=box)
        for suffix in ("xtc", "trr", "dcd", "nc")
    ]
    files.append(write_gsd(tmp_path / "a.gsd", places))
    command = [sys.executable, "-c", DAMAGED, str(top), "60", "5", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    told = done.stdout[-200:], done.stderr[-2000:]  # which file was the last
    assert (done.returncode, done.stdout.split()[-1]) == (0, "survived"), told
    assert "Traceback" not in done.stderr


def write_gsd(path: Path, places: Coordinates) -> Path:
    gsd = pytest.importorskip("gsd.hoomd", reason="needs gsd: pip install 'pytimme[formats]'")
    with gsd.open(str(path), "w") as file:
        for step, frame in enumerate(places):
            made = gsd.Frame()
            made.configuration.step, made.configuration.box = step, [60, 60, 60, 0, 0, 0]
            made.particles.N, made.particles.position = len(frame), frame
            file.append(made)
    return path


def write_netcdf(path: Path, places: Coordinates, **attributes: object) -> Path:
    """Coordinates with some attributes, behind three short numbers in every frame."""
    from scipy.io import netcdf_file

    with netcdf_file(str(path), "w", version=2) as file:
        setattr(file, "Conventions", "AMBER")  # noqa: B010, which the stubs do not know
        for name, size in (("frame", None), ("atom", N_ATOMS), ("spatial", 3)):
            file.createDimension(name, size)
        marks = file.createVariable("marks", "i2", ("frame", "spatial"))
        found = file.createVariable("coordinates", "f4", ("frame", "atom", "spatial"))
        for name, value in attributes.items():
            setattr(found, name, value)
        for frame, snapshot in enumerate(places):
            marks[frame], found[frame] = [1, 2, 3], snapshot
    return path


def test_records_of_a_netcdf_file_are_filled_up_to_four_bytes(
    tmp_path: Path, topology: Path
) -> None:
    """Three short numbers take 6 bytes, and 8 in the file."""
    places = trajectory_positions(4, N_ATOMS)
    path = write_netcdf(tmp_path / "a.nc", places, units="angstrom")
    frames = read(topology, path, bonds="none").frames
    np.testing.assert_array_equal(frames.read(0, 4)[0], places.astype(np.float32))


@pytest.mark.parametrize(
    "attributes", [{"units": "nanometer"}, {"units": "angstrom", "scale_factor": 10.0}]
)
def test_coordinates_of_a_netcdf_file_are_in_their_unit(
    tmp_path: Path, topology: Path, attributes: dict[str, object]
) -> None:
    places = trajectory_positions(4, N_ATOMS)
    path = write_netcdf(tmp_path / "a.nc", places / 10, **attributes)
    frames = read(topology, path, bonds="none").frames
    np.testing.assert_allclose(frames.read(0, 4)[0], places, rtol=1e-6)


@pytest.mark.parametrize("suffix", ["xtc", "trr", "dcd", "nc"])
def test_a_compressed_trajectory_is_refused_without_a_traceback(
    tmp_path: Path, topology: Path, suffix: str, capfd: pytest.CaptureFixture[str]
) -> None:
    whole = write_trajectory(tmp_path / f"a.{suffix}", trajectory_positions(3, N_ATOMS))
    path = tmp_path / f"a.{suffix}.gz"
    path.write_bytes(gzip.compress(whole.read_bytes()))
    said = f"compressed {suffix.upper()} files are not read: unpack it first"
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: {said}"):
        read(topology, path)
    gc.collect()  # what a reader that was opened by halves says as it goes is an error, too
    assert capfd.readouterr().err == ""


def test_a_reader_that_cannot_be_taken_down_is_silent(
    tmp_path: Path,
    topology: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("timme.readers.files.find_spec", lambda _: True)  # its library is there
    path = tmp_path / "a.tng"
    path.write_bytes(b"no frames at all")
    with pytest.raises(ValueError, match=r"a\.tng: not a trajectory that can be read"):
        read(topology, path)
    assert "Traceback" not in capfd.readouterr().err


# ---- frames that are no snapshots, or twice ------------------------------------------------------


def test_frames_of_velocities_alone_are_left_out_with_a_note(
    tmp_path: Path, topology: Path
) -> None:
    from MDAnalysis.lib.formats.libmdaxdr import TRRFile

    places, box = trajectory_positions(6, N_ATOMS), np.eye(3, dtype=np.float32) * 3
    with TRRFile(str(tmp_path / "a.trr"), "w") as file:
        for step, frame in enumerate(places):
            x = None if step % 3 == 1 else frame / 10
            file.write(x, frame, None, box, step, float(step), 0.0, N_ATOMS)
    ensemble = read(topology, tmp_path / "a.trr")
    assert "2 of 6 frames hold no positions" in ensemble.notes[0]
    kept = [0, 2, 3, 5]
    np.testing.assert_allclose(ensemble.frames.read(0, 4)[0], places[kept], atol=1e-5)
    assert [ensemble.frames.time(k) for k in range(4)] == [float(k) for k in kept]


def test_the_last_frame_of_a_run_and_the_first_of_its_continuation_count_once(
    tmp_path: Path, topology: Path
) -> None:
    places, times = trajectory_positions(9, N_ATOMS), np.arange(9.0)
    first = write_xtc(tmp_path / "1.xtc", places[:5], times[:5])
    second = write_xtc(tmp_path / "2.xtc", places[4:], times[4:])
    ensemble = read(topology, [first, second])
    assert f"{second}: frame 1 repeats the one before it" in ensemble.notes[0]
    np.testing.assert_allclose(ensemble.frames.read(0, 9)[0], places, atol=2e-3)
    assert ensemble.n_snapshots == 9
    joined = tmp_path / "joined.xtc"
    joined.write_bytes(first.read_bytes() + second.read_bytes())
    ensemble = read(topology, joined)
    assert f"{joined}: frame 6 repeats the one before it" in ensemble.notes[0]
    assert [ensemble.frames.time(k) for k in range(9)] == times.tolist()


def test_other_frames_of_one_time_are_all_kept(tmp_path: Path, topology: Path) -> None:
    """Runs that begin anew, and programs that write no times."""
    places = trajectory_positions(8, N_ATOMS)
    first = write_xtc(tmp_path / "1.xtc", places[:4], [0.0] * 4)
    second = write_xtc(tmp_path / "2.xtc", places[4:], [0.0] * 4)
    still = write_xtc(tmp_path / "3.xtc", np.repeat(places[:1], 4, axis=0), [0.0] * 4)
    assert read(topology, [first, second]).n_snapshots == 8
    assert read(topology, still).n_snapshots == 4
