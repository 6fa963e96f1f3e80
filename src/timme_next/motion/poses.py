"""Poses of one body as seen from another, in all snapshots in which both are whole.

A body counts as whole where three quarters of its sites are seen: a fit of fewer is far less
precise than its noise says.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from timme_next._arrays import Bools, Floats, Ints
from timme_next.ensemble import Ensemble
from timme_next.motion.fits import MIRROR, Shape, degeneracy
from timme_next.motion.screws import in_space, interface_middle, precision, turning_noise
from timme_next.motion.superposition import (
    body_shape,
    body_sites,
    refuse_torn,
    site_weights,
    superpose,
)

_WHOLE = 0.75  # of the sites of a body that are ever seen


@dataclass(frozen=True, slots=True, eq=False)
class Relative:
    """Poses of a body in the frame of another, in space."""

    rotations: Floats  # (snapshots, 3, 3)
    centres: Floats  # (snapshots, 3)
    weights: Floats  # (snapshots,), with sum 1
    frames: Ints  # (snapshots,), which of the ensemble these are
    runs: Ints  # snapshots of each run; 1 for each where they have no order
    turning: Floats  # (3, 3), covariance of the rotation vector from noise, in rad²
    frame: Floats  # (3, 3), the share of the reference, which turns all snapshots alike
    shift: float  # standard deviation of the centre from noise
    near: Floats  # (3,), middle of the interface
    middle: Floats  # (3,), of the reference
    body: Shape
    reference: Shape
    n_snapshots: int  # of the ensemble that count, whole or not


def relative(
    ensemble: Ensemble,
    body: str | npt.ArrayLike,
    reference: str | npt.ArrayLike,
    weights: npt.ArrayLike | None,
) -> Relative | str:
    """Poses of a body as seen from another, or why there are none."""
    moving, still = body_sites(ensemble, body), body_sites(ensemble, reference)
    shared = np.intersect1d(moving, still)
    if len(shared):
        raise ValueError(
            f"{ensemble.prefix}{len(shared)} sites are in both the body and the reference, the "
            f"first of them {ensemble.site_label(int(shared[0]))}: give each site to one of them"
        )
    if ensemble.n_dimensions not in (2, 3):
        raise ValueError(
            f"{ensemble.prefix}hinges need 2 or 3 dimensions, got {ensemble.n_dimensions}"
        )
    refuse_torn(ensemble.select(np.union1d(moving, still)))
    given = site_weights(ensemble, weights)
    for sites in (moving, still):
        given[sites] = site_weights(ensemble.select(sites), given[sites])
    flaw = degeneracy(np.asarray(ensemble.snapshot()[0][still], np.float64), given[still])
    if flaw and not ensemble.gaps:
        return f"the reference has no orientation: {flaw}"
    try:
        laid = superpose(ensemble, still, weights=given[still])
    except ValueError:
        return f"the reference has no orientation: {flaw or 'it is never whole'}"
    shape = body_shape(laid.ensemble.select(moving), given[moving])
    if not shape.n_fitted:
        return f"the body has no orientation: {shape.verdict}"
    whole = shape.poses.unique
    for sites in (moving, still):
        whole &= _is_whole(laid.ensemble, sites[given[sites] > 0])
    if laid.ensemble.weights is not None:
        whole &= laid.ensemble.weights > 0
    both = np.flatnonzero(whole)
    if len(both) < 2:
        how = "are whole" if ensemble.gaps else "have an orientation"
        words = f"both bodies {how} in {len(both)} of {ensemble.n_snapshots} snapshots, not in 2"
        ties = int(shape.poses.ties.sum() + laid.shape.poses.ties.sum())
        return f"{words}; in {ties} {MIRROR}" if ties else words
    return _poses(ensemble, laid.ensemble, (laid.shape, shape), (still, moving), both)


def _poses(
    ensemble: Ensemble,
    laid: Ensemble,
    shapes: tuple[Shape, Shape],
    sites: tuple[Ints, Ints],
    both: Ints,
) -> Relative:
    """Poses in the snapshots of which both bodies are whole."""
    reference, body = shapes
    frames = np.flatnonzero(reference.poses.unique)[both]
    share = np.ones(len(both)) if laid.weights is None else laid.weights[both]
    first = np.asarray(laid.snapshot(int(both[0]))[0], np.float64)
    middle = np.nanmean(first[sites[0]], axis=0)
    turning, shift = precision(body, reference, body.poses.centres[both].mean(axis=0) - middle)
    near = interface_middle(first[sites[1]], first[sites[0]])
    rotations, centres = in_space(body.poses.rotations[both], body.poses.centres[both])
    middle, near = in_space(body.poses.rotations[:2], np.array([middle, near]))[1]
    runs = np.ones(len(both), np.int64)
    if not ensemble.independent:
        counts = np.bincount(np.searchsorted(np.cumsum(ensemble.replicas), frames, side="right"))
        runs = counts[counts > 0]
    return Relative(
        rotations=rotations,
        centres=centres,
        weights=share / share.sum(),
        frames=frames,
        runs=runs,
        turning=turning,
        frame=turning_noise(reference),
        shift=shift,
        near=near,
        middle=middle,
        body=body,
        reference=reference,
        n_snapshots=ensemble.n_counting,
    )


def _is_whole(ensemble: Ensemble, sites: Ints) -> Bools:
    """In which snapshots most sites of a body are seen, of those that are ever."""
    if not ensemble.gaps:
        return np.ones(ensemble.n_snapshots, np.bool_)
    some = ensemble.select(sites)
    seen = np.concatenate([np.isfinite(b.coordinates).all(axis=2) for b in some.blocks()])
    whole: Bools = seen[:, seen.any(axis=0)].mean(axis=1) >= _WHOLE
    return whole
