"""Rigid bodies: planted ones are found, one body stays one, and all of it is a hierarchy."""

from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from scipy.spatial.transform import Rotation

import timme
from tests.motion import reference
from tests.strategies import seeds
from timme import Ensemble
from timme.motion import Bodies, bodies, describe_motion, domains
from timme.motion.counting import SHARP, Level, choose
from timme.motion.crowd import Crowd, follow, stillness
from timme.motion.merging import all_pairs, increases, merges
from timme.motion.rotations import nearest_rotations
from timme.motion.seeds import patches
from timme.motion.sharpness import sharpness
from timme.synthetic import moving, soft
from timme.synthetic.families import one_body, soft_chain


def jaccard(labels: np.ndarray, planted: np.ndarray) -> float:
    """Mean over planted bodies of the best overlap with any that was found."""
    best = []
    for body in range(planted.max() + 1):
        here = planted == body
        overlaps = [
            np.sum(here & (labels == other)) / np.sum(here | (labels == other))
            for other in range(labels.max() + 1)
        ]
        best.append(max(overlaps))
    return float(np.mean(best))


@pytest.mark.parametrize("spans", [(60.0, 30.0), (30.0, 15.0)])
def test_three_planted_bodies_are_found(spans: tuple[float, float]) -> None:
    planted = moving((90, 40, 30), 20, spans=spans, seed=1)
    found = bodies(planted.ensemble)
    assert found.n_bodies == 3
    assert jaccard(found.labels, planted.labels) >= 0.95
    assert found.agreement is not None
    assert found.agreement.counts == (3, 3)
    assert found.agreement.rand > 0.9


@pytest.mark.thorough
@pytest.mark.parametrize("span", [60.0, 30.0, 15.0])
@pytest.mark.parametrize("n_snapshots", [20, 50])
def test_three_planted_bodies_are_found_on_every_seed(span: float, n_snapshots: int) -> None:
    for seed in range(5):
        planted = moving((90, 40, 30), n_snapshots, spans=(span, span), seed=seed)
        assert jaccard(bodies(planted.ensemble).labels, planted.labels) >= 0.95


@pytest.mark.parametrize("kind", ["uniform", "gradient", "slow"])
def test_a_body_without_hinges_stays_one(kind: Literal["uniform", "gradient", "slow"]) -> None:
    for seed in range(3):
        found = bodies(soft(kind, 30, seed=seed))
        assert found.n_bodies == 1
        assert found.chosen == 0


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["uniform", "gradient", "slow"])
@pytest.mark.parametrize("n_snapshots", [20, pytest.param(100, marks=pytest.mark.long)])
def test_a_body_without_hinges_stays_one_on_95_of_100_seeds(
    kind: Literal["uniform", "gradient", "slow"], n_snapshots: int
) -> None:
    whole = [bodies(soft(kind, n_snapshots, seed=seed)).n_bodies == 1 for seed in range(100)]
    assert sum(whole) >= 95


@pytest.fixture(scope="module")
def two() -> Bodies:
    return bodies(moving((60, 40), 20, spans=[30.0]).ensemble)


def test_the_cut_of_the_hierarchy_is_the_bodies(two: Bodies) -> None:
    cut = two.hierarchy.cut(two.cutoff)
    assert two.hierarchy.quantity.symbol == "rest"
    assert two.hierarchy.unit == "Å"
    for cluster in cut:
        assert len(cluster) == 1 or len(set(two.labels[cluster].tolist())) == 1
    assert sorted(size for size in cut.sizes if size > 1) == sorted(two.sizes.tolist())


def test_the_highest_merge_is_the_rest_of_the_whole() -> None:
    planted = moving((60, 40), 20, spans=[30.0])
    found = bodies(planted.ensemble)
    snapshots = planted.ensemble.coordinates()
    rest = np.sqrt(reference.rest_of(snapshots) / snapshots[:, :, 0].size)
    assert found.levels[0].rest == pytest.approx(rest, rel=1e-4)
    assert found.hierarchy.heights[-1] == pytest.approx(rest, rel=1e-3)


def test_more_bodies_leave_less_rest(two: Bodies) -> None:
    rests = [level.rest for level in two.levels]
    assert rests == sorted(rests, reverse=True)


@pytest.mark.parametrize("seed", [0, 1])
def test_bodies_that_can_still_be_cut_stand_out_by_far_less(seed: int) -> None:
    """Of three bodies told as two, one gains about as much by a cut as joining both costs."""
    _, two, three = bodies(moving((60, 40, 30), 20, spans=(40.0, 40.0), seed=seed).ensemble).levels
    assert two.gap < 0.1 * three.gap


