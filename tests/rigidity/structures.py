"""Structures that the tests of networks share: golden ones, small molecules, another program's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.ensemble.builders import joined as joined_atoms
from tests.golden import load_science
from tests.golden.systems import SHARED
from timme.ensemble import Atoms, Ensemble
from timme.ensemble.atoms import element_masses, sorted_bonds

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Pair = tuple[int, int]

PROFLEX = SHARED / "proflex"
N_ATOMS = 1585  # of 1bck; what follows these stands for tethers
needs_lists = pytest.mark.skipif(not PROFLEX.exists(), reason="no ../shared/data/proflex here")

METHANE = {
    "C": (0.0, 0.0, 0.0),
    "H1": (0.63, 0.63, 0.63),
    "H2": (-0.63, -0.63, 0.63),
    "H3": (-0.63, 0.63, -0.63),
    "H4": (0.63, -0.63, -0.63),
}
METHANE_BONDS = "C-H1 C-H2 C-H3 C-H4"
HYDROXYL = {"O": (0.0, 0.0, 0.0), "C": (-0.5, 1.3, 0.0), "H": (0.96, 0.0, 0.0)}
WATER = {"O": (0.0, 0.0, 0.0), "H1": (0.957, 0.0, 0.0), "H2": (-0.24, 0.927, 0.0)}


@cache
def golden(name: str) -> dict[str, Any]:
    """Golden results of one structure of "1a2p-a", "4ake-a", "1bnr", "1bck" and "1bck-lists"."""
    return load_science(f"rigidity-{name}")


@cache
def structure(name: str) -> Ensemble:
    """One of these structures, with the hydrogens that it had."""
    kept = golden(name)
    elements = kept["atoms.elements"]
    blank = np.full(len(elements), "")
    atoms = Atoms(
        names=kept["atoms.names"],
        elements=elements,
        resnames=kept["atoms.resnames"],
        resids=kept["atoms.resids"].astype(np.int64),
        icodes=blank,
        chains=kept["atoms.chains"],
        masses=element_masses(elements),
        bonds=sorted_bonds(kept["bonds"]),
    )
    return Ensemble.from_array(kept["coordinates"][None], atoms=atoms, unit="Å")


def taken(ensemble: Ensemble, atoms: Ints) -> Ensemble:
    """Some atoms of a structure, and the bonds between these."""
    places = ensemble.snapshot()[0][atoms][None]
    return Ensemble.from_array(places, atoms=ensemble.atoms.take(atoms), unit="Å")


def without_hydrogens(ensemble: Ensemble) -> Ensemble:
    """The same structure stripped of its hydrogens, as a crystallographer sees it."""
    return taken(ensemble, np.flatnonzero(~np.isin(ensemble.atoms.elements, ["H", "D"])))


def molecule(
    atoms: Mapping[str, Sequence[float]],
    bonds: str,
    *,
    resname: str = "LIG",
    element: str | None = None,
) -> Ensemble:
    """One residue: names and places of its atoms, and bonds such as ``"C-O C-N"``.

    The element is the first letter of a name, where it is not given.
    """
    names = list(atoms)
    elements = np.array([element or name[0] for name in names])
    pairs = [tuple(names.index(end) for end in bond.split("-")) for bond in bonds.split()]
    table = replace(
        Atoms.unnamed(len(names), bonds=pairs),
        names=np.array(names),
        elements=elements,
        resnames=np.full(len(names), resname),
        resids=np.ones(len(names), dtype=np.int64),
        chains=np.full(len(names), "A"),
        masses=element_masses(elements),
    )
    return Ensemble.from_array([list(atoms.values())], atoms=table, unit="Å")


def joined(*parts: Ensemble) -> Ensemble:
    """Several molecules in one structure, each a residue of its own."""
    tables = [part.atoms for part in parts]
    starts = np.cumsum([0, *(len(table) for table in tables)])
    bonds = [table.bonds + start for table, start in zip(tables, starts, strict=False)]
    resids = np.repeat(np.arange(1, len(parts) + 1), np.diff(starts))
    joint = sorted_bonds(np.concatenate(bonds))
    atoms = replace(joined_atoms(*tables), resids=resids, bonds=joint)
    places = np.concatenate([part.snapshot()[0] for part in parts])
    return Ensemble.from_array(places[None], atoms=atoms, unit="Å")


def moved(ensemble: Ensemble, shift: npt.ArrayLike) -> Ensemble:
    """The same molecule in another place."""
    places = ensemble.snapshot()[0] + np.asarray(shift)
    return Ensemble.from_array(places[None], atoms=ensemble.atoms, unit="Å")


def methane() -> Ensemble:
    return molecule(METHANE, METHANE_BONDS)


def hydroxyl() -> Ensemble:
    return molecule(HYDROXYL, "O-C O-H")


def ion(symbol: str, place: Sequence[float] = (0.0, 0.0, 0.0)) -> Ensemble:
    return molecule({symbol: place}, "", resname=symbol.upper(), element=symbol)


def ring(n: int, length: float, *, turn: float = 0.0) -> Floats:
    """Corners of a regular polygon with sides of a length, its plane turned about x."""
    angles = 2 * np.pi * np.arange(n) / n
    radius = length / (2 * np.sin(np.pi / n))
    flat = np.column_stack([radius * np.cos(angles), radius * np.sin(angles)])
    return np.column_stack([flat[:, 0], flat[:, 1] * np.cos(turn), flat[:, 1] * np.sin(turn)])


def chain(names: Sequence[str]) -> str:
    """Bonds from each atom to the next."""
    return " ".join(f"{a}-{b}" for a, b in pairwise(names))


def pairs_of(bonds: npt.ArrayLike) -> set[Pair]:
    """Bonds as pairs that do not depend on their order."""
    return {(min(pair), max(pair)) for pair in np.asarray(bonds).tolist()}


@dataclass(frozen=True)
class Listed:
    """What another program lists for 1bck, atoms counted from 0."""

    covalent: set[Pair]
    locked: set[Pair]
    tethers: set[Pair]
    bonds: Ints  # (hydrogen bonds, 3): donor, hydrogen, acceptor
    energies: Floats
    classes: npt.NDArray[np.str_]


@cache
def listed() -> Listed:
    """Its lists of covalent, locked and hydrogen bonds, and the ends of its tethers."""
    pairs: dict[str, list[Pair]] = {"CF": [], "TF": []}
    bonds: list[tuple[float, int, int, int, str]] = []
    for line in (PROFLEX / "1bck_withH_proflexdataset").read_text().splitlines():
        words = line.split()
        if line.startswith(("REMARK:CF", "REMARK:TF")):
            pairs[line[7:9]].append((int(words[1]) - 1, int(words[2]) - 1))
        elif line.startswith("REMARK:HB"):
            donor, hydrogen, acceptor = (int(word) - 1 for word in words[3:6])
            bonds.append((float(words[2]), donor, hydrogen, acceptor, " ".join(words[6:])))
    # A tether is a chain of three atoms that stand for nothing; covalent bonds hold its first end.
    first = {max(pair): min(pair) for pair in pairs["CF"] if min(pair) < N_ATOMS <= max(pair)}
    tethers = [(first[bond[2] - 2], bond[3]) for bond in bonds if bond[4].startswith("PH")]
    real = [bond for bond in bonds if not bond[4].startswith("PH")]
    return Listed(
        covalent=pairs_of([pair for pair in pairs["CF"] if max(pair) < N_ATOMS]),
        locked=pairs_of(pairs["TF"]),
        tethers=pairs_of(tethers),
        bonds=np.array([bond[1:4] for bond in real]),
        energies=np.array([bond[0] for bond in real]),
        classes=np.array([bond[4] for bond in real]),
    )
