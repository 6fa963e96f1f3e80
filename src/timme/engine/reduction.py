"""The one reduction: moments of pair distances over all snapshots, or over parts of them.

Blocks of frames, cut where parts begin and end, are merged in a fixed order, whoever measures them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from timme._arrays import Ints
from timme.engine.checkpoint import Arrays, digest, take
from timme.engine.metrics import known_metric
from timme.engine.moments import Metric, Moments, Piece
from timme.engine.run import DEFAULT, Run
from timme.system.ensemble import SINGLE_FROM, Ensemble

Kept = tuple[npt.NDArray[Any], ...]
"""Arrays that are kept of a part."""


def moments(
    ensemble: Ensemble, pairs: Ints, *, metric: Metric | None = None, run: Run = DEFAULT
) -> Moments:
    """Sum the distances of pairs of sites over all snapshots.

    Blocks of frames are merged one after another; within a block, workers share the pairs. The
    result is the same to the last bit for any number of workers.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    pairs : ndarray, shape (pairs, 2)
        Pairs of sites.
    metric : callable or str, optional
        Distance of two arrays of points, or the name of one; Euclidean, by the shortest image, if
        not given.
    run : Run, optional
        How it is carried out.

    Returns
    -------
    Moments
        Of each pair.
    """
    everything = [range(ensemble.n_snapshots)]
    (total,) = moments_by_part(ensemble, pairs, everything, metric=metric, run=run)
    return Moments(*total)


def moments_by_part(
    ensemble: Ensemble,
    pairs: Ints,
    parts: Sequence[range],
    reduce: Callable[[int, Moments], Kept] = lambda _, found: found.arrays,
    *,
    reduction: str = "",
    metric: Metric | None = None,
    run: Run = DEFAULT,
) -> list[Kept]:
    """Sum the distances of pairs of sites over parts of the snapshots, in one pass over all.

    Blocks of frames are cut where a part begins or ends, and every piece is merged, in order, into
    the sums of its part. No block that is in no part is read. Sums of a part are held from its
    first snapshot to its last: memory is for the pairs times the parts that overlap at any time,
    and for what `reduce` leaves of the others.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    pairs : ndarray, shape (pairs, 2)
        Pairs of sites.
    parts : sequence of range
        Runs of consecutive snapshots, in any order and of any lengths; they may leave snapshots
        out, and overlap. A part of fewer than 64 is summed in double precision, as an ensemble of
        so few would be.
    reduce : callable, optional
        Called with the number of a part and its moments when these are complete; returns the arrays
        that are kept of it. All five arrays of :class:`Moments` by default.
    reduction : str, optional
        A text that tells this way to reduce from others, for checkpoints.
    metric : callable, optional
        As for :func:`moments`.
    run : Run, optional
        How it is carried out.

    Returns
    -------
    list of tuple of ndarray
        What was kept of each part.

    Examples
    --------
    >>> import numpy as np
    >>> line = Ensemble.from_array([[[0.0], [1.0]], [[0.0], [3.0]], [[0.0], [7.0]]])
    >>> parts = [range(0, 2), range(1, 3)]
    >>> [Moments(*part).mean.tolist() for part in moments_by_part(line, np.array([[0, 1]]), parts)]
    [[2.0], [5.0]]
    """
    require_parts(parts, ensemble.n_snapshots)
    metric = known_metric(metric, ensemble)
    pieces = list(_cut(ensemble, parts))

    def key() -> str:
        bounds = np.array([(part.start, part.stop) for part in parts])
        return key_of(ensemble, pairs, bounds, reduction, code_of(metric), run=run)

    with run.loop("moments", key, total=pieces[-1].stop) as loop:
        sums = loop.restore(lambda kept: _PartSums.restore(kept, len(pairs), parts, reduce))
        sums = sums or _PartSums(len(pairs))
        left = list(loop.left(pieces, attrgetter("stop")))
        merges = run.engine.merges(ensemble, pairs, metric, left)
        with closing(merges), loop.under_way():
            for piece, merge in zip(left, merges, strict=True):
                owners = _owners(piece, parts)
                merge([sums.of(number) for number in owners])
                for number in owners:
                    if parts[number].stop == piece.stop:
                        sums.finish(number, reduce)
                loop.advance(piece.stop, sums.state)
    return [sums.finished[number] for number in range(len(parts))]


def require_parts(parts: Sequence[range], n_snapshots: int) -> None:
    """Refuse parts that are no runs of the snapshots.

    Parameters
    ----------
    parts : sequence of range
        As for :func:`moments_by_part`.
    n_snapshots : int
        Number of snapshots that there are.
    """
    if not parts:
        raise ValueError("at least 1 part of the snapshots is needed, got none")
    for part in parts:
        if part.step != 1 or not 0 <= part.start < part.stop <= n_snapshots:
            raise ValueError(
                f"a part is a run of the snapshots 0 to {n_snapshots}, such as range(0, 10), "
                f"got {part}: give bounds within them, and no step"
            )


def key_of(ensemble: Ensemble, *choices: npt.ArrayLike, run: Run = DEFAULT) -> str:
    """Return a fingerprint by which results over the blocks of an ensemble are known again.

    Snapshots count by what their frames say tells them from others: numbers in memory, or files.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    *choices : array_like
        All else on which the result depends.
    run : Run, optional
        Of which the result is kept; if its checkpoint says by itself whose it is, files need not
        be looked at.

    Returns
    -------
    str
        Text without meaning.
    """
    first, _ = ensemble.snapshot(0)
    weights = "equal" if ensemble.weights is None else ensemble.weights
    snapshots = () if run.identified else (*ensemble.frames.marks(), weights)
    return digest(ensemble.frames.shape, [ensemble.block_length], first, *snapshots, *choices)


def code_of(metric: Metric | None) -> str:
    """Return a text by which a distance is known again.

    Parameters
    ----------
    metric : callable, str or None
        Distance or its name, Euclidean if None.

    Returns
    -------
    str
        Its name and code; what it takes from elsewhere is not in it.
    """
    code = getattr(metric, "__code__", None)
    if metric is None or isinstance(metric, str) or code is None:
        return repr(metric)
    return repr((metric.__qualname__, code.co_code, code.co_consts, code.co_names))


class _PartSums:
    """Sums of the parts under way, and what is kept of those that are finished."""

    def __init__(self, n_pairs: int) -> None:
        self.open = dict[int, Moments]()
        self.finished = dict[int, Kept]()
        self._spare = list[Moments]()
        self._n_pairs = n_pairs

    @classmethod
    def restore(
        cls,
        kept: Arrays,
        n_pairs: int,
        parts: Sequence[range],
        reduce: Callable[[int, Moments], Kept],
    ) -> _PartSums:
        """Go on from what :meth:`state` gave."""
        made = cls(n_pairs)
        done = int(take(kept, "done", np.int64))
        nothing = Moments.empty(n_pairs)
        reduced: Kept | None = None  # what is kept of a part with no snapshot is of the same shapes
        for number, part in enumerate(parts):
            if part.start < done < part.stop:
                made.open[number] = Moments(*_take_like(nothing.arrays, kept, f"open {number}"))
            elif part.stop <= done:
                reduced = reduced or reduce(number, nothing)
                made.finished[number] = _take_like(reduced, kept, f"part {number}")
        return made

    def state(self) -> Arrays:
        held = {("open", number): found.arrays for number, found in self.open.items()}
        done = {("part", number): found for number, found in self.finished.items()}
        return {
            f"{kind} {number} {place}": array
            for (kind, number), arrays in [*held.items(), *done.items()]
            for place, array in enumerate(arrays)
        }

    def of(self, number: int) -> Moments:
        """Sums of a part, of which there are none yet when it is first asked for."""
        if number not in self.open:
            self.open[number] = self._spare.pop() if self._spare else Moments.empty(self._n_pairs)
        return self.open[number]

    def finish(self, number: int, reduce: Callable[[int, Moments], Kept]) -> None:
        """Keep what is wanted of a part; the memory of its sums is used again."""
        sums = self.open.pop(number)
        kept = reduce(number, sums)
        self.finished[number] = kept
        if not any(np.may_share_memory(one, other) for one in kept for other in sums.arrays):
            sums.clear()
            self._spare.append(sums)


def _take_like(wanted: Kept, kept: Arrays, name: str) -> Kept:
    """Take arrays that were kept, of the types and shapes of others."""
    return tuple(
        take(kept, f"{name} {place}", like.dtype, like.shape) for place, like in enumerate(wanted)
    )


def _cut(ensemble: Ensemble, parts: Sequence[range]) -> Iterator[Piece]:
    """Cut blocks where parts begin and end, and leave out what is in none."""
    length = ensemble.block_length
    bounds = np.unique([bound for part in parts for bound in (part.start, part.stop)])
    for block in range(0, ensemble.n_snapshots, length):
        end = min(block + length, ensemble.n_snapshots)
        cuts = [block, *bounds[(bounds > block) & (bounds < end)].tolist(), end]
        for start, stop in pairwise(cuts):
            owners = _owners(Piece(block, start, stop, single=True), parts)
            if owners:
                long = all(len(parts[number]) >= SINGLE_FROM for number in owners)
                yield Piece(block, start, stop, single=long)


def _owners(piece: Piece, parts: Sequence[range]) -> list[int]:
    """Which parts a piece belongs to; it never crosses a bound."""
    return [
        number
        for number, part in enumerate(parts)
        if part.start <= piece.start and piece.stop <= part.stop
    ]
