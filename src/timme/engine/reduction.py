"""The one reduction: moments of the distances of pairs, over all snapshots or parts of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import islice
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from timme._arrays import Ints
from timme.engine.checkpoint import DEFAULT, Arrays, Run
from timme.engine.moments import LaidOut, Metric, Moments, known_metric
from timme.engine.workers import Cluster, Engine, latest, read_ahead
from timme.ensemble import Ensemble
from timme.ensemble.frames import ArraySource, Source

Kept = tuple[npt.NDArray[Any], ...]
Reduce = Callable[[int, slice, Moments], Kept]

_TILE = 32_768  # pairs that one worker takes at a time, at most
_PLAIN = (str, bytes, int, float, complex, range, frozenset, type(None), Path, np.generic)
_NOTHING = ArraySource(np.empty((0, 0, 0)), None, np.empty(0))  # for a source sent by itself


def moments(
    ensemble: Ensemble,
    pairs: Ints,
    parts: Sequence[range] | None = None,
    *,
    reduce: Reduce = lambda *given: given[-1].arrays,
    metric: Metric | None = None,
    run: Run = DEFAULT,
) -> list[Kept]:
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
    parts : sequence of range, optional
        Runs of consecutive snapshots; they may overlap and leave some out. All snapshots by
        default. Blocks in no part are not read.
    reduce : callable, optional
        Called with the number of a part, a tile of the pairs and its moments when these are
        complete, in several threads. It returns a tuple of arrays: all that is kept, for after an
        interruption it is not called again. The arrays of :class:`Moments` by default.
    metric : callable or str, optional
        Distance, as for :func:`timme.measure`.
    run : Run, optional
        How it is carried out.

    Returns
    -------
    list of tuple of ndarray
        What is kept of each part, of all tiles joined along the first axis.
    """
    parts = [range(ensemble.n_snapshots)] if parts is None else parts
    metric = known_metric(metric, ensemble)
    sums = _Sums(ensemble, np.ascontiguousarray(pairs), metric, reduce)
    pieces = _cut(ensemble, parts)
    given = ensemble, pairs, metric, reduce, parts
    with run.loop("moments", lambda: fingerprint(given), total=pieces[-1].stop) as loop:
        sums.restore(loop.kept)
        left = [piece for piece in pieces if piece.stop > loop.done]
        measure = sums.by_tasks if isinstance(run.engine, Cluster) else sums.here
        with closing(measure(run.engine, left)) as measured:
            for piece in left:
                sums.add(piece, measured)
                loop.advance(piece.stop, sums.state)
    return [sums.held[number] for number in range(len(parts))]


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
    """Of each part: its moments so far, or what is kept of them when it has ended."""

    ensemble: Ensemble
    pairs: Ints
    metric: Metric | None
    reduce: Reduce
    held: dict[int, Kept] = field(default_factory=dict)  # by the number of the part

    def state(self) -> Arrays:
        """Return all arrays by name, as they are saved."""
        held = self.held.items()
        return {f"{part} {k}": array for part, arrays in held for k, array in enumerate(arrays)}

    def restore(self, saved: Arrays) -> None:
        """Go on from such arrays."""
        for name, array in saved.items():
            number = int(name.split()[0])
            self.held[number] = (*self.held.get(number, ()), array)

    def add(self, piece: _Piece, measured: Iterator[Iterable[list[Kept]]]) -> None:
        """Merge what is measured next, and keep what all tiles gave for the parts that end."""
        for number in set(piece.parts) - self.held.keys() - set(piece.ended):
            self.held[number] = Moments.empty(len(self.pairs)).arrays
        self.held.update(zip(piece.ended, self._join(next(measured)), strict=True))

    def _join(self, tiles: Iterable[list[Kept]]) -> list[Kept]:
        """Join what tiles give for each part, copied as it comes.

        If the first waited for the last, each would need new pages of memory, and mapping these
        takes a third of the time of measuring.
        """
        rooms, ends, kept = list[npt.NDArray[Any]](), list[int](), list[Kept]()
        for kept in tiles:
            columns = [array for arrays in kept for array in arrays]
            if not rooms:
                rooms = [np.empty((len(self.pairs), *one.shape[1:]), one.dtype) for one in columns]
                ends = [0] * len(columns)
            for k, column in enumerate(columns):
                rooms[k][ends[k] : ends[k] + len(column)] = column
                ends[k] += len(column)
        joined = (room[:end] for room, end in zip(rooms, ends, strict=True))
        return [tuple(islice(joined, len(arrays))) for arrays in kept]

    def here(self, engine: Engine, pieces: list[_Piece]) -> Generator[Iterable[list[Kept]]]:
        """Read one block after another; threads measure, merge and reduce its tiles."""
        tiles = self._tiles(pieces, len(self.pairs) // 16)

        def fold(shared: tuple[LaidOut, _Piece], tile: slice) -> list[Kept]:
            laid_out, piece = shared
            found = laid_out.measure(self.pairs[tile], piece.frames)
            return self._fold(piece, tile, [one.arrays for one in found])

        with closing(read_ahead(self.ensemble, [piece.start for piece in pieces])) as blocks:
            for piece in pieces:
                shared = LaidOut(next(blocks), self.metric), piece
                yield engine.map(fold, shared, tiles)

    def by_tasks(self, engine: Engine, pieces: list[_Piece]) -> Generator[Iterable[list[Kept]]]:
        """Measure tiles of pairs in blocks as tasks; merge and reduce them here."""
        # As few tasks for a block as keep all workers at work, for each of them reads it.
        tiles = self._tiles(pieces, len(self.pairs) * len(pieces) // (4 * engine.count))
        tasks = ((piece, tile) for piece in pieces for tile in tiles)
        shared = *apart(self.ensemble), self.metric, self.pairs
        with closing(engine.map(_measure, shared, tasks)) as results:
            for piece in pieces:
                yield [self._fold(piece, tile, next(results)) for tile in tiles]

    def _tiles(self, pieces: list[_Piece], wished: int) -> list[slice]:
        """Cut the pairs; the more parts are in a block, the more moments belong to a pair."""
        most = _TILE // max((len(piece.parts) for piece in pieces), default=1)
        length, n_pairs = max(2048, min(most, wished)), len(self.pairs)
        return [slice(first, first + length) for first in range(0, max(1, n_pairs), length)]

    def _fold(self, piece: _Piece, tile: slice, found: list[Kept]) -> list[Kept]:
        """Merge what was found for a tile in a block; reduce it for the parts that end in it."""
        reduced = []
        for number, arrays in zip(piece.parts, found, strict=True):
            whole = one = Moments(*arrays)
            if number in self.held:
                whole = Moments(*self.held[number]).part(tile)
                whole.add(one)
            if number in piece.ended:
                reduced.append(self.reduce(number, tile, whole))
        return reduced


def apart(ensemble: Ensemble) -> tuple[Source, Ensemble]:
    """Take an ensemble off its source, which is one object for all calls, and so is sent once."""
    return ensemble.frames.source, replace(ensemble, frames=ensemble.frames.over(_NOTHING))


def together(source: Source, bare: Ensemble) -> Ensemble:
    """Put an ensemble on its source again."""
    return replace(bare, frames=bare.frames.over(source))


def _measure(
    shared: tuple[Source, Ensemble, Metric | None, Ints], task: tuple[_Piece, slice]
) -> list[Kept]:
    """Measure a tile of pairs in a block, in a worker, which keeps the block it laid out last."""
    (source, bare, metric, pairs), (piece, tile) = shared, task
    laid_out = latest(_lay_out, source, bare, piece.start, metric)
    return [one.arrays for one in laid_out.measure(pairs[tile], piece.frames)]


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
