"""What a user would write today with other libraries.

Each takes coordinates (snapshots, sites, 3) in memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from MDAnalysis.lib.distances import self_capped_distance, self_distance_array
from scipy import sparse
from scipy.cluster.hierarchy import linkage

from benchmarks.systems import Snapshots

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def single_linkage(snapshots: Snapshots) -> Floats:
    """Single linkage of σ of all pairs: MDAnalysis' distances, running sums, SciPy's linkage."""
    linked: Floats = linkage(np.sqrt(variance(snapshots)), "single")
    return linked


def variance(snapshots: Snapshots) -> Floats:
    """σ² of all pairs, condensed, from sums of distances and of their squares."""
    n_sites = snapshots.shape[1]
    distances = np.empty(n_sites * (n_sites - 1) // 2)
    total, squares = np.zeros_like(distances), np.zeros_like(distances)
    for points in snapshots:
        self_distance_array(points, result=distances, backend="OpenMP")
        total += distances
        squares += distances * distances
    count = len(snapshots)
    return np.maximum(squares / count - (total / count) ** 2, 0.0)


def contacts(snapshots: Iterable[Snapshots], radius: float) -> set[tuple[int, int]]:
    """Pairs within a radius in any frame: MDAnalysis' search in each frame, and a set of pairs."""
    found = set[tuple[int, int]]()
    for points in snapshots:
        pairs = self_capped_distance(points, radius, return_distances=False)
        found.update(map(tuple, np.sort(pairs, axis=1).tolist()))
    return found


def bodies(
    snapshots: Snapshots, membership: Any, radius: float, left_out: set[tuple[int, int]]
) -> tuple[Ints, Floats]:
    """Bodies in contact: contacts and σ of all atoms by MDAnalysis, then M S Mᵀ and a tree."""
    found = np.array(sorted(contacts(snapshots, radius) - left_out))
    n_sites = snapshots.shape[1]
    square = np.zeros((n_sites, n_sites))
    square[np.triu_indices(n_sites, 1)] = variance(snapshots)
    both = membership @ (membership @ (square + square.T)).T
    sigma = np.sqrt(both[found[:, 0], found[:, 1]])
    sparse.csgraph.minimum_spanning_tree(sparse.coo_array((sigma, found.T), shape=square.shape))
    return found, sigma
