"""The recipe takes what users made: objects, pairs, metrics and matrices in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import squareform

import timme
from timme.engine.checkpoint import Checkpoint
from timme.workflow.own import Own

PLACES = np.random.default_rng(0).normal(size=(6, 12, 3))
ENSEMBLE = timme.Ensemble.from_array(PLACES)
LABELS = np.repeat([0, 1, 2], 4)


def city_block(one: Any, other: Any) -> Any:
    return np.abs(one - other).sum(axis=-1)


def heights(made: timme.Analysis | timme.Hierarchy) -> list[float]:
    tree = made.hierarchy if isinstance(made, timme.Analysis) else made
    found: list[float] = tree.heights.tolist()
    return found


def test_objects_that_were_made_are_analysed() -> None:
    groups = timme.objects.groups(ENSEMBLE, LABELS, reduction="max")
    expected = heights(timme.link(timme.measure(groups, timme.pairs.all(groups))))
    made = timme.analyse(groups)
    assert heights(made) == expected
    assert (made.recipe.kind, made.recipe.options["objects"]) == ("groups", "groups")
    assert heights(timme.analyse(ENSEMBLE, objects=groups)) == expected
    assert heights(timme.analyse(ENSEMBLE, objects=LABELS, reduction="max")) == expected


def test_groups_are_named_in_the_recipe_as_in_the_step() -> None:
    made = timme.analyse(PLACES, objects={"head": "resid 1:4", "tail": [8, 9], "rest": [5]})
    assert made.system.names.tolist() == ["head", "tail", "rest"]


def test_pairs_that_were_chosen_are_compared() -> None:
    points = timme.objects.points(ENSEMBLE)
    index = [(3, 1), (0, 1), (5, 11)]
    pairs = timme.pairs.given(points, index)
    sigma = timme.measure(points, pairs)
    for given in (pairs, index, np.array(index)):
        made = timme.analyse(points, pairs=given)
        assert made.fluctuations is not None
        np.testing.assert_array_equal(made.fluctuations.sigma, sigma.sigma)
        assert made.recipe.n_pairs == 3
        assert made.recipe.options["pairs"] == "listed"
    assert timme.analyse(ENSEMBLE, pairs=timme.pairs.all(points)).recipe.n_pairs == 66


@pytest.mark.parametrize("metric", [city_block, "cityblock"])
def test_distances_are_those_of_the_metric(metric: Any) -> None:
    points = timme.objects.points(ENSEMBLE)
    expected = timme.measure(points, timme.pairs.all(points), metric=city_block)
    made = timme.analyse(PLACES, metric=metric)
    assert made.fluctuations is not None
    np.testing.assert_allclose(made.fluctuations.sigma, expected.sigma, rtol=1e-12)
    assert made.recipe.compared.endswith(
        f"all pairs, by the metric {metric if isinstance(metric, str) else 'city_block'}"
    )


def test_places_on_a_sphere_are_near_in_km() -> None:
    rng = np.random.default_rng(1)
    walks = np.cumsum(rng.normal(scale=0.1, size=(5, 30, 2)), axis=0)
    places = walks + np.array([10.0, 180.0])
    made = timme.analyse(places, metric="haversine", radius=40, length=2.0)
    points = timme.objects.points(timme.read(places))
    near = timme.pairs.within(points, 40, metric="haversine")
    assert made.recipe.n_pairs == len(near)
    assert made.hierarchy.unit == "km"
    assert made.length is None  # which is in degrees


def test_most_pairs_are_linked_on_the_fly_by_any_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("timme.workflow.kept_pairs.KEPT_PAIRS", 10)
    points = timme.objects.points(ENSEMBLE)
    expected = timme.cluster(points, timme.pairs.all(points), metric="cityblock")
    made = timme.analyse(PLACES, metric="cityblock")
    assert heights(made) == heights(expected)


def matrix() -> Any:
    points = timme.objects.points(ENSEMBLE)
    return timme.measure(points, timme.pairs.all(points)).matrix()


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(matrix(), id="square"),
        pytest.param(matrix().tolist(), id="lists"),
        pytest.param(squareform(matrix()), id="condensed"),
        pytest.param(squareform(matrix()).tolist(), id="condensed list"),
        pytest.param(sparse.csr_array(matrix()), id="sparse"),
        pytest.param(pd.DataFrame(matrix()), id="DataFrame"),
    ],
)
def test_a_matrix_in_memory_is_linked(given: Any) -> None:
    made = timme.analyse(given, unit="nm", cutoff=0.4)
    assert heights(made) == heights(timme.link(matrix()))
    assert heights(timme.link(given)) == heights(made)
    assert made.hierarchy.unit == "nm"
    assert made.recipe.provenance.inputs == ()


@pytest.mark.parametrize("squared", [True, False], ids=["square", "condensed"])
def test_what_is_masked_in_a_matrix_was_not_measured(squared: bool) -> None:
    whole = matrix() if squared else squareform(matrix())
    limit = float(np.median(squareform(matrix())))
    masked, unknown = np.ma.masked_greater(whole, limit), np.where(whole > limit, np.nan, whole)
    made = timme.analyse(masked)
    assert made.fluctuations is not None
    assert made.fluctuations.sigma.max() <= limit
    assert heights(made) == heights(timme.link(masked)) == heights(timme.link(unknown))


def test_sites_are_named_as_the_rows_of_a_square_table_are_labelled() -> None:
    letters = list("abcdefghijkl")
    made = timme.analyse(pd.DataFrame(matrix(), index=letters, columns=letters))
    assert made.system.sites.names.tolist() == letters
    numbers = list(range(5, 17))
    made = timme.analyse(pd.DataFrame(matrix(), index=numbers, columns=numbers))
    assert made.system.names.tolist() == [str(number) for number in numbers]
    assert heights(made) == heights(timme.link(matrix()))


def test_a_table_of_as_many_rows_as_columns_may_hold_tracks() -> None:
    rows = [(0, 1, 0.0, 0.0), (0, 2, 1.0, 0.0), (1, 1, 0.0, 0.5), (1, 2, 2.0, 0.0)]
    made = timme.analyse(pd.DataFrame(rows), columns="1,2,3,4")
    assert (made.system.n_snapshots, made.hierarchy.n_sites) == (2, 2)


def test_fluctuations_are_linked_as_they_are() -> None:
    points = timme.objects.points(timme.Ensemble.from_array(PLACES, unit="Å"))
    sigma = timme.measure(points, timme.pairs.within(points, 2.0))
    made = timme.analyse(sigma)
    assert heights(made) == heights(timme.link(sigma))
    assert made.hierarchy.unit == "Å"


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        (timme.objects.points(ENSEMBLE), {"select": "ca"}, "Objects are analysed as they were mad"),
        (timme.objects.points(ENSEMBLE), {"start": 1}, "as they were made: leave out start"),
        (timme.objects.points(ENSEMBLE), {"objects": "points"}, "leave out objects="),
        (timme.objects.points(ENSEMBLE), {"reduction": "max"}, "made: leave out reduction="),
        (PLACES, {"objects": timme.objects.points(ENSEMBLE)}, "pass them alone, as timme.analyse"),
        (matrix(), {"metric": "cosine"}, "a matrix of σ is linked as it is: leave out metric"),
        (matrix(), {"pairs": [(0, 1)]}, "a matrix of σ is linked as it is: leave out pairs"),
        (np.arange(5.0), {}, "coordinates need the shape"),
        (-matrix(), {}, "^a matrix of σ must not be negative"),
        (PLACES, {"objects": [0, 1]}, "labels of groups need one for each of 12 sites, got 2"),
        (PLACES, {"metric": "taxi"}, "metric= is one of euclidean, cityblock"),
    ],
)
def test_what_does_not_go_together_is_refused(
    source: Any, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        timme.analyse(source, **options)


def test_settings_that_pairs_leave_no_room_for_are_refused() -> None:
    points = timme.objects.points(ENSEMBLE)
    with pytest.raises(ValueError, match="Pairs are compared as they were made: leave out radius="):
        timme.analyse(points, pairs=timme.pairs.all(points), radius=3.0)
    with pytest.raises(ValueError, match="radius= is for contact pairs, not for listed pairs"):
        timme.analyse(points, pairs=[(0, 1)], radius=3.0)


def test_a_run_is_known_again_by_what_users_made() -> None:
    def identity(**options: Any) -> dict[str, str]:
        return Own.of(ENSEMBLE, options.pop("metric", None), options)[0].identity()

    points = timme.objects.points(ENSEMBLE)
    several = [
        identity(),
        identity(objects=points),
        identity(objects=timme.objects.groups(ENSEMBLE, LABELS)),
        identity(objects=LABELS),
        identity(objects={"a": "resid 1", "b": [3]}),
        identity(pairs=[(0, 1)]),
        identity(pairs=timme.pairs.given(points, [(0, 2)])),
        identity(pairs=timme.pairs.all(points)),
        identity(metric="cityblock"),
        identity(metric=city_block),
    ]
    assert len({str(each) for each in several}) == len(several)


def test_a_checkpoint_goes_with_the_metric(tmp_path: Path) -> None:
    saved = Checkpoint(tmp_path / "run.checkpoint")
    made = timme.analyse(PLACES, metric="cityblock", checkpoint=saved)
    assert heights(made) == heights(timme.analyse(PLACES, metric="cityblock"))


def test_options_are_taken_as_texts() -> None:
    made = timme.analyse(PLACES, radius="2.5", box="none", cutoff="0.3", start="1")
    assert heights(made) == heights(timme.analyse(PLACES[1:], radius=2.5))
    assert made.recipe.settings.cutoff == 0.3


def test_options_are_taken_by_the_names_of_the_command_line() -> None:
    made = timme.analyse(PLACES, begin="1", end=6, dt="2", workers="2")
    assert heights(made) == heights(timme.analyse(PLACES[1:6:2]))
    assert (made.recipe.options["start"], made.recipe.options["stop"]) == (1, 6)


@pytest.mark.parametrize("n_dimensions", [2, 3])
@pytest.mark.parametrize("box", [2, 2.5, "2.5", [2.5]])
def test_one_length_is_that_of_a_box_in_all_directions(n_dimensions: int, box: Any) -> None:
    places = PLACES[..., :n_dimensions]
    lengths = [float(np.ravel(box)[0])] * n_dimensions
    assert heights(timme.analyse(places, box=box)) == heights(timme.analyse(places, box=lengths))
