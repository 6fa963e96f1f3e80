import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import timme
from tests.compare.reference import clusters_of, two_graphs
from tests.output.builders import Graph, linked, particles, random_graph, read_back, residues
from timme.compare import Comparison, common_sites, compare
from timme.hierarchy import Hierarchy, grow
from timme.order import families_at
from timme.output.axes import places_of
from timme.output.colours import CORE, SAFE, WIDE, family_colours
from timme.output.common import on_common_sites
from timme.output.comparison import dilutions, heatmap
from timme.output.comparison_tables import best_cutoffs_csv, matched_csv
from timme.output.figures import save_figure
from timme.output.matched_colours import cluster_colours, matched_colours
from timme.rigidity.decomposition import ENERGY

PAIRS = [(k, k + 1) for k in range(29)]


@cache
def left_tree() -> Hierarchy:
    return linked(random_graph(150, 5), "Å")


@cache
def right_tree() -> Hierarchy:
    return linked(random_graph(150, 6), "nm")


def bodies(heights: dict[int, float], n_sites: int = 30, unit: str = "Å") -> Hierarchy:
    """A chain of sites that join at 1, but for some neighbours."""
    joined = [heights.get(k, 1.0) for k in range(n_sites - 1)]
    return linked((n_sites, PAIRS[: n_sites - 1], joined), unit)


def texts(axes: Axes) -> str:
    return f"{axes.get_xlabel()} {axes.get_ylabel()} {axes.get_title('left')}"


def colour_at(axes: Axes, place: int, cutoff: float) -> str | None:
    """Colour of what is drawn of a place at a cutoff."""
    (stripes,) = (c for c in axes.collections if isinstance(c, PathCollection))
    for path, colour in zip(stripes.get_paths(), np.asarray(stripes.get_facecolor()), strict=True):
        if path.contains_point((place + 0.5, cutoff)):
            return to_hex(colour)
    return None


# Which colours match


@given(two_graphs(), st.integers(1, 3), st.sampled_from([WIDE, SAFE]))
def test_partners_share_a_colour_and_no_one_else_takes_it(
    given: tuple[Graph, Graph], min_size: int, palette: tuple[str, ...]
) -> None:
    compared = compare(*map(linked, given), min_size=min_size)
    first, second = (found.tolist() for found in cluster_colours(compared, palette=palette))
    partners = compared.clusters.partners.tolist()
    assert len(first) == (compared.clusters.first.sizes >= min_size).sum()
    assert len(second) == (compared.clusters.second.sizes >= min_size).sum()
    for label, colour in enumerate(second):
        if partners[label] >= 0:
            assert colour == first[partners[label]]
        elif len(first) + len(second) <= len(palette):
            assert colour not in first
    if compared.n_sites <= len(palette) / 2:
        assert len(set(second)) == len(second)


@given(two_graphs())
def test_families_without_a_partner_stay_apart(given: tuple[Graph, Graph]) -> None:
    compared = compare(*map(linked, given))
    taken = matched_colours(compared).tolist()
    assert len(taken) == compared.n_sites
    if compared.n_sites <= len(WIDE) / 2:
        assert len(set(taken)) == len(taken)


def test_matched_colours_follow_descent_in_both() -> None:
    compared = compare(left_tree(), right_tree(), min_size=2, cutoffs=(0.04, 0.04))
    second, colours = compared.second, matched_colours(compared)
    at_cutoff = second.cut(0.04)
    for label, colour in enumerate(cluster_colours(compared)[1].tolist()):
        members = at_cutoff.members(label)
        for cutoff in second.levels[second.levels < 0.04][::-1]:
            labels = second.cut(cutoff).labels
            sizes = np.bincount(labels[members])
            members = np.flatnonzero(labels == labels[members][sizes[labels[members]].argmax()])
            assert colours[families_at(second, cutoff)[labels[members[0]]]] == colour


