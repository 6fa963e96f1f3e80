"""The drop of water that comes with the package is TIP3P at 273.15 K."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import timme
from tests.data.measures import checks

MASS, PER_MOL = 18.0154, 0.602214  # g/mol; molecules in Å³ of 1 mol/cm³


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
