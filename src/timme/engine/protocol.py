"""What every engine can do: merge blocks of frames, go through them, and do work in tiles."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

from timme._arrays import Ints
from timme.engine.moments import Merge, Metric, Piece
from timme.system.blocks import Block
from timme.system.ensemble import Ensemble


class Window(Protocol):
    """Some snapshots of a block, made ready for work that is cut into tiles."""

    @property
    def stop(self) -> int:
        """The first snapshot after it."""

    @property
    def tiles(self) -> Sequence[Any]:
        """What each call needs."""


@runtime_checkable
class Engine(Protocol):
    """What does the work: threads of this process, or a cluster of computers.

    Whatever does it, blocks are merged in their order, so that results are the same to the last
    bit.
    """

    @property
    def threads_here(self) -> int:
        """Threads of this process that share the work; 1 if it is done elsewhere."""

    def merges(
        self, ensemble: Ensemble, pairs: Ints, metric: Metric | None, pieces: Sequence[Piece]
    ) -> Generator[Merge]:
        """Measure pieces; yield, for each in order, a function that merges it into moments.

        Each is called once, before the next is asked for: pieces may share memory. Those of one
        block follow one another, so that it is read once.

        Parameters
        ----------
        ensemble : Ensemble
            Snapshots.
        pairs : ndarray, shape (pairs, 2)
            Pairs of sites.
        metric : callable or None
            Distance, Euclidean if None.
        pieces : sequence of Piece
            Blocks, or runs of snapshots within them.

        Yields
        ------
        callable
            Takes the moments of the pieces before, one for each part of the snapshots that the
            piece belongs to, and changes them; it is measured once.
        """

    def blocks(
        self,
        function: Callable[[Any, Block], Any],
        shared: object,
        ensemble: Ensemble,
        starts: Sequence[int],
    ) -> Generator[Iterable[Any]]:
        """Yield, for each block in order, ``function(shared, part)`` of each of its parts in order.

        All of them are taken before the next block is asked for.

        Parameters
        ----------
        function : callable
            A function of a module, so that it can be sent elsewhere.
        shared : object
            What all calls need, sent once.
        ensemble : Ensemble
            Snapshots.
        starts : sequence of int
            First snapshots of the blocks.

        Yields
        ------
        iterable
            Results for the parts of a block: runs of consecutive snapshots.
        """

    def tiles(
        self,
        prepare: Callable[[Any, Block], Iterable[Window]],
        function: Callable[[Any, Any], Any],
        shared: object,
        ensemble: Ensemble,
        starts: Sequence[int],
    ) -> Generator[tuple[int, Iterable[Any]]]:
        """Yield, for each window of each block in order, ``function(window, tile)`` of its tiles.

        All of them are taken before the next window is asked for.

        Parameters
        ----------
        prepare : callable
            A function of a module that cuts a block, or a part of it, into windows:
            ``prepare(shared, block)``.
        function : callable
            A function of a module.
        shared : object
            What all blocks need, sent once.
        ensemble : Ensemble
            Snapshots.
        starts : sequence of int
            First snapshots of the blocks.

        Yields
        ------
        stop : int
            The first snapshot after the window.
        results : iterable
            Results for the tiles of the window.
        """

    def map(
        self, function: Callable[[Any, Any], Any], shared: object, items: Sequence[Any]
    ) -> Generator[Any]:
        """Yield ``function(shared, item)`` for each item, in order.

        Parameters
        ----------
        function : callable
            A function of a module, so that it can be sent elsewhere.
        shared : object
            What all calls need, sent once.
        items : sequence
            What each call needs.

        Yields
        ------
        object
            What the function returned for the item.
        """
