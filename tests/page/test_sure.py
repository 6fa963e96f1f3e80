"""How sure clusters are, in the page: what the library judges is what is seen and said."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable

import numpy as np
import pytest

from tests.page.browser import Page
from tests.page.conftest import Open
from tests.page.systems import energies, ensemble, hinge, swarm, tailed
from tests.page.test_figures import png_of
from tests.page.test_page import STATE, stripes_box
from timme.analysis import Analysis, Judged
from timme.hierarchy.joining import heights_to_core
from timme.output.tables import clusters_csv

TEXT = "document.querySelector('{}')?.textContent"
TABS = "[...document.querySelectorAll('[role=tab]')].map(tab => tab.textContent)"


def open_tab(page: Page, name: str) -> None:
    page.evaluate(
        "[...document.querySelectorAll('[role=tab]')]"
        f".find(tab => tab.textContent === '{name}').click()"
    )
    page.settle()


def judged_of(analysis: Analysis) -> Judged:
    part = analysis.part(Judged)
    assert part is not None
    return part


@pytest.mark.parametrize(
    ("make", "colour"),
    [(hinge, "green"), (ensemble, None), (tailed, "red")],
    ids=["hinge", "ensemble", "tailed"],
)
def test_a_banner_says_whether_there_is_data_enough(
    look: Open, make: Callable[[], Analysis], colour: str | None
) -> None:
    page, sampling = look(make()), judged_of(make()).confidence.sampling
    assert colour in {None, sampling.colour}
    assert page.evaluate("document.querySelector('.banner').dataset.colour") == sampling.colour
    said = page.evaluate(TEXT.format(".banner span"))
    assert said.lower() == f"{sampling.words}.".lower()
    assert page.evaluate(TEXT.format(".banner strong"))  # a word beside the colour


def test_nothing_is_said_of_a_result_that_was_not_judged(show: Open) -> None:
    page = show(energies())
    assert page.evaluate("document.querySelector('.banner')") is None
    assert "trusted only" not in page.evaluate("document.body.innerText")


def test_clusters_have_the_look_and_the_numbers_of_their_records(look: Open) -> None:
    analysis = tailed()
    page, part = look(analysis), judged_of(analysis)
    seen = set()
    for cutoff in analysis.shown_hierarchy.levels[::4].tolist():
        page.evaluate(f"timme.page.setCutoff({cutoff})")
        state = page.evaluate(STATE)
        records = part.record_at(analysis.shown_hierarchy, cutoff)
        bounded = page.evaluate(
            "[...document.querySelectorAll('.clusters tbody tr')].map(row => "
            "[2, 3].map(column => row.children[column].querySelector('small') !== null))"
        )
        for row, cluster, record in zip(bounded, state["clusters"], records, strict=False):
            if (
                record is not None and record.birth_interval is not None
            ):  # bounds of what is complete
                assert row == [record.birth == cluster["formed"], record.death == cluster["joined"]]
            else:
                assert row == [False, False]
            assert cluster["look"] == ("plain" if record is None else record.look)
            assert cluster["trusted"] == (record is not None and record.trusted)
            seen.add(cluster["look"])
        assert page.evaluate("timme.page.csv()") == clusters_csv(analysis, [cutoff])
    assert {"plain", "solid", "faded"} <= seen


def test_the_card_tells_a_sentence_the_numbers_and_the_intervals(look: Open) -> None:
    analysis = tailed()
    page, part = look(analysis), judged_of(analysis)
    cluster = page.evaluate(STATE)["clusters"][0]
    (record,) = (
        each
        for each in part.confidence.records
        if each.trusted and set(cluster["members"]) == set(each.sites.tolist())
    )
    page.evaluate(f"timme.page.select({cluster['members'][0]})")
    card = page.evaluate(TEXT.format(".detail"))
    assert "Trusted." in card
    assert "found again in resampled data" in card
    assert record.separation is not None
    assert f"Q {record.separation.ratio:.3g}" in card
    assert f"X {record.separation.excess:.3g}" in card
    assert record.birth_interval is not None
    low, high = (float(f"{bound:.3g}") for bound in record.birth_interval)
    complete = float(f"{record.birth:.4g}")
    at = f"{complete:g} {analysis.hierarchy.unit}".strip()
    assert f"complete at {at} ({low:g}–{high:g})" in card
    row = page.evaluate(TEXT.format(".clusters tbody tr"))
    assert f"{low:g}–{high:g}" in row
    heads = page.evaluate("[...document.querySelectorAll('.clusters th')].map(h => h.textContent)")
    assert heads[4:7] == ["Support", "Q", "X"]


def test_of_trusted_clusters_alone_all_others_are_grey_everywhere(look: Open) -> None:
    analysis = tailed()
    page = look(analysis)
    shown = analysis.shown_hierarchy
    rest = page.evaluate(
        "JSON.parse(document.getElementById('timme-scene').textContent).palettes.rest"
    )
    page.evaluate(
        "[...document.querySelectorAll('label')]"
        ".find(label => label.textContent === 'trusted only').click()"
    )
    assert page.evaluate(STATE)["trustedOnly"]
    for cutoff in shown.levels[20::15].tolist():
        page.evaluate(f"timme.page.setCutoff({cutoff})")
        records = judged_of(analysis).record_at(shown, cutoff)
        partition = shown.cut(cutoff)
        kept = [k for k, record in enumerate(records) if record is not None and record.trusted]
        state = page.evaluate(STATE)
        assert [cluster["number"] for cluster in state["clusters"]] == [k + 1 for k in kept]
        grey = np.array(page.evaluate("timme.page.atomColours()")) == rest
        inside = np.isin(partition.labels, kept)
        assert (grey == ~inside[analysis.system.site_objects]).all()
        rows = list(csv.DictReader(io.StringIO(page.evaluate("timme.page.csv()"))))
        assert [row["cluster"] for row in rows] == [str(k + 1) for k in kept]
    page.evaluate("timme.page.setTrustedOnly(false)")


def test_what_is_not_trusted_is_dimmed_in_the_dilution_plot(look: Open) -> None:
    analysis = tailed()
    page = look(analysis)
    faded = next(each for each in judged_of(analysis).confidence.records if each.look == "faded")
    middle = (faded.birth + faded.death) / 2
    low, high = page.evaluate(
        "JSON.parse(document.getElementById('timme-scene').textContent).limits"
    )
    assert low < middle < high
    left, top, width, height = stripes_box(page)
    x, y, *_ = page.box(".plot.dilution")
    page.evaluate(f"timme.page.setCutoff({middle})")
    (cluster,) = (
        each
        for each in page.evaluate(STATE)["clusters"]
        if set(each["members"]) <= set(faded.sites.tolist()) and each["look"] == "faded"
    )
    page.evaluate(f"timme.page.setCutoff({low})")  # the line is out of the way
    place = analysis.shown_hierarchy.order.tolist().index(cluster["members"][0])
    across = left - x + width * (place + 0.5) / analysis.shown_hierarchy.n_sites
    down = top - y + height * (high - middle) / (high - low)
    seen = np.round(255 * png_of(page, "dilution")[round(2 * down), round(2 * across)])
    full = np.array([int(cluster["colour"][k : k + 2], 16) for k in (1, 3, 5)])
    np.testing.assert_allclose(seen, 0.28 * full + 0.72 * 255, atol=2)
    words = set(re.findall(r">([^<>]+)</text>", page.evaluate("timme.page.svg('dilution')")))
    assert {"trusted", "found again, less sure", "not found again"} <= words


def test_the_reason_of_a_suggested_cutoff_is_said_and_no_level_may_stand_out(look: Open) -> None:
    page = look(tailed())
    assert "1 of" in page.evaluate(TEXT.format(".why"))
    assert "stiff inside and apart (silhouette" in page.evaluate(TEXT.format(".why"))
    first = page.evaluate(STATE)["cutoff"]
    page.press("ArrowUp")
    assert "s goes to the next" in page.evaluate(TEXT.format(".why"))
    page.press("s", "s")
    assert "2 of" in page.evaluate(TEXT.format(".why"))
    page.evaluate("document.querySelector('[aria-label=\"Next suggested cutoff\"]').click()")
    assert "3 of" in page.evaluate(TEXT.format(".why"))
    assert page.evaluate(STATE)["cutoff"] != first


def test_when_sites_join_is_seen_beside_sigma(look: Open) -> None:
    analysis = ensemble()
    page = look(analysis)
    names = page.evaluate(TABS)
    assert names.index("Joining") == names.index("σ matrix") + 1
    open_tab(page, "Joining")
    x, y, width, height = page.box(".matrix:not([hidden] .matrix) .area")
    page.hover(x + width / 2, y + height / 2)
    assert "σc = " in page.evaluate(
        "[...document.querySelectorAll('.matrix .hint')].find(p => p.offsetParent).textContent"
    )
    open_tab(page, "Mobility")
    x, y, width, height = page.box(".mobility .area")
    mobility = heights_to_core(analysis.shown_hierarchy)
    page.hover(x + 64, y + height / 2)
    first = float(f"{mobility[0]:.4g}")
    assert f"joins the core at {first:g} Å" in page.evaluate(TEXT.format(".mobility .hint"))
    assert page.errors == []


@pytest.mark.thorough
def test_of_very_many_sites_some_are_chosen_to_show_when_they_join(show: Open) -> None:
    page = show(swarm(1_200))
    open_tab(page, "Joining")
    said = page.evaluate(
        "[...document.querySelectorAll('.matrix .hint')].find(p => p.offsetParent).textContent"
    )
    assert "A pixel is one of about 1² pairs." in said
    assert page.errors == []
