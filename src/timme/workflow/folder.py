"""An Analysis → one folder of figures, tables, structures and scripts, written whole or not."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from timme import store
from timme.analysis import Analysis
from timme.output.axes import Order
from timme.output.colours import PALETTES
from timme.output.figures import FIGURES, Look, figures_of, save_figure, save_figures
from timme.output.figures import draw as draw_figure
from timme.output.report import MISSING, SCRIPT, page_part, write_report
from timme.output.rigidity import (
    constraints_text,
    decomposition_text,
    write_rigidity,
    write_together,
)
from timme.output.scene import Scene, scene
from timme.output.scripts import write_scripts
from timme.output.structures import Written, write_structures
from timme.output.tables import write_tables
from timme.rigidity import decompose
from timme.settings import Display
from timme.statistics import Suggestion, suggest

RESULT = "result.npz"

_FORMATS = {".png", ".svg", ".pdf", ".eps", ".jpg", ".tif"}

# Names that a result may have: files of an earlier one are known by them.
_STEMS = {
    *FIGURES,
    *("result", "clusters", "sites", "levels", "hierarchy", "linkage"),
    *("constraints", "flexibility-bonds", "report"),
}
_SUFFIXES = set(".npz .svg .png .csv .json .nwk .npy .pdb .cif .pml .cxc .tcl .html".split())


def write(analysis: Analysis, folder: str | Path, *, overwrite: bool = False) -> Written:
    """Write everything that can be drawn and listed of an analysis into one folder.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    folder : path
        Folder to make.
    overwrite : bool, optional
        Whether an earlier result in that folder may be replaced.

    Returns
    -------
    Written
        The files, and why others could not be written.
    """
    target = checked_folder(folder, overwrite=overwrite)
    earlier = {f"{stem}{suffix}" for stem in _STEMS for suffix in _SUFFIXES}
    return written_whole(target, partial(_fill, analysis), earlier)


def written_whole(
    target: Path, fill: Callable[[Path], tuple[str, ...]], earlier: Collection[str]
) -> Written:
    """Write a folder whole, or leave everything as it was.

    Parameters
    ----------
    target : Path
        Folder to make, or to be replaced in part.
    fill : callable
        Fills a folder and returns notes.
    earlier : collection of str
        Names of files of an earlier result, which are removed; others stay where they are.

    Returns
    -------
    Written
        The files, and the notes.
    """
    new_parents = [parent for parent in target.parents if not parent.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        notes = fill(made)
        names = sorted(path.name for path in made.iterdir())
        made.chmod(0o755)
        if target.exists():
            for path in target.iterdir():
                if path.is_file() and path.name in earlier:
                    path.unlink()
            for path in made.iterdir():
                path.replace(target / path.name)
            made.rmdir()
        else:
            made.replace(target)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        for parent in new_parents:
            parent.rmdir()
        raise
    return Written(tuple(target / name for name in names), notes)


def checked_folder(folder: str | Path, *, overwrite: bool, mark: str = RESULT) -> Path:
    """Refuse a folder into which a result cannot go, before any work is done.

    Parameters
    ----------
    folder : path
        Folder to be written.
    overwrite : bool
        Whether an earlier result may be replaced.
    mark : str, optional
        Name of a file by which an earlier result is known.

    Returns
    -------
    Path
        The same.
    """
    target = Path(folder)
    if (target.exists() or target.is_symlink()) and not target.is_dir():
        raise FileExistsError(f"{target} is no folder: choose one (folder=)")
    if target.is_dir() and any(target.iterdir()):
        if not overwrite:
            raise FileExistsError(
                f"{target} exists: choose another folder (folder=), or add overwrite=True"
            )
        if not (target / mark).is_file():
            raise FileExistsError(f"{target} holds no result of timme: choose another (folder=)")
    return target


def suggestions(analysis: Analysis) -> tuple[Suggestion, ...]:
    """List the cutoffs worth looking at, the one of the pictures first.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.

    Returns
    -------
    tuple of Suggestion
        The user's own cutoff, if there is one, then those that the hierarchy suggests.
    """
    settings = analysis.settings
    found = suggest(analysis.shown_hierarchy, large=_whole(settings["large"]))
    chosen = settings.get("cutoff")
    if isinstance(chosen, int | float):
        return (Suggestion(float(chosen), "chosen by the user"), *found)
    return found


def summary(analysis: Analysis) -> list[tuple[str, str]]:
    """Describe an analysis in a few rows.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.

    Returns
    -------
    list of (str, str)
        What, and its value.
    """
    settings, hierarchy = analysis.settings, analysis.shown_hierarchy
    quantity = hierarchy.quantity
    rows = []
    inputs = analysis.provenance.get("inputs")
    if isinstance(inputs, list) and inputs:
        rows.append(("input", ", ".join(str(entry["name"]) for entry in inputs)))
    if analysis.n_snapshots:
        rows += [
            ("snapshots", f"{analysis.n_snapshots:,}"),
            ("sites", f"{_whole(settings['n_sites']):,}"),
            ("objects", f"{analysis.hierarchy.n_sites:,} {settings['kind']}"),
        ]
    if "n_pairs" in settings:
        rows.append(("pairs", f"{_whole(settings['n_pairs']):,} {settings['compared']}"))
    if analysis.network is not None:
        rows.append(("constraints", constraints_text(analysis.network)))
    shown = f"{hierarchy.n_sites:,} × {analysis.shown_name}"
    rows += [("shown", shown), ("levels", f"{len(hierarchy.levels):,}")]
    for number, suggestion in enumerate(suggestions(analysis)):
        cutoff = quantity.cutoff_text(suggestion.cutoff, analysis.length)
        sizes = hierarchy.cut(suggestion.cutoff).sizes
        largest = ", ".join(str(size) for size in sizes[:5] if size > 1) or "1"
        rows.append(
            ("cutoffs" if number == 0 else "", f"{cutoff}: {suggestion.reason}; largest {largest}")
        )
    if analysis.network is not None:
        look = _look(analysis)
        found = decompose(analysis.network, _energy(look))
        text = decomposition_text(found, min_size=look.min_size)
        rows.append(("rigidity", f"at {quantity.cutoff_text(_energy(look))}: {text}"))
    return rows


def draw(
    analysis: Analysis, name: str, path: str | Path, *, order: Order = "auto", **changes: Any
) -> Path:
    """Draw one figure of an analysis again, with other choices.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    name : str
        One of :data:`timme.output.figures.FIGURES`.
    path : path
        File to write; its suffix is the format.
    order : {"auto", "label", "sequence"} or sequence of int, optional
        Order of the shown objects along the axis.
    **changes
        Fields of :class:`timme.Settings` that concern pictures.

    Returns
    -------
    Path
        The file written.
    """
    target = Path(path)
    if target.suffix.lower() not in _FORMATS:
        raise ValueError(f"{target}: a figure is written as {', '.join(sorted(_FORMATS))}")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target}: there is no folder {target.parent}: make it first")
    Display(**changes)  # refuses what means nothing
    length = changes.get("length", analysis.length)
    changed = replace(analysis, settings={**analysis.settings, **changes}, length=length)
    return save_figure(draw_figure(changed, name, _look(changed, order)), path)


def scene_of(analysis: Analysis) -> Scene:
    """Gather what the interactive page shows of an analysis, as its settings say.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.

    Returns
    -------
    dict
        As :func:`timme.output.scene.scene` describes.
    """
    settings = analysis.settings
    return scene(
        analysis,
        suggestions(analysis),
        min_size=_whole(settings["min_size"]),
        large=_whole(settings["large"]),
        palette="safe" if settings["palette"] == "safe" else "wide",
    )


def report(analysis: Analysis, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write the interactive report of an analysis: one file that needs no network.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    path : path
        File to write.
    overwrite : bool, optional
        Whether a file of that name may be replaced.

    Returns
    -------
    Path
        The file written.
    """
    target = Path(path)
    if target.exists() and not overwrite:
        raise FileExistsError(
            f"{target} exists: choose another name (path=), or add overwrite=True"
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target}: there is no folder {target.parent}: make it first")
    return write_report(scene_of(analysis), target)


