"""σ of pairs: the kernel, all pairs end to end, bodies in contact."""

from __future__ import annotations

from functools import partial
from itertools import islice

import numpy as np
from scipy import sparse

import timme
from benchmarks import peers
from benchmarks.limit import run_limit
from benchmarks.rows import Row, against, race, require, seconds
from benchmarks.systems import adenylate_kinase, as_points, listed, solid
from timme._arrays import Ints
from timme.engine.moments import LaidOut
from timme.engine.workers import Threads
from timme.ensemble.atoms import Atoms

TILE = 32_768  # pairs that a worker takes at a time


def kernel(*, quick: bool) -> list[Row]:
    """Moments of a random run of pairs of one block, beside the in-cache limit."""
    rows = []
    for whole, n_frames, wanted in ((3_341, 98, "≥ 0.5"), (10_000, 256, "≥ 0.65")):
        n_sites = whole // 4 if quick else whole
        points = as_points(timme, solid(n_sites, n_frames))
        every = timme.pairs.all(points)
        size = 500_000 if quick else 4_000_000
        place = np.random.default_rng(0).integers(max(1, len(every) // size))
        pairs = next(islice(every.chunks(size), int(place), None))
        laid_out = LaidOut(points.ensemble.block(0))  # once for all pairs, no part of the loop
        median = race({"limit": run_limit, "ours": partial(_measure, laid_out, pairs)}, 9)
        label = f"pair kernel, {n_sites:,} × {n_frames}"
        rows.append(_row(label, len(pairs), median, n_frames, wanted))
    return rows


def _measure(laid_out: LaidOut, pairs: Ints) -> None:
    """Sum the distances of pairs in threads, tile by tile."""
    tiles = [pairs[k : k + TILE] for k in range(0, len(pairs), TILE)]
    for _ in Threads().map(LaidOut.measure, laid_out, tiles):
        pass


def all_pairs(*, quick: bool) -> list[Row]:
    """``measure`` of all pairs end to end, beside the limit."""
    rows = []
    kinase = adenylate_kinase()[0][:, :: 4 if quick else 1]
    systems = {
        "adenylate kinase": (kinase, "≥ 0.4"),
        "solid": (solid(2_000 if quick else 10_000, 256), "≥ 0.5"),
    }
    for name, (snapshots, wanted) in systems.items():
        ours = as_points(timme, snapshots)
        every = timme.pairs.all(ours)
        median = race(
            {"limit": run_limit, "ours": partial(timme.measure, ours, every)}, repetitions=5
        )
        label = f"σ of all pairs, {name}, {len(ours):,} × {len(snapshots)}"
        rows.append(_row(label, len(every), median, len(snapshots), wanted))
    return rows


def recipe(*, quick: bool) -> list[Row]:
    """All pairs of adenylate kinase clustered, beside MDAnalysis and SciPy."""
    snapshots, _ = adenylate_kinase()
    snapshots = snapshots[:, :: 4 if quick else 1]
    points = as_points(timme, snapshots)
    every = timme.pairs.all(points)
    found, brute = timme.cluster(points, every), timme.link(timme.measure(points, every))
    require(np.array_equal(found.heights, brute.heights), "pruned and brute force trees")
    theirs = peers.single_linkage(snapshots)
    require(np.allclose(found.to_linkage()[:, 2], theirs[:, 2], atol=1e-5), "heights of the recipe")
    median = race(
        {
            "ours": lambda: timme.cluster(points, every),
            "MDAnalysis and SciPy": lambda: peers.single_linkage(snapshots),
        }
    )
    name = f"all pairs clustered, adenylate kinase, {len(points):,} × {len(snapshots)}"
    return [against(name, median, "MDAnalysis and SciPy", "" if quick else "≥ 50")]


def bodies(*, quick: bool) -> list[Row]:
    """Contacts, σ and tree of bodies, beside what a user would write with numpy."""
    snapshots, bonds = adenylate_kinase()
    if quick:
        snapshots = snapshots[::10]
    atoms = Atoms.unnamed(snapshots.shape[1], bonds=bonds)
    made = timme.objects.bodies(timme.Ensemble.from_array(snapshots, atoms=atoms))

    def ours() -> timme.Fluctuations:
        sigma = timme.measure(made, timme.pairs.within(made, 10.0, min_bonds=4))
        timme.link(sigma)
        return sigma

    near, kept = (
        {*map(tuple, listed(timme.pairs.within(made, 10.0, min_bonds=apart)).tolist())}
        for apart in (1, 4)
    )
    sizes = np.diff(made.offsets)
    membership = sparse.csr_array(
        (np.repeat(1.0 / sizes, sizes), made.members, made.offsets), shape=(len(made), len(made))
    )
    theirs = list[tuple[peers.Ints, peers.Floats]]()
    median = race({"ours": ours}, repetitions=5) | race(
        {
            "MDAnalysis and NumPy": lambda: theirs.append(
                peers.bodies(snapshots, membership, 10.0, near - kept)
            )
        },
        repetitions=1,
        warm_up=False,
    )
    found, ((pairs, sigma),) = ours(), theirs
    order = np.lexsort((found.pairs[:, 1], found.pairs[:, 0]))
    require(np.array_equal(found.pairs[order], pairs), "pairs of bodies")
    require(np.allclose(found.sigma[order], sigma, rtol=1e-4, atol=1e-5), "σ of bodies")
    name = f"bodies in contact, adenylate kinase, {len(made):,} × {len(snapshots)}"
    return [
        against(name, median, "MDAnalysis and NumPy", "" if quick else "≥ 150"),
        Row(name, seconds(median["ours"]), "0.5 s", median["ours"], "≤ 0.5"),
    ]


def _row(name: str, n_pairs: int, median: dict[str, float], n_frames: int, wanted: str) -> Row:
    """Distances per second beside the limit."""
    ours = n_pairs * n_frames / median["ours"] / 1e9
    limit = run_limit() / median["limit"] / 1e9
    peer = f"in-cache limit: {limit:.2f} G/s"
    return Row(name, f"{ours:.2f} G/s", peer, ours / limit, wanted)
