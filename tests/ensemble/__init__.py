"""Tests of snapshots, boxes, bonds and molecules."""
