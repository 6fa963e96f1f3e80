"""The commands, and how each of them ends; recipes are imported when a command needs them."""

from __future__ import annotations

import io
import os
import re
import shlex
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from timme._text import one_line
from timme.analysis.settings import (
    CompareSettings,
    Model,
    MotionSettings,
    RigiditySettings,
    ServeSettings,
    Settings,
    details,
    make,
)
from timme.cli.console import interruptible, print_answer, work_on
from timme.cli.options import in_options, options_of, read_settings

M = TypeVar("M", bound=Model)

_PLACE = ("folder", "overwrite", "verbose")
_STRUCTURES = {".pdb", ".ent", ".cif", ".mmcif", ".pdbx"}
_EXAMPLES = """
\b
Examples
  timme demo                                   adenylate kinase closing, nothing needed
  timme run 1bnr.pdb                           an NMR ensemble
  timme run top.psf traj.dcd -b 100 -dt 10     every tenth frame from 100 on
  timme run 4ake.pdb 1ake.pdb --common-atoms   two structures of one molecule
  timme run tracks.csv --unit µm               tracked particles
  timme rigidity 1a2p.pdb --chain A            rigid clusters of one structure
  timme compare timme-rigidity-1a2p timme-1bnr
  timme show timme-1bnr --open                 the answer and the page again
"""


