"""Files: their kind by name, their bytes, and entries fetched from the PDB."""

from __future__ import annotations

import bz2
import codecs
import gzip
import http.client
import os
import re
import stat
import struct
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats, Ints, Strings
from timme._text import is_number, one_line, write_atomically
from timme.ensemble.space import cell_vectors

STRUCTURES = frozenset((".pdb", ".cif"))
TABLES = frozenset((".csv", ".tsv", ".txt", ".dat"))
SERVER = "https://files.rcsb.org/download"

_COMPRESSIONS = frozenset((".gz", ".bz2"))
_SAME = {
    ".ent": ".pdb", ".mmcif": ".cif", ".pdbx": ".cif", ".extxyz": ".xyz", ".h5": ".h5md",
    ".netcdf": ".nc", ".ncdf": ".nc", ".dump": ".lammpstrj", ".lammpsdump": ".lammpstrj",
    ".atom": ".lammpstrj", ".mm": ".mtx", ".restrt": ".rst7", ".inpcrd": ".rst7",
    ".rst": ".rst7", ".ncrst": ".rst7",
    "HISTORY": ".history", "CONFIG": ".config", "REVCON": ".config",
}  # fmt: skip
# What follows the name of a LAMMPS dump counts or names runs, as in dump.melt, but for these.
_SUFFIXES = frozenset(".csv .cif .dat .dcd .gz .npy .pdb .trr .txt .xtc .xyz".split())
_UNREAD = {  # formats that are refused, each with the way to one that is read
    **dict.fromkeys((".config", ".history"), "write extended XYZ: ase convert IN out.extxyz"),
    ".rst7": "write Amber restart files as NetCDF, with trajout out.nc in cpptraj",
    ".traj": "pass what ase.io.read(file, ':') returns",
}
_CODE = re.compile(r"[0-9][a-z0-9]{3}|pdb_[0-9a-z]{8}")
_PARTED = re.compile(r"\S\s+\S|[;,]")  # a line of more than one word
_TIMEOUT = 60.0  # seconds


class FrameHead(NamedTuple):
    """What one frame of a trajectory file tells before its coordinates."""

    offset: int  # bytes before it
    n_atoms: int
    time: float = np.nan
    has_images: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """A trajectory file after its index: where frames are, and what holds for all of them."""

    n_frames: int
    n_atoms: int
    times: Floats  # (frames,), in ps, or numbers of steps; NaN where unknown
    offsets: Ints | None = None  # (frames,), bytes before each, where the format needs them
    in_steps: bool = False  # whether times are numbers of steps
    unit: str = "Å"  # of coordinates as they are read, "" where the file states none
    rounding: float = 0.0  # spacing of the grid on which coordinates are, 0 where unknown
    n_dimensions: int = 3
    has_images: bool = False  # whether every frame has image flags
    ids: Ints | None = None  # (atoms,), ascending, where atoms of frames may come in any order
    names: Strings | None = None  # (atoms,), in the order of the ids
    molecules: Ints | None = None  # (atoms,), in the order of the ids, 0 for none
    note: str = ""
    damage: str = ""  # what is wrong after the last whole frame
    path: str = ""  # absolute, so that workers elsewhere find it
    reader: Any = None  # of MDAnalysis, in place of a file
    stamp: tuple[int, int] = (0, 0)


def kind(path: Path) -> str:
    """Extension of a file in small letters, the same for all names of one format."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSIONS:
        suffixes.pop()
    last = _SAME.get(suffixes[-1], suffixes[-1]) if suffixes else _SAME.get(path.name, "")
    is_dump = (path.name + ".").startswith("dump.") and last not in _SUFFIXES.union(_SAME.values())
    return ".lammpstrj" if is_dump else last


def checked_file(path: str | Path) -> Path:
    """Return the path of a file that can be read, or raise an error that says why it cannot."""
    path = Path(os.path.expanduser(path))  # noqa: PTH111, a name such as ~old.pdb is no home
    try:
        found = path.stat()
        if stat.S_ISREG(found.st_mode):
            path.open("rb").close()
    except OSError as error:
        raise type(error)(f"{path}: {error.strerror}: check its name and permissions") from None
    if not stat.S_ISREG(found.st_mode):
        raise ValueError(f"{path}: a regular file is needed, no folder or pipe: save the data")
    if not found.st_size:
        raise ValueError(f"{path}: the file is empty: make or download it again")
    if kind(path) in _UNREAD:
        raise ValueError(f"{path}: this format is not read: {_UNREAD[kind(path)]}")
    return path


def stamp(path: str | Path) -> tuple[int, int]:
    """Size in bytes and time of the last change in ns, which tell a file from a later one."""
    found = Path(path).stat()
    return found.st_size, found.st_mtime_ns


def refuse_changed(path: str | Path, before: tuple[int, int]) -> None:
    """Raise an error if a file is no longer the one that had this stamp."""
    if not Path(path).is_file() or stamp(path) != before:
        raise ValueError(f"{path}: the file was changed while it was read: read it again later")


def cached(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that keeps what was made of the last file, until that file changes."""

    @lru_cache(maxsize=1)
    def keep(path: Path, changed: tuple[int, int], *others: Any) -> Any:
        del changed
        return make(path, *others)

    return lambda path, *others: keep(Path(path).absolute(), stamp(path), *others)


