"""Breaks the package on purpose, one line at a time, and tells which breaks no test notices."""
