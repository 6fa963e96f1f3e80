"""The constraint network of one structure: atoms as bodies, bars for what holds them together."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from timme._arrays import Bools, Floats, Ints, Strings, frozen, index_pairs
from timme._text import Described, is_number, one_line, write_atomically
from timme.ensemble import Ensemble
from timme.ensemble.atoms import HYDROGENS, Atoms
from timme.ensemble.residues import is_water, residue_index
from timme.io.files import read_bytes
from timme.rigidity.chemistry import DONATING, Chemistry, Structure
from timme.rigidity.contacts import Tethers, find_stacks, find_tethers, metal_bonds
from timme.rigidity.energies import hydrogen_bonds

WITH_ENERGY = ("hydrogen bond", "salt bridge")
BARS = dict.fromkeys(("covalent", "disulfide", "metal", *WITH_ENERGY), 5)  # their ends can turn
BARS |= {"locked": 6, "tether": 2, "stacking": 3}
_SOFT = ("tether", "stacking")  # may join what other constraints join

_HEADER = ("kind", "bars", "energy (kcal/mol)", "atom 1", "atom 2", "label 1", "label 2")

_CLASH = 2.2  # Å: nearer heavy atoms are bonded, or one of them is misplaced
_RESIDUES = "GLY ALA CYS SER PRO THR VAL ASN ASP ILE LEU MET GLN GLU LYS HIS ARG PHE TYR TRP"
_SIZES = (4, 5, 6, 6, 7, 7, 7, 8, 8, 8, 8, 8, 9, 9, 9, 10, 11, 11, 12, 14)  # heavy atoms
_HEAVY_ATOMS = dict(zip(_RESIDUES.split(), _SIZES, strict=True))


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
        What was chosen, and what is uncertain in the structure.

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
        if not self.n_bodies or self.bonds.shape[1:] != (2,) or len(lengths) > 1:
            words = "at least 1 body, and two bodies, bars, a kind and an energy for each bond"
            raise ValueError(f"a network needs {words}")
        ends = index_pairs(self.bonds, self.n_bodies, "bodies of bonds").T
        if (ends[0] == ends[1]).any() or not np.isin(self.bars, range(1, 7)).all():
            raise ValueError("a bond has 1 to 6 bars, and is not from a body to itself")

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
) -> Network:
    """Return the constraint network of one snapshot.

    Every site is a body. Covalent bonds are 5 bars, or 6 if they cannot turn; hydrogen bonds and
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
        Whether stacked nucleic bases are held by 3 bars.

    Returns
    -------
    Network
        Covalent bonds in the order of the atoms, metals, then hydrogen bonds from the strongest on,
        then tethers and stacks; ``notes`` say what is uncertain.

    Examples
    --------
    >>> from timme.ensemble import Atoms
    >>> ethane = Atoms.unnamed(2, bonds=[(0, 1)])
    >>> places = np.array([[[0.0, 0.0, 0.0], [1.54, 0.0, 0.0]]])
    >>> network(Ensemble.from_array(places, atoms=ethane)).bars
    array([5])
    """
    if tethers not in get_args(Tethers):
        raise ValueError(f"tethers must be shortest, all or none, got {tethers!r}")
    weakest = checked_energy(cutoff)
    structure = Structure.of(ensemble, model)
    refuse_unusable(structure, ensemble.prefix)
    chemistry = Chemistry(structure)
    atoms = structure.atoms
    allowed = ~is_water(atoms) | waters
    metals = metal_bonds(structure, allowed)
    weak = hydrogen_bonds(structure, chemistry, allowed=allowed, cutoff=weakest)
    weak_ends = np.column_stack([weak.hydrogens, weak.acceptors])
    tied = find_tethers(structure, chemistry, tethers)
    stacks = find_stacks(structure)[: None if stacking else 0]
    sulphur = np.isin(atoms.elements, ("S", "Se"))[atoms.bonds].all(axis=1)
    parts: list[tuple[Ints, Any]] = [
        (atoms.bonds, np.select([chemistry.locked, sulphur], ["locked", "disulfide"], "covalent")),
        (metals, "metal"),
        (weak_ends, np.where(weak.salt_bridges, "salt bridge", "hydrogen bond")),
        (tied, "tether"),
        (stacks, "stacking"),
    ]
    bonds = np.concatenate([pairs for pairs, _ in parts])
    kinds = np.concatenate([np.broadcast_to(kind, len(pairs)) for pairs, kind in parts])
    bars = np.array([BARS[kind] for kind in kinds.tolist()], np.int64)
    energies = np.full(len(kinds), np.nan)
    energies[np.isin(kinds, WITH_ENERGY)] = weak.energies
    columns = frozen(bonds), frozen(bars), frozen(kinds), frozen(energies)
    return Network(len(atoms), *columns, notes(chemistry, metals, waters=waters))


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

    Examples
    --------
    >>> import tempfile
    >>> from timme.ensemble import Atoms
    >>> ethane = Atoms.unnamed(2, bonds=[(0, 1)])
    >>> pair = Ensemble.from_array([[[0.0, 0.0, 0.0], [1.54, 0.0, 0.0]]], atoms=ethane)
    >>> path = Path(tempfile.mkdtemp()) / "constraints.csv"
    >>> write_constraints(network(pair), pair, path).read_text().splitlines()[0]
    'kind,bars,energy (kcal/mol),atom 1,atom 2,label 1,label 2'
    """
    from pandas import DataFrame

    if network.n_bodies != ensemble.n_sites:
        counts = f"{network.n_bodies} bodies, the structure {ensemble.n_sites} sites"
        raise ValueError(f"the network has {counts}: give that from which it was made")
    rows = DataFrame(constraint_columns(network, ensemble.sites))
    return write_atomically(path, rows.to_csv(index=False, lineterminator="\n"))


