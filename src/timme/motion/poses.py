"""Poses of one body as seen from another, in all snapshots in which both are whole.

A body counts as whole where three quarters of its sites are seen: a fit of fewer is far less
precise than its noise says.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from timme._arrays import Bools, Floats, Ints
from timme.ensemble import Ensemble
from timme.motion.fits import MIRROR, Shape, inertia, is_random, shape_of, warnings_of
from timme.motion.superposition import (
    body_sites,
    refuse_torn,
    require_dimensions,
    site_weights,
)

_UNDETERMINED = "orientation undetermined: noise turns it by 20° and more"
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

    def undetermined(self) -> str:
        """Return why noise leaves the orientation undetermined, or nothing."""
        shapes = self.body, self.reference
        random = is_random(self.turning, *shapes)
        return "; ".join([*warnings_of(*shapes), _UNDETERMINED]) if random else ""


def relative(
    ensemble: Ensemble,
    body: str | npt.ArrayLike,
    reference: str | npt.ArrayLike,
    weights: npt.ArrayLike | None,
) -> Relative | str:
    """Poses of a body as seen from another, or why there are none."""
    require_dimensions(ensemble, "hinges")
    moving, still = body_sites(ensemble, body), body_sites(ensemble, reference)
    shared = np.intersect1d(moving, still)
    if len(shared):
        raise ValueError(
            f"{ensemble.prefix}{len(shared)} sites are in both the body and the reference, the "
            f"first of them {ensemble.site_label(int(shared[0]))}: give each site to one of them"
        )
    refuse_torn(ensemble.select(np.union1d(moving, still)))
    given = site_weights(weights, ensemble.n_sites)
    counts = np.ones(ensemble.n_snapshots) if ensemble.weights is None else ensemble.weights
    near, far = (
        np.asarray(ensemble.select(sites).coordinates(), np.float64) for sites in (still, moving)
    )
    core = shape_of(near, site_weights(given[still], len(still)), counts)
    if not core.n_fitted:
        return f"the reference has no orientation: {core.verdict}"
    near, far = (core.poses.into(each) + _origin(core) for each in (near, far))
    shape = shape_of(far, site_weights(given[moving], len(moving)), counts)
    if not shape.n_fitted:
        return f"the body has no orientation: {shape.verdict}"
    whole = _is_whole(near[:, given[still] > 0]) & _is_whole(far[:, given[moving] > 0])
    frames = np.flatnonzero(shape.poses.unique & whole & (counts > 0))
    if len(frames) < 2:
        how = "are whole" if ensemble.gaps else "have an orientation"
        words = f"both bodies {how} in {len(frames)} of {len(counts)} snapshots, not in 2"
        ties = int(shape.poses.ties.sum() + core.poses.ties.sum())
        return f"{words}; in {ties} {MIRROR}" if ties else words
    middle = np.nanmean(near[frames[0]], axis=0)
    spots = np.array([interface_middle(far[frames[0]], near[frames[0]]), middle])
    centres = np.concatenate([shape.poses.centres[frames], spots])
    rotations, centres = in_space(shape.poses.rotations[frames], centres)
    noise = precision(shape, core, centres[:-2].mean(axis=0) - centres[-1])
    runs = np.ones(len(frames), np.int64)
    if not ensemble.independent:
        places = np.searchsorted(np.cumsum(ensemble.replicas), frames, side="right")
        runs = np.unique(places, return_counts=True)[1]
    series = rotations, centres[:-2], counts[frames] / counts[frames].sum(), frames, runs
    return Relative(*series, *noise, centres[-2], centres[-1], shape, core, ensemble.n_counting)


def interface_middle(body: Floats, reference: Floats) -> Floats:
    """Middle (dimensions,) of the tenth of the sites of a body that are nearest to another."""
    here, there = (each[np.isfinite(each).all(axis=1)] for each in (body, reference))
    apart, partner = (np.asarray(each) for each in cKDTree(there).query(here))
    nearest = np.argsort(apart, kind="stable")[: max(1, len(here) // 10)]
    return np.asarray(0.5 * (here[nearest] + there[partner[nearest]]).mean(axis=0))


def precision(body: Shape, reference: Shape, away: Floats) -> tuple[Floats, Floats, float]:
    """Noise of one pose of a body as seen from another, whose centre is ``away`` (3,).

    Returned are the covariance (3, 3) of the rotation vector in rad², the share of the other body
    in it, and the standard deviation of the centre.
    """
    turned, cross = _turning(reference), np.cross(np.eye(3), away)
    shift = float(np.trace(cross @ turned @ cross.T))
    for shape in (body, reference):
        shift += shape.places.shape[1] * np.nan_to_num(shape.noise) ** 2 / len(shape.places)
    return _turning(body) + turned, turned, float(np.sqrt(shift))


def _turning(shape: Shape) -> Floats:
    """Covariance (3, 3) of the rotation vector of one fit: ε² I⁻¹ in rad²."""
    found = inertia(shape.places, shape.weights)
    in_a_plane = np.diag([0.0, 0.0, 1 / found[2, 2]])
    inverse = np.linalg.pinv(found, hermitian=True) if shape.places.shape[1] == 3 else in_a_plane
    return np.asarray(np.nan_to_num(shape.noise) ** 2 * inverse)


def in_space(rotations: Floats, centres: Floats) -> tuple[Floats, Floats]:
    """Poses in a plane as poses in space, turned about the third axis."""
    size = rotations.shape[1]
    turned = np.tile(np.eye(3), (len(rotations), 1, 1))
    turned[:, :size, :size] = rotations
    moved = np.zeros((len(centres), 3))
    moved[:, :size] = centres
    return turned, moved


def _origin(core: Shape) -> Floats:
    """Centre of the reference in the first snapshot in which it has an orientation."""
    return np.asarray(core.poses.centres[core.poses.unique.argmax()])


def _is_whole(positions: Floats) -> Bools:
    """In which snapshots most sites of a body are seen, of those that are ever."""
    seen: Bools = np.asarray(np.isfinite(positions).all(axis=2))
    return np.asarray(seen[:, seen.any(axis=0)].mean(axis=1) >= _WHOLE)
