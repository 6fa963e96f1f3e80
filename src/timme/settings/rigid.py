"""What a user can choose of the rigid clusters of a structure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from timme.settings.display import Display
from timme.settings.schema import choose
from timme.settings.shared import (
    choose_common_atoms,
    choose_show,
    choose_start,
    choose_step,
    choose_stop,
    choose_truncated,
)

TETHERS: dict[Literal["shortest", "all", "none"], str] = {
    "shortest": "The shortest of an atom to a residue",
    "all": "Every pair of carbon or sulphur in contact",
    "none": "None",
}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RigidSettings(Display):
    """What a user can choose of the rigid clusters of a structure."""

    chain: str | Sequence[str] | None = choose(
        "Chains to keep, as A or A,B", group="reading", usual="all", example="A"
    )
    model: int | None = choose(
        "Model or frame, counted from 1", group="reading", usual="the first", least=1
    )
    start: int | str | None = choose_start()
    stop: int | str | None = choose_stop()
    step: int | str | None = choose_step()
    ensemble: float | None = choose(
        "Decompose all models or frames with hydrogen bonds up to this energy, in kcal/mol",
        group="network",
        metavar="ENERGY",
    )
    common_atoms: bool = choose_common_atoms()
    allow_truncated: bool = choose_truncated()
    waters: bool = choose(
        "Keep waters, and their hydrogen bonds",
        default=False,
        group="reading",
    )
    tethers: str = choose(
        "Which hydrophobic tethers of an atom to a residue count",
        default="shortest",
        group="network",
        choices=TETHERS,
    )
    constraints: str | None = choose(
        "Read this list of constraints in place of finding them",
        group="network",
        metavar="FILE",
        server=False,  # where nothing from outside is a path
    )
    show: str | None = choose_show()
    # Where a height is an energy, these mean something else, or little.
    cutoff: float | None = choose(
        "Energy of the picture and the structure, in kcal/mol",
        group="shown",
        usual="the first that is suggested",
    )
    length: float | None = choose(
        "Length a for a second axis", group="shown", positive=True, command=False, server=False
    )

    def __post_init__(self) -> None:
        """Refuse what means nothing, or not together."""
        Display.__post_init__(self)
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
