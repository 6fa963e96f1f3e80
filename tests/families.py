"""Families of planted ensembles on which confidence is measured, and how it is scored.

Sites are packed at about 130 Å³ each, at least 4 Å apart. All motions are Ornstein-Uhlenbeck
processes with a correlation time in snapshots; angles are standard deviations. Jitter is the root
mean square displacement of a site.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import signal

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Family:
    """One planted ensemble."""

    coordinates: Floats  # (snapshots, sites, dimensions)
    labels: Ints  # (sites,), body of each site; -1 for none
    radius: float  # within which sites are in contact


def relaxing(shape: tuple[int, ...], time: float, rng: np.random.Generator) -> Floats:
    """Stationary process of variance 1 along the first axis, forgotten as exp(-t / time)."""
    kept = np.exp(-1 / time)
    noise = rng.normal(size=shape)
    noise[1:] *= np.sqrt(1 - kept**2)
    return np.asarray(signal.lfilter([1], [1, -kept], noise, axis=0))


def packed(n_sites: int, rng: np.random.Generator, stretch: float = 1.0) -> Floats:
    """Sites in a ball, or an ellipsoid that is longer along x, at random but 4 Å apart."""
    radius = (3 * 130 * n_sites / (4 * np.pi * stretch)) ** (1 / 3)
    placed = np.empty((0, 3))
    while len(placed) < n_sites:
        tried = rng.uniform(-1, 1, 3)
        site = radius * tried * np.array([stretch, 1, 1])
        near = len(placed) and np.linalg.norm(placed - site, axis=1).min() < 4 * rng.uniform(0.9, 1)
        if (tried**2).sum() <= 1 and not near:
            placed = np.concatenate([placed, [site]])
    return placed


def smooth(places: Floats, low: float, high: float, rng: np.random.Generator) -> Floats:
    """Amplitudes (sites, 1) that vary smoothly over space."""
    direction = rng.normal(size=3)
    direction /= np.linalg.norm(direction)
    wave = np.sin(places @ direction * 2 * np.pi / 30 + rng.uniform(0, 6))
    return np.asarray(low + (high - low) * (0.5 + 0.5 * wave))[:, None]


def turned(places: Floats, angles: Floats, axis: int, about: Floats) -> Floats:
    """Turn (snapshots, sites, 3) about a point and one of the axes of space."""
    others = [each for each in range(3) if each != axis]
    made, (a, b) = places - about, others
    cosine, sine = np.cos(angles)[:, None], np.sin(angles)[:, None]
    made[:, :, a], made[:, :, b] = (
        cosine * made[:, :, a] - sine * made[:, :, b],
        sine * made[:, :, a] + cosine * made[:, :, b],
    )
    return made + about


def hinges(
    n_snapshots: int,
    seed: int,
    *,
    sizes: Sequence[int] = (40, 40),
    angles: Sequence[float] = (15.0,),
    time: float = 10.0,
    jitter: tuple[float, float] = (0.15, 0.15),
    tail: int = 0,
    axes: Sequence[int] = (1,),
    strain: float = 0.0,
) -> Family:
    """Balls in a row on hinges low in their interfaces, and a tail whose noise adds up."""
    rng = np.random.default_rng(seed)
    rest, begin, pivots = list[Floats](), 0.0, list[Floats]()
    for size in sizes:
        ball = packed(size, rng)
        radius = np.abs(ball[:, 0]).max()
        rest.append(ball + np.array([begin + radius, 0, 0]))
        begin += 2 * radius + 1.0
        pivots.append(np.array([begin - 0.5, 0.0, -radius]))
    labels = np.repeat(np.arange(len(sizes)), sizes)
    places = np.concatenate(rest)
    moved = np.tile(places, (n_snapshots, 1, 1))
    if strain:
        for body in range(len(sizes)):
            own = labels == body
            factors = 1 + strain * relaxing((n_snapshots, 1, 3), 10.0, rng)
            centre = places[own].mean(axis=0)
            moved[:, own] = centre + (moved[:, own] - centre) * factors
    for joint in range(len(sizes) - 1, 0, -1):
        for axis in axes:
            swing = np.radians(angles[joint - 1]) * relaxing((n_snapshots,), time, rng)
            beyond = labels >= joint
            moved[:, beyond] = turned(moved[:, beyond], swing, axis, pivots[joint - 1])
    moved += smooth(places, *jitter, rng) / 3**0.5 * relaxing(moved.shape, 2.0, rng)
    if tail:
        steps = np.tile(rng.normal(size=(tail, 3)) * 1.2 + [0, 2.5, 0], (n_snapshots, 1, 1))
        steps += 0.8 * relaxing(steps.shape, 5.0, rng)
        end = places[:, 1].argmax()
        moved = np.concatenate([moved, moved[:, end, None] + np.cumsum(steps, axis=1)], axis=1)
        labels = np.append(labels, np.full(tail, -1))
    return Family(moved, labels if any(angles) else np.minimum(labels, 0), 10.0)


def colloids(n_snapshots: int, seed: int) -> Family:
    """Five clusters of 20 touching spheres that drift and turn among 80 free ones."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*[np.arange(3.0)] * 3), axis=-1).reshape(-1, 3)[:20] - 1.0
    bodies = list[Floats]()
    for corner in itertools.islice(itertools.product([0.0, 4.5], repeat=3), 5):
        path = np.cumsum(0.02 * rng.normal(size=(n_snapshots, 1, 3)), axis=0)
        made = np.tile(grid, (n_snapshots, 1, 1))
        for axis in range(3):
            angles = np.cumsum(0.03 * rng.normal(size=n_snapshots))
            made = turned(made, angles, axis, np.zeros(3))
        bodies.append(made + path + np.array(corner))
    start = rng.uniform(-2, 7, (80, 3))
    free = start + np.cumsum(0.06 * rng.normal(size=(n_snapshots, 80, 3)), axis=0)
    places = np.concatenate([*bodies, free], axis=1)
    places += 0.03 / 3**0.5 * relaxing(places.shape, 2.0, rng)
    return Family(places, np.append(np.repeat(np.arange(5), 20), np.full(80, -1)), 1.6)


