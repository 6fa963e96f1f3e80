r"""Closed forms of the freely-jointed chain, the paper's exactly solvable example.

A chain of links of length a, each turning freely about the joint it shares with the next. Two
neighbouring links are compared by the distance l of their far ends; they are joined when the
fluctuation sigma of l over the snapshots is within the cutoff, and a cluster is an unbroken run
of joined links. The chain is long: its two ends are left out of account.

Equations carry the numbers that LaTeX gives them in the paper's source, counted from its first
display, each row of a display of several rows having its own:

===========  ==========================================================================
Eq. (1-2)    sigma of two objects
Eq. (3)      l of two neighbouring links at an angle: `separation`
Eq. (4-5)    p(l): `separation_density`
Eq. (6-8)    sigma of two snapshots, half the difference of their two l
Eq. (9-11)   p(sigma) of two snapshots: `sigma_density`
Eq. (12-14)  p_c, that two neighbouring links are joined: `join_probability`
Eq. (15)     P(r), that a link is in a cluster of r links: `size_fraction`
Eq. (16-18)  the mean of r over the links: `mean_size`
Eq. (19)     the mean of sigma squared for N snapshots: `sigma_second_moment`
Eq. (20)     the variance of sigma squared for N snapshots: `sigma_squared_variance`
Eq. (21-22)  P(r >= R), that a link is in a cluster of R or more links: `tail_fraction`
===========  ==========================================================================

Arrays in, arrays of the same shape out; a number counts as an array of no dimension. An angle,
length or probability that is NaN gives NaN. Distances, fluctuations and cutoffs are in the units
of `link_length`.
"""

import math

import numpy as np
import numpy.typing as npt

__all__ = [
    "join_probability",
    "mean_size",
    "separation",
    "separation_density",
    "sigma_density",
    "sigma_second_moment",
    "sigma_squared_variance",
    "size_fraction",
    "step",
    "tail_fraction",
]


def separation(theta: npt.ArrayLike, *, link_length: float = 1.0) -> npt.NDArray[np.float64]:
    r"""Distance of the far ends of two links that share a joint, Eq. (3).

    Parameters
    ----------
    theta : array_like
        Angle between the two links at their joint in radians: 0 where the second link is folded
        back onto the first, pi where the chain is straight.
    link_length : float, optional
        Length a of a link.

    Returns
    -------
    numpy.ndarray
        The distance :math:`l = a \sqrt{2 (1 - \cos\theta)}`.

    Examples
    --------
    >>> import numpy as np
    >>> from timme import theory
    >>> theory.separation([0, np.pi / 3, np.pi]).round(12)
    array([0., 1., 2.])
    """
    a = _checked_length(link_length)
    theta = np.asarray(theta, dtype=np.float64)
    # A straight angle in single precision is a little more than pi.
    straight = float(np.float32(np.pi))
    _check_range("theta", theta, 0, straight, "turn degrees into radians with numpy.radians")
    # The half-angle form of Eq. (3) keeps its digits where cos(theta) is close to 1.
    return np.asarray(2 * a * np.sin(theta / 2))


def separation_density(
    distance: npt.ArrayLike, *, link_length: float = 1.0
) -> npt.NDArray[np.float64]:
    r"""Probability density of the distance of the far ends of two links, Eq. (5).

    Parameters
    ----------
    distance : array_like
        Distance l of the far ends.
    link_length : float, optional
        Length a of a link.

    Returns
    -------
    numpy.ndarray
        The density :math:`p(l) = l / 2 a^2` for :math:`0 \le l \le 2 a`, and 0 elsewhere.

    Examples
    --------
    >>> from timme import theory
    >>> theory.separation_density([-0.1, 0.5, 1.0, 2.0, 2.1])
    array([0.  , 0.25, 0.5 , 1.  , 0.  ])
    """
    a = _checked_length(link_length)
    x = np.asarray(distance, dtype=np.float64) / a
    return np.where((x < 0) | (x > 2), 0.0, x / (2 * a))


