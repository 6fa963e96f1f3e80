"""The scene is plain data from which the same clusters and colours follow as from the library."""

import base64
import json
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given

from tests.output.builders import Graph, graphs, linked, particles, random_graph, residues
from timme import synthetic
from timme._arrays import Floats
from timme.analysis import Analysis, Input, Provenance
from timme.order import families, families_at
from timme.output.colours import colouring
from timme.output.scene import Scene, scene, scene_json
from timme.readers import read
from timme.statistics import suggest
from timme.workflow import analyse, scene_of

KINDS = {"f8": np.float64, "f4": np.float32, "i4": np.int32}


def unpacked(text: str) -> npt.NDArray[Any]:
    kind, _, data = text.partition(":")
    return np.frombuffer(base64.b64decode(data), dtype=np.dtype(KINDS[kind]).newbyteorder("<"))


def colours_of_sites(made: Scene, cutoff: float, min_size: int) -> list[str]:
    """Colour sites from the scene alone, in the obvious way, as the page is to do it."""
    tree, whole, palettes = made["tree"], made["whole"], made["palettes"]

    def runs(order: str, gaps: str) -> list[list[int]]:
        members = unpacked(order).tolist()
        cuts = np.flatnonzero(unpacked(gaps) > min(cutoff, 1e300)) + 1
        return [run.tolist() for run in np.split(np.array(members), cuts)]

    number, chosen = unpacked(tree["family"]), unpacked(made["colours"]["wide"])
    colour: dict[int, str] = {}  # of shown objects
    start = 0
    for run in runs(tree["order"], tree["gaps"]):
        which = int(chosen[number[start]])
        if len(run) >= min_size:
            name = palettes["core"] if which == 0 else palettes["wide"][which - 1]
            colour |= dict.fromkeys(run, name)
        start += len(run)
    shown = unpacked(whole["shown"])
    of_object: dict[int, str] = {}
    for run in runs(whole["order"], whole["gaps"]):
        names = {colour[int(shown[k])] for k in run if shown[k] >= 0 and int(shown[k]) in colour}
        assert len(names) <= 1
        of_object |= dict.fromkeys(run, names.pop() if names else palettes["rest"])
    return [of_object.get(int(k), palettes["rest"]) for k in unpacked(made["sites"]["objects"])]


@given(graphs())
def test_families_number_every_cluster_as_its_stripe(graph: Graph) -> None:
    hierarchy = linked(graph)
    number = families(hierarchy)
    for cutoff in [-1.0, *hierarchy.levels.tolist()]:
        labels = hierarchy.cut(cutoff).labels[hierarchy.order]
        starts = [labels.tolist().index(label) for label in range(labels.max() + 1)]
        assert number[starts].tolist() == families_at(hierarchy, cutoff).tolist()


@pytest.mark.parametrize("min_size", [1, 3])
@given(graphs(max_sites=24))
def test_sites_coloured_from_the_scene_are_coloured_as_in_the_scripts(
    min_size: int, graph: Graph
) -> None:
    if graph[0] < 3:
        return
    analysis = residues(graph, first_resid=1)
    made = scene(analysis, min_size=min_size)
    for cutoff in [-1.0, *analysis.hierarchy.levels.tolist(), 99.0]:
        found = colouring(analysis, cutoff, min_size=min_size).object_colours
        assert (
            colours_of_sites(made, cutoff, min_size) == found[analysis.system.site_objects].tolist()
        )


def test_a_scene_is_json_in_which_no_name_can_end_the_element() -> None:
    graph = random_graph(20, 1)
    name = "</script><script>alert(1)</script><!-- &amp;"
    analysis = particles(graph, provenance=Provenance(inputs=(Input(name, "0"),)))
    text = scene_json(scene(analysis))
    assert "<" not in text
    assert json.loads(text)["title"] == name


def test_a_scene_says_what_its_heights_are_and_in_which_unit() -> None:
    known = scene(particles(random_graph(9, 1)))["quantity"]
    assert (known["symbol"], known["unit"], known["cutoffName"]) == ("σ", "µm", "σc")


def test_a_page_tells_the_settings_with_which_it_is_shown() -> None:
    made = analyse(synthetic.chain(20))
    chosen = replace(made.recipe.settings, cutoff=0.5, min_size=7)
    shown = scene_of(replace(made, recipe=replace(made.recipe, settings=chosen)))
    assert (shown["suggestions"][0]["cutoff"], shown["minSize"]) == (0.5, 7)
    told = shown["about"]["options"]
    assert (told["cutoff"], told["min_size"]) == ("0.5", "7")


def test_the_settings_of_a_result_cannot_be_changed_afterwards() -> None:
    weights, box = np.ones(3), [20.0, 20.0, 20.0]
    made = analyse(np.random.default_rng(0).random((3, 5, 3)), weights=weights, box=box)
    weights[0], box[0] = 5.0, 7.0
    told = scene_of(made)["about"]["options"]
    assert (told["weights"], told["box"]) == ("[1.0, 1.0, 1.0]", "[20.0, 20.0, 20.0]")


def test_a_forest_and_an_empty_hierarchy_have_scenes() -> None:
    forest = particles((4, [(0, 1)], [0.5]))
    gaps = unpacked(scene(forest)["tree"]["gaps"])
    assert sorted(gaps.tolist()) == [0.5, np.inf, np.inf]
    lonely = scene(particles((3, [], [])))
    assert unpacked(lonely["tree"]["levels"]).size == 0
    json.loads(scene_json(lonely))


