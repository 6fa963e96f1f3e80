"""Golden: the inputs of all frozen results are what they were when these were computed."""

from __future__ import annotations

import pytest

from tests.golden import load_json
from tests.golden.digests import digest, rounded_digest
from tests.golden.systems import SHARED, SYSTEMS


@pytest.mark.skipif(not SHARED.exists(), reason="no ../shared/data here")
@pytest.mark.parametrize("name", list(SYSTEMS))
def test_the_inputs_have_not_changed(name: str) -> None:
    made, kept = SYSTEMS[name](), load_json("inputs")[name]
    assert digest(made.bonds) == kept["bonds"]
    assert rounded_digest(made.coordinates) == kept["coordinates"]