def sigma_density(sigma: npt.ArrayLike, *, link_length: float = 1.0) -> npt.NDArray[np.float64]:
    r"""Probability density of the fluctuation over two snapshots, Eq. (11).

    Parameters
    ----------
    sigma : array_like
        Fluctuation of two neighbouring links: half the difference of their two distances.
    link_length : float, optional
        Length a of a link.

    Returns
    -------
    numpy.ndarray
        The density :math:`p(\sigma) = 4 (a - \sigma)^2 (2 a + \sigma) / 3 a^4` for
        :math:`0 \le \sigma \le a`, and 0 elsewhere.

    Examples
    --------
    >>> from timme import theory
    >>> theory.sigma_density([-0.1, 0.0, 0.5, 1.0]).round(4)
    array([0.    , 2.6667, 0.8333, 0.    ])
    """
    a = _checked_length(link_length)
    x = np.asarray(sigma, dtype=np.float64) / a
    inside = np.clip(x, 0, 1)
    return np.where((x < 0) | (x > 1), 0.0, 4 * (1 - inside) ** 2 * (2 + inside) / (3 * a))


def join_probability(cutoff: npt.ArrayLike, *, link_length: float = 1.0) -> npt.NDArray[np.float64]:
    r"""Probability that two neighbouring links are joined, Eq. (14).

    Two snapshots: the fluctuation of two neighbouring links is within the cutoff.

    Parameters
    ----------
    cutoff : array_like
        Cutoff of the fluctuation.
    link_length : float, optional
        Length a of a link.

    Returns
    -------
    numpy.ndarray
        The probability :math:`p_c = \sigma_c (8 a^3 - 6 a^2 \sigma_c + \sigma_c^3) / 3 a^4`,
        0 at cutoffs below 0 and 1 above a.

    Examples
    --------
    >>> from timme import theory
    >>> theory.join_probability([-1.0, 0.0, 0.5, 1.0, 2.0]).round(4)
    array([0.    , 0.    , 0.8542, 1.    , 1.    ])

    Half of the links are in clusters of 10 or more at a cutoff of 0.481 link lengths:

    >>> theory.tail_fraction(theory.join_probability([0.328, 0.481, 0.645])).round(2)
    array([0.1, 0.5, 0.9])
    """
    a = _checked_length(link_length)
    x = np.clip(np.asarray(cutoff, dtype=np.float64), 0, a) / a
    return np.asarray(x * (8 - 6 * x + x**3) / 3)


def size_fraction(r: npt.ArrayLike, p: npt.ArrayLike) -> npt.NDArray[np.float64]:
    r"""Fraction of links in clusters of exactly r links, Eq. (15).

    Parameters
    ----------
    r : array_like
        Number of links in a cluster: whole numbers from 1.
    p : array_like
        Probability that two neighbouring links are joined; broadcast against `r`.

    Returns
    -------
    numpy.ndarray
        The fraction :math:`P(r) = r (1 - p)^2 p^{r - 1}`.

    Examples
    --------
    >>> from timme import theory
    >>> theory.size_fraction([1, 2, 3], 0.5)
    array([0.25  , 0.25  , 0.1875])
    """
    r = _checked_counts("r", r, 1, "a link by itself is a cluster of size 1")
    p = _checked_probability(p)
    return np.asarray(r * (1 - p) ** 2 * p ** (r - 1))


def mean_size(p: npt.ArrayLike) -> npt.NDArray[np.float64]:
    r"""Mean size of the cluster that a link is in, Eq. (18).

    Parameters
    ----------
    p : array_like
        Probability that two neighbouring links are joined.

    Returns
    -------
    numpy.ndarray
        The mean :math:`\langle r \rangle = (1 + p) / (1 - p)`, infinite where all are joined.

    Examples
    --------
    >>> from timme import theory
    >>> theory.mean_size([0.0, 0.5, 0.9, 1.0])
    array([ 1.,  3., 19., inf])
    """
    p = _checked_probability(p)
    with np.errstate(divide="ignore"):
        return np.asarray((1 + p) / (1 - p))


def tail_fraction(p: npt.ArrayLike, *, large: npt.ArrayLike = 10) -> npt.NDArray[np.float64]:
    r"""Fraction of links in clusters of at least a given size, Eq. (21).

    Parameters
    ----------
    p : array_like
        Probability that two neighbouring links are joined.
    large : array_like, optional
        Smallest size R that counts: whole numbers from 1; broadcast against `p`.

    Returns
    -------
    numpy.ndarray
        The fraction :math:`P(r \ge R) = p^{R - 1} (R - (R - 1) p)`, the closed form of the sum.

    Examples
    --------
    >>> from timme import theory
    >>> theory.tail_fraction([0.0, 0.5, 1.0], large=2)
    array([0.  , 0.75, 1.  ])
    """
    p = _checked_probability(p)
    size = _checked_counts("large", large, 1, "1 counts every cluster")
    return np.asarray(p ** (size - 1) * (size - (size - 1) * p))


