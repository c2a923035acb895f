"""Kafka's own tool in a long-running JVM: starting one per query would take longer than the queries."""

from __future__ import annotations

import atexit
import signal
import struct
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from kgroups.sandbox.programs import Programs

_SIZE = struct.Struct(">i")
_SOURCE = Path(__file__).with_name("ResidentTool.java")


class ResidentTool:
    """The tool of one version; see ``ResidentTool.java`` for how questions are put. Threads wait for each other."""

    def __init__(self, programs: Programs, class_name: str) -> None:
        self._command = programs.tool(_SOURCE, [class_name])
        self._lock = threading.Lock()
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        atexit.register(process.kill)
        return process

    def ask(self, words: Sequence[str], limit: float) -> tuple[int, bytes, bytes]:
        """Exit code, standard output, standard error.

        :raises subprocess.TimeoutExpired: after ``limit`` seconds; the next request restarts the tool.
        """
        with self._lock:
            if self._process.poll() is not None:
                self._process = self._start()
            return self._ask_alone(words, limit)

    def _ask_alone(self, words: Sequence[str], limit: float) -> tuple[int, bytes, bytes]:
        late = threading.Timer(limit, self._process.kill)
        late.start()
        try:
            return self._exchange(words)
        except EOFError:
            assert self._process.stderr
            output = self._process.stderr.read()
            assert self._process.wait() == -signal.SIGKILL, output.decode(errors="replace")
            raise subprocess.TimeoutExpired(list(words), limit, stderr=output) from None
        finally:
            late.cancel()

    def _exchange(self, words: Sequence[str]) -> tuple[int, bytes, bytes]:
        assert self._process.stdin
        encoded = [word.encode() for word in words]
        request = _SIZE.pack(len(encoded)) + b"".join(_SIZE.pack(len(word)) + word for word in encoded)
        try:
            self._process.stdin.write(request)
            self._process.stdin.flush()
        except BrokenPipeError:
            raise EOFError from None
        return self._number(), self._read(self._number()), self._read(self._number())

    def _number(self) -> int:
        (number,) = _SIZE.unpack(self._read(_SIZE.size))
        return int(number)

    def _read(self, size: int) -> bytes:
        assert self._process.stdout
        found = self._process.stdout.read(size)
        if len(found) < size:
            raise EOFError
        return found


@cache
def resident_tool(java: str, jars: Path, class_name: str, options: tuple[str, ...] = ()) -> ResidentTool:
    """Return the one JVM of these jars and this tool, for every cluster; it lives as long as the tests do.

    :param options: for its JVM.
    """
    return ResidentTool(Programs(Path(_log_settings().name), java, jars, options), class_name)


@cache
def _log_settings() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="kgroups-java-")
