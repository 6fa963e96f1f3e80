"""What tests share: hypothesis settings, matplotlib without a screen, data, universes, locks."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import numpy.typing as npt
import pytest

from tests.liquids import Water, write_water
from tests.motion.closings import FOLDER

os.environ["MPLBACKEND"] = "Agg"
# A run that a busy machine makes long saves nothing that the test does not ask for.
os.environ["TIMME_CHECKPOINT_INTERVAL"] = "3600"

# HYPOTHESIS_MAX_EXAMPLES=1000 searches harder; CI always tries the same examples.
for profile, examples in (("quick", 25), ("thorough", 50)):
    hypothesis.settings.register_profile(
        profile,
        deadline=None,  # the first call of a kernel compiles it
        derandomize="CI" in os.environ,
        max_examples=int(os.environ.get("HYPOTHESIS_MAX_EXAMPLES", examples)),
    )
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

MakeUniverse = Callable[..., Any]


def pytest_make_parametrize_id(val: object, argname: str) -> None:
    """Ask for an id of what pytest would write out as it is.

    Bytes may hold the time at which they were packed: each process of a run would then have its
    own name for the test, and none would be run.
    """
    if isinstance(val, bytes):
        pytest.fail(f"ids are needed for the bytes {argname}: give ids=[...]", pytrace=False)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave tests on clusters to thorough runs: each process of a run would start its own.

    Tests of entries of the PDB run where these are at hand, or where they are asked for.
    """
    for item in items:
        if "clients" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.thorough)
    if not FOLDER.is_dir() and "entries" not in config.option.markexpr:
        left_out = [item for item in items if item.get_closest_marker("entries")]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels() -> None:
    """Wait for tests.warm, which holds this lock while it compiles the kernels."""
    from timme.engine import compile_lock

    with compile_lock._cache_lock():
        pass


@pytest.fixture(scope="session")
def clients() -> Iterator[dict[int, Any]]:
    """Clients of dask on this computer, by the number of their worker processes."""
    pytest.importorskip("distributed", reason="needs dask: pip install 'pytimme[cluster]'")
    from timme.engine.connect import connect

    with ExitStack() as stack:
        yield {count: stack.enter_context(connect("local", workers=count)) for count in (1, 2)}


@pytest.fixture(scope="session")
def water(tmp_path_factory: pytest.TempPathFactory) -> Water:
    """Files of a periodic box of water, and how its molecules went; not to be changed."""
    return write_water(tmp_path_factory.mktemp("water"))


@pytest.fixture(scope="session")
def nmr_file() -> Path:
    """24 models of neopetrosiamide, 27 residues, with hydrogens."""
    files = pytest.importorskip("MDAnalysisTests.datafiles", reason="needs MDAnalysisTests")
    return Path(files.PDB_multiframe)


@pytest.fixture(scope="session")
def make_universe() -> MakeUniverse:
    """Function that makes an MDAnalysis Universe in memory from (snapshots, sites, 3)."""

    def make(snapshots: npt.ArrayLike, **attributes: list[Any]) -> Any:
        """Universe of one residue per site; attributes such as names=[...] are set per atom."""
        import MDAnalysis as mda

        positions = np.asarray(snapshots, dtype=np.float32)
        n_sites = positions.shape[1]
        universe = mda.Universe.empty(
            n_sites, n_residues=n_sites, atom_resindex=np.arange(n_sites), trajectory=True
        )
        universe.add_TopologyAttr("resids", np.arange(1, n_sites + 1))
        for name, values in attributes.items():
            universe.add_TopologyAttr(name, values)
        universe.load_new(positions, order="fac")
        return universe

    return make


@pytest.fixture
def without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the pictures, which take most of the time of a run."""
    leave_out_figures(monkeypatch)


@pytest.fixture
def blank_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw all pictures, but save them as empty files: for tests of which there are."""
    monkeypatch.setattr("timme.output.printing.print_both", lambda *_: {"svg": bytes, "png": bytes})


def leave_out_figures(patch: pytest.MonkeyPatch) -> None:
    """Save no picture of a result or of a comparison."""
    patch.setattr("timme.workflow.folder.save_figures", lambda *_: ())
    patch.setattr("timme.workflow.comparison.save_both", lambda *_: ())


@pytest.fixture
def nothing_compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Forget what this process has compiled; return when the lock of the cache is taken."""
    from timme.engine import compile_lock

    taken = list[str]()

    @contextmanager
    def lock() -> Iterator[None]:
        taken.append("taken")
        yield

    monkeypatch.setattr(compile_lock, "_compiled", set())
    monkeypatch.setattr(compile_lock, "_cache_lock", lock)
    return taken
