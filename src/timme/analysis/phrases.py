"""Phrases of a finding: numbers with their units, and what the sites of a result are called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import TYPE_CHECKING, Literal, NamedTuple

from timme.analysis.tables import runs
from timme.ensemble.atoms import unit_label

if TYPE_CHECKING:
    from timme.analysis.result import Analysis

Sure = Literal["well supported", "tentative", "not established", "no error bars", ""]

_NUMBERS = "no one two three four five six seven eight nine ten".split()
_TIMES = {"µs": 1e6, "ns": 1e3, "ps": 1.0, "fs": 1e-3}  # in ps
_MOST, _WIDEST = 6, 60  # parts of a list; characters of the sites of one part


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
    """Return a cutoff or a fit with its unit: "0.029 Å", "0.67 Å", "15.5 Å"."""
    size = abs(x)
    decimals = 3 if size < 0.15 else 2 if size < 10 else 1 if size < 100 else 0
    return f"{f'{x:.2g}' if size < 0.01 else f'{x:,.{decimals}f}'} {unit_label(unit)}".rstrip()


def sigma(x: float, unit: str = "") -> str:
    """Return a σ with two digits: "0.20 Å", "3.4 µm"."""
    decimals = 0 if x >= 9.95 else 1 if x >= 0.995 else 2
    digits = f"{x:.1g}" if x < 0.01 else f"{x:.{decimals}f}"
    return f"{digits} {unit_label(unit)}".rstrip()


def energy(x: float) -> str:
    """Return an energy of bonds: "−1.5"."""
    return f"{x:.2g}".replace("-", "−")


def times(x: float) -> str:
    """Return a ratio: "3.8×", "15×"."""
    return f"{x:.1f}×" if x < 9.95 else f"{x:,.0f}×"


def percent(share: float) -> str:
    """Return a share: "91 %"."""
    return f"{100 * share:.0f} %"


def samples(count: float) -> str:
    """Return a number of independent samples: "about 2 independent samples"."""
    whole = max(1, round(count))
    return f"about {whole:,} independent sample{'s' * (whole != 1)}"


def listed(parts: Sequence[str]) -> str:
    """Return a list in a sentence: "a, b and c"."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def some(parts: Sequence[str]) -> str:
    """Return a list of which the first six are named: "1-5 · 6-9 · and 5 more"."""
    more = [f"and {len(parts) - _MOST} more"] if len(parts) > _MOST else []
    return " · ".join([*parts[:_MOST], *more])


def duration(analysis: Analysis) -> str:
    """Return the time from the first snapshot to the last: "0.5 ns"; nothing where unknown."""
    time = analysis.system.duration
    for unit, size in _TIMES.items():
        if time >= 0.4 * size:
            return f"{time / size:.2g} {unit}" if time < 10 * size else f"{time / size:,.0f} {unit}"
    return ""


def noun(analysis: Analysis, count: int = 2) -> str:
    """Return what the shown sites are: "residues", "particle"."""
    name = {"Cα": "residue"}.get(analysis.system.shown_name, analysis.system.shown_name)
    return name if count == 1 else f"{name}s"


def cutoff(analysis: Analysis, x: float) -> str:
    """Return a cutoff with its symbol: "σc = 0.039 Å"."""
    tree = analysis.hierarchy
    shown = f"{energy(x)} {tree.unit}" if tree.unit == "kcal/mol" else length(x, tree.unit)
    return f"{tree.quantity.cutoff} = {shown}"


def members(analysis: Analysis, sites: Iterable[int]) -> str:
    """Return shown sites as ranges, cut where there are many: "A 1-29, 68-115"."""
    return shorten(runs(analysis.shown_atoms, sites), _WIDEST, placeholder=" …")
