"""Tests of the package, by claim."""
