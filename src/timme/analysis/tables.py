"""Tables of a result: what stands in its csv files, by column."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from timme._arrays import Ints
from timme._text import is_number
from timme.ensemble.atoms import Atoms, unit_label
from timme.ensemble.residues import residue_index
from timme.hierarchy.curves import count_clusters
from timme.rigidity.networks import constraint_columns

if TYPE_CHECKING:
    from pandas import DataFrame

    from timme.analysis.result import Analysis, Comparison
    from timme.motion.hinges import Hinge

_ASCII = str.maketrans({"Å": "A", "µ": "u", "σ": "sigma", "/": "_", " ": "_", "°": "deg"})
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would carry out such a text


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Table:
    """Columns of equal length, by their headers.

    Examples
    --------
    >>> print(Table({"body": [1, 2], "members": ["A 1-29", "=1+1"], "fit_A": [0.25, np.nan]}).csv())
    body,members,fit_A
    1,A 1-29,0.25
    2,'=1+1,
    """

    columns: Mapping[str, list[Any]]

    def __post_init__(self) -> None:
        """Make lists of arrays."""
        columns = {name: np.asarray(column).tolist() for name, column in self.columns.items()}
        object.__setattr__(self, "columns", columns)

    def __repr__(self) -> str:
        return f"<Table: {', '.join(self.columns)}>"

    def to_dataframe(self) -> DataFrame:
        """Return the table as pandas sees it."""
        from pandas import DataFrame

        return DataFrame(dict(self.columns))

    def csv(self) -> str:
        """Return the text of a csv file, in which no cell is a formula of a spreadsheet."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(self.cells())
        return text.getvalue()

    def cells(self) -> list[list[str]]:
        """Return all cells as texts, the headers first."""
        rows = zip(*self.columns.values(), strict=True)
        return [list(self.columns), *([_cell(value) for value in row] for row in rows)]

    def _repr_html_(self) -> str:
        return str(self.to_dataframe().to_html(max_rows=20, index=False, na_rep=""))


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULAS) and not is_number(text) else text


def header(name: str, unit: str) -> str:
    """Return a header with its unit, in plain letters: ``core_sigma_A``."""
    return "_".join(filter(None, [name, unit_label(unit)])).translate(_ASCII)


def runs(atoms: Atoms, sites: Iterable[int]) -> str:
    """Return sites as ranges of residue numbers, each chain named once: "A 1-29, 68-115; B 3".

    Parameters
    ----------
    atoms : Atoms
        Of the shown sites; neighbours in this list are neighbours in a range.
    sites : iterable of int
        Places in the list.

    Returns
    -------
    str
        Ranges of different chains are separated by semicolons. The only segment of a system is not
        named. Atoms of one residue have their names, "A 215/PA-215/O3A", or are counted from 1 if
        they share one. Particles with names of their own have these: "c1-c3".

    Examples
    --------
    >>> runs(Atoms.unnamed(9), [0, 1, 2, 5])
    '1-3, 6'
    """
    found = dict[str, list[str]]()
    one_segment = len(set(atoms.chains.tolist())) == 1 and len(str(atoms.chains[0])) > 1
    own, numbers = have_own_names(atoms), _numbers(atoms)
    several = max(len(set(numbers)), len(np.unique(residue_index(atoms)))) < len(atoms)

    def label(site: int) -> str:
        if own:
            return str(atoms.names[site])
        named = several and atoms.names[site]
        return f"{numbers[site]}/{named}" if named else numbers[site]

    for first, last in ranges(atoms, sites):
        one, other = label(first), label(last)
        chain = "" if one_segment else str(atoms.chains[first])
        found.setdefault(chain, []).append(one if first == last else f"{one}-{other}")
    return "; ".join(f"{chain} {', '.join(parts)}".strip() for chain, parts in found.items())


def have_own_names(atoms: Atoms) -> bool:
    """Return whether sites go by names of their own, as tracked particles may, not by numbers."""
    names, bare = set(atoms.names.tolist()), not any(atoms.resnames) and not any(atoms.chains)
    return bare and len(names) == len(atoms) and "" not in names


def ranges(atoms: Atoms, sites: Iterable[int]) -> list[tuple[int, int]]:
    """Return the first and the last site of each stretch of one chain."""
    found = list[tuple[int, int]]()
    for site in sorted(int(site) for site in sites):
        if found and site == found[-1][1] + 1 and atoms.chains[site] == atoms.chains[site - 1]:
            found[-1] = found[-1][0], site
        else:
            found.append((site, site))
    return found


