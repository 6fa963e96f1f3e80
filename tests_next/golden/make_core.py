"""Freeze the core: σ, heights, partitions, condensed trees and curves of the golden cases."""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import timme
from tests_next.golden import systems
from tests_next.golden.cases import CASES, Case, labels_of_groups
from tests_next.golden.digests import digest, rounded_digest
from tests_next.golden.systems import Floats, Ints, Plain
from timme import statistics
from timme.hierarchy import Hierarchy, condense
from timme.order import stripes

FOLDER = Path(__file__).parent
MOST_PAIRS = 900  # of which σ is stored one by one
N_SUMS = 100  # pieces of the list of pairs, of which the sum of σ is stored
N_CURVES = 20  # cutoffs at which clusters are counted
RESTRICTED_STEP = 7  # every seventh object is in the restricted hierarchy
SINGLE_FROM = 64  # snapshots from which single precision is summed in it
_CUTS = (0.3, 0.6, 0.9)  # places in the list of levels, near which the hierarchy is cut
_GUESSED = {
    "1bnr": "1bnr",
    "1omp-1anf": "1omp-1anf",
    "4ake-1ake": "4ake-1ake",
    "barnase-md": "barnase-md",
}  # systems without bonds in their files


def write(name: str, told: dict[str, Any]) -> None:
    """Write a JSON file beside this module, a line for each entry."""
    lines = [
        f"{json.dumps(key, ensure_ascii=False)}: "
        f"{json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(',', ':'))}"
        for key, value in sorted(told.items())
    ]
    text = ",\n".join(lines)
    (FOLDER / f"{name}.json").write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


