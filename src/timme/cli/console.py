"""What surrounds a run on a terminal: progress, checkpoints and signals, and the summary."""

from __future__ import annotations

import math
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from timme.cli.interrupts import end_at_once
from timme.cli.words import in_options

if TYPE_CHECKING:
    from timme.analysis import Analysis
    from timme.engine.checkpoint import Checkpoint
    from timme.output.structures import Written
    from timme.system.frames import Progress
    from timme.workflow.comparison import Compared

_GRACE = 2.0  # seconds from the second signal to the end
_INTERVAL = "TIMME_CHECKPOINT_INTERVAL"  # name of a variable
_PATIENCE = 0.8  # seconds for which nothing needs to be said
_TICK = 0.5  # seconds between two looks at the clock
_BEGUN = "timme begun"  # what click keeps of a command: when it first waited for something


@contextmanager
def save_checkpoints(folder: Path, *, resume: bool, overwrite: bool) -> Iterator[Checkpoint]:
    """Save a long run beside its folder; when it is told to stop, save at once and say so.

    Parameters
    ----------
    folder : Path
        Folder of the results, beside which the file is.
    resume : bool
        Whether to go on with what is there.
    overwrite : bool
        Whether to replace what is there.

    Yields
    ------
    Checkpoint
        For the run.
    """
    from timme.engine.checkpoint import Checkpoint

    named = folder if folder.name else folder.absolute()  # "." has no name
    path = named.with_name(f"{named.name}.checkpoint")
    if path.is_file() and not (resume or overwrite):
        raise FileExistsError(
            f"{path} is left of an interrupted run: add --resume to go on with it, "
            "or --overwrite to start anew"
        )
    interval = _interval()
    received: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        received.append(number)
        if len(received) > 1 or not checkpoint.stop():  # a second time means at once
            raise KeyboardInterrupt

    try:
        with (
            Checkpoint(path, resume=resume, interval=interval) as checkpoint,
            _handled(stop, signal.SIGINT, signal.SIGTERM),
            _end_when_told_twice(signal.SIGINT, signal.SIGTERM),
        ):
            yield checkpoint
    except BaseException as error:
        if not (received or was_interrupted(error)):
            raise
        hope = (
            f"call the same again with --resume to go on ({path})"
            if path.exists()
            else "nothing was written"
        )
        click.echo(f"timme: interrupted, {hope}", err=True)
        sys.exit(128 + (received or [signal.SIGINT])[0])


def was_interrupted(error: BaseException) -> bool:
    """Tell whether a user made it happen: within a kernel, an interrupt becomes another error.

    Parameters
    ----------
    error : BaseException
        What was raised.

    Returns
    -------
    bool
        Whether it is an interrupt, or was caused by one.
    """
    return isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt)


def _interval() -> float:
    text = os.environ.get(_INTERVAL) or "30"
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise ValueError(
            f"{_INTERVAL} must be seconds between savings, 0 or more, got {text!r}: "
            "change or unset it"
        )
    return seconds


@contextmanager
def _handled(handler: Callable[..., None], *numbers: signal.Signals) -> Iterator[None]:
    """Handle signals for a while; Python allows it in the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


@contextmanager
def _end_when_told_twice(*numbers: signal.Signals) -> Iterator[None]:
    """End the process soon after the second signal, whatever it is doing.

    Python looks at signals between two of its own steps, and a kernel that runs for long is one
    step. The system's own handler writes each signal into a pipe at once, however, and a thread
    that waits there runs beside a kernel, which holds no lock.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reading, writing = socket.socketpair()
    writing.setblocking(False)
    before = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)

    def watch() -> None:
        seen = 0
        with reading:
            while signals := reading.recv(1):
                seen += signals[0] in numbers
                if seen > 1:
                    time.sleep(_GRACE)  # for whoever ends in good order
                    click.echo("timme: told twice to stop, ended at once", err=True)
                    os._exit(128 + signals[0])

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        writing.close()


@contextmanager
def tell_compiling(*, verbose: bool) -> Iterator[None]:
    """Say to whoever is waiting that kernels are being compiled, which is done once.

    Parameters
    ----------
    verbose : bool
        Whether to say it where nobody sits at a terminal, too.

    Yields
    ------
    None
        While the work is done.
    """
    from numba.core import event

    class Listener(event.Listener):
        told = not (verbose or sys.stderr.isatty())

        def on_start(self, _: object) -> None:
            if not self.told:
                self.told = True
                say("compiling, once after installation …")

        def on_end(self, _: object) -> None:
            pass

    with event.install_listener("numba:compile", Listener()):
        yield


@contextmanager
def engine_for(workers: int | None, cluster: str | None) -> Iterator[dict[str, Any]]:
    """Choose who measures: threads, or a cluster for as long as it is needed.

    Parameters
    ----------
    workers : int or None
        Threads, or workers of a local cluster.
    cluster : str or None
        "local", or the address of a scheduler.

    Yields
    ------
    dict
        Arguments of :func:`timme.analyse`.
    """
    if cluster is None:
        yield {"workers": workers}
        return
    from timme.engine.connect import connect

    with connect(cluster, workers=workers) as client:
        yield {"client": client}


