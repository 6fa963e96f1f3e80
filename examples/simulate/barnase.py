"""Simulate barnase in water, from the crystal structure 1A2P, as in section D of the paper."""

from __future__ import annotations

import random
import sys
from argparse import Namespace
from pathlib import Path

import MDAnalysis as mda
import numpy as np
import openmm
from openmm import app, unit
from pdbfixer import PDBFixer
from scipy.spatial import cKDTree
from stages import Model, Stage, collect, options, run

CODE = "1a2p"
SHORT = 8  # residues
PADDING = 0.5  # nm between a sphere about protein and kept waters and the next such sphere
SHELL = 0.32  # nm: crystal waters this close to the protein are kept
CUTOFF = 0.8  # nm, of the direct sum of PME
HEAVY = 3.0  # dalton, of hydrogen, taken from the atom it is bound to
TRAJECTORIES = {"early": "barnase_early.xtc", "production": "barnase.xtc"}
STIFFNESS = 1000.0  # kJ/(mol nm²), of restraints in the first stages


def main(arguments: list[str]) -> None:
    parser = options(__doc__)
    parser.add_argument("--structure", type=Path, help="file of 1A2P; default: fetch it")
    chosen = parser.parse_args(arguments)
    stages = short_stages() if chosen.short else full_stages()
    model = protein(prepared(chosen))
    topology = write_topology(model, chosen.folder)
    run(model, stages, chosen)
    collect(chosen.folder, topology, TRAJECTORIES)


def full_stages() -> list[Stage]:
    """75 ps to equilibrate, then 0.5 ns, of which the paper's 0.1 ns with denser frames."""
    return [
        Stage("held", 10.0, 0, 0.002, 300.0, 5.0, ("held",)),
        Stage("pressed", 20.0, 0, 0.004, 300.0, 2.0, ("held", "pressure")),
        Stage("free", 45.0, 0, 0.004, 300.0, 1.0, ("pressure",)),
        Stage("early", 100.0, 0.5, 0.004, 300.0, 1.0, ("pressure",)),
        Stage("production", 400.0, 1.0, 0.004, 300.0, 1.0, ("pressure",)),
    ]


def short_stages() -> list[Stage]:
    """Short stages for a fragment of the protein."""
    return [
        Stage("held", 0.1, 0, 0.002, 300.0, 5.0, ("held",)),
        Stage("pressed", 0.2, 0, 0.004, 300.0, 2.0, ("held", "pressure")),
        Stage("free", 0.2, 0, 0.004, 300.0, 1.0, ("pressure",)),
        Stage("early", 0.4, 0.04, 0.004, 300.0, 1.0, ("pressure",)),
        Stage("production", 0.4, 0.08, 0.004, 300.0, 1.0, ("pressure",)),
    ]


def prepared(chosen: Namespace) -> app.PDBxFile:
    """Return the initial structure, made once for each folder."""
    path = chosen.folder / "start.cif"
    if not path.exists():
        solvated = solvate(chosen.structure, chosen.seed, short=chosen.short)
        chosen.folder.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part")
        with unfinished.open("w") as file:
            app.PDBxFile.writeFile(solvated.topology, solvated.positions, file, keepIds=True)
        unfinished.replace(path)
    return app.PDBxFile(str(path))


def solvate(structure: Path | None, seed: int, *, short: bool = False) -> app.Modeller:
    """Return chain A with all atoms, crystal waters at its surface, more water, and ions."""
    random.seed(seed)  # which waters become ions
    solvated = complete(structure, seed, SHORT if short else None)
    solvated.delete(far_waters(solvated))
    solvated.addHydrogens(field(), pH=7.0)
    solvated.addSolvent(
        field(), model="tip3p", padding=PADDING * unit.nanometer, boxShape="dodecahedron"
    )
    return solvated


