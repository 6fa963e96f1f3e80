"""Plant bodies, and count how many are found and how much of what is trusted is right.

``python docs/make_confidence.py`` writes the table of `how_sure.md`: 20 seeds a cell, which takes
ten minutes of a processor. ``--kept FILE`` keeps every score in a file as it is made, and makes
none anew that is there: what was interrupted goes on, and several processes may share the work
(``--families`` and ``--frames`` name their parts of it; the last one, with all, writes the table).
Delete the file when a rule has changed. ``--seeds 2 --frames 20`` makes less of it,
``--seeds 20 20 10`` fewer of the longest, ``--first 99`` begins with another seed, and ``--print``
only prints it. ``--literal`` reads the families in another way: hinges half-way down the interface
instead of at its rim, jitter along each axis instead of in all, thicker rods.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

import timme
from timme.confidence import Confidence, assess
from timme.synthetic import FAMILIES, Planted
from timme.synthetic.families import families

PAGE = Path(__file__).parent / "how_sure.md"
BEGIN, END = "<!-- families -->", "<!-- end of families -->"
FRAMES = (20, 100, 1000)
_RIGHT = 0.75  # Jaccard overlap with a body, or with a union of bodies
LITERAL = families(low=0.5, scale=np.sqrt(3), radius=9.0)
_WITHIN = 0.9  # of a cluster and of its sibling, in one body: a false split


@dataclass(frozen=True)
class Score:
    """What was found of one planted ensemble."""

    recall: float  # bodies that a trusted cluster is
    right: int  # trusted clusters that are a body, or a union of bodies
    scored: int  # trusted clusters that consist mostly of sites of bodies
    false_split: bool  # whether a trusted cluster and its sibling lie within one body


def assessed(
    name: str, n_snapshots: int, seed: int, *, literal: bool = False
) -> tuple[Planted, Confidence]:
    made = (LITERAL if literal else FAMILIES)[name](n_snapshots, seed)
    points = timme.objects.points(made.ensemble)
    radius = 1.6 if name.startswith("colloids") else 10.0
    sigma = timme.measure(points, timme.pairs.within(points, radius))
    return made, assess(points, sigma, timme.link(sigma))


def score(made: Planted, found: Confidence) -> Score:
    label = made.labels[0]
    bodies = [frozenset(np.flatnonzero(label == body)) for body in range(int(label.max()) + 1)]
    held = frozenset().union(*bodies)
    unions = [
        frozenset().union(*some)
        for count in range(1, len(bodies) + 1)
        for some in combinations(bodies, count)
    ]
    hit, right, scored, false_split = set(), 0, 0, False
    for record in found.trusted:
        cluster = frozenset(record.sites)
        core = cluster & held
        if 2 * len(core) <= len(cluster):
            continue
        scored += 1
        hit |= {body for body in bodies if jaccard(core, body) >= _RIGHT}
        siblings = [frozenset(found.tree.members(k)) for k in found.tree.siblings(record.cluster)]
        split = siblings and any(
            all(len(part & body) > _WITHIN * len(part) for part in (cluster, *siblings))
            for body in bodies
        )
        false_split |= bool(split)
        right += not split and max(jaccard(core, union) for union in unions) >= _RIGHT
    return Score(len(hit) / len(bodies), right, scored, false_split)


def jaccard(one: frozenset[int], other: frozenset[int]) -> float:
    return len(one & other) / len(one | other)


@dataclass(frozen=True)
class Scores:
    """Scores of planted ensembles, made when they are asked for, and kept."""

    literal: bool
    kept: Path | None

    def of(self, name: str, n_snapshots: int, seeds: range) -> list[Score]:
        known = self._known()
        keys = [f"{name}, {n_snapshots}, {seed}, {self.literal}" for seed in seeds]
        for seed, key in zip(seeds, keys, strict=True):
            if key not in known:
                known[key] = score(*assessed(name, n_snapshots, seed, literal=self.literal))
                self._keep(key, known[key])
        return [known[key] for key in keys]

    def _known(self) -> dict[str, Score]:
        if self.kept is None or not self.kept.exists():
            return {}
        lines = map(json.loads, self.kept.read_text("utf-8").splitlines())
        return {line.pop("key"): Score(**line) for line in lines}

    def _keep(self, key: str, made: Score) -> None:
        if self.kept is not None:
            with self.kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, **asdict(made)}) + "\n")


def cell(name: str, found: list[Score]) -> str:
    """Recall and precision or, where there is nothing to find, runs with a false split."""
    if name.startswith(("no hinge", "smooth")):
        return f"{sum(each.false_split for each in found)} of {len(found)} cut"
    recall = np.mean([each.recall for each in found])
    scored = sum(each.scored for each in found)
    precision = sum(each.right for each in found) / scored if scored else 1.0
    return f"{recall:.2f} / {precision:.2f}"


def table(frames: list[int], seeds: list[range], names: list[str], scores: Scores) -> str:
    lines = [
        "| family | " + " | ".join(f"{n} frames" for n in frames) + " |",
        "|---" * (len(frames) + 1) + "|",
    ]
    for name in names:
        row = [cell(name, scores.of(name, *each)) for each in zip(frames, seeds, strict=True)]
        lines.append(f"| {name} | " + " | ".join(row) + " |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[20])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--literal", action="store_true")
    parser.add_argument("--frames", type=int, nargs="+", default=list(FRAMES))
    parser.add_argument("--families", nargs="+", default=list(FAMILIES))
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--print", action="store_true")
    chosen = parser.parse_args()
    counts = chosen.seeds * len(chosen.frames) if len(chosen.seeds) == 1 else chosen.seeds
    seeds = [range(chosen.first, chosen.first + count) for count in counts]
    scores = Scores(chosen.literal, chosen.kept)
    made = table(chosen.frames, seeds, chosen.families, scores)
    if chosen.print:
        print(made)
        return
    text = PAGE.read_text("utf-8")
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    PAGE.write_text(f"{head}{BEGIN}\n{made}\n{END}{tail}", "utf-8")


if __name__ == "__main__":
    main()
