"""Two results, or tables of clusters, compared on the sites that both show."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from timme._text import require
from timme.analysis import finding
from timme.analysis.choices import settings_of
from timme.analysis.result import Analysis, Comparison, Made, Rigidity, Source, System
from timme.analysis.settings import CompareSettings
from timme.analysis.store import load
from timme.comparison import agree, common_sites, difference
from timme.comparison.agreement import as_hierarchy
from timme.comparison.sites import Common
from timme.ensemble import Atoms
from timme.hierarchy import Quantity

GIVEN = Quantity("level")


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
        ``chains`` of the first and their names in the second; ``align``, by which residues are
        matched: number, sequence, or whichever fits; ``seed`` of the chance level.

    Returns
    -------
    Comparison
        The finding, the agreement at every pair of cutoffs, and the common sites.

    Examples
    --------
    >>> import timme
    >>> planted = timme.synthetic.planted((2, 20), 20, motions=(1.0, 0.1)).ensemble
    >>> found = timme.analyse(planted, confidence=False)
    >>> compare(found, found).agreement.best_rand
    1.0
    """
    chosen = settings_of(CompareSettings, settings, options)
    one, other = _open(first), _open(second)
    placed = [each for each in (one, other) if each.system.coordinates.size]  # not of a matrix
    if len({bool((each.shown_atoms.resnames != "").any()) for each in placed}) > 1:
        raise ValueError("residues and particles cannot be compared: give results of the same kind")
    common = common_sites(
        one.shown_atoms, other.shown_atoms, chains=chosen.chains, align=chosen.align
    )
    trees = one.hierarchy.restrict(common.first), other.hierarchy.restrict(common.second)
    names = _names(one, other)
    for name, tree in zip(names, trees, strict=True):
        if tree.cut(tree.levels[0]).n_clusters == 1:
            raise ValueError(f"{name} is one cluster at every cutoff: nothing to compare")
    found = agree(
        *trees,
        cutoffs=chosen.cutoffs,
        min_size=chosen.min_size,
        along_chain=one.system.sequential and other.system.sequential,
        seed=chosen.seed,
    )
    alike = difference(*trees, **_of_networks(one, other, common))
    notes = common.notes
    if alike is not None:
        place = int(alike.rand.argmax())
        equal = f"{alike.cutoffs[place]:.2g} {trees[0].unit}".strip()
        notes += (f"at equal cutoffs, both agree best at {equal} ({alike.rand[place]:.2f})",)
    words: Any = {"recipe": "compare", "kind": one.made.kind, "title": " and ".join(names)}
    words["sources"] = (*one.made.sources, *other.made.sources)
    compared = Comparison(
        first=one,
        second=other,
        common=common,
        agreement=found,
        names=names,
        made=Made.of((), chosen, chosen.model_fields_set, **words),
        difference=alike,
        notes=notes,
    )
    return replace(compared, finding=finding.agreement(compared))


def read_partition(path: str | Path) -> Analysis:
    """Read a table of clusters, one site in each row.

    Parameters
    ----------
    path : path
        A csv file with columns ``number`` and ``residue``, the number and the name of a residue,
        ``cluster`` or ``body`` and, if they are there, ``chain`` and ``name`` (of the atom). Rows
        with cluster 0, or none, are in no cluster and left out. Of the ``sites.csv`` of a result,
        bodies are compared; its clusters are nested, and no partition.

    Returns
    -------
    Analysis
        A hierarchy of one level, without coordinates.
    """
    from pandas import read_csv

    try:
        rows = read_csv(path, dtype=str, encoding="utf-8-sig", encoding_errors="replace").fillna("")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    column = "body" if "body" in rows else "cluster"
    if not {"number", "residue", column} <= {*rows} or (column == "cluster" and "support" in rows):
        raise ValueError(
            f"{path}: a table of clusters has the columns number, residue (its name) and cluster "
            f"or body, and no support of nested clusters, got {', '.join(map(str, rows))}: give "
            "such a table, or the folder of a result"
        )
    rows = rows[~rows[column].isin(["", "0"])]
    if rows[column].nunique() < 2:
        raise ValueError(f"{path}: a comparison needs 2 clusters or more in the column {column}")
    numbers = rows["number"].str.extract(r"^(-?\d{1,9})([A-Za-z]?)$")
    if numbers[0].isna().any():
        raise ValueError(f"{path}: the column number has numbers of residues such as 52 or 52A")
    blank = [""] * len(rows)
    atoms = replace(
        Atoms.unnamed(len(rows)),
        names=np.array([*rows.get("name", blank)]),
        resnames=np.array([*rows["residue"]]),
        chains=np.array([*rows.get("chain", blank)]),
        resids=np.array([*map(int, numbers[0])]),
        icodes=np.array([*numbers[1]]),
    )
    residues = bool((atoms.resnames != "").any())
    system = replace(System.without_places(atoms), sequential=residues)
    labels = rows[column].factorize()[0]
    made = Made(kind="matrix", title=Path(path).stem, sources=(Source(Path(path).name),))
    return Analysis(system, as_hierarchy(labels, GIVEN), made)


def _names(*results: Analysis) -> tuple[str, str]:
    """Return what both results are called, without chains if these are not needed."""
    one, other = (each.made.title for each in results)
    chains = [" ".join(getattr(each.made.settings, "chain", None) or ()) for each in results]
    plain = one.removesuffix(f" {chains[0]}"), other.removesuffix(f" {chains[1]}")
    if plain[0] != plain[1]:
        return plain
    return (one, other) if one != other else (f"{one}-1", f"{other}-2")


def _open(given: Any) -> Analysis:
    """Return a result, read from its folder, its file or a table if need be."""
    if isinstance(given, str | Path):
        given = read_partition(given) if Path(given).suffix.lower() == ".csv" else load(given)
    remedy = "give two results, or their folders; timme.comparison.agree compares hierarchies"
    require(given, Analysis, "compare", remedy)
    found: Analysis = given
    return found


def _of_networks(one: Analysis, other: Analysis, common: Common) -> dict[str, Any]:
    """Return errors of core heights, and the hydrogen bonds that hold, of two networks."""
    if one.rigidity is None or other.rigidity is None:
        return {}
    found: dict[str, Any] = {}
    atoms = one.shown_atoms.take(common.first), other.shown_atoms.take(common.second)
    # Bonds are known by chains and numbers, which must be those of the same residues.
    if all(map(np.array_equal, *([each.chains, each.resids, each.icodes] for each in atoms))):
        found["bonds"] = _bonds(one.rigidity, one.system), _bonds(other.rigidity, other.system)
    first, second = one.rigidity.together, other.rigidity.together
    if first is not None and second is not None:
        heights = first.stability[:, common.first], second.stability[:, common.second]
        found["spreads"] = tuple(np.std(each, axis=0, ddof=1) for each in heights)
    return found


def _bonds(rigid: Rigidity, system: System) -> set[str]:
    """Return the hydrogen bonds of a network that hold, by donor and acceptor."""
    atoms = system.sites
    donors = np.arange(len(atoms))  # of a hydrogen, the atom to which it is bound
    donors[atoms.bonds[:, 1]], donors[atoms.bonds[:, 0]] = atoms.bonds.T
    held = rigid.network.of_kind("hydrogen bond", "salt bridge")
    hydrogens, acceptors = rigid.network.bonds[held & (rigid.network.energies <= rigid.cutoff)].T
    ends = zip(donors[hydrogens].tolist(), acceptors.tolist(), strict=True)
    return {f"{atoms.label(donor)} – {atoms.label(acceptor)}" for donor, acceptor in ends}
