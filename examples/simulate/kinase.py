"""Simulate adenylate kinase closing: a structure-based model with two states, 4AKE and 1AKE."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import MDAnalysis as mda
import numpy as np
import openmm
import runs
from MDAnalysis.analysis.rms import rmsd
from MDAnalysis.lib.formats.libmdaxdr import XTCFile
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree
from tqdm import trange

CODES = "4ake", "1ake"  # the open state and the closed one
MODEL = {
    "contact_Å": 5.5,  # atoms in contact
    "same_Å": 1.0,  # distances in the two states that differ by less belong to one contact
    "bonded_kJ_mol_Å2": 500.0,  # springs over one or two bonds
    "spring_kJ_mol_Å2": 2.5,  # springs of contacts that both states have
    "well_kJ_mol": 0.7,  # depth of contacts that only one state has
    "width_Å": 3.0,  # full width of these wells at half depth
    "repulsion_Å": 2.8,  # other atoms repel as kT (repulsion / r)^12
    "temperature_K": 300.0,
    "friction_1_ps": 2.0,
    "step_ps": 0.002,
    "open_ps": 20.0,  # before contacts of the closed state attract
    "interval_ps": 1.0,  # between snapshots
    "snapshots": 150,
}
COVALENT = 2.0  # Å: heavy atoms nearer than this are bonded
PRECISION = 250  # of the XTC file: coordinates are multiples of 1/250 nm


def main(arguments: list[str]) -> None:
    parser = runs.options(__doc__)
    parser.add_argument(
        "--structures", type=Path, default=Path(), help="folder of 4ake.pdb and 1ake.pdb"
    )
    chosen = parser.parse_args(arguments)
    model = MODEL | {"snapshots": 3, "open_ps": 0.1} if chosen.short else MODEL
    settings = {"seed": chosen.seed, "short": chosen.short, "states": CODES, "model": model}
    runs.record(chosen.folder, settings, ("openmm", "MDAnalysis", "numpy", "scipy"))
    states = [read_chain(chosen.structures / f"{code}.pdb") for code in CODES]
    places = np.array([state.positions for state in states], dtype=float)
    frames = simulate(places, model, chosen.seed)
    path = chosen.folder / "kinase.xtc"
    write(states[0], frames, model["interval_ps"], path)
    measured = measure(path, places)
    runs.describe(path, "kinase.py", ["kinase.pdb", "kinase.xtc"], measured)


def read_chain(path: Path) -> mda.AtomGroup:
    """Heavy atoms of chain A, first alternative locations."""
    atoms = mda.Universe(str(path)).select_atoms("protein and segid A and not altLoc B")
    return mda.Merge(atoms).atoms


def simulate(states: np.ndarray, model: dict[str, float], seed: int) -> np.ndarray:
    """Snapshots (Å) of a transition from the first state toward the second."""
    system = openmm.System()
    for _ in states[0]:
        system.addParticle(13.0)  # dalton
    for force in forces(states, model):
        system.addForce(force)
    system.addForce(openmm.CMMotionRemover(100))
    integrator = openmm.LangevinMiddleIntegrator(
        model["temperature_K"], model["friction_1_ps"], model["step_ps"]
    )
    integrator.setRandomNumberSeed(seed)
    platform = openmm.Platform.getPlatform("CPU")
    one_thread = {"Threads": "1", "DeterministicForces": "true"}
    context = openmm.Context(system, integrator, platform, one_thread)
    context.setPositions(states[0] / 10)
    openmm.LocalEnergyMinimizer.minimize(context, 10.0, 1000)
    context.setVelocitiesToTemperature(model["temperature_K"], seed)
    integrator.step(round(model["open_ps"] / model["step_ps"]))
    context.setParameter("closing", 1.0)
    frames = []
    for _ in trange(model["snapshots"], unit="snapshot"):
        found = context.getState(getPositions=True).getPositions(asNumpy=True)
        frames.append(10 * np.array(found._value))
        integrator.step(round(model["interval_ps"] / model["step_ps"]))
    return np.array(frames)


def forces(states: np.ndarray, model: dict[str, float]) -> list[openmm.Force]:
    """Springs for contacts in both states, wells for contacts in one, repulsion otherwise."""
    reach, alike = model["contact_Å"], model["same_Å"]
    found = [cKDTree(state).query_pairs(reach, output_type="ndarray") for state in states]
    pairs = np.unique(np.vstack(found), axis=0)
    apart = np.linalg.norm(states[:, pairs[:, 0]] - states[:, pairs[:, 1]], axis=2)
    low, high = apart.min(axis=0), apart.max(axis=0)
    steps = bonds_between(pairs, high < COVALENT)
    lasting = (steps <= 3) | (high < reach) | (high - low < alike)

    springs = openmm.CustomBondForce(
        "k/2*(max(0, nearest-r)^2 + max(0, r-farthest)^2);"
        "nearest=start+closing*(low-start); farthest=start+closing*(high-start)"
    )
    springs.addGlobalParameter("closing", 0.0)
    for name in ("k", "start", "low", "high"):
        springs.addPerBondParameter(name)
    soft, stiff = 100 * model["spring_kJ_mol_Å2"], 100 * model["bonded_kJ_mol_Å2"]
    wells = openmm.CustomBondForce("-depth*max(isopen, closing)/(1+((r-place)/width)^2)")
    wells.addGlobalParameter("closing", 0.0)
    wells.addGlobalParameter("depth", model["well_kJ_mol"])
    wells.addGlobalParameter("width", model["width_Å"] / 10)
    wells.addPerBondParameter("place")
    wells.addPerBondParameter("isopen")
    repulsion = openmm.CustomNonbondedForce("2.5*(size/r)^12")
    repulsion.addGlobalParameter("size", model["repulsion_Å"] / 10)
    repulsion.setNonbondedMethod(openmm.CustomNonbondedForce.CutoffNonPeriodic)
    repulsion.setCutoffDistance(0.2 * model["repulsion_Å"])
    for _ in states[0]:
        repulsion.addParticle()
    for pair, distances, n_bonds, lasts in zip(
        pairs.tolist(), (apart / 10).T, steps.tolist(), lasting.tolist(), strict=True
    ):
        if lasts:
            k = stiff if n_bonds <= 2 else soft
            springs.addBond(*pair, [k, distances[0], distances.min(), distances.max()])
            repulsion.addExclusion(*pair)
        else:
            wells.addBond(*pair, [distances.min(), float(distances[0] < distances[1])])
    return [springs, wells, repulsion]


def bonds_between(pairs: np.ndarray, bonded: np.ndarray) -> np.ndarray:
    """Number of covalent bonds between the atoms of each pair, inf beyond three."""
    first, second = pairs[bonded].T
    n = pairs.max() + 1
    graph = coo_array((np.ones(len(first)), (first, second)), shape=(n, n))
    return dijkstra(graph, directed=False, limit=3)[pairs[:, 0], pairs[:, 1]]


def write(atoms: mda.AtomGroup, frames: np.ndarray, interval: float, path: Path) -> None:
    """Write the first snapshot as PDB, and all of them as XTC."""
    first = frames[0].mean(axis=0)
    no_box = np.zeros((3, 3))
    with XTCFile(str(path), "w") as file:
        for number, frame in enumerate(frames):
            placed = ((frame - first) / 10).astype(np.float32)
            file.write(placed, no_box, number, number * interval, PRECISION)
    atoms.positions = frames[0] - first
    atoms.tempfactors = 0.0
    atoms.universe.dimensions = None
    with warnings.catch_warnings(action="ignore"):  # fields that the atoms lack
        atoms.write(str(path.with_suffix(".pdb")), bonds=None)


def measure(path: Path, states: np.ndarray) -> dict[str, float]:
    """Rms distance of Cα in the first and last snapshots from both states."""
    universe = mda.Universe(str(path.with_suffix(".pdb")), str(path))
    alpha = universe.select_atoms("name CA")
    places = [state[alpha.indices] for state in states]
    found = {}
    for end, frame in (("first", 0), ("last", -1)):
        here = universe.trajectory[frame].positions[alpha.indices]
        for code, place in zip(CODES, places, strict=True):
            apart = rmsd(here, place, superposition=True)
            found[f"rmsd_CA_{end}_to_{code}_Å"] = round(float(apart), 2)
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
