"""Bad input: one line that names the place and the remedy, exit code 2, and nothing written."""

from __future__ import annotations

import json
import os
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme as library
from tests.cli.conftest import Refused, Run, contents
from tests.cli.ensembles import moved, places, shaken, swinging, wandering, write_tracks
from tests.readers.builders import (
    Record,
    as_mmcif,
    atom,
    pdb_text,
    peptide,
    trajectory_positions,
    waters,
    write_pdb,
    write_trajectory,
)
from timme.cli import main

Build = Callable[[Path], list[object]]
CASES: list[Any] = []


def case(*expected: str) -> Callable[[Build], Build]:
    """Register a builder of bad input, and what must be said about it."""

    def register(build: Build) -> Build:
        CASES.append(pytest.param(build, expected, id=build.__name__))
        return build

    return register


@pytest.mark.parametrize(("build", "expected"), CASES)
def test_bad_input_is_refused_in_one_line_that_names_it(
    folder: Path, refused: Refused, build: Build, expected: tuple[str, ...]
) -> None:
    message = refused("run", *build(folder))
    for text in expected:
        assert text in message


# ---- snapshots ---------------------------------------------------------------------------------


@case("one.pdb", "at least 2 snapshots", "got 1", "read more models or frames")
def one_snapshot(folder: Path) -> list[object]:
    return [write_pdb(folder / "one.pdb", [peptide(n_residues=6)])]


@case("one.npy", "at least 2 snapshots", "got 1")
def one_snapshot_of_an_array(folder: Path) -> list[object]:
    np.save(folder / "one.npy", np.zeros((1, 5, 3)))
    return [folder / "one.npy"]


@case("five.pdb", "at least 2 snapshots", "got 1")
def one_snapshot_left_by_a_stride(folder: Path) -> list[object]:
    return [write_pdb(folder / "five.pdb", shaken(peptide())), "--step", 10]


@case("one.csv", "at least 2 snapshots", "got 1")
def one_snapshot_of_tracks(folder: Path) -> list[object]:
    return [write_tracks(folder / "one.csv", wandering(1, 5))]


@case("five.pdb", "zero snapshots", "of 5 with -b 5: ")
def zero_snapshots_left_by_a_start(folder: Path) -> list[object]:
    return [write_pdb(folder / "five.pdb", shaken(peptide())), "-b", 5]


@case("five.pdb", "zero snapshots", "-b 3, -e 2: ")
def zero_snapshots_between_start_and_stop(folder: Path) -> list[object]:
    return [write_pdb(folder / "five.pdb", shaken(peptide())), "-b", 3, "-e", 2]


@case("top.pdb", "zero snapshots are left of 5 with -b 1e3ps, -e 2ns: choose others")
def zero_snapshots_left_by_times(folder: Path) -> list[object]:
    positions = trajectory_positions(5, 12)
    path = write_trajectory(folder / "long.xtc", positions)
    return [write_pdb(folder / "top.pdb", [waters()]), path, "-b", "1e3ps", "-e", "2ns"]


@case("--box cannot be used: box lengths must be 0 or more, not negative")
def a_box_of_negative_length(folder: Path) -> list[object]:
    return [write_tracks(folder / "a.csv", wandering(9, 5)), "--box", "-5,5,5"]


@case("-dt must be at least 1, got 0")
def a_step_of_zero(folder: Path) -> list[object]:
    return [write_pdb(folder / "five.pdb", shaken(peptide())), "-dt", 0]


@case("zero.npy", "(0, 5, 3)")
def zero_snapshots_of_an_array(folder: Path) -> list[object]:
    np.save(folder / "zero.npy", np.zeros((0, 5, 3)))
    return [folder / "zero.npy"]


# ---- files -------------------------------------------------------------------------------------


@case("there is no such file", "lost.pdb", "check the name")
def a_file_that_is_not_there(folder: Path) -> list[object]:
    return [folder / "lost.pdb"]


@case("lost.xtc", "there is no such file")
def a_trajectory_that_is_not_there(folder: Path) -> list[object]:
    return [write_pdb(folder / "top.pdb", [waters()]), folder / "lost.xtc"]


@pytest.mark.parametrize(
    "name",
    ["e.pdb", "e.cif", "e.pdb.gz", "e.npy", "e.csv", "e.gro", "e.xyz", "e.dcd", "e.mtx", "e.json"],
)
@pytest.mark.parametrize("data", [b"", b"\n \r\n"], ids=["nothing", "spaces"])
def test_an_empty_file_is_refused(folder: Path, refused: Refused, name: str, data: bytes) -> None:
    (folder / name).write_bytes(data)
    assert name in refused("run", folder / name)


def test_an_empty_trajectory_is_refused(folder: Path, refused: Refused) -> None:
    top = write_pdb(folder / "top.pdb", [waters()])
    (folder / "e.xtc").write_bytes(b"")
    assert "e.xtc: the file is empty" in refused("run", top, folder / "e.xtc")


