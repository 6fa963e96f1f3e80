"""Invariants of clusters: the bits of threads, whatever dies, and refusals in one line."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from timme_next._arrays import Coordinates, Floats, Ints
from timme_next.engine import workers
from timme_next.engine.checkpoint import Checkpoint, Run
from timme_next.engine.moments import Moments
from timme_next.engine.reduction import Kept, moments
from timme_next.engine.workers import Cluster, connect
from timme_next.ensemble import Ensemble

pytest.importorskip("distributed", reason="needs dask: pip install 'pytimme[cluster]'")

PAIRS: Ints = np.column_stack(np.triu_indices(60, 1))
PARTS = [range(600), range(100, 500), range(20, 30)]
TILTED = [[100.0, 0.0, 0.0], [20.0, 100.0, 0.0], [10.0, 15.0, 100.0]]


@pytest.fixture(scope="module")
def two_processes() -> Iterator[Cluster]:
    with connect("local", 2) as client:
        yield Cluster(client)


@pytest.fixture
def one_thread() -> Iterator[Cluster]:
    from distributed import Client

    options: dict[str, Any] = {"processes": False, "n_workers": 1, "threads_per_worker": 1}
    options |= {"dashboard_address": "127.0.0.1:0", "set_as_default": False}
    with Client(**options) as client:
        yield Cluster(client)


def snapshots(n_sites: int = 60) -> Floats:
    rng = np.random.default_rng(1)
    return rng.uniform(0, 20, (n_sites, 3)) + 0.3 * rng.normal(size=(600, n_sites, 3))


def spread(_part: int, _tile: slice, found: Moments) -> Kept:
    return found.count, np.sqrt(found.variance)


def sums(
    run: Run | Cluster, ensemble: Ensemble, pairs: Ints = PAIRS, **options: Any
) -> list[bytes]:
    run = run if isinstance(run, Run) else Run(run)
    found = moments(ensemble, pairs, PARTS, reduce=spread, run=run, **options)
    return [array.tobytes() for kept in found for array in kept]


def systems() -> dict[str, Ensemble]:
    gapped = snapshots()
    gapped[np.random.default_rng(2).random(gapped.shape[:2]) < 0.2] = np.nan
    single = snapshots().astype(np.float32)
    return {
        "single": Ensemble.from_array(single),
        "gaps": Ensemble.from_array(gapped, gaps=True),
        "tilted": Ensemble.from_array(single, boxes=TILTED),
    }


@pytest.mark.parametrize("system", systems())
def test_workers_give_the_bits_of_threads(
    system: str, two_processes: Cluster, one_thread: Cluster
) -> None:
    expected = sums(Run.of(workers=1), systems()[system])
    assert sums(two_processes, systems()[system]) == expected
    assert sums(one_thread, systems()[system]) == expected


@dataclass(frozen=True)
class Stored:
    """Coordinates of a file; whoever reads it leaves the number of its process."""

    path: Path
    shape: tuple[int, int, int] = (600, 60, 3)
    on_disk: bool = True

    def read(
        self, numbers: Sequence[int], sites: Ints | None, **_: bool
    ) -> tuple[Coordinates, Floats | None]:
        self.path.with_name(f"read by {os.getpid()}").touch()
        array = np.load(self.path)[np.asarray(numbers)]
        return array if sites is None else array[:, sites], None


def test_workers_open_files_themselves(two_processes: Cluster, tmp_path: Path) -> None:
    held = Ensemble.from_array(snapshots())
    np.save(tmp_path / "a.npy", snapshots())
    source: Any = Stored(tmp_path / "a.npy")
    stored = replace(held, frames=held.frames.over(source))
    assert sums(two_processes, stored) == sums(Run.of(), held)
    assert list(tmp_path.glob("read by *"))
    assert not (tmp_path / f"read by {os.getpid()}").exists()


def test_coordinates_are_sent_once(two_processes: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    sent, submit = list[Any](), Cluster._submit

    def note(self: Cluster, function: Any, *arguments: Any) -> Any:
        sent.extend(arguments)
        return submit(self, function, *arguments)

    monkeypatch.setattr(Cluster, "_submit", note)
    ensemble = Ensemble.from_array(snapshots())
    for some in (PAIRS[:900], PAIRS[900:]):
        sums(two_processes, ensemble, some)
    assert sum(one is ensemble.frames.source for one in sent) == 1


def slow(one: Coordinates, other: Coordinates) -> Coordinates:
    time.sleep(0.2)
    return np.asarray(np.linalg.norm(one - other, axis=-1))


def test_the_work_of_a_killed_worker_is_done_again(two_processes: Cluster) -> None:
    ensemble, expected = Ensemble.from_array(snapshots(20)), None
    pairs = PAIRS[(PAIRS < 20).all(axis=1)]
    expected = sums(Run.of(), ensemble, pairs, metric=slow)
    processes = two_processes.client.run(os.getpid)
    killer = threading.Timer(0.3, os.kill, (min(processes.values()), signal.SIGKILL))
    killer.start()
    assert sums(two_processes, ensemble, pairs, metric=slow) == expected
    killer.join()
    assert two_processes.client.run(os.getpid) != processes


def test_a_run_without_workers_ends_and_keeps_its_checkpoint(
    one_thread: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(workers, "_COMING", 0.2)
    monkeypatch.setattr(workers, "_ANSWERING", 0.1)
    address, ensemble = one_thread._workers[0], Ensemble.from_array(snapshots())
    cluster: Any = one_thread.client.cluster
    checkpoint = Checkpoint(tmp_path / "a.checkpoint", interval=0)
    with pytest.raises(ConnectionError, match=f"dask workers were lost .{address}.:"):
        sums(Run(one_thread, lambda *_: cluster.scale(0), checkpoint), ensemble, metric=slow)
    left = list[int]()
    with Checkpoint(tmp_path / "a.checkpoint", resume=True) as checkpoint:
        run = Run.of(2, None, lambda done, _: left.append(done), checkpoint)
        assert sums(run, ensemble, metric=slow) == sums(Run.of(2), ensemble, metric=slow)
    assert left[0] > 256


def refuse(_one: Coordinates, _other: Coordinates) -> Coordinates:
    raise ZeroDivisionError("of the metric")


def test_errors_of_a_task_are_raised_as_they_are(one_thread: Cluster) -> None:
    with pytest.raises(ZeroDivisionError, match="of the metric"):
        sums(one_thread, Ensemble.from_array(snapshots()), metric=refuse)


def test_a_metric_that_cannot_be_sent_is_refused(one_thread: Cluster) -> None:
    lock = threading.Lock()

    def locked(one: Coordinates, other: Coordinates) -> Coordinates:
        with lock:
            return slow(one, other)

    with pytest.raises(ValueError, match="dask needs metrics to be plain functions: cannot pickle"):
        sums(one_thread, Ensemble.from_array(snapshots()), metric=locked)


@pytest.mark.parametrize("name", ["version", "get_host_cpu_name"])
def test_workers_that_differ_are_refused_by_name(
    name: str, two_processes: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, name, lambda *_: "other")
    with pytest.raises(ValueError, match=r"dask workers need .*other.*, but tcp://.* has timme"):
        Cluster(two_processes.client)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://x", "nowhere", "silent"])
def test_a_scheduler_that_is_not_there_is_one_line(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_ANSWERING", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        where = address.replace("silent", f"tcp://127.0.0.1:{server.getsockname()[1]}")
        with pytest.raises(ConnectionError, match=r"no dask scheduler .* at '.*: start") as caught:
            Run.of(client=where)
    assert "\n" not in str(caught.value)
