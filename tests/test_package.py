"""The package: light to import, complete in its public names, a command in any form."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import timme
from tests.patience import LONGEST

SOURCE = Path(timme.__file__).parents[1]
HEAVY = ("MDAnalysis", "numba", "matplotlib", "scipy", "gemmi", "pandas", "numpy", "tqdm")


def python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        check=False,
        text=True,
        timeout=LONGEST,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "code",
    [
        "import timme",
        "import timme; timme.__version__; dir(timme)",
        "import timme.cli",
        "from timme.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass",
        "from timme.cli import main\ntry: main(['run', '--help'])\nexcept SystemExit: pass",
        "from timme.cli import main\ntry: main(['rigidity', '--help'])\nexcept SystemExit: pass",
        "from timme.cli import main\ntry: main(['completion', 'bash'])\nexcept SystemExit: pass",
    ],
    ids=["import", "names", "cli", "help", "help of run", "help of rigidity", "completion"],
)
def test_nothing_heavy_is_imported_before_it_is_needed(code: str) -> None:
    asked = f"import sys; print('LOADED', *sorted(set({HEAVY!r}) & set(sys.modules)))"
    assert python(f"{code}\n{asked}").splitlines()[-1] == "LOADED"


def test_no_module_of_ours_is_imported_by_its_name_in_a_string() -> None:
    """But for the public names, which are looked up when they are first used."""
    package = Path(timme.__file__).parent
    named = re.compile(r"import_module|__import__")
    found = [path for path in package.rglob("*.py") if named.search(path.read_text("utf-8"))]
    assert found == [package / "__init__.py"]


def test_a_command_that_fails_early_is_light_too(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("")
    code = (
        "import sys\nfrom timme.cli import main\n"
        f"try: main(['run', 'a.pdb', '-o', {str(tmp_path / 'out')!r}])\n"
        "except SystemExit as stop: print(stop.code, 'matplotlib' in sys.modules)"
    )
    assert python(code).split() == ["2", "False"]


def test_every_public_name_is_there() -> None:
    for name in timme.__all__:
        assert getattr(timme, name) is not None
    assert sorted(dir(timme)) == sorted(timme.__all__)
    assert len(set(timme.__all__)) == len(timme.__all__)


@pytest.mark.parametrize(
    "name",
    ["read", "objects", "pairs", "measure", "link", "cluster", "analyse", "rigid", "write", "load"],
)
def test_the_way_of_the_data_is_public(name: str) -> None:
    assert name in timme.__all__
    assert getattr(timme, name).__doc__


def test_packages_come_with_their_functions() -> None:
    asked = (
        "import timme; import timme.rigidity.network as module; "
        "print(*map(callable, (timme.rigidity.network, timme.compare.compare)))"
    )
    assert python(asked).split() == ["True", "True"]


def test_commands_are_listed_as_people_meet_them() -> None:
    from timme.cli import app

    listed = "run demo motion rigidity compare fetch plot report serve completion"
    assert app.list_commands(None) == listed.split()  # type: ignore[arg-type]


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = timme.nothing
    assert not hasattr(timme, "__wrapped__")


def test_types_are_shipped() -> None:
    assert (SOURCE / "timme" / "py.typed").is_file()


def test_the_version_is_that_of_the_distribution() -> None:
    try:
        installed = metadata.version("pytimme")
    except metadata.PackageNotFoundError:
        pytest.skip("the distribution is not installed here")
    assert installed == timme.__version__


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "timme", "--version"],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        check=True,
        text=True,
        timeout=LONGEST,
    )
    assert done.stdout == f"timme, version {timme.__version__}\n"
    assert done.stderr == ""


def test_the_five_lines_of_the_design_work() -> None:
    ensemble = timme.synthetic.chain(20, 4)
    objects = timme.objects.links(ensemble)
    pairs = timme.pairs.sharing(objects)
    sigma = timme.measure(objects, pairs)
    hierarchy = timme.link(sigma)
    clusters = hierarchy.cut(0.4)
    assert clusters.sizes.sum() == 20
    assert timme.cluster(objects, pairs).heights.tolist() == hierarchy.heights.tolist()
