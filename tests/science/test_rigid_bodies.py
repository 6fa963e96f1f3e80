"""Reference: planted rigid bodies are found, one body stays one, and all is a hierarchy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.science import motion_naive as naive
from timme.ensemble import Ensemble
from timme.motion import Bodies, bodies, describe_motion
from timme.motion.body_search import sharpness
from timme.motion.pieces import follow, patches, stillness
from timme.synthetic import ball, relaxing, tumble
from timme.synthetic import bodies as planted_bodies


def jaccard(labels: np.ndarray, planted: np.ndarray) -> float:
    """Mean over planted bodies of the best overlap with any that was found."""
    best = []
    for body in range(planted.max() + 1):
        one = planted == body
        others = [labels == other for other in range(labels.max() + 1)]
        best.append(max(np.sum(one & other) / np.sum(one | other) for other in others))
    return float(np.mean(best))


def soft(kind: str, n_snapshots: int, seed: int) -> Ensemble:
    """One body of 100 sites that trembles; no parts move against one another as wholes."""
    rng = np.random.default_rng(seed)
    stretch = 3.0 if kind in ("gradient", "bending") else 1.0
    places = ball(100, rng) * np.array([stretch**2, 1 / stretch, 1 / stretch]) ** (1 / 3)
    along = places[:, 0] / np.abs(places[:, 0]).max()
    jitter = {"bending": np.full(100, 0.15), "gradient": 0.35 + 0.25 * along}
    shape = (n_snapshots, 100, 3)
    noise = relaxing(shape, 20.0 if kind == "slow" else 2.0, rng)
    snapshots = places + jitter.get(kind, np.full(100, 0.2))[:, None] * noise
    if kind == "bending":
        bends = relaxing((n_snapshots, 3), 50.0, rng) * [3.0, 2.0, 1.0]
        snapshots[:, :, 1] += bends[:, :1] * along**2 + bends[:, 2:] * along**3
        snapshots[:, :, 2] += bends[:, 1:2] * along**2
    return Ensemble.from_array(tumble(snapshots, rng), unit="Å")


@pytest.fixture(scope="module")
def two() -> Bodies:
    return bodies(planted_bodies((60, 40), 20, spans=[30.0]).ensemble)


@pytest.mark.parametrize("spans", [(60.0, 30.0), (30.0, 15.0)])
@pytest.mark.parametrize("n_seeds", [1, pytest.param(6, marks=pytest.mark.slow)])
def test_three_planted_bodies_are_found(spans: tuple[float, float], n_seeds: int) -> None:
    for seed in range(n_seeds):
        planted = planted_bodies((90, 40, 30), 20, spans=spans, seed=seed)
        found = bodies(planted.ensemble)
        assert found.n_bodies == 3
        assert jaccard(found.labels, planted.labels) >= 0.95
        assert found.agreement is not None
        assert found.agreement.counts == (3, 3)
        assert found.agreement.rand > 0.9


@pytest.mark.parametrize("kind", ["uniform", "gradient", "slow", "bending"])
@pytest.mark.parametrize("n_seeds", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_a_body_without_hinges_stays_one(kind: str, n_seeds: int) -> None:
    n_snapshots = 100 if kind == "bending" else 30
    counts = [bodies(soft(kind, n_snapshots, seed)).n_bodies for seed in range(n_seeds)]
    assert counts.count(1) >= (0.6 if kind == "bending" else 0.95) * n_seeds


def test_the_cut_of_the_hierarchy_is_the_bodies(two: Bodies) -> None:
    cut = two.hierarchy.cut(two.cutoff)
    assert (two.hierarchy.quantity.symbol, two.hierarchy.unit) == ("rest", "Å")
    for cluster in cut:
        assert len(cluster) == 1 or len(set(two.labels[cluster].tolist())) == 1
    assert sorted(size for size in cut.sizes if size > 1) == sorted(two.sizes.tolist())


def test_a_number_of_bodies_may_be_given() -> None:
    ensemble = planted_bodies((60, 40), 20, spans=[30.0]).ensemble
    assert bodies(ensemble, n_bodies=1).n_bodies == 1
    with pytest.raises(ValueError, match="were not found, only"):
        bodies(ensemble, n_bodies=40)


def test_a_tail_belongs_to_no_body() -> None:
    planted = planted_bodies((60, 40), 30, spans=[30.0])
    rng, snapshots = np.random.default_rng(0), planted.ensemble.coordinates()
    tail = snapshots[:, [5]] + [9.0, 9, 9] + np.cumsum(rng.normal(0, 2.5, (30, 6, 3)), axis=1)
    found = bodies(Ensemble.from_array(np.concatenate([snapshots, tail], axis=1)))
    assert found.n_bodies == 2
    assert set(found.unassigned.tolist()) >= {102, 103, 104, 105}
    assert jaccard(found.labels[:100], planted.labels) > 0.9


def test_turning_snapshots_changes_no_body(two: Bodies) -> None:
    snapshots = planted_bodies((60, 40), 20, spans=[30.0]).ensemble.coordinates()
    turns = Rotation.random(20, rng=np.random.default_rng(1)).as_matrix()
    turns[0] = np.eye(3)  # patches are cut along the axes of the first
    np.testing.assert_array_equal(bodies(Ensemble.from_array(snapshots @ turns)).labels, two.labels)


def test_what_does_not_move_is_one_body_of_all_sites() -> None:
    places = np.random.default_rng(4711).normal(0.0, 6.0, (80, 3))
    found = describe_motion(Ensemble.from_array(np.tile(places, (6, 1, 1))))
    assert found.bodies.sizes.tolist() == [80]
    assert not found.hinges
    assert np.isnan(found.explained.finite).all()


def test_bodies_in_a_plane_turn_about_a_centre() -> None:
    rng, number = np.random.default_rng(3), np.arange(40)
    spiral = np.sqrt(number + 0.5)[:, None] * np.column_stack(
        [np.cos(2.4 * number), np.sin(2.4 * number)]
    )
    still, swung, pivot = 1.3 * spiral, 1.3 * spiral[:30] + [18.0, 0], np.array([9.0, 0.0])
    snapshots = []
    for angle in np.radians(np.linspace(-20, 20, 20)):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        snapshots.append([*still, *((swung - pivot) @ turn.T + pivot)])
    found = describe_motion(Ensemble.from_array(snapshots + rng.normal(0, 0.05, (20, 70, 2))))
    assert jaccard(found.bodies.labels, np.repeat([0, 1], [40, 30])) > 0.95
    assert (found.hinges[0].kind, found.hinges[0].axis_error) == ("hinge", 0)
    assert found.hinges[0].range == pytest.approx(40, rel=0.02)
    np.testing.assert_allclose(found.hinges[0].point[:2], [9, 0], atol=0.3)
    assert found.explained.freedom.tolist()[:2] == [0, 3]


@pytest.mark.parametrize(
    ("shape", "words"),
    [((1, 30, 3), "got 30 and 1"), ((9, 2, 3), "got 2 and 9"), ((4, 20, 1), "dimensions, got 1")],
)
def test_too_little_is_refused(shape: tuple[int, ...], words: str) -> None:
    with pytest.raises(ValueError, match=f"needs .* {words}"):
        bodies(Ensemble.from_array(np.random.default_rng(0).normal(size=shape)))


@pytest.mark.parametrize("step", [1.0, 0.0], ids=["line", "point"])
def test_sites_on_a_line_or_at_a_point_are_refused(step: float) -> None:
    line = step * np.arange(30)[:, None] * [1.0, 0.5, 0.2]
    with pytest.raises(ValueError, match="needs sites with an orientation"):
        describe_motion(Ensemble.from_array(np.tile(line + 1.0, (4, 1, 1))))


def test_a_known_transition_gives_the_axes() -> None:
    planted = planted_bodies((60, 40), 20, spans=[40.0])
    pair = planted.ensemble.coordinates()[[0, -1]]
    found = describe_motion(planted.ensemble, transition=pair, reference=[0])
    assert found.known[0].angle == pytest.approx(40, rel=0.02)
    assert found.hinges[0].range == pytest.approx(40, rel=0.02)
    pair[1, :5] = np.nan  # not in one of the structures
    again = describe_motion(planted.ensemble, transition=pair)
    assert again.hinges[0].range == pytest.approx(40, rel=0.02)
    with pytest.raises(ValueError, match=r"shape \(2, 100, 3\)"):
        describe_motion(planted.ensemble, transition=pair[:1])


@pytest.mark.parametrize("bent", [True, False])
def test_sharpness_is_what_a_slope_leaves_over_what_steps_leave(bent: bool) -> None:
    made = soft("bending", 12, 3) if bent else planted_bodies((60, 40), 12, spans=[20.0]).ensemble
    snapshots = made.coordinates().astype(np.float64)
    tracks = snapshots.swapaxes(0, 1)
    whole = follow(tracks, np.zeros(100, np.int64))
    labels = (whole.places[:, 0] > np.median(whole.places[:, 0])).astype(np.int64)
    found = sharpness(tracks, follow(tracks, labels), whole)
    parts = [patches(whole.places[labels == body]) for body in (0, 1)]
    expected = naive.sharpness(snapshots, labels, parts, least=4)
    assert found == pytest.approx(expected, rel=1e-4)


def two_pieces(n_snapshots: int, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    planted = planted_bodies((20, 14), n_snapshots, **options)
    return planted.ensemble.coordinates().astype(np.float64), planted.labels


def test_stillness_is_the_variance_in_the_frame_of_a_body() -> None:
    snapshots, labels = two_pieces(8, spans=[40.0])
    pieces = follow(snapshots.swapaxes(0, 1), labels)
    found = stillness(snapshots.swapaxes(0, 1), pieces)
    for body in (0, 1):
        inner = (snapshots - pieces.centres[body][:, None]) @ pieces.rotations[body]
        moved = ((inner - inner.mean(axis=0)) ** 2).sum(axis=(0, 2))
        outside = labels != body
        np.testing.assert_allclose(found[outside, body], moved[outside], rtol=1e-6)
        assert (found[~outside, body] > moved[~outside]).all()  # their own pull is subtracted
