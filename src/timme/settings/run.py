"""What a user can choose of a run: the snapshots, what is compared, and what is shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from timme import memory
from timme.settings.display import Display
from timme.settings.schema import FILE, choose
from timme.settings.shared import (
    choose_common_atoms,
    choose_replicas,
    choose_show,
    choose_start,
    choose_step,
    choose_stop,
    choose_truncated,
)
from timme.settings.texts import (
    parse_counts,
    parse_errors,
    parse_names,
    parse_numbers,
    read_weights,
)
from timme.settings.values import (
    ALL_PAIRS,
    ALONG,
    CENTRE,
    LINK_REDUCTION,
    MIN_BONDS,
    MOLECULE_CENTRE,
    NEAREST,
    RADIUS,
    REDUCTION,
    Centre,
    Reduction,
)

SELECT = {
    "ca": "Cα atoms",
    "backbone": "Backbone atoms",
    "heavy": "All but hydrogen",
    "water-oxygen": "Oxygen atoms of water",
}
BONDS = {
    "auto": "Those of the file, and guessed ones where these are not complete",
    "file": "Those of the file",
    "guess": "Guessed from distances",
    "none": "None",
}
OBJECTS = {
    "auto": "Bodies in molecules, whole molecules in liquids, points for particles",
    "points": "Every site by itself",
    "bodies": "An atom with its bonded neighbours",
    "links": "The two ends of a bond, as in a network",
    "residues": "Residues as wholes",
    "molecules": "Molecules as wholes",
}
REDUCTIONS: dict[Reduction, str] = {
    "rms": "Root mean square over all cross pairs",
    "max": "The largest of all cross pairs",
    "centre": "σ of the centres",
}
CENTRES: dict[Centre, str] = {"mass": "Centre of mass", "geometry": "Mean of the positions"}
PAIRS = {
    "auto": f"In contact in molecules, all pairs of up to {ALL_PAIRS:,} particles, else nearest",
    "contact": "Within a radius in at least one snapshot",
    "all": "Everything with everything",
    "sequence": "Neighbours along the sequence",
    "nearest": "A number of nearest neighbours",
    "sharing": "Objects that share a site",
}
LINKAGES = {
    "single": "By their lowest pair, as in the paper",
    "braced": "By pairs that share 4 partners within the cutoff",
    "average": "By the mean of σ² over all pairs between them",
}

READING = (  # settings of timme.read
    *("start", "stop", "step", "unit", "box", "unwrap", "trust_images", "weights", "columns"),
    *("common_atoms", "allow_truncated", "gaps", "bonds"),
)

# What a setting is for, where it is not for everything: {} stands for what was chosen.
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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Settings(Display):
    """What a user can choose; what is left at None follows from the system."""

    # what is read
    select: str | None = choose(
        "Sites",
        group="reading",
        usual="all atoms but waters and single ions",
        choices=SELECT,
        besides="the MDAnalysis language",
        flags=("-s",),
        example="ca",
    )
    start: int | str | None = choose_start()
    stop: int | str | None = choose_stop()
    step: int | str | None = choose_step()
    unit: str | None = choose(
        "Unit of the coordinates: Å, nm, µm, …", group="reading", usual="that of the file"
    )
    box: Sequence[float] | str | bool | None = choose(
        "Periodic box, in place of that of the file: lengths (or one for all), lengths and angles, "
        "or none (false in JSON)",
        group="reading",
        metavar="20,20,20|none",
        parse=parse_numbers,
        words={"none": False},
        such="lengths such as 20,20,20, or none",
    )
    unwrap: bool = choose(
        "Follow molecules and particles through the walls of the periodic box",
        default=False,
        group="reading",
    )
    trust_images: bool = choose(
        "Believe image flags also where they seem to begin again",
        default=False,
        group="reading",
    )
    weights: Sequence[float] | str | None = choose(
        "A weight for each snapshot",
        group="reading",
        usual="all the same",
        metavar="FILE",
        parse=read_weights,
    )
    columns: Sequence[str] | None = choose(
        "Columns of a table, by name or number: frame,particle,x,y[,z], or 1,2,3,4",
        group="reading",
        usual="those of trackpy or TrackMate",
        metavar="NAMES",
        parse=parse_names,
    )
    common_atoms: bool = choose_common_atoms()
    allow_truncated: bool = choose_truncated()
    gaps: bool | None = choose(
        "NaN means: not seen in this snapshot", group="reading", usual="in tables only"
    )
    bonds: str = choose(
        "Covalent bonds; auto guesses them from distances where those of the file are not complete",
        default="auto",
        group="reading",
        choices=BONDS,
    )
    # what is compared
    objects: str = choose(
        "What is compared", default="auto", group="objects", choices=OBJECTS, besides=FILE
    )
    reach: int = choose("Bonds that a body spans", default=1, group="objects", least=0)
    reduction: str | None = choose(
        "How σ of cross pairs becomes σ of objects; centre is σ of their centres",
        group="objects",
        usual=f"{REDUCTION}, {LINK_REDUCTION} for links",
        choices=REDUCTIONS,
        late=True,
    )
    centre: str | None = choose(
        "Centre of groups",
        group="objects",
        usual=f"{CENTRE}, {MOLECULE_CENTRE} for molecules",
        choices=CENTRES,
        late=True,
    )
    # who with whom
    pairs: str = choose(
        "Who is compared with whom", default="auto", group="pairs", choices=PAIRS, besides=FILE
    )
    radius: float | None = choose(
        "Contact radius, in units of the file",
        group="pairs",
        usual=f"{RADIUS:g} Å for molecules",
        positive=True,
    )
    contacts: int = choose("Snapshots in contact, at least", default=1, group="pairs", least=1)
    neighbours: int | None = choose(
        "How many nearest, or how far along the sequence",
        group="pairs",
        usual=f"{NEAREST}, {ALONG} along the sequence",
        least=1,
    )
    min_bonds: int | None = choose(
        "Compare pairs at least so many bonds apart",
        group="pairs",
        usual=f"{MIN_BONDS} in molecules, 0 for your own groups and pairs and average linkage",
        least=0,
    )
    min_overlap: int | Literal["auto"] | None = choose(
        "Snapshots that a pair must share; auto takes the most, up to half, that half of the sites "
        "share with some other",
        group="pairs",
        usual="half of all",
        least=2,
        words={"auto": "auto"},
        metavar="INTEGER|auto",
    )
    memory: str | None = choose(
        "Memory that may be taken, as 2GB; less takes longer, and changes no result",
        group="running",
        server=False,  # which sets it itself
    )
    noise: str | float | tuple[float, ...] | None = choose(
        "Error of positions, one for all axes or one for each, which is taken off σ; auto "
        "estimates it from the steps of each particle",
        group="sure",
        usual="none",
        metavar="0.03|0.03,0.03,0.06|auto",
        parse=parse_errors,
        words={"auto": "auto"},
        such="an error such as 0.03, one for each axis such as 0.03,0.03,0.06, or auto",
        example="0.03",
    )
    # how it is linked, and how sure it is
    linkage: str = choose(
        "How pairs are joined: single is the paper's",
        default="single",
        group="pairs",
        choices=LINKAGES,
    )
    replicas: Sequence[int] | Literal["one"] | None = choose_replicas()
    confidence: bool | None = choose(
        "Resample the trajectory to tell which clusters to believe",
        group="sure",
        usual="yes",
    )
    chance: bool | None = choose(
        "Compare particles with walkers that have nothing in common but their steps",
        group="sure",
        usual="yes for few particles in open space",
    )
    windows: int | None = choose(
        "Sliding windows in which clusters are found and tracked",
        group="sure",
        least=2,
    )
    lags: Sequence[int] | None = choose(
        "Snapshots over which σ is measured again, for each of these times",
        group="sure",
        metavar="2,10,50,…",
        parse=parse_counts,
    )
    # what is shown
    trusted: bool = choose(
        "Draw only clusters that are trusted in structures and scripts",
        default=False,
        group="shown",
    )
    show: str | None = choose_show()

    def __post_init__(self) -> None:
        """Understand texts, and refuse what means nothing."""
        Display.__post_init__(self)
        object.__setattr__(self, "noise", _checked_errors(self.noise))
        if self.memory is not None:
            memory.parse(self.memory, "memory=")
        if self.trusted and self.confidence is False:
            raise ValueError(
                "trusted=True needs to know how sure clusters are: leave out confidence=False"
            )

    def differing(self) -> set[str]:
        """Return the names of the settings that are not at their default.

        Returns
        -------
        set of str
            Names of fields.
        """
        import numpy as np

        default = Settings()
        return {
            field.name
            for field in fields(self)
            if not np.array_equal(getattr(self, field.name), getattr(default, field.name))
        }

    def runs_of(self, n_snapshots: int) -> Sequence[int] | None:
        """Count the snapshots of each independent run, as the user says.

        Parameters
        ----------
        n_snapshots : int
            All there are.

        Returns
        -------
        sequence of int or None
            None for those that were read.
        """
        if isinstance(self.replicas, str):  # "one", as all other words are refused
            return [n_snapshots]
        return self.replicas

    def refuse_unused(self, what: str, chosen: str) -> None:
        """Refuse settings that were given and have no effect on what was chosen.

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
                    f"{name}= is for {uses}, not for {what.format(chosen)}: leave it out"
                )


def _checked_errors(given: Any) -> Any:
    """Numbers of one or more errors; None where there are none. Words stay as they are."""
    if given is None or isinstance(given, str):
        return given
    errors = tuple(map(float, given if hasattr(given, "__iter__") else [given]))
    if not errors or not all(0 <= error < math.inf for error in errors):
        raise ValueError(f"noise= must be 0 or more along each axis, got {given}")
    return errors if any(errors) else None
