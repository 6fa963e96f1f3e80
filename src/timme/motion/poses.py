"""Follow one body as seen from another, through all snapshots in which both are whole.

Whole is a body of which three quarters of the sites are seen: from a few, a fit gives an
orientation as well, but one far less precise than is told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from timme._arrays import Bools, Coordinates, Floats, Ints
from timme.motion.fits import Shape, degeneracy, in_space, mean_shape
from timme.motion.screws import interface_middle, precision, turning_noise
from timme.motion.superposition import chosen_sites, site_weights, superpose
from timme.motion.whole import refuse_cut_molecules
from timme.system.ensemble import Ensemble

_MOST = 0.75  # of the sites of a body that are ever seen, and more: then it is whole


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
    middle: Floats  # (3,), of the reference, as it is laid
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
    _refuse_shared(ensemble, moving, still)
    refuse_cut_molecules(ensemble.select(np.union1d(moving, still)))
    given = site_weights(ensemble, weights)
    for sites in (moving, still):
        given[sites] = site_weights(ensemble.select(sites), given[sites])
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
    both = np.flatnonzero(shape.poses.unique & _whole(laid.ensemble, (moving, still), given))
    counts = laid.ensemble.weights
    share = np.ones(len(both)) if counts is None else counts[both]
    both, share = both[share > 0], share[share > 0]
    if len(both) < 2:
        how = "are whole" if ensemble.gaps else "have an orientation"
        words = f"both bodies {how} in {len(both)} of {ensemble.n_snapshots} snapshots, not in 2"
        ties = int(shape.poses.ties.sum() + lame.poses.ties.sum())
        return f"{words}; in {ties} the mirror image of one fits as well" if ties else words
    first = np.asarray(laid.ensemble.snapshot(int(both[0]))[0], dtype=np.float64)
    rotations, centres = in_space(shape.poses.rotations[both], shape.poses.centres[both])
    middle = np.nanmean(first[still], axis=0)
    away = shape.poses.centres[both].mean(axis=0) - middle
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
        middle=np.append(middle, np.zeros(3 - len(middle))),
        body=shape,
        reference=lame,
        n_dimensions=ensemble.n_dimensions,
        n_snapshots=_counting(ensemble),
    )


def _refuse_shared(ensemble: Ensemble, body: Ints, reference: Ints) -> None:
    shared = np.intersect1d(body, reference)
    if len(shared):
        raise ValueError(
            f"{ensemble.prefix}a body moves against others, but {len(shared)} of its sites are of "
            f"the reference as well, the first of them {ensemble.site_label(int(shared[0]))}: "
            "give each site to one of them"
        )


def _whole(ensemble: Ensemble, parts: Iterable[Ints], weights: Floats) -> Bools:
    """In which snapshots most sites of each body are seen, of those that are ever."""
    if not ensemble.gaps:
        return np.ones(ensemble.n_snapshots, np.bool_)
    seen = np.concatenate(
        [np.isfinite(block.coordinates).all(axis=2) for block in ensemble.blocks()]
    )
    counted = seen.any(axis=0) & (weights > 0)
    found = np.ones(len(seen), np.bool_)
    for sites in parts:
        found &= seen[:, sites[counted[sites]]].mean(axis=1) >= _MOST
    return found


def _counting(ensemble: Ensemble) -> int:
    """Snapshots that count: those of weight 0 do not."""
    given = ensemble.weights
    return ensemble.n_snapshots if given is None else int(np.count_nonzero(given))


def _shape(ensemble: Ensemble, sites: Ints, weights: Floats) -> Shape:
    some = ensemble.select(sites)

    def blocks() -> Iterable[tuple[Coordinates, Floats]]:
        return ((block.coordinates, block.weights) for block in some.blocks())

    return mean_shape(blocks, weights[sites])
