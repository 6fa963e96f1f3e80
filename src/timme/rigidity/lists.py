"""Lists of constraints: a network as a table that people read, edit and argue with."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from timme._arrays import frozen
from timme.readers.files import read_bytes
from timme.rigidity.network import (
    BARS,
    COVALENT,
    HYDROGEN_BOND,
    SALT_BRIDGE,
    TETHER,
    Network,
)
from timme.system.ensemble import Ensemble

_HEADER = ("kind", "bars", "energy (kcal/mol)", "atom 1", "atom 2", "label 1", "label 2")
_NEEDED = ("kind", "bars", "energy", "atom 1", "atom 2")
_WITH_ENERGY = (HYDROGEN_BOND, SALT_BRIDGE)


def constraints_csv(network: Network, ensemble: Ensemble) -> str:
    """List all constraints, one per row.

    Parameters
    ----------
    network : Network
        Constraints between the sites of the ensemble.
    ensemble : Ensemble
        The structure, for the labels of its atoms.

    Returns
    -------
    str
        Kind, bars, energy (empty for what is always there), and for both atoms their number,
        counted from 1, and label.
    """
    _check_size(network.n_bodies, ensemble)
    labels = {int(atom): ensemble.site_label(int(atom)) for atom in np.unique(network.bonds)}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEADER)
    columns = (network.kinds, network.bars, network.energies, network.bonds)
    for kind, bars, energy, (one, other) in zip(*(c.tolist() for c in columns), strict=True):
        shown = "" if math.isnan(energy) else energy
        writer.writerow([kind, bars, shown, one + 1, other + 1, labels[one], labels[other]])
    return text.getvalue()


def write_constraints(network: Network, ensemble: Ensemble, path: str | Path) -> Path:
    """Write all constraints as a table.

    Parameters
    ----------
    network : Network
        Constraints between the sites of the ensemble.
    ensemble : Ensemble
        The structure, for the labels of its atoms.
    path : str or Path
        A CSV file; whatever is there is replaced.

    Returns
    -------
    Path
        The file written.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name}.part")
    try:
        temporary.write_text(constraints_csv(network, ensemble), encoding="utf-8")
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return target


def read_constraints(path: str | Path, ensemble: Ensemble) -> Network:
    """Read constraints back, edited or not.

    Rows may be removed, added and changed, in any order. Columns are known by their names; an atom
    is known by its number or, where that is empty, by its label. Where both are given they must
    agree, so that the list of another structure is not taken by mistake.

    Parameters
    ----------
    path : str or Path
        A table with the columns that are written, separated by commas, semicolons or tabs.
    ensemble : Ensemble
        The structure.

    Returns
    -------
    Network
        Constraints in the order of the table.
    """
    source = Path(path)
    text = read_bytes(source).decode("utf-8", errors="replace")
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    rows = csv.reader(io.StringIO(text), delimiter=delimiter)
    names = [name.partition("(")[0].strip().lower() for name in next(rows)]
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise ValueError(
            f"{source}: line 1: there is no column {', '.join(map(repr, missing))}: "
            f"a list of constraints has {', '.join(map(repr, _NEEDED))}"
        )
    parser = _Parser(ensemble, decimal_comma=delimiter == ";")
    found = list[tuple[str, int, float, int, int]]()
    try:
        for row in rows:
            if any(field.strip() for field in row):
                fields = (field.strip() for field in row)
                found.append(parser.constraint(dict(zip(names, fields, strict=False))))
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{source}: line {rows.line_num}: {error}") from None
    if not found:
        raise ValueError(
            f"{source}: rigidity needs covalent bonds, and there are none in this list: "
            "edit the constraints.csv of a run"
        )
    return Network(
        n_bodies=ensemble.n_sites,
        bonds=frozen(np.array([row[3:] for row in found], dtype=np.int64).reshape(-1, 2)),
        bars=frozen(np.array([row[1] for row in found], dtype=np.int64)),
        kinds=frozen(np.array([row[0] for row in found], dtype=np.str_)),
        energies=frozen(np.array([row[2] for row in found], dtype=np.float64)),
        notes=(f"the constraints are those of {source}",),
    )


class _Parser:
    """Rows of a table become constraints between the sites of one ensemble."""

    def __init__(self, ensemble: Ensemble, *, decimal_comma: bool) -> None:
        self.decimal_comma = decimal_comma
        self.seen = set[tuple[str, int, int]]()
        self.labels = [ensemble.site_label(site) for site in range(ensemble.n_sites)]
        self.sites: dict[str, list[int]] = {}
        for site, label in enumerate(self.labels):
            self.sites.setdefault(label, []).append(site)

    def constraint(self, row: Mapping[str, str]) -> tuple[str, int, float, int, int]:
        kind = row.get("kind", "").lower()
        if kind not in BARS:
            raise ValueError(f"the kind is one of {', '.join(BARS)}, got {kind!r}")
        bars = self.number(row.get("bars", ""), "bars")
        if bars not in range(1, 7):
            raise ValueError(f"a bond has 1 to 6 bars, got {row['bars']!r}")
        energy = math.nan
        if row.get("energy", ""):
            energy = self.number(row["energy"], "the energy")
        elif kind in _WITH_ENERGY:
            raise ValueError(f"a {kind} needs an energy in kcal/mol, such as -1.5")
        one, other = self.site(row, "1"), self.site(row, "2")
        if one == other:
            raise ValueError(f"a bond joins two atoms, got {self.labels[one]} twice")
        self.refuse_again(kind, one, other)
        return kind, int(bars), energy, one, other

    def refuse_again(self, kind: str, one: int, other: int) -> None:
        sort = HYDROGEN_BOND if kind in _WITH_ENERGY else TETHER if kind == TETHER else COVALENT
        bond = (sort, min(one, other), max(one, other))
        if bond in self.seen:
            raise ValueError(
                f"there is a {sort}{' bond' * (sort == COVALENT)} of {self.labels[one]} and "
                f"{self.labels[other]} above: leave out one of the two rows"
            )
        self.seen.add(bond)

    def site(self, row: Mapping[str, str], which: str) -> int:
        number, label = row.get(f"atom {which}", ""), row.get(f"label {which}", "")
        if not number:
            return self._labelled(label, which)
        value = self.number(number, f"atom {which}")
        if value not in range(1, len(self.labels) + 1):
            raise ValueError(f"atoms go from 1 to {len(self.labels)}, got {number!r}")
        site = int(value) - 1
        if label and label != self.labels[site]:
            raise ValueError(
                f"atom {number} is {self.labels[site]} in this structure, not {label}: "
                "correct the number or the label, or give the structure of this list"
            )
        return site

    def number(self, text: str, what: str) -> float:
        plain = text.replace("\N{MINUS SIGN}", "-")  # as spreadsheets and papers write it
        try:
            value = float(plain.replace(",", ".") if self.decimal_comma else plain)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise ValueError(f"{what} must be a number, got {text!r}")
        return value

    def _labelled(self, label: str, which: str) -> int:
        found = self.sites.get(label, [])
        if len(found) != 1:
            reason = "there are several of that name" if found else "there is none of that name"
            raise ValueError(
                f"atom {which} needs a number or a label, got {label!r}: {reason}; "
                f"a label is written as {self.labels[0]!r}"
            )
        return found[0]


def _check_size(n_bodies: int, ensemble: Ensemble) -> None:
    if n_bodies != ensemble.n_sites:
        raise ValueError(
            f"the network has {n_bodies} bodies and the structure {ensemble.n_sites} sites: "
            "give the structure from which the network was made"
        )
