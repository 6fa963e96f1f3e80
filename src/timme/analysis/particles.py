"""Findings of particles, groups and matrices: sentences, with facts beside their chance level."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from timme._text import counted
from timme.analysis.evidence import BY_CHANCE, medians, shown_pairs, walkers, walkers_at
from timme.analysis.phrases import Case, Fact, Sure, Words, joined, length, number, percent
from timme.confidence.assessment import HATCHED, SOLID
from timme.confidence.bootstrap import N_DRAWS
from timme.confidence.chance import STEADY
from timme.ensemble.space import Boxes
from timme.hierarchy.condensed import PLATEAU

if TYPE_CHECKING:
    from timme.hierarchy.condensed import Lineage

_ARRESTED = 0.9  # share of the network that independent walkers form as well
_NEEDED = f"{np.exp(PLATEAU):.2f} needed"
_WALKERS = "independent walkers with the same steps"


def groups(case: Case) -> Words:
    """Groups that stay together over a wide range of cutoffs."""
    n, total = case.evidence.n_sites, int(np.count_nonzero(case.labels >= 0))
    found, sure = case.evidence.groups, _sure(case)
    who = "one group moves" if len(found) == 1 else f"{number(len(found))} groups move"
    known = f", {sure}" * (sure != "no error bars")
    named = joined(map(case.members, case.groups), " · ")
    what = f"{named} ({case.cutoff(case.at)})."
    if total < n:
        what = f"{total:,} of {n:,} {case.noun()} ({named}). The rest do not."
    facts = [_range(case), _separation(case), _support(case), _order(case)]
    high = walkers_at(case.analysis, case.at)[1]
    if not np.isnan(high):
        most = f"at most {high:,.0f} together at {case.cutoff(case.at)} (95 %)"
        facts.append(Fact("chance", f"{_WALKERS}: {most}"))
    return Words(f"{who} together{known}: {what}", _notes(case), sure, facts)


def network(case: Case) -> Words:
    """Most particles in one network."""
    made, n, total = case.analysis.made, case.evidence.n_sites, np.count_nonzero(case.labels >= 0)
    found, where = cast("Lineage", case.evidence.network), case.cutoff(case.at)
    ends = case.ends(found.low, found.high)
    arrested = case.evidence.by_chance >= _ARRESTED
    if made.length:
        where += f" ({case.at / made.length:.2f} {made.length_name or 'length'}s)"
    wide = Fact("range", f"the same size within 10 % from {ends}; a factor of {_NEEDED}")
    why = f"because its {case.noun()} hardly move, not because they move in concert"
    chance = _chance(case, f". The network is one {why}" * arrested)
    state = f"{', arrested' * arrested}; {n - total:,} are mobile"
    sentence = f"{total:,} of {n:,} form one network at {where}{state}."
    return Words(sentence, _notes(case), facts=[_mobility(case), wide, chance])


def nothing(case: Case) -> Words:
    """No lasting clusters, with the largest beside its chance level."""
    analysis, n, notes = case.analysis, case.evidence.n_sites, _notes(case)
    many, once = case.noun(n), case.evidence.n_independent < 1.5
    if analysis.confidence is None:
        unknown = f"groups among {n:,} {many} were not assessed (confidence=no)."
        return Words(unknown, notes, "no error bars", [case.hierarchy(), _typical_sigma(case)])
    if n > 1 and not analysis.hierarchy.heights.any():
        still = f"no relative motion: {n:,} {many} keep their distances in all snapshots."
        return Words(still, notes, "no error bars")
    high = walkers_at(analysis, case.at)[1]
    size, at = int(analysis.hierarchy.cut(case.at).sizes[0]), case.cutoff(case.at)
    notes.append("motion was sampled about once; longer tracks would help." * once)
    sentence = f"no lasting clusters. Of {n:,} {many} at most {size:,} move together at {at}."
    if 2 * size > n:  # "at most" would deny what moves together
        sentence = f"no lasting clusters. One cluster has {size:,} of {n:,} {many} at {at}."
    facts = [_chance(case), _recurring(case), case.hierarchy(), _typical_sigma(case)]
    if size <= high:
        sentence = f"no group moves together among {n:,} {many}."
        largest = _largest(case, f"{size:,} of {n:,} at {at}")
        facts = [largest, _chance(case), _typical_sigma(case)]
    facts.append(None if once else case.sampling())
    facts.append(Fact("used", analysis.made.used) if analysis.made.used else None)
    sure: Sure = "no error bars" if case.evidence.n_snapshots in (None, 2) else ""
    return Words(sentence, notes, sure, facts)


def _notes(case: Case) -> list[str]:
    """Why there are no error bars or no chance level, and why pairs do not move at all."""
    confidence, notes = case.analysis.confidence, list[str]()
    if case.evidence.n_snapshots == 2:
        notes.append("two snapshots say what differs, not how surely: no error bars.")
    chance = None if confidence is None else confidence.chance
    if chance is not None and chance.drift > STEADY:
        notes.append("no chance level: in steady drift, independent walkers stay together as well.")
    return notes


def _sure(case: Case) -> Sure:
    """How sure the least supported group is."""
    support = np.min([group.support for group in case.evidence.groups])
    if np.isnan(support):
        return "no error bars"
    sure: Sure = "tentative" if support >= HATCHED else "not established"
    return "well supported" if support >= SOLID else sure


def _range(case: Case) -> Fact | None:
    """Range of cutoffs over which the groups stay the same, beside that of walkers."""
    found, chance, needed = case.evidence.groups, walkers(case.analysis), _NEEDED
    least = min(found, key=lambda group: group.plateau)
    if not 0 < least.plateau < np.inf:
        return None
    if chance is not None and chance.width < least.plateau:
        needed = f"chance gives up to {np.exp(chance.width):.1f}"
    factor = f"a factor of {np.exp(least.plateau):.1f}"
    symbol = case.analysis.hierarchy.quantity.cutoff
    what = f"each group stays the same over {factor} or more in {symbol}"
    if len(found) == 1:
        what = f"the same {least.size:,} from {case.ends(least.low, least.high)}, {factor}"
    return Fact("range", f"{what}; {needed}")


def _separation(case: Case) -> Fact | None:
    """Median σ inside the groups, to all other sites, and among these."""
    inside, across, among = medians(case.analysis, case.labels)
    if not inside > 0 or np.isnan(across):
        return None
    apart = "between groups" if (case.labels >= 0).all() else "to the others"
    if among > 0:
        apart += f" ({case.sigma(among)} among the others)"
    what = f"median σ {case.sigma(inside)} inside, {case.sigma(across)} {apart}"
    return Fact("separation", what)


def _support(case: Case) -> Fact | None:
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
    names = [case.members(sites) for sites in case.groups]
    early = f"{names[one[pair]]} and {names[other[pair]]} join first"
    at = case.cutoff(heights[pair])
    return Fact("order", f"{early} ({at}), {names[last]} last ({length(joins[last], tree.unit)})")


def _mobility(case: Case) -> Fact | None:
    """How far sites move in a network, and outside it."""
    system = case.analysis.system
    if system.film is None:
        return None
    sites = system.object_sites[system.shown]
    moves = system.film[:, sites].astype(np.float64) - system.coordinates[sites]
    if system.box is not None:
        boxes = np.repeat(system.box[None], len(moves), axis=0)
        moves = Boxes.of(boxes, len(moves), moves.shape[2]).shorten(moves)
    rms, inside = np.sqrt(np.nanvar(moves, axis=0).sum(axis=1)), case.labels >= 0
    own, others = (case.sigma(float(np.median(rms[part]))) for part in (inside, ~inside))
    beside = f"{others} outside it (median {case.noun(1)})"
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
    middle, high = walkers_at(case.analysis, case.at)
    if np.isnan(middle):
        return None
    return Fact("chance", f"{_WALKERS}: {middle:,.0f} (95 %: {high:,.0f}){more}")


def _recurring(case: Case) -> Fact | None:
    """How many clusters recur in resampled data."""
    records = case.evidence.records
    if all(np.isnan(record.support) for record in records):
        return None
    count = sum(record.sure == "well supported" for record in records)
    who = f"{number(count)} of {counted(len(records), 'cluster')} of ≥ {case.evidence.min_size}"
    return Fact("support", f"{who} recur{'s' * (count < 2)} in resampled data")


def _typical_sigma(case: Case) -> Fact | None:
    """The median σ, and the smallest."""
    values = shown_pairs(case.analysis)[1]
    if not len(values):
        return None
    middle, least = case.sigma(float(np.median(values))), case.sigma(float(values.min()))
    pairs = counted(len(values), "pair")
    return Fact("typical σ", f"{middle} (median over {pairs}); the stiffest pair has {least}")
