"""Mean shapes, products and stillness of many bodies, against loops."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests import naive
from timme._kernels import crowds as kernel

SIZES = (1, 7, 4)  # sites of each body
BEGINS = np.append(0, np.cumsum(SIZES))


@pytest.fixture(params=[1, 2, 9], ids="{} snapshots".format)
def many(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sites (snapshots, sites, 3), and rotations and middles of three bodies by snapshot."""
    rng = np.random.default_rng(request.param)
    sites = rng.normal(size=(request.param, sum(SIZES), 3))
    turns = Rotation.random(3 * request.param, rng=rng).as_matrix()
    return sites, turns.reshape(3, -1, 3, 3), rng.normal(size=(3, request.param, 3))


def _rows(sites: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(sites.swapaxes(0, 1)).reshape(sites.shape[1], -1)


def _columns(turns: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(turns.reshape(len(turns), -1, 3).swapaxes(1, 2))


def test_shapes_are_mean_places_in_the_frame_of_the_body(many: tuple[np.ndarray, ...]) -> None:
    sites, turns, _ = many
    shapes = np.full((sum(SIZES), 3), np.nan)
    kernel.average(_rows(sites), BEGINS, _columns(turns), shapes)
    for site, body in enumerate(np.repeat(range(3), SIZES)):
        expected = naive.mean_place(sites[:, site], turns[body])
        np.testing.assert_allclose(shapes[site], expected, atol=1e-14)


def test_products_are_sums_over_the_sites_of_the_body(many: tuple[np.ndarray, ...]) -> None:
    sites, *_ = many
    shapes = np.random.default_rng(0).normal(size=(sum(SIZES), 3))
    products = np.full((3, 3, 3 * len(sites)), np.nan)
    kernel.correlate(_rows(sites), BEGINS, shapes, products)
    for body in range(3):
        own = slice(BEGINS[body], BEGINS[body + 1])
        for snapshot, places in enumerate(sites):
            expected = naive.products(places[own], shapes[own])
            found = products[body, :, 3 * snapshot : 3 * snapshot + 3].T
            np.testing.assert_allclose(found, expected, atol=1e-14)


def test_stillness_is_what_places_vary_in_the_frame_of_a_body(
    many: tuple[np.ndarray, ...],
) -> None:
    sites, turns, centres = many
    moved = np.full((sum(SIZES), 3), np.nan)
    kernel.move(_rows(sites), centres.reshape(3, -1), _columns(turns), moved)
    for site, body in np.ndindex(*moved.shape):
        expected = naive.moved(sites[:, site], turns[body], centres[body])
        assert moved[site, body] == pytest.approx(expected, abs=1e-13)
