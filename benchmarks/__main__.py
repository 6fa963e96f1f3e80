"""Measure everything side by side: ``python -m benchmarks``, with ``--help`` for what it takes."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click

from benchmarks import (
    allpairs,
    cluster,
    confidence,
    contacts,
    kernel,
    large,
    motion,
    overlap,
    plan,
    reading,
    report,
    rigidity,
    scaling,
    shipped,
    startup,
    streaming,
)
from benchmarks.results import Curve, Results, Row
from benchmarks.timing import ROOT, count_cpu_seconds

_SECTIONS: dict[str, Callable[..., Results]] = {
    "kernel": kernel.run,
    "allpairs": allpairs.run,
    "dense": allpairs.run_dense,
    "uncorrelated": allpairs.run_uncorrelated,
    "bodies": allpairs.run_bodies,
    "linking": allpairs.run_linking,
    "scaling": scaling.run,
    "large": large.run,
    "streaming": streaming.run,
    "reading": reading.run,
    "overlap": overlap.run,
    "cluster": cluster.run,
    "plan": plan.run,
    "contacts": contacts.run,
    "rigidity": rigidity.run,
    "motion": motion.run,
    "confidence": confidence.run,
    "shipped": shipped.run,
    "startup": startup.run,
}


@click.command()
@click.option("--quick", is_flag=True, help="Small sizes, to see that all runs; writes nothing.")
@click.option("--only", type=click.Choice(list(_SECTIONS)), multiple=True, help="Some sections.")
@click.option("--cpu", is_flag=True, help="Count CPU seconds, on a busy machine; writes nothing.")
@click.option(
    "--keep",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Note finished sections in a file, and go on after those that it has.",
)
def main(*, quick: bool, only: tuple[str, ...], cpu: bool, keep: Path | None) -> None:
    """Print a table of ratios; a whole run also writes docs/benchmarks.md with its plot."""
    kept = json.loads(keep.read_text("utf-8")) if keep is not None and keep.exists() else {}
    if cpu:
        count_cpu_seconds()
    rows: list[Row] = []
    curves: list[Curve] = []
    for name, section in _SECTIONS.items():
        if only and name not in only:
            continue
        start = time.perf_counter()
        found = Results.from_plain(kept[name]) if name in kept else section(quick=quick)
        click.echo(f"{name} ({time.perf_counter() - start:.0f} s)", err=True)
        if keep is not None:
            kept[name] = found.to_plain()
            keep.write_text(json.dumps(kept), "utf-8")
        rows += found.rows
        curves += found.curves
    report.print_table(rows)
    if not (quick or only or cpu):
        report.write_page(ROOT / "docs", rows, curves)
    if any(row.holds is False for row in rows) and not quick:
        sys.exit("some rows do not hold")


if __name__ == "__main__":
    main()
