"""A cluster does the same work: the same bits for any number of workers, whatever dies."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest

import timme
from tests.conftest import MakeUniverse
from tests.patience import LONGEST
from timme._arrays import Coordinates, Floats
from timme.analysis import Judged
from timme.cli import main
from timme.engine.protocol import Engine
from timme.engine.run import Run
from timme.fluctuations import Fluctuations
from timme.fluctuations.parts import measure_parts
from timme.objects import Objects
from timme.system.ensemble import Ensemble

pytest.importorskip("distributed", reason="needs dask: pip install 'pytimme[cluster]'")

from distributed import Client

from timme.engine.connect import _wait, connect
from timme.engine.dask import Cluster

SYSTEMS = (
    "points",
    "double",
    "bodies",
    "gapped",
    "weighted",
    "periodic",
    "tilted",
    "streaming",
    "stored",
    "centres",
)


def moving(n_snapshots: int = 600, n_sites: int = 60, seed: int = 1) -> Coordinates:
    """Return sites around a lattice, more snapshots than one block."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(0, 20, size=(n_sites, 3))
    return places + 0.3 * rng.normal(size=(n_snapshots, n_sites, 3))


def objects_of(system: str, folder: Path, make_universe: MakeUniverse) -> Objects:
    xyz = moving()
    if system == "streaming":
        make_universe(xyz).atoms.write(folder / "moving.dcd", frames="all")
        return timme.objects.points(timme.read(folder / "moving.dcd", bonds="none"))
    if system == "stored":
        np.save(folder / "moving.npy", xyz)
        return timme.objects.points(timme.read(folder / "moving.npy"))
    options: dict[str, Any] = {}
    if system == "gapped":
        xyz[np.random.default_rng(2).random(xyz.shape[:2]) < 0.2] = np.nan
        options["gaps"] = True
    elif system == "weighted":
        options["weights"] = np.random.default_rng(3).random(len(xyz))
    elif system == "periodic":
        options["boxes"] = [100.0, 110.0, 120.0]
        xyz = (xyz + 90.0) % [100.0, 110.0, 120.0]
    elif system == "tilted":
        options["boxes"] = [[100.0, 0, 0], [20.0, 100, 0], [10.0, 15, 100]]
    kind = np.float64 if system == "double" else np.float32
    chain = np.column_stack([np.arange(59), np.arange(1, 60)])
    atoms = timme.Atoms.unnamed(60, bonds=chain)
    ensemble = Ensemble.from_array(xyz.astype(kind), atoms=atoms, **options)
    if system == "bodies":
        return timme.objects.bodies(ensemble)
    if system == "centres":
        sets = np.arange(58)[:, None] + np.arange(3)
        return timme.objects.groups(ensemble, list(sets), reduction="centre")
    return timme.objects.points(ensemble)


def same(found: Fluctuations, expected: Fluctuations) -> bool:
    return (
        np.array_equal(found.pairs, expected.pairs)
        and np.array_equal(found.sigma, expected.sigma)
        and np.array_equal(found.common, expected.common)
    )


@pytest.mark.parametrize("system", SYSTEMS)
def test_threads_and_workers_give_the_same_bits(
    system: str, clients: dict[int, Client], tmp_path: Path, make_universe: MakeUniverse
) -> None:
    objects = objects_of(system, tmp_path, make_universe)
    pairs = timme.pairs.all(objects)
    serial = timme.measure(objects, pairs, workers=1)
    assert same(timme.measure(objects, pairs, workers=2), serial)
    for client in clients.values():
        assert same(timme.measure(objects, pairs, workers=Cluster(client)), serial)


