"""Answers of real systems, as they are specified in answers.txt.

A number may differ by one in its last digit, where † ends a line by a quarter: those follow from
random numbers of their own. What stands for # is computed here by another route: hydrogens now
turn to where they make bonds, which makes cores larger than those of the specification.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import timme
from tests import naive
from tests.cli.conftest import Call, table_of
from timme.analysis import tables

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
QUICK = {
    *("run 1bnr.pdb", "demo barnase", "run adk.psf adk_dims.dcd", "motion adk.psf adk_dims.dcd"),
    *("run 4ake.pdb 1ake.pdb --common-atoms --chain A", "run bulk_water_tracks.csv --unit px"),
    "run adk_oplsaa.gro adk_oplsaa.xtc -s protein",
}
# Sites of the core of 1a2p by the specification, before hydrogens turned to make more bonds.
CORES = {-0.1: 95, -0.5: 79, -1.0: 54, -1.5: 52, -2.0: 44, -3.0: 32}
CORE = [*range(6, 19), *range(52, 57), 63, 64, *range(70, 77), *range(84, 111)]
MOST = 81  # of 20 NMR models of barnase at -1 kcal/mol
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?|(?<=[-A-Za-z])\d+(?:\.\d+)?")
NUMBER_OR_ANY = re.compile(f"{NUMBER.pattern}|#")


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
    return table_of(tracks)


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
        numbers = NUMBER.findall(ours[label]), NUMBER_OR_ANY.findall(goal)
        share = 0.25 if goal != specified[label] else 0.0
        same = NUMBER.sub("#", ours[label]) == NUMBER.sub("#", goal) and all(
            other == "#" or _are_alike(number, other, share)
            for number, other in zip(*numbers, strict=True)
        )
        if not same:
            wrong[label] = f"{ours[label]}\n  not {specified[label]}"
    return wrong


def _are_alike(number: str, other: str, share: float) -> bool:
    """Return whether numbers differ by the last digit of the other, or a share of it, at most."""
    a, b = (float(text.replace(",", "")) for text in (number, other))
    digit = 10.0 ** -len(other.partition(".")[2])
    return abs(a - b) <= max(1.001 * digit, share * b)


def test_answers_that_differ_in_words_or_numbers_are_seen() -> None:
    text = "x: two bodies (1-20).\n  fit        0.67 Å rms\n             as two; 3 Å †\nOpen a"
    assert differences(text.replace("0.67", "0.68").replace(" †", ""), text) == {}
    assert differences(text.replace(" †", "").replace("3 Å", "4.1 Å"), text).keys() == {"fit"}
    for one, other in (("two b", "three b"), ("1-20", "1-22"), ("0.67", "0.99"), ("\nOpen a", "")):
        assert differences(text.replace(" †", "").replace(one, other), text), one


@pytest.mark.parametrize(
    "command",
    [each if each in QUICK else pytest.param(each, marks=pytest.mark.slow) for each in ANSWERS],
)
def test_answers_are_those_that_are_specified(command: str, call: Call, tmp_path: Path) -> None:
    for each in [*BEFORE.get(command, []), command]:
        words = each.split()
        for word in words:
            if re.search(r"\.(pdb|csv|psf|dcd|gro|xtc)$", word):
                place(word, tmp_path)
        done = call(*words)
        assert done.code == 0, done.err
    wrong = differences(done.out.strip(), ANSWERS[command])
    assert not wrong, "\n".join(wrong.values())
    assert max(map(len, done.out.splitlines())) <= 100
    folder = tmp_path / done.out.split("Open ")[1].split("/")[0]
    said = entries(done.out.strip())
    if command.startswith("compare"):
        check_agreement(said, tmp_path)
        return
    found: Any = timme.load(folder)
    in_python = ANSWERS[command].partition("\nOpen")[0].replace("--min-overlap", "min_overlap=")
    assert not differences(str(found), in_python)
    check_cutoffs(found)
    if command.startswith("rigidity"):
        check_core(said, folder)


def check_cutoffs(found: timme.Analysis) -> None:
    """Assert that a cut at a printed cutoff gives the clusters that are printed beside it."""
    finding, tree = found.finding, found.hierarchy
    assert finding is not None
    large, text = tables.min_size(found), " ".join(finding.text(10_000).split())
    for size, cutoff in re.findall(
        r"(\d+)(?: of [\d,]+| form one network| move together)+ at σc = ([\d.]+)", text
    ):
        assert tree.cut(float(cutoff)).sizes[0] == int(size)
    for cutoff in re.findall(r"\(σc = ([\d.]+)[^()]*\)\.", text):
        same = tree.cut(float(cutoff)).labels[:, None] == tree.cut(float(cutoff)).labels
        for group in range(finding.labels.max() + 1):
            site = np.flatnonzero(finding.labels == group)
            assert np.array_equal(np.flatnonzero(same[site[0]]), site)
    for cutoff, clusters in re.findall(r"hierarchy at σc = ([\d.]+) \S+ ([^;(]*)", text):
        sizes = [size for size in tree.cut(float(cutoff)).sizes.tolist() if size >= large]
        stated = [int(text) for text in re.findall(r"(?<![-\d])\d+(?![-\d])", clusters)]
        assert stated == (sizes if len(stated) > 1 else sizes[:1])
    for size, cutoff in re.findall(r"of ≥ (\d+) at σc = ([\d.]+)", text):
        sizes = [each for each in tree.cut(float(cutoff)).sizes.tolist() if each >= int(size)]
        assert 2 * sum(sizes) >= tree.n_sites


def check_core(said: dict[str, str], folder: Path) -> None:
    """Assert that cores are those of the tables, between those with fewer bonds and NMR models."""
    sites = pd.read_csv(folder / "sites.csv")
    joins = sites["core_E_kcal_mol"]
    sizes = re.findall(r"(\d+) at −([\d.]+)", said["dilution"])
    stated = {-float(energy): int(size) for size, energy in sizes}
    assert stated == {energy: int((joins <= energy).sum()) for energy in CORES}
    assert all(CORES[energy] <= size for energy, size in stated.items())
    assert f"core of {stated[-1.0]} of" in said["sentence"]
    assert stated[-1.0] <= MOST
    ranges = re.findall(r"(\d+)-(\d+)", said["core"].partition(";")[0])
    members = [number for a, b in ranges for number in range(int(a), int(b) + 1)]
    assert members == sites["number"][joins <= -1.0].tolist()
    assert set(CORE) <= set(members)
    kinds = pd.read_csv(folder / "constraints.csv")["kind"].value_counts()
    words = ["hydrogen bond", "salt bridge", "tether"]
    counts = [int(text) for text in re.findall(r"(\d+) (?:hydrogen|salt|hydro)", said["network"])]
    assert counts == [kinds[word] for word in words]


def check_agreement(said: dict[str, str], folder: Path) -> None:
    """Assert that cuts of both results at the printed cutoffs agree as is printed."""
    cutoffs = [float(x.replace("−", "-")) for x in re.findall(r"= (\S+)", said["best"])]
    made: list[Any] = [timme.load(folder / f"timme-{name}") for name in ("rigidity-1a2p", "1bnr")]
    one, other = (each.shown_atoms.resids for each in made)
    labels = [
        each.hierarchy.cut(cutoff).labels[np.isin(own, np.intersect1d(one, other))].tolist()
        for each, own, cutoff in zip(made, (one, other), cutoffs, strict=True)
    ]
    index = float(re.findall(r"index ([\d.]+)", said["sentence"])[0])
    assert naive.adjusted_rand(*labels) == pytest.approx(index, abs=0.005)  # as it is rounded
