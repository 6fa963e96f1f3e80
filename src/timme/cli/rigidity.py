"""Commands for one structure, and for two results: rigidity, compare."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from timme.cli import options as shared
from timme.cli.console import (
    engine_for,
    report,
    report_comparison,
    show_progress,
    show_start,
    tell_compiling,
)
from timme.settings import CompareSettings, RigidSettings


@click.command(
    cls=shared.Command,
    epilog="""
\b
Examples
  timme rigidity 1a2p.pdb --chain A           dilution of the hydrogen bonds of one chain
  timme rigidity 1bnr.pdb --model 3           the third model of an ensemble
  timme rigidity 1bnr.pdb --ensemble -1       all models, hydrogen bonds up to -1 kcal/mol
  timme rigidity top.pdb md.xtc -dt 100 --ensemble -1
  timme rigidity 1a2p.pdb --chain A --constraints mine.csv
\b
What it writes
  all that timme run does, with the energy of hydrogen bonds in place of σ, and
  constraints.csv                 every bond and tether, to be edited and read again
  flexibility.csv, -bonds.csv     flexibility index of residues and of bonds
  together.csv                    with --ensemble: how often two sites are rigid together
""",
)
@click.argument("structure")
@click.argument("trajectories", nargs=-1)
@shared.output
@shared.options_of(RigidSettings)
@shared.running("--workers", type=int, help="Threads for an ensemble, or workers (all cores).")
@shared.running("--cluster", help="Ensembles on dask: local, or the ADDRESS of a scheduler.")
@shared.debug
def rigidity(
    structure: str,
    trajectories: tuple[str, ...],
    output: Path | None,
    overwrite: bool,
    workers: int | None,
    cluster: str | None,
    **options: Any,
) -> None:
    """Find the rigid clusters of one STRUCTURE.

    Constraints are counted: covalent bonds, hydrogen bonds, hydrophobic tethers. Hydrogen bonds
    are added from the strongest to the weakest, and rigid clusters join: the same hierarchy as for
    snapshots, with an energy as its height. Hydrogens are added where there are none; waters are
    left out; metals stay.
    """
    with show_start():
        from timme.workflow import check_folder, rigid, write

    folder = output or Path(f"timme-rigidity-{shared.stem(structure)}")
    check_folder(folder, overwrite=overwrite)
    settings = RigidSettings(**shared.given(options))
    if settings.ensemble is None and not (workers is None and cluster is None):
        raise click.UsageError("--workers and --cluster are for an ensemble: give --ensemble too")
    command = shlex.join(["timme", *click.get_current_context().obj])
    with (
        tell_compiling(verbose=False),
        engine_for(workers, cluster) as engine,
        show_progress("decomposing") as progress,
    ):
        analysis = rigid(
            structure,
            trajectories,
            settings=settings,
            command=command,
            progress=progress,
            **engine,
        )
    with show_progress(meanwhile="writing"):
        written = write(analysis, folder, overwrite=overwrite)
    report(analysis, folder, written)


@click.command(
    cls=shared.Command,
    epilog="""
\b
Examples
  timme compare timme-rigidity-1a2p timme-1bnr
  timme compare first second/result.npz --chains A=B,C=D
  timme compare timme-rigidity-1a2p timme-1bnr --cutoffs -0.048,0.0616
  timme compare timme-1bnr domains.csv         a table with chain, number and cluster
\b
What it writes
  dilutions                       both dilution plots, matched clusters in one colour
  agreement                       adjusted Rand index over both cutoffs
  agreement.csv, best-cutoffs.csv the same as a table, and the best partner of each cutoff
  matched.csv                     which cluster is which, and how much they share
  matched-asked.csv               the same at the cutoffs of --cutoffs
  comparison.cif .pdb             the structure twice, side by side
  comparison.pml .cxc .tcl        scripts that colour it by both
""",
)
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@shared.output
@shared.options_of(CompareSettings)
@shared.debug
def compare(
    first: Path,
    second: Path,
    output: Path | None,
    overwrite: bool,
    **options: Any,
) -> None:
    """Compare two results: FIRST SECOND.

    Each is the folder of a run, the result.npz in it, or a table of clusters (CSV). They are
    compared on the sites that both show, which are matched by chain, residue number, insertion
    code and atom name.
    """
    with show_start():
        from timme.workflow.comparison import (
            MARK,
            add_cutoffs,
            compare_results,
            name_after_paths,
            write,
        )
        from timme.workflow.folder import check_folder
        from timme.workflow.partition import load_result

    names = name_after_paths(first, second)
    folder = output or Path(f"timme-compare-{names[0]}-{names[1]}")
    check_folder(folder, overwrite=overwrite, mark=MARK)
    look = CompareSettings(**shared.given(options))
    with show_progress(meanwhile="comparing"):
        results = load_result(first), load_result(second)
        compared = compare_results(*results, look, names=add_cutoffs(names, *results))
        written = write(compared, folder, overwrite=overwrite)
    report_comparison(compared, folder, written)
