"""The command timme motion, end to end."""

from pathlib import Path

import pytest

from tests.cli.conftest import Refused, Run
from tests.motion.proteins import planted_protein
from timme.output.ensembles import write_ensemble


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return write_ensemble(planted_protein(8), tmp_path / "models.pdb")


@pytest.mark.usefixtures("without_figures")
def test_bodies_are_printed_and_written(models: Path, timme: Run, tmp_path: Path) -> None:
    still = tmp_path / "still.xtc"
    told = timme("motion", models, "-o", tmp_path / "out", "--superposed", still).out
    assert "2 rigid bodies" in told
    assert "A 61-100; hinge" in told
    assert still.stat().st_size > 0
    for name in ("bodies.csv", "motions.csv", "bodies.pml", "bodies.cif", "result.npz"):
        assert (tmp_path / "out" / name).is_file()


def test_an_earlier_file_is_not_replaced(models: Path, refused: Refused, tmp_path: Path) -> None:
    still = tmp_path / "still.xtc"
    still.write_text("mine")
    assert "exists" in refused("motion", models, "-o", tmp_path / "out", "--superposed", still)
    assert still.read_text() == "mine"
