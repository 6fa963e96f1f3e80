"""Who does the work, and what is handed out in which order."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from timme.engine.run import engine_of
from timme.engine.threads import Threads, in_order
from timme.system.ensemble import Block, Ensemble

ENSEMBLE = Ensemble.from_array(np.random.default_rng(0).normal(size=(300, 7, 3)))


def frames_of(shared: str, block: Block) -> tuple[str, list[int]]:
    assert np.array_equal(block.coordinates[0], ENSEMBLE.snapshot(block.start)[0])
    return shared, list(range(block.start, block.start + len(block.weights)))


@pytest.mark.parametrize("count", [1, 2, 7])
def test_parts_of_blocks_come_in_order_each_snapshot_once(count: int) -> None:
    starts = range(0, 300, ENSEMBLE.block_length)
    blocks = list(map(list, Threads(count).blocks(frames_of, "told", ENSEMBLE, starts)))
    assert len(blocks) == len(starts)
    assert all(len(parts) >= min(count, 2) for parts in blocks)
    assert [frame for parts in blocks for _, part in parts for frame in part] == list(range(300))
    assert {word for parts in blocks for word, _ in parts} == {"told"}


def test_few_tasks_are_started_ahead_of_their_results() -> None:
    started = list[int]()

    def task(number: int) -> int:
        started.append(number)
        return number

    with ThreadPoolExecutor(2) as pool:
        tasks = (pool.submit(task, number) for number in range(20))
        results = in_order(tasks, Future.result, ahead=3)
        assert next(results) == 0
        assert len(started) <= 4
        assert list(results) == list(range(1, 20))


def test_tasks_that_nobody_wants_are_cancelled() -> None:
    release = threading.Event()
    begun = list[int]()

    def task(number: int) -> int:
        begun.append(number)
        assert number == 0 or release.wait(10)
        return number

    with ThreadPoolExecutor(1) as pool:
        results = in_order(
            (pool.submit(task, number) for number in range(9)), Future.result, ahead=5
        )
        assert next(results) == 0
        results.close()
        release.set()
    assert len(begun) <= 2


@pytest.mark.parametrize("workers", ["two", 1.5, object()])
def test_what_is_no_engine_is_refused(workers: Any) -> None:
    with pytest.raises(TypeError, match="a number of threads or an engine"):
        engine_of(workers)
