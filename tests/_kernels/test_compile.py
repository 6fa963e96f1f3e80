"""Machine code is found again by the same sources, and by no others."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import timme
from tests.patience import LONGEST
from timme._kernels import _compile

pytestmark = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")

PACKAGE = Path(timme.__file__).parent

# A kernel of one file, with a helper of another: two bodies in two clusters are joined once.
_JOIN = """
import numpy as np
from timme._kernels import pebble
join, bodies = pebble._join, np.arange(2)
joins = join(bodies, 2, np.zeros(2, np.bool_), np.arange(2), 1, np.zeros((1, 3), np.int64), 0)
told = getattr(join, "stats", None)
print(joins, sum(told.cache_hits.values()) if told else 0, told.cache_path if told else None)
"""
# Sites in single precision that are elsewhere at first: what is left of sums about these distances
# needs double precision, and is summed again by a helper, in any order.
_MEASURE = """
import hashlib
import numpy as np
from timme._kernels import plain
draw = np.random.default_rng(1)
places = 30 * draw.random((100, 3, 1)) + 0.4 * draw.normal(size=(100, 3, 250))
places[:, :, 0] += 9 * draw.normal(size=(100, 3))
pairs, sigma = np.zeros((4950, 2), np.int64), np.zeros(4950)
measure = plain.fill_band
measure(places.astype(np.float32), 250, 0, 100, pairs, sigma)
digest = hashlib.sha256(sigma.tobytes()).digest()
print(int.from_bytes(digest[:6]), sum(measure.stats.cache_hits.values()), measure.stats.cache_path)
"""
# A product and a sum, which may be fused in the caller but not in its helper.
_FUSE = """
import numpy as np
from timme._kernels import compiled
helper = compiled(lambda a, b, c: a * b + c)
caller = compiled(lambda a, b, c: helper(a, b, c), fastmath={{"contract"}})
numbers = np.random.default_rng(1).random((1000, 3)).tolist()
{first}(*numbers[0])
print(sum(helper(a, b, c) != a * b + c for a, b, c in numbers), 0, None)
"""
_HELPER, _BROKEN = "    return site\n", "    return 0 * site\n"  # all sites have the same leader


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copy the kernels, which need nothing else of the package, to where they can be edited."""
    package = tmp_path / "copy" / "timme"
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE / "_kernels", package / "_kernels", ignore=skipped)
    (package / "__init__.py").touch()
    return package / "_kernels"


def run(kernels: Path, code: str = _JOIN, **environment: Any) -> tuple[int, int, Path | None]:
    """Run a kernel in a new process: what it gives, hits in the cache, and where that is."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={
            **inherited,
            "PYTHONDONTWRITEBYTECODE": "1",  # which would be taken for fresh within a second
            "PYTHONPATH": str(kernels.parents[1]),
            **{name: str(value) for name, value in environment.items()},
        },
        capture_output=True,
        check=False,
        text=True,
        timeout=LONGEST,
    )
    assert done.returncode == 0, done.stderr
    result, hits, place = done.stdout.split()
    return int(result), int(hits), None if place == "None" else Path(place)


def break_helper(kernels: Path) -> None:
    source = kernels / "linkage.py"
    text = source.read_text(encoding="utf-8")
    assert text.count(_HELPER) == 1
    source.write_text(text.replace(_HELPER, _BROKEN), encoding="utf-8")


def folders(place: Path) -> set[str]:
    return {folder.name for folder in place.glob("timme-*")}


def test_machine_code_is_found_again_but_not_after_a_helper_has_changed(copy: Path) -> None:
    joins, hits, place = run(copy)
    assert (joins, hits) == (1, 0)
    assert place is not None
    assert place.is_relative_to(copy / "__pycache__")
    assert run(copy) == (1, 1, place)
    break_helper(copy)
    joins, hits, other = run(copy)
    assert (joins, hits) == (0, 0)
    assert other != place
    assert len(folders(copy / "__pycache__")) == 2


@pytest.mark.thorough  # which compiles all loops of pairs
def test_bits_are_those_of_the_process_that_compiled(copy: Path) -> None:
    bits, hits, place = run(copy, _MEASURE)
    assert hits == 0
    assert run(copy, _MEASURE) == (bits, 1, place)


@pytest.mark.parametrize("first", ["helper", "caller"])
def test_helpers_give_the_same_bits_whoever_calls_them_first(copy: Path, first: str) -> None:
    """numba hands on to them what they do not say themselves."""
    n_fused, _, _ = run(copy, _FUSE.format(first=first))
    assert n_fused == 0


@pytest.mark.thorough
def test_machine_code_of_sources_that_were_written_again_lies_apart(copy: Path) -> None:
    """numba would not load it, but number new files as the old that lie there."""
    _, _, place = run(copy)
    os.utime(copy / "pebble.py", (1e9, 1e9))
    joins, hits, other = run(copy)
    assert (joins, hits) == (1, 0)
    assert other != place


@pytest.mark.thorough
def test_a_helper_that_changes_while_a_process_runs_spoils_no_machine_code(copy: Path) -> None:
    edit = f"""
