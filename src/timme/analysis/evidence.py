"""Evidence of a result: the numbers that decide what was found, beside their baselines."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree

from timme._arrays import Bools, Floats, Ints
from timme.analysis import tables
from timme.ensemble.atoms import angstroms
from timme.hierarchy.condensed import MIN_SIZE, PLATEAU, lineages
from timme.hierarchy.curves import count_clusters, inflection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from timme.analysis.result import Analysis
    from timme.motion.rigid_bodies import Level

GAP, WEAK_GAP = 6.5, 4.0  # known domains have G of 8.4 to 239, single domains up to 4.5
SHARP = 0.7  # S of a body that bends evenly is lower
AGREEMENT = 0.75  # adjusted Rand index of bodies found in two halves; chance gives 0
FEW_SAMPLES = 8.0  # below, motions that were seen once look like drift
RIGID = 1.5  # Å, fit of one body; provisional
RIGID_SHARE = 1 / 8  # of the radius of gyration, where the unit of length is unknown
FEW_SNAPSHOTS = 8  # two snapshots have plateaus of 2.7 times by chance
BY_CHANCE, ARRESTED = 0.5, 0.9  # overlap with clusters of independent walkers
APART, LOOSE = 2.0, 0.15  # σ across a network over that inside; σ inside over the spacing


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
    chance: float = np.nan  # overlap with clusters of walkers, beside 0.5; NaN: not meaningful
    spacing: float = np.nan  # median distance of nearest neighbours
    sites: Ints = field(default_factory=lambda: np.empty(0, np.int64), compare=False)
    chosen: float = np.nan  # cutoff in its range that the user gave

    @property
    def middle(self) -> float:
        """Cutoff that the user gave, or in the middle of its range."""
        if np.isfinite(self.chosen):
            return self.chosen
        return float(np.sqrt(self.low * self.high)) if np.isfinite(self.high) else self.low


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
    def molecule(self) -> BodiesEvidence:
        """Evidence of bodies, where there is any."""
        if self.bodies is None:
            raise ValueError("sentences about bodies need evidence of bodies, got none")
        return self.bodies

    @property
    def beyond_chance(self) -> tuple[GroupEvidence, ...]:
        """Groups that stay together over a wide range of cutoffs, as walkers do not."""
        few = self.n_snapshots is not None and self.n_snapshots < FEW_SNAPSHOTS
        allowed = range(self.min_size, 0 if few else self.n_sites - self.min_size + 1)
        wide = [group for group in self.groups if group.width >= PLATEAU and group.size in allowed]
        return tuple(group for group in wide if not group.chance >= BY_CHANCE)

    @property
    def apart(self) -> tuple[GroupEvidence, ...]:
        """Those of them that share no sites, in the order of their sites; the widest count."""
        found = list[GroupEvidence]()
        for group in sorted(self.beyond_chance, key=lambda group: -group.width):
            if not any(np.isin(group.sites, other.sites).any() for other in found):
                found.append(group)
        return tuple(sorted(found, key=lambda group: group.sites.tolist()))

    @property
    def arrested(self) -> bool:
        """Whether independent walkers form most of the network as well."""
        return self.network is not None and self.network.chance >= ARRESTED


def rigid_limit(unit: str, radius_of_gyration: float) -> float:
    """Return the largest rms fit of a rigid body in a unit of length, 1.5 Å if it is known."""
    length = angstroms(unit) if unit else None
    return RIGID_SHARE * radius_of_gyration if length is None else RIGID / length


def gather(analysis: Analysis) -> Evidence:
    """Return the numbers of an analysis of snapshots, or of a matrix, that decide."""
    system, confidence = analysis.system, analysis.confidence
    sampling = None if confidence is None else confidence.sampling
    molecule = analysis.made.kind == "molecule" and analysis.motion is not None
    found = Evidence(
        len(system.shown),
        system.n_snapshots or None,
        np.nan if sampling is None else sampling.n_effective,
        independent=sampling is not None and sampling.independent,
        bodies=_bodies(analysis) if molecule else None,
        groups=() if molecule else _groups(analysis),
        network=None if molecule else _network(analysis),
        min_size=tables.min_size(analysis),
    )
    cutoff = common_cutoff(found.apart) if found.apart else first_cutoff(analysis)
    return found if cutoff is None else replace(found, largest=_largest(analysis, cutoff))


def first_cutoff(analysis: Analysis) -> float | None:
    """Return the cutoff of the first picture: a level worth a look, or the steepest rise."""
    given = getattr(analysis.made.settings, "cutoff", None)
    if given is not None:
        return float(given)
    confidence = analysis.confidence
    if confidence is not None and confidence.silhouettes.levels:
        return confidence.silhouettes.levels[0].cutoff
    size = min(tables.min_size(analysis), max(2, analysis.hierarchy.n_sites // 2))
    return inflection(count_clusters(analysis.hierarchy, large=size, sizes=()))


def _bodies(analysis: Analysis) -> BodiesEvidence | None:
    if analysis.motion is None:
        return None
    found, system = analysis.motion.bodies, analysis.system
    chosen = found.levels[found.chosen]
    rests = {level.n_bodies: level.rest for level in found.levels}
    places = system.coordinates[system.object_sites[system.shown]].astype(np.float64)
    gyration = float(np.sqrt(np.nanvar(places, axis=0).sum()))
    agreed, explained = found.agreement, analysis.motion.explained.finite
    other = candidate(analysis)
    return BodiesEvidence(
        n=found.n_bodies,
        gap=chosen.gap,
        sharpness=chosen.sharpness,
        fit=tuple(rests.get(n, np.nan) for n in range(1, max(rests) + 1)),
        fit_limit=rigid_limit(system.unit, gyration),
        explained=float(explained[found.chosen]),
        agreement=np.nan if agreed is None else agreed.rand,
        counts=() if agreed is None else agreed.counts,
        candidate=1 if other is None else other.n_bodies,
        candidate_gap=np.nan if other is None else other.gap,
        bends=other is not None and other.bends,
    )


def candidate(analysis: Analysis) -> Level | None:
    """Return the bodies that were chosen, or the best of more than one."""
    if analysis.motion is None:
        return None
    found = analysis.motion.bodies
    return found.levels[found.chosen] if found.n_bodies > 1 else found.next_best


def common_cutoff(groups: Sequence[GroupEvidence]) -> float:
    """Return a cutoff at which all groups are there, or the middle of the widest."""
    low, high = max(group.low for group in groups), min(group.high for group in groups)
    if low < high < np.inf:
        return float(np.sqrt(low * high))
    return max(groups, key=lambda group: group.width).middle


def _groups(analysis: Analysis) -> tuple[GroupEvidence, ...]:
    found, chance = [], None if analysis.confidence is None else analysis.confidence.chance
    for record in analysis.clusters if analysis.confidence is not None else ():
        if record.plateau >= PLATEAU:
            known = chance is not None and chance.is_meaningful
            inside, across, _ = medians(analysis, record.sites)
            group = GroupEvidence(
                *(record.size, record.low, record.high, record.plateau, inside, across),
                support=record.support,
                chance=record.chance if known else np.nan,
                sites=record.sites,
            )
            found.append(group)
    return tuple(found)


def medians(analysis: Analysis, sites: Ints) -> tuple[float, float, float]:
    """Return the median σ inside a group of shown sites, to all others, and among these."""
    pairs, sigma = shown_pairs(analysis)
    member: Bools = np.zeros(len(analysis.system.shown), bool)
    member[sites] = True
    ends = np.count_nonzero(member[pairs], axis=1)
    inside, across, others = (_median(sigma[ends == count]) for count in (2, 1, 0))
    return inside, across, others


def shown_pairs(analysis: Analysis) -> tuple[Ints, Floats]:
    """Return the pairs of shown sites that were compared, as places among them, and their σ."""
    sigma, shown = analysis.fluctuations, analysis.system.shown
    if sigma is None:
        return np.empty((0, 2), np.int64), np.empty(0)
    place = np.full(sigma.n_objects, -1)
    place[shown] = np.arange(len(shown))
    pairs = place[sigma.pairs]
    held = (pairs >= 0).all(axis=1) & np.isfinite(sigma.sigma)
    return pairs[held], sigma.sigma[held]


def _median(values: Floats) -> float:
    return float(np.median(values)) if len(values) else float("nan")


def _network(analysis: Analysis) -> GroupEvidence | None:
    tree, size, settings = analysis.hierarchy, tables.min_size(analysis), analysis.made.settings
    if len(tree.heights) == 0 or tree.heights[0] < 0:
        return None
    lines = lineages(tree, min_size=max(2, size), tolerance=0.1)
    large = [line for line in lines if 2 * len(line.sites) >= tree.n_sites]
    widest = max(large, key=lambda line: line.width, default=None)
    if widest is None or widest.width < PLATEAU:
        return None
    middle, chosen = float(np.sqrt(widest.low * widest.high)), np.nan
    given = getattr(settings, "cutoff", None)
    if given is not None and widest.low <= given < widest.high:
        middle = chosen = float(given)
    sites = tree.cut(middle).members(0)
    inside, across, _ = medians(analysis, sites)
    level = _largest(analysis, middle)
    return GroupEvidence(
        *(len(sites), widest.low, widest.high, widest.width, inside, across),
        chance=level.chance_median / len(sites),
        spacing=_spacing(analysis),
        sites=sites,
        chosen=chosen,
    )


def _spacing(analysis: Analysis) -> float:
    system = analysis.system
    places = system.coordinates[system.object_sites[system.shown]].astype(np.float64)
    seen = places[np.isfinite(places).all(axis=1)]
    if seen.shape[1] == 0 or len(seen) < 2:
        return float("nan")
    return _median(np.asarray(cKDTree(seen).query(seen, k=[2])[0]).ravel())


def _largest(analysis: Analysis, cutoff: float) -> LargestEvidence:
    """Return the largest cluster at a cutoff, beside those of independent walkers."""
    size = int(analysis.hierarchy.cut(cutoff).sizes[0])
    chance = None if analysis.confidence is None else analysis.confidence.chance
    if chance is None or not chance.is_meaningful:
        return LargestEvidence(size, cutoff)
    draws = chance.largest[:, np.searchsorted(chance.cutoffs, cutoff, side="right") - 1]
    return LargestEvidence(size, cutoff, float(np.median(draws)), float(np.quantile(draws, 0.95)))
