from functools import cache

import numpy as np
import pytest

from tests.synthetic.test_known_answers import recovered
from timme import objects, pairs, synthetic
from timme._arrays import Floats, Ints
from timme.hierarchy import Hierarchy, cluster
from timme.synthetic import frameworks

PIECE = 10  # sites of each piece, the upper first
RADIUS = 1.5  # of contacts; the pieces are 4 apart


@cache
def held(seed: int) -> synthetic.Planted:
    """The pieces on six legs, with noise of 0.01 on every coordinate."""
    return synthetic.noncontiguous(seed=seed, jitter=0.01)


def rigidity_matrix(joints: Floats, bars: Ints) -> Floats:
    """A row for each bar: half the change of its squared length with each coordinate."""
    matrix = np.zeros((len(bars), joints.size))
    for row, (i, j) in enumerate(bars):
        matrix[row, 3 * i : 3 * i + 3] = joints[i] - joints[j]
        matrix[row, 3 * j : 3 * j + 3] = joints[j] - joints[i]
    return matrix


def flexes(framework: frameworks.Framework) -> Floats:
    """All ways to move that keep every bar, (ways, joints, 3)."""
    matrix = rigidity_matrix(framework.joints, framework.bars)
    _, singular, modes = np.linalg.svd(matrix)
    rank = int((singular > 1e-9 * singular[0]).sum())
    return modes[rank:].reshape(-1, *framework.joints.shape)


def strained(framework: frameworks.Framework, ways: Floats, sites: Ints) -> int:
    """In how many of the ways to move these change their distances."""
    first, second = np.triu_indices(len(sites), 1)
    apart = framework.joints[sites[first]] - framework.joints[sites[second]]
    modes = ways[:, sites]
    rates = ((modes[:, first] - modes[:, second]) * apart).sum(axis=2)
    return int(np.linalg.matrix_rank(rates, tol=1e-8))


def joined_at(hierarchy: Hierarchy) -> float:
    """The lowest cutoff at which the pieces are in one cluster."""
    cuts = ((cutoff, hierarchy.cut(cutoff).labels) for cutoff in hierarchy.levels)
    return next(float(cutoff) for cutoff, found in cuts if found[0] == found[PIECE])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_all_pairs_find_the_pieces_as_one_cluster(seed: int) -> None:
    assert recovered(held(seed)) == [True]


@pytest.mark.parametrize("seed", [0, 1])
def test_contacts_leave_the_pieces_apart_until_the_fluid_joins_them(seed: int) -> None:
    points = objects.points(held(seed).ensemble)
    everywhere = cluster(points, pairs.all(points))
    touching = cluster(points, pairs.within(points, RADIUS))
    # noise of 0.01 on each end of a distance
    assert joined_at(everywhere) < 2 * 0.01
    found = touching.cut(0.03).labels
    assert np.bincount(found)[:2].tolist() == [PIECE, PIECE]
    assert len({*found[:PIECE]}) == len({*found[PIECE : 2 * PIECE]}) == 1
    joined = touching.cut(joined_at(touching)).labels
    fluid = joined[2 * PIECE + 18 :]
    assert joined_at(touching) > 0.2
    assert (fluid == joined[0]).any()


def test_nothing_else_is_rigid_to_the_pieces() -> None:
    made = synthetic.noncontiguous(seed=3, jitter=0.0)
    coordinates = made.ensemble.block(0).coordinates
    apart = np.linalg.norm(coordinates[:, :, None] - coordinates[:, None], axis=3).std(axis=0)
    assert apart[: 2 * PIECE, : 2 * PIECE].max() < 1e-9
    assert apart[: 2 * PIECE, 2 * PIECE :].min() > 0.02  # above the usual noise, at the least


def test_six_legs_hold_the_pieces_by_geometry_and_no_bar_joins_them() -> None:
    framework = frameworks.build(PIECE, 6, np.random.default_rng(0))
    upper, lower = framework.pieces
    ways = flexes(framework)
    assert len(ways) == 6 + 6  # of the whole, and each leg about its own axis
    assert strained(framework, ways, np.concatenate([upper, lower])) == 0
    for leg in framework.legs:
        assert strained(framework, ways, np.concatenate([upper, leg])) == 1
    size = PIECE + 6  # with tips
    owner = np.array([0] * size + [1] * size + [2] * 18)
    ends = np.sort(owner[framework.bars], axis=1)
    assert not (ends == [0, 1]).all(axis=1).any()


@pytest.mark.parametrize("n_legs", [1, 3, 5])
def test_each_leg_less_is_one_more_way_to_move(n_legs: int) -> None:
    framework = frameworks.build(PIECE, n_legs, np.random.default_rng(1))
    ways = flexes(framework)
    assert strained(framework, ways, np.concatenate(framework.pieces)) == 6 - n_legs


@pytest.mark.parametrize("n_legs", [3, 6])
def test_bars_keep_their_lengths_while_all_joints_move(n_legs: int) -> None:
    rng = np.random.default_rng(2)
    framework = frameworks.build(PIECE, n_legs, rng)
    motion = frameworks.move(framework, 20, rng)
    first, second = framework.bars.T
    lengths = np.linalg.norm(motion[:, first] - motion[:, second], axis=2)
    rest = np.linalg.norm(framework.joints[first] - framework.joints[second], axis=1)
    assert np.abs(lengths - rest).max() < 1e-9
    assert np.linalg.norm(np.diff(motion, axis=0), axis=2).min(axis=0).max() > 0.01


def test_on_fewer_legs_the_pieces_come_loose() -> None:
    made = synthetic.noncontiguous(n_legs=3, seed=1)
    assert np.bincount(made.labels[0])[:2].tolist() == [PIECE, PIECE]
    assert recovered(made) == [True]
    loose = synthetic.noncontiguous(60, n_legs=5, jitter=0.0, seed=1).ensemble.block(0).coordinates
    apart = loose[:, :PIECE, None] - loose[:, None, PIECE : 2 * PIECE]
    assert np.linalg.norm(apart, axis=3).std(axis=0).max() > 0.05


@pytest.mark.parametrize("sizes", [(0, 5, 5), (5, -1, 5), (5, 5, 2)])
def test_pieces_of_nothing_are_refused(sizes: tuple[int, int, int]) -> None:
    n_snapshots, n_fluid, per_piece = sizes
    with pytest.raises(ValueError, match="two pieces need"):
        synthetic.noncontiguous(n_snapshots, n_fluid, sites_per_piece=per_piece)


@pytest.mark.parametrize("n_legs", [0, 7])
def test_pieces_stand_on_one_to_six_legs(n_legs: int) -> None:
    with pytest.raises(ValueError, match=f"1 to 6 legs, got n_legs={n_legs}"):
        synthetic.noncontiguous(n_legs=n_legs)
