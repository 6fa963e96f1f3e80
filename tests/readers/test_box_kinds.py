"""Every kind of box, as every format writes it, against brute force over periodic images."""

from __future__ import annotations

import io
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
from timme.readers.dumps import dump_header

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
FLAT = {"film", "tilted film"}


def snapshots() -> Floats:
    """Sites all over space, on the grid that every format keeps."""
    noise = np.random.default_rng(4).normal(scale=5.0, size=(N_FRAMES, N_SITES, 3))
    return np.round(noise, 1) + 8.0


def boxes_of(kind: str) -> Floats:
    scale = np.ones(N_FRAMES) if kind != "changing" else np.linspace(1.0, 1.25, N_FRAMES)
    return KINDS[kind] * np.round(scale, 2)[:, None, None]


# ---- writers -------------------------------------------------------------------------------------


def cell_of(box: Floats) -> list[float]:
    """Lengths and angles of a box, the angles with an open direction as programs write them."""
    lengths = np.linalg.norm(box, axis=1)
    angles = [
        float(np.degrees(np.arccos(box[i] @ box[j] / (lengths[i] * lengths[j]))))
        if lengths[i] and lengths[j]
        else 90.0
        if lengths.any()
        else 0.0
        for i, j in ((1, 2), (0, 2), (0, 1))
    ]
    return [*lengths.tolist(), *angles]


def as_dcd(path: Path, places: Floats, boxes: Floats) -> list[Path]:
    from MDAnalysis.lib.formats.libdcd import DCDFile

    with DCDFile(str(path), "w") as file:
        file.write_header("made", N_SITES, 0, 1, 20.0, 1)
        for frame, box in zip(places, boxes, strict=True):
            a, b, c, alpha, beta, gamma = cell_of(box)
            file.write(frame.astype(np.float32), np.array([a, gamma, b, beta, alpha, c]))
    return [path]


def as_xdr(path: Path, places: Floats, boxes: Floats) -> list[Path]:
    from MDAnalysis.lib.formats.libmdaxdr import TRRFile, XTCFile

    is_xtc = path.suffix == ".xtc"
    with (XTCFile if is_xtc else TRRFile)(str(path), "w") as file:
        for step, (frame, box) in enumerate(zip(places / 10, boxes / 10, strict=True)):
            x, around = frame.astype(np.float32), box.astype(np.float32)
            if is_xtc:
                file.write(x, around, step, float(step), 1000)
            else:
                file.write(x, None, None, around, step, float(step), 0.0, N_SITES)
    return [path]


def as_ncdf(path: Path, places: Floats, boxes: Floats) -> list[Path]:
    from scipy.io import netcdf_file

    with netcdf_file(str(path), "w", version=2) as file:
        setattr(file, "Conventions", "AMBER")  # noqa: B010, which the stubs do not know
        sizes = {"frame": None, "spatial": 3, "atom": N_SITES, "cell": 3}
        for name, size in sizes.items():
            file.createDimension(name, size)
        made = [
            ("coordinates", "f4", ("frame", "atom", "spatial"), "angstrom"),
            ("time", "f4", ("frame",), "picosecond"),
            ("cell_lengths", "f8", ("frame", "cell"), "angstrom"),
            ("cell_angles", "f8", ("frame", "cell"), "degree"),
        ]
        variables = {name: file.createVariable(name, kind, axes) for name, kind, axes, _ in made}
        for name, _, _, unit in made:
            setattr(variables[name], "units", unit)  # noqa: B010
        for step, (frame, box) in enumerate(zip(places, boxes, strict=True)):
            cell = cell_of(box)
            values = (frame, float(step), cell[:3], cell[3:])
            for (name, *_), value in zip(made, values, strict=True):
                variables[name][step] = value
    return [path]


