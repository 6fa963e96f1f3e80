"""Tests of the steps from snapshots to a hierarchy."""
