"""Rows of the table: contenders timed in turns within one run, and their ratio."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison; a ratio has the sense in which ``wanted`` states its bound."""

    name: str
    ours: str
    peer: str
    ratio: float
    wanted: str = ""  # such as "≥ 0.5" or "≤ 60"

    @property
    def holds(self) -> bool:
        """Whether the ratio is within its bound."""
        if not self.wanted:
            return True
        sign, bound = self.wanted.split()
        return self.ratio >= float(bound) if sign == "≥" else self.ratio <= float(bound)

    @property
    def cells(self) -> tuple[str, ...]:
        """Texts of the columns."""
        holds = "" if not self.wanted else ("yes" if self.holds else "NO")
        return self.name, self.ours, self.peer, f"{self.ratio:.3g}", self.wanted, holds


def race(
    contenders: Mapping[str, Callable[[], object]], repetitions: int = 3, *, warm_up: bool = True
) -> dict[str, float]:
    """Call all contenders in turn, round after round; return the median seconds of each."""
    if warm_up:
        for contender in contenders.values():
            contender()
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repetitions):
        for name, contender in contenders.items():
            gc.collect()
            start = time.perf_counter()
            contender()
            taken[name].append(time.perf_counter() - start)
    return {name: median(times) for name, times in taken.items()}


def seconds(value: float) -> str:
    """Write a time with three digits."""
    if value < 1:
        return f"{1e3 * value:.3g} ms"
    return f"{value:.3g} s" if value < 100 else f"{value:.0f} s"


def against(
    name: str, median: Mapping[str, float], peer: str, wanted: str = "", *, slower: bool = False
) -> Row:
    """Compare ours with a peer: peer ÷ ours, or ours ÷ peer where ours may be slower."""
    ratio = median[peer] / median["ours"]
    return Row(
        name,
        seconds(median["ours"]),
        f"{peer}: {seconds(median[peer])}",
        1 / ratio if slower else ratio,
        wanted,
    )


def require(equal: object, what: str) -> None:
    """Stop if a contender gives another result."""
    if not equal:
        raise AssertionError(f"{what} differ")
