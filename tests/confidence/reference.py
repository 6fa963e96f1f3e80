"""Slow, obvious references of what is said about confidence; nothing is shared with the package."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from tests import naive
from tests.naive import Floats, Pairs, Vector


def every_cluster(n: int, pairs: Pairs, sigmas: Vector) -> set[frozenset[int]]:
    """All clusters of the hierarchy, at any cutoff, single sites included."""
    found = {frozenset([i]) for i in range(n)}
    for cutoff in {float(s) for s in sigmas if np.isfinite(s)}:
        found |= set(naive.clusters(n, pairs, sigmas, cutoff))
    return found


def overlap(cluster: frozenset[int], clusters: set[frozenset[int]]) -> float:
    """Best Jaccard overlap of a cluster with any of some."""
    return max(len(cluster & other) / len(cluster | other) for other in clusters)


def silhouette(matrix: Floats, labels: list[int], min_size: int) -> float:
    """Mean over all sites of (b − a) / max(a, b); sites of small clusters count 0."""
    members = {label: [i for i, own in enumerate(labels) if own == label] for label in labels}
    large = {label: sites for label, sites in members.items() if len(sites) >= min_size}
    total = 0.0
    for i, own in enumerate(labels):
        if own not in large or len(large) < 2:
            continue
        a = np.mean([matrix[i, j] for j in large[own] if j != i])
        b = min(np.mean(matrix[i, sites]) for label, sites in large.items() if label != own)
        if max(a, b) > 0:
            total += (b - a) / max(a, b)
    return total / len(labels)


def site_motions(n: int, pairs: Pairs, squares: Vector) -> Floats:
    """s² of sites, none below 0, of which σ² ≈ s_a² + s_b² is best explained."""
    design = np.zeros((len(pairs), n))
    for row, (a, b) in enumerate(pairs):
        design[row, a] += 1.0
        design[row, b] += 1.0
    return np.asarray(nnls(design, np.asarray(squares))[0])
