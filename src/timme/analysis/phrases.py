"""Phrases of a finding: numbers with their units, and facts that several kinds share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from timme._arrays import Bools
from timme.analysis.evidence import Evidence
from timme.analysis.tables import runs
from timme.ensemble.atoms import unit_label
from timme.hierarchy.condensed import PLATEAU
from timme.hierarchy.curves import count_clusters

if TYPE_CHECKING:
    from timme.analysis.result import Analysis

Sure = Literal["well supported", "tentative", "not established", "no error bars", ""]

_ENOUGH = 30  # independent samples for exact cutoffs
_NUMBERS = "no one two three four five six seven eight nine ten".split()


class Fact(NamedTuple):
    """A number with its baseline, beside its label."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Words:
    """What is said of a finding."""

    sentence: str
    facts: Sequence[Fact | None]
    notes: Sequence[str] = ()
    sure: Sure = ""


def number(count: int) -> str:
    """Return a number in words up to ten: "three", "1,024"."""
    return _NUMBERS[count] if 0 <= count < len(_NUMBERS) else f"{count:,}"


def value(x: float, unit: str = "") -> str:
    """Return a cutoff or a fit with its unit: "0.029 Å", "0.67 Å", "3.62 Å"."""
    size = abs(x)
    digits = f"{x:.2g}" if size < 0.01 else f"{x:.3f}" if size < 0.15 else f"{x:.2f}"
    return f"{f'{x:.3g}' if size >= 100 else digits} {unit_label(unit)}".rstrip()


def sigma(x: float, unit: str = "") -> str:
    """Return a σ with two digits: "0.20 Å", "3.4 µm"."""
    decimals = 0 if x >= 9.95 else 1 if x >= 0.995 else 2
    digits = f"{x:.1g}" if x < 0.01 else f"{x:.{decimals}f}"
    return f"{digits} {unit_label(unit)}".rstrip()


def times(x: float) -> str:
    """Return a ratio: "3.8×", "15×"."""
    return f"{x:.1f}×" if x < 9.95 else f"{x:,.0f}×"


def percent(share: float) -> str:
    """Return a share: "91 %"."""
    return f"{100 * share:.0f} %"


def duration(analysis: Analysis) -> str:
    """Return the time from the first snapshot to the last: "0.5 ns"; nothing where unknown."""
    time = analysis.system.duration
    if not time > 0:
        return ""
    units = {"fs": 1e-3, "ps": 1.0, "ns": 1e3, "µs": 1e6, "ms": 1e9}
    name = max(
        (unit for unit in units if units[unit] <= time * 2.01), key=units.__getitem__, default="fs"
    )
    return f"{time / units[name]:.2g} {name}"


def samples(count: float) -> str:
    """Return a number of independent samples: "about 2 independent samples"."""
    if np.isnan(count):
        return "an unknown number of independent samples"
    whole = max(1, round(count))
    return f"about {whole:,} independent sample{'s' * (whole != 1)}"


def listed(parts: Sequence[str]) -> str:
    """Return a list in a sentence: "a, b and c"."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def noun(analysis: Analysis, count: int = 2) -> str:
    """Return what the shown sites are: "residues", "particle"."""
    name = {"Cα": "residue"}.get(analysis.system.shown_name, analysis.system.shown_name)
    return name if count == 1 else f"{name}s"


def energy(x: float) -> str:
    """Return an energy of bonds: "−1.5"."""
    return f"{x:.2g}".replace("-", "−")


def hierarchy(analysis: Analysis, found: Evidence, *, forms: bool = False) -> Fact | None:
    """Level worth a look beside bodies; else where half, and nearly all, of the sites join.

    With ``forms``, these are the first two sites and all, where their cutoffs are near.
    """
    tree, size = analysis.hierarchy, found.min_size
    levels = () if analysis.confidence is None else analysis.confidence.silhouettes.standing_out
    if levels and found.bodies is not None and found.bodies.n > 1:
        sizes = [s for s in tree.cut(levels[0].cutoff).sizes.tolist() if s >= size]
        if len(sizes) > 1 and 2 * sum(sizes) >= tree.n_sites:
            some = listed([*map(str, sizes[:4]), *["…"] * (len(sizes) > 4)])
            text = f"{number(len(sizes))} clusters of {some} {noun(analysis)}"
            text += "; σ joins bodies through hinges"
            if len(sizes) == 2 and found.n_snapshots != 2:
                text = _parted(analysis, levels[0].cutoff) or text
            return Fact("hierarchy", f"at {cutoff(analysis, levels[0].cutoff)} {text}")
    counted = count_clusters(tree, large=size, sizes=())

    def first(reached: Bools) -> float:
        return float(counted.cutoffs[reached.argmax()]) if reached.any() else np.nan

    low, high = float(tree.heights[0]), float(tree.heights[-1])
    half, most = first(counted.large_fraction >= 0.5), first(counted.largest_fraction >= 0.95)
    if found.n_snapshots == 2 or np.isnan(most):
        return None
    if forms and 0 < low < high < low * np.exp(PLATEAU):
        between = f"{tree.quantity.cutoff} = {value(low)} and {value(high, tree.unit)}"
        factor = f"a factor of {high / low:.1f}: no scale stands out"
        return Fact("hierarchy", f"forms between {between}, {factor}")
    joins = f"at {cutoff(analysis, half)}, 95 % in one at {value(most, tree.unit)}"
    return Fact("hierarchy", f"half of the {noun(analysis)} in clusters of ≥ {size} {joins}")


def _parted(analysis: Analysis, level: float) -> str:
    """Return how the smaller of two clusters moves against the larger, at a level."""
    confidence, unit = analysis.confidence, analysis.hierarchy.unit
    members = analysis.hierarchy.cut(level).members(1)
    for record in () if confidence is None else confidence.records:
        apart = record.separation
        if apart is not None and np.array_equal(record.sites, members):
            who = f"{noun(analysis)} {runs(analysis.shown_atoms, members)}"
            rest = f"{int(analysis.hierarchy.cut(level).sizes[0]):,} others"
            inside, across = sigma(apart.inside, unit), sigma(apart.across, unit)
            return f"{who} part from {rest} (±{inside} inside, ±{across} between)"
    return ""


def cutoff(analysis: Analysis, x: float) -> str:
    """Return a cutoff with its symbol: "σc = 0.039 Å"."""
    tree = analysis.hierarchy
    text = f"{energy(x)} {tree.unit}" if tree.unit == "kcal/mol" else value(x, tree.unit)
    return f"{tree.quantity.cutoff} = {text}"


def sampling(found: Evidence) -> Fact | None:
    """Return how many independent samples there are, beside those that are enough."""
    if found.independent or np.isnan(found.n_independent):
        return None
    enough = f"; {_ENOUGH} are enough for exact cutoffs" * (found.n_independent < _ENOUGH)
    return Fact("sampling", f"{samples(found.n_independent)} of the slowest motion{enough}")
