"""What a user can choose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from timme import memory

OBJECTS = ("auto", "points", "bodies", "links", "residues", "molecules")
PAIRS = ("auto", "contact", "all", "sequence", "nearest", "sharing")
REDUCTIONS = ("rms", "max", "centre")
ORDERS = ("auto", "label", "sequence")
CENTRES = ("mass", "geometry")
PALETTES = ("wide", "safe")
DISPLAY = ("large", "min_size", "cutoff", "length", "palette")  # settings of pictures alone

_LOWEST = {
    "reach": 0,
    "contacts": 1,
    "neighbours": 1,
    "min_bonds": 0,
    "min_overlap": 2,
    "large": 1,
    "min_size": 1,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a user can choose; what is left at None follows from the system."""

    # what is read
    select: str | None = None
    start: int | None = None
    stop: int | None = None
    step: int | None = None
    unit: str | None = None
    box: Sequence[float] | None = None
    weights: Sequence[float] | None = None
    columns: Sequence[str] | None = None
    common_atoms: bool = False
    allow_truncated: bool = False
    gaps: bool | None = None  # whether NaN means "not seen"; by default in tables only
    bonds: str = "auto"  # auto, file, guess, none
    # what is compared
    objects: str = "auto"  # one of OBJECTS, or a file of "name = selection" lines
    reach: int = 1  # bonds that a body spans
    reduction: str | None = None  # rms, max, centre
    centre: str | None = None  # mass, geometry
    # who with whom
    pairs: str = "auto"  # one of PAIRS, or a file of two object numbers a line
    radius: float | None = None
    contacts: int = 1  # snapshots in contact
    neighbours: int | None = None  # how many nearest, or how far along the sequence
    min_bonds: int | None = None
    min_overlap: int | None = None
    # how much memory may be taken, such as 2GB; it changes no result
    memory: str | None = None
    # what is shown
    show: str | None = None
    large: int = 10
    min_size: int = 3
    cutoff: float | None = None
    length: float | None = None
    palette: str = "wide"  # wide, or safe for colour-blind readers

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing."""
        for name, lowest in _LOWEST.items():
            value = getattr(self, name)
            if value is not None and not value >= lowest:
                option = name.replace("_", "-")
                raise ValueError(f"{option} must be at least {lowest}, got {value}")
        for name in ("radius", "length"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise ValueError(f"{name} must be above 0, got {value}")
        if self.cutoff is not None and not math.isfinite(self.cutoff):
            raise ValueError(f"cutoff must be a number, got {self.cutoff}")
        if self.memory is not None:
            memory.parsed(self.memory)
        if self.palette not in PALETTES:
            raise ValueError(f"palette is one of {', '.join(PALETTES)}, got {self.palette!r}")

    def differing(self) -> set[str]:
        """Return the names of the settings that are not at their default.

        Returns
        -------
        set of str
            Names of fields.
        """
        default = Settings()
        return {f.name for f in fields(self) if getattr(self, f.name) != getattr(default, f.name)}

    def plain(self) -> dict[str, Any]:
        """Return the settings as they can be written in a file.

        Returns
        -------
        dict
            By name; arrays become lists.
        """
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in asdict(self).items()
        }
