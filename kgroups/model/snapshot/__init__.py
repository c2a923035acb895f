"""Snapshots: the saved state of groups, its file format, and the comparison of two states."""
