"""Cut snapshots into parts, and draw trajectories that might have been from runs of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import special

from timme._arrays import Floats, Ints, frozen
from timme.series import Runs, count_drawn, draw_runs

N_PARTS = 64
N_DRAWS = 100
AT_A_TIME = 4_000_000  # σ of pairs in draws that are held at a time, with a copy 48 MB


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Parts of the snapshots, and how often each counts in every draw."""

    parts: tuple[range, ...]  # in their order, without gaps; none is in two replicas
    replicas: tuple[int, ...]  # parts of each replica
    length: int  # parts of a run
    drawn: Ints  # (draws, parts), numbers of parts in the order in which runs were drawn
    times: Ints  # (draws, parts)

    @property
    def runs(self) -> Runs:
        """How draws are made of parts."""
        return Runs(self.replicas, self.length, self.drawn)

    def reach(self, n_effective: float) -> float:
        """Return how many standard deviations of draws lie on either side of an interval of 90 %.

        Student's quantile for as many runs as a draw has, widened by what runs of finite length
        lose: of a correlation that falls off with time t, runs of length l have 1 − t / l of the
        variance of a mean.

        Parameters
        ----------
        n_effective : float
            How many snapshots are independent: n / 2 t.

        Returns
        -------
        float
            1.64 for many short runs, more for few.
        """
        n_runs = len(self.parts) / self.length
        lost = min(0.5, len(self.parts) / (2 * self.length * max(n_effective, 1.0)))
        return float(special.stdtrit(max(n_runs - 1, 1.0), 0.95) / np.sqrt(1 - lost))

    @property
    def everything(self) -> Floats:
        """One draw that has every part once: the trajectory as it is."""
        return np.ones((1, len(self.parts)))


def cut_into_parts(
    n_snapshots: int, *, replicas: Sequence[int] | None = None, n_parts: int = N_PARTS
) -> tuple[tuple[range, ...], tuple[int, ...]]:
    """Cut snapshots into parts of about equal length that no two replicas share.

    Parameters
    ----------
    n_snapshots : int
        Snapshots in all.
    replicas : sequence of int, optional
        Snapshots of each independent run, in their order; one run by default.
    n_parts : int, optional
        Parts, about; no more than there are snapshots, and one at least for each replica.

    Returns
    -------
    tuple of range
        The parts, in their order.
    tuple of int
        How many of them are those of each replica.

    Examples
    --------
    >>> cut_into_parts(10, replicas=[4, 6], n_parts=5)
    ((range(0, 2), range(2, 4), range(4, 6), range(6, 8), range(8, 10)), (2, 3))
    """
    lengths = [n_snapshots] if replicas is None else list(replicas)
    if sum(lengths) != n_snapshots or min(lengths) < 1:
        raise ValueError(
            f"replicas must have {n_snapshots} snapshots together, at least 1 each, got {lengths}"
        )
    parts = list[range]()
    counts = list[int]()
    begin = 0
    for length in lengths:
        count = int(np.clip(round(n_parts * length / n_snapshots), 1, length))
        bounds = begin + np.linspace(0, length, count + 1).astype(np.int64)
        parts += [range(int(a), int(b)) for a, b in pairwise(bounds)]
        counts.append(count)
        begin += length
    return tuple(parts), tuple(counts)


def draw(
    n_snapshots: int,
    n_effective: float,
    *,
    replicas: Sequence[int] | None = None,
    n_draws: int = N_DRAWS,
    seed: int = 0,
) -> Draws:
    """Draw trajectories that might have been, in runs that are longer than the memory of motions.

    Parameters
    ----------
    n_snapshots : int
        Snapshots in all.
    n_effective : float
        How many of them are independent. Runs cover 2 n / n_effective snapshots, at most a third.
    replicas : sequence of int, optional
        As for :func:`cut_into_parts`.
    n_draws : int, optional
        How many.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    Draws
        Parts, and how often each counts.
    """
    parts, counts = cut_into_parts(n_snapshots, replicas=replicas)
    n_parts = len(parts)
    wanted = round(2 * n_parts / max(n_effective, 1.0))
    length = int(np.clip(wanted, 1, max(1, n_parts // 3)))
    drawn = draw_runs(counts, length, n_draws=n_draws, seed=seed)
    return Draws(parts, counts, length, frozen(drawn), frozen(count_drawn(drawn, n_parts)))
