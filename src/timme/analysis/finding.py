"""The finding of a result, in words: a sentence, facts beside their baselines, and notes."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from timme._arrays import Ints
from timme.analysis import core_sentences, tables
from timme.analysis.evidence import AGREEMENT, FEW_SAMPLES, Kind, cut_at, decide, gather, labels_of
from timme.analysis.facts import FACTS, Case, main_stretch, moving
from timme.analysis.phrases import (
    Fact,
    Sure,
    Words,
    cutoff,
    duration,
    listed,
    noun,
    number,
    samples,
    some,
)
from timme.confidence.assessment import HATCHED, SOLID

if TYPE_CHECKING:
    from collections.abc import Callable

    from timme.analysis.result import Analysis, Body

_MOST_FACTS, _MOST_NOTES = 6, 2
_SHARED = 0.5  # RMSIP of two halves of a run, below which they share little


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """The answer: what moves together, how many, and how surely."""

    kind: Kind
    sentence: str  # begins with the title of the result
    sure: Sure
    facts: tuple[Fact, ...]  # at most six
    notes: tuple[str, ...]  # at most two
    labels: Ints  # (shown,), group of each shown object, -1 for none; all pictures colour it
    names: tuple[str, ...] = ()  # of the groups: "1", "2"
    cutoff: float | None = None  # of the hierarchy beside it

    @property
    def brief(self) -> str:
        """What was found, in a few words: "three rigid bodies"."""
        return re.split(r"[,.;:] | \(|\.$", self.sentence.split(": ", 1)[-1])[0]

    def text(self, width: int = 100) -> str:
        """Return the sentence, the facts in lines of at most so many characters, and the notes."""
        wrap = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
        wrap.subsequent_indent = "    "
        first, *notes = map(wrap.fill, [self.sentence, *(f"Note: {note}" for note in self.notes)])
        wrap.initial_indent, wrap.subsequent_indent = "  ", " " * 13
        lines = (wrap.fill(f"{fact.label:<10} {fact.value}") for fact in self.facts)
        return "\n".join([first, *lines, *notes])


def find(analysis: Analysis) -> Finding:
    """Return what was found in an analysis, in words."""
    title = analysis.made.title
    if analysis.rigidity is not None:
        energy = analysis.rigidity.cutoff
        words, labels = core_sentences.core(analysis), cut_at(analysis, energy)
        return _finding("core", title, words, labels, energy)
    evidence = gather(analysis)
    kind = decide(evidence)
    labels, at = labels_of(analysis, evidence, kind)
    if analysis.made.recipe == "motion" and evidence.bodies is not None and evidence.bodies.n > 1:
        kind = "motion"
    case = Case(analysis, evidence, labels, at)
    words = replace(_WORDS[kind](case), facts=[make(case) for make in FACTS[kind]])
    return _finding(kind, title, words, labels, at if evidence.given is None else evidence.given)


def agreement(comparison: Any) -> Finding:
    """Return whether two results agree, in words; labels are clusters of the first."""
    words, cut = core_sentences.agreement(comparison), comparison.agreement.clusters.first
    large = cut.sizes[cut.labels] >= tables.min_size(comparison)
    return _finding("agreement", "", words, np.where(large, cut.labels, -1), cut.cutoff)


def _finding(kind: Kind, title: str, words: Words, labels: Ints, at: float | None) -> Finding:
    facts = tuple(filter(None, words.facts))[:_MOST_FACTS]
    notes = tuple(filter(None, words.notes))[:_MOST_NOTES]
    names = tuple(str(group + 1) for group in range(int(labels.max(initial=-1)) + 1))
    sentence = f"{title}: {words.sentence}" if title else words.sentence
    return Finding(kind, sentence, words.sure, facts, notes, labels, names, at)


# ---- molecules -----------------------------------------------------------------------------


def _bodies(case: Case) -> Words:
    """Several rigid bodies, in one chain or in each of several chains."""
    chains, known = _bodies_of_chains(case.analysis), case.bodies.agreement >= AGREEMENT
    supported = ", well supported" * known
    sentence = f"{_count(case.bodies.n)}{supported}. {_turns(case.analysis)}."
    if len(chains) > 1 and len({len(own) for own in chains.values()}) == 1:
        each = _count(case.bodies.n // len(chains))
        sentence = f"each of {number(len(chains))} chains is {each}{supported}"
        angles = [
            f"{k}: {listed([f'{body.angle:.0f}°' for body in own[1:]])}"
            for k, own in chains.items()
            if len(own) > 1
        ]
        sentence += f" ({'; '.join(angles)})." if angles else "."
    notes = (_packing(case.analysis, chains), _structures_note(case), _second_run_note(case))
    return Words(sentence, notes, "well supported" if known else "no error bars")


def _one_body(case: Case) -> Words:
    """One rigid body, and why it is not split."""
    n, n_snapshots = case.evidence.n_sites, case.evidence.n_snapshots
    over = f"over {duration(case.analysis) or f'{n_snapshots} snapshots'}"
    if case.evidence.independent:
        models = "NMR models" if len(case.analysis.made.sources) <= 1 else "structures"
        over = f"in all {n_snapshots} {models}"
    together = np.count_nonzero(case.labels >= 0)
    who = f"All {n:,} {noun(case.analysis)} move together"
    if together < n:
        who = f"{together:,} of {n:,} {noun(case.analysis)} keep their shape"
    sure: Sure = "no error bars" if n_snapshots == 2 else "well supported"
    sentence = f"one rigid body. {who} {over}; no domain moves."
    return Words(sentence, [_structures_note(case)], sure)


def _flexible(case: Case) -> Words:
    """No rigid body."""
    sure: Sure = "no error bars" if case.evidence.n_snapshots == 2 else ""
    sentence = "no rigid body: flexible throughout."
    return Words(sentence, [_structures_note(case)], sure)


def _undecided(case: Case) -> Words:
    """The best candidate, and what would settle it."""
    bodies, most = case.bodies, max(case.bodies.counts, default=1)
    best = number(int(case.labels.max()) + 1)
    why = f"{case.evidence.n_snapshots} snapshots are too few to tell one body from {best}"
    why += f"; {FEW_SAMPLES:.0f} independent samples usually do."
    if bodies.n > 1:
        index = f"agreement {bodies.agreement:.2f} of 1, {AGREEMENT} needed"
        why = f"The two halves of the data do not have the same bodies ({index})."
    elif most > 1:
        why = f"One half of the data has {number(most)} bodies, all of it one."
    sentence = f"not established. {why}"
    return Words(sentence, [_structures_note(case)], "not established")


def _motion(case: Case) -> Words:
    """How each body moves against another."""
    known, halves, note = case.bodies.agreement >= AGREEMENT, case.analysis.halves, ""
    if halves < _SHARED:
        what = "one passage between two states, not an equilibrium"
        note = f"the two halves share little (RMSIP {halves:.2f}): {what}."
    sure: Sure = "well supported" if known else "no error bars"
    return Words(f"{_turns(case.analysis)}.", (note, _structures_note(case)), sure)


def _count(n: int) -> str:
    return f"{number(n)} rigid bod{'y' if n == 1 else 'ies'}"


def _turns(analysis: Analysis) -> str:
    """How far the bodies turn that turn most."""
    found = moving(analysis)
    hinge = ", as on a hinge" * all(body.motion.kind == "hinge" for body in found if body.motion)
    turns = [f"{main_stretch(analysis, body)} by {body.angle:.0f}°" for body in found]
    turns[0] = turns[0].replace(" by ", " turns by ")
    return f"{', '.join(turns)} against the core{hinge}"


def _bodies_of_chains(analysis: Analysis) -> dict[str, list[Body]]:
    chains = sorted({body.chain for body in analysis.bodies})
    return {k: [body for body in analysis.bodies if body.chain == k] for k in chains}


def _packing(analysis: Analysis, chains: dict[str, list[Body]]) -> str:
    """How chains that have bodies of their own move against one another."""
    apart = [own[0].motion for own in chains.values() if own[0].motion is not None]
    if not apart or len(analysis.bodies) == len(chains):
        return ""
    far = f"{tables.slide(apart[0]):.0f} {analysis.system.unit}".rstrip()
    return f"the chains also shift against each other ({apart[0].range:.0f}°, {far})."


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


# ---- particles -----------------------------------------------------------------------------


def _groups(case: Case) -> Words:
    """Groups that stay together over a wide range of cutoffs."""
    groups, n = case.evidence.groups, case.evidence.n_sites
    sure, total = _support(case), int(np.count_nonzero(case.labels >= 0))
    what = "one group moves" if len(groups) == 1 else f"{number(len(groups))} groups move"
    who = f"{total:,} of {n:,} {noun(case.analysis)} ({some(case.names)})"
    known = f", {sure}" * (sure != "no error bars")
    rest = " The rest do not." * (total < n)
    return Words(f"{what} together{known}: {who}.{rest}", [_drift_note(case)], sure)


def _support(case: Case) -> Sure:
    support = np.min([group.support for group in case.evidence.groups])
    if np.isnan(support):
        return "no error bars"
    sure: Sure = "tentative" if support >= HATCHED else "not established"
    return "well supported" if support >= SOLID else sure


def _network(case: Case) -> Words:
    """Most particles in one network."""
    network, made = case.network, case.analysis.made
    size, n = len(network.sites), case.evidence.n_sites
    where = cutoff(case.analysis, network.cutoff)
    if made.length:
        where += f" ({network.cutoff / made.length:.2f} {made.length_name or 'length'}s)"
    state = f"{', arrested' * network.arrested}; {n - size:,} are mobile"
    sentence = f"{size:,} of {n:,} form one network at {where}{state}."
    note = "the network is one because its particles hardly move, not because they move in concert."
    return Words(sentence, [note * network.arrested, _drift_note(case)])


def _none(case: Case) -> Words:
    """No lasting clusters, with the largest beside its chance level."""
    n, size, high = case.evidence.n_sites, case.largest, case.by_chance[1]
    sure: Sure = "no error bars" if case.evidence.n_snapshots is None else ""
    if size == n and case.cutoff is not None:
        at = cutoff(case.analysis, case.cutoff)
        return Words(
            f"no group stands out: all {n:,} {noun(case.analysis)} join by {at}.", [], sure
        )
    what = "no lasting clusters" if size > high else "no group moves together"
    but = ", but larger ones than by chance" * (size > 2 * high)
    sentence = f"{what} among {n:,} {noun(case.analysis)}{but}"
    if case.cutoff is not None:
        sentence += f"; the largest cluster has {size:,} at {cutoff(case.analysis, case.cutoff)}"
    return Words(f"{sentence}.", [_drift_note(case)], sure)


def _drift_note(case: Case) -> str:
    confidence = case.analysis.confidence
    chance = None if confidence is None else confidence.chance
    drifts = chance is not None and not chance.is_meaningful
    return "no chance level: in steady drift, independent walkers stay together as well." * drifts


_WORDS: dict[Kind, Callable[[Case], Words]] = {
    "bodies": _bodies,
    "undecided": _undecided,
    "one body": _one_body,
    "flexible": _flexible,
    "motion": _motion,
    "groups": _groups,
    "network": _network,
    "none": _none,
}
