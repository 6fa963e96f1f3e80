"""Sum distances of objects over many short parts of the snapshots, from which σ is resampled.

What is summed, and how σ follows from it, is told in :mod:`timme.fluctuations.resampling`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from timme._arrays import Ints, frozen
from timme.engine.metrics import known_metric, unit_of_distances
from timme.engine.moments import Metric
from timme.engine.reduction import require_parts
from timme.engine.run import DEFAULT, Run
from timme.fluctuations.crossing import Crossing, Singles
from timme.fluctuations.resampling import PartSums
from timme.fluctuations.sigma import NoiseVariance
from timme.fluctuations.site_sums import is_plain, sum_anything, sum_plainly, weights_of
from timme.fluctuations.units import Layout, hold
from timme.objects import Objects

HELD_BYTES = 24_000_000  # sums of site pairs that are held at a time, where objects have several


def sum_parts(
    objects: Objects,
    index: Ints,
    parts: Sequence[range],
    *,
    metric: Metric | None = None,
    layout: Layout | None = None,
    noise: NoiseVariance | None = None,
    run: Run = DEFAULT,
) -> PartSums:
    """Sum the distances of pairs of objects over parts of the snapshots.

    Parameters
    ----------
    objects : Objects
        What is compared.
    index : ndarray of int, shape (pairs, 2)
        Who with whom, the lower first.
    parts : sequence of range
        Runs of consecutive snapshots that do not overlap, in their order.
    metric : str or callable, optional
        As for :func:`timme.measure`.
    layout : Layout, optional
        Frames of the ensemble, if they were laid out in these parts before.
    noise : callable, optional
        What errors of positions add to σ² of pairs of points, which is taken off every draw.
    run : Run, optional
        How it is carried out: with the threads of this process.

    Returns
    -------
    PartSums
        Of each pair, 8 bytes for each part, or 4.
    """
    ensemble = objects.ensemble
    require_parts(parts, ensemble.n_snapshots)
    if any(one.stop != other.start for one, other in pairwise(parts)):
        raise ValueError(f"parts must follow one another without gaps, got {parts}")
    metric = known_metric(metric, ensemble)
    whole = Crossing.of(objects, index)
    n_pieces = 1
    if not objects.are_points and objects.reduction != "max":
        held = 8 * len(parts) * len(whole.site_pairs)
        n_pieces = min(len(index), -(-held // HELD_BYTES)) or 1
    made = [
        _sum_piece(
            whole if n_pieces == 1 else Crossing.of(objects, piece), parts, metric, layout, run
        )
        for piece in np.array_split(index, n_pieces)
    ]
    first, second, seen = (_join(arrays) for arrays in zip(*made, strict=True))
    assert second is not None  # noqa: S101, squares are always there
    return PartSums(
        n_objects=len(objects),
        pairs=frozen(index),
        parts=tuple(parts),
        totals=frozen(weights_of(ensemble, parts)),
        second=second,
        first=first,
        seen=seen,
        unit=unit_of_distances(metric, ensemble.unit),
        largest_of=whole if takes_largest(objects) else None,
        noise=None if noise is None else frozen(noise(index)),
    )


def _join(pieces: Sequence[Singles | None]) -> Singles | None:
    """Bring pieces of the pairs together; a part of them has nothing if all have not."""
    held = [piece for piece in pieces if piece is not None]
    return held[0] if len(held) == 1 else np.concatenate(held) if held else None


def takes_largest(objects: Objects) -> bool:
    """Tell whether the largest of all cross pairs counts, so that sums are those of sites.

    Parameters
    ----------
    objects : Objects
        What is compared.

    Returns
    -------
    bool
        False for points, which have one.
    """
    return not objects.are_points and objects.reduction == "max"


def _sum_piece(
    crossing: Crossing,
    parts: Sequence[range],
    metric: Metric | None,
    layout: Layout | None,
    run: Run,
) -> tuple[Singles | None, Singles, Singles | None]:
    """Sums of r − r̄, of its square, and of weights, for a piece of the pairs."""
    ensemble = crossing.ensemble
    if is_plain(ensemble, metric):
        layout = layout or Layout(ensemble, parts, None)
        first, second = sum_plainly(layout, crossing.site_pairs, run)
        seen = None
    else:
        first, second, seen = sum_anything(ensemble, crossing.site_pairs, parts, metric, run)
    if crossing.objects.are_points:
        return first, second, seen
    rigid = crossing.rigid_site_pairs()
    first[rigid], second[rigid] = 0.0, 0.0
    if takes_largest(crossing.objects):
        return first, second, seen
    del first
    if seen is not None:
        second /= np.maximum(seen, np.float32(1e-30))
    reduced = crossing.reduce_rows(second, crossing.index, largest=False, run=run)
    if seen is None:
        return None, reduced, None
    weight = seen.max() - crossing.reduce_rows(
        seen.max() - seen, crossing.index, largest=True, run=run
    )
    return None, reduced * weight, weight


def lay_out_once(
    objects: Objects, parts: Sequence[range], metric: Metric | None = None
) -> Layout | None:
    """Lay the frames of objects out for several sums over the same parts.

    Parameters
    ----------
    objects : Objects
        What is compared.
    parts : sequence of range
        As for :func:`sum_parts`.
    metric : str or callable, optional
        As for :func:`timme.measure`.

    Returns
    -------
    Layout or None
        None where sums are made another way.
    """
    ensemble = objects.ensemble
    if not is_plain(ensemble, known_metric(metric, ensemble)):
        return None
    return hold(objects.centres() if objects.are_points else ensemble, parts)
