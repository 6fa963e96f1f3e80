"""Choices of reading that the recipe and the command line pass on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.readers.builders import peptide, write_pdb
from timme.cli import main
from timme.readers import read
from timme.workflow import Settings, analyse


@pytest.fixture
def with_gaps(tmp_path: Path) -> Path:
    positions = np.random.default_rng(0).normal(size=(20, 6, 3))
    positions[3, 2] = np.nan
    path = tmp_path / "a.npy"
    np.save(path, positions)
    return path


def test_gaps_are_allowed_by_the_recipe(with_gaps: Path) -> None:
    with pytest.raises(ValueError, match="gaps"):
        analyse(with_gaps)
    assert analyse(with_gaps, gaps=True).hierarchy.n_sites == 6


@pytest.mark.usefixtures("without_figures")
def test_gaps_are_allowed_by_the_command_line(with_gaps: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["run", str(with_gaps), "-o", str(tmp_path / "one")])
    assert stopped.value.code == 2
    main(["run", str(with_gaps), "--gaps", "-o", str(tmp_path / "two")])
    assert (tmp_path / "two" / "result.npz").exists()


@pytest.mark.usefixtures("without_figures")
def test_tables_keep_their_gaps_without_a_word(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [
        f"{frame},{particle},{rng.normal()},{rng.normal()}"
        for frame in range(20)
        for particle in range(4)
        if (frame, particle) != (3, 2)
    ]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["frame,particle,x,y", *rows, ""]))
    main(["run", str(path), "-o", str(tmp_path / "out")])
    assert (tmp_path / "out" / "result.npz").exists()


@pytest.mark.parametrize(("bonds", "objects"), [("auto", "bodies"), ("none", "points")])
def test_bonds_are_chosen_by_the_recipe(tmp_path: Path, bonds: str, objects: str) -> None:
    path = write_pdb(tmp_path / "a.pdb", [peptide(shift, n_residues=4) for shift in (0.0, 0.5)])
    analysis = analyse(path, settings=Settings(bonds=bonds, min_bonds=0))
    assert analysis.recipe.options["objects"] == objects
    assert bool(len(analysis.system.sites.bonds)) == (bonds == "auto")


def test_bonds_are_chosen_by_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_pdb(tmp_path / "a.pdb", [peptide(shift, n_residues=4) for shift in (0.0, 0.5)])
    with pytest.raises(SystemExit):
        main(["run", str(path), "--bonds=none", "--objects=bodies", "-o", str(tmp_path / "out")])
    assert "bodies need covalent bonds" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["run", str(path), "--bonds", "all"])
    assert "--bonds is one of auto, file, guess, none" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "meant"), [("begin", "start"), ("dt", "step"), ("end", "stop")])
def test_a_keyword_of_the_command_line_is_told_by_its_name_here(name: str, meant: str) -> None:
    given: dict[str, Any] = {name: 1}
    with pytest.raises(TypeError, match=rf"takes {meant}= for {name}="):
        read(np.zeros((3, 4, 3)), **given)
