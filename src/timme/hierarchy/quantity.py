"""What the heights of a hierarchy are: the symbol, unit and words of all that is drawn of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from timme._html import Described


@dataclass(frozen=True, slots=True, repr=False)
class Quantity(Described):
    """What the heights of a hierarchy are, as axes, tables and pages write it.

    It has no direction, as low heights join first, always. σ and energies, of which those of strong
    bonds are low, are so by themselves; what is high for neighbours, such as the fraction of
    snapshots in which they are together, is turned round before it is linked. Linking, cuts, curves
    and axes then never ask.
    """

    symbol: str  # as on an axis: σ, E
    unit: str = ""
    words: str = ""  # what it is, "fluctuation of distance"; the symbol by default
    cutoff: str = ""  # symbol of a cutoff, σc; that of the height by default
    clusters: str = "clusters"  # what a cut consists of: "co-moving clusters"
    is_length: bool = False  # a length in the unit of the coordinates, so that σ/a means something
    of_distances: bool = False  # 0 for two sites at a fixed distance, as bonds hold them

    def __post_init__(self) -> None:
        """Let the symbol stand for what was left out."""
        if not self.symbol:
            raise ValueError("a quantity needs a symbol to be written on axes, such as σ, got none")
        for name in ("words", "cutoff"):
            object.__setattr__(self, name, getattr(self, name) or self.symbol)

    @property
    def cutoff_name(self) -> str:
        """Name of an axis of cutoffs: ``σc``, or ``E cutoff`` where there is no such symbol."""
        return f"{self.symbol} cutoff" if self.cutoff == self.symbol else self.cutoff

    def cutoff_text(self, cutoff: float, length: float | None = None) -> str:
        """Write a cutoff with its symbol and unit.

        Parameters
        ----------
        cutoff : float
            In the unit of the heights.
        length : float, optional
            The length a by which it is divided as well, where heights are lengths.

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


# Metrics of which σ is no length that could be divided by one of the coordinates.
_OF_OTHER_UNITS = (
    *("sqeuclidean", "cosine", "correlation", "braycurtis", "canberra", "haversine"),
    *("hamming", "jensenshannon"),
)


def sigma_by(metric: object) -> Quantity:
    """Say what σ is where distances are those of a metric.

    Parameters
    ----------
    metric : str, callable or None
        How far apart two points are.

    Returns
    -------
    Quantity
        A length in the unit of the coordinates, unless the metric has a unit of its own, or none.
    """
    return replace(SIGMA, is_length=metric not in _OF_OTHER_UNITS)


def as_quantity(given: str | Quantity, unit: str = "") -> Quantity:
    """Make a quantity of its symbol alone.

    Parameters
    ----------
    given : str or Quantity
        A symbol, or all that is known.
    unit : str, optional
        Of the heights; that of a Quantity by default.

    Returns
    -------
    Quantity
        :data:`SIGMA` for σ; of another symbol, what is known without words.

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
