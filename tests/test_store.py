"""One result file: what is saved comes back, and nothing else is taken for it."""

from __future__ import annotations

import dataclasses
import functools
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import timme
from tests.output.builders import Graph, graphs, particles, random_graph, residues
from tests.patience import LONGEST
from timme import store
from timme.analysis import Analysis, Input, Provenance
from timme.rigidity import Network

NETWORK = Network(
    n_bodies=9,
    bonds=np.array([(0, 1), (1, 2), (2, 5)]),
    bars=np.array([5, 6, 2]),
    kinds=np.array(["covalent", "locked", "tether"]),
    energies=np.array([np.nan, np.nan, -1.5]),
)


def equal(one: Any, other: Any) -> bool:
    """Compare results field by field; types, shapes and every bit of the numbers."""
    if isinstance(one, np.ndarray):
        return (
            isinstance(other, np.ndarray)
            and one.shape == other.shape
            and (one.dtype.kind == other.dtype.kind == "U" or one.dtype == other.dtype)
            and bool(np.array_equal(one, other, equal_nan=one.dtype.kind == "f"))
        )
    if isinstance(one, tuple):
        return (
            type(one) is type(other)
            and len(one) == len(other)
            and all(equal(*both) for both in zip(one, other, strict=True))
        )
    if dataclasses.is_dataclass(one):
        return type(one) is type(other) and all(
            equal(getattr(one, field.name), getattr(other, field.name))
            for field in dataclasses.fields(one)
        )
    return type(one) is type(other) and bool(one == other)


def round_trip(analysis: Analysis, folder: Path) -> Analysis:
    store.save(analysis, folder / "result.npz")
    return store.load(folder / "result.npz")


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"box": np.diag([3.0, 4.0, 5.0])},
        {"fluctuations": None},
        {"network": NETWORK},
        {"length": None, "length_name": ""},
        {"notes": ("one", "zwei µ", "σ ≤ 3\nlines")},
        {"settings": timme.Settings(weights=[1, 2.5], box=(9.0, 8.0), select="name σ", gaps=True)},
        {"settings": timme.RigidSettings(chain=("A", "B"), ensemble=-1.0)},
        {"provenance": Provenance(inputs=(Input("ä.pdb", "0"), Input("array")), title="σ")},
        {"cut_at": "σc = 0.12 Å"},
        {"coordinates": np.full((9, 3), np.nan)},
        {"coordinates": np.zeros((9, 0))},
        {"coordinates": np.ones((9, 2), np.float32)},
        {"film": np.ones((4, 9, 3), np.float32)},
        {"names": np.array(["σ", "a b", "", "'", '"', ",", "\n", "長い", "x" * 300])},
    ],
    ids=lambda changes: next(iter(changes), "as it is"),
)
def test_what_is_saved_comes_back(tmp_path: Path, changes: dict[str, Any]) -> None:
    analysis = particles(random_graph(9, seed=1), **changes)
    assert equal(round_trip(analysis, tmp_path), analysis)


def test_chains_and_bonds_come_back(tmp_path: Path) -> None:
    analysis = residues(random_graph(30, seed=2))
    again = round_trip(analysis, tmp_path)
    assert equal(again, analysis)
    assert again.system.sites.label(4) == analysis.system.sites.label(4)


@given(graphs())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_hierarchy_comes_back(tmp_path: Path, graph: Graph) -> None:
    analysis = particles(graph)
    assert equal(round_trip(analysis, tmp_path), analysis)


def test_the_public_names_save_and_load(tmp_path: Path) -> None:
    analysis = timme.analyse(timme.synthetic.chain(30))
    timme.save(analysis, tmp_path / "a.npz")
    again = timme.load(str(tmp_path / "a.npz"))
    assert equal(again.hierarchy, analysis.hierarchy)
    assert again.recipe == analysis.recipe
    assert again.notes == analysis.notes


def test_a_result_is_loaded_from_the_folder_of_its_run(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"result\.npz: there is no such file"):
        timme.load(tmp_path)
    analysis = particles(random_graph(9, seed=1))
    store.save(analysis, tmp_path / "result.npz")
    assert equal(timme.load(tmp_path), analysis)


def test_a_result_goes_into_an_open_file() -> None:
    analysis = particles(random_graph(9, seed=1))
    file = io.BytesIO()
    store.save(analysis, file)
    assert file.getvalue().startswith(b"PK")


