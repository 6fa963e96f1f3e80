"""Structures that the tests of networks share: 1bck with its listed bonds, and small molecules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

import timme
from tests.rigidity.oracle import FOLDER
from timme._arrays import Floats, Ints, Strings
from timme.system.atoms import Atoms, sorted_bonds
from timme.system.elements import element_masses
from timme.system.ensemble import Ensemble

N_REAL = 1585  # atoms of 1bck; those after them stand for tethers

METHANE = {
    "C": (0.0, 0.0, 0.0),
    "H1": (0.63, 0.63, 0.63),
    "H2": (-0.63, -0.63, 0.63),
    "H3": (-0.63, 0.63, -0.63),
    "H4": (0.63, -0.63, -0.63),
}

Pair = tuple[int, int]


@dataclass(frozen=True)
class Listed:
    """What another program lists for 1bck, atoms counted from 0."""

    covalent: set[Pair]
    locked: set[Pair]
    tethers: set[Pair]
    bonds: Ints  # (hydrogen bonds, 3): donor, hydrogen, acceptor
    energies: Floats
    classes: Strings


@cache
def bck() -> Ensemble:
    """1bck as that program saw it, its hydrogens numbered so that every atom has a name."""
    lines, hydrogens = [], 0
    for line in (FOLDER / "1bck_withH_proflexdataset").read_text().splitlines():
        if not line.startswith(("ATOM", "HETATM")) or int(line[6:11]) > N_REAL:
            continue
        name = line[12:16]
        if name.strip() == "H":
            hydrogens += 1
            name = f"H{hydrogens:03d}"
        lines.append(line[:12] + name + line[16:66])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "1bck.pdb"
        path.write_text("\n".join([*lines, "END", ""]))
        return timme.read(path)


@cache
def barnase() -> Ensemble:
    """The first snapshot of barnase that comes with the package, with its hydrogens."""
    return timme.read(timme.data.path("barnase_md.pdb"))


@cache
def late_barnase() -> Ensemble:
    """The last snapshot, half a nanosecond later: other turns of side chains and hydroxyls."""
    return timme.data.barnase_md()[-1:]


@cache
def barnase_in_water() -> Ensemble:
    """The same with twelve waters, each with a hydrogen 1.85 Å before an oxygen of the backbone."""
    dry = barnase()
    places, names = dry.snapshot()[0], dry.atoms.names
    heavy = places[dry.atoms.elements != "H"]
    lines = timme.data.path("barnase_md.pdb").read_text().splitlines()
    kept = [line for line in lines if line.startswith("ATOM")]
    for oxygen in np.flatnonzero(names == "O"):
        carbon = oxygen - 1
        along = places[oxygen] - places[carbon]
        along /= np.linalg.norm(along)
        centre = places[oxygen] + 2.81 * along
        if np.sort(np.linalg.norm(heavy - centre, axis=1))[1] < 3.2:
            continue  # no room for a water
        across = np.cross(along, np.eye(3)[np.abs(along).argmin()])
        across /= np.linalg.norm(across)
        for name, place in (
            ("O", centre),
            ("H1", centre - 0.96 * along),
            ("H2", centre + 0.24 * along + 0.93 * across),
        ):
            number, water = len(kept) + 1, (len(kept) - dry.n_sites) // 3 + 1
            x, y, z = place
            kept.append(
                f"HETATM{number:5d}  {name:<3s} HOH W{water:4d}    {x:8.3f}{y:8.3f}{z:8.3f}"
                f"  1.00  0.00          {name[0]:>2s}"
            )
        if len(kept) == dry.n_sites + 36:
            break
    with TemporaryDirectory() as folder:
        path = Path(folder) / "watered.pdb"
        path.write_text("\n".join([*kept, "END", ""]))
        return timme.read(path)


@cache
def listed() -> Listed:
    """Its lists of covalent, locked and hydrogen bonds, and the ends of its tethers."""
    pairs: dict[str, list[Pair]] = {"CF": [], "TF": []}
    bonds: list[tuple[float, int, int, int, str]] = []
    for line in (FOLDER / "1bck_withH_proflexdataset").read_text().splitlines():
        words = line.split()
        if line.startswith(("REMARK:CF", "REMARK:TF")):
            pairs[line[7:9]].append((int(words[1]) - 1, int(words[2]) - 1))
        elif line.startswith("REMARK:HB"):
            donor, hydrogen, acceptor = (int(word) - 1 for word in words[3:6])
            bonds.append((float(words[2]), donor, hydrogen, acceptor, " ".join(words[6:])))
    # A tether is a chain of three atoms that stand for nothing; covalent bonds hold its first end.
    first = {max(pair): min(pair) for pair in pairs["CF"] if min(pair) < N_REAL <= max(pair)}
    tethers = {(first[bond[2] - 2], bond[3]) for bond in bonds if bond[4].startswith("PH")}
    real = [bond for bond in bonds if not bond[4].startswith("PH")]
    return Listed(
        covalent={_sorted(pair) for pair in pairs["CF"] if max(pair) < N_REAL},
        locked={_sorted(pair) for pair in pairs["TF"]},
        tethers={_sorted(pair) for pair in tethers},
        bonds=np.array([bond[1:4] for bond in real]),
        energies=np.array([bond[0] for bond in real]),
        classes=np.array([bond[4] for bond in real]),
    )


def pairs_of(bonds: Ints) -> set[Pair]:
    """Bonds as pairs that do not depend on their order."""
    return {_sorted((int(one), int(other))) for one, other in bonds}


def molecule(
    atoms: Mapping[str, Sequence[float]],
    bonds: str,
    *,
    resname: str = "LIG",
    chain: str = "A",
) -> Ensemble:
    """One residue: names and places of its atoms, and bonds such as ``"C-O C-N"``.

    The element is the first letter of a name.
    """
    names = list(atoms)
    elements = np.array([name[0] for name in names])
    table = Atoms(
        names=np.array(names),
        elements=elements,
        resnames=np.full(len(names), resname),
        resids=np.ones(len(names), dtype=np.int64),
        icodes=np.full(len(names), ""),
        chains=np.full(len(names), chain),
        masses=element_masses(elements),
        bonds=sorted_bonds(
            [tuple(names.index(end) for end in bond.split("-")) for bond in bonds.split()]
        ),
    )
    return Ensemble.from_array([list(atoms.values())], atoms=table, unit="Å")


def joined(*parts: Ensemble) -> Ensemble:
    """Several molecules in one structure, each a residue of its own."""
    tables = [part.atoms for part in parts]
    starts = np.cumsum([0, *(len(table) for table in tables)])
    columns = {
        name: np.concatenate([getattr(table, name) for table in tables])
        for name in ("names", "elements", "resnames", "icodes", "chains", "masses")
    }
    atoms = Atoms(
        **columns,
        resids=np.concatenate(
            [np.full(len(table), number) for number, table in enumerate(tables, start=1)]
        ),
        bonds=sorted_bonds(
            np.concatenate(
                [table.bonds + start for table, start in zip(tables, starts, strict=False)]
            )
        ),
    )
    places = np.concatenate([part.snapshot()[0] for part in parts])
    return Ensemble.from_array(places[None], atoms=atoms, unit="Å")


def moved(ensemble: Ensemble, shift: npt.ArrayLike) -> Ensemble:
    """The same molecule in another place."""
    places = ensemble.snapshot()[0] + np.asarray(shift)
    return Ensemble.from_array(places[None], atoms=ensemble.atoms, unit="Å")


def ring(n: int, length: float, *, turn: float = 0.0) -> Floats:
    """Corners of a regular polygon with sides of a length, its plane turned about x."""
    angles = 2 * np.pi * np.arange(n) / n
    radius = length / (2 * np.sin(np.pi / n))
    flat = np.column_stack([radius * np.cos(angles), radius * np.sin(angles)])
    return np.column_stack([flat[:, 0], flat[:, 1] * np.cos(turn), flat[:, 1] * np.sin(turn)])


def _sorted(pair: Pair) -> Pair:
    return (min(pair), max(pair))
