"""Real crystals, simulated and planted proteins: what is one body, and what hardly differs."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import timme
from tests.motion.proteins import CORE, LID, NMP, of_residues, overlap_with_domains
from timme import Ensemble
from timme.motion import bodies, screw
from timme.motion.counting import ENOUGH, SOFT

datafiles = pytest.importorskip("MDAnalysisTests.datafiles", reason="needs MDAnalysisTests")


def copies(name: str, chains: str) -> tuple[np.ndarray, np.ndarray]:
    """Places of Cα that two chains of a crystal have in common, and their residue numbers."""
    path = Path(datafiles.__file__).parent / "data" / name
    lines = gzip.decompress(path.read_bytes()) if name.endswith("gz") else path.read_bytes()
    found: dict[str, dict[int, list[float]]] = {chain: {} for chain in chains}
    for line in lines.decode().splitlines():
        if line.startswith("ATOM") and line[12:16].strip() == "CA" and line[21] in found:
            place = [float(line[start : start + 8]) for start in (30, 38, 46)]
            found[line[21]].setdefault(int(line[22:26]), place)
    one, other = found.values()
    common = sorted(one.keys() & other.keys())
    both = [[each[number] for number in common] for each in (one, other)]
    return np.array(both), np.array(common)


@pytest.mark.parametrize(
    ("name", "chains"),
    [
        ("19hc.pdb.gz", "AB"),  # nonahaem cytochrome c
        ("1a28.pdb.gz", "AB"),  # progesterone receptor, the domain that binds
        ("1hvr.pdb", "AB"),  # HIV protease
        ("4E43.pdb", "AB"),  # HIV protease
        ("mmcif/3KPR.pdb.gz", "BG"),  # β2-microglobulin
    ],
    ids=["cytochrome", "receptor", "protease-1hvr", "protease-4e43", "microglobulin"],
)
def test_two_copies_of_one_domain_in_a_crystal_are_one_body(name: str, chains: str) -> None:
    both, _ = copies(name, chains)
    found = bodies(Ensemble.from_array(both, unit="Å"))
    assert found.n_bodies == 1
    assert all(level.gap < ENOUGH for level in found.levels[1:])


def test_two_copies_that_bend_between_their_domains_are_two_bodies() -> None:
    """The heavy chain of HLA, whose third domain begins at residue 182 or so."""
    both, numbers = copies("mmcif/3KPR.pdb.gz", "AF")
    found = bodies(Ensemble.from_array(both, unit="Å"))
    assert found.n_bodies == 2
    sides = [found.labels[part & (found.labels >= 0)] for part in (numbers < 175, numbers > 190)]
    counts = [np.bincount(labels, minlength=2) for labels in sides]
    assert all(count.max() > 0.95 * count.sum() for count in counts)
    assert counts[0].argmax() != counts[1].argmax()


@pytest.mark.parametrize("part", [np.s_[[0, 249]], np.s_[::25], np.s_[:20], np.s_[100:110]])
def test_some_snapshots_of_a_single_domain_are_one_body(part: slice | list[int]) -> None:
    assert bodies(timme.data.barnase_md().select("name CA")[part]).n_bodies == 1


@pytest.mark.parametrize("part", [np.s_[::2], np.s_[1::2], np.s_[:5], np.s_[5:10], np.s_[-10:]])
def test_some_models_of_a_small_protein_are_one_body(nmr_file: Path, part: slice) -> None:
    assert bodies(timme.read(nmr_file).select("name CA")[part]).n_bodies == 1


def closed(angles: tuple[float, float], *, noise: float = 0.0) -> np.ndarray:
    """Adenylate kinase open, and with LID and NMP turned about known axes, as wholes elsewhere."""
    opened = timme.read(datafiles.PDB_small).select("name CA").coordinates()[0]
    turned = opened.copy()
    for body, axis, point, shift, angle in zip(
        (LID, NMP),
        ((0.275, 0.350, 0.896), (-0.908, 0.196, -0.370)),
        (opened[117], opened[30]),
        (0.55, 1.49),
        angles,
        strict=True,
    ):
        along = np.array(axis) / np.linalg.norm(axis)
        moved, turn = of_residues(body), Rotation.from_rotvec(np.radians(angle) * along)
        turned[moved] = turn.apply(opened[moved] - point) + point + shift * along
    rng = np.random.default_rng(1)
    both = np.array([opened, turned]) + rng.normal(scale=noise, size=(2, *opened.shape))
    both[1] = Rotation.random(rng=rng).apply(both[1]) + np.array([3.0, -20.0, 8.0])
    return both


@pytest.mark.parametrize("angles", [(52.06, 45.33), (7.2, 4.2)], ids=["closing", "hardly"])
def test_screws_planted_in_a_kinase_are_measured(angles: tuple[float, float]) -> None:
    """As they are for those of crystals: with the core still, whatever the whole did."""
    both, still = closed(angles), of_residues(CORE)
    expected = zip((LID, NMP), angles, (0.55, 1.49), (118, 31), strict=True)
    for body, angle, shift, through in expected:
        found = screw(*both, body=of_residues(body), reference=still)
        assert found.angle == pytest.approx(angle, abs=1e-6)
        assert found.shift == pytest.approx(shift, abs=1e-6)
        passed = both[0][through - 1]
        np.testing.assert_allclose(found.nearest(passed), passed, atol=1e-5)


def test_domains_that_hardly_differ_are_soft_parts() -> None:
    """Turned by 7° and 4°, as two open chains in one crystal are; off by 0.2 Å, as places are."""
    found = bodies(Ensemble.from_array(closed((7.2, 4.2), noise=0.2), unit="Å"))
    assert found.n_bodies == 1
    assert found.next_best is not None
    assert SOFT <= found.next_best.gap < ENOUGH
    assert overlap_with_domains(found.next_best.labels) > 0.8
