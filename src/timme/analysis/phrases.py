"""Phrases of a finding: numbers with their units, names of sites, and facts of every system."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

import numpy as np

from timme._text import counted
from timme.analysis.tables import min_size, runs
from timme.ensemble.atoms import unit_label
from timme.hierarchy.condensed import PLATEAU
from timme.hierarchy.curves import count_clusters, round_cutoff, round_within

if TYPE_CHECKING:
    from timme._arrays import Ints
    from timme.analysis.evidence import Evidence
    from timme.analysis.result import Analysis, Body
    from timme.motion.hinges import Motions

Sure = Literal["well supported", "tentative", "not established", "no error bars", ""]

_NUMBERS = "none one two three four five six seven eight nine ten".split()
_TIMES = {"µs": 1e6, "ns": 1e3, "ps": 1.0, "fs": 1e-3}  # in ps
_VAST = 1e6  # numbers from here on are written with an exponent
_WIDEST, _LONGEST = 60, 200  # characters of the sites of one part; of all parts


class Fact(NamedTuple):
    """A number with its baseline, beside its label."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Words:
    """A finding in words."""

    sentence: str
    notes: Sequence[str] = ()
    sure: Sure = ""
    facts: Sequence[Fact | None] = ()


def number(count: int) -> str:
    """Return a number in words up to ten: "three", "1,024"."""
    return _NUMBERS[count] if 0 <= count < len(_NUMBERS) else f"{count:,}"


def length(x: float, unit: str = "") -> str:
    """Return a length with its unit: "0.029 Å", "0.67 Å", "15.5 Å"."""
    size = abs(x)
    decimals = 3 if size < 0.15 else 2 if size < 10 else 1 if size < 100 else 0
    digits = f"{x:,.{decimals}f}" if 0.01 <= size < _VAST else f"{x:.2g}"
    return f"{digits} {unit_label(unit)}".rstrip()


def sigma(x: float, unit: str = "") -> str:
    """Return a σ, or a small distance, with two digits: "0.20 Å", "3.4 µm"."""
    decimals = 0 if x >= 9.95 else 1 if x >= 0.995 else 2
    shown = f"{x:.1g}" if x < 0.01 or x >= _VAST else f"{x:.{decimals}f}"
    return f"{shown} {unit_label(unit)}".rstrip()


def digits(x: float, most: int = 4) -> str:
    """Return a number with some digits at most: "−1.5"."""
    text = np.format_float_positional(x, most, fractional=False, trim="-")
    return text.replace("-", "−")


def percent(share: float) -> str:
    """Return a share: "91 %"."""
    return f"{100 * share:.0f} %"


def samples(count: float) -> str:
    """Return a number of independent samples: "about 2 independent samples"."""
    return f"about {counted(max(1, round(count)), 'independent sample')}"


