"""Facts of a finding: each a number with what it is compared with, or None where unknown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np

from timme._arrays import Ints
from timme.analysis import tables
from timme.analysis.evidence import GAP, candidate, medians, shown_pairs, walkers_at
from timme.analysis.phrases import (
    Fact,
    cutoff,
    duration,
    length,
    listed,
    members,
    noun,
    number,
    percent,
    samples,
    sigma,
    some,
    times,
)
from timme.confidence.bootstrap import N_DRAWS
from timme.hierarchy.condensed import PLATEAU
from timme.hierarchy.curves import count_clusters
from timme.motion.variance import overlap_with_bodies

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from timme.analysis.evidence import BodiesEvidence, Evidence, Kind, NetworkEvidence
    from timme.analysis.result import Analysis, Body

_ENOUGH = 30  # independent samples for exact cutoffs
_BRIDGED = 5  # residues in a gap within a stretch
_NEEDED = f"({np.floor(10 * np.sqrt(GAP)) / 10:.1f}× needed)"


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """All that facts and sentences are made from."""

    analysis: Analysis
    evidence: Evidence
    labels: Ints  # (shown,), group of each shown object, -1 for none
    cutoff: float | None  # of the hierarchy beside it

    @property
    def bodies(self) -> BodiesEvidence:
        """Evidence of bodies."""
        return cast("BodiesEvidence", self.evidence.bodies)  # molecules have it

    @property
    def network(self) -> NetworkEvidence:
        """Evidence of a network."""
        return cast("NetworkEvidence", self.evidence.network)  # findings of this kind have it

    @property
    def largest(self) -> int:
        """Size of the largest cluster at the cutoff."""
        at = np.inf if self.cutoff is None else self.cutoff
        return int(self.analysis.hierarchy.cut(at).sizes[0])

    @property
    def by_chance(self) -> tuple[float, float]:
        """Median and 95 % of the size of the largest cluster of walkers at the cutoff."""
        return walkers_at(self.analysis, self.cutoff)

    @property
    def names(self) -> list[str]:
        """Members of each group."""
        groups = range(int(self.labels.max(initial=-1)) + 1)
        return [members(self.analysis, np.flatnonzero(self.labels == k)) for k in groups]


# ---- rigid bodies --------------------------------------------------------------------------


def bodies(case: Case) -> Fact:
    """Sites of each body."""
    return Fact("bodies", some([f"{k}: {name}" for k, name in enumerate(case.names, 1)]))


def fit(case: Case) -> Fact | None:
    """The rms fit of the bodies that were chosen, beside that of other numbers of them."""
    motion, n, unit = case.analysis.motion, case.bodies.n, case.analysis.system.unit
    best = candidate(case.analysis)
    rests = {} if motion is None else {each.n_bodies: each.rest for each in motion.bodies.levels}
    if n not in rests:
        return None
    limit = f" (rigid: at most {length(case.bodies.fit_limit, unit)})" * (n == 1)
    what = f"{length(rests[n], unit)} rms as {number(n)} bod{'y' if n == 1 else 'ies'}{limit}"
    near = sorted({1, n - 1, n + 1, best.n_bodies if best else n} - {n})
    others = [f"{length(rests[k], unit)} as {number(k)}" for k in near if rests.get(k, -1.0) >= 0]
    return Fact("fit", "; ".join(filter(None, [what, ", ".join(others)])))


def separation_of_bodies(case: Case) -> Fact | None:
    """How far bodies move beside the parts within them."""
    motion = case.analysis.motion
    if motion is None:
        return None
    share = percent(float(motion.explained.finite[motion.bodies.chosen]))
    far = f"bodies move {times(np.sqrt(case.bodies.gap))} as far as parts within them"
    return Fact("separation", f"{far} {_NEEDED}; {share} of motion")


def halves(case: Case) -> Fact | None:
    """Whether alternating halves of the frames have the same bodies."""
    if np.isnan(case.bodies.agreement):
        return None
    index = f"agreement {case.bodies.agreement:.2f} of 1"
    return Fact("support", f"the same bodies in both alternating halves of the frames ({index})")


def best_split(case: Case) -> Fact | None:
    """The best candidate for several bodies, and how far its parts move."""
    level = candidate(case.analysis)
    if level is None or np.isnan(level.gap):
        return None
    each = [np.flatnonzero(level.labels == body) for body in range(1, level.n_bodies)]
    names = [*(members(case.analysis, sites) for sites in each), "rest"]
    parts = f"{number(level.n_bodies)} parts ({' | '.join(names)})"
    far = f"{parts} move {times(np.sqrt(level.gap))} as far as parts within them"
    return Fact("best split", f"{far}; {'it bends evenly' if level.bends else _NEEDED[1:-1]}")


def loose_ends(case: Case) -> Fact | None:
    """Sites of no body."""
    motion = case.analysis.motion
    loose = [] if motion is None else motion.bodies.unassigned.tolist()
    return Fact("loose ends", tables.runs(case.analysis.shown_atoms, loose)) if loose else None


def stiffest(case: Case) -> Fact | None:
    """The two best supported clusters within a body."""
    confidence, unit = case.analysis.confidence, case.analysis.hierarchy.unit
    records = () if confidence is None else confidence.trusted
    own = [each for each in records if each.separation and 2 * each.size < case.evidence.n_sites]
    found = sorted(own, key=lambda each: -each.support)[:2]
    if not found:
        return None
    names = listed([members(case.analysis, each.sites) for each in found])
    apart = [(each.separation.inside, each.separation.across) for each in found if each.separation]
    inside, across = np.median(apart, axis=0)
    compared = f"±{sigma(inside, unit)} inside, ±{sigma(across, unit)} against the rest"
    return Fact("stiffest", f"{names} (support ≥ {percent(found[-1].support)}): {compared}")


def moving(analysis: Analysis) -> list[Body]:
    """Return the three bodies that turn most."""
    found = [body for body in analysis.bodies if body.motion is not None]
    return sorted(found, key=lambda body: -np.nan_to_num(body.angle))[:3]


def main_stretch(analysis: Analysis, body: Body) -> str:
    """Return the longest stretch of a body in its chain, short gaps bridged: "A 116-164"."""
    atoms = analysis.shown_atoms
    sites = body.sites[atoms.chains[body.sites] == body.chain]
    stretches = np.split(sites, np.flatnonzero(np.diff(sites) > _BRIDGED) + 1)
    longest = max(stretches, key=len)
    return tables.runs(atoms, range(longest[0], longest[-1] + 1))


def movement(case: Case, rank: int) -> Fact | None:
    """Range of the angles of a body, its slide, and what is known of its axis."""
    unit, found = case.analysis.system.unit, moving(case.analysis)
    if rank >= len(found) or (hinge := found[rank].motion) is None:
        return None
    known = "" if np.isnan(hinge.axis_cone) else f"axis known to ±{hinge.axis_cone:.0f}° (95 %)"
    who, angles = main_stretch(case.analysis, found[rank]), f"{hinge.range:.0f}° range"
    slides = f"{hinge.rms:.0f}° rms; slides {sigma(tables.slide(hinge), unit)}"
    parts = filter(None, [f"{who}: {angles}, {slides}", hinge.verdict or known])
    return Fact(f"body {found[rank].name}", "; ".join(parts))


def modes(case: Case) -> Fact | None:
    """Shares of the first principal components, and how much of the first is rigid."""
    found, motion = case.analysis.modes, case.analysis.motion
    if found is None or motion is None or len(found.variances) < 2:
        return None
    first, second = found.variances[:2] / found.total
    rigid = percent(overlap_with_bodies(found, motion.bodies.labels)[0].sum())
    share = f"first component {percent(first)} of the variance, {rigid} of it rigid motion"
    return Fact("modes", f"{share}; second {percent(second)}")


# ---- groups and networks -------------------------------------------------------------------


def separation_of_groups(case: Case) -> Fact | None:
    """Median σ inside the groups, and to all other sites."""
    inside, across = medians(case.analysis, case.labels)
    if not inside > 0 or np.isnan(across):
        return None
    unit, ratio = case.analysis.hierarchy.unit, times(across / inside)
    far = f"{sigma(inside, unit)} inside, {sigma(across, unit)} to all others"
    return Fact("separation", f"median σ {far} ({ratio})")


def range_of_groups(case: Case) -> Fact | None:
    """Range of cutoffs over which the groups stay the same."""
    groups, tree = case.evidence.groups, case.analysis.hierarchy
    least = min(groups, key=lambda group: group.plateau)
    if not np.isfinite(least.plateau):
        return None
    factor, symbol = f"a factor of {np.exp(least.plateau):.1f}", tree.quantity.cutoff
    what = f"each group stays the same over {factor} or more in {symbol}"
    if len(groups) == 1:
        ends = f"{symbol} = {length(least.low)} to {length(least.high, tree.unit)}"
        what = f"the same {least.size:,} from {ends}, {factor}"
    return Fact("range", f"{what} ({np.exp(PLATEAU):.1f} needed)")


def range_of_network(case: Case) -> Fact:
    """Range of cutoffs over which a network keeps its size."""
    network, tree = case.network, case.analysis.hierarchy
    ends = f"{length(network.low)} to {length(network.high, tree.unit)}"
    factor = f"{tree.quantity.cutoff} = {ends}, a factor of {np.exp(network.width):.1f}"
    return Fact("range", f"the same size within 10 % from {factor}")


def support_of_groups(case: Case) -> Fact | None:
    """How often resampled data give the same groups."""
    found = [group.support for group in case.evidence.groups]
    if np.isnan(found).any():
        return None
    span = dict.fromkeys([percent(min(found)), percent(max(found))])
    return Fact("support", f"{' to '.join(span)} in {N_DRAWS} bootstrap draws")


def order(case: Case) -> Fact | None:
    """Which groups join first, and where all have joined."""
    first = np.array([group.sites[0] for group in case.evidence.groups])
    one, other = np.triu_indices(len(first), 1)
    heights = case.analysis.hierarchy.heights_between(first[one], first[other])
    if len(first) < 3 or not np.isfinite(heights).all():
        return None
    k, names = int(heights.argmin()), case.names
    joined = f"{names[one[k]]} and {names[other[k]]} join first"
    least, most = cutoff(case.analysis, heights[k]), cutoff(case.analysis, heights.max())
    return Fact("order", f"{joined} ({least}), all by {most}")


def chance(case: Case) -> Fact | None:
    """The largest cluster of independent walkers at the same cutoff."""
    middle, high = case.by_chance
    if np.isnan(middle):
        return None
    most = f"largest cluster {middle:,.0f} (95 %: {high:,.0f})"
    return Fact("chance", f"independent walkers with the same steps: {most}")


def recurring(case: Case) -> Fact | None:
    """How many clusters recur in resampled data."""
    confidence = case.analysis.confidence
    if confidence is None or all(np.isnan(record.support) for record in confidence.records):
        return None
    again = number(len(confidence.trusted)).replace("no", "none")
    all_ = f"{len(confidence.records)} clusters of ≥ {case.evidence.min_size}"
    return Fact("support", f"{again} of {all_} found again in resampled data")


def typical_sigma(case: Case) -> Fact | None:
    """The median σ, and the smallest."""
    values, unit = shown_pairs(case.analysis)[1], case.analysis.hierarchy.unit
    if not len(values):
        return None
    middle, least = sigma(float(np.median(values)), unit), sigma(float(values.min()), unit)
    pairs = f"median over {len(values):,} pairs"
    return Fact("typical σ", f"{middle} ({pairs}); the stiffest pair has {least}")


def used(case: Case) -> Fact | None:
    """Which tracks were long enough."""
    return Fact("used", case.analysis.made.used) if case.analysis.made.used else None


# ---- all systems ---------------------------------------------------------------------------


def hierarchy(case: Case) -> Fact | None:
    """Clusters at the best level, beside bodies; else where half, and nearly all, sites join."""
    analysis, evidence, tree = case.analysis, case.evidence, case.analysis.hierarchy
    size, n_bodies = evidence.min_size, 1 if evidence.bodies is None else evidence.bodies.n
    levels = () if analysis.confidence is None else analysis.confidence.silhouettes.standing_out
    if levels and n_bodies > 1:
        sizes = [n for n in tree.cut(levels[0].cutoff).sizes.tolist() if n >= size]
        if len(sizes) > 1 and 2 * sum(sizes) >= tree.n_sites:
            joins = "; σ joins bodies through hinges" * (len(sizes) < n_bodies)
            largest = listed([*map(str, sizes[:4]), *["…"] * (len(sizes) > 4)])
            where = f"at {cutoff(analysis, levels[0].cutoff)} clusters of {largest}"
            return Fact("hierarchy", f"{where} {noun(analysis)}{joins}")
    counted = count_clusters(tree, large=size, sizes=())
    half, most = counted.large_fraction >= 0.5, counted.largest_fraction >= 0.95
    if evidence.n_snapshots == 2 or not most.any() or not half.any():
        return None
    first, last = (float(counted.cutoffs[reached.argmax()]) for reached in (half, most))
    joins = f"at {cutoff(analysis, first)}, 95 % in one at {length(last, tree.unit)}"
    return Fact("hierarchy", f"half of the {noun(analysis)} in clusters of ≥ {size} {joins}")


def sampling(case: Case) -> Fact | None:
    """How many independent samples there are, beside those that are enough."""
    count, time = case.evidence.n_independent, duration(case.analysis)
    if case.evidence.independent or np.isnan(count):
        return None
    over = f"{case.evidence.n_snapshots:,} snapshots{f' over {time}' * bool(time)}"
    few = f" (exact cutoffs need {_ENOUGH})" * (count < _ENOUGH)
    return Fact("sampling", f"{over}, {samples(count)}{few}")


FACTS: dict[Kind, Sequence[Callable[[Case], Fact | None]]] = {
    "bodies": (bodies, fit, separation_of_bodies, halves, hierarchy),
    "undecided": (fit, best_split, sampling, hierarchy),
    "one body": (fit, loose_ends, best_split, stiffest, hierarchy, sampling),
    "flexible": (fit, loose_ends, best_split, stiffest, hierarchy, sampling),
    "motion": (*(partial(movement, rank=rank) for rank in range(3)), modes, fit),
    "groups": (range_of_groups, separation_of_groups, support_of_groups, order, chance),
    "network": (separation_of_groups, range_of_network, chance),
    "none": (chance, recurring, hierarchy, typical_sigma, sampling, used),
}
