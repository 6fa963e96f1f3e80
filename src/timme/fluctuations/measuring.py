"""Measure σ: how much the distance of each pair of objects fluctuates over the snapshots."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from timme._arrays import Floats, Ints, frozen
from timme._kernels import moments as kernel
from timme.engine.checkpoint import Arrays, Checkpoint
from timme.engine.moments import Metric, Moments, Progress
from timme.engine.reduction import code_of, key_of, moments
from timme.engine.run import DEFAULT, Engine, Run, State
from timme.fluctuations.sigma import Fluctuations
from timme.objects import Objects
from timme.pairs import Pairs
from timme.system.ensemble import Ensemble

_NEAR_HALF_BOX = 0.9
_LARGEST_LIST = 100_000_000  # pairs; about 6 GB while they are measured


def measure(  # noqa: PLR0913, what is measured, by whom, and how it is watched
    objects: Objects,
    pairs: Pairs,
    *,
    chunk: int | None = None,
    min_overlap: int | None = None,
    metric: Metric | None = None,
    workers: int | Engine | None = None,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Fluctuations:
    """Measure σ of pairs of objects.

    Parameters
    ----------
    objects : Objects
        What is compared.
    pairs : Pairs
        Who with whom.
    chunk : int, optional
        Pairs measured at a time, about; all at once by default. Fewer take less memory and more
        passes over the snapshots, and change nothing in the result.
    min_overlap : int, optional
        Snapshots in which both must be seen; pairs with fewer are left out. By default
        :func:`default_overlap`.
    metric : callable, optional
        Distance (…,) between two arrays of points (…, dimensions); Euclidean, through the walls
        of a periodic box, if not given.
    workers : int or Engine, optional
        Number of threads, all cores by default; or another engine, such as
        :class:`timme.engine.dask.Cluster`.
    progress : callable, optional
        Called with the work done and the whole work.
    checkpoint : Checkpoint, optional
        Where the work is saved at intervals, and from which it goes on.

    Returns
    -------
    Fluctuations
        Population standard deviation of each pair's distance, reduced over the members of
        objects.

    Examples
    --------
    >>> import timme
    >>> ensemble = timme.read([[[0.0], [1.0]], [[0.0], [1.5]]])
    >>> objects = timme.objects.points(ensemble)
    >>> measure(objects, timme.pairs.all(objects)).sigma
    array([0.25])
    """
    if len(pairs) > _LARGEST_LIST:
        raise ValueError(
            f"{len(pairs):,} pairs are too many to hold: use timme.cluster, which never holds "
            "them, or compare objects in contact only"
        )
    pieces = list[Fluctuations]()

    def so_far() -> Fluctuations:
        pieces[:] = [_join(pieces)]
        return pieces[0]

    for piece in measure_in_chunks(
        objects,
        pairs,
        chunk=len(objects) ** 2 if chunk is None else chunk,
        min_overlap=min_overlap,
        metric=metric,
        run=Run.of(workers=workers, progress=progress, checkpoint=checkpoint),
        so_far=so_far,
    ):
        pieces.append(piece)
    return so_far()


def measure_in_chunks(  # noqa: PLR0913, as above
    objects: Objects,
    pairs: Pairs,
    *,
    chunk: int,
    min_overlap: int | None = None,
    metric: Metric | None = None,
    run: Run = DEFAULT,
    so_far: Callable[[], Fluctuations] | None = None,
    near: Callable[[int, int], None] | None = None,
) -> Iterator[Fluctuations]:
    """Measure σ of one piece of the pairs after another.

    Parameters
    ----------
    objects, pairs
        As for :func:`measure`.
    chunk : int
        Pairs in a piece, about.
    min_overlap, metric
        As for :func:`measure`.
    run : Run, optional
        How it is carried out.
    so_far : callable, optional
        Returns what stands for all pieces that were yielded, such as the pairs of them that still
        matter. A resumed run yields it in place of these pieces; without it, the checkpoint holds
        the piece in hand only.
    near : callable, optional
        Called in the end with the number of pairs that come near half the box, and of all; by
        default, :func:`warn_near_half_box`.

    Yields
    ------
    Fluctuations
        Of consecutive pairs.
    """
    ensemble = objects.ensemble
    _check(objects, pairs)
    overlap = default_overlap(ensemble.n_counting, gaps=ensemble.gaps)
    overlap = overlap if min_overlap is None else operator.index(min_overlap)
    if not 2 <= overlap <= ensemble.n_counting:
        raise ValueError(
            f"a minimum overlap must be from 2 to {ensemble.n_counting} snapshots, got {overlap}"
        )

    def key() -> str:
        return _key(objects, pairs, [str(overlap), code_of(metric)], run)

    # The sums over a piece save what is finished, too; this loop has nothing to save in between.
    pieces = (run if so_far else DEFAULT).loop("pieces", key)
    n_near = 0
    if pieces.kept is not None:
        # Pieces are those of the run that was interrupted, whatever this one would choose.
        n_near, chunk = int(pieces.kept["near"]), int(pieces.kept["chunk"])
        yield _recall(objects, pieces.kept)
    done = 0
    for number, index in enumerate(pairs.chunks(chunk), start=1):
        before, done = done, done + len(index)
        if number <= pieces.done:
            continue

        def advance(part: int, whole: int, before: int = before, size: int = len(index)) -> None:
            run.tell(before + size * part // whole, len(pairs))

        variance, common, reach = _measure(objects, index, metric, replace(run, progress=advance))
        kept: Any = common >= overlap
        if kept.all():
            kept = slice(None)  # no copies of all of them
        n_near += int(np.count_nonzero(reach[kept] > _NEAR_HALF_BOX))
        yield Fluctuations(
            n_objects=len(objects),
            pairs=frozen(index[kept]),
            sigma=frozen(np.sqrt(variance[kept])),
            common=frozen(common[kept]),
            unit=ensemble.unit,
        )
        if so_far is not None:
            pieces.keep(number, partial(_state, so_far, n_near, chunk))
    (near or warn_near_half_box)(n_near, len(pairs))


def warn_near_half_box(n_near: int, n_pairs: int) -> None:
    """Warn if there are pairs whose σ is doubtful.

    Parameters
    ----------
    n_near : int
        Pairs that come near or beyond half the box.
    n_pairs : int
        All pairs that were measured.
    """
    if n_near:
        warnings.warn(
            f"{n_near:,} of {n_pairs:,} pairs come near or beyond half the periodic box, where "
            "the nearest image may change and σ is too small: compare nearer pairs, or unwrap "
            "the trajectory and leave out the box",
            stacklevel=3,
        )


class TooFewSnapshotsError(ValueError):
    """An ensemble of which no fluctuation can be measured.

    Parameters
    ----------
    ensemble : Ensemble
        What was read.
    """

    def __init__(self, ensemble: Ensemble) -> None:
        super().__init__(
            f"{ensemble.prefix}fluctuations need at least 2 snapshots, got {ensemble.n_snapshots}: "
            "read more models or frames"
        )
        # Whether it has atoms, so that its rigidity may be asked for instead.
        self.molecular = bool((ensemble.atoms.elements != "").any())


def require_snapshots(ensemble: Ensemble) -> None:
    """Refuse an ensemble of which no fluctuation can be measured.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots, of which there must be at least two.
    """
    if ensemble.n_snapshots < 2:
        raise TooFewSnapshotsError(ensemble)


def default_overlap(n_snapshots: int, *, gaps: bool) -> int:
    """Return how many snapshots two sites must share if the user does not say.

    Parameters
    ----------
    n_snapshots : int
        Number of snapshots that count.
    gaps : bool
        Whether sites may be missing from snapshots.

    Returns
    -------
    int
        Half of the snapshots where there are gaps (a short overlap underestimates slow motion),
        all of them otherwise; at least 2.
    """
    return max(2, math.ceil(n_snapshots / 2)) if gaps else n_snapshots


def count_site_pairs(objects: Objects, index: Ints) -> int:
    """Count the pairs of sites whose distances make up those of pairs of objects.

    Parameters
    ----------
    objects : Objects
        What is compared.
    index : ndarray, shape (pairs, 2)
        Pairs of objects.

    Returns
    -------
    int
        Distances to be measured in each snapshot; none is there twice.
    """
    return int(_cross_pairs(objects, index).nnz)


def _state(so_far: Callable[[], Fluctuations], n_near: int, chunk: int) -> State:
    """All that is known of the pieces that are finished."""
    found = so_far()
    counts = {"near": n_near, "chunk": chunk}
    return counts | {"pairs": found.pairs, "sigma": found.sigma, "common": found.common}


def _recall(objects: Objects, kept: Arrays) -> Fluctuations:
    """What stands for the pieces that are finished."""
    index, sigma, common = (frozen(kept[name]) for name in ("pairs", "sigma", "common"))
    return Fluctuations(len(objects), index, sigma, common, objects.ensemble.unit)


def _key(objects: Objects, pairs: Pairs, choices: list[str], run: Run) -> str:
    """All on which σ of pairs of objects depends."""
    return key_of(
        objects.ensemble,
        objects.members,
        objects.offsets,
        objects.centre_weights,
        objects.rigid,
        [objects.reduction, *choices],
        [pairs.index is None],
        pairs.left_out if pairs.index is None else pairs.index,
        run=run,
    )


def _join(parts: list[Fluctuations]) -> Fluctuations:
    if len(parts) == 1:
        return parts[0]
    return replace(
        parts[0],
        pairs=frozen(np.concatenate([part.pairs for part in parts])),
        sigma=frozen(np.concatenate([part.sigma for part in parts])),
        common=frozen(np.concatenate([part.common for part in parts])),
    )


def _check(objects: Objects, pairs: Pairs) -> None:
    require_snapshots(objects.ensemble)
    if pairs.n_objects != len(objects):
        raise ValueError(
            f"pairs were chosen among {pairs.n_objects} objects, but there are {len(objects)}"
        )


def _measure(
    objects: Objects, index: Ints, metric: Metric | None, run: Run
) -> tuple[Floats, Ints, Floats]:
    """Variance, snapshots in common and reach of pairs of objects."""
    if objects.are_points:
        result = moments(objects.centres(), index, metric=metric, run=run)
        return result.variance, result.count, result.reach
    needed = _cross_pairs(objects, index)
    site_pairs = np.column_stack(needed.nonzero()).astype(np.int64)
    result = moments(objects.ensemble, site_pairs, metric=metric, run=run)
    return _reduce(objects, index, needed, site_pairs, result)


def _cross_pairs(objects: Objects, index: Ints) -> sparse.csr_array:
    """Pairs of sites, lower first, that pairs of objects consist of; none is there twice."""
    membership = objects.membership()
    compared = sparse.csr_array(
        (np.ones(len(index), bool), index.T), shape=(len(objects), len(objects))
    )
    crossing = membership.T @ compared @ membership
    upper = sparse.csr_array(sparse.triu(crossing + crossing.T, 1))
    upper.sort_indices()
    return upper


def _reduce(
    objects: Objects, index: Ints, needed: sparse.csr_array, site_pairs: Ints, result: Moments
) -> tuple[Floats, Ints, Floats]:
    variance = result.variance
    if len(objects.rigid):
        n_sites = objects.ensemble.n_sites
        rigid = objects.rigid[:, 0] * n_sites + objects.rigid[:, 1]
        variance[np.isin(site_pairs[:, 0] * n_sites + site_pairs[:, 1], rigid)] = 0.0

    def reduce(values: Floats, *, largest: bool) -> Floats:
        reduced: Floats = kernel.reduce_pairs(
            index, objects.offsets, objects.members, needed.indptr, needed.indices, values, largest
        )
        return reduced

    n_snapshots = objects.ensemble.n_counting
    missing = reduce((n_snapshots - result.count).astype(np.float64), largest=True)
    return (
        reduce(variance, largest=objects.reduction == "max"),
        (n_snapshots - missing).astype(np.int64),
        reduce(result.reach, largest=True),
    )
