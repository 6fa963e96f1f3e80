"""Pairs in contact: the time per particle must not grow with their number."""

from __future__ import annotations

from functools import partial

import timme
from benchmarks.results import Results, Row
from benchmarks.timing import race

_FRAMES, _DENSITY, _RADIUS = 20, 0.0334, 3.5  # those of water, in Å


def run(*, quick: bool) -> Results:
    """Search contacts, and search, measure and link them, among more and more particles."""
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
    return Results(rows)