def still(n_snapshots: int, seed: int, kind: str) -> Family:
    """One body without a hinge, whose sites move unequally or slowly."""
    rng = np.random.default_rng(seed)
    stretch, n_sites = (3.0, 120) if kind == "gradient" else (1.0, 100)
    places, time = packed(n_sites, rng, stretch), 20.0 if kind == "slow" else 2.0
    along = (places[:, 0] - places[:, 0].min()) / np.ptp(places[:, 0])
    amplitudes = {
        "gradient": 0.1 + 0.5 * along,
        "patchy": np.where(smooth(places, 0.0, 1.0, rng)[:, 0] > 0.75, 0.6, 0.15),
        "barrel": np.full(n_sites, 0.15),
    }.get(kind, np.full(n_sites, 0.2))
    trembling = relaxing((n_snapshots, n_sites, 3), time, rng) / 3**0.5
    moved = places + amplitudes[:, None] * trembling
    labels = np.zeros(n_sites, np.int64)
    if kind == "barrel":  # with a loop, whose sites follow one another
        top = places[:, 2].argsort()[-1]
        arch = np.linspace(0, np.pi, 12)
        loop = places[top] + 5 * np.column_stack([np.cos(arch), 0 * arch, 1 + np.sin(arch)])
        swing = 1.5 * np.sin(arch)[:, None] * relaxing((n_snapshots, 1, 3), 10.0, rng)
        noise = 0.15 / 3**0.5 * relaxing((n_snapshots, 12, 3), 2.0, rng)
        moved = np.concatenate([moved, loop + swing + noise], axis=1)
        labels = np.append(labels, np.full(12, -1))
    return Family(moved, labels, 10.0)


def _hinges(**options: object) -> Callable[[int, int], Family]:
    return lambda n, seed: hinges(n, seed, **options)  # type: ignore[arg-type]


HINGED: dict[str, Callable[[int, int], Family]] = {
    "hinge 15": _hinges(tail=15),
    "hinge 5": _hinges(tail=15, angles=(5.0,)),
    "hinge 5 slow": _hinges(tail=15, angles=(5.0,), time=100.0),
    "hinge 15 unequal": _hinges(tail=15, jitter=(0.1, 0.5)),
    "hinge 5 unequal": _hinges(tail=15, angles=(5.0,), jitter=(0.1, 0.5)),
    "three domains": _hinges(
        sizes=(90, 40, 30), angles=(20.0, 8.0), time=20.0, jitter=(0.12, 0.35)
    ),
    "six soft bodies": _hinges(
        sizes=(25,) * 6, angles=(10.0,) * 5, time=15.0, jitter=(0.3, 0.3), axes=(1, 2), strain=0.02
    ),
    "colloids": colloids,
}
STILL: dict[str, Callable[[int, int], Family]] = {
    "no hinge": _hinges(tail=15, angles=(0.0,)),
    **{
        kind: lambda n, seed, kind=kind: still(n, seed, kind)  # type: ignore[misc]
        for kind in ("barrel", "gradient", "patchy", "slow", "uniform")
    },
}


def score(labels: Ints, clusters: Iterable[Ints]) -> tuple[int, int, int]:
    """Return how many bodies were hit, clusters that are right, and clusters that count.

    A cluster is right if its Jaccard overlap with a body, or a union of bodies, is 0.75 or more;
    sites of no body do not count, nor do clusters mostly of these.
    """
    hit, right, n_scored = set[int](), 0, 0
    n_bodies = int(labels.max()) + 1
    sizes = np.bincount(labels[labels >= 0], minlength=n_bodies)
    for sites in clusters:
        own = labels[sites]
        own = own[own >= 0]
        if 2 * len(own) < len(sites):
            continue
        n_scored += 1
        counts = np.bincount(own, minlength=n_bodies)
        best = 0.0
        for size in range(1, n_bodies + 1):
            for union in map(list, itertools.combinations(range(n_bodies), size)):
                shared = counts[union].sum()
                overlap = shared / (len(own) + sizes[union].sum() - shared)
                best = max(best, overlap)
                if size == 1 and overlap >= 0.75:
                    hit.add(union[0])
        right += best >= 0.75
    return len(hit), right, n_scored


def walkers_with_group(
    n_walkers: int, n_group: int, seed: int, n_snapshots: int = 100
) -> tuple[Floats, Ints]:
    """Random walkers of which some move together; their coordinates and the group."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(n_snapshots, n_walkers, 3))
    group = np.sort(rng.permutation(n_walkers)[:n_group])
    steps[:, group] = steps[:, group[:1]] + 0.1 * steps[:, group]
    start = 5.0 * n_walkers ** (1 / 3) * rng.random((n_walkers, 3))
    return start + np.cumsum(steps, axis=0), group
