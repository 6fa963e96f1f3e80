"""What surrounds a run on a terminal: progress, checkpoints and signals, and the answer."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

import click

from timme._text import printable
from timme.cli.options import in_options

if TYPE_CHECKING:
    from timme.engine.checkpoint import Checkpoint

_PHASE = "{desc} …"
_SHARE = "{desc}  {percentage:.0f} %  ({remaining_s:.0f} s left)"


class Progress:
    """One line on a terminal: what is done, how much of it, and the time left."""

    def __init__(self) -> None:
        from tqdm import tqdm

        columns, rows = shutil.get_terminal_size()  # tqdm does not see that 0 means unknown
        size: dict[str, Any] = {"ncols": columns, "nrows": rows}
        self._bar = tqdm(total=1, leave=False, disable=None, bar_format=_PHASE, **size)
        self.begin("reading")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def begin(self, phase: str) -> None:
        """Name what is done next."""
        self._bar.bar_format = _PHASE
        self._bar.set_description_str(phase)

    def __call__(self, done: int, total: int) -> None:
        """Show how much is done."""
        if done < self._bar.n or total != self._bar.total:
            self._bar.reset(total)
        self._bar.bar_format = _SHARE if 0 < done < total else _PHASE
        self._bar.update(done - self._bar.n)


@contextmanager
def work_on(folder: Path, *, overwrite: bool) -> Iterator[dict[str, Any]]:
    """Keep a folder for a run, show its progress, and save it when it is interrupted."""
    from timme.engine.checkpoint import Checkpoint
    from timme.output.folder import checkpoint_of, claim

    with (
        claim(folder, overwrite=overwrite),
        Checkpoint(checkpoint_of(folder), resume=True) as checkpoint,
        interruptible(checkpoint),
        _name_compilation(),
        Progress() as progress,
    ):
        yield {"progress": progress, "checkpoint": checkpoint}


@contextmanager
def interruptible(checkpoint: Checkpoint | None = None) -> Iterator[None]:
    """Save and end in good order on the first signal, and at once on the second."""
    received: list[int] = []

    def report() -> int:
        saved = checkpoint is not None and checkpoint.path.exists()
        what = "the same command goes on from here" if saved else "nothing was written"
        click.echo(f"timme: interrupted, {what}", err=True)
        return 128 + received[0]

    def stop(number: int, _: FrameType | None) -> None:
        received.append(number)
        if len(received) > 1:
            os._exit(report())
        if checkpoint is None or not checkpoint.stop():
            raise KeyboardInterrupt

    def leave(dropped: Any) -> None:
        if received:  # exceptions within a callback of the compiler are dropped
            os._exit(report())
        sys.__unraisablehook__(dropped)

    before: Any = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)}
    sys.unraisablehook = leave
    try:
        yield
    except BaseException:  # within a kernel, an interrupt becomes another error
        if not received:
            raise
        sys.exit(report())
    finally:
        sys.unraisablehook = sys.__unraisablehook__
        for each, old in before.items():
            signal.signal(each, old)


@contextmanager
def _name_compilation() -> Iterator[None]:
    """Name the one reason why a first run takes longer: kernels are being compiled."""
    from numba.core import event
    from tqdm import tqdm

    class Listener(event.Listener):
        shown = not sys.stderr.isatty()

        def on_start(self, _: object) -> None:
            if not self.shown:
                self.shown = True
                tqdm.write("compiling, once after installation …", file=sys.stderr)

        def on_end(self, _: object) -> None:
            pass

    with event.install_listener("numba:compile", Listener()):
        yield


def print_answer(result: Any, folder: Path | str, *, verbose: bool = False) -> None:
    """Print the finding of a result, or all of its summary, and where its files are."""
    from timme.output.folder import files_of
    from timme.output.summary import answer, summary

    model = type(result.made.settings)
    if (finding := result.finding) is not None:
        facts = tuple(fact._replace(value=in_options(fact.value, model)) for fact in finding.facts)
        notes = tuple(in_options(note, model) for note in finding.notes)
        result = replace(result, finding=replace(finding, facts=facts, notes=notes))
    first, *others = answer(result, str(folder)).splitlines()
    if verbose:
        files = [(file.name, file.about) for file in files_of(result, full=False)]
        others = [*in_options(summary(result, files), model).splitlines()[1:], others[-1]]
    first, *others = map(printable, [first, *others])
    click.echo("\n".join([click.style(first, bold=True), *others]))
