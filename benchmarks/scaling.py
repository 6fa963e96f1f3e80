"""Time of all pairs against the number of sites, ours and the peers'."""

from __future__ import annotations

from collections.abc import Callable

import timme
from benchmarks import peers
from benchmarks.results import Curve, Results, Row
from benchmarks.timing import race

_FRAMES = 100
OURS, BRUTE = "TIMME", "TIMME, brute force"
_LARGEST = {
    OURS: 32_000,
    BRUTE: 8_000,
    "MDAnalysis + SciPy": 4_000,
    "mdtraj + SciPy": 4_000,
    "SciPy alone": 4_000,
}


_WANTED = {("MDAnalysis + SciPy", 4_000): 60.0}


def run(*, quick: bool) -> Results:
    """Double the number of sites again and again, as far as each contender can follow."""
    sizes = [500 * 2**power for power in range(2 if quick else 7)]
    found: dict[str, dict[int, float]] = {name: {} for name in _LARGEST}
    for size in sizes:
        contenders = {
            name: contender
            for name, contender in _contenders(size).items()
            if size <= _LARGEST[name]
        }
        few = 1 if quick or size > 2_000 else 3
        for name, taken in race(contenders, few, warm_up=size == sizes[0]).items():
            found[name][size] = taken
    curves = [Curve(name, tuple(times), tuple(times.values())) for name, times in found.items()]
    return Results([_row(curve, curves[0]) for curve in curves[1:]], curves)


def _contenders(size: int) -> dict[str, Callable[[], object]]:
    ensemble = timme.synthetic.elastic(size, _FRAMES)
    snapshots, _ = ensemble.frames.read(0, _FRAMES)
    points = timme.objects.points(ensemble)
    every = timme.pairs.all(points)
    return {
        OURS: lambda: timme.cluster(points, every),
        BRUTE: lambda: timme.link(timme.measure(points, every)),
        "MDAnalysis + SciPy": lambda: peers.with_mdanalysis(snapshots),
        "mdtraj + SciPy": peers.with_mdtraj(snapshots),
        "SciPy alone": lambda: peers.with_pdist(snapshots),
    }


def _row(curve: Curve, ours: Curve) -> Row:
    """Compare at the largest size of the peer; exponents stand in the plot."""
    size, taken = curve.sizes[-1], curve.seconds[-1]
    own = dict(zip(ours.sizes, ours.seconds, strict=True))[size]
    return Row(
        f"all pairs, elastic solid, {size:,} × {_FRAMES}",
        f"{own:.3g} s, N^{ours.exponent:.2f}",
        f"{curve.name} {taken:.3g} s, N^{curve.exponent:.2f}",
        taken / own,
        at_least=_WANTED.get((curve.name, size)),
    )
