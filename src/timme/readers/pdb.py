"""Texts of PDB files, made what the parser takes as they mean it, or refused."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from timme._arrays import Bools, Ints
from timme.readers.files import one_line, read_bytes
from timme.readers.numbering import in_base_36, number_atoms, without_line_numbers

if TYPE_CHECKING:
    import numpy.typing as npt

# Words that are looked for before it is asked whether a line begins with them: eight times as fast.
_MODEL = re.compile(rb"MODEL(?<=^MODEL)(?:[ \t].*)?$", re.MULTILINE)
_CELL = re.compile(rb"CRYST1(?<=^CRYST1).*$", re.MULTILINE)
_END = re.compile(rb"END(?<=^END)(?:[ \t].*)?$", re.MULTILINE)
_ATOM = re.compile(rb"(?:ATOM  |HETATM)(?<=^.{6})", re.MULTILINE)
_BOUND = re.compile(rb"(?:ATOM  |HETATM|MODEL[ \n]|ENDMDL)(?<=^.{6})", re.MULTILINE | re.DOTALL)
_SMALL = re.compile(rb"^(?:atom  |hetatm|model|endmdl|end|cryst1)(?![a-z])", re.MULTILINE)
_ATOMS = (b"ATOM  ", b"HETATM")
_MAX_MODELS = 9999


class Part(NamedTuple):
    """What was parsed of a file at once."""

    structure: Any  # gemmi.Structure: its models, in their order
    cells: list[str]  # its lines of cells, CRYST1


def parse_pdb(path: Path) -> list[Part]:
    """Parse a PDB file, whose models may be more than a parser can number, or follow an ``END``.

    Parameters
    ----------
    path : Path
        A file, also compressed.

    Returns
    -------
    list of Part
        With all models, in their order.
    """
    data = in_base_36(without_line_numbers(read_bytes(path)))
    if b"atom  " in data or b"hetatm" in data:
        data = _SMALL.sub(lambda found: found[0].upper(), data)
    return [
        Part(_parse(text, path, line), [cell.decode("latin-1") for cell in _CELL.findall(text)])
        for text, line in _parts(data)
    ]


def _parse(data: bytes, path: Path, first_line: int) -> Any:
    import gemmi

    _refuse_bad_coordinates(data, path, first_line)
    if not data.isascii():
        _refuse_other_letters(data, path, first_line)
    try:
        return gemmi.read_pdb_string(number_atoms(_number_models(_close_models(data))))
    except (RuntimeError, ValueError) as error:
        raise ValueError(f"{path}: not a valid PDB file: {one_line(error)}") from None


def _parts(data: bytes) -> list[tuple[bytes, int]]:
    """Split a file into what the parser takes at once, each with the number of its first line.

    It stops at the first ``END``, which stands between files that were joined, and reads four
    digits of the number of a model.
    """
    cuts = [0, *(found.end() for found in _END.finditer(data)), len(data)]
    parts, line = list[tuple[bytes, int]](), 1
    for start, stop in pairwise(cuts):
        models = [found.start() for found in _MODEL.finditer(data, start, stop)]
        for first, last in pairwise([start, *models[_MAX_MODELS::_MAX_MODELS], stop]):
            text = data[first:last]
            if _ATOM.search(text):
                parts.append((text, line))
            line += text.count(b"\n")
    return parts or [(data, 1)]


def _close_models(data: bytes) -> bytes:
    """End models where the next one begins, which some programs leave to that."""
    if data.count(b"\nENDMDL") >= len(_MODEL.findall(data)):
        return data
    places, has_atoms = list[int](), False
    for found in _BOUND.finditer(data):
        if has_atoms and found[0].startswith(b"MODEL"):
            places.append(found.start())
        has_atoms = found[0] in _ATOMS
    texts = (data[start:stop] for start, stop in pairwise([0, *places, len(data)]))
    return b"ENDMDL\n".join(texts)


def _number_models(data: bytes) -> bytes:
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
