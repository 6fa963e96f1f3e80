"""Measure σ: how much the distance of each pair of objects fluctuates over the snapshots."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from timme._arrays import Ints, frozen
from timme._errors import require
from timme.engine.checkpoint import Arrays, Checkpoint, take
from timme.engine.metrics import known_metric, unit_of_distances
from timme.engine.moments import Metric, Moments
from timme.engine.protocol import Engine
from timme.engine.reduction import code_of, key_of, moments
from timme.engine.run import DEFAULT, Run, State
from timme.fluctuations.crossing import Crossing
from timme.fluctuations.dense import measure_at_once
from timme.fluctuations.limits import refuse_beyond_limits
from timme.fluctuations.overlap import (
    Overlap,
    choose_overlap,
    keep_sharing,
    refuse_unmeasured,
)
from timme.fluctuations.sigma import Fluctuations
from timme.objects import Objects, require_objects, require_places_on_sphere
from timme.pairs.lists import Pairs
from timme.system.ensemble import Ensemble
from timme.system.frames import Progress

Sums = Callable[[Crossing, Metric | None, Run], Moments]
"""Sums the distances of the site pairs of a crossing over all snapshots."""

_NEAR_HALF_BOX = 0.9
_LARGEST_LIST = 100_000_000  # pairs; about 6 GB while they are measured


def measure(  # noqa: PLR0913, what is measured, by whom, and how it is watched
    objects: Objects,
    pairs: Pairs,
    *,
    chunk: int | None = None,
    min_overlap: Overlap = None,
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
    min_overlap : int or "auto", optional
        Snapshots in which both must be seen; pairs with fewer are left out. By default half of all
        where there are gaps. ``"auto"`` takes the most, up to that, that half of the objects share
        with some other.
    metric : str or callable, optional
        How far apart two points are: Euclidean, through the walls of a periodic box, if not given.
        Names are those of SciPy, ``cityblock``, ``chebyshev``, ``sqeuclidean``, ``cosine``,
        ``correlation``, ``braycurtis``, ``canberra``, ``hamming`` and ``jensenshannon``, and
        ``haversine``: latitude and longitude in degrees, the way over the Earth in km. These run in
        compiled loops of our own, and stand for SciPy's functions as well. Any other function gets
        two arrays of points (…, dimensions) and returns distances (…,).
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
        objects; of the pairs that share enough snapshots, at least one.

    Examples
    --------
    >>> import timme
    >>> ensemble = timme.read([[[0.0], [1.0]], [[0.0], [1.5]]])
    >>> objects = timme.objects.points(ensemble)
    >>> measure(objects, timme.pairs.all(objects)).sigma
    array([0.25])
    """
    require_objects_and_pairs(objects, pairs, "measure")
    if len(pairs) > _LARGEST_LIST:
        raise ValueError(
            f"{len(pairs):,} pairs are too many to hold: use timme.cluster, which never holds "
            "them, or compare objects in contact only"
        )
    check_pairs(objects, pairs)
    overlap = choose_overlap(objects, min_overlap)
    run = Run.of(workers=workers, progress=progress, checkpoint=checkpoint)
    if chunk is None:
        at_once = measure_at_once(objects, pairs, known_metric(metric, objects.ensemble), run)
        if at_once is not None:
            return at_once
    pieces = list[Fluctuations]()

    def so_far() -> Fluctuations:
        pieces[:] = [_join(pieces)]
        return pieces[0]

    for piece in measure_in_chunks(
        objects,
        pairs,
        chunk=len(objects) ** 2 if chunk is None else chunk,
        min_overlap=overlap,
        metric=metric,
        run=run,
        so_far=so_far,
    ):
        pieces.append(piece)
    found = so_far()
    if not len(found.sigma):
        refuse_unmeasured(objects, pairs, overlap)
    return found


