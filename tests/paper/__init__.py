"""Tests of the formulas and figures of the paper."""
