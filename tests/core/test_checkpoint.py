"""Invariants of checkpoints: runs go on after any interruption, to the same bits."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.core.test_reduction import bits, collect
from tests.processes import python
from timme._arrays import Coordinates, Floats, Ints
from timme.engine.checkpoint import Checkpoint, CheckpointError, Interrupted, Run
from timme.ensemble import Ensemble

PAIRS: Ints = np.column_stack(np.triu_indices(20, 1))


class KilledError(Exception):
    """Ends a run from within."""


def stop_at(call: int, end: Callable[[], object]) -> Callable[[int, int], None]:
    """Progress that calls something when it is reported for the given time."""
    told = list[int]()

    def progress(done: int, _total: int) -> None:
        told.append(done)
        if len(told) == call:
            end()

    return progress


def fail() -> str:
    raise KilledError


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six blocks of 100 snapshots."""
    monkeypatch.setattr("timme.ensemble.ensemble._MOST_FRAMES", 100)


def snapshots(seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(600, 20, 3)) * np.linspace(0.1, 1.0, 20)[:, None]


def sums(ensemble: Ensemble | None = None, **options: Any) -> list[bytes]:
    """Bits of a reduction; further options are those of a run."""
    pairs, metric = options.pop("pairs", PAIRS), options.pop("metric", None)
    ensemble = ensemble or Ensemble.from_array(snapshots())
    run = options.pop("run", None) or Run.of(**options)
    return bits(collect(ensemble, pairs, metric=metric, run=run))


def interrupt(path: Path, call: int = 3, **options: Any) -> None:
    """Begin a run that saves whenever it can, and end it after some blocks."""
    with pytest.raises(KilledError), Checkpoint(path, interval=0) as checkpoint:
        sums(progress=stop_at(call, fail), checkpoint=checkpoint, **options)


@pytest.fixture(scope="module")
def whole() -> list[bytes]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("timme.ensemble.ensemble._MOST_FRAMES", 100)
        return sums()


@pytest.mark.parametrize("call", range(1, 7))
@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_interrupted_at_any_block_goes_on(
    workers: int, call: int, whole: list[bytes], tmp_path: Path
) -> None:
    path, left = tmp_path / "a.checkpoint", list[int]()
    interrupt(path, call, workers=workers)
    with Checkpoint(path, resume=True) as checkpoint:
        run = Run.of(3 - workers, None, lambda done, _: left.append(done), checkpoint)
        assert sums(run=run) == whole
        assert checkpoint.resumed
    assert left == [100 * block for block in range(call % 6 + 1, 7)]  # one that ended begins anew
    assert list(tmp_path.iterdir()) == []


CHILD = """
import os, signal, sys
from tests.core.test_checkpoint import *
from timme.ensemble import ensemble
ensemble._MOST_FRAMES = 100
path, when = Path(sys.argv[1]), sys.argv[2]
def cut_short(progress):
    def savez(path, **arrays):
        save(path, **arrays)
        os.truncate(path, 1000)
        progress(0, 0)
        save(path, **arrays)
    return savez
save = np.savez
def kill():
    os.kill(os.getpid(), signal.SIGKILL)
def run(progress=None, interval=0):
    with Checkpoint(path, resume=True, interval=interval) as checkpoint:
        return sums(workers=1, progress=progress, checkpoint=checkpoint)
whole = sums(workers=1)
for call in range(1, 7):
    for again in range(2):  # killed, and killed again at the block after that
        if not (child := os.fork()):
            end = stop_at(1 if again else call, kill)
            if when == "while saving":
                np.savez = cut_short(end)
            run(None if when == "while saving" else end)
            os._exit(0)
        killed = os.waitpid(child, 0)[1] == signal.SIGKILL
        if not killed and (again == 0 or call < 6):
            print("not killed")
    print(run(interval=30) == whole, list(path.parent.iterdir()))
"""


@pytest.mark.parametrize("when", ["after a block", "while saving"])
def test_a_run_killed_at_any_block_goes_on(when: str, tmp_path: Path) -> None:
    ran = python("-c", CHILD, str(tmp_path / "a.checkpoint"), when)
    assert ran.stdout.splitlines() == ["True []"] * 6


def test_a_signal_ends_a_run_when_it_has_saved(tmp_path: Path, whole: list[bytes]) -> None:
    path = tmp_path / "a.checkpoint"
    checkpoint = Checkpoint(path, resume=True)
    before = signal.signal(signal.SIGTERM, lambda *_: checkpoint.stop())
    try:
        with pytest.raises(Interrupted), checkpoint:
            sums(progress=stop_at(2, lambda: signal.raise_signal(15)), checkpoint=checkpoint)
    finally:
        signal.signal(signal.SIGTERM, before)
    left = list[int]()
    with Checkpoint(path, resume=True) as checkpoint:
        assert sums(progress=lambda done, _: left.append(done), checkpoint=checkpoint) == whole
    assert left == [400, 500, 600]


# ---- what belongs to a run -----------------------------------------------------------------------