@pytest.mark.parametrize("system", SYSTEMS)
def test_contacts_are_found_by_any_number_of_workers(
    system: str, clients: dict[int, Client], tmp_path: Path, make_universe: MakeUniverse
) -> None:
    objects = objects_of(system, tmp_path, make_universe)
    expected = timme.pairs.within(objects, 6.0, at_least=100, workers=1).index
    assert expected is not None
    assert len(expected) > 10
    engines: list[int | Engine] = [2, 5, *map(Cluster, clients.values())]
    for engine in engines:
        found = timme.pairs.within(objects, 6.0, at_least=100, workers=engine).index
        assert np.array_equal(np.asarray(found), expected)


@pytest.mark.parametrize("system", ["streaming", "stored"])
def test_workers_open_files_themselves(
    system: str,
    clients: dict[int, Client],
    tmp_path: Path,
    make_universe: MakeUniverse,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    objects = objects_of(system, tmp_path, make_universe)
    pairs = timme.pairs.all(objects)
    serial = timme.measure(objects, pairs, workers=1)

    def refuse(*_: object) -> None:
        raise AssertionError("read here")

    monkeypatch.setattr(Ensemble, "block", refuse)
    assert same(timme.measure(objects, pairs, workers=Cluster(clients[2])), serial)


@pytest.mark.parametrize("system", ["bodies", "gapped", "streaming"])
def test_sums_over_parts_are_the_same(
    system: str, clients: dict[int, Client], tmp_path: Path, make_universe: MakeUniverse
) -> None:
    objects = objects_of(system, tmp_path, make_universe)
    pairs = timme.pairs.all(objects)
    parts = [range(300), range(200, 257), range(400, 600)]
    serial, found = (
        measure_parts(objects, pairs, parts, run=Run.of(workers=workers))
        for workers in (1, Cluster(clients[2]))
    )
    for name in ("common", "weight", "variance", "origin", "shift"):
        one, other = getattr(serial, name), getattr(found, name)
        assert np.array_equal(one, other, equal_nan=True)


@pytest.mark.parametrize("system", ["points", "bodies", "gapped", "streaming"])
def test_how_sure_a_run_is_is_the_same(
    system: str, clients: dict[int, Client], tmp_path: Path, make_universe: MakeUniverse
) -> None:
    objects = objects_of(system, tmp_path, make_universe)
    serial = timme.analyse(objects, pairs="all", min_bonds=0, workers=1).part(Judged)
    found = timme.analyse(objects, pairs="all", min_bonds=0, client=clients[2]).part(Judged)
    assert serial is not None
    assert found is not None
    for name, values in serial.to_arrays().items():
        np.testing.assert_array_equal(found.to_arrays()[name], values)


def test_a_metric_travels_to_workers(clients: dict[int, Client]) -> None:
    def taxi(a: Coordinates, b: Coordinates) -> Floats:
        distances: Floats = np.abs(a - b).sum(axis=-1)
        return distances

    objects = timme.objects.points(Ensemble.from_array(moving()))
    pairs = timme.pairs.all(objects)
    serial = timme.measure(objects, pairs, metric=taxi, workers=1)
    for client in clients.values():
        assert same(timme.measure(objects, pairs, metric=taxi, workers=Cluster(client)), serial)


def test_many_tiles_of_pairs_are_merged_where_they_belong(clients: dict[int, Client]) -> None:
    xyz = moving(300, 500)
    objects = timme.objects.points(Ensemble.from_array(xyz.astype(np.float32)))
    pairs = timme.pairs.all(objects)
    serial = timme.measure(objects, pairs, workers=1)
    assert same(timme.measure(objects, pairs, workers=Cluster(clients[2])), serial)


def test_hierarchies_without_all_pairs_are_the_same(clients: dict[int, Client]) -> None:
    objects = timme.objects.points(Ensemble.from_array(moving(100, 700).astype(np.float32)))
    pairs = timme.pairs.all(objects)
    serial = timme.cluster(objects, pairs, workers=1)
    found = timme.cluster(objects, pairs, workers=Cluster(clients[2]))
    assert np.array_equal(found.parents, serial.parents)
    assert np.array_equal(found.heights, serial.heights)


def test_map_keeps_the_order_and_sends_what_is_shared(clients: dict[int, Client]) -> None:
    cluster = Cluster(clients[2])
    assert list(cluster.map(divmod, 100, [7, 3, 9])) == [(14, 2), (33, 1), (11, 1)]
    assert list(cluster.map(divmod, 100, [])) == []


@pytest.fixture
def submitted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the functions that are submitted as tasks."""
    names, submit = list[str](), Cluster._submit

    def note(self: Cluster, function: Any, *arguments: Any) -> Any:
        names.append(function.__name__)
        return submit(self, function, *arguments)

    monkeypatch.setattr(Cluster, "_submit", note)
    return names


def test_calls_that_take_no_time_go_many_in_a_task(
    clients: dict[int, Client], submitted: list[str]
) -> None:
    items = list(range(1, 2001))
    assert list(Cluster(clients[2]).map(divmod, 100, items)) == [divmod(100, k) for k in items]
    assert len(submitted) < 100


def _sleep(seconds: float, item: int) -> int:
    time.sleep(seconds)
    return item


def test_calls_that_take_long_are_a_task_each(
    clients: dict[int, Client], submitted: list[str]
) -> None:
    assert list(Cluster(clients[2]).map(_sleep, 0.3, range(20))) == list(range(20))
    assert len(submitted) == 1 + 20  # what they share, and each of them


def test_few_pairs_of_what_is_in_memory_are_not_sent(
    clients: dict[int, Client], submitted: list[str]
) -> None:
    points = timme.objects.points(Ensemble.from_array(moving()))
    near = timme.pairs.nearest(points, 6)
    found = timme.measure(points, near, workers=Cluster(clients[2]))
    assert same(found, timme.measure(points, near, workers=1))
    assert not submitted
    timme.measure(points, timme.pairs.all(points), workers=Cluster(clients[2]))
    assert "_measure" in submitted


def test_few_pairs_of_what_workers_read_are_measured_there(
    clients: dict[int, Client], submitted: list[str], tmp_path: Path
) -> None:
    np.save(tmp_path / "moving.npy", moving())
    points = timme.objects.points(timme.read(tmp_path / "moving.npy"))
    near = timme.pairs.nearest(points, 6)
    found = timme.measure(points, near, workers=Cluster(clients[2]))
    assert same(found, timme.measure(points, near, workers=1))
    assert "_measure" in submitted


def test_analyse_takes_a_client(clients: dict[int, Client]) -> None:
    ensemble = timme.synthetic.chain(50)
    expected = timme.analyse(ensemble, workers=1)
    found = timme.analyse(ensemble, client=clients[1])
    assert np.array_equal(found.hierarchy.heights, expected.hierarchy.heights)


class Killer:
    """Kill workers, one after another, while something else goes on."""

    def __init__(self, client: Client, *, times: int, pause: float) -> None:
        self.killed = 0
        self._client, self._times, self._pause = client, times, pause
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._kill)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()

    def _kill(self) -> None:
        while self.killed < self._times and not self._done.wait(self._pause):
            pids = self._client.run(os.getpid, on_error="ignore")
            if pids:
                os.kill(pids[min(pids)], signal.SIGKILL)
                self.killed += 1


def euclidean(a: Coordinates, b: Coordinates) -> Floats:
    """Return Euclidean distances."""
    distances: Floats = np.sqrt(((a - b) ** 2).sum(axis=-1))
    return distances


def slow(a: Coordinates, b: Coordinates) -> Floats:
    """Return the same after a while."""
    time.sleep(0.1)
    return euclidean(a, b)


def killed_run(client: Client, *, times: int, n_snapshots: int) -> int:
    """Measure while workers are killed; check the result, return how many died."""
    objects = timme.objects.points(Ensemble.from_array(moving(n_snapshots, 30)))
    pairs = timme.pairs.all(objects)
    expected = timme.measure(objects, pairs, metric=euclidean)
    with Killer(client, times=times, pause=0.4) as killer:
        found = timme.measure(objects, pairs, metric=slow, workers=Cluster(client))
    assert same(found, expected)
    return killer.killed


@pytest.mark.thorough
def test_a_killed_worker_costs_time_not_the_result() -> None:
    with connect("local", workers=2) as client:
        assert killed_run(client, times=1, n_snapshots=5_000) == 1


@pytest.mark.long
def test_three_workers_killed_again_and_again_change_nothing() -> None:
    with connect("local", workers=3) as client:
        killed = sum(killed_run(client, times=5, n_snapshots=20_000) for _ in range(5))
        assert killed >= 10


@pytest.mark.long
@pytest.mark.parametrize("system", SYSTEMS)
def test_three_workers_give_the_same_bits(
    system: str, tmp_path: Path, make_universe: MakeUniverse
) -> None:
    objects = objects_of(system, tmp_path, make_universe)
    pairs = timme.pairs.all(objects)
    with connect("local", workers=3) as client:
        found = timme.measure(objects, pairs, workers=Cluster(client))
    assert same(found, timme.measure(objects, pairs, workers=1))


# ---- what goes wrong ---------------------------------------------------------------------------


def test_errors_of_a_task_are_raised_as_they_are(clients: dict[int, Client]) -> None:
    xyz = moving().astype(np.float32)
    objects = timme.objects.points(Ensemble.from_array(xyz))
    cluster = Cluster(clients[1])
    with pytest.raises(ValueError, match="a metric must return one distance for each"):
        timme.measure(objects, timme.pairs.all(objects), metric=np.subtract, workers=cluster)


def test_a_metric_that_cannot_travel_is_refused(clients: dict[int, Client]) -> None:
    lock = threading.Lock()

    def locked(a: Coordinates, b: Coordinates) -> Floats:
        with lock:
            return slow(a, b)

    objects = timme.objects.points(Ensemble.from_array(moving()))
    with pytest.raises(ValueError, match="must be picklable"):
        timme.measure(objects, timme.pairs.all(objects), metric=locked, workers=Cluster(clients[1]))


def test_workers_of_another_version_are_refused(
    clients: dict[int, Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("timme.engine.dask.__version__", "0.0.0")
    with pytest.raises(ValueError, match=r"workers need timme 0\.0\.0, but tcp://.* has "):
        Cluster(clients[1])


@pytest.mark.parametrize(("count", "named"), [(1, "1 worker did"), (2, "2 workers did")])
def test_workers_that_do_not_come_are_counted(count: int, named: str) -> None:
    class Alone:
        def wait_for_workers(self, count: int, *, timeout: float) -> None:
            raise TimeoutError(f"{count} workers in {timeout} s")

    with pytest.raises(ConnectionError, match=f"^{named} not come within"):
        _wait(Alone(), count)  # type: ignore[arg-type]


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://x"])
def test_a_scheduler_that_is_not_there_is_one_line(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("timme.engine.connect._SECONDS_TO_CONNECT", 0.5)
    with pytest.raises(ConnectionError, match="no dask scheduler can be reached at"):
        connect(address).__enter__()


def test_what_answers_and_is_no_scheduler_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            while True:
                try:
                    caller, _ = server.accept()
                except OSError:
                    return
                with caller, suppress(OSError):
                    caller.sendall(b"SSH-2.0-something\r\n" * 10)
                    caller.recv(1000)

        threading.Thread(target=answer).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ConnectionError, match=r"no dask scheduler can be reached at"):
            connect(address).__enter__()
        server.shutdown(socket.SHUT_RDWR)


def test_what_listens_and_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("timme.engine.connect._SECONDS_TO_CONNECT", 0.5)
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        pytest.raises(ConnectionError, match=r"no dask scheduler .* \(no answer\)"),
    ):
        connect(f"tcp://127.0.0.1:{server.getsockname()[1]}").__enter__()


def test_a_number_of_workers_is_for_local_clusters() -> None:
    with pytest.raises(ValueError, match="for a local cluster"):
        connect("tcp://127.0.0.1:9", workers=2).__enter__()
    with pytest.raises(ValueError, match="at least 1 worker"):
        connect("local", workers=0).__enter__()


# ---- the command line --------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.usefixtures("without_figures")
def test_the_command_line_measures_on_a_local_cluster(tmp_path: Path) -> None:
    np.save(tmp_path / "moving.npy", moving(300, 40))
    for name, more in (("one", []), ("many", ["--cluster", "local", "--workers", "2"])):
        main(["run", str(tmp_path / "moving.npy"), "-o", str(tmp_path / name), *more])
    one, many = (timme.load(tmp_path / name / "result.npz") for name in ("one", "many"))
    assert np.array_equal(one.hierarchy.heights, many.hierarchy.heights)
    assert np.array_equal(one.hierarchy.parents, many.hierarchy.parents)


def command(folder: Path, address: str) -> list[str]:
    """Return a run on the cluster at an address."""
    return [
        sys.executable,
        "-m",
        "timme",
        "run",
        str(folder / "moving.npy"),
        "-o",
        str(folder / "out"),
        "--cluster",
        address,
    ]


# Not in this process: what a client leaves behind is complained of when Python ends.
@pytest.mark.parametrize(
    "address",
    [
        "nowhere",
        *(
            pytest.param(address, marks=pytest.mark.thorough)
            for address in ("tcp://127.0.0.1:9", "tcp://", "nonsense://x:1")
        ),
    ],
)
def test_the_command_line_says_that_no_scheduler_is_there(tmp_path: Path, address: str) -> None:
    np.save(tmp_path / "moving.npy", moving(10, 5))
    ran = subprocess.run(command(tmp_path, address), capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("timme: error: no dask scheduler can be reached at")
    assert ran.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_a_scheduler_that_dies_ends_the_run_in_one_line(tmp_path: Path) -> None:
    np.save(tmp_path / "moving.npy", moving(100_000, 60).astype(np.float32))
    with serving() as (scheduler, address):
        with Client(address, timeout=LONGEST, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=LONGEST)
            run = subprocess.Popen(command(tmp_path, address), stderr=subprocess.PIPE, text=True)
            while run.poll() is None and not client.run_on_scheduler(has_tasks):
                time.sleep(0.05)
        scheduler.kill()
        _, error = run.communicate(timeout=LONGEST)
    lost = "the dask cluster was closed or lost before the end: start it again"
    assert (run.returncode, error) == (2, f"timme: error: {lost}\n")


def has_tasks(dask_scheduler: Any) -> bool:
    """Tell, in a scheduler, whether a run has sent it work."""
    return len(dask_scheduler.tasks) > 0


@contextmanager
def serving() -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Run a scheduler and a worker; yield the scheduler and its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    local = "--host 127.0.0.1 --no-dashboard --dashboard-address 127.0.0.1:0".split()
    begin = [sys.executable, "-m"]
    scheduler = [*begin, "distributed.cli.dask_scheduler", "--port", str(port), *local]
    worker = [*begin, "distributed.cli.dask_worker", address, "--death-timeout", "5", *local]
    quiet = subprocess.DEVNULL
    processes = [subprocess.Popen(command, stderr=quiet) for command in (scheduler, worker)]
    try:
        yield processes[0], address
    finally:
        for process in processes:
            process.terminate()
            process.wait()


@pytest.mark.thorough
def test_a_script_needs_no_guard_and_leaves_nothing_running(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, timme\n"
        "from timme.engine.connect import connect\n"
        "with connect('local', workers=1) as client:\n"
        "    print(timme.analyse(timme.synthetic.chain(20), client=client).hierarchy.n_sites)\n"
        "    print(*client.run(os.getpid).values())\n"
    )
    ran = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    sites, worker = ran.stdout.split()
    assert (sites, ran.stderr) == ("20", "")
    with pytest.raises(ProcessLookupError):
        os.kill(int(worker), 0)
