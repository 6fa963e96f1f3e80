"""Snapshots chosen by their times: as with a slice of the times that the file gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import MDAnalysis
import numpy as np
import pytest
from MDAnalysis.coordinates.memory import MemoryReader

from timme.readers import read, read_model

# Times in ps of 21 frames, at which frame k has its first atom at x = k.
FIRST, INTERVAL, COUNT = 50.0, 2.5, 21
TIMES = FIRST + INTERVAL * np.arange(COUNT)


def universe(first: float = FIRST) -> Any:
    made = MDAnalysis.Universe.empty(4, trajectory=True)
    coordinates = np.zeros((COUNT, 4, 3), np.float32)
    coordinates += np.arange(4)[:, None] * 3.0
    coordinates[:, 0, 0] = np.arange(COUNT)
    made.load_new(coordinates, format=MemoryReader, dt=INTERVAL, time_offset=first)
    return made


def written(path: Path) -> Path:
    made = universe(first=0.0)
    made.add_TopologyAttr("name", ["A"] * 4)
    made.add_TopologyAttr("resname", ["X"])
    made.add_TopologyAttr("resid", [1])
    interval = {"dt": INTERVAL} if path.suffix == ".dcd" else {}
    with MDAnalysis.Writer(str(path), 4, **interval) as writer:
        for step in made.trajectory:
            step.data["time"] = TIMES[step.frame]  # or the writer counts from 0
            writer.write(made.atoms)
    return path


def gro(path: Path) -> Path:
    """Write frames as GROMACS does, with the time in the title."""
    frames = []
    for frame, time in enumerate(TIMES):
        xs = [0.1 * frame, 0.3, 0.6, 0.9]
        atoms = [f"    1X        A{n:5d}{x:8.3f}{0.3 * n:8.3f}{0:8.3f}" for n, x in enumerate(xs)]
        frames.append(
            "\n".join([f"of water t= {time:.5f} step= 1", "    4", *atoms, " 90 90 90\n"])
        )
    path.write_text("".join(frames))
    return path


def frames_of(ensemble: Any) -> list[int]:
    return [round(x) for x in ensemble.coordinates()[:, 0, 0]]


def source(tmp_path: Path, kind: str) -> Any:
    if kind == "universe":
        return universe()
    return gro(tmp_path / "a.gro") if kind == "gro" else written(tmp_path / f"a.{kind}")


@pytest.mark.parametrize("kind", ["xtc", "trr", "gro", "universe", "ncdf"])
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"start": "60ps"}, range(4, 21)),
        ({"start": "61 ps"}, range(5, 21)),
        ({"start": "0.06ns", "stop": "70ps"}, range(4, 9)),  # the last one is included
        ({"stop": "69500 fs"}, range(8)),
        ({"step": "5ps"}, range(0, 21, 2)),
        ({"start": "60ps", "step": "0.01ns"}, range(4, 21, 4)),
        ({"start": 3, "stop": "60ps"}, range(3, 5)),
        ({"start": "1e-5 us", "stop": 2}, range(2)),
    ],
)
def test_times_are_those_of_the_file(
    tmp_path: Path, kind: str, given: dict[str, Any], expected: range
) -> None:
    assert frames_of(read(source(tmp_path, kind), bonds="none", **given)) == [*expected]


def test_a_dcd_counts_from_its_first_frame(tmp_path: Path) -> None:
    """Its header holds the interval; MDAnalysis takes the first frame for time 0."""
    path = written(tmp_path / "a.dcd")
    kept = read(path, bonds="none", start="10ps", stop="20ps")
    assert frames_of(kept) == [4, 5, 6, 7, 8]


def test_times_of_an_h5md_are_in_the_unit_that_it_states(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    for unit, scale in (("fs", 1e3), ("ns", 1e-3)):
        path = tmp_path / f"{unit}.h5md"
        with h5py.File(path, "w") as file:
            file.create_group("h5md")
            position = file.create_group("particles/all/position")
            values = np.zeros((COUNT, 4, 3)) + np.arange(4)[:, None] * 3.0
            values[:, 0, 0] = np.arange(COUNT)
            position["value"] = values
            position["time"] = TIMES * scale
            position["time"].attrs["unit"] = unit
        assert frames_of(read(path, start="60ps", stop="65ps")) == [4, 5, 6]


def test_times_of_mdtraj_are_known() -> None:
    mdtraj = pytest.importorskip("mdtraj")
    xyz = universe().trajectory.get_array().copy()
    trajectory = mdtraj.Trajectory(xyz, None, time=TIMES)
    assert frames_of(read(trajectory, start="60ps", stop="65ps")) == [4, 5, 6]


def test_one_snapshot_after_a_time(tmp_path: Path) -> None:
    path = written(tmp_path / "a.xtc")
    one, count = read_model(path, start="60ps", model=2)
    assert (frames_of(one), count) == ([5], 17)


def test_files_in_a_row_have_one_clock(tmp_path: Path) -> None:
    early, late, other = (tmp_path / f"{name}.xtc" for name in ("early", "late", "other"))
    made = universe(first=0.0)
    for path, part in ((early, slice(8)), (late, slice(8, None)), (other, slice(8))):
        with MDAnalysis.Writer(str(path), 4) as writer:
            for step in made.trajectory[part]:
                step.data["time"] = TIMES[step.frame]
                step.positions[-1, 2] += 5.0 * (path == other)
                writer.write(made.atoms)
    topology = gro(tmp_path / "top.gro")
    kept = read(topology, [early, late], bonds="none", start="65ps", stop="75ps")
    assert frames_of(kept) == [6, 7, 8, 9, 10]
    again = read(topology, [early, other], bonds="none", start="65ps")
    assert frames_of(again) == [6, 7, 6, 7]  # two runs, each with a clock of its own


def at_times(path: Path, times: list[int]) -> Path:
    """Write a frame for each time, in ps, with its first atom at x = that time."""
    made = MDAnalysis.Universe.empty(4, trajectory=True)
    with MDAnalysis.Writer(str(path), 4) as writer:
        for time in times:
            places = np.arange(12, dtype=np.float32).reshape(4, 3)
            places[0, 0] = time
            made.atoms.positions = places
            made.trajectory.ts.data["time"] = float(time)
            writer.write(made.atoms)
    return path


KINDS_WITH_HEADERS = pytest.mark.parametrize("suffix", [".xtc", ".trr"])


@KINDS_WITH_HEADERS
def test_a_step_back_is_found_wherever_it_is(tmp_path: Path, suffix: str) -> None:
    """A run that went on from a checkpoint writes some times again, and is one run still."""
    path = at_times(tmp_path / f"a{suffix}", [*range(101), *range(97, 201)])
    kept = read(path, start="98ps", stop="102ps", bonds="none")
    assert frames_of(kept) == [98, 99, 100, 101, 102]
    assert frames_of(read(path, step="10ps", bonds="none")) == [*range(0, 201, 10)]
    mixed = at_times(tmp_path / f"b{suffix}", [*range(101), 50, 40, *range(101, 201)])
    told = r"do not always grow.* after 100 ps comes 50 ps"
    with pytest.raises(ValueError, match=told):
        read(mixed, start="98ps", stop="99ps")
    with pytest.raises(ValueError, match=told):
        read(mixed, step="10ps")


@KINDS_WITH_HEADERS
def test_a_frame_that_is_there_twice_counts_once_in_steps(tmp_path: Path, suffix: str) -> None:
    early = at_times(tmp_path / f"a{suffix}", [*range(101)])
    late = at_times(tmp_path / f"b{suffix}", [*range(100, 201)])
    top = gro(tmp_path / "top.gro")
    kept = read(top, [early, late], bonds="none", step="10ps")
    assert frames_of(kept) == [*range(0, 201, 10)]
    kept = read(top, [early, late], bonds="none", start="95ps", stop="105ps", step="5ps")
    assert frames_of(kept) == [95, 100, 105]
    weights = np.arange(202.0) + 1
    weighted = read(top, [early, late], bonds="none", step="50ps", weights=weights)
    assert weighted.weights is not None
    np.testing.assert_allclose(
        weighted.weights / weighted.weights[0], [1.0, 51.0, 101.0, 152.0, 202.0]
    )


@KINDS_WITH_HEADERS
def test_a_gap_is_told_where_steps_in_time_meet_it(tmp_path: Path, suffix: str) -> None:
    path = at_times(tmp_path / f"a{suffix}", [*range(200), *range(202, 402)])
    with pytest.raises(ValueError, match=r"near 199 ps, its snapshots are not at equal times"):
        read(path, step="10ps")
    kept = read(path, stop="150ps", step="50ps", bonds="none")
    assert frames_of(kept) == [0, 50, 100, 150]


def test_times_are_read_without_the_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from timme.readers import xdr

    read_frames = list[int]()
    inner = xdr._read_xtc

    def counted(path: Path, offsets: Any, frame: int) -> Any:
        read_frames.append(frame)
        return inner(path, offsets, frame)

    monkeypatch.setattr(xdr, "_read_xtc", counted)
    path = at_times(tmp_path / "a.xtc", [*range(100)])
    read(path, start="50ps", stop="60ps", step="2ps", bonds="none")
    # The first, the middle and the last tell whether there is a box.
    assert set(read_frames) <= {0, 49, 50, 99, *range(50, 61)}


@pytest.mark.parametrize("suffix", ["xtc", "trr"])
def test_times_of_a_universe_are_read_without_the_frames(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    path = at_times(tmp_path / f"a.{suffix}", [*range(100)])
    opened = MDAnalysis.Universe.empty(4)
    opened.load_new(str(path))
    read_frames = list[int]()
    reader = type(opened.trajectory)
    inner = reader._read_frame

    def counted(self: Any, frame: int) -> Any:
        read_frames.append(frame)
        return inner(self, frame)

    monkeypatch.setattr(reader, "_read_frame", counted)
    ensemble = read(opened, start="50ps", stop="60ps", step="2ps", bonds="none")
    assert ensemble.n_snapshots == 6
    assert set(read_frames) <= {0, 49, 50, 99, *range(50, 61)}


def test_times_in_single_precision_are_equal_as_far_as_they_can_be(tmp_path: Path) -> None:
    """After 2 µs a float counts in steps of 0.125 ps."""
    path = at_times(tmp_path / "a.xtc", [2_000_000 + time for time in range(0, 40, 2)])
    assert len(read(path, bonds="none", step="4ps").frames.read(0, 10)[0]) == 10


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"start": "1ns"}, "zero snapshots are left of 21 with start='1ns': choose others"),
        ({"step": "3ps"}, "snapshots are 2.5 ps apart, which step='3ps' is no multiple of"),
        ({"step": "1ps"}, "snapshots are 2.5 ps apart"),
        ({"start": 3.5}, r"start= takes a whole number, or a time .*, got 3\.5"),
        ({"stop": 9.0}, r"stop= takes a whole number, or a time .*, got 9\.0"),
        ({"step": np.float64(2)}, "step= takes a whole number, or a time"),
        ({"start": "ten"}, "start= takes a whole number, or a time such as 10ns or 500ps"),
        ({"start": "10"}, ""),
        ({"stop": "10 miles"}, "stop= takes a whole number, or a time"),
        ({"start": "--1ps"}, "start= takes a whole number, or a time"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, given: dict[str, Any], reason: str) -> None:
    path = written(tmp_path / "a.xtc")
    if not reason:
        assert frames_of(read(path, **given)) == [*range(10, 21)]
        return
    with pytest.raises(ValueError, match=reason):
        read(path, **given)


def test_sources_without_times_say_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="array: its snapshots carry no times"):
        read(np.zeros((5, 4, 3)), start="1ps")
    path = written(tmp_path / "a.xyz")
    with pytest.raises(ValueError, match=r"a.xyz: its snapshots carry no times: choose them by"):
        read(path, start="1ps")
    models = tmp_path / "a.pdb"
    atom = "ATOM      1  CA  GLY A   1       0.000   0.000   0.000  1.00  0.00           C\n"
    models.write_text("".join(f"MODEL {n}\n{atom}ENDMDL\n" for n in (1, 2, 3)))
    with pytest.raises(ValueError, match=r"a.pdb: its snapshots carry no times"):
        read(models, start="1ps")


def test_snapshots_at_uneven_times_have_no_stride_in_time() -> None:
    uneven = universe()
    times = TIMES.copy()
    times[5:] += 100.0

    class Uneven(MemoryReader):  # type: ignore[misc]
        def _read_next_timestep(self, ts: Any = None) -> Any:
            found = super()._read_next_timestep(ts)
            found.data["time"] = times[found.frame]
            return found

    uneven.load_new(uneven.trajectory.get_array(), format=Uneven)
    with pytest.raises(ValueError, match="not at equal times: give step= as a number"):
        read(uneven, step="5ps")
    assert frames_of(read(uneven, bonds="none", start="60ps", stop="162.5ps")) == [4, 5]
