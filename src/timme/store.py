"""An Analysis ↔ one file: a zip archive of plain arrays and a text in JSON, nothing executable."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import IO, Any

import numpy as np

from timme._arrays import frozen, indices
from timme.analysis import Analysis
from timme.engine.checkpoint import DAMAGE
from timme.fluctuations import Fluctuations
from timme.hierarchy import Hierarchy, Quantity
from timme.rigidity import Network
from timme.system.atoms import Atoms

FORMAT = 2
_MARK = "timme result"
_PLAIN = (
    "length",
    "length_name",
    "shown_name",
    "sequential",
    "n_snapshots",
    "settings",
    "provenance",
    "notes",
)
_NETWORK = ("bonds", "bars", "kinds", "energies")
_ARRAYS = ("shown", "names", "object_sites", "site_objects", "coordinates")


def save(analysis: Analysis, file: str | Path | IO[bytes]) -> None:
    """Write an analysis into one file.

    Parameters
    ----------
    analysis : Analysis
        What to keep.
    file : path or binary file
        Where to write.
    """
    hierarchy, pairs = analysis.hierarchy, analysis.fluctuations
    arrays: dict[str, Any] = {name: getattr(analysis, name) for name in _ARRAYS}
    arrays |= {"parents": hierarchy.parents, "heights": hierarchy.heights}
    arrays |= {
        f"atoms.{f.name}": getattr(analysis.sites, f.name) for f in dataclasses.fields(Atoms)
    }
    for name in ("box", "snapshots"):
        if getattr(analysis, name) is not None:
            arrays[name] = getattr(analysis, name)
    if pairs is not None:
        arrays |= {
            "pairs": pairs.pairs.astype(np.int32),
            "sigma": pairs.sigma,
            "common": pairs.common,
        }
    if analysis.network is not None:
        arrays |= {f"network.{name}": getattr(analysis.network, name) for name in _NETWORK}
    text = {name: getattr(analysis, name) for name in _PLAIN}
    text |= {
        "mark": _MARK,
        "format": FORMAT,
        "quantity": dataclasses.asdict(hierarchy.quantity),
    }
    arrays["text"] = np.frombuffer(json.dumps(text, ensure_ascii=False).encode(), dtype=np.uint8)
    if isinstance(file, str | Path):
        with Path(file).open("wb") as handle:
            np.savez_compressed(handle, **arrays)
    else:
        np.savez_compressed(file, **arrays)


def load(path: str | Path) -> Analysis:
    """Read an analysis back.

    Parameters
    ----------
    path : path
        A file written by :func:`save`.

    Returns
    -------
    Analysis
        The same data.
    """
    with Path(path).open("rb") as file:  # which np.load leaves open if it fails
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
            f"{path}: not a result of timme, or a damaged one: give the result.npz of a run"
        )
    raise ValueError(
        f"{path}: written in format {other}, this version reads format {FORMAT}: "
        "use the version that wrote it, or run the analysis again"
    )


def _analysis(arrays: dict[str, Any], text: dict[str, Any]) -> Analysis:
    hierarchy = Hierarchy(arrays["parents"], arrays["heights"], Quantity(**text["quantity"]))
    pairs = None
    if "pairs" in arrays:
        pairs = Fluctuations(
            n_objects=hierarchy.n_sites,
            pairs=frozen(arrays["pairs"].astype(np.int64)),
            sigma=arrays["sigma"],
            common=arrays["common"],
            unit=hierarchy.unit,
        )
    sites = Atoms(*(arrays[f"atoms.{f.name}"] for f in dataclasses.fields(Atoms)))
    network = None
    if "network.bonds" in arrays:
        columns = {name: arrays[f"network.{name}"] for name in _NETWORK}
        network = Network(n_bodies=len(sites), **columns)
    plain = {name: text[name] for name in _PLAIN} | {"notes": tuple(text["notes"])}
    made = Analysis(
        hierarchy=hierarchy,
        fluctuations=pairs,
        sites=sites,
        network=network,
        box=arrays.get("box"),
        snapshots=arrays.get("snapshots"),
        **{name: arrays[name] for name in _ARRAYS},
        **plain,
    )
    _refuse_misfits(made)
    return made


def _refuse_misfits(made: Analysis) -> None:
    """Refuse arrays that do not fit together; a zip archive checks each for itself only."""
    n_objects, n_sites = made.hierarchy.n_sites, len(made.sites)
    indices(made.shown, n_objects, "shown objects")
    fits = (
        made.names.shape == made.object_sites.shape == (n_objects,)
        and made.site_objects.shape == (n_sites,)
        and made.coordinates.ndim == 2
        and len(made.coordinates) == n_sites
        and made.object_sites.min() >= 0
        and made.object_sites.max() < n_sites
        and made.site_objects.min() >= -1
        and made.site_objects.max() < n_objects
        and (made.snapshots is None or made.snapshots.shape[1:] == made.coordinates.shape)
    )
    if not fits:
        raise ValueError("arrays of different systems")
