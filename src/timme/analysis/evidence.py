"""Evidence of a result: the numbers that decide what was found, beside their baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.spatial import cKDTree

from timme._arrays import Floats, Ints
from timme.analysis import tables
from timme.ensemble.atoms import angstroms
from timme.hierarchy.condensed import MIN_SIZE, PLATEAU, Lineage, lineages
from timme.hierarchy.curves import count_clusters, inflection, round_cutoff, round_within
from timme.motion.body_search import GAP

if TYPE_CHECKING:
    from timme.analysis.result import Analysis
    from timme.confidence.assessment import ClusterRecord
    from timme.confidence.chance import Chance
    from timme.motion.body_search import Level
    from timme.motion.rigid_bodies import Bodies

Decided = Literal["bodies", "undecided", "one body", "flexible", "groups", "network", "none"]
Kind = Literal[Decided, "core", "motion", "agreement"]

WEAK_GAP = 4.0  # of bodies that more samples may show; known domains have G of 8.4 to 239
AGREEMENT = 0.75  # adjusted Rand index of bodies found in two halves; chance gives 0
FEW_SAMPLES = 8.0  # below, motions that were sampled once look like drift
RIGID = 1.5  # Å, fit of one body; provisional
RIGID_SHARE = 1 / 8  # of the radius of gyration, where the unit of length is unknown
FEW_SNAPSHOTS = 8  # two snapshots have plateaus of 2.7 times by chance
ENOUGH_SNAPSHOTS = 50  # from which on a plateau is safe without a chance level
BY_CHANCE = 0.5  # overlap with clusters of independent walkers
APART, LOOSE = 2.0, 0.15  # σ across a network over that inside; σ inside over the spacing


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """All numbers that decide, and what they are compared with."""

    n_sites: int
    n_snapshots: int | None  # None for a ready-made matrix
    n_independent: float  # samples of the slowest distances, beside 8; NaN unknown
    independent: bool = False  # models without an order in time
    bodies: Bodies | None = None  # of a molecule: G, S and fit by number, agreement of two halves
    fit_limit: float = np.nan  # of one body, 1.5 Å in the unit of the coordinates
    records: tuple[ClusterRecord, ...] = ()  # chance is NaN where unknown
    network: Lineage | None = None  # of half or more, at 10 % in size
    by_chance: float = np.nan  # largest cluster of walkers over the network; NaN unknown
    inside: float = np.nan  # median σ in the network
    across: float = np.nan  # median σ from there to what is outside
    spacing: float = np.nan  # median distance of nearest neighbours
    all_together: bool = False  # at a cutoff at which walkers are not, nor at 1.65 of it
    min_size: int = MIN_SIZE

    @property
    def groups(self) -> tuple[ClusterRecord, ...]:
        """Clusters that last and that walkers do not form; of those that share sites, the widest.

        They are in the order of their sites. Fewer than `min_size` sites may be outside only where
        walkers are known, which decide: by chance, too, all but a few stay together for long.
        """
        found: list[ClusterRecord] = []
        n_snapshots = np.inf if self.n_snapshots is None else self.n_snapshots
        for each in sorted(self.records, key=lambda record: -record.plateau):
            beyond = each.chance < BY_CHANCE
            if np.isnan(each.chance):
                outside = self.n_sites - each.size
                beyond = outside >= self.min_size and n_snapshots >= ENOUGH_SNAPSHOTS
            lasts = each.plateau >= PLATEAU and each.size >= self.min_size
            if lasts and beyond and not any(np.isin(each.sites, g.sites).any() for g in found):
                found.append(each)
        if not found and self.all_together:
            found = [each for each in self.records if each.size == self.n_sites]
        known = found if n_snapshots >= FEW_SNAPSHOTS else []
        return tuple(sorted(known, key=lambda record: record.sites.tolist()))


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
    >>> from timme.confidence.assessment import ClusterRecord
    >>> group = ClusterRecord(np.arange(20), -1, 0.2, 0.6, plateau=1.1, chance=0.05)
    >>> decide(Evidence(100, 250, 12.0, records=(group,)))
    'groups'
    """
    if evidence.bodies is not None:
        return _decide_on_bodies(evidence.bodies, evidence)
    if evidence.groups:
        return "groups"
    found = evidence.network
    if found is None or found.width < PLATEAU or 2 * len(found.sites) < evidence.n_sites:
        return "none"
    apart = evidence.across >= APART * evidence.inside
    return "network" if apart and evidence.inside <= LOOSE * evidence.spacing else "none"


