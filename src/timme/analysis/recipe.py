"""How a result was made, and how it is shown unless one asks for something else."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from timme._html import Described
from timme.settings import Display, RigidSettings, Settings

FREELY_JOINTED = "freely-jointed chain"  # a theory with closed forms


@dataclass(frozen=True, slots=True, repr=False)
class Input(Described):
    """A file that was read, or what else snapshots came from."""

    name: str
    sha256: str = ""  # of a file


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Provenance(Described):
    """Where a result came from."""

    version: str = ""  # of timme
    command: str = ""
    inputs: tuple[Input, ...] = ()
    paths: tuple[str, ...] = ()  # of these, as they were given; none where nobody shall know them
    title: str = ""  # what the user calls it

    @property
    def input_names(self) -> str:
        """The names of the inputs in one line."""
        return ", ".join(entry.name for entry in self.inputs)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Recipe(Described):
    """The recipe as it was carried out."""

    kind: str = ""  # what was compared or decomposed: "bodies", "atoms"
    n_pairs: int | None = None  # that were compared
    compared: str = ""  # which pairs these were
    theory: str = ""  # a model whose closed forms are drawn beside what was found
    # Given by the user or chosen for them; where nothing was computed, those of pictures alone.
    settings: Settings | RigidSettings | Display = field(default_factory=Display)
    length_name: str = ""  # what the length a of the settings is: "C–C bond"
    cut_at: str = ""  # cutoff at which clusters that were read had been cut, as it was written
    known: tuple[tuple[float, str], ...] = ()  # cutoffs that mean something here, and what
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        """Keep sequences that nobody can change afterwards."""
        several: dict[str, Any] = {
            name: tuple(value)
            for name, value in self.settings.plain().items()
            if isinstance(value, list)
        }
        object.__setattr__(self, "settings", replace(self.settings, **several))
        known = tuple((float(cutoff), meaning) for cutoff, meaning in self.known)
        object.__setattr__(self, "known", known)

    @property
    def options(self) -> dict[str, object]:
        """Settings that were given or chosen and facts, by name, as a reader sees them."""
        named = ("kind", "n_pairs", "compared", "theory")
        facts = {name: getattr(self, name) for name in named}
        plain = self.settings.plain()
        chosen = {name: value for name, value in plain.items() if value is not None}
        return chosen | {name: value for name, value in facts.items() if value}
