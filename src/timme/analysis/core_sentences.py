"""Sentences about rigid cores, and about the agreement of two results, with their facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from timme._text import counted
from timme.analysis import tables
from timme.analysis.phrases import Fact, Words, cutoff, energy, members, noun

if TYPE_CHECKING:
    from timme.analysis.result import Analysis, Rigidity

_ENERGIES = (-0.1, -0.5, -1.0, -1.5, -2.0, -3.0)  # kcal/mol, of a dilution in a few words
_ALIKE = 0.05  # p below which two results agree beyond chance
_FRAGILE = "one structure has no error bars; shifts of 0.1 Å can change a core by tens of residues."


def core(analysis: Analysis) -> Words:
    """The largest rigid cluster of a network of bonds."""
    tree, rigid, many = analysis.hierarchy, analysis.rigidity, noun(analysis)
    if rigid is None:
        raise ValueError("a rigid core needs the network of bonds, got an analysis of snapshots")
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


def agreement(comparison: Any) -> Words:
    """Whether two results cluster the same sites alike, beyond chance."""
    found, chance = comparison.agreement, comparison.agreement.chance
    results = zip(comparison.names, (comparison.first, comparison.second), strict=True)
    both = " and ".join(f"{name}{_origin(each)}" for name, each in results)
    index = f"adjusted Rand index {found.best_rand:.2f}"
    sentence = f"{both}: {index}; too few sites for a chance level."
    if chance is not None:
        alike = chance.p < _ALIKE and found.best_rand > chance.high
        agree = f"{'agree' if alike else 'do not agree'} beyond chance"
        sentence = f"{both} {agree}: {index}, chance {chance.median:.2f} (p = {chance.p:.2g})."
    notes = [note for note in comparison.common.notes if "are in both" not in note]
    makers = (_best_cutoffs, _shared, _search_by_chance, _matched, _changed_bonds)
    return Words(sentence, notes, facts=[make(comparison) for make in makers])


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
    sides = zip(comparison.names, results, (common.first, common.second), strict=True)
    left = [
        f"{members(each, others)} of {name}"
        for name, each, rows in sides
        if len(others := np.setdiff1d(np.arange(len(each.shown_atoms)), rows))
    ]
    sites = counted(len(common.first), comparison.first.system.shown_name).replace("Cαs", "Cα")
    return Fact("sites", "; left out: ".join(filter(None, [f"{sites} matched", ", ".join(left)])))


def _changed_bonds(comparison: Any) -> Fact | None:
    """Hydrogen bonds that only one of two structures has."""
    changed, (first, second) = comparison.difference, comparison.names
    if changed is None or not (changed.gained or changed.lost):
        return None
    bonds = f"{len(changed.gained)} only in {second}, {len(changed.lost)} only in {first}"
    return Fact("bonds", f"hydrogen bonds: {bonds}")