def listed(parts: Sequence[str]) -> str:
    """Return a list in a sentence: "a, b and c"."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def joined(parts: Iterable[str], mark: str) -> str:
    """Return parts with a mark between them, cut where there are many: "1-5 · 6-9 …"."""
    return shorten(mark.join(parts), _LONGEST, placeholder=" …")


@dataclass(frozen=True, slots=True, eq=False)
class Phrases:
    """Words for the numbers and the sites of a result."""

    analysis: Analysis

    def noun(self, count: int = 2) -> str:
        """Return what the shown sites are: "residues", "particle"."""
        name = self.analysis.system.shown_name.replace("Cα", "residue")
        return name if count == 1 else f"{name}s"

    def members(self, sites: Iterable[int]) -> str:
        """Return shown sites as ranges, cut where there are many: "A 1-29, 68-115"."""
        return shorten(runs(self.analysis.shown_atoms, sites), _WIDEST, placeholder=" …")

    def length(self, x: float) -> str:
        """Return a length in the unit of the coordinates."""
        return length(x, self.analysis.system.unit)

    def sigma(self, x: float) -> str:
        """Return a σ in the unit of the hierarchy."""
        return sigma(x, self.analysis.hierarchy.unit)

    def cutoff(self, x: float) -> str:
        """Return a cutoff with its symbol, rounded so far as clusters stay: "σc = 0.039 Å"."""
        tree = self.analysis.hierarchy
        found = digits(round_cutoff(tree, x), 17)
        return f"{tree.quantity.cutoff} = {found} {unit_label(tree.unit)}".rstrip()

    def ends(self, low: float, high: float) -> str:
        """Return a range of cutoffs, rounded inwards by 1 %: "σc = 0.151 to 0.36 µm"."""
        first, last = round_within(low, low, 1.01 * low), round_within(high, high / 1.01, high)
        tree, span = self.analysis.hierarchy, f"{digits(first, 17)} to {digits(last, 17)}"
        return f"{tree.quantity.cutoff} = {span} {unit_label(tree.unit)}".rstrip()

    def duration(self) -> str:
        """Return the time from the first snapshot to the last: "0.5 ns"; nothing where unknown."""
        time = self.analysis.system.duration
        units = (unit for unit, size in _TIMES.items() if time >= 0.4 * size)
        unit = next(units, "")
        return f"{digits(time / _TIMES[unit], 2)} {unit}" if unit else ""

    def hierarchy(self) -> Fact | None:
        """Return where half, and nearly all, sites join; or all, within a narrow range."""
        tree, size = self.analysis.hierarchy, min_size(self.analysis)
        curves = count_clusters(tree, large=size, sizes=())
        half, most = curves.large_fraction >= 0.5, curves.largest_fraction >= 0.95
        two = self.analysis.system.n_snapshots == 2
        if two or size < 2 or tree.quantity.symbol == "rest" or not (half & most).any():
            return None
        first, at, nearly = (
            float(curves.cutoffs[reached.argmax()])
            for reached in (curves.large_fraction > 0, half, most)
        )
        last, symbol, unit = float(tree.heights[-1]), tree.quantity.cutoff, unit_label(tree.unit)
        if curves.largest[-1] == tree.n_sites and last < first * np.exp(PLATEAU):
            ends = f"{symbol} = {length(first)} and {length(last, unit)}"
            factor = f"a factor of {last / first:.1f}: no scale stands out"
            return Fact("hierarchy", f"forms between {ends}, {factor}")
        half_at, most_at = (
            f"{digits(round_within(x, x, np.inf))} {unit}".rstrip() for x in (at, nearly)
        )
        joins = f"{symbol} = {half_at}, 95 % in one at {most_at}"
        return Fact("hierarchy", f"half of the {self.noun()} in clusters of ≥ {size} at {joins}")

    def sampling(self, needed: str = "") -> Fact | None:
        """Return how many independent samples there are, beside those that are needed, if any."""
        known = None if self.analysis.confidence is None else self.analysis.confidence.sampling
        if known is None or known.independent or np.isnan(known.n_effective):
            return None
        count = samples(known.n_effective)
        if needed:
            return Fact("sampling", f"{count} of the slowest motion; {needed}")
        over = f" over {self.duration()}" * bool(self.duration())
        return Fact("sampling", f"{self.analysis.system.n_snapshots:,} snapshots{over}, {count}")


@dataclass(frozen=True, slots=True, eq=False)
class Case(Phrases):
    """All that facts and sentences are made from."""

    evidence: Evidence
    labels: Ints  # (shown,), group of each shown object, -1 for none
    at: float  # cutoff of the hierarchy beside it

    @property
    def motion(self) -> Motions:
        """Bodies and how they move, which molecules have."""
        return cast("Motions", self.analysis.motion)

    @property
    def groups(self) -> list[Ints]:
        """Sites of each group."""
        n_groups = int(self.labels.max(initial=-1)) + 1
        return [np.flatnonzero(self.labels == group) for group in range(n_groups)]

    @property
    def chains(self) -> dict[str, list[Body]]:
        """Bodies of each copy of a chain, largest first; none if all is one molecule."""
        if self.motion.bodies.n_copies == 1:
            return {}
        names, bodies = self.analysis.shown_atoms.chains.tolist(), self.analysis.bodies
        return {name: [body for body in bodies if body.chain == name] for name in names}
