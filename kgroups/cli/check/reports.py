"""What ``check`` writes in addition to its output: a JUnit file, and the annotations and summary of GitHub Actions."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from kgroups.errors import ConfigError
from kgroups.model.health.report import Report
from kgroups.render.health.github import annotation_lines, summary
from kgroups.render.health.junit import write

SUMMARY_ENV = "GITHUB_STEP_SUMMARY"
"""The variable of GitHub Actions with the file to which a step appends its summary."""


def write_files(report: Report, junit: Path | None, *, github: bool) -> None:
    """Write the report to the JUnit file, and for GitHub Actions.

    :raises ConfigError: if a file cannot be written; the exit code must not be 0 then.
    """
    try:
        if junit is not None:
            with junit.open("w", encoding="utf-8") as stream:
                write(report, stream, None)
        if github:
            sys.stdout.writelines(annotation_lines(report))
            if path := os.environ.get(SUMMARY_ENV):
                with Path(path).open("a", encoding="utf-8") as stream:
                    stream.write(summary(report))
    except OSError as error:
        if error.filename is None:
            raise
        raise ConfigError(f"cannot write {error.filename}: {error.strerror}") from None