def constraint_columns(network: Network, atoms: Atoms) -> dict[str, Any]:
    """Return the columns of a table of constraints; atoms are counted from 1."""
    labels = np.array([atoms.label(atom) for atom in range(len(atoms))])
    columns = (network.kinds, network.bars, network.energies)
    ends = network.bonds.T
    return dict(zip(_HEADER, (*columns, *(ends + 1), *labels[ends]), strict=True))


def read_constraints(path: str | Path, ensemble: Ensemble) -> Network:
    """Read constraints back, edited or not.

    Rows may be removed, added and changed, in any order. Atoms are identified by their
    numbers. Labels, where given, must agree, so that the list of another structure is refused.

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

    Examples
    --------
    >>> import tempfile
    >>> from timme.ensemble import Atoms
    >>> ethane = Atoms.unnamed(2, bonds=[(0, 1)])
    >>> pair = Ensemble.from_array([[[0.0, 0.0, 0.0], [1.54, 0.0, 0.0]]], atoms=ethane)
    >>> path = Path(tempfile.mkdtemp()) / "constraints.csv"
    >>> read_constraints(write_constraints(network(pair), pair, path), pair).bars
    array([5])
    """
    from pandas import DataFrame, read_csv

    text = io.BytesIO(read_bytes(Path(path)))
    try:
        rows = read_csv(text, dtype=str, keep_default_na=False, skip_blank_lines=False)
    except ValueError as error:
        raise ValueError(f"{path}: {one_line(error)}") from None
    rows = rows[(rows != "").any(axis=1)].fillna("")
    if rows.empty or not set(_HEADER) <= set(rows):
        raise ValueError(f"{path}: constraints need the columns {', '.join(_HEADER)}, and one row")
    n_sites, kinds = ensemble.n_sites, rows["kind"].to_numpy(np.str_)
    bars, energies, one, other = (  # to the last bit, unlike pandas 2
        np.array([float(text) if is_number(text) else math.nan for text in rows[name]])
        for name in _HEADER[1:5]
    )
    weak, soft = (np.isin(kinds, some) for some in (WITH_ENERGY, _SOFT))
    keys = DataFrame([np.where(soft, kinds, ""), np.fmin(one, other), np.fmax(one, other)]).T
    keys.index = rows.index
    labels = np.array(["", *(ensemble.site_label(site) for site in range(n_sites))])
    wrong = ~np.isin(kinds, [*BARS]) | ~np.isin(bars, range(1, 7)) | keys.duplicated()
    wrong |= np.isnan(energies) & (weak | (rows[_HEADER[2]] != "")) | (one == other)
    for ends, given in ((one, rows["label 1"]), (other, rows["label 2"])):
        known = np.isin(ends, range(1, n_sites + 1))
        label = labels[np.where(known, ends, 0).astype(np.int64)]
        wrong |= ~known | ((given != "") & (given != label))
    for line in rows.index[wrong][:1]:
        raise ValueError(
            f"{path}: line {line + 2} needs a kind ({', '.join(BARS)}), 1 to 6 bars, the energy of "
            f"a hydrogen bond or salt bridge, and two atoms of 1 to {n_sites} with their labels or "
            f"none, bound in one row only; got {','.join(rows.loc[line])[:80]!r}"
        )
    bonds = np.column_stack([one, other]).astype(np.int64) - 1
    columns = frozen(bonds), frozen(bars.astype(np.int64)), frozen(kinds), frozen(energies)
    return Network(n_sites, *columns, (f"the constraints are those of {path}",))


def checked_energy(given: float) -> float:
    """Return an energy, or a cutoff, which may be infinite."""
    if math.isnan(given):
        raise ValueError(f"an energy is one number in kcal/mol, such as -1.0, got {given!r}")
    return float(given)


