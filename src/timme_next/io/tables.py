"""Tables of tracked particles: one row for each particle in each frame in which it is seen."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from timme_next import memory
from timme_next._arrays import Floats, Ints, frozen
from timme_next._text import counted
from timme_next.ensemble.atoms import Atoms, unit_label
from timme_next.ensemble.ensemble import Ensemble
from timme_next.ensemble.frames import ArraySource, Frames
from timme_next.io.files import read_bytes

if TYPE_CHECKING:
    import pandas as pd

Columns = str | Sequence[str | int] | None

# Names that programs give to columns, in small letters and without units, the usual ones first.
_FRAMES = ("frame", "time", "slice n°", "t")
_PARTICLES = (
    "particle", "particle_id", "trajectory", "track_id", "trackid", "track id", "track n°",
    "track", "id",
)  # fmt: skip
_AXES = ("{}", "position {}", "position_{}")
_TRACKMATE = {"FRAME", "TRACK_ID", "POSITION_X"}
_TRACKMATE_ROWS = 3  # of long names, short names and units below its names
_TITLES = 10  # lines above the names of columns, at most
_UNIT = re.compile(r"(.*\S)\s*[\[(](.*)[\])]")
_UNITS = {"microns": "µm", "pixel": "px", "pixels": "px", "pix": "px"}
_LENGTHS = frozenset(("Å", "pm", "nm", "µm", "mm", "cm", "m", "px"))
_NO_ROWS = "the table has no rows: rows of tracked particles are needed"
_MISSING = frozenset(("", "nan", "na", "n/a", "#n/a", "<na>", "nat", "null", "none", "-"))
# Whole numbers as people and programs write them: anything else is a name, as numbers would make
# one particle of 11 and 1_1, of 1 and 01, of 1.1 and 1.10.
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,14})(\.0*)?|-?\d\.\d+[eE][+-]\d{2,3}")


def read_table(path: Path, columns: Columns = None) -> Ensemble:
    """Return the tracks of a text table as a draft ensemble with gaps.

    Parameters
    ----------
    path : Path
        File with columns separated by commas, semicolons, tabs or blanks.
    columns : str or sequence of str or int, optional
        Columns of frame, particle and coordinates: their names, or their numbers from 1 on. By
        default those of trackpy, TrackMate and other programs are found by their names.
    """
    text, source, chosen = _decode(read_bytes(path)), str(path), _listed(columns)
    lines = [line for line in text.split("\n") if line.strip()]
    rows = [line for line in lines if not line.lstrip().startswith("#")]
    if not rows:
        raise ValueError(f"{source}: {_NO_ROWS}")
    start = lines.index(rows[0])
    remark = [line.strip(" #") for line in lines[:start][-1:]]  # NumPy writes names like this
    names, below, separator = _find_names(remark, rows, chosen)
    places, notes = _find_columns(names, chosen, source)
    if below > 1:
        notes.append(f"left out {counted(below - 1, 'line')} above the names of the columns")
    if len(lines) - start > len(rows):
        notes.append("left out lines that begin with #, as comments")
    rows, unit = rows[below:], _unit_of([names[place] for place in places[2:]], source)
    if set(names) >= _TRACKMATE:
        more = [_fields(row, separator) for row in rows[:_TRACKMATE_ROWS]]
        more = [fields for fields in more if not _is_number("".join(fields[places[0] :][:1]))]
        rows, unit = (
            rows[len(more) :],
            _unit("".join(more[-1][places[2] :][:1]).strip("()")) if more else unit,
        )
    table = _parse(rows, len(names), separator, places, source)
    if separator in {";", "\t"} and "," in text:
        numbers = np.arange(len(places)) != 1
        pointed = table.loc[:, numbers].replace(",", ".", regex=True)
        if not pointed.equals(table.loc[:, numbers]):
            notes.append("commas within numbers are read as decimal signs: 1,234 is 1.234")
        table.loc[:, numbers] = pointed
    if not text.endswith("\n"):
        if "" in table.iloc[-1].to_list():
            raise ValueError(f"{source}: its last row is cut off: copy or write the file again")
        notes.append("its last line has no line end, but all its columns, and is used")
    return _tracks(table, source, unit, notes, spots=set(names) >= _TRACKMATE)


def from_dataframe(table: Any, columns: Columns = None) -> Ensemble:
    """Return the tracks of a pandas or polars DataFrame as a draft ensemble with gaps.

    Parameters
    ----------
    table : DataFrame
        One row for each particle in each frame; these may also be levels of the index.
    columns : str or sequence of str or int, optional
        Columns of frame, particle and coordinates, as for `read_table`.
    """
    import pandas as pd

    table = table.collect() if hasattr(table, "collect") else table  # of polars, yet to be computed
    if hasattr(table, "iloc"):
        levels = [name for name in table.index.names if name is not None]
        table = table.reset_index([name for name in levels if name not in table.columns])
    else:
        table = pd.DataFrame({name: table[name].to_numpy() for name in table.columns})
    names = [str(name) for name in table.columns]
    places, notes = _find_columns(names, _listed(columns), "DataFrame")
    unit = _unit_of([names[place] for place in places[2:]], "DataFrame")
    spots = set(names) >= _TRACKMATE
    return _tracks(table.iloc[:, places], "DataFrame", unit, notes, spots=spots)


def _decode(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace").replace("\r", "\n")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _listed(columns: Columns) -> list[str]:
    """Names or numbers of columns, none for None."""
    parts = columns.split(",") if isinstance(columns, str) else columns or ()
    words = [str(part).strip() for part in parts]
    if columns is not None and len(words) < 3:
        raise ValueError(f"columns= names a frame, a particle and coordinates, got {columns!r}")
    return words


def _are_numbers(chosen: list[str]) -> bool:
    return bool(chosen) and all(word.isdecimal() and int(word) > 0 for word in chosen)


def _find_names(
    remark: list[str], rows: list[str], chosen: list[str]
) -> tuple[list[str], int, str | None]:
    """Names of all columns, the number of lines above the data, and the separator."""
    separator = _separator(rows)
    first = _fields(rows[0], separator)
    if _are_numbers(chosen):
        frame = first[min(int(chosen[0]), len(first)) - 1].replace(",", ".")
        # A frame is always a number, but an array that pandas wrote has numbers for names.
        if first[0] and _is_number(frame):
            return [f"column {place + 1}" for place in range(len(first))], 0, separator
        return first, 1, separator
    lines = [(rows[0], 1), *((line, 0) for line in remark)]
    for line, below in (*lines, *((line, k + 2) for k, line in enumerate(rows[1:_TITLES]))):
        separator = _separator(rows[below:] or [line])
        names = _fields(line.rstrip(f"{separator or ''} "), separator)
        if set(chosen) <= set(names) if chosen else _usual(names):
            return names, below, separator
    return first, 1, separator


def _find_columns(names: list[str], chosen: list[str], source: str) -> tuple[list[int], list[str]]:
    """Places of the columns of frame, particle and coordinates, and a note if they were guessed."""
    if _are_numbers(chosen):
        places = [int(word) - 1 for word in chosen if int(word) <= len(names)]
    elif chosen:
        places = [names.index(word) for word in chosen if names.count(word) == 1]
    else:
        places = [place for place in _usual(names) if names.count(names[place]) == 1]
    if len(set(places)) < (len(chosen) or len(_usual(names)) or 3):
        shown = ", ".join(names[:12]) + ", …" * (len(names) > 12)
        raise ValueError(
            f"{source}: columns {', '.join(chosen) or 'frame, particle, x'} are needed, each once, "
            f"and the table has {shown}: name frame, particle and coordinates, or give their "
            "numbers from 1 on (columns='1,2,3,4')"
        )
    taken = [names[place] for place in places]
    if chosen or taken[:3] == ["frame", "particle", "x"]:
        return places, []
    return places, [f"frame, particle and coordinates are its columns {', '.join(taken)}"]


def _usual(names: list[str]) -> list[int]:
    """Places of the columns that programs write, none where the table has not all of them."""
    plain = [_part(name)[0].lower() for name in names]

    def best(*wanted: str) -> list[int]:
        """Place of the first of these names; exact spelling comes first."""
        known = next((name for name in wanted if name in plain), None)
        found = [place for place, name in enumerate(plain) if name == known]
        return sorted(found, key=lambda k: (names[k] != known, names[k].lower() != known, k))[:1]

    frame, particle = best(*_FRAMES), best(*_PARTICLES)
    axes = next((axis for axis in _AXES if axis.format("x") in plain), "{}")
    x, y, z = (best(axes.format(letter)) for letter in "xyz")
    return frame + particle + x + (y + z if y else []) if frame and particle and x else []


def _part(name: str) -> tuple[str, str]:
    """Name of a column, and the unit in brackets behind it."""
    found = _UNIT.fullmatch(name)
    return (found[1], _unit(found[2].strip())) if found else (name, "")


def _unit(word: str) -> str:
    return unit_label(_UNITS.get(word, word))


def _unit_of(names: Sequence[str], source: str) -> str:
    """Unit that the names of all coordinates state, "" where they state none."""
    units = {_part(name)[1] for name in names}
    if len(units - {""}) > 1:
        raise ValueError(
            f"{source}: coordinates need one unit, got {', '.join(names)}: convert them"
        )
    unit = units.pop() if len(units) == 1 else ""
    return unit if unit in _LENGTHS else ""


def _separator(rows: list[str]) -> str | None:
    """The sign that stands equally often in 20 rows, None for blanks; a comma may be a decimal."""
    for sign in (";", "\t", ","):
        counts = {len(_fields(row, sign)) for row in rows[:20]}
        if len(counts) == 1 and counts != {1}:
            return sign
    return next((sign for sign in (";", "\t", ",") if sign in rows[0]), None)


def _fields(row: str, separator: str | None) -> list[str]:
    """Fields of a row without blanks and quotes around them."""
    fields = row.split(separator)
    if '"' in row:
        row = row if separator else " ".join(fields)
        fields = next(csv.reader([row], delimiter=separator or " ", skipinitialspace=True))
    return [field.strip(" \t'") for field in fields]


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _parse(
    rows: list[str], width: int, separator: str | None, places: list[int], source: str
) -> pd.DataFrame:
    """Wanted columns as texts; every row must have all fields."""
    import pandas as pd

    if not rows:
        raise ValueError(f"{source}: {_NO_ROWS}")
    counts = [
        row.count(separator) + 1 if separator and '"' not in row else len(_fields(row, separator))
        for row in rows
    ]
    for number, (row, count) in enumerate(zip(rows, counts, strict=True), start=1):
        if count < width or (count > width and any(_fields(row, separator)[width:])):
            raise ValueError(
                f"{source}: row {number}: {width} columns are needed, got {count}: repair or "
                "remove it"
            )
    table = pd.read_csv(
        io.StringIO("\n".join(rows)),
        sep=separator or r"\s+",
        names=range(max(counts)),
        usecols=places,
        dtype=str,
        na_filter=False,
        index_col=False,
        skipinitialspace=True,
    )
    return table[places]


def _tracks(
    table: pd.DataFrame, source: str, unit: str, notes: list[str], *, spots: bool
) -> Ensemble:
    """Draft ensemble of a table of frame, particle and coordinates."""
    if not len(table):
        raise ValueError(f"{source}: {_NO_ROWS}")
    rows = np.arange(1, len(table) + 1)
    names, particle = _names(table.iloc[:, 1])
    if spots and (particle < 0).any():
        n_lost = np.count_nonzero(particle < 0)
        notes.append(f"left out {n_lost} of {len(table)} spots that belong to no track")
        table, rows, particle = table[particle >= 0], rows[particle >= 0], particle[particle >= 0]
    frames = _numeric(table.iloc[:, 0], rows, source)
    axes = [_numeric(table.iloc[:, k], rows, source) for k in range(2, table.shape[1])]
    positions = np.column_stack(axes)
    faults = (particle < 0) | ~np.isfinite(frames) | np.isinf(positions).any(axis=1)
    for row in rows[faults][:1]:
        raise ValueError(
            f"{source}: row {row}: a frame, a particle and finite coordinates are needed: repair "
            "or remove it"
        )
    depth = positions[:, 2:]
    if np.isnan(depth).all() or (spots and np.ptp(depth) == 0):
        positions = positions[:, :2]
    times, frame = np.unique(frames, return_inverse=True)
    _, first = np.unique(frame * len(names) + particle, return_index=True)
    for row in np.setdiff1d(np.arange(len(frame)), first)[:1]:
        raise ValueError(
            f"{source}: particle {names[particle[row]]} is in frame {frames[row]:.15g} twice: "
            "remove one position, or link the tracks again"
        )
    shape = (len(times), len(names), positions.shape[1])
    size, left = 8 * math.prod(shape), memory.available()
    if left is not None and size > left:
        raise ValueError(
            f"{source}: {shape[1]} particles in {shape[0]} frames need {memory.shown(size)}, and "
            f"{memory.shown(left)} are left: leave out particles that are seen in few frames"
        )
    coordinates = np.full(shape, np.nan)
    seen = ~np.isnan(positions).any(axis=1)  # a half-known position is none
    coordinates[frame[seen], particle[seen]] = positions[seen]
    atoms = Atoms.unnamed(len(names))
    if names.dtype.kind in "iuf" and (names == np.floor(names)).all():
        atoms = replace(atoms, resids=names.astype(np.int64))
    else:
        atoms = replace(atoms, names=names.astype(np.str_))
    return Ensemble(
        frames=Frames.of(ArraySource(frozen(coordinates), None, times)),
        atoms=atoms,
        site_atoms=np.arange(len(names)),
        unit=unit,
        gaps=True,
        sources=(source,),
        notes=(*notes, *_notes(coordinates, times, int(np.count_nonzero(~seen)))),
        numbers=atoms.resids,
        n_source=len(times),
    )


def _notes(coordinates: Floats, times: Floats, n_unseen: int) -> Iterator[str]:
    steps = np.diff(times)
    if len(steps) and steps.max() > steps.min() * (1 + 1e-9):
        yield (
            f"frame numbers {times[0]:.15g} to {times[-1]:.15g} are not evenly spaced: the "
            f"{len(times)} that occur are the snapshots"
        )
    if n_unseen:
        yield f"{counted(n_unseen, 'row')} without coordinates count as not seen"
    n_gaps = np.count_nonzero(np.isnan(coordinates[:, :, 0]).any(axis=0))
    if n_gaps:
        yield f"{n_gaps} of {coordinates.shape[1]} particles are not seen in every frame"


def _numeric(column: pd.Series[Any], rows: Ints, source: str) -> Floats:
    """Numbers of a column, NaN where there is none."""
    try:
        return column.to_numpy(np.float64, na_value=np.nan)
    except (ValueError, TypeError):
        fields = ["nan" if _is_missing(value) else str(value) for value in column]
    for row, field in zip(rows, fields, strict=True):
        if not _is_number(field):
            raise ValueError(f"{source}: row {row}: a number is needed, got {field!r}")
    return np.array(fields, np.float64)


def _names(particles: pd.Series[Any]) -> tuple[npt.NDArray[Any], Ints]:
    """Sorted numbers of particles, or names where one is no whole number; and whose a row is.

    Rows without a particle have -1.
    """
    import pandas as pd

    codes, distinct = pd.factorize(particles)
    names = np.asarray(distinct)
    if names.dtype.kind not in "iuf":
        names = np.array([str(name).strip(" \t'") for name in distinct])
    known = np.array([not _is_missing(name) for name in names], np.bool_)
    if names.dtype.kind == "U" and all(map(_WHOLE.fullmatch, names[known].tolist())):
        names = np.where(known, names, "nan").astype(np.float64)
    places = np.full(len(names) + 1, -1)  # the last is that of rows without any
    found, places[:-1][known] = np.unique(names[known], return_inverse=True)
    return found, places[codes]


def _is_missing(value: object) -> bool:
    return str(value).strip().lower() in _MISSING
