"""Ask of planted hinges how often intervals told as 90 % hold the truth.

``python docs/make_coverage.py`` writes the table of `how_sure.md`: 24 seeds a row, ten minutes of a
processor. The truth is the hierarchy of the same pairs over a trajectory of 30,000 snapshots of the
same bodies: where the cluster that overlaps with each of the 1500 snapshots is complete, and where
it joins another. All sites tremble alike: a jitter that varies over space would be drawn anew for
another number of snapshots. Nothing is counted where fewer than 50 snapshots are independent.
``--seeds 2`` makes less of it, ``--first 99`` begins with another seed, ``--print`` only prints it.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

import timme
from timme.confidence import assess
from timme.confidence.support import match
from timme.synthetic import Planted
from timme.synthetic.families import domains

PAGE = Path(__file__).parent / "how_sure.md"
BEGIN, END = "<!-- coverage -->", "<!-- end of coverage -->"
_LONG, _ENOUGH = 30_000, 50
_SAME = 0.75  # overlap from which on a cluster is the one of the long trajectory
ROWS = {
    "two of 40 and a tail, 15°": (partial(domains, (40, 40), (15.0,)), 1500, 10.0),
    "two of 40 and a tail, 5°": (partial(domains, (40, 40), (5.0,)), 1500, 10.0),
    "two of 30, 10°": (partial(domains, (30, 30), (10.0,), tail=False), 2000, 10.0),
    "two of 30, 10°, contacts within 14 Å": (
        partial(domains, (30, 30), (10.0,), tail=False),
        2000,
        14.0,
    ),
    "three of 90, 40 and 30, 20° and 8°": (
        partial(domains, (90, 40, 30), (20.0, 8.0), jitter=0.2, tail=False),
        1500,
        10.0,
    ),
}


@dataclass
class Held:
    """Whether each interval holds the truth, and how many snapshots were independent."""

    births: list[bool] = field(default_factory=list)
    deaths: list[bool] = field(default_factory=list)
    independent: list[float] = field(default_factory=list)

    def add(self, planted: partial[Planted], n_snapshots: int, radius: float, seed: int) -> None:
        points = timme.objects.points(planted(n_snapshots, seed=seed).ensemble)
        pairs = timme.pairs.within(points, radius)
        sigma = timme.measure(points, pairs)
        found = assess(points, sigma, timme.link(sigma))
        if found.sampling.n_effective < _ENOUGH:
            return
        self.independent.append(found.sampling.n_effective)
        long = timme.objects.points(planted(_LONG, seed=seed).ensemble)
        truth = timme.link(timme.measure(long, timme.pairs.given(long, sigma.pairs)))
        best = match(found.tree.masks(), [truth])
        for record in found.trusted:
            if best.overlaps[0, record.cluster] < _SAME:
                continue
            told = record.birth_interval, record.death_interval
            true = best.births[0, record.cluster], best.deaths[0, record.cluster]
            for held, interval, value in zip((self.births, self.deaths), told, true, strict=True):
                if interval is not None and np.isfinite(value):
                    held.append(interval[0] <= value <= interval[1])

    def line(self, name: str) -> str:
        shares = [f"{np.mean(held):.2f} of {len(held)}" for held in (self.births, self.deaths)]
        between = f"{min(self.independent):.0f} to {max(self.independent):.0f}"
        return f"| {name} | {between} | " + " | ".join(shares) + " |"


def table(seeds: range) -> str:
    lines = [
        "| planted | independent snapshots | complete | joined |",
        "|---|---|---|---|",
    ]
    every = Held()
    for name, (planted, n_snapshots, radius) in ROWS.items():
        held = Held()
        for seed in seeds:
            held.add(planted, n_snapshots, radius, seed)
        lines.append(held.line(name))
        print(lines[-1], file=sys.stderr, flush=True)
        every.births += held.births
        every.deaths += held.deaths
        every.independent += held.independent
    return "\n".join([*lines, every.line("all")])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=24)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--print", action="store_true")
    chosen = parser.parse_args()
    made = table(range(chosen.first, chosen.first + chosen.seeds))
    if chosen.print:
        print(made)
        return
    head, rest = PAGE.read_text("utf-8").split(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n{made}\n{END}{rest.split(END)[1]}", "utf-8")


if __name__ == "__main__":
    main()
