from dataclasses import replace
from pathlib import Path
from typing import Any

import gemmi
import numpy as np
import pytest

from tests.output.builders import particles, random_graph, residues
from tests.output.test_scripts import READERS
from timme.analysis import Analysis
from timme.compare import Comparison, compare
from timme.output.colours import REST
from timme.output.common import on_common_sites
from timme.output.matched_colours import cluster_colours
from timme.output.side_by_side import side_by_side, write_side_by_side


def compared(one: Analysis, other: Analysis) -> tuple[Analysis, Analysis, Comparison]:
    first, second, _ = on_common_sites(one, other)
    hierarchies = first.shown_hierarchy, second.shown_hierarchy
    return first, second, compare(*hierarchies, cutoffs=(0.03, 0.04))


def expected_colours(found: Comparison) -> list[list[str]]:
    """Colour of every common site in the first and in the second."""
    return [
        np.append(colours, REST)[np.minimum(partition.labels, len(colours))].tolist()
        for partition, colours in zip(
            (found.clusters.first, found.clusters.second), cluster_colours(found), strict=True
        )
    ]


@pytest.mark.parametrize("suffix", READERS)
def test_every_residue_has_the_colours_of_both_results(suffix: str, tmp_path: Path) -> None:
    one, other, found = compared(
        residues(random_graph(300, 4), chains="AC"), residues(random_graph(300, 8), chains="AC")
    )
    paths = write_side_by_side(one, other, found, tmp_path).paths
    assert [path.name for path in paths] == [
        f"comparison.{kind}" for kind in ("cif", "pdb", "pml", "cxc", "tcl")
    ]
    text = (tmp_path / f"comparison{suffix}").read_text()
    colours = READERS[suffix](text)
    name = "comparison.pdb" if suffix == ".tcl" else "comparison.cif"
    assert name in text
    assert "clusters.pml" not in text
    assert "clusters.tcl" not in text
    made = gemmi.read_structure(str(tmp_path / name))
    drawn = [colours[int(item.atom.b_iso)] for item in made[0].all()]
    half = len(drawn) // 2
    first, second = expected_colours(found)
    assert drawn[:half] == np.repeat(first, 3).tolist()  # atoms go with the Cα of their residue
    assert drawn[half:] == np.repeat(second, 3).tolist()
    assert [chain.name for chain in made[0]] == ["A", "C", "B", "D"]
    assert len(set(drawn)) > 3


def test_the_copy_stands_beside_and_does_not_touch(tmp_path: Path) -> None:
    one, other, found = compared(residues(random_graph(300, 4)), residues(random_graph(300, 8)))
    shown, _ = side_by_side(one, other, found)
    left, right = np.split(shown.system.coordinates, 2)
    steps = right - left
    assert np.ptp(steps, axis=0).max() < 1e-9
    assert np.count_nonzero(steps[0]) == 1
    axis = int(steps[0].argmax())
    assert left[:, axis].max() < right[:, axis].min()
    assert np.ptp(left, axis=0)[axis] == np.ptp(left, axis=0).min()
    assert shown.system.sites.bonds.max() == len(shown.system.sites) - 1
    write_side_by_side(one, other, found, tmp_path, names=("σ of Cα", "E"))
    title = (tmp_path / "comparison.pdb").read_text().splitlines()[0]
    assert title.startswith("TITLE     CLUSTERS OF SIGMA OF CA AT THE CUTOFF")


def test_partners_have_one_number() -> None:
    one, other, found = compared(particles(random_graph(200, 4)), particles(random_graph(200, 4)))
    found = compare(found.first, found.second, cutoffs=(0.03, 0.03))
    _, colouring = side_by_side(one, other, found)
    left, right = np.split(colouring.labels, 2)
    assert left.tolist() == right.tolist()
    assert colouring.sizes.tolist() == [
        2 * size for size in found.clusters.first.sizes.tolist() if size >= 3
    ]


@pytest.mark.parametrize("dimensions", [1, 2, 5])
def test_particles_move_within_their_space(dimensions: int, tmp_path: Path) -> None:
    graph = random_graph(40, 1, dimensions=2)
    one, other, found = compared(
        particles(graph, dimensions=dimensions), particles(random_graph(40, 2))
    )
    assert len(write_side_by_side(one, other, found, tmp_path).paths) == 5
    made = gemmi.read_structure(str(tmp_path / "comparison.cif"))
    assert made[0].count_atom_sites() == 80


def test_sites_not_seen_in_the_first_snapshot_are_left_out(tmp_path: Path) -> None:
    one, other, found = compared(particles(random_graph(40, 1)), particles(random_graph(40, 2)))
    places = one.system.coordinates.copy()
    places[3] = np.nan
    moved = replace(one, system=replace(one.system, coordinates=places))
    write_side_by_side(moved, other, found, tmp_path)
    assert gemmi.read_structure(str(tmp_path / "comparison.cif"))[0].count_atom_sites() == 78


def test_one_particle_is_drawn(tmp_path: Path) -> None:
    one, other, found = compared(particles((1, [], [])), particles((1, [], [])))
    assert len(write_side_by_side(one, other, found, tmp_path).paths) == 5


def test_without_coordinates_of_the_first_the_second_is_shown() -> None:
    none: Any = np.empty((30, 0))
    one, other, found = compared(
        particles(random_graph(30, 1), coordinates=none), particles(random_graph(30, 2))
    )
    shown, _ = side_by_side(one, other, found)
    assert shown.system.coordinates[:30].tolist() == other.system.coordinates.tolist()
    with pytest.raises(ValueError, match="neither of the two"):
        side_by_side(one, replace(other, system=replace(other.system, coordinates=none)), found)


def test_when_letters_run_out_there_is_no_pdb(tmp_path: Path) -> None:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrs"
    one, other, found = compared(
        residues(random_graph(300, 1), chains=letters),
        residues(random_graph(300, 2), chains=letters),
    )
    written = write_side_by_side(one, other, found, tmp_path)
    assert written.notes == (
        "no comparison.pdb, use comparison.cif: a chain name is longer than 1 letter",
    )
    assert "comparison.cif] type pdbx" in (tmp_path / "comparison.tcl").read_text()
