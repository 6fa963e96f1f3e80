"""Find the principal components of motion: after a superposition, or from distances without one.

Variances are population variances, as σ is: those of MDAnalysis are larger by T/(T − 1). Shares are
of all variance, not of that of the components that are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints, frozen
from timme._html import Described
from timme.hierarchy.labels import checked_labels
from timme.motion.superposition import superpose
from timme.motion.variance import STILL, body_basis
from timme.motion.whole import refuse_cut_molecules, spread_snapshots
from timme.system.ensemble import Ensemble

_MOST = 2000
_MOST_PAIRS = 50_000
_WIDE = 20  # times as many columns as rows
_MOST_APART = 500  # snapshots of internal distances, of which there are many more than of places


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Components(Described):
    """Principal components, the largest first."""

    mean: Floats  # (sites, 3), or (pairs,) of distances
    modes: Floats  # (components, sites, 3), or (components, pairs); orthonormal
    variances: Floats  # (components,), in the square of the unit of the coordinates
    projections: Floats  # (snapshots, components)
    total: float  # all variance
    frames: Ints  # (snapshots,), which of the ensemble these are

    @property
    def cumulated(self) -> Floats:
        """Share of all variance that the first components account for."""
        found: Floats = np.cumsum(self.variances) / max(self.total, np.finfo(float).tiny)
        return found


def principal_components(
    ensemble: Ensemble,
    *,
    on: str | npt.ArrayLike | None = None,
    n_components: int | None = None,
    superposed: bool = False,
) -> Components:
    """Find the principal components of positions.

    Parameters
    ----------
    ensemble : Ensemble
        At least 2 snapshots; at most 2000 of them, spread over all, are looked at.
    on : str or array_like, optional
        Sites of the body that snapshots are laid onto; all by default.
    n_components : int, optional
        How many are kept; all that can be by default.
    superposed : bool, optional
        Whether to take positions as they are.

    Returns
    -------
    Components
        Modes point so that their largest entry is positive.

    Examples
    --------
    >>> from timme.synthetic import moving
    >>> found = principal_components(moving((60, 40), 20, spans=[60.0]).ensemble)
    >>> bool(found.cumulated[0] > 0.8)
    True
    """
    refuse_cut_molecules(ensemble)
    laid = ensemble if superposed else superpose(ensemble, on).ensemble
    snapshots, frames = spread_snapshots(laid, _MOST)
    mean, away = _about_mean(snapshots)
    flat = away.reshape(len(snapshots), -1)
    modes, variances, projections = _decompose(flat, n_components)
    return Components(
        mean=frozen(mean),
        modes=frozen(modes.reshape(-1, *mean.shape)),
        variances=frozen(variances),
        projections=frozen(projections),
        total=float((flat**2).sum() / len(flat)),
        frames=frozen(frames),
    )


def distance_components(
    ensemble: Ensemble, *, n_components: int | None = None, seed: int = 0
) -> Components:
    """Find the principal components of internal distances, for which nothing is laid onto anything.

    Parameters
    ----------
    ensemble : Ensemble
        At least 2 snapshots; at most 500 of them, spread over all, are looked at.
    n_components : int, optional
        How many are kept; all that can be by default.
    seed : int, optional
        Of the random choice of 50,000 pairs where there are more.

    Returns
    -------
    Components
        Of pairs of sites in their order.
    """
    refuse_cut_molecules(ensemble)
    if ensemble.n_sites < 2:
        raise ValueError("distances need at least 2 sites, got 1: choose more")
    snapshots, frames = spread_snapshots(ensemble, _MOST_APART)
    pairs = np.column_stack(np.triu_indices(snapshots.shape[1], 1))
    if len(pairs) > _MOST_PAIRS:
        drawn = np.random.default_rng(seed).choice(len(pairs), _MOST_PAIRS, replace=False)
        pairs = pairs[np.sort(drawn)]
    apart = np.array(
        [np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1) for places in snapshots]
    )
    mean, away = _about_mean(apart)
    modes, variances, projections = _decompose(away, n_components)
    total = float((away**2).sum() / len(apart))
    return Components(
        frozen(mean), frozen(modes), frozen(variances), frozen(projections), total, frozen(frames)
    )


def mode_trajectory(found: Components, mode: int = 0, *, n_snapshots: int = 21) -> Floats:
    """Move the mean along a mode, from the least projection to the largest.

    Parameters
    ----------
    found : Components
        Of positions.
    mode : int, optional
        Which one, 0 the largest.
    n_snapshots : int, optional
        Number of steps.

    Returns
    -------
    ndarray, shape (snapshots, sites, 3)
        Positions.
    """
    if not 0 <= mode < len(found.modes):
        raise ValueError(f"modes go from 0 to {len(found.modes) - 1}, got {mode}")
    ends = found.projections[:, mode]
    steps = np.linspace(ends.min(), ends.max(), n_snapshots)
    moved: Floats = found.mean + steps[:, None, None] * found.modes[mode]
    return moved


def overlap_with_bodies(found: Components, labels: npt.ArrayLike) -> Floats:
    """Say how much of each mode is rigid motion of bodies, and of which.

    Parameters
    ----------
    found : Components
        Of positions.
    labels : array_like of int, shape (sites,)
        Body of each site, -1 for none.

    Returns
    -------
    ndarray, shape (components, bodies)
        Squared length of what the rigid motions of each body hold of a mode; at most 1 in all.
    """
    given = checked_labels(labels, len(found.mean), "bodies need")
    shares = []
    for body in range(given.max() + 1):
        members = np.flatnonzero(given == body)
        flat = found.modes[:, members].reshape(len(found.modes), -1)
        shares.append(((flat @ body_basis(found.mean, members)) ** 2).sum(axis=1))
    return np.column_stack(shares)


def rmsip(first: Components, second: Components, *, n_components: int = 10) -> float:
    """Say how far two sets of modes span the same space (root mean square inner product).

    Parameters
    ----------
    first, second : Components
        Of the same sites, such as those of two halves of a trajectory.
    n_components : int, optional
        How many of each are compared.

    Returns
    -------
    float
        1 for the same space, 0 for spaces at right angles.
    """
    one, other = (
        each.modes.reshape(len(each.modes), -1)[:n_components] for each in (first, second)
    )
    if one.shape[1] != other.shape[1]:
        raise ValueError(
            f"modes of the same sites are compared, got those of {one.shape[1]} and of "
            f"{other.shape[1]} numbers"
        )
    count = min(len(one), len(other))
    return float(np.sqrt(((one[:count] @ other[:count].T) ** 2).sum() / count))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BlockCovariance(Described):
    """Covariance of the displacements of sites, in the order of their bodies."""

    order: Ints  # (sites,), body after body
    bounds: Ints  # (bodies + 1,), where each begins and ends
    covariance: Floats  # (sites, sites), mean of δ·δ'
    correlation: Floats  # (sites, sites), divided by the roots of both variances


def block_covariance(
    ensemble: Ensemble, labels: npt.ArrayLike, *, on: str | npt.ArrayLike | None = None
) -> BlockCovariance:
    """Set displacements of sites beside one another, those of a body together.

    Parameters
    ----------
    ensemble : Ensemble
        At least 2 snapshots.
    labels : array_like of int, shape (sites,)
        Body of each site; those of none come last.
    on : str or array_like, optional
        Sites of the body that snapshots are laid onto; all by default.

    Returns
    -------
    BlockCovariance
        In the square of the unit of the coordinates.
    """
    given = checked_labels(labels, ensemble.n_sites, "bodies need")
    last = given.max() + 1
    key = np.where(given < 0, last, given)
    order = np.argsort(key, kind="stable")
    snapshots, _ = spread_snapshots(superpose(ensemble, on).ensemble, _MOST)
    away = (snapshots - snapshots.mean(axis=0))[:, order]
    covariance = np.einsum("tai,tbi->ab", away, away, optimize=True) / len(away)
    size = np.sqrt(np.maximum(np.diag(covariance), np.finfo(float).tiny))
    bounds = np.searchsorted(key[order], np.arange(last + 1))
    return BlockCovariance(
        frozen(order), frozen(bounds), frozen(covariance), frozen(covariance / np.outer(size, size))
    )


def halves(ensemble: Ensemble, *, on: str | npt.ArrayLike | None = None) -> float:
    """Compare the ten largest components of the two halves of an ensemble.

    Parameters
    ----------
    ensemble : Ensemble
        At least 4 snapshots.
    on : str or array_like, optional
        Sites of the body that snapshots are laid onto; all by default.

    Returns
    -------
    float
        Root mean square inner product.
    """
    laid = superpose(ensemble, on).ensemble
    middle = laid.n_snapshots // 2
    parts = (laid[:middle], laid[middle:])
    return rmsip(*(principal_components(part, superposed=True) for part in parts))


def kept(found: Components, n_components: int) -> Components:
    """Keep the largest components.

    Parameters
    ----------
    found : Components
        Components.
    n_components : int
        How many.

    Returns
    -------
    Components
        Of the same total variance.
    """
    return replace(
        found,
        modes=found.modes[:n_components],
        variances=found.variances[:n_components],
        projections=found.projections[:, :n_components],
    )


def _about_mean(values: Floats) -> tuple[Floats, Floats]:
    """Mean of all snapshots, and what each differs by from it; rounding is no difference."""
    mean = values.mean(axis=0)
    away = values - mean
    return mean, away if (away**2).sum() > STILL * (values**2).sum() else np.zeros_like(away)


def _decompose(flat: Floats, n_components: int | None) -> tuple[Floats, Floats, Floats]:
    """Modes, their variances and projections, the largest first."""
    if flat.shape[1] > _WIDE * len(flat):
        left, values, right = _of_few_rows(flat)
    else:
        left, values, right = np.linalg.svd(flat, full_matrices=False)
    most = min(len(flat) - 1, flat.shape[1], len(values))
    count = most if n_components is None else min(n_components, most)
    right = right[:count]
    sign = np.sign(right[np.arange(count), np.abs(right).argmax(axis=1)])
    projections = left[:, :count] * values[:count] * sign
    return right * sign[:, None], values[:count] ** 2 / len(flat), projections


def _of_few_rows(flat: Floats) -> tuple[Floats, Floats, Floats]:
    """Singular values and vectors by the products of rows, which are far fewer than columns.

    That is some ten times as fast, and holds values down to 1e-7 of the largest, which are those of
    modes that anybody looks at; lower ones have no direction.
    """
    squares, left = np.linalg.eigh(flat @ flat.T)
    squares, left = squares[::-1], left[:, ::-1]
    values = np.sqrt(np.maximum(squares, 0.0))
    known = values > 1e-7 * values[0]
    known[0] = True  # where nothing moves, there is one mode of no variance
    values, left = values[known], left[:, known]
    return left, values, left.T @ flat / np.maximum(values, np.finfo(float).tiny)[:, None]
