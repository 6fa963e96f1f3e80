"""Columns of tables of tracks: which hold the frame, the particle and the coordinates."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from timme.readers.text_tables import TextTable, is_number
from timme.system.units import unit_label

TRACKPY_COLUMNS = ("frame", "particle", "x", "y", "z")
TRACKMATE_COLUMNS = ("FRAME", "TRACK_ID", "POSITION_X", "POSITION_Y", "POSITION_Z")
_TRACKMATE_ROWS = 3  # of long names, short names and units, which follow its names
# Names by which programs call frame, particle and coordinates, in small letters and without units.
_PROGRAMS = (
    TRACKPY_COLUMNS,
    ("frame", "trajectory", "x", "y", "z"),  # MOSAIC
    ("time", "trackid", "position x", "position y", "position z"),  # Imaris
    ("slice n°", "track n°", "x", "y", "z"),  # Manual Tracking of ImageJ
    ("time", "particle", "x", "y", "z"),
    # Names that people give; an id is the last resort, as it may be that of a row.
    *(
        (frame, particle, "x", "y", "z")
        for particle in ("particle", "particle_id", "track_id", "track id", "track", "id")
        for frame in ("frame", "time", "t")
    ),
)
_UNITS = {"microns": "µm", "pixel": "px", "pixels": "px", "pix": "px"}
_LENGTHS = frozenset(("Å", "pm", "nm", "µm", "mm", "cm", "m", "px"))
_TIMES = frozenset(("fs", "ps", "ns", "us", "µs", "ms", "s", "sec", "min", "h"))
_IN_BRACKETS = re.compile(r"(.*\S)\s*(?:\[([^\]]*)\]|\(([^)]*)\))")
_AFTER_A_DASH = re.compile(r"(.*[^\s_/])\s*[_/]\s*([^\s_/]+)")
_LONGEST, _MANY = 30, 12  # letters of a name and names of columns in a message
_TITLES = 10  # lines at most that programs write above the names of columns

Columns = str | Sequence[str | int] | None
"""Names of columns, or their numbers from 1 on: a sequence, or one text with commas."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a text table holds what is wanted of it."""

    rows: TextTable  # those of particles
    wanted: list[str]  # what the columns of frame, particle and coordinates are called
    places: list[int]  # where they stand in a row
    width: int  # columns of a row
    trackmate: bool = False
    unit: str = ""  # of the coordinates, where the table says so
    guessed: bool = False  # whether the columns are known by names that trackpy does not give
    doubt: str = ""  # what else the table may mean


def listed_columns(columns: Columns) -> list[str] | list[int] | None:
    """Bring any way of naming columns into a list.

    Parameters
    ----------
    columns : str or sequence of str or int, optional
        Names or numbers.

    Returns
    -------
    list of str, list of int, or None
        Names; or numbers, where all are whole numbers above 0.

    Examples
    --------
    >>> listed_columns("1,2,3"), listed_columns(["frame", "car", "x"])
    ([1, 2, 3], ['frame', 'car', 'x'])
    """
    if columns is None:
        return None
    parts = columns.split(",") if isinstance(columns, str) else list(columns)
    words = [str(part).strip() for part in parts]
    if len(words) < 3:
        raise ValueError(
            "columns need a frame, a particle and one or more coordinates, "
            f"got {', '.join(words) or 'none'}"
        )
    if all(word.isdecimal() and int(word) > 0 for word in words):
        return [int(word) for word in words]
    return words