def read_bytes(path: str | Path) -> bytes:
    """Read a whole text file, unpacked, with newlines as its only line ends."""
    path = checked_file(path)
    before = stamp(path)
    data = _unpack(path, path.read_bytes())
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        data = data.decode("utf-16", errors="replace").encode()
    data = data.removeprefix(codecs.BOM_UTF8)
    refuse_changed(path, before)
    if b"\0" in data or not data.strip():  # zeros are left by a copy that failed
        raise ValueError(f"{path}: the file holds zero bytes, or nothing: write it as UTF-8")
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def table_lines(path: Path) -> tuple[list[str], str, bool]:
    """Return the lines of a table, at least one, what parts them, and whether the last has an end.

    Blank lines, comments and titles of one word are left out. Columns are parted by semicolons,
    tabs, commas or blanks.
    """
    data = read_bytes(path)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    is_ended = text.rstrip(" \t").endswith("\n")
    lines = [line for line in text.split("\n") if line.strip() and line[0] != "#"] or [""]
    above = (row for row, line in enumerate(lines[:10]) if is_number(line) or _PARTED.search(line))
    lines = lines[next(above, 0) :]  # Imaris writes titles above the names
    return lines, next((sign for sign in ";\t," if sign in lines[0]), " "), is_ended


def index_frames(heads: Iterator[FrameHead]) -> Trajectory:
    """Return the index of all whole frames, up to the first that is damaged."""
    found, damage = list[FrameHead](), ""
    try:
        for head in heads:
            if found and head.n_atoms != found[0].n_atoms:
                damage = f"it has {head.n_atoms} atoms, the others have {found[0].n_atoms}"
                break
            found.append(head)
    except (ValueError, IndexError, OverflowError, struct.error) as error:
        damage = one_line(error)
    if not found:
        raise ValueError(f"no whole frame was found ({damage or 'the file holds none'})")
    offsets, counts, times, flags = map(np.array, zip(*found, strict=True))
    index = Trajectory(len(found), int(counts[0]), times.astype(np.float64), offsets)
    damage = f"frame {len(found) + 1}: {damage}" if damage else ""
    return replace(index, has_images=bool(flags.all()), damage=damage)


def cell_box(lengths: Floats, angles: Floats) -> Floats:
    """Return box vectors of the lengths and angles of a file; angles of 0 0 0 are right ones.

    Where no box has such angles, its vectors are NaN beside the lengths, to be checked later.
    """
    try:
        return cell_vectors([*lengths, *(angles if angles.any() else (90.0, 90.0, 90.0))])
    except ValueError:
        return np.where(np.eye(3, dtype=np.bool_), lengths, np.nan)


def take(stream: BinaryIO, start: int, count: int) -> bytes:
    """Return bytes that must be there."""
    stream.seek(start)
    data = stream.read(count)
    if len(data) < count:
        raise ValueError(f"{count - len(data)} bytes are missing at the end of the file")
    return data


def open_npy(path: str | Path) -> npt.NDArray[np.number]:
    """Map the array of an ``.npy`` file into memory, read-only; its header must fit its size."""
    path = checked_file(path)
    try:
        array: np.memmap[Any, Any] = np.lib.format.open_memmap(path, mode="r")
        size, held = array.offset + array.nbytes, path.stat().st_size
        if array.dtype.kind not in "fiu" or size != held:
            fault = f"its header announces {size} bytes of {array.dtype}, the file holds {held}"
            raise ValueError(fault)  # noqa: TRY301
    except Exception as error:  # noqa: BLE001, NumPy evaluates a header, which may be damaged
        fault = f"not an array of real numbers ({one_line(error)})"
        raise ValueError(f"{path}: {fault}: save it with numpy.save as float") from None
    return array


def fetch(code: str) -> Path:
    """Download the mmCIF file of a PDB entry, unless it is in the cache.

    Files are kept in the directory ``timme`` of the user's cache directory. They come from the PDB,
    or from the address of a directory in the environment variable ``TIMME_PDB_SERVER``.

    Parameters
    ----------
    code : str
        Code of the entry: ``1bnr`` or ``pdb_00001bnr``.

    Returns
    -------
    Path
        The file in the cache.

    Examples
    --------
    >>> fetch("barnase")
    Traceback (most recent call last):
    ValueError: a PDB code has 4 characters as 1bnr or 12 as pdb_00001bnr, got 'barnase'
    """
    name = code.strip().lower()
    if not _CODE.fullmatch(name):
        raise ValueError(f"a PDB code has 4 characters as 1bnr or 12 as pdb_00001bnr, got {code!r}")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = cache / "timme" / f"{name}.cif.gz"
    if not path.is_file():
        address = (os.environ.get("TIMME_PDB_SERVER") or SERVER).rstrip("/")
        data = _download(f"{address}/{path.name}", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, data)
    return path


def _download(address: str, name: str) -> bytes:
    if not address.startswith(("http://", "https://")):
        raise ValueError(f"the address of a PDB server starts with http:// or https://: {address}")
    try:
        with urllib.request.urlopen(address, timeout=_TIMEOUT) as answer:  # noqa: S310
            data: bytes = answer.read()
        if b"_atom_site." not in gzip.decompress(data):  # which checks the sum of all data
            raise OSError("the server sent no structure")  # noqa: TRY301
    except (OSError, EOFError, zlib.error, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        fault = f"the download of {name} failed ({one_line(error)})"
        raise OSError(f"{address}: {fault}: check the code, or give the file itself") from None
    return data


def _unpack(path: Path, data: bytes) -> bytes:
    suffix = path.suffix.lower()
    try:
        if suffix == ".gz" or data.startswith(b"\x1f\x8b"):
            return gzip.decompress(data)
        # A text may begin with the mark of this compression.
        return bz2.decompress(data) if suffix == ".bz2" else data
    except (OSError, EOFError, ValueError, MemoryError, zlib.error) as error:
        fault = f"not a whole {suffix} file that fits into memory: {one_line(error)}"
        raise ValueError(f"{path}: {fault}: download it again") from None
