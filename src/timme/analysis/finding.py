"""Decision on what was found, from numbers that stand beside their baselines."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from timme._arrays import Ints
from timme.analysis import body_sentences, core_sentences, group_sentences
from timme.analysis import evidence as made_of
from timme.analysis.evidence import (
    AGREEMENT,
    APART,
    FEW_SAMPLES,
    GAP,
    LOOSE,
    SHARP,
    WEAK_GAP,
    BodiesEvidence,
    Evidence,
)
from timme.analysis.phrases import Fact, Sure, Words
from timme.analysis.tables import min_size
from timme.hierarchy.condensed import PLATEAU

if TYPE_CHECKING:
    from collections.abc import Callable

    from timme.analysis.result import Analysis

Kind = Literal[
    "bodies", "undecided", "one body", "flexible", "groups", "network", "none",
    "core", "motion", "agreement",
]  # fmt: skip
_MOST_FACTS, _MOST_NOTES = 6, 2


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
        facts = (f"{fact.label:<10} {fact.value}" for fact in self.facts)
        lines = [_wrap(self.sentence, width, others="  ")]
        lines += (_wrap(line, width, first="  ", others=" " * 13) for line in facts)
        lines += (_wrap(f"Note: {note}", width, others="  ") for note in self.notes)
        return "\n".join(lines)


def _wrap(text: str, width: int, *, first: str = "", others: str = "") -> str:
    return textwrap.fill(
        text,
        width,
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    )


def decide(evidence: Evidence) -> Kind:
    """Return what was found, by the first rule that holds.

    Parameters
    ----------
    evidence : Evidence
        Of a molecule if it has bodies; else of particles, groups or a matrix.

    Returns
    -------
    str
        Kind of the finding.

    Examples
    --------
    >>> from timme.analysis.evidence import GroupEvidence
    >>> group = GroupEvidence(20, 0.2, 0.6, 1.1, inside=0.2, across=0.9, chance=0.05)
    >>> decide(Evidence(100, 250, 12.0, groups=(group,)))
    'groups'
    """
    if evidence.bodies is not None:
        return _decide_on_bodies(evidence.bodies, evidence.n_independent)
    if evidence.beyond_chance:
        return "groups"
    found = evidence.network
    if found is None or found.width < PLATEAU or 2 * found.size < evidence.n_sites:
        return "none"
    stiff = found.across >= APART * found.inside and found.inside <= LOOSE * found.spacing
    return "network" if stiff else "none"


def _decide_on_bodies(bodies: BodiesEvidence, n_independent: float) -> Kind:
    if bodies.n >= 2 and bodies.gap >= GAP and not bodies.sharpness < SHARP:
        return "undecided" if bodies.agreement < AGREEMENT else "bodies"
    if bodies.n == 1 and max(bodies.counts, default=1) > 1:
        return "undecided"
    if WEAK_GAP <= bodies.candidate_gap < GAP and not n_independent >= FEW_SAMPLES:
        return "undecided"
    return "one body" if bodies.fit[0] <= bodies.fit_limit else "flexible"


_WORDS: dict[Kind, Callable[[Analysis, Evidence], Words]] = {
    "bodies": body_sentences.bodies,
    "undecided": body_sentences.undecided,
    "one body": body_sentences.one_body,
    "flexible": body_sentences.flexible,
    "motion": body_sentences.motion,
    "groups": group_sentences.groups,
    "network": group_sentences.network,
    "none": group_sentences.none,
}


def find(analysis: Analysis) -> Finding:
    """Return what was found in an analysis, in words."""
    if analysis.rigidity is not None:
        energy = analysis.rigidity.cutoff
        labels = _clusters_at(analysis, energy)
        return _finding("core", analysis.made.title, core_sentences.core(analysis), labels, energy)
    evidence = made_of.gather(analysis)
    kind = decide(evidence)
    if analysis.made.recipe == "motion" and evidence.bodies is not None and evidence.bodies.n > 1:
        kind = "motion"
    words = _WORDS[kind](analysis, evidence)
    labels, cutoff = _groups_of(analysis, evidence, kind)
    return _finding(kind, analysis.made.title, words, labels, cutoff)


def agreement(comparison: Any) -> Finding:
    """Return whether two results agree, in words; labels are clusters of the first."""
    words, cut = core_sentences.agreement(comparison), comparison.agreement.clusters.first
    large = cut.sizes[cut.labels] >= min_size(comparison)
    return _finding("agreement", "", words, np.where(large, cut.labels, -1), cut.cutoff)


def _finding(kind: Kind, title: str, words: Words, labels: Ints, cutoff: float | None) -> Finding:
    facts = tuple(fact for fact in words.facts if fact is not None)[:_MOST_FACTS]
    names = tuple(str(number + 1) for number in range(int(labels.max(initial=-1)) + 1))
    sentence = f"{title}: {words.sentence}" if title else words.sentence
    notes = tuple(words.notes)[:_MOST_NOTES]
    return Finding(kind, sentence, words.sure, facts, notes, labels, names, cutoff)


def _groups_of(analysis: Analysis, evidence: Evidence, kind: Kind) -> tuple[Ints, float | None]:
    """Group of each shown site, for pictures, and the cutoff of the hierarchy beside it."""
    cutoff = made_of.first_cutoff(analysis)
    given = getattr(analysis.made.settings, "cutoff", None) is not None
    if evidence.bodies is not None and analysis.motion is not None:
        level = made_of.candidate(analysis) if kind == "undecided" else None
        return analysis.motion.bodies.labels if level is None else level.labels, cutoff
    if kind in ("groups", "network"):
        groups = evidence.apart if kind == "groups" else (evidence.network,)
        found = [group for group in groups if group is not None]
        labels = np.full(evidence.n_sites, -1)
        for number, group in enumerate(found):
            labels[group.sites] = number
        return labels, cutoff if given else made_of.common_cutoff(found)
    if cutoff is None:
        return np.full(evidence.n_sites, -1), None
    return _clusters_at(analysis, cutoff), cutoff


def _clusters_at(analysis: Analysis, cutoff: float) -> Ints:
    """Clusters of shown sites at a cutoff, -1 for those that are too small to count."""
    cut = analysis.hierarchy.cut(cutoff)
    return np.where(cut.sizes[cut.labels] >= min_size(analysis), cut.labels, -1)
