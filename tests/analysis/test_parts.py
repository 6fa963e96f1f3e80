"""Parts of a result store, draw and report themselves, each declared once."""

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import timme
from tests.output.builders import fluctuations, particles, random_graph, residues
from timme.analysis import (
    KINDS,
    Analysis,
    Apart,
    Chance,
    Constraints,
    Correlated,
    Judged,
    Measured,
    Moved,
    Part,
    Timed,
    summary,
)
from timme.confidence import levels_of_matrix
from timme.confidence.findings import Convergence, NullBand, Windows
from timme.confidence.replicates import resampled_hierarchies
from timme.hierarchy import Hierarchy
from timme.motion import describe_motion, split_motions, two_point
from timme.output import registry
from timme.output.figures import draw, figures_of, known_figures
from timme.output.look import Look
from timme.output.scene import scene
from timme.rigidity import Network
from timme.synthetic import moving
from timme.workflow.motion import modes

GRAPH = random_graph(30, 1)
NETWORK = Network(
    n_bodies=30,
    bonds=np.array([(0, 1), (1, 2), (2, 5)]),
    bars=np.array([5, 6, 2]),
    kinds=np.array(["covalent", "locked", "tether"]),
    energies=np.array([np.nan, np.nan, -1.5]),
)
WINDOWS = Windows((range(4), range(2, 6)), np.array([[0] * 20 + [-1] * 10, [0] * 30]), 0.5)
HALF = Convergence(
    fractions=np.array([0.5, 1.0]),
    forward=np.ones(2),
    backward=np.ones(2),
    forward_overlaps=np.empty((2, 0)),
    backward_overlaps=np.empty((2, 0)),
    left_out=np.empty((0, 0)),
)
BAND = NullBand(np.linspace(0, 1, 5), np.zeros(5), np.ones(5), np.ones((3, 5), np.int64))


@pytest.fixture(scope="module")
def parts() -> dict[str, Part]:
    """One of every kind, by its name; found when a test needs them, not while all are collected."""
    ensemble = moving((18, 12), 9, spans=[40.0]).ensemble
    motions = describe_motion(ensemble)
    splits = split_motions(ensemble, motions.bodies.hierarchy)
    pairs = fluctuations(GRAPH, "µm")
    judged = levels_of_matrix(pairs.matrix(), particles(GRAPH).hierarchy)
    levels = np.sort(np.random.default_rng(0).random((2, 5)))
    made = (
        Measured(pairs),
        Apart(pairs),
        Constraints(NETWORK),
        Judged(replace(judged, convergence=HALF)),
        Moved(motions, ("A 1-18", "A 19-30"), "", (), splits),
        Timed(WINDOWS, np.array([2, 6]), levels, "µm"),
        Chance(BAND),
        modes(ensemble, motions),
        Correlated(two_point(ensemble, [1.0, 8.0, 20.0], lags=(1, 2))),
    )
    return {part.name: part for part in made}


@pytest.fixture
def all_shown(parts: dict[str, Part]) -> Analysis:
    """A result with all parts, of which every object is shown."""
    made = residues(GRAPH)
    system = replace(made.system, shown=np.arange(30))
    return replace(made, system=system, parts=tuple(parts.values()))


def test_every_kind_of_part_has_a_name_of_its_own_and_an_output(parts: dict[str, Part]) -> None:
    assert set(KINDS.values()) == {output.kind for output in registry.OUTPUTS}
    assert list(KINDS) == [kind.name for kind in KINDS.values()]
    assert set(KINDS.values()) == {type(part) for part in parts.values()}


@pytest.mark.parametrize("name", KINDS)
def test_a_part_comes_back_from_its_arrays(parts: dict[str, Part], name: str) -> None:
    made, part = particles(GRAPH), parts[name]
    again = type(part).from_arrays(part.to_arrays(), made.system, made.hierarchy)
    assert type(again) is type(part)
    for key, array in part.to_arrays().items():
        np.testing.assert_array_equal(again.to_arrays()[key], array)


def test_numbers_of_pairs_are_stored_by_what_they_are() -> None:
    pairs = fluctuations(GRAPH, "µm")
    assert set(Measured(pairs).to_arrays()) == {"pairs", "sigma", "common"}
    assert set(Apart(pairs).to_arrays()) == {"pairs", "fraction", "common"}


