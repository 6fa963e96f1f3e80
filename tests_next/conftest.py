"""What tests share: hypothesis profiles and the folder of compiled kernels."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis

os.environ["MPLBACKEND"] = "Agg"
# Compiled kernels stay here when __pycache__ folders are removed; set before numba is imported.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[1] / ".cache" / "numba"))

for profile, examples in (("quick", 15), ("nightly", 300)):
    hypothesis.settings.register_profile(
        profile,
        deadline=None,  # the first call of a kernel compiles it
        derandomize="CI" in os.environ,
        max_examples=examples,
    )
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
