"""Models: atoms of structure files as these list them, and what each atom is called."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from timme._arrays import Floats, Ints, Strings

Key = tuple[str, int, str, str]  # chain, residue number, insertion code, atom name


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Atoms of one model as its file lists them."""

    label: str  # the file and the model, for messages
    names: Strings  # (atoms,)
    elements: Strings
    resnames: Strings
    resids: Ints
    icodes: Strings
    chains: Strings
    altlocs: Strings  # "" where an atom has one place only
    occupancies: Floats
    serials: Ints
    coordinates: Floats  # (atoms, 3)
    box: Floats | None = None  # (3, 3), rows are vectors; None where space is open
    cell: Floats | None = None  # (3, 3), of a file without symmetry: of a simulation, or a crystal
    doubles: Ints | None = None  # (atoms,), how many before have one's name, where these are meant

    def keys(self) -> list[Key]:
        """List what every atom is called: chain, residue number, insertion code, atom name."""
        names = self.names.tolist()
        if self.doubles is not None:
            numbers = self.doubles.tolist()
            names = [
                f"{name}#{k + 1}" if k else name for name, k in zip(names, numbers, strict=True)
            ]
        return list(
            zip(
                self.chains.tolist(),
                self.unwrapped_resids().tolist(),
                self.icodes.tolist(),
                names,
                strict=True,
            )
        )

    def has_names_of(self, other: Model) -> bool:
        """Tell whether another model lists atoms of the same names in the same order.

        Parameters
        ----------
        other : Model
            Of the same file, or of another one.

        Returns
        -------
        bool
            True if all atoms are called alike.
        """
        return len(self.names) == len(other.names) and all(
            bool((mine == others).all())
            for mine, others in (
                (self.names, other.names),
                (self.resids, other.resids),
                (self.chains, other.chains),
                (self.icodes, other.icodes),
            )
        )

    def unwrapped_resids(self) -> Ints:
        """Go on counting where the numbers of large systems start again after 9999."""
        drops = (self.resids[:-1] == 9999) & (self.resids[1:] <= 1)
        drops &= self.chains[1:] == self.chains[:-1]
        return self.resids + 100_000 * np.concatenate([[0], np.cumsum(drops)]).astype(np.int64)

    def atom_label(self, atom: int) -> str:
        """Name one atom as people write it.

        Parameters
        ----------
        atom : int
            Index of the atom.

        Returns
        -------
        str
            Such as ``A/GLY 35/CA``.
        """
        chain, name = str(self.chains[atom]), str(self.names[atom])
        key = (chain, int(self.resids[atom]), str(self.icodes[atom]), name)
        return label(key, str(self.resnames[atom]))


def label(key: Key, resname: str = "") -> str:
    """Name an atom in a message.

    Parameters
    ----------
    key : tuple
        Chain, residue number, insertion code and atom name.
    resname : str, optional
        Name of the residue.

    Returns
    -------
    str
        Such as ``A/GLY 35/CA``.
    """
    chain, resid, icode, name = key
    residue = f"{resname} {resid % 100_000 if resid >= 100_000 else resid}{icode}".strip()
    return "/".join(part for part in (chain, residue, name) if part)
