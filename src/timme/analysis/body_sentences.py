"""Sentences about the rigid bodies of a molecule, with their facts and notes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from timme.analysis import tables
from timme.analysis.evidence import AGREEMENT, FEW_SAMPLES, GAP, Evidence, candidate
from timme.analysis.phrases import (
    Fact,
    Sure,
    Words,
    duration,
    hierarchy,
    listed,
    noun,
    number,
    percent,
    samples,
    sampling,
    sigma,
    times,
    value,
)
from timme.motion.variance import overlap_with_bodies

if TYPE_CHECKING:
    from timme.analysis.result import Analysis, Body

    Chains = dict[str, list[Body]]

_BRIDGED = 5  # residues in a gap within a stretch
_WIDE = 84  # characters of a fact in one line
_SHARED = 0.5  # RMSIP of two halves of a run, below which they share little
_NEEDED = f"{np.floor(10 * np.sqrt(GAP)) / 10:.1f}× needed"


def bodies(analysis: Analysis, found: Evidence) -> Words:
    """Several rigid bodies, in one chain or in each of several chains."""
    own, evidence, alike = analysis.bodies, found.molecule, _chains_alike(analysis)
    known = evidence.agreement >= AGREEMENT
    count = f"{number(len(own))} rigid bodies"
    if alike:
        each = len(own) // len(alike)
        what = f"{number(each)} rigid bodies" if each > 1 else "one rigid body"
        count = f"each of {number(len(alike))} chains is {what}"
    count += ", well supported" * known
    if alike and len(own) > len(alike):
        turns = (
            f"{chain}: {listed([f'{body.angle:.0f}°' for body in each[1:]])}"
            for chain, each in alike.items()
        )
        sentence = f"{count} ({'; '.join(turns)})."
    else:
        sentence = f"{count}. {_moves(own)}"
    both = f" in {'both' if len(alike) == 2 else 'all'} chains" * bool(alike)
    share = "" if both else f"; {percent(evidence.explained)} of motion"
    far = f"bodies move {times(np.sqrt(evidence.gap))} as far as parts within them{both}"
    halves = f"both alternating halves of the frames (agreement {evidence.agreement:.2f} of 1)"
    facts = [
        _members(analysis, alike),
        _fit(analysis, found, alike),
        Fact("separation", f"{far} ({_NEEDED}){share}"),
        Fact("support", f"the same bodies in {halves}") if known else None,
        None if alike else hierarchy(analysis, found),
    ]
    notes = [*_packing(analysis, alike), *_sampling_notes(analysis, found)]
    return Words(sentence, facts, notes, "well supported" if known else "no error bars")


def one_body(analysis: Analysis, found: Evidence) -> Words:
    """One rigid body, and why it is not split."""
    n, n_snapshots = found.n_sites, found.n_snapshots or 0
    loose = [] if analysis.motion is None else analysis.motion.bodies.unassigned.tolist()
    models = "NMR models" if len(analysis.made.sources) <= 1 else "structures"
    over = f"over {n_snapshots} snapshots"
    if found.independent:
        over = f"in all {n_snapshots} {models}"
    lasted = duration(analysis)
    fit = f"{value(found.molecule.fit[0], analysis.system.unit)} rms"
    if loose:
        who = f"{n - len(loose):,} of {n:,} {noun(analysis, n)} keep their shape"
        fit += f" within the body; loose ends: {tables.runs(analysis.shown_atoms, loose)}"
    else:
        who = f"All {n:,} {noun(analysis, n)} move together"
        fit += f" {over}"
    sure: Sure = "no error bars" if n_snapshots == 2 else "well supported"
    facts = [Fact("fit", fit), *_within(analysis, found)]
    notes = _sampling_notes(analysis, found) if found.independent or n_snapshots == 2 else []
    during = f"over {lasted}" if lasted and not found.independent else over
    return Words(f"one rigid body. {who} {during}; no domain moves.", facts, notes, sure)


def flexible(analysis: Analysis, found: Evidence) -> Words:
    """No rigid body."""
    unit, evidence = analysis.system.unit, found.molecule
    fit, limit = value(evidence.fit[0], unit), value(evidence.fit_limit, unit)
    facts = [
        Fact("fit", f"{fit} rms as one body; a rigid one has at most {limit}"),
        *_within(analysis, found),
    ]
    notes = _sampling_notes(analysis, found) if found.n_snapshots == 2 else []
    sure: Sure = "no error bars" if notes else ""
    return Words("no rigid body: flexible throughout.", facts, notes, sure)


def _within(analysis: Analysis, found: Evidence) -> list[Fact | None]:
    split = _split(analysis, found)
    forms = hierarchy(analysis, found, forms=not found.independent)
    return [split, _stiffest(analysis), forms, sampling(found)]


def undecided(analysis: Analysis, found: Evidence) -> Words:
    """The best candidate, and what would settle it."""
    evidence, unit = found.molecule, analysis.system.unit
    best, counts = number(evidence.candidate), evidence.counts or (1, 1)
    why = f"{found.n_snapshots} snapshots are too few to tell one body from {best}."
    if evidence.n > 1:
        agreed = f"agreement {evidence.agreement:.2f} of 1, {AGREEMENT} needed"
        why = f"The two halves of the data do not have the same bodies ({agreed})."
    elif max(counts) > 1:
        why = f"One half of the data has {number(max(counts))} bodies, all of it one."
    fits = [f"{value(evidence.fit[0], unit)} rms as one body"]
    if 1 < evidence.candidate <= len(evidence.fit):
        fits.append(f"{value(evidence.fit[evidence.candidate - 1], unit)} as {best}")
    far = f"they move {times(np.sqrt(evidence.candidate_gap))} as far as parts within them"
    parts = _parts(analysis, rest=False)
    enough = f"{samples(found.n_independent)}; {FEW_SAMPLES:.0f} or more usually decide"
    facts = [
        Fact("fit", ", ".join(fits)),
        Fact("candidate", f"{parts}: {far}; {_NEEDED}") if parts else None,
        None if np.isnan(found.n_independent) else Fact("sampling", enough),
        hierarchy(analysis, found),
    ]
    notes = _sampling_notes(analysis, found) if found.n_snapshots == 2 else []
    return Words(f"not established. {why}", facts, notes, "not established")


def motion(analysis: Analysis, found: Evidence) -> Words:
    """How each body moves against another."""
    unit, modes = analysis.system.unit, analysis.modes
    moving = [body for body in analysis.bodies if body.motion is not None]
    most = sorted(moving, key=lambda body: -np.nan_to_num(body.angle))[:3]
    turns = _turns(most, [f"body {body.name} ({_main(body)})" for body in most])
    kinds = {body.motion.kind for body in most if body.motion}
    like = {"hinge": "as on a hinge", "screw": "screw-like"}.get(min(kinds), "")
    alike = f"; {'both ' * (len(most) == 2)}{like}" * (len(kinds) == 1 and bool(like))
    against = listed(sorted({f"body {body.relative_to}" for body in most}))
    facts = [Fact(f"body {body.name}", _movement(body, unit)) for body in moving[:3]]
    if modes is not None and analysis.motion is not None and len(modes.variances) > 1:
        first, second = modes.variances[:2] / modes.total
        rigid = overlap_with_bodies(modes, analysis.motion.bodies.labels)[0].sum()
        share = f"first component {percent(first)} of the variance, {percent(rigid)} of it rigid"
        facts.append(Fact("modes", f"{share} motion; second {percent(second)}"))
    fits, n = found.molecule.fit, found.molecule.n
    one = f"({value(fits[0], unit)} as one)"
    facts.append(Fact("fit", f"{value(fits[n - 1], unit)} rms as {number(n)} bodies {one}"))
    known = found.molecule.agreement >= AGREEMENT
    notes = [] if found.n_snapshots != 2 else _sampling_notes(analysis, found)
    if analysis.halves < _SHARED:
        what = "one passage between two states, not an equilibrium"
        notes.append(f"the two halves share little (RMSIP {analysis.halves:.2f}): {what}.")
    sure: Sure = "well supported" if known else "no error bars" if notes else ""
    return Words(f"{listed(turns)} against {against}{alike}.", facts, notes, sure)


def _movement(body: Body, unit: str) -> str:
    """Range of the angles of a body, its slide, and what is known of its axis."""
    hinge = body.motion
    if hinge is None:
        return ""
    turn = (
        f"{hinge.range:.0f}° range, {hinge.rms:.0f}° rms; slides {sigma(tables.slide(hinge), unit)}"
    )
    if hinge.verdict:
        return f"{turn}; {hinge.verdict}"
    known = "" if np.isnan(hinge.axis_cone) else f"; axis known to ±{hinge.axis_cone:.0f}° (95 %)"
    return turn + known


def _moves(found: Sequence[Body]) -> str:
    """How far the bodies turn that turn most."""
    moving = [body for body in found if body.motion is not None]
    most = sorted(moving, key=lambda body: -np.nan_to_num(body.angle))[:3]
    if len(found) == 2 and moving[0].motion:
        hinge = ", as on a hinge" * (moving[0].motion.kind == "hinge")
        return f"One turns by {moving[0].angle:.0f}° against the other{hinge}."
    turns = _turns(most, [_main(body) for body in most])
    return f"{', '.join(turns)} against the core."


def _turns(most: Sequence[Body], names: Sequence[str]) -> list[str]:
    turns = [f"{name} by {body.angle:.0f}°" for name, body in zip(names, most, strict=True)]
    return [turns[0].replace(" by ", " turns by "), *turns[1:]]


def _main(body: Body) -> str:
    """The longest stretch of a body, short gaps bridged: "A 116-164"."""
    chain, _, listing = f" {body.members.split('; ')[0]}".replace(", ", ",").rpartition(" ")
    ends = [run.split("-") for run in listing.split(",")]
    if not all(end.isdigit() for run in ends for end in run):
        return f"body {body.name}"
    stretches = [[int(ends[0][0]), int(ends[0][-1])]]
    for run in ends[1:]:
        if int(run[0]) - stretches[-1][1] <= _BRIDGED:
            stretches[-1][1] = int(run[-1])
        else:
            stretches.append([int(run[0]), int(run[-1])])
    first, last = max(stretches, key=lambda stretch: stretch[1] - stretch[0])
    return f"{chain} {first}-{last}".strip()


def _chains_alike(analysis: Analysis) -> Chains:
    """Bodies of each chain, where there are several chains of as many bodies each."""
    found: Chains = {}
    for body in analysis.bodies:
        found.setdefault(body.chain, []).append(body)
    same = len({len(own) for own in found.values()}) == 1 and len(found) > 1
    return dict(sorted(found.items())) if same else {}


def _members(analysis: Analysis, alike: Chains) -> Fact:
    """Sites of each body; of many stretches, the short ones are counted: "(+2)"."""
    if alike:
        each = (" | ".join(body.members for body in own) for own in alike.values())
        text = ";  ".join(each)
        for chain in alike:
            text = text.replace(f"| {chain} ", "| ")
        return Fact("bodies", text)
    atoms, text = analysis.shown_atoms, ""
    for short in (1, 3, 5, 10):
        named = []
        for body in analysis.bodies:
            kept = [ends for ends in tables.ranges(atoms, body.sites) if np.ptp(ends) + 1 >= short]
            sites = [site for first, last in kept for site in range(first, last + 1)]
            rest = len(body.sites) - len(sites)
            named.append(f"{body.name}: {tables.runs(atoms, sites)}{f' (+{rest})' * bool(rest)}")
        text = " · ".join(named)
        if len(text) <= _WIDE:
            break
    return Fact("bodies", text)


def _fit(analysis: Analysis, found: Evidence, alike: Chains) -> Fact | None:
    """The rms fit of the bodies that were chosen, beside that of one and of other numbers."""
    unit, n, fits = analysis.system.unit, found.molecule.n, found.molecule.fit
    if not alike:
        others = [k for k in sorted({1, n - 1, n + 1} - {0, n}) if k <= len(fits)]
        known = [f"{value(fits[k - 1], unit)} as {number(k)}" for k in others if fits[k - 1] >= 0]
        chosen = f"{value(fits[n - 1], unit)} rms as {number(n)} bodies"
        return Fact("fit", f"{chosen}; {', '.join(known)}")
    sizes, own = np.array([[len(body.sites), body.fit] for body in analysis.bodies]).T
    if np.isnan(own).any():
        return None
    each = value(float(np.sqrt(np.average(own**2, weights=sizes))), unit)
    chains = analysis.shown_atoms.chains
    whole = [f"{value(analysis.fit(np.flatnonzero(chains == k)), unit)} ({k})" for k in alike]
    return Fact("fit", f"{each} rms in each chain; as one body {listed(whole)}")


def _packing(analysis: Analysis, alike: Chains) -> list[str]:
    """How chains that have bodies of their own move against one another."""
    apart = [own[0].motion for own in alike.values() if own[0].motion is not None]
    if not apart or len(analysis.bodies) == len(alike):
        return []
    packing = ": crystal packing, not counted as motion" * (analysis.system.n_snapshots == 2)
    shift = f"{apart[0].range:.0f}°, {tables.slide(apart[0]):.0f} {analysis.system.unit}".rstrip()
    return [f"the chains also shift against each other ({shift}){packing}."]


def _sampling_notes(analysis: Analysis, found: Evidence) -> list[str]:
    if found.n_snapshots == 2:
        return ["two structures say what differs, not how surely: no error bars."]
    if found.independent:
        shows = "where restraints fix the structure, not how far it moves thermally."
        return [f"NMR models show {shows}"] * (len(analysis.made.sources) <= 1)
    if found.n_independent < FEW_SAMPLES:
        passage = ": one passage between two states" * (found.n_independent < 2)
        return [f"{samples(found.n_independent)}{passage}. A second run may differ."]
    return []


def _parts(analysis: Analysis, *, rest: bool) -> str:
    """Bodies of the best candidate, the largest as "rest" where that will do."""
    level = candidate(analysis)
    if level is None:
        return ""
    each = [np.flatnonzero(level.labels == body) for body in range(level.n_bodies)]
    names = [tables.runs(analysis.shown_atoms, members) for members in each]
    return " | ".join([*names[1:], "rest"] if rest else names)


def _split(analysis: Analysis, found: Evidence) -> Fact | None:
    """Why the best candidate was not chosen."""
    evidence = found.molecule
    if np.isnan(evidence.candidate_gap):
        return None
    parts = f"the best {number(evidence.candidate)} parts ({_parts(analysis, rest=True)})"
    far = f"{parts} move {times(np.sqrt(evidence.candidate_gap))} as far as parts within them"
    if evidence.candidate_gap >= GAP:
        return Fact("split?", f"no: it bends evenly, not as on a hinge; {far}")
    return Fact("split?", f"no: {far}; {_NEEDED}")


def _stiffest(analysis: Analysis) -> Fact | None:
    """The largest well supported clusters within a body."""
    confidence, unit, n = analysis.confidence, analysis.hierarchy.unit, analysis.hierarchy.n_sites
    own = [] if confidence is None else [each for each in confidence.trusted if 2 * each.size < n]
    found = sorted(own, key=lambda each: -each.support)[:2]
    if not found:
        return None
    names = [
        f"{tables.runs(analysis.shown_atoms, each.sites)} ({word}{percent(each.support)})"
        for each, word in zip(found, ("support ", ""), strict=False)
    ]
    apart = [each.separation for each in found if each.separation is not None]
    inside = sigma(float(np.median([each.inside for each in apart])), unit)
    across = sigma(float(np.median([each.across for each in apart])), unit)
    compared = f"±{inside} inside, ±{across} against the rest"
    return Fact("stiffest", f"{', '.join(names)}: {compared}")
