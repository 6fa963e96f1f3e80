"""Compiled loops: arrays in, arrays filled; serial, without the interpreter lock."""

from timme._kernels._compile import compiled  # before any kernel: it looks at their sources

__all__ = ["compiled"]
