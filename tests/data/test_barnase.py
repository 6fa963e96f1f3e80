"""The barnase that comes with the package is folded, whole and at 300 K."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest

import timme
from tests.data.measures import checks
from timme._arrays import Floats
from timme.motion import superpose

mda = pytest.importorskip("MDAnalysis")

# As the crystal shows them; residues well within each.
HELICES = [*range(7, 18), *range(27, 34), *range(42, 46)]
STRANDS = [*range(71, 76), *range(86, 92), *range(95, 100)]


@pytest.fixture(scope="module")
def universes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Both files, from copies: MDAnalysis leaves files of its own beside trajectories."""
    folder = tmp_path_factory.mktemp("barnase")
    made = {}
    for name in ("barnase_md", "barnase_md_dense"):
        paths = [timme.data.path(f"{name}.{kind}") for kind in ("pdb", "xtc")]
        copies = [str(shutil.copy(path, folder)) for path in paths]
        made[name] = mda.Universe(*copies, to_guess=("types", "masses", "bonds"))
    return made


@pytest.fixture
def barnase(universes: dict[str, Any]) -> Any:
    return universes["barnase_md"]


@pytest.mark.parametrize(("dense", "count", "interval"), [(False, 250, 2.0), (True, 100, 1.0)])
def test_its_snapshots_are_at_equal_times(
    dense: bool, count: int, interval: float, universes: dict[str, Any]
) -> None:
    assert timme.data.barnase_md(dense=dense).frames.shape == (count, 1700, 3)
    name = "barnase_md_dense" if dense else "barnase_md"
    times = [frame.time for frame in universes[name].trajectory]
    np.testing.assert_allclose(np.diff(times), interval, atol=1e-3)


def test_it_stays_near_the_structure_that_it_starts_from(
    barnase: Any, universes: dict[str, Any]
) -> None:
    """Of a folded protein in half a nanosecond, Cα are off by about 1 Å, and never by 2."""
    universes["barnase_md_dense"].trajectory.rewind()
    apart = checks().rmsd(barnase, universes["barnase_md_dense"], "name CA")
    assert 0.4 < apart[1:].mean() < 1.5
    assert apart.max() < 2.0
    assert timme.data.records()["barnase_md"].measured["rmsd_CA_to_crystal_Å"]["largest"] < 2.0


def test_it_keeps_its_helices_and_strands(barnase: Any) -> None:
    from MDAnalysis.analysis.dssp import DSSP

    found = DSSP(barnase).run(step=10).results.dssp
    place = {number: k for k, number in enumerate(barnase.residues.resids.tolist())}
    for letter, residues in (("H", HELICES), ("E", STRANDS)):
        columns = [place[number] for number in residues]
        assert (found[:, columns] == letter).mean() > 0.85


def test_it_is_whole_in_every_snapshot(barnase: Any) -> None:
    assert checks().longest_bond(barnase) < 2.2  # Å: no bond is longer, and the box is 50


@pytest.mark.parametrize("dense", [False, True])
def test_its_helices_and_strands_tremble_about_one_place(dense: bool) -> None:
    """As if held by springs: displacements along each axis, by their own spread, are a Gaussian.

    They are by 0.3 to 0.7 Å: crystals of such proteins have B of 8 to 15 Å², 8π²/3 of a square, and
    disorder of their own. Of 38 Cα, a few hundred displacements are independent: they tell the
    fourth moment, 3, to √(24/n), and how many are in a bin to √(p/n).
    """
    laid = superpose(timme.data.barnase_md(dense=dense).select("name CA")).ensemble
    steady = np.isin(np.arange(3, 111), HELICES + STRANDS)
    moved = laid.coordinates()[:, steady] - laid.coordinates()[:, steady].mean(axis=0)
    assert 0.3 < np.sqrt((moved**2).sum(axis=2).mean()) < 0.7
    told = moved / moved.std(axis=0)
    assert (told**4).mean() == pytest.approx(3.0, abs=0.3)
    assert (told**3).mean() == pytest.approx(0.0, abs=0.15)
    found, _ = np.histogram(told, [-np.inf, -2, -1, 0, 1, 2, np.inf])
    expected = [0.0228, 0.1359, 0.3413, 0.3413, 0.1359, 0.0228]
    np.testing.assert_allclose(found / told.size, expected, atol=0.02)


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize(
    ("first", "second", "step", "constant"),  # kcal/(mol Å²) of E = K (b - b₀)², as ff14SB has them
    [
        ("N", "CA", 0, 337.0),
        ("CA", "C", 0, 317.0),
        ("CA", "CB", 0, 310.0),
        ("C", "O", 0, 570.0),
        ("C", "N", 1, 490.0),
    ],
)
def test_its_bonds_tremble_as_at_300_kelvin(
    first: str, second: str, step: int, constant: float, dense: bool
) -> None:
    """The variance of a spring is kT / 2K; what else acts on a bond changes it by some 5 %."""
    ensemble = timme.data.barnase_md(dense=dense)
    atoms, places = ensemble.atoms, ensemble.block(0).coordinates.astype(float)
    names = zip(atoms.resids.tolist(), atoms.names.tolist(), strict=True)
    where = {name: k for k, name in enumerate(names)}
    bonds = [
        (where[number, first], where[number + step, second])
        for number in range(3, 110)  # but for rings of proline
        if (number + step, second) in where and atoms.resnames[where[number, first]] != "PRO"
    ]
    one, other = np.array(bonds).T
    lengths = np.linalg.norm(places[:, one] - places[:, other], axis=2)
    rounding = 2 * 0.01**2 / 12  # of two places, to 0.01 Å
    spread = lengths.var(axis=0, ddof=1).mean() - rounding
    noise = np.sqrt(2 / lengths.size)
    kelvin = 2 * constant * spread / 0.0019872
    assert kelvin == pytest.approx(300.0, rel=0.05 + 3 * noise)


