"""Settings, checkpoints and records of a run that may be interrupted at any moment."""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

RECORD, CHECKPOINT = "run.json", "checkpoint.npz"
LICENCE = "CC0-1.0"


def options(description: str | None) -> argparse.ArgumentParser:
    """Options of every script."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("folder", type=Path, help="where to write, or an interrupted run")
    parser.add_argument("--seed", type=int, default=1, help="seed of all random numbers")
    parser.add_argument("--short", action="store_true", help="a test run of a few seconds")
    return parser


def record(
    folder: Path, settings: dict[str, Any], libraries: tuple[str, ...], **beside: Any
) -> None:
    """Write the settings of a run, or refuse to continue one that had others.

    What is in `beside`, such as the platform, may change when a run is continued.
    """
    folder.mkdir(parents=True, exist_ok=True)
    settings = json.loads(json.dumps(settings))
    path = folder / RECORD
    if path.exists():
        before = json.loads(path.read_text())
        for name, value in settings.items():
            if before.get(name) != value:
                raise SystemExit(
                    f"{folder} holds a run with {name} {before.get(name)}, not {value}: "
                    "choose another folder, or repeat the options of that run"
                )
    versions = {"python": platform.python_version(), **{name: version(name) for name in libraries}}
    path.write_text(json.dumps(settings | beside | {"versions": versions}, indent=1) + "\n")


def last_checkpoint(folder: Path) -> dict[str, np.ndarray] | None:
    """Return the last checkpoint, if there is one."""
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    with np.load(path) as kept:
        return dict(kept)


def write(path: Path, **arrays: Any) -> None:
    """Replace a file of arrays at once, so that it is never half written."""
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as file:
        np.savez_compressed(file, **arrays)
    unfinished.replace(path)


def describe(path: Path, script: str, files: list[str], measured: dict[str, Any]) -> None:
    """Write the record of a run: settings, measurements and checksums of its files."""
    found = json.loads((path.parent / RECORD).read_text())
    found |= {"script": f"examples/simulate/{script}", "licence": LICENCE, "measured": measured}
    contents = {name: (path.parent / name).read_bytes() for name in files}
    found["files"] = {
        name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in contents.items()
    }
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    path.with_suffix(".json").write_text(text, encoding="utf-8")


def write_table(path: Path, columns: dict[str, np.ndarray]) -> None:
    """Write columns as CSV, with two decimals."""
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    lines = [",".join(f"{v:.2f}" if isinstance(v, float) else str(v) for v in row) for row in rows]
    path.write_text("\n".join([",".join(columns), *lines]) + "\n")
