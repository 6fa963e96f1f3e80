"""The simulations of examples/simulate run, stop at any moment, and go on."""

from __future__ import annotations

import csv
import importlib
import json
import signal
import subprocess
import sys
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("openmm", reason="needs OpenMM, of the extra md")
pytest.importorskip("pdbfixer", reason="needs PDBFixer, of the extra md")

import MDAnalysis as mda
import openmm
from openmm import app

FOLDER = Path(__file__).parents[1] / "examples" / "simulate"
pytestmark = pytest.mark.filterwarnings("ignore:.*no __module__ attribute:DeprecationWarning")


def module(name: str) -> Any:
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    return importlib.import_module(name)


def simulate(script: str, *arguments: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(FOLDER / script), *map(str, arguments), "--threads", "1"]
    return subprocess.Popen(command, stderr=subprocess.PIPE)


def finish(process: subprocess.Popen[bytes]) -> str:
    told = process.communicate()[1].decode()
    assert process.returncode == 0, told
    return told


def log(folder: Path) -> dict[str, list[float]]:
    """Times of the log's lines, for each stage."""
    with (folder / "log.csv").open() as file:
        lines = list(csv.DictReader(file))
    stages = dict.fromkeys(line["stage"] for line in lines)
    return {s: [float(x["time_ps"]) for x in lines if x["stage"] == s] for s in stages}


def times(topology: Path, trajectory: Path) -> list[float]:
    return [frame.time for frame in mda.Universe(str(topology), str(trajectory)).trajectory]


# ---- water ---------------------------------------------------------------------------------


def forces_of(system: openmm.System, positions: Any, platform: str) -> tuple[float, Any]:
    context = openmm.Context(
        system, openmm.VerletIntegrator(0.001), openmm.Platform.getPlatform(platform)
    )
    context.setPositions(positions)
    state = context.getState(getEnergy=True, getForces=True)
    number = module("stages").number
    return number(state.getPotentialEnergy()), number(state.getForces(asNumpy=True))


@pytest.mark.thorough
def test_the_loop_over_every_pair_gives_the_forces_of_openmm_in_double_precision() -> None:
    """A pair's force is right to some 1e-6 in single precision, and a site's is a sum of many."""
    water_drop, stage = module("water_drop"), module("stages").Stage("any", 1.0, 0)
    model = water_drop.drop(60, loop=True)
    plain = water_drop.drop(60, loop=False)
    np.testing.assert_array_equal(model.positions, plain.positions)
    energy, forces = forces_of(model.system(stage), model.positions, "CPU")
    exact_energy, exact = forces_of(plain.system(stage), model.positions, "Reference")
    assert np.abs(forces - exact).max() < 1e-5 * np.abs(exact).max()
    assert energy == pytest.approx(exact_energy, rel=1e-5)


def test_the_loop_refuses_waters_it_does_not_know() -> None:
    field = app.ForceField("amber14/tip4pew.xml")
    water = app.Modeller(app.Topology(), [] * openmm.unit.nanometer)
    water.addSolvent(field, boxSize=openmm.Vec3(2, 2, 2), model="tip4pew")
    system = field.createSystem(water.topology)
    with pytest.raises(ValueError, match="waters of three sites are needed"):
        module("every_pair").replace(system)


@pytest.fixture(scope="module")
def short_drop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drop") / "run"
    told = finish(simulate("water_drop.py", folder, "--short"))
    assert "100%" in told
    return folder


@pytest.mark.thorough
def test_a_short_drop_has_the_frames_and_times_that_its_stages_name(short_drop: Path) -> None:
    topology = short_drop / "water_drop.pdb"
    dense = times(topology, short_drop / "water_drop_dense.xtc")
    np.testing.assert_allclose(dense, 3 + 0.05 * np.arange(1, 21), atol=1e-4)
    coarse = times(topology, short_drop / "water_drop.xtc")
    np.testing.assert_allclose(coarse, 4 + 0.5 * np.arange(1, 11), atol=1e-4)
    assert log(short_drop)["production"] == pytest.approx(coarse)


@pytest.mark.thorough
def test_molecules_stay_rigid_in_every_frame(short_drop: Path) -> None:
    """To the precision of an XTC file, 0.01 Å for each coordinate."""
    universe = mda.Universe(
        str(short_drop / "water_drop.pdb"), str(short_drop / "water_drop_dense.xtc")
    )
    for _ in universe.trajectory:
        sites = universe.atoms.positions.reshape(-1, 3, 3)
        lengths = np.linalg.norm(sites[:, 1:] - sites[:, :1], axis=2)
        np.testing.assert_allclose(lengths, 0.9572, atol=0.01 * np.sqrt(3))


