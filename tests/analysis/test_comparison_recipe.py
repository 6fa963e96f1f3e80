"""Two results are compared on the sites that both show, from objects, folders and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import gemmi
import numpy as np
import pytest
from pandas import read_csv

import timme
from tests import naive
from tests.comparison.test_sites import protein
from timme.analysis.comparison import compare, read_partition
from timme.analysis.result import Analysis, Comparison, Made, Rigidity, System
from timme.analysis.tables import Table
from timme.ensemble import Atoms
from timme.hierarchy import Quantity
from timme.output.folder import write_folder
from timme.output.summary import answer
from timme.rigidity import Network, decompose

FILES = {
    *("summary.txt", "report.html", "matched.csv", "agreement.csv", "agreement.png"),
    *("dilutions.png", "structure.cif", "view.pml", "view.cxc", "view.tcl", "result.npz"),
}  # and difference.csv, of two results of one quantity


def result_of(
    labels: Sequence[int], title: str, *, first: int = 1, seed: int = 0, chain: str = "A"
) -> Analysis:
    """Return a result of Cα with clusters at σc = 1 Å."""
    wanted, rng = np.array(labels), np.random.default_rng(seed)
    same = wanted[:, None] == wanted
    matrix = np.where(same, 0.5, 2.0) + np.triu(rng.uniform(0, 0.1, same.shape), 1)
    matrix = np.triu(matrix, 1) + np.triu(matrix, 1).T
    numbers = range(first, first + len(labels))
    atoms = protein(numbers, chain=chain, start=first - 1)
    every = np.arange(len(labels))
    places = np.column_stack([3.8 * every, np.sin(every), np.zeros(len(labels))])
    names = np.array([atoms.label(k) for k in every.tolist()])
    system = System(names, every, every, atoms, places, every, "Cα", n_snapshots=50, unit="Å")
    tree = timme.link(matrix, quantity=Quantity("σ", "Å", cutoff="σc"))
    return Analysis(system, tree, Made(kind="molecule", title=title))


ONE = [0] * 40 + [1] * 30 + [2] * 20
OTHER = [0] * 35 + [1] * 35 + [2] * 20


@pytest.fixture(scope="module")
def compared() -> Comparison:
    return compare(result_of(ONE, "one"), result_of(OTHER, "two", first=6, seed=1))


def test_common_sites_are_compared_at_their_best_pair(compared: Comparison) -> None:
    shared = ONE[5:], OTHER[:85]  # residues 6 to 90
    assert compared.agreement.best_rand == pytest.approx(naive.adjusted_rand(*shared), abs=1e-12)
    found = compared.agreement.clusters
    assert found.first.labels.tolist() == shared[0]
    assert compared.common.first.tolist() == list(range(5, 90))
    assert compared.common.second.tolist() == list(range(85))
    # residues 71 to 75 are with the last 20 in the first, with those before in the second
    np.testing.assert_allclose(
        [found.jaccard[found.pairs[:, 0] == one].max() for one in range(3)],
        [35 / 35, 30 / 35, 15 / 20],
    )


def test_the_answer_names_both_results_chance_and_what_was_left_out(compared: Comparison) -> None:
    lines = str(compared).splitlines()
    assert lines[0].startswith("one and two agree beyond chance: adjusted Rand index 0.8")
    assert lines[0].endswith("(p = 0.02).")  # one of 51 arrangements
    assert "  shared     35 residues are in the core of both (35 in one, 35 in two)" in lines
    assert "left out: A 1-5 of one, A 91-95 of two" in " ".join(" ".join(lines).split())
    assert answer(compared, "timme-compare").endswith(
        "Open timme-compare/report.html  (more: summary.txt, matched.csv; PyMOL: view.pml)"
    )


def test_unrelated_clusters_do_not_agree() -> None:
    mixed = [k % 3 for k in range(90)]  # shifted along the chain, these stay the same
    found = compare(result_of(ONE, "one"), result_of(mixed, "mixed"))
    assert found.agreement.chance is not None
    assert found.agreement.chance.p > 0.05
    assert str(found).startswith("one and mixed do not agree beyond chance: ")


def test_a_folder_holds_both_partitions(compared: Comparison, tmp_path: Path) -> None:
    written = write_folder(compared, tmp_path / "both")
    assert {path.name for path in written} == FILES | {"difference.csv"}
    structure = gemmi.read_structure(str(tmp_path / "both" / "structure.cif"))
    columns = np.array([[a.b_iso, a.occ] for a in (c.atom for c in structure[0].all())], int)
    overlap = compared.agreement.clusters
    assert columns[5:, 0].tolist() == [label + 1 for label in overlap.first.labels.tolist()]
    assert columns[5:, 1].tolist() == [label + 1 for label in overlap.second.labels.tolist()]
    assert not columns[:5].any()  # residues that the second has not
    again = timme.load(tmp_path / "both")
    assert isinstance(again, Comparison)
    assert str(again) == str(compared)
    assert (tmp_path / "both" / "matched.csv").read_text().splitlines()[1] == (
        "1,1,35,35,35,1,yes,A 6-40"
    )


def test_given_cutoffs_chains_and_sizes_count() -> None:
    one, other = result_of(ONE, "one"), result_of(OTHER, "two", chain="B")
    found = compare(one, other, cutoffs=(1.0, 0.1), chains="A=B", min_size=25)
    overlap = found.agreement.clusters
    assert (overlap.first.n_clusters, overlap.second.n_clusters) == (3, 90)
    assert (overlap.partners == -1).all()  # single sites are too small to be matched
    assert found.made.given == ("chains", "cutoffs", "min_size")
    assert np.bincount(found.finding.labels + 1).tolist() == [20, 40, 30]
    with pytest.raises(ValueError, match="has no chain 'C'"):
        compare(one, other, chains={"C": "A"})


def with_bonds(result: Analysis, energies: Sequence[float], spread: float) -> Analysis:
    """Add hydrogen bonds between residues three apart, and a spread of their core heights."""
    ends = np.array([[k, k + 3] for k in range(len(energies))])
    count, columns = len(result.system.sites), np.full(len(energies), 5)
    kinds = np.full(len(energies), "hydrogen bond")
    network = Network(count, ends, columns, kinds, np.array(energies))
    rigid = Rigidity(network, decompose(network, -1.0), -1.0, np.zeros(count))
    if spread:
        heights = result.hierarchy.core_heights() + spread * np.array([[-1.0], [0.0], [1.0]])
        nothing = np.zeros((1, 1))
        many = timme.rigidity.Together(
            *(nothing, nothing, np.zeros(3, int), np.zeros(3, int), heights)
        )
        rigid = replace(rigid, together=many)
    return replace(result, rigidity=rigid)


@pytest.fixture(scope="module")
def different() -> Comparison:
    one = with_bonds(result_of(ONE, "one"), [-2.0, -1.0, -0.5], spread=0.3)
    other = with_bonds(result_of(ONE, "two", seed=1), [-2.0, -0.9, -3.0], spread=0.4)
    return compare(one, other)


def bond(one: int, other: int) -> str:
    atoms = protein(range(1, 91))
    return f"{atoms.label(one - 1)} – {atoms.label(other - 1)}"


def test_bonds_and_core_heights_differ_with_their_errors(different: Comparison) -> None:
    found = different.difference
    assert found is not None
    assert found.lost == (bond(2, 5),)
    assert found.gained == (bond(3, 6),)
    assert found.error is not None
    np.testing.assert_allclose(found.error[np.isfinite(found.delta)], 0.5)  # hypot of both
    one = with_bonds(result_of(ONE, "one"), [-2.0, -1.0, -0.5], spread=0.0)
    moved = with_bonds(result_of(ONE, "two", chain="B"), [-2.0, -0.9, -3.0], spread=0.0)
    apart = compare(one, moved).difference
    assert apart is not None
    assert (apart.gained, apart.lost, apart.error) == ((), (), None)


def test_differences_are_written_with_their_errors(different: Comparison, tmp_path: Path) -> None:
    found = different
    write_folder(found, tmp_path / "both")
    table = read_csv(tmp_path / "both" / "difference.csv")
    first, second = (table[f"{name}_core_sigma_A"] for name in ("first", "second"))
    np.testing.assert_allclose(table["difference_A"], second - first, atol=1e-5)
    np.testing.assert_allclose(table["error_A"], 0.5)
    summary = (tmp_path / "both" / "summary.txt").read_text("utf-8")
    assert f"Hydrogen bonds lost\n  {bond(2, 5)}\n" in summary
    assert f"Hydrogen bonds gained\n  {bond(3, 6)}\n" in summary
    assert found.difference is not None
    place = found.difference.rand.argmax()
    equal = found.difference.cutoffs[place]
    trees = found.agreement.first, found.agreement.second
    labels = (tree.cut(equal).labels.tolist() for tree in trees)
    assert found.difference.rand[place] == pytest.approx(naive.adjusted_rand(*labels), abs=1e-12)
    assert f"at equal cutoffs, both agree best at {equal:.2g}" in summary


def test_results_of_one_cluster_or_of_different_kinds_are_refused() -> None:
    rigid = timme.analyse(1 - np.eye(50), confidence=False)
    with pytest.raises(ValueError, match="is one cluster at every cutoff: nothing to compare"):
        compare(rigid, rigid)
    with pytest.raises(ValueError, match="residues and particles cannot be compared"):
        compare(result_of(ONE, "1"), timme.analyse(np.stack([np.eye(90), 2 * np.eye(90)])))


def test_a_table_of_clusters_is_one_partition(tmp_path: Path) -> None:
    path = tmp_path / "domains.csv"
    names = protein(range(1, 91)).resnames.tolist()
    rows = [
        f"{'core' if n < 41 else 'lid' if n < 71 else 0},{n},{names[n - 1]}" for n in range(1, 91)
    ]
    path.write_text("\ufeffcluster,number,residue\n" + "\n".join(rows), "utf-8")
    table = read_partition(path)
    assert table.hierarchy.cut(0.0).sizes.tolist() == [40, 30]
    found = compare(path, result_of(ONE, "one"))
    assert found.agreement.best_rand == 1.0
    assert found.agreement.rand.shape[0] == 1
    assert "best at    the clusters of domains with σc = " in str(found)
    assert {path.name for path in write_folder(found, tmp_path / "x")} == FILES


def test_bodies_of_a_table_of_sites_are_a_partition_and_nested_clusters_none(
    tmp_path: Path,
) -> None:
    result, path = result_of(ONE, "one"), tmp_path / "sites.csv"
    path.write_text(result.sites.csv(), "utf-8")
    with pytest.raises(ValueError, match=r"no support of nested clusters, .* folder of a result"):
        read_partition(path)
    bodies = {"body": list(ONE)}  # counted from 1, and 0 for none
    path.write_text(Table({**result.sites.columns, **bodies}).csv(), "utf-8")
    table, atoms = read_partition(path), result.shown_atoms.take(np.arange(40, 90))
    for name in ("chains", "resids", "icodes", "resnames", "names"):
        np.testing.assert_array_equal(getattr(table.system.sites, name), getattr(atoms, name))
    assert table.hierarchy.cut(0.0).labels.tolist() == [0] * 30 + [1] * 20


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "number,cluster\n1,2\n",
            "columns number, residue .* and cluster or body, .* got number, cluster:",
        ),
        (
            "number,residue,cluster\n1,GLY,0\n2,GLY,\n",
            "needs 2 clusters or more in the column cluster",
        ),
        ("number,residue,cluster\n1,GLY,1\n1e3,GLY,2\n", "such as 52 or 52A"),
        ("number,residue,cluster\n99999999999999999999,,1\n2,,2\n", "such as 52 or 52A"),
        ("number,cluster\n1,2\n1,2,3\n", "Expected 2 fields in line 3, saw 3"),
        ("", "No columns to parse"),
    ],
)
def test_tables_without_clusters_are_refused(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"table.csv: .*{words}"):
        compare(path, result_of(ONE, "one"))


def test_what_is_no_result_is_refused(compared: Comparison, tmp_path: Path) -> None:
    one = result_of(ONE, "one")
    with pytest.raises(TypeError, match="compare needs Analysis, got Comparison: give two results"):
        compare(one, compared)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        compare(one, tmp_path / "gone")
    particles = replace(one, system=System.without_places(Atoms.unnamed(90)))
    with pytest.raises(ValueError, match="no site is in both, or less than 30%"):
        compare(one, particles)
    with pytest.raises(ValueError, match="there is no option cutoff=: use cutoffs="):
        compare(one, one, cutoff=1.0)
