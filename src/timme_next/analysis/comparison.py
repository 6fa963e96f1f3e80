"""Two results, or tables of clusters, compared on the sites that both show."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from timme_next._arrays import Floats, Ints
from timme_next._text import require
from timme_next.analysis import finding
from timme_next.analysis.result import Analysis, Comparison, Made, Source, System
from timme_next.analysis.settings import CompareSettings, make
from timme_next.analysis.store import RESULT, load
from timme_next.comparison import agree, common_sites, difference
from timme_next.ensemble import Atoms
from timme_next.hierarchy import Quantity, grow
from timme_next.io.files import read_bytes

GIVEN = Quantity("level", words="level of a table of clusters")

_LEVEL = 0.0  # the only one
_TABLES = (".csv", ".tsv", ".txt")
_NUMBER = re.compile(r"(-?\d{1,9})([A-Za-z]?)")  # of a residue, with its insertion code
_PREFIX = re.compile(r"timme-(rigidity-|motion-)?")  # of folders


def compare(
    first: Analysis | str | Path,
    second: Analysis | str | Path,
    *,
    settings: CompareSettings | None = None,
    **options: Any,
) -> Comparison:
    """Compare two results on the sites that both show, with a chance level.

    Parameters
    ----------
    first, second : Analysis or path
        Results, their folders or files, or tables of clusters (:func:`read_partition`).
    settings : CompareSettings, optional
        All settings at once.
    **options
        Fields of :class:`timme.analysis.CompareSettings`: ``cutoffs``, two at which clusters are
        matched, by default those that agree best; ``min_size`` of clusters that are matched;
        ``chains`` of the first, and what the second calls them; ``align``, whether residues are
        matched by number, by sequence, or as fits; ``seed`` of the chance level.

    Returns
    -------
    Comparison
        The finding, the agreement at every pair of cutoffs, and the common sites.
    """
    plain = {} if settings is None else settings.model_dump(exclude_unset=True)
    chosen = make(CompareSettings, **plain | options)
    one, other = _open(first), _open(second)
    one, other = _with_names(one, other), _with_names(other, one)
    common = common_sites(
        one.shown_atoms, other.shown_atoms, chains=chosen.chains, align=chosen.align
    )
    trees = one.hierarchy.restrict(common.first), other.hierarchy.restrict(common.second)
    # A table is one partition: single sites, below its level, are none of its clusters.
    found = agree(
        *(tree.cut(_LEVEL) if tree.quantity == GIVEN else tree for tree in trees),
        cutoffs=chosen.cutoffs or (None, None),
        min_size=chosen.min_size,
        along_chain=one.system.sequential and other.system.sequential,
        seed=chosen.seed,
    )
    names = _names((first, second), (one, other))
    spreads = _spread(one, common.first), _spread(other, common.second)
    tables = [each for each in (one, other) if each.hierarchy.quantity == GIVEN]
    made = Comparison(
        first=one,
        second=other,
        common=common,
        agreement=replace(found, first=trees[0], second=trees[1]),
        names=names,
        made=Made(
            recipe="compare",
            kind=one.made.kind,
            title=" and ".join(names),
            settings=chosen,
            given=tuple(sorted(chosen.model_fields_set)),
            sources=(*one.made.sources, *other.made.sources),
        ),
        difference=difference(
            *trees,
            spreads=None if spreads[0] is None or spreads[1] is None else (spreads[0], spreads[1]),
            bonds=_bonds_of((one, common.first), (other, common.second)),
        ),
        notes=(*(note for each in tables for note in each.notes), *common.notes),
    )
    return replace(made, finding=finding.agreement(made))


def read_partition(path: str | Path) -> Analysis:
    """Read a table of clusters, one site in each row.

    Parameters
    ----------
    path : path
        A table with the columns ``number`` (of the residue) and ``cluster`` and, if they are
        there, ``chain``, ``residue`` and ``name`` (of the atom), as in the ``sites.csv`` of a
        result. Rows with cluster 0, or none, are in no cluster and left out.

    Returns
    -------
    Analysis
        A hierarchy of one level, without coordinates.
    """
    rows = [row for row in _read_rows(path) if row["cluster"] not in ("", "0")]
    if not rows:
        raise ValueError(f"{path}: no site is in a cluster: check the column cluster")
    column = {name: np.array([row.get(name, "") for row in rows]) for name in ("chain", "residue")}
    numbers = [_NUMBER.fullmatch(row["number"]) for row in rows]
    wrong = [row["number"] for row, number in zip(rows, numbers, strict=True) if number is None]
    if wrong:
        raise ValueError(f"{path}: residue numbers are written as 52 or 52A, got {wrong[0]!r}")
    known = [number.groups() for number in numbers if number is not None]
    atoms = replace(
        Atoms.unnamed(len(rows)),
        names=np.array([row.get("name", "").rpartition("/")[2] for row in rows]),
        resnames=column["residue"],
        chains=column["chain"],
        resids=np.array([int(number) for number, _ in known]),
        icodes=np.array([code for _, code in known]),
    )
    labels = np.unique([row["cluster"] for row in rows], return_inverse=True)[1]
    ranked = np.argsort(labels, kind="stable")
    edges = np.column_stack([ranked[:-1], ranked[1:]])[np.diff(labels[ranked]) == 0]
    residues = bool((atoms.resnames != "").any())
    return Analysis(
        replace(
            System.without_places(atoms),
            shown_name="residue" if residues else "site",
            sequential=residues,
        ),
        grow(len(rows), edges, np.full(len(edges), _LEVEL), quantity=GIVEN),
        Made(kind="matrix", title=Path(path).stem, sources=(Source(Path(path).name),)),
        (f"{path}: clusters of {len(rows):,} sites, without cutoffs",),
    )


def _read_rows(path: str | Path) -> list[dict[str, str]]:
    """Return the cells of a table by the names of its columns, in small letters."""
    lines = read_bytes(path).decode(errors="replace").splitlines()
    delimiter = max(",;\t", key=lines[0].count)
    try:
        cells = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter)]
    except csv.Error as error:
        raise ValueError(f"{path}: {error}: write the table again") from None
    names = [name.lower() for name in cells[0]]
    if not {"number", "cluster"} <= set(names):
        raise ValueError(
            f"{path}: a table of clusters has the columns number and cluster, got "
            f"{', '.join(names)}: give such a table, or the folder of a result"
        )
    return [dict(zip(names, [*row, *[""] * len(names)], strict=False)) for row in cells[1:] if row]


def _open(given: Any) -> Analysis:
    """Return a result, read from its folder, its file or a table if need be."""
    if isinstance(given, str | Path):
        table = Path(given).suffix.lower() in _TABLES
        given = read_partition(given) if table else load(given)
    remedy = "give two results, or their folders; timme.comparison.agree compares hierarchies"
    require(given, Analysis, "compare", {"other": remedy})
    found: Analysis = given
    return found


def _with_names(result: Analysis, other: Analysis) -> Analysis:
    """Return a result; a table without residue names takes those of the other, by number."""
    atoms, known = result.system.sites, other.shown_atoms
    if result.hierarchy.quantity != GIVEN or (atoms.resnames != "").any():
        return result
    chains = bool((atoms.chains != "").any())

    def keys(of: Atoms) -> zip[tuple[str, int, str]]:
        named = of.chains.tolist() if chains else [""] * len(of)
        return zip(named, of.resids.tolist(), of.icodes.tolist(), strict=True)

    names = dict(zip(keys(known), known.resnames.tolist(), strict=True))
    resnames = np.array([names.get(key, "") for key in keys(atoms)])
    system = replace(result.system, sites=replace(atoms, resnames=resnames))
    return replace(result, system=replace(system, sequential=bool((resnames != "").any())))


def _names(given: tuple[Any, Any], results: tuple[Analysis, Analysis]) -> tuple[str, str]:
    """Return what two results are called: after their folders, or by their titles."""
    found = list[str]()
    for path, result in zip(given, results, strict=True):
        name = result.made.title
        if isinstance(path, str | Path):
            place = Path(path).resolve()
            place = place.parent if place.name == RESULT else place
            name = _PREFIX.sub("", place.name if place.is_dir() else place.stem, count=1)
        found.append(name or ("first", "second")[len(found)])
    one, other = found
    return (one, other) if one != other else (f"{one}-1", f"{other}-2")


def _spread(result: Analysis, rows: Ints) -> Floats | None:
    """Return the standard deviation of core heights over models or perturbed copies."""
    many = None if result.rigidity is None else result.rigidity.together
    if many is None:
        return None
    known = np.isfinite(many.stability[:, rows])
    heights = np.ma.masked_array(many.stability[:, rows], ~known)
    spread: Floats = np.where(known.sum(axis=0) > 1, heights.std(axis=0, ddof=1), np.nan)
    return spread


def _bonds_of(*given: tuple[Analysis, Ints]) -> tuple[set[str], set[str]]:
    """Return the hydrogen bonds of each result between common residues, by donor and acceptor.

    There are none where the residues of the two have different names, chains or numbers.
    """
    labels = [_residues(result, rows) for result, rows in given]
    if labels[0] != labels[1]:
        return set(), set()
    one, other = (_bonds(result, set(labels[0])) for result, _ in given)
    return one, other


def _residues(result: Analysis, rows: Ints) -> list[str]:
    atoms = result.shown_atoms
    return [atoms.label(row).rpartition("/")[0] for row in rows.tolist()]


def _bonds(result: Analysis, residues: set[str]) -> set[str]:
    rigid, atoms = result.rigidity, result.system.sites
    if rigid is None:
        return set()
    donors = np.arange(len(atoms))  # of a hydrogen, the atom to which it is bound
    donors[atoms.bonds[:, 1]], donors[atoms.bonds[:, 0]] = atoms.bonds.T
    network = rigid.network
    held = network.of_kind("hydrogen bond", "salt bridge") & (network.energies <= rigid.cutoff)
    pairs = [
        [atoms.label(atom) for atom in (donors[hydrogen], acceptor)]
        for hydrogen, acceptor in network.bonds[held].tolist()
    ]
    return {
        " – ".join(pair) for pair in pairs if all(a.rpartition("/")[0] in residues for a in pair)
    }
