"""A result is the same after it was stored, and no file does harm when it is read."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest

from timme import memory
from timme.analysis import store
from timme.analysis.result import Analysis, Comparison, System
from timme.analysis.settings import CompareSettings, Model, RigiditySettings, Settings
from timme.ensemble import Atoms
from timme.hierarchy import Hierarchy, Quantity, link
from timme.rigidity import Network

NUMBERS = np.array([0.1, np.nan, -np.inf, np.inf, 1e-300])
TEXT = "Å σ\n\"'=1+1\x00</script>\ud7ff𝛔"
TREE = link([[0.0, 1.5, 2.5], [1.5, 0.0, np.inf], [2.5, np.inf, 0.0]])
PLAIN = {int: -(2**40), float: np.float64(np.nan), str: TEXT, bool: True}
ARRAYS = {
    np.float64: NUMBERS,
    np.floating: NUMBERS.astype(np.float32),
    np.int64: np.arange(-2, 3),
    np.bool_: np.array([[True], [False]]),
    np.str_: np.array([TEXT, ""]),
}
SETTINGS = (
    Settings(box=(10, 20, 30), noise="auto", begin="10ns"),
    RigiditySettings(energy=-0.5, tethers="none"),
    CompareSettings(chains={"A": "B"}, cutoffs=(-0.5, 0.06)),
)


def system() -> System:
    names, every = np.array(["a", "b", TEXT]), np.arange(3)
    film = np.arange(36, dtype=np.float32).reshape(4, 3, 3)
    places = (names, every, every, Atoms.unnamed(3, bonds=[(0, 1)]), film[0], every)
    frames: dict[str, Any] = {"box": 20 * np.eye(3), "film": film, "film_frames": np.arange(4)}
    return System(*places, unit="nm", n_snapshots=9, numbers=every, **frames)


MADE: dict[Any, Any] = {
    System: system(),
    Hierarchy: replace(TREE, quantity=Quantity("E", unit="kcal/mol")),
    Network: Network(3, np.array([[0, 2]]), np.array([5]), np.array(["tether"]), NUMBERS[:1]),
}


def value_of(hint: Any, settings: Model) -> Any:
    """Make a value of a type, in which no field is left at its default."""
    kind, inside = get_origin(hint) or hint, get_args(hint)
    if kind in PLAIN:
        return PLAIN[kind]
    if kind is np.ndarray:
        scalar = get_args(inside[1])[0]
        return ARRAYS[get_origin(scalar) or scalar]
    if kind is Literal:
        return inside[-1]
    if kind is tuple:
        return tuple(value_of(one, settings) for one in inside if one is not ...)
    if NoneType in inside:
        return value_of(next(one for one in inside if one is not NoneType), settings)
    if kind in MADE or kind is Model:
        return MADE.get(kind, settings)
    hints = get_type_hints(kind)
    names = [f.name for f in fields(kind) if f.init] if is_dataclass(kind) else kind._fields
    if kind is Analysis:
        parts = {name: value_of(hints[name], settings) for name in names}
        labels, motion = np.array([0, -1, 1]), parts["motion"]
        parts["motion"] = replace(motion, bodies=replace(motion.bodies, labels=labels))
        parts["fluctuations"] = replace(parts["fluctuations"], n_objects=3)
        return Analysis(**parts | {"finding": replace(parts["finding"], labels=labels)})
    return kind(**{name: value_of(hints[name], settings) for name in names})


def differences(one: Any, other: Any, name: str) -> list[str]:
    """Names of the fields in which two values differ; all fields are compared."""
    if isinstance(one, np.ndarray):
        same = one.dtype == other.dtype and np.array_equal(one, other, one.dtype.kind == "f")
        return [] if same else [name]
    if is_dataclass(one) or hasattr(one, "_fields"):
        names = [f.name for f in fields(one)] if is_dataclass(one) else one._fields
        each = ((getattr(one, k), getattr(other, k), f"{name}.{k}") for k in names)
        return [found for pair in each for found in differences(*pair)]
    if isinstance(one, tuple):
        pairs = enumerate(zip(one, other, strict=True))
        return [found for k, pair in pairs for found in differences(*pair, f"{name}.{k}")]
    same = str(one) == str(other) if isinstance(one, float) else one == other
    return [] if same and isinstance(one, type(other)) else [name]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("kind", [Analysis, Comparison])
def test_every_field_of_a_result_comes_back(
    kind: type[Any], settings: Model, tmp_path: Path
) -> None:
    result = value_of(kind, settings)
    path = store.save(result, tmp_path / store.RESULT)
    found = store.load(tmp_path)
    assert differences(result, found, "result") == []
    assert store.to_bytes(found) == path.read_bytes()
    assert [*tmp_path.iterdir()] == [path]
    assert len(np.load(path)["result.json"])  # plain npz


@pytest.fixture(scope="module")
def content() -> bytes:
    return store.to_bytes(value_of(Analysis, SETTINGS[0]))


def edited(content: bytes, change: Callable[[dict[str, bytes]], object]) -> bytes:
    """Return an archive whose members were changed."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return made.getvalue()


