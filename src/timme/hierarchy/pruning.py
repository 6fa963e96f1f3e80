"""Give up pairs early: find the few of all pairs that may still change a hierarchy of candidates.

The sum of squared deviations over some frames never exceeds that over all. So a pair can be given
up as soon as its sum over a few frames passes the bound at which it could still matter. In the leaf
order of the candidates' hierarchy, two objects are joined at the highest gap between them, and only
a pair with a lower σ can change anything: this gap, as a sum of squares, is the bound.

The layout serves this loop. Objects stand in leaf order, where the bound of a pair is a running
maximum of gaps that is never looked up. Their sites lie side by side in tiles, frame by frame, so
that vector units take one frame of many partners at a time. The frames are some of all, in single
precision, in an order in which the first few are spread over the whole run: slow motions show in
them, and most pairs are given up there. A band of objects, its partners being those of the same and
of later bands, is what one worker takes at a time.

A pair may survive in vain, for what survives is measured elsewhere in the ordinary way. But none
may be given up wrongly: bounds are raised by all that rounding and single precision could do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np

from timme._arrays import Floats, Ints
from timme._kernels import pruning as kernel
from timme._kernels import stretches
from timme._kernels.space import OPEN, STRAIGHT
from timme.engine.moments import Metric, PreparedBlock
from timme.engine.threads import Threads
from timme.hierarchy.stretches import Singles, Stretches, lay_out_stretches
from timme.objects import Objects
from timme.system.ensemble import Ensemble
from timme.system.space import Boxes

SEARCH_BYTES = 400_000_000  # coordinates in which pairs are given up
LEAST_FRAMES = 32  # of them, however many sites there are
_GROUP_FRAMES = 64  # of groups, whose sums have no stages
_BAND_SITES = 8 * kernel.LANES  # of groups in a band: as many squared sums are held by each thread
_ROOM = 4 * kernel.LANES**2  # pairs of points that are listed at a time: a tile has a quarter
_SMALL = 1e-12  # coordinates whose squares would be lost in single precision
_FAINT = 1e-25  # weights, of the largest, that would
_MARGIN = 1 + 2e-3  # above the rounding of σ: see step 5 of the kernel
_UNIT = 2.0**-24  # by which a step in single precision rounds, at most


class CannotBePrunedError(Exception):
    """Why all pairs are measured to the end."""


class _InBoxError(Exception):
    """Sites in a periodic box have no mean places."""


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """What every band of objects needs to find the pairs that may matter."""

    tiles: Singles  # (tiles, frames, dimensions, lanes)
    lengths: Singles  # (frames, dimensions), of the box; 0 where it is open
    weights: Singles  # (frames,)
    bounds: Singles  # (objects - 1,), on sums of squared deviations
    slacks: Singles  # (tiles, lanes), share of a site in the error of a distance
    starts: Ints  # (bands + 1,), first object of each band, in leaf order
    groups: Groups | None  # None for points, which are the sites of the tiles in leaf order

    @property
    def n_bands(self) -> int:
        """Number of bands."""
        return len(self.starts) - 1


@dataclass(frozen=True, slots=True, eq=False)
class OpenSearch:
    """The same for points in open space."""

    places: Stretches
    errors: tuple[Singles, Singles]  # (tiles, lanes) and (sites,), share in that of a distance
    roots: Singles  # (objects - 1,), of bounds on sums of squared deviations
    starts: Ints  # (bands + 1,), first object of each band, in leaf order

    @property
    def n_bands(self) -> int:
        """Number of bands."""
        return len(self.starts) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Groups in leaf order, a band of them to some tiles of sites."""

    starts: Ints  # (bands + 1,), first group of each band
    begin: Ints  # (bands + 1,), first tile of each band
    offsets: Ints  # (groups + 1,)
    members: Ints  # members of each group, numbered within the tiles of its band
    largest: bool  # reduced to the largest of cross pairs, not to their mean


