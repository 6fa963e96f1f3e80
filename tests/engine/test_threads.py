"""Who does the work, and what is handed out in which order."""

from __future__ import annotations

import threading
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, cast

import numpy as np
import pytest

import timme
from timme.engine.run import engine_of
from timme.engine.threads import Threads, in_order, read_ahead
from timme.system.blocks import Block
from timme.system.ensemble import Ensemble

PATIENCE = 20.0  # seconds until something that should happen is held not to
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


class Reading:
    """Blocks that tell when they are read: each is its own start, and may be a damaged one."""

    def __init__(self, n_blocks: int, damaged: int | None = None) -> None:
        self.begun = [threading.Event() for _ in range(n_blocks)]
        self.threads = set[int]()
        self.damaged = damaged

    def block(self, start: int) -> int:
        self.begun[start].set()
        self.threads.add(threading.get_ident())
        if start == self.damaged:
            raise ValueError(f"block {start} cannot be read")
        return start

    def ahead(self) -> Generator[Any]:
        return read_ahead(cast("Ensemble", self), range(len(self.begun)))


def test_the_next_block_is_read_while_one_is_worked_on_and_no_other() -> None:
    reading = Reading(4)
    for block in reading.ahead():
        following = reading.begun[block + 1 :]
        assert all(event.wait(PATIENCE) for event in following[:1])
        assert not any(event.wait(0.02) for event in following[1:])
    assert len(reading.threads) == 1
    assert threading.get_ident() not in reading.threads


def test_a_damaged_block_is_told_when_its_turn_comes() -> None:
    blocks = Reading(4, damaged=2).ahead()
    assert [next(blocks), next(blocks)] == [0, 1]
    with pytest.raises(ValueError, match="block 2 cannot be read"):
        next(blocks)


def test_no_thread_reads_on_after_the_last_wanted_block() -> None:
    reading = Reading(4)
    blocks = reading.ahead()
    next(blocks)
    blocks.close()
    assert not any(event.is_set() for event in reading.begun[2:])
    assert not [each for each in threading.enumerate() if each.ident in reading.threads]


def test_sigma_of_a_block_is_measured_while_the_next_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    n_blocks, length = 4, ENSEMBLE.block_length
    number = np.repeat(np.arange(float(n_blocks)), length)  # of its block, written on every frame
    frames = np.random.default_rng(1).normal(size=(len(number), 3, 3))
    frames[:, :, 0] = number[:, None]
    points = timme.objects.points(Ensemble.from_array(frames))
    begun, measured = [threading.Event() for _ in range(n_blocks)], list[int]()
    read = Ensemble.block

    def slowly(self: Ensemble, start: int) -> Block:
        begun[start // length].set()
        return read(self, start)

    def patient(one: Any, other: Any) -> Any:
        # Were blocks read and measured in turn, the next would never begin while this waits.
        block = int(one[0, 0, 0])
        assert all(event.wait(PATIENCE) for event in begun[block + 1 : block + 2])
        measured.append(block)
        return np.linalg.norm(one - other, axis=-1)

    pairs = timme.pairs.all(points)
    expected = timme.measure(points, pairs).sigma
    monkeypatch.setattr(Ensemble, "block", slowly)
    found = timme.measure(points, pairs, metric=patient).sigma
    assert sorted(set(measured)) == list(range(n_blocks))
    assert found == pytest.approx(expected)
