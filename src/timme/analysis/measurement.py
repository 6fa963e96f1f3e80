"""Measurement within the memory that there is: pairs, σ without errors of positions, its tree."""

from __future__ import annotations

import re
import warnings
from typing import Any, NamedTuple

import numpy as np

from timme import memory
from timme import pairs as choose
from timme._arrays import Ints
from timme.analysis.choices import Kind, read_lines
from timme.analysis.settings import PAIRS, Settings, split_rule
from timme.confidence.bootstrap import N_PARTS
from timme.confidence.noise import Noise, PositionErrors, estimate_errors, take_off
from timme.engine.checkpoint import Run
from timme.engine.moments import known_metric
from timme.ensemble.atoms import angstroms
from timme.fluctuations import Fluctuations, chunk_for, measure
from timme.hierarchy.clustering import find_forest
from timme.hierarchy.linking import link
from timme.hierarchy.tree import Hierarchy
from timme.objects import Objects
from timme.pairs import Pairs

MOLECULAR = ("biopolymer", "molecule", "liquid")
KEPT = 2_000_000  # pairs: σ of more, which no list names, is not held
_USUAL, _NEIGHBOURS = 200_000, 6  # of these, random pairs, and near ones of each object
_OF_BOX = 0.45  # of the width of a box, which may shrink: contacts reach to half of it
_RADIUS = 10.0  # Å, within which parts of molecules are in contact
_MIN_BONDS = 4  # fewer hold two atoms at a distance that hardly changes
_UNBONDED = ("links", "molecules", "groups")  # compared however few bonds they are apart
_ALL, _NEAREST = 20_000, 12  # particles of which all pairs are compared; partners of more
_MARGIN, _SMALLEST = 1.3, 10_000  # how rough estimates of memory are; pairs measured at a time


class Task(NamedTuple):
    """What is measured, and how that is carried out."""

    objects: Objects
    kind: Kind
    settings: Settings
    metric: Any
    how: dict[str, Any]  # workers, client, progress and checkpoint


class Measured(NamedTuple):
    """What was compared and linked."""

    sigma: Fluctuations  # of all pairs, or of those that pictures and support need
    hierarchy: Hierarchy
    n_pairs: int
    noise: Noise | None = None  # that was subtracted


def choose_pairs(task: Task, own: Any) -> tuple[Pairs, dict[str, Any]]:
    """Return which objects are compared, and the settings that were settled with it."""
    if isinstance(own, Pairs):
        return own, {"pairs": "all" if own.index is None else "listed"}
    objects, settings = task.objects, task.settings
    rule, number = ("listed", None) if own is not None else _rule(task)
    if settings.contacts > 1 and rule != "contact":
        raise ValueError(f"contacts= does not apply to pairs={rule!r}: leave it out")
    bonds = settings.min_bonds
    if bonds is None:
        by_distance = rule in {"contact", "all", "nearest"} and objects.kind not in _UNBONDED
        bonded = task.kind in MOLECULAR and settings.linkage != "average"
        bonds = _MIN_BONDS if by_distance and bonded else 0
    near: dict[str, Any] = {"metric": "haversine" if task.metric == "haversine" else None}
    if rule == "contact":
        most = max(0, int(_room(settings.memory) / 100))
        near |= {"radius": number, "at_least": settings.contacts, "most": most, **task.how}
        found = choose.within(objects, min_bonds=bonds, **near)
    elif rule == "nearest":
        number = int(number or min(_NEAREST, len(objects) - 1))
        near["by"] = "mean" if objects.ensemble.gaps else "first"
        found = choose.nearest(objects, number, min_bonds=bonds, **near)
    elif rule == "sequence":
        number = int(number or 1)
        found = choose.sequence(objects, reach=number, min_bonds=bonds)
    elif rule == "sharing":
        found = choose.sharing(objects)
    elif rule == "all":
        found = choose.all(objects, min_bonds=bonds)
    else:
        index = _read_pairs(rule, len(objects)) if own is None else own
        found = choose.given(objects, index, min_bonds=bonds)
    if len(found) == 0:
        described = f"{objects.ensemble.prefix}no pairs of {objects.kind} are {found.description}"
        raise ValueError(f"{described}: choose other pairs (pairs=), or a lower min_bonds=")
    return found, {"pairs": rule if number is None else f"{rule}:{number:g}", "min_bonds": bonds}


def _rule(task: Task) -> tuple[str, float | None]:
    """Return the name of a rule for pairs, or of a file, and its number."""
    objects, linkage = task.objects, task.settings.linkage
    (name, number), ensemble = split_rule(task.settings.pairs), objects.ensemble
    unit = angstroms(ensemble.unit) if ensemble.unit and task.kind in MOLECULAR else None
    radius = number or (None if unit is None else _RADIUS / unit)
    if name == "auto" and linkage == "average":
        name = "all"
    elif name == "auto" and objects.kind == "links":
        name = "sharing"
    elif name == "auto":
        box, molecular = ensemble.snapshot()[1], task.kind in MOLECULAR and objects.kind != "groups"
        narrow = 0.0 if box is None else np.linalg.norm(np.linalg.pinv(box), axis=0).max()
        near = molecular and (radius or 0.0) * narrow < _OF_BOX
        name = "contact" if near else "all" if len(objects) <= _ALL else "nearest"
    if name == "contact" and radius is None:
        words = "contacts need a radius: write it as pairs='contact:RADIUS'"
        raise ValueError(f"{ensemble.prefix}{words}")
    return name, radius if name == "contact" else number


