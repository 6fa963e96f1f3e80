"""The part of a result that tells how pairs of particles move with one another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np

from timme.analysis.protocol import Arrays, PlainPart, Rows
from timme.analysis.system import System
from timme.hierarchy.tree import Hierarchy
from timme.motion import TwoPoint


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Correlated(PlainPart):
    """Two-point correlation of the analysed particles."""

    found: TwoPoint
    name: ClassVar[str] = "two-point"

    def to_arrays(self) -> Arrays:
        """Return what is stored, by name.

        Returns
        -------
        dict
            Correlations with their errors, by lag and distance.
        """
        arrays = {each.name: getattr(self.found, each.name) for each in fields(TwoPoint)}
        return arrays | {"notes": np.array(self.found.notes, dtype=np.str_)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], system: System, hierarchy: Hierarchy) -> Self:
        """Make the part of what was stored.

        Parameters
        ----------
        arrays, system, hierarchy
            As for :meth:`Part.from_arrays`.

        Returns
        -------
        Correlated
            The same.
        """
        del system, hierarchy
        stored = {each.name: arrays[each.name] for each in fields(TwoPoint)}
        stored["n_dimensions"] = int(stored["n_dimensions"])
        stored["notes"] = tuple(stored["notes"].tolist())
        return cls(TwoPoint(**stored))

    def facts(self) -> Rows:
        """Describe it in rows of the summary, whatever the cutoff.

        Returns
        -------
        list of (str, str)
            Correlation of the nearest and the farthest pairs, and what to be careful about.
        """
        found = self.found
        met = np.flatnonzero(np.isfinite(found.along[0]))
        if not len(met):
            return [("two-point", "no pair is seen at these distances"), *self._notes()]
        rows = [
            ("" if row else "two-point", self._told(int(end)))
            for row, end in enumerate(dict.fromkeys(met[[0, -1]].tolist()))
        ]
        return [*rows, *self._notes()]

    def _notes(self) -> Rows:
        return [("", note) for note in self.found.notes]

    def _told(self, place: int) -> str:
        """Correlation at one distance and the first lag."""
        found = self.found
        along = _number(found.along[0, place], found.along_error[0, place])
        across = _number(found.across[0, place], found.across_error[0, place])
        return f"at {found.distances[place]:.3g}: D_rr {along}, D_⊥ {across} (lag {found.lags[0]})"


def _number(value: float, error: float) -> str:
    return f"{value:.3g} ± {error:.2g}" if np.isfinite(error) else f"{value:.3g} (no error)"
