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
from timme._files import write_atomically
from timme.analysis import Analysis, suggestions
from timme.output.axes import Order
from timme.output.figures import FIGURES, save_figure, save_figures
from timme.output.figures import draw as draw_figure
from timme.output.groups import write_groups
from timme.output.look import look_of
from timme.output.registry import FILES, tables_of_parts
from timme.output.report import MISSING, SCRIPT, page_part, write_report
from timme.output.scene import Scene, scene
from timme.output.scripts import write_scripts
from timme.output.structures import Written, write_structures
from timme.output.tables import write_tables
from timme.settings import Display

RESULT = "result.npz"

_FORMATS = {".png", ".svg", ".pdf", ".eps", ".jpg", ".tif"}

# Names that a result may have: files of an earlier one are known by them.
_STEMS = {
    *FIGURES,
    *("result", "clusters", "sites", "levels", "hierarchy", "linkage"),
    *(Path(file).stem for file in FILES),
    *("report", "groups"),
}
_SUFFIXES = set(".npz .svg .png .csv .json .nwk .npy .pdb .cif .pml .cxc .tcl .html".split())
_SUFFIXES |= {".extxyz", ".dump", ".ndx", ".plumed"}


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
    view = replace(analysis.recipe.view, **changes)
    changed = replace(analysis, recipe=replace(analysis.recipe, view=view))
    return save_figure(draw_figure(changed, name, look_of(changed, order)), path)


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
    view = analysis.recipe.view
    return scene(
        analysis,
        suggestions(analysis),
        min_size=view.min_size,
        large=view.large,
        palette="safe" if view.palette == "safe" else "wide",
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
    look = look_of(analysis)
    cutoffs = [suggestion.cutoff for suggestion in suggestions(analysis)]
    shared: dict[str, Any] = {"min_size": look.min_size, "palette": look.palette}
    store.save(analysis, folder / RESULT)
    write_tables(analysis, folder, cutoffs, large=look.large, **shared)
    save_figures(analysis, folder, look)
    for name, text in tables_of_parts(analysis, look).items():
        write_atomically(folder / name, text)
    notes = _fill_report(analysis, folder)
    if look.cutoff is None:
        return (*notes, "no structures: nothing ever joins")
    if analysis.system.n_dimensions == 0:
        return (*notes, "no structures: a matrix has no coordinates")
    structures = write_structures(analysis, folder, look.cutoff, **shared)
    write_scripts(analysis, folder, look.cutoff, structures, **shared)
    write_groups(analysis, folder, look.cutoff, **shared)
    return (*notes, *structures.notes)


def _fill_report(analysis: Analysis, folder: Path) -> tuple[str, ...]:
    if page_part(SCRIPT) is None:
        return (f"report.html was left out: {MISSING}",)
    write_report(scene_of(analysis), folder / "report.html")
    return ()
