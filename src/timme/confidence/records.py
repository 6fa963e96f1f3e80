"""What is known of how sure each cluster is: one record for each, and a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from timme._arrays import Ints
from timme._html import Described
from timme.confidence.bridges import Bridge
from timme.confidence.draws import Draws
from timme.confidence.findings import EXCESS, HATCHED, Convergence, Separation
from timme.confidence.levels import Silhouettes
from timme.confidence.sampling import Sampling
from timme.hierarchy.condensed import CondensedTree

SOLID = 0.85  # support from which on a cluster is drawn so; hatched where it is less sure
BODY, SOFT = 2.0, 1.3  # separation Q; provisional, as they rest on few real proteins
CLEAR = 3.0  # X over all pairs, from which on being mostly found again is enough
WHOLE = 0.8  # of what is split that is on its sides, from which on they are more than kernels

Look = Literal["solid", "hatched", "faded", "plain"]
Kind = Literal["a separate body", "a soft part", "not separate", ""]


@dataclass(frozen=True, slots=True, eq=False)
class ClusterRecord:
    """How sure one cluster of the condensed tree is."""

    cluster: int  # place in the condensed tree
    sites: Ints  # shown sites, ascending
    parent: int  # place of the cluster that it is a part of; -1 for a whole tree
    birth: float  # cutoff at which it is complete
    death: float  # cutoff at which it joins its sibling; inf if never
    birth_interval: tuple[float, float] | None = None  # between which it lies 9 times of 10
    death_interval: tuple[float, float] | None = None
    support: float | None = None  # mean overlap with resampled clusters; None of whole trees
    sibling_support: float | None = None  # of what it splits from, if that is less than half of it
    share: float | None = None  # of what was split that is on its sides; None of whole trees
    separation: Separation | None = None  # from its sibling; of a tree of several, from all else
    bridge: Bridge | None = None  # the object or pair on which it hangs; None if on more than one

    @property
    def size(self) -> int:
        """Number of shown sites."""
        return len(self.sites)

    @property
    def look(self) -> Look:
        """How it is drawn: solid, hatched or faded; plain where nothing can be told."""
        if self.support is None:
            return "plain" if not self.trusted else "solid"
        if self.trusted:
            return "solid"
        return "hatched" if self.support >= HATCHED else "faded"

    @property
    def kind(self) -> Kind:
        """What the separation says it is."""
        if self.separation is None or np.isnan(self.separation.ratio):
            return ""
        if not is_separate(self.separation):
            return "not separate"
        much = self.separation.by_excess or self.separation.ratio >= BODY
        return "a separate body" if much else "a soft part"

    @property
    def trusted(self) -> bool:
        """Whether it would be found again, and moves by itself."""
        return is_trusted(
            self.support, self.separation, sibling_support=self.sibling_support, share=self.share
        )

    def sentence(self, members: str, unit: str = "", name: str = "sites") -> str:
        """Say how sure it is, as a biologist would want to know.

        Parameters
        ----------
        members : str
            Which sites it consists of, such as ``122-135 138-154``.
        unit : str, optional
            Of σ.
        name : str, optional
            What the sites are, such as ``Cα``.

        Returns
        -------
        str
            One sentence without its full stop.

        Examples
        --------
        >>> moving = Separation(2.9, 0.30, 0.36, 4.0, 3.1, 40)
        >>> record = ClusterRecord(1, np.arange(31), 0, 0.2, 0.3, support=0.88, separation=moving)
        >>> record.sentence("122-135 138-154", "Å", "Cα")
        '31 Cα (122-135 138-154): found again in resampled data (0.88); inside ±0.3 Å, against the
        rest ±2.9 Å (8.1 ×): a separate body'
        """
        told = f"{self.size} {name} ({members}): {self._found_again()}{self._moves(unit)}"
        return told if self.bridge is None else f"{told}; {self.bridge.words}"

    def _moves(self, unit: str) -> str:
        moving = self.separation
        if moving is None or np.isnan(moving.across):
            return ""
        unit = f" {unit}" if unit else ""
        times = f"{moving.ratio:.2g}" if moving.ratio < 10 else f"{moving.ratio:.0f}"
        told = f"; inside ±{moving.inside:.2g}{unit}, against the rest ±{moving.across:.2g}{unit}"
        if not self.kind:
            return f"{told} ({times} ×)"
        why = ""
        if moving.by_excess:
            why = f", by excess motion ({moving.excess:.2g} ×), as few pairs cross"
        elif moving.explained:
            why = ", as the trembling of single sites explains it"
            why += f" (excess {moving.excess_all:.2g} ×)"
        return f"{told} ({times} ×): {self.kind}{why}"

    def _found_again(self) -> str:
        if self.support is None:
            return "a piece of its own" if self.separation is not None else "the whole"
        if self.support >= SOLID:
            again = "found again"
        else:
            again = "mostly found again" if self.support >= HATCHED else "not found again"
        return f"{again} in resampled data ({self.support:.2f})"


def is_trusted(
    support: float | None,
    separation: Separation | None,
    *,
    sibling_support: float | None = None,
    share: float | None = None,
) -> bool:
    """Tell whether a cluster would be found again, and moves by itself.

    Without a small part, most of a cluster is found again in any case: the whole overlaps with it.
    So what a much larger cluster splits from must be found again as well.

    Draws blur the rim of a body whose motion they all show. Where that motion is three times what
    single sites explain, as hardly ever of parts of one body that bends, and few sites are left
    that join neither side first, so that these are bodies and not kernels of them, being mostly
    found again is enough.

    Parameters
    ----------
    support : float or None
        Of the cluster; None where a tree as a whole is asked about, which is always found again.
    separation : Separation or None
        From its sibling; without one, nothing is believed.
    sibling_support : float, optional
        Support of the sibling, where that is less than half of the cluster.
    share : float, optional
        Of the sites of what was split, those on its sides.

    Returns
    -------
    bool
        True if it is separate and support is at least 0.85; or 0.75, where X over all pairs is at
        least 3, and the share at least 0.8.
    """
    if separation is None or not is_separate(separation):
        return False
    clear = separation.excess_all >= CLEAR and not separation.by_excess
    enough = HATCHED if clear and share is not None and share >= WHOLE else SOLID
    return all(value is None or value >= enough for value in (support, sibling_support))


def is_separate(separation: Separation | None) -> bool:
    """Tell whether a cluster moves by itself.

    Parameters
    ----------
    separation : Separation or None
        From its sibling.

    Returns
    -------
    bool
        By Q, unless X says that the trembling of single sites explains it; where too few compared
        pairs cross, by the lower bound of X.
    """
    if separation is None:
        return False
    if separation.by_excess:
        return separation.excess_low > EXCESS
    return separation.ratio >= SOFT and not separation.explained


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Confidence(Described):
    """How sure a hierarchy is: its sampling, and a record for each condensed cluster."""

    sampling: Sampling
    tree: CondensedTree  # of the shown sites
    records: tuple[ClusterRecord, ...]
    silhouettes: Silhouettes
    draws: Draws | None = None  # what was resampled; None where nothing can be told
    notes: tuple[str, ...] = ()  # on what was left out
    convergence: Convergence | None = None  # of trusted clusters; None where nothing can be told

    @property
    def trusted(self) -> tuple[ClusterRecord, ...]:
        """Clusters that would be found again and move by themselves, the largest first."""
        return tuple(
            sorted((record for record in self.records if record.trusted), key=lambda r: -r.size)
        )

    def _facts(self) -> Iterable[tuple[str, object]]:
        return (
            ("sampling", self.sampling.words),
            ("clusters", len(self.records)),
            ("trusted", len(self.trusted)),
        )
