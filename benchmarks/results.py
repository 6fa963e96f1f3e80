"""What a benchmark finds: rows of the table, and curves of time against size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: what we need, what the peer needs or the limit is, and their ratio."""

    name: str
    ours: str
    peer: str  # with its name
    ratio: float | None = None
    at_least: float | None = None  # what the ratio must be
    at_most: float | None = None

    @property
    def wanted(self) -> str:
        """The condition on the ratio, "" where there is none."""
        if self.at_least is not None:
            return f"≥ {self.at_least:g}"
        return f"≤ {self.at_most:g}" if self.at_most is not None else ""

    @property
    def holds(self) -> bool | None:
        """Whether the ratio is as wanted; None where nothing is."""
        if self.ratio is None or not self.wanted:
            return None
        if self.at_least is not None:
            return self.ratio >= self.at_least
        return self.at_most is None or self.ratio <= self.at_most

    @property
    def cells(self) -> tuple[str, ...]:
        """Texts of the table's columns."""
        ratio = "" if self.ratio is None else f"{self.ratio:.3g}"
        holds = {True: "yes", False: "NO", None: ""}[self.holds]
        return self.name, self.ours, self.peer, ratio, self.wanted, holds


@dataclass(frozen=True, slots=True)
class Curve:
    """Seconds against the number of sites."""

    name: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def exponent(self) -> float:
        """Of the power law through the larger half of the sizes."""
        late = len(self.sizes) // 2 if len(self.sizes) > 3 else 0
        slope, _ = np.polyfit(np.log(self.sizes[late:]), np.log(self.seconds[late:]), 1)
        return float(slope)


@dataclass(frozen=True, slots=True)
class Results:
    """What one section found."""

    rows: Sequence[Row]
    curves: Sequence[Curve] = field(default=())

    def to_plain(self) -> dict[str, list[dict[str, Any]]]:
        """Return all of it as data that JSON can hold."""
        return {"rows": [*map(asdict, self.rows)], "curves": [*map(asdict, self.curves)]}

    @classmethod
    def from_plain(cls, plain: dict[str, list[dict[str, Any]]]) -> Results:
        """Make it again of what :meth:`to_plain` gave."""
        curves = [
            Curve(curve["name"], tuple(curve["sizes"]), tuple(curve["seconds"]))
            for curve in plain["curves"]
        ]
        return cls([Row(**row) for row in plain["rows"]], curves)


def seconds(value: float) -> str:
    """Write a time as people read it."""
    if value < 1:
        return f"{1e3 * value:.3g} ms"
    return f"{value:.3g} s" if value < 100 else f"{value:.0f} s"


def megabytes(value: float) -> str:
    """Write a number of bytes as people read it."""
    return f"{value / 1e6:.0f} MB"
