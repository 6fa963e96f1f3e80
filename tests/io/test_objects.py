"""Invariants of objects of other libraries: what they hold, or what to pass in their place."""

from __future__ import annotations

import ase
import freud  # type: ignore[import-untyped]
import MDAnalysis as mda
import numpy as np
import pandas as pd
import pytest
from MDAnalysisTests import datafiles

import timme
from timme.io import read

PLACES = np.random.default_rng(0).uniform(0, 9, (4, 3, 3))


def test_other_atoms_and_other_objects_are_refused_with_what_to_pass() -> None:
    assert read(ase.Atoms("OH2", PLACES[0])).coordinates().shape == (1, 3, 3)
    with pytest.raises(ValueError, match="need the same atoms in one order"):
        read([ase.Atoms("OH2", PLACES[0]), ase.Atoms("HOH", PLACES[1])])
    with pytest.raises(ValueError, match=r"coordinates are real numbers .* got object"):
        read(object())
    with pytest.raises(TypeError, match="tables are read one at a time"):
        read([pd.DataFrame({"x": [1.0]})] * 2)


@pytest.mark.filterwarnings("ignore:Element information")
def test_a_universe_is_read_whatever_its_reader_calls_its_format() -> None:
    universe = mda.Universe(datafiles.PDB_small)  # a list of names
    found = read(universe, bonds="none").coordinates()[0]
    np.testing.assert_array_equal(found, universe.atoms.positions)


@pytest.mark.parametrize("flat", [False, True])
def test_boxes_of_freud_are_box_vectors(flat: bool) -> None:
    box = freud.box.Box(20, 21, 0 if flat else 22, 0.25, 0 if flat else -0.1, 0, is2D=flat)
    depth = 0.0 if flat else 22.0
    vectors = np.array([[20.0, 0, 0], [0.25 * 21, 21, 0], [-0.1 * depth, 0, depth]])
    found, expected = (read(PLACES, box=each).snapshot()[1] for each in (box, vectors))
    assert found is not None
    assert expected is not None
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_a_table_with_the_same_labels_on_both_sides_is_a_matrix() -> None:
    values = np.array([[0.0, 0.1, 0.5], [0.1, 0.0, 0.4], [0.5, 0.4, 0.0]])
    for labels in (list("abc"), range(3)):
        table = pd.DataFrame(values, index=labels, columns=labels)
        assert timme.analyse(table).hierarchy.levels.tolist() == [0.1, 0.4]
        assert timme.link(table).levels.tolist() == [0.1, 0.4]