# ---- checks of the structure --------------------------------------------------------------------


def refuse_unusable(structure: Structure, prefix: str) -> None:
    """Refuse atoms that nothing holds together, and molecules whose hydrogens are all missing."""
    atoms = structure.atoms
    if len(atoms) > 1 and not len(atoms.bonds):
        raise ValueError(
            f"{prefix}rigidity needs covalent bonds, and there are none between {len(atoms)} "
            "sites: read all atoms with their elements, not Cα only"
        )
    if lacks_hydrogens(atoms):
        raise ValueError(
            f"{prefix}hydrogen bonds need hydrogens, and there are none: add them with "
            "timme.rigidity.add_hydrogens, or read a structure that has them"
        )


def lacks_hydrogens(atoms: Atoms) -> bool:
    """Return whether there are nitrogens, oxygens or sulphurs, but no hydrogen; waters aside."""
    elements = atoms.elements[~is_water(atoms)]
    return bool(np.isin(elements, ("N", "O", "S")).any() and not np.isin(elements, HYDROGENS).any())


def notes(chemistry: Chemistry, metals: Ints, *, waters: bool) -> tuple[str, ...]:
    """Return what was chosen for the user and what is doubtful, in a line each."""
    atoms, water = chemistry.atoms, is_water(chemistry.atoms)
    _, first = np.unique(residue_index(atoms), return_index=True)
    found = {
        "waters make no hydrogen bonds (waters=True lets them)": first[water[first] & (not waters)],
        "bonds of metal ions count as covalent": np.unique(metals[:, 0]),
        "hydrogens are missing, and hydrogen bonds with them": _bare(chemistry),
        "heavy atoms are missing in residues, and hold nothing": _incomplete(chemistry, first),
        "unusual geometry (clashes, or bonds too many, missing or odd)": _misplaced(chemistry),
    }
    return tuple(f"{text}: {_listed(atoms, of)}" for text, of in found.items() if len(of))


def _bare(chemistry: Chemistry) -> Ints:
    """Return nitrogens and hydroxyls of amino acids without hydrogen, where nothing else is bound.

    The nitrogen of proline and that after a cap have three neighbours, or none to spare.
    """
    names, degrees = chemistry.atoms.names, chemistry.degrees
    usual = np.where(np.isin(names, ("N", "NE", "NE1")), 2, 1)
    polar = np.isin(chemistry.parents, DONATING) & chemistry.is_element("N")
    polar |= np.isin(names, ("N", "OG", "OG1", "OH"))
    polar &= chemistry.protein & ~chemistry.has_hydrogen
    return np.flatnonzero(polar & (degrees == usual))


def _incomplete(chemistry: Chemistry, first: Ints) -> Ints:
    """Return the first atom of each amino acid with fewer heavy atoms than it should have."""
    heavy = np.add.reduceat(~chemistry.hydrogens, first, dtype=np.int64)
    expected = [_HEAVY_ATOMS.get(name, 0) for name in chemistry.parents[first].tolist()]
    # Some files list hydrogens after all else, as if they were residues of their own.
    return first[(heavy > 0) & (heavy < expected)]


def _misplaced(chemistry: Chemistry) -> Ints:
    """Return atoms with more bonds than their element has, or nearer than they can be.

    Of amino acids, atoms without bonds count too, and those bound to another amino acid by neither
    a peptide bond nor a disulphide: atoms that clash are bound by their distance.
    """
    atoms, elements, degrees = chemistry.atoms, chemistry.atoms.elements, chemistry.degrees
    found: Bools = chemistry.protein & (degrees == 0)
    ends, sulphur = np.sort(atoms.names[atoms.bonds], axis=1), np.isin(elements, ("S", "Se"))
    odd = chemistry.protein[atoms.bonds].all(axis=1) & ~sulphur[atoms.bonds].all(axis=1)
    odd &= (residue_index(atoms)[atoms.bonds] @ [1, -1] != 0) & (ends != ("C", "N")).any(axis=1)
    found[atoms.bonds[odd]] = True
    most = np.where(chemistry.hydrogens, 1, 4)
    found |= (degrees > most) & np.isin(elements, (*HYDROGENS, "C", "N", "O"))
    heavy = np.flatnonzero(~chemistry.hydrogens & (elements != "") & (degrees > 0))
    near = chemistry.structure.pairs(heavy, _CLASH)
    found[near[chemistry.far_apart(*near.T)]] = True
    return np.flatnonzero(found & ~is_water(atoms))


def _listed(atoms: Atoms, chosen: Ints) -> str:
    """Return a number of atoms and the first three of them."""
    labels = [atoms.label(atom) for atom in chosen[:3].tolist()]
    return f"{len(chosen):,} ({', '.join(labels)}{', …' * (len(chosen) > 3)})"
