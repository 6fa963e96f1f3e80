"""The three-dimensional view: what is drawn of sites and sticks, in boxes and in cartoons."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.ensembles import moved, places
from tests.page.browser import Page
from tests.page.conftest import Open
from tests.page.systems import WALL, hinge, polymer_in_a_box, swarm, wrapped
from tests.readers.builders import atom, peptide, write_pdb
from timme.analysis import Analysis
from timme.workflow import analyse

KEEP = "document.querySelector('.film input[type=checkbox]')"


def seen_at(page: Page, sites: list[int]) -> np.ndarray:
    """Where sites are on the screen, in pixels of the view."""
    return np.array(page.evaluate(f"{sites}.map(site => timme.page.atomPosition(site))"))


# ---- periodic boxes ------------------------------------------------------------------------------


@pytest.mark.parametrize("bonded", [True, False])
@pytest.mark.parametrize("frame", [0, pytest.param(1, marks=pytest.mark.thorough), 3])
def test_no_stick_crosses_the_box_in_the_snapshot_in_view(
    show: Open, *, bonded: bool, frame: int
) -> None:
    analysis = wrapped(bonded=bonded)
    page = show(analysis)
    page.evaluate("timme.page.setStyle('sticks')")
    page.press("End")
    page.evaluate(f"timme.page.setFrame({frame})")
    assert analysis.system.film is not None
    assert analysis.fluctuations is not None
    pairs = analysis.fluctuations.pairs
    steps = np.abs(np.diff(analysis.system.film[frame][pairs], axis=1)[:, 0])
    inside = (steps < WALL / 2).all(axis=1)
    assert sorted(page.evaluate("timme.page.sticks()")) == pairs[inside].tolist()
    assert inside.all() == (frame == 0)
    page.evaluate("timme.page.setFrame(0)")
    assert len(page.evaluate("timme.page.sticks()")) == len(pairs)


def test_a_polymer_that_a_box_leaves_whole_can_be_kept_in_place(show: Open) -> None:
    analysis = polymer_in_a_box(1e3)
    page = show(analysis)
    assert not page.evaluate(f"{KEEP}.disabled")
    core = np.flatnonzero(analysis.hierarchy.cut(0.04).labels == 0).tolist()
    first = seen_at(page, core)
    page.evaluate("timme.page.setFrame(2)")
    moved_by = np.abs(seen_at(page, core) - first).max()
    page.evaluate(f"{KEEP}.click()")
    left = np.abs(seen_at(page, core) - first).max()
    # Bodies are stiff but for their jitter, which is small beside how far they swing.
    assert left < 0.1 * moved_by


def test_what_the_box_breaks_cannot_be_kept_in_place_and_says_so(show: Open) -> None:
    page = show(wrapped(bonded=True))
    broken, whole = _broken_and_whole(wrapped(bonded=True))
    for shown, disabled in ((broken, True), (whole, False)):
        page.evaluate(f"timme.page.select({shown})")
        assert page.evaluate(f"{KEEP}.disabled") is disabled
        title = page.evaluate(f"{KEEP}.closest('label').title")
        assert ("periodic box" in title) is disabled


def _broken_and_whole(analysis: Analysis) -> tuple[int, int]:
    """One site of a pair that is apart in some snapshot, and one of a pair that never is."""
    assert analysis.system.film is not None
    apart = np.abs(analysis.system.film[:, ::2] - analysis.system.film[:, 1::2])
    crossing = (apart > WALL / 2).any(axis=(0, 2))
    return 2 * int(np.flatnonzero(crossing)[0]), 2 * int(np.flatnonzero(~crossing)[0])


def test_the_view_opens_at_the_sites_not_at_an_empty_box(show: Open) -> None:
    sites = list(range(90))
    unjudged = dataclasses.replace(hinge(), parts=())  # without a banner, as the other
    alone = np.ptp(seen_at(show(unjudged), sites), axis=0)
    boxed = np.ptp(seen_at(show(polymer_in_a_box(1e3)), sites), axis=0)
    assert boxed == pytest.approx(alone, rel=1e-3)  # single precision and rounding of the camera


def test_who_is_not_seen_in_a_snapshot_is_not_drawn_in_it(show: Open) -> None:
    """Of four who go together, one comes late and one leaves early; most are there in between."""
    tracks = np.arange(4.0)[:, None] + np.linspace(0.0, 6.0, 12)[:, None, None] * [1.0, 0.2]
    tracks = tracks + np.random.default_rng(0).normal(0.0, 0.01, tracks.shape)
    tracks[:5, 0], tracks[7:, 3] = np.nan, np.nan
    page = show(analyse(tracks, gaps=True, pairs="all", min_overlap=2))
    assert page.evaluate("document.querySelector('.film .count').textContent") == "6 of 12"
    for frame in (0, 4, 5, 6, 7, 11):
        page.evaluate(f"timme.page.setFrame({frame})")
        drawn = np.array(page.evaluate("timme.page.atomSizes()")) > 0
        assert drawn.tolist() == np.isfinite(tracks[frame, :, 0]).tolist()
        sticks = {site for pair in page.evaluate("timme.page.sticks()") for site in pair}
        assert sticks <= set(np.flatnonzero(drawn).tolist())


def test_a_room_between_two_walls_is_in_the_middle_of_the_view(show: Open) -> None:
    """Its box is open across the walls, and says nothing of where sites are along that way."""
    places = np.random.default_rng(1).uniform(0.0, [10.0, 10.0, 40.0], (5, 60, 3))
    page = show(analyse(places, box=[10.0, 10.0, 0.0], radius=4.0))
    seen = seen_at(page, list(range(60)))
    stage = "document.querySelector('.stage')"
    size = np.array(page.evaluate(f"[{stage}.clientWidth, {stage}.clientHeight]"))
    assert np.abs(seen.mean(axis=0) - size / 2).max() < 0.1 * size.min()


def test_the_view_does_not_mind_how_far_from_the_origin_sites_are(show: Open) -> None:
    near = swarm(60)
    assert near.system.film is not None
    far = swarm(60, coordinates=near.system.coordinates + 1e9, film=near.system.film + 1e9)
    sites = list(range(60))
    expected = seen_at(show(near), sites)
    # A double at 1e9 is known to 1e-7, where a neighbour is 1 away: far less than a pixel.
    assert seen_at(show(far), sites) == pytest.approx(expected, abs=0.1)


# ---- cartoons ------------------------------------------------------------------------------------


def _written(folder: Path, records: list[Any], **options: Any) -> Analysis:
    rng = np.random.default_rng(3)
    shape = (len(records), 3)
    models = [
        moved(records, places(records) + rng.normal(scale=0.05, size=shape)) for _ in range(4)
    ]
    path = write_pdb(folder / "models.pdb", models)
    return analyse(path, select="all", show="all", pairs="all", **options)


def test_a_cartoon_hides_the_atoms_of_ribbons_and_no_others(show: Open, tmp_path: Path) -> None:
    names = ("PA", "O5'", "C5'", "C4'", "O4'", "C3'", "O3'")
    ligand = [
        atom(name, 50, (1.4 * k, 20.0, 0.7 * (k % 2)), resname="ATP")
        for k, name in enumerate(names)
    ]
    ion = atom("CA", 60, (0.0, -20.0, 0.0), resname="CA", element="CA")
    analysis = _written(tmp_path, [*peptide(n_residues=6), *ligand, ion])
    page = show(analysis)
    assert page.evaluate("timme.page.state().style") == "cartoon"
    page.wait("timme.page.atomSizes().includes(0)")
    hidden = np.array(page.evaluate("timme.page.atomSizes()")) == 0
    assert hidden.tolist() == (analysis.system.sites.resnames == "ALA").tolist()
    joined = {site for pair in page.evaluate("timme.page.sticks()") for site in pair}
    assert set(np.flatnonzero(analysis.system.sites.resnames == "ATP").tolist()) <= joined


def test_a_residue_without_its_oxygen_is_part_of_the_ribbon(show: Open, tmp_path: Path) -> None:
    whole = peptide(n_residues=8)
    lacking = [one for one in whole if not (one[0] == "O" and one[4] in {4, 8})]
    assert len(lacking) == len(whole) - 2
    page = show(_written(tmp_path, lacking))
    page.wait("timme.page.atomSizes().includes(0)")
    assert set(page.evaluate("timme.page.atomSizes()")) == {0}
    page.evaluate("timme.page.setFrame(2)")
    assert page.errors == []


def test_a_peptide_too_short_for_a_ribbon_is_drawn_as_sticks(show: Open, tmp_path: Path) -> None:
    analysis = _written(tmp_path, peptide(n_residues=3))
    page = show(analysis)
    page.evaluate("new Promise(done => setTimeout(done, 500))")  # time for a cartoon to be made
    assert all(size > 0 for size in page.evaluate("timme.page.atomSizes()"))
    assert len(page.evaluate("timme.page.sticks()")) == len(analysis.system.sites.bonds)
    assert page.errors == []
