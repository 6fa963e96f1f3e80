"""Files: what a path is, and its bytes, with errors that say what to do."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

STRUCTURES = frozenset((".pdb", ".ent", ".cif", ".mmcif"))
TABLES = frozenset((".csv", ".tsv"))
# Formats that hold coordinates only: names come from a topology.
BARE_TRAJECTORIES = frozenset((".xtc", ".trr", ".dcd", ".nc", ".ncdf"))


def kind(path: Path) -> str:
    """Tell the kind of a file by its name.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    str
        Its extension in small letters, without that of a compression: ``.pdb``.
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in {".gz", ".bz2"}:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def checked_file(path: str | Path) -> Path:
    """Make sure that a file is there and holds something.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Path
        The same file.
    """
    path = Path(path).expanduser()
    if path.is_dir():
        raise IsADirectoryError(
            f"{path}: a file is needed, but this is a directory: name a file in it"
        )
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file: check the name")
    try:
        with path.open("rb") as stream:
            empty = not stream.read(1)
    except PermissionError:
        raise PermissionError(f"{path}: the file may not be read: check its permissions") from None
    if empty:
        raise ValueError(f"{path}: the file is empty: make or download it again")
    return path


def read_bytes(path: Path) -> bytes:
    """Read a whole file, unpacked, without a byte order mark, with one kind of line ends.

    Parameters
    ----------
    path : Path
        The file, maybe compressed with gzip.

    Returns
    -------
    bytes
        What is in it.
    """
    data = checked_file(path).read_bytes()
    if data.startswith(b"\x1f\x8b"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(
                f"{path}: the compressed file is damaged or cut off ({error}): "
                "make or download it again"
            ) from None
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        raise ValueError(f"{path}: the file is empty: make or download it again")
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def one_line(error: object) -> str:
    """Bring the message of another library into one line.

    Parameters
    ----------
    error : object
        An error or its reason.

    Returns
    -------
    str
        Its message, or its kind where it has none, without line ends.
    """
    return " ".join(str(error).split())[:200] or type(error).__name__
