"""The barnase that comes with the package is folded, whole and at 300 K."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest

import timme
from tests.data.measures import checks

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
