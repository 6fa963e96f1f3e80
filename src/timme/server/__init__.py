"""The server: pages in a browser, and jobs on this computer."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import socket
import tempfile
import threading
import webbrowser
from pathlib import Path

import click
from filelock import FileLock, Timeout

from timme.analysis.settings import ServeSettings

HOST = "127.0.0.1"


def serve(settings: ServeSettings, *, verbose: bool = False) -> None:
    """Serve pages and jobs to the user of this computer, until Ctrl-C.

    Parameters
    ----------
    settings : ServeSettings
        Port, folder of results, and limits of jobs.
    verbose : bool, optional
        Whether to print warnings of the server.
    """
    try:
        import uvicorn

        from timme.server.app import create_app
    except ImportError as error:
        raise ImportError(f"the server needs {error.name}: pip install 'pytimme[web]'") from None
    usual = Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share", "timme", "serve")
    folder = Path(settings.data or usual).expanduser()
    with _lock(folder), _listen(settings.port) as listener:
        tempfile.tempdir = str(folder)  # of large uploads; the usual folder may be in memory
        token, ticket = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        port = listener.getsockname()[1]
        address = f"http://{HOST}:{port}/?token="
        place = folder.resolve()
        app = create_app(place, settings, port=port, token=token, tickets={ticket})
        config = uvicorn.Config(
            app,
            ws="none",
            log_level=logging.WARNING if verbose else logging.ERROR,
            access_log=False,  # the first request has the token in its address
            server_header=False,
            timeout_graceful_shutdown=2,
        )
        click.echo(f"TIMME is at  {address}{token}\nresults are in  {folder}")
        click.echo("Ctrl-C ends it; unfinished jobs can be resumed later")
        if not settings.no_browser:
            page = f"{address}{ticket}"
            threading.Thread(target=webbrowser.open, args=[page], daemon=True).start()
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])


def _lock(folder: Path) -> FileLock:
    """Keep a folder to this server: two would take one another's jobs for stopped."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = FileLock(folder / "lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        words = "another server uses this folder: choose another by data="
        raise ValueError(f"{folder}: {words}") from None
    return lock


def _listen(port: int) -> socket.socket:
    """Take a port that this computer alone can reach."""
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        reason = f"port {port}: {error.strerror}"
        raise ValueError(f"{reason}: choose another by port=, or 0 for any free one") from None
