"""Make the table of a crowd: people in parties among strangers, who come and go."""

from __future__ import annotations

import sys

import numpy as np
from runs import describe, options, record, write_table

import timme

PARTIES, ALONE = (5, 4, 4, 3, 3, 3, 2, 2, 2, 2), 30


def main(arguments: list[str]) -> None:
    chosen = options(__doc__).parse_args(arguments)
    sizes = ((3, 2), 4) if chosen.short else (PARTIES, ALONE)
    made = timme.synthetic.crowd(*sizes, n_snapshots=120, seed=chosen.seed)
    record(chosen.folder, {"seed": chosen.seed, "short": chosen.short}, ("numpy", "pytimme"))
    places = made.ensemble.block(0).coordinates
    frames, people = np.nonzero(np.isfinite(places[..., 0]))
    path = chosen.folder / "crowd.csv"
    columns = {
        "frame": frames,
        "particle": people + 1,
        "x": places[frames, people, 0],
        "y": places[frames, people, 1],
        "party": made.labels[0][people] + 1,
    }
    write_table(path, columns)
    measured = {
        "people": len(made.labels[0]),
        "parties": int((np.bincount(made.labels[0]) > 1).sum()),
        "seen_at_once_mean": len(frames) / len(places),
        "interval_s": 0.5,
    }
    describe(path, "crowd.py", [path.name], measured)


if __name__ == "__main__":
    main(sys.argv[1:])
