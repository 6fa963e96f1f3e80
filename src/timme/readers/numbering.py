"""Numbering: numbers in PDB files that outgrow their columns, or stand in those of others."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from timme._arrays import Ints, Strings

_SERIAL = (6, 11)  # columns of the number of an atom
_ATOM = re.compile(rb"(?:ATOM  |HETATM)(?<=^.{6})", re.MULTILINE)
_END_OF_MODEL = re.compile(rb"ENDMDL(?<=^ENDMDL)", re.MULTILINE)
_RESIDUE = re.compile(
    rb"(?:ATOM  |HETATM)(?<=^.{6}).{16}(.{4})|(?:END|MODEL)(?<=^.{3})", re.MULTILINE
)
# Base 16 shows by a letter after a digit, or by 2710, which is 10,000, right after 9999.
_IN_BASE_16 = re.compile(
    rb"(?:ATOM  |HETATM)(?<=^.{6}).{16}(?:\d(?=[\da-fA-F]{3})\d{0,2}[a-fA-F]"
    rb"|9999[^\n]*\n(?:(?:TER|ANISOU)[^\n]*\n)*(?:ATOM  |HETATM).{16}2710)",
    re.MULTILINE,
)
_BOND = re.compile(rb"CONECT(?<=^CONECT)", re.MULTILINE)
_DIGITS = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# Until 1996 columns 73 to 80 held the code of the entry and the number of the line, as 1ABC  99.
# Later they were given to segment, element and charge.
_LINE_NUMBER = re.compile(
    rb"^((?:ATOM  |HETATM).{66})(?:\d[0-9A-Za-z]{3}|(.{4}))(?:[ \d]{3}\d)", re.MULTILINE
)


def five_digits(resids: Ints, icodes: Strings) -> tuple[Ints, Strings]:
    """Join numbers of five digits, the last of which stands in the column of insertion codes.

    Parameters
    ----------
    resids : ndarray of int, shape (atoms,)
        Residue numbers of four columns.
    icodes : ndarray of str, shape (atoms,)
        Insertion codes.

    Returns
    -------
    resids : ndarray of int, shape (atoms,)
        Whole numbers.
    icodes : ndarray of str, shape (atoms,)
        Letters only, where the number has four digits.

    Examples
    --------
    >>> resids, icodes = five_digits(np.array([9999, 1000, 52]), np.array(["", "1", "A"]))
    >>> resids.tolist(), icodes.tolist()
    ([9999, 10001, 52], ['', '', 'A'])
    """
    spilled = (resids >= 1000) & np.char.isdigit(icodes)
    if not spilled.any():
        return resids, icodes
    last = np.where(spilled, icodes, "0").astype(np.int64)
    return np.where(spilled, 10 * resids + last, resids), np.where(spilled, "", icodes)


def without_line_numbers(data: bytes) -> bytes:
    """Leave out the numbers of lines that old PDB files have in the columns of elements.

    Parameters
    ----------
    data : bytes
        A PDB file.

    Returns
    -------
    bytes
        The same with blanks there, and in place of the code of the entry before them.

    Examples
    --------
    >>> line = b"HETATM    1 CA    CA A   1      11.104   6.134  -6.504  1.00  0.00      1ABC  99"
    >>> without_line_numbers(line)[60:]
    b'  0.00              '
    """
    text = np.frombuffer(data, np.uint8)
    lasts = 79 + np.concatenate([[0], 1 + np.flatnonzero(text == ord("\n"))])
    signs = text[lasts[lasts < len(text)]]
    if not ((signs >= ord("0")) & (signs <= ord("9"))).any():  # as in nearly all files
        return data
    return _LINE_NUMBER.sub(_blank, data)


def _blank(found: re.Match[bytes]) -> bytes:
    return found[1] + (found[2] or b"    ") + b"    "


def in_base_36(data: bytes) -> bytes:
    r"""Write residue numbers in base 36 where a file has them in base 16, as VMD does beyond 9999.

    A number of four digits may be of either base. It is of base 16 if it would fall back otherwise,
    and goes on after the one before.

    Parameters
    ----------
    data : bytes
        A PDB file.

    Returns
    -------
    bytes
        The same, with the numbers that parsers know.

    Examples
    --------
    >>> lines = [b"HETATM%16s%s    " % (b"", number) for number in (b"9999", b"2710", b"2711")]
    >>> [line[22:26] for line in in_base_36(b"\n".join(lines)).split(b"\n")]
    [b'9999', b'A000', b'A001']
    """
    if not _IN_BASE_16.search(data):
        return data
    written, before = bytearray(data), 0
    for found in _RESIDUE.finditer(data):
        field = found[1]
        if field is None:  # the next model begins to count anew
            before = 0
            continue
        try:
            number = _in_either_base(field, before)
        except ValueError:  # of neither, which is for the parser to say
            return data
        if number > 9999:
            written[found.start(1) : found.end(1)] = _encode(number, 4)
        before = number
    return bytes(written)


def _in_either_base(field: bytes, before: int) -> int:
    if not field.isdigit():
        return int(field, 16 if field.isalnum() else 10)
    plain, other = int(field), int(field, 16)
    return other if plain < before <= other else plain


def number_atoms(data: bytes) -> bytes:
    """Number atoms anew where several of a model have the same number, or none.

    Numbers have five columns: beyond 99,999 programs begin again, write stars or in base 16, and
    others begin again with every chain. The parser puts residues of one number together, and only
    the numbers of atoms tell in which order the file has them.

    Parameters
    ----------
    data : bytes
        A PDB file.

    Returns
    -------
    bytes
        The same, or with numbers from 1 on in every model, in base 36 from 100,000 on, and without
        the bonds that numbers told.
    """
    text = np.frombuffer(data + bytes(_SERIAL[1]), np.uint8)
    starts = np.array([found.start() for found in _ATOM.finditer(data)], dtype=np.int64)
    ends = np.array([found.start() for found in _END_OF_MODEL.finditer(data)], dtype=np.int64)
    models = np.searchsorted(ends, starts)
    columns = text[starts[:, None] + np.arange(*_SERIAL)]
    if _ascend(columns, models):
        return data
    fields = np.ascontiguousarray(columns).view(f"S{columns.shape[1]}")[:, 0].tolist()
    if _tell_apart(fields, models):
        return data
    first = np.searchsorted(models, models)
    written = text[: len(data)].copy()
    for start, number in zip(starts, np.arange(len(starts)) - first + 1, strict=True):
        written[start + _SERIAL[0] : start + _SERIAL[1]] = np.frombuffer(
            _encode(int(number), 5), np.uint8
        )
    return _BOND.sub(b"REMARK", written.tobytes())


def _ascend(columns: npt.NDArray[np.uint8], models: Ints) -> bool:
    """Tell at a glance whether numbers ascend in every model, as those of nearly all files do."""
    digits = columns.astype(np.int64) - ord("0")
    blank = columns == ord(" ")
    if not (blank | ((digits >= 0) & (digits <= 9))).all():
        return False
    numbers = np.where(blank, 0, digits) @ 10 ** np.arange(columns.shape[1])[::-1]
    return bool(((np.diff(numbers) > 0) | (np.diff(models) > 0)).all())


def _tell_apart(fields: list[bytes], models: Ints) -> bool:
    """Tell whether all atoms of every model have numbers of their own."""
    found = set[tuple[int, int]]()
    for field, model in zip(fields, models.tolist(), strict=True):
        try:
            found.add((model, _decode(field.decode("latin-1").strip())))
        except ValueError:
            return False
    return len(found) == len(fields)


def _encode(number: int, width: int) -> bytes:
    """Write a number in so many columns, in hybrid base 36 from ``A000`` or ``A0000`` on."""
    if number < 10**width:
        return b"%*d" % (width, number)
    rest, letters = number - 10**width + 10 * 36 ** (width - 1), b""
    while rest:
        rest, digit = divmod(rest, 36)
        letters = _DIGITS[digit : digit + 1] + letters
    return letters


def pdb_numbers(text: str) -> tuple[Ints, Strings] | None:
    """Read residue numbers of five digits or in base 36 from the first model of a PDB file.

    Parameters
    ----------
    text : str
        The file.

    Returns
    -------
    tuple of ndarray, shape (atoms,), or None
        Numbers and insertion codes, None where all numbers are plain or some are none.
    """
    fields = list[str]()
    for line in text.split("\n"):
        if line.startswith(("ATOM  ", "HETATM")):
            fields.append(f"{line[22:27]:<5}")
        elif fields and line.startswith("END"):
            break
    if not any(field[0].isalpha() or field[4].isdigit() for field in fields):
        return None
    try:
        resids = np.array([_decode(field[:4]) for field in fields], dtype=np.int64)
    except ValueError:
        return None
    return five_digits(resids, np.array([field[4].strip() for field in fields], dtype=np.str_))


def _decode(field: str) -> int:
    """Read a number, in hybrid base 36 from 10000 (``A000``) or 100000 (``A0000``) on."""
    if not field[:1].isalpha():
        return int(field)
    shift, width = 16 if field[0].islower() else -10, len(field)
    power: int = 36 ** (width - 1)
    first: int = 10**width
    return int(field, 36) + shift * power + first
