import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import fcluster, is_valid_linkage

from tests.output.builders import linked, particles, random_graph, read_back, residues
from timme.output.colours import colouring
from timme.output.tables import (
    clusters_csv,
    hierarchy_json,
    levels_csv,
    runs_text,
    sites_csv,
    write_tables,
)
from timme.statistics import curves


def test_clusters_are_listed_as_cut_with_their_life() -> None:
    analysis = residues(random_graph(360, 5))
    hierarchy = analysis.shown_hierarchy
    cutoff = float(np.median(hierarchy.levels))
    table = read_back(clusters_csv(analysis, [cutoff], min_size=2))
    partition = hierarchy.cut(cutoff)
    assert table["size"].tolist() == [size for size in partition.sizes if size >= 2]
    assert table["cluster"].tolist() == list(range(1, len(table) + 1))
    assert (table["formed (Å)"] <= cutoff).all()
    assert (table["joined (Å)"] > cutoff).all()
    assert table["objects"].sum() <= len(analysis.system.names)
    for label, row in enumerate(table.itertuples()):
        member = analysis.system.shown[partition.members(label)[0]]
        assert row.colour == colouring(analysis, cutoff, min_size=2).object_colours[member]


def test_members_are_runs_of_residues_within_chains() -> None:
    pairs = [(1, 4), (4, 7), (7, 13), (13, 16)]  # Cα of residues 1, 2, 3 and 5, 6 of six
    graph = (18, pairs, [1.0] * 4)
    analysis = residues(graph, chains="AB", first_resid=5)
    table = read_back(clusters_csv(analysis, [1.0]))
    assert table["members"].tolist() == ["A 5-7, B 6-7"]
    assert table["size"].tolist() == [5]


def test_members_with_several_objects_to_a_residue_go_by_name() -> None:
    graph = (6, [(0, 1), (1, 2)], [1.0, 1.0])
    analysis = residues(graph, chains="A")
    every = particles(
        graph,
        sites=analysis.system.sites,
        names=analysis.system.names,
        hierarchy=analysis.hierarchy,
    )
    table = read_back(clusters_csv(every, [1.0]))
    assert table["members"].tolist() == ["A/ALA 5/N-A/ALA 5/C"]


def test_every_site_has_its_label_and_clusters() -> None:
    analysis = residues(random_graph(120, 5))
    hierarchy = analysis.shown_hierarchy
    cutoffs = [float(hierarchy.levels[3]), float(hierarchy.levels[9])]
    table = read_back(sites_csv(analysis, cutoffs))
    shown = table.iloc[analysis.system.shown]
    assert table["name"].tolist() == analysis.system.names.tolist()
    assert (shown["site label"].to_numpy() - 1).tolist() == np.argsort(hierarchy.order).tolist()
    for cutoff in cutoffs:
        labels = shown[f"cluster at {cutoff:g} Å"].to_numpy() - 1
        assert labels.tolist() == hierarchy.cut(cutoff).labels.tolist()


def test_levels_hold_every_curve() -> None:
    counted = curves(linked(random_graph(50, 1), "nm"), large=4, sizes=(1, 3))
    table = read_back(levels_csv(counted, length=2.0))
    assert table["cutoff (nm)"].tolist() == counted.cutoffs.tolist()
    assert table["cutoff / a"].tolist() == (counted.cutoffs / 2).tolist()
    assert table["clusters"].tolist() == counted.n_clusters.tolist()
    assert table["largest"].tolist() == counted.largest.tolist()
    assert table["mean size"].tolist() == counted.mean_size.tolist()
    assert table["largest fraction"].tolist() == (counted.largest / 50).tolist()
    assert table["P(r = 1)"].tolist() == counted.size_fractions[0].tolist()
    assert table["P(r = 3)"].tolist() == counted.size_fractions[1].tolist()
    assert table["P(r >= 4)"].tolist() == counted.large_fraction.tolist()


def test_json_holds_the_whole_hierarchy() -> None:
    analysis = particles(random_graph(40, 2))
    content = json.loads(hierarchy_json(analysis))
    assert content["parents"] == analysis.hierarchy.parents.tolist()
    assert content["heights"] == analysis.hierarchy.heights.tolist()
    assert content["order"] == analysis.hierarchy.order.tolist()
    assert content["names"] == analysis.system.names.tolist()
    assert content["unit"] == "µm"


def test_all_tables_are_written_and_the_linkage_is_scipys(tmp_path: Path) -> None:
    n_sites = 30
    rng = np.random.default_rng(3)
    pairs = [(int(rng.integers(k + 1)), k + 1) for k in range(n_sites - 1)]
    analysis = particles((n_sites, pairs, rng.random(n_sites - 1).tolist()))
    paths = write_tables(analysis, tmp_path, [0.5])
    names = "clusters.csv sites.csv levels.csv hierarchy.json hierarchy.nwk linkage.csv linkage.npy"
    assert [path.name for path in paths] == names.split()
    linkage = np.load(tmp_path / "linkage.npy")
    assert is_valid_linkage(linkage)
    assert pd.read_csv(tmp_path / "linkage.csv").to_numpy() == pytest.approx(linkage)
    flat = fcluster(linkage, 0.5, "distance")
    ours = analysis.hierarchy.cut(0.5).labels
    assert len(set(zip(flat, ours, strict=True))) == len(set(flat)) == len(set(ours))
    assert (tmp_path / "hierarchy.nwk").read_text().count("particle") == n_sites


def test_odd_names_survive_the_csv(tmp_path: Path) -> None:
    odd = np.array(['a,"b"', "c\nd", "é µ"])
    analysis = particles((3, [(0, 1)], [1.0]), names=odd)
    write_tables(analysis, tmp_path, [1.0])
    assert pd.read_csv(tmp_path / "sites.csv")["name"].tolist() == odd.tolist()


@pytest.mark.parametrize(
    ("members", "numbers", "expected"),
    [
        ([0, 1, 2], ["5", "6", "7"], "A 5-7"),
        ([0, 2], ["5", "6", "7"], "A 5 7"),
        ([0, 1, 2, 3], ["404", "500", "611", "702"], "A 404 500 611 702"),
        ([0, 1, 2, 3], ["9", "10", "10A", "11"], "A 9-11"),
        ([0, 1, 2], ["-2", "-1", "1"], "A -2--1 1"),
        ([0, 1], ["here", "there"], "A here-there"),
    ],
)
def test_a_run_goes_on_with_the_next_number(
    members: list[int], numbers: list[str], expected: str
) -> None:
    names = [("A", number) for number in numbers]
    assert runs_text(np.array(members), names) == expected


def test_a_run_ends_with_its_chain() -> None:
    names = [("A", "1"), ("A", "2"), ("B", "3"), ("B", "4")]
    assert runs_text(np.arange(4), names) == "A 1-2, B 3-4"
