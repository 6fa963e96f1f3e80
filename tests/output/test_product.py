"""Answers of real systems, as they are specified; numbers of random draws within their spread."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from timme import Analysis, analyse, analyse_motion, data

SHARED = Path(__file__).parents[3] / "shared" / "data"


def shared(*names: str) -> list[Path]:
    paths = [SHARED / name for name in names]
    if not all(path.exists() for path in paths):
        pytest.skip("needs the shared data")
    return paths


def library(*names: str) -> list[Path]:
    files = pytest.importorskip("MDAnalysisTests.datafiles")
    return [Path(str(getattr(files, name))) for name in names]


CASES: dict[str, tuple[Callable[[], Analysis], str]] = {
    "1bnr": (
        lambda: analyse(*shared("nmr/1bnr.pdb")),
        """
1bnr: one rigid body. 102 of 110 residues keep their shape in all 20 NMR models; no domain moves.
  fit        0.48 Å rms within the body; loose ends: A 1-2, 39, 57, 59-60, 67-68
  split?     no: the best two parts (A 23-38, 40-51, 78-83 | rest) move 1.9× as far as parts within
             them; 2.5× needed
  stiffest   A 5-23 (support 100 %), A 24-37 (97 %): ±0.10 Å inside, ±0.25 Å against the rest
  hierarchy  half of the residues in clusters of ≥ 10 at σc = 0.029 Å, 95 % in one at 0.090 Å
Note: NMR models show where restraints fix the structure, not how far it moves thermally.
""",
    ),
    "barnase_md": (
        lambda: analyse(data.path("barnase_md.pdb"), data.path("barnase_md.xtc")),
        """
barnase_md: one rigid body. All 108 residues move together over 0.5 ns; no domain moves.
  fit        0.51 Å rms over 250 snapshots
  split?     no: the best two parts (A 26-49, 79-81 | rest) move 1.8× as far as parts within them;
             2.5× needed
  sampling   about 8 independent samples of the slowest motion; 30 are enough for exact cutoffs
""",
    ),
    "adk_dims": (
        lambda: analyse(*library("PSF", "DCD")),
        """
adk_dims: three rigid bodies, well supported. 117-164 turns by 51°, 30-67 by 40° against the core.
  bodies     1: 1-29, 68-90, 93-116, 165-214 · 2: 117-164 · 3: 30-55, 57-67, 91-92
  fit        0.67 Å rms as three bodies; 2.20 Å as one, 1.09 Å as two, 0.64 Å as four
  separation bodies move 3.8× as far as parts within them (2.5× needed); 91 % of motion
  support    the same bodies in both alternating halves of the frames (agreement 0.97 of 1)
  hierarchy  at σc = 0.124 Å residues 131-155 part from 164 others (±0.31 Å inside, ±2.7 Å between)
Note: about 2 independent samples: one passage between two states. A second run may differ.
""",
    ),
    "4ake → 1ake": (
        lambda: analyse(*shared("xray/4ake.pdb", "xray/1ake.pdb"), common_atoms=True, chain="A"),
        """
4ake → 1ake: three rigid bodies. A 116-164 turns by 50°, A 30-67 by 44° against the core.
  bodies     1: A 1-29, 68-115, 165-214 · 2: A 116-164 · 3: A 30-67
  fit        0.64 Å rms as three bodies; 3.62 Å as one, 1.53 Å as two, 0.53 Å as four
  separation bodies move 5.1× as far as parts within them (2.5× needed); 96 % of motion
  hierarchy  at σc = 0.039 Å two clusters of 116 and 29 residues; σ joins bodies through hinges
Note: two structures say what differs, not how surely: no error bars.
""",
    ),
    "1omp → 1anf": (
        lambda: analyse(*shared("xray/1omp.pdb", "xray/1anf.pdb"), common_atoms=True),
        """
1omp → 1anf: two rigid bodies. One turns by 36° against the other, as on a hinge.
  bodies     1: A 111-122, 124-170, 176-260, 315-327, 329-370 · 2: A 5-29, 31-110, 261-312 (+2)
  fit        0.20 Å rms as two bodies; 1.82 Å as one, 0.16 Å as three
  separation bodies move 15× as far as parts within them (2.5× needed); 99 % of motion
Note: two structures say what differs, not how surely: no error bars.
""",
    ),
    "adk_oplsaa": (
        lambda: analyse(*library("GRO", "XTC"), select="protein"),
        """
adk_oplsaa: not established. 10 snapshots are too few to tell one body from three.
  fit        1.06 Å rms as one body, 0.65 Å as three
  candidate  1-33, 79-117, 161-214 | 34-78 | 118-160: they move 2.1× as far as parts within them;
             2.5× needed
  sampling   about 4 independent samples; 8 or more usually decide
  hierarchy  half of the residues in clusters of ≥ 10 at σc = 0.086 Å, 95 % in one at 0.097 Å
""",
    ),
    "motion": (
        lambda: analyse_motion(*library("PSF", "DCD")),
        """
adk_dims: body 2 (117-164) turns by 51° and body 3 (30-67) by 40° against body 1; both screw-like.
  body 2     51° range, 15° rms; slides 1.5 Å; its axis moves: first and second half differ by 41°
  body 3     40° range, 12° rms; slides 1.2 Å; axis known to ±36° (95 %)
  modes      first component 91 % of the variance, 95 % of it rigid motion; second 5 %
  fit        0.67 Å rms as three bodies (2.20 Å as one)
Note: the two halves share little (RMSIP 0.38): one passage between two states, not an equilibrium.
""",
    ),
}
# Support is a mean over 100 draws, and cones and samples are estimates from these.
DRAWN = re.compile(r"(?<=±)\d+(?=° \(95 %\))|\d+(?= %\))")


@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_that_of_the_specification(name: str) -> None:
    make, text = CASES[name]
    answer, expected = str(make()).splitlines(), text.strip().splitlines()
    assert answer[0] == expected[0]
    plain = [DRAWN.sub("N", line) for line in answer]
    for line in expected:
        told = answer[plain.index(DRAWN.sub("N", line))]
        numbers = [[float(found) for found in DRAWN.findall(each)] for each in (told, line)]
        assert numbers[0] == pytest.approx(numbers[1], abs=3)


def test_particles_without_groups_are_compared_with_chance() -> None:
    table = SHARED / "tracks" / "bulk_water_tracks.csv"
    if not table.exists():
        pytest.skip("needs the shared data")
    found: Any = analyse(table, unit="px")
    lines = str(found).splitlines()
    assert lines[0] == "bulk_water_tracks: no group moves together among 265 particles."
    assert "  typical σ  3.8 px (median over 28,255 pairs); the stiffest pair has 1.0 px" in lines
    assert any(line.startswith("  used       265 of 1,505 tracks") for line in lines)
    water = analyse(
        data.path("water_drop.pdb"),
        data.path("water_drop.xtc"),
        end=10,
        pairs="contact:3.5",
        cutoff=0.5184,
    )
    told = str(water).splitlines()
    most = "Of 1,000 molecules at most 18 move together at σc = 0.52 Å."
    assert told[0] == f"water_drop: no lasting clusters. {most}"
    assert "  sampling   10 snapshots over 9 ps, about 2 independent samples" in told
