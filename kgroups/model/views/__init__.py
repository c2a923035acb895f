"""Rows of each view, built from the domain."""