def _read_pairs(path: str, n_objects: int) -> Ints:
    """Return pairs, counted from 0, of a file with lines of two numbers from 1 on."""
    found = list[list[int]]()
    for place, line in read_lines(path, "pairs", PAIRS):
        match = re.fullmatch(r"(\d+)[\s,;]+(\d+)", line)
        pair = sorted(int(number) - 1 for number in match.groups()) if match else [-1, -1]
        if not 0 <= pair[0] < pair[1] < n_objects:
            words = f"a pair is two different numbers from 1 to {n_objects}, got {line!r}"
            raise ValueError(f"{place}: {words}")
        found.append(pair)
    return np.array(found, np.int64).reshape(-1, 2)


def measure_and_link(task: Task, pairs: Pairs) -> Measured:
    """Measure and link; σ of very many pairs is not held, but for those that support needs."""
    objects, settings, errors = task.objects, task.settings, _errors(task)
    options: dict[str, Any] = {"min_overlap": settings.min_overlap, "metric": task.metric}
    options["chunk"] = _chunk(task, min(len(pairs), KEPT) if pairs.index is None else len(pairs))
    if pairs.index is None and len(pairs) > KEPT:
        if settings.linkage != "single" or errors is not None or settings.chance:
            words = f"linkage={settings.linkage!r}, noise= and chance= need {len(pairs):,} pairs"
            raise ValueError(f"{words} at once: compare fewer (pairs=), or leave these out")
        forest = find_forest(objects, pairs, run=Run.of(**task.how), **options)
        sigma = _measure_some(objects, pairs, forest.edges, options)
        words = f"σ of {len(sigma.sigma):,} of {forest.n_compared:,} pairs is held"
        warnings.warn(f"{words}: the matrix and support of clusters stand on these", stacklevel=2)
        return Measured(sigma, forest.hierarchy(), forest.n_compared)
    sigma = measure(objects, pairs, **options, **task.how)
    if errors is not None:
        sigma, n_clipped = take_off(sigma, errors.variance)
        usual = ", ".join(f"{x:.2g}" for x in np.sqrt(errors.squares.mean(axis=0)))
        words = f"an error of positions of {usual} {sigma.unit}".rstrip()
        text = f"{words} was subtracted from σ: {n_clipped:,} pairs have σ = 0"
        warnings.warn(text, stacklevel=2)
    tree = link(sigma, linkage=settings.linkage)
    return Measured(sigma, tree, len(sigma.sigma), None if errors is None else errors.variance)


def _measure_some(
    objects: Objects, pairs: Pairs, joining: Ints, options: dict[str, Any]
) -> Fluctuations:
    """Measure pairs that join clusters, near neighbours, and others at random, which are usual."""
    usual = np.random.default_rng(0).integers(len(objects), size=(_USUAL, 2))
    near = [] if objects.ensemble.gaps else [*choose.nearest(objects, _NEIGHBOURS).chunks(KEPT)]
    listed = choose.sorted_pairs(np.concatenate([joining, usual, *near]), len(objects))
    listed = choose.without(listed, pairs.left_out, len(objects))
    with warnings.catch_warnings():  # pairs near half the box were counted over all pairs
        warnings.simplefilter("ignore")
        return measure(objects, choose.given(objects, listed), **options)


def _errors(task: Task) -> PositionErrors | None:
    """Return the errors of positions that are subtracted, if there are any."""
    objects, noise, ensemble = task.objects, task.settings.noise, task.objects.ensemble
    if noise is None:
        return None
    plain = known_metric(task.metric, ensemble) is None and ensemble.weights is None
    in_time = task.kind == "particles" and not ensemble.independent
    if objects.kind != "points" or not plain or (noise == "auto" and not in_time):
        words = "noise= needs points, Euclidean distances and snapshots of equal weight"
        words += ", and noise='auto' particles in order of time"
        raise ValueError(f"{ensemble.prefix}{words}: leave it out")
    errors = estimate_errors(ensemble) if noise == "auto" else np.array(noise, np.float64)
    if errors.shape[-1] not in (1, ensemble.n_dimensions):
        words = f"noise= takes one error, or one for each of {ensemble.n_dimensions} axes"
        raise ValueError(f"{words}, got {len(errors)}")
    shape = ensemble.n_sites, ensemble.n_dimensions
    return PositionErrors(ensemble, np.broadcast_to(errors**2, shape))


def _room(limit: int | None) -> float:
    """Return how many bytes estimates may add up to."""
    left = memory.available() if limit is None else limit - memory.usage()
    return 1e17 if left is None else left / _MARGIN


def _chunk(task: Task, n_kept: int) -> int:
    """Return how many pairs are measured at a time, if there is memory for what comes later."""
    objects, limit = task.objects, task.settings.memory
    used = objects.centres() if objects.are_points else objects.ensemble
    block = 30.0 * min(used.block_length, used.n_snapshots) * used.n_sites * used.n_dimensions
    stays = 72 * n_kept + 1_000 * len(objects) + block
    if task.settings.confidence is not False:  # sums over parts of the snapshots
        stays += min(4e8, 46.0 * min(N_PARTS, used.n_snapshots) * n_kept)
    per_pair, room = 1e9 / chunk_for(objects, 1_000_000_000), _room(limit)
    needed = stays + min(_SMALLEST, n_kept) * per_pair
    if needed > room:
        raise ValueError(
            f"measuring σ needs about {memory.shown(_MARGIN * needed + memory.usage())} of memory, "
            f"and {memory.shown(max(0.0, _MARGIN * room) + memory.usage())} are allowed: select "
            "fewer sites (select=), compare nearer pairs (pairs=), or allow more (memory=)"
        )
    return min(chunk_for(objects), int((room - stays) / per_pair))