def with_text(content: bytes, change: Callable[[Any], object]) -> bytes:
    def edit(members: dict[str, bytes]) -> None:
        text = json.loads(members["result.json"])
        change(text)
        members["result.json"] = json.dumps(text).encode()

    return edited(content, edit)


def npy(array: Any, *, pickled: bool = False) -> bytes:
    made = io.BytesIO()
    np.lib.format.write_array(made, np.asanyarray(array), allow_pickle=pickled)
    return made.getvalue()


def claims(shape: tuple[int, ...]) -> bytes:
    """Header of an array without data."""
    made = io.BytesIO()
    header: Any = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(made, header)
    return made.getvalue()


class Malicious:
    """Stops the test run if it is unpickled."""

    def __reduce__(self) -> Any:
        return pytest.exit, ("a pickle of a foreign file was carried out",)


PARENTS = "analysis.atom_hierarchy.parents.npy"
BAD_MEMBERS: dict[str, tuple[str, bytes]] = {
    "pickle": ("analysis.system.names.npy", npy(np.array([Malicious()]), pickled=True)),
    "parents beyond the nodes": (PARENTS, npy(np.array([3, 3, 10**9, -1]))),
    "a cycle of parents": (PARENTS, npy(np.array([4, 4, 4, 3, 3]))),
    "numbers for names": ("analysis.system.names.npy", npy(np.arange(3))),
    "sites of another system": ("analysis.system.object_sites.npy", npy(np.array([0, 1, 7]))),
    "negative sites": ("analysis.system.object_sites.npy", npy(np.array([0, 1, -2]))),
    "an array far larger than its data": ("analysis.system.film.npy", claims((10**14, 3, 3))),
    "nested text": ("result.json", b"[" * 100_000),
    "another text": ("result.json", b'{"a": 1}'),
}


@pytest.mark.parametrize("case", BAD_MEMBERS)
def test_hostile_members_are_refused(case: str, content: bytes, tmp_path: Path) -> None:
    name, data = BAD_MEMBERS[case]
    refuse(edited(content, lambda members: members.update({name: data})), tmp_path)


BAD_VALUES: dict[str, Callable[[Any], object]] = {
    "text for a number": lambda a: a["system"].update(n_snapshots="9"),
    "yes for a number": lambda a: a["system"].update(n_snapshots=True),
    "a number for text": lambda a: a["made"].update(title=5),
    "an unknown recipe": lambda a: a["made"].update(recipe="cake"),
    "an unknown model": lambda a: a["made"].update(settings={"pydantic": {}}),
    "a setting out of range": lambda a: a["made"]["settings"]["Settings"].update(min_size=-3),
    "an unknown part": lambda a: a["motion"].update(jerk=[1]),
    "a missing part": lambda a: a["motion"].pop("bodies"),
    "too many numbers": lambda a: a["confidence"]["records"][0].update(intervals=[[1.0, 2.0, 3.0]]),
    "a missing array": lambda a: a["motion"]["hinges"].append(a["motion"]["hinges"][0]),
}


@pytest.mark.parametrize("case", BAD_VALUES)
def test_values_of_other_types_are_refused(case: str, content: bytes, tmp_path: Path) -> None:
    refuse(with_text(content, lambda text: BAD_VALUES[case](text["result"])), tmp_path)


def refuse(data: bytes, folder: Path) -> None:
    path = folder / "foreign.npz"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"foreign\.npz: no result of TIMME, or a damaged one"):
        store.load(path)


def test_foreign_files_are_refused(tmp_path: Path, content: bytes) -> None:
    empty, foreign = io.BytesIO(), io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    np.savez(foreign, sigma=np.arange(3))
    text = b"number,cluster\n1,1\n"
    for data in (b"", text, content[:1000], empty.getvalue(), foreign.getvalue(), npy(np.eye(3))):
        refuse(data, tmp_path)
    with pytest.raises(FileNotFoundError, match=r"result\.npz: there is no such file"):
        store.load(tmp_path)


def test_a_damaged_file_is_refused_or_holds_the_same(content: bytes, tmp_path: Path) -> None:
    rng, refused = np.random.default_rng(5), 0
    path = tmp_path / "damaged.npz"
    for _ in range(200):
        data = np.frombuffer(content, np.uint8).copy()
        data[rng.integers(len(data), size=rng.integers(1, 20))] = rng.integers(256)
        end = len(data) if rng.random() < 0.5 else int(rng.integers(len(data)))
        path.write_bytes(data[:end].tobytes())
        try:
            assert store.to_bytes(store.load(path)) == content
        except ValueError as error:
            assert "a damaged one" in str(error)  # noqa: PT017, some files load
            refused += 1
    assert refused > 100


def test_a_bomb_is_refused_before_it_is_unpacked(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available", lambda: 10_000)
    refuse(content, tmp_path)


def test_another_format_is_refused_with_a_remedy(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "newer.npz"
    path.write_bytes(with_text(content, lambda text: text.update(timme=9)))
    with pytest.raises(ValueError, match="written in format 9, and this version reads format 4"):
        store.load(path)


def test_only_results_are_saved(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="save needs Analysis, got Hierarchy: give what"):
        store.save(TREE, tmp_path / "x.npz")  # type: ignore[arg-type]
