"""Models of structure files."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.readers.builders import (
    Record,
    as_mmcif,
    atom,
    pdb_line,
    pdb_text,
    peptide,
    trajectory_positions,
    waters,
    write_pdb,
    write_trajectory,
)
from timme import data
from timme._arrays import Coordinates
from timme.readers import read, read_model
from timme.system.ensemble import Ensemble


def coordinates(ensemble: Ensemble) -> Coordinates:
    return ensemble.frames.read(0, ensemble.n_snapshots)[0]


def test_models_are_snapshots(tmp_path: Path) -> None:
    path = write_pdb(tmp_path / "a.pdb", [peptide(0.0), peptide(1.0), peptide(2.0)])
    ensemble = read(path)
    assert ensemble.frames.shape == (3, 10, 3)
    assert coordinates(ensemble)[2, 0].tolist() == [2.0, 0.0, 0.0]
    assert ensemble.independent
    assert ensemble.unit == "Å"
    assert ensemble.rounding == 0.001
    assert ensemble.sources == (str(path),)
    assert ensemble.atoms.label(1) == "A/ALA 1/CA"


def test_barnase_has_the_bonds_of_its_covalent_graph() -> None:
    ensemble = read(data.path("barnase_md.pdb"))
    assert ensemble.frames.shape == (1, 1700, 3)
    # A connected chain has one bond less than atoms, and one more for each ring:
    # 3 Trp (two rings each), 7 Tyr, 4 Phe, 2 His, 3 Pro.
    assert len(ensemble.atoms.bonds) == 1699 + 22
    assert not ensemble.notes


def test_one_structure_is_one_snapshot(tmp_path: Path) -> None:
    path = tmp_path / "a.pdb"
    path.write_text(pdb_text([peptide()]).replace("MODEL        1\n", "").replace("ENDMDL\n", ""))
    assert read(path).n_snapshots == 1


@pytest.mark.parametrize("suffix", [".pdb", ".ent", ".pdb.gz", ".PDB"])
def test_pdb_files_by_any_name(tmp_path: Path, suffix: str) -> None:
    text = pdb_text([peptide(), peptide(1.0)]).encode()
    path = tmp_path / f"a{suffix}"
    path.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
    assert read(path).frames.shape == (2, 10, 3)


@pytest.mark.parametrize("suffix", [".cif", ".mmcif", ".pdbx", ".cif.gz"])
def test_mmcif_gives_the_same_as_pdb(tmp_path: Path, suffix: str) -> None:
    records = [*peptide(), atom("CA", 7, (30.0, 0.0, 0.0), icode="B", chain="C")]
    text = pdb_text([records, [(*r[:6], r[6] + 1.0, *r[7:]) for r in records]])
    plain = as_mmcif(tmp_path / "plain.cif", text)
    path = tmp_path / f"a{suffix}"
    path.write_bytes(
        gzip.compress(plain.read_bytes()) if suffix.endswith("gz") else plain.read_bytes()
    )
    pdb = tmp_path / "a.pdb"
    pdb.write_text(text)
    one, other = read(path), read(pdb)
    np.testing.assert_array_equal(coordinates(one), coordinates(other))
    np.testing.assert_array_equal(one.atoms.bonds, other.atoms.bonds)
    for field in ("names", "elements", "resnames", "resids", "icodes", "chains", "masses"):
        np.testing.assert_array_equal(getattr(one.atoms, field), getattr(other.atoms, field))


def test_mmcif_uses_author_numbers(tmp_path: Path) -> None:
    records = [
        atom("CA", 101, (0.0, 0.0, 0.0), chain="Z"),
        atom("CA", 102, (3.8, 0.0, 0.0), chain="Z"),
    ]
    ensemble = read(as_mmcif(tmp_path / "a.cif", pdb_text([records])))
    assert ensemble.atoms.resids.tolist() == [101, 102]
    assert ensemble.atoms.chains.tolist() == ["Z", "Z"]


def test_atoms_in_another_order_are_matched(tmp_path: Path) -> None:
    second = peptide(5.0)
    ensemble = read(write_pdb(tmp_path / "a.pdb", [peptide(), second[::-1]]))
    both = coordinates(ensemble)
    np.testing.assert_allclose(both[1] - both[0], np.tile([5.0, 0.0, 0.0], (10, 1)), atol=1e-9)
    assert "another order" in ensemble.notes[0]


def test_models_that_differ_name_the_first_difference(tmp_path: Path) -> None:
    path = write_pdb(tmp_path / "a.pdb", [peptide(), peptide()[:-1]])
    with pytest.raises(
        ValueError, match=r"a\.pdb: model 2: atom A/ALA 2/CB of .*model 1 is not there"
    ):
        read(path)


def test_an_atom_too_many_is_named_too(tmp_path: Path) -> None:
    path = write_pdb(tmp_path / "a.pdb", [peptide()[:-1], peptide()])
    with pytest.raises(ValueError, match=r"model 1: atom A/ALA 2/CB of .*model 2 is not there"):
        read(path)


def test_common_atoms_goes_on_and_says_how_many_were_left_out(tmp_path: Path) -> None:
    extra = [atom("OXT", 2, (9.0, 9.0, 9.0))]
    path = write_pdb(tmp_path / "a.pdb", [peptide()[:-1], peptide() + extra])
    ensemble = read(path, common_atoms=True)
    assert ensemble.n_sites == 9
    assert "9 atoms that all share were kept, 2 were left out" in ensemble.notes[0]


def test_models_without_common_atoms_are_refused(tmp_path: Path) -> None:
    path = write_pdb(tmp_path / "a.pdb", [peptide(chain="A"), peptide(chain="B")])
    with pytest.raises(ValueError, match="share no atoms"):
        read(path, common_atoms=True)


@pytest.mark.parametrize("n_models", [1, 2])
def test_duplicate_atoms_are_named(tmp_path: Path, n_models: int) -> None:
    path = write_pdb(tmp_path / "a.pdb", [[*peptide(), peptide()[3]]] * n_models)
    with pytest.raises(ValueError, match=r"model 1: atom A/ALA 1/O is there twice"):
        read(path)


def with_twins(shift: float = 0.0) -> list[Record]:
    """A peptide whose two hydrogens at a CB have one name."""
    records = peptide(shift)
    twins = [atom("HB", 1, (shift + 1.2, -2.4, z)) for z in (-0.56, -2.04)]
    return [*records[:5], *twins, *records[5:]]


@pytest.mark.parametrize("n_models", [1, 2])
def test_of_hydrogens_with_one_name_the_first_is_kept_and_it_says_so(
    tmp_path: Path, n_models: int
) -> None:
    models = [with_twins(float(shift)) for shift in range(n_models)]
    ensemble = read(write_pdb(tmp_path / "a.pdb", models))
    assert ensemble.frames.shape == (n_models, 11, 3)
    np.testing.assert_allclose(coordinates(ensemble)[:, 5, 2], -0.56)
    np.testing.assert_allclose(coordinates(ensemble)[:, 6, 0], 3.8 + np.arange(n_models))
    assert ensemble.atoms.resids.tolist() == [1] * 6 + [2] * 5
    (note,) = ensemble.notes
    assert note == (
        "1 hydrogen has the name of one before, such as A/ALA 1/HB: the first of each name was kept"
    )


def test_hydrogens_with_one_name_are_matched_in_models_of_other_orders(tmp_path: Path) -> None:
    models = [with_twins(), [*peptide(1.0), *with_twins(1.0)[5:7]]]
    found = coordinates(read(write_pdb(tmp_path / "a.pdb", models)))
    np.testing.assert_allclose(found[1] - found[0], np.tile([1.0, 0.0, 0.0], (11, 1)), atol=1e-9)


def test_a_hydrogen_that_is_there_twice_in_some_models_only_is_refused(tmp_path: Path) -> None:
    twins = with_twins()
    path = write_pdb(tmp_path / "a.pdb", [[*twins[:6], *twins[7:]], twins])
    with pytest.raises(ValueError, match=r"model 2: atom A/ALA 1/HB is there twice"):
        read(path)
    assert "the first of each name was kept" in read_model(path, model=2)[0].notes[0]


@pytest.mark.parametrize("number", [1, 99, 199, 1234])
@pytest.mark.parametrize("as_topology", [False, True])
def test_the_numbers_of_lines_in_old_files_are_no_charges(
    tmp_path: Path, number: int, as_topology: bool
) -> None:
    records = [*peptide(), atom("CA", 3, (30.0, 0.0, 0.0), resname="CA", element="CA")]
    lines = [pdb_line(record, serial) for serial, record in enumerate(records, start=1)]
    lines = [f"{line[:72]}1ABC{number + k:4d}" for k, line in enumerate(lines)]
    path = tmp_path / "a.pdb"
    path.write_text("\n".join([f"{'HEADER    HYDROLASE':<72}1ABC   1", *lines, "END", ""]))
    if as_topology:
        frames = write_trajectory(tmp_path / "a.xtc", trajectory_positions(2, 11))
        ensemble = read(path, frames)
    else:
        ensemble = read(path)
        assert ensemble.atoms.elements[10] == "Ca"
    assert ensemble.atoms.elements[:10].tolist() == ["N", "C", "C", "O", "C"] * 2
    assert ensemble.atoms.chains.tolist() == ["A"] * 11
    assert ensemble.atoms.resids.tolist() == [1] * 5 + [2] * 5 + [3]


def test_the_code_of_an_old_file_is_no_chain(tmp_path: Path) -> None:
    lines = [pdb_line(record, 1) for record in peptide(chain="")]
    lines = [f"{line[:72]}1ABC{k:4d}" for k, line in enumerate(lines, start=97)]
    path = tmp_path / "a.pdb"
    path.write_text("\n".join([*lines, "END", ""]))
    assert set(read(path).atoms.chains) == {""}


def test_elements_and_charges_of_new_files_stay(tmp_path: Path) -> None:
    line = pdb_line(atom("CA", 3, (30.0, 0.0, 0.0), resname="LIG", element="Ca"), 1)
    path = tmp_path / "a.pdb"
    path.write_text("\n".join([f"{line[:72]}1SEG{'CA2+'}", "END", ""]))
    assert read(path).atoms.elements.tolist() == ["Ca"]


def alternative(occupancies: tuple[float, float]) -> list[Record]:
    return [
        *peptide()[:4],
        atom("CB", 1, (0.0, 5.0, 0.0), altloc="A", occupancy=occupancies[0]),
        atom("CB", 1, (0.0, 6.0, 0.0), altloc="B", occupancy=occupancies[1]),
    ]


@pytest.mark.parametrize(
    ("occupancies", "y"), [((0.3, 0.7), 6.0), ((0.7, 0.3), 5.0), ((0.5, 0.5), 5.0)]
)
def test_the_alternative_of_highest_occupancy_is_taken(
    tmp_path: Path, occupancies: tuple[float, float], y: float
) -> None:
    ensemble = read(write_pdb(tmp_path / "a.pdb", [alternative(occupancies)]))
    assert ensemble.n_sites == 5
    assert coordinates(ensemble)[0, 4, 1] == y
    letter = "A" if y == 5.0 else "B"
    (note,) = ensemble.notes
    assert note == (
        "1 atom has alternative locations: those of highest occupancy were taken, one letter for "
        f"residues that touch ({letter} in 1), and 1 place was left out"
    )


def test_all_models_take_the_same_alternative(tmp_path: Path) -> None:
    path = write_pdb(tmp_path / "a.pdb", [alternative((0.4, 0.6)), alternative((0.5, 0.5))])
    assert coordinates(read(path))[:, 4, 1].tolist() == [6.0, 6.0]


def test_a_residue_takes_one_alternative_as_a_whole(tmp_path: Path) -> None:
    records = [
        *peptide()[:4],
        atom("CB", 1, (0.0, 5.0, 0.0), altloc="A", occupancy=0.5),
        atom("OG", 1, (0.0, 5.0, 1.0), altloc="A", occupancy=0.4),
        atom("CB", 1, (0.0, 6.0, 0.0), altloc="B", occupancy=0.5),
        atom("OG", 1, (0.0, 6.0, 1.0), altloc="B", occupancy=0.6),
    ]
    ensemble = read(write_pdb(tmp_path / "a.pdb", [records]))
    assert coordinates(ensemble)[0, 4:, 1].tolist() == [6.0, 6.0]


def test_two_kinds_of_residue_at_one_place_are_not_mixed(tmp_path: Path) -> None:
    records = [
        atom("CA", 1, (0.0, 0.0, 0.0), resname="SER", altloc="A", occupancy=0.6),
        atom("OG", 1, (0.0, 2.0, 0.0), resname="SER", altloc="A", occupancy=0.6),
        atom("CA", 1, (0.1, 0.0, 0.0), resname="THR", altloc="B", occupancy=0.4),
        atom("OG1", 1, (0.1, 2.0, 0.0), resname="THR", altloc="B", occupancy=0.4),
    ]
    ensemble = read(write_pdb(tmp_path / "a.pdb", [records]))
    assert ensemble.atoms.names.tolist() == ["CA", "OG"]


def test_the_same_altloc_twice_is_a_duplicate(tmp_path: Path) -> None:
    records = [*alternative((0.5, 0.5)), atom("CB", 1, (1.0, 1.0, 1.0), altloc="A", occupancy=0.5)]
    with pytest.raises(ValueError, match=r"A/ALA 1/CB \(altloc A\) is there twice"):
        read(write_pdb(tmp_path / "a.pdb", [records]))


def test_insertion_codes_and_chains_keep_residues_apart(tmp_path: Path) -> None:
    places = [("A", ""), ("A", "A"), ("A", "B"), ("B", "")]
    records = [
        atom("CA", 52, (4.0 * number, 0.0, 0.0), chain=chain, icode=icode)
        for number, (chain, icode) in enumerate(places)
    ]
    ensemble = read(write_pdb(tmp_path / "a.pdb", [records, records[::-1]]))
    assert [ensemble.atoms.label(index) for index in range(4)] == [
        "A/ALA 52/CA",
        "A/ALA 52A/CA",
        "A/ALA 52B/CA",
        "B/ALA 52/CA",
    ]
    both = coordinates(ensemble)
    np.testing.assert_array_equal(both[0], both[1])


@pytest.mark.parametrize(
    "field",
    [
        *("********", "     nan", "     NaN", "     inf", "   a.bcd", "        "),
        # Nearly what programs write.
        *("  1 .000", " - 1.000", " --1.000", "1- 2.000", "  1..000", "1 23.000", "   -.0 0"),
    ],
)
def test_coordinates_that_are_no_numbers_are_named(tmp_path: Path, field: str) -> None:
    lines = pdb_text([peptide(), peptide()]).split("\n")
    # Model 2 starts after MODEL, 10 atoms and ENDMDL.
    lines[14] = lines[14][:30] + field + lines[14][38:]
    path = tmp_path / "a.pdb"
    path.write_text("\n".join(lines))
    with pytest.raises(
        ValueError, match=r"a\.pdb: line 15, model 2, atom CA of ALA 1: coordinates must"
    ):
        read(path)


@pytest.mark.parametrize("field", ["1.5     ", "     1.5", "   1.5e0", "    +1.5", "   1.50 "])
def test_coordinates_may_be_written_in_other_ways(tmp_path: Path, field: str) -> None:
    lines = pdb_text([peptide(), peptide()]).split("\n")
    lines[14] = lines[14][:30] + field + lines[14][38:]
    path = tmp_path / "a.pdb"
    path.write_text("\n".join(lines))
    assert coordinates(read(path))[1, 1, 0] == 1.5


@pytest.mark.parametrize("value", ["?", "nan", "********"])
def test_mmcif_coordinates_that_are_no_numbers_are_named(tmp_path: Path, value: str) -> None:
    path = as_mmcif(tmp_path / "a.cif", pdb_text([[atom("CA", 1, (1.0, 77.125, 2.0))]]))
    path.write_text(path.read_text().replace("77.125", value))
    with pytest.raises(
        ValueError, match=r"a\.cif: model 1, atom A/ALA 1/CA: coordinates must be numbers"
    ):
        read(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: text.replace(b"\n", b"\r"),
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: b"REMARK   1 caf\xe9 \xff\xfe\n" + text,
    ],
    ids=["crlf", "cr", "bom", "latin-1"],
)
def test_line_ends_marks_and_encodings_do_not_matter(
    tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    text = pdb_text([peptide(), peptide(1.0)]).encode()
    path, plain = tmp_path / "a.pdb", tmp_path / "plain.pdb"
    path.write_bytes(change(text))
    plain.write_bytes(text)
    np.testing.assert_array_equal(coordinates(read(path)), coordinates(read(plain)))
    cif = as_mmcif(tmp_path / "plain.cif", text.decode())
    if b"REMARK" not in change(text):
        changed = tmp_path / "a.cif"
        changed.write_bytes(change(cif.read_bytes()))
        np.testing.assert_array_equal(coordinates(read(changed)), coordinates(read(cif)))


@pytest.mark.parametrize(
    ("line", "place"),
    [("ATOM", 13), ("ATOM", 16), ("ATOM", 18), ("ATOM", 21), ("ATOM", 26), ("LINK", 15)],
)
def test_names_that_are_not_in_ascii_are_refused_with_their_line(
    tmp_path: Path, line: str, place: int
) -> None:
    link = "LINK         CA  ALA A   1                 CA  ALA A   2     1555   1555  3.80"
    data = bytearray(f"{link}\n{pdb_text([peptide()])}".encode())
    data[data.index(line.encode()) + place] = 0xFF
    path = tmp_path / "a.pdb"
    path.write_bytes(data)
    number = 1 if line == "LINK" else 3
    with pytest.raises(ValueError, match=rf"a\.pdb: line {number}: names .* in ASCII, got .*ÿ.*:"):
        read(path)


@pytest.mark.parametrize("suffix", [".pdb", ".cif"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"hello there\n", "no atoms were found|not a valid mmCIF"),
    ],
    ids=["empty", "spaces", "words"],
)
def test_files_without_structures_are_refused(
    tmp_path: Path, suffix: str, content: bytes, message: str
) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read(path)


def test_a_mmcif_without_atoms_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.cif"
    path.write_text("data_x\n_cell.length_a 10\n")
    with pytest.raises(
        ValueError, match=r"a\.cif: not a valid mmCIF file: it has no _atom_site table"
    ):
        read(path)


def test_a_line_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.pdb"
    path.write_text(pdb_text([peptide()])[:460])
    with pytest.raises(ValueError, match=r"a\.pdb: "):
        read(path)


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="this is a directory"):
        read(tmp_path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"b\.pdb: there is no such file"):
        read(tmp_path / "b.pdb")


def test_a_damaged_gzip_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.pdb.gz"
    path.write_bytes(gzip.compress(pdb_text([peptide()]).encode())[:-20])
    with pytest.raises(ValueError, match="damaged or cut off"):
        read(path)


def test_a_list_of_files_is_an_ensemble(tmp_path: Path) -> None:
    paths = [write_pdb(tmp_path / f"{shift}.pdb", [peptide(float(shift))]) for shift in range(3)]
    ensemble = read(paths)
    assert coordinates(ensemble)[:, 0, 0].tolist() == [0.0, 1.0, 2.0]
    assert len(ensemble.sources) == 3


def test_files_that_differ_name_both(tmp_path: Path) -> None:
    one = write_pdb(tmp_path / "one.pdb", [peptide()])
    two = write_pdb(tmp_path / "two.pdb", [peptide()[1:]])
    with pytest.raises(ValueError, match=r"two\.pdb: model 1: atom A/ALA 1/N of .*one\.pdb"):
        read([one, two])


def test_open_and_closed_structures_share_their_heavy_atoms() -> None:
    files = pytest.importorskip("MDAnalysisTests.datafiles", reason="needs MDAnalysisTests")
    ensemble = read([files.PDB_small, files.PDB_closed], common_atoms=True)
    assert ensemble.n_snapshots == 2
    assert ensemble.n_sites > 1600  # 214 residues of some 8


def test_frames_separated_by_end_only_are_snapshots(tmp_path: Path) -> None:
    path = tmp_path / "a.pdb"
    text = "".join(
        pdb_text([peptide(shift)]).replace("MODEL        1\n", "").replace("ENDMDL\n", "")
        for shift in (0.0, 1.0, 2.0)
    )
    path.write_text(text)
    assert coordinates(read(path))[:, 0, 0].tolist() == [0.0, 1.0, 2.0]


def test_models_may_have_the_same_number(tmp_path: Path) -> None:
    path = tmp_path / "a.pdb"
    path.write_text(pdb_text([peptide(), peptide(1.0)]).replace("MODEL        2", "MODEL        1"))
    assert read(path).n_snapshots == 2


def test_more_models_than_four_digits_count(tmp_path: Path) -> None:
    models = [[atom("CA", 1, (0.01 * number, 0.0, 0.0))] for number in range(10_003)]
    found = coordinates(read(write_pdb(tmp_path / "a.pdb", models)))
    np.testing.assert_allclose(found[:, 0, 0], 0.01 * np.arange(10_003), atol=1e-9)


def test_names_out_of_their_columns_are_not_metals(tmp_path: Path) -> None:
    lines = pdb_text([peptide()]).split("\n")
    shifted = [
        f"{line[:12]}{line[12:16].strip():<4}{line[16:76]}" if line.startswith("ATOM") else line
        for line in lines
    ]
    path = tmp_path / "a.pdb"
    path.write_text("\n".join(shifted))
    ensemble = read(path)
    assert ensemble.atoms.elements.tolist() == ["N", "C", "C", "O", "C"] * 2
    assert len(ensemble.atoms.bonds) == 9


def test_segments_tell_chains_apart_where_there_are_no_chains(tmp_path: Path) -> None:
    lines = pdb_text([peptide(chain="") + peptide(20.0, chain="")]).split("\n")
    for number in range(1, 21):
        segment = "ONE " if number <= 10 else "TWO "
        lines[number] = lines[number][:72] + segment + lines[number][76:]
    path = tmp_path / "a.pdb"
    path.write_text("\n".join(lines))
    assert read(path).atoms.chains.tolist() == ["ONE"] * 10 + ["TWO"] * 10


def test_residue_numbers_that_start_again_are_not_duplicates(tmp_path: Path) -> None:
    records = [
        atom("O", number % 10_000, (3.0 * number % 100, 3.0 * (number // 33), 0.0), resname="HOH")
        for number in range(1, 10_010)
    ]
    assert read(write_pdb(tmp_path / "a.pdb", [records])).n_sites == 10_009


def test_the_cell_of_a_crystal_is_not_a_box(tmp_path: Path) -> None:
    path = tmp_path / "a.pdb"
    cell = "CRYST1   20.000   20.000   20.000  90.00  90.00  90.00 P 1           1\n"
    path.write_text(cell + pdb_text([peptide(), peptide()]))
    assert read(path).snapshot()[1] is None
    box = read(path, box=[20.0, 20.0, 20.0]).snapshot()[1]
    np.testing.assert_array_equal(box, 20.0 * np.eye(3))


def test_links_of_the_file_are_bonds(tmp_path: Path) -> None:
    records = [*peptide(), atom("SG", 9, (20.0, 0.0, 0.0)), atom("SG", 10, (20.0, 2.9, 0.0))]
    without = read(write_pdb(tmp_path / "a.pdb", [records]))
    path = write_pdb(tmp_path / "b.pdb", [records], extra=["CONECT   11   12", "CONECT   12   11"])
    new = set(map(tuple, read(path).atoms.bonds.tolist())) - set(
        map(tuple, without.atoms.bonds.tolist())
    )
    assert new == {(10, 11)}


@pytest.mark.parametrize(("length", "bonded"), [(3.499, True), (3.501, False)])
def test_links_longer_than_3_5_join_no_atoms_of_the_model(
    tmp_path: Path, length: float, bonded: bool
) -> None:
    records = [*peptide(), atom("SG", 9, (20.0, 0.0, 0.0)), atom("SG", 10, (20.0, length, 0.0))]
    path = write_pdb(tmp_path / "a.pdb", [records], extra=["CONECT   11   12"])
    assert ([10, 11] in read(path).atoms.bonds.tolist()) == bonded


def test_links_to_metals_are_not_covalent(tmp_path: Path) -> None:
    records = [*peptide(), atom("ZN", 9, (20.0, 0.0, 0.0), resname="ZN", element="ZN")]
    records.append(atom("SG", 10, (20.0, 2.3, 0.0), resname="CYS"))
    path = write_pdb(tmp_path / "a.pdb", [records], extra=["CONECT   11   12"])
    assert 10 not in read(path).atoms.bonds


def test_reading_structures_needs_no_heavy_library(tmp_path: Path) -> None:
    path = write_pdb(tmp_path / "a.pdb", [peptide(), peptide(1.0)])
    program = (
        "import sys, timme.readers\n"
        "assert not {'MDAnalysis', 'pandas', 'gemmi', 'mdtraj'} & set(sys.modules), 'import'\n"
        f"timme.read({str(path)!r}, select='ca')\n"
        "assert not {'MDAnalysis', 'pandas', 'mdtraj'} & set(sys.modules), 'read'\n"
    )
    subprocess.run(
        [sys.executable, "-c", program], check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )


def test_the_cell_of_several_models_is_no_box_but_told(tmp_path: Path) -> None:
    models = [peptide(), peptide(1.0)]
    real = "CRYST1   20.000   21.000   22.000  90.00  90.00  90.00 P 1           1"
    dummy = "CRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1           1"
    path = write_pdb(tmp_path / "a.pdb", models)
    for record, expected in ((real, ["box=[20, 21, 22]"]), (dummy, [])):
        (tmp_path / "b.pdb").write_text(f"{record}\n{path.read_text()}")
        notes = [note for note in read(tmp_path / "b.pdb").notes if "periodic box" in note]
        assert [note.split("if it is one, ")[1] for note in notes] == expected
    (tmp_path / "c.pdb").write_text(
        f"{real}\n{write_pdb(tmp_path / 'd.pdb', models[:1]).read_text()}"
    )
    assert read(tmp_path / "c.pdb").notes == ()


def wrapped_waters(shift: float, length: float) -> list[Record]:
    """Waters that the walls of a box cut apart, as simulations write them."""
    return [(*record[:6], (record[6] + shift) % length, *record[7:]) for record in waters(4)]


CELL = "CRYST1{0:9.3f}{0:9.3f}{0:9.3f}  90.00  90.00  90.00 P 1           1"


@pytest.mark.parametrize("layout", ["files", "models", "ends", "a cell for each"])
def test_molecules_of_a_simulation_are_whole_through_its_cell(tmp_path: Path, layout: str) -> None:
    lengths = [16.0, 16.0, 16.5] if layout != "models" else [16.0] * 3
    shifts = [2.5, 3.2, 7.1]
    models = [wrapped_waters(*each) for each in zip(shifts, lengths, strict=True)]
    cells = [CELL.format(length) for length in lengths]
    texts = [pdb_text([model]) for model in models]
    parts = {
        "files": [f"{cell}\n{text}" for cell, text in zip(cells, texts, strict=True)],
        "models": [f"{cells[0]}\n{pdb_text(models)}"],
        "ends": ["".join(f"{c}\n" + "\n".join(t.split("\n")[1:-3]) + "\nEND\n"
                         for c, t in zip(cells, texts, strict=True))],
        "a cell for each": ["".join(f"{c}\n" + "\n".join(t.split("\n")[:-2]) + "\n"
                                    for c, t in zip(cells, texts, strict=True)) + "END\n"],
    }[layout]  # fmt: skip
    paths = [tmp_path / f"{number}.pdb" for number in range(len(parts))]
    for path, text in zip(paths, parts, strict=True):
        path.write_text(text)
    ensemble = read(paths[0], paths[1:])
    (note,) = [note for note in ensemble.notes if "periodic box" in note]
    assert "make molecules whole" in note
    assert "[16, 16, 16]" in note
    assert ensemble.frames.read(0, 3)[1] is None
    assert len(ensemble.atoms.bonds) == 8
    found = ensemble.frames.read(0, 3)[0]
    lengths_of_bonds = np.linalg.norm(np.diff(found[:, ensemble.atoms.bonds], axis=2), axis=-1)
    np.testing.assert_allclose(lengths_of_bonds, 0.96, atol=0.01)
    with pytest.raises(ValueError, match=r"unwrap=True needs a periodic box.*give it \(box=\)"):
        read(paths[0], paths[1:], unwrap=True)


def test_cells_of_several_crystals_are_neither_used_nor_told(tmp_path: Path) -> None:
    for number, group in enumerate(("P 21 21 21", "P 1")):
        cell = f"CRYST1   16.000   16.000   16.000  90.00  90.00  90.00 {group:<11}\n"
        text = pdb_text([wrapped_waters(number + 2.5, 16.0)])
        (tmp_path / f"{number}.pdb").write_text(cell + text)
    ensemble = read([tmp_path / "0.pdb", tmp_path / "1.pdb"])
    assert not any("periodic box" in note for note in ensemble.notes)
    assert len(ensemble.atoms.bonds) < 8


def test_numbers_far_apart_in_any_order_are_matched(tmp_path: Path) -> None:
    records = [atom("CA", number, (float(number), 0.0, 0.0)) for number in (1, 2, 7000, 8000)]
    path = write_pdb(tmp_path / "a.pdb", [records, records[::-1]])
    found = read(path).frames.read(0, 2)[0]
    np.testing.assert_array_equal(found[0], found[1])
