"""The fit by which the page of numbers calls a curve a sigmoid, or not."""

from __future__ import annotations

import numpy as np
import pytest

import timme
from docs.forms import Form, fit, form, links, rms
from tests.output.builders import linked
from timme._arrays import Floats


def of_rises(cutoffs: Floats) -> timme.Hierarchy:
    """Chains of ten sites, each of which becomes one cluster at a cutoff of its own."""
    sites = np.arange(10 * len(cutoffs)).reshape(-1, 10)
    pairs = np.column_stack([sites[:, :-1].ravel(), sites[:, 1:].ravel()]).tolist()
    return linked((sites.size, [(i, j) for i, j in pairs], np.repeat(cutoffs, 9).tolist()))


def test_a_rise_that_leans_to_one_side_is_fitted_to_its_steps() -> None:
    """Steps of 1/400 at the quantiles of 1 / (1 + e^-x)^n leave 1/√12 of a step."""
    levels = (np.arange(400) + 0.5) / 400
    quantiles = -np.log(levels ** (-1 / 0.4) - 1)
    _, fraction, fitted = fit(of_rises(10 + quantiles))
    assert rms(fraction - fitted) < 2 / 400


@pytest.mark.thorough
def test_two_rises_are_farther_from_a_sigmoid_than_chains_are() -> None:
    rng = np.random.default_rng(1)
    rises = np.concatenate([rng.normal(1.0, 0.05, 50), rng.normal(2.0, 0.05, 50)])
    assert form(of_rises(rises), seeds=range(20)).verdict == "no sigmoid"


@pytest.mark.thorough
def test_a_chain_is_a_sigmoid_if_it_is_long_enough_to_tell() -> None:
    assert form(links(1000, seed=1234), seeds=range(20)).verdict == "sigmoid"
    assert form(links(100, seed=1234), seeds=range(20)).verdict == "too few sites to tell"


@pytest.mark.parametrize(
    ("farther", "spread", "verdict"),
    [
        (0, 0.002, "no sigmoid"),
        (1, 0.002, "no sigmoid"),  # of 200: one in a hundred is the bar
        (2, 0.002, "at the border"),
        (20, 0.002, "at the border"),
        (21, 0.002, "sigmoid"),
        (200, 0.002, "sigmoid"),
        (0, 0.2, "no sigmoid"),
        (21, 0.2, "too few sites to tell"),
    ],
)
def test_the_verdict_hangs_on_how_many_chains_are_farther(
    farther: int, spread: float, verdict: str
) -> None:
    """A curve is 0.02 from its sigmoid, so many of 200 chains are more, and the others less."""
    level = np.zeros(4)
    rests = np.concatenate([np.full(farther, 0.02 + spread), np.full(200 - farther, 0.01)])
    made = Form(level, level + 0.02, level, rests, 1000)
    assert (made.farther, made.verdict) == (farther / 200, verdict)


def test_no_fit_looks_below_zero() -> None:
    cutoffs, *_ = fit(of_rises(np.linspace(0.01, 5.0, 100)))
    assert cutoffs[0] == 0
