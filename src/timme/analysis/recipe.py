"""How a result was made, and how it is shown unless one asks for something else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from timme.settings import Display

FREELY_JOINTED = "freely-jointed chain"  # a theory with closed forms


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The recipe as it was carried out."""

    kind: str = ""  # what was compared or decomposed: "bodies", "atoms"
    n_pairs: int | None = None  # that were compared
    compared: str = ""  # which pairs these were
    theory: str = ""  # a model whose closed forms are drawn beside what was found
    view: Display = field(default_factory=Display)  # unless one asks for something else
    length_name: str = ""  # what the length a of the view is: "C–C bond"
    settings: Mapping[str, object] = field(default_factory=dict)  # by name, to be read by people
    provenance: Mapping[str, object] = field(default_factory=dict)  # version, command, inputs

    @property
    def options(self) -> dict[str, object]:
        """Settings that were given or chosen and facts, by name, as a reader sees them."""
        named = ("kind", "n_pairs", "compared", "theory")
        facts = {name: getattr(self, name) for name in named}
        chosen = {name: value for name, value in self.settings.items() if value is not None}
        return chosen | {name: value for name, value in facts.items() if value}
