"""Interrupted runs of true processes: Ctrl-C, SIGTERM and kill -9, then --resume."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme as library
from tests.cli.conftest import Refused, Run
from tests.cli.ensembles import wandering
from tests.cli.test_commands import SOURCE, UNDRAWN, process
from tests.patience import LONGEST
from tests.readers.builders import write_trajectory

COMMAND = ("run", "a.dcd", "--pairs", "all", "-o", "out")
UNJUDGED = "--no-confidence"  # a quick run is one that measures


@pytest.fixture(scope="module")
def trajectory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trajectory of many blocks."""
    return write_trajectory(tmp_path_factory.mktemp("whole") / "a.dcd", wandering(7_680, 30))


@pytest.fixture(scope="module")
def undisturbed(trajectory: Path) -> Path:
    """The folder of a run that nothing stopped."""
    assert process(*COMMAND, cwd=trajectory.parent, program=UNDRAWN).code == 0
    return trajectory.parent / "out"


@pytest.fixture
def many_blocks(tmp_path: Path, trajectory: Path) -> Path:
    """A folder with a trajectory of many blocks."""
    shutil.copy(trajectory, tmp_path)
    return tmp_path


def started(folder: Path, *options: str) -> subprocess.Popen[str]:
    """Begin a run that saves whenever it can."""
    return subprocess.Popen(
        [sys.executable, "-m", "timme", *COMMAND, *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SOURCE), "TIMME_CHECKPOINT_INTERVAL": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(path: Path, running: subprocess.Popen[str]) -> None:
    while not path.exists():
        assert running.poll() is None, running.communicate()
        time.sleep(0.001)


def result(folder: Path) -> dict[str, Any]:
    """All arrays of a result, and its notes."""
    with np.load(folder / "result.npz") as archive:
        arrays: dict[str, Any] = {name: archive[name] for name in archive.files}
    text = json.loads(arrays.pop("text").tobytes())
    made: dict[str, Any] = {name: array.tobytes() for name, array in arrays.items()}
    return made | {"notes": text["notes"], "settings": text["recipe"]["settings"]}


def killed_and_resumed(folder: Path, times: int, seed: int) -> None:
    """Kill at random moments, anywhere from start-up to the writing of results."""
    chance = random.Random(seed)
    out, checkpoint = folder / "out", folder / "out.checkpoint"
    kills = 0
    while kills < times:
        shutil.rmtree(out, ignore_errors=True)  # it may have been quicker than the signal
        running = started(folder, "--resume")
        if chance.random() < 0.8 and not checkpoint.exists():
            wait_for(checkpoint, running)
            time.sleep(chance.uniform(0.0, 0.3))
        else:
            time.sleep(chance.uniform(0.0, 4.0))
        running.kill()
        running.communicate()
        kills += running.returncode == -signal.SIGKILL
    shutil.rmtree(out, ignore_errors=True)
    assert process(*COMMAND, "--resume", cwd=folder, program=UNDRAWN).code == 0
    assert not checkpoint.exists()


@pytest.mark.thorough
def test_killed_runs_go_on_to_the_same_bits(many_blocks: Path, undisturbed: Path) -> None:
    killed_and_resumed(many_blocks, times=3, seed=1)
    assert result(many_blocks / "out") == result(undisturbed)


@pytest.mark.long
def test_runs_killed_fifty_times_go_on_to_the_same_bits(
    many_blocks: Path, undisturbed: Path
) -> None:
    killed_and_resumed(many_blocks, times=50, seed=2)
    assert result(many_blocks / "out") == result(undisturbed)


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.long)],
)
@pytest.mark.usefixtures("without_figures")
def test_a_run_that_is_told_to_stop_saves_and_says_how_to_go_on(
    many_blocks: Path, number: signal.Signals, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = many_blocks / "out.checkpoint"
    running = started(many_blocks, UNJUDGED)
    wait_for(checkpoint, running)
    before = checkpoint.stat().st_mtime_ns
    running.send_signal(number)
    out, err = running.communicate(timeout=LONGEST)
    assert (running.returncode, out) == (code, "")
    assert (
        err == "timme: interrupted, call the same again with --resume to go on (out.checkpoint)\n"
    )
    assert checkpoint.stat().st_mtime_ns >= before
    assert {path.name for path in many_blocks.iterdir()} == {"a.dcd", "out.checkpoint"}
    done = process(*COMMAND, UNJUDGED, "--resume", cwd=many_blocks, program=UNDRAWN)
    assert (done.code, done.err) == (0, "")
    assert "nothing to resume" not in done.out
    monkeypatch.chdir(many_blocks)
    library.write(library.analyse("a.dcd", pairs="all", confidence=False), "undisturbed")
    assert result(many_blocks / "out") == result(many_blocks / "undisturbed")


# ---- what is refused ---------------------------------------------------------------------------


@pytest.fixture
def left(folder: Path, monkeypatch: pytest.MonkeyPatch, timme: Run) -> Path:
    """Return the checkpoint of an interrupted run."""
    np.save(folder / "a.npy", wandering(600))
    monkeypatch.setenv("TIMME_CHECKPOINT_INTERVAL", "0")

    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("timme.workflow.recipe.link", stop)
        found = timme("run", "a.npy")
    path = folder / "timme-a.checkpoint"
    assert found.code == 130
    assert "--resume to go on (timme-a.checkpoint)" in found.err
    assert path.is_file()
    return path


def test_a_kernel_that_never_returns_is_ended_by_a_second_signal(tmp_path: Path) -> None:
    """A long step of C, which lets other threads run, stands for the kernel."""
    code = (
        "import hashlib, threading, timme.workflow\n"
        "def analyse(*_, **__):\n"
        "    # Said by another thread, once this one is in its long step.\n"
        "    threading.Timer(1.0, print, ['begun'], {'flush': True}).start()\n"
        "    hashlib.pbkdf2_hmac('sha256', b'a', b'b', 200_000_000)\n"
        "timme.workflow.analyse = analyse\n"
        "from timme.cli import main\n"
        "main(['run', 'a.npy'])\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "begun\n"
        running.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(0.5)  # the first one waits for what can be saved
        running.send_signal(signal.SIGTERM)
        _, said = running.communicate(timeout=LONGEST)
    assert running.returncode == 128 + signal.SIGTERM
    assert said == "timme: told twice to stop, ended at once\n"


def test_a_checkpoint_is_not_lost_to_a_run_that_starts_anew(left: Path, refused: Refused) -> None:
    err = refused("run", "a.npy")
    assert left.name in err
    assert "--resume" in err
    assert "--overwrite" in err


def test_a_run_that_overwrites_starts_anew(left: Path, timme: Run, without_figures: None) -> None:
    del without_figures
    left.write_bytes(b"damaged")
    assert timme("run", "a.npy", "--overwrite").code == 0
    assert not left.exists()


def test_other_options_are_refused(left: Path, refused: Refused) -> None:
    assert "the option step was not given, now 2" in refused("run", "a.npy", "-dt", "2", "--resume")
    assert "the option end was not given, now 9" in refused("run", "a.npy", "-e", "9", "--resume")
    assert left.is_file()


def test_more_memory_is_no_other_run(left: Path, timme: Run, without_figures: None) -> None:
    del without_figures
    done = timme("run", "a.npy", "--resume", "--memory", "4GB")
    assert done.code == 0
    assert "nothing to resume" not in done.out
    assert not left.exists()


def test_another_input_is_refused(left: Path, refused: Refused) -> None:
    np.save(left.parent / "a.npy", wandering(600, seed=1))
    assert "input 1 was a.npy" in refused("run", "a.npy", "--resume")


def test_a_damaged_checkpoint_is_refused(left: Path, refused: Refused) -> None:
    left.write_bytes(left.read_bytes()[:-100])
    assert "damaged" in refused("run", "a.npy", "--resume")


def test_without_a_checkpoint_there_is_nothing_to_resume(
    folder: Path, timme: Run, without_figures: None
) -> None:
    del without_figures
    np.save(folder / "a.npy", wandering(20))
    found = timme("run", "a.npy", "--resume")
    assert (found.code, found.err) == (0, "")
    assert "note: timme-a.checkpoint is not there: nothing to resume" in found.out


def test_a_finished_run_leaves_no_checkpoint(
    folder: Path, timme: Run, without_figures: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    del without_figures
    monkeypatch.setenv("TIMME_CHECKPOINT_INTERVAL", "0")
    np.save(folder / "a.npy", wandering(600))
    assert timme("run", "a.npy").code == 0
    assert {path.name for path in folder.iterdir()} == {"a.npy", "timme-a"}


@pytest.mark.parametrize("seconds", ["abc", "-1", "nan", "inf", "-inf"])
def test_a_bad_interval_is_refused_by_the_name_of_its_variable(
    refused: Refused, peptide_file: Path, monkeypatch: pytest.MonkeyPatch, seconds: str
) -> None:
    monkeypatch.setenv("TIMME_CHECKPOINT_INTERVAL", seconds)
    said = refused("run", peptide_file)
    assert "TIMME_CHECKPOINT_INTERVAL must be seconds between savings, 0 or more" in said
    assert f"got {seconds!r}" in said
