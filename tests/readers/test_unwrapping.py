"""Reading with ``unwrap``: the truth about walks is known, and files say less and less of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import timme
from timme._arrays import Floats

SIDE = 10.0


def walks(n_snapshots: int = 60, n_sites: int = 12, *, scale: float = 0.4, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    steps = rng.normal(scale=scale, size=(n_snapshots, n_sites, 3))
    places: Floats = rng.uniform(0, SIDE, (n_sites, 3)) + np.cumsum(steps, axis=0)
    return places


def true_sigma(places: Floats) -> Floats:
    """σ of pairs, of the images that are nearest in the first snapshot."""
    one, other = np.triu_indices(places.shape[1], 1)
    vectors = places[:, other] - places[:, one]
    vectors -= SIDE * np.rint(vectors[0] / SIDE)
    found: Floats = np.nanstd(np.linalg.norm(vectors, axis=2), axis=0)
    return found


def sigma_of(ensemble: timme.Ensemble) -> Floats:
    objects = timme.objects.points(ensemble)
    return np.asarray(timme.measure(objects, timme.pairs.all(objects)).sigma)


def dump(path: Path, places: Floats, columns: str) -> Path:
    """Write a LAMMPS dump of places in a cube, in the columns that are asked for."""
    lines = list[str]()
    for step, frame in enumerate(places):
        lines += ["ITEM: TIMESTEP", str(step), "ITEM: NUMBER OF ATOMS", str(len(frame))]
        lines += ["ITEM: BOX BOUNDS pp pp pp", *[f"0 {SIDE}"] * 3]
        lines += [f"ITEM: ATOMS id mol type {columns}"]
        images = np.floor(frame / SIDE)
        given = {
            "x y z": frame - SIDE * images,
            "xu yu zu": frame,
            "x y z ix iy iz": np.concatenate([frame - SIDE * images, images], axis=1),
        }[columns]
        for site, numbers in enumerate(given):
            told = [f"{number:.9g}" for number in numbers[:3]] + [f"{n:.0f}" for n in numbers[3:]]
            lines.append(" ".join([f"{site + 1} {site // 3 + 1} 1", *told]))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("step", [2, 3, 5, 20])
def test_snapshots_that_are_left_out_are_followed_through(step: int) -> None:
    places = walks()
    whole = timme.read(places % SIDE, box=SIDE, unwrap=True)
    some = timme.read(places % SIDE, box=SIDE, unwrap=True, step=step)
    np.testing.assert_array_equal(some.coordinates(), whole.coordinates()[::step])
    expected = true_sigma(places[::step])
    np.testing.assert_allclose(sigma_of(some), expected, rtol=1e-6)
    late = timme.read(places % SIDE, box=SIDE, unwrap=True, start=7, stop=55, step=step)
    assert len(late) == len(range(7, 55, step))
    weighted = timme.read(
        places % SIDE, box=SIDE, unwrap=True, step=step, weights=np.arange(60.0) + 1
    )
    assert weighted.weights is not None
    ratio = weighted.weights / (np.arange(60.0)[::step] + 1)
    np.testing.assert_allclose(ratio, ratio[0])


@pytest.mark.parametrize("suffix", ["lammpstrj", "lammpsdump"])
@pytest.mark.parametrize("columns", ["x y z ix iy iz", "xu yu zu"])
def test_what_a_file_says_of_walls_is_believed_however_long_the_steps(
    tmp_path: Path, columns: str, suffix: str
) -> None:
    places = walks(scale=4.0)
    path = dump(tmp_path / f"a.{suffix}", places, columns)
    read = timme.read(path, unwrap=True, bonds="none")
    assert any("how often sites went through the walls" in note for note in read.notes)
    # Molecules have numbers in the file, but are no molecules: all is everywhere.
    np.testing.assert_allclose(sigma_of(read), true_sigma(places), rtol=1e-5)
    with pytest.raises(ValueError, match="so that nobody can tell through which wall"):
        timme.read(dump(tmp_path / "b.lammpstrj", places, "x y z"), unwrap=True)


def test_only_what_is_selected_is_followed() -> None:
    places = walks(n_sites=6)
    places[:, 3:] += walks(n_sites=3, scale=5.0)
    wrapped = places % SIDE
    with pytest.raises(ValueError, match="nobody can tell"):
        timme.read(wrapped, box=SIDE, unwrap=True)
    slow = timme.read(wrapped, box=SIDE, unwrap=True, select=[0, 1, 2])
    np.testing.assert_allclose(sigma_of(slow), true_sigma(places[:, :3]), rtol=1e-6)


def test_a_selection_sees_the_images_of_whole_molecules() -> None:
    """σ of a pair is the same, whatever else is selected."""
    rng = np.random.default_rng(4)
    turns = np.cumsum(rng.normal(scale=0.1, size=200))
    chain = (
        np.linspace(-4.5, 4.5, 7)[:, None] * np.stack([np.cos(turns), np.sin(turns)], -1)[:, None]
    )
    flat = np.concatenate([chain, np.zeros((200, 7, 1))], axis=2)
    middle = np.cumsum(rng.normal(scale=0.2, size=(200, 1, 3)), axis=0)
    free = walks(200, 1, scale=0.2, seed=8)
    places = np.concatenate([flat + middle, free], axis=1)
    bonds = np.column_stack([np.arange(6), np.arange(1, 7)])
    every = timme.read(places % SIDE, box=SIDE, unwrap=True, bonds=bonds)
    known = np.zeros((8, 8))
    known[np.triu_indices(8, 1)] = sigma_of(every)
    for sites in ([0, 7], [6, 7], [0, 3, 7]):
        some = timme.read(places % SIDE, box=SIDE, unwrap=True, bonds=bonds, select=sites)
        expected = known[np.ix_(sites, sites)][np.triu_indices(len(sites), 1)]
        np.testing.assert_allclose(sigma_of(some), expected, rtol=1e-9)
        np.testing.assert_allclose(some.coordinates(), every.coordinates()[:, sites], atol=1e-9)


def test_particles_that_come_later_are_refused_with_a_reason() -> None:
    places = walks(n_sites=4) % SIDE
    table = pd.DataFrame(
        [
            (frame, particle, *places[frame, particle])
            for frame in range(60)
            for particle in range(4)
            if particle != 2 or frame > 9
        ],
        columns=["frame", "particle", "x", "y", "z"],
    )
    with pytest.raises(ValueError, match=r"needs all sites in the first snapshot, and 1 are not"):
        timme.read(table, box=SIDE, unwrap=True)
    later = timme.read(table, box=SIDE, unwrap=True, start=10)
    np.testing.assert_allclose(sigma_of(later), true_sigma(walks(n_sites=4)[10:]), rtol=1e-6)


def test_a_molecule_is_whole_where_some_of_it_is_not_seen() -> None:
    rng = np.random.default_rng(6)
    chain = np.arange(4)[:, None] * np.array([1.5, 0.0, 0.0]) + rng.normal(
        scale=0.1, size=(60, 4, 3)
    )
    places = chain + np.cumsum(rng.normal(scale=0.3, size=(60, 1, 3)), axis=0)
    wrapped = places % SIDE
    for unseen in (0, 1):
        tracks = wrapped.copy()
        tracks[::3, unseen] = np.nan
        bonds = [[0, 1], [1, 2], [2, 3]]
        for unwrap in (False, True):
            first = 1 if unwrap and unseen == 0 else 0
            read = timme.read(tracks, box=SIDE, gaps=True, bonds=bonds, unwrap=unwrap, start=first)
            objects = timme.objects.points(read)
            found = timme.measure(objects, timme.pairs.all(objects))
            expected = places[first:].copy()
            expected[np.isnan(tracks[first:])] = np.nan
            one, other = found.pairs.T
            apart = np.linalg.norm(expected[:, one] - expected[:, other], axis=2)
            np.testing.assert_allclose(found.sigma, np.nanstd(apart, axis=0), rtol=1e-6)


def test_molecules_that_have_numbers_and_no_bonds_go_as_wholes(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    middles = walks(80, 4, scale=0.3, seed=9)
    places = (middles[:, :, None] + 0.3 * rng.normal(size=(80, 4, 3, 3))).reshape(80, 12, 3)
    path = dump(tmp_path / "a.lammpstrj", places, "x y z")
    read = timme.read(path, unwrap=True, bonds="none")
    assert read.images is not None
    assert read.images.molecules.tolist() == np.repeat(range(4), 3).tolist()
    objects = timme.objects.molecules(read)
    found = timme.measure(objects, timme.pairs.all(objects))
    centres = places[0].reshape(4, 3, 3).mean(axis=1)
    shifts = -SIDE * np.rint((centres[None] - centres[:, None]) / SIDE)
    for (a, b), sigma in zip(found.pairs, found.sigma, strict=True):
        apart = places[:, 3 * b : 3 * b + 3][:, None] - places[:, 3 * a : 3 * a + 3][:, :, None]
        lengths = np.linalg.norm(apart + shifts[a, b], axis=-1)
        assert sigma == pytest.approx(np.sqrt(np.mean(lengths.std(axis=0) ** 2)), rel=1e-5)
