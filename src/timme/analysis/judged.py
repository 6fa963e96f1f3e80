"""The part of a result that says how sure it is: a record of each cluster, and levels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from timme._arrays import Floats, Ints, frozen
from timme._html import Described
from timme.analysis.protocol import Arrays, Rows
from timme.analysis.system import System
from timme.confidence.bridges import Bridge
from timme.confidence.findings import Convergence, Separation
from timme.confidence.levels import Level, Silhouettes
from timme.confidence.records import ClusterRecord, Confidence
from timme.confidence.sampling import Sampling
from timme.hierarchy.condensed import condense
from timme.hierarchy.tree import Hierarchy
from timme.statistics import Suggestion

_JUDGED = ("across", "inside", "inside_other", "excess", "excess_low", "n_contacts")
_COLUMNS = ("support", "sibling_support", "birth_low", "birth_high", "death_low", "death_high")
_ALL = 1  # X over all pairs, which came last
_HANGING = ("one", "other", "larger", "smaller")  # what a cluster hangs on, and parts without it
_LENGTHS = (
    *("fractions", "forward", "backward"),
    *("forward_overlaps", "backward_overlaps", "left_out"),
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Judged(Described):
    """How sure a result is."""

    confidence: Confidence
    name: ClassVar[str] = "confidence"

    def to_arrays(self) -> Arrays:
        """Return what is stored, by name.

        Returns
        -------
        dict
            What was found of each cluster of the condensed tree, and of every level. Resampled
            hierarchies are not kept.
        """
        found = self.confidence
        sampling, levels = found.sampling, found.silhouettes
        return {
            "min_size": np.array(found.tree.min_size),
            "n_effective": np.array(sampling.n_effective),
            "replicas": np.array(sampling.replicas, np.int64),
            "snapshots": np.array([sampling.n_snapshots, sampling.independent], np.int64),
            "records": np.array([_numbers(record) for record in found.records]).reshape(
                -1, len(_COLUMNS) + len(_JUDGED) + len(_HANGING) + _ALL
            ),
            "cutoffs": levels.cutoffs,
            "silhouettes": levels.values,
            "levels": np.array(
                [[level.cutoff, level.silhouette, level.low, level.high] for level in levels.levels]
            ).reshape(-1, 4),
        } | (
            {}
            if found.convergence is None
            else {name: getattr(found.convergence, name) for name in _LENGTHS}
        )

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], system: System, hierarchy: Hierarchy) -> Self:
        """Make the part of what was stored.

        Parameters
        ----------
        arrays, system, hierarchy
            As for :meth:`Part.from_arrays`.

        Returns
        -------
        Judged
            The same records, without the resampled hierarchies.
        """
        shown = hierarchy.restrict(system.shown)
        tree = condense(shown, min_size=int(arrays["min_size"]))
        rows = arrays["records"]
        if len(rows) != len(tree):
            raise ValueError(f"{len(rows)} records of {len(tree)} clusters")
        n_snapshots, independent = arrays["snapshots"].tolist()
        sampling = Sampling(
            n_snapshots,
            float(arrays["n_effective"]),
            tuple(arrays["replicas"].tolist()),
            bool(independent),
        )
        shares = tree.shares
        records = tuple(
            _record(
                row,
                cluster=cluster,
                sites=tree.members(cluster),
                parent=int(tree.parents[cluster]),
                birth=float(tree.births[cluster]),
                death=float(tree.deaths[cluster]),
                share=None if tree.parents[cluster] < 0 else float(shares[cluster]),
            )
            for cluster, row in enumerate(rows)
        )
        levels = tuple(_level(shown, row, tree.min_size) for row in arrays["levels"])
        silhouettes = Silhouettes(frozen(arrays["cutoffs"]), frozen(arrays["silhouettes"]), levels)
        lengths = None
        if "fractions" in arrays:
            lengths = Convergence(**{name: frozen(arrays[name]) for name in _LENGTHS})
        return cls(Confidence(sampling, tree, records, silhouettes, convergence=lengths))

    def facts(self) -> Rows:
        """Describe it in rows of the summary, whatever the cutoff.

        Returns
        -------
        list of (str, str)
            Whether there is enough data, how many clusters are trusted, and what level stands out.
        """
        found = self.confidence
        rows = [("sampling", found.sampling.words)]
        if not np.isnan(found.sampling.n_effective):
            rows.append(("trusted", _trusted_text(found)))
        if not found.silhouettes.standing_out:
            rows.append(("level", found.silhouettes.words))
        if found.convergence is not None:
            rows.append(("converged", found.convergence.words))
        return rows

    def findings(self, hierarchy: Hierarchy, cutoff: float | None, *, min_size: int) -> Rows:
        """Describe in rows of the summary what it says at a cutoff.

        Parameters
        ----------
        hierarchy, cutoff, min_size
            As for :meth:`Part.findings`.

        Returns
        -------
        list of (str, str)
            None: clusters are told whatever the cutoff.
        """
        del hierarchy, cutoff, min_size
        return []

    def suggestions(self) -> tuple[Suggestion, ...]:
        """List the levels worth looking at, each with its reason.

        Returns
        -------
        tuple of Suggestion
            The best first; where none stands out, the best of them says so.
        """
        levels = self.confidence.silhouettes.levels
        none = "" if self.confidence.silhouettes.standing_out else "no level stands out; the best: "
        return tuple(
            Suggestion(level.cutoff, none * (level is levels[0]) + self._reason(level))
            for level in levels
        )

    def _reason(self, level: Level) -> str:
        count, least = len(level.sizes), self.confidence.tree.min_size
        told = "stiff inside and apart" if level.stands_out else "hardly apart"
        many = f"{count} cluster{'s' * (count != 1)} of {least} or more"
        return f"{many}, {told} (silhouette {level.silhouette:.2f})"

    def record_at(self, hierarchy: Hierarchy, cutoff: float) -> list[ClusterRecord | None]:
        """Find the record of each cluster at a cutoff.

        Parameters
        ----------
        hierarchy : Hierarchy
            As the shown objects see it.
        cutoff : float
            In the units of the heights.

        Returns
        -------
        list of ClusterRecord or None
            By label of the cut; None for clusters that are too small to be judged.
        """
        owner, births, deaths = self.confidence.tree.owners, hierarchy.births, hierarchy.deaths
        alive = np.flatnonzero((births <= cutoff) & ((deaths > cutoff) | np.isinf(deaths)))
        labels = hierarchy.cut(cutoff).labels[hierarchy.order[hierarchy.starts[alive]]]
        ranked = owner[alive[np.argsort(labels)]]
        return [None if place < 0 else self.confidence.records[place] for place in ranked]

    def _facts(self) -> Iterable[tuple[str, object]]:
        return self.facts()


def _trusted_text(found: Confidence) -> str:
    n_judged = sum(record.separation is not None for record in found.records)
    if not found.trusted:
        return f"none of {n_judged} clusters of {found.tree.min_size} or more"
    sizes = ", ".join(str(record.size) for record in found.trusted[:8])
    more = ", …" if len(found.trusted) > 8 else ""
    return f"{len(found.trusted)} of {n_judged} clusters, of {sizes}{more}"


def _numbers(record: ClusterRecord) -> list[float]:
    """All numbers of a record, NaN for what is not known."""
    moving = record.separation
    birth, death = record.birth_interval or (None, None), record.death_interval or (None, None)
    known = (record.support, record.sibling_support, *birth, *death)
    judged = [getattr(moving, name) if moving is not None else None for name in _JUDGED]
    hanging: tuple[int | None, ...] = (None,) * len(_HANGING)
    if record.bridge is not None:
        hanging = (record.bridge.sites[0], record.bridge.sites[-1], *record.bridge.sizes)
    values = (*known, *judged, *hanging, None if moving is None else moving.excess_all)
    return [np.nan if value is None else float(value) for value in values]


def _record(row: Floats, **known: Any) -> ClusterRecord:
    values = [None if np.isnan(value) else float(value) for value in row]
    support, sibling, *bounds = values[: len(_COLUMNS)]
    last = len(_COLUMNS) + len(_JUDGED)
    judged = dict(zip(_JUDGED, row[len(_COLUMNS) : last].tolist(), strict=True))
    one, other, larger, smaller, *excess_all = row[last:].tolist()  # older results end before it
    n_contacts = judged.pop("n_contacts")
    if excess_all:
        judged["excess_all"] = excess_all[0]
    moving = None if np.isnan(n_contacts) else Separation(**judged, n_contacts=int(n_contacts))
    return ClusterRecord(
        **known,
        support=support,
        sibling_support=sibling,
        birth_interval=_bounds(bounds[0], bounds[1]),
        death_interval=_bounds(bounds[2], bounds[3]),
        separation=moving,
        bridge=None if np.isnan(one) else _bridge(int(one), int(other), int(larger), int(smaller)),
    )


def _bridge(one: int, other: int, larger: int, smaller: int) -> Bridge:
    return Bridge((one,) if one == other else (one, other), (larger, smaller))


def _bounds(low: float | None, high: float | None) -> tuple[float, float] | None:
    return None if low is None or high is None else (low, high)


def _level(hierarchy: Hierarchy, row: Floats, min_size: int) -> Level:
    cutoff, silhouette, low, high = row.tolist()
    sizes: Ints = hierarchy.cut(cutoff).sizes
    large = tuple(int(size) for size in sizes[sizes >= min_size])
    return Level(cutoff, silhouette, large, low, high)
