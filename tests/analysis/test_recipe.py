"""Golden and property tests of the recipe: what it chooses, and what it makes of any input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.golden import load_json, recipes
from tests.golden.digests import digest
from timme import analyse, read
from timme.analysis.result import Analysis

RUNS, FROZEN = recipes.runs(), load_json("recipes")
RENAMED = {"start": "begin", "stop": "end"}
SMALL_BOXES = "water-box", "water-box-unwrapped", "water-box-oxygens"  # 10 Å reach beyond half


def analysed(name: str) -> Analysis:
    run = RUNS[name]
    missing = [path for path in run.trajectories if not path.exists()]
    source = run.source()
    if missing or (hasattr(source, "exists") and not source.exists()):
        pytest.skip("needs the shared data")
    if run.bonds is not None:
        source = read(source, bonds=run.bonds)
    options = {RENAMED.get(key, key): value for key, value in run.options.items()}
    if name != "aligned-errors":
        options["confidence"] = False
    return analyse(source, *run.trajectories, **options)


@pytest.mark.parametrize("name", [name for name in RUNS if "error" not in FROZEN[name]])
def test_what_is_compared_and_found_is_what_was_frozen(name: str) -> None:
    found, frozen = analysed(name), FROZEN[name]
    system, settings = found.system, frozen["settings"]
    told = {
        "n_objects": found.atom_hierarchy.n_sites,
        "n_sites": len(system.sites),
        "n_snapshots": system.n_snapshots,
        "n_shown": len(system.shown),
        "shown_digest": digest(system.shown),
        "sequential": system.sequential,
        "unit": system.unit,
        "names_digest": digest(system.names),
    }
    assert told == {key: frozen["system"][key] for key in told}
    made = found.made
    assert (made.objects, made.length_name) == tuple(
        frozen["recipe"][key] for key in ("kind", "length_name")
    )
    if settings["objects"] != "auto":  # of a matrix nothing is chosen
        assert made.n_pairs == frozen["recipe"]["n_pairs"]
        assert getattr(made.settings, "min_bonds", None) == settings["min_bonds"]
        number = settings.get("radius", settings.get("neighbours"))
        rule = settings["pairs"] + (f":{number:g}" if number else "")
        pairs, words = getattr(made.settings, "pairs", None), frozen["recipe"]["compared"]
        assert (pairs, made.pairs) == (rule, words) or name in SMALL_BOXES
    assert made.length == pytest.approx(settings.get("length"))
    single = found.system.film is not None and found.system.film.dtype == np.float32
    for values, key in (
        (found.atom_hierarchy.heights, "heights"),
        (found.hierarchy.heights, "shown_heights"),
        (None if found.fluctuations is None else found.fluctuations.sigma, "sigma"),
    ):
        assert values is not None
        compare(values, frozen[key], 2e-5 if single else 1e-11)


def compare(values: Any, frozen: dict[str, float], tolerance: float) -> None:
    assert len(values) == frozen["count"]
    told = {
        "least": values.min(),
        "median": np.median(values),
        "largest": values.max(),
        "sum": values.sum(),
        "squares": (values**2).sum(),
    }
    for key, value in told.items():
        assert math.isclose(value, frozen[key], rel_tol=tolerance, abs_tol=1e-9), key


@pytest.mark.parametrize("name", [name for name in RUNS if "error" in FROZEN[name]])
def test_what_was_refused_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"\A[^\n]+\Z"):
        analysed(name)
