"""A cluster that hangs on one site or pair is named, and no other."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from timme.confidence.bridges import find_bridge


def smaller_part(n: int, pairs: list[tuple[int, int]], lost: set[int]) -> int:
    """Sites of the second largest cluster, those that are lost aside."""
    found = naive.clusters(n, pairs, [1.0] * len(pairs), 1.0)
    sizes = sorted((len(part) for part in found if not part <= lost), reverse=True)
    return sizes[1] if len(sizes) > 1 else 0


@given(st.integers(0, 2**31), st.floats(0.15, 0.5), st.integers(1, 3))
def test_a_bridge_leaves_two_parts_as_large_as_any_loss_does(
    seed: int, share: float, min_size: int
) -> None:
    rng = np.random.default_rng(seed)
    every = [pair for pair in combinations(range(9), 2) if rng.random() < share]
    clusters = naive.clusters(9, every, [1.0] * len(every), 1.0)
    cluster = sorted(clusters[int(np.argmax([len(part) for part in clusters]))])
    inside = [pair for pair in every if set(pair) <= set(cluster)]
    if len(cluster) < 3:
        return
    place = {site: k for k, site in enumerate(cluster)}
    own = [(place[a], place[b]) for a, b in inside]
    n = len(cluster)
    by_pair = max(smaller_part(n, [p for p in own if p != pair], set()) for pair in own)
    by_site = max(smaller_part(n, [p for p in own if site not in p], {site}) for site in range(n))
    found = find_bridge(
        cluster, np.array(every), np.ones(len(every)), cutoff=1.0, min_size=min_size
    )
    if max(by_pair, by_site) < min_size:
        assert found is None
    else:
        assert found is not None
        assert found.sizes[1] == max(by_pair, by_site)
        assert len(found.sites) == (2 if by_pair >= by_site else 1)


def test_pairs_above_the_cutoff_hold_nothing() -> None:
    ring = np.array([(k, (k + 1) % 8) for k in range(8)])
    heights = np.ones(8)
    assert find_bridge(range(8), ring, heights, cutoff=1.0, min_size=2) is None
    heights[7] = 2.0
    found = find_bridge(range(8), ring, heights, cutoff=1.5, min_size=4)
    assert found is not None
    assert found.sites == (3, 4)
    assert found.words == "hangs on one pair: without it, parts of 4 and 4"


def test_rings_that_share_a_site_hang_on_it() -> None:
    """No pair holds them alone, and the walk that finds out begins beside that site."""
    rings = [
        *((k, (k + 1) % 12) for k in range(12)),
        *((11 + k, 11 + (k + 1) % 12) for k in range(12)),
    ]
    found = find_bridge(range(23), np.array(rings), np.ones(24), cutoff=1.0, min_size=10)
    assert found is not None
    assert found.sites == (11,)
    assert found.sizes == (11, 11)
