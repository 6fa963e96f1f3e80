from pathlib import Path
from typing import Any, NamedTuple

import gemmi
import MDAnalysis as mda
import numpy as np
import pytest

from tests.output.builders import linked, particles, random_graph, residues
from timme.analysis import Analysis
from timme.output.colours import colouring
from timme.output.structures import write_structures
from timme.system.atoms import Atoms

CUTOFF = 0.03


def expected_b_factors(analysis: Analysis, min_size: int = 3) -> list[float]:
    labels = colouring(analysis, CUTOFF, min_size=min_size).labels
    return [float(label) for label in np.append(labels, -1)[analysis.system.site_objects] + 1]


class Read(NamedTuple):
    """An atom as it stands in a file."""

    serial: int
    position: list[float]
    b_factor: float


def atoms_of(path: Path) -> list[Read]:
    made = gemmi.read_structure(str(path))  # atoms live no longer than their structure
    atoms = (item.atom for item in made[0].all())
    return [Read(atom.serial, atom.pos.tolist(), atom.b_iso) for atom in atoms]


@pytest.mark.parametrize("make", [particles, residues])
def test_both_formats_hold_every_site_with_its_cluster(make: Any, tmp_path: Path) -> None:
    analysis = make(random_graph(150, 4))
    written = write_structures(analysis, tmp_path, CUTOFF)
    assert [path.name for path in written.paths] == ["clusters.cif", "clusters.pdb"]
    assert written.notes == ()
    expected = expected_b_factors(analysis)
    assert max(expected) >= 2
    for path in written.paths:
        atoms = atoms_of(path)
        assert [atom.b_factor for atom in atoms] == expected
        assert [atom.serial for atom in atoms] == list(range(1, len(expected) + 1))
        positions = np.array([atom.position for atom in atoms])
        assert positions == pytest.approx(analysis.system.coordinates, abs=1e-3)


def test_mdanalysis_reads_the_same_clusters(tmp_path: Path) -> None:
    analysis = residues(random_graph(150, 4))
    write_structures(analysis, tmp_path, CUTOFF)
    universe = mda.Universe(tmp_path / "clusters.pdb")
    assert universe.atoms.tempfactors.tolist() == expected_b_factors(analysis)
    assert universe.atoms.names.tolist() == analysis.system.sites.names.tolist()
    assert universe.atoms.chainIDs.tolist() == analysis.system.sites.chains.tolist()
    assert universe.atoms.resids.tolist() == analysis.system.sites.resids.tolist()


def test_the_file_says_what_the_numbers_mean(tmp_path: Path) -> None:
    write_structures(particles(random_graph(30, 1)), tmp_path, CUTOFF)
    for name in ("clusters.cif", "clusters.pdb"):
        text = (tmp_path / name).read_text()
        assert "1 is the core" in text.replace("\nREMARK 250", "")
        assert text.isascii()


@pytest.mark.parametrize(("dimensions", "kept"), [(1, 1), (2, 2), (3, 3), (5, 3)])
def test_any_dimension_becomes_three(dimensions: int, kept: int, tmp_path: Path) -> None:
    analysis = particles(random_graph(20, 1), dimensions=dimensions)
    write_structures(analysis, tmp_path, CUTOFF)
    positions = np.array([atom.position for atom in atoms_of(tmp_path / "clusters.cif")])
    assert positions[:, :kept] == pytest.approx(analysis.system.coordinates[:, :kept], rel=1e-6)
    assert (positions[:, kept:] == 0).all()


def test_nanometres_become_ångström(tmp_path: Path) -> None:
    graph = random_graph(20, 1)
    in_nm = particles(
        graph,
        hierarchy=linked(graph, "nm"),
        box=np.diag([3.0, 4.0, 5.0]),
    )
    write_structures(in_nm, tmp_path, CUTOFF)
    made = gemmi.read_structure(str(tmp_path / "clusters.cif"))
    assert made.cell.parameters == pytest.approx((30, 40, 50, 90, 90, 90))
    positions = np.array([item.atom.pos.tolist() for item in made[0].all()])
    assert positions == pytest.approx(10 * in_nm.system.coordinates, rel=1e-6)


def test_sites_not_seen_in_the_first_snapshot_are_left_out(tmp_path: Path) -> None:
    analysis = particles(random_graph(40, 1))
    coordinates = np.array(analysis.system.coordinates)
    coordinates[[3, 17]] = np.nan
    gapped = particles(random_graph(40, 1), coordinates=coordinates)
    write_structures(gapped, tmp_path, CUTOFF)
    kept = np.delete(expected_b_factors(gapped), [3, 17])
    assert [atom.b_factor for atom in atoms_of(tmp_path / "clusters.cif")] == kept.tolist()


