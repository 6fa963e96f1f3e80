"""Options that were given and would have no effect are refused, in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import timme as library
from tests.cli.conftest import Refused, Run
from tests.cli.ensembles import wandering
from tests.readers.builders import write_trajectory


@pytest.fixture
def inputs(folder: Path, peptide_file: Path) -> dict[str, list[Path]]:
    """Return sources of several kinds."""
    del peptide_file
    xyz = wandering(20, 30)
    np.save(folder / "a.npy", xyz)
    rows = [f"{t},{p},{x},{y}" for t, frame in enumerate(xyz) for p, (x, y, _) in enumerate(frame)]
    (folder / "a.csv").write_text("\n".join(["frame,particle,x,y", *rows]))
    write_trajectory(folder / "a.dcd", xyz)
    (folder / "pairs.txt").write_text("1 20\n2 30\n")
    (folder / "groups.txt").write_text("one = resid 1\ntwo = resid 2\n")
    return {
        "models": [Path("peptide.pdb")],
        "array": [Path("a.npy")],
        "table": [Path("a.csv")],
        "trajectory": [Path("a.dcd")],
    }


@pytest.mark.parametrize(
    ("source", "options", "expected"),
    [
        ("models", "--columns frame,particle,x", "peptide.pdb: --columns is for tables of tracks"),
        ("array", "--columns frame,particle,x", "a.npy: --columns is for tables"),
        ("trajectory", "--columns frame,particle,x", "a.dcd: --columns is for tables"),
        ("array", "--common-atoms", "a.npy: --common-atoms is for models in structure files"),
        ("table", "--common-atoms", "a.csv: --common-atoms is for models"),
        ("trajectory", "--common-atoms", "a.dcd: --common-atoms is for models"),
        ("models", "--allow-truncated", "--allow-truncated is for trajectory files"),
        ("array", "--allow-truncated", "--allow-truncated is for trajectory files"),
        ("array", "--bonds guess", "bonds are guessed from elements"),
        ("models", "--centre mass", "--centre is for residues, molecules and groups, not for bod"),
        ("models", "--centre nonsense --objects links", "--centre is for residues, molecules and"),
        ("array", "--centre mass", "--centre is for residues, molecules and groups, not for poin"),
        ("models", "--objects points --reduction max", "--reduction is for bodies, links, residu"),
        ("array", "--reduction rms", "--reduction is for bodies, links, residues, molecules and"),
        ("models", "--objects points --reach 2", "--reach is for bodies, not for points"),
        ("models", "--objects residues --reach 2", "--reach is for bodies, not for residues"),
        ("models", "--objects groups.txt --reach 2", "--reach is for bodies, not for groups"),
        ("models", "--pairs all --contacts 3", "--contacts is for contact pairs, not for all pai"),
        ("models", "--pairs all --radius 8", "--radius is for contact pairs, not for all pairs"),
        ("models", "--pairs pairs.txt --radius 8", "--radius is for contact pairs, not for listed"),
        ("array", "--contacts 3", "--contacts is for contact pairs, not for all pairs"),
        ("models", "--pairs contact --neighbours 3", "--neighbours is for nearest and sequence p"),
        ("models", "--pairs all --neighbours 3", "--neighbours is for nearest and sequence pairs"),
        ("models", "--objects links --min-bonds 3", "--min-bonds is for contact, all, nearest, se"),
        ("array", "--min-bonds 3", "--min-bonds is for sites with bonds, not for sites without"),
        ("models", "--min-overlap 3", "--min-overlap is for snapshots with gaps, not for snapsho"),
    ],
)
def test_an_option_without_effect_is_refused(
    inputs: dict[str, list[Path]], refused: Refused, source: str, options: str, expected: str
) -> None:
    said = refused("run", *inputs[source], *options.split())
    assert expected in said
    assert "leave" in said


@pytest.mark.usefixtures("without_figures")
@pytest.mark.parametrize(
    ("source", "options"),
    [
        ("models", "--common-atoms --reach 2 --reduction max --contacts 2 --min-bonds 3"),
        ("models", "--objects residues --centre geometry --reduction centre --radius 8"),
        ("models", "--pairs nearest --neighbours 3"),
        ("array", "--gaps --min-overlap 3 --radius 5 --contacts 2 --min-bonds 0"),
        ("table", "--columns frame,particle,x,y --min-overlap 3"),
        ("trajectory", "--allow-truncated --pairs sequence --neighbours 2 --bonds none"),
        ("table", "--noise 0.03"),
        ("array", "--noise 0.03,0.03,0.06 --linkage braced"),
        ("array", "--noise auto"),
    ],
)
def test_an_option_with_an_effect_is_taken(
    inputs: dict[str, list[Path]], timme: Run, source: str, options: str
) -> None:
    found = timme("run", *inputs[source], *options.split(), "-o", "out")
    assert (found.code, found.err) == (0, "")


@pytest.mark.parametrize(
    ("source", "options", "expected"),
    [
        ("models", "--noise 0.1", "--noise is for points and centres: σ of bodies is that of many"),
        ("models", "--objects points --noise auto", "--noise auto needs snapshots in their order"),
        ("table", "--noise 0.1,0.1,0.2", "--noise takes one error, or one for each of 2 axes, go"),
        ("array", "--noise far", "--noise takes an error such as 0.03, one for each axis such as"),
    ],
)
def test_an_error_that_cannot_be_taken_off_is_refused(
    inputs: dict[str, list[Path]], refused: Refused, source: str, options: str, expected: str
) -> None:
    assert expected in refused("run", *inputs[source], *options.split())


def test_an_ensemble_is_not_read_again() -> None:
    ensemble = library.synthetic.chain(20)
    with pytest.raises(ValueError, match="as it was read: leave out step, unit"):
        library.analyse(ensemble, step=2, unit="nm")
    with pytest.raises(ValueError, match="as it was read: leave out weights"):
        library.analyse(ensemble, weights=np.ones(ensemble.n_snapshots))
    with pytest.raises(ValueError, match="as it was read: leave out trajectories"):
        library.analyse(ensemble, "a.dcd")


def test_an_array_takes_no_options_of_files() -> None:
    with pytest.raises(ValueError, match="array: columns= is for tables"):
        library.read(wandering(), columns=["t", "id", "x"])
