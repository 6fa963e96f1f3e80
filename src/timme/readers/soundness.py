"""Whether what a file says can be true: boxes that hold their atoms, atoms that do not collide."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from timme._arrays import Bools, Floats, Ints
from timme._errors import counted
from timme.system.atoms import Atoms
from timme.system.elements import HYDROGENS, covalent_radii
from timme.system.ensemble import Ensemble
from timme.system.frames import Frames
from timme.system.neighbours import have_partners, pairs_within
from timme.system.placeholders import is_placeholder, is_too_small
from timme.system.residues import is_ion, is_nucleic, is_protein
from timme.system.space import Boxes

_CLASH = 0.5  # Å: no two heavy atoms are nearer, whatever is between them
_CLASHING = 0.05  # of the heavy atoms; a few are misplaced atoms, so many are several models in one
_PROBES = 10  # snapshots of a trajectory that are looked at
_LOOKS, _LOOKS_IN_FILES = 16, 4  # steps by which copies are noticed; half of all are copies then
_PART = 20_000  # heavy atoms of them
_FEW = 10  # clashing atoms of a small molecule that are no error yet
_SHORT = 0.72  # of the sum of covalent radii: triple bonds have 0.77
_STRETCHED = 1.15  # of that sum: longer than any bond that the refinement of a crystal leaves
_TOUCHING = 0.25  # Å beyond that sum, within which only bonded atoms are


def notes_on_copies(frames: Frames) -> Iterator[str]:
    """Say that most snapshots are exact copies of the one before, as nothing that moves is.

    Parameters
    ----------
    frames : Frames
        The snapshots that are kept, as the source has them.

    Yields
    ------
    str
        A note, where more than half are such copies.
    """
    n_steps = frames.shape[0] - 1
    if n_steps < 1:
        return
    # A few steps tell whether all are worth a look; at random, as copies may alternate.
    n_looks = min(n_steps, _LOOKS if frames.in_memory else _LOOKS_IN_FILES)
    chosen = np.random.default_rng(0).choice(n_steps, n_looks, replace=False)
    try:
        if not any(_is_copied(frames, step) for step in sorted(chosen.tolist())):
            return
        n_copies = sum(_is_copied(frames, step) for step in range(n_steps))
    except ValueError:  # of a frame that cannot be read, which is told when it is needed
        return
    if n_copies == n_steps:
        yield f"all {n_steps + 1:,} snapshots are the same: nothing moves"
    elif 2 * n_copies > n_steps:
        yield f"{n_copies:,} of {n_steps + 1:,} snapshots are exact copies of the one before"


def _is_copied(frames: Frames, step: int) -> bool:
    (before, after), boxes = frames.read(step, step + 2)
    same = np.array_equal(before, after, equal_nan=True)
    return same and (boxes is None or np.array_equal(boxes[0], boxes[1]))


def without_placeholder(
    ensemble: Ensemble, angstrom: float | None, *, outgrown: bool = False
) -> Ensemble:
    """Leave out boxes that cannot hold the atoms, and say so.

    Parameters
    ----------
    ensemble : Ensemble
        All atoms, in the boxes of the source.
    angstrom : float or None
        Length of the unit in Å; None for what are no atoms, which fit into any box.
    outgrown : bool, optional
        Whether the source has a box by default only, as far as its first frame tells.

    Returns
    -------
    Ensemble
        In open space if the box of the first or the last snapshot is a placeholder.
    """
    if outgrown and not (ensemble.atoms.elements != "").any():
        boxes = "the particles span several boxes of length 1"
        return _open(ensemble, f"{boxes}, which was taken for a placeholder")
    if angstrom is None:
        return ensemble
    found = _placeholder(ensemble, 0, angstrom)
    if found is None:
        with contextlib.suppress(ValueError):  # which is told when that snapshot is needed
            found = _placeholder(ensemble, ensemble.n_snapshots - 1, angstrom)
    if found is None:
        return ensemble
    lengths = " × ".join(f"{length:.4g}" for length in np.linalg.norm(found, axis=1))
    box = f"a box of {lengths} {ensemble.unit or 'Å'}"
    return _open(ensemble, f"{box} cannot hold the atoms and was taken for a placeholder")


def _open(ensemble: Ensemble, why: str) -> Ensemble:
    note = f"{ensemble.prefix}{why}: space is open; give the true box (box=) if there is one"
    frames = ensemble.frames.with_boxes(None)
    return replace(ensemble, frames=frames, notes=(*ensemble.notes, note))


def refuse_clashes(ensemble: Ensemble, angstrom: float | None) -> None:
    """Refuse snapshots in which many atoms lie upon one another.

    Parameters
    ----------
    ensemble : Ensemble
        All atoms.
    angstrom : float or None
        Length of the unit in Å, None for what are no atoms.

    Raises
    ------
    ValueError
        If more than a twentieth of the heavy atoms clash in a model of structure files, or in one
        of ten snapshots of a trajectory, the first and the last among them.
    """
    heavy = np.flatnonzero(~np.isin(ensemble.atoms.elements, (*HYDROGENS, "")))
    if angstrom is None or not len(heavy):
        return
    for index, part in _probes(ensemble, heavy):
        try:
            points, boxes = _snapshot(ensemble, index, angstrom)
        except ValueError:  # which is told when that snapshot is needed
            continue
        clashing = part[have_partners(points[part], _CLASH, boxes)]
        if len(clashing) <= max(_FEW, _CLASHING * len(part)):
            continue
        if not have_partners(points[clashing], _CLASH, Boxes.of(None, 1, 3)).any():
            raise ValueError(_outside(ensemble, angstrom))
        unstated = "" if ensemble.unit else "; or name the unit (unit=), if it is not Å"
        raise ValueError(
            f"{ensemble.prefix}{len(clashing):,} of {len(part):,} heavy atoms lie within {_CLASH} "
            f"Å of another in snapshot {index + 1}, such as "
            f"{ensemble.atoms.label(int(clashing[0]))}: several models or alternative places may "
            f"be piled into one; write them apart, as models, or select one{unstated}"
        )


def refuse_small_box(ensemble: Ensemble, angstrom: float | None) -> None:
    """Refuse a box of the user's that no atoms fit into.

    Parameters
    ----------
    ensemble : Ensemble
        All sites, in that box.
    angstrom : float or None
        Length of the unit in Å, None for what are no atoms.

    Raises
    ------
    ValueError
        If it is narrower than 3 Å, or fuller than any crystal.
    """
    matrices = ensemble.frames.read(0, 1)[1]
    if angstrom is None or matrices is None or not (ensemble.atoms.elements != "").any():
        return
    if ensemble.n_dimensions == 3 and is_too_small(angstrom * matrices[0], ensemble.n_sites):
        raise ValueError(_outside(ensemble, angstrom))


def _outside(ensemble: Ensemble, angstrom: float) -> str:
    """Say that a box cannot hold its atoms."""
    matrices = ensemble.frames.read(0, 1)[1]
    lengths = np.zeros(0) if matrices is None else np.linalg.norm(matrices[0], axis=1)
    shown = " × ".join(f"{length:.4g}" for length in lengths)
    unit = ensemble.unit or ("Å" if angstrom == 1.0 else "")
    return (
        f"{ensemble.prefix}a box of {shown} {unit}".rstrip() + " cannot hold these atoms, which "
        "lie upon images of others in it: give the true box in the unit of the coordinates (box=), "
        "or none (box=False)"
    )


def geometry_notes(ensemble: Ensemble, angstrom: float | None) -> tuple[str, ...]:
    """Point out distances and bonds in the first snapshot that no chemistry knows.

    Parameters
    ----------
    ensemble : Ensemble
        All atoms, with their bonds.
    angstrom : float or None
        Length of the unit in Å, None for what are no atoms.

    Returns
    -------
    tuple of str
        A note for each kind of them, none where all is well.
    """
    atoms = ensemble.atoms
    radii = np.where(is_ion(atoms), 0.0, covalent_radii(atoms.elements))
    known = np.flatnonzero(radii > 0)
    if angstrom is None or not len(known) or not len(atoms.bonds):
        return ()
    points, boxes = _snapshot(ensemble, 0, angstrom)
    reach = 2 * float(radii.max()) + _TOUCHING
    pairs = np.sort(known[pairs_within(points[known], reach, boxes)], axis=1)
    distances = _lengths(pairs, points, boxes)
    sums = radii[pairs].sum(axis=1)
    limits = np.where(_among(pairs, atoms.bonds, len(atoms)), _SHORT * sums, sums + _TOUCHING)
    near = pairs[distances < limits][np.argsort((distances / limits)[distances < limits])]
    usual = np.where(radii[atoms.bonds].all(axis=1), radii[atoms.bonds].sum(axis=1), np.inf)
    lengths = _lengths(atoms.bonds, points, boxes) / usual
    strange = atoms.bonds[_are_strange_links(atoms, lengths)]
    found = (
        (near, "pair", "of atoms nearer than chemistry allows"),
        (strange, "covalent bond", "between residues that have none"),
        (_bridges(atoms), "hydrogen", "with two covalent bonds"),
    )
    return tuple(
        f"{ensemble.prefix}{counted(len(places), noun)} {what}, such as "
        f"{' and '.join(atoms.label(int(atom)) for atom in places[0])}, "
        f"{_lengths(places[:1], points, boxes)[0]:.2f} Å apart: check the structure there"
        for places, noun, what in found
        if len(places)
    )


def _probes(ensemble: Ensemble, heavy: Ints) -> Iterator[tuple[int, Ints]]:
    """Choose snapshots and atoms to look at: all of models in memory, and some of a trajectory.

    Of a large system the first snapshot is looked at as a whole, and others part by part, so that
    all of them together cost little more.
    """
    count = ensemble.n_snapshots
    some = count if ensemble.independent else min(count, _PROBES)
    parts = np.array_split(heavy, max(1, len(heavy) // _PART))
    for number, index in enumerate(np.linspace(0, count - 1, some).round().astype(int).tolist()):
        whole = number == 0 or ensemble.independent
        yield index, heavy if whole else parts[number % len(parts)]


def _are_strange_links(atoms: Atoms, lengths: Floats) -> Bools:
    """Find bonds of proteins and nucleic acids by which no residue is bound to another.

    Lengths are relative to the sums of covalent radii. Residues that follow one another are bound,
    and others by bonds of ordinary length between carbon or phosphorus and nitrogen, oxygen or
    sulphur (rings of peptides, side chains, sugars) or between sulphurs, but never by a hydrogen.
    """
    one, other = atoms.bonds.T
    polymer = is_protein(atoms) | is_nucleic(atoms)
    light = np.isin(atoms.elements, HYDROGENS)
    chain, step = atoms.chains[one] == atoms.chains[other], atoms.resids[one] - atoms.resids[other]
    # Some programs write the hydrogens after all other atoms, so that only numbers tell residues.
    same = chain & (step == 0) & (atoms.icodes[one] == atoms.icodes[other])
    following = chain & (np.abs(step) <= 1)
    kinds = [np.isin(atoms.elements, symbols) for symbols in (("C", "P"), ("N", "O"), ("S", "Se"))]
    carbon, polar, sulphur = kinds
    linked = carbon[one] & (polar | sulphur)[other] | carbon[other] & (polar | sulphur)[one]
    linked |= sulphur[one] & sulphur[other]
    linked &= lengths < _STRETCHED
    by_hydrogen = (light[one] | light[other]) & (polymer[one] | polymer[other])
    known = np.isfinite(lengths) & (lengths > 0)
    strange = by_hydrogen | (polymer[one] & polymer[other] & ~following & ~linked)
    return np.asarray(known & ~same & strange, dtype=np.bool_)


def _bridges(atoms: Atoms) -> Ints:
    """List hydrogens that are bound to two heavy atoms, each with one of these."""
    light = np.isin(atoms.elements, HYDROGENS)
    mixed = atoms.bonds[light[atoms.bonds].sum(axis=1) == 1]
    ordered = np.where(light[mixed[:, :1]], mixed, mixed[:, ::-1])
    ordered = ordered[~np.isin(atoms.elements[ordered[:, 1]], ("B", ""))]  # boranes have them
    _, places, counts = np.unique(ordered[:, 0], return_index=True, return_counts=True)
    return np.asarray(ordered[places[counts > 1]], dtype=np.int64)


def _lengths(pairs: Ints, points: Floats, boxes: Boxes) -> Floats:
    vectors = points[pairs[:, 0]] - points[pairs[:, 1]]
    return np.asarray(np.linalg.norm(boxes.shorten(vectors[None])[0], axis=1), dtype=np.float64)


def _placeholder(ensemble: Ensemble, index: int, angstrom: float) -> Floats | None:
    """Return the box of a snapshot if it cannot hold the atoms."""
    points, boxes = ensemble.frames.read(index, index + 1)
    if boxes is None:
        return None
    places = angstrom * np.asarray(points[0], np.float64)
    if not is_placeholder(angstrom * boxes[0], places, ensemble.atoms.elements):
        return None
    box: Floats = boxes[0]
    return box


def _snapshot(ensemble: Ensemble, index: int, angstrom: float) -> tuple[Floats, Boxes]:
    points, box = ensemble.frames.read(index, index + 1)
    scaled = None if box is None else angstrom * box
    return angstrom * np.asarray(points[0], np.float64), Boxes.of(scaled, 1, 3)


def _among(pairs: Ints, bonds: Ints, n_atoms: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    keys = pairs[:, 0] * n_atoms + pairs[:, 1]
    return np.isin(keys, bonds[:, 0] * n_atoms + bonds[:, 1])
