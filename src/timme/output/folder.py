"""The folder of a result: one list of files, written whole or not at all.

A folder is filled under another name beside its own and then renamed. At every moment the old or
the new result is complete; the next run cleans up after one that was killed.
"""

from __future__ import annotations

import ctypes
import difflib
import glob
import hashlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from filelock import FileLock, Timeout

from timme._text import write_atomically
from timme.analysis import store, tables
from timme.analysis.result import Analysis
from timme.analysis.store import RESULT
from timme.output import plots, structures, style, viewers
from timme.output.page import is_built, report_html
from timme.output.summary import summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_IMAGES = (".png", ".svg", ".pdf")


class File(NamedTuple):
    """A file of a result: the functions take the result."""

    name: str
    about: str
    when: Callable[[Any], bool]  # whether a result has it
    make: Callable[..., Any]  # text, bytes, a table or a figure
    full: bool = False  # whether it is written on demand only


def _always(result: Any) -> bool:
    return result is not None


def _moves(analysis: Analysis) -> bool:
    return analysis.motion is not None and bool(analysis.motion.hinges)


def _has(name: str) -> Callable[[Any], bool]:
    """Return a test for a part of a result."""
    return lambda result: getattr(result, name) is not None


def _is_numbered(analysis: Analysis) -> bool:
    return analysis.system.numbers is not None


def _is_molecule(analysis: Analysis) -> bool:
    return analysis.made.kind == "molecule" and analysis.system.coordinates.shape[1] == 3


def _is_in_space(analysis: Analysis) -> bool:
    return analysis.made.kind == "particles" and analysis.system.coordinates.shape[1] > 0


def _summary(result: Any) -> str:
    return summary(result, [(file.name, file.about) for file in files_of(result, full=False)])


def _figure(name: str, about: str, when: Callable[[Any], bool], make: Callable[..., Any]) -> File:
    return File(f"figures/{name}.png", about, when, make, full=True)


FILES = [
    File("summary.txt", "the answer, and all that led to it", _always, _summary),
    File("report.html", "the interactive page, offline", lambda _: is_built(), report_html),
    File(RESULT, "everything, to show, compare and export again", _always, store.to_bytes),
    File("sites.csv", "one row for each site that is shown", _always, tables.sites),
    File("clusters.csv", "one row for each cluster of the hierarchy", _always, tables.clusters),
    File("levels.csv", "clusters at every cutoff, beside chance", _always, tables.levels),
    File("bodies.csv", "one row for each rigid body", _has("motion"), tables.bodies),
    File("angles.csv", "angle of each body in each snapshot", _moves, tables.angles),
    File("constraints.csv", "bonds of the network", _has("rigidity"), tables.constraints),
    File("flexibility.csv", "flexibility of each residue", _has("rigidity"), tables.flexibility),
    File("structure.cif", "first snapshot, with groups and clusters", _is_molecule, structures.cif),
    File("view.pml", "PyMOL: bodies with axes, clusters", _is_molecule, viewers.pymol),
    File("view.cxc", "the same for ChimeraX", _is_molecule, viewers.chimerax),
    File("view.tcl", "the same for VMD", _is_molecule, viewers.vmd),
    File("sites.extxyz", "particles with groups, for OVITO", _is_in_space, structures.extxyz),
    File("finding.png", "the finding in one figure, for a talk", _always, plots.finding),
    File("dilution.png", "clusters at every cutoff", _always, plots.dilution),
    _figure("fraction", "fraction of sites in large clusters", _always, plots.fraction),
    _figure("size-distribution", "sites in clusters of 1 to 5", _always, plots.sizes),
    _figure("mobility", "cutoff at which each site joins the core", _always, plots.mobility),
    _figure("joining", "cutoff at which two sites join", _always, plots.joining),
    _figure("sigma-matrix", "σ of pairs", _has("fluctuations"), plots.sigma),
    _figure("angles", "angle of each body in each snapshot", _moves, plots.angles),
    _figure("modes", "variance of principal components", _has("modes"), plots.modes),
    _figure("covariance", "correlation of displacements", _has("modes"), plots.covariance),
    File("figures/mode.pdb", "first mode", _has("modes"), structures.mode_film, full=True),
    File("structure.pdb", "first snapshot", structures.fits_pdb, structures.pdb, full=True),
    File("groups/groups.ndx", "for GROMACS", _is_numbered, structures.ndx, full=True),
]


def _of_both(file: File) -> File:
    """Return a file of a comparison: one structure with the clusters of both results."""
    return file._replace(
        when=lambda comparison: file.when(comparison.sides[1]),
        make=lambda comparison: file.make(comparison.sides[1]),
    )


COMPARISON_FILES = [
    *FILES[:3],  # summary, page and result
    File("matched.csv", "which clusters share sites", _always, tables.matched),
    File("agreement.csv", "agreement at every pair of cutoffs", _always, tables.agreement),
    File("difference.csv", "difference of each site", _has("difference"), tables.difference),
    File("agreement.png", "the same as a figure", _always, plots.agreement),
    File("dilutions.png", "both dilution plots, in the same colours", _always, plots.dilutions),
    *(_of_both(file) for file in FILES if file.name.startswith(("structure.cif", "view."))),
]