def largest_by_colour(hierarchy: Hierarchy, colours: list[str]) -> dict[str, frozenset[int]]:
    """The largest cluster of 2 sites or more that is ever drawn in each colour."""
    found: dict[str, frozenset[int]] = {}
    for cutoff in hierarchy.levels:
        partition, families = hierarchy.cut(cutoff), families_at(hierarchy, cutoff)
        for label in np.flatnonzero(partition.sizes >= 2).tolist():
            members = frozenset(partition.members(label).tolist())
            colour = colours[families[label]]
            found[colour] = max(members, found.get(colour, frozenset()), key=len)
    return found


@given(two_graphs())
def test_at_every_cutoff_equal_colours_are_on_lines_that_correspond(
    given: tuple[Graph, Graph],
) -> None:
    one, other = map(linked, given)
    compared = compare(one, other, min_size=2)
    if compared.n_sites > len(WIDE) / 2:
        return
    first = largest_by_colour(one, family_colours(one).tolist())
    second = largest_by_colour(other, matched_colours(compared).tolist())
    at_cutoffs = cluster_colours(compared)
    partners = {at_cutoffs[1][k] for k in np.flatnonzero(compared.clusters.partners >= 0)}
    for colour in first.keys() & second.keys() - partners:
        shared, either = first[colour] & second[colour], first[colour] | second[colour]
        assert len(shared) > len(either) / 2


def test_lines_that_correspond_below_the_cutoffs_have_one_colour() -> None:
    # Sites 0 … 11 | 12 … 20 | 21 … 29, of which the last two join first, against 0 … 10 | 11 … 29.
    three, two = bodies({11: 1.6, 20: 1.5}), bodies({10: 1.5})
    compared = compare(three, two, cutoffs=(2.0, 2.0))
    own, matched = family_colours(three), matched_colours(compared)
    families = families_at(three, 1.2), families_at(two, 1.2)
    assert two.cut(1.2).sizes.tolist() == [19, 11]
    assert matched[families[1]].tolist() == [CORE, own[families[0]][0]]
    # 0 … 4 | 5 … 29: what splits off is none of the three.
    apart = compare(three, bodies({4: 1.5}), cutoffs=(2.0, 2.0))
    taken = matched_colours(apart)[families_at(apart.second, 1.2)]
    assert taken[0] == CORE
    assert taken[1] not in own[families[0]]


def test_the_line_of_the_second_core_is_dark_blue_where_dark_blue_is_free() -> None:
    # The line of the first core is single sites at 2, where only its other part is coloured.
    crumbled = bodies(dict.fromkeys(range(16), 3.0) | {16: 4.0})
    compared = compare(crumbled, bodies({16: 4.0}), cutoffs=(2.0, 2.0), min_size=3)
    assert compared.clusters.partners.tolist()[:2] == [-1, 0]
    first, second = cluster_colours(compared)
    assert first.tolist() == [WIDE[0]]
    assert second.tolist() == [CORE, WIDE[0]]


def test_the_core_of_the_second_takes_the_colour_of_what_it_matches() -> None:
    # Sites 0 … 9 | 10 … 24 | 25 … 29 against 0 … 11 | 12 … 14 | 15 | 16 … 29.
    three = bodies({9: 3.0, 24: 4.0})
    four = bodies({11: 3.0, 14: 4.0, 15: 4.0})
    compared = compare(three, four, cutoffs=(2.0, 2.0))
    first, second = cluster_colours(compared)
    assert compared.clusters.first.sizes.tolist() == [15, 10, 5]
    assert compared.clusters.second.sizes.tolist() == [14, 12, 3, 1]
    assert compared.clusters.partners.tolist() == [0, 1, -1, -1]
    assert first[0] == second[0] == CORE
    assert first[1] == second[1]
    assert second[2] not in first
    # 0 … 13 | 14 … 24 | 25 … 29: the core shares 10 sites with the second cluster of the first.
    swapped = compare(three, bodies({13: 3.0, 24: 4.0}), cutoffs=(2.0, 2.0))
    assert swapped.clusters.second.sizes.tolist() == [14, 11, 5]
    assert swapped.clusters.partners.tolist() == [1, 0, 2]
    first, second = cluster_colours(swapped)
    assert second.tolist() == first[[1, 0, 2]].tolist()


# Side by side


