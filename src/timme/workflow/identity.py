"""What must be the same for an interrupted run to go on: version, inputs and settings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from timme._version import __version__
from timme.analysis import Input
from timme.engine.checkpoint import digest
from timme.settings import DISPLAY, OBJECTS, PAIRS, Settings, settings_of
from timme.system.ensemble import Ensemble


def fingerprint(name: str) -> Input:
    """Return name and SHA-256 of an input.

    Parameters
    ----------
    name : str
        A file, or what else snapshots came from.

    Returns
    -------
    Input
        Its name and SHA-256; what is no file has none.
    """
    if not Path(name).is_file():
        return Input(name)
    with Path(name).open("rb") as handle:
        return Input(Path(name).name, hashlib.file_digest(handle, "sha256").hexdigest())


def fingerprints(sources: Sequence[str]) -> tuple[Input, ...]:
    """Return name and SHA-256 of each input.

    Parameters
    ----------
    sources : sequence of str
        Files, or what else snapshots came from.

    Returns
    -------
    tuple of Input
        In the same order.
    """
    return tuple(fingerprint(source) for source in sources)


def identity(ensemble: Ensemble, inputs: Sequence[Input], chosen: Settings) -> dict[str, str]:
    """Describe a run by all that σ depends on.

    Parameters
    ----------
    ensemble : Ensemble
        What was read.
    inputs : sequence of Input
        As made by :func:`fingerprint`.
    chosen : Settings
        What the user chose.

    Returns
    -------
    dict of str
        What, in words for a message, and its value.
    """
    found = {"the version of timme": __version__}
    for number, entry in enumerate(inputs, start=1):
        found[f"input {number}"] = f"{entry.name} (SHA-256 {entry.sha256[:16]})"
    if not inputs or not all(entry.sha256 for entry in inputs):
        found["the data of the snapshots"] = digest(*_blocks(ensemble))[:16]
    for setting in settings_of(Settings):
        if setting.name not in {*DISPLAY, "show", "memory"}:  # which change no σ
            found[f"the option {setting.name}"] = _value(chosen, setting.name)
    return found


def _blocks(ensemble: Ensemble) -> Iterator[str]:
    for block in ensemble.blocks():
        parts = (block.coordinates, block.weights, () if block.boxes is None else block.boxes)
        yield digest(*parts)


def _value(chosen: Settings, name: str) -> str:
    value = chosen.plain()[name]
    names_file = {"objects": OBJECTS, "pairs": PAIRS}
    if name in names_file and value not in names_file[name] and Path(value).is_file():
        return f"{value} (SHA-256 {fingerprint(value).sha256[:16]})"
    text = "not given" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:40]}… (SHA-256 {digest(text)[:16]})"
