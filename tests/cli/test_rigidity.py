"""Rigid clusters through the command line: a helix of which all is known, and odd structures."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import timme as library
from tests.cli.conftest import Refused, Run
from tests.cli.ensembles import helix, ligand, places
from tests.cli.test_folder import FILES, OF_BODIES, OF_JUDGED
from tests.readers.builders import Record, atom, peptide, waters, write_pdb

pytest.importorskip("hydride", reason="hydrogens are added by hydride, which is not installed")

N_RESIDUES = 14
OWN = {"constraints.csv", "flexibility.csv", "flexibility-bonds.csv"}


@pytest.fixture
def helix_file(folder: Path) -> Path:
    return write_pdb(folder / "helix.pdb", [helix(N_RESIDUES)])


def rigid(timme: Run, *arguments: object) -> tuple[library.Analysis, str]:
    found = timme("rigidity", *arguments, "-o", "out", "--overwrite")
    assert (found.code, found.err) == (0, "")
    return library.load("out/result.npz"), found.out


def rows(path: str) -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def turned(records: list[Record]) -> list[Record]:
    """The same atoms in a structure without any hydrogen bond."""
    stretched = peptide(n_residues=records[-1][4])
    return [
        (*one[:6], *other[6:9], *one[9:]) for one, other in zip(records, stretched, strict=True)
    ]


@pytest.mark.usefixtures("blank_figures")
def test_a_structure_gets_the_folder_of_a_run(folder: Path, timme: Run, helix_file: Path) -> None:
    made, out = rigid(timme, helix_file)
    written = {path.name for path in (folder / "out").iterdir()}
    sigma = {f"sigma-matrix.{kind}" for kind in ("svg", "png")}
    own = OWN | {f"flexibility.{kind}" for kind in ("svg", "png")}
    not_here = {*sigma, *OF_BODIES, *OF_JUDGED, "groups.ndx", "groups.plumed"}
    assert written == (set(FILES) - not_here) | own
    assert (made.hierarchy.quantity.symbol, made.hierarchy.unit) == ("E", "kcal/mol")
    assert made.system.names[made.shown].tolist() == [
        f"A/ALA {k}/CA" for k in range(1, N_RESIDUES + 1)
    ]
    assert "shown        14 × Cα" in out
    assert "cutoffs      E = -" in out
    assert "72 hydrogens were added by hydride for pH 7" in out
    assert "how sure clusters are is not told: one structure is no sample" in out
    assert Path("out/clusters.pml").read_text().startswith("# Rigid clusters at the cutoff -")
    assert "Coordinates are in" not in Path("out/clusters.pdb").read_text()


@pytest.mark.usefixtures("without_figures")
def test_without_hydrogen_bonds_each_alanine_turns_about_three_bonds(
    timme: Run, helix_file: Path
) -> None:
    _, out = rigid(timme, helix_file, "--cutoff", "-10")
    assert f"at E = -10 kcal/mol: {3 * N_RESIDUES} floppy modes, " in out
    assert f"{3 * N_RESIDUES} hinges" in out
    # Hinges that are on no ring turn each for itself: one degree of freedom for one hinge.
    index = [float(row["flexibility"]) for row in rows("out/flexibility.csv")]
    assert index == [1.0] * N_RESIDUES
    states = [row["state"] for row in rows("out/flexibility-bonds.csv")]
    assert states.count("hinge") == 3 * N_RESIDUES


@pytest.mark.usefixtures("without_figures")
def test_the_bonds_of_a_helix_are_those_from_each_turn_to_the_next(
    timme: Run, helix_file: Path
) -> None:
    made, _ = rigid(timme, helix_file)
    strong = {
        (row["label 1"], row["label 2"])
        for row in rows("out/constraints.csv")
        if row["kind"] == "hydrogen bond" and float(row["energy (kcal/mol)"]) < -1
    }
    expected = {(f"A/ALA {k + 4}/H", f"A/ALA {k}/O") for k in range(1, N_RESIDUES - 3)}
    assert strong == expected
    # Peptide planes 1 to 14 are held by ten bonds; only the ends are free.
    core = made.shown_hierarchy.cut(-1.0).members(0)
    assert set(range(1, N_RESIDUES - 2)) <= set(core.tolist())


@pytest.mark.usefixtures("without_figures")
def test_constraints_can_be_read_again_and_edited(timme: Run, helix_file: Path) -> None:
    made, _ = rigid(timme, helix_file)
    Path("out/constraints.csv").rename("mine.csv")
    again, out = rigid(timme, helix_file, "--constraints", "mine.csv")
    assert "note: the constraints are those of mine.csv" in out
    assert again.hierarchy.heights.tolist() == made.hierarchy.heights.tolist()
    assert again.hierarchy.parents.tolist() == made.hierarchy.parents.tolist()
    lines = Path("mine.csv").read_text().splitlines()
    kept = [line for line in lines if not line.startswith("hydrogen bond")]
    Path("mine.csv").write_text("\n".join(kept))
    loose, out = rigid(timme, helix_file, "--constraints", "mine.csv")
    assert len(loose.shown_hierarchy.levels) == 0
    assert f"at E = 0 kcal/mol: {3 * N_RESIDUES} floppy modes" in out
    assert "note: no structures: nothing ever joins" in out


@pytest.mark.usefixtures("without_figures")
def test_the_written_structure_has_its_hydrogens_and_gives_the_same(
    timme: Run, helix_file: Path
) -> None:
    made, _ = rigid(timme, helix_file)
    Path("out/clusters.pdb").rename("whole.pdb")
    again, out = rigid(timme, "whole.pdb")
    assert "hydrogens were added" not in out
    # The file rounds coordinates to 0.001 Å: energies change a little, the clusters do not.
    assert (
        again.shown_hierarchy.cut(-1).labels.tolist()
        == made.shown_hierarchy.cut(-1).labels.tolist()
    )


@pytest.mark.usefixtures("without_figures")
def test_one_of_several_models_is_chosen_and_said(timme: Run, folder: Path) -> None:
    write_pdb(folder / "two.pdb", [turned(helix()), helix()])
    first, out = rigid(timme, "two.pdb")
    assert "note: there are 2 models or frames: the first was taken" in out
    assert first.shown_hierarchy.cut(-1).sizes[0] == 1
    second, out = rigid(timme, "two.pdb", "--model", 2)
    assert "models or frames" not in out
    assert second.shown_hierarchy.cut(-1).sizes[0] > 10


@pytest.mark.usefixtures("without_figures")
def test_one_model_is_taken_whatever_atoms_the_others_have(
    timme: Run, refused: Refused, folder: Path
) -> None:
    whole, shorter = helix(), helix(N_RESIDUES - 1)
    write_pdb(folder / "differ.pdb", [whole, shorter])
    for number, atoms in enumerate((whole, shorter), start=1):
        write_pdb(folder / "alone.pdb", [atoms])
        found, _ = rigid(timme, "differ.pdb", "--model", number)
        alone, _ = rigid(timme, "alone.pdb")
        assert found.system.names.tolist() == alone.system.names.tolist()
        assert found.hierarchy.heights.tolist() == alone.hierarchy.heights.tolist()
    assert len(rigid(timme, "differ.pdb")[0].shown) == N_RESIDUES
    assert len(rigid(timme, "differ.pdb", "-b", 1)[0].shown) == N_RESIDUES - 1
    assert "--common-atoms" in refused("rigidity", "differ.pdb", "--ensemble", "-1", "-o", "all")
    shared, out = rigid(timme, "differ.pdb", "--ensemble", "-1", "--common-atoms")
    assert len(shared.shown) == N_RESIDUES - 1
    assert "note: models differ: " in out
    said = refused("rigidity", "differ.pdb", "--common-atoms", "-o", "all")
    assert "common atoms are those of all models, and one model is taken" in said


@pytest.mark.usefixtures("without_figures")
def test_the_whole_frames_of_a_trajectory_that_is_cut_off_are_decomposed(
    timme: Run, refused: Refused, folder: Path
) -> None:
    write_pdb(folder / "helix.pdb", [helix()])
    places_of_all = np.asarray(places(helix()))
    frame = "\n".join(
        f"{record[10]} {x:.3f} {y:.3f} {z:.3f}"
        for record, (x, y, z) in zip(helix(), places_of_all, strict=True)
    )
    text = f"{len(helix())}\nframe\n{frame}\n"
    (folder / "md.xyz").write_text(text + text + text[: len(text) // 2])
    command = ("helix.pdb", "md.xyz", "--ensemble", "-1")
    assert "--allow-truncated" in refused("rigidity", *command, "-o", "all")
    assert rigid(timme, *command, "--allow-truncated")[0].system.n_snapshots == 2


def test_an_ensemble_counts_the_snapshots_in_which_sites_are_together(
    timme: Run, folder: Path
) -> None:
    write_pdb(folder / "four.pdb", [helix(), turned(helix()), helix(), helix()])
    single, _ = rigid(timme, "four.pdb")
    labels = single.shown_hierarchy.cut(-1.0).labels
    made, out = rigid(timme, "four.pdb", "--ensemble", "-1")
    assert "at -1 kcal/mol the 4 snapshots have " in out
    assert f"to {3 * N_RESIDUES} floppy modes" in out
    assert made.network is None
    table = rows("out/together.csv")
    fractions = np.array([[float(row[name]) for name in made.system.names] for row in table])
    expected = np.where(labels[:, None] == labels, 0.75, 0.0)
    np.fill_diagonal(expected, 1.0)
    assert fractions.tolist() == expected.tolist()
    assert made.hierarchy.cut(0.25).labels.tolist() == labels.tolist()
    assert made.hierarchy.cut(0.24).n_clusters == N_RESIDUES
    assert made.hierarchy.cut(1.0).labels.tolist() == labels.tolist()
    assert (folder / "out" / "together.png").is_file()
    assert timme("plot", "out", "--what", "together", "-o", "again.svg").code == 0


@pytest.mark.usefixtures("without_figures")
def test_an_ensemble_of_one_is_told_in_words_for_one(timme: Run, helix_file: Path) -> None:
    _, out = rigid(timme, helix_file, "--ensemble", "-10")
    said = f"at -10 kcal/mol the only snapshot has {3 * N_RESIDUES} floppy modes and a largest "
    assert said + "cluster of 1 Cα" in out


@pytest.mark.long
@pytest.mark.usefixtures("without_figures")
def test_a_cluster_finds_what_threads_do(folder: Path, timme: Run) -> None:
    pytest.importorskip("distributed", reason="needs dask: pip install 'pytimme[cluster]'")
    write_pdb(folder / "models.pdb", [helix(N_RESIDUES), turned(helix(N_RESIDUES))])
    options = ("models.pdb", "--ensemble", "-1", "--workers", "1")
    threads, _ = rigid(timme, *options)
    cluster, _ = rigid(timme, *options, "--cluster", "local")
    assert (threads.hierarchy.heights == cluster.hierarchy.heights).all()
    with pytest.raises(ValueError, match="leave out workers and cluster"):
        library.rigid("models.pdb", workers=2)


def test_flexibility_is_drawn_again_at_another_energy(
    timme: Run, refused: Refused, helix_file: Path
) -> None:
    rigid(timme, helix_file)
    drawn = timme("plot", "out", "--what", "flexibility", "--cutoff", "-20", "-o", "floppy.svg")
    assert drawn.code == 0
    assert Path("floppy.svg").read_bytes() != Path("out/flexibility.svg").read_bytes()
    assert "timme rigidity --ensemble" in refused("plot", "out", "--what", "together")


@pytest.mark.usefixtures("without_figures")
class TestOddStructures:
    def test_chains_are_chosen(self, folder: Path, timme: Run, refused: Refused) -> None:
        second = peptide(50.0, n_residues=3, chain="B")
        write_pdb(folder / "ab.pdb", [[*helix(), *second]])
        both, _ = rigid(timme, "ab.pdb", "--chain", "A", "--chain", "B")
        assert len(both.shown) == N_RESIDUES + 3
        assert len(rigid(timme, "ab.pdb", "--chain", "A,B")[0].shown) == N_RESIDUES + 3
        one, _ = rigid(timme, "ab.pdb", "--chain", "B")
        assert set(one.system.sites.chains.tolist()) == {"B"}
        said = refused("rigidity", "ab.pdb", "--chain", "Z", "-o", "z")
        assert "ab.pdb: there is no chain 'Z': there are 'A', 'B'" in said

    def test_waters_are_left_out_and_metals_stay(self, folder: Path, timme: Run) -> None:
        x, y, z = places(helix())[3]  # an oxygen
        zinc = atom("ZN", 90, (x, y, z + 2.0), resname="ZN", element="Zn")
        wet = [(*record[:3], "W", *record[4:]) for record in waters(3)]
        far = [(*record[:6], record[6] + 80.0, *record[7:]) for record in wet]
        write_pdb(folder / "wet.pdb", [[*helix(), zinc, *far]])
        made, out = rigid(timme, "wet.pdb")
        assert "note: left out 3 waters (--waters keeps them)" in out
        assert "ZN" in made.system.sites.names
        assert made.network is not None
        assert (made.network.bonds == made.system.sites.names.tolist().index("ZN")).any()
        kept, out = rigid(timme, "wet.pdb", "--waters")
        assert "waters" not in out
        assert len(kept.system.sites) == len(made.system.sites) + 9

    def test_tethers_are_chosen(self, folder: Path, timme: Run) -> None:
        carbons = [*helix(), *ligand(places(helix())[4] + [0.0, 0.0, 3.3])]
        write_pdb(folder / "lig.pdb", [carbons])
        counts = {}
        for kind in ("shortest", "all", "none"):
            made, _ = rigid(timme, "lig.pdb", "--tethers", kind)
            assert made.network is not None
            counts[kind] = int(made.network.of_kind("tether").sum())
        assert counts["none"] == 0 < counts["shortest"] <= counts["all"]

    def test_an_unknown_ligand_is_named(self, folder: Path, timme: Run) -> None:
        write_pdb(folder / "lig.pdb", [[*helix(), *ligand((0.0, 40.0, 0.0))]])
        _, out = rigid(timme, "lig.pdb")
        assert "note: no hydrogens were added to A/LIG 90: " in out

    def test_missing_atoms_altlocs_and_gaps_are_noted(self, folder: Path, timme: Run) -> None:
        records = helix()
        double = [(*record[:1], "A", *record[2:9], 0.6, record[10]) for record in records[9:10]]
        double += [(*record[:1], "B", *record[2:9], 0.4, record[10]) for record in records[9:10]]
        kept = [*records[:9], *double, *records[10:14], *records[15:35], *records[40:]]
        write_pdb(folder / "bad.pdb", [kept])
        _, out = rigid(timme, "bad.pdb")
        assert "alternative locations: those of highest occupancy were taken" in out
        assert "note: atoms are missing in 1 residue (A/ALA 3)" in out
        assert "note: chains are broken after A/ALA 7: no bond is put across a gap" in out

    def test_a_clash_is_noted(self, folder: Path, timme: Run) -> None:
        other = [(*record[:3], "B", *record[4:]) for record in helix(4)]
        near = [
            (*record[:6], record[6] + 1.9, record[7], record[8] + 0.4, *record[9:])
            for record in other
        ]
        write_pdb(folder / "clash.pdb", [[*helix(), *near]])
        _, out = rigid(timme, "clash.pdb")
        assert "note: clash of " in out
        assert "note: there are too many covalent bonds at " in out


@pytest.mark.usefixtures("without_figures")
class TestRefusals:
    def test_carbons_alone_have_no_bonds(self, folder: Path, refused: Refused) -> None:
        write_pdb(folder / "ca.pdb", [[record for record in helix() if record[0] == "CA"]])
        assert "rigidity needs covalent bonds, and there are none" in refused("rigidity", "ca.pdb")

    def test_one_atom_is_no_structure(self, folder: Path, refused: Refused) -> None:
        write_pdb(folder / "one.pdb", [[atom("CA", 1, (0.0, 0.0, 0.0))]])
        assert "rigidity needs at least 2 atoms, got 1" in refused("rigidity", "one.pdb")

    def test_waters_alone_are_no_structure(self, folder: Path, refused: Refused) -> None:
        write_pdb(folder / "sea.pdb", [waters()])
        assert "there are waters only" in refused("rigidity", "sea.pdb")

    def test_a_missing_library_is_named_with_its_remedy(
        self, refused: Refused, helix_file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(__import__("sys").modules, "hydride", None)
        said = refused("rigidity", helix_file)
        assert said.endswith('install it with `pip install "pytimme[rigidity]"`\n')

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (["--model", "2"], "model 2 is not there: there are 1, counted from 1"),
            (["--model", "0"], "--model must be at least 1, got 0"),
            (["--ensemble", "nan"], "--ensemble must be a number, got nan"),
            (["--ensemble", "-1", "--model", "1"], "an ensemble is all models"),
            (["--ensemble", "-1", "--constraints", "c.csv"], "a list of one structure"),
            (["--constraints", "c.csv", "--tethers", "all"], "has its own tethers"),
            (["--constraints", "c.csv"], "c.csv: "),
            (["--tethers", "some"], "--tethers is one of shortest, all, none, got 'some'"),
            (["--cutoff", "nan"], "--cutoff must be a number"),
            (["--cutoff", "-20"], "a cutoff is -10 kcal/mol, where all is joined that is rigid"),
            (["--workers", "2"], "--workers and --cluster are for an ensemble"),
            (["--cluster", "local"], "--workers and --cluster are for an ensemble"),
            (["--min-size", "0"], "min-size must be at least 1"),
            (["--show", "name XX"], "XX"),
            (["-b", "5"], "zero snapshots are left of 1"),
        ],
    )
    def test_options_that_mean_nothing(
        self, refused: Refused, helix_file: Path, options: list[str], words: str
    ) -> None:
        assert words in refused("rigidity", helix_file, *options)

    def test_what_is_no_structure(self, folder: Path, refused: Refused) -> None:
        np.save(folder / "flat.npy", np.zeros((2, 5, 2)))
        assert "a structure of atoms in space is needed" in refused("rigidity", "flat.npy")
        assert "nothing.pdb" in refused("rigidity", "nothing.pdb")
        (folder / "text.pdb").write_text("no structure\n")
        assert "text.pdb" in refused("rigidity", "text.pdb")

    def test_a_list_of_another_structure(
        self, folder: Path, timme: Run, refused: Refused, helix_file: Path
    ) -> None:
        rigid(timme, helix_file)
        write_pdb(folder / "short.pdb", [helix(5)])
        said = refused("rigidity", "short.pdb", "--constraints", "out/constraints.csv", "-o", "x")
        assert "out/constraints.csv: line " in said

    def test_a_folder_that_is_there(self, timme: Run, refused: Refused, helix_file: Path) -> None:
        assert timme("rigidity", helix_file).code == 0
        assert "timme-rigidity-helix exists" in refused("rigidity", helix_file)


@pytest.mark.usefixtures("without_figures")
def test_the_library_call_is_the_command(timme: Run, helix_file: Path) -> None:
    made, _ = rigid(timme, helix_file, "--tethers", "none")
    called = library.rigid(helix_file, tethers="none")
    assert called.hierarchy.heights.tolist() == made.hierarchy.heights.tolist()
    assert called.notes == made.notes
    assert library.rigid(library.read(helix_file), tethers="none").notes == made.notes


@pytest.mark.usefixtures("without_figures")
def test_barnase_as_a_crystal_shows_it(timme: Run, tmp_path: Path) -> None:
    """Heavy atoms, with waters around: hydrogens come back, as many as there were."""
    lines = library.data.path("barnase_md.pdb").read_text().splitlines()
    atoms = [line for line in lines if line.startswith("ATOM")]
    heavy = [line for line in atoms if line[76:78].strip() != "H"]
    waters = [
        f"HETATM{2000 + k:5d}  O   HOH A{200 + k:4d}    {90.0:8.3f}{4.0 * k:8.3f}{90.0:8.3f}"
        "  1.00  0.00           O"
        for k in range(5)
    ]
    path = tmp_path / "crystal.pdb"
    path.write_text("\n".join([*heavy, *waters, "END", ""]))
    made, out = rigid(timme, path, "--chain", "A")
    assert f"note: {len(atoms) - len(heavy)} hydrogens were added by hydride for pH 7" in out
    assert "note: left out 5 waters" in out
    assert "shown        108 × Cα" in out
    assert made.system.sites.resids[made.system.object_sites[made.shown]].tolist() == list(
        range(3, 111)
    )
    # With all hydrogen bonds nearly everything is one cluster; with none, nothing is.
    assert made.shown_hierarchy.cut(0.0).sizes[0] > 0.9 * 108
    assert made.shown_hierarchy.cut(-10.0).sizes[0] <= 2
