"""Files: what a path is, and its bytes, with errors that say what to do."""

from __future__ import annotations

import bz2
import gzip
import io
import re
import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from timme._arrays import Coordinates, Floats, Ints

if TYPE_CHECKING:
    import numpy.typing as npt

STRUCTURES = frozenset((".pdb", ".ent", ".cif", ".mmcif"))
TABLES = frozenset((".csv", ".tsv", ".txt", ".dat"))
# Formats that hold coordinates only: names come from a topology.
BARE_TRAJECTORIES = frozenset(
    (
        ".xtc", ".trr", ".dcd", ".nc", ".ncdf", ".netcdf",
        ".lammpstrj", ".lammpsdump", ".dump", ".atom",
    )
)  # fmt: skip

LAMMPS_DATA = frozenset((".data", ".lmp"))
# Formats in which lengths are numbers of any unit, which only the user knows.
UNITLESS = frozenset((".gsd", ".xyz", ".lammpstrj", ".dump")) | LAMMPS_DATA
# Formats that are read here and there, and so from files as they are only.
_BINARIES = frozenset((".xtc", ".trr", ".dcd", ".nc", ".gsd", ".h5md", ".traj"))
# Formats of entries of the PDB; what MDAnalysis makes of MMTF is all models piled into one.
_OTHER_NAMES = {
    ".extxyz": ".xyz", ".netcdf": ".nc", ".ncdf": ".nc", ".pdbx": ".cif", ".h5": ".h5md",
    ".lammpsdump": ".lammpstrj", ".atom": ".lammpstrj",
    ".restrt": ".rst7", ".inpcrd": ".rst7", ".rst": ".rst7", ".ncrst": ".rst7",
}  # fmt: skip
# Names that programs give to files, without a suffix: DL_POLY, Amber, LAMMPS and VASP do. What
# follows them counts runs or names them, as in HISTORY_run1 or dump.melt, unless it is known.
_WITHOUT_SUFFIX = {
    "HISTORY": ".history", "CONFIG": ".config", "REVCON": ".config",
    "restrt": ".rst7", "inpcrd": ".rst7", "dump": ".lammpstrj", "XDATCAR": ".xdatcar",
}  # fmt: skip
_NAMED = re.compile(rf"({'|'.join(_WITHOUT_SUFFIX)})(?![A-Za-z0-9])")
_KNOWN = STRUCTURES | TABLES | BARE_TRAJECTORIES | UNITLESS | _OTHER_NAMES.keys() | frozenset(
    (
        ".gro", ".psf", ".tpr", ".prmtop", ".parm7", ".top", ".itp", ".crd", ".mdcrd", ".trj",
        ".crdbox", ".trz", ".rst7", ".h5md", ".npy", ".traj", ".pdbqt", ".pqr", ".mol2", ".arc",
        ".txyz", ".history", ".config", ".xml", ".json", ".mmtf", ".bcif", ".tng", ".sdf", ".mol",
        ".bin", ".zip", ".zst", ".xz", ".pkl", ".png", ".html", ".md", ".py", ".log", ".out",
    )
)  # fmt: skip
_START = 2000  # bytes by which a file is known
_TRACKMATE = re.compile(rb"<(TrackMate|Tracks)\b")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_ENTRY = "give the same entry as mmCIF (.cif) or PDB"
_SDF = "write its conformers as MOL2, as with obabel in.sdf -O out.mol2"
_UNREAD = {
    ".bcif": ("BinaryCIF", _ENTRY), ".mmtf": ("MMTF", _ENTRY),
    ".sdf": ("SDF", _SDF), ".sd": ("SDF", _SDF), ".mol": ("MDL MOL", _SDF.replace("sdf", "mol")),
    ".xdatcar": ("XDATCAR", "write it as extended XYZ, as with ase convert XDATCAR out.extxyz"),
    ".tng": ("TNG", "write it as XTC, as with gmx trjconv -f in.tng -o out.xtc"),
}  # fmt: skip


