"""Hypothesis strategies that tests share: snapshots, gaps, boxes, rigid motions, lists of pairs.

Coordinates come from a random generator whose seed is drawn: sizes and shapes shrink, and numbers
stay of order one with all their digits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

seeds = st.integers(0, 2**32 - 1)
dimensions = st.integers(1, 5)


@dataclass(frozen=True)
class PairList:
    """Pairs of sites with their σ; a pair may come twice, in any order and orientation."""

    n_sites: int
    pairs: Ints  # (pairs, 2)
    sigmas: Floats  # (pairs,)


@st.composite
def snapshots(
    draw: st.DrawFn,
    *,
    n_dimensions: st.SearchStrategy[int] = dimensions,
    max_snapshots: int = 6,
    max_sites: int = 8,
) -> Floats:
    """At least 2 snapshots of at least 2 sites."""
    shape = draw(st.tuples(st.integers(2, max_snapshots), st.integers(2, max_sites), n_dimensions))
    return np.random.default_rng(draw(seeds)).normal(size=shape)


@st.composite
def gapped_snapshots(draw: st.DrawFn, *, max_snapshots: int = 8, max_sites: int = 6) -> Floats:
    """Snapshots in which some sites are not seen, perhaps in one coordinate only."""
    array = draw(snapshots(max_snapshots=max_snapshots, max_sites=max_sites))
    rng = np.random.default_rng(draw(seeds))
    array[rng.random(array.shape[:2]) < draw(st.sampled_from([0.1, 0.4, 0.8]))] = np.nan
    array[rng.random(array.shape) < 0.02] = np.nan
    return array


@st.composite
def straight_boxes(draw: st.DrawFn, n_snapshots: int, n_dimensions: int) -> Floats:
    """A box with right angles for each snapshot; its lengths vary."""
    rng = np.random.default_rng(draw(seeds))
    lengths = rng.uniform(1.0, 6.0, n_dimensions) * rng.uniform(0.8, 1.2, (n_snapshots, 1))
    return lengths[:, :, None] * np.eye(n_dimensions)


@st.composite
def tilted_boxes(draw: st.DrawFn, n_snapshots: int, n_dimensions: int) -> Floats:
    """A box without right angles for each snapshot, tilted by up to 1.5 lengths."""
    boxes = draw(straight_boxes(n_snapshots, n_dimensions))
    rng = np.random.default_rng(draw(seeds))
    for row in range(n_dimensions):
        for column in range(row):
            boxes[:, row, column] = rng.uniform(-1.5, 1.5) * boxes[:, column, column]
    return boxes


@st.composite
def boxed_snapshots(draw: st.DrawFn, *, max_sites: int = 7) -> tuple[Floats, Floats]:
    """Snapshots in up to 3 dimensions and boxes of either kind; sites may lie outside of them."""
    up_to_three = st.integers(1, 3)
    array = 3 * draw(snapshots(n_dimensions=up_to_three, max_snapshots=4, max_sites=max_sites))
    kind = draw(st.sampled_from([straight_boxes, tilted_boxes]))
    return array, draw(kind(len(array), array.shape[2]))


@st.composite
def pair_lists(draw: st.DrawFn, *, max_sites: int = 12) -> PairList:
    """Pairs with many ties: σ are small whole numbers, 0 among them; forests are common."""
    n_sites = draw(st.integers(1, max_sites))
    sites = st.integers(0, n_sites - 1)
    pair = st.tuples(sites, sites, st.integers(0, 5)).filter(lambda p: p[0] != p[1])
    listed = draw(st.lists(pair, max_size=3 * n_sites)) if n_sites > 1 else []
    array = np.array(listed, dtype=np.int64).reshape(-1, 3)
    return PairList(n_sites, array[:, :2], array[:, 2].astype(np.float64))


@st.composite
def sigma_matrices(draw: st.DrawFn, *, max_sites: int = 10) -> Floats:
    """Symmetric matrices with a diagonal of 0, with many ties or without."""
    n_sites = draw(st.integers(2, max_sites))
    rng = np.random.default_rng(draw(seeds))
    ties = rng.integers(0, 6, (n_sites, n_sites)).astype(np.float64)
    values = ties if draw(st.booleans()) else rng.random((n_sites, n_sites))
    upper = np.triu(values, 1)
    return upper + upper.T


@st.composite
def bond_graphs(draw: st.DrawFn, *, max_sites: int = 10) -> tuple[int, list[tuple[int, int]]]:
    """Number of sites and the bonds between them, each once."""
    n_sites = draw(st.integers(2, max_sites))
    sites = st.integers(0, n_sites - 1)
    bond = st.tuples(sites, sites).filter(lambda b: b[0] < b[1])
    return n_sites, draw(st.lists(bond, min_size=1, max_size=2 * n_sites, unique=True))
