import itertools

import numpy as np
import pytest

from tests.output.builders import fluctuations
from timme._arrays import Floats
from timme.output import matrices


def test_sigma_matrix_follows_the_order_and_leaves_gaps() -> None:
    measured = fluctuations((3, [(0, 1), (1, 2)], [1.0, 2.0]), "Å")
    axes = matrices.sigma_matrix(measured, order=np.array([2, 0, 1]))
    (image,) = axes.images
    values: Floats = np.ma.filled(np.ma.asarray(image.get_array()), np.nan)
    nan = np.nan
    assert np.array_equal(
        values, [[nan, nan, 2.0], [nan, nan, 1.0], [2.0, 1.0, nan]], equal_nan=True
    )


def test_a_large_sigma_matrix_is_averaged_into_pixels() -> None:
    n_sites = 3000
    pairs = [(k, k + 1) for k in range(n_sites - 1)]
    measured = fluctuations((n_sites, pairs, [2.0] * len(pairs)))
    (image,) = matrices.sigma_matrix(measured).images
    values: Floats = np.ma.filled(np.ma.asarray(image.get_array()), 2.0)
    assert values.shape == (500, 500)
    assert (values == 2).all()


def test_together_is_one_on_the_diagonal_and_what_is_not_apart_elsewhere() -> None:
    apart = fluctuations((3, [(0, 1), (0, 2), (1, 2)], [0.25, 1.0, 0.5]))
    (image,) = matrices.together(apart, order=np.array([2, 1, 0])).get_images()
    expected = [[1.0, 0.5, 0.0], [0.5, 1.0, 0.75], [0.0, 0.75, 1.0]]
    assert np.asarray(image.get_array()).tolist() == expected
    assert image.get_clim() == (0.0, 1.0)


@pytest.mark.parametrize("n_sites", [1, 3])
def test_a_matrix_without_pairs_is_drawn_empty(n_sites: int) -> None:
    (image,) = matrices.sigma_matrix(fluctuations((n_sites, [], []))).images
    assert np.ma.getmaskarray(np.ma.asarray(image.get_array())).all()


@pytest.mark.parametrize("n_sites", [1, 499, 500, 501, 991, 3000])
def test_one_site_of_each_pixel_fills_the_matrix(n_sites: int) -> None:
    """Evenly spread sites would leave some pixels empty, which looked like lines across it."""
    chosen = matrices.one_of_each_pixel(n_sites)
    assert len(chosen) == min(n_sites, 500)
    pairs = list(itertools.combinations(chosen.tolist(), 2))
    whole = fluctuations((n_sites, pairs, [1.0] * len(pairs)))
    drawn = matrices.binned_means(whole, np.arange(n_sites))
    assert np.isfinite(drawn[~np.eye(len(drawn), dtype=bool)]).all()