def test_a_matrix_has_no_space_and_keeps_its_values() -> None:
    graph = random_graph(30, 2)
    analysis = particles(graph, coordinates=np.empty((30, 0)))
    made = scene(analysis)
    assert made["space"] is None
    size = made["matrix"]["size"]
    values = np.full((size, size), np.nan)
    values[np.triu_indices(size)] = unpacked(made["matrix"]["values"])
    place = np.argsort(analysis.hierarchy.order)
    for (i, j), sigma in zip(graph[1], graph[2], strict=True):
        row, column = sorted((place[i], place[j]))
        assert values[row, column] == pytest.approx(sigma, rel=1e-6)
    assert np.count_nonzero(np.isfinite(values)) == len(graph[1])


def test_frames_are_snapshots_evenly_chosen_and_filled() -> None:
    track = np.arange(2 * 5 * 3, dtype=np.float64).reshape(5, 3, 2)
    track[2, 1] = np.nan
    analysis = particles(
        (3, [(0, 1)], [1.0]), coordinates=track[0], film=track[[0, 2, 4]], n_snapshots=5
    )
    space = scene(analysis)["space"]
    frames = unpacked(space["frames"]).reshape(3, 3, 3) - np.array(space["origin"])
    assert space["snapshots"] == [1, 3, 5]
    assert frames[..., 2].tolist() == np.zeros((3, 3)).tolist()
    assert frames[1, 1, :2].tolist() == track[0, 1].tolist()  # where it was last seen
    assert unpacked(space["absent"]).tolist() == [1 * 3 + 1]  # and told to be away
    assert frames[2, :, :2].tolist() == track[4].tolist()


def test_nanometres_are_drawn_as_ångström_and_other_units_as_they_are() -> None:
    graph: Graph = (3, [(0, 1)], [1.0])
    for unit, factor in (("nm", 10), ("Å", 1), ("µm", 1)):
        analysis = particles(graph, hierarchy=linked(graph, unit), box=np.diag([3.0, 4.0, 5.0]))
        space = scene(analysis)["space"]
        known = analysis.system.coordinates
        frames = unpacked(space["frames"]).reshape(3, 3)  # from their centre
        assert frames == pytest.approx(factor * (known - known.mean(axis=0)), rel=1e-5, abs=1e-5)
        assert np.diag(space["box"]).tolist() == [3 * factor, 4 * factor, 5 * factor]


@pytest.mark.parametrize("vectors", [np.diag([3.0, 4.0, 5.0]), np.diag([3.0, 4.0, 0.0])])
def test_a_box_is_drawn_around_what_is_in_it(vectors: Floats) -> None:
    """Some programs put its corner at the origin, some its middle; whole molecules stick out."""
    graph: Graph = (3, [(0, 1)], [1.0])
    inside = np.array([[0.1, 3.9, 0.2], [2.9, 0.1, 4.8], [-0.2, 2.0, 2.5]])  # a little out of it
    for shift, kept in ((0.0, True), (-2.0, False), (40.0, False)):
        analysis = particles(graph, coordinates=inside + shift, box=vectors)
        space = scene(analysis)["space"]
        corner, middle = np.array(space["origin"]), np.array(space["box"]).sum(axis=0) / 2
        expected = -(inside + shift).mean(axis=0) if kept else -middle
        assert corner == pytest.approx(expected)


def test_an_analysis_keeps_its_snapshots() -> None:
    ensemble = synthetic.chain(20, 7)
    made = analyse(ensemble)
    assert made.system.film is not None
    everything = ensemble.frames.read(0, 7)[0]
    assert np.allclose(made.system.film, everything, rtol=1e-6, atol=1e-6)


def test_long_films_are_thinned() -> None:
    ensemble = read(np.random.default_rng(3).normal(size=(250, 6, 3)))
    made = analyse(ensemble, pairs="all")
    assert made.system.film is not None
    assert made.system.film.shape == (100, 6, 3)
    first, last = ensemble.snapshot(0)[0], ensemble.snapshot(249)[0]
    assert np.allclose(made.system.film[[0, -1]], [first, last], rtol=1e-6)


def test_curves_and_suggestions_are_those_of_the_statistics() -> None:
    made = analyse(synthetic.chain(200), confidence=False)
    shown = scene_of(made)
    expected = suggest(made.shown_hierarchy)
    assert [s["cutoff"] for s in shown["suggestions"]] == [s.cutoff for s in expected]
    levels = unpacked(shown["tree"]["levels"])
    assert len(unpacked(shown["curves"]["large"])) == len(levels) + 1
    sizes = made.shown_hierarchy.cut(levels[50]).sizes
    fraction = sizes[sizes >= 10].sum() / sizes.sum()
    assert unpacked(shown["curves"]["large"])[51] == pytest.approx(fraction, abs=1e-6)


def test_proteins_have_letters_and_particles_none() -> None:
    protein: Analysis = residues(random_graph(30, 4))
    axis = scene(protein)["axis"]
    assert axis["letters"] == "A" * 10
    assert scene(particles(random_graph(9, 5)))["axis"] is None
