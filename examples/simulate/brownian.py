"""Brownian motion of attracting spheres between two plates: potential, forces and steps.

Lengths are in diameters d, energies in k_B T, times in d²/D with D the diffusion constant of a
single sphere. Spheres are pseudo-hard: a stiff spring separates those that overlap. The
attraction is that of Asakura and Oosawa: coils of a polymer, `reach` diameters wide, push two
spheres together where no coil fits between them.
"""

import math

import numpy as np
from numba import njit

STIFFNESS = 10_000.0  # k_B T/d², of the spring: an overlap of 0.014 d costs k_B T
SKIN = 0.35  # beyond the range of attraction, in lists of pairs that serve many steps
MOST_NEIGHBOURS = 60  # of a sphere


@njit(inline="always")
def push(distance: float, strength: float, reach: float) -> float:
    """Force between two spheres, along the line that joins them."""
    force = STIFFNESS * max(0.0, 1 - distance)
    if distance < 1 + reach:
        force += strength * _slope(distance / (1 + reach)) / (1 + reach) / _overlap(1 / (1 + reach))
    return force


def energy(distance: np.ndarray, strength: float, reach: float) -> np.ndarray:
    """Energy of two spheres: minus the integral of `push`."""
    zones = _overlap(np.minimum(distance / (1 + reach), 1.0))
    spring = STIFFNESS / 2 * np.maximum(0.0, 1 - distance) ** 2
    return spring - strength * zones / _overlap(1 / (1 + reach))


def strength_for(depth: float, reach: float) -> float:
    """Strength of the attraction at contact for which the minimum of the energy is -`depth`."""
    distance = np.linspace(0.95, 1 + reach, 5001)
    low, high = 0.0, 2 * depth
    for _ in range(50):
        middle = (low + high) / 2
        deep = -energy(distance, middle, reach).min() > depth
        low, high = (low, middle) if deep else (middle, high)
    return middle


@njit(cache=True, fastmath=True)
def advance(places, width, height, strength, reach, step, n_steps, seed):
    """Move spheres in place; x and y are periodic, and are not wrapped.

    Noise is uniform with the variance of Brownian motion: steps are small, and the sum of many
    is Gaussian.
    """
    np.random.seed(seed)  # noqa: NPY002 (the generator of numba)
    n_spheres = len(places)
    listed = np.empty((n_spheres, MOST_NEIGHBOURS), np.int32)
    counts = np.empty(n_spheres, np.int32)
    forces = np.empty_like(places)
    before = places.copy()
    list_neighbours(places, width, 1 + reach + SKIN, listed, counts)
    noise = math.sqrt(24 * step)
    for _ in range(n_steps):
        if farthest(places, before) > (SKIN / 2) ** 2:
            before[:] = places
            list_neighbours(places, width, 1 + reach + SKIN, listed, counts)
        sum_forces(places, width, height, strength, reach, listed, counts, forces)
        for i in range(n_spheres):
            for axis in range(3):
                places[i, axis] += step * forces[i, axis] + noise * (np.random.random() - 0.5)  # noqa: NPY002


@njit(cache=True, fastmath=True)
def sum_forces(places, width, height, strength, reach, listed, counts, forces):
    """Sum the forces of neighbours and plates on each sphere."""
    forces[:] = 0.0
    within = (1 + reach) ** 2
    for i in range(len(places)):
        for k in range(counts[i]):
            j = listed[i, k]
            x = nearest(places[i, 0] - places[j, 0], width)
            y = nearest(places[i, 1] - places[j, 1], width)
            z = places[i, 2] - places[j, 2]
            squared = x * x + y * y + z * z
            if squared < within:
                distance = math.sqrt(squared)
                share = push(distance, strength, reach) / distance
                forces[i, 0] += share * x
                forces[i, 1] += share * y
                forces[i, 2] += share * z
                forces[j, 0] -= share * x
                forces[j, 1] -= share * y
                forces[j, 2] -= share * z
        forces[i, 2] += STIFFNESS * max(0.0, 0.5 - places[i, 2])
        forces[i, 2] -= STIFFNESS * max(0.0, places[i, 2] + 0.5 - height)


@njit(cache=True, fastmath=True)
def list_neighbours(places, width, within, listed, counts):
    """List, for each sphere, the later ones nearby; all pairs are compared."""
    counts[:] = 0
    for i in range(len(places)):
        for j in range(i + 1, len(places)):
            z = places[i, 2] - places[j, 2]
            if abs(z) < within:
                x = nearest(places[i, 0] - places[j, 0], width)
                y = nearest(places[i, 1] - places[j, 1], width)
                if x * x + y * y + z * z < within**2:
                    listed[i, counts[i]] = j
                    counts[i] += 1


@njit(inline="always")
def nearest(difference, width):
    """Difference to the nearest image."""
    return difference - width * np.rint(difference / width)


@njit(cache=True, fastmath=True)
def farthest(places, before):
    """Largest squared displacement."""
    most = 0.0
    for i in range(len(places)):
        moved = 0.0
        for axis in range(3):
            moved += (places[i, axis] - before[i, axis]) ** 2
        most = max(most, moved)
    return most


@njit(inline="always")
def _overlap(x):
    """Fraction of a depletion zone that two spheres share; x is 1 where zones separate."""
    return 1 - 1.5 * x + 0.5 * x**3


@njit(inline="always")
def _slope(x):
    """Derivative of the overlap."""
    return 1.5 * (x * x - 1)
