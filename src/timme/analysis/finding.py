"""The finding of a result, in words: a sentence, facts beside their baselines, and notes."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from timme._arrays import Ints
from timme._text import counted
from timme.analysis import molecules, particles, tables
from timme.analysis.evidence import Case, Kind, cut_at, decide, gather, labels_of
from timme.analysis.phrases import Fact, Sure, Words, cutoff, energy, members, noun

if TYPE_CHECKING:
    from timme.analysis.result import Analysis, Rigidity

_MOST_FACTS, _MOST_NOTES = 6, 2
_ENERGIES = (-0.1, -0.5, -1.0, -1.5, -2.0, -3.0)  # kcal/mol, of a dilution in a few words
_ALIKE = 0.05  # p below which two results agree beyond chance
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
    title = analysis.made.title
    if analysis.rigidity is not None:
        energy = analysis.rigidity.cutoff
        words, labels = _core(analysis, analysis.rigidity), cut_at(analysis, energy)
        return _finding("core", title, words, labels, energy)
    evidence = gather(analysis)
    kind = decide(evidence)
    labels, at = labels_of(analysis, evidence, kind)
    if analysis.made.recipe == "motion" and evidence.bodies is not None and evidence.bodies.n > 1:
        kind = "motion"
    words = _words(kind, Case(analysis, evidence, labels, at))
    return _finding(kind, title, words, labels, at if evidence.given is None else evidence.given)


def agreement(comparison: Any) -> Finding:
    """Return whether two results agree, in words; labels are clusters of the first."""
    words, cut = _agreement(comparison), comparison.agreement.clusters.first
    large = cut.sizes[cut.labels] >= tables.min_size(comparison)
    return _finding("agreement", "", words, np.where(large, cut.labels, -1), cut.cutoff)


def _finding(kind: Kind, title: str, words: Words, labels: Ints, at: float | None) -> Finding:
    facts = tuple(filter(None, words.facts))[:_MOST_FACTS]
    notes = tuple(filter(None, words.notes))[:_MOST_NOTES]
    names = tuple(str(group + 1) for group in range(int(labels.max(initial=-1)) + 1))
    sentence = f"{title}: {words.sentence}" if title else words.sentence
    return Finding(kind, sentence, words.sure, facts, notes, labels, names, at)


def _words(kind: Kind, case: Case) -> Words:
    """Return the words for a kind of finding."""
    if kind == "network" and case.evidence.network is not None:
        return particles.network(case, case.evidence.network)
    return {
        "bodies": molecules.several_bodies,
        "undecided": molecules.undecided,
        "one body": molecules.one_body,
        "flexible": molecules.one_body,
        "motion": molecules.motion,
        "groups": particles.groups,
    }.get(kind, particles.nothing)(case)


def _core(analysis: Analysis, rigid: Rigidity) -> Words:
    """The largest rigid cluster of a network of bonds."""
    tree, many = analysis.hierarchy, noun(analysis)
    size, n, at = int(tree.cut(rigid.cutoff).sizes[0]), tree.n_sites, energy(rigid.cutoff)
    bonds = f"held by hydrogen bonds of {at} kcal/mol or stronger"
    sentence = f"one rigid core of {size} of {n} {many}, {bonds}."
    if size < tables.min_size(analysis):
        largest = f"the largest rigid cluster has {size} of {n} {many}"
        sentence = f"no rigid core at {at} kcal/mol: {largest}."
    facts = [make(analysis, rigid) for make in (_members, _dilution, _spread, _bonds)]
    if rigid.together is not None:
        return Words(sentence, facts=facts)
    return Words(sentence, [_FRAGILE], "no error bars", facts)


def _members(analysis: Analysis, rigid: Rigidity) -> Fact:
    """Sites of the core, and of the next two clusters of at least three."""
    cut = analysis.hierarchy.cut(rigid.cutoff)
    sites = [cut.members(k) for k in range(min(3, cut.n_clusters))]
    first, *others = (tables.runs(analysis.shown_atoms, each) for each in sites)
    named = zip(others, sites[1:], strict=True)
    beside = ", ".join(f"{name} ({len(each)})" for name, each in named if len(each) >= 3)
    return Fact("core", "; next: ".join(filter(None, [first, beside])))


def _dilution(analysis: Analysis, rigid: Rigidity) -> Fact:
    """Sites of the core at some energies, and at that of the core."""
    energies = sorted({*_ENERGIES, rigid.cutoff}, reverse=True)
    sizes = [int(analysis.hierarchy.cut(x).sizes[0]) for x in energies]
    parts = [f"{size} at {energy(x)}" for size, x in zip(sizes, energies, strict=True)]
    return Fact("dilution", f"core {parts[0]} kcal/mol, {', '.join(parts[1:])}")


def _spread(analysis: Analysis, rigid: Rigidity) -> Fact | None:
    """Sites of the core over the snapshots of an ensemble."""
    if rigid.together is None:
        return None
    sizes, at = rigid.together.largest, energy(rigid.cutoff)
    span = f"{int(sizes.min())} to {int(sizes.max())} {noun(analysis)}"
    return Fact("spread", f"{span} over {len(sizes)} snapshots at {at} kcal/mol")


def _bonds(analysis: Analysis, rigid: Rigidity) -> Fact:
    """Bonds of the network by their kinds, and hydrogens that were added."""
    kinds = {"hydrogen bond": "hydrogen bonds", "salt bridge": "salt bridges"}
    kinds["tether"] = "hydrophobic contacts"
    counts = [f"{np.count_nonzero(rigid.network.of_kind(k)):,} {kinds[k]}" for k in kinds]
    ph = getattr(analysis.made.settings, "ph", 7.0)
    added = f"; {rigid.n_added:,} H added (pH {ph:g})" if rigid.n_added else ""
    return Fact("network", f"{', '.join(counts)}{added}")


def _agreement(comparison: Any) -> Words:
    """Whether two results cluster the same sites alike, beyond chance."""
    found, chance = comparison.agreement, comparison.agreement.chance
    results = zip(comparison.names, (comparison.first, comparison.second), strict=True)
    both = " and ".join(f"{name}{_origin(each)}" for name, each in results)
    index = f"adjusted Rand index {found.best_rand:.2f}"
    sentence = f"{both}: {index}; too few sites for a chance level."
    if chance is not None:
        agree = "agree beyond chance"
        if chance.p >= _ALIKE:
            agree = "do not agree beyond chance"
        elif found.best_rand <= chance.high:
            agree = "agree as a whole, but in no clusters beyond chance"
        sentence = f"{both} {agree}: {index}, chance {chance.median:.2f} (p = {chance.p:.2g})."
    makers = (_best_cutoffs, _shared, _search_by_chance, _matched)
    return Words(sentence, comparison.common.notes, facts=[make(comparison) for make in makers])


def _origin(analysis: Analysis) -> str:
    """What a result was made from, where that is no run over time."""
    sampling = None if analysis.confidence is None else analysis.confidence.sampling
    models = sampling is not None and sampling.independent and sampling.n_snapshots > 2
    return " (bonds)" if analysis.rigidity is not None else " (NMR)" if models else ""


def _best_cutoffs(comparison: Any) -> Fact:
    """Cutoffs at which the results agree most."""
    clusters, results = comparison.agreement.clusters, (comparison.first, comparison.second)
    cutoffs = clusters.first.cutoff, clusters.second.cutoff
    where = [
        cutoff(each, x) if len(each.hierarchy.levels) > 1 else f"the clusters of {name}"
        for each, x, name in zip(results, cutoffs, comparison.names, strict=True)
    ]
    return Fact("best at", f"{' with '.join(where)}, over all pairs of cutoffs")


def _shared(comparison: Any) -> Fact:
    """Sites in the largest clusters of both."""
    clusters, (first, second) = comparison.agreement.clusters, comparison.names
    one, other = clusters.first.labels == 0, clusters.second.labels == 0
    core = "core" if comparison.made.kind == "molecule" else "largest cluster"
    both = f"{np.count_nonzero(one & other)} {noun(comparison.first)} are in the {core} of both"
    return Fact("shared", f"{both} ({one.sum()} in {first}, {other.sum()} in {second})")


def _search_by_chance(comparison: Any) -> Fact | None:
    """How the chance level was found."""
    chance, results = comparison.agreement.chance, (comparison.first, comparison.second)
    if chance is None:
        return None
    how = "permuted"
    if all(each.system.sequential for each in results):
        how = "shifted along the chain"
    draws = f"the same search with {comparison.names[1]} {how}, {len(chance.rand)} times"
    return Fact("chance", f"{draws}: 95 % below {chance.high:.2f}")


def _matched(comparison: Any) -> Fact:
    """How many sites were matched, and which were left out."""
    common, results = comparison.common, (comparison.first, comparison.second)
    rows_of = common.first, common.second
    sides = [*zip(comparison.names, results, rows_of, strict=True)]
    left = [
        f"{members(each, others)} of {name}"
        for name, each, rows in sides
        if len(others := np.setdiff1d(np.arange(len(each.shown_atoms)), rows))
    ]
    sites = counted(len(common.first), comparison.first.system.shown_name).replace("Cαs", "Cα")
    one, other = (each.shown_atoms.take(rows) for _, each, rows in sides)
    keys = [(atoms.chains, atoms.resids, atoms.icodes) for atoms in (one, other)]
    how = " by chain and number" * all(map(np.array_equal, *keys))
    if (one.resnames != "").all() and np.array_equal(one.resnames, other.resnames):
        how += ", all with the same residue names"
    parts = filter(None, [f"{sites} matched{how}", ", ".join(left)])
    return Fact("sites", "; left out: ".join(parts))