@pytest.mark.parametrize("name", ["models.pdb", "models", "a.npy", "a.json", "a.csv"])
def test_a_directory_is_refused(folder: Path, refused: Refused, name: str) -> None:
    (folder / name).mkdir()
    message = refused("run", folder / name)
    assert name in message
    assert "directory" in message
    assert "name a file in it" in message


@case("lost.pdb")
def a_name_with_a_line_end(folder: Path) -> list[object]:
    return [folder / "two\nlines" / "lost.pdb"]


@case("w.txt")
def weights_in_a_file_with_a_line_end_in_its_name(folder: Path) -> list[object]:
    return [write_pdb(folder / "a.pdb", shaken(peptide())), "--weights", "two\nlines/w.txt"]


@case("words.pdb", "no atoms", "ATOM records")
def a_pdb_file_without_atoms(folder: Path) -> list[object]:
    (folder / "words.pdb").write_text("REMARK nothing here\nEND\n")
    return [folder / "words.pdb"]


@case("page.cif", "not a valid mmCIF file")
def a_page_in_place_of_an_mmcif_file(folder: Path) -> list[object]:
    (folder / "page.cif").write_text("<html>404</html>")
    return [folder / "page.cif"]


@case("notes.txt")
def a_file_of_an_unknown_kind(folder: Path) -> list[object]:
    (folder / "notes.txt").write_text("hello\n")
    return [folder / "notes.txt"]


@case("a.pdb.gz", "damaged or cut off", "download it again")
def a_compressed_file_that_is_cut_off(folder: Path) -> list[object]:
    import gzip

    data = gzip.compress(pdb_text(shaken(peptide())).encode())
    (folder / "a.pdb.gz").write_bytes(data[:-20])
    return [folder / "a.pdb.gz"]


# ---- atoms of models ---------------------------------------------------------------------------


def differing() -> list[list[Record]]:
    models = shaken(peptide(n_residues=4), 3)
    return [models[0], models[1], [record for record in models[2] if record[:5:4] != ("CB", 3)]]


@case("a.pdb: model 3", "atom A/ALA 3/CB of", "model 1 is not there", "--common-atoms")
def models_that_differ(folder: Path) -> list[object]:
    return [write_pdb(folder / "a.pdb", differing())]


@case("a.cif: model 3", "A/ALA 3/CB", "--common-atoms")
def models_that_differ_in_mmcif(folder: Path) -> list[object]:
    return [as_mmcif(folder / "a.cif", pdb_text(differing()))]


@case("model 2", "A/ALA 2/CG of", "--common-atoms")
def models_that_have_more_atoms_later(folder: Path) -> list[object]:
    more = [*peptide(0.1), atom("CG", 2, (9.0, 9.0, 9.0))]
    return [write_pdb(folder / "a.pdb", [peptide(), more])]


@case("share no atoms")
def models_that_share_nothing(folder: Path) -> list[object]:
    models = [peptide(), peptide(chain="B")]
    return [write_pdb(folder / "a.pdb", models), "--common-atoms"]


@case("a.pdb: model 1", "A/ALA 1/CA", "is there twice")
def duplicate_atoms(folder: Path) -> list[object]:
    twice = [*peptide(), atom("CA", 1, (0.0, 5.0, 5.0))]
    return [write_pdb(folder / "a.pdb", [twice, twice])]


@case("a.pdb: model 2", "A/ALA 1/CA", "is there twice")
def duplicate_atoms_in_a_later_model(folder: Path) -> list[object]:
    twice = [*peptide(), atom("CA", 1, (0.0, 5.0, 5.0))]
    return [write_pdb(folder / "a.pdb", [peptide(), twice])]


@pytest.mark.parametrize("text", ["********", "     nan", "     inf", "        "])
def test_coordinates_that_are_no_numbers_are_refused_by_line(
    folder: Path, refused: Refused, text: str
) -> None:
    lines = pdb_text(shaken(peptide(), 3)).split("\n")
    place = next(k for k, line in enumerate(lines) if line.startswith("MODEL        2")) + 2
    lines[place] = lines[place][:38] + text + lines[place][46:]
    (folder / "a.pdb").write_text("\n".join(lines))
    message = refused("run", folder / "a.pdb")
    for part in ("a.pdb", f"line {place + 1}", "model 2", "atom CA", "ALA 1", "repair"):
        assert part in message


@case("a.cif", "model 2", "A/ALA 1/CA", "coordinates must be numbers")
def a_coordinate_of_an_mmcif_file_that_is_unknown(folder: Path) -> list[object]:
    models = [moved(peptide(), places(peptide())), peptide(0.5)]
    models[1][1] = (*models[1][1][:6], 77.777, *models[1][1][7:])
    path = as_mmcif(folder / "a.cif", pdb_text(models))
    text = path.read_text()
    assert text.count("77.777") == 1
    path.write_text(text.replace("77.777", "?"))
    return [path]


# ---- selections --------------------------------------------------------------------------------


