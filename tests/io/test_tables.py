"""Parity with pandas, and invariants: tables of tracked particles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.io.builders import tracks, written
from timme import memory
from timme.ensemble import Ensemble
from timme.io import read
from timme.io.tables import from_dataframe, read_table

NAMES = ["frame", "particle", "x", "y"]
ROWS = tracks()
FRAME = pd.DataFrame(ROWS, columns=NAMES)
EXPECTED = np.array([row[2:] for row in ROWS]).reshape(6, 3, 2)


def text(separator: str = ",", names: str | None = "frame,particle,x,y", line: str = "") -> str:
    """The table of tracks; `line` has the fields of a row by name."""
    line = line or "{f},{p},{x},{y}"
    rows = [line.format(f=f, p=p, x=x, y=y, k=k) for k, (f, p, x, y) in enumerate(ROWS, start=1)]
    lines = [*([names] if names else []), *rows, ""]
    return "\n".join(lines).replace(",", separator)


def check(found: Ensemble, particles: Any = (5, 6, 7)) -> None:
    np.testing.assert_array_equal(found.coordinates()[..., :2], EXPECTED)
    named = found.atoms.names if isinstance(particles[0], str) else found.atoms.resids
    assert named.tolist() == list(particles)
    assert found.gaps


# ---- parity --------------------------------------------------------------------------------------


@given(st.integers(0, 1000), st.booleans())
def test_tracks_are_a_pivot_table(seed: int, shuffled: bool) -> None:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(tracks(5, 4, seed), columns=NAMES)
    table = table.loc[np.sort(rng.permutation(20)[: rng.integers(1, 20)])]
    table = table.sample(frac=1.0, random_state=seed) if shuffled else table
    found = from_dataframe(table)
    for axis, name in enumerate(("x", "y")):
        pivot = table.pivot_table(index="frame", columns="particle", values=name)
        np.testing.assert_array_equal(found.coordinates()[..., axis], pivot.to_numpy())
        np.testing.assert_array_equal(found.frames.times, pivot.index)
        np.testing.assert_array_equal(found.atoms.resids, pivot.columns)


@pytest.mark.parametrize("separator", [",", ";", "\t", " ", "   "])
@pytest.mark.parametrize("columns", [None, "1,2,3,4", ["frame", "particle", "x", "y"]])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_text_gives_the_numbers_that_were_written(
    separator: str, columns: Any, end: str, tmp_path: Path
) -> None:
    path = written(tmp_path, text(separator).replace("\n", end), "a.csv")
    check(read_table(path, columns))
    if columns == "1,2,3,4":
        bare = written(tmp_path, text(separator, None), "a.txt")
        check(read_table(bare, columns))


@pytest.mark.parametrize(
    "table",
    [
        FRAME,
        FRAME.sample(frac=1.0, random_state=0),
        FRAME.set_index(["frame", "particle"]),
        FRAME.set_index("frame", drop=False),
        FRAME.astype({"particle": "Int64", "x": "Float64"}),
        FRAME.astype({"particle": float, "frame": str}),
        pl.from_pandas(FRAME),
        pl.from_pandas(FRAME).lazy(),
    ],
)
def test_any_dataframe_gives_the_same(table: Any) -> None:
    check(from_dataframe(table))


def test_places_and_labels_choose_columns_of_a_dataframe() -> None:
    wide = FRAME.set_axis(["t", "who", "u", "v"], axis=1).assign(more=1.0)
    check(from_dataframe(wide, "t,who,u,v"))
    check(from_dataframe(wide, [1, 2, 3, 4]))
    check(from_dataframe(wide.set_axis(["t", "who", "u", "u", "u"], axis=1), "1,2,3,4"))
    line = from_dataframe(wide, ["t", "who", "u"])
    np.testing.assert_array_equal(line.coordinates(), EXPECTED[..., :1])


# ---- how programs write --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "line", "unit"),
    [
        (",Trajectory,Frame,x,y,z,m0", "{k},{p},{f},{x},{y},0.0,3.5", ""),
        ("Position X,Position Y,Unit,Time,TrackID,ID,", "{x},{y},um,{f},{p},{k},", ""),
        (" \nPosition\n===\nPosition X,Position Y,Time,TrackID", "{x},{y},{f},{p}", ""),
        (" ,Track n°,Slice n°,X,Y,Distance", "{k},{p},{f},{x},{y},-1.0", ""),
        ("id,t,track,x (µm),y (µm)", "{k},{f},{p},{x},{y}", "µm"),
        ("Frame,Particle,X [um],Y [um]", "{f},{p},{x},{y}", "µm"),
        ("frame,particle,x (pixel),y (pixel),q", "{f},{p},{x},{y},9", "px"),
        ('"frame","particle","x","y"', '{f},"{p}",{x},{y}', ""),
    ],
)
def test_columns_of_other_programs_are_known_and_named_in_notes(
    names: str, line: str, unit: str, tmp_path: Path
) -> None:
    path = written(tmp_path, text(names=names, line=line), "a.csv")
    found = read_table(path)
    check(found)
    assert found.unit == unit
    if '"' not in names:
        assert any("frame, particle and coordinates are its columns" in n for n in found.notes)


def test_spots_of_trackmate_are_read_with_their_unit_and_without_those_of_no_track(
    tmp_path: Path,
) -> None:
    names = "LABEL,TRACK_ID,POSITION_X,POSITION_Y,POSITION_Z,FRAME\nLabel,Track ID,X,Y,Z,Frame\n"
    names += "Label,Track ID,X,Y,Z,Frame\n,,(micron),(micron),(micron),"
    lone = "ID9,,1.0,2.0,0.0,3\n"
    path = written(tmp_path, text(names=names, line="ID{k},{p},{x},{y},0.0,{f}") + lone, "a.csv")
    found = read_table(path)
    check(found)
    assert found.n_dimensions == 2
    assert found.unit == "µm"
    assert any("left out 1 of 19 spots" in note for note in found.notes)


def test_comments_are_left_out_decimal_commas_read_and_titles_refused(tmp_path: Path) -> None:
    for content in ("# made by hand\n" + text(), text() + "# lost here\n"):
        check(read_table(written(tmp_path, content, "a.csv")))
    for separator in (";", "\t", " "):
        found = read_table(written(tmp_path, text(separator).replace(".", ","), "a.csv"))
        check(found)
        assert any("decimal signs" in note for note in found.notes)
    whole = "frame;particle;x\n0;1;1\n1;1;1,5\n"  # in the first row
    assert read_table(written(tmp_path, whole, "a.csv")).coordinates().ravel().tolist() == [1, 1.5]
    with pytest.raises(ValueError, match="the table has Spots, 3 May: name them"):
        read_table(written(tmp_path, "Spots, 3 May\n" + text(), "a.csv"))


def test_encodings_with_a_mark_or_of_one_byte_do_not_matter(tmp_path: Path) -> None:
    names = text(names="Slice n°,Track n°,x,y")
    for encoding in ("utf-8", "utf-8-sig", "latin-1", "utf-16"):
        check(read_table(written(tmp_path, names.encode(encoding), "a.csv")))
    with pytest.raises(ValueError, match=r"zero bytes.*UTF-8"):
        read_table(written(tmp_path, names.encode("utf-16-le"), "a.csv"))


# ---- particles, gaps and notes -------------------------------------------------------------------


@pytest.mark.parametrize(
    "names",
    [("1_1", "11"), ("01", "1"), ("1.1", "1.10"), ("1e1", "10"), ("1", "+1"), ("car, 5", "car, 7")],
)
def test_names_that_are_no_plain_numbers_stay_apart(names: tuple[str, str], tmp_path: Path) -> None:
    rows = [(frame, name, frame + 0.5, 2.0) for frame in range(3) for name in names]
    table = pd.DataFrame(rows, columns=NAMES)
    path = tmp_path / "a.csv"
    table.to_csv(path, index=False)
    for found in (read_table(path), from_dataframe(table)):
        assert sorted(found.atoms.names.tolist()) == sorted(names)


@pytest.mark.parametrize("style", ["{:d}", "{:d}.0", "{:.6e}", "{:d}."])
def test_whole_numbers_are_numbers_however_they_are_written(style: str, tmp_path: Path) -> None:
    rows = "".join(f"{frame},{style.format(k)},1.0,2.0\n" for frame in range(3) for k in (70, 5))
    found = read_table(written(tmp_path, rows, "a.csv"), "1,2,3,4")
    assert found.atoms.resids.tolist() == [5, 70]


@pytest.mark.parametrize("missing", ["", "nan", "#N/A", "NULL", "-"])
def test_a_position_that_is_half_known_is_a_gap(missing: str, tmp_path: Path) -> None:
    content = text().replace(str(ROWS[4][3]), missing)
    found = read_table(written(tmp_path, content, "a.csv"))
    assert np.isnan(found.coordinates()).sum() == 2
    assert np.isnan(found.coordinates()[1, 1]).all()
    assert "1 row without coordinates count as not seen" in found.notes


def test_frames_that_occur_are_the_snapshots(tmp_path: Path) -> None:
    found = read_table(written(tmp_path, text() + "9,5,1,2\n9.5,5,1,2\n", "a.csv"))
    assert found.frames.times.tolist() == [0, 1, 2, 3, 4, 5, 9, 9.5]
    assert found.n_source == 8


def test_a_third_coordinate_that_is_always_empty_is_left_out(tmp_path: Path) -> None:
    content = text(names="frame,particle,x,y,z", line="{f},{p},{x},{y},")
    check(read_table(written(tmp_path, content, "a.csv")))
    deep = text(names="frame,particle,x,y,z", line="{f},{p},{x},{y},{k}")
    assert read_table(written(tmp_path, deep, "a.csv")).n_dimensions == 3


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        (text() + "2,5,1,2\n", None, "particle 5 is in frame 2 twice"),
        (text() + "7,5,one,2\n", None, "row 19: a number is needed, got 'one'"),
        (text() + "7,5,inf,2\n", None, "row 19: .*finite coordinates"),
        (text() + ",5,1,2\n", None, "row 19: a frame, a particle"),
        (text() + '7,5,"1,2\n', None, "row 19: 4 columns are needed, got 3|quotation"),
        (text() + "7,5,1\n", None, "row 19: 4 columns are needed, got 3"),
        (text() + "7,5,1,2,3\n", None, "row 19: 4 columns are needed, got 5"),
        (text().replace(".", ","), None, "row 1: 4 columns are needed, got 6: .*semicolons"),
        (text(names=None), None, "columns frame, particle, x are needed"),
        (text(names="frame,particle,x,x"), None, "each once"),
        (text(names="frame,particle,x [mm],y [cm]"), None, "one unit, got .*mm.*cm"),
        (text(), "1,2,3,9", "columns 1, 2, 3, 9 are needed"),
        (text(), "frame,car,x", "columns frame, car, x are needed.*the table has frame, particle"),
        (text(), "1,2", "names a frame, a particle and coordinates"),
        (text(), "0,1,2", "numbers from 1 on"),
        ("frame,particle,x,y\n", None, "no rows"),
        ("# nothing\n", None, "are needed"),
        (text()[: text().rindex(",") + 1], None, "its last row is cut off"),
        (bytes(range(1, 256)) * 9, None, "are needed"),
    ],
)
def test_a_refusal_names_the_row_or_the_columns_in_one_line(
    content: str | bytes, columns: str | None, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        read_table(written(tmp_path, content, "a.csv"), columns)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith((str(tmp_path), "columns="))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (FRAME[:0], "no rows"),
        (FRAME.assign(particle=None), "row 1: a frame, a particle"),
        (FRAME.assign(y="a"), "row 1: a number is needed, got 'a'"),
        (FRAME.drop(columns="x"), "columns frame, particle, x are needed"),
        (pd.concat([FRAME, FRAME]), "twice"),
    ],
)
def test_a_dataframe_is_refused_for_the_same_reasons(table: pd.DataFrame, message: str) -> None:
    with pytest.raises(ValueError, match=f"DataFrame: .*{message}"):
        from_dataframe(table)


def test_a_table_too_large_for_memory_is_refused_before_it_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "available", lambda: 100)
    with pytest.raises(ValueError, match=r"3 particles in 6 frames need .*leave out particles"):
        from_dataframe(FRAME)


def test_no_row_is_lost_without_a_word_wherever_a_file_is_cut(tmp_path: Path) -> None:
    content = text()
    for size in range(1, len(content), 10):
        try:
            found = read_table(written(tmp_path, content[:size], "a.csv"))
        except ValueError:
            continue
        n_rows = content[:size].count("\n") - 1
        complete = content[size - 1] == "\n"
        assert np.isfinite(found.coordinates()[..., 0]).sum() >= n_rows
        assert complete or any("no line end" in note for note in found.notes)


def test_weights_that_are_no_numbers_are_refused_with_the_name_of_their_file(
    tmp_path: Path,
) -> None:
    path = written(tmp_path, "1\nhalf\n", "weights.txt")
    with pytest.raises(ValueError, match=r"weights\.txt: .* one number in each line .*: repair"):
        read(np.zeros((2, 3, 3)), weights=str(path))
