"""Q and X are what their definitions say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import timme
from tests import naive
from tests.confidence import reference
from timme._arrays import Ints
from timme.confidence import assess
from timme.confidence.findings import Separation
from timme.confidence.records import ClusterRecord, is_trusted
from timme.confidence.separation import (
    JudgedPairs,
    choose_held,
    draw_sides,
    excess_motion,
    pairs_to_judge,
    separate,
)
from timme.fluctuations.crossing import Singles
from timme.fluctuations.sums import sum_parts
from timme.system.ensemble import Ensemble


def separation(
    ratio: float, low: float = np.nan, n_contacts: int = 50, excess: float = 2.0
) -> Separation:
    return Separation(ratio, 1.0, 0.5, 0.9, low, n_contacts, excess)


@given(st.integers(0, 2**31))
def test_motions_of_sites_are_the_best_that_are_not_negative(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = np.array([(i, j) for i in range(6) for j in range(i + 1, 6)])
    pairs = pairs[rng.permutation(len(pairs))[:12]]
    squares = rng.exponential(size=12)
    expected = reference.site_motions(6, pairs, squares)
    crossing = np.array([[0, 5], [1, 4]])
    (found,), (sites,) = excess_motion(
        pairs, squares[None], crossing, np.array([[3.0, 5.0]]), np.zeros(6)
    )
    design = np.zeros((12, 6))
    design[np.arange(12)[:, None], pairs] += 1
    # Where several fits are equally good, what is left is the same.
    left, least = (np.sum((design @ s - squares) ** 2) for s in (sites, expected))
    assert left <= least * (1 + 1e-4) + 1e-6
    known = np.isin(crossing, pairs).all(axis=1)
    explained = sites[crossing[known]].sum(axis=1)
    if len(explained) and explained.min() > 0:
        ratios = np.array([3.0, 5.0])[known] / explained
        assert found == pytest.approx(np.median(ratios))


def test_separation_is_the_median_across_over_the_larger_inside() -> None:
    rng = np.random.default_rng(1)
    side = np.arange(24) < 10
    array = (
        rng.uniform(0, 10, (24, 3))
        + rng.normal(size=(50, 24, 3)) * np.where(side, 0.1, 0.3)[:, None]
    )
    array += np.where(side, 0.0, 1.0)[:, None] * rng.normal(size=(50, 1, 1)) * [3.0, 0, 0]
    points = timme.objects.points(Ensemble.from_array(array))
    contacts = np.array([(i, i + 1) for i in range(23)])
    split = draw_sides(side, ~side)
    index, compared = pairs_to_judge([split], contacts, 24)
    r = np.linalg.norm(array[:, index[:, 0]] - array[:, index[:, 1]], axis=2).std(axis=0)
    sums = sum_parts(points, index, [range(25), range(25, 50)])
    judged = JudgedPairs(
        index, compared, compared, r, lambda rows, times: sums.sigma(times, rows=rows)
    )
    times = np.array([[1, 1], [2, 0]])
    found = separate(split, judged, times=times, bodies=np.where(side, 0, 1))
    where = side[index].sum(axis=1)
    medians = [np.median(r[where == count]) for count in (1, 2, 0)]
    assert [found.across, found.inside, found.inside_other] == pytest.approx(medians, rel=1e-4)
    assert found.ratio == pytest.approx(medians[0] / max(medians[1:]), rel=1e-4)
    assert found.n_contacts == 1
    assert found.by_excess


def test_sites_far_from_a_split_hardly_matter_to_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rod of 1,200 sites, each in contact with 24, that bends where it is split."""
    rng = np.random.default_rng(2)
    n_sites = 1_200
    side = np.arange(n_sites) < n_sites // 2
    array = np.arange(n_sites)[:, None] * [0.3, 0, 0] + rng.uniform(0, 3, (n_sites, 3))
    array = array + rng.normal(scale=0.2, size=(40, n_sites, 3))
    array += ~side[:, None] * rng.normal(size=(40, 1, 1)) * [0.5, 0, 0]
    points = timme.objects.points(Ensemble.from_array(array))
    contacts = np.array([(i, i + k) for i in range(n_sites) for k in range(1, 13)])
    contacts = contacts[contacts[:, 1] < n_sites]
    split = draw_sides(side, ~side)
    index, compared = pairs_to_judge([split], contacts, n_sites)
    sums = sum_parts(points, index, [range(first, first + 4) for first in range(0, 40, 4)])
    asked = list[int]()

    def drawn(rows: Ints, times: Ints) -> Singles:
        asked.append(len(rows))
        return sums.sigma(times, rows=rows)

    judged = JudgedPairs(
        index, compared, compared, sums.sigma([[1] * 10])[:, 0].astype(np.float64), drawn
    )
    times = rng.multinomial(10, [0.1] * 10, size=20)
    found = list[Separation]()
    for most in (1_000, 2_000):  # then all sites are fitted in every draw
        monkeypatch.setattr("timme.confidence.separation._MOST_FITTED", most)
        found.append(separate(split, judged, times=times, bodies=np.where(side, 0, 1)))
    near, every = found
    edges_near, _, all_edges, _ = asked
    assert all_edges > 5 * edges_near
    assert near.excess == every.excess
    assert near.excess_low == pytest.approx(every.excess_low, rel=0.01)  # noise of draws is 0.1


