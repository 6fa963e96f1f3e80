"""The least that σ² of a pair can be in any of many draws, from one pass that keeps none of it.

A draw is made of runs of consecutive parts of the snapshots. Cut each run into windows of as many
parts as the shortest has; what is left over is less than a window. A distance varies over a draw by
no less than within its windows, and within each by no less than within the quietest of all:

    σ² ≥ Σ n v / N ≥ c min v,

n and v being the snapshots of a window and the variance within it, N the snapshots of the draw, and
c the least share of a draw that windows cover. Windows are few, as they begin with a part, and only
the least v of a pair is kept. Deviations of objects of several sites are those from the mean over
all snapshots, as :mod:`timme.fluctuations.resampling` has it: they are no smaller. Of these
objects, the mean (or the largest) of such bounds over cross pairs is a bound, too.

A sum of squares over some snapshots of a window never exceeds that over all of it. So a few of each
part give a lower bound, and cheaply; for most pairs that is enough to know that they are too high.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from timme._arrays import Floats, Ints
from timme._kernels import parts as kernel
from timme.engine.metrics import known_metric
from timme.engine.moments import Metric
from timme.engine.run import DEFAULT, Run
from timme.engine.threads import Threads
from timme.fluctuations.crossing import Crossing, Singles, count_site_pairs
from timme.fluctuations.site_sums import (
    add_units,
    first_distances,
    run_all,
    sum_anything,
    weights_of,
)
from timme.fluctuations.sums import lay_out_once, takes_largest
from timme.fluctuations.units import Layout, Units, thin, tile_pairs
from timme.objects import Objects
from timme.series import Runs

_OF_R = 4.0  # by which r may be off, in units of its last place
_OF_SUMS = 1e-4  # by which sums in single precision may be, of a thousand numbers and more
_PIECE = 500_000  # pairs of sites whose sums are held where frames are not


def floors(  # noqa: PLR0913, what draws are, how much is looked at, and how
    objects: Objects,
    index: Ints,
    parts: Sequence[range],
    runs: Runs,
    *,
    most_frames: int | None = None,
    metric: Metric | None = None,
    layout: Layout | None = None,
    most: int | None = None,
    run: Run = DEFAULT,
) -> Floats:
    """Find the least that σ² of pairs of objects can be in any draw.

    Parameters
    ----------
    objects : Objects
        What is compared.
    index : ndarray of int, shape (pairs, 2)
        Who with whom, the lower first.
    parts : sequence of range
        Runs of consecutive snapshots, in their order.
    runs : Runs
        How draws are made of them.
    most_frames : int, optional
        Snapshots of each part that are looked at, in open space; all by default. Of fewer, the
        floor is lower.
    metric : str or callable, optional
        As for :func:`timme.measure`.
    layout : Layout, optional
        Frames of the ensemble, if they were laid out before.
    most : int, optional
        Pairs of sites whose sums over parts can be held, where frames are not; fewer mean more
        passes over the snapshots. About half a million by default.
    run : Run, optional
        How it is carried out.

    Returns
    -------
    ndarray, shape (pairs,)
        No more than σ² in any draw.
    """
    ensemble = objects.ensemble
    metric = known_metric(metric, ensemble)
    totals = weights_of(ensemble, parts)
    covered = least_cover(runs, totals)
    if ensemble.gaps and not objects.are_points:
        return np.zeros(len(index))  # whose cross pairs are seen in other snapshots each
    layout = layout or lay_out_once(objects, parts, metric)
    if layout is not None and most_frames is not None:
        layout = thin(layout, most_frames)
    found = list[Floats]()
    for piece in _cut(objects, index, layout, most):
        crossing = Crossing.of(objects, piece)
        search = _Search.of(crossing, runs, totals)
        if layout is not None:
            search = search.in_frames(layout)
            least = _search_plainly(search, layout, run)
        else:
            first, second, seen = sum_anything(ensemble, search.pairs, parts, metric, run)
            least = search.least(slice(None), (first, second), seen)
        found.append(covered * crossing.reduce_squares(least))
    return np.concatenate(found)


def _cut(objects: Objects, index: Ints, layout: Layout | None, most: int | None) -> list[Ints]:
    """Cut pairs into pieces, as few as memory allows where each goes through all frames anew."""
    n_site_pairs = float(len(index))
    if layout is not None and layout.held is not None:  # sums never leave the cache
        n_site_pairs *= 1.0 if objects.are_points else (len(objects.members) / len(objects)) ** 2
        most = None
    elif not objects.are_points:
        n_site_pairs = count_site_pairs(objects, index)
    n_pieces = max(1, round(n_site_pairs / _PIECE))
    if most is not None:
        n_pieces = max(n_pieces, -(-int(n_site_pairs) // most))
    return np.array_split(index, min(n_pieces, max(1, len(index))))


def least_cover(runs: Runs, totals: Floats) -> float:
    """Tell which share of a draw lies in windows, at least.

    Parameters
    ----------
    runs : Runs
        How draws are made of parts.
    totals : ndarray, shape (parts,)
        Weight of each part.

    Returns
    -------
    float
        From 0 to 1, if no run is cut short.

    Examples
    --------
    >>> least_cover(Runs([4], 2, np.array([[3, 0, 1, 1], [0, 1, 2, 3]])), np.ones(4))
    0.5
    """
    count = np.repeat(runs.replicas, runs.replicas)
    begin = np.repeat(np.cumsum(runs.replicas) - runs.replicas, runs.replicas)
    following = begin + (np.arange(len(count)) - begin + 1) % count
    drawn = np.atleast_2d(runs.drawn)
    place = np.arange(drawn.shape[1])
    breaks = np.ones((len(drawn), len(place) + 1), bool)  # before each part, and after the last
    breaks[:, 1:-1] = following[drawn[:, :-1]] != drawn[:, 1:]
    first = np.maximum.accumulate(np.where(breaks[:, :-1], place, 0), axis=1)
    ends = np.where(breaks[:, 1:], place + 1, len(place))
    last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    whole = place - first < (last - first) // runs.window * runs.window
    weights = totals[drawn]
    shares = (weights * whole).sum(axis=1) / weights.sum(axis=1)
    return float(shares.min(initial=1.0))


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """Pairs of sites whose quietest window is looked for, and what windows are."""

    pairs: Ints  # (site pairs, 2)
    windows: tuple[Ints, int, Singles, Singles]  # as the kernel needs them
    totals: Floats  # (parts,), weight of what is summed
    about_mean: bool

    @classmethod
    def of(cls, crossing: Crossing, runs: Runs, totals: Floats) -> _Search:
        take, outside, begin, window = [], [], 0, runs.window
        for count in runs.replicas:  # after the last of a replica comes its first
            take.append(begin + np.arange(count + window - 1) % count)
            outside.append(np.repeat([0.0, np.inf], [count, window - 1]))
            begin += count
        parts = np.concatenate(take)
        n_windows = len(parts) - window + 1
        weights = np.lib.stride_tricks.sliding_window_view(totals[parts], window).sum(axis=1)
        ends = np.concatenate(outside)[:n_windows]
        objects = crossing.objects
        about_mean = not (objects.are_points or takes_largest(objects))
        known = (
            np.array(runs.replicas),
            window,
            (1 / weights).astype(np.float32),
            ends.astype(np.float32),
        )
        return cls(crossing.site_pairs, known, totals, about_mean)

    def in_frames(self, layout: Layout) -> _Search:
        """Look at those frames only, all of a part or some; the mean over all is then unknown."""
        held = np.array([float(len(part)) for part in layout.parts])
        whole = np.array_equal(held, self.totals)
        return replace(self, totals=held, about_mean=self.about_mean and whole)

    def least(
        self,
        tile: slice,
        sums: tuple[Singles, Singles],
        seen: Singles | None = None,
        *,
        origin: Floats | None = None,
        of_r: float = 0.0,
    ) -> Floats:
        """Least variance within a window of some of the pairs, from sums over parts."""
        weights = self.totals[None].astype(np.float32) if seen is None else seen
        found = np.empty(len(self.pairs[tile]))
        counted = np.zeros(len(found)) if origin is None else origin
        errors = (of_r, _OF_SUMS)
        kernel.least_within(sums, weights, counted, self.windows, errors, self.about_mean, found)
        return found


def _search_plainly(search: _Search, layout: Layout, run: Run) -> Floats:
    """Find the quietest windows in open space, all frames seen and of weight 1."""
    pairs = search.pairs
    found = np.empty(len(pairs))
    tiles, threads = tile_pairs(len(pairs)), Threads(run.engine.threads_here)

    def look(units: Units, tile: slice) -> None:
        frames = units.xyz, np.array(pairs[tile]), units.owners, units.lengths
        errors = (_error_of(units), _OF_SUMS)
        kernel.least_within_units(*frames, search.windows, errors, search.about_mean, found[tile])

    if layout.held is not None:
        run_all(threads.map(look, layout.held, tiles))
        return found
    origin, of_r = first_distances(layout, pairs), 0.0
    shape = (len(pairs), len(layout.parts))
    first, second = np.zeros(shape, np.float32), np.zeros(shape, np.float32)

    def finish(of_r: float, tile: slice) -> None:
        sums = first[tile], second[tile]
        found[tile] = search.least(tile, sums, origin=origin[tile], of_r=of_r)

    for units in layout:
        of_r = _error_of(units)
        add_units(units, pairs, origin, (first, second), threads)
        del units  # before the next are laid out
    run_all(threads.map(finish, of_r, tiles))
    return found


def _error_of(units: Units) -> float:
    return _OF_R * float(np.finfo(units.xyz.dtype).eps)