@pytest.mark.parametrize("by_residue", [False, True])
def test_both_dilutions_are_drawn_in_matched_colours(by_residue: bool) -> None:
    analysis = residues(random_graph(450, 5), chains="AB")
    places = places_of(analysis) if by_residue else None
    compared = compare(left_tree(), right_tree(), min_size=2, cutoffs=(0.04, 0.04))
    figure = dilutions(compared, places=places, names=("σ", "E"), lengths=(1.54, None))
    order = left_tree().order if places is None else places.order
    first, second = cluster_colours(compared)
    left, right = figure.axes
    for axes, partition, colours in (
        (left, compared.clusters.first, first),
        (right, compared.clusters.second, second),
    ):
        for place, site in enumerate(order.tolist()):
            label = partition.labels[site]
            expected = colours[label] if label < len(colours) else None
            assert colour_at(axes, place, partition.cutoff) == expected
        assert partition.cutoff in [line.get_ydata()[0] for line in axes.lines]  # type: ignore[index]
    assert len(set(second.tolist())) > 2


def test_dilutions_have_names_units_and_equal_type() -> None:
    figure = dilutions(
        compare(left_tree(), right_tree()), names=("left one", "right one"), lengths=(1.54, 2.0)
    )
    left, right = figure.axes
    assert texts(left) == r"Site label in the first $\sigma_\mathrm{c}$ (Å) left one"
    assert texts(right) == r"Site label in the first $\sigma_\mathrm{c}$ (nm) right one"
    assert [len(axes.child_axes) for axes in (left, right)] == [1, 1]
    figure.draw_without_rendering()
    assert left.get_window_extent().x1 < right.get_window_extent().x0
    sizes = {axes.xaxis.get_tick_params()["labelsize"] for axes in (left, right)}
    assert len(sizes) == 1
    assert len({axes.spines["top"].get_linewidth() for axes in (left, right)}) == 1


# Agreement


def image_of(axes: Axes) -> Any:
    (image,) = axes.images
    return image.get_array()


def test_the_heatmap_shows_the_index_of_both_cutoffs() -> None:
    compared = compare(left_tree(), right_tree())
    axes = heatmap(compared, names=("one", "other"), lengths=(1.54, None))
    pixels = image_of(axes)
    (low, high), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    height, width = pixels.shape
    for row, column in np.random.default_rng(1).integers(0, (height, width), (50, 2)).tolist():
        x = low + (column + 0.5) / width * (high - low)
        y = bottom + (row + 0.5) / height * (top - bottom)
        labels = left_tree().cut(x).labels, right_tree().cut(y).labels
        single = [len(np.unique(found)) for found in labels]
        if single[0] == single[1] and single[0] in {1, 150}:
            assert pixels[row, column] is np.ma.masked
        else:
            assert pixels[row, column] == pytest.approx(timme.compare.overlap(*labels).rand)
    assert axes.get_xlabel() == r"one: $\sigma_\mathrm{c}$ (Å)"
    assert axes.get_ylabel() == r"other: $\sigma_\mathrm{c}$ (nm)"
    (scaled,) = axes.child_axes
    assert "1.54 Å" in scaled.get_xlabel()


def test_a_pair_asked_for_is_marked_wherever_it_is_with_its_own_index() -> None:
    one, other = bodies({9: 3.0, 24: 4.0}), bodies({11: 3.0, 14: 4.0})
    below = grow(
        one.n_sites,
        np.array([(site, site + 1) for site in range(one.n_sites - 1)]),
        np.array([-4.0 + 0.1 * (site % 7) for site in range(one.n_sites - 1)]),
    )
    asked = (-5.0, 3.5)
    axes = heatmap(compare(below, other, most=2), asked=asked)
    mark = axes.lines[-1]
    assert np.array(mark.get_data()).ravel().tolist() == list(asked)
    assert axes.get_xlim()[0] < asked[0]
    wanted = timme.compare.overlap(below.cut(asked[0]), other.cut(asked[1])).rand
    assert axes.texts[-1].get_text() == f"{wanted:.2f}"