class RawFrame(NamedTuple):
    """One frame as a file gives it."""

    positions: Coordinates  # (atoms, dimensions), as precise as the file: texts are in double
    box: Floats | None  # (dimensions, dimensions), rows are vectors, 0 in open directions
    images: Ints | None = None  # (atoms, dimensions), how often each atom went through the walls
    time: float | None = None  # ps
    ids: Ints | None = None  # (atoms,), where the file numbers them
    names: npt.NDArray[Any] | None = None  # (atoms,), whatever tells kinds of atoms apart
    remark: str = ""  # what was decided on its box


def kind(path: Path) -> str:
    """Tell the kind of a file by its name.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    str
        Its extension in small letters, without that of a compression: ``.pdb``; ``.xyz`` for an
        extended XYZ file too, ``.nc`` for any name of NetCDF and ``.lammpstrj`` for other names of
        LAMMPS dumps. Files that programs write without one are known by their names.
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in {".gz", ".bz2"}:
        suffixes.pop()
    last = suffixes[-1] if suffixes else ""
    named = _NAMED.match(path.name)
    if named and last not in _KNOWN:
        last = _WITHOUT_SUFFIX[named[1]]
    return _OTHER_NAMES.get(last, last)


def checked_file(path: str | Path) -> Path:
    """Make sure that a file is there and holds something that may be read.

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
            start = stream.read(_START)
    except PermissionError:
        raise PermissionError(f"{path}: the file may not be read: check its permissions") from None
    if not start:
        raise ValueError(f"{path}: the file is empty: make or download it again")
    if kind(path) in _UNREAD and not (kind(path) == ".tng" and find_spec("pytng")):
        name, remedy = _UNREAD[kind(path)]
        raise ValueError(f"{path}: {name} is not read: {remedy}")
    if kind(path) == ".xml" and _TRACKMATE.search(start):
        raise ValueError(
            f"{path}: XML of TrackMate is not read: write its spots as a table, with Spots, Export "
            "to CSV, in its window of tracks"
        )
    return path


def library_format(path: Path) -> str | None:
    """Tell MDAnalysis what a file is, where its name would not.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    str or None
        None where the library knows it by its name.
    """
    known = {".xyz": "XYZ", ".cif": "MMCIF", ".history": "HISTORY", ".config": "CONFIG"}
    return known.get(kind(path))


def refuse_packed(path: Path) -> None:
    """Refuse a compressed file of a format that is read from files as they are only.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    ValueError
        For compressed trajectories that are no texts.
    """
    last, format_ = path.suffix.lower(), kind(path)
    if last in {".gz", ".bz2"} and format_ in _BINARIES:
        raise ValueError(
            f"{path}: compressed {format_[1:].upper()} files are not read: unpack it first, as "
            f"with {'gunzip' if last == '.gz' else 'bunzip2'}"
        )


def read_bytes(path: Path) -> bytes:
    """Read a whole file, unpacked, without a byte order mark, with one kind of line ends.

    Parameters
    ----------
    path : Path
        The file, maybe compressed with gzip or bzip2.

    Returns
    -------
    bytes
        What is in it.
    """
    data = _unpack(checked_file(path)).removeprefix(BYTE_ORDER_MARK)
    if not data.strip():
        raise ValueError(f"{path}: the file is empty: make or download it again")
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def open_binary(path: Path) -> BinaryIO:
    """Open a file to be read here and there; a compressed one is unpacked into memory.

    Parameters
    ----------
    path : Path
        The file, maybe compressed with gzip or bzip2.

    Returns
    -------
    BinaryIO
        Its bytes.
    """
    if path.suffix.lower() in {".gz", ".bz2"}:
        return io.BytesIO(_unpack(path))
    return path.open("rb")


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


def _unpack(path: Path) -> bytes:
    data = path.read_bytes()
    try:
        if data.startswith(b"\x1f\x8b"):
            return gzip.decompress(data)
        # Only by its name: a text may start with the letters that mark this compression.
        if path.suffix.lower() == ".bz2":
            return bz2.decompress(data)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise ValueError(
            f"{path}: the compressed file is damaged or cut off ({one_line(error)}): "
            "make or download it again"
        ) from None
    if path.suffix.lower() == ".gz":
        raise ValueError(
            f"{path}: the file does not start as a compressed file does: "
            "make or download it again, or name it without .gz"
        )
    return data
