"""Golden results of motion: bodies, hinges, screws, components and correlations."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.core.test_golden import ensemble_of
from tests.golden import load_science
from tests.golden.systems import SYSTEMS
from timme import motion
from timme.ensemble import Ensemble

PROTEINS = ("adk-ca", "1omp-1anf-ca", "4ake-1ake-ca", "1bnr-ca", "barnase-md-ca")
WHOLE = (*PROTEINS, "hinged", "hinged-weighted")
# Sums are taken in another order, and searches take discrete steps: they end at the same bodies,
# whose numbers are the same to the rounding of squares of coordinates.
ROUNDING = 1e-8


@cache
def system(name: str) -> Ensemble:
    return ensemble_of(SYSTEMS[name]().double())


@cache
def golden(name: str) -> dict[str, Any]:
    return load_science(f"motion-{name}")


@cache
def found_bodies(name: str) -> motion.Bodies:
    return motion.bodies(system(name))


@pytest.mark.parametrize("name", WHOLE)
def test_bodies_and_their_numbers_are_the_golden_ones(name: str) -> None:
    frozen, found = golden(name), found_bodies(name)
    assert found.labels.tolist() == list(frozen["motion.bodies.labels"])
    assert found.chosen == frozen["motion.bodies.chosen"]
    for place, level in enumerate(found.levels):
        for field in ("gap", "sharpness", "rest"):
            expected = frozen[f"motion.bodies.levels.{place}.{field}"]
            assert getattr(level, field) == pytest.approx(expected, rel=ROUNDING, nan_ok=True)
    heights = np.array(frozen["motion.bodies.hierarchy.heights"])
    np.testing.assert_allclose(found.hierarchy.heights, heights, rtol=ROUNDING)
    agreement = found.agreement
    if agreement is not None:
        assert list(agreement.counts) == frozen["motion.bodies.agreement.counts"]
        assert agreement.rand == pytest.approx(frozen["motion.bodies.agreement.rand"])


@pytest.mark.parametrize("name", WHOLE)
def test_fluctuations_of_superposed_sites_are_the_golden_ones(name: str) -> None:
    frozen, ensemble = golden(name), system(name)
    core = found_bodies(name).members(0)
    for key, on in (("rmsf", None), ("rmsf_on_core", core)):
        found = motion.rmsf(motion.superpose(ensemble, on).ensemble)
        # A mean shape is found to 1e-10 of its size, of which a fluctuation may be a hundredth.
        np.testing.assert_allclose(found, frozen[key], rtol=ROUNDING)


def assert_alike(found: Any, frozen: dict[str, Any], prefix: str, *, but: tuple[str, ...]) -> None:
    """Compare numbers and words of a result with those of one prefix."""
    keys = [key for key in frozen if key.startswith(prefix) and "." not in key[len(prefix) :]]
    for name in (key[len(prefix) :] for key in keys):
        expected, given = frozen[prefix + name], getattr(found, name, None)
        if name in but or isinstance(expected, str) or expected is None:
            assert name in but or given == expected, name
        else:
            one, other = (np.asarray(each, np.float64) for each in (given, expected))
            size = 1e-7 + float(np.nanmax(np.abs(other), initial=0.0))
            np.testing.assert_allclose(
                one, other, rtol=ROUNDING, atol=ROUNDING * size, err_msg=name
            )


# Errors of axes and places are decided otherwise, with the halves of a run.
DECIDED = (
    *("axis_error", "axis_cone", "point_error", "angle_error", "move_noise", "states"),
    *("interdomain", "spread", "rest", "shifts", "closure", "effective"),
)


@pytest.mark.parametrize("name", ["adk-ca", "4ake-1ake-ca", "1omp-1anf-ca", "hinged"])
def test_hinges_and_screws_are_the_golden_ones(name: str) -> None:
    frozen, found = golden(name), motion.describe_motion(system(name))
    assert (found.reference, list(found.moving)) == (0, frozen["motion.moving"])
    ends = [np.asarray(system(name).snapshot(place)[0], np.float64) for place in (0, -1)]
    core = found.bodies.members(0)
    for place, body in enumerate(found.moving):
        assert_alike(found.hinges[place], frozen, f"motion.hinges.{place}.", but=DECIDED)
        members, key = found.bodies.members(body), f"screws.{body}."
        made = motion.screw(ends[0], ends[1], body=members, reference=core)
        assert_alike(made, frozen, key, but=DECIDED)
        assert made.closure == pytest.approx(frozen[key + "closure"])
        if key + "effective.angle" in frozen:
            assert_alike(made.effective, frozen, key + "effective.", but=())
        assert found.screws[place].angle == made.angle
    assert_alike(found.explained, frozen, "motion.explained.", but=("linear",))


@pytest.mark.parametrize("name", ["adk-ca", "1bnr-ca", "hinged"])
def test_components_are_the_golden_ones(name: str) -> None:
    frozen, bodies = golden(name), found_bodies(name)
    found = motion.principal_components(system(name), on=bodies.members(0), n_components=10)
    real = len(frozen["components.variances"])
    np.testing.assert_allclose(found.variances[:real], frozen["components.variances"], ROUNDING)
    assert found.total == pytest.approx(frozen["components.total"], rel=ROUNDING)
    overlap = motion.overlap_with_bodies(found, bodies.labels)[:real]
    np.testing.assert_allclose(overlap, frozen["components.overlap"], rtol=1e-6, atol=ROUNDING)


def test_bending_residues_are_the_golden_ones() -> None:
    frozen, made = golden("adk-bending"), SYSTEMS["adk"]().double()
    assert made.atoms is not None
    backbone = np.flatnonzero(np.isin(made.atoms.names, ["N", "CA", "C"]))
    residues = np.unique(made.atoms.resids[backbone], return_inverse=True)[1]
    before, after = made.coordinates[0, backbone], made.coordinates[-1, backbone]
    found = motion.bending_residues(before, after, residues, np.array(frozen["labels"]))
    assert found.tolist() == list(frozen["bending"])
    motions = motion.describe_motion(system("adk-ca"))
    labels = motions.bodies.labels
    edges = np.flatnonzero(np.diff(labels) * (labels[1:] >= 0) * (labels[:-1] >= 0))
    assert set(motions.bending.tolist()) >= {*edges.tolist(), *(edges + 1).tolist()}


@pytest.mark.parametrize(
    ("name", "drift"),
    [
        ("gapped-straight", True),
        *(
            pytest.param(name, False, marks=pytest.mark.slow)
            for name in ("open", "tilted", "slab", "gapped", "weighted", "plane")
        ),
    ],
)
def test_two_point_correlations_are_the_golden_ones(name: str, drift: bool) -> None:
    ensemble, key = ensemble_of(SYSTEMS[name]()), f"{name} less drift." if drift else f"{name}."
    lags = (3,) if drift else (1, 5, 20)
    found = motion.two_point(ensemble, [0.0, 2.0, 4.0, 8.0, 16.0], lags=lags, drift=drift)
    # Errors are decided otherwise: from longer blocks, whose shared steps need no correction.
    decided = ("along_error", "across_error", "msd_error", "notes", "n_dimensions")
    assert_alike(found, golden("two-point"), key, but=decided)


def test_published_numbers_of_adenylate_kinase_are_reproduced() -> None:
    """MOTION 7: fitted on 1–29, 68–117, 161–214; Hingefind's angles 52.02° and 44.75°."""
    pair = np.asarray(system("4ake-1ake-ca").coordinates(), np.float64)
    core = np.concatenate([np.arange(29), np.arange(67, 117), np.arange(160, 214)])
    for body, angle, shift, axis, effective in (
        (np.arange(117, 160), 52.06, 0.55, (0.275, 0.350, 0.896), 52.02),
        (np.arange(29, 67), 45.33, 1.49, (-0.908, 0.196, -0.370), 44.75),
    ):
        found = motion.screw(pair[0], pair[1], body=body, reference=core)
        assert found.angle == pytest.approx(angle, abs=0.005)
        assert found.shift == pytest.approx(shift, abs=0.005)
        np.testing.assert_allclose(found.axis, axis, atol=0.0006)
        assert found.effective is not None
        assert found.effective.angle == pytest.approx(effective, abs=0.005)


def test_the_transition_of_adenylate_kinase_is_as_measured() -> None:
    """MOTION 7: hinge of LID in the DIMS run; range 52.6°, rms 15.78°, index 0.97."""
    core = np.concatenate([np.arange(29), np.arange(67, 117), np.arange(160, 214)])
    found = motion.hinge(system("adk-ca"), body=np.arange(117, 160), reference=core)
    assert found.range == pytest.approx(52.6, abs=0.1)
    assert found.rms == pytest.approx(15.78, abs=0.01)
    assert found.index == pytest.approx(0.97, abs=0.005)
    assert 15 < found.axis_error < 25  # half of 46° between halves, 95 % cone of 28°
    assert "its axis moves" in found.verdict
