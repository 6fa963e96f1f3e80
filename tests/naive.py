"""The slow, obvious reference: every definition of the analysis, written out as loops.

Nothing here is clever and nothing is shared with the package, so that agreement means something.

Snapshots are an array (frames, sites, dim); a NaN coordinate says that the site was not seen in
that snapshot. Boxes are None, or an array (frames, dim, dim) whose rows are the box vectors. Pairs
and sigmas are parallel: sigmas[k] belongs to pairs[k], and a NaN sigma never joins anything.
"""

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import median
from typing import Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Vector = Sequence[float] | npt.NDArray[np.floating[Any]]
Pairs = Sequence[tuple[int, int]] | npt.NDArray[np.integer[Any]]


class Statistics(TypedDict):
    """What is counted of one partition."""

    n_clusters: int
    largest: int
    mean_size: float
    fraction_of_size: dict[int, float]
    fraction_at_least: float
    largest_fraction: float


# Distances and their fluctuation


def distance(a: Vector, b: Vector, box: npt.ArrayLike | None = None) -> float:
    """Euclidean distance; in a box, that of b and the nearest of all periodic images of a."""
    if box is None:
        return math.dist(a, b)
    vectors = np.asarray(box, dtype=np.float64)
    inverse = np.linalg.inv(vectors)
    difference = np.asarray(b, dtype=np.float64) - np.asarray(a, dtype=np.float64)
    wrapped = difference - np.round(difference @ inverse) @ vectors
    # Two shifts each way hold the nearest image of any usual cell. A cell that is very skewed may
    # need more: an image within the length of `wrapped` is at most this many cells away.
    farthest = np.linalg.norm(wrapped) * np.linalg.norm(inverse, axis=0) + 0.5
    shifts = [range(-reach, reach + 1) for reach in np.maximum(2, np.ceil(farthest).astype(int))]
    images = (wrapped + np.array(shift) @ vectors for shift in itertools.product(*shifts))
    return min(math.hypot(*image) for image in images)


def sigma(distances: Vector, weights: Vector | None = None) -> float:
    """Population standard deviation; NaN of nothing, or where all weights are zero."""
    if weights is None:
        weights = [1.0] * len(distances)
    total = math.fsum(weights)
    if total == 0:
        return math.nan
    shares = [w / total for w in weights]
    mean = math.fsum(w * r for w, r in zip(shares, distances, strict=True))
    return math.sqrt(math.fsum(w * (r - mean) ** 2 for w, r in zip(shares, distances, strict=True)))


def pair_distances(
    snapshots: Floats, a: int, b: int, boxes: Floats | None = None
) -> tuple[list[float], list[int]]:
    """Distance of two sites in every snapshot that saw both, and which snapshots these are."""
    frames = [
        frame
        for frame, sites in enumerate(snapshots)
        if not np.isnan(sites[a]).any() and not np.isnan(sites[b]).any()
    ]
    distances = [
        distance(snapshots[frame][a], snapshots[frame][b], None if boxes is None else boxes[frame])
        for frame in frames
    ]
    return distances, frames


def pair_sigma(
    snapshots: Floats,
    a: int,
    b: int,
    *,
    weights: Vector | None = None,
    boxes: Floats | None = None,
) -> tuple[float, int]:
    """Fluctuation of the distance of two sites, and the number of snapshots that saw both."""
    distances, frames = pair_distances(snapshots, a, b, boxes)
    common = None if weights is None else [weights[frame] for frame in frames]
    return sigma(distances, common), len(frames)


def part_moments(
    snapshots: Floats,
    a: int,
    b: int,
    part: Collection[int],
    *,
    weights: Vector | None = None,
    boxes: Floats | None = None,
) -> tuple[int, float, float, float]:
    """Number, weight, mean and variance of a distance over those snapshots of a part that count."""
    distances, frames = pair_distances(snapshots, a, b, boxes)
    found = [
        (1.0 if weights is None else weights[frame], distance)
        for distance, frame in zip(distances, frames, strict=True)
        if frame in part
    ]
    found = [(weight, distance) for weight, distance in found if weight > 0]
    total = math.fsum(weight for weight, _ in found)
    if not found:
        return 0, 0.0, 0.0, math.nan
    mean = math.fsum(weight / total * distance for weight, distance in found)
    variance = math.fsum(weight / total * (distance - mean) ** 2 for weight, distance in found)
    return len(found), total, mean, variance


