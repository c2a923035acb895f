"""Bytes to model and back, sans I/O. Knows kio; knows no socket and no event loop."""
