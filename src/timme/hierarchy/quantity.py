"""What the heights of a hierarchy are: the symbol, unit and words of axes, tables and pages."""

from __future__ import annotations

from dataclasses import dataclass, replace

from timme._text import Described


@dataclass(frozen=True, slots=True, repr=False)
class Quantity(Described):
    """What the heights of a hierarchy are.

    Low heights always join first. What is high for neighbours, such as the fraction of snapshots
    in which two sites touch, changes its sign before it is linked.

    Examples
    --------
    >>> energy = Quantity("E", "kcal/mol", words="energy of hydrogen bonds")
    >>> energy.cutoff_name, energy.cutoff_text(-1.0)
    ('E cutoff', 'E = -1 kcal/mol')
    """

    symbol: str  # as on an axis: σ, E
    unit: str = ""
    words: str = ""  # "fluctuation of distance"; the symbol by default
    cutoff: str = ""  # symbol of a cutoff, σc; the symbol of the height by default
    clusters: str = "clusters"  # what a cut consists of: "co-moving clusters"
    is_length: bool = False  # in the unit of the coordinates, so that σ/a has a meaning
    of_distances: bool = False  # 0 for two sites at a fixed distance, as bonds hold them

    def __post_init__(self) -> None:
        """Let the symbol stand for what was left out."""
        if not self.symbol:
            raise ValueError("a quantity needs a symbol for its axis, such as 'σ', got ''")
        object.__setattr__(self, "words", self.words or self.symbol)
        object.__setattr__(self, "cutoff", self.cutoff or self.symbol)

    @property
    def cutoff_name(self) -> str:
        """Name of an axis of cutoffs: ``σc``, or ``E cutoff`` where there is no such symbol."""
        return f"{self.symbol} cutoff" if self.cutoff == self.symbol else self.cutoff

    def cutoff_text(self, cutoff: float, length: float | None = None) -> str:
        """Return a cutoff with its symbol and unit.

        Parameters
        ----------
        cutoff : float
            In the unit of the heights.
        length : float, optional
            The length a by which the cutoff is divided as well, where heights are lengths.

        Returns
        -------
        str
            Such as "σc = 0.0252 Å (σc/a = 0.0164)".
        """
        text = f"{self.cutoff} = {cutoff:.4g} {self.unit}".rstrip()
        if not length or not self.is_length:
            return text
        return f"{text} ({self.cutoff}/a = {cutoff / length:.3g})"


SIGMA = Quantity(
    "σ",
    words="fluctuation of distance",
    cutoff="σc",
    clusters="co-moving clusters",
    is_length=True,
    of_distances=True,
)

# Metrics whose distances, and so σ, are not in the unit of the coordinates.
_OTHER_UNITS = {
    *("sqeuclidean", "cosine", "correlation", "braycurtis", "canberra", "haversine"),
    *("hamming", "jensenshannon"),
}


def sigma_by(metric: object, unit: str = "") -> Quantity:
    """Return σ as a quantity for distances by a metric: a name, a function, or None."""
    is_length = not (isinstance(metric, str) and metric in _OTHER_UNITS)
    return replace(SIGMA, unit=unit, is_length=is_length)


def as_quantity(given: str | Quantity, unit: str = "") -> Quantity:
    """Return a quantity from its symbol alone, or with a unit of its own.

    Parameters
    ----------
    given : str or Quantity
        A symbol or a whole quantity.
    unit : str, optional
        Unit of the heights; that of the quantity by default.

    Returns
    -------
    Quantity
        :data:`SIGMA` for "σ"; any other symbol stands for itself.

    Examples
    --------
    >>> as_quantity("PAE", "Å").cutoff_name
    'PAE cutoff'
    >>> as_quantity("σ", "nm").cutoff_text(0.02)
    'σc = 0.02 nm'
    """
    if isinstance(given, str):
        given = SIGMA if given == SIGMA.symbol else Quantity(given)
    return replace(given, unit=unit) if unit else given