def test_groups_with_gaps_are_as_separate_as_what_is_seen_of_them() -> None:
    rng = np.random.default_rng(5)
    first = np.arange(24) < 12
    centres = rng.uniform(0, 8, (24, 1, 3)) + np.where(first, 0.0, 7.0)[:, None, None] * [1, 0, 0]
    array = centres + rng.normal(size=(24, 3, 3)) + 0.2 * rng.normal(size=(60, 24, 3, 3))
    array[:, ~first] += 2.0 * rng.normal(size=(60, 1, 1, 1)) * [0.0, 1.0, 0.0]
    array = array.reshape(60, 72, 3)
    array[rng.random((60, 72)) < 0.08] = np.nan
    members = [range(3 * k, 3 * k + 3) for k in range(24)]
    groups = timme.objects.groups(Ensemble.from_array(array, gaps=True), members)
    near = np.linalg.norm(centres - centres[:, 0], axis=2) < 6.0
    sigma = timme.measure(groups, timme.pairs.given(groups, np.argwhere(np.triu(near, 1))))
    found = assess(groups, sigma, timme.link(sigma))
    splits = [record for record in found.records if record.parent >= 0]
    assert [record.size for record in splits] == [12, 12]
    for record, sibling in (splits, splits[::-1]):
        sides = [np.isin(np.arange(24), each.sites) for each in (record, sibling)]
        partners = draw_sides(*sides, seed=record.cluster).partners
        judged = {(int(a), int(b)) for a, b in np.concatenate([sigma.pairs, partners])}
        assert len(judged) > 2 * len(sigma.pairs)  # most are no contacts
        sigmas = {(a, b): naive.object_sigma(array, members[a], members[b]) for a, b in judged}
        expected = naive.separation(sigmas, record.sites.tolist(), sibling.sites.tolist())
        told = record.separation
        assert told is not None
        assert (told.across, told.inside, told.inside_other) == pytest.approx(expected, rel=1e-9)


def test_every_site_has_twenty_partners_at_random() -> None:
    side = np.arange(30) < 10
    split = draw_sides(side, (np.arange(30) >= 10) & (np.arange(30) < 25))
    assert split.partners.max() == 24  # no others
    count = np.bincount(split.partners.ravel(), minlength=30)[:25]
    # 20 drawn by each and about 20 by others; those drawn twice count once.
    assert count.min() >= 10
    assert count.max() <= 24


def test_many_splits_together_have_a_million_partners_at_most() -> None:
    side = np.arange(2_000) < 1_000
    few, many = (draw_sides(side, ~side, n_splits=count).partners for count in (62, 1_000))
    # 400 sites of each side draw 20 each; of a thousand splits, 25 do: hardly any pair twice.
    assert 0.98 * 16_000 < len(few) <= 16_000
    assert 0.98 * 1_000 < len(many) <= 1_000


