"""Translate committed offsets to another cluster, over the wire."""
