"""Decision on what was found, from numbers that stand beside their baselines."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from timme_next._arrays import Ints
from timme_next.ensemble.atoms import angstroms
from timme_next.hierarchy.condensed import MIN_SIZE, PLATEAU

Kind = Literal[
    "bodies", "undecided", "one body", "flexible", "groups", "network", "none",
    "core", "motion", "agreement",
]  # fmt: skip

GAP, WEAK_GAP = 6.5, 4.0  # known domains have G of 8.4 to 239, single domains up to 4.5
SHARP = 0.7  # S of a body that bends evenly is lower
AGREEMENT = 0.75  # adjusted Rand index of bodies found in two halves; chance gives 0
FEW_SAMPLES = 8.0  # below, motions that were seen once cannot be told from drift
RIGID = 1.5  # Å, fit of one body; provisional
RIGID_SHARE = 1 / 8  # of the radius of gyration, where the unit of length is unknown
FEW_SNAPSHOTS = 8  # two snapshots have plateaus of 2.7 times by chance
BY_CHANCE, ARRESTED = 0.5, 0.9  # overlap with clusters of independent walkers
APART, LOOSE = 2.0, 0.15  # σ across a network over that inside; σ inside over the spacing


class Fact(NamedTuple):
    """A number with its baseline, beside its label."""

    label: str
    value: str


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """The answer: what moves together, how many, and how surely."""

    kind: Kind
    sentence: str  # begins with the title of the result
    sure: Literal["well supported", "tentative", "not established", "no error bars", ""]
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


@dataclass(frozen=True, slots=True)
class BodiesEvidence:
    """Rigid bodies of a molecule."""

    n: int  # that were chosen, 1 for none
    gap: float  # G of these, beside 6.5
    sharpness: float  # S of these, beside 0.7; NaN unknown
    fit: tuple[float, ...]  # rms as one body, as two, …; in the unit of the coordinates
    fit_limit: float  # 1.5 Å in that unit
    explained: float  # share of the motion, beside 1
    agreement: float = np.nan  # of two halves, beside 0.75; NaN unknown
    counts: tuple[int, ...] = ()  # bodies in each half
    candidate: int = 1  # best number of bodies that was not chosen
    candidate_gap: float = np.nan  # its G
    bends: bool = False  # whether it bends evenly


@dataclass(frozen=True, slots=True)
class GroupEvidence:
    """A lineage of the condensed tree, beside all that is outside it."""

    size: int
    low: float  # cutoffs between which it stays the same
    high: float
    width: float  # log(high / low), beside 0.5
    inside: float  # median σ
    across: float  # median σ to what is outside
    support: float = np.nan  # beside 0.85
    chance: float = np.nan  # overlap with clusters of walkers, beside 0.5; NaN: cannot be told
    spacing: float = np.nan  # mean distance of neighbours


@dataclass(frozen=True, slots=True)
class LargestEvidence:
    """The largest cluster, beside that of independent walkers at the same cutoff."""

    size: int
    cutoff: float
    chance_median: float = np.nan
    chance_high: float = np.nan  # 95 % of draws are below


@dataclass(frozen=True, slots=True)
class Evidence:
    """All numbers that decide, and what they are compared with."""

    n_sites: int
    n_snapshots: int | None  # None for a ready-made matrix
    n_independent: float  # samples of the slowest distances, beside 8; NaN unknown
    independent: bool = False  # models without an order in time
    bodies: BodiesEvidence | None = None  # of molecules
    groups: tuple[GroupEvidence, ...] = ()
    network: GroupEvidence | None = None  # the widest lineage at a tolerance of 10 % in size
    largest: LargestEvidence | None = None
    min_size: int = MIN_SIZE

    @property
    def beyond_chance(self) -> tuple[GroupEvidence, ...]:
        """Groups that stay together over a wide range of cutoffs, as walkers do not."""
        few = self.n_snapshots is not None and self.n_snapshots < FEW_SNAPSHOTS
        allowed = range(self.min_size, 0 if few else self.n_sites - self.min_size + 1)
        wide = [group for group in self.groups if group.width >= PLATEAU and group.size in allowed]
        return tuple(group for group in wide if not group.chance >= BY_CHANCE)

    @property
    def arrested(self) -> bool:
        """Whether independent walkers form most of the network as well."""
        return self.network is not None and self.network.chance >= ARRESTED


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


def rigid_limit(unit: str, radius_of_gyration: float) -> float:
    """Return the largest rms fit of a rigid body in a unit of length, 1.5 Å if it is known."""
    length = angstroms(unit) if unit else None
    return RIGID_SHARE * radius_of_gyration if length is None else RIGID / length
