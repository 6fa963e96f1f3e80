"""The constraint network of one structure: atoms as bodies, bars for what holds them together."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np

from timme_next._arrays import Bools, Floats, Ints, Strings, frozen
from timme_next._files import write_atomically
from timme_next._text import Described
from timme_next.engine.checkpoint import Progress, Run
from timme_next.ensemble import Ensemble
from timme_next.ensemble.residues import is_water
from timme_next.io.files import read_bytes
from timme_next.rigidity.checks import notes, refuse_unusable
from timme_next.rigidity.chemistry import Chemistry, Structure
from timme_next.rigidity.contacts import Tethers, find_stacks, find_tethers, metal_bonds
from timme_next.rigidity.energies import hydrogen_bonds

BARS = {
    "covalent": 5,
    "locked": 6,
    "disulfide": 5,
    "metal": 5,
    "hydrogen bond": 5,
    "salt bridge": 5,
    "tether": 2,
    "stacking": 3,
}
WITH_ENERGY = ("hydrogen bond", "salt bridge")

_HEADER = ("kind", "bars", "energy (kcal/mol)", "atom 1", "atom 2", "label 1", "label 2")

# Atoms, bars, energy and kind of bonds by family (covalent, weak, tether), lower and higher atom.
_Constraints = dict[tuple[str, int, int], tuple[int, int, int, float, str]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Network(Described):
    """Bodies and the bars between them, on which a pebble game is played.

    Attributes
    ----------
    n_bodies : int
        Number of bodies.
    bonds : ndarray of int, shape (bonds, 2)
        Pairs of bodies in any order; two bodies may be bonded more than once.
    bars : ndarray of int, shape (bonds,)
        Bars of each bond, 1 to 6.
    kinds : ndarray of str, shape (bonds,)
        What each bond is.
    energies : ndarray, shape (bonds,)
        In kcal/mol; NaN for bonds that are always there.
    notes : tuple of str, optional
        What was chosen, and what is doubtful in the structure.

    Examples
    --------
    >>> pair = Network(2, np.array([[0, 1]]), np.array([5]), np.array(["covalent"]), np.array([-1]))
    >>> pair.of_kind("tether")
    array([False])
    """

    n_bodies: int
    bonds: Ints
    bars: Ints
    kinds: Strings
    energies: Floats
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no pebble game can be played on."""
        lengths = {len(column) for column in (self.bonds, self.bars, self.kinds, self.energies)}
        if self.bonds.shape[1:] != (2,) or len(lengths) > 1:
            raise ValueError("a network needs two bodies, bars, a kind and an energy for each bond")
        if (self.bonds[:, 0] == self.bonds[:, 1]).any():
            raise ValueError("a bond joins two bodies, got one from a body to itself")
        for values, low, high, what in (
            (self.bonds, 0, self.n_bodies - 1, "bodies of bonds"),
            (self.bars, 1, 6, "bars of a bond"),
        ):
            if values.size and not low <= values.min() <= values.max() <= high:
                got = f"got {values.min()} to {values.max()}"
                raise ValueError(f"{what} range from {low} to {high}, {got}")

    def of_kind(self, *kinds: str) -> Bools:
        """Return which bonds (bonds,) are of some kinds, such as ``"tether"``."""
        return np.isin(self.kinds, kinds)


