"""Structures and scripts carry groups and clusters exactly, whatever atoms are called."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import gemmi
import numpy as np
import pytest

from timme.analysis.finding import Finding
from timme.analysis.result import Analysis, Made, System
from timme.ensemble import Ensemble
from timme.ensemble.atoms import Atoms
from timme.hierarchy.tree import grow
from timme.output import structures, viewers

N_RESIDUES = 140
HOSTILE = 'A"\n; quit #[exec rm]$x'


def molecule(*, chain: str = "A", resname: str = "GLY", title: str = "made") -> Analysis:
    """Residues of N, CA and C: each is a cluster by itself, and every third has a group."""
    count = 3 * N_RESIDUES
    residue = np.repeat(np.arange(N_RESIDUES), 3)
    sites = replace(
        Atoms.unnamed(count),
        names=np.tile(["N", "CA", "C"], N_RESIDUES),
        elements=np.tile(["N", "C", "C"], N_RESIDUES),
        resnames=np.full(count, resname),
        resids=residue + 1,
        chains=np.full(count, chain),
    )
    places = np.random.default_rng(0).uniform(-3, 3, (count, 3))  # nm
    places[5] = np.nan  # an atom that the first snapshot does not have
    shown = np.arange(1, count, 3)
    bonds = np.array([[3 * k + a, 3 * k + a + 1] for k in range(N_RESIDUES) for a in (0, 1)])
    tree = grow(count, bonds, np.full(len(bonds), 0.1))
    labels = np.where(np.arange(N_RESIDUES) % 3 == 0, np.arange(N_RESIDUES) // 3, -1)
    finding = Finding("bodies", "found", "", (), (), labels, (), 0.2)
    every = np.arange(count)
    system = System(
        *(sites.names, every, every, sites, places, shown), unit="nm", numbers=every + 1000
    )
    settings = Made().settings.model_copy(update={"min_size": 1})
    made = Made(kind="molecule", title=title, settings=settings)
    return Analysis(system, tree, made, finding=finding)


@pytest.mark.parametrize(("chain", "resname"), [("A", "GLY"), ("long name", "LIGAND"), ("", "")])
def test_every_atom_has_its_group_and_its_cluster(chain: str, resname: str) -> None:
    analysis = molecule(chain=chain, resname=resname)
    document = gemmi.cif.read_string(structures.cif(analysis))
    read = gemmi.make_structure_from_block(document.sole_block())
    atoms = [item.atom for item in read[0].all()]
    sites = np.delete(np.arange(3 * N_RESIDUES), 5)
    residue = sites // 3
    assert [atom.b_iso for atom in atoms] == np.where(
        residue % 3 == 0, residue // 3 + 1, 0
    ).tolist()
    partition = analysis.hierarchy.cut(0.2)
    assert [atom.occ for atom in atoms] == (partition.labels[residue] + 1).tolist()
    places = 10 * analysis.system.coordinates[sites]  # Å
    assert np.allclose([atom.pos.tolist() for atom in atoms], places, atol=6e-4)
    assert structures.fits_pdb(analysis) == (chain != "long name")


def test_pdb_has_the_same_columns() -> None:
    analysis = molecule()
    read = gemmi.read_pdb_string(structures.pdb(analysis))
    other = structures.structure(analysis)
    columns = [
        [(a.atom.serial, a.atom.b_iso, a.atom.occ) for a in s[0].all()] for s in (read, other)
    ]
    assert columns[0] == columns[1]
    far = replace(analysis.system, coordinates=analysis.system.coordinates + 1e4)
    assert not structures.fits_pdb(replace(analysis, system=far))


def test_names_of_the_user_are_no_commands() -> None:
    scripts = [
        [make(molecule(title=title, chain=chain, resname=chain[:2] or "GLY"))
         for make in (viewers.pymol, viewers.chimerax, viewers.vmd, structures.ndx)]
        for title, chain in (("made", "A"), (HOSTILE, HOSTILE))
    ]  # fmt: skip
    for usual, hostile in zip(*scripts, strict=True):
        comments = [line for line in hostile.splitlines() if line[:1] in "#;"]
        assert not any({*";$[]\\\"'`"} & {*line[1:]} for line in comments)
        assert all(line.isascii() and line.isprintable() for line in hostile.splitlines())
        assert len(comments) == len([line for line in usual.splitlines() if line[:1] in "#;"])
        rest = [line for line in hostile.splitlines() if line[:1] not in "#;"]
        assert not any("quit" in line or "exec" in line for line in rest)
    document = gemmi.cif.read_string(structures.cif(molecule(chain=HOSTILE, title=HOSTILE)))
    assert len(document) == 1


def test_scripts_address_each_group_by_its_number() -> None:
    analysis = molecule()
    groups = 1 + N_RESIDUES // 3
    pml, cxc, tcl = (make(analysis) for make in (viewers.pymol, viewers.chimerax, viewers.vmd))
    assert len(re.findall(r"^select body_\d+, timme and b=\d+$", pml, re.MULTILINE)) == groups
    assert (
        len(re.findall(r"^select cluster_\d+, timme and q=\d+$", pml, re.MULTILINE)) == N_RESIDUES
    )
    assert len(re.findall(r"@@bfactor=\d+ rgb\([\d,]+\) target ab$", cxc, re.MULTILINE)) == groups
    assert len(re.findall(r"@@occupancy=\d+ & @CA,P rgb", cxc)) == N_RESIDUES
    numbers = [int(number) for number in re.findall(r"color change rgb (\d+)", tcl)]
    assert min(numbers) >= 0
    assert max(numbers) <= 32  # VMD has no more
    colours = re.findall(r"@@bfactor=2 rgb\((\d+),(\d+),(\d+)\)", cxc)
    red, green, blue = (int(part) for part in colours[0])
    assert f"color 0x{red:02x}{green:02x}{blue:02x}, body_2" in pml


def test_index_groups_are_in_the_numbers_of_the_user() -> None:
    analysis = molecule()
    found = re.search(r"\[ group_2 \]\n(.*)\n", structures.ndx(analysis))
    assert found is not None
    assert found[1].split() == ["1009", "1010", "1011"]


@pytest.mark.parametrize("n_dimensions", [2, 3])
def test_particles_are_read_back_with_their_groups(tmp_path: Path, n_dimensions: int) -> None:
    ase_io = pytest.importorskip("ase.io")
    rng, every = np.random.default_rng(1), np.arange(30)
    places = rng.uniform(0, 5, (30, n_dimensions))
    box = 5.0 * np.eye(n_dimensions)
    system = System(
        *(every.astype(str), every, every, Atoms.unnamed(30), places, every), unit="µm", box=box
    )
    labels = np.where(every < 12, 0, -1)
    finding = Finding("groups", "found", "", (), (), labels, (), 0.5)
    tree = grow(30, np.array([[k, k + 1] for k in range(11)]), np.full(11, 0.2))
    analysis = Analysis(system, tree, finding=finding)
    (tmp_path / "a.extxyz").write_text(structures.extxyz(analysis), encoding="utf-8")
    read = ase_io.read(tmp_path / "a.extxyz")
    assert read.arrays["group"].tolist() == read.arrays["cluster"].tolist() == (labels + 1).tolist()
    assert np.allclose(read.positions[:, :n_dimensions], places)
    assert read.pbc.tolist() == [True] * n_dimensions + [False] * (3 - n_dimensions)


def test_snapshots_are_written_as_they_are(tmp_path: Path) -> None:
    places = np.random.default_rng(2).uniform(-2, 2, (4, 9, 3))
    ensemble = Ensemble.from_array(places, unit="nm")
    path = structures.write_snapshots(ensemble, tmp_path / "laid.pdb")
    models = gemmi.read_structure(str(path))
    read = [[a.atom.pos.tolist() for a in model.all()] for model in models]
    assert np.allclose(np.array(read), 10 * places, atol=6e-3)
    named = replace(ensemble.sites, chains=np.full(9, "4AKE"))
    structures.write_snapshots(Ensemble.from_array(places, atoms=named), path)
    with pytest.raises(ValueError, match=r"laid.xtc: snapshots are written as .pdb"):
        structures.write_snapshots(ensemble, tmp_path / "laid.xtc")
