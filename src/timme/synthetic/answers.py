"""What was put into an ensemble, beside the ensemble."""

from __future__ import annotations

from dataclasses import dataclass

from timme._arrays import Ints
from timme._html import Described
from timme.system.ensemble import Ensemble


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Planted(Described):
    """An ensemble and the clusters that were put into it."""

    ensemble: Ensemble
    labels: Ints  # (levels, sites), from the coarsest to the finest clusters; -1 in none