def object_sigma(
    snapshots: Floats,
    members_a: Iterable[int],
    members_b: Iterable[int],
    *,
    reduction: Literal["rms", "max"] = "rms",
    weights: Vector | None = None,
    boxes: Floats | None = None,
    rigid: Collection[frozenset[int]] = (),
) -> float:
    """Fluctuation of two groups of sites, reduced over all cross pairs.

    A site that both groups share counts 0, and so does a pair of sites in `rigid` (the two ends of
    a link). A cross pair never seen together makes the whole unknown: NaN.
    """
    sigmas = []
    for i, j in itertools.product(members_a, members_b):
        if i == j or frozenset((i, j)) in rigid:
            sigmas.append(0.0)
        else:
            sigmas.append(pair_sigma(snapshots, i, j, weights=weights, boxes=boxes)[0])
    if any(math.isnan(s) for s in sigmas):
        return math.nan
    if reduction == "max":
        return max(sigmas)
    return math.sqrt(math.fsum(s**2 for s in sigmas) / len(sigmas))


def link_sigma(snapshots: Floats, link_a: tuple[int, int], link_b: tuple[int, int]) -> float:
    """Fluctuation of two links that share a joint: that of their two far ends."""
    shared = set(link_a) & set(link_b)
    if len(shared) != 1:
        raise ValueError(f"two links need to share one joint, got {link_a} and {link_b}")
    (end_a,) = set(link_a) - shared
    (end_b,) = set(link_b) - shared
    return pair_sigma(snapshots, end_a, end_b)[0]


# Which pairs are compared


def contacts(
    snapshots: Floats, radius: float, *, at_least: int = 1, boxes: Floats | None = None
) -> list[tuple[int, int]]:
    """Pairs no farther apart than the radius in at least that many snapshots."""
    return [
        (i, j)
        for i, j in itertools.combinations(range(snapshots.shape[1]), 2)
        if sum(r <= radius for r in pair_distances(snapshots, i, j, boxes)[0]) >= at_least
    ]


def nearest(snapshot: Floats, k: int, box: Floats | None = None) -> set[tuple[int, int]]:
    """Pairs of which one is among the k nearest of the other; of equally near ones, the first."""
    seen = [i for i, position in enumerate(snapshot) if not np.isnan(position).any()]
    pairs = set()
    for i in seen:
        ranked = sorted((distance(snapshot[i], snapshot[j], box), j) for j in seen if j != i)
        pairs |= {(min(i, j), max(i, j)) for _, j in ranked[:k]}
    return pairs


def bond_separation(n: int, bonds: Pairs) -> Floats:
    """Number of bonds between any two of n sites, infinite where no path of bonds leads."""
    bonded = _neighbours(n, bonds)
    separation = np.full((n, n), np.inf)
    for start in range(n):
        separation[start, start] = 0
        queue = [start]
        for site in queue:
            for other in bonded[site]:
                if separation[start, other] == np.inf:
                    separation[start, other] = separation[start, site] + 1
                    queue.append(other)
    return separation


# The hierarchy


def clusters(n: int, pairs: Pairs, sigmas: Vector, cutoff: float) -> list[frozenset[int]]:
    """Sites connected by pairs within the cutoff; the cluster with the lowest site first."""
    joined = _neighbours(n, [p for p, s in zip(pairs, sigmas, strict=True) if s <= cutoff])
    found: list[frozenset[int]] = []
    visited: set[int] = set()
    for start in range(n):
        if start in visited:
            continue
        cluster = {start}
        stack = [start]
        while stack:
            for other in joined[stack.pop()]:
                if other not in cluster:
                    cluster.add(other)
                    stack.append(other)
        visited |= cluster
        found.append(frozenset(cluster))
    return found


def labels(n: int, pairs: Pairs, sigmas: Vector, cutoff: float) -> list[int]:
    """Cluster of every site, counted from the largest; ties: the one with the lowest site first."""
    label_of = {}
    for label, cluster in enumerate(_largest_first(clusters(n, pairs, sigmas, cutoff))):
        for site in cluster:
            label_of[site] = label
    return [label_of[site] for site in range(n)]


