"""Doubt: whether a step may have gone through another wall of the box than the nearest one.

A step by a part f of the box may be one by 1 - f through the other wall. If steps are normal, with
the mean square v, the longer one is exp((1 - 2f) / 2v) times less likely. Over snapshots in which a
molecule is not seen, or which the source does not have, v is the mean square of what molecules move
in as many steps: in a few, a little more than in one; in many, a box or more, so that nobody can
tell. If they were never seen for so long, they are taken to go straight on; but ways over a gap
that are beyond doubt say how far it is, so that gaps may grow from one to the next, as where
snapshots are spaced by logarithms of time. Where another run begins, v is that of the ways from
where the first run began: if runs began alike, they are short, and if not, they are anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from timme._arrays import Bools, Floats, Ints
from timme.system.pace import Pace

_NEARLY_HALF = 0.45  # of the box
_CERTAIN = 10.0  # logarithm of how much less likely another wall must be
_STAND_IN = 20  # steps


def are_doubtful(steps: Floats, usual: Floats) -> Bools:
    """Tell for which steps another wall is not unlikely enough.

    Parameters
    ----------
    steps : ndarray
        Lengths, as parts of the box.
    usual : ndarray
        Mean squares of such steps.

    Returns
    -------
    ndarray of bool
        True also for steps of nearly half the box, whatever the others are.

    Examples
    --------
    >>> are_doubtful(np.array([0.1, 0.3, 0.46]), np.array([0.01, 0.03, 0.0])).tolist()
    [False, True, True]
    """
    doubtful: Bools = (1 - 2 * steps < _CERTAIN * 2 * usual) | (steps > _NEARLY_HALF)
    return doubtful


def with_stand_ins(squares: Floats, counts: Ints) -> Floats:
    """Find mean squares of the steps of molecules, of which there may be few.

    Parameters
    ----------
    squares : ndarray, shape (molecules, dimensions)
        Sums of the squares of the steps of each.
    counts : ndarray of int, shape (molecules,)
        Numbers of these steps.

    Returns
    -------
    ndarray, shape (molecules, dimensions)
        Mean squares; those of all molecules stand in for a score of steps of each.
    """
    every = squares.sum(axis=0) / max(1, int(counts.sum()))
    means: Floats = (squares + _STAND_IN * every) / (counts[:, None] + _STAND_IN)
    return means


def refuse_other_beginnings(ways: Floats, snapshot: int) -> None:
    """Refuse a run that does not begin where the first one did.

    Parameters
    ----------
    ways : ndarray, shape (molecules, dimensions)
        From where molecules are in the first snapshot of all to where they are now, as parts of the
        box.
    snapshot : int
        That with which the run begins, from 1 on.

    Raises
    ------
    ValueError
        If another image is not unlikely enough for any of them.
    """
    squares = ways**2
    usual = np.maximum(squares.mean(axis=0), squares.mean(axis=1, keepdims=True))
    count = np.count_nonzero(are_doubtful(ways, usual).any(axis=1))
    if count:
        raise ValueError(
            f"the run that begins with snapshot {snapshot:,} does not begin as the first one did: "
            f"{count:,} of {len(ways):,} molecules or particles are up to {ways.max():.2g} of the "
            "box away from there, so that nobody can tell which of their images belong together; "
            "unwrap each run by itself, or leave out unwrap=True or box=False"
        )


class _Gap(NamedTuple):
    """Molecules that are seen again."""

    snapshot: int
    molecules: Ints
    lengths: Ints  # (molecules,), usual steps since they were seen
    ways: Floats  # (molecules, dimensions), as parts of the box


def refuse_doubtful_gaps(places: Iterable[Floats], pace: Pace) -> None:
    """Refuse molecules that are not seen for so long that nobody can tell where they went.

    Parameters
    ----------
    places : iterable of ndarray, shape (molecules, dimensions)
        Of all snapshots in turn, in box vectors, followed; NaN where a molecule is not seen.
    pace : Pace
        How far these are apart in time.

    Raises
    ------
    ValueError
        If another wall is not unlikely enough for a step over a gap.
    """
    squares, counts, gaps = _walk(places, pace)
    usual = _usual_squares(squares, counts)
    doubtful, longest, farthest, hole = set[int](), 0, 0.0, 0
    for gap in sorted(gaps, key=lambda gap: int(gap.lengths.max())):
        expected = _expected_squares(usual, gap)
        bad = are_doubtful(gap.ways, expected).any(axis=1)
        if bad.any():
            doubtful.update(gap.molecules[bad].tolist())
            longest = max(longest, int(gap.lengths[bad].max()) - 1)
            farthest = max(farthest, float(np.sqrt(expected[bad].max())))
            hole = max(hole, gap.snapshot, key=pace.steps.__getitem__)
        elif len(gap.molecules) == len(squares[0]):
            usual = _learn(usual, gap)
    if not doubtful:
        return
    who = f"{len(doubtful):,} of {len(squares[0]):,} molecules or particles"
    missing = "1 snapshot" if longest == 1 else f"up to {longest:,} snapshots"
    why, else_ = f"{who} are not seen for {missing}, in which they", "leave these particles out, "
    if pace.steps[hole] > 1:  # nobody is seen
        why, else_ = f"{pace.describe(hole)}, in which {who}", ""
    raise ValueError(
        f"{why} move by about {farthest:.2g} of the box, so that nobody can tell through which "
        f"wall they went: choose snapshots before or after these (start=, stop=), {else_}or leave "
        "out unwrap=True"
    )


def _expected_squares(usual: Floats, gap: _Gap) -> Floats:
    """Find mean squares of ways so long in time, as if all went straight on after the longest."""
    levels = np.ceil(np.log2(gap.lengths)).astype(np.int64)
    known = np.minimum(levels, len(usual) - 1)
    expected: Floats = usual[known, gap.molecules] * 4.0 ** (levels - known)[:, None]
    return expected


def _learn(usual: Floats, gap: _Gap) -> Floats:
    """Take the ways of all molecules over a gap for windows of its length, if none is so long.

    Each is taken to be as much faster as all are, or as fast as it was, if that is more.
    """
    missing = int(np.log2(gap.lengths.min())) + 1 - len(usual)  # the last is no longer than the gap
    if missing <= 0:
        return usual
    ways, before = gap.ways**2, usual[-1]
    growth = ways.mean(axis=0) / np.maximum(before.mean(axis=0), np.finfo(np.float64).tiny)
    seen = np.maximum(before * np.maximum(growth, 1.0), ways.mean(axis=1, keepdims=True))
    straight = before * 4.0 ** np.arange(1, missing + 1)[:, None, None]
    return np.concatenate([usual, np.minimum(seen, straight)])


def _walk(places: Iterable[Floats], pace: Pace) -> tuple[list[Floats], list[Ints], list[_Gap]]:
    """Measure how far molecules move in 1, 2, 4, ... usual steps, and list their ways over gaps.

    Of windows in which no snapshot is missing and a molecule is always seen, squares are summed and
    counted. They begin anew with every run.
    """
    n_levels = int(np.ceil(np.log2(max(2, len(pace.steps))))) + 1
    squares, counts = list[Floats](), list[Ints]()
    begun, held = list[Floats](), list[Bools]()  # places where windows began, and who is seen since
    gaps = list[_Gap]()
    last, ages, number = np.empty(0), np.empty(0, np.int64), 0
    usual = (pace.steps == 1) & ~pace.short
    for snapshot, (here, step) in enumerate(zip(places, pace.steps.tolist(), strict=True)):
        seen: Bools = np.asarray(np.isfinite(here).all(axis=1))
        if not snapshot:
            squares = [np.zeros(here.shape) for _ in range(n_levels)]
            counts = [np.zeros(len(here), np.int64) for _ in range(n_levels)]
        if not step:
            begun, held = [here.copy() for _ in range(n_levels)], [seen.copy()] * n_levels
            last, ages, number = here.copy(), np.zeros(len(here), np.int64), 0
            continue
        number, ages = number + step, ages + step
        back = np.flatnonzero(seen & (ages > 1))
        if len(back):
            gaps.append(_Gap(snapshot, back, ages[back], np.abs(here[back] - last[back])))
        last[seen], ages[seen] = here[seen], 0
        for level in range(n_levels):
            held[level] = held[level] & seen & usual[snapshot]
            if number % 2**level:
                continue
            whole = held[level]
            squares[level][whole] += (here[whole] - begun[level][whole]) ** 2
            counts[level] += whole
            begun[level], held[level] = here, seen
    return squares, counts, gaps


def _usual_squares(squares: list[Floats], counts: list[Ints]) -> Floats:
    """Mean squares of what each molecule moves in 1, 2, 4, ... usual steps, up to the longest seen.

    Where no window is so long, that of half the length stands in, as if all went straight on. Few
    windows may show less than shorter ones do, by chance: nobody moves less in a longer time.
    """
    n_known = max((level + 1 for level, numbers in enumerate(counts) if numbers.any()), default=1)
    found = list[Floats]()
    for sums, numbers in zip(squares[:n_known], counts[:n_known], strict=True):
        if numbers.any():
            # One that goes its own way is not to be hidden by all others where windows are few.
            own = sums.mean(axis=1, keepdims=True) / np.maximum(numbers, 1)[:, None]
            known = np.maximum(with_stand_ins(sums, numbers), own)
            found.append(np.maximum(known, found[-1] if found else 0.0))
        else:
            found.append(4 * found[-1] if found else np.full(sums.shape, np.inf))  # nobody knows
    return np.array(found)