def files_of(result: Any, *, full: bool = True) -> list[File]:
    """Return the files of a result, including those written on demand."""
    listed = FILES if isinstance(result, Analysis) else COMPARISON_FILES
    return [file for file in listed if (full or not file.full) and file.when(result)]


def write_folder(
    result: Any, folder: str | Path, *, overwrite: bool = False, full: bool = False
) -> tuple[Path, ...]:
    """Write the folder of a result, whole or not at all, and return its files.

    Parameters
    ----------
    result : Analysis or Comparison
        What to write.
    folder : path
        Folder to make.
    overwrite : bool, optional
        Whether to replace an earlier result in it; other files stay.
    full : bool, optional
        Whether to write all figures, tables and groups, too.

    Returns
    -------
    tuple of Path
        The files that were written.
    """
    with claim(folder, overwrite=overwrite) as target:
        made = _beside(target, "new")
        try:
            made.mkdir(parents=True)
            listed, kinds = files_of(result, full=full), _IMAGES[: 1 + full]
            names = [name for file in listed for name in _write(file, result, made, kinds)]
            _swap(made, target)
        except OSError as error:
            raise _unwritable(target, error) from None
        finally:
            _clean_up(target)
        return tuple(target / name for name in names)


@contextmanager
def claim(folder: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Keep other runs out of a folder, and refuse one that cannot be written.

    Parameters
    ----------
    folder : path
        Folder to be written; claim it before work is done.
    overwrite : bool, optional
        Whether an earlier result in it may be replaced.

    Yields
    ------
    Path
        Its absolute path.
    """
    target = Path(folder).expanduser().resolve()
    name = hashlib.sha256(str(target).encode(errors="surrogateescape")).hexdigest()[:32]
    try:
        lock = FileLock(_locks() / f"{name}.lock", timeout=0, is_singleton=True).acquire()
    except Timeout:
        raise FileExistsError(
            f"{folder}: another run is writing into this folder: wait, or choose another folder"
        ) from None
    with lock:
        _clean_up(target)
        _check(target, overwrite=overwrite)
        yield target


def _locks() -> Path:
    """Return a folder for locks in the user's cache; some accounts, as in containers, have none."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "timme" / "locks"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.gettempdir())
    return folder


def checkpoint_of(folder: str | Path) -> Path:
    """Return where an unfinished run for a folder keeps what it has computed."""
    target = Path(folder).expanduser().resolve()
    return target.with_name(f".{target.name}.checkpoint")


def export(
    result: Any,
    folder: str | Path,
    what: str | Sequence[str] | None = None,
    *,
    full: bool = False,
    overwrite: bool = False,
    cutoff: float | None = None,
) -> tuple[Path, ...]:
    """Write the files of a result, or some of them.

    Parameters
    ----------
    result : Analysis or Comparison
        What to write.
    folder : path
        Folder to write into; or a file, if `what` names one of its kind. A figure takes its format
        from the suffix: ``.png``, ``.svg`` or ``.pdf``.
    what : str or sequence of str, optional
        Names of files, or their beginnings, such as "dilution" or "tables"; by default the whole
        folder.
    full, overwrite : bool, optional
        For a whole folder: whether to include the files written on demand, and whether to replace
        an earlier result.
    cutoff : float, optional
        Cutoff at which clusters are shown, by default that of the finding.

    Returns
    -------
    tuple of Path
        The files that were written.

    Examples
    --------
    >>> import tempfile
    >>> import timme
    >>> planted = timme.synthetic.planted((2, 20), 20, motions=(1.0, 0.1)).ensemble
    >>> found = timme.analyse(planted, confidence=False)
    >>> [path.name for path in export(found, tempfile.mkdtemp(), "sites.csv")]
    ['sites.csv']
    """
    if cutoff is not None:
        if not isinstance(result, Analysis):
            raise ValueError("cutoff= needs a result with one hierarchy: leave it out")
        result = replace(result, finding=replace(result.finding, cutoff=float(cutoff)))
    if what is None:
        return write_folder(result, folder, overwrite=overwrite, full=full)
    named = [what] if isinstance(what, str) else what
    chosen = list(dict.fromkeys(file for name in named for file in find(result, name)))
    target, kinds = Path(folder).expanduser(), _IMAGES[: 1 + full]
    if target.suffix and not target.is_dir():
        fitting = [file for file in chosen if target.suffix in _kinds(file)]
        if len(fitting) != 1:
            names = ", ".join(file.name for file in fitting or chosen)
            raise ValueError(
                f"{target} is one file: choose one of {names}; figures are .png, .svg or .pdf"
            )
        chosen, kinds = [fitting[0]._replace(name=target.name)], (target.suffix,)
        target = target.parent
    target.mkdir(parents=True, exist_ok=True)
    return tuple(target / name for file in chosen for name in _write(file, result, target, kinds))


def plot(analysis: Any, name: str, ax: Axes | None = None) -> Any:
    """Draw one figure of a result.

    Parameters
    ----------
    analysis : Analysis or Comparison
        What to draw.
    name : str
        Of the figure, such as "dilution", "fraction" or "sigma-matrix".
    ax : Axes, optional
        Where to draw; axes in a new figure by default.

    Returns
    -------
    Axes or Figure
        What was drawn.

    Examples
    --------
    >>> import timme
    >>> planted = timme.synthetic.planted((2, 20), 20, motions=(1.0, 0.1)).ensemble
    >>> found = timme.analyse(planted, confidence=False)
    >>> plot(found, "dilution").get_xlabel()
    'Particles, in the order of the hierarchy'
    """
    figure = find(analysis, name, figures=True)[0]
    if ax is not None and figure.make in (plots.finding, plots.dilutions):
        raise ValueError(f"{figure.name} has two axes of its own: leave out ax=")
    return figure.make(analysis) if ax is None else figure.make(analysis, ax)


def find(result: Any, name: str, *, figures: bool = False) -> list[File]:
    """Return the files of a result with a name, or else those whose names begin like this."""
    listed = [file for file in files_of(result) if _kinds(file) == _IMAGES or not figures]
    paths = [PurePosixPath(file.name) for file in listed]
    named = [(file, (*path.parts, path.stem)) for file, path in zip(listed, paths, strict=True)]
    found = [file for file, names in named if name in (file.name, *names)]
    found = found or [f for f, names in named if name and any(n.startswith(name) for n in names)]
    if not found:
        known = sorted({path.stem for path in paths})
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.75) or [", ".join(known)]
        raise ValueError(f"this result has no file {name!r}: choose {near[0]}")
    return found


