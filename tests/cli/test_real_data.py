"""Real systems through the command line, as in the README."""

from __future__ import annotations

import shutil
from pathlib import Path

import gemmi
import MDAnalysis as mda
import numpy as np
import pytest

import timme as library
from tests.cli.conftest import Run
from tests.cli.test_folder import FILES
from tests.data.measures import checks
from tests.liquids import Water, write_in_box

BARNASE = library.data.path("barnase_md_dense.pdb"), library.data.path("barnase_md_dense.xtc")


def analysed(timme: Run, *arguments: object) -> tuple[library.Analysis, str]:
    found = timme("run", *arguments, "-o", "out")
    assert (found.code, found.err) == (0, "")
    return library.load("out/result.npz"), found.out


@pytest.mark.usefixtures("blank_figures")
def test_barnase_is_analysed_as_the_paper_does(folder: Path, timme: Run) -> None:
    made, out = analysed(timme, *BARNASE, "-dt", 5)
    assert sorted(path.name for path in (folder / "out").iterdir()) == FILES
    for line in ("snapshots  20", "sites      1,700", "objects    1,700 bodies"):
        assert line in out
    assert "in contact within 10 Å in at least 1 snapshot, at least 4 bonds apart" in out
    assert "shown      108 × Cα" in out
    assert made.system.sites.resids[made.system.object_sites[made.shown]].tolist() == list(
        range(3, 111)
    )
    assert made.length == 1.54
    assert len(made.shown_hierarchy.levels) > 50  # it dilutes; one cluster would have few levels


@pytest.mark.usefixtures("without_figures")
@pytest.mark.parametrize(
    ("options", "objects", "kind", "shown"),
    [
        (["-s", "ca"], 108, "points", "108 × Cα"),
        (["--objects", "points"], 1700, "points", "108 × Cα"),
        (["--objects", "residues"], 108, "residues", "108 × residue"),
        (["-s", "backbone"], 4 * 108 + 1, "bodies", "108 × Cα"),  # one OXT
        (["-s", "heavy"], 864, "bodies", "108 × Cα"),
    ],
)
def test_barnase_is_analysed_in_several_ways(
    timme: Run, options: list[str], objects: int, kind: str, shown: str
) -> None:
    made, out = analysed(timme, *BARNASE, "-e", 10, *options)
    assert (made.hierarchy.n_sites, made.system.n_snapshots) == (objects, 10)
    assert made.recipe.options["objects"] == kind
    assert f"shown      {shown}" in out


@pytest.mark.usefixtures("without_figures")
def test_atoms_as_points_three_bonds_apart_are_one_cluster_and_it_says_why(
    timme: Run, nmr_file: Path
) -> None:
    _, out = analysed(timme, nmr_file, "--objects", "points", "--min-bonds", 3)
    note = next(line for line in out.splitlines() if "one cluster from" in line)
    assert note.startswith("note: everything shown is one cluster")
    assert "--min-bonds 4" in note


@pytest.mark.usefixtures("without_figures")
def test_water_is_compared_molecule_by_molecule_in_its_box(timme: Run, water: Water) -> None:
    files = water.topology, water.trajectory
    made, out = analysed(timme, *files, "--objects", "molecules", "-dt", 4, "--no-confidence")
    assert made.hierarchy.n_sites == 258
    assert made.system.n_snapshots == 101
    assert made.system.box is not None
    assert "shown      258 × molecule" in out
    assert "half the periodic box" in out
    assert sorted(files[0].parent.iterdir()) == sorted(files)


@pytest.mark.usefixtures("without_figures")
def test_liquids_are_molecules_by_default(timme: Run, water: Water) -> None:
    made, _ = analysed(timme, water.topology, water.trajectory, "-e", 20, "--radius", 5)
    assert made.recipe.options["objects"] == "molecules"
    assert made.length == 0.96
    assert made.fluctuations is not None
    assert np.isfinite(made.fluctuations.sigma).all()


