"""Make the table of a ring road: cars in platoons, seen from above."""

from __future__ import annotations

import sys

import numpy as np
from runs import describe, options, record, write_table

import timme

PLATOONS, ALONE = (9, 7, 5, 4, 3), 4


def main(arguments: list[str]) -> None:
    chosen = options(__doc__).parse_args(arguments)
    sizes = ((3, 2), 1) if chosen.short else (PLATOONS, ALONE)
    made = timme.synthetic.ring_road(*sizes, n_snapshots=120, seed=chosen.seed)
    record(chosen.folder, {"seed": chosen.seed, "short": chosen.short}, ("numpy", "pytimme"))
    along, box = made.ensemble.block(0).coordinates[..., 0], made.ensemble.snapshot(0)[1]
    length = float(box[0, 0])
    angles, radius = 2 * np.pi * along / length, length / (2 * np.pi)
    frames, cars = np.indices(along.shape).reshape(2, -1)
    path = chosen.folder / "ring_road.csv"
    columns = {
        "frame": frames,
        "particle": cars + 1,
        "x": radius * np.cos(angles).ravel(),
        "y": radius * np.sin(angles).ravel(),
        "along": along.ravel(),
        "platoon": made.labels[0][cars] + 1,
    }
    write_table(path, columns)
    speeds = np.diff(along, axis=0) % length
    measured = {
        "cars": len(made.labels[0]),
        "length_m": length,
        "speed_mean_m_s": float(speeds.mean()),
        "interval_s": 1.0,
    }
    describe(path, "ring_road.py", [path.name], measured)


if __name__ == "__main__":
    main(sys.argv[1:])
