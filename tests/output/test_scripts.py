import re
from pathlib import Path
from typing import Any

import gemmi
import numpy as np
import pytest

from tests.output.builders import particles, random_graph, residues
from timme.analysis import Analysis
from timme.output.colours import REST, colouring
from timme.output.picture import Picture, picture
from timme.output.scripts import chimerax, pymol, vmd, write_scripts
from timme.output.structures import Written, write_structures

CUTOFF = 0.03


def bonded(graph: Any) -> Analysis:
    """Molecules other than polymers: sites with bonds and no backbone."""
    analysis = residues(graph)
    sites = analysis.system.sites
    names = np.where(sites.names == "CA", "O", "H")
    return particles(graph, sites=type(sites)(names, *list_of(sites)[1:]))


def list_of(sites: Any) -> list[Any]:
    return [getattr(sites, name) for name in type(sites).__slots__]


def written(analysis: Analysis, folder: Path) -> dict[str, str]:
    structures = write_structures(analysis, folder, CUTOFF)
    paths = write_scripts(analysis, folder, CUTOFF, structures)
    return {path.suffix: path.read_text() for path in paths}


def colours_by_pymol(text: str) -> dict[int, str]:
    """Read back which B-factor has which colour."""
    rgb = dict(re.findall(r"^set_color timme_(\w+), \[(.*)\]$", text, re.MULTILINE))
    chosen = re.findall(r"^select (\w+), timme and b=(\d+)$", text, re.MULTILINE)
    assert "color timme_rest, timme" in text
    found = {}
    for name, number in chosen:
        key = name.removeprefix("cluster_")
        assert name == "rest" or f"color timme_{key}, {name}\n" in text
        found[int(number)] = as_hex(rgb[key].split(", "))
    return found


def colours_by_chimerax(text: str) -> dict[int, str]:
    chosen = re.findall(r"^name (\w+) timme & @@bfactor=(\d+)$", text, re.MULTILINE)
    colours = dict(re.findall(r"^color (\w+) (#\w{6})$", text, re.MULTILINE))
    colours.setdefault("rest", colours["timme"])
    return {int(number): colours[name] for name, number in chosen}


def colours_by_vmd(text: str) -> dict[int, str]:
    found = {}
    for rgb, chosen in re.findall(
        r"^color change rgb \d+ (.*)\n(?:mol.*\n){2}mol selection \{(.*)\}$", text, re.MULTILINE
    ):
        numbers = re.search(r"beta ([\d ]+)", chosen)
        assert numbers is not None
        for number in numbers.group(1).split():
            found[int(number)] = as_hex(rgb.split())
    macros = re.findall(r"^atomselect macro (\w+) \{beta (\d+)\}$", text, re.MULTILINE)
    assert {int(number) for _, number in macros} == set(found)
    return found


def as_hex(parts: list[str]) -> str:
    return "#" + "".join(f"{round(float(part) * 255):02x}" for part in parts)


READERS = {".pml": colours_by_pymol, ".cxc": colours_by_chimerax, ".tcl": colours_by_vmd}


@pytest.mark.parametrize("make", [particles, residues, bonded])
@pytest.mark.parametrize("suffix", READERS)
def test_every_atom_gets_the_colour_of_its_cluster(make: Any, suffix: str, tmp_path: Path) -> None:
    analysis = make(random_graph(300, 4))
    text = written(analysis, tmp_path)[suffix]
    colours = READERS[suffix](text)
    name = "clusters.pdb" if suffix == ".tcl" else "clusters.cif"
    assert name in text
    made = gemmi.read_structure(str(tmp_path / name))
    drawn = [colours[int(item.atom.b_iso)] for item in made[0].all()]
    assert (
        drawn == colouring(analysis, CUTOFF).object_colours[analysis.system.site_objects].tolist()
    )
    assert len(set(drawn)) > 2
    assert REST in drawn


def test_style_follows_what_is_drawn() -> None:
    graph = random_graph(90, 4)
    for make, style in ((particles, "particles"), (residues, "cartoon"), (bonded, "sticks")):
        analysis = make(graph)
        assert picture(analysis, colouring(analysis, CUTOFF), "x.cif").style == style


