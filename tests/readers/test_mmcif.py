"""mmCIF files that leave out names, and kinds of files that are near to it."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import gemmi
import numpy as np
import pytest

from tests.readers.builders import (
    Record,
    as_mmcif,
    pdb_text,
    peptide,
    trajectory_positions,
    write_pdb,
    write_trajectory,
)
from timme.readers import read

ALWAYS = ("group_PDB", "id", "type_symbol", "label_atom_id", "label_comp_id", "label_asym_id")
COORDINATES = ("Cartn_x", "Cartn_y", "Cartn_z", "pdbx_PDB_model_num")


def write_label_only(
    path: Path, models: Sequence[Sequence[Record]], *, authors: tuple[str, ...] = ()
) -> Path:
    """An mmCIF file as programs for prediction write it, without the names of authors."""
    document = gemmi.cif.Document()
    block = document.add_new_block("x")
    columns = (*ALWAYS, "label_seq_id", *authors, *COORDINATES)
    loop = block.init_loop("_atom_site.", list(columns))
    for model, records in enumerate(models, start=1):
        for serial, record in enumerate(records, start=1):
            name, _, resname, chain, resid, _, x, y, z, _, element = record
            number = "." if resname == "HOH" else str(resid)
            kind = "HETATM" if resname == "HOH" else "ATOM"
            written = {"auth_asym_id": "Z", "auth_seq_id": str(resid + 100)}
            row = [kind, str(serial), element, name, resname, chain, number]
            row += [written[author] for author in authors]
            loop.add_row([*row, f"{x:.3f}", f"{y:.3f}", f"{z:.3f}", str(model)])
    document.write_file(str(path))
    return path


def test_label_names_stand_in_for_those_of_the_authors(tmp_path: Path) -> None:
    models = [peptide(shift) + peptide(20.0 + shift, chain="Axp") for shift in (0.0, 1.0)]
    ensemble = read(write_label_only(tmp_path / "a.cif", models))
    assert ensemble.frames.shape == (2, 20, 3)
    assert ensemble.atoms.label(16) == "Axp/ALA 2/CA"
    assert ensemble.snapshot(1)[0][11, 0] == pytest.approx(22.2)
    assert len(ensemble.atoms.bonds) == 18


@pytest.mark.parametrize(
    ("authors", "label"),
    [
        (("auth_seq_id",), "A/ALA 101/N"),
        (("auth_asym_id",), "Z/ALA 1/N"),
        (("auth_seq_id", "auth_asym_id"), "Z/ALA 101/N"),
    ],
)
def test_names_of_the_authors_go_first(
    tmp_path: Path, authors: tuple[str, ...], label: str
) -> None:
    path = write_label_only(tmp_path / "a.cif", [peptide(), peptide(1.0)], authors=authors)
    assert read(path).atoms.label(0) == label


def test_waters_without_numbers_are_counted(tmp_path: Path) -> None:
    waters = [("O", "", "HOH", "W", 0, "", 5.0 * number, 9.0, 9.0, 1.0, "O") for number in range(3)]
    ensemble = read(write_label_only(tmp_path / "a.cif", [peptide() + waters] * 2))
    assert ensemble.atoms.resids[-3:].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("letters", "resids"),
    [
        (".AB.", [1, 2, 3]),
        ("AB.AB", [1, 2, 3]),
        ("ABAB", [1, 2]),
        ("AABB", [1, 2, 3]),  # the places of one stand together
        ("..A", [1, 2, 3]),
        ("A.A", [1, 2, 3]),
    ],
)
def test_waters_with_letters_are_no_alternatives_of_others(
    tmp_path: Path, letters: str, resids: list[int]
) -> None:
    columns = [*ALWAYS[:4], "label_alt_id", *ALWAYS[4:], "label_seq_id", *COORDINATES[:3]]
    rows = [
        f"HETATM {number} O O {letter} HOH W . {9.0 * number} 0 0"
        for number, letter in enumerate(letters, start=1)
    ]
    path = tmp_path / "a.cif"
    names = [f"_atom_site.{name}" for name in columns]
    path.write_text("\n".join(["data_x", "loop_", *names, *rows, ""]))
    assert read(path).atoms.resids.tolist() == resids


def test_residues_without_numbers_are_not_mixed(tmp_path: Path) -> None:
    """A glycine has no CB, so that the second CB is not that of the second residue."""
    records = [
        (*record[:2], "GLY" if record[4] in {2, 3} else record[2], *record[3:])
        for record in peptide(n_residues=5)
        if not (record[4] in {2, 3} and record[0] == "CB")
    ]
    path = write_label_only(tmp_path / "a.cif", [records])
    lines = path.read_text().split("\n")
    numbers = [line.split()[6] for line in lines if line.startswith("ATOM")]
    unnumbered = [
        " ".join([*line.split()[:6], ".", *line.split()[7:]]) if line.startswith("ATOM") else line
        for line in lines
    ]
    path.write_text("\n".join(unnumbered))
    assert read(path).atoms.resids.tolist() == [int(number) for number in numbers]


def test_two_blocks_with_atoms_are_refused(tmp_path: Path) -> None:
    text = write_label_only(tmp_path / "a.cif", [peptide()]).read_text()
    path = tmp_path / "two.cif"
    path.write_text(text + text.replace("data_x", "data_second"))
    told = r"two\.cif: one structure is needed, and 2 data blocks have atoms \(x, second\)"
    with pytest.raises(ValueError, match=told):
        read(path)
    trajectory = write_trajectory(tmp_path / "a.xtc", trajectory_positions(3, 10))
    with pytest.raises(ValueError, match="2 data blocks have atoms"):
        read(path, trajectory)


def test_a_topology_may_have_label_names_only(tmp_path: Path) -> None:
    path = write_label_only(tmp_path / "a.cif", [peptide()])
    trajectory = write_trajectory(tmp_path / "a.xtc", trajectory_positions(3, 10))
    assert read(path, trajectory).atoms.label(6) == "A/ALA 2/CA"


def test_binary_cif_says_what_to_give(tmp_path: Path) -> None:
    path, other = tmp_path / "a.bcif", write_pdb(tmp_path / "b.pdb", [peptide()])
    path.write_bytes(b"\x83\xa7encoder")
    packed = tmp_path / "a.bcif.gz"
    packed.write_bytes(gzip.compress(b"\x83\xa7encoder"))
    for source, trajectories in ((path, []), (packed, []), ([other, path], []), (other, [path])):
        with pytest.raises(ValueError, match=r"BinaryCIF is not read: give .* mmCIF"):
            read(source, trajectories)


@pytest.mark.parametrize("suffix", ["pdb", "cif"])
@pytest.mark.parametrize("harm", ["cut", "middle", "start"])
def test_a_compressed_file_that_is_damaged_is_refused(
    tmp_path: Path, suffix: str, harm: str
) -> None:
    text = pdb_text([peptide(), peptide(1.0)])
    plain = as_mmcif(tmp_path / "a.cif", text).read_bytes() if suffix == "cif" else text.encode()
    data = bytearray(gzip.compress(plain))
    if harm == "cut":
        del data[-30:]
    else:
        place = 60 if harm == "middle" else 0
        data[place : place + 20] = bytes(20)
    path = tmp_path / f"b.{suffix}.gz"
    path.write_bytes(data)
    trajectory = write_trajectory(tmp_path / "a.xtc", trajectory_positions(3, 10))
    for trajectories in ([], [trajectory]):
        with pytest.raises(ValueError, match=rf"b\.{suffix}\.gz: the .*again") as caught:
            read(path, trajectories)
        assert "\n" not in str(caught.value)


def test_residue_numbers_of_mmcif_have_any_length(tmp_path: Path) -> None:
    models = [[(*record[:4], record[4] + 123_456, *record[5:]) for record in peptide()]] * 2
    ensemble = read(write_label_only(tmp_path / "a.cif", models))
    assert np.unique(ensemble.atoms.resids).tolist() == [123_457, 123_458]
