"""Lay out snapshots in open space for pairs to be given up by means over stretches of the run.

Frames are superposed on the first, as that changes no distance, and cut into stretches: mean places
in them are looked at first, and then single frames, spread over the run. Why no pair is given up
wrongly is told where it is done (`_kernels/stretches.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints
from timme._kernels import stretches as kernel
from timme._kernels.pruning import LANES
from timme.engine.threads import Threads

Singles = npt.NDArray[np.float32]

_APART = [0, 7, 3, 5, 1, 6, 2, 4]  # long stretches, those first that are far from one another
_SITES = 512  # laid out by one thread at a time
_SUPERPOSED = 100  # sites by which frames are superposed, about
_MOST_SCALED = 100  # powers of two: what is smaller by more is refused
_FAINT = 1e-6  # weight, of the largest, of a stretch that is left out: it adds next to nothing
_SQUARES = 2.0**-50  # rounding of a mean square, of the largest, by each frame in the sum


@dataclass(frozen=True, slots=True, eq=False)
class Stretches:
    """Places of sites in leaf order: means over stretches of the frames, and some of these."""

    tiles: Singles  # (tiles, long stretches, 3, lanes)
    tile_weights: Singles  # (long stretches,)
    looks: Singles  # (sites, parts, 3, width), of which the first part is short stretches
    weights: Singles  # (parts, width)
    totals: Singles  # (parts,), weight of all stretches, and of frames so far
    swings: tuple[Singles, Singles]  # (tiles, lanes) and (sites,), see the kernel
    lightest: np.float32  # weight of a short stretch, of those that have any
    largest: Floats  # (sites,), coordinate
    scale: float  # by which all lengths were multiplied


def lay_out_stretches(
    blocks: Iterable[Floats], order: Ints, weights: Floats, places: Ints, threads: Threads
) -> Stretches:
    """Lay out mean places and frames as the search for pairs that may matter needs them.

    Parameters
    ----------
    blocks : iterable of ndarray, shape (sites, 3, snapshots)
        All snapshots in their order, in open space; those beyond the last do not count.
    order : ndarray of int, shape (sites,)
        Sites in the order in which they are laid out.
    weights : ndarray, shape (snapshots,)
        Of the snapshots.
    places : ndarray of int, shape (snapshots,)
        Place of each among those that are held, or -1.
    threads : Threads
        Who does it.

    Returns
    -------
    Stretches
        All of it, in a unit of length in which coordinates are about 1, so that squares of squares
        are numbers of single precision.
    """
    n_frames, n_sites = len(weights), len(order)
    n_tiles, n_parts = -(-n_sites // LANES), 1 + -(-(int(places.max()) + 1) // kernel.WIDTH)
    ends, of_stretches = _cut(weights)
    sums, squares, largest = np.zeros((2, n_sites, 5)), np.zeros((2, n_sites)), np.zeros(n_sites)
    long = np.zeros((n_sites, 3, kernel.LONG), np.float32)
    looks = np.empty((n_sites, n_parts, 3, kernel.WIDTH), np.float32)
    looks[:, -1] = 0.0  # where there are fewer frames than room, which have no weight
    reference, scale, start = None, 0.0, 0
    runs = list(pairwise([*range(0, n_sites, _SITES), n_sites]))
    for xyz in blocks:
        span = slice(start, min(start + xyz.shape[2], n_frames))
        centres, rotations, reference = _superpose(xyz[..., : span.stop - start], reference)
        scale = scale or _scale_of(xyz[..., 0] - centres[:, 0])
        frames = weights[span], places[span], ends[:, span].copy()
        filled = sums, largest, squares, (long, looks)
        shared = xyz, order, centres, rotations * scale, *frames, *filled
        for _ in threads.map(_lay_out_some, shared, runs):
            pass
        start = span.stop
    for means, kept in zip((long, looks[:, :1]), of_stretches, strict=True):
        means[..., kept == 0] = means[..., [int(np.argmax(kept > 0))]]
    # What is left of squares when those of means are taken off is rounded as the squares are.
    squares += n_frames * _SQUARES * 3 * largest**2
    with np.errstate(over="ignore"):
        swings = (squares / 2 * (1 + 1e-5)).astype(np.float32)
    of_parts = np.zeros((n_parts, kernel.WIDTH), np.float32)
    of_parts[0] = of_stretches[1]
    of_parts[1:].ravel()[places[places >= 0]] = weights[places >= 0]
    totals = np.cumsum(of_parts.sum(axis=1, dtype=np.float64)[1:])
    in_tiles = np.minimum(np.arange(n_tiles * LANES), n_sites - 1).reshape(n_tiles, LANES)
    return Stretches(
        np.ascontiguousarray(long[in_tiles][..., _APART].transpose(0, 3, 2, 1)),
        of_stretches[0][_APART].astype(np.float32),
        looks,
        of_parts,
        np.concatenate([[of_stretches[1].sum()], totals]).astype(np.float32),
        (swings[0][in_tiles], swings[1]),
        of_parts[0][of_parts[0] > 0].min(),
        largest,
        scale,
    )


def _lay_out_some(shared: tuple[Any, ...], some: tuple[int, int]) -> None:
    """Lay out some of the sites."""
    kernel.lay_out(*shared, some)


def _scale_of(points: Floats) -> float:
    """Return a power of two that makes the largest about 1: to multiply by it rounds nothing."""
    _, exponent = math.frexp(float(np.abs(points).max()))
    return math.ldexp(1.0, min(-exponent, _MOST_SCALED))


def _cut(weights: Floats) -> tuple[Ints, list[Floats]]:
    """Cut frames into stretches: which long and short ones end with each, and their weights."""
    edges = np.arange(kernel.WIDTH + 1) * len(weights) // kernel.WIDTH
    ends, of_stretches = np.full((2, len(weights)), -1), list[Floats]()
    for kind, bounds in enumerate((edges[::2], edges)):
        filled = np.flatnonzero(np.diff(bounds))
        ends[kind, bounds[filled + 1] - 1] = filled
        added = np.array([weights[slice(*span)].sum() for span in pairwise(bounds)])
        of_stretches.append(np.where(added < _FAINT * added.max(), 0.0, added))
    return ends, of_stretches


def _superpose(xyz: Floats, reference: Floats | None) -> tuple[Floats, Floats, Floats]:
    """Centres of frames, and rotations onto the reference, which is the first if there is none.

    Some of the sites are enough, as any rotation is right, and none changes a distance.
    """
    sample = xyz[:: -(-len(xyz) // _SUPERPOSED)].astype(np.float64)
    centres = sample.mean(axis=0)
    sample -= centres
    sample /= np.abs(sample).max() or 1.0  # squares of large numbers would be too large
    reference = sample[..., 0] if reference is None else reference
    left, _, right = np.linalg.svd(sample.transpose(2, 1, 0) @ reference)
    left[..., -1] *= np.sign(np.linalg.det(left @ right))[:, None]  # no reflections
    return centres, np.ascontiguousarray((left @ right).transpose(1, 2, 0)), reference
