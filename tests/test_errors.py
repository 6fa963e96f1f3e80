"""What belongs to another step is refused in one sentence that says what to pass."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme

ENSEMBLE = timme.synthetic.chain(20, 3)
POINTS = timme.objects.points(ENSEMBLE)
PAIRS = timme.pairs.all(POINTS)
UNTYPED: Any = timme


@cache
def sigma() -> timme.Fluctuations:
    return timme.measure(POINTS, PAIRS)


@cache
def hierarchy() -> timme.Hierarchy:
    return timme.link(sigma())


@cache
def analysis() -> timme.Analysis:
    return timme.gather(POINTS, sigma())


SLIPS: dict[str, tuple[Callable[[], object], str]] = {
    "pairs of an ensemble": (
        lambda: UNTYPED.pairs.all(ENSEMBLE),
        "timme.pairs.all needs Objects, got Ensemble: pass timme.objects.points(ensemble), or",
    ),
    "contacts of an ensemble": (
        lambda: UNTYPED.pairs.within(ENSEMBLE, 3.0),
        "timme.pairs.within needs Objects, got Ensemble",
    ),
    "objects of an array": (
        lambda: UNTYPED.objects.points(np.zeros((2, 3, 3))),
        "timme.objects.points needs Ensemble, got ndarray: pass timme.read(...)",
    ),
    "σ of an ensemble": (
        lambda: UNTYPED.measure(ENSEMBLE, PAIRS),
        "timme.measure needs Objects, got Ensemble: pass timme.objects.points(ensemble)",
    ),
    "σ of an index": (
        lambda: UNTYPED.measure(POINTS, [(0, 1)]),
        "needs Pairs, got list: pass timme.pairs.all(objects), those within a radius, or given(",
    ),
    "clusters of an ensemble": (
        lambda: UNTYPED.cluster(ENSEMBLE, PAIRS),
        "timme.cluster needs Objects, got Ensemble",
    ),
    "a link of objects": (
        lambda: UNTYPED.link(POINTS),
        "timme.link needs Fluctuations or a matrix, got Objects: pass timme.measure(objects, pairs",
    ),
    "a cutoff in quotes": (
        lambda: hierarchy().cut("1"),  # type: ignore[arg-type]
        "a cutoff is a number, got '1': pass it as 0.5",
    ),
    "no cutoff": (
        lambda: hierarchy().cut(None),  # type: ignore[arg-type]
        "a cutoff is a number, got None",
    ),
    "two cutoffs": (
        lambda: hierarchy().cut([1, 2]),  # type: ignore[arg-type]
        "a cutoff is one number, got 2: cut at one after another, [hierarchy.cut(cutoff) for",
    ),
    "cutoffs of σ": (
        lambda: UNTYPED.statistics.suggest(sigma()),
        "timme.statistics.suggest needs Hierarchy, got Fluctuations: pass timme.link(fluctuations)",
    ),
    "cutoffs of a cut": (
        lambda: UNTYPED.statistics.curves(hierarchy().cut(0.5)),
        "timme.statistics.curves needs Hierarchy, got Partition: pass the hierarchy that was cut",
    ),
    "a folder of a hierarchy": (
        lambda: UNTYPED.write(hierarchy(), "somewhere"),
        "timme.write needs Analysis, got Hierarchy: pass timme.gather(objects, hierarchy=",
    ),
    "a file of σ": (
        lambda: UNTYPED.save(sigma(), "somewhere"),
        "timme.save needs Analysis, got Fluctuations: pass timme.gather(objects, fluctuations)",
    ),
    "a page of an ensemble": (
        lambda: UNTYPED.view(ENSEMBLE),
        "timme.view needs Analysis, got Ensemble: pass what timme.analyse",
    ),
    "an analysis of a hierarchy": (
        lambda: UNTYPED.analyse(hierarchy()),
        "got Hierarchy: gather it with its objects, timme.gather(objects, hierarchy=hierarchy)",
    ),
    "an analysis of an analysis": (
        lambda: UNTYPED.analyse(analysis()),
        "timme.analyse needs snapshots, Objects or σ of pairs, got Analysis: it is analysed alread",
    ),
    "an analysis of pairs": (
        lambda: UNTYPED.analyse(PAIRS),
        "got Pairs: pass them with their objects, timme.analyse(objects, pairs=pairs)",
    ),
    "an analysis of a cut": (
        lambda: UNTYPED.analyse(hierarchy().cut(0.5)),
        "got Partition: pass what it was found in, and its cutoff as cutoff=",
    ),
    "an analysis of settings": (
        lambda: UNTYPED.analyse(timme.Settings()),
        "got Settings: pass them by their name, timme.analyse(source, settings=settings)",
    ),
    "an analysis of nothing": (
        lambda: UNTYPED.analyse(None),
        "got NoneType: pass a file, an array, or what timme.read takes besides",
    ),
    "a link of an analysis": (
        lambda: UNTYPED.link(analysis()),
        "got Analysis: it is linked already, as analysis.hierarchy; σ is in analysis.fluctuations",
    ),
    "a link of nothing": (
        lambda: UNTYPED.link(None),
        "timme.link needs Fluctuations or a matrix, got NoneType: pass timme.measure(objects, pair",
    ),
    "an overlap of analyses": (
        lambda: UNTYPED.compare.overlap(analysis(), analysis()),
        "a comparison needs clusters, got Analysis: cut what it shows, analysis.shown_hierarch",
    ),
    "an overlap of hierarchies": (
        lambda: UNTYPED.compare.overlap(hierarchy(), hierarchy()),
        "got Hierarchy: cut it, hierarchy.cut(cutoff), or compare all cutoffs by timme.compare.com",
    ),
    "a checkpoint by its path": (
        lambda: UNTYPED.analyse(ENSEMBLE, checkpoint="run.checkpoint"),
        "checkpoint= needs a Checkpoint, got str: pass timme.engine.checkpoint.Checkpoint('run.che",
    ),
    "a keyword that is misspelt": (
        lambda: UNTYPED.analyse(ENSEMBLE, cuttoff=0.5),
        "timme.analyse has no keyword cuttoff=: do you mean cutoff=?",
    ),
    "a parameter that is misspelt": (
        lambda: UNTYPED.analyse(ENSEMBLE, worker=2),
        "timme.analyse has no keyword worker=: do you mean workers=?",
    ),
    "a keyword of nothing": (
        lambda: UNTYPED.analyse(ENSEMBLE, whatever=1),
        "timme.analyse has no keyword whatever=: help(timme.analyse) tells of all",
    ),
    "a keyword of another step": (
        lambda: UNTYPED.analyse(ENSEMBLE, overwrite=True),
        "timme.analyse has no keyword overwrite=: pass it to timme.write",
    ),
    "two names of one keyword": (
        lambda: UNTYPED.analyse(ENSEMBLE, begin=1, start=1),
        "begin= is the same as start=: leave one of them out",
    ),
    "a misspelt keyword of rigidity": (
        lambda: UNTYPED.rigid(ENSEMBLE, chian="A"),
        "timme.rigid has no keyword chian=: do you mean chain=?",
    ),
    "a misspelt keyword of gathering": (
        lambda: UNTYPED.gather(POINTS, sigma(), pallette="safe"),
        "timme.gather has no keyword pallette=: do you mean palette=?",
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_gets_one_sentence_that_says_what_to_pass(
    slip: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call, said = SLIPS[slip]
    with pytest.raises(TypeError, match=re.escape(said)) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("cutoff", [1, 0.5, np.float32(0.5), np.array(0.5), np.int64(1)])
def test_any_number_is_a_cutoff(cutoff: Any) -> None:
    assert hierarchy().cut(cutoff).cutoff == float(cutoff)
