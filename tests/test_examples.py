"""Every example of the gallery runs as it stands."""

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
SLOW = {"plot_spheres"}


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.thorough] * (path.stem in SLOW))
        for path in EXAMPLES
    ],
)
def test_the_example_runs_and_draws(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plt, "show", lambda: None)
    before = plt.get_fignums()
    runpy.run_path(str(path))
    assert plt.get_fignums() != before
    plt.close("all")


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4
