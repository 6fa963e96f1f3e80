"""Several trajectories of one kind, one after the other, without a topology of another kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.readers.builders import peptide, trajectory_positions, write_pdb, write_trajectory
from tests.readers.test_lammps import dump_text
from timme._arrays import Coordinates
from timme.readers import read

N_ATOMS = 12
FIRST, SECOND = trajectory_positions(3, N_ATOMS), trajectory_positions(7, N_ATOMS)[3:]


def write_gsd(path: Path, positions: Coordinates, types: str = "AB") -> None:
    import gsd.hoomd

    with gsd.hoomd.open(str(path), "w") as file:
        for places in positions:
            frame = gsd.hoomd.Frame()
            frame.particles.N, frame.particles.position = len(places), places
            frame.particles.types, frame.particles.typeid = list(types), np.arange(len(places)) % 2
            frame.configuration.box = [100, 100, 100, 0, 0, 0]
            file.append(frame)


def write_xyz(path: Path, positions: Coordinates) -> None:
    rows = [[f"Ar {x:.6f} {y:.6f} {z:.6f}" for x, y, z in places] for places in positions]
    path.write_text("".join("\n".join([str(len(r)), "", *r, ""]) for r in rows))


def write_dump(path: Path, positions: Coordinates) -> None:
    path.write_text(dump_text(positions))


WRITERS: dict[str, Callable[[Path, Coordinates], object]] = {
    "gsd": write_gsd,
    "xyz": write_xyz,
    "lammpstrj": write_dump,
    "xtc": write_trajectory,
    "dcd": write_trajectory,
}


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("listed", [True, False])
def test_no_snapshot_of_several_trajectories_is_left_out(
    tmp_path: Path, suffix: str, listed: bool
) -> None:
    one, other = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
    WRITERS[suffix](one, FIRST)
    WRITERS[suffix](other, SECOND)
    ensemble = read([one, other]) if listed else read(one, other)
    expected = np.concatenate([FIRST, SECOND])
    assert ensemble.n_snapshots == len(expected)
    found = ensemble.coordinates()
    np.testing.assert_allclose(found - found[:, :1], expected - expected[:, :1], atol=0.02)
    if not listed and suffix in {"gsd", "xyz"}:
        assert any("its 3 snapshots come first" in note for note in ensemble.notes)


def test_one_structure_before_a_trajectory_of_its_kind_is_no_snapshot(tmp_path: Path) -> None:
    one, other = tmp_path / "a.xyz", tmp_path / "b.xyz"
    write_xyz(one, FIRST[:1])
    write_xyz(other, SECOND)
    assert read(one, other).n_snapshots == len(SECOND)
    assert read([one, other]).n_snapshots == len(SECOND) + 1


def test_trajectories_of_several_kinds_need_a_topology(tmp_path: Path) -> None:
    one, other = tmp_path / "a.xtc", tmp_path / "b.dcd"
    write_trajectory(one, FIRST)
    write_trajectory(other, SECOND)
    for given in ((one, other), ([one, other], ())):
        with pytest.raises(ValueError, match=r"a\.xtc: a trajectory has no names"):
            read(*given)
    structure = write_pdb(tmp_path / "a.pdb", [peptide()])
    with pytest.raises(ValueError, match=r"a list of files needs structures"):
        read([structure, one])


def test_particles_of_other_types_are_not_taken_for_the_same(tmp_path: Path) -> None:
    write_gsd(tmp_path / "a.gsd", FIRST)
    write_gsd(tmp_path / "b.gsd", SECOND, types="BA")
    with pytest.raises(ValueError, match=r"b\.gsd: its atoms are not those of .*a\.gsd"):
        read([tmp_path / "a.gsd", tmp_path / "b.gsd"])
