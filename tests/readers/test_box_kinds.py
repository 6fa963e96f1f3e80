"""Every kind of box, as every format writes it, against brute force over periodic images."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme
from tests import naive
from timme._arrays import Floats, Ints

N_SITES, N_FRAMES = 5, 5
LOWER = np.array([[14.0, 0, 0], [3.0, 15.0, 0], [-4.0, 2.5, 16.0]])
# What is written, and what it means: None for open space.
KINDS: dict[str, Floats] = {
    "orthorhombic": np.diag([14.0, 15.0, 16.0]),
    "triclinic": LOWER,
    "hexagonal": np.array([[14.0, 0, 0], [-7.0, 7 * 3**0.5, 0], [0, 0, 16.0]]),
    "film": np.diag([14.0, 15.0, 0.0]),
    "tilted film": LOWER * [[1], [1], [0]],
    "none": np.zeros((3, 3)),
    "placeholder": np.eye(3),
    "changing": LOWER,
}
FLAT = {"film", "tilted film"}  # kinds that only some formats know


def snapshots() -> Floats:
    """Sites all over space, on the grid that every format keeps."""
    noise = np.random.default_rng(4).normal(scale=5.0, size=(N_FRAMES, N_SITES, 3))
    return np.round(noise, 1) + 8.0


def boxes_of(kind: str) -> Floats:
    scale = np.ones(N_FRAMES) if kind != "changing" else np.linspace(1.0, 1.25, N_FRAMES)
    return KINDS[kind] * np.round(scale, 2)[:, None, None]


# ---- writers -------------------------------------------------------------------------------------


def by_mdanalysis(path: Path, places: Floats, boxes: Floats) -> list[Path]:
    import MDAnalysis as mda
    from MDAnalysis.lib.mdamath import triclinic_box

    universe = mda.Universe.empty(N_SITES, trajectory=True)
    universe.add_TopologyAttr("masses", [1.0] * N_SITES)
    universe.load_new(places.astype(np.float32), order="fac")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with mda.Writer(str(path), n_atoms=N_SITES, multiframe=True) as writer:
            for step, box in zip(universe.trajectory, boxes, strict=True):
                step.dimensions = triclinic_box(*box) if box.any() else None
                writer.write(universe.atoms)
    return [path]


def as_gro(path: Path, places: Floats, boxes: Floats) -> list[Path]:
    lines = list[str]()
    for frame, box in zip(places / 10, boxes / 10, strict=True):
        lines += ["made", str(N_SITES)]
        lines += [
            f"{k:5d}{'PAR':<5}{'X':>5}{k:5d}" + "".join(f"{x:8.3f}" for x in place)
            for k, place in enumerate(frame, start=1)
        ]
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = box.tolist()
        lines.append(" ".join(f"{x:.6f}" for x in (xx, yy, zz, xy, xz, yx, yz, zx, zy)))
    path.write_text("\n".join(lines) + "\n")
    return [path]


def as_xyz(path: Path, places: Floats, boxes: Floats) -> list[Path]:
    lines = list[str]()
    for frame, box in zip(places, boxes, strict=True):
        # Directions without a vector are open, and must be given one.
        full = np.where(box.any(axis=1)[:, None], box, np.eye(3))
        flags = " ".join("T" if row.any() else "F" for row in box)
        lattice = " ".join(f"{x:.8f}" for x in full.ravel())
        lines += [str(N_SITES), f'Lattice="{lattice}" Properties=species:S:1:pos:R:3 pbc="{flags}"']
        lines += ["X " + " ".join(f"{x:.4f}" for x in place) for place in frame]
    path.write_text("\n".join(lines) + "\n")
    return [path]


def as_dump(path: Path, places: Floats, boxes: Floats, images: Ints | None = None) -> list[Path]:
    lines = list[str]()
    for step, (frame, box) in enumerate(zip(places, boxes, strict=True)):
        full = np.where(box.any(axis=1)[:, None], box, 50.0 * np.eye(3))
        xy, xz, yz = full[1, 0], full[2, 0], full[2, 1]
        high = np.diag(full).copy()
        low = np.array([min(0, xy, xz, xy + xz), min(0, yz), 0.0])
        high[:2] += max(0, xy, xz, xy + xz), max(0, yz)
        flags = " ".join("pp" if row.any() else "ff" for row in box)
        lines += ["ITEM: TIMESTEP", str(step), "ITEM: NUMBER OF ATOMS", str(N_SITES)]
        lines += [f"ITEM: BOX BOUNDS xy xz yz {flags}"]
        bounds = zip(low, high, (xy, xz, yz), strict=True)
        lines += [f"{a:.8f} {b:.8f} {tilt:.8f}" for a, b, tilt in bounds]
        lines += ["ITEM: ATOMS id type x y z" + (" ix iy iz" if images is not None else "")]
        turns = np.zeros((N_SITES, 0), int) if images is None else images[step]
        lines += [
            " ".join([str(k), "1", *(f"{x:.6f}" for x in place), *map(str, turn)])
            for k, (place, turn) in enumerate(zip(frame, turns, strict=True), start=1)
        ]
    path.write_text("\n".join(lines) + "\n")
    return [path]


def as_gsd(path: Path, places: Floats, boxes: Floats, images: Ints | None = None) -> list[Path]:
    gsd = pytest.importorskip("gsd.hoomd", reason="needs gsd: pip install 'pytimme[formats]'")
    with gsd.open(str(path), "w") as file:
        for step, (frame, box) in enumerate(zip(places, boxes, strict=True)):
            made = gsd.Frame()
            made.configuration.step = step
            lengths = np.diag(box)
            tilts = [
                box[row, column] / lengths[row] if lengths[row] else 0.0
                for row, column in ((1, 0), (2, 0), (2, 1))
            ]
            made.configuration.box = [*lengths, *tilts]
            made.configuration.dimensions = 2 if box.any() and not box[2].any() else 3
            made.particles.N = N_SITES
            made.particles.position = frame
            if images is not None:
                made.particles.image = images[step]
            file.append(made)
    return [path]


Write = Callable[[Path, Floats, Floats], list[Path]]
FORMATS: dict[str, tuple[Write, bool]] = {  # and whether they know of films
    "dcd": (by_mdanalysis, False),
    "xtc": (by_mdanalysis, False),
    "trr": (by_mdanalysis, False),
    "ncdf": (by_mdanalysis, False),
    "gro": (as_gro, False),
    "xyz": (as_xyz, True),
    "lammpstrj": (as_dump, True),
    "gsd": (as_gsd, True),
}
TABLE = [
    (suffix, kind)
    for suffix, (_, films) in FORMATS.items()
    for kind in KINDS
    if films or kind not in FLAT
]


def brute_force(places: Floats, boxes: Floats) -> list[float]:
    """σ of all pairs, over the nearest of all images."""
    return [
        float(
            np.std(
                [
                    np.linalg.norm(naive.nearest_image(frame[a], frame[b], box) - frame[a])
                    for frame, box in zip(places, boxes, strict=True)
                ]
            )
        )
        for a, b in combinations(range(N_SITES), 2)
    ]


def measured(paths: Sequence[Path], **options: Any) -> Floats:
    ensemble = timme.read(paths[0], bonds="none", **options)
    objects = timme.objects.points(ensemble)
    return timme.measure(objects, timme.pairs.all(objects)).sigma


@pytest.mark.filterwarnings("ignore:.*half the periodic box")
@pytest.mark.parametrize(("suffix", "kind"), TABLE, ids=lambda value: value.replace(" ", "-"))
def test_fluctuations_are_those_of_brute_force(tmp_path: Path, suffix: str, kind: str) -> None:
    places, boxes = snapshots(), boxes_of(kind)
    if suffix == "gsd" and kind in FLAT:
        places[..., 2] = 0.0  # as HOOMD has it
    write, _ = FORMATS[suffix]
    paths = write(tmp_path / f"a.{suffix}", places, boxes)
    # Formats without a unit may have boxes of any length; others say ångström.
    unit = "Å" if suffix in {"xyz", "lammpstrj", "gsd"} else None
    meant = np.zeros_like(boxes) if kind == "placeholder" else boxes
    found = measured(paths, unit=unit)
    np.testing.assert_allclose(found, brute_force(places, meant), rtol=1e-5)


@pytest.mark.parametrize("suffix", FORMATS)
def test_without_a_box_distances_are_plain(tmp_path: Path, suffix: str) -> None:
    places, boxes = snapshots(), boxes_of("triclinic")
    write, _ = FORMATS[suffix]
    found = measured(write(tmp_path / f"a.{suffix}", places, boxes), box=False)
    np.testing.assert_allclose(found, brute_force(places, np.zeros_like(boxes)), rtol=1e-5)


# ---- images --------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*half the periodic box")
@pytest.mark.parametrize("kind", ["orthorhombic", "triclinic", "changing", "film", "tilted film"])
def test_boxes_of_a_universe_of_gsd_are_those_of_the_file(tmp_path: Path, kind: str) -> None:
    import MDAnalysis as mda

    places, boxes = snapshots(), boxes_of(kind)
    places[..., 2] *= kind not in FLAT
    (path,) = as_gsd(tmp_path / "a.gsd", places, boxes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        universe = mda.Universe(str(path))
    ensemble = timme.read(universe)
    assert ensemble.unit == ""
    objects = timme.objects.points(ensemble)
    found = timme.measure(objects, timme.pairs.all(objects)).sigma
    np.testing.assert_allclose(found, brute_force(places, boxes), rtol=1e-5)
    universe.trajectory.add_transformations(lambda step: step)
    with pytest.raises(ValueError, match="give the files themselves"):
        timme.read(universe)


def walk() -> tuple[Floats, Floats, Ints]:
    """Sites that walk through the walls of a tilted box: where they are, wrapped, and images."""
    rng = np.random.default_rng(0)
    steps = rng.normal(scale=1.5, size=(N_FRAMES, N_SITES, 3))
    places = rng.uniform(0, 14, (N_SITES, 3)) + np.cumsum(steps, axis=0)
    images = np.floor(places @ np.linalg.inv(LOWER)).astype(np.int64)
    return places, places - images @ LOWER, images


@pytest.mark.parametrize(("suffix", "write"), [("gsd", as_gsd), ("lammpstrj", as_dump)])
@pytest.mark.parametrize("options", [{"box": False}, {"unwrap": True}], ids=["box", "unwrap"])
def test_images_of_the_file_unfold_what_was_wrapped(
    tmp_path: Path, suffix: str, write: Callable[..., list[Path]], options: Any
) -> None:
    places, wrapped, images = walk()
    assert np.ptp(images, axis=0).any()  # something goes through a wall
    (path,) = write(tmp_path / f"a.{suffix}", wrapped, boxes_of("triclinic"), images)
    ensemble = timme.read(path, **options)
    (note,) = [note for note in ensemble.notes if "how often sites went" in note]
    assert path.name in note
    found = ensemble.frames.read(0, N_FRAMES)[0]
    np.testing.assert_allclose(np.diff(found, axis=0), np.diff(places, axis=0), atol=2e-5)
    np.testing.assert_allclose(timme.read(path).frames.read(0, N_FRAMES)[0], wrapped, atol=2e-5)


def test_following_tells_how_far_it_is() -> None:
    """A long trajectory is read once for it, before anything is measured."""
    walk = np.random.default_rng(3).normal(size=(100, 5, 3)).cumsum(axis=0) * 0.1
    told = list[tuple[int, int]]()
    timme.read(walk % 10.0, box=10.0, unwrap=True, progress=lambda *done: told.append(done))
    assert len(told) > 1
    assert told[-1] == (100, 100)
    assert told == sorted(told)
