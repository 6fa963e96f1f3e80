import subprocess
import sys
from functools import cache
from pathlib import Path as FilePath
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from PIL import Image

from tests.output.builders import linked, particles, random_graph, residues
from tests.page.systems import tailed
from timme import theory
from timme._arrays import Floats
from timme.analysis.judged import Judged
from timme.hierarchy import Hierarchy, Quantity
from timme.hierarchy.tree import from_forest
from timme.order import stripes
from timme.output import dilution, plots
from timme.output.axes import Places, cutoff_limits, places_of
from timme.output.colours import CORE, SAFE, family_colours
from timme.output.figures import save_figure, save_figures
from timme.output.look import Look
from timme.statistics import Curves, curves


@cache
def grown() -> Hierarchy:
    return linked(random_graph(120, 5), "Å")


@cache
def counted() -> Curves:
    return curves(grown())


def drawn_stripes(axes: Axes) -> PathCollection:
    (collection,) = (c for c in axes.collections if isinstance(c, PathCollection))
    return collection


def figure_of(axes: Axes) -> Figure:
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def test_stripes_are_dimmed_where_records_are_not_trusted_and_a_legend_says_so() -> None:
    analysis = tailed()
    hierarchy, part = analysis.shown_hierarchy, analysis.part(Judged)
    assert part is not None
    veils = dilution.veil(stripes(hierarchy), hierarchy, part.confidence)
    assert len(veils.look)
    levels = hierarchy.levels
    for cutoff in ((levels[1:] + levels[:-1]) / 2).tolist():
        labels, records = hierarchy.cut(cutoff).labels, part.record_at(hierarchy, cutoff)
        in_cluster = np.bincount(labels)[labels] > 1  # others have no stripe
        expected = np.array(
            [
                "plain" if not several or (record := records[label]) is None else record.look
                for label, several in zip(labels.tolist(), in_cluster.tolist(), strict=True)
            ]
        )[hierarchy.order]
        drawn = np.full(hierarchy.n_sites, "plain", dtype="U7")
        for veiled in np.flatnonzero((veils.low <= cutoff) & (cutoff < veils.high)):
            drawn[veils.start[veiled] : veils.stop[veiled]] = veils.look[veiled]
        assert np.array_equal(drawn, np.where(expected == "solid", "plain", expected))
    legend = plots.dilution(hierarchy, sure=part.confidence).get_legend()
    assert legend is not None
    assert legend.get_title().get_text() == "fewer than 10, and the whole: not judged"
    words = [text.get_text() for text in legend.get_texts()]
    assert words == ["trusted", "found again, less sure", "not found again"]


@pytest.mark.parametrize("by_residue", [False, True])
@pytest.mark.parametrize("min_size", [1, 3])
def test_dilution_draws_every_stripe_in_its_colour(by_residue: bool, min_size: int) -> None:
    places = Places(np.arange(120)[::-1], np.arange(120), np.full(120, "A"), "Residue")
    axes = plots.dilution(
        grown(), places=places if by_residue else None, min_size=min_size, palette=SAFE
    )
    expected = stripes(grown(), order=places.order if by_residue else None, min_size=min_size)
    collection = drawn_stripes(axes)
    paths, colours = collection.get_paths(), collection.get_facecolor()
    families = np.unique(expected.family)
    assert len(paths) == len(families)
    for family, path, colour in zip(families, paths, np.asarray(colours), strict=True):
        own = expected.family == family
        corners = np.asarray(path.vertices).reshape(-1, 5, 2)
        assert to_hex(colour) == family_colours(grown(), palette=SAFE)[family]
        assert corners[:, 0, 0].tolist() == expected.start[own].tolist()
        assert corners[:, 2, 0].tolist() == expected.stop[own].tolist()
        inner = np.isfinite(expected.low[own])
        assert corners[inner, 0, 1].tolist() == expected.low[own][inner].tolist()


def test_dilution_shows_cutoff_and_scaled_axis() -> None:
    axes = plots.dilution(grown(), cutoff=0.05, length=1.54)
    (line,) = axes.lines
    assert line.get_ydata() == [0.05, 0.05]
    (opposite,) = axes.child_axes
    figure_of(axes).draw_without_rendering()
    assert opposite.get_ylim() == pytest.approx(np.array(axes.get_ylim()) / 1.54)
    assert "1.54 Å" in opposite.get_ylabel()
    assert axes.get_ylabel() == r"$\sigma_\mathrm{c}$ (Å)"
    assert axes.get_title() == ""


