"""Bodies and axes in tables, figures, scripts, and superposed snapshots in files."""

import ast
import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest

import timme
from tests.motion.proteins import planted_protein
from timme.analysis import Analysis, Moved
from timme.motion import rmsf, superpose
from timme.output.arrows import body_arrows
from timme.output.body_scripts import FILES, write_body_scripts
from timme.output.ensembles import write_ensemble
from timme.output.figures import draw, figures_of
from timme.output.look import look_of
from timme.output.mode_scripts import write_mode_scripts
from timme.output.registry import tables_of_parts
from timme.output.structures import file_coordinates
from timme.synthetic import moving


@pytest.fixture(scope="module")
def made() -> Analysis:
    return timme.move(planted_protein())


def test_tables_say_what_was_found(made: Analysis) -> None:
    texts = tables_of_parts(made, look_of(made))
    rows = {name: list(csv.DictReader(io.StringIO(text))) for name, text in texts.items()}
    assert [row["body"] for row in rows["bodies.csv"]] == ["1"] * 60 + ["2"] * 40
    (motion,) = rows["motions.csv"]
    assert motion["kind"] == "hinge"
    assert float(motion["range (°)"]) == pytest.approx(40, rel=0.03)
    assert len(rows["angles.csv"]) == 20
    assert [row["bodies"] for row in rows["bodies-by-number.csv"]][:2] == ["1", "2"]


def test_figures_are_drawn_of_bodies(made: Analysis) -> None:
    assert {"bodies", "angles", "variance"} <= set(figures_of(made))
    for name in ("bodies", "angles", "variance"):
        assert draw(made, name, look_of(made)).axes


def test_an_axis_names_the_unit_that_is_known(made: Analysis) -> None:
    tracks = timme.move(moving((60, 40), 5, spans=[60.0]).ensemble.coordinates())
    told = [draw(each, "bodies", look_of(each)).axes[0].get_ylabel() for each in (made, tracks)]
    assert told == ["RMSF, body 1 still (Å)", "RMSF, body 1 still"]


def test_one_body_has_no_angles_and_says_so() -> None:
    still = timme.move(planted_protein(kind="rigid"))
    assert "angles" not in figures_of(still)
    with pytest.raises(ValueError, match="several rigid bodies"):
        draw(still, "angles", look_of(still))
    texts = tables_of_parts(still, look_of(still))
    assert "bodies.csv" in texts
    assert "angles.csv" not in texts
    (motion,) = csv.DictReader(io.StringIO(texts["motions.csv"]))
    told = {name: value for name, value in motion.items() if value}
    assert told.pop("careful").startswith("one rigid body")
    assert told == {"body": "1", "kind": "rigid"}


def test_an_arrow_lies_on_the_axis(made: Analysis) -> None:
    part = made.part(Moved)
    assert part is not None
    (arrow,) = body_arrows(part, made)
    (found,) = part.found.hinges
    along = (arrow.end - arrow.start) / np.linalg.norm(arrow.end - arrow.start)
    np.testing.assert_allclose(along, found.axis, atol=1e-9)
    np.testing.assert_allclose((arrow.end + arrow.start) / 2, found.point, atol=1e-9)
    assert arrow.width > 0


def test_scripts_draw_bodies_and_axes(made: Analysis, tmp_path: Path) -> None:
    written = {path.name: path.read_text("utf-8") for path in write_body_scripts(made, tmp_path)}
    assert written.keys() == FILES.keys()
    assert "axis_2" in written["bodies.pml"]
    assert "shape cylinder" in written["bodies.cxc"]
    assert "graphics top cylinder" in written["bodies.tcl"]
    assert "bodies.cif" in written["bodies.pml"]
    # What is drawn last draws PyMOL's camera to itself: the whole has to come after it.
    assert written["bodies.pml"].splitlines()[-2:] == ["orient timme", "zoom all"]


def cgo_shapes(text: str) -> dict[str, list[int]]:
    """Codes of the shapes in each compiled object of PyMOL, which must be complete."""
    numbers = {9: 13, 25: 1, 27: 16}  # cylinder, transparency, cone
    found = {}
    for line in re.findall(r"^/cmd\.load_cgo\((.*)\)$", text, re.MULTILINE):
        values, name = ast.literal_eval(f"({line})")
        codes = []
        while values:
            codes.append(int(values[0]))
            assert all(isinstance(value, float) for value in values[: numbers[codes[-1]] + 1])
            assert len(values) > numbers[codes[-1]]
            values = values[numbers[codes[-1]] + 1 :]
        found[name] = codes
    return found


def test_compiled_objects_of_pymol_are_complete(made: Analysis, tmp_path: Path) -> None:
    write_body_scripts(made, tmp_path)
    write_mode_scripts(made, tmp_path)
    shapes = cgo_shapes((tmp_path / "bodies.pml").read_text("utf-8"))
    assert shapes == {"axis_2": [9, 27], "axis_2_cone": [25, 27], "axis_2_arc": [9] * 12}
    (codes,) = cgo_shapes((tmp_path / "porcupine.pml").read_text("utf-8")).values()
    assert set(codes) == {27}
    assert len(codes) > 30


