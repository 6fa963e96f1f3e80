"""Simulate a crowd: people who cross a square, in parties and alone.

Each person is driven by social forces: toward the desired velocity, away from strangers, and
toward a place beside the other members of the party.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from runs import describe, options, record, write_table

PARTIES, ALONE = (5, 4, 4, 3, 3, 3, 2, 2, 2, 2), 30
SNAPSHOTS, WIDTH, MISSED = 120, 30.0, 0.02  # width in m; fraction of positions that are missed
STEP, INTERVAL = 0.1, 0.5  # s, of the simulation and between snapshots
RELAXATION = 0.5  # s, in which people return to their desired velocity
SPEED, SPREAD, SLOWEST = 1.34, 0.26, 0.8  # m/s: mean, standard deviation, lower limit
SIDE_BY_SIDE = 0.8  # m, between members of a party
COHESION = 6.0  # 1/s², toward the place beside the others
REPULSION, SIZE, RANGE = 5.0, 0.5, 0.4  # m/s², m, m: between strangers
NOISE = 0.1  # m/s^1.5


@dataclass(frozen=True)
class Walks:
    """Destinations and parties of all people."""

    party: np.ndarray  # (people,)
    entries: np.ndarray  # (people,), s
    starts: np.ndarray  # (people, 2), m
    desired: np.ndarray  # (people, 2), m/s
    places: np.ndarray  # (people, 2), m, relative to the middle of the party


def main(arguments: list[str]) -> None:
    chosen = options(__doc__).parse_args(arguments)
    sizes = (3, 2, *[1] * 4) if chosen.short else (*PARTIES, *[1] * ALONE)
    record(chosen.folder, {"seed": chosen.seed, "short": chosen.short}, ("numpy",))
    rng = np.random.default_rng(chosen.seed)
    walks = plan(sizes, rng)
    tracks = walk(walks, rng)
    tracks[rng.random(tracks.shape[:2]) < MISSED] = np.nan
    frames, people = np.nonzero(np.isfinite(tracks[..., 0]))
    path = chosen.folder / "crowd.csv"
    columns = {
        "frame": frames,
        "particle": people + 1,
        "x": tracks[frames, people, 0],
        "y": tracks[frames, people, 1],
        "party": walks.party[people] + 1,
    }
    write_table(path, columns)
    measured = {
        "people": len(walks.party),
        "parties": sum(size > 1 for size in sizes),
        "seen_at_once_mean": len(frames) / SNAPSHOTS,
        "interval_s": INTERVAL,
    }
    describe(path, "crowd.py", [path.name], measured)


def plan(sizes: tuple[int, ...], rng: np.random.Generator) -> Walks:
    """Choose when and where each party enters, and where it leaves."""
    n_parties, crossing = len(sizes), WIDTH / SPEED
    party = np.repeat(np.arange(n_parties), sizes)
    # the square is not empty at first, and all enter early enough to be followed for a while
    latest = SNAPSHOTS * INTERVAL - 0.7 * crossing
    entries = rng.uniform(-0.3 * crossing, latest, n_parties)
    side = rng.integers(4, size=n_parties)
    starts = on_the_edge(side, rng.uniform(0.1, 0.9, n_parties))
    ends = on_the_edge((side + 2) % 4, rng.uniform(0.1, 0.9, n_parties))
    ahead = (ends - starts) / np.linalg.norm(ends - starts, axis=1, keepdims=True)
    speeds = np.maximum(rng.normal(SPEED, SPREAD, n_parties), SLOWEST)
    rank = np.concatenate([np.arange(size) - (size - 1) / 2 for size in sizes])
    beside = np.column_stack([-ahead[:, 1], ahead[:, 0]])[party]
    places = SIDE_BY_SIDE * rank[:, None] * beside
    desired = (ahead * speeds[:, None])[party]
    return Walks(party, entries[party], starts[party] + places, desired, places)


def on_the_edge(side: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Points on the four sides of the square."""
    turned = side % 2 == 1
    beyond = np.where(side < 2, 0.0, WIDTH)
    x = np.where(turned, WIDTH * along, beyond)
    y = np.where(turned, beyond, WIDTH * along)
    return np.column_stack([x, y])


def walk(walks: Walks, rng: np.random.Generator) -> np.ndarray:
    """Positions from the first snapshot to the last, NaN outside the square."""
    places, velocities = walks.starts.copy(), walks.desired.copy()
    tracks = np.full((SNAPSHOTS, *places.shape), np.nan)
    every = round(INTERVAL / STEP)
    for step in range(round(walks.entries.min() / STEP), (SNAPSHOTS - 1) * every + 1):
        here = walks.entries <= step * STEP
        forces = social_forces(places, velocities, walks, here)
        forces += rng.normal(0.0, NOISE / np.sqrt(STEP), places.shape)
        velocities[here] += STEP * forces[here]
        places[here] += STEP * velocities[here]
        if step >= 0 and step % every == 0:
            inside = ((places >= 0) & (places <= WIDTH)).all(axis=1) & here
            tracks[step // every, inside] = places[inside]
    return tracks


def social_forces(
    places: np.ndarray, velocities: np.ndarray, walks: Walks, here: np.ndarray
) -> np.ndarray:
    """Accelerations of all people."""
    forces = (walks.desired - velocities) / RELAXATION
    sums = np.column_stack([np.bincount(walks.party, axis) for axis in places.T])
    middles = (sums / np.bincount(walks.party)[:, None])[walks.party]
    forces += COHESION * (middles + walks.places - places)
    apart = places[:, None] - places[None]
    distance = np.linalg.norm(apart, axis=2)
    strangers = (walks.party[:, None] != walks.party) & here[:, None] & here
    strength = np.where(strangers, REPULSION * np.exp((SIZE - distance) / RANGE), 0.0)
    forces += (apart * (strength / np.maximum(distance, 1e-9))[:, :, None]).sum(axis=1)
    return forces


if __name__ == "__main__":
    main(sys.argv[1:])
