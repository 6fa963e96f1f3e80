"""Memory is told before it is taken, and what is allowed is kept to."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.readers.builders import atom, write_pdb
from timme import analyse, load, memory, objects, pairs
from timme._arrays import Coordinates
from timme.system.ensemble import Ensemble
from timme.workflow.budget import most_contacts, plan

SOURCE = Path(__file__).parents[1] / "src"

_ANALYSE = """
import sys
import numpy as np
import timme
analysis = timme.analyse(sys.argv[1], memory=sys.argv[2], pairs=sys.argv[4], tell=print)
sigma = analysis.fluctuations
np.savez(sys.argv[3], parents=analysis.hierarchy.parents, heights=analysis.hierarchy.heights,
         **({} if sigma is None else {"sigma": sigma.sigma}))
own = [line.split() for line in open("/proc/self/status") if line.startswith("VmHWM")]
print("peak", int(own[0][1]) * 1024)  # ru_maxrss begins with that of the process that started this
"""


_RUN = """
import sys
from timme.cli import main
main(["run", *sys.argv[1:], "-v"])
own = [line.split() for line in open("/proc/self/status") if line.startswith("VmHWM")]
print("peak", int(own[0][1]) * 1024)
"""


# ---- sizes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2GB", 2_000_000_000),
        ("2 gb", 2_000_000_000),
        ("500M", 500_000_000),
        ("1.5GiB", 1_610_612_736),
        ("1000", 1000),
        ("3kB", 3000),
    ],
)
def test_sizes_are_read_as_people_write_them(text: str, size: int) -> None:
    assert memory.parse(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1GB", "0", "0GB", "2XB", "GB", "1e9", "2GB 3"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="written as 2GB or 500MB"):
        memory.parse(text)


def test_this_process_holds_memory_and_more_is_there() -> None:
    assert 10_000_000 < memory.usage() < 100_000_000_000
    left = memory.available()
    assert left is None or left > 0


@pytest.mark.parametrize(("machine", "group"), [(3_000_000, 8e9), (9_000_000, 6e9)])
def test_what_is_there_is_the_least_of_what_machine_and_group_leave(
    monkeypatch: pytest.MonkeyPatch, machine: int, group: float
) -> None:
    told = {
        "/proc/meminfo": f"MemFree: 1 kB\nMemAvailable:  {machine} kB\n",
        "/sys/fs/cgroup/memory.max": f"{group:.0f}\n",
        "/proc/self/statm": f"1000 {10**9 // resource.getpagesize()} 1",  # this process holds 1 GB
    }
    monkeypatch.setattr(memory, "_read", lambda path: told.get(path, ""))
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    expected = min(machine * 1024, group - 1e9)
    assert memory.available() == pytest.approx(expected, abs=resource.getpagesize())


# ---- plans -------------------------------------------------------------------------------------


def moving(n_sites: int, n_frames: int = 20) -> Ensemble:
    rng = np.random.default_rng(0)
    return Ensemble.from_array(rng.normal(size=(n_frames, n_sites, 3)))


def allowed(size: float) -> str:
    """So much more than this process holds already."""
    return f"{(memory.usage() + size) / 1e6:.0f}MB"


def test_less_memory_takes_more_passes() -> None:
    sets = [range(10 * k, 10 * k + 10) for k in range(200)]
    compared = objects.groups(moving(2000), sets)
    partners = pairs.all(compared)
    # Loads what counts pairs of sites; judging takes more than measuring, however small the pieces.
    plan(compared, partners, keep=True, limit=None, judged=False)
    plenty = plan(compared, partners, keep=True, limit=None, judged=False)
    scarce = plan(compared, partners, keep=True, limit=allowed(200e6), judged=False)
    assert (plenty.n_pieces, plenty.chunk) == (1, len(partners))
    assert scarce.n_pieces > 1
    assert scarce.total < plenty.total
    lines = list(scarce.lines())
    assert lines[0].startswith("memory: about ")
    assert f"{scarce.n_pieces} passes" in lines[0]
    assert len(lines) == 1 + len(scarce.parts)


def test_too_little_memory_is_refused_with_what_to_do() -> None:
    compared = objects.points(moving(1000))
    with pytest.raises(
        ValueError, match=r"at least .*B of memory.*memory= allows 10MB.*select=.*radius="
    ):
        plan(compared, pairs.all(compared), keep=True, limit="10MB")


def test_pairs_of_groups_count_their_sites() -> None:
    ensemble = moving(1000)
    groups = objects.groups(ensemble, [range(10 * k, 10 * k + 10) for k in range(100)])
    points = objects.points(ensemble)
    of_groups, of_points = (
        plan(chosen, pairs.all(chosen), keep=True, limit=None, judged=False).total
        for chosen in (groups, points)
    )
    assert of_groups > 0.8 * of_points


def test_too_many_contacts_are_given_up() -> None:
    compared = objects.points(moving(100))
    whole = pairs.within(compared, 2.0)
    assert len(pairs.within(compared, 2.0, most=len(whole))) == len(whole)
    with pytest.raises(ValueError, match=r"more than 1,000 pairs are in contact.*radius="):
        pairs.within(compared, 2.0, most=1000)
    assert most_contacts(compared, 2.0, limit=allowed(500e6)) >= len(whole)


def test_too_little_memory_for_contacts_is_refused_before_the_search() -> None:
    compared = objects.points(moving(100))
    with pytest.raises(ValueError, match=r"at least .*B of memory.*memory= allows 10MB.*radius="):
        most_contacts(compared, 2.0, limit="10MB")


# ---- what is taken -----------------------------------------------------------------------------


def write_dcd(path: Path, n_frames: int, n_sites: int) -> Path:
    """Write points that tremble, a block of which is written again and again."""
    from MDAnalysis.lib.formats.libdcd import DCDFile

    rng = np.random.default_rng(0)
    rest = rng.uniform(0.0, 100.0, (n_sites, 3))
    strength = np.linspace(0.1, 1.0, n_sites)[:, None]
    few: Coordinates = (rest + strength * rng.normal(size=(50, n_sites, 3))).astype(np.float32)
    with DCDFile(str(path), "w") as file:
        file.write_header("", n_sites, 0, 1, 1.0, 0)
        for frame in range(n_frames):
            file.write(xyz=few[(frame * 7) % 50], box=[0, 0, 0, 90, 90, 90])
    return path


def analysed(
    path: Path, limit: str, chosen: str = "all", *, kilobytes: str = "unlimited"
) -> tuple[int, int, dict[str, Any]]:
    """Analyse in a process of its own, limited from outside; return its peak, passes and result."""
    made = path.with_suffix(".npz")
    limited = ["sh", "-c", 'ulimit -v "$0" && exec "$@"', kilobytes]
    done = subprocess.run(
        [*limited, sys.executable, "-c", _ANALYSE, str(path), limit, str(made), chosen],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        check=True,
        text=True,
    )
    words = done.stdout.split()
    assert words[:2] == ["memory:", "about"], done.stdout
    with np.load(made) as archive:
        arrays = {name: archive[name].tobytes() for name in archive.files}
    passes = int(words[words.index("over") - 2].replace(",", ""))
    return int(words[-1]), passes, arrays


@dataclass(frozen=True)
class Ran:
    """A run of the command line in a process of its own."""

    announced: float  # bytes, the most that was told
    passes: int
    peak: int  # bytes
    bits: list[bytes]


def ran(folder: Path, *arguments: object) -> Ran:
    made = folder / "out"
    command = [sys.executable, "-c", _RUN, *map(str, arguments), "-o", str(made), "--overwrite"]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        check=True,
        text=True,
        cwd=folder,
    )
    told = re.findall(r"memory: about ([0-9.]+) ([MG]B)", done.stderr)
    found = load(made / "result.npz")
    arrays = [found.hierarchy.parents, found.hierarchy.heights]
    if found.fluctuations is not None:
        arrays.append(found.fluctuations.sigma)
    passes = re.findall(r"([0-9,]+) pass", done.stderr)
    return Ran(
        announced=max(memory.parse(f"{number}{unit}") for number, unit in told),
        passes=int(passes[-1].replace(",", "")),
        peak=int(done.stdout.split()[-1]),
        bits=[array.tobytes() for array in arrays],
    )


def write_groups(path: Path, n_sites: int) -> Path:
    lines = [f"g{first} = index {first}:{first + 4}" for first in range(0, n_sites, 5)]
    path.write_text("\n".join(lines))
    return path


def chain_file(path: Path, n_atoms: int) -> Path:
    """Write models of a folded chain of carbon atoms."""
    rng = np.random.default_rng(1)
    number = np.arange(n_atoms)
    row, layer = number // 20 % 20, number // 400
    along = np.where(row % 2, 19 - number % 20, number % 20)
    rest = 1.5 * np.column_stack([along, row, layer])
    return write_pdb(
        path,
        [
            [atom("CA", k + 1, place, element="C") for k, place in enumerate(places.tolist())]
            for places in rest + rng.normal(scale=0.05, size=(20, n_atoms, 3))
        ],
    )


def arguments_of(kind: str, folder: Path) -> list[object]:
    if kind == "an array, all pairs":
        rng = np.random.default_rng(0)
        strength = np.linspace(0.01, 1.0, 5000)[:, None]
        xyz = rng.uniform(0, 50, (5000, 3)) + strength * rng.normal(size=(600, 5000, 3))
        np.save(folder / "a.npy", xyz.astype(np.float32))
        return ["a.npy", "--pairs", "all"]
    if kind == "bodies in contact":
        return [chain_file(folder / "a.pdb", 2000), "--radius", 8]
    write_dcd(folder / "a.dcd", 600, 1800)
    if kind == "groups":
        return ["a.dcd", "--objects", write_groups(folder / "groups.txt", 1800), "--pairs", "all"]
    options = {"all pairs": "--pairs all", "contacts": "--radius 12", "nearest": "--pairs nearest"}
    return ["a.dcd", *options[kind].split()]


@pytest.mark.parametrize(
    "kind",
    [
        *(pytest.param(kind, marks=pytest.mark.thorough) for kind in ("nearest", "groups")),
        *(
            pytest.param(kind, marks=pytest.mark.long)
            for kind in ("an array, all pairs", "bodies in contact", "all pairs", "contacts")
        ),
    ],
)
def test_what_is_announced_is_what_is_taken(tmp_path: Path, kind: str) -> None:
    run = ran(tmp_path, *arguments_of(kind, tmp_path))
    assert run.peak < 1.2 * run.announced
    assert run.announced < 1.4 * run.peak


@pytest.mark.long
def test_what_is_allowed_is_kept_to(tmp_path: Path) -> None:
    arguments = arguments_of("groups", tmp_path)
    plenty = ran(tmp_path, *arguments)
    limit = plenty.announced / 1e6 - 40
    scarce = ran(tmp_path, *arguments, "--memory", f"{limit:.0f}MB")
    assert plenty.passes == 1 < scarce.passes
    assert scarce.bits == plenty.bits
    assert scarce.announced <= 1e6 * limit
    assert scarce.peak < 1.2e6 * limit


@pytest.mark.long
def test_a_file_larger_than_what_is_allowed_is_not_held(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    stored = np.lib.format.open_memmap(
        tmp_path / "a.npy", "w+", np.dtype(np.float32), (40_000, 1000, 3)
    )
    few = rng.uniform(0, 50, (1000, 3)) + rng.normal(size=(100, 1000, 3))
    for start in range(0, len(stored), len(few)):
        stored[start : start + len(few)] = few
    del stored
    assert (tmp_path / "a.npy").stat().st_size == pytest.approx(480e6, rel=1e-3)
    assert ran(tmp_path, "a.npy", "--pairs", "nearest", "--memory", "400MB").peak < 400e6


@pytest.mark.long
def test_a_trajectory_four_times_larger_than_memory_streams_through(tmp_path: Path) -> None:
    n_frames, n_sites = 17_000, 20_000  # 4.1 GB
    if shutil.disk_usage(tmp_path).free < 6e9:
        pytest.skip("needs 6 GB of disk space for a trajectory")
    path = write_dcd(tmp_path / "a.dcd", n_frames, n_sites)
    try:
        assert path.stat().st_size > 4e9
        peak, _, streamed = analysed(path, "1GB", "nearest", kilobytes="1000000")
        if (memory.available() or 0) < 12e9:
            pytest.skip("needs 12 GB of memory to compare with snapshots in memory")
        held = np.empty((n_frames, n_sites, 3), np.float32)
        from MDAnalysis.lib.formats.libdcd import DCDFile

        with DCDFile(str(path)) as file:
            for frame, step in enumerate(file):
                held[frame] = step.xyz
    finally:
        path.unlink()
    assert peak < 1e9
    whole = analyse(held, pairs="nearest")
    assert whole.fluctuations is not None
    assert streamed["sigma"] == whole.fluctuations.sigma.tobytes()
    assert streamed["heights"] == whole.hierarchy.heights.tobytes()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > 4e9  # unlike the other
