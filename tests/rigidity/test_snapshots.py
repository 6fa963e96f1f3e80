from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from timme import read
from timme.rigidity import decompose, network
from timme.rigidity.snapshots import together

NMR = Path(__file__).parents[2].parent / "shared" / "data" / "nmr" / "1d3z.pdb"


@pytest.mark.skipif(not NMR.exists(), reason="no ../shared/data/nmr here")
def test_pairs_are_counted_over_the_models_of_an_ensemble() -> None:
    ensemble = read(NMR, stop=3)
    alpha = np.flatnonzero(ensemble.atoms.names[ensemble.site_atoms] == "CA")
    found = together(ensemble, -1.0, sites=alpha, workers=2)
    each = [decompose(network(ensemble, model), -1.0) for model in range(3)]
    assert found.floppy_modes.tolist() == [one.floppy_modes for one in each]
    for a, b in combinations(range(0, len(alpha), 5), 2):
        n_together = sum(one.clusters[alpha[a]] == one.clusters[alpha[b]] for one in each)
        assert found.fractions[a, b] == found.fractions[b, a] == pytest.approx(n_together / 3)
    assert (np.diag(found.fractions) == 1.0).all()
    alone = together(ensemble, -1.0, sites=alpha, workers=1)
    assert alone.fractions.tobytes() == found.fractions.tobytes()
    # what is together in every snapshot joins at 0
    always = found.hierarchy().cut(0.0).labels
    for a, b in zip(*np.nonzero(found.fractions == 1.0), strict=True):
        assert always[a] == always[b]


def test_too_many_sites_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("timme.rigidity.snapshots._LARGEST", 1)
    with pytest.raises(ValueError, match=r"fractions of 2 sites are too many to hold: choose some"):
        together(read(np.zeros((2, 2, 3)), unit="Å"), -1.0)