def lay_out(table: TextTable, columns: Columns) -> Layout:
    """Find the wanted columns of a text table, and where its names end and its rows begin.

    Parameters
    ----------
    table : TextTable
        All its rows, names included.
    columns : str or sequence of str or int, optional
        Names or numbers of the wanted columns.

    Returns
    -------
    Layout
        Columns, rows of particles, and what rows of names say of them.
    """
    chosen = listed_columns(columns)
    if chosen is None or not isinstance(chosen[0], int):
        table = _below_titles(table, chosen)
    first = table.names(table.rows[0])
    if chosen is not None and isinstance(chosen[0], int):
        places = places_of_numbers([int(number) for number in chosen], len(first), table.source)
        # A frame is always a number: where there is none, the row holds names.
        named = bool(first[places[0]]) and not is_number(first[places[0]])
        named = named and not any(is_number(first[place]) for place in places[2:])
        named = named or _counts_columns(first)
        header = first if named else []
        wanted = [first[place] if named else f"column {place + 1}" for place in places]
        doubt = "" if named else _doubt_first_row(first)
    else:
        header, named = _names_of(table, chosen)
        wanted = wanted_columns(header, chosen, table.source)
        places = [header.index(name) for name in wanted]
        doubt = doubt_columns(header, wanted) if chosen is None else ""
    rows = table.without_first(int(named))
    trackmate, unit = is_trackmate(header), unit_of_columns(wanted[2:], table.source)
    if trackmate:
        rows, unit = _without_more_names(rows, places)
    if not rows.rows:
        raise ValueError(
            f"{table.source}: the table has a header but no rows: "
            "rows of tracked particles are needed"
        )
    n_names = max((place for place, name in enumerate(header, start=1) if name), default=0)
    width = max(n_names, len(rows.fields(rows.rows[0])))
    if header and not isinstance((chosen or [""])[0], int):
        shift = _count_row_names(rows, len(header))
        places = [place + shift for place in places]
    own = tuple(name.lower() for name in wanted[:2]) == TRACKPY_COLUMNS[:2]
    guessed = chosen is None and not trackmate and not own
    return Layout(rows, wanted, places, width, trackmate, unit, guessed, doubt)


def unit_of_columns(names: Sequence[str], source: str = "table") -> str:
    """Find the unit that names of columns state, as x [µm] and y [µm] do, or x_um and y_um.

    Parameters
    ----------
    names : sequence of str
        Of the coordinates.
    source : str, optional
        What the table is called in messages.

    Returns
    -------
    str
        Their unit, "" where not all state one, or what they state is no unit of length.

    Raises
    ------
    ValueError
        If they state different ones.

    Examples
    --------
    >>> unit_of_columns(["x [um]", "y [um]"]), unit_of_columns(["x_nm", "y_nm"])
    ('µm', 'nm')
    """
    units = {_unit(_part(name)[1]) for name in names}
    if len(units - {""}) > 1 and units & _LENGTHS:
        raise ValueError(
            f"{source}: coordinates need one unit, got {', '.join(map(repr, names))}: "
            "convert them to the same"
        )
    unit = units.pop() if len(units) == 1 else ""
    return unit if unit in _LENGTHS else ""


def _unit(word: str) -> str:
    return unit_label(_UNITS.get(word, word))


def _part(name: str) -> tuple[str, str]:
    """Part the name of a column from the unit that follows it, in brackets or after a dash."""
    found = _IN_BRACKETS.fullmatch(name)
    if found:
        return found[1], (found[2] or found[3] or "").strip()
    found = _AFTER_A_DASH.fullmatch(name)
    return (found[1], found[2]) if found and _is_unit(found[2], found[1]) else (name, "")


def _is_unit(word: str, name: str) -> bool:
    """Tell whether what follows a name is a unit, for x_raw, x_min and x_a are names."""
    if name.lower() in {"t", "time"}:
        return word in _TIMES
    return _unit(word) in _LENGTHS and word not in {"a", "A"}


# Ways to read the name of a column, the surest first.
_READINGS: tuple[Callable[[str], str], ...] = (
    lambda name: name,
    lambda name: name.lower(),
    lambda name: _part(name)[0],
    lambda name: _part(name)[0].lower(),
)


def doubt_columns(header: Sequence[str], wanted: Sequence[str]) -> str:
    """Say which columns were taken where others have the same name but for letters and units.

    Parameters
    ----------
    header : sequence of str
        All names.
    wanted : sequence of str
        Those of frame, particle and coordinates.

    Returns
    -------
    str
        A note, "" where there is no choice.

    Examples
    --------
    >>> doubt_columns(["frame", "particle", "X", "x"], ["frame", "particle", "x"])
    "'x' is taken, and not 'X': columns= names others"
    """
    least = _READINGS[-1]
    names = {least(name): name for name in wanted}
    others = [name for name in header if least(name) in names and name not in wanted]
    if not others:
        return ""
    taken = list(dict.fromkeys(names[least(name)] for name in others))
    verb = "is" if len(taken) == 1 else "are"
    return f"{_listed(taken)} {verb} taken, and not {_listed(others)}: columns= names others"


