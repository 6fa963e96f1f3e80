"""Joints: how a body turns, the place that stays, and what kind of motion that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, numbers
from timme.motion.poses import Relative

Kind = Literal["undefined", "rigid", "translation", "hinge", "screw", "ball", "diffuse"]

INDEX = 0.9  # of a hinge, and above
_BETTER = 10.0  # difference of the Bayesian information criterion of two states and one
_NARROW = 1e-3  # of all values: least width of a state


@dataclass(frozen=True, slots=True, eq=False)
class Turns:
    """Rotation vectors, taken apart along their axis and across it."""

    vectors: Floats  # (snapshots, 3), about their mean, in rad
    angles: Floats  # (snapshots,), in rad
    variances: Floats  # (3,), along the axis first, in rad²
    noise: Floats  # (3,), what of them noise makes
    basis: Floats  # (3, 3), columns: the axis and two across

    @classmethod
    def of(cls, vectors: Floats, poses: Relative, given: Floats | None) -> Turns:
        """Take vectors apart; the axis points from the first snapshot to the last."""
        covariance = (vectors * poses.weights[:, None]).T @ vectors
        values, basis = np.linalg.eigh(covariance - poses.turning)
        basis = basis[:, np.argsort(-values)]
        if given is not None:
            basis = np.linalg.qr(np.column_stack([given, basis]))[0]
            basis[:, 0] = given
        elif basis[:, 0] @ (vectors[-1] - vectors[0]) < 0:
            basis = -basis
        variances, noise = (
            np.einsum("ik,ij,jk->k", basis, each, basis) for each in (covariance, poses.turning)
        )
        return cls(vectors, vectors @ basis[:, 0], variances, noise, basis)

    @property
    def axis(self) -> Floats:
        """Unit vector (3,)."""
        return self.basis[:, 0]

    @property
    def index(self) -> float:
        """Share of the axis in all turning above noise."""
        excess = np.maximum(self.variances - self.noise, 0.0)
        return float(excess[0] / excess.sum()) if excess.sum() > 0 else float("nan")

    def axes(self, shares: Floats) -> Floats:
        """Axes (rows, 3) with other shares (rows, snapshots) of the snapshots."""
        means = shares @ self.vectors
        products = (self.vectors[:, :, None] * self.vectors[:, None]).reshape(-1, 9)
        scatter = (shares @ products).reshape(-1, 3, 3) - means[:, :, None] * means[:, None]
        found = np.linalg.eigh(scatter)[1][:, :, -1]
        return np.where(found @ self.axis[:, None] < 0, -found, found)


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where the axis is, and how far the body shifts along it."""

    point: Floats  # (3,), of the axis
    dot: Floats  # (3,), the single point that stays nearest to itself
    along: Floats  # (snapshots,), shift along the axis
    across: Floats  # (snapshots, 3), how far the place is from staying, across the axis
    loose: float  # what a single fixed point leaves, rms
    shifts: Floats  # (snapshots,), of the centre along its own main direction
    way: Floats  # (3,), that direction
    move: float  # rms displacement of the centre
    left: Floats  # (snapshots, 3, 6), equations of the place in the body and in the reference
    right: Floats  # (snapshots, 3)

    @classmethod
    def of(cls, poses: Relative, mean: Floats, turns: Turns) -> Place:
        """Solve for the place that stays, beside a mean rotation (3, 3)."""
        weights, centres = poses.weights, poses.centres
        middle = weights @ centres
        here = mean.T @ (poses.near - middle)  # the same point, in the body
        left = np.concatenate([poses.rotations, np.tile(-np.eye(3), (len(centres), 1, 1))], axis=2)
        right = -(poses.rotations @ here + centres - poses.near)
        line, dot = (_solve(left, right, weights[None], rank)[0] for rank in (5, 6))
        away, loose = (left @ each - right for each in (line, dot))
        along = away @ turns.axis
        across, along = away - along[:, None] * turns.axis, along - weights @ along
        moved = centres - middle
        way = np.linalg.eigh((moved * weights[:, None]).T @ moved)[1][:, -1]
        way = way if way @ (centres[-1] - centres[0]) >= 0 else -way
        move, loose = (np.sqrt(weights @ (each**2).sum(axis=1)) for each in (moved, loose))
        point, dot = poses.near + line[3:], poses.near + dot[3:]
        return cls(point, dot, along, across, loose, moved @ way, way, move, left, right)

    def places(self, shares: Floats, rank: int) -> Floats:
        """Places (rows, 3) from the interface, with other shares (rows, snapshots)."""
        return _solve(self.left, self.right, shares, rank)[:, 3:]


