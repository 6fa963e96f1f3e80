"""Say how much of all motion rigid bodies account for, beside as many principal components.

All snapshots are laid onto their mean shape; V is the mean square distance from it. Rigid bodies
account for a share of V in two ways: linearly, by the projection of displacements onto the 6
infinitesimal motions of each body (5 of a line, 3 of a point), and finitely, by laying each body's
own mean shape onto every snapshot. In sample, principal components are the best linear basis there
is, by theorem; what was learned is therefore also tried on snapshots that were held out. There,
members and shapes of bodies, modes and the mean are those learned, and poses are fitted anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from timme._arrays import Bools, Floats, Ints, frozen
from timme._html import Described
from timme.hierarchy.labels import checked_labels
from timme.motion.fits import fit, shape_of
from timme.motion.whole import spread_snapshots
from timme.system.ensemble import Ensemble

_MOST = 1000
STILL = 1e-20  # of the squares of places: what is below it is rounding


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Explained(Described):
    """Shares of the variance, one for each level of bodies."""

    n_bodies: Ints  # (levels,), sites by themselves not counted
    freedom: Ints  # (levels,), degrees of freedom of the bodies, those of the whole taken off
    linear: Floats  # (levels,)
    finite: Floats  # (levels,)
    held_out: Floats  # (levels,), finite, in snapshots held out; NaN where there were too few
    components: Floats  # (levels,), of as many principal components as degrees of freedom
    components_held_out: Floats  # (levels,), the same in snapshots held out
    variance: float  # V, in the square of the unit of the coordinates
    n_snapshots: int  # that were looked at


def explained_variance(
    ensemble: Ensemble, levels: Sequence[npt.ArrayLike], *, learned: npt.ArrayLike | None = None
) -> Explained:
    """Say how much of the variance rigid bodies account for, level by level.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots in 2 or 3 dimensions; at most 1000 of them, spread over all, are looked at.
    levels : sequence of array_like of int, shape (sites,)
        Body of each site, such as cuts of a hierarchy; -1 for sites by themselves.
    learned : array_like of bool, shape (snapshots,), optional
        Snapshots from which shapes and modes are learned for the others; alternate blocks of a
        tenth by default. To learn members from them as well, find bodies in these alone.

    Returns
    -------
    Explained
        Shares from 0 to 1; one that was held out may be below 0. NaN where nothing moves.

    Examples
    --------
    >>> from timme.synthetic import moving
    >>> planted = moving((60, 40), 20, spans=[60.0])
    >>> found = explained_variance(planted.ensemble, [np.zeros(100, int), planted.labels])
    >>> found.n_bodies, bool(found.finite[0] < 1e-9 and found.finite[1] > 0.9)
    (array([1, 2]), True)
    """
    snapshots, chosen = spread_snapshots(ensemble, _MOST)
    train = _training(learned, chosen, ensemble.n_snapshots)
    labels = [checked_labels(level, ensemble.n_sites, "a level needs") for level in levels]
    whole = shape_of(snapshots)
    away = whole.poses.into(snapshots) - whole.places
    total = float((away**2).sum())
    if total <= STILL * float((whole.places**2).sum()):
        return _of_nothing(labels, len(snapshots))
    pose = ensemble.n_dimensions * (ensemble.n_dimensions + 1) // 2  # of the whole
    clusters = [_clusters(each) for each in labels]
    several = [[each for each in level if len(each) > 1] for level in clusters]
    ranks, held = _sums(clusters, lambda each: _project(whole.places, away, each)).T
    freedom = np.maximum(ranks.astype(np.int64) - pose, 0)
    inner, outer = _component_shares(snapshots, away, train, freedom)
    tested = bool(train.sum() > 1 and (~train).sum() > 0)
    return Explained(
        n_bodies=np.array([len(np.unique(each[each >= 0])) for each in labels]),
        freedom=frozen(freedom),
        linear=frozen(held / total),
        finite=frozen(1 - _sums(several, lambda each: _rest(snapshots[:, each])) / total),
        held_out=frozen(
            _held_out(snapshots, several, train) if tested else np.full(len(labels), np.nan)
        ),
        components=frozen(inner),
        components_held_out=frozen(outer),
        variance=total / len(snapshots),
        n_snapshots=len(snapshots),
    )


def body_basis(places: Floats, members: Ints) -> Floats:
    """Orthonormal infinitesimal motions of a rigid body.

    Parameters
    ----------
    places : ndarray, shape (sites, dimensions)
        Mean shape of the whole, in space or in a plane.
    members : ndarray of int
        Sites of the body.

    Returns
    -------
    ndarray, shape (members × dimensions, rank)
        Translations and the rotations about the middle: rank 6, 5 of a line, 3 of a point; in a
        plane 3, and 2 of a point.
    """
    about = places[members] - places[members].mean(axis=0)
    shifts = np.tile(np.eye(places.shape[1]), (len(members), 1))
    if places.shape[1] == 2:
        turns = (about[:, ::-1] * [-1, 1]).reshape(-1, 1)
    else:
        turns = np.stack([np.cross(axis, about).ravel() for axis in np.eye(3)], axis=1)
    size = np.sqrt((turns**2).sum()) or 1.0
    scaled = np.column_stack([shifts / np.sqrt(len(members)), turns / size])
    left, values, _ = np.linalg.svd(scaled, full_matrices=False)
    found: Floats = left[:, values > 1e-6 * values[0]]
    return found


def _of_nothing(labels: list[Ints], n_snapshots: int) -> Explained:
    """No shares: there is no variance."""
    none = frozen(np.full(len(labels), np.nan))
    n_bodies = np.array([len(np.unique(each[each >= 0])) for each in labels])
    still = frozen(np.zeros(len(labels), np.int64))
    return Explained(n_bodies, still, none, none, none, none, none, 0.0, n_snapshots)


def _clusters(labels: Ints) -> list[Ints]:
    alone = [np.array([site]) for site in np.flatnonzero(labels < 0)]
    return [np.flatnonzero(labels == body) for body in np.unique(labels[labels >= 0])] + alone


def _sums(levels: list[list[Ints]], of: Callable[[Ints], float | Floats]) -> Floats:
    """Sum numbers over the bodies of each level; those that levels share are looked at once."""
    known = dict[bytes, float | Floats]()
    for members in chain.from_iterable(levels):
        if members.tobytes() not in known:
            known[members.tobytes()] = of(members)
    return np.array([sum(known[members.tobytes()] for members in level) for level in levels])


def _project(places: Floats, away: Floats, members: Ints) -> Floats:
    """Number of rigid motions of a body, and the squares of displacements that they hold."""
    if len(members) == 1:  # of which nothing is left
        return np.array([places.shape[1], (away[:, members] ** 2).sum()])
    basis = body_basis(places, members)
    flat = away[:, members].reshape(len(away), -1)
    return np.array([basis.shape[1], ((flat @ basis) ** 2).sum()])


def _rest(snapshots: Floats) -> float:
    """Squares that are left when a body is laid onto its own mean shape."""
    shape = shape_of(snapshots)
    if shape.n_fitted:
        return float(np.nansum(shape.squares)) * shape.n_fitted
    return _line_rest(snapshots)


def _line_rest(snapshots: Floats) -> float:
    """Rest of sites on a line: what their places along it vary."""
    about = snapshots - snapshots.mean(axis=1, keepdims=True)
    direction = np.linalg.svd(about)[2][:, 0]
    along = np.einsum("tsi,ti->ts", about, direction)
    along = along * np.sign((along * along[:1]).sum(axis=1))[:, None]
    return float(((along - along.mean(axis=0)) ** 2).sum() + (about**2).sum() - (along**2).sum())


def _held_out(snapshots: Floats, levels: list[list[Ints]], train: Bools) -> Floats:
    """Shares of the variance of other snapshots that shapes learned from some account for."""
    learned, test = snapshots[train], snapshots[~train]
    whole = shape_of(learned).places
    total = float(((fit(whole, test).into(test) - whole) ** 2).sum())
    left = _sums(levels, lambda each: _rest_of_others(learned[:, each], test[:, each]))
    share: Floats = 1 - left / total
    return share


def _rest_of_others(learned: Floats, test: Floats) -> float:
    """Squares that are left in some snapshots of a body whose shape was learned from others."""
    shape = shape_of(learned)
    poses = fit(shape.places, test)
    if poses.unique.all():
        return float(((poses.into(test) - shape.places) ** 2).sum())
    return _line_rest(test)


def _component_shares(
    snapshots: Floats, away: Floats, train: Bools, freedom: Ints
) -> tuple[Floats, Floats]:
    """Shares of as many principal components, in sample and held out."""
    flat = away.reshape(len(away), -1)
    values = _squared_values(flat - flat.mean(axis=0))
    inner = np.array([values[:count].sum() for count in freedom]) / values.sum()
    if train.sum() < 2 or not (~train).any():
        return inner, np.full(len(freedom), np.nan)
    whole = shape_of(snapshots[train])
    learned, tested = (
        (fit(whole.places, part).into(part) - whole.places).reshape(len(part), -1)
        for part in (snapshots[train], snapshots[~train])
    )
    mean = learned.mean(axis=0)
    modes = np.linalg.svd(learned - mean, full_matrices=False)[2][: train.sum() - 1]
    tested = tested - mean
    squares = np.cumsum(((tested @ modes.T) ** 2).sum(axis=0)) / (tested**2).sum()
    outer = [squares[min(count, len(squares)) - 1] if count else 0.0 for count in freedom]
    return inner, np.array(outer)


def _squared_values(flat: Floats) -> Floats:
    """Squares of singular values, the largest first, from the smaller of both products.

    Small ones are rounded by 1e-16 of the largest, and so are shares, which are sums of them.
    """
    product = flat @ flat.T if len(flat) < flat.shape[1] else flat.T @ flat
    found: Floats = np.maximum(np.linalg.eigvalsh(product)[::-1], 0.0)
    return found


def _training(learned: npt.ArrayLike | None, chosen: Ints, n_snapshots: int) -> Bools:
    """Which of the chosen snapshots are learned from."""
    if learned is not None:
        given: Bools = np.asarray(learned, dtype=np.bool_)
        if given.shape != (n_snapshots,):
            raise ValueError(
                f"learned needs a truth value for each of {n_snapshots} snapshots, got shape "
                f"{given.shape}"
            )
        return given[chosen]
    count = len(chosen)
    found: Bools = np.arange(count) // max(1, count // 10) % 2 == 0
    return found
