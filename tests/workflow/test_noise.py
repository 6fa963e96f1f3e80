"""A run takes the error of positions off σ, everywhere alike, or says in one line why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme
from tests.readers.builders import peptide, write_pdb
from timme._arrays import Floats, Ints
from timme.analysis import Judged, Timed, summary
from timme.confidence.draws import draw
from timme.confidence.noise import PositionErrors
from timme.confidence.replicates import resampled_hierarchies, sum_what_matters
from timme.data import spheres
from timme.fluctuations.sums import sum_parts
from timme.system.ensemble import Ensemble

ERRORS = np.array([0.05, 0.05, 0.12])
QUICK: dict[str, Any] = {"confidence": False, "chance": False}


def two_clusters(n_snapshots: int, *, seed: int = 0) -> tuple[Floats, Ints]:
    """Two rigid balls of particles, of which the second swings and comes and goes."""
    rng = np.random.default_rng(seed)
    balls = rng.normal(size=(2, 12, 3)) * 2
    turn = 0.3 * rng.normal(size=n_snapshots)
    cosine, sine = np.cos(turn), np.sin(turn)
    x, y, z = balls[1].T
    turned = np.stack(
        [np.outer(cosine, x) - np.outer(sine, y), np.outer(sine, x) + np.outer(cosine, y)], axis=2
    )
    second = np.concatenate([turned, np.broadcast_to(z[:, None], (n_snapshots, 12, 1))], axis=2)
    second[..., 0] += 12 + rng.normal(size=(n_snapshots, 1))
    first = np.broadcast_to(balls[0], (n_snapshots, 12, 3))
    return np.concatenate([first, second], axis=1), np.repeat([0, 1], 12)


def found_with_errors(places: Floats, seed: int = 1) -> Floats:
    found: Floats = places + ERRORS * np.random.default_rng(seed).normal(size=places.shape)
    return found


def sigma_of(made: timme.Analysis) -> timme.Fluctuations:
    found = made.fluctuations
    assert found is not None
    return found


def test_rigid_clusters_have_no_sigma_left_and_others_keep_theirs() -> None:
    n = 2000
    places, ball = two_clusters(n)
    made = timme.analyse(found_with_errors(places), noise=tuple(ERRORS), **QUICK)
    sigma, true = sigma_of(made), sigma_of(timme.analyse(places, **QUICK))
    raw = sigma_of(timme.analyse(found_with_errors(places), **QUICK)).sigma ** 2
    within = ball[sigma.pairs[:, 0]] == ball[sigma.pairs[:, 1]]
    # σ² has the standard error σ² √(2 / n); 132 and 144 pairs, of which none is off by 4.5 of them.
    error = 4.5 * np.sqrt(2 / n) * raw
    assert (sigma.sigma[within] ** 2 <= error[within]).all()
    # Across, errors of variance v are off by their own, and by how far they go with the motion.
    v = raw - sigma.sigma**2
    error = 4.5 * np.sqrt((4 * true.sigma**2 * v + 2 * v**2) / n)
    assert (np.abs(sigma.sigma**2 - true.sigma**2) <= error)[~within].all()
    assert 0.3 < np.mean(sigma.sigma[within] == 0) < 0.7  # as many fall below the error as above
    (note,) = [note for note in made.notes if "error of positions" in note]
    assert "0.05, 0.05, 0.12 along the axes was taken off σ²" in note
    assert f"{np.count_nonzero(sigma.sigma == 0)} of 276 pairs" in note
    # Mean of both variances over the axes, 2 × 0.0065, times √(2 / 1999), and its root.
    assert "σ below about 0.02 cannot be told from 0" in note
    assert made.shown_hierarchy.cut(0.1).sizes.tolist() == [12, 12]


@pytest.mark.parametrize("fluid", [False, True])
def test_spheres_under_a_microscope_move_as_those_before_it(fluid: bool) -> None:
    kept = np.arange(0, 991, 5)
    before, found = (spheres(fluid=fluid, noisy=noisy).select(kept) for noisy in (False, True))
    true, raw = sigma_of(timme.analyse(before, **QUICK)), sigma_of(timme.analyse(found, **QUICK))
    corrected = sigma_of(timme.analyse(found, noise="0.03,0.03,0.05", **QUICK))
    ratios = [np.median(each.sigma / true.sigma) for each in (raw, corrected)]
    assert abs(ratios[1] - 1) < 0.01
    assert abs(ratios[1] - 1) < 0.2 * abs(ratios[0] - 1)


def test_errors_are_estimated_from_tracks() -> None:
    rng = np.random.default_rng(2)
    walks = 5 * rng.normal(size=(20, 3)) + np.cumsum(0.05 * rng.normal(size=(400, 20, 3)), axis=0)
    true = sigma_of(timme.analyse(walks, **QUICK)).sigma
    made = timme.analyse(found_with_errors(walks), noise="auto", **QUICK)
    raw = sigma_of(timme.analyse(found_with_errors(walks), **QUICK)).sigma
    assert np.median(np.abs(sigma_of(made).sigma / true - 1)) < 0.5 * np.median(raw / true - 1)
    assert any("what the steps of each particle tell" in note for note in made.notes)


@pytest.mark.parametrize("noise", ["0", "0,0,0", 0.0])
def test_no_error_changes_no_bit(noise: Any) -> None:
    places = found_with_errors(two_clusters(60)[0])
    with_zero, without = (timme.analyse(places, noise=each) for each in (noise, None))
    assert sigma_of(with_zero).sigma.tobytes() == sigma_of(without).sigma.tobytes()
    assert with_zero.hierarchy.heights.tobytes() == without.hierarchy.heights.tobytes()
    assert with_zero.notes == without.notes
    assert summary(with_zero) == summary(without)


@pytest.mark.parametrize("linkage", ["single", "braced", "average"])
def test_draws_are_those_of_corrected_trajectories(linkage: Any) -> None:
    places = found_with_errors(two_clusters(64)[0])
    objects = timme.objects.points(Ensemble.from_array(places))
    noise = PositionErrors(objects.ensemble, np.tile(ERRORS**2, (24, 1))).variance
    sigma = timme.measure(objects, timme.pairs.all(objects))
    draws = draw(64, 16.0, n_draws=5)
    sums, _ = sum_what_matters(objects, sigma, draws, linkage=linkage, noise=noise)
    trees = resampled_hierarchies(sums, draws.times, linkage=linkage)
    taken = noise(sigma.pairs) * (1 - 1 / 64)
    for drawn, tree in zip(draws.drawn, trees, strict=True):
        snapshots = np.concatenate(
            [np.arange(64)[draws.parts[k].start : draws.parts[k].stop] for k in drawn]
        )
        apart = places[snapshots][:, sigma.pairs[:, 0]] - places[snapshots][:, sigma.pairs[:, 1]]
        squares = np.linalg.norm(apart, axis=2).var(axis=0) - taken
        matrix = np.zeros((24, 24))
        matrix[sigma.pairs[:, 0], sigma.pairs[:, 1]] = np.sqrt(np.maximum(squares, 0.0))
        expected = timme.link(matrix + matrix.T, linkage=linkage)
        # Squares in single precision, of which nearly all was taken off: 1e-6 of what was there.
        heights = [tree.gaps, expected.gaps]
        assert np.sort(heights[0]) == pytest.approx(np.sort(heights[1]), abs=2e-3)


def test_pairs_that_can_matter_are_found_among_many() -> None:
    rng = np.random.default_rng(4)
    places = 5 * rng.normal(size=(220, 3)) + 0.1 * rng.normal(size=(256, 220, 3))
    places += np.cumsum(0.02 * rng.normal(size=(256, 1, 3)) * (np.arange(220)[:, None] % 3), axis=0)
    objects = timme.objects.points(Ensemble.from_array(places))
    noise = PositionErrors(objects.ensemble, np.full((220, 3), 0.09**2)).variance
    sigma = timme.measure(objects, timme.pairs.all(objects))
    draws = draw(256, 8.0, n_draws=5)
    few, _ = sum_what_matters(objects, sigma, draws, noise=noise)
    everything = sum_parts(objects, sigma.pairs, draws.parts, noise=noise)
    assert len(few.pairs) < len(everything.pairs)  # or nothing was tried
    for one, other in zip(
        *(resampled_hierarchies(each, draws.times) for each in (few, everything)), strict=True
    ):
        assert one.gaps == pytest.approx(other.gaps, abs=1e-4)


def test_what_is_told_of_a_run_is_corrected_as_well() -> None:
    places = found_with_errors(two_clusters(200)[0])
    made = timme.analyse(places, noise=tuple(ERRORS), windows=3, lags=[20, 200], cutoff=0.15)
    judged, timed = made.part(Judged), made.part(Timed)
    assert judged is not None
    assert timed is not None
    assert timed.windows is not None
    assert [len(record.sites) for record in judged.confidence.trusted] == [12, 12]
    assert (np.diff(timed.windows.tracks, axis=0) == 0).all()  # both balls, in every window
    assert timed.sigma is not None
    assert timed.sigma[1] == pytest.approx(
        np.quantile(sigma_of(made).sigma, [0.05, 0.25, 0.5, 0.75, 0.95]), abs=1e-3
    )


def test_a_centre_is_off_by_the_mean_of_errors() -> None:
    n = 4000
    rng = np.random.default_rng(5)
    places = np.zeros((n, 8, 2))
    places[:, :, 0] = np.repeat([0.0, 30.0], 4) + np.tile([0, 1, 0, 1], 2)
    places[:, :, 1] = np.tile([0, 0, 1, 1], 2)
    groups = timme.analyse(
        places + 0.2 * rng.normal(size=places.shape),
        objects=np.repeat([0, 1], 4),
        reduction="centre",
        noise=0.2,
        **QUICK,
    )
    # The centres of 4 are off by half of 0.2 each: σ² is 0.02, known to √(2 / n).
    assert sigma_of(groups).sigma[0] ** 2 <= 4 * 0.02 * np.sqrt(2 / n)


def test_a_result_with_its_errors_is_kept(tmp_path: Path) -> None:
    made = timme.analyse(found_with_errors(two_clusters(30)[0]), noise=[0.05, 0.05, 0.12], **QUICK)
    timme.save(made, tmp_path / "result.npz")
    again = timme.load(tmp_path / "result.npz")
    assert again.recipe.options["noise"] == [0.05, 0.05, 0.12]
    assert sigma_of(again).sigma.tolist() == sigma_of(made).sigma.tolist()


PLACES = found_with_errors(two_clusters(30)[0])


@pytest.mark.parametrize(
    ("source", "options", "told"),
    [
        (PLACES, {"noise": "0.1,0.2"}, "one for each of 3 axes, got 2"),
        (PLACES, {"noise": -0.1}, "must be 0 or more"),
        (PLACES, {"noise": "much"}, "an error such as 0.03"),
        (PLACES, {"noise": "nan"}, "must be 0 or more"),
        (PLACES[:5], {"noise": "auto"}, "at least 10 snapshots, got 5"),
        (PLACES, {"noise": 0.1, "metric": "cityblock"}, "for Euclidean distances"),
        (PLACES, {"noise": 0.1, "weights": np.arange(1.0, 31.0)}, "weigh the same"),
        (PLACES, {"noise": 0.1, "objects": np.repeat([0, 1], 12)}, "for points and centres"),
        (np.eye(4), {"noise": 0.1}, "a matrix of σ is linked as it is: leave out .*noise"),
    ],
)
def test_what_cannot_be_corrected_is_refused(source: Any, options: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told) as refused:
        timme.analyse(source, **QUICK, **options)
    assert "\n" not in str(refused.value)


def test_errors_of_models_and_atoms_are_not_estimated(tmp_path: Path) -> None:
    models = write_pdb(tmp_path / "models.pdb", [peptide(n_residues=8)] * 12)
    told = {"points": "models have none|for particles", "bodies": "for points and centres"}
    for objects, text in told.items():
        with pytest.raises(ValueError, match=text):
            timme.analyse(models, objects=objects, noise="auto", **QUICK)


def test_more_pairs_than_are_kept_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("timme.workflow.kept_pairs.KEPT_PAIRS", 100)
    with pytest.raises(ValueError, match="needs σ of all pairs at once, and 276 are too many"):
        timme.analyse(PLACES, noise=0.1, **QUICK)