def measure_in_chunks(  # noqa: PLR0913, as above
    objects: Objects,
    pairs: Pairs,
    *,
    chunk: int,
    min_overlap: Overlap = None,
    metric: Metric | None = None,
    run: Run = DEFAULT,
    so_far: Callable[[], Fluctuations] | None = None,
    near: Callable[[int, int], None] | None = None,
    sums: Sums | None = None,
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
        Called in the end with the number of pairs that come near half the box, and of all that
        were measured; by default, :func:`warn_near_half_box`.
    sums : callable, optional
        Sums the distances of sites, where something else than the reduction does it.

    Yields
    ------
    Fluctuations
        Of consecutive pairs.
    """
    ensemble = objects.ensemble
    check_pairs(objects, pairs)
    metric = known_metric(metric, ensemble)
    if objects.are_points:
        require_places_on_sphere(objects, metric)
    unit = unit_of_distances(metric, ensemble.unit)
    sums = sums or _sum
    overlap = choose_overlap(objects, min_overlap)
    pairs = keep_sharing(objects, pairs, overlap)

    def key() -> str:
        return key_of_objects(objects, pairs, [str(overlap), code_of(metric)], run)

    n_near = n_measured = 0
    # The sums over a piece save what is finished, too; this loop has nothing to save in between.
    with (run if so_far else DEFAULT).loop("pieces", key) as loop:
        recalled = loop.restore(partial(_recall, objects, unit))
        if recalled is not None:
            # Pieces are those of the run that was interrupted, whatever this one would choose.
            finished, n_near, n_measured, chunk = recalled
            yield finished
        for piece in loop.left(cut(pairs, chunk), PairPiece.end):
            crossing = Crossing.of(objects, piece.index)
            found = sums(crossing, metric, piece.watched(run))
            common = crossing.common(found, ensemble.n_counting)
            kept: Any = common >= overlap
            n_measured += int(np.count_nonzero(kept))
            if kept.all():
                kept = slice(None)  # no copies of all of them
            n_near += int(np.count_nonzero(crossing.reach(found)[kept] > _NEAR_HALF_BOX))
            index, sigma = piece.index[kept], np.sqrt(crossing.variance(found)[kept])
            refuse_beyond_limits(ensemble, index, sigma)
            yield Fluctuations(
                n_objects=len(objects),
                pairs=frozen(index),
                sigma=frozen(sigma),
                common=frozen(common[kept]),
                unit=unit,
            )
            if so_far is not None:
                loop.keep(piece.number, partial(_state, so_far, n_near, n_measured, chunk))
    (near or warn_near_half_box)(n_near, n_measured)


@dataclass(frozen=True, slots=True, eq=False)
class PairPiece:
    """Some of the pairs, which are measured at a time."""

    number: int  # 1 is the first
    before: int  # pairs in the pieces before it
    index: Ints  # (pairs, 2)
    total: int  # all pairs

    def end(self) -> int:
        """Return how many pieces are done after it.

        Returns
        -------
        int
            Its number.
        """
        return self.number

    def watched(self, run: Run) -> Run:
        """Let a run over the piece tell how far all pairs are.

        Parameters
        ----------
        run : Run
            Over all pairs.

        Returns
        -------
        Run
            Over the piece.
        """

        def progress(part: int, whole: int) -> None:
            run.tell(self.before + len(self.index) * part // whole, self.total)

        return replace(run, progress=progress)


def cut(pairs: Pairs, size: int) -> Iterator[PairPiece]:
    """Cut pairs into pieces that are measured one after another.

    Parameters
    ----------
    pairs : Pairs
        Who with whom.
    size : int
        Pairs in a piece, about.

    Yields
    ------
    PairPiece
        In the order of the pairs.
    """
    before = 0
    for number, index in enumerate(pairs.chunks(size), start=1):
        yield PairPiece(number, before, index, len(pairs))
        before += len(index)


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
            "the nearest image may change and σ is too small: compare nearer pairs, or follow "
            "sites through the walls (unwrap=True)",
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


def check_pairs(objects: Objects, pairs: Pairs) -> None:
    """Refuse what cannot be measured: one snapshot, or pairs of other objects.

    Parameters
    ----------
    objects : Objects
        What is compared.
    pairs : Pairs
        Who with whom.
    """
    require_snapshots(objects.ensemble)
    if pairs.n_objects != len(objects):
        raise ValueError(
            f"pairs were chosen among {pairs.n_objects} objects, but there are {len(objects)}"
        )


def require_objects_and_pairs(objects: Any, pairs: Any, step: str) -> None:
    """Refuse what is no objects or pairs, and say how they are made.

    Parameters
    ----------
    objects : Any
        What the user passed as objects.
    pairs : Any
        What the user passed as pairs.
    step : str
        Which step needs both.
    """
    require_objects(objects, step)
    remedy = "pass timme.pairs.all(objects), those within a radius, or given(objects, index)"
    require(pairs, Pairs, f"{step}, as its second argument,", {"other": remedy})


def key_of_objects(objects: Objects, pairs: Pairs, choices: list[str], run: Run) -> str:
    """Return a fingerprint of all on which σ of pairs of objects depends.

    Parameters
    ----------
    objects : Objects
        What is compared.
    pairs : Pairs
        Who with whom.
    choices : list of str
        What else was chosen.
    run : Run
        Of which the result is kept.

    Returns
    -------
    str
        Text without meaning.
    """
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


def _sum(crossing: Crossing, metric: Metric | None, run: Run) -> Moments:
    return moments(crossing.ensemble, crossing.site_pairs, metric=metric, run=run)


def _state(so_far: Callable[[], Fluctuations], n_near: int, n_measured: int, chunk: int) -> State:
    """All that is known of the pieces that are finished."""
    found = so_far()
    counts = {"near": n_near, "measured": n_measured, "chunk": chunk}
    return counts | {"pairs": found.pairs, "sigma": found.sigma, "common": found.common}


def _recall(objects: Objects, unit: str, kept: Arrays) -> tuple[Fluctuations, int, int, int]:
    """What stands for finished pieces, its pairs near half the box, those measured, a piece's."""
    index = take(kept, "pairs", np.int64, (None, 2), below=len(objects))
    sigma = take(kept, "sigma", np.float64, index.shape[:1])
    common = take(kept, "common", np.int64, index.shape[:1])
    n_near, n_measured, chunk = (
        int(take(kept, name, np.int64)) for name in ("near", "measured", "chunk")
    )
    if chunk < 1:
        raise ValueError(f"pieces of {chunk} pairs")
    found = Fluctuations(len(objects), frozen(index), frozen(sigma), frozen(common), unit)
    return found, n_near, n_measured, chunk


def _join(parts: list[Fluctuations]) -> Fluctuations:
    if len(parts) == 1:
        return parts[0]
    return replace(
        parts[0],
        pairs=frozen(np.concatenate([part.pairs for part in parts])),
        sigma=frozen(np.concatenate([part.sigma for part in parts])),
        common=frozen(np.concatenate([part.common for part in parts])),
    )
