"""The commands: run, demo, fetch, plot, report, serve, and how every one of them ends."""

from __future__ import annotations

import atexit
import gc
import io
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from timme._errors import one_line
from timme._version import __version__
from timme.cli import options as shared
from timme.cli.console import (
    engine_for,
    report,
    report_comparison,
    save_checkpoints,
    say,
    show_progress,
    show_start,
    tell_compiling,
    was_interrupted,
)
from timme.cli.interrupts import CODE, INTERRUPTED
from timme.cli.motion import motion
from timme.cli.rigidity import compare, rigidity
from timme.cli.words import in_options
from timme.settings import DEMOS, Display, ServeSettings, Settings

if TYPE_CHECKING:
    from timme.analysis import Analysis

_EXAMPLES = """
\b
Examples
  timme demo                                  a built-in example, nothing needed
  timme run 1bnr.pdb                          an NMR ensemble, all atoms
  timme run 1bnr.pdb -s ca --objects points   its Cα atoms only
  timme run pdb:1bnr                          fetched from the PDB first
  timme run top.psf traj.dcd -b 100 -dt 10    every tenth frame from 100 on
  timme run water.pdb water.xtc --objects molecules --radius 4
  timme run tracks.csv                        particles tracked with gaps
  timme motion 1ake.pdb 4ake.pdb --common-atoms
  timme rigidity 1a2p.pdb --chain A           rigid clusters of one structure
  timme compare timme-rigidity-1a2p timme-1bnr
  timme plot timme-1bnr/result.npz --cutoff 0.06 -o dilution.pdf
"""

# Libraries make many objects as they are imported and as figures are drawn, few of them garbage.
# To look for it as often as Python does takes a twentieth of a short run, and to look through all
# that is left, as Python does before it ends, a tenth.
_RARELY = 1_000_000, 20, 50

# Threads of OpenBLAS that wait for more work keep their cores busy for 2 to this power cycles: by
# default for a fortieth of a second, which is longer than what they did in a short run.
_BLAS, _SOON = "OPENBLAS_THREAD_TIMEOUT", "18"


class _Group(click.Group):
    """Commands in the order in which a new user meets them; interrupts are told once, below."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise click.Abort from error  # click would print an empty line

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        return list(self.commands)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EXAMPLES)
@click.version_option(__version__, prog_name="timme")
@shared.debug
def app() -> None:
    """Find which parts of a many-particle system move together.

    Give snapshots, get the hierarchy of co-moving clusters: an NMR ensemble, a trajectory, tracked
    particles. Or give one structure, get its rigid clusters, and compare the two.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; every error becomes one line and exit code 2."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    os.environ.setdefault(_BLAS, _SOON)
    gc.set_threshold(*_RARELY)
    atexit.register(gc.freeze)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a console without σ or Å shows a ? instead
    try:
        app.main(args=given, prog_name="timme", standalone_mode=False, obj=given)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except click.ClickException as error:
        text = " ".join(error.format_message().split())
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "timme"
        click.echo(f"timme: error: {text} ({command} --help shows how)", err=True)
        sys.exit(2)
    except (KeyboardInterrupt, click.Abort):
        _end_interrupted()
    except Exception as error:
        if was_interrupted(error):
            _end_interrupted()
        if "--debug" in given:
            raise
        click.echo(
            f"timme: error: {in_options(one_line(error), given, _command_in(given))}", err=True
        )
        sys.exit(2)


# ---- commands ----------------------------------------------------------------------------------