def levels(sigmas_of_pairs: Vector, n: int, pairs: Pairs) -> list[float]:
    """Cutoffs at which the partition changes, lowest first."""
    changes = []
    before = clusters(n, pairs, sigmas_of_pairs, -math.inf)
    for cutoff in sorted({float(s) for s in sigmas_of_pairs if not math.isnan(s)}):
        after = clusters(n, pairs, sigmas_of_pairs, cutoff)
        if after != before:
            changes.append(cutoff)
        before = after
    return changes


def site_order(n: int, pairs: Pairs, sigmas: Vector) -> list[int]:
    """Sites from left to right, so that every cluster is contiguous at every cutoff.

    From the top of the hierarchy down, each cluster is replaced in its place by the parts it splits
    into, the largest part first; ties: the part with the lowest site first.
    """
    order = _largest_first(clusters(n, pairs, sigmas, math.inf))
    for cutoff in [*reversed(levels(sigmas, n, pairs)), -math.inf]:
        parts = clusters(n, pairs, sigmas, cutoff)
        order = [part for whole in order for part in _largest_first(p for p in parts if p <= whole)]
    return [site for (site,) in order]


def cophenetic(n: int, pairs: Pairs, sigmas: Vector) -> Floats:
    """Lowest cutoff at which two sites are in one cluster; infinite if never, 0 on the diagonal."""
    height = np.full((n, n), np.inf)
    for cutoff in reversed(levels(sigmas, n, pairs)):
        for cluster in clusters(n, pairs, sigmas, cutoff):
            for i, j in itertools.permutations(cluster, 2):
                height[i, j] = cutoff
    np.fill_diagonal(height, 0.0)
    return height


# Colours and stripes


def founders(
    n: int, pairs: Pairs, sigmas: Vector, cutoff: float
) -> dict[frozenset[int], frozenset[int]]:
    """Of every cluster at a cutoff, the cluster with which its family began.

    Every tree begins a family. From the top down, the larger part of what splits stays in its
    family, and each other part begins one of its own; ties: the part with the lowest site stays.
    """
    began = {tree: tree for tree in clusters(n, pairs, sigmas, math.inf)}
    for level in reversed(levels(sigmas, n, pairs)):
        if level <= cutoff:
            break
        below = clusters(n, pairs, sigmas, math.nextafter(level, -math.inf))
        parts_began = {}
        for whole, founder in began.items():
            larger, *others = _largest_first(part for part in below if part <= whole)
            parts_began[larger] = founder
            for part in others:
                parts_began[part] = part
        began = parts_began
    return began


def ranked_founders(n: int, pairs: Pairs, sigmas: Vector) -> list[frozenset[int]]:
    """The founder of every family, the largest first; ties: that further left in site order."""
    order = site_order(n, pairs, sigmas)
    every = founders(n, pairs, sigmas, -math.inf).values()
    return sorted(every, key=lambda founder: (-len(founder), min(map(order.index, founder))))


def families(n: int, pairs: Pairs, sigmas: Vector, cutoff: float) -> list[int]:
    """Family of every cluster at a cutoff, in the order of their labels, counted by founders."""
    ranked = ranked_founders(n, pairs, sigmas)
    founder = founders(n, pairs, sigmas, cutoff)
    return [ranked.index(founder[cluster]) for cluster in _largest_first(founder)]


def family_neighbours(n: int, pairs: Pairs, sigmas: Vector) -> set[tuple[int, int]]:
    """Families that are side by side at some cutoff, by site label or by site, both ways."""
    found = set()
    for cutoff in [-math.inf, *levels(sigmas, n, pairs)]:
        label, family = labels(n, pairs, sigmas, cutoff), families(n, pairs, sigmas, cutoff)
        for axis in (site_order(n, pairs, sigmas), list(range(n))):
            for one, other in itertools.pairwise(family[label[site]] for site in axis):
                found |= {(one, other), (other, one)} if one != other else set()
    return found


