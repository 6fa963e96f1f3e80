"""Golden results of motion: bodies, hinges, screws, components and correlations."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from tests_next.core.test_golden import ensemble_of
from tests_next.golden import load_science
from tests_next.golden.systems import SYSTEMS
from timme_next import motion
from timme_next.ensemble import Ensemble

PROTEINS = ("adk-ca", "1omp-1anf-ca", "4ake-1ake-ca", "1bnr-ca", "barnase-md-ca")
WHOLE = (*PROTEINS, "hinged", "hinged-weighted")
# Sums are taken in another order, and searches take discrete steps: they end at the same bodies,
# whose numbers are the same to the rounding of squares of coordinates.
ROUNDING = 1e-8


@cache
def system(name: str) -> Ensemble:
    return ensemble_of(SYSTEMS[name]().double())


@cache
def golden(name: str) -> dict[str, Any]:
    return load_science(f"motion-{name}")


@cache
def found_bodies(name: str) -> motion.Bodies:
    return motion.bodies(system(name))


@pytest.mark.parametrize("name", WHOLE)
def test_bodies_and_their_numbers_are_the_golden_ones(name: str) -> None:
    frozen, found = golden(name), found_bodies(name)
    assert found.labels.tolist() == list(frozen["motion.bodies.labels"])
    assert found.chosen == frozen["motion.bodies.chosen"]
    for place, level in enumerate(found.levels):
        for field in ("gap", "separation", "sharpness", "rest"):
            expected = frozen[f"motion.bodies.levels.{place}.{field}"]
            assert getattr(level, field) == pytest.approx(expected, rel=ROUNDING, nan_ok=True)
    expected = frozen["motion.bodies.n_effective"]
    assert found.n_independent_noise == pytest.approx(expected, rel=ROUNDING)
    heights = np.array(frozen["motion.bodies.hierarchy.heights"])
    np.testing.assert_allclose(found.hierarchy.heights, heights, rtol=ROUNDING)
    agreement = found.agreement
    if agreement is not None:
        assert list(agreement.counts) == frozen["motion.bodies.agreement.counts"]
        assert agreement.rand == pytest.approx(frozen["motion.bodies.agreement.rand"])


@pytest.mark.parametrize("name", WHOLE)
def test_fluctuations_of_superposed_sites_are_the_golden_ones(name: str) -> None:
    frozen, ensemble = golden(name), system(name)
    core = found_bodies(name).members(0)
    for key, on in (("rmsf", None), ("rmsf_on_core", core)):
        found = motion.rmsf(motion.superpose(ensemble, on).ensemble)
        # A mean shape is found to 1e-10 of its size, of which a fluctuation may be a hundredth.
        np.testing.assert_allclose(found, frozen[key], rtol=ROUNDING)
