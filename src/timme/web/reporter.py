"""How far a job is: written into its folder by its process, read by the server."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from timme._files import write_atomically
from timme.web.models import Progress, Stage

_TELL = 0.2  # seconds between reports of progress


class Reporter:
    """Writes how far a job is, a few times a second at most.

    Parameters
    ----------
    path : Path
        File to write.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stage: Stage = "starting"
        self._done = 0
        self._begun = self._told = 0.0

    def stage(self, stage: Stage) -> None:
        """Begin a stage of which nothing is known but its name.

        Parameters
        ----------
        stage : str
            What is being done.
        """
        self._stage, self._done, self._begun = stage, 0, time.monotonic()
        self._tell(Progress(stage=stage))

    def counting(self, stage: Stage) -> Callable[[int, int], None]:
        """Make what is told how much of a stage is done.

        Parameters
        ----------
        stage : str
            What is being done.

        Returns
        -------
        callable
            Takes what is done and the whole; a smaller number than before means another pass.
        """

        def count(done: int, total: int) -> None:
            now = time.monotonic()
            if self._stage != stage or done < self._done:
                self._stage, self._begun = stage, now
            elif now - self._told < _TELL and done < total:
                return
            self._done = done
            passed = now - self._begun
            left = passed * (total - done) / done if done and passed > 1.0 else None
            self._tell(Progress(stage=stage, done=done, total=total, seconds_left=left))

        return count

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """Tell that kernels are compiled, which is done once after installation.

        Yields
        ------
        None
            While this is watched.
        """
        from numba.core import event

        report = self

        class Listener(event.Listener):
            def on_start(self, _: object) -> None:
                report.stage("compiling")

            def on_end(self, _: object) -> None:
                pass

        with event.install_listener("numba:compile", Listener()):
            yield

    def _tell(self, progress: Progress) -> None:
        self._told = time.monotonic()
        write_atomically(self._path, progress.model_dump_json())
