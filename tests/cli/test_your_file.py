"""Every command of the page "Your file" runs, on files of its kind."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Run
from tests.cli.ensembles import places, swinging
from tests.liquids import write_water
from tests.readers.builders import as_mmcif, pdb_text, write_pdb, write_trajectory
from tests.readers.test_box_kinds import as_dump, as_gsd, as_xyz
from tests.readers.test_formats import h5md
from tests.readers.test_restart import restart
from tests.workflow.test_recipe import lammps_data
from timme._arrays import Floats

PAGE = Path(__file__).parents[2] / "docs" / "your-file.md"
COMMANDS = re.findall(r"^timme .*$", PAGE.read_text("utf-8"), re.MULTILINE)
PROTEIN = swinging(12, 6)
RNG_SEED = 7


def trembling(n_snapshots: int = 8, n_sites: int = 12, dimensions: int = 3) -> Floats:
    """Sites on a grid of spacing 2.2 that tremble."""
    rng = np.random.default_rng(RNG_SEED)
    grid = np.stack(np.unravel_index(np.arange(n_sites), (3, 3, 3)), axis=1) * 2.2
    rest = np.zeros((n_sites, dimensions))
    rest[:, : min(3, dimensions)] = grid[:, :dimensions]
    return np.round(rest + rng.normal(scale=0.2, size=(n_snapshots, n_sites, dimensions)) + 1, 3)


def tracks(header: bool = True, *, stay: int = 8) -> str:
    """Rows of frame, particle, x, y; each is there for some of the frames."""
    rows = ["frame,particle,x,y"] if header else []
    for frame, snapshot in enumerate(trembling(dimensions=2)):
        rows += [
            f"{frame},{k},{x},{y}"
            for k, (x, y) in enumerate(snapshot)
            if k % 3 <= frame < k % 3 + stay
        ]
    return "\n".join(rows) + "\n"


def spots() -> str:
    """The export of TrackMate: names, long names, short names, units."""
    lines = ["LABEL,TRACK_ID,POSITION_X,POSITION_Y,FRAME", "Label,Track ID,X,Y,Frame"]
    lines += ["Label,Track ID,X,Y,Frame", ",,(micron),(micron),"]
    for frame, snapshot in enumerate(trembling(dimensions=2)):
        lines += [f"ID{k},{k},{x},{y},{frame}" for k, (x, y) in enumerate(snapshot)]
        lines += ["ID99,,5.0,5.0,0"]
    return "\n".join(lines) + "\n"


def trajectories() -> str:
    """The table of MOSAIC: a number of the row, trajectory, frame, coordinates and moments."""
    rows = [",Trajectory,Frame,x,y,z,m0"]
    for frame, snapshot in enumerate(trembling(dimensions=2)):
        rows += [
            f"{len(rows)},{k + 1},{frame},{x},{y},0.0,1.5" for k, (x, y) in enumerate(snapshot)
        ]
    return "\n".join(rows) + "\n"


def psf(path: Path) -> Path:
    records = PROTEIN[0]
    lines = ["PSF", "", "       1 !NTITLE", " REMARKS made", "", f"{len(records):8d} !NATOM"]
    for number, record in enumerate(records, start=1):
        name, resname, chain, resid = record[1].strip(), "ALA", "A", record[4]
        lines.append(
            f"{number:8d} {chain:<4} {resid:<4d} {resname:<4} {name:<4} {name:<4} "
            f"{0.0:14.6f}{12.0:14.4f}{0:8d}"
        )
    bonds = [str(atom) for pair in pairwise(range(1, len(records) + 1)) for atom in pair]
    lines += ["", f"{len(records) - 1:8d} !NBOND: bonds"]
    lines += ["".join(f"{atom:>8}" for atom in bonds[k : k + 8]) for k in range(0, len(bonds), 8)]
    path.write_text("\n".join([*lines, ""]))
    return path


def text(content: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(content)


def protein_trajectory(path: Path, box: list[float] | None = None, step: int = 1) -> Path:
    snapshots = np.array([places(model) for model in PROTEIN[::step]], dtype=np.float32)
    return write_trajectory(path, snapshots, box=box)


def boxes(n_snapshots: int = 5) -> Floats:
    return np.tile(np.diag([12.0, 12.0, 12.0]), (n_snapshots, 1, 1))


MAKERS: dict[str, Callable[[Path], object]] = {
    "ensemble.pdb": lambda path: write_pdb(path, PROTEIN),
    "ensemble.cif.gz": lambda path: path.write_bytes(
        gzip.compress(as_mmcif(path.with_suffix(""), pdb_text(PROTEIN)).read_bytes())
    ),
    "open.pdb": lambda path: write_pdb(path, PROTEIN[:1]),
    "closed.pdb": lambda path: write_pdb(path, [PROTEIN[1][:-1]]),
    "alphas.pdb": lambda path: write_pdb(
        path, [[record for record in model if record[0] == "CA"] for model in PROTEIN]
    ),
    "first.rst7": lambda path: restart(path, places(PROTEIN[0])),
    "second.rst7": lambda path: restart(path, places(PROTEIN[1])),
    "protein.pdb": lambda path: write_pdb(path, PROTEIN[:1]),
    "protein.gro": lambda path: protein_trajectory(path, [60.0, 60, 60, 90, 90, 90], step=6),
    "protein.psf": psf,
    "run.xtc": lambda path: protein_trajectory(path, [60.0, 60, 60, 90, 90, 90]),
    "more.xtc": lambda path: protein_trajectory(path, [60.0, 60, 60, 90, 90, 90], step=-1),
    "run.dcd": lambda path: protein_trajectory(path, [1.0, 1, 1, 90, 90, 90]),
    "run.nc": lambda path: protein_trajectory(path.with_suffix(".ncdf")).rename(path),
    "weights.txt": text("\n".join(str(k + 1) for k in range(2 * len(PROTEIN)))),
    "water.pdb": lambda path: write_water(path.parent),  # and water.xtc
    "melt.lammpstrj": lambda path: as_dump(path, trembling(5, 5), boxes()),
    "polymer.data": text(lammps_data(5, [(k, k + 1) for k in range(4)])),
    "polymer.lammpstrj": lambda path: as_dump(path, trembling(5, 5), boxes()),
    "colloids.gsd": lambda path: as_gsd(path, trembling(5, 5), boxes()),
    "more.gsd": lambda path: as_gsd(path, trembling(5, 5)[::-1], boxes()),
    "particles.extxyz": lambda path: as_xyz(path, trembling(5, 5), boxes()),
    "particles.h5md": lambda path: h5md(path, trembling()),
    "tracks.csv": text(tracks()),
    "spots.csv": text(spots()),
    "mosaic.csv": text(trajectories()),
    "table.txt": text(tracks(header=False)),
    "crowd.csv": text(tracks(stay=3)),
    "points.npy": lambda path: np.save(path, trembling(dimensions=7)),
    "periodic.npy": lambda path: np.save(path, trembling()),
    "sigma.npy": lambda path: np.save(path, _apart(12)),
    "pae.json": lambda path: path.write_text(
        json.dumps([{"predicted_aligned_error": (9 * _apart(12)).tolist()}])
    ),
}


def _apart(count: int) -> Floats:
    """A symmetric matrix that is 0 on its diagonal."""
    rng = np.random.default_rng(RNG_SEED)
    upper = np.triu(rng.uniform(0.1, 1.0, (count, count)), 1)
    return upper + upper.T


def test_there_are_at_least_twenty_kinds_of_files() -> None:
    assert len(COMMANDS) >= 20
    assert len(COMMANDS) == len(set(COMMANDS))


@pytest.mark.usefixtures("without_figures")
@pytest.mark.filterwarnings("ignore:.*half the periodic box")
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, marks=pytest.mark.thorough if number % 4 else ())
        for number, command in enumerate(COMMANDS)
    ],
)
def test_the_command_runs_on_a_file_of_its_kind(command: str, timme: Run, folder: Path) -> None:
    _, *arguments = shlex.split(command)
    for name in arguments:
        if name in MAKERS:
            MAKERS[name](folder / name)
    made = {path.name for path in folder.iterdir()}
    outcome = timme(*arguments)
    assert (outcome.code, outcome.err) == (0, "")
    output = arguments[arguments.index("-o") + 1]
    assert (folder / output / "result.npz").is_file()
    assert {path.name for path in folder.iterdir()} == made | {output}
