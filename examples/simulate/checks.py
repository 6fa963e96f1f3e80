"""Measure properties that a simulation must reproduce."""

from __future__ import annotations

from pathlib import Path

import MDAnalysis as mda
import numpy as np
from MDAnalysis.analysis import align
from MDAnalysis.analysis.dssp import DSSP

WATER = 18.01528 / 6.02214076e23  # g


def inner_density(oxygens: np.ndarray, radius: float) -> np.ndarray:
    """Density of water (g/cm³) within a radius (Å) of the drop's centre, in every frame."""
    centres = oxygens.mean(axis=1, keepdims=True)
    inside = (np.linalg.norm(oxygens - centres, axis=2) < radius).sum(axis=1)
    return inside * WATER / (4 / 3 * np.pi * (radius * 1e-8) ** 3)


def diffusion(oxygens: np.ndarray, interval: float, lags: tuple[int, int], depth: float) -> float:
    """Self-diffusion coefficient (m²/s) of the molecules that start inside the drop.

    Frames are superposed, because a free drop rotates as a whole. The growth of the mean square
    displacement between two lags (frames) is 6D per time; before the first lag, molecules rattle
    among their neighbours.
    """
    short, long = (_displacement(oxygens, lag, depth) for lag in lags)
    return (long - short) / (6 * (lags[1] - lags[0]) * interval) * 1e-8  # Å²/ps


def rmsd(universe: mda.Universe, reference: mda.Universe, selection: str) -> np.ndarray:
    """Root mean square distance (Å) from a reference after superposition, in every frame."""
    fixed = reference.select_atoms(selection).positions.astype(float)
    fixed -= fixed.mean(axis=0)
    moving = universe.select_atoms(selection)
    found = []
    for _ in universe.trajectory:
        centred = moving.positions.astype(float) - moving.positions.mean(axis=0)
        found.append(align.rotation_matrix(centred, fixed)[1])
    return np.array(found)


def structure_kept(universe: mda.Universe, reference: mda.Universe) -> float:
    """Mean fraction of the helix and strand residues of the reference that keep their state."""
    before = DSSP(reference).run().results.dssp[0]
    frames = DSSP(universe).run().results.dssp
    ordered = np.isin(before, ["H", "E"])
    return float((frames == before)[:, ordered].mean())


def longest_bond(universe: mda.Universe) -> float:
    """Longest bond (Å) in any frame; a molecule split by the box has bonds as long as the box."""
    first, second = universe.bonds.indices.T
    return max(
        float(np.linalg.norm(frame.positions[first] - frame.positions[second], axis=1).max())
        for frame in universe.trajectory
    )


def read(topology: Path, *trajectories: Path) -> np.ndarray:
    """Positions (Å) of a run's oxygens, of shape (frames, molecules, 3)."""
    universe = mda.Universe(str(topology), [str(each) for each in trajectories])
    oxygens = universe.select_atoms("name O")
    return np.array([oxygens.positions for _ in universe.trajectory], dtype=float)


def _displacement(oxygens: np.ndarray, lag: int, depth: float) -> float:
    """Mean square displacement (Å²) over a lag, of molecules that start within a depth (Å)."""
    squares = []
    for first in range(0, len(oxygens) - lag, max(1, lag // 2)):
        before, after = (oxygens[i] - oxygens[i].mean(axis=0) for i in (first, first + lag))
        inside = np.linalg.norm(before, axis=1) < depth
        turned = after @ align.rotation_matrix(after, before)[0].T
        squares.append(((turned - before)[inside] ** 2).sum(axis=1))
    return float(np.concatenate(squares).mean())
