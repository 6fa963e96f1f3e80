"""Rigidity of one structure in tables and a figure: constraints, hinges, stress, flexibility."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from timme._arrays import Floats
from timme.analysis import Analysis, Constraints
from timme.output import plots
from timme.output.axes import places_of
from timme.output.declared import PartFigure, PartOutput
from timme.output.look import Look
from timme.output.tables import csv_text, with_unit
from timme.rigidity.decomposition import Decomposition
from timme.rigidity.flexibility import residue_flexibility
from timme.rigidity.lists import constraints_csv
from timme.rigidity.network import Network
from timme.system.ensemble import Ensemble
from timme.system.residues import residue_index

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FILES = {
    "constraints.csv": "every bond and tether, to be edited and read again",
    "flexibility.csv": "flexibility index of every residue",
    "flexibility-bonds.csv": "flexibility index of every bond",
}


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
    atoms = analysis.system.sites
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
    label = {int(atom): analysis.system.sites.label(int(atom)) for atom in np.unique(network.bonds)}
    states = np.select(
        [found.independent < 0, found.hinges, found.stress >= 0],
        ["broken", "hinge", "stressed"],
        "rigid",
    )
    columns: tuple[Iterable[object], ...] = (
        network.kinds,
        _leave_out_nan(network.energies),
        [label[one] for one in network.bonds[:, 0].tolist()],
        [label[other] for other in network.bonds[:, 1].tolist()],
        states,
        found.redundant,
        _leave_out_nan(found.flexibility),
    )
    names = ["kind", with_unit("energy", "kcal/mol"), "label 1", "label 2", "state"]
    return csv_text([*names, "redundant bars", "flexibility"], zip(*columns, strict=True))


def _tables(part: Constraints, analysis: Analysis, look: Look) -> dict[str, str]:
    """Say what holds a structure together, in a list that can be read again, and where it moves."""
    system, network, found = analysis.system, part.network, part.decomposed(look.cutoff)
    structure = Ensemble.from_array(system.coordinates[None], atoms=system.sites, unit="Å")
    texts = (
        constraints_csv(network, structure),
        residues_csv(analysis, network, found),
        bonds_csv(analysis, network, found),
    )
    return dict(zip(_FILES, texts, strict=True))


def _flexibility(part: Constraints, analysis: Analysis, look: Look) -> Axes:
    system = analysis.system
    index = part.decomposed(look.cutoff).flexibility
    of_residue = residue_flexibility(index, part.network, system.sites)
    site = system.object_sites[system.shown]
    shown = of_residue[residue_index(system.sites)[site]]
    return plots.flexibility(shown, places=places_of(analysis, look.order))


def _leave_out_nan(values: Floats) -> list[object]:
    """Leave out what is not a number."""
    return ["" if value != value else value for value in values.tolist()]  # noqa: PLR0124 (NaN)


CONSTRAINTS = PartOutput(
    Constraints,
    figures=(
        PartFigure(
            "flexibility",
            _flexibility,
            "only rigid clusters of one protein or nucleic acid have one (timme.rigid())",
            caption="flexibility index along the chain",
            suits=lambda analysis: analysis.system.sequential,
        ),
    ),
    files=_FILES,
    tables=_tables,
)
