"""The recipe: what each kind of system gets by default, and every choice that can be made."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import pdist, squareform

import timme
from tests.cli.ensembles import (
    ligand,
    moved,
    nucleotides,
    places,
    shaken,
    swinging,
    wandering,
    write_ensemble,
    write_tracks,
)
from tests.readers.builders import Record, atom, peptide, waters, write_pdb, write_trajectory
from timme._arrays import Floats
from timme.analysis import Analysis
from timme.analysis.parts import Measured
from timme.hierarchy.quantity import SIGMA, Quantity
from timme.output.figures import draw
from timme.output.look import Look
from timme.output.matrices import binned_means
from timme.system.atoms import Atoms
from timme.system.ensemble import Ensemble
from timme.workflow import Settings, scene_of, summary
from timme.workflow.remarks import remarks_on


def compared(analysis: Analysis) -> set[tuple[int, int]]:
    assert analysis.fluctuations is not None
    return {(int(a), int(b)) for a, b in analysis.fluctuations.pairs}


def sigma_of(analysis: Analysis, one: int, other: int) -> float:
    found = analysis.fluctuations
    assert found is not None
    row = np.flatnonzero((found.pairs == (min(one, other), max(one, other))).all(axis=1))
    return float(found.sigma[row[0]])


def naive_sigma(snapshots: Any) -> Floats:
    """Matrix of σ of all points, as written in the paper."""
    distances = np.array([squareform(pdist(frame)) for frame in np.asarray(snapshots)])
    return np.asarray(distances.std(axis=0), dtype=np.float64)


def bonds_apart(analysis: Analysis) -> Floats:
    bonds = analysis.system.sites.bonds
    n_sites = len(analysis.system.sites)
    graph = np.zeros((n_sites, n_sites))
    graph[bonds[:, 0], bonds[:, 1]] = 1.0
    return np.asarray(shortest_path(graph, directed=False), dtype=np.float64)


@pytest.fixture
def protein(tmp_path: Path) -> Path:
    return write_pdb(tmp_path / "protein.pdb", swinging())


# ---- proteins ----------------------------------------------------------------------------------


def test_a_protein_gets_bodies_in_contact_four_bonds_apart_shown_as_alphas(protein: Path) -> None:
    made = timme.analyse(protein)
    chosen = made.recipe.options
    assert (chosen["objects"], chosen["reduction"], chosen["reach"]) == ("bodies", "rms", 1)
    assert (chosen["pairs"], chosen["radius"], chosen["min_bonds"]) == ("contact", 10.0, 4)
    assert (made.system.shown_name, made.system.sequential) == ("Cα", True)
    assert made.system.sites.names[made.system.object_sites[made.shown]].tolist() == ["CA"] * 24
    assert (made.length, made.recipe.length_name, made.hierarchy.unit) == (
        1.54,
        "C–C bond",
        "Å",
    )


def test_the_pairs_of_a_protein_are_exactly_those_of_the_definition(protein: Path) -> None:
    made = timme.analyse(protein)
    snapshots = np.array([places(model) for model in swinging()])
    nearest = np.min([squareform(pdist(frame)) for frame in snapshots], axis=0)
    apart = bonds_apart(made)
    expected = {
        (a, b)
        for a, b in combinations(range(len(nearest)), 2)
        if nearest[a, b] < 10.0 and apart[a, b] >= 4
    }
    assert compared(made) == expected
    assert made.recipe.n_pairs == len(expected)


def test_the_sigma_of_bodies_is_that_of_the_definition(protein: Path) -> None:
    """σ² of two bodies is the mean over cross pairs, a shared atom counting 0."""
    made = timme.analyse(protein)
    squared = naive_sigma([places(model) for model in swinging()]) ** 2
    bodies = bonds_apart(made) <= 1
    for a, b in list(compared(made))[::50]:
        cross = [
            squared[i, j] for i in np.flatnonzero(bodies[a]) for j in np.flatnonzero(bodies[b])
        ]
        assert sigma_of(made, a, b) == pytest.approx(np.sqrt(np.mean(cross)), rel=1e-6)


def test_the_planted_halves_of_a_protein_are_found(protein: Path) -> None:
    made = timme.analyse(protein)
    labels = made.shown_hierarchy.cut(0.1).labels
    assert labels.tolist() in ([0] * 12 + [1] * 12, [1] * 12 + [0] * 12)


def test_alphas_alone_are_points_without_their_neighbours(protein: Path) -> None:
    made = timme.analyse(protein, select="ca")
    assert made.recipe.options["objects"] == "points"
    assert made.hierarchy.n_sites == len(made.shown) == 24
    pairs = compared(made)
    # Neighbours along the chain are three bonds apart, counted in the whole molecule.
    assert not pairs & set(pairwise(range(24)))
    assert (0, 2) in pairs
    snapshots = np.array([places(model)[1::5] for model in swinging()])
    assert sigma_of(made, 0, 2) == pytest.approx(naive_sigma(snapshots)[0, 2], rel=1e-6)


def test_three_bonds_stay_an_option(protein: Path) -> None:
    made = timme.analyse(protein, select="ca", min_bonds=3)
    assert set(pairwise(range(24))) <= compared(made)
    assert not timme.analyse(protein, select="ca", min_bonds=0).recipe.options["min_bonds"]


def test_one_cluster_at_every_cutoff_is_explained(tmp_path: Path) -> None:
    """Joints that keep their distance along the chain, while the whole writhes."""
    joints = timme.synthetic.chain(14, 6)
    made = timme.analyse(joints, objects="points", radius=100.0, min_bonds=0)
    assert any("one cluster" in note and "min_bonds=4" in note for note in made.notes)
    assert any("or bodies instead of points" in note for note in made.notes)
    bonds_apart = timme.analyse(joints, objects="points", radius=100.0, min_bonds=4)
    assert not any("one cluster" in note for note in bonds_apart.notes)
    far = str(write_far_pairs(tmp_path / "far.txt", 15))
    apart = timme.analyse(joints, objects="points", pairs=far, min_bonds=0)
    assert not any("one cluster" in note for note in apart.notes)


def write_far_pairs(path: Path, n_sites: int) -> Path:
    lines = [f"{a + 1} {b + 1}" for a, b in combinations(range(n_sites), 2) if b > a + 1]
    path.write_text("\n".join(lines))
    return path


def test_atoms_may_be_points(protein: Path) -> None:
    made = timme.analyse(protein, objects="points")
    assert made.hierarchy.n_sites == 120
    assert made.system.sites.names[made.system.object_sites[made.shown]].tolist() == ["CA"] * 24
    snapshots = np.array([places(model) for model in swinging()])
    a, b = next(iter(compared(made)))
    assert sigma_of(made, a, b) == pytest.approx(naive_sigma(snapshots)[a, b], rel=1e-6)


def test_residues_are_objects_in_sequence(protein: Path) -> None:
    made = timme.analyse(protein, objects="residues")
    assert (made.hierarchy.n_sites, made.system.shown_name, made.system.sequential) == (
        24,
        "residue",
        True,
    )
    assert made.system.site_objects.tolist() == np.repeat(np.arange(24), 5).tolist()


@pytest.mark.parametrize("reduction", ["rms", "max", "centre"])
def test_residues_are_reduced_as_asked(protein: Path, reduction: str) -> None:
    made = timme.analyse(
        protein, objects="residues", reduction=reduction, centre="geometry", min_bonds=0
    )
    snapshots = np.array([places(model) for model in swinging()])
    cross = naive_sigma(snapshots)[:5, 20:25]
    centres = snapshots.reshape(8, 24, 5, 3).mean(axis=2)
    expected = {
        "rms": np.sqrt(np.mean(cross**2)),
        "max": cross.max(),
        "centre": naive_sigma(centres)[0, 4],
    }
    made_all = timme.analyse(
        protein, objects="residues", reduction=reduction, centre="geometry", pairs="all"
    )
    assert sigma_of(made_all, 0, 4) == pytest.approx(expected[reduction], rel=1e-6)
    assert made.recipe.options["reduction"] == reduction


def test_bonds_are_objects_that_share_an_atom(protein: Path) -> None:
    made = timme.analyse(protein, objects="links")
    assert made.hierarchy.n_sites == len(made.system.sites.bonds)
    assert made.recipe.options["pairs"] == "sharing"
    for a, b in compared(made):
        assert len(set(made.system.sites.bonds[[a, b]].ravel().tolist())) == 3


def test_chains_are_molecules(tmp_path: Path) -> None:
    far = [(*r[:3], "B", *r[4:7], r[7] + 6.0, *r[8:]) for r in peptide(n_residues=8)]
    path = write_ensemble(tmp_path / "a.pdb", [*peptide(n_residues=8), *far])
    made = timme.analyse(path, objects="molecules", radius=20.0)
    assert made.hierarchy.n_sites == 2
    assert compared(made) == {(0, 1)}


def test_waters_and_ions_of_a_protein_are_left_out_and_told(tmp_path: Path) -> None:
    solvent = [(*r[:4], r[4] + 50, *r[5:7], r[7] + 8.0, *r[8:]) for r in waters(3)]
    ion = atom("NA", 80, (0.0, 12.0, 0.0), resname="NA", element="NA")
    path = write_ensemble(tmp_path / "a.pdb", [*peptide(n_residues=8), *solvent, ion])
    made = timme.analyse(path)
    assert len(made.system.sites) == 40
    assert "left out 3 waters and 1 ion: select them to keep them" in made.notes
    kept = timme.analyse(path, select="all")
    assert len(kept.system.sites) == 50
    assert not any("waters" in note for note in kept.notes)
    oxygens = timme.analyse(path, select="water-oxygen", radius=50.0)
    assert oxygens.hierarchy.n_sites == 3


def test_ligands_are_analysed_but_not_shown(tmp_path: Path) -> None:
    path = write_ensemble(tmp_path / "a.pdb", [*peptide(n_residues=8), *ligand((5.0, 5.0, 2.0))])
    made = timme.analyse(path)
    assert made.hierarchy.n_sites == 44
    assert len(made.shown) == 8
    assert (made.system.sites.resnames == "LIG").sum() == 4


def test_chains_are_shown_one_after_another(tmp_path: Path) -> None:
    far = [(*r[:3], "B", *r[4:7], r[7] + 6.0, *r[8:]) for r in peptide(n_residues=8)]
    made = timme.analyse(write_ensemble(tmp_path / "a.pdb", [*peptide(n_residues=8), *far]))
    chains = made.system.sites.chains[made.system.object_sites[made.shown]]
    assert chains.tolist() == ["A"] * 8 + ["B"] * 8
    crossing = {(a, b) for a, b in compared(made) if (a < 40) != (b < 40)}
    assert crossing  # chains are compared with one another


def test_nucleotides_are_shown_by_phosphorus_or_sugar(tmp_path: Path) -> None:
    made = timme.analyse(write_ensemble(tmp_path / "a.pdb", nucleotides(4)))
    assert made.recipe.options["objects"] == "bodies"
    assert made.system.sites.names[made.system.object_sites[made.shown]].tolist() == [
        "C4'",
        "P",
        "P",
        "P",
    ]
    assert made.system.sites.resids[made.system.object_sites[made.shown]].tolist() == [1, 2, 3, 4]
    assert made.system.sequential
    assert made.system.shown_name == "nucleotide"


def test_a_protein_with_a_nucleic_acid_shows_both(tmp_path: Path) -> None:
    strand = [(*r[:3], "B", *r[4:7], r[7] + 6.0, *r[8:]) for r in nucleotides(3)]
    made = timme.analyse(write_ensemble(tmp_path / "a.pdb", [*peptide(n_residues=4), *strand]))
    names = made.system.sites.names[made.system.object_sites[made.shown]].tolist()
    assert names == ["CA"] * 4 + ["C4'", "P", "P"]


@pytest.mark.parametrize(
    ("show", "names"),
    [("name CB", ["CB"] * 24), ("name N and resid 3:5", ["N"] * 3), ("backbone", None)],
)
def test_the_user_chooses_what_is_shown(protein: Path, show: str, names: list[str] | None) -> None:
    made = timme.analyse(protein, show=show)
    assert made.hierarchy.n_sites == 120
    found = made.system.sites.names[made.system.object_sites[made.shown]].tolist()
    assert found == (names or ["N", "CA", "C", "O"] * 24)
    assert made.shown_hierarchy.n_sites == len(found)


def test_residues_are_shown_if_one_of_their_atoms_is(protein: Path) -> None:
    made = timme.analyse(protein, objects="residues", show="name CB and resid 2:4")
    assert made.shown.tolist() == [1, 2, 3]


def test_larger_bodies_reach_further(protein: Path) -> None:
    near, far = timme.analyse(protein), timme.analyse(protein, reach=2)
    alike = next(iter(compared(near) & compared(far)))
    assert sigma_of(near, *alike) != sigma_of(far, *alike)
    alone = timme.analyse(protein, reach=0)
    points = timme.analyse(protein, objects="points")
    np.testing.assert_allclose(alone.hierarchy.heights, points.hierarchy.heights, rtol=1e-9)


# ---- the user's own files ----------------------------------------------------------------------


def test_groups_come_from_a_file(protein: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text(
        "# mine\r\nhead = resid 1:4\n\nneck σ = resid 5:9 and name CA\ntail=resid 20:24\n"
    )
    made = timme.analyse(protein, objects=str(own), pairs="all", min_bonds=0)
    assert made.system.names.tolist() == ["head", "neck σ", "tail"]
    assert (made.recipe.options["objects"], made.system.shown_name) == (str(own), "group")
    assert np.bincount(made.system.site_objects + 1).tolist() == [70, 20, 5, 25]
    squared = naive_sigma([places(model) for model in swinging()]) ** 2
    expected = np.sqrt(squared[:20, 95:].mean())
    assert sigma_of(made, 0, 2) == pytest.approx(expected, rel=1e-6)


def test_groups_and_pairs_of_users_are_compared_however_few_bonds_apart(protein: Path) -> None:
    groups = {"a": "resid 1:4", "b": "resid 5:9", "c": "resid 10:24"}  # each bonded to the next
    made = timme.analyse(protein, objects=groups)
    assert (made.recipe.n_pairs, made.recipe.compared) == (3, "all pairs")
    made = timme.analyse(protein, select="ca", objects="points", pairs=[(0, 1), (1, 2), (5, 9)])
    assert (made.recipe.n_pairs, made.recipe.compared) == (3, "listed by the user")


def test_pairs_that_users_leave_out_by_bonds_are_counted(protein: Path) -> None:
    groups = {"a": "resid 1:4", "b": "resid 5:9", "c": "resid 10:24"}
    made = timme.analyse(protein, objects=groups, min_bonds=4)
    said = "all pairs, at least 4 bonds apart; 2 of 3 left out, which are fewer"
    assert (made.recipe.n_pairs, made.recipe.compared) == (1, said)
    points: dict[str, Any] = {"select": "ca", "objects": "points"}
    made = timme.analyse(protein, **points, pairs=[(0, 1), (1, 0), (5, 9)], min_bonds=4)
    said = "listed by the user, at least 4 bonds apart; 1 of 2 left out, which are fewer"
    assert (made.recipe.n_pairs, made.recipe.compared) == (1, said)


def test_the_remedy_for_no_pairs_is_one_that_helps(protein: Path) -> None:
    with pytest.raises(
        ValueError, match="pairs, or let them be fewer bonds apart than min_bonds=4"
    ):
        timme.analyse(protein, select="ca", objects="points", pairs=[(0, 1), (1, 2)], min_bonds=4)
    with pytest.raises(ValueError, match="choose a larger radius, or choose other pairs"):
        timme.analyse(protein, radius=0.001)


@pytest.mark.parametrize("text", ["1 2\n3 1\n", "1,2\n1;3", "# pairs\n\n2 1\r\n1\t3\r\n1 2\n"])
def test_pairs_come_from_a_file(tmp_path: Path, text: str) -> None:
    np.save(tmp_path / "a.npy", wandering())
    (tmp_path / "own.txt").write_bytes(text.encode())
    made = timme.analyse(tmp_path / "a.npy", pairs=str(tmp_path / "own.txt"))
    assert compared(made) == {(0, 1), (0, 2)}
    assert np.count_nonzero(made.hierarchy.parents < 0) == 6


# ---- liquids, particles, networks --------------------------------------------------------------


def test_a_liquid_is_compared_by_molecules(tmp_path: Path) -> None:
    made = timme.analyse(write_ensemble(tmp_path / "a.pdb", waters(6)))
    assert (made.recipe.options["objects"], made.recipe.options["pairs"]) == (
        "molecules",
        "contact",
    )
    assert made.recipe.options["min_bonds"] == 0
    assert made.hierarchy.n_sites == 6
    assert (made.length, made.recipe.length_name) == (0.96, "O–H bond")
    assert made.system.shown_name == "molecule"


def test_small_organic_molecules_are_bodies(tmp_path: Path) -> None:
    chain = [atom(f"C{k}", 1, (1.2 * k, 0.8 * (k % 2), 0.0), resname="LIG") for k in range(14)]
    made = timme.analyse(write_ensemble(tmp_path / "a.pdb", chain))
    assert made.recipe.options["objects"] == "bodies"
    assert len(made.shown) == 14
    assert (made.system.shown_name, made.system.sequential) == ("atom", False)
    assert made.length == 1.54


def test_particles_are_compared_all_with_all(tmp_path: Path) -> None:
    snapshots = wandering()
    np.save(tmp_path / "a.npy", snapshots)
    made = timme.analyse(tmp_path / "a.npy")
    assert (made.recipe.options["objects"], made.recipe.options["pairs"]) == ("points", "all")
    assert compared(made) == set(combinations(range(8), 2))
    expected = timme.link(naive_sigma(snapshots))
    np.testing.assert_allclose(made.hierarchy.heights, expected.heights, rtol=1e-6)
    np.testing.assert_array_equal(made.hierarchy.parents, expected.parents)
    assert (made.length, made.hierarchy.unit, made.system.sequential) == (None, "", False)


def test_a_radius_or_a_number_of_neighbours_says_which_pairs_are_meant() -> None:
    snapshots = wandering()
    assert timme.analyse(snapshots, radius=4.0).recipe.options["pairs"] == "contact"
    assert timme.analyse(snapshots, neighbours=3).recipe.options["pairs"] == "nearest"


def test_contacts_of_particles_need_a_radius() -> None:
    with pytest.raises(ValueError, match="radius="):
        timme.analyse(wandering(), pairs="contact")


def test_contacts_may_be_asked_for_in_several_snapshots() -> None:
    snapshots = wandering(6, 8)
    near = np.array([squareform(pdist(frame)) < 4.0 for frame in snapshots]).sum(axis=0)
    for least in (1, 3, 6):
        made = timme.analyse(snapshots, radius=4.0, contacts=least)
        expected = {(a, b) for a, b in combinations(range(8), 2) if near[a, b] >= least}
        assert compared(made) == expected


@pytest.mark.parametrize("reach", [1, 3])
def test_neighbours_in_sequence(reach: int) -> None:
    made = timme.analyse(wandering(), pairs="sequence", neighbours=reach)
    assert compared(made) == {(a, b) for a, b in combinations(range(8), 2) if b - a <= reach}


def test_neighbours_in_sequence_are_one_by_default() -> None:
    assert compared(timme.analyse(wandering(), pairs="sequence")) == set(pairwise(range(8)))


def test_nearest_neighbours_are_those_of_the_first_snapshot() -> None:
    snapshots = wandering()
    made = timme.analyse(snapshots, pairs="nearest", neighbours=2)
    distances = squareform(pdist(snapshots[0]))
    nearest = np.argsort(distances, axis=1)[:, 1:3]
    expected = {(min(a, int(b)), max(a, int(b))) for a in range(8) for b in nearest[a]}
    assert compared(made) == expected


def test_a_network_without_elements_is_its_links() -> None:
    made = timme.analyse(timme.synthetic.chain(40, 5, link_length=2.0))
    assert (made.recipe.options["objects"], made.recipe.options["pairs"]) == ("links", "sharing")
    assert made.recipe.options["reduction"] == "max"
    assert made.hierarchy.n_sites == 40
    assert made.length == pytest.approx(2.0)
    assert (made.recipe.length_name, made.system.sequential) == ("link", True)
    assert compared(made) == set(pairwise(range(40)))
    points = timme.synthetic.chain(40, 5, link_length=2.0).frames.read(0, 5)[0]
    assert sigma_of(made, 3, 4) == pytest.approx(naive_sigma(points)[3, 5], rel=1e-6)


@pytest.mark.parametrize(("in_force", "proposed"), [(0, 4), (3, 4), (4, 5), (6, 7)])
def test_more_bonds_are_proposed_than_are_in_force(in_force: int, proposed: int) -> None:
    """A rod that hardly moves, with the spread of σ of something that does."""
    rng = np.random.default_rng(0)
    rod = np.arange(12)[:, None] * [1.5, 0.0, 0.0] + rng.normal(scale=1e-6, size=(5, 12, 3))
    atoms = Atoms.unnamed(12, bonds=list(pairwise(range(12))))
    ensemble = Ensemble.from_array(rod, atoms=atoms, unit="Å")
    made = timme.analyse(ensemble, objects="points", pairs="all", min_bonds=in_force)
    assert made.fluctuations is not None
    sigma = np.full_like(made.fluctuations.sigma, 1.0)
    wide = replace(made, parts=(Measured(replace(made.fluctuations, sigma=sigma)),))
    (note,) = remarks_on(wide)
    assert f"(min_bonds={proposed}), or bodies instead of points" in note


def test_what_is_proposed_without_bonds_is_taken_and_helps() -> None:
    joints = timme.synthetic.chain(29, 40).coordinates()
    note = timme.analyse(joints).notes[-1]
    assert note.startswith("everything shown is one cluster from")
    assert "min_bonds" not in note
    assert "(linkage='braced')" in note
    braced = timme.analyse(joints, linkage="braced")
    assert not any("one cluster" in told for told in braced.notes)


def lammps_data(n_atoms: int, bonds: list[tuple[int, int]]) -> str:
    """A LAMMPS data file of beads on a grid."""
    lines = ["beads", "", f"{n_atoms} atoms", f"{len(bonds)} bonds", "1 atom types"]
    lines += ["1 bond types", "", "0 40 xlo xhi", "0 40 ylo yhi", "0 40 zlo zhi", ""]
    lines += ["Masses", "", "1 1.0", "", "Atoms # bond", ""]
    for atom_ in range(n_atoms):
        x, y, z = 3.0 * (atom_ % 4), 3.0 * (atom_ // 4 % 4), 3.0 * (atom_ // 16)
        lines.append(f"{atom_ + 1} 1 1 {x} {y} {z}")
    lines += ["", "Bonds", ""]
    lines += [f"{k} 1 {a + 1} {b + 1}" for k, (a, b) in enumerate(bonds, start=1)]
    return "\n".join([*lines, ""])


@pytest.mark.parametrize(
    ("bonds", "objects"),
    [
        ([(0, 1)], "points"),
        ([(2 * k, 2 * k + 1) for k in range(20)], "points"),
        (list(pairwise(range(30))), "points"),
        (list(pairwise(range(38))), "links"),
        ([(k, k + 1) for k in range(39) if k % 10 != 9], "links"),
    ],
    ids=["one bond", "dimers", "a chain in a solvent", "nearly all", "four chains"],
)
def test_particles_are_links_only_where_nearly_all_are_bonded_into_chains(
    tmp_path: Path, bonds: list[tuple[int, int]], objects: str
) -> None:
    topology = tmp_path / "a.data"
    topology.write_text(lammps_data(40, bonds))
    places_ = np.random.default_rng(0).normal(scale=0.2, size=(5, 40, 3)) + 3.0 * np.stack(
        [np.arange(40) % 4, np.arange(40) // 4 % 4, np.arange(40) // 16], axis=1
    )
    frames = write_trajectory(tmp_path / "a.dcd", places_.astype(np.float32))
    made = timme.analyse(topology, frames)
    assert made.recipe.options["objects"] == objects
    assert timme.analyse(topology, frames, objects="points").recipe.kind == "points"


def test_the_length_of_links_knows_the_box() -> None:
    """A link that crosses the border of a periodic box is not as long as the box."""
    rng = np.random.default_rng(0)
    rest = np.array([[0.5, 5.0, 5.0], [9.5, 5.0, 5.0], [8.5, 5.0, 5.0], [7.5, 5.0, 5.0]])
    snapshots = rest + rng.normal(scale=0.01, size=(4, 4, 3))
    atoms = Atoms.unnamed(4, bonds=[(0, 1), (1, 2), (2, 3)])
    ensemble = Ensemble.from_array(snapshots, atoms=atoms, boxes=[10.0, 10.0, 10.0])
    made = timme.analyse(ensemble)
    assert made.length == pytest.approx(1.0, abs=0.05)


# ---- tracks with gaps --------------------------------------------------------------------------


def test_gaps_are_compared_where_both_are_seen(tmp_path: Path) -> None:
    snapshots = np.round(wandering(10, 6, 2), 4)
    unseen = [(frame, 1) for frame in range(3)] + [(9, 2)] + [(frame, 5) for frame in range(7)]
    path = write_tracks(tmp_path / "a.csv", snapshots, unseen=unseen)
    made = timme.analyse(path)
    assert made.hierarchy.n_sites == 5  # particle 5 is seen in 3 of 10
    assert made.system.sites.resids.tolist() == [0, 1, 2, 3, 4]
    expected = naive_sigma(snapshots[3:9, [1, 2]])[0, 1]
    assert sigma_of(made, 1, 2) == pytest.approx(expected, rel=1e-6)
    assert any("left out 1 of 6 sites" in note and "5 of 10" in note for note in made.notes)
    assert any(note.endswith("both are seen, at least 5, as all pairs do") for note in made.notes)
    assert np.isfinite(made.system.coordinates).all()


def test_a_single_pair_that_shares_too_few_snapshots_is_told_as_one(tmp_path: Path) -> None:
    early, late = [(frame, 1) for frame in range(4)], [(frame, 2) for frame in range(6, 10)]
    path = write_tracks(tmp_path / "a.csv", wandering(10, 4, 2), unseen=[*early, *late])
    made = timme.analyse(path)
    assert any(note.endswith("at least 5; 1 pair shares fewer") for note in made.notes)


def test_the_overlap_may_be_chosen(tmp_path: Path) -> None:
    snapshots = wandering(10, 6, 2)
    unseen = [(frame, 5) for frame in range(7)]
    path = write_tracks(tmp_path / "a.csv", snapshots, unseen=unseen)
    made = timme.analyse(path, min_overlap=3)
    assert made.hierarchy.n_sites == 6
    assert any("at least 3" in note for note in made.notes)


def test_columns_may_have_other_names(tmp_path: Path) -> None:
    path = write_tracks(tmp_path / "a.csv", wandering(5, 4, 2))
    other = tmp_path / "b.csv"
    other.write_text(path.read_text().replace("frame,particle,x,y", "t,id,X µm,Y µm"))
    one = timme.analyse(path)
    two = timme.analyse(other, columns=["t", "id", "X µm", "Y µm"])
    np.testing.assert_array_equal(one.hierarchy.heights, two.hierarchy.heights)


# ---- weights, box, units, frames ---------------------------------------------------------------


def test_snapshots_of_weight_zero_do_not_count() -> None:
    snapshots = wandering(6, 5)
    weighted = timme.analyse(snapshots, weights=[1, 1, 0, 1, 0, 0])
    plain = timme.analyse(snapshots[[0, 1, 3]])
    np.testing.assert_allclose(weighted.hierarchy.heights, plain.hierarchy.heights, rtol=1e-9)


def test_weights_count_snapshots_several_times() -> None:
    snapshots = wandering(3, 5)
    weighted = timme.analyse(snapshots, weights=[2, 1, 3])
    plain = timme.analyse(snapshots[[0, 0, 1, 2, 2, 2]])
    np.testing.assert_allclose(weighted.hierarchy.heights, plain.hierarchy.heights, rtol=1e-9)
    assert weighted.recipe.options["weights"] in ([2, 1, 3], (2, 1, 3))


def test_a_box_makes_distances_those_of_the_nearest_image() -> None:
    rng = np.random.default_rng(0)
    points = np.array([[0.2, 5.0, 5.0], [9.8, 5.0, 5.0], [8.0, 5.0, 5.0]])
    snapshots = points + rng.normal(scale=0.05, size=(6, 3, 3))
    wrapped = np.mod(snapshots, 10.0)
    boxed = timme.analyse(wrapped, box=[10.0, 10.0, 10.0], radius=3.0)
    unwrapped = snapshots.copy()
    unwrapped[:, 0, 0] += 10.0
    plain = timme.analyse(unwrapped, radius=3.0)
    np.testing.assert_allclose(boxed.hierarchy.heights, plain.hierarchy.heights, rtol=1e-6)
    assert boxed.system.box is not None
    np.testing.assert_array_equal(boxed.system.box, np.diag([10.0, 10.0, 10.0]))


def test_the_box_of_a_file_may_be_ignored(tmp_path: Path) -> None:
    top = write_pdb(tmp_path / "top.pdb", [waters(4)])
    rest = places(waters(4)).astype(np.float32)
    frames = rest + np.random.default_rng(0).normal(scale=0.1, size=(5, 12, 3)).astype(np.float32)
    path = write_trajectory(tmp_path / "a.xtc", frames, box=(30.0, 30.0, 30.0, 90.0, 90.0, 90.0))
    assert timme.analyse(top, path).system.box is not None
    assert timme.analyse(top, path, box=False).system.box is None


def test_other_units_scale_every_default(tmp_path: Path) -> None:
    models = swinging(12)
    usual = timme.analyse(write_pdb(tmp_path / "a.pdb", models))
    smaller = [moved(model, 0.1 * places(model)) for model in models]
    made = timme.analyse(write_pdb(tmp_path / "b.pdb", smaller), unit="nm")
    assert made.hierarchy.unit == "nm"
    assert made.recipe.options["radius"] == pytest.approx(1.0)
    assert made.length == pytest.approx(0.154)
    np.testing.assert_array_equal(made.system.sites.bonds, usual.system.sites.bonds)
    # The grid of the file is ten times coarser, 0.01 Å.
    np.testing.assert_allclose(
        10 * made.hierarchy.heights[-1], usual.hierarchy.heights[-1], atol=0.01
    )


def test_snapshots_are_chosen_as_in_a_slice() -> None:
    snapshots = wandering(12, 5)
    made = timme.analyse(snapshots, start=2, stop=11, step=3)
    plain = timme.analyse(snapshots[2:11:3])
    assert made.system.n_snapshots == 3
    np.testing.assert_array_equal(made.hierarchy.heights, plain.hierarchy.heights)


def test_several_trajectories_follow_one_another(tmp_path: Path) -> None:
    top = write_pdb(tmp_path / "top.pdb", [waters(4)])
    rest = places(waters(4)).astype(np.float32)
    frames = rest + np.random.default_rng(0).normal(scale=0.1, size=(6, 12, 3)).astype(np.float32)
    whole = write_trajectory(tmp_path / "a.dcd", frames)
    parts = [
        write_trajectory(tmp_path / "b.dcd", frames[:2]),
        write_trajectory(tmp_path / "c.trr", frames[2:]),
    ]
    one, two = timme.analyse(top, whole), timme.analyse(top, parts)
    assert two.system.n_snapshots == 6
    np.testing.assert_allclose(one.hierarchy.heights, two.hierarchy.heights, rtol=1e-4)
    inputs = two.recipe.provenance.inputs
    assert [entry.name for entry in inputs] == ["top.pdb", "b.dcd", "c.trr"]


# ---- matrices ----------------------------------------------------------------------------------


def test_a_square_array_is_a_matrix_of_sigma(tmp_path: Path) -> None:
    matrix = naive_sigma(wandering())
    np.save(tmp_path / "m.npy", matrix)
    made = timme.analyse(tmp_path / "m.npy", unit="Å", length=2.0)
    np.testing.assert_array_equal(made.hierarchy.heights, timme.link(matrix).heights)
    assert (made.hierarchy.unit, made.length, made.system.n_snapshots) == ("Å", 2.0, 0)
    assert made.fluctuations is not None
    np.testing.assert_array_equal(made.fluctuations.matrix(), matrix)
    assert made.system.names.tolist() == [str(k) for k in range(1, 9)]


def test_a_matrix_or_its_file_goes_straight_to_link(tmp_path: Path) -> None:
    matrix = naive_sigma(wandering())
    np.save(tmp_path / "m.npy", matrix)
    (tmp_path / "pae.json").write_text(f'{{"pae": {matrix.tolist()}}}')
    for source in (matrix, tmp_path / "m.npy", str(tmp_path / "pae.json")):
        np.testing.assert_array_equal(timme.link(source).heights, timme.link(matrix).heights)


def test_predicted_aligned_errors_are_called_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "pae.json").write_text(f'{{"pae": {naive_sigma(wandering()).tolist()}}}')
    made = timme.analyse(tmp_path / "pae.json")
    quantity = made.hierarchy.quantity
    assert (quantity.symbol, quantity.unit, quantity.clusters) == ("PAE", "Å", "clusters")
    assert quantity.words == "predicted aligned error"
    assert timme.link(tmp_path / "pae.json").quantity == quantity
    assert made.fluctuations is not None
    assert made.fluctuations.unit == made.system.unit == "Å"
    told = dict(summary(made))
    assert told["cutoffs"].startswith("PAE = ")
    shown = json.dumps(scene_of(made), ensure_ascii=False)
    assert "predicted aligned error" in shown
    assert not any(word in shown for word in ("σ", "co-moving"))
    assert draw(made, "dilution", Look()).axes[0].get_ylabel() == "PAE cutoff (Å)"


def test_the_user_may_know_a_matrix_better_than_its_file(tmp_path: Path) -> None:
    matrix = naive_sigma(wandering())
    (tmp_path / "pae.json").write_text(f'{{"pae": {matrix.tolist()}}}')
    assert timme.analyse(tmp_path / "pae.json", unit="nm").hierarchy.unit == "nm"
    assert timme.link(tmp_path / "pae.json", quantity="d").quantity == Quantity("d")
    np.save(tmp_path / "m.npy", matrix)
    assert timme.analyse(tmp_path / "m.npy").hierarchy.quantity == SIGMA


@pytest.mark.parametrize("suffix", [".mtx", ".mtx.gz"])
def test_pairs_that_a_sparse_matrix_lacks_are_not_compared(tmp_path: Path, suffix: str) -> None:
    text = b"%%MatrixMarket matrix coordinate real symmetric\n5 5 3\n2 1 0.5\n3 2 0.0\n5 4 2.0\n"
    path = tmp_path / f"a{suffix}"
    if suffix.endswith(".gz"):
        text = gzip.compress(text)
    path.write_bytes(text)
    made = timme.analyse(path)
    assert made.hierarchy.heights.tolist() == [0.0, 0.5, 2.0]
    assert made.hierarchy.cut(1.0).labels.tolist() == [0, 0, 0, 1, 2]
    assert np.count_nonzero(made.hierarchy.parents < 0) == 2


def test_what_does_not_concern_a_matrix_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", 1.0 - np.eye(4))
    for options in ({"select": "ca"}, {"objects": "residues"}, {"radius": 3.0}, {"show": "ca"}):
        with pytest.raises(ValueError, match="matrix"):
            timme.analyse(tmp_path / "m.npy", **options)


# ---- settings, summary, notes ------------------------------------------------------------------


def test_options_and_settings_are_the_same(protein: Path) -> None:
    one = timme.analyse(protein, select="ca", radius=8.0)
    two = timme.analyse(protein, settings=Settings(select="ca", radius=8.0))
    three = timme.analyse(protein, settings=Settings(select="ca"), radius=8.0)
    assert one.recipe.settings == two.recipe.settings == three.recipe.settings
    np.testing.assert_array_equal(one.hierarchy.heights, two.hierarchy.heights)


def test_an_option_that_does_not_exist_is_refused(protein: Path) -> None:
    with pytest.raises(TypeError, match="raduis"):
        timme.analyse(protein, raduis=3.0)


def test_a_library_call_leaves_its_arguments_alone() -> None:
    snapshots = wandering()
    before = snapshots.copy()
    timme.analyse(snapshots)
    np.testing.assert_array_equal(snapshots, before)


def test_warnings_for_the_user_become_notes() -> None:
    near_half = np.array([[0.0, 0.0, 0.0], [4.9, 0.0, 0.0]])
    snapshots = near_half + np.random.default_rng(0).normal(scale=0.1, size=(5, 2, 3))
    made = timme.analyse(snapshots, box=[10.0, 10.0, 10.0])
    assert any("half the periodic box" in note for note in made.notes)


def test_the_summary_tells_cutoffs_with_reasons(protein: Path) -> None:
    rows = summary(timme.analyse(protein))
    names = [name for name, _ in rows if name]
    assert names == [
        "input",
        "snapshots",
        "sites",
        "objects",
        "pairs",
        "sampling",
        "trusted",
        "converged",
        "bodies",
        "shown",
        "levels",
        "cutoffs",
    ]
    cutoffs = [text for _, text in rows[[name for name, _ in rows].index("cutoffs") :]]
    assert all(text.startswith("σc = ") and "largest" in text for text in cutoffs)


def test_the_users_cutoff_comes_first(protein: Path) -> None:
    rows = dict(summary(timme.analyse(protein, cutoff=0.1)))
    assert rows["cutoffs"].startswith("σc = 0.1 Å (σc/a = 0.0649): chosen by the user; largest 12")


@pytest.mark.usefixtures("without_figures")
def test_a_written_result_is_the_analysis(tmp_path: Path) -> None:
    made = timme.analyse(timme.synthetic.chain(30, 3))
    timme.write(made, tmp_path / "out")
    again = timme.load(tmp_path / "out" / "result.npz")
    np.testing.assert_array_equal(again.hierarchy.parents, made.hierarchy.parents)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        timme.write(made, tmp_path / "out")


def test_models_in_another_order_give_the_same_hierarchy(tmp_path: Path) -> None:
    models = swinging()
    mixed: list[list[Record]] = [models[0], *models[:0:-1]]
    one = timme.analyse(write_pdb(tmp_path / "a.pdb", models))
    two = timme.analyse(write_pdb(tmp_path / "b.pdb", mixed))
    np.testing.assert_allclose(one.hierarchy.heights, two.hierarchy.heights, rtol=1e-9)


def test_one_file_for_each_snapshot_is_the_same_as_one_for_all(tmp_path: Path) -> None:
    models = shaken(peptide(n_residues=8), 4)
    paths = [write_pdb(tmp_path / f"{k}.pdb", [model]) for k, model in enumerate(models)]
    one = timme.analyse(write_pdb(tmp_path / "a.pdb", models))
    two = timme.analyse(paths)
    np.testing.assert_array_equal(one.hierarchy.heights, two.hierarchy.heights)
    inputs = two.recipe.provenance.inputs
    assert len(inputs) == 4


# ---- pairs that are drawn where all are too many ------------------------------------------------


def test_of_too_many_pairs_some_are_kept_for_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    snapshots = rng.uniform(0, 20, (60, 3)) + 0.3 * rng.normal(size=(8, 60, 3))
    whole = timme.analyse(snapshots, pairs="all")
    monkeypatch.setattr("timme.workflow.kept_pairs.KEPT_PAIRS", 100)
    monkeypatch.setattr("timme.workflow.kept_pairs._MOST", 20)
    few = timme.analyse(snapshots, pairs="all")
    assert np.array_equal(few.hierarchy.heights, whole.hierarchy.heights)
    assert few.fluctuations is not None
    assert whole.fluctuations is not None
    known, expected = few.fluctuations.matrix(), whole.fluctuations.matrix()
    measured = np.isfinite(known)
    assert np.array_equal(known[measured], expected[measured])
    # A matrix of as many pixels has no holes, and every site has neighbours for sticks.
    order = few.shown[few.shown_hierarchy.order]
    assert np.isfinite(binned_means(few.fluctuations, order, most=20))[
        ~np.eye(20, dtype=bool)
    ].all()
    apart = squareform(pdist(snapshots[0]))
    nearest = apart.argsort(axis=1)[:, 1:7]
    assert measured[np.arange(60)[:, None], nearest].all()
    (note,) = (note for note in few.notes if "too much to keep" in note)
    assert "σ of 1,770 pairs is too much to keep" in note
    assert f"{len(few.fluctuations.sigma):,} of them" in note


def test_of_too_large_a_matrix_some_entries_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix = np.abs(np.subtract.outer(np.arange(50.0), np.arange(50.0)))
    np.save(tmp_path / "m.npy", matrix)
    monkeypatch.setattr("timme.workflow.kept_pairs.KEPT_PAIRS", 100)
    monkeypatch.setattr("timme.workflow.kept_pairs._MOST", 10)
    found = timme.analyse(tmp_path / "m.npy")
    assert found.fluctuations is not None
    assert len(found.fluctuations.sigma) == 45
    first, second = found.fluctuations.pairs.T
    assert np.array_equal(found.fluctuations.sigma, matrix[first, second])
    assert "too much to keep" in found.notes[0]
