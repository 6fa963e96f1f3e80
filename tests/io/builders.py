"""Small files for the tests of reading."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.golden.built_files import pdb_line
from timme.ensemble import Ensemble
from timme.io.pdb import read_structure
from timme.io.structures import from_structures


def line(
    name: str,
    resid: int,
    place: Sequence[float] = (0.0, 0.0, 0.0),
    *,
    resname: str = "ALA",
    chain: str = "A",
    altloc: str = "",
    occupancy: float = 1.0,
    element: str | None = None,
    serial: int = 1,
) -> str:
    """One ATOM record, 80 columns wide."""
    symbol = name[0] if element is None else element
    record = (name, altloc or " ", resname, chain or " ", resid, " ", occupancy, symbol)
    return pdb_line(record, np.array(place), str(serial))


def written(folder: Path, text: str | bytes, name: str = "a.pdb") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def pdb(folder: Path, *models: Sequence[str], head: Sequence[str] = ()) -> Path:
    """A PDB file of models, each a list of records."""
    lines = list(head)
    for number, records in enumerate(models, start=1):
        lines += [f"MODEL     {number:4d}", *records, "ENDMDL"]
    return written(folder, "\n".join([*lines, "END", ""]))


def draft(*paths: Path, **options: Any) -> Ensemble:
    return from_structures([read_structure(path) for path in paths], **options)


def spread(names: Sequence[str], resid: int = 1, **fields: Any) -> list[str]:
    """Records of one residue, 2 Å apart."""
    return [
        line(name, resid, (2.0 * place, 7.0 * resid, 0.0), **fields)
        for place, name in enumerate(names)
    ]


def tracks(n_frames: int = 6, n_particles: int = 3, seed: int = 0) -> list[tuple[Any, ...]]:
    """Rows of frame, particle, x and y."""
    places = np.round(np.random.default_rng(seed).normal(size=(n_frames, n_particles, 2)), 3)
    return [
        (frame, particle + 5, *places[frame, particle].tolist())
        for frame in range(n_frames)
        for particle in range(n_particles)
    ]
