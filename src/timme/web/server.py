"""The server: one port of this computer, one folder of jobs, one token."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from timme.web import parts
from timme.web.app import create_app
from timme.web.guard import Keys
from timme.web.limits import Limits

HOST = "127.0.0.1"


def run(
    *, port: int, data: Path | None, browser: bool, tell: Callable[[str], None], limits: Limits
) -> None:
    """Serve until Ctrl-C.

    Parameters
    ----------
    port : int
        Port; 0 for any free one.
    data : Path or None
        Folder of the jobs, by default one in the user's folder for data.
    browser : bool
        Whether to open the page.
    tell : callable
        Called with lines for the user.
    limits : Limits
        What jobs may take.
    """
    folder = data or data_folder()
    with _hold(folder), _bind(port) as listener:
        keys = Keys(secrets.token_urlsafe(24))
        taken = listener.getsockname()[1]
        address = f"http://{HOST}:{taken}/?token="
        app = create_app(folder.resolve(), port=taken, keys=keys, limits=limits)
        # No log of requests: the first one has the token in its address.
        settings = uvicorn.Config(
            app,
            log_level="error",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=2,
        )
        tell(f"TIMME is at  {address}{keys.token}")
        tell(f"results are in  {folder}")
        tell("Ctrl-C stops it; jobs that run can be gone on with later")
        if parts.missing():
            tell(f"there are no pages to look at: {parts.missing()}")
        if browser:
            ticket = keys.ticket()
            threading.Thread(
                target=webbrowser.open, args=(f"{address}{ticket}",), daemon=True
            ).start()
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(settings).run(sockets=[listener])


def data_folder() -> Path:
    """Return the folder in which jobs are kept unless the user names another.

    Returns
    -------
    Path
        In the user's folder for data.
    """
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "timme" / "serve"


@contextmanager
def _hold(folder: Path) -> Iterator[None]:
    """Keep a folder to this server alone: two would take one another's jobs for interrupted."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = (folder / "lock").open("ab")
    except OSError as error:
        raise ValueError(f"{folder}: {error.strerror}: choose another folder (data=)") from None
    with handle:
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ValueError(
                f"{folder}: another server uses this folder: use that, or choose another (data=)"
            ) from None
        yield


def _bind(port: int) -> socket.socket:
    """Take a port of this computer, which nobody else can reach."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if sys.platform != "win32":  # where it would let others take the same port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen()  # before anybody is told the address
    except OSError as error:
        listener.close()
        raise ValueError(
            f"port {port}: {error.strerror}: choose another (port=), or 0 for any free one"
        ) from None
    return listener
