"""Planted motions for motion.md, from generators that share nothing with timme.synthetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.spatial.transform import Rotation

import timme
from docs.make_numbers import table
from timme.motion import Hinge, bodies, hinge

SEEDS, MANY, AXES = 20, 100, 60  # a cell: of bodies, of one body, of axes
SNAPSHOTS = (2, 20, 100)
SHAPES = ("ellipsoid", "box", "walk", "helices")
Make = Callable[[int, int], tuple[np.ndarray, np.ndarray]]  # snapshots, seed: places, labels


def shape(n_sites: int, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Sites of one body, about as dense as Cα of a protein."""
    radius = 3.8 * (n_sites / 3.77) ** (1 / 3)
    if kind == "walk":  # that is drawn back to its beginning
        places = np.zeros((n_sites, 3))
        for site in range(1, n_sites):
            step = rng.normal(size=3) - 0.06 * places[site - 1]
            places[site] = places[site - 1] + 3.8 * step / np.linalg.norm(step)
    elif kind == "helices":
        site = np.arange(n_sites)
        turn, rise, row = 1.745 * site, 1.5 * (site % 18), site // 18
        places = np.column_stack([2.3 * np.cos(turn), 2.3 * np.sin(turn), rise])
        places += 10.0 * np.column_stack([row % 2, row // 2 % 2, row // 4])
    elif kind == "box":
        places = radius * (rng.random((n_sites, 3)) - 0.5) * [2.6, 1.6, 1.6]
    else:
        places = rng.normal(size=(n_sites, 3))
        places *= rng.random((n_sites, 1)) ** (1 / 3) / np.linalg.norm(places, axis=1)[:, None]
        places *= radius * np.array([1.6, 1.0, 0.65])
    return np.asarray(places - places.mean(axis=0))


def tumbled(snapshots: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
    """Add white noise, then turn and shift every snapshot as a whole."""
    noisy = snapshots + noise * rng.normal(size=snapshots.shape)
    turns = Rotation.random(len(noisy), rng=rng).as_matrix()
    return np.asarray(noisy @ turns.swapaxes(1, 2) + 100 * rng.normal(size=(len(noisy), 1, 3)))


def jointed(sizes: Sequence[int], span: float, *, kind: str = "hinge", noise: float = 0.1) -> Make:
    """Bodies that touch the first one, and move against it."""

    def make(n_snapshots: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng([seed, 77])
        first, *others = _pieces(sizes, seed, rng)
        ways = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        moved = [np.tile(first, (n_snapshots, 1, 1))]
        for number, piece in enumerate(others):
            way = ways[:, number % 3]
            placed, joint = _beside(piece, first, way)
            turns, shifts = _motion(kind, span, n_snapshots, way, rng)
            away = np.array([turn.apply(placed - joint) + joint for turn in turns])
            moved.append(away + shifts[:, None])
        return _labelled(moved, noise, rng)

    return make


def in_a_row(sizes: Sequence[int], span: float) -> Make:
    """Bodies each of which has a hinge to the one before it, and goes along with it."""

    def make(n_snapshots: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng([seed, 78])
        still, *others = _pieces(sizes, seed, rng)
        way = np.array([1.0, 0.0, 0.0])
        placed, joints = [still], []
        for piece in others:
            there, joint = _beside(piece, placed[-1], way)
            placed.append(there)
            joints.append(joint)
        moved = [np.tile(each, (n_snapshots, 1, 1)) for each in placed]
        for first in range(len(others), 0, -1):
            joint = joints[first - 1]
            turns, _ = _motion("hinge", span, n_snapshots, way, rng)
            for later in range(first, len(placed)):
                pairs = zip(turns, moved[later], strict=True)
                moved[later] = np.array([turn.apply(each - joint) + joint for turn, each in pairs])
        return _labelled(moved, 0.1, rng)

    return make


def _pieces(sizes: Sequence[int], seed: int, rng: np.random.Generator) -> list[np.ndarray]:
    return [
        shape(size, SHAPES[(seed + number) % len(SHAPES)], rng) for number, size in enumerate(sizes)
    ]


def _beside(piece: np.ndarray, other: np.ndarray, way: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Put a body beside another; also, the point between them."""
    edge = float((other @ way).max())
    return piece + (edge + 2.0 - float((piece @ way).min())) * way, (edge + 1.0) * way


def _labelled(
    moved: list[np.ndarray], noise: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    labels = np.repeat(np.arange(len(moved)), [each.shape[1] for each in moved])
    return tumbled(np.concatenate(moved, axis=1), noise, rng), labels


def _motion(
    kind: str, span: float, n_snapshots: int, way: np.ndarray, rng: np.random.Generator
) -> tuple[Rotation, np.ndarray]:
    axis = np.cross(way, rng.normal(size=3))
    axis /= np.linalg.norm(axis)
    angles = np.radians(np.linspace(-span / 2, span / 2, n_snapshots))[:, None]
    vectors, shifts = angles * axis, np.zeros((n_snapshots, 3))
    if kind in {"ball", "diffuse"}:
        vectors = np.radians(span / 4) * rng.normal(size=(n_snapshots, 3))
    if kind == "diffuse":
        shifts = 6 * np.radians(span) * rng.normal(size=(n_snapshots, 3))
    if kind == "screw":
        shifts = 3 * angles * axis
    if kind == "translation":
        vectors, shifts = 0 * vectors, 0.1 * np.degrees(angles) * axis
    return Rotation.from_rotvec(vectors), shifts


def single(kind: str) -> Make:
    """One body of 120 sites, whose sites tremble in some way."""

    def make(n_snapshots: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng([seed, 5])
        places = shape(120, SHAPES[seed % len(SHAPES)], rng)
        noise = rng.normal(size=(n_snapshots, 120, 3))
        if kind == "gradient":
            along = (places[:, 0] - places[:, 0].min()) / np.ptp(places[:, 0])
            noise *= (0.05 + 0.8 * along)[None, :, None] / 0.3
        elif kind == "slow":
            noise = slow(noise, 30.0)
        elif kind == "alike over 8 Å":
            apart = np.linalg.norm(places[:, None] - places, axis=2)
            spread = np.linalg.cholesky(np.exp(-apart / 8) + 1e-6 * np.eye(120))
            noise = np.einsum("ij,tjk->tik", spread, noise)
        elif kind == "a tail":
            noise[:, -8:] += (
                (np.arange(1, 9)[:, None] / 8) * 14 * rng.normal(size=(n_snapshots, 1, 3))
            )
        return tumbled(places + 0.3 * noise, 0.0, rng), np.zeros(120, np.int64)

    return make


def slow(noise: np.ndarray, memory: float) -> np.ndarray:
    """Make white noise forget itself within so many snapshots, its variance kept."""
    kept = np.exp(-1 / memory)
    found = noise.copy()
    for now in range(1, len(found)):
        found[now] = kept * found[now - 1] + np.sqrt(1 - kept**2) * noise[now]
    return found


def planted_table() -> str:
    """How often the number of bodies is right, and their mean overlap with those planted."""
    three, two = (80, 60, 40), (80, 60)
    rows: dict[str, tuple[Make, int]] = {
        f"three bodies, hinges of {span}°": (jointed(three, span), SEEDS)
        for span in (60, 30, 15, 8)
    }
    rows["three bodies, 15°, noise of 0.3 Å"] = jointed(three, 15, noise=0.3), SEEDS
    rows["two bodies, 4°"] = jointed(two, 4), SEEDS
    for kind in ("screw", "ball", "translation", "diffuse"):
        rows[f"two bodies, {kind}, 30° (3 Å)"] = jointed(two, 30, kind=kind), SEEDS
    rows["two bodies of 12 sites, 30°"] = jointed((12, 12), 30), SEEDS
    for span in (30, 8):
        rows[f"six bodies of 25 sites in a row, {span}°"] = in_a_row([25] * 6, span), SEEDS
    for kind in ("uniform", "gradient", "slow", "alike over 8 Å", "a tail"):
        rows[f"one body: {kind}"] = single(kind), MANY
    header = ["planted", *(f"{number} snapshots" for number in SNAPSHOTS)]
    return table(header, [[name, *_cells(*made)] for name, made in rows.items()])


def _cells(make: Make, n_seeds: int) -> list[str]:
    found = []
    for n_snapshots in SNAPSHOTS:
        count = n_seeds if n_snapshots < 100 else SEEDS
        right, overlaps = 0, list[float]()
        for seed in range(count):
            places, labels = make(n_snapshots, seed + 1000)
            got = bodies(timme.Ensemble.from_array(places, unit="Å"))
            right += got.n_bodies == labels.max() + 1
            overlaps.append(_jaccard(got.labels, labels))
        several = f", {np.mean(overlaps):.2f}" if labels.max() else ""
        found.append(f"{right} of {count}{several}")
    return found


def _jaccard(found: np.ndarray, planted: np.ndarray) -> float:
    best = [
        max(
            float(
                np.sum((planted == own) & (found == body))
                / np.sum((planted == own) | (found == body))
            )
            for body in range(found.max() + 1)
        )
        for own in range(planted.max() + 1)
    ]
    return float(np.mean(best))


def error_table() -> str:
    """Actual over told errors of axes, and how often the cone holds them, by noise and path."""
    noises = {  # snapshots that it remembers, and share of white noise in its variance
        "white": (1.0, 1.0),
        "slow, 3 snapshots": (3.0, 0.0),
        "10": (10.0, 0.0),
        "30": (30.0, 0.0),
        "a walk without end": (np.inf, 0.0),
        "30, as much white": (30.0, 0.5),
        "30, nine times as much white": (30.0, 0.9),
    }
    paths = {
        "once from end to end, 100": (100, "once"),
        "three waves, 100": (100, "waves"),
        "wandering, 100": (100, "wandering"),
        "once, 20": (20, "once"),
        "wandering, 20": (20, "wandering"),
    }
    rows = [
        [name, *(_error_cell(*noise, *path) for path in paths.values())]
        for name, noise in noises.items()
    ]
    return table(["noise; angles", *paths], rows)


def _error_cell(memory: float, white: float, n_snapshots: int, path: str) -> str:
    told, actual, held = list[float](), list[float](), 0
    for seed in range(AXES):
        rng = np.random.default_rng([seed, n_snapshots])
        angles = {
            "once": np.linspace(-15.0, 15.0, n_snapshots),
            "waves": 15 * np.sin(np.linspace(0, 6 * np.pi, n_snapshots)),
            "wandering": 7.5 * slow(rng.normal(size=(n_snapshots, 1)), n_snapshots / 10)[:, 0],
        }[path]
        own, other = rng.normal(size=(2, n_snapshots, 3))
        steady = np.cumsum(own, axis=0) / np.sqrt(n_snapshots)
        noise = steady if np.isinf(memory) else slow(own, memory)
        noise = np.sqrt(1 - white) * noise + np.sqrt(white) * other
        found = _planted_hinge(np.radians(angles[:, None] * [0, 0, 1.0] + noise), rng)
        away = float(np.degrees(np.arccos(min(1.0, abs(float(found.axis[2]))))))
        actual.append(away)
        told.append(found.axis_error)
        held += away <= found.axis_cone
    ratio = np.sqrt(np.mean(np.square(actual)) / np.mean(np.square(told)))
    return f"{ratio:.2f} [{held / AXES:.2f}]"


def _planted_hinge(vectors: np.ndarray, rng: np.random.Generator) -> Hinge:
    """A body turned by these rotation vectors against one that is known as good as exactly."""
    still, body = shape(80, "ellipsoid", rng), shape(50, "box", rng)
    joint = np.array([-13.0, 0.0, 0.0])
    turned = [turn.apply(body - joint) + joint for turn in Rotation.from_rotvec(vectors)]
    apart = np.array([25.0, 0.0, 0.0])
    places = np.concatenate([np.tile(still - apart, (len(vectors), 1, 1)), turned], axis=1)
    places += 1e-3 * rng.normal(size=places.shape)
    chosen = {"body": np.arange(80, 130), "reference": np.arange(80)}
    return hinge(timme.Ensemble.from_array(places), **chosen)
