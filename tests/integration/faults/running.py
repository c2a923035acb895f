"""Runs one command under a fault, and compares what it says with what a second client knows."""

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

from kgroups.cli.kafka.consumer_groups import TOOL
from kgroups.cli.main import main
from tests.fakes.truth import (
    Told,
    of_check,
    of_dropin_describe,
    of_dropin_list,
    of_json,
    of_metrics,
    of_watch,
)

HANG: Final = 120
"""Seconds after which a command is taken to hang."""


class Hang(BaseException):
    """The command does not end."""


class Ran(NamedTuple):
    code: int
    out: str
    err: str
    seconds: float


@contextmanager
def alarm(seconds: int) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run(command: str, words: Sequence[str], bootstrap: str, timeout: float, broker_timeout: float) -> Ran:
    """Whatever happens, it ends: a traceback is on ``err``, and -1 is the code of what hangs."""
    bounds = ("--timeout", f"{timeout}s", "--broker-timeout", f"{broker_timeout}s")
    if command == "exporter":
        return _scrape([*words, "-b", bootstrap, *bounds], timeout)
    out, err = io.StringIO(), io.StringIO()
    began = time.monotonic()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            with alarm(HANG):
                if command.startswith("dropin"):
                    milliseconds = str(int(timeout * 1000))
                    code = TOOL.main(["--bootstrap-server", bootstrap, *words, "--timeout", milliseconds])
                else:
                    code = main([words[0], "-b", bootstrap, *words[1:], *bounds])
        except Hang:
            code = -1
        except Exception:
            code = -2
            traceback.print_exc(file=err)
    return Ran(code, out.getvalue(), err.getvalue(), time.monotonic() - began)


def _scrape(words: Sequence[str], timeout: float) -> Ran:
    """Start it, scrape once, end it. The time is that of the scrape."""
    command = [sys.executable, "-m", "kgroups", *words, "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            line = process.stderr.readline()
            found = re.search(r"http://\S+/metrics", line)
            if not found:
                return Ran(process.wait(HANG), "", line + process.stderr.read(), 0)
            began = time.monotonic()
            try:
                with urllib.request.urlopen(found[0], timeout=HANG) as answer:
                    out, code = answer.read().decode(), 0
            except TimeoutError:
                out, code = "", -1
            seconds = time.monotonic() - began
        finally:
            process.terminate()
            rest = process.stderr.read()
    return Ran(code, out, rest, seconds)


def told(command: str, ran: Ran) -> Told:
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
