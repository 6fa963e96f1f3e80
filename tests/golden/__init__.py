"""Frozen results that the package must reproduce, and functions that read them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent


def load_core(name: str) -> dict[str, Any]:
    """Arrays of one case of `tests.golden.cases.CASES`; its facts are under "facts"."""
    return load_arrays(HERE / "core" / f"{name}.npz")


def load_science(name: str) -> dict[str, Any]:
    """Numbers and arrays of one file of ``science``, by their dotted names."""
    found = load_arrays(HERE / "science" / f"{name}.npz")
    facts: dict[str, Any] = found.pop("facts")
    return facts | found


def load_json(name: str) -> Any:
    """Content of a JSON file: "inputs", "recipes" or "corpus"."""
    return json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))


def load_arrays(path: Path) -> dict[str, Any]:
    """Arrays of a file of numpy, and the JSON text "facts" among them as a dict."""
    with np.load(path) as kept:
        found = {key: kept[key] for key in kept.files}
    return found | {"facts": json.loads(str(found["facts"]))}