def test_as_many_bodies_as_are_asked_for() -> None:
    ensemble = moving((60, 40), 20, spans=[30.0]).ensemble
    assert bodies(ensemble, n_bodies=1).n_bodies == 1
    with pytest.raises(ValueError, match="were not found, only"):
        bodies(ensemble, n_bodies=40)


@pytest.mark.parametrize("n_bodies", [8, 12])
def test_a_long_chain_of_bodies_is_told_whatever_their_number(n_bodies: int) -> None:
    planted = soft_chain(n_bodies, 20, 60, scale=0.5, seed=n_bodies)
    found = bodies(planted.ensemble)
    assert found.n_bodies == n_bodies
    assert jaccard(found.labels, planted.labels[0]) > 0.95


def test_more_bodies_than_are_looked_at_may_be_asked_for() -> None:
    ensemble = soft_chain(12, 20, 20, scale=0.5).ensemble
    assert 9 not in [level.n_bodies for level in bodies(ensemble).levels]
    assert bodies(ensemble, n_bodies=9).n_bodies == 9


def test_clusters_of_sigma_may_be_the_seeds() -> None:
    planted = moving((60, 40), 20, spans=[30.0])
    points = timme.objects.points(planted.ensemble)
    tree = timme.cluster(points, timme.pairs.all(points))
    seeds = tree.cut(float(np.median(tree.heights))).labels
    found = bodies(planted.ensemble, seeds=seeds)
    assert jaccard(found.labels, planted.labels) > 0.95
    with pytest.raises(ValueError, match="a whole number for each of 100 sites"):
        bodies(planted.ensemble, seeds=seeds[:50])


def test_a_tail_belongs_to_no_body() -> None:
    planted = moving((60, 40), 30, spans=[30.0])
    rng = np.random.default_rng(0)
    snapshots = planted.ensemble.coordinates()
    tail = snapshots[:, [5]] + [9.0, 9, 9] + np.cumsum(rng.normal(0, 2.5, (30, 6, 3)), axis=1)
    found = bodies(Ensemble.from_array(np.concatenate([snapshots, tail], axis=1), unit="Å"))
    assert found.n_bodies == 2
    assert set(found.unassigned.tolist()) >= {102, 103, 104, 105}
    assert jaccard(found.labels[:100], planted.labels) > 0.9


def test_turning_snapshots_changes_no_body(two: Bodies) -> None:
    snapshots = moving((60, 40), 20, spans=[30.0]).ensemble.coordinates()
    turns = Rotation.random(20, rng=np.random.default_rng(1)).as_matrix()
    turns[0] = np.eye(3)  # patches are cut along the axes of the first
    found = bodies(Ensemble.from_array(snapshots @ turns, unit="Å"))
    np.testing.assert_array_equal(found.labels, two.labels)


def test_a_saved_half_is_told_from_a_whole(two: Bodies) -> None:
    assert two.n_snapshots == 20
    assert 1 <= two.n_effective <= 20


def test_molecules_cut_by_walls_are_refused() -> None:
    planted = moving((60, 40), 5, spans=[30.0])
    edge = 30.0
    wrapped = Ensemble.from_array(planted.ensemble.coordinates() % edge, boxes=[edge] * 3)
    with pytest.raises(ValueError, match="whole molecules"):
        bodies(wrapped)


def flat_hinge(n_snapshots: int = 20, span: float = 40.0) -> tuple[np.ndarray, np.ndarray]:
    """Two discs of 40 and 30 sites in a plane; the second turns about (9, 0)."""
    rng = np.random.default_rng(3)
    spiral = np.sqrt(np.arange(40) + 0.5)[:, None] * np.column_stack(
        [np.cos(2.4 * np.arange(40)), np.sin(2.4 * np.arange(40))]
    )
    still, swung = 1.3 * spiral, 1.3 * spiral[:30] + [18.0, 0]
    pivot = np.array([9.0, 0.0])
    snapshots = []
    for angle in np.radians(np.linspace(-span / 2, span / 2, n_snapshots)):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        snapshots.append(np.concatenate([still, (swung - pivot) @ turn.T + pivot]))
    noisy = np.array(snapshots) + rng.normal(0, 0.05, (n_snapshots, 70, 2))
    return noisy, np.repeat([0, 1], [40, 30])


def test_bodies_in_a_plane_are_found_and_turn_about_a_centre() -> None:
    snapshots, planted = flat_hinge()
    found = describe_motion(Ensemble.from_array(snapshots))
    assert found.bodies.n_bodies == 2
    assert jaccard(found.bodies.labels, planted) > 0.95
    (motion,) = found.hinges
    assert motion.kind == "hinge"
    assert motion.range == pytest.approx(40, rel=0.02)
    np.testing.assert_allclose(motion.point[:2], [9, 0], atol=0.3)
    np.testing.assert_allclose(np.abs(motion.axis), [0, 0, 1], atol=1e-9)
    assert found.explained.freedom.tolist()[:2] == [0, 3]


