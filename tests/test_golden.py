"""The package finds what the golden vectors say, as the tests of the page do under node."""

from __future__ import annotations

import base64
import csv
import io
import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.golden import make
from tests.output.builders import fluctuations, glycines, linked, particles
from tests.page.pymol import chosen
from timme._arrays import Ints
from timme.analysis import Analysis
from timme.hierarchy.joining import heights_between, heights_to_core
from timme.order import choose_colours, families_at, stripes
from timme.output.colours import colouring, family_colours
from timme.output.scene import scene
from timme.output.tables import clusters_csv, csv_text, runs_text

Vector = dict[str, Any]


def read(name: str) -> Any:
    return json.loads((make.FOLDER / f"{name}.json").read_text(encoding="utf-8"))


TREES, MOTIONS, SCREWS, WORDS = (read(name) for name in ("trees", "motions", "screws", "words"))
PALETTES = TREES["palettes"]

trees = pytest.mark.parametrize("tree", TREES["trees"], ids=lambda tree: tree["name"])


def test_the_trees_are_what_the_slow_code_makes() -> None:
    assert read("trees") == json.loads(make.laid_out(make.trees()))


@pytest.mark.parametrize(
    ("held", "made"),
    [(MOTIONS, make.motions()), (SCREWS, make.screws())],
    ids=["motions", "screws"],
)
def test_the_motions_are_what_the_slow_code_makes(held: list[Vector], made: list[Vector]) -> None:
    for mine, theirs in zip(held, made, strict=True):  # rounded by another library, maybe
        for part in ("points", "moved"):
            np.testing.assert_allclose(mine[part], theirs[part], atol=2e-6)


# ---- trees ---------------------------------------------------------------------------------------


def analysed(tree: Vector) -> Analysis:
    """The objects of a tree as residues of one site each."""
    graph = (tree["objects"], [(i, j) for i, j in tree["pairs"]], tree["sigmas"])
    return particles(
        graph,
        hierarchy=linked(graph, make.UNIT),
        fluctuations=fluctuations(graph, make.UNIT),
        sites=glycines(tree["residues"]),
        shown=np.array(tree["shown"]),
    )


def unpacked(packed: str) -> list[float]:
    """Numbers of a scene."""
    kind, _, text = packed.partition(":")
    numbers: list[float] = np.frombuffer(base64.b64decode(text), f"<{kind}").tolist()
    return numbers


def floats(values: list[float | str]) -> list[float]:
    return [float(value) for value in values]


@trees
def test_a_scene_holds_the_tree_that_the_page_is_tested_with(tree: Vector) -> None:
    made = scene(analysed(tree))
    for part in ("tree", "whole"):
        for name, expected in tree[part].items():
            assert unpacked(made[part][name]) == floats(expected), name
    chains, names = make.residues(tree["objects"]), made["tree"]["names"]
    assert names == [f"{chains[site][1]}{chains[site][2]}" for site in tree["shown"]]


@trees
def test_clusters_and_their_colours_are_the_golden_ones(tree: Vector) -> None:
    analysis = analysed(tree)
    for cut in tree["cuts"]:
        cutoff, clusters = float(cut["cutoff"]), cut["clusters"]
        partition = analysis.shown_hierarchy.cut(cutoff)
        assert (partition.n_clusters, partition.sizes[0]) == (cut["count"], cut["largest"])
        for palette in ("wide", "safe"):
            found = colouring(analysis, cutoff, min_size=tree["minSize"], palette=PALETTES[palette])
            assert found.colours.tolist() == [cluster[palette] for cluster in clusters]
        for label, cluster in enumerate(clusters):
            assert partition.members(label).tolist() == cluster["members"]
            assert np.flatnonzero(found.labels == label).tolist() == cluster["objects"]
        families = families_at(analysis.shown_hierarchy, cutoff)[: len(clusters)]
        assert families.tolist() == [cluster["family"] for cluster in clusters]


@trees
def test_families_choose_the_golden_colours(tree: Vector) -> None:
    hierarchy = analysed(tree).shown_hierarchy
    for palette in ("wide", "safe"):
        chosen = choose_colours(hierarchy, len(PALETTES[palette]))
        assert chosen.tolist() == tree["colours"][palette]


@trees
def test_the_table_of_clusters_is_the_golden_one(tree: Vector) -> None:
    analysis = analysed(tree)
    for cut in tree["cuts"]:
        text = clusters_csv(
            analysis,
            [float(cut["cutoff"])],
            min_size=tree["minSize"],
            palette=PALETTES["wide"],
        )
        assert text == cut["csv"]