def test_a_result_without_parts_has_what_the_hierarchy_says() -> None:
    bare = replace(residues(GRAPH), parts=())
    assert figures_of(bare) == ("dilution", "fraction", "size-distribution", "cluster-sizes")
    assert registry.tables_of_parts(bare, Look()) == {}
    assert scene(bare)["matrix"] is None
    assert {name for name, _ in summary(bare)} >= {"shown", "levels", "cutoffs"}
    for name in registry.known_figures():
        with pytest.raises(ValueError, match=f"there is no {name} of this result: .+"):
            draw(bare, name, Look())


def test_parts_add_their_figures_tables_panels_and_rows(all_shown: Analysis) -> None:
    made = all_shown
    assert figures_of(made) == tuple(known_figures())
    assert tuple(sorted(registry.tables_of_parts(made, Look()))) == tuple(
        sorted(registry.known_tables())
    )
    assert scene(made)["matrix"] is not None
    assert scene(made)["apart"] is not None
    names = [name for name, _ in summary(made)]
    assert names.index("constraints") < names.index("shown")
    assert names[-2:] == ["rigidity", "by chance"]


@pytest.mark.long
def test_files_of_parts_are_known_as_those_of_an_earlier_result(
    all_shown: Analysis, tmp_path: Path
) -> None:
    timme.write(all_shown, tmp_path / "out")
    assert (tmp_path / "out" / "constraints.csv").is_file()
    timme.write(replace(residues(GRAPH), parts=()), tmp_path / "out", overwrite=True)
    assert not {path.name for path in (tmp_path / "out").iterdir()} & set(registry.known_tables())


@pytest.fixture
def restricted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Sites for which a hierarchy was worked out, in the order of the calls."""
    calls: list[object] = []
    restrict = Hierarchy.restrict

    def counted(hierarchy: Hierarchy, sites: object) -> Hierarchy:
        if not resampling:
            calls.append(sites)
        return restrict(hierarchy, sites)  # type: ignore[arg-type]

    resampling: list[object] = []  # hierarchies of other draws are others

    def resample(*given: object, **options: object) -> object:
        resampling.append(given)
        try:
            return resampled_hierarchies(*given, **options)  # type: ignore[arg-type]
        finally:
            resampling.pop()

    monkeypatch.setattr("timme.confidence.assessing.resampled_hierarchies", resample)
    monkeypatch.setattr(Hierarchy, "restrict", counted)
    return calls


@pytest.mark.usefixtures("blank_figures")
def test_the_shown_hierarchy_is_made_once_in_a_run(
    restricted: list[object], tmp_path: Path
) -> None:
    timme.write(residues(GRAPH), tmp_path / "out")
    assert len(restricted) == 1


@pytest.mark.parametrize("kept", [True, False], ids=["all pairs", "pairs that are drawn"])
@pytest.mark.usefixtures("blank_figures")
def test_the_shown_hierarchy_is_made_once_from_snapshots_to_files(
    restricted: list[object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kept: bool
) -> None:
    monkeypatch.setattr("timme.workflow.recipe.are_kept", lambda _: kept)
    places = np.random.default_rng(0).random((6, 12, 3))
    made = timme.analyse(places)  # points without an order of their own
    named = replace(made, recipe=replace(made.recipe, theory="none"), notes=("one",))
    timme.write(named, tmp_path / "out")
    summary(named)
    assert len(restricted) == 1


def test_other_objects_are_seen_in_another_hierarchy() -> None:
    made = residues(GRAPH)
    before = made.shown_hierarchy
    fewer = replace(made, system=replace(made.system, shown=made.shown[:4]))
    assert fewer.shown_hierarchy.n_sites == 4
    other = replace(made, hierarchy=made.hierarchy.restrict(np.arange(30)[::-1]))
    assert other.shown_hierarchy.order.tolist() != before.order.tolist()
    assert made.shown_hierarchy is before


def test_an_analysis_is_few_things() -> None:
    names = [field.name for field in fields(Analysis)]
    assert names == ["system", "hierarchy", "recipe", "notes", "parts"]
