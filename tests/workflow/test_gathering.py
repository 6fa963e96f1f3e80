"""What was made step by step is described as the recipe describes it."""

import numpy as np

import timme
from tests.test_store import equal
from timme.analysis import System
from timme.system.atoms import Atoms
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
