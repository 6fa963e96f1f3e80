"""Pairs in contact, beside MDAnalysis and SciPy."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.spatial import cKDTree

import timme
from benchmarks import peers
from benchmarks.rows import Row, against, race, require, seconds
from benchmarks.systems import Snapshots, adenylate_kinase, as_points, listed, solid

RADIUS = 10.0  # Å
DENSITY = 0.0334  # of water, in molecules per Å³
NEIGHBOURS = 3.5  # Å


def protein(*, quick: bool) -> list[Row]:
    """Contacts of adenylate kinase within 10 Å in any of its snapshots."""
    snapshots = adenylate_kinase()[0][:: 10 if quick else 1]
    ours = as_points(timme, snapshots)
    found = listed(timme.pairs.within(ours, RADIUS))
    named = set[tuple[int, int]]()
    median = race(
        {"ours": lambda: timme.pairs.within(ours, RADIUS)},
        repetitions=9,
    ) | race(
        {"MDAnalysis and a set": lambda: named.update(peers.contacts(snapshots, RADIUS))},
        repetitions=1,
        warm_up=False,
    )
    require({*map(tuple, found.tolist())} == named, "contacts of MDAnalysis")
    name = f"{len(found):,} contacts, adenylate kinase, {len(ours):,} × {len(snapshots)}"
    return [
        against(name, median, "MDAnalysis and a set", "" if quick else "≥ 1000"),
        Row(name, seconds(median["ours"]), "0.15 s", median["ours"], "≤ 0.15"),
    ]


def particles(*, quick: bool) -> list[Row]:
    """Contacts of particles at the density of water, beside trees of SciPy."""
    rows = []
    for size in (10_000,) if quick else (100_000, 300_000):
        snapshots = solid(size, 20, density=DENSITY)
        ours = as_points(timme, snapshots)
        median = race(
            {
                "ours": partial(timme.pairs.within, ours, NEIGHBOURS),
                "SciPy": partial(_with_trees, snapshots),
            }
        )
        rows.append(against(f"contacts, {size:,} × 20", median, "SciPy"))
    return rows


def _with_trees(snapshots: Snapshots) -> peers.Ints:
    """Pairs in contact in any snapshot, by a tree for each."""
    found = [cKDTree(x).query_pairs(NEIGHBOURS, output_type="ndarray") for x in snapshots]
    return np.unique(np.concatenate(found), axis=0)
