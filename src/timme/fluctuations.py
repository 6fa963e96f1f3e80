"""Fluctuations: σ of pairs of objects, measured over snapshots or given as a matrix."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial.distance import squareform

from timme._arrays import Bools, Coordinates, Floats, Ints, frozen, joined, numbers, whole
from timme._text import Described, require
from timme.engine.checkpoint import Checkpoint, Progress, Run
from timme.engine.moments import Metric, Moments, known_metric, unit_of_distances
from timme.engine.reduction import reduce_moments
from timme.objects import Objects, require_flat, require_objects
from timme.pairs import Pairs, sorted_pairs, without
from timme.site_pairs import SitePairs

if TYPE_CHECKING:
    from distributed import Client

Overlap = int | Literal["auto"] | None
"""Snapshots that two objects must share; None: all, or half of them where there are gaps."""

_MATRIX = "σ, from timme.measure(objects, pairs) or timme.read_matrix(path),"
_NEAR_HALF_BOX = 0.9  # of half the width of the box
_MOST_PAIRS = 100_000_000  # about 6 GB while they are measured
_MOST_LISTED = 30_000_000  # pairs; about 2 GB while they are put in order
_PIECE_BYTES = 4_000_000_000  # of all that is held of the pairs that are measured at a time
_AT_ONCE = 10_000_000  # places in a table of snapshots and objects that are compared at a time
_ROWS = 256  # objects that are compared with all others at a time


class TooFewSnapshotsError(ValueError):
    """Raised for an ensemble of a single snapshot, in which nothing fluctuates."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Fluctuations(Described):
    """σ of pairs of objects.

    Attributes
    ----------
    n_objects : int
        Number of objects.
    pairs : ndarray of int, shape (pairs, 2)
        Numbers of two objects, the lower first.
    sigma : ndarray, shape (pairs,)
        Population standard deviation of the distance of each pair, reduced over the members of
        the objects.
    common : ndarray of int, shape (pairs,)
        Snapshots in which both objects are seen; 0 where unknown.
    unit : str, optional
        Of σ.
    n_near_half_box : int, optional
        Pairs that come near or beyond half the periodic box, whose σ may be too small.

    Examples
    --------
    >>> from_matrix([[0.0, 0.5], [0.5, 0.0]], unit="Å").sigma
    array([0.5])
    """

    n_objects: int
    pairs: Ints
    sigma: Floats
    common: Ints
    unit: str = ""
    n_near_half_box: int = 0

    def matrix(self) -> Floats:
        """Return σ as a symmetric matrix, with 0 on the diagonal and NaN for other pairs."""
        full = np.full((self.n_objects, self.n_objects), np.nan)
        np.fill_diagonal(full, 0.0)
        one, other = self.pairs.T
        full[one, other] = full[other, one] = self.sigma
        return full


