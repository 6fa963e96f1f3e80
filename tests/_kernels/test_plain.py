"""Sums of pairs that are seen in every frame; these run without compilation as well."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import seeds
from timme._arrays import Floats
from timme._kernels import plain

UNIT = 2.0**-24  # by which single precision rounds


def laid_out(snapshots: Floats) -> Floats:
    return np.ascontiguousarray(snapshots.transpose(1, 2, 0), np.float32)


@given(seeds, st.sampled_from([2, 5, 64, 98]), st.floats(0.5, 6), st.sampled_from([0.0, 1e3]))
def test_a_pair_that_hardly_moves_is_known_to_what_its_argument_says(
    seed: int, n_places: int, stiff: float, far: float
) -> None:
    """The error of σ is below u(r + 17 D): r their distance, D how far their vector strays."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(-9, 9, (1, 2, 3)) + far + 10.0**-stiff * rng.normal(size=(n_places, 2, 3))
    xyz = laid_out(places[rng.integers(0, n_places, 98)])
    between = xyz[0].astype(np.longdouble) - xyz[1]
    distances = np.sqrt((between**2).sum(axis=0))
    apart = np.sqrt(((between - between[:, :1]) ** 2).sum(axis=0).mean())
    _, first, second, moved = map(float, plain.sums_when_still(xyz, 0, 1, 1, 1)[0])
    sigma = np.sqrt(max(second - first**2 / 98, 0.0) / 98)
    allowed = UNIT * (distances.max() + 17 * apart) + 1e-5 * distances.std()  # and that of sums
    assert abs(sigma - distances.std()) < allowed
    # Vectors of this and of the first frame are rounded, by u of their length at most.
    rounding = 2 * UNIT * distances.max()
    assert abs(moved / 98 - apart**2) < (2 * apart + rounding) * rounding + 1e-5 * apart**2


def test_digits_that_a_distance_has_not_are_kept() -> None:
    """Two sites 900 apart that come nearer by 1e-3 in every other frame, in numbers of 1e-4."""
    snapshots = np.zeros((64, 2, 3))
    snapshots[:, 1] = [[600.0, -600.0, 300.0]]
    snapshots[::2, 0] = [2**-10, 0.0, 0.0]
    between = np.diff(snapshots.astype(np.longdouble), axis=1)[:, 0]
    exact = float(np.sqrt((between**2).sum(axis=1)).std())
    _, first, second, _ = map(float, plain.sums_when_still(laid_out(snapshots), 0, 1, 1, 1)[0])
    assert np.sqrt(second / 64 - (first / 64) ** 2) == pytest.approx(exact, rel=1e-5)
    distances = np.linalg.norm(np.diff(snapshots.astype(np.float32), axis=1)[:, 0], axis=1)
    assert float(distances.std()) != pytest.approx(exact, rel=1e-3)  # as single precision has it


@pytest.mark.parametrize("n_dimensions", [1, 2, 3, 4])
@given(st.integers(2, 9), st.integers(1, 5), seeds)
def test_a_band_of_sites_has_the_bits_of_a_list(
    n_dimensions: int, n_sites: int, square: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    xyz = laid_out(rng.normal(size=(70, n_sites, n_dimensions)) * 10.0 ** rng.integers(-5, 1))
    xyz += np.float32(rng.choice([0.0, 10.0])) * np.arange(n_sites, dtype=np.float32)[:, None, None]
    first = int(rng.integers(0, n_sites // 2 + 1))
    own = range(first, min(first + square, n_sites))
    expected = [(a, b) for a in own for b in range(a + 1, n_sites)]
    pairs, sigma = np.empty((len(expected), 2), np.int64), np.empty(len(expected))
    plain.fill_band(xyz, 70, first, square, pairs, sigma)
    assert sorted(map(tuple, pairs.tolist())) == expected
    listed = pairs[rng.permutation(len(pairs))]
    count, sums = np.zeros(len(pairs), np.int64), np.zeros((3, len(pairs)))
    plain.add_all_frames(xyz, 70, listed, count, *sums)
    found = dict(zip(map(tuple, listed.tolist()), np.sqrt(sums[2] / 70).tolist(), strict=True))
    assert [found[a, b] for a, b in pairs.tolist()] == sigma.tolist()


@pytest.mark.parametrize("n_dimensions", [1, 3])
@pytest.mark.parametrize("stiff", [1.0, 1e-3, 1e-6])
def test_frames_that_fill_up_a_vector_add_nothing(n_dimensions: int, stiff: float) -> None:
    rng = np.random.default_rng(0)
    xyz = laid_out(
        rng.normal(size=(1, 9, n_dimensions)) + stiff * rng.normal(size=(70, 9, n_dimensions))
    )
    filled = np.concatenate([xyz, np.repeat(xyz[..., :1], 10, axis=2)], axis=2)
    pairs = np.column_stack(np.triu_indices(9, 1))
    found = []
    for coordinates in (xyz, filled):
        count, sums = np.zeros(36, np.int64), np.zeros((3, 36))
        plain.add_all_frames(coordinates, 70, pairs, count, *sums)
        assert set(count.tolist()) == {70}
        found.append(sums)
    mean, m2 = found[0][1:]
    assert found[1][1] == pytest.approx(mean, rel=1e-6)
    assert np.sqrt(found[1][2]) == pytest.approx(np.sqrt(m2), rel=1e-5)


@given(seeds, st.booleans())
def test_a_second_block_is_merged_by_the_formula_of_all_moments(seed: int, some: bool) -> None:
    """Also where some of the pairs were not seen before."""
    rng = np.random.default_rng(seed)
    pairs = np.column_stack(np.triu_indices(6, 1))
    alone, merged = np.zeros((2, 3, 15))
    merged[:] = rng.uniform(1, 50, (3, 15)) * (rng.random(15) < 0.5 if some else 1)
    before = merged.copy()
    for sums in (alone, merged):
        xyz = laid_out(np.random.default_rng(seed).normal(size=(70, 6, 3)))
        plain.add_all_frames(xyz, 70, pairs, np.zeros(15, np.int64), *sums)
    for found, (weight, mean, m2), (more, other, deviations) in zip(
        merged.T.tolist(), before.T.tolist(), alone.T.tolist(), strict=True
    ):
        share, shift = more / (weight + more), other - mean  # Chan, Golub and LeVeque's formula
        between = shift * shift * weight * share
        assert found == [weight + more, mean + shift * share, m2 + deviations + between]
