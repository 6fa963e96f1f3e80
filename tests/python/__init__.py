"""Tests of what users of the library see: names and documentation."""