from timme._kernels import linkage
from pathlib import Path
source = Path(linkage.__file__)
text = source.read_text(encoding="utf-8")
source.write_text(text.replace({_HELPER!r}, {_BROKEN!r}), encoding="utf-8")
"""
    assert run(copy, edit + _JOIN) == (1, 0, None)  # the helper that was loaded
    assert run(copy)[:2] == (0, 0)


# Finds the leader of a site among leaders of a type, once all others are there; slow to keep it.
_KEEP = """
import sys, time
import numpy as np
from numba.core import caching
from timme._kernels import linkage
load = caching.IndexDataCacheFile._load_index
def slowly(self):
    found = load(self)
    time.sleep(0.5)
    return found
caching.IndexDataCacheFile._load_index = slowly
print("ready", flush=True)
input()
print(linkage.find(np.zeros(2, sys.argv[1]), 1))
"""
_FIND = """
import numpy as np
from timme._kernels import linkage
found = [linkage.find(np.zeros(2, kind), 1) for kind in ("i4", "i8")]
print(sum(found), sum(linkage.find.stats.cache_hits.values()), None)
"""


@pytest.mark.thorough
def test_processes_that_compile_for_other_types_at_the_same_time_keep_both(copy: Path) -> None:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", _KEEP, kind],
            env={**inherited, "PYTHONPATH": str(copy.parents[1])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for kind in ("i4", "i8")
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:  # both have begun: neither waits for the end of the other
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    assert [process.communicate(timeout=LONGEST)[0] for process in started] == ["0\n", "0\n"]
    assert run(copy, _FIND) == (0, 2, None)


_FULL = """
from numba.core import caching
def save(*_):
    raise OSError(28, "No space left on device")
caching.IndexDataCacheFile.{step} = save
"""


@pytest.mark.parametrize(
    "step",
    [
        "save",
        *(pytest.param(step, marks=pytest.mark.thorough) for step in ("_save_data", "_load_index")),
    ],
)
def test_a_folder_that_cannot_be_written_any_longer_is_no_error(copy: Path, step: str) -> None:
    assert run(copy, _FULL.format(step=step) + _JOIN)[:2] == (1, 0)
    assert run(copy)[:2] == (1, 0)  # nothing that was kept by halves is taken up


@pytest.mark.thorough
def test_machine_code_that_is_cut_off_is_compiled_again(copy: Path) -> None:
    _, _, place = run(copy)
    assert place is not None
    for suffix in ("nbi", "nbc"):
        for file in place.glob(f"*.{suffix}"):
            file.write_bytes(file.read_bytes()[:20])
        assert run(copy)[:2] == (1, 0)


@pytest.mark.thorough
def test_a_folder_that_goes_away_meanwhile_is_no_error(copy: Path) -> None:
    vanish = """
