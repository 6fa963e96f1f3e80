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
        found.update(map(tuple, pairs.tolist()))
    return found


def _linked(frames: Iterable[Floats]) -> Floats:
    """Link σ from the sums of distances and of their squares."""
    n_frames, total, squares = 0, np.zeros(1), np.zeros(1)
    for distances in frames:
        if n_frames == 0:
            total, squares = np.zeros_like(distances), np.zeros_like(distances)
        n_frames += 1
        total += distances
        squares += distances * distances
    variance = squares / n_frames - (total / n_frames) ** 2
    linked: Floats = linkage(np.sqrt(np.maximum(variance, 0.0)), "single")
    return linked


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
