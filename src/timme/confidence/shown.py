"""Measure σ of pairs of shown objects, once for all that asks for it: levels and separations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from timme._arrays import Floats, Ints, frozen
from timme.confidence.noise import take_off
from timme.engine.moments import Metric
from timme.engine.run import DEFAULT, Run
from timme.fluctuations.measuring import measure_in_chunks
from timme.fluctuations.sigma import Fluctuations, NoiseVariance
from timme.objects import Objects
from timme.pairs.choices import given

_SITE_PAIRS = 2_000_000  # that are measured at a time
MOST_SHOWN = 1200  # shown objects of which σ of all pairs is measured


@dataclass(frozen=True, slots=True, eq=False)
class ShownSigma:
    """σ of all pairs of shown objects, or of some of them; of others, measured when asked for."""

    chosen: Ints  # numbers among the shown objects, ascending
    matrix: Floats  # (chosen, chosen), NaN where two are never seen together
    _place: Ints  # (shown,), in the matrix; -1 of those that are not there
    _measure: Callable[[Ints], Floats]

    def of(self, index: Ints) -> Floats:
        """Return σ of some pairs.

        Parameters
        ----------
        index : ndarray of int, shape (pairs, 2)
            Numbers among the shown objects; no pair is there twice.

        Returns
        -------
        ndarray, shape (pairs,)
            NaN where two are never seen together.
        """
        one, other = self._place[index].T
        held = (one >= 0) & (other >= 0)
        found = np.empty(len(index))
        found[held] = self.matrix[one[held], other[held]]
        if not held.all():
            found[~held] = self._measure(index[~held])
        return found


def measure_shown(
    objects: Objects,
    shown: Ints,
    *,
    known: Fluctuations | None = None,
    metric: Metric | None = None,
    noise: NoiseVariance | None = None,
    seed: int = 0,
    run: Run = DEFAULT,
) -> ShownSigma:
    """Measure σ of all pairs of shown objects.

    Parameters
    ----------
    objects : Objects
        What was compared.
    shown : ndarray of int
        Which of them are shown.
    known : Fluctuations, optional
        σ of pairs that were measured before, without that noise: they are not measured again.
    metric : str or callable, optional
        As for :func:`timme.measure`.
    noise : callable, optional
        What errors of positions add to σ² of pairs of points, which is taken off.
    seed : int, optional
        Of the random numbers, by which 1200 of more shown objects are chosen.
    run : Run, optional
        How it is carried out.

    Returns
    -------
    ShownSigma
        Of those chosen as a matrix.
    """
    n_shown = len(shown)
    chosen = np.arange(n_shown)
    if n_shown > MOST_SHOWN:
        chosen = np.sort(np.random.default_rng(seed).permutation(n_shown)[:MOST_SHOWN])
    place = np.full(n_shown, -1)
    place[chosen] = np.arange(len(chosen))
    measure = partial(_measure_pairs, objects, shown, metric, noise, run)
    matrix = np.full((len(chosen), len(chosen)), np.inf)  # which no σ is
    np.fill_diagonal(matrix, 0.0)
    if known is not None:
        pairs, sigma = among_shown(known, shown[chosen])
        matrix[*pairs.T] = sigma
    one, other = np.nonzero(np.triu(np.isinf(matrix)))
    matrix[one, other] = measure(np.column_stack([chosen[one], chosen[other]]))
    one, other = np.triu_indices(len(chosen), 1)
    matrix[other, one] = matrix[one, other]
    return ShownSigma(frozen(chosen), frozen(matrix), frozen(place), measure)


def among_shown(sigma: Fluctuations, shown: Ints) -> tuple[Ints, Floats]:
    """Find the pairs both of which are shown.

    Parameters
    ----------
    sigma : Fluctuations
        σ of pairs of objects.
    shown : ndarray of int
        Which objects are shown.

    Returns
    -------
    ndarray of int, shape (pairs, 2)
        Numbers among the shown objects, the lower first.
    ndarray, shape (pairs,)
        Their σ.
    """
    number = np.full(sigma.n_objects, -1)
    number[shown] = np.arange(len(shown))
    inside = number[sigma.pairs]
    held = (inside[:, 0] >= 0) & (inside[:, 1] >= 0)
    return np.sort(inside[held], axis=1), sigma.sigma[held]


def _measure_pairs(
    objects: Objects,
    shown: Ints,
    metric: Metric | None,
    noise: NoiseVariance | None,
    run: Run,
    index: Ints,
) -> Floats:
    """σ of pairs of shown objects; NaN where two are never seen together."""
    found = np.full(len(index), np.nan)
    if not len(index):
        return found
    keys = np.sort(shown[index], axis=1) @ [len(objects), 1]
    ranked = np.argsort(keys)
    per_pair = 1.0 if objects.are_points else (len(objects.members) / len(objects)) ** 2
    for part in measure_in_chunks(
        objects,
        given(objects, shown[index]),
        chunk=max(1, round(_SITE_PAIRS / per_pair)),
        min_overlap=2 if objects.ensemble.gaps else None,
        metric=metric,
        run=Run(run.engine),
        near=lambda *_: None,  # which was told when the pairs that are linked were measured
    ):
        here = np.searchsorted(keys, part.pairs @ [len(objects), 1], sorter=ranked)
        sigma = part if noise is None else take_off(part, noise)[0]
        found[ranked[here]] = sigma.sigma
    return found
