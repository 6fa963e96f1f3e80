"""Freeze what the default recipe chooses for each run: the kind of system, objects, pairs, …"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

import timme
from tests_next.golden.digests import digest, without_folders
from tests_next.golden.make_core import write
from tests_next.golden.recipes import Run, runs
from timme import settings
from timme.workflow.defaults import kind_of


def freeze_recipes() -> None:
    """Run every recipe, and store what was chosen and found."""
    told = {}
    for name, run in runs().items():
        told[name] = _told_by(run)
        sys.stderr.write(f"{name}: {told[name].get('recipe', told[name])}\n")
    write("recipes", told)


def freeze_settings() -> None:
    """Store the defaults, choices and limits of all settings."""
    told = {}
    for kind in (settings.Settings, settings.RigidSettings, settings.CompareSettings):
        for each in settings.settings_of(kind):
            about = each.about
            told[f"{kind.__name__}.{each.name}"] = {
                "default": each.default,
                "usual": about.usual,
                "kind": each.kind.__name__,
                "many": each.many,
                "choices": list(about.choices),
                "least": about.least,
                "most": about.most,
                "positive": about.positive,
                "flags": list(each.flags),
                "group": about.group,
            }
    write("settings", told)


def _told_by(run: Run) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are notes of the result
        try:
            found = timme.analyse(
                _source(run), [str(each) for each in run.trajectories], **run.options
            )
        except (ValueError, TypeError) as error:
            return {"error": without_folders(str(error))}
        kind = _kind(run)
    recipe, system, tree = found.recipe, found.system, found.hierarchy
    sigma = found.fluctuations
    return {
        "kind_of_system": kind,
        "recipe": {
            "kind": recipe.kind,
            "n_pairs": recipe.n_pairs,
            "compared": recipe.compared,
            "length_name": recipe.length_name,
        },
        "settings": {
            key: value for key, value in recipe.settings.plain().items() if value is not None
        },
        "system": {
            "n_objects": tree.n_sites,
            "n_sites": len(system.sites),
            "n_snapshots": system.n_snapshots,
            "n_shown": len(system.shown),
            "shown_digest": digest(system.shown),
            "shown_name": system.shown_name,
            "sequential": system.sequential,
            "unit": system.unit,
            "box": None if system.box is None else system.box.tolist(),
            "first_names": system.names[:3].tolist(),
            "names_digest": digest(system.names),
        },
        "quantity": [tree.quantity.symbol, tree.quantity.unit],
        "heights": _spread(tree.heights),
        "shown_heights": _spread(found.shown_hierarchy.heights),
        "sigma": None if sigma is None else _spread(sigma.sigma),
        "suggested_cutoffs": [each.cutoff for each in found.suggest()],
        "parts": [part.name for part in found.parts],
        "notes": [without_folders(note) for note in found.notes],
    }


def _source(run: Run) -> Any:
    """What is analysed; an array with its bonds is read first."""
    source = run.source()
    return source if run.bonds is None else timme.read(source, bonds=run.bonds)


def _kind(run: Run) -> str:
    """Kind of system of the sites that are analysed by default."""
    source = _source(run)
    if isinstance(source, np.ndarray) and source.ndim == 2:
        return "matrix"
    from timme.settings import READING, Settings
    from timme.settings.schema import change
    from timme.workflow.recipe import read_source

    options = {key: value for key, value in run.options.items() if key in {*READING, "select"}}
    chosen: Any = change(Settings(), "analyse", **options)
    return kind_of(read_source(source, [str(each) for each in run.trajectories], chosen, None))


def _spread(values: Any) -> dict[str, float]:
    """Number, extremes and moments of some values."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return {"count": 0}
    return {
        "count": len(values),
        "least": float(finite.min()),
        "median": float(np.median(finite)),
        "largest": float(finite.max()),
        "sum": float(finite.sum()),
        "squares": float((finite**2).sum()),
    }
