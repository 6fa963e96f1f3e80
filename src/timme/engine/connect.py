"""Reach the workers of a dask cluster, or start some on this computer."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from timme.engine.threads import available_cores

if TYPE_CHECKING:
    from distributed import Client

LOST = "the dask cluster was closed or lost before the end: start it again"

_SECONDS_TO_CONNECT = 5
_SECONDS = 120  # in which workers must have come, on a busy computer too


@contextmanager
def connect(where: str, *, workers: int | None = None) -> Iterator[Client]:
    """Start workers on this computer, or reach those of a cluster that runs.

    Parameters
    ----------
    where : str
        ``"local"``, or the address of a dask scheduler, such as ``tcp://10.0.0.1:8786``.
    workers : int, optional
        Number of local workers, one per core by default.

    Yields
    ------
    Client
        Connected; what was started here is stopped in the end.
    """
    _require_dask()
    if where == "local":
        with _local(available_cores() if workers is None else workers) as client:
            yield client
        return
    if workers is not None:
        raise ValueError(f"a number of workers is for a local cluster, not for {where}")
    from distributed import Client

    with _silence():
        try:
            _greet(where)
            client = Client(where, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            reason = " ".join(str(error).split()) or "no answer"
            raise ConnectionError(
                f"no dask scheduler can be reached at {where!r} ({reason}): "
                "start one with `dask scheduler` and workers, or use `local`"
            ) from None
        with client:
            try:
                _wait(client, 1)
                yield client
            except OSError:
                if client.status == "running":
                    raise
                raise ConnectionError(LOST) from None


def _require_dask() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise ImportError(
            "clusters need dask: install it with `pip install 'pytimme[cluster]'`"
        ) from None


def _greet(where: str) -> None:
    """Make sure that a scheduler answers.

    A client waits forever for anything else that listens there, and one of what is no address
    cannot be closed again.
    """
    from distributed.comm.core import connect as comm_with

    async def greeted() -> None:
        comm = await comm_with(where, timeout=_SECONDS_TO_CONNECT)
        comm.abort()

    with ThreadPoolExecutor(1) as pool:  # notebooks have a loop in this thread
        answer = pool.submit(asyncio.run, asyncio.wait_for(greeted(), 2 * _SECONDS_TO_CONNECT))
    try:
        answer.result()
    except (OSError, ValueError):
        raise
    except Exception:  # noqa: BLE001, anything may come from anything that listens there
        raise ValueError("what answers is no scheduler") from None


def _wait(client: Client, count: int) -> None:
    try:
        client.wait_for_workers(count, timeout=_SECONDS)
    except TimeoutError:
        named = "1 worker" if count == 1 else f"{count} workers"
        raise ConnectionError(
            f"{named} did not come within {_SECONDS} s: look into their logs"
        ) from None


@contextmanager
def _silence() -> Iterator[None]:
    """Keep dask's own messages off the terminal; what matters is raised."""
    names = [
        name for name in logging.root.manager.loggerDict if name.split(".")[0] == "distributed"
    ]
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:  # some have levels of their own
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


@contextmanager
def _local(count: int) -> Iterator[Client]:
    """Run a scheduler in this process and workers in others, all on the loopback."""
    if count < 1:
        raise ValueError(f"at least 1 worker is needed, got {count}")
    from distributed import Client, LocalCluster

    with (
        _silence(),
        tempfile.TemporaryDirectory(prefix="timme-", ignore_cleanup_errors=True) as folder,
        LocalCluster(
            n_workers=0,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
        _workers(cluster.scheduler_address, count, folder),
    ):
        _wait(client, count)
        yield client


@contextmanager
def _workers(scheduler: str, count: int, folder: str) -> Iterator[None]:
    """Start workers by command: processes that dask starts itself run the user's script again."""
    options = (
        f"--nworkers {count} --nthreads 1 --memory-limit 0 --death-timeout 60 "
        "--host 127.0.0.1 --no-dashboard --dashboard-address 127.0.0.1:0"
    )
    command = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler, *options.split()]
    quiet = {"DASK_LOGGING__DISTRIBUTED": "critical"}
    process = subprocess.Popen(  # noqa: S603, a command of our own
        [*command, "--local-directory", folder],
        env=os.environ | quiet,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
