"""How much memory a run needs, before it is taken, and how to stay within what is allowed.

A run has phases: contacts are searched for, pairs are measured, then linked, listed and drawn. What
one phase took is given back before the next, so that the largest of them counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from timme import memory
from timme._kernels.space import TILTED
from timme.confidence.draws import AT_A_TIME, N_DRAWS, N_PARTS
from timme.confidence.replicates import MOST_PAIRS
from timme.confidence.separation import MOST_DRAWN
from timme.confidence.shown import MOST_SHOWN
from timme.engine.moments import fill_up
from timme.fluctuations.crossing import count_site_pairs
from timme.fluctuations.site_sums import is_plain
from timme.fluctuations.sums import HELD_BYTES
from timme.fluctuations.units import MOST_HELD
from timme.hierarchy.clustering import CANDIDATES, CHUNK
from timme.hierarchy.pruning import LEAST_FRAMES, SEARCH_BYTES
from timme.objects import Objects
from timme.pairs.lists import Pairs
from timme.system.ensemble import SINGLE_FROM, Ensemble
from timme.system.neighbours import pairs_within
from timme.system.space import Boxes
from timme.workflow.kept_pairs import count_drawn

Tell = Callable[[str], None]
"""Called with a line about the run."""

# Bytes, as measured with one kind of run after another.
_KERNELS = 50_000_000  # compiled loops and what they need
_JUDGING = 60_000_000  # more of them, by which clusters are judged
_DRAWING = 80_000_000  # of which most is for the libraries
_OBJECT = 1_000  # for each object: tree, names, tables
_POINT_PAIR = 85  # for each pair of points in hand: sums, and copies of them
_OBJECT_PAIR, _SITE_PAIR = 40, 92  # for each pair of objects in hand, and of sites they consist of
_KEPT = 32  # for each pair: what stays of it
_SORTED = 40  # for each pair kept, while they are linked
_JOINED = 60  # for each pair in hand that is not kept, while it is linked
_SUMMED = 10  # for each pair and part of the snapshots, by which clusters are judged
_SUMMED_WEIGHT = 4  # for the same, where each pair and part has a weight of its own
_LISTED = 100  # for each pair kept, while those are listed by which clusters are judged
_RESAMPLED = 12  # for each σ of a draw
_CELL = 120  # for each pair of shown objects, while levels are looked for
_DRAWN = 90  # for each pair kept of shown objects, while σ is drawn
_FOUND = 48  # for each pair in hand that was found to join clusters, maybe
_CONTACT = 100  # for each pair in contact, while these are listed
_PATH = 500  # for each point, where it passes while contacts are searched for

_FAR = 150  # for each pair at random, while it is measured
_LISTED_FAR = 60  # for the same, while splits are judged
_JUDGED = 8  # pairs for each object that are needed to judge clusters
_PRUNED_BYTES = 200_000_000  # for pairs in hand, where most are given up before
_SMALLEST = 10_000  # pairs in a piece: fewer would be read for longer than measured
_SAMPLE = 2_000  # pairs of objects by which their pairs of sites are counted


@dataclass(frozen=True, slots=True)
class Plan:
    """Memory that a run needs, part by part, and the pairs it measures at a time."""

    parts: tuple[tuple[str, int], ...]  # what, and bytes
    chunk: int
    n_pieces: int
    n_summed: int = 0  # pairs whose sums over parts fit, by which clusters are judged; 0 for none

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


def plan(
    compared: Objects,
    partners: Pairs,
    *,
    keep: bool,
    limit: str | None,
    n_shown: int | None = None,
    euclidean: bool = True,
    judged: bool = True,
) -> Plan:
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
    n_shown : int, optional
        How many of the objects are drawn, all by default.
    euclidean : bool, optional
        Whether distances are Euclidean, so that most of all pairs may be given up early.
    judged : bool, optional
        Whether it is told how sure clusters are.

    Returns
    -------
    Plan
        With pieces of the pairs as large as fit. Clusters are judged by fewer pairs where memory is
        scarce, and not at all before the run is refused.
    """
    shown = len(compared) if n_shown is None else n_shown
    n_kept = n_drawn = count_drawn(compared, shown)
    if keep:
        n_kept, n_drawn = len(partners), int(len(partners) * (shown / len(compared)) ** 2)
    stays = [
        ("held already: libraries, names, snapshots in memory", memory.usage()),
        ("compiled loops", _KERNELS + _JUDGING * judged),
        ("list of pairs and their σ", _KEPT * n_kept),
        ("hierarchy and tables", _OBJECT * len(compared)),
    ]
    phases = [
        ("pairs sorted", _SORTED * n_kept),
        ("figures", _DRAWING + _DRAWN * n_drawn),
    ]
    block = _block_bytes(compared)
    n_summed = 0
    if judged:
        plain = euclidean and is_plain(compared.ensemble, None)
        laid_out = _laid_out_bytes(compared) if plain else block
        free = allowed(limit) - sum(size for _, size in stays) - laid_out
        n_summed, needed = _judging(compared, n_kept, shown, free, plain=plain)
        phases.append(("parts of the snapshots, by which clusters are judged", laid_out + needed))
    pruned = not keep and euclidean and _can_be_pruned(compared)
    if pruned:
        phases.append(("coordinates in which pairs are given up", block + _search_bytes(compared)))
    per_pair = _pair_bytes(compared, partners) + (0 if keep else _JOINED) + _FOUND * pruned
    # The pairs left out of all pairs count, too, where these are cut into pieces.
    n_pairs = max(1, len(partners) + len(partners.left_out))
    whole = n_pairs if keep else min(n_pairs, CHUNK)
    if pruned:
        whole = min(n_pairs, max(_SMALLEST, int(_PRUNED_BYTES / per_pair)))
    fixed = sum(size for _, size in stays)
    room = allowed(limit) - fixed
    least = max(block + int(min(whole, _SMALLEST) * per_pair), *(size for _, size in phases))
    if room < least and judged:
        without = partial(plan, compared, partners, keep=keep, limit=limit, n_shown=n_shown)
        return without(euclidean=euclidean, judged=False)
    if room < least:
        raise ValueError(_refusal(compared, fixed + least, limit))
    chunk = int(min(whole, (room - block) / per_pair))
    phases.append(("coordinates in hand, and pairs measured", block + int(chunk * per_pair)))
    parts = (*stays, max(phases, key=lambda phase: phase[1]))
    n_pieces = -(-n_pairs // chunk)
    if pruned:  # for candidates, for the coordinates in which others are given up, and for these
        n_pieces = -(-CANDIDATES * len(compared) // chunk) + 2
    return Plan(tuple(part for part in parts if part[1]), chunk, n_pieces, n_summed)


def _judging(
    compared: Objects, n_kept: int, n_shown: int, free: float, *, plain: bool
) -> tuple[int, int]:
    """Pairs by which clusters can be judged in so much memory, and how much that takes at least.

    Sums that tell what matters are given back before those by which splits are judged are made, and
    neither are of more pairs than that.
    """
    levels = _CELL * min(n_shown, MOST_SHOWN) ** 2 // 2
    n_far = min(MOST_DRAWN, n_shown**2 // 2)  # pairs at random, by which splits are judged
    per_pair = (_SUMMED + _SUMMED_WEIGHT * (not plain)) * min(
        N_PARTS, compared.ensemble.n_snapshots
    )
    listed = _LISTED * n_kept + _LISTED_FAR * n_far + _RESAMPLED * min(AT_A_TIME, N_DRAWS * n_kept)
    crossing = 0
    if not compared.are_points:  # whose cross pairs are summed first
        n_crossing = (len(compared.members) / len(compared)) ** 2 * n_kept
        crossing = min(HELD_BYTES, int(per_pair * n_crossing))
    fit = int(min(max(free - crossing - listed, 0.0) / per_pair, n_kept, MOST_PAIRS))
    least = min(n_kept, _JUDGED * len(compared))
    n_summed = max(fit, least)
    return max(1, n_summed), max(levels, _FAR * n_far, crossing + listed + per_pair * n_summed)


def most_contacts(
    compared: Objects,
    radius: float,
    *,
    limit: str | None,
    tell: Tell | None = None,
) -> int:
    """Return how many pairs in contact can be held while they are searched for.

    Parameters
    ----------
    compared : Objects
        What is compared.
    radius : float
        Of contacts.
    limit : str or None
        Memory that the process may take, such as 2GB.
    tell : callable, optional
        Called with a line that says how much memory the search needs.

    Returns
    -------
    int
        Number of pairs, no less than there are in the first snapshot.
    """
    centres = compared.centres()
    points, box = centres.snapshot(0)
    boxes = Boxes.of(None if box is None else box[None], 1, centres.n_dimensions)
    n_first = len(pairs_within(points, radius, boxes))
    fixed = memory.usage() + _KERNELS + _block_bytes(compared) + _PATH * len(points)
    least = fixed + _CONTACT * n_first
    room = allowed(limit)
    if room < least:
        raise ValueError(_refusal(compared, least, limit))
    if tell is not None:
        tell(f"memory: about {memory.shown(least)} while contacts are searched for")
    return int(min(room - fixed, 1e15) / _CONTACT)


def allowed(limit: str | None) -> float:
    """Tell how much memory a process may hold.

    Parameters
    ----------
    limit : str or None
        What the user allows, such as 2GB.

    Returns
    -------
    float
        Bytes, those included that it holds already; infinity where nobody knows.
    """
    if limit is not None:
        return memory.parse(limit)
    left = memory.available()
    return float("inf") if left is None else left + memory.usage()


def _refusal(compared: Objects, least: int, limit: str | None) -> str:
    there = "there is no more" if limit is None else f"memory= allows {limit}"
    return (
        f"{compared.ensemble.prefix}at least {memory.shown(least)} of memory are needed, but "
        f"{there}: allow more, select fewer sites (select=), or compare fewer pairs (a smaller "
        "radius=)"
    )


def _block_bytes(compared: Objects) -> int:
    """Coordinates as read and checked, the same laid out, and those that are read ahead."""
    ensemble = compared.ensemble
    used = compared.centres() if compared.are_points else ensemble
    frames = min(used.block_length, used.n_snapshots)
    itemsize = ensemble.snapshot(0)[0].dtype.itemsize
    ahead = min(used.block_length, used.n_snapshots - frames)
    read = (itemsize + 1) * _frame_numbers(ensemble) * (frames + ahead)
    # Few snapshots are brought into double precision.
    laid = (itemsize if used.n_snapshots >= SINGLE_FROM else 8) * _frame_numbers(used)
    return read + laid * fill_up(frames)


def _laid_out_bytes(compared: Objects) -> int:
    """Coordinates as read and checked, and the same laid out by parts; all of few snapshots."""
    used = compared.centres() if compared.are_points else compared.ensemble
    itemsize = used.snapshot(0)[0].dtype.itemsize
    whole = used.n_snapshots * _frame_numbers(used)
    held = itemsize * whole <= MOST_HELD
    read = whole if held else min(used.block_length, used.n_snapshots) * _frame_numbers(used)
    return (2 * itemsize + 1) * read


def _frame_numbers(ensemble: Ensemble) -> int:
    return ensemble.n_sites * ensemble.n_dimensions


def _can_be_pruned(compared: Objects) -> bool:
    """Tell whether most pairs will be given up before they are measured to the end."""
    ensemble = compared.ensemble
    _, box = ensemble.snapshot(0)
    tilted = box is not None and Boxes.of(box[None], 1, len(box)).kind == TILTED
    return not (tilted or ensemble.gaps or len(compared.rigid))


def _search_bytes(compared: Objects) -> int:
    frames = compared.centres() if compared.are_points else compared.ensemble
    per_frame = 4 * _frame_numbers(frames)
    return min(max(SEARCH_BYTES, per_frame * LEAST_FRAMES), per_frame * frames.n_snapshots)


def _pair_bytes(compared: Objects, partners: Pairs) -> float:
    """Count pairs of sites for each pair of objects; the more of these, the more they share."""
    if compared.are_points:
        return _POINT_PAIR
    sample = next(partners.chunks(_SAMPLE))[:_SAMPLE]
    return _OBJECT_PAIR + _SITE_PAIR * count_site_pairs(compared, sample) / max(1, len(sample))
