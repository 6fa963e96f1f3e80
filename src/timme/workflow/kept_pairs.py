"""Which pairs are kept for pictures where all are too many: enough for a matrix and for sticks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from timme._arrays import Ints, frozen
from timme.engine.moments import Metric
from timme.engine.run import Run
from timme.fluctuations.measuring import measure_in_chunks
from timme.fluctuations.overlap import Overlap, choose_overlap, keep_sharing
from timme.fluctuations.sigma import Fluctuations
from timme.objects import Objects
from timme.pairs.choices import given, nearest
from timme.pairs.lists import Pairs, lower_first, without

KEPT_PAIRS = 2_000_000  # more than this are linked on the fly, and σ of few of them is kept

_MOST = 1_000  # objects along an axis: as many as a matrix has pixels
_NEAREST = 6  # neighbours that sticks may join


def are_kept(partners: Pairs) -> bool:
    """Tell whether σ of all pairs is kept.

    Parameters
    ----------
    partners : Pairs
        Who with whom.

    Returns
    -------
    bool
        False for very many that no list names.
    """
    return len(partners) <= KEPT_PAIRS or partners.index is not None


def list_sharing(compared: Objects, partners: Pairs, min_overlap: Overlap) -> Pairs:
    """List the pairs that share enough snapshots, where few enough of very many do.

    Parameters
    ----------
    compared : Objects
        What is compared.
    partners : Pairs
        Who with whom.
    min_overlap : int, "auto" or None
        As for :func:`timme.measure`.

    Returns
    -------
    Pairs
        A list of which σ of all pairs is kept, or the same pairs.
    """
    if are_kept(partners):
        return partners
    sharing = keep_sharing(compared, partners, choose_overlap(compared, min_overlap))
    return sharing if 0 < len(sharing) <= KEPT_PAIRS else partners


def count_drawn(compared: Objects, n_shown: int) -> int:
    """Count the pairs that pictures need, at most.

    Parameters
    ----------
    compared : Objects
        What is compared.
    n_shown : int
        How many of them are drawn.

    Returns
    -------
    int
        Pairs of objects.
    """
    n_axis = min(n_shown, _along_axis(compared))
    n_near = _NEAREST * len(compared) * _has_sticks(compared)
    return n_axis * (n_axis - 1) // 2 + n_near + len(compared)


def measure_drawn(
    compared: Objects,
    partners: Pairs,
    axis: Ints,
    joining: Ints,
    *,
    min_overlap: Overlap,
    metric: Metric | None = None,
    run: Run,
) -> Fluctuations:
    """Measure what pictures need of all pairs, and what clusters are judged by.

    Parameters
    ----------
    compared : Objects
        What is compared.
    partners : Pairs
        All pairs, but for those left out.
    axis : ndarray of int
        The objects that are drawn, in the order of an axis.
    joining : ndarray of int, shape (joins, 2)
        Pairs by which clusters are joined.
    min_overlap : int, "auto" or None
        As for :func:`timme.measure`.
    metric : str or callable, optional
        As for :func:`timme.measure`.
    run : Run
        How the run is carried out, of which this is a quick end.

    Returns
    -------
    Fluctuations
        Of all pairs of objects at even steps along the axis, of neighbours that sticks may join,
        and of those by which clusters are joined.
    """
    chosen = _at_even_steps(axis, _along_axis(compared))
    index = np.concatenate([chosen[np.column_stack(np.triu_indices(len(chosen), 1))], joining])
    if _has_sticks(compared):
        near = nearest(compared, min(_NEAREST, len(compared) - 1), by="first")
        index = np.concatenate([index, *near.chunks(len(near))])
    index = without(lower_first(index), partners.left_out, len(compared))
    (measured,) = measure_in_chunks(
        compared,
        given(compared, index),
        chunk=len(compared) ** 2,
        min_overlap=min_overlap,
        metric=metric,
        run=Run(run.engine),
        near=lambda *_: None,  # what is near half the box was counted over all pairs
    )
    return measured


def keep_drawn(sigma: Fluctuations) -> Fluctuations:
    """Take what pictures need of a ready-made matrix.

    Parameters
    ----------
    sigma : Fluctuations
        Of all its pairs.

    Returns
    -------
    Fluctuations
        All of them, or those of sites at even steps where they are too many.
    """
    if len(sigma.sigma) <= KEPT_PAIRS:
        return sigma
    chosen = np.zeros(sigma.n_objects, np.bool_)
    chosen[_at_even_steps(np.arange(sigma.n_objects), _MOST)] = True
    kept = chosen[sigma.pairs].all(axis=1)
    return replace(
        sigma,
        pairs=frozen(sigma.pairs[kept]),
        sigma=frozen(sigma.sigma[kept]),
        common=frozen(sigma.common[kept]),
    )


def note_on(n_pairs: int, drawn: Fluctuations, symbol: str = "σ") -> str:
    """Say that not all pairs are drawn.

    Parameters
    ----------
    n_pairs : int
        All pairs.
    drawn : Fluctuations
        Those that are kept.
    symbol : str, optional
        Of what pairs have.

    Returns
    -------
    str
        A sentence.
    """
    return (
        f"{symbol} of {n_pairs:,} pairs is too much to keep: the matrix and sticks show "
        f"{len(drawn.sigma):,} of them"
    )


def _along_axis(compared: Objects) -> int:
    """Objects of many sites each have more distances to be measured, so that fewer are drawn."""
    per_object = len(compared.members) / len(compared)
    return _MOST if compared.are_points else max(100, int(_MOST / per_object))


def _has_sticks(compared: Objects) -> bool:
    ensemble = compared.ensemble
    return len(ensemble.atoms.bonds) == 0 and not ensemble.gaps


def _at_even_steps(axis: Ints, most: int) -> Ints:
    """One of the objects in the middle of each pixel."""
    count = min(most, len(axis))
    middles: Ints = axis[((np.arange(count) + 0.5) * len(axis) / count).astype(np.int64)]
    return middles
