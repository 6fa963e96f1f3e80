"""Follow one body as seen from another, through all snapshots in which both are whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from timme._arrays import Coordinates, Floats, Ints
from timme.motion.fits import Shape, degeneracy, in_space, mean_shape
from timme.motion.screws import interface_middle, precision, turning_noise
from timme.motion.superposition import chosen_sites, superpose
from timme.system.ensemble import Ensemble


@dataclass(frozen=True, slots=True, eq=False)
class Relative:
    """Poses of a body in the frame of another, in space."""

    rotations: Floats  # (snapshots, 3, 3), as compared with the first
    centres: Floats  # (snapshots, 3)
    weights: Floats  # (snapshots,), of the snapshots, with sum 1
    frames: Ints  # (snapshots,), which of the ensemble these are
    turning: Floats  # (3, 3), covariance of the rotation vector that noise makes, in rad²
    frame: Floats  # (3, 3), share of the reference, by which all is turned alike
    shift: float  # standard deviation of the middle that noise makes
    near: Floats  # (3,), middle of the interface
    body: Shape
    reference: Shape
    n_dimensions: int
    n_snapshots: int  # of the ensemble, whole or not


def relative(
    ensemble: Ensemble,
    body: str | npt.ArrayLike,
    reference: str | npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
) -> Relative | str:
    """Follow a body as seen from another.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots in 2 or 3 dimensions.
    body, reference : str or array_like
        Their sites, as for :func:`timme.motion.superpose`.
    weights : array_like, shape (sites,), optional
        How much each site counts; all alike by default.

    Returns
    -------
    Relative or str
        Or why there is no telling.
    """
    moving, still = chosen_sites(ensemble, body), chosen_sites(ensemble, reference)
    given = np.ones(ensemble.n_sites) if weights is None else np.asarray(weights, np.float64)
    flaw = degeneracy(np.asarray(ensemble.snapshot()[0][still], dtype=np.float64), given[still])
    if flaw and not ensemble.gaps:
        return f"the reference has no orientation: {flaw}"
    try:
        laid = superpose(ensemble, still, weights=given[still])
    except ValueError:
        return f"the reference has no orientation: {flaw or 'it is never whole'}"
    lame = laid.shape
    shape = _shape(laid.ensemble, moving, given)
    if not shape.n_fitted:
        return f"the body has no orientation: {shape.verdict}"
    fitted = np.flatnonzero(lame.poses.unique)
    both = np.flatnonzero(shape.poses.unique)
    counts = laid.ensemble.weights
    share = np.ones(len(both)) if counts is None else counts[both]
    both, share = both[share > 0], share[share > 0]
    if len(both) < 2:
        return (
            f"both bodies are whole in {len(both)} of {ensemble.n_snapshots} snapshots: 2 or more"
        )
    first = np.asarray(laid.ensemble.snapshot(int(both[0]))[0], dtype=np.float64)
    rotations, centres = in_space(shape.poses.rotations[both], shape.poses.centres[both])
    away = shape.poses.centres[both].mean(axis=0) - np.nanmean(first[still], axis=0)
    turning, shift = precision(shape, lame, away)
    near = interface_middle(first[moving], first[still])
    return Relative(
        rotations=rotations,
        centres=centres,
        weights=share / share.sum(),
        frames=fitted[both],
        turning=turning,
        frame=turning_noise(lame),
        shift=shift,
        near=np.append(near, np.zeros(3 - len(near))),
        body=shape,
        reference=lame,
        n_dimensions=ensemble.n_dimensions,
        n_snapshots=_counting(ensemble),
    )


def _counting(ensemble: Ensemble) -> int:
    """Snapshots that count: those of weight 0 do not."""
    given = ensemble.weights
    return ensemble.n_snapshots if given is None else int(np.count_nonzero(given))


def _shape(ensemble: Ensemble, sites: Ints, weights: Floats) -> Shape:
    some = ensemble.select(sites)

    def blocks() -> Iterable[tuple[Coordinates, Floats]]:
        return ((block.coordinates, block.weights) for block in some.blocks())

    return mean_shape(blocks, weights[sites])
