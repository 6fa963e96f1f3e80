"""Measure σ² over parts of the snapshots, in one pass: blocks in time, replicas, windows, halves.

How sure a σ is can be told from how it differs between parts. For points, the moments of parts
are all there is: any of them can be merged, as often as wanted, to those of their union, exactly.
Objects of several sites are reduced part by part, and σ over several parts does not follow from
that: neither which cross pair is the largest, nor how the mean of each shifts from part to part, is
known any longer. Name the unions beforehand, and sums of sites are merged before they are reduced.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np

from timme._arrays import Coordinates, Floats, Ints, frozen
from timme._html import Described
from timme.engine.checkpoint import Arrays, take
from timme.engine.metrics import known_metric, unit_of_distances
from timme.engine.moments import Metric, Moments
from timme.engine.reduction import Kept, code_of, moments_by_part, require_parts
from timme.engine.run import DEFAULT, Run
from timme.fluctuations.crossing import Crossing
from timme.fluctuations.measuring import (
    PairPiece,
    check_pairs,
    cut,
    key_of_objects,
    require_objects_and_pairs,
)
from timme.fluctuations.sigma import Fluctuations
from timme.objects import Objects, require_places_on_sphere
from timme.pairs.lists import Pairs
from timme.system.ensemble import Ensemble

_HELD_BYTES = 400_000_000  # sums of all parts that are held at a time
_SUMS = 40  # bytes for each pair of sites and part
_FOUND = 60  # bytes for each pair of sites: which it is, and what its sums are reduced to
_NAMES = ("pairs", "origin", "variance", "shift", "weight", "common")  # of what is kept


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PartFluctuations(Described):
    """Moments of the distances of pairs of objects, for each of some parts of the snapshots."""

    n_objects: int
    pairs: Ints  # (pairs, 2), lower first
    parts: tuple[tuple[range, ...], ...]  # snapshots of each row: a part, or those of a union
    common: Ints  # (rows, pairs), snapshots in which both are seen
    weight: Coordinates  # (rows, pairs), their weights added up
    variance: Coordinates  # (rows, pairs), σ² about the mean of the row; NaN where never seen
    origin: Floats  # (pairs,), distance in the first snapshot of the first part, or 0
    shift: Coordinates  # (rows, pairs), mean distance less that; of groups, averaged
    can_merge: bool  # whether rows say all about their union: objects are compared by one point
    unit: str = ""

    def merge(self, rows: Sequence[int]) -> Fluctuations:
        """Merge rows to σ over the snapshots of all of them.

        Parameters
        ----------
        rows : sequence of int
            Which, in any order; one that is named twice counts twice, as in a bootstrap. Of objects
            of several sites, one row only.

        Returns
        -------
        Fluctuations
            Of all pairs, as if the snapshots of these rows had been measured together.
        """
        chosen = _numbers(rows, len(self.parts), "rows to merge", "row")
        if len(chosen) > 1 and not self.can_merge:
            raise ValueError(
                "σ of objects of several sites does not follow from that of parts, got "
                f"{len(chosen)} rows to merge: name them as unions= when the parts are measured"
            )
        weight = self.weight[chosen].astype(np.float64)
        seen = weight > 0
        shift = np.where(seen, self.shift[chosen], 0.0)
        with np.errstate(invalid="ignore"):
            share = weight / weight.sum(axis=0)  # 1 of a row alone, which stays as it is
            mean = (share * shift).sum(axis=0)
            inside = np.where(seen, self.variance[chosen] + (shift - mean) ** 2, 0.0)
            variance = (share * inside).sum(axis=0)
        common = self.common[chosen].sum(axis=0)
        return Fluctuations(
            self.n_objects, self.pairs, frozen(np.sqrt(variance)), frozen(common), self.unit
        )


def measure_parts(  # noqa: PLR0913, as measure
    objects: Objects,
    pairs: Pairs,
    parts: Sequence[range],
    *,
    unions: Sequence[Sequence[int]] | None = None,
    chunk: int | None = None,
    single: bool = False,
    metric: Metric | None = None,
    run: Run = DEFAULT,
) -> PartFluctuations:
    """Measure σ² of pairs of objects over parts of the snapshots.

    Parameters
    ----------
    objects : Objects
        What is compared.
    pairs : Pairs
        Who with whom; none is left out, however seldom it is seen.
    parts : sequence of range
        As for :func:`timme.engine.reduction.moments_by_part`.
    unions : sequence of sequence of int, optional
        Numbers of the parts that make up each row of the result; each part by itself if not given.
        Sums of all parts are then held to the end.
    chunk : int, optional
        Pairs measured at a time, about. By default as many as there is room for in 400 MB, with the
        sums of all parts that overlap at any time, or of all that make up unions; fewer pairs mean
        more passes over the snapshots, and change nothing in the result.
    single : bool, optional
        Whether the result is in single precision, which takes half the memory.
    metric : str or callable, optional
        As for :func:`timme.measure`.
    run : Run, optional
        How it is carried out.

    Returns
    -------
    PartFluctuations
        A row for each part, or for each union.

    Examples
    --------
    >>> import timme
    >>> ensemble = timme.read([[[0.0], [1.0]], [[0.0], [3.0]], [[0.0], [7.0]], [[0.0], [7.0]]])
    >>> points = timme.objects.points(ensemble)
    >>> halves = measure_parts(points, timme.pairs.all(points), [range(0, 2), range(2, 4)])
    >>> halves.variance.tolist()
    [[1.0], [0.0]]
    >>> halves.merge([0, 1]).sigma == timme.measure(points, timme.pairs.all(points)).sigma
    array([ True])
    """
    require_objects_and_pairs(objects, pairs, "fluctuations.parts.measure_parts")
    check_pairs(objects, pairs)
    ensemble = objects.ensemble
    metric = known_metric(metric, ensemble)
    if objects.are_points:
        require_places_on_sphere(objects, metric)
    require_parts(parts, ensemble.n_snapshots)
    rows = _rows(unions, len(parts))
    snapshots = tuple(tuple(parts[number] for number in row) for row in rows)
    size = chunk
    if size is None:
        # For unions of them, the sums of all parts are held to the end, and those of one union.
        size = _default_chunk(objects, _most_at_once(parts) if unions is None else len(parts) + 1)

    def key() -> str:
        choices = [str(snapshots), str([*parts]), str(size), str(single), code_of(metric)]
        return key_of_objects(objects, pairs, choices, run)

    # The sums over a piece of the pairs save the pieces before it, too.
    with run.loop("parts", key) as loop:
        recalled = loop.restore(partial(_recall, len(rows), objects, single=single))
        pieces = [] if recalled is None else [recalled]
        for piece in loop.left(cut(pairs, size), PairPiece.end):
            found = _measure(
                Crossing.of(objects, piece.index),
                parts,
                unions,
                single=single,
                metric=metric,
                run=piece.watched(run),
            )
            pieces.append((piece.index, *found))
            if run.checkpoint is not None:
                pieces = [_join(pieces)]
                loop.keep(piece.number, partial(_name, pieces[0]))
    index, origin, variance, shift, *seen = map(frozen, _join(pieces))
    weight, common = seen or _seen_throughout(ensemble, snapshots, len(index))
    return PartFluctuations(
        n_objects=len(objects),
        pairs=index,
        parts=snapshots,
        common=common,
        weight=weight,
        variance=variance,
        origin=origin,
        shift=shift,
        can_merge=objects.are_points,
        unit=unit_of_distances(metric, ensemble.unit),
    )


def _measure(
    crossing: Crossing,
    parts: Sequence[range],
    unions: Sequence[Sequence[int]] | None,
    *,
    single: bool,
    metric: Metric | None,
    run: Run,
) -> Kept:
    """Origin, variance and shift of pairs and, where there are gaps, how often they are seen."""
    ensemble = crossing.ensemble
    summed = partial(moments_by_part, ensemble, crossing.site_pairs, metric=metric)
    # Means are counted from the distance in one snapshot, so that single precision is enough.
    (one,) = summed([range(parts[0].start, parts[0].start + 1)], run=Run(run.engine))
    origin = crossing.mean(Moments(*one))

    def keep(snapshots: Sequence[range], found: Moments) -> Kept:
        count, total = _count(ensemble, snapshots)
        kept = [crossing.variance(found), crossing.mean(found) - origin]
        if ensemble.gaps:
            kept.append(crossing.weight(found, total))
        if single:
            kept = [array.astype(np.float32) for array in kept]
        return (*kept, crossing.common(found, count)) if ensemble.gaps else tuple(kept)

    if unions is None:
        rows = summed(
            parts,
            lambda number, found: keep([parts[number]], found),
            reduction=f"{crossing.key} single: {single}",
            run=run,
        )
    else:
        held = [Moments(*arrays) for arrays in summed(parts, run=run)]
        rows = [
            keep([parts[number] for number in row], reduce(Moments.merge, [held[n] for n in row]))
            for row in unions
        ]
    return origin, *(np.stack(arrays) for arrays in zip(*rows, strict=True))


def _rows(unions: Sequence[Sequence[int]] | None, n_parts: int) -> list[list[int]]:
    """Numbers of the parts that make up each row."""
    if unions is None:
        return [[number] for number in range(n_parts)]
    if not unions:
        raise ValueError("at least 1 union of parts is needed, got none: leave out unions=")
    return [_numbers(union, n_parts, "parts of a union", "part") for union in unions]


def _numbers(given: Sequence[int], n_there: int, what: str, each: str) -> list[int]:
    """Numbers of parts or rows, each of which must be there."""
    numbers = [operator.index(number) for number in given]
    if not numbers or not all(0 <= number < n_there for number in numbers):
        raise ValueError(
            f"{what} are numbers from 0 to {n_there - 1}, at least one, got {numbers}: "
            f"name each {each} by its place"
        )
    return numbers


def _count(ensemble: Ensemble, snapshots: Sequence[range]) -> tuple[int, float]:
    """Number and weight of the snapshots that count."""
    if ensemble.weights is None:
        count = sum(map(len, snapshots))
        return count, float(count)
    weights = np.concatenate([ensemble.weights[part.start : part.stop] for part in snapshots])
    return int(np.count_nonzero(weights)), float(weights.sum())


def _seen_throughout(
    ensemble: Ensemble, snapshots: Sequence[Sequence[range]], n_pairs: int
) -> tuple[Floats, Ints]:
    """Weight and number of snapshots, the same for all pairs: views that take no memory."""
    counts = [_count(ensemble, row) for row in snapshots]
    shape = (len(counts), n_pairs)
    weight = np.array([total for _, total in counts])
    common = np.array([count for count, _ in counts])
    return np.broadcast_to(weight[:, None], shape), np.broadcast_to(common[:, None], shape)


def _most_at_once(parts: Sequence[range]) -> int:
    """Count the parts that overlap at any time, at most."""
    begin = np.sort([part.start for part in parts])
    end = np.sort([part.stop for part in parts])
    begun = np.arange(1, len(parts) + 1)
    return int((begun - np.searchsorted(end, begin, side="right")).max())


def _default_chunk(objects: Objects, n_parts: int) -> int:
    """Return how many pairs of objects need sums of so many parts that can be held."""
    per_object = 1.0 if objects.are_points else len(objects.members) / len(objects)
    return max(1, int(_HELD_BYTES / ((_SUMS * n_parts + _FOUND) * per_object**2)))


def _join(pieces: Sequence[Kept]) -> Kept:
    """Bring pieces of the pairs together: these are the first axis of lists, the last of rows."""
    if len(pieces) == 1:
        return pieces[0]
    index, *others = zip(*pieces, strict=True)
    return np.concatenate(index), *(np.concatenate(arrays, axis=-1) for arrays in others)


def _name(piece: Kept) -> Arrays:
    return dict(zip(_NAMES, piece, strict=False))  # where all is seen, the last two are not there


def _recall(n_rows: int, objects: Objects, kept: Arrays, *, single: bool) -> Kept:
    """Pairs that are finished, and what was found of them."""
    index = take(kept, "pairs", np.int64, (None, 2), below=len(objects))
    origin = take(kept, "origin", np.float64, index.shape[:1])
    found = [origin]
    shape, kind = (n_rows, len(index)), np.float32 if single else np.float64
    found += [take(kept, name, kind, shape) for name in ("variance", "shift")]
    if objects.ensemble.gaps:
        found += [take(kept, "weight", kind, shape), take(kept, "common", np.int64, shape)]
    return index, *found
