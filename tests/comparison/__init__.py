"""Tests of the comparison of two results."""