@pytest.mark.usefixtures("without_figures")
def test_tracks_with_gaps_say_what_they_leave_out(timme: Run) -> None:
    path = library.data.path("crowd.csv")
    made, out = analysed(timme, path, "--min-overlap", 40)
    assert made.system.n_snapshots == 120
    assert made.system.coordinates.shape[1] == 2
    seen = np.zeros((120, 60), bool)
    for frame, person in np.loadtxt(path, delimiter=",", skiprows=1, usecols=(0, 1), dtype=int):
        seen[frame, person - 1] = True
    often = seen[:, seen.sum(axis=0) >= 40]
    assert 0 < often.shape[1] < 60
    left_out = f"left out {60 - often.shape[1]} of 60 sites that are seen in fewer than 40 of 120"
    assert left_out in out
    shared = (often.T.astype(int) @ often)[np.triu_indices(often.shape[1], 1)]
    assert f"at least 40; {int((shared < 40).sum()):,} pairs share fewer" in out
    assert made.hierarchy.n_sites == often.shape[1]


@pytest.mark.usefixtures("without_figures")
def test_a_kinase_that_its_box_breaks_is_whole_wherever_it_is_written(
    folder: Path, timme: Run
) -> None:
    """Adenylate kinase in a rhombic box of water, as GROMACS leaves it."""
    files = pytest.importorskip("MDAnalysisTests.datafiles", reason="needs MDAnalysisTests")
    broken = mda.Universe(files.GRO, files.XTC).select_atoms("name CA").positions
    assert np.linalg.norm(np.diff(broken, axis=0), axis=1).max() > 50
    copies = [Path(shutil.copy(path, folder)).name for path in (files.GRO, files.XTC)]
    made, _ = analysed(timme, *copies, "-s", "backbone")
    for name in ("clusters.pdb", "clusters.cif"):
        atoms = [
            (atom.name, atom.pos.tolist())
            for chain in gemmi.read_structure(f"out/{name}")[0]
            for residue in chain
            for atom in residue
        ]
        alphas = np.array([place for kind, place in atoms if kind == "CA"])
        assert len(alphas) == 214
        assert np.linalg.norm(np.diff(alphas, axis=0), axis=1).max() < 4.2
    assert "clusters.cif" in Path("out/clusters.pml").read_text(encoding="utf-8")
    assert made.system.film is not None  # what the page shows
    film = made.system.film[:, made.system.object_sites[made.shown]]
    assert np.linalg.norm(np.diff(film, axis=1), axis=2).max() < 4.2


@pytest.mark.usefixtures("without_figures")
def test_water_that_is_followed_goes_through_the_walls_as_it_went(timme: Run, water: Water) -> None:
    files = water.topology, water.trajectory
    options = ("--objects", "molecules", "--radius", 4, "--no-confidence")
    _, out = analysed(timme, *files, *options, "--unwrap", "-dt", "4ps")
    assert "half the periodic box" not in out
    places = library.read(*files, unwrap=True, select="water-oxygen").coordinates()
    moved = places - places[0]
    assert np.abs(moved).max() > 20  # more than a box
    # To what an XTC file rounds, once for either end.
    np.testing.assert_allclose(moved, water.oxygens - water.oxygens[0], atol=0.011)


@pytest.mark.usefixtures("without_figures")
def test_simulated_water_diffuses_through_the_walls_as_tip3p_does(folder: Path, timme: Run) -> None:
    """The drop, adrift in a periodic box of 50 Å: it crosses every wall, and diffuses as it did.

    TIP3P has 5 to 6e-9 m²/s at 298 K: by its energy of activation, 3.2 to 4.4e-9 here.
    """
    went = library.data.water_drop().coordinates().astype(float)
    went = went - went[0].mean(axis=0) + np.arange(200)[:, None, None] * [0.6, 0.5, 0.4]
    files = write_in_box(folder, went[:, :, None], 50.0)
    _, out = analysed(timme, *files, "--radius", 4, "--no-confidence", "--unwrap", "-dt", 4)
    assert "half the periodic box" not in out
    followed = library.read(*files, unwrap=True).coordinates().astype(float)
    moved = followed - followed[0]
    assert np.abs(moved).max() > 100  # two boxes
    # To what an XTC file rounds, once for either end.
    np.testing.assert_allclose(moved, went - went[0], atol=0.011)
    diffusion = checks().diffusion(went[0] + moved, 1.0, (2, 8), 12.0)
    assert 3.2e-9 < diffusion < 4.4e-9