def test_the_line_of_the_cutoff_has_a_halo_on_stripes_and_cuts_no_gap_into_curves() -> None:
    (on_stripes,) = plots.dilution(grown(), cutoff=0.05).lines
    assert on_stripes.get_path_effects()
    for axes in (
        plots.fraction(counted(), cutoff=0.05),
        plots.size_distribution(counted(), cutoff=0.05),
        plots.cluster_sizes(counted(), cutoff=0.05),
    ):
        assert not any(line.get_path_effects() for line in axes.lines)


def test_all_curves_have_the_line_of_the_cutoff_within_one_range() -> None:
    beyond = 2 * float(counted().cutoffs[-1])
    drawn = [
        draw(counted(), cutoff=beyond)
        for draw in (plots.fraction, plots.size_distribution, plots.cluster_sizes)
    ]
    for axes in drawn:
        assert axes.lines[-1].get_xdata() == [beyond, beyond]
        assert axes.get_xlim() == drawn[0].get_xlim()
        assert axes.get_xlim()[1] > beyond


def test_stripes_shine_through_the_halo_of_the_cutoff() -> None:
    whole = from_forest(2, np.array([[0, 1]]), np.array([0.01]))
    axes = plots.dilution(whole, min_size=2, cutoff=0.05)
    figure = figure_of(axes)
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    left, line = axes.transAxes.transform((0.2, 0.0))[0], axes.transData.transform((0, 0.05))[1]
    right = axes.transAxes.transform((0.8, 0.0))[0]
    image = np.asarray(canvas.buffer_rgba())[::-1, int(left) : int(right), :3]
    around = image[int(line) - 4 : int(line) + 5].astype(int)
    assert around.sum(axis=2).min() < 100  # the line itself
    assert around.sum(axis=2).max() < 650  # of 765, white: nowhere is the stripe cut in two


