"""Clusters for GROMACS, PLUMED, ChimeraX and OVITO, in the numbers of the user's own files."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import timme
from timme._arrays import Floats
from timme.analysis import Analysis
from timme.output.groups import write_groups
from timme.readers import read

CUTOFF = 0.2
TILTED = np.array([[40.0, 0.0, 0.0], [10.0, 41.0, 0.0], [5.0, -8.0, 42.0]])


def two_bodies(n_snapshots: int = 20) -> Floats:
    """Seven points that move as one, three others that do, and two that wander."""
    rng = np.random.default_rng(0)
    shape = rng.uniform(0.0, 6.0, size=(12, 3))
    walk = rng.normal(scale=1.5, size=(n_snapshots, 4, 3))
    return shape + walk[:, [0] * 7 + [1] * 3 + [2, 3]]


def gro(path: Path, positions: Floats) -> Path:
    """A topology in which two solvent molecules stand before what is analysed."""
    atoms = [(1, "SOL", "OW"), (2, "SOL", "OW")]
    atoms += [(k // 2 + 3, "LIG", f"C{k % 2}") for k in range(len(positions) - 2)]
    lines = ["made", str(len(atoms))]
    for k, ((number, residue, name), (x, y, z)) in enumerate(zip(atoms, positions, strict=True)):
        lines.append(
            f"{number:5d}{residue:<5}{name:>5}{k + 1:5d}{x / 10:8.3f}{y / 10:8.3f}{z / 10:8.3f}"
        )
    path.write_text("\n".join([*lines, "   0.0 0.0 0.0", ""]))
    return path


def molecules(folder: Path) -> Analysis:
    bodies = two_bodies()
    solvent = np.random.default_rng(1).uniform(30.0, 40.0, size=(len(bodies), 2, 3))
    positions = np.concatenate([solvent, bodies], axis=1)
    topology = gro(folder / "top.gro", positions[0])
    lines = list[str]()
    for frame in positions:
        lines += [str(len(frame)), "", *(f"C {x:.4f} {y:.4f} {z:.4f}" for x, y, z in frame)]
    trajectory = folder / "run.xyz"
    trajectory.write_text("\n".join(lines) + "\n")
    return timme.analyse(
        topology,
        trajectory,
        select="resname LIG",
        objects="points",
        pairs="all",
        bonds="none",
        show="all",
    )


def particles(box: Floats | None = None, unit: str = "nm") -> Analysis:
    return timme.analyse(two_bodies(), unit=unit, box=box, pairs="all", objects="points")


def index_groups(text: str) -> dict[str, list[int]]:
    parts = re.split(r"\[ (\w+) \]", text)[1:]
    return {
        name: [int(n) for n in body.split()]
        for name, body in zip(parts[::2], parts[1::2], strict=True)
    }


def test_index_groups_count_the_atoms_of_the_topology(tmp_path: Path) -> None:
    write_groups(molecules(tmp_path), tmp_path, CUTOFF)
    text = (tmp_path / "groups.ndx").read_text()
    assert text.startswith("; Co-moving clusters at the cutoff 0.2")
    assert index_groups(text) == {
        "cluster_1": [3, 4, 5, 6, 7, 8, 9],
        "cluster_2": [10, 11, 12],
        "rest": [13, 14],
    }


def test_groups_of_plumed_are_the_same(tmp_path: Path) -> None:
    write_groups(molecules(tmp_path), tmp_path, CUTOFF)
    lines = (tmp_path / "groups.plumed").read_text().splitlines()
    assert lines[1:] == [
        "cluster_1: GROUP ATOMS=3-9",
        "cluster_2: GROUP ATOMS=10-12",
        "rest: GROUP ATOMS=13-14",
    ]


def test_names_for_chimerax_are_residues_and_atoms_of_those_that_are_split(tmp_path: Path) -> None:
    made = molecules(tmp_path)
    write_groups(made, tmp_path, CUTOFF)
    lines = (tmp_path / "groups.cxc").read_text().splitlines()
    assert lines[1:] == ["name cluster_1 :3-5 | :6@C0", "name cluster_2 :7 | :6@C1"]


def test_a_kept_result_still_knows_the_numbers(tmp_path: Path) -> None:
    timme.save(molecules(tmp_path), tmp_path / "a.npz")
    kept = timme.load(tmp_path / "a.npz")
    assert kept.system.atom_numbers is not None
    assert kept.system.atom_numbers.tolist() == [*range(3, 15)]


@pytest.mark.parametrize(
    "box",
    [
        None,
        np.diag([40.0, 41.0, 42.0]),
        np.diag([40.0, 41.0, 0.0]),
        TILTED,
        TILTED @ np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0],
    ],
    ids=["none", "straight", "film", "tilted", "turned"],
)
@pytest.mark.filterwarnings("ignore:.*half the periodic box")
def test_particles_and_their_box_come_back_from_both_files(
    tmp_path: Path, box: Floats | None
) -> None:
    given = None if box is None else np.array([box] * 20)
    made = timme.analyse(two_bodies(), unit="nm", box=given, pairs="all", objects="points")
    write_groups(made, tmp_path, CUTOFF)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clusters.dump", "clusters.extxyz"]
    for name in ("clusters.extxyz", "clusters.dump"):
        ensemble = read(tmp_path / name, bonds="none")
        found, found_box = ensemble.snapshot(0)
        corner = found[0] - made.system.coordinates[0]  # a dump counts from the corner of the box
        np.testing.assert_allclose(found - corner, made.system.coordinates, atol=1e-5)
        if box is None:
            assert found_box is None
        else:
            assert found_box is not None
            assert made.system.box is not None
            lengths = np.sort(np.linalg.norm(found_box, axis=1))
            known = np.sort(np.linalg.norm(made.system.box, axis=1))
            np.testing.assert_allclose(lengths, known, rtol=1e-6)


def test_the_cluster_of_each_particle_stands_in_its_row(tmp_path: Path) -> None:
    write_groups(particles(), tmp_path, CUTOFF)
    expected = [1] * 7 + [2] * 3 + [0] * 2
    for name, first in (("clusters.extxyz", 2), ("clusters.dump", 9)):
        rows = [line.split() for line in (tmp_path / name).read_text().splitlines()[first:]]
        assert [int(row[-1]) for row in rows] == expected
        assert [int(row[0]) for row in rows] == [*range(1, 13)]


@pytest.mark.parametrize("first", [7, 0, -1])
def test_particles_keep_the_ids_of_their_file(tmp_path: Path, first: int) -> None:
    rows = [
        f"{frame},{10 * particle + first},{x},{y}"
        for frame, places in enumerate(two_bodies()[:, :, :2])
        for particle, (x, y) in enumerate(places)
    ]
    path = tmp_path / "tracks.csv"
    path.write_text("\n".join(["frame,particle,x,y", *rows]))
    write_groups(timme.analyse(path), tmp_path, CUTOFF)
    for name, header in (("clusters.dump", 9), ("clusters.extxyz", 2)):
        body = (tmp_path / name).read_text().splitlines()[header:]
        assert [int(line.split()[0]) for line in body] == [10 * k + first for k in range(12)]


def lammps_files(folder: Path, ids: list[int], dumped: list[int]) -> tuple[Path, Path]:
    """A data file whose molecules have numbers too, and a dump, each in an order of its own."""
    places = two_bodies() + 20.0
    rows = [
        f"{ids[k]} {100 - k} 1 " + " ".join(f"{x:.6f}" for x in places[0, k])
        for k in np.random.default_rng(1).permutation(12)
    ]
    bounds = [f"0 50 {axis}lo {axis}hi" for axis in "xyz"]
    data = folder / "a.data"
    parts = ["made", "", "12 atoms", "1 atom types", "", *bounds, "", "Masses", "", "1 1.0", ""]
    data.write_text("\n".join([*parts, "Atoms # bond", "", *rows, ""]))
    lines = list[str]()
    for step, frame in enumerate(places):
        lines += ["ITEM: TIMESTEP", str(step), "ITEM: NUMBER OF ATOMS", "12"]
        lines += ["ITEM: BOX BOUNDS ff ff ff", *["0 50"] * 3, "ITEM: ATOMS id x y z"]
        lines += [f"{dumped[k]} {x:.6f} {y:.6f} {z:.6f}" for k, (x, y, z) in enumerate(frame)][::-1]
    dump = folder / "a.dump"
    dump.write_text("\n".join(lines) + "\n")
    return data, dump


def test_particles_keep_the_ids_of_a_data_file(tmp_path: Path) -> None:
    ids = [3 * k + 7 for k in range(12)]
    data, dump = lammps_files(tmp_path, ids, ids)
    write_groups(timme.analyse(data, dump, objects="points", pairs="all"), tmp_path, CUTOFF)
    for name, header in (("clusters.dump", 9), ("clusters.extxyz", 2)):
        body = [row.split() for row in (tmp_path / name).read_text().splitlines()[header:]]
        assert [int(row[0]) for row in body] == ids
        assert [int(row[-1]) for row in body] == [1] * 7 + [2] * 3 + [0] * 2
    again = timme.read(tmp_path / "clusters.extxyz", bonds="none")
    assert again.numbers is not None
    assert again.numbers.tolist() == ids


def test_a_dump_of_other_ids_is_not_that_of_the_data_file(tmp_path: Path) -> None:
    ids = [3 * k + 7 for k in range(12)]
    data, dump = lammps_files(tmp_path, ids, [k + 1000 for k in range(12)])
    with pytest.raises(
        ValueError, match=r"a\.dump: its atoms are not those of .*a\.data, see id 7"
    ):
        timme.read(data, dump)


def test_particles_of_gsd_files_are_no_molecules(tmp_path: Path) -> None:
    """What stands in the place of their residue names is the number of a rigid body."""
    gsd = pytest.importorskip("gsd.hoomd", reason="needs gsd: pip install 'pytimme[formats]'")
    path = tmp_path / "a.gsd"
    with gsd.open(str(path), "w") as file:
        for step, places in enumerate(two_bodies()):
            frame = gsd.Frame()
            frame.configuration.step, frame.configuration.box = step, [90, 90, 90, 0, 0, 0]
            frame.particles.N, frame.particles.position = 12, places
            frame.particles.body = [0] * 7 + [1] * 3 + [-1] * 2
            file.append(frame)
    made = timme.analyse(path, objects="points", pairs="all")
    names = {written.name for written in write_groups(made, tmp_path, CUTOFF)}
    assert names == {"clusters.extxyz", "clusters.dump"}
    rows = [row.split() for row in (tmp_path / "clusters.dump").read_text().splitlines()[9:]]
    assert [int(row[-1]) for row in rows] == [1] * 7 + [2] * 3 + [0] * 2


def test_names_that_are_no_elements_are_no_species(tmp_path: Path) -> None:
    names = ["Zr", "cell 1", "D", *"abcdefghi"]
    rows = [
        f"{frame},{names[particle]},{x},{y}"
        for frame, places in enumerate(two_bodies()[:, :, :2])
        for particle, (x, y) in enumerate(places)
    ]
    path = tmp_path / "tracks.csv"
    path.write_text("\n".join(["frame,particle,x,y", *rows]))
    write_groups(timme.analyse(path), tmp_path, CUTOFF)
    title, *body = (tmp_path / "clusters.extxyz").read_text().splitlines()[1:]
    assert title == "Properties=id:I:1:species:S:1:pos:R:3:name:S:1:cluster:I:1"
    told = {line.split()[5]: line.split()[1] for line in body}
    assert told == {name.replace(" ", "_"): "Zr" if name == "Zr" else "X" for name in names}


def models(orders: list[list[int]]) -> str:
    """Models of twelve carbons, and a water before them, listed in given orders."""
    lines = list[str]()
    for number, (order, places) in enumerate(zip(orders, two_bodies(), strict=False), start=1):
        atoms = [("HOH", 1, "O", np.full(3, 90.0))]
        atoms += [("LIG", 2, f"C{k}", place) for k, place in enumerate(places)]
        lines.append(f"MODEL     {number:4d}")
        for serial, k in enumerate(order, start=11):  # numbers are places, whatever the file says
            residue, resid, name, (x, y, z) = atoms[k]
            lines.append(
                f"HETATM{serial:5d} {name:<4} {residue} A{resid:4d}    {x:8.3f}{y:8.3f}{z:8.3f}"
                f"  1.00  0.00          {name[0]:>2}"
            )
        lines.append("ENDMDL")
    return "\n".join([*lines, "END", ""])


@pytest.mark.parametrize("alike", [True, False])
def test_models_have_numbers_where_all_list_their_atoms_alike(
    tmp_path: Path, *, alike: bool
) -> None:
    order = [*range(13)]
    orders = [order] * 10 if alike else [order, order[::-1]] * 5
    path = tmp_path / "models.pdb"
    path.write_text(models(orders))
    made = timme.analyse(
        path, select="resname LIG", objects="points", pairs="all", bonds="none", show="all"
    )
    names = {each.name for each in write_groups(made, tmp_path, CUTOFF)}
    assert ("groups.ndx" in names) == ("groups.plumed" in names) == alike
    assert any("no index groups" in note for note in made.notes) != alike
    if alike:
        groups = index_groups((tmp_path / "groups.ndx").read_text())
        assert groups["cluster_1"] == [*range(2, 9)]
        assert sorted(n for group in groups.values() for n in group) == [*range(2, 14)]


@pytest.mark.usefixtures("blank_figures")
def test_a_run_writes_them_and_replaces_those_of_an_earlier_one(tmp_path: Path) -> None:
    made = molecules(tmp_path)
    names = {path.name for path in timme.write(made, tmp_path / "out").paths}
    assert {"groups.ndx", "groups.plumed", "groups.cxc"} <= names
    assert not {"clusters.dump", "clusters.extxyz"} & names
    names = {path.name for path in timme.write(particles(), tmp_path / "out", overwrite=True).paths}
    assert {"clusters.dump", "clusters.extxyz"} <= names
    assert not (tmp_path / "out" / "groups.ndx").exists()