@app.command(
    cls=shared.Command,
    epilog="""
\b
Examples
  timme run 1bnr.pdb -o barnase               all atoms as bodies, shown as Cα
  timme run 1bnr.pdb -s ca --objects points   the Cα atoms alone
  timme run top.psf a.dcd b.dcd -b 100 -dt 10 two trajectories in a row
  timme run 1ake.pdb 4ake.pdb --common-atoms  structures of the same molecule
  timme run water.pdb water.xtc --objects molecules --radius 4
  timme run tracks.csv --min-overlap 100      particles that are seen now and then
  timme run pae.json                          AlphaFold's predicted aligned error
\b
What it writes
  result.npz                      everything, to be plotted or compared again
  report.html                     the interactive page, in one file
  dilution, fraction, sizes, …    the paper's figures, as .svg and .png
  clusters.csv, levels.csv, …     tables; linkage and Newick trees
  clusters.pdb, clusters.cif      a structure with clusters in the B-factor column
  clusters.pml .cxc .tcl          scripts for PyMOL, ChimeraX and VMD
  groups.ndx .plumed .cxc         molecules: clusters for GROMACS, PLUMED and ChimeraX
  clusters.extxyz .dump           particles: clusters for OVITO
\b
Files of your own
  --objects FILE    lines such as  lid = resid 122:159 and backbone
  --pairs FILE      lines of two object numbers, counted from 1
""",
)
@click.argument("topology")
@click.argument("trajectories", nargs=-1)
@shared.output
@shared.options_of(Settings)
@shared.running("--resume", is_flag=True, help="Go on with an interrupted run, to the same result.")
@shared.running("-v", "--verbose", is_flag=True, help="Say how much memory is needed for what.")
@shared.running("--workers", type=int, help="Threads, or workers of a local cluster (all cores).")
@shared.running("--cluster", help="Measure on dask: local, or the ADDRESS of a scheduler.")
@shared.debug
def run(
    topology: str,
    trajectories: tuple[str, ...],
    output: Path | None,
    overwrite: bool,
    resume: bool,
    verbose: bool,
    workers: int | None,
    cluster: str | None,
    **options: Any,
) -> None:
    """Analyse snapshots: TOPOLOGY [TRAJECTORIES...].

    TOPOLOGY is an ensemble (PDB, mmCIF, .npy, a table of tracks), a structure or topology followed
    by trajectories, pdb:CODE, or a matrix of σ (.npy, .mtx, PAE .json).
    """
    folder = output or Path(f"timme-{shared.stem(topology)}")
    settings = Settings(**shared.given(options))
    command = shlex.join(["timme", *click.get_current_context().obj])
    with show_start():
        from timme.workflow import analyse, check_folder, write
    check_folder(folder, overwrite=overwrite)
    with save_checkpoints(folder, resume=resume, overwrite=overwrite) as checkpoint:
        with (
            tell_compiling(verbose=verbose),
            show_progress("measuring") as progress,
            engine_for(workers, cluster) as engine,
        ):
            analysis = analyse(
                topology,
                trajectories,
                settings=settings,
                command=command,
                progress=progress,
                checkpoint=checkpoint,
                tell=say if verbose else None,
                **engine,
            )
        with show_progress(meanwhile="writing"):
            written = write(analysis, folder, overwrite=overwrite)
    report(analysis, folder, written)
    if resume and not checkpoint.resumed:
        click.echo(f"note: {checkpoint.path} is not there: nothing to resume, all was measured")


@app.command(
    name="demo",
    epilog="\b\nSystems\n" + "\n".join(f"  {name:<9}{what}" for name, what in DEMOS.items()),
)
@click.argument("system", type=click.Choice(list(DEMOS)), default=next(iter(DEMOS)))
@shared.output
@shared.debug
def demo(system: str, output: Path | None, overwrite: bool) -> None:
    """Analyse a built-in SYSTEM, which needs no file and no network."""
    folder = output or Path(f"timme-demo-{system}")
    with show_start():
        from timme.workflow import check_folder, write
        from timme.workflow.demo import analyse_demo
    check_folder(folder, overwrite=overwrite)
    with tell_compiling(verbose=False), show_progress("measuring") as progress:
        analysis = analyse_demo(system, progress=progress)
    with show_progress(meanwhile="writing"):
        written = write(analysis, folder, overwrite=overwrite)
    report(analysis, folder, written)
    if system == "barnase":
        _compare_demo(analysis, folder, overwrite=overwrite)


app.add_command(motion)
app.add_command(rigidity)
app.add_command(compare)


@app.command()
@click.argument("codes", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for a copy; without it, files stay in the cache.",
)
@shared.debug
def fetch(codes: tuple[str, ...], output: Path | None) -> None:
    """Download entries of the PDB into a cache: CODES such as 1bnr."""
    from timme.readers.download import fetch as fetch_code

    for code in codes:
        kept = fetch_code(code)
        click.echo(kept if output is None else _copy(kept, output))


