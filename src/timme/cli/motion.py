"""The command that finds rigid bodies and how they move."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from timme.cli import options as shared
from timme.cli.console import report, show_progress, show_start, tell_compiling
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
  timme motion tracks.csv --two-point 5,10,20,40    pairs of tracked particles, not bodies
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
@click.option(
    "--two-point",
    metavar="DISTANCES",
    help="Correlate pairs of particles between these distances, as 2,4,8,16, in place of bodies.",
)
@click.option("--lags", default="1", help="Lags of --two-point, in snapshots: 1,2,5 (1).")
@click.option("--drift", is_flag=True, help="Take the mean displacement off first (--two-point).")
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
    two_point: str | None,
    lags: str,
    drift: bool,
    **options: Any,
) -> None:
    """Find rigid bodies and how they move: TOPOLOGY [TRAJECTORIES...].

    Each body moves against the largest, or against that of --on: about which axis, how far in
    every snapshot, and how surely. How many bodies there are is told by how much more they move
    against one another than parts inside them do.
    """
    with show_start():
        from timme.workflow import check_folder, correlate, move, write

    folder = output or Path(f"timme-motion-{_stem(topology)}")
    check_folder(folder, overwrite=overwrite)
    if superposed is not None:
        _check_file(superposed, folder, overwrite=overwrite)
    of_bodies: dict[str, Any] = {
        "n_bodies": n_bodies,
        "on": on,
        "axis_from": axis_from,
        "superposed": superposed,
    }
    _refuse_mixed(two_point, of_bodies, lags=lags, drift=drift)
    both: dict[str, Any] = {
        "settings": Settings(**shared.given(options)),
        "command": shlex.join(["timme", *click.get_current_context().obj]),
    }
    with _laid_file(superposed, folder) as laid:
        with tell_compiling(verbose=False), show_progress("reading") as progress:
            if two_point is None:
                of_bodies["superposed"] = laid
                analysis = move(topology, trajectories, progress=progress, **of_bodies, **both)
            else:
                analysis = correlate(
                    topology,
                    trajectories,
                    distances=_numbers(two_point, "--two-point", float),
                    lags=_numbers(lags, "--lags", int),
                    drift=drift,
                    progress=progress,
                    **both,
                )
        with show_progress(meanwhile="writing"):
            written = write(analysis, folder, overwrite=overwrite)
    report(analysis, folder, written)


def _check_file(superposed: Path, folder: Path, *, overwrite: bool) -> None:
    """Refuse a file for superposed snapshots that cannot be written, before any work is done."""
    if superposed.exists() and not overwrite:
        raise FileExistsError(f"{superposed} exists: choose another name, or add --overwrite")
    if not superposed.parent.is_dir() and superposed.parent.resolve() != folder.resolve():
        raise FileNotFoundError(
            f"{superposed.parent} is no folder: make it first, or choose another place for "
            "--superposed"
        )


@contextmanager
def _laid_file(superposed: Path | None, folder: Path) -> Iterator[Path | None]:
    """File for superposed snapshots: elsewhere until the folder of the result is there."""
    if superposed is None or superposed.parent.resolve() != folder.resolve():
        yield superposed
        return
    with tempfile.TemporaryDirectory() as aside:
        laid = Path(aside) / superposed.name
        yield laid
        shutil.move(laid, superposed)


def _stem(topology: str) -> str:
    """Name of what is analysed: that of its folder, if a result is opened again."""
    path = Path(topology)
    if path.name == "result.npz" and path.resolve().parent.name:
        return path.resolve().parent.name.removeprefix("timme-")
    return shared.stem(topology)


def _refuse_mixed(
    two_point: str | None, of_bodies: dict[str, Any], *, lags: str, drift: bool
) -> None:
    """Refuse options of bodies beside those of pairs of particles, and the other way round."""
    if two_point is None and (drift or lags != "1"):
        raise click.UsageError("--lags and --drift belong to --two-point: give its distances too")
    given = [name for name, value in of_bodies.items() if value is not None]
    if two_point is not None and given:
        names = {"n_bodies": "--bodies", "axis_from": "--axis-from"}
        told = ", ".join(names.get(name, f"--{name}") for name in given)
        raise click.UsageError(f"--two-point is of particles and not of bodies: leave out {told}")


def _numbers(text: str, option: str, kind: type) -> list[Any]:
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(
            f"{option} takes numbers with commas, as 1,2,5, got {text}"
        ) from None
