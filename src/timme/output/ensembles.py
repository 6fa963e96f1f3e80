"""Write the snapshots of an ensemble as PDB, mmCIF, XTC or DCD."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from timme._arrays import Coordinates
from timme.system.ensemble import Ensemble
from timme.system.topology import atoms_of_sites

FORMATS = (".pdb", ".cif", ".xtc", ".dcd")


def write_ensemble(ensemble: Ensemble, path: str | Path) -> Path:
    """Write all snapshots into one file, in Å where it is a file of molecules.

    Parameters
    ----------
    ensemble : Ensemble
        Snapshots in 3 dimensions, such as those of a superposition; all sites are seen in all.
    path : str or Path
        File to write; its suffix is the format.

    Returns
    -------
    Path
        The file written.
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in FORMATS:
        raise ValueError(f"{target}: snapshots are written as {', '.join(FORMATS)}")
    if ensemble.gaps or ensemble.n_dimensions != 3:
        raise ValueError(
            f"{target}: structure files hold sites that are seen in all snapshots, in 3 "
            "dimensions: leave out the others"
        )
    (_write_mmcif if kind == ".cif" else _write_by_library)(ensemble, target)
    return target


def _walk(ensemble: Ensemble) -> Any:
    """Snapshots one after another, in Å where the unit is nm."""
    scale = 10.0 if ensemble.unit == "nm" else 1.0
    for block in ensemble.blocks():
        yield from np.asarray(block.coordinates, dtype=np.float64) * scale


def _write_by_library(ensemble: Ensemble, target: Path) -> None:
    """Let MDAnalysis write PDB, XTC and DCD."""
    import warnings

    import MDAnalysis as mda

    universe = _universe(ensemble)
    options: dict[str, Any] = {"multiframe": True} if target.suffix.lower() == ".pdb" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on what it fills in for names that are not there
        with mda.Writer(str(target), n_atoms=ensemble.n_sites, **options) as writer:
            for positions in _walk(ensemble):
                universe.atoms.positions = positions
                writer.write(universe.atoms)


def _universe(ensemble: Ensemble) -> Any:
    import MDAnalysis as mda

    from timme.system.residues import residue_index

    atoms = atoms_of_sites(ensemble)
    residue = residue_index(atoms)
    first = np.unique(residue, return_index=True)[1]
    chains, segment = np.unique(atoms.chains[first], return_inverse=True)
    universe = mda.Universe.empty(
        len(atoms),
        n_residues=len(first),
        n_segments=len(chains),
        atom_resindex=residue,
        residue_segindex=segment,
        trajectory=True,
    )
    given: dict[str, Any] = {
        "names": np.where(atoms.names == "", "X", atoms.names),
        "elements": atoms.elements,
        "chainIDs": np.array([chain[:1] for chain in atoms.chains.tolist()]),
        "resnames": np.where(atoms.resnames[first] == "", "UNX", atoms.resnames[first]),
        "resids": atoms.resids[first],
        "icodes": atoms.icodes[first],
        "segids": np.where(chains == "", "A", chains),
        "record_types": np.full(len(atoms), "ATOM"),
        "occupancies": np.ones(len(atoms)),
        "tempfactors": np.zeros(len(atoms)),
    }
    for name, values in given.items():
        universe.add_TopologyAttr(name, list(values))
    return universe


def _write_mmcif(ensemble: Ensemble, target: Path) -> None:
    """Let gemmi write a model for each snapshot."""
    import gemmi

    from timme.output.structures import mmcif_text

    made = gemmi.Structure()
    made.name = "timme"
    fill = _filler(ensemble)
    for number, positions in enumerate(_walk(ensemble), start=1):
        made.add_model(fill(number, positions))
    made.setup_entities()
    target.write_text(mmcif_text(made), encoding="utf-8")


def _filler(ensemble: Ensemble) -> Callable[[int, Coordinates], Any]:
    """Function that makes a model of positions."""
    import gemmi

    from timme.system.residues import residue_index

    atoms = atoms_of_sites(ensemble)
    residue = residue_index(atoms)

    def fill(number: int, positions: Coordinates) -> Any:
        model, chain, kept = gemmi.Model(number), None, None
        for site, place in enumerate(positions):
            if chain is None or chain.name != (atoms.chains[site] or "A"):
                chain = gemmi.Chain(str(atoms.chains[site] or "A"))
                chain = model.add_chain(chain)
                kept = None
            if kept is None or site == 0 or residue[site] != residue[site - 1]:
                made = gemmi.Residue()
                made.name = str(atoms.resnames[site] or "UNX")
                made.seqid = gemmi.SeqId(int(atoms.resids[site]), str(atoms.icodes[site] or " "))
                kept = chain.add_residue(made)
            atom = gemmi.Atom()
            atom.name = str(atoms.names[site] or "X")
            atom.element = gemmi.Element(str(atoms.elements[site] or "X"))
            atom.pos = gemmi.Position(*place.tolist())
            kept.add_atom(atom)
        return model

    return fill