def manhattan(one: Coordinates, other: Coordinates) -> Coordinates:
    return np.asarray(np.abs(one - other).sum(axis=-1))


def others() -> dict[str, dict[str, Any]]:
    base = Ensemble.from_array(snapshots())
    late = snapshots()
    late[-1] += 0.1
    return {
        "snapshots": {"ensemble": Ensemble.from_array(late)},
        "weights": {"ensemble": replace(base, weights=np.linspace(0.5, 1, 600))},
        "box": {"ensemble": Ensemble.from_array(snapshots(), boxes=[40.0, 50.0, 60.0])},
        "pairs": {"pairs": PAIRS[::-1].copy()},
        "metric": {"metric": manhattan},
    }


@pytest.mark.parametrize("change", ["pairs", "metric"])
def test_results_of_another_part_of_a_run_are_not_taken_up(change: str, tmp_path: Path) -> None:
    path, options = tmp_path / "a.checkpoint", others()[change]
    interrupt(path)
    with Checkpoint(path, resume=True) as checkpoint:
        found = sums(checkpoint=checkpoint, **options)
        assert checkpoint.resumed
    assert found == sums(**options)


CALLS = list[int]()


def failing(one: Coordinates, other: Coordinates) -> Coordinates:
    CALLS.append(len(CALLS))
    if len(CALLS) == 18:
        raise KilledError
    return manhattan(one, other)


def test_half_changed_arrays_are_not_saved(tmp_path: Path) -> None:
    """An error comes when some tiles of a block are merged, and another loop saves after it."""
    path = tmp_path / "a.checkpoint"
    options: Any = {"pairs": np.tile(PAIRS, (40, 1)), "metric": failing, "workers": 1}
    checkpoint = Checkpoint(path, resume=True, interval=0)
    CALLS.clear()
    with pytest.raises(KilledError):
        sums(checkpoint=checkpoint, **options)
    with Run(checkpoint=checkpoint).loop("contacts", lambda: "", 1) as loop:
        loop.advance(1, lambda: {"found": np.arange(3)})
    resumed = Checkpoint(path, resume=True)
    assert sums(checkpoint=resumed, **options) == sums(**options)
    assert resumed.resumed


def test_what_is_not_yet_taken_up_stays_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.checkpoint"
    first = Checkpoint(path, interval=0)
    first.keep("contacts", str, {"found": np.arange(3)})
    first.keep("moments", str, {"mean": np.arange(4)})
    second = Checkpoint(path, resume=True, interval=0)
    second.keep("contacts", str, second.recall("contacts", str))
    assert Checkpoint(path, resume=True).recall("moments", str)["mean"].tolist() == [0, 1, 2, 3]


IDENTITY = {"the version": "1", "input 1": "a.pdb", "the option cutoff": "3"}


@pytest.mark.parametrize(
    ("identity", "said"),
    [
        ({"input 1": "b.pdb"}, "input 1 was a.pdb, now b.pdb"),
        ({"the option radius": "8"}, "the option radius was none, now 8"),
    ],
)
def test_the_checkpoint_of_another_run_is_refused_by_name(
    identity: dict[str, str], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.checkpoint"
    checkpoint = Checkpoint(path, interval=0)
    checkpoint.identify(IDENTITY)
    with pytest.raises(KilledError):
        sums(progress=stop_at(3, fail), checkpoint=checkpoint)
    Checkpoint(path, resume=True).identify(IDENTITY)
    Checkpoint(path).identify(IDENTITY | identity)  # it begins anew
    with pytest.raises(CheckpointError, match=f"{path}: of another run: {said}: remove the file"):
        Checkpoint(path, resume=True).identify(IDENTITY | identity)
    with pytest.raises(CheckpointError, match=r"of another run: .* now none"):
        sums(checkpoint=Checkpoint(path, resume=True))


@pytest.mark.parametrize("change", ["snapshots", "weights", "box"])
def test_a_checkpoint_of_other_snapshots_is_refused_by_name_and_kept(
    change: str, tmp_path: Path
) -> None:
    path, options = tmp_path / "a.checkpoint", others()[change]
    interrupt(path)
    with (
        pytest.raises(CheckpointError, match=r"of another run: its moments are of other snapshots"),
        Checkpoint(path, resume=True) as checkpoint,
    ):
        sums(checkpoint=checkpoint, **options)
    assert path.exists()


def test_a_damaged_checkpoint_is_refused(tmp_path: Path, whole: list[bytes]) -> None:
    path = tmp_path / "a.checkpoint"
    interrupt(path)
    content = path.read_bytes()
    damaged = [b"", b"ATOM      1", content[:-1], content[: len(content) // 2]]
    for place in np.random.default_rng(0).integers(0, len(content), 40).tolist():
        flipped = bytearray(content)
        flipped[place] ^= 0x40
        damaged.append(bytes(flipped))
    refused = 0
    for changed in damaged:
        path.write_bytes(changed)
        try:  # some bytes of an archive mean nothing
            assert sums(checkpoint=Checkpoint(path, resume=True)) == whole
        except CheckpointError:
            refused += 1
    assert refused > len(damaged) // 2
