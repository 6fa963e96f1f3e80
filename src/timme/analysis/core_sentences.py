"""Sentences about rigid cores, and about the agreement of two results, with their facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from timme._text import counted
from timme.analysis import tables
from timme.analysis.phrases import Fact, Words, cutoff, energy, noun

if TYPE_CHECKING:
    from timme.analysis.result import Analysis

_ENERGIES = (-0.1, -0.5, -1.0, -1.5, -2.0, -3.0)  # kcal/mol, of a dilution in a few words
_ALIKE = 0.05  # p below which two results agree beyond chance
_LONG = 40  # characters of a list of sites that were left out


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
    sizes = [
        f"{'core ' * (not k)}{tree.cut(x).sizes[0]} at {energy(x)}{' kcal/mol' * (not k)}"
        for k, x in enumerate(_ENERGIES)
    ]
    kinds = rigid.network.kinds
    counts = [
        f"{np.count_nonzero(chosen):,} {name}"
        for name, chosen in (
            ("hydrogen bonds", rigid.network.of_kind("hydrogen bond")),
            ("salt bridges", rigid.network.of_kind("salt bridge")),
            ("hydrophobic contacts", rigid.network.of_kind("tether")),
        )
    ]
    ph = getattr(analysis.made.settings, "ph", 7.0)
    added = f"; {rigid.n_added:,} H added (pH {ph:g})" if rigid.n_added else ""
    facts: list[Fact | None] = [
        Fact("core", f"{tables.runs(atoms, cut.members(0))}{others}"),
        Fact("dilution", ", ".join(sizes)),
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
    core = "core" if comparison.made.kind == "molecule" else "largest cluster"
    facts.append(Fact("shared", f"{both} {many} are in the {core} of both ({shared})"))
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
    common, unmatched = comparison.common, dict[str, str]()
    results, rows = (comparison.first, comparison.second), (common.first, common.second)
    each_side = list(zip(comparison.names, [r.shown_atoms for r in results], rows, strict=True))
    for name, atoms, row in each_side:
        left = np.setdiff1d(np.arange(len(atoms)), row)
        some = tables.runs(atoms, left)
        if len(left):
            unmatched[name] = some if len(some) <= _LONG else f"{len(left)} more"
    one, other = (atoms.resnames[row] for _, atoms, row in each_side)
    same = ", all with the same residue names" * bool((one == other).all() and (one != "").all())
    named = [f"{name} {some}" if len(unmatched) > 1 else some for name, some in unmatched.items()]
    left_out = f"; left out: {', '.join(named)}" if unmatched else ""
    ids = [(atoms.chains[row], atoms.resids[row]) for _, atoms, row in each_side]
    numbers = all(map(np.array_equal, *ids)) and bool((one != "").all())
    sites = counted(len(common.first), comparison.first.system.shown_name).replace("Cαs", "Cα")
    return f"{sites} matched{' by chain and number' * numbers}{same}{left_out}"