from timme._kernels import _compile
from pathlib import Path
_compile._folder = lambda: Path(_compile.__file__) / "no folder"
"""
    assert run(copy, vanish + _JOIN) == (1, 0, None)


def test_a_folder_of_the_user_is_taken(copy: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    settings: dict[str, Any] = {
        "NUMBA_CACHE_DIR": mine,
        "NUMBA_CACHE_LOCATOR_CLASSES": "InTreeCacheLocator",
    }
    _, _, place = run(copy, **settings)
    assert place is not None
    assert place.is_relative_to(mine)
    assert not (copy / "__pycache__").exists()
    after = (
        "from timme._kernels import space\nfrom numba import config\nprint(0, 0, config.CACHE_DIR)"
    )
    assert run(copy, after, **settings)[2] == mine  # again, for functions of others


@pytest.mark.thorough
def test_where_the_sources_cannot_be_written_the_cache_of_the_user_is_taken(
    copy: Path, tmp_path: Path
) -> None:
    (copy / "__pycache__").touch()  # no folder can be made here, not even by root
    _, _, place = run(copy, XDG_CACHE_HOME=tmp_path)
    assert place is not None
    assert place.is_relative_to(tmp_path / "timme")


@pytest.mark.thorough
def test_where_nothing_can_be_written_kernels_are_compiled_all_the_same(copy: Path) -> None:
    file = copy / "__pycache__"
    file.touch()
    assert run(copy, NUMBA_CACHE_DIR=file / "mine", XDG_CACHE_HOME=file) == (1, 0, None)


def test_without_compiling_nothing_is_kept(copy: Path) -> None:
    assert run(copy, NUMBA_DISABLE_JIT=1) == (1, 0, None)
    assert not (copy / "__pycache__").exists()


@pytest.mark.parametrize("library", [numba, np], ids=["numba", "numpy"])
def test_another_version_of_a_library_has_machine_code_of_its_own(
    monkeypatch: pytest.MonkeyPatch, library: object
) -> None:
    name = _compile.name_of_sources()
    assert name == _compile.name_of_sources()
    monkeypatch.setattr(library, "__version__", "0.0.1")
    assert _compile.name_of_sources() not in {name, None}


def test_every_source_counts(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_compile, "_HERE", copy)
    names = [_compile.name_of_sources()]
    sources = sorted(copy.glob("*.py"))
    assert {"_compile.py", "linkage.py", "space.py"} < {source.name for source in sources}
    for source in sources:
        with source.open("a", encoding="utf-8") as file:
            file.write("# changed\n")
        names.append(_compile.name_of_sources())
    (copy / "new.py").touch()
    names.append(_compile.name_of_sources())
    assert None not in names
    assert len(set(names)) == len(sources) + 2
    (copy / ".#new.py").symlink_to("nowhere")  # an editor's
    assert _compile.name_of_sources() == names[-1]


def test_without_sources_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_compile, "_HERE", tmp_path)
    assert _compile.name_of_sources() is None


def test_machine_code_of_old_sources_does_not_pile_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_compile, "_KEPT", 2)

    def make(name: str, days: float) -> None:
        (tmp_path / name / "inner").mkdir(parents=True)
        then = time.time() - days * 86_400
        os.utime(tmp_path / name, (then, then))

    for days in range(6):
        make(f"timme-{days:016x}", days + 0.5)
    make("timme-mine", 100)
    make("other", 100)
    make(f"timme-{'a' * 16}", 0)  # the new one
    _compile._remove_stale(tmp_path)
    left = {f"timme-{days:016x}" for days in range(2)}
    assert folders(tmp_path) == left | {"timme-mine", f"timme-{'a' * 16}"}
    assert (tmp_path / "other").is_dir()
    monkeypatch.setattr(_compile, "_KEPT", 0)
    _compile._remove_stale(tmp_path)
    assert f"timme-{0:016x}" in folders(tmp_path)  # used within a day


def test_kernels_are_declared_in_one_place() -> None:
    declaring = re.compile(r"\b(n?jit|jit_module|cfunc|g?u?vectorize)\b")
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if declaring.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"_kernels/_compile.py"}


def test_kernels_need_nothing_else_of_the_package() -> None:
    elsewhere = re.compile(r"^\s*(from|import) timme\b(?!\._kernels\b)", re.MULTILINE)
    for path in (PACKAGE / "_kernels").glob("*.py"):
        assert not elsewhere.search(path.read_text(encoding="utf-8")), path
