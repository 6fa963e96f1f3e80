"""Invariants of workers: order, bounded work ahead, one block read ahead, and refusals."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from timme_next.engine.checkpoint import Run
from timme_next.engine.workers import Threads, read_ahead


def add_late(shared: int, item: int) -> int:
    """The later an item comes, the sooner it is done."""
    time.sleep(0.002 * (20 - item))
    return shared + item


@pytest.mark.parametrize("count", [1, 2, 3])
def test_results_come_in_the_order_of_the_items(count: int) -> None:
    assert list(Threads(count).map(add_late, 100, range(20))) == list(range(100, 120))


@pytest.mark.parametrize("count", [1, 3])
def test_items_are_taken_as_they_are_needed(count: int) -> None:
    taken = list[int]()

    def items() -> Iterator[int]:
        for item in range(1000):
            taken.append(item)
            yield item

    results = Threads(count).map(max, 0, items())
    assert [next(results) for _ in range(10)] == list(range(10))
    results.close()
    assert len(taken) <= 10 + 4 * count


def test_an_error_ends_the_work() -> None:
    called = list[int]()

    def invert(_: None, item: int) -> float:
        called.append(item)
        time.sleep(0.001)
        return 1 / item

    with pytest.raises(ZeroDivisionError):
        list(Threads(2).map(invert, None, [3, 2, 1, 0, *range(1, 500)]))
    assert len(called) < 50


def test_threads_work_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=10)  # which one thread alone would never pass
    assert sorted(Threads(2).map(lambda _, item: item + 0 * both.wait(), None, [1, 2])) == [1, 2]


def test_one_block_is_read_while_another_is_used() -> None:
    read = list[int]()
    reading = threading.Event()

    class Watched:
        def block(self, start: int) -> int:
            read.append(start)
            reading.set()
            return start

    watched: Any = Watched()
    blocks: Any = read_ahead(watched, [0, 10, 20, 30])
    for number, start in enumerate((0, 10, 20)):
        assert next(blocks) == start
        while len(read) < number + 2:  # without it, nothing is read while this one is used
            assert reading.wait(timeout=10)
            reading.clear()
        time.sleep(0.01)
        assert len(read) == number + 2
    blocks.close()


@pytest.mark.parametrize("workers", [3, "3", np.int64(3)])
def test_workers_are_a_number_of_threads(workers: Any) -> None:
    assert Run.of(workers=workers).engine == Threads(3)


@pytest.mark.parametrize("workers", [0, -1, 1.5, "many", [2]])
def test_other_workers_are_refused(workers: Any) -> None:
    with pytest.raises(ValueError, match="workers= needs a number of threads, 1 or more, got"):
        Run.of(workers=workers)


def test_what_is_no_client_or_checkpoint_is_refused() -> None:
    wrong: Any = 8786
    with pytest.raises(TypeError, match="client= needs a dask Client or its address, got 8786"):
        Run.of(client=wrong)
    with pytest.raises(TypeError, match=r"checkpoint= needs a timme\.Checkpoint, got 8786"):
        Run.of(checkpoint=wrong)