def sites(analysis: Analysis) -> Table:
    """One row for each shown site, with its body, its smallest cluster and its mobility."""
    atoms, motion, tree = analysis.shown_atoms, analysis.motion, analysis.hierarchy
    names, own = analysis.system.names[analysis.system.shown], have_own_names(atoms)
    cluster, support = np.zeros(tree.n_sites, np.int64), np.full(tree.n_sites, np.nan)
    for number, record in enumerate(analysis.clusters, 1):  # parents come before their parts
        cluster[record.sites], support[record.sites] = number, record.support
    found = _residues(atoms) | {
        "name": atoms.names if own else [name.rpartition("/")[2] for name in names],
        "body": [] if motion is None else motion.bodies.labels + 1,
        "cluster": cluster,
        "support": support,
        header(f"core_{tree.quantity.symbol}", tree.unit): tree.core_heights(),
        header("rmsf", analysis.system.unit): [] if motion is None else motion.fluctuation,
    }
    return Table({name: column for name, column in found.items() if len(column)})


def _residues(atoms: Atoms) -> dict[str, Any]:
    """Columns that name residues."""
    return {"chain": atoms.chains, "residue": atoms.resnames, "number": _numbers(atoms)}


def _numbers(atoms: Atoms) -> list[str]:
    """Numbers of residues with insertion codes, or counted from 1 if sites of one share a name."""
    if len({*zip(residue_index(atoms).tolist(), atoms.names.tolist(), strict=True)}) < len(atoms):
        return [str(place) for place in range(1, len(atoms) + 1)]
    return [f"{number}{code}" for number, code in zip(atoms.resids, atoms.icodes, strict=True)]


def clusters(analysis: Analysis) -> Table:
    """One row for each cluster of the condensed tree, parents before their parts."""
    tree, records = analysis.hierarchy, analysis.clusters
    low, high, inside, outside = (
        header(f"{name}_{tree.quantity.symbol}", tree.unit)
        for name in ("forms_at", "joins_at", "inside", "outside")
    )
    found: dict[str, Any] = {
        "cluster": range(1, len(records) + 1),
        "size": [record.size for record in records],
        "members": [runs(analysis.shown_atoms, record.sites) for record in records],
        "part_of": [record.parent + 1 or None for record in records],
        low: [record.low for record in records],
        high: [record.high for record in records],
        "plateau": np.exp([record.plateau for record in records]),
        "support": [record.support for record in records],
        inside: [getattr(record.separation, "inside", np.nan) for record in records],
        outside: [getattr(record.separation, "across", np.nan) for record in records],
        "chance_overlap": [record.chance for record in records],
        "verdict": [verdict(analysis, place) for place in range(len(records))],
    }
    return Table(found)


def verdict(analysis: Analysis, place: int) -> str:
    """Return how well a cluster is supported; groups of the finding have its verdict."""
    record, found = analysis.clusters[place], analysis.finding
    sure = "" if math.isnan(record.support) else record.sure
    if sure and found.kind == "groups" and found.sure != "no error bars":
        group = found.labels[record.sites[0]]
        if group >= 0 and np.array_equal(np.flatnonzero(found.labels == group), record.sites):
            return found.sure
    return sure


def levels(analysis: Analysis) -> Table:
    """One row for each cutoff at which clusters change, beside independent walkers."""
    tree, confidence = analysis.hierarchy, analysis.confidence
    chance = None if confidence is None else confidence.chance
    counted = count_clusters(tree, large=min_size(analysis), sizes=())
    found: dict[str, Any] = {
        header("cutoff", tree.unit): counted.cutoffs[1:],
        "clusters": counted.n_clusters[1:],
        "largest": counted.largest[1:],
        f"in_clusters_of_{counted.large}": counted.large_fraction[1:],
    }
    if chance is not None:
        at = np.searchsorted(chance.cutoffs, counted.cutoffs[1:], side="right") - 1
        found["chance_largest"] = np.median(chance.largest, axis=0)[at]
        found["chance_largest_95"] = np.quantile(chance.largest, 0.95, axis=0)[at]
    return Table(found)


def min_size(analysis: Analysis | Comparison) -> int:
    """Return the smallest cluster that counts."""
    return int(getattr(analysis.made.settings, "min_size", 10))


