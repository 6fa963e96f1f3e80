"""Reading with ``unwrap``: the truth about walks is known, and files say less and less of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

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


def dump(path: Path, places: Floats, columns: str, steps: Sequence[int] | None = None) -> Path:
    """Write a LAMMPS dump of places in a cube, in the columns that are asked for."""
    lines = list[str]()
    for step, frame in zip(steps or range(len(places)), places, strict=True):
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


def write_xtc(path: Path, places: Floats, times: Any) -> Path:
    """Write places, wrapped into the cube, at times in ps."""
    from MDAnalysis.lib.formats.libmdaxdr import XTCFile

    with XTCFile(str(path), "w") as file:
        for number, (frame, time) in enumerate(zip(places % SIDE, times, strict=True)):
            cube = np.eye(3, dtype=np.float32) * SIDE / 10
            file.write((frame / 10).astype(np.float32), cube, number, float(time), 1e5)
    return path


def write_xyz(path: Path, places: Floats, _: Any) -> Path:
    """Write places, wrapped into the cube, and no times."""
    title = f'Lattice="{SIDE} 0 0 0 {SIDE} 0 0 0 {SIDE}" Properties=species:S:1:pos:R:3'
    lines = list[str]()
    for frame in places % SIDE:
        lines += [str(len(frame)), title, *(f"Ar {x:.6f} {y:.6f} {z:.6f}" for x, y, z in frame)]
    path.write_text("\n".join(lines) + "\n")
    return path


def runs_from_one_start(n_snapshots: int = 40, seed: int = 0) -> list[Floats]:
    first, *others = (walks(n_snapshots, 9, seed=10 * seed + run) for run in range(3))
    return [first, *(run - run[0] + first[0] for run in others)]


@pytest.mark.parametrize("write", [write_xtc, write_xyz])
@pytest.mark.parametrize("seed", range(5))
def test_every_run_goes_on_from_where_the_first_began(
    tmp_path: Path, write: Callable[[Path, Floats, Any], Path], seed: int
) -> None:
    """By what one run ends with, nobody can tell where in the box the next begins."""
    runs, suffix = runs_from_one_start(seed=seed), write.__name__[-3:]
    times = 10.0 * np.arange(40)
    paths = [write(tmp_path / f"{k}.{suffix}", run, times) for k, run in enumerate(runs)]
    ensemble = timme.read(paths, unwrap=True, bonds="none")
    assert ensemble.replicas == (40, 40, 40)
    np.testing.assert_allclose(sigma_of(ensemble), true_sigma(np.concatenate(runs)), rtol=1e-4)


def test_runs_that_are_cut_are_followed_from_where_they_began(tmp_path: Path) -> None:
    runs, times = runs_from_one_start(), 10.0 * np.arange(40)
    paths = [write_xtc(tmp_path / f"{k}.xtc", run, times) for k, run in enumerate(runs)]
    whole = timme.read(paths, unwrap=True, bonds="none").coordinates().reshape(3, 40, 9, 3)
    late = timme.read(paths, unwrap=True, bonds="none", start="200ps", step="20ps")
    assert late.replicas == (10, 10, 10)
    np.testing.assert_array_equal(late.coordinates(), whole[:, 20::2].reshape(30, 9, 3))
    some = timme.read(paths, unwrap=True, bonds="none", start=50)
    assert some.replicas == (30, 40)
    moved = some.coordinates() - whole.reshape(120, 9, 3)[50:]
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-4)


@pytest.mark.parametrize("seed", range(10))
def test_runs_that_do_not_begin_alike_are_refused(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    times = 10.0 * np.arange(40)
    runs = [rng.uniform(0, SIDE, (3, 3)) + walks(40, 3, scale=0.1, seed=seed)] * 2
    runs[1] = runs[1] + rng.uniform(0, SIDE, (3, 3))
    paths = [write_xtc(tmp_path / f"{k}.xtc", run, times) for k, run in enumerate(runs)]
    with pytest.raises(
        ValueError, match=r"begins with snapshot 41 does not begin as .* unwrap each run by itself"
    ):
        timme.read(paths, unwrap=True, bonds="none")
    for path, run in zip(paths, runs, strict=True):
        alone = timme.read(path, unwrap=True, bonds="none")
        np.testing.assert_allclose(sigma_of(alone), true_sigma(run), rtol=1e-3)


def test_a_run_that_was_continued_is_followed_on(tmp_path: Path) -> None:
    """With other intervals, or from some snapshots before its end: times tell how far that is."""
    places = walks(120, 9, scale=0.2)
    for number, later in enumerate((range(60, 120), range(60, 120, 2), range(58, 120))):
        frames = [np.arange(60), np.array(later)]
        paths = [
            write_xtc(tmp_path / f"{number}-{k}.xtc", places[chosen], 10.0 * chosen)
            for k, chosen in enumerate(frames)
        ]
        ensemble = timme.read(paths, unwrap=True, bonds="none")
        expected = true_sigma(
            places[np.unique(np.concatenate(frames))]
        )  # what is there twice, once
        np.testing.assert_allclose(sigma_of(ensemble), expected, rtol=1e-3)


def table_of(places: Floats, frames: Floats) -> pd.DataFrame:
    return pd.DataFrame(
        [
            (frame, particle, *place)
            for row, frame in zip(places % SIDE, frames, strict=True)
            for particle, place in enumerate(row)
        ],
        columns=["frame", "particle", "x", "y", "z"],
    )


@pytest.mark.parametrize("seed", range(10))
def test_holes_in_time_are_refused_if_particles_may_have_gone_round_the_box(
    tmp_path: Path, seed: int
) -> None:
    places = walks(100, 9, seed=seed)
    frames = np.r_[0:30, 70:100]
    path = write_xtc(tmp_path / "a.xtc", places[frames], 10.0 * frames)
    with pytest.raises(
        ValueError,
        match=r"between snapshots 30 and 31 lie 410 ps, 41 times the usual step, .* 9 of 9 .*stop=",
    ):
        timme.read(path, unwrap=True, bonds="none")
    with pytest.raises(ValueError, match=r"between snapshots 30 and 31 lie 410 ps"):
        timme.read(path, unwrap=True, bonds="none", start=5)
    for scale in (1.0, 0.04):
        table = table_of(places[frames], 1e9 + scale * frames)
        with pytest.raises(ValueError, match=r"between snapshots 30 and 31 lie 41 usual steps"):
            timme.read(table, box=SIDE, unwrap=True)
    steps = (1000 * frames).tolist()
    with pytest.raises(ValueError, match=r"between snapshots 30 and 31 lie 41 usual steps"):
        timme.read(dump(tmp_path / "a.lammpstrj", places[frames], "x y z", steps), unwrap=True)
    told = timme.read(
        dump(tmp_path / "b.lammpstrj", places[frames], "x y z ix iy iz", steps), unwrap=True
    )
    np.testing.assert_allclose(sigma_of(told), true_sigma(places[frames]), rtol=1e-5)
    before = timme.read(path, unwrap=True, bonds="none", stop=30)
    np.testing.assert_allclose(sigma_of(before), true_sigma(places[:30]), rtol=1e-3)


def test_runs_in_one_file_are_followed_each_from_its_start(tmp_path: Path) -> None:
    runs = runs_from_one_start()
    path = write_xtc(tmp_path / "a.xtc", np.concatenate(runs), np.tile(10.0 * np.arange(40), 3))
    ensemble = timme.read(path, unwrap=True, bonds="none")
    assert ensemble.replicas == (40, 40, 40)
    np.testing.assert_allclose(sigma_of(ensemble), true_sigma(np.concatenate(runs)), rtol=1e-3)


def test_a_clock_that_goes_back_for_a_moment_is_a_hole(tmp_path: Path) -> None:
    """Two snapshots at the end are no run of their own."""
    one, other, _ = runs_from_one_start()
    times = np.r_[10.0 * np.arange(40), 0.0, 10.0]
    path = write_xtc(tmp_path / "a.xtc", np.concatenate([one, other[:2]]), times)
    with pytest.raises(ValueError, match=r"snapshots .* time goes back by 390 ps, 39 usual steps"):
        timme.read(path, unwrap=True, bonds="none")


@pytest.mark.parametrize("scale", [0.05, 0.1])
def test_holes_in_which_particles_move_little_are_followed_through(scale: float) -> None:
    places = walks(100, 9, scale=scale)
    for missing in (1, 3):
        frames = np.r_[0:30, 30 + missing : 60, 60 + missing : 100]
        ensemble = timme.read(table_of(places[frames], frames), box=SIDE, unwrap=True)
        np.testing.assert_allclose(sigma_of(ensemble), true_sigma(places[frames]), rtol=1e-6)


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


def counted(path: Path, places: Floats, shift: Any = 0, start: int = 0) -> Path:
    """Write a dump, or a GSD file, of particles with counts of walls that are off by so many."""
    images = (np.floor(places / SIDE) + shift).astype(int)
    inside = places - SIDE * np.floor(places / SIDE)
    if path.suffix == ".gsd":
        gsd = pytest.importorskip("gsd.hoomd", reason="needs gsd: pip install 'pytimme[formats]'")
        with gsd.open(str(path), "w") as file:
            for step, (frame, counts) in enumerate(zip(inside, images, strict=True)):
                written = gsd.Frame()
                written.particles.N = len(frame)
                written.particles.position = frame - SIDE / 2
                written.particles.image = counts
                written.configuration.box = [SIDE] * 3 + [0] * 3
                written.configuration.step = start + step
                file.append(written)
        return path
    lines = list[str]()
    for step, (frame, counts) in enumerate(zip(inside, images, strict=True)):
        lines += ["ITEM: TIMESTEP", str(start + step), "ITEM: NUMBER OF ATOMS", str(len(frame))]
        lines += ["ITEM: BOX BOUNDS pp pp pp", *[f"0 {SIDE}"] * 3]
        lines += ["ITEM: ATOMS id type x y z ix iy iz"]
        for site, (place, count) in enumerate(zip(frame, counts, strict=True)):
            numbers = [f"{x:.9g}" for x in place] + [str(n) for n in count]
            lines.append(" ".join([f"{site + 1} 1", *numbers]))
    path.write_text("\n".join(lines) + "\n")
    return path


def check_counted(paths: Any, places: Floats) -> None:
    """Compare σ of a box in which sites are followed, and of open space, with the truth."""
    unwrapped = timme.read(paths, unwrap=True, bonds="none")
    np.testing.assert_allclose(sigma_of(unwrapped), true_sigma(places), rtol=1e-4)
    opened = timme.read(paths, box=False, bonds="none")
    one, other = np.triu_indices(places.shape[1], 1)
    apart = np.linalg.norm(places[:, one] - places[:, other], axis=2)
    np.testing.assert_allclose(sigma_of(opened), apart.std(axis=0), rtol=1e-4)
    for ensemble in (unwrapped, opened):
        assert any("counted from elsewhere from snapshot" in note for note in ensemble.notes)


@pytest.mark.parametrize("suffix", ["lammpstrj", "gsd"])
def test_counts_of_walls_may_begin_again_in_a_file(tmp_path: Path, suffix: str) -> None:
    places = walks(scale=0.2, seed=4)
    shift = np.zeros(places.shape)
    shift[30:] = -np.floor(places[30] / SIDE)
    check_counted(counted(tmp_path / f"a.{suffix}", places, shift), places)


@pytest.mark.parametrize("suffix", ["lammpstrj", "gsd"])
def test_counts_of_walls_may_begin_again_where_a_run_is_continued(
    tmp_path: Path, suffix: str
) -> None:
    places = walks(scale=0.2, seed=4)
    paths = [
        counted(tmp_path / f"a.{suffix}", places[:30]),
        counted(tmp_path / f"b.{suffix}", places[30:], -np.floor(places[30] / SIDE), 30),
    ]
    check_counted(paths, places)


@pytest.mark.parametrize(
    ("suffix", "joined"), [("lammpstrj", False), ("gsd", False), ("lammpstrj", True)]
)
def test_runs_from_one_start_may_count_walls_from_elsewhere(
    tmp_path: Path, suffix: str, joined: bool
) -> None:
    runs = runs_from_one_start(seed=3)
    rng = np.random.default_rng(1)
    paths = [
        counted(tmp_path / f"{k}.{suffix}", run, rng.integers(-2, 3, size=run.shape[1:]) * (k > 0))
        for k, run in enumerate(runs)
    ]
    if joined:
        paths[0].write_text("".join(path.read_text() for path in paths))
    check_counted(paths[0] if joined else paths, np.concatenate(runs))


def test_runs_that_count_walls_and_do_not_begin_alike_are_refused(tmp_path: Path) -> None:
    runs = [walks(40, 9, scale=0.2, seed=seed) for seed in (1, 2)]
    paths = [counted(tmp_path / f"{k}.lammpstrj", run) for k, run in enumerate(runs)]
    ways: tuple[dict[str, Any], ...] = {"unwrap": True}, {"box": False}
    for how in ways:
        with pytest.raises(ValueError, match="does not begin as the first one did"):
            timme.read(paths, bonds="none", **how)
        one = timme.read(paths[0], bonds="none", **how)
        np.testing.assert_allclose(one.coordinates(), runs[0], atol=1e-6)


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


@pytest.mark.parametrize("options", [{"box": False}, {"unwrap": True}], ids=["box", "unwrap"])
def test_image_flags_of_a_pulse_are_believed_on_demand(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    rng = np.random.default_rng(2)
    steps = rng.normal(0, 0.08, (30, 17, 3)).repeat(3, axis=1)  # of molecules of three
    places = SIDE * (rng.uniform(size=(17, 3)).repeat(3, axis=0) + np.cumsum(steps, axis=0))
    places[15:] += 0.8 * SIDE * np.where(np.arange(51) // 3 % 2, 1, -1)[:, None]
    path = dump(tmp_path / "a.lammpstrj", places, "x y z ix iy iz")
    doubted, believed = timme.read(path, **options), timme.read(path, trust_images=True, **options)
    assert any("trust_images=True" in note for note in doubted.notes)
    ways = believed.coordinates() - believed.coordinates()[0]
    np.testing.assert_allclose(ways, places - places[0], atol=1e-3)  # as the dump is rounded


def test_image_flags_that_are_not_there_cannot_be_trusted(tmp_path: Path) -> None:
    path = dump(tmp_path / "a.lammpstrj", np.full((3, 4, 3), 1.0), "x y z")
    counted = dump(tmp_path / "b.lammpstrj", np.full((3, 4, 3), 1.0), "x y z ix iy iz")
    for source, unwrap in ((path, True), (counted, False)):
        with pytest.raises(ValueError, match="trust_images=True is for files that say"):
            timme.read(source, unwrap=unwrap, trust_images=True)