def sigma_second_moment(
    n_snapshots: npt.ArrayLike, *, link_length: float = 1.0
) -> npt.NDArray[np.float64]:
    r"""Mean of sigma squared over many pairs of neighbouring links, Eq. (19).

    Parameters
    ----------
    n_snapshots : array_like
        Number N of independent snapshots, at least 2.
    link_length : float, optional
        Length a of a link.

    Returns
    -------
    numpy.ndarray
        The mean :math:`\langle\sigma^2\rangle = \frac{2}{9} a^2 (1 - \frac{1}{N})`.

    Examples
    --------
    >>> from timme import theory
    >>> theory.sigma_second_moment([2, 10, 100]).round(4)
    array([0.1111, 0.2   , 0.22  ])
    """
    a = _checked_length(link_length)
    n = _checked_snapshots(n_snapshots)
    return np.asarray(2 / 9 * a**2 * (1 - 1 / n))


def sigma_squared_variance(
    n_snapshots: npt.ArrayLike, *, link_length: float = 1.0
) -> npt.NDArray[np.float64]:
    r"""Variance of sigma squared over many pairs of neighbouring links, Eq. (20).

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
        The variance :math:`\langle\sigma^4\rangle - \langle\sigma^2\rangle^2 =
        \frac{28}{405} \frac{a^4}{N} (1 - \frac{1}{N})^2
        + \frac{8}{81} \frac{a^4}{N^2} (1 - \frac{1}{N})`.

    Examples
    --------
    >>> from timme import theory
    >>> theory.sigma_squared_variance([2, 10, 100]).round(5)
    array([0.02099, 0.00649, 0.00069])
    """
    a = _checked_length(link_length)
    n = _checked_snapshots(n_snapshots)
    shrink = 1 - 1 / n
    return np.asarray(a**4 * (28 / 405 * shrink**2 / n + 8 / 81 * shrink / n**2))


def step(*, link_length: float = 1.0) -> float:
    r"""Cutoff at which all links join at once in the limit of many snapshots, from Eq. (19).

    The variance, Eq. (20), goes to zero: all pairs of neighbouring links have the same
    fluctuation, and the growth of clusters with the cutoff sharpens to a step there.

    Parameters
    ----------
    link_length : float, optional
        Length a of a link.

    Returns
    -------
    float
        The cutoff :math:`\sqrt{2/9}\, a`.

    Examples
    --------
    >>> from timme import theory
    >>> round(theory.step(), 3)
    0.471
    """
    return math.sqrt(2 / 9) * _checked_length(link_length)


def _checked_length(link_length: float) -> float:
    if not (link_length > 0 and math.isfinite(link_length)):
        raise ValueError(
            f"link_length needs to be positive and finite, got {link_length}: "
            "give the length of a link in the units of the coordinates"
        )
    return float(link_length)


def _checked_probability(p: npt.ArrayLike) -> npt.NDArray[np.float64]:
    values = np.asarray(p, dtype=np.float64)
    _check_range("p", values, 0, 1, "turn a cutoff into a probability with join_probability")
    return values


def _checked_snapshots(n_snapshots: npt.ArrayLike) -> npt.NDArray[np.float64]:
    remedy = "one snapshot does not fluctuate, take more"
    return _checked_counts("n_snapshots", n_snapshots, 2, remedy)


def _checked_counts(
    name: str, counts: npt.ArrayLike, lowest: int, remedy: str
) -> npt.NDArray[np.float64]:
    """Whole numbers, as floats so that powers and quotients of them cannot overflow."""
    values = np.asarray(counts, dtype=np.float64)
    wrong = ~((values >= lowest) & (values == np.floor(values)) & np.isfinite(values))
    if wrong.any():
        raise ValueError(
            f"{name} needs to be a whole number from {lowest}, got {values[wrong][0]:g}: {remedy}"
        )
    return values


def _check_range(
    name: str, values: npt.NDArray[np.float64], lowest: float, highest: float, remedy: str
) -> None:
    outside = (values < lowest) | (values > highest)
    if outside.any():
        raise ValueError(
            f"{name} needs to be between {lowest:g} and {highest:g}, "
            f"got {values[outside][0]:g}: {remedy}"
        )