def protein(folder: Path) -> Path:
    return write_pdb(folder / "a.pdb", swinging())


@case("the selection 'name XX' matches none of the 120 atoms", "CB", "ALA")
def a_selection_of_nothing(folder: Path) -> list[object]:
    return [protein(folder), "-s", "name XX"]


@case("the selection 'water-oxygen' matches none")
def a_preset_of_nothing(folder: Path) -> list[object]:
    return [protein(folder), "-s", "water-oxygen"]


@pytest.mark.parametrize(
    "text", ["name", "resid 1 and (name CA", "foo bar", "resid a:b", "", " ", "name CA or"]
)
def test_a_selection_that_is_not_understood_is_refused(
    folder: Path, refused: Refused, text: str
) -> None:
    message = refused("run", protein(folder), "-s", text)
    assert repr(text) in message
    assert "MDAnalysis" in message or "matches none" in message


@case("'name XX'")
def shown_sites_that_are_none(folder: Path) -> list[object]:
    return [protein(folder), "--show", "name XX"]


@case("at least 2", "got 1")
def a_selection_of_one_site(folder: Path) -> list[object]:
    return [protein(folder), "-s", "name CA and resid 1"]


# ---- trajectories ------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["xtc", "trr", "dcd", "nc", "xyz", "lammpstrj"])
def test_a_trajectory_of_another_size_is_refused(
    folder: Path, refused: Refused, suffix: str
) -> None:
    top = write_pdb(folder / "top.pdb", [waters(4)])
    if suffix == "lammpstrj":
        path = folder / "a.lammpstrj"
        frame = "ITEM: TIMESTEP\n{}\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp pp pp\n"
        frame += "0 9\n0 9\n0 9\nITEM: ATOMS id type x y z\n1 1 1 1 1\n2 1 2 2 2\n"
        path.write_text(frame.format(0) + frame.format(1))
    else:
        path = write_trajectory(folder / f"a.{suffix}", trajectory_positions(4, 15))
    message = refused("run", top, path)
    assert f"a.{suffix}" in message
    assert "top.pdb has 12" in message or suffix == "lammpstrj"


@pytest.mark.parametrize("suffix", ["xtc", "trr", "dcd"])
@pytest.mark.parametrize("cut", [1, 60])
def test_a_truncated_trajectory_is_refused_unless_allowed(
    folder: Path, refused: Refused, timme: Run, suffix: str, cut: int, without_figures: None
) -> None:
    del without_figures
    top = write_pdb(folder / "top.pdb", [waters(4)])
    path = write_trajectory(folder / f"a.{suffix}", trajectory_positions(6, 12))
    path.write_bytes(path.read_bytes()[:-cut])
    message = refused("run", top, path)
    for part in (f"a.{suffix}", "frame 6", "--allow-truncated", "5 whole frames"):
        assert part in message
    found = timme("run", top, path, "--allow-truncated", "-o", "out")
    assert found.code == 0
    assert "snapshots  5" in found.out
    assert "note: " in found.out
    assert "the 5 whole frames before it are used" in found.out
    assert sorted(path.name for path in folder.iterdir()) == [f"a.{suffix}", "out", "top.pdb"]


@case("a.xtc", "no whole frame")
def a_trajectory_that_is_none(folder: Path) -> list[object]:
    (folder / "a.xtc").write_bytes(b"not a trajectory" * 20)
    return [write_pdb(folder / "top.pdb", [waters(4)]), folder / "a.xtc", "--allow-truncated"]


@case("a.xtc", "topology")
def a_trajectory_before_its_topology(folder: Path) -> list[object]:
    frames = write_trajectory(folder / "a.xtc", trajectory_positions(4, 12))
    return [frames, write_pdb(folder / "top.pdb", shaken(waters(4)))]


@case("a.dcd", "snapshot 3", "A/HOH 2/H1", "repair or leave out")
def nan_in_a_trajectory(folder: Path) -> list[object]:
    positions = trajectory_positions(5, 12)
    positions[2, 4, 1] = np.nan
    top = write_pdb(folder / "top.pdb", [waters(4)])
    return [top, write_trajectory(folder / "a.dcd", positions)]


# ---- arrays and matrices -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((4, 5, 3), complex),
        np.zeros((4, 5, 3), "U3"),
        np.zeros(5),
        np.zeros((2, 2, 2, 2)),
        np.zeros((4, 0, 3)),
        np.zeros((4, 5, 0)),
        np.zeros((4, 1, 3)),
        np.zeros((4, 5)),
        np.zeros((0, 0)),
        np.zeros((4, 4), complex),
        -np.ones((4, 4)),
        np.triu(np.ones((4, 4))),
        np.array(7.0),
        np.zeros((4, 4), [("x", float)]),
    ],
    ids=lambda array: f"{array.dtype.kind}{array.shape}",
)
def test_arrays_that_are_no_snapshots_are_refused(
    folder: Path, refused: Refused, array: Any
) -> None:
    np.save(folder / "bad.npy", array)
    assert "bad.npy" in refused("run", folder / "bad.npy")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_an_array_with_missing_values_names_frame_and_site(
    folder: Path, refused: Refused, value: float
) -> None:
    array = wandering()
    array[3, 2, 1] = value
    np.save(folder / "bad.npy", array)
    message = refused("run", folder / "bad.npy")
    assert "bad.npy" in message
    assert "snapshot 4" in message or "frame 4" in message
    assert "site 3" in message


