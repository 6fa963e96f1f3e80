"""How sure a run is does not depend on where snapshots are, nor on how the work is carried."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme
from tests.conftest import MakeUniverse
from tests.killing import KilledError, kill_at
from timme._arrays import Coordinates
from timme.analysis import Analysis, Judged, summary
from timme.engine.checkpoint import Checkpoint
from timme.synthetic import FAMILIES
from timme.system import ensemble
from timme.system.ensemble import Ensemble

KINDS: dict[str, dict[str, Any]] = {
    "contacts": {"objects": "points", "pairs": "contact", "radius": 10.0},
    "all pairs": {"objects": "points", "pairs": "all"},
    "bodies": {"objects": "bodies", "pairs": "contact", "radius": 10.0, "min_bonds": 0},
    "links": {"objects": "links", "pairs": "contact", "radius": 10.0, "min_bonds": 0},
    "replicas": {"objects": "points", "pairs": "all", "replicas": [20, 30]},
}


def hinged() -> Coordinates:
    """Two bodies on a hinge, in single precision, as files have them."""
    return FAMILIES["hinge 15° + tail"](50, 3).ensemble.coordinates().astype(np.float32)


def chained(array: Coordinates) -> Ensemble:
    """Sites with bonds along the chain, of which bodies and links are made."""
    n_sites = array.shape[1]
    bonds = np.column_stack([np.arange(n_sites - 1), np.arange(1, n_sites)])
    return Ensemble.from_array(array, atoms=timme.Atoms.unnamed(n_sites, bonds=bonds))


def bits(analysis: Analysis) -> dict[str, bytes]:
    """All that is told of how sure a result is."""
    part = analysis.part(Judged)
    assert part is not None
    assert part.confidence.draws is not None
    arrays = part.to_arrays() | {"times": part.confidence.draws.times}
    return {name: np.asarray(values).tobytes() for name, values in arrays.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_an_interruption_anywhere_changes_no_bit_of_it(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ensemble, "_BLOCK_FRAMES", 25)  # so that there is something in between
    source = chained(hinged())
    whole = bits(timme.analyse(source, workers=1, **KINDS[kind]))
    n_killed = 0
    for call in count(1):
        path = tmp_path / f"{call}.checkpoint"
        try:
            with Checkpoint(path, interval=0.0) as checkpoint:
                watched: dict[str, Any] = {
                    "progress": kill_at(call),
                    "checkpoint": checkpoint,
                    "workers": 1,
                }
                timme.analyse(source, **watched, **KINDS[kind])
            break
        except KilledError:
            n_killed += 1
        with Checkpoint(path, resume=True, interval=0.0) as checkpoint:
            found = timme.analyse(source, workers=1, checkpoint=checkpoint, **KINDS[kind])
        assert bits(found) == whole
    assert n_killed > 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", [".dcd", ".xtc"])
def test_what_is_read_from_a_file_is_as_sure_as_what_is_in_memory(
    kind: str, suffix: str, tmp_path: Path, make_universe: MakeUniverse
) -> None:
    path = tmp_path / f"hinged{suffix}"
    make_universe(hinged()).atoms.write(path, frames="all")
    read = timme.read(path, bonds="none")
    held = chained(read.coordinates())
    # The same atoms, and frames that are read when they are needed.
    streamed = Ensemble(read.frames, held.atoms, held.site_atoms)
    assert not streamed.frames.in_memory
    one, other = (timme.analyse(source, **KINDS[kind]) for source in (streamed, held))
    assert bits(one) == bits(other)


@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_threads_says_the_same(kind: str) -> None:
    source = chained(hinged())
    one, three = (timme.analyse(source, workers=n, **KINDS[kind]) for n in (1, 3))
    assert bits(one) == bits(three)


def test_a_ready_made_matrix_has_levels_and_says_that_nothing_else_is_known() -> None:
    points = timme.objects.points(chained(hinged()))
    sigma = timme.measure(points, timme.pairs.all(points))
    matrix = timme.analyse(sigma.matrix(), unit="nm")
    whole = timme.analyse(points, pairs="all")
    one, other = matrix.part(Judged), whole.part(Judged)
    assert one is not None
    assert other is not None
    np.testing.assert_array_equal(
        one.confidence.silhouettes.values, other.confidence.silhouettes.values
    )
    assert not one.confidence.trusted
    assert {record.support for record in one.confidence.records} == {None}
    assert "no confidence" in dict(summary(matrix))["sampling"]
