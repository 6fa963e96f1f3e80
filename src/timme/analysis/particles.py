"""Findings of particles, groups and matrices: sentences, with facts beside their chance level."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timme._text import counted
from timme.analysis.evidence import BY_CHANCE, Case, medians, shown_pairs, walkers_at
from timme.analysis.phrases import (
    Fact,
    Sure,
    Words,
    cutoff,
    hierarchy,
    length,
    members,
    noun,
    number,
    percent,
    sampling,
    sigma,
    some,
)
from timme.confidence.assessment import HATCHED, SOLID
from timme.confidence.bootstrap import N_DRAWS
from timme.confidence.chance import STEADY
from timme.ensemble.space import Boxes
from timme.hierarchy.condensed import PLATEAU

if TYPE_CHECKING:
    from timme.analysis.evidence import NetworkEvidence

_NEEDED = f"{np.exp(PLATEAU):.1f} needed"
_WALKERS = "independent walkers with the same steps"
_STILL = 0.05  # share of pairs with σ = 0, which measured motion does not have


def groups(case: Case) -> Words:
    """Groups that stay together over a wide range of cutoffs."""
    found, n, many = case.evidence.groups, case.evidence.n_sites, noun(case.analysis)
    if found[0].size == n:
        half = length(case.evidence.walkers.half, case.analysis.hierarchy.unit)
        low = cutoff(case.analysis, found[0].low)
        wide = f"together from {low} on; half of independent walkers from {half} on"
        facts = [Fact("range", wide), _typical_sigma(case), sampling(case.analysis)]
        return Words(f"all {n:,} {many} move together.", _notes(case), facts=facts)
    sure, total = _support(case), int(np.count_nonzero(case.labels >= 0))
    who = "one group moves" if len(found) == 1 else f"{number(len(found))} groups move"
    known = f", {sure}" * (sure != "no error bars")
    named, rest = some(_names(case)), " The rest do not."
    if total < n:
        named = f"{total:,} of {n:,} {many} ({named})"
    elif case.cutoff is not None:
        named, rest = f"{named} ({cutoff(case.analysis, case.cutoff)})", ""
    facts = [_range_of_groups(case), _separation(case), _support_of_groups(case), _order(case)]
    high = walkers_at(case.analysis, case.cutoff)[1]
    if case.cutoff is not None and not np.isnan(high):
        at = cutoff(case.analysis, case.cutoff)
        facts.append(Fact("chance", f"{_WALKERS}: at most {high:,.0f} together at {at} (95 %)"))
    return Words(f"{who} together{known}: {named}.{rest}", _notes(case), sure, facts)


def network(case: Case, found: NetworkEvidence) -> Words:
    """Most particles in one network."""
    analysis, made, tree = case.analysis, case.analysis.made, case.analysis.hierarchy
    size, n, many = len(found.sites), case.evidence.n_sites, noun(case.analysis)
    where = cutoff(analysis, found.cutoff)
    if made.length:
        where += f" ({found.cutoff / made.length:.2f} {made.length_name or 'length'}s)"
    arrested = found.arrested or case.evidence.walkers.confined
    state = f"{', arrested' * arrested}; {n - size:,} are mobile"
    ends = f"{length(found.low)} to {length(found.high, tree.unit)}"
    factor = f", a factor of {np.exp(found.width):.1f}; {_NEEDED}" * (found.low > 0)
    wide = f"the same size within 10 % from {tree.quantity.cutoff} = {ends}{factor}"
    why = f"because its {many} hardly move, not because they move in concert"
    because = f". The network is one {why}" * arrested
    facts = [_mobility(case) or _separation(case), Fact("range", wide), _chance(case, because)]
    sentence = f"{size:,} of {n:,} form one network at {where}{state}."
    return Words(sentence, _notes(case), facts=facts)


def nothing(case: Case) -> Words:
    """No lasting clusters, with the largest beside its chance level."""
    analysis, n = case.analysis, case.evidence.n_sites
    many = noun(analysis, n)
    at, high = case.cutoff, walkers_at(case.analysis, case.cutoff)[1]
    size = int(analysis.hierarchy.cut(np.inf if at is None else at).sizes[0])
    confined, once = case.evidence.walkers.confined, case.evidence.n_independent < 1.5
    if analysis.confidence is None:
        unknown = f"groups among {n:,} {many} were not assessed (confidence=no)."
        facts = [hierarchy(analysis), _typical_sigma(case)]
        return Words(unknown, sure="no error bars", facts=facts)
    where = "" if at is None else f" at {cutoff(analysis, at)}"
    notes = _notes(case)
    if n > 1 and not analysis.hierarchy.heights.any():
        still = f"no relative motion: {n:,} {many} keep their distances in all snapshots."
        return Words(still, notes, "no error bars")
    if size > high and confined:
        larger = "clusters larger than theirs are no sign of correlated motion"
        notes.append(f"the {many} stay in place, which independent walkers do not: {larger}.")
    notes.append("motion was sampled about once; longer tracks would help." * once)
    sure: Sure = "no error bars" if case.evidence.n_snapshots in (None, 2) else ""
    used = Fact("used", analysis.made.used) if analysis.made.used else None
    sampled = None if once else sampling(case.analysis)
    if size <= high or confined or size == n:
        sentence = f"no group moves together among {n:,} {many}."
        facts = [_largest(case, f"{size:,} of {n:,}{where}"), _chance(case), _typical_sigma(case)]
        return Words(sentence, notes, sure, [*facts, sampled, used])
    sentence = f"no lasting clusters. Of {n:,} {many} at most {size:,} move together{where}."
    facts = [_chance(case), _recurring(case), hierarchy(case.analysis), _typical_sigma(case)]
    return Words(sentence, notes, sure, [*facts, sampled, used])


def _notes(case: Case) -> list[str]:
    """Why there are no error bars or no chance level, and why pairs do not move at all."""
    confidence, notes = case.analysis.confidence, list[str]()
    if case.evidence.n_snapshots == 2:
        notes.append("two snapshots say what differs, not how surely: no error bars.")
    chance = None if confidence is None else confidence.chance
    if chance is not None and chance.drift > STEADY:
        notes.append("no chance level: in steady drift, independent walkers stay together as well.")
    values = shown_pairs(case.analysis)[1]
    still = float(np.mean(values == 0)) if len(values) else 0.0
    if still > _STILL:
        why = "coordinates do not resolve their motion, or noise= exceeds it"
        notes.append(f"{percent(still)} of the pairs have σ = 0: {why}.")
    return notes


def _names(case: Case) -> list[str]:
    return [members(case.analysis, sites) for sites in case.groups]


def _support(case: Case) -> Sure:
    """How sure the least supported group is."""
    support = np.min([group.support for group in case.evidence.groups])
    if np.isnan(support):
        return "no error bars"
    sure: Sure = "tentative" if support >= HATCHED else "not established"
    return "well supported" if support >= SOLID else sure


def _range_of_groups(case: Case) -> Fact | None:
    """Range of cutoffs over which the groups stay the same, beside that of walkers."""
    found, tree, walkers = case.evidence.groups, case.analysis.hierarchy, case.evidence.walkers
    least, needed = min(found, key=lambda group: group.plateau), _NEEDED
    if not np.isfinite(least.plateau):
        return None
    few = case.evidence.n_sites - least.size < case.evidence.min_size
    if walkers.width < least.plateau and not few:
        needed = f"chance gives up to {np.exp(walkers.width):.1f}"
    elif np.isfinite(least.chance):
        needed += f"; overlap with clusters of walkers {least.chance:.2f} of 1"
    factor = f"a factor of {np.exp(least.plateau):.1f}"
    what = f"each group stays the same over {factor} or more in {tree.quantity.cutoff}"
    if len(found) == 1:
        ends = f"{length(least.low)} to {length(least.high, tree.unit)}"
        what = f"the same {least.size:,} from {tree.quantity.cutoff} = {ends}, {factor}"
    return Fact("range", f"{what}; {needed}")


def _separation(case: Case) -> Fact | None:
    """Median σ inside the groups, to all other sites, and among these."""
    inside, across, among = medians(case.analysis, case.labels)
    if not inside > 0 or np.isnan(across):
        return None
    unit = case.analysis.hierarchy.unit
    apart = "between groups" if (case.labels >= 0).all() else "to the others"
    if among > 0:
        apart += f" ({sigma(among, unit)} among the others)"
    return Fact(
        "separation", f"median σ {sigma(inside, unit)} inside, {sigma(across, unit)} {apart}"
    )


def _support_of_groups(case: Case) -> Fact | None:
    """How often resampled data give the same groups."""
    found = [group.support for group in case.evidence.groups]
    if np.isnan(found).any():
        return None
    span = dict.fromkeys([percent(min(found)), percent(max(found))])
    return Fact("support", f"{' to '.join(span)} in {N_DRAWS} bootstrap draws")


def _order(case: Case) -> Fact | None:
    """Which of three or more groups join first, and which last."""
    first, tree = np.array([sites[0] for sites in case.groups]), case.analysis.hierarchy
    one, other = np.triu_indices(len(first), 1)
    heights = tree.heights_between(first[one], first[other])
    if len(first) < 3 or not np.isfinite(heights).all():
        return None
    joins = [heights[(one == group) | (other == group)].min() for group in range(len(first))]
    pair, last = int(heights.argmin()), int(np.argmax(joins))
    names, at = _names(case), cutoff(case.analysis, heights[pair])
    early = f"{names[one[pair]]} and {names[other[pair]]} join first ({at})"
    return Fact("order", f"{early}, {names[last]} last ({length(joins[last], tree.unit)})")


def _mobility(case: Case) -> Fact | None:
    """How far sites move in a network, and outside it."""
    system = case.analysis.system
    if system.film is None:
        return None
    sites, unit = system.object_sites[system.shown], system.unit
    moves = system.film[:, sites].astype(np.float64) - system.coordinates[sites]
    if system.box is not None:
        boxes = np.repeat(system.box[None], len(moves), axis=0)
        moves = Boxes.of(boxes, len(moves), moves.shape[2]).shorten(moves)
    rms, inside = np.sqrt(np.nanvar(moves, axis=0).sum(axis=1)), case.labels >= 0
    own, others = (sigma(float(np.median(rms[each])), unit) for each in (inside, ~inside))
    beside = f"{others} outside it (median {noun(case.analysis, 1)})"
    return Fact("motion", f"{own} rms in the network, {beside}")


def _largest(case: Case, size: str) -> Fact:
    """The largest cluster at the cutoff, and why it is no group."""
    support = [record.support for record in case.evidence.records if record.parent >= 0]
    weak = f", support below {percent(HATCHED)}" * (max(support, default=np.nan) < HATCHED)
    if any(each.plateau >= PLATEAU and each.chance >= BY_CHANCE for each in case.evidence.records):
        return Fact("largest", f"{size}; independent walkers form the clusters that last as well")
    return Fact("largest", f"{size}, where clusters grow steadily: no plateau{weak}")


def _chance(case: Case, more: str = "") -> Fact | None:
    """The largest cluster of independent walkers at the same cutoff."""
    middle, high = walkers_at(case.analysis, case.cutoff)
    if np.isnan(middle):
        return None
    return Fact("chance", f"{_WALKERS}: {middle:,.0f} (95 %: {high:,.0f}){more}")


def _recurring(case: Case) -> Fact | None:
    """How many clusters recur in resampled data."""
    confidence = case.analysis.confidence
    if confidence is None or all(np.isnan(record.support) for record in confidence.records):
        return None
    count = len(confidence.trusted)
    who = "none" if count == 0 else number(count)
    n_clusters = len(confidence.records)
    clusters = f"{n_clusters} cluster{'s' * (n_clusters != 1)} of ≥ {case.evidence.min_size}"
    return Fact("support", f"{who} of {clusters} recur{'s' * (count < 2)} in resampled data")


def _typical_sigma(case: Case) -> Fact | None:
    """The median σ, and the smallest."""
    values, unit = shown_pairs(case.analysis)[1], case.analysis.hierarchy.unit
    if not len(values):
        return None
    middle, least = sigma(float(np.median(values)), unit), sigma(float(values.min()), unit)
    pairs = counted(len(values), "pair")
    return Fact("typical σ", f"{middle} (median over {pairs}); the stiffest pair has {least}")
