"""Sentences about groups of particles, networks, rigid cores and comparisons, with their facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timme.analysis import tables
from timme.analysis.evidence import (
    Evidence,
    GroupEvidence,
    common_cutoff,
    medians,
    shown_pairs,
)
from timme.analysis.phrases import (
    Fact,
    Sure,
    Words,
    cutoff,
    duration,
    hierarchy,
    noun,
    number,
    percent,
    samples,
    sigma,
    value,
)
from timme.confidence.assessment import HATCHED, SOLID
from timme.confidence.bootstrap import N_DRAWS
from timme.hierarchy.curves import count_clusters

if TYPE_CHECKING:
    from timme.analysis.result import Analysis

_RIGID = 2.0  # median σ between groups over that inside, from which they are rigid bodies
_WALKERS = "independent walkers with the same steps"


def groups(analysis: Analysis, found: Evidence) -> Words:
    """Groups that stay together over a wide range of cutoffs."""
    some, unit, many = found.apart, analysis.hierarchy.unit, noun(analysis)
    names = [tables.runs(analysis.shown_atoms, group.sites) for group in some]
    support = min(group.support for group in some)
    sure: Sure = "well supported" if support >= SOLID else "tentative"
    if np.isnan(support) or support < HATCHED:
        sure = "no error bars" if np.isnan(support) else "not established"
    verdict = f", {sure}" * (sure != "no error bars")
    draws = f"in {N_DRAWS} bootstrap draws"
    facts: list[Fact | None]
    if len(some) == 1:
        group = some[0]
        sentence = (
            f"one group moves together{verdict}: {group.size:,} of {found.n_sites:,} {many} "
            f"({names[0]}). The rest do not."
        )
        inside, across, others = (sigma(x, unit) for x in medians(analysis, group.sites))
        facts = [
            Fact(
                "range",
                f"the same {group.size:,} from {_range(analysis, group)}{_widest(analysis)}",
            ),
            Fact(
                "separation",
                f"median σ {inside} inside, {across} to the others ({others} among the others)",
            ),
            Fact("support", f"{percent(support)} {draws}"),
        ]
    else:
        rigid = all(group.across >= _RIGID * group.inside for group in some)
        what = "move as rigid bodies" if rigid else "move together"
        where = cutoff(analysis, common_cutoff(some))
        sentence = f"{number(len(some))} groups {what}{verdict}: {', '.join(names)} ({where})."
        each = percent(support) + (" each" if support >= 0.995 else " or more")
        facts = [
            Fact("support", f"{each} {draws}"),
            Fact("separation", _between(analysis, found, names)),
            _order(analysis, found, names),
        ]
    if np.isnan(support):
        facts = [fact for fact in facts if fact is not None and fact.label != "support"]
    facts.append(_chance(found, analysis, alone=len(some) == 1))
    return Words(f"{sentence}", facts, _drift_note(analysis), sure)


def _range(analysis: Analysis, group: GroupEvidence) -> str:
    name, unit = analysis.hierarchy.quantity.cutoff, analysis.hierarchy.unit
    low, high = group.low, group.high
    if not np.isfinite(high):
        return f"{name} = {value(low, unit)} on"
    factor = f", a factor of {high / low:.1f}" if low > 0 else ""
    return f"{name} = {value(low)} to {value(high, unit)}{factor}"


def _between(analysis: Analysis, found: Evidence, names: list[str]) -> str:
    """Median σ inside the groups, and between any two of them."""
    some, unit = found.apart, analysis.hierarchy.unit
    pairs, values = shown_pairs(analysis)
    label = np.full(found.n_sites, -1)
    for place, group in enumerate(some):
        label[group.sites] = place
    ends = label[pairs]
    apart = {
        (one, other): float(np.median(values[both]))
        for one in range(len(some))
        for other in range(one + 1, len(some))
        if (both := ((ends == (one, other)) | (ends == (other, one))).all(axis=1)).any()
    }
    inside = sigma(float(np.median([group.inside for group in some])), unit)
    if not apart:
        return f"±{inside} inside"
    (one, other), least = min(apart.items(), key=lambda item: item[1])
    smallest, most = sigma(least, unit), sigma(max(apart.values()), unit)
    if len(some) == 3 and len(apart) == 3:
        last = names[3 - one - other]
        near = f"±{smallest} between {names[one]} and {names[other]}"
        return f"±{inside} inside; {near}, ±{most} between these and {last}"
    between = f"±{smallest}" if smallest == most else f"±{smallest} to ±{most}"
    return f"±{inside} inside; {between} between them"


def _order(analysis: Analysis, found: Evidence, names: list[str]) -> Fact | None:
    """Which groups join first."""
    first = np.array([group.sites[0] for group in found.apart])
    one, other = np.triu_indices(len(first), 1)
    heights = analysis.hierarchy.heights_between(first[one], first[other])
    k = int(heights.argmin())
    if len(first) < 3 or not np.isfinite(heights).all():
        return None
    joined = f"{names[one[k]]} and {names[other[k]]} join first ({cutoff(analysis, heights[k])})"
    top = value(float(heights.max()), analysis.hierarchy.unit)
    last = f"{names[3 - one[k] - other[k]]} last ({top})" if len(first) == 3 else f"all at {top}"
    return Fact("order", f"{joined}, {last}")


def _widest(analysis: Analysis) -> str:
    """The widest range over which clusters of independent walkers stay the same."""
    chance = None if analysis.confidence is None else analysis.confidence.chance
    if chance is None or not chance.is_meaningful or np.isnan(chance.width):
        return ""
    return f"; chance gives up to {np.exp(chance.width):.1f}"


def _chance(found: Evidence, analysis: Analysis, *, alone: bool) -> Fact | None:
    """The largest cluster of independent walkers at the same cutoff."""
    level = found.largest
    if level is None or np.isnan(level.chance_median):
        return None
    most = f"clusters of up to {level.chance_high:.0f}"
    if alone:
        most = (
            f"at most {level.chance_high:.0f} together at {cutoff(analysis, level.cutoff)} (95 %)"
        )
    return Fact("chance", f"{_WALKERS}: {most}")


def _drift_note(analysis: Analysis) -> list[str]:
    chance = None if analysis.confidence is None else analysis.confidence.chance
    if chance is None or chance.is_meaningful:
        return []
    return [
        "steady drift: the chance level cannot be estimated, because shifted steps drift as well."
    ]


def network(analysis: Analysis, found: Evidence) -> Words:
    """Most particles in one network."""
    group, system = found.network, analysis.system
    if group is None:
        return none(analysis, found)
    rest = found.n_sites - group.size
    length, where = analysis.made.length, cutoff(analysis, group.middle)
    if length:
        ratio, name = f"{group.middle / length:.2f}", analysis.made.length_name
        symbol = analysis.hierarchy.quantity.cutoff
        where += f" ({symbol}/a = {ratio})" if name in ("", "a") else f" ({ratio} {name}s)"
    still = ", arrested" * found.arrested
    one = noun(analysis, 1)
    facts: list[Fact | None] = []
    if system.film is not None:
        shown = system.film[:, system.object_sites[system.shown]].astype(np.float64)
        rms = np.sqrt(np.nanvar(shown, axis=0).sum(axis=1))
        inside, outside = np.median(rms[group.sites]), np.median(np.delete(rms, group.sites))
        spread = f"{value(inside, system.unit)} rms in the network, {value(outside, system.unit)}"
        facts.append(Fact("motion", f"{spread} outside it (median {one})"))
    facts.append(_alone(analysis, found, group))
    if not np.isnan(group.chance):
        why = ""
        if found.arrested:
            why = f". The network is one because its {noun(analysis)} hardly move, not because they"
            why += " move in concert"
        expected, level = f"{round(group.chance * group.size):,}", found.largest
        if level is not None and level.cutoff == group.middle:
            expected += f" (95 %: {level.chance_high:,.0f})"
        facts.append(Fact("chance", f"{_WALKERS}: {expected}{why}"))
    sentence = (
        f"{group.size:,} of {found.n_sites:,} form one network at {where}{still}; {rest:,} are"
    )
    return Words(f"{sentence} mobile.", facts, _drift_note(analysis))


def _alone(analysis: Analysis, found: Evidence, group: GroupEvidence) -> Fact | None:
    """Cutoffs around the middle of a group between which no other cluster is large."""
    tree = analysis.hierarchy
    counted = count_clusters(tree, large=found.min_size, sizes=())
    place = int(np.searchsorted(counted.cutoffs, group.middle, side="right")) - 1
    large = np.round(counted.large_fraction * tree.n_sites)
    rivals = np.flatnonzero(large != counted.largest)
    if place in rivals:
        return None
    start = int(rivals[rivals < place].max(initial=-1)) + 1
    end = int(rivals[rivals > place].min(initial=len(large) - 1))
    low, high = value(counted.cutoffs[start]), value(counted.cutoffs[end], tree.unit)
    what = f"one cluster of ≥ {found.min_size} and no rival from {tree.quantity.cutoff} = {low}"
    grows = f"growing from {counted.largest[start]:,} to {counted.largest[end - 1]:,}"
    return Fact("range", f"{what} to {high}, {grows}")


def none(analysis: Analysis, found: Evidence) -> Words:
    """No lasting clusters, with the largest beside its chance level."""
    level, unit, many, n = found.largest, analysis.hierarchy.unit, noun(analysis), found.n_sites
    records = () if analysis.confidence is None else analysis.confidence.records
    supports = [record.support for record in records if not np.isnan(record.support)]
    again = 0 if analysis.confidence is None else len(analysis.confidence.trusted)
    sigmas, facts = shown_pairs(analysis)[1], list[Fact | None]()
    typical = sigma(float(np.median(sigmas)), unit) if len(sigmas) else ""
    chance = None
    if level is not None and level.chance_high >= 0:
        beyond = ", so motion is correlated" * (level.size > 2 * level.chance_high)
        expected = f"{level.chance_median:.0f} (95 %: {level.chance_high:.0f}){beyond}"
        chance = Fact("chance", f"{_WALKERS}: {expected}")
    if level is not None and level.size > level.chance_high:
        most = f"at most {level.size:,} move together at {cutoff(analysis, level.cutoff)}"
        sentence = f"no lasting clusters. Of {n:,} {many} {most}."
        facts.append(chance)
        if supports:
            recur = f"{'recurs' if again < 2 else 'recur'} in resampled data"
            what = number(again).replace("no", "none")
            recurring = f"{what} of {len(records)} clusters of ≥ {found.min_size} {recur}"
            facts.append(Fact("support", recurring))
        if (forms := hierarchy(analysis, found)) is not None:
            joined = forms.value.replace(f"half of the {many}", "half")
            facts.append(Fact("hierarchy", f"{joined} (typical σ {typical})"))
        time = duration(analysis)
        about = f"{found.n_snapshots} snapshots{f' over {time}' * bool(time)}"
        known = Fact("sampling", f"{about}, {samples(found.n_independent)}")
        facts.append(None if np.isnan(found.n_independent) else known)
        return Words(sentence, facts, _drift_note(analysis))
    if level is not None:
        steady = "where clusters grow steadily: no plateau"
        weak = f", support below {percent(HATCHED)}" * (max(supports, default=1.0) < HATCHED)
        at = cutoff(analysis, level.cutoff)
        facts += [Fact("largest", f"{level.size:,} of {n:,} at {at}, {steady}{weak}"), chance]
    if typical:
        least = sigma(float(sigmas.min()), unit)
        medians_text = (
            f"{typical} (median over {len(sigmas):,} pairs); the stiffest pair has {least}"
        )
        facts.append(Fact("typical σ", medians_text))
    facts.append(Fact("used", analysis.made.used) if analysis.made.used else None)
    once = ["motion was sampled about once; longer tracks would help."]
    notes = [*_drift_note(analysis), *(once if found.n_independent < 2 else [])]
    return Words(f"no group moves together among {n:,} {many}.", facts, notes)
