"""Findings of molecules: sentences about rigid bodies, and facts with what they compare with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from timme.analysis import tables
from timme.analysis.evidence import AGREEMENT, FEW_SAMPLES, Case, candidate, one_is_given
from timme.analysis.phrases import (
    Fact,
    Sure,
    Words,
    copies,
    cutoff,
    duration,
    few,
    hierarchy,
    length,
    listed,
    main_stretch,
    members,
    noun,
    number,
    percent,
    samples,
    sampling,
    sigma,
    some,
    times,
)
from timme.motion.body_search import GAP
from timme.motion.variance import overlap_with_bodies

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from timme._arrays import Ints
    from timme.analysis.result import Analysis, Body
    from timme.motion.hinges import Hinge

_SHARED = 0.5  # RMSIP of two halves of a run, below which they share little
_EXACT = "30 are enough for exact cutoffs"
_STILL = ("undefined", "rigid")  # kinds without a motion
_NEEDED = f"{np.floor(10 * np.sqrt(GAP)) / 10:.1f}× needed"


def several_bodies(case: Case) -> Words:
    """Several rigid bodies, in all or in each of several copies of a chain."""
    chains, n = copies(case.analysis), case.bodies.n
    known = case.bodies.agreement >= AGREEMENT
    sure: Sure = "well supported" if known else "no error bars"
    supported = f", {sure}" if known else ""
    notes = (_packing(case), _structures_note(case), _second_run_note(case))
    if chains:
        angles = [
            f"{name}: {listed([f'{body.angle:.0f}°' for body in own[1:]])}"
            for name, own in chains.items()
            if len(own) > 1
        ]
        sentence = f"{_each_chain(chains)}{supported} ({'; '.join(few(angles))})."
        bodies = Fact("bodies", _sites_of_chains(case, case.labels))
        found = [bodies, _fit_of_chains(case), _separation_in_chains(case), _support(case)]
        return Words(sentence, notes, sure, found)
    found = [
        _members_of_bodies(case),
        _fit(case, n, (1, n - 1, n + 1)),
        _separation(case),
        _support(case),
        _clusters(case),
    ]
    sentence = f"{_count(n)}{supported}. {_turns(case.analysis)}."
    return Words(sentence, notes, sure, found)


def one_body(case: Case) -> Words:
    """One body, rigid or flexible, and why it is not split."""
    n, n_snapshots = case.evidence.n_sites, case.evidence.n_snapshots
    chains = copies(case.analysis)
    fit = _fit_of_chains(case) if chains else _fit_of_one(case)
    parts = [fit, _split(case), _stiffest(case)]
    parts += [hierarchy(case.analysis), sampling(case.analysis, _EXACT)]
    notes = [_packing(case), _structures_note(case)]
    # a few snapshots have no halves to compare
    sure: Sure = "well supported" if case.bodies.counts else "no error bars"
    if one_is_given(case.analysis):
        rms = length(case.bodies.fit, case.analysis.system.unit)
        return Words(f"taken as one body, which fits to {rms} rms.", notes, "", parts)
    if case.bodies.fit > case.bodies.fit_limit:
        known: Sure = "no error bars" if n_snapshots == 2 else ""
        return Words("no rigid body: flexible throughout.", notes, known, parts)
    over = f"over {duration(case.analysis) or f'{n_snapshots} snapshots'}"
    if case.evidence.independent:
        models = "NMR models" if len(case.analysis.made.sources) <= 1 else "structures"
        over = f"in all {n_snapshots} {models}"
    together = np.count_nonzero(case.labels >= 0)
    who = f"All {n:,} {noun(case.analysis)} move together"
    if together < n:
        who = f"{together:,} of {n:,} {noun(case.analysis)} keep their shape"
    what = _each_chain(chains) if chains else _count(1)
    sentence = f"{what}. {who} {over}; no domain moves."
    return Words(sentence, notes, sure, parts)


def undecided(case: Case) -> Words:
    """The best candidate, and what would settle it."""
    bodies, most = case.bodies, max(case.bodies.counts, default=1)
    best = len(case.groups) // max(1, len(copies(case.analysis)))
    needed = _EXACT
    if bodies.n > 1:
        index = f"agreement {bodies.agreement:.2f} of 1, {AGREEMENT} needed"
        why = f"The two halves of the data do not have the same bodies ({index})"
    elif most > 1:
        why = f"One half of the data has {number(most)} bodies, all of it one"
    else:
        n = case.evidence.n_snapshots
        why = f"{n:,} snapshots are too few to tell one body from {number(best)}"
        needed = f"{FEW_SAMPLES:.0f} or more usually decide"
    fit = _fit_of_chains(case) if copies(case.analysis) else _fit(case, 1, [best])
    parts = [fit, _split(case, undecided=True)]
    parts += [sampling(case.analysis, needed), hierarchy(case.analysis)]
    sentence = f"not established. {why}."
    return Words(sentence, [_structures_note(case)], "not established", parts)


def motion(case: Case) -> Words:
    """How each body moves against another."""
    known, halves, note = case.bodies.agreement >= AGREEMENT, case.analysis.halves, ""
    if halves < _SHARED:
        what = "one passage between two states, not an equilibrium"
        note = f"the two halves share little (RMSIP {halves:.2f}): {what}."
    found = _moving(case.analysis)
    kinds = {body.motion.kind for body in found if body.motion}
    turns = [f"body {body.name} ({main_stretch(case.analysis, body)})" for body in found]
    turns = [f"{who} by {body.angle:.0f}°" for who, body in zip(turns, found, strict=True)]
    turns[0] = turns[0].replace(" by ", " turns by ")
    against = " and ".join(sorted({f"body {body.relative_to}" for body in found}))
    sentence = f"{listed(turns)} against {against}"
    if len(kinds) == 1 and (kind := kinds.pop()) in ("hinge", "screw"):
        every = {1: "", 2: "both "}.get(len(found), "all ")
        sentence += f"; {every}{kind}-like"
    fit = _fit_of_chains(case) if copies(case.analysis) else _fit(case, case.bodies.n, [1])
    parts = [*_movements(case), _modes(case), fit]
    sure: Sure = "well supported" if known else "no error bars"
    notes = (note, _packing(case), _structures_note(case))
    return Words(f"{sentence}.", notes, sure, parts)


def _count(n: int) -> str:
    return f"{number(n)} rigid bod{'y' if n == 1 else 'ies'}"


def _turns(analysis: Analysis) -> str:
    """How far the bodies turn that turn most."""
    found = _moving(analysis)
    hinge = ", as on a hinge" * all(body.motion.kind == "hinge" for body in found if body.motion)
    if len(analysis.bodies) == 2 and len(found) == 1:
        return f"One turns by {found[0].angle:.0f}° against the other{hinge}"
    turns = [f"{main_stretch(analysis, body)} by {body.angle:.0f}°" for body in found]
    turns[0] = turns[0].replace(" by ", " turns by ")
    core = "the cores of their chains" if copies(analysis) else "the core"
    return f"{', '.join(turns)} against {core}{hinge}"


def _each_chain(chains: dict[str, list[Body]]) -> str:
    """How many bodies each copy of a chain is."""
    counts = [len(own) for own in chains.values()]
    least = f"{number(min(counts))} to " if min(counts) < max(counts) else ""
    return f"each of {number(len(chains))} chains is {least}{_count(max(counts))}"


def _packing(case: Case) -> str:
    """How copies of a chain move against one another."""
    largest = [own[0].motion for own in copies(case.analysis).values() if own]
    found = [each for each in largest if each is not None and each.kind not in _STILL]
    if not found:
        return ""
    widest = max(found, key=lambda hinge: hinge.range)
    slide = tables.slide(widest)
    far = sigma(widest.move if np.isnan(slide) else slide, case.analysis.system.unit)
    most = "up to " if len(found) > 1 else ""
    why = "not counted as motion"
    if case.evidence.n_snapshots == 2 or case.evidence.independent:
        why = f"crystal packing, {why}"
    return f"the chains also shift against each other ({most}{widest.range:.0f}°, {far}): {why}."


def _structures_note(case: Case) -> str:
    if case.evidence.n_snapshots == 2:
        return "two structures say what differs, not how surely: no error bars."
    if case.evidence.independent and len(case.analysis.made.sources) <= 1:
        return "NMR models show where restraints fix the structure, not how far it moves thermally."
    return ""


def _second_run_note(case: Case) -> str:
    count = case.evidence.n_independent
    passage = ": one passage between two states" * (count < 2)
    return f"{samples(count)}{passage}. A second run may differ." if count < FEW_SAMPLES else ""


# ---- chains of one sequence, searched one by one ----------------------------------------------


def _sites_of_chains(case: Case, labels: Ints) -> str:
    """Sites of the bodies of each chain: "A 1-29 | 30-67;  B 1-29 | 30-70"."""
    chains, found = case.analysis.shown_atoms.chains, list[str]()
    for name in dict.fromkeys(chains.tolist()):
        each = np.unique(labels[(chains == name) & (labels >= 0)])
        sites = (members(case.analysis, np.flatnonzero(labels == body)) for body in each)
        found.append(f"{name or '-'} {' | '.join(text.removeprefix(f'{name} ') for text in sites)}")
    return ";  ".join(few(found))


def _fit_of_chains(case: Case) -> Fact:
    """The rms fit of the bodies of each chain, beside that of one body."""
    found = case.motion.bodies
    own = _each_rest(case, found.levels[found.chosen].rests, " rms")
    if found.chosen:
        return Fact("fit", f"{own}; as one body {_each_rest(case, found.levels[0].rests)}")
    limit = length(case.bodies.fit_limit, case.analysis.system.unit)
    return Fact("fit", f"{own} as one body (rigid: at most {limit})")


def _each_rest(case: Case, rests: Sequence[float], rms: str = "") -> str:
    """Rests of chains: "0.64 Å in each chain", or "3.62 Å (A) and 3.46 Å (B)"."""
    known = [f"{length(rest, case.analysis.system.unit)}{rms}" for rest in rests]
    if len(set(known)) == 1:
        return f"{known[0]} in each chain"
    named = zip(known, copies(case.analysis), strict=True)
    return listed(few([f"{rest} ({name})" for rest, name in named]))


def _separation_in_chains(case: Case) -> Fact:
    """How far bodies move beside the parts within them, in the chain where it is least."""
    chains = copies(case.analysis)
    where = " in both chains" if len(chains) == 2 else " in all chains"
    where *= all(len(own) > 1 for own in chains.values())
    far = f"bodies move {times(np.sqrt(case.bodies.gap))} as far as parts within them"
    return Fact("separation", f"{far}{where} ({_NEEDED})")


# ---- facts of bodies --------------------------------------------------------------------------


def _members_of_bodies(case: Case) -> Fact:
    """Stretches of each body; residues by themselves are counted."""
    named = []
    for body, sites in enumerate(case.groups, 1):
        ranges = tables.ranges(case.analysis.shown_atoms, sites)
        kept = [site for first, last in ranges for site in range(first, last + 1) if first < last]
        alone = f" (+{len(sites) - len(kept)})" if 0 < len(kept) < len(sites) else ""
        named.append(f"{body}: {members(case.analysis, kept or sites)}{alone}")
    return Fact("bodies", some(named))


def _fit(case: Case, n: int, others: Iterable[int]) -> Fact:
    """The rms fit of a number of rigid bodies, beside that of other numbers."""
    unit, rests = case.analysis.system.unit, {k.n_bodies: k.rest for k in case.motion.bodies.levels}
    known = sorted(k for k in {*others} - {n} if k in rests)
    beside = ", ".join(f"{length(rests[k], unit)} as {number(k)}" for k in known)
    what = f"{length(rests[n], unit)} rms as {number(n)} bod{'y' if n == 1 else 'ies'}"
    return Fact("fit", "; ".join(filter(None, [what, beside])))


def _fit_of_one(case: Case) -> Fact:
    """The rms fit of one body, and the sites that are no part of it."""
    unit, atoms = case.analysis.system.unit, case.analysis.shown_atoms
    rms, limit = length(case.bodies.fit, unit), length(case.bodies.fit_limit, unit)
    loose = tables.runs(atoms, case.motion.bodies.unassigned)
    if case.bodies.fit > case.bodies.fit_limit:
        return Fact("fit", f"{rms} rms as one body; a rigid one has at most {limit}")
    if loose:
        return Fact("fit", f"{rms} rms within the body; loose ends: {loose}")
    return Fact("fit", f"{rms} rms over {case.evidence.n_snapshots:,} snapshots")


def _separation(case: Case) -> Fact:
    """How far bodies move beside the parts within them."""
    share = percent(float(case.motion.explained.finite[case.motion.bodies.chosen]))
    far = f"bodies move {times(np.sqrt(case.bodies.gap))} as far as parts within them"
    return Fact("separation", f"{far} ({_NEEDED}); {share} of motion")


def _support(case: Case) -> Fact | None:
    """Whether alternating halves of the frames have the same bodies."""
    if np.isnan(case.bodies.agreement):
        return None
    index = f"agreement {case.bodies.agreement:.2f} of 1"
    return Fact("support", f"the same bodies in both alternating halves of the frames ({index})")


def _split(case: Case, *, undecided: bool = False) -> Fact | None:
    """How far the parts of the best split move, which one body or an undecided finding lacks."""
    level = candidate(case.analysis)
    if level is None or np.isnan(level.gap):
        return None
    each = [np.flatnonzero(level.labels == body) for body in range(level.n_bodies)]
    names = [members(case.analysis, sites) for sites in each]
    every = " | ".join(names)
    parts = f"{number(level.n_bodies)} parts ({' | '.join([*names[1:], 'rest'])})"
    if copies(case.analysis):
        every = _sites_of_chains(case, level.labels)
        parts = f"parts of each chain ({every})"
    far = f"move {times(np.sqrt(level.gap))} as far as parts within them"
    if undecided:
        return Fact("candidate", f"{every}: they {far}; {_NEEDED}")
    if level.bends:
        return Fact("split?", f"no, it bends evenly: the best {parts} {far}")
    answer = "yes" if level.gap >= GAP else "no"  # it was found, and one body was given
    return Fact("split?", f"{answer}: the best {parts} {far}; {_NEEDED}")


def _stiffest(case: Case) -> Fact | None:
    """The two best supported clusters within a body."""
    confidence, unit = case.analysis.confidence, case.analysis.hierarchy.unit
    records = () if confidence is None else confidence.trusted
    own = [each for each in records if each.separation and 2 * each.size < case.evidence.n_sites]
    found = sorted(own, key=lambda each: -each.support)[:2]
    if not found:
        return None
    apart = [(each.separation.inside, each.separation.across) for each in found if each.separation]
    inside, across = np.median(apart, axis=0)
    support = [percent(each.support) for each in found]
    support[0] = f"support {support[0]}"
    named = zip(found, support, strict=True)
    names = ", ".join(f"{members(case.analysis, each.sites)} ({share})" for each, share in named)
    compared = f"±{sigma(inside, unit)} inside, ±{sigma(across, unit)} against the rest"
    return Fact("stiffest", f"{names}: {compared}")


def _moving(analysis: Analysis) -> list[Body]:
    """Return the three bodies that turn most, the largest of each copy of a chain left out."""
    packed = {own[0].name for own in copies(analysis).values() if own}
    found = [body for body in analysis.bodies if body.motion is not None]
    found = [body for body in found if body.name not in packed] or found
    return sorted(found, key=lambda body: -np.nan_to_num(body.angle))[:3]


def _movements(case: Case) -> list[Fact]:
    """How each of the bodies moves that turn most."""
    unit = case.analysis.system.unit
    return [movement(body, body.motion, unit) for body in _moving(case.analysis) if body.motion]


def movement(body: Body, hinge: Hinge, unit: str) -> Fact:
    """Return the range of the angles of a body, its slide, and what is known of its axis."""
    known = ""
    if np.isfinite(hinge.axis_cone):
        known = f"axis known to ±{hinge.axis_cone:.0f}° (95 %)"
    parts = [hinge.verdict or known]
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
    analysis, tree, confidence = case.analysis, case.analysis.hierarchy, case.analysis.confidence
    levels = () if confidence is None else confidence.silhouettes.standing_out
    if confidence is None or not levels:
        return hierarchy(case.analysis)
    cut, at = tree.cut(levels[0].cutoff), cutoff(analysis, levels[0].cutoff)
    sizes = [size for size in cut.sizes.tolist() if size >= case.evidence.min_size]
    if len(sizes) < 2 or 2 * sum(sizes) < tree.n_sites:
        return hierarchy(case.analysis)
    for record in confidence.records:
        apart = record.separation
        if len(sizes) == 2 and apart and np.array_equal(record.sites, cut.members(1)):
            who = f"{noun(analysis)} {members(analysis, record.sites)} part from {sizes[0]} others"
            inside, across = sigma(apart.inside, tree.unit), sigma(apart.across, tree.unit)
            return Fact("hierarchy", f"at {at} {who} (±{inside} inside, ±{across} between)")
    shown = listed([*map(str, sizes[:4]), *["…"] * (len(sizes) > 4)])
    joins = "; σ joins bodies through hinges" * (len(sizes) < case.bodies.n)
    what = f"{number(len(sizes))} clusters of {shown} {noun(analysis)}"
    return Fact("hierarchy", f"at {at} {what}{joins}")
