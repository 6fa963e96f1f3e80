"""Forces among all water molecules of a drop, without a cutoff.

Without a cutoff, OpenMM's CPU platform takes seven times as long as the loop below, which the
compiler vectorises. It visits every pair twice, once for each end, and so writes no shared array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import openmm
from numba import float32
from stages import number

COULOMB = 138.93545764498  # kJ nm/(mol e²), as in OpenMM
compiled = numba.njit(fastmath=True, error_model="numpy", nogil=True)


def replace(system: openmm.System) -> None:
    """Replace the nonbonded force of a system by the loop below."""
    kinds = [isinstance(force, openmm.NonbondedForce) for force in system.getForces()]
    nonbonded = system.getForce(kinds.index(True))
    computation = pair_forces(*three_site_water(nonbonded))
    system.removeForce(kinds.index(True))
    system.addForce(openmm.PythonForce(computation))


def three_site_water(nonbonded: openmm.NonbondedForce) -> tuple[np.ndarray, float, float]:
    """Return the charges of O, H and H, and σ and ε of oxygen."""
    sites = [list(map(number, nonbonded.getParticleParameters(site))) for site in range(3)]
    if sites[1][2] != 0.0 or nonbonded.getNumParticles() % 3:
        raise ValueError("water needs three sites, with Lennard-Jones parameters on oxygen alone")
    return np.array(sites)[:, 0], sites[0][1], sites[0][2]


def pair_forces(
    charges: np.ndarray, sigma: float, epsilon: float
) -> Callable[[openmm.State], tuple[float, np.ndarray]]:
    """Return a function from OpenMM's state to energy (kJ/mol) and forces (kJ/(mol nm))."""
    products = (COULOMB * np.outer(charges, charges)).astype(np.float32)
    attraction = np.float32(4 * epsilon * sigma**6)
    repulsion = np.float32(4 * epsilon * sigma**12)

    def compute(state: Any) -> tuple[float, np.ndarray]:
        positions = number(state.getPositions(asNumpy=True))
        sites = np.asarray(positions, dtype=np.float32).reshape(-1, 3, 3).transpose(1, 2, 0)
        energy, forces = sum_pairs(np.ascontiguousarray(sites), products, attraction, repulsion)
        return energy, forces.transpose(2, 0, 1).reshape(-1, 3)

    return compute


@compiled
def sum_pairs(sites, products, attraction, repulsion):
    """Sum energy and forces; arrays have shape (site of the molecule, axis, molecule)."""
    n = sites.shape[2]
    forces = np.zeros(sites.shape)
    energy = 0.0
    for i in range(n):
        for low, high in ((0, i), (i + 1, n)):
            for a in range(3):
                x, y, z = sites[a, 0, i], sites[a, 1, i], sites[a, 2, i]
                for b in range(3):
                    X, Y, Z = sites[b, 0, low:high], sites[b, 1, low:high], sites[b, 2, low:high]
                    e, fx, fy, fz = coulomb(x, y, z, X, Y, Z)
                    energy += products[a, b] * e
                    forces[a, 0, i] += products[a, b] * fx
                    forces[a, 1, i] += products[a, b] * fy
                    forces[a, 2, i] += products[a, b] * fz
            x, y, z = sites[0, 0, i], sites[0, 1, i], sites[0, 2, i]
            X, Y, Z = sites[0, 0, low:high], sites[0, 1, low:high], sites[0, 2, low:high]
            e, fx, fy, fz = lennard_jones(x, y, z, X, Y, Z, attraction, repulsion)
            energy += e
            forces[0, 0, i] += fx
            forces[0, 1, i] += fy
            forces[0, 2, i] += fz
    return energy / 2, forces


@compiled
def coulomb(x, y, z, X, Y, Z):
    """Energy and force of unit charges on a unit charge."""
    energy, fx, fy, fz = float32(0), float32(0), float32(0), float32(0)
    for j in range(X.size):
        dx, dy, dz = x - X[j], y - Y[j], z - Z[j]
        inverse = float32(1) / np.sqrt(dx * dx + dy * dy + dz * dz)
        cube = inverse * inverse * inverse
        energy += inverse
        fx += cube * dx
        fy += cube * dy
        fz += cube * dz
    return energy, fx, fy, fz


@compiled
def lennard_jones(x, y, z, X, Y, Z, attraction, repulsion):
    """Energy and force of other oxygens on an oxygen."""
    energy, fx, fy, fz = float32(0), float32(0), float32(0), float32(0)
    for j in range(X.size):
        dx, dy, dz = x - X[j], y - Y[j], z - Z[j]
        square = float32(1) / (dx * dx + dy * dy + dz * dz)
        sixth = square * square * square
        energy += sixth * (repulsion * sixth - attraction)
        pull = square * sixth * (float32(12) * repulsion * sixth - float32(6) * attraction)
        fx += pull * dx
        fy += pull * dy
        fz += pull * dz
    return energy, fx, fy, fz
