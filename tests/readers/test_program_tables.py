"""Tables as other programs write them: their names, units, titles, encodings and ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.readers.test_track_tables import EXPECTED, ROWS, check, lines, written
from timme.readers import read

MOSAIC = ",Trajectory,Frame,x,y,z,m0,NPscore\n" + "".join(
    f"{row},{particle},{frame},{x},{y},0.0,3.5,0.0\n"
    for row, (frame, particle, x, y) in enumerate(ROWS, start=1)
)
IMARIS = "Position X,Position Y,Position Z,Unit,Category,Collection,Time,TrackID,ID,\n" + "".join(
    f"{x},{y},0,um,Spot,Position,{frame + 1},{particle},{row},\n"
    for row, (frame, particle, x, y) in enumerate(ROWS)
)
MANUAL = " \tTrack n°\tSlice n°\tX\tY\tDistance\tVelocity\n" + "".join(
    f"{row}\t{particle}\t{frame + 1}\t{x}\t{y}\t-1.0\t-1.0\n"
    for row, (frame, particle, x, y) in enumerate(ROWS, start=1)
)
SECONDS = "time,particle,x,y\n" + "".join(f"{0.1 * f},{p},{x},{y}\n" for f, p, x, y in ROWS)


@pytest.mark.parametrize(
    ("text", "encoding", "columns"),
    [
        (MOSAIC, "utf-8", "Frame, Trajectory, x, y, z"),
        (IMARIS, "utf-8", "Time, TrackID, Position X, Position Y, Position Z"),
        (MANUAL, "latin-1", "Slice n°, Track n°, X, Y"),
        (SECONDS, "utf-8", "time, particle, x, y"),
    ],
    ids=["mosaic", "imaris", "manual", "seconds"],
)
def test_the_names_of_other_programs_are_known(
    tmp_path: Path, text: str, encoding: str, columns: str
) -> None:
    ensemble = read(written(tmp_path, text.encode(encoding)))
    np.testing.assert_array_equal(ensemble.coordinates()[..., :2], EXPECTED)
    assert ensemble.atoms.resids.tolist() == [5, 7]
    assert f"frame, particle and coordinates are its columns {columns}" in ensemble.notes


@pytest.mark.parametrize("columns", [None, "Time,TrackID,Position X,Position Y"])
@pytest.mark.parametrize("title", ["\ufeff\nPosition\n==================== \n", "Spots, 3 May\n"])
def test_titles_above_the_names_are_left_out(
    tmp_path: Path, title: str, columns: str | None
) -> None:
    ensemble = read(written(tmp_path, title + IMARIS), columns=columns)
    np.testing.assert_array_equal(ensemble.coordinates()[..., :2], EXPECTED)
    count = "2 lines" if "Position" in title else "1 line"
    assert f"left out {count} above the names of the columns" in ensemble.notes


@pytest.mark.parametrize(
    ("names", "unit"),
    [
        ("frame,particle,x [um],y [um]", "µm"),
        ("frame,particle,x (pixel),y (pixel)", "px"),
        ("Frame,Particle,X [nm],Y [nm]", "nm"),
        ("frame,particle,x (raw),y (raw)", ""),
        ("frame,particle,x [µm],y [um]", "µm"),
        ("frame,particle,x [µm],y", ""),
        ("frame,particle,x_um,y_um", "µm"),
        ("frame,particle,X_px,Y_px", "px"),
        ("frame,particle,x/nm,y / nm", "nm"),
    ],
)
def test_units_stand_in_brackets_or_behind_a_dash_after_names(
    tmp_path: Path, names: str, unit: str
) -> None:
    import pandas as pd

    path = written(tmp_path, f"{names}\n{lines()}")
    for source in (path, pd.read_csv(path)):
        ensemble = read(source)
        check(ensemble)
        assert ensemble.unit == unit


@pytest.mark.parametrize("ending", ["raw", "min", "a", "A", "s"])
def test_what_is_no_unit_belongs_to_the_name(tmp_path: Path, ending: str) -> None:
    path = written(tmp_path, f"frame,particle,x_{ending},y_{ending}\n{lines()}")
    with pytest.raises(ValueError, match=r"no column 'x'; .* \(columns=\)"):
        read(path)


@pytest.mark.parametrize(
    "names", ["t,id,x,y", "T,ID,X,Y", "time_s,id,x,y", "frame,track,x,y", "Frame,Track ID,x,y"]
)
def test_usual_names_are_understood_and_told(tmp_path: Path, names: str) -> None:
    ensemble = read(written(tmp_path, f"{names}\n{lines()}"))
    check(ensemble)
    told = names.replace(",", ", ")
    assert f"frame, particle and coordinates are its columns {told}" in ensemble.notes


def test_a_track_comes_before_the_id_of_a_row(tmp_path: Path) -> None:
    rows = "".join(f"{row},{line}\n" for row, line in enumerate(lines().splitlines()))
    check(read(written(tmp_path, f"id,frame,track_id,x,y\n{rows}")))


def test_tables_of_deeplabcut_become_arrays_as_the_error_says(tmp_path: Path) -> None:
    import pandas as pd

    places = np.arange(12.0).reshape(3, 2, 2)
    rows = "".join(
        f"{frame}," + ",".join(f"{x},{y},0.9" for x, y in places[frame]) + "\n"
        for frame in range(3)
    )
    parts = "bodyparts,nose,nose,nose,tail,tail,tail\n"
    names = f"scorer{',net' * 6}\n{parts}coords{',x,y,likelihood' * 2}\n"
    path = written(tmp_path, names + rows)
    with pytest.raises(ValueError, match=r"DeepLabCut's .* body part.*index_col=0\)\.drop"):
        read(path)
    table = pd.read_csv(path, header=[0, 1, 2], index_col=0).drop(columns="likelihood", level=-1)
    ensemble = read(table.to_numpy().reshape(len(table), -1, 2))
    np.testing.assert_array_equal(ensemble.coordinates(), places)


@pytest.mark.parametrize("units", [("mm", "cm"), ("nm", "µm"), ("px", "inch")])
def test_coordinates_in_different_units_are_refused(tmp_path: Path, units: tuple[str, str]) -> None:
    import pandas as pd

    one, other = units
    path = written(tmp_path, f"frame,particle,x [{one}],y [{other}]\n{lines()}")
    for source in (path, pd.read_csv(path)):
        for columns in (None, f"frame,particle,x [{one}],y [{other}]", "1,2,3,4"):
            with pytest.raises(ValueError, match=rf"one unit, got .*{other}\]': convert them"):
                read(source, columns=columns)
    read(path, columns=f"frame,particle,x [{one}]")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_several_bytes_for_a_letter_need_no_mark(tmp_path: Path, encoding: str, end: str) -> None:
    text = lines(header=True).replace("\n", end)
    for mark in ("", "\ufeff"):
        check(read(written(tmp_path, (mark + text).encode(encoding))))


def test_a_last_row_without_its_end_is_told(tmp_path: Path) -> None:
    text = lines(header=True)
    ensemble = read(written(tmp_path, text[:-1]))
    check(ensemble)
    assert "its last line has no line end, but all its columns, and is used" in ensemble.notes


@pytest.mark.parametrize("names", [("5", "7"), ("Anna", "Bert")])
def test_a_row_that_ends_within_is_refused(tmp_path: Path, names: tuple[str, str]) -> None:
    text = lines(header=True).replace(",5,", f",{names[0]},").replace(",7,", f",{names[1]},")
    assert text.endswith(",4.5\n")
    with pytest.raises(ValueError, match=r"a\.csv: its last row is cut off"):
        read(written(tmp_path, text[: -len("4.5\n")]))
