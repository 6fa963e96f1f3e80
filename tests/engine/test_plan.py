"""What a thousand cores would do: the engine's own tasks, counted and never computed."""

import re
from pathlib import Path

import pytest

from benchmarks.plan import Sizes, simulate
from timme.engine.moments import pair_tiles

CORES, SITES, FRAMES, PARTNERS = 1_000, 1_000_000, 1_000_000, 50
PAIRS = SITES * PARTNERS // 2
BLOCK = 8  # frames, as the documentation says
RUNS = -(-len(pair_tiles(PAIRS)) // 24)  # of at most 24 tiles


def expected(n_frames: int) -> Sizes:
    """Count by hand: each block is read and laid out once, and measured run by run of pairs."""
    n_blocks = n_frames // BLOCK
    return Sizes(
        tasks=n_blocks * (1 + 1 + RUNS) + RUNS + 1,  # runs of pairs and the ensemble are sent once
        read=n_frames * SITES * 3 * 4,
        returned=n_blocks * PAIRS * 16,  # mean and sum of squares
        held=3 * BLOCK * SITES * 3 * 4 + 24 * 32_768 * (5 * 8 + 16),
    )


def shown(sizes: Sizes) -> list[int]:
    return [sizes.tasks, sizes.read, sizes.returned, sizes.held]


def test_a_million_sites_and_frames_are_cut_as_counted_by_hand() -> None:
    assert shown(simulate(CORES, SITES, FRAMES, PARTNERS)) == shown(expected(FRAMES))


@pytest.mark.long
def test_every_task_of_a_million_sites_and_frames_is_submitted() -> None:
    """The whole graph, none of it scaled up: some four million tasks."""
    whole = simulate(CORES, SITES, FRAMES, PARTNERS, blocks=None)
    assert shown(whole) == shown(expected(FRAMES))


def test_the_documentation_says_what_is_counted() -> None:
    page = Path(__file__).parents[2] / "docs" / "using.md"
    plan = re.search(r"For scale, a plan on paper:.*?\n\n", page.read_text("utf-8"), re.DOTALL)
    assert plan is not None
    found, few = expected(FRAMES), expected(FRAMES // 100)
    for said in (
        f"{FRAMES // BLOCK:,} blocks of {BLOCK} frames",
        f"{found.tasks / 1e6:.1f} million\ntasks",
        f"read {found.read / 1e12:.0f} TB",
        f"hold {found.held / 1e9:.1f} GB",
        f"return {found.returned / 1e12:.0f} TB, {PAIRS * 16 / 1e6:.0f} MB for every block",
        f"{few.tasks / 1e3:.0f} thousand tasks and {few.returned / 1e12:.1f} TB",
    ):
        assert said in plan[0]
