"""All pairs of a real protein, beside what a user would write and beside our own brute force."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import cophenet, linkage

import timme
from benchmarks import peers
from benchmarks.limit import run_limit
from benchmarks.results import Results, Row, seconds
from benchmarks.timing import race
from timme._arrays import Floats, Ints
from timme.system.atoms import Atoms


def run(*, quick: bool) -> Results:
    """Cluster adenylate kinase; check that all agree at every level."""
    points, pairs, system = _points(quick=quick)
    snapshots, _ = points.ensemble.frames.read(0, points.ensemble.n_snapshots)
    _check(points, pairs, snapshots)
    median = race(
        {
            "MDAnalysis + SciPy": lambda: peers.with_mdanalysis(snapshots),
            "ours": lambda: timme.cluster(points, pairs),
            "our brute force": lambda: timme.link(timme.measure(points, pairs)),
        },
        repetitions=3,
    )
    median |= race(
        {"mdtraj": peers.with_mdtraj(snapshots), "pdist": lambda: peers.with_pdist(snapshots)},
        repetitions=1,
        warm_up=False,
    )
    wanted = {"MDAnalysis + SciPy": 100.0, "our brute force": 2.0}
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
    return Results(rows)


def run_dense(*, quick: bool) -> Results:
    """Measure σ of all pairs from start to end."""
    return Results(_dense_rows(*_points(quick=quick), quick=quick))


def run_uncorrelated(*, quick: bool) -> Results:
    """Cluster what has nothing to be given up."""
    return Results(_walker_rows(quick=quick))


def run_bodies(*, quick: bool) -> Results:
    """Measure and cluster bodies."""
    points, _, system = _points(quick=quick)
    snapshots, _ = points.ensemble.frames.read(0, points.ensemble.n_snapshots)
    return Results(_body_rows(snapshots, system, quick=quick))


def run_linking(*, quick: bool) -> Results:
    """Link ready-made σ."""
    return Results(_link_rows(*_points(quick=quick), quick=quick))


def _points(*, quick: bool) -> tuple[timme.objects.Objects, timme.pairs.Pairs, str]:
    """Adenylate kinase as points, all of its pairs, and what it is called."""
    snapshots = adenylate_kinase()
    if quick:
        snapshots = np.ascontiguousarray(snapshots[::2, ::3])
    points = timme.objects.points(timme.Ensemble.from_array(snapshots))
    system = f"adenylate kinase, {len(points)} × {len(snapshots)}"
    return points, timme.pairs.all(points), system


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


def _dense_rows(
    points: timme.objects.Objects, pairs: timme.pairs.Pairs, system: str, *, quick: bool
) -> list[Row]:
    """Measure σ of all pairs from start to end, beside the limit in the same precision."""
    large = timme.objects.points(timme.synthetic.elastic(1_000 if quick else 10_000, 256))
    systems = {system: (points, pairs), f"{len(large):,} × 256": (large, timme.pairs.all(large))}
    rows = []
    for name, (compared, every) in systems.items():
        ensemble = compared.ensemble
        kind = np.float32 if ensemble.block(0).single else np.float64
        by_sums = timme.measure(compared, every, chunk=len(every))
        if not np.array_equal(by_sums.sigma, timme.measure(compared, every).sigma):
            raise AssertionError("σ at once and σ by sums differ")
        del by_sums
        median = race(
            {
                "limit": partial(run_limit, kind),
                "ours": partial(timme.measure, compared, every),
            },
            repetitions=3,
        )
        ours = len(every) * ensemble.n_snapshots / median["ours"]
        limit = run_limit(kind) / median["limit"]
        rows.append(
            Row(
                f"σ of all pairs, {name}, {np.dtype(kind).name}",
                f"{ours / 1e9:.2f} G distances/s",
                f"in-cache limit {limit / 1e9:.2f} G/s",
                ours / limit,
                at_least=None if quick else 0.5,
            )
        )
    return rows


def _walker_rows(*, quick: bool) -> list[Row]:
    """Cluster what has nothing to be given up: little may be lost."""
    n_sites = 1_000 if quick else 5_000
    snapshots = np.random.default_rng(0).normal(size=(200, n_sites, 3)).astype(np.float32)
    points = timme.objects.points(timme.Ensemble.from_array(snapshots))
    pairs = timme.pairs.all(points)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        median = race(
            {
                "ours": lambda: timme.cluster(points, pairs),
                "brute": lambda: timme.link(timme.measure(points, pairs)),
            },
            repetitions=3,
        )
    return [
        Row(
            f"all pairs, uncorrelated, {n_sites:,} × 200",
            seconds(median["ours"]),
            f"our brute force {seconds(median['brute'])}",
            median["ours"] / median["brute"],
            at_most=None if quick else 1.1,
        )
    ]


def _body_rows(snapshots: peers.Snapshots, system: str, *, quick: bool) -> list[Row]:
    """Measure bodies in contact, beside points in contact; and cluster all pairs of bodies."""
    import MDAnalysis as mda
    from MDAnalysisTests.datafiles import PSF

    bonds = [] if quick else mda.Universe(PSF).bonds.indices
    atoms = Atoms.unnamed(snapshots.shape[1], bonds=bonds)
    bodies = timme.objects.bodies(timme.Ensemble.from_array(snapshots, atoms=atoms))
    near = timme.pairs.within(bodies, 10.0, min_bonds=4)
    every = timme.pairs.all(bodies, min_bonds=4)
    points = timme.objects.points(bodies.ensemble)
    ours, brute = timme.cluster(bodies, every), timme.link(timme.measure(bodies, every))
    if not np.array_equal(ours.heights, brute.heights):
        raise AssertionError("pruned and brute force hierarchies of bodies differ")
    median = race(
        {
            "bodies": lambda: timme.measure(bodies, near),
            "points": lambda: timme.measure(points, near),
            "all": lambda: timme.cluster(bodies, every),
            "brute": lambda: timme.link(timme.measure(bodies, every)),
        },
        repetitions=3,
    )
    return [
        *([] if quick else [_recipe_row(bodies, snapshots, system)]),
        Row(
            f"σ of {len(near):,} pairs of bodies in contact, {system}",
            seconds(median["bodies"]),
            f"σ of as many pairs of points {seconds(median['points'])}",
            median["bodies"] / median["points"],
        ),
        Row(
            f"all pairs of bodies, {system}",
            seconds(median["all"]),
            f"our brute force {seconds(median['brute'])}",
            median["brute"] / median["all"],
            at_least=None if quick else 2.0,
        ),
    ]


def _listed(pairs: timme.pairs.Pairs) -> set[tuple[int, int]]:
    return {(int(i), int(j)) for piece in pairs.chunks(len(pairs)) for i, j in piece}


def _recipe_row(bodies: timme.objects.Objects, snapshots: peers.Snapshots, system: str) -> Row:
    """Contacts, σ and hierarchy of bodies, as a run makes them, beside what a user would write."""
    sizes = np.diff(bodies.offsets)
    weights = np.repeat(1.0 / sizes, sizes)
    membership = sparse.csr_array(
        (weights, bodies.members, bodies.offsets), shape=(len(bodies), len(bodies))
    )
    near, every = timme.pairs.within(bodies, 10.0), timme.pairs.within(bodies, 10.0, min_bonds=4)
    listed, kept = (_listed(pairs) for pairs in (near, every))
    theirs = partial(peers.bodies_with_mdanalysis, snapshots, membership, 10.0, listed - kept)

    def ours() -> timme.Fluctuations:
        pairs = timme.pairs.within(bodies, 10.0, min_bonds=4)
        sigma = timme.measure(bodies, pairs)
        timme.link(sigma)
        return sigma

    made = list[tuple[Ints, Floats]]()  # it takes minutes: one call is timed and compared
    median = race({"ours": ours}, repetitions=5) | race(
        {"theirs": lambda: made.append(theirs())}, repetitions=1, warm_up=False
    )
    found, ((pairs, sigma),) = ours(), made
    if not np.array_equal(found.pairs, pairs) or not np.allclose(found.sigma, sigma, 1e-5, 1e-6):
        raise AssertionError("the recipe's bodies differ")
    return Row(
        f"bodies in contact: search, σ and linkage, {system}",
        seconds(median["ours"]),
        f"MDAnalysis, NumPy and SciPy {seconds(median['theirs'])}",
        median["theirs"] / median["ours"],
        at_least=150.0,
    )


def _link_rows(
    points: timme.objects.Objects, pairs: timme.pairs.Pairs, system: str, *, quick: bool
) -> list[Row]:
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
            at_least=4.0 if peer == "SciPy" and not quick else None,
        )
        for peer in median
        if peer != "ours"
    ]
