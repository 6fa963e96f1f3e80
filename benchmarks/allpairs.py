"""All pairs of a real protein, beside what a user would write and beside our own brute force."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import cophenet, linkage

import timme
from benchmarks import peers
from benchmarks.results import Results, Row, seconds
from benchmarks.timing import race


def run(*, quick: bool) -> Results:
    """Cluster adenylate kinase; check that all agree at every level."""
    snapshots = adenylate_kinase()
    if quick:
        snapshots = np.ascontiguousarray(snapshots[::2, ::3])
    points = timme.objects.points(timme.Ensemble.from_array(snapshots))
    pairs = timme.pairs.all(points)
    system = f"adenylate kinase, {len(points)} × {len(snapshots)}"
    _check(points, pairs, snapshots)
    median = race(
        {
            "MDAnalysis + SciPy": lambda: peers.with_mdanalysis(snapshots),
            "ours": lambda: timme.cluster(points, pairs),
            "our brute force": lambda: timme.link(timme.measure(points, pairs)),
        },
        repetitions=5,
    )
    median |= race(
        {"mdtraj": peers.with_mdtraj(snapshots), "pdist": lambda: peers.with_pdist(snapshots)},
        repetitions=1 if quick else 2,
        warm_up=False,
    )
    wanted = {"MDAnalysis + SciPy": 40.0, "our brute force": 2.0}
    names = {"mdtraj": "mdtraj + NumPy + SciPy", "pdist": "SciPy's pdist and linkage"}
    rows = [
        Row(
            f"all pairs, {system}",
            seconds(median["ours"]),
            f"{names.get(peer, peer)} {seconds(median[peer])}",
            median[peer] / median["ours"],
            at_least=None if quick else wanted.get(peer),
        )
        for peer in median
        if peer != "ours"
    ]
    return Results([*rows, *_link_rows(points, pairs, system)])


def adenylate_kinase() -> peers.Snapshots:
    """Return the coordinates of MDAnalysisTests' DIMS transition."""
    import MDAnalysis as mda
    from MDAnalysisTests.datafiles import DCD, PSF

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        universe = mda.Universe(PSF, DCD)
        return np.ascontiguousarray(universe.trajectory.timeseries(order="fac"), np.float32)


def _check(
    points: timme.objects.Objects, pairs: timme.pairs.Pairs, snapshots: peers.Snapshots
) -> None:
    """Stop unless ours equals brute force to the last bit, and the recipe to its rounding."""
    ours = timme.cluster(points, pairs)
    brute = timme.link(timme.measure(points, pairs))
    if not (
        np.array_equal(ours.heights, brute.heights) and np.array_equal(ours.parents, brute.parents)
    ):
        raise AssertionError("pruned and brute force hierarchies differ")
    # The height at which every two sites join says all about the partitions at every level.
    difference = cophenet(ours.to_linkage()) - cophenet(peers.with_mdanalysis(snapshots))
    if np.abs(difference).max() > 1e-6:
        raise AssertionError(f"the recipe's hierarchy differs by {np.abs(difference).max():.2g}")


def _link_rows(points: timme.objects.Objects, pairs: timme.pairs.Pairs, system: str) -> list[Row]:
    """Compare the linkage step alone, on σ that are measured already."""
    measured = timme.measure(points, pairs)
    matrix = measured.matrix()
    graph = sparse.csr_array((measured.sigma, measured.pairs.T), shape=matrix.shape)
    median = race(
        {
            "ours": lambda: timme.link(measured),
            "SciPy": lambda: linkage(measured.sigma, "single"),
            "scikit-learn's HDBSCAN": lambda: peers.link_with_scikit_learn(matrix),
            "fast_hdbscan": lambda: peers.link_with_fast_hdbscan(graph),
        },
        repetitions=2,
    )
    return [
        Row(
            f"single linkage of ready-made σ, {system}",
            seconds(median["ours"]),
            f"{peer} {seconds(median[peer])}",
            median[peer] / median["ours"],
        )
        for peer in median
        if peer != "ours"
    ]
