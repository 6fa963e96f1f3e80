"""The part of a result that tells of principal components, and how rigid bodies share in them.

Sites are the shown objects, in their order, laid onto the body that is held still. ``components``
holds the ten largest: ``mean`` (sites, 3), ``modes`` (components, sites, 3), ``variances``,
``projections`` (snapshots, components) and ``frames`` (which snapshots these are). ``overlap``
(components, bodies) is how much of each mode is rigid motion of each body. ``distances`` are the
variances of the components of internal distances, for which nothing is laid onto anything, and
``distance_projections`` the snapshots along them. ``covariance`` sets displacements of all sites
beside one another, body after body; None of more sites than can be drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np

from timme._arrays import Floats
from timme.analysis.protocol import Arrays, PlainPart, Rows
from timme.analysis.system import System
from timme.hierarchy.tree import Hierarchy
from timme.motion import BlockCovariance, Components


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Modes(PlainPart):
    """Principal components of the shown objects."""

    components: Components
    overlap: Floats  # (components, bodies)
    halves: float  # RMSIP of the ten largest of both halves; NaN of too few snapshots
    distances: Floats  # (components,), variances of internal distances
    distance_total: float  # their total variance
    distance_projections: Floats  # (snapshots, components)
    covariance: BlockCovariance | None
    name: ClassVar[str] = "modes"

    def to_arrays(self) -> Arrays:
        """Return what is stored, by name.

        Returns
        -------
        dict
            Components of positions and of distances, overlaps, the covariance.
        """
        arrays = {f"components.{name}": value for name, value in _of(self.components).items()}
        if self.covariance is not None:
            arrays |= {f"covariance.{name}": value for name, value in _of(self.covariance).items()}
        plain = ("overlap", "halves", "distances", "distance_total", "distance_projections")
        return arrays | {name: getattr(self, name) for name in plain}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], system: System, hierarchy: Hierarchy) -> Self:
        """Make the part of what was stored.

        Parameters
        ----------
        arrays, system, hierarchy
            As for :meth:`Part.from_arrays`.

        Returns
        -------
        Modes
            The same.
        """
        del system, hierarchy
        stored = {each.name: arrays[f"components.{each.name}"] for each in fields(Components)}
        stored["total"] = float(stored["total"])
        blocks = None
        if "covariance.order" in arrays:
            names = (each.name for each in fields(BlockCovariance))
            blocks = BlockCovariance(**{name: arrays[f"covariance.{name}"] for name in names})
        return cls(
            components=Components(**stored),
            overlap=arrays["overlap"],
            halves=float(arrays["halves"]),
            distances=arrays["distances"],
            distance_total=float(arrays["distance_total"]),
            distance_projections=arrays["distance_projections"],
            covariance=blocks,
        )

    def facts(self) -> Rows:
        """Describe it in rows of the summary, whatever the cutoff.

        Returns
        -------
        list of (str, str)
            What the largest components account for, and how much of them bodies are.
        """
        if self.components.total == 0:
            return [("components", "none, as nothing moves")]
        shares = np.diff(self.components.cumulated, prepend=0.0)
        told = ", ".join(
            f"{100 * share:.0f} % ({100 * rigid:.0f} % of it rigid motion of the bodies)"
            for share, rigid in zip(shares[:3], self.overlap.sum(axis=1)[:3], strict=True)
        )
        rows = [("components", f"of the variance {told}")]
        if np.isfinite(self.halves):
            rows.append(("", f"both halves of the snapshots agree by {self.halves:.2f} (RMSIP)"))
        return rows


def _of(data: Components | BlockCovariance) -> dict[str, Any]:
    return {each.name: getattr(data, each.name) for each in fields(data)}
