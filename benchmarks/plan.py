"""What a thousand cores would do with a million sites and a million frames, without any data.

The engine's own code cuts the work and submits it to a client that computes nothing: it counts the
tasks, and the bytes that they take and give. All blocks but the last are alike, so that some of
them tell of all.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from benchmarks.results import Results, Row
from timme.engine.dask import Cluster, _measure, _prepare, _read, _runs
from timme.engine.moments import Moments
from timme.engine.reduction import _cut
from timme.system.ensemble import Ensemble

_CORES, _SITES, _FRAMES = 1_000, 1_000_000, 1_000_000
_PARTNERS = 50  # pairs of a site, in contact
_BLOCKS = 20  # that are walked through


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """What all tasks of a run come to."""

    tasks: int
    read: int  # bytes of frames that workers read
    returned: int  # bytes that come back to be merged
    held: int  # bytes of the blocks and results that one worker has at a time


def run(*, quick: bool) -> Results:
    """Count tasks and bytes of σ of contacts."""
    found = simulate(_CORES, _SITES, _FRAMES // (1_000 if quick else 1), _PARTNERS)
    name = f"plan: {_SITES:,} sites × {_FRAMES:,}, {_PARTNERS} partners, {_CORES:,} cores"
    limit = 8e9
    return Results(
        [
            Row(
                f"{name}: {found.tasks:,} tasks, {found.read / 1e12:.3g} TB read, "
                f"{found.returned / 1e12:.3g} TB returned; memory of a worker",
                f"{found.held / 1e9:.2g} GB",
                f"{limit / 1e9:.0f} GB",
                found.held / limit,
                at_most=1.0,
            )
        ]
    )


def simulate(
    cores: int, n_sites: int, n_frames: int, partners: int, *, blocks: int | None = _BLOCKS
) -> Sizes:
    """Walk through the tasks of some blocks, or of all, as the engine submits them; scale up."""
    ensemble = replace(
        Ensemble.from_array(np.zeros((2, n_sites, 1), np.float32)),
        frames=cast("Any", _NoFrames((n_frames, n_sites, 3))),
    )
    n_pairs = n_sites * partners // 2
    pieces = list(_cut(ensemble, [range(n_frames)]))
    some = pieces[:blocks]
    client = _Counting(cores, ensemble)
    runs = _runs(n_pairs, len(pieces), cores)
    lengths = [cast("Any", _NoPairs(min(part.stop, n_pairs) - part.start)) for part in runs]
    for _ in Cluster(cast("Any", client))._tasks(ensemble, lengths, None, some):  # noqa: SLF001
        pass
    scale = len(pieces) / len(some)
    return Sizes(
        tasks=len(runs) + round(scale * (client.tasks - len(runs) - 1)) + 1,
        read=round(scale * client.read),
        returned=round(scale * client.returned),
        held=client.largest_block + client.largest_result,
    )


@dataclass(frozen=True, slots=True)
class _NoFrames:
    """The shape of frames that nobody reads."""

    shape: tuple[int, int, int]

    def elsewhere(self) -> _NoFrames:
        return self


@dataclass(frozen=True, slots=True)
class _NoPairs:
    count: int


@dataclass(slots=True)
class _Counting:
    """A client that counts what it is asked for."""

    cores: int
    ensemble: Ensemble
    tasks: int = 0
    read: int = 0
    returned: int = 0
    largest_block: int = 0
    largest_result: int = 0
    _per_pair: int = field(default=0)

    def run(self, *_: object, **__: object) -> dict[str, str]:
        return {}

    def nthreads(self) -> dict[str, int]:
        return {"all": self.cores}

    def submit(self, function: Any, *arguments: Any, **_: object) -> Any:
        self.tasks += 1
        if function is _read:
            start = arguments[1]
            stop = min(start + self.ensemble.block_length, self.ensemble.n_snapshots)
            size = (stop - start) * self.ensemble.n_sites * 3 * 4
            self.read += size
            self.largest_block = max(self.largest_block, 3 * size)  # read, checked, laid out
        elif function is _measure:
            moments = Moments.empty(1)
            # Counts, weights and reaches are alike in open space, and sent as one number each.
            size = arguments[1].count * (moments.mean.itemsize + moments.m2.itemsize)
            self.returned += size
            held = arguments[1].count * sum(array.itemsize for array in moments.arrays)
            self.largest_result = max(self.largest_result, held + 16 * arguments[1].count)
        elif function is not _prepare:
            return arguments[0]
        return function
