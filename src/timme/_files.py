"""Write a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_atomically(path: str | Path, content: str | bytes) -> Path:
    """Write a file under a temporary name beside its place, then rename it.

    Parameters
    ----------
    path : str or Path
        Where the file is to be; whatever is there is replaced.
    content : str or bytes
        Text is written in UTF-8, with its line ends as they are; with a ? for every byte of a name
        that is of no known encoding.

    Returns
    -------
    Path
        The file written.
    """
    target = Path(path)
    data = content.encode(errors="replace") if isinstance(content, str) else content
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        _set_usual_mode(temporary)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return target


def _set_usual_mode(path: str) -> None:
    """Give a temporary file, which is private at first, the mode of any new file."""
    mask = os.umask(0)
    os.umask(mask)
    Path(path).chmod(0o666 & ~mask)