def test_a_pickled_ragged_array_is_refused_and_never_run(folder: Path, refused: Refused) -> None:
    ragged = np.empty(2, dtype=object)
    ragged[:] = [[1.0, 2.0], [3.0]]
    np.save(folder / "bad.npy", ragged, allow_pickle=True)
    message = refused("run", folder / "bad.npy")
    assert "bad.npy: not an array of numbers" in message
    assert "save it with numpy.save as float" in message


def test_a_bare_pickle_is_refused(folder: Path, refused: Refused) -> None:
    (folder / "bad.npy").write_bytes(pickle.dumps([1, 2, 3]))
    assert "bad.npy: not an array of numbers" in refused("run", folder / "bad.npy")


@case("bad.npy")
def an_array_that_is_cut_off(folder: Path) -> list[object]:
    np.save(folder / "bad.npy", wandering())
    (folder / "bad.npy").write_bytes((folder / "bad.npy").read_bytes()[:-100])
    return [folder / "bad.npy"]


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "{}",
        "3",
        '{"pae": 3}',
        '{"pae": [[1, 2], [3]]}',
        '{"pae": [["a", 1], [1, 0]]}',
        '{"pae": [[0, -1], [-1, 0]]}',
        '{"pae": [[0, 1, 2], [1, 0, 2]]}',
        '{"residue1": [1], "residue2": [2], "distance": [1]}',
        '{"residue1": 1, "residue2": 2, "distance": 1}',
        '[{"predicted_aligned_error": null}]',
    ],
)
def test_json_that_is_no_aligned_error_is_refused(
    folder: Path, refused: Refused, text: str
) -> None:
    (folder / "bad.json").write_text(text)
    assert "bad.json" in refused("run", folder / "bad.json")


@pytest.mark.parametrize(
    "text",
    [
        "hello\n",
        "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 2 0.5\n",
        "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 0.5\n",
        "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 0.5\n",
        "%%MatrixMarket matrix coordinate complex symmetric\n3 3 1\n2 1 0.5 0.5\n",
        "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n9 1\n",
        "%%MatrixMarket matrix coordinate real symmetric\n0 0 0\n",
    ],
)
def test_matrix_market_files_that_are_no_sigma_are_refused(
    folder: Path, refused: Refused, text: str
) -> None:
    (folder / "bad.mtx").write_text(text)
    assert "bad.mtx" in refused("run", folder / "bad.mtx")


@case("m.npy", "trajector")
def a_matrix_with_a_trajectory(folder: Path) -> list[object]:
    np.save(folder / "m.npy", 1 - np.eye(4))
    return [folder / "m.npy", folder / "m.npy"]


# ---- tables ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("frame,particle,x,y\n", "no rows"),
        ("when,who,x,y\n0,1,2,3\n", "there is no column 'frame', 'particle'"),
        ("frame,particle,x,y\n0,1,2\n0,2,1,1\n", "row 1"),
        ("frame,particle,x,y\n0,1,2,3\n1,1,2,b\n", "row 2"),
        ("frame,particle,x,y\n0,1,2,3\n0,1,2,3\n", "particle 1 is in frame 0 twice"),
        ("frame,particle,x,y\n0,1,2,inf\n1,1,2,3\n", "row 1"),
        ("frame,particle,x,y\n0,,2,3\n1,1,2,3\n", "row 1"),
        ("frame,particle,x,y\n0,1,2,3\n1,2,2,3\n", "--min-overlap"),
    ],
)
def test_tables_that_are_no_tracks_are_refused(
    folder: Path, refused: Refused, text: str, expected: str
) -> None:
    (folder / "bad.csv").write_text(text)
    message = refused("run", folder / "bad.csv")
    assert expected in message
    assert "bad.csv" in message


@case("columns", "--columns")
def columns_that_are_not_there(folder: Path) -> list[object]:
    return [write_tracks(folder / "a.csv", wandering()), "--columns", "t,id,x,y"]