def complete(structure: Path | None, seed: int, n_residues: int | None) -> app.Modeller:
    """Return chain A and its waters with all heavy atoms; missing residues are not added."""
    source = {"filename": str(structure)} if structure else {"pdbid": CODE}
    fixer = PDBFixer(**source)
    chains = [chain.id for chain in fixer.topology.chains()]
    fixer.removeChains([index for index, name in enumerate(chains) if name != "A"])
    fixer.findNonstandardResidues()
    fixer.replaceNonstandardResidues()
    fixer.removeHeterogens(keepWater=True)
    if n_residues is not None:
        cut = app.Modeller(fixer.topology, fixer.positions)
        cut.delete(list(cut.topology.residues())[n_residues:])
        fixer.topology, fixer.positions = cut.topology, cut.positions
    fixer.missingResidues = {}
    fixer.findMissingAtoms()
    fixer.addMissingAtoms(seed=seed)
    return app.Modeller(fixer.topology, fixer.positions)


def far_waters(model: app.Modeller) -> list[app.topology.Residue]:
    """Crystal waters beyond the first shell, which would only enlarge the box."""
    positions = np.array(model.positions.value_in_unit(unit.nanometer))
    near = cKDTree(positions[protein_atoms(model.topology)])
    waters = [each for each in model.topology.residues() if each.name == "HOH"]
    return [each for each in waters if near.query(positions[next(each.atoms()).index])[0] > SHELL]


def protein(start: app.PDBxFile) -> Model:
    """Return the system with PME, rigid water, constrained bonds to hydrogen, heavy hydrogens."""
    positions = np.array(start.positions.value_in_unit(unit.nanometer))
    kept = protein_atoms(start.topology)

    def system(stage: Stage) -> openmm.System:
        system = field().createSystem(
            start.topology,
            nonbondedMethod=app.PME,
            nonbondedCutoff=CUTOFF,
            constraints=app.HBonds,
            hydrogenMass=HEAVY,
        )
        if "pressure" in stage.options:
            every = 10 if "held" in stage.options else 50  # steps; the volume relaxes first
            system.addForce(openmm.MonteCarloBarostat(1.01325, stage.temperature, every))
        if "held" in stage.options:
            heavy = [a.index for a in start.topology.atoms() if a.element.symbol != "H"]
            system.addForce(springs(np.intersect1d(kept, heavy), positions))
        return system

    return Model(start.topology, positions, system, kept)


def springs(atoms: np.ndarray, positions: np.ndarray) -> openmm.CustomExternalForce:
    """Restrain atoms to their initial positions."""
    force = openmm.CustomExternalForce("0.5*k*periodicdistance(x, y, z, x0, y0, z0)^2")
    force.addGlobalParameter("k", STIFFNESS)
    for name in ("x0", "y0", "z0"):
        force.addPerParticleParameter(name)
    for atom in atoms.tolist():
        force.addParticle(atom, positions[atom])
    return force


def field() -> app.ForceField:
    return app.ForceField("amber14-all.xml", "amber14/tip3p.xml")


def protein_atoms(topology: app.Topology) -> np.ndarray:
    """Indices of the atoms of the first chain, without its waters."""
    residues = (each for each in next(topology.chains()).residues() if each.name != "HOH")
    return np.array([atom.index for residue in residues for atom in residue.atoms()])


def write_topology(model: Model, folder: Path) -> mda.Universe:
    """Write the initial structure of the protein."""
    alone = app.Modeller(model.topology, model.positions * unit.nanometer)
    kept = set(model.kept.tolist())
    alone.delete([atom for atom in alone.topology.atoms() if atom.index not in kept])
    alone.topology.setPeriodicBoxVectors(None)
    with (folder / "barnase.pdb").open("w") as file:
        app.PDBFile.writeFile(alone.topology, alone.positions, file, keepIds=True)
    return mda.Universe(str(folder / "barnase.pdb"))


if __name__ == "__main__":
    main(sys.argv[1:])