def test_many_stripes_become_an_image(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not drawn_stripes(plots.dilution(grown())).get_rasterized()
    monkeypatch.setattr(dilution, "_MOST_VECTOR_STRIPES", 10)
    assert drawn_stripes(plots.dilution(grown())).get_rasterized()


def test_residues_are_written_by_number_and_chain() -> None:
    analysis = residues(random_graph(360, 5), chains="AB", first_resid=5)
    axes = plots.dilution(analysis.shown_hierarchy, places=places_of(analysis))
    numbers = [tick.get_text() for tick in axes.get_xticklabels()]
    assert numbers == ["20", "40", "60", "20", "40", "60"]
    assert axes.get_xticks().tolist() == [15.5, 35.5, 55.5, 75.5, 95.5, 115.5]
    assert [text.get_text() for text in axes.texts] == ["A", "B"]
    assert [line.get_xdata() for line in axes.lines] == [[60, 60]]
    assert axes.get_xlabel() == "Residue number (Cα)"


def test_an_insertion_code_does_not_double_a_tick() -> None:
    places = Places(np.arange(4), np.array([9, 10, 10, 11]), np.full(4, "A"), "Residue")
    axes = plots.dilution(linked((4, [(0, 1)], [1.0])), places=places)
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["9", "10", "11"]


def test_fraction_is_the_measured_staircase_with_theory_dashed() -> None:
    def expected(cutoff: Floats) -> Floats:
        return theory.tail_fraction(theory.join_probability(cutoff))

    axes = plots.fraction(counted(), theory=expected, length=1.0)
    measured, dashed = axes.lines
    x, y = np.array(measured.get_data())
    assert measured.get_drawstyle() == "steps-post"
    assert x[1:-1].tolist() == counted().cutoffs[1:].tolist()
    assert y[:-1].tolist() == counted().large_fraction.tolist()
    assert x[0] == 0
    assert measured.get_color() == CORE
    grid, values = np.array(dashed.get_data())
    assert values == pytest.approx(expected(grid))
    assert dashed.get_linestyle() == "--"


def test_size_distribution_has_a_curve_for_each_size() -> None:
    axes = plots.size_distribution(counted())
    for line, values in zip(axes.lines, counted().size_fractions, strict=True):
        assert np.array(line.get_ydata())[:-1].tolist() == values.tolist()
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [f"$r$ = {r}" for r in range(1, 6)]


def test_the_legend_lies_beside_the_axes() -> None:
    axes = plots.cluster_sizes(counted(), cutoff=0.05)
    figure_of(axes).draw_without_rendering()
    legend = axes.get_legend()
    assert legend is not None
    assert legend.get_window_extent().x0 >= axes.get_window_extent().x1
    for line, values in zip(
        axes.lines, (counted().largest, counted().mean_size, counted().n_clusters), strict=False
    ):
        assert np.array(line.get_ydata())[:-1].tolist() == values.tolist()


def test_late_joiners_do_not_press_the_plot_together() -> None:
    n_sites = 100
    heights = [0.01 * k for k in range(1, n_sites - 2)] + [50.0, 90.0]
    hierarchy = linked((n_sites, [(0, k + 1) for k in range(n_sites - 1)], heights))
    low, high = cutoff_limits(curves(hierarchy))
    assert low == 0
    assert 0.97 < high < 1.3
    assert cutoff_limits(curves(hierarchy), cutoff=60.0)[1] > 60


@pytest.mark.parametrize(
    ("heights", "top"),
    [
        ([1.0] * 199 + [10.0], 1.25),  # one molecule of a drop that left it
        ([1.0] * 199 + [1.9], 1.05 * 1.9),
        ([1.0] * 20 + [10.0], 1.05 * 10.0),  # one residue of few is told
        ([0.0] * 199 + [3.0], 1.05 * 3.0),
        ([0.0, 0.0], 1.05),
        ([np.inf], 1.05),
    ],
)
def test_one_site_in_a_hundred_does_not_press_the_mobility_of_all_together(
    heights: list[float], top: float
) -> None:
    assert plots.mobility(np.array(heights)).get_ylim() == pytest.approx((0.0, top))


def test_negative_heights_and_their_name_are_drawn() -> None:
    parents, heights = np.array([3, 3, 4, 4, -1]), np.array([-4.0, -1.0])
    energies = Hierarchy(parents, heights, Quantity("energy", unit="kcal/mol"))
    axes = plots.dilution(energies, min_size=1, length=1.54)
    assert axes.get_ylabel() == "energy cutoff (kcal/mol)"
    assert axes.get_ylim()[0] < -4
    assert not axes.child_axes


@pytest.mark.parametrize("n_sites", [1, 3])
def test_a_hierarchy_without_levels_is_drawn(n_sites: int) -> None:
    hierarchy = linked((n_sites, [], []))
    for axes in (plots.dilution(hierarchy, min_size=1), plots.fraction(curves(hierarchy))):
        figure_of(axes).draw_without_rendering()


def test_plots_draw_on_given_axes() -> None:
    figure = Figure()
    first, second, third, fourth = (figure.add_subplot(2, 2, k) for k in range(1, 5))
    assert plots.fraction(counted(), ax=first) is first
    assert plots.size_distribution(counted(), ax=second) is second
    assert plots.cluster_sizes(counted(), ax=third) is third
    assert plots.dilution(grown(), ax=fourth) is fourth


def test_all_figures_are_saved_valid_and_the_same_each_time(tmp_path: FilePath) -> None:
    analysis = particles(random_graph(60, 1))
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
    first, second = (save_figures(analysis, folder, Look(cutoff=0.05)) for folder in folders)
    names = ["dilution", "fraction", "size-distribution", "cluster-sizes", "sigma-matrix"]
    assert [path.name for path in first] == [
        f"{n}.{kind}" for n in names for kind in ("svg", "png")
    ]
    for path, again in zip(first, second, strict=True):
        assert path.read_bytes() == again.read_bytes()
        if path.suffix == ".svg":
            assert ET.fromstring(path.read_text()).tag.endswith("svg")
        else:
            with Image.open(path) as image:
                assert image.width >= 1000
    assert sorted(path.name for path in folders[0].iterdir()) == sorted(p.name for p in first)


def test_without_measured_pairs_there_is_no_matrix(tmp_path: FilePath) -> None:
    analysis = particles(random_graph(30, 1), fluctuations=None)
    assert not any("matrix" in path.name for path in save_figures(analysis, tmp_path, Look()))


def test_saving_as_pdf_works_too(tmp_path: FilePath) -> None:
    path = save_figure(figure_of(plots.fraction(counted())), tmp_path / "fraction.pdf")
    assert path.read_bytes().startswith(b"%PDF")


def test_importing_plots_does_not_import_matplotlib() -> None:
    code = (
        "import sys, timme.output.plots, timme.output.figures, timme.output.structures, "
        "timme.output.scripts, timme.output.tables; "
        "sys.exit('matplotlib' in sys.modules or 'gemmi' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_dilution_may_borrow_its_colours() -> None:
    others = family_colours(grown())[::-1]
    axes = plots.dilution(grown(), colours=others)
    colours = [to_hex(colour) for colour in np.asarray(drawn_stripes(axes).get_facecolor())]
    assert colours == others[np.unique(stripes(grown(), min_size=3).family)].tolist()


def test_flexibility_is_drawn_above_and_below_zero_along_the_places() -> None:
    index = np.array([0.5, np.nan, -0.25])
    places = Places(np.array([2, 0, 1]), np.arange(1, 4), np.full(3, "A"), "Residue")
    above, below = plots.flexibility(index, places=places).patches
    assert above.get_data().values.tolist() == [0.0, 0.5, 0.0]  # type: ignore[attr-defined]
    assert below.get_data().values.tolist() == [-0.25, 0.0, 0.0]  # type: ignore[attr-defined]
