"""An Analysis → one folder of figures, tables, structures and scripts, written whole or not."""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from timme import store
from timme._files import write_atomically
from timme.analysis import Analysis, require_analysis
from timme.output import body_scripts, groups, mode_scripts, registry, scripts, structures, tables
from timme.output.axes import Order
from timme.output.declared import collect
from timme.output.figures import FORMATS, known_figures, save_figure, save_figures
from timme.output.figures import draw as draw_figure
from timme.output.groups import write_groups
from timme.output.look import Look, look_of
from timme.output.report import MISSING, SCRIPT, page_part, write_report
from timme.output.scene import Scene, scene
from timme.output.scripts import write_scripts
from timme.output.structures import Written, write_structures
from timme.output.tables import write_tables
from timme.settings import Display
from timme.store import RESULT

REPORT = "report.html"

_FORMATS = {".png", ".svg", ".pdf", ".eps", ".jpg", ".tif"}


def known_files() -> dict[str, str]:
    """List the files that the folder of a result may hold, by which an earlier one is known.

    Returns
    -------
    dict of str
        What each shows, in one line, by its name.
    """
    figures = [
        (f"{figure.name}.{kind}", figure.caption)
        for figure in known_figures().values()
        for kind in FORMATS
    ]
    moving = body_scripts.FILES | mode_scripts.FILES
    written = (structures.FILES, scripts.FILES, groups.FILES, moving)
    listed = (tables.FILES, registry.known_tables(), *written)
    return collect(
        (
            (REPORT, "interactive report, which needs no server"),
            *figures,
            *(file for files in listed for file in files.items()),
            (RESULT, "everything, for timme.load and timme plot"),
        )
    )


def first_looks() -> tuple[str, ...]:
    """Name the files that are worth a look before all others.

    Returns
    -------
    tuple of str
        Some of :func:`known_files`; not every result has all of them.
    """
    drawn = (f"{figure.name}.png" for figure in known_figures().values() if figure.first)
    return (REPORT, *drawn, "clusters.csv", "clusters.pml")


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
    require_analysis(analysis, "write")
    target = check_folder(folder, overwrite=overwrite)
    return write_whole(target, partial(_fill, analysis), known_files())


def write_whole(
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
    except BaseException as error:
        shutil.rmtree(made, ignore_errors=True)
        for parent in new_parents:
            parent.rmdir()
        if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise OSError(
                f"{target} cannot be written: there is no space left on its disk: make room, "
                "or choose another folder (folder=)"
            ) from None
        raise
    return Written(tuple(target / name for name in names), notes)


def check_folder(folder: str | Path, *, overwrite: bool, mark: str = RESULT) -> Path:
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
        That folder, which need not be there yet.
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
    _refuse_unwritable(target)
    return target


def _refuse_unwritable(target: Path) -> None:
    """Refuse what will not be written hours later: a folder is made where it would be, for now."""
    there = next(parent for parent in target.absolute().parents if parent.exists())
    try:
        Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=there)).rmdir()
    except OSError as error:
        raise PermissionError(
            f"{target} cannot be written ({error.strerror}): choose another folder (folder=)"
        ) from None


def draw(
    analysis: Analysis, name: str, path: str | Path, *, order: Order = "auto", **changes: Any
) -> Path:
    """Draw one figure of an analysis again, with other choices.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    name : str
        One of :func:`timme.output.figures.known_figures`.
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
    chosen = replace(analysis.recipe.settings, **changes)
    changed = replace(analysis, recipe=replace(analysis.recipe, settings=chosen))
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
    chosen = analysis.recipe.settings
    return scene(
        analysis,
        analysis.suggest(),
        min_size=chosen.min_size,
        large=chosen.large,
        palette="safe" if chosen.palette == "safe" else "wide",
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
    with ThreadPoolExecutor(1) as beside:  # packing leaves the interpreter to those who draw
        saved = beside.submit(store.save, analysis, folder / RESULT)
        notes = _fill_with_looks(analysis, folder, look_of(analysis))
        saved.result()
    return notes


def _fill_with_looks(analysis: Analysis, folder: Path, look: Look) -> tuple[str, ...]:
    """Write all that is drawn and listed."""
    cutoffs = [suggestion.cutoff for suggestion in analysis.suggest()]
    shared: dict[str, Any] = {"min_size": look.min_size, "palette": look.palette}
    write_tables(analysis, folder, cutoffs, large=look.large, **shared)
    save_figures(analysis, folder, look)
    for name, text in registry.tables_of_parts(analysis, look).items():
        write_atomically(folder / name, text)
    notes = _fill_report(analysis, folder)
    if look.cutoff is None:
        return (*notes, "no structures: nothing ever joins")
    if analysis.system.n_dimensions == 0:
        return (*notes, "no structures: a matrix has no coordinates")
    written = write_structures(analysis, folder, look.cutoff, **shared)
    write_scripts(analysis, folder, look.cutoff, written, **shared)
    write_groups(analysis, folder, look.cutoff, **shared)
    body_scripts.write_body_scripts(analysis, folder)
    mode_scripts.write_mode_scripts(analysis, folder)
    return (*notes, *written.notes)


def _fill_report(analysis: Analysis, folder: Path) -> tuple[str, ...]:
    if page_part(SCRIPT) is None:
        return (f"{REPORT} was left out: {MISSING}",)
    write_report(scene_of(analysis), folder / REPORT)
    return ()
