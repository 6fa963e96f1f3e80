"""What heights are travels with the hierarchy: a new quantity needs no change anywhere else."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme
from tests.output.builders import Graph, fluctuations, particles, random_graph
from timme.analysis import Analysis
from timme.hierarchy import SIGMA, Hierarchy, Quantity, cluster, grow, link
from timme.hierarchy.quantity import as_quantity
from timme.output import matrices, plots
from timme.output.colours import colouring
from timme.output.scene import scene
from timme.output.structures import title
from timme.output.tables import hierarchy_json, levels_csv
from timme.statistics import curves, suggest
from timme.workflow import summary

GRAPH: Graph = random_graph(40, 3)
REST = Quantity(
    "ρ", unit="nm", words="rest of a rigid body", cutoff="ρc", clusters="bodies", is_length=True
)


def resting(quantity: Quantity = REST, **changes: Any) -> Analysis:
    """Particles joined by a height that nothing in the library knows."""
    linked = link(fluctuations(GRAPH), quantity=quantity)
    return particles(GRAPH, hierarchy=linked, n_snapshots=0, **changes)


def test_a_symbol_alone_makes_a_quantity() -> None:
    assert as_quantity("σ") is SIGMA
    assert as_quantity("PAE", "Å") == Quantity("PAE", unit="Å")
    assert as_quantity(REST) is REST
    assert as_quantity(REST, "µm").unit == "µm"


def test_what_is_left_out_is_said_by_the_symbol() -> None:
    plain = Quantity("PAE")
    assert (plain.words, plain.cutoff, plain.cutoff_name) == ("PAE", "PAE", "PAE cutoff")
    assert (SIGMA.cutoff_name, REST.cutoff_name) == ("σc", "ρc")
    with pytest.raises(ValueError, match="needs a symbol"):
        Quantity("")


@pytest.mark.parametrize(
    ("quantity", "text"),
    [
        (REST, "ρc = 0.5 nm (ρc/a = 0.25)"),
        (SIGMA, "σc = 0.5 (σc/a = 0.25)"),
        (Quantity("E", unit="kcal/mol"), "E = 0.5 kcal/mol"),
    ],
)
def test_only_lengths_are_divided_by_a_length(quantity: Quantity, text: str) -> None:
    assert quantity.cutoff_text(0.5, 2.0) == text


def test_heights_are_sigma_unless_something_else_is_said() -> None:
    points = timme.objects.points(timme.synthetic.chain(5))
    made: tuple[Hierarchy, ...] = (
        cluster(points, timme.pairs.all(points)),
        link([[0, 1], [1, 0]]),
        grow(2, np.array([[0, 1]]), np.array([1.0])),
        Hierarchy(np.array([2, 2, -1]), np.array([1.0])),
    )
    assert {hierarchy.quantity for hierarchy in made} == {SIGMA}


def test_a_quantity_stays_with_what_is_shown_and_counted() -> None:
    made = resting(shown=np.arange(0, 40, 2))
    assert made.shown_hierarchy.quantity is made.hierarchy.quantity is REST
    assert curves(made.shown_hierarchy).quantity is REST
    assert f">{REST.symbol}</th>" in made.hierarchy._repr_html_()


def test_a_new_quantity_is_on_the_axes() -> None:
    made = resting()
    axes = plots.dilution(made.hierarchy, length=2.0)
    assert axes.get_ylabel() == r"$ρ_\mathrm{c}$ (nm)"
    (opposite,) = axes.child_axes
    assert opposite.get_ylabel() == r"$ρ_\mathrm{c}\,/\,a$   ($a$ = 2 nm)"
    measured = matrices.sigma_matrix(fluctuations(GRAPH, "nm"), quantity=REST)
    bar = measured.images[0].colorbar
    assert bar is not None
    assert bar.ax.get_ylabel() == "$ρ$ (nm)"


def test_a_new_quantity_of_several_letters_is_written_as_words() -> None:
    axes = plots.dilution(resting(Quantity("rest $", unit="Å", is_length=True)).hierarchy, length=2)
    assert axes.get_ylabel() == r"rest \$ cutoff (Å)"


def test_a_new_quantity_is_in_tables_and_words() -> None:
    made = resting(length=2.0)
    assert json.loads(hierarchy_json(made))["quantity"] == "ρ"
    assert levels_csv(curves(made.hierarchy)).startswith("cutoff (nm),")
    found = colouring(made, 0.1)
    assert title(made, found) == "Bodies at the cutoff 0.1 nm"
    cutoffs = [value for name, value in summary(made) if name in {"cutoffs", ""}]
    assert cutoffs
    assert all(text.startswith("ρc = ") and " nm (ρc/a = " in text for text in cutoffs)


def test_a_new_quantity_is_in_the_scene() -> None:
    made = resting()
    shown = scene(made, suggest(made.shown_hierarchy))
    assert shown["quantity"] == {
        "symbol": "ρ",
        "unit": "nm",
        "words": "rest of a rigid body",
        "cutoff": "ρc",
        "cutoffName": "ρc",
        "clusters": "bodies",
        "isLength": True,
    }


def test_a_new_quantity_is_stored(tmp_path: Path) -> None:
    timme.save(resting(), tmp_path / "rest.npz")
    assert timme.load(tmp_path / "rest.npz").hierarchy.quantity == REST


@pytest.mark.usefixtures("blank_figures")
def test_a_new_quantity_is_written_with_a_whole_result(tmp_path: Path) -> None:
    written = timme.write(resting(), tmp_path / "out")
    names = {path.name for path in written.paths}
    assert {"dilution.svg", "sigma-matrix.png", "clusters.pml", "levels.csv"} <= names
    assert "Bodies at the cutoff" in (tmp_path / "out" / "clusters.pml").read_text()
