"""Tables of tracked particles: one row for each particle in each frame in which it is seen."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from timme import memory
from timme._arrays import Floats, Ints, frozen
from timme._text import counted, is_number, one_line
from timme.ensemble.atoms import Atoms, unit_label
from timme.ensemble.ensemble import Ensemble
from timme.ensemble.frames import ArraySource
from timme.io.files import table_lines

Columns = str | Sequence[str | int] | None

# Names that programs give to columns, in small letters and without units, the usual ones first.
_FRAMES = ("frame", "time", "slice n°", "t")
_PARTICLES = (
    "particle", "particle_id", "trajectory", "track_id", "trackid", "track id", "track n°",
    "track", "id",
)  # fmt: skip
_AXES = ("{}", "position {}", "position_{}")
_TRACKMATE = {"FRAME", "TRACK_ID", "POSITION_X"}
_UNIT = re.compile(r"(.*\S)\s*[\[(](.*)[\])]")
_UNITS = {"microns": "µm", "pixel": "px", "pixels": "px", "pix": "px"}
_MISSING = ("", "-", "NA", "N/A", "n/a", "#N/A", "nan", "NaN", "null", "NULL", "None")
_LENGTHS = frozenset(("Å", "pm", "nm", "µm", "mm", "cm", "m", "px"))
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
    import pandas as pd

    (lines, separator, is_ended), source, chosen = table_lines(path), str(path), _listed(columns)
    lines = [" ".join(line.split()) for line in lines] if separator == " " else lines
    split = partial(csv.reader, delimiter=separator, skipinitialspace=True)
    try:
        names = [name.strip(" '") for name in next(split(lines[:1]))]
        places, notes = _find_columns(names, chosen, source)
        n_heads = int(not (_are_numbers(chosen) and is_number(names[places[0]])))
        is_quoted = '"' in "\n".join(lines)
        widths = map(len, split(lines)) if is_quoted else [x.count(separator) + 1 for x in lines]
        for number, width in enumerate(widths, start=1 - n_heads):
            if width != len(names):
                fault = f"row {number}: {len(names)} columns are needed, got {width}"
                raise ValueError(f"{source}: {fault}: repair it, or separate columns by semicolons")
        if number + n_heads < len(lines):
            raise ValueError(f'{source}: a quotation mark (") is not closed: repair that row')
        unit, spots = _unit_of([names[k] for k in places[2:]], source), set(names) >= _TRACKMATE
        for row in split(lines[1:4]) if spots else ():  # long names, short names, units
            if not is_number(row[places[0]]):
                n_heads, unit = n_heads + 1, _unit(row[places[2]].strip("()"))
        if not is_ended:
            if lines[-1].endswith(separator):
                raise ValueError(f"{source}: its last row is cut off: copy or write the file again")
            notes.append("its last line has no line end, but all its columns, and is used")
        text = "\n".join(lines[n_heads:])
        commas = separator != "," and "," in text and "." not in text
        if commas:
            notes.append("commas within numbers are read as decimal signs: 1,234 is 1.234")
        table = pd.read_csv(
            StringIO(text), sep=separator, decimal="," if commas else ".", skipinitialspace=True,
            names=range(len(names)), usecols=places, index_col=False, low_memory=False,
            dtype={places[1]: object}, na_values=_MISSING, keep_default_na=False,
        )  # fmt: skip
    except (csv.Error, pd.errors.ParserError) as error:
        raise ValueError(f"{source}: not a table: {one_line(error)}") from None
    return _tracks([table[place] for place in places], source, unit, notes, spots=spots)


def from_dataframe(table: Any, columns: Columns = None) -> Ensemble:
    """Return the tracks of a pandas or polars DataFrame as a draft ensemble with gaps.

    Parameters
    ----------
    table : DataFrame
        One row for each particle in each frame; these may also be levels of the index.
    columns : str or sequence of str or int, optional
        Columns of frame, particle and coordinates, as for `read_table`.
    """
    table = table.collect() if hasattr(table, "collect") else table  # of polars, yet to be computed
    if hasattr(table, "index"):
        levels = [name for name in table.index.names if name is not None]
        table = table.reset_index([name for name in levels if name not in table.columns])
    names = [str(name) for name in table.columns]
    places, notes = _find_columns(names, _listed(columns), "DataFrame")
    unit = _unit_of([names[place] for place in places[2:]], "DataFrame")
    cells = getattr(table, "iloc", table)  # by place, as names may be there twice
    values = [cells[:, place].to_numpy() for place in places]
    return _tracks(values, "DataFrame", unit, notes, spots=set(names) >= _TRACKMATE)


def _listed(columns: Columns) -> list[str]:
    """Names or numbers of columns, none for None."""
    parts = columns.split(",") if isinstance(columns, str) else columns or ()
    words = [str(part).strip() for part in parts]
    if columns is not None and len(words) < 3:
        raise ValueError(f"columns= names a frame, a particle and coordinates, got {columns!r}")
    return words


def _are_numbers(chosen: list[str]) -> bool:
    return bool(chosen) and all(word.isdecimal() and int(word) > 0 for word in chosen)


def _find_columns(names: list[str], chosen: list[str], source: str) -> tuple[list[int], list[str]]:
    """Places of frame, particle and coordinates, and notes."""
    if _are_numbers(chosen):
        places = [int(word) - 1 for word in chosen if int(word) <= len(names)]
    else:
        places = _places(names, chosen) if chosen else _usual(names)
    if len(set(places)) < max(len(chosen), 3):
        needed, has = ", ".join(chosen) or "frame, particle, x", ", ".join(names[:12])
        fault = f"columns {needed} are needed, each once, and the table has {has}"
        raise ValueError(f"{source}: {fault}: name them, or give numbers from 1 on")
    taken = [names[place] for place in places]
    if chosen or taken[:3] == ["frame", "particle", "x"]:
        return places, []
    return places, [f"frame, particle and coordinates are its columns {', '.join(taken)}"]


def _usual(names: list[str]) -> list[int]:
    """Places of the columns that programs write, fewer than 3 where the table has not all."""
    plain = [_UNIT.sub(r"\1", name).lower() for name in names]
    form = next((form for form in _AXES if form.format("x") in plain), "{}")
    axes = [(form.format(letter),) for letter in "xyz"]
    usual = [next((n for n in each if n in plain), "") for each in (_FRAMES, _PARTICLES, *axes)]
    found = _places(plain, usual[:3])
    return found if len(found) < 3 or not usual[3] else _places(plain, list(filter(None, usual)))


def _places(names: list[str], chosen: list[str]) -> list[int]:
    return [names.index(name) for name in chosen if names.count(name) == 1]


def _unit(word: str) -> str:
    return unit_label(_UNITS.get(word.strip(), word))


def _unit_of(names: Sequence[str], source: str) -> str:
    """Unit that the names of all coordinates state, "" where they state none."""
    units = {_unit(found[2]) if (found := _UNIT.fullmatch(name)) else "" for name in names}
    if len(units - {""}) > 1:
        raise ValueError(f"{source}: coordinates need one unit, got {', '.join(names)}: convert")
    return units.pop() if len(units) == 1 and units <= _LENGTHS else ""


def _tracks(
    values: Sequence[Any], source: str, unit: str, notes: list[str], *, spots: bool
) -> Ensemble:
    """Draft ensemble of columns: frame, particle and coordinates."""
    import pandas as pd

    names, particle = _names(values[1])
    numbers = np.column_stack([_numeric(values[k], source) for k in (0, *range(2, len(values)))])
    kept = (particle >= 0) | (not spots)
    if not kept.any():
        raise ValueError(f"{source}: the table has no rows: rows of tracked particles are needed")
    if not kept.all():
        notes.append(f"left out {np.sum(~kept)} of {len(kept)} spots that belong to no track")
    faults = (particle < 0) | ~np.isfinite(numbers[:, 0]) | np.isinf(numbers).any(axis=1)
    for row in np.flatnonzero(kept & faults)[:1]:
        fault = f"row {row + 1}: a frame, a particle and finite coordinates are needed"
        raise ValueError(f"{source}: {fault}")
    particle, positions = particle[kept], numbers[kept, 1:]
    if np.isnan(positions[:, 2:]).all() or (spots and np.ptp(positions[:, 2:]) == 0):
        positions = positions[:, :2]
    times, frame = np.unique(numbers[kept, 0], return_inverse=True)
    shape = (len(times), len(names), positions.shape[1])
    again = pd.Series(frame * len(names) + particle).duplicated()
    for row in np.flatnonzero(again)[:1]:
        name = str(names[particle[row]]).removesuffix(".0")
        fault = f"particle {name} is in frame {times[frame[row]]:.15g} twice"
        raise ValueError(f"{source}: {fault}: remove one")
    size, left = 8 * math.prod(shape), memory.available()
    if left is not None and size > left:
        fault = f"{shape[1]} particles in {shape[0]} frames need {memory.shown(size)}"
        raise ValueError(f"{source}: {fault}, {memory.shown(left)} are left: leave out particles")
    seen = ~np.isnan(positions).any(axis=1)  # a half-known position is none
    coordinates = np.full(shape, np.nan)
    coordinates[frame[seen], particle[seen]] = positions[seen]
    if not seen.all():
        notes.append(f"{counted(int(np.sum(~seen)), 'row')} without coordinates count as not seen")
    whole = names.dtype.kind in "iuf" and (names == np.floor(names)).all()
    column = {"resids": names.astype(np.int64)} if whole else {"names": names.astype(np.str_)}
    atoms = replace(Atoms.unnamed(len(names)), **column)
    frames = ArraySource(frozen(coordinates), None, times)
    draft = Ensemble.from_source(frames, atoms, unit, (source,))
    return replace(draft, gaps=True, notes=tuple(notes), numbers=atoms.resids, n_source=len(times))


def _numeric(values: Any, source: str) -> Floats:
    """Numbers of a column, NaN where there is none."""
    import pandas as pd

    column = pd.Series(values)
    numbers = pd.to_numeric(column, errors="coerce")
    for row in np.flatnonzero(numbers.isna() & column.notna())[:1]:
        got = str(column.iloc[row])
        raise ValueError(f"{source}: row {row + 1}: a number is needed, got {got!r}")
    return numbers.to_numpy(np.float64, na_value=np.nan)


def _names(particles: Any) -> tuple[npt.NDArray[Any], Ints]:
    """Sorted numbers of particles, or names where one is no whole number; and whose a row is.

    Rows without a particle have -1.
    """
    import pandas as pd

    codes, distinct = pd.factorize(particles)
    names = np.asarray(distinct)
    if names.dtype.kind not in "iuf":
        names = np.array([str(name).strip(" \t'") for name in distinct], np.str_)
        if all(map(_WHOLE.fullmatch, names.tolist())):
            names = names.astype(np.float64)
    found, places = np.unique(names, return_inverse=True)
    return found, np.append(places, -1)[codes]