@pytest.mark.thorough
def test_its_bonds_hold_the_energy_that_heat_gives_them() -> None:
    """Half of kT for each bond, by the force field of the run: 264 kcal/mol for 885 bonds.

    What neighbours do to a bond stays when a snapshot is cooled down, and heat does not: snapshots
    are cooled, and what their bonds lose is that. Rounding to 0.01 Å adds to it, 5 or 6 kcal/mol,
    and one snapshot is off by √(n/2) kT, 13 kcal/mol.
    """
    bonds, context = ff14sb()
    snapshots = timme.data.barnase_md().block(0).coordinates[20::60].astype(float)
    lost, rounding = [], 2 * 0.01**2 / 12 * sum(constant for constant, _ in bonds)
    for places in snapshots:
        hot = bond_energy(bonds, places)
        lost.append(hot - bond_energy(bonds, cool(context, places)))
    kT = 0.0019872 * 300.0
    error = kT * np.sqrt(len(bonds) / 2 / len(snapshots))
    expected = len(bonds) * kT / 2
    assert len(bonds) == 885
    assert np.mean(lost) == pytest.approx(expected + rounding, abs=3 * error)


@pytest.mark.thorough
def test_its_energy_is_the_same_all_along_and_trembles_by_its_heat_capacity() -> None:
    """In the force field of the run, with a continuum (GBn2) in the place of the water.

    Of n ways to move, each a spring, the energy has the variance n/2 (kT)²: 27 kcal/mol for three
    of each atom less 836 fixed bonds. 25 snapshots 20 ps apart tell it to 1/√(2 · 24).
    """
    system, context = force_field("implicit/gbn2.xml")
    energies = np.array([potential(context, places) for places in every_20_ps()])
    ways = 3 * system.getNumParticles() - system.getNumConstraints() - 6
    assert ways == 3 * 1700 - 836 - 6
    spread = 0.0019872 * 300.0 * np.sqrt(ways / 2)
    assert energies.std(ddof=1) == pytest.approx(spread, rel=3 / np.sqrt(2 * 24))
    early, late = energies[:12], energies[12:]
    assert abs(early.mean() - late.mean()) < 3 * spread * np.sqrt(1 / 12 + 1 / 13)
    assert np.abs(energies - energies.mean()).max() < 4 * spread  # and no snapshot is strained


def every_20_ps() -> Floats:
    places: Floats = timme.data.barnase_md().block(0).coordinates[4::10].astype(float)
    assert len(places) == 25
    return places


def potential(context: Any, places: Floats) -> float:
    """Of places (Å), in kcal/mol."""
    context.setPositions(places / 10)
    return float(context.getState(getEnergy=True).getPotentialEnergy()._value) / 4.184


def force_field(*solvent: str) -> tuple[Any, Any]:
    """That of the run for the protein alone, and where to compute it."""
    openmm = pytest.importorskip("openmm", reason="needs OpenMM, of the extra md")
    from openmm import app

    pdb = app.PDBFile(str(timme.data.path("barnase_md.pdb")))
    fields = app.ForceField("amber14-all.xml", *solvent)
    system = fields.createSystem(pdb.topology, constraints=app.HBonds)
    integrator = openmm.VerletIntegrator(0.001)
    platform = openmm.Platform.getPlatformByName("CPU")
    return system, openmm.Context(system, integrator, platform, {"Threads": "1"})


def ff14sb() -> tuple[list[tuple[float, tuple[int, int, float]]], Any]:
    """Constant (kcal/mol Å²), atoms and length (Å) of bonds that may stretch; the protein alone."""
    system, context = force_field()
    name = "HarmonicBondForce"
    stretch = next(force for force in system.getForces() if force.getName() == name)
    bonds = []
    for number in range(stretch.getNumBonds()):
        one, other, length, constant = stretch.getBondParameters(number)
        per_nm = constant._value / 2 / 4.184  # E = ½ k (b - b₀)²
        bonds.append((per_nm / 100, (one, other, 10 * length._value)))
    return bonds, context


def bond_energy(bonds: list[tuple[float, tuple[int, int, float]]], places: Floats) -> float:
    """Of all bonds that may stretch, in kcal/mol."""
    constants = np.array([constant for constant, _ in bonds])
    one, other = np.array([atoms[:2] for _, atoms in bonds]).T
    usual = np.array([atoms[2] for _, atoms in bonds])
    lengths = np.linalg.norm(places[one] - places[other], axis=1)
    return float((constants * (lengths - usual) ** 2).sum())


def cool(context: Any, places: Floats) -> Floats:
    """Places (Å) of a minimum of the energy near to some, or well on the way there."""
    import openmm

    context.setPositions(places / 10)
    openmm.LocalEnergyMinimizer.minimize(context, maxIterations=100)
    state = context.getState(getPositions=True)
    return 10 * np.array(state.getPositions(asNumpy=True)._value)


def test_its_record_tells_of_300_kelvin_in_water_of_1_atmosphere() -> None:
    """What was written down during the run; the file has neither velocities nor the water.

    So it cannot tell the density, and its temperature only by its bonds, as above. Kinetic
    energies of steps of 4 fs are some half a per cent off, and the box is small. TIP3P has
    0.98 g/cm³ and a protein 1.35: three in four parts water make 1.04.
    """
    record = timme.data.records()["barnase_md"]
    assert record.measured["time_ps"] == pytest.approx(500.0)
    assert record.measured["temperature_K"]["mean"] == pytest.approx(300.0, abs=2.0)
    assert record.measured["density_g_cm3"]["mean"] == pytest.approx(1.04, abs=0.03)