def test_a_trembling_disc_is_one_body() -> None:
    snapshots, _ = flat_hinge(20, span=0.0)
    assert bodies(Ensemble.from_array(snapshots)).n_bodies == 1


def test_a_flat_body_is_never_turned_over() -> None:
    snapshots, planted = flat_hinge(5)
    in_space = np.concatenate([snapshots, np.zeros((5, 70, 1))], axis=2)
    in_space[1, :, 0] *= -1  # a mirror image, which a turn in space would fit at once
    crowd = follow(in_space, planted)
    np.testing.assert_allclose(crowd.rotations[..., 2, 2], 1.0, atol=1e-9)
    assert crowd.rests.min() > 1.0


def test_one_dimension_is_refused() -> None:
    with pytest.raises(ValueError, match="in 2 or 3 dimensions, got 1"):
        bodies(Ensemble.from_array(np.random.default_rng(0).normal(size=(4, 20, 1))))


def test_sites_that_are_hardly_seen_are_left_out() -> None:
    planted = moving((60, 40), 20, spans=[30.0])
    snapshots = planted.ensemble.coordinates().copy()
    snapshots[3:, 7] = np.nan
    snapshots[4, 20] = np.nan
    with pytest.warns(UserWarning, match="1 of 1,980 places"):  # that of a site seen elsewhere
        found = bodies(Ensemble.from_array(snapshots, gaps=True))
    assert found.n_bodies == 2
    assert found.labels[7] == -1
    assert found.n_snapshots == 20


def test_nothing_to_compare_is_refused() -> None:
    snapshots = np.full((3, 10, 3), np.nan)
    snapshots[0] = np.random.default_rng(0).normal(size=(10, 3))
    with pytest.raises(ValueError, match="at least 2 snapshots in which the same 4 sites"):
        bodies(Ensemble.from_array(snapshots, gaps=True))


@pytest.mark.parametrize(
    ("shape", "words"),
    [((1, 30, 3), "2 snapshots, got 1: read more"), ((9, 2, 3), "4 sites, got 2: choose more")],
    ids=["snapshots", "sites"],
)
def test_too_little_is_refused_with_what_would_help(shape: tuple[int, ...], words: str) -> None:
    with pytest.raises(ValueError, match=f"bodies need at least {words}"):
        bodies(Ensemble.from_array(np.random.default_rng(0).normal(size=shape)))


@pytest.mark.parametrize("kind", ["bending", pytest.param("further", marks=pytest.mark.thorough)])
def test_a_body_that_bends_evenly_stays_one(kind: str) -> None:
    """By G alone, most of these 10 would be cut."""
    whole = [
        bodies(soft("bending", 100, seed=seed)).n_bodies == 1
        if kind == "bending"
        else bodies(one_body("bending", 100, seed=seed).ensemble).n_bodies == 1
        for seed in range(10)
    ]
    assert sum(whole) >= 8


@pytest.mark.thorough
@pytest.mark.parametrize("span", [15.0, 8.0])
@pytest.mark.parametrize("n_snapshots", [2, 20])
def test_narrow_hinges_are_no_bending(span: float, n_snapshots: int) -> None:
    for seed in range(10):
        found = bodies(moving((60, 40), n_snapshots, spans=[span], seed=seed).ensemble)
        assert found.n_bodies == 2
        assert found.levels[1].sharpness > SHARP


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_small_bodies_beside_wide_hinges_are_found(seed: int) -> None:
    """Most of their sites have neighbours that turn with another body, and follow none of them."""
    planted = moving((25,) * 6, 20, spans=(60.0,) * 5, seed=seed)
    found = bodies(planted.ensemble)
    assert found.n_bodies == 6
    assert jaccard(found.labels, planted.labels) > 0.95


@pytest.mark.parametrize("bent", [True, False])
def test_sharpness_is_what_a_slope_leaves_over_what_steps_leave(bent: bool) -> None:
    made = soft("bending", 12, seed=3) if bent else moving((60, 40), 12, spans=[20.0]).ensemble
    snapshots = made.coordinates().astype(np.float64)
    whole = follow(snapshots, np.zeros(100, np.int64))
    labels = (whole.places[:, 0] > np.median(whole.places[:, 0])).astype(np.int64)
    crowd = follow(snapshots, labels)
    found = sharpness(snapshots, crowd, whole)
    parts = [patches(whole.places[labels == body]) for body in (0, 1)]
    expected = reference.sharpness(snapshots, labels, parts, least=4)
    assert found == pytest.approx(expected, rel=1e-4)


def test_one_body_is_neither_sharp_nor_even() -> None:
    snapshots = soft("uniform", 5).coordinates().astype(np.float64)
    whole = follow(snapshots, np.zeros(100, np.int64))
    assert np.isnan(sharpness(snapshots, whole, whole))


