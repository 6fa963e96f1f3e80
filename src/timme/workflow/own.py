"""What users made by themselves and hand to the recipe: objects, pairs, a metric, a matrix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from timme.engine.checkpoint import digest
from timme.engine.reduction import code_of
from timme.fluctuations.matrix import has_triangle
from timme.fluctuations.sigma import Fluctuations
from timme.objects import Objects
from timme.pairs.lists import Pairs
from timme.readers.libraries import is_table
from timme.system.atoms import Atoms
from timme.system.ensemble import Ensemble


@dataclass(frozen=True, slots=True, eq=False)
class Own:
    """What replaces a step of the recipe."""

    objects: Any = None  # Objects, or what timme.objects.groups takes
    pairs: Any = None  # Pairs, or what timme.pairs.given takes
    metric: Any = None  # as for timme.measure

    @classmethod
    def of(cls, source: Any, metric: Any, options: dict[str, Any]) -> tuple[Own, dict[str, Any]]:
        """Part what users made from what they chose by name.

        Parameters
        ----------
        source : Any
            What is analysed.
        metric : str, callable or None
            How far apart two points are.
        options : dict
            Keywords of the recipe.

        Returns
        -------
        own : Own
            What they made.
        options : dict
            The others.
        """
        made = {
            name: options[name]
            for name in ("objects", "pairs")
            if options.get(name) is not None and not isinstance(options[name], str | Path)
        }
        others = {name: value for name, value in options.items() if name not in made}
        others |= {name: str(value) for name, value in others.items() if isinstance(value, Path)}
        if isinstance(source, Objects):
            if options.get("objects") is not None:
                raise ValueError("Objects are analysed as they were made: leave out objects=")
            made["objects"] = source
        elif isinstance(made.get("objects"), Objects) and (
            not isinstance(source, Ensemble) or made["objects"].ensemble is not source
        ):
            raise ValueError(
                "Objects bring the snapshots they were made of: pass them alone, as "
                "timme.analyse(objects)"
            )
        return cls(**made, metric=metric), others

    @property
    def names(self) -> list[str]:
        """What there is of it."""
        every = ("objects", "pairs", "metric")
        return [name for name in every if getattr(self, name) is not None]

    @property
    def metric_name(self) -> str:
        """What the metric is called."""
        return str(getattr(self.metric, "__name__", self.metric))

    def identity(self) -> dict[str, str]:
        """Describe it by all that σ depends on, as the identity of a run does.

        Returns
        -------
        dict of str
            What, in words for a message, and its value.
        """
        found = {
            f"the {name}": digest(*_marks(getattr(self, name)))[:16]
            for name in ("objects", "pairs")
            if getattr(self, name) is not None
        }
        return found if self.metric is None else found | {"the metric": code_of(self.metric)}


def is_matrix(source: Any) -> bool:
    """Tell a ready-made matrix of σ in memory from snapshots.

    Parameters
    ----------
    source : Any
        What is analysed.

    Returns
    -------
    bool
        True for σ of pairs, a square matrix, the upper triangle of one, and a square DataFrame
        whose rows are labelled as its columns are.
    """
    if isinstance(source, Fluctuations | sparse.sparray | sparse.spmatrix):
        return True
    if is_table(source):
        return _is_square_table(source)
    if isinstance(source, list | tuple):
        # Not any list: one of files or of objects of other libraries is no array.
        plain = len(source) > 0 and isinstance(source[0], int | float | list | tuple | np.ndarray)
        try:
            source = np.asarray(source) if plain else None
        except ValueError:
            return False
    if not isinstance(source, np.ndarray) or source.dtype.kind not in "fiu":
        return False
    if source.ndim == 1:
        return has_triangle(len(source))
    return source.ndim == 2 and source.shape[0] == source.shape[1]


def name_sites(matrix: Any, n_sites: int) -> Atoms:
    """Name sites as the rows of their matrix are labelled.

    Parameters
    ----------
    matrix : Any
        A matrix of σ.
    n_sites : int
        Its sites.

    Returns
    -------
    Atoms
        Numbered from 1 where there are no labels.
    """
    sites = Atoms.unnamed(n_sites)
    labels = list(matrix.columns) if is_table(matrix) else []
    if labels == list(range(len(labels))):
        return sites
    if all(isinstance(label, int | np.integer) for label in labels):
        return replace(sites, resids=np.array(labels, dtype=np.int64))
    return replace(sites, names=np.array([str(label) for label in labels]))


def _is_square_table(table: Any) -> bool:
    """Tell a matrix from a table of tracks, which of both may have numbers for labels."""
    labels = list(table.columns)
    if not hasattr(table, "index") or list(table.index) != labels:
        return False
    if any(isinstance(label, str) for label in labels):
        return True
    try:
        values = table.to_numpy(dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return np.allclose(values, values.T, equal_nan=True)


def _marks(made: Any) -> Iterator[Any]:
    """Walk through all that tells one thing from another."""
    if isinstance(made, Objects):
        yield from (made.members, made.offsets, made.centre_weights, made.rigid, made.reduction)
    elif isinstance(made, Pairs):
        yield from ("all" if made.index is None else made.index, made.left_out)
    elif isinstance(made, Mapping):
        for name, value in made.items():
            yield from (str(name), value if isinstance(value, str) else np.asarray(value))
    else:
        yield from (str(each) if np.ndim(each) == 0 else np.asarray(each) for each in made)
