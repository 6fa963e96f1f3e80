"""Sums of pairs that are seen in every frame; these run without compilation as well."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests._kernels.layout import laid_out
from tests.strategies import seeds
from timme._kernels import plain


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


@pytest.mark.parametrize("shared", [1, 2, 3, 4])
def test_pairs_are_each_their_own_however_many_share_a_site(shared: int) -> None:
    xyz = laid_out(np.random.default_rng(shared).normal(size=(70, 9, 3)))
    pairs = np.array([(0, 4 + k) if k < shared else (k, 4 + k) for k in range(4)])
    sigma = np.empty(4)
    plain.fill_list(xyz, 70, pairs, sigma)
    expected = [float(np.linalg.norm(xyz[a] - xyz[b], axis=0).std()) for a, b in pairs.tolist()]
    assert sigma == pytest.approx(expected, rel=1e-5)


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
