"""What a user would write today with other libraries: single linkage of σ over all pairs.

Each takes coordinates (snapshots, sites, 3) in memory and returns a linkage matrix of SciPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist

Snapshots = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]


def with_mdanalysis(snapshots: Snapshots) -> Floats:
    """MDAnalysis' distances of every frame in all cores, running sums, SciPy's linkage."""
    from MDAnalysis.lib.distances import self_distance_array

    distances = np.empty(_n_pairs(snapshots))

    def measured(points: Snapshots) -> Floats:
        self_distance_array(points, result=distances, backend="OpenMP")
        return distances

    return _linked(measured(points) for points in snapshots)


def with_mdtraj(snapshots: Snapshots) -> Callable[[], Floats]:
    """Distances of every frame by mdtraj, running sums, SciPy's linkage."""
    import mdtraj

    topology = mdtraj.Topology()
    residue = topology.add_residue("UNK", topology.add_chain())
    for _ in range(snapshots.shape[1]):
        topology.add_atom("C", mdtraj.element.carbon, residue)
    trajectory: Any = mdtraj.Trajectory(snapshots, topology)

    def run() -> Floats:
        pairs = np.column_stack(np.triu_indices(snapshots.shape[1], 1))
        return _linked(
            mdtraj.compute_distances(frame, pairs, periodic=False)[0].astype(np.float64)
            for frame in trajectory
        )

    return run


def with_pdist(snapshots: Snapshots) -> Floats:
    """SciPy alone: pdist of every frame, running sums, linkage."""
    return _linked(pdist(points) for points in snapshots)


def contacts_with_mdanalysis(snapshots: Snapshots, radius: float) -> set[tuple[int, int]]:
    """Pairs within a radius in any frame: MDAnalysis' search in each, and a set of pairs."""
    from MDAnalysis.lib.distances import self_capped_distance

    found = set[tuple[int, int]]()
    for points in snapshots:
        pairs = self_capped_distance(points, radius, return_distances=False)
        found.update(map(tuple, np.sort(pairs, axis=1).tolist()))  # either may come first
    return found


def bodies_with_mdanalysis(
    snapshots: Snapshots, membership: Any, radius: float, left_out: set[tuple[int, int]]
) -> tuple[npt.NDArray[np.int64], Floats]:
    """Bodies around atoms that meet: contacts and σ of all atoms by MDAnalysis, then M S Mᵀ.

    ``membership`` is the sparse matrix M, whose rows add up to 1.
    """
    from MDAnalysis.lib.distances import self_distance_array
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    found = np.array(sorted(contacts_with_mdanalysis(snapshots, radius) - left_out))
    n_sites = snapshots.shape[1]
    distances = np.empty(_n_pairs(snapshots))

    def measured(points: Snapshots) -> Floats:
        self_distance_array(points, result=distances, backend="OpenMP")
        return distances

    variance = np.zeros((n_sites, n_sites))
    variance[np.triu_indices(n_sites, 1)] = _variance(measured(points) for points in snapshots)
    both = membership @ (membership @ (variance + variance.T)).T
    sigma = np.sqrt(both[found[:, 0], found[:, 1]])
    minimum_spanning_tree(coo_array((sigma, found.T), shape=variance.shape))
    return found, sigma


def _linked(frames: Iterable[Floats]) -> Floats:
    """Link σ from the sums of distances and of their squares."""
    linked: Floats = linkage(np.sqrt(_variance(frames)), "single")
    return linked


def _variance(frames: Iterable[Floats]) -> Floats:
    n_frames, total, squares = 0, np.zeros(1), np.zeros(1)
    for distances in frames:
        if n_frames == 0:
            total, squares = np.zeros_like(distances), np.zeros_like(distances)
        n_frames += 1
        total += distances
        squares += distances * distances
    return np.maximum(squares / n_frames - (total / n_frames) ** 2, 0.0)


def _n_pairs(snapshots: Snapshots) -> int:
    n_sites = int(snapshots.shape[1])
    return n_sites * (n_sites - 1) // 2


# ---- linking a ready-made matrix of σ ----------------------------------------------------------


def link_with_scikit_learn(matrix: Floats) -> Floats:
    """Heights of the tree of HDBSCAN with one sample, which is single linkage."""
    from sklearn.cluster import HDBSCAN

    model = HDBSCAN(min_samples=1, min_cluster_size=2, metric="precomputed", copy=True)
    heights: Floats = model.fit(matrix)._single_linkage_tree_["value"]
    return heights


def link_with_fast_hdbscan(graph: Any) -> Floats:
    """The same of fast_hdbscan, which takes a sparse graph."""
    from fast_hdbscan import HDBSCAN

    model = HDBSCAN(min_samples=1, min_cluster_size=2, metric="precomputed")
    return np.asarray(model.fit(graph)._single_linkage_tree)[:, 2]  # noqa: SLF001
