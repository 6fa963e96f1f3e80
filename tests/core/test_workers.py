"""Invariants of threads and clusters: order, bits, whatever dies, refusals in one line."""

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

from tests.core.test_reduction import bits, collect
from timme._arrays import Coordinates, Floats, Ints
from timme.engine import workers
from timme.engine.checkpoint import Checkpoint, Run
from timme.engine.workers import Cluster, Threads
from timme.ensemble import Ensemble


def add_late(shared: int, item: int) -> int:
    """The later an item comes, the sooner it is done."""
    time.sleep(0.002 * (20 - item))
    return shared + item


@pytest.mark.parametrize("count", [1, 2, 3])
def test_results_come_in_the_order_of_the_items(count: int) -> None:
    assert list(Threads(count).map(add_late, 100, range(20))) == list(range(100, 120))


def test_an_error_ends_the_work() -> None:
    called = list[int]()

    def invert(_: None, item: int) -> float:
        called.append(item)
        time.sleep(0.001)
        return 1 / item

    with pytest.raises(ZeroDivisionError):
        list(Threads(2).map(invert, None, [3, 2, 1, 0, *range(1, 500)]))
    assert len(called) < 50


@pytest.mark.parametrize("workers", [0, -1, 1.5, "many", [2]])
def test_other_workers_are_refused(workers: Any) -> None:
    with pytest.raises(ValueError, match="workers= must be a whole number of at least 1, got"):
        Run.of(workers=workers)


def test_what_is_no_client_or_checkpoint_is_refused() -> None:
    wrong: Any = 8786
    with pytest.raises(TypeError, match="client= needs a dask Client or its address, got 8786"):
        Run.of(client=wrong)
    with pytest.raises(TypeError, match=r"checkpoint= needs a timme\.Checkpoint, got 8786"):
        Run.of(checkpoint=wrong)


# ---- clusters ----------------------------------------------------------------------------------


PAIRS: Ints = np.column_stack(np.triu_indices(60, 1))
PARTS = [range(600), range(100, 500), range(20, 30)]
TILTED = [[100.0, 0.0, 0.0], [20.0, 100.0, 0.0], [10.0, 15.0, 100.0]]


def cluster(**options: Any) -> Iterator[Cluster]:
    distributed = pytest.importorskip("distributed", reason="needs pip install 'pytimme[cluster]'")
    options |= {"threads_per_worker": 1, "set_as_default": False, "silence_logs": 50}
    with distributed.Client(**options, dashboard_address="127.0.0.1:0") as client:
        yield Cluster(client)


@pytest.fixture(scope="module")
def two_processes() -> Iterator[Cluster]:
    yield from cluster(n_workers=2, host="127.0.0.1")


@pytest.fixture
def one_thread() -> Iterator[Cluster]:
    yield from cluster(n_workers=1, processes=False)


def snapshots(n_sites: int = 60) -> Floats:
    rng = np.random.default_rng(1)
    return rng.uniform(0, 20, (n_sites, 3)) + 0.3 * rng.normal(size=(600, n_sites, 3))


def sums(
    run: Run | Cluster,
    ensemble: Ensemble,
    pairs: Ints = PAIRS,
    parts: list[range] | None = PARTS,
    **options: Any,
) -> list[bytes]:
    run = run if isinstance(run, Run) else Run(run)
    return bits(collect(ensemble, pairs, parts, run=run, **options))


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
    (address,), ensemble = one_thread._workers, Ensemble.from_array(snapshots())
    cluster: Any = one_thread.client.cluster
    checkpoint = Checkpoint(tmp_path / "a.checkpoint", interval=0)
    run = Run(one_thread, lambda *_: cluster.scale(0), checkpoint)
    with pytest.raises(ConnectionError, match=f"dask workers were lost .{address}.:"):
        sums(run, ensemble, parts=None, metric=slow)
    left = list[int]()
    with Checkpoint(tmp_path / "a.checkpoint", resume=True) as checkpoint:
        run = Run.of(2, None, lambda done, _: left.append(done), checkpoint)
        options: Any = {"parts": None, "metric": slow}
        assert sums(run, ensemble, **options) == sums(Run.of(2), ensemble, **options)
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
    pytest.importorskip("distributed", reason="needs pip install 'pytimme[cluster]'")
    monkeypatch.setattr(workers, "_ANSWERING", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        where = address.replace("silent", f"tcp://127.0.0.1:{server.getsockname()[1]}")
        with pytest.raises(ConnectionError, match=r"no dask scheduler .* at '.*: start") as caught:
            Run.of(client=where)
    assert "\n" not in str(caught.value)
