"""Phrases of a finding: numbers with their units, names of sites, and facts of every system."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from timme.analysis.tables import min_size, runs
from timme.ensemble.atoms import unit_label
from timme.hierarchy.condensed import PLATEAU
from timme.hierarchy.curves import count_clusters

if TYPE_CHECKING:
    from timme.analysis.result import Analysis, Body

Sure = Literal["well supported", "tentative", "not established", "no error bars", ""]

_NUMBERS = "no one two three four five six seven eight nine ten".split()
_TIMES = {"µs": 1e6, "ns": 1e3, "ps": 1.0, "fs": 1e-3}  # in ps
_CHAINS = 4  # at most, that are named one by one
_BRIDGED = 5  # residues in a gap within a stretch
_VAST = 1e6  # numbers from here on are written with an exponent
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
    digits = f"{x:,.{decimals}f}" if 0.01 <= size < _VAST else f"{x:.2g}"
    return f"{digits} {unit_label(unit)}".rstrip()


def sigma(x: float, unit: str = "") -> str:
    """Return a σ with two digits: "0.20 Å", "3.4 µm"."""
    decimals = 0 if x >= 9.95 else 1 if x >= 0.995 else 2
    digits = f"{x:.1g}" if x < 0.01 or x >= _VAST else f"{x:.{decimals}f}"
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


def hierarchy(analysis: Analysis) -> Fact | None:
    """Return where half, and nearly all, sites join; or all, within a narrow range."""
    tree, size, n_snapshots = analysis.hierarchy, min_size(analysis), analysis.system.n_snapshots
    counted = count_clusters(tree, large=size, sizes=())
    half, most = counted.large_fraction >= 0.5, counted.largest_fraction >= 0.95
    if n_snapshots == 2 or tree.quantity.symbol == "rest" or not most.any() or not half.any():
        return None
    first, last = counted.cutoffs[(counted.large_fraction > 0).argmax()], tree.heights[-1]
    if counted.largest[-1] == tree.n_sites and last < first * np.exp(PLATEAU):
        where = f"{tree.quantity.cutoff} = {length(first)} and {length(last, tree.unit)}"
        factor = f"a factor of {last / first:.1f}: no scale stands out"
        return Fact("hierarchy", f"forms between {where}, {factor}")
    at, nearly = (float(counted.cutoffs[reached.argmax()]) for reached in (half, most))
    joins = f"at {cutoff(analysis, at)}, 95 % in one at {length(nearly, tree.unit)}"
    return Fact("hierarchy", f"half of the {noun(analysis)} in clusters of ≥ {size} {joins}")


def sampling(analysis: Analysis, needed: str = "") -> Fact | None:
    """Return how many independent samples there are, beside those that are needed, if any."""
    known = None if analysis.confidence is None else analysis.confidence.sampling
    if known is None or known.independent or np.isnan(known.n_effective):
        return None
    if needed:
        return Fact("sampling", f"{samples(known.n_effective)} of the slowest motion; {needed}")
    over = f" over {duration(analysis)}" * bool(duration(analysis))
    n_snapshots = f"{analysis.system.n_snapshots:,} snapshots"
    return Fact("sampling", f"{n_snapshots}{over}, {samples(known.n_effective)}")


def few(chains: list[str]) -> list[str]:
    """Return what is said of the first four chains, and how many more there are."""
    more = [f"{len(chains) - _CHAINS} more chains"] if len(chains) > _CHAINS else []
    return [*chains[:_CHAINS], *more]


def copies(analysis: Analysis) -> dict[str, list[Body]]:
    """Return the bodies of each copy of a chain, largest first; none if all is one molecule."""
    if analysis.motion is None or analysis.motion.bodies.n_copies == 1:
        return {}
    names = dict.fromkeys(analysis.shown_atoms.chains.tolist())
    return {name or "-": [body for body in analysis.bodies if body.chain == name] for name in names}


def main_stretch(analysis: Analysis, body: Body) -> str:
    """Return the longest stretch of a body in its chain, short gaps bridged: "A 116-164"."""
    atoms = analysis.shown_atoms
    sites = body.sites[atoms.chains[body.sites] == body.chain]
    stretches = np.split(sites, np.flatnonzero(np.diff(sites) > _BRIDGED) + 1)
    longest = max(stretches, key=len)
    return runs(atoms, range(longest[0], longest[-1] + 1))
