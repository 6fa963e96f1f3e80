"""Invariants of the documentation of public names."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import isfunction

import pytest

import timme

validate = pytest.importorskip("numpydoc.validate", reason="numpydoc is not installed").validate

REQUIRED = {"PR01", "PR02", "PR03", "RT03", "GL03", "SS03", "YD01"}


# Functions that users call in public modules; their other functions are for the package.
FUNCTIONS = {
    "objects": "points links bodies residues molecules groups",
    "pairs": "all within sequence nearest sharing given",
    "synthetic": "chain planted bodies elastic",
}


def public_names() -> Iterator[str]:
    """Full names of the public functions, also of those of public modules."""
    for name in timme.__all__:
        public = getattr(timme, name)
        if isfunction(public):
            yield f"{public.__module__}.{name}"
    for module, functions in FUNCTIONS.items():
        yield from (f"timme.{module}.{name}" for name in functions.split())


def test_parameters_and_results_of_public_functions_are_documented() -> None:
    wrong = {
        name: faults
        for name in public_names()
        if (faults := [text for code, text in validate(name)["errors"] if code in REQUIRED])
    }
    assert not wrong


def test_all_public_names_exist() -> None:
    assert sorted(timme.__all__) == timme.__all__ == dir(timme)
    assert all(hasattr(timme, name) for name in timme.__all__)