def _doubt_first_row(first: Sequence[str]) -> str:
    """Say of a first row that may number the columns that it is read as all others."""
    for start in (0, 1):
        if list(first) == [str(start + place) for place in range(len(first))]:
            row = ", ".join(first[:_MANY]) + ", …" * (len(first) > _MANY)
            return f"its first row ({row}) is read as data: remove it if it numbers the columns"
    return ""


def _below_titles(table: TextTable, chosen: Sequence[Any] | None) -> TextTable:
    """Leave out what stands above the names of the columns, if these are to be found."""
    if _are_names(table.names(table.remark), chosen):
        return table
    for count in range(min(_TITLES, len(table.rows))):
        below = table.below(count) if count else table
        if _are_names(below.names(below.rows[0]), chosen):
            return below
    return table


def _are_names(names: Sequence[str], chosen: Sequence[Any] | None) -> bool:
    return set(chosen if chosen is not None else _usual_columns(names)) <= set(names)


def wanted_columns(header: Sequence[str], chosen: Sequence[Any] | None, source: str) -> list[str]:
    """Find the names of the wanted columns among all.

    Parameters
    ----------
    header : sequence of str
        All names.
    chosen : sequence of str, optional
        Those that the user gave; by default trackpy's or TrackMate's, in small or capital letters.
    source : str
        What the table is called in messages.

    Returns
    -------
    list of str
        Names of the columns of frame, particle and coordinates.
    """
    wanted = list(chosen) if chosen is not None else _usual_columns(header)
    missing = [name for name in wanted if name not in header]
    if missing:
        _refuse_deeplabcut(header, source)
        numbers = all(str(name).isdecimal() for name in wanted)
        counted = "; numbers are counted from 1" if numbers else ""
        raise ValueError(
            f"{source}: there is no column {_listed(missing)}; the table has {_listed(header)}: "
            f"give the frame, particle and coordinate columns by name or number (columns=){counted}"
        )
    _refuse_same(wanted, source)
    twice = [name for name in wanted if list(header).count(name) > 1]
    if twice:
        raise ValueError(
            f"{source}: there are {list(header).count(twice[0])} columns {twice[0]!r}: "
            "give the columns by number (columns='1,2,3,4')"
        )
    return wanted


def _refuse_deeplabcut(header: Sequence[str], source: str) -> None:
    """Say how tables with columns for each body part become arrays."""
    if header[0] == "scorer":
        raise ValueError(
            f"{source}: DeepLabCut's tables have columns for each body part, and not rows: pass "
            "timme.read the array that t = pandas.read_csv(file, header=[0, 1, 2], index_col=0)"
            ".drop(columns='likelihood', level=-1) and t.to_numpy().reshape(len(t), -1, 2) give"
        )


