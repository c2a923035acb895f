"""What ``check`` writes in addition to its output: a JUnit file, and the annotations and summary of GitHub Actions."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
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
    if junit is not None:
        with _writing(junit):
            try:
                with junit.open("w", encoding="utf-8") as stream:
                    write(report, stream, None)
            except OSError:
                if junit.is_file():
                    junit.unlink()  # a part of a report is not a report
                raise
    if github:
        sys.stdout.writelines(annotation_lines(report))
        if path := os.environ.get(SUMMARY_ENV):
            with _writing(path), Path(path).open("a", encoding="utf-8") as stream:
                stream.write(summary(report))


@contextmanager
def _writing(path: Path | str) -> Iterator[None]:
    """Name the file in an error, which does not name it if a disk is full."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from None
