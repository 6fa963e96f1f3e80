import itertools
import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.compare.reference import (
    Labels,
    close,
    clusters_of,
    entropy,
    naive_rand,
    naive_variation,
    partitions,
)
from timme.compare import overlap


@given(partitions(2))
def test_both_measures_agree_with_the_slow_reference(given: list[Labels]) -> None:
    found = overlap(*given)
    assert found.rand == close(naive_rand(*given))
    assert found.variation == close(naive_variation(*given))
    joint = entropy(list(zip(*given, strict=True)))
    assert found.normalised_variation == close(found.variation / joint if joint else 0.0)


@given(partitions(2), st.integers(1, 4))
def test_clusters_are_compared_as_sets(given: list[Labels], min_size: int) -> None:
    found = overlap(*given, min_size=min_size)
    one, other = (clusters_of(labels) for labels in given)
    expected = {
        (i, j): (len(a & b), len(a & b) / len(a | b))
        for (i, a), (j, b) in itertools.product(enumerate(one), enumerate(other))
        if a & b
    }
    listed = zip(found.shared.tolist(), found.jaccard.tolist(), strict=True)
    keys = [(int(i), int(j)) for i, j in found.pairs]
    assert dict(zip(keys, listed, strict=True)) == expected
    for side, best in enumerate((found.first_best, found.second_best)):
        assert found.pairs[best, side].tolist() == list(range(len((one, other)[side])))
        for label, pair in enumerate(best.tolist()):
            of_label = [value[1] for key, value in expected.items() if key[side] == label]
            assert found.jaccard[pair] == max(of_label)


@given(partitions(2), st.integers(1, 4))
def test_partners_are_one_to_one_and_share_as_much_as_is_left(
    given: list[Labels], min_size: int
) -> None:
    found = overlap(*given, min_size=min_size)
    matched = {(int(row), column) for column, row in enumerate(found.partners) if row >= 0}
    assert len({row for row, _ in matched}) == len(matched)
    shared = dict(zip(map(tuple, found.pairs.tolist()), found.shared.tolist(), strict=True))
    for (row, column), count in shared.items():
        large = found.first.sizes[row] >= min_size and found.second.sizes[column] >= min_size
        rivals = [pair for pair in matched if pair[0] == row or pair[1] == column]
        if large:  # whoever is not matched lost against a pair that shares as much or more
            assert any(shared[rival] >= count for rival in rivals)
        else:
            assert (row, column) not in matched


@given(partitions(2))
def test_swapping_the_two_changes_nothing(given: list[Labels]) -> None:
    forth, back = overlap(*given), overlap(*given[::-1])
    assert forth.rand == close(back.rand)
    assert forth.variation == close(back.variation)
    assert sorted(map(tuple, forth.pairs.tolist())) == sorted(
        (row, column) for column, row in back.pairs.tolist()
    )


@given(partitions(2), st.randoms(use_true_random=False))
def test_names_of_clusters_and_order_of_sites_do_not_matter(
    given: list[Labels], shuffle: random.Random
) -> None:
    first, second = given
    new_names = list(range(-5, 20))
    shuffle.shuffle(new_names)
    sites = list(range(len(first)))
    shuffle.shuffle(sites)
    expected = overlap(first, second)
    renamed = overlap([new_names[label] for label in first], second)
    moved = overlap([first[site] for site in sites], [second[site] for site in sites])
    for found in (renamed, moved):
        assert (found.rand, found.variation) == (close(expected.rand), close(expected.variation))


@given(partitions(1), st.randoms(use_true_random=False))
def test_equal_partitions_agree_wholly(given: list[Labels], shuffle: random.Random) -> None:
    (labels,) = given
    names = list(range(100))
    shuffle.shuffle(names)
    found = overlap(labels, [names[label] for label in labels], min_size=1)
    assert (found.rand, found.variation, found.normalised_variation) == (1.0, 0.0, 0.0)
    assert (found.jaccard == 1).all()
    assert found.partners.tolist() == list(range(len(found.partners)))


@given(partitions(2))
def test_measures_stay_within_their_bounds(given: list[Labels]) -> None:
    found = overlap(*given)
    equal = clusters_of(given[0]) == clusters_of(given[1])
    assert -1 <= found.rand <= 1
    assert (found.rand == 1) == equal
    assert 0 <= found.variation <= math.log(len(given[0])) + 1e-12
    assert (found.variation < 1e-12) == equal
    assert 0 <= found.normalised_variation <= 1


@given(partitions(3, max_sites=8))
def test_the_variation_of_information_is_a_metric(given: list[Labels]) -> None:
    first, second, third = given
    direct, there, on = overlap(first, third), overlap(first, second), overlap(second, third)
    for measure in ("variation", "normalised_variation"):
        detour = getattr(there, measure) + getattr(on, measure)
        assert getattr(direct, measure) <= detour + 1e-12


def test_unrelated_partitions_agree_as_chance_would_have_it() -> None:
    rng = np.random.default_rng(1)
    values = [overlap(*rng.integers(0, 5, (2, 200))).rand for _ in range(200)]
    # The mean of 200 values whose expectation is 0, within four standard errors.
    assert abs(np.mean(values)) < 4 * np.std(values) / math.sqrt(200)


def test_a_textbook_example() -> None:
    # Hubert & Arabie's form on the table [[2, 1], [0, 3]]: 4 of 15 pairs in both, 6 and 7 in each.
    found = overlap([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1])
    assert found.rand == close((4 - 6 * 7 / 15) / ((6 + 7) / 2 - 6 * 7 / 15))
    assert found.variation == close(
        entropy([0, 0, 1, 2, 2, 2]) * 2 - entropy([0] * 3 + [1] * 3) - entropy([0] * 2 + [1] * 4)
    )


@pytest.mark.parametrize("n_sites", [2, 7])
def test_degenerate_partitions_are_defined(n_sites: int) -> None:
    whole, single = [0] * n_sites, list(range(n_sites))
    assert overlap(whole, whole).rand == 1
    assert overlap(single, single).rand == 1
    apart = overlap(whole, single)
    assert (apart.rand, apart.normalised_variation) == (0.0, 1.0)
    assert apart.variation == close(math.log(n_sites))


def test_a_single_site_agrees_with_itself() -> None:
    found = overlap([3], [8])
    assert (found.rand, found.variation, found.normalised_variation) == (1.0, 0.0, 0.0)


def test_other_numbers_of_sites_are_refused_with_the_remedy() -> None:
    with pytest.raises(ValueError, match=r"got 3 and 4: .*common_sites"):
        overlap([0, 0, 1], [0, 0, 1, 1])


@pytest.mark.parametrize("labels", [[], [0.5, 1.0], [[0, 1], [1, 0]], ["a", "b"]])
def test_labels_must_be_whole_numbers(labels: Any) -> None:
    with pytest.raises(ValueError, match="a whole number for each site"):
        overlap(labels, labels)
