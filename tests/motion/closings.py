"""Structures of two states of a protein, told by what alone decides how its bodies move.

The rigid fit of a body knows of it no more than where its middles are and how its sites spread: the
6 × 6 mean of products of places before and after. Twelve points have the same, and so the same
fit, the same screw and the same rest. ``closings.json`` holds these numbers of bodies in entries of
the PDB, for which other programs published their screws: entries are not ours to ship.

    python -m tests.motion.closings

makes it anew from the entries, which come from ../shared/data/xray or else from the network.
"""

import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from tests.motion.proteins import CORE, LID, NMP

FILE = Path(__file__).with_suffix(".json")
FOLDER = Path(__file__).parents[3] / "shared" / "data" / "xray"

KINASE = {"core": CORE, "LID": LID, "NMP": NMP}
# Between them the chain crosses three times, at residues 110-113, 259-263 and 310-315.
MALTOSE = {
    "N": [*range(1, 110), *range(264, 310)],
    "C": [*range(114, 259), *range(316, 371)],
}
PAIRS = {
    "kinase": (("4ake", "A"), ("1ake", "A"), KINASE),
    "kinase, chains B": (("4ake", "B"), ("1ake", "B"), KINASE),
    "kinase, both open": (("4ake", "A"), ("4ake", "B"), KINASE),
    "maltose-binding protein": (("1omp", "A"), ("1anf", "A"), MALTOSE),
}


@dataclass(frozen=True)
class Closing:
    """Two snapshots of points that stand for bodies."""

    before: np.ndarray
    after: np.ndarray
    bodies: dict[str, np.ndarray]  # the points of each


def closing(name: str) -> Closing:
    """Points that stand for the bodies of a pair of entries, twelve for each."""
    told = json.loads(FILE.read_text("utf-8"))[name]
    points = np.concatenate([stand_in(**body) for body in told.values()])
    places = pairwise(range(0, 12 * len(told) + 1, 12))
    bodies = {body: np.arange(*ends) for body, ends in zip(told, places, strict=True)}
    return Closing(points[:, :3], points[:, 3:], bodies)


def moments(before: np.ndarray, after: np.ndarray) -> dict[str, Any]:
    """Mean, and mean of products about it, of places before and after."""
    both = np.hstack([before, after])
    return {
        "middle": both.mean(axis=0).round(6).tolist(),
        "spread": np.cov(both.T, bias=True).round(6).tolist(),
    }


def stand_in(middle: list[float], spread: list[list[float]]) -> np.ndarray:
    """Twelve points, before and after, of a given mean and mean of products about it."""
    values, vectors = np.linalg.eigh(np.array(spread))
    arms = np.sqrt(6 * values.clip(0))[:, None] * vectors.T
    points: np.ndarray = np.array(middle) + np.concatenate([arms, -arms])
    return points


def pair(first: tuple[str, str], second: tuple[str, str]) -> tuple[list[int], np.ndarray]:
    """Residues that two chains have in common, and where their Cα are in each."""
    one, other = (alpha_carbons(entry(code), chain) for code, chain in (first, second))
    common = sorted(one.keys() & other.keys())
    return common, np.array([[each[number] for number in common] for each in (one, other)])


def alpha_carbons(path: Path, chain: str) -> dict[int, list[float]]:
    """Places of Cα by residue number; of several, the first."""
    import gemmi

    found: dict[int, list[float]] = {}
    for residue in gemmi.read_structure(str(path))[0][chain].get_polymer():
        for atom in residue:
            if atom.name == "CA":
                found.setdefault(residue.seqid.num or 0, atom.pos.tolist())
    return found


def entry(code: str) -> Path:
    """File of an entry: one that is at hand, or else from the PDB."""
    from timme.readers import fetch

    path = FOLDER / f"{code}.pdb"
    return path if path.exists() else fetch(code)


def make() -> dict[str, dict[str, Any]]:
    """What the file holds: the moments of every body of every pair."""
    made: dict[str, dict[str, Any]] = {}
    for name, (first, second, bodies) in PAIRS.items():
        numbers, places = pair(first, second)
        chosen = {body: np.isin(numbers, members) for body, members in bodies.items()}
        made[name] = {body: moments(*places[:, here]) for body, here in chosen.items()}
    return made


if __name__ == "__main__":
    FILE.write_text(json.dumps(make(), indent=1) + "\n", "utf-8")
