"""How much memory a run needs, before it is taken, and how to stay within what is allowed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from timme import memory
from timme.allpairs import CHUNK, SEARCH_BYTES
from timme.ensemble import SINGLE_FROM, Ensemble
from timme.fluctuations import count_site_pairs
from timme.objects import Objects
from timme.pairs import Pairs

# Bytes for each pair, as measured: sums and copies of them while a piece is in hand; lists of pairs
# and σ that stay; and what it takes to sort them in the end, when there is no piece any more.
_PIECE = 90
_SITE_PAIR = 90
_KEPT = 50
_SORTED = 60
_OBJECT = 1_000  # tree, names, tables and figures, for each object
_CONTACT = 200  # for each pair found in contact so far, while they are counted
_REST = 80_000_000  # compiled kernels, drawing
_SMALLEST = 10_000  # pairs in a piece: fewer would be read for longer than measured
_SAMPLE = 2_000  # pairs of objects by which their pairs of sites are counted


@dataclass(frozen=True, slots=True)
class Plan:
    """Memory that a run needs, part by part, and the pairs it measures at a time."""

    parts: tuple[tuple[str, int], ...]  # what, and bytes
    chunk: int
    n_pieces: int

    @property
    def total(self) -> int:
        """Bytes needed in all."""
        return sum(size for _, size in self.parts)

    def lines(self) -> Iterator[str]:
        """Say what is needed.

        Yields
        ------
        str
            A line.
        """
        passes = "1 pass" if self.n_pieces == 1 else f"{self.n_pieces:,} passes"
        yield f"memory: about {memory.shown(self.total)}, {passes} over the snapshots"
        for name, size in self.parts:
            yield f"  {memory.shown(size):>8}  {name}"


def planned(compared: Objects, partners: Pairs, *, keep: bool, limit: str | None) -> Plan:
    """Plan a run within the memory that is allowed, or within what there is.

    Parameters
    ----------
    compared : Objects
        What is compared.
    partners : Pairs
        Who with whom.
    keep : bool
        Whether σ of all pairs is kept, or only what joins clusters.
    limit : str or None
        Memory that the process may take, such as 2GB.

    Returns
    -------
    Plan
        With pieces of the pairs as large as fit.
    """
    fixed = [
        ("held already: libraries, names, snapshots in memory", memory.held()),
        ("coordinates of the block in hand", _block_bytes(compared)),
        ("list of pairs and their σ", _KEPT * len(partners) if keep else 0),
        ("search for pairs that matter", 0 if keep else _search_bytes(compared)),
        ("hierarchy, tables and figures", _REST + _OBJECT * len(compared)),
    ]
    per_pair = (
        _PIECE
        if compared.are_points
        else _PIECE + _SITE_PAIR * _site_pairs_each(compared, partners)
    )
    # The pairs left out of all pairs count, too, where these are cut into pieces.
    n_pairs = max(1, len(partners) + len(partners.left_out))
    whole = n_pairs if keep else min(n_pairs, CHUNK)
    room = _room(limit) - sum(size for _, size in fixed)
    least = max(int(min(whole, _SMALLEST) * per_pair), _SORTED * len(partners) if keep else 0)
    if room < least:
        raise ValueError(_refusal(compared, sum(size for _, size in fixed) + least, limit))
    chunk = int(min(whole, room / per_pair))
    made = [*fixed, ("pairs measured at a time, then sorted", max(least, int(chunk * per_pair)))]
    parts = tuple((name, size) for name, size in made if size)
    return Plan(parts, chunk, -(-n_pairs // chunk))


def most_contacts(compared: Objects, limit: str | None) -> int:
    """Return how many pairs in contact can be held while they are searched for.

    Parameters
    ----------
    compared : Objects
        What is compared.
    limit : str or None
        Memory that the process may take, such as 2GB.

    Returns
    -------
    int
        Number of pairs, at least 1.
    """
    room = _room(limit) - memory.held() - _block_bytes(compared)
    return max(1, int(min(room, 1e15) / _CONTACT))


def _room(limit: str | None) -> float:
    if limit is not None:
        return memory.parsed(limit)
    left = memory.available()
    return float("inf") if left is None else left + memory.held()


def _refusal(compared: Objects, least: int, limit: str | None) -> str:
    there = "there is no more" if limit is None else f"--memory allows {limit}"
    return (
        f"{compared.ensemble.prefix}at least {memory.shown(least)} of memory are needed, but "
        f"{there}: allow more, select fewer sites (-s), or compare fewer pairs (a smaller --radius)"
    )


def _block_bytes(compared: Objects) -> int:
    """Coordinates as read and checked, the same laid out, and those of the block before."""
    ensemble = compared.ensemble
    used = compared.centres() if compared.are_points else ensemble
    frames = min(used.block_length, used.n_snapshots)
    itemsize = ensemble.snapshot(0)[0].dtype.itemsize
    n_blocks = min(2, -(-used.n_snapshots // frames))
    read = (itemsize + 1) * _frame_numbers(ensemble) * frames
    # Few snapshots are brought into double precision.
    laid = (itemsize if used.n_snapshots >= SINGLE_FROM else 8) * _frame_numbers(used) * frames
    return read + n_blocks * laid


def _frame_numbers(ensemble: Ensemble) -> int:
    return ensemble.n_sites * ensemble.n_dimensions


def _search_bytes(compared: Objects) -> int:
    frames = compared.centres() if compared.are_points else compared.ensemble
    return min(SEARCH_BYTES, 4 * _frame_numbers(frames) * frames.n_snapshots)


def _site_pairs_each(compared: Objects, partners: Pairs) -> float:
    """Pairs of sites for each pair of objects; the more pairs, the more of them they share."""
    sample = next(partners.chunks(_SAMPLE))[:_SAMPLE]
    return count_site_pairs(compared, sample) / max(1, len(sample))
