"""Sentences about groups of particles, networks, rigid cores and comparisons, with their facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from timme_next._text import counted
from timme_next.analysis import tables
from timme_next.analysis.evidence import (
    Evidence,
    GroupEvidence,
    common_cutoff,
    medians,
    shown_pairs,
)
from timme_next.analysis.phrases import (
    Fact,
    Sure,
    Words,
    cutoff,
    duration,
    energy,
    hierarchy,
    noun,
    number,
    percent,
    samples,
    sampling,
    sigma,
    value,
)
from timme_next.confidence.assessment import HATCHED, SOLID
from timme_next.confidence.bootstrap import N_DRAWS

if TYPE_CHECKING:
    from timme_next.analysis.result import Analysis

_RIGID = 2.0  # median σ between groups over that inside, from which they are rigid bodies
_ENERGIES = (-0.1, -0.5, -1.0, -1.5, -2.0, -3.0)  # kcal/mol, of a dilution in a few words
_ALIKE = 0.05  # p below which two results agree beyond chance
_LONG = 40  # characters of a list of sites that were left out
_WALKERS = "independent walkers with the same steps"


def groups(analysis: Analysis, found: Evidence) -> Words:
    """Groups that stay together over a wide range of cutoffs."""
    some, unit, many = found.apart, analysis.hierarchy.unit, noun(analysis)
    names = [tables.runs(analysis.shown_atoms, group.sites) for group in some]
    support = min(group.support for group in some)
    sure: Sure = "well supported" if support >= SOLID else "tentative"
    if np.isnan(support) or support < HATCHED:
        sure = "no error bars" if np.isnan(support) else "not established"
    told = f", {sure}" * (sure != "no error bars")
    draws = f"in {N_DRAWS} bootstrap draws"
    facts: list[Fact | None]
    if len(some) == 1:
        group = some[0]
        rest = found.n_sites - group.size
        sentence = (
            f"one group moves together{told}: {group.size:,} of {found.n_sites:,} {many} "
            f"({names[0]}). The other {rest:,} do not."
        )
        inside, across, others = (sigma(x, unit) for x in medians(analysis, group.sites))
        facts = [
            Fact("range", f"the same {group.size:,} from {_range(analysis, group)}"),
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
        sentence = f"{number(len(some))} groups {what}{told}: {', '.join(names)} ({where})."
        each = percent(support) + (" each" if support >= 0.995 else " or more")
        facts = [
            Fact("support", f"{each} {draws}"),
            Fact("separation", _between(analysis, found, names)),
            _order(analysis, found, names),
        ]
    if np.isnan(support):
        facts = [fact for fact in facts if fact is not None and fact.label != "support"]
    facts += [_chance(found, analysis), sampling(found)]
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
    least_told, most = sigma(least, unit), sigma(max(apart.values()), unit)
    if len(some) == 3 and len(apart) == 3:
        last = names[3 - one - other]
        near = f"±{least_told} between {names[one]} and {names[other]}"
        return f"±{inside} inside; {near}, ±{most} between these and {last}"
    between = f"±{least_told}" if least_told == most else f"±{least_told} to ±{most}"
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


def _chance(found: Evidence, analysis: Analysis) -> Fact | None:
    """The largest cluster of independent walkers at the same cutoff."""
    level = found.largest
    if level is None or np.isnan(level.chance_median):
        return None
    most = f"clusters of up to {level.chance_high:.0f} at {cutoff(analysis, level.cutoff)} (95 %)"
    return Fact("chance", f"{_WALKERS}: {most}")


def _drift_note(analysis: Analysis) -> list[str]:
    chance = None if analysis.confidence is None else analysis.confidence.chance
    if chance is None or chance.can_be_told:
        return []
    return ["steady drift: the chance level cannot be told, because shifted steps drift as well."]


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
    tree, one = analysis.hierarchy, noun(analysis, 1)
    sizes = [int(tree.cut(x).sizes[0]) for x in (group.low, np.nextafter(group.high, 0))]
    facts: list[Fact | None] = []
    if system.film is not None:
        shown = system.film[:, system.object_sites[system.shown]].astype(np.float64)
        rms = np.sqrt(np.nanvar(shown, axis=0).sum(axis=1))
        inside, outside = np.median(rms[group.sites]), np.median(np.delete(rms, group.sites))
        told = f"{value(inside, system.unit)} rms in the network, {value(outside, system.unit)}"
        facts.append(Fact("motion", f"{told} outside it (median {one})"))
    grows = f"growing from {sizes[0]:,} to {sizes[1]:,}"
    facts.append(Fact("range", f"from {_range(analysis, group)}, {grows}"))
    if not np.isnan(group.chance):
        why = ""
        if found.arrested:
            why = f". The network is one because its {noun(analysis)} hardly move, not because they"
            why += " move in concert"
        by_chance = round(group.chance * group.size)
        facts.append(Fact("chance", f"{_WALKERS}: {by_chance:,}{why}"))
    facts.append(sampling(found))
    sentence = (
        f"{group.size:,} of {found.n_sites:,} form one network at {where}{still}; {rest:,} are"
    )
    return Words(f"{sentence} mobile.", facts, _drift_note(analysis))


def none(analysis: Analysis, found: Evidence) -> Words:
    """No lasting clusters, with the largest beside its chance level."""
    level, unit, many, n = found.largest, analysis.hierarchy.unit, noun(analysis), found.n_sites
    facts: list[Fact | None] = []
    sentence = f"no group moves together among {n:,} {many}."
    if level is not None:
        where, high = cutoff(analysis, level.cutoff), level.chance_high
        if level.size > high:
            most = f"at most {level.size:,} move together at {where}"
            sentence = f"no lasting clusters. Of {n:,} {many} {most}."
        else:
            steady = "where clusters grow steadily: no plateau"
            facts.append(Fact("largest", f"{level.size:,} of {n:,} at {where}, {steady}"))
        if high >= 0:
            beyond = ", so motion is correlated" * (level.size > 2 * high)
            told = f"{level.chance_median:.0f} (95 %: {high:.0f}){beyond}"
            facts.append(Fact("chance", f"{_WALKERS}: {told}"))
    records = () if analysis.confidence is None else analysis.confidence.records
    judged = [record for record in records if not np.isnan(record.support)]
    again = sum(record.support >= HATCHED for record in judged)
    if judged:
        recur = f"{'recurs' if again < 2 else 'recur'} in resampled data"
        what = number(again).replace("no", "none")
        told = f"{what} of {len(judged)} clusters of ≥ {found.min_size} {recur}"
        facts.append(Fact("support", told))
    sigmas = shown_pairs(analysis)[1]
    if len(sigmas):
        typical, least = sigma(float(np.median(sigmas)), unit), sigma(float(sigmas.min()), unit)
        told = f"{typical} (median over {len(sigmas):,} pairs); the stiffest pair has {least}"
        facts.append(Fact("typical σ", told))
    used, time = analysis.made.used, duration(analysis)
    about = f"{found.n_snapshots} snapshots{f' over {time}' * bool(time)}"
    known = Fact("sampling", f"{about}, {samples(found.n_independent)}")
    facts += [Fact("used", used) if used else None, hierarchy(analysis, found)]
    facts.append(None if np.isnan(found.n_independent) else known)
    return Words(sentence, facts, _drift_note(analysis))


def core(analysis: Analysis) -> Words:
    """The largest rigid cluster of a network of bonds."""
    tree, rigid, atoms = analysis.hierarchy, analysis.rigidity, analysis.shown_atoms
    if rigid is None:
        raise ValueError("a rigid core needs the network of bonds, got an analysis of snapshots")
    cut, size, n = tree.cut(rigid.cutoff), tables.min_size(analysis), tree.n_sites
    largest, many = int(cut.sizes[0]), noun(analysis)
    bonds = f"hydrogen bonds of {energy(rigid.cutoff)} kcal/mol or stronger"
    next_ones = [
        f"{tables.runs(atoms, cut.members(k))} ({cut.sizes[k]})"
        for k in range(1, min(3, cut.n_clusters))
        if cut.sizes[k] >= 3
    ]
    others = f"; next: {', '.join(next_ones)}" if next_ones else ""
    told = [
        f"{'core ' * (not k)}{tree.cut(x).sizes[0]} at {energy(x)}{' kcal/mol' * (not k)}"
        for k, x in enumerate(_ENERGIES)
    ]
    kinds = rigid.network.kinds
    held = rigid.network.energies <= rigid.cutoff
    counts = [
        f"{np.count_nonzero(chosen):,} {name}"
        for name, chosen in (
            ("hydrogen bonds", rigid.network.of_kind("hydrogen bond") & held),
            ("salt bridges", rigid.network.of_kind("salt bridge") & held),
            ("hydrophobic contacts", rigid.network.of_kind("tether")),
        )
    ]
    added = f"; {rigid.n_added:,} H added" if rigid.n_added else ""
    facts: list[Fact | None] = [
        Fact("core", f"{tables.runs(atoms, cut.members(0))}{others}"),
        Fact("dilution", ", ".join(told)),
    ]
    notes = [
        "one structure has no error bars; shifts of 0.1 Å can change a core by tens of residues."
    ]
    if rigid.together is not None:
        least, most = int(rigid.together.largest.min()), int(rigid.together.largest.max())
        models = f"over {len(rigid.together.largest)} snapshots at {energy(rigid.cutoff)} kcal/mol"
        facts.append(Fact("spread", f"{least} to {most} {many} {models}"))
        notes = []
    facts.append(Fact("network", f"{', '.join(counts)}{added}" if len(kinds) else "no bonds"))
    sentence = f"one rigid core of {largest} of {n} {many}, held by {bonds}."
    if largest < size:
        sentence = f"no rigid core at {energy(rigid.cutoff)} kcal/mol: the largest rigid cluster "
        sentence += f"has {largest} of {n} {many}."
    return Words(sentence, facts, notes, "" if rigid.together is not None else "no error bars")


def agreement(comparison: Any) -> Words:
    """Whether two results cluster the same sites alike, beyond chance."""
    found, common = comparison.agreement, comparison.common
    results, names = (comparison.first, comparison.second), comparison.names
    first, second = (f"{name}{_origin(each)}" for name, each in zip(names, results, strict=True))
    best, chance, overlap = found.best_rand, found.chance, found.clusters
    index = f"adjusted Rand index {best:.2f}"
    sentence = f"{first} and {second}: {index}; too few sites for a chance level."
    facts: list[Fact | None] = []
    if chance is not None:
        alike = chance.p < _ALIKE and best > chance.high
        beside = f"chance {chance.median:.2f} (p = {chance.p:.2g})"
        sentence = f"{first} and {second} agree beyond chance: {index}, {beside}."
        if not alike:
            sentence = f"{first} and {second} do not agree beyond chance: {best:.2f}, {beside}."
    cutoffs = overlap.first.cutoff, overlap.second.cutoff
    where = [
        cutoff(each, x) if len(each.hierarchy.levels) > 1 else f"the clusters of {name}"
        for each, x, name in zip(results, cutoffs, names, strict=True)
    ]
    facts.append(Fact("best at", f"{' with '.join(where)}, over all pairs of cutoffs"))
    cores = overlap.first.labels == 0, overlap.second.labels == 0
    sizes = [np.count_nonzero(core) for core in cores]
    both, many = np.count_nonzero(cores[0] & cores[1]), noun(comparison.first)
    shared = f"{sizes[0]} in {names[0]}, {sizes[1]} in {names[1]}"
    facts.append(Fact("shared", f"{both} {many} are in the largest cluster of both ({shared})"))
    if chance is not None:
        chains = all(each.system.sequential for each in results)
        how = "shifted along the chain" if chains else "permuted"
        draws = f"the same search with {names[1]} {how}, {len(chance.rand)} times"
        facts.append(Fact("chance", f"{draws}: 95 % below {chance.high:.2f}"))
    facts.append(Fact("sites", _matched(comparison)))
    changed = comparison.difference
    if changed is not None and (changed.gained or changed.lost):
        bonds = f"{len(changed.gained)} only in {names[1]}, {len(changed.lost)} only in {names[0]}"
        facts.append(Fact("bonds", f"hydrogen bonds: {bonds}"))
    return Words(sentence, facts, [note for note in common.notes if "are in both" not in note])


def _origin(analysis: Analysis) -> str:
    """What a result was made from, where that is no run over time."""
    sampling = None if analysis.confidence is None else analysis.confidence.sampling
    models = sampling is not None and sampling.independent and sampling.n_snapshots > 2
    return " (bonds)" if analysis.rigidity is not None else " (NMR)" if models else ""


def _matched(comparison: Any) -> str:
    """How many sites were matched, and which were left out."""
    common, told = comparison.common, list[str]()
    results, rows = (comparison.first, comparison.second), (common.first, common.second)
    each_side = list(zip(comparison.names, [r.shown_atoms for r in results], rows, strict=True))
    for name, atoms, row in each_side:
        left = np.setdiff1d(np.arange(len(atoms)), row)
        some = tables.runs(atoms, left)
        if len(left):
            told.append(f"{name} {some}" if len(some) <= _LONG else f"{len(left)} more")
    one, other = (atoms.resnames[row] for _, atoms, row in each_side)
    same = ", all with the same residue names" * bool((one == other).all() and (one != "").all())
    left_out = f"; left out: {', '.join(told)}" if told else ""
    sites = counted(len(common.first), comparison.first.system.shown_name).replace("Cαs", "Cα")
    return f"{sites} matched{same}{left_out}"
