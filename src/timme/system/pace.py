"""Pace: how many usual steps in time lie between snapshots, and where another run begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from timme._arrays import Bools, Floats, Ints
from timme.system.frames import Frames

_MOST = 2.0**32  # steps between two snapshots, so that sums stay whole numbers


@dataclass(frozen=True, slots=True, eq=False)
class Pace:
    """Steps from snapshot to snapshot, as times or numbers of frames tell."""

    steps: Ints  # (snapshots,), usual ones since the snapshot before, 0 where a run begins
    intervals: Floats  # (snapshots,), since the snapshot before
    unit: str  # of the intervals, "" where they are numbers of frames
    first: int = 0  # number of the first snapshot in the source

    @classmethod
    def of(cls, frames: Frames, begins: Sequence[int] = (), first: int = 0) -> Pace:
        """Ask frames for their times.

        Parameters
        ----------
        frames : Frames
            In their order.
        begins : sequence of int, optional
            Those with which another run begins; the first one always does.
        first : int, optional
            Number of the first one in the source, for messages.

        Returns
        -------
        Pace
            Even where the frames know no times. A step back in time is as long as one forwards:
            what wandered away in it may be as far.
        """
        times, unit = _times_of(frames)
        intervals = np.diff(times, prepend=np.nan)
        intervals[list(begins)] = np.nan
        steps = _count_steps(intervals, _rounding(times))
        steps[[0, *begins]] = 0
        return cls(steps, intervals, unit, first)

    @property
    def short(self) -> Bools:
        """Which steps last less than half a usual one, and say little of how far that leads."""
        lengths = np.abs(self.intervals)
        moving = lengths[lengths > 0]  # not those that nobody knows
        found: Bools = lengths < (np.median(moving) / 2 if len(moving) else 0.0)
        return found

    def describe(self, snapshot: int) -> str:
        """Say how far a snapshot is from the one before.

        Parameters
        ----------
        snapshot : int
            Which one.

        Returns
        -------
        str
            The beginning of a sentence, with numbers of snapshots from 1 on.
        """
        between = f"between snapshots {self.first + snapshot:,} and {self.first + snapshot + 1:,}"
        interval, steps = float(self.intervals[snapshot]), int(self.steps[snapshot])
        if interval < 0:
            return f"{between} time goes back by {-interval:g}{self.unit}, {steps:,} usual steps"
        told = f"lie {interval:g}{self.unit}, {steps:,} times the usual step"
        return f"{between} {told}" if self.unit else f"{between} lie {steps:,} usual steps"


def _times_of(frames: Frames) -> tuple[Floats, str]:
    """Take times in ps or, where there are none, whatever else is stamped on snapshots."""
    # Who does not know the first time, for which a whole frame may be read, knows none.
    if frames.time(0) is None:
        return frames.stamps(), ""
    times = [frames.time(snapshot) for snapshot in range(frames.shape[0])]
    return np.array(times, np.float64), " ps"  # of None, NaN


def _count_steps(intervals: Floats, rounding: float) -> Ints:
    lengths = np.abs(intervals)
    moving = lengths[lengths > rounding]  # not those that nobody knows
    if not len(moving):
        return np.ones(len(lengths), np.int64)
    counts = np.rint(np.nan_to_num(lengths - rounding, nan=0.0) / np.median(moving))
    found: Ints = np.clip(counts, 1, _MOST).astype(np.int64)
    return found


def _rounding(times: Floats) -> float:
    """By how much intervals of times are off, if a file holds them in single precision."""
    known = times[np.isfinite(times)]
    single = known.astype(np.float32)
    if not len(known) or not np.array_equal(single, known):
        return 0.0
    return float(np.spacing(np.abs(single).max()))
