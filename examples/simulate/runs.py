"""Keep a run that may be stopped at any moment: how it is made, and how far it is."""

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
    """The options that every script has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("folder", type=Path, help="where to write, or a run to go on with")
    parser.add_argument("--seed", type=int, default=1, help="of all random numbers")
    parser.add_argument("--short", action="store_true", help="a run of seconds, to see it work")
    return parser


def record(folder: Path, told: dict[str, Any], libraries: tuple[str, ...], **beside: Any) -> None:
    """Write how a run is made, or refuse to go on with one that was made otherwise.

    What stands beside that, such as the platform, may be another when a run goes on.
    """
    folder.mkdir(parents=True, exist_ok=True)
    told = json.loads(json.dumps(told))
    path = folder / RECORD
    if path.exists():
        before = json.loads(path.read_text())
        for name, value in told.items():
            if before.get(name) != value:
                raise SystemExit(
                    f"{folder} holds a run with {name} {before.get(name)}, this one has {value}: "
                    "give another folder, or the same options to go on with it"
                )
    versions = {"python": platform.python_version(), **{name: version(name) for name in libraries}}
    path.write_text(json.dumps(told | beside | {"versions": versions}, indent=1) + "\n")


def last_checkpoint(folder: Path) -> dict[str, np.ndarray] | None:
    """What was kept last, if anything was."""
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    with np.load(path) as kept:
        return dict(kept)


def write(path: Path, **arrays: Any) -> None:
    """Write arrays to a file that is old or new at any moment, never half of it."""
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as file:
        np.savez_compressed(file, **arrays)
    unfinished.replace(path)


def describe(path: Path, script: str, files: list[str], measured: dict[str, Any]) -> None:
    """Write what came out of a run: how it was made, what was measured on it, and its files."""
    told = json.loads((path.parent / RECORD).read_text())
    told |= {"script": f"examples/simulate/{script}", "licence": LICENCE, "measured": measured}
    contents = {name: (path.parent / name).read_bytes() for name in files}
    told["files"] = {
        name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in contents.items()
    }
    text = json.dumps(told, indent=1, ensure_ascii=False) + "\n"
    path.with_suffix(".json").write_text(text, encoding="utf-8")


def write_table(path: Path, columns: dict[str, np.ndarray]) -> None:
    """Write columns as CSV, lengths to a centimetre."""
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    lines = [",".join(f"{v:.2f}" if isinstance(v, float) else str(v) for v in row) for row in rows]
    path.write_text("\n".join([",".join(columns), *lines]) + "\n")
