"""The figure of one protein in several panels: no colour means two things."""

from __future__ import annotations

import numpy as np

from docs.panels import PALETTE, colours_of
from timme.compare import Overlap, overlap
from timme.hierarchy import Partition
from timme.output.colours import REST

LEFT = [0] * 6 + [1] * 4 + [2, 3, 4, 5]


def beside_the_left(labels: list[int]) -> Overlap:
    parts = (Partition(np.array(one), cutoff=1.0) for one in (LEFT, labels))
    return overlap(*parts)


def test_clusters_without_a_partner_have_colours_of_their_own_in_every_panel() -> None:
    spare = iter(PALETTE[2:])
    same = colours_of(beside_the_left(LEFT), spare)
    assert same.tolist() == [PALETTE[0]] * 6 + [PALETTE[1]] * 4 + [REST] * 4
    labels = [0] * 6 + [2, 3, 4, 5] + [1] * 4  # those that were single are together
    for own in PALETTE[2:4]:
        found = colours_of(beside_the_left(labels), spare)
        assert found.tolist() == [PALETTE[0]] * 6 + [REST] * 4 + [own] * 4
