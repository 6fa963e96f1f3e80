"""Constraints of 1bck as another program lists them, in ``../shared/data/proflex``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.systems import SHARED

_FOLDER = SHARED / "proflex"


N_ATOMS = 1585  # what follows these stands for tethers


def structure() -> str:
    """PDB text of its atoms, the hydrogens numbered so that every atom has a name."""
    lines = []
    hydrogens = 0
    for line in (_FOLDER / "1bck_withH_proflexdataset").read_text().splitlines():
        if not line.startswith(("ATOM", "HETATM")) or int(line[6:11]) > N_ATOMS:
            continue
        name = line[12:16]
        if name.strip() == "H":
            hydrogens += 1
            name = f"H{hydrogens:03d}"
        lines.append(line[:12] + name + line[16:66])
    return "\n".join([*lines, "END", ""])


def constraints() -> dict[str, Any]:
    """Columns of its network at -2.3 kcal/mol: n_bodies, bonds, bars, kinds and energies."""
    covalent: list[tuple[int, int]] = []
    locked: set[frozenset[int]] = set()
    listed: dict[int, tuple[tuple[int, int], str, float]] = {}
    n_bodies = 0
    for line in (_FOLDER / "1bck_withH_proflexdataset").read_text().splitlines():
        words = line.split()
        if line.startswith(("ATOM", "HETATM")):
            n_bodies += 1
        elif line.startswith("REMARK:CF"):
            covalent.append((int(words[1]) - 1, int(words[2]) - 1))
        elif line.startswith("REMARK:TF"):
            locked.add(frozenset((int(words[1]) - 1, int(words[2]) - 1)))
        elif line.startswith("REMARK:HB"):
            tether = words[6] == "PH"
            pair = int(words[4]) - 1, int(words[5]) - 1
            energy = np.nan if tether else float(words[2])
            listed[int(words[1])] = pair, "tether" if tether else "hydrogen bond", energy
    chosen = [
        listed[int(number)]
        for name in ("h-bonds", "h-phobs")
        for number in (_FOLDER / f"1bck_withH_{name}_SEfilt.0001").read_text().split()
    ]
    turning = [frozenset(pair) not in locked for pair in covalent]
    return {
        "n_bodies": n_bodies,
        "bonds": np.array([*covalent, *(pair for pair, _, _ in chosen)]),
        "bars": np.array([*(5 if turns else 6 for turns in turning), *(5 for _ in chosen)]),
        "kinds": np.array(
            [
                *("covalent" if turns else "locked" for turns in turning),
                *(kind for _, kind, _ in chosen),
            ]
        ),
        "energies": np.array([*(np.nan for _ in covalent), *(energy for *_, energy in chosen)]),
    }
