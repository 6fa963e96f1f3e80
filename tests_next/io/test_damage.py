"""Invariants of damaged files: read, or refused in one line; a child process survives them all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests_next.golden.built_files import write_files
from timme_next.io import matrices, pdb, structures, tables

FILES = (
    "models-altlocs.pdb models-cell.pdb models-altlocs.cif models.cif trackmate.csv imaris.csv "
    "commas.csv blanks.txt matrix.csv matrix.mtx matrix.npy errors.json"
).split()
TRIALS = 60


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """Cut off, with other bytes, with a part left out, or with one put in."""
    place, length = int(rng.integers(1, len(data))), int(rng.integers(1, 60))
    noise = rng.integers(0, 256, length).astype(np.uint8).tobytes()
    return (
        data[:place],
        data[:place] + noise[:2] + data[place + 2 :],
        data[:place] + data[place + length :],
        data[:place] + noise + data[place:],
        data[:place] + bytes(length) + data[place + length :],
    )[rng.integers(5)]


def read(path: Path, name: str) -> None:
    if name.startswith(("matrix", "errors")):
        matrices.read_matrix(path)
    elif path.suffix in {".pdb", ".cif"}:
        structures.from_structures([pdb.read_structure(path)], common_atoms=True)
    else:
        tables.read_table(path)


def main(folder: Path, name: str) -> None:
    """Read damaged versions of a file; any other error than a refusal ends the process."""
    data, rng = (folder / name).read_bytes(), np.random.default_rng(0)
    path = folder / f"damaged{Path(name).suffix}"
    for _ in range(TRIALS):
        path.write_bytes(damaged(data, rng) or b" ")
        try:
            read(path, name)
        except ValueError as error:
            message = str(error)
            assert "\n" not in message, message
            assert path.name in message, message


@pytest.mark.filterwarnings("error")
def test_no_damage_ends_a_process_or_goes_by_another_error(tmp_path: Path) -> None:
    write_files(tmp_path)
    child = "import sys; from pathlib import Path; from tests_next.io.test_damage import main\n"
    child += "for name in sys.argv[2:]: main(Path(sys.argv[1]), name)"
    done = subprocess.run(
        [sys.executable, "-c", child, str(tmp_path), *FILES],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr[-1000:]
