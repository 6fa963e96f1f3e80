"""What was made step by step is described as the recipe describes it."""

from pathlib import Path

import numpy as np
import pytest

import timme
from tests.test_store import equal
from timme.analysis import System, summary
from timme.system.atoms import Atoms
from timme.workflow import scene_of
from timme.workflow.defaults import choose_shown
from timme.workflow.gathering import system_of


def test_objects_that_were_compared_step_by_step_are_the_system_of_the_recipe() -> None:
    ensemble = timme.synthetic.chain(20)
    made = timme.analyse(ensemble, objects="points")
    compared = timme.objects.points(ensemble)
    assert equal(system_of(compared, choose_shown(compared, None)), made.system)


def test_sites_without_places_are_objects_with_their_names() -> None:
    made = System.unplaced(Atoms.unnamed(3), unit="Å")
    assert (made.names.tolist(), made.n_dimensions, made.unit) == (["1", "2", "3"], 0, "Å")
    for every in (made.shown, made.object_sites, made.site_objects):
        np.testing.assert_array_equal(every, [0, 1, 2])


def planted() -> timme.objects.Objects:
    return timme.objects.points(timme.synthetic.planted().ensemble)


def test_steps_gathered_are_what_the_recipe_makes() -> None:
    objects = planted()
    pairs = timme.pairs.all(objects)
    sigma = timme.measure(objects, pairs)
    steps = timme.gather(objects, sigma, timme.link(sigma), pairs=pairs)
    recipe = timme.analyse(objects.ensemble, objects="points", pairs="all")
    assert equal(steps.system, recipe.system)
    np.testing.assert_array_equal(steps.hierarchy.heights, recipe.hierarchy.heights)
    assert steps.fluctuations is sigma
    told = {"kind": "points", "n_pairs": len(pairs), "compared": "all pairs"}
    for made in (steps, recipe):
        assert {name: made.recipe.options[name] for name in told} == told
    assert steps.notes == recipe.notes
    assert steps.recipe.provenance.version == timme.__version__


@pytest.mark.usefixtures("without_figures")
def test_what_was_gathered_is_written_saved_viewed_and_compared(tmp_path: Path) -> None:
    objects = planted()
    sigma = timme.measure(objects, timme.pairs.all(objects), metric="chebyshev")
    made = timme.gather(objects, sigma, cutoff=0.2, show="resid 1:60", min_size=4)
    assert len(made.shown) == 60
    assert made.recipe.settings.min_size == 4
    timme.write(made, tmp_path / "out")
    assert (tmp_path / "out" / "sites.csv").is_file()
    again = timme.load(tmp_path / "out" / "result.npz")
    assert equal(again.system, made.system)
    assert again.recipe.settings.cutoff == 0.2
    assert summary(again) == summary(made)
    compared = timme.compare.compare(again.hierarchy, made.hierarchy)
    assert compared.rand[compared.best] == 1.0
    assert scene_of(made)["format"]


def test_a_hierarchy_alone_is_enough() -> None:
    objects = planted()
    pairs = timme.pairs.all(objects)
    made = timme.gather(objects, hierarchy=timme.cluster(objects, pairs))
    assert made.fluctuations is None
    assert made.recipe.n_pairs is None
    assert "pairs" not in dict(summary(made))


def test_what_belongs_to_other_objects_is_refused() -> None:
    objects = planted()
    sigma = timme.measure(objects, timme.pairs.all(objects))
    fewer = timme.objects.points(objects.ensemble.select(np.arange(10)))
    with pytest.raises(ValueError, match="of the same 10 objects, got those of 90"):
        timme.gather(fewer, sigma)
    with pytest.raises(TypeError, match=r"timme.gather\(objects, hierarchy=hierarchy\)"):
        timme.gather(objects, timme.link(sigma))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="got objects alone: pass timme"):
        timme.gather(objects)
    with pytest.raises(TypeError, match="needs Objects, got Ensemble"):
        timme.gather(objects.ensemble, sigma)  # type: ignore[arg-type]
