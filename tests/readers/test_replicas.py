"""Trajectory files in a row: one run that goes on, or runs of their own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import MDAnalysis
import numpy as np
import pytest

from tests.conftest import MakeUniverse
from tests.naive import rms_change_of_distances
from timme._arrays import Floats
from timme.analysis import Judged, summary
from timme.readers import read, read_model
from timme.readers.changes import change_of_distances, sample_pairs
from timme.synthetic import FAMILIES
from timme.system.ensemble import Ensemble
from timme.workflow import analyse

N_ATOMS = 12


def walk(n_frames: int, seed: int, start: Floats | None = None) -> Floats:
    """Atoms that take small steps from where they are, while the whole turns and drifts."""
    rng = np.random.default_rng(seed)
    first = rng.uniform(-10, 10, (N_ATOMS, 3)) if start is None else start
    steps = rng.normal(0, 0.05, (n_frames, N_ATOMS, 3))
    return np.asarray(first + np.cumsum(steps, axis=0), dtype=np.float64)


def turned(walked: Floats, seed: int) -> Floats:
    """The same in another place, turned: what no distance knows of."""
    rng = np.random.default_rng(seed)
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return np.asarray(walked @ rotation + rng.uniform(-40, 40, 3), dtype=np.float64)


def write(path: Path, places: Floats, times: Sequence[float] | None = None) -> Path:
    """Write frames at their times, in ps; XYZ files have none."""
    made = MDAnalysis.Universe.empty(N_ATOMS, trajectory=True)
    made.add_TopologyAttr("name", ["C"] * N_ATOMS)
    with MDAnalysis.Writer(str(path), N_ATOMS) as writer:
        for number, positions in enumerate(places):
            made.atoms.positions = positions
            made.trajectory.ts.data["time"] = float(number if times is None else times[number])
            writer.write(made.atoms)
    return path


def runs_at(tmp_path: Path, *clocks: Sequence[float], suffix: str = ".xtc") -> list[Path]:
    """Runs that begin anywhere, each at these times."""
    return [
        write(tmp_path / f"{number}{suffix}", walk(len(times), number), times)
        for number, times in enumerate(clocks)
    ]


def told(ensemble: Ensemble) -> str:
    return "; ".join(note for note in ensemble.notes if "replicas" in note)


@pytest.mark.parametrize("suffix", [".xtc", ".trr"])
@pytest.mark.parametrize(
    ("later", "reason"),
    [
        (range(0, 20, 2), "their times start again"),
        (range(2, 22, 2), "their times overlap"),
        (range(16, 36, 2), "their times overlap"),
        (range(20, 60, 4), "their intervals differ"),
        (range(20, 40, 2), ""),
        (range(18, 38, 2), ""),  # whose first frame has the time of the last
        (range(30, 50, 2), ""),  # after a gap
    ],
)
def test_clocks_tell_runs_apart(tmp_path: Path, suffix: str, later: range, reason: str) -> None:
    """Times decide wherever there are any: the places of these runs are all far apart."""
    ensemble = read(runs_at(tmp_path, range(0, 20, 2), later, suffix=suffix))
    assert ensemble.replicas == ((10, 10) if reason else (20,))
    assert reason in told(ensemble)
    assert bool(told(ensemble)) == bool(reason)


def test_single_precision_of_late_times_is_no_other_interval(tmp_path: Path) -> None:
    """After 3 µs a float counts in steps of 0.25 ps."""
    clocks = [[3e6 + 1.1 * k for k in part] for part in (range(9), range(9, 30))]
    assert read(runs_at(tmp_path, *clocks)).replicas == (30,)


def test_three_runs_of_which_one_was_continued(tmp_path: Path) -> None:
    first = range(10)
    ensemble = read(runs_at(tmp_path, first, range(10, 15), first, range(8)))
    assert ensemble.replicas == (15, 10, 8)
    assert "3 trajectories count as replicas, as their times start again" in told(ensemble)
    assert ensemble[12:27].replicas == (3, 10, 2)
    assert ensemble[:10].replicas == (10,)
    assert ensemble.select([0, 1, 2]).replicas == (15, 10, 8)


@pytest.mark.parametrize("suffix", [".xtc", ".dcd", ".xyz"])
@pytest.mark.parametrize("clock", ["goes on", "starts again"])
def test_a_continuation_that_repeats_the_last_frame_counts_it_once(
    tmp_path: Path, suffix: str, clock: str
) -> None:
    """DCD files of several programs count every run from 0."""
    whole, later = walk(30, 1), range(14, 30) if clock == "goes on" else range(16)
    paths = [
        write(tmp_path / f"a{suffix}", whole[:15], range(15)),
        write(tmp_path / f"b{suffix}", whole[14:], later),
    ]
    ensemble = read(paths)
    assert ensemble.replicas == (30,)
    assert any("b" + suffix + ": frame 1 repeats" in note for note in ensemble.notes)
    np.testing.assert_allclose(ensemble.coordinates(), whole, atol=0.006)


def test_what_stands_still_while_time_goes_on_is_no_repetition(tmp_path: Path) -> None:
    frozen = np.repeat(walk(1, 1), 10, axis=0)
    paths = [
        write(tmp_path / f"{first}.xtc", frozen, range(first, first + 10)) for first in (0, 10)
    ]
    assert read(paths).replicas == (20,)


@pytest.mark.parametrize("suffix", [".xtc", ".dcd"])
def test_files_of_a_universe_are_told_apart_as_those_of_a_list(tmp_path: Path, suffix: str) -> None:
    paths = [str(path) for path in runs_at(tmp_path, range(9), range(7), suffix=suffix)]
    paths.append(str(write(tmp_path / f"c{suffix}", walk(6, 5), range(20, 26))))
    topology = MDAnalysis.Universe.empty(N_ATOMS, trajectory=True)
    universe = topology.load_new(paths)
    found, listed = read(universe), read(paths)
    assert found.replicas == listed.replicas
    assert len(found.replicas) > 1
    assert told(found) == told(listed)
    np.testing.assert_array_equal(found.coordinates(), listed.coordinates())


def test_files_of_a_universe_with_a_clock_of_its_own_are_one_run(tmp_path: Path) -> None:
    paths = [str(path) for path in runs_at(tmp_path, range(9), range(7))]
    universe = MDAnalysis.Universe.empty(N_ATOMS, trajectory=True).load_new(paths, dt=2.0)
    assert read(universe).replicas == (16,)


@pytest.mark.parametrize("goes_on", [True, False])
def test_without_times_the_first_step_tells(tmp_path: Path, goes_on: bool) -> None:
    whole = walk(60, 1)
    later = turned(whole[30:], 2) if goes_on else walk(30, 3)
    paths = [write(tmp_path / "a.xyz", whole[:30]), write(tmp_path / "b.xyz", later)]
    ensemble = read(paths)
    assert ensemble.replicas == ((60,) if goes_on else (30, 30))
    assert ("begin far from" in told(ensemble)) != goes_on


def test_a_structure_before_a_trajectory_is_no_run(tmp_path: Path) -> None:
    paths = [write(tmp_path / "a.xyz", walk(1, 1)), write(tmp_path / "b.xyz", walk(30, 3))]
    assert read(paths).replicas == (31,)


def test_steps_are_those_of_distances() -> None:
    """Against all pairs of the sample, one by one."""
    array = np.random.default_rng(0).normal(size=(2, 5, 3))
    array[1] = turned(array[1], 4)
    pairs = sample_pairs(5)
    assert (pairs[0] != pairs[1]).all()
    found = change_of_distances(Ensemble.from_array(array).frames, 0, 1, pairs)
    np.testing.assert_allclose(found, rms_change_of_distances(array[0], array[1], pairs.T))


def test_times_are_chosen_in_every_run(tmp_path: Path) -> None:
    paths = runs_at(tmp_path, range(10), range(20))
    ensemble = read(paths, start="4ps", stop="12ps", step="2ps")
    assert ensemble.replicas == (3, 5)
    whole = read(paths).coordinates()
    np.testing.assert_array_equal(ensemble.coordinates(), whole[[4, 6, 8, *range(14, 24, 2)]])
    assert read(paths, start="4ps", step=3).replicas == (2, 6)
    assert read(paths, start=4, stop=14).replicas == (6, 4)
    assert read_model(paths, start="4ps", model=7)[1] == 22
    with pytest.raises(ValueError, match=r"stop= as a number does not go with times"):
        read(paths, start="4ps", stop=12)


@pytest.mark.parametrize(
    ("given", "replicas"),
    [({}, (40, 40)), ({"replicas": "one"}, (80,)), ({"replicas": "20,60"}, (20, 60))],
)
def test_a_run_judges_by_the_replicas_that_were_found_or_given(
    tmp_path: Path, given: dict[str, Any], replicas: tuple[int, ...]
) -> None:
    paths = runs_at(tmp_path, range(40), range(40))
    found = analyse(paths, pairs="all", objects="points", **given)
    judged = found.part(Judged)
    assert judged is not None
    assert judged.confidence.sampling.replicas == replicas
    assert any("count as replicas" in note for note in found.notes) != bool(given)
    assert judged.confidence.convergence is not None
    n_left_out = len(replicas) if len(replicas) > 1 else 0
    assert len(judged.confidence.convergence.left_out) == n_left_out
    assert ("2 replicas" in dict(summary(found))["sampling"]) == bool(n_left_out)


def test_files_are_left_out_one_after_another(tmp_path: Path, make_universe: MakeUniverse) -> None:
    paths = [tmp_path / f"{seed}.xtc" for seed in (3, 4)]
    for path in paths:
        swinging = FAMILIES["hinge 15° + tail"](40, int(path.stem)).ensemble.coordinates()
        make_universe(swinging).atoms.write(path, frames="all")
    found = analyse(paths, pairs="contact", radius=10.0)
    judged = found.part(Judged)
    assert judged is not None
    assert judged.confidence.convergence is not None
    assert judged.confidence.convergence.left_out.shape == (2, len(judged.confidence.trusted))
    assert "without any one replica" in dict(summary(found))["converged"]


@pytest.mark.parametrize("given", ["two", 2])
def test_other_words_are_no_replicas(tmp_path: Path, given: object) -> None:
    told = f"numbers of snapshots such as 500,500, or one, got {given!r}"
    with pytest.raises(ValueError, match=told):
        analyse(runs_at(tmp_path, range(9), range(9)), replicas=given)