def from_matrix(values: npt.ArrayLike | sparse.sparray, *, unit: str = "") -> Fluctuations:
    """Return a ready-made matrix of σ, or of anything like it, as if it had been measured.

    Parameters
    ----------
    values : array_like or sparse array, shape (objects, objects) or (pairs,)
        Symmetric and not negative; or the upper triangle row by row, as ``pdist`` of SciPy returns
        it. NaN, infinite, masked and unstored entries are pairs that were not measured.
    unit : str, optional
        Of the entries.

    Returns
    -------
    Fluctuations
        Of the pairs with a value; numbers of common snapshots are unknown.

    Examples
    --------
    >>> from_matrix([0.1, 0.2, 0.3]).pairs.tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    held: Any = values
    if isinstance(values, np.ma.MaskedArray):
        held = np.ma.filled(values.astype(np.float64), np.nan)
    if not isinstance(held, sparse.sparray | sparse.spmatrix):
        held = numbers(held, _MATRIX)
    size = round((1 + math.sqrt(1 + 8 * held.size)) / 2)
    if held.ndim == 1 and held.size == size * (size - 1) // 2 > 0:
        held = squareform(held, checks=False)
    if held.ndim != 2 or held.shape[0] != held.shape[1] or held.shape[0] == 0:
        raise ValueError(
            "a matrix of σ must be square, or the upper triangle of a square one (1, 3, 6, 10, … "
            f"numbers), got shape {held.shape}"
        )
    index, sigma = _above_diagonal(held)
    if (sigma < 0).any():
        raise ValueError(f"a matrix of σ must not be negative, got {sigma.min():.3g}")
    mirrored, others = _above_diagonal(held.T)
    same = np.array_equal(index, mirrored)
    apart = np.abs(sigma - others).max(initial=0.0) if same else np.inf
    if apart > 1e-6 * np.abs(sigma).max(initial=0.0):
        raise ValueError(
            f"a matrix of σ must be symmetric, got mirrored entries that differ by {apart:.3g}: "
            "pass np.maximum(m, m.T) or the mean of both"
        )
    common = np.zeros(len(sigma), np.int64)
    return Fluctuations(held.shape[0], frozen(index), frozen(sigma), frozen(common), unit)


def _above_diagonal(matrix: Any) -> tuple[Ints, Floats]:
    """Pairs and values of the entries above the diagonal, row by row, without NaN and inf."""
    if isinstance(matrix, np.ndarray):
        index = np.argwhere(np.triu(matrix < np.inf, 1)).astype(np.int64)
        return index, matrix[tuple(index.T)]
    upper = sparse.csr_array(sparse.triu(matrix, 1))
    upper.sum_duplicates()
    finite = upper.data < np.inf
    index = np.column_stack(upper.tocoo().coords).astype(np.int64)
    return index[finite], upper.data[finite].astype(np.float64)


def measure(  # noqa: PLR0913, what is measured, and how it is carried out
    objects: Objects,
    pairs: Pairs,
    *,
    chunk: int | None = None,
    min_overlap: Overlap = None,
    metric: Metric | None = None,
    workers: int | None = None,
    client: Client | str | None = None,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Fluctuations:
    """Measure σ of pairs of objects.

    Parameters
    ----------
    objects : Objects
        What is compared.
    pairs : Pairs
        Which pairs are compared.
    chunk : int, optional
        Approximate number of pairs measured at a time; by default, as many as fit into 4 GB. Fewer
        take less memory and more passes over the snapshots; the result is the same.
    min_overlap : int or "auto", optional
        Snapshots in which both objects must be seen; other pairs are left out. By default half of
        all snapshots where there are gaps, because a short overlap underestimates slow motion.
        "auto" takes the largest number, up to that, which half of the objects share with another.
    metric : str or callable, optional
        Distance of two points: Euclidean by default, to the nearest image in a periodic box. Names
        are those of SciPy, such as "cityblock" or "cosine", and "haversine": latitude and
        longitude in degrees, distances on the Earth in km. A function takes two arrays of points
        (…, dimensions) and returns distances (…,).
    workers : int, optional
        Number of threads; all cores by default.
    client : distributed.Client or str, optional
        Dask cluster that does the work, or the address of its scheduler.
    progress : callable, optional
        Called with the work done and the whole work.
    checkpoint : Checkpoint, optional
        Where the work is saved at intervals and resumed from.

    Returns
    -------
    Fluctuations
        σ of the pairs that share enough snapshots. It is the same to the last bit for any number
        of workers, and does not depend on which other pairs are measured.

    Examples
    --------
    >>> from timme import objects, pairs
    >>> from timme.ensemble import Ensemble
    >>> points = objects.points(Ensemble.from_array([[[0.0], [1.0]], [[0.0], [1.5]]]))
    >>> measure(points, pairs.all(points)).sigma
    array([0.25])
    """
    check_pairs(objects, pairs, "measure")
    if len(pairs) > _MOST_PAIRS:
        raise ValueError(
            f"{len(pairs):,} pairs are too many to hold in memory: use timme.cluster, which never "
            "holds them all, or compare objects in contact only"
        )
    metric = known_metric(metric, objects.ensemble)
    overlap = choose_overlap(objects, min_overlap)
    chosen = keep_sharing(objects, pairs, overlap)
    size = chunk_for(objects) if chunk is None else chunk
    run = Run.of(workers, client, progress, checkpoint)
    pieces, done = list[Fluctuations](), 0
    for index in chosen.chunks(size):
        inner = run.within(done, len(index), len(chosen))
        pieces.append(measure_listed(objects, index, overlap, metric, inner))
        done += len(index)
    n_near = sum(piece.n_near_half_box for piece in pieces)
    found = replace(joined(pieces, ("pairs", "sigma", "common")), n_near_half_box=n_near)
    if len(pairs) > 0 and len(found.sigma) == 0:
        refuse_unmeasured(objects, pairs, overlap)
    warn_near_half_box(found.n_near_half_box, len(found.sigma))
    return found


def chunk_for(objects: Objects, memory: int = _PIECE_BYTES) -> int:
    """Return how many pairs of objects can be measured at a time in so many bytes."""
    in_blocks = objects.ensemble.n_snapshots > objects.ensemble.block_length
    per_site_pair = 40 + 40 * in_blocks  # what is found, and moments that wait for the next block
    if objects.are_points:
        return max(1, memory // per_site_pair)
    n_cross = (len(objects.members) / len(objects)) ** 2
    return max(1, int(memory / (60 + (60 + per_site_pair) * n_cross)))


def measure_listed(
    objects: Objects, index: Ints, overlap: int, metric: Metric | None, run: Run
) -> Fluctuations:
    """Return σ of the listed pairs (pairs, 2) that share enough snapshots, measured all at once.

    The metric is one of `known_metric`; nothing is said of pairs near half the box.
    """
    require_flat(objects, metric)
    ensemble, chosen = objects.ensemble, SitePairs.of(objects, index)
    gaps, n_pairs = ensemble.gaps, len(chosen.site_pairs)
    sigma, near = np.empty(n_pairs), np.empty(n_pairs, np.bool_)
    counts = np.empty(n_pairs if gaps else 0, np.int64)

    def reduce(_part: int, tile: slice, found: Moments) -> None:
        sigma[tile] = np.sqrt(found.variance) if objects.are_points else found.variance
        near[tile] = found.reach > _NEAR_HALF_BOX
        if gaps:
            counts[tile] = found.common

    reduce_moments(chosen.ensemble, chosen.site_pairs, reduce, metric=metric, run=run)
    if not objects.are_points:
        sigma = np.sqrt(chosen.variance(sigma, threads=run.engine.threads_here))
    if near.any() or gaps:
        near = chosen.reduce(near.astype(np.float64), largest=True) > 0
    common = np.broadcast_to(np.int64(ensemble.n_counting), len(index))
    if gaps:
        common = chosen.common(counts, ensemble.n_counting)
        kept = np.flatnonzero(common >= overlap)
        index, sigma, common, near = index[kept], sigma[kept], common[kept], near[kept]
    if not np.isfinite(sigma).all():
        raise ValueError(
            f"{ensemble.prefix}coordinates are too large to be squared: give them in a larger unit"
        )
    arrays = frozen(index), frozen(sigma), frozen(common)
    unit, n_near = unit_of_distances(metric, ensemble.unit), int(np.count_nonzero(near))
    return Fluctuations(len(objects), *arrays, unit, n_near)


def check_pairs(objects: Objects, pairs: Pairs, step: str) -> None:
    """Refuse pairs of other objects."""
    require_objects(objects, step)
    remedy = "pass timme.pairs.all(objects), or those within a radius"
    require(pairs, Pairs, f"{step}, as its second argument,", remedy)
    if pairs.n_objects != len(objects):
        raise ValueError(
            f"pairs were chosen among {pairs.n_objects} objects, but there are {len(objects)}: "
            "choose pairs of these objects"
        )


def warn_near_half_box(n_near: int, n_pairs: int) -> None:
    """Warn of pairs whose nearest image may change, so that their σ may be too small."""
    if n_near > 0:
        warnings.warn(
            f"{n_near:,} of {n_pairs:,} pairs come near or beyond half the periodic box, where "
            "the nearest image may change and σ is too small: compare nearer pairs, or unwrap "
            "molecules (unwrap=True)",
            stacklevel=3,
        )


def choose_overlap(objects: Objects, min_overlap: Overlap) -> int:
    """Return how many snapshots two objects must share."""
    ensemble = objects.ensemble
    if ensemble.n_snapshots < 2:
        raise TooFewSnapshotsError(
            f"{ensemble.prefix}at least 2 snapshots are needed to measure fluctuations, got "
            f"{ensemble.n_snapshots}: read more models or frames, or use timme.analyse_rigidity "
            "for a single structure"
        )
    n_snapshots = ensemble.n_counting
    usual = max(2, math.ceil(n_snapshots / 2)) if ensemble.gaps else n_snapshots
    if min_overlap == "auto" and ensemble.gaps:
        return min(usual, max(2, longest_overlap(objects)))
    overlap = usual if min_overlap in {None, "auto"} else min_overlap
    return whole(overlap, 2, "min_overlap=, unless it is 'auto',", n_snapshots)


def longest_overlap(objects: Objects) -> int:
    """Return the longest overlap that half of the objects share with another."""
    most = np.zeros(len(objects), np.int64)
    for rows, partners, common in _shared_by_block(_seen_objects(objects)):
        others = np.where(rows[:, None] == partners, 0, common)
        most[rows] = others.max(axis=1, initial=0).astype(np.int64)
    return int(np.sort(most)[len(most) // 2])


def keep_sharing(objects: Objects, pairs: Pairs, overlap: int) -> Pairs:
    """Leave out those of all pairs of points that share too few snapshots, before measuring them.

    Pairs stay as they are where they are a list already, or where most of them share enough.
    """
    if pairs.index is not None or not objects.ensemble.gaps or not objects.are_points:
        return pairs
    found, n_found = [np.empty((0, 2), np.int64)], 0
    for rows, partners, common in _shared_by_block(_seen_objects(objects)):
        one, other = np.nonzero((common >= overlap) & (rows[:, None] < partners))
        found.append(np.column_stack([rows[one], partners[other]]))
        n_found += len(one)
        if n_found > min(_MOST_LISTED, len(pairs) // 2):
            return pairs
    kept = without(sorted_pairs(np.concatenate(found), len(objects)), pairs.left_out, len(objects))
    return replace(pairs, index=frozen(kept), left_out=kept[:0])


def refuse_unmeasured(objects: Objects, pairs: Pairs, overlap: int) -> None:
    """Refuse pairs of which none shares enough snapshots."""
    raise ValueError(
        f"{objects.ensemble.prefix}none of {len(pairs):,} pairs of {objects.kind} share the "
        f"{overlap} of {objects.ensemble.n_counting} snapshots that they need: lower min_overlap=, "
        "take min_overlap='auto', or pass longer tracks"
    )


def _seen_objects(objects: Objects) -> Bools:
    """Which objects are seen as a whole, of shape (snapshots that count, objects)."""
    seen = [
        np.isfinite(block.coordinates[block.weights > 0]).all(axis=2)
        for block in objects.ensemble.blocks()
    ]
    unseen = objects.membership().astype(np.int64) @ (~np.concatenate(seen)).T
    return np.ascontiguousarray((unseen == 0).T)


def _shared_by_block(seen: Bools) -> Iterator[tuple[Ints, Ints, Coordinates]]:
    """Yield some objects, all that meet them, and how many snapshots each two share.

    Objects that appear at about the same time come together: they meet few others in few
    snapshots, so that little is multiplied for a crowd that comes and goes.
    """
    order = np.argsort(seen.argmax(axis=0), kind="stable")
    for rows in np.split(order, range(_ROWS, len(order), _ROWS)):
        inside = np.flatnonzero(seen[:, rows].any(axis=1))
        partners = np.flatnonzero(seen[inside].any(axis=0))
        common = np.zeros((len(rows), len(partners)), np.float32)  # exact up to 2²⁴ snapshots
        for some in np.array_split(inside, len(inside) * len(partners) // _AT_ONCE + 1):
            part = seen[some].astype(np.float32)
            common += part[:, rows].T @ part[:, partners]
        yield rows, partners, common
