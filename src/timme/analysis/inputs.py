"""Inputs of an analysis: what is read, which sites of it, and what it is called."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from timme.analysis.choices import choose_sites
from timme.analysis.settings import Model, Settings, make
from timme.engine.checkpoint import Progress
from timme.ensemble import Ensemble, Frames
from timme.ensemble.frames import ArraySource
from timme.fluctuations import choose_overlap
from timme.io import read
from timme.objects import points

M = TypeVar("M", bound=Model)

_READING = {  # settings, and what the reader calls them
    "begin": "start", "end": "stop", "step": "step", "unit": "unit", "box": "box",
    "bonds": "bonds", "weights": "weights", "gaps": "gaps", "columns": "columns",
    "unwrap": "unwrap", "common_atoms": "common_atoms", "allow_truncated": "allow_truncated",
}  # fmt: skip
_MOST_HELD = 20_000_000  # numbers, 160 MB in double precision
READING = frozenset(_READING)


def settings_of(kind_: type[M], settings: M | None, options: dict[str, Any]) -> M:
    """Return settings, of which options replace some; those that were not given stay unset."""
    given = {} if settings is None else settings.model_dump(exclude_unset=True)
    return make(kind_, **given | options)


def read_snapshots(
    source: Any,
    others: Sequence[Any],
    settings: Any,
    progress: Progress | None = None,
    *,
    as_it_is: bool = False,
) -> Ensemble:
    """Return the sites that settings choose, in the snapshots that they choose."""
    files = [path for each in others for path in ([each] if isinstance(each, str | Path) else each)]
    # Recipes without this setting need all atoms, solvent and ions included.
    narrow = partial(choose_sites, chains=settings.chain, text=getattr(settings, "select", "all"))
    if isinstance(source, Ensemble):
        fixed = {*_READING} | ({"select", "chain"} if as_it_is else set())
        unused = [f"{name}=" for name in sorted(settings.model_fields_set & fixed)]
        if unused or files:
            told = ", ".join([*unused, *["trajectories"] * bool(files)])
            raise ValueError(f"snapshots that were read are analysed as they are: leave out {told}")
        found = source if as_it_is else narrow(source)
    else:
        known = {new: getattr(settings, old, None) for old, new in _READING.items()}
        options: Any = {name: value for name, value in known.items() if value is not None}
        found = read(source, files, select=narrow, progress=progress, **options)
    runs = getattr(settings, "replicas", None)
    if runs is None:
        return found
    counts = [found.n_snapshots] if runs == "one" else list(runs)
    if sum(counts) != found.n_snapshots:
        raise ValueError(
            f"replicas= needs {found.n_snapshots} snapshots in all, got {sum(counts)} of {counts}"
        )
    notes = tuple(note for note in found.notes if "replicas=" not in note)
    return replace(found, runs=np.repeat(np.arange(len(counts)), counts), notes=notes)


@contextmanager
def noted_warnings() -> Iterator[list[str]]:
    """Turn warnings for the user into notes, which are there when the context ends."""
    notes = list[str]()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    for each in caught:
        if each.category is UserWarning:
            notes.append(str(each.message))
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


def without_short_tracks(ensemble: Ensemble, settings: Settings) -> tuple[Ensemble, Settings, str]:
    """Leave out sites that are seen too rarely to be compared; tell in words which are used."""
    overlap = choose_overlap(points(ensemble), settings.min_overlap)
    counted = (block.coordinates[block.weights > 0] for block in ensemble.blocks())
    seen = sum(np.isfinite(places).all(axis=2).sum(axis=0) for places in counted)
    long = np.flatnonzero(seen >= overlap)
    told = f"{ensemble.n_sites:,} sites that are seen in fewer than {overlap} of "
    told += f"{ensemble.n_snapshots} snapshots"
    if len(long) < 2:
        raise ValueError(
            f"{ensemble.prefix}{ensemble.n_sites - len(long)} of {told}, which two must share: "
            "use min_overlap='auto', or longer tracks"
        )
    notes = ensemble.notes
    if len(long) < ensemble.n_sites:
        notes = (*notes, f"left out {ensemble.n_sites - len(long):,} of {told} (min_overlap=)")
    found = replace(ensemble.select(long), notes=notes)
    used = f"{len(long):,} of {ensemble.n_sites:,} tracks, those seen in at least {overlap} of "
    used = f"{used}{ensemble.n_snapshots} frames (min_overlap=)" * (len(long) < ensemble.n_sites)
    return found, settings.model_copy(update={"min_overlap": overlap}), used


def in_memory(ensemble: Ensemble) -> Ensemble:
    """Return the same snapshots, held because they are read many times, unless they are many."""
    if math.prod(ensemble.frames.shape) > _MOST_HELD:
        return ensemble
    places, boxes = ensemble.frames.read(0, ensemble.n_snapshots)
    return replace(ensemble, frames=Frames.of(ArraySource(places, boxes, ensemble.times)))
