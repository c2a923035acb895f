"""Translate offsets of one cluster to another: read around them in both, and ask what copied the records."""
