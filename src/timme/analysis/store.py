"""A result in one file: arrays as in npz, all else as JSON, nothing that is carried out.

A result is one dataclass, and its file is made of its fields by their types: no part of a result
knows that it is stored. Arrays become members of a zip archive that `numpy.load` opens as well.
Reading follows the types alone: only members that a field names are unpacked.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from timme import memory
from timme._arrays import frozen
from timme._text import require, write_atomically
from timme.analysis import settings
from timme.analysis.result import Analysis, Comparison
from timme.analysis.settings import Model, make

FORMAT = 4
RESULT = "result.npz"  # in the folder of a run

_TEXT = "result.json"  # the member with all that is no array
_LEVEL = 3  # of compression; 6 takes 2.5 times as long and saves a fifteenth
_KINDS: dict[str, type[Analysis | Comparison]] = {"analysis": Analysis, "comparison": Comparison}
_Arrays = dict[str, npt.NDArray[Any]]


def save(result: Analysis | Comparison, path: str | Path) -> Path:
    """Write a result into one file, which is replaced.

    Parameters
    ----------
    result : Analysis or Comparison
        What to keep.
    path : path
        Where to write, such as ``result.npz``.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> import timme
    >>> planted = timme.synthetic.planted((2, 20), 20, motions=(1.0, 0.1)).ensemble
    >>> found = timme.analyse(planted, confidence=False)
    >>> save(found, Path(tempfile.mkdtemp()) / "result.npz").name
    'result.npz'
    """
    return write_atomically(path, to_bytes(result))


def to_bytes(result: Analysis | Comparison) -> bytes:
    """Return the content of the file of a result, the same for the same result."""
    remedy = "give what timme.analyse, timme.analyse_rigidity or timme.compare returns"
    if not isinstance(result, Comparison):
        require(result, Analysis, "save", remedy)
    arrays, kind = _Arrays(), type(result).__name__.lower()
    text = {"timme": FORMAT, "kind": kind, "result": _flatten(result, kind, arrays)}
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
        with archive.open(_TEXT, "w") as member:
            member.write(json.dumps(text).encode())
    return made.getvalue()


def load(path: str | Path) -> Analysis | Comparison:
    """Read a result back.

    Parameters
    ----------
    path : path
        A file written by :func:`save`, or the folder of a run.

    Returns
    -------
    Analysis or Comparison
        The same data.

    Examples
    --------
    >>> import tempfile
    >>> import timme
    >>> planted = timme.synthetic.planted((2, 20), 20, motions=(1.0, 0.1)).ensemble
    >>> found = timme.analyse(planted, confidence=False)
    >>> load(save(found, Path(tempfile.mkdtemp()) / "result.npz")).hierarchy.n_sites
    40
    """
    file = Path(path).expanduser()
    file = file / RESULT if file.is_dir() else file
    if not file.is_file():
        raise FileNotFoundError(f"{file}: there is no such file: give the {RESULT} of a run")
    try:
        with zipfile.ZipFile(file) as archive:
            _refuse_bombs(archive)
            text = json.loads(archive.read(_TEXT))
            written, kind = int(text["timme"]), text["kind"]
            if written == FORMAT:
                found: Analysis | Comparison = _rebuild(archive, _KINDS[kind], text["result"], kind)
                return found
    except OSError:
        raise
    except Exception:  # noqa: BLE001, zip archives and arrays may be damaged in any way
        raise ValueError(
            f"{file}: no result of TIMME, or a damaged one: give the {RESULT} of a run"
        ) from None
    raise ValueError(
        f"{file}: written in format {written}, and this version reads format {FORMAT}: use the "
        "version that wrote it, or run the analysis again"
    )


def _flatten(value: Any, name: str, arrays: _Arrays) -> Any:
    """Return a value as JSON; arrays are put under the names of their fields."""
    if isinstance(value, np.ndarray):
        arrays[name] = value
        return "array"
    if isinstance(value, Model):
        return {type(value).__name__: value.model_dump(mode="json")}
    kind: Any = type(value)
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        each = {field: getattr(value, field) for field in _field_types(kind)}
        return {field: _flatten(one, f"{name}.{field}", arrays) for field, one in each.items()}
    if isinstance(value, tuple):
        return [_flatten(one, f"{name}.{place}", arrays) for place, one in enumerate(value)]
    return value.item() if isinstance(value, np.generic) else value


@cache
def _field_types(kind: Any) -> dict[str, Any]:
    """Types of the fields from which a dataclass or a named tuple is made."""
    hints = get_type_hints(kind)
    names = [f.name for f in fields(kind) if f.init] if is_dataclass(kind) else kind._fields
    return {name: hints[name] for name in names}


def _rebuild(archive: zipfile.ZipFile, hint: Any, text: Any, name: str) -> Any:
    """Return a value of a type from JSON and arrays, or fail in any way."""
    kind, inside = get_origin(hint) or hint, get_args(hint)
    if kind is UnionType:
        (one,) = (each for each in inside if each is not NoneType)
        return None if text is None else _rebuild(archive, one, text, name)
    if kind is tuple:
        each = inside[:1] * len(text) if inside[-1] is ... else inside
        parts = enumerate(zip(each, text, strict=True))
        return tuple(_rebuild(archive, one, part, f"{name}.{k}") for k, (one, part) in parts)
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        types = _field_types(kind)
        values = {k: _rebuild(archive, types[k], x, f"{name}.{k}") for k, x in text.items()}
        return kind(**values)
    if kind is Model:
        ((model, values),) = text.items()  # other names have no fields, and fail
        return make(getattr(settings, model), **values)
    if kind is np.ndarray:
        with archive.open(f"{name}.npy") as member:
            array = np.lib.format.read_array(member, allow_pickle=False)
        (scalar,) = get_args(inside[1])
        if not np.issubdtype(array.dtype, get_origin(scalar) or scalar):
            raise ValueError(name)
        return frozen(array)
    if kind is float and type(text) is int:
        text = float(text)
    if not (text in inside if kind is Literal else type(text) is kind):
        raise ValueError(kind)
    return text


def _refuse_bombs(archive: zipfile.ZipFile) -> None:
    """Refuse members that would fill the memory."""
    left = memory.available()
    if left is not None and sum(member.file_size for member in archive.infolist()) > left:
        raise MemoryError
