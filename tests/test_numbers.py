"""Numbers that results hang on, written out here and never read from the source.

Where a number is a limit, something made for it stands just inside and just outside.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import timme
from tests.output.builders import linked, particles
from timme.output.colours import colouring
from timme.output.scene import scene
from timme.output.tables import clusters_csv
from timme.readers.bonds import guess_bonds
from timme.statistics import curves
from timme.system.atoms import Atoms
from timme.system.elements import covalent_radii, element_masses
from timme.system.ensemble import Ensemble
from timme.system.units import unit_in_angstrom

EDGE = 1e-6


# ---- chemistry -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("symbol", "mass"),  # standard atomic weights (IUPAC 2021, abridged)
    [("H", 1.008), ("C", 12.011), ("N", 14.007), ("O", 15.999), ("P", 30.974), ("S", 32.06)],
)
def test_masses_are_standard_atomic_weights(symbol: str, mass: float) -> None:
    assert element_masses(np.array([symbol]))[0] == pytest.approx(mass, abs=0.01)


@pytest.mark.parametrize(
    ("symbol", "radius"),  # Cordero et al., Dalton Trans. 2832 (2008); of carbon, that of sp2
    [("H", 0.31), ("C", 0.73), ("N", 0.71), ("O", 0.66), ("P", 1.07), ("S", 1.05), ("Se", 1.20)],
)
def test_covalent_radii_are_the_published_ones(symbol: str, radius: float) -> None:
    assert covalent_radii(np.array([symbol]))[0] == pytest.approx(radius, abs=1e-6)


@pytest.mark.parametrize(
    ("one", "other", "limit"),
    [
        ("C", "C", 0.73 + 0.73 + 0.4),
        ("C", "N", 0.73 + 0.71 + 0.4),
        ("S", "S", 1.05 + 1.05 + 0.4),
        ("C", "H", 0.73 + 0.31 + 0.4),
    ],
)
def test_bonds_end_0_4_beyond_the_covalent_radii(one: str, other: str, limit: float) -> None:
    assert (_bonded(one, other, limit - EDGE), _bonded(one, other, limit + EDGE)) == (1, 0)


def test_atoms_nearer_than_0_4_are_misplaced_not_bonded() -> None:
    assert (_bonded("C", "C", 0.4 - EDGE), _bonded("C", "C", 0.4 + EDGE)) == (0, 1)


def _bonded(one: str, other: str, length: float) -> int:
    unnamed = Atoms.unnamed(2)
    atoms = Atoms(
        names=np.array([one, other]),
        elements=np.array([one, other]),
        resnames=np.full(2, "LIG"),
        resids=unnamed.resids * 0 + 1,
        icodes=unnamed.icodes,
        chains=unnamed.chains,
        masses=unnamed.masses,
        bonds=unnamed.bonds,
    )
    return len(guess_bonds(atoms, np.array([[0.0, 0.0, 0.0], [length, 0.0, 0.0]])))


@pytest.mark.parametrize(
    ("unit", "angstrom"),
    [("Å", 1.0), ("nm", 10.0), ("pm", 0.01), ("bohr", 0.529177210903)],  # CODATA 2018
)
def test_units_are_lengths_in_angstrom(unit: str, angstrom: float) -> None:
    assert unit_in_angstrom(unit) == pytest.approx(angstrom, rel=1e-6)


# ---- σ -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tilt", [0.0, 0.001])  # a box that is hardly tilted takes another way
@pytest.mark.parametrize(("share", "warned"), [(0.9 - 0.001, False), (0.9 + 0.001, True)])
def test_pairs_beyond_nine_tenths_of_half_the_box_are_warned_of(
    tilt: float, share: float, warned: bool
) -> None:
    box = np.diag([10.0, 10.0, 10.0])
    box[1, 0] = tilt
    places = np.zeros((3, 2, 3))
    places[:, 1, 2] = np.array([1.0, share, 0.5]) * [0.1, 5.0, 5.0]
    ensemble = Ensemble.from_array(places, boxes=np.repeat(box[None], 3, axis=0))
    points = timme.objects.points(ensemble)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        timme.measure(points, timme.pairs.all(points))
    assert any("half the periodic box" in str(one.message) for one in said) == warned


@pytest.mark.parametrize(
    ("kind", "n_snapshots", "single"),
    [(np.float32, 63, False), (np.float32, 64, True), (np.float64, 64, False)],
)
def test_single_coordinates_are_summed_in_single_precision_from_64_snapshots(
    kind: type, n_snapshots: int, single: bool
) -> None:
    ensemble = Ensemble.from_array(np.zeros((n_snapshots, 2, 3), kind))
    assert ensemble.block(0).single == single


# ---- statistics and pictures ---------------------------------------------------------------------


def test_large_clusters_have_10_sites_or_more_and_small_ones_are_counted_up_to_5() -> None:
    for n_sites, fraction in ((9, 0.0), (10, 1.0)):
        chain = [(k, k + 1) for k in range(n_sites - 1)]
        counted = curves(linked((n_sites, chain, [1.0] * len(chain))))
        assert counted.large_fraction.tolist() == [0.0, fraction]
        assert (counted.large, counted.sizes) == (10, (1, 2, 3, 4, 5))


def test_clusters_of_3_or_more_are_coloured_and_the_core_is_dark_blue() -> None:
    """Of 4 + 3 + 2 sites, the largest is the core, the second red, the rest grey."""
    edges = [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (7, 8)]
    analysis = particles((9, edges, [1.0] * 6))
    found = colouring(analysis, 1.0)
    assert found.sizes.tolist() == [4, 3]
    assert found.object_colours.tolist() == ["#00008b"] * 4 + ["#d62728"] * 3 + ["#bdbdbd"] * 2
    assert len(clusters_csv(analysis, [1.0]).splitlines()) == 1 + 2
    shown = scene(analysis)
    assert (shown["minSize"], shown["large"]) == (3, 10)
    assert (shown["palettes"]["core"], shown["palettes"]["rest"]) == ("#00008b", "#bdbdbd")
    assert shown["palettes"]["safe"][0] == "#e69f00"  # Okabe and Ito's orange
