"""Whether the fraction of sites in large clusters rises like a sigmoid: a fit, and its noise.

Where clusters join by chance alone the fraction is a sigmoid, as the paper derives for the freely
jointed chain. So a curve is fitted by one that may lean to either side, (1 + e^((m-x)/w))^-n, and
what is left of it is set beside what is left of chains with as many sites, which differ from a
sigmoid by chance alone. How many of these are farther from one says how well chance explains the
curve: it does above one in ten and does not below one in a hundred, and between these bars a few
chains more or less would change a yes or no, so none is given.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

import timme
from timme import statistics
from timme._arrays import Floats

POINTS = 200  # equally spaced cutoffs at which a curve is looked at
MOST = 0.99  # of the fraction's height up to which it is looked at
MARGIN = 0.1  # of that range, on either side
SEEDS = range(1, 201)  # of chains; 0 is that of the chain whose form is told
LIKELY, UNLIKELY = 0.1, 0.01  # shares of chains: a sigmoid above the first, none below the second
TELLING = 0.03  # rms rest that chance must not exceed: what the atoms of a protein leave


@dataclass(frozen=True)
class Form:
    """A curve, the sigmoid that fits it best, and what chains of as many sites leave."""

    cutoffs: Floats  # (points,)
    fraction: Floats  # (points,)
    fitted: Floats  # (points,)
    rests: Floats  # (chains,), rms distance from a sigmoid of each chain with as many sites
    n_sites: int

    @property
    def rest(self) -> float:
        """Rms distance of the curve from the sigmoid."""
        return rms(self.fraction - self.fitted)

    @property
    def chance(self) -> float:
        """Rms rest that 95 of 100 chains do not exceed."""
        return float(np.quantile(self.rests, 0.95))

    @property
    def farther(self) -> float:
        """Share of chains that are farther from a sigmoid than the curve is."""
        return float(np.mean(self.rests > self.rest))

    @property
    def verdict(self) -> str:
        """Sigmoid or not, where chance and the number of sites allow to tell."""
        if self.farther < UNLIKELY:
            return "no sigmoid"
        if self.farther <= LIKELY:
            return "at the border"
        return "sigmoid" if self.chance <= TELLING else "too few sites to tell"


def form(hierarchy: timme.Hierarchy, *, seeds: Iterable[int] = SEEDS) -> Form:
    """Fit a sigmoid to a hierarchy's fraction of sites in clusters of ten or more."""
    n_sites = hierarchy.n_sites
    rests = [rms(np.subtract(*fit(links(n_sites, seed))[1:])) for seed in seeds]
    return Form(*fit(hierarchy), np.array(rests), n_sites)


def links(n_sites: int, seed: int) -> timme.Hierarchy:
    """Make the clusters of a freely jointed chain of two snapshots."""
    chain = timme.objects.links(timme.synthetic.chain(n_sites, 2, seed=seed))
    return timme.cluster(chain, timme.pairs.sharing(chain))


def fit(hierarchy: timme.Hierarchy) -> tuple[Floats, Floats, Floats]:
    """Cutoffs, the fraction at each, and the best of some sigmoids from several starts."""
    counted = statistics.curves(hierarchy)
    fraction = counted.large_fraction
    first = counted.cutoffs[np.argmax(fraction > 0)]
    last = counted.cutoffs[np.argmax(fraction >= MOST * fraction[-1])]
    margin = MARGIN * (last - first)
    cutoffs = np.linspace(max(0.0, first - margin), last + margin, POINTS)  # no σ is below 0
    seen = fraction[np.searchsorted(counted.cutoffs, cutoffs, side="right") - 1]
    x = np.linspace(0, 1, POINTS)
    half = x[np.argmax(seen >= seen[-1] / 2)]

    def misses(numbers: Floats) -> Floats:
        missed: Floats = seen[-1] * sigmoid(x, *numbers) - seen
        return missed

    tried = [
        least_squares(
            misses,
            (half, np.log(width), lean),
            bounds=([-5, -7, -4], [5, 3, 4]),
        )
        for width in (0.02, 0.05, 0.1, 0.2)
        for lean in (-1.0, 0.0, 1.0)
    ]
    best = min(tried, key=lambda found: found.cost)
    return cutoffs, seen, seen[-1] * sigmoid(x, *best.x)


def sigmoid(x: Floats, middle: float, log_width: float, lean: float) -> Floats:
    """A rise from 0 to 1 that is steeper below or above, as `lean` says."""
    steps = np.clip((middle - x) / np.exp(log_width), -500, 500)
    risen: Floats = (1 + np.exp(steps)) ** -np.exp(lean)
    return risen


def rms(values: Floats) -> float:
    return float(np.sqrt(np.mean(values**2)))
