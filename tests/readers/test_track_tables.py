"""Tables of tracks as people have them: without names, of TrackMate, trackpy, R, pandas, polars."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme
from timme.readers import read
from timme.system.ensemble import Ensemble

ROWS = [(0, 5, 1.0, 2.0), (0, 7, 3.0, 4.0), (1, 5, 1.5, 2.5), (1, 7, 3.5, 4.5)]
NAMES = ("frame", "particle", "x", "y")
EXPECTED = [[[1.0, 2.0], [3.0, 4.0]], [[1.5, 2.5], [3.5, 4.5]]]

# As TrackMate 7 writes "spots": names, long names, short names, units, then one spot a row.
TRACKMATE = """\
LABEL,ID,TRACK_ID,QUALITY,POSITION_X,POSITION_Y,POSITION_Z,POSITION_T,FRAME,RADIUS,VISIBILITY
Label,Spot ID,Track ID,Quality,X,Y,Z,T,Frame,Radius,Visibility
Label,Spot ID,Track ID,Quality,X,Y,Z,T,Frame,R,Visibility
,,,(quality),(micron),(micron),(micron),(sec),,(micron),
ID1024,1024,5,7.1,1.0,2.0,0.0,0.0,0,0.5,1
ID1025,1025,7,6.9,3.0,4.0,0.0,0.0,0,0.5,1
ID1026,1026,,2.0,9.0,9.0,0.0,0.0,0,0.5,1
ID1030,1030,5,7.0,1.5,2.5,0.0,0.1,1,0.5,1
ID1031,1031,7,7.2,3.5,4.5,0.0,0.1,1,0.5,1
"""


def written(folder: Path, text: str | bytes, name: str = "a.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def lines(separator: str = ",", header: bool = False) -> str:
    rows = [NAMES, *ROWS] if header else ROWS
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


def check(ensemble: Ensemble, particles: tuple[Any, ...] = (5, 7)) -> None:
    np.testing.assert_array_equal(ensemble.frames.read(0, ensemble.n_snapshots)[0], EXPECTED)
    named = ensemble.atoms.names if isinstance(particles[0], str) else ensemble.atoms.resids
    assert named.tolist() == list(particles)


@pytest.mark.parametrize("separator", [",", ";", "\t", " ", "   "])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("suffix", [".txt", ".dat", ".csv", ".tsv", ".txt.gz"])
def test_columns_by_number_need_no_header_and_never_take_it_for_data(
    tmp_path: Path, separator: str, header: bool, suffix: str
) -> None:
    import gzip

    text = lines(separator, header).encode()
    path = written(tmp_path, gzip.compress(text) if "gz" in suffix else text, f"a{suffix}")
    check(read(path, columns="1,2,3,4"))
    check(read(path, columns=[1, 2, 3, 4]))


@pytest.mark.parametrize("suffix", [".txt", ".dat"])
def test_names_are_found_in_plain_text_too(tmp_path: Path, suffix: str) -> None:
    check(read(written(tmp_path, lines(" ", header=True), f"a{suffix}")))


def test_numbers_count_the_columns_in_any_order(tmp_path: Path) -> None:
    text = "".join(f"{y} {x} q {particle} {frame}\n" for frame, particle, x, y in ROWS)
    check(read(written(tmp_path, text, "a.txt"), columns="5,4,2,1"))


def test_a_first_row_of_the_numbers_of_the_columns_is_data(tmp_path: Path) -> None:
    path = written(tmp_path, "1,2,3,4\n2,2,5,6\n")
    found = read(path, columns="1,2,3,4").frames.read(0, 2)[0]
    assert found.tolist() == [[[3.0, 4.0]], [[5.0, 6.0]]]


def test_a_first_row_with_a_name_of_a_particle_is_data(tmp_path: Path) -> None:
    text = lines().replace(",5,", ",bus,").replace(",7,", ",car,")
    check(read(written(tmp_path, text), columns="1,2,3,4"), ("bus", "car"))


def test_a_table_without_names_is_not_guessed_at(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"first row holds numbers .*\(columns='1,2,3,4'\)$"):
        read(written(tmp_path, lines() + "2,5,1.0,2.0\n"))
    with pytest.raises(ValueError, match=r"no names of columns"):
        read(written(tmp_path, lines()), columns="frame,particle,x,y")


def test_a_matrix_in_a_text_file_is_told_where_it_belongs(tmp_path: Path) -> None:
    path = tmp_path / "sigma.txt"
    np.savetxt(path, np.ones((6, 6)) - np.eye(6))
    with pytest.raises(ValueError, match=r"a matrix of σ, save it with numpy\.save as \.npy"):
        timme.analyse(path)


def test_names_in_a_comment_are_taken_as_numpy_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    np.savetxt(path, ROWS, header="made by hand\nframe particle x y")
    check(read(path))


def test_comments_are_left_out(tmp_path: Path) -> None:
    text = "# a microscope\n" + lines(header=True) + "# the end\n"
    check(read(written(tmp_path, text)))
    check(read(written(tmp_path, text), columns="1,2,3,4"))


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("header", [True, False])
def test_decimal_commas_are_understood(tmp_path: Path, separator: str, header: bool) -> None:
    path = written(tmp_path, lines(separator, header).replace(".", ","), "a.txt")
    check(read(path, columns="1,2,3,4"))


def test_decimal_commas_beside_a_column_of_text_with_points_are_understood(tmp_path: Path) -> None:
    text = lines(";", header=True).replace(".", ",").replace("\n", ";no. 1\n")
    check(read(written(tmp_path, text)))


def test_points_and_commas_at_once_are_refused(tmp_path: Path) -> None:
    text = lines(";", header=True) + "2;5;1,5;2.5\n"
    with pytest.raises(ValueError, match="row 5: numbers have decimal points and decimal commas"):
        read(written(tmp_path, text))


def test_decimal_commas_between_commas_are_refused(tmp_path: Path) -> None:
    text = "frame,particle,x,y\n" + "".join(
        f"{frame},{particle},{x},{y}\n".replace(".", ",") for frame, particle, x, y in ROWS
    )
    with pytest.raises(ValueError, match="names of 4 columns, but the first row has 6"):
        read(written(tmp_path, text))


def test_a_value_missing_between_blanks_does_not_move_the_others(tmp_path: Path) -> None:
    text = "frame particle x y quality\n0 5 1.0 2.0 9\n1 5 1.5 8\n"
    with pytest.raises(ValueError, match="row 2: 5 columns are needed, got 4"):
        read(written(tmp_path, text, "a.txt"))


def test_row_names_of_r_are_not_taken_for_the_frame(tmp_path: Path) -> None:
    rows = [f'"{n}" {f} "car {p}" {x} {y}' for n, (f, p, x, y) in enumerate(ROWS, start=1)]
    text = "\n".join(['"frame" "particle" "x" "y"', *rows])
    check(read(written(tmp_path, text, "a.txt")), ("car 5", "car 7"))


def test_an_index_that_pandas_wrote_is_passed_over(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "a.csv"
    pandas.DataFrame(ROWS, columns=NAMES).to_csv(path)
    check(read(path))


def test_quoted_names_marks_and_capital_letters_do_not_matter(tmp_path: Path) -> None:
    text = '"Frame","Particle","X","Y"\n' + lines()
    check(read(written(tmp_path, b"\xef\xbb\xbf" + text.encode())))
    check(read(written(tmp_path, text.encode("utf-16"))))


def test_a_separator_within_quotes_separates_nothing(tmp_path: Path) -> None:
    rows = [f'{f},"car, {p}",{x},{y}' for f, p, x, y in ROWS]
    path = written(tmp_path, "\n".join(["frame,particle,x,y", *rows]))
    check(read(path), ("car, 5", "car, 7"))


def test_ids_too_long_for_a_number_stay_apart(tmp_path: Path) -> None:
    text = lines(header=True).replace(",5,", ",9007199254740992,")
    path = written(tmp_path, text.replace(",7,", ",9007199254740993,"))
    check(read(path), ("9007199254740992", "9007199254740993"))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("1,2,3,9", r"no column 9: the table has 4, counted from 1"),
        ("1,2", r"a frame, a particle and one or more coordinates, got 1, 2"),
        ("1,2,3,3", r"different columns"),
        ("0,1,2,3", r"no names of columns|no column"),
    ],
)
def test_columns_that_are_not_there_are_refused(tmp_path: Path, columns: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(written(tmp_path, lines()), columns=columns)


def test_the_spots_of_trackmate_are_read_with_their_unit(tmp_path: Path) -> None:
    ensemble = read(written(tmp_path, TRACKMATE))
    check(ensemble)
    assert ensemble.unit == "µm"
    assert "left out 1 of 5 spots that belong to no track" in ensemble.notes


@pytest.mark.parametrize(
    ("change", "unit"),
    [
        (lambda text: text.replace("(micron)", "(pixel)"), "px"),
        (lambda text: text.replace("(micron)", "(µm)"), "µm"),
        (lambda text: text.replace("(micron)", "(nm)"), "nm"),
        # Earlier versions write one row of names, and "None" for no track.
        (lambda text: "\n".join([text.split("\n")[0], *text.split("\n")[4:]]), ""),
        (lambda text: text.replace("1026,,", "1026,None,"), "µm"),
    ],
    ids=["pixel", "µm", "nm", "one row of names", "None"],
)
def test_trackmate_may_have_other_units_and_rows(tmp_path: Path, change: Any, unit: str) -> None:
    ensemble = read(written(tmp_path, change(TRACKMATE)))
    check(ensemble)
    assert ensemble.unit == unit


def test_trackmate_in_space_keeps_its_third_coordinate(tmp_path: Path) -> None:
    path = written(tmp_path, TRACKMATE.replace("4.5,0.0", "4.5,1.0"))
    assert read(path).n_dimensions == 3


def test_columns_of_trackmate_may_be_given(tmp_path: Path) -> None:
    path = written(tmp_path, TRACKMATE)
    check(read(path, columns="FRAME,TRACK_ID,POSITION_X,POSITION_Y"))
    check(read(path, columns="9,3,5,6"))


def test_spots_that_were_never_linked_are_refused(tmp_path: Path) -> None:
    text = TRACKMATE.replace(",5,7.", ",,7.").replace(",7,6.9", ",,6.9").replace(",7,7.2", ",,7.2")
    with pytest.raises(ValueError, match="no spot belongs to a track"):
        read(written(tmp_path, text))


def test_a_data_frame_may_be_indexed_by_frame() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, columns=NAMES)
    check(read(frame.set_index("frame")))
    check(read(frame.set_index(["frame", "particle"])))
    # trackpy leaves the frame in the columns and in the index.
    check(read(frame.set_index("frame", drop=False)))
    check(read(frame, columns="1,2,3,4"))


@pytest.mark.parametrize("kind", [str, "string", "category", object])
def test_particles_of_a_data_frame_may_have_names(kind: Any) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, columns=NAMES)
    frame["particle"] = frame["particle"].map({5: "bus", 7: "car"}).astype(kind)
    check(read(frame), ("bus", "car"))


def test_a_missing_name_in_a_data_frame_is_refused() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, columns=NAMES)
    frame["particle"] = pandas.array(["bus", "car", None, "car"], dtype="string")
    with pytest.raises(ValueError, match="row 2: every row needs a frame and a particle"):
        read(frame)


def test_a_data_frame_of_trackmate_is_understood(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    ensemble = read(pandas.read_csv(written(tmp_path, TRACKMATE), skiprows=[1, 2, 3]))
    check(ensemble)
    assert "left out 1 of 5 spots that belong to no track" in ensemble.notes


@pytest.mark.parametrize("doubled", NAMES)
@pytest.mark.parametrize("kind", ["DataFrame", "a.csv"])
def test_a_name_that_several_columns_have_is_asked_for_by_number(
    tmp_path: Path, doubled: str, kind: str
) -> None:
    """Whichever of them were taken, or all as so many dimensions, nobody would know."""
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame([(*row, 7.0) for row in ROWS], columns=[*NAMES, doubled])
    source: Any = table
    if kind != "DataFrame":
        source = tmp_path / kind
        table.to_csv(source, index=False)
    with pytest.raises(ValueError, match=rf"{kind}: there are 2 columns '{doubled}': .*by number"):
        read(source)
    check(read(source, columns="1,2,3,4"))
    with pytest.raises(ValueError, match=r"are different columns, got frame, particle, x, x"):
        read(source if doubled == "y" else table.iloc[:, :4], columns="frame,particle,x,x")


def test_polars_gives_the_same() -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.DataFrame(ROWS, schema=list(NAMES), orient="row")
    check(read(frame))
    check(read(frame, columns="1,2,3,4"))
    named = frame.with_columns(polars.Series("particle", ["bus", "car", "bus", "car"]))
    check(read(named), ("bus", "car"))
    gapped = frame.with_columns(polars.Series("y", [2.0, None, 2.5, 4.5]))
    assert "1 rows without coordinates count as not seen" in read(gapped).notes
    check(read(frame.lazy()))


def test_the_recipe_takes_columns_as_the_command_line_does(tmp_path: Path) -> None:
    path = written(tmp_path, lines(" ") + "2 5 2.5 1.0\n2 7 2.5 1.5\n", "a.dat")
    made = timme.analyse(path, columns="1,2,3,4")
    assert made.hierarchy.n_sites == 2
    assert made.recipe.options["columns"] == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    "names",
    [("1_1", "11"), ("01", "1"), ("1.1", "1.10"), ("1e1", "10"), ("001", "002"), ("1", "+1")],
)
@pytest.mark.parametrize("kind", ["file", "frame"])
def test_names_that_look_like_numbers_stay_names(
    tmp_path: Path, names: tuple[str, str], kind: str
) -> None:
    rows = [(frame, name, frame + 0.5, 2.0) for frame in range(3) for name in names]
    if kind == "frame":
        pd = pytest.importorskip("pandas")
        ensemble = read(pd.DataFrame(rows, columns=["frame", "particle", "x", "y"]))
    else:
        text = "".join(",".join(map(str, row)) + "\n" for row in rows)
        ensemble = read(written(tmp_path, text), columns="1,2,3,4")
    assert ensemble.atoms.names.tolist() == sorted(names)


@pytest.mark.parametrize("style", ["{:d}", "{:d}.0", "{:.6e}", "{:d}."])
def test_whole_numbers_are_numbers_however_they_are_written(tmp_path: Path, style: str) -> None:
    text = "".join(f"{frame},{style.format(k)},1.0,2.0\n" for frame in range(3) for k in (5, 70))
    ensemble = read(written(tmp_path, text), columns="1,2,3,4")
    assert ensemble.atoms.resids.tolist() == [5, 70]


def test_an_array_that_pandas_wrote_has_a_header_of_numbers(tmp_path: Path) -> None:
    array = np.array([[frame, k, frame + 0.5, 2.0 * k] for frame in range(3) for k in (5, 7)])
    path = tmp_path / "a.csv"
    pytest.importorskip("pandas").DataFrame(array).to_csv(path)
    ensemble = read(path, columns="2,3,4,5")
    assert ensemble.atoms.resids.tolist() == [5, 7]
    np.testing.assert_array_equal(ensemble.coordinates()[:, 0], [[0.5, 10], [1.5, 10], [2.5, 10]])


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_times_that_differ_by_rounding_are_one_frame(tmp_path: Path, kind: Any) -> None:
    rows = [(0.1 * n, 1, n, 0) for n in range(8)]
    rows += [(n / 10, 2, n, 1) for n in range(8)]
    rows += [(float(kind(n / 10)), 3, n, 2) for n in range(8)]
    text = "".join(",".join(map(repr, row)) + "\n" for row in rows)
    ensemble = read(written(tmp_path, text), columns="1,2,3,4")
    assert ensemble.n_snapshots == 8
    assert not np.isnan(ensemble.coordinates()).any()
    assert any("times differ from others by rounding only" in note for note in ensemble.notes)


@pytest.mark.parametrize(
    "times",
    [[0, 1, 2, 5_000_000, 50_000_000], [0.5, 0.5000005, 0.500001], [0.001, 0.002, 1000, 1000.001]],
)
def test_times_that_differ_are_never_merged(tmp_path: Path, times: list[float]) -> None:
    text = "".join(f"{time!r},{k},1.0,2.0\n" for time in times for k in (1, 2))
    assert read(written(tmp_path, text), columns="1,2,3,4").n_snapshots == len(times)


def test_names_of_particles_may_begin_with_a_hash(tmp_path: Path) -> None:
    rows = [f"#{k},{frame},{frame + 0.5},2.0" for frame in range(3) for k in (5, 7)]
    ensemble = read(written(tmp_path, "\n".join(["particle,frame,x,y", *rows])))
    assert ensemble.atoms.names.tolist() == ["#5", "#7"]
    assert ensemble.n_snapshots == 3


def test_comments_between_rows_are_counted(tmp_path: Path) -> None:
    text = lines(header=True) + "#1,9,0.0,0.0\n# lost here\n"
    ensemble = read(written(tmp_path, text))
    check(ensemble)
    assert "left out 2 lines that begin with #, as comments" in ensemble.notes


def test_a_title_is_told_from_names_and_numbers(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"the first row, 'My experiment 2024', .*begin it with #"):
        read(written(tmp_path, "My experiment 2024\n" + lines()))


@pytest.mark.parametrize("header", [False, True])
def test_numbers_of_columns_are_counted_from_one(tmp_path: Path, header: bool) -> None:
    with pytest.raises(ValueError, match="counted from 1"):
        read(written(tmp_path, lines(header=header)), columns="0,1,2,3")


def test_numbers_that_are_labels_of_other_columns_are_not_guessed_at() -> None:
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame([(9, *row) for row in ROWS])
    with pytest.raises(ValueError, match=r"columns 1, 2, 3, 4 may be labels, or places"):
        read(table, columns=[1, 2, 3, 4])
    check(read(table[[1, 2, 3, 4]], columns=[1, 2, 3, 4]))
    check(read(pd.DataFrame(ROWS), columns=[0, 1, 2, 3]))
    check(read(pd.DataFrame(ROWS), columns=[1, 2, 3, 4]))


@pytest.mark.parametrize("name", ["", ";a.b"])
def test_a_note_says_that_commas_are_decimal_signs(tmp_path: Path, name: str) -> None:
    text = "".join(f"{frame};{k};1,234;2,000{name}\n" for frame in range(3) for k in (5, 7))
    ensemble = read(written(tmp_path, text), columns="1,2,3,4")
    assert ensemble.coordinates()[0, 0].tolist() == [1.234, 2.0]
    assert any("1,234 is 1.234" in note for note in ensemble.notes)
    plain = read(written(tmp_path, text.replace(",", ".")), columns="1,2,3,4")
    assert not any("commas" in note for note in plain.notes)


# ---- what else a table may mean ------------------------------------------------------------------


def both(folder: Path, text: str) -> list[Ensemble]:
    """The same table from a file and from a DataFrame."""
    import pandas as pd

    path = written(folder, text)
    return [read(path), read(pd.read_csv(path))]


@pytest.mark.parametrize(
    ("names", "taken", "said"),
    [
        ("frame,particle,X,x,y", (3, 4), "'x' is taken, and not 'X'"),
        ("frame,particle,x,X,y", (2, 4), "'x' is taken, and not 'X'"),
        ("frame,particle,x (µm),x,y", (3, 4), r"'x' is taken, and not 'x \(µm\)'"),
        ("frame,particle,X,x [um],y [um]", (2, 4), r"'X' is taken, and not 'x \[um\]'"),
        ("Frame,frame,particle,x,y", (3, 4), "'frame' is taken, and not 'Frame'"),
    ],
)
def test_exact_names_come_first_and_a_choice_is_told(
    tmp_path: Path, names: str, taken: tuple[int, ...], said: str
) -> None:
    rows = [(t, p, p, 10 * t + p, p * t + 1) for t in (0, 1) for p in (0, 1)]
    if "Frame" in names:
        rows = [(9 + t, t, p, 10 * t + p, p * t + 1) for t in (0, 1) for p in (0, 1)]
    text = "\n".join([names, *(",".join(map(str, row)) for row in rows)]) + "\n"
    expected = np.array([[row[place] for place in taken] for row in rows]).reshape(2, 2, 2)
    for ensemble in both(tmp_path, text):
        np.testing.assert_array_equal(ensemble.coordinates(), expected)
        assert any(re.match(f"{said}: columns=", note) for note in ensemble.notes), ensemble.notes


def test_coordinates_in_two_units_are_a_choice(tmp_path: Path) -> None:
    text = "frame,particle,x [px],y [px],x [um],y [um]\n0,1,10,20,1,2\n0,2,30,40,3,4\n"
    for ensemble in both(tmp_path, text):
        assert ensemble.coordinates().tolist() == [[[10, 20], [30, 40]]]
        assert ensemble.unit == "px"
        assert "'x [px]', 'y [px]' are taken, and not 'x [um]', 'y [um]'" in " ".join(
            ensemble.notes
        )
    chosen = read(tmp_path / "a.csv", columns="frame,particle,x [um],y [um]")
    assert chosen.unit == "µm"
    assert not any("taken" in note for note in chosen.notes)


@pytest.mark.parametrize("separator", [",", ";", "\t", " "])
def test_a_row_with_fewer_columns_than_names_is_refused(tmp_path: Path, separator: str) -> None:
    rows = ["frame,particle,x,y,mass", "0,5,1.5,2.5,7", "0,6,12.3,7", "1,5,1.5,3.5,7"]
    text = "\n".join(row.replace(",", separator) for row in rows) + "\n"
    with pytest.raises(ValueError, match="row 2: 5 columns are needed, got 4"):
        read(written(tmp_path, text))


def test_separators_at_the_end_of_lines_are_no_columns(tmp_path: Path) -> None:
    for text in (
        lines(header=True).replace("y\n", "y,\n"),
        lines(header=True).replace("\n", ",\n"),
        lines(header=True).replace("\n", ",,\n").replace("y,,", "y"),
    ):
        check(read(written(tmp_path, text)))


@pytest.mark.parametrize("start", [0, 1])
def test_a_first_row_that_may_number_the_columns_is_told(tmp_path: Path, start: int) -> None:
    row = ",".join(str(start + place) for place in range(4))
    found = read(written(tmp_path, f"{row}\n{lines()}"), columns="1,2,3,4")
    assert any("first row" in note and "read as data" in note for note in found.notes)
    assert not any(
        "first row" in note for note in read(written(tmp_path, lines()), columns="1,2,3,4").notes
    )


def test_times_far_from_zero_stay_apart_where_particles_are_seen_at_each() -> None:
    import pandas as pd

    times = 1.7e9 + np.arange(10) * 0.001 + 3600 * (np.arange(10) > 4)
    rows = [(time, p, p + t * 0.1, t) for t, time in enumerate(times) for p in range(3)]
    table = pd.DataFrame(rows, columns=[*NAMES])
    ensemble = read(table)
    assert ensemble.n_snapshots == 10
    assert not any("rounding" in note for note in ensemble.notes)
    table.loc[len(table)] = [times[1], 2, 0.0, 0.0]
    with pytest.raises(ValueError, match=r"particle 2 is in frame 1700000000\.001 twice"):
        read(table)
