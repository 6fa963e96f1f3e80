"""The finding of a result, in words: a sentence, facts beside their baselines, and notes."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from timme._arrays import Ints
from timme._text import counted
from timme.analysis import molecules, particles, tables
from timme.analysis.evidence import Kind, cut_at, decide, gather, given_cutoff, labels_of
from timme.analysis.phrases import Case, Fact, Phrases, Sure, Words, digits
from timme.hierarchy.curves import round_cutoff

if TYPE_CHECKING:
    from timme.analysis.result import Analysis, Comparison, Rigidity

_MOST_FACTS, _MOST_NOTES = 6, 2
_ENERGIES = (-0.1, -0.5, -1.0, -1.5, -2.0, -3.0)  # kcal/mol, of a dilution in a few words
_ALIKE = 0.05  # p below which two results agree beyond chance
_WORDS: dict[Kind, Callable[[Case], Words]] = {
    "bodies": molecules.several_bodies,
    "undecided": molecules.undecided,
    "one body": molecules.one_body,
    "flexible": molecules.one_body,
    "motion": molecules.motion,
    "groups": particles.groups,
    "network": particles.network,
    "none": particles.nothing,
}
_FRAGILE = "one structure has no error bars; shifts of 0.1 Å can change a core by tens of residues."


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """The answer: what moves together, how many parts, and how well this is supported."""

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
        end = "; |\\.$" if self.kind == "motion" else r"[,.;:] | \(|\.$"
        return re.split(end, self.sentence.split(": ", 1)[-1])[0]

    def text(self, width: int = 100) -> str:
        """Return the sentence, the facts and the notes, in lines of at most `width` characters."""
        wrap = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
        wrap.subsequent_indent = "    "
        first, *notes = map(wrap.fill, [self.sentence, *(f"Note: {note}" for note in self.notes)])
        wrap.initial_indent, wrap.subsequent_indent = "  ", " " * 13
        lines = (wrap.fill(f"{fact.label:<10} {fact.value}") for fact in self.facts)
        return "\n".join([first, *lines, *notes])


def find(analysis: Analysis) -> Finding:
    """Return what was found in an analysis, in words."""
    title, rigid = analysis.made.title, analysis.rigidity
    if rigid is not None:
        words, labels = _core(Phrases(analysis), rigid), cut_at(analysis, rigid.cutoff)
        return _finding("core", title, words, labels, rigid.cutoff)
    evidence = gather(analysis)
    kind, given = decide(evidence), given_cutoff(analysis)
    labels, at = labels_of(analysis, evidence, kind)
    if analysis.made.recipe == "motion" and evidence.bodies and evidence.bodies.chosen:
        kind = "motion"
    words = _WORDS[kind](Case(analysis, evidence, labels, at))
    return _finding(kind, title, words, labels, at if given is None else given)


def agreement(comparison: Comparison) -> Finding:
    """Return whether two results agree, in words; labels are clusters of the first."""
    at = round_cutoff(comparison.agreement.first, comparison.agreement.clusters.first.cutoff)
    return _finding("agreement", "", _agreement(comparison), cut_at(comparison.sides[0], at), at)


def _finding(kind: Kind, title: str, words: Words, labels: Ints, at: float | None) -> Finding:
    facts = tuple(filter(None, words.facts))[:_MOST_FACTS]
    notes = tuple(filter(None, words.notes))[:_MOST_NOTES]
    names = tuple(str(group + 1) for group in range(int(labels.max(initial=-1)) + 1))
    sentence = f"{title}: {words.sentence}" if title else words.sentence
    return Finding(kind, sentence, words.sure, facts, notes, labels, names, at)


# ---- networks of bonds ------------------------------------------------------------------------


def _core(own: Phrases, rigid: Rigidity) -> Words:
    """The largest rigid cluster of a network of bonds."""
    tree, at = own.analysis.hierarchy, digits(rigid.cutoff)
    cut, n = tree.cut(rigid.cutoff), tree.n_sites
    size = int(cut.sizes[0])
    bonds = f"held by hydrogen bonds of {at} kcal/mol or stronger"
    sentence = f"one rigid core of {size} of {n} {own.noun()}, {bonds}."
    if size < tables.min_size(own.analysis):
        largest = f"the largest rigid cluster has {size} of {n} {own.noun()}"
        sentence = f"no rigid core at {at} kcal/mol: {largest}."
    runs = [
        tables.runs(own.analysis.shown_atoms, cut.members(k)) for k in range(min(3, len(cut.sizes)))
    ]
    others = zip(runs[1:], cut.sizes[1:], strict=False)
    beside = ", ".join(f"{name} ({size})" for name, size in others if size >= 3)
    core = Fact("core", "; next: ".join(filter(None, [runs[0], beside])))
    energies = sorted({*_ENERGIES, rigid.cutoff}, reverse=True)
    parts = [f"{tree.cut(x).sizes[0]} at {digits(x)}" for x in energies]
    dilution = Fact("dilution", f"core {parts[0]} kcal/mol, {', '.join(parts[1:])}")
    if rigid.together is None:
        facts = [core, dilution, _bonds(own, rigid)]
        return Words(sentence, [_FRAGILE], "no error bars", facts)
    sizes = rigid.together.largest
    span = f"{sizes.min()} to {sizes.max()} {own.noun()} over {len(sizes)} snapshots"
    spread = Fact("spread", f"{span} at {at} kcal/mol")
    return Words(sentence, facts=[core, dilution, spread, _bonds(own, rigid)])


def _bonds(own: Phrases, rigid: Rigidity) -> Fact:
    """Bonds of the network by their kinds, and hydrogens that were added."""
    kinds = {"hydrogen bond": "hydrogen bonds", "salt bridge": "salt bridges"}
    kinds["tether"] = "hydrophobic contacts"
    counts = [f"{np.count_nonzero(rigid.network.of_kind(k)):,} {kinds[k]}" for k in kinds]
    ph = getattr(own.analysis.made.settings, "ph", 7.0)
    added = f"; {rigid.n_added:,} H added (pH {ph:g})" if rigid.n_added else ""
    return Fact("network", f"{', '.join(counts)}{added}")


# ---- comparisons ------------------------------------------------------------------------------


def _agreement(comparison: Comparison) -> Words:
    """Whether two results cluster the same sites alike, beyond chance."""
    found, chance, names = comparison.agreement, comparison.agreement.chance, comparison.names
    results = comparison.first, comparison.second
    both = " and ".join(map(_origin, names, results))
    index = f"adjusted Rand index {found.best_rand:.2f}"
    sentence, by_chance = f"{both}: {index}; too few sites for a chance level.", None
    if chance is not None:
        agree = "agree beyond chance"
        if chance.p >= _ALIKE:
            agree = "do not agree beyond chance"
        elif found.best_rand <= chance.high:
            agree = "agree as a whole, but in no clusters beyond chance"
        sentence = f"{both} {agree}: {index}, chance {chance.median:.2f} (p = {chance.p:.2g})."
        along = all(each.system.sequential for each in results)
        draws = f"{'shifted along the chain' if along else 'permuted'}, {len(chance.rand)} times"
        same = f"the same search with {names[1]} {draws}"
        by_chance = Fact("chance", f"{same}: 95 % below {chance.high:.2f}")
    facts = [_best_cutoffs(comparison), _shared(comparison), by_chance, _matched(comparison)]
    return Words(sentence, comparison.common.notes, facts=facts)


def _origin(name: str, analysis: Analysis) -> str:
    """Name of a result, and what it was made from where that is no run over time."""
    sampling = None if analysis.confidence is None else analysis.confidence.sampling
    models = sampling is not None and sampling.independent and sampling.n_snapshots > 2
    return name + (" (bonds)" if analysis.rigidity is not None else " (NMR)" if models else "")


def _best_cutoffs(comparison: Comparison) -> Fact:
    """Cutoffs at which the results agree most."""
    clusters, results = comparison.agreement.clusters, (comparison.first, comparison.second)
    cutoffs = clusters.first.cutoff, clusters.second.cutoff
    named = zip(results, cutoffs, comparison.names, strict=True)
    where = [
        Phrases(each).cutoff(x) if len(each.hierarchy.levels) > 1 else f"the clusters of {name}"
        for each, x, name in named
    ]
    return Fact("best at", f"{' with '.join(where)}, over all pairs of cutoffs")


def _shared(comparison: Comparison) -> Fact:
    """Sites in the largest clusters of both."""
    clusters, (first, second) = comparison.agreement.clusters, comparison.names
    one, other = clusters.first.labels == 0, clusters.second.labels == 0
    core = "core" if comparison.made.kind == "molecule" else "largest cluster"
    both = f"{(one & other).sum()} {Phrases(comparison.first).noun()} are in the {core} of both"
    return Fact("shared", f"{both} ({one.sum()} in {first}, {other.sum()} in {second})")


def _matched(comparison: Comparison) -> Fact:
    """How many sites were matched, and which were left out."""
    common, first = comparison.common, comparison.first
    rows = common.first, common.second
    results = [Phrases(first), Phrases(comparison.second)]
    atoms = [each.analysis.shown_atoms for each in results]
    left = [np.setdiff1d(np.arange(len(a)), own) for a, own in zip(atoms, rows, strict=True)]
    named = zip(results, left, comparison.names, strict=True)
    out = ", ".join(f"{each.members(its)} of {name}" for each, its, name in named if len(its))
    one, other = (a.take(own) for a, own in zip(atoms, rows, strict=True))
    keys = [(a.chains, a.resids, a.icodes) for a in (one, other)]
    how = " by chain and number" * all(map(np.array_equal, *keys))
    if (one.resnames != "").all() and np.array_equal(one.resnames, other.resnames):
        how += ", all with the same residue names"
    sites = counted(len(common.first), first.system.shown_name).replace("Cαs", "Cα")
    return Fact("sites", "; left out: ".join(filter(None, [f"{sites} matched{how}", out])))
