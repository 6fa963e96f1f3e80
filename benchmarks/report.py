"""Write what was found: a table for the screen, a page and a plot for the documentation."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from benchmarks.results import Curve, Row
from timme.engine.threads import available_cores

_COLUMNS = ("name", "ours", "peer or limit", "ratio", "wanted", "holds?")
_LIBRARIES = "numpy scipy numba MDAnalysis mdtraj scikit-learn fast_hdbscan"

_PAGE = """# Benchmarks

`make bench` measures TIMME beside what a user could assemble instead, and writes this page. Each
row is one comparison within one run: contenders take turns, and medians are compared. Times differ
from machine to machine; ratios differ little.

{table}

Last run: {date}, {cores} cores of {processor}, Python {python}, {libraries}.

![Time against the number of sites](images/benchmark.png)

*All pairs of an elastic solid, 100 snapshots: measuring σ and linking, reading excluded. Dashed:
power laws through the larger half of the sizes.*

## What is compared

- **Pair kernel**: a block of frames, read and laid out, merged into the moments of a random piece
  of all pairs, beside a bare loop of three subtractions, a square root and two sums over data in
  the first cache, in all cores. A ratio of 1 cannot be passed.
- **All pairs, adenylate kinase**: the DIMS trajectory of MDAnalysisTests in memory. The recipe is
  `self_distance_array(backend="OpenMP")` of each frame, running sums in double precision, and
  SciPy's single linkage; the same with mdtraj's `compute_distances` and with SciPy's `pdist`. Brute
  force is `timme.link(timme.measure(...))`. Before timing, `timme.cluster` must equal brute force
  bit for bit, and the recipe's tree at every level to 1e-6 Å.
- **σ of all pairs**: `timme.measure` from coordinates to a list of σ, beside the bare loop in the
  precision that is used; sums held from block to block must give the same bits.
- **Uncorrelated**: points of which no pair can be given up early, beside brute force.
- **Bodies**: an atom with its bonded neighbours, pairs within 10 Å and all pairs, four bonds apart
  or more; `timme.cluster` must equal brute force. What a user would write is
  `self_capped_distance` with a set of pairs, σ² of all atoms by running sums, the membership
  matrix on both sides of it, and SciPy's spanning tree: the same pairs, and σ to 1e-6 Å.
- **Single linkage of ready-made σ**: the last step alone, beside libraries that take a
  matrix. `timme.cluster` never makes one.
- **All pairs, large**: `timme.synthetic.elastic`, whose slow waves move neighbours together. Brute
  force is timed on a random tenth of its rows and scaled. Memory is the peak of a process of its
  own, counted from after imports and compiling: coordinates included.
- **Streaming**: a trajectory on disk, analysed by a process whose address space is limited, and
  by another that holds all of it in memory: to the same bits.
- **XTC**: CPU time of reading solvated adenylate kinase, whose numbers must be those that others
  read; ours walks through the compressed bits once more, as damaged ones would be read as well.
- **Plan**: what the engine would submit for a million sites and frames, counted by a client that
  computes nothing.
- **Workers**: `timme.cluster` on a dask scheduler with worker processes of one thread each, beside
  as many threads of one process; hierarchies must be the same bits. Transfer is what the task
  stream of dask counts as such.
- **Contacts**: `timme.pairs.within` of adenylate kinase within 10 Å, beside MDAnalysis'
  `self_capped_distance` of each frame with a set of pairs, which must be the same, and beside
  measuring σ of what was found; and at the density of water, within 3.5 Å.
- **Rigidity**: solvated adenylate kinase of MDAnalysisTests, and spheres of whole molecules at a
  corner of its box, with the hydrogen bonds of all waters from -1 kcal/mol down. Barnase, with
  hydrogens added, gets its hydrogen bonds one by one.
- **Shipped systems**: those of `timme.data`, from coordinates in memory to clusters and how sure
  they are, on one core, beside σ of their sites alone.
- **Start-up**: new interpreters from start to end.

Equal results from threads, clusters and resumed runs are held by `make check` and `make test-long`.
"""


def print_table(rows: Sequence[Row]) -> None:
    """Print rows in aligned columns."""
    table = [_COLUMNS, *(row.cells for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("  ".join(cells).rstrip())
    print(f"{available_cores()} cores of {_processor()}")


def write_page(docs: Path, rows: Sequence[Row], curves: Sequence[Curve]) -> None:
    """Write ``benchmarks.md`` and ``images/benchmark.png`` into the folder of documentation."""
    lines = [_COLUMNS, ("---",) * len(_COLUMNS), *(row.cells for row in rows)]
    page = _PAGE.format(
        table="\n".join(f"| {' | '.join(cells)} |" for cells in lines),
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        cores=available_cores(),
        processor=_processor(),
        python=platform.python_version(),
        libraries=", ".join(f"{name} {version(name)}" for name in _LIBRARIES.split()),
    )
    (docs / "benchmarks.md").write_text(page, encoding="utf-8")
    _draw(docs / "images" / "benchmark.png", curves)


def _processor() -> str:
    """Name the processor, and the width of the vectors for which loops are compiled."""
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    widths = {"avx512f": 512, "avx2": 256, "neon": 128, "sse2": 128}
    width = max((bits for name, bits in widths.items() if features.get(name)), default=64)
    return f"{binding.get_host_cpu_name()}, vectors of {width} bits"


def _draw(path: Path, curves: Sequence[Curve]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for curve in curves:
        label = f"{curve.name}, $N^{{{curve.exponent:.2f}}}$"
        (line,) = axes.loglog(curve.sizes, curve.seconds, "o", label=label)
        ends = np.array([curve.sizes[0], curve.sizes[-1]])
        law = curve.seconds[-1] * (ends / ends[-1]) ** curve.exponent
        axes.loglog(ends, law, "--", color=line.get_color(), linewidth=1)
    axes.set(xlabel="sites N", ylabel="time (s)")
    axes.legend(frameon=False)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)
