"""Simulate cars in platoons on a ring road, by the intelligent driver model.

Cars cannot overtake. The first car of a platoon drives at about 20 m/s; the others would drive at
33 m/s, so they stay behind it.
"""

from __future__ import annotations

import sys

import numpy as np
from runs import describe, options, record, write_table

PLATOONS, ALONE = (9, 7, 5, 4, 3), 4
SNAPSHOTS, STEP, INTERVAL = 120, 0.1, 1.0  # s, of the simulation and between snapshots
LEAD, SPREAD = 20.0, 1.0  # m/s, speed of leaders, and its standard deviation
MEMORY = 10.0  # s, after which leaders choose another speed
FREE = 33.0  # m/s, desired speed of all others
CAR, STANDSTILL, HEADWAY = 4.5, 2.0, 1.5  # m, m and s: length, and gap to the car in front
ACCELERATION, BRAKING = 1.5, 2.0  # m/s²
APART = 300.0  # m, between platoons


def main(arguments: list[str]) -> None:
    chosen = options(__doc__).parse_args(arguments)
    sizes = (3, 2, 1) if chosen.short else (*PLATOONS, *[1] * ALONE)
    record(chosen.folder, {"seed": chosen.seed, "short": chosen.short}, ("numpy",))
    rng = np.random.default_rng(chosen.seed)
    platoon = np.repeat(np.arange(len(sizes)), sizes)
    on_the_road = rng.permutation(len(sizes))
    order = np.concatenate([np.flatnonzero(platoon == each) for each in on_the_road])
    places, length = line_up(platoon[order])
    along = np.empty((SNAPSHOTS, len(platoon)))
    along[:, order] = drive(places, length, platoon[order], rng) % length
    angles, radius = 2 * np.pi * along / length, length / (2 * np.pi)
    frames, cars = np.indices(along.shape).reshape(2, -1)
    path = chosen.folder / "ring_road.csv"
    columns = {
        "frame": frames,
        "particle": cars + 1,
        "x": radius * np.cos(angles).ravel(),
        "y": radius * np.sin(angles).ravel(),
        "along": along.ravel(),
        "platoon": platoon[cars] + 1,
    }
    write_table(path, columns)
    speeds = np.diff(along, axis=0) % length
    measured = {
        "cars": len(platoon),
        "length_m": length,
        "speed_mean_m_s": float(speeds.mean()),
        "interval_s": INTERVAL,
    }
    describe(path, "ring_road.py", [path.name], measured)


def line_up(platoon: np.ndarray) -> tuple[np.ndarray, float]:
    """Initial places of cars, and the length of the road."""
    close = CAR + STANDSTILL + HEADWAY * LEAD
    leads = np.diff(platoon, prepend=-1) != 0
    back = np.cumsum(np.where(leads, APART, close))
    return -back, float(back[-1])


def drive(
    places: np.ndarray, length: float, platoon: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Places of all cars in every snapshot."""
    leads = np.diff(platoon, prepend=-1) != 0
    desired = np.where(leads, LEAD, FREE)
    speeds = np.full(len(places), LEAD)
    kept = np.exp(-STEP / MEMORY)
    deviation = rng.normal(0.0, SPREAD, len(places))
    every = round(INTERVAL / STEP)
    tracks = np.empty((SNAPSHOTS, len(places)))
    for step in range(SNAPSHOTS * every):
        if step % every == 0:
            tracks[step // every] = places
        fresh = rng.normal(0.0, SPREAD, len(places))
        deviation = kept * deviation + np.sqrt(1 - kept**2) * fresh
        chosen = np.where(leads, desired + deviation, desired)
        speeds = np.maximum(0.0, speeds + STEP * acceleration(places, speeds, chosen, length))
        places = places + STEP * speeds
    return tracks


def acceleration(
    places: np.ndarray, speeds: np.ndarray, desired: np.ndarray, length: float
) -> np.ndarray:
    """Acceleration of the intelligent driver model."""
    ahead = np.roll(places, 1)
    ahead[0] += length
    gaps = ahead - places - CAR
    closing = speeds - np.roll(speeds, 1)
    dynamic = speeds * HEADWAY + speeds * closing / (2 * np.sqrt(ACCELERATION * BRAKING))
    safe_gap = STANDSTILL + np.maximum(0.0, dynamic)
    return ACCELERATION * (1 - (speeds / desired) ** 4 - (safe_gap / gaps) ** 2)


if __name__ == "__main__":
    main(sys.argv[1:])
