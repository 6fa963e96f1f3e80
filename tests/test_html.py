"""Everything public says in two lines, and as a small table, what it is."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme
from timme._html import Described, in_two_lines
from timme.output.structures import Written
from timme.system.atoms import Atoms
from timme.system.ensemble import Ensemble

# What users get or make; the modules of docs/api.md.
PUBLIC = (
    *("analysis", "compare", "fluctuations", "fluctuations.parts", "hierarchy", "objects", "order"),
    *("output.colours", "pairs", "rigidity", "settings", "statistics", "synthetic"),
)
OWN = {"Seen", "Setting"}  # no results, but how these are made


def public_classes() -> list[type]:
    found = {getattr(timme, name) for name in timme.__all__}
    for name in PUBLIC:
        module = importlib.import_module(f"timme.{name}")
        named = getattr(module, "__all__", [each for each in dir(module) if each[0] != "_"])
        known = [each for each in map(vars(module).get, named) if inspect.isclass(each)]
        found |= {each for each in known if each.__module__.startswith(module.__name__)}
    return sorted(
        (each for each in found if inspect.isclass(each) and dataclasses.is_dataclass(each)),
        key=lambda each: each.__name__,
    )


@pytest.mark.parametrize("kind", public_classes())
def test_every_public_result_tells_what_it_is(kind: type) -> None:
    if kind.__name__ not in OWN:
        assert issubclass(kind, Described)
        assert kind.__repr__ is Described.__repr__


@pytest.fixture(scope="module")
def made() -> list[Any]:
    ensemble = timme.synthetic.chain(2000, 3)
    objects = timme.objects.links(ensemble)
    pairs = timme.pairs.sharing(objects)
    sigma = timme.measure(objects, pairs)
    hierarchy = timme.link(sigma)
    analysis = timme.analyse(timme.synthetic.chain(30, 3).coordinates(), weights=[1.0, 2.0, 3.0])
    return [
        *(ensemble, ensemble.atoms, objects, pairs, sigma, hierarchy, hierarchy.cut(0.3)),
        *(timme.statistics.curves(hierarchy), timme.statistics.suggest(hierarchy)[0]),
        *(hierarchy.quantity, analysis, analysis.system, analysis.recipe, *analysis.parts),
        *(timme.Settings(weights=list(range(9000))), timme.RigidSettings()),
        *(ensemble.frames, ensemble.select([0, 1]).frames, ensemble[:2].frames),
        Written(tuple(Path("folder") / f"file{number}.svg" for number in range(40)), ("a note",)),
    ]


def test_two_lines_are_enough(made: list[Any]) -> None:
    for each in made:
        told = repr(each)
        assert told.startswith(f"<{type(each).__name__}")
        assert told.endswith(">")
        assert told.count("\n") <= 1
        assert " >" not in told  # where there is no unit
        assert " ," not in told
        assert max(map(len, told.splitlines())) <= 100
        assert len(each._repr_html_()) < 5000


def test_the_facts_are_told() -> None:
    ensemble = Ensemble.from_array(np.zeros((4, 2, 3)), unit="nm")
    assert repr(ensemble) == (
        "<Ensemble: snapshots 4, sites 2, dimensions 3, bonds 0, unit nm, sources memory>"
    )
    objects = timme.objects.points(ensemble)
    assert "kind points, objects 2, sites 2" in repr(objects)
    assert repr(timme.pairs.all(objects)) == (
        "<Pairs: objects 2, pairs 1, which all pairs, listed no>"
    )
    assert repr(timme.Settings()) == "<Settings: all at their defaults>"
    assert repr(timme.Settings(radius=8)) == "<Settings: radius 8>"
    assert "names 1, 2, 3, …" in repr(Atoms.unnamed(4))
    assert repr(ensemble.frames) == "<ArrayFrames: snapshots 4, sites 2, dimensions 3>"
    assert repr(timme.analyse([[0.0, 1.0], [1.0, 0.0]])) == "<Analysis: sites 2, linked by σ>"
    written = Written((Path("out/a.svg"), Path("out/b.svg")), ())
    assert repr(written) == "<Written: files 2, in out, notes none>"


def test_what_does_not_fit_is_left_out() -> None:
    told = in_two_lines("Thing", [(f"fact{number}", "x" * 20) for number in range(40)])
    assert told.count("\n") == 1
    assert told.endswith("…>")
