"""Tell of a result how sure it is, where that can be told, and else why not, in one line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from timme.analysis import Judged, Part, Seen
from timme.confidence import assess, assess_levels
from timme.engine.moments import Metric
from timme.engine.run import Run
from timme.fluctuations.sigma import Fluctuations
from timme.hierarchy.linkages import Linkage
from timme.hierarchy.tree import Hierarchy
from timme.objects import Objects
from timme.settings import Settings

_LARGEST_MATRIX = 3_000  # sites of a ready-made matrix whose levels are looked at
_NAMES = {
    "braced": "braced linkage, which is not the paper's: two count as a pair once they share 4 "
    "partners within the cutoff",
    "average": "average linkage, which is not the paper's: clusters join by the mean of σ² over "
    "all pairs between them",
}


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of how sure a result is: its part, if there is one, and notes."""

    parts: tuple[Part, ...] = ()
    notes: tuple[str, ...] = ()


def judge(
    compared: Objects,
    sigma: Fluctuations,
    seen: Seen,
    chosen: Settings,
    *,
    n_pairs: int,
    metric: Metric | None,
    run: Run,
) -> Told:
    """Tell how sure a hierarchy of snapshots is.

    Parameters
    ----------
    compared : Objects
        What was compared.
    sigma : Fluctuations
        What was measured, or what was kept of it.
    seen : Seen
        The hierarchy, and what is shown of it.
    chosen : Settings
        What the user chose.
    n_pairs : int
        Pairs on which the hierarchy stands.
    metric : str, callable or None
        As for :func:`timme.measure`.
    run : Run
        How it is carried out.

    Returns
    -------
    Told
        The part, and notes.
    """
    notes = _linkage_notes(chosen)
    if chosen.confidence is False:
        return Told((), notes)
    if len(sigma.sigma) < n_pairs:
        found = assess_levels(compared, seen.restricted, shown=seen.shown, metric=metric, run=run)
        why = (
            f"how sure clusters are is not told: σ of {n_pairs:,} pairs was not kept; levels worth "
            "looking at are"
        )
        return Told((Judged(found),), (*notes, why))
    found = assess(
        compared,
        sigma,
        seen.restricted,
        shown=seen.shown,
        replicas=chosen.replicas,
        linkage=linkage_of(chosen),
        metric=metric,
        run=run,
    )
    return Told((Judged(found),), notes)


def judge_matrix(sigma: Fluctuations, hierarchy: Hierarchy, chosen: Settings) -> Told:
    """Look for levels of a ready-made matrix; how sure its numbers are, it does not say.

    Parameters
    ----------
    sigma : Fluctuations
        Of all pairs that it has.
    hierarchy : Hierarchy
        What they were linked to.
    chosen : Settings
        What the user chose.

    Returns
    -------
    Told
        The part, and notes.
    """
    notes = _linkage_notes(chosen)
    if chosen.confidence is False or sigma.n_objects > _LARGEST_MATRIX:
        return Told((), notes)
    from timme.confidence import levels_of_matrix

    return Told((Judged(levels_of_matrix(sigma.matrix(), hierarchy)),), notes)


def linkage_of(chosen: Settings) -> Linkage:
    """Return how pairs are joined.

    Parameters
    ----------
    chosen : Settings
        What the user chose.

    Returns
    -------
    str
        The name of a linkage.
    """
    return cast("Linkage", chosen.linkage)


def refuse_unkept(chosen: Settings, n_pairs: int) -> None:
    """Refuse a linkage that needs all pairs at once, where they are too many to be kept.

    Parameters
    ----------
    chosen : Settings
        What the user chose.
    n_pairs : int
        Pairs that are compared.
    """
    if chosen.linkage != "single":
        raise ValueError(
            f"linkage={chosen.linkage!r} needs σ of all pairs at once, and {n_pairs:,} are too "
            "many: compare those in contact, or the nearest"
        )


def _linkage_notes(chosen: Settings) -> tuple[str, ...]:
    if chosen.linkage == "single":
        return ()
    return (f"joined by {_NAMES[chosen.linkage]}",)