def test_the_name_of_the_file_is_kept_as_it_is(tmp_path: Path) -> None:
    """numpy.savez adds a suffix by itself, which nobody asked for."""
    store.save(particles(random_graph(9, seed=1)), tmp_path / "my.result")
    assert [path.name for path in tmp_path.iterdir()] == ["my.result"]
    assert store.load(tmp_path / "my.result").hierarchy.n_sites == 9


def test_the_same_result_is_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        store.save(residues(random_graph(30, seed=2)), tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_what_is_loaded_cannot_be_changed(tmp_path: Path) -> None:
    again = round_trip(particles(random_graph(9, seed=1)), tmp_path)
    with pytest.raises(ValueError, match="read-only"):
        again.system.coordinates[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        again.length = 2.0  # type: ignore[misc]


def test_nothing_in_the_file_is_executable(tmp_path: Path) -> None:
    store.save(residues(random_graph(30, seed=2)), tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert all(name.endswith(".npy") for name in archive.namelist())
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        assert {arrays[name].dtype.kind for name in arrays.files} <= set("biufU")


# ---- files that are no results -----------------------------------------------------------------


def changed(folder: Path, **changes: Any) -> Path:
    """A result with other members; None leaves one out, a dict changes its text."""
    store.save(particles(random_graph(9, seed=1)), folder / "good.npz")
    with np.load(folder / "good.npz") as archive:
        arrays = {name: archive[name] for name in archive.files}
    for name, value in changes.items():
        if value is None:
            del arrays[name]
        elif isinstance(value, dict):
            text = json.loads(arrays[name].tobytes()) | value
            data = json.dumps({key: part for key, part in text.items() if part is not Ellipsis})
            arrays[name] = np.frombuffer(data.encode(), np.uint8)
        else:
            arrays[name] = np.asarray(value)
    np.savez(folder / "bad.npz", **arrays)
    return folder / "bad.npz"


@pytest.mark.parametrize("other", [store.FORMAT - 1, store.FORMAT + 1])
def test_another_format_is_refused_in_a_line_with_what_to_do(tmp_path: Path, other: int) -> None:
    path = changed(tmp_path, text={"format": other, "recipe": {"view": {}}})
    said = (
        rf"^\S+bad\.npz: written in format {other}, this version reads format 3: use the .*again$"
    )
    with pytest.raises(ValueError, match=said):
        store.load(path)


def test_a_part_of_a_newer_version_is_left_out_with_a_note(tmp_path: Path) -> None:
    path = changed(tmp_path, text={"parts": ["fluctuations", "aura"]}, **{"aura.hue": [1.0]})
    found = store.load(path)
    assert [part.name for part in found.parts] == ["fluctuations"]
    assert equal(dataclasses.replace(found, notes=()), particles(random_graph(9, seed=1)))
    (note,) = found.notes
    assert note.startswith("left out the part 'aura': timme wrote it, and this version, ")
    assert "a newer version" in note


def test_a_setting_of_a_newer_version_is_left_out_with_a_note(tmp_path: Path) -> None:
    known = particles(random_graph(9, seed=1)).recipe
    text = store._recipe_text(known)
    text["settings"]["pictures"] |= {"glow": 3}
    text["provenance"]["version"] = "99.1"
    found = store.load(changed(tmp_path, text={"recipe": text}))
    assert found.recipe.settings == known.settings
    (note,) = found.notes
    assert note.startswith("left out the setting 'glow': timme 99.1 wrote it, and this version, ")


@pytest.mark.parametrize(
    "changes",
    [
        {"text": None},
        {"parents": None},
        {"heights": None},
        {"coordinates": None},
        {"atoms.names": None},
        {"fluctuations.sigma": None},
        {"text": {"mark": "another program"}},
        {"text": {"mark": ...}},
        {"text": {"format": ...}},
        {"text": {"quantity": ...}},
        {"text": {"system": ...}},
        {"text": {"recipe": ...}},
        {"text": {"recipe": {"settings": {"run": {}}, "provenance": {}, "colour": "red"}}},
        {"text": {"parts": ["network"]}},
        {"text": {"notes": ...}},
        {"text": {"notes": 3}},
        {"text": np.arange(4.0)},
        {"text": np.frombuffer(b"[1, 2]", np.uint8)},
        {"text": np.frombuffer(b"\xff\xfe{", np.uint8)},
        {"text": np.array("text")},
        {"parents": np.zeros((2, 2))},
        {"parents": np.array(["a", "b"])},
        {"heights": np.array(1.0)},
    ],
    ids=lambda changes: " ".join(map(str, next(iter(changes.items())))),
)
def test_a_damaged_result_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"bad\.npz: .*(result of timme|format)"):
        store.load(changed(tmp_path, **changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"names": np.full(8, "one too few")},
        {"shown": np.array([0, 9])},
        {"object_sites": np.arange(8)},
        {"object_sites": np.arange(1, 10)},
        {"object_sites": np.arange(-1, 8)},
        {"site_objects": np.arange(8)},
        {"site_objects": np.arange(1, 10)},
        {"site_objects": np.arange(-2, 7)},
        {"coordinates": np.zeros((8, 3))},
        {"coordinates": np.zeros((9, 3, 1))},
        {"film": np.zeros((2, 8, 3))},
    ],
    ids=lambda changes: " ".join(f"{name} {value.shape}" for name, value in changes.items()),
)
def test_arrays_of_another_system_are_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    """Nine particles, each an object and a site: 0 to 8 is there, -1 is a site in no object."""
    with pytest.raises(ValueError, match=r"bad\.npz: not a result of timme, or a damaged one"):
        store.load(changed(tmp_path, **changes))


def test_a_tree_that_is_none_is_refused_and_crashes_nothing(tmp_path: Path) -> None:
    """Loops in compiled code would write anywhere in memory: load in a process of its own."""
    paths = list[str]()
    for number, parents in enumerate(([99] * 12, [0] * 12, [-7] * 12, [11, 11, 11, 1, 2, 3])):
        (place := tmp_path / str(number)).mkdir()
        paths.append(str(changed(place, parents=np.array(parents))))
    done = subprocess.run(
        [sys.executable, "-c", _LOAD, *paths],
        env={**os.environ, "PYTHONPATH": str(Path(timme.__file__).parents[1])},
        capture_output=True,
        check=False,
        text=True,
        timeout=LONGEST,
    )
    assert (done.returncode, done.stderr) == (0, "")
    refusals = done.stdout.splitlines()
    assert len(refusals) == len(paths)
    assert all("result of timme" in refusal for refusal in refusals)


_LOAD = """
import sys, timme
for path in sys.argv[1:]:
    try:
        timme.load(path)
    except ValueError as error:
        print(error)
"""


@pytest.mark.parametrize(
    "data",
    [b"", b"PK", b"hello", b"\x93NUMPY", pickle.dumps([1]), b"PK\x03\x04" + bytes(100), bytes(99)],
    ids=["empty", "two bytes", "text", "array", "pickle", "damaged", "zeros"],
)
def test_other_files_are_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.npz").write_bytes(data)
    with pytest.raises(ValueError, match=r"a\.npz: not a result of timme, or a damaged one: give"):
        store.load(tmp_path / "a.npz")


def test_arrays_of_others_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(3))
    np.savez(tmp_path / "b.npz", x=np.arange(3))
    np.savez(tmp_path / "c.npz", text=np.array([object()], dtype=object))
    for name in ("a.npy", "b.npz", "c.npz"):
        with pytest.raises(ValueError, match=f"{name}: not a result of timme"):
            store.load(tmp_path / name)


def test_a_missing_file_and_a_folder_are_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"lost\.npz: there is no such file: give"):
        store.load(tmp_path / "lost.npz")
    with pytest.raises(OSError, match=tmp_path.name):
        store.load(tmp_path)


@functools.cache
def bytes_of_a_result() -> bytes:
    file = io.BytesIO()
    store.save(residues(random_graph(30, seed=2)), file)
    return file.getvalue()


@given(st.data())
@settings(
    max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)
def test_damage_anywhere_is_told_or_does_no_harm(tmp_path: Path, data: st.DataObject) -> None:
    """Change or cut any bytes: either the same result, or the error for damaged files."""
    damaged = bytearray(bytes_of_a_result())
    if data.draw(st.booleans()):
        del damaged[data.draw(st.integers(0, len(damaged) - 1)) :]
    else:
        for _ in range(data.draw(st.integers(1, 3))):
            damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    (tmp_path / "a.npz").write_bytes(damaged)
    try:
        found = store.load(tmp_path / "a.npz")
    except ValueError as error:
        assert "result of timme" in str(error) or "format" in str(error)  # noqa: PT017
    else:
        assert equal(found, residues(random_graph(30, seed=2)))
