"""Two results through the command line: what they share, where they agree, what is written."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import numpy as np
import pytest

import timme as library
from tests.cli.conftest import Outcome, Refused, Run
from tests.cli.ensembles import swinging, wandering
from tests.compare.reference import naive_rand, naive_variation
from tests.conftest import leave_out_figures
from tests.readers.builders import Record, write_pdb
from timme.cli import main

FILES = sorted(
    [f"{stem}.{kind}" for stem in ("dilutions", "agreement") for kind in ("svg", "png")]
    + ["agreement.csv", "best-cutoffs.csv", "matched.csv"]
    + [f"comparison.{suffix}" for suffix in ("cif", "pdb", "pml", "cxc", "tcl")]
)


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("two-runs")
    write_pdb(place / "peptide.pdb", swinging())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        leave_out_figures(patch)
        main(["run", "peptide.pdb", "-o", "whole"])
        main(["run", "peptide.pdb", "-s", "ca", "--objects", "points", "-o", "ca"])
    return place


@pytest.fixture
def results(folder: Path, two_runs: Path) -> Path:
    """Two runs of one peptide, all atoms and Cα alone."""
    shutil.copytree(two_runs, folder, dirs_exist_ok=True)
    return folder


def compared(timme: Run, *arguments: object) -> Outcome:
    found = timme("compare", *arguments, "-o", "out", "--overwrite")
    assert (found.code, found.err) == (0, "")
    return found


def rows(path: str) -> list[list[str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def renamed(models: list[list[Record]], chain: str) -> list[list[Record]]:
    return [[(*record[:3], chain, *record[4:]) for record in model] for model in models]


def test_every_file_is_there_and_named_after_both(results: Path, timme: Run) -> None:
    found = timme("compare", "whole", "ca/result.npz")
    assert (found.code, found.err) == (0, "")
    folder = results / "timme-compare-whole-ca"
    assert sorted(path.name for path in folder.iterdir()) == FILES
    assert "first      whole: 24 × Cα" in found.out
    assert "second     ca: 24 × Cα" in found.out
    assert "common     24 sites" in found.out
    assert "left out" not in found.out
    script = (folder / "comparison.pml").read_text()
    assert "@comparison.pml" in script
    assert "Clusters of whole at the cutoff" in script


@pytest.mark.usefixtures("results", "without_figures")
def test_the_grid_is_that_of_all_pairs_of_cuts(timme: Run) -> None:
    compared(timme, "whole", "ca")
    first, second = (library.load(f"{name}/result.npz").shown_hierarchy for name in ("whole", "ca"))
    header, *lines = rows("out/agreement.csv")
    assert header[0] == "whole down and ca across"
    cutoffs = [float(text) for text in header[1:]]
    assert cutoffs == [-np.inf, *second.levels]
    for line in lines[:: max(1, len(lines) // 7)]:
        one = first.cut(float(line[0])).labels.tolist()
        for cutoff, value in list(zip(cutoffs, line[1:], strict=True))[::5]:
            expected = naive_rand(one, second.cut(cutoff).labels.tolist())
            assert float(value) == pytest.approx(expected, abs=1e-6)  # written with six digits


@pytest.mark.usefixtures("results", "without_figures")
def test_the_pair_asked_for_is_told_beside_the_best(timme: Run) -> None:
    found = compared(timme, "whole", "ca", "--cutoffs", "0.1,0.3")
    lines = found.out.splitlines()
    place = next(k for k, line in enumerate(lines) if line.startswith("asked for"))
    assert "σc = 0.1 Å (σc/a = 0.0649) with σc = 0.3 Å" in lines[place]
    first, second = (
        library.load(f"{name}/result.npz").shown_hierarchy.cut(cutoff).labels.tolist()
        for name, cutoff in (("whole", 0.1), ("ca", 0.3))
    )
    assert f"adjusted Rand index {naive_rand(first, second):.3f}, " in lines[place + 1]
    assert f"variation of information {naive_variation(first, second):.3f} nats" in lines[place + 1]
    assert Path("out/matched-asked.csv").is_file()


@pytest.mark.usefixtures("without_figures")
def test_a_result_in_this_folder_has_the_name_of_the_folder(
    results: Path, timme: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(results / "whole")
    assert "first      whole: 24 × Cα" in compared(timme, ".", "../ca").out


@pytest.mark.usefixtures("without_figures")
def test_many_sites_that_are_left_out_are_named_briefly(folder: Path, timme: Run) -> None:
    for name, step in (("every", 1), ("even", 2)):
        lines = [f"{number},{number // 9 + 1}" for number in range(step, 201, step)]
        (folder / f"{name}.csv").write_text("\n".join(["number,cluster", *lines]))
    out = compared(timme, "every.csv", "even.csv").out
    assert "not in the other: 1 3 5 7 9 11 13 15 17 19 and 90 more\n" in out


@pytest.mark.usefixtures("results", "without_figures")
def test_a_result_agrees_wholly_with_itself(timme: Run) -> None:
    found = compared(timme, "whole", "whole")
    assert "first      whole-1" in found.out
    assert "adjusted Rand index 1.000, variation of information 0.000 nats (0.00" in found.out
    assert "cluster 1 of whole-1 is 1 of whole-2: " in found.out
    assert "Jaccard 1.00" in found.out


@pytest.mark.usefixtures("results", "without_figures")
def test_chains_of_other_names_are_told(folder: Path, timme: Run, refused: Refused) -> None:
    write_pdb(folder / "b.pdb", renamed(swinging(), "B"))
    assert timme("run", "b.pdb").code == 0
    found = compared(timme, "whole", "timme-b", "--chains", "A=B")
    assert "adjusted Rand index 1.000" in found.out
    said = refused("compare", "whole", "timme-b", "--chains", "Z=B", "-o", "z")
    assert "the first has no chain 'Z'" in said
    assert "chains such as A=B,C=D" in refused("compare", "whole", "ca", "--chains", "A", "-o", "z")


@pytest.mark.usefixtures("without_figures")
def test_what_is_left_out_is_named(folder: Path, timme: Run) -> None:
    models = swinging()
    write_pdb(folder / "all.pdb", models)
    write_pdb(folder / "some.pdb", [model[10:] for model in models])
    assert timme("run", "all.pdb").code == timme("run", "some.pdb").code == 0
    found = compared(timme, "timme-all", "timme-some")
    assert "common     22 sites" in found.out
    assert "left out   2 of all, not in the other: A 1-2" in found.out
    assert "note: 22 sites are in both: 22 of 24 in the first, all of 22 in the second" in found.out


@pytest.mark.usefixtures("without_figures")
class TestTables:
    @pytest.mark.usefixtures("results")
    def test_the_sites_of_a_run_are_its_clusters(self, timme: Run) -> None:
        cutoff = float(rows("whole/clusters.csv")[1][0])
        found = compared(timme, "whole", "whole/sites.csv", "--cutoffs", f"{cutoff},0")
        at = found.out[found.out.index("asked for") :]
        assert "adjusted Rand index 1.000" in at

    @pytest.mark.usefixtures("results")
    def test_the_column_of_a_table_is_named_and_its_cutoff_told(self, timme: Run) -> None:
        columns = [name for name in rows("whole/sites.csv")[0] if name.startswith("cluster")]
        assert len(columns) > 1
        found = compared(timme, "whole", "whole/sites.csv")
        assert f"of {len(columns)} columns of clusters, {columns[0]!r} was taken" in found.out
        cutoff = columns[0].removeprefix("cluster ")  # such as "at 0.12 Å"
        assert f"sites {cutoff}: " in found.out
        assert rows("out/agreement.csv")[0][0] == f"whole down and sites {cutoff} across"

    @pytest.mark.usefixtures("results")
    def test_a_table_of_residues_is_enough(self, results: Path, timme: Run) -> None:
        lines = [f"{number};{'head' if number <= 12 else 'tail'}" for number in range(1, 25)]
        (results / "halves.csv").write_text("\n".join(["number;cluster", *lines]))
        found = compared(timme, "whole", "halves.csv")
        assert "note: no atom names are shared: sites were matched by residue" in found.out
        # The peptide was made of two stiff halves.
        assert "adjusted Rand index 1.000" in found.out

    @pytest.mark.usefixtures("results")
    def test_a_table_has_one_cutoff_even_where_single_sites_would_agree_as_well(
        self, results: Path, timme: Run
    ) -> None:
        lines = [f"{number},1" for number in range(1, 25)]
        (results / "whole.csv").write_text("\n".join(["number,cluster", *lines]))
        found = compared(timme, "whole", "whole.csv")
        assert rows("out/agreement.csv")[0] == ["whole-1 down and whole-2 across", "0.0"]
        assert " against 24\n" in found.out
        assert "note: whole.csv: clusters of 24 sites at one level" in found.out

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("number,cluster\n1," + "x" * 200_000, "bad.csv: line 2: field larger than"),
            ("name,cluster\nCA,1\n", "has the columns number and cluster, got name, cluster"),
            ("number,cluster\nx,1\n", "line 2: expected a residue number such as 52 or 52A"),
            ("number,cluster\n1,0\n2,\n", "no site is in a cluster"),
            ("", "the file is empty"),
        ],
    )
    @pytest.mark.usefixtures("results")
    def test_other_tables_are_refused(
        self, results: Path, refused: Refused, text: str, words: str
    ) -> None:
        (results / "bad.csv").write_text(text)
        assert words in refused("compare", "whole", "bad.csv")

    def test_two_tables_have_no_structure(self, folder: Path, timme: Run) -> None:
        lines = [f"{number},{number // 4 + 1}" for number in range(1, 13)]
        (folder / "one.csv").write_text("\n".join(["number,cluster", *lines]))
        found = compared(timme, "one.csv", "one.csv")
        assert "note: no structures: neither of the two has coordinates" in found.out
        assert "adjusted Rand index 1.000" in found.out


@pytest.mark.usefixtures("results", "without_figures")
class TestRefusals:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["whole", "nothing"], "nothing"),
            (["whole", "peptide.pdb"], "peptide.pdb: not a result of timme"),
            (["whole", "ca", "--cutoffs", "0.1"], "two numbers such as -0.5,0.06"),
            (["whole", "ca", "--chains", "A=A,A=B"], "each chain once, such as A=B,C=D"),
            (
                ["whole", "ca", "--cutoffs", "0.1,nan"],
                "--cutoffs must be two numbers",
            ),
            (["whole", "ca", "--min-size", "0"], "min-size must be at least 1"),
            (["whole", "ca", "-o", "ca"], "ca exists"),
            (["whole", "ca", "-o", "ca", "--overwrite"], "ca holds no result of timme"),
            (["whole"], "Missing argument"),
        ],
    )
    def test_what_cannot_be_compared(
        self, refused: Refused, arguments: list[str], words: str
    ) -> None:
        assert words in refused("compare", *arguments)

    def test_results_without_a_common_site(
        self, results: Path, timme: Run, refused: Refused
    ) -> None:
        models = [[(*r[:4], r[4] + 500, *r[5:]) for r in model] for model in swinging()]
        write_pdb(results / "far.pdb", models)
        assert timme("run", "far.pdb").code == 0
        assert "no site is in both" in refused("compare", "whole", "timme-far")

    def test_particles_have_numbers_for_names(self, results: Path, timme: Run) -> None:
        np.save(results / "a.npy", wandering(seed=1))
        np.save(results / "b.npy", wandering(seed=2))
        assert timme("run", "a.npy").code == timme("run", "b.npy").code == 0
        assert "common     8 sites" in compared(timme, "timme-a", "timme-b").out


@pytest.mark.usefixtures("blank_figures")
def test_an_earlier_comparison_is_replaced_and_other_files_stay(results: Path, timme: Run) -> None:
    compared(timme, "whole", "ca", "--cutoffs", "0.1,0.3")
    (results / "out" / "mine.txt").write_text("mine")
    compared(timme, "whole", "ca", "--palette", "safe", "--min-size", "4")
    names = sorted(path.name for path in (results / "out").iterdir())
    assert names == sorted([*FILES, "mine.txt"])


@pytest.mark.usefixtures("without_figures")
def test_barnase_by_constraints_and_by_fluctuations(timme: Run) -> None:
    first, frames = (library.data.path(f"barnase_md_dense.{kind}") for kind in ("pdb", "xtc"))
    assert timme("rigidity", first, "-o", "static").code == 0
    assert timme("run", first, frames, "-dt", 5, "-s", "resid 5:110", "-o", "moving").code == 0
    paper = -0.048, 0.068 * 1.54
    found = compared(timme, "static", "moving", "--cutoffs", f"{paper[0]},{paper[1]}")
    assert "common     106 sites" in found.out
    assert "left out   2 of static, not in the other: A 3-4" in found.out
    assert "asked for  E = -0.048 kcal/mol with σc = 0.1047 Å (σc/a = 0.068)" in found.out
    one, other = (
        library.load(f"{name}/result.npz").shown_hierarchy for name in ("static", "moving")
    )
    labels = one.cut(paper[0]).labels[2:].tolist(), other.cut(paper[1]).labels.tolist()
    assert f"adjusted Rand index {naive_rand(*labels):.3f}" in found.out
