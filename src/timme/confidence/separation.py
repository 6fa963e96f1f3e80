"""Does a cluster move against its sibling, or is it only found again: separation Q, excess X.

A cluster may be found in every resampled trajectory and still be no body: sites that tremble less
than others come together first, always. So the fluctuation across a split is held against the
larger of those inside its two sides (Q), and against what the trembling of single sites explains
(X). A side that consists of bodies, as was found before, is as still inside as these are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from timme._arrays import Bools, Floats, Ints
from timme._kernels import excess as kernel
from timme.confidence.draws import AT_A_TIME
from timme.confidence.findings import FEW_CONTACTS, Separation
from timme.fluctuations.crossing import Singles
from timme.pairs.lists import lower_first

_PARTNERS = 20  # at random, of each site; and pairs of each site to which its motion is fitted
_MOST_SITES = 400  # of each side, whose partners are drawn
MOST_DRAWN = (
    1_000_000  # partners for all splits, for which there are fewer each where these are many
)
_MOST_FITTED, _REACH = 1_000, 3  # sites; of more, those so many pairs from the split, in draws
_SWEEPS, _SWEEPS_AGAIN = 200, 20  # from nothing, and from the fit to all snapshots
_LOW = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """Two sets of sites that a split parts, and the pairs by which they are judged."""

    side: Bools  # (sites,), the cluster
    other: Bools  # (sites,), its sibling
    partners: Ints  # (pairs, 2), random partners within the two


@dataclass(frozen=True, slots=True, eq=False)
class JudgedPairs:
    """Pairs of sites by which splits are judged, those compared and the partners of all splits."""

    pairs: Ints  # (pairs, 2), sorted
    contacts: Bools  # (pairs,), which of them are compared
    held: Bools  # (pairs,), of which of these sums over parts are held, so that they can be drawn
    sigma: Floats  # (pairs,), NaN where it is unknown
    resample: Callable[[Ints, Ints], Singles]  # σ of some of them in draws, (pairs, draws)

    def squares(self, rows: Ints) -> Floats:
        """Return σ² of some pairs over all snapshots.

        Parameters
        ----------
        rows : ndarray of int
            Which.

        Returns
        -------
        ndarray, shape (1, pairs)
            0 where it is unknown.
        """
        squares = self.sigma[rows][None] ** 2
        return np.where(np.isfinite(squares), squares, 0.0)

    def drawn_squares(self, rows: Ints, times: Ints) -> Floats:
        """Work out σ² of some pairs in every draw.

        Parameters
        ----------
        rows : ndarray of int
            Which.
        times : ndarray of int, shape (draws, parts)
            How often each part of the snapshots counts.

        Returns
        -------
        ndarray, shape (draws, pairs)
            0 where it is unknown.
        """
        squares = np.empty((len(times), len(rows)))
        kernel.square_draws(self.resample(rows, times), squares)
        return squares


def draw_sides(side: Bools, other: Bools, *, seed: int = 0, n_splits: int = 1) -> Sides:
    """Draw random partners for the sites of both sides of a split, among all of them.

    Parameters
    ----------
    side, other : ndarray of bool, shape (sites,)
        Sites of the cluster and of its sibling.
    seed : int, optional
        Of the random numbers.
    n_splits : int, optional
        How many splits are judged in all.

    Returns
    -------
    Sides
        With 20 partners for each site; of more than 400 sites on a side, for so many of them, or
        for fewer where the partners of all splits would be more than a million.
    """
    rng = np.random.default_rng(seed)
    most = max(1, min(_MOST_SITES, MOST_DRAWN // (2 * _PARTNERS * n_splits)))
    both = np.flatnonzero(side | other)
    drawn = list[Ints]()
    for mask in (side, other):
        sites = np.flatnonzero(mask)
        some = rng.permutation(sites)[:most]
        far = rng.choice(both, (len(some), _PARTNERS))
        drawn.append(np.column_stack([np.repeat(some, _PARTNERS), far.ravel()]))
    index = np.concatenate(drawn)
    index = index[index[:, 0] != index[:, 1]]
    keys = np.unique(lower_first(index) @ [len(side), 1])  # of numbers, not rows: these take longer
    return Sides(side, other, np.column_stack(np.divmod(keys, len(side))))


def separate(sides: Sides, judged: JudgedPairs, *, times: Ints, bodies: Ints) -> Separation:
    """Judge one split.

    Parameters
    ----------
    sides : Sides
        Which sites are on which side, and who is judged with whom.
    judged : JudgedPairs
        Pairs of all splits.
    times : ndarray of int, shape (draws, parts)
        How often each part counts in each draw.
    bodies : ndarray of int, shape (sites,)
        The body to which each site was found to belong; pairs within one are inside a side. -1 for
        sites of none.

    Returns
    -------
    Separation
        Q, X and what they are made of.
    """
    label = sides.side + 2 * sides.other
    asked = judged.contacts.copy()
    asked[_places(judged.pairs, sides.partners, len(label))] = True
    one, other = judged.pairs.T
    asked &= (label[one] > 0) & (label[other] > 0)
    rows = np.flatnonzero(asked)
    first, second = judged.pairs[rows].T
    where = label[first] + label[second]  # 2 inside, 3 across, 4 inside the other
    within = (bodies[first] == bodies[second]) & (bodies[first] >= 0)
    where[(where != 3) & ~within] = 0
    sigma, contacts, held = judged.sigma[rows], judged.contacts[rows], judged.held[rows]
    crossing = where == 3
    n_contacts = int(np.count_nonzero(contacts & crossing))
    near = rows[_few_each(judged.pairs[rows], held & ((where == 2) | (where == 4)))]
    in_contact = held[crossing] | (n_contacts < FEW_CONTACTS)
    everything_across, excess, low = _excess(
        judged, near, rows[crossing], decisive=in_contact, times=times
    )
    return Separation(
        across=_median(sigma[crossing]),
        inside=_median(sigma[where == 2]),
        inside_other=_median(sigma[where == 4]),
        excess=excess,
        excess_low=low,
        n_contacts=n_contacts,
        excess_all=everything_across,
    )


def excess_motion(
    pairs: Ints, squares: Floats, crossing: Ints, crossing_squares: Floats, start: Floats
) -> tuple[Floats, Floats]:
    """Hold σ² of crossing pairs against what the motion of their sites explains, draw by draw.

    Parameters
    ----------
    pairs : ndarray of int, shape (pairs, 2)
        Pairs inside the sides, to which s² of sites is fitted.
    squares : ndarray, shape (draws, pairs)
        Their σ².
    crossing : ndarray of int, shape (crossing pairs, 2)
        Pairs that cross.
    crossing_squares : ndarray, shape (draws, crossing pairs)
        Their σ².
    start : ndarray, shape (sites,)
        s² from which the fit starts, 0 if nothing is known.

    Returns
    -------
    ndarray, shape (draws,)
        X: median of σ² / (s² of one + s² of the other) over crossing pairs; NaN if there is none
        whose sites both have pairs inside.
    ndarray, shape (draws, sites)
        s² of each site.
    """
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    ranked = np.argsort(ends[:, 0], kind="stable")
    begins = np.searchsorted(ends[ranked, 0], np.arange(len(start) + 1))
    rows = begins, ends[ranked, 1], ranked % len(pairs)
    sweeps = _SWEEPS_AGAIN if start.any() else _SWEEPS
    sites: Floats = kernel.fit_sites(*rows, np.ascontiguousarray(squares), start, sweeps)
    return crossing_excess(pairs, crossing, crossing_squares, sites), sites


def crossing_excess(pairs: Ints, crossing: Ints, crossing_squares: Floats, sites: Floats) -> Floats:
    """Hold σ² of crossing pairs against the motion of sites that is known from pairs inside.

    Parameters
    ----------
    pairs, crossing, crossing_squares
        As for :func:`excess_motion`.
    sites : ndarray, shape (draws, sites)
        s² of each site.

    Returns
    -------
    ndarray, shape (draws,)
        X, NaN if there is no crossing pair whose sites both have pairs inside.
    """
    inside = np.zeros(sites.shape[1], bool)
    inside[pairs] = True
    held = inside[crossing].all(axis=1)
    if not held.any():
        return np.full(len(sites), np.nan)
    one, other = np.ascontiguousarray(crossing[held].T)
    across = crossing_squares if held.all() else crossing_squares[:, held]
    across = np.ascontiguousarray(across)
    found: Floats = kernel.median_ratios(across, one, other, sites)
    return found


def _excess(
    judged: JudgedPairs, edges: Ints, crossing: Ints, *, decisive: Bools, times: Ints
) -> tuple[float, float, float]:
    """X of all crossing pairs, X of those that decide, and the bound that 5 % of draws are below.

    All NaN where nothing is known.
    """
    if not len(edges) or not len(crossing):
        return np.nan, np.nan, np.nan
    rows = np.concatenate([edges, crossing])
    sites, index = np.unique(judged.pairs[rows], return_inverse=True)
    index = index.reshape(-1, 2).astype(np.int64)
    inside, across = index[: len(edges)], index[len(edges) :]
    near, far = np.split(judged.squares(rows), [len(edges)], axis=1)
    unknown = np.zeros(len(sites))
    (whole,), (start,) = excess_motion(inside, near, across, far, unknown)
    across, far = across[decisive], far[:, decisive]
    if not len(across):
        return float(whole), np.nan, np.nan
    (excess,) = crossing_excess(inside, across, far, start[None])
    if np.isnan(excess):
        return float(whole), np.nan, np.nan
    close = _near_the_split(inside, across, len(sites))
    edges, inside = edges[close], inside[close]
    resampled = list[Floats]()
    n_values = len(times) * (len(edges) + np.count_nonzero(decisive))
    for some in np.array_split(times, -(-n_values // AT_A_TIME)):
        near, far = (judged.drawn_squares(rows, some) for rows in (edges, crossing[decisive]))
        resampled.append(excess_motion(inside, near, across, far, start)[0])
    return float(whole), float(excess), float(np.quantile(np.concatenate(resampled), _LOW))


def _near_the_split(inside: Ints, across: Ints, n_sites: int) -> Bools:
    """Tell which pairs inside can matter to what crosses.

    A site takes the mean of what its pairs leave for it, so that what is wrong of some of its
    partners is averaged with what is right of others, and matters less with every pair that lies
    between: bounds change by 0.3 % at most in an elastic solid. Nearly all sites of a large system
    are far from any one split, and to fit them a hundred times anew was most of the work.
    """
    if n_sites <= _MOST_FITTED:
        return np.ones(len(inside), bool)
    reached = np.zeros(n_sites, bool)
    reached[across] = True
    for _ in range(_REACH):
        reached[inside[reached[inside].any(axis=1)]] = True
    one, other = inside.T
    close: Bools = reached[one] & reached[other]
    return close


def _few_each(pairs: Ints, wanted: Bools) -> Ints:
    """Places of pairs that are wanted, at most 20 for each site, chosen at random."""
    places = np.random.default_rng(0).permutation(np.flatnonzero(wanted))
    ends = pairs[places]
    keep = np.zeros(len(places), bool)
    for column in (0, 1):  # a pair stays if it is among the first 20 of either of its sites
        ranked = np.argsort(ends[:, column], kind="stable")
        ordered = ends[ranked, column]
        begins = np.searchsorted(ordered, ordered)
        keep[ranked] |= np.arange(len(ordered)) - begins < _PARTNERS // 2
    return np.sort(places[keep])


def _places(pairs: Ints, wanted: Ints, n_sites: int) -> Ints:
    """Places of some pairs in a sorted list that has them."""
    return np.searchsorted(pairs @ [n_sites, 1], wanted @ [n_sites, 1])


def _median(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if len(finite) else np.nan


def choose_held(sides: Sequence[Sides], pairs: Ints, contacts: Bools, *, most: int) -> Bools:
    """Choose the contacts of which sums over parts are held: all, or those that tell most.

    Parameters
    ----------
    sides : sequence of Sides
        Of every split; without any, nothing is asked of contacts.
    pairs : ndarray of int, shape (pairs, 2)
        Pairs by which splits are judged.
    contacts : ndarray of bool, shape (pairs,)
        Which of them are compared.
    most : int
        How many can be held.

    Returns
    -------
    ndarray of bool, shape (pairs,)
        Of too many, those that cross a split come before those inside, each at random.
    """
    if not sides:
        return np.zeros(len(pairs), bool)
    among = np.flatnonzero(contacts)
    if len(among) <= most:
        return contacts
    one, other = pairs[among].T
    crosses = np.zeros(len(among), bool)
    for split in sides:
        label = split.side + 2 * split.other
        crosses |= label[one] + label[other] == 3  # none with both ends on no side or on one
    rank = np.random.default_rng(0).random(len(among)) - crosses
    held = np.zeros(len(pairs), bool)
    held[among[np.argpartition(rank, most - 1)[:most]]] = True
    return held


def pairs_to_judge(sides: Sequence[Sides], contacts: Ints, n_sites: int) -> tuple[Ints, Bools]:
    """List all pairs by which splits are judged, once each, and tell which of them are compared.

    Parameters
    ----------
    sides : sequence of Sides
        Of every split.
    contacts : ndarray of int, shape (pairs, 2)
        Pairs that are compared, the lower first.
    n_sites : int
        Number of sites.

    Returns
    -------
    ndarray of int, shape (pairs, 2)
        Sorted.
    ndarray of bool, shape (pairs,)
        Whether they are among those compared.
    """
    keys = [split.partners @ [n_sites, 1] for split in sides]
    compared = contacts @ [n_sites, 1]
    every = np.sort(np.concatenate([compared, *keys]).astype(np.int64))
    every = every[np.diff(every, prepend=-1) > 0]  # sorted, each once: hashing takes longer
    in_contact = np.zeros(len(every), bool)
    in_contact[np.searchsorted(every, compared)] = True
    return np.column_stack(np.divmod(every, n_sites)), in_contact