@trees
def test_stripes_are_the_golden_ones(tree: Vector) -> None:
    shown = analysed(tree).shown_hierarchy
    found = stripes(shown, order=tree["axis"], min_size=tree["minSize"])
    columns = (found.start, found.stop, found.low, found.high, found.family)
    drawn = sorted(zip(*(column.tolist() for column in columns), strict=True))
    assert drawn == [tuple(floats(stripe)) for stripe in tree["stripes"]]
    colours = family_colours(shown, palette=PALETTES["wide"])
    cutoffs = make.row_cutoffs(tree["limits"])
    for cutoff, row in zip(cutoffs, tree["rows"], strict=True):
        alive = (found.low <= cutoff) & (cutoff < found.high)
        held = colours[found.family[alive]].tolist()
        assert coloured(found.start[alive], found.stop[alive], held, row) == row


def coloured(
    start: Ints, stop: Ints, colours: list[str], row: list[str | None]
) -> list[str | None]:
    """Paint stripes along an axis."""
    painted: list[str | None] = [None] * len(row)
    for first, last, colour in zip(start, stop, colours, strict=True):
        painted[first:last] = [colour] * (last - first)
    return painted


@trees
def test_sites_join_one_another_and_the_core_at_the_golden_cutoffs(tree: Vector) -> None:
    shown, axis = analysed(tree).shown_hierarchy, tree["axis"]
    pairs = np.array(list(itertools.combinations(axis, 2)), np.int64).reshape(-1, 2)
    expected = [height for row in tree["joining"] for height in floats(row)]
    assert heights_between(shown, pairs).tolist() == expected
    assert heights_to_core(shown).tolist() == floats(tree["mobility"])


# ---- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", WORDS["runs"], ids=lambda case: case["text"])
def test_runs_are_written_as_by_hand(case: Vector) -> None:
    names = [(chain, name) for chain, name in case["residues"]]
    if case["members"]:
        assert runs_text(np.array(case["members"]), names) == case["text"]


@pytest.mark.parametrize("case", WORDS["selections"], ids=lambda case: case["about"])
def test_golden_selections_take_the_members_and_nothing_else(case: Vector) -> None:
    residues = [(chain, number, code) for chain, number, code in case["residues"]]
    assert chosen(case["text"], residues) == {residues[member] for member in case["members"]}


@pytest.mark.parametrize("case", WORDS["tables"], ids=lambda case: case["text"])
def test_tables_are_written_and_read_as_by_hand(case: Vector) -> None:
    head, *rows = case["rows"]
    assert csv_text(head, rows) == case["text"]
    assert list(csv.reader(io.StringIO(case["text"], newline=""))) == case["rows"]


@pytest.mark.parametrize("case", WORDS["numbers"], ids=lambda case: case["text"])
def test_golden_numbers_are_rounded_to_their_digits(case: Vector) -> None:
    value = float(case["value"])
    rounded = value if math.isinf(value) else float(f"{value:.{case['digits'] - 1}e}")
    assert float(case["text"].replace("−", "-").replace("∞", "inf")) == rounded


# ---- motions -------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", MOTIONS, ids=lambda case: case["name"])
def test_golden_motions_are_rigid_and_no_other_lies_better(case: Vector) -> None:
    points, moved, reference = (
        np.array(case[part], dtype=np.float64) for part in ("points", "moved", "reference")
    )
    turn, *_ = np.linalg.lstsq(points - points.mean(0), moved - moved.mean(0), rcond=None)
    if not case["flat"]:
        assert np.linalg.det(turn) == pytest.approx(1, abs=1e-5)
    before, after = (np.linalg.norm(x[:, None] - x[None], axis=-1) for x in (points, moved))
    np.testing.assert_allclose(after, before, atol=1e-5)
    chosen_ones, target = moved[case["chosen"]], reference[case["chosen"]]
    centre = target.mean(axis=0)
    np.testing.assert_allclose(chosen_ones.mean(axis=0), centre, atol=1e-5)
    best = ((chosen_ones - target) ** 2).sum()
    rng = np.random.default_rng(0)
    for _ in range(300):
        by = make.about_z(rng.uniform(0, 2 * math.pi)) if case["flat"] else make.rotation(rng)
        other = (chosen_ones - centre) @ by.T + centre
        assert ((other - target) ** 2).sum() >= best - 1e-4


@pytest.mark.parametrize("case", SCREWS, ids=lambda case: str(case["degrees"]))
def test_golden_screws_are_a_rotation_and_a_shift_along_its_axis(case: Vector) -> None:
    along, point = np.array(case["along"]), np.array(case["point"])
    angle = math.radians(case["degrees"])
    turn = Rotation.from_rotvec(angle * along)
    expected = turn.apply(np.array(case["points"]) - point) + point + case["pitch"] * angle * along
    np.testing.assert_allclose(case["moved"], expected, atol=1e-6)