def test_sites_without_an_object_belong_to_the_rest(tmp_path: Path) -> None:
    graph = (3, [(0, 1), (1, 2)], [0.01, 0.01])
    analysis = particles(graph, site_objects=np.array([0, -1, 2]))
    write_structures(analysis, tmp_path, CUTOFF)
    assert [atom.b_factor for atom in atoms_of(tmp_path / "clusters.cif")] == [1, 0, 1]


def renamed(count: int, **columns: Any) -> Analysis:
    known = {name: getattr(Atoms.unnamed(count), name) for name in Atoms.__slots__}
    return particles(random_graph(count, 1), sites=Atoms(**(known | columns)))


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"chains": np.repeat(["A", "chain B"], 6)}, "chain name"),
        ({"chains": np.array([f"chain {k}" for k in range(63)])}, "chain name"),
        ({"resnames": np.full(12, "LONGER")}, "residue name"),
        ({"names": np.full(12, "CARBON")}, "atom name"),
        ({"resids": np.arange(12) + 9990}, "residue number"),
    ],
)
def test_what_does_not_fit_pdb_is_written_as_mmcif_alone(
    columns: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    analysis = renamed(len(next(iter(columns.values()))), **columns)
    written = write_structures(analysis, tmp_path, CUTOFF)
    assert [path.name for path in written.paths] == ["clusters.cif"]
    assert reason in written.notes[0]
    atoms = atoms_of(tmp_path / "clusters.cif")
    assert [atom.b_factor for atom in atoms] == expected_b_factors(analysis)


def test_long_names_of_chains_are_letters_in_pdb(tmp_path: Path) -> None:
    """Segments of simulations are called seg_0_Protein_A and the like."""
    names = np.repeat(["seg_0_Protein_A", "seg_1_Protein_B", "seg_0_Protein_A"], 4)
    analysis = renamed(12, chains=names)
    written = write_structures(analysis, tmp_path, CUTOFF)
    assert [path.name for path in written.paths] == ["clusters.cif", "clusters.pdb"]
    (note,) = written.notes
    assert "A is seg_0_Protein_A, B is seg_1_Protein_B" in note
    for name, expected in (("pdb", [*"AAAABBBBAAAA"]), ("cif", names.tolist())):
        made = gemmi.read_structure(str(tmp_path / f"clusters.{name}"), merge_chain_parts=False)
        assert [item.chain.name for item in made[0].all()] == expected


def test_amino_acids_of_force_fields_have_their_common_names_in_pdb(tmp_path: Path) -> None:
    names = np.repeat(["LYSH", "NALA", "GLY", "HISB"], 3)
    analysis = renamed(12, resnames=names, resids=np.repeat(np.arange(4), 3))
    (note,) = write_structures(analysis, tmp_path, CUTOFF).notes
    assert "short names (LYS is LYSH, ALA is NALA, HIS is HISB), clusters.cif its own" in note
    atoms = atoms_of(tmp_path / "clusters.pdb")
    assert [atom.b_factor for atom in atoms] == expected_b_factors(analysis)
    made = gemmi.read_structure(str(tmp_path / "clusters.pdb"))
    assert [residue.name for residue in made[0][0]] == ["LYS", "ALA", "GLY", "HIS"]


def test_far_coordinates_do_not_fit_pdb(tmp_path: Path) -> None:
    analysis = particles(random_graph(12, 1), coordinates=np.full((12, 3), -2000.0))
    assert "coordinate" in write_structures(analysis, tmp_path, CUTOFF).notes[0]


@pytest.mark.long
def test_a_hundred_thousand_atoms_are_written_as_mmcif(tmp_path: Path) -> None:
    n_sites = 100_001
    analysis = particles((n_sites, [(0, 100_000), (0, 1)], [0.01, 0.01]))
    written = write_structures(analysis, tmp_path, CUTOFF)
    assert "99999" in written.notes[0]
    atoms = atoms_of(tmp_path / "clusters.cif")
    assert len(atoms) == n_sites
    assert [atoms[k].b_factor for k in (0, 1, 2, 100_000)] == [1, 1, 0, 1]


def test_insertion_codes_and_repeated_numbers_stay_apart(tmp_path: Path) -> None:
    analysis = renamed(
        4,
        resids=np.array([5, 5, 5, 5]),
        icodes=np.array(["", "A", "A", ""]),
        chains=np.array(["A", "A", "B", "A"]),
    )
    write_structures(analysis, tmp_path, CUTOFF)
    for name in ("clusters.cif", "clusters.pdb"):
        made = gemmi.read_structure(str(tmp_path / name), merge_chain_parts=False)
        found = [(item.chain.name, str(item.residue.seqid)) for item in made[0].all()]
        assert found == [("A", "5"), ("A", "5A"), ("B", "5A"), ("A", "5")]