def family_colours(
    n: int,
    pairs: Pairs,
    sigmas: Vector,
    count: int,
    given: dict[int, int] | None = None,
    avoided: Collection[int] = (),
    spared: Collection[int] = (),
) -> list[int]:
    """One of so many colours, from 1, for each family; 0, which nobody chooses, for family 0.

    In the order of their numbers, families choose a colour that is not to be avoided, which the
    fewest of their neighbours have, which is not spared, which the fewest families have, and which
    is the first.
    """
    taken = {0: 0} if given is None else dict(given)
    beside = family_neighbours(n, pairs, sigmas)
    for family in range(n):
        if family in taken:
            continue
        around = [colour for other, colour in taken.items() if (family, other) in beside]
        everywhere = list(taken.values())
        taken[family] = min(
            range(1, count + 1),
            key=lambda colour: (
                colour in avoided,
                around.count(colour),
                colour in spared,
                everywhere.count(colour),
                colour,
            ),
        )
    return [taken[family] for family in range(n)]


def stripes(
    n: int, pairs: Pairs, sigmas: Vector, axis: Sequence[int], min_size: int = 1
) -> list[tuple[int, int, float, float, int]]:
    """Runs of places on an axis of sites in one cluster of a family, over all cutoffs.

    A stripe is (start, stop, low, high, family): from one cutoff on, and below another, the places
    from start to before stop are in one cluster of at least that size, and their neighbours not.
    """
    found = []
    since: dict[tuple[int, int, int], float] = {}
    for cutoff in [-math.inf, *levels(sigmas, n, pairs), math.inf]:
        there = _runs(axis, labels(n, pairs, sigmas, cutoff), min_size)
        family = families(n, pairs, sigmas, cutoff)
        now = set() if cutoff == math.inf else {(a, b, family[label]) for a, b, label in there}
        for (start, stop, kept), low in since.items():
            if (start, stop, kept) not in now:
                found.append((start, stop, low, cutoff, kept))
        since = {run: since.get(run, cutoff) for run in now}
    return sorted(found)


def _runs(axis: Sequence[int], label: Sequence[int], min_size: int) -> list[tuple[int, int, int]]:
    """Start, stop and label of the runs of places whose sites have one label."""
    found: list[tuple[int, int, int]] = []
    for place, site in enumerate(axis):
        if label.count(label[site]) < min_size:
            continue
        if found and found[-1][1:] == (place, label[site]):
            found[-1] = (found[-1][0], place + 1, label[site])
        else:
            found.append((place, place + 1, label[site]))
    return found


# Statistics


def statistics(
    labels: Sequence[int] | npt.NDArray[np.integer[Any]],
    large: int = 10,
    sizes: Sequence[int] = (1, 2, 3, 4, 5),
) -> Statistics:
    """Count one partition; means and fractions are over sites, not over clusters."""
    n = len(labels)
    size_of = Counter(int(label) for label in labels)
    seen = [size_of[int(label)] for label in labels]
    return {
        "n_clusters": len(size_of),
        "largest": max(seen),
        "mean_size": sum(seen) / n,
        "fraction_of_size": {r: seen.count(r) / n for r in sizes},
        "fraction_at_least": sum(size >= large for size in seen) / n,
        "largest_fraction": max(seen) / n,
    }


def _neighbours(n: int, pairs: Iterable[Any]) -> list[list[int]]:
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for i, j in pairs:
        neighbours[i].append(int(j))
        neighbours[j].append(int(i))
    return neighbours


def _largest_first(found: Iterable[frozenset[int]]) -> list[frozenset[int]]:
    return sorted(found, key=lambda cluster: (-len(cluster), min(cluster)))


# Rigidity of bodies and bars


def rigidity_matrix(n_bodies: int, bars: Pairs, seed: int = 0) -> Floats:
    """One row for each bar along a random line, six columns (a screw motion) for each body."""
    rng = np.random.default_rng(seed)
    matrix = np.zeros((len(bars), 6 * n_bodies))
    for row, (a, b) in enumerate(bars):
        p, q = rng.normal(size=3), rng.normal(size=3)
        line = np.concatenate([q - p, np.cross(p, q)])
        matrix[row, 6 * a : 6 * a + 6] = line
        matrix[row, 6 * b : 6 * b + 6] = -line
    return matrix


