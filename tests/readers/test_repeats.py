"""Snapshots that are there twice: continued runs, files given twice, and runs within one file."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import MDAnalysis
import numpy as np
import pytest

from tests.readers.test_replicas import N_ATOMS, walk, write
from timme._arrays import Floats
from timme.readers import read
from timme.system.ensemble import Ensemble

WHOLE = np.round(walk(40, 1), 2)  # as XTC holds them


def write_dump(path: Path, places: Floats, stamps: Sequence[float]) -> Path:
    """Frames of LAMMPS, whose steps are no times."""
    lines = list[str]()
    for stamp, frame in zip(stamps, places, strict=True):
        lines += ["ITEM: TIMESTEP", f"{100 * round(stamp)}", "ITEM: NUMBER OF ATOMS", str(N_ATOMS)]
        lines += ["ITEM: BOX BOUNDS ff ff ff", *["-60 60"] * 3, "ITEM: ATOMS id type x y z"]
        lines += [f"{k + 1} 1 {x:.4f} {y:.4f} {z:.4f}" for k, (x, y, z) in enumerate(frame)]
    path.write_text("\n".join(lines) + "\n")
    return path


WRITERS: dict[str, Callable[[Path, Floats, Sequence[float]], Path]] = {
    ".xtc": write,
    ".trr": write,
    ".nc": write,
    ".lammpstrj": write_dump,
}
KINDS = pytest.mark.parametrize("suffix", WRITERS)


def told(ensemble: Ensemble, *words: str) -> list[str]:
    return [note for note in ensemble.notes if all(word in note for word in words)]


def assert_whole(ensemble: Ensemble, places: Floats = WHOLE) -> None:
    """One run with these places, wherever the corner of its box is."""
    assert ensemble.replicas == (len(places),)
    found = ensemble.coordinates()
    np.testing.assert_allclose(found - found[:1], places - places[:1], atol=0.02)


@KINDS
def test_a_continuation_whose_first_frames_are_there_already_counts_them_once(
    tmp_path: Path, suffix: str
) -> None:
    put = WRITERS[suffix]
    paths = [
        put(tmp_path / f"a{suffix}", WHOLE[:25], range(25)),
        put(tmp_path / f"b{suffix}", WHOLE[22:], range(22, 40)),
    ]
    ensemble = read(paths)
    assert_whole(ensemble)
    assert told(ensemble, f"b{suffix}: frame 1 and 2 others repeat those before them")
    assert not told(ensemble, "replicas")


@KINDS
def test_what_a_checkpoint_computes_again_counts_as_it_was_computed_last(
    tmp_path: Path, suffix: str
) -> None:
    put, again = WRITERS[suffix], WHOLE.copy()
    apart = np.random.default_rng(5).normal(size=(N_ATOMS, 3))
    again[22:] += 0.01 * (1 + np.arange(18))[:, None, None] * apart
    paths = [
        put(tmp_path / f"a{suffix}", WHOLE[:25], range(25)),
        put(tmp_path / f"b{suffix}", again[22:], range(22, 40)),
    ]
    ensemble = read(paths)
    assert_whole(ensemble, again)
    assert told(ensemble, f"a{suffix}: frame 23 and 2 others were computed again")


def test_times_are_chosen_where_a_run_overlaps_itself(tmp_path: Path) -> None:
    paths = [
        write(tmp_path / "a.xtc", WHOLE[:25], range(25)),
        write(tmp_path / "b.xtc", WHOLE[22:], range(22, 40)),
    ]
    ensemble = read(paths, start="20ps", stop="30ps", step="2ps")
    np.testing.assert_allclose(ensemble.coordinates(), WHOLE[20:31:2], atol=0.02)


@pytest.mark.parametrize("suffix", [".xtc", ".lammpstrj"])
def test_a_file_that_was_written_to_again_after_a_checkpoint_is_one_run(
    tmp_path: Path, suffix: str
) -> None:
    frames = [*range(25), *range(22, 40)]
    ensemble = read(WRITERS[suffix](tmp_path / f"a{suffix}", WHOLE[frames], frames))
    assert_whole(ensemble)
    assert told(ensemble, "frame 26 and 2 others repeat")


def test_runs_of_a_file_whose_times_start_again_are_replicas(tmp_path: Path) -> None:
    """As trjcat -cat joins them."""
    runs = np.concatenate([walk(20, 1), walk(30, 2)])
    path = write(tmp_path / "a.xtc", runs, [*range(20), *range(30)])
    ensemble = read(path)
    assert ensemble.replicas == (20, 30)
    assert told(ensemble, "2 trajectories count as replicas, as their times start again")
    late = read(path, start="15ps")
    assert late.replicas == (5, 15)


def test_runs_of_a_dump_whose_steps_start_again_are_told_apart_by_places(tmp_path: Path) -> None:
    runs = np.concatenate([walk(20, 1), walk(30, 2)])
    steps = [*range(20), *range(30)]
    assert read(write_dump(tmp_path / "a.dump", runs, steps)).replicas == (20, 30)
    one = write_dump(tmp_path / "b.dump", walk(50, 3), steps)  # as after reset_timestep
    assert read(one).replicas == (50,)


def test_times_in_no_order_are_no_runs(tmp_path: Path) -> None:
    """A sample that was drawn from a run keeps the times that it had there."""
    order = np.random.default_rng(0).permutation(40)
    ensemble = read(write(tmp_path / "a.xtc", WHOLE[order], order.tolist()))
    assert ensemble.replicas == (40,)
    assert not told(ensemble, "replicas")


@KINDS
@pytest.mark.parametrize("n_times", [2, 3])
def test_frames_written_several_times_count_once(tmp_path: Path, suffix: str, n_times: int) -> None:
    frames = np.repeat(np.arange(10), n_times)
    ensemble = read(WRITERS[suffix](tmp_path / f"a{suffix}", WHOLE[frames], frames.tolist()))
    assert_whole(ensemble, WHOLE[:10])
    assert told(ensemble, f"frame 2 and {10 * (n_times - 1) - 1} others repeat")


def test_frames_of_one_time_at_other_places_all_count_and_are_told(tmp_path: Path) -> None:
    times = [*range(10), *range(9, 39)]
    ensemble = read(write(tmp_path / "a.xtc", WHOLE, times))
    assert_whole(ensemble)
    assert told(ensemble, "frame 11 has the time of the one before and other coordinates")
    alike = read(write(tmp_path / "b.xtc", WHOLE, [0.0] * 40))  # by a program that knows no times
    assert not told(alike, "the time of the one before")


@pytest.mark.parametrize("suffix", [".xtc", ".dcd", ".xyz"])
def test_a_file_that_is_given_twice_is_refused(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path / f"a{suffix}", WHOLE, range(40))
    other = write(tmp_path / f"b{suffix}", walk(40, 2), range(40))
    with pytest.raises(ValueError, match=rf"a\{suffix}: given twice, as it is the same file"):
        read([path, other, path])
    copy = shutil.copy(path, tmp_path / f"c{suffix}")
    with pytest.raises(ValueError, match=rf"c\{suffix}: given twice, .* same as .*a\{suffix}"):
        read([path, other, copy])


def test_a_part_of_a_run_after_the_whole_of_it_counts_once(tmp_path: Path) -> None:
    paths = [
        write(tmp_path / "a.xtc", WHOLE, range(40)),
        write(tmp_path / "b.xtc", WHOLE[5:20], range(5, 20)),
    ]
    ensemble = read(paths)
    assert_whole(ensemble)
    assert told(ensemble, "b.xtc: frame 1 and 14 others repeat")


def test_files_of_a_run_in_the_wrong_order_are_refused(tmp_path: Path) -> None:
    paths = [
        write(tmp_path / "b.xtc", WHOLE[22:], range(22, 40)),
        write(tmp_path / "a.xtc", WHOLE[:25], range(25)),
    ]
    with pytest.raises(ValueError, match=r"a\.xtc: frame 1 comes before .*b\.xtc.*3 frames"):
        read(paths)


def test_runs_from_one_start_are_replicas(tmp_path: Path) -> None:
    start = walk(1, 1)[0]
    paths = list[Path]()
    for seed in (2, 3):
        places = np.concatenate([start[None], walk(20, seed, start)])
        paths.append(write(tmp_path / f"{seed}.xtc", places, range(21)))
    ensemble = read(paths)
    assert ensemble.replicas == (21, 21)
    assert not told(ensemble, "repeat")


def test_runs_whose_times_overlap_by_chance_are_replicas(tmp_path: Path) -> None:
    """Even where all that moves is decorrelated from one snapshot to the next."""
    rng = np.random.default_rng(4)
    mean = walk(1, 1)
    noisy = [mean + rng.normal(0, 0.5, (20, N_ATOMS, 3)) for _ in range(2)]
    paths = [
        write(tmp_path / "a.xtc", noisy[0], range(20)),
        write(tmp_path / "b.xtc", noisy[1], range(15, 35)),
    ]
    ensemble = read(paths)
    assert ensemble.replicas == (20, 20)


def test_a_universe_of_files_that_overlap_counts_as_the_list_does(tmp_path: Path) -> None:
    paths = [
        str(write(tmp_path / "a.xtc", WHOLE[:25], range(25))),
        str(write(tmp_path / "b.xtc", WHOLE[22:], range(22, 40))),
    ]
    assert_whole(read(MDAnalysis.Universe.empty(N_ATOMS, trajectory=True).load_new(paths)))


def test_atoms_are_followed_past_what_is_there_twice(tmp_path: Path) -> None:
    """Back from the end to the beginning of the run, they would be followed the wrong way round."""
    n_frames, length = 40, 10.0
    moving = np.zeros((n_frames, N_ATOMS, 3)) + np.arange(N_ATOMS)[:, None] * 0.7 + 1.0
    moving[..., 0] += np.arange(n_frames)[:, None] * np.linspace(0.2, 1.2, N_ATOMS)
    made = MDAnalysis.Universe.empty(N_ATOMS, trajectory=True)
    made.add_TopologyAttr("name", ["X"] * N_ATOMS)
    parts = {"a": range(20), "b": range(3, 10), "c": range(20, 40)}
    for name, part in parts.items():
        with MDAnalysis.Writer(str(tmp_path / f"{name}.xtc"), N_ATOMS) as writer:
            for frame in part:
                made.atoms.positions = moving[frame] % length
                made.dimensions = [length] * 3 + [90.0] * 3
                made.trajectory.ts.data["time"] = float(frame)
                writer.write(made.atoms)
    ensemble = read([tmp_path / f"{name}.xtc" for name in parts], unwrap=True)
    found = ensemble.coordinates()
    np.testing.assert_allclose(found - found[:1], moving - moving[:1], atol=0.02)


@KINDS
def test_what_stands_still_while_stamps_grow_is_no_repetition(tmp_path: Path, suffix: str) -> None:
    still = np.repeat(WHOLE[:1], 10, axis=0)
    paths = [
        WRITERS[suffix](tmp_path / f"{first}{suffix}", still, range(first, first + 10))
        for first in (0, 10)
    ]
    assert read(paths).replicas == (20,)


@KINDS
def test_stamps_are_those_of_the_frames_that_are_kept(tmp_path: Path, suffix: str) -> None:
    put, unit = WRITERS[suffix], 100 if suffix == ".lammpstrj" else 1
    early, late = range(25), range(25, 40)
    paths = [
        put(tmp_path / f"a{suffix}", WHOLE[:25], early),
        put(tmp_path / f"b{suffix}", WHOLE[25:], late),
    ]
    frames = read(paths, start=1).select([0, 3]).frames
    assert frames.stamps().tolist() == [unit * stamp for stamp in range(1, 40)]
    assert frames.keep([3, 24, 30]).stamps().tolist() == [4 * unit, 25 * unit, 31 * unit]
    assert frames.keep(range(1, 39, 12)).stamps().tolist() == [
        unit * stamp for stamp in (2, 14, 26, 38)
    ]