def store(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write arrays into a compressed file of numpy."""
    named: dict[str, Any] = dict(arrays)
    np.savez_compressed(path, **named)


def atoms_of(made: Plain) -> timme.Atoms | None:
    """Names and bonds of a system as the package has them."""
    if made.atoms is None and not len(made.bonds):
        return None
    unnamed = timme.Atoms.unnamed(made.n_sites, bonds=made.bonds)
    if made.atoms is None:
        return unnamed
    names = made.atoms
    return timme.Atoms(
        names=names.names,
        elements=names.elements,
        resnames=names.resnames,
        resids=names.resids,
        icodes=unnamed.icodes,
        chains=names.chains,
        masses=made.masses,
        bonds=unnamed.bonds,
    )


def ensemble_of(made: Plain, reading: dict[str, Any] | None = None) -> timme.Ensemble:
    """Make an ensemble of plain arrays, or read them as an array in memory."""
    if reading is None:
        return timme.Ensemble.from_array(
            made.coordinates,
            boxes=made.box,
            atoms=atoms_of(made),
            weights=made.weights,
            unit=made.unit,
            gaps=made.gaps,
        )
    return timme.read(
        made.coordinates,
        box=made.box,
        bonds=made.bonds,
        unit=made.unit or None,
        gaps=made.gaps,
        weights=made.weights,
        **reading,
    )


def objects_of(ensemble: timme.Ensemble, case: Case) -> timme.objects.Objects:
    """Make the objects of a case."""
    options = dict(case.made)
    if case.objects != "groups":
        made: timme.objects.Objects = getattr(timme.objects, case.objects)(ensemble, **options)
        return made
    labels = labels_of_groups(ensemble.n_sites, options.pop("size"))
    return timme.objects.groups(ensemble, labels, **options)


def freeze_bonds() -> None:
    """Guess and store the bonds of systems whose files have none."""
    from timme.readers import guess_bonds

    bonds = {}
    for system, name in _GUESSED.items():
        made = systems.SYSTEMS[system]()
        atoms = atoms_of(made)
        assert atoms is not None
        bonds[name] = guess_bonds(atoms, made.coordinates[0]).astype(np.int32)
    store(FOLDER / "bonds.npz", bonds)
    systems.frozen_bonds.cache_clear()
    for loader in (
        systems.barnase_nmr,
        systems.maltose_binding,
        systems.adenylate_xray,
        systems.barnase_md,
    ):
        loader.cache_clear()


def freeze_core(only: list[str]) -> None:
    """Compute every case, and store its arrays and facts."""
    folder = FOLDER / "core"
    folder.mkdir(exist_ok=True)
    for name, case in CASES.items():
        if only and name not in only:
            continue
        arrays, facts = run_case(case)
        arrays["facts"] = np.array(json.dumps(facts, ensure_ascii=False, sort_keys=True))
        store(folder / f"{name}.npz", arrays)
        sys.stderr.write(f"{name}: {facts['n_objects']} objects, {facts['n_pairs']} pairs\n")


def freeze_inputs() -> None:
    """Store digests of the inputs."""
    inputs = {
        name: {
            "shape": list(made.coordinates.shape),
            "dtype": str(made.coordinates.dtype),
            "coordinates": rounded_digest(made.coordinates),
            "bonds": digest(made.bonds),
        }
        for name, make in systems.SYSTEMS.items()
        for made in [make()]
    }
    write("inputs", inputs)


def run_case(case: Case) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """Arrays and facts of one case."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ensemble = ensemble_of(case.plain(), case.reading)
        objects = objects_of(ensemble, case)
        pairs = getattr(timme.pairs, case.pairs)(objects, **case.chosen)
        sigma = timme.measure(
            objects,
            pairs,
            min_overlap=case.min_overlap,
            metric=case.metric,
        )
        tree = timme.link(sigma, linkage=case.linkage)
    ranked = np.lexsort((sigma.pairs[:, 1], sigma.pairs[:, 0]))
    index, values, common = sigma.pairs[ranked], sigma.sigma[ranked], sigma.common[ranked]
    picked = np.unique(np.linspace(0, len(values) - 1, MOST_PAIRS).astype(np.int64))
    bounds = np.linspace(0, len(values), N_SUMS, endpoint=False).astype(np.int64)
    dtype = ensemble.frames.read(0, 1)[0].dtype
    rounded = dtype == np.float32 and ensemble.n_snapshots >= SINGLE_FROM
    arrays = {
        "pairs": index[picked].astype(np.int32),
        "sigma": values[picked].astype(np.float32 if rounded else np.float64),
        "common": common[picked].astype(np.int32),
        "sums": np.add.reduceat(values, np.unique(bounds)),
        **arrays_of_tree(tree),
    }
    facts = {
        "dtype": str(dtype),
        "n_objects": len(objects),
        "n_chosen": len(pairs),
        "n_pairs": len(values),
        "n_trees": int(np.count_nonzero(tree.parents < 0)),
        "pairs_digest": digest(index),
        "common_digest": digest(common),
        "members_digest": digest(objects.members),
        "offsets_digest": digest(objects.offsets),
        "names_digest": digest(objects.names),
        "first_names": objects.names[:3].tolist(),
        "anchors_digest": digest(objects.anchors),
        "reduction": objects.reduction,
        "description": pairs.description,
        "unit": sigma.unit,
        "near_half_box": _near_half_box([str(each.message) for each in caught]),
    }
    return arrays, facts


def _near_half_box(messages: list[str]) -> int:
    """Number of pairs that come near half the box, of which a warning tells."""
    found = [re.match(r"([\d,]+) of [\d,]+ pairs come near", message) for message in messages]
    return max((int(each[1].replace(",", "")) for each in found if each), default=0)


def arrays_of_tree(tree: Hierarchy) -> dict[str, npt.NDArray[Any]]:
    """All of a hierarchy, its cuts, curves, stripes and condensed tree."""
    cutoffs = np.array([_clear_cutoff(tree.levels, place) for place in _CUTS])
    restricted = tree.restrict(np.arange(0, tree.n_sites, RESTRICTED_STEP))
    small = np.int16 if len(tree.parents) < 2**15 else np.int32
    places = _middles(tree.levels, N_CURVES)
    counted = statistics.curves(tree, cutoffs=places)
    condensed = condense(tree, min_size=min(10, max(2, tree.n_sites // 10)))
    drawn = stripes(tree)
    return {
        "heights": tree.heights,
        "parents": tree.parents.astype(small),
        "order": tree.order.astype(small),
        "restricted_heights": restricted.heights,
        "restricted_parents": restricted.parents.astype(small),
        "cutoffs": cutoffs,
        "labels": np.array([tree.cut(cutoff).labels for cutoff in cutoffs]).astype(small),
        "curve_cutoffs": places,
        "curve_clusters": counted.n_clusters.astype(np.int32),
        "curve_largest": counted.largest.astype(np.int32),
        "curve_mean_size": counted.mean_size,
        "curve_size_fractions": counted.size_fractions,
        "curve_large_fraction": counted.large_fraction,
        "inflection": np.array(statistics.inflection(statistics.curves(tree)), np.float64),
        "long_lived": statistics.long_lived(tree),
        "condensed_min_size": np.array(condensed.min_size),
        "condensed_nodes": condensed.nodes.astype(np.int32),
        "condensed_parents": condensed.parents.astype(np.int32),
        "condensed_births": condensed.births,
        "condensed_deaths": condensed.deaths,
        "condensed_sizes": condensed.sizes.astype(np.int32),
        "condensed_shares": condensed.shares,
        "stripes_digest": np.array(
            digest(np.column_stack([drawn.start, drawn.stop, drawn.family]))
        ),
        "n_stripes": np.array(len(drawn.start)),
    }


def _middles(levels: Floats, count: int) -> Floats:
    """Cutoffs in the middle between two levels, spread over all of them."""
    if len(levels) < 2:
        return np.array(levels)
    lower = np.unique(np.linspace(0, len(levels) - 2, count).astype(np.int64))
    return np.asarray((levels[lower] + levels[lower + 1]) / 2)


def _clear_cutoff(levels: Floats, place: float) -> float:
    """Cutoff near a place in the levels, in the widest of the gaps around it."""
    if len(levels) < 2:
        return float(levels[0])
    middle = round(place * (len(levels) - 2))
    reach = max(1, len(levels) // 20)
    first, last = max(0, middle - reach), min(len(levels) - 1, middle + reach + 1)
    gaps = np.diff(levels[first : last + 1])
    lower: Ints = first + np.argmax(gaps, keepdims=True)
    return float((levels[lower[0]] + levels[lower[0] + 1]) / 2)
