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

from tests.cli.conftest import Call

HERE = Path(__file__).parent
SHARED = HERE.parents[2] / "shared" / "data"
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
# Entries that differ from the specification: hydrogens now turn to where they make bonds, which
# changes cores, and a single structure has no models for a baseline.
KNOWN = {
    "rigidity 1a2p.pdb --chain A": "sentence core dilution baseline network",
    "compare timme-rigidity-1a2p timme-1bnr": "sentence best",
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
    steps = rng.normal(scale=0.8, size=(100, 100, 2))
    steps[:, :20] = steps[:, :1]
    tracks = np.cumsum(steps, axis=0) + rng.uniform(0, 100, (100, 2))
    tracks[:, :20] += rng.normal(scale=0.14, size=(100, 20, 2))
    rows = [
        f"{frame},{particle + 1},{x:.3f},{y:.3f}"
        for frame, snapshot in enumerate(tracks)
        for particle, (x, y) in enumerate(snapshot.tolist())
    ]
    return "\n".join(["frame,particle,x,y", *rows]) + "\n"


def entries(text: str) -> dict[str, str]:
    """Return the sentence, each fact and all notes by label, however they are wrapped."""
    lines = text.splitlines()
    starts = [k for k, line in enumerate(lines) if not re.match(r" {3,}", line)]
    found = dict[str, str]()
    for a, b in pairwise([*starts, len(lines)]):
        words = " ".join(lines[a:b]).split()
        label = words[0] if lines[a].startswith((" ", "Note", "Open")) else "sentence"
        found[label] = " ".join(filter(None, [found.get(label), *words]))
    return found


def differences(found: str, expected: str) -> dict[str, str]:
    """Return the entries that are missing, new, or differ by more than numbers may."""
    ours, specified = entries(found), entries(expected)
    wrong = dict.fromkeys(ours.keys() ^ specified.keys(), "")
    for label in ours.keys() & specified.keys():
        goal = specified[label].removesuffix(" †")
        numbers = [[*map(_value, NUMBER.findall(text))] for text in (ours[label], goal)]
        share = 0.25 if goal != specified[label] else 0.0
        same = NUMBER.sub("#", ours[label]) == NUMBER.sub("#", goal) and all(
            abs(a - b) <= max(1.001 * digit, share * b)
            for (a, _), (b, digit) in zip(*numbers, strict=True)
        )
        if not same:
            wrong[label] = f"{ours[label]}\n  not {specified[label]}"
    return wrong


def _value(text: str) -> tuple[float, float]:
    """Return a number and the value of its last digit."""
    plain = text.replace(",", "")
    return float(plain), 10.0 ** -len(plain.partition(".")[2])


def test_answers_that_differ_in_words_or_numbers_are_seen() -> None:
    text = "x: two bodies (1-20).\n  fit        0.67 Å rms\n             as two; 3 Å †\nOpen a"
    assert differences(text.replace("0.67", "0.68").replace(" †", ""), text) == {}
    assert differences(text.replace(" †", "").replace("3 Å", "4.1 Å"), text).keys() == {"fit"}
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
    wrong = differences(done.out.strip(), ANSWERS[command])
    assert wrong.keys() == {*KNOWN.get(command, "").split()}, "\n".join(wrong.values())
    assert max(map(len, done.out.splitlines())) <= 100
