"""Naive motion: quaternions, loops and least squares, sharing no code with the package."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

Floats = npt.NDArray[np.float64]


def best_rotation(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Rotation that carries x onto y about their middles, by the largest quaternion (Horn)."""
    x = x - np.average(x, axis=0, weights=weights)
    y = y - np.average(y, axis=0, weights=weights)
    matrix = np.zeros((4, 4))
    for a, b, w in zip(x, y, weights, strict=True):
        left = np.array(
            [[0, *-b], [b[0], 0, -b[2], b[1]], [b[1], b[2], 0, -b[0]], [b[2], -b[1], b[0], 0]]
        )
        right = np.array(
            [[0, *-a], [a[0], 0, a[2], -a[1]], [a[1], -a[2], 0, a[0]], [a[2], a[1], -a[0], 0]]
        )
        matrix += w * left.T @ right
    _, vectors = np.linalg.eigh(matrix)
    w0, *rest = vectors[:, -1]
    return Rotation.from_quat([*rest, w0]).as_matrix()


def onto_mean(
    snapshots: npt.NDArray[np.floating[Any]], weights: Floats
) -> tuple[list[Floats], Floats, Floats]:
    """Rotations of snapshots onto their mean shape, snapshots laid onto it, and the shape."""
    mean = snapshots[0] - np.average(snapshots[0], axis=0, weights=weights)
    for _ in range(500):
        turns = [best_rotation(places, mean, weights) for places in snapshots]
        laid = np.array(
            [
                (places - np.average(places, axis=0, weights=weights)) @ turn.T
                for places, turn in zip(snapshots, turns, strict=True)
            ]
        )
        after = laid.mean(axis=0)
        moved = np.abs(after - mean).max()
        mean = after
        if moved < 1e-12:
            break
    return turns, laid, mean


def rest_of(snapshots: npt.NDArray[np.floating[Any]], weights: Floats | None = None) -> float:
    """Σ of squared distances from the mean shape."""
    given = np.ones(snapshots.shape[1]) if weights is None else weights
    _, laid, mean = onto_mean(snapshots, given)
    return float(((laid - mean) ** 2).sum())


def screw_of(rotation: Floats, move: Floats, middle: Floats) -> tuple[float, Floats, float, Floats]:
    """Angle, axis, shift and a point of the axis: places x that go to x + d n."""
    angle = math.acos(max(-1.0, min(1.0, (np.trace(rotation) - 1) / 2)))
    skew = rotation - rotation.T
    axis = np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
    axis = axis / np.linalg.norm(axis)
    shift = float(axis @ move)
    # x ↦ R (x − middle) + middle + move, and x + d n is the same: (R − 1) x = …
    wanted = shift * axis - middle - move + rotation @ middle
    point, *_ = np.linalg.lstsq(rotation - np.eye(3), wanted, rcond=1e-9)
    return angle, axis, shift, point


def sharpness(
    snapshots: Floats, labels: npt.NDArray[np.int64], parts: list[npt.NDArray[np.int64]], least: int
) -> float:
    """What a slope in space leaves of turns of small parts, over what one turn a body leaves."""
    whole, _, shape = onto_mean(snapshots, np.ones(snapshots.shape[1]))
    turns, middles, owners, sizes = [], [], [], []
    for body, numbers in enumerate(parts):
        members = np.flatnonzero(labels == body)
        for number in range(numbers.max() + 1):
            sites = members[numbers == number]
            if len(sites) < least:
                continue
            own, *_ = onto_mean(snapshots[:, sites], np.ones(len(sites)))
            seen = [around @ turn.T for around, turn in zip(whole, own, strict=True)]
            mean = Rotation.from_matrix(seen).mean()
            turns.append((Rotation.from_matrix(seen) * mean.inv()).as_rotvec().ravel())
            middles.append(shape[sites].mean(axis=0))
            owners.append(body)
            sizes.append(len(sites))
    slope = np.column_stack([np.ones(len(turns)), np.array(middles)])
    steps = np.eye(len(parts))[owners]
    left = []
    for model in (slope, steps):
        share = np.sqrt(sizes)[:, None]
        solution, *_ = np.linalg.lstsq(model * share, np.array(turns) * share, rcond=None)
        rest = (np.array(turns) - model @ solution) * share
        left.append((rest**2).sum() / (len(turns) - model.shape[1]))
    return float(left[0] / left[1])


def two_point(
    runs: list[Floats], low: float, high: float, lag: int, edge: float | None = None
) -> tuple[float, float, int, float]:
    """D_rr, D_⊥, pairs and mean square displacement, pair by pair; in a cube, or open."""
    along, across, squares = [], [], []
    for snapshots in runs:
        found = _two_point_of_run(snapshots, low, high, lag, edge)
        along += found[0]
        across += found[1]
        squares += found[2]
    return float(np.mean(along)), float(np.mean(across)), len(along), float(np.mean(squares))


def _two_point_of_run(
    snapshots: Floats, low: float, high: float, lag: int, edge: float | None
) -> tuple[list[float], list[float], list[float]]:

    def shortest(vector: Floats) -> Floats:
        return vector if edge is None else vector - edge * np.round(vector / edge)

    along, across, squares = [], [], []
    for start in range(len(snapshots) - lag):
        moves = {}
        for site in range(snapshots.shape[1]):
            path = [snapshots[start + step][site] for step in range(lag + 1)]
            if np.isnan(path[0]).any() or np.isnan(path[-1]).any():
                continue
            seen = [place for place in path if not np.isnan(place).any()]
            moves[site] = sum(
                (shortest(after - before) for before, after in itertools.pairwise(seen)),
                np.zeros(snapshots.shape[2]),
            )
            squares.append(float(moves[site] @ moves[site]))
        for one, other in itertools.combinations(moves, 2):
            vector = shortest(snapshots[start][other] - snapshots[start][one])
            distance = float(np.linalg.norm(vector))
            if low <= distance < high:
                unit = vector / distance
                product = float((moves[one] @ unit) * (moves[other] @ unit))
                along.append(product)
                across.append((float(moves[one] @ moves[other]) - product) / (len(unit) - 1))
    return along, across, squares
