"""Separation of clusters: motion against the sibling beside motion inside (Q, X).

A cluster may be found in every resampled trajectory and still be no body, because sites that move
little come together first. So the fluctuation across a split is compared with the larger of those
inside its two sides (Q), and with what the motion of single sites explains (X).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from timme._arrays import Bools, Floats, Ints, frozen
from timme._kernels.reductions import fit_sites
from timme.confidence.bootstrap import Compared
from timme.fluctuations import chunk_for
from timme.pairs import sorted_pairs

FEW_CONTACTS = 5  # crossing contacts below which Q says nothing
EXCESS = 1.2  # X is 1 for one body whose sites move independently
MOST_SHOWN = 1200  # sites of which σ of all pairs is measured
SOFT = 1.3  # Q, provisional: from few proteins
_PARTNERS = 20  # random ones of each site; and pairs of each site to which its motion is fitted
_MOST_SITES = 400  # of each side, for which partners are drawn
_SWEEPS, _MORE_SWEEPS = 200, 20  # from nothing, and from the fit to all snapshots
_LOW = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Separation:
    """Motion of the two sides of a split against one another."""

    across: float  # median σ of pairs that cross
    inside: float  # median σ inside this side
    inside_other: float  # and inside the other
    excess: float  # X: median of σ² over what the motion of single sites explains; NaN unknown
    excess_low: float  # its 5 % bound over draws, where it is needed; else NaN
    n_contacts: int  # that cross

    @property
    def ratio(self) -> float:
        """Q: median σ across over the larger of the medians inside."""
        return self.across / max(self.inside, self.inside_other, 1e-300)

    @property
    def separate(self) -> bool:
        """Whether the sides move against one another more than their sites do.

        By Q, unless X explains it by the motion of single sites; by the bound of X where too few
        contacts cross, or where all else is no body.
        """
        by_ratio = self.n_contacts >= FEW_CONTACTS and self.ratio >= SOFT
        return self.excess_low > EXCESS or (by_ratio and not self.excess < EXCESS)


@dataclass(frozen=True, slots=True, eq=False)
class ShownSigma:
    """σ of pairs of shown sites: contacts, and all pairs of some of the sites."""

    contacts: Ints  # (contacts, 2), numbers among the shown, lower first and sorted
    sigma: Floats  # (contacts,)
    chosen: Ints  # sites of the matrix, ascending
    matrix: Floats  # (chosen, chosen), NaN where unknown

    def pairs_of(self, labels: Ints, partners: Ints) -> tuple[Ints, Floats, Bools]:
        """Return contacts and partners whose sites have labels above 0, sorted.

        Their σ comes second, and which of them are contacts.
        """
        n = len(labels)
        near = (labels[self.contacts] > 0).all(axis=1)
        keys = np.concatenate([self.contacts[near], partners]) @ [n, 1]
        keys, first = np.unique(keys, return_index=True)
        place = np.searchsorted(self.chosen, partners)
        sigma = np.concatenate([self.sigma[near], self.matrix[*place.T]])[first]
        return np.column_stack(np.divmod(keys, n)), sigma, first < np.count_nonzero(near)


def measure_shown(compared: Compared, shown: Ints, *, seed: int = 0) -> ShownSigma:
    """Return contacts of shown objects, and σ of all pairs of at most 1,200 of them."""
    objects, sigma = compared.objects, compared.sigma
    n_shown, chosen = len(shown), np.arange(len(shown))
    if n_shown > MOST_SHOWN:
        chosen = np.sort(np.random.default_rng(seed).permutation(n_shown)[:MOST_SHOWN])
    index = np.sort(shown[chosen][np.column_stack(np.triu_indices(len(chosen), 1))], axis=1)
    matrix = np.full((len(chosen), len(chosen)), np.nan)
    np.fill_diagonal(matrix, 0.0)
    place = np.full(len(objects), -1)
    place[shown[chosen]] = np.arange(len(chosen))
    for some in np.array_split(index, -(-len(index) // chunk_for(objects)) or 1):
        found = compared.measure(objects, some)
        one, other = place[found.pairs].T
        matrix[one, other] = matrix[other, one] = found.sigma
    place[shown] = np.arange(n_shown)
    held = (place[sigma.pairs] >= 0).all(axis=1)
    contacts = np.sort(place[sigma.pairs[held]], axis=1)
    ranked = np.lexsort(contacts.T[::-1])
    return ShownSigma(contacts[ranked], sigma.sigma[held][ranked], chosen, frozen(matrix))


def separate(
    sides: tuple[Bools, Bools],
    known: ShownSigma,
    *,
    bodies: Ints,
    resample: Callable[[Ints], Floats],
    whole: bool = False,
    seed: int = 0,
) -> Separation:
    """Return the separation of two sets of sites.

    Parameters
    ----------
    sides : tuple of ndarray of bool, shape (sites,)
        The cluster, and what it is compared with.
    known : ShownSigma
        σ of their pairs.
    bodies : ndarray of int, shape (sites,)
        Body of each site; pairs within one are inside a side. -1 for sites of none.
    resample : callable
        σ² (pairs, draws) of pairs (pairs, 2), called only where the bound of X is needed.
    whole : bool, optional
        Whether the second side is all else, which may be no body.
    seed : int, optional
        Seed of the random partners.

    Returns
    -------
    Separation
        Q, X and what they are made of.
    """
    labels = sides[0] + 2 * sides[1]
    pairs, sigma, in_contact = known.pairs_of(labels, _draw_partners(sides, known.chosen, seed))
    where = labels[pairs].sum(axis=1)  # 2 inside, 3 across, 4 inside the other
    of = bodies[pairs]
    where[(where != 3) & ((of[:, 0] != of[:, 1]) | (of[:, 0] < 0))] = 0
    crossing = where == 3
    n_contacts = int(np.count_nonzero(in_contact & crossing))
    near = _few_each(pairs, in_contact & ((where == 2) | (where == 4)))
    rows = np.concatenate([near, np.flatnonzero(crossing)])
    sites, index = np.unique(pairs[rows], return_inverse=True)
    inside, across = np.split(index.reshape(-1, 2), [len(near)])
    squares = np.nan_to_num(sigma[rows], nan=0.0, posinf=0.0)[None] ** 2
    excess, motion = _excess(inside, across, squares, np.zeros(len(sites)))
    low = np.nan
    if (whole or n_contacts < FEW_CONTACTS) and not np.isnan(excess[0]):
        drawn = np.nan_to_num(resample(pairs[rows]).T, nan=0.0, posinf=0.0)
        low = float(np.quantile(_excess(inside, across, drawn, motion[0])[0], _LOW))
    apart, ours, theirs = (median(sigma[which]) for which in (crossing, where == 2, where == 4))
    return Separation(apart, ours, theirs, float(excess[0]), low, n_contacts)


def median(values: Floats) -> float:
    """Return the median of what is finite; NaN if nothing is."""
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if len(finite) else np.nan


def _draw_partners(sides: tuple[Bools, Bools], chosen: Ints, seed: int) -> Ints:
    """Pairs of 400 sites of each side with 20 random partners on both; only of chosen sites."""
    rng = np.random.default_rng(seed)
    both = chosen[(sides[0] | sides[1])[chosen]]
    drawn = [np.empty((0, 2), np.int64)]
    for side in sides:
        some = rng.permutation(chosen[side[chosen]])[:_MOST_SITES]
        far = rng.choice(both, (len(some), _PARTNERS)) if len(both) else some[:, None]
        drawn.append(np.column_stack([np.repeat(some, far.shape[1]), far.ravel()]))
    index = np.concatenate(drawn)
    return sorted_pairs(index[index[:, 0] != index[:, 1]], len(sides[0]))


def _excess(inside: Ints, across: Ints, squares: Floats, start: Floats) -> tuple[Floats, Floats]:
    """X (draws,) of σ² (draws, inside and across), and s² (draws, sites) of each site.

    X is the median over crossing pairs of σ² over s² of both sites, which is fitted to the pairs
    inside; NaN if there is no crossing pair whose sites both have pairs inside.
    """
    n_inside, n_sites = len(inside), len(start)
    fitted = np.bincount(inside.ravel(), minlength=n_sites) > 0
    held = fitted[across].all(axis=1)
    if not held.any():
        return np.full(len(squares), np.nan), np.tile(start, (len(squares), 1))
    ends = np.concatenate([inside, inside[:, ::-1]])
    ranked = np.argsort(ends[:, 0], kind="stable")
    begins = np.searchsorted(ends[ranked, 0], np.arange(n_sites + 1))
    near = np.ascontiguousarray(squares[:, :n_inside])
    sweeps = _MORE_SWEEPS if start.any() else _SWEEPS
    motion = fit_sites(begins, ends[ranked, 1], ranked % n_inside, near, start, sweeps)
    explained = motion[:, across[held, 0]] + motion[:, across[held, 1]]
    ratios = np.full(explained.shape, np.inf)
    np.divide(squares[:, n_inside:][:, held], explained, out=ratios, where=explained > 0)
    return np.median(ratios, axis=1), motion


def _few_each(pairs: Ints, chosen: Bools) -> Ints:
    """Places of chosen pairs: in random order, those among the first 10 of one of their sites."""
    places = np.random.default_rng(0).permutation(np.flatnonzero(chosen))
    keep = np.zeros(len(places), bool)
    for ends in pairs[places].T:
        ranked = np.argsort(ends, kind="stable")
        begins = np.searchsorted(ends[ranked], ends[ranked])
        keep[ranked] |= np.arange(len(ends)) - begins < _PARTNERS // 2
    return np.sort(places[keep])