def bodies(analysis: Analysis) -> Table:
    """One row for each rigid body, and how it moves against the one beside it."""
    unit, each, none = analysis.system.unit, analysis.bodies, np.full(3, np.nan)
    hinges = [body.motion for body in each]
    found: dict[str, Any] = {
        "body": [body.name for body in each],
        "chain": [body.chain for body in each],
        "members": [body.members for body in each],
        "size": [len(body.sites) for body in each],
        header("fit", unit): [body.fit for body in each],
        "relative_to": [body.relative_to for body in each],
        "kind": ["" if hinge is None else hinge.kind for hinge in hinges],
    }
    for name in ("range", "rms", "axis_error", "axis_cone"):
        found[f"{name}_deg"] = [getattr(hinge, name, np.nan) for hinge in hinges]
    found[header("slide", unit)] = [slide(hinge) for hinge in hinges]
    for name, its in (("axis", ""), ("point", unit)):
        places = np.array([getattr(hinge, name, none) for hinge in hinges]).reshape(-1, 3)
        found |= {header(f"{name}_{x}", its): row for x, row in zip("xyz", places.T, strict=True)}
    return Table(found)


def slide(hinge: Hinge | None) -> float:
    """Return how far a body slides along its axis over its range of angles."""
    return float("nan") if hinge is None else abs(hinge.pitch * np.radians(hinge.range))


def angles(analysis: Analysis) -> Table:
    """One row for each snapshot, with the angle of each moving body."""
    hinges = {body.name: body.motion for body in analysis.bodies if body.motion is not None}
    frames: Ints = np.unique(np.concatenate([hinge.frames for hinge in hinges.values()]))
    found: dict[str, Any] = {"snapshot": frames}
    for name, hinge in hinges.items():
        angle = found[f"body_{name}_deg"] = np.full(len(frames), np.nan)
        angle[np.searchsorted(frames, hinge.frames)] = hinge.angles
    return Table(found)


def constraints(analysis: Analysis) -> Table:
    """One row for each bond of a network, to be edited and read again."""
    rigid: Any = analysis.rigidity
    return Table(constraint_columns(rigid.network, analysis.system.sites))


def flexibility(analysis: Analysis) -> Table:
    """One row for each residue: its flexibility index, and the energy that holds it to the core."""
    rigid: Any = analysis.rigidity
    system, residues = analysis.system, residue_index(analysis.system.sites)
    first = np.unique(residues, return_index=True)[1]
    joins, shown = np.full(len(first), np.nan), residues[system.object_sites[system.shown]]
    joins[shown] = analysis.hierarchy.core_heights()
    found = _residues(system.sites.take(first)) | {
        "flexibility": rigid.flexibility,
        header("core_E", analysis.hierarchy.unit): joins,
    }
    if rigid.together is not None:
        found["in_core"] = np.full(len(first), np.nan)
        found["in_core"][shown] = (rigid.together.stability <= rigid.cutoff).mean(axis=0)
    return Table(found)


def matched(comparison: Comparison) -> Table:
    """One row for each pair of clusters that share sites, those that share most first."""
    found, atoms = comparison.agreement.clusters, comparison.sides[0].shown_atoms
    first, second = found.first, found.second
    sizes = np.column_stack([first.sizes[found.pairs[:, 0]], second.sizes[found.pairs[:, 1]]])
    large = np.flatnonzero(sizes.min(axis=1) >= min_size(comparison))
    order = large[np.argsort(-found.shared[large], kind="stable")]
    one, other = found.pairs[order].T
    both = [np.intersect1d(first.members(i), second.members(j)) for i, j in found.pairs[order]]
    table: dict[str, Any] = {
        "first": one + 1,
        "second": other + 1,
        "first_size": sizes[order, 0],
        "second_size": sizes[order, 1],
        "shared": found.shared[order],
        "jaccard": found.jaccard[order],
        "matched": np.where(found.partners[other] == one, "yes", "no"),
        "members": [runs(atoms, sites) for sites in both],
    }
    return Table(table)


def agreement(comparison: Comparison) -> Table:
    """One row for each pair of cutoffs."""
    found = comparison.agreement
    cutoffs = np.meshgrid(*found.cutoffs, indexing="ij")
    units = header("first", found.first.unit), header("second", found.second.unit)
    grids = (*cutoffs, found.rand, found.variation, found.excess)
    names = (*units, "adjusted_rand", "variation_nats", "excess_nats")
    return Table({name: grid.ravel().tolist() for name, grid in zip(names, grids, strict=True)})


def difference(comparison: Comparison) -> Table:
    """One row for each common site: where it joins the core of each result, second less first."""
    found: Any = comparison.difference
    trees = {"first": comparison.agreement.first, "second": comparison.agreement.second}
    columns = _residues(comparison.sides[0].shown_atoms)
    for name, tree in trees.items():
        columns[header(f"{name}_core_{tree.quantity.symbol}", tree.unit)] = tree.core_heights()
    columns[header("difference", tree.unit)] = found.delta
    if found.error is not None:
        columns[header("error", tree.unit)] = found.error
    return Table(columns)
