"""Run kgroups as a process with arguments, and capture its output and exit code."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NamedTuple

from kgroups.cli.main import main
from tests.fakes.watchdog import alarm
from tests.integration.forked import can_fork, run_forked
from tests.schemas import validate_files, validate_output

Row = dict[str, Any]


class Request(NamedTuple):
    """One line of ``--debug``."""

    broker: int
    api: str
    version: int
    keys: int
    milliseconds: float


_REQUEST = re.compile(
    r"debug: (?:broker (\d+) )?\(?\S+:\d+\)? (\w+) v(\d+) keys=(\d+) sent=\d+B received=\d+B ([\d.]+)ms"
)


_LIMIT = 600.0
"""Seconds, far above any ``--timeout``, also on a machine that does twenty other things."""

TRIES = (4.0, 8.0, 16.0, 32.0)
"""Seconds that one broker may cost. The next is tried if a broker that is well needs longer on a busy machine."""


class Answer(NamedTuple):
    """What one run of kgroups came to. ``seconds`` is the whole process."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def envelope(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found

    @property
    def items(self) -> list[Row]:
        """The rows of ``-o json``."""
        found: list[Row] = self.envelope["items"]
        return found

    @property
    def failures(self) -> list[Row]:
        """The failures of ``-o json``."""
        found: list[Row] = self.envelope["failures"]
        return found

    @property
    def lines(self) -> list[str]:
        return self.out.split("\n")[:-1]

    @property
    def table(self) -> list[dict[str, str]]:
        """The rows of ``-o plain``, under their headers. No cell is empty, and two blanks stand between two cells."""
        header, *rows = ([cell for cell in re.split(" {2,}", line.strip()) if cell] for line in self.lines)
        return [dict(zip(header, row, strict=True)) for row in rows]

    @property
    def csv(self) -> list[dict[str, str]]:
        return list(csv.DictReader(self.lines))

    @property
    def requests(self) -> list[Request]:
        """The requests that ``--debug`` printed."""
        found = [_REQUEST.match(line) for line in self.err.splitlines() if line.startswith("debug: ")]
        assert all(found), self.err
        return [
            Request(int(match[1] or 0), match[2], int(match[3]), int(match[4]), float(match[5]))
            for match in found
            if match
        ]

    def sent(self, api: str) -> list[Request]:
        return [request for request in self.requests if request.api == api]


def run_kgroups(
    *words: str,
    bootstrap: str | None = None,
    env: Mapping[str, str] | None = None,
    limit: float = _LIMIT,
    forked: bool = True,
) -> Answer:
    """Runs ``kgroups <words>``; whatever happens, it must not leave a traceback.

    :param limit: seconds after which the process is given up as hanging, far above any ``--timeout``.
    :param forked: ``False`` starts Python, for tests that look at command lines of processes.
    """
    where = () if bootstrap is None else ("-b", bootstrap)
    began, started = time.monotonic(), time.time_ns()
    line, variables = (words[0], *where, *words[1:]), {**os.environ, **(env or {})}
    if forked and can_fork(env or {}):
        done = run_forked(line, variables, limit)
    else:
        command = [sys.executable, "-m", "kgroups", *line]
        done = subprocess.run(command, capture_output=True, env=variables, timeout=limit, check=False)
    seconds = time.monotonic() - began
    out, err = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in err, err
    validate_output(words, out)
    validate_files(words if done.returncode in (0, 1) else (), started)
    return Answer(done.returncode, out, err, seconds)


def run_here(*words: str, bootstrap: str | None = None) -> Answer:
    """The same in this process: a tenth of the time, for tests that ask much and not how a process ends."""
    where = () if bootstrap is None else ("-b", bootstrap)
    at = 2 if words[0] in ("settings", "snapshot") else 1  # after the command
    out, err = io.StringIO(), io.StringIO()
    began, started = time.monotonic(), time.time_ns()
    with redirect_stdout(out), redirect_stderr(err), alarm(_LIMIT):
        code = main([*words[:at], *where, *words[at:]])
    seconds = time.monotonic() - began
    assert "Traceback" not in err.getvalue()
    validate_output(words, out.getvalue())
    validate_files(words if code in (0, 1) else (), started)
    return Answer(code, out.getvalue(), err.getvalue(), seconds)


def without_markdown(text: str) -> str:
    """What a text in Markdown shows: a backslash before punctuation makes it plain."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)


def visible(text: str) -> str:
    """What a table shows of a text from the cluster: nothing that a terminal would obey."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
