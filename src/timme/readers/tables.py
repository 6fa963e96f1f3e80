"""Tables of tracked particles: one row for each particle in each frame in which it is seen."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats
from timme.readers.files import read_bytes
from timme.system.atoms import Atoms

TRACKPY_COLUMNS = ("frame", "particle", "x", "y", "z")
_MISSING = frozenset(("", "nan", "na", "n/a", "null", "none", "-"))
_MAX_BYTES = 8_000_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Tracks:
    """Positions of particles in every frame."""

    atoms: Atoms  # residue numbers are the numbers of the particles
    coordinates: Floats  # (frames, particles, dimensions), NaN where not seen
    notes: tuple[str, ...]


def read_table(path: Path, columns: Sequence[str] | None = None) -> Tracks:
    """Read tracks from a text table with a header line.

    Parameters
    ----------
    path : Path
        File with columns separated by commas, tabs, semicolons or blanks.
    columns : sequence of str, optional
        Names of the columns of frame, particle and coordinates; trackpy's by default.

    Returns
    -------
    Tracks
        Positions with gaps.
    """
    lines = _decoded(read_bytes(path)).split("\n")
    while lines and not lines[0].strip():
        del lines[0]
    delimiter = _delimiter(lines[0])
    header = [name.strip().strip("\"'") for name in _split(lines[0], delimiter)]
    wanted = _wanted(header, columns, str(path))
    places = [header.index(name) for name in wanted]
    body = [line for line in lines[1:] if line.strip()]
    if not body:
        raise ValueError(
            f"{path}: the table has a header but no rows: rows of tracked particles are needed"
        )
    if delimiter == ";":  # where ";" separates, "," is the decimal sign
        body = [line.replace(",", ".") for line in body]
    try:
        values = np.loadtxt(body, delimiter=delimiter, usecols=places, ndmin=2, comments=None)
        particles: npt.NDArray[Any] = values[:, 1]
    except ValueError:
        values, particles = _slowly(body, delimiter, wanted, places, str(path))
    return _tracks(values[:, 0], particles, values[:, 2:], str(path), lambda row: f"row {row + 1}")


def tracks_from_frame(table: Any, columns: Sequence[str] | None = None) -> Tracks:
    """Take tracks from a pandas DataFrame, or anything else with named columns.

    Parameters
    ----------
    table : DataFrame
        Table with a row for each particle in each frame.
    columns : sequence of str, optional
        Names of the columns of frame, particle and coordinates; trackpy's by default.

    Returns
    -------
    Tracks
        Positions with gaps.
    """
    wanted = _wanted([str(name) for name in table.columns], columns, "DataFrame")
    if len(table) == 0:
        raise ValueError("DataFrame: the table has no rows: rows of tracked particles are needed")
    numbers = [_numeric(table, name) for name in (wanted[0], *wanted[2:])]
    particles = np.asarray(table[wanted[1]])
    index = np.asarray(table.index) if hasattr(table, "index") else np.arange(len(table))
    coordinates = np.column_stack(numbers[1:])
    return _tracks(numbers[0], particles, coordinates, "DataFrame", lambda row: f"row {index[row]}")


def _tracks(
    frames: Floats,
    particles: npt.NDArray[Any],
    positions: Floats,
    source: str,
    row_label: Callable[[int], str],
) -> Tracks:
    _refuse_missing(frames, particles, source, row_label)
    if np.isinf(positions).any():
        row = int(np.argwhere(np.isinf(positions))[0, 0])
        raise ValueError(
            f"{source}: {row_label(row)}: coordinates must be finite: repair or remove it"
        )
    seen_frames, frame = np.unique(frames, return_inverse=True)
    names, particle = np.unique(particles, return_inverse=True)
    _refuse_twice(frame, particle, frames, particles, source)
    shape = (len(seen_frames), len(names), positions.shape[1])
    n_bytes = 8 * math.prod(shape)
    if n_bytes > _MAX_BYTES:
        raise ValueError(
            f"{source}: {shape[1]} particles in {shape[0]} frames need {n_bytes / 1e9:.0f} GB: "
            "leave out the particles that are seen in few frames"
        )
    coordinates = np.full(shape, np.nan)
    coordinates[frame, particle] = positions
    notes = _notes(seen_frames, int(np.isnan(positions).any(axis=1).sum()))
    # A half-known position is no position.
    coordinates[np.isnan(coordinates).any(axis=2)] = np.nan
    seen = ~np.isnan(coordinates[:, :, 0])
    whole = int(seen.all(axis=0).sum())
    if whole < len(names):
        notes.append(f"{len(names) - whole} of {len(names)} particles are not seen in every frame")
    return Tracks(_named(names), coordinates, tuple(notes))


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
            f"frame numbers {frames[0]:g} to {frames[-1]:g} are not evenly spaced: "
            f"the {len(frames)} that occur are the snapshots"
        )
    if missing:
        notes.append(f"{missing} rows without coordinates count as not seen")
    return notes


def _refuse_missing(
    frames: Floats, particles: npt.NDArray[Any], source: str, row_label: Callable[[int], str]
) -> None:
    bad = ~np.isfinite(frames)
    if particles.dtype.kind == "f":
        bad |= ~np.isfinite(particles)
    elif particles.dtype.kind == "O":
        bad |= np.array([value is None or str(value) == "nan" for value in particles])
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"{source}: {row_label(row)}: every row needs a frame and a particle: "
            "repair or remove it"
        )


def _refuse_twice(
    frame: npt.NDArray[np.intp],
    particle: npt.NDArray[np.intp],
    frames: Floats,
    particles: npt.NDArray[Any],
    source: str,
) -> None:
    cells = frame.astype(np.int64) * (int(particle.max()) + 1) + particle
    order = np.argsort(cells, kind="stable")
    twice = np.flatnonzero(np.diff(cells[order]) == 0)
    if len(twice):
        row = order[twice[0] + 1]
        number = f"{particles[row]:g}" if particles.dtype.kind in "iuf" else str(particles[row])
        raise ValueError(
            f"{source}: particle {number} is in frame {frames[row]:g} twice: "
            "a particle has one position in a frame; remove one or link the tracks again"
        )


def _wanted(header: Sequence[str], columns: Sequence[str] | None, source: str) -> list[str]:
    if columns is None:
        wanted = [name for name in TRACKPY_COLUMNS if name in header or name != "z"]
        # Tracks on a line have no y; but a table without x is not understood.
        if "y" not in header and "z" not in header:
            wanted.remove("y")
    else:
        wanted = list(columns)
    if len(wanted) < 3:
        raise ValueError(
            f"{source}: columns need a frame, a particle and one or more coordinates, "
            f"got {', '.join(wanted)}"
        )
    missing = [name for name in wanted if name not in header]
    if missing:
        raise ValueError(
            f"{source}: there is no column {', '.join(map(repr, missing))}; the table has "
            f"{', '.join(map(repr, header))}: "
            "name the frame, particle and coordinate columns (columns=)"
        )
    return wanted


def _numeric(table: Any, name: str) -> Floats:
    try:
        return np.asarray(table[name], dtype=np.float64)
    except (ValueError, TypeError):
        for row, value in enumerate(table[name]):
            try:
                float(value)
            except (ValueError, TypeError):
                raise ValueError(
                    f"DataFrame: row {row + 1}: column {name!r} needs numbers, got {value!r}"
                ) from None
        raise


def _slowly(
    body: list[str], delimiter: str | None, wanted: list[str], places: list[int], source: str
) -> tuple[Floats, npt.NDArray[Any]]:
    """Read a table with missing values or particles that have names; find what is wrong with it."""
    values, particles = np.full((len(body), len(places)), np.nan), list[str]()
    for row, line in enumerate(body):
        fields = [field.strip() for field in _split(line, delimiter)]
        if len(fields) <= max(places):
            raise ValueError(
                f"{source}: row {row + 1}: {max(places) + 1} columns are needed, "
                f"got {len(fields)}: repair or remove it"
            )
        particles.append(fields[places[1]])
        for column, place in enumerate(places):
            if column == 1 or fields[place].lower() in _MISSING:
                continue
            try:
                values[row, column] = float(fields[place])
            except ValueError:
                raise ValueError(
                    f"{source}: row {row + 1}: column {wanted[column]!r} needs a number, "
                    f"got {fields[place]!r}"
                ) from None
    if any(name.lower() in _MISSING for name in particles):
        row = next(row for row, name in enumerate(particles) if name.lower() in _MISSING)
        raise ValueError(
            f"{source}: row {row + 1}: every row needs a frame and a particle: repair or remove it"
        )
    try:
        return values, np.array(particles, dtype=np.float64)
    except ValueError:
        return values, np.array(particles)


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16").replace("\r\n", "\n")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _delimiter(header: str) -> str | None:
    counts = {sign: header.count(sign) for sign in (",", "\t", ";")}
    best = max(counts, key=lambda sign: counts[sign])
    return best if counts[best] else None


def _split(line: str, delimiter: str | None) -> list[str]:
    return (
        line.split()
        if delimiter is None
        else next(csv.reader(io.StringIO(line), delimiter=delimiter))
    )