@pytest.mark.parametrize(
    ("support", "judged", "trusted"),
    [
        (0.86, separation(1.31), True),
        (0.84, separation(5.0), False),
        (0.99, separation(1.29), False),
        (0.99, separation(5.0, low=1.1, n_contacts=4), False),
        (0.99, separation(1.0, low=1.3, n_contacts=4), True),
        (0.99, separation(1.0, low=1.3, n_contacts=5), False),
        (None, separation(1.0, low=1.3, n_contacts=0), True),
        (None, separation(5.0, low=np.nan, n_contacts=0), False),
        (0.99, None, False),
    ],
)
def test_what_is_trusted_was_found_again_and_is_separate(
    support: float | None, judged: Separation | None, trusted: bool
) -> None:
    # The bars are those of the definitions: 0.85, 1.3, and 1.2 where fewer than 5 pairs cross.
    assert is_trusted(support, judged) is trusted


@pytest.mark.parametrize(("excess", "trusted"), [(1.19, False), (1.21, True), (np.nan, True)])
def test_what_the_trembling_of_single_sites_explains_is_not_separate(
    excess: float, trusted: bool
) -> None:
    # One body has X = 1, however its sites tremble; where it is not known, Q is asked alone.
    judged = separation(3.0, low=1.0, excess=excess)
    record = ClusterRecord(1, np.arange(12), 0, 0.1, 0.3, support=0.99, separation=judged)
    assert record.trusted is trusted
    assert (record.kind == "not separate") is not trusted
    told = "as the trembling of single sites explains it (excess 1.2 ×)"
    assert (told in record.sentence("1-12")) is not trusted


@pytest.mark.parametrize(
    ("support", "sibling", "judged", "share", "trusted"),
    [
        (0.76, None, separation(1.31, excess=3.1), 0.81, True),
        (0.74, None, separation(1.31, excess=3.1), 0.81, False),
        (0.76, None, separation(1.29, excess=3.1), 0.81, False),
        (0.76, None, separation(1.31, excess=2.9), 0.81, False),
        (0.76, None, separation(1.31, excess=3.1), 0.79, False),
        (0.76, None, separation(1.31, excess=3.1), None, False),
        (0.76, None, separation(1.31, low=1.3, excess=3.1, n_contacts=4), 0.81, False),
        (0.99, 0.76, separation(1.31, excess=3.1), 0.81, True),
        (0.99, 0.74, separation(1.31, excess=3.1), 0.81, False),
        (0.99, 0.84, separation(1.31, excess=2.9), 0.81, False),
    ],
)
def test_mostly_found_again_is_enough_for_whole_bodies_that_move_much(
    support: float,
    sibling: float | None,
    judged: Separation,
    share: float | None,
    trusted: bool,
) -> None:
    # The bars are those that the page about them gives: 0.75, 3 and 0.8.
    assert is_trusted(support, judged, sibling_support=sibling, share=share) is trusted


@pytest.mark.parametrize(
    ("support", "ratio", "look", "kind"),
    [
        (0.9, 2.1, "solid", "a separate body"),
        (0.9, 1.9, "solid", "a soft part"),
        (0.9, 1.2, "hatched", "not separate"),
        (0.8, 2.1, "hatched", "a separate body"),
        (0.7, 2.1, "faded", "a separate body"),
    ],
)
def test_looks_and_words_follow_support_and_separation(
    support: float, ratio: float, look: str, kind: str
) -> None:
    record = ClusterRecord(
        1, np.arange(12), 0, 0.1, 0.3, support=support, separation=separation(ratio)
    )
    assert (record.look, record.kind) == (look, kind)


def test_contacts_that_cross_a_split_are_held_before_others() -> None:
    side = np.arange(12) < 6
    contacts = np.array([(a, b) for a in range(12) for b in range(a + 1, 12)])
    split = draw_sides(side, ~side)
    index, compared = pairs_to_judge([split], contacts, 12)
    crossing = side[index].sum(axis=1) == 1
    every = choose_held([split], index, compared, most=len(contacts))
    assert (every == compared).all()
    some = choose_held([split], index, compared, most=40)
    assert np.count_nonzero(some) == 40
    assert some[crossing].all()  # 36 of them
    few = choose_held([split], index, compared, most=20)
    assert np.count_nonzero(few) == 20
    assert crossing[few].all()
    assert not choose_held([], index, compared, most=40).any()
