"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def options(*decorators: _Decorator) -> _Decorator:
    """Make one decorator of several, which apply as they are listed.

    Parameters
    ----------
    *decorators : callable
        Options of a command.

    Returns
    -------
    callable
        All of them.
    """

    def apply(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


debug = click.option(
    "--debug", is_flag=True, expose_value=False, help="Show the traceback of errors."
)

output = options(
    click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder to write."),
    click.option("--overwrite", is_flag=True, help="Replace an earlier result in that folder."),
)

frames = options(
    click.option("-b", "--begin", "start", type=int, help="First frame, counted from 0."),
    click.option("-e", "--end", "stop", type=int, help="Frame to stop before."),
    click.option("-dt", "--step", "step", type=int, help="Take every so many frames."),
)

common_atoms = click.option(
    "--common-atoms", is_flag=True, help="Go on with the atoms that all models share."
)

allow_truncated = click.option(
    "--allow-truncated", is_flag=True, help="Use the whole frames of a damaged file."
)

min_size = click.option("--min-size", type=int, help="Clusters of fewer are grey (3).")

palette = click.option(
    "--palette", type=click.Choice(["wide", "safe"]), help="Colours; safe for the colour-blind."
)

shown = options(
    click.option(
        "--cutoff", type=float, help="Cutoff (σc, or energy) of the picture and the structure."
    ),
    click.option("--large", type=int, help="R of the fraction in clusters of R or more (10)."),
    min_size,
    palette,
)

length = click.option(
    "--length", type=float, help="Length a for the axis σ/a (1.54 Å for proteins)."
)


def given(chosen: dict[str, Any]) -> dict[str, Any]:
    """Keep the options that were given; the others follow from the system.

    Parameters
    ----------
    chosen : dict
        Values by name, None where an option was not given.

    Returns
    -------
    dict
        Without these.
    """
    return {name: value for name, value in chosen.items() if value is not None}


def stem(source: str) -> str:
    """Name a result after its source.

    Parameters
    ----------
    source : str
        A file, or pdb:CODE.

    Returns
    -------
    str
        Its name without folders and suffix.
    """
    name = Path(source.removeprefix("pdb:")).name
    return name.removesuffix(".gz").rsplit(".", 1)[0] or "result"
