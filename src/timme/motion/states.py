"""Tell whether numbers have two states: two bell curves better than one, and a valley between."""

from __future__ import annotations

import numpy as np

from timme._arrays import Bools, Floats

_BETTER = 10.0  # difference of the Bayesian information criterion


def two_states(values: Floats) -> Bools | None:
    """Tell which values belong to the upper of two states.

    Parameters
    ----------
    values : ndarray, shape (values,)
        Such as angles, one for each snapshot.

    Returns
    -------
    ndarray of bool or None
        None where one state will do, or where values between the two are not rare.

    Examples
    --------
    >>> two_states(np.array([0.0, 0.1, -0.1, 0.05, 5.0, 5.1, 4.9, 5.02, 0.02, 4.95]))
    array([False, False, False, False,  True,  True,  True,  True, False,  True])
    """
    n_values = len(values)
    if n_values < 8 or np.ptp(values) == 0:
        return None
    upper = _split(values)
    floor = 1e-3 * np.ptp(values)
    share, means, widths = _mixture(values, upper, floor)
    one = -0.5 * n_values * (np.log(2 * np.pi * max(values.var(), floor**2)) + 1)
    two = np.log(_densities(values, share, means, widths).sum(axis=1)).sum()
    gain = 2 * (two - one) - 3 * np.log(n_values)  # mean, width and share of one more
    if gain <= _BETTER or not _valley(values, means):
        return None
    parts = _densities(values, share, means, widths)
    found: Bools = parts[:, 1] > parts[:, 0]
    return found if found.any() and not found.all() else None


def _split(values: Floats) -> Bools:
    """Cut sorted values where the squares within both parts are least."""
    ranked = np.sort(values)
    count = np.arange(1, len(ranked))
    total, square = np.cumsum(ranked), np.cumsum(ranked**2)
    left = square[:-1] - total[:-1] ** 2 / count
    right = square[-1] - square[:-1] - (total[-1] - total[:-1]) ** 2 / count[::-1]
    upper: Bools = values > ranked[np.argmin(left + right)]
    return upper


def _mixture(values: Floats, upper: Bools, floor: float) -> tuple[Floats, Floats, Floats]:
    """Fit two bell curves by turns: who belongs where, and where the curves are."""
    belongs = np.column_stack([~upper, upper]).astype(np.float64)
    share = means = widths = np.zeros(2)
    for _ in range(100):
        total = np.maximum(belongs.sum(axis=0), 1e-9)
        share, means = total / len(values), belongs.T @ values / total
        spread = (belongs * (values[:, None] - means) ** 2).sum(axis=0) / total
        widths = np.sqrt(np.maximum(spread, floor**2))
        parts = _densities(values, share, means, widths)
        after = parts / np.maximum(parts.sum(axis=1, keepdims=True), 1e-300)
        if np.abs(after - belongs).max() < 1e-6:
            break
        belongs = after
    order = np.argsort(means)
    return share[order], means[order], widths[order]


def _densities(values: Floats, share: Floats, means: Floats, widths: Floats) -> Floats:
    away = (values[:, None] - means) / widths
    found: Floats = share * np.exp(-0.5 * away**2) / (np.sqrt(2 * np.pi) * widths)
    return np.maximum(found, 1e-300)


def _valley(values: Floats, means: Floats) -> bool:
    """Whether there are fewer values halfway between two means than at either of them."""
    third = (means[1] - means[0]) / 3
    counts = [
        np.count_nonzero(np.abs(values - place) <= third / 2)
        for place in (means[0], means.mean(), means[1])
    ]
    return bool(3 * counts[1] <= min(counts[0], counts[2]))
