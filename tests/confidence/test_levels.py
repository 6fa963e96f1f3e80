"""Levels worth looking at are those of the highest silhouette, and no two are nearly the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import timme
from tests import naive
from tests.confidence import reference
from timme._arrays import Floats
from timme.confidence.levels import _blur, silhouettes


@given(st.integers(0, 2**31), st.integers(2, 4))
def test_silhouettes_are_those_of_the_definition(seed: int, min_size: int) -> None:
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(12, 2))
    matrix = np.linalg.norm(places[:, None] - places, axis=2)
    tree = timme.link(matrix)
    found = silhouettes(tree, matrix, min_size=min_size)
    index = np.column_stack(np.triu_indices(12, 1))
    sigmas = matrix[index[:, 0], index[:, 1]]
    for cutoff, value in zip(found.cutoffs, found.values, strict=True):
        labels = naive.labels(12, index, sigmas, float(cutoff))
        assert value == pytest.approx(reference.silhouette(matrix, labels, min_size), abs=1e-9)
    assert all(level.silhouette in found.values for level in found.levels)


def blocks(*sizes: int, inside: float = 1.0, across: float = 9.0) -> Floats:
    label = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng(0)
    matrix = np.where(label[:, None] == label, inside, across) * rng.uniform(
        0.9, 1.1, (len(label),) * 2
    )
    matrix = np.triu(matrix, 1)
    return np.asarray(matrix + matrix.T)


def test_planted_blocks_are_the_first_level() -> None:
    matrix = blocks(20, 15, 12)
    found = silhouettes(timme.link(matrix), matrix)
    assert found.levels[0].sizes == (20, 15, 12)
    assert found.levels[0].low < found.levels[0].cutoff < found.levels[0].high
    assert found.words.startswith("worth looking at: ")


def test_a_level_of_a_hairs_breadth_is_not_looked_at() -> None:
    # Three blocks from 1 to 2, of which one is missing for 0.02 % of the cutoff.
    levels = np.array([1.0, 1.5, 1.5003, 2.0])
    values = np.array([0.5, 0.9, 0.5, 0.1])
    blurred = _blur(levels, values)
    assert blurred.argmax() in (1, 2)
    # 0.02 % of a window of 0.4 %, with 0.4 more than beside it.
    assert blurred[1] < 0.53
    # A level that lasts is as high as it is.
    assert _blur(np.array([1.0, 1.2, 1.5]), np.array([0.2, 0.8, 0.1]))[1] == pytest.approx(0.8)


def test_one_block_has_no_level_that_stands_out() -> None:
    matrix = blocks(40)
    found = silhouettes(timme.link(matrix), matrix)
    assert found.standing_out == ()
    assert found.words.startswith("no level stands out")


def test_unmeasured_pairs_and_chosen_sites_say_the_same() -> None:
    matrix = blocks(30, 30)
    holes = matrix.copy()
    holes[np.random.default_rng(0).random(matrix.shape) < 0.1] = np.nan
    tree = timme.link(matrix)
    whole = silhouettes(tree, matrix).levels[0]
    some = np.arange(0, 60, 2)
    assert silhouettes(tree, holes).levels[0].sizes == whole.sizes
    chosen = silhouettes(tree, matrix[np.ix_(some, some)], sites=some)
    # Means over half of the sites, each within 10 % / √15 of those over all.
    assert chosen.levels[0].silhouette == pytest.approx(whole.silhouette, abs=0.03)


def test_a_matrix_of_other_sites_is_refused() -> None:
    matrix = blocks(10, 10)
    with pytest.raises(ValueError, match="20 sites need σ of all their pairs"):
        silhouettes(timme.link(matrix), matrix[:5, :5])


def test_clusters_that_were_never_compared_have_no_silhouette() -> None:
    # Nothing is known across, so that no other cluster is the nearest: without a warning, either.
    matrix = np.full((12, 12), np.nan)
    inside = np.random.default_rng(0).uniform(0.1, 0.2, (2, 6, 6))
    for place, block in zip((slice(0, 6), slice(6, 12)), inside, strict=True):
        matrix[place, place] = block + block.T
    np.fill_diagonal(matrix, 0.0)
    found = silhouettes(timme.link(matrix), matrix, min_size=3)
    assert (found.values == 0.0).all()
    assert found.levels == ()
