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
from difflib import get_close_matches
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import click

from timme._text import one_line
from timme.analysis import settings
from timme.cli.options import Command, in_options, options_of, read_settings

_STRUCTURES = {".pdb", ".ent", ".cif", ".mmcif", ".pdbx", ""}  # none where it is pdb:CODE
_EXAMPLES = """
\b
Examples
  timme demo                                   adenylate kinase closing, built in
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
    given = list(arguments) or ["--help"]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a console without σ or Å shows a ? instead
    command = app.commands.get(next((word for word in given if not word.startswith("-")), ""))
    model = getattr(command and command.callback, "model", None)
    try:
        sys.exit(app.main(args=given, prog_name="timme", standalone_mode=False, obj=given) or 0)
    except click.Abort:
        click.echo("timme: interrupted, nothing was written", err=True)
        sys.exit(130)
    except click.NoSuchOption as error:
        text = _unknown(error, model)
    except click.ClickException as error:
        text = " ".join(error.format_message().split())
    except Exception as error:
        if os.environ.get("TIMME_DEBUG"):
            raise
        text = in_options(one_line(error), model)
    click.echo(f"timme: error: {text}", err=True)
    sys.exit(2)


def _unknown(error: click.NoSuchOption, model: type[settings.Model] | None) -> str:
    """Return what to write in place of an option that a command does not have."""
    known = model.model_fields if model else {}
    hints = {f"--{name.replace('_', '-')}": in_options(f"{name}=", model) for name in known}
    hints |= {flag: flag for flag in error.possibilities or ()}
    near = [f": use {hints[each]}" for each in get_close_matches(error.option_name, hints, 1, 0.75)]
    return "".join([f"there is no option {error.option_name}", *near])


# ---- what commands share -----------------------------------------------------------------------

_files = click.argument("files", nargs=-1, required=True)
_overwrite = click.option("--overwrite", is_flag=True, help="Replace an earlier result.")
_verbose = click.option("-v", "--verbose", is_flag=True, help="Print the full summary.")


def _writing(model: type[settings.Model] | None, prefix: str = "") -> Callable[[Command], Command]:
    """Return a decorator that adds the options of a recipe and of the folder it writes."""
    output = click.option(
        *("-o", "--output", "folder"),
        type=click.Path(path_type=Path, file_okay=False),
        metavar="FOLDER",
        help=f"Write results to FOLDER (default: timme-{prefix}NAME).",
    )
    options = options_of(model) if model else lambda command: command
    return lambda command: output(_overwrite(options(command)))


def _carry_out(recipe: str, sources: Sequence[Any], name: str, given: dict[str, Any]) -> None:
    """Do the work of a command, write its folder and print its answer."""
    context = click.get_current_context()
    model = getattr(context.command.callback, "model", settings.Settings)
    chosen = read_settings(model, given)
    function, words = resolve_name(f"timme.{recipe}"), context.find_root().obj
    from timme.cli.console import print_answer, work_on
    from timme.output.folder import write_folder
    from timme.output.structures import write_snapshots

    prefix = "" if context.info_name == "run" else f"{context.info_name}-"
    folder, overwrite = given["folder"] or Path(f"timme-{prefix}{name}"), given["overwrite"]
    with work_on(folder, overwrite=overwrite) as how:
        how |= {"settings": chosen, "write": write_snapshots}
        taken = how.keys() & signature(function).parameters.keys()
        result = function(*sources, **{each: how[each] for each in taken})
        result = replace(result, made=replace(result.made, command=shlex.join(["timme", *words])))
        how["progress"].begin("writing")
        write_folder(result, folder, overwrite=overwrite, full=result.made.settings.full)
    print_answer(result, folder, verbose=given.get("verbose", False))


def _name(sources: Sequence[str]) -> str:
    """Return a name for the result of some files: by the trajectory, or by the structures."""
    suffixes = [Path(source.removesuffix(".gz")).suffix.lower() for source in sources[1:]]
    if all(suffix in _STRUCTURES for suffix in suffixes):
        return "-".join(_stem(source) for source in dict.fromkeys([sources[0], sources[-1]]))
    return _stem(sources[1])


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
@_writing(settings.Settings)
@_verbose
def run(files: tuple[str, ...], **options: Any) -> None:
    """Analyse snapshots in FILES.

    FILES are an ensemble (PDB, mmCIF, a table of tracks, an array), a topology and trajectories,
    two structures, pdb:CODE, or a matrix of σ.
    """
    if (Path(files[0]) / "result.npz").is_file():
        raise ValueError(f"{files[0]} is a result: use timme show, timme motion or timme compare")
    _carry_out("analyse", files, _name(files), options)


@app.command()
@click.argument("name", default="kinase")
@_writing(None, "demo-")
def demo(name: str, **options: Any) -> None:
    """Analyse a built-in system.

    NAME is kinase (adenylate kinase closing, the default), barnase, rigidity, spheres, fluid,
    water, chain, hinge, crowd or road.
    """
    _carry_out("demo.analyse_demo", (name,), name, options)


@app.command()
@_files
@_writing(settings.RigiditySettings, "rigidity-")
def rigidity(files: tuple[str, ...], **options: Any) -> None:
    """Find rigid clusters of a structure in FILES, from its bonds."""
    _carry_out("analyse_rigidity", files, _name(files), options)


@app.command()
@_files
@_writing(settings.MotionSettings, "motion-")
def motion(files: tuple[str, ...], **options: Any) -> None:
    """Describe how rigid bodies move.

    FILES are the folder of a run, or files as in run.
    """
    target, sources = options["superposed"], list[Any](files)
    if target and Path(target).exists() and not options["overwrite"]:
        raise FileExistsError(f"{target} exists: add overwrite=True, or name another")
    if Path(files[0]).is_dir() or Path(files[0]).name == "result.npz":
        from timme.analysis.store import load

        sources[0] = load(files[0])
    _carry_out("analyse_motion", sources, _name(files), options)


@app.command()
@click.argument("first")
@click.argument("second")
@_writing(settings.CompareSettings, "compare-")
def compare(first: str, second: str, **options: Any) -> None:
    """Compare two results, FIRST and SECOND, with a chance level."""
    name = f"{_stem(first)}-{_stem(second)}"
    _carry_out("compare", (first, second), name, options)


@app.command()
@click.argument("result")
@click.option("--open", "opened", is_flag=True, help="Open the page in a browser.")
@_verbose
def show(result: str, opened: bool, verbose: bool) -> None:
    """Print the answer of a RESULT.

    RESULT is a folder, or the result.npz in it.
    """
    from timme.analysis.store import load
    from timme.cli.console import print_answer

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
    result: str, what: tuple[str, ...], cutoff: float | None, target: Path | None, **given: Any
) -> None:
    """Write figures, tables or groups of a RESULT.

    WHAT are names of files, or how these begin, such as dilution or groups.
    """
    from timme.analysis.store import load
    from timme.output import folder as folders

    loaded = load(result)
    model, made = type(loaded.made.settings), loaded.made
    chosen = read_settings(model, given).model_dump(exclude_unset=True)
    if cutoff is not None and cutoff < 0 and getattr(loaded, "rigidity", None) is None:
        raise ValueError(f"cutoff= must be at least 0, got {cutoff:g}")
    for name in chosen:
        if settings.group_of(name) != "display":
            raise ValueError(f"{name}= changes the result: analyse it again with this option")
    loaded = replace(loaded, made=replace(made, settings=made.settings.model_copy(update=chosen)))
    place = target or (Path(result) if Path(result).is_dir() else Path(result).parent)
    paths = [place / file.name for each in what for file in folders.find(loaded, each)]
    whole = place.suffix == "" or place.is_dir()
    there = [path for path in (paths if whole else [place]) if path.exists()]
    if there and not given["overwrite"]:
        raise FileExistsError(f"{there[0]} exists: choose another place by -o, or add --overwrite")
    for path in folders.export(loaded, place, what, full=True, cutoff=cutoff):
        click.echo(path)


@app.command()
@options_of(settings.ServeSettings)
@click.option("-v", "--verbose", is_flag=True, help="Print warnings of the server.")
def serve(verbose: bool, assigned: tuple[str, ...], **given: Any) -> None:
    """Analyse files on a page in the browser."""
    given["assigned"] = [part for text in assigned for part in text.split(",")]
    chosen = read_settings(settings.ServeSettings, given)
    from timme.server import serve as serve_page

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.default_int_handler)  # the server ends in good order
    serve_page(chosen, verbose=verbose)
