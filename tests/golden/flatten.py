"""Turn results, dataclasses of arrays and of others, into arrays and facts by dotted names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.golden.digests import digest

_FEW = 40  # numbers that are kept as a list among the facts
_MANY = 6_000  # numbers beyond which an array is kept as sums and every so-manieth number
_SAMPLE = 500
_WHOLE = {"coordinates", "bonds", "heights", "parents"}  # kept whatever their size
_LEFT_OUT = {"ensemble", "quantity", "verdict", "notes"}  # objects and words

Arrays = dict[str, npt.NDArray[Any]]
Facts = dict[str, Any]


def flatten(name: str, value: Any, arrays: Arrays, facts: Facts) -> None:
    """Add a result to the arrays and facts, under its name."""
    if isinstance(value, np.ndarray):
        _add_array(name, value, arrays, facts)
    elif _is_plain(value):
        facts[name] = value.item() if isinstance(value, np.generic) else value
    else:
        for key, part in _parts(name, value).items():
            flatten(f"{name}.{key}", part, arrays, facts)


def _is_plain(value: Any) -> bool:
    """Whether a value, or a list of values, is as JSON has it."""
    if isinstance(value, list | tuple):
        return all(isinstance(each, str | bool | int | float | None) for each in value)
    return isinstance(value, str | bool | int | float | np.generic | None)


def _parts(name: str, value: Any) -> dict[str, Any]:
    """What a result consists of, by name."""
    if hasattr(value, "parents") and hasattr(value, "heights"):  # a hierarchy
        return {"heights": value.heights, "parents": value.parents}
    if is_dataclass(value):
        named = [each.name for each in fields(value) if each.name not in _LEFT_OUT]
        return {each: getattr(value, each) for each in named}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, range):
        return {"start": value.start, "stop": value.stop}
    if isinstance(value, Sequence):
        return {"count": len(value)} | {str(place): each for place, each in enumerate(value)}
    raise TypeError(f"{name}: {type(value).__name__} cannot be stored")


def _add_array(name: str, value: npt.NDArray[Any], arrays: Arrays, facts: Facts) -> None:
    """Keep a small array as a list, a larger one as it is, and of a huge one sums and a sample."""
    if value.dtype.kind in "iu":
        small = np.min_scalar_type(int(np.abs(value).max(initial=0)))
        value = value.astype({1: np.int16, 2: np.int32}.get(small.itemsize, np.int64))
    if value.size <= _FEW:
        facts[name] = value.tolist()
    elif value.size <= _MANY or name.rpartition(".")[2] in _WHOLE:
        arrays[name] = value
    else:
        flat = value.ravel()
        facts[f"{name}.shape"] = list(value.shape)
        facts[f"{name}.digest"] = digest(value)
        facts[f"{name}.sum"] = float(np.nansum(flat, dtype=np.float64))
        facts[f"{name}.squares"] = float(np.nansum(flat.astype(np.float64) ** 2))
        arrays[f"{name}.sample"] = flat[:: max(1, flat.size // _SAMPLE)]
