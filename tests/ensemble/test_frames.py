"""Invariant: sites and snapshots may be chosen in any order, before or after steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.ensemble.builders import Floats, Ints
from timme._arrays import Coordinates
from timme.ensemble import Frames
from timme.ensemble.frames import ArraySource, OpenSpace, Step


@dataclass(frozen=True)
class Means(Step):
    """Means of neighbouring sites in the plane, at y = number of the snapshot."""

    first: Ints

    def __call__(
        self, coordinates: Coordinates, boxes: Floats | None, numbers: Sequence[int]
    ) -> tuple[Coordinates, Floats | None]:
        means = (coordinates[:, self.first] + coordinates[:, self.first + 1]) / 2
        means[:, :, 1] = np.asarray(numbers)[:, None]
        return means[:, :, :2], boxes

    def select(self, sites: Ints) -> tuple[Step, Ints]:
        needed = np.unique(np.concatenate([self.first[sites], self.first[sites] + 1]))
        return Means(np.searchsorted(needed, self.first[sites])), needed

    def shape(self, n_sites: int, n_dimensions: int) -> tuple[int, int]:
        return min(n_sites, len(self.first)), n_dimensions - 1


def frames() -> Frames:
    coordinates = np.random.default_rng(0).normal(size=(12, 9, 3))
    boxes = np.arange(1.0, 13.0)[:, None, None] * np.eye(3)
    return Frames.of(ArraySource(coordinates, boxes, np.linspace(0, 110, 12)))


indices = st.lists(st.integers(0, 7), min_size=1, max_size=8, unique=True)


@given(indices, st.lists(st.integers(0, 11), min_size=2, max_size=12, unique=True), st.data())
def test_choices_commute_with_steps_and_with_one_another(
    sites: list[int], numbers: list[int], data: st.DataObject
) -> None:
    numbers.sort()
    whole = frames().then(Means(np.arange(8)))
    expected = whole.read(0, 12)[0][numbers][:, sites]
    chosen = whole.keep(numbers).select(np.array(sites))
    assert chosen.shape == (len(numbers), len(sites), 2)
    assert chosen.sites is not None
    assert len(chosen.sites) <= 2 * len(sites)  # no more is read than is needed
    np.testing.assert_array_equal(chosen.read(0, len(numbers))[0], expected)
    other_way = whole.select(np.array(sites)).keep(numbers)
    np.testing.assert_array_equal(other_way.read(0, len(numbers))[0], expected)
    start = data.draw(st.integers(0, len(numbers) - 1))
    again = chosen.keep(range(start, len(numbers)))
    part, boxes = again.read(0, 1)
    np.testing.assert_array_equal(part[0], expected[start])
    assert boxes is not None
    assert boxes[0, 0, 0] == numbers[start] + 1
    assert again.times[0] == 10.0 * numbers[start]


def test_boxes_are_replaced_before_steps_and_taken_away_after() -> None:
    some = frames()
    mine = 5.0 * np.tile(np.eye(3), (12, 1, 1))
    given_boxes = Frames(some.source, some.numbers, boxes=mine).keep([3, 5])
    found = given_boxes.read(1, 2)[1]
    assert found is not None
    np.testing.assert_array_equal(found, mine[:1])
    assert given_boxes.then(OpenSpace()).read(0, 2)[1] is None
