"""Make trees.json, motions.json and screws.json: small systems, and what must be found in them.

python -m tests.golden.make, from the top folder of a checkout. Everything is worked out by
tests.naive, or here in loops; nothing comes from the package or from the page. Infinities are
written as text, which float of Python and Number of JavaScript read alike.
"""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests import naive

Graph = tuple[int, list[tuple[int, int]], list[float]]
Residue = tuple[str, int, str]  # chain, number, letter of insertion
Vector = dict[str, Any]

FOLDER = Path(__file__).parent
UNIT = "Å"
ROWS = 16  # of pixels in a picture of stripes
WIDTH = 140  # letters of a line of JSON

CORE = "#00008b"
# So many that no two families share one; and so few that many do.
WIDE = [f"#{40 + 12 * k:02x}{250 - 13 * k:02x}{(70 * k) % 256:02x}" for k in range(16)]
SAFE = ["#e69f00", "#56b4e9", "#009e73"]


def main() -> None:
    """Write all files."""
    for name, made in (("trees", trees()), ("motions", motions()), ("screws", screws())):
        (FOLDER / f"{name}.json").write_text(laid_out(made) + "\n", encoding="utf-8")


# ---- trees -------------------------------------------------------------------------------------


def trees() -> Vector:
    """Hierarchies with their cuts, colours, tables and stripes."""
    chain = [(k, k + 1) for k in range(6)]
    crumbles = [(0, 1), (1, 2), (2, 3), (3, 4), (5, 6), (6, 7), (7, 8), (4, 5)]
    forest = [(0, 3), (3, 6), (1, 4), (4, 7), (1, 7), (2, 8)]
    return {
        "palettes": {"core": CORE, "wide": WIDE, "safe": SAFE},
        "trees": [
            tree("a single site", (1, [], []), min_size=1),
            tree("a chain", (7, chain, [0.5, 0.25, 1.0, 0.125, 0.125, 2.0]), min_size=2),
            tree("a core that crumbles", (9, crumbles, [4, 4, 4, 4, 1, 1, 1, 6]), min_size=2),
            tree("three trees and ties", (10, forest, [1, 1, 1, 1, 1, 0]), min_size=1),
            tree("energies", (7, chain, [-4, -2.5, -2.5, -0.75, -3, 0.5]), min_size=2),
            tree("all shown", scattered(12, seed=1), min_size=1),
            tree("few shown", scattered(14, seed=2), min_size=1, shown=[0, 3, 4, 5, 9, 11, 13]),
            tree("many shown", scattered(14, seed=3), min_size=3, shown=[*range(5), *range(6, 14)]),
        ],
    }


def scattered(n: int, seed: int) -> Graph:
    """Sites of which near ones have a pair, with few different σ, so that there are ties."""
    rng = random.Random(seed)
    near = [(i, j) for i, j in itertools.combinations(range(n), 2) if j - i < 5]
    pairs = sorted(rng.sample(near, 2 * n))
    return n, pairs, [rng.randrange(1, 24) / 16 for _ in pairs]


def tree(name: str, graph: Graph, *, min_size: int, shown: Sequence[int] | None = None) -> Vector:
    """All that is to be known of one hierarchy, of which some objects are shown."""
    drawn = list(range(graph[0])) if shown is None else list(shown)
    seen = as_seen(graph, drawn)
    named = residues(graph[0])
    levels = naive.levels(seen[2], seen[0], seen[1])
    axis = random.Random(len(name)).sample(range(seen[0]), seen[0])
    limits = [levels[0] - 0.5, levels[-1] + 0.5] if levels else [0.0, 1.0]
    return {
        "name": name,
        "objects": graph[0],
        "pairs": graph[1],
        "sigmas": [float(sigma) for sigma in graph[2]],
        "residues": named,
        "shown": drawn,
        "minSize": min_size,
        "tree": described(seen) | numbered(seen),
        "colours": chosen(seen),
        "whole": described(graph),
        "cuts": [cut(graph, drawn, named, cutoff, min_size) for cutoff in cutoffs(levels)],
        "axis": axis,
        "stripes": naive.stripes(*seen, axis, min_size),
        "limits": limits,
        "rows": [row(seen, axis, min_size, cutoff) for cutoff in row_cutoffs(limits)],
        "joining": joining(seen, axis),
        "mobility": mobility(seen),
    }