def network(
    ensemble: Ensemble,
    model: int = 0,
    *,
    cutoff: float = 0.0,
    waters: bool = False,
    tethers: Tethers = "shortest",
    stacking: bool = True,
    progress: Progress | None = None,
) -> Network:
    """Return the constraint network of one snapshot.

    Every site is a body. Covalent bonds are 5 bars, those that cannot turn 6; hydrogen bonds and
    salt bridges are 5 bars between hydrogen and acceptor, with their energy; hydrophobic tethers
    are 2 bars. Metal ions are bound to the nitrogens, oxygens and sulphurs around them as by
    covalent bonds; alkali metals and other ions are bound to nothing.

    Parameters
    ----------
    ensemble : Ensemble
        Atoms with their elements and bonds, hydrogens included.
    model : int, optional
        Which snapshot, from 0.
    cutoff : float, optional
        Hydrogen bonds and salt bridges of higher energy, in kcal/mol, are left out; by default all
        that attract are in the network, and a cutoff is chosen later.
    waters : bool, optional
        Whether waters make hydrogen bonds and coordinate metals. By default they are bodies bound
        to nothing.
    tethers : {"shortest", "all", "none"}, optional
        Tethers join carbons or sulphurs bound to carbon, sulphur and hydrogen only, in different
        residues, more than three bonds apart and closer than their radii and 0.5 Å: the shortest of
        each atom to each residue, all, or none.
    stacking : bool, optional
        Whether nucleic bases that lie on one another are held by 3 bars.
    progress : callable, optional
        Called with the steps done and their number.

    Returns
    -------
    Network
        Covalent bonds in the order of the atoms, metals, then hydrogen bonds from the strongest on,
        then tethers and stacks; ``notes`` say what is doubtful.

    Examples
    --------
    >>> from timme_next.ensemble import Atoms
    >>> ethane = Atoms.unnamed(2, bonds=[(0, 1)])
    >>> places = np.array([[[0.0, 0.0, 0.0], [1.54, 0.0, 0.0]]])
    >>> network(Ensemble.from_array(places, atoms=ethane)).bars
    array([5])
    """
    if tethers not in get_args(Tethers):
        raise ValueError(f"tethers must be shortest, all or none, got {tethers!r}")
    run, weakest = Run.of(progress=progress), checked_energy(cutoff)
    structure = Structure.of(ensemble, model)
    refuse_unusable(structure, ensemble.prefix)
    chemistry = Chemistry(structure)
    run.tell(1, 4)
    allowed = ~is_water(structure.atoms) | waters
    metals = metal_bonds(structure, allowed)
    weak = hydrogen_bonds(structure, chemistry, allowed=allowed, cutoff=weakest)
    run.tell(2, 4)
    tied = find_tethers(structure, chemistry, tethers)
    stacks = find_stacks(structure)[: None if stacking else 0]
    run.tell(3, 4)
    covalent = structure.atoms.bonds
    sulphur = np.isin(structure.atoms.elements, ("S", "Se"))[covalent].all(axis=1)
    parts = (
        (covalent, np.select([chemistry.locked, sulphur], ["locked", "disulfide"], "covalent")),
        (metals, np.full(len(metals), "metal")),
        (
            np.column_stack([weak.hydrogens, weak.acceptors]),
            np.where(weak.salt_bridges, "salt bridge", "hydrogen bond"),
        ),
        (tied, np.full(len(tied), "tether")),
        (stacks, np.full(len(stacks), "stacking")),
    )
    kinds = np.concatenate([kind for _, kind in parts])
    energies = np.full(len(kinds), np.nan)
    energies[np.isin(kinds, WITH_ENERGY)] = weak.energies
    remarks = notes(chemistry, metals, waters=waters)
    run.tell(4, 4)
    return Network(
        n_bodies=len(structure.atoms),
        bonds=frozen(np.concatenate([pairs for pairs, _ in parts])),
        bars=frozen(np.array([BARS[kind] for kind in kinds.tolist()], np.int64)),
        kinds=frozen(kinds),
        energies=frozen(energies),
        notes=remarks,
    )


def write_constraints(network: Network, ensemble: Ensemble, path: str | Path) -> Path:
    """Write all constraints as a table, one per row.

    Parameters
    ----------
    network : Network
        Constraints between the sites of the ensemble.
    ensemble : Ensemble
        The structure, for the labels of its atoms.
    path : str or Path
        A CSV file, which is replaced. It has kind, bars, energy (empty for bonds that are always
        there), and for both atoms their number, counted from 1, and label.

    Returns
    -------
    Path
        The file written.
    """
    if network.n_bodies != ensemble.n_sites:
        raise ValueError(
            f"the network has {network.n_bodies} bodies and the structure {ensemble.n_sites} "
            "sites: give the structure from which the network was made"
        )
    labels = {int(atom): ensemble.site_label(int(atom)) for atom in np.unique(network.bonds)}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEADER)
    columns = (network.kinds, network.bars, network.energies, network.bonds)
    for kind, bars, energy, (one, other) in zip(*(c.tolist() for c in columns), strict=True):
        shown = "" if math.isnan(energy) else energy
        writer.writerow([kind, bars, shown, one + 1, other + 1, labels[one], labels[other]])
    return write_atomically(path, text.getvalue())


