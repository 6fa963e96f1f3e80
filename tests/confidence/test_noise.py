"""The error of positions is taken off σ without taking off too much."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import timme
from timme._arrays import Floats
from timme.confidence.noise import PositionErrors, estimate_errors, take_off, variance_of_length
from timme.system.ensemble import Ensemble

RATIOS = [0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 100.0]
ERRORS = {"even": [1.0, 1.0, 1.0], "deep": [0.5, 0.5, 1.0], "flat": [1.0, 0.3, 0.0]}


def directions(n_dimensions: int) -> Floats:
    """Along the axes, and between them."""
    slanted = np.array([[1.0, 1.0, 1.0], [3.0, 1.0, 2.0]])[:, :n_dimensions]
    made: Floats = np.concatenate([np.eye(n_dimensions), slanted])
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


@pytest.mark.parametrize("errors", ERRORS.values(), ids=ERRORS)
@pytest.mark.parametrize("n_dimensions", [1, 2, 3])
@pytest.mark.parametrize("ratio", RATIOS)
def test_variance_of_a_length_with_errors_is_that_of_draws(
    n_dimensions: int, ratio: float, errors: list[float]
) -> None:
    rng = np.random.default_rng(0)
    axes = np.array(errors[:n_dimensions])
    drawn = rng.normal(size=(100_000, n_dimensions)) * axes
    for direction in directions(n_dimensions):
        lengths = np.linalg.norm(ratio * direction + drawn, axis=1)
        fourth = np.mean((lengths - lengths.mean()) ** 4)
        error = np.sqrt((fourth - lengths.var() ** 2) / len(lengths))  # standard, of the variance
        found = variance_of_length((ratio * direction)[None] ** 2, axes[None] ** 2)[0]
        assert found == pytest.approx(lengths.var(), abs=4.5 * error + 1e-12)


@pytest.mark.parametrize("n_dimensions", [1, 2, 3])
def test_variance_of_even_errors_is_the_closed_form(n_dimensions: int) -> None:
    # ⟨r'⟩ = s √2 Γ((d + 1)/2) / Γ(d/2) · ₁F₁(−½; d/2; −r² / 2s²)
    d, r = n_dimensions, np.linspace(0.0, 20.0, 50)
    scale = np.sqrt(2) * special.gamma((d + 1) / 2) / special.gamma(d / 2)
    mean = scale * special.hyp1f1(-0.5, d / 2, -(r**2) / 2)
    squares = np.zeros((50, d))
    squares[:, 0] = r**2
    found = variance_of_length(squares, np.ones((50, d)))
    # Beyond 12 errors, two terms of a series leave 12⁻⁴ of what follows them, a few times at most.
    assert found == pytest.approx(r**2 + d - mean**2, abs=3 * 12.0**-4)
    near = r < 12
    assert found[near] == pytest.approx((r**2 + d - mean**2)[near], abs=1e-6)


def sigma_of(places: Floats, boxes: Floats | None = None) -> tuple[Ensemble, timme.Fluctuations]:
    ensemble = Ensemble.from_array(places, boxes=boxes, gaps=bool(np.isnan(places).any()))
    points = timme.objects.points(ensemble)
    return ensemble, timme.measure(points, timme.pairs.all(points))


@pytest.mark.parametrize("boxed", [False, True])
@pytest.mark.parametrize("gaps", [False, True])
def test_sigma_without_errors_is_that_of_the_motion(boxed: bool, gaps: bool) -> None:
    rng = np.random.default_rng(1)
    n, motion, errors = 20_000, 0.4, np.array([0.3, 0.2, 0.6])
    places = np.zeros((n, 3, 3))
    places[:, 1, 0] = 6.0 + motion * rng.normal(size=n)
    places[:, 2, 2] = 9.0  # does not move at all against the first, along the worst axis
    found = places + errors * rng.normal(size=places.shape)
    if gaps:
        found[rng.random((n, 3)) < 0.2] = np.nan
    box = np.array([40.0, 40.0, 40.0]) if boxed else None
    ensemble, sigma = sigma_of(found % 40.0 if boxed else found, box)
    known = PositionErrors(ensemble, np.tile(errors**2, (3, 1)))
    corrected, _ = take_off(sigma, known.variance)
    # σ² of n values has the standard error σ² √(2 / n); pairs with gaps share 0.64 of them.
    error = 4 * np.sqrt(2 / (0.64 * n))
    assert corrected.sigma[0] ** 2 == pytest.approx(motion**2, abs=error * sigma.sigma[0] ** 2)
    assert corrected.sigma[1] ** 2 == pytest.approx(0.0, abs=error * sigma.sigma[1] ** 2)


@pytest.mark.parametrize("n_snapshots", [2, 5, 20])
def test_few_snapshots_are_not_corrected_by_more_than_they_vary(n_snapshots: int) -> None:
    places = np.random.default_rng(2).normal(size=(n_snapshots, 4000, 2))
    places[:, 1::2, 0] += 50.0
    ensemble = Ensemble.from_array(places)
    points = timme.objects.points(ensemble)
    sigma = timme.measure(points, timme.pairs.given(points, np.arange(4000).reshape(2000, 2)))
    known = PositionErrors(ensemble, np.ones((4000, 2)))
    left = sigma.sigma**2 - known.variance(sigma.pairs) * (1 - 1 / n_snapshots)
    # σ² of pure error has the mean that is taken off: 2 s² (1 − 1/n)
    assert left.mean() == pytest.approx(0.0, abs=4 * left.std() / np.sqrt(2000))


def test_what_fluctuates_less_than_the_error_is_clipped_and_counted() -> None:
    places = np.zeros((4, 3, 2))
    places[:, 1, 0] = [5.0, 5.1, 5.0, 5.1]
    places[:, 2, 1] = [3.0, 7.0, 3.0, 7.0]
    ensemble, sigma = sigma_of(places)
    corrected, clipped = take_off(sigma, PositionErrors(ensemble, np.full((3, 2), 0.25)).variance)
    assert clipped == 1
    assert corrected.sigma[0] == 0.0
    assert corrected.sigma[1] == pytest.approx(np.sqrt(4 - 0.5 * 0.75), rel=0.01)


def test_no_error_changes_no_bit() -> None:
    rng = np.random.default_rng(3)
    ensemble, sigma = sigma_of(rng.normal(size=(30, 8, 3)))
    corrected, clipped = take_off(sigma, PositionErrors(ensemble, np.zeros((8, 3))).variance)
    assert clipped == 0
    assert corrected.sigma.tobytes() == sigma.sigma.tobytes()


def walks(n_snapshots: int, n_particles: int, seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    steps = 0.1 * rng.normal(size=(n_snapshots, n_particles, 2)) + 0.01
    made: Floats = np.cumsum(steps, axis=0)
    return made


@pytest.mark.parametrize("error", [0.0, 0.2])
@pytest.mark.parametrize("n_snapshots", [12, 40, 600])
def test_errors_are_estimated_from_the_intercept_of_displacements(
    n_snapshots: int, error: float
) -> None:
    n = 24_000 // n_snapshots
    rng = np.random.default_rng(4)
    tracks = walks(n_snapshots, n, 5)
    found = estimate_errors(Ensemble.from_array(tracks + error * rng.normal(size=tracks.shape)))
    assert found.shape == (n, 2)
    squares = found**2
    if error:  # few of which are clipped
        clipped = np.mean(squares == 0)
        spread = squares.std() / np.sqrt(squares.size)
        assert clipped < 0.1
        assert squares.mean() == pytest.approx(error**2, abs=4 * spread + 0.02 * error**2)
    else:  # as often below as above
        assert np.mean(squares > 0) == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(squares.size) + 0.1)


def test_steps_go_through_walls_and_not_from_run_to_run() -> None:
    rng = np.random.default_rng(6)
    tracks = walks(300, 20, 7) + 0.2 * rng.normal(size=(300, 20, 2))
    open_space = estimate_errors(Ensemble.from_array(tracks))
    boxed = estimate_errors(Ensemble.from_array(tracks % 3.0, boxes=[3.0, 3.0]))
    assert boxed == pytest.approx(open_space, rel=1e-6)
    apart = np.concatenate([tracks[:150], tracks[150:] + 100.0])
    joined = np.concatenate([tracks[:150], np.full((1, 20, 2), np.nan), tracks[150:]])
    by_runs = estimate_errors(Ensemble.from_array(apart), replicas=[150, 150])
    # A gap between runs leaves out the same steps.
    assert by_runs == pytest.approx(estimate_errors(Ensemble.from_array(joined, gaps=True)))


def test_tracks_too_short_have_the_error_of_the_others() -> None:
    rng = np.random.default_rng(8)
    tracks = walks(100, 6, 9) + 0.2 * rng.normal(size=(100, 6, 2))
    tracks[5:, 0] = np.nan
    found = estimate_errors(Ensemble.from_array(tracks, gaps=True))
    assert found[0] == pytest.approx(np.sqrt(np.mean(found[1:] ** 2, axis=0)))
    with pytest.raises(ValueError, match="at least 10 snapshots, got 5: give the error"):
        estimate_errors(Ensemble.from_array(tracks[:5]))
