"""Settings of every recipe, as one schema for options, Python, files and the server."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Settings that were checked, and do not change."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Settings(Model):
    """Settings of an analysis of snapshots."""

    min_size: int = 10
    cutoff: float | None = None
    palette: str = "safe"