def test_commands_of_chimerax_are_those_it_knows(made: Analysis, tmp_path: Path) -> None:
    write_body_scripts(made, tmp_path)
    write_mode_scripts(made, tmp_path)
    place, colour = r"-?\d+\.\d+(,-?\d+\.\d+){2}", r"#[0-9a-f]{6}([0-9a-f]{2})?"
    shape = re.compile(
        rf"shape (cylinder|cone) fromPoint {place} toPoint {place} radius [\d.]+ color {colour} "
        r"name \w+"
    )
    label = re.compile(rf'2dlabels text "[^"]+" color {colour} xpos [\d.]+ ypos [\d.]+')
    lines = (tmp_path / "bodies.cxc").read_text("utf-8").splitlines()
    drawn = [line for line in lines if line.startswith(("shape", "2dlabels"))]
    assert len(drawn) == 3 + 12 + 1
    assert all(shape.fullmatch(line) or label.fullmatch(line) for line in drawn)
    bild = (tmp_path / "porcupine.bild").read_text("utf-8").splitlines()
    assert re.fullmatch(r"\.color( [\d.]+){3}", bild[0])
    assert all(re.fullmatch(r"\.cone( -?\d+\.\d+){6} 0\.35", line) for line in bild[1:])


@pytest.mark.parametrize("name", ["bodies.tcl", "porcupine.tcl"])
def test_graphics_of_vmd_have_all_their_words(made: Analysis, name: str, tmp_path: Path) -> None:
    write_body_scripts(made, tmp_path)
    write_mode_scripts(made, tmp_path)
    place = r"\{-?\d+\.\d+( -?\d+\.\d+){2}\}"
    known = (
        rf"(cylinder|cone) {place} {place} radius [\d.]+ resolution \d+",
        r"color \w+",
        r"material (Opaque|Transparent)",
        rf'text {place} "[^"]+" size [\d.]+',
    )
    lines = (tmp_path / name).read_text("utf-8").splitlines()
    drawn = [line for line in lines if line.startswith("graphics")]
    assert drawn
    for line in drawn:
        assert any(re.fullmatch(f"graphics top {words}", line) for words in known), line


def test_cones_of_vmd_have_a_molecule_of_their_own(made: Analysis, tmp_path: Path) -> None:
    # Of all that is drawn in a molecule, VMD takes the last material; its letters are ASCII.
    write_body_scripts(made, tmp_path)
    text = (tmp_path / "bodies.tcl").read_text("utf-8")
    _, axes, cones = re.split(r"^mol new$", text, flags=re.MULTILINE)
    for drawn, material in ((axes, "Opaque"), (cones, "Transparent")):
        assert re.findall(r"graphics top material (\w+)", drawn) == [material]
    assert cones.count("graphics top cone") == 1
    (label,) = re.findall(r'graphics top text .* "(.*)" size', axes)
    assert re.fullmatch(r"40 deg \+/- \d\.\d deg", label)


def test_chimerax_shows_all_that_is_drawn(made: Analysis, tmp_path: Path) -> None:
    write_body_scripts(made, tmp_path)
    assert (tmp_path / "bodies.cxc").read_text("utf-8").endswith("\nview\n")


def test_the_label_of_an_arc_lies_outside_of_the_structure(made: Analysis, tmp_path: Path) -> None:
    part = made.part(Moved)
    assert part is not None
    (arrow,) = body_arrows(part, made)
    assert arrow.spot is not None
    places = file_coordinates(made)
    away = arrow.spot - places.mean(axis=0)
    beyond = (arrow.spot - places) @ away / np.linalg.norm(away)
    assert beyond.min() > 3.9  # Å from a plane that has all atoms behind it
    write_body_scripts(made, tmp_path)
    said = (tmp_path / "bodies.pml").read_text("utf-8")
    # Quotation marks of a plain command would be part of the label.
    assert f", label='{arrow.label}')" in said
    assert "/cmd.pseudoatom('axis_2_label'" in said


def test_the_arc_is_the_way_of_the_middle_of_a_body(made: Analysis) -> None:
    part = made.part(Moved)
    assert part is not None
    (arrow,), (found,) = body_arrows(part, made), part.found.hinges
    assert arrow.arc is not None
    laid = superpose(planted_protein(), np.arange(60)).ensemble.coordinates()
    middles = laid[:, 60:].mean(axis=1)[np.argsort(found.angles)]
    # The planted angle goes through its span from one end to the other; noise is 0.1 Å / √40.
    np.testing.assert_allclose(arrow.arc[[0, -1]], middles[[0, -1]], atol=0.2)
    assert arrow.label.startswith("40°")


@pytest.mark.parametrize("kind", [".pdb", ".cif", ".xtc", ".dcd"])
def test_superposed_snapshots_are_read_back(kind: str, tmp_path: Path) -> None:
    ensemble = planted_protein(6)
    laid = superpose(ensemble, np.arange(60)).ensemble
    path = write_ensemble(laid, tmp_path / f"still{kind}")
    if kind in {".xtc", ".dcd"}:
        topology = write_ensemble(laid[:1], tmp_path / "top.pdb")
        again = timme.read(topology, path)
    else:
        again = timme.read(path)
    assert again.n_snapshots == 6
    # PDB keeps 0.001 Å, XTC 0.01 Å, DCD and mmCIF single precision or five digits.
    np.testing.assert_allclose(again.coordinates(), laid.coordinates(), atol=0.006)
    assert rmsf(again)[:60].max() < 0.5
    assert again.atoms.resids[again.site_atoms].tolist() == list(range(1, 101))


def test_other_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="snapshots are written as"):
        write_ensemble(planted_protein(2), tmp_path / "still.xyz")


def test_correlations_without_an_error_are_hollow() -> None:
    walks = np.random.default_rng(0).normal(size=(30, 12, 3)).cumsum(axis=0)
    found = timme.correlate(walks, distances=[0, 60], lags=(1, 20))
    axes = draw(found, "two-point", look_of(found)).axes[0]
    hollow = [line for line in axes.lines if line.get_markerfacecolor() == "white"]
    assert [len(np.asarray(line.get_xdata())) for line in hollow] == [0, 0, 1, 1]
