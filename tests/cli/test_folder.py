"""The folder of a run: every file is there, and all of them tell the same story."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import gemmi
import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, is_valid_linkage

import timme as library
from tests.cli.conftest import Refused, Run, contents
from tests.cli.ensembles import ligand, moved, places, swinging, wandering
from tests.readers.builders import Record, write_pdb
from timme._arrays import Floats, Ints
from timme.cli import main
from timme.output.report import SCRIPT, page_part

FIGURES = ["dilution", "fraction", "size-distribution", "cluster-sizes", "sigma-matrix"]
OF_JUDGED = [
    *(
        f"{figure}.{suffix}"
        for figure in ("joining", "mobility", "convergence")
        for suffix in ("svg", "png")
    ),
    *("confidence.csv", "confidence.json", "convergence.csv"),
]
OF_BODIES = [
    *(f"{figure}.{suffix}" for figure in ("bodies", "variance") for suffix in ("svg", "png")),
    *("bodies.csv", "motions.csv", "splits.csv", "bodies-by-number.csv"),
    *("bodies.cif", "bodies.pml", "bodies.cxc", "bodies.tcl"),
]
GROUPS = ("groups.cxc", "groups.ndx", "groups.plumed")
FILES = sorted(
    [f"{figure}.{suffix}" for figure in FIGURES for suffix in ("svg", "png")]
    + ["result.npz", "clusters.csv", "sites.csv", "levels.csv", "hierarchy.json", "hierarchy.nwk"]
    + ["linkage.csv", "linkage.npy", "clusters.pdb", "clusters.cif"]
    + ["clusters.pml", "clusters.cxc", "clusters.tcl", *GROUPS]
    + ["report.html"] * (page_part(SCRIPT) is not None)
    + OF_BODIES
    + OF_JUDGED
)
OF_PARTICLES = sorted({*FILES, "clusters.extxyz", "clusters.dump"} - {*GROUPS, *OF_BODIES})


def complex_of_two() -> list[list[Record]]:
    """A peptide of two halves, and a ligand so far away that its atoms are trees of their own."""
    bound = ligand((0.0, 60.0, 0.0))
    rng = np.random.default_rng(5)
    return [
        [*model, *moved(bound, places(bound) + rng.normal(scale=0.05, size=(4, 3)))]
        for model in swinging()
    ]


@dataclass(frozen=True)
class Done:
    folder: Path
    analysis: library.Analysis

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def rows(self, name: str) -> list[dict[str, str]]:
        with (self.folder / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    @property
    def cutoffs(self) -> list[float]:
        return list(dict.fromkeys(float(row["cutoff (Å)"]) for row in self.rows("clusters.csv")))

    def labels(self, cutoff: float) -> Ints:
        """Cluster of every object, counted in shown ones: 1 is the largest, 0 has none."""
        everywhere = self.analysis.hierarchy.cut(cutoff).labels
        shown = self.analysis.hierarchy.restrict(self.analysis.system.shown).cut(cutoff)
        number = dict(
            zip(
                everywhere[self.analysis.system.shown].tolist(),
                (shown.labels + 1).tolist(),
                strict=True,
            )
        )
        return np.array([number.get(label, 0) for label in everywhere.tolist()])


@pytest.fixture(scope="session")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """One run, whose folder many tests look at."""
    place = tmp_path_factory.mktemp("run")
    write_pdb(place / "two.pdb", complex_of_two())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        main(["run", "two.pdb", "-o", "out", "--cutoff", "0.1", "--large", "5"])
    return Done(place / "out", library.load(place / "out" / "result.npz"))


def test_everything_promised_is_written_and_nothing_else(done: Done) -> None:
    of_two_bodies = ["angles.csv", "angles.png", "angles.svg"]
    assert sorted(path.name for path in done.folder.iterdir()) == sorted(FILES + of_two_bodies)
    assert all(path.stat().st_size > 0 for path in done.folder.iterdir())
    assert sorted(path.name for path in done.folder.parent.iterdir()) == ["out", "two.pdb"]


@pytest.mark.skipif(os.name == "nt", reason="needs the permissions of Unix")
def test_others_may_read_what_is_written(done: Done) -> None:
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(done.folder.stat().st_mode) == 0o777 & ~mask
    for path in done.folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask, path


def test_pictures_are_pictures(done: Done) -> None:
    for figure in FIGURES:
        assert (done.folder / f"{figure}.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        assert ET.fromstring(done.text(f"{figure}.svg")).tag.endswith("svg")


def test_the_chosen_cutoff_comes_first(done: Done) -> None:
    assert done.cutoffs[0] == 0.1
    assert len(done.cutoffs) > 1


def test_the_two_halves_are_the_two_clusters(done: Done) -> None:
    """The answer that was put in: residues 1–12 and 13–24 are stiff."""
    first, second, *_ = (row for row in done.rows("clusters.csv") if row["cutoff (Å)"] == "0.1")
    assert {first["members"].split()[1], second["members"].split()[1]} == {"1-12", "13-24"}


def test_the_table_of_clusters_is_the_cut_of_the_hierarchy(done: Done) -> None:
    shown = done.analysis.hierarchy.restrict(done.analysis.system.shown)
    rows = done.rows("clusters.csv")
    for cutoff in done.cutoffs:
        sizes = shown.cut(cutoff).sizes
        found = [row for row in rows if float(row["cutoff (Å)"]) == cutoff]
        assert [int(row["size"]) for row in found] == sizes[sizes >= 3].tolist()
        assert [int(row["cluster"]) for row in found] == list(range(1, len(found) + 1))
        assert found[0]["colour"] == "#00008b"
        for row in found:
            label = int(row["cluster"])
            assert int(row["objects"]) == np.count_nonzero(done.labels(cutoff) == label)
            assert float(row["formed (Å)"]) <= cutoff < float(row["joined (Å)"])
            resids = done.analysis.system.sites.resids[
                done.analysis.system.object_sites[
                    done.analysis.system.shown[shown.cut(cutoff).members(label - 1)]
                ]
            ]
            assert expanded(row["members"]) == resids.tolist()


def expanded(members: str) -> list[int]:
    chain, *runs = members.split()
    assert chain == "A"
    ends = [[int(end) for end in run.split("-")] for run in runs]
    return [number for run in ends for number in range(run[0], run[-1] + 1)]


def test_a_cluster_lives_from_formed_to_joined(done: Done) -> None:
    shown = done.analysis.hierarchy.restrict(done.analysis.system.shown)
    for row in done.rows("clusters.csv"):
        cutoff, size = float(row["cutoff (Å)"]), int(row["size"])
        site = shown.cut(cutoff).members(int(row["cluster"]) - 1)[0]

        def size_at(height: float, site: int = site) -> int:
            found = shown.cut(height)
            return int(found.sizes[found.labels[site]])

        formed, joined = float(row["formed (Å)"]), float(row["joined (Å)"])
        assert size_at(formed) == size > size_at(math.nextafter(formed, -math.inf))
        if math.isfinite(joined):
            assert size_at(math.nextafter(joined, -math.inf)) == size < size_at(joined)


def test_the_table_of_sites_is_the_cut_of_the_hierarchy(done: Done) -> None:
    rows = done.rows("sites.csv")
    assert [row["name"] for row in rows] == done.analysis.system.names.tolist()
    assert [int(row["object"]) for row in rows] == list(range(1, len(rows) + 1))
    columns = [name for name in rows[0] if name.startswith("cluster at ")]
    assert len(columns) == len(done.cutoffs)
    for column, cutoff in zip(columns, done.cutoffs, strict=True):
        assert column == f"cluster at {cutoff:g} Å"
        assert [int(row[column]) for row in rows] == done.labels(cutoff).tolist()
    labels = [row["site label"] for row in rows]
    shown = done.analysis.system.shown
    assert sorted(int(label) for label in labels if label) == list(range(1, len(shown) + 1))
    assert [k for k, label in enumerate(labels) if label] == shown.tolist()


@pytest.mark.parametrize("suffix", ["pdb", "cif"])
def test_b_factors_are_clusters(done: Done, suffix: str) -> None:
    model = gemmi.read_structure(str(done.folder / f"clusters.{suffix}"))[0]
    atoms = [item.atom for item in model.all()]
    names = [
        f"{item.chain.name}/{item.residue.name} {item.residue.seqid}/{item.atom.name}"
        for item in model.all()
    ]
    assert names == done.analysis.system.names.tolist()
    sizes = done.analysis.hierarchy.restrict(done.analysis.system.shown).cut(0.1).sizes
    labels = done.labels(0.1)
    coloured = np.where(labels <= np.count_nonzero(sizes >= 3), labels, 0)
    assert [atom.b_iso for atom in atoms] == coloured.tolist()
    assert len(set(coloured.tolist())) > 2
    np.testing.assert_allclose(
        [atom.pos.tolist() for atom in atoms], done.analysis.system.coordinates, atol=6e-4
    )


def test_the_linkage_is_that_of_scipy(done: Done) -> None:
    linkage = np.load(done.folder / "linkage.npy", allow_pickle=False)
    assert is_valid_linkage(linkage)
    table = [[float(cell) for cell in row.values()] for row in done.rows("linkage.csv")]
    np.testing.assert_array_equal(table, linkage)
    for cutoff in (*done.cutoffs, 0.02, 0.5):
        other = fcluster(linkage, cutoff, criterion="distance")
        ours = done.analysis.hierarchy.cut(cutoff).labels
        assert (
            len(set(zip(other.tolist(), ours.tolist(), strict=True)))
            == len(set(other))
            == (ours.max() + 1)
        )


def nodes_of_hierarchy(hierarchy: library.Hierarchy, names: list[str]) -> set[tuple[str, ...]]:
    leaves: list[set[str]] = [{name} for name in names]
    leaves += [set() for _ in hierarchy.heights]
    for node, parent in enumerate(hierarchy.parents.tolist()):
        if parent >= 0:
            leaves[parent] |= leaves[node]
    return {
        (f"{height:.6g}", *sorted(members))
        for height, members in zip(
            hierarchy.heights.tolist(), leaves[hierarchy.n_sites :], strict=True
        )
    }


def nodes_of_newick(text: str) -> set[tuple[str, ...]]:
    """Read trees: every inner node as its height above the leaves and the names below it."""
    found = set[tuple[str, ...]]()
    stack: list[list[tuple[float, set[str]]]] = [[]]
    for token in re.findall(r"\(|\)|'(?:[^']|'')*'|:[^,();]+|;", text):
        if token == "(":
            stack.append([])
        elif token == ")":
            parts = stack.pop()
            heights = [height for height, _ in parts]
            np.testing.assert_allclose(heights, heights[0], rtol=1e-6)
            members = set().union(*(names for _, names in parts))
            found.add((f"{heights[0]:.6g}", *sorted(members)))
            stack[-1].append((heights[0], members))
        elif token.startswith("'"):
            stack[-1].append((0.0, {token[1:-1].replace("''", "'")}))
        elif token.startswith(":"):
            height, members = stack[-1].pop()
            stack[-1].append((height + float(token[1:]), members))
    return found


def test_the_newick_trees_are_the_hierarchy(done: Done) -> None:
    text = done.text("hierarchy.nwk")
    assert text.count(";") == np.count_nonzero(done.analysis.hierarchy.parents < 0) > 1
    assert nodes_of_newick(text) == nodes_of_hierarchy(
        done.analysis.hierarchy, done.analysis.system.names.tolist()
    )


def test_the_json_is_the_hierarchy(done: Done) -> None:
    found = json.loads(done.text("hierarchy.json"))
    hierarchy = done.analysis.hierarchy
    assert found["parents"] == hierarchy.parents.tolist()
    assert found["heights"] == hierarchy.heights.tolist()
    assert found["order"] == hierarchy.order.tolist()
    assert found["names"] == done.analysis.system.names.tolist()
    assert found["shown"] == done.analysis.system.shown.tolist()
    assert (found["unit"], found["quantity"]) == ("Å", "σ")


def test_the_table_of_levels_counts_the_clusters(done: Done) -> None:
    shown = done.analysis.hierarchy.restrict(done.analysis.system.shown)
    rows = done.rows("levels.csv")
    assert len(rows) == len(shown.levels) + 1
    for row in rows:
        cutoff = float(row["cutoff (Å)"])
        sizes = shown.cut(cutoff).sizes
        assert int(row["clusters"]) == len(sizes)
        assert int(row["largest"]) == sizes[0]
        assert float(row["mean size"]) == pytest.approx((sizes**2).sum() / sizes.sum())
        assert float(row["P(r = 1)"]) == pytest.approx((sizes == 1).sum() / shown.n_sites)
        large = sizes[sizes >= 5].sum() / shown.n_sites
        assert float(row["P(r >= 5)"]) == pytest.approx(large)
        assert float(row["cutoff / a"]) == pytest.approx(cutoff / 1.54)


@pytest.mark.parametrize("name", ["clusters.pml", "clusters.cxc", "clusters.tcl"])
def test_scripts_colour_the_clusters_of_the_table(done: Done, name: str) -> None:
    script = done.text(name)
    assert "clusters.cif" in script or "clusters.pdb" in script
    assert str(done.folder) not in script  # the folder may be moved
    colours = [row["colour"] for row in done.rows("clusters.csv") if row["cutoff (Å)"] == "0.1"]
    assert len(colours) > 1
    triples = re.findall(r"(?<![\w.])(?=([\d.]+),? +([\d.]+),? +([\d.]+))", script)
    written = [tuple(float(number) for number in triple) for triple in triples]
    for colour in colours:
        rgb = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        assert colour in script or any(np.allclose(rgb, one, atol=0.01) for one in written)


def test_the_result_says_how_it_was_made(done: Done) -> None:
    made = done.analysis
    assert made.recipe.options["objects"] == "bodies"
    assert made.recipe.options["pairs"] == "contact"
    assert made.recipe.options["large"] == 5
    assert made.recipe.provenance.version == library.__version__
    assert made.recipe.provenance.command == "timme run two.pdb -o out --cutoff 0.1 --large 5"
    inputs = made.recipe.provenance.inputs
    assert [entry.name for entry in inputs] == ["two.pdb"]
    assert re.fullmatch("[0-9a-f]{64}", inputs[0].sha256)


def test_no_member_of_the_result_needs_pickle(done: Done) -> None:
    with np.load(done.folder / "result.npz", allow_pickle=False) as archive:
        assert len(archive.files) > 10
        for name in archive.files:
            assert archive[name].dtype.kind in "biufU"


def test_the_same_run_gives_the_same_bytes(done: Done, folder: Path, timme: Run) -> None:
    write_pdb(folder / "two.pdb", complex_of_two())
    found = timme("run", "two.pdb", "-o", "out", "--cutoff", "0.1", "--large", "5")
    assert found.code == 0
    for name in FILES:
        assert (folder / "out" / name).read_bytes() == (done.folder / name).read_bytes(), name


def test_a_summary_tells_what_was_done(folder: Path, timme: Run, without_figures: None) -> None:
    del without_figures
    write_pdb(folder / "two.pdb", complex_of_two())
    found = timme("run", "two.pdb", "-o", "out")
    lines = found.out.splitlines()
    assert lines[:3] == ["input      two.pdb", "snapshots  8", "sites      124"]
    assert "objects    124 bodies" in lines
    assert "shown      24 × Cα" in lines
    assert any(
        re.match(r"pairs      \d+ in contact within 10 Å in at least 1 snapshot, at least 4", line)
        for line in lines
    )
    assert any(re.match(r"cutoffs    σc = [\d.]+ Å \(σc/a = ", line) for line in lines)
    assert any("into 5 separate pieces" in line for line in lines)
    assert any("steps of 0.001 Å" in line for line in lines)
    written = len(list((folder / "out").iterdir()))
    assert f"wrote {written} files into out; look at" in lines
    for line in lines[lines.index(f"wrote {written} files into out; look at") + 1 :]:
        assert (folder / line.strip()).is_file()


# ---- overwriting -------------------------------------------------------------------------------


@pytest.mark.usefixtures("without_figures")
class TestOverwriting:
    def test_a_result_is_kept_unless_asked(
        self, folder: Path, peptide_file: Path, timme: Run, refused: Refused
    ) -> None:
        assert timme("run", peptide_file).code == 0
        assert (folder / "timme-peptide" / "result.npz").is_file()
        message = refused("run", peptide_file)
        assert "timme-peptide exists" in message
        assert "--overwrite" in message
        before = contents(folder)
        assert timme("run", peptide_file, "--overwrite", "--large", 7).code == 0
        assert contents(folder).keys() == before.keys()
        assert library.load(folder / "timme-peptide" / "result.npz").recipe.options["large"] == 7

    def test_other_files_in_the_folder_of_a_result_survive(
        self, folder: Path, peptide_file: Path, timme: Run
    ) -> None:
        timme("run", peptide_file, "-o", "out")
        (folder / "out" / "thesis.txt").write_text("mine")
        n_files = len(list((folder / "out").iterdir())) - 1
        found = timme("run", peptide_file, "-o", "out", "--overwrite")
        assert (folder / "out" / "thesis.txt").read_text() == "mine"
        assert f"wrote {n_files} files into out" in found.out

    def test_files_of_the_former_result_do_not_stay(
        self, folder: Path, peptide_file: Path, timme: Run
    ) -> None:
        """What the new result has no picture of must not be left from another one."""
        timme("run", peptide_file, "-o", "out")
        large = wandering() + 50_000.0  # too large for the columns of a PDB file
        np.save(folder / "large.npy", large)
        assert timme("run", "large.npy", "-o", "out", "--overwrite").code == 0
        assert not (folder / "out" / "clusters.pdb").exists()

    def test_an_interrupted_run_leaves_the_former_result(
        self, folder: Path, peptide_file: Path, timme: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        timme("run", peptide_file, "-o", "out")
        before = contents(folder)

        def interrupt(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("timme.workflow.folder.write_scripts", interrupt)
        assert timme("run", peptide_file, "-o", "out", "--overwrite").code == 130
        assert contents(folder) == before

    def test_an_empty_folder_is_filled(self, folder: Path, peptide_file: Path, timme: Run) -> None:
        (folder / "out").mkdir()
        assert timme("run", peptide_file, "-o", "out/").code == 0
        assert (folder / "out" / "result.npz").is_file()
        assert sorted(path.name for path in folder.iterdir()) == ["out", "peptide.pdb"]

    def test_the_folder_in_which_one_stands_is_filled(
        self,
        folder: Path,
        peptide_file: Path,
        timme: Run,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        (folder / "out").mkdir()
        monkeypatch.chdir(folder / "out")
        assert timme("run", peptide_file, "-o", ".").code == 0
        assert (folder / "out" / "result.npz").is_file()
        assert not [path.name for path in (folder / "out").iterdir() if path.name[0] == "."]

    def test_folders_above_are_made(self, folder: Path, peptide_file: Path, timme: Run) -> None:
        assert timme("run", peptide_file, "-o", "new/deep/out").code == 0
        assert (folder / "new" / "deep" / "out" / "result.npz").is_file()

    def test_a_structure_that_does_not_fit_a_pdb_file_is_told(
        self, folder: Path, timme: Run
    ) -> None:
        np.save(folder / "large.npy", wandering() + 50_000.0)
        found = timme("run", "large.npy", "-o", "out")
        assert found.code == 0
        assert (folder / "out" / "clusters.cif").is_file()
        assert not (folder / "out" / "clusters.pdb").exists()
        assert "no clusters.pdb, use clusters.cif: a coordinate is too large" in found.out


# ---- strange systems ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "array",
    [
        pytest.param(np.zeros((2, 2, 3)), id="two points that never move"),
        pytest.param(wandering(4, 5, 2), id="2-D"),
        *(
            pytest.param(array, id=name, marks=pytest.mark.thorough)
            for name, array in (
                ("1-D", np.arange(2.0 * 3 * 1).reshape(2, 3, 1) ** 2),
                ("10-D", wandering(3, 6, 10)),
                ("nothing moves", np.ones((5, 4, 3)) * np.arange(4)[:, None]),
                ("tiny", 1e-9 * wandering(3, 5)),
            )
        ),
    ],
)
@pytest.mark.usefixtures("blank_figures")
def test_every_kind_of_array_gets_a_whole_folder(folder: Path, timme: Run, array: Floats) -> None:
    np.save(folder / "a.npy", array)
    found = timme("run", "a.npy", "-o", "out")
    assert (found.code, found.err) == (0, "")
    # Of two snapshots nothing can be told, nor where nothing moves.
    converging = len(array) > 2 and np.ptp(array, axis=0).any()
    expected = [name for name in OF_PARTICLES if converging or "convergence" not in name]
    assert sorted(path.name for path in (folder / "out").iterdir()) == expected


@pytest.mark.parametrize(
    "matrix",
    [[[0.0]], [[0.0, np.inf], [np.inf, 0.0]], [[0.0, 1.0], [1.0, 0.0]]],
    ids=["one site", "nothing compared", "two sites"],
)
@pytest.mark.usefixtures("blank_figures")
def test_the_smallest_matrices_get_a_folder(
    folder: Path, timme: Run, matrix: list[list[float]]
) -> None:
    np.save(folder / "m.npy", np.array(matrix))
    found = timme("run", "m.npy", "-o", "out")
    assert (found.code, found.err) == (0, "")
    assert {"result.npz", "dilution.svg", "clusters.csv"} <= {
        path.name for path in (folder / "out").iterdir()
    }
    assert json.loads((folder / "out" / "hierarchy.json").read_text())["heights"] == [
        value for value in np.array(matrix)[np.triu_indices(len(matrix), 1)] if np.isfinite(value)
    ]


def test_nothing_is_explained_where_nothing_moves(
    folder: Path, timme: Run, without_figures: None
) -> None:
    del without_figures
    np.save(folder / "a.npy", np.ones((5, 4, 3)) * np.arange(4)[:, None])
    found = timme("run", "a.npy", "-o", "out")
    assert found.code == 0
    assert "fluctuate by more than 0:" not in found.out


def test_names_with_quotes_and_commas_survive_every_table(
    folder: Path, timme: Run, without_figures: None
) -> None:
    del without_figures
    names = ["it's", 'say "a"', "a,b", "(c);d:", "Å σ", "e f"]
    lines = ["frame\tparticle\tx\ty"]
    rng = np.random.default_rng(0)
    for frame in range(4):
        for k, name in enumerate(names):
            quoted = '"' + name.replace('"', '""') + '"'
            lines.append(f"{frame}\t{quoted}\t{k + rng.normal():.3f}\t{rng.normal():.3f}")
    (folder / "a.tsv").write_text("\n".join(lines), encoding="utf-8")
    assert timme("run", "a.tsv", "-o", "out").code == 0
    made = library.load(folder / "out" / "result.npz")
    assert sorted(name.split("/")[-1] for name in made.system.names.tolist()) == sorted(names)
    text = (folder / "out" / "hierarchy.nwk").read_text(encoding="utf-8")
    assert nodes_of_newick(text) == nodes_of_hierarchy(made.hierarchy, made.system.names.tolist())
    with (folder / "out" / "sites.csv").open(encoding="utf-8", newline="") as file:
        assert [row["name"] for row in csv.DictReader(file)] == made.system.names.tolist()


def test_ligands_are_coloured_with_what_they_move_with(
    folder: Path, timme: Run, without_figures: None
) -> None:
    """They are not shown as residues, but belong to the cluster of those that are."""
    del without_figures
    rng = np.random.default_rng(0)
    near = ligand((10.0, 3.0, 2.0))
    models = [
        [*model, *moved(near, places(near) + rng.normal(scale=0.02, size=(4, 3)))]
        for model in swinging()
    ]
    write_pdb(folder / "a.pdb", models)
    assert timme("run", "a.pdb", "-o", "out", "--cutoff", 0.1).code == 0
    model = gemmi.read_structure(str(folder / "out" / "clusters.cif"))[0]
    factors = {
        (item.residue.name, item.residue.seqid.num): item.atom.b_iso
        for item in model.all()
        if item.atom.name in {"CA", "C2"}
    }
    assert factors["LIG", 90] == factors["ALA", 3] != 0
    assert factors["ALA", 3] != factors["ALA", 20]
