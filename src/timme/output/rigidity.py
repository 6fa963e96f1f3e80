"""Rigidity of one structure in words and tables: constraints, hinges, stress, flexibility."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from timme._arrays import Floats
from timme._files import write_atomically
from timme.analysis import Analysis
from timme.output.tables import csv_text, with_unit
from timme.rigidity import Decomposition, Network
from timme.rigidity.checks import counted
from timme.rigidity.flexibility import residue_flexibility
from timme.rigidity.lists import constraints_csv
from timme.rigidity.network import BARS
from timme.system.ensemble import Ensemble
from timme.system.residues import residue_index

_DIGITS = 12  # of a fraction, so that what is left of 1 is a short number again


def write_rigidity(
    analysis: Analysis, network: Network, found: Decomposition, folder: str | Path
) -> tuple[Path, ...]:
    """Write what holds a structure together, and where it can move.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    network : Network
        Its constraints.
    found : Decomposition
        Of that network, at the cutoff of the pictures.
    folder : str or Path
        An existing folder.

    Returns
    -------
    tuple of Path
        ``constraints.csv``, which can be edited and read again, ``flexibility.csv`` of residues and
        ``flexibility-bonds.csv``.
    """
    structure = Ensemble.from_array(analysis.coordinates[None], atoms=analysis.sites, unit="Å")
    contents = {
        "constraints.csv": constraints_csv(network, structure),
        "flexibility.csv": residues_csv(analysis, network, found),
        "flexibility-bonds.csv": bonds_csv(analysis, network, found),
    }
    return tuple(write_atomically(Path(folder) / name, text) for name, text in contents.items())


def residues_csv(analysis: Analysis, network: Network, found: Decomposition) -> str:
    """List the flexibility of residues, one per row.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    network : Network
        Its constraints.
    found : Decomposition
        Of that network.

    Returns
    -------
    str
        CSV. Flexibility is the mean of the backbone's bonds (N–Cα and Cα–C of amino acids): above 0
        they turn, below 0 they are under stress. Residues without a backbone are left out.
    """
    atoms = analysis.sites
    index = residue_flexibility(found.flexibility, network, atoms)
    first = np.unique(residue_index(atoms), return_index=True)[1]
    known = np.isfinite(index)
    site = first[known]
    columns: tuple[Iterable[object], ...] = (
        atoms.chains[site],
        atoms.resnames[site],
        np.char.add(atoms.resids[site].astype(str), atoms.icodes[site]),
        index[known].tolist(),
    )
    return csv_text(["chain", "residue", "number", "flexibility"], zip(*columns, strict=True))


def bonds_csv(analysis: Analysis, network: Network, found: Decomposition) -> str:
    """List what the pebble game says of every constraint, one per row.

    Parameters
    ----------
    analysis, network, found
        As for :func:`residues_csv`.

    Returns
    -------
    str
        CSV. A bond is a hinge, stressed, rigid, or broken: too weak for the cutoff.
    """
    label = {int(atom): analysis.sites.label(int(atom)) for atom in np.unique(network.bonds)}
    states = np.select(
        [found.independent < 0, found.hinges, found.stress >= 0],
        ["broken", "hinge", "stressed"],
        "rigid",
    )
    columns: tuple[Iterable[object], ...] = (
        network.kinds,
        _shown(network.energies),
        [label[one] for one in network.bonds[:, 0].tolist()],
        [label[other] for other in network.bonds[:, 1].tolist()],
        states,
        found.redundant,
        _shown(found.flexibility),
    )
    names = ["kind", with_unit("energy", "kcal/mol"), "label 1", "label 2", "state"]
    return csv_text([*names, "redundant bars", "flexibility"], zip(*columns, strict=True))


def write_together(analysis: Analysis, folder: str | Path) -> Path:
    """Write the fraction of snapshots in which two objects are in one rigid cluster.

    Parameters
    ----------
    analysis : Analysis
        Of an ensemble, of which fractions of pairs were kept.
    folder : str or Path
        An existing folder.

    Returns
    -------
    Path
        ``together.csv``, a matrix with names in the first row and column.
    """
    apart = analysis.fluctuations
    assert apart is not None  # noqa: S101 (that is when this is called)
    matrix = np.eye(apart.n_objects)
    fractions = np.round(1.0 - apart.sigma, _DIGITS)
    matrix[apart.pairs[:, 0], apart.pairs[:, 1]] = fractions
    matrix[apart.pairs[:, 1], apart.pairs[:, 0]] = fractions
    names = analysis.names.tolist()
    rows = ([name, *row] for name, row in zip(names, matrix.tolist(), strict=True))
    return write_atomically(Path(folder) / "together.csv", csv_text(["", *names], rows))


def constraints_text(network: Network) -> str:
    """Count the constraints of each kind.

    Parameters
    ----------
    network : Network
        Constraints.

    Returns
    -------
    str
        Such as "1,722: 1,500 × covalent, 222 × locked".
    """
    counted = [(kind, np.count_nonzero(network.of_kind(kind))) for kind in BARS]
    each = ", ".join(f"{count:,} × {kind}" for kind, count in counted if count)
    return f"{len(network.bonds):,}: {each}" if each else "none"


def decomposition_text(found: Decomposition, *, min_size: int) -> str:
    """Say what a decomposition found, in a line.

    Parameters
    ----------
    found : Decomposition
        What the pebble game found.
    min_size : int
        Sites that a cluster needs to be counted.

    Returns
    -------
    str
        Floppy modes, rigid clusters, stressed regions and hinges.
    """
    sizes = np.bincount(found.clusters)
    large = sizes[sizes >= min_size]
    regions, stressed = int(found.stress.max(initial=-1)) + 1, np.count_nonzero(found.stress >= 0)
    return (
        f"{counted(found.floppy_modes, 'floppy mode')}, {counted(len(large), 'rigid cluster')} "
        f"of {min_size} or more atoms (largest {sizes.max():,}), "
        f"{counted(regions, 'stressed region')} of {counted(int(stressed), 'bond')}, "
        f"{counted(int(np.count_nonzero(found.hinges)), 'hinge')}"
    )


def _shown(values: Floats) -> list[object]:
    """Leave out what is not a number."""
    return ["" if value != value else value for value in values.tolist()]  # noqa: PLR0124 (NaN)
