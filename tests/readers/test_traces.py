"""Chains of which one atom of each residue is known count the bonds between, as the whole does."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import timme
from tests.naive import bond_separation
from tests.readers.builders import Record, as_mmcif, atom, pdb_text, peptide, write_pdb
from timme.analysis.parts import Measured
from timme.readers import read
from timme.system.ensemble import Ensemble
from timme.system.traces import with_missing_atoms
from timme.workflow.remarks import remarks_on


def compared(analysis: timme.Analysis) -> dict[tuple[str, str], float]:
    """σ of the pairs that were compared, by the names of their sites."""
    measured = analysis.fluctuations
    assert measured is not None
    sites = analysis.system.sites
    labels = [sites.label(int(site)) for site in analysis.system.object_sites]
    pairs = measured.pairs.tolist()
    return {
        (labels[a], labels[b]): float(sigma)
        for (a, b), sigma in zip(pairs, measured.sigma, strict=True)
    }


@pytest.fixture(scope="module")
def barnase() -> Ensemble:
    files = [timme.data.path(name) for name in ("barnase_md.pdb", "barnase_md.xtc")]
    return read(files[0], files[1], stop=20)


def records_of(alphas: Ensemble) -> list[list[Record]]:
    names = alphas.atoms.take(alphas.site_atoms)
    return [
        [
            atom(
                "CA",
                int(names.resids[site]),
                place,
                resname=str(names.resnames[site]),
                chain=str(names.chains[site]),
            )
            for site, place in enumerate(places.tolist())
        ]
        for places in alphas.coordinates()
    ]


def as_pdb(folder: Path, alphas: Ensemble) -> Any:
    return write_pdb(folder / "ca.pdb", records_of(alphas))


def as_cif(folder: Path, alphas: Ensemble) -> Any:
    return as_mmcif(folder / "ca.cif", pdb_text(records_of(alphas)))


def as_gro(folder: Path, alphas: Ensemble) -> Any:
    lines = list[str]()
    for records in records_of(alphas):
        lines += ["alphas", f"{len(records)}"]
        for serial, record in enumerate(records, start=1):
            place = "".join(f"{0.1 * value:8.4f}" for value in record[6:9])
            lines.append(f"{record[4]:5d}{record[2]:<5}{'CA':>5}{serial:5d}{place}")
        lines.append("0.0 0.0 0.0")
    path = folder / "ca.gro"
    path.write_text("\n".join([*lines, ""]))
    return path


def as_universe(folder: Path, alphas: Ensemble) -> Any:
    import MDAnalysis as mda

    universe = mda.Universe(str(as_pdb(folder, alphas)))
    universe.load_new(alphas.coordinates().astype(np.float64), order="fac")
    return universe


def as_array(_: Path, alphas: Ensemble) -> Any:
    names = alphas.atoms.take(alphas.site_atoms)
    return Ensemble.from_array(alphas.coordinates(), atoms=names, unit="Å")


@pytest.mark.parametrize("write", [as_pdb, as_cif, as_gro, as_universe, as_array])
def test_alphas_alone_are_compared_as_those_of_the_whole(
    tmp_path: Path, barnase: Ensemble, write: Callable[[Path, Ensemble], Any]
) -> None:
    alphas = barnase.select("ca")
    whole = compared(timme.analyse(alphas, confidence=False))
    alone = timme.analyse(write(tmp_path, alphas), confidence=False)
    found = compared(alone)
    if write is as_gro:  # which has no chains
        whole = {
            (a.removeprefix("A/"), b.removeprefix("A/")): sigma for (a, b), sigma in whole.items()
        }
    assert found.keys() == whole.keys()
    scale = 10.0 if alone.system.unit == "nm" else 1.0
    pairs = sorted(whole)
    np.testing.assert_allclose(
        [scale * found[pair] for pair in pairs], [whole[pair] for pair in pairs], atol=2e-3
    )
    assert alone.recipe.options["min_bonds"] == 4
    neighbours = [pair for pair in pairs if _apart(pair) == 1]
    assert not neighbours
    assert any(_apart(pair) == 2 for pair in pairs)


def _apart(pair: tuple[str, str]) -> int:
    one, other = (int(label.split("/")[-2].split()[1]) for label in pair)
    return abs(other - one)


def chain(*places: npt.ArrayLike, **named: Any) -> list[Record]:
    return [atom("CA", k + 1, np.asarray(p).tolist(), **named) for k, p in enumerate(places)]


def steps_of(tmp_path: Path, records: list[Record], **options: Any) -> list[list[int]]:
    found = read(write_pdb(tmp_path / "a.pdb", [records]), **options).steps
    return [] if found is None else found.tolist()


@pytest.mark.parametrize(
    ("step", "joined"), [(2.4, False), (2.9, True), (3.8, True), (4.4, True), (4.7, False)]
)
def test_a_cis_or_trans_peptide_is_a_step_and_a_break_is_none(
    tmp_path: Path, step: float, *, joined: bool
) -> None:
    """Cα are 2.9 Å apart across a cis peptide, 3.8 Å across a trans one."""
    records = chain((0, 0, 0), (step, 0, 0))
    assert steps_of(tmp_path, records) == [[0, 1, 3]] * joined


def test_residues_of_other_chains_do_not_follow(tmp_path: Path) -> None:
    records = [*chain((0, 0, 0)), *chain((3.8, 0, 0), chain="B")]
    assert not steps_of(tmp_path, records)


@pytest.mark.parametrize(("step", "joined"), [(3.8, True), (4.3, False)])
def test_ends_of_a_missing_loop_are_not_joined_where_strands_lie_side_by_side(
    tmp_path: Path, step: float, *, joined: bool
) -> None:
    records = [atom("CA", 10, (0, 0, 0)), atom("CA", 16, (step, 0, 0))]
    assert bool(steps_of(tmp_path, records)) == joined


def test_insertion_codes_and_modified_residues_are_part_of_the_chain(tmp_path: Path) -> None:
    records = [
        atom("CA", 52, (0, 0, 0)),
        atom("CA", 52, (3.8, 0, 0), icode="A"),
        atom("CA", 53, (7.6, 0, 0), resname="CSO"),
        atom("CA", 54, (11.4, 0, 0)),
    ]
    assert steps_of(tmp_path, records) == [[0, 1, 3], [1, 2, 3], [2, 3, 3]]


def test_calcium_is_no_alpha(tmp_path: Path) -> None:
    ions = [atom("CA", k, (3.8 * k, 0, 0), resname="CA", element="CA") for k in (2, 3)]
    assert not steps_of(tmp_path, [atom("CA", 1, (0, 0, 0)), *ions])


@pytest.mark.parametrize(("name", "element"), [("P", "P"), ("C4'", "C")])
def test_nucleotides_are_six_bonds_apart(tmp_path: Path, name: str, element: str) -> None:
    """P–O5'–C5'–C4'–C3'–O3'–P, and as many from one C4' to the next."""
    records = [atom(name, k + 1, (6.0 * k, 0, 0), resname="U", element=element) for k in range(4)]
    assert steps_of(tmp_path, records) == [[0, 1, 6], [1, 2, 6], [2, 3, 6]]


def test_where_the_backbone_is_there_bonds_tell(tmp_path: Path) -> None:
    assert not steps_of(tmp_path, peptide(n_residues=4))
    without = [record for record in peptide(n_residues=4) if record[0] in {"CA", "CB"}]
    assert steps_of(tmp_path, without) == [[0, 2, 3], [2, 4, 3], [4, 6, 3]]


def test_who_wants_no_bonds_gets_no_steps(tmp_path: Path) -> None:
    records = chain((0, 0, 0), (3.8, 0, 0))
    assert not steps_of(tmp_path, records, bonds="none")
    assert not steps_of(tmp_path, records, bonds=[(0, 1)])


def test_a_note_says_what_is_counted(tmp_path: Path) -> None:
    path = write_pdb(tmp_path / "a.pdb", [chain((0, 0, 0), (3.8, 0, 0), (7.6, 0, 0))])
    (note,) = read(path).notes
    assert note.endswith("2 pairs of Cα that follow one another count as 3 bonds apart")


def listed(pairs: timme.pairs.Pairs) -> npt.NDArray[np.int64]:
    return np.concatenate(list(pairs.chunks(1000)))


@pytest.mark.parametrize("min_bonds", range(1, 9))
def test_bonds_along_a_trace_are_counted_as_in_the_whole(tmp_path: Path, min_bonds: int) -> None:
    whole = read(write_pdb(tmp_path / "all.pdb", [peptide(n_residues=6)]))
    alone = [record for record in peptide(n_residues=6) if record[0] == "CA"]
    trace = read(write_pdb(tmp_path / "ca.pdb", [alone]))
    expected, found = (
        listed(timme.pairs.all(timme.objects.points(each), min_bonds=min_bonds))
        for each in (whole.select("ca"), trace)
    )
    np.testing.assert_array_equal(found, expected)
    least = -(-min_bonds // 3)  # residues
    assert np.diff(found).min() == max(1, least)


def test_chains_of_alphas_are_molecules(tmp_path: Path) -> None:
    one = chain(*np.outer(range(1, 5), (3.8, 0, 0)))
    other = chain(*np.outer(range(3), (0, 3.8, 0)), chain="B")
    ensemble = read(write_pdb(tmp_path / "a.pdb", [[*one, *other]]))
    assert np.diff(timme.objects.molecules(ensemble).offsets).tolist() == [4, 3]


def test_more_bonds_are_proposed_than_the_next_residue_is_apart(tmp_path: Path) -> None:
    """One more than 4 would leave out no pair of Cα: the next but one is six bonds away."""
    rng = np.random.default_rng(3)
    rod = np.outer(np.arange(8), (3.8, 0, 0))
    models = [chain(*(rod + rng.normal(scale=1e-3, size=rod.shape))) for _ in range(6)]
    path = write_pdb(tmp_path / "a.pdb", models)
    made = timme.analyse(path, pairs="all", confidence=False)
    assert made.fluctuations is not None
    sigma = np.full_like(made.fluctuations.sigma, 1e3)
    wide = replace(made, parts=(Measured(replace(made.fluctuations, sigma=sigma)),))
    (remark,) = remarks_on(wide)
    assert remark.endswith("Compare pairs more bonds apart (min_bonds=7)")
    assert len(compared(timme.analyse(path, pairs="all", min_bonds=7, confidence=False))) == 15


def test_missing_atoms_are_put_between() -> None:
    bonds, count = with_missing_atoms(np.array([[0, 1]]), np.array([[0, 2, 3], [2, 3, 6]]), 4)
    assert count == 4 + 2 + 5
    lengths = bond_separation(count, bonds.tolist())
    assert (lengths[0, 2], lengths[2, 3], lengths[0, 3], lengths[1, 2]) == (3, 6, 9, 4)


def helix(n_residues: int) -> npt.NDArray[np.float64]:
    """Places of Cα, 3.8 Å from one to the next and 5.4 Å to the next but one."""
    turns = np.radians(100.0) * np.arange(n_residues)
    return np.column_stack([2.3 * np.cos(turns), 2.3 * np.sin(turns), 1.5 * np.arange(n_residues)])


def trembling(places: npt.NDArray[np.float64], n_snapshots: int = 6) -> npt.NDArray[np.float64]:
    rng = np.random.default_rng(2)
    return places + rng.normal(scale=0.05, size=(n_snapshots, *places.shape))


def write_psf(path: Path, bonds: list[tuple[int, int]], n_atoms: int, resname: str) -> Path:
    """A topology of Cα alone, each a residue."""
    atoms = [
        f"{k + 1:8d} A    {k + 1:<4d} {resname:<4} CA   CA   {0:10.6f}    {100.0:10.4f}           0"
        for k in range(n_atoms)
    ]
    numbers = [f"{number + 1:8d}" for bond in bonds for number in bond]
    rows = ["".join(numbers[start : start + 8]) for start in range(0, len(numbers), 8)]
    lines = [
        "PSF",
        "",
        f"{1:8d} !NTITLE",
        " REMARKS a model",
        "",
        f"{n_atoms:8d} !NATOM",
        *atoms,
        "",
    ]
    lines += [f"{len(bonds):8d} !NBOND: bonds", *rows, "", f"{0:8d} !NTHETA: angles", "", ""]
    path.write_text("\n".join(lines))
    return path


def universe_of(topology: Path, places: npt.NDArray[np.float64]) -> Any:
    import MDAnalysis as mda

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of files without coordinates
        return mda.Universe(str(topology)).load_new(places, order="fac")


@pytest.mark.parametrize("resname", ["ALA", "G1"])  # of which other models make up names
@pytest.mark.parametrize("springs", [False, True], ids=["chain", "elastic network"])
def test_bonds_between_alphas_stand_for_the_atoms_between(
    tmp_path: Path, resname: str, *, springs: bool
) -> None:
    chained = [(k, k + 1) for k in range(11)]
    others = [(k, k + 3) for k in range(9)] if springs else []
    topology = write_psf(tmp_path / "a.psf", chained + others, 12, resname)
    made = universe_of(topology, trembling(helix(12)))
    made.atoms.write(str(tmp_path / "a.dcd"), frames="all")
    ensemble = read(topology, tmp_path / "a.dcd")
    assert ensemble.steps is not None
    assert ensemble.steps.tolist() == [[*pair, 3] for pair in chained]
    assert not len(ensemble.atoms.bonds)
    assert any(f"{len(chained + others)} bonds between Cα" in note for note in ensemble.notes)
    pairs = listed(timme.pairs.all(timme.objects.points(ensemble), min_bonds=4))
    assert np.diff(pairs).min() == 2
    made_of = timme.analyse(topology, tmp_path / "a.dcd", pairs="all", confidence=False)
    assert made_of.recipe.options["objects"] == "points"


def test_a_sheet_of_carbon_whose_atoms_are_called_ca_keeps_its_bonds(tmp_path: Path) -> None:
    bonds = [(k, k + 1) for k in range(5)]
    topology = write_psf(tmp_path / "a.psf", bonds, 6, "GRA")
    zigzag = np.column_stack([1.23 * np.arange(6), 0.7 * (np.arange(6) % 2), np.zeros(6)])
    universe = universe_of(topology, trembling(zigzag))
    ensemble = read(universe)
    assert ensemble.atoms.bonds.tolist() == [list(bond) for bond in bonds]
    assert not len(ensemble.steps if ensemble.steps is not None else ())


@pytest.mark.parametrize("order", ["shuffled", "interleaved"])
def test_chains_are_followed_in_any_order_of_the_file(tmp_path: Path, order: str) -> None:
    records = [
        atom("CA", k + 1, (helix(20)[k] + shift).tolist(), chain=letter)
        for letter, shift in (("A", 0.0), ("B", 30.0))
        for k in range(20)
    ]
    expected = {(*key, 3) for letter in "AB" for key in ((letter, k) for k in range(1, 20))}
    places = np.random.default_rng(1).permutation(40)
    if order == "interleaved":
        places = np.arange(40).reshape(2, 20).T.ravel()
    mixed = [records[place] for place in places]
    steps = steps_of(tmp_path, mixed)
    ensemble = read(tmp_path / "a.pdb")
    found = {
        (str(ensemble.atoms.chains[a]), int(ensemble.atoms.resids[[a, b]].min()), count)
        for a, b, count in steps
    }
    assert found == expected
    assert len(steps) == 38


def test_a_fused_domain_is_numbered_as_it_likes(tmp_path: Path) -> None:
    numbers = [*range(1, 6), *range(1001, 1006), *range(6, 11)]
    records = [atom("CA", n, p) for n, p in zip(numbers, helix(15).tolist(), strict=True)]
    assert steps_of(tmp_path, records) == [[k, k + 1, 3] for k in range(14)]


@pytest.mark.parametrize("odd", range(3))
def test_one_odd_snapshot_breaks_no_chain(tmp_path: Path, odd: int) -> None:
    places = trembling(helix(8), 3)
    places[odd, 4:] += (6.0, 0.0, 0.0)
    models = [chain(*model) for model in places]
    steps = read(write_pdb(tmp_path / "a.pdb", models)).steps
    assert steps is not None
    assert steps[:, :2].tolist() == [[k, k + 1] for k in range(7)]


def test_what_is_called_ca_in_unknown_residues_is_no_trace(tmp_path: Path) -> None:
    """Calcium may stand there; beside a known residue it is one of the chain."""
    unknown = chain(*np.outer(range(4), (3.8, 0, 0)), resname="UNK")
    assert not steps_of(tmp_path, unknown)
    known = [*unknown, atom("CA", 5, (15.2, 0, 0))]
    assert steps_of(tmp_path, known) == [[k, k + 1, 3] for k in range(4)]
