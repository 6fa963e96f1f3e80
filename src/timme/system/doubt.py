"""Doubt: whether a step may have gone through another wall of the box than the nearest one.

A step by a part f of the box may be one by 1 - f through the other wall. If steps are normal, with
the mean square v, the longer one is exp((1 - 2f) / 2v) times less likely. Over snapshots in which a
molecule is not seen, v is the mean square of what molecules move in as many snapshots: in a few, a
little more than in one; in many, a box or more, so that nobody can tell.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from timme._arrays import Bools, Floats, Ints

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


def refuse_doubtful_gaps(places: Iterable[Floats], n_snapshots: int) -> None:
    """Refuse molecules that are not seen for so long that nobody can tell where they went.

    Parameters
    ----------
    places : iterable of ndarray, shape (molecules, dimensions)
        Of all snapshots in turn, in box vectors, followed; NaN where a molecule is not seen.
    n_snapshots : int
        Their number.

    Raises
    ------
    ValueError
        If another wall is not unlikely enough for a step over a gap.
    """
    squares, counts, gaps = _walk(places, n_snapshots)
    usual = _usual_squares(squares, counts)
    doubtful, longest, farthest = set[int](), 0, 0.0
    for molecules, lengths, steps in gaps:
        levels = np.ceil(np.log2(lengths)).astype(np.int64)
        expected = usual[levels, molecules]
        bad = are_doubtful(steps, expected).any(axis=1)
        if bad.any():
            doubtful.update(molecules[bad].tolist())
            longest = max(longest, int(lengths[bad].max()) - 1)
            farthest = max(farthest, float(np.sqrt(expected[bad].max())))
    if doubtful:
        missing = "1 snapshot" if longest == 1 else f"up to {longest:,} snapshots"
        raise ValueError(
            f"{len(doubtful):,} of {len(squares[0]):,} molecules or particles are not seen for "
            f"{missing}, in which they move by about {farthest:.2g} of the box, so that nobody can "
            "tell through which wall they went: choose snapshots before or after these (start=, "
            "stop=), leave these particles out, or leave out unwrap=True"
        )


def _walk(
    places: Iterable[Floats], n_snapshots: int
) -> tuple[list[Floats], list[Ints], list[tuple[Ints, Ints, Floats]]]:
    """Measure how far molecules move in 1, 2, 4, ... snapshots, and list their steps over gaps.

    Of windows in which a molecule is always seen, squares are summed and counted.
    """
    n_levels = int(np.ceil(np.log2(max(2, n_snapshots)))) + 1
    squares, counts = list[Floats](), list[Ints]()
    begun, held = list[Floats](), list[Bools]()  # places where windows began, and who is seen since
    gaps = list[tuple[Ints, Ints, Floats]]()
    last, ages = np.empty(0), np.empty(0, np.int64)
    for number, here in enumerate(places):
        seen: Bools = np.asarray(np.isfinite(here).all(axis=1))
        if not number:
            squares = [np.zeros(here.shape) for _ in range(n_levels)]
            counts = [np.zeros(len(here), np.int64) for _ in range(n_levels)]
            begun, held = [here.copy() for _ in range(n_levels)], [seen.copy()] * n_levels
            last, ages = here.copy(), np.zeros(len(here), np.int64)
            continue
        ages += 1
        back = np.flatnonzero(seen & (ages > 1))
        if len(back):
            gaps.append((back, ages[back], np.abs(here[back] - last[back])))
        last[seen], ages[seen] = here[seen], 0
        for level in range(n_levels):
            held[level] = held[level] & seen
            if number % 2**level:
                continue
            whole = held[level]
            squares[level][whole] += (here[whole] - begun[level][whole]) ** 2
            counts[level] += whole
            begun[level], held[level] = here, seen
    return squares, counts, gaps


def _usual_squares(squares: list[Floats], counts: list[Ints]) -> Floats:
    """Mean squares of what each molecule moves in 1, 2, 4, ... snapshots.

    Where no window is so long, that of half the length stands in, as if all went straight on.
    """
    found = list[Floats]()
    for sums, numbers in zip(squares, counts, strict=True):
        found.append(with_stand_ins(sums, numbers) if numbers.any() else 4 * found[-1])
    return np.array(found)