def as_h5md(path: Path, places: Floats, boxes: Floats) -> list[Path]:
    h5py = pytest.importorskip("h5py", reason="needs h5py: pip install 'pytimme[formats]'")
    with h5py.File(path, "w") as file:
        file.create_group("h5md")
        group = file.create_group("particles/all")
        for name, values in (("position", places), ("box/edges", boxes)):
            group[f"{name}/value"] = values
            group[f"{name}/value"].attrs["unit"] = "Angstrom"
            group[f"{name}/step"] = np.arange(N_FRAMES)
        group["box"].attrs["dimension"] = 3
        flat = boxes[0].any() and not boxes[0, 2].any()
        group["box"].attrs["boundary"] = ["periodic"] * 2 + ["none" if flat else "periodic"]
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
FORMATS: dict[str, Write] = {
    "dcd": as_dcd,
    "xtc": as_xdr,
    "trr": as_xdr,
    "ncdf": as_ncdf,
    "gro": as_gro,
    "h5md": as_h5md,
    "xyz": as_xyz,
    "lammpstrj": as_dump,
    "gsd": as_gsd,
}


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
@pytest.mark.parametrize("kind", KINDS, ids=lambda value: value.replace(" ", "-"))
@pytest.mark.parametrize("suffix", FORMATS)
def test_fluctuations_are_those_of_brute_force(tmp_path: Path, suffix: str, kind: str) -> None:
    places, boxes = snapshots(), boxes_of(kind)
    if suffix == "gsd" and kind in FLAT:
        places[..., 2] = 0.0  # as HOOMD has it
    paths = FORMATS[suffix](tmp_path / f"a.{suffix}", places, boxes)
    # Formats without a unit may have boxes of any length; others say ångström.
    unit = "Å" if suffix in {"xyz", "lammpstrj", "gsd"} else None
    meant = np.zeros_like(boxes) if kind == "placeholder" else boxes
    found = measured(paths, unit=unit)
    np.testing.assert_allclose(found, brute_force(places, meant), rtol=1e-5)


@pytest.mark.filterwarnings("ignore:.*half the periodic box")
@pytest.mark.parametrize("style", ["", "real", "lj", "user"])
@pytest.mark.parametrize("kind", sorted(FLAT), ids=lambda value: value.replace(" ", "-"))
def test_a_plane_of_lammps_is_no_placeholder(tmp_path: Path, kind: str, style: str) -> None:
    """A box of a simulation in a plane has a height of 1 all the same, in whatever unit."""
    places, boxes = snapshots(), boxes_of(kind)
    places[..., 2] = 0.0
    high = boxes.copy()
    high[:, 2, 2] = 1.0
    (path,) = as_dump(tmp_path / "a.lammpstrj", places, high)
    if style in {"real", "lj"}:
        path.write_text(f"ITEM: UNITS\n{style}\n{path.read_text()}")
    found = measured([path], unit="Å" if style == "user" else None)
    np.testing.assert_allclose(found, brute_force(places, boxes), rtol=1e-5)


def test_a_flat_molecule_in_a_placeholder_is_in_open_space(tmp_path: Path) -> None:
    places = snapshots()
    places[..., 2] = 0.0
    boxes = np.tile(np.eye(3), (N_FRAMES, 1, 1))
    found = measured(FORMATS["dcd"](tmp_path / "a.dcd", places, boxes))
    np.testing.assert_allclose(found, brute_force(places, np.zeros_like(boxes)), rtol=1e-5)


@pytest.mark.parametrize("far", [1e15, 1e20])
def test_places_that_nobody_knows_within_the_box_are_refused(tmp_path: Path, far: float) -> None:
    places = snapshots()
    places[2, 3, 1] = far
    paths = FORMATS["lammpstrj"](tmp_path / "a.lammpstrj", places, boxes_of("triclinic"))
    with pytest.raises(ValueError, match=r"a\.lammpstrj: .*\(site 4\) of snapshot 3 .* boxes away"):
        measured(paths)


@pytest.mark.parametrize("suffix", FORMATS)
def test_without_a_box_distances_are_plain(tmp_path: Path, suffix: str) -> None:
    places, boxes = snapshots(), boxes_of("triclinic")
    found = measured(FORMATS[suffix](tmp_path / f"a.{suffix}", places, boxes), box=False)
    np.testing.assert_allclose(found, brute_force(places, np.zeros_like(boxes)), rtol=1e-5)


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


@pytest.mark.filterwarnings("ignore:.*half the periodic box")
@pytest.mark.parametrize("kind", ["orthorhombic", "triclinic", "film", "tilted film", "none"])
def test_boxes_of_a_universe_are_those_of_brute_force(kind: str) -> None:
    import MDAnalysis as mda

    places, boxes = snapshots(), boxes_of(kind)
    universe = mda.Universe.empty(N_SITES, trajectory=True)
    universe.add_TopologyAttr("masses", [1.0] * N_SITES)
    cells = np.array([cell_of(box) for box in boxes], np.float32)
    universe.load_new(places.astype(np.float32), order="fac", dimensions=cells)
    objects = timme.objects.points(timme.read(universe, bonds="none"))
    found = timme.measure(objects, timme.pairs.all(objects)).sigma
    np.testing.assert_allclose(found, brute_force(places, boxes), rtol=1e-5)