def _decide_on_bodies(bodies: Bodies, evidence: Evidence) -> Kind:
    chosen, best, halves = bodies.levels[bodies.chosen], candidate(bodies), bodies.agreement
    if bodies.chosen and chosen.gap >= GAP and not chosen.bends:
        return "bodies" if halves is None or not halves.rand < AGREEMENT else "undecided"
    if not bodies.chosen and halves is not None and max(halves.counts) > 1:
        return "undecided"
    weak = best is not None and WEAK_GAP <= best.gap < GAP
    if weak and not evidence.n_independent >= FEW_SAMPLES:
        return "undecided"
    return "one body" if bodies.levels[0].rest <= evidence.fit_limit else "flexible"


def gather(analysis: Analysis) -> Evidence:
    """Return the numbers of an analysis of snapshots, or of a matrix, that decide."""
    system, confidence, tree = analysis.system, analysis.confidence, analysis.hierarchy
    size = tables.min_size(analysis)
    found = Evidence(tree.n_sites, system.n_snapshots or None, np.nan, min_size=size)
    if confidence is not None:
        sampling, records = confidence.sampling, confidence.records
        if walkers(analysis) is None:
            records = tuple(replace(record, chance=np.nan) for record in records)
        count, unordered = sampling.n_effective, sampling.independent
        found = replace(found, records=records, n_independent=count, independent=unordered)
    if analysis.made.kind == "molecule" and analysis.motion is not None:
        gyration = float(np.sqrt(np.nanvar(_places(analysis), axis=0).sum()))
        limit = rigid_limit(system.unit, gyration, _spacing(analysis))
        return replace(found, bodies=analysis.motion.bodies, fit_limit=limit)
    top = tree.heights.max(initial=0.0) * np.exp(PLATEAU)
    together = 2 * walkers_at(analysis, top)[0] < tree.n_sites
    return _with_network(replace(found, all_together=together), analysis)


def given_cutoff(analysis: Analysis) -> float | None:
    """Return the cutoff that the user gave."""
    given: float | None = getattr(analysis.made.settings, "cutoff", None)
    return given