def test_only_what_is_clearly_even_is_told_as_bending() -> None:
    """Two copies of HLA's heavy chain, whose domains turn, have 0.84."""

    def level(n_bodies: int, gap: float, sharp: float) -> Level:
        return Level(n_bodies, gap, 2.0, sharp, 1.0, np.zeros(1, np.int64))

    one = level(1, np.nan, np.nan)
    assert choose((one, level(2, 12.0, 0.69))) == 0
    assert choose((one, level(2, 12.0, 0.71))) == 1
    assert choose((one, level(2, 12.0, np.nan))) == 1
    assert choose((one, level(2, 12.0, 1.1), level(3, 8.0, 0.6))) == 1
    assert choose((one, level(2, 12.0, 0.6), level(3, 8.0, 1.1))) == 2


# What bodies are made of


@given(seeds)
def test_nearest_rotations_are_those_of_singular_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrices = rng.normal(size=(20, 3, 3))
    matrices[0] = 0.0
    matrices[1, 2] = 0.0  # flat
    found = nearest_rotations(matrices)
    np.testing.assert_allclose(found @ found.swapaxes(1, 2), [np.eye(3)] * 20, atol=1e-9)
    np.testing.assert_allclose(np.linalg.det(found), 1.0, atol=1e-9)
    left, _, right = np.linalg.svd(matrices)
    left[:, :, -1] *= np.linalg.det(left @ right)[:, None]
    best = np.einsum("kij,kij->k", left @ right, matrices)
    np.testing.assert_allclose(np.einsum("kij,kij->k", found, matrices), best, atol=1e-8)


@given(seeds)
def test_the_union_of_bodies_is_that_of_their_sites(seed: int) -> None:
    planted = moving((20, 14), 6, spans=[50.0], noise=0.0, seed=seed % 1000)
    snapshots = planted.ensemble.coordinates().astype(np.float64)
    crowd = follow(snapshots, planted.labels)
    grown = increases(crowd, all_pairs(2), steps=200)[0]
    assert crowd.rests.max() < 1e-8
    # Averaging ends where the growth falls by less than 1e-4 of itself in a step.
    assert grown == pytest.approx(reference.rest_of(snapshots), rel=5e-3)


def test_stillness_is_the_variance_in_the_frame_of_a_body() -> None:
    planted = moving((20, 14), 8, spans=[40.0])
    snapshots = planted.ensemble.coordinates().astype(np.float64)
    crowd = follow(snapshots, planted.labels)
    found = stillness(snapshots, crowd)
    for body, other in ((0, 1), (1, 0)):
        away = snapshots - crowd.centres[body][:, None]
        inner = np.array(
            [places @ turn for places, turn in zip(away, crowd.rotations[body], strict=True)]
        )
        moved = ((inner - inner.mean(axis=0)) ** 2).sum(axis=(0, 2))
        outside = planted.labels == other
        np.testing.assert_allclose(found[outside, body], moved[outside], rtol=1e-6)
        assert (found[~outside, body] > moved[~outside]).all()  # their own pull is taken off


def test_families_are_joined_within_first() -> None:
    planted = moving((40, 40), 6, spans=[2.0])
    pieces = np.arange(80) // 10
    crowd = follow(planted.ensemble.coordinates().astype(np.float64), pieces)
    family = np.arange(8) % 2
    for merge in list(merges(crowd, within=family))[:6]:
        assert family[pieces[merge.kept]] == family[pieces[merge.joined]]


def test_what_does_not_move_is_one_body_of_all_sites() -> None:
    places = np.random.default_rng(4711).normal(0.0, 6.0, (80, 3))
    found = bodies(Ensemble.from_array(np.tile(places, (6, 1, 1))))
    assert found.sizes.tolist() == [80]


@pytest.mark.parametrize("away", [1e6, 1e8])
def test_bodies_are_the_same_far_from_the_origin(away: float) -> None:
    planted = moving((60, 40), 20, spans=[30.0])
    far = Ensemble.from_array(planted.ensemble.coordinates() + away)
    assert bodies(far).labels.tolist() == planted.labels.tolist()


def test_halves_are_judged_as_tables_would_be(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[tuple[int, int]]()
    lazy = domains._Search.best

    def both(search: domains._Search) -> Crowd:
        found = lazy(search)
        seen.append((found.n_bodies, search.crowds[choose(search.judge())].n_bodies))
        return found

    monkeypatch.setattr(domains._Search, "best", both)
    for ensemble in (
        moving((60, 40, 30), 20, spans=[30.0, 15.0]).ensemble,
        soft("bending", 60, seed=3),
        soft("gradient", 40),
    ):
        bodies(ensemble)
    assert len(seen) == 6
    assert all(one == other for one, other in seen)
