"""Run one command under a fault, and compare its output with the state that a second client reads."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import time
import traceback
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Final, NamedTuple

from kgroups.cli.main import main
from kgroups.dropins.consumer_groups import TOOL
from tests.fakes.truth import (
    Reported,
    of_check,
    of_dropin_describe,
    of_dropin_list,
    of_json,
    of_metrics,
    of_watch,
)
from tests.fakes.watchdog import Hang, Pulse, alarm
from tests.schemas import validate_output

HANG: Final = 40
"""A command hangs if it takes longer than this many times its ``--timeout``."""


class Bounds(NamedTuple):
    """The time limits of a command, in seconds."""

    timeout: float
    broker_timeout: float


class Ran(NamedTuple):
    code: int
    out: str
    err: str
    seconds: float
    lost: float = 0.0
    """Seconds that the machine did not give to this process meanwhile."""


def run(command: str, words: Sequence[str], bootstrap: str, bounds: Bounds) -> Ran:
    """Whatever happens, it ends: a traceback is on ``err``, and -1 is the code of what hangs."""
    with Pulse() as pulse:
        ran = _run(command, words, bootstrap, bounds)
    return ran._replace(lost=pulse.lost)


def _run(command: str, words: Sequence[str], bootstrap: str, bounds: Bounds) -> Ran:
    hang = HANG * bounds.timeout
    options = ("--timeout", f"{bounds.timeout}s", "--broker-timeout", f"{bounds.broker_timeout}s")
    if command == "exporter":
        return _scrape([*words, "-b", bootstrap, *options], hang)
    out, err = io.StringIO(), io.StringIO()
    began = time.monotonic()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            with alarm(hang):
                if command.startswith("dropin"):
                    milliseconds = str(int(bounds.timeout * 1000))
                    code = TOOL.main(["--bootstrap-server", bootstrap, *words, "--timeout", milliseconds])
                else:
                    code = main([words[0], "-b", bootstrap, *words[1:], *options])
        except Hang:
            code = -1
        except Exception:
            code = -2
            traceback.print_exc(file=err)
    ran = Ran(code, out.getvalue(), err.getvalue(), time.monotonic() - began)
    if code >= 0 and not command.startswith("dropin"):
        validate_output(words, ran.out)
    return ran


def _scrape(words: Sequence[str], hang: float) -> Ran:
    """Start it, scrape once, end it. The time is that of the scrape."""
    command = [sys.executable, "-m", "kgroups", *words, "--listen", "127.0.0.1:0"]
    out, err, seconds = "", "", 0.0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            with alarm(hang):
                err = process.stderr.readline()
                if found := re.search(r"http://\S+/metrics", err):
                    began = time.monotonic()
                    with urllib.request.urlopen(found[0]) as answer:
                        out = answer.read().decode()
                    seconds = time.monotonic() - began
                    process.terminate()
                err += process.stderr.read()
                code = process.wait()
                return Ran(0 if found and code == -signal.SIGTERM else code, out, err, seconds)
        except Hang:
            return Ran(-1, out, err, hang)
        finally:
            process.kill()


def reported(command: str, ran: Ran) -> Reported:
    """What it says, whatever the format."""
    match command:
        case "exporter":
            return of_metrics(ran.out)
        case "check":
            return of_check(ran.out, ran.err)
        case "watch":
            return of_watch(ran.out, ran.err)
        case "dropin-list":
            return of_dropin_list(ran.out, ran.err)
        case "dropin-describe":
            return of_dropin_describe(ran.out, ran.err)
    return of_json(ran.out, ran.err)


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """With this working directory: undo files are made there."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
