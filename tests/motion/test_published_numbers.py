"""Adenylate kinase and others: screws, bodies, fluctuation and components with known numbers.

Screws are those of DynDom and Hingefind, as far as Cα alone reproduce them; angles in degrees.
Where the entries of the PDB that these programs were run on are not at hand, screws planted in a
kinase (test_copies.py) and minimised structures of the same crystals (below) are measured.
"""

from pathlib import Path

import numpy as np
import pytest

import timme
from tests.motion.proteins import CORE, LID, NMP, of_residues, overlap_with_domains
from timme import Ensemble
from timme.motion import (
    bodies,
    effective_rotation,
    explained_variance,
    hinge,
    principal_components,
    rmsf,
    screw,
    superpose,
)


def alpha_carbons(path: Path, chain: str) -> dict[int, np.ndarray]:
    """Places of Cα by residue number; of several, the first."""
    found: dict[int, np.ndarray] = {}
    for line in path.read_text().splitlines():
        if line.startswith("ATOM") and line[12:16].strip() == "CA" and line[21] == chain:
            place = np.array([float(line[start : start + 8]) for start in (30, 38, 46)])
            found.setdefault(int(line[22:26]), place)
    return found


def pair(folder: Path, first: str, second: str, chains: str = "AA") -> np.ndarray:
    one, other = (
        alpha_carbons(folder / "xray" / f"{name}.pdb", chain)
        for name, chain in zip((first, second), chains, strict=True)
    )
    common = sorted(one.keys() & other.keys())
    return np.array([[one[number] for number in common], [other[number] for number in common]])


@pytest.fixture(scope="module")
def dims() -> Ensemble:
    files = pytest.importorskip("MDAnalysisTests.datafiles", reason="needs MDAnalysisTests")
    return timme.read(files.PSF, files.DCD).select("name CA")


@pytest.mark.parametrize(
    ("body", "angle", "shift", "axis", "point", "effective"),
    [
        (LID, 52.06, 0.55, (0.275, 0.350, 0.896), (2.52, -0.91, -24.40), 52.02),
        (NMP, 45.33, 1.49, (-0.908, 0.196, -0.370), (-2.38, -12.77, -3.15), 44.75),
    ],
    ids=["LID", "NMP"],
)
def test_adenylate_kinase_closes_by_these_screws(
    shared_data: Path, body: list[int], angle: float, shift: float,
    axis: tuple[float, ...], point: tuple[float, ...], effective: float,
) -> None:  # fmt: skip
    open_and_closed = pair(shared_data, "4ake", "1ake")
    moving, still = of_residues(body), of_residues(CORE)
    found = screw(*open_and_closed, body=moving, reference=still)
    assert found.angle == pytest.approx(angle, abs=0.005)
    assert found.shift == pytest.approx(shift, abs=0.005)
    np.testing.assert_allclose(found.axis, axis, atol=0.0006)
    # The point in the table is the one nearest to the middle of the moving body.
    near = found.nearest(open_and_closed[0][moving].mean(axis=0))
    np.testing.assert_allclose(near, point, atol=0.006)
    turned = effective_rotation(found, *open_and_closed, body=moving, reference=still)
    assert turned.angle == pytest.approx(effective, abs=0.005)


@pytest.mark.parametrize(
    ("body", "reference", "angle", "shift"),
    [(LID, CORE, 52.06, 0.55), (NMP, CORE, 45.33, 1.49), (NMP, LID, 84.0, 10.7)],
    ids=["LID", "NMP", "NMP against LID"],
)
def test_minimised_structures_of_the_same_crystals_close_by_about_these_screws(
    body: list[int], reference: list[int], angle: float, shift: float
) -> None:
    """Their Cα are off by 0.7 Å, in bodies of 12 Å: by up to 3°."""
    files = pytest.importorskip("MDAnalysisTests.datafiles", reason="needs MDAnalysisTests")
    both = timme.read([files.PDB_small, files.PDB_closed], common_atoms=True).select("name CA")
    bodies_of = of_residues(body), of_residues(reference)
    found = screw(*both.coordinates(), body=bodies_of[0], reference=bodies_of[1])
    assert found.angle == pytest.approx(angle, abs=3)
    assert abs(found.shift) == pytest.approx(shift, abs=0.7)


def test_the_other_chain_closes_alike_and_two_open_chains_hardly_differ(shared_data: Path) -> None:
    still = of_residues(CORE)
    closing = [
        screw(*pair(shared_data, "4ake", "1ake", "BB"), body=of_residues(body), reference=still)
        for body in (LID, NMP)
    ]
    assert [found.angle for found in closing] == pytest.approx([52.21, 43.90], abs=0.005)
    same = [
        screw(*pair(shared_data, "4ake", "4ake", "AB"), body=of_residues(body), reference=still)
        for body in (LID, NMP)
    ]
    assert [found.angle for found in same] == pytest.approx([7.2, 4.2], abs=0.05)


def test_the_reference_matters(shared_data: Path) -> None:
    found = screw(
        *pair(shared_data, "4ake", "1ake"), body=of_residues(NMP), reference=of_residues(LID)
    )
    assert found.angle == pytest.approx(84, abs=0.5)
    assert abs(found.shift) == pytest.approx(10.7, abs=0.05)


