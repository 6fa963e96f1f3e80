"""Small files that the tests of reading write for themselves."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

import gemmi
import numpy as np

from timme._arrays import Coordinates

# name, altloc, resname, chain, resid, icode, x, y, z, occupancy, element
Record = tuple[str, str, str, str, int, str, float, float, float, float, str]


def atom(
    name: str,
    resid: int,
    place: Sequence[float],
    *,
    resname: str = "ALA",
    chain: str = "A",
    icode: str = "",
    altloc: str = "",
    occupancy: float = 1.0,
    element: str | None = None,
) -> Record:
    x, y, z = place
    symbol = name[0] if element is None else element
    return name, altloc, resname, chain, resid, icode, x, y, z, occupancy, symbol


def pdb_line(record: Record, serial: int) -> str:
    name, altloc, resname, chain, resid, icode, x, y, z, occupancy, element = record
    padded = name if len(name) == 4 or len(element) == 2 else f" {name}"
    return (
        f"ATOM  {serial:5d} {padded:<4}{altloc or ' '}{resname:>3} {chain or ' '}{resid:4d}"
        f"{icode or ' '}   {x:8.3f}{y:8.3f}{z:8.3f}{occupancy:6.2f}{0:6.2f}          {element:>2}  "
    )


def pdb_text(models: Iterable[Sequence[Record]], *, extra: Sequence[str] = ()) -> str:
    lines = list[str]()
    for number, records in enumerate(models, start=1):
        lines.append(f"MODEL     {number:4d}")
        lines.extend(pdb_line(record, serial) for serial, record in enumerate(records, start=1))
        lines.append("ENDMDL")
    return "\n".join([*lines, *extra, "END", ""])


def gro_text(frames: Iterable[Sequence[Record]]) -> str:
    lines = list[str]()
    for records in frames:
        lines += ["made", str(len(records))]
        for serial, (name, _, resname, _, resid, _, *places, _, _) in enumerate(records, start=1):
            columns = "".join(f"{float(x) / 10:8.3f}" for x in places)
            lines.append(f"{resid:5d}{resname:<5}{name:>5}{serial:5d}{columns}")
        lines.append("9 9 9")
    return "\n".join([*lines, ""])


def write_pdb(path: Path, models: Iterable[Sequence[Record]], *, extra: Sequence[str] = ()) -> Path:
    path.write_text(pdb_text(models, extra=extra))
    return path


def as_mmcif(path: Path, text: str) -> Path:
    structure = gemmi.read_pdb_string(text)
    structure.setup_entities()
    structure.make_mmcif_document().write_file(str(path))
    return path


def peptide(shift: float = 0.0, *, n_residues: int = 2, chain: str = "A") -> list[Record]:
    """Alanines without hydrogens, in a row that is near enough to real geometry."""
    records = list[Record]()
    for residue in range(n_residues):
        x = 3.8 * residue + shift
        up = 1.0 if residue % 2 else -1.0
        records += [
            atom("N", residue + 1, (x, 0.0, 0.0), chain=chain),
            atom("CA", residue + 1, (x + 1.2, 0.8 * up, 0.0), chain=chain),
            atom("C", residue + 1, (x + 2.45, 0.4 * up, 0.0), chain=chain),
            atom("O", residue + 1, (x + 2.2, -0.45 * up, 0.85), chain=chain),
            atom("CB", residue + 1, (x + 1.2, 1.6 * up, -1.3), chain=chain),
        ]
    return records


def waters(n_molecules: int = 4) -> list[Record]:
    records = list[Record]()
    for number in range(n_molecules):
        x = 4.0 * number + 1.0
        records += [
            atom("O", number + 1, (x, 1.0, 1.0), resname="HOH"),
            atom("H1", number + 1, (x + 0.96, 1.0, 1.0), resname="HOH"),
            atom("H2", number + 1, (x - 0.24, 1.93, 1.0), resname="HOH"),
        ]
    return records


def trajectory_positions(n_frames: int, n_atoms: int, *, seed: int = 0) -> Coordinates:
    """Positions on the grid that every format keeps."""
    noise = np.random.default_rng(seed).normal(scale=5.0, size=(n_frames, n_atoms, 3))
    return (np.round(noise, 1) + 10.0).astype(np.float32)


def write_trajectory(
    path: Path, positions: Coordinates, *, box: Sequence[float] | None = None
) -> Path:
    """Write a trajectory with MDAnalysis, box as lengths and angles."""
    import MDAnalysis as mda

    n_frames, n_atoms, _ = positions.shape
    universe = mda.Universe.empty(n_atoms, trajectory=True)
    universe.add_TopologyAttr("names", ["C"] * n_atoms)
    universe.add_TopologyAttr("resnames", ["UNK"])
    universe.add_TopologyAttr("resids", [1])
    universe.add_TopologyAttr("types", ["1"] * n_atoms)
    universe.add_TopologyAttr("masses", [12.0] * n_atoms)
    universe.load_new(positions, order="fac", dt=1.0)
    if box is not None:
        universe.trajectory.dimensions_array = np.tile(
            np.asarray(box, dtype=np.float32), (n_frames, 1)
        )
        universe.trajectory.rewind()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what these bare files leave out
        with mda.Writer(str(path), n_atoms=n_atoms, multiframe=n_frames > 1) as writer:
            for _ in universe.trajectory:
                writer.write(universe.atoms)
    return path
