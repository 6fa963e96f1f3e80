"""What a user can choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

OBJECTS = ("auto", "points", "bodies", "links", "residues", "molecules")
PAIRS = ("auto", "contact", "all", "sequence", "nearest", "sharing")
REDUCTIONS = ("rms", "max", "centre")
ORDERS = ("auto", "label", "sequence")
CENTRES = ("mass", "geometry")


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
    # what is shown
    show: str | None = None
    large: int = 10
    min_size: int = 3
    cutoff: float | None = None
    length: float | None = None
    palette: str = "wide"  # wide, or safe for colour-blind readers

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
