"""Several models in one file, of formats whose readers know of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.readers.builders import (
    Record,
    as_mmcif,
    pdb_text,
    peptide,
    trajectory_positions,
    write_trajectory,
)
from timme.readers import read, read_model


def write_mmtf(path: Path, models: Sequence[Sequence[Record]]) -> Path:
    """Write models as entries of the PDB had them: one residue after the other, chain A in each."""
    from mmtf.api.mmtf_writer import MMTFEncoder  # type: ignore[import-untyped]

    encoder = MMTFEncoder()
    n_atoms = sum(map(len, models))
    encoder.init_structure(0, n_atoms, n_atoms // 5, len(models), len(models), "1ABC")
    encoder.set_xtal_info("", None)
    encoder.set_header_info(None, None, 1.0, "", "", "", [])
    encoder.set_entity_info(list(range(len(models))), "AA", "", "polymer")
    serial = 0
    for number, records in enumerate(models):
        encoder.set_model_info(number, 1)
        encoder.set_chain_info("A", "A", len(records) // 5)
        for start in range(0, len(records), 5):
            residue = records[start : start + 5]
            group = ("ALA", residue[0][4], "\x00", "PEPTIDE LINKING", 5, 0, "A", start // 5, -1)
            encoder.set_group_info(*group)
            for record in residue:
                serial += 1
                places = record[6:9]
                encoder.set_atom_info(record[0], serial, "\x00", *places, 1.0, 0.0, record[10], 0)
    encoder.finalize_structure()
    encoder.write_file(str(path))
    return path


def as_pdbqt(text: str) -> str:
    lines = text.split("\n")
    return "\n".join(
        f"{line[:66]}    +0.123 {line[76:78].strip()}" if line.startswith("ATOM") else line
        for line in lines
    )


def as_pqr(text: str) -> str:
    lines = text.split("\n")
    return "\n".join(
        f"{line[:54]} 0.1230 1.5000" if line.startswith("ATOM") else line for line in lines
    )


def as_mol2(models: Sequence[Sequence[Record]]) -> str:
    lines = list[str]()
    for records in models:
        lines += ["@<TRIPOS>MOLECULE", "ligand", f"{len(records)} 0 1 0 0", "SMALL"]
        lines += ["USER_CHARGES", "", "@<TRIPOS>ATOM"]
        for serial, record in enumerate(records, start=1):
            x, y, z = record[6:9]
            kind = f"{record[10]}.3"
            lines.append(f"{serial} {record[0]} {x:.4f} {y:.4f} {z:.4f} {kind} 1 LIG 0.1")
        lines.append("@<TRIPOS>BOND")
    return "\n".join([*lines, ""])


MODELS = [peptide(float(shift)) for shift in range(3)]


@pytest.mark.parametrize("n_models", [1, 2])
@pytest.mark.filterwarnings("ignore")  # of the library that writes the format
def test_mmtf_is_refused_since_its_models_would_be_piled_into_one(
    tmp_path: Path, n_models: int
) -> None:
    path = write_mmtf(tmp_path / "a.mmtf", MODELS[:n_models])
    for reader in (read, read_model):
        with pytest.raises(ValueError, match=r"a\.mmtf: MMTF is not read: .*mmCIF .*PDB$"):
            reader(path)


@pytest.mark.parametrize(("suffix", "write"), [("pdbqt", as_pdbqt), ("pqr", as_pqr)])
def test_models_that_would_be_piled_into_one_are_refused(
    tmp_path: Path, suffix: str, write: Callable[[str], str]
) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_text(write(pdb_text(MODELS)))
    told = rf"a\.{suffix}: 3 models, .* {suffix.upper()} files: give them as PDB or mmCIF"
    for reader in (read, read_model):
        with pytest.raises(ValueError, match=told):
            reader(path)
    with pytest.raises(ValueError, match=told):
        read(write_trajectory(tmp_path / "top.gro", trajectory_positions(1, 10)), path)
    path.write_text(write(pdb_text(MODELS[:1])))
    assert read(path).frames.shape == (1, 10, 3)


def test_molecules_of_a_mol2_file_are_snapshots_if_they_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.mol2"
    path.write_text(as_mol2(MODELS))
    found = read(path, bonds="none").frames.read(0, 3)[0]
    np.testing.assert_allclose(found[:, 0, 0], [0.0, 1.0, 2.0])


@pytest.mark.parametrize("other", [peptide()[::-1], peptide(n_residues=3)], ids=["names", "count"])
def test_different_molecules_of_a_mol2_file_are_refused(
    tmp_path: Path, other: list[Record]
) -> None:
    path = tmp_path / "a.mol2"
    path.write_text(as_mol2([*MODELS, other]))
    with pytest.raises(ValueError, match=r"a\.mol2: molecule 4 has not the atoms of the first"):
        read(path)


@pytest.mark.parametrize("suffix", ["cif", "mmcif"])
def test_later_models_of_mmcif_are_not_dropped_after_another_topology(
    tmp_path: Path, suffix: str
) -> None:
    topology = write_trajectory(tmp_path / "top.gro", trajectory_positions(1, 10))
    path = as_mmcif(tmp_path / f"a.{suffix}", pdb_text(MODELS))
    with pytest.raises(ValueError, match=rf"a\.{suffix}: 3 models, of which only the first"):
        read(topology, path)
    assert read(topology, as_mmcif(path, pdb_text(MODELS[:1]))).n_snapshots == 1


@pytest.mark.parametrize("suffix", ["ent", "xpdb"])
def test_models_of_pdb_files_by_other_names_are_snapshots(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_text(pdb_text(MODELS))
    found = read(path).frames.read(0, 3)[0]
    np.testing.assert_allclose(found[:, 0, 0], [0.0, 1.0, 2.0])
