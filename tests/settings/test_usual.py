"""Defaults in words: what help, API and pages tell is what the recipe does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme
from tests.cli.ensembles import helix, nucleotides, shaken, wandering, write_ensemble, write_tracks
from tests.readers.builders import Record, peptide, waters, write_pdb
from timme._arrays import Floats
from timme.analysis import Analysis
from timme.objects import Objects
from timme.output.look import look_of
from timme.settings import RigidSettings, Settings, settings_of
from timme.statistics import suggest
from timme.workflow.defaults import choose_length, choose_objects, choose_pairs, kind_of

TOLD = {
    (kind, setting.name): setting.about.usual
    for kind in (Settings, RigidSettings)
    for setting in settings_of(kind)
    if setting.about.usual
}
# What each of them says; the tests below hold that it is so.
EXPECTED = {
    (Settings, "select"): "all atoms but waters and single ions",
    (Settings, "unit"): "that of the file",
    (Settings, "weights"): "all the same",
    (Settings, "columns"): "those of trackpy or TrackMate",
    (Settings, "gaps"): "in tables only",
    (Settings, "reduction"): "rms, max for links",
    (Settings, "centre"): "geometry, mass for molecules",
    (Settings, "radius"): "10 Å for molecules",
    (Settings, "neighbours"): "12, 1 along the sequence",
    (Settings, "min_bonds"): "4 in molecules, 0 for your own groups and pairs and average linkage",
    (Settings, "min_overlap"): "half of all",
    (Settings, "cutoff"): "the first that is suggested",
    (Settings, "length"): "1.54 Å with carbon, 0.96 Å for water, their mean for links",
    (Settings, "noise"): "none",
    (Settings, "replicas"): "one, or trajectory files that do not go on from the one before",
    (Settings, "confidence"): "yes",
    (Settings, "chance"): "yes for few particles in open space",
    (Settings, "show"): "Cα of proteins, P or C4' of nucleic acids",
    (RigidSettings, "chain"): "all",
    (RigidSettings, "model"): "the first",
    (RigidSettings, "cutoff"): "the first that is suggested",
    (RigidSettings, "show"): "Cα of proteins, P or C4' of nucleic acids",
}


def beside(records: Sequence[Record], chain: str) -> list[Record]:
    """The same atoms 30 Å away, in a chain of their own."""
    return [(*each[:3], chain, *each[4:7], each[7] + 30.0, *each[8:]) for each in records]


@pytest.fixture(scope="module")
def protein(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("protein")
    return write_pdb(folder / "a.pdb", shaken([*peptide(n_residues=6), *beside(waters(2), "W")], 8))


@pytest.fixture(scope="module")
def analysed(protein: Path) -> Analysis:
    return timme.analyse(protein)


def test_every_default_in_words_is_looked_at_here() -> None:
    assert TOLD == EXPECTED


# ---- what is read ------------------------------------------------------------------------------


def test_all_atoms_but_waters_and_ions_are_read(analysed: Analysis) -> None:
    assert len(analysed.system.sites) == 6 * 5
    assert set(analysed.system.sites.resnames) == {"ALA"}


def test_the_unit_is_that_of_the_file_and_snapshots_count_the_same(
    protein: Path, analysed: Analysis
) -> None:
    assert analysed.system.unit == "Å"
    weighted = timme.analyse(protein, weights=[0.5] * 8)
    np.testing.assert_allclose(weighted.hierarchy.heights, analysed.hierarchy.heights, rtol=1e-12)


def test_a_table_has_the_names_of_trackpy_and_gaps_of_which_half_may_be_missing(
    tmp_path: Path,
) -> None:
    positions = wandering(8, 4, 2)
    # Of 8 snapshots, the first particle is seen in 4 and the second in 3.
    unseen = [*((frame, 0) for frame in range(4)), *((frame, 1) for frame in range(5))]
    tracks = write_tracks(tmp_path / "a.csv", positions, unseen=unseen)  # frame,particle,x,y
    assert len(timme.analyse(tracks).system.sites) == 3
    positions[0, 0] = np.nan
    with pytest.raises(ValueError, match="gaps=True"):
        timme.analyse(positions)


# ---- what is compared --------------------------------------------------------------------------


def made(path: Path, objects: str) -> Objects:
    ensemble = timme.read(path)
    return choose_objects(ensemble, kind_of(ensemble), Settings(objects=objects))[0]


def shares(found: Objects) -> Floats:
    return found.centre_weights[found.offsets[0] : found.offsets[1]]


@pytest.mark.parametrize(
    ("objects", "reduction"),
    [("bodies", "rms"), ("links", "max"), ("residues", "rms"), ("molecules", "rms")],
)
def test_cross_pairs_become_one_by_rms_and_in_links_by_the_largest(
    protein: Path, objects: str, reduction: str
) -> None:
    assert made(protein, objects).reduction == reduction


def test_a_centre_is_that_of_geometry_and_that_of_molecules_of_mass(tmp_path: Path) -> None:
    path = write_ensemble(tmp_path / "a.pdb", waters(2))
    groups = tmp_path / "groups.txt"
    groups.write_text("one = resid 1\ntwo = resid 2\n")
    oxygen = 15.999 / (15.999 + 2 * 1.008)  # of the mass of a molecule
    for objects, share in ((str(groups), 1 / 3), ("residues", 1 / 3), ("molecules", oxygen)):
        assert shares(made(path, objects))[0] == pytest.approx(share, rel=1e-3)


# ---- who with whom -----------------------------------------------------------------------------


def settled(snapshots: Any, **chosen: Any) -> Settings:
    """What is filled in for particles."""
    ensemble = timme.read(snapshots)
    return choose_pairs(timme.objects.points(ensemble), "particles", Settings(**chosen))[1]


@pytest.mark.parametrize(
    ("n_particles", "pairs", "neighbours"), [(20_000, "all", None), (20_001, "nearest", 12)]
)
def test_all_pairs_of_up_to_20_000_particles_and_12_nearest_beyond(
    n_particles: int, pairs: str, neighbours: int | None
) -> None:
    found = settled(np.random.default_rng(0).uniform(size=(2, n_particles, 2)))
    assert (found.pairs, found.neighbours) == (pairs, neighbours)


def test_neighbours_are_12_nearest_or_the_next_along_the_sequence() -> None:
    snapshots = wandering(2, 20)
    assert settled(snapshots, pairs="nearest").neighbours == 12
    assert settled(snapshots, pairs="sequence").neighbours == 1
    assert settled(snapshots[:, :5], pairs="nearest").neighbours == 4  # all others


def test_molecules_are_in_contact_within_10_angstrom_and_4_bonds_apart(analysed: Analysis) -> None:
    assert analysed.recipe.options["radius"] == 10.0
    assert analysed.recipe.options["min_bonds"] == 4
    assert settled(wandering(2, 5)).min_bonds == 0


# ---- what is shown -----------------------------------------------------------------------------


def length(path: Path, objects: str) -> float | None:
    ensemble = timme.read(path, select="all")
    found, chosen = choose_objects(ensemble, kind_of(ensemble), Settings(objects=objects))
    return choose_length(found, kind_of(ensemble), chosen)[0]


def test_the_length_is_a_bond_of_carbon_or_of_water_or_the_mean_of_links(tmp_path: Path) -> None:
    ligand = [(*record[:2], "LIG", *record[3:]) for record in peptide(n_residues=1)]
    for number, records in enumerate((peptide(), ligand)):
        path = write_ensemble(tmp_path / f"{number}.pdb", records)
        assert length(path, "bodies") == 1.54
    path = write_ensemble(tmp_path / "water.pdb", waters(3))
    assert length(path, "molecules") == 0.96
    rods = np.array([[[0, 0], [2, 0], [2, 4]], [[0, 0], [0, 2], [4, 2]]], float)
    chain = timme.read(rods, bonds=[[0, 1], [1, 2]])
    assert choose_length(timme.objects.links(chain), "network", Settings())[0] == 3.0


def test_proteins_are_shown_as_alpha_carbons_and_nucleic_acids_as_phosphorus(
    tmp_path: Path, analysed: Analysis
) -> None:
    assert analysed.system.shown_name == "Cα"
    strand = timme.analyse(write_ensemble(tmp_path / "dna.pdb", nucleotides(4)))
    names = strand.system.sites.names[strand.shown]
    assert names.tolist() == ["C4'", "P", "P", "P"]  # the first nucleotide has no phosphate


def test_pictures_are_at_the_first_suggested_cutoff(analysed: Analysis) -> None:
    assert analysed.recipe.settings.cutoff is None
    assert look_of(analysed).cutoff == suggest(analysed.shown_hierarchy)[0].cutoff


# ---- one structure -----------------------------------------------------------------------------


def test_rigid_clusters_are_those_of_all_chains_of_the_first_model(tmp_path: Path) -> None:
    models = shaken([*helix(), *beside(helix(), "B")], 2, scale=0.01)
    both = timme.rigid(write_pdb(tmp_path / "both.pdb", models))
    first = timme.rigid(write_pdb(tmp_path / "first.pdb", models[:1]), chain="A,B", model=1)
    np.testing.assert_array_equal(both.hierarchy.heights, first.hierarchy.heights)
    assert set(both.system.sites.chains) == {"A", "B"}
    assert both.system.shown_name == "Cα"