# ---- choices -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--radius", -1], "radius"),
        (["--radius", "nan"], "radius"),
        (["--radius", 0.1], "larger radius"),
        (["--contacts", 0], "contact"),
        (["--contacts", 99], "99"),
        (["--pairs", "nearest", "--neighbours", 0], "neighbours"),
        (["--pairs", "nearest", "--neighbours", 500], "500"),
        (["--pairs", "sequence", "--neighbours", 0], "neighbours"),
        (["--pairs", "lost.txt"], "--pairs is one of auto, contact, all, "),
        (["--objects", "atoms"], "--objects is one of auto, points, "),
        (["--reach", -1], "at least 0"),
        (["--reduction", "mean"], "--reduction is one of rms, max, centre, got 'mean'"),
        (["--objects", "residues", "--centre", "gravity"], "--centre is one of mass, geometry"),
        (["--objects", "molecules"], "at least 2 molecules are needed, got 1"),
        (["--select", "ca", "--objects", "bodies"], "--objects points"),
        (["--min-bonds", -1], "bonds"),
        (["--min-bonds", 1000], "bonds"),
        (["--min-overlap", 0], "overlap"),
        (["--min-overlap", 1], "overlap"),
        (["--min-overlap", 99], "overlap"),
        (["--length", 0], "length"),
        (["--length", "nan"], "length"),
        (["--length", -1.54], "length"),
        (["--large", 0], "large"),
        (["--large", -3], "large"),
        (["--min-size", 0], "size"),
        (["--min-size", -3], "size"),
        (["--cutoff", "nan"], "cutoff"),
        (["--unit", ""], "unit"),
        (["--box", "20,20"], "box"),
        (["--box", "20,20,-20"], "box"),
        (["--box", "20,20,nan"], "box"),
        (["--weights", "lost.txt"], "lost.txt"),
        (["--weights", "."], "."),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
def test_choices_that_make_no_sense_are_refused(
    folder: Path, refused: Refused, options: list[object], expected: str
) -> None:
    assert expected in refused("run", protein(folder), *options)


@pytest.mark.parametrize(
    "options",
    [
        ["--box", "big"],
        ["--box", ""],
        ["--box", "20;20;20"],
        ["--radius", "ten"],
        ["--palette", "grey"],
        ["--min-bonds", "1.5"],
        ["--colour"],
    ],
    ids=" ".join,
)
def test_options_that_cannot_be_read_are_usage_errors(
    folder: Path, timme: Run, options: list[object]
) -> None:
    path = protein(folder)
    before = contents(folder.parent)
    found = timme("run", path, *options)
    assert found.code == 2
    assert found.err.startswith("timme: error: ")
    assert found.err.count("\n") == 1
    assert str(options[0]) in found.err
    assert "Traceback" not in found.err
    assert contents(folder.parent) == before


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 1 1\n", "8"),
        ("1 1 1 1 1 1 1 -1\n", "weight"),
        ("0 0 0 0 0 0 0 0\n", "weight"),
        ("1 1 1 1 1 1 1 nan\n", "weight"),
        ("1 0 0 0 0 0 0 0\n", "2 snapshots"),
        ("1 1 1 1 1 1 1 a\n", "w.txt: expected one number per snapshot"),
        ("", "weight"),
        ("\xff\xfe", "w.txt"),
    ],
)
def test_weights_that_fit_no_snapshots_are_refused(
    folder: Path, refused: Refused, text: str, expected: str
) -> None:
    (folder / "w.txt").write_bytes(text.encode("latin-1"))
    assert expected in refused("run", protein(folder), "--weights", "w.txt")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("resid 1\n", "own.txt, line 1: expected 'name = selection'"),
        ("# lid\n\na = resid 1\nb =\n", "own.txt, line 4: expected 'name = selection'"),
        ("= resid 1\n", "own.txt, line 1"),
        ("a = resid 1\nb = resid 99\n", "own.txt, line 2"),
        ("a = resid 1\nb = foo\n", "own.txt, line 2"),
        ("a = resid 1\n", "own.txt"),
        ("# nothing\n", "own.txt"),
        ("\xff\xfe\x00", "own.txt: not a text file in UTF-8"),
    ],
)
def test_files_of_objects_that_make_no_sense_are_refused(
    folder: Path, refused: Refused, text: str, expected: str
) -> None:
    (folder / "own.txt").write_bytes(text.encode("latin-1"))
    assert expected in refused("run", protein(folder), "--objects", "own.txt")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 2 3\n", "own.txt, line 1: expected two whole numbers"),
        ("1 2\n# ok\n1 b\n", "own.txt, line 3"),
        ("0 1\n", "own.txt, line 1: objects are 1 to 120"),
        ("1 121\n", "own.txt, line 1: objects are 1 to 120"),
        ("5 5\n", "5"),
        ("", "own.txt"),
    ],
)
def test_files_of_pairs_that_make_no_sense_are_refused(
    folder: Path, refused: Refused, text: str, expected: str
) -> None:
    (folder / "own.txt").write_text(text)
    assert expected in refused("run", protein(folder), "--pairs", "own.txt")


# ---- output ------------------------------------------------------------------------------------


def test_a_folder_that_holds_anything_is_not_touched(folder: Path, refused: Refused) -> None:
    path = protein(folder)
    (folder / "out").mkdir()
    (folder / "out" / "thesis.txt").write_text("mine")
    assert "out exists: choose another folder (-o)" in refused("run", path, "-o", "out")
    message = refused("run", path, "-o", "out", "--overwrite")
    assert "holds no result of timme" in message
    assert "(-o)" in message


