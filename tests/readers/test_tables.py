"""Tables of tracked particles."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from timme._arrays import Coordinates
from timme.readers import read
from timme.system.ensemble import Ensemble

ROWS = [(0, 5, 1.0, 2.0), (0, 7, 3.0, 4.0), (1, 5, 1.5, 2.5), (2, 5, 2.0, 3.0), (2, 7, 4.0, 5.0)]


def table(delimiter: str = ",", header: str = "frame,particle,x,y") -> str:
    lines = [delimiter.join(header.split(","))]
    lines += [delimiter.join(map(str, row)) for row in ROWS]
    return "\n".join(lines) + "\n"


def coordinates(ensemble: Ensemble) -> Coordinates:
    return ensemble.frames.read(0, ensemble.n_snapshots)[0]


def check(ensemble: Ensemble) -> None:
    expected = [[[1.0, 2.0], [3.0, 4.0]], [[1.5, 2.5], [np.nan] * 2], [[2.0, 3.0], [4.0, 5.0]]]
    np.testing.assert_array_equal(coordinates(ensemble), expected)
    assert ensemble.gaps
    assert ensemble.atoms.resids.tolist() == [5, 7]
    assert "1 of 2 particles are not seen in every frame" in ensemble.notes


@pytest.mark.parametrize("delimiter", [",", "\t", ";", " "])
@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_any_delimiter_is_understood(tmp_path: Path, delimiter: str, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_text(table(delimiter))
    check(read(path))


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: text.replace(b"\n", b",caf\xe9\n"),
        lambda text: text.replace(b"frame", b'"frame"'),
        lambda text: text.rstrip(b"\n") + b"\n\n\n",
    ],
    ids=["crlf", "bom", "latin-1", "quoted", "blank lines"],
)
def test_line_ends_marks_and_encodings_do_not_matter(
    tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(change(table().encode()))
    check(read(path))


def test_the_order_of_rows_and_columns_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [f"{y},{x},{particle},extra,{frame}" for frame, particle, x, y in reversed(ROWS)]
    path.write_text("\n".join(["y,x,particle,note,frame", *rows]))
    check(read(path))


def test_columns_may_have_other_names(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(table(header="t,id,px,py"))
    check(read(path, columns=("t", "id", "px", "py")))


def test_decimal_commas_are_understood_between_semicolons(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(table(";").replace(".", ","))
    check(read(path))


def test_a_third_coordinate_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("frame,particle,x,y,z\n0,1,1,2,3\n1,1,4,5,6\n")
    assert coordinates(read(path)).tolist() == [[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]]


def test_a_data_frame_gives_the_same() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, columns=["frame", "particle", "x", "y"])
    check(read(frame))
    check(read(frame.rename(columns={"x": "a", "y": "b"}), columns=["frame", "particle", "a", "b"]))


@pytest.mark.parametrize("missing", ["", "nan", "#N/A"])  # the last as spreadsheets write it
def test_missing_values_are_gaps_and_said_so(tmp_path: Path, missing: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(table() + f"1,7,{missing},{missing}\n")
    ensemble = read(path)
    assert np.isnan(coordinates(ensemble)[1, 1]).all()
    assert "1 rows without coordinates count as not seen" in ensemble.notes


def test_half_a_position_is_a_gap(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(table() + "1,7,3.5,nan\n")
    assert np.isnan(coordinates(read(path))[1, 1]).all()


def test_frames_that_skip_are_snapshots_in_order(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("frame,particle,x,y\n7,1,1,1\n1,1,0,0\n3,1,2,2\n")
    ensemble = read(path)
    assert coordinates(ensemble)[:, 0, 0].tolist() == [0.0, 2.0, 1.0]
    assert "not evenly spaced: the 3 that occur are the snapshots" in ensemble.notes[0]


def test_particles_may_have_names(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("frame,particle,x,y\n0,bus,1,1\n0,car,2,2\n1,bus,3,3\n1,car,4,4\n")
    assert read(path).atoms.names.tolist() == ["bus", "car"]


def test_a_particle_twice_in_a_frame_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(table() + "2,7,9,9\n")
    with pytest.raises(ValueError, match=r"a\.csv: particle 7 is in frame 2 twice"):
        read(path)


def test_missing_columns_list_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(table(header="frame,label,x,y"))
    with pytest.raises(
        ValueError, match=r"no column 'particle'; the table has 'frame', 'label', 'x', 'y'"
    ):
        read(path)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,7,abc,2", r"row 6: column 'x' needs a number, got 'abc'"),
        ("1,7", r"row 6: 4 columns are needed, got 2"),
        ("nan,7,1,2", r"row 6: every row needs a frame and a particle"),
        ("1,,1,2", r"row 6: every row needs a frame and a particle"),
        ("1,7,inf,2", r"row 6: coordinates must be finite"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, row: str, message: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(table() + row + "\n")
    with pytest.raises(ValueError, match=message):
        read(path)


def test_a_bad_data_frame_is_refused() -> None:
    pandas = pytest.importorskip("pandas")
    columns = ["frame", "particle", "x", "y"]
    with pytest.raises(ValueError, match="no rows"):
        read(pandas.DataFrame([], columns=columns))
    with pytest.raises(ValueError, match="row 1: column 'x' needs numbers, got 'a'"):
        read(pandas.DataFrame([(0, 1, "a", 1.0)], columns=columns))
    with pytest.raises(ValueError, match="no column 'x'"):
        read(pandas.DataFrame([(0, 1)], columns=columns[:2]))


def test_a_table_without_rows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("frame,particle,x,y\n")
    with pytest.raises(ValueError, match="no rows"):
        read(path)


def test_a_table_too_large_for_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [f"{number},{number},1,1" for number in range(30_000)]
    path.write_text("\n".join(["frame,particle,x,y", *rows]))
    with pytest.raises(ValueError, match="need 14 GB: leave out the particles"):
        read(path)


def test_frames_of_tables_are_chosen_too(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(table())
    assert coordinates(read(path, start=1, step=1))[:, 0, 0].tolist() == [1.5, 2.0]


def test_many_tracks_are_read_fast(tmp_path: Path) -> None:
    """1500 tracks of beads, each seen in some 40 of 300 frames."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 260, 1500)
    lines = ["frame,particle,x,y"]
    for particle, begin in enumerate(first.tolist()):
        x, y = 500 * rng.random((2, 1)) + rng.normal(size=(40, 2)).cumsum(axis=0).T
        lines += [f"{begin + k},{particle},{x[k]:.4f},{y[k]:.4f}" for k in range(40)]
    path = tmp_path / "tracks.csv"
    path.write_text("\n".join(lines))
    started = time.process_time()
    ensemble = read(path, unit="px")
    assert time.process_time() - started < 4.0
    assert ensemble.frames.shape == (int(first.max()) + 40 - int(first.min()), 1500, 2)
    assert ensemble.unit == "px"


