"""The drop of water that comes with the package is TIP3P at 273.15 K."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import timme
from tests.data.measures import checks

MASS, PER_MOL = 18.0154, 0.602214  # g/mol; molecules in Å³ of 1 mol/cm³
CHARGES, COULOMB = (-0.834, 0.417, 0.417), 332.0637  # e of O, H, H; kcal Å/mol of two e
DEPTH, RADIUS = 0.1521, 3.15061  # kcal/mol, Å: Lennard-Jones of O, as published


def oxygens() -> npt.NDArray[np.float64]:
    """Oxygens every ps, about the middle of the drop."""
    ensemble = timme.data.water_drop()
    places = ensemble.block(0).coordinates.astype(float)
    assert places.shape == (200, 1000, 3)
    centred: npt.NDArray[np.float64] = places - np.median(places, axis=1, keepdims=True)
    return centred


def test_the_middle_is_as_dense_as_tip3p_under_the_pressure_of_its_surface() -> None:
    """Bulk TIP3P has 1.00 g/cm³ near 273 K, and 2γ/R compresses a drop of 2 nm by some 3 %."""
    inside = (np.linalg.norm(oxygens(), axis=2) < 12.0).sum(axis=1)
    density = inside / (4 / 3 * np.pi * 12.0**3) * MASS / PER_MOL
    assert density.mean() == pytest.approx(1.03, abs=0.03)


def test_molecules_diffuse_as_those_of_tip3p_do() -> None:
    """It has 5 to 6e-9 m²/s at 298 K: by its energy of activation, 3.2 to 4.4e-9 here."""
    places = timme.data.water_drop().block(0).coordinates.astype(float)
    found = checks().diffusion(places, 1.0, (2, 8), 12.0)  # with the turning of the drop taken off
    assert 3.2e-9 < found < 4.4e-9


def test_all_molecules_but_a_few_stay_in_the_drop() -> None:
    assert (np.linalg.norm(oxygens(), axis=2) > 30.0).mean() < 0.005


@pytest.mark.thorough
def test_its_energy_is_that_of_tip3p_less_its_surface() -> None:
    """In kcal/mol for each molecule, by the published charges and radii, over all pairs.

    Bulk TIP3P has -9.5 to -9.9 at 298 K and 0.3 less at 273 K; a surface of 4,700 Å² with some
    90 mJ/m² (tension and what it loses by warming) takes 0.6 of that: -9.1 to -9.7, less 0.1 for
    how well these are known.
    """
    found = []
    for places in timme.data.water_drop(dense=True).block(0).coordinates.astype(float)[::33]:
        total = 0.0
        for one, q in enumerate(CHARGES):
            for other, p in enumerate(CHARGES):
                apart = distances(places[one::3], places[other::3])
                total += COULOMB * q * p * (1 / apart).sum() / 2
        sixth = (RADIUS / distances(places[::3], places[::3])) ** 6
        total += 4 * DEPTH * (sixth**2 - sixth).sum() / 2
        found.append(total / 1000)
    assert -9.8 < np.mean(found) < -9.0


@pytest.mark.thorough
def test_forces_on_molecules_are_as_strong_as_at_273_kelvin() -> None:
    """Whatever the potential U, ⟨|∇U|²⟩ = kT ⟨∇²U⟩ for the places of molecules.

    Charges do not add to ∇²U, as 1/r has none; r⁻ⁿ has n (n - 1) r⁻ⁿ⁻². Five snapshots of 1000
    molecules tell kT to one or two per cent, by how much molecules differ.
    """
    squares, curved = [], []
    for places in timme.data.water_drop(dense=True).block(0).coordinates.astype(float)[::20]:
        force = np.zeros((1000, 3))
        for one, q in enumerate(CHARGES):
            for other, p in enumerate(CHARGES):
                apart = distances(places[one::3], places[other::3])
                force += pull(COULOMB * q * p / apart**3, places[one::3], places[other::3])
        apart = distances(places[::3], places[::3])
        sixth = (RADIUS / apart) ** 6
        strength = 4 * DEPTH * (12 * sixth**2 - 6 * sixth) / apart**2
        force += pull(strength, places[::3], places[::3])
        squares.append((force**2).sum(axis=1))
        curved.append((4 * DEPTH * (132 * sixth**2 - 30 * sixth) / apart**2).sum(axis=1))
    square, curve = np.mean(squares, axis=0), np.mean(curved, axis=0)
    kT = square.mean() / curve.mean()
    error = (square - kT * curve).std() / np.sqrt(1000) / curve.mean()
    assert error < 0.02 * kT
    assert kT / 0.0019872 == pytest.approx(273.15, abs=3 * error / 0.0019872)


def pull(
    strength: npt.NDArray[np.float64],
    one: npt.NDArray[np.float64],
    other: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Sum of vectors from all others, times a strength of each pair."""
    summed: npt.NDArray[np.float64] = strength.sum(axis=1)[:, None] * one - strength @ other
    return summed


def distances(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> Any:
    """Between sites of different molecules; infinite within one."""
    apart = np.linalg.norm(one[:, None] - other[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    return apart


def test_molecules_fly_as_fast_as_at_273_kelvin() -> None:
    """Displacements within 0.05 ps are Gaussian, and those of no time have the variance kT t²/m.

    Three lags make a parabola in t². They are known to 0.4 %, but what the parabola leaves out is
    some 5 % at no time at all: forces tell the temperature better.
    """
    masses = np.array([15.999, 1.008, 1.008])
    atoms = timme.data.water_drop(dense=True).block(0).coordinates.astype(float)
    middles = np.average(atoms.reshape(len(atoms), -1, 3, 3), axis=2, weights=masses)
    equipartition = 8.31446 * 273.15 / (1e-3 * masses.sum()) * 1e-4  # Å²/ps²
    ratios = []
    for lag in (1, 2, 3):
        steps = middles[lag:] - middles[:-lag]
        ratios.append((steps**2).mean() / (equipartition * (0.05 * lag) ** 2))
    first = middles[1:] - middles[:-1]
    assert (first**4).mean() / (first**2).mean() ** 2 == pytest.approx(3.0, abs=0.1)
    assert 1 > ratios[0] > ratios[1] > ratios[2]  # they collide, and turn round
    assert 0.9 < np.dot([1.5, -0.6, 0.1], ratios) < 1.01  # more lags raise it towards 1


def test_its_record_tells_of_273_kelvin_to_its_standard_error() -> None:
    found = timme.data.records()["water_drop"].measured["temperature_K"]
    assert found["error"] < 1.0
    assert found["mean"] == pytest.approx(273.15, abs=3 * found["error"])


@pytest.mark.parametrize("dense", [False, True])
def test_molecules_are_numbered_from_1_to_1000(dense: bool) -> None:
    ensemble = timme.data.water_drop(dense=dense)
    assert ensemble.atoms.resids.tolist() == np.repeat(np.arange(1, 1001), 1 + 2 * dense).tolist()
    assert set(ensemble.atoms.chains) == {"A"}
    first, _ = ensemble.snapshot(0)
    told = [
        [float(line[start : start + 8]) for start in (30, 38, 46)]
        for line in timme.data.path(f"water_drop{'_dense' * dense}.pdb").read_text().splitlines()
        if line.startswith("HETATM")
    ]
    np.testing.assert_allclose(first, told, atol=1e-3)  # the PDB file is the first snapshot
