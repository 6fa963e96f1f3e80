"""Adenylate kinase and others: screws, bodies, fluctuation and components with known numbers.

Screws are those of DynDom and Hingefind, as far as Cα alone reproduce them; angles in degrees. They
are measured on points that stand for the bodies of the entries of the PDB that these programs were
run on (closings.py); tests of the entries themselves are marked so.
"""

import json

import numpy as np
import pytest

import timme
from tests.motion import closings
from tests.motion.closings import closing
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
from timme.synthetic import moving


@pytest.fixture(scope="module")
def dims() -> Ensemble:
    files = pytest.importorskip("MDAnalysisTests.datafiles", reason="needs MDAnalysisTests")
    return timme.read(files.PSF, files.DCD).select("name CA")


@pytest.mark.parametrize(
    ("body", "angle", "shift", "axis", "point", "effective"),
    [
        ("LID", 52.06, 0.55, (0.275, 0.350, 0.896), (2.52, -0.91, -24.40), 52.02),
        ("NMP", 45.33, 1.49, (-0.908, 0.196, -0.370), (-2.38, -12.77, -3.15), 44.75),
    ],
)
def test_adenylate_kinase_closes_by_these_screws(
    body: str, angle: float, shift: float,
    axis: tuple[float, ...], point: tuple[float, ...], effective: float,
) -> None:  # fmt: skip
    kinase = closing("kinase")
    chosen = {"body": kinase.bodies[body], "reference": kinase.bodies["core"]}
    found = screw(kinase.before, kinase.after, **chosen)
    assert found.angle == pytest.approx(angle, abs=0.005)
    assert found.shift == pytest.approx(shift, abs=0.005)
    np.testing.assert_allclose(found.axis, axis, atol=0.0006)
    # The point in the table is the one nearest to the middle of the moving body.
    near = found.nearest(kinase.before[chosen["body"]].mean(axis=0))
    np.testing.assert_allclose(near, point, atol=0.006)
    turned = effective_rotation(found, kinase.before, kinase.after, **chosen)
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


@pytest.mark.parametrize(
    ("pair", "angles", "known"),
    [("kinase, chains B", [52.21, 43.90], 0.005), ("kinase, both open", [7.2, 4.2], 0.05)],
)
def test_the_other_chain_closes_alike_and_two_open_chains_hardly_differ(
    pair: str, angles: list[float], known: float
) -> None:
    both = closing(pair)
    found = [
        screw(both.before, both.after, body=both.bodies[body], reference=both.bodies["core"])
        for body in ("LID", "NMP")
    ]
    assert [each.angle for each in found] == pytest.approx(angles, abs=known)


def test_the_reference_matters() -> None:
    kinase = closing("kinase")
    lid, nmp = kinase.bodies["LID"], kinase.bodies["NMP"]
    found = screw(kinase.before, kinase.after, body=nmp, reference=lid)
    assert found.angle == pytest.approx(84, abs=0.5)
    assert abs(found.shift) == pytest.approx(10.7, abs=0.05)


def test_maltose_binding_protein_closes_as_published() -> None:
    """DynDom: 35.956° and −0.551 Å with N, CA, C, O; Cα alone moves angles by up to 0.33°."""
    protein = closing("maltose-binding protein")
    found = screw(
        protein.before, protein.after, body=protein.bodies["C"], reference=protein.bodies["N"]
    )
    assert found.angle == pytest.approx(35.956, abs=0.35)
    assert found.shift == pytest.approx(-0.551, abs=0.1)
    assert found.kind == "hinge"


def test_two_domains_that_close_as_far_are_two_bodies() -> None:
    """Of as many residues, by as many degrees, off by 0.3 Å as places of crystals are at worst."""
    planted = moving((170, 200), 2, spans=[35.956], noise=0.3)
    found = bodies(planted.ensemble)
    assert found.n_bodies == 2
    inner = [found.labels[:170], found.labels[170:]]
    assert [np.bincount(labels[labels >= 0]).argmax() for labels in inner] == [1, 0]
    assert np.mean(inner[0] == 1) > 0.95
    assert np.mean(inner[1] == 0) > 0.95
    snapshots = planted.ensemble.coordinates()
    turned = screw(*snapshots, body=found.members(1), reference=found.members(0))
    assert turned.angle == pytest.approx(35.956, abs=3 * turned.noise)


@pytest.mark.entries
def test_points_stand_for_bodies_of_the_entries() -> None:
    """Moments are told to 1e-6; places of the entries to 1e-3 Å, once for each of all sites."""
    made = closings.make()
    held = json.loads(closings.FILE.read_text("utf-8"))
    assert made.keys() == held.keys()
    for name, told in held.items():
        for body, moments in told.items():
            for part, numbers in moments.items():
                np.testing.assert_allclose(made[name][body][part], numbers, atol=2e-6)


@pytest.mark.entries
def test_maltose_binding_protein_is_two_bodies() -> None:
    """As DynDom finds them, but for the residues between."""
    first, second, domains = closings.PAIRS["maltose-binding protein"]
    numbers, both = closings.pair(first, second)
    found = bodies(Ensemble.from_array(both, unit="Å"))
    assert found.n_bodies == 2
    turned = screw(*both, body=found.members(1), reference=found.members(0))
    assert turned.angle == pytest.approx(35.956, abs=0.6)
    assert abs(turned.shift) == pytest.approx(0.551, abs=0.25)
    for members in domains.values():
        labels = found.labels[np.isin(numbers, members)]
        assert np.bincount(labels[labels >= 0]).max() > 0.95 * len(labels)


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
        domain, still = of_residues(body), of_residues(CORE)
        ends = screw(snapshots[0], snapshots[-1], body=domain, reference=still)
        assert ends.angle == pytest.approx(first_to_last, abs=0.015)
        found = hinge(dims, body=domain, reference=still)
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


@pytest.mark.thorough
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