def _listed(names: Sequence[str]) -> str:
    """Name columns in a message, the first ones where there are many, long ones by their start."""
    short = [name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…" for name in map(str, names)]
    more = f" and {len(short) - _MANY} more" if len(short) > _MANY else ""
    return ", ".join(map(repr, short[:_MANY])) + more


def places_of_numbers(numbers: Sequence[int], width: int, source: str) -> list[int]:
    """Turn numbers of columns, counted from 1, into places.

    Parameters
    ----------
    numbers : sequence of int
        Of frame, particle and coordinates.
    width : int
        How many columns there are.
    source : str
        What the table is called in messages.

    Returns
    -------
    list of int
        Counted from 0.
    """
    if max(numbers) > width:
        raise ValueError(
            f"{source}: there is no column {max(numbers)}: the table has {width}, counted from 1"
        )
    _refuse_same(numbers, source)
    return [number - 1 for number in numbers]


def _refuse_same(wanted: Sequence[Any], source: str) -> None:
    if len(set(wanted)) < len(wanted):
        raise ValueError(
            f"{source}: frame, particle and coordinates are different columns, "
            f"got {', '.join(map(str, wanted))}"
        )


def is_trackmate(header: Sequence[Hashable]) -> bool:
    """Tell whether a table lists the spots of TrackMate.

    Parameters
    ----------
    header : sequence
        Names of all columns.

    Returns
    -------
    bool
        True where it has TrackMate's columns of frame, track and position.
    """
    return set(TRACKMATE_COLUMNS[:4]) <= set(header)


def _usual_columns(header: Sequence[str]) -> list[str]:
    """Name the columns of TrackMate, of trackpy as the table writes them, or of other programs."""
    if is_trackmate(header):
        return [name for name in TRACKMATE_COLUMNS if name in header]
    written = dict[str, str]()
    for read_as in _READINGS:  # what is written exactly so comes first, and of several the first
        written = {read_as(name): name for name in reversed(header)} | written
    fitting = (names for names in _PROGRAMS if set(names[:3]) <= written.keys())
    wanted = list(next(fitting, TRACKPY_COLUMNS))
    if wanted[-1] not in written:
        wanted.pop()
        # Tracks on a line have no y; but a table without x is not understood.
        if wanted[-1] not in written:
            wanted.pop()
    return [written.get(name, name) for name in wanted]


def _names_of(table: TextTable, chosen: Sequence[Any] | None) -> tuple[list[str], bool]:
    """Find the names of the columns, and tell whether the first row holds them."""
    first, remark = table.names(table.rows[0]), table.names(table.remark)
    for names in (first, remark):  # some programs write the names as a comment
        if _are_names(names, chosen) and (names is first or len(names) == len(first)):
            return names, names is first
    if not any(is_number(field) for field in first):
        return first, True
    if len(table.rows) > 1 and len(first) != len(table.fields(table.rows[1])):
        raise ValueError(
            f"{table.source}: the first row, {table.rows[0].strip()!r}, has other columns than the "
            "next: remove it if it is a title, or begin it with #"
        )
    raise ValueError(
        f"{table.source}: the first row holds numbers and no names of columns: say which of the "
        f"{len(first)} columns are frame, particle and coordinates, counted from 1 "
        f"(columns='1,2,3,4'){_matrix_hint(table, len(first))}"
    )


def _counts_columns(first: Sequence[str]) -> bool:
    """Tell whether a row numbers the columns beside an index, as pandas writes an array."""
    return not first[0] and [*first[1:]] == [str(number) for number in range(len(first) - 1)]


def _matrix_hint(table: TextTable, width: int) -> str:
    if width != len(table.rows) or width < 3:
        return ""
    return "; if this is a matrix of σ, save it with numpy.save as .npy"


def _without_more_names(rows: TextTable, places: list[int]) -> tuple[TextTable, str]:
    """Leave out TrackMate's rows of long names, short names and units, and take the unit."""
    count, unit = 0, ""
    for line in rows.rows[:_TRACKMATE_ROWS]:
        fields = rows.fields(line)
        at = [fields[place] if place < len(fields) else "" for place in (places[0], *places[2:])]
        if any(is_number(field) for field in at):
            break
        count += 1
        if at[1].startswith("("):
            unit = at[1].strip("()").strip()
    return rows.without_first(count), _unit(unit)


def _count_row_names(rows: TextTable, n_names: int) -> int:
    """Tell whether a column of row names precedes those that have names, as R writes it."""
    fields = rows.fields(rows.rows[0])
    more = len(fields) - n_names
    if more <= 0 or not any(fields[n_names:]):
        if more < 0 and rows.separator is None:
            _refuse_unnamed(rows, n_names, len(fields))
        return 0
    if more > 1:
        _refuse_unnamed(rows, n_names, len(fields))
    return 1


def _refuse_unnamed(rows: TextTable, n_names: int, n_fields: int) -> None:
    raise ValueError(
        f"{rows.source}: there are names of {n_names} columns, but the first row has {n_fields}: "
        "repair the header, or give the columns by number (columns='1,2,3,4')"
    )
