"""The part of a result that says what chance would do: walkers with nothing in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from timme._arrays import frozen
from timme.analysis.protocol import Arrays, PlainPart, Rows
from timme.analysis.system import System
from timme.confidence.findings import NullBand
from timme.hierarchy.tree import Hierarchy

_FIELDS = ("cutoffs", "low", "high", "largest")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chance(PlainPart):
    """What independent walkers with the same steps would show."""

    band: NullBand
    name: ClassVar[str] = "chance"

    def to_arrays(self) -> Arrays:
        """Return what is stored, by name.

        Returns
        -------
        dict
            The band of P(r ≥ R), and the largest cluster of every draw.
        """
        return {name: getattr(self.band, name) for name in _FIELDS}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], system: System, hierarchy: Hierarchy) -> Self:
        """Make the part of what was stored.

        Parameters
        ----------
        arrays, system, hierarchy
            As for :meth:`Part.from_arrays`.

        Returns
        -------
        Chance
            The same.
        """
        del system, hierarchy
        return cls(NullBand(**{name: frozen(arrays[name]) for name in _FIELDS}))

    def findings(self, hierarchy: Hierarchy, cutoff: float | None, *, min_size: int) -> Rows:
        """Describe in rows of the summary what it says at a cutoff.

        Parameters
        ----------
        hierarchy, cutoff, min_size
            As for :meth:`Part.findings`.

        Returns
        -------
        list of (str, str)
            The largest cluster beside those by chance.
        """
        del min_size
        if cutoff is None:
            return []
        return [("by chance", self.band.words(cutoff, int(hierarchy.cut(cutoff).sizes[0])))]

    def _facts(self) -> Iterable[tuple[str, object]]:
        return (("draws", len(self.band.largest)), ("cutoffs", len(self.band.cutoffs)))
