"""Two results → where they agree, as words and as one folder of figures, tables and scripts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from timme._arrays import Ints
from timme._files import write_atomically
from timme._html import Described
from timme.analysis import Analysis
from timme.compare import Common, Comparison, Overlap, overlap
from timme.compare import compare as compare_hierarchies
from timme.compare.cutoffs import CLUSTERED, OUTSIDE
from timme.output import comparison, comparison_tables
from timme.output.axes import figure_of, places_of
from timme.output.colours import PALETTES
from timme.output.common import NAMES, Names, on_common_sites
from timme.output.figures import FORMATS, save_both
from timme.output.side_by_side import write_side_by_side
from timme.output.structures import Written
from timme.output.tables import runs_text, short_names
from timme.settings import CompareSettings
from timme.store import RESULT
from timme.workflow.folder import check_folder, write_whole
from timme.workflow.partition import LEVEL, is_table

MARK = "agreement.csv"  # by which a folder is known

_DILUTIONS, _AGREEMENT = (
    tuple(f"{n}.{kind}" for kind in FORMATS) for n in ("dilutions", "agreement")
)
FILES = {  # by which an earlier comparison is known, and what each shows
    **dict.fromkeys(
        _DILUTIONS,
        "both dilutions, matched clusters in one colour; dashed are the cutoffs that agree best",
    ),
    **dict.fromkeys(
        _AGREEMENT,
        "adjusted Rand index over both cutoffs; + is the best pair of those in the dashed frame",
    ),
    "matched.csv": "which cluster is which",
    "matched-asked.csv": "which cluster is which at the cutoffs that were asked for",
    "best-cutoffs.csv": "the best partner of each cutoff",
    MARK: "adjusted Rand index of every pair of cutoffs",
    **dict.fromkeys(
        (f"comparison.{suffix}" for suffix in ("cif", "pdb", "pml", "cxc", "tcl")),
        "the structure coloured by both, with scripts for the viewers",
    ),
}
_LOOKED_FOR = (
    f"looked for where more than {CLUSTERED:.0%} of the sites are in clusters and more than "
    f"{OUTSIDE:.0%} outside the largest: all in one, or all single, agree whatever they are"
)
_LISTED = 4  # pairs of clusters named in the summary
_WIDTH = 100  # letters within which all sites that are left out are named
_FIRST = 10  # of others, so many


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Compared(Described):
    """Two results on their common sites, and how far they agree."""

    whole: tuple[Analysis, Analysis]  # as they were
    first: Analysis  # showing common sites only
    second: Analysis
    common: Common
    found: Comparison
    asked: Overlap | None  # at the cutoffs of the user
    names: Names
    look: CompareSettings

    @property
    def notes(self) -> tuple[str, ...]:
        """What was chosen on the way."""
        tables = (note for one in self.whole if is_table(one) for note in one.notes)
        return (*tables, *self.common.notes, *self.found.notes)


def name_after_paths(first: str | Path, second: str | Path) -> Names:
    """Name two results after their paths.

    Parameters
    ----------
    first, second : path
        Folders or files.

    Returns
    -------
    tuple of str
        Different names.
    """
    one, other = (
        (path.parent.name if path.name == RESULT else path.stem).removeprefix("timme-")
        for path in (Path(first).resolve(), Path(second).resolve())
    )
    return (one, other) if one != other else (f"{one}-1", f"{other}-2")


def add_cutoffs(names: Names, first: Analysis, second: Analysis) -> Names:
    """Add to the names of tables the cutoff of their clusters, where it is known.

    Parameters
    ----------
    names : tuple of str
        What the two are called.
    first, second : Analysis
        What was loaded.

    Returns
    -------
    tuple of str
        Names for figures and tables, such as "sites at 0.12 Å".
    """
    one, other = (
        f"{name} at {made.recipe.cut_at}" if made.recipe.cut_at else name
        for name, made in zip(names, (first, second), strict=True)
    )
    return one, other


def compare_results(
    first: Analysis, second: Analysis, look: CompareSettings, *, names: Names = NAMES
) -> Compared:
    """Compare two results on the sites that both show.

    Parameters
    ----------
    first, second : Analysis
        What was analysed.
    look : CompareSettings
        What the user chose.
    names : tuple of str, optional
        What the two are called.

    Returns
    -------
    Compared
        Ready for :func:`rows` and :func:`write`.
    """
    one, other, common = on_common_sites(first, second, chains=look.chains)
    if len(common.first) < 2:
        raise ValueError(
            "a comparison needs at least 2 common sites, got 1: check chains and residue numbers"
        )
    hierarchies = one.shown_hierarchy, other.shown_hierarchy
    # A table is one partition: single sites, below its level, are none of its answers.
    given = (
        hierarchy.cut(LEVEL) if is_table(analysis) else hierarchy
        for hierarchy, analysis in zip(hierarchies, (first, second), strict=True)
    )
    found = compare_hierarchies(*given, min_size=look.min_size)
    found = replace(found, first=hierarchies[0], second=hierarchies[1])
    asked = None
    if look.cutoffs is not None:
        cuts = (h.cut(cutoff) for h, cutoff in zip(hierarchies, look.cutoffs, strict=True))
        asked = overlap(*cuts, min_size=look.min_size)
    return Compared((first, second), one, other, common, found, asked, names, look)


def rows(compared: Compared) -> list[tuple[str, str]]:
    """Describe a comparison in a few rows.

    Parameters
    ----------
    compared : Compared
        Two results and how far they agree.

    Returns
    -------
    list of (str, str)
        What, and its value.
    """
    found, names = compared.found, compared.names
    made = [
        (which, f"{name}: {len(analysis.system.shown):,} × {analysis.system.shown_name}")
        for which, name, analysis in zip(("first", "second"), names, compared.whole, strict=True)
    ]
    made.append(("common", f"{found.n_sites:,} sites"))
    kept = compared.common.first, compared.common.second
    for name, analysis, sites in zip(names, compared.whole, kept, strict=True):
        left = np.setdiff1d(np.arange(len(analysis.system.shown)), sites)
        if len(left):
            where = _named_briefly(left, short_names(analysis))
            made.append(("left out", f"{len(left):,} of {name}, not in the other: {where}"))
    made.append(("best pair", _pair_text(compared, found.clusters)))
    lives = zip((found.first, found.second), found.ranges, strict=True)
    spans = (f"{_span(low, high)} {of.unit}".rstrip() for of, (low, high) in lives)
    made.append(("", f"the same clusters {' and '.join(spans)}"))
    made.append(("", _agreement_text(found.clusters)))
    made += [("", text) for text in _matched_text(compared)]
    made.append(("", _LOOKED_FOR))
    if compared.asked is not None:
        made.append(("asked for", _pair_text(compared, compared.asked)))
        made.append(("", _agreement_text(compared.asked)))
        made += [("", text) for text in _outside_text(compared, compared.asked)]
    return made


def _outside_text(compared: Compared, at: Overlap) -> list[str]:
    """Say why a pair of cutoffs could not have been the best one, however well it agrees."""
    made, count = [], compared.found.n_sites
    for name, analysis, part in zip(
        compared.names, compared.whole, (at.first, at.second), strict=True
    ):
        largest = int(part.sizes[0])
        clustered = int(part.sizes[part.sizes >= compared.look.min_size].sum())
        if is_table(analysis):
            continue
        if count - largest <= OUTSIDE * count:
            made.append(f"{largest:,} of {count:,} sites of {name} are one cluster")
        elif clustered <= CLUSTERED * count:
            made.append(f"{clustered:,} of {count:,} sites of {name} are in clusters")
    return [f"not looked at for the best pair: {' and '.join(made)}"] if made else []


def _span(low: float, high: float) -> str:
    """Write two cutoffs with as many digits as tell them apart, three at least."""
    for digits in range(3, 18):
        ends = f"{low:.{digits}g}", f"{high:.{digits}g}"
        if ends[0] != ends[1]:
            return f"from {ends[0]} to {ends[1]}"
    return f"at {low:.3g}"


def write(compared: Compared, folder: str | Path, *, overwrite: bool = False) -> Written:
    """Write figures, tables and scripts of a comparison into one folder.

    Parameters
    ----------
    compared : Compared
        Two results and how far they agree.
    folder : path
        Folder to make.
    overwrite : bool, optional
        Whether an earlier comparison in that folder may be replaced.

    Returns
    -------
    Written
        The files, and why others could not be written.
    """
    target = check_folder(folder, overwrite=overwrite, mark=MARK)
    return write_whole(target, partial(_fill, compared), FILES)


def _fill(compared: Compared, folder: Path) -> tuple[str, ...]:
    found, names, palette = compared.found, compared.names, PALETTES[compared.look.palette]
    one, other = compared.first, compared.second
    lengths = one.length, other.length
    drawn = comparison.dilutions(
        found, places=places_of(one), lengths=lengths, names=names, palette=palette
    )
    cutoffs = compared.look.cutoffs
    asked = None if cutoffs is None else (cutoffs[0], cutoffs[1])
    heatmap = comparison.heatmap(found, lengths=lengths, names=names, asked=asked)
    for stem, figure in (("dilutions", drawn), ("agreement", figure_of(heatmap))):
        save_both(figure, folder / stem)
    contents = {
        MARK: comparison_tables.agreement_csv(found, names=names),
        "best-cutoffs.csv": comparison_tables.best_cutoffs_csv(found, names=names),
        "matched.csv": comparison_tables.matched_csv(one, found, names=names, palette=palette),
    }
    if compared.asked is not None:
        at = replace(found, clusters=compared.asked)
        contents["matched-asked.csv"] = comparison_tables.matched_csv(
            one, at, names=names, palette=palette
        )
    for name, text in contents.items():
        write_atomically(folder / name, text)
    if not one.system.n_dimensions and not other.system.n_dimensions:
        return ("no structures: neither of the two has coordinates",)
    return write_side_by_side(one, other, found, folder, names=names, palette=palette).notes


def _named_briefly(sites: Ints, names: list[tuple[str, str]]) -> str:
    """Name sites as runs, of very many runs the first sites only."""
    whole = runs_text(sites, names)
    if len(whole) <= _WIDTH:
        return whole
    return f"{runs_text(sites[:_FIRST], names)} and {len(sites) - _FIRST:,} more"


def _pair_text(compared: Compared, at: Overlap) -> str:
    sides = ((compared.first, at.first), (compared.second, at.second))
    return " with ".join(
        analysis.hierarchy.quantity.cutoff_text(partition.cutoff, analysis.length)
        for analysis, partition in sides
    )


def _agreement_text(at: Overlap) -> str:
    sizes = (
        ", ".join(str(size) for size in part.sizes[:4] if size > 1) or "1"
        for part in (at.first, at.second)
    )
    return (
        f"adjusted Rand index {at.rand:.3f}, variation of information {at.variation:.3f} nats "
        f"({at.normalised_variation:.2f} of the joint entropy); largest {' against '.join(sizes)}"
    )


def _matched_text(compared: Compared) -> list[str]:
    """Name the largest pairs of partners."""
    found, names = compared.found.clusters, compared.names
    partner = found.partners[found.pairs[:, 1]] == found.pairs[:, 0]
    chosen = np.flatnonzero(partner)
    ranked = chosen[np.argsort(-found.shared[chosen], kind="stable")][:_LISTED]
    return [
        f"cluster {one + 1} of {names[0]} is {other + 1} of {names[1]}: "
        f"{found.shared[pair]} sites in both, Jaccard {found.jaccard[pair]:.2f}"
        for pair, (one, other) in zip(ranked.tolist(), found.pairs[ranked].tolist(), strict=True)
    ]
