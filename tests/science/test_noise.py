"""Golden, reference and statistical tests of errors of positions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.core.test_golden import ensemble_of
from tests.golden import load_science, systems
from timme import objects, pairs
from timme._arrays import Floats
from timme.confidence.noise import (
    PositionErrors,
    estimate_errors,
    take_off,
    variance_of_length,
)
from timme.ensemble import Ensemble
from timme.fluctuations import measure


@pytest.mark.parametrize("name", ["open", "gapped", "slab"])
def test_errors_of_golden_systems_are_the_same(name: str) -> None:
    found = estimate_errors(ensemble_of(systems.SYSTEMS[name]()))
    golden = load_science("confidence-series")[f"{name}.errors"]
    np.testing.assert_allclose(found, golden, rtol=1e-9, atol=1e-9)


def test_subtracted_golden_sigma_is_zero_for_as_many_pairs() -> None:
    ensemble = ensemble_of(systems.SYSTEMS["open"]())
    made = objects.points(ensemble)
    noise = PositionErrors(ensemble, np.full((120, 3), 0.05**2)).variance
    _, n_clipped = take_off(measure(made, pairs.all(made)), noise)
    assert n_clipped == load_science("confidence-open-noise")["n_clipped"]


VECTORS = [
    ([0.0, 0.0], [1.0, 1.0]),
    ([0.5, 0.2], [1.0, 0.3]),
    ([3.0, 1.0, 0.0], [0.5, 0.5, 2.0]),
    ([20.0, 5.0, 3.0], [0.5, 0.5, 2.0]),
    ([0.0], [1.0]),
]


@pytest.mark.parametrize(("vector", "errors"), VECTORS)
def test_variance_of_length_is_that_of_many_vectors_with_errors(
    vector: list[float], errors: list[float]
) -> None:
    n_drawn = 400_000
    noise = np.random.default_rng(0).normal(size=(n_drawn, len(vector))) * np.sqrt(errors)
    lengths = np.linalg.norm(np.array(vector) + noise, axis=1)
    found = variance_of_length(np.array([vector]) ** 2, np.array([errors]))[0]
    # A variance of n values has a relative error of about √(2 / n); four of these.
    assert found == pytest.approx(lengths.var(), rel=4 * np.sqrt(2 / n_drawn))


def diffusing(n_snapshots: int, step: float, error: Floats, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    starts = 30 * np.random.default_rng(9).random((40, 2))
    places = starts + step * rng.normal(size=(n_snapshots, 40, 2)).cumsum(axis=0)
    return np.asarray(places + error * rng.normal(size=places.shape))


@pytest.mark.parametrize("kind", ["open", "gaps", "box", "drift"])
def test_errors_are_estimated_beside_diffusion(kind: str) -> None:
    error = np.array([0.3, 0.6])
    array = diffusing(400, 0.4, error) + 20.0
    options: dict[str, object] = {}
    if kind == "gaps":
        array[np.random.default_rng(1).random(array.shape[:2]) < 0.1] = np.nan
        options["gaps"] = True
    elif kind == "box":
        array, options["boxes"] = array % 12.0, 12.0
    elif kind == "drift":
        array += np.arange(400)[:, None, None]
    found = estimate_errors(Ensemble.from_array(array, **options))  # type: ignore[arg-type]
    mean = np.sqrt((found**2).mean(axis=0))
    # A covariance of 400 × 40 products is known to (step² + 2 s²) / √16000: at most 3 % of s².
    assert mean == pytest.approx(error, rel=0.05)


def test_steps_between_runs_are_no_steps() -> None:
    error = np.array([0.3, 0.3])
    array = np.concatenate([diffusing(100, 0.1, error, 1), 50 + diffusing(100, 0.1, error, 2)])
    ensemble = replace(Ensemble.from_array(array), runs=np.repeat([0, 1], 100))
    found = estimate_errors(ensemble)
    assert np.sqrt((found**2).mean()) == pytest.approx(0.3, rel=0.05)


def test_subtracting_errors_leaves_the_motion() -> None:
    error = np.array([0.2, 0.2])
    true, seen = (diffusing(2000, 0.05, each, 3) for each in (0 * error, error))
    sigmas = [measure(made, pairs.all(made)) for made in map(points, (true, seen))]
    noise = PositionErrors(Ensemble.from_array(seen), np.full((40, 2), 0.04)).variance
    found, n_clipped = take_off(sigmas[1], noise)
    assert n_clipped == 0
    # The same paths: what differs are errors of σ², about 2 σ × 0.28 / √2000 each, and for few
    # pairs that come near one another, what the mean of R² leaves out.
    assert np.quantile(np.abs(found.sigma - sigmas[0].sigma), 0.95) < 0.03


def points(array: Floats) -> objects.Objects:
    return objects.points(Ensemble.from_array(array))


def test_pairs_that_fluctuate_less_than_errors_have_none_left() -> None:
    made = points(np.random.default_rng(4).normal(size=(30, 5, 3)))
    noise = PositionErrors(made.ensemble, np.full((5, 3), 9.0)).variance
    found, n_clipped = take_off(measure(made, pairs.all(made)), noise)
    assert n_clipped == 10
    assert not found.sigma.any()
