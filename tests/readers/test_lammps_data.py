"""LAMMPS data files: all styles of atoms, alone and before a dump."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.readers.test_lammps import dump_text
from timme.readers import read

PLACES = np.array([[1.5, 2.25, 3.0], [4.0, 15.5, 6.0], [7.0, 8.0, 19.0], [9.5, 1.0, 2.0]])
FLAGS = "0 -1 2"
# Of every style, the columns before the places, those after them, and numbers of molecules.
STYLES = {
    "atomic": ("{type}", "", None),
    "charge": ("{type} -0.5", "", None),
    "bond": ("{mol} {type}", "", [1, 1, 2, 2]),
    "molecular": ("{mol} {type}", "", [1, 1, 2, 2]),
    "full": ("{mol} {type} 0.25", "", [1, 1, 2, 2]),
    "sphere": ("{type} 1.0 2.5", "", None),
    "ellipsoid": ("{type} 1 1.0", "", None),
    "dipole": ("{type} 0.0", "1.0 0.0 0.0", None),
    "hybrid": ("{type}", "1.0 0.5", None),
}


def data_text(style: str, *, named: bool, flags: bool, spacing: int = 1) -> str:
    before, after, _ = STYLES[style]
    rows = list[str]()
    for number in (2, 0, 3, 1):
        place = " ".join(map(str, PLACES[number]))
        columns = before.format(type=1 + number % 2, mol=1 + number // 2)
        given = f"{spacing * number + 1} {columns} {place} {after} {FLAGS if flags else ''}"
        rows.append(given.rstrip())
    still = [f"{spacing * number + 1} 0 0 0" for number in range(4)]
    return f"""a title

4 atoms
2 atom types

0 20 xlo xhi
0 20 ylo yhi
0 20 zlo zhi

Masses

1 1.0
2 2.0

Atoms{f"  # {style}" if named else ""}

{chr(10).join(rows)}

Velocities

{chr(10).join(still)}
"""


@pytest.mark.parametrize("flags", [False, True])
@pytest.mark.parametrize("style", STYLES)
def test_atoms_of_every_style_are_where_the_file_puts_them(
    tmp_path: Path, style: str, flags: bool
) -> None:
    path = tmp_path / "a.data"
    path.write_text(data_text(style, named=True, flags=flags))
    ensemble = read(path, bonds="none")
    np.testing.assert_allclose(ensemble.snapshot()[0], PLACES, atol=1e-5)
    assert ensemble.atoms.names.tolist() == ["1", "2", "1", "2"]
    molecules = None if ensemble.molecules is None else ensemble.molecules.tolist()
    assert molecules == STYLES[style][2]


@pytest.mark.parametrize("flags", [False, True])
@pytest.mark.parametrize("style", ["atomic", "charge", "molecular", "full", "sphere"])
def test_a_style_that_is_not_named_shows_in_the_columns(
    tmp_path: Path, style: str, flags: bool
) -> None:
    path = tmp_path / "a.data"
    path.write_text(data_text(style, named=False, flags=flags))
    ensemble = read(path, bonds="none")
    np.testing.assert_allclose(ensemble.snapshot()[0], PLACES, atol=1e-5)
    assert ensemble.atoms.names.tolist() == ["1", "2", "1", "2"]
    molecules = None if ensemble.molecules is None else ensemble.molecules.tolist()
    assert molecules == STYLES[style][2]


def test_columns_that_nobody_knows_ask_for_the_style(tmp_path: Path) -> None:
    path = tmp_path / "a.data"
    path.write_text(data_text("dipole", named=False, flags=True))
    with pytest.raises(ValueError, match=r"a\.data: .*columns of its atoms .*'Atoms # charge'"):
        read(path)


def test_a_dump_follows_a_data_file_of_atoms_without_molecules(tmp_path: Path) -> None:
    path, dump = tmp_path / "a.data", tmp_path / "a.lammpstrj"
    path.write_text(data_text("atomic", named=True, flags=False, spacing=10))  # as in the dump
    positions = np.stack([PLACES, PLACES + 0.5])
    dump.write_text(dump_text(positions))
    ensemble = read(path, dump, bonds="none")
    np.testing.assert_allclose(ensemble.frames.read(0, 2)[0], positions, atol=1e-5)
