"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_atomically(path: str | Path, content: str | bytes) -> Path:
    """Write a file under a temporary name in the same folder, then rename it.

    Text is written in UTF-8; characters that cannot be encoded become ``?``.
    """
    target = Path(path)
    data = content.encode(errors="replace") if isinstance(content, str) else content
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mask = os.umask(0)  # a temporary file is private; the result gets the usual mode
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        return Path(temporary).replace(target)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):  # a full disk is reported without the name of the file
            error.filename = str(target)
        raise
