"""Simulate a free drop of 1000 water molecules, as in section C of the paper."""

from __future__ import annotations

import sys
from pathlib import Path

import every_pair
import MDAnalysis as mda
import numpy as np
import openmm
from openmm import app, unit
from stages import Model, Stage, collect, options, run

MOLECULES = 1000
ROOM, STANDARD = 298.15, 273.15  # K
WALL = 4.0  # nm from the centre: twice the radius of the drop
HEAVY = 3.0  # dalton, of hydrogen while the drop equilibrates
TRAJECTORIES = {"dense": "water_drop_dense.xtc", "production": "water_drop.xtc"}


def main(arguments: list[str]) -> None:
    chosen = options(__doc__).parse_args(arguments)
    stages = short_stages() if chosen.short else full_stages()
    # the loop of every_pair.py is faster than OpenMM on the CPU only
    model = drop(64 if chosen.short else MOLECULES, loop=chosen.platform == "CPU")
    topology = write_topology(model, chosen.folder)
    run(model, stages, chosen)
    collect(chosen.folder, topology, TRAJECTORIES)


def full_stages() -> list[Stage]:
    """0.8 ns to equilibrate, the last 0.1 ns of it at 273 K, then 0.2 ns that are kept."""
    return [
        Stage("room", 700.0, 0, 0.004, ROOM, 1.0, ("heavy",)),
        Stage("cooled", 100.0, 0, 0.002, STANDARD, 1.0),
        Stage("dense", 20.0, 0.05, 0.002, STANDARD, 0.1),
        Stage("production", 180.0, 0.5, 0.002, STANDARD, 0.1),
    ]


def short_stages() -> list[Stage]:
    """Short stages for a test."""
    return [
        Stage("room", 2.0, 0, 0.004, ROOM, 1.0, ("heavy",)),
        Stage("cooled", 1.0, 0, 0.002, STANDARD, 1.0),
        Stage("dense", 1.0, 0.05, 0.002, STANDARD, 0.1),
        Stage("production", 5.0, 0.5, 0.002, STANDARD, 0.1),
    ]


def drop(n_molecules: int, *, loop: bool) -> Model:
    """Return the molecules nearest to the middle of a box of water, without the box."""
    field = app.ForceField("amber14/tip3p.xml")
    width = 1.4 * (n_molecules * 0.03) ** (1 / 3) + 0.5  # holds a sphere of so many molecules
    water = app.Modeller(app.Topology(), [] * unit.nanometer)
    water.addSolvent(field, boxSize=openmm.Vec3(width, width, width), model="tip3p")
    oxygens = np.array(water.positions.value_in_unit(unit.nanometer))[::3]
    inside = set(np.argsort(((oxygens - width / 2) ** 2).sum(1))[:n_molecules].tolist())
    water.delete([each for each in water.topology.residues() if each.index not in inside])
    water.topology.setPeriodicBoxVectors(None)
    positions = np.array(water.positions.value_in_unit(unit.nanometer))
    positions -= positions[::3].mean(axis=0)

    def system(stage: Stage) -> openmm.System:
        system = field.createSystem(
            water.topology,
            nonbondedMethod=app.NoCutoff,
            hydrogenMass=HEAVY if "heavy" in stage.options else None,
        )
        if loop:
            every_pair.replace(system)
        system.addForce(wall(n_molecules))
        return system

    return Model(water.topology, positions, system, np.arange(len(positions)))


def wall(n_molecules: int) -> openmm.CustomExternalForce:
    """Return a force that turns back molecules that evaporate."""
    force = openmm.CustomExternalForce("100*max(0, r-wall)^2; r=sqrt(x^2+y^2+z^2)")
    force.addGlobalParameter("wall", WALL)
    for molecule in range(n_molecules):
        force.addParticle(3 * molecule)
    return force


def write_topology(model: Model, folder: Path) -> mda.Universe:
    """Write the initial structure."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "water_drop.pdb"
    with path.open("w") as file:
        app.PDBFile.writeFile(model.topology, model.positions * unit.nanometer, file)
    return mda.Universe(str(path))


if __name__ == "__main__":
    main(sys.argv[1:])
