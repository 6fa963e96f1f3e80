"""Parity with other parsers, and invariants: PDB and mmCIF files as models of the same atoms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gemmi
import MDAnalysis as mda
import numpy as np
import pytest
from MDAnalysisTests import datafiles

from tests.golden.built_files import mmcif_text, models, moved, pdb_text, peptide
from tests.io.builders import draft, line, pdb, spread, written
from timme.io import read
from timme.io.pdb import read_mmcif, read_structure


def columns(atoms: Any) -> list[list[Any]]:
    names = ("names", "elements", "resnames", "resids", "icodes", "chains")
    return [getattr(atoms, name).tolist() for name in names]


# ---- other parsers -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", "PDB_small PDB_multiframe PDB_full PDB_icodes ENT PDB_cm PDB_HOLE XPDB_small".split()
)
@pytest.mark.filterwarnings("ignore")
def test_columns_are_those_that_mdanalysis_reads(name: str) -> None:
    path = Path(getattr(datafiles, name))
    found = read_structure(path).models
    expected = mda.Universe(path, format="PDB", topology_format="PDB")
    atoms = expected.atoms
    assert len(found) == len(expected.trajectory)
    for model, step in zip(found, expected.trajectory, strict=True):
        np.testing.assert_allclose(model.coordinates, step.positions, rtol=1e-6)
    own = found[0].atoms
    assert own.names.tolist() == [each.strip() for each in atoms.names]
    assert own.resnames.tolist() == [each.strip() for each in atoms.resnames]
    if name != "XPDB_small":  # numbers of five digits, of which it reads four
        assert own.icodes.tolist() == [each.strip() for each in atoms.icodes]
        assert own.resids.tolist() == atoms.resids.tolist()
    np.testing.assert_allclose(found[0].occupancies, atoms.occupancies, rtol=1e-6)


@pytest.mark.parametrize("name", ["PDB_multiframe", "PDB_full", "PDB_icodes"])
def test_an_mmcif_file_and_its_pdb_file_have_the_same_models(name: str, tmp_path: Path) -> None:
    """Written by gemmi, in the order of the PDB file."""
    path = Path(getattr(datafiles, name))
    structure = gemmi.read_pdb(str(path))
    structure.setup_entities()
    other = tmp_path / "a.cif"
    structure.make_mmcif_document().write_file(str(other))
    one, two = read_structure(path).models, read_structure(other).models
    assert len(one) == len(two)
    for first, second in zip(one, two, strict=True):
        # gemmi puts the atoms of a residue together
        order = np.lexsort(np.array(first.keys(), object)[:, ::-1].astype(str).T)
        place = np.lexsort(np.array(second.keys(), object)[:, ::-1].astype(str).T)
        assert columns(first.atoms.take(order)) == columns(second.atoms.take(place))
        np.testing.assert_array_equal(first.altlocs[order], second.altlocs[place])
        np.testing.assert_array_equal(first.coordinates[order], second.coordinates[place])


def test_records_longer_than_their_columns_stay_in_them(tmp_path: Path) -> None:
    records = [
        line("OH2", 9999, resname="TIP3"),
        line("OH2", 1, resname="TIP3").replace("   1    ", "A000    "),
        line("OH2", 1, resname="TIP3").replace("   1    ", "10001   "),
        line("OH2", 1, resname="TIP3").replace("   1    ", "a000    "),
        line("OH2", -5, resname="TIP3") + "beyond the columns",
    ]
    atoms = read_structure(pdb(tmp_path, records)).models[0].atoms
    assert atoms.resnames.tolist() == ["TIP3"] * 5
    # 26 letters of three further digits each stand between A000 and a000.
    assert atoms.resids.tolist() == [9999, 10_000, 10_001, 10_000 + 26 * 36**3, -5]
    assert atoms.icodes.tolist() == [""] * 5


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_columns_count_characters_not_bytes(encoding: str, tmp_path: Path) -> None:
    record = line("CÄ", 1, (1234.567, 1000.123, 4567.891), chain="É") + "\nEND\n"
    model = read_structure(written(tmp_path, record.encode(encoding))).models[0]
    assert model.coordinates.tolist() == [[1234.567, 1000.123, 4567.891]]
    assert (model.atoms.names[0], model.atoms.chains[0]) == ("CÄ", "É")


def test_segments_stand_for_chains_where_no_atom_has_one(tmp_path: Path) -> None:
    bare = [line("CA", 1, chain="").replace(" " * 11 + "C", "      SEG1 C")]
    assert read_structure(pdb(tmp_path, bare)).models[0].atoms.chains.tolist() == ["SEG1"]
    mixed = [*bare, line("CA", 2, chain="B")]
    assert read_structure(pdb(tmp_path, mixed)).models[0].atoms.chains.tolist() == ["", "B"]


def test_elements_are_guessed_where_they_are_missing_or_cannot_be(tmp_path: Path) -> None:
    records = [
        line("CA", 1, element=""),
        line("CA", 1, element="CA"),  # of a name that is not in its column
        line("CA", 2, resname="CA", element="CA"),
        line("FE", 3, resname="HEM", element="??"),
        line("HG11", 4, resname="VAL", element="99"),  # a number of a line
    ]
    found = read_structure(pdb(tmp_path, records)).models[0].atoms.elements
    assert found.tolist() == ["C", "C", "Ca", "Fe", "H"]


# ---- the same atoms in all models ----------------------------------------------------------------


@pytest.mark.parametrize("text", [pdb_text, mmcif_text])
def test_atoms_in_any_order_are_matched_by_name(text: Any, tmp_path: Path) -> None:
    first, second = models(peptide(), 2)
    mixed = [second[place] for place in np.random.default_rng(0).permutation(len(second))]
    suffix = "a.pdb" if text is pdb_text else "a.cif"
    plain = draft(written(tmp_path, text([first, second]), suffix))
    found = draft(written(tmp_path, text([first, mixed]), suffix))
    np.testing.assert_array_equal(found.coordinates(), plain.coordinates())
    assert plain.numbers is not None
    assert plain.numbers.tolist() == list(range(1, 16))
    assert found.numbers is None  # places differ between models


def test_models_that_differ_are_refused_or_share_their_common_atoms(tmp_path: Path) -> None:
    one, two = peptide(3), [atom for atom in moved(peptide(3), 1) if atom[0][0] != "CB"]
    path = written(tmp_path, pdb_text([one, two]))
    with pytest.raises(ValueError, match=r"model 2: atom A/1/CB of another model is missing"):
        draft(path)
    found = draft(path, common_atoms=True)
    assert "CB" not in found.atoms.names
    assert any("12 atoms that all share are kept, 3 left out" in note for note in found.notes)
    reverse = draft(written(tmp_path, pdb_text([two, one])), common_atoms=True)
    np.testing.assert_array_equal(reverse.coordinates()[::-1], found.coordinates())
    with pytest.raises(ValueError, match="share no atoms"):
        draft(written(tmp_path, pdb_text([one, peptide(chain="B")])), common_atoms=True)


def test_only_chosen_models_need_the_same_atoms(tmp_path: Path) -> None:
    one, two = models(peptide(), 2)
    path = written(tmp_path, pdb_text([one, one[:-1], two, one[:-1]]))
    asked = list[int]()

    def choose(count: int) -> range:
        asked.append(count)
        return range(0, count, 2)

    found = draft(path, choose=choose)
    assert asked == [4]
    assert (found.n_snapshots, found.n_source) == (2, 4)
    assert found.independent


def test_copies_of_a_chain_get_their_own_names(tmp_path: Path) -> None:
    water = [spread(["O", "H1", "H2"], n, resname="HOH", chain="") for n in (1, 2)]
    chain = [spread(["N", "CA", "C"], n) for n in (1, 2)]
    records = [*chain[0], *chain[1], *chain[0], *chain[1], *water[0], *water[1], *water[0]]
    found = draft(pdb(tmp_path, records))
    names = "".join(name or "-" for name in found.atoms.chains.tolist())
    assert names == "A" * 6 + "B" * 6 + "C" * 6 + "D" * 3
    assert any("copies are named B, C, D" in note for note in found.notes)


def test_hydrogens_and_locations_apart_from_their_residue_are_no_copy(tmp_path: Path) -> None:
    late = [*spread(["N", "CA"]), *spread(["N", "CA"], 2), *spread(["H", "HA"])]
    altlocs = [line("CA", 1, (0, 0, 9), altloc="A"), line("CA", 1, (0, 0, 8), altloc="B")]
    for records in (late, [*spread(["N", "C"]), *altlocs]):
        assert set(draft(pdb(tmp_path, records)).atoms.chains) == {"A"}


def test_an_atom_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    records = spread(["N", "CA", "CA", "C"])
    with pytest.raises(ValueError, match=r"a\.pdb: model 1: atom A/ALA 1/CA is there twice"):
        draft(pdb(tmp_path, records))
    # but atoms that programs name by their elements are not
    bare = spread(["C", "C", "O", "H", "H"], resname="UNL")
    assert draft(pdb(tmp_path, bare, bare)).n_sites == 5


# ---- cells ---------------------------------------------------------------------------------------


def cell(a: float = 30.0, group: str = "P 1", angle: float = 90.0) -> str:
    return f"CRYST1{a:9.3f}{31:9.3f}{32:9.3f}{90:7.2f}{angle:7.2f}{90:7.2f} {group:<11}{1:4d}"


def test_a_file_given_twice_is_refused_as_its_models_would_count_twice(tmp_path: Path) -> None:
    path = written(tmp_path, TEXT)
    with pytest.raises(ValueError, match="is given twice: leave one of them out"):
        read([path, path.parent / ".." / path.parent.name / path.name])


def test_cells_without_symmetry_are_kept_to_make_molecules_whole(tmp_path: Path) -> None:
    text = pdb_text(models(peptide(), 2), head=[cell()])
    found = draft(written(tmp_path, text))
    boxes = found.frames.read(0, 2)[1]
    assert boxes is not None
    np.testing.assert_allclose(boxes, np.tile(np.diag([30.0, 31, 32]), (2, 1, 1)))
    (note,) = found.notes
    assert "if it is a periodic box, pass box=" in note


@pytest.mark.parametrize(
    "record",
    [
        cell(group="P 21 21 21"),
        cell(1.0),
        cell(0.0),
        cell(angle=5.0),
        cell().replace("30.000", "******"),
    ],
)
def test_crystals_and_dummy_cells_are_no_boxes(record: str, tmp_path: Path) -> None:
    found = draft(written(tmp_path, pdb_text(models(peptide(), 2), head=[record])))
    assert found.frames.read(0, 1)[1] is None


def test_each_model_may_have_its_own_cell(tmp_path: Path) -> None:
    parts = [
        pdb_text([model], head=[cell(a)], model=False).replace("END\n", "")
        for a, model in zip((30.0, 33.0), models(peptide(), 2), strict=True)
    ]
    boxes = draft(written(tmp_path, "".join(parts) + "END\n")).frames.read(0, 2)[1]
    assert boxes is not None
    assert boxes[:, 0, 0].tolist() == [30.0, 33.0]


# ---- refusals ------------------------------------------------------------------------------------


TEXT = pdb_text(models(peptide(), 2))
MMCIF = mmcif_text(models(peptide(), 2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TEXT.replace("   1.210", "   1.x10", 1), r"line 3 \(CA ALA A 1\): coordinates .*'1.x10 "),
        (TEXT.replace("   1.210", "     nan", 1), "line 3 .*coordinates must be numbers"),
        (TEXT.replace("A   2 ", "A  2x ", 1), "line 7 .*residue numbers must be whole, got '2x'"),
        (TEXT.replace("CA ", "C\0 ", 1), "holds zero bytes"),
        ("HEADER\nEND\n", "no atoms were found"),
        (MMCIF.replace(" 1.210", " ?", 1),
         r"atom 2 \(CA ALA A 1\): .*must be numbers"),
        (MMCIF.replace("_atom_site.Cartn_z", "_atom_site.other"), "coordinates must be numbers"),
        (MMCIF + MMCIF.replace("data_made", "data_other"), "got 2: write each structure"),
        (MMCIF.replace("_atom_site.auth_seq_id", "_atom_site.other").replace(
            "_atom_site.label_seq_id", "_atom_site.another"), "residue numbers must be whole"),
        (MMCIF.replace("loop_", "loop", 1), "not a valid mmCIF file"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_refused_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    suffix = "a.cif" if text.startswith("data") else "a.pdb"
    with pytest.raises(ValueError, match=message) as caught:
        draft(written(tmp_path, text.encode("latin-1"), suffix))
    assert suffix in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_single_atom_and_tags_in_capitals_are_read_in_mmcif_files(tmp_path: Path) -> None:
    tags = ("auth_seq_id", "label_atom_id", "CARTN_x", "Cartn_y", "Cartn_z")
    fields = ("7", '"C5\'"', "1.0", "2.0", "3.0")
    lines = [f"_atom_site.{tag} {field}" for tag, field in zip(tags, fields, strict=True)]
    table = ["loop_", *(f"_ATOM_SITE.{tag}" for tag in tags), " ".join(fields), " ".join(fields)]
    for number, text in enumerate((lines, table), start=1):
        path = tmp_path / "a.cif"
        path.write_text("\n".join(["data_x", *text, "#", ""]))
        (model,) = read_mmcif(path).models
        assert model.atoms.names.tolist() == ["C5'"] * number
        assert model.coordinates.tolist() == [[1.0, 2.0, 3.0]] * number


@pytest.mark.parametrize(("text", "suffix"), [(TEXT, "a.pdb"), (MMCIF, "a.cif")])
def test_no_model_is_lost_without_a_word_wherever_a_file_is_cut(
    text: str, suffix: str, tmp_path: Path
) -> None:
    whole = draft(written(tmp_path, text, suffix))
    for size in range(10, len(text) - 4, 10):
        try:
            found = draft(written(tmp_path, text[:size], suffix))
        except ValueError:
            continue
        n_models, n_atoms, _ = found.frames.shape
        expected = whole.coordinates()[:n_models, :n_atoms]
        np.testing.assert_array_equal(found.coordinates(), expected)
        lost = found.frames.shape != whole.frames.shape
        assert not lost or any("check that it is complete" in note for note in found.notes), size
