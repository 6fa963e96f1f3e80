"""Golden results of the core: σ of every golden case, from arrays on."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.golden import load_core
from tests.golden.cases import CASES, Case, labels_of_groups
from tests.golden.digests import digest
from tests.golden.systems import Plain
from timme import objects as make_objects
from timme import pairs as choose_pairs
from timme.ensemble import Atoms, Ensemble
from timme.ensemble.bonds import trace_steps
from timme.ensemble.molecules import with_whole_molecules
from timme.ensemble.unwrapping import fixed_images, molecules_of, unwrap
from timme.fluctuations import Fluctuations, measure
from timme.hierarchy import Hierarchy, condense, link
from timme.hierarchy.curves import count_clusters, inflection
from timme.hierarchy.stripes import lay_out_stripes
from timme.objects import Objects
from timme.pairs import Pairs

TIES = {"cloud-hamming"}  # some heights are closer than the tolerance, so they join in other steps
RESTRICTED_STEP = 7  # of the shown sites


def ensemble_of(made: Plain) -> Ensemble:
    atoms = None
    if made.atoms is not None or len(made.bonds) > 0:
        atoms = Atoms.unnamed(made.n_sites, bonds=made.bonds)
    if atoms is not None and made.atoms is not None:
        atoms = replace(atoms, **made.atoms._asdict(), masses=made.masses)
    ensemble = Ensemble.from_array(
        made.coordinates,
        boxes=made.box,
        atoms=atoms,
        weights=made.weights,
        unit=made.unit,
        gaps=made.gaps,
    )
    if made.atoms is None or made.unit != "Å":
        return ensemble

    def distances(one: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> Any:
        chosen = made.coordinates[[0, len(made.coordinates) // 2, -1]]
        return np.median(np.linalg.norm(chosen[:, one] - chosen[:, other], axis=2), axis=0)

    traces, bonds = trace_steps(ensemble.atoms, distances)
    return replace(ensemble, traces=traces, atoms=replace(ensemble.atoms, bonds=bonds))


@cache
def run(name: str) -> tuple[Objects, Pairs, Fluctuations]:
    """Objects, pairs and σ of a case, with its warnings ignored."""
    case = CASES[name]
    objects = objects_of(case)
    pairs = getattr(choose_pairs, case.pairs)(objects, **case.chosen)
    options: Any = {"min_overlap": case.min_overlap, "metric": case.metric}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return objects, pairs, measure(objects, pairs, **options)


def objects_of(case: Case) -> Objects:
    made, options = case.plain(), dict(case.made)
    if case.reading is None:
        ensemble = ensemble_of(made)
    else:
        ensemble = with_whole_molecules(ensemble_of(replace(made, atoms=None)))
    if case.reading == {"unwrap": True}:
        frames, molecules = ensemble.frames, molecules_of(ensemble)
        unwrapped = frames.then(unwrap(frames, molecules))
        ensemble = replace(ensemble, frames=unwrapped, images=fixed_images(ensemble))
    if case.objects == "groups":
        labels = labels_of_groups(ensemble.n_sites, options.pop("size"))
        return make_objects.groups(ensemble, labels, **options)
    found: Objects = getattr(make_objects, case.objects)(ensemble, **options)
    return found


@pytest.mark.parametrize("name", CASES)
def test_sigma_is_that_of_the_golden_case(name: str) -> None:
    objects, pairs, found = run(name)
    golden = load_core(name)
    facts = golden["facts"]
    order = np.lexsort((found.pairs[:, 1], found.pairs[:, 0]))
    index, sigma, common = found.pairs[order], found.sigma[order], found.common[order]
    told = {
        "n_objects": len(objects),
        "members_digest": digest(objects.members),
        "offsets_digest": digest(objects.offsets),
        "names_digest": digest(objects.names),
        "anchors_digest": digest(objects.anchors),
        "reduction": objects.reduction,
        "description": pairs.description,
        "n_chosen": len(pairs),
        "n_pairs": len(index),
        "pairs_digest": digest(index),
        "common_digest": digest(common),
        "unit": found.unit,
        "near_half_box": found.n_near_half_box,
    }
    assert told == {name: facts[name] for name in told}
    # Single precision is summed in it from 64 snapshots on, in any order; double agrees to the
    # rounding of distances, of which σ is a difference.
    single = golden["sigma"].dtype == np.float32
    places = np.linspace(0, len(sigma) - 1, len(golden["sigma"])).astype(np.int64)
    relative, absolute = (2e-5, 0.0) if single else (1e-12, 1e-13)
    np.testing.assert_allclose(sigma[places], golden["sigma"], relative, absolute)
    bounds = np.unique(np.linspace(0, len(sigma), 100, endpoint=False).astype(np.int64))
    sums = np.add.reduceat(sigma, bounds)
    np.testing.assert_allclose(sums, golden["sums"], relative, absolute)


@pytest.mark.parametrize("name", CASES)
def test_the_hierarchy_is_that_of_the_golden_case(name: str) -> None:
    golden = load_core(name)
    tree = link(run(name)[2], linkage=CASES[name].linkage)
    close = partial(np.testing.assert_allclose, atol=1e-13)
    tolerance = 2e-5 if golden["sigma"].dtype == np.float32 else 1e-12
    if name in TIES:
        tree = Hierarchy(golden["parents"].astype(np.int64), golden["heights"], tree.quantity)
    restricted = tree.restrict(np.arange(0, tree.n_sites, RESTRICTED_STEP))
    condensed = condense(tree, min_size=int(golden["condensed_min_size"]))
    for prefix, found in (("", tree), ("restricted_", restricted), ("condensed_", condensed)):
        for field in ("parents", "order", "nodes", "sizes"):
            if prefix + field in golden:
                assert getattr(found, field).tolist() == golden[prefix + field].tolist()
        for field in ("heights", "births", "deaths"):
            if prefix + field in golden:
                close(getattr(found, field), golden[prefix + field], tolerance)
    for cutoff, labels in zip(golden["cutoffs"], golden["labels"], strict=True):
        assert tree.cut(cutoff).labels.tolist() == labels.tolist()
    counted = count_clusters(tree, cutoffs=golden["curve_cutoffs"])
    assert counted.n_clusters.tolist() == golden["curve_clusters"].tolist()
    assert counted.largest.tolist() == golden["curve_largest"].tolist()
    for field in ("mean_size", "size_fractions", "large_fraction"):
        close(getattr(counted, field), golden[f"curve_{field}"], 1e-14)
    steepest = inflection(count_clusters(tree))
    close(np.nan if steepest is None else steepest, golden["inflection"], tolerance)
    drawn = lay_out_stripes(tree)
    columns = np.column_stack([drawn.start, drawn.stop, drawn.family])
    assert digest(columns) == str(golden["stripes_digest"])
