import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.output.builders import Graph, graphs, linked, particles, random_graph, residues
from timme.order import families_at
from timme.output.colours import (
    CORE,
    REST,
    SAFE,
    WIDE,
    colouring,
    family_colours,
    labels_of_objects,
)


@given(graphs(), st.data())
def test_an_object_has_the_colour_of_the_shown_cluster_it_moves_with(
    graph: Graph, data: st.DataObject
) -> None:
    n_sites = graph[0]
    shown = data.draw(st.lists(st.integers(0, n_sites - 1), min_size=1, unique=True))
    analysis = particles(graph, shown=np.array(shown))
    cutoff, min_size = data.draw(st.floats(-1, 9)), data.draw(st.integers(1, 3))
    colours = colouring(analysis, cutoff, min_size=min_size).object_colours
    everywhere = analysis.hierarchy.cut(cutoff).labels
    small = analysis.shown_hierarchy.cut(cutoff)
    families = families_at(analysis.shown_hierarchy, cutoff)
    of_family = family_colours(analysis.shown_hierarchy)
    for site in range(n_sites):
        companions = [k for k, s in enumerate(shown) if everywhere[s] == everywhere[site]]
        if len(companions) < min_size:
            assert colours[site] == REST
        else:
            (label,) = {int(small.labels[k]) for k in companions}
            assert colours[site] == of_family[families[label]]


def test_dark_blue_is_the_line_of_the_core_at_the_top_at_every_level() -> None:
    analysis = residues(random_graph(240, 3))
    hierarchy = analysis.shown_hierarchy
    line = hierarchy.cut(np.inf).members(0)
    for cutoff in hierarchy.levels[::-1]:
        labels = hierarchy.cut(cutoff).labels
        sizes = np.bincount(labels[line])
        line = np.flatnonzero(labels == labels[line][sizes[labels[line]].argmax()])
        shown = colouring(analysis, cutoff, min_size=1).object_colours[analysis.system.shown]
        assert np.flatnonzero(shown == CORE).tolist() == line.tolist()


def test_a_cluster_has_one_colour_however_small_the_clusters_that_are_coloured() -> None:
    analysis = residues(random_graph(240, 3))
    for cutoff in analysis.shown_hierarchy.levels[::5]:
        few, many = (colouring(analysis, cutoff, min_size=size) for size in (4, 2))
        assert few.colours.tolist() == many.colours[: len(few.colours)].tolist()


def test_labels_count_from_the_core_and_miss_what_is_not_shown() -> None:
    analysis = particles((5, [(0, 1), (2, 3)], [1.0, 1.0]), shown=np.array([0, 2, 3]))
    assert labels_of_objects(analysis, 2.0).tolist() == [1, 1, 0, 0, -1]
    found = colouring(analysis, 2.0, min_size=2)
    assert found.labels.tolist() == [-1, -1, 0, 0, -1]
    assert found.sizes.tolist() == [2]


@pytest.mark.parametrize("palette", [WIDE, SAFE])
def test_palettes_have_no_colour_twice(palette: tuple[str, ...]) -> None:
    assert len({CORE, REST, *palette}) == len(palette) + 2
    assert all(len(colour) == 7 and int(colour[1:], 16) >= 0 for colour in palette)


def test_colours_repeat_beyond_the_palette() -> None:
    apart = linked((2 * len(SAFE) + 1, [], []))
    assert family_colours(apart, palette=SAFE).tolist() == [CORE, *SAFE, *SAFE]
