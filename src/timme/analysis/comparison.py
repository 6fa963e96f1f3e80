"""Two results, or tables of clusters, compared on the sites that both show."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from timme._arrays import Floats, Ints
from timme._text import require
from timme.analysis import finding
from timme.analysis.choices import settings_of
from timme.analysis.result import Analysis, Comparison, Made, Source, System
from timme.analysis.settings import CompareSettings
from timme.analysis.store import load
from timme.comparison import agree, common_sites, difference
from timme.comparison.agreement import as_hierarchy
from timme.ensemble import Atoms
from timme.hierarchy import Quantity

GIVEN = Quantity("level", words="level of a table of clusters")


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
    common = common_sites(
        one.shown_atoms, other.shown_atoms, chains=chosen.chains, align=chosen.align
    )
    for each, cutoff in zip((one, other), chosen.cutoffs or (), strict=False):
        if cutoff < 0 and each.rigidity is None:
            raise ValueError(f"cutoffs= of σ must be at least 0, got {cutoff:g}")
    trees = one.hierarchy.restrict(common.first), other.hierarchy.restrict(common.second)
    found = agree(
        *trees,
        cutoffs=chosen.cutoffs,
        min_size=chosen.min_size,
        along_chain=one.system.sequential and other.system.sequential,
        seed=chosen.seed,
    )
    names = _names(one, other)
    spreads = _spread(one, common.first), _spread(other, common.second)
    # Bonds are known by chains and numbers, which must be those of the same residues.
    atoms = one.shown_atoms.take(common.first), other.shown_atoms.take(common.second)
    columns = [(each.chains, each.resids, each.icodes) for each in atoms]
    same = all(map(np.array_equal, *columns))
    words: Any = {"recipe": "compare", "kind": one.made.kind, "title": " and ".join(names)}
    made = Made.of((), chosen, chosen.model_fields_set, **words)
    compared = Comparison(
        first=one,
        second=other,
        common=common,
        agreement=found,
        names=names,
        made=replace(made, sources=(*one.made.sources, *other.made.sources)),
        difference=difference(
            *trees,
            spreads=None if spreads[0] is None or spreads[1] is None else (spreads[0], spreads[1]),
            bonds=(_bonds(one), _bonds(other)) if same else (set(), set()),
        ),
        notes=common.notes,
    )
    return replace(compared, finding=finding.agreement(compared))


def read_partition(path: str | Path) -> Analysis:
    """Read a table of clusters, one site in each row.

    Parameters
    ----------
    path : path
        A csv file with columns ``number`` and ``residue``, the number and the name of a residue,
        ``cluster`` and, if they are there, ``chain`` and ``name`` (of the atom), as in the
        ``sites.csv`` of a result. Rows with cluster 0, or none, are in no cluster and left out.

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
    if not {"number", "residue", "cluster"} <= {*rows}:
        raise ValueError(
            f"{path}: a table of clusters has the columns number, residue (its name) and cluster, "
            f"got {', '.join(map(str, rows))}: give such a table, or the folder of a result"
        )
    rows = rows[~rows["cluster"].isin(["", "0"])]
    if rows.empty:
        raise ValueError(f"{path}: no site is in a cluster: check the column cluster")
    numbers = rows["number"].str.extract(r"^(-?\d{1,9})([A-Za-z]?)$")
    if numbers[0].isna().any():
        raise ValueError(f"{path}: the column number has numbers of residues such as 52 or 52A")
    blank = [""] * len(rows)
    atoms = replace(
        Atoms.unnamed(len(rows)),
        names=np.array([name.rpartition("/")[2] for name in rows.get("name", blank)]),
        resnames=np.array([*rows["residue"]]),
        chains=np.array([*rows.get("chain", blank)]),
        resids=np.array([*map(int, numbers[0])]),
        icodes=np.array([*numbers[1]]),
    )
    labels = np.unique([*rows["cluster"]], return_inverse=True)[1]
    residues = bool((atoms.resnames != "").any())
    system = System.without_places(atoms)
    name = "residue" if residues else "site"
    return Analysis(
        replace(system, shown_name=name, sequential=residues),
        as_hierarchy(labels, GIVEN),
        Made(kind="matrix", title=Path(path).stem, sources=(Source(Path(path).name),)),
    )


def _names(*results: Analysis) -> tuple[str, str]:
    """Return what both results are called, without chains if these are not needed."""
    full = [each.made.title for each in results]
    plain = [
        title.removesuffix(f" {' '.join(getattr(each.made.settings, 'chain', None) or ())}")
        for title, each in zip(full, results, strict=True)
    ]
    one, other = (name or f"result {n}" for n, name in enumerate(plain, 1))
    if one == other:
        one, other = full
    return (one, other) if one != other else (f"{one}-1", f"{other}-2")


def _open(given: Any) -> Analysis:
    """Return a result, read from its folder, its file or a table if need be."""
    if isinstance(given, str | Path):
        given = read_partition(given) if Path(given).suffix.lower() == ".csv" else load(given)
    remedy = "give two results, or their folders; timme.comparison.agree compares hierarchies"
    require(given, Analysis, "compare", remedy)
    found: Analysis = given
    return found


def _spread(result: Analysis, rows: Ints) -> Floats | None:
    """Return the standard deviation of core heights over models or perturbed copies."""
    many = None if result.rigidity is None else result.rigidity.together
    return None if many is None else np.std(many.stability[:, rows], axis=0, ddof=1)


def _bonds(result: Analysis) -> set[str]:
    """Return the hydrogen bonds of a network that hold, by donor and acceptor."""
    rigid, atoms = result.rigidity, result.system.sites
    if rigid is None:
        return set()
    donors = np.arange(len(atoms))  # of a hydrogen, the atom to which it is bound
    donors[atoms.bonds[:, 1]], donors[atoms.bonds[:, 0]] = atoms.bonds.T
    held = rigid.network.of_kind("hydrogen bond", "salt bridge")
    hydrogens, acceptors = rigid.network.bonds[held & (rigid.network.energies <= rigid.cutoff)].T
    ends = zip(donors[hydrogens].tolist(), acceptors.tolist(), strict=True)
    return {f"{atoms.label(donor)} – {atoms.label(acceptor)}" for donor, acceptor in ends}
