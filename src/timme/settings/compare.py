"""What a user can choose of a comparison of two results."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from timme._html import Described
from timme.settings.schema import choose, settle
from timme.settings.shared import choose_min_size, choose_palette
from timme.settings.texts import parse_chains, parse_two_numbers


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CompareSettings(Described):
    """What a user can choose of a comparison of two results."""

    chains: Mapping[str, str] | None = choose(
        "Chains of the first, and what they are called in the second",
        group="reading",
        usual="the same",
        metavar="A=B,C=D",
        parse=parse_chains,
    )
    cutoffs: Sequence[float] | None = choose(
        "Compare at this pair of cutoffs besides the best",
        group="shown",
        metavar="-0.5,0.06",
        parse=parse_two_numbers,
        such="two numbers such as -0.5,0.06",
    )
    min_size: int = choose_min_size()
    palette: str = choose_palette()

    def __post_init__(self) -> None:
        """Understand texts, and refuse what means nothing."""
        settle(self)
        if self.cutoffs is not None and not (
            len(self.cutoffs) == 2 and all(map(math.isfinite, self.cutoffs))
        ):
            raise ValueError(f"cutoffs= must be two numbers, got {list(self.cutoffs)}")
        if self.chains is not None and len({*self.chains.values()}) < len(self.chains):
            raise ValueError(
                f"chains= must name each chain of the second once, got {dict(self.chains)}"
            )