def _kinds(file: File) -> Sequence[str]:
    """Return the suffixes under which a file can be written."""
    suffix = PurePosixPath(file.name).suffix
    return _IMAGES if suffix in _IMAGES else (suffix,)


def _write(file: File, result: Any, folder: Path, kinds: Sequence[str]) -> list[str]:
    """Write a file into a folder by the type of what is made; return the names."""
    made, path = file.make(result), PurePosixPath(file.name)
    if hasattr(made, "csv"):
        made = made.csv()
    contents = {file.name: made}
    if not isinstance(made, str | bytes):
        contents = {str(path.with_suffix(kind)): style.image(made, kind[1:]) for kind in kinds}
    (folder / path).parent.mkdir(exist_ok=True)
    for name, content in contents.items():
        write_atomically(folder / name, content)
    return list(contents)


def _swap(made: Path, target: Path) -> None:
    """Put a new folder into the place of an old one, and whatever else this holds into both.

    On Linux both folders change names in one step, so that neither is missing at any moment.
    """
    if target.exists():
        _take_along(target, made)
        exchange = getattr(ctypes.CDLL(None), "renameat2", None)  # -100: any paths; 2: exchange
        if exchange and exchange(-100, os.fsencode(made), -100, os.fsencode(target), 2) == 0:
            return
        target.rename(_beside(target, "old"))
    made.rename(target)


def _take_along(old: Path, new: Path) -> None:
    """Copy the files of an old folder that are not ours into the new one."""
    files = [*FILES, *COMPARISON_FILES]
    ours = {str(PurePosixPath(f.name).with_suffix(k)) for f in files for k in _kinds(f)}
    for path in old.rglob("*"):
        name = path.relative_to(old)
        is_folder = path.is_dir() and not path.is_symlink()
        if is_folder or name.as_posix() in ours or (new / name).exists():
            continue
        (new / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, new / name, follow_symlinks=False)


def _clean_up(target: Path) -> None:
    """Remove what this run, or one that was killed, left; an old result without a new returns."""
    for which in ("old", "new"):
        for folder in target.parent.glob(f".{glob.escape(target.name)}.{which}-*/"):
            if which == "old" and not target.exists():
                folder.rename(target)
            else:
                shutil.rmtree(folder)


def _beside(target: Path, which: str) -> Path:
    return target.with_name(f".{target.name}.{which}-{secrets.token_hex(4)}")


def _check(target: Path, *, overwrite: bool) -> None:
    """Refuse a folder that is in use or that cannot be written."""
    if target.is_dir() and (os.path.ismount(target) or target.samefile(Path.cwd())):
        raise FileExistsError(f"{target} cannot be replaced as a whole: choose a folder in it")
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        if not (target / RESULT).is_file():
            raise FileExistsError(
                f"{target} exists, but is no result of TIMME: choose another folder"
            )
        if not overwrite:
            raise FileExistsError(
                f"{target} exists: choose another folder, or add overwrite=True to replace it"
            )
    there = next(parent for parent in target.parents if parent.exists())
    try:
        Path(tempfile.mkdtemp(prefix=f".{target.name}.new-", dir=there)).rmdir()
    except OSError as error:
        raise _unwritable(target, error) from None


def _unwritable(target: Path, error: OSError) -> OSError:
    return OSError(f"{target} cannot be written ({error.strerror or error}): choose another folder")
