"""Findings of molecules: sentences about rigid bodies, and facts with what they compare with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timme.analysis import tables
from timme.analysis.evidence import AGREEMENT, FEW_SAMPLES, candidate
from timme.analysis.phrases import (
    Case,
    Fact,
    Sure,
    Words,
    joined,
    listed,
    number,
    percent,
    samples,
    sigma,
)
from timme.motion.body_search import GAP
from timme.motion.variance import overlap_with_bodies

if TYPE_CHECKING:
    from collections.abc import Iterable

    from timme._arrays import Ints
    from timme.analysis.result import Body
    from timme.motion.body_search import Level
    from timme.motion.hinges import Hinge

_SHARED = 0.5  # RMSIP of two halves of a run, below which they share little
_BRIDGED = 5  # residues in a gap within a stretch
_EXACT = "30 are enough for exact cutoffs"
_STILL = ("undefined", "rigid")  # kinds without a motion
_NEEDED = f"{np.floor(10 * np.sqrt(GAP)) / 10:.1f}× needed"


def several_bodies(case: Case) -> Words:
    """Several rigid bodies, in all or in each of several copies of a chain."""
    bodies, sure, count = case.motion.bodies, _sure(case), case.evidence.n_independent
    what = _count(case) + f", {sure}" * (sure == "well supported")
    sentence = f"{what}. {_turns(case)}."
    if case.chains:
        angles = {name: [f"{body.angle:.0f}°" for body in own] for name, own in case.chains.items()}
        moving = (f"{name}: {listed(own[1:])}" for name, own in angles.items() if len(own) > 1)
        sentence = f"{what} ({joined(moving, '; ')})."
    beside = bodies.levels[max(1, bodies.chosen - 1) : bodies.chosen + 2]
    fit = _fit(case, bodies.levels[bodies.chosen], [bodies.levels[0], *beside])
    facts = [_members(case), fit, _separation(case), _support(case), _clusters(case)]
    notes = [_packing(case), _structures(case)]
    if count < FEW_SAMPLES:
        passage = ": one passage between two states" * (count < 2)
        notes.append(f"{samples(count)}{passage}. A second run may differ.")
    return Words(sentence, notes, sure, facts)


def one_body(case: Case) -> Words:
    """One body, rigid or flexible, and why it is not split."""
    n, n_snapshots, many = case.evidence.n_sites, case.evidence.n_snapshots, case.noun()
    facts = [_fit_of_one(case), _split(case), _stiffest(case), case.hierarchy()]
    facts.append(case.sampling(_EXACT))
    notes, together = [_packing(case), _structures(case)], np.count_nonzero(case.labels >= 0)
    over = f"over {case.duration() or f'{n_snapshots} snapshots'}"
    if _are_models(case):
        over = f"in all {n_snapshots} NMR models"
    who = f"All {n:,} {many} move together"
    if together < n:
        who = f"{together:,} of {n:,} {many} keep their shape"
    sentence = f"{_count(case)}. {who} {over}; no domain moves."
    if not _is_rigid(case):
        sentence = "no rigid body: flexible throughout."
    return Words(sentence, notes, _sure(case), facts)


def undecided(case: Case) -> Words:
    """The best candidate, and what would settle it."""
    bodies, halves, needed = case.motion.bodies, case.motion.bodies.agreement, _EXACT
    if bodies.chosen and halves is not None:
        index = f"agreement {halves.rand:.2f} of 1, {AGREEMENT} needed"
        why = f"The two halves of the data do not have the same bodies ({index})"
    elif halves is not None and max(halves.counts) > 1:
        why = f"One half of the data has {number(max(halves.counts))} bodies, all of it one"
    else:
        best = number(len(case.groups) // max(1, len(case.chains)))
        why = f"{case.evidence.n_snapshots:,} snapshots are too few to tell one body from {best}"
        needed = f"{FEW_SAMPLES:.0f} or more usually decide"
    level = candidate(bodies)
    fit = _fit_of_one(case) if level is None else _fit(case, bodies.levels[0], [level])
    facts = [fit, _split(case, undecided=True), case.sampling(needed), case.hierarchy()]
    return Words(f"not established. {why}.", [_structures(case)], "not established", facts)


def motion(case: Case) -> Words:
    """How each body moves against another."""
    note, found, levels = "", _moving(case), case.motion.bodies.levels
    if case.analysis.halves < _SHARED:
        what = "one passage between two states, not an equilibrium"
        note = f"the two halves share little (RMSIP {case.analysis.halves:.2f}): {what}."
    named = {f"body {body.name} ({_main_stretch(case, body)})": body.angle for body, _ in found}
    against = " and ".join(sorted({f"body {body.relative_to}" for body, _ in found}))
    sentence = f"{listed(_turn(named))} against {against}"
    kinds = {hinge.kind for _, hinge in found}
    if len(kinds) == 1 and (kind := kinds.pop()) in ("hinge", "screw"):
        every = {1: "", 2: "both "}.get(len(found), "all ")
        sentence += f"; {every}{kind}-like"
    fit = _fit(case, levels[case.motion.bodies.chosen], levels[:1])
    facts = [*_movements(case), _modes(case), fit]
    notes = (note, _packing(case), _structures(case))
    return Words(f"{sentence}.", notes, _sure(case), facts)


def _sure(case: Case) -> Sure:
    """Whether both halves have the same bodies; a few snapshots have no halves."""
    halves = case.motion.bodies.agreement
    if halves is None:
        return "no error bars"
    return "not established" if halves.rand < AGREEMENT else "well supported"


def _is_rigid(case: Case) -> bool:
    return case.motion.bodies.levels[0].rest <= case.evidence.fit_limit


def _count(case: Case) -> str:
    """How many bodies there are, or each copy of a chain is."""
    counts = [len(own) for own in case.chains.values()] or [len(case.groups)]
    least = f"{number(min(counts))} to " * (min(counts) < max(counts))
    bodies = f"{least}{number(max(counts))} rigid bod{'y' if max(counts) == 1 else 'ies'}"
    return f"each of {number(len(counts))} chains is {bodies}" if case.chains else bodies


def _turns(case: Case) -> str:
    """How far the bodies turn that turn most."""
    found = _moving(case)
    alike = ", as on a hinge" * all(hinge.kind == "hinge" for _, hinge in found)
    if len(case.groups) == 2 and len(found) == 1:
        return f"One turns by {found[0][0].angle:.0f}° against the other{alike}"
    named = {_main_stretch(case, body): body.angle for body, _ in found}
    return f"{', '.join(_turn(named))} against the core{alike}"


def _turn(angles: dict[str, float]) -> list[str]:
    """By how much each of some bodies turns, with the verb at the first."""
    verbs = [" turns", *[""] * len(angles)]
    named = zip(angles.items(), verbs, strict=False)
    return [f"{name}{verb} by {angle:.0f}°" for (name, angle), verb in named]


def _moving(case: Case) -> list[tuple[Body, Hinge]]:
    """Return the three bodies that turn most, the largest of each copy of a chain left out."""
    packed = {own[0].name for own in case.chains.values() if own}
    found = [(body, body.motion) for body in case.analysis.bodies if body.motion is not None]
    found = [(body, hinge) for body, hinge in found if body.name not in packed] or found
    return sorted(found, key=lambda moving: -np.nan_to_num(moving[0].angle))[:3]


def _main_stretch(case: Case, body: Body) -> str:
    """Return the longest stretch of a body in its chain, short gaps bridged: "A 116-164"."""
    atoms = case.analysis.shown_atoms
    sites = body.sites[atoms.chains[body.sites] == body.chain]
    stretches = np.split(sites, np.flatnonzero(np.diff(sites) > _BRIDGED) + 1)
    longest = max(stretches, key=len)
    return tables.runs(atoms, range(longest[0], longest[-1] + 1))


def _packing(case: Case) -> str:
    """How copies of a chain move against one another."""
    largest = [own[0].motion for own in case.chains.values() if own]
    found = [each for each in largest if each is not None and each.kind not in _STILL]
    if not found:
        return ""
    widest = max(found, key=lambda hinge: hinge.range)
    far = f"{'up to ' * (len(found) > 1)}{widest.range:.0f}°, {case.sigma(tables.slide(widest))}"
    packing = case.evidence.n_snapshots == 2 or case.evidence.independent
    why = "crystal packing, " * packing + "not counted as motion"
    return f"the chains also shift against each other ({far}): {why}."


def _structures(case: Case) -> str:
    if case.evidence.n_snapshots == 2:
        return "two structures say what differs, not how surely: no error bars."
    fixed = "NMR models show where restraints fix the structure, not how far it moves thermally."
    return fixed * _are_models(case)


def _are_models(case: Case) -> bool:
    return case.evidence.independent and len(case.analysis.made.sources) <= 1


# ---- facts of bodies --------------------------------------------------------------------------


def _members(case: Case) -> Fact:
    """Stretches of each body; residues by themselves are counted."""
    if case.chains:
        return Fact("bodies", _members_in_chains(case, case.labels))
    named = []
    for body, sites in enumerate(case.groups, 1):
        ranges = tables.ranges(case.analysis.shown_atoms, sites)
        kept = [site for first, last in ranges for site in range(first, last + 1) if first < last]
        alone = f" (+{len(sites) - len(kept)})" if 0 < len(kept) < len(sites) else ""
        named.append(f"{body}: {case.members(kept or sites)}{alone}")
    return Fact("bodies", joined(named, " · "))


def _members_in_chains(case: Case, labels: Ints) -> str:
    """Sites of the bodies of each chain: "A 1-29 | 30-67; B 1-29 | 30-70"."""
    chains, found = case.analysis.shown_atoms.chains, list[str]()
    for name in dict.fromkeys(chains.tolist()):
        each = np.unique(labels[(chains == name) & (labels >= 0)])
        sites = (case.members(np.flatnonzero(labels == body)) for body in each)
        found.append(f"{name or '-'} {' | '.join(text.removeprefix(f'{name} ') for text in sites)}")
    return joined(found, "; ")


def _fit(case: Case, level: Level, others: Iterable[Level]) -> Fact:
    """The rms fit of a number of rigid bodies, beside that of other numbers."""
    if case.chains:
        level = candidate(case.motion.bodies) or level
        one = _rests(case, case.motion.bodies.levels[0])
        return Fact("fit", f"{_rests(case, level, ' rms')}; as one body {one}")
    beside = {each.n_bodies: each for each in others if each is not level}
    named = [f"{_rests(case, each)} as {number(n)}" for n, each in beside.items()]
    what = f"as {number(level.n_bodies)} bod{'y' if level.n_bodies == 1 else 'ies'}"
    return Fact("fit", "; ".join([f"{_rests(case, level, ' rms')} {what}", ", ".join(named)]))


def _rests(case: Case, level: Level, rms: str = "") -> str:
    """Rms fit of all sites, or of each chain: "3.62 Å (A) and 3.46 Å (B)"."""
    known = [f"{case.length(rest)}{rms}" for rest in level.rests]
    if len(set(known)) == 1:
        return known[0] + " in each chain" * (len(known) > 1)
    return listed([f"{rest} ({name})" for rest, name in zip(known, case.chains, strict=True)])


def _fit_of_one(case: Case) -> Fact:
    """The rms fit of one body, and the sites that are no part of it."""
    bodies = case.motion.bodies
    rms = _rests(case, bodies.levels[0], " rms")
    loose = tables.runs(case.analysis.shown_atoms, bodies.unassigned)
    if not _is_rigid(case):
        limit = case.length(case.evidence.fit_limit)
        return Fact("fit", f"{rms} as one body; a rigid one has at most {limit}")
    if loose:
        return Fact("fit", f"{rms} within the body; loose ends: {loose}")
    return Fact("fit", f"{rms} over {case.evidence.n_snapshots:,} snapshots")


def _far(gap: float) -> str:
    ratio = np.sqrt(gap)
    return f"move {ratio:.{int(ratio < 9.95)}f}× as far as parts within them"


def _separation(case: Case) -> Fact:
    """How far bodies move beside the parts within them; the least of several chains."""
    found, chosen = case.motion, case.motion.bodies.chosen
    far = f"bodies {_far(found.bodies.levels[chosen].gap)}"
    if case.chains:
        where = " in both chains" if len(case.chains) == 2 else " in all chains"
        where *= all(len(own) > 1 for own in case.chains.values())
        return Fact("separation", f"{far}{where} ({_NEEDED})")
    share = percent(float(found.explained.finite[chosen]))
    return Fact("separation", f"{far} ({_NEEDED}); {share} of motion")


def _support(case: Case) -> Fact | None:
    """Whether alternating halves of the frames have the same bodies."""
    halves = case.motion.bodies.agreement
    if halves is None:
        return None
    index = f"agreement {halves.rand:.2f} of 1"
    return Fact("support", f"the same bodies in both alternating halves of the frames ({index})")


def _split(case: Case, *, undecided: bool = False) -> Fact | None:
    """How far the parts of the best split move, which one body or an undecided finding lacks."""
    level = candidate(case.motion.bodies)
    if level is None or np.isnan(level.gap):
        return None
    each = [case.members(np.flatnonzero(level.labels == k)) for k in range(level.n_bodies)]
    every = " | ".join(each)
    parts = f"{number(level.n_bodies)} parts ({' | '.join([*each[1:], 'rest'])})"
    if case.chains:
        every = _members_in_chains(case, level.labels)
        parts = f"parts of each chain ({every})"
    if undecided:
        return Fact("candidate", f"{every}: they {_far(level.gap)}; {_NEEDED}")
    answer, needed = ("no, it bends evenly", "") if level.bends else ("no", f"; {_NEEDED}")
    return Fact("split?", f"{answer}: the best {parts} {_far(level.gap)}{needed}")


def _stiffest(case: Case) -> Fact | None:
    """The two best supported clusters within a body."""
    half = case.evidence.n_sites / 2
    known = [each for each in case.evidence.records if each.sure == "well supported"]
    own = sorted(known, key=lambda each: (-each.support, -each.size))
    found = [each for each in own if each.size < half][:2]
    if not found:
        return None
    apart = [(each.separation.inside, each.separation.across) for each in found if each.separation]
    inside, across = np.median(apart, axis=0)
    words = zip(found, ("support ", ""), strict=False)
    named = [f"{case.members(each.sites)} ({word}{percent(each.support)})" for each, word in words]
    compared = f"±{case.sigma(inside)} inside, ±{case.sigma(across)} against the rest"
    return Fact("stiffest", f"{', '.join(named)}: {compared}")


def _movements(case: Case) -> list[Fact]:
    """How each of the bodies moves that turn most."""
    unit = case.analysis.system.unit
    return [movement(body, hinge, unit) for body, hinge in _moving(case)]


def movement(body: Body, hinge: Hinge, unit: str) -> Fact:
    """Return the range of the angles of a body, its slide, and what is known of its axis."""
    cone = f"axis known to ±{hinge.axis_cone:.0f}° (95 %)" * bool(np.isfinite(hinge.axis_cone))
    parts = [hinge.verdict or cone]
    if len(hinge.angles):
        turns = f"{hinge.range:.0f}° range, {hinge.rms:.0f}° rms"
        parts = [turns, f"slides {sigma(tables.slide(hinge), unit)}", *parts]
    return Fact(f"body {body.name}", "; ".join(filter(None, parts)))


def _modes(case: Case) -> Fact | None:
    """Shares of the first principal components, and how much of the first is rigid."""
    found = case.analysis.modes
    if found is None or len(found.variances) < 2:
        return None
    first, second = found.variances[:2] / found.total
    rigid = percent(overlap_with_bodies(found, case.motion.bodies.labels)[0].sum())
    share = f"first component {percent(first)} of the variance, {rigid} of it rigid motion"
    return Fact("modes", f"{share}; second {percent(second)}")


def _clusters(case: Case) -> Fact | None:
    """Clusters of the hierarchy beside bodies."""
    tree, confidence = case.analysis.hierarchy, case.analysis.confidence
    levels = () if confidence is None else confidence.silhouettes.standing_out
    sizes = levels[0].sizes if levels else ()
    if case.chains:
        return None
    if len(sizes) < 2 or 2 * sum(sizes) < tree.n_sites:
        return case.hierarchy()
    second, at = tree.cut(levels[0].cutoff).members(1), case.cutoff(levels[0].cutoff)
    for record in case.evidence.records:
        apart = record.separation
        if len(sizes) == 2 and apart and np.array_equal(record.sites, second):
            who = f"{case.noun()} {case.members(second)} part from {sizes[0]} others"
            between = f"±{case.sigma(apart.inside)} inside, ±{case.sigma(apart.across)} between"
            return Fact("hierarchy", f"at {at} {who} ({between})")
    joins = "; σ joins bodies through hinges" * (len(sizes) < len(case.groups))
    shown = listed([*map(str, sizes[:4]), *["…"] * (len(sizes) > 4)])
    what = f"{number(len(sizes))} clusters of {shown} {case.noun()}"
    return Fact("hierarchy", f"at {at} {what}{joins}")
