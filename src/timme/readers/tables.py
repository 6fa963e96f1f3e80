"""Tables of tracked particles: one row for each particle in each frame in which it is seen."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from timme._arrays import Bools, Floats, Ints
from timme.readers.columns import (
    Columns,
    Layout,
    doubt_columns,
    is_trackmate,
    lay_out,
    listed_columns,
    places_of_numbers,
    unit_of_columns,
    wanted_columns,
)
from timme.readers.numerals import load_numbers, plain_number
from timme.readers.text_tables import MISSING, read_text_table, refuse_uneven
from timme.system.atoms import Atoms

_LARGEST_NUMBER = 2**53  # below which whole numbers differ in double precision
# Whole numbers as people and programs write them: 7, 7.0, 7.000000e+00. Anything else is a name,
# as numbers would make one particle of 11 and 1_1, of 1 and 01, of 1.1 and 1.10.
_WHOLE = re.compile(r"-?(0|[1-9]\d*)(\.0*)?|-?\d\.\d+[eE][+-]\d{2,3}")
_NEAR = 1e-6  # of the usual step: times that are nearer differ by rounding
_ROUNDING = float(np.finfo(np.float32).eps)  # of a time, as the least precise programs write it
_BESIDE_COMMAS = frozenset(";\t")  # separators between which "," is the decimal sign
_MAX_BYTES = 8_000_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Tracks:
    """Positions of particles in every frame."""

    atoms: Atoms  # residue numbers are the numbers of the particles
    coordinates: Floats  # (frames, particles, dimensions), NaN where not seen
    notes: tuple[str, ...]
    frames: Floats  # (frames,), their numbers or times
    unit: str = ""  # of the coordinates, where the table says so


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """What is wanted of the rows of a table."""

    source: str
    frames: Floats  # (rows,)
    particles: npt.NDArray[Any]  # (rows,), numbers or names, NaN or "" where there is none
    positions: Floats  # (rows, dimensions)
    label: Callable[[int], str]  # what a row is called in messages


def read_table(path: Path, columns: Columns = None) -> Tracks:
    """Read tracks from a text table, with or without a line of names.

    Parameters
    ----------
    path : Path
        File with columns separated by commas, tabs, semicolons or blanks; also TrackMate's export
        of spots, with its four rows of names and units.
    columns : str or sequence of str or int, optional
        Columns of frame, particle and coordinates: their names, or their numbers from 1 on. By
        default those of trackpy or TrackMate.

    Returns
    -------
    Tracks
        Positions with gaps.
    """
    layout = lay_out(read_text_table(path), columns)
    refuse_uneven(layout.rows, layout.width)
    values, particles = _values_of(layout)
    if layout.rows.unfinished and np.isnan(values[-1, 2:]).any():
        raise ValueError(f"{path}: its last row is cut off: copy or write the file again")
    rows = _Rows(str(path), values[:, 0], particles, values[:, 2:], lambda row: f"row {row + 1}")
    tracks = _make_tracks(rows, trackmate=layout.trackmate)
    return replace(tracks, unit=layout.unit, notes=(*_notes_on_text(layout), *tracks.notes))


def _notes_on_text(layout: Layout) -> Iterator[str]:
    """Say what was left out of a file, and how its commas were understood."""
    table, (frame, _, *places) = layout.rows, layout.places
    if table.n_titles:
        count = "1 line" if table.n_titles == 1 else f"{table.n_titles} lines"
        yield f"left out {count} above the names of the columns"
    if layout.guessed:
        yield f"frame, particle and coordinates are its columns {', '.join(layout.wanted)}"
    if layout.doubt:
        yield layout.doubt
    if table.unfinished:
        yield "its last line has no line end, but all its columns, and is used"
    if table.n_comments:
        yield f"left out {table.n_comments:,} lines that begin with #, as comments"
    numbers = [frame, *places]
    if table.separator in _BESIDE_COMMAS and any(
        "," in line and any("," in table.fields(line)[place] for place in numbers)
        for line in table.rows
    ):
        yield "commas within numbers were read as decimal signs: 1,234 is 1.234"


def tracks_from_frame(table: Any, columns: Columns = None) -> Tracks:
    """Take tracks from a pandas or polars DataFrame, or anything else with named columns.

    Parameters
    ----------
    table : DataFrame
        Table with a row for each particle in each frame. Frame and particle may also be levels of
        its index.
    columns : str or sequence of str or int, optional
        Columns of frame, particle and coordinates: their names, or their numbers from 1 on. By
        default those of trackpy or TrackMate.

    Returns
    -------
    Tracks
        Positions with gaps.
    """
    labels, header, doubt = [str(label) for label in table.columns], _index_levels(table), ""
    chosen = listed_columns(columns)
    if chosen is not None and isinstance(chosen[0], int):
        numbers = [int(number) for number in chosen]
        _refuse_ambiguous(numbers, labels)
        places = places_of_numbers(numbers, len(labels), "DataFrame")
        wanted = [labels[place] for place in places]
        found = [_column(table, place) for place in places]
    else:
        wanted = wanted_columns([*header, *labels], chosen, "DataFrame")
        doubt = doubt_columns([*header, *labels], wanted) if chosen is None else ""
        found = [
            header[name] if name in header else _column(table, labels.index(name))
            for name in wanted
        ]
    if len(table) == 0:
        raise ValueError("DataFrame: the table has no rows: rows of tracked particles are needed")
    frame, particle, *coordinates = zip(found, wanted, strict=True)
    values = [_numeric(*each) for each in (frame, *coordinates)]
    index = np.asarray(table.index) if hasattr(table, "index") else np.arange(len(table))
    rows = _Rows(
        "DataFrame",
        values[0],
        _plain(np.asarray(particle[0])),
        np.column_stack(values[1:]),
        lambda row: f"row {index[row]}",
    )
    tracks = _make_tracks(rows, trackmate=is_trackmate([*header, *labels]))
    notes = (doubt, *tracks.notes) if doubt else tracks.notes
    return replace(tracks, unit=unit_of_columns(wanted[2:], "DataFrame"), notes=notes)


def _refuse_ambiguous(numbers: list[int], labels: list[str]) -> None:
    """Refuse numbers that are labels of columns, too, but those of others."""
    own = [str(number) for number in numbers]
    if set(own) <= set(labels) and any(
        labels[number - 1 : number] != [label] for number, label in zip(numbers, own, strict=True)
    ):
        raise ValueError(
            f"DataFrame: columns {', '.join(own)} may be labels, or places counted from 1: "
            "give the columns other labels (table.columns = ...)"
        )


def _make_tracks(rows: _Rows, *, trackmate: bool) -> Tracks:
    notes = list[str]()
    if rows.positions.shape[1] == 3 and np.isnan(rows.positions[:, 2]).all():
        rows = replace(rows, positions=rows.positions[:, :2])
        notes.append("the third coordinate is empty in all rows, and left out")
    if trackmate:
        rows, more = _leave_untracked(rows)
        notes += more
        # Of a plane TrackMate writes a third coordinate that is always the same.
        if rows.positions.shape[1] == 3 and np.ptp(rows.positions[:, 2]) == 0:
            rows = replace(rows, positions=rows.positions[:, :2])
    tracks = _tracks(rows)
    return replace(tracks, notes=(*notes, *tracks.notes))


def _leave_untracked(rows: _Rows) -> tuple[_Rows, list[str]]:
    """Keep the spots that belong to a track."""
    kept = ~_are_missing(rows.particles)
    if kept.all():
        return rows, []
    if not kept.any():
        raise ValueError(
            f"{rows.source}: no spot belongs to a track: link the spots in TrackMate first"
        )
    numbers = np.flatnonzero(kept)
    note = f"left out {len(kept) - len(numbers):,} of {len(kept):,} spots that belong to no track"
    return replace(
        rows,
        frames=rows.frames[kept],
        particles=_as_numbers(rows.particles[kept]),
        positions=rows.positions[kept],
        label=lambda row: rows.label(int(numbers[row])),
    ), [note]


def _tracks(rows: _Rows) -> Tracks:
    frames, particles, positions = rows.frames, rows.particles, rows.positions
    _refuse_missing(rows)
    if np.isinf(positions).any():
        row = int(np.argwhere(np.isinf(positions))[0, 0])
        raise ValueError(
            f"{rows.source}: {rows.label(row)}: coordinates must be finite: repair or remove it"
        )
    names, particle = np.unique(particles, return_inverse=True)
    seen_frames, frame, n_merged = _distinct_times(frames)
    if n_merged and len(_find_twice(frame, particle)):
        # A particle is seen at both of two times that seemed to be one.
        (seen_frames, frame), n_merged = np.unique(frames, return_inverse=True), 0
    _refuse_twice(rows, frame, particle)
    shape = (len(seen_frames), len(names), positions.shape[1])
    n_bytes = 8 * math.prod(shape)
    if n_bytes > _MAX_BYTES:
        raise ValueError(
            f"{rows.source}: {shape[1]} particles in {shape[0]} frames need {n_bytes / 1e9:.0f} "
            "GB: leave out the particles that are seen in few frames"
        )
    coordinates = np.full(shape, np.nan)
    coordinates[frame, particle] = positions
    notes = _notes(seen_frames, int(np.isnan(positions).any(axis=1).sum()))
    if n_merged:
        notes.append(f"{n_merged} times differ from others by rounding only: they count as these")
    # A half-known position is no position.
    coordinates[np.isnan(coordinates).any(axis=2)] = np.nan
    seen = ~np.isnan(coordinates[:, :, 0])
    whole = int(seen.all(axis=0).sum())
    if whole < len(names):
        notes.append(f"{len(names) - whole} of {len(names)} particles are not seen in every frame")
    return Tracks(_named(names), coordinates, tuple(notes), seen_frames)


def _distinct_times(frames: Floats) -> tuple[Floats, npt.NDArray[np.intp], int]:
    """Find the frames that occur, that of each row, and how many were merged with the one before.

    Times such as 0.1 * 3 and 3 / 10 differ in their last digit: they are one frame.
    """
    times, row_times = np.unique(frames, return_inverse=True)
    steps, rounding = np.diff(times), _ROUNDING * np.abs(times[1:])
    large = steps[steps > rounding]
    if not len(large) or (times == np.floor(times)).all():
        return times, row_times, 0
    same = (steps <= rounding) & (steps < _NEAR * np.median(large))
    frame_of_time = np.concatenate([[0], np.cumsum(~same)])
    first = np.concatenate([[True], ~same])
    return times[first], frame_of_time[row_times], int(np.count_nonzero(same))


def _named(names: npt.NDArray[Any]) -> Atoms:
    atoms = Atoms.unnamed(len(names))
    if names.dtype.kind in "iuf" and (names == np.floor(names)).all():
        return replace(atoms, resids=names.astype(np.int64))
    return replace(atoms, names=names.astype(np.str_))


def _notes(frames: Floats, missing: int) -> list[str]:
    notes = []
    steps = np.diff(frames)
    if len(steps) and steps.max() > steps.min() * (1 + 1e-9):
        notes.append(
            f"frame numbers {frames[0]:.15g} to {frames[-1]:.15g} are not evenly spaced: "
            f"the {len(frames)} that occur are the snapshots"
        )
    if missing:
        notes.append(f"{missing} rows without coordinates count as not seen")
    return notes


def _refuse_missing(rows: _Rows) -> None:
    bad = ~np.isfinite(rows.frames) | _are_missing(rows.particles)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"{rows.source}: {rows.label(row)}: every row needs a frame and a particle: "
            "repair or remove it"
        )


def _find_twice(frame: npt.NDArray[np.intp], particle: npt.NDArray[np.intp]) -> Ints:
    """Find the rows whose particle is in their frame already."""
    cells = frame.astype(np.int64) * (int(particle.max()) + 1) + particle
    order = np.argsort(cells, kind="stable")
    twice: Ints = order[1:][np.diff(cells[order]) == 0]
    return twice


def _refuse_twice(rows: _Rows, frame: npt.NDArray[np.intp], particle: npt.NDArray[np.intp]) -> None:
    twice = _find_twice(frame, particle)
    if len(twice):
        name = rows.particles[twice[0]]
        number = f"{name:.15g}" if rows.particles.dtype.kind in "iuf" else str(name)
        raise ValueError(
            f"{rows.source}: particle {number} is in frame {rows.frames[twice[0]]:.15g} twice: "
            "a particle has one position in a frame; remove one or link the tracks again"
        )


def _index_levels(table: Any) -> dict[str, Any]:
    """Gather the levels of the index of a DataFrame that have names which no column has."""
    index: Any = getattr(table, "index", None)
    columns = {str(label) for label in table.columns}
    named = [name for name in getattr(index, "names", ()) if name is not None]
    return {str(name): index.get_level_values(name) for name in named if str(name) not in columns}


def _column(table: Any, place: int) -> Any:
    """Take a column by its place, as several may have one name."""
    return table.iloc[:, place] if hasattr(table, "iloc") else table[table.columns[place]]


def _numeric(values: Any, name: str) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (ValueError, TypeError):
        for row, value in enumerate(values):
            try:
                float(np.nan if _is_nothing(value) else value)
            except (ValueError, TypeError):
                raise ValueError(
                    f"DataFrame: row {row + 1}: column {name!r} needs numbers, got {value!r}"
                ) from None
    return np.array([np.nan if _is_nothing(value) else value for value in values], dtype=np.float64)


def _plain(particles: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Turn objects into numbers or, where any is a name, into names."""
    if particles.dtype.kind in "iufU":
        return particles
    return _as_numbers(
        np.array(["" if _is_nothing(value) else str(value) for value in particles], dtype=np.str_)
    )


