"""The local server: a page in the browser, a documented REST API, jobs in their own processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from timme.settings import ServeSettings


def serve(chosen: ServeSettings, *, tell: Callable[[str], None]) -> None:
    """Serve the page on this computer until Ctrl-C.

    Parameters
    ----------
    chosen : ServeSettings
        Where it is, and what its jobs may take.
    tell : callable
        Called with lines for the user.
    """
    try:
        from timme.web.limits import parse_limits
        from timme.web.server import run
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("timme"):
            raise
        raise ValueError(
            f"the server needs {error.name}: install it with `pip install 'pytimme[web]'`"
        ) from None
    run(
        port=chosen.port,
        data=None if chosen.data is None else Path(chosen.data),
        browser=not chosen.no_browser,
        tell=tell,
        limits=parse_limits(chosen),
    )