@pytest.mark.thorough
def test_the_record_names_seed_platform_stages_and_versions(short_drop: Path) -> None:
    record = json.loads((short_drop / "run.json").read_text())
    assert record["seed"] == 1
    assert record["platform"] == "CPU"
    assert [stage["name"] for stage in record["stages"]] == "room cooled dense production".split()
    assert {"python", "openmm", "pdbfixer", "numpy", "numba"} <= set(record["versions"])


def test_the_full_drop_equilibrates_for_0_8_ns_and_counts_for_0_2_ns() -> None:
    stages = module("water_drop").full_stages()
    without = [stage.length for stage in stages if not stage.interval]
    counted = [stage for stage in stages if stage.interval]
    assert sum(without) == 800
    assert sum(stage.length for stage in counted) == 200
    assert {stage.temperature for stage in counted} == {273.15}
    assert min(stage.interval for stage in counted) <= 0.1


# ---- stopping and going on -----------------------------------------------------------------


def tiny(folder: Path, seed: int = 1) -> tuple[Any, list[Any], Namespace]:
    """Eight molecules for two stages of six and three blocks."""
    stage = module("stages").Stage
    stages = [stage("first", 0.24, 0.02, 0.002), stage("second", 0.12, 0.04, 0.002)]
    chosen = Namespace(folder=folder, seed=seed, short=True, threads=1, platform="CPU")
    return module("water_drop").drop(8, loop=False), stages, chosen


def frames(folder: Path) -> list[float]:
    done = module("stages").last_checkpoint(folder)[0]
    blocks = [np.load(folder / "blocks" / f"{number:06d}.npz") for number in range(done)]
    assert all(len(block["log"]) == len(block["frames"]) for block in blocks)
    return [float(time) for block in blocks for time in block["log"][:, 0]]