def test_the_best_pair_is_marked() -> None:
    compared = compare(bodies({9: 3.0, 24: 4.0}), bodies({11: 3.0, 14: 4.0}))
    axes = heatmap(compared)
    (mark,) = axes.lines
    assert np.array(mark.get_data()).ravel().tolist() == list(compared.best_cutoffs)
    (note,) = axes.texts
    assert note.get_text() == f"{compared.clusters.rand:.2f}"
    for cutoff, (low, high) in zip(
        compared.best_cutoffs, (axes.get_xlim(), axes.get_ylim()), strict=True
    ):
        assert low < cutoff < high


def test_the_best_pair_is_looked_for_in_the_frame() -> None:
    """30 in a row: of the first all but one stray join at 4, of the second ten and twenty at 5."""
    one, other = bodies({0: 6.0, 9: 3.0, 24: 4.0}), bodies({9: 5.0})
    axes = heatmap(compare(one, other))
    (frame,) = (patch for patch in axes.patches if isinstance(patch, Rectangle))
    assert frame.get_x() == 1  # 9, 15 and 5 sites, and one stray
    assert frame.get_x() + frame.get_width() == 4
    assert frame.get_y() == 1
    assert frame.get_y() + frame.get_height() == 5


def test_what_is_written_at_two_marks_side_by_side_is_apart() -> None:
    compared = compare(left_tree(), right_tree())
    best = compared.best_cutoffs
    axes = heatmap(compared, asked=(best[0] * 1.01, best[1] * 1.01))
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    first, second = (text.get_window_extent() for text in axes.texts)
    assert not first.overlaps(second)


@pytest.mark.parametrize(
    "made",
    [
        lambda: compare(linked((1, [], [])), linked((1, [], []))),
        lambda: compare(linked((4, [], [])), linked((4, [(0, 1)], [1.0]))),
        lambda: compare([0, 0, 1], [0, 1, 1]),
        lambda: compare(left_tree(), right_tree().cut(0.05)),
        lambda: compare(
            left_tree(), Hierarchy(right_tree().parents, right_tree().heights - 9, ENERGY), most=9
        ),
    ],
    ids=["one site", "no levels", "partitions", "one partition", "energies"],
)
def test_every_kind_of_comparison_is_drawn(made: Callable[[], Comparison], tmp_path: Path) -> None:
    compared = made()
    axes = heatmap(compared)
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    for number, drawn in enumerate((figure, dilutions(compared))):
        assert save_figure(drawn, tmp_path / f"{number}.png").stat().st_size > 1000


def test_given_axes_are_drawn_on() -> None:
    own = Figure().add_subplot()
    assert heatmap(compare(left_tree(), right_tree()), ax=own) is own


# Tables


def test_matched_clusters_are_listed_both_ways() -> None:
    one, other = residues(random_graph(450, 5)), residues(random_graph(450, 7))
    compared = compare(one.shown_hierarchy, other.shown_hierarchy, cutoffs=(0.04, 0.04))
    text = matched_csv(one, compared, names=("a", "b"))
    table = read_back(text)
    sides = [compared.clusters.first, compared.clusters.second]
    sets = [clusters_of(side.labels.tolist()) for side in sides]
    colours = np.concatenate(cluster_colours(compared))
    assert table["colour"].tolist() == colours.tolist()
    assert table["result"].tolist() == ["a"] * len(cluster_colours(compared)[0]) + ["b"] * len(
        cluster_colours(compared)[1]
    )
    for row in table.to_dict("records"):
        side = int(row["result"] == "b")
        own = sets[side][int(row["cluster"]) - 1]
        partner = sets[1 - side][int(row["partner"]) - 1]
        assert row["size"] == len(own)
        assert row["partner size"] == len(partner)
        assert row["shared"] == len(own & partner)
        assert row["jaccard"] == pytest.approx(len(own & partner) / len(own | partner))
        assert row["jaccard"] == max(len(own & x) / len(own | x) for x in sets[1 - side])
        if not math.isnan(row["matched"]):
            match = table[(table["result"] != row["result"]) & (table["cluster"] == row["matched"])]
            assert match["colour"].tolist() == [row["colour"]]
            assert match["matched"].tolist() == [row["cluster"]]
    assert table["matched"].notna().sum() == 2 * (compared.clusters.partners >= 0).sum()


