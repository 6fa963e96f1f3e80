"""The part of a result that says what chance would do: walkers with nothing in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from timme._arrays import frozen
from timme._html import Described
from timme.analysis.system import System
from timme.confidence.findings import NullBand
from timme.hierarchy.tree import Hierarchy

_FIELDS = ("cutoffs", "low", "high", "largest")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Chance(Described):
    """What independent walkers with the same steps would show."""

    band: NullBand
    name: ClassVar[str] = "chance"

    def to_arrays(self) -> dict[str, Any]:
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
        arrays : mapping
            As :meth:`to_arrays` returns them.
        system : System
            What was analysed.
        hierarchy : Hierarchy
            Of all objects.

        Returns
        -------
        Chance
            The same.
        """
        del system, hierarchy
        return cls(NullBand(**{name: frozen(arrays[name]) for name in _FIELDS}))

    def facts(self) -> list[tuple[str, str]]:
        """Describe it in rows of the summary, whatever the cutoff.

        Returns
        -------
        list of (str, str)
            None.
        """
        return []

    def findings(
        self, hierarchy: Hierarchy, cutoff: float | None, *, min_size: int
    ) -> list[tuple[str, str]]:
        """Describe in rows of the summary what it says at a cutoff.

        Parameters
        ----------
        hierarchy, cutoff, min_size
            As for :meth:`timme.analysis.Part.findings`.

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