def refuse_what_cannot_be_pruned(objects: Objects, metric: Metric | None) -> None:
    """Refuse objects of which no pair can be given up early.

    Parameters
    ----------
    objects : Objects
        What is compared.
    metric : callable or None
        Distance, Euclidean if None.

    Raises
    ------
    CannotBePrunedError
        If a sum over some frames would say nothing of all, or the loops do not know the distance.
    """
    if metric is not None:
        raise CannotBePrunedError("the distance is the user's own")
    if len(objects.rigid):
        raise CannotBePrunedError("some pairs of sites count as rigid")
    if objects.ensemble.gaps:
        raise CannotBePrunedError("some sites are not seen in every snapshot")
    _, box = objects.ensemble.snapshot(0)
    _usable_boxes(None if box is None else box[None], objects.ensemble, 1)


def lay_out(
    objects: Objects,
    order: Ints,
    gaps: Floats,
    *,
    prepared: PreparedBlock | None = None,
    threads: Threads | None = None,
) -> Search | OpenSearch:
    """Lay out some of the frames as the search for pairs that may matter needs them.

    Parameters
    ----------
    objects : Objects
        What is compared.
    order : ndarray of int, shape (objects,)
        Objects in leaf order of the candidates' hierarchy.
    gaps : ndarray, shape (objects - 1,)
        Heights at which neighbours in that order are joined.
    prepared : PreparedBlock, optional
        All snapshots of points, where they are laid out already and in open space.
    threads : Threads, optional
        Who does it.

    Returns
    -------
    Search or OpenSearch
        What every band of objects needs.
    """
    if not objects.are_points:
        return _lay_out_frames(objects.ensemble, gaps, *_lay_out_groups(objects, order))
    centres = objects.centres()
    if centres.n_dimensions == 3:
        with suppress(_InBoxError):
            blocks = _open_blocks(centres) if prepared is None else [prepared.xyz]
            return _lay_out_in_space(centres, blocks, order, gaps, threads or Threads())
    return _lay_out_frames(centres, gaps, order, None)


def find_survivors(search: Search | OpenSearch, band: int) -> Ints:
    """Find the pairs of a band with objects of the same and of later bands that may matter.

    Parameters
    ----------
    search : Search or OpenSearch
        What all bands need.
    band : int
        Which band.

    Returns
    -------
    ndarray, shape (pairs, 2)
        Pairs of places in leaf order; all that are missing cannot change the hierarchy.
    """
    if isinstance(search, OpenSearch):
        return _list_by_tiles(partial(_find_in_space, search, band), band, len(search.places.tiles))
    if search.groups is not None:
        return _groups(search, search.groups, band)
    return _list_by_tiles(partial(_find, search, band), band, len(search.tiles))


def _list_by_tiles(find: Callable[..., tuple[int, int]], band: int, n_tiles: int) -> Ints:
    """List pairs of points, as many at a time as there is room for."""
    running = np.zeros(kernel.LANES, np.float32)
    room = np.empty((_ROOM, 2), np.int64)
    found, tile = list[Ints](), band
    while tile < n_tiles:
        total, tile = find(tile, running, room)
        found.append(room[:total].copy())
    return np.concatenate(found)


def _find(search: Search, band: int, tile: int, running: Singles, room: Ints) -> tuple[int, int]:
    """Find pairs in any box; return how many, and the tile to go on with."""
    totals = np.cumsum(search.weights, dtype=np.float32)
    frames = search.lengths, search.weights, totals
    bounds = search.bounds, search.slacks, search.starts[-1]
    total, tile = kernel.survivors(search.tiles, *frames, *bounds, band, tile, running, room)
    return total, tile


def _find_in_space(
    search: OpenSearch, band: int, tile: int, running: Singles, room: Ints
) -> tuple[int, int]:
    """The same in open space."""
    places = search.places
    of_tiles, of_sites = zip(places.swings, search.errors, strict=True)
    total, tile = stretches.survivors(
        places.tiles,
        places.tile_weights,
        *of_tiles,
        places.looks,
        places.weights,
        places.totals,
        places.lightest,
        *of_sites,
        search.roots,
        band,
        tile,
        running,
        room,
    )
    return total, tile


