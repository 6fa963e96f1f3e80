"""An Analysis ↔ one file: a zip archive of plain arrays and a text in JSON, nothing executable."""

from __future__ import annotations

import dataclasses
import json
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from timme._arrays import frozen, indices
from timme._version import __version__
from timme.analysis import KINDS, Analysis, Input, Provenance, Recipe, System, require_analysis
from timme.engine.checkpoint import DAMAGE
from timme.hierarchy.quantity import Quantity
from timme.hierarchy.tree import Hierarchy
from timme.settings import Display, RigidSettings, Settings
from timme.system.atoms import Atoms

FORMAT = 3
RESULT = "result.npz"  # in the folder of a run
_MARK = "timme result"
_LEVEL = 3  # of compression; numpy's, 6, takes 2.5 × as long and saves a fifteenth
_NEEDED = ("shown", "names", "object_sites", "site_objects", "coordinates")  # of the system
_OPTIONAL = ("box", "film", "atom_numbers")
_PLAIN = ("shown_name", "sequential", "n_snapshots", "unit")
_SETTINGS: dict[str, type[Display]] = {  # kinds of them, by the names under which they are stored
    "pictures": Display,
    "run": Settings,
    "rigidity": RigidSettings,
}


def save(analysis: Analysis, file: str | Path | IO[bytes]) -> None:
    """Write an analysis into one file.

    Parameters
    ----------
    analysis : Analysis
        What to keep.
    file : path or binary file
        Where to write.
    """
    require_analysis(analysis, "save")
    system, hierarchy = analysis.system, analysis.hierarchy
    arrays: dict[str, Any] = {name: getattr(system, name) for name in (*_NEEDED, *_OPTIONAL)}
    arrays |= {"parents": hierarchy.parents, "heights": hierarchy.heights}
    arrays |= {f"atoms.{f.name}": getattr(system.sites, f.name) for f in dataclasses.fields(Atoms)}
    for part in analysis.parts:
        arrays |= {f"{part.name}.{name}": array for name, array in part.to_arrays().items()}
    arrays = {name: array for name, array in arrays.items() if array is not None}
    text = {
        "mark": _MARK,
        "format": FORMAT,
        "quantity": dataclasses.asdict(hierarchy.quantity),
        "system": {name: getattr(system, name) for name in _PLAIN},
        "recipe": _recipe_text(analysis.recipe),
        "parts": [part.name for part in analysis.parts],
        "notes": analysis.notes,
    }
    arrays["text"] = np.frombuffer(json.dumps(text).encode(), dtype=np.uint8)
    packed = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)
    with packed as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asanyarray(array), allow_pickle=False)


def load(path: str | Path) -> Analysis:
    """Read an analysis back.

    Parameters
    ----------
    path : path
        A file written by :func:`save`, or the folder of a run.

    Returns
    -------
    Analysis
        The same data. Parts and settings that only a newer version knows are left out, with a note.
    """
    path = Path(path)
    if path.is_dir():
        path /= RESULT
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file: give the {RESULT} of a run")
    with path.open("rb") as file:  # which np.load leaves open if it fails
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays = {name: frozen(archive[name]) for name in archive.files}
            text = json.loads(arrays.pop("text").tobytes())
            if text["mark"] == _MARK and text["format"] == FORMAT:
                return _analysis(arrays, text)
            other = text["format"] if text["mark"] == _MARK else None
        except DAMAGE:
            other = None
    if other is None:
        raise ValueError(
            f"{path}: not a result of timme, or a damaged one: give the {RESULT} of a run"
        )
    raise ValueError(
        f"{path}: written in format {other}, this version reads format {FORMAT}: "
        "use the version that wrote it, or run the analysis again"
    )


def _analysis(arrays: dict[str, Any], text: dict[str, Any]) -> Analysis:
    hierarchy = Hierarchy(arrays["parents"], arrays["heights"], Quantity(**text["quantity"]))
    known: dict[str, Any] = {name: arrays[name] for name in _NEEDED}
    known |= {name: arrays.get(name) for name in _OPTIONAL}
    known |= {name: text["system"][name] for name in _PLAIN}
    sites = Atoms(*(arrays[f"atoms.{f.name}"] for f in dataclasses.fields(Atoms)))
    system = System(sites=sites, **known)
    _refuse_misfits(system, hierarchy)
    parts = tuple(
        KINDS[name].from_arrays(_within(arrays, f"{name}."), system, hierarchy)
        for name in text["parts"]
        if name in KINDS
    )
    recipe, unknown = _recipe(text["recipe"])
    left_out = (
        *(f"the part {name!r}" for name in text["parts"] if name not in KINDS),
        *(f"the setting {name!r}" for name in unknown),
    )
    wrote = f"timme {recipe.provenance.version}".rstrip()
    notes = (
        f"left out {what}: {wrote} wrote it, and this version, {__version__}, does not know it; "
        "load the result with a newer version to see it"
        for what in left_out
    )
    return Analysis(system, hierarchy, recipe, (*text["notes"], *notes), parts)


def _recipe_text(recipe: Recipe) -> dict[str, Any]:
    kept = {field.name: getattr(recipe, field.name) for field in dataclasses.fields(Recipe)}
    kind = next(name for name, kind in _SETTINGS.items() if type(recipe.settings) is kind)
    return kept | {
        "settings": {kind: recipe.settings.plain()},
        "provenance": dataclasses.asdict(recipe.provenance),
    }


def _recipe(text: dict[str, Any]) -> tuple[Recipe, list[str]]:
    """Make the recipe, and name the settings that this version does not know."""
    ((kind, chosen),) = text.pop("settings").items()
    known = {field.name for field in dataclasses.fields(_SETTINGS[kind])}
    settings = _SETTINGS[kind](**{name: chosen[name] for name in chosen if name in known})
    origin = text.pop("provenance")
    inputs = tuple(Input(**entry) for entry in origin.pop("inputs"))
    paths = tuple(origin.pop("paths", ()))
    provenance = Provenance(inputs=inputs, paths=paths, **origin)
    recipe = Recipe(settings=settings, provenance=provenance, **text)
    return recipe, [name for name in chosen if name not in known]


def _within(arrays: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Return the arrays of one part, by their names in it."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def _refuse_misfits(system: System, hierarchy: Hierarchy) -> None:
    """Refuse arrays that do not fit together; a zip archive checks each for itself only."""
    n_objects, n_sites = hierarchy.n_sites, len(system.sites)
    indices(system.shown, n_objects, "shown objects")
    fits = (
        system.names.shape == system.object_sites.shape == (n_objects,)
        and system.site_objects.shape == (n_sites,)
        and system.coordinates.ndim == 2
        and len(system.coordinates) == n_sites
        and system.object_sites.min() >= 0
        and system.object_sites.max() < n_sites
        and system.site_objects.min() >= -1
        and system.site_objects.max() < n_objects
        and (system.atom_numbers is None or system.atom_numbers.shape == (n_sites,))
        and (system.film is None or system.film.shape[1:] == system.coordinates.shape)
    )
    if not fits:
        raise ValueError("arrays of different systems")
