"""Pairs in contact: MDAnalysis, the reference, and a million particles."""

from __future__ import annotations

from functools import partial

import numpy as np

import timme as reference
import timme_next as timme
from benchmarks import peers
from benchmarks.rows import Row, against, race, require, seconds
from benchmarks.systems import adenylate_kinase, as_points, listed, solid

RADIUS = 10.0  # Å
DENSITY = 0.0334  # of water, in molecules per Å³
NEIGHBOURS = 3.5  # Å


def protein(*, quick: bool) -> list[Row]:
    """Contacts of adenylate kinase within 10 Å in any of its snapshots."""
    snapshots = adenylate_kinase()[0][:: 10 if quick else 1]
    ours, theirs = as_points(timme, snapshots), as_points(reference, snapshots)
    found = listed(timme.pairs.within(ours, RADIUS))
    require(np.array_equal(found, listed(reference.pairs.within(theirs, RADIUS))), "contacts")
    named = set[tuple[int, int]]()
    median = race(
        {
            "ours": lambda: timme.pairs.within(ours, RADIUS),
            "reference": lambda: reference.pairs.within(theirs, RADIUS),
        },
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
        against(name, median, "reference", "≤ 1.6", slower=True),
        Row(name, seconds(median["ours"]), "0.15 s", median["ours"], "≤ 0.15"),
    ]


def particles(*, quick: bool) -> list[Row]:
    """Contacts of particles at the density of water, beside the reference."""
    rows = []
    for size in (10_000,) if quick else (100_000, 300_000):
        snapshots = solid(size, 20, density=DENSITY)
        ours, theirs = as_points(timme, snapshots), as_points(reference, snapshots)
        median = race(
            {
                "ours": partial(timme.pairs.within, ours, NEIGHBOURS),
                "reference": partial(reference.pairs.within, theirs, NEIGHBOURS),
            }
        )
        rows.append(against(f"contacts, {size:,} × 20", median, "reference", "≤ 1.6", slower=True))
    return rows