def independent_bars(n_bodies: int, bars: Pairs) -> int:
    """Number of bars that each take away a motion."""
    if len(bars) == 0:
        return 0
    return int(np.linalg.matrix_rank(rigidity_matrix(n_bodies, bars)))


def rigid_bodies(n_bodies: int, bars: Pairs) -> list[frozenset[int]]:
    """Sets of bodies that no motion moves against one another; that with the lowest body first."""
    motions = np.eye(6 * n_bodies)
    if len(bars) > 0:
        _, values, vectors = np.linalg.svd(rigidity_matrix(n_bodies, bars))
        rank = int(np.sum(values > 1e-9 * values[0]))
        motions = vectors[rank:]
    found: list[set[int]] = []
    for body in range(n_bodies):
        own = motions[:, 6 * body : 6 * body + 6]
        for cluster in found:
            other = min(cluster)
            if np.abs(own - motions[:, 6 * other : 6 * other + 6]).max() < 1e-7:
                cluster.add(body)
                break
        else:
            found.append({body})
    return [frozenset(cluster) for cluster in found]


def stressed_bars(n_bodies: int, bars: Pairs) -> list[bool]:
    """Whether each bar can be left out without a new motion."""
    rank = independent_bars(n_bodies, bars)
    return [
        independent_bars(n_bodies, [*bars[:k], *bars[k + 1 :]]) == rank for k in range(len(bars))
    ]


# Molecules in boxes


def nearest_image(a: Vector, b: Vector, box: npt.ArrayLike) -> Floats:
    """Of all periodic images of b, the one nearest to a; directions without a length are open."""
    vectors = np.asarray(box, dtype=np.float64)
    closed = [k for k in range(len(vectors)) if vectors[k].any()]
    shift = np.zeros(len(vectors))
    if closed:
        along = np.linalg.lstsq(vectors[closed].T, np.subtract(b, a), rcond=None)[0]
        shift[closed] = np.round(along)
    start = np.asarray(b, dtype=np.float64) - shift @ vectors
    ranges = [range(-3, 4) if k in closed else range(1) for k in range(len(vectors))]
    images = [start + np.array(step) @ vectors for step in itertools.product(*ranges)]
    return min(images, key=lambda image: math.dist(a, image))


def whole(snapshot: Floats, bonds: Pairs, box: npt.ArrayLike) -> Floats:
    """Walk from the first atom of each molecule along its bonds, to the nearest image each time."""
    placed: dict[int, Floats] = {}
    for first in range(len(snapshot)):
        if first in placed:
            continue
        placed[first] = snapshot[first]
        waiting = [first]
        while waiting:
            atom = waiting.pop(0)
            near = sorted(
                {int(b) for a, b in bonds if a == atom} | {int(a) for a, b in bonds if b == atom}
            )
            for other in near:
                if other not in placed:
                    placed[other] = nearest_image(placed[atom], snapshot[other], box)
                    waiting.append(other)
    return np.array([placed[atom] for atom in range(len(snapshot))])


def followed(places: Floats, boxes: Floats) -> Floats:
    """A particle (frames, dim) without jumps: nearest to where it had kept its place in the box."""
    found = [places[0]]
    for frame in range(1, len(places)):
        before, now = boxes[frame - 1], boxes[frame]
        closed = [k for k in range(len(now)) if now[k].any()]
        along = np.linalg.lstsq(before[closed].T, found[-1], rcond=None)[0]
        stayed = found[-1] + along @ (now[closed] - before[closed])
        found.append(nearest_image(stayed, places[frame], now))
    return np.array(found)


def condensed(
    n: int, pairs: Pairs, sigmas: Vector, min_size: int
) -> set[tuple[frozenset[int], float]]:
    """Clusters of at least so many sites that join another such one, and where; trees never do."""
    heights = sorted({float(s) for s in sigmas if not math.isnan(s)})
    found = set()
    before = [frozenset([i]) for i in range(n)]
    for height in heights:
        now = clusters(n, pairs, sigmas, height)
        for one in now:
            parts = [part for part in before if part < one and len(part) >= min_size]
            if len(parts) >= 2:
                found |= {(part, height) for part in parts}
        before = now
    return found | {(tree, math.inf) for tree in before if len(tree) >= min_size}


