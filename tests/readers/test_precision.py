"""Numbers that have more digits than single precision holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import timme
from tests import naive
from tests.readers.builders import trajectory_positions, write_trajectory
from tests.readers.texts import KEPT, N_ATOMS, N_FRAMES, NAMED, NUMBERED
from timme._arrays import Floats

FORMATS = {**NAMED, **{f"{kind} with ids": found for kind, found in NUMBERED.items()}}
# Far from the origin, as cells on a stage or stars, and as far as the columns of GRO reach.
FAR = np.array([8e4, 5e4, 2e4])


def small_motions(spread: float = 10.0) -> Floats:
    """Sites that move by 0.05, on the grid of 0.01 that every format keeps."""
    rng = np.random.default_rng(6)
    noise = rng.normal(scale=0.05, size=(N_FRAMES, N_ATOMS, 3))
    return np.round(rng.uniform(-spread, spread, (N_ATOMS, 3)) + noise, 2)


def measured(path: Path, **options: Any) -> Floats:
    ensemble = timme.read(path, bonds="none", **options)
    objects = timme.objects.points(ensemble)
    return timme.measure(objects, timme.pairs.all(objects)).sigma


def expected(places: Floats) -> list[float]:
    pairs = [(a, b) for a in range(N_ATOMS) for b in range(a + 1, N_ATOMS)]
    return [naive.pair_sigma(places, a, b)[0] for a, b in pairs]


@pytest.mark.parametrize("kind", FORMATS)
def test_far_from_the_origin_sigma_is_the_same(tmp_path: Path, kind: str) -> None:
    suffix, write = FORMATS[kind]
    places = small_motions()
    path = write(tmp_path / f"a.{suffix}", places + FAR, KEPT)
    # A double has 16 digits: 1e-11 at 1e5, and σ is 0.05.
    np.testing.assert_allclose(measured(path), expected(places), rtol=1e-8)


def test_a_netcdf_file_of_doubles_keeps_them(tmp_path: Path) -> None:
    import netCDF4

    places, path = small_motions(), tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as file:
        file.Conventions, file.ConventionVersion, file.program = "AMBER", "1.0", "made"
        for name, size in (("frame", None), ("spatial", 3), ("atom", N_ATOMS)):
            file.createDimension(name, size)
        variable = file.createVariable("coordinates", "f8", ("frame", "atom", "spatial"))
        variable.units = "angstrom"
        variable[:] = places + FAR
    np.testing.assert_allclose(measured(path), expected(places), rtol=1e-8)


@pytest.mark.parametrize("options", [{"box": False}, {"unwrap": True}], ids=["box", "unwrap"])
def test_thousands_of_boxes_away_sigma_is_the_same(tmp_path: Path, options: Any) -> None:
    places = small_motions(2.0)  # on either side of the walls, and within half a box
    images = np.floor(places / 10.0).astype(int)
    lines = list[str]()
    for frame, turns in zip(places - 10.0 * images, images + 5000, strict=True):
        lines += ["ITEM: TIMESTEP", "0", "ITEM: NUMBER OF ATOMS", str(N_ATOMS)]
        lines += ["ITEM: BOX BOUNDS pp pp pp", *["0 10"] * 3, "ITEM: ATOMS id x y z ix iy iz"]
        for k, (place, turn) in enumerate(zip(frame, turns, strict=True)):
            lines.append(" ".join(map(str, [k, *np.round(place, 2), *turn])))
    path = tmp_path / "a.dump"
    path.write_text("\n".join(lines) + "\n")
    np.testing.assert_allclose(measured(path, **options), expected(places), rtol=1e-8)


def test_formats_of_single_precision_are_held_in_it(tmp_path: Path) -> None:
    """Twice the memory would hold no more digits."""
    positions = trajectory_positions(3, 12)
    for suffix, kind in (("xtc", np.float32), ("dcd", np.float32), ("xyz", np.float64)):
        write_trajectory(tmp_path / f"a.{suffix}", positions)
        bare = write_trajectory(tmp_path / "top.gro", positions[:1])
        found = timme.read(bare, tmp_path / f"a.{suffix}", bonds="none").frames.read(0, 3)[0]
        assert found.dtype == kind
