"""Fingerprints of arrays, and texts without folders."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import numpy as np
import numpy.typing as npt


def digest(array: npt.NDArray[Any]) -> str:
    """Fingerprint of an array: its shape, and its values as little-endian numbers or texts."""
    if array.dtype.kind in "iub":
        data = array.astype("<i8").tobytes()
    elif array.dtype.kind == "f":
        plain = np.where(np.isnan(array), np.nan, array) + 0.0  # one NaN, one zero
        data = plain.astype(f"<f{array.itemsize}").tobytes()
    else:
        data = "\n".join(map(str, array.ravel().tolist())).encode()
    return hashlib.sha256(f"{array.shape}".encode() + data).hexdigest()[:16]


def rounded_digest(array: npt.NDArray[Any]) -> str:
    """Fingerprint of numbers to six decimals, the same on any machine."""
    return digest(np.round(array.astype(np.float64), 6))


def without_folders(text: str) -> str:
    """Leave out the folders of files that a message names."""
    return re.sub(r"(?<![\w.])/[^\s:,']*/", "", text)