def as_seen(graph: Graph, shown: Sequence[int]) -> Graph:
    """What the shown objects know of one another: the cutoff at which two of them meet."""
    meet = naive.cophenetic(*graph)
    pairs = [(a, b) for a, b in itertools.combinations(range(len(shown)), 2)]
    pairs = [(a, b) for a, b in pairs if meet[shown[a], shown[b]] < math.inf]
    return len(shown), pairs, [float(meet[shown[a], shown[b]]) for a, b in pairs]


def residues(n: int) -> list[Residue]:
    """Names of objects: two chains, a letter of insertion, a number that is missing."""
    found: list[Residue] = []
    for k in range(n):
        chain, first = ("A", 0) if k < (n + 1) // 2 else ("B", (n + 1) // 2)
        place = k - first
        found.append((chain, place - 1 + (place > 2), "B" if chain == "A" and place == 3 else ""))
    return found


def described(graph: Graph) -> Vector:
    """Objects in leaf order, and the cutoffs at which neighbours meet."""
    order = naive.site_order(*graph)
    meet = naive.cophenetic(*graph)
    return {"order": order, "gaps": [float(meet[a, b]) for a, b in itertools.pairwise(order)]}


def numbered(graph: Graph) -> Vector:
    """Levels, and the family that starts at each place."""
    order, levels = naive.site_order(*graph), naive.levels(graph[2], graph[0], graph[1])
    ranked = naive.ranked_founders(*graph)
    starts = [min(map(order.index, founder)) for founder in ranked]
    return {"levels": levels, "family": [starts.index(place) for place in range(graph[0])]}


def chosen(graph: Graph) -> Vector:
    """The colour of each family in each palette: 0 is dark blue, k the k-th of the palette."""
    return {
        "wide": naive.family_colours(*graph, len(WIDE)),
        "safe": naive.family_colours(*graph, len(SAFE)),
    }


def cutoffs(levels: Sequence[float]) -> list[float]:
    """Below, at, between and above all levels."""
    between = [(low + high) / 2 for low, high in itertools.pairwise(levels)]
    return sorted({-math.inf, *levels, *between, max(levels, default=0.0) + 1, math.inf})


def cut(
    graph: Graph, shown: Sequence[int], named: Sequence[Residue], cutoff: float, min_size: int
) -> Vector:
    """The clusters at a cutoff that are large enough, and their table."""
    seen = as_seen(graph, shown)
    label = naive.labels(*seen, cutoff)
    family = naive.families(*seen, cutoff)
    colours = chosen(seen)
    sizes = [label.count(number) for number in range(max(label) + 1)]
    clusters: list[Vector] = []
    for number in range(len(sizes)):
        members = [k for k in range(seen[0]) if label[k] == number]
        formed, joined = life(seen, frozenset(members), cutoff)
        clusters.append(
            {
                "members": members,
                "objects": followers(graph, shown, members, cutoff),
                "formed": formed,
                "joined": joined,
                "family": family[number],
                "wide": colour(colours["wide"][family[number]], WIDE),
                "safe": colour(colours["safe"][family[number]], SAFE),
            }
        )
    large = [cluster for cluster in clusters if len(cluster["members"]) >= min_size]
    return {
        "cutoff": cutoff,
        "count": len(sizes),
        "largest": max(sizes),
        "clusters": large,
        "csv": table(cutoff, large, [named[site] for site in shown]),
    }


def life(graph: Graph, members: frozenset[int], cutoff: float) -> tuple[float, float]:
    """The cutoffs between which a cluster is as it is."""
    steps = [-math.inf, *naive.levels(graph[2], graph[0], graph[1])]
    alive = [level for level in steps if members in naive.clusters(*graph, level)]
    later = [level for level in steps if level > alive[-1]]
    assert alive[0] <= cutoff
    return alive[0], later[0] if later else math.inf


