"""An Analysis and what is said of it: the cutoffs worth looking at, and a few rows of facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import InitVar, dataclass, fields
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from timme._arrays import Ints
from timme._errors import require
from timme._html import Described, table
from timme.analysis.judged import Judged
from timme.analysis.parts import Constraints, Measured
from timme.analysis.protocol import Part
from timme.analysis.recipe import Recipe
from timme.analysis.system import System
from timme.fluctuations.sigma import Fluctuations
from timme.hierarchy.tree import Hierarchy
from timme.rigidity.network import Network
from timme.statistics import Suggestion, suggest
from timme.system.atoms import Atoms

P = TypeVar("P", bound=Part)


@dataclass(frozen=True, eq=False)  # without slots, as what is worked out once is kept
class Seen:
    """A hierarchy and the objects of it that are shown."""

    hierarchy: Hierarchy  # of all objects
    shown: Ints

    @cached_property
    def restricted(self) -> Hierarchy:
        """The hierarchy as the shown objects see it, worked out when it is first asked for."""
        return self.hierarchy.restrict(self.shown)


@dataclass(frozen=True, eq=False, repr=False)  # without slots, as an argument is kept
class Analysis(Described):
    """A hierarchy with what it clusters, how it was made, and what else was found on the way."""

    system: System  # what was analysed
    hierarchy: Hierarchy  # of all objects
    recipe: Recipe  # how it was made, and how it is shown
    notes: tuple[str, ...] = ()  # what was chosen or left out, and why
    parts: tuple[Part, ...] = ()  # what was found besides, at most one of each kind

    # Follows from the others, and is no field: `replace` hands it on, so that other notes or
    # settings do not let the shown hierarchy be worked out again.
    seen: InitVar[Seen | None] = None

    def __post_init__(self, seen: Seen | None) -> None:
        """Keep what was worked out for this hierarchy and these objects, and nothing else."""
        for name, count in Counter(part.name for part in self.parts).items():
            if count > 1:  # of which the second would be stored in place of the first
                raise ValueError(
                    f"a result has one part {name!r} at most, got {count}: leave out the others"
                )
        of = (self.hierarchy, self.system.shown)
        if seen is None or seen.hierarchy is not of[0] or seen.shown is not of[1]:
            seen = Seen(*of)
        object.__setattr__(self, "seen", seen)

    @property
    def shown_hierarchy(self) -> Hierarchy:
        """The hierarchy as the shown objects see it."""
        found: Seen = vars(self)["seen"]  # for type checkers an argument, and no attribute
        return found.restricted

    @property
    def shown(self) -> Ints:
        """Objects that are drawn and counted."""
        return self.system.shown

    @property
    def shown_atoms(self) -> Atoms:
        """Names of the sites that stand for the shown objects; bonds are left out."""
        atoms, sites = self.system.sites, self.system.object_sites[self.shown]
        named = {field.name: getattr(atoms, field.name) for field in fields(Atoms)}
        bonds = named.pop("bonds")[:0]
        return Atoms(**{name: column[sites] for name, column in named.items()}, bonds=bonds)

    @property
    def length(self) -> float | None:
        """The length a that cutoffs are divided by; None where they are no lengths."""
        return self.recipe.settings.length if self.hierarchy.quantity.is_length else None

    @property
    def fluctuations(self) -> Fluctuations | None:
        """Measured σ of pairs; None where it was not kept."""
        found = self.part(Measured)
        return None if found is None else found.pairs

    @property
    def network(self) -> Network | None:
        """Constraints between sites, where rigidity of one structure was counted."""
        found = self.part(Constraints)
        return None if found is None else found.network

    def part(self, kind: type[P]) -> P | None:
        """Return the part of a kind.

        Parameters
        ----------
        kind : type
            One of the kinds of :mod:`timme.analysis.parts`.

        Returns
        -------
        Part or None
            None where the result has no such part.
        """
        return next((part for part in self.parts if isinstance(part, kind)), None)

    def suggest(self) -> tuple[Suggestion, ...]:
        """List the cutoffs worth looking at, each with its reason, the one of the pictures first.

        Returns
        -------
        tuple of Suggestion
            The user's own cutoff, if there is one, then those that are known to mean something,
            then levels whose clusters are stiff inside and apart, then long-lived ones, and last
            the paper's steepest rise.
        """
        chosen = self.recipe.settings
        found = suggest(self.shown_hierarchy, large=chosen.large)
        judged = self.part(Judged)
        if judged is not None and judged.suggestions():
            # The paper's criterion is a point of the curve, and no clusters' own: it comes last.
            found = _distinct(self.shown_hierarchy, (*judged.suggestions(), *found[1:], *found[:1]))
        known = (Suggestion(cutoff, meaning) for cutoff, meaning in self.recipe.known)
        if chosen.cutoff is None:
            return (*known, *found)
        return (Suggestion(float(chosen.cutoff), "chosen by the user"), *known, *found)

    def _facts(self) -> Iterable[tuple[str, object]]:
        """What needs no work: the cutoffs of the summary do."""
        rows = _facts_of(self)
        if not self.system.n_snapshots:  # of a ready-made matrix
            rows.append(("sites", f"{self.hierarchy.n_sites:,}"))
            rows.append(("linked by", self.hierarchy.quantity.symbol))
        return rows

    def _repr_html_(self) -> str:
        return table("Analysis", summary(self))


def require_analysis(given: Any, step: str) -> None:
    """Refuse what is no result, and say how it is made.

    Parameters
    ----------
    given : Any
        What the user passed.
    step : str
        Which step needs a result.
    """
    remedies = {
        "Fluctuations": "pass timme.gather(objects, fluctuations)",
        "Hierarchy": "pass timme.gather(objects, hierarchy=hierarchy)",
        "other": "pass what timme.analyse, timme.rigid, timme.load or timme.gather makes",
    }
    require(given, Analysis, step, remedies)


def _distinct(hierarchy: Hierarchy, found: tuple[Suggestion, ...]) -> tuple[Suggestion, ...]:
    """Leave out cutoffs between the same two levels as one before: they cut the same."""
    places = [int(np.searchsorted(hierarchy.levels, each.cutoff, side="right")) for each in found]
    return tuple(each for number, each in enumerate(found) if places[number] not in places[:number])


def summary(analysis: Analysis) -> list[tuple[str, str]]:
    """Describe an analysis in a few rows.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.

    Returns
    -------
    list of (str, str)
        What, and its value.
    """
    recipe, system, hierarchy = analysis.recipe, analysis.system, analysis.shown_hierarchy
    rows = _facts_of(analysis)
    for part in analysis.parts:
        rows += part.facts()
    shown = f"{hierarchy.n_sites:,} × {system.shown_name}"
    rows += [("shown", shown), ("levels", f"{len(hierarchy.levels):,}")]
    found = analysis.suggest()
    for number, suggestion in enumerate(found):
        cutoff = hierarchy.quantity.cutoff_text(suggestion.cutoff, analysis.length)
        sizes = hierarchy.cut(suggestion.cutoff).sizes
        largest = ", ".join(str(size) for size in sizes[:5] if size > 1) or "1"
        rows.append(
            ("cutoffs" if number == 0 else "", f"{cutoff}: {suggestion.reason}; largest {largest}")
        )
    first, least = found[0].cutoff if found else None, recipe.settings.min_size
    for part in analysis.parts:
        rows += part.findings(hierarchy, first, min_size=least)
    return rows


def _facts_of(analysis: Analysis) -> list[tuple[str, str]]:
    """What was read and compared."""
    recipe, system = analysis.recipe, analysis.system
    rows = []
    if recipe.provenance.inputs:
        rows.append(("input", recipe.provenance.input_names))
    if system.n_snapshots:
        rows += [
            ("snapshots", f"{system.n_snapshots:,}"),
            ("sites", f"{len(system.sites):,}"),
            ("objects", f"{analysis.hierarchy.n_sites:,} {recipe.kind}".rstrip()),
        ]
    if recipe.n_pairs is not None:
        rows.append(("pairs", f"{recipe.n_pairs:,} {recipe.compared}".rstrip()))
    return rows
