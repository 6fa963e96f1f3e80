"""The pair kernel beside the fastest that this machine can sum distances."""

from __future__ import annotations

from itertools import islice

import numpy as np

import timme
from benchmarks.limit import run_limit
from benchmarks.results import Results, Row
from benchmarks.timing import race
from timme._arrays import Ints
from timme.engine.moments import Moments, Piece
from timme.engine.threads import Threads

_FRAMES = 256  # one block


def run(*, quick: bool) -> Results:
    """Compare distances per second, over a piece of all pairs."""
    sizes = (3_000,) if quick else (3_000, 10_000, 20_000)
    return Results([_row(n_sites, quick=quick) for n_sites in sizes])


def _row(n_sites: int, *, quick: bool) -> Row:
    ensemble = timme.synthetic.elastic(n_sites, _FRAMES)
    pairs = _one_chunk(timme.objects.points(ensemble), 500_000 if quick else 4_000_000)
    # Frames are read and laid out once for all pairs: that is no part of the loop.
    blocks = Threads().merges(ensemble, pairs, None, [Piece(0, 0, _FRAMES, single=True)])
    merge, into = next(blocks), Moments.empty(len(pairs))
    median = race(
        {"limit": run_limit, "kernel": lambda: merge([into])}, repetitions=5 if quick else 15
    )
    ours = len(pairs) * _FRAMES / median["kernel"]
    limit = run_limit() / median["limit"]
    return Row(
        f"pair kernel, {n_sites:,} sites × {_FRAMES}, single precision",
        f"{ours / 1e9:.2f} G distances/s",
        f"in-cache limit {limit / 1e9:.2f} G/s",
        ours / limit,
        at_least=None if quick else 0.65,
    )


def _one_chunk(points: timme.objects.Objects, size: int) -> Ints:
    """Pairs as all pairs are walked through: one piece, from a random place."""
    every = timme.pairs.all(points)
    place = int(np.random.default_rng(0).integers(max(1, len(every) // size)))
    return next(islice(every.chunks(size), place, None))
