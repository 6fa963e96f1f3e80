"""Points in contact: in how many snapshots they are no farther apart than a radius.

Snapshots are cut into windows in which points move little, and each window is searched at once (see
the kernel). The contacts of a window are a sparse matrix of counts, and those of all snapshots the
sum of these.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from timme._arrays import Coordinates, Floats, Ints
from timme._kernels import contacts as kernel
from timme._kernels.boxes import OPEN, TILTED
from timme.engine.checkpoint import DEFAULT, Run
from timme.engine.reduction import fingerprint
from timme.engine.workers import Engine, Threads
from timme.ensemble import Block, Boxes, Ensemble

Search = tuple[Ensemble, float, int | None]
"""Points, radius, and the number of contacts beyond which the search is refused."""

_SAMPLE = 400  # points by which the motion of all is estimated
_MOST_MOVED = 0.5  # of the radius, by which points move to each side within a window, on average
_SPAN, _SPAN_BYTES = 32, 500_000_000  # snapshots that are searched at a time, at most
_TILES = 32  # parts of a window that are searched at a time


def find_contacts(
    centres: Ensemble,
    radius: float,
    *,
    at_least: int = 1,
    most: int | None = None,
    run: Run = DEFAULT,
) -> Ints:
    """Return the pairs of points that are in contact in enough snapshots.

    Parameters
    ----------
    centres : Ensemble
        Points.
    radius : float
        Largest distance in contact, in the units of the coordinates.
    at_least : int, optional
        Number of snapshots in which they are in contact.
    most : int, optional
        Number of contacts beyond which the search is refused.
    run : Run, optional
        How it is carried out.

    Returns
    -------
    ndarray of int, shape (pairs, 2)
        Lower point first, sorted.

    Examples
    --------
    >>> find_contacts(Ensemble.from_array([[[0.0], [1.0], [5.0]], [[0.0], [4.0], [5.0]]]), 1.0)
    array([[0, 1],
           [1, 2]])
    """
    n_snapshots, search = centres.n_snapshots, (centres, radius, most)
    counts = _counts(centres, np.empty((0, 3), np.int32))

    def state() -> dict[str, Any]:
        return {"counts": counts.data, "others": counts.indices, "begins": counts.indptr}

    with run.loop("contacts", lambda: fingerprint(centres, radius), n_snapshots) as loop:
        if loop.kept:
            arrays = loop.kept["counts"], loop.kept["others"], loop.kept["begins"]
            counts = sparse.csr_array(arrays, shape=counts.shape)
        starts = range(loop.done, n_snapshots, _span_length(centres))
        with closing(_search(search, starts, run.engine)) as found:
            for start, more in zip(starts, found, strict=True):
                counts = counts + more if counts.nnz > 0 else more
                _refuse_too_many(search, counts.nnz)
                loop.advance(min(start + starts.step, n_snapshots), state)
    first = np.repeat(np.arange(centres.n_sites), np.diff(counts.indptr))
    enough = counts.data >= at_least
    return np.column_stack([first[enough], counts.indices[enough]]).astype(np.int64, copy=False)


def superpose(sample: Coordinates, reference: Floats | None = None) -> tuple[Floats, Floats]:
    """Return shifts and rotations by which frames come to lie on one another, as far as they can.

    Parameters
    ----------
    sample : ndarray, shape (frames, points, dimensions)
        Points of all frames, or some that stand for all.
    reference : ndarray, shape (points, dimensions), optional
        Where frames are to lie; the first frame by default.

    Returns
    -------
    shifts : ndarray, shape (frames, dimensions)
        To be taken off the coordinates of each frame.
    rotations : ndarray, shape (frames, dimensions, dimensions)
        By which what is left is to be multiplied, as row vectors.
    """
    shifts = sample.mean(axis=1, dtype=np.float64)
    centred = sample - shifts[:, None]
    centred /= np.abs(centred).max() or 1.0  # squares of large numbers would be infinite
    centred_reference = centred[0] if reference is None else reference - reference.mean(axis=0)
    left, _, right = np.linalg.svd(centred.transpose(0, 2, 1) @ centred_reference)
    left[..., -1] *= np.sign(np.linalg.det(left @ right))[:, None]  # no reflections
    return shifts, left @ right


def _search(search: Search, starts: range, engine: Engine) -> Generator[sparse.csr_array]:
    """Count contacts span by span: threads share each, workers of a cluster take one each."""
    if not isinstance(engine, Threads):
        return engine.map(_search_span, (search, starts.step, Threads(1)), starts)
    return (_search_span((search, starts.step, engine), start) for start in starts)


def _span_length(centres: Ensemble) -> int:
    """How many snapshots are searched at a time: a block, or several where points are many.

    To look for pairs takes as long as to follow them through a hundred snapshots.
    """
    affordable = _SPAN_BYTES // (8 * centres.n_sites * centres.n_dimensions)
    return centres.block_length * max(1, min(_SPAN, affordable) // centres.block_length)


def _search_span(shared: tuple[Search, int, Threads], start: int) -> sparse.csr_array:
    """Count in how many of some snapshots pairs are in contact, window by window."""
    search, length, threads = shared
    centres, stop = search[0], min(start + length, search[0].n_snapshots)
    blocks = [centres.block(first) for first in range(start, stop, centres.block_length)]
    counts = list[sparse.csr_array]()
    for window in _windows(search, blocks):
        n_leaves = window[1][1][1]
        bounds = np.linspace(0, n_leaves, min(_TILES, n_leaves) + 1).astype(int)
        found, tiles = list[Ints](), pairwise(bounds.tolist())
        for part in threads.map(_search_tile, window, tiles):
            found.append(part)
            _refuse_too_many(search, sum(map(len, found)))
        counts.append(_counts(centres, np.concatenate(found)))
    return reduce(add, counts)


def _search_tile(window: tuple[Any, ...], leaves: tuple[int, int]) -> Ints:
    """Return contacts (contacts, 3) of some leaves: lower point, higher point, and how often."""
    radius, tree, xyz, order, boxes = window
    pairs = kernel.near_pairs(leaves, tree, radius)
    return np.asarray(kernel.contacts_of(xyz, order, pairs, radius, *boxes))


def _counts(centres: Ensemble, found: Ints) -> sparse.csr_array:
    """Sort contacts (pair and count, each pair once) into a matrix."""
    first, second, counts = found.T
    matrix = sparse.coo_array((counts, (first, second)), shape=(centres.n_sites,) * 2)
    matrix.has_canonical_format = True
    return matrix.tocsc().tocsr()  # by two counting sorts


def _windows(search: Search, blocks: list[Block]) -> Generator[tuple[Any, ...]]:
    """Cut snapshots into windows, so that the search takes least time, and lay them out."""
    centres, radius, _ = search
    coordinates = np.concatenate([block.coordinates for block in blocks])
    n_frames, n_points, n_dimensions = coordinates.shape
    given = [block.boxes for block in blocks if block.boxes is not None]
    joined = np.concatenate(given) if given else None
    boxes = Boxes.of(joined, n_frames, n_dimensions, blocks[0].images)
    matrices, periods = kernel.axes_of(boxes.inverses, boxes.kind)
    if 2 * radius > periods.min():
        raise ValueError(
            f"{centres.prefix}a contact radius is at most half the width of the box, "
            f"{0.5 * periods.min():g}, got {radius:g}: choose a smaller pairs='contact:RADIUS'"
        )
    sample = coordinates[:, np.random.default_rng(0).integers(0, n_points, _SAMPLE)]
    shifts = np.zeros((n_frames, len(periods)))
    if boxes.kind == OPEN:
        seen = sample[:, np.isfinite(sample).all(axis=(0, 2))]
        if seen.shape[1] > 0:
            centres_of, turns = superpose(seen)
            matrices = np.ascontiguousarray(turns[:, :, : kernel.AXES])
            shifts = np.einsum("fd,fda->fa", centres_of, matrices)
    axes = shifts, matrices, periods
    length = _window_length(_by_point(sample), axes, radius)
    for frames in _cut(n_frames, length):
        xyz = _by_point(coordinates[frames])
        middles, halves = _extents(xyz, axes, frames)
        order = cKDTree(middles, kernel.GROUP, balanced_tree=False).indices.astype(np.int64)
        tree = *kernel.box_tree(middles[order], halves[order]), periods, boxes.kind != TILTED
        around = _by_point(boxes.matrices[frames]), _by_point(boxes.inverses[frames])
        yield radius, tree, xyz[order], order, (boxes.kind, around, boxes.molecules)


def _window_length(xyz: Floats, axes: tuple[Floats, Floats, Floats], radius: float) -> int:
    """How many snapshots are searched at once, so that few points move far in them."""
    length: int = xyz.shape[2]
    while length > 1:
        halves = [_extents(xyz[..., part], axes, part)[1] for part in _cut(xyz.shape[2], length)]
        if np.mean(np.maximum(halves, 0.0)) < _MOST_MOVED * radius:
            break
        length //= 4
    return max(1, length)


def _cut(n_frames: int, length: int) -> list[slice]:
    return [slice(start, start + length) for start in range(0, n_frames, length)]


def _extents(
    xyz: Floats, axes: tuple[Floats, Floats, Floats], frames: slice
) -> tuple[Floats, Floats]:
    """Centres and half widths of the extents of points over some snapshots."""
    shifts, matrices, periods = axes
    centres, halves = np.zeros((2, len(xyz), kernel.AXES))
    kernel.extents(xyz, shifts[frames], matrices[frames], periods, centres, halves)
    return centres, halves


def _by_point(frames: Coordinates) -> Floats:
    """Put the snapshots of each point, or of each entry of a box, next to one another."""
    return np.ascontiguousarray(frames.transpose(1, 2, 0), dtype=np.float64)


def _refuse_too_many(search: Search, n_pairs: int) -> None:
    centres, _, most = search
    if most is not None and n_pairs > most:
        raise ValueError(
            f"{centres.prefix}more than {most:,} pairs are in contact, for which memory does not "
            "last: choose a smaller radius or fewer sites, or allow more memory"
        )
