"""Rigidity in words and tables."""

from __future__ import annotations

import csv
import io

import numpy as np

from tests.output.builders import particles
from timme.analysis.parts import constraints_text, decomposition_text
from timme.output.rigidity import bonds_csv
from timme.rigidity import Network, decompose
from timme.system.atoms import Atoms

# A ring of six is rigid and under stress once a seventh bond crosses it; a tail turns.
ENDS = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5), (0, 3), (5, 6), (6, 7)]
NETWORK = Network(
    n_bodies=8,
    bonds=np.array(ENDS),
    bars=np.array([5] * 9),
    kinds=np.array(["covalent"] * 6 + ["hydrogen bond"] + ["covalent"] * 2),
    energies=np.array([np.nan] * 6 + [-2.0] + [np.nan] * 2),
)


def test_every_bond_has_its_state() -> None:
    analysis = particles((8, [], []), sites=Atoms.unnamed(8))
    for cutoff, crossing, ring in ((-1.0, "stressed", "stressed"), (-3.0, "broken", "rigid")):
        table = list(
            csv.DictReader(io.StringIO(bonds_csv(analysis, NETWORK, decompose(NETWORK, cutoff))))
        )
        states = [row["state"] for row in table]
        assert states[:6] == [ring] * 6
        assert states[6] == crossing
        assert states[7] == "hinge"
        assert table[6]["energy (kcal/mol)"] == "-2.0"
        assert table[0]["energy (kcal/mol)"] == ""
        assert (table[6]["flexibility"] == "") == (crossing == "broken")


def test_constraints_are_counted_by_kind() -> None:
    assert constraints_text(NETWORK) == "9: 8 × covalent, 1 × hydrogen bond"
    none = np.empty(0)
    empty = Network(2, np.empty((0, 2), np.int64), none.astype(int), none.astype(str), none)
    assert constraints_text(empty) == "none"


def test_a_decomposition_is_told_in_a_line() -> None:
    told = decomposition_text(decompose(NETWORK, -1.0), min_size=3)
    assert told.startswith("1 floppy mode, 1 rigid cluster of 3 or more atoms (largest 6), ")
    assert "1 stressed region of 7 bonds, 1 hinge" in told
