"""Open the inputs of a saved result again: by their recorded paths, if their checksums agree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from timme.analysis import Analysis, Input
from timme.settings import READING, Settings
from timme.store import load
from timme.workflow.identity import fingerprint


def reopen(result: str | Path | Analysis, chosen: Settings) -> tuple[list[Path], Settings]:
    """Find the files that a result was made of, and how they were read.

    A result holds a film of few snapshots; whatever needs all of them must read the files again.

    Parameters
    ----------
    result : path or Analysis
        A saved result, or one in memory.
    chosen : Settings
        What is wanted now; what of it differs from the defaults goes before what was recorded.

    Returns
    -------
    paths : list of Path
        The inputs, in their order.
    settings : Settings
        With the recorded ways to read and to select.
    """
    made = result if isinstance(result, Analysis) else load(result)
    folder = Path() if isinstance(result, Analysis) else Path(result).parent
    name = "this result" if isinstance(result, Analysis) else str(result)
    origin, recorded = made.recipe.provenance, made.recipe.settings
    if not origin.paths or not isinstance(recorded, Settings):
        raise ValueError(
            f"{name}: it holds a few snapshots, and not where all of them are "
            f"({origin.input_names or 'made in memory'}): give the files themselves"
        )
    paths = [
        _find(entry, Path(path), folder, name)
        for entry, path in zip(origin.inputs, origin.paths, strict=True)
    ]
    kept = {*READING, "select", "show"} - chosen.differing()
    return paths, replace(chosen, **{field: getattr(recorded, field) for field in kept})


def _find(entry: Input, path: Path, folder: Path, name: str) -> Path:
    """The file where it was, or near the result; refused if its contents are others."""
    near = (base / part for part in (path, path.name) for base in (folder, folder.parent))
    there = [place for place in dict.fromkeys((path, *near)) if place.is_file()]
    if not there:
        raise FileNotFoundError(
            f"{name}: its input {path} is not there any more: give the files themselves"
        )
    for place in there:
        if fingerprint(str(place)).sha256 == entry.sha256:
            return place
    raise ValueError(
        f"{name}: {there[0]} is not the file that the result was made of (its checksum differs): "
        "give the file itself, to analyse it as it is"
    )
