"""Pack numbers and words that come in thousands for the scene of the page."""

from __future__ import annotations

import base64
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from timme._arrays import Strings


def pack(values: npt.ArrayLike, kind: Literal["f8", "f4", "i4"]) -> str:
    """Pack numbers: their type, a colon and the base64 of their bytes, least significant first.

    Parameters
    ----------
    values : array_like
        Numbers.
    kind : {"f8", "f4", "i4"}
        Double, single or whole.

    Returns
    -------
    str
        Text that JSON can hold.
    """
    raw = np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()
    return f"{kind}:{base64.b64encode(raw).decode('ascii')}"


def pack_words(words: Strings) -> dict[str, Any]:
    """Pack words that repeat.

    Parameters
    ----------
    words : ndarray of str
        Words.

    Returns
    -------
    dict
        Each word once, and the numbers of these.
    """
    values, codes = np.unique(words, return_inverse=True)
    return {"values": values.tolist(), "codes": pack(codes, "i4")}
