"""What `make mutants` breaks is there to be broken, and so are the tests that should notice."""

from __future__ import annotations

from pathlib import Path

from tests.mutants.__main__ import _is_stale
from tests.mutants.listed import MUTANTS

TESTS = Path(__file__).parent


def test_every_mutant_finds_its_line() -> None:
    """A line that was moved or rewritten takes its mutant along."""
    stale = [f"{mutant.file}: {mutant.breaks}" for mutant in MUTANTS if _is_stale(mutant)]
    assert stale == []


def test_every_mutant_changes_its_line() -> None:
    assert [mutant.breaks for mutant in MUTANTS if mutant.old == mutant.new] == []


def test_every_mutant_names_tests_that_are_there() -> None:
    named = {test for mutant in MUTANTS for test in mutant.tests}
    assert [test for test in sorted(named) if not (TESTS / test).is_file()] == []


def test_no_mutant_is_listed_twice() -> None:
    breaks = [(mutant.file, mutant.old, mutant.new) for mutant in MUTANTS]
    assert len(set(breaks)) == len(breaks)
