"""Who is compared with whom: all pairs, those in contact, neighbours, or the user's own."""

from __future__ import annotations

import operator
from dataclasses import replace
from numbers import Real
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from timme._arrays import Ints, frozen
from timme.engine.checkpoint import Checkpoint
from timme.engine.metrics import HAVERSINE, known_metric
from timme.engine.protocol import Engine
from timme.engine.run import Run
from timme.objects import Objects, require_objects, require_places_on_sphere
from timme.pairs.lists import Pairs, lower_first, without
from timme.pairs.meetings import find_contacts
from timme.pairs.nearest import nearest_in_first, nearest_on_average
from timme.pairs.paths import split_keys
from timme.system.frames import Progress
from timme.system.sphere import in_space, through_the_earth
from timme.system.topology import within_bonds
from timme.system.traces import with_missing_atoms


def all(objects: Objects, *, min_bonds: int = 0) -> Pairs:  # noqa: A001 (the paper's word)
    """Compare every object with every other, also those far apart.

    Parameters
    ----------
    objects : Objects
        What is compared.
    min_bonds : int, optional
        Pairs fewer bonds apart are left out.

    Returns
    -------
    Pairs
        Symbolic: no list is made.
    """
    require_objects(objects, "pairs.all")
    near = _too_near(objects, min_bonds)
    text = _describe("all pairs", min_bonds)
    found = Pairs(len(objects), None, near, text)
    return replace(found, description=text + _count_dropped(len(near), len(found)))


