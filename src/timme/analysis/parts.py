"""Parts that a result may have beside its hierarchy, each of which stores and reports itself.

A new kind needs its place in :data:`KINDS`, and in :mod:`timme.output.registry`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from timme._arrays import Floats, frozen
from timme._errors import counted
from timme._html import Described
from timme.analysis.chance import Chance
from timme.analysis.correlated import Correlated
from timme.analysis.judged import Judged
from timme.analysis.modes import Modes
from timme.analysis.motion import Moved
from timme.analysis.protocol import Arrays, Part, PlainPart, Rows
from timme.analysis.system import System
from timme.analysis.timed import Timed
from timme.fluctuations.sigma import Fluctuations
from timme.hierarchy.tree import Hierarchy
from timme.rigidity.decomposition import Decomposition, decompose
from timme.rigidity.network import BARS, Network


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _OfPairs(PlainPart):
    """Numbers of pairs of objects, kept for pictures."""

    pairs: Fluctuations  # whose sigma are these numbers
    _NUMBERS: ClassVar[str]  # by which they are stored

    def to_arrays(self) -> Arrays:
        """Return what is stored, by name.

        Returns
        -------
        dict
            Pairs of objects, the number of each, and the snapshots that count for it.
        """
        known = self.pairs
        return {
            "pairs": known.pairs.astype(np.int32),
            self._NUMBERS: known.sigma,
            "common": known.common,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], system: System, hierarchy: Hierarchy) -> Self:
        """Make the part of what was stored.

        Parameters
        ----------
        arrays, system, hierarchy
            As for :meth:`Part.from_arrays`.

        Returns
        -------
        Part
            Numbers of the pairs of this hierarchy, in its unit.
        """
        del system
        return cls(
            Fluctuations(
                n_objects=hierarchy.n_sites,
                pairs=frozen(arrays["pairs"].astype(np.int64)),
                sigma=arrays[cls._NUMBERS],
                common=arrays["common"],
                unit=hierarchy.unit,
            )
        )


class Measured(_OfPairs):
    """Heights of pairs as they were measured: σ of those that were kept."""

    __slots__ = ()
    name: ClassVar[str] = "fluctuations"
    _NUMBERS: ClassVar[str] = "sigma"


class Apart(_OfPairs):
    """Fraction of snapshots in which pairs are apart."""

    __slots__ = ()
    name: ClassVar[str] = "apart"
    _NUMBERS: ClassVar[str] = "fraction"

    @property
    def fractions(self) -> Floats:
        """Of each pair, the fraction of snapshots in which it is apart."""
        return self.pairs.sigma


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Constraints(Described):
    """What holds a structure together: constraints between sites, where rigidity was counted."""

    network: Network
    name: ClassVar[str] = "network"
    _COLUMNS: ClassVar[tuple[str, ...]] = ("bonds", "bars", "kinds", "energies")

    def to_arrays(self) -> Arrays:
        """Return what is stored, by name.

        Returns
        -------
        dict
            Bonds between sites, and of each its bars, kind and energy.
        """
        return {name: getattr(self.network, name) for name in self._COLUMNS}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], system: System, hierarchy: Hierarchy) -> Self:
        """Make the part of what was stored.

        Parameters
        ----------
        arrays, system, hierarchy
            As for :meth:`Part.from_arrays`.

        Returns
        -------
        Constraints
            A network of the sites of this system.
        """
        del hierarchy
        columns = {name: arrays[name] for name in cls._COLUMNS}
        return cls(Network(n_bodies=len(system.sites), **columns))

    def decomposed(self, cutoff: float | None) -> Decomposition:
        """Find what is rigid at a cutoff.

        Parameters
        ----------
        cutoff : float or None
            In kcal/mol; None, where nothing ever joins, for all bonds.

        Returns
        -------
        Decomposition
            What the pebble game finds.
        """
        return decompose(self.network, 0.0 if cutoff is None else cutoff)

    def facts(self) -> Rows:
        """Describe it in rows of the summary, whatever the cutoff.

        Returns
        -------
        list of (str, str)
            How many constraints of each kind.
        """
        return [("constraints", constraints_text(self.network))]

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
            Floppy modes, rigid clusters, stressed regions and hinges.
        """
        text = decomposition_text(self.decomposed(cutoff), min_size=min_size)
        at = hierarchy.quantity.cutoff_text(0.0 if cutoff is None else cutoff)
        return [("rigidity", f"at {at}: {text}")]


KINDS: dict[str, type[Part]] = {
    kind.name: kind
    for kind in (Measured, Apart, Constraints, Judged, Moved, Timed, Chance, Modes, Correlated)
}


def constraints_text(network: Network) -> str:
    """Count the constraints of each kind.

    Parameters
    ----------
    network : Network
        Constraints.

    Returns
    -------
    str
        Such as "1,722: 1,500 × covalent, 222 × locked".
    """
    found = [(kind, np.count_nonzero(network.of_kind(kind))) for kind in BARS]
    each = ", ".join(f"{count:,} × {kind}" for kind, count in found if count)
    return f"{len(network.bonds):,}: {each}" if each else "none"


def decomposition_text(found: Decomposition, *, min_size: int) -> str:
    """Say what a decomposition found, in a line.

    Parameters
    ----------
    found : Decomposition
        What the pebble game found.
    min_size : int
        Sites that a cluster needs to be counted.

    Returns
    -------
    str
        Floppy modes, rigid clusters, stressed regions and hinges.
    """
    sizes = np.bincount(found.clusters)
    large = sizes[sizes >= min_size]
    regions, stressed = int(found.stress.max(initial=-1)) + 1, np.count_nonzero(found.stress >= 0)
    return (
        f"{counted(found.floppy_modes, 'floppy mode')}, {counted(len(large), 'rigid cluster')} "
        f"of {min_size} or more atoms (largest {sizes.max():,}), "
        f"{counted(regions, 'stressed region')} of {counted(int(stressed), 'bond')}, "
        f"{counted(int(np.count_nonzero(found.hinges)), 'hinge')}"
    )
