"""Measure everything side by side: ``python -m benchmarks [--quick] [--only NAME]``."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import click

from benchmarks import (
    allpairs,
    cluster,
    confidence,
    contacts,
    kernel,
    large,
    motion,
    report,
    rigidity,
    scaling,
    startup,
    streaming,
)
from benchmarks.results import Curve, Results, Row
from benchmarks.timing import ROOT

_SECTIONS: dict[str, Callable[..., Results]] = {
    "kernel": kernel.run,
    "allpairs": allpairs.run,
    "scaling": scaling.run,
    "large": large.run,
    "streaming": streaming.run,
    "cluster": cluster.run,
    "contacts": contacts.run,
    "rigidity": rigidity.run,
    "motion": motion.run,
    "confidence": confidence.run,
    "startup": startup.run,
}


@click.command()
@click.option("--quick", is_flag=True, help="Small sizes, to see that all runs; writes nothing.")
@click.option("--only", type=click.Choice(list(_SECTIONS)), multiple=True, help="Some sections.")
def main(*, quick: bool, only: tuple[str, ...]) -> None:
    """Print a table of ratios; a whole run also writes docs/benchmarks.md with its plot."""
    rows: list[Row] = []
    curves: list[Curve] = []
    for name, section in _SECTIONS.items():
        if only and name not in only:
            continue
        start = time.perf_counter()
        found = section(quick=quick)
        click.echo(f"{name} ({time.perf_counter() - start:.0f} s)", err=True)
        rows += found.rows
        curves += found.curves
    report.print_table(rows)
    if not (quick or only):
        report.write_page(ROOT / "docs", rows, curves)
    if any(row.holds is False for row in rows) and not quick:
        sys.exit("some rows do not hold")


if __name__ == "__main__":
    main()