def within(  # noqa: PLR0913, what is in contact, and how the search is carried out
    objects: Objects,
    radius: float,
    *,
    at_least: int = 1,
    min_bonds: int = 0,
    metric: str | None = None,
    most: int | None = None,
    workers: int | Engine | None = None,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Pairs:
    """Compare objects in contact: centres no farther apart than a radius in some snapshots.

    Parameters
    ----------
    objects : Objects
        What is compared.
    radius : float
        In the units of the coordinates, or of the metric.
    at_least : int, optional
        Number of snapshots in which they must be in contact.
    min_bonds : int, optional
        Pairs fewer bonds apart are left out.
    metric : {"euclidean", "haversine"}, optional
        With ``haversine``, coordinates are latitude and longitude in degrees, and the radius is
        the way over the Earth in km.
    most : int, optional
        Pairs that may be found before it is given up for lack of memory.
    workers : int or Engine, optional
        Number of threads, all cores by default; or another engine.
    progress : callable, optional
        Called with snapshots done and their number.
    checkpoint : Checkpoint, optional
        Where contacts are saved at intervals, and from which the search goes on.

    Returns
    -------
    Pairs
        The pairs in contact.
    """
    require_objects(objects, "pairs.within")
    _require_number(radius, "a contact radius")
    if not (np.isfinite(radius) and radius > 0):
        raise ValueError(f"a contact radius must be above 0, got {radius}")
    if not 1 <= operator.index(at_least) <= objects.ensemble.n_snapshots:
        raise ValueError(
            f"contacts are needed in 1 to {objects.ensemble.n_snapshots} snapshots, got {at_least}"
        )
    centres, reach = objects.centres(), radius
    if _is_on_sphere(objects, metric):
        centres, reach = in_space(centres), through_the_earth(radius)
    run = Run.of(workers=workers, progress=progress, checkpoint=checkpoint)
    keys = find_contacts(centres, reach, at_least=int(at_least), most=most, run=run)
    unit = f" {centres.unit}" if centres.unit else ""
    times_text = "1 snapshot" if at_least == 1 else f"{at_least} snapshots"
    text = f"in contact within {radius:g}{unit} in at least {times_text}"
    return _from_keys(objects, keys, text, min_bonds)


def sequence(objects: Objects, *, reach: int = 1, min_bonds: int = 0) -> Pairs:
    """Compare objects that follow one another in the same chain.

    Parameters
    ----------
    objects : Objects
        What is compared, in the order of the sequence.
    reach : int, optional
        Largest distance along the sequence.
    min_bonds : int, optional
        Pairs fewer bonds apart are left out.

    Returns
    -------
    Pairs
        Neighbours in the sequence.
    """
    require_objects(objects, "pairs.sequence")
    if reach < 1:
        raise ValueError(f"sequence neighbours are at least 1 apart, got {reach}")
    n_objects = len(objects)
    chains = objects.ensemble.atoms.chains[objects.ensemble.site_atoms[objects.anchors]]
    first = np.repeat(np.arange(n_objects), reach)
    second = first + np.tile(np.arange(1, reach + 1), n_objects)
    index = np.column_stack([first, second])[second < n_objects]
    index = index[chains[index[:, 0]] == chains[index[:, 1]]]
    return _from_list(objects, index, f"up to {reach} apart in the sequence", min_bonds)


def nearest(
    objects: Objects,
    count: int,
    *,
    by: Literal["first", "mean"] = "first",
    min_bonds: int = 0,
    metric: str | None = None,
) -> Pairs:
    """Compare every object with its nearest ones.

    Parameters
    ----------
    objects : Objects
        What is compared.
    count : int
        Number of nearest partners of each object; equal distances go to the lower index.
    by : {"first", "mean"}, optional
        Distance of the centres in the first snapshot, or its mean over all snapshots (which needs
        no superposition).
    min_bonds : int, optional
        Pairs fewer bonds apart are left out before partners are counted.
    metric : {"euclidean", "haversine"}, optional
        As for :func:`within`.

    Returns
    -------
    Pairs
        Pairs of which at least one is among the nearest of the other.
    """
    require_objects(objects, "pairs.nearest")
    _require_number(count, "the number of nearest partners")
    if not 1 <= count < len(objects):
        raise ValueError(f"nearest partners are 1 to {len(objects) - 1}, got {count}")
    if by not in {"first", "mean"}:
        raise ValueError(f"nearest are judged by 'first' or 'mean', got {by!r}")
    near = _too_near(objects, min_bonds)
    on_sphere = _is_on_sphere(objects, metric)
    centres = objects.centres()
    if by == "first":
        index = nearest_in_first(in_space(centres) if on_sphere else centres, count, near)
    else:
        index = nearest_on_average(centres, count, near, metric=metric)
    text = f"the {count} nearest {'in the first snapshot' if by == 'first' else 'on average'}"
    return _from_list(objects, index, text, min_bonds)


def sharing(objects: Objects) -> Pairs:
    """Compare objects that have a site in common, such as links at a joint.

    Parameters
    ----------
    objects : Objects
        What is compared.

    Returns
    -------
    Pairs
        Pairs with a common member.
    """
    require_objects(objects, "pairs.sharing")
    membership = objects.membership()
    common = sparse.triu(membership @ membership.T, 1)
    return _from_list(objects, np.column_stack(common.nonzero()), "with a site in common", 0)


def given(objects: Objects, index: npt.ArrayLike, *, min_bonds: int = 0) -> Pairs:
    """Compare the user's own pairs.

    Parameters
    ----------
    objects : Objects
        What is compared.
    index : array_like, shape (pairs, 2)
        Pairs of objects, numbered from 0, in any order.
    min_bonds : int, optional
        Pairs fewer bonds apart are left out.

    Returns
    -------
    Pairs
        The same, each once.
    """
    require_objects(objects, "pairs.given")
    array = np.asarray(index)
    if array.size == 0:
        array = np.empty((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(
            f"pairs need two whole numbers each, got {array.dtype} of shape {array.shape}"
        )
    if array.size and (array.min() < 0 or array.max() >= len(objects)):
        raise ValueError(
            f"pairs must name objects 0 to {len(objects) - 1}, got {array.min()} to {array.max()}"
        )
    index, text = array.astype(np.int64), "listed by the user"
    found = _from_list(objects, index, text, min_bonds)
    dropped = len(_from_list(objects, index, text, 0)) - len(found) if min_bonds else 0
    return replace(found, description=found.description + _count_dropped(dropped, len(found)))


def _is_on_sphere(objects: Objects, metric: object) -> bool:
    """Tell whether near is what is near on a sphere; refuse metrics that are not searched by."""
    metric = known_metric(metric, objects.ensemble)
    if metric not in {None, HAVERSINE}:
        raise ValueError(
            f"who is near is judged by Euclidean distances or on a sphere (metric='haversine'), "
            f"got {metric!r}: leave the metric to timme.measure, or list pairs by timme.pairs.given"
        )
    require_places_on_sphere(objects, metric)
    return metric is not None


def _from_list(objects: Objects, index: Ints, description: str, min_bonds: int) -> Pairs:
    index = lower_first(index)
    index = index[index[:, 0] != index[:, 1]]
    keys = np.sort(index[:, 0] * len(objects) + index[:, 1])
    return _from_keys(objects, keys[np.diff(keys, prepend=-1) > 0], description, min_bonds)


def _from_keys(objects: Objects, keys: Ints, description: str, min_bonds: int) -> Pairs:
    """Pairs from their keys, lower × objects + higher, sorted."""
    near = _too_near(objects, min_bonds)
    index = without(split_keys(keys, len(objects)), near, len(objects))
    return Pairs(len(objects), frozen(index), near[:0], _describe(description, min_bonds))


def _require_number(value: object, what: str) -> None:
    """Refuse what is no number, such as a text."""
    if not isinstance(value, Real):
        raise TypeError(f"{what} is a number, got {value!r}")


def _describe(text: str, min_bonds: int) -> str:
    return f"{text}, at least {min_bonds} bonds apart" if min_bonds > 0 else text


def _count_dropped(dropped: int, kept: int) -> str:
    """Say how many of all pairs, or of those listed, are too few bonds apart."""
    return f"; {dropped:,} of {dropped + kept:,} left out, which are fewer" if dropped else ""


def _too_near(objects: Objects, min_bonds: int) -> Ints:
    """Pairs of objects fewer bonds apart, counted in the whole covalent graph.

    Objects centred on an atom are counted from it, others from their nearest members. Where a chain
    is known by one atom of each residue, the bonds between these are counted as well.
    """
    _require_number(min_bonds, "bonds apart")
    if min_bonds < 0:
        raise ValueError(f"bonds apart must not be negative, got {min_bonds}")
    ensemble = objects.ensemble
    bonds, count = with_missing_atoms(ensemble.atoms.bonds, ensemble.steps, len(ensemble.atoms))
    if min_bonds == 0 or len(bonds) == 0:
        return np.empty((0, 2), np.int64)
    near = within_bonds(bonds, count, min_bonds - 1)
    if objects.centred_on_sites:
        atoms = ensemble.site_atoms[objects.anchors]
        between = near[atoms][:, atoms]
    else:
        # Columns of the membership are sites; those of the bond graph are atoms.
        belongs = objects.membership()
        between = belongs @ near[ensemble.site_atoms][:, ensemble.site_atoms] @ belongs.T
    return np.column_stack(sparse.triu(between, 1).nonzero()).astype(np.int64)