def test_a_file_is_not_taken_for_a_folder(folder: Path, refused: Refused) -> None:
    path = protein(folder)
    for options in ([], ["--overwrite"]):
        message = refused("run", path, "-o", path, *options)
        assert "a.pdb" in message
        assert "(-o)" in message


def test_a_folder_below_a_file_is_refused(folder: Path, refused: Refused) -> None:
    path = protein(folder)
    assert "a.pdb" in refused("run", path, "-o", path / "out")


@pytest.mark.skipif(os.name == "nt", reason="needs the links of Unix")
def test_a_link_that_leads_nowhere_is_refused(folder: Path, timme: Run) -> None:
    path = protein(folder)
    (folder / "link").symlink_to("nowhere")
    found = timme("run", path, "-o", "link")
    assert found.code == 2
    assert "link" in found.err
    assert ".link." not in found.err  # no temporary name
    assert sorted(path.name for path in folder.iterdir()) == ["a.pdb", "link"]


def test_an_existing_output_is_refused_before_any_work(folder: Path, refused: Refused) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "x").write_text("")
    assert "out exists" in refused("run", "lost.pdb", "-o", "out")


def test_a_failure_while_writing_leaves_nothing(
    folder: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "scripts")

    monkeypatch.setattr("timme.workflow.folder.write_scripts", fail)
    monkeypatch.setattr("timme.workflow.folder.save_figures", lambda *_: ())
    path = protein(folder)
    assert "out cannot be written: there is no space left on its disk: make room" in refused(
        "run", path, "-o", "out"
    )
    assert "no space left on its disk" in refused("run", path, "-o", "new/deep/out")


