"""Flags in, exit code out. The only importer of click; what is heavy is imported when a command runs."""
