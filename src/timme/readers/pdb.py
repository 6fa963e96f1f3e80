"""Texts of PDB files, made what the parser takes as they mean it, or refused."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from timme._arrays import Bools, Ints
from timme.readers.files import one_line, read_bytes
from timme.readers.numbering import without_line_numbers

if TYPE_CHECKING:
    import numpy.typing as npt

# Words that are looked for before it is asked whether a line begins with them: eight times as fast.
_MODEL = re.compile(rb"MODEL (?<=^MODEL ).*$", re.MULTILINE)
_CELL = re.compile(rb"CRYST1(?<=^CRYST1).*$", re.MULTILINE)
_ATOMS = (b"ATOM  ", b"HETATM")
_MAX_MODELS = 9999


def parse_pdb(path: Path) -> tuple[list[Any], list[str]]:
    """Parse a PDB file, whose models may be more than a parser can number.

    Parameters
    ----------
    path : Path
        A file, also compressed.

    Returns
    -------
    list of gemmi.Structure
        All models, in their order.
    list of str
        Its lines of cells, ``CRYST1``.
    """
    data = without_line_numbers(read_bytes(path))
    cells = [line.decode("latin-1") for line in _CELL.findall(data)]
    return [_parse(part, path, line) for part, line in _parts(data)], cells


def _parse(data: bytes, path: Path, first_line: int) -> Any:
    import gemmi

    _refuse_bad_coordinates(data, path, first_line)
    if not data.isascii():
        _refuse_other_letters(data, path, first_line)
    try:
        return gemmi.read_pdb_string(_number_lines(data))
    except (RuntimeError, ValueError) as error:
        raise ValueError(f"{path}: not a valid PDB file: {one_line(error)}") from None


def _parts(data: bytes) -> list[tuple[bytes, int]]:
    """Split what the parser would not take as models, with the number of the first line."""
    starts = [match.start() for match in _MODEL.finditer(data)]
    if len(starts) > _MAX_MODELS:
        # The parser reads four digits of the number of a model.
        cuts = [0, *starts[_MAX_MODELS::_MAX_MODELS], len(data)]
        lines = [1 + data.count(b"\n", 0, cut) for cut in cuts]
        return [(data[a:b], line) for a, b, line in zip(cuts, cuts[1:], lines, strict=False)]
    if starts or data.count(b"\nEND") < 2:
        return [(data, 1)]
    parts, current, first_line = [], list[bytes](), 1
    for number, line in enumerate(data.split(b"\n"), start=1):
        current.append(line)
        if line.rstrip() in {b"END", b"ENDMDL"}:
            parts.append((b"\n".join(current), first_line))
            current, first_line = [], number + 1
    parts.append((b"\n".join(current), first_line))
    return [part for part in parts if b"ATOM" in part[0] or b"HETATM" in part[0]]


def _number_lines(data: bytes) -> bytes:
    """Number models anew where several have the same number, or a long one."""
    numbers = _MODEL.findall(data)
    if len({number[:14] for number in numbers}) == len(numbers):
        return data
    counter = itertools.count(1)
    return _MODEL.sub(lambda _: b"MODEL     %4d" % next(counter), data)


def _refuse_bad_coordinates(data: bytes, path: Path, first_line: int) -> None:
    """Find coordinates that are no numbers, which the parser would take for zero."""
    if _are_plain(data):
        return
    model = 1
    for number, line in enumerate(data.split(b"\n"), start=first_line):
        if line.startswith(_ATOMS):
            try:
                # The sum is finite only if all three are.
                total = float(line[30:38]) + float(line[38:46]) + float(line[46:54])
                if total - total == 0.0:
                    continue
            except ValueError:
                pass
            text = line.decode("latin-1")
            raise ValueError(
                f"{path}: line {number}, model {model}, atom {text[12:16].strip()} of "
                f"{text[17:20].strip()} {text[22:27].strip()}: coordinates must be numbers, got "
                f"{text[30:54].strip()!r}: repair that line or leave out the model"
            )
        if line.startswith(b"MODEL "):
            fields = line.split()
            model = int(fields[1]) if len(fields) > 1 and fields[1].isdigit() else model + 1


def _are_plain(data: bytes) -> bool:
    """Tell whether all coordinates are written as nearly all programs do, with three decimals."""
    text = np.frombuffer(data + bytes(54), np.uint8)
    starts = np.concatenate([[0], 1 + np.flatnonzero(text == ord("\n"))])
    starts = starts[_read_words(text, starts)]
    return all(
        _is_plain([text[starts + column] for column in range(first, first + 8)])
        for first in (30, 38, 46)
    )


def _read_words(text: npt.NDArray[np.uint8], starts: Ints) -> Bools:
    """Tell which lines begin as those of atoms do."""
    found = np.zeros(len(starts), np.bool_)
    for word in _ATOMS:
        same = np.ones(len(starts), np.bool_)
        for place, letter in enumerate(word):
            same &= text[starts + place] == letter
        found |= same
    return found


def _is_plain(columns: Sequence[npt.NDArray[np.uint8]]) -> bool:
    """Tell whether a field of eight columns holds blanks, a sign, digits, a point and decimals."""
    digits = [(column >= ord("0")) & (column <= ord("9")) for column in columns]
    right = (columns[4] == ord(".")) & digits[3] & digits[5] & digits[6] & digits[7]
    begun = np.zeros_like(right)  # after a sign or a digit there are digits alone
    for column, digit in zip(columns[:4], digits[:4], strict=True):
        blank, sign = column == ord(" "), column == ord("-")
        right &= digit | (~begun & (blank | sign))
        begun |= digit | sign
    return bool(right.all())


def _refuse_other_letters(data: bytes, path: Path, first_line: int) -> None:
    """Refuse names of atoms, chains and segments that the parser cannot give back."""
    for number, line in enumerate(data.split(b"\n"), start=first_line):
        named = b""
        if line.startswith((b"LINK", b"SSBOND")):
            named = line
        elif line.startswith(_ATOMS):
            named = line[12:27] + (line[72:76] if line[21:22] == b" " else b"")
        if not named.isascii():
            raise ValueError(
                f"{path}: line {number}: names in PDB files are in ASCII, got "
                f"{named.decode('latin-1').strip()!r}: repair that line"
            )