def test_pymol_draws_clusters_of_nucleic_acids_bolder_than_the_rest(tmp_path: Path) -> None:
    lines = written(residues(random_graph(300, 4)), tmp_path)[".pml"].splitlines()
    thin, bold = (
        lines.index(line)
        for line in (
            "cartoon tube, rest",
            "cartoon oval, timme and b>0 and polymer.nucleic",
        )
    )
    assert lines.index("show cartoon, timme") < thin < bold


def test_particles_are_joined_to_those_they_move_with() -> None:
    graph = random_graph(200, 4)
    analysis = particles(graph)
    drawn = picture(analysis, colouring(analysis, CUTOFF), "x.cif")
    labels = drawn.found.labels
    expected = {
        (i + 1, j + 1)
        for i, j, sigma in zip(*np.array(graph[1]).T.tolist(), graph[2], strict=True)
        if sigma <= CUTOFF and labels[i] == labels[j] >= 0
    }
    assert {(a, b) for a, b in drawn.sticks.tolist()} == expected
    assert drawn.stick_labels.tolist() == labels[drawn.sticks[:, 0] - 1].tolist()
    for text, pattern in (
        (pymol(drawn), r"^bond timme and id (\d+), timme and id (\d+)$"),
        (chimerax(drawn), r"^pbond timme & @@serial_number=(\d+) timme & @@serial_number=(\d+) "),
    ):
        assert {(int(a), int(b)) for a, b in re.findall(pattern, text, re.MULTILINE)} == expected
    listed = re.findall(r"^  (\d+) (\d+)$", vmd(drawn), re.MULTILINE)
    assert {(int(a) + 1, int(b) + 1) for a, b in listed} == expected


def test_no_stick_runs_through_a_periodic_box() -> None:
    graph = (3, [(0, 1), (1, 2)], [0.01, 0.01])
    coordinates = np.array([[0.5, 1, 1], [9.5, 1, 1], [8.5, 1, 1]])
    analysis = particles(graph, coordinates=coordinates, box=np.diag([10.0, 10.0, 0.0]))
    drawn = picture(analysis, colouring(analysis, CUTOFF), "x.cif")
    assert drawn.sticks.tolist() == [[2, 3]]


def test_sticks_are_limited_to_the_nearest() -> None:
    n_sites = 60
    pairs = [(i, j) for i in range(n_sites) for j in range(i + 1, n_sites)]
    line = np.column_stack([np.arange(n_sites), np.zeros(n_sites)])
    analysis = particles((n_sites, pairs, [0.01] * len(pairs)), coordinates=line)
    drawn = picture(analysis, colouring(analysis, CUTOFF), "x.cif")
    assert len(drawn.sticks) == 6 * n_sites
    assert np.diff(drawn.sticks, axis=1).max() <= 7


def test_without_measured_pairs_there_are_no_sticks() -> None:
    analysis = particles(random_graph(60, 4), fluctuations=None)
    assert len(picture(analysis, colouring(analysis, CUTOFF), "x.cif").sticks) == 0


def test_file_names_are_quoted() -> None:
    analysis = particles(random_graph(30, 4))
    odd = "a b[exit]'\"$x;{.cif"
    drawn: Picture = picture(analysis, colouring(analysis, CUTOFF), odd)
    load = re.search(r"^/cmd\.load\((.*), 'timme'\)$", pymol(drawn), re.MULTILINE)
    assert load is not None
    assert load.group(1) == repr(odd)
    assert r"a\ b\[exit\]\'\"\$x\;\{.cif" in vmd(drawn)
    assert 'open "a b[exit]\'\\"$x;{.cif" name timme' in chimerax(drawn)


def test_vmd_loads_mmcif_where_there_is_no_pdb(tmp_path: Path) -> None:
    analysis = particles(random_graph(30, 4))
    structures = Written((tmp_path / "clusters.cif",), ("too large",))
    text = write_scripts(analysis, tmp_path, CUTOFF, structures)[2].read_text()
    assert "clusters.cif] type pdbx" in text


def test_vmd_says_when_there_are_too_many_colours() -> None:
    analysis = particles((80, [(2 * k, 2 * k + 1) for k in range(40)], [0.01] * 40))
    palette = [f"#0000{k:02x}" for k in range(60)]
    found = colouring(analysis, CUTOFF, min_size=2, palette=palette)
    with pytest.raises(ValueError, match="shorter palette"):
        vmd(picture(analysis, found, "x.pdb"))
