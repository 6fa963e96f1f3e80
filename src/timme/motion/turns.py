"""Take the turning of a body apart: about which direction it turns most, and how much is noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timme._arrays import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Turns:
    """Rotation vectors, taken apart along their own axes."""

    axis: Floats
    angles: Floats  # (snapshots,), in rad
    variances: Floats  # (3,), λ along the axis first, in rad²
    noise: Floats  # (3,), what of them noise makes
    basis: Floats  # (3, 3), columns: the axis and two across

    @classmethod
    def of(cls, vectors: Floats, weights: Floats, noise: Floats, given: Floats | None) -> Turns:
        """Take rotation vectors apart.

        Parameters
        ----------
        vectors : ndarray, shape (snapshots, 3)
            About their mean, in rad.
        weights : ndarray, shape (snapshots,)
            Of the snapshots, with sum 1.
        noise : ndarray, shape (3, 3)
            Covariance that noise makes.
        given : ndarray, shape (3,), optional
            An axis of length 1, if it is not to be found.

        Returns
        -------
        Turns
            The axis points the way the body goes from the first snapshot to the last.
        """
        covariance = (vectors * weights[:, None]).T @ vectors
        values, basis = np.linalg.eigh(covariance - noise)
        basis = basis[:, np.argsort(-values)]
        if given is not None:
            basis = np.linalg.qr(np.column_stack([given, basis]))[0]
            basis[:, 0] = given
        elif basis[:, 0] @ (vectors[-1] - vectors[0]) < 0:
            basis = -basis
        return cls(
            axis=basis[:, 0],
            angles=vectors @ basis[:, 0],
            variances=np.einsum("ik,ij,jk->k", basis, covariance, basis),
            noise=np.einsum("ik,ij,jk->k", basis, noise, basis),
            basis=basis,
        )

    @property
    def index(self) -> float:
        """Share of the axis in all turning that is more than noise."""
        excess = np.maximum(self.variances - self.noise, 0.0)
        return float(excess[0] / excess.sum()) if excess.sum() > 0 else float("nan")

    @property
    def turns(self) -> bool:
        """Whether there is more turning than three standard deviations of noise.

        About any direction: an axis that was given need not be the one it turns about.
        """
        return bool((self.variances > np.maximum(9 * self.noise, 1e-18)).any())
