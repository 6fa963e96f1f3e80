"""Measure everything side by side: ``python -m benchmarks [--quick] [--only NAME]…``."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click

from benchmarks import cluster, contacts, largest, sigma
from benchmarks.rows import Row

SECTIONS: dict[str, Callable[..., list[Row]]] = {
    "kernel": sigma.kernel,
    "all-pairs": sigma.all_pairs,
    "recipe": sigma.recipe,
    "bodies": sigma.bodies,
    "contacts": contacts.protein,
    "particles": contacts.particles,
    "million": largest.in_contact,
    "large": cluster.large,
    "largest": largest.all_pairs,
    "walkers": cluster.walkers,
    "dask": cluster.dask,
}


@click.command()
@click.option("--quick", is_flag=True, help="Small sizes, to see that everything runs.")
@click.option("--only", type=click.Choice(list(SECTIONS)), multiple=True, help="Some sections.")
def main(*, quick: bool, only: tuple[str, ...]) -> None:
    """Print a table of ratios, each of contenders that were timed in turns."""
    rows = list[Row]()
    for name in only or SECTIONS:
        for row in SECTIONS[name](quick=quick):
            click.echo(" | ".join(row.cells))
            rows.append(row)
    if not quick and not all(row.holds for row in rows):
        sys.exit("some rows miss their bound")


if __name__ == "__main__":
    main()