def _groups(search: Search, groups: Groups, band: int) -> Ints:
    """Find pairs of groups; where there are more than expected, once more with room for them."""
    room = 1 << 14
    while True:
        found = np.empty((room, 2), np.int64)
        total = kernel.group_survivors(
            search.tiles,
            search.starts,
            groups.begin,
            search.lengths,
            search.weights,
            search.bounds,
            search.slacks,
            groups.offsets,
            groups.members,
            groups.largest,
            band,
            found,
        )
        if total <= room:
            return found[:total].copy()
        room = total


def spread(n_frames: int) -> Ints:
    """Order frames so that the first few are far apart, and sums over them grow quickly.

    Parameters
    ----------
    n_frames : int
        Number of frames.

    Returns
    -------
    ndarray, shape (frames,)
        All of them, by the mirrored bits of their numbers: 0, the middle, the quarters and so on.
    """
    bits = max(1, int(n_frames - 1).bit_length())
    numbers = np.arange(1 << bits)
    mirrored = np.zeros_like(numbers)
    for bit in range(bits):
        mirrored |= ((numbers >> bit) & 1) << (bits - 1 - bit)
    spread: Ints = mirrored[mirrored < n_frames]
    return spread


def _usable_boxes(matrices: Floats | None, ensemble: Ensemble, n_frames: int) -> Boxes:
    """Boxes of some frames, if they are such that pairs can be given up in them."""
    boxes = Boxes.of(matrices, n_frames, ensemble.n_dimensions, ensemble.images)
    if boxes.kind not in {OPEN, STRAIGHT}:
        raise CannotBePrunedError("the box is tilted")
    if boxes.kind == STRAIGHT and (len(boxes.molecules) or len(boxes.origin)):
        raise CannotBePrunedError("molecules are whole in the box")
    return boxes


