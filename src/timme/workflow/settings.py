"""What a user can choose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

import numpy as np

from timme import memory

OBJECTS = ("auto", "points", "bodies", "links", "residues", "molecules")
PAIRS = ("auto", "contact", "all", "sequence", "nearest", "sharing")
REDUCTIONS = ("rms", "max", "centre")
ORDERS = ("auto", "label", "sequence")
CENTRES = ("mass", "geometry")
PALETTES = ("wide", "safe")
TETHERS: tuple[Literal["shortest", "all", "none"], ...] = ("shortest", "all", "none")
READING = (  # settings of timme.read
    *("start", "stop", "step", "unit", "box", "weights", "columns"),
    *("common_atoms", "allow_truncated", "gaps", "bonds"),
)

_LOWEST = {
    "reach": 0,
    "contacts": 1,
    "neighbours": 1,
    "min_bonds": 0,
    "min_overlap": 2,
    "large": 1,
    "min_size": 1,
}

# What an option is for, where it is not for everything: {} stands for what was chosen.
_SERVES: dict[str, dict[str, tuple[str, ...]]] = {
    "{}": {  # objects
        "reach": ("bodies",),
        "reduction": ("bodies", "links", "residues", "molecules", "groups"),
        "centre": ("residues", "molecules", "groups"),
    },
    "{} pairs": {
        "radius": ("contact",),
        "contacts": ("contact",),
        "neighbours": ("nearest", "sequence"),
        "min_bonds": ("contact", "all", "nearest", "sequence", "listed"),
    },
    "sites {} bonds": {"min_bonds": ("with",)},
    "snapshots {} gaps": {"min_overlap": ("with",)},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """What a user can choose of pictures alone."""

    large: int = 10
    min_size: int = 3
    cutoff: float | None = None
    length: float | None = None
    palette: str = "wide"  # wide, or safe for colour-blind readers

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing."""
        for name, lowest in _LOWEST.items():
            value = getattr(self, name, None)
            if value is not None and not value >= lowest:
                option = name.replace("_", "-")
                raise ValueError(f"{option} must be at least {lowest}, got {value}")
        for name in ("radius", "length"):
            value = getattr(self, name, None)
            if value is not None and not 0 < value < math.inf:
                raise ValueError(f"{name} must be above 0, got {value}")
        if self.cutoff is not None and not math.isfinite(self.cutoff):
            raise ValueError(f"cutoff must be a number, got {self.cutoff}")
        if self.palette not in PALETTES:
            raise ValueError(f"palette is one of {', '.join(PALETTES)}, got {self.palette!r}")

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


DISPLAY = tuple(field.name for field in fields(Display))


def option_name(name: str) -> str:
    """Name the option of the command line for a setting.

    Parameters
    ----------
    name : str
        Of the setting.

    Returns
    -------
    str
        Without its hyphens.
    """
    return {"start": "begin", "stop": "end"}.get(name, name).replace("_", "-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Display):
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

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing."""
        Display.__post_init__(self)
        if self.memory is not None:
            memory.parsed(self.memory)

    def differing(self) -> set[str]:
        """Return the names of the settings that are not at their default.

        Returns
        -------
        set of str
            Names of fields.
        """
        default = Settings()
        return {
            field.name
            for field in fields(self)
            if not np.array_equal(getattr(self, field.name), getattr(default, field.name))
        }

    def refuse_unused(self, what: str, chosen: str) -> None:
        """Refuse options that were given and have no effect on what was chosen.

        Parameters
        ----------
        what : str
            "{}" for objects, "{} pairs", "sites {} bonds" or "snapshots {} gaps".
        chosen : str
            What stands in place of {}.
        """
        given = self.differing()
        if self.min_bonds == 0:  # which leaves out nothing, as is true of all
            given.discard("min_bonds")
        for name, served in _SERVES[what].items():
            if name in given and chosen not in served:
                *most, last = served
                uses = what.format(f"{', '.join(most)} and {last}" if most else last)
                raise ValueError(
                    f"--{name.replace('_', '-')} is for {uses}, not for {what.format(chosen)}: "
                    "leave it out"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class RigidSettings(Display):
    """What a user can choose of the rigid clusters of a structure."""

    chain: str | Sequence[str] | None = None  # names of chains, of which one text may hold several
    model: int | None = None  # counted from 1; the first by default
    start: int | None = None
    stop: int | None = None
    step: int | None = None
    ensemble: float | None = None  # energy at which all models are decomposed, not one diluted
    common_atoms: bool = False  # of an ensemble whose models differ
    allow_truncated: bool = False
    waters: bool = False
    tethers: str = "shortest"
    constraints: str | None = None  # a list to be read, in place of those that would be found
    show: str | None = None

    def __post_init__(self) -> None:
        """Refuse what means nothing, or not together."""
        Display.__post_init__(self)
        if self.tethers not in TETHERS:
            raise ValueError(f"tethers are one of {', '.join(TETHERS)}, got {self.tethers!r}")
        if self.model is not None and self.model < 1:
            raise ValueError(f"models are counted from 1, got {self.model}")
        if self.ensemble is not None and not math.isfinite(self.ensemble):
            raise ValueError(f"the energy of an ensemble must be a number, got {self.ensemble}")
        if self.ensemble is not None and self.model is not None:
            raise ValueError("an ensemble is all models: leave out the model, or the ensemble")
        if self.ensemble is None and self.common_atoms:
            raise ValueError(
                "common atoms are those of all models, and one model is taken: "
                "leave out the common atoms, or give the energy of an ensemble"
            )
        if self.constraints is not None and self.ensemble is not None:
            raise ValueError("constraints are a list of one structure: leave out the ensemble")
        if self.constraints is not None and self.tethers != "shortest":
            raise ValueError("a list of constraints has its own tethers: leave out the tethers")

    @property
    def chains(self) -> list[str] | None:
        """Names of the chains to keep, None for all."""
        if self.chain is None:
            return None
        given = [self.chain] if isinstance(self.chain, str) else self.chain
        return [name.strip() for text in given for name in text.split(",")]