def followers(
    graph: Graph, shown: Sequence[int], members: Sequence[int], cutoff: float
) -> list[int]:
    """All objects, shown or not, in the cluster of some shown ones."""
    (whole,) = (found for found in naive.clusters(*graph, cutoff) if shown[members[0]] in found)
    return sorted(whole)


def colour(number: int, palette: Sequence[str]) -> str:
    """Dark blue for 0, and the colours of the palette from 1 on."""
    return CORE if number == 0 else palette[number - 1]


def table(cutoff: float, clusters: Sequence[Vector], named: Sequence[Residue]) -> str:
    """clusters.csv of one cutoff."""
    names = ["cutoff", "cluster", "size", "objects", "colour", "formed", "joined", "members"]
    units = {"cutoff", "formed", "joined"}
    lines = [",".join(f"{name} ({UNIT})" if name in units else name for name in names)]
    for number, cluster in enumerate(clusters, start=1):
        size, objects = len(cluster["members"]), len(cluster["objects"])
        cells = [cutoff, number, size, objects, cluster["wide"], cluster["formed"]]
        runs = members_text(cluster["members"], named)
        quoted = f'"{runs}"' if "," in runs else runs
        lines.append(",".join([*map(str, cells), str(cluster["joined"]), quoted]))
    return "\n".join(lines) + "\n"


def members_text(members: Sequence[int], named: Sequence[Residue]) -> str:
    """Members as runs, by chain: ``A 5-32 40, B 7-9``."""
    runs: list[list[int]] = []
    for member in members:
        if runs and runs[-1][-1] == member - 1 and follows(named[member - 1], named[member]):
            runs[-1].append(member)
        else:
            runs.append([member])
    by_chain: dict[str, list[str]] = {}
    for run in runs:
        (chain, *first), (_, *last) = named[run[0]], named[run[-1]]
        ends = ["".join(map(str, end)) for end in (first, last)]
        by_chain.setdefault(chain, []).append(ends[0] if len(run) == 1 else "-".join(ends))
    return ", ".join(f"{chain} {' '.join(texts)}" for chain, texts in by_chain.items())


def follows(one: Residue, other: Residue) -> bool:
    """Whether a residue comes right after another, by its name."""
    return one[0] == other[0] and other[1] - one[1] in {0, 1}


def row_cutoffs(limits: Sequence[float]) -> list[float]:
    """Cutoff of each row of pixels, from above: that of its middle."""
    low, high = limits
    return [high - ((high - low) * (number + 0.5)) / ROWS for number in range(ROWS)]


def row(graph: Graph, axis: Sequence[int], min_size: int, cutoff: float) -> list[str | None]:
    """Colour at each place of an axis, None for what is in no cluster that is large enough."""
    label, family = naive.labels(*graph, cutoff), naive.families(*graph, cutoff)
    colours = [colour(number, WIDE) for number in chosen(graph)["wide"]]
    large = [label.count(label[site]) >= min_size for site in range(graph[0])]
    return [colours[family[label[site]]] if large[site] else None for site in axis]


def joining(graph: Graph, axis: Sequence[int]) -> list[list[float]]:
    """The cutoff at which two sites join, in the order of an axis: rows of the upper triangle."""
    meet = naive.cophenetic(*graph)
    return [
        [float(meet[one, other]) for other in axis[place + 1 :]] for place, one in enumerate(axis)
    ]


def mobility(graph: Graph) -> list[float]:
    """The cutoff at which each site is in the cluster of the core's own site."""
    meet, core = naive.cophenetic(*graph), naive.site_order(*graph)[0]
    first = min(
        (float(meet[core, site]) for site in range(graph[0]) if site != core), default=math.inf
    )
    return [first if site == core else float(meet[core, site]) for site in range(graph[0])]


# ---- motions -----------------------------------------------------------------------------------


