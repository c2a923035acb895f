"""A terminal for kgroups to write to: a pseudo-terminal of a given width, and all that arrived on it."""

from __future__ import annotations

import os
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from fcntl import ioctl
from typing import NamedTuple, Self

_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Shown(NamedTuple):
    """``raw`` as it came, escape sequences and all; ``out`` is what went past the terminal into a pipe. ``seconds`` is
    the whole process, with the start of Python."""

    code: int
    raw: str
    out: str
    seconds: float

    @property
    def text(self) -> str:
        """Without escape sequences."""
        return _ESCAPE.sub("", self.raw)

    @property
    def lines(self) -> list[str]:
        """What is left to be seen, when lines were written over (``\\r``) and wiped (``\\x1b[K``): on a busy machine
        a line of progress was."""
        lines = []
        for line in self.raw.replace("\r\n", "\n").rstrip("\n").split("\n"):
            seen = ""
            for part in line.split("\r"):
                kept, wiped, after = part.partition("\x1b[K")
                seen = kept + after if wiped else kept + seen[len(kept) :]
            lines.append(_ESCAPE.sub("", seen))
        return lines

    @property
    def screen(self) -> list[str]:
        """The same without empty lines."""
        return [line for line in self.lines if line]

    @property
    def progress(self) -> bool:
        """Whether a line was written over."""
        return "\r" in self.raw.replace("\r\n", "\n")


def on_terminal(
    *words: str, bootstrap: str, columns: int, env: Mapping[str, str] | None = None, piped: bool = False
) -> Shown:
    """Runs ``kgroups <words>`` as in a terminal window.

    :param env: beside an environment that says nothing on colours or width.
    :param piped: stdout goes into a pipe; the terminal gets stderr.
    """
    master, slave = os.openpty()
    ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    inherited = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "kgroups", words[0], "-b", bootstrap, *words[1:]],
        stdin=slave,
        stdout=subprocess.PIPE if piped else slave,
        stderr=slave,
        env={**inherited, "TERM": "xterm-256color", **(env or {})},
    )
    os.close(slave)
    with process, os.fdopen(master, "rb", buffering=0) as screen:
        raw = _read(screen.fileno(), time.monotonic() + 90)
        out = process.stdout.read() if process.stdout else b""
    return Shown(process.returncode, raw.decode(), out.decode(), time.monotonic() - began)


def _read(descriptor: int, until: float) -> bytes:
    found = b""
    while True:
        try:
            piece = os.read(descriptor, 65536)
        except OSError:  # EIO: the last writer has closed the other end
            return found
        if not piece:
            return found
        found += piece
        assert time.monotonic() < until


class Typist:
    """kgroups at a terminal, with somebody who reads and types. A context manager."""

    def __init__(self, *words: str, bootstrap: str, columns: int = 200) -> None:
        self._master, slave = os.openpty()
        ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        command = [sys.executable, "-m", "kgroups", words[0], "-b", bootstrap, *words[1:]]
        inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        env = {**inherited, "TERM": "xterm-256color"}
        self._began = time.monotonic()
        self._process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=env)
        os.close(slave)
        self._seen = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def wait_for(self, text: str) -> None:
        until = time.monotonic() + 60
        while text.encode() not in self._seen:
            ready, _, _ = select.select([self._master], [], [], max(0.0, until - time.monotonic()))
            assert ready, self._seen.decode()
            self._seen += os.read(self._master, 65536)

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def resize(self, columns: int) -> None:
        """Let it draw everything again. Nothing is read: what does not fit into the terminal's buffer waits."""
        ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def wait(self, seconds: float) -> int:
        """Return the exit code, without reading what it writes."""
        return self._process.wait(seconds)

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def end(self) -> Shown:
        """All that was shown, once it has ended."""
        self._seen += _read(self._master, time.monotonic() + 90)
        return Shown(self._process.wait(30), self._seen.decode(), "", time.monotonic() - self._began)
