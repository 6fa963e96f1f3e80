"""Make the files of the package from complete runs, each with its record."""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import barnase
import checks
import MDAnalysis as mda
import numpy as np
import stages
import water_drop

LICENCE = "CC0-1.0"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--drop", type=Path, help="folder of water_drop.py")
    parser.add_argument("--barnase", type=Path, help="folder of barnase.py")
    parser.add_argument("folder", type=Path, help="where to write")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    if chosen.drop:
        ship_drop(chosen.drop, chosen.folder)
    if chosen.barnase:
        ship_barnase(chosen.barnase, chosen.folder)


def ship_drop(run: Path, folder: Path) -> None:
    """All atoms for 5 ps every 0.05 ps, and oxygens for the whole 0.2 ns every ps."""
    topology = run / "water_drop.pdb"
    files = stages.collect(run, mda.Universe(str(topology)), water_drop.TRAJECTORIES)
    start = began(run, "dense")
    everything = mda.Universe(str(topology), [str(file) for file in files])
    number_molecules(everything)
    times = np.array([frame.time for frame in everything.trajectory]) - start
    oxygens = everything.select_atoms("name O")
    write(everything.atoms, folder / "water_drop_dense", np.flatnonzero(times < 5.001))
    whole = np.flatnonzero(every(1.0, times))
    write(oxygens, folder / "water_drop", whole)
    record(run, folder, "water_drop", measure_drop(run, oxygens, whole))


def ship_barnase(run: Path, folder: Path) -> None:
    """All atoms of the protein: every ps for the paper's 0.1 ns, and every 2 ps for all 0.5 ns."""
    topology = run / "barnase.pdb"
    files = stages.collect(run, mda.Universe(str(topology)), barnase.TRAJECTORIES)
    universe = mda.Universe(
        str(topology), [str(file) for file in files], to_guess=("types", "masses", "bonds")
    )
    times = np.array([frame.time for frame in universe.trajectory]) - began(run, "early")
    early = times < 100.001
    write(universe.atoms, folder / "barnase_md_dense", np.flatnonzero(early & every(1.0, times)))
    write(universe.atoms, folder / "barnase_md", np.flatnonzero(every(2.0, times)))
    record(run, folder, "barnase_md", measure_barnase(run, universe))


def number_molecules(universe: mda.Universe) -> None:
    """Number molecules from 1 as chain A, not by their positions in the box they were cut from."""
    universe.residues.resids = np.arange(1, len(universe.residues) + 1)
    universe.atoms.chainIDs = "A"
    universe.segments.segids = "A"


def every(interval: float, times: np.ndarray) -> np.ndarray:
    """Mark times that are multiples of an interval."""
    return np.abs(times / interval - np.round(times / interval)) < 1e-3


def write(atoms: mda.AtomGroup, path: Path, frames: np.ndarray) -> None:
    """Write the first frame as PDB and all frames as XTC, without a box."""
    trajectory = atoms.universe.trajectory
    trajectory[int(frames[0])]
    trajectory.ts.dimensions = None
    atoms.write(str(path.with_suffix(".pdb")), bonds=None)
    with mda.Writer(str(path.with_suffix(".xtc")), atoms.n_atoms) as writer:
        for frame in frames.tolist():
            trajectory[frame].dimensions = None
            writer.write(atoms)


def measure_drop(run: Path, oxygens: mda.AtomGroup, frames: np.ndarray) -> dict[str, Any]:
    """Measure the drop, from frames 1 ps apart."""
    positions = np.array([oxygens.positions for _ in oxygens.universe.trajectory[frames]])
    positions = positions.astype(float)
    centres = positions.mean(axis=1, keepdims=True)
    far = np.linalg.norm(positions - centres, axis=2) > 30
    lines = log(run, "production")
    return {
        "potential_kJ_mol": mean_and_error(lines["potential_kJ_mol"]),
        "temperature_K": mean_and_error(lines["temperature_K"]),
        "density_within_12_Å_g_cm3": mean_and_error(checks.inner_density(positions, 12.0)),
        "diffusion_within_12_Å_m2_s": checks.diffusion(positions, 1.0, (2, 8), 12.0),
        "molecules_beyond_30_Å_mean": float(far.sum(axis=1).mean()),
    }


def measure_barnase(run: Path, universe: mda.Universe) -> dict[str, Any]:
    """Measure the protein, from all frames; the run starts from the crystal structure."""
    lines = log(run, "early", "production")
    crystal = mda.Universe(str(run / "barnase.pdb"))
    apart = checks.rmsd(universe, crystal, "name CA")
    return {
        "time_ps": lines["time_ps"][-1] - began(run, "early"),
        "potential_kJ_mol": mean_and_error(lines["potential_kJ_mol"]),
        "temperature_K": mean_and_error(lines["temperature_K"]),
        "density_g_cm3": mean_and_error(lines["density_g_cm3"]),
        "longest_bond_Å": checks.longest_bond(universe),
        "rmsd_CA_to_crystal_Å": {"mean": float(apart.mean()), "largest": float(apart.max())},
        "helix_and_strand_kept": checks.structure_kept(universe, crystal),
    }


def mean_and_error(values: Iterable[float]) -> dict[str, float]:
    """Mean and standard error from ten blocks, because successive values are correlated."""
    values = np.asarray(values)
    blocks = [block.mean() for block in np.array_split(values, 10)]
    return {"mean": float(values.mean()), "error": float(np.std(blocks, ddof=1) / np.sqrt(10))}


def record(run: Path, folder: Path, name: str, measured: dict[str, Any]) -> None:
    """Write the record of files: settings, measurements and checksums."""
    files = [path for path in sorted(folder.glob(f"{name}*")) if path.suffix in {".pdb", ".xtc"}]
    found = json.loads((run / "run.json").read_text())
    found["script"] = f"examples/simulate/{name.removesuffix('_md')}.py"
    found["licence"] = LICENCE
    found["measured"] = measured
    found["files"] = {
        path.name: {
            "bytes": path.stat().st_size,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in files
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def log(run: Path, *names: str) -> dict[str, np.ndarray]:
    """Columns of the log for some stages."""
    with (run / "log.csv").open() as file:
        lines = [line for line in csv.DictReader(file) if line["stage"] in names]
    columns = [name for name in lines[0] if name != "stage"]
    return {name: np.array([float(line[name]) for line in lines]) for name in columns}


def began(run: Path, stage: str) -> float:
    """Start of a stage, in ps."""
    stages = json.loads((run / "run.json").read_text())["stages"]
    names = [each["name"] for each in stages]
    return sum(each["length"] for each in stages[: names.index(stage)])


if __name__ == "__main__":
    main()