def read_constraints(path: str | Path, ensemble: Ensemble) -> Network:
    """Read constraints back, edited or not.

    Rows may be removed, added and changed, in any order. An atom is known by its number or, where
    that is empty, by its label. Where both are given they must agree, so that the list of another
    structure is not taken by mistake.

    Parameters
    ----------
    path : str or Path
        A table with the columns that :func:`write_constraints` writes; labels may be missing.
    ensemble : Ensemble
        The structure.

    Returns
    -------
    Network
        Constraints in the order of the table.
    """
    rows = csv.reader(io.StringIO(read_bytes(Path(path)).decode(errors="replace")))
    labels = [ensemble.site_label(site) for site in range(ensemble.n_sites)]
    found = _Constraints()
    try:
        names = [name.partition("(")[0].strip().lower() for name in next(rows, ())]
        for row in rows:
            cells = dict(zip(names, map(str.strip, row), strict=False))
            if any(cells.values()):
                _add_constraint(cells, labels, found)
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{path}: line {rows.line_num}: {error}") from None
    except KeyError as column:
        raise ValueError(f"{path}: line {rows.line_num}: a row needs {column}") from None
    if not found:
        raise ValueError(f"{path}: rigidity needs bonds, got an empty table: edit constraints.csv")
    one, other, bars, energies, kinds = zip(*found.values(), strict=True)
    return Network(
        n_bodies=ensemble.n_sites,
        bonds=frozen(np.column_stack([one, other])),
        bars=frozen(np.array(bars)),
        kinds=frozen(np.array(kinds)),
        energies=frozen(np.array(energies)),
        notes=(f"the constraints are those of {path}",),
    )


def checked_energy(given: float | str) -> float:
    """Return an energy, or a cutoff, which may be infinite."""
    try:
        energy = float(given)
    except (TypeError, ValueError):
        energy = math.nan
    if math.isnan(energy):
        raise ValueError(f"an energy is one number in kcal/mol, such as -1.0, got {given!r}")
    return energy


def _add_constraint(cells: dict[str, str], labels: list[str], found: _Constraints) -> None:
    """Add the bond of one row, by its family and atoms."""
    kind = cells["kind"].lower()
    if kind not in BARS:
        raise ValueError(f"kind must be one of {', '.join(BARS)}, got {kind!r}")
    bars, energy = _number(cells["bars"], 6, "bars"), math.nan
    if cells["energy"] or kind in WITH_ENERGY:
        energy = checked_energy(cells["energy"])
    one, other = (_site(cells[f"atom {n}"], cells.get(f"label {n}", ""), labels) for n in "12")
    family = kind if kind == "tether" else "weak" if kind in WITH_ENERGY else "covalent"
    key = (family, min(one, other), max(one, other))
    if one == other or key in found:
        raise ValueError(
            f"two different atoms and one row a bond are needed, got {labels[one]} and "
            f"{labels[other]}{' again' * (one != other)}: leave out this row"
        )
    found[key] = one, other, bars, energy, kind


def _site(number: str, label: str, labels: list[str]) -> int:
    """Return the site of a number, counted from 1, or of a label that is there once."""
    if not number and labels.count(label) != 1:
        raise ValueError(f"{labels.count(label)} atoms have the label {label!r}: give a number")
    site = _number(number, len(labels), "atom") - 1 if number else labels.index(label)
    if label not in ("", labels[site]):
        raise ValueError(
            f"atom {number} is {labels[site]} in this structure, not {label}: correct the row, or "
            "give the structure of this list"
        )
    return site


def _number(text: str, most: int, what: str) -> int:
    if not (text.isdecimal() and 1 <= int(text) <= most):
        raise ValueError(f"{what} must be a number from 1 to {most}, got {text!r}")
    return int(text)
