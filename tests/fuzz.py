"""Invariants of damaged files: each is read whole or refused in one line, in a child process.

    python -m tests.fuzz [files]

prints a table by format, beside what MDAnalysis alone does. Children are forked, with 1 GB of
memory and 30 s: 2,000 files take a few minutes.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tests.golden.built_files import write_files

MEMORY, SECONDS = 1_000_000_000, 30
# Whole files by format, and the topology that they need.
FILES = {
    "XTC": ("wrapped.xtc", "tilted.xtc"),
    "TRR": ("wrapped.trr",),
    "DCD": ("wrapped.dcd", "tilted.dcd"),
    "NetCDF": ("wrapped.nc",),
    "GSD": ("images.gsd",),
    "H5MD": ("images.h5md",),
    "npy": ("plain.npy",),
    "GRO": ("wrapped.gro", "tilted.gro"),
    "XYZ": ("plain.xyz", "tilted.extxyz"),
    "dump": ("images.dump", "scaled.dump"),
    "data": ("full.data",),
    "PDB": ("models.pdb", "models-altlocs.pdb"),
    "mmCIF": ("models.cif", "models-altlocs.cif"),
    "table": ("trackmate.csv", "imaris.csv", "tabs.tsv", "blanks.txt"),
    "matrix": ("matrix.csv", "matrix.npy", "matrix.mtx", "errors.json"),
}
TEXTS = frozenset(("GRO", "XYZ", "dump", "data", "PDB", "mmCIF", "table"))
BARE = frozenset(("XTC", "TRR", "DCD", "NetCDF"))  # that are read with a topology
# 5 of the others; that whole rows of a table are missing cannot be known.
N_FRAMES = {"data": 1, "PDB": 3, "mmCIF": 3, "table": 0, "matrix": 0}
BY_MDANALYSIS = FILES.keys() - {"npy", "mmCIF", "table", "matrix"}
OUTCOMES = ("read", "refused", "fewer", "traceback", "crash", "hang")


class Case(NamedTuple):
    format: str
    name: str
    damage: str
    data: bytes


def damaged(name: str, data: bytes, format_: str, rng: np.random.Generator) -> Iterator[Case]:
    """Yield damaged versions of a file without end: first cut at every tenth, then at random."""
    for tenth in range(1, 10):
        yield Case(format_, name, f"cut at {tenth}/10", data[: len(data) * tenth // 10])
    lines = data.splitlines(keepends=True)
    while True:
        place, length = int(rng.integers(len(data))), int(rng.integers(1, 200))
        kind = rng.choice(["bits", "zeros", "count", "lines", "cut"])
        if kind == "bits":
            changed = bytearray(data)
            for bit in rng.integers(8 * len(data), size=rng.integers(1, 4)).tolist():
                changed[bit // 8] ^= 1 << bit % 8
            yield Case(format_, name, "flipped bits", bytes(changed))
        elif kind == "zeros":
            zeros = bytes(len(data[place : place + length]))
            yield Case(format_, name, "zeros", data[:place] + zeros + data[place + length :])
        elif kind == "count" and format_ not in TEXTS:
            start = int(rng.integers(min(len(data) - 4, 2000))) // 4 * 4
            order = rng.choice(["<i4", ">i4"])
            count = np.array(rng.choice([2**31 - 1, 10**9, -1, -(2**31)]), order).tobytes()
            yield Case(format_, name, "absurd count", data[:start] + count + data[start + 4 :])
        elif kind == "count":
            at = int(rng.integers(min(len(lines), 40)))
            words = [b"999999999" if word.isdigit() else word for word in lines[at].split()]
            joined = b"".join([*lines[:at], b" ".join(words), b"\n", *lines[at + 1 :]])
            yield Case(format_, name, "absurd count", joined)
        elif kind == "lines" and format_ in TEXTS:
            at, other = sorted(rng.integers(len(lines), size=2).tolist())
            moved = [*lines[:at], *lines[other:], *lines[at:other]]
            again = [*lines[:other], *lines[at:]]
            yield Case(format_, name, "lines", b"".join(moved if rng.random() < 0.5 else again))
        elif kind == "cut":
            yield Case(format_, name, "cut", data[: max(1, place)])


def cases(folder: Path, count: int) -> Iterator[Case]:
    """Yield as many damaged files of every format."""
    rng = np.random.default_rng(0)
    sources = [
        damaged(name, (folder / name).read_bytes(), format_, rng)
        for format_, names in FILES.items()
        for name in names
    ]
    for number in range(count):
        yield next(sources[number % len(sources)])


def in_child(work: Callable[[], str]) -> str:
    """Return what a function tells in a child process, or how that ended."""
    receive, send = os.pipe()
    child = os.fork()
    if not child:
        os.close(receive)
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        limit = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.alarm(SECONDS)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        try:
            told = work()
        except BaseException as error:  # noqa: BLE001, which is what is looked for
            told = f"traceback {type(error).__name__}: {error}"
        os.write(send, told.encode()[:4000])
        os._exit(0)
    os.close(send)
    with os.fdopen(receive, "rb") as stream:
        told = stream.read().decode()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return "hang" if os.WTERMSIG(status) == signal.SIGALRM else f"crash {os.WTERMSIG(status)}"
    return told


def read_here(path: Path, topology: Path | None, *, matrix: bool) -> str:
    """Read a file; return the number of snapshots, or why it is refused."""
    from timme.io import read, read_matrix

    try:
        if matrix:
            return f"read {read_matrix(path).values.shape[0]}"
        ensemble = read(path) if topology is None else read(topology, path)
        count = sum(len(block.weights) for block in ensemble.blocks())
    except (ValueError, TypeError, OSError) as error:
        message = str(error)
        helpful = "\n" not in message and path.name in message and len(message) < 600
        helpful = helpful and "MemoryError" not in message
        return f"refused {message}" if helpful else f"traceback {message}"
    noted = any("once" in note or "END" in note for note in ensemble.notes)
    return f"read {sys.maxsize if noted else count}"


def read_by_mdanalysis(path: Path, topology: Path | None) -> str:
    """Read a file by MDAnalysis alone."""
    import MDAnalysis as mda

    try:
        universe = mda.Universe(str(path)) if topology is None else mda.Universe(topology, path)
        return f"read {sum(1 for step in universe.trajectory if step.positions is not None)}"
    except Exception as error:  # noqa: BLE001, whatever it raises
        return f"refused {error}"


def frame_ends(path: Path) -> frozenset[int]:
    """Return the lengths at which a cut leaves a whole file of fewer frames."""
    from timme.io.trajectories import index_file

    if path.suffix == ".dcd":  # 12 atoms in a box
        size = 3 * (4 * 12 + 8) + 56
        return frozenset(path.stat().st_size - size * count for count in range(5))
    indexed = path.suffix in {".xtc", ".trr", ".gro", ".xyz", ".extxyz", ".dump"}
    offsets = index_file(path).offsets if indexed else None
    text = path.suffix in {".gro", ".xyz", ".extxyz", ".dump"}  # of which editors leave out the end
    known = [] if offsets is None else offsets.tolist()
    return frozenset(offset - less for offset in known for less in range(1 + text))


def outcome(told: str, case: Case, ends: frozenset[int]) -> str:
    """Return what became of a file; fewer frames than it has are none of a file cut between."""
    word, _, count = told.partition(" ")
    if word != "read":
        return word or "crash"
    whole = N_FRAMES.get(case.format, 5)
    return "fewer" if int(count) < whole and len(case.data) not in ends else "read"


Outcomes = Counter[tuple[str, str]]


def run(count: int, *, beside: bool) -> tuple[Outcomes, Outcomes, list[str]]:
    """Read damaged files; return outcomes by format, those of MDAnalysis, and what is wrong."""
    import MDAnalysis  # noqa: F401, so that no child imports it

    ours, theirs, wrong = Counter[tuple[str, str]](), Counter[tuple[str, str]](), list[str]()
    with tempfile.TemporaryDirectory() as made, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(made)
        write_files(folder)
        ends = dict[str, frozenset[int]]()
        for format_, names in FILES.items():
            topology = folder / "topology.pdb" if format_ in BARE else None
            for name in names:  # children inherit the libraries that whole files need
                ends[name] = frame_ends(folder / name)
                told = read_here(folder / name, topology, matrix=format_ == "matrix")
                if not told.startswith("read"):
                    wrong.append(f"{name}, whole: {told}")
        for number, case in enumerate(cases(folder, count)):
            path = folder / f"damaged{number}{Path(case.name).suffix}"
            path.write_bytes(case.data or b" ")
            topology = folder / "topology.pdb" if case.format in BARE else None
            is_matrix = case.format == "matrix"
            told = in_child(partial(read_here, path, topology, matrix=is_matrix))
            found = outcome(told, case, ends[case.name])
            ours[case.format, found] += 1
            if found not in {"read", "refused"}:
                wrong.append(f"{case.name}, {case.damage}, file {number}: {told[:300]}")
            if beside and case.format in BY_MDANALYSIS:
                told = in_child(partial(read_by_mdanalysis, path, topology))
                theirs[case.format, outcome(told, case, ends[case.name])] += 1
            path.unlink()
    return ours, theirs, wrong


def main() -> None:
    """Print a table of what becomes of damaged files."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    ours, theirs, wrong = run(count, beside=True)
    header = " ".join(f"{name:>9}" for name in OUTCOMES)
    print(f"{'':8} {'TIMME':>58} | {'MDAnalysis':>40}")
    print(f"{'':8} {header} | {header}")
    for format_ in FILES:
        cells = [f"{table[format_, name]:9d}" for table in (ours, theirs) for name in OUTCOMES]
        print(f"{format_:8} " + " ".join(cells[:6]) + " | " + " ".join(cells[6:]))
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
