"""The one reduction: moments of the distances of pairs, over all snapshots or parts of them."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from timme._arrays import Ints
from timme.engine.checkpoint import DEFAULT, Run
from timme.engine.moments import LaidOut, Metric, Moments, known_metric
from timme.engine.workers import Cluster, Engine, latest, read_ahead
from timme.ensemble import Ensemble
from timme.ensemble.frames import ArraySource, Source

Reduce = Callable[[int, slice, Moments], object]

_TILE = 32_768  # pairs that one worker takes at a time, at most
_PLAIN = (str, bytes, int, float, complex, range, frozenset, type(None), Path, np.generic)
_NOTHING = ArraySource(np.empty((0, 0, 0)), None, np.empty(0))  # for a source sent by itself


def moments(ensemble: Ensemble, pairs: Ints, metric: Metric | None = None) -> Moments:
    """Return the moments of the distances of pairs of sites (pairs, 2) over all snapshots."""
    whole = Moments.empty(len(pairs))

    def keep(_part: int, tile: slice, found: Moments) -> None:
        whole.part(tile).add(found)

    reduce_moments(ensemble, pairs, keep, metric=metric)
    return whole


def reduce_moments(
    ensemble: Ensemble,
    pairs: Ints,
    reduce: Reduce,
    parts: Sequence[range] | None = None,
    *,
    metric: Metric | None = None,
    run: Run = DEFAULT,
) -> None:
    """Sum the distances of pairs of sites over all snapshots, or over each of some parts of them.

    One block of snapshots after another is read, each while the one before it is measured. Workers
    share its pairs, tile by tile, and blocks are merged in their order: results have the same bits
    whoever does the work, and wherever it was interrupted. Moments of all pairs are held only of
    parts that lie in several blocks.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    pairs : ndarray of int, shape (pairs, 2)
        Pairs of sites.
    reduce : callable
        Called with the number of a part, a tile of the pairs and its moments when these are
        complete, in several threads.
    parts : sequence of range, optional
        Runs of consecutive snapshots; they may overlap and leave some out. All snapshots by
        default. Blocks in no part are not read. A run with parts is not saved.
    metric : callable or str, optional
        Distance, as for :func:`timme.measure`.
    run : Run, optional
        How it is carried out.
    """
    metric, pairs = known_metric(metric, ensemble), np.ascontiguousarray(pairs)
    if parts is not None:
        run = replace(run, checkpoint=None)
    pieces = _cut(ensemble, [range(ensemble.n_snapshots)] if parts is None else parts)
    given = ensemble, pairs, metric
    key = lambda: f"{fingerprint(ensemble)} {fingerprint(pairs, metric)}"  # noqa: E731
    with run.loop("moments", key, total=pieces[-1].stop) as loop:
        # What `reduce` was given at the end is not saved: a loop that ended begins anew.
        held = {0: Moments(**loop.kept)} if loop.kept else {}
        left = [piece for piece in pieces if not held or piece.stop > loop.done]
        with closing(_Sums(*given, reduce, held).follow(left, run.engine)) as measured:
            for piece in measured:
                loop.advance(piece.stop, lambda: held[0]._asdict() if held else {})


class _Piece(NamedTuple):
    """A block, and which of its frames are in parts."""

    start: int
    stop: int
    parts: list[int]  # numbers of the parts that have frames in the block
    frames: list[slice]  # of each of these, in the block
    ended: list[int]  # numbers of the parts that end in the block


def _cut(ensemble: Ensemble, parts: Sequence[range]) -> list[_Piece]:
    """List the blocks that are in some part."""
    n_snapshots, pieces = ensemble.n_snapshots, list[_Piece]()
    good = [part.step == 1 and 0 <= part.start < part.stop <= n_snapshots for part in parts]
    if not (good and all(good)):
        raise ValueError(f"parts= needs ranges within 0 to {n_snapshots}, got {[*parts]}")
    for start in range(0, n_snapshots, ensemble.block_length):
        stop = min(start + ensemble.block_length, n_snapshots)
        inside = [k for k, part in enumerate(parts) if part.start < stop and part.stop > start]
        frames = [slice(max(parts[k].start - start, 0), parts[k].stop - start) for k in inside]
        if inside:
            ended = [k for k in inside if parts[k].stop <= stop]
            pieces.append(_Piece(start, stop, inside, frames, ended))
    return pieces


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """Measures pieces one after another, and holds the moments of parts that go on."""

    ensemble: Ensemble
    pairs: Ints
    metric: Metric | None
    reduce: Reduce
    held: dict[int, Moments]  # by the number of the part

    def follow(self, pieces: list[_Piece], engine: Engine) -> Generator[_Piece]:
        """Yield each piece when its tiles are measured, merged and reduced.

        Threads do all of it, block by block. Workers of a cluster only measure, and read the
        blocks themselves.
        """
        n_pairs = len(self.pairs)
        coming: Any  # moments of tiles, or blocks
        if isinstance(engine, Cluster):
            # As few tasks for a block as keep all workers at work, for each of them reads it.
            tiles = self._tiles(pieces, n_pairs * len(pieces) // (4 * engine.count))
            tasks = ((piece, tile) for piece in pieces for tile in tiles)
            given = *apart(self.ensemble), self.metric, self.pairs
            coming = engine.map(_measure, given, tasks)
        else:
            tiles = self._tiles(pieces, n_pairs // 16)
            coming = read_ahead(self.ensemble, [piece.start for piece in pieces])
        with closing(coming):
            for piece in pieces:
                for number in set(piece.parts) - self.held.keys() - set(piece.ended):
                    self.held[number] = Moments.empty(n_pairs)
                if isinstance(engine, Cluster):
                    for tile in tiles:
                        self._add(piece, tile, next(coming))
                else:
                    shared = LaidOut(next(coming), self.metric), piece
                    deque(engine.map(self._measure_here, shared, tiles), maxlen=0)
                for number in piece.ended:
                    self.held.pop(number, None)
                yield piece

    def _tiles(self, pieces: list[_Piece], wished: int) -> list[slice]:
        """Cut the pairs; the more parts are in a block, the more moments belong to a pair."""
        most = _TILE // max((len(piece.parts) for piece in pieces), default=1)
        length, n_pairs = max(2048, min(most, wished)), len(self.pairs)
        return [slice(first, first + length) for first in range(0, max(1, n_pairs), length)]

    def _measure_here(self, shared: tuple[LaidOut, _Piece], tile: slice) -> None:
        laid_out, piece = shared
        self._add(piece, tile, laid_out.measure(self.pairs[tile], piece.frames))

    def _add(self, piece: _Piece, tile: slice, found: list[Moments]) -> None:
        """Merge what was found for a tile in a block; reduce it for the parts that end in it."""
        for number, one in zip(piece.parts, found, strict=True):
            whole = one
            if number in self.held:
                whole = self.held[number].part(tile)
                whole.add(one)
            if number in piece.ended:
                self.reduce(number, tile, whole)


def apart(ensemble: Ensemble) -> tuple[Source, Ensemble]:
    """Take an ensemble off its source, which is one object for all calls, and so is sent once."""
    return ensemble.frames.source, replace(ensemble, frames=ensemble.frames.over(_NOTHING))


def together(source: Source, bare: Ensemble) -> Ensemble:
    """Put an ensemble on its source again."""
    return replace(bare, frames=bare.frames.over(source))


def _measure(
    shared: tuple[Source, Ensemble, Metric | None, Ints], task: tuple[_Piece, slice]
) -> list[Moments]:
    """Measure a tile of pairs in a block, in a worker, which keeps the block it laid out last."""
    (source, bare, metric, pairs), (piece, tile) = shared, task
    laid_out = latest(_lay_out, source, bare, piece.start, metric)
    return laid_out.measure(pairs[tile], piece.frames)


def _lay_out(source: Source, bare: Ensemble, start: int, metric: Metric | None) -> LaidOut:
    return LaidOut(together(source, bare).block(start), metric)


def fingerprint(*things: object) -> str:
    """Return a text that is the same, in any process, only for things of the same content.

    Arrays count with all their values, functions by their code and what it encloses, dataclasses
    by their fields. An object that is neither of these nor plain is like no other.
    """
    made = hashlib.sha256()
    _feed(made.update, things)
    return made.hexdigest()


def _feed(update: Callable[[Any], None], thing: Any) -> None:
    parts: list[Any] = []
    if isinstance(thing, np.ndarray):
        parts = [thing.dtype.str, thing.shape]
        update(np.ascontiguousarray(thing).reshape(-1).view(np.uint8))
    elif isinstance(thing, dict | list | tuple):
        parts = [*thing.items()] if isinstance(thing, dict) else [*thing]
    elif isinstance(thing, FunctionType):
        enclosed = [cell.cell_contents for cell in thing.__closure__ or ()]
        parts = [thing.__code__, thing.__defaults__, *enclosed]
    elif isinstance(thing, CodeType):
        parts = [thing.co_code, thing.co_consts, thing.co_names]
    elif is_dataclass(thing) and not isinstance(thing, type):
        parts = [getattr(thing, one.name) for one in fields(thing)]
    else:  # the repr of other objects may not show all that is in them, but their address is safe
        update((repr if isinstance(thing, _PLAIN) else object.__repr__)(thing).encode())
    update(f"{type(thing).__qualname__} {len(parts)}".encode())
    for part in parts:
        _feed(update, part)
