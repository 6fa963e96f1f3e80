r"""Closed forms of the freely-jointed chain, the exactly solvable example of the paper.

In a long chain of links of length a, each link turns freely about the joint that it shares with
the next. Two neighbouring links are compared by the distance l of their far ends. They are joined
if the fluctuation σ of l over the snapshots is within the cutoff, and a cluster is an unbroken run
of joined links.

Equations are numbered as in the source of the paper, each row of a display by itself:

===========  =====================================================================
Eq. (3)      l of two neighbouring links at an angle: `separation`
Eq. (4-5)    p(l): `separation_density`
Eq. (9-11)   p(σ) of two snapshots: `sigma_density`
Eq. (12-14)  p_c, that two neighbouring links are joined: `join_probability`
Eq. (15)     P(r), that a link is in a cluster of r links: `size_fraction`
Eq. (16-18)  mean of r over the links: `mean_size`
Eq. (19)     mean of σ² for N snapshots: `sigma_second_moment`, `step`
Eq. (20)     variance of σ² for N snapshots: `sigma_squared_variance`
Eq. (21-22)  P(r ≥ R), that a link is in a cluster of R or more: `tail_fraction`
===========  =====================================================================

Arrays in, arrays of the same shape out; NaN gives NaN. Distances, fluctuations and cutoffs are in
the unit of `link_length`.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from timme._arrays import Floats


def separation(theta: npt.ArrayLike, *, link_length: float = 1.0) -> Floats:
    r"""Return the distance of the far ends of two links that share a joint, Eq. (3).

    Parameters
    ----------
    theta : array_like
        Angle between the links in radians: 0 if the second is folded back onto the first.
    link_length : float, optional
        Length a of a link.

    Returns
    -------
    numpy.ndarray
        :math:`l = a \sqrt{2 (1 - \cos\theta)}`.

    Examples
    --------
    >>> separation([0, np.pi / 3, np.pi]).round(12)
    array([0., 1., 2.])
    """
    a = _length(link_length)
    # A straight angle in single precision is a little more than π; the half-angle form keeps its
    # digits where cos θ is close to 1.
    return 2 * a * np.sin(_checked("theta (in radians)", theta, 0, float(np.float32(np.pi))) / 2)


def separation_density(distance: npt.ArrayLike, *, link_length: float = 1.0) -> Floats:
    r"""Return the probability density of the distance of the far ends of two links, Eq. (5).

    Parameters
    ----------
    distance : array_like
        Distance l of the far ends.
    link_length : float, optional
        Length a of a link.

    Returns
    -------
    numpy.ndarray
        :math:`p(l) = l / 2 a^2` for :math:`0 \le l \le 2 a`, and 0 elsewhere.

    Examples
    --------
    >>> separation_density([-0.1, 0.5, 1.0, 2.0, 2.1])
    array([0.  , 0.25, 0.5 , 1.  , 0.  ])
    """
    a = _length(link_length)
    x = np.asarray(distance, np.float64) / a
    return np.where((x < 0) | (x > 2), 0.0, x / (2 * a))


def sigma_density(sigma: npt.ArrayLike, *, link_length: float = 1.0) -> Floats:
    r"""Return the probability density of the fluctuation over two snapshots, Eq. (11).

    Parameters
    ----------
    sigma : array_like
        Fluctuation of two neighbouring links: half the difference of their two distances.
    link_length : float, optional
        Length a of a link.

    Returns
    -------
    numpy.ndarray
        :math:`p(\sigma) = 4 (a - \sigma)^2 (2 a + \sigma) / 3 a^4` for :math:`0 \le \sigma \le a`,
        and 0 elsewhere.

    Examples
    --------
    >>> sigma_density([-0.1, 0.0, 0.5, 1.0]).round(4)
    array([0.    , 2.6667, 0.8333, 0.    ])
    """
    a = _length(link_length)
    x = np.asarray(sigma, np.float64) / a
    inside = np.clip(x, 0, 1)
    return np.where((x < 0) | (x > 1), 0.0, 4 * (1 - inside) ** 2 * (2 + inside) / (3 * a))


def join_probability(cutoff: npt.ArrayLike, *, link_length: float = 1.0) -> Floats:
    r"""Return the probability that two neighbouring links are joined, Eq. (14): two snapshots.

    Parameters
    ----------
    cutoff : array_like
        Cutoff of the fluctuation.
    link_length : float, optional
        Length a of a link.

    Returns
    -------
    numpy.ndarray
        :math:`p_c = \sigma_c (8 a^3 - 6 a^2 \sigma_c + \sigma_c^3) / 3 a^4`, 0 below cutoff 0 and
        1 above a.

    Examples
    --------
    Half of the links are in clusters of 10 or more at a cutoff of 0.481 link lengths:

    >>> tail_fraction(join_probability([0.328, 0.481, 0.645])).round(2)
    array([0.1, 0.5, 0.9])
    """
    a = _length(link_length)
    x = np.clip(np.asarray(cutoff, np.float64) / a, 0, 1)
    return np.asarray(x * (8 - 6 * x + x**3) / 3)


def size_fraction(r: npt.ArrayLike, p: npt.ArrayLike) -> Floats:
    r"""Return the fraction of links in clusters of exactly r links, Eq. (15).

    Parameters
    ----------
    r : array_like
        Number of links in a cluster: whole numbers from 1.
    p : array_like
        Probability that two neighbouring links are joined; broadcast against `r`.

    Returns
    -------
    numpy.ndarray
        :math:`P(r) = r (1 - p)^2 p^{r - 1}`.

    Examples
    --------
    >>> size_fraction([1, 2, 3], 0.5)
    array([0.25  , 0.25  , 0.1875])
    """
    r, p = _checked("r", r, 1, whole=True), _checked("p", p, 0, 1)
    return np.asarray(r * (1 - p) ** 2 * p ** (r - 1))


def mean_size(p: npt.ArrayLike) -> Floats:
    r"""Return the mean size of the cluster that a link is in, Eq. (18).

    Parameters
    ----------
    p : array_like
        Probability that two neighbouring links are joined.

    Returns
    -------
    numpy.ndarray
        :math:`\langle r \rangle = (1 + p) / (1 - p)`, infinite where all are joined.

    Examples
    --------
    >>> mean_size([0.0, 0.5, 0.9, 1.0])
    array([ 1.,  3., 19., inf])
    """
    p = _checked("p", p, 0, 1)
    with np.errstate(divide="ignore"):
        return np.asarray((1 + p) / (1 - p))


def tail_fraction(p: npt.ArrayLike, *, large: npt.ArrayLike = 10) -> Floats:
    r"""Return the fraction of links in clusters of at least a given size, Eq. (21).

    Parameters
    ----------
    p : array_like
        Probability that two neighbouring links are joined.
    large : array_like, optional
        Smallest size R that counts: whole numbers from 1; broadcast against `p`.

    Returns
    -------
    numpy.ndarray
        :math:`P(r \ge R) = p^{R - 1} (R - (R - 1) p)`.

    Examples
    --------
    >>> tail_fraction([0.0, 0.5, 1.0], large=2)
    array([0.  , 0.75, 1.  ])
    """
    p, size = _checked("p", p, 0, 1), _checked("large", large, 1, whole=True)
    return np.asarray(p ** (size - 1) * (size - (size - 1) * p))


def sigma_second_moment(n_snapshots: npt.ArrayLike, *, link_length: float = 1.0) -> Floats:
    r"""Return the mean of σ² over many pairs of neighbouring links, Eq. (19).

    Parameters
    ----------
    n_snapshots : array_like
        Number N of independent snapshots, at least 2.
    link_length : float, optional
        Length a of a link.

    Returns
    -------
    numpy.ndarray
        :math:`\langle\sigma^2\rangle = \frac{2}{9} a^2 (1 - \frac{1}{N})`.

    Examples
    --------
    >>> sigma_second_moment([2, 10, 100]).round(4)
    array([0.1111, 0.2   , 0.22  ])
    """
    n = _checked("n_snapshots", n_snapshots, 2, whole=True)
    return np.asarray(step(link_length=link_length) ** 2 * (1 - 1 / n))


def sigma_squared_variance(n_snapshots: npt.ArrayLike, *, link_length: float = 1.0) -> Floats:
    r"""Return the variance of σ² over many pairs of neighbouring links, Eq. (20).

    The paper calls it the variance; it is that of :math:`\sigma^2`, not of :math:`\sigma`.

    Parameters
    ----------
    n_snapshots : array_like
        Number N of independent snapshots, at least 2.
    link_length : float, optional
        Length a of a link.

    Returns
    -------
    numpy.ndarray
        :math:`\langle\sigma^4\rangle - \langle\sigma^2\rangle^2 =
        \frac{28}{405} \frac{a^4}{N} (1 - \frac{1}{N})^2
        + \frac{8}{81} \frac{a^4}{N^2} (1 - \frac{1}{N})`.

    Examples
    --------
    >>> sigma_squared_variance([2, 10, 100]).round(5)
    array([0.02099, 0.00649, 0.00069])
    """
    n, a = _checked("n_snapshots", n_snapshots, 2, whole=True), _length(link_length)
    rest = 1 - 1 / n
    return np.asarray(a**4 * (28 / 405 * rest**2 / n + 8 / 81 * rest / n**2))


def step(*, link_length: float = 1.0) -> float:
    r"""Return the cutoff at which all links join at once in the limit of many snapshots.

    The variance, Eq. (20), goes to zero: all pairs of neighbouring links have the same σ.

    Parameters
    ----------
    link_length : float, optional
        Length a of a link.

    Returns
    -------
    float
        :math:`\sqrt{2/9}\, a`, from Eq. (19).

    Examples
    --------
    >>> round(step(), 3)
    0.471
    """
    return math.sqrt(2 / 9) * _length(link_length)


def _length(link_length: float) -> float:
    return float(_checked("link_length", link_length, np.finfo(float).tiny))


def _checked(
    name: str, given: npt.ArrayLike, low: float, high: float = 1e300, *, whole: bool = False
) -> Floats:
    """Numbers in a range, or whole numbers; an unknown number, NaN, stays unknown."""
    values = np.asarray(given, np.float64)
    wrong = (values != np.floor(values)) | ~np.isfinite(values) if whole else False
    if (wrong | (values < low) | (values > high)).any():
        kind = "whole numbers" if whole else "numbers"
        raise ValueError(f"{name} needs {kind} from {low:.6g} to {high:.6g}, got {given!r}")
    return values
