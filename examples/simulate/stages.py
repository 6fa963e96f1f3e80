"""Run a simulation in stages, in small blocks after which it can be continued.

A block takes a few seconds. Its frames and its log are one file, and the checkpoint written after
it states how many blocks are complete. What an interrupted run wrote after its last checkpoint is
written again, so that no frame is lost or doubled.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import MDAnalysis as mda
import numpy as np
import openmm
import runs
from openmm import app, unit
from runs import CHECKPOINT, RECORD, write
from tqdm import tqdm

AVOGADRO = 6.02214076e23
BOLTZMANN = 0.00831446261815324  # kJ/(mol K)
LOG = ["time_ps", "potential_kJ_mol", "kinetic_kJ_mol", "temperature_K"]
PERIODIC_LOG = ["volume_nm3", "density_g_cm3"]  # zero without a box
BLOCK = 500  # steps, if no frame asks for more


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of the run with its own temperature, step and forces."""

    name: str
    length: float  # ps
    interval: float  # ps from frame to frame, 0 for a log alone
    step: float = 0.002  # ps
    temperature: float = 300.0  # K
    friction: float = 1.0  # 1/ps
    options: tuple[str, ...] = ()  # choices of forces

    @property
    def steps(self) -> int:
        return round(self.length / self.step)

    @property
    def stride(self) -> int:
        """Steps between lines of the log: one line per frame, or per ps."""
        return min(self.steps, round((self.interval or 1.0) / self.step))


@dataclass(frozen=True, slots=True)
class Model:
    """The simulated system."""

    topology: app.Topology
    positions: np.ndarray  # (atoms, 3), nm, at the start
    system: Callable[[Stage], openmm.System]  # the forces of each stage
    kept: np.ndarray  # indices of the atoms that go into frames


def options(description: str | None) -> argparse.ArgumentParser:
    """Options of every simulation."""
    parser = runs.options(description)
    parser.add_argument(
        "--threads", type=int, help="threads of the CPU platform; default: all cores"
    )
    parser.add_argument("--platform", default="CPU", help="platform of OpenMM, such as CPU or CUDA")
    return parser


def run(model: Model, stages: list[Stage], chosen: argparse.Namespace) -> None:
    """Run all stages, from the last checkpoint if there is one."""
    folder = chosen.folder
    (folder / "blocks").mkdir(parents=True, exist_ok=True)
    record(folder, stages, chosen)
    blocks = list(plan(stages))
    done, state = last_checkpoint(folder)
    simulation, current = None, None
    steps_done = sum(steps for _, steps in blocks[:done])
    with tqdm(total=sum(s for _, s in blocks), initial=steps_done, unit="step") as bar:
        for number, (index, steps) in enumerate(blocks[done:], start=done):
            if index != current:
                if simulation is not None:
                    state = state_of(simulation)
                simulation, current = prepare(model, stages[index], index, chosen), index
                if state is None:
                    begin(simulation, model, stages[index], chosen.seed)
                else:
                    resume(simulation, state, index)
                bar.set_description(stages[index].name)
            recorded = advance(simulation, stages[index], steps, model.kept)
            write(folder / "blocks" / f"{number:06d}.npz", stage=index, **recorded)
            write(
                folder / CHECKPOINT,
                done=number + 1,
                stage=index,
                context=np.frombuffer(simulation.context.createCheckpoint(), dtype=np.uint8),
                **state_of(simulation),
            )
            bar.update(steps)


