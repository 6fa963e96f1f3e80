"""Another program's answer for 1bck: its constraints, and its rigid clusters along the dilution.

Where its files are not at hand, the tests that need them are skipped, and each claim is guarded by
others all the same:

- covalent and locked bonds: tests/readers/test_bonds.py holds guessed bonds to those of CHARMM, and
  the rest of test_chemistry.py has a molecule made for every rule;
- energies: the published function and the slow reference of test_energies.py, on barnase and water;
- hydrogen bonds at a cutoff, tethers, bars: barnase in test_network.py, against the rule itself;
- modes, hinges, clusters along a dilution: the rank of the rigidity matrix (test_decomposition.py,
  test_decomposition_exact.py) and counts by hand, test_published_numbers.py.
"""

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from timme._arrays import Ints
from timme.rigidity.network import Network

FOLDER = Path(__file__).parents[2].parent / "shared" / "data" / "proflex"

needs_oracle = pytest.mark.skipif(not FOLDER.exists(), reason="no ../shared/data/proflex here")


@dataclass(frozen=True)
class Step:
    """One step of the dilution: the bonds that were left, and the cluster of each atom."""

    n_hydrogen_bonds: int
    energy: float
    clusters: Ints


def constraints() -> Network:
    """Its list at -2.3 kcal/mol: covalent and locked bonds, hydrogen bonds, chains for tethers."""
    covalent, locked, listed = [], set(), {}
    n_bodies = 0
    for line in (FOLDER / "1bck_withH_proflexdataset").read_text().splitlines():
        words = line.split()
        if line.startswith(("ATOM", "HETATM")):
            n_bodies += 1
        elif line.startswith("REMARK:CF"):
            covalent.append((int(words[1]) - 1, int(words[2]) - 1))
        elif line.startswith("REMARK:TF"):
            locked.add(frozenset((int(words[1]) - 1, int(words[2]) - 1)))
        elif line.startswith("REMARK:HB"):
            number, energy, _, hydrogen, acceptor = words[1:6]
            tether = words[6] == "PH"
            listed[int(number)] = (float(energy), int(hydrogen) - 1, int(acceptor) - 1, tether)
    chosen = [
        listed[int(number)]
        for name in ("h-bonds", "h-phobs")
        for number in (FOLDER / f"1bck_withH_{name}_SEfilt.0001").read_text().split()
    ]
    turning = [frozenset(pair) not in locked for pair in covalent]
    return Network(
        n_bodies=n_bodies,
        bonds=np.array([*covalent, *((hydrogen, acceptor) for _, hydrogen, acceptor, _ in chosen)]),
        bars=np.array([*(5 if turns else 6 for turns in turning), *(5 for _ in chosen)]),
        kinds=np.array(
            [
                *("covalent" if turns else "locked" for turns in turning),
                *("tether" if tether else "hydrogen bond" for *_, tether in chosen),
            ]
        ),
        energies=np.array(
            [
                *(np.nan for _ in covalent),
                *(np.nan if tether else energy for energy, *_, tether in chosen),
            ]
        ),
    )


def dilution() -> list[Step]:
    """Its clusters at each step, all hydrogen bonds first."""
    steps: list[Step] = []
    labels: list[int] = []
    head: list[str] = []
    text = (FOLDER / "1bck_decomp_list").read_text(encoding="latin-1")
    n_bodies = int(text.split()[2])
    for line in [*text.splitlines()[1:], "A:"]:
        if line.startswith("A:"):
            if head:
                steps.append(Step(int(head[1]), float(head[2]), np.array(labels[:n_bodies])))
            head, labels = line.split(), []
        elif not line.startswith(("B:", "END")):
            labels += [int(word) for word in line.split(":") if word.strip()]
    return steps


def cluster_sizes() -> dict[int, int]:
    """How many of its clusters have how many atoms, at -2.3 kcal/mol."""
    lines = (FOLDER / "1bck_withH_analysis.log").read_text().splitlines()
    start = next(k for k, line in enumerate(lines) if "Rigid cluster Size" in line)
    table = itertools.takewhile(lambda line: "Stress" not in line, lines[start + 1 :])
    rows = [line.split() for line in table if line.strip()]
    return {int(size): int(count) for size, count in rows}
