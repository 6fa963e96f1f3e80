"""Particles are not taken for atoms because their names are those of elements."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme
from tests.readers.builders import peptide
from timme._arrays import Floats
from timme.readers import read
from timme.workflow import analyse

SIDE = 5


def lattice(spacing: float = 1.2, n_frames: int = 4) -> Floats:
    """Particles on a grid, 6 neighbours each, as no molecule has them."""
    grid = np.stack(np.meshgrid(*[np.arange(SIDE)] * 3), axis=-1).reshape(-1, 3) * spacing
    noise = np.random.default_rng(1).normal(0, 0.03 * spacing, (n_frames, *grid.shape))
    return np.asarray(grid + noise - grid.mean(axis=0), dtype=np.float64)


def gsd_file(
    path: Path, places: Floats, types: list[str], box: Sequence[float] | None = (100, 100, 100)
) -> Path:
    hoomd = pytest.importorskip("gsd.hoomd")
    with hoomd.open(str(path), "w") as file:
        for frame in places:
            made = hoomd.Frame()
            made.particles.N = len(frame)
            made.particles.position = frame.astype(np.float32)
            made.particles.types = list(dict.fromkeys(types))
            made.particles.typeid = [made.particles.types.index(name) for name in types]
            if box is not None:
                made.configuration.box = [*box, 0, 0, 0]
            file.append(made)
    return path


def xyz_file(path: Path, places: Floats, names: list[str], title: str = "") -> Path:
    lines = list[str]()
    for frame in places:
        lines += [str(len(names)), title]
        lines += [f"{name} {x} {y} {z}" for name, (x, y, z) in zip(names, frame, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


def names_of(kinds: str) -> list[str]:
    return [kinds[k % len(kinds)] for k in range(SIDE**3)]


WRITERS: dict[str, Callable[[Path, Floats, list[str]], Path]] = {".gsd": gsd_file, ".xyz": xyz_file}


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("kinds", ["ABC", "AB", "BC", "C"])
@pytest.mark.parametrize("spacing", [0.12, 0.5, 1.2])
def test_particles_called_by_letters_are_no_atoms(
    tmp_path: Path, suffix: str, kinds: str, spacing: float
) -> None:
    path = WRITERS[suffix](tmp_path / f"a{suffix}", lattice(spacing), names_of(kinds))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ensemble = read(path)
    assert not len(ensemble.atoms.bonds)
    assert set(ensemble.atoms.elements) == {""}
    assert ensemble.unit == ""
    told = [note for note in ensemble.notes if "taken for particles and not for atoms" in note]
    assert len(told) == len(ensemble.notes) == (0 if "A" in kinds else 1)


def test_such_particles_are_compared_as_points(tmp_path: Path) -> None:
    result = analyse(gsd_file(tmp_path / "a.gsd", lattice(), names_of("ABC")))
    assert result.recipe.options["objects"] == "points"
    assert result.hierarchy.n_sites == SIDE**3


def test_the_unit_alone_makes_no_elements_of_letters(tmp_path: Path) -> None:
    path = gsd_file(tmp_path / "a.gsd", lattice(), names_of("ABC"))
    assert not len(read(path, unit="Å").atoms.bonds)


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("scale", [1.0, 0.1])
@pytest.mark.filterwarnings("ignore:.*looks like nm")
def test_molecules_keep_their_bonds(tmp_path: Path, suffix: str, scale: float) -> None:
    records = peptide(n_residues=8)
    places = scale * np.array([[record[6:9] for record in records]] * 2, dtype=np.float64)
    elements = [str(record[0])[0] for record in records]
    ensemble = read(WRITERS[suffix](tmp_path / f"a{suffix}", places, elements))
    assert ensemble.atoms.elements.tolist() == elements
    assert len(ensemble.atoms.bonds) == len(records) - 1


def default_gsd(path: Path, places: Floats) -> Path:
    """Without a box, for which readers take one of length 1."""
    return gsd_file(path, places, ["A"] * len(places[0]), box=None)


def unit_lattice(path: Path, places: Floats) -> Path:
    return xyz_file(path, places, ["A"] * len(places[0]), 'Lattice="1 0 0 0 1 0 0 0 1"')


DEFAULTS = {".gsd": default_gsd, ".xyz": unit_lattice}


def sigma_of(path: Path, **options: Any) -> Floats:
    objects = timme.objects.points(read(path, **options))
    return timme.measure(objects, timme.pairs.all(objects)).sigma


@pytest.mark.parametrize("suffix", DEFAULTS)
def test_a_box_of_length_1_around_particles_that_span_several_is_none(
    tmp_path: Path, suffix: str
) -> None:
    rng = np.random.default_rng(3)
    steps = rng.normal(scale=0.05, size=(30, 12, 3)).cumsum(axis=0)
    places = rng.uniform(-4, 4, (12, 3)) + steps
    path = DEFAULTS[suffix](tmp_path / f"a{suffix}", places)
    one, other = np.triu_indices(12, 1)
    expected = np.linalg.norm(places[:, one] - places[:, other], axis=2).std(axis=0)
    np.testing.assert_allclose(sigma_of(path), expected, atol=1e-5)
    assert any("span several boxes of length 1" in note for note in read(path).notes)
    given = read(path, box=[1.0, 1.0, 1.0])
    assert given.snapshot()[1] is not None


@pytest.mark.parametrize("suffix", DEFAULTS)
@pytest.mark.parametrize("start", [0, 29])
def test_a_box_of_length_1_that_particles_leave_later_counts(
    tmp_path: Path, suffix: str, start: int
) -> None:
    rng = np.random.default_rng(4)
    away = np.linspace(0, 8, 30)[:, None, None] * rng.normal(size=(12, 3))
    path = DEFAULTS[suffix](tmp_path / f"a{suffix}", rng.uniform(-0.5, 0.5, (12, 3)) + away)
    ensemble = read(path, start=start)
    assert ensemble.snapshot()[1] is not None
    assert not any("placeholder" in note for note in ensemble.notes)


def test_a_user_who_asks_for_bonds_gets_them(tmp_path: Path) -> None:
    path = xyz_file(tmp_path / "a.xyz", lattice(), names_of("C"))
    assert len(read(path, bonds="guess").atoms.bonds)
    assert len(read(path, unit="Å").atoms.bonds)


def test_names_of_atoms_in_residues_are_not_those_of_metals(tmp_path: Path) -> None:
    """CA is a carbon beside HN, and calcium by itself."""
    names = ["N", "HN", "CA", "HA", "C", "O"]
    places = np.array(
        [[0, 0, 0], [-0.6, 0.8, 0], [1.46, 0, 0], [1.9, 1, 0], [2.0, -1.4, 0], [3.2, -1.5, 0]]
    )
    ensemble = read(xyz_file(tmp_path / "a.xyz", np.array([places] * 2), names))
    assert ensemble.atoms.elements.tolist() == ["N", "H", "C", "H", "C", "O"]
    assert len(ensemble.atoms.bonds) == 5
    metal = read(xyz_file(tmp_path / "b.xyz", 4 * places[None, :3], ["CA"] * 3))
    assert metal.atoms.elements.tolist() == ["Ca"] * 3