def collect(folder: Path, universe: mda.Universe, names: dict[str, str]) -> list[Path]:
    """Write log.csv, and an XTC file for each stage in `names` that has frames."""
    stages = [stage["name"] for stage in json.loads((folder / RECORD).read_text())["stages"]]
    done = [folder / "blocks" / f"{n:06d}.npz" for n in range(last_checkpoint(folder)[0])]
    blocks = [(stages[int(block["stage"])], block) for block in map(np.load, done)]
    with (folder / "log.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["stage", *LOG, *PERIODIC_LOG])
        for stage, block in blocks:
            lines.writerows([stage, *(f"{value:.6f}" for value in row)] for row in block["log"])
    begun = {stage for stage, _ in blocks}
    files = {stage: folder / name for stage, name in names.items() if stage in begun}
    for name, path in files.items():
        with mda.Writer(str(path), universe.atoms.n_atoms) as trajectory:
            for block in (block for stage, block in blocks if stage == name):
                for line, frame in zip(block["log"], block["frames"], strict=True):
                    universe.atoms.positions = frame
                    universe.trajectory.ts.time = line[0]
                    trajectory.write(universe.atoms)
    return list(files.values())


def record(folder: Path, stages: list[Stage], chosen: argparse.Namespace) -> None:
    """Write the settings of the run, or refuse to continue one that had others."""
    settings = {
        "seed": chosen.seed,
        "short": chosen.short,
        "stages": [asdict(stage) for stage in stages],
    }
    libraries = ("openmm", "pdbfixer", "numpy", "numba", "MDAnalysis")
    runs.record(folder, settings, libraries, platform=chosen.platform)


def plan(stages: list[Stage]) -> Iterator[tuple[int, int]]:
    """Yield stage and number of steps of every block."""
    for index, stage in enumerate(stages):
        size = stage.stride * max(1, BLOCK // stage.stride)
        for first in range(0, stage.steps, size):
            yield index, min(size, stage.steps - first)


def prepare(model: Model, stage: Stage, index: int, chosen: argparse.Namespace) -> app.Simulation:
    """Return a simulation with the forces and the thermostat of a stage, without a state."""
    thermostat = openmm.LangevinMiddleIntegrator(stage.temperature, stage.friction, stage.step)
    thermostat.setConstraintTolerance(1e-6)
    thermostat.setRandomNumberSeed(chosen.seed + 1000 * (index + 1))
    threads = {"Threads": str(chosen.threads)} if chosen.threads else {}
    return app.Simulation(
        model.topology,
        model.system(stage),
        thermostat,
        openmm.Platform.getPlatform(chosen.platform),
        threads if chosen.platform == "CPU" else {},
    )


def begin(simulation: app.Simulation, model: Model, stage: Stage, seed: int) -> None:
    """Start from the minimised model with random velocities."""
    simulation.context.setPositions(model.positions)
    simulation.minimizeEnergy(maxIterations=200)
    simulation.context.setVelocitiesToTemperature(stage.temperature, seed)


def resume(simulation: app.Simulation, state: dict[str, np.ndarray], index: int) -> None:
    """Continue from a checkpoint within this stage, or from the end of the previous stage."""
    context = simulation.context
    if "context" in state and state["stage"] == index:
        context.loadCheckpoint(state["context"].tobytes())
        return
    if simulation.system.usesPeriodicBoundaryConditions():
        context.setPeriodicBoxVectors(*state["box"])
    context.setPositions(state["positions"])
    context.setVelocities(state["velocities"])
    context.setTime(float(state["time"]))


def advance(
    simulation: app.Simulation, stage: Stage, steps: int, kept: np.ndarray
) -> dict[str, np.ndarray]:
    """Take the steps of a block; return its log and its frames, in Å."""
    mass, freedom = mass_and_freedom(simulation.system)
    log, frames = [], []
    for _ in range(steps // stage.stride):
        simulation.step(stage.stride)
        state = simulation.context.getState(getEnergy=True, getPositions=bool(stage.interval))
        log.append([number(state.getTime()), *energies(state, freedom), *density(state, mass)])
        if not np.isfinite(log[-1]).all():
            raise SystemExit(f"the energy is not finite after {log[-1][0]:.3f} ps: the run failed")
        if stage.interval:
            frames.append(10 * number(state.getPositions(asNumpy=True))[kept])
    return {"log": np.array(log), "frames": np.array(frames, dtype=np.float32)}


def mass_and_freedom(system: openmm.System) -> tuple[float, int]:
    """Return mass in dalton, and degrees of freedom without constraints and the centre of mass."""
    atoms = range(system.getNumParticles())
    mass = sum(number(system.getParticleMass(atom)) for atom in atoms)
    return mass, 3 * len(atoms) - system.getNumConstraints() - 3


def energies(state: openmm.State, freedom: int) -> tuple[float, float, float]:
    kinetic = number(state.getKineticEnergy())
    return number(state.getPotentialEnergy()), kinetic, 2 * kinetic / (freedom * BOLTZMANN)


def density(state: openmm.State, mass: float) -> tuple[float, float]:
    try:
        volume = number(state.getPeriodicBoxVolume())
    except openmm.OpenMMException:
        return 0.0, 0.0
    return volume, mass / AVOGADRO / (volume * 1e-21)


def state_of(simulation: app.Simulation) -> dict[str, np.ndarray]:
    """Return the state from which another simulation can continue."""
    state = simulation.context.getState(getPositions=True, getVelocities=True)
    return {
        "positions": number(state.getPositions(asNumpy=True)),
        "velocities": number(state.getVelocities(asNumpy=True)),
        "box": np.array(number(state.getPeriodicBoxVectors())),
        "time": np.array(number(state.getTime())),
    }


def last_checkpoint(folder: Path) -> tuple[int, dict[str, np.ndarray] | None]:
    """Return the number of complete blocks, and the state after them."""
    state = runs.last_checkpoint(folder)
    return (0, None) if state is None else (int(state["done"]), state)


def number(quantity: Any) -> Any:
    """Convert to nm, ps, kJ/mol, dalton."""
    return quantity.value_in_unit_system(unit.md_unit_system)
