"""Motions as a result of their own: known axes from files, inputs opened again, components."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import timme
from tests.motion.proteins import planted_protein
from timme.analysis import Analysis, Modes, Moved, summary
from timme.output.ensembles import write_ensemble
from timme.output.figures import draw, figures_of
from timme.output.look import look_of
from timme.output.mode_scripts import FILES, write_mode_scripts
from timme.output.registry import tables_of_parts
from timme.system.held_frames import ArrayFrames


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_ensemble(planted_protein(9), tmp_path_factory.mktemp("models") / "models.pdb")


@pytest.fixture(scope="module")
def made(models: Path) -> Analysis:
    return timme.move(models)


def test_the_axis_of_a_known_transition_is_read_from_two_structures(
    models: Path, tmp_path: Path
) -> None:
    ensemble = timme.read(models)
    ends = [write_ensemble(ensemble[k : k + 1], tmp_path / f"{k}.pdb") for k in (0, 8)]
    part = timme.move(models, axis_from=(ends[0], ends[1])).part(Moved)
    assert part is not None
    (known,), (motion,) = part.found.known, part.found.hinges
    assert known.angle == pytest.approx(40, rel=0.02)
    assert motion.range == pytest.approx(40, rel=0.02)
    assert "known transition" in part.facts()[2][1]


def test_structures_of_something_else_are_refused(models: Path, tmp_path: Path) -> None:
    ensemble = timme.read(models)
    few = write_ensemble(ensemble[:1].select(np.arange(4)), tmp_path / "few.pdb")
    with pytest.raises(ValueError, match="share 4 sites"):
        timme.move(models, axis_from=(models, few))


def test_structures_of_another_molecule_with_the_same_numbers_are_refused(
    models: Path, tmp_path: Path
) -> None:
    # As of two proteins whose residues are numbered from 1: names are alike by chance alone.
    names = ["ALA", "GLY", "SER", "VAL", "LEU"]
    ensemble = timme.read(models)
    atoms, resids = ensemble.atoms, ensemble.atoms.resids
    own, other = (
        write_ensemble(
            replace(
                ensemble,
                atoms=replace(atoms, resnames=np.array(names, object)[(resids + shift) % 5]),
            ),
            tmp_path / f"{shift}.pdb",
        )
        for shift in (0, 1)
    )
    with pytest.raises(ValueError, match=r"1\.pdb: .*0 are of residues of the same name"):
        timme.move(own, axis_from=(own, other))


def test_the_summary_of_what_stands_still_tells_no_components() -> None:
    planted = planted_protein(4)
    still = np.tile(planted.coordinates()[0], (4, 1, 1))
    told = dict(summary(timme.move(replace(planted, frames=ArrayFrames(still, None)))))
    assert told["components"] == "none, as nothing moves"


@pytest.mark.parametrize("kind", ["motion", "run"])
def test_the_inputs_of_a_saved_result_are_opened_again(
    models: Path, made: Analysis, tmp_path: Path, kind: str
) -> None:
    first = made if kind == "motion" else timme.analyse(models, objects="points", stop=6)
    timme.save(first, tmp_path / "result.npz")
    again = timme.move(tmp_path / "result.npz").part(Moved)
    assert again is not None
    assert again.members == ("A 1-60", "A 61-100")
    assert len(again.found.hinges[0].frames) == (9 if kind == "motion" else 6)


def test_an_input_that_changed_or_is_gone_is_told(models: Path, tmp_path: Path) -> None:
    own = tmp_path / "mine.pdb"
    own.write_bytes(models.read_bytes())
    made = timme.move(own)
    timme.save(made, tmp_path / "result.npz")
    own.write_text(own.read_text() + "REMARK\n")
    with pytest.raises(ValueError, match="its checksum differs"):
        timme.move(tmp_path / "result.npz")
    own.unlink()
    with pytest.raises(FileNotFoundError, match="is not there any more: give the files"):
        timme.move(made)
    with pytest.raises(ValueError, match="holds a few snapshots"):
        timme.move(timme.analyse(planted_protein(), objects="points"))


def test_components_are_told_with_the_share_of_bodies(made: Analysis) -> None:
    part = made.part(Modes)
    assert part is not None
    assert part.overlap.shape == (8, 2)
    assert part.overlap[0].sum() > 0.95
    assert part.components.cumulated[0] > 0.8
    text = "\n".join(value for _, value in summary(made))
    assert "rigid motion of the bodies" in text
    assert "RMSIP" in text


def test_tables_of_components_and_splits_say_what_was_found(made: Analysis) -> None:
    texts = tables_of_parts(made, look_of(made))
    rows = {name: list(csv.DictReader(io.StringIO(text))) for name, text in texts.items()}
    assert float(rows["modes.csv"][0]["of body 2"]) > 0.9
    assert float(rows["modes.csv"][7]["cumulated"]) == pytest.approx(1, abs=1e-5)
    assert len(rows["projections.csv"]) == 9
    assert len(rows["porcupine.csv"]) == 100
    assert rows["splits.csv"][0]["smaller side"] == "A 61-100"
    assert rows["splits.csv"][0]["kind"] == "hinge"


@pytest.mark.parametrize("name", ["modes", "projections", "covariance"])
def test_components_are_drawn(made: Analysis, name: str) -> None:
    assert draw(made, name, look_of(made)).axes


def test_a_film_goes_along_the_largest_component(made: Analysis, tmp_path: Path) -> None:
    written = {path.name: path for path in write_mode_scripts(made, tmp_path)}
    assert written.keys() == FILES.keys()
    film = timme.read(written["mode.pdb"]).coordinates()
    part = made.part(Modes)
    assert part is not None
    assert film.shape == (21, 100, 3)
    way = (film[-1] - film[0]).ravel()
    # PDB rounds to 0.001 Å, of a way of 20 Å over 100 sites.
    assert abs(way @ part.components.modes[0].ravel()) == pytest.approx(
        np.linalg.norm(way), rel=1e-4
    )


def test_copies_of_one_structure_are_one_body_that_does_not_move(tmp_path: Path) -> None:
    ensemble = planted_protein(2)
    still = replace(
        ensemble, frames=ArrayFrames(np.array([ensemble.snapshot(0)[0]] * 3), boxes=None)
    )
    made = timme.move(still)
    part = made.part(Moved)
    assert part is not None
    assert part.found.bodies.n_bodies == 1
    assert part.found.fluctuation.max() < 1e-6
    assert "variance" not in figures_of(made)
    assert draw(made, "modes", look_of(made)).axes
    assert write_mode_scripts(made, tmp_path)
