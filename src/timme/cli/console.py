"""What surrounds a run on a terminal: progress, checkpoints and signals, and the answer."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from timme._text import printable
from timme.cli.options import in_options

_PHASE = "{desc} …"
_SHARE = "{desc}  {percentage:.0f} %  ({remaining_s:.0f} s left)"


class Progress(tqdm):  # type: ignore[type-arg]
    """One line on a terminal: what is done, how much of it, and the time left."""

    phase = "reading"

    def __init__(self) -> None:
        columns, rows = shutil.get_terminal_size()  # tqdm does not see that 0 means unknown
        size: dict[str, Any] = {"ncols": columns, "nrows": rows}
        super().__init__(total=1, leave=False, disable=None, bar_format=_PHASE, **size)
        self.begin(self.phase)

    def begin(self, phase: str) -> None:
        """Name what is done next."""
        self.phase, self.bar_format = phase, _PHASE
        self.set_description_str(phase)

    def __call__(self, done: int, total: int) -> None:
        """Show how much is done."""
        if done < self.n or total != self.total:
            self.reset(total)
        self.bar_format = _SHARE if 0 < done < total else _PHASE
        self.update(done - self.n)


@contextmanager
def work_on(folder: Path, *, overwrite: bool) -> Iterator[dict[str, Any]]:
    """Keep a folder for a run, show its progress, and save it when it is interrupted.

    The first signal ends a run that can be saved when it has been; any other ends it at once,
    because an exception would be lost in callbacks of the compiler.
    """
    from timme.engine.checkpoint import Checkpoint
    from timme.output.folder import checkpoint_of, claim

    received: list[int] = []
    with (
        claim(folder, overwrite=overwrite),
        Checkpoint(checkpoint_of(folder), resume=True) as checkpoint,
        Progress() as progress,
        _name_compilation(progress),
    ):

        def stop(number: int, _: object) -> None:
            received.append(number)
            if len(received) == 1 and progress.phase == "writing":
                raise KeyboardInterrupt  # so that what was begun is removed
            if len(received) > 1 or not checkpoint.stop():
                leave()

        def leave() -> None:
            progress.close()
            saved = checkpoint.path.exists()
            what = "the same command goes on from here" if saved else "nothing was written"
            click.echo(f"timme: interrupted, {what}", err=True)
            os._exit(128 + received[0])

        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, stop)
        try:
            yield {"progress": progress, "checkpoint": checkpoint}
        except BaseException:
            if received:
                leave()
            raise


@contextmanager
def _name_compilation(progress: Progress) -> Iterator[None]:
    """Name the one reason why a first run takes longer: kernels are being compiled."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, _: object) -> None:
            progress.set_description_str(f"{progress.phase} (compiling, once after installation)")

        def on_end(self, _: object) -> None:
            progress.set_description_str(progress.phase)

    with event.install_listener("numba:compile", Listener()):
        yield


def print_answer(result: Any, folder: Path | str, *, verbose: bool = False) -> None:
    """Print the finding of a result, or all of its summary, and where its files are."""
    from timme.output.folder import files_of
    from timme.output.summary import answer, summary

    model, finding = type(result.made.settings), result.finding
    facts = tuple(fact._replace(value=in_options(fact.value, model)) for fact in finding.facts)
    notes = tuple(in_options(note, model) for note in finding.notes)
    result = replace(result, finding=replace(finding, facts=facts, notes=notes))
    first, *others = answer(result, str(folder)).splitlines()
    if verbose:
        files = [(file.name, file.about) for file in files_of(result, full=False)]
        others = [*in_options(summary(result, files), model).splitlines()[1:], others[-1]]
    first, *others = map(printable, [first, *others])
    click.echo("\n".join([click.style(first, bold=True), *others]))
