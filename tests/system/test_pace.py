"""How many usual steps lie between snapshots, by whatever clock their source has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timme._arrays import Floats
from timme.system.held_frames import ArrayFrames
from timme.system.pace import Pace

PLACES = np.zeros((5, 1, 3))
STEPS = np.array([0.0, 100.0, 200.0, 500.0, 600.0])


@dataclass(frozen=True, eq=False, repr=False)
class Timed(ArrayFrames):
    """Frames of which some tell a time, beside what they are stamped with."""

    times: tuple[float | None, ...] = ()

    def time(self, snapshot: int) -> float | None:
        return self.times[snapshot]


def timed(*times: float | None, stamped: Floats | None = STEPS) -> Timed:
    return Timed(PLACES, stamped=stamped, times=times)


def test_times_count_before_steps() -> None:
    pace = Pace.of(timed(0.0, 1.0, 2.0, 3.0, 7.0))
    assert pace.steps.tolist() == [0, 1, 1, 1, 4]
    assert pace.describe(4) == "between snapshots 4 and 5 lie 4 ps, 4 times the usual step"


def test_steps_count_where_there_are_no_times() -> None:
    pace = Pace.of(timed(*[None] * 5))
    assert pace.steps.tolist() == [0, 1, 1, 3, 1]
    assert pace.describe(3) == "between snapshots 3 and 4 lie 3 usual steps"


def test_times_and_steps_are_never_mixed() -> None:
    assert Pace.of(timed(0.0, 1.0, 2.0, None, None)).steps.tolist() == [0, 1, 1, 1, 1]
    assert Pace.of(timed(None, None, None, 1.0, 2.0)).steps.tolist() == [0, 1, 1, 3, 1]


def test_pace_is_even_where_nobody_knows() -> None:
    assert Pace.of(timed(*[None] * 5, stamped=None)).steps.tolist() == [0, 1, 1, 1, 1]


def test_stamps_go_with_the_snapshots_that_are_kept() -> None:
    kept = ArrayFrames(PLACES, stamped=STEPS).select(np.array([0])).keep([0, 1, 2, 4])
    assert kept.stamps().tolist() == [0.0, 100.0, 200.0, 600.0]
    assert Pace.of(kept).steps.tolist() == [0, 1, 1, 4]


def test_steps_of_less_than_half_a_usual_one_are_short() -> None:
    pace = Pace.of(timed(0.0, 2.0, 4.0, 4.9, 6.9))
    assert pace.steps.tolist() == [0, 1, 1, 1, 1]
    assert pace.short.tolist() == [False, False, False, True, False]
    assert not Pace.of(timed(*[None] * 5, stamped=None)).short.any()
