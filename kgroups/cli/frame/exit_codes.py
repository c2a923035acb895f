"""The exit codes of most commands."""

from __future__ import annotations

EXIT_CODES = (
    ("0", "Success."),
    ("1", "Partial failure: available results are printed, failures are listed on standard error."),
    ("2", "Invalid usage or configuration."),
    ("129, 130, 143", "Ended by SIGHUP, SIGINT (Ctrl-C), or SIGTERM."),
    ("141", "The reader of the pipe has exited."),
)
"""Codes, and their meanings."""

ENDED = EXIT_CODES[3:]
"""The exit codes of a command that was ended."""
