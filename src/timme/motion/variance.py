"""Variance: principal components, and how much of all motion rigid bodies account for.

Variances are population variances, as σ is; those of MDAnalysis are larger by T/(T − 1). Shares are
of all variance, not of that of the components kept.

Snapshots are laid onto their mean shape; V is the mean square distance from it. Rigid bodies
account for V by each body's own mean shape laid onto every snapshot, and are compared with as many
principal components as they have degrees of freedom: 6 for each body (5 of a line, 3 of a point).
In sample, principal components are the best linear basis by theorem, so both are also tried on
snapshots held out: shapes, modes and the mean are those learned, poses are fitted anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints, frozen
from timme._text import Described
from timme.ensemble import Ensemble
from timme.motion import fits

_MOST = 2000  # snapshots of components
_MOST_EXPLAINED = 1000  # snapshots of explained variance
_STILL = 1e-20  # of the squares of positions: variance below it is rounding
_TURNING = 3  # sites of a body whose orientation can be fitted
_STILL_MODE = 1e-12  # of the largest variance: components below it are rounding


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Components(Described):
    """Principal components of positions, the largest first."""

    mean: Floats  # (sites, dimensions)
    modes: Floats  # (components, sites, dimensions), orthonormal; the largest entry is positive
    variances: Floats  # (components,), in the square of the unit of the coordinates
    total: float  # all variance

    @property
    def cumulated(self) -> Floats:
        """Share of all variance that the first components account for."""
        return np.asarray(np.cumsum(self.variances) / max(self.total, np.finfo(float).tiny))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Explained(Described):
    """Shares of the variance that rigid bodies account for, for each level of bodies."""

    n_bodies: Ints  # (levels,)
    freedom: Ints  # (levels,), degrees of freedom of the bodies, less those of the whole
    finite: Floats  # (levels,)
    held_out: Floats  # (levels,), finite, in snapshots held out; NaN where there are too few
    components: Floats  # (levels,), of as many principal components as degrees of freedom
    components_held_out: Floats  # (levels,)
    variance: float  # V, in the square of the unit of the coordinates
    n_snapshots: int  # that were looked at


def principal_components(
    ensemble: Ensemble,
    *,
    on: str | npt.ArrayLike | None = None,
    n_components: int | None = None,
    superposed: bool = False,
) -> Components:
    """Return the principal components of positions.

    Parameters
    ----------
    ensemble : Ensemble
        At least 2 snapshots; at most 2000, evenly spaced, are used.
    on : str or array_like, optional
        Sites of the body on which snapshots are superposed; all by default.
    n_components : int, optional
        Number of components; all by default.
    superposed : bool, optional
        Whether to take positions as they are.

    Returns
    -------
    Components
        Of the snapshots in which the body has an orientation.

    Examples
    --------
    >>> from timme.synthetic import bodies
    >>> found = principal_components(bodies((60, 40), spans=[60.0]).ensemble)
    >>> bool(found.cumulated[0] > 0.8)
    True
    """
    fits.refuse_torn(ensemble)
    laid = ensemble if superposed else fits.superpose(ensemble, on).ensemble
    snapshots = fits.some_snapshots(laid, _MOST, fewest=1)
    mean = snapshots.mean(axis=0)
    flat = (snapshots - mean).reshape(len(snapshots), -1)
    if (flat**2).sum() <= _STILL * (snapshots**2).sum():
        flat = np.zeros_like(flat)
    _, values, right = np.linalg.svd(flat, full_matrices=False)
    count = min(len(flat) - 1, flat.shape[1], len(values), n_components or len(values))
    right = right[:count]
    sign = np.sign(right[np.arange(count), np.abs(right).argmax(axis=1)])
    modes = (right * sign[:, None]).reshape(-1, *mean.shape)
    variances, total = values[:count] ** 2 / len(flat), float((flat**2).sum() / len(flat))
    return Components(frozen(mean), frozen(modes), frozen(variances), total)


def overlap_with_bodies(found: Components, labels: npt.ArrayLike) -> Floats:
    """Return how much of each mode is rigid motion of each body.

    Parameters
    ----------
    found : Components
        Components.
    labels : array_like of int, shape (sites,)
        Body of each site, -1 for none.

    Returns
    -------
    ndarray, shape (components, bodies)
        Squared length of the part of a mode in the rigid motions of a body; at most 1 in all.

    Examples
    --------
    >>> from timme.synthetic import bodies
    >>> planted = bodies((60, 40), spans=[30.0])
    >>> found = principal_components(planted.ensemble, n_components=2)
    >>> bool(overlap_with_bodies(found, planted.labels)[0].sum() > 0.95)
    True
    """
    given, shares = fits.body_labels(labels, len(found.mean)), []
    for body in range(given.max() + 1):
        members = np.flatnonzero(given == body)
        flat = found.modes[:, members].reshape(len(found.modes), -1)
        shares.append(((flat @ rigid_motions(found.mean, members)) ** 2).sum(axis=1))
    return np.reshape(shares, (-1, len(found.modes))).T


def rmsip(first: Components, second: Components, *, n_components: int = 10) -> float:
    """Return how far two sets of modes span the same space (root mean square inner product).

    Parameters
    ----------
    first, second : Components
        Of the same sites, such as those of two halves of a trajectory.
    n_components : int, optional
        Number of modes of each.

    Returns
    -------
    float
        1 for the same space, 0 for orthogonal ones.

    Examples
    --------
    >>> from timme.synthetic import bodies
    >>> found = principal_components(bodies((60, 40)).ensemble, n_components=3)
    >>> round(rmsip(found, found, n_components=3), 6)
    1.0
    """
    if first.mean.shape != second.mean.shape:
        shapes = f"{first.mean.shape} and {second.mean.shape}"
        raise ValueError(f"comparing modes needs those of the same sites, got shapes {shapes}")
    count = min(len(first.modes), len(second.modes), n_components)
    inner = np.tensordot(first.modes[:count], second.modes[:count], ((1, 2), (1, 2)))
    return float(np.sqrt((inner**2).sum() / count))


def explained_variance(ensemble: Ensemble, levels: Sequence[npt.ArrayLike]) -> Explained:
    """Return how much of the variance rigid bodies account for, level by level.

    Shapes and modes learned from alternate tenths of the snapshots are tested on the others.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots in 2 or 3 dimensions; at most 1000, evenly spaced, are used.
    levels : sequence of array_like of int, shape (sites,)
        Body of each site, such as cuts of a hierarchy; -1 for sites by themselves, as which those
        of bodies of one or two sites count.

    Returns
    -------
    Explained
        Shares from 0 to 1; those held out may be below 0. NaN where nothing moves, or where a body
        is on a line.

    Examples
    --------
    >>> from timme.synthetic import bodies
    >>> planted = bodies((60, 40), spans=[60.0])
    >>> found = explained_variance(planted.ensemble, [np.zeros(100, int), planted.labels])
    >>> found.n_bodies, bool(found.finite[0] < 1e-9 and found.finite[1] > 0.9)
    (array([1, 2]), True)
    """
    labels = [fits.body_labels(level, ensemble.n_sites) for level in levels]
    snapshots = fits.some_snapshots(ensemble, _MOST_EXPLAINED)
    n_bodies = np.array([len(np.unique(each[each >= 0])) for each in labels])
    whole = fits.shape_of(snapshots)
    fits.require_orientation(ensemble, "explaining variance", whole.verdict)
    variance = whole.rest**2 * ensemble.n_sites
    none = np.full(len(labels), np.nan)
    if variance <= _STILL * float((whole.places**2).sum()):
        return Explained(n_bodies, 0 * n_bodies, *(none,) * 4, 0.0, len(snapshots))
    clusters = [_clusters(each) for each in labels]
    pose = ensemble.n_dimensions * (ensemble.n_dimensions + 1) // 2
    ranks = _sums(clusters, lambda each: rigid_motions(whole.places, each).shape[1])
    freedom = np.maximum(ranks.astype(np.int64) - pose, 0)
    finite, inner = _shares(snapshots, snapshots, clusters, freedom)
    held_out, outer = none, none
    train = np.arange(len(snapshots)) // max(1, len(snapshots) // 10) % 2 == 0
    if 1 < train.sum() < len(train):
        held_out, outer = _shares(snapshots[train], snapshots[~train], clusters, freedom)
    shares = finite, held_out, inner, outer
    return Explained(n_bodies, freedom, *shares, variance, len(snapshots))


def rigid_motions(places: Floats, members: Ints) -> Floats:
    """Orthonormal infinitesimal rigid motions (members × dimensions, rank) of a body."""
    about = places[members] - places[members].mean(axis=0)
    shifts = np.tile(np.eye(places.shape[1]), (len(members), 1))
    planes = np.eye(places.shape[1])[[*combinations(range(places.shape[1]), 2)]]
    turns = np.array([np.outer(about @ x, y) - np.outer(about @ y, x) for x, y in planes])
    turns = turns.reshape(len(planes), -1).T
    size = np.sqrt((turns**2).sum()) or 1.0
    scaled = np.column_stack([shifts / np.sqrt(len(members)), turns / size])
    left, values, _ = np.linalg.svd(scaled, full_matrices=False)
    return np.asarray(left[:, values > 1e-6 * values[0]])


def _clusters(labels: Ints) -> list[Ints]:
    """Sites of each body, and single sites: those of no body, or of one too small to turn."""
    bodies = [np.flatnonzero(labels == body) for body in np.unique(labels[labels >= 0])]
    large = [members for members in bodies if len(members) >= _TURNING]
    alone = np.setdiff1d(np.arange(len(labels)), [*chain.from_iterable(large)])
    return [*large, *alone[:, None]]


def _sums(levels: list[list[Ints]], of: Callable[[Ints], float]) -> Floats:
    """Sums over the bodies of each level; bodies that levels share are looked at once."""
    known = {members.tobytes(): of(members) for level in levels for members in level}
    return np.array([sum(known[members.tobytes()] for members in level) for level in levels])


def _shares(
    learned: Floats, test: Floats, levels: list[list[Ints]], freedom: Ints
) -> tuple[Floats, Floats]:
    """Shares of bodies, and of components, learned from some snapshots, in others."""
    whole = fits.shape_of(learned).places
    ours, theirs = (fits.fit(whole, part).into(part) - whole for part in (learned, test))
    left = _sums(levels, lambda each: _rest(learned[:, each], test[:, each]))
    bodies = np.asarray(1 - left / (theirs**2).sum())
    ours, theirs = ((each - ours.mean(axis=0)).reshape(len(each), -1) for each in (ours, theirs))
    # Snapshots are fewer than coordinates: their inner products give the same components sooner.
    values, vectors = np.linalg.eigh(ours @ ours.T)
    known = values > _STILL_MODE * values[-1]
    along = (theirs @ (ours.T @ vectors[:, known])) ** 2
    squares = (along.sum(axis=0) / values[known])[::-1] / (theirs**2).sum()
    components = np.append(0.0, np.cumsum(squares))[np.minimum(freedom, len(squares))]
    return bodies, np.asarray(components)


def _rest(learned: Floats, test: Floats) -> float:
    """Squares that are left of snapshots of a body when its learned shape is laid onto them."""
    if learned.shape[1] == 1:
        return 0.0
    shape = fits.shape_of(learned).places
    return float(((fits.fit(shape, test).into(test) - shape) ** 2).sum())
