"""Systems that come with the package: those of the paper, simulated anew, and a few more.

Each was made by a script; `records` has the script, the seed and the versions.
PDB entries are not included: ``timme.read("pdb:1bnr")`` downloads one by its code.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from timme.ensemble import Ensemble
from timme.io import read

__all__ = ["barnase_md", "crowd", "kinase", "path", "records", "ring_road", "spheres", "water_drop"]

_FILES = Path(__file__).parent / "files"


def records() -> dict[str, Any]:
    """Return how the files of each system were made: script, seed, versions, files, measurements.

    Returns
    -------
    dict of dict
        By name of the system.

    Examples
    --------
    >>> records()["ring_road"]["script"]
    'examples/simulate/ring_road.py'
    """
    found = _FILES.glob("*.json")
    return {each.stem: json.loads(each.read_text("utf-8")) for each in found}


def path(file: str) -> Path:
    """Return the path of a file of the package, for programs that need files; do not change it.

    Parameters
    ----------
    file : str
        Its name, as in `records`.

    Returns
    -------
    Path
        Of the file.

    Examples
    --------
    >>> path("crowd.csv").is_file()
    True
    """
    known = [name for record in records().values() for name in record["files"]]
    if file not in known:
        raise ValueError(f"the files are {', '.join(sorted(known))}, got {file!r}")
    return _FILES / file


def kinase() -> Ensemble:
    """Return adenylate kinase closing: a structure-based simulation with two states.

    The model knows the contacts of the open crystal structure 4AKE and of the closed one, 1AKE;
    the path between them and the fluctuations follow. Times are those of the model, not of the
    enzyme.

    Returns
    -------
    Ensemble
        Heavy atoms of chain A in 150 snapshots, in open space.

    Examples
    --------
    >>> kinase().n_sites
    1656
    """
    return _trajectory("kinase", dense=False)


def barnase_md(*, dense: bool = False) -> Ensemble:
    """Return barnase, simulated in water at 300 K from its crystal structure; the protein alone.

    Parameters
    ----------
    dense : bool, optional
        Every ps for 0.1 ns, as long as the run of the paper, instead of every 2 ps for 0.5 ns.

    Returns
    -------
    Ensemble
        All atoms, in open space.

    Examples
    --------
    >>> barnase_md().n_sites
    1700
    """
    return _trajectory("barnase_md", dense=dense)


def water_drop(*, dense: bool = False) -> Ensemble:
    """Return a drop of 1000 water molecules in vacuum at 273.15 K.

    Parameters
    ----------
    dense : bool, optional
        All atoms every 0.05 ps for 5 ps, instead of oxygens every ps for 0.2 ns.

    Returns
    -------
    Ensemble
        In open space.

    Examples
    --------
    >>> water_drop().n_sites
    1000
    """
    return _trajectory("water_drop", dense=dense)


def spheres(*, fluid: bool = False, noisy: bool = False) -> Ensemble:
    """Return 991 attracting spheres, 1.3 µm across, between two plates.

    Parameters
    ----------
    fluid : bool, optional
        A dense fluid, in which spheres rattle in cages of their neighbours, instead of a gel, an
        arrested network among mobile spheres.
    noisy : bool, optional
        With the error of a confocal microscope: 0.03 µm in the plane, 0.05 µm in depth.

    Returns
    -------
    Ensemble
        In µm, periodic along the plates and open across them.

    Examples
    --------
    >>> spheres().n_sites
    991
    """
    with np.load(path(f"spheres{'_fluid' * fluid}{'_noisy' * noisy}.npz")) as kept:
        return Ensemble.from_array(kept["positions"], boxes=kept["box"], unit="µm")


def crowd() -> Ensemble:
    """Return people who cross a square, some of them in parties.

    Returns
    -------
    Ensemble
        In m, with gaps where a person is not seen.

    Examples
    --------
    >>> crowd().gaps
    True
    """
    return read(path("crowd.csv"), unit="m")


def ring_road() -> Ensemble:
    """Return cars on a ring road, most of them in platoons.

    Returns
    -------
    Ensemble
        Positions along the road in m, in one periodic dimension.

    Examples
    --------
    >>> ring_road().n_dimensions
    1
    """
    length = records()["ring_road"]["measured"]["length_m"]
    columns = ("frame", "particle", "along")
    return read(path("ring_road.csv"), columns=columns, box=[length], unit="m")


def _trajectory(name: str, *, dense: bool) -> Ensemble:
    stem = name + "_dense" * dense
    return read(path(f"{stem}.pdb"), path(f"{stem}.xtc"))