def _solve(left: Floats, right: Floats, shares: Floats, rank: int) -> Floats:
    """Shortest of the best solutions (rows, 6), the weakest directions left out."""
    squares = np.einsum("tki,tkj->tij", left, left).reshape(-1, 36)
    products = np.einsum("tki,tk->ti", left, right)
    values, vectors = np.linalg.eigh((shares @ squares).reshape(-1, 6, 6))
    values, vectors = values[:, -rank:], vectors[:, :, -rank:]
    sides = np.einsum("dik,di->dk", vectors, shares @ products)
    known = values > 1e-12 * values[:, -1:]
    sides = known * sides / np.where(known, values, 1)
    return np.asarray(np.einsum("dik,dk->di", vectors, sides))


def kind_of(turns: Turns, place: Place, poses: Relative) -> Kind:
    """Kind of a motion."""
    if not (turns.variances > np.maximum(9 * turns.noise, 1e-18)).any():
        return "translation" if place.move > max(3 * poses.shift, 1e-9) else "rigid"
    still = max(3 * poses.shift, 0.25 * place.move)
    rest = np.sqrt(poses.weights @ (place.across**2).sum(axis=1))
    if turns.index >= INDEX and rest <= still:
        covariance = abs(float(poses.weights @ (place.along * turns.angles)))
        turned, slid = np.sqrt(poses.weights @ np.array([turns.angles, place.along]).T ** 2)
        least = max(0.1 * place.move, 3 * poses.shift / float(np.sqrt(len(poses.frames))))
        return "screw" if covariance > turned * max(least, 0.7 * slid) else "hinge"
    return "ball" if turns.index < INDEX and place.loose <= still else "diffuse"


def two_states(values: npt.ArrayLike) -> tuple[float, float] | None:
    """Return the means of two states of which values are, or None where there is one.

    Two Gaussians must be better than one by 10 of the Bayesian information criterion, and values
    between them rare. States are parted where the squares within them are least.

    Parameters
    ----------
    values : array_like, shape (values,)
        Such as angles, one for each snapshot.

    Returns
    -------
    tuple of float or None
        The lower mean first.

    Examples
    --------
    >>> two_states([0.0, 0.1, -0.1, 0.0, 5.0, 5.1, 4.9, 5.0, 0.0, 5.0])
    (0.0, 5.0)
    """
    given = np.sort(numbers(values, "values"))
    count, extent = len(given), float(np.ptp(given)) if len(given) else 0.0
    if count < 8 or extent == 0:
        return None
    below, total = np.arange(1, count), np.cumsum(given - given.mean())[:-1]
    lower, upper = np.split(given, [int((total**2 / (below * below[::-1])).argmax()) + 1])
    two = sum(_gaussian(given, part, extent) for part in (lower, upper))
    gain = 2 * np.log(two / _gaussian(given, given, extent)).sum() - 3 * np.log(count)
    low, high = float(lower.mean()), float(upper.mean())
    ends = [np.sum(np.abs(given - x) <= (high - low) / 6) for x in (low, (low + high) / 2, high)]
    return None if gain <= _BETTER or 3 * ends[1] > min(ends[0], ends[2]) else (low, high)


def _gaussian(values: Floats, own: Floats, extent: float) -> Floats:
    """Density of values as one state has it, of which some are its own."""
    width = max(own.std(), _NARROW * extent)
    share = len(own) / len(values)
    return np.asarray(share / width * np.exp(-0.5 * ((values - own.mean()) / width) ** 2) + 1e-300)