@pytest.mark.parametrize(
    "where", ["timme.workflow.recipe.measure", "timme.workflow.folder.save_figures"]
)
def test_an_interruption_leaves_nothing(
    folder: Path, timme: Run, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(where, interrupt)
    path = protein(folder)
    before = contents(folder.parent)
    found = timme("run", path, "-o", "out")
    assert (found.code, found.out) == (130, "")
    assert found.err.strip() == "timme: interrupted, nothing was written"
    assert contents(folder.parent) == before


@pytest.mark.parametrize("arguments", [["--debug", "run"], ["run", "--debug"]])
def test_debug_shows_the_traceback(folder: Path, timme: Run, arguments: list[str]) -> None:
    with pytest.raises(ValueError, match="at least 2 snapshots"):
        timme(*arguments, write_pdb(folder / "one.pdb", [peptide(n_residues=6)]))


def test_an_error_inside_the_program_is_one_line_too(
    folder: Path, timme: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("in\nthe kernel")

    monkeypatch.setattr("timme.workflow.recipe.measure", fail)
    found = timme("run", protein(folder))
    assert (found.code, found.err) == (2, "timme: error: ZeroDivisionError: in the kernel\n")


# ---- what looks bad but can be read ------------------------------------------------------------


def result(timme: Run, *arguments: object, output: str = "out") -> tuple[library.Analysis, str]:
    found = timme("run", *arguments, "-o", output)
    assert (found.code, found.err) == (0, "")
    return library.load(f"{output}/result.npz"), found.out


def same(one: library.Analysis, other: library.Analysis) -> None:
    np.testing.assert_array_equal(one.system.names, other.system.names)
    np.testing.assert_array_equal(one.hierarchy.parents, other.hierarchy.parents)
    np.testing.assert_allclose(one.hierarchy.heights, other.hierarchy.heights, rtol=1e-12)
    np.testing.assert_array_equal(one.shown, other.shown)


@pytest.mark.usefixtures("without_figures")
class TestReadable:
    def test_common_atoms_go_on_with_those_shared(self, folder: Path, timme: Run) -> None:
        path = write_pdb(folder / "a.pdb", differing())
        made, out = result(timme, path, "--common-atoms")
        assert made.hierarchy.n_sites == 19
        assert "note: models differ: 19 atoms that all share were kept, 1 were left out" in out

    def test_atoms_in_another_order_give_the_same_result(self, folder: Path, timme: Run) -> None:
        models = swinging()
        order = np.random.default_rng(1).permutation(len(models[0]))
        mixed = [
            model if k % 2 == 0 else [model[i] for i in order] for k, model in enumerate(models)
        ]
        one, quiet = result(timme, write_pdb(folder / "a.pdb", models), output="one")
        other, told = result(timme, write_pdb(folder / "b.pdb", mixed), output="other")
        same(one, other)
        assert "another order" not in quiet
        assert "another order in some models: they were matched by name" in told

    @pytest.mark.parametrize("mix", [False, True], ids=["in order", "in another order"])
    def test_structures_of_one_model_each_are_snapshots_matched_by_name(
        self, folder: Path, timme: Run, mix: bool
    ) -> None:
        models = swinging(12, 4)
        one, _ = result(timme, write_pdb(folder / "all.pdb", models), output="one")
        order = np.random.default_rng(1).permutation(len(models[0]))
        if mix:
            models[2] = [models[2][i] for i in order]
        paths = [write_pdb(folder / f"{k}.pdb", [model]) for k, model in enumerate(models)]
        other, out = result(timme, *paths, output="other")
        assert "snapshots  4" in out
        same(one, other)

    def test_two_structures_are_two_snapshots(self, folder: Path, timme: Run) -> None:
        paths = [write_pdb(folder / f"{k}.pdb", [m]) for k, m in enumerate(swinging(12, 2))]
        assert "snapshots  2" in result(timme, *paths)[1]

    def test_alternative_locations_take_the_highest_occupancy(
        self, folder: Path, timme: Run
    ) -> None:
        def split(model: list[Record]) -> list[Record]:
            found = []
            for record in model:
                if record[:5:4] == ("CB", 3):
                    far = (50.0, 50.0, 50.0)
                    found += [
                        (*record[:1], "A", *record[2:6], *far, 0.3, "C"),
                        (*record[:1], "B", *record[2:9], 0.7, "C"),
                    ]
                else:
                    found.append(record)
            return found

        models = swinging()
        one, _ = result(timme, write_pdb(folder / "a.pdb", models), output="one")
        path = write_pdb(folder / "b.pdb", [split(model) for model in models])
        other, told = result(timme, path, output="other")
        same(one, other)
        assert "note: 1 atom has alternative locations: those of highest occupancy" in told

    def test_insertion_codes_tell_residues_apart(self, folder: Path, timme: Run) -> None:
        def inserted(model: list[Record]) -> list[Record]:
            # 1 2 3 … becomes 1 1A 1B …
            return [
                (*r[:4], 1, "" if r[4] == 1 else chr(ord("A") + r[4] - 2), *r[6:]) for r in model
            ]

        models = swinging(12)
        one, _ = result(timme, write_pdb(folder / "a.pdb", models), output="one")
        path = write_pdb(folder / "b.pdb", [inserted(model) for model in models])
        other, _ = result(timme, path, output="other")
        np.testing.assert_allclose(one.hierarchy.heights, other.hierarchy.heights)
        assert len(other.shown) == 12
        names = other.system.names[other.shown].tolist()
        assert names[:3] == ["A/ALA 1/CA", "A/ALA 1A/CA", "A/ALA 1B/CA"]
        rows = (folder / "other" / "sites.csv").read_text().splitlines()
        assert rows[7].split(",")[2:5] == ["A", "ALA", "1A"]

    def test_equal_numbers_in_two_chains_are_two_residues(self, folder: Path, timme: Run) -> None:
        rest = peptide(n_residues=8)
        far = [(*r[:3], "B", *r[4:7], r[7] + 6.0, *r[8:]) for r in rest]
        path = write_pdb(folder / "a.pdb", shaken([*rest, *far]))
        made, out = result(timme, path)
        assert "shown      16 × Cα" in out
        assert len(set(made.system.names.tolist())) == 80
        assert (
            made.system.sites.chains[made.system.object_sites[made.shown]].tolist()
            == ["A"] * 8 + ["B"] * 8
        )
        bonded = made.system.sites.chains[made.system.sites.bonds]
        assert (bonded[:, 0] == bonded[:, 1]).all()

    def test_no_bond_is_invented_across_a_gap(self, folder: Path, timme: Run) -> None:
        rest = [r for r in peptide(n_residues=12) if r[4] not in (6, 7)]
        made, _ = result(timme, write_pdb(folder / "a.pdb", shaken(rest)))
        resids = made.system.sites.resids[made.system.sites.bonds]
        assert not ((resids[:, 0] <= 5) & (resids[:, 1] >= 8)).any()
        assert ((resids[:, 0] == 4) & (resids[:, 1] == 5)).any()

    def test_line_ends_marks_and_encodings_change_nothing(self, folder: Path, timme: Run) -> None:
        """All of them at once; each is tried where structures are read."""
        one, _ = result(timme, protein(folder), output="one")
        data = (folder / "a.pdb").read_bytes().replace(b"\n", b"\r\n")
        (folder / "b.pdb").write_bytes(b"\xef\xbb\xbfREMARK caf\xe9\r\n" + data)
        other, _ = result(timme, folder / "b.pdb", output="other")
        same(one, other)

    @pytest.mark.parametrize(
        "change",
        [
            lambda data: data.replace(b"\n", b"\r\n"),
            lambda data: b"\xef\xbb\xbf" + data,
            lambda data: data.replace(b",", b"\t"),
            lambda data: data.replace(b"frame,", b"caf\xe9,frame,", 1).replace(b"\n", b"\n0,")[:-2],
        ],
        ids=["CRLF", "BOM", "tabs", "latin-1"],
    )
    def test_tables_are_read_whatever_program_wrote_them(
        self, folder: Path, timme: Run, change: Callable[[bytes], bytes]
    ) -> None:
        one, _ = result(timme, write_tracks(folder / "a.csv", wandering()), output="one")
        (folder / "b.csv").write_bytes(change((folder / "a.csv").read_bytes()))
        other, _ = result(timme, folder / "b.csv", output="other")
        same(one, other)

    def test_nanometres_given_as_angstrom_are_told(self, folder: Path, timme: Run) -> None:
        models = [moved(model, 0.1 * places(model)) for model in swinging()]
        path = write_pdb(folder / "a.pdb", models)
        _, out = result(timme, path)
        note = next(line for line in out.splitlines() if line.startswith("note: ") and "nm" in line)
        assert "a.pdb" in note
        assert "unit" in note
        _, out = result(timme, path, "--unit", "nm", output="right")
        assert "nm" in out
        assert note not in out
        _, out = result(timme, protein(folder), output="usual")
        assert "nm" not in out

    def test_nothing_is_written_beside_the_input(self, folder: Path, timme: Run) -> None:
        data = folder / "data"
        data.mkdir()
        write_pdb(data / "top.pdb", [waters(4)])
        for suffix in ("xtc", "trr", "dcd"):
            write_trajectory(data / f"a.{suffix}", trajectory_positions(4, 12))
        before = contents(data)
        data.chmod(0o555)
        try:
            for suffix in ("xtc", "trr", "dcd"):
                result(timme, data / "top.pdb", data / f"a.{suffix}", output=f"out-{suffix}")
            assert contents(data) == before
        finally:
            data.chmod(0o755)

    def test_a_zero_in_a_damaged_header_is_survived(self, folder: Path, timme: Run) -> None:
        """Programs that crashed leave the number of frames at zero; the frames are there."""
        top = write_pdb(folder / "top.pdb", [waters(4)])
        path = write_trajectory(folder / "a.dcd", trajectory_positions(6, 12))
        data = bytearray(path.read_bytes())
        data[8:12] = struct.pack("<i", 0)
        path.write_bytes(data)
        assert "snapshots  6" in result(timme, top, path)[1]

    @pytest.mark.parametrize("name", ["a b.pdb", "Ångström σ.pdb", "-.pdb", "a.b.c.pdb", "UP.PDB"])
    def test_files_may_have_any_name(self, folder: Path, timme: Run, name: str) -> None:
        write_pdb(folder / name, swinging(8))
        found = timme("run", "--", name)
        assert (found.code, found.err) == (0, "")
        stem = name[:-4]
        assert (folder / f"timme-{stem}" / "result.npz").is_file()
        assert f"input      {name}" in found.out

    def test_an_aligned_error_may_be_of_either_form(self, folder: Path, timme: Run) -> None:
        rng = np.random.default_rng(0)
        error = rng.integers(1, 30, (9, 9)).astype(float)
        first, second = np.indices((9, 9)) + 1
        forms = {
            "a.json": [{"predicted_aligned_error": error.tolist(), "max": 30}],
            "b.json": {"pae": error.tolist()},
            "c.json": [
                {
                    "residue1": first.ravel().tolist(),
                    "residue2": second.ravel().tolist(),
                    "distance": error.ravel().tolist(),
                }
            ],
        }
        expected = library.link(
            np.where(np.eye(9, dtype=bool), 0, np.maximum(error, error.T))
        ).heights
        for name, content in forms.items():
            (folder / name).write_text(json.dumps(content))
            made, _ = result(timme, folder / name, output=f"out-{name}")
            np.testing.assert_array_equal(made.hierarchy.heights, expected)


def test_a_folder_that_cannot_be_written_is_refused_before_any_work(
    folder: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(*_: object, **__: object) -> None:
        raise AssertionError("it has begun")

    monkeypatch.setattr("timme.workflow.analyse", work)
    (folder / "a-file").write_text("")
    asked = "run", protein(folder), "-o", "a-file/out"
    assert "a-file/out cannot be written (Not a directory): choose another folder (-o)" in refused(
        *asked
    )
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_unknown_options_point_to_the_help_of_their_command(refused: Refused) -> None:
    said = refused("run", "a.pdb", "--objetcs", "points")
    plain = said.replace("'", "")  # some versions of click put names in quotes
    assert "Did you mean --objects? (timme run --help shows how)" in plain


def test_an_interrupt_within_a_kernel_is_an_interrupt(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr("timme.workflow.analyse", interrupted)
    with pytest.raises(SystemExit) as ended:
        main(["run", str(protein(folder)), "-o", str(folder / "out")])
    assert ended.value.code == 130
    assert capsys.readouterr().err == "timme: interrupted, nothing was written\n"


def test_a_file_name_of_no_known_encoding_is_analysed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    named = folder / os.fsdecode(b"lat\xe9.pdb")
    try:
        protein(folder).rename(named)
    except OSError:
        pytest.skip("this disk knows no such names")
    main(["run", str(named), "-o", "out", "--no-confidence"])
    assert (folder / "out" / "report.html").exists()
