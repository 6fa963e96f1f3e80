"""What the user should know about a result: what was left out, limits, and likely mistakes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from scipy import sparse

from timme.analysis import Analysis
from timme.fluctuations.overlap import (
    Overlap,
    advise_overlap,
    choose_overlap,
    seen_sites,
    shared_with_another,
)
from timme.fluctuations.sigma import Fluctuations
from timme.objects import Objects, points
from timme.pairs.lists import Pairs
from timme.settings import Settings
from timme.settings.values import MIN_BONDS
from timme.system.ensemble import Ensemble
from timme.workflow.kept_pairs import note_on

_APART = 3  # bonds between two Cα of neighbours, or between two of these


def notes_on(
    ensemble: Ensemble,
    compared: Objects,
    partners: Pairs,
    sigma: Fluctuations,
    n_measured: int,
    chosen: Settings,
) -> Iterator[str]:
    """Say what the user should know of what was measured.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.
    compared : Objects
        What was compared.
    partners : Pairs
        Who with whom.
    sigma : Fluctuations
        What was measured, or what was kept of it.
    n_measured : int
        Pairs that share enough snapshots.
    chosen : Settings
        What the user chose.

    Yields
    ------
    str
        A sentence.
    """
    yield from notes_on_snapshots(ensemble)
    if ensemble.gaps:
        yield (
            "σ is taken over the snapshots in which both are seen, at least "
            f"{chosen.min_overlap}{_sharing(len(partners) - n_measured)}"
        )
    if len(sigma.sigma) < n_measured:
        yield note_on(n_measured, sigma)
    yield from notes_on_pieces(compared, partners)


def _sharing(few: int) -> str:
    """Tell how many pairs share too few snapshots, if any do."""
    if few == 0:
        return ", as all pairs do"
    return f"; {few:,} pairs share fewer" if few > 1 else "; 1 pair shares fewer"


def notes_on_snapshots(ensemble: Ensemble) -> Iterator[str]:
    """Say what σ of these snapshots does not tell.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots.

    Yields
    ------
    str
        A sentence.
    """
    unit = f" {ensemble.unit}" if ensemble.unit else ""
    if ensemble.rounding:
        yield (
            f"coordinates are stored in steps of {ensemble.rounding:g}{unit}: "
            f"σ below {ensemble.rounding / math.sqrt(6):.2g}{unit} is rounding"
        )
    if ensemble.independent:
        yield "models are no thermal sample: σ tells where they agree as well as what moves"
        if ensemble.numbers is None:
            yield (
                "atoms have other numbers in other models, so that no index groups can be written "
                "(groups.ndx, groups.plumed)"
            )


def notes_on_pieces(compared: Objects, partners: Pairs) -> Iterator[str]:
    """Say into how many pieces the compared pairs fall.

    Parameters
    ----------
    compared : Objects
        What was compared.
    partners : Pairs
        Who with whom.

    Yields
    ------
    str
        A sentence, where there are several.
    """
    pieces = _pieces(len(compared), partners)
    if pieces > 1:
        yield f"the pairs connect {len(compared):,} {compared.kind} into {pieces:,} separate pieces"


def _pieces(n_objects: int, partners: Pairs) -> int:
    """Count the pieces into which the compared pairs fall.

    Parameters
    ----------
    n_objects : int
        Number of objects.
    partners : Pairs
        Who is compared with whom.

    Returns
    -------
    int
        Number of connected pieces; all pairs count as one.
    """
    if partners.index is None:
        return 1
    entries = (np.ones(len(partners.index), bool), partners.index.T)
    graph = sparse.csr_array(entries, shape=(n_objects, n_objects))
    return int(sparse.csgraph.connected_components(graph, directed=False)[0])


def remarks_on(made: Analysis) -> Iterator[str]:
    """Say why, when everything shown is one cluster at every cutoff that means anything.

    Parameters
    ----------
    made : Analysis
        The result.

    Yields
    ------
    str
        A sentence.
    """
    sigma = made.fluctuations
    shown = made.shown_hierarchy
    taken_off = made.recipe.options.get("noise")  # which leaves pairs at 0 that are not held
    if not shown.quantity.of_distances or taken_off:  # of others, no such reason is known
        return
    if sigma is None or shown.n_sites < 3 or np.count_nonzero(shown.parents < 0) > 1:
        return
    typical = float(np.median(sigma.sigma))
    if typical > 0 and len(shown.heights) and shown.heights[-1] <= 0.05 * typical:
        unit = f" {shown.unit}" if shown.unit else ""
        yield (
            f"everything shown is one cluster from {shown.heights[-1]:.2g}{unit} on, while half of "
            f"the pairs fluctuate by more than {typical:.2g}{unit}: some of the compared pairs are "
            f"held at a fixed distance (bonded neighbours, locked torsions). {_remedy(made)}"
        )


def _remedy(made: Analysis) -> str:
    """Propose pairs that are more bonds apart than those compared, and bodies where they help.

    Without bonds there are neither. Sites that are not bound to one another, as Cα alone, are three
    bonds and more apart, so that one more would leave out none of them.
    """
    in_force = made.recipe.options.get("min_bonds")
    bonds = in_force if isinstance(in_force, int) else 0
    if not bonds and not len(made.system.sites.bonds):
        return "Join by several pairs, not by one (linkage='braced'), or list other pairs (pairs=)"
    bonded = len(made.system.sites.bonds) > 0
    bodies = ", or bodies instead of points" if bonded and made.recipe.kind == "points" else ""
    more = max(MIN_BONDS, bonds + (1 if bonded else _APART))
    return f"Compare pairs more bonds apart (min_bonds={more}){bodies}"


def describe_compared(about: str, partners: Pairs, n_measured: int, chosen: Settings) -> str:
    """Say which pairs were measured, and how many were not.

    Parameters
    ----------
    about : str
        What is said of them, if all were.
    partners : Pairs
        Who should be compared with whom.
    n_measured : int
        Pairs that were measured.
    chosen : Settings
        What the user chose, and the snapshots that they had to share.

    Returns
    -------
    str
        What follows the number of measured pairs.
    """
    few = len(partners) - n_measured
    if not few:
        return about
    return (
        f"{about}; {few:,} of {len(partners):,} left out, "
        f"which share fewer than {chosen.min_overlap} snapshots"
    )


def without_short_tracks(ensemble: Ensemble, min_overlap: Overlap) -> tuple[Ensemble, int]:
    """Leave out sites that are seen too rarely to be compared with any other.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots with gaps.
    min_overlap : int, "auto" or None
        Snapshots that two sites must share.

    Returns
    -------
    Ensemble
        With a note of what was left out.
    int
        Snapshots that two sites must share.
    """
    overlap = choose_overlap(points(ensemble), min_overlap)
    seen = seen_sites(ensemble)
    long = np.flatnonzero(seen.sum(axis=0) >= overlap)
    if len(long) < 2:
        raise ValueError(
            f"{ensemble.prefix}{len(long)} of {ensemble.n_sites} sites are seen in at least "
            f"{overlap} of {ensemble.n_snapshots} snapshots, which two must share: "
            f"{advise_overlap(shared_with_another(seen), ensemble.n_sites)}"
        )
    notes = ensemble.notes
    if min_overlap == "auto":
        note = (
            f"two sites must share {overlap} of {ensemble.n_snapshots} snapshots, the most, up to "
            "half, that half of the sites share with some other (min_overlap='auto')"
        )
        notes = (*notes, note)
    if len(long) == ensemble.n_sites:
        return replace(ensemble, notes=notes), overlap
    note = (
        f"left out {ensemble.n_sites - len(long):,} of {ensemble.n_sites:,} sites that are seen in "
        f"fewer than {overlap} of {ensemble.n_snapshots} snapshots (min_overlap=)"
    )
    return replace(ensemble.select(long), notes=(*notes, note)), overlap


@contextmanager
def note_warnings() -> Iterator[list[str]]:
    """Turn warnings meant for the user into notes; pass on the others.

    Yields
    ------
    list of str
        Filled when the context ends.
    """
    noted: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield noted
    for warning in caught:
        if warning.category is UserWarning:
            noted.append(str(warning.message))
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
