"""Sites join at the heights that the definition says, two by two and with the core."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from timme.hierarchy import grow
from timme.hierarchy.forest import _ranked
from timme.hierarchy.joining import heights_between, heights_to_core


@given(st.integers(0, 2**31), st.floats(0.2, 1.0))
def test_sites_join_where_a_path_of_pairs_does(seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    every = np.column_stack(np.triu_indices(8, 1))
    pairs = every[rng.random(len(every)) < share]
    sigmas = rng.integers(1, 9, len(pairs)).astype(float)
    tree = grow(8, pairs, sigmas)
    expected = naive.cophenetic(8, pairs, sigmas)
    found = heights_between(tree, every)
    assert found.tolist() == expected[every[:, 0], every[:, 1]].tolist()
    core = int(tree.order[0])
    mobility = heights_to_core(tree)
    others = [site for site in range(8) if site != core]
    assert mobility[others].tolist() == expected[core, others].tolist()
    assert mobility[core] == min(expected[core, others])


@given(
    st.lists(st.sampled_from([0.0, -0.0, 0.1, 0.5, 1.0, 3.0, 1e39, np.inf]), max_size=30),
    st.booleans(),
)
def test_edges_of_equal_height_stay_in_their_order_in_either_precision(
    values: list[float], single: bool
) -> None:
    precision = np.float32 if single else np.float64
    with np.errstate(over="ignore"):
        heights = np.array(values).astype(precision).astype(np.float64)
    ranked = _ranked(heights)
    finite = [k for k in range(len(values)) if np.isfinite(heights[k])]
    assert ranked.tolist() == sorted(finite, key=lambda k: heights[k])
