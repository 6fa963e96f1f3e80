"""Answers of real systems, as they are specified in answers.txt.

A number may differ by one in its last digit, where † ends a line by a quarter: those follow from
random numbers of their own.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests_next.cli.conftest import Call

HERE = Path(__file__).parent
SHARED = HERE.parents[3] / "shared" / "data"
FOLDERS = {
    **dict.fromkeys(("4ake.pdb", "1ake.pdb", "1omp.pdb", "1anf.pdb"), SHARED / "xray"),
    "1a2p.pdb": SHARED / "xray",
    "1bnr.pdb": SHARED / "nmr",
    "bulk_water_tracks.csv": SHARED / "tracks",
}
ANSWERS = {
    block.partition("\n")[0]: block.partition("\n")[2].strip()
    for block in (HERE / "answers.txt").read_text("utf-8").split("$ timme ")[1:]
}
BEFORE = {  # commands whose results are compared
    "compare timme-rigidity-1a2p timme-1bnr": ["rigidity 1a2p.pdb --chain A", "run 1bnr.pdb"]
}
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?|(?<=[-A-Za-z])\d+(?:\.\d+)?")


def place(name: str, folder: Path) -> None:
    """Put a file of an answer into a folder, or skip the test."""
    target = folder / name
    if name == "tracks.csv":
        target.write_text(drifting_tracks())
    elif name.startswith("adk"):
        files = pytest.importorskip("MDAnalysisTests.datafiles", reason="needs MDAnalysisTests")
        target.symlink_to(Path(files.PSF).parent / name)
    elif not (FOLDERS[name] / name).is_file():
        pytest.skip(f"needs {name} in ../shared/data")
    else:
        target.symlink_to(FOLDERS[name] / name)


def drifting_tracks() -> str:
    """Twenty particles that drift together, seen with errors, and eighty walkers."""
    rng = np.random.default_rng(0)
    steps = rng.normal(scale=0.65, size=(100, 100, 2))
    steps[:, :20] = steps[:, :1]
    tracks = np.cumsum(steps, axis=0) + rng.uniform(0, 100, (100, 2))
    tracks[:, :20] += rng.normal(scale=0.14, size=(100, 20, 2))
    rows = [
        f"{frame},{particle + 1},{x:.3f},{y:.3f}"
        for frame, snapshot in enumerate(tracks)
        for particle, (x, y) in enumerate(snapshot.tolist())
    ]
    return "\n".join(["frame,particle,x,y", *rows]) + "\n"


def entries(text: str) -> list[str]:
    """Return the sentence, each fact and each note, however they are wrapped."""
    lines = text.splitlines()
    starts = [k for k, line in enumerate(lines) if not re.match(r" {3,}", line)]
    return [" ".join(" ".join(lines[a:b]).split()) for a, b in pairwise([*starts, len(lines)])]


def differences(found: str, expected: str) -> list[str]:
    """Return the entries that differ by more than numbers may."""
    wrong = []
    for ours, specified in zip(entries(found), entries(expected), strict=False):
        goal = specified.removesuffix(" †")
        numbers = [[*map(_value, NUMBER.findall(text))] for text in (ours, goal)]
        share = 0.25 if goal != specified else 0.0
        same = NUMBER.sub("#", ours) == NUMBER.sub("#", goal) and all(
            abs(a - b) <= max(1.001 * digit, share * b)
            for (a, _), (b, digit) in zip(*numbers, strict=True)
        )
        if not same:
            wrong.append(f"{ours}\n  not {specified}")
    counts = [len(entries(text)) for text in (found, expected)]
    return [*wrong, *[f"{counts[0]} entries, not {counts[1]}"] * (counts[0] != counts[1])]


def _value(text: str) -> tuple[float, float]:
    """Return a number and the value of its last digit."""
    plain = text.replace(",", "")
    return float(plain), 10.0 ** -len(plain.partition(".")[2])


def test_answers_that_differ_in_words_or_numbers_are_seen() -> None:
    text = "x: two bodies (1-20).\n  fit        0.67 Å rms\n             as two; 3 Å †\nOpen a"
    assert differences(text.replace("0.67", "0.68").replace(" †", ""), text) == []
    assert differences(text.replace(" †", "").replace("3 Å", "4.1 Å"), text)
    for one, other in (("two b", "three b"), ("1-20", "1-22"), ("0.67", "0.99"), ("\nOpen a", "")):
        assert differences(text.replace(" †", "").replace(one, other), text), one


@pytest.mark.slow
@pytest.mark.parametrize("command", ANSWERS)
def test_answers_are_those_that_are_specified(command: str, call: Call, tmp_path: Path) -> None:
    for each in [*BEFORE.get(command, []), command]:
        words = each.split()
        for word in words:
            if re.search(r"\.(pdb|csv|psf|dcd|gro|xtc)$", word):
                place(word, tmp_path)
        done = call(*words)
        assert done.code == 0, done.err
    assert differences(done.out.strip(), ANSWERS[command]) == []
    assert max(map(len, done.out.splitlines())) <= 100
