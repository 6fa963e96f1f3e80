"""Ready-made matrices: σ of pairs that were measured elsewhere, or anything like it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from timme._arrays import frozen
from timme.analysis.measurement import KEPT, MOST_DRAWN, evenly
from timme.analysis.result import Analysis, Made, System
from timme.analysis.settings import Settings
from timme.analysis.system import sources_of, title_of
from timme.confidence.assessment import levels_of_matrix
from timme.ensemble import Atoms
from timme.fluctuations import Fluctuations, from_matrix
from timme.hierarchy.linking import link
from timme.hierarchy.quantity import SIGMA, Quantity, as_quantity
from timme.io import Matrix, read_matrix
from timme.io.files import kind, open_npy

_OF_MATRICES = {  # settings that count for a matrix
    *("unit", "linkage", "confidence", "cutoff", "length", "min_size", "palette", "order"),
    *("full", "workers", "memory", "seed"),
}
_LARGEST = 3_000  # sites of a matrix whose levels are looked for


def analyse_matrix(source: Any, settings: Settings, unused: Sequence[str]) -> Analysis:
    """Return the analysis of a matrix, without its finding; refuse what counts for snapshots."""
    names = [*unused, *sorted(settings.model_fields_set - _OF_MATRICES)]
    path = str(source) if isinstance(source, str | Path) else ""
    prefix = f"{path}: " if path else ""
    if names:
        told = ", ".join(f"{name}=" for name in names)
        raise ValueError(f"{prefix}a matrix is linked as it is: leave out {told}")
    given_ = read_matrix(source) if path else source
    quantity = SIGMA
    if isinstance(given_, Matrix):
        if given_.symbol:
            quantity = Quantity(given_.symbol, given_.unit, words=given_.words)
        given_ = given_.values
    quantity = as_quantity(quantity, settings.unit or "")
    if isinstance(given_, Fluctuations):
        sigma = replace(given_, unit=quantity.unit or given_.unit)
    else:
        try:
            sigma = from_matrix(given_, unit=quantity.unit)
        except ValueError as error:
            raise ValueError(f"{prefix}{error}") from None
    tree = link(sigma, quantity=quantity, linkage=settings.linkage)
    judged, notes = None, tuple[str, ...]()
    if settings.confidence is not False and sigma.n_objects <= _LARGEST:
        judged = levels_of_matrix(sigma.matrix(), tree, min_size=max(2, settings.min_size))
    if len(sigma.sigma) > KEPT:
        notes = (f"{quantity.symbol} of {len(sigma.sigma):,} pairs is drawn in part",)
        chosen = np.isin(np.arange(tree.n_sites), evenly(np.arange(tree.n_sites), MOST_DRAWN))
        kept = chosen[sigma.pairs].all(axis=1)
        pairs, common = frozen(sigma.pairs[kept]), frozen(sigma.common[kept])
        sigma = replace(sigma, pairs=pairs, sigma=frozen(sigma.sigma[kept]), common=common)
    made = Made(
        *("run", "matrix", title_of((path,)) if path else "matrix", "sites", "all pairs"),
        n_pairs=len(sigma.sigma),
        settings=settings,
        given=tuple(sorted(settings.model_fields_set)),
        length=settings.length,
        length_name="a" if settings.length else "",
        sources=sources_of((path,) if path else ()),
        version=version("pytimme"),
    )
    system = System.without_places(Atoms.unnamed(tree.n_sites), unit=sigma.unit)
    labels = list(getattr(source, "columns", ()))
    if labels and labels != list(range(tree.n_sites)):
        system = replace(system, names=np.array([str(label) for label in labels]))
    return Analysis(system, tree, made, notes, fluctuations=sigma, confidence=judged)


def is_matrix(source: Any) -> bool:
    """Return whether a source is σ of pairs rather than snapshots."""
    if isinstance(source, str | Path):
        ending = kind(Path(source))
        here = ending == ".npy" and Path(source).is_file()
        return ending in (".json", ".mtx") or (here and open_npy(source).ndim <= 2)
    if isinstance(source, Fluctuations | Matrix) or hasattr(source, "tocsr"):
        return True
    if hasattr(source, "columns"):
        return hasattr(source, "index") and list(source.index) == list(source.columns)
    first = source[0] if isinstance(source, list | tuple) and source else source
    if not isinstance(first, int | float | list | tuple | np.ndarray):
        return False
    try:
        return np.ndim(source) <= 2
    except ValueError:  # rows of different lengths, which the reader refuses
        return False