class _Commands(click.Group):
    """Commands in the order in which a new user meets them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002, signature of click
        return list(self.commands)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_EXAMPLES,
)
@click.version_option(version("pytimme"), prog_name="timme")
def app() -> None:
    """Find which parts of a many-particle system move together."""


def run_command(arguments: Sequence[str]) -> None:
    """Run a command; every error becomes one line and exit code 2."""
    given = list(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a console without σ or Å shows a ? instead
    command = app.commands.get(next((word for word in given if not word.startswith("-")), ""))
    model = getattr(command and command.callback, "model", None)
    try:
        code = app.main(args=given, prog_name="timme", standalone_mode=False, obj=given)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except click.NoSuchOption as error:
        _fail(_unknown(error, model))
    except click.ClickException as error:
        _fail(" ".join(error.format_message().split()))
    except (click.Abort, KeyboardInterrupt):
        click.echo("timme: interrupted, nothing was written", err=True)
        sys.exit(130)
    except BrokenPipeError:  # as in `timme show RESULT | head`
        sys.stdout = None  # nothing is left to be flushed
        sys.exit(1)
    except Exception as error:
        if os.environ.get("TIMME_DEBUG"):
            raise
        _fail(in_options(one_line(error), model))


def _fail(text: str) -> NoReturn:
    click.echo(f"timme: error: {text}", err=True)
    sys.exit(2)


def _unknown(error: click.NoSuchOption, model: type[Model] | None) -> str:
    """Return what to write in place of an option that a command does not have."""
    name = error.option_name.lstrip("-").replace("-", "_")
    if model is None or not error.option_name.startswith("--"):
        return " ".join(error.format_message().split())
    if name in model.model_fields:
        return f"there is no option {error.option_name}: add --set {name}=VALUE"
    try:
        make(model, **{name: ""})
    except ValueError as problem:
        return in_options(str(problem).replace(f"{name}=", error.option_name, 1), model)
    raise error


# ---- what commands share -----------------------------------------------------------------------

_files = click.argument("files", nargs=-1, required=True)
_output = click.option(
    *("-o", "--output", "folder"),
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Write results to FOLDER (default: timme-NAME).",
)
_overwrite = click.option("--overwrite", is_flag=True, help="Replace an earlier result.")
_verbose = click.option("-v", "--verbose", is_flag=True, help="Print the full summary.")


def _carry_out(
    recipe: Callable[..., Any],
    usual: str,
    *,
    folder: Path | None,
    overwrite: bool,
    verbose: bool = False,
    full: bool = False,
) -> None:
    """Do the work of a command, write its folder and print its answer."""
    from timme.output.folder import write_folder

    words = click.get_current_context().find_root().obj
    place = folder or Path(usual)
    with work_on(place, overwrite=overwrite) as (progress, checkpoint):
        result = recipe(progress=progress, checkpoint=checkpoint)
        result = replace(result, made=replace(result.made, command=shlex.join(["timme", *words])))
        progress.begin("writing")
        write_folder(result, place, overwrite=overwrite, full=full)
    print_answer(result, place, verbose=verbose)


def _split(model: type[M], options: dict[str, Any]) -> tuple[M, dict[str, Any]]:
    """Return settings, and what says where and how results are written."""
    place = {name: options.pop(name) for name in _PLACE if name in options}
    settings = read_settings(model, options.pop("assigned"), options)
    return settings, {**place, "full": getattr(settings, "full", False)}


def _name(sources: Sequence[str], *, join: bool = False) -> str:
    """Return a name for the result of some files."""
    names = [_stem(source) for source in sources]
    structures = all(Path(source).suffix.lower() in _STRUCTURES for source in sources[1:])
    if len(names) > 1 and (structures or join):
        return f"{names[0]}-{names[-1]}"
    return names[min(1, len(names) - 1)]  # of a topology and trajectories, the first of these


def _stem(source: str) -> str:
    """Return the name of a file without suffix, of a result what was analysed."""
    path = Path(source.removeprefix("pdb:")).absolute()
    path = path.parent if path.name == "result.npz" else path
    if path.is_dir():
        return re.sub("^timme-(demo-|rigidity-|motion-)?", "", path.name) or "result"
    return Path(re.sub(r"\.(gz|bz2|xz)$", "", path.name)).stem


# ---- commands ----------------------------------------------------------------------------------


@app.command()
@_files
@_output
@_overwrite
@options_of(Settings)
@_verbose
def run(files: tuple[str, ...], **options: Any) -> None:
    """Analyse snapshots in FILES.

    FILES are an ensemble (PDB, mmCIF, a table of tracks, an array), a topology and trajectories,
    two structures, pdb:CODE, or a matrix of σ.
    """
    settings, place = _split(Settings, options)
    from timme.analysis.recipe import analyse

    def recipe(**how: Any) -> Any:
        return analyse(*files, settings=settings, workers=settings.workers, **how)

    _carry_out(recipe, f"timme-{_name(files)}", **place)


@app.command()
@click.argument("name", default="kinase")
@_output
@_overwrite
def demo(name: str, **place: Any) -> None:
    """Analyse a built-in system.

    NAME is kinase (adenylate kinase closing, the default), barnase, rigidity, spheres, fluid,
    water, chain, hinge, crowd or road.
    """
    from timme.demo import analyse_demo

    def recipe(progress: Any, **_: Any) -> Any:
        return analyse_demo(name, progress=progress)

    _carry_out(recipe, f"timme-demo-{name}", **place)


@app.command()
@_files
@_output
@_overwrite
@options_of(RigiditySettings)
def rigidity(files: tuple[str, ...], **options: Any) -> None:
    """Find rigid clusters of a structure in FILES, from its bonds."""
    settings, place = _split(RigiditySettings, options)
    from timme.analysis.rigidity import analyse_rigidity

    def recipe(progress: Any, **_: Any) -> Any:
        return analyse_rigidity(*files, settings=settings, progress=progress)

    _carry_out(recipe, f"timme-rigidity-{_name(files)}", **place)


@app.command()
@_files
@_output
@_overwrite
@options_of(MotionSettings)
def motion(files: tuple[str, ...], **options: Any) -> None:
    """Describe how rigid bodies move; FILES are the folder of a run, or files as in run."""
    settings, place = _split(MotionSettings, options)
    from timme.analysis.motion import analyse_motion
    from timme.analysis.store import load
    from timme.output.structures import write_snapshots

    if settings.superposed and Path(settings.superposed).exists() and not place["overwrite"]:
        raise FileExistsError(f"{settings.superposed} exists: add --overwrite, or name another")
    is_result = Path(files[0]).is_dir() or Path(files[0]).name == "result.npz"
    source, *others = (load(files[0]), *files[1:]) if is_result else files

    def recipe(progress: Any, **_: Any) -> Any:
        given = {"settings": settings, "progress": progress, "write": write_snapshots}
        return analyse_motion(source, *others, **given)

    _carry_out(recipe, f"timme-motion-{_name(files)}", **place)


@app.command()
@click.argument("first")
@click.argument("second")
@_output
@_overwrite
@options_of(CompareSettings)
def compare(first: str, second: str, **options: Any) -> None:
    """Compare two results, FIRST and SECOND, with a chance level."""
    settings, place = _split(CompareSettings, options)
    from timme.analysis.comparison import compare as compare_results

    def recipe(**_: Any) -> Any:
        return compare_results(first, second, settings=settings)

    _carry_out(recipe, f"timme-compare-{_name([first, second], join=True)}", **place)


@app.command()
@click.argument("result")
@click.option("--open", "opened", is_flag=True, help="Open the page in a browser.")
@_verbose
def show(result: str, opened: bool, verbose: bool) -> None:
    """Print the answer of a RESULT again: a folder, or the result.npz in it."""
    from timme.analysis.store import load

    folder = Path(result) if Path(result).is_dir() else Path(result).parent
    print_answer(load(result), folder, verbose=verbose)
    if opened:
        page = (folder / "report.html").absolute()
        if not page.is_file():
            raise FileNotFoundError(f"{page} is not there: timme export {folder} report writes it")
        click.launch(page.as_uri())


@app.command()
@click.argument("result")
@click.argument("what", nargs=-1, required=True)
@click.option("--cutoff", type=float, metavar="VALUE", help="Show clusters at this σc.")
@click.option(
    "--set", "assigned", multiple=True, metavar="KEY=VALUE", help="Set palette, order or min_size."
)
@click.option(
    *("-o", "--output", "target"),
    type=click.Path(path_type=Path),
    metavar="FOLDER|FILE",
    help="Where to write, such as dilution.pdf (default: the folder of the result).",
)
@_overwrite
def export(
    result: str,
    what: tuple[str, ...],
    cutoff: float | None,
    assigned: tuple[str, ...],
    target: Path | None,
    overwrite: bool,
) -> None:
    """Write files of a RESULT: WHAT are names, or how these begin, such as figures or groups."""
    from timme.analysis.store import load
    from timme.output import folder as folders

    loaded = load(result)
    if assigned:
        model = type(loaded.made.settings)
        chosen = read_settings(model, assigned, {}).model_dump(exclude_unset=True)
        if wrong := [each for each in chosen if details(model, each)["group"] != "display"]:
            raise ValueError(f"{wrong[0]}= changes the result: run it again with --set")
        settings = loaded.made.settings.model_copy(update=chosen)
        loaded = replace(loaded, made=replace(loaded.made, settings=settings))
    place = target or (Path(result) if Path(result).is_dir() else Path(result).parent)
    whole = place.suffix == "" or place.is_dir()
    names = [file.name for each in what for file in folders.find(loaded, each)]
    there = [path for path in ([place / n for n in names] if whole else [place]) if path.exists()]
    if there and not overwrite:
        raise FileExistsError(f"{there[0]} exists: choose another place by -o, or add --overwrite")
    with interruptible():
        for path in folders.export(loaded, place, what, full=True, cutoff=cutoff):
            click.echo(path)


@app.command()
@options_of(ServeSettings)
@_verbose
def serve(verbose: bool, assigned: tuple[str, ...], **given: Any) -> None:
    """Open a page in the browser: drop files, get results."""
    limits = [part for text in assigned for part in text.split(",")]
    settings = read_settings(ServeSettings, limits, given)
    from timme.server import serve as serve_page

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.default_int_handler)  # the server ends in good order
    serve_page(settings, verbose=verbose)