def braced(n: int, pairs: Pairs, sigmas: Vector, n_shared: int) -> list[float]:
    """Lowest cutoff at which each pair is within it, and shares so many partners within it."""
    sigma = {frozenset((int(a), int(b))): float(s) for (a, b), s in zip(pairs, sigmas, strict=True)}
    found = []
    for a, b in pairs:
        height = math.inf
        for cutoff in sorted(set(sigma.values())):
            near = [
                c
                for c in range(n)
                if c not in (a, b)
                and sigma.get(frozenset((int(a), c)), math.inf) <= cutoff
                and sigma.get(frozenset((int(b), c)), math.inf) <= cutoff
            ]
            if sigma[frozenset((int(a), int(b)))] <= cutoff and len(near) >= n_shared:
                height = cutoff
                break
        found.append(height)
    return found


def average_merges(matrix: Floats) -> list[tuple[frozenset[int], float]]:
    """Clusters that form when the two of lowest mean σ² over all pairs join, again and again."""
    parts = [frozenset([i]) for i in range(len(matrix))]
    found = []
    while len(parts) > 1:
        height, one, other = min(
            (float(np.mean([matrix[i, j] ** 2 for i in a for j in b])), k, m)
            for k, a in enumerate(parts)
            for m, b in enumerate(parts)
            if k < m
        )
        joined = parts[one] | parts[other]
        parts = [part for k, part in enumerate(parts) if k not in (one, other)] + [joined]
        found.append((joined, math.sqrt(height)))
    return found


# Series in time


def autocorrelation(
    series: Floats, replicas: Sequence[int], errors: Sequence[float] | None = None
) -> list[float]:
    """Mean over series of Σ d(t) d(t + k) / Σ d(t)², products within a replica alone.

    Of each product d(s) d(t), errors of variance v make v − v/n if s = t and else −v/n, which is
    taken off; the mean is then divided by that at lag 0.
    """
    found = []
    for number, row in enumerate(series):
        v = 0.0 if errors is None else errors[number]
        if max(row) == min(row):
            continue
        d = row - row.mean()
        sums = [0.0] * max(replicas)
        begin = 0
        for length in replicas:
            for s in range(begin, begin + length):
                for t in range(s, begin + length):
                    sums[t - s] += d[s] * d[t] - v * ((s == t) - 1 / len(row))
            begin += length
        found.append([value / sum(d**2) for value in sums])
    mean = [sum(values) / len(found) for values in zip(*found, strict=True)]
    return [value / mean[0] for value in mean]


def correlation_time(
    series: Floats,
    replicas: Sequence[int],
    *,
    errors: Sequence[float] | None = None,
    corrected: bool = False,
) -> float:
    """1 + 2 Σ ρ(k), summed in couples of lags (0, 1), (2, 3), … while these are above 0.

    Corrected: the variance about the mean lacks that of the mean, a share τ / n of all; so much is
    added to every product that there is, and all are divided by that of lag 0 again. τ is then no
    less than that of an exponential which falls to a half as soon, and no more than Σ l² / n.
    """
    rho = autocorrelation(series, replicas, errors)
    if not corrected:
        return initial_sum(rho)
    n = sum(replicas)
    share = min(0.5, max(initial_sum(rho), half_sum(rho)) / n)
    if share * n <= 1:
        return 1.0
    added = share / (1 - share)
    for k in range(len(rho)):
        products = sum(max(0, length - k) for length in replicas)
        rho[k] = (rho[k] + added * products / n) / (1 + added)
    most = sum(length**2 for length in replicas) / n
    return min(max(initial_sum(rho), half_sum(rho)), most)


def half_sum(rho: Sequence[float]) -> float:
    """Twice the area below ρ up to the first lag with ρ ≤ ½, of which it is 1 − ρ there; or 1."""
    area = 0.0
    for k in range(1, len(rho)):
        area += (rho[k - 1] + rho[k]) / 2
        if rho[k] <= 0.5:
            return 2 * area / (1 - rho[k])
    return 1.0


