"""Pairs in contact: beside MDAnalysis, beside σ, and the time per particle must not grow."""

from __future__ import annotations

from functools import partial

import numpy as np

import timme
from benchmarks import peers
from benchmarks.allpairs import adenylate_kinase
from benchmarks.results import Results, Row, seconds
from benchmarks.timing import race

_PROTEIN_RADIUS = 10.0  # Å
_FRAMES, _DENSITY, _RADIUS = 20, 0.0334, 3.5  # those of water, in Å


def run(*, quick: bool) -> Results:
    """Search contacts, and search, measure and link them, among more and more particles."""
    return Results([*_protein_rows(quick=quick), *_size_rows(quick=quick)])


def _protein_rows(*, quick: bool) -> list[Row]:
    """Search the contacts of adenylate kinase; what is found must be what MDAnalysis finds."""
    snapshots = adenylate_kinase()
    if quick:
        snapshots = np.ascontiguousarray(snapshots[::10])
    points = timme.objects.points(timme.Ensemble.from_array(snapshots))
    found = timme.pairs.within(points, _PROTEIN_RADIUS)
    listed = {(int(i), int(j)) for piece in found.chunks(len(found)) for i, j in piece}
    theirs = peers.contacts_with_mdanalysis  # takes minutes: its one call is timed and compared
    named = set[tuple[int, int]]()
    median = race(
        {"MDAnalysis": lambda: named.update(theirs(snapshots, _PROTEIN_RADIUS))},
        repetitions=1,
        warm_up=False,
    )
    if listed != named:
        raise AssertionError("MDAnalysis finds other contacts")
    median |= race(
        {
            "ours": lambda: timme.pairs.within(points, _PROTEIN_RADIUS),
            "σ of the same pairs of points": lambda: timme.measure(points, found),
        },
        repetitions=9,
    )
    name = f"{len(found):,} contacts, adenylate kinase, {len(points)} × {len(snapshots)}"
    sigma, search = median["σ of the same pairs of points"], median["MDAnalysis"]
    return [
        Row(
            name,
            seconds(median["ours"]),
            f"MDAnalysis' capped_distance and a set {seconds(search)}",
            search / median["ours"],
            at_least=None if quick else 300.0,
        ),
        Row(
            name,
            seconds(median["ours"]),
            f"σ of the same pairs of points {seconds(sigma)}",
            median["ours"] / sigma,
            at_most=None if quick else 2.0,
        ),
    ]


def _size_rows(*, quick: bool) -> list[Row]:
    sizes = (1_000, 10_000, 100_000) if quick else (10_000, 100_000, 1_000_000)
    systems = {
        size: timme.objects.points(timme.synthetic.elastic(size, _FRAMES, density=_DENSITY))
        for size in sizes
    }
    timme.cluster(systems[sizes[0]], timme.pairs.within(systems[sizes[0]], _RADIUS))

    def search(size: int) -> timme.pairs.Pairs:
        return timme.pairs.within(systems[size], _RADIUS)

    def whole(size: int) -> timme.Hierarchy:
        return timme.cluster(systems[size], search(size))

    rows = []
    for name, step in (("contact search", search), ("contacts, σ and linkage", whole)):
        median = race(
            {str(size): partial(step, size) for size in sizes},
            repetitions=2 if quick else 3,
            warm_up=False,
        )
        each = {size: median[str(size)] / size for size in sizes}
        *_, before, last = sizes
        rows += [
            Row(
                f"{name}, {size:,} × {_FRAMES}",
                f"{1e6 * each[size]:.3g} µs per particle",
                f"at {before:,}: {1e6 * each[before]:.3g} µs",
                each[size] / each[before],
                at_most=1.6 if size == last else None,
            )
            for size in sizes
            if size != before
        ]
    return rows
