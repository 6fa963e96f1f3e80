"""Freeze results of the package over the golden systems: files that later results must equal.

Run ``python -m tests_next.golden.make`` in the root of the project to make everything, or name a
part: bonds, inputs, core (and its cases), recipes, corpus, science. The inputs are files of
``../shared/data``, of MDAnalysisTests and of the package, or are generated from seeds in
`tests_next.golden.systems`.

``bonds.npz``
    Bonds of systems whose files have none, guessed from distances: (bonds, 2) for each.
``inputs.json``
    Digest of the coordinates (to six decimals) and bonds of every system, to tell a changed
    input from a changed result.
``core/CASE.npz``
    One for each case of `tests_next.golden.cases`; read it with `load_core`:

    * ``pairs``, ``sigma``, ``common``: 900 of the measured pairs, evenly chosen from their
      sorted list; σ (rounded to single precision where it is summed in it) and the snapshots
      that both objects are seen in. ``sums``: σ summed over
      100 consecutive pieces of that list, so that every pair counts.
    * ``heights``, ``parents``, ``order``: the hierarchy and its leaf order;
      ``restricted_heights``, ``restricted_parents``: as every seventh object sees it.
    * ``cutoffs``, ``labels``: partitions at three cutoffs, each in a wide gap between levels.
    * ``curve_…``: what is counted at 20 cutoffs, each in the middle between two levels: clusters,
      the largest, the mean size, the fractions in clusters of 1 to 5, and of 10 or more.
      ``inflection``, ``long_lived``: cutoffs that these point to.
    * ``condensed_…``: clusters of the condensed tree of at least ``condensed_min_size`` objects.
    * ``stripes_digest``, ``n_stripes``: the columns start, stop and family of the stripes.
    * ``facts``: numbers of objects, chosen and measured pairs, and trees; digests of all pairs,
      common snapshots, members, offsets, names and anchors; description, unit, and how many pairs
      come near half the box.

``recipes.json``
    What `timme.analyse` chooses by default for each run of `tests_next.golden.recipes`: the kind
    of system, objects, pairs and settings, what is shown, the length and unit; and numbers that
    tell whether the result is the same.
``settings.json``
    Every setting of `timme.analyse`, `timme.rigid`, comparisons and displays: default, what the
    default follows from, choices and limits.
``corpus.json``
    What `timme.read` makes of each entry of `tests_next.golden.corpus`, as its `describe` notes
    it: shape, unit, names, bonds, molecules, and of three snapshots the digest, the sums and a few
    coordinates, so that a difference can be told from rounding; or why it is refused ("error").

``science/NAME.npz``
    Rigidity, motion, confidence and comparisons, by dotted names that follow the fields of the
    results (``records.0.separation.excess``); read it with `load_science`. Up to 40 numbers are a
    list. Arrays of more than 6,000 numbers are there as ``NAME.shape``, ``NAME.digest``,
    ``NAME.sum``, ``NAME.squares`` and ``NAME.sample`` (every (size // 500)th number). What is
    computed is told by the functions of `tests_next.golden.make_science`:

    * ``rigidity-…``: the atoms with hydrogens, ``network`` bond by bond (``kinds`` are places in
      KINDS; ``energies`` of the bonds ``with_energy``), ``dilution`` (all atoms) and
      ``shown_dilution`` (Cα) as ``heights`` and ``parents``, and ``at ENERGY`` floppy modes,
      sizes, hinges and the Cα of the core; at -1 kcal/mol every column of the decomposition.
    * ``motion-…``: ``motion`` (bodies, levels, hinges, explained variance), bodies of a given
      number, ``splits``, ``rmsf``, principal and distance components (signs left out),
      covariance, overlap of halves, screws from the first to the last snapshot.
    * ``confidence-…``: ``sampling``, ``records`` of the condensed tree, ``silhouettes``,
      ``draws`` and ``convergence``; the systems and options are JUDGED. ``confidence-series``:
      errors of positions, chance, windows, σ by time; ``confidence-aligned-errors``: hierarchies
      of a matrix by three linkages, as in ``core``, and its levels.
    * ``comparison``: both indices at up to 50 × 50 cutoffs, the best pair, and clusters matched.

Results of double precision (``dtype``, or fewer than 64 snapshots) agree to 1e-12, those of single
precision to a relative 2e-5, as the order of summation is free. A digest is `digest` of
`tests_next.golden.digests`: the first 16 digits of SHA-256 over shape and values.
"""

from __future__ import annotations

import sys

from tests_next.golden.corpus import freeze_corpus
from tests_next.golden.make_core import freeze_bonds, freeze_core, freeze_inputs, write
from tests_next.golden.make_recipes import freeze_recipes, freeze_settings
from tests_next.golden.make_science import freeze_science


def main(wanted: list[str]) -> None:
    """Make what is wanted, or everything."""
    part, names = (wanted[0], wanted[1:]) if wanted else ("", [])
    if part in {"", "bonds"}:
        freeze_bonds()
    if part in {"", "inputs"}:
        freeze_inputs()
    if part in {"", "core"}:
        freeze_core(names)
    if part in {"", "recipes"}:
        freeze_settings()
        freeze_recipes()
    if part in {"", "corpus"}:
        write("corpus", freeze_corpus())
    if part in {"", "science"}:
        freeze_science(names)


if __name__ == "__main__":
    main(sys.argv[1:])
