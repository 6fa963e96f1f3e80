"""How far off positions are, and whether that can be taken off σ of what is compared."""

from __future__ import annotations

from typing import Any

import numpy as np

from timme._arrays import Floats
from timme.confidence.noise import LEAST_SNAPSHOTS, PositionErrors, estimate_errors, take_off
from timme.engine.metrics import known_metric
from timme.engine.moments import Metric
from timme.fluctuations.sigma import Fluctuations
from timme.objects import Objects
from timme.pairs.lists import Pairs
from timme.settings import Settings
from timme.workflow.kept_pairs import are_kept


def choose_noise(
    compared: Objects, partners: Pairs, chosen: Settings, *, kind: str, metric: Metric | None
) -> PositionErrors | None:
    """Find the error of positions that is taken off σ, or say why it cannot be.

    Parameters
    ----------
    compared : Objects
        What is compared.
    partners : Pairs
        Who with whom.
    chosen : Settings
        What the user chose.
    kind : str
        What the sites are, as :func:`timme.workflow.defaults.kind_of` tells.
    metric : str, callable or None
        As for :func:`timme.measure`.

    Returns
    -------
    PositionErrors or None
        None where nothing is to be taken off.
    """
    if chosen.noise is None:
        return None
    ensemble = compared.ensemble
    if not compared.are_points:
        raise ValueError(
            f"noise= is for points and centres: σ of {compared.kind} is that of many pairs of "
            "sites at once: compare points (objects='points'), or centres (reduction='centre')"
        )
    if known_metric(metric, ensemble) is not None:
        raise ValueError(
            "noise= is for Euclidean distances: what an error of positions adds to those of "
            "another metric is not known: leave out one of them"
        )
    if ensemble.weights is not None:
        raise ValueError("noise= is for snapshots that weigh the same: leave it out, or weights=")
    if not are_kept(partners):
        raise ValueError(
            f"noise= needs σ of all pairs at once, and {len(partners):,} are too many: compare "
            "those in contact, or the nearest"
        )
    points = compared.centres()
    if chosen.noise == "auto":
        _refuse_to_estimate(compared, kind)
        squares = estimate_errors(points, replicas=chosen.runs_of(ensemble.n_snapshots)) ** 2
    else:
        squares = _given_squares(compared, np.asarray(chosen.noise, np.float64))
    return PositionErrors(points, squares)


def without_noise(
    compared: Objects,
    partners: Pairs,
    sigma: Fluctuations,
    noise: Any,
    *,
    kind: str,
    metric: Metric | None = None,
) -> Fluctuations:
    """Take the error of positions off what was measured, as the recipe does.

    Parameters
    ----------
    compared : Objects
        What was compared.
    partners : Pairs
        Who with whom.
    sigma : Fluctuations
        As measured.
    noise : float, sequence of float, "auto" or None
        As the setting of that name.
    kind : str
        As for :func:`choose_noise`.
    metric : str, callable or None
        As for :func:`timme.measure`.

    Returns
    -------
    Fluctuations
        Without it.
    """
    errors = choose_noise(compared, partners, Settings(noise=noise), kind=kind, metric=metric)
    return sigma if errors is None else take_off(sigma, errors.variance)[0]


def note_on_noise(
    errors: PositionErrors, sigma: Fluctuations, n_clipped: int, chosen: Settings
) -> str:
    """Say what was taken off σ.

    Parameters
    ----------
    errors : PositionErrors
        Of each particle.
    sigma : Fluctuations
        Without them.
    n_clipped : int
        Pairs that fluctuate by no more than errors would let them.
    chosen : Settings
        What the user chose.

    Returns
    -------
    str
        A sentence.
    """
    unit = f" {sigma.unit}" if sigma.unit else ""
    usual = np.sqrt(errors.squares.mean(axis=0))
    each = usual[:1] if np.ptp(usual) == 0 else usual
    told = f"an error of positions of {', '.join(f'{error:.3g}' for error in each)}{unit}"
    if len(each) > 1:
        told += " along the axes"
    how = ""
    if chosen.noise == "auto":
        how = (
            ", root mean squares of what the steps of each particle tell (motion that is quicker "
            "than snapshots counts as error)"
        )
    share = f"{n_clipped:,} of {len(sigma.sigma):,} pairs"
    # σ² that n errors make has a standard error of √(2 / (n − 1)) of it.
    seen = max(float(np.median(sigma.common)) - 1, 1.0)
    floor = np.sqrt(2 * errors.squares.mean() * np.sqrt(2 / seen))
    return (
        f"{told}{how} was taken off σ², and as much off σ² of resampled trajectories; {share} "
        f"fluctuate by no more than it, and have σ = 0; σ below about {floor:.2g}{unit} cannot be "
        "told from 0"
    )


def _refuse_to_estimate(compared: Objects, kind: str) -> None:
    """Refuse snapshots whose steps tell nothing of errors."""
    ensemble = compared.ensemble
    number = "give the error of positions as a number"
    if ensemble.independent:
        raise ValueError(
            f"{ensemble.prefix}noise='auto' needs snapshots in their order in time, and models "
            f"have none: {number}"
        )
    if kind != "particles":
        raise ValueError(
            f"{ensemble.prefix}noise='auto' is for particles: atoms tremble more quickly than "
            f"snapshots are taken, which is no error: {number}"
        )
    if ensemble.n_snapshots < LEAST_SNAPSHOTS:
        raise ValueError(
            f"{ensemble.prefix}noise='auto' needs at least {LEAST_SNAPSHOTS} snapshots, got "
            f"{ensemble.n_snapshots}: {number}"
        )


def _given_squares(compared: Objects, errors: Floats) -> Floats:
    """Variance of the error of each centre, which is that of sites, averaged."""
    n_dimensions = compared.ensemble.n_dimensions
    if errors.shape not in {(1,), (n_dimensions,)}:
        raise ValueError(
            f"noise= takes one error, or one for each of {n_dimensions} axes, got {len(errors)}"
        )
    shares = np.add.reduceat(compared.centre_weights**2, compared.offsets[:-1])
    squares: Floats = shares[:, None] * np.broadcast_to(errors**2, (n_dimensions,))
    return squares
