"""Bytes to model and back, sans I/O. Knows no socket and no event loop."""
