"""PDB files at the limits of their columns, and chains that are told apart by other means."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.readers.builders import (
    pdb_line,
    pdb_text,
    peptide,
    trajectory_positions,
    write_pdb,
    write_trajectory,
)
from timme.readers import read
from timme.readers.numbering import in_base_36, pdb_numbers

SERIALS = ("99998", "99999", *(f"A000{letter}" for letter in "0123456789ABC"))


def write_numbered(path: Path, numbers: dict[int, str], *, serials: bool = False) -> Path:
    """Two models of three alanines, with other residue numbers in columns 23 to 27."""
    models = list[str]()
    for model in (1, 2):
        models.append(f"MODEL     {model:4d}")
        for serial, record in enumerate(peptide(float(model), n_residues=3), start=1):
            line = pdb_line(record, serial)
            name = SERIALS[serial - 1] if serials else line[6:11]
            models.append(f"{line[:6]}{name}{line[11:22]}{numbers[record[4]]}{line[27:]}")
        models.append("ENDMDL")
    path.write_text("\n".join([*models, "END", ""]))
    return path


@pytest.mark.parametrize("as_topology", [False, True])
@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (("9999 ", "A000 ", "A001 "), (9999, 10_000, 10_001)),
        (("Z000 ", "ZZZY ", "ZZZZ "), (1_176_400, 1_223_054, 1_223_055)),
        (("9999 ", "10000", "10001"), (9999, 10_000, 10_001)),
        (("9999 ", "2710 ", "2711 "), (9999, 10_000, 10_001)),
        (("9998 ", "2719 ", "271a "), (9998, 10_009, 10_010)),
        (("9999 ", "9fff ", "A000 "), (9999, 40_959, 40_960)),
    ],
)
def test_residue_numbers_outgrow_their_columns(
    tmp_path: Path, numbers: tuple[str, ...], expected: tuple[int, ...], as_topology: bool
) -> None:
    path = write_numbered(
        tmp_path / "a.pdb", dict(enumerate(numbers, start=1)), serials=numbers[1] == "A000 "
    )
    trajectories = (
        [write_trajectory(tmp_path / "a.xtc", trajectory_positions(2, 15))] if as_topology else []
    )
    atoms = read(path, trajectories).atoms
    assert atoms.resids.tolist() == np.repeat(expected, 5).tolist()
    assert set(atoms.icodes.tolist()) == {""}


def test_numbers_in_base_16_tell_residues_apart_in_every_model(tmp_path: Path) -> None:
    """Read up to their first letter, all of 271a to 271f would be residue 271."""
    numbers = range(9_990, 10_030)
    fields = [str(number) if number < 10_000 else f"{number:x}" for number in numbers]
    lines = [
        f"HETATM{k:5d}  O   HOH W{field}    {3.0 * k:8.3f}{y:8.3f}{0:8.3f}  1.00  0.00           O"
        for y in (0.0, 1.0)
        for k, field in enumerate(fields, start=1)
    ]
    half = len(fields)
    parts = ["MODEL        1", *lines[:half], "ENDMDL", "MODEL        2", *lines[half:], "ENDMDL"]
    path = tmp_path / "a.pdb"
    path.write_text("\n".join([*parts, "END", ""]))
    ensemble = read(path, select="all")
    assert ensemble.atoms.resids.tolist() == list(numbers)
    assert ensemble.coordinates()[:, 3, :2].tolist() == [[12.0, 0.0], [12.0, 1.0]]


def test_a_chain_after_numbers_in_base_16_counts_from_its_own_start() -> None:
    fields = ["9999", "2710", "271a", "   1", " 999", "1000", "2700", "2710"]
    lines = [f"ATOM  {'':16}{field} " for field in fields]
    found = pdb_numbers(in_base_36("\n".join(lines).encode()).decode())
    assert found is not None
    assert found[0].tolist() == [9999, 10_000, 10_010, 1, 999, 1000, 2700, 2710]


@pytest.mark.parametrize("fields", [["9999", "2711"], ["9999", "A000", "A00F"], ["2710", "2711"]])
def test_other_numbers_are_not_of_base_16(fields: list[str]) -> None:
    data = "\n".join(f"ATOM  {'':16}{field} " for field in fields).encode()
    assert in_base_36(data) == data


def test_small_letters_go_on_after_large_ones() -> None:
    atoms = [f"ATOM  {'':16}{number} " for number in ("ZZZZ", "a000", "a001")]
    numbers = pdb_numbers("\n".join(atoms))
    assert numbers is not None
    assert numbers[0].tolist() == [1_223_055, 1_223_056, 1_223_057]


def test_insertion_codes_stay_what_they_are(tmp_path: Path) -> None:
    path = write_numbered(tmp_path / "a.pdb", {1: "  52 ", 2: "  52A", 3: "  52B"})
    atoms = read(path).atoms
    assert atoms.resids.tolist() == [52] * 15
    assert atoms.icodes[::5].tolist() == ["", "A", "B"]


def test_a_trajectory_that_mdanalysis_writes_as_pdb_is_read(tmp_path: Path) -> None:
    import MDAnalysis as mda

    source = write_pdb(tmp_path / "a.pdb", [peptide() + peptide(20.0, chain="B")])
    path = tmp_path / "b.pdb"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        universe = mda.Universe(str(source))
        positions = np.stack([universe.atoms.positions + shift for shift in range(3)])
        universe.load_new(positions, order="fac")
        with mda.Writer(str(path), n_atoms=20, multiframe=True) as writer:
            for _ in universe.trajectory:
                writer.write(universe.atoms)
    path.write_text(path.read_text().replace("ENDMDL", "TER\nENDMDL"))
    ensemble = read(path)
    np.testing.assert_allclose(ensemble.frames.read(0, 3)[0], positions, atol=1e-3)
    assert ensemble.snapshot()[1] is None


def test_ter_records_between_chains_do_not_shift_atoms(tmp_path: Path) -> None:
    models = [peptide(shift) + peptide(20.0 + shift, chain="B") for shift in (0.0, 1.0)]
    lines = list[str]()
    for line in pdb_text(models).split("\n"):
        lines.append(line)
        if line[12:16] == " CB " and line[21:26] == "A   2":
            lines.append("TER      11      ALA A   2")
    path = tmp_path / "a.pdb"
    path.write_text("\n".join(lines))
    found = read(path).frames.read(0, 2)[0]
    np.testing.assert_allclose(found[1] - found[0], np.tile([1.0, 0.0, 0.0], (20, 1)), atol=2e-3)


def test_alternative_locations_may_be_in_later_models_only(tmp_path: Path) -> None:
    later = peptide(1.0)
    alpha = later[1]
    later[1:2] = [
        (alpha[0], "A", *alpha[2:9], 0.4, alpha[10]),
        (alpha[0], "B", *alpha[2:6], 9.0, 8.0, 7.0, 0.6, alpha[10]),
    ]
    ensemble = read(write_pdb(tmp_path / "a.pdb", [peptide(), later]))
    assert ensemble.frames.shape == (2, 10, 3)
    np.testing.assert_allclose(ensemble.snapshot(1)[0][1], [9.0, 8.0, 7.0])


@pytest.mark.parametrize("as_topology", [False, True])
def test_chains_without_names_are_told_apart_by_segments(tmp_path: Path, as_topology: bool) -> None:
    lines = list[str]()
    for model in (1, 2):
        lines.append(f"MODEL     {model:4d}")
        for segment, shift in (("PROA", 0.0), ("PROB", 20.0)):
            for serial, record in enumerate(peptide(shift + model, chain=""), start=1):
                line = pdb_line(record, serial)
                lines.append(f"{line[:72]}{segment}{line[76:]}")
        lines.append("ENDMDL")
    path = tmp_path / "a.pdb"
    path.write_text("\n".join([*lines, "END", ""]))
    trajectories = (
        [write_trajectory(tmp_path / "a.xtc", trajectory_positions(2, 20))] if as_topology else []
    )
    ensemble = read(path, trajectories)
    assert ensemble.atoms.chains.tolist() == ["PROA"] * 10 + ["PROB"] * 10
    if not as_topology:
        assert ensemble.snapshot(1)[0][[0, 10], 0].tolist() == [2.0, 22.0]
        assert len(ensemble.atoms.bonds) == 18


def test_beads_in_a_pdb_file_have_no_elements(tmp_path: Path) -> None:
    beads = [
        (name, "", "CYS", "A", 1 + number // 2, "", 2.0 * number, 0.0, 0.0, 1.0, "")
        for number, name in enumerate(["BB", "SC1"] * 3)
    ]
    ensemble = read(write_pdb(tmp_path / "a.pdb", [beads, beads]))
    assert set(ensemble.atoms.elements.tolist()) == {""}
    assert len(ensemble.atoms.bonds) == 0
    assert any("coarse-grained" in note for note in ensemble.notes)


@pytest.mark.parametrize(
    "serial",
    [lambda _: "*****", lambda k: f"{k % 3:5d}", lambda k: f"{99_990 + k:5x}"],
    ids=["stars", "from 0 again", "base 16"],
)
def test_atoms_without_numbers_of_their_own_keep_the_order_of_the_file(
    tmp_path: Path, serial: Callable[[int], str]
) -> None:
    """Two chains of one letter: the parser puts residues of one number together."""
    records = [*peptide(n_residues=2), *peptide(30.0, n_residues=2)]
    path = write_pdb(tmp_path / "a.pdb", [records, records], extra=["CONECT    1    7"])
    lines = path.read_text().split("\n")
    atoms = [place for place, line in enumerate(lines) if line.startswith("ATOM")]
    for number, place in enumerate(atoms):
        lines[place] = lines[place][:6] + serial(number) + lines[place][11:]
    path.write_text("\n".join(lines))
    ensemble = read(path, bonds="file")
    places = np.array([record[6:9] for record in records], dtype=np.float64)
    np.testing.assert_allclose(ensemble.coordinates(), [places, places], atol=1e-6)
    assert not len(ensemble.atoms.bonds)  # as nobody knows which atoms are 1 and 7


def test_more_than_99999_atoms_of_one_chain_are_read(tmp_path: Path) -> None:
    """As programs write them whose numbers of atoms and residues begin again."""
    count = 100_020
    lattice = 4.0 * np.stack(np.unravel_index(np.arange(count), (100, 100, 100)), axis=1)
    lines = [
        f"ATOM  {(k + 1) % 100_000:5d}  CA  GLY A{(k + 1) % 10_000:4d}    "
        f"{x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00           C"
        for k, (x, y, z) in enumerate(lattice)
    ]
    (tmp_path / "a.pdb").write_text("\n".join([*lines, "END", ""]))
    found = read(tmp_path / "a.pdb", bonds="none").coordinates()
    np.testing.assert_allclose(found[0], lattice, atol=1e-6)
