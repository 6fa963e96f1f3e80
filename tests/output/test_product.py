"""Answers of real systems in Python are those of the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.test_answers import ANSWERS, SHARED, differences
from timme import Analysis, analyse, analyse_motion, data


def shared(*names: str) -> list[Path]:
    paths = [SHARED / name for name in names]
    if not all(path.exists() for path in paths):
        pytest.skip("needs the shared data")
    return paths


def library(*names: str) -> list[Path]:
    files = pytest.importorskip("MDAnalysisTests.datafiles")
    return [Path(str(getattr(files, name))) for name in names]


CASES: dict[str, Callable[[], Analysis]] = {
    "run 1bnr.pdb": lambda: analyse(*shared("nmr/1bnr.pdb")),
    "demo barnase": lambda: analyse(data.path("barnase_md.pdb"), data.path("barnase_md.xtc")),
    "run adk.psf adk_dims.dcd": lambda: analyse(*library("PSF", "DCD")),
    "run 4ake.pdb 1ake.pdb --common-atoms --chain A": lambda: analyse(
        *shared("xray/4ake.pdb", "xray/1ake.pdb"), common_atoms=True, chain="A"
    ),
    "run adk_oplsaa.gro adk_oplsaa.xtc -s protein": lambda: analyse(
        *library("GRO", "XTC"), select="protein"
    ),
    "motion adk.psf adk_dims.dcd": lambda: analyse_motion(*library("PSF", "DCD")),
    "run bulk_water_tracks.csv --unit px": lambda: analyse(
        *shared("tracks/bulk_water_tracks.csv"), unit="px"
    ),
}


@pytest.mark.parametrize("command", CASES)
def test_answers_in_python_are_those_of_the_command_line(command: str) -> None:
    expected = ANSWERS[command].partition("\nOpen")[0].replace("--min-overlap", "min_overlap=")
    wrong = differences(str(CASES[command]()), expected)
    assert not wrong, "\n".join(wrong.values())