@pytest.mark.parametrize("as_frame", [False, True])
def test_a_third_coordinate_that_is_always_empty_is_left_out(
    tmp_path: Path, *, as_frame: bool
) -> None:
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    found = pandas.DataFrame(ROWS, columns=["frame", "particle", "x", "y"]).assign(z=np.nan)
    found.to_csv(tmp_path / "a.csv", index=False)
    ensemble = read(found if as_frame else tmp_path / "a.csv")
    check(ensemble)
    assert any("third coordinate is empty" in note for note in ensemble.notes)


def test_exponents_of_fortran_are_numbers(tmp_path: Path) -> None:
    rows = [f"{f} {p} {x:.6E} {y:.6E}".replace("E", "D") for f, p, x, y in ROWS]
    (tmp_path / "a.txt").write_text("\n".join(["frame particle x y", *rows, ""]))
    check(read(tmp_path / "a.txt"))
    (tmp_path / "b.txt").write_text("\n".join([*rows, ""]))
    check(read(tmp_path / "b.txt", columns="1,2,3,4"))


def test_long_and_many_names_are_shortened_in_messages(tmp_path: Path) -> None:
    names = ["frame", "particle", "a" * 500, *(f"column{k}" for k in range(40))]
    (tmp_path / "a.csv").write_text(",".join(names) + "\n" + ",".join("1" * len(names)) + "\n")
    with pytest.raises(ValueError, match=r"'a{30}…', .* and 31 more: give the frame") as told:
        read(tmp_path / "a.csv")
    assert len(str(told.value)) < 600


def test_two_tables_are_refused_in_one_line(tmp_path: Path) -> None:
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    for path in (one, other):
        path.write_text("frame,particle,x,y\n0,0,1,2\n1,0,1,3\n0,1,5,5\n1,1,5,6\n")
    with pytest.raises(ValueError, match=r"tables of tracks are read one at a time.*by itself"):
        read(one, other)
