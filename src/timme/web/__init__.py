"""The local server: a page in the browser, a documented REST API, jobs in their own processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def serve(
    *,
    port: int,
    data: Path | None,
    browser: bool,
    tell: Callable[[str], None],
    **limits: Any,
) -> None:
    """Serve the page on this computer until Ctrl-C.

    Parameters
    ----------
    port : int
        Port on 127.0.0.1; 0 for any free one.
    data : Path or None
        Folder of the jobs, by default one in the user's folder for data.
    browser : bool
        Whether to open the page.
    tell : callable
        Called with lines for the user.
    **limits
        What :func:`timme.web.limits.parsed_limits` takes.
    """
    try:
        from timme.web.limits import parsed_limits
        from timme.web.server import run
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("timme"):
            raise
        raise ValueError(
            f"the server needs {error.name}: install it with `pip install 'pytimme[web]'`"
        ) from None
    run(port=port, data=data, browser=browser, tell=tell, limits=parsed_limits(**limits))