def motions() -> list[Vector]:
    """Points, and where they lie once they are laid onto others as well as can be."""
    rng = np.random.default_rng(5)
    body = rng.normal(size=(8, 3)) * [4.0, 2.0, 1.0]
    turned = body @ rotation(rng).T + [3.0, -1.0, 7.0]
    noisy = turned + 0.1 * rng.normal(size=body.shape)
    plane = np.column_stack([rng.normal(size=(7, 2)) * [3.0, 1.0], np.zeros(7)])
    wheeled = plane @ about_z(2.1).T + [1.0, 2.0, 0.0]
    everything = range(8)
    return [
        motion("a copy", turned, body, everything),
        motion("a copy with noise", noisy, body, everything),
        motion("a part of it", noisy, body, [0, 2, 3, 6, 7]),
        motion("its mirror image", turned * [1, 1, -1], body, everything),
        motion("in a plane", wheeled, plane, range(7), flat=True),
        motion("its mirror image in a plane", wheeled * [-1, 1, 1], plane, range(7), flat=True),
    ]


def motion(
    name: str,
    points: naive.Floats,
    reference: naive.Floats,
    chosen: Iterable[int],
    *,
    flat: bool = False,
) -> Vector:
    """The rigid motion that brings chosen points nearest to the same of a reference (Kabsch)."""
    which = list(chosen)
    points, reference = points.round(6), reference.round(6)
    centre, target = points[which].mean(axis=0), reference[which].mean(axis=0)
    size = 2 if flat else 3
    products = ((points - centre)[which].T @ (reference - target)[which])[:size, :size]
    left, _, right = np.linalg.svd(products)
    sign = np.ones(size)
    sign[-1] = np.sign(np.linalg.det(left @ right))  # a mirror image is no motion
    turn = np.eye(3)
    turn[:size, :size] = left @ np.diag(sign) @ right
    return {
        "name": name,
        "flat": flat,
        "points": points.tolist(),
        "reference": reference.tolist(),
        "chosen": which,
        "moved": ((points - centre) @ turn + target).round(6).tolist(),
    }


def screws() -> list[Vector]:
    """Points, and where they are after a turn about an axis and a shift along it."""
    rng = np.random.default_rng(9)
    return [
        screw(rng, degrees, pitch) for degrees, pitch in ((0, 1), (90, 0), (-37, 2.5), (180, -1))
    ]


def screw(rng: np.random.Generator, degrees: float, pitch: float) -> Vector:
    """One of them: in the frame of the axis, across which a plane turns."""
    frame, on, points = rotation(rng), rng.normal(size=3) * 5, rng.normal(size=(4, 3)) * 10
    frame, on, points = frame.round(12), on.round(6), points.round(6)
    angle = math.radians(degrees)
    inside = (points - on) @ frame  # columns of the frame are its directions, the last is the axis
    moved = inside @ about_z(angle).T + [0.0, 0.0, pitch * angle]
    return {
        "degrees": degrees,
        "pitch": pitch,
        "point": on.tolist(),
        "along": frame[:, 2].tolist(),
        "points": points.tolist(),
        "moved": (moved @ frame.T + on).round(9).tolist(),
    }


def rotation(rng: np.random.Generator) -> naive.Floats:
    """Any rotation."""
    axes, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return np.asarray(axes * np.linalg.det(axes))


def about_z(angle: float) -> naive.Floats:
    """A rotation within the plane of x and y."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


# ---- files -------------------------------------------------------------------------------------


def laid_out(value: Any, margin: str = "") -> str:
    """Write as JSON: on one line what fits there, the rest indented."""
    line = json.dumps(finite(value), ensure_ascii=False)
    if len(margin) + len(line) <= WIDTH or not isinstance(value, dict | list):
        return line
    inner = f"{margin} "
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {laid_out(part, inner)}" for key, part in value.items()]
        return "{\n" + ",\n".join(inner + part for part in parts) + f"\n{margin}}}"
    return "[\n" + ",\n".join(inner + laid_out(part, inner) for part in value) + f"\n{margin}]"


def finite(value: Any) -> Any:
    """Write infinities as text, of which JSON has no numbers."""
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [finite(part) for part in value]
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


if __name__ == "__main__":
    main()