def test_maltose_binding_protein_closes_as_published(shared_data: Path) -> None:
    """DynDom: 35.956° and −0.551 Å with N, CA, C, O; Cα alone moves angles by up to 0.33°."""
    both = pair(shared_data, "1omp", "1anf")
    found = bodies(Ensemble.from_array(both, unit="Å"))
    assert found.n_bodies == 2
    turned = screw(*both, body=found.members(1), reference=found.members(0))
    assert turned.angle == pytest.approx(35.956, abs=0.6)
    assert abs(turned.shift) == pytest.approx(0.551, abs=0.25)


def test_two_structures_of_adenylate_kinase_give_its_domains() -> None:
    files = pytest.importorskip("MDAnalysisTests.datafiles", reason="needs MDAnalysisTests")
    both = timme.read([files.PDB_small, files.PDB_closed], common_atoms=True)
    found = bodies(both.select("name CA"))
    assert found.n_bodies == 3
    assert overlap_with_domains(found.labels) >= 0.9
    assert found.agreement is None


def test_a_transition_of_adenylate_kinase_gives_its_domains(dims: Ensemble) -> None:
    found = bodies(dims)
    assert found.n_bodies == 3
    assert overlap_with_domains(found.labels) >= 0.9
    assert found.agreement is not None
    assert found.agreement.counts == (3, 3)


@pytest.mark.thorough
def test_targeted_dynamics_of_adenylate_kinase_give_its_domains() -> None:
    files = pytest.importorskip("MDAnalysisTests.datafiles", reason="needs MDAnalysisTests")
    ensemble = timme.read(files.PSF_NAMD_GBIS, files.DCD_NAMD_GBIS).select("name CA")
    found = bodies(ensemble)
    assert found.n_bodies == 3
    assert overlap_with_domains(found.labels) >= 0.9


def test_a_single_domain_is_one_body_with_the_gap_of_the_next_best() -> None:
    found = bodies(timme.data.barnase_md().select("name CA"))
    assert found.n_bodies == 1
    assert found.next_best is not None
    assert found.next_best.gap < 4.5  # of 6.5 asked for


@pytest.mark.thorough
def test_bodies_go_further_than_components_into_what_was_held_out(dims: Ensemble) -> None:
    """Members and shapes of the first half, tried on the second: 0.88 beside 0.85."""
    first = np.arange(dims.n_snapshots) < dims.n_snapshots // 2
    learned = bodies(dims[np.flatnonzero(first)], n_bodies=3)
    found = explained_variance(dims, [learned.labels], learned=first)
    assert found.held_out[0] == pytest.approx(0.88, abs=0.005)
    assert found.components_held_out[0] == pytest.approx(0.85, abs=0.005)


def test_hinges_of_the_transition_are_as_measured(dims: Ensemble) -> None:
    snapshots = dims.coordinates()
    for body, first_to_last, spread, rms, index in (
        (LID, 50.99, 52.6, 15.78, 0.97),
        (NMP, 44.17, 43.1, 13.34, 0.95),
    ):
        moving, still = of_residues(body), of_residues(CORE)
        ends = screw(snapshots[0], snapshots[-1], body=moving, reference=still)
        assert ends.angle == pytest.approx(first_to_last, abs=0.015)
        found = hinge(dims, body=moving, reference=still)
        assert found.range == pytest.approx(spread, abs=0.05)
        assert found.rms == pytest.approx(rms, abs=0.01)
        assert found.index == pytest.approx(index, abs=0.006)
        # The formula for white noise tells half a degree here, and the halves differ by far more.
        assert found.axis_error > 3
        assert found.axis_cone > 10


def test_fluctuation_with_the_core_still_is_as_measured(dims: Ensemble) -> None:
    found = rmsf(superpose(dims, of_residues(CORE)).ensemble)
    means = [found[of_residues(body)].mean() for body in (CORE, LID, NMP)]
    assert means == pytest.approx([0.63, 4.14, 3.34], abs=0.006)


def test_fluctuation_and_components_are_those_of_mdanalysis(dims: Ensemble) -> None:
    import MDAnalysis as mda
    from MDAnalysis.analysis import pca, rms

    laid = superpose(dims).ensemble.coordinates()
    universe = mda.Universe.empty(214, trajectory=True)
    universe.load_new(laid.astype(np.float32), order="fac")
    theirs = rms.RMSF(universe.atoms).run().results.rmsf
    np.testing.assert_allclose(rmsf(superpose(dims).ensemble), theirs, rtol=1e-5)
    other = pca.PCA(universe, select="all", align=False).run()
    found = principal_components(dims)
    variances = found.variances[:10] * 98 / 97  # theirs are divided by T − 1
    np.testing.assert_allclose(variances, other.results.variance[:10], rtol=6e-7)
    for mode in range(3):
        inner = abs(found.modes[mode].ravel() @ other.results.p_components[:, mode])
        assert inner == pytest.approx(1, abs=1e-5)
