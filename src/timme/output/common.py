"""Two results on what both show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from timme._arrays import Ints, frozen
from timme.analysis import Analysis
from timme.compare import Common, common_sites

Names = tuple[str, str]  # what the two results are called in pictures

NAMES: Names = ("first", "second")


def on_common_sites(
    first: Analysis, second: Analysis, *, chains: Mapping[str, str] | None = None
) -> tuple[Analysis, Analysis, Common]:
    """Narrow two analyses to the shown objects that both have.

    Parameters
    ----------
    first, second : Analysis
        What was analysed.
    chains : mapping of str to str, optional
        Chains of the first and what they are called in the second.

    Returns
    -------
    first, second : Analysis
        The same, showing common objects only, in the order of the first.
    common : Common
        Which of the shown objects these are, and how they were found.
    """
    common = common_sites(first.shown_atoms, second.shown_atoms, chains=chains)
    return (
        _showing(first, common.first),
        _showing(second, common.second),
        common,
    )


def _showing(analysis: Analysis, chosen: Ints) -> Analysis:
    """Return an analysis that shows some of its shown objects only."""
    system = analysis.system
    return replace(analysis, system=replace(system, shown=frozen(system.shown[chosen])))