def _lay_out_groups(objects: Objects, order: Ints) -> tuple[Ints, Groups]:
    """Lay the sites of groups out in tiles, those of a band of groups together, each site once."""
    sizes = np.diff(objects.offsets)[order]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    members, sites, starts, begin = [], [], [0], [0]
    steps = range(0, len(order), kernel.LANES)
    waiting = [(start, min(start + kernel.LANES, len(order))) for start in reversed(steps)]
    while waiting:
        start, stop = waiting.pop()
        band = [objects.sites(k) for k in order[start:stop].tolist()]
        unique, local = np.unique(np.concatenate(band), return_inverse=True)
        if len(unique) > _BAND_SITES and stop - start > 1:
            middle = (start + stop) // 2
            waiting += [(middle, stop), (start, middle)]
            continue
        n_tiles = -(-len(unique) // kernel.LANES)
        members.append(local)
        sites.append(np.pad(unique, (0, n_tiles * kernel.LANES - len(unique)), mode="edge"))
        starts.append(stop)
        begin.append(begin[-1] + n_tiles)
    largest = objects.reduction == "max"
    bands = np.array(starts), np.array(begin)
    return np.concatenate(sites), Groups(*bands, offsets, np.concatenate(members), largest)


def _open_blocks(ensemble: Ensemble) -> Iterator[Floats]:
    """Blocks of snapshots in open space, the frames of a site next to one another."""
    _, box = ensemble.snapshot(0)
    if _usable_boxes(None if box is None else box[None], ensemble, 1).kind != OPEN:
        raise _InBoxError  # before a block is read
    for block in ensemble.blocks():
        if _usable_boxes(block.boxes, ensemble, len(block.weights)).kind != OPEN:
            raise _InBoxError
        yield np.ascontiguousarray(block.coordinates.transpose(1, 2, 0))


def _lay_out_in_space(
    ensemble: Ensemble, blocks: Iterable[Floats], order: Ints, gaps: Floats, threads: Threads
) -> OpenSearch:
    """Lay out places of points in open space of three dimensions."""
    weights, total = _scale_weights(ensemble)
    place = _place(_choose_frames(ensemble, len(order)), len(weights))
    laid_out = lay_out_stretches(blocks, order, weights, place, threads)
    _refuse_small(laid_out.largest / laid_out.scale)
    errors = _errors(laid_out.largest, 3)
    n_tiles, _, _, n_lanes = laid_out.tiles.shape
    padded = np.pad(errors, (0, n_tiles * n_lanes - len(errors))).reshape(n_tiles, n_lanes)
    with np.errstate(over="ignore"):
        roots = (gaps * laid_out.scale * np.sqrt(total * _MARGIN)).astype(np.float32)
    starts = np.minimum(np.arange(n_tiles + 1) * n_lanes, len(order))
    return OpenSearch(laid_out, (padded, errors), _positive_where(gaps, roots), starts)


def _lay_out_frames(ensemble: Ensemble, gaps: Floats, sites: Ints, groups: Groups | None) -> Search:
    """Lay out the frames in which pairs are given up: sites side by side, spread frames first."""
    n_frames, _, n_dimensions = ensemble.frames.shape
    n_tiles = -(-len(sites) // kernel.LANES)
    n_lanes = n_tiles * kernel.LANES
    chosen = _choose_frames(ensemble, n_lanes)[: None if groups is None else _GROUP_FRAMES]
    place = _place(chosen, n_frames)
    weights, total = _scale_weights(ensemble)
    tiles = np.empty((n_tiles, len(chosen), n_dimensions, kernel.LANES), np.float32)
    lengths = np.zeros((len(chosen), n_dimensions), np.float32)
    padded = np.pad(sites, (0, n_lanes - len(sites)), mode="edge")
    largest = np.zeros((n_tiles, kernel.LANES))
    for block in ensemble.blocks():
        boxes = _usable_boxes(block.boxes, ensemble, len(block.weights))
        for frame in np.flatnonzero(place[block.start : block.start + len(block.weights)] >= 0):
            rank = place[block.start + frame]
            sides = np.diag(boxes.matrices[frame]).copy()
            lengths[rank] = sides
            points = np.array(block.coordinates[frame])
            kernel.lay_out(points, padded, sides, rank, tiles, largest)
    _refuse_small(largest)
    with np.errstate(over="ignore"):
        bounds = (gaps**2 * total * _MARGIN).astype(np.float32)
    starts = np.minimum(np.arange(n_tiles + 1) * kernel.LANES, len(sites))
    return Search(
        tiles,
        lengths,
        weights[chosen].astype(np.float32),
        _positive_where(gaps, bounds),
        _errors(largest, n_dimensions),
        starts if groups is None else groups.starts,
        groups,
    )


def _choose_frames(ensemble: Ensemble, n_sites: int) -> Ints:
    """Choose frames that are held, spread ones first."""
    affordable = SEARCH_BYTES // (4 * n_sites * ensemble.n_dimensions)
    held = min(kernel.MOST_FRAMES, max(LEAST_FRAMES, affordable))
    return spread(ensemble.n_snapshots)[:held]


def _place(chosen: Ints, n_frames: int) -> Ints:
    """Place of each frame among those that are held, or -1."""
    place = np.full(n_frames, -1)
    place[chosen] = np.arange(len(chosen))
    return place


def _scale_weights(ensemble: Ensemble) -> tuple[Floats, float]:
    """Weights of frames in units of the largest, without those too faint to count; and of all."""
    if ensemble.weights is None:
        return np.ones(ensemble.n_snapshots), float(ensemble.n_snapshots)
    scaled = ensemble.weights / (ensemble.weights.max() or 1.0)
    return np.where(scaled < _FAINT, 0.0, scaled), float(scaled.sum())


def _refuse_small(largest: Floats) -> None:
    if 0.0 < largest.max() < _SMALL:
        raise CannotBePrunedError("coordinates are too small for single precision")


def _positive_where(gaps: Floats, bounds: Singles) -> Singles:
    """Bounds that nothing is below where there is no gap, and there only."""
    return np.where(gaps > 0, np.maximum(bounds, np.finfo(np.float32).tiny), np.float32(0.0))


def _errors(largest: Floats, n_dimensions: int) -> Singles:
    """Share of each site in the largest error of a distance.

    Each coordinate is rounded, each difference and square root again: a few units of 2⁻²⁴; and
    squares of less than the square root of the smallest number are lost.
    """
    rounding = (9 + n_dimensions) * _UNIT
    errors = np.sqrt(n_dimensions) * (rounding * largest + np.sqrt(np.finfo(np.float32).tiny))
    shares: Singles = errors.astype(np.float32)
    return shares