def test_members_are_runs_of_the_common_sites() -> None:
    one, other, _ = on_common_sites(
        residues((30, [(1, 4), (4, 7), (7, 10)], [1.0] * 3), chains="A", first_resid=1),
        residues((30, [(1, 4), (4, 7), (7, 10)], [1.0] * 3), chains="A", first_resid=2),
    )
    compared = compare(one.shown_hierarchy, other.shown_hierarchy)
    table = read_back(matched_csv(one, compared))
    assert table["members"].tolist() == ["A 2-4", "A 2-5"]


def test_agreement_lists_the_best_cutoff_of_the_other() -> None:
    compared = compare(left_tree(), right_tree(), most=30)
    table = read_back(best_cutoffs_csv(compared, names=("a", "b")))
    assert len(table) == 60
    assert table["cutoff"].tolist() == [*compared.first_cutoffs, *compared.second_cutoffs]
    highest = [*compared.rand.max(axis=1), *compared.rand.max(axis=0)]
    assert table["adjusted Rand"].tolist() == pytest.approx(highest)
    for name, column, cutoff, best in table[["result", "adjusted Rand", "cutoff", "best cutoff"]][
        1:59:7
    ].itertuples(index=False):
        cutoffs = (cutoff, best) if name == "a" else (best, cutoff)
        rand = timme.compare.overlap(left_tree().cut(cutoffs[0]), right_tree().cut(cutoffs[1])).rand
        assert rand == pytest.approx(column)


# Common sites


def test_analyses_are_narrowed_to_what_both_show() -> None:
    one = residues(random_graph(90, 1), chains="A", first_resid=3)
    other = residues(random_graph(60, 2), chains="A", first_resid=1)
    narrow, narrower, common = on_common_sites(one, other)
    labels = [
        [item.system.sites.label(site) for site in item.system.object_sites[item.shown].tolist()]
        for item in (narrow, narrower)
    ]
    assert labels[0] == labels[1] == [f"A/ALA {k}/CA" for k in range(3, 21)]
    assert common.notes == ("18 sites are in both: 18 of 30 in the first, 18 of 20 in the second",)
    compared = compare(narrow.shown_hierarchy, narrower.shown_hierarchy)
    cutoff = compared.clusters.first.cutoff
    expected = one.hierarchy.cut(cutoff).labels[one.shown[:18]]
    assert clusters_of(compared.clusters.first.labels.tolist()) == clusters_of(expected.tolist())


def test_particles_are_compared_by_number() -> None:
    one, other = particles(random_graph(40, 1)), particles(random_graph(50, 2))
    narrow, narrower, _ = on_common_sites(one, other)
    assert narrow.shown.tolist() == narrower.shown.tolist() == list(range(40))


def test_barnase_three_times_in_a_crystal_is_barnase_in_solution(tmp_path: Path) -> None:
    """Heavy atoms of three chains against all atoms of one, which lacks two residues more."""
    lines = timme.data.path("barnase_md.pdb").read_text().splitlines()
    atoms = [line for line in lines if line.startswith("ATOM")]
    heavy = [line for line in atoms if line[76:78].strip() != "H"]
    copies = [
        f"{line[:21]}{chain}{line[22:30]}{float(line[30:38]) + 100 * place:8.3f}{line[38:]}"
        for place, chain in enumerate("ABC")
        for line in heavy
    ]
    later = [line for line in atoms if int(line[22:26]) > 4]
    for name, listed in (("crystal", copies), ("solution", later)):
        (tmp_path / f"{name}.pdb").write_text("\n".join([*listed, "END", ""]))
    crystal, solution = (timme.read(tmp_path / f"{n}.pdb").atoms for n in ("crystal", "solution"))
    common = common_sites(crystal, solution)
    alpha = common.first[crystal.names[common.first] == "CA"]
    assert set(crystal.chains[common.first].tolist()) == {"A"}
    assert crystal.resids[alpha].tolist() == list(range(5, 111))
    assert "another name" not in " ".join(common.notes)