def _as_numbers(names: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Turn names into numbers where every one is that of a whole number."""
    if names.dtype.kind in "iuf":
        return names
    distinct = np.unique(names).tolist()
    if not _are_whole(name for name in distinct if name):
        return names
    numbers: Floats = np.where(names == "", "nan", names).astype(np.float64)
    return numbers


def _are_whole(names: Iterable[str]) -> bool:
    """Tell whether all names are whole numbers, small enough not to be rounded."""
    return all(
        _WHOLE.fullmatch(name) is not None
        and float(name).is_integer()
        and abs(float(name)) < _LARGEST_NUMBER
        for name in names
    )


def _are_missing(particles: npt.NDArray[Any]) -> Bools:
    if particles.dtype.kind == "f":
        return np.asarray(~np.isfinite(particles), dtype=np.bool_)
    if particles.dtype.kind == "U":
        return np.array([name.lower() in MISSING for name in particles], dtype=np.bool_)
    return np.zeros(len(particles), dtype=np.bool_)


def _is_nothing(value: Any) -> bool:
    """Tell whether a value of a DataFrame stands for a missing one: None, NaN, pandas' NA."""
    return not isinstance(value, str) and str(value) in {"None", "nan", "<NA>", "NaT"}


def _values_of(layout: Layout) -> tuple[Floats, npt.NDArray[Any]]:
    """Read numbers and particles, at once where all are numbers."""
    table, places = layout.rows, layout.places
    lines = table.rows
    if table.separator in _BESIDE_COMMAS:
        text = "\n".join(lines)
        if "," in text and "." not in text:
            lines = text.replace(",", ".").split("\n")
    try:
        values = load_numbers(lines, places, table.separator)
    except ValueError:
        return _values_one_by_one(layout)
    particle, sign = places[1], table.separator
    named = {line.split(sign, particle + 1)[particle].strip() for line in lines}
    if not _are_whole(name for name in named if name.lower() not in MISSING):
        return _values_one_by_one(layout)
    return values, values[:, 1]


def _values_one_by_one(layout: Layout) -> tuple[Floats, npt.NDArray[Any]]:
    """Read a table with missing values or particles that have names; find what is wrong with it."""
    table, places = layout.rows, layout.places
    values, particles = np.full((len(table.rows), len(places)), np.nan), list[str]()
    decimals = set[str]()
    for row, line in enumerate(table.rows):
        fields = table.fields(line)
        if len(fields) <= max(places):
            raise ValueError(
                f"{table.source}: row {row + 1}: {max(places) + 1} columns are needed, "
                f"got {len(fields)}: repair or remove it"
            )
        particles.append("" if fields[places[1]].lower() in MISSING else fields[places[1]])
        for column, place in enumerate(places):
            if column == 1 or fields[place].lower() in MISSING:
                continue
            decimals |= {sign for sign in ",." if sign in fields[place]}
            values[row, column] = _number(layout, row, column, fields[place])
        if len(decimals) > 1:
            raise ValueError(
                f"{table.source}: row {row + 1}: numbers have decimal points and decimal commas: "
                "write all of them with points"
            )
    return values, _as_numbers(np.array(particles))


def _number(layout: Layout, row: int, column: int, field: str) -> float:
    table = layout.rows
    try:
        plain = plain_number(field)
        return float(plain.replace(",", ".") if table.separator in _BESIDE_COMMAS else plain)
    except ValueError:
        raise ValueError(
            f"{table.source}: row {row + 1}: column {layout.wanted[column]!r} needs a number, "
            f"got {field!r}"
        ) from None
