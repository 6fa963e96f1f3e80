"""Partitions to compare, and the slow, obvious reference of how far they agree."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import strategies as st

from tests.output.builders import Graph, graphs

Labels = list[int]


@st.composite
def partitions(draw: st.DrawFn, count: int, max_sites: int = 12) -> list[Labels]:
    """Some partitions of the same sites, of any number of clusters."""
    n_sites = draw(st.integers(1, max_sites))
    labels = st.lists(st.integers(0, draw(st.integers(0, n_sites))), min_size=n_sites)
    return [draw(labels.map(lambda x: x[:n_sites])) for _ in range(count)]


@st.composite
def two_graphs(draw: st.DrawFn, max_sites: int = 9) -> tuple[Graph, Graph]:
    """Two graphs of the same sites."""
    one, other = draw(graphs(max_sites)), draw(graphs(max_sites))
    n_sites = min(one[0], other[0])
    return shortened(one, n_sites), shortened(other, n_sites)


def shortened(graph: Graph, n_sites: int) -> Graph:
    kept = [k for k, pair in enumerate(graph[1]) if max(pair) < n_sites]
    return n_sites, [graph[1][k] for k in kept], [graph[2][k] for k in kept]


# Written out as loops over pairs of sites and over clusters.


def naive_rand(first: Sequence[int], second: Sequence[int]) -> float:
    both = one = other = total = 0
    for i, j in itertools.combinations(range(len(first)), 2):
        in_one, in_other = first[i] == first[j], second[i] == second[j]
        both += in_one and in_other
        one += in_one
        other += in_other
        total += 1
    if one == other == 0 or one == other == total:
        return 1.0
    chance = one * other / total
    return (both - chance) / ((one + other) / 2 - chance)


def entropy(labels: Sequence[Any]) -> float:
    shares = [count / len(labels) for count in Counter(labels).values()]
    return -math.fsum(share * math.log(share) for share in shares)


def naive_variation(first: Sequence[int], second: Sequence[int]) -> float:
    joint = entropy(list(zip(first, second, strict=True)))
    return (joint - entropy(first)) + (joint - entropy(second))


def clusters_of(labels: Sequence[int]) -> list[set[int]]:
    """Clusters from the largest, ties: the lowest site first."""
    found: dict[int, set[int]] = {}
    for site, label in enumerate(labels):
        found.setdefault(label, set()).add(site)
    return sorted(found.values(), key=lambda sites: (-len(sites), min(sites)))


def close(value: float) -> Any:
    return pytest.approx(value, abs=1e-12)