@app.command()
@click.argument("result", type=click.Path(path_type=Path))
@click.option(
    "--what",
    type=shared.FigureName(),
    default="dilution",
    show_default=True,
    help="Which figure.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="File to write: .png, .svg, .pdf (by default WHAT.png here).",
)
@click.option("--overwrite", is_flag=True, help="Replace that file.")
@click.option(
    "--order",
    default="auto",
    show_default=True,
    help="Axis of the dilution: auto, label, sequence, or a file of object numbers.",
)
@shared.options_of(Display)
@shared.debug
def plot(
    result: Path, what: str, output: Path | None, overwrite: bool, order: str, **options: Any
) -> None:
    """Draw one figure of a RESULT again, with other choices.

    RESULT is the folder of a run, or the result.npz in it.
    """
    with show_start():
        from timme.store import load
        from timme.workflow import draw
        from timme.workflow.lists import ORDERS, read_order

    path = output or Path(f"{what}.png")
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} exists: choose another name (-o) or add --overwrite")
    with show_progress(meanwhile="drawing"):
        analysis = load(result)
        along = order if order in ORDERS else read_order(order, analysis.shown)
        draw(analysis, what, path, order=along, **shared.given(options))
    click.echo(path)


@app.command(name="report")
@click.argument("result", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("report.html"),
    show_default=True,
    help="File to write.",
)
@click.option("--overwrite", is_flag=True, help="Replace that file.")
@shared.debug
def write_report(result: Path, output: Path, overwrite: bool) -> None:
    """Write the interactive report of a RESULT: one file that needs no network.

    RESULT is the folder of a run, or the result.npz in it.
    """
    with show_start():
        from timme import workflow
        from timme.store import load

    with show_progress(meanwhile="writing"):
        written = workflow.report(load(result), output, overwrite=overwrite)
    click.echo(written)


@app.command(cls=shared.Command)
@shared.options_of(ServeSettings)
@shared.debug
def serve(**options: Any) -> None:
    """Open a page in the browser: drop files, get results.

    It answers to this computer only, and to nobody without its token.
    """
    from timme.web import serve as serve_page

    serve_page(ServeSettings(**shared.given(options)), tell=click.echo)


@app.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    r"""Print the completion script of a SHELL.

    \b
    bash   eval "$(timme completion bash)"   in ~/.bashrc
    zsh    eval "$(timme completion zsh)"    in ~/.zshrc
    fish   timme completion fish > ~/.config/fish/completions/timme.fish
    """
    from click.shell_completion import get_completion_class

    chosen = get_completion_class(shell)
    if chosen is None:
        raise ValueError(f"no completion for {shell}")
    click.echo(chosen(app, {}, "timme", "_TIMME_COMPLETE").source())


# ---- helpers -----------------------------------------------------------------------------------


def _end_interrupted() -> NoReturn:
    click.echo(INTERRUPTED, err=True)
    sys.exit(CODE)


def _command_in(given: Sequence[str]) -> click.Command | None:
    """Find the command that was called, before which there are options without values only."""
    first = next((word for word in given if not word.startswith("-")), "")
    return app.commands.get(first)


def _compare_demo(analysis: Analysis, folder: Path, *, overwrite: bool) -> None:
    """Write the rigid clusters of a snapshot, and the comparison, beside those of a trajectory."""
    from timme.workflow import comparison, write
    from timme.workflow.demo import compare_demo

    static, both = folder / "rigidity", folder / "comparison"
    with show_progress(meanwhile="comparing"):
        compared = compare_demo(analysis)
        first = write(compared.whole[0], static, overwrite=overwrite)
        second = comparison.write(compared, both, overwrite=overwrite)
    click.echo("\nrigid clusters of the first snapshot")
    report(compared.whole[0], static, first)
    click.echo("\nboth compared")
    report_comparison(compared, both, second)


def _copy(path: Path, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    copy = folder / path.name
    if copy.exists():
        raise FileExistsError(f"{copy} exists: choose another folder (-o)")
    return Path(shutil.copy(path, copy))
