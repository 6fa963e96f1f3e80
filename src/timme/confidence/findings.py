"""What sums over parts of the snapshots tell, as plain data.

Results keep, store and draw it, and need none of the code that finds it, which stands above.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timme._arrays import Floats, Ints

HATCHED = 0.75  # overlap from which on a cluster is mostly found again
FEW_CONTACTS = 5  # crossing pairs below which Q says nothing
EXCESS = 1.2  # X, which is 1 of one body whose sites tremble; its bound where few pairs cross


@dataclass(frozen=True, slots=True)
class Separation:
    """How much two sides of a split move against one another."""

    across: float  # median σ of pairs that cross
    inside: float  # median σ inside this side
    inside_other: float  # and inside the other
    excess: float  # X: median of σ² over what the motion of single sites explains; NaN unknown
    excess_low: float  # its 5 % bound over draws
    n_contacts: int  # compared pairs that cross
    excess_all: float = np.nan  # X over all pairs that cross, compared or drawn

    @property
    def ratio(self) -> float:
        """Q: median σ across over the larger of the medians inside."""
        return self.across / max(self.inside, self.inside_other, 1e-300)

    @property
    def by_excess(self) -> bool:
        """Whether too few compared pairs cross, so that X decides and not Q."""
        return self.n_contacts < FEW_CONTACTS

    @property
    def explained(self) -> bool:
        """Whether sites move across no more than each trembles by itself; False if unknown.

        All pairs are asked: a stray between two bodies may be all that is in contact with both.
        """
        return self.excess_all < EXCESS


@dataclass(frozen=True, slots=True, eq=False)
class Convergence:
    """What parts of a trajectory say, beside what all of it says."""

    fractions: Floats  # (lengths,), of the trajectory
    forward: Floats  # (lengths,), median of σ over that of all snapshots, from the beginning on
    backward: Floats  # (lengths,), from the end on
    forward_overlaps: Floats  # (lengths, trusted clusters), how much of each is found
    backward_overlaps: Floats
    left_out: Floats  # (replicas, trusted clusters), without one replica; none of a single run

    @property
    def words(self) -> str:
        """What halves of the trajectory say, in one sentence."""
        half = int(np.argmin(np.abs(self.fractions - 0.5)))
        ratio = self.forward[half], self.backward[half]
        if not np.isfinite(ratio).all():
            return (
                "a half of the trajectory has too few snapshots of any pair to be compared with all"
            )
        told = f"σ of the first half is {ratio[0]:.2f}, of the second {ratio[1]:.2f} of that of all"
        if self.forward_overlaps.shape[1]:
            least = min(
                float(self.forward_overlaps[half].min()), float(self.backward_overlaps[half].min())
            )
            if least >= HATCHED:
                told += f"; every trusted cluster is found in both, by {least:.2f} at least"
            else:
                told += f"; not every trusted cluster is found in both, one by {least:.2f} only"
        if self.left_out.size:
            least = float(self.left_out.min())
            told += f"; without any one replica, by {least:.2f} at least"
        return told


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """Who is in which cluster, window after window."""

    windows: tuple[range, ...]  # snapshots of each
    tracks: Ints  # (windows, shown sites), number of the track of each site; -1 in small clusters
    cutoff: float

    @property
    def n_tracks(self) -> int:
        """How many clusters were ever there."""
        return int(self.tracks.max(initial=-1)) + 1

    def sizes(self) -> Ints:
        """Count the sites of each track in each window.

        Returns
        -------
        ndarray of int, shape (windows, tracks)
            0 where a track has ended, or not begun.
        """
        held = [row[row >= 0] for row in self.tracks]
        return np.stack([np.bincount(row, minlength=self.n_tracks) for row in held])


@dataclass(frozen=True, slots=True, eq=False)
class NullBand:
    """What independent walkers would show."""

    cutoffs: Floats  # (cutoffs,)
    low: Floats  # (cutoffs,), P(r ≥ R): 5 % of draws are below
    high: Floats  # (cutoffs,), and 5 % above
    largest: Ints  # (draws, cutoffs), sites of the largest cluster

    def words(self, cutoff: float, largest: int) -> str:
        """Compare the largest cluster at a cutoff with those by chance.

        Parameters
        ----------
        cutoff : float
            In the units of the heights.
        largest : int
            Sites of the largest cluster that was found there.

        Returns
        -------
        str
            One sentence without its full stop.
        """
        place = int(np.clip(np.searchsorted(self.cutoffs, cutoff, "right") - 1, 0, None))
        chance = int(np.percentile(self.largest[:, place], 95))
        return (
            f"independent walkers with the same steps form clusters of up to {chance} at this "
            f"cutoff, the largest here has {largest}"
        )
