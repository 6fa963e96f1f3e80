"""Compiled loops: arrays in, arrays filled; serial, without the interpreter lock."""
