"""GRO files of one or more frames."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.readers.builders import trajectory_positions
from timme._arrays import Coordinates
from timme.readers import read
from timme.system.ensemble import Ensemble
from timme.workflow import analyse

N_ATOMS = 6
BRICK = (3.0, 3.1, 3.2)
TILTED = (3.0, 2.8, 2.6, 0.0, 0.0, 0.5, 0.0, -0.4, 0.3)


def gro_text(
    positions: Coordinates,
    *,
    decimals: int = 3,
    box: Sequence[float] = BRICK,
    velocities: bool = False,
) -> str:
    """Frames in a row, as ``gmx trjconv`` writes them; positions in Å."""
    lines = list[str]()
    for number, frame in enumerate(positions):
        lines += [f"Protein t= {number:.5f} step= {number}", f"{len(frame):5d}"]
        for atom, place in enumerate(frame):
            numbers = "".join(f"{x / 10:{decimals + 5}.{decimals}f}" for x in place)
            moving = "".join(f"{0.1:{decimals + 5}.{decimals + 1}f}" for _ in range(3))
            name = f"{atom + 1:5d}{'ALA':<5}{'CA':>5}{atom + 1:5d}"
            lines.append(name + numbers + moving * velocities)
        lines.append("".join(f"{length:10.5f}" for length in box))
    return "\n".join(lines) + "\n"


def write_gro(path: Path, positions: Coordinates, **options: object) -> Path:
    path.write_text(gro_text(positions, **options))  # type: ignore[arg-type]
    return path


def coordinates(ensemble: Ensemble) -> Coordinates:
    return ensemble.frames.read(0, ensemble.n_snapshots)[0]


@pytest.mark.parametrize("velocities", [False, True])
@pytest.mark.parametrize("decimals", [2, 3, 5])
def test_all_frames_are_read_at_any_precision(
    tmp_path: Path, decimals: int, velocities: bool
) -> None:
    positions = trajectory_positions(4, N_ATOMS)
    path = write_gro(tmp_path / "a.gro", positions, decimals=decimals, velocities=velocities)
    ensemble = read(path)
    np.testing.assert_allclose(coordinates(ensemble), positions, atol=1e-5)
    assert ensemble.rounding == pytest.approx(10.0 ** (1 - decimals))
    assert ensemble.atoms.names.tolist() == ["CA"] * N_ATOMS


def test_frames_of_several_files_follow_one_another(tmp_path: Path) -> None:
    one, two = trajectory_positions(3, N_ATOMS), trajectory_positions(5, N_ATOMS, seed=1)
    first = write_gro(tmp_path / "ca.gro", one[:1])
    paths = [write_gro(tmp_path / "a.gro", one), write_gro(tmp_path / "b.gro", two)]
    ensemble = read(first, paths)
    np.testing.assert_allclose(coordinates(ensemble), np.concatenate([one, two]), atol=1e-5)
    chosen = read(first, paths, start=2, step=3)
    np.testing.assert_allclose(coordinates(chosen), np.concatenate([one[2:], two[2:3]]), atol=1e-5)


def test_a_frame_is_that_of_mdanalysis(tmp_path: Path) -> None:
    import MDAnalysis as mda

    path = write_gro(tmp_path / "a.gro", trajectory_positions(1, N_ATOMS), box=TILTED)
    universe = mda.Universe(str(path))
    ensemble = read(path)
    found, box = ensemble.snapshot()
    np.testing.assert_allclose(found, universe.atoms.positions, atol=1e-5)
    assert box is not None
    expected = universe.trajectory.ts.triclinic_dimensions
    shifts = box @ np.linalg.inv(expected)  # two sets of vectors of one lattice
    np.testing.assert_allclose(shifts, np.round(shifts), atol=1e-4)
    assert abs(np.linalg.det(box)) == pytest.approx(10.0**3 * 3.0 * 2.8 * 2.6, rel=1e-5)


def test_a_box_of_no_length_is_open_space(tmp_path: Path) -> None:
    path = write_gro(tmp_path / "a.gro", trajectory_positions(2, N_ATOMS), box=(0.0, 0.0, 0.0))
    assert read(path).snapshot()[1] is None


@pytest.mark.parametrize("box", [(40000.0,) * 3, (4000.0, 4000.0, 4000.0, 0, 0, -1000.0, 0, 0, 0)])
def test_numbers_of_a_huge_box_need_no_blanks(tmp_path: Path, box: tuple[float, ...]) -> None:
    path = write_gro(tmp_path / "a.gro", trajectory_positions(2, N_ATOMS), box=box)
    assert max(map(len, path.read_text().splitlines()[-1].split())) > 15
    found = read(path).snapshot()[1]
    assert found is not None
    assert abs(np.linalg.det(found)) == pytest.approx(np.prod([10.0 * side for side in box[:3]]))


@pytest.mark.parametrize("cut", [2, 5, 15, 40, 100])
def test_a_file_that_is_cut_off_names_the_frame(tmp_path: Path, cut: int) -> None:
    positions = trajectory_positions(4, N_ATOMS)
    path = write_gro(tmp_path / "a.gro", positions)
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(ValueError, match=r"a\.gro: frame 4 .*allow_truncated"):
        read(path)
    ensemble = read(path, allow_truncated=True)
    assert "the 3 whole frames before it are used" in ensemble.notes[0]
    np.testing.assert_allclose(coordinates(ensemble), positions[:3], atol=1e-5)


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\n\n\n\n"])
def test_the_end_of_the_last_line_does_not_matter(tmp_path: Path, end: str) -> None:
    path = tmp_path / "a.gro"
    path.write_text(gro_text(trajectory_positions(3, N_ATOMS)).rstrip("\n") + end)
    assert read(path).n_snapshots == 3


def test_frames_may_have_no_title_and_lines_of_other_systems(tmp_path: Path) -> None:
    positions = trajectory_positions(3, N_ATOMS)
    text = gro_text(positions)
    lines = ["" if line.startswith("Protein") else line for line in text.split("\n")]
    path = tmp_path / "a.gro"
    path.write_bytes("\r\n".join(lines).encode())
    np.testing.assert_allclose(coordinates(read(path)), positions, atol=1e-5)


def test_frames_of_different_sizes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.gro"
    path.write_text(gro_text(trajectory_positions(2, 6)) + gro_text(trajectory_positions(1, 5)))
    with pytest.raises(ValueError, match="frame 3 has 5 atoms, the others have 6"):
        read(path)


def test_a_number_that_is_none_names_the_frame(tmp_path: Path) -> None:
    path = write_gro(tmp_path / "a.gro", trajectory_positions(3, N_ATOMS))
    lines = path.read_text().split("\n")
    lines[-3] = lines[-3][:20] + "   *****" + lines[-3][28:]
    path.write_text("\n".join(lines))
    ensemble = read(path)
    with pytest.raises(ValueError, match=r"a\.gro: frame 3 cannot be read"):
        coordinates(ensemble)


def test_compressed_frames_are_read_too(tmp_path: Path) -> None:
    positions = trajectory_positions(3, N_ATOMS)
    path = tmp_path / "a.gro.gz"
    path.write_bytes(gzip.compress(gro_text(positions).encode()))
    np.testing.assert_allclose(coordinates(read(path)), positions, atol=1e-5)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match="compressed file is damaged or cut off"):
        read(path)


def test_a_list_of_files_keeps_the_rounding_of_the_format(tmp_path: Path) -> None:
    positions = trajectory_positions(3, N_ATOMS)
    paths = [
        write_gro(tmp_path / f"{number}.gro", positions[number : number + 1]) for number in range(3)
    ]
    ensemble = read(paths)
    np.testing.assert_allclose(coordinates(ensemble), positions, atol=1e-5)
    assert ensemble.rounding == pytest.approx(0.01)


def test_coarse_grained_beads_have_no_guessed_bonds(tmp_path: Path) -> None:
    beads = [("BB", 0.0), ("SC1", 2.0), ("BB", 3.5), ("SC1", 5.0), ("BB", 7.0), ("SC1", 8.6)]
    positions = np.array([[[x, 0.1 * frame * x, 0.0] for _, x in beads] for frame in range(3)])
    lines = gro_text(positions.astype(np.float32)).split("\n")
    path = tmp_path / "martini.gro"
    for frame in range(3):
        for atom, (name, _) in enumerate(beads):
            row = frame * (len(beads) + 3) + 2 + atom
            lines[row] = f"{atom // 2 + 1:5d}{'CYS':<5}{name:>5}" + lines[row][15:]
    path.write_text("\n".join(lines))
    for bonds in ("auto", "guess"):
        ensemble = read(path, bonds=bonds)
        assert len(ensemble.atoms.bonds) == 0
        assert set(ensemble.atoms.elements.tolist()) == {""}
        assert "coarse-grained beads have no elements" in ensemble.notes[0]
    assert analyse(path).recipe.options["objects"] == "points"


def test_all_atom_names_are_no_beads(tmp_path: Path) -> None:
    path = write_gro(tmp_path / "a.gro", trajectory_positions(2, N_ATOMS))
    ensemble = read(path)
    assert set(ensemble.atoms.elements.tolist()) == {"C"}
    assert not any("coarse" in note for note in ensemble.notes)


@pytest.mark.parametrize("blank", ["\n", "\n \n\n"])
def test_blank_lines_may_part_frames(tmp_path: Path, blank: str) -> None:
    positions = trajectory_positions(4, N_ATOMS)
    path = tmp_path / "a.gro"
    path.write_text("".join(gro_text(frame[None]) + blank for frame in positions))
    parted = read(path).coordinates()
    path.write_text("".join(gro_text(frame[None]) for frame in positions))
    assert len(parted) == len(positions)
    np.testing.assert_array_equal(parted, read(path).coordinates())


@pytest.mark.parametrize("unit", ["nm", "σ"])
def test_nanometres_that_became_angstroms_take_no_other_name(tmp_path: Path, unit: str) -> None:
    """They would be told ten times too long."""
    path = write_gro(tmp_path / "a.gro", trajectory_positions(2, N_ATOMS))
    with pytest.raises(ValueError, match=rf"a\.gro: .* read as Å, .*{unit}.*: leave it out"):
        read(path, unit=unit)
    assert read(path, unit="Å").unit == "Å"


def test_a_file_in_nm_is_not_asked_to_say_so(tmp_path: Path) -> None:
    places = np.array([[[0.125 * k, 0.085 * (k % 2), 0.001 * f] for k in range(9)] for f in (0, 1)])
    path = write_gro(tmp_path / "a.gro", places, decimals=5)
    with pytest.warns(
        UserWarning, match=r"a\.gro: .* 0\.151 Å apart, .* too small: write it again"
    ):
        ensemble = read(path)
    assert not any("unit=" in note for note in ensemble.notes)
