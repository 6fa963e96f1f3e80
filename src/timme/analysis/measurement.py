"""Measurement within the memory that there is: σ, without errors of positions, and its tree."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from timme import memory
from timme._arrays import Ints
from timme.analysis.choices import Kind, Shown
from timme.analysis.settings import Settings
from timme.confidence.bootstrap import N_PARTS
from timme.confidence.noise import (
    LEAST_SNAPSHOTS,
    Noise,
    PositionErrors,
    estimate_errors,
    take_off,
)
from timme.engine.checkpoint import Run
from timme.engine.metrics import known_metric
from timme.fluctuations import Fluctuations, choose_overlap, chunk_for, keep_sharing, measure
from timme.hierarchy.clustering import find_forest
from timme.hierarchy.linking import link
from timme.hierarchy.quantity import sigma_by
from timme.hierarchy.tree import Hierarchy
from timme.objects import Objects
from timme.pairs import Pairs, given, nearest, sorted_pairs, without

KEPT = 2_000_000  # pairs: σ of more, which no list names, is not held
MOST_DRAWN, _NEAREST = 1_000, 6  # objects along an axis of a matrix; neighbours
_COMPILED, _MARGIN = 110e6, 1.3  # bytes; and how rough their sum is
_SMALLEST = 10_000  # pairs that are measured at a time


class Measured(NamedTuple):
    """What was compared, linked, and noted."""

    sigma: Fluctuations  # of all pairs, or of those that pictures and support need
    hierarchy: Hierarchy
    n_pairs: int
    noise: Noise | None = None  # that was subtracted
    notes: tuple[str, ...] = ()


def measure_and_link(
    objects: Objects,
    pairs: Pairs,
    shown: Shown,
    settings: Settings,
    metric: Any,
    how: dict[str, Any],
    kind_: Kind,
) -> Measured:
    """Measure and link; σ of very many pairs is not held, but for those that pictures need."""
    overlap = settings.min_overlap
    if pairs.index is None and len(pairs) > KEPT:
        sharing = keep_sharing(objects, pairs, choose_overlap(objects, overlap))
        pairs = sharing if 0 < len(sharing) <= KEPT else pairs
    keep = pairs.index is not None or len(pairs) <= KEPT
    steps = _needs(objects, len(pairs) if keep else MOST_DRAWN**2, settings)
    chunk = min(chunk_for(objects), budget(steps, settings.memory))
    options: dict[str, Any] = {"chunk": chunk, "min_overlap": overlap, "metric": metric}
    errors = _errors(objects, settings, metric, kind_)
    if keep:
        sigma, noise, notes = measure(objects, pairs, **options, **how), None, tuple[str, ...]()
        if errors is not None:
            noise, (sigma, n_clipped) = errors.variance, take_off(sigma, errors.variance)
            usual = ", ".join(f"{x:.2g}" for x in np.sqrt(errors.squares.mean(axis=0)))
            told = f"an error of positions of {usual} {sigma.unit}".rstrip()
            notes = (f"{told} was subtracted from σ: {n_clipped:,} pairs have σ = 0",)
        tree = link(sigma, quantity=sigma_by(metric, sigma.unit), linkage=settings.linkage)
        return Measured(sigma, tree, len(sigma.sigma), noise, notes)
    if settings.linkage != "single" or errors is not None:
        raise ValueError(
            f"linkage={settings.linkage!r} and noise= need {len(pairs):,} pairs at once: compare "
            "those in contact or the nearest (pairs=), or use single linkage without noise="
        )
    forest = find_forest(objects, pairs, run=Run.of(**how), **options)
    tree = forest.hierarchy()
    sigma = _measure_drawn(objects, pairs, shown, tree, forest.edges, options)
    told = f"σ of {len(sigma.sigma):,} of {forest.n_compared:,} pairs is held"
    notes = (f"{told}: the matrix and support of clusters stand on these",)
    return Measured(sigma, tree, forest.n_compared, None, notes)


def _measure_drawn(
    objects: Objects,
    pairs: Pairs,
    shown: Shown,
    tree: Hierarchy,
    joining: Ints,
    options: dict[str, Any],
) -> Fluctuations:
    """Measure pairs at even steps along the axis, near neighbours, and those that join clusters."""
    seen = shown.objects
    axis = seen if shown.sequential else seen[tree.restrict(seen).order]
    per_object = 1.0 if objects.are_points else len(objects.members) / len(objects)
    chosen = evenly(axis, max(MOST_DRAWN // 10, int(MOST_DRAWN / per_object)))
    index = [chosen[np.column_stack(np.triu_indices(len(chosen), 1))], joining]
    if len(objects.ensemble.atoms.bonds) == 0 and not objects.ensemble.gaps:
        near = nearest(objects, min(_NEAREST, len(objects) - 1))
        index += near.chunks(max(1, len(near)))
    listed = sorted_pairs(np.concatenate(index), len(objects))
    listed = without(listed, pairs.left_out, len(objects))
    with warnings.catch_warnings():  # pairs near half the box were counted over all pairs
        warnings.simplefilter("ignore")
        return measure(objects, given(objects, listed), **options)


def evenly(places: Ints, most: int) -> Ints:
    """Return at most so many of some places, the middle of each stretch."""
    count = min(most, len(places))
    return places[((np.arange(count) + 0.5) * len(places) / count).astype(np.int64)]


def _errors(
    objects: Objects, settings: Settings, metric: Any, kind_: Kind
) -> PositionErrors | None:
    """Return the errors of positions that are subtracted, or say why they cannot be."""
    noise, ensemble = settings.noise, objects.ensemble
    if noise is None:
        return None
    estimated = noise == "auto"
    reasons = {
        "points or centres, got objects of several sites": not objects.are_points,
        "Euclidean distances": known_metric(metric, ensemble) is not None,
        "snapshots of equal weight": ensemble.weights is not None,
        "snapshots in order of time, to estimate errors": estimated and ensemble.independent,
        "particles, since atoms move within a snapshot": estimated and kind_ != "particles",
        f"at least {LEAST_SNAPSHOTS} snapshots": estimated
        and ensemble.n_snapshots < LEAST_SNAPSHOTS,
    }
    for needed, missing in reasons.items():
        if missing:
            raise ValueError(f"{ensemble.prefix}noise= needs {needed}: leave it out")
    centres = objects.centres()
    if estimated:
        return PositionErrors(centres, estimate_errors(centres) ** 2)
    errors = np.asarray(noise, np.float64)
    if len(errors) not in (1, ensemble.n_dimensions):
        raise ValueError(
            f"noise= takes one error, or one for each of {ensemble.n_dimensions} axes, got "
            f"{len(errors)}"
        )
    shares = np.add.reduceat(objects.centre_weights**2, objects.offsets[:-1])
    squares = shares[:, None] * np.broadcast_to(errors**2, (ensemble.n_dimensions,))
    return PositionErrors(centres, squares)


class Need(NamedTuple):
    """Memory that a step needs."""

    name: str
    fixed: float  # bytes
    per_pair: float = 0.0  # bytes for each pair that is measured at a time


def budget(steps: Sequence[Need], limit: str | None) -> int:
    """Return how many pairs can be measured at a time; refuse what needs more memory than there is.

    Examples
    --------
    >>> budget([Need("measuring σ", 1e6, 100)], "100GB") > 1_000_000
    True
    """
    left = memory.available() if limit is None else memory.parse(limit) - memory.usage()
    room = math.inf if left is None else left
    worst = max(steps, key=lambda step: step.fixed + _SMALLEST * step.per_pair)
    least = _MARGIN * (worst.fixed + _SMALLEST * worst.per_pair)
    if least > room:
        raise ValueError(
            f"{worst.name} needs about {memory.shown(least + memory.usage())} of memory, and "
            f"{memory.shown(max(0.0, room) + memory.usage())} are allowed: select fewer sites "
            "(select=), compare nearer pairs (pairs=), or allow more (memory=)"
        )
    most = [(room / _MARGIN - step.fixed) / step.per_pair for step in steps if step.per_pair]
    return int(min([*most, 1e15]))


def _needs(objects: Objects, n_kept: int, settings: Settings) -> list[Need]:
    """Return roughly what the steps of an analysis need; what one took is free for the next."""
    used = objects.centres() if objects.are_points else objects.ensemble
    block = 30.0 * min(used.block_length, used.n_snapshots) * used.n_sites * used.n_dimensions
    stays = _COMPILED + 72 * n_kept + 1_000 * len(objects)
    sums = min(4e8, 46.0 * min(N_PARTS, used.n_snapshots) * n_kept)
    return [
        Need("measuring σ", stays + block, 1e9 / chunk_for(objects, 1_000_000_000)),
        Need("resampling", stays + (block + sums) * (settings.confidence is not False)),
    ]


def most_contacts(objects: Objects, limit: str | None) -> int:
    """Return how many contacts can be held while they are searched for."""
    return budget([Need("a search for contacts", _COMPILED + 500 * len(objects), 100)], limit)