def first_cutoff(analysis: Analysis) -> float:
    """Return the cutoff of the first picture: a level worth a look, the steepest rise, or all."""
    given, confidence, tree = given_cutoff(analysis), analysis.confidence, analysis.hierarchy
    if given is not None:
        return given
    if confidence is not None and confidence.silhouettes.levels:
        return round_cutoff(tree, confidence.silhouettes.levels[0].cutoff)
    size = min(tables.min_size(analysis), max(2, tree.n_sites // 2))
    steepest = inflection(count_clusters(tree, large=size, sizes=()))
    return round_cutoff(tree, tree.heights.max(initial=0.0) if steepest is None else steepest)


def labels_of(analysis: Analysis, evidence: Evidence, kind: Kind) -> tuple[Ints, float]:
    """Return the group of each shown site, and the cutoff that describes the groups."""
    labels, at = np.full(evidence.n_sites, -1), first_cutoff(analysis)
    if evidence.bodies is not None:
        level = candidate(evidence.bodies) if kind == "undecided" else None
        return evidence.bodies.labels if level is None else level.labels, at
    groups: Sequence[ClusterRecord | Lineage] = evidence.groups
    if kind == "network" and evidence.network is not None:
        groups = [evidence.network]
    if groups:
        for group, record in enumerate(groups):
            labels[record.sites] = group
        return labels, _common_cutoff(groups, given_cutoff(analysis))
    return cut_at(analysis, at), at


def _common_cutoff(groups: Sequence[ClusterRecord | Lineage], given: float | None) -> float:
    """Return a cutoff at which all groups are there, or the middle of the widest."""
    low, high = max(group.low for group in groups), min(group.high for group in groups)
    if given is not None and low <= given < high:
        return given
    if not low < high < np.inf:
        widest = min(groups, key=lambda group: group.low / group.high)
        low, high = widest.low, widest.high
    return round_within(float(np.sqrt(low * high)) if np.isfinite(high) else low, low, high)


def cut_at(analysis: Analysis, at: float) -> Ints:
    """Return the clusters of shown sites at a cutoff, -1 for those that are too small to count."""
    cut = analysis.hierarchy.cut(at)
    return np.where(cut.sizes[cut.labels] >= tables.min_size(analysis), cut.labels, -1)


def rigid_limit(unit: str, radius_of_gyration: float, spacing: float = np.nan) -> float:
    """Return the largest rms fit of a rigid body in a unit of length, 1.5 Å if it is known."""
    length = angstroms(unit) if unit else None
    if length is not None:
        return RIGID / length
    # sites that wander over half the way to their neighbours are no body, as walkers are not
    return float(np.fmin(RIGID_SHARE * radius_of_gyration, spacing / 2))


def candidate(bodies: Bodies) -> Level | None:
    """Return the bodies that were chosen, or the best of more than one."""
    return bodies.levels[bodies.chosen] if bodies.chosen else bodies.next_best


def _with_network(found: Evidence, analysis: Analysis) -> Evidence:
    """Add the largest cluster that lasts, with what it is compared with."""
    tree, given = analysis.hierarchy, given_cutoff(analysis)
    if tree.heights.min(initial=0.0) < 0:
        return found
    lines = lineages(tree, min_size=max(2, found.min_size), tolerance=0.1)
    large = [line for line in lines if 2 * len(line.sites) >= tree.n_sites]
    if not large:
        return found
    line = max(large, key=lambda line: line.width)
    cutoff = _common_cutoff([line], given)
    sites = tree.cut(cutoff).members(0)
    share = walkers_at(analysis, cutoff)[0] / len(sites)
    member = np.where(np.isin(np.arange(tree.n_sites), sites), 0, -1)
    inside, across, _ = medians(analysis, member)
    found = replace(found, network=replace(line, sites=sites), by_chance=share)
    return replace(found, inside=inside, across=across, spacing=_spacing(analysis))


def _places(analysis: Analysis) -> Floats:
    """Places of the shown sites in the first snapshot."""
    system = analysis.system
    return system.coordinates[system.object_sites[system.shown]].astype(np.float64)


def _spacing(analysis: Analysis) -> float:
    """Median distance of nearest neighbours in the first snapshot; NaN unknown."""
    places = _places(analysis)
    places = places[np.isfinite(places).all(axis=1)]
    near = np.ravel(cKDTree(places).query(places, k=[2])[0]) if places.size else np.empty(0)
    return _median(near[np.isfinite(near)])


def walkers(analysis: Analysis) -> Chance | None:
    """Return the chance level; None where shifted steps do not make independent walkers."""
    chance = None if analysis.confidence is None else analysis.confidence.chance
    return chance if chance is not None and chance.is_meaningful else None


def walkers_at(analysis: Analysis, cutoff: float) -> tuple[float, float]:
    """Return the median and the 95 % of the largest cluster of walkers; NaN where unknown."""
    chance = walkers(analysis)
    if chance is None:
        return np.nan, np.nan
    draws = chance.largest[:, np.searchsorted(chance.cutoffs, cutoff, side="right") - 1]
    return float(np.median(draws)), float(np.quantile(draws, 0.95))


def medians(analysis: Analysis, labels: Ints) -> tuple[float, float, float]:
    """Return the median σ inside the groups of labels ≥ 0, from these to others, and of others."""
    pairs, sigma = shown_pairs(analysis)
    one, other = labels[pairs].T
    grouped, same = np.asarray(np.maximum(one, other) >= 0), np.asarray(one == other)
    return _median(sigma[grouped & same]), _median(sigma[grouped & ~same]), _median(sigma[~grouped])


def shown_pairs(analysis: Analysis) -> tuple[Ints, Floats]:
    """Return the pairs of shown sites that were compared, as places among them, and their σ."""
    sigma, shown = analysis.fluctuations, analysis.system.shown
    if sigma is None:
        return np.empty((0, 2), np.int64), np.empty(0)
    place = np.full(sigma.n_objects, -1)
    place[shown] = np.arange(len(shown))
    pairs = place[sigma.pairs]
    kept = (pairs >= 0).all(axis=1) & np.isfinite(sigma.sigma)
    return pairs[kept], sigma.sigma[kept]


def _median(values: Floats) -> float:
    return float(np.median(values)) if len(values) else float("nan")