def initial_sum(rho: Sequence[float]) -> float:
    """1 + 2 Σ ρ(k) up to the first couple of lags that is not above 0, at least 1."""
    total = -1.0
    for k in range(0, len(rho) - 1, 2):
        if rho[k] + rho[k + 1] <= 0:
            break
        total += 2 * (rho[k] + rho[k + 1])
    return max(1.0, total)


def drawn_snapshots(snapshots: Floats, parts: Sequence[range], times: Sequence[int]) -> Floats:
    """The snapshots of each part, one after another, as often as the part counts."""
    rows = [t for part, count in zip(parts, times, strict=True) for t in list(part) * int(count)]
    return snapshots[rows]


def resampled_object_sigma(
    snapshots: Floats,
    members_a: Sequence[int],
    members_b: Sequence[int],
    parts: Sequence[Sequence[int]],
    times: Sequence[int],
) -> float:
    """Fluctuation of two groups of sites if each part of the snapshots counts so many times.

    In each part, squares of deviations are those of a cross pair from its mean over all snapshots
    that saw it, averaged over these, and then over the cross pairs. A part counts by the snapshots
    of it in which the cross pair is seen that is seen least.
    """
    cross = list(itertools.product(members_a, members_b))
    total = weight = 0.0
    for part, count in zip(parts, times, strict=True):
        squares, seen = [], []
        for i, j in cross:
            distances, frames = pair_distances(snapshots, i, j)
            mean = math.fsum(distances) / len(distances)
            own = [
                (r - mean) ** 2 for r, frame in zip(distances, frames, strict=True) if frame in part
            ]
            seen.append(len(own))
            squares.append(math.fsum(own) / len(own) if own else 0.0)
        total += count * min(seen) * math.fsum(squares) / len(squares)
        weight += count * min(seen)
    return math.sqrt(total / weight)


def separation(
    sigma_of: Mapping[tuple[int, int], float], side: Collection[int], other: Collection[int]
) -> tuple[float, float, float]:
    """Median σ of pairs across a split, of those inside one side, and inside the other."""
    across, inside, inside_other = [], [], []
    for (a, b), value in sigma_of.items():
        if a in side and b in side:
            inside.append(value)
        elif a in other and b in other:
            inside_other.append(value)
        elif (a in side and b in other) or (a in other and b in side):
            across.append(value)
    return median(across), median(inside), median(inside_other)


def rms_change_of_distances(before: Floats, after: Floats, pairs: Iterable[Any]) -> float:
    """How much the distances of pairs change from one snapshot to another."""
    squares = []
    for one, other in pairs:
        then = math.dist(before[one], before[other])
        now = math.dist(after[one], after[other])
        squares.append((now - then) ** 2)
    return math.sqrt(sum(squares) / len(squares))


# Rigid bodies


def seen_from(place: Vector, turn: Floats, centre: Vector) -> list[float]:
    """Where an observer sees a place who is at a centre and turned: Rᵀ (x − c)."""
    away = [place[i] - centre[i] for i in range(3)]
    return [math.fsum(turn[i, j] * away[i] for i in range(3)) for j in range(3)]


def mean_place(places: Floats, turns: Floats, centres: Floats | None = None) -> list[float]:
    """Mean over snapshots of where an observer sees a site who moves with a body."""
    origins = np.zeros_like(places) if centres is None else centres
    seen = [seen_from(*each) for each in zip(places, turns, origins, strict=True)]
    return [math.fsum(each[j] for each in seen) / len(seen) for j in range(3)]


def moved(places: Floats, turns: Floats, centres: Floats) -> float:
    """Sum over snapshots of squared distances of a site from its mean place, seen from a body."""
    middle = mean_place(places, turns, centres)
    seen = [seen_from(*each) for each in zip(places, turns, centres, strict=True)]
    return math.fsum(math.dist(each, middle) ** 2 for each in seen)


def products(places: Floats, shape: Floats) -> Floats:
    """Σ y xᵀ over sites, y where they are and x their shape."""
    found = np.zeros((3, 3))
    for y, x in zip(places, shape, strict=True):
        for i in range(3):
            for j in range(3):
                found[i, j] += y[i] * x[j]
    return found
