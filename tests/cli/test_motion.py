"""The command timme motion, end to end."""

import csv
import io
from pathlib import Path

import numpy as np
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


@pytest.mark.usefixtures("without_figures")
@pytest.mark.parametrize("there", [False, True], ids=["new", "empty"])
def test_superposed_snapshots_go_into_the_folder_of_the_result(
    models: Path, timme: Run, tmp_path: Path, there: bool
) -> None:
    folder = tmp_path / "out"
    if there:
        folder.mkdir()
    timme("motion", models, "-o", folder, "--superposed", folder / "still.xtc")
    assert (folder / "still.xtc").stat().st_size > 0
    assert (folder / "result.npz").is_file()


def test_superposed_snapshots_in_no_folder_are_refused_at_once(
    models: Path, refused: Refused, tmp_path: Path
) -> None:
    still = tmp_path / "nowhere" / "still.xtc"
    told = refused("motion", models, "-o", tmp_path / "out", "--superposed", still)
    assert "is no folder: make it first" in told
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("without_figures")
def test_a_known_transition_of_one_body_is_told_as_unused(
    models: Path, timme: Run, tmp_path: Path
) -> None:
    told = timme(
        *("motion", models, "-o", tmp_path / "out", "--bodies", "1"),
        *("--axis-from", models, models),
    )
    assert "the known transition is not used" in told.out + told.err


@pytest.mark.usefixtures("without_figures")
def test_pairs_of_particles_are_correlated(timme: Run, tmp_path: Path) -> None:
    rows = ["frame,particle,x,y"]
    rng = np.random.default_rng(0)
    walks = rng.uniform(0, 9, (1, 12, 2)) + 0.1 * rng.normal(size=(30, 12, 2)).cumsum(axis=0)
    rows += [
        f"{frame},{particle},{x:.4f},{y:.4f}"
        for frame, places in enumerate(walks)
        for particle, (x, y) in enumerate(places)
    ]
    tracks = tmp_path / "tracks.csv"
    tracks.write_text("\n".join(rows))
    told = timme(
        "motion", tracks, "-o", tmp_path / "o", "--two-point", "1,4,9", "--lags", "1,3"
    ).out
    assert "D_rr" in told
    text = (tmp_path / "o" / "two-point.csv").read_text("utf-8")
    found = list(csv.DictReader(io.StringIO(text)))
    assert [(row["lag"], float(row["distance"]) < 4) for row in found] == [
        ("1", True), ("1", False), ("3", True), ("3", False),
    ]  # fmt: skip


@pytest.mark.usefixtures("without_figures")
def test_replicas_are_correlated_each_by_itself(timme: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    files = [tmp_path / "one.xyz", tmp_path / "two.xyz"]
    for file in files:
        walks = rng.uniform(0, 20, (1, 20, 3)) + 0.05 * rng.normal(size=(50, 20, 3)).cumsum(axis=0)
        lines = [
            "20\n\n" + "".join(f"Ar {x:.5f} {y:.5f} {z:.5f}\n" for x, y, z in places)
            for places in walks
        ]
        file.write_text("".join(lines))
    told = timme("motion", *files, "-o", tmp_path / "o", "--two-point", "2,15", "--lags", "1,20")
    assert "2 trajectories count as replicas" in told.out + told.err
    assert "no errors at lag 20: " in told.out
    text = (tmp_path / "o" / "two-point.csv").read_text("utf-8")
    near, late = csv.DictReader(io.StringIO(text))
    squares = {name: float(near[name]) for name in near if name.startswith("MSD")}
    square, error = squares.values()
    assert square == pytest.approx(0.0075, rel=0.1)  # 20 × 98 steps: three standard errors are 6 %
    assert error < 0.0005
    assert [late[name] for name in late if "error" in name] == ["", "", ""]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--two-point", "1,x"], "takes numbers with commas"),
        (["--two-point", "1,2", "--bodies", "2"], "leave out --bodies"),
        (["--drift"], "belong to --two-point"),
        (["--axis-from", "no.pdb", "none.pdb"], "no.pdb"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    models: Path, refused: Refused, tmp_path: Path, options: list[str], words: str
) -> None:
    assert words in refused("motion", models, "-o", tmp_path / "out", *options)
