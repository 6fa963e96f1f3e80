"""What every part of a result can do: store itself, and report what it says.

A part is frozen data with a name. What is drawn, listed and shown of it is declared once, in
:mod:`timme.output.registry`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, Self

from timme._html import Described
from timme.analysis.system import System
from timme.hierarchy.tree import Hierarchy

Arrays = dict[str, Any]
Rows = list[tuple[str, str]]


class Part(Protocol):
    """What every part of a result can do."""

    name: ClassVar[str]  # by which it is stored

    def to_arrays(self) -> Arrays:
        """Return what is stored, by name.

        Returns
        -------
        dict
            Arrays, and what numpy makes arrays of; names are unique within the part alone.
        """
        ...

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
        Part
            Equal to the one that was stored.
        """
        ...

    def facts(self) -> Rows:
        """Describe it in rows of the summary, whatever the cutoff.

        Returns
        -------
        list of (str, str)
            What, and its value.
        """
        ...

    def findings(self, hierarchy: Hierarchy, cutoff: float | None, *, min_size: int) -> Rows:
        """Describe in rows of the summary what it says at a cutoff.

        Parameters
        ----------
        hierarchy : Hierarchy
            What its cutoffs are is written.
        cutoff : float or None
            That of the pictures, if there is one.
        min_size : int
            Sites that a cluster needs to be counted.

        Returns
        -------
        list of (str, str)
            What, and its value.
        """
        ...


class PlainPart(Described):
    """What a part says in the summary unless it has more to say: nothing."""

    __slots__ = ()

    def facts(self) -> Rows:
        """Describe it in rows of the summary, whatever the cutoff.

        Returns
        -------
        list of (str, str)
            None.
        """
        return []

    def findings(self, hierarchy: Hierarchy, cutoff: float | None, *, min_size: int) -> Rows:
        """Describe in rows of the summary what it says at a cutoff.

        Parameters
        ----------
        hierarchy, cutoff, min_size
            As for :meth:`Part.findings`.

        Returns
        -------
        list of (str, str)
            None: it is the same at all cutoffs, or pictures show it.
        """
        del hierarchy, cutoff, min_size
        return []