def _fill(analysis: Analysis, folder: Path) -> tuple[str, ...]:
    look = _look(analysis)
    cutoffs = [suggestion.cutoff for suggestion in suggestions(analysis)]
    shared: dict[str, Any] = {"min_size": look.min_size, "palette": look.palette}
    store.save(analysis, folder / RESULT)
    write_tables(analysis, folder, cutoffs, large=look.large, **shared)
    save_figures(analysis, folder, look)
    if analysis.network is not None:
        found = decompose(analysis.network, _energy(look))
        write_rigidity(analysis, analysis.network, found, folder)
    if "together" in figures_of(analysis):
        write_together(analysis, folder)
    notes = _fill_report(analysis, folder)
    if look.cutoff is None:
        return (*notes, "no structures: nothing ever joins")
    if analysis.coordinates.shape[1] == 0:
        return (*notes, "no structures: a matrix has no coordinates")
    structures = write_structures(analysis, folder, look.cutoff, **shared)
    write_scripts(analysis, folder, look.cutoff, structures, **shared)
    return (*notes, *structures.notes)


def _fill_report(analysis: Analysis, folder: Path) -> tuple[str, ...]:
    if page_part(SCRIPT) is None:
        return (f"report.html was left out: {MISSING}",)
    write_report(scene_of(analysis), folder / "report.html")
    return ()


def _look(analysis: Analysis, order: Order = "auto") -> Look:
    settings = analysis.settings
    found = suggestions(analysis)
    return Look(
        cutoff=found[0].cutoff if found else None,
        min_size=_whole(settings["min_size"]),
        large=_whole(settings["large"]),
        palette=PALETTES[str(settings["palette"])],
        order=order,
    )


def _energy(look: Look) -> float:
    """Return the energy at which a network is decomposed: all bonds where nothing ever joins."""
    return 0.0 if look.cutoff is None else look.cutoff


def _whole(value: object) -> int:
    return int(str(value))