@pytest.mark.parametrize(
    "last",
    [1, 13, *(pytest.param(last, marks=pytest.mark.thorough) for last in (2, 3, 12, 14, 18))],
)
def test_a_run_stopped_before_any_of_its_files_goes_on_without_a_frame_lost_or_doubled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: int
) -> None:
    stages = module("stages")
    monkeypatch.setattr(stages, "BLOCK", 20)
    written = 0
    write = stages.write

    def stop(path: Path, **arrays: Any) -> None:
        nonlocal written
        written += 1
        if written == last:
            path.with_suffix(".part").write_bytes(b"half of it")
            raise KeyboardInterrupt
        write(path, **arrays)

    monkeypatch.setattr(stages, "write", stop)
    with pytest.raises(KeyboardInterrupt):
        stages.run(*tiny(tmp_path))
    assert len(frames(tmp_path)) == [0, 2, 4, 6, 8, 10, 12, 13, 14][(last - 1) // 2]
    monkeypatch.setattr(stages, "write", write)
    stages.run(*tiny(tmp_path))
    expected = [*(0.02 * np.arange(1, 13)), *(0.24 + 0.04 * np.arange(1, 4))]
    np.testing.assert_allclose(frames(tmp_path), expected, atol=1e-6)


def test_molecules_move_on_from_where_they_stopped(tmp_path: Path) -> None:
    """In 20 fs a hydrogen of 3000 m/s, faster than all but one in 10⁴, makes 0.6 Å."""
    stages = module("stages")
    model, plan, chosen = tiny(tmp_path)
    stages.run(model, plan, chosen)
    found = [np.load(path) for path in sorted((tmp_path / "blocks").iterdir())]
    positions = np.concatenate([block["frames"] for block in found])
    moved = np.linalg.norm(np.diff(positions[:12], axis=0), axis=2)
    assert 0 < moved.max() < 3.0


@pytest.mark.thorough
def test_the_same_seed_gives_the_same_run_and_another_seed_another(tmp_path: Path) -> None:
    """On one thread of one machine, where sums have one order."""
    stages = module("stages")
    blocks = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        stages.run(*tiny(tmp_path / name, seed))
        blocks.append(np.load(tmp_path / name / "blocks" / "000000.npz")["frames"])
    np.testing.assert_array_equal(blocks[0], blocks[1])
    assert np.abs(blocks[0] - blocks[2]).max() > 0.1


def test_a_folder_of_another_run_is_refused(tmp_path: Path) -> None:
    stages = module("stages")
    stages.run(*tiny(tmp_path))
    with pytest.raises(SystemExit, match="holds a run with seed 1, this one has 2"):
        stages.run(*tiny(tmp_path, seed=2))


@pytest.mark.thorough
def test_a_killed_drop_goes_on_to_all_its_frames(tmp_path: Path) -> None:
    process = simulate("water_drop.py", tmp_path, "--short")
    while not list(tmp_path.glob("blocks/000002.npz")) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (tmp_path / "water_drop.xtc").exists()
    finish(simulate("water_drop.py", tmp_path, "--short"))
    topology = tmp_path / "water_drop.pdb"
    found = times(topology, tmp_path / "water_drop_dense.xtc")
    found += times(topology, tmp_path / "water_drop.xtc")
    expected = [*(3 + 0.05 * np.arange(1, 21)), *(4 + 0.5 * np.arange(1, 11))]
    np.testing.assert_allclose(found, expected, atol=1e-4)


# ---- barnase -------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_short_barnase_is_whole_and_has_its_frames(tmp_path: Path) -> None:
    """Any crystal structure with a chain A will do where the script cuts it short."""
    from MDAnalysisTests.datafiles import PDB_full

    finish(simulate("barnase.py", tmp_path, "--short", "--structure", PDB_full))
    topology = tmp_path / "barnase.pdb"
    early = times(topology, tmp_path / "barnase_early.xtc")
    np.testing.assert_allclose(early, 0.5 + 0.04 * np.arange(1, 11), atol=1e-4)
    assert len(times(topology, tmp_path / "barnase.xtc")) == 5
    universe = mda.Universe(
        str(topology), str(tmp_path / "barnase.xtc"), to_guess=("types", "masses", "bonds")
    )
    assert universe.select_atoms("protein").n_atoms == universe.atoms.n_atoms
    assert universe.residues.n_residues == 8
    assert module("checks").longest_bond(universe) < 2.2  # Å: S–S are longest, and swing by 0.1
    assert_energies_are_those_of_water(tmp_path)


def assert_energies_are_those_of_water(folder: Path) -> None:
    """Bulk TIP3P has -9.5 to -9.9 kcal/mol for each molecule, and protein and ions some 5 % more.

    A picosecond brings the temperature of what was relaxed to 300 K but for some 5 %.
    """
    lines = module("shipped").log(folder, "production")
    start = app.PDBxFile(str(folder / "start.cif")).topology
    waters = sum(residue.name == "HOH" for residue in start.residues())
    assert -9.9 * 1.05 < lines["potential_kJ_mol"].mean() / waters / 4.184 < -9.5
    assert lines["temperature_K"].mean() == pytest.approx(300.0, rel=0.05)
    kinetic = lines["kinetic_kJ_mol"] / lines["temperature_K"]  # by degrees of freedom alone
    assert kinetic == pytest.approx(kinetic[0], rel=1e-4)


def test_the_full_barnase_equilibrates_and_counts_for_half_a_nanosecond() -> None:
    stages = module("barnase").full_stages()
    counted = [stage for stage in stages if stage.interval]
    assert sum(stage.length for stage in stages if not stage.interval) >= 50
    assert sum(stage.length for stage in counted) == 500
    assert {stage.temperature for stage in counted} == {300.0}
    assert not any("held" in stage.options for stage in counted)


@pytest.mark.thorough
def test_the_same_seed_solvates_alike() -> None:
    from MDAnalysisTests.datafiles import PDB_full

    barnase = module("barnase")
    first, second = (barnase.solvate(PDB_full, 3, short=True) for _ in range(2))
    number = module("stages").number
    assert first.topology.getNumAtoms() == second.topology.getNumAtoms()
    apart = np.array(number(first.positions)) - np.array(number(second.positions))
    assert np.abs(apart).max() < 1e-3  # nm: hydrogens are relaxed on several threads


# ---- what is measured on a run -------------------------------------------------------------


def test_the_density_of_a_grid_is_that_of_its_spacing() -> None:
    """One molecule in a cube of 3 Å: 18.015 g/mol / (6.022e23 · 27e-24 cm³) = 1.108 g/cm³."""
    grid = 3.0 * np.stack(np.meshgrid(*[np.arange(-12, 13)] * 3), axis=-1).reshape(1, -1, 3)
    # In a sphere of 30 Å are 4189 points; those of its surface, some 4π·100, may be in or out.
    density = module("checks").inner_density(grid, 30.0)
    assert density == pytest.approx([1.108], rel=2 * np.sqrt(4 * np.pi * 100) / 4189)


def test_the_diffusion_of_a_random_walk_is_that_of_its_steps_though_the_drop_turns() -> None:
    """Steps of variance 2Dt along each axis; 400 molecules and 20 independent lags, 3 axes each."""
    random = np.random.default_rng(5)
    steps = random.normal(0, np.sqrt(2 * 0.3 * 0.5), (201, 400, 3))  # D = 0.3 Å²/ps, 0.5 ps
    walk = random.uniform(-15, 15, (400, 3)) + np.cumsum(steps, axis=0)
    walk -= walk.mean(axis=1, keepdims=True)
    angles = 0.05 * np.arange(201)
    turns = np.array(
        [[[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]] for a in angles]
    )
    turned = np.einsum("fij,fmj->fmi", turns, walk)
    found = module("checks").diffusion(turned, 0.5, (2, 10), depth=np.inf)
    # Relative error of a variance of n numbers: √(2/n). Superposing takes 6 of 1200 coordinates.
    error = np.sqrt(2 / (400 * 20 * 3)) * 10 / 8
    assert found == pytest.approx(0.3e-8, rel=4 * error + 6 / 1200)
