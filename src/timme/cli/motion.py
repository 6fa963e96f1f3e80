"""The command that finds rigid bodies and how they move."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from timme.cli import options as shared
from timme.cli.console import report, show_progress, tell_compiling
from timme.settings import READING, Settings

_OPTIONS = ("select", *READING, "show", "cutoff", "large", "palette", "length")


@click.command(
    cls=shared.Command,
    epilog="""
\b
Examples
  timme motion 1ake.pdb 4ake.pdb --common-atoms     two structures of one molecule
  timme motion top.psf traj.dcd --on "resid 1:29"   as seen from the body with these residues
  timme motion 1bnr.pdb --superposed still.pdb      an NMR ensemble, laid onto its core
  timme motion top.psf traj.dcd --axis-from 4ake.pdb 1ake.pdb   along a known transition
  timme motion timme-1bnr/result.npz                the inputs of a saved result, opened again
\b
What it writes
  all that timme run does, with the rest in place of σ, and
  bodies, angles, variance        figures: bodies along the chain, angles, explained variance
  modes, projections, covariance  figures: principal components, covariance in order of bodies
  bodies.csv, motions.csv, …      bodies of residues, axes with their errors, angles, splits
  bodies.cif .pml .cxc .tcl       bodies, axes and arcs for PyMOL, ChimeraX and VMD
  porcupine.pml .bild .tcl        the largest component as arrows, and as a film: mode.pdb
""",
)
@click.argument("topology")
@click.argument("trajectories", nargs=-1)
@shared.output
@click.option("--bodies", "n_bodies", type=click.IntRange(1), help="How many (as stand out).")
@click.option("--on", help="Selection whose body is held still (the largest body).")
@click.option(
    "--axis-from",
    nargs=2,
    type=click.Path(path_type=Path),
    metavar="BEFORE AFTER",
    help="Measure angles about the axes of a known transition between two structures.",
)
@click.option(
    "--superposed",
    type=click.Path(path_type=Path),
    help="File for all snapshots, laid onto that body: .pdb, .cif, .xtc, .dcd.",
)
@shared.options_of(Settings, *_OPTIONS)
@shared.debug
def motion(
    topology: str,
    trajectories: tuple[str, ...],
    output: Path | None,
    overwrite: bool,
    n_bodies: int | None,
    on: str | None,
    axis_from: tuple[Path, Path] | None,
    superposed: Path | None,
    **options: Any,
) -> None:
    """Find rigid bodies and how they move: TOPOLOGY [TRAJECTORIES...].

    Each body moves against the largest, or against that of --on: about which axis, how far in
    every snapshot, and how surely. How many bodies there are is told by how much more they move
    against one another than parts inside them do.
    """
    from timme.workflow import check_folder, move, write

    folder = output or Path(f"timme-motion-{shared.stem(topology)}")
    check_folder(folder, overwrite=overwrite)
    if superposed is not None and superposed.exists() and not overwrite:
        raise FileExistsError(f"{superposed} exists: choose another name, or add --overwrite")
    settings = Settings(**shared.given(options))
    command = shlex.join(["timme", *click.get_current_context().obj])
    with tell_compiling(verbose=False), show_progress("reading") as progress:
        analysis = move(
            topology,
            trajectories,
            settings=settings,
            n_bodies=n_bodies,
            on=on,
            axis_from=axis_from,
            superposed=superposed,
            command=command,
            progress=progress,
        )
    written = write(analysis, folder, overwrite=overwrite)
    report(analysis, folder, written)
