"""One trajectory file: found whole, opened, and read a frame at a time."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from timme._arrays import Bools, Floats, Ints
from timme.readers.amber import AMBER_TEXTS, read_amber
from timme.readers.boundaries import box_within, periodic_directions
from timme.readers.clocks import FrameClock
from timme.readers.dcd import DcdFile
from timme.readers.dlpoly import DLPOLY, HISTORY, read_config, read_history
from timme.readers.dumps import DUMPS, dump_style, read_dump
from timme.readers.files import UNITLESS, RawFrame, kind, library_format, one_line, open_binary
from timme.readers.gro import read_gro
from timme.readers.gsd import GsdFile
from timme.readers.h5md import H5mdFile, SeveralGroupsError
from timme.readers.identity import refuse_other_ids, sorted_ids
from timme.readers.integrity import TEXTS, layout
from timme.readers.lammps_data import parser_options
from timme.readers.layouts import Layout
from timme.readers.netcdf import NetcdfFile
from timme.readers.pdb_frames import PDB, read_pdb_frame
from timme.readers.restart import RestartFile
from timme.readers.several import refuse_later_models, refuse_piled_models
from timme.readers.universes import quiet, time_of, time_of_frame
from timme.readers.xdr import open_xdr
from timme.readers.xyz import read_xyz

if TYPE_CHECKING:
    import numpy.typing as npt

_NM = 10.0  # Å
_OFFSETS = frozenset((".xtc", ".trr")) | TEXTS  # formats that are read by place
# Formats whose frames are counted here, and read by MDAnalysis.
_COUNTED = frozenset((".arc", ".txyz"))

# Formats whose files are opened once, and read frame by frame.
_FILES: dict[str, Callable[[Path], DcdFile | GsdFile | H5mdFile | NetcdfFile | RestartFile]] = {
    ".dcd": DcdFile, ".gsd": GsdFile, ".h5md": H5mdFile, ".nc": NetcdfFile, ".ncdf": NetcdfFile,
    ".rst7": RestartFile,
}  # fmt: skip

ReadFrame = Callable[[int], RawFrame]


@dataclass(frozen=True, slots=True, eq=False)
class TrajectoryFile:
    """One trajectory file that was found whole."""

    path: str
    n_atoms: int
    n_frames: int
    offsets: Ints | None = None  # (frames,) for formats that need them for random access
    cells: Ints | None = None  # (frames,), where lines of cells start that may stand anywhere
    stamps: Floats | None = None  # (frames,), times or steps, if known without reading frames
    rounding: float = 0.0  # Å
    ids: Ints | None = None  # (atoms,), sorted, where atoms are numbered and come in any order
    names: npt.NDArray[Any] | None = None  # (atoms,), of the first frame, for those of the others
    numbers: Ints | None = None  # (atoms,), by which the file knows them, where it does
    has_images: bool = False  # whether every frame says how often atoms went through the walls
    some_images: bool = False  # whether only some frames say it
    unit: str = "Å"  # of its lengths, "" where it states none
    style: str = ""  # of the units of a LAMMPS dump


def describe_file(
    path: Path, n_atoms: int | None, *, allow_truncated: bool
) -> tuple[TrajectoryFile, str]:
    """Look at a trajectory file without reading its frames.

    Parameters
    ----------
    path : Path
        The file.
    n_atoms : int or None
        Number of its atoms, for formats that do not say; None if nobody knows.
    allow_truncated : bool
        Take the whole frames of a file that is cut off.

    Returns
    -------
    file : TrajectoryFile
        What was found.
    note : str
        What the user should know of it, "" if nothing.
    """
    suffix = kind(path)
    found = layout(path, suffix, n_atoms)
    note = f"{path}: {found.remark}" if found is not None and found.remark else ""
    if found is not None and found.damage:
        if not allow_truncated:
            raise ValueError(
                f"{path}: {found.damage}: copy or write the file again; allow_truncated=True "
                f"goes on with the {len(found.offsets)} whole frames before it"
            )
        note = f"{path}: {found.damage}; the {len(found.offsets)} whole frames before it are used"
    if suffix == ".gsd":
        return _describe_gsd(path), note
    if suffix == ".rst7":
        return _describe_restart(path), note
    if suffix == ".h5md":
        return _describe_h5md(path), note
    if found is None:
        refuse_piled_models(path)
        refuse_later_models(path)
        return _describe_by_reader(path, n_atoms), note
    if suffix in _COUNTED:
        return replace(_describe_by_reader(path, n_atoms), n_frames=len(found.offsets)), note
    return _describe_by_layout(path, found), note


def open_file(file: TrajectoryFile) -> ReadFrame:
    """Open a trajectory file.

    Parameters
    ----------
    file : TrajectoryFile
        As it was found.

    Returns
    -------
    callable
        Reads the frame of a number.
    """
    if kind(Path(file.path)) in _FILES:
        return _FILES[kind(Path(file.path))](Path(file.path)).read
    if file.offsets is None:
        periodic = _periodic(Path(file.path))
        return partial(_read_frame, _reader(file.path, file.n_atoms), periodic)
    path, offsets = Path(file.path), file.offsets
    if kind(path) in TEXTS:
        parser = _parser(path, file.style, file.n_atoms)
        return partial(_read_text, _stream_of(path), _places(file), parser)
    return open_xdr(path, offsets)


def clock_of_opened(read: ReadFrame) -> FrameClock | None:
    """Take the clock of an open file.

    Parameters
    ----------
    read : callable
        What reads its frames.

    Returns
    -------
    callable or None
        None where a frame has to be read for its time.
    """
    if isinstance(read, partial) and read.func is _read_frame:
        return partial(time_of_frame, read.args[0])
    opened = getattr(read, "__self__", None)
    return opened.time if isinstance(opened, DcdFile | H5mdFile | NetcdfFile) else None


def refuse_other_atoms(file: TrajectoryFile, other: TrajectoryFile) -> None:
    """Compare ids, or else names as files of one kind write them.

    Parameters
    ----------
    file, other : TrajectoryFile
        Which should have the same atoms.
    """
    if file.ids is not None and other.ids is not None:
        refuse_other_ids(file.ids, other.ids, file.path, other.path)
    elif kind(Path(file.path)) == kind(Path(other.path)):
        if file.names is None or other.names is None or len(file.names) != len(other.names):
            return
        different = np.flatnonzero(file.names != other.names)
        if len(different):
            raise ValueError(
                f"{file.path}: its atoms are not those of {other.path}, see atom "
                f"{different[0] + 1}: trajectories need the same atoms in one order; write them so"
            )


def _describe_by_layout(path: Path, found: Layout) -> TrajectoryFile:
    unit = "" if kind(path) in UNITLESS else "Å"
    described = TrajectoryFile(str(path), found.n_atoms, len(found.offsets), unit=unit)
    _periodic(path)  # refuses cells that are not read
    if kind(path) not in _OFFSETS:
        return described
    try:
        style, stated = dump_style(path) if kind(path) in DUMPS else ("", unit)
    except ValueError as error:
        raise ValueError(
            f"{path}: not a LAMMPS dump that can be read: {one_line(error)}: write it again"
        ) from None
    ids, names = _identity(path, found, style) if kind(path) in TEXTS else (None, None)
    return replace(
        described,
        offsets=found.offsets,
        cells=found.cells,
        rounding=round(_NM * found.rounding, 9),
        stamps=found.stamps,
        ids=ids,
        names=names,
        numbers=ids,
        has_images=found.n_counted == len(found.offsets),
        some_images=0 < found.n_counted < len(found.offsets),
        unit=stated,
        style=style,
    )


def _identity(path: Path, found: Layout, style: str) -> tuple[Ints | None, npt.NDArray[Any] | None]:
    """Read of the first frame by what the atoms of all frames are told apart."""
    try:
        parser = _parser(path, style, found.n_atoms)
        first = _read_text(_stream_of(path), _places(found), parser, 0)
        return None if first.ids is None else sorted_ids(first.ids), first.names
    except (ValueError, IndexError, OverflowError) as error:
        raise ValueError(unreadable(str(path), 0, error)) from None


def unreadable(path: str, frame: int, error: object) -> str:
    """Say that a frame cannot be read.

    Parameters
    ----------
    path : str
        The file.
    frame : int
        Its number, from 0.
    error : object
        Why.

    Returns
    -------
    str
        A message.
    """
    return (
        f"{path}: frame {frame + 1} cannot be read ({one_line(error)}): "
        "copy or write the file again, or stop before that frame"
    )


def _places(found: Layout | TrajectoryFile) -> Ints:
    """Where frames start, and where their cells are if these may stand elsewhere."""
    every = [places for places in (found.offsets, found.cells) if places is not None]
    return np.column_stack(every)


def _parser(path: Path, style: str, n_atoms: int) -> Callable[..., RawFrame]:
    if kind(path) in AMBER_TEXTS:
        return partial(read_amber, n_atoms=n_atoms)
    if kind(path) in PDB:
        return read_pdb_frame
    if kind(path) in DUMPS:
        return partial(read_dump, style=style)
    if kind(path) in DLPOLY:
        return read_history if kind(path) == HISTORY else read_config
    return read_gro if kind(path) == ".gro" else read_xyz


def _describe_gsd(path: Path) -> TrajectoryFile:
    try:
        opened = GsdFile(path)
        types = opened.types()
    except ImportError:
        raise
    except Exception as error:  # noqa: BLE001, the library raises what it stumbles over
        raise ValueError(
            f"{path}: not a GSD file that can be read ({one_line(error)}): write it again"
        ) from None
    return TrajectoryFile(
        str(path),
        opened.n_atoms,
        opened.n_frames,
        names=types,
        has_images=opened.has_images,
        unit="",
    )


def _describe_h5md(path: Path) -> TrajectoryFile:
    try:
        opened = H5mdFile(path)
        names = opened.read(0).names
    except ImportError:
        raise
    except SeveralGroupsError as error:
        raise ValueError(
            f"{path}: {error}, and none is called all or trajectory: write those that are to be "
            "compared as one group"
        ) from None
    except Exception as error:  # noqa: BLE001, the library raises what it stumbles over
        raise ValueError(
            f"{path}: not an H5MD file that can be read ({one_line(error)}): write it again"
        ) from None
    return TrajectoryFile(
        str(path),
        opened.n_atoms,
        opened.n_frames,
        names=names,
        numbers=opened.numbers,
        has_images=opened.has_images,
        unit=opened.unit,
    )


def _describe_restart(path: Path) -> TrajectoryFile:
    try:
        opened = RestartFile(path)
    except Exception as error:  # noqa: BLE001, the library raises what it stumbles over
        raise ValueError(
            f"{path}: not a restart file of Amber that can be read ({one_line(error)}): write it "
            "again, as with trajout out.rst7 of cpptraj"
        ) from None
    return TrajectoryFile(str(path), opened.n_atoms, opened.n_frames)


def _describe_by_reader(path: Path, n_atoms: int | None) -> TrajectoryFile:
    _refuse_without_reader(path)
    found, reason = None, ""
    with quiet():
        try:
            with contextlib.closing(_reader(str(path), n_atoms or 0)) as reader:
                found = int(reader.n_atoms), int(reader.n_frames)
        except Exception as error:  # noqa: BLE001, readers raise what they stumble over
            reason = one_line(error)
    if found is None and kind(path) == ".crd":
        raise ValueError(
            f"{path}: not a CRD file of CHARMM: if it is a text of Amber, call it .mdcrd with "
            "frames, or .rst7 with the number of its atoms"
        )
    if found is not None and not found[1]:
        raise ValueError(
            f"{path}: no frame was found, or it does not end with a whole one: copy or write the "
            "file again"
        )
    if found is None:
        raise ValueError(
            f"{path}: not a trajectory that can be read ({reason}): "
            "give a whole XTC, TRR, DCD, NetCDF, GRO, XYZ or LAMMPS dump file"
        )
    _periodic(path)  # refuses cells that are not read
    unit = "" if kind(path) in UNITLESS else "Å"
    return TrajectoryFile(str(path), *found, unit=unit)


def _refuse_without_reader(path: Path) -> None:
    """Say of a file whether it has names only, or is of a kind that nobody knows."""
    from MDAnalysis.coordinates.core import get_reader_for
    from MDAnalysis.core._get_readers import get_parser_for

    try:
        get_reader_for(str(path), format=library_format(path))
    except (ValueError, TypeError):
        try:
            get_parser_for(str(path), format=library_format(path))
        except (ValueError, TypeError):
            reason = f"nobody knows coordinates of the kind {kind(path)!r}"
            remedy = "give a whole XTC, TRR, DCD, NetCDF, GRO, XYZ or LAMMPS dump file"
        else:
            reason, remedy = "it has names and no coordinates", "give its trajectories after it"
        raise ValueError(
            f"{path}: not a trajectory that can be read ({reason}): {remedy}"
        ) from None


def _reader(path: str, n_atoms: int) -> Any:
    from MDAnalysis.coordinates.core import get_reader_for

    reader = get_reader_for(path, format=library_format(Path(path)))
    return reader(path, n_atoms=n_atoms, **parser_options(Path(path)))


def _stream_of(path: Path) -> Callable[[], BinaryIO]:
    """Open a text again for every frame, but unpack a compressed one only once."""
    if path.suffix.lower() not in {".gz", ".bz2"}:
        return partial(open_binary, path)
    with open_binary(path) as stream:
        return partial(io.BytesIO, stream.read())


def _read_text(
    opened: Callable[[], BinaryIO], places: Ints, read: Callable[..., RawFrame], frame: int
) -> RawFrame:
    with opened() as stream:
        return read(stream, *places[frame].tolist())


def _periodic(path: Path) -> Bools:
    return periodic_directions(path, library_format(path) or "")


def _read_frame(reader: Any, periodic: Bools, frame: int) -> RawFrame:
    step = reader[frame]
    return RawFrame(step.positions, box_within(step, periodic), time=time_of(step))
