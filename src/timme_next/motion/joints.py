"""Joints: the axis about which a body turns, the place that stays, and the kind of its motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from timme_next._arrays import Bools, Floats, numbers
from timme_next.motion.poses import Relative

Kind = Literal["undefined", "rigid", "translation", "hinge", "screw", "ball", "diffuse"]

INDEX = 0.9  # of a hinge, and above
_BETTER = 10.0  # difference of the Bayesian information criterion of two states and one


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
    def sides(self) -> Floats:
        """Directions across the axis (3, 2)."""
        return self.basis[:, 1:]

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
        found: Floats = np.linalg.eigh(scatter)[1][:, :, -1]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where the axis is, and how far the body shifts along it."""

    point: Floats  # (3,), of the axis
    dot: Floats  # (3,), the single point that stays nearest to itself
    along: Floats  # (snapshots,), shift along the axis
    across: Floats  # (snapshots, 3), how far the place is from staying, across the axis
    rest: float  # the same, rms
    loose: float  # what a single fixed point leaves, rms
    pitch: float
    corr: float  # of shift and angle
    move: float  # rms displacement of the centre
    shifts: Floats  # (snapshots,), of the centre along its own main direction
    way: Floats  # (3,), that direction
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
        share = np.sqrt(weights)[:, None, None]
        matrix, wanted = (left * share).reshape(-1, 6), (right[:, :, None] * share).ravel()
        line, dot = (_least_squares(matrix, wanted, rank) for rank in (5, 6))
        after = [-right + np.einsum("tij,j->ti", left, each) for each in (line, dot)]
        along = after[0] @ turns.axis
        across = after[0] - along[:, None] * turns.axis
        along = along - weights @ along
        moved = centres - middle
        scatter = (moved * weights[:, None]).T @ moved
        way = np.linalg.eigh(scatter)[1][:, -1]
        way = way if way @ (centres[-1] - centres[0]) >= 0 else -way
        squares, product = weights @ turns.angles**2, float(weights @ (along * turns.angles))
        strength = np.sqrt((weights @ along**2) * squares)
        return cls(
            point=poses.near + line[3:],
            dot=poses.near + dot[3:],
            along=along,
            across=across,
            rest=float(np.sqrt(weights @ (across**2).sum(axis=1))),
            loose=float(np.sqrt(weights @ (after[1] ** 2).sum(axis=1))),
            pitch=product / float(squares) if squares > 0 else float("nan"),
            corr=product / float(strength) if strength > 0 else 0.0,
            move=float(np.sqrt(np.trace(scatter))),
            shifts=moved @ way,
            way=way,
            left=left,
            right=right,
        )

    def places(self, shares: Floats, rank: int) -> Floats:
        """Places (rows, 3) from the interface, with other shares (rows, snapshots)."""
        squares = np.einsum("tki,tkj->tij", self.left, self.left).reshape(-1, 36)
        products = np.einsum("tki,tk->ti", self.left, self.right)
        values, vectors = np.linalg.eigh((shares @ squares).reshape(-1, 6, 6))
        values, vectors = values[:, -rank:], vectors[:, :, -rank:]
        sides = np.einsum("dik,di->dk", vectors, shares @ products)
        known = values > 1e-12 * values[:, -1:]
        sides = known * sides / np.where(known, values, 1)
        found: Floats = np.einsum("dik,dk->di", vectors, sides)
        return found[:, 3:]


def _least_squares(matrix: Floats, wanted: Floats, rank: int) -> Floats:
    """Shortest of the best solutions, the weakest directions left out."""
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    used = min(rank, int((values > 1e-9 * values[0]).sum()))
    found: Floats = right[:used].T @ ((left[:, :used].T @ wanted) / values[:used])
    return found


def kind_of(turns: Turns, place: Place, poses: Relative) -> Kind:
    """Kind of a motion."""
    if not (turns.variances > np.maximum(9 * turns.noise, 1e-18)).any():
        return "translation" if place.move > max(3 * poses.shift, 1e-9) else "rigid"
    still = max(3 * poses.shift, 0.25 * place.move)
    if turns.index >= INDEX and place.rest <= still:
        reach = abs(place.pitch) * float(np.sqrt(turns.variances[0]))
        least = max(0.1 * place.move, 3 * poses.shift / float(np.sqrt(len(poses.frames))))
        return "screw" if reach > least and abs(place.corr) > 0.7 else "hinge"
    return "ball" if turns.index < INDEX and place.loose <= still else "diffuse"


def two_states(values: npt.ArrayLike) -> Bools | None:
    """Return which values belong to the upper of two states.

    Two Gaussians must be better than one by 10 of the Bayesian information criterion, and values
    between them rare.

    Parameters
    ----------
    values : array_like, shape (values,)
        Such as angles, one for each snapshot.

    Returns
    -------
    ndarray of bool or None
        None where there is one state.

    Examples
    --------
    >>> two_states([0.0, 0.1, -0.1, 0.05, 5.0, 5.1, 4.9, 5.02, 0.02, 4.95])
    array([False, False, False, False,  True,  True,  True,  True, False,  True])
    """
    given = numbers(values, "values")
    count, extent = len(given), float(np.ptp(given)) if len(given) else 0.0
    if count < 8 or extent == 0:
        return None
    ranked, below = np.sort(given), np.arange(1, count)
    total, square = np.cumsum(ranked), np.cumsum(ranked**2)
    inside = square[-1] - total[:-1] ** 2 / below - (total[-1] - total[:-1]) ** 2 / below[::-1]
    upper = given > ranked[np.argmin(inside)]
    belongs, floor = np.column_stack([~upper, upper]).astype(np.float64), 1e-3 * extent
    for _ in range(100):  # expectation and maximisation
        weight = np.maximum(belongs.sum(axis=0), 1e-9)
        means = belongs.T @ given / weight
        spread = (belongs * (given[:, None] - means) ** 2).sum(axis=0) / weight
        widths = np.sqrt(np.maximum(spread, floor**2))
        away = (given[:, None] - means) / widths
        parts = weight / count * np.exp(-0.5 * away**2) / (np.sqrt(2 * np.pi) * widths)
        parts = np.maximum(parts, 1e-300)
        after = parts / parts.sum(axis=1, keepdims=True)
        if np.abs(after - belongs).max() < 1e-6:
            break
        belongs = after
    one = -0.5 * count * (np.log(2 * np.pi * max(given.var(), floor**2)) + 1)
    gain = 2 * (np.log(parts.sum(axis=1)).sum() - one) - 3 * np.log(count)  # three parameters more
    low, high = np.sort(means)
    ends = [np.sum(np.abs(given - x) <= (high - low) / 6) for x in (low, (low + high) / 2, high)]
    if gain <= _BETTER or 3 * ends[1] > min(ends[0], ends[2]):
        return None
    found: Bools = parts[:, means.argmax()] > parts[:, means.argmin()]
    return found if found.any() and not found.all() else None