@pytest.mark.filterwarnings("ignore:.*half the periodic box")
def test_a_cell_of_charmm_is_the_symmetric_matrix_along_which_coordinates_are(
    tmp_path: Path,
) -> None:
    """CHARMM from version 36 on writes the matrix, in which other readers turn the box."""
    from MDAnalysis.lib.formats.libdcd import DCDFile

    places = snapshots()
    shape = np.array([[30.0, 12.0, -6.0], [12.0, 28.0, 2.5], [-6.0, 2.5, 32.0]])
    cell = shape[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
    with DCDFile(str(tmp_path / "a.dcd"), "w") as file:
        file.write_header("made", N_SITES, 0, 1, 20.0, 1)
        for frame in places:
            file.write(frame.astype(np.float32), cell)
    found = measured([tmp_path / "a.dcd"])
    np.testing.assert_allclose(found, brute_force(places, np.tile(shape, (5, 1, 1))), rtol=1e-5)


# ---- images --------------------------------------------------------------------------------------


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


def universe_of(path: Path, **given: Any) -> Any:
    """A Universe of a file that is its own topology."""
    import MDAnalysis as mda

    known = {"gsd": "GSD", "lammpstrj": "LAMMPSDUMP"}[path.suffix[1:]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mda.Universe(str(path), topology_format=known, format=known, **given)


@pytest.mark.parametrize(("suffix", "write"), [("gsd", as_gsd), ("lammpstrj", as_dump)])
@pytest.mark.parametrize("options", [{"box": False}, {"unwrap": True}], ids=["box", "unwrap"])
def test_images_of_the_file_unfold_its_universe(
    tmp_path: Path, suffix: str, write: Callable[..., list[Path]], options: Any
) -> None:
    places, wrapped, images = walk()
    (path,) = write(tmp_path / f"a.{suffix}", wrapped, boxes_of("triclinic"), images)
    universe = universe_of(path)
    universe.trajectory[2]
    ensemble = timme.read(universe.atoms[3:], start=1, **options)
    assert any("how often sites went" in note for note in ensemble.notes)
    found = ensemble.frames.read(0, N_FRAMES - 1)[0]
    np.testing.assert_allclose(np.diff(found, axis=0), np.diff(places[1:, 3:], axis=0), atol=2e-5)
    assert universe.trajectory.frame == 2


def test_images_are_not_counted_twice_where_the_universe_has_used_them(tmp_path: Path) -> None:
    _, wrapped, images = walk()
    (path,) = as_dump(tmp_path / "a.lammpstrj", wrapped, boxes_of("orthorhombic"), images)
    lengths = boxes_of("orthorhombic")[0].diagonal()
    universe = universe_of(path, unwrap_images=True)
    ensemble = timme.read(universe, box=False)
    assert not any("not used" in note for note in ensemble.notes)
    unfolded = wrapped + images * lengths
    np.testing.assert_allclose(ensemble.coordinates(), unfolded, atol=2e-5)


def test_images_that_a_changed_universe_leaves_unused_are_told(tmp_path: Path) -> None:
    _, wrapped, images = walk()
    (path,) = as_dump(tmp_path / "a.lammpstrj", wrapped, boxes_of("triclinic"), images)
    universe = universe_of(path)
    universe.trajectory.add_transformations(_shift)
    notes = timme.read(universe, box=False).notes
    assert any("give the file itself" in note and path.name in note for note in notes)


def _shift(step: Any) -> Any:
    step.positions += 1.0
    return step


def with_columns(path: Path, columns: str, frames: Sequence[int], height: str = "pp") -> Path:
    """Write some frames of the walk, with the columns that are named."""
    places, wrapped, images = walk()
    if height == "ff":  # nothing goes through a wall that is not there
        wrapped, images = wrapped + images[..., 2:] * LOWER[2], images * np.array([1, 1, 0])
    known: dict[str, Any] = {"id": np.tile(np.arange(N_SITES), (N_FRAMES, 1))}
    for axis, name in enumerate("xyz"):
        known[name], known[f"{name}u"] = wrapped[..., axis], places[..., axis]
        known[f"i{name}"] = images[..., axis]
        known[f"{name}s"] = (wrapped @ np.linalg.inv(LOWER))[..., axis]
        known[f"{name}su"] = (places @ np.linalg.inv(LOWER))[..., axis]
    lines = list[str]()
    for frame in frames:
        lines += ["ITEM: TIMESTEP", str(frame), "ITEM: NUMBER OF ATOMS", str(N_SITES)]
        lines += [f"ITEM: BOX BOUNDS abc origin pp pp {height}"]
        lines += [" ".join(f"{x:.6f}" for x in (*row, 0.0)) for row in LOWER]
        lines += [f"ITEM: ATOMS {columns}"]
        for site in range(N_SITES):
            row = [known[name][frame, site] for name in columns.split()]
            lines.append(" ".join(f"{x:.8f}" if isinstance(x, float) else str(x) for x in row))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("columns", "height"),
    [
        ("id x y z xu yu zu", "pp"),
        ("id x y z ix iy iz xu yu zu", "pp"),
        ("id xu yu z iz", "pp"),
        ("id xs ys zs xsu ysu zsu", "pp"),
        ("id xs ys zs ix iy iz", "pp"),
        ("id x y z ix iy", "ff"),
        ("id xu yu z", "ff"),
    ],
)
@pytest.mark.parametrize("options", [{"box": False}, {"unwrap": True}], ids=["box", "unwrap"])
def test_whatever_a_dump_tells_of_walls_is_used(
    tmp_path: Path, columns: str, height: str, options: Any
) -> None:
    path = with_columns(tmp_path / "a.dump", columns, range(N_FRAMES), height)
    found = timme.read(path, **options).frames.read(0, N_FRAMES)[0]
    np.testing.assert_allclose(np.diff(found, axis=0), np.diff(walk()[0], axis=0), atol=2e-5)


@pytest.mark.parametrize("counted", [range(2), range(2, N_FRAMES), range(1, 3)], ids=str)
@pytest.mark.parametrize("several", [False, True], ids=["frames", "files"])
def test_images_that_only_some_frames_have_are_left_out_and_told(
    tmp_path: Path, counted: range, several: bool
) -> None:
    """Sites would jump between frames that were put back into the box and others."""
    parts = list[Path]()
    for frame in range(N_FRAMES):
        columns = "id x y z ix iy iz" if frame in counted else "id x y z"
        parts.append(with_columns(tmp_path / f"{frame}.dump", columns, [frame]))
    topology = as_xyz(tmp_path / "top.xyz", walk()[1][:1], boxes_of("triclinic")[:1])[0]
    if not several:
        whole = tmp_path / "a.dump"
        whole.write_text("".join(part.read_text() for part in parts))
        parts = [whole]
    ensemble = timme.read(topology, parts, box=False)
    np.testing.assert_allclose(ensemble.frames.read(0, N_FRAMES)[0], walk()[1], atol=2e-5)
    assert not any("the file says how often" in note for note in ensemble.notes)
    (note,) = [note for note in ensemble.notes if "how often atoms went" in note]
    assert "so that this is not used" in note
    followed = timme.read(topology, parts, unwrap=True).frames.read(0, N_FRAMES)[0]
    moved = np.diff(walk()[0], axis=0)
    np.testing.assert_allclose(np.diff(followed, axis=0), moved, atol=2e-5)


def test_images_of_gsd_in_some_frames_only_count_in_all(tmp_path: Path) -> None:
    """A frame whose images are all 0, as by default, holds none."""
    _, wrapped, images = walk()
    images -= images[0]
    images[-1] = 0
    assert images.any()
    (path,) = as_gsd(tmp_path / "a.gsd", wrapped, boxes_of("triclinic"), images)
    ensemble = timme.read(path, box=False)
    assert any("how often sites went" in note for note in ensemble.notes)
    counted = timme.read(path).frames.unfold()  # as they are written, before they are judged
    assert counted is not None
    found = counted.read(0, N_FRAMES)[0]
    np.testing.assert_allclose(found, wrapped + images @ LOWER, atol=2e-5)


def test_following_tells_how_far_it_is() -> None:
    """A long trajectory is read once for it, before anything is measured."""
    walk = np.random.default_rng(3).normal(size=(100, 5, 3)).cumsum(axis=0) * 0.1
    told = list[tuple[int, int]]()
    timme.read(walk % 10.0, box=10.0, unwrap=True, progress=lambda *done: told.append(done))
    assert len(told) > 1
    assert told[-1] == (100, 100)
    assert told == sorted(told)


@pytest.mark.parametrize(
    ("walls", "columns", "expected"),
    [
        ("pp pp pp", "id x y z ix iy iz", True),
        ("pp pp pp", "id x y z ix iy", False),
        ("pp pp ff", "id x y z ix iy", True),
        ("pp pp pp", "id xu yu z", False),
        ("pp pp pp", "id xu yu z iz", True),
        ("pp pp pp", "id x y z", False),
    ],
)
def test_images_are_counted_where_every_wall_is(
    walls: str, columns: str, *, expected: bool
) -> None:
    lines = ["ITEM: TIMESTEP", "0", "ITEM: NUMBER OF ATOMS", "1", f"ITEM: BOX BOUNDS {walls}"]
    text = "\n".join([*lines, *["0 9"] * 3, f"ITEM: ATOMS {columns}", ""])
    header = dump_header(io.BytesIO(text.encode()))
    assert header is not None
    assert header.counts_images == expected
