"""Slow, obvious reference of every definition, written out as loops.

It shares no code with the package, so that agreement means something.

``snapshots`` is an array (snapshots, sites, dimensions); a NaN coordinate says that the site was
not seen. ``boxes`` is None or an array (snapshots, dimensions, dimensions) whose rows are the box
vectors; a row of zeros is an open direction. ``pairs`` and ``sigmas`` are parallel: ``sigmas[k]``
belongs to ``pairs[k]``, and a NaN joins nothing.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Vector = Sequence[float] | npt.NDArray[np.floating[Any]]
Pairs = Sequence[tuple[int, int]] | npt.NDArray[np.integer[Any]]
Cluster = frozenset[int]
Weights = Vector | None
Boxes = Floats | None

# ---- distances and their fluctuation -----------------------------------------------------------


def nearest_image(a: Vector, b: Vector, box: npt.ArrayLike) -> Floats:
    """Of all periodic images of b, the one nearest to a."""
    vectors = np.asarray(box, dtype=np.float64)
    vectors = vectors[vectors.any(axis=1)]
    inverse = np.linalg.pinv(vectors)
    difference = np.asarray(b, dtype=np.float64) - np.asarray(a, dtype=np.float64)
    wrapped = difference - np.round(difference @ inverse) @ vectors
    # An image no longer than `wrapped` is at most so many cells away, however skewed they are.
    farthest = 2 * np.linalg.norm(wrapped) * np.linalg.norm(inverse, axis=0)
    reach = np.maximum(1, np.ceil(farthest)).astype(int)
    shifts = itertools.product(*(range(-k, k + 1) for k in reach))
    images = (wrapped + np.array(shift, dtype=np.float64) @ vectors for shift in shifts)
    return np.asarray(a) + min(images, key=np.linalg.norm)


def distance(a: Vector, b: Vector, box: npt.ArrayLike | None = None) -> float:
    """Euclidean distance; in a box, to the nearest periodic image."""
    return math.dist(a, b if box is None else nearest_image(a, b, box))


def sigma(distances: Vector, weights: Weights = None) -> float:
    """Population standard deviation; NaN of nothing, or where all weights are zero."""
    if weights is None:
        weights = [1.0] * len(distances)
    total = math.fsum(weights)
    if total == 0:
        return math.nan
    mean = math.fsum(w / total * r for w, r in zip(weights, distances, strict=True))
    squares = (w / total * (r - mean) ** 2 for w, r in zip(weights, distances, strict=True))
    return math.sqrt(math.fsum(squares))


def pair_distances(
    snapshots: Floats, a: int, b: int, boxes: Boxes = None
) -> tuple[list[float], list[int]]:
    """Distance of two sites in every snapshot that saw both, and which snapshots these are."""
    seen = [
        t
        for t, sites in enumerate(snapshots)
        if not np.isnan(sites[a]).any() and not np.isnan(sites[b]).any()
    ]
    box_of = {t: None if boxes is None else boxes[t] for t in seen}
    return [distance(snapshots[t][a], snapshots[t][b], box_of[t]) for t in seen], seen


def pair_sigma(
    snapshots: Floats, a: int, b: int, *, weights: Weights = None, boxes: Boxes = None
) -> tuple[float, int]:
    """Fluctuation of the distance of two sites, and the number of snapshots that saw both."""
    distances, seen = pair_distances(snapshots, a, b, boxes)
    return sigma(distances, None if weights is None else [weights[t] for t in seen]), len(seen)


def moments(distances: Vector, weights: Weights = None) -> tuple[int, float, float, float]:
    """Number, weight, mean and variance of those distances that count."""
    counting = [1.0] * len(distances) if weights is None else weights
    total = math.fsum(counting)
    if total == 0:
        return 0, 0.0, 0.0, math.nan
    mean = math.fsum(w / total * r for w, r in zip(counting, distances, strict=True))
    return sum(w > 0 for w in counting), total, mean, sigma(distances, weights) ** 2


def object_sigma(
    snapshots: Floats,
    members_a: Iterable[int],
    members_b: Iterable[int],
    *,
    reduction: str = "rms",
    weights: Weights = None,
    boxes: Boxes = None,
) -> float:
    """Fluctuation of two groups of sites, reduced over all cross pairs ("rms" or "max").

    A site in both groups counts 0. A cross pair that is never seen together makes the whole NaN.
    """
    sigmas = []
    for i, j in itertools.product(members_a, members_b):
        of_pair = pair_sigma(snapshots, i, j, weights=weights, boxes=boxes)[0]
        sigmas.append(0.0 if i == j else of_pair)
    if any(math.isnan(s) for s in sigmas):
        return math.nan
    if reduction == "max":
        return max(sigmas)
    return math.sqrt(math.fsum(s**2 for s in sigmas) / len(sigmas))


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
    total = weight = 0.0
    for part, count in zip(parts, times, strict=True):
        squares, n_seen = [], []
        for i, j in itertools.product(members_a, members_b):
            distances, seen = pair_distances(snapshots, i, j)
            mean = math.fsum(distances) / len(distances)
            own = [(r - mean) ** 2 for r, t in zip(distances, seen, strict=True) if t in part]
            n_seen.append(len(own))
            squares.append(math.fsum(own) / len(own) if own else 0.0)
        total += count * min(n_seen) * math.fsum(squares) / len(squares)
        weight += count * min(n_seen)
    return math.sqrt(total / weight)


# ---- which pairs are compared ------------------------------------------------------------------


def contacts(
    snapshots: Floats, radius: float, *, at_least: int = 1, boxes: Boxes = None
) -> list[tuple[int, int]]:
    """Pairs no farther apart than the radius in at least so many snapshots."""
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
    """Number of bonds between any two of n sites; inf where no path of bonds leads."""
    separation = np.where(np.eye(n) == 1, 0.0, np.inf)
    for _ in range(n):
        for a, b in bonds:
            shorter = np.minimum(separation[a], separation[b] + 1)
            separation[b] = np.minimum(separation[b], separation[a] + 1)
            separation[a] = shorter
    return separation


# ---- boxes and molecules -----------------------------------------------------------------------


def whole(snapshot: Floats, bonds: Pairs, box: npt.ArrayLike) -> Floats:
    """Positions after a walk from the first atom of each molecule, nearest images by bonds."""
    placed: dict[int, Floats] = {}
    for first in range(len(snapshot)):
        waiting = [] if first in placed else [first]
        placed.setdefault(first, snapshot[first])
        for atom in waiting:
            for other in sorted({int(i) for bond in bonds if atom in bond for i in bond} - {atom}):
                if other not in placed:
                    placed[other] = nearest_image(placed[atom], snapshot[other], box)
                    waiting.append(other)
    return np.array([placed[atom] for atom in range(len(snapshot))])


def unwrapped(path: Floats, boxes: Floats) -> Floats:
    """Path (snapshots, dimensions) of one particle without jumps.

    Each position is the image nearest to where the particle would be if it had kept its place in
    the box.
    """
    found = [path[0]]
    for before, now, position in zip(boxes, boxes[1:], path[1:], strict=False):
        closed = now.any(axis=1)
        along = np.linalg.lstsq(before[closed].T, found[-1], rcond=None)[0]
        kept = found[-1] + along @ (now[closed] - before[closed])
        found.append(nearest_image(kept, position, now))
    return np.array(found)


# ---- the hierarchy -----------------------------------------------------------------------------


def clusters(n: int, pairs: Pairs, sigmas: Vector, cutoff: float) -> list[Cluster]:
    """Sets of sites connected by pairs within the cutoff, largest first, then by lowest site."""
    cluster_of = {site: {site} for site in range(n)}
    for (i, j), value in zip(pairs, sigmas, strict=True):
        if value <= cutoff and cluster_of[int(i)] is not cluster_of[int(j)]:
            joined = cluster_of[int(i)] | cluster_of[int(j)]
            cluster_of |= dict.fromkeys(joined, joined)
    return largest_first({frozenset(cluster) for cluster in cluster_of.values()})


def largest_first(found: Iterable[Cluster]) -> list[Cluster]:
    """Clusters by size; ties: the one with the lowest site first."""
    return sorted(found, key=lambda cluster: (-len(cluster), min(cluster)))


def labels(n: int, pairs: Pairs, sigmas: Vector, cutoff: float) -> list[int]:
    """Cluster of every site, counted from the largest."""
    found = clusters(n, pairs, sigmas, cutoff)
    return [next(k for k, cluster in enumerate(found) if site in cluster) for site in range(n)]


def levels(n: int, pairs: Pairs, sigmas: Vector) -> list[float]:
    """Cutoffs at which the partition changes, lowest first."""
    heights = [-math.inf, *sorted({float(s) for s in sigmas if math.isfinite(s)})]
    parts = [clusters(n, pairs, sigmas, height) for height in heights]
    return [heights[k] for k in range(1, len(heights)) if parts[k] != parts[k - 1]]


def dilution(n: int, pairs: Pairs, sigmas: Vector) -> list[tuple[float, list[Cluster]]]:
    """Every partition with the cutoff from which it holds, -inf (single sites) first."""
    cutoffs = [-math.inf, *levels(n, pairs, sigmas)]
    return [(cutoff, clusters(n, pairs, sigmas, cutoff)) for cutoff in cutoffs]


def site_order(n: int, pairs: Pairs, sigmas: Vector) -> list[int]:
    """Sites from left to right, so that every cluster is contiguous at every cutoff.

    From the top down, each cluster is replaced in its place by the parts it splits into, the
    largest part first.
    """
    order = [frozenset(range(n))]
    for _, parts in reversed(dilution(n, pairs, sigmas)):
        order = [part for cluster in order for part in parts if part <= cluster]
    return [site for (site,) in order]


def joining_heights(n: int, pairs: Pairs, sigmas: Vector) -> Floats:
    """Lowest cutoff at which two sites are in one cluster; inf if never, -inf on the diagonal."""
    height = np.full((n, n), np.inf)
    for cutoff, parts in reversed(dilution(n, pairs, sigmas)):
        for cluster in parts:
            height[np.ix_(sorted(cluster), sorted(cluster))] = cutoff
    return height


def core_heights(n: int, pairs: Pairs, sigmas: Vector) -> list[float]:
    """Height at which each site joins the line of the core; inf if never.

    The line starts from the largest cluster at the top and follows the largest part downwards; the
    last single site joins with its first partner.
    """
    partitions = dilution(n, pairs, sigmas)
    core, height = partitions[-1][1][0], dict.fromkeys(range(n), math.inf)
    for (_, lower), (cutoff, _) in reversed(list(itertools.pairwise(partitions))):
        largest = next(part for part in lower if part <= core)
        height |= dict.fromkeys(core if len(largest) == 1 < len(core) else core - largest, cutoff)
        core = largest
    return [height[site] for site in range(n)]


def statistics(
    partition: Sequence[int] | npt.NDArray[np.integer[Any]], large: int = 10, n_sizes: int = 5
) -> dict[str, Any]:
    """Counts of one partition; means and fractions are over sites, not over clusters."""
    seen = [list(partition).count(label) for label in partition]
    return {
        "n_clusters": len(set(partition)),
        "largest": max(seen),
        "mean_size": sum(seen) / len(seen),
        "size_fractions": [seen.count(r) / len(seen) for r in range(1, n_sizes + 1)],
        "large_fraction": sum(size >= large for size in seen) / len(seen),
    }


def founders(n: int, pairs: Pairs, sigmas: Vector) -> list[tuple[float, dict[Cluster, Cluster]]]:
    """For every cutoff, highest first: the cluster with which the family of each cluster began.

    Every tree begins a family. From the top down, the larger part of what splits stays in its
    family, and each other part begins its own.
    """
    partitions = reversed(dilution(n, pairs, sigmas))
    cutoff, trees = next(partitions)
    found = [(cutoff, {tree: tree for tree in trees})]
    for cutoff, parts in partitions:
        began = dict[Cluster, Cluster]()
        for cluster, founder in found[-1][1].items():
            larger, *others = [part for part in parts if part <= cluster]
            began |= {larger: founder} | {part: part for part in others}
        found.append((cutoff, began))
    return found


def families(n: int, pairs: Pairs, sigmas: Vector) -> list[tuple[float, list[int]]]:
    """For every cutoff, highest first: the family of each cluster, in the order of their labels.

    Families are numbered by the size of their founder; ties: by its place in site order.
    """
    began = founders(n, pairs, sigmas)
    place = np.argsort(site_order(n, pairs, sigmas))
    every = {founder for _, of_cluster in began for founder in of_cluster.values()}
    ranked = sorted(every, key=lambda founder: (-len(founder), min(place[list(founder)])))
    return [
        (cutoff, [ranked.index(of_cluster[cluster]) for cluster in largest_first(of_cluster)])
        for cutoff, of_cluster in began
    ]


def stripes(
    n: int, pairs: Pairs, sigmas: Vector, axis: Sequence[int], min_size: int = 1
) -> list[tuple[int, int, float, float, int]]:
    """Runs of places on an axis of sites in one cluster of a family, over all cutoffs.

    A stripe is (start, stop, low, high, family): from cutoff `low` on, and below `high`, the places
    from `start` to before `stop` are in one cluster of at least that size, their neighbours not.
    """
    found, since = [], dict[tuple[int, int, int], float]()
    for cutoff, family in reversed(families(n, pairs, sigmas)):
        label, now, start = labels(n, pairs, sigmas, cutoff), set(), 0
        for cluster, run in itertools.groupby(label[site] for site in axis):
            stop = start + len(list(run))
            if label.count(cluster) >= min_size:
                now.add((start, stop, family[cluster]))
            start = stop
        found += [(*run, low, cutoff) for run, low in since.items() if run not in now]
        since = {run: since.get(run, cutoff) for run in now}
    found += [(*run, low, math.inf) for run, low in since.items()]
    return sorted((start, stop, low, high, kept) for start, stop, kept, low, high in found)


def lives(n: int, pairs: Pairs, sigmas: Vector) -> dict[Cluster, tuple[float, float]]:
    """Range of cutoffs in which every cluster ever alive holds exactly the same sites."""
    found = dict[Cluster, tuple[float, float]]()
    for cutoff, parts in reversed(dilution(n, pairs, sigmas)):
        ends = found.values()
        end = min((low for low, _ in ends), default=math.inf)
        found |= {part: (cutoff, found[part][1] if part in found else end) for part in parts}
    return found


def braced(n: int, pairs: Pairs, sigmas: Vector, n_shared: int) -> list[float]:
    """Lowest cutoff at which each pair is within it, and shares so many partners within it."""
    height = np.full((n, n), np.inf)
    for (i, j), value in zip(pairs, sigmas, strict=True):
        height[i, j] = height[j, i] = value
    found = []
    for i, j in pairs:
        shared = sorted(max(height[i, k], height[j, k]) for k in range(n) if k not in (i, j))
        enough = shared[n_shared - 1] if len(shared) >= n_shared else np.inf
        found.append(float(max(height[i, j], enough)))
    return found


def average_merges(matrix: Floats) -> list[tuple[Cluster, float]]:
    """Clusters that form when the two of lowest mean σ² over all pairs join, again and again."""
    parts, found = [frozenset([i]) for i in range(len(matrix))], []
    while len(parts) > 1:
        mean, k, m = min(
            (float(np.mean(matrix[np.ix_(sorted(a), sorted(b))] ** 2)), k, m)
            for (k, a), (m, b) in itertools.combinations(enumerate(parts), 2)
        )
        found.append((parts[k] | parts[m], math.sqrt(mean)))
        parts = [part for i, part in enumerate(parts) if i not in (k, m)] + [found[-1][0]]
    return found


def adjusted_rand(first: Sequence[int], second: Sequence[int]) -> float:
    """Adjusted Rand index, from the four kinds of pairs of sites."""
    kinds = [
        (first[i] == first[j], second[i] == second[j])
        for i, j in itertools.combinations(range(len(first)), 2)
    ]
    both, neither = kinds.count((True, True)), kinds.count((False, False))
    one, other = kinds.count((True, False)), kinds.count((False, True))
    if one == other == 0:
        return 1.0
    total = (both + one) * (one + neither) + (both + other) * (other + neither)
    return 2 * (both * neither - one * other) / total


# ---- series in time ----------------------------------------------------------------------------


def autocorrelation(
    series: Floats, replicas: Sequence[int], errors: Floats | None = None
) -> list[float]:
    """Mean over series of Σ d(t) d(t + k) / Σ d(t)², products within a replica alone.

    Errors of variance v add v − v/n to a product d(t)² and −v/n to any other, which is taken off;
    the mean is then divided by that at lag 0.
    """
    found = []
    for number, row in enumerate(series):
        v, d, sums, begin = 0.0 if errors is None else errors[number], row - row.mean(), [0.0], 0
        if max(row) == min(row):
            continue
        sums = [0.0] * max(replicas)
        for length in replicas:
            for s, t in itertools.combinations_with_replacement(range(begin, begin + length), 2):
                sums[t - s] += d[s] * d[t] - v * ((s == t) - 1 / len(row))
            begin += length
        found.append([value / sum(d**2) for value in sums])
    mean = [sum(values) / len(found) for values in zip(*found, strict=True)]
    return [value / mean[0] for value in mean]


def initial_sum(rho: Sequence[float]) -> float:
    """1 + 2 Σ ρ(k) up to the first couple of lags that is not above 0, at least 1."""
    couples = [rho[k] + rho[k + 1] for k in range(0, len(rho) - 1, 2)]
    return max(1.0, 2 * sum(itertools.takewhile(lambda couple: couple > 0, couples)) - 1)


def half_sum(rho: Sequence[float]) -> float:
    """Twice the area below ρ up to the first lag with ρ ≤ ½, of which it is 1 − ρ there; or 1."""
    for k in range(1, len(rho)):
        if rho[k] <= 0.5:
            return (sum(rho[:k]) + sum(rho[1 : k + 1])) / (1 - rho[k])
    return 1.0


def correlation_time(
    series: Floats,
    replicas: Sequence[int],
    *,
    errors: Floats | None = None,
    corrected: bool = False,
) -> float:
    """1 + 2 Σ ρ(k), summed in couples of lags (0, 1), (2, 3), … while these are above 0.

    Corrected: the variance about the mean lacks that of the mean, a share τ / n of all; so much is
    added to every product, and all are divided by that of lag 0 again. τ is then no less than that
    of an exponential which falls to a half as soon, and no more than Σ l² / n.
    """
    rho, n = autocorrelation(series, replicas, errors), sum(replicas)
    if not corrected:
        return initial_sum(rho)
    share = min(0.5, max(initial_sum(rho), half_sum(rho)) / n)
    if share * n <= 1:
        return 1.0
    added = share / (1 - share)
    products = [sum(max(0, length - k) for length in replicas) for k in range(len(rho))]
    rho = [(r + added * m / n) / (1 + added) for r, m in zip(rho, products, strict=True)]
    most = sum(length**2 for length in replicas) / n
    return min(max(initial_sum(rho), half_sum(rho)), most)


def masks(condensed: Any) -> Any:
    """Which sites (clusters, sites) belong to which cluster of a condensed tree."""
    every = range(condensed.hierarchy.n_sites)
    members = [set(condensed.members(k).tolist()) for k in range(len(condensed))]
    found = [[site in own for site in every] for own in members]
    return np.array(found, bool).reshape(len(members), len(every))
