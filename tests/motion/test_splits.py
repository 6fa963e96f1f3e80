"""Motions of the two sides of every split."""

import numpy as np
import pytest

from timme import link
from timme.motion import bodies, split_motions
from timme.synthetic import moving


def test_the_highest_split_is_the_hinge_that_was_planted() -> None:
    planted = moving((60, 40), 20, spans=[40.0])
    first = split_motions(planted.ensemble, bodies(planted.ensemble).hierarchy)[0]
    assert first.motion.kind == "hinge"
    assert first.motion.range == pytest.approx(40, rel=0.03)
    assert set(planted.labels[first.body].tolist()) == {1}
    assert set(planted.labels[first.reference].tolist()) == {0}


def test_a_hierarchy_of_other_sites_is_refused() -> None:
    ensemble = moving((60, 40), 3).ensemble
    with pytest.raises(ValueError, match="the same 100 sites, got one of 2"):
        split_motions(ensemble, link(np.array([[0.0, 1.0], [1.0, 0.0]])))