@contextmanager
def show_progress(what: str = "", *, meanwhile: str = "working") -> Iterator[Progress]:
    """Show a bar with the time left, once a second has passed; without a bar, the time taken.

    That second is one of the whole command: what follows is shown at once, so that a line that says
    what is done is never empty for a while, nor are many short waits in a row silent.

    Parameters
    ----------
    what : str, optional
        What is done, where the work is told.
    meanwhile : str, optional
        What is done while nothing is told about it.

    Yields
    ------
    callable
        Takes the work done and the whole work.
    """
    waiting = f"{meanwhile} … {{elapsed}}"
    bar = _make_bar(what, waiting)

    def progress(done: int, total: int) -> None:
        if done < bar.n:  # another stretch of work, with its own time left
            bar.reset(total)
        bar.total = total
        bar.bar_format = None if done < total else waiting
        bar.update(done - bar.n)

    with bar, _refreshed(bar):
        yield progress


@contextmanager
def show_start() -> Iterator[None]:
    """Tell that libraries are imported, should it take a second; who interrupts it ends at once.

    Yields
    ------
    None
        While they are imported.
    """
    with end_at_once():
        bar = _make_bar("", "starting … {elapsed}")
    with bar, _refreshed(bar), end_at_once(bar.close):
        yield
        # Its import is the one that crashes if an exception is raised within it later.
        import gemmi  # noqa: F401


def _make_bar(what: str, waiting: str) -> Any:
    from tqdm import tqdm

    return tqdm(
        desc=what,
        delay=_patience(),
        leave=False,
        disable=None,
        unit_scale=True,
        bar_format=waiting,
        ncols=_columns(),
    )


def _patience() -> float:
    """Seconds for which nothing needs to be said: what the command took so far is taken off."""
    context = click.get_current_context(silent=True)
    if context is None:
        return _PATIENCE
    now = time.monotonic()
    begun: float = context.meta.setdefault(_BEGUN, now)
    return max(0.0, _PATIENCE - (now - begun))


def _columns() -> int | None:
    """Return how wide a bar is: as a terminal tells it, or 80 where it says 0, as some do."""
    try:
        return None if os.get_terminal_size(sys.stderr.fileno()).columns else 80
    except (AttributeError, OSError, ValueError):  # no terminal
        return None


@contextmanager
def _refreshed(bar: Any) -> Iterator[None]:
    """Show a bar after a while and let its clock go on, whether or not it is told anything."""
    ended = threading.Event()

    def refresh() -> None:
        pause = bar.delay or _TICK
        while not ended.wait(pause):
            bar.delay = 0.0  # it is seen now, and to be wiped out in the end
            bar.refresh()
            pause = _TICK

    if bar.disable:
        yield
        return
    watching = threading.Thread(target=refresh, daemon=True)
    watching.start()
    try:
        yield
    finally:
        ended.set()
        watching.join()


def say(line: str) -> None:
    """Print a line where errors go, above a bar if there is one.

    Parameters
    ----------
    line : str
        What to say.
    """
    from tqdm import tqdm

    tqdm.write(line, file=sys.stderr)


def report(analysis: Analysis, folder: Path, written: Written) -> None:
    """Print what was found and written, and what to look at first.

    Parameters
    ----------
    analysis : Analysis
        What was analysed.
    folder : Path
        Where it was written.
    written : Written
        The files.
    """
    from timme.workflow import first_looks, summary

    notes = (*analysis.notes, *written.notes)
    tell(summary(analysis), notes, folder, written.paths, first_looks())


def report_comparison(compared: Compared, folder: Path, written: Written) -> None:
    """Print how far two results agree, and what to look at first.

    Parameters
    ----------
    compared : Compared
        Two results.
    folder : Path
        Where the comparison was written.
    written : Written
        The files.
    """
    from timme.workflow.comparison import rows

    notes = (*compared.notes, *written.notes)
    pictures = ("dilutions.png", "agreement.png", "matched.csv", "comparison.pml")
    tell(rows(compared), notes, folder, written.paths, pictures)


def tell(
    rows: Sequence[tuple[str, str]],
    notes: Sequence[str],
    folder: Path,
    paths: Sequence[Path],
    names: Sequence[str],
) -> None:
    """Print a table, notes, and the files to look at.

    Parameters
    ----------
    rows : sequence of (str, str)
        What, and its value.
    notes : sequence of str
        What the user should know.
    folder : Path
        Where files were written.
    paths : sequence of Path
        All of them.
    names : sequence of str
        Those to look at, if they are there.
    """
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        click.echo(f"{name:<{width}}  {value}")
    context = click.get_current_context(silent=True)
    given, command = (context.obj, context.command) if context else ((), None)
    for note in notes:
        click.echo(f"note: {in_options(note, given, command)}")
    click.echo(f"wrote {len(paths)} files into {folder}; look at")
    for name in names:
        if folder / name in paths:
            click.echo(f"  {folder / name}")
